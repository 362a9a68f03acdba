/* SPDX-License-Identifier: Apache-2.0 */
/* The short forms in which lowering rules and passes write core operations. */
#include "core/graph/builder.h"

/* Rank of a value for arrays on the stack. A value that is no tensor is an error of the rule's input; 0 is none, and its
 * reason is known. */
static const GantryType *
tensor_type (GantryBuilder *builder, guint32 id, const char *what)
{
  const GantryType *type = gantry_builder_get_type (builder, id);

  if (id != 0 && type->kind == GANTRY_TYPE_TENSOR)
    return type;
  if (id != 0)
    gantry_builder_fail (builder, GANTRY_ERROR_UNSUPPORTED, "%s: the type of its operand is not known", what);
  return NULL;
}

static guint32
with_ints (GantryBuilder *builder, guint op, const guint32 *operands, guint n_operands, const char *key, const gint64 *values, gsize n)
{
  GantryAttrList *attrs = gantry_attr_list_new (gantry_builder_context (builder));

  gantry_attr_list_set_ints (attrs, key, values, n);
  return gantry_builder_add (builder, op, operands, n_operands, gantry_attr_list_end (attrs));
}

/* A shape is a list of numbers; one with symbols goes in as a type, since only types keep symbols by name. */
static void
set_shape (GantryAttrList *attrs, GantryContext *context, GantryElementType element, guint rank, const GantryDim *dims)
{
  for (guint d = 0; d < rank; d++)
    if (GANTRY_DIM_IS_SYMBOL (dims[d]))
      {
        gantry_attr_list_set_type (attrs, "shape", gantry_context_tensor (context, element, rank, dims));
        return;
      }
  gantry_attr_list_set_ints (attrs, "shape", dims, rank);
}

guint32
gantry_builder_literal (GantryBuilder *builder, GantryLiteral *literal)
{
  GantryContext *context = gantry_builder_context (builder);
  GantryAttrList *attrs = gantry_attr_list_new (context);

  gantry_attr_list_set_literal (attrs, "value", gantry_context_add_literal (context, literal));
  return gantry_builder_add_typed (builder, GANTRY_OP_CONSTANT, NULL, 0, gantry_attr_list_end (attrs), gantry_context_type_id (context, literal->type));
}

static guint32
small_literal (GantryBuilder *builder, GantryElementType element, guint rank, gint64 n, const gint64 *ints, double value, gboolean is_int)
{
  GantryContext *context = gantry_builder_context (builder);
  gsize size = gantry_element_size (element);
  const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, element, rank, &n));
  g_autoptr (GantryLiteral) literal = NULL;
  guint8 *data;

  if (size == 0)
    {
      gantry_builder_fail (builder, GANTRY_ERROR_UNSUPPORTED, "constants of type %s are not compiled", gantry_element_name (element));
      return 0;
    }
  literal = gantry_literal_new_zeroed (type, &data);
  for (gint64 i = 0; i < (rank == 0 ? 1 : n); i++)
    if (is_int)
      gantry_element_write_int (element, data + (gsize) i * size, ints[i]);
    else
      gantry_element_write_double (element, data, value);
  return gantry_builder_literal (builder, literal);
}

guint32
gantry_builder_scalar (GantryBuilder *builder, GantryElementType element, double value)
{
  return small_literal (builder, element, 0, 1, NULL, value, FALSE);
}

guint32
gantry_builder_int_scalar (GantryBuilder *builder, GantryElementType element, gint64 value)
{
  return small_literal (builder, element, 0, 1, &value, 0, TRUE);
}

guint32
gantry_builder_ints (GantryBuilder *builder, const gint64 *values, gsize n)
{
  return small_literal (builder, GANTRY_I64, 1, (gint64) n, values, 0, TRUE);
}

guint32
gantry_builder_unary (GantryBuilder *builder, guint op, guint32 x)
{
  return x != 0 ? gantry_builder_add (builder, op, &x, 1, 0) : 0;
}

guint32
gantry_builder_binary (GantryBuilder *builder, guint op, guint32 x, guint32 y)
{
  return x != 0 && y != 0 ? gantry_builder_add (builder, op, (guint32[]){ x, y }, 2, 0) : 0;
}

