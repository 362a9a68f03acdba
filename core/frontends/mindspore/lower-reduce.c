/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over axes, extremes with their positions, running sums, and losses. Sums of f16 and bf16 are computed in f32. */
#include "core/frontends/mindspore/lower-private.h"

static gboolean
keeps (MindLower *l)
{
  return gantry_mind_int (l, "keep_dims", 0) != 0;
}

static guint32
summed (MindLower *l, guint32 x)
{
  GantryElementType element = gantry_mind_result_element (l, x);

  if (x != 0 && gantry_mind_element_of (l, x) != element && gantry_element_size (element) >= gantry_element_size (gantry_mind_element_of (l, x)))
    x = gantry_builder_convert (l->b, x, element);
  return gantry_builder_widen (l->b, x);
}

/* text: kind; arg: 's' sums */
static void
reduce (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 axes[GANTRY_MAX_RANK];
  guint n = gantry_mind_axes (l, "axis", gantry_mind_rank (l, x), axes);

  l->out[0] = gantry_builder_reduce_axes (l->b, l->rule->text, l->rule->arg == 's' ? summed (l, x) : x, axes, n, keeps (l));
}

static guint32
without (MindLower *l, guint32 x, const gint64 *axes, guint n)
{
  gboolean gone[GANTRY_MAX_RANK] = { FALSE };
  GantryDim dims[GANTRY_MAX_RANK];
  guint n_dims = 0;

  for (guint i = 0; i < n; i++)
    gone[axes[i]] = TRUE;
  for (guint i = 0; i < gantry_mind_rank (l, x); i++)
    if (!gone[i])
      dims[n_dims++] = gantry_mind_dim (l, x, i);
  return keeps (l) ? x : gantry_builder_reshape (l->b, x, n_dims, dims);
}

static void
mean (MindLower *l)
{
  guint32 x = summed (l, gantry_mind_need (l, "x"));
  gint64 axes[GANTRY_MAX_RANK];
  guint n = gantry_mind_axes (l, "axis", gantry_mind_rank (l, x), axes);

  l->out[0] = x != 0 ? without (l, gantry_builder_mean (l->b, x, axes, n), axes, n) : 0;
}

/* arg: 's' its square root; ReduceStd gives the mean too. */
static void
variance (MindLower *l)
{
  guint32 x = gantry_builder_widen (l->b, gantry_mind_need (l, "x")), average, centred, v;
  gint64 axes[GANTRY_MAX_RANK];
  guint n = gantry_mind_axes (l, "axis", gantry_mind_rank (l, x), axes);
  double count = 1, correction = gantry_mind_number (l, "correction", gantry_mind_number (l, "unbiased", 1));

  for (guint i = 0; i < n; i++)
    count *= (double) gantry_mind_dim (l, x, axes[i]);
  average = gantry_builder_mean (l->b, x, axes, n);
  centred = BINARY (SUBTRACT, x, average);
  v = gantry_builder_reduce_axes (l->b, "add", BINARY (MULTIPLY, centred, centred), axes, n, TRUE);
  v = BINARY (DIVIDE, v, LIKE (v, MAX (count - correction, 0)));
  if (x == 0)
    return;
  l->out[0] = without (l, l->rule->arg == 's' ? UNARY (SQRT, v) : v, axes, n);
  if (l->n_out > 1)
    l->out[1] = without (l, average, axes, n);
}

static void
logical (MindLower *l)
{
  guint32 x = gantry_builder_convert (l->b, gantry_mind_need (l, "x"), GANTRY_BOOL);
  gint64 axes[GANTRY_MAX_RANK];
  guint n = gantry_mind_axes (l, "axis", gantry_mind_rank (l, x), axes);

  l->out[0] = gantry_builder_reduce_axes (l->b, l->rule->text, x, axes, n, keeps (l));
}

/* The position alone; without an axis that among all elements. */
static void
arg_extreme (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 axis = gantry_mind_int (l, "axis", l->rule->arg);
  GantryDim n = gantry_type_elements (gantry_mind_type (l, x));

  if ((l->rule->arg == 0 && !gantry_mind_has (l, "axis")) || gantry_mind_rank (l, x) == 0)
    {
      x = gantry_builder_reshape (l->b, x, 1, &n);
      axis = 0;
    }
  axis = gantry_mind_axis (l, axis, gantry_mind_rank (l, x));
  if (x != 0)
    l->out[0] = without (l, gantry_mind_position (l, x, gantry_builder_reduce_axes (l->b, l->rule->text, x, &axis, 1, TRUE), axis), &axis, 1);
}

