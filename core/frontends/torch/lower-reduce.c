/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over axes, extremes with their positions, and running sums. Sums of f16 and bf16 are computed in f32. */
#include "core/frontends/torch/lower-words-private.h"

static guint32
self (AtenLower *l)
{
  return gantry_aten_need (l, gantry_aten_in (l, "self") != 0 ? "self" : "input");
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

  gantry_aten_give (l, 0, gantry_builder_reduce_axes (l->b, l->rule->text, l->rule->arg ? summed (l, x) : x, axes, n, FALSE));
}

static void
any_all (AtenLower *l)
{
  guint32 x = gantry_builder_convert (l->b, self (l), GANTRY_BOOL);
  gint64 axes[GANTRY_MAX_RANK];
  guint n = axes_of (l, x, axes);

  gantry_aten_give (l, 0, gantry_builder_reduce_axes (l->b, l->rule->text, x, axes, n, FALSE));
}

static void
mean (AtenLower *l)
{
  guint32 x = summed (l, self (l));
  gint64 axes[GANTRY_MAX_RANK];
  guint n = axes_of (l, x, axes);

  gantry_aten_give (l, 0, gantry_builder_mean (l->b, x, axes, n));
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
  gantry_aten_give (l, 0, l->rule->arg == 's' ? UNARY (SQRT, v) : v);
  gantry_aten_give (l, 1, average);
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
  return gantry_builder_reduce_axes (l->b, "min", gantry_builder_select (l->b, hit, at, gantry_builder_int_scalar (l->b, GANTRY_I64, n - 1)), &axis, 1, TRUE);
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
      l->out[0] = gantry_builder_binary_broadcast (l->b, *l->rule->text == 'm' && l->rule->text[1] == 'a' ? GANTRY_OP_MAXIMUM : GANTRY_OP_MINIMUM, x,
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
  gantry_aten_give (l, 0, value);
  if (l->n_out > 1)
    gantry_aten_give (l, 1, gantry_aten_position (l, x, value, axis));
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
  gantry_aten_give (l, 0, gantry_aten_position (l, x, gantry_builder_reduce_axes (l->b, l->rule->text, x, &axis, 1, TRUE), axis));
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
  gantry_aten_give (l, 0, BINARY (ADD, UNARY (LOG, sum), top));
}

/* The sum of the powers of what is there; of infinite orders the extreme, of order 0 how many are not 0. */
static guint32
norm_of_order (AtenLower *l, guint32 x, double order, const gint64 *axes, guint n)
{
  guint32 sum;

  if (order == 2)
    return UNARY (SQRT, gantry_builder_reduce_axes (l->b, "add", BINARY (MULTIPLY, x, x), axes, n, TRUE));
  if (order == 0)
    return gantry_builder_reduce_axes (
      l->b, "add", gantry_builder_convert (l->b, gantry_builder_compare (l->b, "NE", x, LIKE (x, 0)), gantry_aten_element (l, x)), axes, n, TRUE);
  x = UNARY (ABS, x);
  if (isinf (order))
    return gantry_builder_reduce_axes (l->b, order > 0 ? "max" : "min", x, axes, n, TRUE);
  sum = gantry_builder_reduce_axes (l->b, "add", order == 1 ? x : BINARY (POWER, x, LIKE (x, order)), axes, n, TRUE);
  return order == 1 ? sum : BINARY (POWER, sum, LIKE (sum, 1 / order));
}

static void
norm (AtenLower *l)
{
  guint32 x = gantry_builder_widen (l->b, self (l));
  double order = gantry_aten_number (l, gantry_aten_has (l, "ord") ? "ord" : "p", 2);
  gint64 axes[GANTRY_MAX_RANK];
  guint n = axes_of (l, x, axes);

  gantry_aten_give (l, 0, norm_of_order (l, x, order, axes, n));
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

/* clang-format off */
#define RULE(name, function, arg, text) { name, function, GANTRY_CLASS_REDUCTION, arg, text }

const AtenRule gantry_aten_reduce_rules[] = {
  RULE ("sum", reduce, TRUE, "add"), RULE ("prod", reduce, TRUE, "mul"), RULE ("amax", reduce, FALSE, "max"),
  RULE ("amin", reduce, FALSE, "min"), RULE ("any", any_all, 0, "or"), RULE ("all", any_all, 0, "and"), RULE ("mean", mean, 0, NULL),
  RULE ("var", variance, 'v', NULL), RULE ("std", variance, 's', NULL), RULE ("var_mean", variance, 'v', NULL),
  RULE ("std_mean", variance, 's', NULL), RULE ("max", extreme, 0, "max"), RULE ("min", extreme, 0, "min"),
  RULE ("argmax", arg_extreme, 0, "max"), RULE ("argmin", arg_extreme, 0, "min"), RULE ("logsumexp", log_sum_exp, 0, NULL),
  RULE ("norm", norm, 0, NULL), RULE ("linalg_vector_norm", norm, 0, NULL), RULE ("cumsum", cumulative, 0, "add"),
  RULE ("cumprod", cumulative, 0, "mul"),
  { NULL },
};
/* clang-format on */
