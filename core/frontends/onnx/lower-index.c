/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX operations that read or write elements at indices, and those that are made of comparisons of
 * positions (OneHot, Trilu, EyeLike, Range). Indices below 0 count from the end; what lies outside
 * is an error in ONNX and is clamped here, as the core gather does. */
#include "core/frontends/onnx/onnx-lower.h"

static void
set_dims (GantryAttrList *attrs, const char *key, const gint64 *values, gsize n)
{
  if (n > 0)
    gantry_attr_list_set_ints (attrs, key, values, n);
}

static void
gather (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 indices = gantry_lower_operand (l, 1);
  gint64 axis = gantry_lower_axis (l, gantry_lower_int (l, "axis", 0), gantry_lower_rank (l, x));
  gint64 dim = gantry_lower_dim (l, x, axis);
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = 0;
  gsize n;
  gint64 *values;

  if (axis < 0 || indices == 0)
    {
      gantry_lower_invalid (l, "an operand is missing");
      return;
    }
  values = gantry_lower_known_ints (l, indices, &n);
  /* One constant index is a slice: simpler for every pass after this one. */
  if (values != NULL && n == 1 && dim > 0)
    {
      gint64 at = values[0] < 0 ? values[0] + dim : values[0];

      if (at < 0 || at >= dim)
        {
          gantry_lower_invalid (l, "index %" G_GINT64_FORMAT " is out of range", values[0]);
          return;
        }
      x = gantry_builder_slice_axis (l->b, x, axis, at, at + 1, 1);
      for (guint i = 0; i < gantry_lower_rank (l, x); i++)
        for (guint k = 0; k < (i == axis ? gantry_lower_rank (l, indices) : 1) && rank < GANTRY_MAX_RANK; k++)
          dims[rank++] = i == axis ? 1 : gantry_lower_dim (l, x, i);
      l->out[0] = gantry_builder_reshape (l->b, x, rank, dims);
      return;
    }
  l->out[0] = gantry_builder_take (l->b, x, axis, gantry_builder_wrap_indices (l->b, indices, dim));
}

/* result[i, j, k] = x[i, indices[i, j, k], k] for axis 1: every other axis is a batching dimension.
 * */
guint32
gantry_lower_gather_elements (GantryLower *l, guint32 x, guint32 indices, gint64 axis)
{
  guint rank = gantry_lower_rank (l, x);
  gint64 sizes[GANTRY_MAX_RANK], batch[GANTRY_MAX_RANK];
  guint n_batch = 0;
  GantryAttrList *attrs;

  indices = gantry_builder_wrap_indices (l->b, indices, gantry_lower_dim (l, x, axis));
  for (guint i = 0; i < rank; i++)
    {
      sizes[i] = 1;
      if (i == axis)
        continue;
      batch[n_batch++] = i;
      if (gantry_lower_dim (l, indices, i) > gantry_lower_dim (l, x, i))
        {
          gantry_lower_invalid (l, "dimension %u of the indices is larger than that of the data", i);
          return 0;
        }
      x = gantry_builder_slice_axis (l->b, x, i, 0, gantry_lower_dim (l, indices, i), 1);
    }
  attrs = gantry_lower_attrs (l);
  gantry_attr_list_set_ints (attrs, "offset_dims", sizes, 0);
  gantry_attr_list_set_ints (attrs, "collapsed_slice_dims", &axis, 1);
  set_dims (attrs, "operand_batching_dims", batch, n_batch);
  set_dims (attrs, "start_indices_batching_dims", batch, n_batch);
  gantry_attr_list_set_ints (attrs, "start_index_map", &axis, 1);
  gantry_attr_list_set_int (attrs, "index_vector_dim", rank);
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, rank);
  return gantry_lower_add (l, GANTRY_OP_GATHER, attrs, 2, x, indices);
}

static void
gather_elements (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 indices = gantry_lower_operand (l, 1);
  gint64 axis = gantry_lower_axis (l, gantry_lower_int (l, "axis", 0), gantry_lower_rank (l, x));

  if (axis < 0)
    return;
  if (gantry_lower_rank (l, indices) != gantry_lower_rank (l, x))
    gantry_lower_invalid (l, "data and indices differ in rank");
  else
    l->out[0] = gantry_lower_gather_elements (l, x, indices, axis);
}

