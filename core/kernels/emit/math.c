/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions of float as straight vector code (for a GPU some have shorter code in special.c): range reduction to a small interval, a
 * polynomial there, and the way back. The polynomials are minimax fits made for these intervals
 * (iteratively reweighted least squares on Chebyshev points); the error of each function is measured
 * in tests/core/kernels/test-kernels-math.c. power goes through double, whose 53 bits hold the logarithm exactly
 * enough for every exponent. */
#include "core/kernels/emit/emit.h"
#include <math.h>

#define B (e->builder)

typedef LLVMValueRef V;

static LLVMTypeRef
i32_like (GantryEmit *e, V x)
{
  return gantry_emit_like (LLVMInt32TypeInContext (e->context), LLVMTypeOf (x));
}

static V
real (V like, double value)
{
  return gantry_emit_real (LLVMTypeOf (like), value);
}

static V
integer (V like, gint64 value)
{
  return gantry_emit_integer (LLVMTypeOf (like), value);
}

V
gantry_emit_fma (GantryEmit *e, V a, V b, V c)
{
  LLVMTypeRef type = LLVMTypeOf (a);

  return gantry_emit_intrinsic (e, "llvm.fmuladd", &type, 1, (V[]){ a, b, c }, 3);
}

static V
call1 (GantryEmit *e, const char *name, V x)
{
  LLVMTypeRef type = LLVMTypeOf (x);

  return gantry_emit_intrinsic (e, name, &type, 1, &x, 1);
}

static V
absolute (GantryEmit *e, V x)
{
  return call1 (e, "llvm.fabs", x);
}

/* For PTX LLVM 19 writes out llvm.copysign as comparisons; by masks it is one instruction. */
V
gantry_emit_copy_sign (GantryEmit *e, V magnitude, V sign)
{
  LLVMTypeRef type = LLVMTypeOf (magnitude), bits = i32_like (e, magnitude);
  V a, b;

  if (e->special != GANTRY_SPECIAL_BY_UNIT || type != LLVMFloatTypeInContext (e->context))
    return gantry_emit_intrinsic (e, "llvm.copysign", &type, 1, (V[]){ magnitude, sign }, 2);
  a = LLVMBuildBitCast (B, magnitude, bits, "");
  b = LLVMBuildAnd (B, LLVMBuildBitCast (B, sign, bits, ""), gantry_emit_integer (bits, 0x80000000), "");
  return LLVMBuildBitCast (B, LLVMBuildOr (B, a, b, ""), type, "");
}

V
gantry_emit_horner (GantryEmit *e, V x, const double *coefficients, guint n)
{
  V r = real (x, coefficients[n - 1]);

  for (guint i = n - 1; i-- > 0;)
    r = gantry_emit_fma (e, r, x, real (x, coefficients[i]));
  return r;
}
#define POLYNOMIAL(x, list) gantry_emit_horner (e, (x), (list), G_N_ELEMENTS (list))

/* The larger and the smaller of x and a number; NaN stays. */
static V
at_least (GantryEmit *e, V x, double low)
{
  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOGT, real (x, low), x, ""), real (x, low), x, "");
}

static V
at_most (GantryEmit *e, V x, double high)
{
  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOLT, real (x, high), x, ""), real (x, high), x, "");
}

/* To the nearest integer by adding what leaves no room for a fraction: as float in *whole, and as integer. */
static V
nearest (GantryEmit *e, V x, double factor, V *whole)
{
  const double magic = 12582912.0; /* 1.5 * 2^23 */
  V t = gantry_emit_fma (e, x, real (x, factor), real (x, magic));
  V bits = LLVMBuildBitCast (B, t, i32_like (e, x), "");

  *whole = LLVMBuildFSub (B, t, real (x, magic), "");
  return LLVMBuildSub (B, bits, integer (bits, 0x4b400000), "");
}

/* 2^n for n in [-126, 127] */
static V
power_of_two (GantryEmit *e, V n, V like)
{
  V bits = LLVMBuildShl (B, LLVMBuildAdd (B, n, integer (n, 127), ""), integer (n, 23), "");

  return LLVMBuildBitCast (B, bits, LLVMTypeOf (like), "");
}

