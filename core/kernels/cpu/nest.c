/* SPDX-License-Identifier: Apache-2.0 */
/* The loops over the results of a kernel: tasks, the dimensions within a task, vectors and what is
 * left over. A range is cut where a comparison within the expression changes (the border of a padding,
 * the seam of a concatenation), and each part is emitted from the expression simplified for it. */
#include "core/kernels/cpu/nest-private.h"
#include "core/kernels/schedule/loop-schedule.h"
#include <string.h>

#define B (nest->e->builder)

/* Cutting multiplies code: at most this many innermost bodies. */
#define MAX_LEAVES 48
#define MAX_BREAKS 12

typedef LLVMValueRef V;

/* Levels */

static GantryLevel *
push (GantryNest *nest, guint parent, int variable, V value, LLVMBasicBlockRef content, LLVMBasicBlockRef open)
{
  GantryLevel *level;

  g_assert (nest->n_levels < GANTRY_MAX_LEVELS);
  level = &nest->levels[nest->n_levels++];
  *level = (GantryLevel){ .variable = variable, .value = value, .content = content, .open = open, .parent = parent };
  level->trail = g_array_new (FALSE, FALSE, sizeof (guint32));
  if (variable >= 0)
    {
      level->outer_level = nest->level_of[variable];
      nest->level_of[variable] = (int) nest->n_levels - 1;
    }
  return level;
}

/* Values of the level are forgotten: their place in the code is not on the way any more. */
static void
pop (GantryNest *nest)
{
  GantryLevel *level = &nest->levels[--nest->n_levels];

  for (guint i = 0; i < level->trail->len; i++)
    g_array_index (nest->memo, V, g_array_index (level->trail, guint32, i)) = NULL;
  g_array_unref (level->trail);
  if (level->variable >= 0)
    nest->level_of[level->variable] = level->outer_level;
}

static LLVMBasicBlockRef
new_block (GantryNest *nest, const char *name)
{
  return LLVMAppendBasicBlockInContext (nest->e->context, nest->e->function, name);
}

/* What was emitted between @content and the builder's block follows what the level has so far. */
static void
append_content (GantryNest *nest, guint level, LLVMBasicBlockRef content, LLVMBasicBlockRef end)
{
  gantry_nest_at (nest, level);
  LLVMBuildBr (B, content);
  nest->levels[level].open = end;
}

void
gantry_nest_begin_loop (GantryNest *nest, guint parent, int variable, V lo, V hi, gint64 step)
{
  LLVMBasicBlockRef content = new_block (nest, "enter"), head = new_block (nest, "loop");
  GantryLevel *level;
  V index;

  LLVMPositionBuilderAtEnd (B, content);
  LLVMBuildBr (B, head);
  LLVMPositionBuilderAtEnd (B, head);
  index = LLVMBuildPhi (B, nest->i64, "");
  LLVMAddIncoming (index, &lo, &content, 1);
  level = push (nest, parent, variable, index, content, head);
  level->head = head;
  level->limit = hi;
  level->step = step;
}

void
gantry_nest_end_loop (GantryNest *nest)
{
  GantryLevel level = nest->levels[gantry_nest_top (nest)];
  LLVMBasicBlockRef end = new_block (nest, "after");
  V next, more;

  gantry_nest_at (nest, gantry_nest_top (nest));
  next = LLVMBuildAdd (B, level.value, gantry_nest_const (nest, level.step), "");
  more = LLVMBuildICmp (B, LLVMIntSLT, next, level.limit, "");
  LLVMBuildCondBr (B, more, level.head, end);
  LLVMAddIncoming (level.value, &next, &level.open, 1);
  pop (nest);
  append_content (nest, level.parent, level.content, end);
}

void
gantry_nest_begin_if (GantryNest *nest, guint parent, int variable, V condition)
{
  LLVMBasicBlockRef content = new_block (nest, "ask"), inside = new_block (nest, "then");
  LLVMBasicBlockRef join = new_block (nest, "join");
  V value = variable >= 0 ? nest->levels[nest->level_of[variable]].value : NULL;

  LLVMPositionBuilderAtEnd (B, content);
  LLVMBuildCondBr (B, condition, inside, join);
  push (nest, parent, variable, value, content, inside)->join = join;
}

