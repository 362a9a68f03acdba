/* SPDX-License-Identifier: Apache-2.0 */
/* Bound programs for the CPU: a task is a block, and the threads of a block are loops between its collective
 * statements. This is for tests, on machines without a GPU, of the schedules that are made for one: memory that a
 * program has not written holds no numbers, and what is fetched comes late. */
#include "core/kernels/cpu/grid-cpu.h"
#include "core/base/error.h"
#include "core/kernels/cpu/grid-run.h"
#include "core/kernels/emit/grid-emit.h"
#include "core/kernels/schedule/bind.h"
#include <string.h>

#define B (e->builder)
/* Private arrays are promoted to registers where the program is not cut: the usual passes know scalars only. */
#define PASSES "function(sroa,early-cse)"

typedef LLVMValueRef V;

typedef struct
{
  GantryEmit *e;
  const GantryGrid *grid;
  LLVMTypeRef i32, i64, pointer;
  guint n_inputs, n_results;
  V *buffers;      /* operands, results, workspace */
  V block;         /* memory of the block: see gantry_grid_block_new() */
  V block_axis[3]; /* i32 */
  V thread;        /* i32: number of the thread whose statements are emitted; NULL: none */
  V place;         /* i32: its place in the order of the threads */
  LLVMBasicBlockRef head;
  guint32 n_threads;
  guint64 shared_bytes, thread_bytes;
  guint64 *offset_of; /* per array: in shared memory or in the thread's record */
  V *stack_of;        /* per array: where nothing is cut */
  guint32 *slot_of;   /* per value: byte offset in the thread's record, 0: not of this program */
  guint8 *is_watched; /* per array: accesses are told to who looks for races */
  gboolean races;     /* they are looked for */
  gboolean cut;
} Cpu;

#define PUT_SLOT 0 /* what a thread gives to a collective statement: 16 bytes */

static V
number (Cpu *cpu, guint64 value)
{
  return LLVMConstInt (cpu->i64, value, FALSE);
}

static V
at_byte (Cpu *cpu, V base, V offset)
{
  GantryEmit *e = cpu->e;

  return LLVMBuildInBoundsGEP2 (B, LLVMInt8TypeInContext (e->context), base, &offset, 1, "");
}

/* Calls the C function @symbol, which gives back nothing or (block_new) a pointer. */
static V
call (Cpu *cpu, const char *symbol, LLVMTypeRef result, const V *arguments, guint n)
{
  GantryEmit *e = cpu->e;
  LLVMTypeRef parameters[9], type;
  V values[9], callee = LLVMGetNamedFunction (e->module, symbol);

  g_assert (n <= G_N_ELEMENTS (values));
  for (guint i = 0; i < n; i++)
    {
      values[i] = arguments[i];
      parameters[i] = LLVMTypeOf (values[i]);
    }
  type = LLVMFunctionType (result, parameters, n, FALSE);
  if (callee == NULL)
    callee = LLVMAddFunction (e->module, symbol, type);
  return LLVMBuildCall2 (B, type, callee, values, n, "");
}

static void
call_void (Cpu *cpu, const char *symbol, const V *arguments, guint n)
{
  call (cpu, symbol, LLVMVoidTypeInContext (cpu->e->context), arguments, n);
}

/* Memory */

/* Shared memory, and sums that belong to the matrix unit at times. */
static void
choose_watched (Cpu *cpu)
{
  const GantryGrid *grid = cpu->grid;

  cpu->is_watched = g_new0 (guint8, grid->arrays->len + 1);
  for (guint i = 0; i < grid->arrays->len; i++)
    cpu->is_watched[i] = g_array_index (grid->arrays, GantryGridArray, i).space == GANTRY_SPACE_SHARED;
  for (guint i = 0; i < grid->statements->len; i++)
    {
      const GantryGridStatement *s = &g_array_index (grid->statements, GantryGridStatement, i);

      if (s->kind == GANTRY_GRID_WGMMA)
        cpu->is_watched[s->array] = TRUE;
    }
}

