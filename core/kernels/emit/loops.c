/* SPDX-License-Identifier: Apache-2.0 */
/* What only a loop can compute: the remainder of numbers of reals, by long division of the mantissas as integers, and powers
 * of integers by squaring. Scalars; the bodies of functions of their own (own.c). */
#include "core/kernels/emit/double-private.h"
#include <math.h>

#define B (e->builder)
#define INTEGER(x, value) gantry_emit_integer_like (x, value)

typedef LLVMValueRef V;

typedef struct
{
  LLVMBasicBlockRef before, body, after;
  V phi[3];
  guint n;
} Loop;

/* while (@more): the values are phi[i], from start[i] on. The builder is left in the body. */
static Loop
begin_loop (GantryEmit *e, const V *start, guint n)
{
  Loop loop = { .before = LLVMGetInsertBlock (B), .n = n };

  loop.body = LLVMAppendBasicBlockInContext (e->context, e->function, "loop");
  loop.after = LLVMAppendBasicBlockInContext (e->context, e->function, "done");
  LLVMBuildBr (B, loop.body);
  LLVMPositionBuilderAtEnd (B, loop.body);
  for (guint i = 0; i < n; i++)
    {
      loop.phi[i] = LLVMBuildPhi (B, LLVMTypeOf (start[i]), "");
      LLVMAddIncoming (loop.phi[i], (V *) &start[i], &loop.before, 1);
    }
  return loop;
}

static void
end_loop (GantryEmit *e, Loop *loop, V more, const V *next)
{
  LLVMBasicBlockRef here = LLVMGetInsertBlock (B);

  LLVMBuildCondBr (B, more, loop->body, loop->after);
  for (guint i = 0; i < loop->n; i++)
    LLVMAddIncoming (loop->phi[i], (V *) &next[i], &here, 1);
  LLVMPositionBuilderAtEnd (B, loop->after);
}

/* Remainder */

typedef struct
{
  guint mantissa; /* bits */
  guint64 biased; /* largest exponent */
} Format;

/* A number that is not negative as mantissa times 2^(exponent - bias), the exponent from 1 on; both i64. */
static V
take_apart (GantryEmit *e, V x, const Format *format, V *exponent)
{
  LLVMTypeRef i64 = LLVMInt64TypeInContext (e->context);
  LLVMTypeRef own = LLVMIntTypeInContext (e->context, format->mantissa == 52 ? 64 : 32);
  V bits = LLVMBuildZExt (B, LLVMBuildBitCast (B, x, own, ""), i64, ""), normal, mantissa;

  *exponent = LLVMBuildLShr (B, bits, INTEGER (bits, format->mantissa), "");
  mantissa = LLVMBuildAnd (B, bits, INTEGER (bits, (G_GINT64_CONSTANT (1) << format->mantissa) - 1), "");
  normal = LLVMBuildICmp (B, LLVMIntNE, *exponent, INTEGER (bits, 0), "");
  mantissa = LLVMBuildOr (B, mantissa, LLVMBuildSelect (B, normal, INTEGER (bits, G_GINT64_CONSTANT (1) << format->mantissa), INTEGER (bits, 0), ""), "");
  *exponent = LLVMBuildSelect (B, normal, *exponent, INTEGER (bits, 1), "");
  return mantissa;
}

/* @mantissa times 2^(exponent - bias): a product of two numbers that are exact. */
static V
put_together (GantryEmit *e, V mantissa, V exponent, const Format *format, LLVMTypeRef type)
{
  LLVMTypeRef own = LLVMIntTypeInContext (e->context, format->mantissa == 52 ? 64 : 32);
  V shift = LLVMBuildSub (B, exponent, INTEGER (exponent, format->mantissa), "");
  V normal = LLVMBuildICmp (B, LLVMIntSGT, shift, INTEGER (shift, 0), "");
  V high = LLVMBuildShl (B, LLVMBuildSelect (B, normal, shift, INTEGER (shift, 0), ""), INTEGER (shift, format->mantissa), "");
  V low = LLVMBuildShl (B, INTEGER (shift, 1), LLVMBuildSelect (B, normal, INTEGER (shift, 0), LLVMBuildSub (B, exponent, INTEGER (shift, 1), ""), ""), "");
  V unit = LLVMBuildTrunc (B, LLVMBuildSelect (B, normal, high, low, ""), own, "");

  return LLVMBuildFMul (B, LLVMBuildUIToFP (B, mantissa, type, ""), LLVMBuildBitCast (B, unit, type, ""), "");
}

