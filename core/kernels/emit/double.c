/* SPDX-License-Identifier: Apache-2.0 */
/* Exponential and logarithm of double: range reduction by the nearest power of two, a polynomial, and the way
 * back. The exponential's polynomial is Taylor's, which 12 terms make exact to double; the logarithm is that of
 * (1 + s) / (1 - s), with a Chebyshev fit of its series, and put together so that the leading terms are exact
 * (the arrangement is that of Tang and of FreeBSD's e_log.c; the code and the fit are our own). */
#include "core/kernels/emit/double-private.h"
#include <math.h>

#define B (e->builder)
#define REAL(x, value) gantry_emit_real_like (x, value)
#define INTEGER(x, value) gantry_emit_integer_like (x, value)

typedef LLVMValueRef V;

/* ln 2 in two parts: the first of all 53 bits (for fused products), and of 42 (whose multiples are exact). */
#define LN2 0x1.62e42fefa39efp-1
#define LN2_REST 0x1.abc9e3b39803fp-56
#define LN2_SHORT 0x1.62e42fefa3800p-1
#define LN2_SHORT_REST 0x1.ef35793c76730p-45

/* Exponential */

/* The nearest integer by adding what leaves no room for a fraction: as double in *whole, and as i64. */
static V
nearest (GantryEmit *e, V x, double factor, V *whole)
{
  const double magic = 6755399441055744.0; /* 1.5 * 2^52 */
  V t = gantry_emit_fused (e, x, REAL (x, factor), REAL (x, magic));
  V bits = LLVMBuildBitCast (B, t, gantry_emit_i64_like (e, x), "");

  *whole = LLVMBuildFSub (B, t, REAL (x, magic), "");
  return LLVMBuildSub (B, bits, INTEGER (bits, 0x4338000000000000), "");
}

/* 2^n for n in [-1022, 1023] */
static V
power_of_two (GantryEmit *e, V n, V like)
{
  V bits = LLVMBuildShl (B, LLVMBuildAdd (B, n, INTEGER (n, 1023), ""), INTEGER (n, 52), "");

  return LLVMBuildBitCast (B, bits, LLVMTypeOf (like), "");
}

/* NaN stays in both. */
static V
clamp (GantryEmit *e, V x, double low, double high)
{
  x = LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOLT, x, REAL (x, low), ""), REAL (x, low), x, "");
  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOGT, x, REAL (x, high), ""), REAL (x, high), x, "");
}

/* e^(x + tail) - 1 = 2^n (q + 1) - 1: n is returned. */
static V
reduce_exponential (GantryEmit *e, V x, V tail, V *q)
{
  double coefficients[12];
  double factorial = 1;
  V n, whole, r;

  for (guint k = 0; k < G_N_ELEMENTS (coefficients); k++)
    {
      factorial *= k + 2;
      coefficients[k] = 1 / factorial;
    }
  n = nearest (e, x, M_LOG2E, &whole);
  r = gantry_emit_fused (e, whole, REAL (x, -LN2), x);
  r = gantry_emit_fused (e, whole, REAL (x, -LN2_REST), r);
  if (tail != NULL)
    r = LLVMBuildFAdd (B, r, tail, "");
  *q = gantry_emit_polynomial (e, r, coefficients, G_N_ELEMENTS (coefficients));
  *q = gantry_emit_fused (e, LLVMBuildFMul (B, r, r, ""), *q, r);
  return n;
}

V
gantry_emit_double_exp_of_sum (GantryEmit *e, V x, V tail)
{
  V q, n, half, rest, r;

  n = reduce_exponential (e, clamp (e, x, -746, 710), tail, &q);
  half = LLVMBuildAShr (B, n, INTEGER (n, 1), "");
  rest = LLVMBuildSub (B, n, half, "");
  r = LLVMBuildFAdd (B, q, REAL (x, 1), "");
  r = LLVMBuildFMul (B, r, power_of_two (e, half, x), "");
  return LLVMBuildFMul (B, r, power_of_two (e, rest, x), "");
}

V
gantry_emit_double_exp (GantryEmit *e, V x)
{
  return gantry_emit_double_exp_of_sum (e, x, NULL);
}

V
gantry_emit_double_expm1 (GantryEmit *e, V x)
{
  V q, n, s, r;

  n = reduce_exponential (e, clamp (e, x, -40, 710), NULL, &q);
  s = power_of_two (e, LLVMBuildSub (B, n, INTEGER (n, 1), ""), x);
  r = gantry_emit_fused (e, q, s, LLVMBuildFSub (B, s, REAL (x, 0.5), ""));
  r = LLVMBuildFMul (B, r, REAL (x, 2), "");
  /* Minus zero, and what is too small for anything but itself. */
  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOLT, gantry_emit_call1 (e, "llvm.fabs", x), REAL (x, 0x1p-54), ""), x, r, "");
}

