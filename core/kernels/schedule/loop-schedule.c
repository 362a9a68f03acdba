/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing loops: results are computed in the order in which they lie in memory, in vectors along the
 * last variable, in tasks that are long enough to be worth a thread's while. */
#include "core/kernels/schedule/loop-schedule.h"
#include <string.h>

/* About this many simple operations make one task: some microseconds. */
#define TASK_WORK 32768
#define MAX_TERMS 25 /* of a reduction that is written out: a 5 x 5 window */
#define MAX_WRITTEN_NODES 2000

static const GantryKxNode *
next_needed (const GantryKx *kx, const guint8 *needed, guint32 *id)
{
  while (*id < kx->nodes->len && !needed[*id])
    (*id)++;
  return *id < kx->nodes->len ? gantry_kx_node (kx, (*id)++) : NULL;
}

/* What is asked of the values */

static gboolean
is_index (const GantryKxNode *node)
{
  return node->type == GANTRY_I64 && node->kind != GANTRY_KX_LOAD && node->kind != GANTRY_KX_CAST && node->kind != GANTRY_KX_REDUCE;
}

static gboolean
is_long (guint op)
{
  return (gantry_op_info (op)->flags & GANTRY_OP_LONG) != 0;
}

static guint
node_cost (const GantryKxNode *node)
{
  switch (node->kind)
    {
    case GANTRY_KX_CONST:
    case GANTRY_KX_INDEX:
    case GANTRY_KX_LINEAR: return 0;
    case GANTRY_KX_UNARY:
    case GANTRY_KX_BINARY: return is_long (node->op) && !is_index (node) ? 20 : 1;
    default: return 1;
    }
}

guint
gantry_schedule_lanes (const GantryKx *kx, const GantryKxRoot *roots, guint n, guint bytes)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, roots, n);
  guint largest = 1;
  const GantryKxNode *node;

  for (guint32 id = 0; (node = next_needed (kx, needed, &id)) != NULL;)
    if (!is_index (node) && node->kind != GANTRY_KX_CONST && node->type != GANTRY_BOOL)
      {
        guint size = gantry_element_size (node->type);

        largest = MAX (largest, gantry_element_is_float (node->type) ? MAX (size, 4) : size);
      }
  return MAX (bytes / largest, 1);
}

guint
gantry_schedule_unroll (const GantryKx *kx, const GantryKxRoot *roots, guint n)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, roots, n);
  guint cost = 0;
  const GantryKxNode *node;

  for (guint32 id = 0; (node = next_needed (kx, needed, &id)) != NULL;)
    cost += node_cost (node);
  return cost <= 10 ? 4 : cost <= 60 ? 2 : 1;
}

void
gantry_schedule_strides (const GantryKx *kx, const GantryKxRoot *roots, guint n, guint variable, guint *unit, guint *strided)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, roots, n);
  const GantryKxNode *node;

  *unit = *strided = 0;
  for (guint32 id = 0; (node = next_needed (kx, needed, &id)) != NULL;)
    {
      gboolean other;
      gint64 factor;

      if (node->kind != GANTRY_KX_LOAD || !(node->vars >> variable & 1))
        continue;
      factor = gantry_kx_factor_of (kx, node, variable, &other);
      if (other || ABS (factor) > 1)
        (*strided)++;
      else
        (*unit)++;
    }
}

guint
gantry_schedule_axes (const GantryKx *kx, guint32 reduce, guint *axes)
{
  GantryKxNode node = *gantry_kx_node (kx, reduce);
  GantryKxRoot root = { .value = node.a };
  g_autofree guint8 *needed = gantry_kx_needed (kx, &root, 1);
  gint64 steps[GANTRY_KX_MAX_VARS];
  guint n = 0;

  for (guint v = 0; v < kx->n_vars; v++)
    {
      gint64 step = 0;
      const GantryKxNode *load;
      guint at = n;

      if (!(node.u >> v & 1))
        continue;
      for (guint32 id = 0; (load = next_needed (kx, needed, &id)) != NULL;)
        if (load->kind == GANTRY_KX_LOAD && load->vars >> v & 1)
          {
            gboolean other;
            gint64 factor = ABS (gantry_kx_factor_of (kx, load, v, &other));

            if (factor != 0 && !other && (step == 0 || factor < step))
              step = factor;
          }
      for (; at > 0 && steps[at - 1] < step; at--)
        {
          steps[at] = steps[at - 1];
          axes[at] = axes[at - 1];
        }
      steps[at] = step;
      axes[at] = v;
      n++;
    }
  return n;
}

