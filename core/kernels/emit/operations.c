/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operations for each element type, with the meaning that core/expr/texpr.h states where
 * processors and C leave holes: division by zero, shifts by too much, NaN in a maximum. */
#include "core/kernels/emit/emit.h"
#include <math.h>

#define B (e->builder)

typedef LLVMValueRef V;

static gboolean
is_float (GantryElementType element)
{
  return gantry_element_is_float (element);
}

static gboolean
is_unsigned (GantryElementType element)
{
  return element == GANTRY_BOOL || !gantry_element_is_signed (element);
}

/* The same value with @flag set where it is an instruction (constants are folded). */
static V
contract (V x)
{
  if (LLVMIsAInstruction (x) != NULL && LLVMCanValueUseFastMathFlags (x))
    LLVMSetFastMathFlags (x, LLVMFastMathAllowContract);
  return x;
}

static V
integer (V like, gint64 value)
{
  return gantry_emit_integer (LLVMTypeOf (like), value);
}

static V
real (V like, double value)
{
  return gantry_emit_real (LLVMTypeOf (like), value);
}

static V
call1 (GantryEmit *e, const char *name, V x)
{
  LLVMTypeRef type = LLVMTypeOf (x);

  return gantry_emit_intrinsic (e, name, &type, 1, &x, 1);
}

/* What goes to the C library lane by lane, all types; and what does for double only. */

typedef struct
{
  guint op;
  const char *of_float;
  const char *of_double;
} LibraryCall;

static const LibraryCall library_unary[] = {
  { GANTRY_OP_EXPONENTIAL, NULL, "exp" }, { GANTRY_OP_EXPONENTIAL_MINUS_ONE, NULL, "expm1" },
  { GANTRY_OP_LOG, NULL, "log" },         { GANTRY_OP_LOG_PLUS_ONE, NULL, "log1p" },
  { GANTRY_OP_TANH, NULL, "tanh" },       { GANTRY_OP_ERF, NULL, "erf" },
  { GANTRY_OP_SINE, NULL, "sin" },        { GANTRY_OP_COSINE, NULL, "cos" },
  { GANTRY_OP_TAN, NULL, "tan" },         { GANTRY_OP_CBRT, "cbrtf", "cbrt" },
  { GANTRY_OP_ASIN, "asinf", "asin" },    { GANTRY_OP_ACOS, "acosf", "acos" },
  { GANTRY_OP_ATAN, "atanf", "atan" },    { GANTRY_OP_SINH, "sinhf", "sinh" },
  { GANTRY_OP_COSH, "coshf", "cosh" },    { GANTRY_OP_ASINH, "asinhf", "asinh" },
  { GANTRY_OP_ACOSH, "acoshf", "acosh" }, { GANTRY_OP_ATANH, "atanhf", "atanh" },
};

static const char *
library_symbol (GantryOp op, GantryElementType of)
{
  for (guint i = 0; i < G_N_ELEMENTS (library_unary); i++)
    if (library_unary[i].op == op)
      return of == GANTRY_F64 ? library_unary[i].of_double : library_unary[i].of_float;
  return NULL;
}

/* Unary */

gboolean
gantry_emit_has_unary (GantryOp op, GantryElementType of)
{
  if (!gantry_element_is_compiled (of))
    return FALSE;
  switch (op)
    {
    case GANTRY_OP_COPY:
    case GANTRY_OP_OPTIMIZATION_BARRIER:
    case GANTRY_OP_CHECKPOINT_NAME:
    case GANTRY_OP_ABS:
    case GANTRY_OP_NEGATE:
    case GANTRY_OP_SIGN:
    case GANTRY_OP_IS_FINITE:
    case GANTRY_OP_IS_NAN:
      return TRUE;
    case GANTRY_OP_NOT:
    case GANTRY_OP_POPCNT:
    case GANTRY_OP_COUNT_LEADING_ZEROS:
      return !is_float (of);
    case GANTRY_OP_FLOOR:
    case GANTRY_OP_CEIL:
    case GANTRY_OP_ROUND_NEAREST_EVEN:
    case GANTRY_OP_ROUND_NEAREST_AFZ:
    case GANTRY_OP_SQRT:
    case GANTRY_OP_RSQRT:
    case GANTRY_OP_LOGISTIC:
      return is_float (of);
    default:
      return is_float (of) && library_symbol (op, GANTRY_F64) != NULL;
    }
}

