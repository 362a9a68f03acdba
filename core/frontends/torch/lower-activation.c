/* SPDX-License-Identifier: Apache-2.0 */
/* Activation functions with the defaults of ATen's schema, and dropout, which does nothing outside of training. */
#include "core/frontends/torch/lower-words-private.h"

static guint32
self (AtenLower *l)
{
  return gantry_aten_need (l, gantry_aten_in (l, "self") != 0 ? "self" : "input");
}

static guint32
between (AtenLower *l, guint32 x, double low, double high)
{
  return BINARY (MINIMUM, BINARY (MAXIMUM, x, LIKE (x, low)), LIKE (x, high));
}

/* x where it is above 0 or not a number, else @low. */
static guint32
positive_or (AtenLower *l, guint32 x, guint32 low)
{
  return gantry_builder_select (l->b, gantry_builder_compare (l->b, "LE", x, LIKE (x, 0)), low, x);
}

static void
relu (AtenLower *l)
{
  guint32 x = self (l);

  l->out[0] = BINARY (MAXIMUM, x, LIKE (x, 0));
}

static void
hardtanh (AtenLower *l)
{
  l->out[0] = between (l, self (l), gantry_aten_number (l, "min_val", l->rule->arg == 6 ? 0 : -1),
                       gantry_aten_number (l, "max_val", l->rule->arg == 6 ? 6 : 1));
}

static guint32
hard_sigmoid_of (AtenLower *l, guint32 x)
{
  return gantry_builder_scale (l->b, between (l, gantry_builder_offset (l->b, x, 3), 0, 6), 1.0 / 6);
}

static void
hardsigmoid (AtenLower *l)
{
  l->out[0] = hard_sigmoid_of (l, self (l));
}

static void
hardswish (AtenLower *l)
{
  guint32 x = self (l);

  l->out[0] = BINARY (MULTIPLY, x, hard_sigmoid_of (l, x));
}

static void
silu (AtenLower *l)
{
  guint32 x = self (l);

  l->out[0] = BINARY (MULTIPLY, x, UNARY (LOGISTIC, x));
}

static void
gelu (AtenLower *l)
{
  guint32 x = self (l), inner;

  if (strcmp (gantry_aten_string (l, "approximate", "none"), "tanh") == 0)
    {
      guint32 cube = BINARY (MULTIPLY, BINARY (MULTIPLY, x, x), x);

      inner = UNARY (TANH, gantry_builder_scale (l->b, BINARY (ADD, x, gantry_builder_scale (l->b, cube, 0.044715)), 0.79788456080286535588));
    }
  else
    inner = UNARY (ERF, gantry_builder_scale (l->b, x, 0.70710678118654752440));
  l->out[0] = BINARY (MULTIPLY, gantry_builder_scale (l->b, x, 0.5), gantry_builder_offset (l->b, inner, 1));
}

/* positive: scale * x; else (exp (x * input_scale) - 1) * alpha * scale */
static guint32
elu_of (AtenLower *l, guint32 x, double alpha, double scale, double input_scale)
{
  guint32 low = gantry_builder_scale (l->b, gantry_builder_at_most_zero (l->b, x), input_scale);

  low = gantry_builder_scale (l->b, UNARY (EXPONENTIAL_MINUS_ONE, low), alpha);
  return gantry_builder_scale (l->b, positive_or (l, x, low), scale);
}

static void
elu (AtenLower *l)
{
  l->out[0] = elu_of (l, self (l), gantry_aten_number (l, "alpha", 1), gantry_aten_number (l, "scale", 1), gantry_aten_number (l, "input_scale", 1));
}

