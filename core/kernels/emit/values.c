/* SPDX-License-Identifier: Apache-2.0 */
/* Types, constants, loads, stores and conversions of values. */
#include "core/kernels/emit/emit.h"
#include <string.h>

/* Types */

guint
gantry_emit_lanes (LLVMTypeRef type)
{
  return LLVMGetTypeKind (type) == LLVMVectorTypeKind ? LLVMGetVectorSize (type) : 1;
}

LLVMTypeRef
gantry_emit_with_lanes (LLVMTypeRef scalar, guint lanes)
{
  return lanes == 1 ? scalar : LLVMVectorType (scalar, lanes);
}

LLVMTypeRef
gantry_emit_like (LLVMTypeRef scalar, LLVMTypeRef like)
{
  return gantry_emit_with_lanes (scalar, gantry_emit_lanes (like));
}

static LLVMTypeRef
scalar_of (LLVMTypeRef type)
{
  return LLVMGetTypeKind (type) == LLVMVectorTypeKind ? LLVMGetElementType (type) : type;
}

LLVMTypeRef
gantry_emit_scalar_type (GantryEmit *e, GantryElementType element)
{
  switch (element)
    {
    case GANTRY_BOOL: return LLVMInt1TypeInContext (e->context);
    case GANTRY_F16:
    case GANTRY_BF16:
    case GANTRY_F32: return LLVMFloatTypeInContext (e->context);
    case GANTRY_F64: return LLVMDoubleTypeInContext (e->context);
    default: return LLVMIntTypeInContext (e->context, 8 * gantry_element_size (element));
    }
}

LLVMTypeRef
gantry_emit_type (GantryEmit *e, GantryElementType element, guint lanes)
{
  return gantry_emit_with_lanes (gantry_emit_scalar_type (e, element), lanes);
}

LLVMTypeRef
gantry_emit_memory_type (GantryEmit *e, GantryElementType element, guint lanes)
{
  LLVMTypeRef scalar = gantry_emit_scalar_type (e, element);

  if (element == GANTRY_BOOL)
    scalar = LLVMInt8TypeInContext (e->context);
  else if (element == GANTRY_BF16)
    scalar = LLVMInt16TypeInContext (e->context);
  else if (element == GANTRY_F16)
    scalar = LLVMHalfTypeInContext (e->context);
  return gantry_emit_with_lanes (scalar, lanes);
}

/* Constants */

static LLVMValueRef
constant_splat (LLVMTypeRef type, LLVMValueRef scalar)
{
  LLVMValueRef lanes[64];
  guint n = gantry_emit_lanes (type);

  if (LLVMGetTypeKind (type) != LLVMVectorTypeKind)
    return scalar;
  g_assert (n <= G_N_ELEMENTS (lanes));
  for (guint i = 0; i < n; i++)
    lanes[i] = scalar;
  return LLVMConstVector (lanes, n);
}

LLVMValueRef
gantry_emit_real (LLVMTypeRef type, double value)
{
  return constant_splat (type, LLVMConstReal (scalar_of (type), value));
}

LLVMValueRef
gantry_emit_integer (LLVMTypeRef type, gint64 value)
{
  return constant_splat (type, LLVMConstInt (scalar_of (type), (unsigned long long) value, TRUE));
}

LLVMValueRef
gantry_emit_splat (GantryEmit *e, LLVMValueRef scalar, guint lanes)
{
  LLVMTypeRef type = LLVMTypeOf (scalar);
  LLVMTypeRef i32 = LLVMInt32TypeInContext (e->context);
  LLVMValueRef vector;

  if (lanes == 1 || LLVMGetTypeKind (type) == LLVMVectorTypeKind)
    return scalar;
  if (LLVMIsConstant (scalar))
    return constant_splat (LLVMVectorType (type, lanes), scalar);
  vector = LLVMBuildInsertElement (e->builder, LLVMGetPoison (LLVMVectorType (type, lanes)), scalar, LLVMConstInt (i32, 0, FALSE), "");
  return LLVMBuildShuffleVector (e->builder, vector, LLVMGetPoison (LLVMVectorType (type, lanes)), LLVMConstNull (LLVMVectorType (i32, lanes)), "");
}