/* The numpy broadcast of two dimensions; 0 stays 0 against 1. */
static gboolean
join_dims (GantryDim a, GantryDim b, GantryDim *joined)
{
  if (a == b || b == 1)
    *joined = a;
  else if (a == 1)
    *joined = b;
  else if (GANTRY_DIM_IS_STATIC (a) && !GANTRY_DIM_IS_STATIC (b))
    *joined = a; /* > 1 or 0: the other has to be that or 1 */
  else if (GANTRY_DIM_IS_STATIC (b) && !GANTRY_DIM_IS_STATIC (a))
    *joined = b;
  else if (!GANTRY_DIM_IS_STATIC (a))
    *joined = GANTRY_DIM_UNKNOWN;
  else
    return FALSE;
  return TRUE;
}

static gboolean
join_shapes (GantryBuilder *builder, const guint32 *ids, guint n, guint *rank, GantryDim *dims)
{
  *rank = 0;
  for (guint i = 0; i < n; i++)
    {
      const GantryType *type = tensor_type (builder, ids[i], "broadcast");

      if (type == NULL)
        return FALSE;
      *rank = MAX (*rank, type->rank);
    }
  for (guint d = 0; d < *rank; d++)
    dims[d] = 1;
  for (guint i = 0; i < n; i++)
    {
      const GantryType *type = gantry_builder_get_type (builder, ids[i]);

      for (guint d = 0; d < type->rank; d++)
        {
          GantryDim *out = &dims[*rank - type->rank + d];

          if (!join_dims (*out, type->dims[d], out))
            {
              gantry_builder_fail (builder, GANTRY_ERROR_INVALID, "dimensions %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " do not broadcast", *out,
                                   type->dims[d]);
              return FALSE;
            }
        }
    }
  return TRUE;
}

guint32
gantry_builder_broadcast (GantryBuilder *builder, guint32 x, guint rank, const GantryDim *dims, const gint64 *broadcast_dims)
{
  const GantryType *type = tensor_type (builder, x, "broadcast_in_dim");
  GantryAttrList *attrs;

  if (type == NULL)
    return 0;
  attrs = gantry_attr_list_new (gantry_builder_context (builder));
  set_shape (attrs, gantry_builder_context (builder), type->element, rank, dims);
  gantry_attr_list_set_ints (attrs, "broadcast_dimensions", broadcast_dims, type->rank);
  return gantry_builder_add (builder, GANTRY_OP_BROADCAST_IN_DIM, &x, 1, gantry_attr_list_end (attrs));
}

guint32
gantry_builder_broadcast_to (GantryBuilder *builder, guint32 x, guint rank, const GantryDim *dims)
{
  const GantryType *type = tensor_type (builder, x, "broadcast_in_dim");
  gint64 map[GANTRY_MAX_RANK];
  gboolean same;

  if (type == NULL)
    return 0;
  if (type->rank > rank)
    {
      gantry_builder_fail (builder, GANTRY_ERROR_INVALID, "a value of rank %u does not broadcast to rank %u", type->rank, rank);
      return 0;
    }
  same = type->rank == rank;
  for (guint d = 0; d < type->rank; d++)
    {
      map[d] = rank - type->rank + d;
      same = same && type->dims[d] == dims[d];
    }
  return same ? x : gantry_builder_broadcast (builder, x, rank, dims, map);
}

static gboolean
broadcast_all (GantryBuilder *builder, guint32 *ids, guint n)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank;

  if (!join_shapes (builder, ids, n, &rank, dims))
    return FALSE;
  for (guint i = 0; i < n; i++)
    ids[i] = gantry_builder_broadcast_to (builder, ids[i], rank, dims);
  return TRUE;
}

guint32
gantry_builder_binary_broadcast (GantryBuilder *builder, guint op, guint32 x, guint32 y)
{
  guint32 ids[] = { x, y };

  return broadcast_all (builder, ids, 2) ? gantry_builder_add (builder, op, ids, 2, 0) : 0;
}

