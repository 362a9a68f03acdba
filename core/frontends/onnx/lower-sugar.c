/* SPDX-License-Identifier: Apache-2.0 */
/* Adding core nodes from a lowering rule: thin layers over the builder for what many rules write,
 * and the few compositions (mean, softmax) that several families share. */
#include "core/frontends/onnx/onnx-lower.h"

GantryAttrList *
gantry_lower_attrs (GantryLower *l)
{
  return gantry_attr_list_new (l->context);
}

guint32
gantry_lower_add (GantryLower *l, GantryOp op, GantryAttrList *attrs, guint n, ...)
{
  guint32 operands[8];
  guint32 attrs_id = attrs != NULL ? gantry_attr_list_end (attrs) : 0;
  va_list args;

  g_assert (n <= G_N_ELEMENTS (operands));
  va_start (args, n);
  for (guint i = 0; i < n; i++)
    operands[i] = va_arg (args, guint32);
  va_end (args);
  for (guint i = 0; i < n; i++)
    if (operands[i] == 0)
      {
        if (!l->failed)
          gantry_lower_invalid (l, "an operand is missing");
        return 0;
      }
  return gantry_builder_add (l->b, op, operands, n, attrs_id);
}

guint32
gantry_lower_like (GantryLower *l, guint32 x, double value)
{
  return x != 0 ? gantry_builder_scalar (l->b, gantry_lower_element (l, x), value) : 0;
}

guint32
gantry_lower_lowest (GantryLower *l, guint32 x)
{
  GantryElementType element = gantry_lower_element (l, x);
  guint bits = 8 * gantry_element_size (element);

  if (gantry_element_is_float (element))
    return gantry_lower_like (l, x, -INFINITY);
  if (element == GANTRY_BOOL || !gantry_element_is_signed (element))
    return gantry_lower_like (l, x, 0);
  return gantry_builder_int_scalar (
    l->b, element, (gint64) (G_GUINT64_CONSTANT (0) - (G_GUINT64_CONSTANT (1) << (bits - 1))));
}

guint32
gantry_lower_unary (GantryLower *l, GantryOp op, guint32 x)
{
  return gantry_lower_add (l, op, NULL, 1, x);
}

guint32
gantry_lower_binary (GantryLower *l, GantryOp op, guint32 x, guint32 y)
{
  return x != 0 && y != 0 ? gantry_builder_binary_broadcast (l->b, op, x, y) : 0;
}

guint32
gantry_lower_scale (GantryLower *l, guint32 x, double factor)
{
  return factor == 1.0
           ? x
           : gantry_lower_binary (l, GANTRY_OP_MULTIPLY, x, gantry_lower_like (l, x, factor));
}

guint32
gantry_lower_offset (GantryLower *l, guint32 x, double term)
{
  return term == 0.0 ? x
                     : gantry_lower_binary (l, GANTRY_OP_ADD, x, gantry_lower_like (l, x, term));
}

guint32
gantry_lower_convert (GantryLower *l, guint32 x, GantryElementType element)
{
  return x != 0 ? gantry_builder_convert (l->b, x, element) : 0;
}

guint32
gantry_lower_widen (GantryLower *l, guint32 x)
{
  GantryElementType element = gantry_lower_element (l, x);

  return element == GANTRY_F16 || element == GANTRY_BF16 ? gantry_lower_convert (l, x, GANTRY_F32)
                                                         : x;
}

guint32
gantry_lower_reshape (GantryLower *l, guint32 x, guint rank, const GantryDim *dims)
{
  const GantryType *type = gantry_lower_type (l, x);

  if (x == 0)
    return 0;
  if (type->rank == rank && (rank == 0 || memcmp (type->dims, dims, sizeof *dims * rank) == 0))
    return x;
  return gantry_builder_reshape (l->b, x, rank, dims);
}

guint32
gantry_lower_transpose (GantryLower *l, guint32 x, const gint64 *permutation)
{
  guint rank = gantry_lower_rank (l, x);

  for (guint i = 0; i < rank; i++)
    if (permutation[i] != i)
      return gantry_builder_transpose (l->b, x, permutation);
  return x;
}

static int
compare_axes (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a;
  gint64 y = *(const gint64 *) b;

  return x < y ? -1 : x > y;
}

