/* SPDX-License-Identifier: Apache-2.0 */
/* Life of a plan, and finding the buffer of a value. The table for that is built when it is first asked for,
 * since most plans are only looked at as a whole. */
#include "core/plan/plan.h"
#include "core/base/allocate.h"

/* What gantry_plan_new() allocates: the table is nobody else's business. */
typedef struct
{
  GantryPlan plan;
  guint32 *table; /* open addressing: 1 + buffer index, 0 where free; atomic */
  guint32 mask;
} Owned;

/* Without its arrays. */
static GantryPlan *
new_plan (guint32 n_steps, guint32 n_buffers)
{
  Owned *owned = g_new0 (Owned, 1);
  guint64 size = 16;

  g_atomic_ref_count_init (&owned->plan.ref_count);
  owned->plan.n_steps = n_steps;
  owned->plan.n_buffers = n_buffers;
  while (size < 2 * (guint64) n_buffers)
    size *= 2;
  owned->mask = (guint32) (size - 1);
  return &owned->plan;
}

GantryPlan *
gantry_plan_new (guint32 n_steps, guint32 n_buffers)
{
  GantryPlan *plan;

  g_return_val_if_fail (n_buffers < G_MAXUINT32 / 4, NULL);
  plan = new_plan (n_steps, n_buffers);
  plan->steps = g_new0 (GantryPlanStep, n_steps);
  plan->buffers = g_new0 (GantryPlanBuffer, n_buffers);
  plan->live_bytes = g_new0 (guint64, n_steps);
  plan->live_arguments = g_new0 (guint64, n_steps);
  plan->live_workspaces = g_new0 (guint64, n_steps);
  return plan;
}

GantryPlan *
gantry_plan_try_new (guint32 n_steps, guint32 n_buffers, GError **error)
{
  g_autoptr (GantryPlan) plan = NULL;

  g_return_val_if_fail (n_buffers < G_MAXUINT32 / 4, NULL);
  plan = new_plan (n_steps, n_buffers);
  if ((plan->steps = gantry_try_new0 (GantryPlanStep, n_steps, "the steps of a plan", error)) == NULL
      || (plan->buffers = gantry_try_new0 (GantryPlanBuffer, n_buffers, "the buffers of a plan", error)) == NULL
      || (plan->live_bytes = gantry_try_new0 (guint64, n_steps, "the memory curve of a plan", error)) == NULL
      || (plan->live_arguments = gantry_try_new0 (guint64, n_steps, "the memory curve of a plan", error)) == NULL
      || (plan->live_workspaces = gantry_try_new0 (guint64, n_steps, "the memory curve of a plan", error)) == NULL)
    return NULL;
  return g_steal_pointer (&plan);
}

void
gantry_plan_set_pools (GantryPlan *plan, guint32 n_refs, guint32 n_waits)
{
  g_return_if_fail (plan->refs == NULL && plan->waits == NULL);
  plan->n_refs = n_refs;
  plan->n_waits = n_waits;
  plan->refs = g_new0 (guint32, n_refs);
  plan->waits = g_new0 (guint32, n_waits);
}

guint64
gantry_plan_temp_bytes (const GantryPlan *plan, GantryMemoryKind memory)
{
  guint64 held = plan->argument_bytes[memory] + plan->output_bytes[memory] - plan->alias_bytes[memory];

  return plan->arena_bytes[memory] > held ? plan->arena_bytes[memory] - held : 0;
}

GantryPlan *
gantry_plan_region (const GantryPlan *plan, guint32 node, guint32 function)
{
  for (guint32 i = 0; i < plan->n_regions; i++)
    if (plan->regions[i].node == node && plan->regions[i].function == function)
      return plan->regions[i].plan;
  return NULL;
}

GantryPlan *
gantry_plan_ref (GantryPlan *plan)
{
  g_atomic_ref_count_inc (&plan->ref_count);
  return plan;
}

void
gantry_plan_unref (GantryPlan *plan)
{
  if (plan == NULL || !g_atomic_ref_count_dec (&plan->ref_count))
    return;
  for (guint32 i = 0; i < plan->n_problems; i++)
    g_free (plan->problems[i].reason);
  g_free (plan->problems);
  for (guint32 i = 0; i < plan->n_regions; i++)
    gantry_plan_unref (plan->regions[i].plan);
  g_free (plan->regions);
  g_free (plan->refs);
  g_free (plan->waits);
  g_free (plan->steps);
  g_free (plan->buffers);
  g_free (plan->live_bytes);
  g_free (plan->live_arguments);
  g_free (plan->live_workspaces);
  g_free (plan->kernels);
  g_free (plan->target);
  g_free (((Owned *) plan)->table);
  g_free (plan);
}

static guint32
slot_of (guint32 node, guint32 member, guint32 mask)
{
  guint64 key = ((guint64) node << 32 | member) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  return (guint32) (key >> 32) & mask;
}

static guint32 *
build_table (const GantryPlan *plan, guint32 mask)
{
  guint32 *table = g_new0 (guint32, (gsize) mask + 1);

  for (guint32 i = 0; i < plan->n_buffers; i++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[i];
      guint32 slot = slot_of (buffer->node, buffer->member, mask);

      if (buffer->category == GANTRY_BUFFER_WORKSPACE)
        continue; /* named after its node, but not its value */
      while (table[slot] != 0)
        slot = (slot + 1) & mask;
      table[slot] = i + 1;
    }
  return table;
}

guint32
gantry_plan_buffer_of (const GantryPlan *plan, guint32 node, guint32 member)
{
  Owned *owned = (Owned *) plan;
  guint32 *table = g_atomic_pointer_get (&owned->table);

  if (table == NULL)
    {
      guint32 *fresh = build_table (plan, owned->mask);

      /* Two threads may build it at once; the second one's is dropped. */
      if (!g_atomic_pointer_compare_and_exchange (&owned->table, NULL, fresh))
        g_free (fresh);
      table = g_atomic_pointer_get (&owned->table);
    }
  for (guint32 slot = slot_of (node, member, owned->mask); table[slot] != 0; slot = (slot + 1) & owned->mask)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[table[slot] - 1];

      if (buffer->node == node && buffer->member == member)
        return table[slot] - 1;
    }
  return GANTRY_NO_BUFFER;
}