/* Short reductions */

/* The terms of a reduction over at most MAX_TERMS places, in order. */
static guint32
write_out (GantryKx *kx, guint32 id)
{
  GantryKxNode node = *gantry_kx_node (kx, id);
  guint axes[GANTRY_KX_MAX_VARS], n = gantry_schedule_axes (kx, id, axes);
  GantryIndexRange saved[GANTRY_KX_MAX_VARS];
  gint64 count = 1;
  guint32 result = 0;

  memcpy (saved, kx->ranges, sizeof saved);
  for (guint i = 0; i < n; i++)
    count *= kx->extents[axes[i]];
  for (gint64 k = 0; k < count; k++)
    {
      GantryKxRoot root = { .value = node.a, .address = node.a };
      gint64 rest = k;

      for (guint i = n; i-- > 0;)
        {
          gantry_kx_set_range (kx, axes[i], rest % kx->extents[axes[i]], rest % kx->extents[axes[i]]);
          rest /= kx->extents[axes[i]];
        }
      gantry_kx_rebuild (kx, NULL, &root, 1);
      result = k == 0 ? root.value : gantry_kx_binary (kx, node.type, node.op, 0, result, root.value);
    }
  for (guint i = 0; i < n; i++)
    gantry_kx_set_range (kx, axes[i], saved[axes[i]].lo, saved[axes[i]].hi);
  return result;
}

static guint
count_needed (const GantryKx *kx, guint32 id)
{
  GantryKxRoot root = { .value = id, .address = id };
  g_autofree guint8 *needed = gantry_kx_needed (kx, &root, 1);
  guint n = 0;
  guint32 i = 0;

  while (next_needed (kx, needed, &i) != NULL)
    n++;
  return n;
}

static gboolean
is_short (const GantryKx *kx, guint32 id, guint innermost)
{
  const GantryKxNode *node = gantry_kx_node (kx, id);
  gint64 count = 1;

  for (guint v = 0; v < kx->n_vars; v++)
    if (node->u >> v & 1)
      {
        count *= kx->extents[v];
        if (count > MAX_TERMS)
          return FALSE;
      }
  return (node->vars >> innermost & 1) && count * count_needed (kx, node->a) <= MAX_WRITTEN_NODES;
}

/* Those within others first, since a reduction's terms may hold another. */
static gboolean
write_out_one (GantryKx *kx, guint innermost)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);
  guint32 n_nodes = kx->nodes->len;

  for (guint32 id = 0; id < n_nodes; id++)
    if (needed[id] && gantry_kx_node (kx, id)->kind == GANTRY_KX_REDUCE && is_short (kx, id, innermost))
      {
        gantry_kx_replace (kx, id, write_out (kx, id));
        return TRUE;
      }
  return FALSE;
}

void
gantry_schedule_write_out (GantryKx *kx, guint innermost)
{
  while (write_out_one (kx, innermost))
    continue;
}

/* The schedule */

static void
order_variables (GantrySchedule *schedule, const GantryKx *kx)
{
  const GantryKxNode *address = gantry_kx_node (kx, kx->roots[0].address);
  gint64 factors[GANTRY_KX_MAX_VARS];

  schedule->n_order = 0;
  for (guint v = 0; v < kx->n_vars; v++)
    {
      guint at = schedule->n_order;
      gint64 factor;
      gboolean other;

      if (!(kx->result_vars >> v & 1) || kx->extents[v] <= 1)
        continue;
      factor = address->kind == GANTRY_KX_INDEX ? 1 : gantry_kx_factor_of (kx, address, v, &other);
      for (; at > 0 && factors[at - 1] < factor; at--)
        {
          factors[at] = factors[at - 1];
          schedule->order[at] = schedule->order[at - 1];
        }
      factors[at] = factor;
      schedule->order[at] = v;
      schedule->n_order++;
    }
}

