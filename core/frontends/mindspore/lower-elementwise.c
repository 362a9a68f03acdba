/* SPDX-License-Identifier: Apache-2.0 */
/* What is done element by element: arithmetic, comparisons, conversions. */
#include "core/frontends/mindspore/lower-private.h"

static guint32
floating (MindLower *l, guint32 x)
{
  GantryElementType element = gantry_mind_result_element (l, x);

  if (x == 0 || gantry_element_is_float (gantry_mind_element_of (l, x)))
    return x;
  return gantry_builder_convert (l->b, x, gantry_element_is_float (element) ? element : GANTRY_F32);
}

/* arg: GantryOp of floats, negative: of what it is given */
static void
unary (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");

  l->out[0] = gantry_builder_unary (l->b, (guint) ABS (l->rule->arg), l->rule->arg > 0 ? floating (l, x) : x);
}

/* Whole numbers are their own floor. */
static void
rounding (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");

  l->out[0] = gantry_element_is_float (gantry_mind_element_of (l, x)) ? gantry_builder_unary (l->b, (guint) l->rule->arg, x) : x;
}

static guint32
truncated (MindLower *l, guint32 x)
{
  return gantry_builder_select (l->b, gantry_builder_compare (l->b, "LT", x, LIKE (x, 0)), UNARY (CEIL, x), UNARY (FLOOR, x));
}

/* arg: 't' truncation, 'r' reciprocal, 's' square, 'e' 1 - erf, 'n' the number itself, 'i' infinite */
static void
simple (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");

  switch (l->rule->arg)
    {
    case 't': l->out[0] = gantry_element_is_float (gantry_mind_element_of (l, x)) ? truncated (l, x) : x; break;
    case 'r':
      x = floating (l, x);
      l->out[0] = BINARY (DIVIDE, LIKE (x, 1), x);
      break;
    case 's': l->out[0] = BINARY (MULTIPLY, x, x); break;
    case 'e': l->out[0] = BINARY (SUBTRACT, LIKE (x, 1), UNARY (ERF, x)); break;
    case 'i': l->out[0] = gantry_builder_compare (l->b, "EQ", UNARY (ABS, x), LIKE (x, INFINITY)); break;
    default: l->out[0] = x; break;
    }
}

/* The declared type of a number is that of the result; logical operations take bool. */
static void
operands (MindLower *l, guint32 *x, guint32 *y)
{
  *x = gantry_mind_need (l, "x");
  *y = gantry_mind_need (l, "y");
  gantry_mind_promote (l, x, y);
}

/* bool is no number to the core operations. */
static void
binary (MindLower *l)
{
  GantryElementType element;
  guint32 x, y;

  operands (l, &x, &y);
  element = gantry_mind_result_element (l, x);
  if (gantry_mind_element_of (l, x) == GANTRY_BOOL && element != GANTRY_BOOL)
    {
      x = gantry_builder_convert (l->b, x, element);
      y = gantry_builder_convert (l->b, y, element);
    }
  l->out[0] = gantry_builder_binary_broadcast (l->b, (guint) l->rule->arg, x, y);
}

/* Of what is no float there is no gradient to stop. */
static void
stopped (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x");

  l->out[0] = gantry_element_is_float (gantry_mind_element_of (l, x)) ? UNARY (STOP_GRADIENT, x) : x;
}

/* x + alpha * y */
static void
scaled (MindLower *l)
{
  guint32 x, y;

  operands (l, &x, &y);
  l->out[0] = gantry_builder_binary_broadcast (l->b, (guint) l->rule->arg, x, gantry_builder_scale (l->b, y, gantry_mind_number (l, "alpha", 1)));
}

/* arg: '/' of floats, '0' which is 0 where y is */
static void
divide (MindLower *l)
{
  guint32 x, y, z;

  operands (l, &x, &y);
  x = floating (l, x);
  y = gantry_builder_convert (l->b, y, gantry_mind_element_of (l, x));
  z = BINARY (DIVIDE, x, y);
  l->out[0] = l->rule->arg == '0' ? gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", y, LIKE (y, 0)), LIKE (z, 0), z) : z;
}

