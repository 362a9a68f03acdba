/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for people and for programs: sizes, categories, who holds the peak, which rules matched nothing. */
#include "app/cli/plan-report.h"
#include "app/cli/assignment-report.h"
#include "core/planner/report.h"
#include "core/plan/compression.h"
#include "core/plan/plan-moves.h"

#define MOST_SCOPES 40u

gboolean
gantry_plan_report_check (GantryDocument *document, GError **error)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (document);
  const GError *failure = compilation->refusal != NULL ? compilation->refusal : gantry_document_get_plan_error (document);

  if (failure != NULL)
    {
      g_propagate_error (error, g_error_copy (failure));
      gantry_cli_advise_search (error);
    }
  return failure == NULL;
}

static GantryMemoryAnalysis *
analyse (GantryDocument *document, guint64 limit, guint most_holders)
{
  GantryCompilation *compilation = gantry_document_get_compilation (document);
  GantryMemoryAnalysis *analysis = gantry_memory_analysis_new (gantry_compilation_module (compilation), gantry_document_get_plan (document),
                                                               gantry_document_get_planner (document), gantry_document_get_placements (document), most_holders);

  analysis->limit = limit > 0 ? limit : gantry_document_get_settings (document)->target.memory_limit;
  return analysis;
}

static void
add_sizes (JsonBuilder *json, const GantryMemoryAnalysis *a, const GantryPlan *plan)
{
  const struct
  {
    const char *key;
    guint64 value;
  } sizes[] = {
    { "planned_bytes", a->peak_bytes },
    { "temp_bytes", a->temp_bytes },
    { "argument_bytes", a->argument_bytes },
    { "output_bytes", a->output_bytes },
    { "alias_bytes", a->alias_bytes },
    { "generated_code_bytes", a->generated_code_bytes },
    { "lower_bound_bytes", a->lower_bound_bytes },
    { "host_temp_bytes", a->host_temp_bytes },
    { "host_argument_bytes", a->host_argument_bytes },
    { "host_output_bytes", a->host_output_bytes },
    { "host_alias_bytes", a->host_alias_bytes },
    { "host_generated_code_bytes", a->host_generated_code_bytes },
    { "host_planned_bytes", a->host_peak_bytes },
    { "constant_bytes", plan->constant_bytes },
    { "literal_bytes", plan->literal_bytes },
    { "copied_bytes", plan->copied_bytes },
  };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    gantry_cli_add_int (json, sizes[i].key, (gint64) sizes[i].value);
}

static void
add_times (JsonBuilder *json, const GantryPlan *plan)
{
  guint copies = 0, recomputed = 0;

  for (guint32 i = plan->n_init_steps; i < plan->n_steps; i++)
    {
      copies += plan->steps[i].kind == GANTRY_STEP_COPY;
      recomputed += plan->steps[i].kind == GANTRY_STEP_RECOMPUTE;
    }
  gantry_cli_add_double (json, "step_ms", plan->total_us / 1000);
  gantry_cli_add_double (json, "recompute_ms", plan->recompute_us / 1000);
  gantry_cli_add_double (json, "stall_ms", plan->stall_us / 1000);
  gantry_cli_add_int (json, "steps", plan->n_steps - plan->n_init_steps);
  gantry_cli_add_int (json, "recomputed_steps", recomputed);
  gantry_cli_add_int (json, "copies", copies);
}

static void
add_report (JsonBuilder *json, const GantryPolicyReport *report)
{
  json_builder_begin_object (json);
  gantry_cli_add_string (json, "rule", report->text);
  gantry_cli_add_int (json, "line", report->line);
  gantry_cli_add_int (json, "matched", report->n_matched);
  gantry_cli_add_int (json, "decided", report->n_decided);
  gantry_cli_add_string (json, "problem", report->problem);
  json_builder_end_object (json);
}

