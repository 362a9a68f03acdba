/* SPDX-License-Identifier: Apache-2.0 */
/* Activations, softmax among them. */
#include "core/frontends/mindspore/lower-private.h"

static guint32
relu (MindLower *l, guint32 x)
{
  return BINARY (MAXIMUM, x, LIKE (x, 0));
}

/* min (max (x + 3, 0), 6) / 6 */
static guint32
hard_sigmoid (MindLower *l, guint32 x)
{
  guint32 y = relu (l, gantry_builder_offset (l->b, x, 3));

  return gantry_builder_scale (l->b, BINARY (MINIMUM, y, LIKE (y, 6)), 1.0 / 6);
}

static guint32
normal_gelu (MindLower *l, guint32 x)
{
  guint32 y = UNARY (ERF, gantry_builder_scale (l->b, x, M_SQRT1_2));

  return BINARY (MULTIPLY, gantry_builder_scale (l->b, x, 0.5), gantry_builder_offset (l->b, y, 1));
}

/* x / 2 (1 + tanh (sqrt (2 / pi) (x + 0.044715 x^3))) */
static guint32
tanh_gelu (MindLower *l, guint32 x)
{
  guint32 cube = BINARY (MULTIPLY, BINARY (MULTIPLY, x, x), x), inner = BINARY (ADD, x, gantry_builder_scale (l->b, cube, 0.044715));

  inner = UNARY (TANH, gantry_builder_scale (l->b, inner, sqrt (2 / G_PI)));
  return BINARY (MULTIPLY, gantry_builder_scale (l->b, x, 0.5), gantry_builder_offset (l->b, inner, 1));
}

/* x where positive, else alpha (exp (x / width) - 1) */
static guint32
exponential_unit (MindLower *l, guint32 x, double alpha, double width)
{
  guint32 low = gantry_builder_at_most_zero (l->b, x);

  low = gantry_builder_scale (l->b, UNARY (EXPONENTIAL_MINUS_ONE, gantry_builder_scale (l->b, low, 1 / width)), alpha);
  return BINARY (ADD, relu (l, x), low);
}

static void
activation (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), y = 0;

  switch (l->rule->arg)
    {
    case 'r': y = relu (l, x); break;
    case '6':
      y = relu (l, x);
      y = BINARY (MINIMUM, y, LIKE (y, 6));
      break;
    case 's': y = BINARY (MULTIPLY, x, UNARY (LOGISTIC, x)); break;
    case 'g': y = strcmp (gantry_mind_string (l, "approximate", ""), "none") == 0 ? normal_gelu (l, x) : tanh_gelu (l, x); break;
    case 'n':
      y = strcmp (gantry_mind_string (l, "approximate", ""), "tanh") == 0 || gantry_mind_int (l, "approximate", 0) == 1 ? tanh_gelu (l, x) : normal_gelu (l, x);
      break;
    case 'h': y = hard_sigmoid (l, x); break;
    case 'w': y = BINARY (MULTIPLY, x, hard_sigmoid (l, x)); break;
    case 'e': y = exponential_unit (l, x, gantry_mind_number (l, "alpha", 1), 1); break;
    case 'c': y = exponential_unit (l, x, gantry_mind_number (l, "alpha", 1), gantry_mind_number (l, "alpha", 1)); break;
    case 'u': y = gantry_builder_scale (l->b, exponential_unit (l, x, 1.6732632423543772, 1), 1.0507009873554805); break;
    case 'p': y = gantry_builder_softplus (l->b, x); break;
    case 'l': y = UNARY (NEGATE, gantry_builder_softplus (l->b, UNARY (NEGATE, x))); break;
    case 'i': y = BINARY (DIVIDE, x, gantry_builder_offset (l->b, UNARY (ABS, x), 1)); break;
    case 'm': y = BINARY (MULTIPLY, x, UNARY (TANH, gantry_builder_softplus (l->b, x))); break;
    default: break;
    }
  l->out[0] = y;
}

