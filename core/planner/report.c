/* SPDX-License-Identifier: Apache-2.0 */
/* memory_analysis of a plan: sizes, who is alive at the peak, the largest sum of each role over the run, and what another
 * placement of the largest holders would change. */
#include "core/planner/report.h"
#include "core/plan/plan-alive.h"
#include <string.h>

/* Where arguments and results have no places for the whole run, what the plan says of them is how large they are. */
static void
add_passing_arguments (GantryMemoryAnalysis *analysis, const GantryPlan *plan)
{
  for (guint32 b = 0; b < plan->n_buffers && !plan->resident; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];

      if (buffer->memory != GANTRY_MEMORY_DEVICE || buffer->region != GANTRY_REGION_ARENA || buffer->instance != 0)
        continue;
      if (buffer->category == GANTRY_BUFFER_INPUT && buffer->shares == GANTRY_NO_BUFFER)
        analysis->argument_bytes += gantry_place_bytes (buffer->size);
      else if (buffer->category == GANTRY_BUFFER_OUTPUT)
        analysis->output_bytes += gantry_place_bytes (buffer->size);
    }
  if (!plan->resident)
    analysis->temp_bytes = analysis->device.bytes[GANTRY_PART_TEMPORARIES] + analysis->device.bytes[GANTRY_PART_WORKSPACES];
}

static void
add_parts (GantryMemoryAnalysis *analysis, const GantryPlan *plan)
{
  gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, &analysis->device);
  for (guint kind = GANTRY_MEMORY_DEVICE + 1; kind < GANTRY_N_MEMORY_KINDS; kind++)
    {
      GantryMemoryParts parts;

      gantry_plan_memory_parts (plan, (GantryMemoryKind) kind, &parts);
      for (guint i = 0; i < GANTRY_N_MEMORY_PARTS; i++)
        analysis->host.bytes[i] += parts.bytes[i];
    }
  analysis->sizes_known = plan->sizes_known;
  analysis->peak_bytes = gantry_memory_parts_total (&analysis->device);
  analysis->host_peak_bytes = gantry_memory_parts_total (&analysis->host);
  analysis->lower_bound_bytes = gantry_plan_least_bytes (plan);
}

static void
add_sizes (GantryMemoryAnalysis *analysis, const GantryPlan *plan)
{
  add_parts (analysis, plan);
  analysis->temp_bytes = gantry_plan_temp_bytes (plan, GANTRY_MEMORY_DEVICE);
  analysis->argument_bytes = plan->argument_bytes[GANTRY_MEMORY_DEVICE];
  analysis->output_bytes = plan->output_bytes[GANTRY_MEMORY_DEVICE];
  analysis->alias_bytes = plan->alias_bytes[GANTRY_MEMORY_DEVICE];
  analysis->generated_code_bytes = plan->code_bytes;
  add_passing_arguments (analysis, plan);
  for (guint kind = GANTRY_MEMORY_DEVICE + 1; kind < GANTRY_N_MEMORY_KINDS; kind++)
    {
      analysis->host_temp_bytes += gantry_plan_temp_bytes (plan, (GantryMemoryKind) kind);
      analysis->host_argument_bytes += plan->argument_bytes[kind];
      analysis->host_output_bytes += plan->output_bytes[kind];
      analysis->host_alias_bytes += plan->alias_bytes[kind];
    }
}

/* Largest sums */

static void
find_largest (GantryMemoryAnalysis *analysis, const GantryPlan *plan)
{
  g_autoptr (GArray) spans = gantry_plan_spans (plan, GANTRY_MEMORY_DEVICE);
  const gsize n = gantry_plan_n_moments (plan);
  /* By role and step: what is added there. */
  g_autofree gint64 *change = g_new0 (gint64, GANTRY_N_ROLES * (n + 1));

  for (guint i = 0; i < spans->len; i++)
    {
      const GantryPlanSpan *span = &g_array_index (spans, GantryPlanSpan, i);
      gint64 bytes = (gint64) gantry_place_bytes (plan->buffers[span->place].size);
      gint64 *of_role = change + (gsize) plan->buffers[span->buffer].role * (n + 1);

      of_role[span->begin] += bytes;
      of_role[span->end] -= bytes;
    }
  for (guint role = 0; role < GANTRY_N_ROLES; role++)
    {
      gint64 sum = 0, largest = 0;

      for (gsize s = 0; s < n; s++)
        {
          sum += change[role * (n + 1) + s];
          largest = MAX (largest, sum);
        }
      analysis->largest[role] = (guint64) largest;
    }
}

/* The peak */

static int
compare_holders (gconstpointer a, gconstpointer b)
{
  const GantryMemoryHolder *x = a, *y = b;

  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  return (x->node > y->node) - (x->node < y->node);
}

