/* SPDX-License-Identifier: Apache-2.0 */
/* Type rules of the operations that sum: reductions, windows, matrix products and convolutions. */
#include "core/graph/operation-private.h"
#include <string.h>

/* Padding, strides and dilations beyond this are refused, so that their sums and products cannot overflow. */
#define MAX_STEP (G_GINT64_CONSTANT (1) << 31)

guint32
_gantry_infer_reduce (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  GantryDim dims[GANTRY_MAX_RANK];
  const gint64 *dimensions;
  gsize n;
  guint rank = 0, next = 0;
  GantryOp op;

  if (type == NULL || !_gantry_infer_kind (query, type->element, &op, error)
      || !_gantry_infer_dimensions (query, "dimensions", type->rank, TRUE, TRUE, &dimensions, &n, error))
    return 0;
  for (guint i = 0; i < type->rank; i++)
    if (next < n && dimensions[next] == i)
      next++;
    else
      dims[rank++] = type->dims[i];
  return _gantry_infer_make (query, type->element, rank, dims, error);
}

static gboolean
check_steps (const GantryTypeQuery *query, const char *key, guint n, gint64 low, GError **error)
{
  const gint64 *values;
  gsize have;

  if (!_gantry_infer_ints (query, key, n, FALSE, &values, &have, error))
    return FALSE;
  for (guint i = 0; i < have; i++)
    if (values[i] < low || values[i] >= MAX_STEP)
      return _gantry_infer_fail (query, error, "%s: entry %u is %" G_GINT64_FORMAT ", but must be at least %" G_GINT64_FORMAT " and less than 2^31", key, i,
                                 values[i], low);
  return TRUE;
}

/* The size of one dimension after a window has slid over it. */
static gboolean
slide (const GantryTypeQuery *query, guint i, GantryDim from, const GantryWindow *w, GantryDim size, GantryDim *to, GError **error)
{
  gint64 base, window;

  if (!GANTRY_DIM_IS_STATIC (from) || !GANTRY_DIM_IS_STATIC (size))
    {
      gboolean kept = size == 1 && w->stride == 1 && w->low == 0 && w->high == 0 && w->base_dilation == 1;

      *to = kept ? from : GANTRY_DIM_UNKNOWN;
      return TRUE;
    }
  base = gantry_dim_multiply (MAX (from - 1, 0), w->base_dilation);
  base = gantry_dim_add (base, (from == 0 ? 0 : 1) + w->low + w->high);
  window = gantry_dim_add (gantry_dim_multiply (MAX (size - 1, 0), w->window_dilation), 1);
  if (base == G_MAXINT64 || window == G_MAXINT64)
    {
      *to = G_MAXINT64;
      return TRUE;
    }
  if (base < 0)
    return _gantry_infer_fail (query, error, "dimension %u of size %s would have %" G_GINT64_FORMAT " elements after padding", i,
                               _gantry_dim_text (query->context, from), base);
  *to = base < window ? 0 : (base - window) / w->stride + 1;
  return TRUE;
}

guint32
_gantry_infer_reduce_window (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  GantryDim dims[GANTRY_MAX_RANK];
  GantryWindow windows[GANTRY_MAX_RANK];
  const gint64 *sizes;
  gsize n;
  GantryOp op;

  if (type == NULL || !_gantry_infer_kind (query, type->element, &op, error)
      || !_gantry_infer_ints (query, "window_dimensions", type->rank, TRUE, &sizes, &n, error)
      || !check_steps (query, "window_dimensions", type->rank, 1, error) || !check_steps (query, "window_strides", type->rank, 1, error)
      || !check_steps (query, "base_dilations", type->rank, 1, error) || !check_steps (query, "window_dilations", type->rank, 1, error)
      || !check_steps (query, "padding", 2 * type->rank, -MAX_STEP + 1, error))
    return 0;
  gantry_op_windows (query->context, query->attrs, query->op, type->rank, windows);
  for (guint i = 0; i < type->rank; i++)
    if (!slide (query, i, type->dims[i], &windows[i], windows[i].size, &dims[i], error))
      return 0;
  return _gantry_infer_make (query, type->element, type->rank, dims, error);
}

