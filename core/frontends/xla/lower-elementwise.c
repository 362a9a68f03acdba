/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operations. */
#include "core/frontends/xla/lower-private.h"

static void
unary (XlaLower *l)
{
  l->out[0] = gantry_xla_unary (l, (GantryOp) l->rule->arg, gantry_xla_in (l, 0));
}

/* Of bools a sum and a maximum are "or", a product and a minimum "and". */
static GantryOp
of_bools (GantryOp op)
{
  switch ((int) op)
    {
    case GANTRY_OP_ADD:
    case GANTRY_OP_MAXIMUM: return GANTRY_OP_OR;
    case GANTRY_OP_MULTIPLY:
    case GANTRY_OP_MINIMUM: return GANTRY_OP_AND;
    case GANTRY_OP_SUBTRACT: return GANTRY_OP_XOR;
    default: return op;
    }
}

static void
binary (XlaLower *l)
{
  GantryOp op = (GantryOp) l->rule->arg;

  if (gantry_xla_element (l, gantry_xla_in (l, 0)) == GANTRY_BOOL)
    op = of_bools (op);
  l->out[0] = gantry_xla_binary (l, op, gantry_xla_in (l, 0), gantry_xla_in (l, 1));
}

/* numpy's broadcasting, of the chlo operations. */
static void
broadcasting (XlaLower *l)
{
  if (gantry_xla_in (l, 0) != 0 && gantry_xla_in (l, 1) != 0)
    l->out[0] = gantry_builder_binary_broadcast (l->b, (guint) l->rule->arg, gantry_xla_in (l, 0), gantry_xla_in (l, 1));
}

guint32
gantry_xla_total_order (XlaLower *l, guint32 x)
{
  GantryElementType element = gantry_xla_bits_of (gantry_xla_element (l, x), TRUE);
  guint bits = 8 * (guint) gantry_element_size (element);
  guint32 whole = gantry_xla_bitcast (l, x, element);
  guint32 mask = gantry_builder_int_scalar (l->b, element, (gint64) (G_MAXUINT64 >> (65 - bits)));

  return gantry_xla_select (l, gantry_xla_compare (l, "LT", whole, gantry_xla_like (l, whole, 0)), gantry_xla_binary (l, GANTRY_OP_XOR, whole, mask), whole);
}

static void
compare (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 0), y = gantry_xla_in (l, 1);
  const char *direction = gantry_xla_string (l, "comparison_direction", "EQ");

  if (strcmp (gantry_xla_string (l, "compare_type", ""), "TOTALORDER") == 0 && gantry_element_is_float (gantry_xla_element (l, x)))
    {
      x = gantry_xla_total_order (l, x);
      y = gantry_xla_total_order (l, y);
    }
  l->out[0] = gantry_xla_compare (l, direction, x, y);
}

static void
select_ (XlaLower *l)
{
  l->out[0] = gantry_xla_select (l, gantry_xla_in (l, 0), gantry_xla_in (l, 1), gantry_xla_in (l, 2));
}

static void
clamp (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 1);

  l->out[0] = gantry_xla_add (l, GANTRY_OP_CLAMP, NULL, 3, gantry_xla_spread (l, gantry_xla_in (l, 0), x), x, gantry_xla_spread (l, gantry_xla_in (l, 2), x));
}

static void
convert (XlaLower *l)
{
  l->out[0] = gantry_xla_convert (l, gantry_xla_in (l, 0), (GantryElementType) gantry_xla_declared (l, 0)->element);
}

/* A bool is one bit. */
static guint
width_of (GantryElementType element)
{
  return element == GANTRY_BOOL ? 1 : 8 * (guint) gantry_element_size (element);
}

