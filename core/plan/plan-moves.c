/* SPDX-License-Identifier: Apache-2.0 */
/* Moves between device and host: how far from their use, and beside what they run. */
#include "core/plan/plan-moves.h"
#include "core/plan/plan-alive.h"

/* Steps of the compute queue that take time, by their beginnings. */
static GArray *
computing (const GantryPlan *plan)
{
  GArray *steps = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = plan->n_init_steps; i < plan->n_steps; i++)
    if (plan->steps[i].queue == GANTRY_QUEUE_COMPUTE)
      g_array_append_val (steps, i);
  return steps;
}

/* The first of @steps that ends behind @us. Their ends rise, for a queue does one after another. */
static guint
first_behind (const GantryPlan *plan, const GArray *steps, double us)
{
  guint low = 0, high = steps->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      const GantryPlanStep *step = &plan->steps[g_array_index (steps, guint32, middle)];

      if (step->start_us + step->duration_us <= us)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

static double
time_beside (const GantryPlan *plan, const GArray *steps, const GantryPlanStep *copy)
{
  double begin = copy->start_us, end = begin + copy->duration_us, sum = 0;

  if (copy->queue == GANTRY_QUEUE_COMPUTE)
    return 0;
  for (guint i = first_behind (plan, steps, begin); i < steps->len; i++)
    {
      const GantryPlanStep *step = &plan->steps[g_array_index (steps, guint32, i)];

      if (step->start_us >= end)
        break;
      sum += MIN (end, step->start_us + step->duration_us) - MAX (begin, step->start_us);
    }
  return CLAMP (sum, 0, copy->duration_us);
}

/* Step @i reads what @moves wait for to be read. */
static void
note_uses (const GantryPlan *plan, const guint32 *places, guint32 i, GHashTable *waiting, GArray *moves)
{
  const GantryPlanStep *step = &plan->steps[i];

  for (guint32 r = 0; r < step->n_operands; r++)
    {
      gpointer key = GUINT_TO_POINTER (places[plan->refs[step->first_ref + r]]);
      guint which = GPOINTER_TO_UINT (g_hash_table_lookup (waiting, key));

      if (which == 0)
        continue;
      g_array_index (moves, GantryPlanMove, which - 1).use = i;
      g_hash_table_remove (waiting, key);
    }
}

static void
measure_distance (const GantryPlan *plan, const GArray *steps, GantryPlanMove *move)
{
  double end = move->start_us + move->duration_us;

  if (move->use == GANTRY_NO_STEP)
    return;
  move->distance_us = MAX (plan->steps[move->use].start_us - end, 0);
  for (guint i = first_behind (plan, steps, end); i < steps->len && g_array_index (steps, guint32, i) < move->use; i++)
    move->distance_steps += plan->steps[g_array_index (steps, guint32, i)].start_us >= end;
}

GArray *
gantry_plan_moves (const GantryPlan *plan)
{
  GArray *moves = g_array_new (FALSE, FALSE, sizeof (GantryPlanMove));
  g_autoptr (GArray) steps = computing (plan);
  g_autoptr (GHashTable) waiting = g_hash_table_new (NULL, NULL); /* place to number of the move, from 1 on */
  g_autofree guint32 *places = gantry_plan_places (plan);

  for (guint32 i = plan->n_init_steps; i < plan->n_steps; i++)
    {
      const GantryPlanStep *step = &plan->steps[i];
      const GantryPlanBuffer *from, *to;
      GantryPlanMove move = { .step = i, .node = step->node, .use = GANTRY_NO_STEP };

      note_uses (plan, places, i, waiting, moves);
      if (step->kind != GANTRY_STEP_COPY || step->n_refs < 2)
        continue;
      from = &plan->buffers[plan->refs[step->first_ref]];
      to = &plan->buffers[plan->refs[step->first_ref + 1]];
      if (from->memory == to->memory)
        continue;
      move.from = from->memory;
      move.to = to->memory;
      move.bytes = to->size;
      move.start_us = step->start_us;
      move.duration_us = step->duration_us;
      move.hidden_us = time_beside (plan, steps, step);
      g_array_append_val (moves, move);
      g_hash_table_insert (waiting, GUINT_TO_POINTER (places[plan->refs[step->first_ref + 1]]), GUINT_TO_POINTER (moves->len));
    }
  for (guint i = 0; i < moves->len; i++)
    measure_distance (plan, steps, &g_array_index (moves, GantryPlanMove, i));
  return moves;
}
