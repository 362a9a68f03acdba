/* SPDX-License-Identifier: Apache-2.0 */
/* Activation functions, and the operations that do nothing at inference. Formulas are those of the
 * ONNX operator specification; alpha, beta, gamma are its attributes with its defaults. */
#include "core/frontends/onnx/lower-words-private.h"

static void
relu (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);

  l->out[0] = MAXIMUM (x, LIKE (x, 0));
}

/* x where x is positive (or not a number), else `low`. */
static guint32
positive_or (GantryLower *l, guint32 x, guint32 low)
{
  if (x == 0 || low == 0)
    return 0;
  return gantry_builder_select (l->b, gantry_builder_compare (l->b, "GT", x, LIKE (x, 0)), x, low);
}

static void
leaky_relu (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);

  l->out[0] = positive_or (l, x, gantry_builder_scale (l->b, x, gantry_lower_float (l, "alpha", 0.01)));
}

/* The slope broadcasts to x; before version 7 a vector was one slope for each channel. */
static void
p_relu (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 slope = gantry_lower_operand (l, 1);
  guint rank = gantry_lower_rank (l, x);

  if (slope == 0)
    {
      gantry_lower_invalid (l, "operand 1 is missing");
      return;
    }
  if (l->opset < 7 && gantry_lower_rank (l, slope) == 1 && gantry_lower_dim (l, slope, 0) != 1 && rank >= 2)
    slope = gantry_builder_along (l->b, slope, rank, 1);
  l->out[0] = positive_or (l, x, MULTIPLY (x, slope));
}

/* scale (exp (x / width) - 1) of what is at most 0: that of a large x is infinite, and so would its derivative be. */
static guint32
below (GantryLower *l, guint32 x, double scale, double inverse_width)
{
  if (x == 0)
    return 0;
  x = gantry_builder_scale (l->b, gantry_builder_at_most_zero (l->b, x), inverse_width);
  return gantry_builder_scale (l->b, UNARY (EXPONENTIAL_MINUS_ONE, x), scale);
}

static void
elu (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);

  l->out[0] = positive_or (l, x, below (l, x, gantry_lower_float (l, "alpha", 1), 1));
}

/* max (0, x) + min (0, alpha (exp (x / alpha) - 1)) */
static void
celu (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  double alpha = gantry_lower_float (l, "alpha", 1);

  l->out[0] = positive_or (l, x, below (l, x, alpha, 1 / alpha));
}

static void
selu (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 low = below (l, x, gantry_lower_float (l, "alpha", 1.67326319217681884765625), 1);

  l->out[0] = gantry_builder_scale (l->b, positive_or (l, x, low), gantry_lower_float (l, "gamma", 1.05070102214813232421875));
}

static guint32
hard_sigmoid_of (GantryLower *l, guint32 x, double alpha, double beta)
{
  guint32 line = gantry_builder_offset (l->b, gantry_builder_scale (l->b, x, alpha), beta);

  return MINIMUM (MAXIMUM (line, LIKE (x, 0)), LIKE (x, 1));
}

static void
hard_sigmoid (GantryLower *l)
{
  l->out[0] = hard_sigmoid_of (l, gantry_lower_operand (l, 0), gantry_lower_float (l, "alpha", 0.2), gantry_lower_float (l, "beta", 0.5));
}

static void
hard_swish (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);

  l->out[0] = MULTIPLY (x, hard_sigmoid_of (l, x, 1.0 / 6, 0.5));
}

static guint32
softplus_of (GantryLower *l, guint32 x)
{
  return x != 0 ? gantry_builder_softplus (l->b, x) : 0;
}

static void
softplus (GantryLower *l)
{
  l->out[0] = softplus_of (l, gantry_lower_operand (l, 0));
}

static void
softsign (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);

  l->out[0] = DIVIDE (x, gantry_builder_offset (l->b, UNARY (ABS, x), 1));
}

static void
mish (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);

  l->out[0] = MULTIPLY (x, UNARY (TANH, softplus_of (l, x)));
}

static void
swish (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);

  l->out[0] = MULTIPLY (x, UNARY (LOGISTIC, gantry_builder_scale (l->b, x, gantry_lower_float (l, "alpha", 1))));
}

static void
swiglu (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);

  if (gantry_lower_operand (l, 1) == 0)
    gantry_lower_invalid (l, "operand 1 is missing");
  else
    l->out[0] = MULTIPLY (MULTIPLY (x, UNARY (LOGISTIC, gantry_builder_scale (l->b, x, gantry_lower_float (l, "alpha", 1)))), l->in[1]);
}

