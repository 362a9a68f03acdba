/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operations: arithmetic, comparisons, logic, choices. A Python number is promoted as torch promotes it: it
 * changes the kind (bool, integer, floating point) of a tensor's element type, never its width. */
#include "core/frontends/torch/lower-words-private.h"

/* 0 bool, 1 integer, 2 floating point */
static guint
kind_of (GantryElementType element)
{
  return gantry_element_is_float (element) ? 2 : gantry_element_is_integer (element) ? 1 : 0;
}

/* Of two tensors' types the one of the higher kind; of one kind that of the tensor with dimensions, else the wider. */
static GantryElementType
promote (AtenLower *l, guint32 x, guint32 y)
{
  GantryElementType a = gantry_aten_element (l, x), b = gantry_aten_element (l, y);
  gboolean scalar_a = gantry_aten_rank (l, x) == 0, scalar_b = gantry_aten_rank (l, y) == 0;

  if (a == b)
    return a;
  if (kind_of (a) != kind_of (b))
    return kind_of (a) > kind_of (b) ? a : b;
  if (scalar_a != scalar_b)
    return scalar_a ? b : a;
  if ((a == GANTRY_F16 && b == GANTRY_BF16) || (a == GANTRY_BF16 && b == GANTRY_F16))
    return GANTRY_F32;
  if (gantry_element_size (a) == gantry_element_size (b))
    return gantry_element_is_signed (a) ? a : b;
  return gantry_element_size (a) > gantry_element_size (b) ? a : b;
}

/* The tensor or number of that name, in @element; where that is NONE, in what it is promoted to beside @beside. */
static guint32
value_of (AtenLower *l, const char *name, GantryElementType element, guint32 beside)
{
  guint32 id = gantry_aten_in (l, name);
  const GantryAttr *attr = gantry_aten_argument (l, name);

  if (id != 0)
    return element != GANTRY_ELEMENT_NONE ? gantry_builder_convert (l->b, id, element) : id;
  if (attr == NULL || (attr->kind != GANTRY_ATTR_INT && attr->kind != GANTRY_ATTR_FLOAT))
    {
      gantry_aten_refuse (l, "argument '%s' is missing, or neither tensor nor number", name);
      return 0;
    }
  if (element == GANTRY_ELEMENT_NONE)
    {
      element = gantry_aten_element (l, beside);
      if (attr->kind == GANTRY_ATTR_FLOAT && kind_of (element) < 2)
        element = GANTRY_F32;
      else if (kind_of (element) < 1)
        element = GANTRY_I64;
    }
  if (attr->kind == GANTRY_ATTR_INT && kind_of (element) == 1)
    return gantry_builder_int_scalar (l->b, element, attr->i);
  return gantry_builder_scalar (l->b, element, gantry_aten_number (l, name, 0));
}

/* Both operands in the element type that they are computed in. */
static gboolean
operands (AtenLower *l, guint32 *x, guint32 *y)
{
  GantryElementType element;

  if (gantry_aten_in (l, "self") != 0)
    {
      *x = gantry_aten_in (l, "self");
      *y = value_of (l, "other", GANTRY_ELEMENT_NONE, *x);
    }
  else
    {
      *y = gantry_aten_need (l, "other");
      *x = value_of (l, "self", GANTRY_ELEMENT_NONE, *y);
    }
  if (*x == 0 || *y == 0)
    return FALSE;
  element = promote (l, *x, *y);
  *x = gantry_builder_convert (l->b, *x, element);
  *y = gantry_builder_convert (l->b, *y, element);
  return *x != 0 && *y != 0;
}

/* In the element type of the result. */
static guint32
self (AtenLower *l)
{
  return gantry_builder_convert (l->b, gantry_aten_need (l, gantry_aten_in (l, "self") != 0 ? "self" : "input"), gantry_aten_result_element (l));
}