void
gantry_nest_end_if (GantryNest *nest)
{
  GantryLevel level = nest->levels[gantry_nest_top (nest)];

  gantry_nest_at (nest, gantry_nest_top (nest));
  LLVMBuildBr (B, level.join);
  pop (nest);
  append_content (nest, level.parent, level.content, level.join);
}

/* Results */

static void
store_lanes (GantryNest *nest, GantryElementType element, V value, V pointer, gint64 stride, V offsets)
{
  LLVMTypeRef type = gantry_emit_memory_type (nest->e, element, 1);
  LLVMTypeRef i32 = LLVMInt32TypeInContext (nest->e->context);

  for (guint l = 0; l < nest->lanes; l++)
    {
      V lane = LLVMConstInt (i32, l, FALSE), at = gantry_nest_const (nest, stride * (gint64) l);

      if (offsets != NULL)
        at = LLVMBuildExtractElement (B, offsets, lane, "");
      gantry_emit_raw_store (nest->e, LLVMBuildExtractElement (B, value, lane, ""), LLVMBuildGEP2 (B, type, pointer, &at, 1, ""));
    }
}

static void
store_result (GantryNest *nest, const GantryKxRoot *root, V value, guint row, guint unroll)
{
  gint64 stride;
  V offsets, pointer;

  pointer = gantry_nest_pointer (nest, nest->outputs[root->output], root->element, root->address, GANTRY_NO_NODE, row, unroll, &stride, &offsets);
  gantry_nest_at (nest, gantry_nest_top (nest));
  value = gantry_emit_to_memory (nest->e, root->element, gantry_emit_splat (nest->e, value, nest->lanes));
  if (nest->lanes == 1 || (stride == 1 && offsets == NULL))
    gantry_emit_raw_store (nest->e, value, pointer);
  else
    store_lanes (nest, root->element, value, pointer, stride, offsets);
}

/* All values before any store: a result may lie over an operand. */
static void
emit_leaf (GantryNest *nest, const GantryKxRoot *roots)
{
  guint n = nest->kx->n_roots, per_root = nest->rows * nest->unroll;
  g_autofree V *values = g_new (V, n * per_root);

  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < per_root; k++)
      values[i * per_root + k] = gantry_nest_value (nest, roots[i].value, k / nest->unroll, k % nest->unroll);
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < per_root; k++)
      store_result (nest, &roots[i], values[i * per_root + k], k / nest->unroll, k % nest->unroll);
}

/* Bounds of a loop: known numbers, or values of the top level when a task is a block. */

typedef struct
{
  gint64 lo, hi;        /* hi exclusive; of the widest that may be */
  V lo_value, hi_value; /* NULL: the numbers */
} Bounds;

static V
bound (GantryNest *nest, V value, gint64 number)
{
  return value != NULL ? value : gantry_nest_const (nest, number);
}

/* Begins "if there is anything between the bounds" where that is not known. */
static gboolean
guard (GantryNest *nest, V lo, V hi)
{
  gantry_nest_at (nest, gantry_nest_top (nest));
  if (LLVMIsAConstantInt (lo) != NULL && LLVMIsAConstantInt (hi) != NULL)
    return FALSE;
  gantry_nest_begin_if (nest, gantry_nest_top (nest), GANTRY_NO_VARIABLE, LLVMBuildICmp (B, LLVMIntSLT, lo, hi, ""));
  return TRUE;
}

static gboolean
is_empty (V lo, V hi)
{
  return LLVMIsAConstantInt (lo) != NULL && LLVMIsAConstantInt (hi) != NULL && LLVMConstIntGetSExtValue (lo) >= LLVMConstIntGetSExtValue (hi);
}