/* arg: which result is the value */
static void
extreme (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), value;
  gint64 axis = gantry_mind_axis (l, gantry_mind_int (l, "axis", 0), gantry_mind_rank (l, x));

  if (x == 0 || l->n_out != 2)
    return;
  if (gantry_mind_rank (l, x) == 0)
    {
      gantry_mind_refuse (l, "a number has no axis");
      return;
    }
  value = gantry_builder_reduce_axes (l->b, l->rule->text, x, &axis, 1, TRUE);
  l->out[l->rule->arg] = without (l, value, &axis, 1);
  l->out[1 - l->rule->arg] = without (l, gantry_mind_position (l, x, value, axis), &axis, 1);
}

static void
log_sum_exp (MindLower *l)
{
  guint32 x = gantry_builder_widen (l->b, gantry_mind_need (l, "x")), top, sum;
  gint64 axes[GANTRY_MAX_RANK];
  guint n = gantry_mind_axes (l, "axis", gantry_mind_rank (l, x), axes);

  top = gantry_builder_reduce_axes (l->b, "max", x, axes, n, TRUE);
  sum = gantry_builder_reduce_axes (l->b, "add", UNARY (EXPONENTIAL, BINARY (SUBTRACT, x, top)), axes, n, TRUE);
  l->out[0] = x != 0 ? without (l, BINARY (ADD, UNARY (LOG, sum), top), axes, n) : 0;
}

/* A running sum: a window that ends at each element, or begins there; exclusive ones are moved by one. */
static void
cumulative (MindLower *l)
{
  guint32 x = summed (l, gantry_mind_need (l, "x"));
  guint rank = gantry_mind_rank (l, x);
  gint64 axis = gantry_mind_axis (l, gantry_mind_int (l, "axis", 0), rank), n = gantry_mind_dim (l, x, axis);
  gint64 sizes[GANTRY_MAX_RANK], padding[2 * GANTRY_MAX_RANK] = { 0 };
  gboolean reverse = gantry_mind_int (l, "reverse", 0) != 0;
  GantryAttrList *attrs;

  if (gantry_mind_int (l, "exclusive", 0) != 0)
    gantry_mind_refuse (l, "running sums without their own element are not supported");
  if (rank == 0 || n == 0)
    {
      l->out[0] = x;
      return;
    }
  for (guint i = 0; i < rank; i++)
    sizes[i] = i == axis ? n : 1;
  padding[2 * axis + reverse] = n - 1;
  attrs = gantry_attr_list_new (l->context);
  gantry_attr_list_set_string (attrs, "kind", l->rule->text);
  gantry_attr_list_set_ints (attrs, "window_dimensions", sizes, rank);
  gantry_attr_list_set_ints (attrs, "padding", padding, 2 * rank);
  l->out[0] = gantry_mind_add (l, GANTRY_OP_REDUCE_WINDOW, attrs, 1, x);
}

/* x / sqrt (max (sum x^2, epsilon)) */
static void
normalize (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), sum;
  gint64 axes[GANTRY_MAX_RANK];
  guint n = gantry_mind_axes (l, "axis", gantry_mind_rank (l, x), axes);

  sum = gantry_builder_reduce_axes (l->b, "add", BINARY (MULTIPLY, x, x), axes, n, TRUE);
  l->out[0] = BINARY (MULTIPLY, x, UNARY (RSQRT, BINARY (MAXIMUM, sum, LIKE (sum, gantry_mind_number (l, "epsilon", 1e-4)))));
}

/* Losses */

/* "mean", "sum" or "none", or their numbers 1, 0 and 2. */
static void
give_loss (MindLower *l, guint32 losses)
{
  const char *text = gantry_mind_string (l, "reduction", NULL);
  gint64 number = text != NULL ? (strcmp (text, "none") == 0  ? 2
                                  : strcmp (text, "sum") == 0 ? 0
                                                              : 1)
                               : gantry_mind_int (l, "reduction", 1),
         axes[GANTRY_MAX_RANK], *all = axes;
  guint n = gantry_mind_rank (l, losses);

  for (guint i = 0; i < n; i++)
    axes[i] = i;
  if (number == 1 && losses != 0)
    losses = gantry_builder_reshape (l->b, gantry_builder_mean (l->b, losses, all, n), 0, NULL);
  else if (number == 0)
    losses = gantry_builder_reduce_axes (l->b, "add", losses, all, n, FALSE);
  l->out[0] = losses;
}