/* Where the arrays and values of the program lie. */
static void
lay_out (Cpu *cpu)
{
  const GantryGrid *grid = cpu->grid;

  cpu->offset_of = g_new0 (guint64, grid->arrays->len + 1);
  cpu->stack_of = g_new0 (V, grid->arrays->len + 1);
  cpu->slot_of = g_new0 (guint32, grid->kx->values->len + 1);
  cpu->thread_bytes = PUT_SLOT + 16;
  for (guint i = 0; i < grid->arrays->len; i++)
    {
      const GantryGridArray *array = &g_array_index (grid->arrays, GantryGridArray, i);
      guint64 bytes = array->count * gantry_element_size (array->element);
      guint64 *total = array->space == GANTRY_SPACE_SHARED ? &cpu->shared_bytes : &cpu->thread_bytes;
      guint64 unit = array->space == GANTRY_SPACE_SHARED ? 128 : 16;

      if (array->space != GANTRY_SPACE_SHARED && array->space != GANTRY_SPACE_PRIVATE)
        continue;
      /* What lies in shared memory is watched, where nothing else cuts the program too. */
      cpu->cut = cpu->cut || (cpu->races && array->space == GANTRY_SPACE_SHARED);
      cpu->offset_of[i] = *total;
      *total += (bytes + unit - 1) / unit * unit;
    }
  for (guint i = 0; i < grid->statements->len; i++)
    {
      const GantryGridStatement *s = &g_array_index (grid->statements, GantryGridStatement, i);

      cpu->cut = cpu->cut || gantry_grid_is_collective (grid, i);
      for (guint l = 0; s->value != GANTRY_GRID_NONE && l < s->lanes; l++, cpu->thread_bytes += 8)
        cpu->slot_of[s->value + l] = (guint32) cpu->thread_bytes;
    }
  cpu->thread_bytes = (cpu->thread_bytes + 15) / 16 * 16;
}

/* The record of @thread, after shared memory and its guard. */
static V
record_of (Cpu *cpu, V thread)
{
  GantryEmit *e = cpu->e;
  V offset = LLVMBuildMul (B, LLVMBuildZExt (B, thread, cpu->i64, ""), number (cpu, cpu->thread_bytes), "");

  return at_byte (cpu, cpu->block, LLVMBuildAdd (B, offset, number (cpu, cpu->shared_bytes + GANTRY_GRID_GUARD), ""));
}

static V
this_record (Cpu *cpu)
{
  return record_of (cpu, cpu->thread != NULL ? cpu->thread : LLVMConstInt (cpu->i32, 0, FALSE));
}

static V
cpu_array (GantryGridEmit *g, guint32 at)
{
  Cpu *cpu = g->data;
  const GantryGridArray *array = &g_array_index (g->grid->arrays, GantryGridArray, at);

  switch ((GantryGridSpace) array->space)
    {
    case GANTRY_SPACE_RESULT: return cpu->buffers[cpu->n_inputs + array->slot];
    case GANTRY_SPACE_WORKSPACE: return at_byte (cpu, cpu->buffers[cpu->n_inputs + cpu->n_results], number (cpu, array->slot));
    case GANTRY_SPACE_SHARED: return at_byte (cpu, cpu->block, number (cpu, cpu->offset_of[at]));
    default:
      if (cpu->stack_of[at] != NULL)
        return cpu->stack_of[at];
      return at_byte (cpu, this_record (cpu), number (cpu, cpu->offset_of[at]));
    }
}

static V
cpu_input (GantryGridEmit *g, guint32 input)
{
  return ((Cpu *) g->data)->buffers[input];
}

static V
cpu_axis (GantryGridEmit *g, GantryGridAxis axis)
{
  Cpu *cpu = g->data;
  GantryEmit *e = g->e;
  V x = cpu->thread, by;

  if (axis <= GANTRY_AXIS_BLOCK_Z)
    return cpu->block_axis[axis - GANTRY_AXIS_BLOCK_X];
  for (guint i = 0; i < (guint) axis - GANTRY_AXIS_THREAD_X; i++)
    x = LLVMBuildUDiv (B, x, LLVMConstInt (cpu->i32, cpu->grid->block[i], FALSE), "");
  by = LLVMConstInt (cpu->i32, cpu->grid->block[axis - GANTRY_AXIS_THREAD_X], FALSE);
  return LLVMBuildURem (B, x, by, "");
}

/* Threads */