static void
unary (AtenLower *l)
{
  l->out[0] = gantry_builder_unary (l->b, (GantryOp) l->rule->arg, self (l));
}

static void
invert (AtenLower *l)
{
  l->out[0] = UNARY (NOT, gantry_aten_need (l, "self"));
}

/* Whether the operand, as it is, is finite, infinite or no number; every whole number is finite. text: which infinity */
static void
test (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self");

  if (!gantry_element_is_float (gantry_aten_element (l, x)))
    l->out[0] = gantry_aten_splat (l, gantry_aten_declared (l, 0), l->rule->arg == GANTRY_OP_IS_FINITE);
  else if (l->rule->text != NULL)
    l->out[0] = gantry_builder_compare (l->b, "EQ", l->rule->arg == GANTRY_OP_ABS ? UNARY (ABS, x) : x, LIKE (x, *l->rule->text == '-' ? -INFINITY : INFINITY));
  else
    l->out[0] = gantry_builder_unary (l->b, (GantryOp) l->rule->arg, x);
}

/* What is no number has none. */
static void
sign (AtenLower *l)
{
  guint32 x = self (l), y = UNARY (SIGN, x);

  l->out[0] = gantry_element_is_float (gantry_aten_element (l, x)) ? gantry_builder_select (l->b, UNARY (IS_NAN, x), LIKE (x, 0), y) : y;
}

/* To the nearest multiple of 10^-decimals, half to even. */
static void
round_rule (AtenLower *l)
{
  gint64 decimals = gantry_aten_int (l, "decimals", 0);
  guint32 x = self (l), unit = LIKE (x, pow (10, (double) ABS (decimals)));

  if (decimals == 0)
    l->out[0] = UNARY (ROUND_NEAREST_EVEN, x);
  else if (decimals > 0)
    l->out[0] = BINARY (DIVIDE, UNARY (ROUND_NEAREST_EVEN, BINARY (MULTIPLY, x, unit)), unit);
  else
    l->out[0] = BINARY (MULTIPLY, UNARY (ROUND_NEAREST_EVEN, BINARY (DIVIDE, x, unit)), unit);
}

static void
logical_not (AtenLower *l)
{
  l->out[0] = UNARY (NOT, gantry_builder_convert (l->b, gantry_aten_need (l, "self"), GANTRY_BOOL));
}

/* Of bools a sum is "or", a product "and"; without a sign no bits of it are shifted in. */
static GantryOp
operation_for (GantryOp op, GantryElementType element)
{
  if (element == GANTRY_BOOL && op == GANTRY_OP_ADD)
    return GANTRY_OP_OR;
  if (element == GANTRY_BOOL && op == GANTRY_OP_MULTIPLY)
    return GANTRY_OP_AND;
  if (op == GANTRY_OP_SHIFT_RIGHT_ARITHMETIC && !gantry_element_is_signed (element))
    return GANTRY_OP_SHIFT_RIGHT_LOGICAL;
  return op;
}

static void
arithmetic (AtenLower *l)
{
  GantryElementType element = gantry_aten_result_element (l);
  guint32 x = value_of (l, "self", element, 0), y = value_of (l, "other", element, 0), z;
  gboolean reversed = l->rule->text != NULL;

  z = reversed ? x : y;
  if (gantry_aten_has (l, "alpha") && element != GANTRY_BOOL)
    z = gantry_builder_scale (l->b, z, gantry_aten_number (l, "alpha", 1));
  l->out[0] = gantry_builder_binary_broadcast (l->b, operation_for ((GantryOp) l->rule->arg, element), reversed ? y : x, z);
}

/* Whether a rest is left whose sign is not the divisor's. */
static guint32
rest_is_wrong (AtenLower *l, guint32 rest, guint32 y)
{
  guint32 zero = LIKE (rest, 0);

  return BINARY (AND, gantry_builder_compare (l->b, "NE", rest, zero),
                 gantry_builder_compare (l->b, "NE", gantry_builder_compare (l->b, "LT", rest, zero), gantry_builder_compare (l->b, "LT", y, LIKE (y, 0))));
}

