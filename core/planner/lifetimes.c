/* SPDX-License-Identifier: Apache-2.0 */
/* Lifetimes on the line of works: which instance is written over which, and how many bytes are alive at each index.
 * An instance that is written over another one of its size continues its place. */
#include "core/planner/planner-private.h"
#include <string.h>

/* Uses of a work that its result may be written over, as far as it can be said without an order: whole, of the
 * same size, and read element by element wherever else they are read by it. */

static gboolean
read_in_place (Program *program, guint32 w, guint32 root)
{
  const GantryNode *node = work_node (program, WORK (program, w));

  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 v = _gantry_program_operand (program, node, i);

      if (v != NONE && _gantry_program_shows (program, v, root) && !_gantry_program_may_alias (program, w, i))
        return FALSE;
      if (v == NONE && gantry_node_operand (program->module, node, i) != NULL && gantry_node_operand_type (program->module, node, i)->kind == GANTRY_TYPE_TUPLE)
        return FALSE;
    }
  return TRUE;
}

static void
find_overwritable_of (GantryPlanner *planner, guint32 w)
{
  Program *program = planner->program;
  const Work *work = WORK (program, w);
  const GantryNode *node = work_node (program, work);
  const Value *to = VALUE (program, work->first_value);

  if (work->n_values != 1 || gantry_node_type (program->module, node)->kind != GANTRY_TYPE_TENSOR || to->bytes == 0 || node->op == GANTRY_OP_COPY)
    return;
  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 v = _gantry_program_operand (program, node, i), unit, k = 0;

      if (v == NONE || VALUE (program, v)->bytes != to->bytes || VALUE (program, v)->kind == VALUE_PIECES)
        continue;
      unit = VALUE (program, v)->unit;
      if (VALUE (program, unit)->bytes != to->bytes
          || (value_is_constant (VALUE (program, unit)) && (!work->init || VALUE (program, unit)->kind != VALUE_CONSTANT))
          || !_gantry_program_may_alias (program, w, i) || !read_in_place (program, w, VALUE (program, v)->root))
        continue;
      while (USE (program, work, k) != unit)
        k++;
      g_array_append_val (planner->overwritable, k);
    }
}

void
_gantry_planner_find_overwritable (GantryPlanner *planner)
{
  Program *program = planner->program;

  for (guint32 w = 0; w < program->works->len; w++)
    {
      planner->first_overwritable[w] = planner->overwritable->len;
      if (!(planner->options.flags & GANTRY_PLAN_NO_IN_PLACE))
        find_overwritable_of (planner, w);
    }
  planner->first_overwritable[program->works->len] = planner->overwritable->len;
}

static void
write_over (GantryPlanner *planner, guint32 at)
{
  const Run *run = RUN (planner, at);
  LiveRange *to;

  if (run->work == NONE || planner->first_overwritable[run->work] == planner->first_overwritable[run->work + 1])
    return;
  to = RANGE (planner, run->first_range);
  to->over = NONE;
  if (to->fixed || to->inside != NONE || to->memory != GANTRY_MEMORY_DEVICE)
    return;
  for (guint32 k = planner->first_overwritable[run->work]; k < planner->first_overwritable[run->work + 1]; k++)
    {
      guint32 l = g_array_index (planner->use_range, guint32, run->first_use + g_array_index (planner->overwritable, guint32, k));
      const LiveRange *from = l != NONE ? RANGE (planner, l) : NULL;

      if (from == NULL || from->fixed || from->kept || from->released || from->inside != NONE || from->end != at || from->bytes != to->bytes
          || from->memory != GANTRY_MEMORY_DEVICE)
        continue;
      to->over = l;
      return;
    }
}

guint32
_gantry_planner_main_range (const GantryPlanner *planner, guint32 v)
{
  const Value *value = VALUE (planner->program, v);

  if (planner->device_range[v] == NONE || (value->result && planner->in_host[v] != NONE))
    return planner->in_host[v];
  if (value->donated != NONE && value->kind != VALUE_INPUT && !RANGE (planner, planner->device_range[v])->fixed)
    return NONE;
  return planner->device_range[v];
}

