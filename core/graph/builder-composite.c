/* SPDX-License-Identifier: Apache-2.0 */
/* Compositions of operations that lowering rules of several front ends write. */
#include "core/graph/builder-composite.h"

static GantryElementType
element_of (GantryBuilder *builder, guint32 x)
{
  return (GantryElementType) gantry_builder_get_type (builder, x)->element;
}

/* Copies the dimensions into @dims; those of what is no tensor are none. */
static guint
dims_of (GantryBuilder *builder, guint32 x, GantryDim *dims)
{
  const GantryType *type = gantry_builder_get_type (builder, x);
  guint rank = type->kind == GANTRY_TYPE_TENSOR ? type->rank : 0;

  for (guint i = 0; i < rank; i++)
    dims[i] = type->dims[i];
  return rank;
}

static gboolean
has_axis (GantryBuilder *builder, guint32 x, gint64 axis)
{
  const GantryType *type = gantry_builder_get_type (builder, x);

  if (x == 0)
    return FALSE;
  if (type->kind == GANTRY_TYPE_TENSOR && axis >= 0 && axis < type->rank)
    return TRUE;
  gantry_builder_fail (builder, GANTRY_ERROR_INVALID, "axis %" G_GINT64_FORMAT " is out of range for %u dimensions", axis,
                       type->kind == GANTRY_TYPE_TENSOR ? type->rank : 0);
  return FALSE;
}

guint32
gantry_builder_add_operands (GantryBuilder *builder, guint op, GantryAttrList *attrs, guint n, va_list operands)
{
  guint32 ids[8], attrs_id = attrs != NULL ? gantry_attr_list_end (attrs) : 0;
  gboolean whole = TRUE;

  g_return_val_if_fail (n <= G_N_ELEMENTS (ids), 0);
  for (guint i = 0; i < n; i++)
    {
      ids[i] = va_arg (operands, guint32);
      whole = whole && ids[i] != 0;
    }
  return whole ? gantry_builder_add (builder, op, ids, n, attrs_id) : 0;
}

/* Constants and elements */

void
gantry_builder_refuse (GantryBuilder *builder, gboolean *failed, const char *format, va_list arguments)
{
  g_autofree char *why = g_strdup_vprintf (format, arguments);

  if (!*failed)
    gantry_builder_fail (builder, GANTRY_ERROR_UNSUPPORTED, "%s", why);
  *failed = TRUE;
}

guint32
gantry_builder_like (GantryBuilder *builder, guint32 x, double value)
{
  return x != 0 ? gantry_builder_scalar (builder, element_of (builder, x), value) : 0;
}

guint32
gantry_builder_floats (GantryBuilder *builder, GantryElementType element, const double *values, gint64 n)
{
  GantryContext *context = gantry_builder_context (builder);
  guint32 type = gantry_context_tensor (context, element, 1, &n);
  guint8 *data = NULL;
  g_autoptr (GantryLiteral) literal = gantry_literal_new_zeroed (gantry_context_type (context, type), &data);

  for (gint64 i = 0; i < n; i++)
    gantry_element_write_double (element, data + (gsize) i * gantry_element_size (element), values[i]);
  return gantry_builder_literal (builder, literal);
}

guint32
gantry_builder_scale (GantryBuilder *builder, guint32 x, double factor)
{
  if (factor == 1)
    return x;
  return gantry_builder_binary_broadcast (builder, GANTRY_OP_MULTIPLY, x, gantry_builder_like (builder, x, factor));
}

guint32
gantry_builder_offset (GantryBuilder *builder, guint32 x, double term)
{
  if (term == 0)
    return x;
  return gantry_builder_binary_broadcast (builder, GANTRY_OP_ADD, x, gantry_builder_like (builder, x, term));
}

guint32
gantry_builder_at_most_zero (GantryBuilder *builder, guint32 x)
{
  guint32 zero = gantry_builder_like (builder, x, 0);

  return gantry_builder_select (builder, gantry_builder_compare (builder, "GT", x, zero), zero, x);
}

/* The part above 0 plus log1p (exp (-|x|)). */
guint32
gantry_builder_softplus (GantryBuilder *builder, guint32 x)
{
  guint32 zero = gantry_builder_like (builder, x, 0), above = gantry_builder_compare (builder, "GT", x, zero), tail;

  tail = gantry_builder_select (builder, above, gantry_builder_unary (builder, GANTRY_OP_NEGATE, x), x);
  tail = gantry_builder_unary (builder, GANTRY_OP_LOG_PLUS_ONE, gantry_builder_unary (builder, GANTRY_OP_EXPONENTIAL, tail));
  return gantry_builder_binary (builder, GANTRY_OP_ADD, gantry_builder_select (builder, above, x, zero), tail);
}

