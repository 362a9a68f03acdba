/* SPDX-License-Identifier: Apache-2.0 */
/* The unit for special functions by the C library in double. */
#include "core/kernels/cpu/special-model.h"
#include <math.h>
#include <string.h>

static double error_part;

void
gantry_special_set_error (double part)
{
  error_part = part;
}

/* 1 or -1 */
static double
direction_of (float x)
{
  guint32 bits;

  memcpy (&bits, &x, sizeof bits);
  bits *= 2654435769u;
  bits ^= bits >> 15;
  bits *= 2246822519u;
  return bits >> 31 ? 1 : -1;
}

static float
flushed (float x)
{
  return fabsf (x) < 0x1p-126f ? copysignf (0, x) : x;
}

/* Of one unit in the last place of @value */
static double
unit_of (double value)
{
  return ldexp (1, ilogb (value) - 23);
}

/* @value of the argument @x, off by @error, of which half a unit is the rounding's */
static float
off_by (float x, double value, double error)
{
  if (error_part == 0 || value == 0 || value == 1 || !isfinite (value))
    return (float) value;
  error = MAX (error - unit_of (value) / 2, 0);
  return (float) (value + direction_of (x) * error_part * error);
}

static gboolean
has_unit (double value)
{
  return value != 0 && isfinite (value);
}

static float
ex2 (float x)
{
  double value = exp2 ((double) flushed (x));

  return flushed (off_by (x, value, has_unit (value) ? 2 * unit_of (value) : 0));
}

static float
lg2 (float x)
{
  double value = log2 ((double) x);

  return off_by (x, value, x >= 0.5f && x <= 2 ? 0x1p-22 : 0x1p-22 * fabs (value));
}

static float
rcp (float x)
{
  double value = 1 / (double) flushed (x);

  return flushed (off_by (x, value, has_unit (value) ? unit_of (value) : 0));
}

static float
rsqrt (float x)
{
  double value = 1 / sqrt ((double) x);

  return off_by (x, value, exp2 (-22.9) * value);
}

static float
root (float x)
{
  double value = sqrt ((double) x);

  return off_by (x, value, 0x1p-23 * value);
}

static float
tangent (float x)
{
  double value = tanh ((double) x);

  return off_by (x, value, exp2 (-10.987) * value);
}

const GantryGridSymbol *
gantry_special_symbols (guint *n)
{
  static const GantryGridSymbol symbols[] = {
    { "gantry_special_ex2", ex2 },     { "gantry_special_lg2", lg2 },   { "gantry_special_rcp", rcp },
    { "gantry_special_rsqrt", rsqrt }, { "gantry_special_sqrt", root }, { "gantry_special_tanh", tangent },
  };

  *n = G_N_ELEMENTS (symbols);
  return symbols;
}
