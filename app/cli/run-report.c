/* SPDX-License-Identifier: Apache-2.0 */
/* Planned and measured, side by side. */
#include "app/cli/run-report.h"
#include "app/cli/device.h"
#include "profiler/overlap.h"

/* How much of the copying is hidden, as planned and as measured. */
typedef struct
{
  GantryOverlap planned, measured;
} Overlaps;

static void
look_at_overlap (const GantryRunReport *report, Overlaps *overlaps)
{
  g_autoptr (GantryRecording) planned = gantry_recording_from_plan (report->module, report->result->plan);

  gantry_recording_overlap (planned, -1, &overlaps->planned);
  gantry_recording_overlap (report->result->recording, -1, &overlaps->measured);
}

static void
add_losses (JsonBuilder *json, const GArray *losses)
{
  json_builder_set_member_name (json, "losses");
  json_builder_begin_array (json);
  for (guint i = 0; i < losses->len; i++)
    gantry_cli_add_number (json, g_array_index (losses, double, i));
  json_builder_end_array (json);
}

static void
add_overlap (JsonBuilder *json, const GantryRunReport *report)
{
  Overlaps overlaps;

  look_at_overlap (report, &overlaps);
  gantry_cli_add_double (json, "hidden_planned", gantry_overlap_hidden (&overlaps.planned));
  gantry_cli_add_double (json, "hidden_measured", gantry_overlap_hidden (&overlaps.measured));
  gantry_cli_add_double (json, "overlap_kept", gantry_overlap_kept (&overlaps.planned, &overlaps.measured));
}

/* Where the time of a run goes: copies, and what is done several times in a run, with all of it. */
typedef struct
{
  const GantryNode *node;
  guint count; /* in a run */
  double ms, predicted_ms;
} Slow;

static double
predicted_ms_of (const GantryPlan *plan, guint32 node)
{
  double us = 0;

  for (guint32 i = plan->n_init_steps; i < plan->n_steps; i++)
    if (plan->steps[i].node == node)
      us += plan->steps[i].duration_us;
  return us / 1000;
}

/* (element-type Slow) (transfer full): the largest total first */
static GArray *
find_slowest (const GantryRunReport *report)
{
  const GantryRunResult *result = report->result;
  GArray *slowest = g_array_new (FALSE, FALSE, sizeof (Slow));
  g_autoptr (GArray) totals = gantry_recording_by_node (result->recording);

  for (guint i = 0; i < totals->len && slowest->len < report->n_slowest; i++)
    {
      const GantryNodeTotals *total = &g_array_index (totals, GantryNodeTotals, i);
      Slow slow = { gantry_module_node (report->module, total->node), (guint) (total->count / result->n_runs),
                    (double) total->total_ns / 1e6 / result->n_runs, predicted_ms_of (result->plan, total->node) };

      if (slow.node != NULL)
        g_array_append_val (slowest, slow);
    }
  return slowest;
}

