/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions of float by the unit for special functions that NVIDIA's multiprocessors have (PTX ISA, "Floating Point
 * Instructions": ex2.approx and its like): one instruction each, with the errors that emit.h states. Two kinds of code:
 *
 * - of f32: by range reductions and corrections about them, as exact as tests/core/kernels/test-kernels-special.c states;
 * - of bf16 and f16, whose values are computed with as float and have 8 or 11 bits: what is good to a quarter of their last place.
 *
 * A quotient of bf16 or f16 is rounded to its type at once, since what follows may ask whether it is whole: x (1 / x) is not 1.
 *
 * On the processor the unit is modelled by functions of core/kernels/cpu/special-model.c, which the same code calls. */
#include "core/kernels/emit/emit.h"
#include <math.h>
#include <string.h>

#define B (e->builder)

typedef LLVMValueRef V;

static const struct
{
  const char *intrinsic; /* NULL: LLVM 19 has none */
  const char *assembly;
  const char *model;
} instructions[] = {
  [GANTRY_SPECIAL_EX2] = { "llvm.nvvm.ex2.approx.ftz.f", NULL, "gantry_special_ex2" },
  [GANTRY_SPECIAL_LG2] = { "llvm.nvvm.lg2.approx.f", NULL, "gantry_special_lg2" },
  [GANTRY_SPECIAL_RCP] = { "llvm.nvvm.rcp.approx.ftz.f", NULL, "gantry_special_rcp" },
  [GANTRY_SPECIAL_RSQRT] = { "llvm.nvvm.rsqrt.approx.f", NULL, "gantry_special_rsqrt" },
  [GANTRY_SPECIAL_SQRT] = { "llvm.nvvm.sqrt.approx.f", NULL, "gantry_special_sqrt" },
  [GANTRY_SPECIAL_TANH] = { NULL, "tanh.approx.f32 $0, $1;", "gantry_special_tanh" },
};

static V
each_lane (GantryEmit *e, GantrySpecial which, V x)
{
  LLVMTypeRef i32 = LLVMInt32TypeInContext (e->context);
  V result = LLVMGetPoison (LLVMTypeOf (x));

  for (guint l = 0; l < gantry_emit_lanes (LLVMTypeOf (x)); l++)
    {
      V lane = LLVMConstInt (i32, l, FALSE);
      V one = gantry_emit_special (e, which, LLVMBuildExtractElement (B, x, lane, ""));

      result = LLVMBuildInsertElement (B, result, one, lane, "");
    }
  return result;
}

V
gantry_emit_special (GantryEmit *e, GantrySpecial which, V x)
{
  LLVMTypeRef type = LLVMTypeOf (x), signature = LLVMFunctionType (type, &type, 1, FALSE);
  const char *text = instructions[which].assembly;
  V callee;

  if (gantry_emit_lanes (type) > 1)
    return each_lane (e, which, x);
  if (e->special == GANTRY_SPECIAL_BY_MODEL)
    {
      callee = LLVMGetNamedFunction (e->module, instructions[which].model);
      if (callee == NULL)
        callee = LLVMAddFunction (e->module, instructions[which].model, signature);
    }
  else if (text == NULL)
    return gantry_emit_intrinsic (e, instructions[which].intrinsic, NULL, 0, &x, 1);
  else
    callee = LLVMGetInlineAsm (signature, text, strlen (text), "=f,f", strlen ("=f,f"), FALSE, FALSE, LLVMInlineAsmDialectATT, FALSE);
  return LLVMBuildCall2 (B, signature, callee, &x, 1, "");
}

/* Words */

static V
real (V like, double value)
{
  return gantry_emit_real (LLVMTypeOf (like), value);
}

static V
scaled (GantryEmit *e, V x, double factor)
{
  return LLVMBuildFMul (B, x, real (x, factor), "");
}

static V
absolute (GantryEmit *e, V x)
{
  LLVMTypeRef type = LLVMTypeOf (x);

  return gantry_emit_intrinsic (e, "llvm.fabs", &type, 1, &x, 1);
}

