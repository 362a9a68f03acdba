/* SPDX-License-Identifier: Apache-2.0 */
/* Where everything lies: arguments and results of a training step at the bottom, what comes and goes packed above them. */
#include "core/planner/writer-private.h"
#include "core/plan/plan-alive.h"

/* By buffer that owns a place: until when somebody who shares it needs it. */
static guint32 *
find_ends (const GantryPlan *plan)
{
  guint32 *ends = g_new0 (guint32, plan->n_buffers + 1);
  g_autofree guint32 *places = gantry_plan_places (plan);

  for (guint32 b = 0; b < plan->n_buffers; b++)
    ends[places[b]] = MAX (ends[places[b]], plan->buffers[b].end);
  return ends;
}

/* In the order of the parameters, then of the results. */
static guint64
place_fixed (const Writer *w, guint8 memory, guint8 *fixed)
{
  const GantryPlanner *planner = w->planner;
  guint64 offset = 0;

  for (guint pass = 0; pass < 2; pass++)
    for (guint32 v = 0; planner->program->resident && v < planner->program->values->len; v++)
      {
        const Value *value = VALUE (planner->program, v);
        GantryPlanBuffer *buffer = &w->plan->buffers[v];
        gboolean result = value->result && (value->kind == VALUE_COMPUTED || value->kind == VALUE_GROUP);

        if (value->root != v || buffer->shares != GANTRY_NO_BUFFER || buffer->memory != memory || buffer->region != GANTRY_REGION_ARENA
            || (pass == 0 ? value->kind != VALUE_INPUT : !result))
          continue;
        buffer->offset = offset;
        offset += gantry_place_bytes (buffer->size);
        fixed[v] = TRUE;
      }
  return offset;
}

/* Packs the places of one arena above @bottom and writes their offsets. Returns: its height */
static guint64
pack_arena (const Writer *w, guint8 memory, guint64 bottom, const guint32 *ends, const guint8 *fixed, const GantryProgress *progress)
{
  GantryPlan *plan = w->plan;
  const GantryPackOptions options = { .alignment = GANTRY_PLACE_ALIGNMENT, .allocator = w->planner->options.allocator };
  g_autofree GantryPackItem *items = g_new0 (GantryPackItem, plan->n_buffers + 1);
  g_autofree guint32 *buffers = g_new (guint32, plan->n_buffers + 1);
  guint32 n = 0;
  guint64 height;

  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];

      if (buffer->region != GANTRY_REGION_ARENA || buffer->shares != GANTRY_NO_BUFFER || fixed[b] || buffer->memory != memory)
        continue;
      items[n].begin = buffer->begin;
      items[n].end = ends[b];
      items[n].size = buffer->size;
      buffers[n++] = b;
    }
  height = gantry_pack (items, n, &options, progress);
  for (guint32 i = 0; i < n; i++)
    plan->buffers[buffers[i]].offset = bottom + items[i].offset;
  return bottom + height;
}

/* Offsets of what shares a place: what it shares may stand after it. A chain of operations in place is as long as the program, so
 * what is known of it is not followed again. */
static void
spread_offsets (const Writer *w)
{
  GantryPlan *plan = w->plan;
  g_autofree guint8 *known = g_new0 (guint8, plan->n_buffers + 1);
  g_autoptr (GArray) chain = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      for (guint32 at = b; plan->buffers[at].shares != GANTRY_NO_BUFFER && !known[at]; at = plan->buffers[at].shares)
        g_array_append_val (chain, at);
      for (guint i = chain->len; i-- > 0;)
        {
          guint32 at = g_array_index (chain, guint32, i);

          plan->buffers[at].offset = plan->buffers[plan->buffers[at].shares].offset + w->relative[at];
          known[at] = TRUE;
        }
      g_array_set_size (chain, 0);
    }
}

void
_gantry_writer_pack (Writer *w, const GantryProgress *progress)
{
  GantryPlan *plan = w->plan;
  g_autofree guint32 *ends = find_ends (plan);
  g_autofree guint8 *fixed = g_new0 (guint8, plan->n_buffers + 1);

  for (guint8 memory = 0; memory < GANTRY_N_MEMORY_KINDS; memory++)
    {
      guint64 bottom = place_fixed (w, memory, fixed);

      plan->arena_bytes[memory] = pack_arena (w, memory, bottom, ends, fixed, progress);
    }
  spread_offsets (w);
  gantry_plan_sum_live (plan);
}
