/* SPDX-License-Identifier: Apache-2.0 */
/* Power and cube root of double. The logarithm in a power is held in two doubles: the exponent multiplies
 * its error by up to 745. */
#include "core/kernels/emit/double-private.h"
#include <math.h>

#define B (e->builder)
#define REAL(x, value) gantry_emit_real_like (x, value)
#define INTEGER(x, value) gantry_emit_integer_like (x, value)

typedef LLVMValueRef V;

/* log (x) of x > 0 as the sum of the value and *rest. */
static V
log_of (GantryEmit *e, V x, V *rest)
{
  V one = REAL (x, 1), n, m, f, d, d_rest, s, s_rest, z, whole, high, sum;

  m = gantry_emit_double_split (e, x, &n);
  n = LLVMBuildSIToFP (B, n, LLVMTypeOf (x), "");
  /* s = (m - 1) / (m + 1), with what the sum and the quotient round off. */
  f = LLVMBuildFSub (B, m, one, "");
  d = LLVMBuildFAdd (B, m, one, "");
  d_rest = LLVMBuildFSub (B, m, LLVMBuildFSub (B, d, one, ""), "");
  s = LLVMBuildFDiv (B, f, d, "");
  s_rest = gantry_emit_fused (e, LLVMBuildFNeg (B, s, ""), d, f);
  s_rest = gantry_emit_fused (e, LLVMBuildFNeg (B, s, ""), d_rest, s_rest);
  s_rest = LLVMBuildFDiv (B, s_rest, d, "");
  z = LLVMBuildFMul (B, s, s, "");
  /* n ln 2 + 2 s + (2 s_rest + s^3 series) */
  whole = LLVMBuildFMul (B, n, REAL (x, 0x1.62e42fefa3800p-1), "");
  high = LLVMBuildFMul (B, s, REAL (x, 2), "");
  sum = LLVMBuildFAdd (B, whole, high, "");
  *rest = LLVMBuildFSub (B, high, LLVMBuildFSub (B, sum, whole, ""), "");
  d = LLVMBuildFMul (B, LLVMBuildFMul (B, s, z, ""), gantry_emit_double_log_series (e, z), "");
  d = gantry_emit_fused (e, s_rest, REAL (x, 2), d);
  d = gantry_emit_fused (e, n, REAL (x, 0x1.ef35793c76730p-45), d);
  *rest = LLVMBuildFAdd (B, *rest, d, "");
  high = LLVMBuildFAdd (B, sum, *rest, "");
  *rest = LLVMBuildFSub (B, *rest, LLVMBuildFSub (B, high, sum, ""), "");
  return high;
}

V
gantry_emit_double_pow (GantryEmit *e, V x, V y)
{
  V a = gantry_emit_call1 (e, "llvm.fabs", x), rest, log, p, p_rest, far_out;

  log = log_of (e, a, &rest);
  log = LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOEQ, a, REAL (x, 0), ""), REAL (x, -INFINITY), log, "");
  log = LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealOEQ, a, REAL (x, INFINITY), ""), a, log, "");
  p = LLVMBuildFMul (B, y, log, "");
  p_rest = gantry_emit_fused (e, y, log, LLVMBuildFNeg (B, p, ""));
  p_rest = gantry_emit_fused (e, y, rest, p_rest);
  /* The parts of an infinity are no numbers; and beyond 800 all is infinite or zero. */
  far_out = LLVMBuildFCmp (B, LLVMRealUGT, gantry_emit_call1 (e, "llvm.fabs", p), REAL (x, 800), "");
  p_rest = LLVMBuildSelect (B, far_out, REAL (x, 0), p_rest, "");
  return gantry_emit_power_signs (e, x, y, gantry_emit_double_exp_of_sum (e, p, p_rest));
}

/* A third of the exponent by dividing the bits, then Halley's iteration, which triples the digits each time. */
V
gantry_emit_double_cbrt (GantryEmit *e, V x)
{
  V a = gantry_emit_call1 (e, "llvm.fabs", x), tiny, bits, t, usual;

  tiny = LLVMBuildFCmp (B, LLVMRealOLT, a, REAL (x, 0x1p-1022), "");
  a = LLVMBuildSelect (B, tiny, LLVMBuildFMul (B, a, REAL (x, 0x1p54), ""), a, "");
  bits = LLVMBuildBitCast (B, a, gantry_emit_i64_like (e, x), "");
  /* 2/3 of the bias 1023, and a little less, which makes the largest error smallest. */
  bits = LLVMBuildAdd (B, LLVMBuildUDiv (B, bits, INTEGER (bits, 3), ""), INTEGER (bits, 0x2a9f7893782da1ce), "");
  t = LLVMBuildBitCast (B, bits, LLVMTypeOf (x), "");
  for (guint i = 0; i < 3; i++)
    {
      V cube = LLVMBuildFMul (B, LLVMBuildFMul (B, t, t, ""), t, "");
      V over = LLVMBuildFSub (B, a, cube, ""), under = LLVMBuildFAdd (B, LLVMBuildFAdd (B, cube, cube, ""), a, "");

      /* t + t (a - t^3) / (2 t^3 + a) */
      t = gantry_emit_fused (e, t, LLVMBuildFDiv (B, over, under, ""), t);
    }
  t = LLVMBuildFMul (B, t, LLVMBuildSelect (B, tiny, REAL (x, 0x1p-18), REAL (x, 1), ""), "");
  usual = LLVMBuildAnd (B, LLVMBuildFCmp (B, LLVMRealONE, x, REAL (x, 0), ""), LLVMBuildFCmp (B, LLVMRealOLT, a, REAL (x, INFINITY), ""), "");
  return gantry_emit_copy_sign (e, LLVMBuildSelect (B, usual, t, gantry_emit_call1 (e, "llvm.fabs", x), ""), x);
}