/* `rules`: all statements; `unmatched`: those of them that have no effect, with the reason. */
static void
add_rules (JsonBuilder *json, GPtrArray *reports)
{
  for (guint only_unmatched = 0; only_unmatched < 2; only_unmatched++)
    {
      json_builder_set_member_name (json, only_unmatched ? "unmatched" : "rules");
      json_builder_begin_array (json);
      for (guint i = 0; reports != NULL && i < reports->len; i++)
        {
          const GantryPolicyReport *report = g_ptr_array_index (reports, i);

          if (!only_unmatched || report->n_matched == 0 || report->problem != NULL)
            add_report (json, report);
        }
      json_builder_end_array (json);
    }
}

static void
add_node (JsonBuilder *json, const GantryModule *module, guint32 id)
{
  const GantryNode *node = gantry_module_node (module, id);
  g_autofree char *label = node != NULL ? gantry_node_label (module, node) : NULL;

  gantry_cli_add_int (json, "node", id);
  gantry_cli_add_string (json, "name", label);
  gantry_cli_add_string (json, "op", node != NULL ? gantry_node_op_name (module, node) : NULL);
  gantry_cli_add_string (json, "scope", node != NULL ? gantry_context_scope_path (module->context, node->scope) : NULL);
}

void
gantry_plan_report_add_problems (JsonBuilder *json, const GantryModule *module, const GantryPlan *plan)
{
  json_builder_set_member_name (json, "problems");
  json_builder_begin_array (json);
  for (guint i = 0; i < plan->n_problems; i++)
    {
      const GantryPlacementProblem *problem = &plan->problems[i];

      json_builder_begin_object (json);
      add_node (json, module, problem->node);
      gantry_cli_add_string (json, "asked", gantry_placement_kind_name (problem->kind));
      gantry_cli_add_string (json, "given", gantry_placement_kind_name (problem->given));
      gantry_cli_add_string (json, "reason", problem->reason);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
add_categories (JsonBuilder *json, const GantryMemoryAnalysis *a)
{
  json_builder_set_member_name (json, "categories");
  json_builder_begin_object (json);
  for (guint i = 0; i < GANTRY_N_ROLES; i++)
    {
      json_builder_set_member_name (json, gantry_buffer_role_name (i));
      json_builder_begin_object (json);
      gantry_cli_add_int (json, "at_peak_bytes", (gint64) a->at_peak[i]);
      gantry_cli_add_int (json, "largest_bytes", (gint64) a->largest[i]);
      json_builder_end_object (json);
    }
  json_builder_end_object (json);
}

static void
add_saving (JsonBuilder *json, const char *key, gint64 bytes, double us)
{
  json_builder_set_member_name (json, key);
  if (bytes == G_MININT64)
    {
      json_builder_add_null_value (json);
      return;
    }
  json_builder_begin_object (json);
  gantry_cli_add_int (json, "saves_bytes", bytes);
  gantry_cli_add_double (json, "costs_ms", us / 1000);
  json_builder_end_object (json);
}

static void
add_holders (JsonBuilder *json, const GantryModule *module, const GantryMemoryAnalysis *a, guint most)
{
  json_builder_set_member_name (json, "holders");
  json_builder_begin_array (json);
  for (guint i = 0; i < MIN (most, a->holders->len); i++)
    {
      const GantryMemoryHolder *holder = &g_array_index (a->holders, GantryMemoryHolder, i);
      const GantryNode *until = gantry_module_node (module, holder->until_node);
      g_autofree char *last_use = until != NULL ? gantry_node_label (module, until) : NULL;

      json_builder_begin_object (json);
      add_node (json, module, holder->node);
      gantry_cli_add_string (json, "subject", gantry_placement_subject_name (holder->subject));
      gantry_cli_add_string (json, "placement", gantry_placement_kind_name (holder->kind));
      gantry_cli_add_int (json, "bytes", (gint64) holder->bytes);
      gantry_cli_add_string (json, "until", last_use);
      add_saving (json, "recompute", holder->saves_recompute, holder->costs_recompute);
      add_saving (json, "offload", holder->saves_offload, holder->costs_offload);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static char *
use_label (const GantryModule *module, const GantryPlan *plan, const GantryPlanMove *move)
{
  const GantryNode *use = move->use != GANTRY_NO_STEP ? gantry_module_node (module, plan->steps[move->use].node) : NULL;

  return use != NULL ? gantry_node_label (module, use) : NULL;
}

static void
add_moves (JsonBuilder *json, const GantryModule *module, const GantryPlan *plan)
{
  g_autoptr (GArray) moves = gantry_plan_moves (plan);

  json_builder_set_member_name (json, "moves");
  json_builder_begin_array (json);
  for (guint i = 0; i < moves->len; i++)
    {
      const GantryPlanMove *move = &g_array_index (moves, GantryPlanMove, i);
      g_autofree char *use = use_label (module, plan, move);

      json_builder_begin_object (json);
      add_node (json, module, move->node);
      gantry_cli_add_string (json, "from", gantry_memory_kind_name (move->from));
      gantry_cli_add_string (json, "to", gantry_memory_kind_name (move->to));
      gantry_cli_add_int (json, "bytes", (gint64) move->bytes);
      gantry_cli_add_double (json, "takes_ms", move->duration_us / 1000);
      gantry_cli_add_double (json, "hidden_ms", move->hidden_us / 1000);
      gantry_cli_add_string (json, "use", use);
      gantry_cli_add_double (json, "distance_ms", move->distance_us / 1000);
      gantry_cli_add_int (json, "distance_steps", move->distance_steps);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static int
compare_exposed (gconstpointer a, gconstpointer b)
{
  const GantryPlanMove *x = a, *y = b;
  double left = x->duration_us - x->hidden_us, right = y->duration_us - y->hidden_us;

  if (left != right)
    return left > right ? -1 : 1;
  return (x->step > y->step) - (x->step < y->step);
}

/* Those first that hide least. */
static void
print_moves (const GantryModule *module, const GantryPlan *plan, guint most)
{
  g_autoptr (GArray) moves = gantry_plan_moves (plan);

  if (moves->len == 0)
    return;
  g_array_sort (moves, compare_exposed);
  gantry_cli_print ("\n%-14s %11s %13s %8s  %s\n", "move to", "size", "takes", "hidden", "value, and how far its next use is");
  for (guint i = 0; i < MIN (most, moves->len); i++)
    {
      const GantryPlanMove *move = &g_array_index (moves, GantryPlanMove, i);
      const GantryNode *node = gantry_module_node (module, move->node);
      g_autofree char *size = gantry_cli_bytes (move->bytes), *use = use_label (module, plan, move);
      g_autofree char *value = node != NULL ? gantry_node_label (module, node) : g_strdup ("?");

      gantry_cli_print ("%-14s %11s %10.1f us %6.0f %%  %s", gantry_memory_kind_name (move->to), size, move->duration_us,
                        move->duration_us > 0 ? 100 * move->hidden_us / move->duration_us : 100, value);
      if (use != NULL)
        gantry_cli_print (", %u steps (%.1f us) to %s%s\n", move->distance_steps, move->distance_us,
                          plan->steps[move->use].kind == GANTRY_STEP_COPY ? "the copy of " : "", use);
      else
        gantry_cli_print (", no use: a result\n");
    }
  if (moves->len > most)
    gantry_cli_print ("and %u others, of which more is hidden\n", moves->len - most);
}

static void
add_scopes (JsonBuilder *json, const GantryModule *module, const GantryMemoryAnalysis *a)
{
  json_builder_set_member_name (json, "scopes");
  json_builder_begin_array (json);
  for (guint i = 0; i < MIN (MOST_SCOPES, a->scopes->len); i++)
    {
      const GantryMemoryScope *scope = &g_array_index (a->scopes, GantryMemoryScope, i);

      json_builder_begin_object (json);
      gantry_cli_add_string (json, "scope", gantry_context_scope_path (module->context, scope->scope));
      gantry_cli_add_int (json, "bytes", (gint64) scope->bytes);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
add_placements (JsonBuilder *json, const GantryPlacements *placements)
{
  guint count[GANTRY_N_PLACEMENTS] = { 0 };

  for (guint i = 0; placements != NULL && i < placements->entries->len; i++)
    count[g_array_index (placements->entries, GantryPlacement, i).kind]++;
  json_builder_set_member_name (json, "placements");
  json_builder_begin_object (json);
  for (guint i = GANTRY_PLACEMENT_RECOMPUTE; i < GANTRY_N_PLACEMENTS; i++)
    gantry_cli_add_int (json, gantry_placement_kind_name (i), count[i]);
  json_builder_end_object (json);
}

static void
add_missing (JsonBuilder *json, GPtrArray *missing)
{
  json_builder_set_member_name (json, "without_value");
  json_builder_begin_array (json);
  for (guint i = 0; i < missing->len; i++)
    json_builder_add_string_value (json, g_ptr_array_index (missing, i));
  json_builder_end_array (json);
}

void
gantry_plan_report_json (JsonBuilder *json, GantryDocument *document, guint most_holders)
{
  const GantryModule *module = gantry_compilation_module (gantry_document_get_compilation (document));
  const GantryPlan *plan = gantry_document_get_plan (document);
  g_autoptr (GantryMemoryAnalysis) analysis = analyse (document, 0, most_holders);
  g_autofree char *unusual = gantry_compile_settings_unusual (gantry_document_get_settings (document));
  g_autofree char *rates = gantry_target_rates_text (&gantry_document_get_settings (document)->target);

  add_sizes (json, analysis, plan);
  gantry_cli_add_parts (json, "parts", &analysis->device);
  gantry_cli_add_parts (json, "host_parts", &analysis->host);
  gantry_cli_add_boolean (json, "sizes_known", analysis->sizes_known);
  add_times (json, plan);
  gantry_plan_report_add_approximate (json, plan);
  gantry_cli_add_string (json, "target", gantry_document_get_settings (document)->target.name);
  gantry_cli_add_string (json, "rates", rates);
  gantry_cli_add_int (json, "limit_bytes", (gint64) gantry_document_get_settings (document)->target.memory_limit);
  gantry_cli_add_string (json, "times",
                         gantry_document_get_settings (document)->measured != NULL ? gantry_document_get_settings (document)->measured->name : "model");
  gantry_cli_add_string (json, "runs_with", unusual);
  if (gantry_document_get_model (document)->assignment != NULL)
    gantry_cli_add_assignment (json, gantry_document_get_model (document)->assignment, FALSE);
  add_placements (json, gantry_document_get_placements (document));
  add_missing (json, gantry_document_get_missing (document));
  add_rules (json, gantry_document_get_reports (document));
  gantry_plan_report_add_problems (json, module, plan);
  add_categories (json, analysis);
  add_moves (json, module, plan);
  add_holders (json, module, analysis, most_holders);
  add_scopes (json, module, analysis);
}

gboolean
gantry_cli_parse_allow (char *const *names, guint *allowed, gboolean *microbatches, GError **error)
{
  if (microbatches != NULL)
    *microbatches = FALSE;
  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    {
      guint kinds = g_strcmp0 (names[i], "approximate") == 0 ? GANTRY_APPROXIMATE_PLACEMENTS : 0;

      for (guint kind = 0; kind < GANTRY_N_PLACEMENTS; kind++)
        if (gantry_placement_is_approximate (kind) && g_strcmp0 (names[i], gantry_placement_kind_name (kind)) == 0)
          kinds = 1u << kind;
      if (microbatches != NULL && g_strcmp0 (names[i], "microbatches") == 0)
        *microbatches = TRUE;
      else if (kinds == 0)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--allow %s: there are bf16, int8%s and approximate", names[i],
                       microbatches != NULL ? ", microbatches" : "");
          return FALSE;
        }
      *allowed |= kinds;
    }
  return TRUE;
}

void
gantry_plan_report_add_approximate (JsonBuilder *json, const GantryPlan *plan)
{
  GantryCompressionSums sums;

  gantry_plan_sum_compression (plan, &sums);
  gantry_cli_add_boolean (json, "approximate", sums.values > 0);
  gantry_cli_add_int (json, "stored_residuals", sums.values);
  gantry_cli_add_int (json, "stored_bytes", (gint64) sums.stored_bytes);
  gantry_cli_add_int (json, "stored_exact_bytes", (gint64) sums.exact_bytes);
  gantry_cli_add_double (json, "convert_ms", sums.convert_us / 1000);
}

/* Text */

void
gantry_plan_report_print_approximate (const GantryPlan *plan)
{
  g_autofree char *text = gantry_plan_approximate_text (plan);
  GantryCompressionSums sums;

  gantry_plan_sum_compression (plan, &sums);
  if (text != NULL)
    gantry_cli_print ("%-10s %s; converting takes %.3f ms of the step as predicted\n", "results", text, sums.convert_us / 1000);
}

static void
print_rules (GPtrArray *reports)
{
  for (guint i = 0; reports != NULL && i < reports->len; i++)
    {
      const GantryPolicyReport *report = g_ptr_array_index (reports, i);

      if (report->problem != NULL)
        gantry_cli_print ("rule       %s (%s): %s\n", report->text, report->place, report->problem);
      else
        gantry_cli_print ("rule       %s: decides %u of %u values\n", report->text, report->n_decided, report->n_matched);
    }
}

void
gantry_plan_report_print_problems (const GantryModule *module, const GantryPlan *plan)
{
  for (guint i = 0; i < plan->n_problems; i++)
    {
      const GantryPlacementProblem *problem = &plan->problems[i];
      const GantryNode *node = gantry_module_node (module, problem->node);
      g_autofree char *label = node != NULL ? gantry_node_label (module, node) : g_strdup ("?");

      gantry_cli_print ("not done   %s of %s: %s\n", gantry_placement_kind_name (problem->kind), label, problem->reason);
    }
}

/* What was planned for, so that two plans are not compared that are for different machines. */
static void
print_target (const GantryTarget *target, const GantryPlan *plan)
{
  guint64 used = gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE);
  g_autofree char *limit = gantry_format_limit (target->memory_limit), *rates = gantry_target_rates_text (target);

  if (target->memory_limit == 0)
    gantry_cli_print ("%-10s %s\n", "target", target->name);
  else
    gantry_cli_print ("%-10s %s; limit %s, %s%.1f %% of it used\n", "target", target->name, limit, plan->sizes_known ? "" : "at least ",
                      100.0 * (double) used / (double) target->memory_limit);
  gantry_cli_print ("%-10s %s\n", "rates", rates);
}

void
gantry_plan_report_text (GantryDocument *document, guint64 limit, guint most_holders)
{
  const GantryModule *module = gantry_compilation_module (gantry_document_get_compilation (document));
  const GantryPlan *plan = gantry_document_get_plan (document);
  g_autoptr (GantryMemoryAnalysis) analysis = analyse (document, limit, most_holders);
  g_autofree char *tables = gantry_memory_analysis_to_text (analysis, module, most_holders);
  g_autofree char *copied = gantry_cli_bytes (plan->copied_bytes);
  g_autofree char *unusual = gantry_compile_settings_unusual (gantry_document_get_settings (document));
  const GantryXlaAssignment *assignment = gantry_document_get_model (document)->assignment;

  if (gantry_document_get_settings (document)->measured != NULL)
    gantry_cli_print ("%-10s measured (%s)\n", "times", gantry_document_get_settings (document)->measured->name);
  if (unusual != NULL)
    gantry_cli_print ("%-10s runs with %s\n", "for", unusual);
  print_target (&gantry_document_get_settings (document)->target, plan);
  gantry_cli_print ("%-10s %.3f ms predicted, of that %.3f ms done again and %.3f ms waiting for copies\n", "step", plan->total_us / 1000,
                    plan->recompute_us / 1000, plan->stall_us / 1000);
  gantry_cli_print ("%-10s %s between device and host\n", "copied", copied);
  gantry_plan_report_print_approximate (plan);
  if (assignment != NULL)
    gantry_cli_print_assignment_summary (assignment);
  print_rules (gantry_document_get_reports (document));
  gantry_plan_report_print_problems (module, plan);
  gantry_cli_print ("\n");
  gantry_cli_write_lines (stdout, tables);
  print_moves (module, plan, most_holders);
}