/* How many elements of the results share a reduction over these axes: those along the variables that it does not depend on. */
static double
sharers (const GantryKx *kx, const guint8 *needed, guint64 axes)
{
  const GantryKxNode *node;
  double least = 0;

  for (guint32 id = 0; (node = next_needed (kx, needed, &id)) != NULL;)
    {
      double n = 1;

      if (node->kind != GANTRY_KX_REDUCE || !(node->u & axes))
        continue;
      for (guint v = 0; v < kx->n_vars; v++)
        if (kx->result_vars & ~node->vars & G_GUINT64_CONSTANT (1) << v)
          n *= (double) kx->extents[v];
      least = least == 0 ? n : MIN (least, n);
    }
  return MAX (least, 1);
}

/* Simple operations for one element of the results. */
static double
element_work (const GantryKx *kx)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);
  const GantryKxNode *node;
  double work = 1, shared_by = 1;
  guint64 inner = 0, shared = 0;

  for (guint32 id = 0; (node = next_needed (kx, needed, &id)) != NULL;)
    if (node->kind == GANTRY_KX_REDUCE)
      inner |= node->u;
  for (guint32 id = 0; (node = next_needed (kx, needed, &id)) != NULL;)
    {
      double cost = node_cost (node);
      guint64 axes = node->vars & inner;

      for (guint v = 0; v < kx->n_vars; v++)
        if (axes & G_GUINT64_CONSTANT (1) << v)
          cost *= (double) kx->extents[v];
      if (axes != 0 && axes != shared)
        {
          shared = axes;
          shared_by = sharers (kx, needed, axes);
        }
      work += axes != 0 ? cost / shared_by : cost;
    }
  return work;
}

/* The outermost place of the order that a reduction does not depend on: within it the reduction is done once, and cut there
 * each part would do it again. */
static guint
first_shared (const GantrySchedule *schedule, const GantryKx *kx)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);
  const GantryKxNode *node;
  guint first = schedule->n_order;

  for (guint32 id = 0; (node = next_needed (kx, needed, &id)) != NULL;)
    for (guint i = 0; i < first && node->kind == GANTRY_KX_REDUCE; i++)
      if ((node->vars & ~kx->result_vars) == 0 && !(node->vars >> schedule->order[i] & 1))
        first = i;
  return first;
}

/* Cuts the order where one iteration is work enough, or blocks of iterations are. */
static void
choose_tasks (GantrySchedule *schedule, const GantryKx *kx)
{
  double inner[GANTRY_KX_MAX_VARS + 1];
  guint at = 0, innermost = schedule->rows > 1 ? 2 : 1; /* rows are taken within a task */
  guint uncut = first_shared (schedule, kx);
  guint step = schedule->lanes * schedule->unroll;

  inner[schedule->n_order] = element_work (kx);
  for (guint i = schedule->n_order; i-- > 0;)
    inner[i] = inner[i + 1] * (double) kx->extents[schedule->order[i]];
  schedule->n_tasks = schedule->n_blocks = schedule->block = 1;
  schedule->n_task = 0;
  if (schedule->n_order == 0)
    return;
  while (at + innermost < schedule->n_order && at < uncut && inner[at + 1] > TASK_WORK)
    {
      schedule->n_tasks *= kx->extents[schedule->order[at]];
      at++;
    }
  schedule->n_task = at;
  if (at >= uncut)
    {
      schedule->block = kx->extents[schedule->order[at]];
      return;
    }
  schedule->block = (gint64) MAX (TASK_WORK / inner[at + 1], 1);
  if (at + 1 == schedule->n_order)
    schedule->block = (schedule->block + step - 1) / step * step;
  else if (at + 2 == schedule->n_order)
    schedule->block = (schedule->block + schedule->rows - 1) / schedule->rows * schedule->rows;
  schedule->block = MIN (schedule->block, kx->extents[schedule->order[at]]);
  schedule->n_blocks = (kx->extents[schedule->order[at]] + schedule->block - 1) / schedule->block;
  schedule->n_tasks *= schedule->n_blocks;
}

/* Loads within reductions: which depend on @row and not on @vector, and the other way round. */
static gboolean
reuses (const GantryKx *kx, const guint8 *needed, guint vector, guint row)
{
  guint only_vector = 0, only_row = 0;
  gboolean reduces = FALSE;
  const GantryKxNode *node;

  for (guint32 id = 0; (node = next_needed (kx, needed, &id)) != NULL;)
    {
      gboolean of_vector = node->vars >> vector & 1, of_row = node->vars >> row & 1;

      reduces = reduces || (node->kind == GANTRY_KX_REDUCE && of_vector && of_row);
      only_vector += node->kind == GANTRY_KX_LOAD && of_vector && !of_row;
      only_row += node->kind == GANTRY_KX_LOAD && of_row && !of_vector;
    }
  return reduces && only_vector > 0 && only_row > 0;
}

