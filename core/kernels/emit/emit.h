/* SPDX-License-Identifier: Apache-2.0 */
/* Emission of LLVM IR: values, a scalar or a vector of lanes each; the same functions serve both,
 * going by the LLVM type of what they are given. f16 and bf16 are computed with as float, bool as i1.
 *
 * Nothing here may reach LLVM's generic transcendental intrinsics: they become scalar library calls
 * at best. What it emits for each operation is either native or written out. */
#pragma once
#include "core/expr/kernel-expression.h"
#include "core/kernels/emit/llvm.h"

G_BEGIN_DECLS

/** An instruction of the unit for special functions of NVIDIA's multiprocessors, from float to float, with the error that the PTX ISA
 *  states. What it says of 0 and infinity holds; a subnormal number is 0 where that is said. */
typedef enum
{
  GANTRY_SPECIAL_EX2,   /* 2^x, to 2 units in the last place; subnormal arguments and results are 0 */
  GANTRY_SPECIAL_LG2,   /* log2 x, to 2^-22, of the result where x is not in [1/2, 2] */
  GANTRY_SPECIAL_RCP,   /* 1 / x, to 1 unit in the last place; subnormal arguments and results are 0 */
  GANTRY_SPECIAL_RSQRT, /* 1 / sqrt x, to 2^-22.9 of the result */
  GANTRY_SPECIAL_SQRT,  /* sqrt x, to 2^-23 of the result */
  GANTRY_SPECIAL_TANH   /* tanh x, to 2^-10.987 of the result */
} GantrySpecial;

/** Who does them */
typedef enum
{
  GANTRY_SPECIAL_NONE,    /* nobody: math.c's polynomials take their place */
  GANTRY_SPECIAL_BY_UNIT, /* instructions of PTX */
  GANTRY_SPECIAL_BY_MODEL /* functions of the model for the processor */
} GantrySpecialBy;

typedef struct
{
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  LLVMValueRef function;
  guint vector_bytes; /* of the widest registers */
  gboolean has_fma;
  gboolean has_f16c;
  gboolean no_calls;       /* there is no C library: what else would call it is written out (own.c) */
  gboolean shares;         /* elementary functions are calls of the module's own: see gantry_emit_shared() */
  gboolean has_bf16;       /* conversions to bf16 are native, and there are no lanes */
  guint constant_space;    /* address space of tables */
  GantrySpecialBy special; /* who does what the unit for special functions of a GPU does */
} GantryEmit;

/* emit-values.c: types, constants, memory, conversions */

guint gantry_emit_lanes (LLVMTypeRef type); /* 1: a scalar */
/** In which one @element is computed with */
LLVMTypeRef gantry_emit_scalar_type (GantryEmit *e, GantryElementType element);
/** In which @lanes of @element are computed with */
LLVMTypeRef gantry_emit_type (GantryEmit *e, GantryElementType element, guint lanes);
/** In which @lanes of @element lie in memory */
LLVMTypeRef gantry_emit_memory_type (GantryEmit *e, GantryElementType element, guint lanes);
/** @scalar, or a vector of @lanes of it where they are more than 1 */
LLVMTypeRef gantry_emit_with_lanes (LLVMTypeRef scalar, guint lanes);
/** The type with @scalar in the place of each lane of @like. */
LLVMTypeRef gantry_emit_like (LLVMTypeRef scalar, LLVMTypeRef like);
/** @scalar in each of @lanes */
LLVMValueRef gantry_emit_splat (GantryEmit *e, LLVMValueRef scalar, guint lanes);
/** The constant @value in each lane of a floating point @type */
LLVMValueRef gantry_emit_real (LLVMTypeRef type, double value);
/** The constant @value in each lane of an integer @type */
LLVMValueRef gantry_emit_integer (LLVMTypeRef type, gint64 value);
/** Calls the intrinsic @name ("llvm.fabs") of the types @overloads with @n @arguments */
LLVMValueRef gantry_emit_intrinsic (GantryEmit *e, const char *name, const LLVMTypeRef *overloads, guint n_overloads, const LLVMValueRef *arguments, guint n);
/** Memory holds other types than computation: bool as a byte, f16 and bf16 as 16 bits. */
LLVMValueRef gantry_emit_raw_load (GantryEmit *e, LLVMTypeRef type, LLVMValueRef pointer);
/** Stores @value as it is, aligned to its element */
void gantry_emit_raw_store (GantryEmit *e, LLVMValueRef value, LLVMValueRef pointer);
/** From the type in memory to that of computation */
LLVMValueRef gantry_emit_from_memory (GantryEmit *e, GantryElementType element, LLVMValueRef x);
/** And back, rounded to nearest even */
LLVMValueRef gantry_emit_to_memory (GantryEmit *e, GantryElementType element, LLVMValueRef x);
/** Two floats as bf16 in the halves of an i32, rounded to nearest even; e->has_bf16. What made them is looked at: see bf16-pairs.c */
LLVMValueRef gantry_emit_bf16_pair (GantryEmit *e, LLVMValueRef low, LLVMValueRef high);
/** As the operation convert: floats become integers by truncation, saturate, and NaN gives 0 */
LLVMValueRef gantry_emit_cast (GantryEmit *e, GantryElementType to, GantryElementType from, LLVMValueRef x);
/** The same bits; @to has the size of @from */
LLVMValueRef gantry_emit_bitcast (GantryEmit *e, GantryElementType to, GantryElementType from, LLVMValueRef x);
/** Calls the C function @symbol, or where there are no calls the one that gantry_emit_own() makes, for each lane. */
LLVMValueRef gantry_emit_per_lane (GantryEmit *e, const char *symbol, LLVMValueRef x, LLVMValueRef y);