/* The element type of a sum of products: that of the operands, or attribute `to`. */
static gboolean
product_element (const GantryTypeQuery *query, const GantryType *a, const GantryType *b, GantryElementType *element, GError **error)
{
  if (!gantry_element_is_float (a->element) && !gantry_element_is_integer (a->element))
    return _gantry_infer_fail (query, error, "takes numbers, not %s", gantry_element_name (a->element));
  if (a->element != b->element)
    return _gantry_infer_fail (query, error, "the left operand has elements of type %s, the right of %s", gantry_element_name (a->element),
                               gantry_element_name (b->element));
  if (!_gantry_infer_to (query, a->element, element, error))
    return FALSE;
  if (!gantry_element_is_float (*element) && !gantry_element_is_integer (*element))
    return _gantry_infer_fail (query, error, "makes numbers, not %s", gantry_element_name (*element));
  if (gantry_element_is_float (a->element) && !gantry_element_is_float (*element))
    return _gantry_infer_fail (query, error, "cannot sum %s as %s", gantry_element_name (a->element), gantry_element_name (*element));
  return TRUE;
}

/* Pairs of dimensions that must agree; marks them in @used. */
static gboolean
check_pairs (const GantryTypeQuery *query, const char *what, const GantryType *a, const gint64 *left, gsize n_left, const GantryType *b, const gint64 *right,
             gsize n_right, guint32 *used, GError **error)
{
  GantryDim merged;

  if (n_left != n_right)
    return _gantry_infer_fail (query, error, "the left operand has %u %s dimensions, the right %u", (guint) n_left, what, (guint) n_right);
  for (guint i = 0; i < n_left; i++)
    {
      if ((used[0] & (1u << left[i])) || (used[1] & (1u << right[i])))
        return _gantry_infer_fail (query, error, "a dimension is both batching and contracting");
      used[0] |= 1u << left[i];
      used[1] |= 1u << right[i];
      if (!_gantry_dim_merge (a->dims[left[i]], b->dims[right[i]], &merged))
        return _gantry_infer_fail (
          query, error, "%s dimension %" G_GINT64_FORMAT " of the left operand is %s, dimension %" G_GINT64_FORMAT " of the right is %s", what, left[i],
          _gantry_dim_text (query->context, a->dims[left[i]]), right[i], _gantry_dim_text (query->context, b->dims[right[i]]));
    }
  return TRUE;
}

guint32
_gantry_infer_dot_general (const GantryTypeQuery *query, GError **error)
{
  const GantryType *a = _gantry_infer_tensor (query, 0, error);
  const GantryType *b = a != NULL ? _gantry_infer_tensor (query, 1, error) : NULL;
  GantryDim dims[3 * GANTRY_MAX_RANK];
  const gint64 *lb, *rb, *lc, *rc;
  gsize n_lb, n_rb, n_lc, n_rc;
  GantryElementType element;
  guint32 used[2] = { 0, 0 };
  guint rank = 0;

  if (b == NULL || !product_element (query, a, b, &element, error)
      || !_gantry_infer_dimensions (query, "lhs_batching_dimensions", a->rank, FALSE, FALSE, &lb, &n_lb, error)
      || !_gantry_infer_dimensions (query, "rhs_batching_dimensions", b->rank, FALSE, FALSE, &rb, &n_rb, error)
      || !_gantry_infer_dimensions (query, "lhs_contracting_dimensions", a->rank, FALSE, FALSE, &lc, &n_lc, error)
      || !_gantry_infer_dimensions (query, "rhs_contracting_dimensions", b->rank, FALSE, FALSE, &rc, &n_rc, error)
      || !check_pairs (query, "batching", a, lb, n_lb, b, rb, n_rb, used, error) || !check_pairs (query, "contracting", a, lc, n_lc, b, rc, n_rc, used, error))
    return 0;
  for (guint i = 0; i < n_lb; i++)
    _gantry_dim_merge (a->dims[lb[i]], b->dims[rb[i]], &dims[rank++]);
  for (guint i = 0; i < a->rank; i++)
    if (!(used[0] & (1u << i)))
      dims[rank++] = a->dims[i];
  for (guint i = 0; i < b->rank; i++)
    if (!(used[1] & (1u << i)))
      dims[rank++] = b->dims[i];
  return _gantry_infer_make (query, element, rank, dims, error);
}

