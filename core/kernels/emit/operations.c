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

/* Code of one operation for a kind of element. @y: NULL where it is unary */
#define CODE_FOR(name) static V name (GantryEmit *e, GantryOp op, GantryElementType of, V x, V y)

/* Unary */

/* clang-format off */
CODE_FOR (float_negate) { return LLVMBuildFNeg (B, x, ""); }
CODE_FOR (float_rsqrt) { return LLVMBuildFDiv (B, real (x, 1), call1 (e, "llvm.sqrt", x), ""); }
CODE_FOR (float_is_nan) { return LLVMBuildFCmp (B, LLVMRealUNO, x, x, ""); }
CODE_FOR (float_is_finite) { return LLVMBuildFCmp (B, LLVMRealOLT, call1 (e, "llvm.fabs", x), real (x, INFINITY), ""); }
/* clang-format on */

CODE_FOR (float_round_away)
{
  V a = call1 (e, "llvm.fabs", x), whole = call1 (e, "llvm.trunc", a);
  V up = LLVMBuildFCmp (B, LLVMRealOGE, LLVMBuildFSub (B, a, whole, ""), real (x, 0.5), "");
  V r = LLVMBuildFAdd (B, whole, LLVMBuildSelect (B, up, real (x, 1), real (x, 0), ""), "");

  /* NaN: trunc keeps it. Infinity minus infinity compares false. */
  return gantry_emit_copy_sign (e, r, x);
}

CODE_FOR (float_sign)
{
  V one = gantry_emit_copy_sign (e, real (x, 1), x);

  return LLVMBuildSelect (B, LLVMBuildFCmp (B, LLVMRealONE, x, real (x, 0), ""), one, x, "");
}

CODE_FOR (double_logistic)
{
  V t = gantry_emit_per_lane (e, "exp", LLVMBuildFNeg (B, x, ""), NULL);

  return LLVMBuildFDiv (B, real (x, 1), LLVMBuildFAdd (B, t, real (x, 1), ""), "");
}

/* clang-format off */
CODE_FOR (integer_not) { return LLVMBuildNot (B, x, ""); }
CODE_FOR (integer_negate) { return of == GANTRY_BOOL ? x : LLVMBuildNeg (B, x, ""); }
CODE_FOR (integer_popcnt) { return of == GANTRY_BOOL ? x : call1 (e, "llvm.ctpop", x); }
CODE_FOR (integer_is_finite) { return LLVMConstAllOnes (gantry_emit_like (LLVMInt1TypeInContext (e->context), LLVMTypeOf (x))); }
CODE_FOR (integer_is_nan) { return LLVMConstNull (gantry_emit_like (LLVMInt1TypeInContext (e->context), LLVMTypeOf (x))); }
/* clang-format on */

CODE_FOR (integer_abs)
{
  V negative;

  if (is_unsigned (of))
    return x;
  negative = LLVMBuildICmp (B, LLVMIntSLT, x, integer (x, 0), "");
  return LLVMBuildSelect (B, negative, LLVMBuildNeg (B, x, ""), x, "");
}

CODE_FOR (integer_sign)
{
  LLVMTypeRef type = LLVMTypeOf (x);
  V zero = integer (x, 0);

  if (of == GANTRY_BOOL)
    return x;
  if (is_unsigned (of))
    return LLVMBuildZExt (B, LLVMBuildICmp (B, LLVMIntNE, x, zero, ""), type, "");
  return LLVMBuildSub (B, LLVMBuildZExt (B, LLVMBuildICmp (B, LLVMIntSGT, x, zero, ""), type, ""),
                       LLVMBuildZExt (B, LLVMBuildICmp (B, LLVMIntSLT, x, zero, ""), type, ""), "");
}

CODE_FOR (integer_leading_zeros)
{
  LLVMTypeRef type = LLVMTypeOf (x);

  if (of == GANTRY_BOOL)
    return LLVMConstAllOnes (type); /* 7 or 8 as a truth value */
  return gantry_emit_intrinsic (e, "llvm.ctlz", &type, 1, (V[]){ x, LLVMConstInt (LLVMInt1TypeInContext (e->context), 0, FALSE) }, 2);
}

/* Binary */

/* x86's maximum gives the second operand when one is NaN: with a number first that is right already. */
static V
float_extreme (GantryEmit *e, gboolean maximum, V x, V y)
{
  LLVMRealPredicate better = maximum ? LLVMRealOGT : LLVMRealOLT;
  V r;

  if (e->special == GANTRY_SPECIAL_BY_UNIT && LLVMTypeOf (x) == LLVMFloatTypeInContext (e->context))
    return gantry_emit_intrinsic (e, maximum ? "llvm.nvvm.fmax.nan.f" : "llvm.nvvm.fmin.nan.f", NULL, 0, (V[]){ x, y }, 2);
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
shared_power (GantryEmit *e, gconstpointer data, V x, V y)
{
  return gantry_emit_pow (e, x, y);
}

CODE_FOR (float_power)
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
  return e->shares ? gantry_emit_shared (e, "power", shared_power, NULL, x, y) : gantry_emit_pow (e, x, y);
}