static V
choose (GantryEmit *e, V x, LLVMRealPredicate predicate, double than, V yes, V no)
{
  return LLVMBuildSelect (B, LLVMBuildFCmp (B, predicate, x, real (x, than), ""), yes, no, "");
}

#define POLYNOMIAL(x, list) gantry_emit_horner (e, (x), (list), G_N_ELEMENTS (list))

/* To [0, 1]; 0 of what is no number */
static V
saturate (GantryEmit *e, V x)
{
  if (e->special == GANTRY_SPECIAL_BY_UNIT)
    return gantry_emit_intrinsic (e, "llvm.nvvm.saturate.f", NULL, 0, &x, 1);
  return choose (e, x, LLVMRealOGT, 0, choose (e, x, LLVMRealOLT, 1, x, real (x, 1)), real (x, 0));
}

/* Of f32 */

/* log2 e: a float and what is left */
static const double log2e = 1.44269502162933349609375, log2e_rest = 1.92596299112661746887e-8;

/* Adds 2^23 1.5 and @bias, the sum's last eight bits, so that they are the exponent of 2^j in *power. Returns: x log2e - j, of at
 * most 1/2, where @m = x log2e + 12582912 + @bias, rounded, or less than that */
static V
reduce_exponential (GantryEmit *e, V x, V m, double bias, V *power)
{
  V whole = LLVMBuildFSub (B, real (x, 12582912 + bias), m, ""), bits;

  bits = LLVMBuildBitCast (B, m, gantry_emit_like (LLVMInt32TypeInContext (e->context), LLVMTypeOf (x)), "");
  bits = LLVMBuildShl (B, bits, gantry_emit_integer (LLVMTypeOf (bits), 23), "");
  *power = LLVMBuildBitCast (B, bits, LLVMTypeOf (x), "");
  return gantry_emit_fma (e, x, real (x, log2e_rest), gantry_emit_fma (e, x, real (x, log2e), whole));
}

/* e^x = 2^j 2^f with j whole in [-126, 127], beyond which f takes the rest: what is infinite or subnormal comes of the product. */
V
gantry_emit_special_exp (GantryEmit *e, V x)
{
  V t = saturate (e, gantry_emit_fma (e, x, real (x, log2e / 253), real (x, 126.0 / 253))), power, f;

  f = reduce_exponential (e, x, gantry_emit_fma (e, t, real (x, 253), real (x, 12582913)), 127, &power);
  return LLVMBuildFMul (B, gantry_emit_special (e, GANTRY_SPECIAL_EX2, f), power, "");
}

/* 1 / (1 + 2^x) */
static V
reciprocal_of_sum (GantryEmit *e, V x)
{
  V t = gantry_emit_special (e, GANTRY_SPECIAL_EX2, x);

  return gantry_emit_special (e, GANTRY_SPECIAL_RCP, LLVMBuildFAdd (B, t, real (x, 1), ""));
}

/* An odd polynomial below 0.6, 1 - 2 / (1 + e^2|x|) above, where the difference costs one digit. */
static V
tanh_of_float (GantryEmit *e, V x)
{
  static const double small[] = { -3.333259751e-01, 1.331311668e-01, -5.221180788e-02, 1.561263449e-02 };
  V a = absolute (e, x), square = LLVMBuildFMul (B, x, x, "");
  V below = gantry_emit_fma (e, LLVMBuildFMul (B, square, POLYNOMIAL (square, small), ""), a, a);
  V above = gantry_emit_fma (e, reciprocal_of_sum (e, scaled (e, a, 2 * M_LOG2E)), real (x, -2), real (x, 1));

  return gantry_emit_copy_sign (e, choose (e, a, LLVMRealOGE, 0.6, above, below), x);
}

/* t / (1 + t) or 1 / (1 + t) with t = e^-|x| of at most 1: nothing overflows. What t is off by is doubled where the quotient is just
 * above a power of two, which is too much with ex2's two units: 2^f is a polynomial here, and the reciprocal takes a step of
 * Newton's. */