/* floor (x / y): the quotient towards zero, less one where the rest is wrong. Of floats the rest is taken off first, as Python does it,
 * since the quotient may be rounded up to a whole number; what is left is one but for rounding. */
static guint32
floor_divide_of (AtenLower *l, guint32 x, guint32 y)
{
  gboolean is_float = gantry_element_is_float (gantry_aten_element (l, x));
  guint32 rest = BINARY (REMAINDER, x, y), quotient = BINARY (DIVIDE, is_float ? BINARY (SUBTRACT, x, rest) : x, y);

  quotient = BINARY (SUBTRACT, quotient, gantry_builder_convert (l->b, rest_is_wrong (l, rest, y), gantry_aten_element (l, x)));
  if (!is_float)
    return quotient;
  return gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", y, LIKE (y, 0)), BINARY (DIVIDE, x, y), UNARY (ROUND_NEAREST_EVEN, quotient));
}

static guint32
round_to_zero (AtenLower *l, guint32 x)
{
  if (!gantry_element_is_float (gantry_aten_element (l, x)))
    return x;
  return gantry_builder_select (l->b, gantry_builder_compare (l->b, "LT", x, gantry_builder_like (l->b, x, 0)), UNARY (CEIL, x), UNARY (FLOOR, x));
}

static void
trunc_rule (AtenLower *l)
{
  l->out[0] = round_to_zero (l, self (l));
}

static void
divide (AtenLower *l)
{
  const char *mode = gantry_aten_string (l, "rounding_mode", l->rule->text != NULL ? l->rule->text : "");
  GantryElementType element = gantry_aten_result_element (l);
  guint32 x, y;

  if (*mode == '\0')
    l->out[0] = BINARY (DIVIDE, value_of (l, "self", element, 0), value_of (l, "other", element, 0));
  else if (operands (l, &x, &y))
    l->out[0] = strcmp (mode, "floor") == 0 ? floor_divide_of (l, x, y) : round_to_zero (l, BINARY (DIVIDE, x, y));
}

/* The sign of the divisor. */
static void
remainder_rule (AtenLower *l)
{
  guint32 x, y, rest;

  if (!operands (l, &x, &y))
    return;
  rest = BINARY (REMAINDER, x, y);
  l->out[0] = gantry_builder_select (l->b, rest_is_wrong (l, rest, y), BINARY (ADD, rest, y), rest);
}

static void
power (AtenLower *l)
{
  GantryElementType element = gantry_aten_result_element (l);
  guint32 x = value_of (l, "self", element, 0);
  double exponent = gantry_aten_number (l, "exponent", NAN);

  if (exponent == 2)
    l->out[0] = BINARY (MULTIPLY, x, x);
  else if (exponent == 3)
    l->out[0] = BINARY (MULTIPLY, BINARY (MULTIPLY, x, x), x);
  else if (exponent == 0.5)
    l->out[0] = UNARY (SQRT, x);
  else if (exponent == -0.5)
    l->out[0] = UNARY (RSQRT, x);
  else if (exponent == 1)
    l->out[0] = x;
  else
    l->out[0] = BINARY (POWER, x, value_of (l, "exponent", element, 0));
}

static void
compare (AtenLower *l)
{
  guint32 x, y;

  if (operands (l, &x, &y))
    l->out[0] = gantry_builder_compare (l->b, l->rule->text, x, y);
}

static void
logical (AtenLower *l)
{
  l->out[0] = gantry_builder_binary_broadcast (l->b, (GantryOp) l->rule->arg, value_of (l, "self", GANTRY_BOOL, 0), value_of (l, "other", GANTRY_BOOL, 0));
}

