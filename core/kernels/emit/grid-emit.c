/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of bound programs as LLVM IR. Where a machine's threads are a loop (the CPU), the program is cut at
 * the collective statements: what lies between them stands in a loop over the threads of its own, and control flow
 * around them, which is the same for all threads, stands outside those loops. */
#include "core/kernels/emit/grid-emit.h"

#define B (g->e->builder)

typedef LLVMValueRef V;

static void emit_list (GantryGridEmit *g, guint32 first, guint32 end);

static const GantryGridStatement *
statement_at (const GantryGrid *grid, guint32 at)
{
  return &g_array_index (grid->statements, GantryGridStatement, at);
}

/* The statement after this one and what it holds. */
static guint32
after (const GantryGrid *grid, guint32 at)
{
  const GantryGridStatement *s = statement_at (grid, at);

  if (s->kind == GANTRY_GRID_FOR)
    return s->end + 1;
  if (s->kind == GANTRY_GRID_IF)
    return (statement_at (grid, s->end)->kind == GANTRY_GRID_ELSE ? statement_at (grid, s->end)->end : s->end) + 1;
  return at + 1;
}

gboolean
gantry_grid_is_collective (const GantryGrid *grid, guint32 at)
{
  for (guint32 end = after (grid, at); at < end; at++)
    switch (statement_at (grid, at)->kind)
      {
      case GANTRY_GRID_BARRIER:
      case GANTRY_GRID_SHUFFLE:
      case GANTRY_GRID_MATRIX_LOAD:
      case GANTRY_GRID_MMA:
      case GANTRY_GRID_WGMMA:
      case GANTRY_GRID_WGMMA_AWAIT: return TRUE;
      default: break;
      }
  return FALSE;
}

V
gantry_grid_emit_stack (GantryEmit *e, LLVMTypeRef type, guint alignment)
{
  LLVMBasicBlockRef here = LLVMGetInsertBlock (e->builder), entry = LLVMGetEntryBasicBlock (e->function);
  LLVMValueRef first = LLVMGetFirstInstruction (entry), slot;

  if (first != NULL)
    LLVMPositionBuilderBefore (e->builder, first);
  else
    LLVMPositionBuilderAtEnd (e->builder, entry);
  slot = LLVMBuildAlloca (e->builder, type, "");
  LLVMSetAlignment (slot, alignment);
  LLVMPositionBuilderAtEnd (e->builder, here);
  return slot;
}

/* Axes */

static gboolean
is_thread_axis (guint8 axis)
{
  return axis >= GANTRY_AXIS_THREAD_X && axis <= GANTRY_AXIS_THREAD_Z;
}

static gboolean
is_block_axis (guint8 axis)
{
  return axis >= GANTRY_AXIS_BLOCK_X && axis <= GANTRY_AXIS_BLOCK_Z;
}

/* In 32 bits where they fit: block and thread numbers are less than 2^31. */
static void
bind_axes (GantryGridEmit *g, gboolean (*is_it) (guint8 axis))
{
  for (guint v = 0; v < g->kx->n_vars; v++)
    if (is_it (g->grid->axis[v]))
      g->index[v] = g->machine->axis (g, g->grid->axis[v]);
}

static void
unbind_axes (GantryGridEmit *g, gboolean (*is_it) (guint8 axis))
{
  for (guint v = 0; v < g->kx->n_vars; v++)
    if (is_it (g->grid->axis[v]))
      g->index[v] = NULL;
}

/* Control flow */

static LLVMBasicBlockRef
new_block (GantryGridEmit *g, const char *name)
{
  return LLVMAppendBasicBlockInContext (g->e->context, g->e->function, name);
}

static void
emit_unrolled (GantryGridEmit *g, guint32 at, V lo, V hi)
{
  const GantryGridStatement *s = statement_at (g->grid, at);
  LLVMTypeRef i64 = LLVMInt64TypeInContext (g->e->context);
  gint64 from, to;

  g_assert (LLVMIsAConstantInt (lo) != NULL && LLVMIsAConstantInt (hi) != NULL);
  from = LLVMConstIntGetSExtValue (lo);
  to = LLVMConstIntGetSExtValue (hi);
  for (gint64 i = from; i < to; i += s->step)
    {
      guint mark = gantry_grid_emit_mark (g);

      g->index[s->c] = LLVMConstInt (i64, (guint64) i, TRUE);
      emit_list (g, at + 1, s->end);
      gantry_grid_emit_forget (g, mark, G_GUINT64_CONSTANT (1) << s->c);
    }
  g->index[s->c] = NULL;
}

