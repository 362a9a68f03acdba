/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX operations that make constants, look at shapes, or view the same elements in another shape
 * or order. A shape that is an operand must be constant; where it is not but the model declares the
 * result's type, that type says the same. */
#include "core/frontends/onnx/onnx-lower.h"

/* `value` and its relatives of Constant, ConstantOfShape. */
static guint32
attribute_literal (GantryLower *l, const char *key)
{
  const GantryAttr *attr = gantry_attrs_find (l->context, l->node->attrs, key);
  GantryLiteral *literal = NULL;

  if (attr != NULL && attr->kind == GANTRY_ATTR_LITERAL)
    literal = gantry_context_literal (l->context, attr->id);
  if (literal == NULL)
    {
      gantry_lower_fail (l, "element type of the value is not compiled");
      return 0;
    }
  return gantry_builder_literal (l->b, literal);
}

static void
constant_of_sparse (GantryLower *l)
{
  const GantryAttr *values = gantry_attrs_find (l->context, l->node->attrs, "sparse_value.values");
  const GantryAttr *indices = gantry_attrs_find (l->context, l->node->attrs, "sparse_value.indices");
  gsize rank = 0;
  const gint64 *dims = gantry_lower_ints (l, "sparse_value.dims", &rank);
  GantryLiteral *v = values != NULL && values->kind == GANTRY_ATTR_LITERAL ? gantry_context_literal (l->context, values->id) : NULL;
  GantryLiteral *at = indices != NULL && indices->kind == GANTRY_ATTR_LITERAL ? gantry_context_literal (l->context, indices->id) : NULL;
  gint64 n = v != NULL ? gantry_type_elements (v->type) : 0;
  gsize size = v != NULL ? gantry_element_size ((GantryElementType) v->type->element) : 0;
  g_autoptr (GantryLiteral) dense = NULL;
  const GantryType *type;
  guint8 *data = NULL;

  if (v == NULL || at == NULL || rank == 0 || rank > GANTRY_MAX_RANK || v->splat || !gantry_dims_fit ((guint) rank, dims, NULL))
    {
      gantry_lower_fail (l, "sparse value is not understood");
      return;
    }
  type = gantry_context_type (l->context, gantry_context_tensor (l->context, (GantryElementType) v->type->element, rank, dims));
  if (gantry_type_elements (type) < 0 || gantry_type_elements (type) > (1 << 20)
      || gantry_type_elements (at->type) != (at->type->rank == 1 ? n : n * (gint64) rank))
    {
      gantry_lower_fail (l, "sparse value is too large or inconsistent");
      return;
    }
  dense = gantry_literal_new_zeroed (type, &data);
  for (gint64 i = 0; i < n; i++)
    {
      gint64 flat = at->type->rank == 1 ? gantry_literal_get_int (at, i) : 0;

      for (gsize k = 0; k < rank && at->type->rank != 1; k++)
        flat = flat * dims[k] + gantry_literal_get_int (at, i * (gint64) rank + (gint64) k);
      if (flat < 0 || flat >= gantry_type_elements (type))
        {
          gantry_lower_invalid (l, "sparse value has an index out of range");
          return;
        }
      memcpy (data + (gsize) flat * size, v->data + (gsize) i * size, size);
    }
  l->out[0] = gantry_builder_literal (l->b, dense);
}

static void
constant (GantryLower *l)
{
  gsize n;
  const double *floats;
  const gint64 *ints;

  if (gantry_lower_has_attr (l, "value"))
    l->out[0] = attribute_literal (l, "value");
  else if (gantry_lower_has_attr (l, "value_float"))
    l->out[0] = gantry_builder_scalar (l->b, GANTRY_F32, gantry_lower_float (l, "value_float", 0));
  else if (gantry_lower_has_attr (l, "value_int"))
    l->out[0] = gantry_builder_int_scalar (l->b, GANTRY_I64, gantry_lower_int (l, "value_int", 0));
  else if ((floats = gantry_attrs_floats (l->context, l->node->attrs, "value_floats", &n)) != NULL)
    l->out[0] = gantry_builder_floats (l->b, GANTRY_F32, floats, (gint64) n);
  else if ((ints = gantry_lower_ints (l, "value_ints", &n)) != NULL)
    l->out[0] = gantry_builder_ints (l->b, ints, n);
  else if (gantry_lower_has_attr (l, "sparse_value.values"))
    constant_of_sparse (l);
  else
    gantry_lower_fail (l, "a value of this kind (text, a type) is not compiled");
}