/* Adds the extents x.dims[first ...] to the negative entries of index vectors [..., k]. */
static guint32
wrap_vectors (GantryLower *l, guint32 x, guint32 indices, guint first)
{
  guint rank = gantry_lower_rank (l, indices);
  gint64 k = gantry_lower_dim (l, indices, (gint64) rank - 1);
  gint64 sizes[GANTRY_MAX_RANK];
  guint32 zero, wrapped;
  gsize n;
  gint64 *values;

  for (gint64 i = 0; i < k; i++)
    sizes[i] = gantry_lower_dim (l, x, first + i);
  values = gantry_lower_known_ints (l, indices, &n);
  for (gsize i = 0; i < n && values != NULL; i++)
    if (values[i] < 0)
      values = NULL;
  indices = gantry_builder_convert (l->b, indices, GANTRY_I64);
  if (values != NULL || indices == 0)
    return indices;
  zero = gantry_builder_int_scalar (l->b, GANTRY_I64, 0);
  wrapped = gantry_builder_binary_broadcast (l->b, GANTRY_OP_ADD, indices, gantry_builder_ints (l->b, sizes, k));
  return gantry_builder_select (l->b, gantry_builder_compare (l->b, "LT", indices, zero), wrapped, indices);
}

/* result[b..., i...] = x[b..., indices[b..., i..., :], ...]; negative entries are not wrapped here.
 * */
guint32
gantry_lower_gather_nd (GantryLower *l, guint32 x, guint32 indices, guint batch)
{
  guint rank = gantry_lower_rank (l, x);
  guint indices_rank = gantry_lower_rank (l, indices);
  gint64 k = gantry_lower_dim (l, indices, (gint64) indices_rank - 1);
  gint64 sizes[GANTRY_MAX_RANK], batching[GANTRY_MAX_RANK], map[GANTRY_MAX_RANK], offsets[GANTRY_MAX_RANK];
  GantryAttrList *attrs;

  if (x == 0 || indices == 0)
    return 0;
  if (indices_rank <= batch || batch + k > rank || indices_rank - 1 + rank - batch - k > GANTRY_MAX_RANK)
    {
      gantry_lower_invalid (l, "index vectors of %" G_GINT64_FORMAT " entries do not fit %u dimensions", k, rank);
      return 0;
    }
  for (guint i = 0; i < rank; i++)
    {
      sizes[i] = i < batch + k ? 1 : gantry_lower_dim (l, x, i);
      batching[i] = i;
      map[i] = batch + i;
      offsets[i] = (gint64) indices_rank - 1 + i;
    }
  attrs = gantry_lower_attrs (l);
  gantry_attr_list_set_ints (attrs, "offset_dims", offsets, rank - batch - k);
  gantry_attr_list_set_ints (attrs, "collapsed_slice_dims", map, k);
  set_dims (attrs, "operand_batching_dims", batching, batch);
  set_dims (attrs, "start_indices_batching_dims", batching, batch);
  gantry_attr_list_set_ints (attrs, "start_index_map", map, k);
  gantry_attr_list_set_int (attrs, "index_vector_dim", (gint64) indices_rank - 1);
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, rank);
  return gantry_lower_add (l, GANTRY_OP_GATHER, attrs, 2, x, indices);
}

static void
gather_nd (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 indices = gantry_lower_operand (l, 1);
  gint64 batch = gantry_lower_int (l, "batch_dims", 0);
  guint rank = gantry_lower_rank (l, x);

  if (!gantry_lower_check_rank (l, 0, 1, GANTRY_MAX_RANK) || !gantry_lower_check_rank (l, 1, 1, GANTRY_MAX_RANK))
    return;
  if (batch < 0 || batch >= rank || batch + gantry_lower_dim (l, indices, (gint64) gantry_lower_rank (l, indices) - 1) > rank)
    gantry_lower_invalid (l, "batch_dims or the index vectors do not fit the data");
  else
    l->out[0] = gantry_lower_gather_nd (l, x, wrap_vectors (l, x, indices, (guint) batch), (guint) batch);
}

