/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a plan by part: at its peak and at each step. */
#include "core/plan/plan-alive.h"

typedef struct
{
  guint64 all, arguments, workspaces;
} Live;

/* By moment what is alive in the arena of @memory; one entry more than moments. (transfer full) */
static Live *
sum_spans (const GantryPlan *plan, GantryMemoryKind memory)
{
  g_autoptr (GArray) spans = gantry_plan_spans (plan, memory);
  g_autofree guint8 *is_argument = gantry_plan_find_arguments (plan);
  Live *live = g_new0 (Live, (gsize) gantry_plan_n_moments (plan) + 1);

  /* Differences first, modulo 2^64. */
  for (guint i = 0; i < spans->len; i++)
    {
      const GantryPlanSpan *span = &g_array_index (spans, GantryPlanSpan, i);
      guint64 bytes = gantry_place_bytes (plan->buffers[span->place].size);

      live[span->begin].all += bytes;
      live[span->end].all -= bytes;
      if (is_argument[span->buffer])
        {
          live[span->begin].arguments += bytes;
          live[span->end].arguments -= bytes;
        }
      else if (plan->buffers[span->buffer].category == GANTRY_BUFFER_WORKSPACE)
        {
          live[span->begin].workspaces += bytes;
          live[span->end].workspaces -= bytes;
        }
    }
  for (guint32 s = 1; s <= plan->n_steps; s++)
    {
      live[s].all += live[s - 1].all;
      live[s].arguments += live[s - 1].arguments;
      live[s].workspaces += live[s - 1].workspaces;
    }
  return live;
}

void
gantry_plan_sum_live (GantryPlan *plan)
{
  g_autofree Live *live = sum_spans (plan, GANTRY_MEMORY_DEVICE);

  plan->peak_step = 0;
  for (guint32 s = 0; s < plan->n_steps; s++)
    {
      plan->live_bytes[s] = live[s].all;
      plan->live_arguments[s] = live[s].arguments;
      plan->live_workspaces[s] = live[s].workspaces;
      if (live[s].all > plan->live_bytes[plan->peak_step])
        plan->peak_step = s;
    }
  /* Without a step there are arguments and results alone, and nothing between them. */
  plan->lower_bound = plan->n_steps > plan->n_init_steps ? plan->live_bytes[plan->peak_step] : plan->arena_bytes[GANTRY_MEMORY_DEVICE];
}

/* What stands beside the arena of the device from load to the end. */
static GantryMemoryParts
parts_beside (const GantryPlan *plan)
{
  GantryMemoryParts parts = { { 0 } };

  parts.bytes[GANTRY_PART_CONSTANTS] = plan->constant_bytes + plan->literal_bytes;
  parts.bytes[GANTRY_PART_PACKED_WEIGHTS] = plan->packed_bytes;
  parts.bytes[GANTRY_PART_CODE] = plan->code_bytes;
  return parts;
}

static void
set_arena (GantryMemoryParts *parts, guint64 arena, guint64 arguments, guint64 workspaces)
{
  parts->bytes[GANTRY_PART_ARGUMENTS] = arguments;
  parts->bytes[GANTRY_PART_WORKSPACES] = workspaces;
  parts->bytes[GANTRY_PART_TEMPORARIES] = arena - arguments - workspaces;
}

/* The arena is there as a whole all the time: what lies free between the places of its fullest step does all the time. */
static guint64
free_bytes (const GantryPlan *plan)
{
  guint64 height = plan->arena_bytes[GANTRY_MEMORY_DEVICE];

  return height > plan->lower_bound ? height - plan->lower_bound : 0;
}

void
gantry_plan_memory_parts_at (const GantryPlan *plan, guint32 step, GantryMemoryParts *parts)
{
  g_return_if_fail (step < plan->n_steps);
  *parts = parts_beside (plan);
  set_arena (parts, plan->live_bytes[step] + free_bytes (plan), plan->live_arguments[step], plan->live_workspaces[step]);
}

/* Nothing but the arena lies in host memory. */
static void
host_parts (const GantryPlan *plan, GantryMemoryKind memory, GantryMemoryParts *parts)
{
  g_autofree Live *live = sum_spans (plan, memory);
  guint64 arguments = plan->argument_bytes[memory] + plan->output_bytes[memory] - plan->alias_bytes[memory];
  guint32 peak = 0;

  for (guint32 s = 1; s < plan->n_steps; s++)
    if (live[s].all > live[peak].all)
      peak = s;
  if (live[peak].all > 0)
    arguments = live[peak].arguments;
  *parts = (GantryMemoryParts){ { 0 } };
  set_arena (parts, plan->arena_bytes[memory], MIN (arguments, plan->arena_bytes[memory]), 0);
}

void
gantry_plan_memory_parts (const GantryPlan *plan, GantryMemoryKind memory, GantryMemoryParts *parts)
{
  guint64 height = plan->arena_bytes[memory];

  g_return_if_fail (memory < GANTRY_N_MEMORY_KINDS);
  if (memory != GANTRY_MEMORY_DEVICE)
    host_parts (plan, memory, parts);
  else if (plan->n_steps > plan->n_init_steps)
    gantry_plan_memory_parts_at (plan, plan->peak_step, parts);
  else
    {
      *parts = parts_beside (plan);
      set_arena (parts, height, height, 0);
    }
}

guint64
gantry_plan_memory_bytes (const GantryPlan *plan, GantryMemoryKind memory)
{
  const GantryMemoryParts beside = parts_beside (plan);

  g_return_val_if_fail (memory < GANTRY_N_MEMORY_KINDS, 0);
  return plan->arena_bytes[memory] + (memory == GANTRY_MEMORY_DEVICE ? gantry_memory_parts_total (&beside) : 0);
}

guint64
gantry_plan_memory_bytes_at (const GantryPlan *plan, guint32 step)
{
  GantryMemoryParts parts;

  g_return_val_if_fail (step < plan->n_steps, 0);
  gantry_plan_memory_parts_at (plan, step, &parts);
  return gantry_memory_parts_total (&parts);
}

guint64
gantry_plan_host_bytes (const GantryPlan *plan)
{
  guint64 bytes = 0;

  for (guint m = GANTRY_MEMORY_DEVICE + 1; m < GANTRY_N_MEMORY_KINDS; m++)
    bytes += plan->arena_bytes[m];
  return bytes;
}

guint64
gantry_plan_least_bytes (const GantryPlan *plan)
{
  return gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE) - free_bytes (plan);
}
