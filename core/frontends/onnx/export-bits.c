/* SPDX-License-Identifier: Apache-2.0 */
/* Writing ONNX: the bits of floating-point numbers, for which it has no operation. They are taken apart and put together by exact
 * arithmetic (IEEE 754, 3.4): multiplications by powers of two, and conversions of whole numbers that a mantissa holds. What a NaN
 * carries besides being one is lost, and its sign. */
#include "core/frontends/onnx/export-private.h"
#include <math.h>

#define ELEMENT(value) ((GantryElementType) (value)->type->element)

/* Parts of a format, and the elements that its arithmetic is done in: all of its numbers are numbers there. */
typedef struct
{
  gint64 width, mantissa, bias;
  GantryElementType in;
} Format;

static gboolean
format_of (GantryElementType element, Format *format)
{
  switch (element)
    {
    case GANTRY_F16: *format = (Format){ 16, 10, 15, GANTRY_F32 }; return TRUE;
    case GANTRY_BF16: *format = (Format){ 16, 7, 127, GANTRY_F32 }; return TRUE;
    case GANTRY_F32: *format = (Format){ 32, 23, 127, GANTRY_F32 }; return TRUE;
    case GANTRY_F64: *format = (Format){ 64, 52, 1023, GANTRY_F64 }; return TRUE;
    default: return FALSE;
    }
}

static gint64
power (gint64 exponent)
{
  return (gint64) 1 << exponent;
}

static ExportValue *
real (GantryOnnxExport *e, const Format *f, double value)
{
  return gantry_export_scalar (e, f->in, value);
}

static ExportValue *
whole (GantryOnnxExport *e, gint64 value)
{
  return gantry_export_integer (e, GANTRY_I64, value);
}

#define BINARY(name, x, y) gantry_export_binary (e, (name), (x), (y))
#define COMPARE(name, x, y) gantry_export_compare (e, (name), (x), (y))
#define SELECT(condition, x, y) gantry_export_select (e, (condition), (x), (y))

/* From numbers to bits */

static ExportValue *
is_negative (GantryOnnxExport *e, const Format *f, ExportValue *x)
{
  ExportValue *zero = real (e, f, 0);
  ExportValue *below = COMPARE ("Less", BINARY ("Div", real (e, f, 1), x), zero);

  /* 1 / -0 is negative, 1 / -infinity is no more than 0. */
  return COMPARE ("Or", COMPARE ("Less", x, zero), below);
}

/* @x, not negative and normal, as 1.f 2^p: twice as many steps as the exponent has bits, each exact. Returns: 1.f */
static ExportValue *
normalize (GantryOnnxExport *e, const Format *f, ExportValue *x, ExportValue **exponent)
{
  ExportValue *p = whole (e, f->bias), *moves;

  for (gint64 k = (f->bias + 1) / 2; k >= 1; k /= 2)
    {
      moves = COMPARE ("GreaterOrEqual", x, real (e, f, ldexp (1, (int) k)));
      x = SELECT (moves, BINARY ("Mul", x, real (e, f, ldexp (1, (int) -k))), x);
      p = BINARY ("Add", p, SELECT (moves, whole (e, k), whole (e, 0)));
    }
  for (gint64 k = (f->bias + 1) / 2; k >= 1; k /= 2)
    {
      moves = COMPARE ("Less", x, real (e, f, ldexp (1, (int) (1 - k))));
      x = SELECT (moves, BINARY ("Mul", x, real (e, f, ldexp (1, (int) k))), x);
      p = BINARY ("Sub", p, SELECT (moves, whole (e, k), whole (e, 0)));
    }
  *exponent = p;
  return x;
}

