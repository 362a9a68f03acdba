/* SPDX-License-Identifier: Apache-2.0 */
/* Bound programs for NVIDIA's GPUs: a thread is a thread, and what a warp or a block does together has an instruction.
 * Private arrays are stack slots that SROA makes registers; shared memory is one dynamic array. */
#include "core/kernels/gpu/grid-ptx.h"
#include "core/base/error.h"
#include "core/kernels/emit/grid-emit.h"
#include "core/kernels/gpu/nvptx.h"
#include "core/kernels/schedule/bind.h"
#include <string.h>

#define B (e->builder)
/* Of every buffer in the planned arenas. */
#define ALIGNMENT 16

typedef LLVMValueRef V;

typedef struct
{
  guint n_inputs;
  guint workspace; /* which parameter */
  V shared;
  guint64 *shared_offset; /* per array */
  V *slot;                /* per array: of the private ones */
} Ptx;

/* Small words */

static V
call (GantryEmit *e, const char *name, const LLVMTypeRef *overloads, guint n_overloads, const V *arguments, guint n)
{
  return gantry_emit_intrinsic (e, name, overloads, n_overloads, arguments, n);
}

static LLVMTypeRef
i32_type (GantryEmit *e)
{
  return LLVMInt32TypeInContext (e->context);
}

static V
number (GantryEmit *e, guint32 value)
{
  return LLVMConstInt (i32_type (e), value, FALSE);
}

static V
at_byte (GantryEmit *e, V base, guint64 offset)
{
  V at = LLVMConstInt (LLVMInt64TypeInContext (e->context), offset, FALSE);

  if (offset == 0)
    return base;
  return LLVMBuildInBoundsGEP2 (B, LLVMInt8TypeInContext (e->context), base, &at, 1, "");
}

static V
load_word (GantryEmit *e, V base, guint i, LLVMTypeRef type)
{
  V x = LLVMBuildLoad2 (B, type, at_byte (e, base, 4 * i), "");

  LLVMSetAlignment (x, 4);
  return x;
}

/* Places */

static V
axis (GantryGridEmit *g, GantryGridAxis which)
{
  static const char *const names[] = {
    [GANTRY_AXIS_BLOCK_X] = "llvm.nvvm.read.ptx.sreg.ctaid.x", [GANTRY_AXIS_BLOCK_Y] = "llvm.nvvm.read.ptx.sreg.ctaid.y",
    [GANTRY_AXIS_BLOCK_Z] = "llvm.nvvm.read.ptx.sreg.ctaid.z", [GANTRY_AXIS_THREAD_X] = "llvm.nvvm.read.ptx.sreg.tid.x",
    [GANTRY_AXIS_THREAD_Y] = "llvm.nvvm.read.ptx.sreg.tid.y",  [GANTRY_AXIS_THREAD_Z] = "llvm.nvvm.read.ptx.sreg.tid.z",
  };
  GantryEmit *e = g->e;
  guint32 extent = which >= GANTRY_AXIS_THREAD_X ? g->grid->block[which - GANTRY_AXIS_THREAD_X] : g->grid->grid[which - GANTRY_AXIS_BLOCK_X];
  LLVMMetadataRef range[2] = { LLVMValueAsMetadata (number (e, 0)), LLVMValueAsMetadata (number (e, extent)) };
  V x;

  if (extent == 1)
    return number (e, 0);
  x = call (e, names[which], NULL, 0, NULL, 0);
  LLVMSetMetadata (x, LLVMGetMDKindIDInContext (e->context, "range", strlen ("range")),
                   LLVMMetadataAsValue (e->context, LLVMMDNodeInContext2 (e->context, range, 2)));
  return x;
}

static V
array_of (GantryGridEmit *g, guint32 array)
{
  const GantryGridArray *a = &g_array_index (g->grid->arrays, GantryGridArray, array);
  const Ptx *ptx = g->data;
  GantryEmit *e = g->e;

  switch ((GantryGridSpace) a->space)
    {
    case GANTRY_SPACE_RESULT: return LLVMGetParam (e->function, ptx->n_inputs + (guint) a->slot);
    case GANTRY_SPACE_WORKSPACE: return at_byte (e, LLVMGetParam (e->function, ptx->workspace), a->slot);
    case GANTRY_SPACE_SHARED: return at_byte (e, ptx->shared, ptx->shared_offset[array]);
    default: return ptx->slot[array];
    }
}

static V
input_of (GantryGridEmit *g, guint32 input)
{
  return LLVMGetParam (g->e->function, input);
}

/* Copies behind the back: cp.async. 16 bytes pass the first cache by, unless they are read again soon. What is read is as long as a
 * register says, zeros fill the rest. */