/* -sum of the labels times the logarithm of the softmax; the second result is its derivative. */
static void
cross_entropy (MindLower *l)
{
  static const gint64 last = 1;
  guint32 x = gantry_mind_need (l, "logits"), labels = gantry_mind_need (l, "labels");

  if (gantry_mind_rank (l, x) != 2)
    {
      gantry_mind_refuse (l, "logits of %u dimensions", gantry_mind_rank (l, x));
      return;
    }
  l->out[0] = gantry_builder_reduce_axes (l->b, "add", UNARY (NEGATE, BINARY (MULTIPLY, labels, gantry_builder_softmax (l->b, x, &last, 1, TRUE))), &last, 1,
                                          FALSE);
  if (l->n_out > 1)
    l->out[1] = BINARY (SUBTRACT, gantry_builder_softmax (l->b, x, &last, 1, FALSE), labels);
}

static void
sparse_cross_entropy (MindLower *l)
{
  static const gint64 axes[] = { 0, 1 };
  guint32 x = gantry_mind_need (l, "logits"), labels = gantry_builder_convert (l->b, gantry_mind_need (l, "labels"), GANTRY_I64), hit;
  const GantryType *type = gantry_mind_type (l, x);

  if (type->rank != 2)
    {
      gantry_mind_refuse (l, "logits of %u dimensions", type->rank);
      return;
    }
  hit = gantry_builder_compare (l->b, "EQ", gantry_builder_iota (l->b, GANTRY_I64, 2, type->dims, 1), gantry_builder_along (l->b, labels, 2, 0));
  if (gantry_mind_int (l, "is_grad", 0) != 0)
    {
      x = BINARY (SUBTRACT, gantry_builder_softmax (l->b, x, &axes[1], 1, FALSE), gantry_builder_convert (l->b, hit, gantry_mind_element_of (l, x)));
      l->out[0] = gantry_builder_scale (l->b, x, 1.0 / (double) MAX (type->dims[0], 1));
      return;
    }
  x = gantry_builder_softmax (l->b, x, &axes[1], 1, TRUE);
  x = gantry_builder_reduce_axes (l->b, "add", gantry_builder_select (l->b, hit, UNARY (NEGATE, x), LIKE (x, 0)), axes, 2, FALSE);
  l->out[0] = gantry_builder_scale (l->b, x, 1.0 / (double) MAX (type->dims[0], 1));
}

/* arg: 'l' of logits, log (1 + exp (x)) - x y; 'p' of probabilities */
static void
binary_loss (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), y = gantry_mind_need (l, "y"), weight = gantry_mind_in (l, "weight"), loss, other;

  if (gantry_mind_in (l, "pos_weight") != 0 && gantry_mind_rank (l, gantry_mind_in (l, "pos_weight")) > 0)
    {
      guint32 positive = gantry_mind_in (l, "pos_weight");
      guint32 left = gantry_builder_softplus (l->b, UNARY (NEGATE, x));

      /* (1 - y) x + (1 + (p - 1) y) log (1 + exp (-x)) */
      other = gantry_builder_offset (l->b, BINARY (MULTIPLY, gantry_builder_offset (l->b, positive, -1), y), 1);
      loss = BINARY (ADD, BINARY (MULTIPLY, BINARY (SUBTRACT, LIKE (y, 1), y), x), BINARY (MULTIPLY, other, left));
    }
  else if (l->rule->arg == 'l')
    loss = BINARY (SUBTRACT, gantry_builder_softplus (l->b, x), BINARY (MULTIPLY, x, y));
  else
    {
      other = UNARY (LOG, BINARY (MAXIMUM, BINARY (SUBTRACT, LIKE (x, 1), x), LIKE (x, 1e-12)));
      loss = BINARY (MULTIPLY, y, UNARY (LOG, BINARY (MAXIMUM, x, LIKE (x, 1e-12))));
      loss = UNARY (NEGATE, BINARY (ADD, loss, BINARY (MULTIPLY, BINARY (SUBTRACT, LIKE (y, 1), y), other)));
    }
  give_loss (l, weight != 0 ? BINARY (MULTIPLY, loss, weight) : loss);
}