/* The bits of |x|, as i64. */
static ExportValue *
magnitude_bits (GantryOnnxExport *e, const Format *f, ExportValue *x)
{
  gint64 special = (2 * f->bias + 1) * power (f->mantissa), half = (f->bias - 1 + f->mantissa) / 2;
  ExportValue *least = real (e, f, ldexp (1, (int) (1 - f->bias))), *one = real (e, f, 1), *is_infinite, *is_nan, *is_small, *tiny, *fraction, *exponent, *bits;

  is_nan = gantry_export_op (e, "IsNaN", gantry_export_with (e, x, GANTRY_BOOL), 1, x);
  x = gantry_export_op (e, "Abs", x->type, 1, x);
  is_infinite = COMPARE ("Equal", x, real (e, f, INFINITY));
  is_small = COMPARE ("Less", x, least);
  /* What is no normal number goes its own way, and must not stop this one. */
  fraction = normalize (e, f, SELECT (COMPARE ("Or", COMPARE ("Or", is_small, is_infinite), is_nan), one, x), &exponent);
  fraction = BINARY ("Mul", BINARY ("Sub", fraction, one), real (e, f, ldexp (1, (int) f->mantissa)));
  bits = BINARY ("Add", BINARY ("Mul", exponent, whole (e, power (f->mantissa))), gantry_export_cast (e, fraction, GANTRY_I64));
  tiny = SELECT (is_small, x, real (e, f, 0));
  tiny = BINARY ("Mul", BINARY ("Mul", tiny, real (e, f, ldexp (1, (int) half))), real (e, f, ldexp (1, (int) (f->bias - 1 + f->mantissa - half))));
  bits = SELECT (is_small, gantry_export_cast (e, tiny, GANTRY_I64), bits);
  bits = SELECT (is_infinite, whole (e, special), bits);
  return SELECT (is_nan, whole (e, special + power (f->mantissa - 1)), bits);
}

static ExportValue *
bits_from_float (GantryOnnxExport *e, const Format *f, ExportValue *x, GantryElementType to)
{
  gboolean is_signed = to == GANTRY_I16 || to == GANTRY_I32 || to == GANTRY_I64;
  gint64 sign = f->width == 64 ? G_MININT64 : is_signed ? -power (f->width - 1) : power (f->width - 1);
  ExportValue *bits;

  x = gantry_export_cast (e, x, f->in);
  bits = magnitude_bits (e, f, x);
  bits = BINARY ("Add", bits, SELECT (is_negative (e, f, x), whole (e, sign), whole (e, 0)));
  return gantry_export_cast (e, bits, to);
}

/* From bits to numbers */

/* What the biased exponents stand for: 2^(exponent - bias), of subnormal numbers that of the least normal ones. */
static ExportValue *
powers_of_two (GantryOnnxExport *e, const Format *f)
{
  gint64 n = 2 * f->bias + 2;
  gsize size = gantry_element_size (f->in);
  g_autofree guint8 *data = g_malloc0_n ((gsize) n, size);

  for (gint64 i = 0; i < n; i++)
    gantry_element_write_double (f->in, data + (gsize) i * size, i == n - 1 ? INFINITY : ldexp (1, (int) (MAX (i, 1) - f->bias)));
  return gantry_export_constant (e, gantry_export_type (e, f->in, 1, &n), data, (gsize) n * size);
}

/* Integers @x, signed or not, as wide as floats @to, as those of the same bits, by exact arithmetic: subnormals, -0 and infinities are kept, a NaN
 * loses sign and payload. */
static ExportValue *
float_from_bits (GantryOnnxExport *e, const Format *f, ExportValue *x, GantryElementType to)
{
  ExportValue *bits = gantry_export_cast (e, x, GANTRY_I64), *zero = whole (e, 0), *unit = whole (e, power (f->mantissa)), *negative, *exponent, *mantissa,
              *value, *is_nan;
  gboolean is_unsigned = ELEMENT (x) == GANTRY_U16 || ELEMENT (x) == GANTRY_U32;

  negative = is_unsigned ? COMPARE ("GreaterOrEqual", bits, whole (e, power (f->width - 1))) : COMPARE ("Less", bits, zero);
  /* Without the sign, by arithmetic: bits of integers came with a later version of ONNX than this one writes for old readers. */
  bits = BINARY ("Sub", bits, SELECT (negative, whole (e, f->width == 64 ? G_MININT64 : is_unsigned ? power (f->width - 1) : -power (f->width - 1)), zero));
  exponent = BINARY ("Div", bits, unit);
  mantissa = BINARY ("Sub", bits, BINARY ("Mul", exponent, unit));
  value = BINARY ("Mul", gantry_export_cast (e, mantissa, f->in), real (e, f, ldexp (1, (int) -f->mantissa)));
  value = BINARY ("Add", value, SELECT (COMPARE ("Greater", exponent, zero), real (e, f, 1), real (e, f, 0)));
  value = BINARY ("Mul", value, gantry_export_take (e, powers_of_two (e, f), exponent, 0));
  value = BINARY ("Mul", value, SELECT (negative, real (e, f, -1), real (e, f, 1))); /* of 0 too: not all that negates makes -0 of it */
  is_nan = COMPARE ("Greater", bits, whole (e, (2 * f->bias + 1) * power (f->mantissa)));
  return gantry_export_cast (e, SELECT (is_nan, real (e, f, NAN), value), to);
}

