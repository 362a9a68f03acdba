/* SPDX-License-Identifier: Apache-2.0 */
/* Which value each place of an arena holds from which step to which. */
#include "core/plan/plan-alive.h"

/* One value in the place that it takes, and the last step that needs it. */
typedef struct
{
  guint32 place, buffer;
  guint32 begin, last;
} Tenant;

static int
compare_tenants (gconstpointer a, gconstpointer b)
{
  const Tenant *x = a, *y = b;

  if (x->place != y->place)
    return x->place < y->place ? -1 : 1;
  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  /* Of two that begin at once the first one counts: put it last. */
  return (x->buffer < y->buffer) - (x->buffer > y->buffer);
}

static void
add_span (GArray *spans, const Tenant *tenant, guint64 begin, guint64 end)
{
  const GantryPlanSpan span = { tenant->place, tenant->buffer, (guint32) begin, (guint32) end };

  if (begin < end)
    g_array_append_val (spans, span);
}

/* Values in places, not views of them: those that share a place into @tenants, by place and step, spans of the others into
 * @spans. Most have a place for themselves. */
static void
list_tenants (const GantryPlan *plan, GantryMemoryKind memory, GArray *tenants, GArray *spans)
{
  g_autofree guint8 *shared = g_new0 (guint8, (gsize) plan->n_buffers + 1);
  g_autofree guint32 *places = gantry_plan_places (plan);

  for (guint32 b = 0; b < plan->n_buffers; b++)
    if (plan->buffers[b].in_place && plan->buffers[b].shares != GANTRY_NO_BUFFER)
      shared[places[b]] = TRUE;
  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];
      Tenant tenant = { b, b, buffer->begin, MIN (buffer->end, gantry_plan_n_moments (plan) - 1) };

      if (buffer->region != GANTRY_REGION_ARENA || buffer->memory != memory || buffer->size == 0 || (buffer->shares != GANTRY_NO_BUFFER && !buffer->in_place)
          || tenant.begin > tenant.last)
        continue;
      if (buffer->shares == GANTRY_NO_BUFFER && !shared[b])
        add_span (spans, &tenant, tenant.begin, (guint64) tenant.last + 1);
      else
        {
          tenant.place = places[b];
          g_array_append_val (tenants, tenant);
        }
    }
  g_array_sort (tenants, compare_tenants);
}

static void
add_spans_of_place (GArray *spans, const Tenant *tenants, guint n, guint32 n_steps)
{
  const Tenant *longest = &tenants[0];

  for (guint i = 0; i < n; i++)
    {
      guint64 next = i + 1 < n ? tenants[i + 1].begin : n_steps;
      guint64 end = MIN ((guint64) tenants[i].last + 1, next);

      longest = tenants[i].last >= longest->last ? &tenants[i] : longest;
      add_span (spans, &tenants[i], tenants[i].begin, end);
      add_span (spans, longest, MAX (end, tenants[i].begin), MIN ((guint64) longest->last + 1, next));
    }
}

GArray *
gantry_plan_spans (const GantryPlan *plan, GantryMemoryKind memory)
{
  g_autoptr (GArray) tenants = g_array_new (FALSE, FALSE, sizeof (Tenant));
  GArray *spans = g_array_sized_new (FALSE, FALSE, sizeof (GantryPlanSpan), plan->n_buffers);

  list_tenants (plan, memory, tenants, spans);
  for (guint first = 0, end; first < tenants->len; first = end)
    {
      const Tenant *tenant = &g_array_index (tenants, Tenant, first);

      for (end = first + 1; end < tenants->len && g_array_index (tenants, Tenant, end).place == tenant->place;)
        end++;
      add_spans_of_place (spans, tenant, end - first, gantry_plan_n_moments (plan));
    }
  return spans;
}

guint8 *
gantry_plan_find_arguments (const GantryPlan *plan)
{
  guint8 *is_argument = g_new0 (guint8, (gsize) plan->n_buffers + 1);

  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];

      /* What was fetched of an argument that lives elsewhere is temporary. */
      if (buffer->category == GANTRY_BUFFER_INPUT && buffer->instance == 0)
        is_argument[b] = TRUE;
      else if (buffer->category == GANTRY_BUFFER_OUTPUT)
        is_argument[gantry_plan_value_of (plan, b)] = TRUE;
    }
  return is_argument;
}