/* Room for dimensions that come from a list of any length; FALSE after a failure. */
static gboolean
check_dims (GantryLower *l, const gint64 *dims, gsize n)
{
  if (n > GANTRY_MAX_RANK)
    gantry_lower_fail (l, "more than %d dimensions", GANTRY_MAX_RANK);
  for (gsize i = 0; i < n && !l->failed; i++)
    if (dims[i] < 0)
      gantry_lower_invalid (l, "dimension %" G_GINT64_FORMAT " is negative", dims[i]);
  return !l->failed;
}

/* The shape that operand @i says, or that the model declares for the result; NULL after a failure. */
static const gint64 *
wanted_shape (GantryLower *l, guint i, gsize *n)
{
  const GantryType *declared = gantry_lower_declared (l, 0);
  const gint64 *dims = gantry_lower_known_ints (l, gantry_lower_operand (l, i), n);

  if (dims == NULL && declared != NULL)
    {
      dims = declared->dims;
      *n = declared->rank;
    }
  if (dims == NULL)
    gantry_lower_needs_constant (l, gantry_lower_operand (l, i), "shape");
  return dims != NULL && check_dims (l, dims, *n) ? dims : NULL;
}

/* A broadcast of one scalar, never a dense literal. */
static void
constant_of_shape (GantryLower *l)
{
  const GantryAttr *attr = gantry_attrs_find (l->context, l->node->attrs, "value");
  GantryLiteral *value = attr != NULL && attr->kind == GANTRY_ATTR_LITERAL ? gantry_context_literal (l->context, attr->id) : NULL;
  gsize n = 0;
  const gint64 *dims = wanted_shape (l, 0, &n);
  GantryElementType element = value != NULL ? (GantryElementType) value->type->element : GANTRY_F32;
  guint32 scalar;

  if (dims == NULL)
    return;
  if (attr != NULL && (value == NULL || gantry_type_elements (value->type) != 1))
    {
      gantry_lower_fail (l, "the value is not one number of an element type that is compiled");
      return;
    }
  if (value == NULL)
    scalar = gantry_builder_scalar (l->b, GANTRY_F32, 0);
  else if (gantry_element_is_float (element))
    scalar = gantry_builder_scalar (l->b, element, gantry_literal_get_double (value, 0));
  else
    scalar = gantry_builder_int_scalar (l->b, element, gantry_literal_get_int (value, 0));
  l->out[0] = n > 0 ? gantry_builder_broadcast_to (l->b, scalar, n, dims) : scalar;
}

/* [start, end) of the dimensions, clamped; versions before 15 give all of them. */
static void
shape (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  gint64 rank = gantry_lower_rank (l, x);
  gint64 start = gantry_lower_int (l, "start", 0);
  gint64 end = gantry_lower_int (l, "end", rank);
  gint64 dims[GANTRY_MAX_RANK];
  gsize n = 0;

  start = CLAMP (start < 0 ? start + rank : start, 0, rank);
  end = CLAMP (end < 0 ? end + rank : end, 0, rank);
  for (gint64 i = start; i < end; i++)
    {
      dims[n] = gantry_lower_dim (l, x, i);
      if (!GANTRY_DIM_IS_STATIC (dims[n++]))
        {
          gantry_lower_require_static (l, x);
          return;
        }
    }
  l->out[0] = gantry_builder_ints (l->b, dims, n);
}

static void
size (GantryLower *l)
{
  l->out[0] = gantry_builder_int_scalar (l->b, GANTRY_I64, gantry_type_elements (gantry_lower_type (l, gantry_lower_operand (l, 0))));
}