guint32
gantry_builder_compare (GantryBuilder *builder, const char *direction, guint32 x, guint32 y)
{
  guint32 ids[] = { x, y };
  GantryAttrList *attrs;

  if (!broadcast_all (builder, ids, 2))
    return 0;
  attrs = gantry_attr_list_new (gantry_builder_context (builder));
  gantry_attr_list_set_string (attrs, "comparison_direction", direction);
  return gantry_builder_add (builder, GANTRY_OP_COMPARE, ids, 2, gantry_attr_list_end (attrs));
}

guint32
gantry_builder_select (GantryBuilder *builder, guint32 predicate, guint32 x, guint32 y)
{
  guint32 ids[] = { predicate, x, y };

  return broadcast_all (builder, ids, 3) ? gantry_builder_add (builder, GANTRY_OP_SELECT, ids, 3, 0) : 0;
}

guint32
gantry_builder_convert (GantryBuilder *builder, guint32 x, GantryElementType element)
{
  const GantryType *type = tensor_type (builder, x, "convert");
  GantryContext *context = gantry_builder_context (builder);
  GantryAttrList *attrs;

  if (type == NULL || type->element == element)
    return type != NULL ? x : 0;
  attrs = gantry_attr_list_new (context);
  gantry_attr_list_set_type (attrs, "to", gantry_context_scalar (context, element));
  return gantry_builder_add (builder, GANTRY_OP_CONVERT, &x, 1, gantry_attr_list_end (attrs));
}

guint32
gantry_builder_splat (GantryBuilder *builder, GantryElementType element, double value, guint rank, const GantryDim *dims)
{
  guint32 scalar = gantry_builder_scalar (builder, element, value);

  return rank == 0 ? scalar : gantry_builder_broadcast (builder, scalar, rank, dims, NULL);
}

guint32
gantry_builder_reshape (GantryBuilder *builder, guint32 x, guint rank, const GantryDim *dims)
{
  const GantryType *type = tensor_type (builder, x, "reshape");
  GantryAttrList *attrs;
  gboolean same;

  if (type == NULL)
    return 0;
  same = type->rank == rank;
  for (guint d = 0; same && d < rank; d++)
    same = type->dims[d] == dims[d] && dims[d] != GANTRY_DIM_UNKNOWN;
  if (same)
    return x;
  attrs = gantry_attr_list_new (gantry_builder_context (builder));
  set_shape (attrs, gantry_builder_context (builder), type->element, rank, dims);
  return gantry_builder_add (builder, GANTRY_OP_RESHAPE, &x, 1, gantry_attr_list_end (attrs));
}

guint32
gantry_builder_transpose (GantryBuilder *builder, guint32 x, const gint64 *permutation)
{
  const GantryType *type = tensor_type (builder, x, "transpose");
  gboolean same = TRUE;

  if (type == NULL)
    return 0;
  for (guint d = 0; d < type->rank; d++)
    same = same && permutation[d] == d;
  return same ? x : with_ints (builder, GANTRY_OP_TRANSPOSE, &x, 1, "permutation", permutation, type->rank);
}

guint32
gantry_builder_slice (GantryBuilder *builder, guint32 x, const gint64 *start, const gint64 *limit, const gint64 *stride)
{
  const GantryType *type = tensor_type (builder, x, "slice");
  gint64 ones[GANTRY_MAX_RANK];
  GantryAttrList *attrs;

  if (type == NULL)
    return 0;
  for (guint d = 0; d < type->rank; d++)
    ones[d] = 1;
  attrs = gantry_attr_list_new (gantry_builder_context (builder));
  gantry_attr_list_set_ints (attrs, "start_indices", start, type->rank);
  gantry_attr_list_set_ints (attrs, "limit_indices", limit, type->rank);
  gantry_attr_list_set_ints (attrs, "strides", stride != NULL ? stride : ones, type->rank);
  return gantry_builder_add (builder, GANTRY_OP_SLICE, &x, 1, gantry_attr_list_end (attrs));
}