/* Exponential */

static const double expm1_coefficients[] = { 4.999999404e-01, 1.666651517e-01, 4.166845605e-02, 8.369418792e-03, 1.381314476e-03 };

/* e^x - 1 = 2^n (q + 1) - 1, n in the return value. @x is within the range of n. */
static V
reduce_exponential (GantryEmit *e, V x, V *q)
{
  V n, whole, r;

  n = nearest (e, x, M_LOG2E, &whole);
  r = gantry_emit_fma (e, whole, real (x, -0.693145751953125), x);
  r = gantry_emit_fma (e, whole, real (x, -1.428606765330187e-06), r);
  *q = gantry_emit_fma (e, LLVMBuildFMul (B, r, r, ""), POLYNOMIAL (r, expm1_coefficients), r);
  return n;
}

V
gantry_emit_exp (GantryEmit *e, V x)
{
  V q, n, half, rest, r;

  if (e->special != GANTRY_SPECIAL_NONE)
    return gantry_emit_special_exp (e, x);
  n = reduce_exponential (e, at_most (e, at_least (e, x, -104.0), 89.0), &q);
  half = LLVMBuildAShr (B, n, integer (n, 1), "");
  rest = LLVMBuildSub (B, n, half, "");
  r = LLVMBuildFAdd (B, q, real (x, 1), "");
  r = LLVMBuildFMul (B, r, power_of_two (e, half, x), "");
  return LLVMBuildFMul (B, r, power_of_two (e, rest, x), "");
}

V
gantry_emit_expm1 (GantryEmit *e, V x)
{
  V q, n, s, r;

  n = reduce_exponential (e, at_most (e, at_least (e, x, -18.0), 89.0), &q);
  s = power_of_two (e, LLVMBuildSub (B, n, integer (n, 1), ""), x);
  r = gantry_emit_fma (e, q, s, LLVMBuildFSub (B, s, real (x, 0.5), ""));
  return LLVMBuildFMul (B, r, real (x, 2), "");
}

V
gantry_emit_tanh (GantryEmit *e, V x)
{
  V a = at_most (e, absolute (e, x), 9.125);
  V t = gantry_emit_expm1 (e, LLVMBuildFMul (B, a, real (x, 2), ""));

  return gantry_emit_copy_sign (e, LLVMBuildFDiv (B, t, LLVMBuildFAdd (B, t, real (x, 2), ""), ""), x);
}

V
gantry_emit_logistic (GantryEmit *e, V x)
{
  V t = gantry_emit_exp (e, LLVMBuildFNeg (B, absolute (e, x), ""));
  V top = LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOGE, x, real (x, 0), ""), real (x, 1), t, "");

  return LLVMBuildFDiv (B, top, LLVMBuildFAdd (B, t, real (x, 1), ""), "");
}

/* Logarithm */

/* x = m 2^n with m in [sqrt 0.5, sqrt 2), for x > 0; the return value is m, n as integer in *exponent. */
static V
split_exponent (GantryEmit *e, V x, V *exponent)
{
  V tiny = LLVMBuildFCmp (B, LLVMRealOLT, x, real (x, 0x1p-126), "");
  V scaled = LLVMBuildSelect (B, tiny, LLVMBuildFMul (B, x, real (x, 0x1p23), ""), x, "");
  V bits = LLVMBuildBitCast (B, scaled, i32_like (e, x), "");
  V above = LLVMBuildSub (B, bits, integer (bits, 0x3f3504f3), "");
  V n = LLVMBuildAShr (B, above, integer (bits, 23), "");
  V m = LLVMBuildAdd (B, LLVMBuildAnd (B, above, integer (bits, 0x7fffff), ""), integer (bits, 0x3f3504f3), "");

  *exponent = LLVMBuildAdd (B, n, LLVMBuildSelect (B, tiny, integer (n, -23), integer (n, 0), ""), "");
  return LLVMBuildBitCast (B, m, LLVMTypeOf (x), "");
}