/* Which combination of old and new; NULL after a failure. "none" overwrites. */
static const char *
scatter_kind (GantryLower *l)
{
  const char *reduction = gantry_lower_string (l, "reduction", "none");

  if (strcmp (reduction, "none") == 0)
    return "set";
  if (strcmp (reduction, "add") == 0 || strcmp (reduction, "mul") == 0 || strcmp (reduction, "max") == 0 || strcmp (reduction, "min") == 0)
    return reduction;
  gantry_lower_invalid (l, "reduction '%s' is not known", reduction);
  return NULL;
}

/* Scatter with index vectors [..., k] over the first k dimensions; the updates' last dimensions are
 * windows. */
static void
scatter_nd (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 indices = gantry_lower_operand (l, 1);
  const char *kind = scatter_kind (l);

  if (!gantry_lower_check_rank (l, 0, 1, GANTRY_MAX_RANK) || !gantry_lower_check_rank (l, 1, 1, GANTRY_MAX_RANK)
      || !gantry_lower_check_rank (l, 2, 0, GANTRY_MAX_RANK))
    return;
  if (gantry_lower_dim (l, indices, (gint64) gantry_lower_rank (l, indices) - 1) > gantry_lower_rank (l, x))
    gantry_lower_invalid (l, "the index vectors do not fit the data");
  else if (kind != NULL)
    l->out[0] = gantry_builder_scatter_vectors (l->b, x, wrap_vectors (l, x, indices, 0), l->in[2], kind);
}

/* The index along `axis` is given, along every other axis it is the position: full index vectors.
 * */
static void
scatter_elements (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 indices = gantry_lower_operand (l, 1);
  guint rank = gantry_lower_rank (l, x);
  gint64 axis = gantry_lower_axis (l, gantry_lower_int (l, "axis", 0), rank);
  const char *kind = scatter_kind (l);
  GantryDim dims[GANTRY_MAX_RANK];
  guint32 parts[GANTRY_MAX_RANK];

  if (axis < 0 || !gantry_lower_check_rank (l, 1, rank, rank) || !gantry_lower_check_rank (l, 2, rank, rank))
    return;
  if (rank >= GANTRY_MAX_RANK)
    {
      gantry_lower_fail (l, "too many dimensions");
      return;
    }
  indices = gantry_builder_wrap_indices (l->b, indices, gantry_lower_dim (l, x, axis));
  gantry_lower_dims (l, indices, dims);
  dims[rank] = 1;
  for (guint i = 0; i < rank; i++)
    parts[i] = i == axis ? gantry_builder_reshape (l->b, indices, rank + 1, dims) : gantry_builder_iota (l->b, GANTRY_I64, rank + 1, dims, i);
  if (kind != NULL)
    l->out[0] = gantry_builder_scatter_vectors (l->b, x, gantry_builder_concatenate (l->b, parts, rank, rank), l->in[2], kind);
}

static void
one_hot (GantryLower *l)
{
  guint32 indices = gantry_builder_convert (l->b, gantry_lower_operand (l, 0), GANTRY_I64);
  const GantryType *declared = gantry_lower_declared (l, 0);
  gint64 rank = gantry_lower_rank (l, indices);
  gint64 axis = gantry_lower_axis (l, gantry_lower_int (l, "axis", -1), rank + 1);
  GantryDim dims[GANTRY_MAX_RANK + 1];
  gsize n = 0;
  double *depth = gantry_lower_known_doubles (l, gantry_lower_operand (l, 1), &n);
  guint32 values = gantry_lower_operand (l, 2);
  guint32 hot, off, on;

  if (axis < 0 || !gantry_lower_check_rank (l, 2, 1, 1))
    return;
  if (depth == NULL && (declared == NULL || declared->rank != rank + 1))
    {
      gantry_lower_needs_constant (l, gantry_lower_operand (l, 1), "depth");
      return;
    }
  if (rank >= GANTRY_MAX_RANK || (depth != NULL && (n != 1 || !(depth[0] >= 1 && depth[0] < 1e9))))
    {
      gantry_lower_invalid (l, "depth or rank is out of range");
      return;
    }
  for (gint64 i = 0; i <= rank; i++)
    dims[i] = i == axis ? 1 : gantry_lower_dim (l, indices, i < axis ? i : i - 1);
  indices = gantry_builder_reshape (l->b, indices, rank + 1, dims);
  dims[axis] = depth != NULL ? (gint64) depth[0] : declared->dims[axis];
  indices = gantry_builder_wrap_indices (l->b, indices, dims[axis]);
  off = gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, values, 0, 0, 1, 1), 0, NULL);
  on = gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, values, 0, 1, 2, 1), 0, NULL);
  hot = gantry_builder_compare (l->b, "EQ", indices, gantry_builder_iota (l->b, GANTRY_I64, rank + 1, dims, axis));
  l->out[0] = hot != 0 ? gantry_builder_select (l->b, hot, on, off) : 0;
}

