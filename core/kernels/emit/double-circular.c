/* SPDX-License-Identifier: Apache-2.0 */
/* Sine, cosine and tangent of double, and their inverses. Near 0 quarter turns are taken off with fused
 * products (Cody and Waite); far from it, behind a branch, with the digits of 2/pi that matter for the exponent
 * (Payne and Hanek, 1983), by integers. */
#include "core/kernels/emit/double-private.h"
#include <math.h>
#include <string.h>

#define B (e->builder)
#define REAL(x, value) gantry_emit_real_like (x, value)
#define INTEGER(x, value) gantry_emit_integer_like (x, value)
#define FAR_FROM_ZERO 1e5

typedef LLVMValueRef V;

/* Bits -63 .. 1216 after the point of 2/pi, the first of them zeros, so that every window of 192 bits that is asked for lies
 * in it. */
static const guint64 two_over_pi[] = {
  0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
  0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f,
  0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

static V
table (GantryEmit *e)
{
  V global = LLVMGetNamedGlobal (e->module, "gantry_two_over_pi"), words[G_N_ELEMENTS (two_over_pi)];
  LLVMTypeRef i64 = LLVMInt64TypeInContext (e->context), type = LLVMArrayType2 (i64, G_N_ELEMENTS (two_over_pi));

  if (global != NULL)
    return global;
  for (guint i = 0; i < G_N_ELEMENTS (two_over_pi); i++)
    words[i] = LLVMConstInt (i64, two_over_pi[i], FALSE);
  global = LLVMAddGlobalInAddressSpace (e->module, type, "gantry_two_over_pi", e->constant_space);
  LLVMSetInitializer (global, LLVMConstArray2 (i64, words, G_N_ELEMENTS (words)));
  LLVMSetGlobalConstant (global, TRUE);
  LLVMSetLinkage (global, LLVMInternalLinkage);
  return global;
}

/* The 128-bit product of two words: its low half, and the high one in *high. */
static V
product (GantryEmit *e, V x, V y, V *high)
{
  LLVMTypeRef wide = LLVMIntTypeInContext (e->context, 128), i64 = LLVMInt64TypeInContext (e->context);
  V p = LLVMBuildMul (B, LLVMBuildZExt (B, x, wide, ""), LLVMBuildZExt (B, y, wide, ""), "");

  *high = LLVMBuildTrunc (B, LLVMBuildLShr (B, p, LLVMConstInt (wide, 64, FALSE), ""), i64, "");
  return LLVMBuildTrunc (B, p, i64, "");
}

/* Three words of 2/pi from bit @offset of the table on. */
static void
take_window (GantryEmit *e, V offset, V *window)
{
  LLVMTypeRef i64 = LLVMInt64TypeInContext (e->context);
  V word = LLVMBuildLShr (B, offset, INTEGER (offset, 6), ""), shift = LLVMBuildAnd (B, offset, INTEGER (offset, 63), "");
  V words[4];

  for (guint i = 0; i < 4; i++)
    {
      V at = LLVMBuildAdd (B, word, INTEGER (word, i), "");

      words[i] = LLVMBuildLoad2 (B, i64, LLVMBuildGEP2 (B, i64, table (e), &at, 1, ""), "");
    }
  for (guint i = 0; i < 3; i++)
    window[i] = gantry_emit_intrinsic (e, "llvm.fshl", &i64, 1, (V[]){ words[i], words[i + 1], shift }, 3);
}

/* Of a finite |x| of at least 2^16: quarter turns modulo 4 in *turns, and the rest in [-pi/4, pi/4]. */
static V
reduce_far (GantryEmit *e, V x, V *turns)
{
  LLVMTypeRef i64 = LLVMInt64TypeInContext (e->context), real = LLVMTypeOf (x);
  V bits = LLVMBuildBitCast (B, x, i64, ""), negative, mantissa, offset, window[3], high[2], low[3], middle, top, carry, r;

  negative = LLVMBuildICmp (B, LLVMIntSLT, bits, INTEGER (bits, 0), "");
  mantissa = LLVMBuildOr (B, LLVMBuildAnd (B, bits, INTEGER (bits, 0xfffffffffffff), ""), INTEGER (bits, G_GINT64_CONSTANT (1) << 52), "");
  offset = LLVMBuildAnd (B, LLVMBuildLShr (B, bits, INTEGER (bits, 52), ""), INTEGER (bits, 0x7ff), "");
  /* |x| = mantissa 2^(exponent - 1075). What stands before the bit of weight 2 in mantissa * 2/pi counts whole turns: the
   * window begins there. */
  offset = LLVMBuildSub (B, offset, INTEGER (offset, 1075 + 1 - 63), "");
  take_window (e, offset, window);
  low[2] = product (e, mantissa, window[2], &high[1]);
  low[1] = product (e, mantissa, window[1], &high[0]);
  low[0] = LLVMBuildMul (B, mantissa, window[0], "");
  middle = LLVMBuildAdd (B, low[1], high[1], "");
  carry = LLVMBuildZExt (B, LLVMBuildICmp (B, LLVMIntULT, middle, low[1], ""), i64, "");
  top = LLVMBuildAdd (B, LLVMBuildAdd (B, low[0], high[0], ""), carry, "");
  /* Two bits of turns, then the fraction: to the nearest. */
  *turns = LLVMBuildLShr (B, LLVMBuildAdd (B, top, INTEGER (top, G_GINT64_CONSTANT (1) << 61), ""), INTEGER (top, 62), "");
  top = LLVMBuildAShr (B, LLVMBuildShl (B, top, INTEGER (top, 2), ""), INTEGER (top, 2), "");
  r = LLVMBuildFMul (B, LLVMBuildUIToFP (B, middle, real, ""), LLVMConstReal (real, 0x1p-126), "");
  r = gantry_emit_fused (e, LLVMBuildSIToFP (B, top, real, ""), LLVMConstReal (real, 0x1p-62), r);
  r = LLVMBuildFMul (B, r, LLVMConstReal (real, M_PI_2), "");
  *turns = LLVMBuildSelect (B, negative, LLVMBuildNeg (B, *turns, ""), *turns, "");
  return LLVMBuildSelect (B, negative, LLVMBuildFNeg (B, r, ""), r, "");
}

static V
reduce_near (GantryEmit *e, V x, V *turns)
{
  static const double parts[] = { -0x1.921fb54442d18p+0, -0x1.1a62633145c07p-54, 0x1.f1976b7ed8fbcp-110 };
  const double magic = 6755399441055744.0; /* 1.5 * 2^52 */
  V t = gantry_emit_fused (e, x, REAL (x, M_2_PI), REAL (x, magic));
  V whole = LLVMBuildFSub (B, t, REAL (x, magic), ""), r = x;

  *turns = LLVMBuildBitCast (B, t, gantry_emit_i64_like (e, x), "");
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    r = gantry_emit_fused (e, whole, REAL (x, parts[i]), r);
  return r;
}

/* A branch past the far reduction; scalars only. */
static V
reduce (GantryEmit *e, V x, V *turns)
{
  LLVMBasicBlockRef far_block = LLVMAppendBasicBlockInContext (e->context, e->function, "far");
  LLVMBasicBlockRef join = LLVMAppendBasicBlockInContext (e->context, e->function, "join"), near_block;
  V near_turns, far_turns, near_rest = reduce_near (e, x, &near_turns), far_rest, rest;
  V is_far = LLVMBuildFCmp (B, LLVMRealUGT, gantry_emit_call1 (e, "llvm.fabs", x), REAL (x, FAR_FROM_ZERO), "");

  near_block = LLVMGetInsertBlock (B);
  LLVMBuildCondBr (B, is_far, far_block, join);
  LLVMPositionBuilderAtEnd (B, far_block);
  far_rest = reduce_far (e, x, &far_turns);
  LLVMBuildBr (B, join);
  LLVMPositionBuilderAtEnd (B, join);
  rest = LLVMBuildPhi (B, LLVMTypeOf (x), "");
  *turns = LLVMBuildPhi (B, LLVMTypeOf (near_turns), "");
  LLVMAddIncoming (rest, (V[]){ near_rest, far_rest }, (LLVMBasicBlockRef[]){ near_block, far_block }, 2);
  LLVMAddIncoming (*turns, (V[]){ near_turns, far_turns }, (LLVMBasicBlockRef[]){ near_block, far_block }, 2);
  /* Of infinity there is no sine. */
  return LLVMBuildFAdd (B, rest, LLVMBuildFMul (B, x, REAL (x, 0), ""), "");
}

static V
sine_of (GantryEmit *e, V r)
{
  double coefficients[8], factorial = 1;
  V square = LLVMBuildFMul (B, r, r, "");

  for (guint k = 0; k < G_N_ELEMENTS (coefficients); k++)
    {
      factorial *= -(2.0 * k + 2) * (2.0 * k + 3);
      coefficients[k] = 1 / factorial;
    }
  return gantry_emit_fused (e, LLVMBuildFMul (B, square, r, ""), gantry_emit_polynomial (e, square, coefficients, G_N_ELEMENTS (coefficients)), r);
}

static V
cosine_of (GantryEmit *e, V r)
{
  double coefficients[7], factorial = -2;
  V square = LLVMBuildFMul (B, r, r, ""), first = gantry_emit_fused (e, square, REAL (r, -0.5), REAL (r, 1));

  for (guint k = 0; k < G_N_ELEMENTS (coefficients); k++)
    {
      factorial *= -(2.0 * k + 3) * (2.0 * k + 4);
      coefficients[k] = 1 / factorial;
    }
  return gantry_emit_fused (e, LLVMBuildFMul (B, square, square, ""), gantry_emit_polynomial (e, square, coefficients, G_N_ELEMENTS (coefficients)), first);
}

static V
is_odd (GantryEmit *e, V turns)
{
  return LLVMBuildICmp (B, LLVMIntNE, LLVMBuildAnd (B, turns, INTEGER (turns, 1), ""), INTEGER (turns, 0), "");
}

/* Sine, a quarter of a turn later when @ahead is 1. */
static V
wave (GantryEmit *e, V x, gint64 ahead)
{
  V turns, r = reduce (e, x, &turns), sign, value;

  turns = LLVMBuildAdd (B, turns, INTEGER (turns, ahead), "");
  sign = LLVMBuildShl (B, LLVMBuildAnd (B, turns, INTEGER (turns, 2), ""), INTEGER (turns, 62), "");
  value = LLVMBuildSelect (B, is_odd (e, turns), cosine_of (e, r), sine_of (e, r), "");
  value = LLVMBuildXor (B, LLVMBuildBitCast (B, value, LLVMTypeOf (turns), ""), sign, "");
  return LLVMBuildBitCast (B, value, LLVMTypeOf (x), "");
}

V
gantry_emit_double_sin (GantryEmit *e, V x)
{
  /* Minus zero keeps its sign. */
  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOEQ, x, REAL (x, 0), ""), x, wave (e, x, 0), "");
}