static V
round_away (GantryEmit *e, V x)
{
  LLVMTypeRef type = LLVMTypeOf (x);
  V a = call1 (e, "llvm.fabs", x), whole = call1 (e, "llvm.trunc", a);
  V up = LLVMBuildFCmp (B, LLVMRealOGE, LLVMBuildFSub (B, a, whole, ""), real (x, 0.5), "");
  V r = LLVMBuildFAdd (B, whole, LLVMBuildSelect (B, up, real (x, 1), real (x, 0), ""), "");

  /* NaN: trunc keeps it. Infinity minus infinity compares false. */
  return gantry_emit_intrinsic (e, "llvm.copysign", &type, 1, (V[]) { r, x }, 2);
}

static V
float_sign (GantryEmit *e, V x)
{
  LLVMTypeRef type = LLVMTypeOf (x);
  V one = gantry_emit_intrinsic (e, "llvm.copysign", &type, 1, (V[]) { real (x, 1), x }, 2);

  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealONE, x, real (x, 0), ""), one, x, "");
}

static V
double_logistic (GantryEmit *e, V x)
{
  V t = gantry_emit_per_lane (e, "exp", LLVMBuildFNeg (B, x, ""), NULL);

  return LLVMBuildFDiv (B, real (x, 1), LLVMBuildFAdd (B, t, real (x, 1), ""), "");
}

gboolean
gantry_emit_is_long (GantryOp op, GantryElementType of)
{
  if (!is_float (of) || of == GANTRY_F64)
    return FALSE; /* those of double are the C library's */
  switch (op)
    {
    case GANTRY_OP_EXPONENTIAL:
    case GANTRY_OP_EXPONENTIAL_MINUS_ONE:
    case GANTRY_OP_LOG:
    case GANTRY_OP_LOG_PLUS_ONE:
    case GANTRY_OP_TANH:
    case GANTRY_OP_LOGISTIC:
    case GANTRY_OP_ERF:
    case GANTRY_OP_SINE:
    case GANTRY_OP_COSINE:
    case GANTRY_OP_TAN:
    case GANTRY_OP_POWER:
      return TRUE;
    default:
      return FALSE;
    }
}

static V float_elementary (GantryEmit *e, GantryOp op, V x);

static V
shared_elementary (GantryEmit *e, gconstpointer data, V x, V y)
{
  return y != NULL ? gantry_emit_pow (e, x, y) : float_elementary (e, GPOINTER_TO_UINT (data), x);
}

static V
float_elementary (GantryEmit *e, GantryOp op, V x)
{
  if (e->shares)
    return gantry_emit_shared (e, gantry_op_info (op)->name, shared_elementary, GUINT_TO_POINTER (op), x, NULL);
  switch (op)
    {
    case GANTRY_OP_EXPONENTIAL: return gantry_emit_exp (e, x);
    case GANTRY_OP_EXPONENTIAL_MINUS_ONE: return gantry_emit_expm1 (e, x);
    case GANTRY_OP_LOG: return gantry_emit_log (e, x);
    case GANTRY_OP_LOG_PLUS_ONE: return gantry_emit_log1p (e, x);
    case GANTRY_OP_TANH: return gantry_emit_tanh (e, x);
    case GANTRY_OP_LOGISTIC: return gantry_emit_logistic (e, x);
    case GANTRY_OP_ERF: return gantry_emit_erf (e, x);
    case GANTRY_OP_SINE: return gantry_emit_circular (e, GANTRY_SINE, x);
    case GANTRY_OP_COSINE: return gantry_emit_circular (e, GANTRY_COSINE, x);
    case GANTRY_OP_TAN: return gantry_emit_circular (e, GANTRY_TANGENT, x);
    default: g_assert_not_reached ();
    }
}