/* Every thread finds its private arrays without numbers. */
static void
make_stack (Cpu *cpu)
{
  GantryEmit *e = cpu->e;

  for (guint i = 0; i < cpu->grid->arrays->len; i++)
    {
      const GantryGridArray *array = &g_array_index (cpu->grid->arrays, GantryGridArray, i);
      LLVMTypeRef type;

      if (array->space != GANTRY_SPACE_PRIVATE)
        continue;
      type = LLVMArrayType2 (gantry_emit_memory_type (e, array->element, 1), array->count);
      cpu->stack_of[i] = gantry_grid_emit_stack (e, type, 16);
      LLVMBuildMemSet (B, cpu->stack_of[i], LLVMConstInt (LLVMInt8TypeInContext (e->context), 0xff, FALSE),
                       number (cpu, array->count * gantry_element_size (array->element)), 16);
    }
}

static void
cpu_begin_threads (GantryGridEmit *g)
{
  Cpu *cpu = g->data;
  GantryEmit *e = g->e;
  LLVMBasicBlockRef before = LLVMGetInsertBlock (B);
  V zero = LLVMConstInt (cpu->i32, 0, FALSE);

  cpu->head = LLVMAppendBasicBlockInContext (e->context, e->function, "threads");
  LLVMBuildBr (B, cpu->head);
  LLVMPositionBuilderAtEnd (B, cpu->head);
  cpu->place = cpu->thread = LLVMBuildPhi (B, cpu->i32, "");
  LLVMAddIncoming (cpu->place, &zero, &before, 1);
  if (cpu->races && cpu->cut)
    cpu->thread = call (cpu, "gantry_grid_block_thread", cpu->i32, (V[]){ cpu->block, cpu->place }, 2);
  if (!cpu->cut)
    make_stack (cpu);
}

static void
cpu_end_threads (GantryGridEmit *g)
{
  Cpu *cpu = g->data;
  GantryEmit *e = g->e;
  LLVMBasicBlockRef here = LLVMGetInsertBlock (B);
  LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext (e->context, e->function, "together");
  V next = LLVMBuildAdd (B, cpu->place, LLVMConstInt (cpu->i32, 1, FALSE), "");
  V more = LLVMBuildICmp (B, LLVMIntULT, next, LLVMConstInt (cpu->i32, cpu->n_threads, FALSE), "");

  LLVMBuildCondBr (B, more, cpu->head, end);
  LLVMAddIncoming (cpu->place, &next, &here, 1);
  LLVMPositionBuilderAtEnd (B, end);
  cpu->thread = cpu->place = NULL;
}

static void
cpu_keep (GantryGridEmit *g, guint32 value, V x)
{
  Cpu *cpu = g->data;

  LLVMBuildStore (g->e->builder, x, at_byte (cpu, this_record (cpu), number (cpu, cpu->slot_of[value])));
}

static V
cpu_kept (GantryGridEmit *g, guint32 value, LLVMTypeRef type)
{
  Cpu *cpu = g->data;

  g_assert (cpu->slot_of[value] != 0);
  return LLVMBuildLoad2 (g->e->builder, type, at_byte (cpu, this_record (cpu), number (cpu, cpu->slot_of[value])), "");
}

/* What threads do together */

static V
statement_number (Cpu *cpu, const GantryGridStatement *s)
{
  gsize at = (gsize) (s - &g_array_index (cpu->grid->statements, GantryGridStatement, 0));

  return LLVMConstInt (cpu->i32, at, FALSE);
}

static void
cpu_put (GantryGridEmit *g, V x)
{
  Cpu *cpu = g->data;

  LLVMBuildStore (g->e->builder, x, at_byte (cpu, this_record (cpu), number (cpu, PUT_SLOT)));
}

static V
cpu_take (GantryGridEmit *g, LLVMTypeRef type, guint32 mask)
{
  Cpu *cpu = g->data;
  V other = LLVMBuildXor (g->e->builder, cpu->thread, LLVMConstInt (cpu->i32, mask, FALSE), "");

  return LLVMBuildLoad2 (g->e->builder, type, at_byte (cpu, record_of (cpu, other), number (cpu, PUT_SLOT)), "");
}

static V
fragment (GantryGridEmit *g, guint32 array, guint32 offset)
{
  return gantry_grid_emit_pointer (g, cpu_array (g, array), g_array_index (g->grid->arrays, GantryGridArray, array).element, offset);
}

