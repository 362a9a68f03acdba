/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions of double as code of our own, for processors without a C library: straight lines
 * over a scalar (or lanes), beside loops in emit-loops.c. They rely on fused multiply-adds. Errors are measured in
 * tests/core/kernels/test-kernels-own.c. Also the few words that their files share. */
#pragma once
#include "core/kernels/emit/emit.h"

G_BEGIN_DECLS

/* emit-double.c */
LLVMValueRef gantry_emit_double_exp (GantryEmit *e, LLVMValueRef x);
/** e^(x + tail) of |x| < 800 or so, @tail (nullable) less than x's last digit. */
LLVMValueRef gantry_emit_double_exp_of_sum (GantryEmit *e, LLVMValueRef x, LLVMValueRef tail);
LLVMValueRef gantry_emit_double_expm1 (GantryEmit *e, LLVMValueRef x);
LLVMValueRef gantry_emit_double_log (GantryEmit *e, LLVMValueRef x);
LLVMValueRef gantry_emit_double_log1p (GantryEmit *e, LLVMValueRef x);
/** x = m 2^n with m in [sqrt 0.5, sqrt 2), for x > 0: returns m; n as i64 in *exponent. */
LLVMValueRef gantry_emit_double_split (GantryEmit *e, LLVMValueRef x, LLVMValueRef *exponent);
/** (log ((1 + s) / (1 - s)) - 2 s) / s^3 as a function of z = s^2, for |s| up to 0.172. */
LLVMValueRef gantry_emit_double_log_series (GantryEmit *e, LLVMValueRef z);

/* emit-double-hyperbolic.c */
LLVMValueRef gantry_emit_double_tanh (GantryEmit *e, LLVMValueRef x);
LLVMValueRef gantry_emit_double_sinh (GantryEmit *e, LLVMValueRef x);
LLVMValueRef gantry_emit_double_cosh (GantryEmit *e, LLVMValueRef x);
LLVMValueRef gantry_emit_double_asinh (GantryEmit *e, LLVMValueRef x);
LLVMValueRef gantry_emit_double_acosh (GantryEmit *e, LLVMValueRef x);
LLVMValueRef gantry_emit_double_atanh (GantryEmit *e, LLVMValueRef x);
LLVMValueRef gantry_emit_double_erf (GantryEmit *e, LLVMValueRef x);

/* emit-double-circular.c */
LLVMValueRef gantry_emit_double_sin (GantryEmit *e, LLVMValueRef x);
LLVMValueRef gantry_emit_double_cos (GantryEmit *e, LLVMValueRef x);
LLVMValueRef gantry_emit_double_tan (GantryEmit *e, LLVMValueRef x);
LLVMValueRef gantry_emit_double_asin (GantryEmit *e, LLVMValueRef x);
LLVMValueRef gantry_emit_double_acos (GantryEmit *e, LLVMValueRef x);
LLVMValueRef gantry_emit_double_atan (GantryEmit *e, LLVMValueRef x);
LLVMValueRef gantry_emit_double_atan2 (GantryEmit *e, LLVMValueRef y, LLVMValueRef x);

/* emit-double-power.c */
LLVMValueRef gantry_emit_double_pow (GantryEmit *e, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef gantry_emit_double_cbrt (GantryEmit *e, LLVMValueRef x);

/* emit-loops.c: scalars only; the builder is left in another block */
LLVMValueRef gantry_emit_loop_remainder (GantryEmit *e, LLVMValueRef x, LLVMValueRef y); /* float and double */
LLVMValueRef gantry_emit_loop_power_signed (GantryEmit *e, LLVMValueRef base, LLVMValueRef exponent);
LLVMValueRef gantry_emit_loop_power_unsigned (GantryEmit *e, LLVMValueRef base, LLVMValueRef exponent);

/* Words */

static inline LLVMValueRef
gantry_emit_real_like (LLVMValueRef like, double value)
{
  return gantry_emit_real (LLVMTypeOf (like), value);
}
static inline LLVMValueRef
gantry_emit_integer_like (LLVMValueRef like, gint64 value)
{
  return gantry_emit_integer (LLVMTypeOf (like), value);
}
static inline LLVMValueRef
gantry_emit_call1 (GantryEmit *e, const char *name, LLVMValueRef x)
{
  LLVMTypeRef type = LLVMTypeOf (x);

  return gantry_emit_intrinsic (e, name, &type, 1, &x, 1);
}
/** a b + c with one rounding, always. */
static inline LLVMValueRef
gantry_emit_fused (GantryEmit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
  LLVMTypeRef type = LLVMTypeOf (a);

  return gantry_emit_intrinsic (e, "llvm.fma", &type, 1, (LLVMValueRef[]){ a, b, c }, 3);
}
/** coefficients[0] + coefficients[1] x + ... */
static inline LLVMValueRef
gantry_emit_polynomial (GantryEmit *e, LLVMValueRef x, const double *coefficients, guint n)
{
  LLVMValueRef r = gantry_emit_real_like (x, coefficients[n - 1]);

  for (guint i = n - 1; i-- > 0;)
    r = gantry_emit_fused (e, r, x, gantry_emit_real_like (x, coefficients[i]));
  return r;
}
/** The i64 type with the lanes of @x. */
static inline LLVMTypeRef
gantry_emit_i64_like (GantryEmit *e, LLVMValueRef x)
{
  return gantry_emit_like (LLVMInt64TypeInContext (e->context), LLVMTypeOf (x));
}

G_END_DECLS