/* Keeps column - row >= k (upper) or <= k (lower). */
static void
trilu (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint rank = gantry_lower_rank (l, x);
  GantryDim dims[2];
  guint32 distance, k, keep;

  if (!gantry_lower_check_rank (l, 0, 2, GANTRY_MAX_RANK))
    return;
  dims[0] = gantry_lower_dim (l, x, rank - 2);
  dims[1] = gantry_lower_dim (l, x, rank - 1);
  distance = gantry_builder_binary_broadcast (l->b, GANTRY_OP_SUBTRACT, gantry_builder_iota (l->b, GANTRY_I64, 2, dims, 1),
                                              gantry_builder_iota (l->b, GANTRY_I64, 2, dims, 0));
  k = gantry_lower_has (l, 1) ? gantry_builder_reshape (l->b, l->in[1], 0, NULL) : gantry_builder_int_scalar (l->b, GANTRY_I64, 0);
  keep = gantry_builder_compare (l->b, gantry_lower_int (l, "upper", 1) != 0 ? "GE" : "LE", distance, k);
  l->out[0] = gantry_builder_select (l->b, keep, x, gantry_builder_like (l->b, x, 0));
}

static void
eye_like (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryElementType element = gantry_lower_element (l, x);
  GantryDim dims[GANTRY_MAX_RANK];
  guint32 distance, on;

  if (!gantry_lower_check_rank (l, 0, 2, 2))
    return;
  if (gantry_lower_has_attr (l, "dtype"))
    element = gantry_lower_data_type (gantry_lower_int (l, "dtype", 0));
  if (element == GANTRY_ELEMENT_NONE)
    {
      gantry_lower_fail (l, "element type of the result is not compiled");
      return;
    }
  gantry_lower_dims (l, x, dims);
  distance = gantry_builder_binary_broadcast (l->b, GANTRY_OP_SUBTRACT, gantry_builder_iota (l->b, GANTRY_I64, 2, dims, 1),
                                              gantry_builder_iota (l->b, GANTRY_I64, 2, dims, 0));
  on = gantry_builder_compare (l->b, "EQ", distance, gantry_builder_int_scalar (l->b, GANTRY_I64, gantry_lower_int (l, "k", 0)));
  l->out[0] = gantry_builder_convert (l->b, on, element);
}

/* ceil ((limit - start) / delta) without overflow: at most G_MAXINT64. */
static gint64
count_whole (gint64 start, gint64 limit, gint64 delta)
{
  guint64 span = delta > 0 ? (guint64) limit - (guint64) start : (guint64) start - (guint64) limit;
  guint64 step = delta > 0 ? (guint64) delta : 0 - (guint64) delta;

  if (delta > 0 ? limit <= start : limit >= start)
    return 0;
  return (gint64) MIN (span / step + (span % step != 0), (guint64) G_MAXINT64);
}

/* The same of floating point numbers, the difference rounded as the element type rounds it. */
static gint64
count_steps (GantryLower *l, GantryElementType element, const double *value)
{
  double span = value[1] - value[0];

  if (!isfinite (value[0]) || !isfinite (value[1]) || !isfinite (value[2]))
    {
      gantry_lower_invalid (l, "from %g to %g by %g is no number of elements", value[0], value[1], value[2]);
      return 0;
    }
  return gantry_dim_from_double (ceil ((element == GANTRY_F32 ? (double) (float) span : span) / value[2]));
}