V
gantry_emit_loop_remainder (GantryEmit *e, V x, V y)
{
  LLVMTypeRef type = LLVMTypeOf (x);
  gboolean wide = LLVMGetTypeKind (type) == LLVMDoubleTypeKind;
  const Format format = wide ? (Format){ 52, 0x7ff } : (Format){ 23, 0xff };
  V a = gantry_emit_call1 (e, "llvm.fabs", x), b = gantry_emit_call1 (e, "llvm.fabs", y);
  V none, smaller, mx, my, ex, ey, distance, step, rest, r, safe;
  Loop loop;

  none = LLVMBuildOr (B, LLVMBuildFCmp (B, LLVMRealUEQ, b, gantry_emit_real (type, 0), ""),
                      LLVMBuildFCmp (B, LLVMRealUEQ, a, gantry_emit_real (type, INFINITY), ""), "");
  smaller = LLVMBuildFCmp (B, LLVMRealOLT, a, b, "");
  mx = take_apart (e, a, &format, &ex);
  my = take_apart (e, b, &format, &ey);
  safe = LLVMBuildSelect (B, LLVMBuildICmp (B, LLVMIntEQ, my, INTEGER (my, 0), ""), INTEGER (my, 1), my, "");
  distance = LLVMBuildSub (B, ex, ey, "");
  distance = LLVMBuildSelect (B, LLVMBuildOr (B, none, smaller, ""), INTEGER (distance, 0), distance, "");
  /* As many bits at once as 64 leave room for beside the mantissa. */
  loop = begin_loop (e, (V[]){ LLVMBuildURem (B, mx, safe, ""), distance }, 2);
  step = LLVMBuildSelect (B, LLVMBuildICmp (B, LLVMIntSLT, loop.phi[1], INTEGER (distance, 63 - (gint) format.mantissa), ""), loop.phi[1],
                          INTEGER (distance, 63 - (gint) format.mantissa), "");
  step = LLVMBuildSelect (B, LLVMBuildICmp (B, LLVMIntSLT, step, INTEGER (step, 0), ""), INTEGER (step, 0), step, "");
  r = LLVMBuildURem (B, LLVMBuildShl (B, loop.phi[0], step, ""), safe, "");
  rest = LLVMBuildSub (B, loop.phi[1], step, "");
  end_loop (e, &loop, LLVMBuildICmp (B, LLVMIntSGT, rest, INTEGER (rest, 0), ""), (V[]){ r, rest });
  r = put_together (e, r, ey, &format, type);
  r = LLVMBuildSelect (B, smaller, a, r, "");
  r = LLVMBuildSelect (B, none, gantry_emit_real (type, NAN), r, "");
  return gantry_emit_copy_sign (e, r, x);
}

/* Powers */

V
gantry_emit_loop_power_unsigned (GantryEmit *e, V base, V exponent)
{
  Loop loop = begin_loop (e, (V[]){ INTEGER (base, 1), base, exponent }, 3);
  V odd = LLVMBuildICmp (B, LLVMIntNE, LLVMBuildAnd (B, loop.phi[2], INTEGER (base, 1), ""), INTEGER (base, 0), "");
  V result = LLVMBuildSelect (B, odd, LLVMBuildMul (B, loop.phi[0], loop.phi[1], ""), loop.phi[0], "");
  V rest = LLVMBuildLShr (B, loop.phi[2], INTEGER (base, 1), "");

  end_loop (e, &loop, LLVMBuildICmp (B, LLVMIntNE, rest, INTEGER (base, 0), ""), (V[]){ result, LLVMBuildMul (B, loop.phi[1], loop.phi[1], ""), rest });
  return result;
}

/* With a negative exponent only the powers of 1 and -1 are not zero. */
V
gantry_emit_loop_power_signed (GantryEmit *e, V base, V exponent)
{
  V zero = INTEGER (base, 0), one = INTEGER (base, 1), minus_one = INTEGER (base, -1), below, odd, of_minus_one, r;

  below = LLVMBuildICmp (B, LLVMIntSLT, exponent, zero, "");
  odd = LLVMBuildICmp (B, LLVMIntNE, LLVMBuildAnd (B, exponent, one, ""), zero, "");
  of_minus_one = LLVMBuildSelect (B, odd, minus_one, one, "");
  of_minus_one = LLVMBuildSelect (B, LLVMBuildICmp (B, LLVMIntEQ, base, minus_one, ""), of_minus_one, zero, "");
  of_minus_one = LLVMBuildSelect (B, LLVMBuildICmp (B, LLVMIntEQ, base, one, ""), one, of_minus_one, "");
  r = gantry_emit_loop_power_unsigned (e, base, LLVMBuildSelect (B, below, zero, exponent, ""));
  return LLVMBuildSelect (B, below, of_minus_one, r, "");
}