static void
cpu_collective (GantryGridEmit *g, const GantryGridStatement *s)
{
  Cpu *cpu = g->data;
  V stride = number (cpu, cpu->thread_bytes), threads = LLVMConstInt (cpu->i32, cpu->n_threads, FALSE);
  V shape = LLVMConstInt (cpu->i32, s->shape, FALSE);

  if (s->kind == GANTRY_GRID_MATRIX_LOAD)
    {
      V rows = at_byte (cpu, this_record (cpu), number (cpu, PUT_SLOT));

      call_void (cpu, "gantry_grid_warps_load", (V[]){ cpu->block, rows, fragment (g, s->c, s->offset_a), stride, threads, shape, statement_number (cpu, s) },
                 7);
      return;
    }
  if (s->kind == GANTRY_GRID_BARRIER) /* which the end of the threads' loop is, but for whom it has to be told */
    {
      if (cpu->races && cpu->cut)
        call_void (cpu, "gantry_grid_block_barrier", &cpu->block, 1);
      return;
    }
  if (s->kind == GANTRY_GRID_WGMMA_AWAIT)
    {
      call_void (cpu, "gantry_grid_block_wgmma_await", (V[]){ cpu->block, threads, LLVMConstInt (cpu->i32, s->mask, FALSE) }, 3);
      return;
    }
  if (s->kind == GANTRY_GRID_WGMMA)
    {
      guint bf16 = g_array_index (g->grid->arrays, GantryGridArray, s->c).element == GANTRY_BF16 ? 4 : 0;

      call_void (cpu, "gantry_grid_block_wgmma",
                 (V[]){ cpu->block, at_byte (cpu, this_record (cpu), number (cpu, PUT_SLOT)), cpu_array (g, s->array), stride, threads,
                        LLVMConstInt (cpu->i32, (guint64) s->step, FALSE), LLVMConstInt (cpu->i32, s->shape | bf16, FALSE),
                        LLVMConstInt (cpu->i32, s->mask, FALSE), statement_number (cpu, s) },
                 9);
      return;
    }
  call_void (cpu, "gantry_grid_warps_mma",
             (V[]){ shape, fragment (g, s->array, s->b), fragment (g, s->c, s->offset_a), fragment (g, s->d, s->offset_b), stride, threads }, 6);
}

static void
cpu_fetch (GantryGridEmit *g, const GantryGridStatement *s, V to, V from, V predicate, guint bytes)
{
  Cpu *cpu = g->data;

  if (predicate != NULL)
    from = LLVMBuildSelect (g->e->builder, predicate, from, LLVMConstNull (LLVMTypeOf (from)), "");
  call_void (cpu, "gantry_grid_block_fetch", (V[]){ cpu->block, cpu->thread, to, from, LLVMConstInt (cpu->i32, bytes, FALSE), statement_number (cpu, s) }, 6);
}

static void
cpu_access (GantryGridEmit *g, const GantryGridStatement *s, V at, guint bytes)
{
  Cpu *cpu = g->data;

  if (cpu->races && cpu->is_watched[s->array])
    call_void (cpu, "gantry_grid_block_access",
               (V[]){ cpu->block, cpu->thread, at, LLVMConstInt (cpu->i32, bytes, FALSE), LLVMConstInt (cpu->i32, s->kind == GANTRY_GRID_SET, FALSE),
                      statement_number (cpu, s) },
               6);
}

static void
cpu_fence (GantryGridEmit *g)
{
  Cpu *cpu = g->data;

  if (cpu->races && cpu->cut)
    call_void (cpu, "gantry_grid_block_fence", (V[]){ cpu->block, cpu->thread }, 2);
}

static void
cpu_commit (GantryGridEmit *g)
{
  Cpu *cpu = g->data;

  call_void (cpu, "gantry_grid_block_commit", (V[]){ cpu->block, cpu->thread }, 2);
}

static void
cpu_await (GantryGridEmit *g, guint groups)
{
  Cpu *cpu = g->data;

  call_void (cpu, "gantry_grid_block_await", (V[]){ cpu->block, cpu->thread, LLVMConstInt (cpu->i32, groups, FALSE) }, 3);
}

