/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over axes, extremes with their positions, running sums, and losses. Sums of f16 and bf16 are computed in f32. */
#include "core/frontends/torch/lower-words-private.h"

static guint32
self (AtenLower *l)
{
  return gantry_aten_need (l, gantry_aten_in (l, "self") != 0 ? "self" : "input");
}

/* In the shape that the archive has: whether dimensions are kept is said there. */
static void
give (AtenLower *l, guint i, guint32 x)
{
  const GantryType *type = gantry_aten_declared (l, i);

  if (i < l->n_out && type->kind == GANTRY_TYPE_TENSOR)
    l->out[i] = gantry_builder_reshape (l->b, x, type->rank, type->dims);
}

static guint
axes_of (AtenLower *l, guint32 x, gint64 *axes)
{
  return gantry_aten_axes (l, "dim", gantry_aten_rank (l, x), axes);
}

static guint32
summed (AtenLower *l, guint32 x)
{
  GantryElementType element = gantry_aten_result_element (l);

  if (!gantry_element_is_float (gantry_aten_element (l, x)) || element == GANTRY_F64)
    x = gantry_builder_convert (l->b, x, element);
  return gantry_builder_widen (l->b, x);
}

static void
reduce (AtenLower *l)
{
  guint32 x = self (l);
  gint64 axes[GANTRY_MAX_RANK];
  guint n = axes_of (l, x, axes);

  give (l, 0, gantry_builder_reduce_axes (l->b, l->rule->text, l->rule->arg ? summed (l, x) : x, axes, n, FALSE));
}

static void
any_all (AtenLower *l)
{
  guint32 x = gantry_builder_convert (l->b, self (l), GANTRY_BOOL);
  gint64 axes[GANTRY_MAX_RANK];
  guint n = axes_of (l, x, axes);

  give (l, 0, gantry_builder_reduce_axes (l->b, l->rule->text, x, axes, n, FALSE));
}

static void
mean (AtenLower *l)
{
  guint32 x = summed (l, self (l));
  gint64 axes[GANTRY_MAX_RANK];
  guint n = axes_of (l, x, axes);

  give (l, 0, gantry_builder_mean (l->b, x, axes, n));
}

/* The mean of the squares of what the mean leaves, times n / (n - correction); arg: 's' its square root. */
static void
variance (AtenLower *l)
{
  guint32 x = gantry_builder_widen (l->b, self (l)), average, centred, v;
  gint64 axes[GANTRY_MAX_RANK];
  guint n = axes_of (l, x, axes);
  double count = 1, correction = gantry_aten_number (l, "correction", gantry_aten_number (l, "unbiased", 1));

  for (guint i = 0; i < n; i++)
    count *= (double) gantry_aten_dim (l, x, axes[i]);
  average = gantry_builder_mean (l->b, x, axes, n);
  centred = BINARY (SUBTRACT, x, average);
  v = gantry_builder_reduce_axes (l->b, "add", BINARY (MULTIPLY, centred, centred), axes, n, TRUE);
  v = BINARY (DIVIDE, v, gantry_builder_like (l->b, v, MAX (count - correction, 0)));
  give (l, 0, l->rule->arg == 's' ? UNARY (SQRT, v) : v);
  give (l, 1, average);
}

/* First position of the extreme along an axis, or of what is no number where there is one, i64, the axis kept. */
guint32
gantry_aten_position (AtenLower *l, guint32 x, guint32 extreme, gint64 axis)
{
  guint rank = gantry_aten_rank (l, x);
  gint64 n = gantry_aten_dim (l, x, axis);
  GantryDim dims[GANTRY_MAX_RANK];
  guint32 at, hit;

  for (guint i = 0; i < rank; i++)
    dims[i] = gantry_aten_dim (l, x, i);
  at = gantry_aten_iota (l, rank, dims, axis);
  hit = gantry_builder_compare (l->b, "EQ", x, extreme);
  if (gantry_element_is_float (gantry_aten_element (l, x)))
    hit = BINARY (OR, hit, UNARY (IS_NAN, x));
  return gantry_builder_reduce_axes (
    l->b, "min", gantry_builder_select (l->b, hit, at, gantry_builder_int_scalar (l->b, GANTRY_I64, n - 1)), &axis, 1,
    TRUE);
}

/* max and min without an axis are one value, with one the values and their positions. */
static void
extreme (AtenLower *l)
{
  guint32 x = self (l), y = gantry_aten_in (l, "other"), value;
  gint64 axes[GANTRY_MAX_RANK], axis;
  guint n = axes_of (l, x, axes);

  if (y != 0)
    {
      l->out[0] = gantry_builder_binary_broadcast (
        l->b, *l->rule->text == 'm' && l->rule->text[1] == 'a' ? GANTRY_OP_MAXIMUM : GANTRY_OP_MINIMUM, x,
        gantry_builder_convert (l->b, y, gantry_aten_element (l, x)));
      return;
    }
  if (l->n_out > 1 && n != 1)
    {
      gantry_aten_refuse (l, "positions along %u axes", n);
      return;
    }
  axis = n > 0 ? axes[0] : 0;
  value = gantry_builder_reduce_axes (l->b, l->rule->text, x, axes, n, TRUE);
  give (l, 0, value);
  if (l->n_out > 1)
    give (l, 1, gantry_aten_position (l, x, value, axis));
}