static V
float_unary (GantryEmit *e, GantryOp op, GantryElementType of, V x)
{
  const char *symbol = library_symbol (op, of);

  if (symbol != NULL)
    return gantry_emit_per_lane (e, symbol, x, NULL);
  switch (op)
    {
    case GANTRY_OP_ABS: return call1 (e, "llvm.fabs", x);
    case GANTRY_OP_NEGATE: return LLVMBuildFNeg (B, x, "");
    case GANTRY_OP_SIGN: return float_sign (e, x);
    case GANTRY_OP_FLOOR: return call1 (e, "llvm.floor", x);
    case GANTRY_OP_CEIL: return call1 (e, "llvm.ceil", x);
    case GANTRY_OP_ROUND_NEAREST_EVEN: return call1 (e, "llvm.rint", x);
    case GANTRY_OP_ROUND_NEAREST_AFZ: return round_away (e, x);
    case GANTRY_OP_SQRT: return call1 (e, "llvm.sqrt", x);
    case GANTRY_OP_RSQRT: return LLVMBuildFDiv (B, real (x, 1), call1 (e, "llvm.sqrt", x), "");
    case GANTRY_OP_IS_NAN: return LLVMBuildFCmp (B, LLVMRealUNO, x, x, "");
    case GANTRY_OP_IS_FINITE:
      return LLVMBuildFCmp (B, LLVMRealOLT, call1 (e, "llvm.fabs", x), real (x, INFINITY), "");
    case GANTRY_OP_LOGISTIC:
      return of == GANTRY_F64 ? double_logistic (e, x) : gantry_emit_logistic (e, x);
    default: return float_elementary (e, op, x);
    }
}

static V
integer_unary (GantryEmit *e, GantryOp op, GantryElementType of, V x)
{
  LLVMTypeRef type = LLVMTypeOf (x), bit = gantry_emit_like (LLVMInt1TypeInContext (e->context), type);
  V zero = LLVMConstNull (type), negative;

  switch (op)
    {
    case GANTRY_OP_NOT: return LLVMBuildNot (B, x, "");
    case GANTRY_OP_NEGATE: return of == GANTRY_BOOL ? x : LLVMBuildNeg (B, x, "");
    case GANTRY_OP_ABS:
      if (is_unsigned (of))
        return x;
      negative = LLVMBuildICmp (B, LLVMIntSLT, x, zero, "");
      return LLVMBuildSelect (B, negative, LLVMBuildNeg (B, x, ""), x, "");
    case GANTRY_OP_SIGN:
      if (of == GANTRY_BOOL)
        return x;
      if (is_unsigned (of))
        return LLVMBuildZExt (B, LLVMBuildICmp (B, LLVMIntNE, x, zero, ""), type, "");
      return LLVMBuildSub (B, LLVMBuildZExt (B, LLVMBuildICmp (B, LLVMIntSGT, x, zero, ""), type, ""),
                           LLVMBuildZExt (B, LLVMBuildICmp (B, LLVMIntSLT, x, zero, ""), type, ""), "");
    case GANTRY_OP_POPCNT: return of == GANTRY_BOOL ? x : call1 (e, "llvm.ctpop", x);
    case GANTRY_OP_COUNT_LEADING_ZEROS:
      if (of == GANTRY_BOOL)
        return LLVMConstAllOnes (type); /* 7 or 8 as a truth value */
      return gantry_emit_intrinsic (e, "llvm.ctlz", &type, 1,
                                    (V[]) { x, LLVMConstInt (LLVMInt1TypeInContext (e->context), 0, FALSE) }, 2);
    case GANTRY_OP_IS_FINITE: return LLVMConstAllOnes (bit);
    case GANTRY_OP_IS_NAN: return LLVMConstNull (bit);
    default: g_assert_not_reached ();
    }
}

V
gantry_emit_unary (GantryEmit *e, GantryOp op, GantryElementType of, V x)
{
  if (op == GANTRY_OP_COPY || op == GANTRY_OP_OPTIMIZATION_BARRIER || op == GANTRY_OP_CHECKPOINT_NAME)
    return x;
  return is_float (of) ? float_unary (e, op, of, x) : integer_unary (e, op, of, x);
}

/* Binary */