/* The slope below 0: a number, or one of each channel. */
static void
leaky (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), slope = gantry_mind_in (l, "slope"), low = gantry_builder_at_most_zero (l->b, x);

  if (slope == 0)
    low = gantry_builder_scale (l->b, low, gantry_mind_number (l, "alpha", 0.2));
  else
    {
      slope = gantry_builder_convert (l->b, slope, gantry_mind_element_of (l, x));
      if (gantry_mind_rank (l, slope) == 1 && gantry_mind_rank (l, x) > 1)
        slope = gantry_builder_along (l->b, slope, gantry_mind_rank (l, x), 1);
      low = BINARY (MULTIPLY, low, slope);
    }
  l->out[0] = BINARY (ADD, relu (l, x), low);
}

/* arg: 'h' 0 within the bound, 's' nearer to 0 by it */
static void
shrink (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), size = UNARY (ABS, x), y = x;
  double bound = gantry_mind_number (l, "lambd", 0.5);

  if (l->rule->arg == 's')
    y = BINARY (MULTIPLY, UNARY (SIGN, x), gantry_builder_offset (l->b, size, -bound));
  l->out[0] = gantry_builder_select (l->b, gantry_builder_compare (l->b, "GT", size, LIKE (size, bound)), y, LIKE (x, 0));
}

/* The first half along an axis times the logistic of the second. */
static void
gated (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 axis = gantry_mind_axis (l, gantry_mind_int (l, "axis", -1), gantry_mind_rank (l, x)), n = gantry_mind_dim (l, x, axis);

  l->out[0] = BINARY (MULTIPLY, gantry_builder_slice_axis (l->b, x, axis, 0, n / 2, 1),
                      UNARY (LOGISTIC, gantry_builder_slice_axis (l->b, x, axis, n / 2, n, 1)));
}

static void
softmax (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");
  gint64 axes[GANTRY_MAX_RANK] = { (gint64) gantry_mind_rank (l, x) - 1 };
  guint n = gantry_mind_has (l, "axis") ? gantry_mind_axes (l, "axis", gantry_mind_rank (l, x), axes) : 1;

  l->out[0] = x != 0 && gantry_mind_rank (l, x) > 0 ? gantry_builder_softmax (l->b, x, axes, n, l->rule->arg) : 0;
}

/* clang-format off */
#define A(name, arguments, arg) { name, arguments, activation, GANTRY_CLASS_ELEMENTWISE, arg, NULL }

const MindRule gantry_mind_activation_rules[] = {
  A ("ReLU", "x", 'r'), A ("ReLU6", "x", '6'), A ("SiLU", "x", 's'), A ("Swish", "x", 's'), A ("GeLU", "x", 'g'),
  A ("GeluExt", "x approximate", 'n'), A ("Gelu", "x", 'g'), A ("HSigmoid", "x", 'h'), A ("HSwish", "x", 'w'),
  A ("Elu", "x alpha", 'e'), A ("EluExt", "x alpha", 'e'), A ("CeLU", "x alpha", 'c'), A ("SeLU", "x", 'u'), A ("SeLUExt", "x", 'u'),
  A ("Softplus", "x", 'p'), A ("LogSigmoid", "x", 'l'), A ("Softsign", "x", 'i'), A ("Mish", "x", 'm'), A ("MishExt", "x", 'm'),
  { "LeakyReLU", "x slope", leaky, GANTRY_CLASS_ELEMENTWISE, 0, NULL },
  { "LeakyReLUExt", "x slope", leaky, GANTRY_CLASS_ELEMENTWISE, 0, NULL },
  { "PReLU", "x slope", leaky, GANTRY_CLASS_ELEMENTWISE, 0, NULL },
  { "HShrink", "x lambd", shrink, GANTRY_CLASS_ELEMENTWISE, 'h', NULL },
  { "SoftShrink", "x lambd", shrink, GANTRY_CLASS_ELEMENTWISE, 's', NULL },
  { "GLU", "x axis", gated, GANTRY_CLASS_ELEMENTWISE, 0, NULL }, { "Softmax", "x axis", softmax, GANTRY_CLASS_REDUCTION, FALSE, NULL },
  { "LogSoftmax", "x axis", softmax, GANTRY_CLASS_REDUCTION, TRUE, NULL },
  { "LogSoftmaxExt", "x axis", softmax, GANTRY_CLASS_REDUCTION, TRUE, NULL },
  { NULL },
};
/* clang-format on */