static V
logistic_of_float (GantryEmit *e, V x)
{
  static const double coefficients[] = { 1, 6.931472029e-01, 2.402264791e-01, 5.550332471e-02, 9.618437358e-03, 1.339887445e-03, 1.535336181e-04 };
  V a = gantry_emit_binary (e, GANTRY_OP_MAXIMUM, GANTRY_F32, LLVMBuildFNeg (B, absolute (e, x), ""), real (x, -104));
  V m = gantry_emit_fma (e, a, real (x, log2e), real (x, 12582912 + 127 + 100)), power, f, t, d, r;

  /* 2^100 t, which is made of no subnormal factor, and 2^-100 r */
  f = reduce_exponential (e, a, m, 127 + 100, &power);
  t = LLVMBuildFMul (B, POLYNOMIAL (f, coefficients), power, "");
  d = LLVMBuildFAdd (B, t, real (x, 0x1p100), "");
  r = gantry_emit_special (e, GANTRY_SPECIAL_RCP, d);
  r = gantry_emit_fma (e, gantry_emit_fma (e, LLVMBuildFNeg (B, d, ""), r, real (x, 1)), r, r);
  return LLVMBuildFMul (B, choose (e, x, LLVMRealOGE, 0, real (x, 0x1p100), t), r, "");
}

/* One step of Newton's halves what the unit is off by; of 0, infinity and less there is none. */
static V
reciprocal_root_of_float (GantryEmit *e, V x)
{
  V r = gantry_emit_special (e, GANTRY_SPECIAL_RSQRT, x), half = scaled (e, r, 0.5);
  V rest = gantry_emit_fma (e, LLVMBuildFNeg (B, LLVMBuildFMul (B, x, r, ""), ""), r, real (x, 1));

  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealUNO, rest, rest, ""), r, gantry_emit_fma (e, half, rest, r), "");
}

/* Of bf16 and f16 */

static V
short_exp (GantryEmit *e, V x)
{
  return gantry_emit_special (e, GANTRY_SPECIAL_EX2, scaled (e, x, M_LOG2E));
}

/* Near 0, where e^x - 1 and log (1 + x) have lost their digits, x (1 + b x + c x^2) */
static V
near_zero (GantryEmit *e, V x, double below, double b, double c, V away)
{
  V r = gantry_emit_fma (e, gantry_emit_fma (e, x, real (x, c), real (x, b)), x, real (x, 1));

  return choose (e, absolute (e, x), LLVMRealOLT, below, LLVMBuildFMul (B, x, r, ""), away);
}

static V
short_expm1 (GantryEmit *e, V x)
{
  return near_zero (e, x, 0x1p-5, 1.0 / 2, 1.0 / 6, LLVMBuildFSub (B, short_exp (e, x), real (x, 1), ""));
}

/* @x is @less_one + 1. */
static V
short_log (GantryEmit *e, V x, V less_one)
{
  return near_zero (e, less_one, 0x1p-6, -1.0 / 2, 1.0 / 3, scaled (e, gantry_emit_special (e, GANTRY_SPECIAL_LG2, x), M_LN2));
}

static V
short_logistic (GantryEmit *e, V x)
{
  return reciprocal_of_sum (e, scaled (e, x, -M_LOG2E));
}

/* The instruction's 2^-10.987 is an eighth of bf16's last place, or a quarter, but one of f16's. */
static V
short_tanh (GantryEmit *e, GantryElementType of, V x)
{
  V r;

  if (of == GANTRY_BF16)
    return gantry_emit_special (e, GANTRY_SPECIAL_TANH, x);
  r = gantry_emit_fma (e, reciprocal_of_sum (e, scaled (e, x, 2 * M_LOG2E)), real (x, -2), real (x, 1));
  return choose (e, absolute (e, x), LLVMRealOLT, 0.01, x, r);
}