static void
fetch (GantryGridEmit *g, const GantryGridStatement *s, V to, V from, V predicate, guint bytes)
{
  static const char *const names[][2] = {
    { "llvm.nvvm.cp.async.ca.shared.global.4", "llvm.nvvm.cp.async.ca.shared.global.4.s" },
    { "llvm.nvvm.cp.async.ca.shared.global.8", "llvm.nvvm.cp.async.ca.shared.global.8.s" },
    { "llvm.nvvm.cp.async.cg.shared.global.16", "llvm.nvvm.cp.async.cg.shared.global.16.s" },
    { "llvm.nvvm.cp.async.ca.shared.global.16", "llvm.nvvm.cp.async.ca.shared.global.16.s" },
  };
  const char *const *name = names[bytes == 16 ? ((s->shape & 2) != 0 ? 3 : 2) : bytes == 8 ? 1 : 0];
  GantryEmit *e = g->e;

  if (predicate == NULL)
    call (e, name[0], NULL, 0, (V[]){ to, from }, 2);
  else
    call (e, name[1], NULL, 0, (V[]){ to, from, LLVMBuildSelect (B, predicate, number (e, bytes), number (e, 0), "") }, 3);
}

static void
commit (GantryGridEmit *g)
{
  call (g->e, "llvm.nvvm.cp.async.commit.group", NULL, 0, NULL, 0);
}

static void
await (GantryGridEmit *g, guint groups)
{
  GantryEmit *e = g->e;
  V n = number (e, groups);

  call (e, "llvm.nvvm.cp.async.wait.group", NULL, 0, &n, 1);
}

/* Threads together */

static void
barrier (GantryGridEmit *g)
{
  call (g->e, "llvm.nvvm.barrier0", NULL, 0, NULL, 0);
}

static V
shuffle_word (GantryGridEmit *g, V x, guint32 mask)
{
  GantryEmit *e = g->e;
  guint32 n = g->grid->block[0] * g->grid->block[1] * g->grid->block[2];
  guint32 members = n >= 32 ? G_MAXUINT32 : (1u << n) - 1;

  return call (e, "llvm.nvvm.shfl.sync.bfly.i32", NULL, 0, (V[]){ number (e, members), x, number (e, mask), number (e, 31) }, 4);
}

static V
shuffle (GantryGridEmit *g, GantryElementType element, V x, guint32 mask)
{
  GantryEmit *e = g->e;
  LLVMTypeRef type = LLVMTypeOf (x), i32 = i32_type (e), i64 = LLVMInt64TypeInContext (e->context);
  V low, high, thirty_two = LLVMConstInt (i64, 32, FALSE);

  if (type == LLVMFloatTypeInContext (e->context))
    return LLVMBuildBitCast (B, shuffle_word (g, LLVMBuildBitCast (B, x, i32, ""), mask), type, "");
  if (type != LLVMDoubleTypeInContext (e->context) && LLVMGetIntTypeWidth (type) <= 32)
    return LLVMBuildTrunc (B, shuffle_word (g, LLVMBuildZExt (B, x, i32, ""), mask), type, "");
  x = LLVMBuildBitCast (B, x, i64, "");
  low = shuffle_word (g, LLVMBuildTrunc (B, x, i32, ""), mask);
  high = shuffle_word (g, LLVMBuildTrunc (B, LLVMBuildLShr (B, x, thirty_two, ""), i32, ""), mask);
  x = LLVMBuildOr (B, LLVMBuildZExt (B, low, i64, ""), LLVMBuildShl (B, LLVMBuildZExt (B, high, i64, ""), thirty_two, ""), "");
  return LLVMBuildBitCast (B, x, type, "");
}

static void
matrix_load (GantryGridEmit *g, const GantryGridStatement *s, V to, V row)
{
  GantryEmit *e = g->e;
  guint n = s->shape & 0x7f;
  g_autofree char *name = g_strdup_printf ("llvm.nvvm.ldmatrix.sync.aligned.m8n8.x%u%s.b16", n, s->shape & 0x80 ? ".trans" : "");
  LLVMTypeRef pointer = LLVMTypeOf (row);
  V x = call (e, name, &pointer, 1, &row, 1);

  for (guint i = 0; i < n; i++)
    {
      V word = n == 1 ? x : LLVMBuildExtractValue (B, x, i, "");

      LLVMSetAlignment (LLVMBuildStore (B, word, at_byte (e, to, 4 * i)), 4);
    }
}

/* The factor's words as the instruction takes them: pairs of f16, bits of two bf16, or f32 rounded to tf32. */
static V
factor (GantryEmit *e, guint8 shape, V base, guint i)
{
  V x;

  switch ((GantryMmaShape) shape)
    {
    case GANTRY_MMA_M16N8K16_F16: return load_word (e, base, i, LLVMVectorType (LLVMHalfTypeInContext (e->context), 2));
    case GANTRY_MMA_M16N8K16_BF16: return load_word (e, base, i, i32_type (e));
    default: x = load_word (e, base, i, LLVMFloatTypeInContext (e->context)); return call (e, "llvm.nvvm.f2tf32.rna", NULL, 0, &x, 1);
    }
}

