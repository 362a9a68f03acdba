/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by node first, then each node over its lines. */
#include "views/source/source-heat.h"
#include "core/base/format.h"
#include "core/graph/operation.h"
#include "core/plan/plan-alive.h"
#include <math.h>

static void
add_to_node (const GantryModule *module, GantrySourceCost *costs, guint32 id, GantrySourceFigure figure, double value)
{
  const GantryNode *node = gantry_module_node (module, id);

  if (node != NULL)
    costs[gantry_module_position (module, node)].figure[figure] += value;
}

static void
add_times (GantrySourceHeat *heat, GantrySourceCost *costs, const GantryPlan *plan, GHashTable *measured_us)
{
  const GantryModule *module = heat->index->module;

  heat->known[GANTRY_SOURCE_PLANNED_US] = TRUE;
  for (guint32 i = plan->n_init_steps; i < plan->n_steps; i++)
    {
      const GantryPlanStep *step = &plan->steps[i];
      const double *measured = measured_us != NULL ? g_hash_table_lookup (measured_us, GUINT_TO_POINTER (step->node)) : NULL;

      if (step->queue != GANTRY_QUEUE_COMPUTE)
        continue;
      add_to_node (module, costs, step->node, GANTRY_SOURCE_PLANNED_US, step->duration_us);
      if (measured == NULL)
        continue;
      heat->known[GANTRY_SOURCE_MEASURED_US] = TRUE;
      add_to_node (module, costs, step->node, GANTRY_SOURCE_MEASURED_US, *measured);
    }
}

static void
add_bytes (GantrySourceHeat *heat, GantrySourceCost *costs, const GantryPlan *plan)
{
  g_autoptr (GArray) alive = NULL;

  if (plan->n_buffers == 0 || plan->peak_step >= plan->n_steps)
    return;
  heat->known[GANTRY_SOURCE_PEAK_BYTES] = TRUE;
  alive = gantry_plan_alive_at (plan, plan->peak_step);
  for (guint i = 0; i < alive->len; i++)
    {
      const GantryPlanAlive *entry = &g_array_index (alive, GantryPlanAlive, i);

      add_to_node (heat->index->module, costs, plan->buffers[entry->buffer].node, GANTRY_SOURCE_PEAK_BYTES, (double) entry->bytes);
    }
}

/* Over lines */

/* Parts of one node, by line: most have one. */
typedef struct
{
  const GantrySourceIndex *index;
  GArray *parts; /* Part */
  double weight;
} Share;

typedef struct
{
  guint line; /* in index->lines */
  double weight;
} Part;

static void
add_part (const GantryModule *module, const GantryNode *node, gpointer data)
{
  Share *share = data;
  const GantryLocation *place = gantry_source_place (module, node);
  const GantrySourceLine *line = place != NULL ? gantry_source_index_find (share->index, place->file, place->line) : NULL;
  gint64 flops, bytes;
  Part part;

  if (line == NULL || node->op == GANTRY_OP_PARAMETER || node->op == GANTRY_OP_CONSTANT)
    return;
  flops = gantry_node_flops (module, node);
  bytes = gantry_node_bytes (module, node);
  part.line = (guint) (line - (const GantrySourceLine *) (gpointer) share->index->lines->data);
  part.weight = 1.0 + (double) MAX (flops, 0) + (double) MAX (bytes, 0);
  share->weight += part.weight;
  g_array_append_val (share->parts, part);
}

static void
add_time (GantrySourceCost *to, const GantrySourceCost *cost, double share)
{
  to->figure[GANTRY_SOURCE_PLANNED_US] += cost->figure[GANTRY_SOURCE_PLANNED_US] * share;
  to->figure[GANTRY_SOURCE_MEASURED_US] += cost->figure[GANTRY_SOURCE_MEASURED_US] * share;
}

static gboolean
is_nothing (const GantrySourceCost *cost)
{
  for (guint f = 0; f < GANTRY_N_SOURCE_FIGURES; f++)
    if (cost->figure[f] > 0)
      return FALSE;
  return TRUE;
}