/* Number of elements of Range, -1 when it depends on run time. */
static gint64
range_length (GantryLower *l)
{
  const GantryType *declared = gantry_lower_declared (l, 0);
  GantryElementType element = gantry_lower_element (l, gantry_lower_operand (l, 0));
  gboolean whole = gantry_element_is_integer (element);
  double value[3] = { 0 };
  gint64 number[3] = { 0 };

  for (guint i = 0; i < 3; i++)
    {
      GantryLiteral *literal = gantry_lower_literal (l, gantry_lower_operand (l, i));

      if (gantry_type_elements (gantry_lower_type (l, gantry_lower_operand (l, i))) != 1)
        {
          gantry_lower_invalid (l, "operand %u is not one number", i);
          return 0;
        }
      if (literal == NULL)
        return declared != NULL && declared->rank == 1 ? declared->dims[0] : -1;
      value[i] = gantry_literal_get_double (literal, 0);
      number[i] = whole ? gantry_literal_get_int (literal, 0) : 0;
    }
  if (value[2] == 0)
    {
      gantry_lower_invalid (l, "delta is 0");
      return 0;
    }
  return whole ? count_whole (number[0], number[1], number[2]) : count_steps (l, element, value);
}

static void
range (GantryLower *l)
{
  guint32 start = gantry_lower_operand (l, 0);
  GantryElementType element = gantry_lower_element (l, start);
  guint32 steps;
  gint64 n;

  if (!gantry_lower_has (l, 2) || start == 0)
    {
      gantry_lower_invalid (l, "an operand is missing");
      return;
    }
  n = range_length (l);
  if (n < 0)
    gantry_lower_needs_constant (l, 0, "number of elements");
  if (l->failed)
    return;
  start = gantry_builder_widen (l->b, gantry_builder_reshape (l->b, start, 0, NULL));
  steps = gantry_builder_iota (l->b, gantry_lower_element (l, start), 1, &n, 0);
  steps = gantry_builder_binary_broadcast (l->b, GANTRY_OP_MULTIPLY, steps, gantry_builder_widen (l->b, gantry_builder_reshape (l->b, l->in[2], 0, NULL)));
  l->out[0] = gantry_builder_convert (l->b, gantry_builder_binary_broadcast (l->b, GANTRY_OP_ADD, steps, start), element);
}

/* x with its elements along `axis` taken at indices[b, t], where b runs along `batch_axis`. */
static guint32
take_per_batch (GantryLower *l, guint32 x, guint32 indices, gint64 axis, gint64 batch_axis)
{
  static const gint64 swap[] = { 1, 0 };
  guint rank = gantry_lower_rank (l, x);
  gint64 sizes[GANTRY_MAX_RANK], offsets[GANTRY_MAX_RANK];
  gint64 batch = batch_axis < axis ? 0 : 1;
  guint n_offsets = 0;
  GantryAttrList *attrs;

  if (batch == 1)
    indices = gantry_builder_transpose (l->b, indices, swap);
  gantry_lower_dims (l, x, sizes);
  for (guint i = 0; i < rank; i++)
    if (i != axis && i != batch_axis)
      offsets[n_offsets++] = i;
  sizes[axis] = 1;
  sizes[batch_axis] = 1;
  attrs = gantry_lower_attrs (l);
  gantry_attr_list_set_ints (attrs, "offset_dims", offsets, n_offsets);
  gantry_attr_list_set_ints (attrs, "collapsed_slice_dims", &axis, 1);
  gantry_attr_list_set_ints (attrs, "operand_batching_dims", &batch_axis, 1);
  gantry_attr_list_set_ints (attrs, "start_indices_batching_dims", &batch, 1);
  gantry_attr_list_set_ints (attrs, "start_index_map", &axis, 1);
  gantry_attr_list_set_int (attrs, "index_vector_dim", 2);
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, rank);
  return gantry_lower_add (l, GANTRY_OP_GATHER, attrs, 2, x, indices);
}