/* clang-format off */
CODE_FOR (float_add) { return LLVMBuildFAdd (B, x, y, ""); }
CODE_FOR (float_subtract) { return LLVMBuildFSub (B, x, y, ""); }
CODE_FOR (float_multiply) { return LLVMBuildFMul (B, x, y, ""); }
CODE_FOR (float_divide) { return LLVMBuildFDiv (B, x, y, ""); }
CODE_FOR (float_maximum) { return float_extreme (e, TRUE, x, y); }
CODE_FOR (float_minimum) { return float_extreme (e, FALSE, x, y); }
/* clang-format on */

/* Divisors for which the instruction traps are replaced by 1; a divisor of 0 then gives -1 or the dividend. */
CODE_FOR (integer_divide)
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

CODE_FOR (integer_shift)
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
CODE_FOR (integer_power)
{
  gboolean u = is_unsigned (of);
  GantryElementType wide = u ? GANTRY_U64 : GANTRY_I64;
  V r = gantry_emit_per_lane (e, u ? "gantry_power_u64" : "gantry_power_i64", gantry_emit_cast (e, wide, of, x), gantry_emit_cast (e, wide, of, y));

  return gantry_emit_cast (e, of, wide, r);
}

static V
integer_extreme (GantryEmit *e, gboolean maximum, gboolean u, V x, V y)
{
  LLVMIntPredicate better = maximum ? (u ? LLVMIntUGT : LLVMIntSGT) : u ? LLVMIntULT : LLVMIntSLT;

  return LLVMBuildSelect (B, LLVMBuildICmp (B, better, x, y, ""), x, y, "");
}

/* clang-format off */
CODE_FOR (integer_add) { return LLVMBuildAdd (B, x, y, ""); }
CODE_FOR (integer_subtract) { return LLVMBuildSub (B, x, y, ""); }
CODE_FOR (integer_multiply) { return LLVMBuildMul (B, x, y, ""); }
CODE_FOR (integer_maximum) { return integer_extreme (e, TRUE, is_unsigned (of), x, y); }
CODE_FOR (integer_minimum) { return integer_extreme (e, FALSE, is_unsigned (of), x, y); }
CODE_FOR (integer_and) { return LLVMBuildAnd (B, x, y, ""); }
CODE_FOR (integer_or) { return LLVMBuildOr (B, x, y, ""); }
CODE_FOR (integer_xor) { return LLVMBuildXor (B, x, y, ""); }
/* clang-format on */

/* Truth values count modulo "not zero": 1 + 1 is 1. */
/* clang-format off */
CODE_FOR (bool_and) { return LLVMBuildAnd (B, x, y, ""); }
CODE_FOR (bool_or) { return LLVMBuildOr (B, x, y, ""); }
CODE_FOR (bool_xor) { return LLVMBuildXor (B, x, y, ""); }
CODE_FOR (bool_or_not) { return LLVMBuildOr (B, x, LLVMBuildNot (B, y, ""), ""); }
CODE_FOR (bool_and_not) { return LLVMBuildAnd (B, x, LLVMBuildNot (B, y, ""), ""); }
/* clang-format on */

/* The columns of core/graph/scalar-ops.h */

typedef V (*Code) (GantryEmit *e, GantryOp op, GantryElementType of, V x, V y);

/* Of a floating point operation: the first that there is for the element type, in this order. */
typedef struct
{
  const char *of_float, *of_double; /* functions of the C library, called lane by lane */
  const char *intrinsic;
  V (*expanded) (GantryEmit *e, V x); /* of float, long enough to be a function of the module */
  Code code;
  gboolean is_long; /* is `code` of float that long? */
} FloatCode;

/* clang-format off */
#define NO_CODE { NULL }
#define CODE(name) { .code = float_##name }
#define LONG_CODE(name) { .code = float_##name, .is_long = TRUE }
#define INTRINSIC(name) { .intrinsic = name }
#define LIBRARY(name) { .of_float = #name "f", .of_double = #name }
#define EXPANDED(name) { .expanded = gantry_emit_##name, .of_double = #name }
#define EXPANDED_BOTH(name) { .expanded = gantry_emit_##name, .code = double_##name }
/* clang-format on */
#define UNARY(with, NAME, name, short_name, elements, result, cost, float_value, integer_value, float_code, ...) [GANTRY_OP_##NAME] = float_code,
#define BINARY(with, NAME, name, short_name, elements, flags, cost, float_value, integer_value, float_code, ...) [GANTRY_OP_##NAME] = float_code,
static const FloatCode float_codes[GANTRY_N_OPS] = { GANTRY_UNARY_OPERATIONS (UNARY, ) GANTRY_BINARY_OPERATIONS (BINARY, ) };
#undef NO_CODE
#undef CODE
#undef UNARY
#undef BINARY

