/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX operations that reduce along axes, find extremes, sort, or run sums along an axis. */
#include "core/frontends/onnx/lower-words-private.h"

typedef enum
{
  SUM,
  MEAN,
  PRODUCT,
  MAX_OF,
  MIN_OF,
  L1,
  L2,
  SUM_SQUARE,
  LOG_SUM,
  LOG_SUM_EXP
} Reduction;

/* Axes that are an operand computed at run time can still be read off the declared result when
 * dimensions are kept. */
static gint64 *
declared_axes (GantryLower *l, guint32 x, gsize *n)
{
  const GantryType *declared = gantry_lower_declared (l, 0);
  guint rank = gantry_lower_rank (l, x);
  gint64 *axes = gantry_arena_new0 (l->arena, gint64, rank + 1);

  *n = 0;
  if (declared == NULL || declared->rank != rank || gantry_lower_int (l, "keepdims", 1) == 0)
    {
      gantry_lower_needs_constant (l, gantry_lower_operand (l, 1), "list of axes");
      return NULL;
    }
  /* An axis of extent 1 does not tell; over it every reduction here is the same as none. */
  for (guint i = 0; i < rank; i++)
    if (gantry_lower_dim (l, x, i) != declared->dims[i])
      axes[(*n)++] = i;
  return axes;
}

/* The axes to reduce; where none are given all of them, or none at all by noop_with_empty_axes (an
 * operation that also does something to each element still does that). FALSE after a failure. */
static gboolean
reduction_axes (GantryLower *l, guint32 x, gint64 **axes, gsize *n)
{
  guint rank = gantry_lower_rank (l, x);
  gsize known;

  if (!gantry_lower_has_attr (l, "axes") && gantry_lower_has (l, 1) && gantry_lower_dim (l, l->in[1], 0) != 0
      && gantry_lower_known_ints (l, l->in[1], &known) == NULL)
    {
      *axes = declared_axes (l, x, n);
      return !l->failed;
    }
  *axes = gantry_lower_has (l, 1) && gantry_lower_dim (l, l->in[1], 0) == 0 ? NULL : gantry_lower_axes (l, 1, rank, n);
  if (*axes != NULL && *n > 0)
    return !l->failed;
  *n = gantry_lower_int (l, "noop_with_empty_axes", 0) != 0 ? 0 : rank;
  *axes = gantry_arena_new0 (l->arena, gint64, rank + 1);
  for (guint i = 0; i < rank; i++)
    (*axes)[i] = i;
  return !l->failed;
}

/* log (sum (exp (x))) with the maximum taken out; where the maximum is not finite nothing is taken
 * out. */
static guint32
log_sum_exp (GantryLower *l, guint32 x, const gint64 *axes, gsize n, gboolean keep)
{
  guint32 top = gantry_builder_reduce_axes (l->b, "max", x, axes, n, TRUE);
  guint32 sum, shift;

  if (top == 0)
    return 0;
  shift = gantry_builder_select (l->b, UNARY (IS_FINITE, top), top, gantry_builder_like (l->b, top, 0));
  sum = gantry_builder_reduce_axes (l->b, "add", UNARY (EXPONENTIAL, SUBTRACT (x, shift)), axes, n, TRUE);
  sum = ADD (UNARY (LOG, sum), shift);
  if (!keep)
    sum = gantry_builder_reduce_axes (l->b, "add", sum, axes, n, FALSE); /* over extents of 1: a reshape */
  return sum;
}

static guint32
reduce_by (GantryLower *l, Reduction reduction, guint32 x, const gint64 *axes, gsize n, gboolean keep)
{
  double count = 1;

  for (gsize i = 0; i < n; i++)
    count *= (double) gantry_lower_dim (l, x, axes[i]);
  switch (reduction)
    {
    case SUM: return gantry_builder_reduce_axes (l->b, "add", x, axes, n, keep);
    case MEAN:
      x = gantry_builder_reduce_axes (l->b, "add", x, axes, n, keep);
      return gantry_builder_binary_broadcast (l->b, GANTRY_OP_DIVIDE, x, gantry_builder_like (l->b, x, count));
    case PRODUCT: return gantry_builder_reduce_axes (l->b, "mul", x, axes, n, keep);
    case MAX_OF: return gantry_builder_reduce_axes (l->b, gantry_lower_element (l, x) == GANTRY_BOOL ? "or" : "max", x, axes, n, keep);
    case MIN_OF: return gantry_builder_reduce_axes (l->b, gantry_lower_element (l, x) == GANTRY_BOOL ? "and" : "min", x, axes, n, keep);
    case L1: return gantry_builder_reduce_axes (l->b, "add", UNARY (ABS, x), axes, n, keep);
    case L2: return UNARY (SQRT, gantry_builder_reduce_axes (l->b, "add", MULTIPLY (x, x), axes, n, keep));
    case SUM_SQUARE: return gantry_builder_reduce_axes (l->b, "add", MULTIPLY (x, x), axes, n, keep);
    case LOG_SUM: return UNARY (LOG, gantry_builder_reduce_axes (l->b, "add", x, axes, n, keep));
    case LOG_SUM_EXP: return log_sum_exp (l, x, axes, n, keep);
    }
  return 0;
}

