/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the buffers of a plan: the chains of those that share a place, and the value in each place at a step. */
#include "core/plan/plan-alive.h"

guint32
gantry_plan_place_of (const GantryPlan *plan, guint32 buffer)
{
  while (plan->buffers[buffer].shares != GANTRY_NO_BUFFER)
    buffer = plan->buffers[buffer].shares;
  return buffer;
}

guint32 *
gantry_plan_places (const GantryPlan *plan)
{
  guint32 *places = g_new (guint32, plan->n_buffers + 1);

  for (guint32 b = 0; b < plan->n_buffers; b++)
    places[b] = GANTRY_NO_BUFFER;
  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      guint32 at = b, place;

      while (places[at] == GANTRY_NO_BUFFER && plan->buffers[at].shares != GANTRY_NO_BUFFER)
        at = plan->buffers[at].shares;
      place = places[at] != GANTRY_NO_BUFFER ? places[at] : at;
      for (at = b; places[at] == GANTRY_NO_BUFFER; at = plan->buffers[at].shares)
        {
          places[at] = place;
          if (at == place)
            break;
        }
    }
  return places;
}

guint32
gantry_plan_value_of (const GantryPlan *plan, guint32 buffer)
{
  while (plan->buffers[buffer].shares != GANTRY_NO_BUFFER && !plan->buffers[buffer].in_place)
    buffer = plan->buffers[buffer].shares;
  return buffer;
}

static int
compare_alive (gconstpointer a, gconstpointer b)
{
  const GantryPlanAlive *x = a, *y = b;

  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

static gboolean
in_device_arena (const GantryPlanBuffer *buffer)
{
  return buffer->region == GANTRY_REGION_ARENA && buffer->memory == GANTRY_MEMORY_DEVICE && buffer->size > 0;
}

/* An argument that stays in its place for the next run has no last use, wherever it is read last in this one; a donated one may be
 * written over by the last step. */
static guint32
until_node (const GantryPlan *plan, guint32 buffer, gboolean is_result, gboolean is_written_over)
{
  const GantryPlanBuffer *b = &plan->buffers[buffer];
  gboolean stays = plan->resident && b->category == GANTRY_BUFFER_INPUT && b->end + 1 >= plan->n_steps;

  if (plan->n_steps == 0 || is_result || (stays && !is_written_over))
    return 0;
  return plan->steps[MIN (b->end, plan->n_steps - 1)].node;
}

guint32
gantry_plan_until_node (const GantryPlan *plan, guint32 buffer)
{
  gboolean is_result = FALSE, is_written_over = FALSE;

  g_return_val_if_fail (buffer < plan->n_buffers, 0);
  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *other = &plan->buffers[b];

      if (other->category == GANTRY_BUFFER_OUTPUT)
        is_result = is_result || b == buffer || gantry_plan_value_of (plan, b) == buffer;
      if (other->in_place)
        is_written_over = is_written_over || gantry_plan_value_of (plan, other->shares) == buffer;
    }
  return until_node (plan, buffer, is_result, is_written_over);
}

GArray *
gantry_plan_alive_at (const GantryPlan *plan, guint32 step)
{
  GArray *result = g_array_new (FALSE, TRUE, sizeof (GantryPlanAlive));
  /* By the buffer that owns a place: the value now in it, and what is written over that one. */
  g_autofree guint32 *now = g_new (guint32, plan->n_buffers + 1), *next = g_new (guint32, plan->n_buffers + 1);
  g_autofree guint8 *kept = g_new0 (guint8, plan->n_buffers + 1); /* it or a view of it is a result */
  g_autofree guint32 *places = gantry_plan_places (plan);

  g_return_val_if_fail (step < gantry_plan_n_moments (plan), result);
  for (guint32 b = 0; b < plan->n_buffers; b++)
    now[b] = next[b] = GANTRY_NO_BUFFER;
  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];
      guint32 place;

      if (!in_device_arena (buffer))
        continue;
      if (buffer->category == GANTRY_BUFFER_OUTPUT)
        kept[gantry_plan_value_of (plan, b)] = TRUE;
      if (buffer->in_place)
        next[gantry_plan_value_of (plan, buffer->shares)] = b;
      if (gantry_plan_value_of (plan, b) != b || buffer->begin > step || buffer->end < step)
        continue;
      place = places[b];
      /* At the step that writes one over the other, it is the new one. */
      if (now[place] == GANTRY_NO_BUFFER || plan->buffers[now[place]].begin < buffer->begin)
        now[place] = b;
    }
  for (guint32 place = 0; place < plan->n_buffers; place++)
    {
      const GantryPlanBuffer *buffer = now[place] != GANTRY_NO_BUFFER ? &plan->buffers[now[place]] : NULL;
      GantryPlanAlive alive = { now[place] };

      if (buffer == NULL)
        continue;
      alive.bytes = gantry_place_bytes (plan->buffers[place].size);
      alive.until_step = MIN (buffer->end, gantry_plan_n_moments (plan) - 1);
      alive.next = next[now[place]];
      alive.until_node = until_node (plan, now[place], kept[now[place]], alive.next != GANTRY_NO_BUFFER);
      g_array_append_val (result, alive);
    }
  g_array_sort (result, compare_alive);
  return result;
}

static gboolean
has_place (const GantryPlanBuffer *buffer)
{
  return buffer->region == GANTRY_REGION_ARENA && buffer->size > 0;
}

guint32
gantry_plan_place_before (const GantryPlan *plan, guint32 buffer)
{
  const guint32 place = gantry_plan_place_of (plan, buffer);
  const GantryPlanBuffer *own = &plan->buffers[place];
  guint32 before = GANTRY_NO_BUFFER;

  for (guint32 b = 0; has_place (own) && b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *value = &plan->buffers[b], *other;

      if (!has_place (value) || value->memory != own->memory || value->end >= own->begin
          || (before != GANTRY_NO_BUFFER && value->end <= plan->buffers[before].end))
        continue;
      other = &plan->buffers[gantry_plan_place_of (plan, b)];
      if (other != own && other->offset < own->offset + own->size && own->offset < other->offset + other->size)
        before = b;
    }
  return before != GANTRY_NO_BUFFER ? gantry_plan_value_of (plan, before) : before;
}