/* Calls */

LLVMValueRef
gantry_emit_intrinsic (GantryEmit *e, const char *name, const LLVMTypeRef *overloads, guint n_overloads, const LLVMValueRef *arguments, guint n)
{
  unsigned id = LLVMLookupIntrinsicID (name, strlen (name));
  LLVMTypeRef types[4];
  LLVMValueRef values[16], callee; /* mma.sync has 10 */

  g_assert (id != 0 && n_overloads <= G_N_ELEMENTS (types) && n <= G_N_ELEMENTS (values));
  for (guint i = 0; i < n_overloads; i++)
    types[i] = overloads[i];
  for (guint i = 0; i < n; i++)
    values[i] = arguments[i];
  callee = LLVMGetIntrinsicDeclaration (e->module, id, types, n_overloads);
  return LLVMBuildCall2 (e->builder, LLVMIntrinsicGetType (e->context, id, types, n_overloads), callee, values, n, "");
}

/* The C function @data for each lane. */
static LLVMValueRef
each_lane (GantryEmit *e, gconstpointer data, LLVMValueRef x, LLVMValueRef y)
{
  LLVMTypeRef type = LLVMTypeOf (x), i32 = LLVMInt32TypeInContext (e->context);
  LLVMValueRef result = LLVMGetPoison (type);

  for (guint l = 0; l < gantry_emit_lanes (type); l++)
    {
      LLVMValueRef lane = LLVMConstInt (i32, l, FALSE), of_y = NULL, value;

      if (y != NULL)
        of_y = LLVMBuildExtractElement (e->builder, y, lane, "");
      value = gantry_emit_per_lane (e, data, LLVMBuildExtractElement (e->builder, x, lane, ""), of_y);
      result = LLVMBuildInsertElement (e->builder, result, value, lane, "");
    }
  return result;
}

LLVMValueRef
gantry_emit_per_lane (GantryEmit *e, const char *symbol, LLVMValueRef x, LLVMValueRef y)
{
  LLVMTypeRef type = LLVMTypeOf (x), parameters[2] = { type, type };
  guint n = y != NULL ? 2 : 1;
  LLVMTypeRef signature = LLVMFunctionType (type, parameters, n, FALSE);
  LLVMValueRef callee;

  if (LLVMGetTypeKind (type) == LLVMVectorTypeKind)
    return e->no_calls ? each_lane (e, symbol, x, y) : gantry_emit_shared (e, symbol, each_lane, symbol, x, y);
  callee = e->no_calls ? gantry_emit_own (e, symbol, signature) : LLVMGetNamedFunction (e->module, symbol);
  if (callee == NULL)
    callee = LLVMAddFunction (e->module, symbol, signature);
  return LLVMBuildCall2 (e->builder, signature, callee, (LLVMValueRef[]){ x, y }, n, "");
}

/* bf16, by integers: x86 processors before AVX512-BF16 have nothing for it */

static LLVMValueRef
bf16_to_float (GantryEmit *e, LLVMValueRef bits)
{
  LLVMTypeRef type = LLVMTypeOf (bits);
  LLVMTypeRef wide = gantry_emit_like (LLVMInt32TypeInContext (e->context), type);
  LLVMTypeRef real = gantry_emit_like (LLVMFloatTypeInContext (e->context), type);
  LLVMValueRef x = LLVMBuildZExt (e->builder, bits, wide, "");

  return LLVMBuildBitCast (e->builder, LLVMBuildShl (e->builder, x, gantry_emit_integer (wide, 16), ""), real, "");
}