static void
selu (AtenLower *l)
{
  l->out[0] = elu_of (l, self (l), 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
}

static void
celu (AtenLower *l)
{
  double alpha = gantry_aten_number (l, "alpha", 1);

  l->out[0] = elu_of (l, self (l), alpha, 1, 1 / alpha);
}

static void
leaky_relu (AtenLower *l)
{
  guint32 x = self (l);

  l->out[0] = positive_or (l, x, gantry_builder_scale (l->b, x, gantry_aten_number (l, "negative_slope", 0.01)));
}

static void
prelu (AtenLower *l)
{
  guint32 x = self (l), slope = gantry_aten_need (l, "weight");
  guint rank = gantry_aten_rank (l, x);

  if (gantry_aten_rank (l, slope) == 1 && rank >= 2)
    slope = gantry_builder_along (l->b, slope, rank, 1);
  l->out[0] = positive_or (l, x, BINARY (MULTIPLY, x, slope));
}

static void
softplus (AtenLower *l)
{
  double beta = gantry_aten_number (l, "beta", 1), threshold = gantry_aten_number (l, "threshold", 20);
  guint32 x = self (l), scaled = gantry_builder_scale (l->b, x, beta);

  l->out[0] = gantry_builder_select (l->b, gantry_builder_compare (l->b, "GT", scaled, LIKE (scaled, threshold)), x,
                                     gantry_builder_scale (l->b, gantry_builder_softplus (l->b, scaled), 1 / beta));
}

static void
log_sigmoid (AtenLower *l)
{
  l->out[0] = UNARY (NEGATE, gantry_builder_softplus (l->b, UNARY (NEGATE, self (l))));
}

static void
mish (AtenLower *l)
{
  guint32 x = self (l);

  l->out[0] = BINARY (MULTIPLY, x, UNARY (TANH, gantry_builder_softplus (l->b, x)));
}

static void
softsign (AtenLower *l)
{
  guint32 x = self (l);

  l->out[0] = BINARY (DIVIDE, x, gantry_builder_offset (l->b, UNARY (ABS, x), 1));
}

static void
threshold (AtenLower *l)
{
  guint32 x = self (l);

  l->out[0] = gantry_builder_select (l->b, gantry_builder_compare (l->b, "LE", x, LIKE (x, gantry_aten_number (l, "threshold", 0))),
                                     LIKE (x, gantry_aten_number (l, "value", 0)), x);
}

/* The halves along an axis: the first times the logistic of the second. */
static void
glu (AtenLower *l)
{
  guint32 x = self (l);
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", -1), gantry_aten_rank (l, x)), n = gantry_aten_dim (l, x, axis);

  l->out[0] = BINARY (MULTIPLY, gantry_builder_slice_axis (l->b, x, axis, 0, n / 2, 1),
                      UNARY (LOGISTIC, gantry_builder_slice_axis (l->b, x, axis, n / 2, n, 1)));
}

static void
dropout (AtenLower *l)
{
  if (gantry_aten_int (l, "train", gantry_aten_int (l, "training", 1)) != 0 && gantry_aten_number (l, "p", 0.5) != 0)
    {
      gantry_aten_refuse (l, "in training it draws random numbers; export the model after model.eval ()");
      return;
    }
  l->out[0] = self (l);
  if (l->n_out > 1 && gantry_type_is_static (gantry_aten_declared (l, 1)))
    l->out[1] = gantry_aten_splat (l, gantry_aten_declared (l, 1), 1);
}

/* clang-format off */
#define RULE(name, function) { name, function, GANTRY_CLASS_ELEMENTWISE, 0, NULL }

const AtenRule gantry_aten_activation_rules[] = {
  RULE ("relu", relu), RULE ("hardtanh", hardtanh), { "relu6", hardtanh, GANTRY_CLASS_ELEMENTWISE, 6, NULL },
  RULE ("hardsigmoid", hardsigmoid), RULE ("hardswish", hardswish), RULE ("silu", silu), RULE ("gelu", gelu), RULE ("elu", elu),
  RULE ("selu", selu), RULE ("celu", celu), RULE ("leaky_relu", leaky_relu), RULE ("prelu", prelu), RULE ("_prelu_kernel", prelu),
  RULE ("softplus", softplus), RULE ("log_sigmoid", log_sigmoid), RULE ("mish", mish), RULE ("softsign", softsign),
  RULE ("threshold", threshold), RULE ("glu", glu),
  RULE ("dropout", dropout), RULE ("native_dropout", dropout), RULE ("feature_dropout", dropout), RULE ("alpha_dropout", dropout),
  { NULL },
};
/* clang-format on */