guint32
gantry_builder_widen (GantryBuilder *builder, guint32 x)
{
  GantryElementType element = element_of (builder, x);

  return element == GANTRY_F16 || element == GANTRY_BF16 ? gantry_builder_convert (builder, x, GANTRY_F32) : x;
}

/* Movement */

guint32
gantry_builder_swap_axes (GantryBuilder *builder, guint32 x, gint64 a, gint64 b)
{
  gint64 order[GANTRY_MAX_RANK];

  for (guint i = 0; i < GANTRY_MAX_RANK; i++)
    order[i] = i == a ? b : i == b ? a : i;
  return gantry_builder_transpose (builder, x, order);
}

guint32
gantry_builder_along (GantryBuilder *builder, guint32 x, guint rank, gint64 axis)
{
  GantryDim dims[GANTRY_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    dims[i] = i == axis ? gantry_type_elements (gantry_builder_get_type (builder, x)) : 1;
  return gantry_builder_reshape (builder, x, rank, dims);
}

guint32
gantry_builder_slice_axis (GantryBuilder *builder, guint32 x, gint64 axis, gint64 start, gint64 limit, gint64 stride)
{
  gint64 starts[GANTRY_MAX_RANK] = { 0 }, limits[GANTRY_MAX_RANK], strides[GANTRY_MAX_RANK];
  guint rank = dims_of (builder, x, limits);

  if (!has_axis (builder, x, axis))
    return 0;
  if (start == 0 && limit == limits[axis] && stride == 1)
    return x;
  for (guint i = 0; i < rank; i++)
    strides[i] = 1;
  starts[axis] = start;
  limits[axis] = limit;
  strides[axis] = stride;
  return gantry_builder_slice (builder, x, starts, limits, strides);
}

guint32
gantry_builder_reverse (GantryBuilder *builder, guint32 x, const gint64 *axes, gsize n)
{
  GantryAttrList *attrs;

  if (x == 0 || n == 0)
    return x;
  attrs = gantry_attr_list_new (gantry_builder_context (builder));
  gantry_attr_list_set_ints (attrs, "dimensions", axes, n);
  return gantry_builder_add (builder, GANTRY_OP_REVERSE, &x, 1, gantry_attr_list_end (attrs));
}

guint32
gantry_builder_pad_if_any (GantryBuilder *builder, guint32 x, guint32 value, const gint64 *low, const gint64 *high, const gint64 *interior)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = dims_of (builder, x, dims);
  gboolean any = FALSE;

  for (guint i = 0; i < rank; i++)
    any = any || low[i] != 0 || high[i] != 0 || (interior != NULL && interior[i] != 0);
  return any ? gantry_builder_pad (builder, x, value, low, high, interior) : x;
}

guint32
gantry_builder_take (GantryBuilder *builder, guint32 x, gint64 axis, guint32 indices)
{
  gint64 sizes[GANTRY_MAX_RANK], offsets[GANTRY_MAX_RANK];
  guint rank = dims_of (builder, x, sizes), n_indices = gantry_builder_get_type (builder, indices)->rank, n = 0;
  GantryAttrList *attrs;

  if (indices == 0 || !has_axis (builder, x, axis))
    return 0;
  for (guint i = 0; i < rank; i++)
    if (i != axis)
      offsets[n++] = i < axis ? i : i - 1 + n_indices;
  sizes[axis] = 1;
  attrs = gantry_attr_list_new (gantry_builder_context (builder));
  gantry_attr_list_set_ints (attrs, "offset_dims", offsets, n);
  gantry_attr_list_set_ints (attrs, "collapsed_slice_dims", &axis, 1);
  gantry_attr_list_set_ints (attrs, "start_index_map", &axis, 1);
  gantry_attr_list_set_int (attrs, "index_vector_dim", n_indices);
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, rank);
  return gantry_builder_add (builder, GANTRY_OP_GATHER, (guint32[]){ x, indices }, 2, gantry_attr_list_end (attrs));
}

