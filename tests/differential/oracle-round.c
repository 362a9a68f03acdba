/* SPDX-License-Identifier: Apache-2.0 */
/* How far rounding may lead: units of the element types, and the elementwise operations of floats as functions, to see
 * how they carry an error. */
#include "tests/differential/oracle.h"
#include <float.h>
#include <math.h>
#include <string.h>

typedef struct
{
  double unit, smallest, least_normal, largest;
} Format;

static const Format *
format_of (GantryElementType element)
{
  static const Format f16 = { 0x1p-11, 0x1p-24, 0x1p-14, 65504 }, bf16 = { 0x1p-8, 0x1p-133, 0x1p-126, 0x1.fep127 },
                      f32 = { 0x1p-24, 0x1p-149, 0x1p-126, FLT_MAX }, f64 = { 0x1p-53, 0x1p-1074, 0x1p-1022, DBL_MAX };

  return element == GANTRY_F16 ? &f16 : element == GANTRY_BF16 ? &bf16 : element == GANTRY_F64 ? &f64 : &f32;
}

double
_diff_unit (GantryElementType element)
{
  return format_of (element)->unit;
}

/* Arithmetic on f16 and bf16 is done in f32. */
static GantryElementType
arithmetic_of (GantryElementType element)
{
  return element == GANTRY_F64 ? GANTRY_F64 : GANTRY_F32;
}

double
_diff_rounding (GantryElementType element, double v, double steps)
{
  const Format *format = format_of (element);
  double size = fabs (v), error = steps * _diff_unit (arithmetic_of (element)) * size;

  if (v == 0 || !isfinite (v))
    return 0;
  if (arithmetic_of (element) != element)
    error += format->unit * size;
  if (size < format->least_normal)
    error += format->smallest;
  return size + error > format->largest ? INFINITY : error;
}

gboolean
_diff_representable (GantryElementType element, double v)
{
  guint8 bytes[8];

  gantry_element_write_double (element, bytes, v);
  return gantry_element_read_double (element, bytes) == v;
}

/* Errors of one addition each, of which the most add up: the square root is what they do together, the linear
 * start keeps short sums safe where they all go one way. */
double
_diff_sum_error (GantryElementType element, gint64 n)
{
  double terms = (double) n;

  return _diff_unit (arithmetic_of (element)) * (terms <= 16 ? terms : 16 + 4 * sqrt (terms - 16));
}

double
_diff_distance (double a, double b)
{
  double distance;

  if ((isnan (a) && isnan (b)) || a == b)
    return 0;
  distance = fabs (a - b);
  return isnan (distance) ? INFINITY : distance;
}

double
_diff_steps (guint op)
{
  switch (op)
    {
    case GANTRY_OP_ABS:
    case GANTRY_OP_NEGATE:
    case GANTRY_OP_SIGN:
    case GANTRY_OP_FLOOR:
    case GANTRY_OP_CEIL:
    case GANTRY_OP_ROUND_NEAREST_EVEN:
    case GANTRY_OP_ROUND_NEAREST_AFZ:
    case GANTRY_OP_MAXIMUM:
    case GANTRY_OP_MINIMUM:
    case GANTRY_OP_CLAMP:
    case GANTRY_OP_SELECT:
    case GANTRY_OP_REMAINDER:
    case GANTRY_OP_COMPARE:
    case GANTRY_OP_IS_FINITE:
    case GANTRY_OP_IS_NAN:
    case GANTRY_OP_COPY:
    case GANTRY_OP_STOP_GRADIENT:
    case GANTRY_OP_CHECKPOINT_NAME:
    case GANTRY_OP_OPTIMIZATION_BARRIER: return 0;
    case GANTRY_OP_ADD:
    case GANTRY_OP_SUBTRACT:
    case GANTRY_OP_MULTIPLY: return 1;
    case GANTRY_OP_DIVIDE:
    case GANTRY_OP_SQRT: return 2;
    default: return 8; /* 4 units in the last place: what tests/core/kernels/test-kernels-math.c holds the functions to */
    }
}

static double
round_away (double x)
{
  return trunc (x) + (fabs (x - trunc (x)) >= 0.5 ? copysign (1, x) : 0);
}

