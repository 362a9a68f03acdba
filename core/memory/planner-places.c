/* SPDX-License-Identifier: Apache-2.0 */
/* Where everything lies: arguments and results of a training step at the bottom, what comes and goes packed above them;
 * and how much is alive at each step. */
#include "core/memory/writer-private.h"
#include "core/ir/plan-alive.h"

/* By buffer that owns a place: until when somebody who shares it needs it. */
static guint32 *
find_ends (const GantryPlan *plan)
{
  guint32 *ends = g_new0 (guint32, plan->n_buffers + 1);

  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      guint32 place = gantry_plan_place_of (plan, b);

      ends[place] = MAX (ends[place], plan->buffers[b].end);
    }
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

        if (value->root != v || buffer->shares != GANTRY_NO_BUFFER || buffer->memory != memory
            || buffer->region != GANTRY_REGION_ARENA || (pass == 0 ? value->kind != VALUE_INPUT : !result))
          continue;
        buffer->offset = offset;
        offset += place_bytes (buffer->size);
        fixed[v] = TRUE;
      }
  return offset;
}

/* Packs the places of one region and writes their offsets; constants of all kinds of memory together.
 * Returns: its height */
static guint64
pack_region (const Writer *w, GantryRegion region, guint8 memory, guint64 bottom, const guint32 *ends, const guint8 *fixed,
             const GantryProgress *progress)
{
  GantryPlan *plan = w->plan;
  const GantryPackOptions options = { GANTRY_PLACE_ALIGNMENT };
  g_autofree GantryPackItem *items = g_new0 (GantryPackItem, plan->n_buffers + 1);
  g_autofree guint32 *buffers = g_new (guint32, plan->n_buffers + 1);
  guint32 n = 0;
  guint64 height;

  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];

      if (buffer->region != region || buffer->shares != GANTRY_NO_BUFFER || fixed[b]
          || (region == GANTRY_REGION_ARENA && buffer->memory != memory))
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

/* The literals that are used where they are mapped, each once. */
static guint64
count_literals (const GantryPlan *plan)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  guint64 bytes = 0;

  for (guint32 b = 0; b < plan->n_buffers; b++)
    if (plan->buffers[b].region == GANTRY_REGION_LITERAL
        && g_hash_table_add (seen, GUINT_TO_POINTER (plan->buffers[b].literal)))
      bytes += plan->buffers[b].size;
  return bytes;
}

/* Offsets of what shares a place: what it shares may stand after it. */
static void
spread_offsets (const Writer *w)
{
  GantryPlan *plan = w->plan;

  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      guint64 relative = 0;
      guint32 place = b;

      if (plan->buffers[b].shares == GANTRY_NO_BUFFER)
        continue;
      for (; plan->buffers[place].shares != GANTRY_NO_BUFFER; place = plan->buffers[place].shares)
        relative += w->relative[place];
      plan->buffers[b].offset = plan->buffers[place].offset + relative;
    }
}

static void
sum_live (const Writer *w, const guint32 *ends)
{
  GantryPlan *plan = w->plan;
  g_autofree guint64 *difference = g_new0 (guint64, plan->n_steps + 2);
  guint64 live = 0;

  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];

      if (buffer->region != GANTRY_REGION_ARENA || buffer->memory != GANTRY_MEMORY_DEVICE
          || buffer->shares != GANTRY_NO_BUFFER)
        continue;
      difference[buffer->begin] += place_bytes (buffer->size);
      difference[ends[b] + 1] -= place_bytes (buffer->size);
    }
  for (guint32 s = 0; s < MAX (plan->n_steps, w->n_init + 1); s++)
    {
      live += difference[s];
      plan->lower_bound = MAX (plan->lower_bound, live);
      if (s >= plan->n_steps)
        break;
      plan->live_bytes[s] = live;
      if (live > plan->live_bytes[plan->peak_step])
        plan->peak_step = s;
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

      plan->arena_bytes[memory] = pack_region (w, GANTRY_REGION_ARENA, memory, bottom, ends, fixed, progress);
    }
  plan->constant_bytes = pack_region (w, GANTRY_REGION_CONSTANT, GANTRY_MEMORY_DEVICE, 0, ends, fixed, progress);
  plan->literal_bytes = count_literals (plan);
  spread_offsets (w);
  sum_live (w, ends);
}
