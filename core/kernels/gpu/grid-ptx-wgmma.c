/* SPDX-License-Identifier: Apache-2.0 */
/* wgmma for sm_90a. LLVM 19 has no intrinsics for it: each statement is one piece of assembly that takes all sums of
 * the thread and gives them back in the same registers, so that nothing can be put between a product and its wait. */
#include "core/kernels/gpu/nvptx.h"
#include <string.h>

#define B (e->builder)
#define STEPS (GANTRY_WGMMA_DEPTH / 16)

typedef LLVMValueRef V;

/* Where a tile begins and how it lies (PTX ISA, "Matrix descriptor"), in units of 16 bytes: bits 0 to 13 the address,
 * from 16 the distance between 64 elements of its own (transposed tiles only), from 32 that between 8 rows; 1 << 62:
 * swizzles of 128 bytes. */
static V
descriptor (GantryEmit *e, V tile, gboolean transposed)
{
  LLVMTypeRef i64 = LLVMInt64TypeInContext (e->context);
  guint64 leading = transposed ? GANTRY_WGMMA_DEPTH * 128 / 16 : 1, stride = 8 * 128 / 16;
  guint64 rest = leading << 16 | stride << 32 | G_GUINT64_CONSTANT (1) << 62;
  V at = LLVMBuildPtrToInt (B, tile, LLVMInt32TypeInContext (e->context), "");

  at = LLVMBuildLShr (B, LLVMBuildAnd (B, at, LLVMConstInt (LLVMTypeOf (at), 0x3ffff, FALSE), ""), LLVMConstInt (LLVMTypeOf (at), 4, FALSE), "");
  return LLVMBuildOr (B, LLVMBuildZExt (B, at, i64, ""), LLVMConstInt (i64, rest, FALSE), "");
}

static V
pointer_to (GantryEmit *e, V d, guint i)
{
  V at = LLVMConstInt (LLVMInt64TypeInContext (e->context), i, FALSE);

  return LLVMBuildInBoundsGEP2 (B, LLVMFloatTypeInContext (e->context), d, &at, 1, "");
}

/* Puts @text with the @n sums at @d in its registers $0 .. and the @n_more values @more after their inputs. */
static void
with_sums (GantryEmit *e, const char *text, V d, guint n, const V *more, guint n_more)
{
  LLVMTypeRef f32 = LLVMFloatTypeInContext (e->context);
  g_autofree LLVMTypeRef *types = g_new (LLVMTypeRef, n + n_more), *results = g_new (LLVMTypeRef, n);
  g_autofree V *values = g_new (V, n + n_more);
  g_autoptr (GString) constraints = g_string_new (NULL);
  LLVMTypeRef function;
  V code, sums;

  for (guint i = 0; i < n; i++)
    {
      g_string_append (constraints, i == 0 ? "=f" : ",=f");
      types[i] = results[i] = f32;
      values[i] = LLVMBuildLoad2 (B, f32, pointer_to (e, d, i), "");
    }
  for (guint i = 0; i < n; i++)
    g_string_append_printf (constraints, ",%u", i);
  for (guint i = 0; i < n_more; i++)
    {
      g_string_append (constraints, ",l");
      types[n + i] = LLVMTypeOf (more[i]);
      values[n + i] = more[i];
    }
  g_string_append (constraints, ",~{memory}");
  function = LLVMFunctionType (LLVMStructTypeInContext (e->context, results, n, FALSE), types, n + n_more, FALSE);
  code = LLVMGetInlineAsm (function, text, strlen (text), constraints->str, constraints->len, TRUE, FALSE, LLVMInlineAsmDialectATT, FALSE);
  sums = LLVMBuildCall2 (B, function, code, values, n + n_more, "");
  for (guint i = 0; i < n; i++)
    LLVMBuildStore (B, LLVMBuildExtractValue (B, sums, i, ""), pointer_to (e, d, i));
}

void
gantry_nvptx_wgmma (GantryGridEmit *emit, const GantryGridStatement *s, V d, V a, V b)
{
  GantryEmit *e = emit->e;
  guint n = (guint) s->step / 2;
  const char *type = g_array_index (emit->grid->arrays, GantryGridArray, s->c).element == GANTRY_BF16 ? "bf16" : "f16";
  /* To the next 16 of the depth, in units of 16 bytes: along the rows, or 16 rows of 128 bytes further. */
  guint a_step = s->shape & 1 ? 128 : 2, b_step = s->shape & 2 ? 128 : 2;
  g_autoptr (GString) text = g_string_new ("{\n\t.reg .pred p;\n\t.reg .b64 a, b;\n\tsetp.ne.b32 p, 1, 0;\n"
                                           "\twgmma.fence.sync.aligned;\n");

  for (guint k = 0; k < STEPS; k++)
    {
      g_string_append_printf (text, "\tadd.s64 a, $%u, %u;\n\tadd.s64 b, $%u, %u;\n", 2 * n, k * a_step, 2 * n + 1, k * b_step);
      g_string_append_printf (text, "\twgmma.mma_async.sync.aligned.m64n%uk16.f32.%s.%s {", 2 * n, type, type);
      for (guint i = 0; i < n; i++)
        g_string_append_printf (text, "%s$%u", i == 0 ? "" : ", ", i);
      g_string_append_printf (text, "}, a, b, p, 1, 1, %u, %u;\n", s->shape & 1, s->shape >> 1 & 1);
    }
  g_string_append_printf (text, "\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned %u;\n}", s->mask);
  with_sums (e, text->str, d, n, (V[]){ descriptor (e, a, s->shape & 1), descriptor (e, b, s->shape & 2) }, 2);
}

void
gantry_nvptx_wgmma_await (GantryGridEmit *emit, const GantryGridStatement *s, V d)
{
  with_sums (emit->e, "wgmma.wait_group.sync.aligned 0;", d, (guint) s->step / 2, NULL, 0);
}

void
gantry_nvptx_wgmma_fence (GantryGridEmit *emit)
{
  static const char text[] = "fence.proxy.async.shared::cta;";
  GantryEmit *e = emit->e;
  LLVMTypeRef function = LLVMFunctionType (LLVMVoidTypeInContext (e->context), NULL, 0, FALSE);
  V code = LLVMGetInlineAsm (function, text, strlen (text), "~{memory}", strlen ("~{memory}"), TRUE, FALSE, LLVMInlineAsmDialectATT, FALSE);

  LLVMBuildCall2 (B, function, code, NULL, 0, "");
}