static void
where (AtenLower *l)
{
  GantryElementType element = gantry_aten_result_element (l);

  l->out[0] = gantry_builder_select (l->b, gantry_builder_convert (l->b, gantry_aten_need (l, "condition"), GANTRY_BOOL), value_of (l, "self", element, 0),
                                     value_of (l, "other", element, 0));
}

static void
masked_fill (AtenLower *l)
{
  guint32 x = self (l);

  l->out[0] = gantry_builder_select (l->b, gantry_aten_need (l, "mask"), value_of (l, "value", gantry_aten_element (l, x), 0), x);
}

static void
clamp (AtenLower *l)
{
  guint32 x = self (l);
  GantryElementType element = gantry_aten_element (l, x);

  if (gantry_aten_in (l, "min") != 0 || gantry_aten_has (l, "min"))
    x = BINARY (MAXIMUM, x, value_of (l, "min", element, 0));
  if (gantry_aten_in (l, "max") != 0 || gantry_aten_has (l, "max"))
    x = BINARY (MINIMUM, x, value_of (l, "max", element, 0));
  l->out[0] = x;
}

static void
reciprocal (AtenLower *l)
{
  guint32 x = self (l);

  l->out[0] = BINARY (DIVIDE, gantry_builder_like (l->b, x, 1), x);
}

static void
square (AtenLower *l)
{
  guint32 x = self (l);

  l->out[0] = BINARY (MULTIPLY, x, x);
}

/* log (x) / log (base) */
static void
logarithm (AtenLower *l)
{
  l->out[0] = gantry_builder_scale (l->b, UNARY (LOG, self (l)), 1 / log (l->rule->arg));
}

static void
exp2_rule (AtenLower *l)
{
  l->out[0] = UNARY (EXPONENTIAL, gantry_builder_scale (l->b, self (l), log (2)));
}

/* self + value * tensor1 * tensor2, or / */
static void
addc (AtenLower *l)
{
  GantryElementType element = gantry_aten_result_element (l);
  guint32 product = gantry_builder_binary_broadcast (l->b, (GantryOp) l->rule->arg, value_of (l, "tensor1", element, 0), value_of (l, "tensor2", element, 0));

  l->out[0] = BINARY (ADD, self (l), gantry_builder_scale (l->b, product, gantry_aten_number (l, "value", 1)));
}

static void
lerp (AtenLower *l)
{
  GantryElementType element = gantry_aten_result_element (l);
  guint32 x = self (l), end = value_of (l, "end", element, 0);

  l->out[0] = BINARY (ADD, x, BINARY (MULTIPLY, value_of (l, "weight", element, 0), BINARY (SUBTRACT, end, x)));
}

/* clang-format off */
#define OP(name, function, arg) { name, function, GANTRY_CLASS_ELEMENTWISE, GANTRY_OP_##arg, NULL }
#define TEXT(name, function, text) { name, function, GANTRY_CLASS_ELEMENTWISE, 0, text }