V
gantry_emit_double_cos (GantryEmit *e, V x)
{
  return wave (e, x, 1);
}

V
gantry_emit_double_tan (GantryEmit *e, V x)
{
  V turns, r = reduce (e, x, &turns), s = sine_of (e, r), c = cosine_of (e, r), odd = is_odd (e, turns), value;

  value = LLVMBuildFDiv (B, LLVMBuildSelect (B, odd, LLVMBuildFNeg (B, c, ""), s, ""), LLVMBuildSelect (B, odd, s, c, ""), "");
  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOEQ, x, REAL (x, 0), ""), x, value, "");
}

/* Inverses */

#define HALF_PI_REST 0x1.1a62633145c07p-54

static V
greater (GantryEmit *e, V x, double value)
{
  return LLVMBuildFCmp (B, LLVMRealOGT, x, REAL (x, value), "");
}

/* Of t in [0, 1]. Above tan (pi / 8): pi/4 + atan ((t - 1) / (t + 1)). */
static V
arc_tangent (GantryEmit *e, V t)
{
  static const double coefficients[] = { -0.33333333333333331,  0.19999999999995091,  -0.14285714284577217,  0.11111111008107874,
                                         -0.090909042891285166, 0.076921765107959283, -0.066644178241869551, 0.058573396761385246,
                                         -0.050812361646425427, 0.039110536743476129, -0.019029290809743134 };
  V upper = greater (e, t, 0.41421356237309503), z, r;

  z = LLVMBuildFDiv (B, LLVMBuildFSub (B, t, REAL (t, 1), ""), LLVMBuildFAdd (B, t, REAL (t, 1), ""), "");
  t = LLVMBuildSelect (B, upper, z, t, "");
  z = LLVMBuildFMul (B, t, t, "");
  r = gantry_emit_polynomial (e, z, coefficients, G_N_ELEMENTS (coefficients));
  r = LLVMBuildFMul (B, LLVMBuildFMul (B, z, t, ""), r, "");
  r = LLVMBuildFAdd (B, r, LLVMBuildSelect (B, upper, REAL (t, HALF_PI_REST / 2), REAL (t, 0), ""), "");
  r = LLVMBuildFAdd (B, r, t, "");
  return LLVMBuildFAdd (B, r, LLVMBuildSelect (B, upper, REAL (t, M_PI_4), REAL (t, 0), ""), "");
}