static double
compare (const char *direction, double x, double y)
{
  switch (direction[0] << 8 | direction[1])
    {
    case 'E' << 8 | 'Q': return x == y;
    case 'N' << 8 | 'E': return x != y;
    case 'L' << 8 | 'T': return x < y;
    case 'L' << 8 | 'E': return x <= y;
    case 'G' << 8 | 'T': return x > y;
    default: return x >= y;
    }
}

static double
extreme (double x, double y, gboolean largest)
{
  if (isnan (x) || isnan (y))
    return NAN;
  return (x > y) == largest ? x : y;
}

static double
scalar_function (guint op, double x)
{
  switch (op)
    {
    case GANTRY_OP_EXPONENTIAL: return exp (x);
    case GANTRY_OP_EXPONENTIAL_MINUS_ONE: return expm1 (x);
    case GANTRY_OP_LOG: return log (x);
    case GANTRY_OP_LOG_PLUS_ONE: return log1p (x);
    case GANTRY_OP_LOGISTIC: return 1 / (1 + exp (-x));
    case GANTRY_OP_TANH: return tanh (x);
    case GANTRY_OP_SQRT: return sqrt (x);
    case GANTRY_OP_RSQRT: return 1 / sqrt (x);
    case GANTRY_OP_CBRT: return cbrt (x);
    case GANTRY_OP_SINE: return sin (x);
    case GANTRY_OP_COSINE: return cos (x);
    case GANTRY_OP_TAN: return tan (x);
    case GANTRY_OP_ASIN: return asin (x);
    case GANTRY_OP_ACOS: return acos (x);
    case GANTRY_OP_ATAN: return atan (x);
    case GANTRY_OP_SINH: return sinh (x);
    case GANTRY_OP_COSH: return cosh (x);
    case GANTRY_OP_ASINH: return asinh (x);
    case GANTRY_OP_ACOSH: return acosh (x);
    case GANTRY_OP_ATANH: return atanh (x);
    case GANTRY_OP_ERF: return erf (x);
    case GANTRY_OP_FLOOR: return floor (x);
    case GANTRY_OP_CEIL: return ceil (x);
    case GANTRY_OP_ROUND_NEAREST_EVEN: return rint (x);
    case GANTRY_OP_ROUND_NEAREST_AFZ: return round_away (x);
    default: return NAN;
    }
}

double
_diff_scalar (guint op, const char *direction, const double *x)
{
  switch (op)
    {
    case GANTRY_OP_COPY:
    case GANTRY_OP_STOP_GRADIENT:
    case GANTRY_OP_CHECKPOINT_NAME:
    case GANTRY_OP_OPTIMIZATION_BARRIER:
    case GANTRY_OP_CONVERT: return x[0];
    case GANTRY_OP_ABS: return fabs (x[0]);
    case GANTRY_OP_NEGATE: return -x[0];
    case GANTRY_OP_SIGN: return isnan (x[0]) ? NAN : (x[0] > 0) - (x[0] < 0);
    case GANTRY_OP_IS_FINITE: return isfinite (x[0]);
    case GANTRY_OP_IS_NAN: return isnan (x[0]);
    case GANTRY_OP_ADD: return x[0] + x[1];
    case GANTRY_OP_SUBTRACT: return x[0] - x[1];
    case GANTRY_OP_MULTIPLY: return x[0] * x[1];
    case GANTRY_OP_DIVIDE: return x[0] / x[1];
    case GANTRY_OP_REMAINDER: return fmod (x[0], x[1]);
    case GANTRY_OP_POWER: return pow (x[0], x[1]);
    case GANTRY_OP_ATAN2: return atan2 (x[0], x[1]);
    case GANTRY_OP_MAXIMUM: return extreme (x[0], x[1], TRUE);
    case GANTRY_OP_MINIMUM: return extreme (x[0], x[1], FALSE);
    case GANTRY_OP_CLAMP: return extreme (extreme (x[0], x[1], TRUE), x[2], FALSE);
    case GANTRY_OP_COMPARE: return compare (direction, x[0], x[1]);
    default: return scalar_function (op, x[0]);
    }
}