/* arg: '2' squares, '1' sizes, 's' squares within beta and sizes outside */
static void
difference_loss (MindLower *l)
{
  guint32 d = BINARY (SUBTRACT, gantry_mind_need (l, "x"), gantry_mind_need (l, "y")), size = UNARY (ABS, d), square = BINARY (MULTIPLY, d, d);
  double beta = gantry_mind_number (l, "beta", 1);

  if (l->rule->arg == 's' && beta > 0)
    size = gantry_builder_select (l->b, gantry_builder_compare (l->b, "LT", size, LIKE (size, beta)), gantry_builder_scale (l->b, square, 0.5 / beta),
                                  gantry_builder_offset (l->b, size, -0.5 * beta));
  give_loss (l, l->rule->arg == '2' ? square : size);
}

/* clang-format off */
#define R(name, arguments, function, arg, text) { name, arguments, function, GANTRY_CLASS_REDUCTION, arg, text }

const MindRule gantry_mind_reduce_rules[] = {
  R ("ReduceSum", "x axis keep_dims skip_mode", reduce, 's', "add"), R ("SumExt", "x axis keep_dims dtype", reduce, 's', "add"),
  R ("ReduceProd", "x axis keep_dims", reduce, 's', "mul"), R ("ProdExt", "x axis keep_dims dtype", reduce, 's', "mul"),
  R ("ReduceMax", "x axis keep_dims", reduce, 0, "max"), R ("ReduceMin", "x axis keep_dims", reduce, 0, "min"),
  R ("Max", "x", reduce, 0, "max"), R ("Min", "x", reduce, 0, "min"), R ("AMax", "x axis keep_dims", reduce, 0, "max"),
  R ("AMin", "x axis keep_dims", reduce, 0, "min"), R ("ReduceMean", "x axis keep_dims", mean, 0, NULL),
  R ("MeanExt", "x axis keep_dims dtype", mean, 0, NULL), R ("ReduceAll", "x axis keep_dims", logical, 0, "and"),
  R ("ReduceAny", "x axis keep_dims", logical, 0, "or"), R ("Var", "x axis correction keep_dims", variance, 'v', NULL),
  R ("Std", "x axis correction keep_dims", variance, 's', NULL), R ("ReduceStd", "x axis unbiased keep_dims", variance, 's', NULL),
  R ("VarMean", "x axis correction keep_dims", variance, 'v', NULL), R ("StdMean", "x axis correction keep_dims", variance, 's', NULL),
  R ("Argmax", "x axis dtype", arg_extreme, -1, "max"), R ("Argmin", "x axis dtype", arg_extreme, -1, "min"),
  R ("ArgMaxExt", "x axis keep_dims", arg_extreme, 0, "max"), R ("ArgMinExt", "x axis keep_dims", arg_extreme, 0, "min"),
  R ("ArgMaxWithValue", "x axis keep_dims", extreme, 1, "max"), R ("ArgMinWithValue", "x axis keep_dims", extreme, 1, "min"),
  R ("MaxDim", "x axis keep_dims", extreme, 0, "max"), R ("MinDim", "x axis keep_dims", extreme, 0, "min"),
  R ("LogSumExp", "x axis keep_dims", log_sum_exp, 0, NULL), R ("ReduceLogSumExp", "x axis keep_dims", log_sum_exp, 0, NULL),
  R ("CumSum", "x axis exclusive reverse", cumulative, 0, "add"), R ("CumsumExt", "x axis dtype", cumulative, 0, "add"),
  R ("CumProd", "x axis", cumulative, 0, "mul"), R ("L2Normalize", "x", normalize, 0, NULL),
  R ("SoftmaxCrossEntropyWithLogits", "logits labels", cross_entropy, 0, NULL),
  R ("SparseSoftmaxCrossEntropyWithLogits", "logits labels", sparse_cross_entropy, 0, NULL),
  R ("BCEWithLogitsLoss", "x y weight pos_weight reduction", binary_loss, 'l', NULL),
  R ("BinaryCrossEntropy", "x y weight reduction", binary_loss, 'p', NULL),
  R ("MSELossExt", "x y reduction", difference_loss, '2', NULL), R ("L1LossExt", "x y reduction", difference_loss, '1', NULL),
  R ("SmoothL1Loss", "x y beta reduction", difference_loss, 's', NULL),
  { NULL },
};
/* clang-format on */