guint32
gantry_lower_reduce (GantryLower *l, const char *kind, guint32 x, const gint64 *axes, gsize n,
                     gboolean keep)
{
  gint64 *sorted = gantry_arena_copy (l->arena, axes, sizeof *axes * n);
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, dims);
  guint32 reduced;

  if (x == 0 || n == 0)
    return x;
  qsort (sorted, n, sizeof *sorted, compare_axes);
  reduced = gantry_builder_reduce (l->b, kind, x, sorted, n);
  if (!keep || reduced == 0)
    return reduced;
  for (gsize i = 0; i < n; i++)
    if (sorted[i] < rank)
      dims[sorted[i]] = 1;
  return gantry_lower_reshape (l, reduced, rank, dims);
}

guint32
gantry_lower_mean (GantryLower *l, guint32 x, const gint64 *axes, gsize n)
{
  double count = 1;

  for (gsize i = 0; i < n; i++)
    count *= (double) gantry_lower_dim (l, x, axes[i]);
  x = gantry_lower_reduce (l, "add", gantry_lower_widen (l, x), axes, n, TRUE);
  return gantry_lower_binary (l, GANTRY_OP_DIVIDE, x, gantry_lower_like (l, x, count));
}

guint32
gantry_lower_along (GantryLower *l, guint32 x, guint rank, gint64 axis)
{
  GantryDim dims[GANTRY_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    dims[i] = 1;
  dims[axis] = gantry_type_elements (gantry_lower_type (l, x));
  return gantry_lower_reshape (l, x, rank, dims);
}

guint32
gantry_lower_reverse (GantryLower *l, guint32 x, const gint64 *axes, gsize n)
{
  GantryAttrList *attrs;

  if (x == 0 || n == 0)
    return x;
  attrs = gantry_lower_attrs (l);
  gantry_attr_list_set_ints (attrs, "dimensions", axes, n);
  return gantry_lower_add (l, GANTRY_OP_REVERSE, attrs, 1, x);
}

guint32
gantry_lower_slice_axis (GantryLower *l, guint32 x, gint64 axis, gint64 start, gint64 limit,
                         gint64 stride)
{
  gint64 starts[GANTRY_MAX_RANK] = { 0 };
  gint64 limits[GANTRY_MAX_RANK];
  gint64 strides[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, limits);

  if (x == 0 || axis >= rank)
    return 0;
  if (start == 0 && limit == limits[axis] && stride == 1)
    return x;
  for (guint i = 0; i < rank; i++)
    strides[i] = 1;
  starts[axis] = start;
  limits[axis] = limit;
  strides[axis] = stride;
  return gantry_builder_slice (l->b, x, starts, limits, strides);
}

/* Whether the indices are start, start + stride, ... with stride >= 1. */
static gboolean
indices_are_run (const gint64 *indices, gint64 n, gint64 *stride)
{
  *stride = n > 1 ? indices[1] - indices[0] : 1;
  for (gint64 i = 1; i < n; i++)
    if (indices[i] - indices[i - 1] != *stride)
      return FALSE;
  return *stride >= 1;
}

guint32
gantry_lower_take_computed (GantryLower *l, guint32 x, gint64 axis, guint32 indices)
{
  GantryDim sizes[GANTRY_MAX_RANK];
  gint64 offsets[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, sizes);
  guint n_indices = gantry_lower_rank (l, indices);
  guint n_offsets = 0;
  GantryAttrList *attrs;

  if (x == 0 || indices == 0 || axis >= rank)
    return 0;
  for (guint i = 0; i < rank; i++)
    if (i != axis)
      offsets[n_offsets++] = i < axis ? i : i - 1 + n_indices;
  sizes[axis] = 1;
  attrs = gantry_lower_attrs (l);
  gantry_attr_list_set_ints (attrs, "offset_dims", offsets, n_offsets);
  gantry_attr_list_set_ints (attrs, "collapsed_slice_dims", &axis, 1);
  gantry_attr_list_set_ints (attrs, "start_index_map", &axis, 1);
  gantry_attr_list_set_int (attrs, "index_vector_dim", n_indices);
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, rank);
  return gantry_lower_add (l, GANTRY_OP_GATHER, attrs, 2, x, indices);
}

guint32
gantry_lower_take (GantryLower *l, guint32 x, gint64 axis, const gint64 *indices, gint64 n)
{
  gint64 stride;

  if (n > 0 && indices_are_run (indices, n, &stride))
    return gantry_lower_slice_axis (l, x, axis, indices[0], indices[n - 1] + 1, stride);
  return gantry_lower_take_computed (l, x, axis, gantry_builder_ints (l->b, indices, (gsize) n));
}