/* arg: 'f' towards minus infinity, 't' towards 0; text: "rest" what is left */
static void
divide_whole (MindLower *l)
{
  guint32 x, y, q, off;
  gboolean floats;

  operands (l, &x, &y);
  floats = gantry_element_is_float (gantry_mind_element_of (l, x));
  if (floats)
    q = l->rule->arg == 'f' ? UNARY (FLOOR, BINARY (DIVIDE, x, y)) : truncated (l, BINARY (DIVIDE, x, y));
  else
    q = BINARY (DIVIDE, x, y);
  if (!floats && l->rule->arg == 'f')
    {
      guint32 rest = BINARY (REMAINDER, x, y);

      off = BINARY (AND, gantry_builder_compare (l->b, "NE", rest, LIKE (rest, 0)),
                    gantry_builder_compare (l->b, "LT", BINARY (MULTIPLY, UNARY (SIGN, rest), UNARY (SIGN, y)), LIKE (rest, 0)));
      q = BINARY (SUBTRACT, q, gantry_builder_convert (l->b, off, gantry_mind_element_of (l, q)));
    }
  l->out[0] = l->rule->text == NULL ? q : BINARY (SUBTRACT, x, BINARY (MULTIPLY, q, y));
}

static void
compare (MindLower *l)
{
  guint32 x, y;

  operands (l, &x, &y);
  l->out[0] = gantry_builder_compare (l->b, l->rule->text, x, y);
}

static void
logical (MindLower *l)
{
  guint32 x = gantry_builder_convert (l->b, gantry_mind_need (l, "x"), GANTRY_BOOL), y = gantry_builder_convert (l->b, gantry_mind_need (l, "y"), GANTRY_BOOL);

  l->out[0] = gantry_builder_binary_broadcast (l->b, (guint) l->rule->arg, x, y);
}

static void
logical_not (MindLower *l)
{
  l->out[0] = UNARY (NOT, gantry_builder_convert (l->b, gantry_mind_need (l, "x"), GANTRY_BOOL));
}

/* arg: '2' (x - y)^2, 'l' x log y, 'd' x / y, 0 where x is 0, 'h' sqrt (x^2 + y^2) */
static void
binary_simple (MindLower *l)
{
  guint32 x, y, z;

  operands (l, &x, &y);
  if (l->rule->arg == '2')
    {
      z = BINARY (SUBTRACT, x, y);
      l->out[0] = BINARY (MULTIPLY, z, z);
      return;
    }
  if (l->rule->arg == 'h')
    {
      l->out[0] = UNARY (SQRT, BINARY (ADD, BINARY (MULTIPLY, x, x), BINARY (MULTIPLY, y, y)));
      return;
    }
  z = l->rule->arg == 'l' ? BINARY (MULTIPLY, x, UNARY (LOG, y)) : BINARY (DIVIDE, x, y);
  l->out[0] = gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", x, LIKE (x, 0)), LIKE (z, 0), z);
}

static void
cast (MindLower *l)
{
  GantryElementType element = gantry_mind_element_named (l, "dtype");
  guint32 x = gantry_mind_need (l, "x");

  element = element != GANTRY_ELEMENT_NONE ? element : gantry_mind_result_element (l, x);
  l->out[0] = gantry_builder_convert (l->b, x, element);
}

static void
choose (MindLower *l)
{
  guint32 condition = gantry_builder_convert (l->b, gantry_mind_need (l, "condition"), GANTRY_BOOL), x = gantry_mind_need (l, "x"),
          y = gantry_mind_need (l, "y");

  gantry_mind_promote (l, &x, &y);
  l->out[0] = gantry_builder_select (l->b, condition, x, y);
}

/* The value where the mask is. */
static void
masked_fill (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), mask = gantry_builder_convert (l->b, gantry_mind_need (l, "mask"), GANTRY_BOOL),
          value = gantry_builder_convert (l->b, gantry_mind_need (l, "value"), gantry_mind_element_of (l, x));

  l->out[0] = gantry_builder_select (l->b, mask, value, x);
}

static void
clamp (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), low = gantry_mind_in (l, "min"), high = gantry_mind_in (l, "max");

  if (low != 0)
    x = BINARY (MAXIMUM, x, gantry_builder_convert (l->b, low, gantry_mind_element_of (l, x)));
  if (high != 0)
    x = BINARY (MINIMUM, x, gantry_builder_convert (l->b, high, gantry_mind_element_of (l, x)));
  l->out[0] = x;
}

/* The sum of a tuple. */
static void
add_all (MindLower *l)
{
  guint n = gantry_mind_list_length (l, "x");
  guint32 sum = n > 0 ? gantry_mind_in_list (l, "x", 0) : gantry_mind_need (l, "x");

  for (guint i = 1; i < n; i++)
    sum = BINARY (ADD, sum, gantry_mind_in_list (l, "x", i));
  l->out[0] = sum;
}