static void
reverse_sequence (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  gint64 time_axis = gantry_lower_int (l, "time_axis", 0);
  gint64 batch_axis = gantry_lower_int (l, "batch_axis", 1);
  GantryDim dims[2];
  guint32 lengths, time, mirrored, indices;

  if (!gantry_lower_check_rank (l, 0, 2, GANTRY_MAX_RANK) || !gantry_lower_check_rank (l, 1, 1, 1))
    return;
  if (MIN (time_axis, batch_axis) != 0 || MAX (time_axis, batch_axis) != 1)
    {
      gantry_lower_invalid (l, "time and batch must be axes 0 and 1");
      return;
    }
  dims[0] = gantry_lower_dim (l, x, batch_axis);
  dims[1] = gantry_lower_dim (l, x, time_axis);
  time = gantry_builder_iota (l->b, GANTRY_I64, 2, dims, 1);
  lengths = gantry_builder_along (l->b, gantry_builder_convert (l->b, l->in[1], GANTRY_I64), 2, 0);
  mirrored = gantry_builder_binary_broadcast (l->b, GANTRY_OP_SUBTRACT, gantry_builder_offset (l->b, lengths, -1), time);
  indices = gantry_builder_select (l->b, gantry_builder_compare (l->b, "LT", time, lengths), mirrored, time);
  l->out[0] = take_per_batch (l, x, indices, time_axis, batch_axis);
}

/* The cache with `update` written from write_indices[batch] on, along `axis`; circular wraps
 * around. */
static void
tensor_scatter (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 update = gantry_lower_operand (l, 1);
  guint rank = gantry_lower_rank (l, x);
  gint64 axis = gantry_lower_axis (l, gantry_lower_int (l, "axis", -2), rank);
  gboolean circular = strcmp (gantry_lower_string (l, "mode", "linear"), "circular") == 0;
  GantryDim dims[2], spread[GANTRY_MAX_RANK];
  guint32 from, inside, zero, last, taken;

  if (axis < 1 || !gantry_lower_check_rank (l, 1, rank, rank))
    {
      gantry_lower_invalid (l, "axis must not be the batch");
      return;
    }
  dims[0] = gantry_lower_dim (l, x, 0);
  dims[1] = gantry_lower_dim (l, x, axis);
  zero = gantry_builder_int_scalar (l->b, GANTRY_I64, 0);
  last = gantry_builder_int_scalar (l->b, GANTRY_I64, gantry_lower_dim (l, update, axis) - 1);
  from = gantry_builder_iota (l->b, GANTRY_I64, 2, dims, 1);
  if (gantry_lower_has (l, 2))
    from = gantry_builder_binary_broadcast (l->b, GANTRY_OP_SUBTRACT, from,
                                            gantry_builder_along (l->b, gantry_builder_convert (l->b, l->in[2], GANTRY_I64), 2, 0));
  if (circular)
    from = gantry_builder_wrap_indices (l->b, from, dims[1]);
  inside = gantry_builder_binary_broadcast (l->b, GANTRY_OP_AND, gantry_builder_compare (l->b, "GE", from, zero),
                                            gantry_builder_compare (l->b, "LE", from, last));
  from = gantry_builder_binary_broadcast (l->b, GANTRY_OP_MINIMUM, gantry_builder_binary_broadcast (l->b, GANTRY_OP_MAXIMUM, from, zero), last);
  taken = take_per_batch (l, update, from, axis, 0);
  for (guint i = 0; i < rank; i++)
    spread[i] = i == 0 ? dims[0] : i == axis ? dims[1] : 1;
  l->out[0] = gantry_builder_select (l->b, gantry_builder_reshape (l->b, inside, rank, spread), taken, x);
}

/* clang-format off */
#define RULE(name, function) { name, function, GANTRY_CLASS_MOVEMENT, 0, 0, NULL }

const GantryLowerRule gantry_lower_index_rules[] = {
  RULE ("Gather", gather), RULE ("GatherElements", gather_elements), RULE ("GatherND", gather_nd),
  RULE ("Scatter", scatter_elements), RULE ("ScatterElements", scatter_elements), RULE ("ScatterND", scatter_nd),
  RULE ("OneHot", one_hot), RULE ("Trilu", trilu), RULE ("EyeLike", eye_like), RULE ("Range", range),
  RULE ("ReverseSequence", reverse_sequence), RULE ("TensorScatter", tensor_scatter),
  { NULL },
};
/* clang-format on */
