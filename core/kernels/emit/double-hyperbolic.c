/* SPDX-License-Identifier: Apache-2.0 */
/* Hyperbolic functions of double, their inverses and the error function, by exponential and logarithm. */
#include "core/kernels/emit/double-private.h"
#include <math.h>

#define B (e->builder)
#define REAL(x, value) gantry_emit_real_like (x, value)

typedef LLVMValueRef V;

static V
absolute (GantryEmit *e, V x)
{
  return gantry_emit_call1 (e, "llvm.fabs", x);
}

static V
greater (GantryEmit *e, V x, double value)
{
  return LLVMBuildFCmp (B, LLVMRealOGT, x, REAL (x, value), "");
}

V
gantry_emit_double_tanh (GantryEmit *e, V x)
{
  V a = absolute (e, x), t;

  a = LLVMBuildSelect (B, greater (e, a, 22), REAL (x, 22), a, "");
  t = gantry_emit_double_expm1 (e, LLVMBuildFMul (B, a, REAL (x, 2), ""));
  return gantry_emit_copy_sign (e, LLVMBuildFDiv (B, t, LLVMBuildFAdd (B, t, REAL (x, 2), ""), ""), x);
}

/* Above 22 e^-x is nothing beside e^x, which is taken as a product of two halves: it may exceed what double holds twice
 * over. */
static V
far_part (GantryEmit *e, V a)
{
  V half = gantry_emit_double_exp (e, LLVMBuildFMul (B, a, REAL (a, 0.5), ""));

  return LLVMBuildFMul (B, LLVMBuildFMul (B, half, REAL (a, 0.5), ""), half, "");
}

V
gantry_emit_double_sinh (GantryEmit *e, V x)
{
  V a = absolute (e, x), far_from_zero = greater (e, a, 22);
  V t = gantry_emit_double_expm1 (e, LLVMBuildSelect (B, far_from_zero, REAL (x, 22), a, ""));
  V r = LLVMBuildFAdd (B, t, LLVMBuildFDiv (B, t, LLVMBuildFAdd (B, t, REAL (x, 1), ""), ""), "");

  r = LLVMBuildFMul (B, r, REAL (x, 0.5), "");
  return gantry_emit_copy_sign (e, LLVMBuildSelect (B, far_from_zero, far_part (e, a), r, ""), x);
}

V
gantry_emit_double_cosh (GantryEmit *e, V x)
{
  V a = absolute (e, x), far_from_zero = greater (e, a, 22);
  V t = gantry_emit_double_exp (e, LLVMBuildSelect (B, far_from_zero, REAL (x, 22), a, ""));
  V r = LLVMBuildFAdd (B, LLVMBuildFMul (B, t, REAL (x, 0.5), ""), LLVMBuildFDiv (B, REAL (x, 0.5), t, ""), "");

  return LLVMBuildSelect (B, far_from_zero, far_part (e, a), r, "");
}

/* Above 10^17 the one beside x^2 is nothing: log (2 x). */
#define BEYOND 1e17

V
gantry_emit_double_asinh (GantryEmit *e, V x)
{
  V a = absolute (e, x), beyond = greater (e, a, BEYOND), square = LLVMBuildFMul (B, a, a, "");
  V root = gantry_emit_call1 (e, "llvm.sqrt", LLVMBuildFAdd (B, square, REAL (x, 1), ""));
  V near_zero = LLVMBuildFAdd (B, a, LLVMBuildFDiv (B, square, LLVMBuildFAdd (B, root, REAL (x, 1), ""), ""), "");
  V r = gantry_emit_double_log1p (e, LLVMBuildSelect (B, beyond, a, near_zero, ""));

  r = LLVMBuildFAdd (B, r, LLVMBuildSelect (B, beyond, REAL (x, M_LN2), REAL (x, 0), ""), "");
  return gantry_emit_copy_sign (e, r, x);
}