/* lo + (hi - lo) / step * step */
static V
whole_steps (GantryNest *nest, V lo, V hi, gint64 step)
{
  V length, by = gantry_nest_const (nest, step);

  gantry_nest_at (nest, gantry_nest_top (nest));
  length = LLVMBuildSub (B, hi, lo, "");
  length = LLVMBuildMul (B, LLVMBuildSDiv (B, length, by, ""), by, "");
  return LLVMBuildAdd (B, lo, length, "");
}

/* The innermost variable */

static void
vector_loop (GantryNest *nest, guint variable, V lo, V hi, guint lanes, guint unroll, const GantryKxRoot *roots)
{
  gboolean guarded;

  if (is_empty (lo, hi))
    return;
  guarded = guard (nest, lo, hi);
  gantry_nest_begin_loop (nest, gantry_nest_top (nest), (int) variable, lo, hi, (gint64) lanes * unroll);
  nest->vector_variable = lanes > 1 ? (int) variable : GANTRY_NO_VARIABLE;
  nest->lanes = lanes;
  nest->unroll = unroll;
  emit_leaf (nest, roots);
  gantry_nest_end_loop (nest);
  nest->vector_variable = GANTRY_NO_VARIABLE;
  nest->lanes = nest->unroll = 1;
  if (guarded)
    gantry_nest_end_if (nest);
}

/* Whole groups of vectors, whole vectors, where it is known to be worth it half a vector, single elements. */
static void
emit_vectors (GantryNest *nest, guint variable, const Bounds *bounds, const GantryKxRoot *roots)
{
  V lo = bound (nest, bounds->lo_value, bounds->lo), hi = bound (nest, bounds->hi_value, bounds->hi), middle;
  guint lanes = nest->schedule->lanes, unroll = nest->schedule->unroll;
  gint64 longest = bounds->hi - bounds->lo;
  gboolean known = bounds->lo_value == NULL && bounds->hi_value == NULL;

  nest->leaves++;
  while (lanes > 1 && lanes > longest)
    lanes /= 2;
  while (unroll > 1 && (gint64) unroll * lanes > longest)
    unroll /= 2;
  if (lanes > 1 && unroll > 1)
    {
      middle = whole_steps (nest, lo, hi, (gint64) lanes * unroll);
      vector_loop (nest, variable, lo, middle, lanes, unroll, roots);
      lo = middle;
    }
  if (lanes > 1)
    {
      middle = whole_steps (nest, lo, hi, lanes);
      vector_loop (nest, variable, lo, middle, lanes, 1, roots);
      lo = middle;
    }
  if (lanes >= 8 && known && longest % lanes >= lanes / 2)
    {
      middle = whole_steps (nest, lo, hi, lanes / 2);
      vector_loop (nest, variable, lo, middle, lanes / 2, 1, roots);
      lo = middle;
    }
  vector_loop (nest, variable, lo, hi, 1, 1, roots);
}

/* The variables of the order, outermost first */

static void emit_order (GantryNest *nest, guint at, const GantryKxRoot *roots);

/* A value within a loop over the second last variable may be computed for several rows at once. */
static void
row_loops (GantryNest *nest, guint at, V lo, V hi, const GantryKxRoot *roots)
{
  guint variable = nest->schedule->order[at];
  guint rows = at + 2 == nest->schedule->n_order ? nest->schedule->rows : 1;
  V middle = rows > 1 ? whole_steps (nest, lo, hi, rows) : lo;

  for (guint part = rows > 1 ? 0 : 1; part < 2; part++)
    {
      V from = part == 0 ? lo : middle, to = part == 0 ? middle : hi;
      gboolean guarded;

      if (is_empty (from, to))
        continue;
      guarded = guard (nest, from, to);
      gantry_nest_begin_loop (nest, gantry_nest_top (nest), (int) variable, from, to, part == 0 ? rows : 1);
      nest->rows = part == 0 ? rows : 1;
      nest->row_variable = part == 0 ? (int) variable : GANTRY_NO_VARIABLE;
      emit_order (nest, at + 1, roots);
      nest->rows = 1;
      nest->row_variable = GANTRY_NO_VARIABLE;
      gantry_nest_end_loop (nest);
      if (guarded)
        gantry_nest_end_if (nest);
    }
}