gboolean
gantry_emit_has_binary (GantryOp op, GantryElementType of)
{
  if (!gantry_element_is_compiled (of))
    return FALSE;
  switch (op)
    {
    case GANTRY_OP_ADD:
    case GANTRY_OP_SUBTRACT:
    case GANTRY_OP_MULTIPLY:
    case GANTRY_OP_DIVIDE:
    case GANTRY_OP_REMAINDER:
    case GANTRY_OP_POWER:
    case GANTRY_OP_MAXIMUM:
    case GANTRY_OP_MINIMUM:
    case GANTRY_OP_COMPARE:
      return TRUE;
    case GANTRY_OP_ATAN2:
      return is_float (of);
    case GANTRY_OP_AND:
    case GANTRY_OP_OR:
    case GANTRY_OP_XOR:
      return !is_float (of);
    case GANTRY_OP_SHIFT_LEFT:
    case GANTRY_OP_SHIFT_RIGHT_ARITHMETIC:
    case GANTRY_OP_SHIFT_RIGHT_LOGICAL:
      return !is_float (of) && of != GANTRY_BOOL;
    default:
      return FALSE;
    }
}

/* x86's maximum gives the second operand when one is NaN: with a number first that is right already. */
static V
float_extreme (GantryEmit *e, gboolean maximum, V x, V y)
{
  LLVMRealPredicate better = maximum ? LLVMRealOGT : LLVMRealOLT;
  V r;

  if (LLVMIsConstant (x) || LLVMIsConstant (y))
    {
      V number = LLVMIsConstant (x) ? x : y, other = LLVMIsConstant (x) ? y : x;
      V is_nan = LLVMBuildFCmp (B, LLVMRealUNO, number, number, "");

      /* Folded: a constant that is a number. */
      if (LLVMIsConstant (is_nan) && LLVMIsNull (is_nan))
        return LLVMBuildSelect (B, LLVMBuildFCmp (B, better, number, other, ""), number, other, "");
    }
  r = LLVMBuildSelect (B, LLVMBuildFCmp (B, better, x, y, ""), x, y, "");
  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealUNO, x, x, ""), x, r, "");
}

/* The number that every lane of a constant is. */
static gboolean
constant_number (V x, double *value)
{
  LLVMBool inexact;

  if (!LLVMIsConstant (x))
    return FALSE;
  if (LLVMGetTypeKind (LLVMTypeOf (x)) == LLVMVectorTypeKind)
    {
      if (LLVMIsAConstantDataVector (x) == NULL)
        return FALSE;
      for (guint i = 1; i < LLVMGetVectorSize (LLVMTypeOf (x)); i++)
        if (LLVMGetAggregateElement (x, i) != LLVMGetAggregateElement (x, 0))
          return FALSE;
      x = LLVMGetAggregateElement (x, 0);
    }
  if (LLVMIsAConstantFP (x) == NULL)
    return FALSE;
  *value = LLVMConstRealGetDouble (x, &inexact);
  return TRUE;
}

/* x to a multiple of 1/4 of at most 3 by products and roots; NULL when @exponent is none. */
static V
power_by_roots (GantryEmit *e, V x, double exponent)
{
  double quarters = fabs (exponent) * 4;
  guint whole = (guint) MIN (quarters, 100) / 4, rest = (guint) MIN (quarters, 100) % 4;
  V result = NULL, root;

  if (quarters != floor (quarters) || quarters > 12 || quarters == 0)
    return NULL;
  if (rest > 0)
    {
      /* As C has it, minus infinity counts as infinity when a root is taken of it, and minus zero as zero. */
      V lowest = LLVMBuildFCmp (B, LLVMRealOEQ, x, real (x, -INFINITY), "");

      x = LLVMBuildSelect (B, lowest, real (x, INFINITY), LLVMBuildFAdd (B, x, real (x, 0), ""), "");
      root = call1 (e, "llvm.sqrt", x);
      if (rest == 2)
        result = root;
      else
        result = rest == 1 ? call1 (e, "llvm.sqrt", root) : LLVMBuildFMul (B, root, call1 (e, "llvm.sqrt", root), "");
    }
  /* The reciprocals of both parts by themselves: x^4 may be infinite where x^-4 is not 0. */
  if (exponent < 0 && result != NULL)
    result = LLVMBuildFDiv (B, real (x, 1), result, "");
  if (exponent < 0 && whole > 0)
    x = LLVMBuildFDiv (B, real (x, 1), x, "");
  for (guint i = 0; i < whole; i++)
    result = result == NULL ? x : LLVMBuildFMul (B, result, x, "");
  return result;
}