guint32
gantry_builder_scatter_vectors (GantryBuilder *builder, guint32 x, guint32 vectors, guint32 updates, const char *kind)
{
  gint64 first[GANTRY_MAX_RANK], window[GANTRY_MAX_RANK], sizes[GANTRY_MAX_RANK], left;
  gint64 n_batch = (gint64) dims_of (builder, vectors, sizes) - 1;
  guint rank = gantry_builder_get_type (builder, x)->rank;
  GantryAttrList *attrs;

  if (x == 0 || updates == 0 || !has_axis (builder, vectors, n_batch))
    return 0;
  for (guint i = 0; i < rank; i++)
    {
      first[i] = i;
      window[i] = n_batch + i;
    }
  left = rank - sizes[n_batch];
  if (left < 0 || left > rank)
    {
      gantry_builder_fail (builder, GANTRY_ERROR_INVALID, "places of %" G_GINT64_FORMAT " numbers in %u dimensions", sizes[n_batch], rank);
      return 0;
    }
  attrs = gantry_attr_list_new (gantry_builder_context (builder));
  gantry_attr_list_set_ints (attrs, "update_window_dims", window, (gsize) left);
  gantry_attr_list_set_ints (attrs, "inserted_window_dims", first, rank - (gsize) left);
  gantry_attr_list_set_ints (attrs, "scatter_dims_to_operand_dims", first, rank - (gsize) left);
  gantry_attr_list_set_int (attrs, "index_vector_dim", n_batch);
  gantry_attr_list_set_string (attrs, "kind", kind);
  return gantry_builder_add (builder, GANTRY_OP_SCATTER, (guint32[]){ x, vectors, updates }, 3, gantry_attr_list_end (attrs));
}

/* A constant of more elements than this is data, which is not looked through. */
#define MOST_KNOWN (1 << 22)

static gboolean
known_not_negative (GantryBuilder *builder, guint32 indices)
{
  const GantryLiteral *known = gantry_builder_constant_of (builder, indices);
  gint64 n = known == NULL ? 0 : known->splat ? 1 : gantry_type_elements (known->type), i = 0;

  if (known == NULL || n > MOST_KNOWN)
    return FALSE;
  while (i < n && gantry_literal_get_int (known, i) >= 0)
    i++;
  return i == n;
}

guint32
gantry_builder_wrap_indices (GantryBuilder *builder, guint32 indices, gint64 size)
{
  gboolean plain = known_not_negative (builder, indices);
  guint32 negative, wrapped;

  indices = gantry_builder_convert (builder, indices, GANTRY_I64);
  if (plain)
    return indices;
  negative = gantry_builder_compare (builder, "LT", indices, gantry_builder_int_scalar (builder, GANTRY_I64, 0));
  wrapped = gantry_builder_binary_broadcast (builder, GANTRY_OP_ADD, indices, gantry_builder_int_scalar (builder, GANTRY_I64, size));
  return gantry_builder_select (builder, negative, wrapped, indices);
}

/* Reductions */

guint32
gantry_builder_reduce_axes (GantryBuilder *builder, const char *kind, guint32 x, const gint64 *axes, gsize n, gboolean keep)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = dims_of (builder, x, dims);
  guint32 reduced;

  if (x == 0 || n == 0)
    return x;
  reduced = gantry_builder_reduce (builder, kind, x, axes, n);
  if (!keep || reduced == 0)
    return reduced;
  for (gsize i = 0; i < n; i++)
    dims[axes[i]] = 1; /* in range, or there would be no result */
  return gantry_builder_reshape (builder, reduced, rank, dims);
}

guint32
gantry_builder_mean (GantryBuilder *builder, guint32 x, const gint64 *axes, gsize n)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = dims_of (builder, x, dims);
  double count = 1;

  for (gsize i = 0; i < n; i++)
    count *= axes[i] >= 0 && axes[i] < rank ? (double) dims[axes[i]] : 0;
  x = gantry_builder_reduce_axes (builder, "add", gantry_builder_widen (builder, x), axes, n, TRUE);
  return gantry_builder_binary_broadcast (builder, GANTRY_OP_DIVIDE, x, gantry_builder_like (builder, x, count));
}

/* The greatest element is subtracted first, so that no power overflows. */
guint32
gantry_builder_softmax (GantryBuilder *builder, guint32 x, const gint64 *axes, gsize n, gboolean logarithm)
{
  guint32 wide = gantry_builder_widen (builder, x);
  guint32 top = gantry_builder_reduce_axes (builder, "max", wide, axes, n, TRUE);
  guint32 shifted = gantry_builder_binary_broadcast (builder, GANTRY_OP_SUBTRACT, wide, top);
  guint32 powers = gantry_builder_unary (builder, GANTRY_OP_EXPONENTIAL, shifted);
  guint32 sum = gantry_builder_reduce_axes (builder, "add", powers, axes, n, TRUE);

  if (logarithm)
    return gantry_builder_binary_broadcast (builder, GANTRY_OP_SUBTRACT, shifted, gantry_builder_unary (builder, GANTRY_OP_LOG, sum));
  return gantry_builder_binary_broadcast (builder, GANTRY_OP_DIVIDE, powers, sum);
}