/* Rounds to nearest even; a NaN stays one. */
static LLVMValueRef
float_to_bf16 (GantryEmit *e, LLVMValueRef x)
{
  LLVMTypeRef type = LLVMTypeOf (x);
  LLVMTypeRef wide = gantry_emit_like (LLVMInt32TypeInContext (e->context), type);
  LLVMTypeRef narrow = gantry_emit_like (LLVMInt16TypeInContext (e->context), type);
  LLVMBuilderRef b = e->builder;
  LLVMValueRef bits, nan, odd, rounded, quiet;

  if (e->has_bf16)
    return LLVMBuildTrunc (b, gantry_emit_bf16_pair (e, x, gantry_emit_real (type, 0)), narrow, "");
  bits = LLVMBuildBitCast (b, x, wide, "");
  nan = LLVMBuildFCmp (b, LLVMRealUNO, x, x, "");
  odd = LLVMBuildAnd (b, LLVMBuildLShr (b, bits, gantry_emit_integer (wide, 16), ""), gantry_emit_integer (wide, 1), "");
  rounded = LLVMBuildAdd (b, LLVMBuildAdd (b, bits, gantry_emit_integer (wide, 0x7fff), ""), odd, "");
  quiet = LLVMBuildOr (b, bits, gantry_emit_integer (wide, 0x400000), "");
  rounded = LLVMBuildSelect (b, nan, quiet, rounded, "");
  return LLVMBuildTrunc (b, LLVMBuildLShr (b, rounded, gantry_emit_integer (wide, 16), ""), narrow, "");
}

static LLVMValueRef
float_to_f16 (GantryEmit *e, LLVMValueRef x)
{
  return LLVMBuildFPTrunc (e->builder, x, gantry_emit_like (LLVMHalfTypeInContext (e->context), LLVMTypeOf (x)), "");
}

/* Memory. No address is known to be aligned: weights lie in the file as they were written. */

LLVMValueRef
gantry_emit_raw_load (GantryEmit *e, LLVMTypeRef type, LLVMValueRef pointer)
{
  LLVMValueRef x = LLVMBuildLoad2 (e->builder, type, pointer, "");

  LLVMSetAlignment (x, 1);
  return x;
}

void
gantry_emit_raw_store (GantryEmit *e, LLVMValueRef value, LLVMValueRef pointer)
{
  LLVMSetAlignment (LLVMBuildStore (e->builder, value, pointer), 1);
}

LLVMValueRef
gantry_emit_from_memory (GantryEmit *e, GantryElementType element, LLVMValueRef x)
{
  if (element == GANTRY_BOOL)
    return LLVMBuildICmp (e->builder, LLVMIntNE, x, LLVMConstNull (LLVMTypeOf (x)), "");
  if (element == GANTRY_BF16)
    return bf16_to_float (e, x);
  if (element == GANTRY_F16)
    return LLVMBuildFPExt (e->builder, x, gantry_emit_like (LLVMFloatTypeInContext (e->context), LLVMTypeOf (x)), "");
  return x;
}

LLVMValueRef
gantry_emit_to_memory (GantryEmit *e, GantryElementType element, LLVMValueRef x)
{
  if (element == GANTRY_BOOL)
    return LLVMBuildZExt (e->builder, x, gantry_emit_like (LLVMInt8TypeInContext (e->context), LLVMTypeOf (x)), "");
  if (element == GANTRY_BF16)
    return float_to_bf16 (e, x);
  if (element == GANTRY_F16)
    return float_to_f16 (e, x);
  return x;
}

/* Conversions */

static LLVMValueRef
round_to (GantryEmit *e, GantryElementType element, LLVMValueRef x)
{
  if (element == GANTRY_BF16 && e->has_bf16)
    return LLVMBuildBitCast (e->builder, gantry_emit_bf16_pair (e, gantry_emit_real (LLVMTypeOf (x), 0), x), LLVMTypeOf (x), "");
  if (element == GANTRY_BF16)
    return bf16_to_float (e, float_to_bf16 (e, x));
  if (element == GANTRY_F16)
    return LLVMBuildFPExt (e->builder, float_to_f16 (e, x), LLVMTypeOf (x), "");
  return x;
}