static V
float_power (GantryEmit *e, GantryElementType of, V x, V y)
{
  double exponent;

  if (constant_number (y, &exponent))
    {
      V r = power_by_roots (e, x, exponent);

      if (r != NULL)
        return r;
    }
  if (of == GANTRY_F64)
    return gantry_emit_per_lane (e, "pow", x, y);
  return e->shares ? gantry_emit_shared (e, "power", shared_elementary, NULL, x, y) : gantry_emit_pow (e, x, y);
}

static V
float_binary (GantryEmit *e, GantryOp op, GantryElementType of, V x, V y)
{
  gboolean wide = of == GANTRY_F64;

  switch (op)
    {
    case GANTRY_OP_ADD: return contract (LLVMBuildFAdd (B, x, y, ""));
    case GANTRY_OP_SUBTRACT: return contract (LLVMBuildFSub (B, x, y, ""));
    case GANTRY_OP_MULTIPLY: return contract (LLVMBuildFMul (B, x, y, ""));
    case GANTRY_OP_DIVIDE: return LLVMBuildFDiv (B, x, y, "");
    case GANTRY_OP_REMAINDER: return gantry_emit_per_lane (e, wide ? "fmod" : "fmodf", x, y);
    case GANTRY_OP_ATAN2: return gantry_emit_per_lane (e, wide ? "atan2" : "atan2f", x, y);
    case GANTRY_OP_POWER: return float_power (e, of, x, y);
    case GANTRY_OP_MAXIMUM: return float_extreme (e, TRUE, x, y);
    case GANTRY_OP_MINIMUM: return float_extreme (e, FALSE, x, y);
    default: g_assert_not_reached ();
    }
}

/* Divisors for which the instruction traps are replaced by 1; a divisor of 0 then gives -1 or the dividend. */
static V
integer_divide (GantryEmit *e, GantryOp op, GantryElementType of, V x, V y)
{
  gboolean u = is_unsigned (of);
  guint bits = 8 * gantry_element_size (of);
  V zero = LLVMBuildICmp (B, LLVMIntEQ, y, integer (y, 0), ""), unsafe = zero, safe, r;

  if (!u)
    {
      V lowest = LLVMBuildICmp (B, LLVMIntEQ, x, integer (x, (gint64) (~G_GUINT64_CONSTANT (0) << (bits - 1))), "");
      V minus_one = LLVMBuildICmp (B, LLVMIntEQ, y, integer (y, -1), "");

      unsafe = LLVMBuildOr (B, zero, LLVMBuildAnd (B, lowest, minus_one, ""), "");
    }
  safe = LLVMBuildSelect (B, unsafe, integer (y, 1), y, "");
  if (op == GANTRY_OP_DIVIDE)
    {
      r = u ? LLVMBuildUDiv (B, x, safe, "") : LLVMBuildSDiv (B, x, safe, "");
      return LLVMBuildSelect (B, zero, integer (y, -1), r, "");
    }
  r = u ? LLVMBuildURem (B, x, safe, "") : LLVMBuildSRem (B, x, safe, "");
  return LLVMBuildSelect (B, zero, x, r, "");
}

static V
shift (GantryEmit *e, GantryOp op, GantryElementType of, V x, V y)
{
  guint bits = 8 * gantry_element_size (of);
  V small = LLVMBuildICmp (B, LLVMIntULT, y, integer (y, bits), "");
  V r;

  if (op == GANTRY_OP_SHIFT_RIGHT_ARITHMETIC)
    return LLVMBuildAShr (B, x, LLVMBuildSelect (B, small, y, integer (y, bits - 1), ""), "");
  y = LLVMBuildSelect (B, small, y, integer (y, 0), "");
  r = op == GANTRY_OP_SHIFT_LEFT ? LLVMBuildShl (B, x, y, "") : LLVMBuildLShr (B, x, y, "");
  return LLVMBuildSelect (B, small, r, integer (x, 0), "");
}