V
gantry_emit_log (GantryEmit *e, V x)
{
  static const double coefficients[] = { 3.333331347e-01,  -2.500000894e-01, 2.000211924e-01,  -1.666799635e-01, 1.421955228e-01,
                                         -1.240558922e-01, 1.188816279e-01,  -1.167565137e-01, 6.746638566e-02 };
  V n, f, square, y, r;

  f = LLVMBuildFSub (B, split_exponent (e, x, &n), real (x, 1), "");
  n = LLVMBuildSIToFP (B, n, LLVMTypeOf (x), "");
  square = LLVMBuildFMul (B, f, f, "");
  y = LLVMBuildFMul (B, LLVMBuildFMul (B, square, f, ""), POLYNOMIAL (f, coefficients), "");
  y = gantry_emit_fma (e, n, real (x, 1.428606765330187e-06), y);
  y = gantry_emit_fma (e, square, real (x, -0.5), y);
  r = LLVMBuildFAdd (B, f, y, "");
  r = gantry_emit_fma (e, n, real (x, 0.693145751953125), r);
  r = LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOEQ, x, real (x, INFINITY), ""), x, r, "");
  r = LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOEQ, x, real (x, 0), ""), real (x, -INFINITY), r, "");
  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealULT, x, real (x, 0), ""), real (x, NAN), r, "");
}

/* log (u) with u = 1 + x rounded, and what the rounding lost, divided by u (Goldberg's idea, first order). */
V
gantry_emit_log1p (GantryEmit *e, V x)
{
  V one = real (x, 1), u = LLVMBuildFAdd (B, x, one, "");
  V of_small = LLVMBuildFSub (B, x, LLVMBuildFSub (B, u, one, ""), "");
  V of_large = LLVMBuildFSub (B, one, LLVMBuildFSub (B, u, x, ""), "");
  V lost = LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOLT, x, one, ""), of_small, of_large, "");
  V usual = LLVMBuildAnd (B, LLVMBuildFCmp (B, LLVMRealOGT, u, real (x, 0), ""), LLVMBuildFCmp (B, LLVMRealOLT, u, real (x, INFINITY), ""), "");
  V part = e->special == GANTRY_SPECIAL_NONE ? LLVMBuildFDiv (B, lost, u, "") : LLVMBuildFMul (B, lost, gantry_emit_special (e, GANTRY_SPECIAL_RCP, u), "");
  V correction = LLVMBuildSelect (B, usual, part, real (x, 0), "");

  return LLVMBuildFAdd (B, gantry_emit_log (e, u), correction, "");
}

/* Error function: an odd polynomial below 1, 1 - e^-p above. */
V
gantry_emit_erf (GantryEmit *e, V x)
{
  static const double small[] = { 1.128379107e+00, -3.761262596e-01, 1.128358543e-01, -2.685381286e-02, 5.188329145e-03, -8.010205347e-04, 7.853896386e-05 };
  static const double large[] = { -1.880365453e-04, 1.129578352e+00, 6.332198977e-01,  1.084185466e-01,
                                  -2.520823851e-02, 4.204555415e-03, -4.413351417e-04, 2.168675201e-05 };
  V a = at_most (e, absolute (e, x), 4.0);
  V below = LLVMBuildFMul (B, a, POLYNOMIAL (LLVMBuildFMul (B, a, a, ""), small), "");
  V p = LLVMBuildFNeg (B, POLYNOMIAL (a, large), "");
  V above = LLVMBuildFSub (B, real (x, 1), gantry_emit_exp (e, p), "");
  V r = LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOLT, a, real (x, 1), ""), below, above, "");

  return gantry_emit_copy_sign (e, r, x);
}

/* Power */

/* log2 (x) of x >= 0 in double; infinities at both ends. */
static V
log2_double (GantryEmit *e, V x, LLVMTypeRef wide)
{
  static const double series[] = { 1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15 };
  V n, m, s, r;

  m = LLVMBuildFPExt (B, split_exponent (e, x, &n), wide, "");
  s = LLVMBuildFDiv (B, LLVMBuildFSub (B, m, real (m, 1), ""), LLVMBuildFAdd (B, m, real (m, 1), ""), "");
  r = LLVMBuildFMul (B, s, POLYNOMIAL (LLVMBuildFMul (B, s, s, ""), series), "");
  r = gantry_emit_fma (e, r, real (r, 2 * M_LOG2E), LLVMBuildSIToFP (B, n, wide, ""));
  r = LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOEQ, x, real (x, 0), ""), real (r, -INFINITY), r, "");
  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOEQ, x, real (x, INFINITY), ""), real (r, INFINITY), r, "");
}