static const GantryGridMachine machine = {
  .alignment = 1,
  .vector_bytes = 16,
  .axis = cpu_axis,
  .array = cpu_array,
  .input = cpu_input,
  .fetch = cpu_fetch,
  .commit = cpu_commit,
  .await = cpu_await,
  .access = cpu_access,
  .fence = cpu_fence,
  .begin_threads = cpu_begin_threads,
  .end_threads = cpu_end_threads,
  .put = cpu_put,
  .take = cpu_take,
  .collective = cpu_collective,
  .keep = cpu_keep,
  .kept = cpu_kept,
};

/* Blocks */

static void
set_block_axes (Cpu *cpu, V task)
{
  GantryEmit *e = cpu->e;

  for (guint i = 0; i < 3; i++)
    {
      V by = number (cpu, cpu->grid->grid[i]);

      cpu->block_axis[i] = LLVMBuildTrunc (B, LLVMBuildURem (B, task, by, ""), cpu->i32, "");
      task = LLVMBuildUDiv (B, task, by, "");
    }
}

/* The loop over the blocks [begin, end), which is not empty. */
static void
emit_blocks (Cpu *cpu, V begin, V end)
{
  GantryEmit *e = cpu->e;
  LLVMBasicBlockRef before, head = LLVMAppendBasicBlockInContext (e->context, e->function, "block"), last, done;
  V task, next;

  cpu->block = call (cpu, "gantry_grid_block_new", cpu->pointer,
                     (V[]){ number (cpu, cpu->shared_bytes), number (cpu, cpu->thread_bytes), LLVMConstInt (cpu->i32, cpu->n_threads, FALSE),
                            LLVMConstInt (cpu->i32, cpu->races && cpu->cut, FALSE) },
                     4);
  before = LLVMGetInsertBlock (B);
  LLVMBuildBr (B, head);
  LLVMPositionBuilderAtEnd (B, head);
  task = LLVMBuildPhi (B, cpu->i64, "");
  LLVMAddIncoming (task, &begin, &before, 1);
  set_block_axes (cpu, task);
  if (cpu->cut)
    call_void (cpu, "gantry_grid_block_begin", (V[]){ cpu->block, task }, 2);
  gantry_grid_emit (e, cpu->grid, &machine, cpu);
  if (cpu->cut)
    call_void (cpu, "gantry_grid_block_end", &cpu->block, 1);
  next = LLVMBuildAdd (B, task, number (cpu, 1), "");
  last = LLVMGetInsertBlock (B);
  done = LLVMAppendBasicBlockInContext (e->context, e->function, "done");
  LLVMBuildCondBr (B, LLVMBuildICmp (B, LLVMIntSLT, next, end, ""), head, done);
  LLVMAddIncoming (task, &next, &last, 1);
  LLVMPositionBuilderAtEnd (B, done);
  call_void (cpu, "gantry_grid_block_free", &cpu->block, 1);
}

static void
load_buffers (Cpu *cpu, guint n)
{
  GantryEmit *e = cpu->e;

  cpu->buffers = g_new (V, MAX (n, 1));
  for (guint i = 0; i < n; i++)
    {
      V at = number (cpu, i);

      cpu->buffers[i] = LLVMBuildLoad2 (B, cpu->pointer, LLVMBuildGEP2 (B, cpu->pointer, LLVMGetParam (e->function, 1), &at, 1, ""), "");
    }
}

/* The processor that code is generated for stands in the function's attributes. */
static void
copy_attributes (V to, V from)
{
  guint n = LLVMGetAttributeCountAtIndex (from, LLVMAttributeFunctionIndex);
  g_autofree LLVMAttributeRef *attributes = g_new (LLVMAttributeRef, n + 1);

  LLVMGetAttributesAtIndex (from, LLVMAttributeFunctionIndex, attributes);
  for (guint i = 0; i < n; i++)
    LLVMAddAttributeAtIndex (to, LLVMAttributeFunctionIndex, attributes[i]);
}