/* One part of a variable's range, for which @roots were simplified. */
static void
emit_part (GantryNest *nest, guint at, const Bounds *bounds, const GantryKxRoot *roots)
{
  guint variable = nest->schedule->order[at];

  if (at + 1 == nest->schedule->n_order)
    emit_vectors (nest, variable, bounds, roots);
  else
    row_loops (nest, at, bound (nest, bounds->lo_value, bounds->lo), bound (nest, bounds->hi_value, bounds->hi), roots);
}

/* The bounds [begin, end) of the task within [lo, hi). */
static Bounds
clip (GantryNest *nest, gint64 lo, gint64 hi, V begin, V end)
{
  Bounds bounds = { lo, hi, NULL, NULL };
  V low = gantry_nest_const (nest, lo), high = gantry_nest_const (nest, hi);

  if (begin == NULL)
    return bounds;
  gantry_nest_at (nest, gantry_nest_top (nest));
  bounds.lo_value = LLVMBuildSelect (B, LLVMBuildICmp (B, LLVMIntSGT, begin, low, ""), begin, low, "");
  bounds.hi_value = LLVMBuildSelect (B, LLVMBuildICmp (B, LLVMIntSLT, end, high, ""), end, high, "");
  return bounds;
}

/* A variable whose value the task gives: a part is entered when the value lies in it. */
static void
emit_task_part (GantryNest *nest, guint at, gint64 lo, gint64 hi, gboolean whole, const GantryKxRoot *roots)
{
  guint variable = nest->schedule->order[at];
  V value = nest->levels[nest->level_of[variable]].value, inside;

  if (whole)
    {
      emit_order (nest, at + 1, roots);
      return;
    }
  gantry_nest_at (nest, gantry_nest_top (nest));
  inside = LLVMBuildAnd (B, LLVMBuildICmp (B, LLVMIntSGE, value, gantry_nest_const (nest, lo), ""),
                         LLVMBuildICmp (B, LLVMIntSLT, value, gantry_nest_const (nest, hi), ""), "");
  gantry_nest_begin_if (nest, gantry_nest_top (nest), (int) variable, inside);
  emit_order (nest, at + 1, roots);
  gantry_nest_end_if (nest);
}

static void
emit_range (GantryNest *nest, guint at, gint64 lo, gint64 hi, gboolean whole, const GantryKxRoot *roots)
{
  gboolean blocked = at == nest->schedule->n_task && nest->schedule->n_blocks > 1;
  guint variable = nest->schedule->order[at];
  GantryIndexRange saved = nest->kx->ranges[variable];
  g_autofree GantryKxRoot *mine = g_memdup2 (roots, nest->kx->n_roots * sizeof *roots);
  Bounds bounds;

  if (!whole)
    {
      gantry_kx_set_range (nest->kx, variable, lo, hi - 1);
      gantry_kx_rebuild (nest->kx, NULL, mine, nest->kx->n_roots);
    }
  if (at < nest->schedule->n_task)
    emit_task_part (nest, at, lo, hi, whole, mine);
  else
    {
      bounds = clip (nest, lo, hi, blocked ? nest->block_begin : NULL, nest->block_end);
      emit_part (nest, at, &bounds, mine);
    }
  gantry_kx_set_range (nest->kx, variable, saved.lo, saved.hi);
}

static void
emit_order (GantryNest *nest, guint at, const GantryKxRoot *roots)
{
  gint64 breaks[MAX_BREAKS + 1];
  guint variable, n = 0;
  gint64 lo, end;

  if (at == nest->schedule->n_order)
    {
      nest->leaves++;
      emit_leaf (nest, roots);
      return;
    }
  variable = nest->schedule->order[at];
  lo = 0;
  end = nest->kx->extents[variable];
  if (nest->leaves < MAX_LEAVES)
    n = gantry_schedule_breaks (nest->kx, roots, nest->kx->n_roots, variable, breaks, MAX_BREAKS);
  breaks[n++] = end;
  for (guint i = 0; i < n; lo = breaks[i++])
    emit_range (nest, at, lo, breaks[i], n == 1, roots);
}