/* Channels and groups: C of the operand, O and I of the kernel. */
static gboolean
check_channels (const GantryTypeQuery *query, const GantryType *x, const GantryType *w, GError **error)
{
  gint64 groups = gantry_attrs_int (query->context, query->attrs, "feature_group_count", 1);
  GantryDim c = x->dims[1], o = w->dims[0], i = w->dims[1];

  if (groups < 1 || groups >= MAX_STEP)
    return _gantry_infer_fail (query, error, "feature_group_count is %" G_GINT64_FORMAT ", but must be at least 1", groups);
  if (GANTRY_DIM_IS_STATIC (o) && o % groups != 0)
    return _gantry_infer_fail (query, error, "%" G_GINT64_FORMAT " output channels do not divide into %" G_GINT64_FORMAT " groups", o, groups);
  if (GANTRY_DIM_IS_STATIC (c) && c % groups != 0)
    return _gantry_infer_fail (query, error, "%" G_GINT64_FORMAT " input channels do not divide into %" G_GINT64_FORMAT " groups", c, groups);
  if (GANTRY_DIM_IS_STATIC (c) && GANTRY_DIM_IS_STATIC (i) && c / groups != i)
    return _gantry_infer_fail (
      query, error, "the operand has %" G_GINT64_FORMAT " channels in %" G_GINT64_FORMAT " groups, but the kernel takes %" G_GINT64_FORMAT, c, groups, i);
  return TRUE;
}

static gboolean
check_extras (const GantryTypeQuery *query, const GantryType *w, GantryElementType element, GError **error)
{
  const char *post = gantry_attrs_string (query->context, query->attrs, "post", NULL);
  const GantryType *bias;
  GantryDim merged;
  gint64 skip;

  if (gantry_attrs_find (query->context, query->attrs, "skip_padding") != NULL && !_gantry_infer_axis (query, "skip_padding", 0, 2, &skip, error))
    return FALSE;
  if (post != NULL && strcmp (post, "relu") != 0)
    return _gantry_infer_fail (query, error, "post is \"%s\", but only \"relu\" is known", post);
  if (query->n_operands < 3)
    return TRUE;
  bias = _gantry_infer_tensor (query, 2, error);
  if (bias == NULL)
    return FALSE;
  if (bias->rank != 1 || !_gantry_dim_merge (bias->dims[0], w->dims[0], &merged))
    return _gantry_infer_fail (query, error, "the bias is %s, but the kernel has %s output channels", _gantry_infer_text (query, 2),
                               _gantry_dim_text (query->context, w->dims[0]));
  if (bias->element != w->element && bias->element != element)
    return _gantry_infer_fail (query, error, "the bias has elements of type %s, the kernel of %s", gantry_element_name (bias->element),
                               gantry_element_name (w->element));
  return TRUE;
}

guint32
_gantry_infer_convolution (const GantryTypeQuery *query, GError **error)
{
  const GantryType *x = _gantry_infer_tensor (query, 0, error);
  const GantryType *w = x != NULL ? _gantry_infer_tensor (query, 1, error) : NULL;
  GantryDim dims[GANTRY_MAX_RANK];
  GantryWindow windows[GANTRY_MAX_RANK];
  GantryElementType element;
  guint n;

  if (w == NULL || !product_element (query, x, w, &element, error))
    return 0;
  if (x->rank != w->rank || x->rank < 2)
    return _gantry_infer_fail (query, error, "takes NC[spatial] and OI[spatial] of one rank of at least 2, not %s and %s", _gantry_infer_text (query, 0),
                               _gantry_infer_text (query, 1));
  n = x->rank - 2;
  if (!check_channels (query, x, w, error) || !check_extras (query, w, element, error) || !check_steps (query, "window_strides", n, 1, error)
      || !check_steps (query, "lhs_dilation", n, 1, error) || !check_steps (query, "rhs_dilation", n, 1, error)
      || !check_steps (query, "padding", 2 * n, -MAX_STEP + 1, error))
    return 0;
  if (gantry_attrs_int (query->context, query->attrs, "batch_group_count", 1) != 1)
    return _gantry_infer_fail (query, error,
                               "batch_group_count is not an attribute of this table; a front end has to "
                               "write it as groups");
  gantry_op_windows (query->context, query->attrs, query->op, n, windows);
  dims[0] = x->dims[0];
  dims[1] = w->dims[0];
  for (guint i = 0; i < n; i++)
    if (!slide (query, i + 2, x->dims[i + 2], &windows[i], w->dims[i + 2], &dims[i + 2], error))
      return 0;
  return _gantry_infer_make (query, element, x->rank, dims, error);
}