/* One launch in a function of its own, like that of the whole; the builder is left at the end of the other one. */
static V
emit_launch (GantryEmit *e, const GantryGrid *grid, guint n_inputs, guint n_results, gboolean workspace, const char *name, gboolean races)
{
  Cpu cpu = { .grid = grid, .n_inputs = n_inputs, .n_results = n_results, .races = races };
  LLVMBasicBlockRef outside = LLVMGetInsertBlock (e->builder), work, done;
  LLVMTypeRef type = LLVMGlobalGetValueType (e->function);
  GantryEmit inner = *e;
  V begin, end;

  inner.function = LLVMAddFunction (e->module, name, type);
  LLVMSetLinkage (inner.function, LLVMInternalLinkage);
  copy_attributes (inner.function, e->function);
  cpu.e = &inner;
  cpu.i32 = LLVMInt32TypeInContext (e->context);
  cpu.i64 = LLVMInt64TypeInContext (e->context);
  cpu.pointer = LLVMPointerTypeInContext (e->context, 0);
  cpu.n_threads = grid->block[0] * grid->block[1] * grid->block[2];
  LLVMPositionBuilderAtEnd (e->builder, LLVMAppendBasicBlockInContext (e->context, inner.function, "entry"));
  lay_out (&cpu);
  choose_watched (&cpu);
  load_buffers (&cpu, n_inputs + n_results + (workspace ? 1 : 0));
  begin = LLVMGetParam (inner.function, 2);
  end = LLVMGetParam (inner.function, 3);
  work = LLVMAppendBasicBlockInContext (e->context, inner.function, "work");
  done = LLVMAppendBasicBlockInContext (e->context, inner.function, "nothing");
  LLVMBuildCondBr (e->builder, LLVMBuildICmp (e->builder, LLVMIntSLT, begin, end, ""), work, done);
  LLVMPositionBuilderAtEnd (e->builder, work);
  emit_blocks (&cpu, begin, end);
  LLVMBuildBr (e->builder, done);
  LLVMPositionBuilderAtEnd (e->builder, done);
  LLVMBuildRetVoid (e->builder);
  LLVMPositionBuilderAtEnd (e->builder, outside);
  g_free (cpu.buffers);
  g_free (cpu.offset_of);
  g_free (cpu.stack_of);
  g_free (cpu.slot_of);
  g_free (cpu.is_watched);
  return inner.function;
}

static gint64
blocks_of (const GantryGrid *grid)
{
  return (gint64) grid->grid[0] * grid->grid[1] * grid->grid[2];
}

static gboolean
promote (GantryCompiler *compiler, GantryEmit *e, GError **error)
{
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions ();
  LLVMErrorRef failure = LLVMRunPasses (e->module, PASSES, compiler->machine, options);
  char *message;

  LLVMDisposePassBuilderOptions (options);
  if (failure == NULL)
    return TRUE;
  message = LLVMGetErrorMessage (failure);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "LLVM's passes failed: %s", message);
  LLVMDisposeErrorMessage (message);
  LLVMDisposeBuilder (e->builder);
  LLVMDisposeModule (e->module);
  return FALSE;
}

LLVMMemoryBufferRef
gantry_grid_to_cpu (GantryCompiler *compiler, const GantryBound *bound, const char *name, guint n_inputs, guint n_results, gint64 *n_tasks, char **ir,
                    char **assembly, GError **error)
{
  gboolean one = bound->grids->len == 1;
  LLVMTypeRef i64 = LLVMInt64TypeInContext (compiler->context);
  GantryEmit emit;

  *n_tasks = one ? blocks_of (g_ptr_array_index (bound->grids, 0)) : 1;
  gantry_compiler_begin (compiler, name, &emit);
  emit.special = compiler->has_fma ? GANTRY_SPECIAL_BY_MODEL : GANTRY_SPECIAL_NONE;
  for (guint i = 0; i < bound->grids->len; i++)
    {
      const GantryGrid *grid = g_ptr_array_index (bound->grids, i);
      g_autofree char *inner = g_strdup_printf ("%s_launch_%u", name, i);
      V launch = emit_launch (&emit, grid, n_inputs, n_results, bound->workspace_bytes > 0, inner, compiler->find_races), arguments[4];

      for (guint k = 0; k < 4; k++)
        arguments[k] = LLVMGetParam (emit.function, k);
      if (!one)
        {
          arguments[2] = LLVMConstInt (i64, 0, FALSE);
          arguments[3] = LLVMConstInt (i64, (guint64) blocks_of (grid), FALSE);
        }
      LLVMBuildCall2 (emit.builder, LLVMGlobalGetValueType (launch), launch, arguments, 4, "");
    }
  LLVMBuildRetVoid (emit.builder);
  return promote (compiler, &emit, error) ? gantry_compiler_end (compiler, &emit, ir, assembly, error) : NULL;
}