/* emit-shared.c: functions of the module, of one argument or two of one type */

typedef LLVMValueRef (*GantryEmitBody) (GantryEmit *e, gconstpointer data, LLVMValueRef x, LLVMValueRef y);
/** The internal function @name, made by @body where the module does not have it yet. Its code is for the processor of e->function. */
LLVMValueRef gantry_emit_function (GantryEmit *e, const char *name, LLVMTypeRef signature, GantryEmitBody body, gconstpointer data);
/** Calls the function of the module that computes @what of as many lanes as @x has. @y: (nullable). @body and @data follow from
 *  @what and the type. */
LLVMValueRef gantry_emit_shared (GantryEmit *e, const char *what, GantryEmitBody body, gconstpointer data, LLVMValueRef x, LLVMValueRef y);

/* own.c: a function of the module that does what the C library's @symbol does. */
/** Returns: a function of @signature, made in the module where it has none yet, and always inlined */
LLVMValueRef gantry_emit_own (GantryEmit *e, const char *symbol, LLVMTypeRef signature);

/* emit-ops.c: operations */

/** Is the operation a long expansion, which a kernel that has many of them shares (GantryEmit.shares)? */
gboolean gantry_emit_is_long (GantryOp op, GantryElementType of);
/** Whether there is code for @op of elements @of: asked before anything is emitted */
gboolean gantry_emit_has_unary (GantryOp op, GantryElementType of);
/** The same of two operands, COMPARE too */
gboolean gantry_emit_has_binary (GantryOp op, GantryElementType of);
/** @op of @x, whose elements are @of; there is code for it */
LLVMValueRef gantry_emit_unary (GantryEmit *e, GantryOp op, GantryElementType of, LLVMValueRef x);
/** @op of @x and @y, whose elements are @of; there is code for it */
LLVMValueRef gantry_emit_binary (GantryEmit *e, GantryOp op, GantryElementType of, LLVMValueRef x, LLVMValueRef y);
/** i1 lanes: @x @direction @y, of elements @of; false where one is NaN, but for NE */
LLVMValueRef gantry_emit_compare (GantryEmit *e, GantryDirection direction, GantryElementType of, LLVMValueRef x, LLVMValueRef y);

/* special.c: what a GPU's unit for special functions does, and elementary functions of float by it */

/** The instruction @which of the unit; e->special is not GANTRY_SPECIAL_NONE */
LLVMValueRef gantry_emit_special (GantryEmit *e, GantrySpecial which, LLVMValueRef x);
/** e^x of f32; the same */
LLVMValueRef gantry_emit_special_exp (GantryEmit *e, LLVMValueRef x);
/** @op of floats @x and @y (nullable), whose elements are @of. Returns: (nullable): NULL where there is nothing better by the unit, or
 *  no unit, than what the processor does */
LLVMValueRef gantry_emit_special_operation (GantryEmit *e, GantryOp op, GantryElementType of, LLVMValueRef x, LLVMValueRef y);

/* emit-math.c: elementary functions of float (a scalar or lanes) */

/** a * b + c: with one rounding where the processor has that, else with two */
LLVMValueRef gantry_emit_fma (GantryEmit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
/** coefficients[0] + coefficients[1] x + ..., by gantry_emit_fma() */
LLVMValueRef gantry_emit_horner (GantryEmit *e, LLVMValueRef x, const double *coefficients, guint n);
/** @magnitude, which has no sign, with that of @sign */
LLVMValueRef gantry_emit_copy_sign (GantryEmit *e, LLVMValueRef magnitude, LLVMValueRef sign);
/** e^x */
LLVMValueRef gantry_emit_exp (GantryEmit *e, LLVMValueRef x);
/** e^x - 1 */
LLVMValueRef gantry_emit_expm1 (GantryEmit *e, LLVMValueRef x);
/** log x */
LLVMValueRef gantry_emit_log (GantryEmit *e, LLVMValueRef x);
/** log (1 + x) */
LLVMValueRef gantry_emit_log1p (GantryEmit *e, LLVMValueRef x);
/** tanh x */
LLVMValueRef gantry_emit_tanh (GantryEmit *e, LLVMValueRef x);
/** 1 / (1 + e^-x) */
LLVMValueRef gantry_emit_logistic (GantryEmit *e, LLVMValueRef x);
/** The error function */
LLVMValueRef gantry_emit_erf (GantryEmit *e, LLVMValueRef x);
/** x^y with the special cases of C */
LLVMValueRef gantry_emit_pow (GantryEmit *e, LLVMValueRef x, LLVMValueRef y);
/** From @magnitude, |x| to the y, to x to the y: signs, and the cases that C states for pow. float and double */
LLVMValueRef gantry_emit_power_signs (GantryEmit *e, LLVMValueRef x, LLVMValueRef y, LLVMValueRef magnitude);
/** sin x, of any x */
LLVMValueRef gantry_emit_sin (GantryEmit *e, LLVMValueRef x);
/** cos x, of any x */
LLVMValueRef gantry_emit_cos (GantryEmit *e, LLVMValueRef x);
/** tan x, of any x */
LLVMValueRef gantry_emit_tan (GantryEmit *e, LLVMValueRef x);

G_END_DECLS
