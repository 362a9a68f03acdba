/* SPDX-License-Identifier: Apache-2.0 */
/* Writing ONNX: elementwise operations. One table says which operation of ONNX does it and for which elements it is
 * specified; others are computed in the next wider ones and converted back, which is what core operations do to f16 and
 * bf16 anyway. What ONNX lacks is written by what it means. */
#include "core/frontends/onnx/export-private.h"
#include <math.h>

#define ELEMENT(value) ((GantryElementType) (value)->type->element)
#define BIT(element) (1u << GANTRY_##element)

enum
{
  BOOLS = BIT (BOOL),
  SIGNED = BIT (I8) | BIT (I16) | BIT (I32) | BIT (I64),
  UNSIGNED = BIT (U8) | BIT (U16) | BIT (U32) | BIT (U64),
  INTEGERS = SIGNED | UNSIGNED,
  FLOATS = BIT (F16) | BIT (F32) | BIT (F64),
  FLOATS_B = FLOATS | BIT (BF16),
  NUMBERS = INTEGERS | FLOATS_B,
};

static const struct
{
  guint16 op;
  const char *name;
  guint elements;
} table[] = {
  { GANTRY_OP_ABS, "Abs", NUMBERS },
  { GANTRY_OP_NEGATE, "Neg", SIGNED | FLOATS_B },
  { GANTRY_OP_SIGN, "Sign", NUMBERS },
  { GANTRY_OP_EXPONENTIAL, "Exp", FLOATS_B },
  { GANTRY_OP_LOG, "Log", FLOATS_B },
  { GANTRY_OP_LOGISTIC, "Sigmoid", FLOATS_B },
  { GANTRY_OP_TANH, "Tanh", FLOATS_B },
  { GANTRY_OP_SQRT, "Sqrt", FLOATS_B },
  { GANTRY_OP_SINE, "Sin", FLOATS },
  { GANTRY_OP_COSINE, "Cos", FLOATS },
  { GANTRY_OP_TAN, "Tan", FLOATS },
  { GANTRY_OP_ASIN, "Asin", FLOATS },
  { GANTRY_OP_ACOS, "Acos", FLOATS },
  { GANTRY_OP_ATAN, "Atan", FLOATS },
  { GANTRY_OP_SINH, "Sinh", FLOATS },
  { GANTRY_OP_COSH, "Cosh", FLOATS },
  { GANTRY_OP_ASINH, "Asinh", FLOATS },
  { GANTRY_OP_ACOSH, "Acosh", FLOATS },
  { GANTRY_OP_ATANH, "Atanh", FLOATS },
  { GANTRY_OP_ERF, "Erf", FLOATS_B },
  { GANTRY_OP_FLOOR, "Floor", FLOATS_B },
  { GANTRY_OP_CEIL, "Ceil", FLOATS_B },
  { GANTRY_OP_ROUND_NEAREST_EVEN, "Round", FLOATS },
  { GANTRY_OP_ADD, "Add", NUMBERS },
  { GANTRY_OP_SUBTRACT, "Sub", NUMBERS },
  { GANTRY_OP_MULTIPLY, "Mul", NUMBERS },
  { GANTRY_OP_DIVIDE, "Div", NUMBERS },
  { GANTRY_OP_POWER, "Pow", BIT (I32) | BIT (I64) | FLOATS_B },
  { GANTRY_OP_MAXIMUM, "Max", NUMBERS },
  { GANTRY_OP_MINIMUM, "Min", NUMBERS },
};

/* What @element is computed in where @allowed lacks it; NONE where nothing holds it. */
static GantryElementType
widen (GantryElementType element, guint allowed)
{
  static const GantryElementType wider[] = { GANTRY_I32, GANTRY_I64, GANTRY_F32, GANTRY_F64 };

  if ((allowed >> element & 1) != 0)
    return element;
  for (guint i = gantry_element_is_float (element) ? 2 : 0; i < G_N_ELEMENTS (wider); i++)
    if ((allowed >> wider[i] & 1) != 0 && gantry_element_size (wider[i]) > gantry_element_size (element))
      return wider[i];
  return GANTRY_ELEMENT_NONE;
}

/* The type of the node in another element: operands may be narrower. */
static const GantryType *
result_in (GantryOnnxExport *e, GantryElementType element)
{
  const GantryType *type = gantry_node_type (e->module, e->node);

  return gantry_export_type (e, element, type->rank, type->dims);
}

