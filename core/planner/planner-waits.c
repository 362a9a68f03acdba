/* SPDX-License-Identifier: Apache-2.0 */
/* What a step must wait for, found from the bytes that steps touch: whoever reads waits for who wrote them on another
 * queue, whoever writes for all who touched them. A queue that has waited for a step has, with it, waited for all that this
 * one waited for: those are left out. */
#include "core/planner/writer-private.h"

#define NEVER 0 /* steps are counted from 1 here */

/* Who touched the bytes from @begin up to the next one of the map last, by queue. */
typedef struct
{
  guint64 begin;
  guint32 wrote[GANTRY_N_QUEUES];
  guint32 read[GANTRY_N_QUEUES];
} Stretch;

static int
compare (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const Stretch *x = a, *y = b;

  return (x->begin > y->begin) - (x->begin < y->begin);
}

static GTree *
new_map (void)
{
  GTree *map = g_tree_new_full (compare, NULL, g_free, NULL);
  Stretch *all = g_new0 (Stretch, 1);

  g_tree_insert (map, all, all);
  return map;
}

/* The stretch that begins at @offset: what lies there is cut in two where it must. */
static GTreeNode *
cut (GTree *map, guint64 offset)
{
  const Stretch key = { .begin = offset };
  GTreeNode *after = g_tree_upper_bound (map, &key);
  GTreeNode *node = after != NULL ? g_tree_node_previous (after) : g_tree_node_last (map);
  const Stretch *at = g_tree_node_key (node);
  Stretch *fresh;

  if (at->begin == offset)
    return node;
  fresh = g_memdup2 (at, sizeof *at);
  fresh->begin = offset;
  return g_tree_insert_node (map, fresh, fresh);
}

static void
touch (GTree *map, guint64 offset, guint64 size, guint32 step, guint8 queue, gboolean write, guint32 *needed)
{
  GTreeNode *node = cut (map, offset);
  guint64 end = offset + size;

  cut (map, end);
  while (node != NULL && ((Stretch *) g_tree_node_key (node))->begin < end)
    {
      Stretch *at = g_tree_node_key (node);
      GTreeNode *next = g_tree_node_next (node);

      for (guint q = 0; q < GANTRY_N_QUEUES; q++)
        if (q != queue)
          needed[q] = MAX (needed[q], write ? MAX (at->wrote[q], at->read[q]) : at->wrote[q]);
      if (!write)
        at->read[queue] = step;
      else
        {
          /* All before it has been waited for: one stretch again. */
          memset (at->wrote, 0, sizeof at->wrote);
          memset (at->read, 0, sizeof at->read);
          at->wrote[queue] = step;
          if (at->begin > offset)
            g_tree_remove (map, at);
        }
      node = next;
    }
}

typedef struct
{
  guint32 done[GANTRY_N_QUEUES]; /* steps known to be done, by queue */
} Clock;

void
_gantry_plan_find_waits (GantryPlan *plan, const GArray *refs, GArray *waits)
{
  g_autofree Clock *at_end = g_new0 (Clock, plan->n_steps + 1); /* by 1 + step: what is done once it is */
  Clock queues[GANTRY_N_QUEUES] = { 0 };
  GTree *maps[GANTRY_N_MEMORY_KINDS];
  guint32 last_compute = NEVER;
  gboolean any = FALSE;

  for (guint32 s = plan->n_init_steps; s < plan->n_steps; s++)
    any = any || plan->steps[s].queue != GANTRY_QUEUE_COMPUTE;
  for (guint m = 0; m < GANTRY_N_MEMORY_KINDS; m++)
    maps[m] = new_map ();
  for (guint32 s = plan->n_init_steps; any && s < plan->n_steps; s++)
    {
      GantryPlanStep *step = &plan->steps[s];
      Clock *clock = &queues[step->queue];
      guint32 needed[GANTRY_N_QUEUES] = { 0 };

      for (guint32 k = 0; k < step->n_refs; k++)
        {
          guint32 b = g_array_index (refs, guint32, step->first_ref + k);
          const GantryPlanBuffer *buffer = b != GANTRY_NO_BUFFER ? &plan->buffers[b] : NULL;

          if (buffer != NULL && buffer->region == GANTRY_REGION_ARENA && buffer->size > 0)
            touch (maps[buffer->memory], buffer->offset, buffer->size, s + 1, step->queue, k >= step->n_operands, needed);
        }
      /* Copies begin no earlier than planned: with the work that they stand before. */
      if (step->queue != GANTRY_QUEUE_COMPUTE)
        needed[GANTRY_QUEUE_COMPUTE] = MAX (needed[GANTRY_QUEUE_COMPUTE], last_compute);
      step->first_wait = waits->len;
      for (guint q = 0; q < GANTRY_N_QUEUES; q++)
        if (q != step->queue && needed[q] > clock->done[q])
          {
            guint32 wait = needed[q] - 1;

            g_array_append_val (waits, wait);
            for (guint other = 0; other < GANTRY_N_QUEUES; other++)
              clock->done[other] = MAX (clock->done[other], at_end[needed[q]].done[other]);
          }
      step->n_waits = waits->len - step->first_wait;
      clock->done[step->queue] = s + 1;
      at_end[s + 1] = *clock;
      if (step->queue == GANTRY_QUEUE_COMPUTE)
        last_compute = s + 1;
    }
  for (guint m = 0; m < GANTRY_N_MEMORY_KINDS; m++)
    g_tree_destroy (maps[m]);
}