guint32
gantry_builder_concatenate (GantryBuilder *builder, const guint32 *xs, guint n, gint64 axis)
{
  GantryAttrList *attrs;

  if (n == 1)
    return xs[0];
  for (guint i = 0; i < n; i++)
    if (xs[i] == 0)
      return 0;
  attrs = gantry_attr_list_new (gantry_builder_context (builder));
  gantry_attr_list_set_int (attrs, "dimension", axis);
  return gantry_builder_add (builder, GANTRY_OP_CONCATENATE, xs, n, gantry_attr_list_end (attrs));
}

guint32
gantry_builder_pad (GantryBuilder *builder, guint32 x, guint32 value, const gint64 *low, const gint64 *high, const gint64 *interior)
{
  const GantryType *type = tensor_type (builder, x, "pad");
  gint64 zeros[GANTRY_MAX_RANK] = { 0 };
  GantryAttrList *attrs;

  if (type == NULL || value == 0)
    return 0;
  attrs = gantry_attr_list_new (gantry_builder_context (builder));
  gantry_attr_list_set_ints (attrs, "edge_padding_low", low, type->rank);
  gantry_attr_list_set_ints (attrs, "edge_padding_high", high, type->rank);
  gantry_attr_list_set_ints (attrs, "interior_padding", interior != NULL ? interior : zeros, type->rank);
  return gantry_builder_add (builder, GANTRY_OP_PAD, (guint32[]){ x, value }, 2, gantry_attr_list_end (attrs));
}

static int
compare_ints (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return x < y ? -1 : x > y;
}

guint32
gantry_builder_reduce (GantryBuilder *builder, const char *kind, guint32 x, const gint64 *axes, gsize n_axes)
{
  g_autofree gint64 *sorted = g_new (gint64, n_axes + 1);
  GantryAttrList *attrs;

  if (x == 0)
    return 0;
  for (gsize i = 0; i < n_axes; i++)
    sorted[i] = axes[i];
  qsort (sorted, n_axes, sizeof *sorted, compare_ints);
  attrs = gantry_attr_list_new (gantry_builder_context (builder));
  gantry_attr_list_set_string (attrs, "kind", kind);
  gantry_attr_list_set_ints (attrs, "dimensions", sorted, n_axes);
  return gantry_builder_add (builder, GANTRY_OP_REDUCE, &x, 1, gantry_attr_list_end (attrs));
}

guint32
gantry_builder_iota (GantryBuilder *builder, GantryElementType element, guint rank, const GantryDim *dims, gint64 axis)
{
  GantryContext *context = gantry_builder_context (builder);
  GantryAttrList *attrs = gantry_attr_list_new (context);

  gantry_attr_list_set_type (attrs, "to", gantry_context_tensor (context, element, rank, dims));
  gantry_attr_list_set_int (attrs, "iota_dimension", axis);
  return gantry_builder_add (builder, GANTRY_OP_IOTA, NULL, 0, gantry_attr_list_end (attrs));
}

guint32
gantry_builder_scan (GantryBuilder *builder, const GantryScan *scan, const guint32 *operands)
{
  GantryAttrList *attrs = gantry_attr_list_new (gantry_builder_context (builder));

  gantry_attr_list_set_function (attrs, "body", scan->body);
  gantry_attr_list_set_int (attrs, "length", scan->length);
  gantry_attr_list_set_int (attrs, "n_carries", scan->n_carries);
  gantry_attr_list_set_int (attrs, "n_xs", scan->n_xs);
  gantry_attr_list_set_ints (attrs, "axes", scan->axes, scan->n_xs);
  gantry_attr_list_set_ints (attrs, "y_axes", scan->y_axes, scan->n_ys);
  if (scan->reverse)
    gantry_attr_list_set_int (attrs, "reverse", 1);
  return gantry_builder_add (builder, GANTRY_OP_SCAN, operands, scan->n_carries + scan->n_xs + scan->n_captures, gantry_attr_list_end (attrs));
}

guint32
gantry_builder_result (GantryBuilder *builder, guint32 tuple, guint index)
{
  GantryAttrList *attrs;

  if (tuple == 0)
    return 0;
  attrs = gantry_attr_list_new (gantry_builder_context (builder));
  gantry_attr_list_set_int (attrs, "index", index);
  return gantry_builder_add (builder, GANTRY_OP_RESULT, &tuple, 1, gantry_attr_list_end (attrs));
}