static ExportValue *
by_table (GantryOnnxExport *e, const char *name, guint allowed, ExportValue **in, guint n)
{
  GantryElementType element = ELEMENT (in[0]), wide = widen (element, allowed);
  ExportNode node;

  if (wide == GANTRY_ELEMENT_NONE)
    {
      gantry_export_fail (e, "ONNX's %s takes no %s", name, gantry_element_name (element));
      return e->nobody;
    }
  for (guint i = 0; i < n; i++)
    in[i] = gantry_export_cast (e, in[i], wide);
  gantry_export_begin (e, &node, name);
  for (guint i = 0; i < n; i++)
    gantry_export_input (&node, in[i]);
  return gantry_export_cast (e, gantry_export_end (&node, result_in (e, wide)), element);
}

/* Shorthand of the formulas below: all operands have one element, a constant is a scalar of it. */
#define NUMBER(value) gantry_export_scalar (e, ELEMENT (x), value)
#define ADD(a, b) gantry_export_binary (e, "Add", a, b)
#define SUB(a, b) gantry_export_binary (e, "Sub", a, b)
#define MUL(a, b) gantry_export_binary (e, "Mul", a, b)
#define DIV(a, b) gantry_export_binary (e, "Div", a, b)
#define UNARY(name, a) gantry_export_op (e, name, (a)->type, 1, a)
#define LESS(a, b) gantry_export_compare (e, "Less", a, b)
#define EQUAL(a, b) gantry_export_compare (e, "Equal", a, b)
#define SELECT(p, a, b) gantry_export_select (e, p, a, b)

/* exp (x) - 1 = 2 t / (1 - t), t = tanh (x / 2): keeps the digits of a small x. */
static ExportValue *
exponential_minus_one (GantryOnnxExport *e, ExportValue *x)
{
  ExportValue *t = UNARY ("Tanh", MUL (x, NUMBER (0.5)));
  ExportValue *near = DIV (MUL (t, NUMBER (2)), SUB (NUMBER (1), t));

  return SELECT (LESS (UNARY ("Abs", x), NUMBER (0.5)), near, SUB (UNARY ("Exp", x), NUMBER (1)));
}

/* log (1 + x) = x log (u) / (u - 1), u = 1 + x rounded, which takes the rounding of u out again (W. Kahan). */
static ExportValue *
log_plus_one (GantryOnnxExport *e, ExportValue *x)
{
  ExportValue *u = ADD (x, NUMBER (1)), *low = SUB (u, NUMBER (1)), *log = UNARY ("Log", u);
  ExportValue *near = SELECT (EQUAL (low, NUMBER (0)), x, DIV (MUL (x, log), low));

  return SELECT (LESS (UNARY ("Abs", x), NUMBER (0.5)), near, log);
}

static ExportValue *
cube_root (GantryOnnxExport *e, ExportValue *x)
{
  return MUL (UNARY ("Sign", x), gantry_export_binary (e, "Pow", UNARY ("Abs", x), NUMBER (1.0 / 3)));
}

/* Halves away from zero. */
static ExportValue *
round_away (GantryOnnxExport *e, ExportValue *x)
{
  ExportValue *size = UNARY ("Abs", x), *whole = UNARY ("Floor", size);
  ExportValue *up = gantry_export_compare (e, "GreaterOrEqual", SUB (size, whole), NUMBER (0.5));

  return MUL (UNARY ("Sign", x), SELECT (up, ADD (whole, NUMBER (1)), whole));
}

static ExportValue *
arc_tangent_of_two (GantryOnnxExport *e, ExportValue *y, ExportValue *x)
{
  ExportValue *angle = UNARY ("Atan", DIV (y, x));
  ExportValue *turn = SELECT (LESS (y, NUMBER (0)), NUMBER (-G_PI), NUMBER (G_PI));
  ExportValue *upright = MUL (UNARY ("Sign", y), NUMBER (G_PI / 2));

  return SELECT (EQUAL (x, NUMBER (0)), upright, SELECT (LESS (x, NUMBER (0)), ADD (angle, turn), angle));
}

