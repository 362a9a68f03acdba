/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise functions that are compositions of others. */
#include "core/frontends/torch/lower-words-private.h"

/* The first operand in the element type of the result, as wide as sums are computed in. */
static guint32
value (AtenLower *l, const char *name)
{
  GantryElementType element = gantry_aten_result_element (l);
  guint32 id = gantry_aten_in (l, name);

  element = gantry_element_is_float (element) ? element : GANTRY_F32;
  if (id != 0)
    return gantry_builder_widen (l->b, gantry_builder_convert (l->b, id, element));
  if (!gantry_aten_has (l, name))
    gantry_aten_refuse (l, "argument '%s' is missing, or neither tensor nor number", name);
  return l->failed ? 0 : gantry_builder_widen (l->b, gantry_builder_scalar (l->b, element, gantry_aten_number (l, name, 0)));
}

static guint32
where (AtenLower *l, const char *direction, guint32 x, double bound, guint32 then, guint32 otherwise)
{
  return gantry_builder_select (l->b, gantry_builder_compare (l->b, direction, x, LIKE (x, bound)), then, otherwise);
}

/* max + log (1 + exp (-|x - y|)): of two equal infinities that one. arg: 2 for powers of two */
static void
log_add_exp (AtenLower *l)
{
  guint32 x = value (l, "self"), y = value (l, "other"), above, top, gap;
  double unit = l->rule->arg == 2 ? log (2) : 1;

  /* Where both are equal each has half the derivative, also beside a constant. */
  above = gantry_builder_compare (l->b, "GT", x, y);
  top = gantry_builder_select (l->b, above, x, y);
  gap = gantry_builder_scale (l->b, gantry_builder_select (l->b, above, BINARY (SUBTRACT, y, x), BINARY (SUBTRACT, x, y)), unit);
  gap = gantry_builder_scale (l->b, UNARY (LOG_PLUS_ONE, UNARY (EXPONENTIAL, gap)), 1 / unit);
  l->out[0] = gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", UNARY (ABS, top), LIKE (top, INFINITY)), top, BINARY (ADD, top, gap));
}

/* The larger one times sqrt (1 + the quotient squared). */
static void
hypotenuse (AtenLower *l)
{
  guint32 x = UNARY (ABS, value (l, "self")), y = UNARY (ABS, value (l, "other")), top = BINARY (MAXIMUM, x, y),
          part = BINARY (DIVIDE, BINARY (MINIMUM, x, y), top);

  part = BINARY (MULTIPLY, top, UNARY (SQRT, gantry_builder_offset (l->b, BINARY (MULTIPLY, part, part), 1)));
  l->out[0] = where (l, "EQ", top, 0, top, where (l, "EQ", top, INFINITY, top, part));
}

/* x log (y), 0 where x is; arg: 1 for log (1 + y) */
static void
x_log_y (AtenLower *l)
{
  guint32 x = value (l, "self"), y = value (l, "other"), zero = LIKE (x, 0), product;

  product = BINARY (MULTIPLY, x, l->rule->arg == 1 ? UNARY (LOG_PLUS_ONE, y) : UNARY (LOG, y));
  product = where (l, "EQ", x, 0, zero, product);
  l->out[0] = gantry_builder_select (l->b, UNARY (IS_NAN, y), y, product);
}

/* -x log (x); 0 at 0, -infinity below */
static void
entropy (AtenLower *l)
{
  guint32 x = value (l, "self");

  l->out[0] = where (l, "GT", x, 0, UNARY (NEGATE, BINARY (MULTIPLY, x, UNARY (LOG, x))),
                     where (l, "EQ", x, 0, LIKE (x, 0), where (l, "LT", x, 0, LIKE (x, -INFINITY), x)));
}

static void
logit (AtenLower *l)
{
  guint32 x = value (l, "self");
  double eps = gantry_aten_number (l, "eps", -1);

  if (eps >= 0)
    x = BINARY (MINIMUM, BINARY (MAXIMUM, x, LIKE (x, eps)), LIKE (x, 1 - eps));
  l->out[0] = UNARY (LOG, BINARY (DIVIDE, x, BINARY (SUBTRACT, LIKE (x, 1), x)));
}

static void
sinc (AtenLower *l)
{
  guint32 x = gantry_builder_scale (l->b, value (l, "self"), G_PI), other = where (l, "EQ", x, 0, LIKE (x, 1), x);

  l->out[0] = where (l, "EQ", x, 0, LIKE (x, 1), BINARY (DIVIDE, UNARY (SINE, other), other));
}

/* The other operand where one is no number. text: "max", "min" */
static void
known_extreme (AtenLower *l)
{
  guint32 x = value (l, "self"), y = value (l, "other");
  guint32 both = *l->rule->text == 'm' && l->rule->text[1] == 'a' ? BINARY (MAXIMUM, x, y) : BINARY (MINIMUM, x, y);

  l->out[0] = gantry_builder_select (l->b, UNARY (IS_NAN, x), y, gantry_builder_select (l->b, UNARY (IS_NAN, y), x, both));
}

/* Towards zero what is left. */
static void
fraction (AtenLower *l)
{
  guint32 x = value (l, "self");

  l->out[0] = BINARY (REMAINDER, x, LIKE (x, 1));
}