static void
gelu (GantryLower *l)
{
  const char *approximate = gantry_lower_string (l, "approximate", "none");
  guint32 x = gantry_lower_operand (l, 0);
  guint32 inner;

  if (strcmp (approximate, "tanh") == 0)
    {
      guint32 cube = MULTIPLY (MULTIPLY (x, x), x);

      inner = gantry_builder_scale (l->b, ADD (x, gantry_builder_scale (l->b, cube, 0.044715)), 0.79788456080286535588);
      inner = UNARY (TANH, inner);
    }
  else if (strcmp (approximate, "none") == 0)
    inner = UNARY (ERF, gantry_builder_scale (l->b, x, 0.70710678118654752440));
  else
    {
      gantry_lower_invalid (l, "approximate '%s' is neither none nor tanh", approximate);
      return;
    }
  l->out[0] = MULTIPLY (gantry_builder_scale (l->b, x, 0.5), gantry_builder_offset (l->b, inner, 1));
}

static void
thresholded_relu (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 above = gantry_builder_compare (l->b, "GT", x, LIKE (x, gantry_lower_float (l, "alpha", 1)));

  l->out[0] = gantry_builder_select (l->b, above, x, LIKE (x, 0));
}

/* x + bias below -lambd, x - bias above lambd, 0 between. */
static void
shrink (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  double lambd = gantry_lower_float (l, "lambd", 0.5);
  double bias = gantry_lower_float (l, "bias", 0);
  guint32 below, above, inner;

  if (x == 0)
    return;
  below = gantry_builder_compare (l->b, "LT", x, LIKE (x, -lambd));
  above = gantry_builder_compare (l->b, "GT", x, LIKE (x, lambd));
  inner = gantry_builder_select (l->b, above, gantry_builder_offset (l->b, x, -bias), LIKE (x, 0));
  l->out[0] = gantry_builder_select (l->b, below, gantry_builder_offset (l->b, x, bias), inner);
}

/* At inference the data passes and the mask is all true. Training mode is random: refused unless
 * the ratio is 0. */
static void
dropout (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, dims);
  gsize n;

  if (l->opset >= 12 && gantry_lower_has (l, 2))
    {
      gint64 *training = gantry_lower_known_ints (l, l->in[2], &n);
      double *ratio = gantry_lower_known_doubles (l, gantry_lower_operand (l, 1), &n);

      if (training == NULL)
        gantry_lower_needs_constant (l, gantry_lower_operand (l, 2), "training mode");
      else if (training[0] != 0 && (ratio == NULL || n != 1 || ratio[0] != 0))
        gantry_lower_fail (l, "training mode draws random numbers");
      if (l->failed)
        return;
    }
  else if (l->opset < 7 && gantry_lower_int (l, "is_test", 0) == 0)
    {
      gantry_lower_fail (l, "training mode draws random numbers");
      return;
    }
  l->out[0] = x;
  if (gantry_lower_wants (l, 1) && gantry_lower_require_static (l, x))
    l->out[1] = gantry_builder_splat (l->b, l->opset < 10 ? gantry_lower_element (l, x) : GANTRY_BOOL, 1, rank, dims);
}

/* clang-format off */
#define RULE(name, function) { name, function, GANTRY_CLASS_ELEMENTWISE, 0, 0, NULL }

const GantryLowerRule gantry_lower_activation_rules[] = {
  { "Relu", relu, GANTRY_CLASS_ELEMENTWISE, GANTRY_LOWER_ANY_SHAPE, 0, NULL },
  { "Dropout", dropout, GANTRY_CLASS_ELEMENTWISE, GANTRY_LOWER_ANY_SHAPE, 0, NULL },
  RULE ("LeakyRelu", leaky_relu), RULE ("PRelu", p_relu), RULE ("Elu", elu), RULE ("Celu", celu), RULE ("Selu", selu),
  RULE ("HardSigmoid", hard_sigmoid), RULE ("HardSwish", hard_swish), RULE ("Softplus", softplus),
  RULE ("Softsign", softsign), RULE ("Mish", mish), RULE ("Swish", swish), RULE ("Gelu", gelu),
  RULE ("ThresholdedRelu", thresholded_relu), RULE ("Shrink", shrink), RULE ("SwiGLU", swiglu),
  { NULL },
};
/* clang-format on */