/* The wanted shape, with 0 (copy) and -1 (the rest) resolved, into @dims; the rank or -1. */
static gint64
resolve_shape (GantryLower *l, guint32 x, const gint64 *wanted, gsize n, GantryDim *dims)
{
  gint64 total = gantry_type_elements (gantry_lower_type (l, x));
  gboolean keep_zero = gantry_lower_int (l, "allowzero", 0) != 0;
  gint64 known = 1;
  gssize rest = -1;

  if (n > GANTRY_MAX_RANK)
    {
      gantry_lower_fail (l, "more than %d dimensions", GANTRY_MAX_RANK);
      return -1;
    }
  for (gsize i = 0; i < n; i++)
    {
      dims[i] = wanted[i] == 0 && !keep_zero ? gantry_lower_dim (l, x, i) : wanted[i];
      if (wanted[i] == 0 && !keep_zero && i >= gantry_lower_rank (l, x))
        gantry_lower_invalid (l, "dimension %" G_GSIZE_FORMAT " is 0 (copy) but the operand has no such dimension", i);
      else if (dims[i] < -1 || (dims[i] == -1 && rest >= 0))
        gantry_lower_invalid (l, "dimension %" G_GSIZE_FORMAT " of the shape is %" G_GINT64_FORMAT, i, wanted[i]);
      else if (dims[i] == -1)
        rest = (gssize) i;
      else
        known = gantry_dim_multiply (known, dims[i]);
      if (l->failed)
        return -1;
    }
  if (rest >= 0)
    dims[rest] = known > 0 ? total / known : 0;
  if ((rest >= 0 ? dims[rest] * known : known) != total)
    {
      gantry_lower_invalid (l, "%" G_GINT64_FORMAT " elements do not fit the shape", total);
      return -1;
    }
  return (gint64) n;
}

/* Reshapes to the type that the model declares for the result. FALSE when it declares none. */
static gboolean
reshape_as_declared (GantryLower *l, guint32 x)
{
  const GantryType *declared = gantry_lower_declared (l, 0);

  if (declared == NULL || gantry_type_elements (declared) != gantry_type_elements (gantry_lower_type (l, x)))
    return FALSE;
  l->out[0] = gantry_builder_reshape (l->b, x, declared->rank, declared->dims);
  return TRUE;
}

static void
reshape (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryDim dims[GANTRY_MAX_RANK];
  gsize n = 0;
  const gint64 *wanted = gantry_lower_ints (l, "shape", &n);
  gint64 rank;

  if (wanted == NULL && gantry_lower_has (l, 1))
    wanted = gantry_lower_known_ints (l, l->in[1], &n);
  if (wanted == NULL)
    {
      if (!reshape_as_declared (l, x))
        gantry_lower_needs_constant (l, gantry_lower_operand (l, 1), "shape");
      return;
    }
  rank = resolve_shape (l, x, wanted, n, dims);
  if (rank >= 0)
    l->out[0] = gantry_builder_reshape (l->b, x, (guint) rank, dims);
}

static void
flatten (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  gint64 rank = gantry_lower_rank (l, x);
  gint64 axis = gantry_lower_int (l, "axis", 1);
  GantryDim dims[2] = { 1, 1 };

  if (axis < 0)
    axis += rank;
  if (axis < 0 || axis > rank)
    {
      gantry_lower_invalid (l, "axis is out of range");
      return;
    }
  for (gint64 i = 0; i < rank; i++)
    dims[i < axis ? 0 : 1] *= gantry_lower_dim (l, x, i);
  l->out[0] = gantry_builder_reshape (l->b, x, 2, dims);
}

/* Whether the axes are an operand that is not constant; then the declared type decides or the rule
 * fails. */
static gboolean
axes_from_declared (GantryLower *l, guint32 x)
{
  gsize n;

  if (gantry_lower_has_attr (l, "axes") || !gantry_lower_has (l, 1) || gantry_lower_known_ints (l, l->in[1], &n) != NULL)
    return FALSE;
  if (!reshape_as_declared (l, x))
    gantry_lower_needs_constant (l, gantry_lower_operand (l, 1), "list of axes");
  return TRUE;
}

static void
squeeze (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint rank = gantry_lower_rank (l, x);
  gboolean drop[GANTRY_MAX_RANK] = { FALSE };
  GantryDim dims[GANTRY_MAX_RANK];
  guint n_dims = 0;
  gsize n = 0;
  gint64 *axes;

  if (axes_from_declared (l, x))
    return;
  axes = gantry_lower_axes (l, 1, rank, &n);
  for (gsize i = 0; i < n && axes != NULL; i++)
    {
      drop[axes[i]] = TRUE;
      if (gantry_lower_dim (l, x, axes[i]) != 1)
        gantry_lower_invalid (l, "dimension %" G_GINT64_FORMAT " is not 1", axes[i]);
    }
  for (guint i = 0; i < rank; i++)
    {
      GantryDim dim = gantry_lower_dim (l, x, i);

      if (axes != NULL ? !drop[i] : dim != 1)
        dims[n_dims++] = dim;
    }
  if (!l->failed)
    l->out[0] = gantry_builder_reshape (l->b, x, n_dims, dims);
}