static void
add_slowest (JsonBuilder *json, const GantryRunReport *report)
{
  g_autoptr (GArray) slowest = find_slowest (report);

  json_builder_set_member_name (json, "slowest");
  json_builder_begin_array (json);
  for (guint i = 0; i < slowest->len; i++)
    {
      const Slow *slow = &g_array_index (slowest, Slow, i);
      g_autofree char *label = gantry_node_label (report->module, slow->node);

      json_builder_begin_object (json);
      gantry_cli_add_int (json, "node", slow->node->id);
      gantry_cli_add_string (json, "name", label);
      gantry_cli_add_string (json, "op", gantry_node_op_name (report->module, slow->node));
      gantry_cli_add_string (json, "scope", gantry_context_scope_path (report->module->context, slow->node->scope));
      gantry_cli_add_string (json, "phase", gantry_phase_name (slow->node->phase));
      gantry_cli_add_int (json, "count", slow->count);
      gantry_cli_add_double (json, "milliseconds", slow->ms);
      gantry_cli_add_double (json, "predicted_milliseconds", slow->predicted_ms);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
print_slowest (const GantryRunReport *report)
{
  g_autoptr (GArray) slowest = find_slowest (report);

  if (slowest->len > 0)
    printf ("\n%13s %13s %7s  %-9s %s\n", "ms of a run", "predicted ms", "times", "phase", "operation");
  for (guint i = 0; i < slowest->len; i++)
    {
      const Slow *slow = &g_array_index (slowest, Slow, i);
      g_autofree char *label = gantry_node_label (report->module, slow->node);
      const char *scope = gantry_context_scope_path (report->module->context, slow->node->scope);

      printf ("%13.3f %13.3f %7u  %-9s %%%u %s '%s'%s%s\n", slow->ms, slow->predicted_ms, slow->count,
              gantry_phase_name (slow->node->phase), slow->node->id, gantry_node_op_name (report->module, slow->node), label,
              scope != NULL && *scope != '\0' ? " in " : "", scope != NULL ? scope : "");
    }
}

void
gantry_run_report_json (const GantryRunReport *report)
{
  const GantryRunResult *result = report->result;
  const GantryPlan *plan = result->plan;
  const struct { const char *key; double value; } numbers[] = {
    { "milliseconds", result->milliseconds },         { "milliseconds_min", result->milliseconds_min },
    { "milliseconds_max", result->milliseconds_max }, { "compile_milliseconds", result->compile_ms },
    { "predicted_milliseconds", plan->total_us / 1000 },
  };
  const struct { const char *key; guint64 value; } sizes[] = {
    { "threads", result->n_threads },           { "runs", result->n_runs },
    { "planned_bytes", result->planned_bytes }, { "peak_bytes", result->peak_bytes },
    { "lower_bound_bytes", plan->lower_bound }, { "constant_bytes", result->constant_bytes },
    { "host_planned_bytes", plan->arena_bytes[GANTRY_MEMORY_PINNED_HOST] + plan->arena_bytes[GANTRY_MEMORY_UNPINNED_HOST] },
    { "limit_bytes", report->limit },           { "copied_bytes", plan->copied_bytes },
    { "kernels", gantry_recording_n_events (result->recording, GANTRY_QUEUE_COMPUTE) / result->n_runs },
  };
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  gantry_cli_add_string (json, "device", result->device);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    gantry_cli_add_double (json, numbers[i].key, numbers[i].value);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    gantry_cli_add_int (json, sizes[i].key, (gint64) sizes[i].value);
  add_overlap (json, report);
  gantry_cli_device_add_memory (report->device, json);
  if (report->n_slowest > 0)
    add_slowest (json, report);
  if (report->compared)
    gantry_cli_add_double (json, "worst_relative", report->worst);
  if (report->losses != NULL)
    add_losses (json, report->losses);
  if (report->replanned)
    {
      gantry_cli_add_double (json, "predicted_before_milliseconds", report->predicted_before_ms);
      gantry_cli_add_double (json, "milliseconds_before", report->measured_before_ms);
    }
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static void
print_copies (const GantryRunReport *report)
{
  const GantryPlan *plan = report->result->plan;
  g_autofree char *copied = gantry_cli_bytes (plan->copied_bytes);
  Overlaps overlaps;

  if (plan->copied_bytes == 0)
    return;
  look_at_overlap (report, &overlaps);
  printf ("%-10s %s a run; of that time %.1f %% hidden as planned, %.1f %% as measured\n", "copied", copied,
          100 * gantry_overlap_hidden (&overlaps.planned), 100 * gantry_overlap_hidden (&overlaps.measured));
}

void
gantry_run_report_text (const GantryRunReport *report)
{
  const GantryRunResult *result = report->result;
  g_autofree char *planned = gantry_cli_bytes (result->planned_bytes);
  g_autofree char *peak = gantry_cli_bytes (result->peak_bytes);
  g_autofree char *constants = gantry_cli_bytes (result->constant_bytes);
  g_autofree char *limit = gantry_cli_bytes (report->limit);

  printf ("%-10s %s\n", "device", result->device);
  printf ("%-10s %.3f ms, median of %u (%.3f to %.3f); predicted %.3f ms\n", "time", result->milliseconds,
          result->n_runs, result->milliseconds_min, result->milliseconds_max, result->plan->total_us / 1000);
  if (report->replanned)
    printf ("%-10s %.3f ms measured, %.3f ms predicted\n", "before", report->measured_before_ms,
            report->predicted_before_ms);
  printf ("%-10s %s planned, %s measured, constants %s%s%s\n", "memory", planned, peak, constants,
          report->limit > 0 ? ", limit " : "", report->limit > 0 ? limit : "");
  gantry_cli_device_print_memory (report->device);
  print_copies (report);
  printf ("%-10s %.0f ms\n", "compiled in", result->compile_ms);
  for (guint i = 0; report->losses != NULL && i < report->losses->len; i++)
    if (i < 10 || i + 1 == report->losses->len)
      printf ("%-10s %.9g after step %u\n", "loss", g_array_index (report->losses, double, i), i + 1);
  if (report->compared)
    printf ("%-10s as expected (largest difference %.2g of the largest value)\n", "outputs", report->worst);
  print_slowest (report);
}