static void
arg_extreme (AtenLower *l)
{
  guint32 x = self (l);
  guint rank = gantry_aten_rank (l, x);
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), rank);
  GantryDim n = gantry_type_elements (gantry_aten_type (l, x));

  if (!gantry_aten_has (l, "dim") || rank == 0)
    {
      x = gantry_builder_reshape (l->b, x, 1, &n);
      axis = 0;
    }
  give (l, 0, gantry_aten_position (l, x, gantry_builder_reduce_axes (l->b, l->rule->text, x, &axis, 1, TRUE), axis));
}

static void
log_sum_exp (AtenLower *l)
{
  guint32 x = gantry_builder_widen (l->b, self (l)), top, sum;
  gint64 axes[GANTRY_MAX_RANK];
  guint n = axes_of (l, x, axes);

  top = gantry_builder_reduce_axes (l->b, "max", x, axes, n, TRUE);
  /* Of an infinite one the difference is no number. */
  top = gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", UNARY (ABS, top), LIKE (top, INFINITY)), LIKE (top, 0), top);
  sum = gantry_builder_reduce_axes (l->b, "add", UNARY (EXPONENTIAL, BINARY (SUBTRACT, x, top)), axes, n, TRUE);
  give (l, 0, BINARY (ADD, UNARY (LOG, sum), top));
}

/* Norms of order 1, 2 and infinity. */
static void
norm (AtenLower *l)
{
  guint32 x = gantry_builder_widen (l->b, self (l));
  double order = gantry_aten_number (l, gantry_aten_has (l, "ord") ? "ord" : "p", 2);
  gint64 axes[GANTRY_MAX_RANK];
  guint n = axes_of (l, x, axes);

  if (order == 2)
    x = UNARY (SQRT, gantry_builder_reduce_axes (l->b, "add", BINARY (MULTIPLY, x, x), axes, n, TRUE));
  else if (order == 1 || order == INFINITY)
    x = gantry_builder_reduce_axes (l->b, order == 1 ? "add" : "max", UNARY (ABS, x), axes, n, TRUE);
  else
    gantry_aten_refuse (l, "a norm of order %g", order);
  give (l, 0, x);
}

/* A window that ends at each element. */
guint32
gantry_aten_running (AtenLower *l, const char *kind, guint32 x, gint64 axis)
{
  guint rank = gantry_aten_rank (l, x);
  gint64 n = gantry_aten_dim (l, x, axis), sizes[GANTRY_MAX_RANK], padding[2 * GANTRY_MAX_RANK] = { 0 };
  GantryAttrList *attrs;

  if (rank == 0 || n == 0)
    return x;
  for (guint i = 0; i < rank; i++)
    sizes[i] = i == axis ? n : 1;
  padding[2 * axis] = n - 1;
  attrs = gantry_attr_list_new (l->context);
  gantry_attr_list_set_string (attrs, "kind", kind);
  gantry_attr_list_set_ints (attrs, "window_dimensions", sizes, rank);
  gantry_attr_list_set_ints (attrs, "padding", padding, 2 * rank);
  return gantry_aten_add (l, GANTRY_OP_REDUCE_WINDOW, attrs, 1, x);
}

static void
cumulative (AtenLower *l)
{
  guint32 x = summed (l, self (l));

  l->out[0] = gantry_aten_running (l, l->rule->text, x, gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), gantry_aten_rank (l, x)));
}

/* Losses */

/* 0 none, 1 mean, 2 sum */
static void
give_loss (AtenLower *l, guint32 losses)
{
  gint64 axes[GANTRY_MAX_RANK], reduction = gantry_aten_int (l, "reduction", 1);
  guint n = gantry_aten_rank (l, losses);

  for (guint i = 0; i < n; i++)
    axes[i] = i;
  if (reduction == 1)
    losses = gantry_builder_mean (l->b, losses, axes, n);
  else if (reduction == 2)
    losses = gantry_builder_reduce_axes (l->b, "add", losses, axes, n, TRUE);
  give (l, 0, losses);
}

static void
difference_loss (AtenLower *l)
{
  guint32 d = gantry_builder_widen (l->b, BINARY (SUBTRACT, self (l), gantry_aten_need (l, "target")));

  give_loss (l, l->rule->arg == 1 ? UNARY (ABS, d) : BINARY (MULTIPLY, d, d));
}