/* Counting bits */

static ExportValue *
shifted (GantryOnnxExport *e, ExportValue *x, gint64 by)
{
  ExportNode node;

  gantry_export_begin (e, &node, "BitShift");
  gantry_export_input (&node, x);
  gantry_export_input (&node, gantry_export_integer (e, GANTRY_U64, by));
  gantry_export_string (&node, "direction", "RIGHT");
  return gantry_export_end (&node, x->type);
}

#define MASK(x, bits) BINARY ("BitwiseAnd", (x), gantry_export_integer (e, GANTRY_U64, (gint64) (bits)))

/* Sums of neighbouring bits, then of pairs, and so on: Warren, Hacker's Delight, 5-1. @x: u64 */
static ExportValue *
count_ones (GantryOnnxExport *e, ExportValue *x)
{
  static const guint64 masks[] = { 0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f, 0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff };

  for (guint i = 0; i < G_N_ELEMENTS (masks); i++)
    x = BINARY ("Add", MASK (x, masks[i]), MASK (shifted (e, x, (gint64) 1 << i), masks[i]));
  return x;
}

ExportValue *
gantry_export_count_bits (GantryOnnxExport *e, ExportValue *x)
{
  GantryElementType element = ELEMENT (x);
  gint64 width = 8 * gantry_element_size (element);
  ExportValue *bits = gantry_export_cast (e, x, GANTRY_U64); /* of a negative number with ones in front */

  if (width < 64)
    bits = MASK (bits, ((guint64) 1 << width) - 1);
  if (e->node->op == GANTRY_OP_POPCNT)
    return gantry_export_cast (e, count_ones (e, bits), element);
  for (gint64 by = 1; by < width; by *= 2) /* ones from the first one on */
    bits = BINARY ("BitwiseOr", bits, shifted (e, bits, by));
  bits = BINARY ("Sub", whole (e, width), gantry_export_cast (e, count_ones (e, bits), GANTRY_I64));
  return gantry_export_cast (e, bits, element);
}

ExportValue *
gantry_export_bitcast (GantryOnnxExport *e, ExportValue *x)
{
  GantryElementType to = (GantryElementType) gantry_node_type (e->module, e->node)->element;
  Format format;

  if (gantry_element_size (to) != gantry_element_size (ELEMENT (x)) || to == GANTRY_BOOL || ELEMENT (x) == GANTRY_BOOL)
    gantry_export_fail (e, "ONNX has no operation for the bits of numbers of %s as %s", gantry_element_name (ELEMENT (x)), gantry_element_name (to));
  else if (to == ELEMENT (x) || (gantry_element_is_integer (to) && gantry_element_is_integer (ELEMENT (x))))
    return gantry_export_cast (e, x, to); /* between integers of one width that keeps the bits */
  else if (gantry_element_is_integer (to) && format_of (ELEMENT (x), &format))
    return bits_from_float (e, &format, x, to);
  else if (gantry_element_is_integer (ELEMENT (x)) && format_of (to, &format))
    return float_from_bits (e, &format, x, to);
  else
    gantry_export_fail (e, "the bits of numbers of %s as %s are not written for ONNX", gantry_element_name (ELEMENT (x)), gantry_element_name (to));
  return e->nobody;
}