const AtenRule gantry_aten_elementwise_rules[] = {
  OP ("abs", unary, ABS), OP ("neg", unary, NEGATE), OP ("sign", sign, SIGN), OP ("sgn", sign, SIGN), OP ("exp", unary, EXPONENTIAL),
  OP ("expm1", unary, EXPONENTIAL_MINUS_ONE), OP ("log", unary, LOG), OP ("log1p", unary, LOG_PLUS_ONE), OP ("sqrt", unary, SQRT),
  OP ("rsqrt", unary, RSQRT), OP ("sin", unary, SINE), OP ("cos", unary, COSINE), OP ("tan", unary, TAN), OP ("asin", unary, ASIN),
  OP ("acos", unary, ACOS), OP ("atan", unary, ATAN), OP ("sinh", unary, SINH), OP ("cosh", unary, COSH), OP ("asinh", unary, ASINH),
  OP ("acosh", unary, ACOSH), OP ("atanh", unary, ATANH), OP ("erf", unary, ERF), OP ("floor", unary, FLOOR), OP ("ceil", unary, CEIL),
  OP ("round", round_rule, ROUND_NEAREST_EVEN), OP ("tanh", unary, TANH), OP ("sigmoid", unary, LOGISTIC), OP ("special_expit", unary, LOGISTIC),
  OP ("bitwise_not", invert, NOT), OP ("__invert__", invert, NOT), OP ("isnan", test, IS_NAN), OP ("isfinite", test, IS_FINITE),
  { "isinf", test, GANTRY_CLASS_ELEMENTWISE, GANTRY_OP_ABS, "both" }, TEXT ("isposinf", test, "+"), TEXT ("isneginf", test, "-"),
  OP ("logical_not", logical_not, NOT),
  OP ("add", arithmetic, ADD), OP ("sub", arithmetic, SUBTRACT), OP ("mul", arithmetic, MULTIPLY), OP ("multiply", arithmetic, MULTIPLY),
  OP ("subtract", arithmetic, SUBTRACT),
  { "rsub", arithmetic, GANTRY_CLASS_ELEMENTWISE, GANTRY_OP_SUBTRACT, "reversed" },
  OP ("maximum", arithmetic, MAXIMUM), OP ("minimum", arithmetic, MINIMUM), OP ("atan2", arithmetic, ATAN2), OP ("fmod", arithmetic, REMAINDER),
  OP ("bitwise_and", arithmetic, AND), OP ("bitwise_or", arithmetic, OR), OP ("bitwise_xor", arithmetic, XOR),
  OP ("__and__", arithmetic, AND), OP ("__or__", arithmetic, OR), OP ("__xor__", arithmetic, XOR),
  OP ("__iand__", arithmetic, AND), OP ("__ior__", arithmetic, OR), OP ("__ixor__", arithmetic, XOR),
  OP ("__lshift__", arithmetic, SHIFT_LEFT), OP ("__rshift__", arithmetic, SHIFT_RIGHT_ARITHMETIC),
  OP ("bitwise_left_shift", arithmetic, SHIFT_LEFT), OP ("bitwise_right_shift", arithmetic, SHIFT_RIGHT_ARITHMETIC),
  OP ("__lshift__", arithmetic, SHIFT_LEFT), OP ("__rshift__", arithmetic, SHIFT_RIGHT_ARITHMETIC),
  OP ("div", divide, DIVIDE), OP ("divide", divide, DIVIDE), OP ("true_divide", divide, DIVIDE), TEXT ("floor_divide", divide, "floor"),
  OP ("remainder", remainder_rule, REMAINDER), OP ("pow", power, POWER), OP ("trunc", trunc_rule, FLOOR), OP ("fix", trunc_rule, FLOOR),
  TEXT ("eq", compare, "EQ"), TEXT ("ne", compare, "NE"), TEXT ("lt", compare, "LT"), TEXT ("le", compare, "LE"),
  TEXT ("gt", compare, "GT"), TEXT ("ge", compare, "GE"),
  OP ("logical_and", logical, AND), OP ("logical_or", logical, OR), OP ("logical_xor", logical, XOR),
  OP ("where", where, SELECT), OP ("masked_fill", masked_fill, SELECT), OP ("clamp", clamp, CLAMP), OP ("clip", clamp, CLAMP),
  OP ("clamp_min", clamp, CLAMP), OP ("clamp_max", clamp, CLAMP), OP ("reciprocal", reciprocal, DIVIDE), OP ("square", square, MULTIPLY),
  { "log2", logarithm, GANTRY_CLASS_ELEMENTWISE, 2, NULL }, { "log10", logarithm, GANTRY_CLASS_ELEMENTWISE, 10, NULL },
  OP ("exp2", exp2_rule, EXPONENTIAL), OP ("addcmul", addc, MULTIPLY), OP ("addcdiv", addc, DIVIDE), OP ("lerp", lerp, ADD),
  { NULL },
};
/* clang-format on */