/* -log p of the target class, axis 1 (of a single sample axis 0), without those of class ignore_index. */
static void
class_loss (AtenLower *l)
{
  guint32 x = gantry_builder_widen (l->b, self (l)), target = gantry_aten_need (l, "target"), hit, counted, losses;
  guint rank = gantry_aten_rank (l, x);
  gint64 axis = rank > 1 ? 1 : 0, axes[GANTRY_MAX_RANK], reduction = gantry_aten_int (l, "reduction", 1);
  GantryDim dims[GANTRY_MAX_RANK], kept[GANTRY_MAX_RANK];

  if (gantry_aten_in (l, "weight") != 0 || gantry_aten_number (l, "label_smoothing", 0) != 0
      || !gantry_element_is_integer (gantry_aten_element (l, target)) || rank == 0)
    {
      gantry_aten_refuse (l,
                          "weights of classes, smoothed labels and targets that are probabilities are not supported");
      return;
    }
  if (l->rule->arg)
    x = gantry_aten_softmax (l, x, axis, TRUE);
  for (guint i = 0; i < rank; i++)
    {
      axes[i] = i;
      dims[i] = gantry_aten_dim (l, x, i);
      kept[i] = i == axis ? 1 : dims[i];
    }
  target = gantry_builder_reshape (l->b, gantry_builder_convert (l->b, target, GANTRY_I64), rank, kept);
  hit = gantry_builder_compare (l->b, "EQ", gantry_aten_iota (l, rank, dims, axis), target);
  losses = gantry_builder_reduce_axes (
    l->b, "add", gantry_builder_select (l->b, hit, UNARY (NEGATE, x), gantry_builder_like (l->b, x, 0)), &axis, 1,
    TRUE);
  counted = gantry_builder_convert (
    l->b,
    gantry_builder_compare (l->b, "NE", target,
                            gantry_builder_int_scalar (l->b, GANTRY_I64, gantry_aten_int (l, "ignore_index", -100))),
    gantry_aten_element (l, x));
  losses = BINARY (MULTIPLY, losses, counted);
  counted = gantry_builder_reduce_axes (l->b, "add", counted, axes, rank, TRUE);
  if (reduction != 0)
    losses = gantry_builder_reduce_axes (l->b, "add", losses, axes, rank, TRUE);
  give (l, 0, reduction == 1 ? BINARY (DIVIDE, losses, counted) : losses);
  give (l, 1, counted);
}

static void
binary_loss (AtenLower *l)
{
  guint32 x = gantry_builder_widen (l->b, self (l)),
          y = gantry_builder_convert (l->b, gantry_aten_need (l, "target"), gantry_aten_element (l, x)), loss;

  if (gantry_aten_in (l, "weight") != 0 || gantry_aten_in (l, "pos_weight") != 0)
    {
      gantry_aten_refuse (l, "weights are not supported");
      return;
    }
  loss = BINARY (SUBTRACT, gantry_builder_softplus (l->b, x), BINARY (MULTIPLY, x, y));
  give_loss (l, loss);
}

/* clang-format off */
#define RULE(name, function, arg, text) { name, function, GANTRY_CLASS_REDUCTION, arg, text }

const AtenRule gantry_aten_reduce_rules[] = {
  RULE ("sum", reduce, TRUE, "add"), RULE ("prod", reduce, TRUE, "mul"), RULE ("amax", reduce, FALSE, "max"),
  RULE ("amin", reduce, FALSE, "min"), RULE ("any", any_all, 0, "or"), RULE ("all", any_all, 0, "and"), RULE ("mean", mean, 0, NULL),
  RULE ("var", variance, 'v', NULL), RULE ("std", variance, 's', NULL), RULE ("var_mean", variance, 'v', NULL),
  RULE ("std_mean", variance, 's', NULL), RULE ("max", extreme, 0, "max"), RULE ("min", extreme, 0, "min"),
  RULE ("argmax", arg_extreme, 0, "max"), RULE ("argmin", arg_extreme, 0, "min"), RULE ("logsumexp", log_sum_exp, 0, NULL),
  RULE ("norm", norm, 0, NULL), RULE ("linalg_vector_norm", norm, 0, NULL), RULE ("cumsum", cumulative, 0, "add"),
  RULE ("cumprod", cumulative, 0, "mul"), RULE ("mse_loss", difference_loss, 2, NULL), RULE ("l1_loss", difference_loss, 1, NULL),
  RULE ("nll_loss", class_loss, FALSE, NULL), RULE ("nll_loss_nd", class_loss, FALSE, NULL), RULE ("nll_loss_forward", class_loss, FALSE, NULL),
  RULE ("nll_loss2d_forward", class_loss, FALSE, NULL), RULE ("cross_entropy_loss", class_loss, TRUE, NULL),
  RULE ("binary_cross_entropy_with_logits", binary_loss, 0, NULL),
  { NULL },
};
/* clang-format on */