static void
reduce (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  Reduction reduction = (Reduction) l->rule->arg;
  GantryElementType element = gantry_lower_element (l, x);
  gboolean keep = gantry_lower_int (l, "keepdims", 1) != 0;
  gint64 *axes;
  gsize n;
  guint32 y;

  if (!reduction_axes (l, x, &axes, &n))
    return;
  if (!gantry_element_is_float (element) && (reduction == L2 || reduction >= LOG_SUM))
    {
      y = reduce_by (l, reduction, gantry_builder_convert (l->b, x, GANTRY_F64), axes, n, keep);
      l->out[0] = gantry_builder_convert (l->b, y, element);
      return;
    }
  y = reduce_by (l, reduction, reduction == MAX_OF || reduction == MIN_OF ? x : gantry_builder_widen (l->b, x), axes, n, keep);
  l->out[0] = gantry_builder_convert (l->b, y, element);
}

guint32
gantry_lower_arg_extreme (GantryLower *l, guint32 x, gint64 axis, const char *kind, gboolean last)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, dims);
  guint32 extreme = gantry_builder_reduce_axes (l->b, kind, x, &axis, 1, TRUE);
  guint32 hit, position;

  if (extreme == 0)
    return 0;
  hit = gantry_builder_compare (l->b, "EQ", x, extreme);
  if (gantry_element_is_float (gantry_lower_element (l, x)))
    hit = gantry_builder_binary_broadcast (l->b, GANTRY_OP_OR, hit, UNARY (IS_NAN, x));
  position = gantry_builder_iota (l->b, GANTRY_I64, rank, dims, axis);
  position = gantry_builder_select (l->b, hit, position, gantry_builder_int_scalar (l->b, GANTRY_I64, last ? -1 : dims[axis]));
  return gantry_builder_reduce_axes (l->b, last ? "max" : "min", position, &axis, 1, TRUE);
}

static void
arg_extreme (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  gint64 axis = gantry_lower_axis (l, gantry_lower_int (l, "axis", 0), gantry_lower_rank (l, x));
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = 0;
  guint32 y;

  if (axis < 0)
    return;
  y = gantry_lower_arg_extreme (l, x, axis, l->rule->text, gantry_lower_int (l, "select_last_index", 0) != 0);
  if (gantry_lower_int (l, "keepdims", 1) == 0)
    {
      for (guint i = 0; i < gantry_lower_rank (l, x); i++)
        if (i != axis)
          dims[rank++] = gantry_lower_dim (l, x, i);
      y = gantry_builder_reshape (l->b, y, rank, dims);
    }
  l->out[0] = y;
}

/* Operand @i shifted by @by places along @axis; @fill comes in at the begin. */
static guint32
shift (GantryLower *l, guint32 x, gint64 axis, gint64 by, guint32 fill)
{
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 };

  low[axis] = by;
  high[axis] = -by;
  return gantry_builder_pad_if_any (l->b, x, fill, low, high, NULL);
}

/* Running sums or products in log2 (n) rounds of adding the value 1, 2, 4, ... places back (Hillis
 * and Steele, 1986). */