static gboolean
is_argument (const GantryPlanner *planner, guint32 l)
{
  guint32 root = VALUE (planner->program, RANGE (planner, l)->unit)->root;
  const Value *value = VALUE (planner->program, root);

  return (value->kind == VALUE_INPUT || value->result) && _gantry_planner_main_range (planner, root) == l;
}

/* Of what is alive beside fixed places the parameters and results: none where those have fixed places. */
static void
sum_arguments (GantryPlanner *planner)
{
  guint32 n = planner->line->len;
  guint64 *sum, now = 0;

  g_array_set_size (planner->live_arguments, 0);
  if (planner->program->resident)
    return;
  g_array_set_size (planner->live_arguments, n + 2);
  sum = (guint64 *) (void *) planner->live_arguments->data;
  memset (sum, 0, (n + 2) * sizeof (guint64));
  for (guint32 i = 0; i < planner->ranges->len; i++)
    {
      const LiveRange *range = RANGE (planner, i);
      guint64 bytes = gantry_place_bytes (range->bytes);
      guint32 begin = MIN (range->begin, range->end);

      if (range->memory != GANTRY_MEMORY_DEVICE || range->fixed || range->inside != NONE)
        continue;
      /* The step that writes one over the other counts for the new one, if the other was there before it (as in
       * gantry_plan_spans()). */
      if (range->over != NONE && RANGE (planner, range->over)->begin == begin)
        begin++;
      else if (range->over != NONE && is_argument (planner, range->over))
        {
          sum[begin] -= bytes;
          sum[begin + 1] += bytes;
        }
      if (is_argument (planner, i))
        {
          sum[begin] += bytes;
          sum[range->end + 1] -= bytes;
        }
    }
  for (guint32 at = 0; at < n + 1; at++)
    sum[at] = now += sum[at];
}

static void
sum_live (GantryPlanner *planner)
{
  guint32 n = planner->line->len;
  guint64 *device, *host, live = 0, live_host = 0;

  g_array_set_size (planner->live, n + 2);
  g_array_set_size (planner->live_host, n + 2);
  device = (guint64 *) (void *) planner->live->data;
  host = (guint64 *) (void *) planner->live_host->data;
  memset (device, 0, (n + 2) * sizeof (guint64));
  memset (host, 0, (n + 2) * sizeof (guint64));
  /* Differences first, modulo 2^64. */
  for (guint32 i = 0; i < planner->ranges->len; i++)
    {
      const LiveRange *range = RANGE (planner, i);
      guint64 *to = range->memory == GANTRY_MEMORY_DEVICE ? device : host, bytes = gantry_place_bytes (range->bytes);

      if (range->fixed || range->inside != NONE)
        continue;
      to[range->over != NONE ? range->begin + 1 : MIN (range->begin, range->end)] += bytes;
      to[range->end + 1] -= bytes;
    }
  for (guint32 at = 0; at < n + 1; at++)
    {
      device[at] = live += device[at];
      host[at] = live_host += host[at];
      if (at < n && RUN (planner, at)->work != NONE)
        device[at] += gantry_place_bytes (_gantry_planner_workspace (planner, RUN (planner, at)->work));
    }
}

guint64
_gantry_planner_find_lifetimes (GantryPlanner *planner, guint32 *at)
{
  guint64 peak = 0;
  guint32 n = planner->line->len;

  *at = 0;
  for (guint32 k = 0; k < n; k++)
    {
      write_over (planner, k);
      planner->overlay_failed = !_gantry_planner_write_stacks_over (planner, k) || planner->overlay_failed;
    }
  sum_live (planner);
  sum_arguments (planner);
  for (guint32 k = 0; k < MAX (n, 1); k++)
    if (g_array_index (planner->live, guint64, k) > peak)
      {
        peak = g_array_index (planner->live, guint64, k);
        *at = k;
      }
  return peak;
}