/* As math.c has it, with fewer digits */
static V
short_erf (GantryEmit *e, V x)
{
  static const double small[] = { 1.128347446, -3.751367770e-01, 1.078341283e-01, -1.836772085e-02 };
  static const double large[] = { -4.713959357e-02, -1.476820386, -1.104164373, -4.031224989e-02 };
  V a = absolute (e, x), limited = choose (e, a, LLVMRealOGT, 4, real (x, 4), a);
  V below = LLVMBuildFMul (B, x, POLYNOMIAL (LLVMBuildFMul (B, x, x, ""), small), "");
  V tail = gantry_emit_special (e, GANTRY_SPECIAL_EX2, POLYNOMIAL (limited, large));

  return choose (e, a, LLVMRealOLT, 1, below, gantry_emit_copy_sign (e, LLVMBuildFSub (B, real (x, 1), tail, ""), x));
}

/* Is @y one number whose reciprocal is not much too large or small? */
static gboolean
has_reciprocal (V y)
{
  LLVMBool inexact;
  double value;

  if (LLVMIsAConstantFP (y) == NULL)
    return FALSE;
  value = fabs (LLVMConstRealGetDouble (y, &inexact));
  return value >= 0x1p-100 && value <= 0x1p100;
}

/* bf16 has all exponents of float, and the unit none of the smallest: both operands are scaled to where it has. */
static V
short_quotient (GantryEmit *e, GantryElementType of, V x, V y)
{
  if (has_reciprocal (y))
    return gantry_emit_cast (e, of, GANTRY_F32, LLVMBuildFMul (B, x, LLVMBuildFDiv (B, real (y, 1), y, ""), ""));
  if (of == GANTRY_BF16)
    {
      V a = absolute (e, y), factor = choose (e, a, LLVMRealOGT, 0x1p100, real (y, 0x1p-50), real (y, 1));

      factor = choose (e, a, LLVMRealOLT, 0x1p-100, real (y, 0x1p50), factor);
      x = LLVMBuildFMul (B, x, factor, "");
      y = LLVMBuildFMul (B, y, factor, "");
    }
  return gantry_emit_cast (e, of, GANTRY_F32, LLVMBuildFMul (B, x, gantry_emit_special (e, GANTRY_SPECIAL_RCP, y), ""));
}

static V
of_short (GantryEmit *e, GantryOp op, GantryElementType of, V x, V y)
{
  switch (op)
    {
    case GANTRY_OP_EXPONENTIAL: return short_exp (e, x);
    case GANTRY_OP_LOGISTIC: return short_logistic (e, x);
    case GANTRY_OP_TANH: return short_tanh (e, of, x);
    case GANTRY_OP_ERF: return short_erf (e, x);
    case GANTRY_OP_RSQRT: return gantry_emit_special (e, GANTRY_SPECIAL_RSQRT, x);
    case GANTRY_OP_SQRT: return gantry_emit_special (e, GANTRY_SPECIAL_SQRT, x);
    case GANTRY_OP_DIVIDE: return short_quotient (e, of, x, y);
    case GANTRY_OP_EXPONENTIAL_MINUS_ONE: return short_expm1 (e, x);
    case GANTRY_OP_LOG: return short_log (e, x, LLVMBuildFSub (B, x, real (x, 1), ""));
    case GANTRY_OP_LOG_PLUS_ONE: return short_log (e, LLVMBuildFAdd (B, x, real (x, 1), ""), x);
    default: return NULL;
    }
}

/* e^x and what is made of it in math.c come to gantry_emit_special_exp() by themselves. */
static V
of_float (GantryEmit *e, GantryOp op, V x)
{
  switch (op)
    {
    case GANTRY_OP_TANH: return tanh_of_float (e, x);
    case GANTRY_OP_LOGISTIC: return logistic_of_float (e, x);
    case GANTRY_OP_RSQRT: return reciprocal_root_of_float (e, x);
    default: return NULL;
    }
}

V
gantry_emit_special_operation (GantryEmit *e, GantryOp op, GantryElementType of, V x, V y)
{
  if (e->special == GANTRY_SPECIAL_NONE || of == GANTRY_F64)
    return NULL;
  return of == GANTRY_F32 ? of_float (e, op, x) : of_short (e, op, of, x, y);
}