/* start + weight * (end - start) */
static void
lerp (MindLower *l)
{
  guint32 start = gantry_mind_need (l, "start"), end = gantry_mind_need (l, "end"),
          weight = gantry_builder_convert (l->b, gantry_mind_need (l, "weight"), gantry_mind_element_of (l, start));

  l->out[0] = BINARY (ADD, start, BINARY (MULTIPLY, weight, BINARY (SUBTRACT, end, start)));
}

/* input + value * x1 op x2 */
static void
add_combined (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "input"),
          combined = gantry_builder_binary_broadcast (l->b, (guint) l->rule->arg, gantry_mind_need (l, "x1"), gantry_mind_need (l, "x2"));
  guint32 value = gantry_mind_in (l, "value");

  if (value != 0)
    combined = BINARY (MULTIPLY, combined, gantry_builder_convert (l->b, value, gantry_mind_element_of (l, combined)));
  l->out[0] = BINARY (ADD, x, combined);
}

/* clang-format off */
#define E GANTRY_CLASS_ELEMENTWISE
#define F(name, OP) { name, "x", unary, E, GANTRY_OP_##OP, NULL }
#define B(name, OP) { name, "x y", binary, E, GANTRY_OP_##OP, NULL }
#define C(name, direction) { name, "x y", compare, E, 0, direction }