/* One wide element as several narrow ones along a new last dimension, least significant first. */
static guint32
split_bits (XlaLower *l, guint32 x, GantryElementType to)
{
  const GantryType *type = gantry_xla_type (l, x);
  GantryElementType wide = gantry_xla_bits_of (gantry_xla_element (l, x), FALSE);
  GantryElementType narrow = to == GANTRY_BOOL ? GANTRY_BOOL : gantry_xla_bits_of (to, FALSE);
  guint width = width_of (to), n = width_of (wide) / width;
  guint32 bits = gantry_xla_bitcast (l, x, wide), parts[64];
  guint32 mask = gantry_builder_int_scalar (l->b, wide, (gint64) (G_MAXUINT64 >> (64 - width)));
  GantryDim dims[GANTRY_MAX_RANK + 1];

  if (type->rank + 1 > GANTRY_MAX_RANK)
    return 0;
  memcpy (dims, type->dims, sizeof *dims * type->rank);
  dims[type->rank] = 1;
  for (guint i = 0; i < n; i++)
    {
      guint32 part = gantry_xla_binary (l, GANTRY_OP_SHIFT_RIGHT_LOGICAL, bits, gantry_builder_int_scalar (l->b, wide, width * i));

      part = gantry_xla_convert (l, gantry_xla_binary (l, GANTRY_OP_AND, part, mask), narrow);
      parts[i] = gantry_builder_reshape (l->b, part, type->rank + 1, dims);
    }
  return gantry_xla_bitcast (l, gantry_builder_concatenate (l->b, parts, n, type->rank), to);
}

static guint32
join_bits (XlaLower *l, guint32 x, GantryElementType to)
{
  const GantryType *type = gantry_xla_type (l, x);
  GantryElementType from = gantry_xla_element (l, x), wide = gantry_xla_bits_of (to, FALSE);
  guint width = width_of (from), n = width_of (wide) / width, axis = type->rank - 1;
  guint32 bits, all = 0;
  GantryDim dims[GANTRY_MAX_RANK];

  if (type->rank == 0 || type->dims[axis] != n)
    return 0;
  if (from != GANTRY_BOOL)
    x = gantry_xla_bitcast (l, x, gantry_xla_bits_of (from, FALSE));
  bits = gantry_xla_convert (l, x, wide);
  memcpy (dims, type->dims, sizeof *dims * type->rank);
  for (guint i = 0; i < n; i++)
    {
      guint32 part = gantry_builder_reshape (l->b, gantry_builder_slice_axis (l->b, bits, axis, i, i + 1, 1), axis, dims);

      part = gantry_xla_binary (l, GANTRY_OP_SHIFT_LEFT, part, gantry_builder_int_scalar (l->b, wide, width * i));
      all = all == 0 ? part : gantry_xla_binary (l, GANTRY_OP_OR, all, part);
    }
  return gantry_xla_bitcast (l, all, to);
}

static void
bitcast_convert (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 0);
  GantryElementType from = gantry_xla_element (l, x), to = (GantryElementType) gantry_xla_declared (l, 0)->element;

  if (width_of (from) == width_of (to))
    l->out[0] = gantry_xla_bitcast (l, x, to);
  else if (width_of (from) > width_of (to))
    l->out[0] = split_bits (l, x, to);
  else
    l->out[0] = join_bits (l, x, to);
}

/* Bits of the mantissa are rounded off to nearest even; what the exponent cannot say becomes infinity or zero. */
typedef struct
{
  GantryElementType whole;
  guint exponent, mantissa; /* of the type */
} Format;

static guint32
bits_scalar (XlaLower *l, const Format *f, guint64 bits)
{
  return gantry_builder_int_scalar (l->b, f->whole, (gint64) bits);
}

static guint32
round_mantissa (XlaLower *l, const Format *f, guint32 bits, guint keep)
{
  guint drop = f->mantissa - keep;
  guint32 last = gantry_xla_binary (l, GANTRY_OP_AND, gantry_xla_binary (l, GANTRY_OP_SHIFT_RIGHT_LOGICAL, bits, bits_scalar (l, f, drop)),
                                    bits_scalar (l, f, 1));
  guint32 bias = gantry_xla_binary (l, GANTRY_OP_ADD, last, bits_scalar (l, f, (G_GUINT64_CONSTANT (1) << (drop - 1)) - 1));

  return gantry_xla_binary (l, GANTRY_OP_AND, gantry_xla_binary (l, GANTRY_OP_ADD, bits, bias), bits_scalar (l, f, ~((G_GUINT64_CONSTANT (1) << drop) - 1)));
}