static ExportValue *
formula (GantryOnnxExport *e, ExportValue **in)
{
  ExportValue *x = in[0];

  switch (e->node->op)
    {
    case GANTRY_OP_EXPONENTIAL_MINUS_ONE: return exponential_minus_one (e, x);
    case GANTRY_OP_LOG_PLUS_ONE: return log_plus_one (e, x);
    case GANTRY_OP_RSQRT: return UNARY ("Reciprocal", UNARY ("Sqrt", x));
    case GANTRY_OP_CBRT: return cube_root (e, x);
    case GANTRY_OP_ROUND_NEAREST_AFZ: return round_away (e, x);
    case GANTRY_OP_ATAN2: return arc_tangent_of_two (e, x, in[1]);
    default: return e->nobody;
    }
}

/* f16 and bf16 in f32: the formulas round once. */
static ExportValue *
by_formula (GantryOnnxExport *e, ExportValue **in, guint n)
{
  GantryElementType element = ELEMENT (in[0]);

  for (guint i = 0; i < n; i++)
    in[i] = gantry_export_cast (e, in[i], element == GANTRY_F64 ? GANTRY_F64 : GANTRY_F32);
  return gantry_export_cast (e, formula (e, in), element);
}

/* ONNX gives the remainder the sign of the divisor but where it is told otherwise. */
static ExportValue *
remainder_of (GantryOnnxExport *e, ExportValue **in)
{
  ExportNode node;

  gantry_export_begin (e, &node, "Mod");
  gantry_export_input (&node, in[0]);
  gantry_export_input (&node, in[1]);
  gantry_export_int (&node, "fmod", 1);
  return gantry_export_end (&node, result_in (e, ELEMENT (in[0])));
}

static ExportValue *
is_finite (GantryOnnxExport *e, ExportValue *x)
{
  return LESS (UNARY ("Abs", x), NUMBER (INFINITY));
}

static ExportValue *
logic (GantryOnnxExport *e, ExportValue **in, guint n, const char *name, const char *bitwise)
{
  const char *operation = ELEMENT (in[0]) == GANTRY_BOOL ? name : bitwise;

  return n == 1 ? UNARY (operation, in[0]) : gantry_export_binary (e, operation, in[0], in[1]);
}

static GantryElementType
unsigned_of (GantryElementType element)
{
  switch (element)
    {
    case GANTRY_I8: return GANTRY_U8;
    case GANTRY_I16: return GANTRY_U16;
    case GANTRY_I32: return GANTRY_U32;
    case GANTRY_I64: return GANTRY_U64;
    default: return element;
    }
}

/* @x and @by: unsigned. onnxruntime has no operations on those of 16 bits: they are among 32, of which a shift to the left keeps 16. */
static ExportValue *
bit_shift (GantryOnnxExport *e, ExportValue *x, ExportValue *by, const char *direction)
{
  GantryElementType element = ELEMENT (x), in = element == GANTRY_U16 ? GANTRY_U32 : element;
  ExportValue *most = gantry_export_integer (e, in, 8 * gantry_element_size (element) - 1), *shifted;
  ExportNode node;

  x = gantry_export_cast (e, x, in);
  by = gantry_export_cast (e, by, in);
  gantry_export_begin (e, &node, "BitShift");
  gantry_export_input (&node, x);
  gantry_export_input (&node, gantry_export_binary (e, "Min", by, most));
  gantry_export_string (&node, "direction", direction);
  shifted = gantry_export_end (&node, result_in (e, in));
  if (in != element)
    shifted = gantry_export_binary (e, "BitwiseAnd", shifted, gantry_export_integer (e, in, G_MAXUINT16));
  return gantry_export_cast (e, SELECT (gantry_export_compare (e, "Greater", by, most), NUMBER (0), shifted), element);
}

/* The largest number of so many bits whose first one, the sign of an arithmetic shift, is not set */
static gint64
largest_signed (GantryElementType element)
{
  return G_MAXINT64 >> (64 - 8 * gantry_element_size (element));
}

