/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX operations that compute each element from the elements at the same place: arithmetic,
 * comparison, logic, bits, conversion. Operands broadcast by the rule of numpy; before version 7 by
 * the attributes `broadcast` and `axis`. */
#include "core/frontends/onnx/lower-words-private.h"

static void
unary (GantryLower *l)
{
  l->out[0] = gantry_lower_unary (l, (GantryOp) l->rule->arg, gantry_lower_operand (l, 0));
}

static void
identity (GantryLower *l)
{
  l->out[0] = gantry_lower_operand (l, 0);
  if (l->out[0] == 0)
    gantry_lower_invalid (l, "operand 0 is missing");
}

static void
reciprocal (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);

  l->out[0] = DIVIDE (gantry_builder_like (l->b, x, 1), x);
}

/* Before version 7 the second operand's dimensions began at `axis` of the first one's. */
static guint32
legacy_operand (GantryLower *l, guint32 x, guint32 y)
{
  guint rank = gantry_lower_rank (l, x);
  guint n = gantry_lower_rank (l, y);
  gint64 axis = gantry_lower_int (l, "axis", (gint64) rank - n);
  GantryDim dims[GANTRY_MAX_RANK];

  if (l->opset >= 7 || gantry_lower_int (l, "broadcast", 0) == 0 || !gantry_lower_has_attr (l, "axis"))
    return y;
  if (axis < 0)
    axis += rank;
  if (axis < 0 || axis > rank || axis + n > rank)
    {
      gantry_lower_invalid (l, "axis %" G_GINT64_FORMAT " does not fit", axis);
      return 0;
    }
  for (guint i = 0; i < rank; i++)
    dims[i] = i >= axis && i < axis + n ? gantry_lower_dim (l, y, i - axis) : 1;
  return gantry_builder_reshape (l->b, y, rank, dims);
}

/* Both operands of a broadcasting operation; FALSE when a dimension that broadcasting must know is
 * a symbol. */
static gboolean
broadcast_operands (GantryLower *l, guint32 *x, guint32 *y)
{
  const GantryType *a, *b;

  *x = gantry_lower_operand (l, 0);
  *y = gantry_lower_operand (l, 1);
  if (*x == 0 || *y == 0)
    {
      gantry_lower_invalid (l, "operand %d is missing", *x == 0 ? 0 : 1);
      return FALSE;
    }
  *y = legacy_operand (l, *x, *y);
  a = gantry_lower_type (l, *x);
  b = gantry_lower_type (l, *y);
  if (a->rank == b->rank && memcmp (a->dims, b->dims, sizeof *a->dims * a->rank) == 0)
    return TRUE;
  return gantry_lower_require_static (l, *x) && gantry_lower_require_static (l, *y);
}

static void
binary (GantryLower *l)
{
  guint32 x, y;

  if (broadcast_operands (l, &x, &y))
    l->out[0] = gantry_builder_binary_broadcast (l->b, (GantryOp) l->rule->arg, x, y);
}

static void
comparison (GantryLower *l)
{
  guint32 x, y;

  if (broadcast_operands (l, &x, &y))
    l->out[0] = gantry_builder_compare (l->b, l->rule->text, x, y);
}

/* The result has the type of the base; a whole-number base with a fractional exponent goes through
 * f64. */
static void
power (GantryLower *l)
{
  guint32 x, y;
  GantryElementType element;
  gboolean float_exponent;
  gsize n;
  double *exponent;

  if (!broadcast_operands (l, &x, &y))
    return;
  element = gantry_lower_element (l, x);
  float_exponent = gantry_element_is_float (gantry_lower_element (l, y));
  exponent = gantry_lower_rank (l, y) <= gantry_lower_rank (l, x) ? gantry_lower_known_doubles (l, y, &n) : NULL;
  if (exponent != NULL && n == 1 && exponent[0] == 2)
    l->out[0] = gantry_builder_binary_broadcast (l->b, GANTRY_OP_MULTIPLY, x, x);
  else if (gantry_element_is_integer (element) && float_exponent)
    {
      x = gantry_builder_convert (l->b, x, GANTRY_F64);
      y = gantry_builder_convert (l->b, y, GANTRY_F64);
      l->out[0] = gantry_builder_convert (l->b, gantry_builder_binary_broadcast (l->b, GANTRY_OP_POWER, x, y), element);
    }
  else if (element == GANTRY_F32 && gantry_lower_element (l, y) == GANTRY_F64)
    {
      x = gantry_builder_convert (l->b, x, GANTRY_F64);
      l->out[0] = gantry_builder_convert (l->b, gantry_builder_binary_broadcast (l->b, GANTRY_OP_POWER, x, y), element);
    }
  else
    l->out[0] = gantry_builder_binary_broadcast (l->b, GANTRY_OP_POWER, x, gantry_builder_convert (l->b, y, element));
}