/* Logarithm */

V
gantry_emit_double_split (GantryEmit *e, V x, V *exponent)
{
  const gint64 root = 0x3fe6a09e667f3bcd; /* sqrt 0.5 */
  V tiny = LLVMBuildFCmp (B, LLVMRealOLT, x, REAL (x, 0x1p-1022), "");
  V scaled = LLVMBuildSelect (B, tiny, LLVMBuildFMul (B, x, REAL (x, 0x1p54), ""), x, "");
  V bits = LLVMBuildBitCast (B, scaled, gantry_emit_i64_like (e, x), "");
  V above = LLVMBuildSub (B, bits, INTEGER (bits, root), "");
  V n = LLVMBuildAShr (B, above, INTEGER (bits, 52), "");
  V m = LLVMBuildAdd (B, LLVMBuildAnd (B, above, INTEGER (bits, 0xfffffffffffff), ""), INTEGER (bits, root), "");

  *exponent = LLVMBuildAdd (B, n, LLVMBuildSelect (B, tiny, INTEGER (n, -54), INTEGER (n, 0), ""), "");
  return LLVMBuildBitCast (B, m, LLVMTypeOf (x), "");
}

V
gantry_emit_double_log_series (GantryEmit *e, V z)
{
  static const double coefficients[] = { 0.66666666666666663, 0.40000000000000907, 0.2857142857078428,  0.22222222396085492,
                                         0.18181795174169585, 0.15386264984142528, 0.13268097770489085, 0.13093671486101804 };

  return gantry_emit_polynomial (e, z, coefficients, G_N_ELEMENTS (coefficients));
}

V
gantry_emit_double_log (GantryEmit *e, V x)
{
  V n, f, s, z, half, r;

  f = LLVMBuildFSub (B, gantry_emit_double_split (e, x, &n), REAL (x, 1), "");
  n = LLVMBuildSIToFP (B, n, LLVMTypeOf (x), "");
  s = LLVMBuildFDiv (B, f, LLVMBuildFAdd (B, f, REAL (x, 2), ""), "");
  z = LLVMBuildFMul (B, s, s, "");
  r = LLVMBuildFMul (B, z, gantry_emit_double_log_series (e, z), "");
  half = LLVMBuildFMul (B, LLVMBuildFMul (B, f, f, ""), REAL (x, 0.5), "");
  /* log (1 + f) = f - (f^2/2 - s (f^2/2 + r)) */
  r = LLVMBuildFMul (B, s, LLVMBuildFAdd (B, half, r, ""), "");
  r = gantry_emit_fused (e, n, REAL (x, LN2_SHORT_REST), r);
  r = LLVMBuildFSub (B, f, LLVMBuildFSub (B, half, r, ""), "");
  r = gantry_emit_fused (e, n, REAL (x, LN2_SHORT), r);
  r = LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOEQ, x, REAL (x, INFINITY), ""), x, r, "");
  r = LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOEQ, x, REAL (x, 0), ""), REAL (x, -INFINITY), r, "");
  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealULT, x, REAL (x, 0), ""), REAL (x, NAN), r, "");
}

/* As gantry_emit_log1p(): log (u) with u = 1 + x rounded, and what the rounding lost, divided by u. */
V
gantry_emit_double_log1p (GantryEmit *e, V x)
{
  V one = REAL (x, 1), u = LLVMBuildFAdd (B, x, one, ""), correction, r;
  V of_small = LLVMBuildFSub (B, x, LLVMBuildFSub (B, u, one, ""), "");
  V of_large = LLVMBuildFSub (B, one, LLVMBuildFSub (B, u, x, ""), "");
  V lost = LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOLT, x, one, ""), of_small, of_large, "");
  V usual = LLVMBuildAnd (B, LLVMBuildFCmp (B, LLVMRealOGT, u, REAL (x, 0), ""), LLVMBuildFCmp (B, LLVMRealOLT, u, REAL (x, INFINITY), ""), "");

  correction = LLVMBuildSelect (B, usual, LLVMBuildFDiv (B, lost, u, ""), REAL (x, 0), "");
  r = LLVMBuildFAdd (B, gantry_emit_double_log (e, u), correction, "");
  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOEQ, x, REAL (x, 0), ""), x, r, "");
}