static void
emit_loop (GantryGridEmit *g, guint32 at, V lo, V hi)
{
  const GantryGridStatement *s = statement_at (g->grid, at);
  LLVMTypeRef i32 = LLVMInt32TypeInContext (g->e->context), i64 = LLVMInt64TypeInContext (g->e->context);
  /* The variable goes one step beyond the end. */
  gboolean narrow = LLVMTypeOf (lo) == i32 && LLVMTypeOf (hi) == i32 && gantry_kx_range (g->kx, s->b).hi <= G_MAXINT32 - s->step;
  LLVMTypeRef type = narrow ? i32 : i64;
  LLVMBasicBlockRef before, body = new_block (g, "loop"), end = new_block (g, "after"), last;
  guint mark;
  V index, next;

  lo = LLVMBuildIntCast2 (B, lo, type, TRUE, "");
  hi = LLVMBuildIntCast2 (B, hi, type, TRUE, "");
  before = LLVMGetInsertBlock (B);
  LLVMBuildCondBr (B, LLVMBuildICmp (B, LLVMIntSLT, lo, hi, ""), body, end);
  LLVMPositionBuilderAtEnd (B, body);
  index = LLVMBuildPhi (B, type, "");
  LLVMAddIncoming (index, &lo, &before, 1);
  g->index[s->c] = index;
  mark = gantry_grid_emit_mark (g);
  emit_list (g, at + 1, s->end);
  gantry_grid_emit_forget (g, mark, 0);
  g->index[s->c] = NULL;
  next = LLVMBuildNSWAdd (B, index, LLVMConstInt (type, (guint64) s->step, TRUE), "");
  last = LLVMGetInsertBlock (B);
  LLVMBuildCondBr (B, LLVMBuildICmp (B, LLVMIntSLT, next, hi, ""), body, end);
  LLVMAddIncoming (index, &next, &last, 1);
  LLVMPositionBuilderAtEnd (B, end);
}

static void
emit_for (GantryGridEmit *g, guint32 at)
{
  const GantryGridStatement *s = statement_at (g->grid, at);
  V lo = gantry_grid_emit_index (g, s->a, 0), hi = gantry_grid_emit_index (g, s->b, 0);

  if (s->unroll)
    emit_unrolled (g, at, lo, hi);
  else
    emit_loop (g, at, lo, hi);
}

static void
emit_branch (GantryGridEmit *g, LLVMBasicBlockRef block, guint32 first, guint32 end, LLVMBasicBlockRef join)
{
  guint mark = gantry_grid_emit_mark (g);

  LLVMPositionBuilderAtEnd (B, block);
  emit_list (g, first, end);
  gantry_grid_emit_forget (g, mark, 0);
  LLVMBuildBr (B, join);
}

static void
emit_if (GantryGridEmit *g, guint32 at)
{
  const GantryGridStatement *s = statement_at (g->grid, at);
  gboolean has_else = statement_at (g->grid, s->end)->kind == GANTRY_GRID_ELSE;
  guint32 end = after (g->grid, at) - 1;
  V condition = gantry_grid_emit_value (g, s->a, 0);
  LLVMBasicBlockRef then, otherwise, join;

  if (LLVMIsAConstantInt (condition) != NULL)
    {
      if (LLVMConstIntGetZExtValue (condition) != 0)
        emit_list (g, at + 1, s->end);
      else if (has_else)
        emit_list (g, s->end + 1, end);
      return;
    }
  then = new_block (g, "then");
  otherwise = has_else ? new_block (g, "else") : NULL;
  join = new_block (g, "join");
  LLVMBuildCondBr (B, condition, then, has_else ? otherwise : join);
  emit_branch (g, then, at + 1, s->end, join);
  if (has_else)
    emit_branch (g, otherwise, s->end + 1, end, join);
  LLVMPositionBuilderAtEnd (B, join);
}