/* What the plan gave those that could not have what was asked for: node -> 1 + kind. */
static GHashTable *
list_problems (const GantryPlan *plan)
{
  GHashTable *given = g_hash_table_new (NULL, NULL);

  for (guint32 i = 0; i < plan->n_problems; i++)
    g_hash_table_insert (given, GUINT_TO_POINTER (plan->problems[i].node), GUINT_TO_POINTER (1u + plan->problems[i].given));
  return given;
}

static guint8
kind_of (GHashTable *given, const GantryPlacements *placements, guint32 node)
{
  guint problem = GPOINTER_TO_UINT (g_hash_table_lookup (given, GUINT_TO_POINTER (node)));

  if (problem > 0)
    return (guint8) (problem - 1);
  return placements != NULL ? (guint8) gantry_placements_kind (placements, node) : GANTRY_PLACEMENT_KEEP;
}

static gpointer
member_key (guint32 node, guint32 member)
{
  return GSIZE_TO_POINTER ((gsize) node << 32 | member);
}

/* Each result of a scan has a placement of its own, under the first node that shows it: (transfer full): member_key() -> node. */
static GHashTable *
list_shown (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  GHashTable *shown = g_hash_table_new (NULL, NULL);

  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i], *scan = node->op == GANTRY_OP_RESULT ? gantry_node_operand (module, node, 0) : NULL;
      gpointer key;

      if (scan == NULL || scan->op != GANTRY_OP_SCAN)
        continue;
      key = member_key (scan->id, (guint32) gantry_attrs_int (module->context, node->attrs, "index", 0));
      if (!g_hash_table_contains (shown, key))
        g_hash_table_insert (shown, key, GUINT_TO_POINTER (node->id));
    }
  return shown;
}

/* The node whose placement the value in @buffer has. */
static guint32
node_of (GHashTable *shown, const GantryPlanBuffer *buffer)
{
  guint32 node = buffer->category == GANTRY_BUFFER_WORKSPACE ? 0 : GPOINTER_TO_UINT (g_hash_table_lookup (shown, member_key (buffer->node, buffer->member)));

  return node != 0 ? node : buffer->node;
}

static void
add_holders (GantryMemoryAnalysis *analysis, const GantryModule *module, const GantryPlan *plan, const GantryPlacements *placements, const GArray *alive)
{
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL), given = list_problems (plan), shown = list_shown (module);
  g_autofree guint8 *subjects = gantry_placement_subjects (module);
  g_autofree guint32 *until_step = g_new0 (guint32, alive->len + 1);

  for (guint i = 0; i < alive->len; i++)
    {
      const GantryPlanAlive *entry = &g_array_index (alive, GantryPlanAlive, i);
      const GantryPlanBuffer *buffer = &plan->buffers[entry->buffer];
      gboolean scratch = buffer->category == GANTRY_BUFFER_WORKSPACE;
      const GantryNode *node = gantry_module_node (module, node_of (shown, buffer));
      GantryMemoryHolder fresh = {
        .node = node_of (shown, buffer), .subject = GANTRY_SUBJECT_NONE, .role = buffer->role, .is_argument = buffer->category == GANTRY_BUFFER_INPUT
      };
      gpointer key = GSIZE_TO_POINTER ((gsize) fresh.node * 2 + scratch);
      guint at = GPOINTER_TO_UINT (g_hash_table_lookup (known, key));
      GantryMemoryHolder *holder;

      analysis->live_bytes += entry->bytes;
      analysis->at_peak[buffer->role] += entry->bytes;
      if (at == 0)
        {
          if (!scratch && node != NULL)
            fresh.subject = subjects[gantry_module_position (module, node)];
          if (!scratch)
            fresh.kind = kind_of (given, placements, fresh.node);
          fresh.saves_recompute = fresh.saves_offload = G_MININT64;
          fresh.until_node = entry->until_node;
          g_array_append_val (analysis->holders, fresh);
          at = analysis->holders->len;
          until_step[at - 1] = entry->until_step;
          g_hash_table_insert (known, key, GUINT_TO_POINTER (at));
        }
      holder = &g_array_index (analysis->holders, GantryMemoryHolder, at - 1);
      holder->bytes += entry->bytes;
      if (entry->until_step > until_step[at - 1] || entry->until_node == 0)
        holder->until_node = entry->until_node;
      until_step[at - 1] = MAX (until_step[at - 1], entry->until_step);
    }
  g_array_sort (analysis->holders, compare_holders);
}

static int
compare_scopes (gconstpointer a, gconstpointer b)
{
  const GantryMemoryScope *x = a, *y = b;

  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  return (x->scope > y->scope) - (x->scope < y->scope);
}

static void
add_bytes (GHashTable *by_scope, guint32 scope, guint64 bytes)
{
  guint64 *sum = g_hash_table_lookup (by_scope, GUINT_TO_POINTER (scope));

  if (sum == NULL)
    {
      sum = g_new0 (guint64, 1);
      g_hash_table_insert (by_scope, GUINT_TO_POINTER (scope), sum);
    }
  *sum += bytes;
}