/* pi/2 - x, or pi - x for @times 2 */
static V
away_from (GantryEmit *e, V x, double times)
{
  return LLVMBuildFSub (B, REAL (x, M_PI_2 * times), LLVMBuildFSub (B, x, REAL (x, HALF_PI_REST * times), ""), "");
}

V
gantry_emit_double_atan (GantryEmit *e, V x)
{
  V a = gantry_emit_call1 (e, "llvm.fabs", x), outside = greater (e, a, 1);
  V t = LLVMBuildSelect (B, outside, LLVMBuildFDiv (B, REAL (x, 1), a, ""), a, ""), r = arc_tangent (e, t);

  return gantry_emit_copy_sign (e, LLVMBuildSelect (B, outside, away_from (e, r, 1), r, ""), x);
}

V
gantry_emit_double_atan2 (GantryEmit *e, V y, V x)
{
  V a = gantry_emit_call1 (e, "llvm.fabs", y), b = gantry_emit_call1 (e, "llvm.fabs", x);
  V steep = LLVMBuildFCmp (B, LLVMRealOGT, a, b, ""), large, small, t, r, zero, behind, infinite;
  V bits = LLVMBuildBitCast (B, x, gantry_emit_i64_like (e, x), "");

  large = LLVMBuildSelect (B, steep, a, b, "");
  small = LLVMBuildSelect (B, steep, b, a, "");
  t = LLVMBuildFDiv (B, small, large, "");
  zero = LLVMBuildFCmp (B, LLVMRealOEQ, large, REAL (x, 0), "");
  infinite = LLVMBuildAnd (B, LLVMBuildFCmp (B, LLVMRealOEQ, a, b, ""), LLVMBuildFCmp (B, LLVMRealOEQ, a, REAL (x, INFINITY), ""), "");
  t = LLVMBuildSelect (B, zero, REAL (x, 0), LLVMBuildSelect (B, infinite, REAL (x, 1), t, ""), "");
  r = arc_tangent (e, t);
  r = LLVMBuildSelect (B, steep, away_from (e, r, 1), r, "");
  behind = LLVMBuildICmp (B, LLVMIntSLT, bits, INTEGER (bits, 0), "");
  r = LLVMBuildSelect (B, behind, away_from (e, r, 2), r, "");
  r = LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealUNO, x, y, ""), REAL (x, NAN), r, "");
  return gantry_emit_copy_sign (e, r, y);
}

