/* SPDX-License-Identifier: Apache-2.0 */
/* Two bf16 of a word, for GPUs. Values of bf16 are computed with as float, and rounded two at a time where they are stored. What is
 * rounded there may be one sum, difference or product of two numbers that are bf16 themselves, since they were loaded or rounded: then
 * the pair is computed as such, by one instruction, which gives the same bits (a float has more than twice as many and two), and is not
 * taken apart before. A pair that was only loaded stays the word that it was. */
#include "core/kernels/emit/emit.h"
#include <math.h>
#include <string.h>

#define B (e->builder)

typedef LLVMValueRef V;

static const char rounding[] = "llvm.nvvm.ff2bf16x2.rn";

static LLVMTypeRef
i32_type (GantryEmit *e)
{
  return LLVMInt32TypeInContext (e->context);
}

static V
rounded (GantryEmit *e, V low, V high)
{
  return LLVMBuildBitCast (B, gantry_emit_intrinsic (e, rounding, NULL, 0, (V[]){ high, low }, 2), i32_type (e), "");
}

/* The operand @i of @x where it is an instruction @opcode, else NULL. @x: (nullable) */
static V
operand_of (V x, LLVMOpcode opcode, guint i)
{
  if (x == NULL || LLVMIsAInstruction (x) == NULL || LLVMGetInstructionOpcode (x) != opcode)
    return NULL;
  return LLVMGetOperand (x, i);
}

/* The word of which @x is the lower half, or the upper one; NULL: none is known. */
static V
word_of (V x, gboolean upper)
{
  V half = operand_of (x, LLVMBitCast, 0), by = operand_of (half, upper ? LLVMAnd : LLVMShl, 1);

  if (by == NULL || LLVMIsAConstantInt (by) == NULL || LLVMConstIntGetZExtValue (by) != (upper ? 0xffff0000 : 16))
    return NULL;
  return LLVMGetOperand (half, 0);
}

/* What was rounded to make @x; NULL: @x was not made so. */
static V
unrounded (V x)
{
  V call = operand_of (operand_of (x, LLVMBitCast, 0), LLVMBitCast, 0);

  if (call == NULL || LLVMIsAInstruction (call) == NULL || LLVMGetInstructionOpcode (call) != LLVMCall
      || LLVMGetIntrinsicID (LLVMGetCalledValue (call)) != LLVMLookupIntrinsicID (rounding, strlen (rounding)))
    return NULL;
  return LLVMGetOperand (call, 0);
}

/* A number that both are, as a pair */
static V
constant_pair (GantryEmit *e, V low, V high)
{
  LLVMBool inexact;
  guint32 bits;
  float value;

  if (low != high || LLVMIsAConstantFP (low) == NULL)
    return NULL;
  value = (float) LLVMConstRealGetDouble (low, &inexact);
  memcpy (&bits, &value, sizeof bits);
  return (bits & 0xffff) == 0 && isfinite (value) ? LLVMConstInt (i32_type (e), bits | bits >> 16, FALSE) : NULL;
}

/* Two numbers that are bf16 as a word; NULL where they may be none. */
static V
exact_pair (GantryEmit *e, V low, V high)
{
  V word = word_of (low, FALSE), first = unrounded (low), second = unrounded (high);

  if (word != NULL && word == word_of (high, TRUE))
    return word;
  if (first != NULL && second != NULL)
    return rounded (e, first, second);
  return constant_pair (e, low, high);
}

/* a b + c of pairs. Of LLVM's own product and sum it makes conversions and floats where only this is an instruction (sm_80). */
static V
fused (GantryEmit *e, V a, V b, V c)
{
  static const char text[] = "fma.rn.bf16x2 $0, $1, $2, $3;", constraints[] = "=r,r,r,r";
  LLVMTypeRef i32 = i32_type (e), types[] = { i32, i32, i32 }, signature = LLVMFunctionType (i32, types, 3, FALSE);
  V code = LLVMGetInlineAsm (signature, text, strlen (text), constraints, strlen (constraints), FALSE, FALSE, LLVMInlineAsmDialectATT, FALSE);

  return LLVMBuildCall2 (B, signature, code, (V[]){ a, b, c }, 3, "");
}

static V
both (GantryEmit *e, guint16 bits)
{
  return LLVMConstInt (i32_type (e), (guint32) bits << 16 | bits, FALSE);
}

/* The operation that made both, of exact pairs; NULL: there is none. */
static V
packed_operation (GantryEmit *e, V low, V high)
{
  LLVMOpcode opcode;
  V a, b;

  if (LLVMIsAInstruction (low) == NULL || LLVMIsAInstruction (high) == NULL)
    return NULL;
  opcode = LLVMGetInstructionOpcode (low);
  if (opcode != LLVMGetInstructionOpcode (high) || (opcode != LLVMFAdd && opcode != LLVMFSub && opcode != LLVMFMul))
    return NULL;
  a = exact_pair (e, LLVMGetOperand (low, 0), LLVMGetOperand (high, 0));
  b = a != NULL ? exact_pair (e, LLVMGetOperand (low, 1), LLVMGetOperand (high, 1)) : NULL;
  if (b == NULL)
    return NULL;
  if (opcode == LLVMFMul)
    return fused (e, a, b, both (e, 0x8000));                                                        /* + -0 */
  return opcode == LLVMFAdd ? fused (e, a, both (e, 0x3f80), b) : fused (e, b, both (e, 0xbf80), a); /* times 1, -1 */
}

V
gantry_emit_bf16_pair (GantryEmit *e, V low, V high)
{
  V pair = exact_pair (e, low, high);

  if (pair == NULL)
    pair = packed_operation (e, low, high);
  return pair != NULL ? pair : rounded (e, low, high);
}