static guint32
clip_exponent (XlaLower *l, const Format *f, guint32 bits, guint keep)
{
  guint64 one = 1, mask = ((one << f->exponent) - 1) << f->mantissa;
  guint64 bias = (one << (f->exponent - 1)) - 1, reduced = (one << (keep - 1)) - 1;
  guint64 sign_bit = one << (f->exponent + f->mantissa);
  guint32 exponent = gantry_xla_binary (l, GANTRY_OP_AND, bits, bits_scalar (l, f, mask));
  guint32 sign = gantry_xla_binary (l, GANTRY_OP_AND, bits, bits_scalar (l, f, sign_bit));
  guint32 over = gantry_xla_compare (l, "GT", exponent, bits_scalar (l, f, (bias + reduced) << f->mantissa));
  guint32 under = gantry_xla_compare (l, "LE", exponent, bits_scalar (l, f, (bias - reduced) << f->mantissa));
  guint32 clipped = gantry_xla_select (l, over, gantry_xla_binary (l, GANTRY_OP_OR, sign, bits_scalar (l, f, mask)), bits);

  return gantry_xla_select (l, under, sign, clipped);
}

static void
reduce_precision (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 0), bits;
  GantryElementType element = gantry_xla_element (l, x);
  Format f = { gantry_xla_bits_of (element, FALSE), 0, 0 };
  guint exponent = (guint) gantry_xla_int (l, "exponent_bits", 0), mantissa = (guint) gantry_xla_int (l, "mantissa_bits", 0);

  if (exponent == 0)
    sscanf (gantry_xla_string (l, "format", ""), "e%um%u", &exponent, &mantissa);
  f.mantissa = element == GANTRY_F16 ? 10 : element == GANTRY_BF16 ? 7 : element == GANTRY_F32 ? 23 : 52;
  f.exponent = element == GANTRY_F16 ? 5 : element == GANTRY_F64 ? 11 : 8;
  if (!gantry_element_is_float (element) || exponent == 0 || exponent > 16 || mantissa > 64)
    {
      gantry_xla_refuse (l, "to %u bits of exponent and %u of mantissa", exponent, mantissa);
      return;
    }
  bits = gantry_xla_bitcast (l, x, f.whole);
  if (mantissa < f.mantissa)
    bits = round_mantissa (l, &f, bits, mantissa);
  if (exponent < f.exponent)
    bits = clip_exponent (l, &f, bits, exponent);
  l->out[0] = gantry_xla_select (l, gantry_xla_unary (l, GANTRY_OP_IS_NAN, x), x, gantry_xla_bitcast (l, bits, element));
}

static void
real (XlaLower *l)
{
  l->out[0] = gantry_xla_in (l, 0); /* of a real number; complex ones are refused by type */
}

static void
imag (XlaLower *l)
{
  l->out[0] = gantry_xla_like (l, gantry_xla_in (l, 0), 0);
}

static void
square (XlaLower *l)
{
  l->out[0] = gantry_xla_binary (l, GANTRY_OP_MULTIPLY, gantry_xla_in (l, 0), gantry_xla_in (l, 0));
}

static void
is_infinite (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 0);

  if (l->rule->arg == 0)
    x = gantry_xla_unary (l, GANTRY_OP_ABS, x);
  l->out[0] = gantry_xla_compare (l, "EQ", x, gantry_xla_like (l, x, l->rule->arg < 0 ? -INFINITY : INFINITY));
}

/* Of what is no number there is no gradient. */
static void
stop_gradient (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 0);

  l->out[0] = gantry_xla_element (l, x) == GANTRY_BOOL ? x : gantry_xla_unary (l, GANTRY_OP_STOP_GRADIENT, x);
}

#define UNARY(name, OP) \
  { \
    name, unary, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), GANTRY_OP_##OP \
  }