/* Adds what a scope holds to itself and to all scopes around it, the root included. */
static void
add_to_parents (GantryContext *context, GHashTable *by_scope, guint32 scope, guint64 bytes)
{
  g_autofree char *path = g_strdup (gantry_context_scope_path (context, scope));

  for (char *slash = path + strlen (path); scope != 0 && slash != NULL; slash = strrchr (path, '/'))
    {
      *slash = '\0';
      if (*path != '\0')
        add_bytes (by_scope, gantry_context_scope (context, path), bytes);
    }
  add_bytes (by_scope, 0, bytes);
}

static void
add_scopes (GantryMemoryAnalysis *analysis, GantryModule *module)
{
  g_autoptr (GHashTable) own = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (GHashTable) all = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  GHashTableIter iter;
  gpointer key, value;

  for (guint i = 0; i < analysis->holders->len; i++)
    {
      const GantryMemoryHolder *holder = &g_array_index (analysis->holders, GantryMemoryHolder, i);
      const GantryNode *node = gantry_module_node (module, holder->node);

      add_bytes (own, node != NULL ? node->scope : 0, holder->bytes);
    }
  g_hash_table_iter_init (&iter, own);
  while (g_hash_table_iter_next (&iter, &key, &value))
    add_to_parents (module->context, all, GPOINTER_TO_UINT (key), *(guint64 *) value);
  g_hash_table_iter_init (&iter, all);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      GantryMemoryScope scope = { GPOINTER_TO_UINT (key), *(guint64 *) value };

      g_array_append_val (analysis->scopes, scope);
    }
  g_array_sort (analysis->scopes, compare_scopes);
}

/* What another placement would change */

typedef struct
{
  GantryPlanner *planner;
  const GantryPlacements *placements;
  GantryPrediction *now, *then;
} Question;

static void
evaluate (const Question *q, const GantryMemoryHolder *holder, GantryPlacementKind kind, gint64 *saves, double *costs)
{
  guint n;
  const GantryCandidate *candidates = gantry_planner_candidates (q->planner, &n);
  gint which = gantry_planner_candidate_of (q->planner, holder->node);
  GantryPlacement entry = { holder->node, (guint8) kind, GANTRY_DECIDED_BY_CLICK, 0, holder->subject };
  g_autoptr (GantryPlacements) changed = NULL;

  if (which < 0 || !(candidates[which].allowed & 1u << kind) || holder->kind == kind)
    return;
  changed = q->placements != NULL ? gantry_placements_copy (q->placements) : gantry_placements_new ();
  if (kind == GANTRY_PLACEMENT_OFFLOAD)
    entry.memory = GANTRY_MEMORY_PINNED_HOST;
  gantry_placements_set (changed, &entry);
  gantry_planner_predict (q->planner, changed, q->then);
  *saves = (gint64) q->now->peak_bytes - (gint64) q->then->peak_bytes;
  *costs = q->then->step_us - q->now->step_us;
}

static void
add_savings (GantryMemoryAnalysis *analysis, GantryPlanner *planner, const GantryPlacements *placements, guint most)
{
  g_autoptr (GantryPrediction) now = gantry_prediction_new ();
  g_autoptr (GantryPrediction) then = gantry_prediction_new ();
  Question q = { planner, placements, now, then };

  if (most == 0 || analysis->holders->len == 0)
    return;
  gantry_planner_predict (planner, placements, now);
  for (guint i = 0; i < MIN (most, analysis->holders->len); i++)
    {
      GantryMemoryHolder *holder = &g_array_index (analysis->holders, GantryMemoryHolder, i);

      if (holder->subject == GANTRY_SUBJECT_NONE)
        continue;
      evaluate (&q, holder, GANTRY_PLACEMENT_RECOMPUTE, &holder->saves_recompute, &holder->costs_recompute);
      evaluate (&q, holder, GANTRY_PLACEMENT_OFFLOAD, &holder->saves_offload, &holder->costs_offload);
    }
}

GantryMemoryAnalysis *
gantry_memory_analysis_new (GantryModule *module, const GantryPlan *plan, GantryPlanner *planner, const GantryPlacements *placements, guint most_holders)
{
  GantryMemoryAnalysis *analysis = g_new0 (GantryMemoryAnalysis, 1);
  g_autoptr (GArray) alive = NULL;

  analysis->holders = g_array_new (FALSE, TRUE, sizeof (GantryMemoryHolder));
  analysis->scopes = g_array_new (FALSE, TRUE, sizeof (GantryMemoryScope));
  add_sizes (analysis, plan);
  alive = gantry_plan_alive_at (plan, plan->peak_step);
  add_holders (analysis, module, plan, placements, alive);
  add_scopes (analysis, module);
  find_largest (analysis, plan);
  if (planner != NULL)
    add_savings (analysis, planner, placements, most_holders);
  return analysis;
}

void
gantry_memory_analysis_free (GantryMemoryAnalysis *analysis)
{
  if (analysis == NULL)
    return;
  g_array_unref (analysis->holders);
  g_array_unref (analysis->scopes);
  g_free (analysis);
}