/* Integers to a power: widened to 64 bits, whose low bits are those of the narrow product. */
static V
integer_power (GantryEmit *e, GantryElementType of, V x, V y)
{
  gboolean u = is_unsigned (of);
  GantryElementType wide = u ? GANTRY_U64 : GANTRY_I64;
  V r = gantry_emit_per_lane (e, u ? "gantry_power_u64" : "gantry_power_i64", gantry_emit_cast (e, wide, of, x),
                              gantry_emit_cast (e, wide, of, y));

  return gantry_emit_cast (e, of, wide, r);
}

/* Truth values count modulo "not zero": 1 + 1 is 1. */
static V
bool_binary (GantryEmit *e, GantryOp op, V x, V y)
{
  switch (op)
    {
    case GANTRY_OP_ADD:
    case GANTRY_OP_MAXIMUM:
    case GANTRY_OP_OR: return LLVMBuildOr (B, x, y, "");
    case GANTRY_OP_MULTIPLY:
    case GANTRY_OP_MINIMUM:
    case GANTRY_OP_AND: return LLVMBuildAnd (B, x, y, "");
    case GANTRY_OP_SUBTRACT:
    case GANTRY_OP_XOR: return LLVMBuildXor (B, x, y, "");
    case GANTRY_OP_DIVIDE:
    case GANTRY_OP_POWER: return LLVMBuildOr (B, x, LLVMBuildNot (B, y, ""), "");
    case GANTRY_OP_REMAINDER: return LLVMBuildAnd (B, x, LLVMBuildNot (B, y, ""), "");
    default: g_assert_not_reached ();
    }
}

static V
integer_extreme (GantryEmit *e, gboolean maximum, gboolean u, V x, V y)
{
  LLVMIntPredicate better = maximum ? (u ? LLVMIntUGT : LLVMIntSGT) : u ? LLVMIntULT : LLVMIntSLT;

  return LLVMBuildSelect (B, LLVMBuildICmp (B, better, x, y, ""), x, y, "");
}

static V
integer_binary (GantryEmit *e, GantryOp op, GantryElementType of, V x, V y)
{
  switch (op)
    {
    case GANTRY_OP_ADD: return LLVMBuildAdd (B, x, y, "");
    case GANTRY_OP_SUBTRACT: return LLVMBuildSub (B, x, y, "");
    case GANTRY_OP_MULTIPLY: return LLVMBuildMul (B, x, y, "");
    case GANTRY_OP_DIVIDE:
    case GANTRY_OP_REMAINDER: return integer_divide (e, op, of, x, y);
    case GANTRY_OP_POWER: return integer_power (e, of, x, y);
    case GANTRY_OP_MAXIMUM:
    case GANTRY_OP_MINIMUM: return integer_extreme (e, op == GANTRY_OP_MAXIMUM, is_unsigned (of), x, y);
    case GANTRY_OP_AND: return LLVMBuildAnd (B, x, y, "");
    case GANTRY_OP_OR: return LLVMBuildOr (B, x, y, "");
    case GANTRY_OP_XOR: return LLVMBuildXor (B, x, y, "");
    default: return shift (e, op, of, x, y);
    }
}

V
gantry_emit_binary (GantryEmit *e, GantryOp op, GantryElementType of, V x, V y)
{
  if (of == GANTRY_BOOL)
    return bool_binary (e, op, x, y);
  return is_float (of) ? float_binary (e, op, of, x, y) : integer_binary (e, op, of, x, y);
}

V
gantry_emit_compare (GantryEmit *e, GantryDirection direction, GantryElementType of, V x, V y)
{
  static const LLVMRealPredicate reals[] = { LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT, LLVMRealOLE, LLVMRealOGT,
                                             LLVMRealOGE };
  static const LLVMIntPredicate signeds[] = { LLVMIntEQ, LLVMIntNE, LLVMIntSLT, LLVMIntSLE, LLVMIntSGT, LLVMIntSGE };
  static const LLVMIntPredicate unsigneds[] = { LLVMIntEQ, LLVMIntNE, LLVMIntULT, LLVMIntULE, LLVMIntUGT, LLVMIntUGE };

  if (is_float (of))
    return LLVMBuildFCmp (B, reals[direction], x, y, "");
  return LLVMBuildICmp (B, is_unsigned (of) ? unsigneds[direction] : signeds[direction], x, y, "");
}