/* Statements */

static V
element_at (GantryGridEmit *g, guint32 array, guint32 index)
{
  GantryElementType element = g_array_index (g->grid->arrays, GantryGridArray, array).element;

  return gantry_grid_emit_pointer (g, g->machine->array (g, array), element, index);
}

static void
emit_fetch (GantryGridEmit *g, const GantryGridStatement *s)
{
  GantryElementType element = g_array_index (g->grid->arrays, GantryGridArray, s->array).element;
  V to = element_at (g, s->array, s->b);
  V from = (s->shape & 1) != 0 ? element_at (g, s->d, s->a) : gantry_grid_emit_pointer (g, g->machine->input (g, s->d), element, s->a);
  V predicate = s->c != GANTRY_GRID_NONE ? gantry_grid_emit_value (g, s->c, 0) : NULL;

  g->machine->fetch (g, s, to, from, predicate, s->lanes * (guint) gantry_element_size (element));
}

/* What all threads do together, on a machine that has threads. */
static void
emit_together (GantryGridEmit *g, const GantryGridStatement *s)
{
  GantryElementType element;
  V x;

  switch ((GantryGridKind) s->kind)
    {
    case GANTRY_GRID_BARRIER: g->machine->barrier (g); break;
    case GANTRY_GRID_SHUFFLE:
      x = gantry_grid_emit_index (g, s->a, 0);
      element = LLVMTypeOf (x) == LLVMInt32TypeInContext (g->e->context) && s->element == GANTRY_I64 ? GANTRY_I32 : (GantryElementType) s->element;
      gantry_grid_emit_define (g, s->value, g->machine->shuffle (g, element, x, s->mask));
      break;
    case GANTRY_GRID_MATRIX_LOAD: g->machine->matrix_load (g, s, element_at (g, s->c, s->offset_a), element_at (g, s->array, s->b)); break;
    case GANTRY_GRID_WGMMA:
      g->machine->wgmma (g, s, g->machine->array (g, s->array), element_at (g, s->c, s->offset_a), element_at (g, s->d, s->offset_b));
      break;
    case GANTRY_GRID_WGMMA_AWAIT: g->machine->wgmma_await (g, s, g->machine->array (g, s->array)); break;
    default: g->machine->mma (g, s, element_at (g, s->array, s->b), element_at (g, s->c, s->offset_a), element_at (g, s->d, s->offset_b)); break;
    }
}

static void
emit_statement (GantryGridEmit *g, guint32 at)
{
  const GantryGridStatement *s = statement_at (g->grid, at);

  switch ((GantryGridKind) s->kind)
    {
    case GANTRY_GRID_LET: gantry_grid_emit_define (g, s->value, gantry_grid_emit_index (g, s->a, 0)); break;
    case GANTRY_GRID_SET: gantry_grid_emit_sets (g, s, 1); break;
    case GANTRY_GRID_GET: gantry_grid_emit_get (g, s); break;
    case GANTRY_GRID_FOR: emit_for (g, at); break;
    case GANTRY_GRID_IF: emit_if (g, at); break;
    case GANTRY_GRID_FETCH: emit_fetch (g, s); break;
    case GANTRY_GRID_COMMIT: g->machine->commit (g); break;
    case GANTRY_GRID_AWAIT: g->machine->await (g, s->mask); break;
    case GANTRY_GRID_FENCE:
      if (g->machine->fence != NULL)
        g->machine->fence (g);
      break;
    default: emit_together (g, s); break;
    }
}

/* Threads as loops */

static guint
begin_threads (GantryGridEmit *g)
{
  guint mark = gantry_grid_emit_mark (g);

  g->machine->begin_threads (g);
  g->in_threads = TRUE;
  bind_axes (g, is_thread_axis);
  return mark;
}

static void
end_threads (GantryGridEmit *g, guint mark)
{
  gantry_grid_emit_forget (g, mark, 0);
  unbind_axes (g, is_thread_axis);
  g->in_threads = FALSE;
  g->machine->end_threads (g);
}