/* Tasks */

/* A level that only gives a variable its value. */
static void
begin_binding (GantryNest *nest, int variable, V value)
{
  LLVMBasicBlockRef content = new_block (nest, "task");

  push (nest, gantry_nest_top (nest), variable, value, content, content);
}

static void
end_binding (GantryNest *nest)
{
  GantryLevel level = nest->levels[gantry_nest_top (nest)];

  pop (nest);
  append_content (nest, level.parent, level.content, level.open);
}

/* The part of the number of a task that says which block it is. Returns: the rest of the number */
static V
decode_block (GantryNest *nest, V task)
{
  const GantrySchedule *schedule = nest->schedule;
  V n = gantry_nest_const (nest, schedule->n_blocks), size = gantry_nest_const (nest, schedule->block), last;

  if (schedule->n_blocks <= 1)
    return task;
  last = gantry_nest_const (nest, nest->kx->extents[schedule->order[schedule->n_task]]);
  nest->block_begin = LLVMBuildMul (B, LLVMBuildURem (B, task, n, ""), size, "");
  nest->block_end = LLVMBuildAdd (B, nest->block_begin, size, "");
  nest->block_end = LLVMBuildSelect (B, LLVMBuildICmp (B, LLVMIntSGT, nest->block_end, last, ""), last, nest->block_end, "");
  return LLVMBuildUDiv (B, task, n, "");
}

/* One task: its number is taken apart into the values of the task variables. */
static void
emit_task (GantryNest *nest)
{
  const GantrySchedule *schedule = nest->schedule;
  V rest, values[GANTRY_KX_MAX_VARS];

  gantry_nest_at (nest, gantry_nest_top (nest));
  rest = decode_block (nest, nest->levels[gantry_nest_top (nest)].value);
  for (guint i = schedule->n_task; i-- > 0;)
    {
      V extent = gantry_nest_const (nest, nest->kx->extents[schedule->order[i]]);

      values[i] = i > 0 ? LLVMBuildURem (B, rest, extent, "") : rest;
      rest = LLVMBuildUDiv (B, rest, extent, "");
    }
  for (guint i = 0; i < schedule->n_task; i++)
    begin_binding (nest, (int) schedule->order[i], values[i]);
  emit_order (nest, 0, nest->kx->roots);
  for (guint i = 0; i < schedule->n_task; i++)
    end_binding (nest);
}

void
gantry_nest_emit (GantryEmit *e, GantryKx *kx, const GantrySchedule *schedule, const V *inputs, const V *outputs, V begin, V end)
{
  GantryNest *nest = g_new0 (GantryNest, 1);

  nest->e = e;
  nest->kx = kx;
  nest->schedule = schedule;
  nest->inputs = inputs;
  nest->outputs = outputs;
  nest->i64 = LLVMInt64TypeInContext (e->context);
  nest->memo = g_array_new (FALSE, TRUE, sizeof (V));
  nest->vector_variable = nest->row_variable = GANTRY_NO_VARIABLE;
  nest->lanes = nest->unroll = nest->rows = 1;
  for (guint v = 0; v < GANTRY_KX_MAX_VARS; v++)
    nest->level_of[v] = -1;
  push (nest, 0, GANTRY_NO_VARIABLE, NULL, NULL, LLVMGetInsertBlock (B));
  /* The caller has made sure that there is a task. */
  gantry_nest_begin_loop (nest, 0, GANTRY_NO_VARIABLE, begin, end, 1);
  emit_task (nest);
  gantry_nest_end_loop (nest);
  gantry_nest_at (nest, 0);
  pop (nest);
  g_array_unref (nest->memo);
  g_free (nest);
}