static void
unsqueeze (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint rank = gantry_lower_rank (l, x);
  gboolean added[GANTRY_MAX_RANK] = { FALSE };
  GantryDim dims[GANTRY_MAX_RANK];
  gsize n = 0;
  guint from = 0;
  gint64 *axes;

  if (axes_from_declared (l, x))
    return;
  if (gantry_lower_has_attr (l, "axes"))
    gantry_lower_ints (l, "axes", &n);
  else
    gantry_lower_known_ints (l, gantry_lower_operand (l, 1), &n);
  if (rank + n > GANTRY_MAX_RANK)
    {
      gantry_lower_fail (l, "more than %d dimensions", GANTRY_MAX_RANK);
      return;
    }
  axes = gantry_lower_axes (l, 1, rank + n, &n);
  if (axes == NULL)
    {
      gantry_lower_invalid (l, "axes are missing");
      return;
    }
  for (gsize i = 0; i < n; i++)
    added[axes[i]] = TRUE;
  for (guint i = 0; i < rank + n; i++)
    dims[i] = added[i] ? 1 : gantry_lower_dim (l, x, from++);
  l->out[0] = gantry_builder_reshape (l->b, x, rank + n, dims);
}

static void
transpose (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint rank = gantry_lower_rank (l, x);
  gint64 permutation[GANTRY_MAX_RANK];
  gboolean seen[GANTRY_MAX_RANK] = { FALSE };
  gsize n;
  const gint64 *perm = gantry_lower_ints (l, "perm", &n);

  if (perm != NULL && n != rank)
    {
      gantry_lower_invalid (l, "perm has %" G_GSIZE_FORMAT " entries for %u dimensions", n, rank);
      return;
    }
  for (guint i = 0; i < rank; i++)
    {
      permutation[i] = perm != NULL ? perm[i] : rank - 1 - i;
      if (permutation[i] < 0 || permutation[i] >= rank || seen[permutation[i]])
        {
          gantry_lower_invalid (l, "perm is not a permutation");
          return;
        }
      seen[permutation[i]] = TRUE;
    }
  l->out[0] = gantry_builder_transpose (l->b, x, permutation);
}

static void
expand (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryDim dims[GANTRY_MAX_RANK];
  gint64 rank = gantry_lower_rank (l, x);
  gsize n = 0;
  const gint64 *wanted = wanted_shape (l, 1, &n);
  gint64 out_rank;

  if (wanted == NULL)
    return;
  out_rank = MAX (rank, (gint64) n);
  for (gint64 i = 0; i < out_rank; i++)
    {
      gint64 a = i - (out_rank - rank) >= 0 ? gantry_lower_dim (l, x, i - (out_rank - rank)) : 1;
      gint64 b = i - (out_rank - (gint64) n) >= 0 ? wanted[i - (out_rank - (gint64) n)] : 1;

      dims[i] = a == 1 ? b : a;
      if (a != 1 && b != 1 && a != b)
        {
          gantry_lower_invalid (l, "dimension %" G_GINT64_FORMAT " does not broadcast to %" G_GINT64_FORMAT, a, b);
          return;
        }
    }
  l->out[0] = gantry_builder_broadcast_to (l->b, x, out_rank, dims);
}

/* Each repeated dimension d becomes [repeats, d] by a broadcast, then one dimension again. */
static void
tile (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  const GantryType *declared = gantry_lower_declared (l, 0);
  guint rank = gantry_lower_rank (l, x);
  GantryDim wide[2 * GANTRY_MAX_RANK];
  GantryDim dims[GANTRY_MAX_RANK];
  gint64 from[GANTRY_MAX_RANK];
  guint n_wide = 0;
  gsize n = 0;
  const gint64 *repeats = gantry_lower_known_ints (l, gantry_lower_operand (l, 1), &n);

  if (repeats == NULL && (declared == NULL || declared->rank != rank))
    {
      gantry_lower_needs_constant (l, gantry_lower_operand (l, 1), "number of repeats");
      return;
    }
  if (repeats != NULL && n != rank)
    {
      gantry_lower_invalid (l, "%" G_GSIZE_FORMAT " repeats for %u dimensions", n, rank);
      return;
    }
  for (guint i = 0; i < rank; i++)
    {
      GantryDim dim = gantry_lower_dim (l, x, i);
      gint64 times = repeats != NULL ? repeats[i] : dim > 0 ? declared->dims[i] / dim : 0;

      dims[i] = gantry_dim_multiply (dim, times);
      if (times < 0 || (repeats == NULL && dims[i] != declared->dims[i]))
        {
          gantry_lower_invalid (l, "repeats do not fit");
          return;
        }
      if (times != 1)
        wide[n_wide++] = times;
      from[i] = n_wide;
      wide[n_wide++] = dim;
    }
  if (n_wide > GANTRY_MAX_RANK)
    {
      gantry_lower_fail (l, "too many dimensions");
      return;
    }
  if (n_wide > rank)
    x = gantry_builder_broadcast (l->b, x, n_wide, wide, from);
  l->out[0] = gantry_builder_reshape (l->b, x, rank, dims);
}