/* fmod takes the sign of the dividend; otherwise the sign of the divisor, as Python's %. */
static void
modulo (GantryLower *l)
{
  guint32 x, y, r, zero, wrong;

  if (!broadcast_operands (l, &x, &y))
    return;
  r = gantry_builder_binary_broadcast (l->b, GANTRY_OP_REMAINDER, x, y);
  if (gantry_lower_int (l, "fmod", 0) != 0
      || (gantry_element_is_integer (gantry_lower_element (l, x)) && !gantry_element_is_signed (gantry_lower_element (l, x))))
    {
      l->out[0] = r;
      return;
    }
  zero = gantry_builder_like (l->b, x, 0);
  wrong = gantry_builder_compare (l->b, "NE", gantry_builder_compare (l->b, "LT", r, zero), gantry_builder_compare (l->b, "LT", y, zero));
  wrong = gantry_builder_binary_broadcast (l->b, GANTRY_OP_AND, wrong, gantry_builder_compare (l->b, "NE", r, zero));
  l->out[0] = gantry_builder_select (l->b, wrong, ADD (r, y), r);
}

static void
bit_shift (GantryLower *l)
{
  const char *direction = gantry_lower_string (l, "direction", "");
  guint32 x, y;

  if (!broadcast_operands (l, &x, &y))
    return;
  if (strcmp (direction, "LEFT") == 0)
    l->out[0] = gantry_builder_binary_broadcast (l->b, GANTRY_OP_SHIFT_LEFT, x, y);
  else if (strcmp (direction, "RIGHT") == 0)
    l->out[0] = gantry_builder_binary_broadcast (
      l->b, gantry_element_is_signed (gantry_lower_element (l, x)) ? GANTRY_OP_SHIFT_RIGHT_ARITHMETIC : GANTRY_OP_SHIFT_RIGHT_LOGICAL, x, y);
  else
    gantry_lower_invalid (l, "direction '%s' is neither LEFT nor RIGHT", direction);
}

/* Sum, Min, Max and Mean of any number of operands. */
static void
variadic (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);

  for (guint i = 0; i < l->n_in; i++)
    if (l->in[i] == 0)
      {
        gantry_lower_invalid (l, "operand %u is missing", i);
        return;
      }
  for (guint i = 1; i < l->n_in && x != 0; i++)
    x = gantry_builder_binary_broadcast (l->b, (GantryOp) l->rule->arg, x, l->in[i]);
  if (strcmp (l->op, "Mean") == 0)
    x = DIVIDE (x, gantry_builder_like (l->b, x, l->n_in));
  l->out[0] = x;
}

/* Bounds are attributes before version 11 and optional operands from then on. */
static void
clip (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 low = gantry_lower_operand (l, 1);
  guint32 high = gantry_lower_operand (l, 2);

  if (gantry_lower_has_attr (l, "min"))
    low = gantry_builder_like (l->b, x, gantry_lower_float (l, "min", 0));
  if (gantry_lower_has_attr (l, "max"))
    high = gantry_builder_like (l->b, x, gantry_lower_float (l, "max", 0));
  if (low != 0)
    x = gantry_builder_binary_broadcast (l->b, GANTRY_OP_MAXIMUM, x, low);
  if (high != 0)
    x = gantry_builder_binary_broadcast (l->b, GANTRY_OP_MINIMUM, x, high);
  l->out[0] = x;
}