const MindRule gantry_mind_elementwise_rules[] = {
  F ("Exp", EXPONENTIAL), F ("Expm1", EXPONENTIAL_MINUS_ONE), F ("Log", LOG), F ("Log1p", LOG_PLUS_ONE), F ("Sigmoid", LOGISTIC),
  F ("Tanh", TANH), F ("Sqrt", SQRT), F ("Rsqrt", RSQRT), F ("Sin", SINE), F ("Cos", COSINE), F ("Tan", TAN), F ("Asin", ASIN),
  F ("ACos", ACOS), F ("Acos", ACOS), F ("Atan", ATAN), F ("Sinh", SINH), F ("Cosh", COSH), F ("Asinh", ASINH), F ("Acosh", ACOSH),
  F ("Atanh", ATANH), F ("Erf", ERF), F ("IsNan", IS_NAN), F ("IsFinite", IS_FINITE), { "Abs", "x", unary, E, -GANTRY_OP_ABS, NULL },
  { "Neg", "x", unary, E, -GANTRY_OP_NEGATE, NULL }, { "Sign", "x", unary, E, -GANTRY_OP_SIGN, NULL },
  { "Invert", "x", unary, E, -GANTRY_OP_NOT, NULL }, { "BitwiseNot", "x", unary, E, -GANTRY_OP_NOT, NULL },
  { "Floor", "x", rounding, E, GANTRY_OP_FLOOR, NULL }, { "Ceil", "x", rounding, E, GANTRY_OP_CEIL, NULL },
  { "Round", "x decimals", rounding, E, GANTRY_OP_ROUND_NEAREST_EVEN, NULL },
  { "Rint", "x", rounding, E, GANTRY_OP_ROUND_NEAREST_EVEN, NULL }, { "Trunc", "x", simple, E, 't', NULL },
  { "Reciprocal", "x", simple, E, 'r', NULL }, { "Inv", "x", simple, E, 'r', NULL }, { "Square", "x", simple, E, 's', NULL },
  { "Erfc", "x", simple, E, 'e', NULL }, { "IsInf", "x", simple, E, 'i', NULL }, { "StopGradient", "x", stopped, E, 0, NULL },
  { "Identity", "x", simple, E, 'n', NULL }, { "TensorMove", "x", simple, E, 'n', NULL },
  { "ScalarToTensor", "x dtype", cast, E, 0, NULL }, { "TensorToScalar", "x", simple, E, 'n', NULL },
  { "Contiguous", "x", simple, E, 'n', NULL }, { "Cast", "x dtype", cast, E, 0, NULL }, { "ScalarCast", "x dtype", cast, E, 0, NULL },
  { "ScalarBool", "x", cast, E, 0, NULL }, B ("Mul", MULTIPLY), B ("Muls", MULTIPLY), B ("Add", ADD), B ("AddScalar", ADD),
  B ("Sub", SUBTRACT), B ("SubScalar", SUBTRACT), B ("Maximum", MAXIMUM), B ("Minimum", MINIMUM), B ("Pow", POWER),
  B ("PowTensorScalar", POWER), B ("PowScalarTensor", POWER), B ("Atan2", ATAN2), B ("BitwiseAnd", AND), B ("BitwiseOr", OR),
  B ("BitwiseXor", XOR), B ("BitwiseAndTensor", AND), B ("BitwiseAndScalar", AND), B ("BitwiseOrTensor", OR), B ("BitwiseOrScalar", OR),
  B ("BitwiseXorTensor", XOR), B ("BitwiseXorScalar", XOR), B ("ScalarAdd", ADD), B ("ScalarSub", SUBTRACT), B ("ScalarMul", MULTIPLY),
  B ("ScalarPow", POWER), B ("ScalarMax", MAXIMUM), B ("ScalarMin", MINIMUM), { "AddExt", "x y alpha", scaled, E, GANTRY_OP_ADD, NULL },
  { "SubExt", "x y alpha", scaled, E, GANTRY_OP_SUBTRACT, NULL }, { "Div", "x y", divide, E, '/', NULL },
  { "Divs", "x y", divide, E, '/', NULL }, { "RealDiv", "x y", divide, E, '/', NULL }, { "ScalarDiv", "x y", divide, E, '/', NULL },
  { "DivNoNan", "x y", divide, E, '0', NULL }, { "FloorDiv", "x y", divide_whole, E, 'f', NULL },
  { "FloorDivScalar", "x y", divide_whole, E, 'f', NULL }, { "FloorMod", "x y", divide_whole, E, 'f', "rest" },
  { "RemainderTensorTensor", "x y", divide_whole, E, 'f', "rest" }, { "RemainderTensorScalar", "x y", divide_whole, E, 'f', "rest" },
  { "ScalarFloorDiv", "x y", divide_whole, E, 'f', NULL }, { "ScalarMod", "x y", divide_whole, E, 'f', "rest" },
  { "TruncateDiv", "x y", divide_whole, E, 't', NULL }, { "TruncateMod", "x y", divide_whole, E, 't', "rest" },
  { "Mod", "x y", divide_whole, E, 't', "rest" }, C ("Greater", "GT"), C ("GreaterEqual", "GE"), C ("Less", "LT"),
  C ("LessEqual", "LE"), C ("Equal", "EQ"), C ("NotEqual", "NE"), C ("GreaterEqualScalar", "GE"), C ("GreaterScalar", "GT"),
  C ("LessScalar", "LT"), C ("EqScalar", "EQ"), C ("NeScalar", "NE"), C ("ScalarGt", "GT"), C ("ScalarGe", "GE"), C ("ScalarLt", "LT"),
  C ("ScalarLe", "LE"), C ("ScalarEq", "EQ"), C ("scalar_gt", "GT"), C ("scalar_ge", "GE"), C ("scalar_lt", "LT"),
  C ("scalar_le", "LE"), C ("scalar_eq", "EQ"), { "LogicalAnd", "x y", logical, E, GANTRY_OP_AND, NULL },
  { "LogicalOr", "x y", logical, E, GANTRY_OP_OR, NULL }, { "LogicalXor", "x y", logical, E, GANTRY_OP_XOR, NULL },
  { "LogicalNot", "x", logical_not, E, 0, NULL }, { "SquaredDifference", "x y", binary_simple, E, '2', NULL },
  { "Xlogy", "x y", binary_simple, E, 'l', NULL }, { "Xdivy", "x y", binary_simple, E, 'd', NULL },
  { "Hypot", "x y", binary_simple, E, 'h', NULL }, { "Select", "condition x y", choose, E, 0, NULL },
  { "Switch", "condition x y", choose, E, 0, NULL }, { "Where", "condition x y", choose, E, 0, NULL },
  { "MaskedFill", "x mask value", masked_fill, E, 0, NULL }, { "MaskedFillScalar", "x mask value", masked_fill, E, 0, NULL },
  { "ClampScalar", "x min max", clamp, E, 0, NULL }, { "ClampTensor", "x min max", clamp, E, 0, NULL },
  { "ClipByValue", "x min max", clamp, E, 0, NULL }, { "AddN", "x", add_all, E, 0, NULL },
  { "AccumulateNV2", "x", add_all, E, 0, NULL }, { "Lerp", "start end weight", lerp, E, 0, NULL },
  { "LerpScalar", "start end weight", lerp, E, 0, NULL }, { "Addcmul", "input x1 x2 value", add_combined, E, GANTRY_OP_MULTIPLY, NULL },
  { "Addcdiv", "input x1 x2 value", add_combined, E, GANTRY_OP_DIVIDE, NULL },
  { NULL },
};
/* clang-format on */