/* 2^p in double, for any p; too large and too small for float is told by the conversion. */
static V
exp2_double (GantryEmit *e, V p)
{
  const double magic = 6755399441055744.0; /* 1.5 * 2^52 */
  double series[12];
  V t, bits, r;

  series[0] = 1;
  for (guint i = 1; i < G_N_ELEMENTS (series); i++)
    series[i] = series[i - 1] * M_LN2 / i;
  p = at_most (e, at_least (e, p, -200), 200);
  t = LLVMBuildFAdd (B, p, real (p, magic), "");
  bits = LLVMBuildBitCast (B, t, gantry_emit_like (LLVMInt64TypeInContext (e->context), LLVMTypeOf (p)), "");
  bits = LLVMBuildShl (B, LLVMBuildAdd (B, bits, integer (bits, 1023), ""), integer (bits, 52), "");
  r = POLYNOMIAL (LLVMBuildFSub (B, p, LLVMBuildFSub (B, t, real (p, magic), ""), ""), series);
  return LLVMBuildFMul (B, r, LLVMBuildBitCast (B, bits, LLVMTypeOf (p), ""), "");
}

V
gantry_emit_power_signs (GantryEmit *e, V x, V y, V magnitude)
{
  V a = absolute (e, x), zero = real (x, 0), one = real (x, 1), r;
  V half = LLVMBuildFMul (B, y, real (y, 0.5), "");
  V whole = LLVMBuildFCmp (B, LLVMRealOEQ, call1 (e, "llvm.floor", y), y, "");
  V odd = LLVMBuildAnd (B, whole, LLVMBuildFCmp (B, LLVMRealONE, call1 (e, "llvm.floor", half), half, ""), "");
  V below = LLVMBuildFCmp (B, LLVMRealOLT, x, zero, "");
  V none = LLVMBuildAnd (B, LLVMBuildAnd (B, below, LLVMBuildNot (B, whole, ""), ""), LLVMBuildFCmp (B, LLVMRealOLT, a, real (x, INFINITY), ""), "");
  V unit = LLVMBuildAnd (B, LLVMBuildFCmp (B, LLVMRealOEQ, a, one, ""), LLVMBuildFCmp (B, LLVMRealOEQ, absolute (e, y), real (x, INFINITY), ""), "");
  V unordered = LLVMBuildFCmp (B, LLVMRealUNO, x, y, "");
  V always = LLVMBuildOr (B, LLVMBuildFCmp (B, LLVMRealOEQ, y, zero, ""), LLVMBuildFCmp (B, LLVMRealOEQ, x, one, ""), "");

  r = LLVMBuildSelect (B, unit, one, magnitude, "");
  r = LLVMBuildSelect (B, odd, gantry_emit_copy_sign (e, r, x), r, "");
  r = LLVMBuildSelect (B, LLVMBuildOr (B, none, unordered, ""), real (x, NAN), r, "");
  return LLVMBuildSelect (B, always, one, r, "");
}

V
gantry_emit_pow (GantryEmit *e, V x, V y)
{
  LLVMTypeRef wide = gantry_emit_like (LLVMDoubleTypeInContext (e->context), LLVMTypeOf (x));
  V p = LLVMBuildFMul (B, LLVMBuildFPExt (B, y, wide, ""), log2_double (e, absolute (e, x), wide), "");

  return gantry_emit_power_signs (e, x, y, LLVMBuildFPTrunc (B, exp2_double (e, p), LLVMTypeOf (x), ""));
}

/* Sine, cosine, tangent */

typedef enum
{
  SINE,
  COSINE,
  TANGENT
} Circular;