static void
cumulate (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryElementType element = gantry_lower_element (l, x);
  gboolean product = l->rule->arg == GANTRY_OP_MULTIPLY;
  gboolean reverse = gantry_lower_int (l, "reverse", 0) != 0;
  gsize n = 0;
  gint64 *given;
  gint64 axis, dim;
  guint32 y, fill;

  /* One axis leaves no choice. */
  if (gantry_lower_rank (l, x) == 1)
    axis = 0;
  else
    {
      given = gantry_lower_constant_ints (l, 1, &n, "axis");
      axis = given != NULL && n == 1 ? gantry_lower_axis (l, given[0], gantry_lower_rank (l, x)) : -1;
      if (axis < 0)
        {
          gantry_lower_invalid (l, "the axis is not one number");
          return;
        }
    }
  dim = gantry_lower_dim (l, x, axis);
  y = gantry_builder_widen (l->b, x);
  fill = gantry_builder_like (l->b, y, product ? 1 : 0);
  if (reverse)
    y = gantry_builder_reverse (l->b, y, &axis, 1);
  if (gantry_lower_int (l, "exclusive", 0) != 0 && dim > 0)
    y = shift (l, y, axis, 1, fill);
  for (gint64 by = 1; by < dim; by *= 2)
    y = gantry_builder_binary_broadcast (l->b, (GantryOp) l->rule->arg, y, shift (l, y, axis, by, fill));
  if (reverse)
    y = gantry_builder_reverse (l->b, y, &axis, 1);
  l->out[0] = gantry_builder_convert (l->b, y, element);
}

/* Sorted values and their indices along @axis. */
static guint32
sort_with_indices (GantryLower *l, guint32 x, gint64 axis, gboolean descending)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, dims);
  GantryAttrList *attrs = gantry_lower_attrs (l);

  gantry_attr_list_set_int (attrs, "dimension", axis);
  gantry_attr_list_set_int (attrs, "descending", descending);
  gantry_attr_list_set_int (attrs, "stable", TRUE);
  return gantry_lower_add (l, GANTRY_OP_SORT, attrs, 2, x, gantry_builder_iota (l->b, GANTRY_I64, rank, dims, axis));
}

/* How many: attribute (versions before 10), operand, or the extent that the model declares. */
static gint64
top_k_count (GantryLower *l, gint64 axis)
{
  const GantryType *declared = gantry_lower_declared (l, 0);
  gsize n = 0;
  gint64 *k;

  if (gantry_lower_has_attr (l, "k"))
    return gantry_lower_int (l, "k", 0);
  k = gantry_lower_known_ints (l, gantry_lower_operand (l, 1), &n);
  if (k != NULL && n == 1)
    return k[0];
  if (declared != NULL && axis < declared->rank)
    return declared->dims[axis];
  gantry_lower_needs_constant (l, gantry_lower_operand (l, 1), "number of results");
  return 0;
}

static void
top_k (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  gint64 axis = gantry_lower_axis (l, gantry_lower_int (l, "axis", -1), gantry_lower_rank (l, x));
  gint64 k = axis >= 0 ? top_k_count (l, axis) : 0;
  guint32 sorted;

  if (l->failed)
    return;
  if (k < 0 || k > gantry_lower_dim (l, x, axis))
    {
      gantry_lower_invalid (l, "%" G_GINT64_FORMAT " results of %" G_GINT64_FORMAT, k, gantry_lower_dim (l, x, axis));
      return;
    }
  sorted = sort_with_indices (l, x, axis, gantry_lower_int (l, "largest", 1) != 0);
  for (guint i = 0; i < 2 && i < l->n_out && sorted != 0; i++)
    l->out[i] = gantry_builder_slice_axis (l->b, gantry_builder_result (l->b, sorted, i), axis, 0, k, 1);
}

/* clang-format off */
#define REDUCE(name, arg) { name, reduce, GANTRY_CLASS_REDUCTION, 0, arg, NULL }

const GantryLowerRule gantry_lower_reduce_rules[] = {
  REDUCE ("ReduceSum", SUM), REDUCE ("ReduceMean", MEAN), REDUCE ("ReduceProd", PRODUCT), REDUCE ("ReduceMax", MAX_OF),
  REDUCE ("ReduceMin", MIN_OF), REDUCE ("ReduceL1", L1), REDUCE ("ReduceL2", L2),
  REDUCE ("ReduceSumSquare", SUM_SQUARE), REDUCE ("ReduceLogSum", LOG_SUM), REDUCE ("ReduceLogSumExp", LOG_SUM_EXP),
  { "ArgMax", arg_extreme, GANTRY_CLASS_REDUCTION, 0, 0, "max" },
  { "ArgMin", arg_extreme, GANTRY_CLASS_REDUCTION, 0, 0, "min" },
  { "CumSum", cumulate, GANTRY_CLASS_REDUCTION, 0, GANTRY_OP_ADD, NULL },
  { "CumProd", cumulate, GANTRY_CLASS_REDUCTION, 0, GANTRY_OP_MULTIPLY, NULL },
  { "TopK", top_k, GANTRY_CLASS_OTHER, 0, 0, NULL },
  { NULL },
};
/* clang-format on */