V
gantry_emit_double_acosh (GantryEmit *e, V x)
{
  V beyond = greater (e, x, BEYOND), t = LLVMBuildFSub (B, x, REAL (x, 1), "");
  V under = LLVMBuildFMul (B, t, LLVMBuildFAdd (B, t, REAL (x, 2), ""), "");
  V near_one = LLVMBuildFAdd (B, t, gantry_emit_call1 (e, "llvm.sqrt", under), "");
  V r = gantry_emit_double_log1p (e, LLVMBuildSelect (B, beyond, x, near_one, ""));

  r = LLVMBuildFAdd (B, r, LLVMBuildSelect (B, beyond, REAL (x, M_LN2), REAL (x, 0), ""), "");
  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOLT, x, REAL (x, 1), ""), REAL (x, NAN), r, "");
}

V
gantry_emit_double_atanh (GantryEmit *e, V x)
{
  V a = absolute (e, x), rest = LLVMBuildFSub (B, REAL (x, 1), a, "");
  V r = gantry_emit_double_log1p (e, LLVMBuildFDiv (B, LLVMBuildFMul (B, a, REAL (x, 2), ""), rest, ""));

  return gantry_emit_copy_sign (e, LLVMBuildFMul (B, r, REAL (x, 0.5), ""), x);
}

/* Error function: x P(x^2) up to 1; above 1 - e^-p, p a Chebyshev fit of -log erfc on [1, 2.25] and on [2.25, 6]; the
 * second need not be exact, since erfc is small there. */
V
gantry_emit_double_erf (GantryEmit *e, V x)
{
  static const double small[] = { 1.1283791670955126,     -0.37612638903183543,    0.11283791670945006,    -0.02686617064323777,
                                  0.0052239776071164225,  -0.00085483259753896918, 0.00012055294904839707, -1.4924736907419661e-05,
                                  1.6447424703317362e-06, -1.6208483801871705e-07, 1.3720064546777686e-08, -7.7958988270021425e-10 };
  static const double middle[] = { 3.8370887037779426,      2.333203724420386,       0.35225977721012519,     0.005617423663513363,
                                   -0.00080414265830107314, 0.00010517510615880283,  -1.1652138452131498e-05, 8.9272799061572513e-07,
                                   1.1563794323872038e-08,  -2.184062895694214e-08,  5.299719618883048e-09,   -8.5762428708554633e-10,
                                   9.6474125371910343e-11,  -4.0370344223747205e-12, -1.7694728911371004e-12, 5.2664107595591179e-13 };
  static const double large[] = { 19.032542764467326,      15.89983388241912,      3.427081059934205,       0.023175156732709572,
                                  -0.0065311921301236453,  0.0018792646067593076,  -0.00053842027095467196, 0.00015118418025302741,
                                  -4.1050493248183957e-05, 1.0608530164195103e-05, -2.5365182340266816e-06, 5.3901568574326356e-07,
                                  -1.0254988621146233e-07, 8.6260968828583809e-09, 1.2355446836865811e-08,  -5.6819815399191664e-09 };
  V a = absolute (e, x), is_large, t, p, below, above;

  a = LLVMBuildSelect (B, greater (e, a, 6), REAL (x, 6), a, "");
  below = gantry_emit_polynomial (e, LLVMBuildFMul (B, a, a, ""), small, G_N_ELEMENTS (small));
  below = LLVMBuildFMul (B, a, below, "");
  is_large = greater (e, a, 2.25);
  t = LLVMBuildFSub (B, a, LLVMBuildSelect (B, is_large, REAL (x, 4.125), REAL (x, 1.625), ""), "");
  t = LLVMBuildFMul (B, t, LLVMBuildSelect (B, is_large, REAL (x, 1 / 1.875), REAL (x, 1 / 0.625), ""), "");
  p = REAL (x, 0);
  for (guint i = G_N_ELEMENTS (middle); i-- > 0;)
    p = gantry_emit_fused (e, p, t, LLVMBuildSelect (B, is_large, REAL (x, large[i]), REAL (x, middle[i]), ""));
  above = LLVMBuildFSub (B, REAL (x, 1), gantry_emit_double_exp (e, LLVMBuildFNeg (B, p, "")), "");
  return gantry_emit_copy_sign (e, LLVMBuildSelect (B, greater (e, a, 1), above, below, ""), x);
}