/* Quarter turns as integer; *r in [-pi/4, pi/4]: Cody and Waite's reduction, exact with fused multiply-adds. */
static V
reduce_circular (GantryEmit *e, V x, V *r)
{
  static const double fused[] = { -1.57079637050628662109375, 4.37113900018624283e-8, 1.71512451e-15 };
  static const double split[] = { -1.5703125, -4.837512969970703125e-4, -7.54978995489188e-8 };
  const double *parts = e->has_fma ? fused : split;
  V n, whole;

  n = nearest (e, x, M_2_PI, &whole);
  *r = x;
  for (guint i = 0; i < 3; i++)
    *r = gantry_emit_fma (e, whole, real (x, parts[i]), *r);
  return n;
}

static V
is_odd (GantryEmit *e, V n)
{
  return LLVMBuildICmp (B, LLVMIntNE, LLVMBuildAnd (B, n, integer (n, 1), ""), integer (n, 0), "");
}

static V
circular_near (GantryEmit *e, Circular which, V x)
{
  static const double sine[] = { -1.666665375e-01, 8.332112804e-03, -1.950874139e-04 };
  static const double cosine[] = { 4.166664556e-02, -1.388725126e-03, 2.442568075e-05 };
  V r, n, s, c, square, swapped, sign;

  n = reduce_circular (e, x, &r);
  square = LLVMBuildFMul (B, r, r, "");
  s = gantry_emit_fma (e, LLVMBuildFMul (B, square, r, ""), POLYNOMIAL (square, sine), r);
  c = gantry_emit_fma (e, square, real (x, -0.5), real (x, 1));
  c = gantry_emit_fma (e, LLVMBuildFMul (B, square, square, ""), POLYNOMIAL (square, cosine), c);
  if (which == TANGENT)
    {
      swapped = is_odd (e, n);
      return LLVMBuildFDiv (B, LLVMBuildSelect (B, swapped, LLVMBuildFNeg (B, c, ""), s, ""), LLVMBuildSelect (B, swapped, s, c, ""), "");
    }
  if (which == COSINE)
    n = LLVMBuildAdd (B, n, integer (n, 1), "");
  sign = LLVMBuildShl (B, LLVMBuildAnd (B, n, integer (n, 2), ""), integer (n, 30), "");
  r = LLVMBuildSelect (B, is_odd (e, n), c, s, "");
  r = LLVMBuildXor (B, LLVMBuildBitCast (B, r, LLVMTypeOf (n), ""), sign, "");
  return LLVMBuildBitCast (B, r, LLVMTypeOf (x), "");
}

/* Far from 0 the reduction needs more digits of pi: the C library has them. Such arguments are rare, so that a
 * branch past them costs nothing. */
static V
circular (GantryEmit *e, Circular which, V x)
{
  static const char *const symbols[] = { "sinf", "cosf", "tanf" };
  LLVMBasicBlockRef far_block = LLVMAppendBasicBlockInContext (e->context, e->function, "far");
  LLVMBasicBlockRef join = LLVMAppendBasicBlockInContext (e->context, e->function, "join"), near_block;
  V near_value = circular_near (e, which, x), far_value, phi;
  V is_far = LLVMBuildFCmp (B, LLVMRealUGT, absolute (e, x), real (x, e->has_fma ? 100000.0 : 8000.0), "");
  LLVMTypeRef type = LLVMTypeOf (is_far);

  if (gantry_emit_lanes (type) > 1)
    is_far = gantry_emit_intrinsic (e, "llvm.vector.reduce.or", &type, 1, &is_far, 1);
  near_block = LLVMGetInsertBlock (B);
  LLVMBuildCondBr (B, is_far, far_block, join);
  LLVMPositionBuilderAtEnd (B, far_block);
  far_value = gantry_emit_per_lane (e, symbols[which], x, NULL);
  LLVMBuildBr (B, join);
  LLVMPositionBuilderAtEnd (B, join);
  phi = LLVMBuildPhi (B, LLVMTypeOf (x), "");
  LLVMAddIncoming (phi, (V[]){ near_value, far_value }, (LLVMBasicBlockRef[]){ near_block, far_block }, 2);
  return phi;
}

V
gantry_emit_sin (GantryEmit *e, V x)
{
  return circular (e, SINE, x);
}

V
gantry_emit_cos (GantryEmit *e, V x)
{
  return circular (e, COSINE, x);
}

V
gantry_emit_tan (GantryEmit *e, V x)
{
  return circular (e, TANGENT, x);
}