#define NO_CODE NULL
#define CODE(name) integer_##name
#define UNARY(with, NAME, name, short_name, elements, result, cost, float_value, integer_value, float_code, integer_code, ...) \
  [GANTRY_OP_##NAME] = integer_code,
#define BINARY(with, NAME, name, short_name, elements, flags, cost, float_value, integer_value, float_code, integer_code, ...) \
  [GANTRY_OP_##NAME] = integer_code,
static const Code integer_codes[GANTRY_N_OPS] = { GANTRY_UNARY_OPERATIONS (UNARY, ) GANTRY_BINARY_OPERATIONS (BINARY, ) };
#undef CODE
#undef BINARY

#define CODE(name) bool_##name
#define BINARY(with, NAME, name, short_name, elements, flags, cost, float_value, integer_value, float_code, integer_code, bool_code, ...) \
  [GANTRY_OP_##NAME] = bool_code,
static const Code bool_codes[GANTRY_N_OPS] = { GANTRY_BINARY_OPERATIONS (BINARY, ) };

static gboolean
is_copy (GantryOp op)
{
  return op == GANTRY_OP_COPY || op == GANTRY_OP_OPTIMIZATION_BARRIER || op == GANTRY_OP_CHECKPOINT_NAME;
}

static gboolean
has_float (GantryOp op)
{
  const FloatCode *c = &float_codes[op];

  return c->of_double != NULL || c->intrinsic != NULL || c->code != NULL;
}

gboolean
gantry_emit_has_unary (GantryOp op, GantryElementType of)
{
  if (!gantry_element_is_compiled (of))
    return FALSE;
  return is_copy (op) || (is_float (of) ? has_float (op) : integer_codes[op] != NULL);
}

gboolean
gantry_emit_has_binary (GantryOp op, GantryElementType of)
{
  if (!gantry_element_is_compiled (of))
    return FALSE;
  return op == GANTRY_OP_COMPARE || (is_float (of) ? has_float (op) : (of == GANTRY_BOOL ? bool_codes : integer_codes)[op] != NULL);
}

gboolean
gantry_emit_is_long (GantryOp op, GantryElementType of)
{
  /* Those of double are the C library's. */
  return is_float (of) && of != GANTRY_F64 && (float_codes[op].expanded != NULL || float_codes[op].is_long);
}

static V
expand (GantryEmit *e, gconstpointer data, V x, V y)
{
  return float_codes[GPOINTER_TO_UINT (data)].expanded (e, x);
}

static V
float_operation (GantryEmit *e, GantryOp op, GantryElementType of, V x, V y)
{
  const FloatCode *c = &float_codes[op];
  const char *symbol = of == GANTRY_F64 ? c->of_double : c->of_float;
  V special = gantry_emit_special_operation (e, op, of, x, y);

  if (special != NULL)
    return special;
  if (symbol != NULL)
    return gantry_emit_per_lane (e, symbol, x, y);
  if (c->intrinsic != NULL)
    return call1 (e, c->intrinsic, x);
  if (c->expanded == NULL || of == GANTRY_F64)
    return c->code (e, op, of, x, y);
  if (e->shares)
    return gantry_emit_shared (e, gantry_op_info (op)->name, expand, GUINT_TO_POINTER (op), x, NULL);
  return c->expanded (e, x);
}

V
gantry_emit_unary (GantryEmit *e, GantryOp op, GantryElementType of, V x)
{
  if (is_copy (op))
    return x;
  return is_float (of) ? float_operation (e, op, of, x, NULL) : integer_codes[op](e, op, of, x, NULL);
}

V
gantry_emit_binary (GantryEmit *e, GantryOp op, GantryElementType of, V x, V y)
{
  if (is_float (of))
    return float_operation (e, op, of, x, y);
  return (of == GANTRY_BOOL ? bool_codes : integer_codes)[op](e, op, of, x, y);
}

V
gantry_emit_compare (GantryEmit *e, GantryDirection direction, GantryElementType of, V x, V y)
{
  static const LLVMRealPredicate reals[] = { LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT, LLVMRealOLE, LLVMRealOGT, LLVMRealOGE };
  static const LLVMIntPredicate signeds[] = { LLVMIntEQ, LLVMIntNE, LLVMIntSLT, LLVMIntSLE, LLVMIntSGT, LLVMIntSGE };
  static const LLVMIntPredicate unsigneds[] = { LLVMIntEQ, LLVMIntNE, LLVMIntULT, LLVMIntULE, LLVMIntUGT, LLVMIntUGE };

  if (is_float (of))
    return LLVMBuildFCmp (B, reals[direction], x, y, "");
  return LLVMBuildICmp (B, is_unsigned (of) ? unsigneds[direction] : signeds[direction], x, y, "");
}