/* Two pointers as one value. */
static V
pair_of (GantryGridEmit *g, V a, V b)
{
  LLVMTypeRef types[2] = { LLVMTypeOf (a), LLVMTypeOf (b) };
  V pair = LLVMGetPoison (LLVMStructTypeInContext (g->e->context, types, 2, FALSE));

  return LLVMBuildInsertValue (B, LLVMBuildInsertValue (B, pair, a, 0, ""), b, 1, "");
}

static void
emit_collective (GantryGridEmit *g, const GantryGridStatement *s)
{
  guint mark;
  LLVMTypeRef type;

  switch ((GantryGridKind) s->kind)
    {
    case GANTRY_GRID_SHUFFLE:
      mark = begin_threads (g);
      {
        V x = gantry_grid_emit_index (g, s->a, 0);

        type = LLVMTypeOf (x);
        g->machine->put (g, x);
      }
      end_threads (g, mark);
      mark = begin_threads (g);
      gantry_grid_emit_define (g, s->value, g->machine->take (g, type, s->mask));
      end_threads (g, mark);
      break;
    case GANTRY_GRID_MATRIX_LOAD:
      mark = begin_threads (g);
      g->machine->put (g, element_at (g, s->array, s->b));
      end_threads (g, mark);
      g->machine->collective (g, s);
      break;
    case GANTRY_GRID_WGMMA:
      mark = begin_threads (g);
      g->machine->put (g, pair_of (g, element_at (g, s->c, s->offset_a), element_at (g, s->d, s->offset_b)));
      end_threads (g, mark);
      g->machine->collective (g, s);
      break;
    default: g->machine->collective (g, s); break;
    }
}

/* How many SETs of results follow each other from here. */
static guint32
sets_at (const GantryGrid *grid, guint32 at, guint32 end)
{
  guint32 n = 0;

  for (; at + n < end; n++)
    {
      const GantryGridStatement *s = statement_at (grid, at + n);

      if (s->kind != GANTRY_GRID_SET || g_array_index (grid->arrays, GantryGridArray, s->array).space != GANTRY_SPACE_RESULT)
        break;
    }
  return n;
}

static void
emit_list (GantryGridEmit *g, guint32 first, guint32 end)
{
  for (guint32 at = first, next; at < end; at = next)
    {
      const GantryGridStatement *s = statement_at (g->grid, at);
      guint mark;

      next = after (g->grid, at);
      if (g->in_threads && sets_at (g->grid, at, end) > 1)
        {
          next = at + sets_at (g->grid, at, end);
          gantry_grid_emit_sets (g, s, next - at);
        }
      else if (g->in_threads)
        emit_statement (g, at);
      else if (!gantry_grid_is_collective (g->grid, at))
        {
          while (next < end && !gantry_grid_is_collective (g->grid, next))
            next = after (g->grid, next);
          mark = begin_threads (g);
          emit_list (g, at, next);
          end_threads (g, mark);
        }
      else if (s->kind == GANTRY_GRID_FOR || s->kind == GANTRY_GRID_IF)
        emit_statement (g, at);
      else
        emit_collective (g, s);
    }
}

void
gantry_grid_emit (GantryEmit *e, const GantryGrid *grid, const GantryGridMachine *machine, gpointer data)
{
  GantryGridEmit emit = { .e = e, .grid = grid, .kx = grid->kx, .machine = machine, .data = data, .lane_variable = GANTRY_GRID_NONE, .lanes = 1 };

  emit.memo = g_array_new (FALSE, TRUE, sizeof (V));
  emit.trail = g_array_new (FALSE, FALSE, sizeof (guint32));
  emit.in_threads = machine->begin_threads == NULL;
  for (guint32 at = 0; at < grid->statements->len && !emit.in_threads && !emit.keeps; at++)
    emit.keeps = gantry_grid_is_collective (grid, at);
  bind_axes (&emit, is_block_axis);
  if (emit.in_threads)
    bind_axes (&emit, is_thread_axis);
  emit_list (&emit, 0, grid->statements->len);
  g_array_unref (emit.memo);
  g_array_unref (emit.trail);
  g_free (emit.slot_of);
}