/* asin of t in [0, 0.5], z its square */
static V
arc_sine (GantryEmit *e, V t, V z)
{
  static const double coefficients[] = { 0.16666666666666669,  0.074999999999983885,  0.044642857146446051, 0.030381944131237199, 0.022372173243832207,
                                         0.017352385393480947, 0.013971325328728771,  0.011478047472510145, 0.010330370295404406, 0.005424230839804001,
                                         0.017493569476248205, -0.014999855783811349, 0.02886097438799853 };
  V p = gantry_emit_polynomial (e, z, coefficients, G_N_ELEMENTS (coefficients));

  return gantry_emit_fused (e, LLVMBuildFMul (B, z, t, ""), p, t);
}

/* Above 1/2: by half the angle to 1. *upper says where. */
static V
arc_of (GantryEmit *e, V a, V *upper)
{
  V z = LLVMBuildFMul (B, LLVMBuildFSub (B, REAL (a, 1), a, ""), REAL (a, 0.5), ""), root;

  *upper = greater (e, a, 0.5);
  root = gantry_emit_call1 (e, "llvm.sqrt", z);
  z = LLVMBuildSelect (B, *upper, z, LLVMBuildFMul (B, a, a, ""), "");
  return arc_sine (e, LLVMBuildSelect (B, *upper, root, a, ""), z);
}

V
gantry_emit_double_asin (GantryEmit *e, V x)
{
  V upper, r = arc_of (e, gantry_emit_call1 (e, "llvm.fabs", x), &upper);
  V twice = LLVMBuildFMul (B, r, REAL (x, 2), "");

  return gantry_emit_copy_sign (e, LLVMBuildSelect (B, upper, away_from (e, twice, 1), r, ""), x);
}

V
gantry_emit_double_acos (GantryEmit *e, V x)
{
  V upper, r = arc_of (e, gantry_emit_call1 (e, "llvm.fabs", x), &upper);
  V twice = LLVMBuildFMul (B, r, REAL (x, 2), ""), behind = LLVMBuildFCmp (B, LLVMRealOLT, x, REAL (x, 0), "");
  V outer = LLVMBuildSelect (B, behind, away_from (e, twice, 2), twice, "");

  return LLVMBuildSelect (B, upper, outer, away_from (e, gantry_emit_copy_sign (e, r, x), 1), "");
}