static LLVMValueRef
float_to_integer (GantryEmit *e, GantryElementType to, LLVMValueRef x)
{
  LLVMTypeRef type = gantry_emit_like (gantry_emit_scalar_type (e, to), LLVMTypeOf (x));
  LLVMTypeRef overloads[2] = { type, LLVMTypeOf (x) };

  if (to == GANTRY_BOOL)
    return LLVMBuildFCmp (e->builder, LLVMRealUNE, x, LLVMConstNull (LLVMTypeOf (x)), "");
  return gantry_emit_intrinsic (e, gantry_element_is_signed (to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat", overloads, 2, &x, 1);
}

static gboolean
is_unsigned (GantryElementType element)
{
  return element == GANTRY_BOOL || !gantry_element_is_signed (element);
}

static LLVMValueRef
integer_to_integer (GantryEmit *e, GantryElementType to, GantryElementType from, LLVMValueRef x)
{
  LLVMTypeRef type = gantry_emit_like (gantry_emit_scalar_type (e, to), LLVMTypeOf (x));
  guint bits = from == GANTRY_BOOL ? 1 : 8 * gantry_element_size (from);

  if (to == GANTRY_BOOL)
    return from == GANTRY_BOOL ? x : LLVMBuildICmp (e->builder, LLVMIntNE, x, LLVMConstNull (LLVMTypeOf (x)), "");
  if (8 * gantry_element_size (to) == bits)
    return x;
  if (8 * gantry_element_size (to) < bits)
    return LLVMBuildTrunc (e->builder, x, type, "");
  return is_unsigned (from) ? LLVMBuildZExt (e->builder, x, type, "") : LLVMBuildSExt (e->builder, x, type, "");
}

LLVMValueRef
gantry_emit_cast (GantryEmit *e, GantryElementType to, GantryElementType from, LLVMValueRef x)
{
  LLVMTypeRef type = gantry_emit_like (gantry_emit_scalar_type (e, to), LLVMTypeOf (x));
  gboolean to_float = gantry_element_is_float (to), from_float = gantry_element_is_float (from);

  if (!to_float)
    return from_float ? float_to_integer (e, to, x) : integer_to_integer (e, to, from, x);
  if (!from_float)
    x = is_unsigned (from) ? LLVMBuildUIToFP (e->builder, x, type, "") : LLVMBuildSIToFP (e->builder, x, type, "");
  else if (to == GANTRY_F64 && from != GANTRY_F64)
    x = LLVMBuildFPExt (e->builder, x, type, "");
  else if (to != GANTRY_F64 && from == GANTRY_F64)
    x = LLVMBuildFPTrunc (e->builder, x, type, "");
  return round_to (e, to, x);
}

LLVMValueRef
gantry_emit_bitcast (GantryEmit *e, GantryElementType to, GantryElementType from, LLVMValueRef x)
{
  LLVMTypeRef like = LLVMTypeOf (x);

  if (from == GANTRY_BF16)
    x = float_to_bf16 (e, x);
  else if (from == GANTRY_F16)
    x = float_to_f16 (e, x);
  else if (from == GANTRY_BOOL)
    x = LLVMBuildZExt (e->builder, x, gantry_emit_like (LLVMInt8TypeInContext (e->context), like), "");
  x = LLVMBuildBitCast (e->builder, x, gantry_emit_like (gantry_emit_memory_type (e, to, 1), like), "");
  if (to == GANTRY_BF16)
    return bf16_to_float (e, x);
  if (to == GANTRY_F16)
    return LLVMBuildFPExt (e->builder, x, gantry_emit_like (LLVMFloatTypeInContext (e->context), like), "");
  if (to == GANTRY_BOOL)
    return LLVMBuildICmp (e->builder, LLVMIntNE, x, LLVMConstNull (LLVMTypeOf (x)), "");
  return x;
}