#define BINARY(name, OP) \
  { \
    name, binary, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (2, 1), GANTRY_OP_##OP \
  }
#define BROADCASTING(name, OP) \
  { \
    name, broadcasting, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (2, 1), GANTRY_OP_##OP \
  }

const XlaRule gantry_xla_elementwise_rules[] = {
  UNARY ("abs", ABS),
  UNARY ("negate", NEGATE),
  UNARY ("sign", SIGN),
  { "stop_gradient", stop_gradient, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 0 },
  UNARY ("exponential", EXPONENTIAL),
  UNARY ("exponential_minus_one", EXPONENTIAL_MINUS_ONE),
  UNARY ("log", LOG),
  UNARY ("log_plus_one", LOG_PLUS_ONE),
  UNARY ("logistic", LOGISTIC),
  UNARY ("tanh", TANH),
  UNARY ("sqrt", SQRT),
  UNARY ("rsqrt", RSQRT),
  UNARY ("cbrt", CBRT),
  UNARY ("sine", SINE),
  UNARY ("cosine", COSINE),
  UNARY ("tan", TAN),
  UNARY ("asin", ASIN),
  UNARY ("acos", ACOS),
  UNARY ("atan", ATAN),
  UNARY ("sinh", SINH),
  UNARY ("cosh", COSH),
  UNARY ("asinh", ASINH),
  UNARY ("acosh", ACOSH),
  UNARY ("atanh", ATANH),
  UNARY ("erf", ERF),
  UNARY ("floor", FLOOR),
  UNARY ("ceil", CEIL),
  UNARY ("round_nearest_even", ROUND_NEAREST_EVEN),
  UNARY ("round_nearest_afz", ROUND_NEAREST_AFZ),
  UNARY ("is_finite", IS_FINITE),
  UNARY ("not", NOT),
  UNARY ("popcnt", POPCNT),
  UNARY ("count_leading_zeros", COUNT_LEADING_ZEROS),
  BINARY ("add", ADD),
  BINARY ("subtract", SUBTRACT),
  BINARY ("multiply", MULTIPLY),
  BINARY ("divide", DIVIDE),
  BINARY ("remainder", REMAINDER),
  BINARY ("power", POWER),
  BINARY ("maximum", MAXIMUM),
  BINARY ("minimum", MINIMUM),
  BINARY ("atan2", ATAN2),
  BINARY ("and", AND),
  BINARY ("or", OR),
  BINARY ("xor", XOR),
  BINARY ("shift_left", SHIFT_LEFT),
  BINARY ("shift_right_arithmetic", SHIFT_RIGHT_ARITHMETIC),
  BINARY ("shift_right_logical", SHIFT_RIGHT_LOGICAL),
  BROADCASTING ("broadcast_add", ADD),
  BROADCASTING ("broadcast_subtract", SUBTRACT),
  BROADCASTING ("broadcast_multiply", MULTIPLY),
  BROADCASTING ("broadcast_divide", DIVIDE),
  BROADCASTING ("broadcast_maximum", MAXIMUM),
  BROADCASTING ("broadcast_minimum", MINIMUM),
  BROADCASTING ("broadcast_power", POWER),
  BROADCASTING ("broadcast_and", AND),
  BROADCASTING ("broadcast_or", OR),
  BROADCASTING ("broadcast_xor", XOR),
  { "compare", compare, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (2, 1), 0 },
  { "select", select_, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (3, 1), 0 },
  { "clamp", clamp, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (3, 1), 0 },
  { "convert", convert, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 0 },
  { "bitcast_convert", bitcast_convert, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 0 },
  { "reduce_precision", reduce_precision, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 0 },
  { "real", real, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 0 },
  { "imag", imag, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 0 },
  { "conj", real, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 0 },
  { "square", square, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 0 },
  { "is_inf", is_infinite, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 0 },
  { "is_pos_inf", is_infinite, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 1 },
  { "is_neg_inf", is_infinite, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), -1 },
  { NULL, NULL, 0, 0, 0 },
};