guint32
gantry_lower_pad (GantryLower *l, guint32 x, guint32 value, const gint64 *low, const gint64 *high)
{
  gint64 interior[GANTRY_MAX_RANK] = { 0 };
  guint rank = gantry_lower_rank (l, x);
  gboolean any = FALSE;

  for (guint i = 0; i < rank; i++)
    any |= low[i] != 0 || high[i] != 0;
  if (!any || x == 0 || value == 0)
    return x;
  return gantry_builder_pad (l->b, x, value, low, high, interior);
}

guint32
gantry_lower_floats (GantryLower *l, GantryElementType element, const double *values, gint64 n)
{
  guint32 type_id = gantry_context_tensor (l->context, element, 1, &n);
  guint8 *data = NULL;
  g_autoptr (GantryLiteral)
    literal = gantry_literal_new_zeroed (gantry_context_type (l->context, type_id), &data);

  for (gint64 i = 0; i < n; i++)
    gantry_element_write_double (element, data + (gsize) i * gantry_element_size (element),
                                 values[i]);
  return gantry_builder_literal (l->b, literal);
}

guint32
gantry_lower_iota (GantryLower *l, GantryElementType element, guint rank, const GantryDim *dims,
                   gint64 axis)
{
  return l->failed ? 0 : gantry_builder_iota (l->b, element, rank, dims, axis);
}

guint32
gantry_lower_wrap_indices (GantryLower *l, guint32 indices, gint64 size)
{
  guint32 negative, wrapped;

  indices = gantry_lower_convert (l, indices, GANTRY_I64);
  if (indices == 0)
    return 0;
  negative = gantry_builder_compare (l->b, "LT", indices,
                                     gantry_builder_int_scalar (l->b, GANTRY_I64, 0));
  wrapped = gantry_lower_binary (l, GANTRY_OP_ADD, indices,
                                 gantry_builder_int_scalar (l->b, GANTRY_I64, size));
  return gantry_builder_select (l->b, negative, wrapped, indices);
}

guint32
gantry_lower_softmax (GantryLower *l, guint32 x, const gint64 *axes, gsize n, gboolean logarithm)
{
  GantryElementType element = gantry_lower_element (l, x);
  guint32 wide = gantry_lower_widen (l, x);
  guint32 top = gantry_lower_reduce (l, "max", wide, axes, n, TRUE);
  guint32 shifted = gantry_lower_binary (l, GANTRY_OP_SUBTRACT, wide, top);
  guint32 powers = gantry_lower_unary (l, GANTRY_OP_EXPONENTIAL, shifted);
  guint32 sum = gantry_lower_reduce (l, "add", powers, axes, n, TRUE);
  guint32 result;

  if (logarithm)
    result = gantry_lower_binary (l, GANTRY_OP_SUBTRACT, shifted,
                                  gantry_lower_unary (l, GANTRY_OP_LOG, sum));
  else
    result = gantry_lower_binary (l, GANTRY_OP_DIVIDE, powers, sum);
  return gantry_lower_convert (l, result, element);
}

guint32
gantry_lower_stack (GantryLower *l, const guint32 *values, gint64 n, gint64 axis)
{
  guint32 *parts = gantry_arena_new0 (l->arena, guint32, n + 1);

  for (gint64 i = 0; i < n; i++)
    {
      GantryDim dims[GANTRY_MAX_RANK + 1], wide[GANTRY_MAX_RANK + 1];
      guint rank = gantry_lower_dims (l, values[i], dims);

      if (rank >= GANTRY_MAX_RANK || axis < 0 || axis > rank || values[i] == 0)
        {
          gantry_lower_invalid (l, "values of this rank cannot be stacked");
          return 0;
        }
      for (guint k = 0; k <= rank; k++)
        wide[k] = k == axis ? 1 : dims[k < axis ? k : k - 1];
      parts[i] = gantry_lower_reshape (l, values[i], rank + 1, wide);
    }
  if (n < 1)
    {
      gantry_lower_fail (l, "a scan output of no trips has no known type");
      return 0;
    }
  return n == 1 ? parts[0] : gantry_builder_concatenate (l->b, parts, (guint) n, axis);
}