static void
mma (GantryGridEmit *g, const GantryGridStatement *s, V d, V a, V b)
{
  static const char *const names[] = {
    [GANTRY_MMA_M16N8K16_F16] = "llvm.nvvm.mma.m16n8k16.row.col.f32.f32",
    [GANTRY_MMA_M16N8K16_BF16] = "llvm.nvvm.mma.m16n8k16.row.col.bf16",
    [GANTRY_MMA_M16N8K8_TF32] = "llvm.nvvm.mma.m16n8k8.row.col.tf32",
  };
  GantryEmit *e = g->e;
  V arguments[10], x;

  for (guint i = 0; i < 4; i++)
    arguments[i] = factor (e, s->shape, a, i);
  for (guint i = 0; i < 2; i++)
    arguments[4 + i] = factor (e, s->shape, b, i);
  for (guint i = 0; i < 4; i++)
    arguments[6 + i] = load_word (e, d, i, LLVMFloatTypeInContext (e->context));
  x = call (e, names[s->shape], NULL, 0, arguments, G_N_ELEMENTS (arguments));
  for (guint i = 0; i < 4; i++)
    LLVMSetAlignment (LLVMBuildStore (B, LLVMBuildExtractValue (B, x, i, ""), at_byte (e, d, 4 * i)), 4);
}

static const GantryGridMachine machine = {
  .alignment = ALIGNMENT,
  .vector_bytes = 16,
  .axis = axis,
  .array = array_of,
  .input = input_of,
  .fetch = fetch,
  .commit = commit,
  .await = await,
  .barrier = barrier,
  .shuffle = shuffle,
  .matrix_load = matrix_load,
  .mma = mma,
  .wgmma = gantry_nvptx_wgmma,
  .wgmma_await = gantry_nvptx_wgmma_await,
  .fence = gantry_nvptx_wgmma_fence,
};

/* Kernels */

/* Dynamic shared memory: one array, whose size the launch says. */
static V
shared_memory (GantryEmit *e)
{
  V global = LLVMGetNamedGlobal (e->module, "gantry_shared");

  if (global != NULL)
    return global;
  global = LLVMAddGlobalInAddressSpace (e->module, LLVMArrayType2 (LLVMInt8TypeInContext (e->context), 0), "gantry_shared", 3);
  LLVMSetLinkage (global, LLVMExternalLinkage);
  LLVMSetAlignment (global, 1024); /* tiles of wgmma */
  return global;
}

static void
place_arrays (Ptx *ptx, GantryEmit *e, const GantryGrid *grid)
{
  guint64 offset = 0;

  ptx->shared = gantry_grid_shared_bytes (grid) > 0 ? shared_memory (e) : NULL;
  ptx->shared_offset = g_new0 (guint64, grid->arrays->len + 1);
  ptx->slot = g_new0 (V, grid->arrays->len + 1);
  for (guint i = 0; i < grid->arrays->len; i++)
    {
      const GantryGridArray *array = &g_array_index (grid->arrays, GantryGridArray, i);

      if (array->space == GANTRY_SPACE_SHARED)
        {
          ptx->shared_offset[i] = offset;
          offset += (array->count * gantry_element_size (array->element) + 127) / 128 * 128;
        }
      else if (array->space == GANTRY_SPACE_PRIVATE)
        ptx->slot[i] = gantry_grid_emit_stack (e, LLVMArrayType2 (gantry_emit_memory_type (e, array->element, 1), array->count), 16);
    }
}

static void
emit_kernel (GantryEmit *e, const GantryGrid *grid, const char *name, guint n_inputs, guint n_results, gboolean workspace)
{
  Ptx ptx = { .n_inputs = n_inputs, .workspace = n_inputs + n_results };

  gantry_nvptx_begin_kernel (e, name, n_inputs + n_results + (workspace ? 1 : 0), grid);
  place_arrays (&ptx, e, grid);
  gantry_grid_emit (e, grid, &machine, &ptx);
  gantry_nvptx_end_kernel (e);
  g_free (ptx.shared_offset);
  g_free (ptx.slot);
}

char *
gantry_grid_to_ptx (GantryCompiler *compiler, const GantryBound *bound, const char *name, guint n_inputs, guint n_results, char **ir, GError **error)
{
  GantryEmit emit;

  g_return_val_if_fail (compiler->gpu != NULL, NULL);
  for (guint i = 0; i < bound->grids->len; i++)
    if (!gantry_grid_check (g_ptr_array_index (bound->grids, i), compiler->gpu, error))
      return NULL;
  gantry_nvptx_begin (compiler, name, &emit);
  for (guint i = 0; i < bound->grids->len; i++)
    {
      g_autofree char *entry = i == 0 ? g_strdup (name) : g_strdup_printf ("%s_%u", name, i);

      emit_kernel (&emit, g_ptr_array_index (bound->grids, i), entry, n_inputs, n_results, bound->workspace_bytes > 0);
    }
  return gantry_nvptx_end (compiler, &emit, ir, error);
}