static void
where (GantryLower *l)
{
  guint32 condition = gantry_lower_operand (l, 0);
  guint32 x = gantry_lower_operand (l, 1);
  guint32 y = gantry_lower_operand (l, 2);

  if (condition == 0 || x == 0 || y == 0)
    gantry_lower_invalid (l, "an operand is missing");
  else
    l->out[0] = gantry_builder_select (l->b, condition, x, y);
}

static void
is_inf (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 positive = gantry_builder_compare (l->b, "EQ", x, gantry_builder_like (l->b, x, INFINITY));
  guint32 negative = gantry_builder_compare (l->b, "EQ", x, gantry_builder_like (l->b, x, -INFINITY));
  gboolean wants_positive = gantry_lower_int (l, "detect_positive", 1) != 0;
  gboolean wants_negative = gantry_lower_int (l, "detect_negative", 1) != 0;

  if (wants_positive && wants_negative)
    l->out[0] = gantry_builder_binary_broadcast (l->b, GANTRY_OP_OR, positive, negative);
  else if (wants_positive)
    l->out[0] = positive;
  else if (wants_negative)
    l->out[0] = negative;
  else
    l->out[0] = gantry_builder_binary_broadcast (l->b, GANTRY_OP_AND, positive, negative);
}

static GantryElementType
target_type (GantryLower *l, gint64 data_type)
{
  GantryElementType to = gantry_lower_data_type (data_type);

  if (to == GANTRY_ELEMENT_NONE)
    gantry_lower_fail (l, "element type %" G_GINT64_FORMAT " of the result is not compiled", data_type);
  return to;
}

static void
cast (GantryLower *l)
{
  GantryElementType to = target_type (l, gantry_lower_int (l, "to", 0));

  if (to != GANTRY_ELEMENT_NONE)
    l->out[0] = gantry_builder_convert (l->b, gantry_lower_operand (l, 0), to);
}

static void
cast_like (GantryLower *l)
{
  guint32 like = gantry_lower_operand (l, 1);

  if (like == 0)
    gantry_lower_invalid (l, "operand 1 is missing");
  else
    l->out[0] = gantry_builder_convert (l->b, gantry_lower_operand (l, 0), gantry_lower_element (l, like));
}

static void
bit_cast (GantryLower *l)
{
  GantryElementType to = target_type (l, gantry_lower_int (l, "to", 0));
  guint32 x = gantry_lower_operand (l, 0);
  GantryAttrList *attrs;

  if (to == GANTRY_ELEMENT_NONE)
    return;
  if (gantry_element_size (to) != gantry_element_size (gantry_lower_element (l, x)) || to == GANTRY_BOOL || gantry_lower_element (l, x) == GANTRY_BOOL)
    {
      gantry_lower_fail (l, "only between element types of the same width");
      return;
    }
  attrs = gantry_lower_attrs (l);
  gantry_attr_list_set_type (attrs, "to", gantry_context_scalar (l->context, to));
  l->out[0] = gantry_lower_add (l, GANTRY_OP_BITCAST_CONVERT, attrs, 1, x);
}

static void
binarizer (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 above = gantry_builder_compare (l->b, "GT", x, gantry_builder_like (l->b, x, gantry_lower_float (l, "threshold", 0)));

  l->out[0] = gantry_builder_convert (l->b, above, gantry_lower_element (l, x));
}

/* The old experimental operations of Windows ML's models: Y = scale * X + bias[c], and alpha * X +
 * beta. */
static void
image_scaler (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  gsize n;
  const double *bias = gantry_attrs_floats (l->context, l->node->attrs, "bias", &n);
  guint32 scaled = gantry_builder_scale (l->b, x, gantry_lower_float (l, "scale", 1));

  if (!gantry_lower_check_rank (l, 0, 4, 4))
    return;
  if (bias != NULL && (gint64) n == gantry_lower_dim (l, x, 1))
    scaled = ADD (scaled, gantry_builder_along (l->b, gantry_builder_floats (l->b, gantry_lower_element (l, x), bias, n), 4, 1));
  else if (bias != NULL)
    gantry_lower_invalid (l, "bias has %" G_GSIZE_FORMAT " values", n);
  l->out[0] = scaled;
}