static void
depth_to_space (GantryLower *l)
{
  static const gint64 dcr_order[] = { 0, 3, 4, 1, 5, 2 };
  static const gint64 crd_order[] = { 0, 1, 4, 2, 5, 3 };
  guint32 x = gantry_lower_operand (l, 0);
  gint64 b = gantry_lower_int (l, "blocksize", 0);
  gboolean crd = strcmp (gantry_lower_string (l, "mode", "DCR"), "CRD") == 0;
  GantryDim d[GANTRY_MAX_RANK];

  if (!gantry_lower_check_rank (l, 0, 4, 4))
    return;
  gantry_lower_dims (l, x, d);
  if (b < 1 || b > 65536 || d[1] % (b * b) != 0)
    {
      gantry_lower_invalid (l, "blocksize %" G_GINT64_FORMAT " does not fit %" G_GINT64_FORMAT " channels", b, d[1]);
      return;
    }
  x = crd ? gantry_builder_reshape (l->b, x, 6, (GantryDim[]){ d[0], d[1] / (b * b), b, b, d[2], d[3] })
          : gantry_builder_reshape (l->b, x, 6, (GantryDim[]){ d[0], b, b, d[1] / (b * b), d[2], d[3] });
  x = gantry_builder_transpose (l->b, x, crd ? crd_order : dcr_order);
  l->out[0] = gantry_builder_reshape (l->b, x, 4, (GantryDim[]){ d[0], d[1] / (b * b), gantry_dim_multiply (d[2], b), gantry_dim_multiply (d[3], b) });
}

static void
space_to_depth (GantryLower *l)
{
  static const gint64 dcr_order[] = { 0, 3, 5, 1, 2, 4 };
  static const gint64 crd_order[] = { 0, 1, 3, 5, 2, 4 };
  guint32 x = gantry_lower_operand (l, 0);
  gint64 b = gantry_lower_int (l, "blocksize", 0);
  gboolean crd = strcmp (gantry_lower_string (l, "mode", "DCR"), "CRD") == 0;
  GantryDim d[GANTRY_MAX_RANK];

  if (!gantry_lower_check_rank (l, 0, 4, 4))
    return;
  gantry_lower_dims (l, x, d);
  if (b < 1 || b > 65536 || d[2] % b != 0 || d[3] % b != 0)
    {
      gantry_lower_invalid (l, "blocksize %" G_GINT64_FORMAT " does not divide the spatial dimensions", b);
      return;
    }
  x = gantry_builder_reshape (l->b, x, 6, (GantryDim[]){ d[0], d[1], d[2] / b, b, d[3] / b, b });
  x = gantry_builder_transpose (l->b, x, crd ? crd_order : dcr_order);
  l->out[0] = gantry_builder_reshape (l->b, x, 4, (GantryDim[]){ d[0], gantry_dim_multiply (d[1], b * b), d[2] / b, d[3] / b });
}

/* clang-format off */
#define RULE(name, function) { name, function, GANTRY_CLASS_MOVEMENT, 0, 0, NULL }

const GantryLowerRule gantry_lower_shape_rules[] = {
  { "Constant", constant, GANTRY_CLASS_CONSTANT, 0, 0, NULL },
  { "ConstantOfShape", constant_of_shape, GANTRY_CLASS_CONSTANT, 0, 0, NULL },
  { "Shape", shape, GANTRY_CLASS_MOVEMENT, GANTRY_LOWER_ANY_SHAPE, 0, NULL },
  { "Transpose", transpose, GANTRY_CLASS_MOVEMENT, GANTRY_LOWER_ANY_SHAPE, 0, NULL },
  RULE ("Size", size), RULE ("Reshape", reshape), RULE ("Flatten", flatten), RULE ("Squeeze", squeeze),
  RULE ("Unsqueeze", unsqueeze), RULE ("Expand", expand), RULE ("Tile", tile),
  RULE ("DepthToSpace", depth_to_space), RULE ("SpaceToDepth", space_to_depth),
  { NULL },
};
/* clang-format on */