/* The time of a node over the lines of what it runs, or where it stands itself; its value is of where it stands. */
static void
divide (GantrySourceHeat *heat, const GantryNode *node, const GantrySourceCost *cost, guint64 *budget, Share *share)
{
  const GantryModule *module = heat->index->module;
  const GantryLocation *place = gantry_source_place (module, node);
  const GantrySourceLine *line = place != NULL ? gantry_source_index_find (heat->index, place->file, place->line) : NULL;
  GantrySourceCost *own = line != NULL ? &heat->lines[line - (const GantrySourceLine *) (gpointer) heat->index->lines->data] : &heat->elsewhere;

  add_time (&heat->total, cost, 1);
  heat->total.figure[GANTRY_SOURCE_PEAK_BYTES] += cost->figure[GANTRY_SOURCE_PEAK_BYTES];
  own->figure[GANTRY_SOURCE_PEAK_BYTES] += cost->figure[GANTRY_SOURCE_PEAK_BYTES];
  g_array_set_size (share->parts, 0);
  share->weight = 0;
  gantry_source_each_part (module, node, budget, add_part, share);
  for (guint i = 0; i < share->parts->len; i++)
    {
      const Part *part = &g_array_index (share->parts, Part, i);

      add_time (&heat->lines[part->line], cost, part->weight / share->weight);
    }
  if (share->parts->len == 0)
    add_time (own, cost, 1);
}

GantrySourceHeat *
gantry_source_heat_new (GantryModule *module, const GantryPlan *plan, GHashTable *measured_us)
{
  GantrySourceHeat *heat = g_new0 (GantrySourceHeat, 1);
  g_autofree GantrySourceCost *costs = g_new0 (GantrySourceCost, module->n_nodes + 1);
  guint64 budget = gantry_source_part_budget (module);
  Share share;

  g_atomic_ref_count_init (&heat->ref_count);
  heat->index = gantry_source_index_new (module);
  heat->lines = g_new0 (GantrySourceCost, heat->index->lines->len + 1);
  if (plan != NULL)
    {
      add_times (heat, costs, plan, measured_us);
      add_bytes (heat, costs, plan);
    }
  share = (Share){ heat->index, g_array_new (FALSE, FALSE, sizeof (Part)), 0 };
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (!is_nothing (&costs[i]))
      divide (heat, &module->nodes[i], &costs[i], &budget, &share);
  g_array_unref (share.parts);
  for (guint i = 0; i < heat->index->lines->len; i++)
    for (guint f = 0; f < GANTRY_N_SOURCE_FIGURES; f++)
      heat->most.figure[f] = MAX (heat->most.figure[f], heat->lines[i].figure[f]);
  return heat;
}

GantrySourceHeat *
gantry_source_heat_ref (GantrySourceHeat *heat)
{
  g_atomic_ref_count_inc (&heat->ref_count);
  return heat;
}

void
gantry_source_heat_unref (GantrySourceHeat *heat)
{
  if (!g_atomic_ref_count_dec (&heat->ref_count))
    return;
  gantry_source_index_unref (heat->index);
  g_free (heat->lines);
  g_free (heat);
}

const GantrySourceCost *
gantry_source_heat_find (const GantrySourceHeat *heat, guint32 file, guint32 line)
{
  const GantrySourceLine *found = gantry_source_index_find (heat->index, file, line);

  return found != NULL ? &heat->lines[found - (const GantrySourceLine *) (gpointer) heat->index->lines->data] : NULL;
}

char *
gantry_source_figure_text (GantrySourceFigure figure, double value)
{
  if (figure == GANTRY_SOURCE_PEAK_BYTES)
    return value < 0.5 ? g_strdup ("") : gantry_format_bytes ((guint64) (value + 0.5));
  return value * 1000 < 0.5 ? g_strdup ("") : gantry_format_ns ((gint64) round (value * 1000));
}

char *
gantry_source_cost_text (const GantrySourceHeat *heat, const GantrySourceCost *cost)
{
  static const char *const before[] = { "planned ", "measured ", "" }, *const after[] = { "", "", " at the planned peak" };
  GString *text = g_string_new (NULL);

  for (guint f = 0; f < GANTRY_N_SOURCE_FIGURES; f++)
    {
      g_autofree char *figure = heat->known[f] ? gantry_source_figure_text (f, cost->figure[f]) : g_strdup ("");

      if (*figure != '\0')
        g_string_append_printf (text, "%s%s%s%s", text->len > 0 ? ", " : "", before[f], figure, after[f]);
    }
  return g_string_free (text, FALSE);
}