/* ONNX shifts unsigned numbers, and by less than their width. The sign is shifted in where all bits are turned over. */
static ExportValue *
shift (GantryOnnxExport *e, ExportValue **in)
{
  GantryElementType element = ELEMENT (in[0]), bits = unsigned_of (element);
  ExportValue *x = in[0], *by = gantry_export_cast (e, in[1], bits), *negative = NULL, *value;

  if (e->node->op == GANTRY_OP_SHIFT_RIGHT_ARITHMETIC)
    {
      negative = bits != element ? LESS (x, NUMBER (0)) : gantry_export_compare (e, "Greater", x, gantry_export_integer (e, element, largest_signed (element)));
      x = SELECT (negative, UNARY ("BitwiseNot", x), x);
    }
  value = bit_shift (e, gantry_export_cast (e, x, bits), by, e->node->op == GANTRY_OP_SHIFT_LEFT ? "LEFT" : "RIGHT");
  value = gantry_export_cast (e, value, element);
  return negative != NULL ? SELECT (negative, UNARY ("BitwiseNot", value), value) : value;
}

static ExportValue *
compare (GantryOnnxExport *e, ExportValue **in)
{
  static const struct
  {
    const char *direction, *name;
  } names[] = {
    { "EQ", "Equal" }, { "NE", "Equal" }, { "LT", "Less" }, { "LE", "LessOrEqual" }, { "GT", "Greater" }, { "GE", "GreaterOrEqual" },
  };
  const char *direction = gantry_attrs_string (e->context, e->node->attrs, "comparison_direction", "EQ");
  const char *name = "Equal";
  ExportValue *result;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i].direction, direction))
      name = names[i].name;
  if (ELEMENT (in[0]) == GANTRY_BOOL && !g_str_equal (name, "Equal"))
    for (guint i = 0; i < 2; i++)
      in[i] = gantry_export_cast (e, in[i], GANTRY_I32);
  result = gantry_export_compare (e, name, in[0], in[1]);
  return g_str_equal (direction, "NE") ? UNARY ("Not", result) : result;
}

static ExportValue *
clamp (GantryOnnxExport *e, ExportValue **in)
{
  return gantry_export_binary (e, "Min", gantry_export_binary (e, "Max", in[1], in[0]), in[2]);
}

/* ONNX broadcasts by itself, as long as one operand has the whole shape. */
static void
use_narrow (ExportValue **in, guint n)
{
  gboolean whole = FALSE;

  for (guint i = 0; i < n; i++)
    whole = whole || in[i]->narrow == NULL;
  for (guint i = 0; i < n && whole; i++)
    if (in[i]->narrow != NULL)
      in[i] = in[i]->narrow;
}

ExportValue *
gantry_export_elementwise (GantryOnnxExport *e, ExportValue **in, guint n)
{
  ExportValue *x;

  use_narrow (in, n);
  x = in[0];
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (table[i].op == e->node->op)
      return by_table (e, table[i].name, table[i].elements, in, n);
  switch (e->node->op)
    {
    case GANTRY_OP_REMAINDER: return remainder_of (e, in);
    case GANTRY_OP_IS_FINITE: return is_finite (e, x);
    case GANTRY_OP_IS_NAN: return gantry_export_op (e, "IsNaN", gantry_export_with (e, x, GANTRY_BOOL), 1, x);
    case GANTRY_OP_NOT: return logic (e, in, 1, "Not", "BitwiseNot");
    case GANTRY_OP_AND: return logic (e, in, 2, "And", "BitwiseAnd");
    case GANTRY_OP_OR: return logic (e, in, 2, "Or", "BitwiseOr");
    case GANTRY_OP_XOR: return logic (e, in, 2, "Xor", "BitwiseXor");
    case GANTRY_OP_CONVERT: return gantry_export_cast (e, x, (GantryElementType) gantry_node_type (e->module, e->node)->element);
    case GANTRY_OP_BITCAST_CONVERT: return gantry_export_bitcast (e, x);
    case GANTRY_OP_SHIFT_LEFT:
    case GANTRY_OP_SHIFT_RIGHT_ARITHMETIC:
    case GANTRY_OP_SHIFT_RIGHT_LOGICAL: return shift (e, in);
    case GANTRY_OP_COMPARE: return compare (e, in);
    case GANTRY_OP_SELECT: return SELECT (in[0], in[1], in[2]);
    case GANTRY_OP_CLAMP: return clamp (e, in);
    case GANTRY_OP_POPCNT:
    case GANTRY_OP_COUNT_LEADING_ZEROS: return gantry_export_count_bits (e, x);
    default: return by_formula (e, in, n);
    }
}