/* arg: degrees to radians */
static void
angle (AtenLower *l)
{
  l->out[0] = gantry_builder_scale (l->b, value (l, "self"), l->rule->arg ? G_PI / 180 : 180 / G_PI);
}

/* 1 / x tells the sign of 0. */
static guint32
is_negative (AtenLower *l, guint32 x)
{
  guint32 sign = where (l, "EQ", x, 0, BINARY (DIVIDE, LIKE (x, 1), x), x);

  return gantry_builder_compare (l->b, "LT", sign, LIKE (sign, 0));
}

static void
copy_sign (AtenLower *l)
{
  guint32 x = UNARY (ABS, value (l, "self")), y = value (l, "other");

  l->out[0] = gantry_builder_select (l->b, is_negative (l, y), UNARY (NEGATE, x), x);
}

static void
sign_bit (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self");

  l->out[0] = gantry_element_is_float (gantry_aten_element (l, x)) ? is_negative (l, x) : gantry_builder_compare (l->b, "LT", x, LIKE (x, 0));
}

static void
heaviside (AtenLower *l)
{
  guint32 x = value (l, "self");

  l->out[0] = where (l, "EQ", x, 0, value (l, "values"), where (l, "LT", x, 0, LIKE (x, 0), LIKE (x, 1)));
}

static double
largest (GantryElementType element)
{
  return element == GANTRY_F64 ? G_MAXDOUBLE : element == GANTRY_F16 ? 65504 : element == GANTRY_BF16 ? 0x1.fep127 : 0x1.fffffep127;
}

static void
nan_to_num (AtenLower *l)
{
  guint32 x = gantry_builder_convert (l->b, gantry_aten_need (l, "self"), gantry_aten_result_element (l));
  double most = largest (gantry_aten_result_element (l));

  if (gantry_element_is_float (gantry_aten_result_element (l)))
    {
      guint32 y = where (l, "EQ", x, INFINITY, LIKE (x, gantry_aten_number (l, "posinf", most)), x);

      y = where (l, "EQ", x, -INFINITY, LIKE (x, gantry_aten_number (l, "neginf", -most)), y);
      x = gantry_builder_select (l->b, UNARY (IS_NAN, x), LIKE (x, gantry_aten_number (l, "nan", 0)), y);
    }
  l->out[0] = x;
}

static void
ldexp_rule (AtenLower *l)
{
  l->out[0] = BINARY (MULTIPLY, value (l, "self"), UNARY (EXPONENTIAL, gantry_builder_scale (l->b, value (l, "other"), log (2))));
}

/* arg: whether what is beyond is moved towards 0, or stays as it is */
static void
shrink (AtenLower *l)
{
  guint32 x = value (l, "self");
  double lambda = gantry_aten_number (l, "lambd", 0.5);
  guint32 above = l->rule->arg ? gantry_builder_offset (l->b, x, -lambda) : x, below = l->rule->arg ? gantry_builder_offset (l->b, x, lambda) : x;

  l->out[0] = where (l, "GT", x, lambda, above, where (l, "LT", x, -lambda, below, BINARY (MULTIPLY, x, LIKE (x, 0))));
}

/* As in evaluation: the mean of both slopes. */
static void
rrelu (AtenLower *l)
{
  guint32 x = value (l, "self");

  if (gantry_aten_int (l, "training", 0) != 0)
    {
      gantry_aten_refuse (l, "in training it draws random numbers; export the model after model.eval ()");
      return;
    }
  l->out[0] = where (l, "LT", x, 0, gantry_builder_scale (l->b, x, (gantry_aten_number (l, "lower", 0.125) + gantry_aten_number (l, "upper", 1.0 / 3)) / 2), x);
}

/* clang-format off */
#define RULE(name, function, arg) { name, function, GANTRY_CLASS_ELEMENTWISE, arg, NULL }

const AtenRule gantry_aten_special_rules[] = {
  RULE ("logaddexp", log_add_exp, 0), RULE ("logaddexp2", log_add_exp, 2), RULE ("hypot", hypotenuse, 0), RULE ("xlogy", x_log_y, 0),
  RULE ("special_xlog1py", x_log_y, 1), RULE ("special_xlogy", x_log_y, 0), RULE ("special_entr", entropy, 0), RULE ("logit", logit, 0),
  RULE ("special_logit", logit, 0), RULE ("sinc", sinc, 0), RULE ("special_sinc", sinc, 0), RULE ("frac", fraction, 0), RULE ("deg2rad", angle, TRUE),
  RULE ("rad2deg", angle, FALSE),
  { "fmax", known_extreme, GANTRY_CLASS_ELEMENTWISE, 0, "max" }, { "fmin", known_extreme, GANTRY_CLASS_ELEMENTWISE, 0, "min" },
  RULE ("copysign", copy_sign, 0), RULE ("signbit", sign_bit, 0), RULE ("heaviside", heaviside, 0), RULE ("nan_to_num", nan_to_num, 0),
  RULE ("ldexp", ldexp_rule, 0), RULE ("softshrink", shrink, TRUE), RULE ("hardshrink", shrink, FALSE), RULE ("rrelu", rrelu, 0),
  RULE ("rrelu_with_noise", rrelu, 0),
  RULE ("rrelu_with_noise_functional", rrelu, 0),
  { NULL },
};
/* clang-format on */