/* A transposition: a load that steps by one along @row and by more along @vector. */
static gboolean
crosses (const GantryKx *kx, const guint8 *needed, guint vector, guint row)
{
  const GantryKxNode *node;
  gboolean other;

  for (guint32 id = 0; (node = next_needed (kx, needed, &id)) != NULL;)
    if (node->kind == GANTRY_KX_LOAD && gantry_kx_factor_of (kx, node, row, &other) == 1 && ABS (gantry_kx_factor_of (kx, node, vector, &other)) > 1)
      return TRUE;
  return FALSE;
}

/* Brings the variable at @at next to the innermost. */
static void
move_inward (GantrySchedule *schedule, guint at)
{
  guint variable = schedule->order[at];

  for (; at + 2 < schedule->n_order; at++)
    schedule->order[at] = schedule->order[at + 1];
  schedule->order[at] = variable;
}

/* A contraction reuses what it loads for several rows; the loads of a transposition share cache lines. */
static void
choose_rows (GantrySchedule *schedule, const GantryKx *kx)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);
  guint vector;

  schedule->rows = 1;
  if (schedule->n_order < 2 || schedule->lanes == 1)
    return;
  vector = schedule->order[schedule->n_order - 1];
  for (guint at = schedule->n_order - 1; at-- > 0;)
    if (kx->extents[schedule->order[at]] >= 4 && reuses (kx, needed, vector, schedule->order[at]))
      {
        schedule->rows = 4;
        schedule->unroll = 2;
        move_inward (schedule, at);
        return;
      }
  for (guint at = schedule->n_order - 1; at-- > 0;)
    if (kx->extents[schedule->order[at]] >= 8 && crosses (kx, needed, vector, schedule->order[at]))
      {
        /* As many rows as lanes can be turned over in registers; two vectors fill a cache line of the result. */
        schedule->rows = CLAMP (schedule->lanes, 4, GANTRY_MAX_ROWS);
        schedule->unroll = 2;
        move_inward (schedule, at);
        return;
      }
  /* One vector at a time along the innermost, as in a blocked layout: several rows keep the processor busy. */
  if (kx->extents[vector] <= schedule->lanes && kx->extents[schedule->order[schedule->n_order - 2]] >= 4)
    schedule->rows = gantry_schedule_unroll (kx, kx->roots, kx->n_roots);
}

/* TRUE when a long reduction that depends on @v is better done in vectors along an axis of its own. */
static gboolean
reduces_along (const GantryKx *kx, guint v)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);

  for (guint32 id = 0; id < kx->nodes->len; id++)
    {
      const GantryKxNode *node = gantry_kx_node (kx, id);
      GantryKxRoot body = { .value = node->a, .address = node->a };
      guint axes[GANTRY_KX_MAX_VARS], n, unit, strided, unit_axis, strided_axis;

      if (!needed[id] || node->kind != GANTRY_KX_REDUCE || !(node->vars >> v & 1))
        continue;
      n = gantry_schedule_axes (kx, id, axes);
      gantry_schedule_strides (kx, &body, 1, v, &unit, &strided);
      gantry_schedule_strides (kx, &body, 1, axes[n - 1], &unit_axis, &strided_axis);
      if (strided > 0 && unit_axis > 0 && strided_axis == 0)
        return TRUE;
    }
  return FALSE;
}

void
gantry_schedule_make (GantrySchedule *schedule, GantryKx *kx, guint vector_bytes)
{
  memset (schedule, 0, sizeof *schedule);
  order_variables (schedule, kx);
  schedule->lanes = schedule->unroll = schedule->rows = 1;
  if (schedule->n_order > 0)
    {
      guint innermost = schedule->order[schedule->n_order - 1];

      gantry_schedule_write_out (kx, innermost);
      schedule->lanes = gantry_schedule_lanes (kx, kx->roots, kx->n_roots, vector_bytes);
      while (schedule->lanes > kx->extents[innermost])
        schedule->lanes /= 2;
      if (reduces_along (kx, innermost))
        schedule->lanes = 1;
      else
        schedule->unroll = gantry_schedule_unroll (kx, kx->roots, kx->n_roots);
      choose_rows (schedule, kx);
    }
  choose_tasks (schedule, kx);
}