static void
affine (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);

  x = gantry_builder_scale (l->b, x, gantry_lower_float (l, "alpha", 1));
  l->out[0] = gantry_builder_offset (l->b, x, gantry_lower_float (l, "beta", 0));
}

/* clang-format off */
#define UNARY_RULE(name, op) { name, unary, GANTRY_CLASS_ELEMENTWISE, GANTRY_LOWER_ANY_SHAPE, GANTRY_OP_##op, NULL }
#define BINARY_RULE(name, op) { name, binary, GANTRY_CLASS_ELEMENTWISE, GANTRY_LOWER_ANY_SHAPE, GANTRY_OP_##op, NULL }
#define COMPARISON(name, direction) { name, comparison, GANTRY_CLASS_ELEMENTWISE, GANTRY_LOWER_ANY_SHAPE, 0, direction }
#define VARIADIC(name, op) { name, variadic, GANTRY_CLASS_ELEMENTWISE, 0, GANTRY_OP_##op, NULL }
#define SHAPED(name, function) { name, function, GANTRY_CLASS_ELEMENTWISE, GANTRY_LOWER_ANY_SHAPE, 0, NULL }
#define OTHER(name, function) { name, function, GANTRY_CLASS_ELEMENTWISE, 0, 0, NULL }

const GantryLowerRule gantry_lower_elementwise_rules[] = {
  UNARY_RULE ("Abs", ABS), UNARY_RULE ("Neg", NEGATE), UNARY_RULE ("Sign", SIGN), UNARY_RULE ("Exp", EXPONENTIAL), UNARY_RULE ("Log", LOG),
  UNARY_RULE ("Sigmoid", LOGISTIC), UNARY_RULE ("Tanh", TANH), UNARY_RULE ("Sqrt", SQRT), UNARY_RULE ("Sin", SINE), UNARY_RULE ("Cos", COSINE),
  UNARY_RULE ("Tan", TAN), UNARY_RULE ("Asin", ASIN), UNARY_RULE ("Acos", ACOS), UNARY_RULE ("Atan", ATAN), UNARY_RULE ("Sinh", SINH),
  UNARY_RULE ("Cosh", COSH), UNARY_RULE ("Asinh", ASINH), UNARY_RULE ("Acosh", ACOSH), UNARY_RULE ("Atanh", ATANH), UNARY_RULE ("Erf", ERF),
  UNARY_RULE ("Floor", FLOOR), UNARY_RULE ("Ceil", CEIL), UNARY_RULE ("Round", ROUND_NEAREST_EVEN), UNARY_RULE ("IsNaN", IS_NAN),
  UNARY_RULE ("Not", NOT), UNARY_RULE ("BitwiseNot", NOT),
  BINARY_RULE ("Add", ADD), BINARY_RULE ("Sub", SUBTRACT), BINARY_RULE ("Mul", MULTIPLY), BINARY_RULE ("Div", DIVIDE),
  BINARY_RULE ("And", AND), BINARY_RULE ("Or", OR), BINARY_RULE ("Xor", XOR), BINARY_RULE ("BitwiseAnd", AND), BINARY_RULE ("BitwiseOr", OR),
  BINARY_RULE ("BitwiseXor", XOR),
  COMPARISON ("Equal", "EQ"), COMPARISON ("Less", "LT"), COMPARISON ("LessOrEqual", "LE"),
  COMPARISON ("Greater", "GT"), COMPARISON ("GreaterOrEqual", "GE"),
  VARIADIC ("Sum", ADD), VARIADIC ("Mean", ADD), VARIADIC ("Max", MAXIMUM), VARIADIC ("Min", MINIMUM),
  SHAPED ("Identity", identity), SHAPED ("Cast", cast), OTHER ("CastLike", cast_like), OTHER ("BitCast", bit_cast),
  OTHER ("Reciprocal", reciprocal), OTHER ("Pow", power), OTHER ("Mod", modulo), OTHER ("BitShift", bit_shift),
  OTHER ("Clip", clip), OTHER ("Where", where), OTHER ("IsInf", is_inf),
  OTHER ("ai.onnx.ml.Binarizer", binarizer), OTHER ("ImageScaler", image_scaler), OTHER ("Affine", affine),
  { NULL },
};
/* clang-format on */
