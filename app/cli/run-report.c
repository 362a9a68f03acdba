/* SPDX-License-Identifier: Apache-2.0 */
/* Planned and measured, side by side. */
#include "app/cli/run-report.h"
#include "app/cli/changes-report.h"
#include "app/cli/device.h"
#include "app/cli/memory-report.h"
#include "app/cli/plan-report.h"
#include "core/base/format.h"
#include "core/base/output.h"
#include "profiler/kernel-table.h"
#include "profiler/overlap.h"
#include <math.h>

/* How much of the copying is hidden, as planned and as measured. */
typedef struct
{
  GantryOverlap planned, measured;
} Overlaps;

/* Of the runs: what a recorder saw before them, such as weights that were copied and runs for warming up, is no part of them. */
static void
look_at_runs (const GantryRecording *recording, GantryOverlap *sum)
{
  guint n = gantry_recording_n_runs (recording);

  if (n == 0)
    gantry_recording_overlap (recording, -1, sum);
  for (guint i = 0; i < n; i++)
    {
      GantryOverlap run;

      gantry_recording_overlap (recording, (gint) i, &run);
      sum->copy_ns += run.copy_ns;
      sum->hidden_ns += run.hidden_ns;
      sum->exposed_ns += run.exposed_ns;
    }
}

static void
look_at_overlap (const GantryRunReport *report, Overlaps *overlaps)
{
  g_autoptr (GantryRecording) planned = gantry_recording_from_plan (report->module, report->result->plan);

  *overlaps = (Overlaps){ 0 };
  gantry_recording_overlap (planned, -1, &overlaps->planned);
  look_at_runs (report->result->recording, &overlaps->measured);
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

/* Where the time of a run goes: what is done several times in a run, with all of it. (transfer full) */
static GantryKernelTable *
table_of (const GantryRunReport *report)
{
  const GantryTarget *target = &report->target;
  GantryRates rates = { target->peak_flops, target->memory_bandwidth, target->link_bandwidth, { 0 } };

  memcpy (rates.units, target->rates, sizeof rates.units);
  return gantry_kernel_table_new (report->result->recording, report->module, report->result->plan, &rates);
}

static void
add_slow (JsonBuilder *json, const GantryRunReport *report, const GantryKernelRow *row, const GantryNode *node)
{
  g_autofree char *label = gantry_node_label (report->module, node);

  json_builder_begin_object (json);
  gantry_cli_add_int (json, "node", node->id);
  gantry_cli_add_string (json, "name", label);
  gantry_cli_add_string (json, "op", gantry_node_op_name (report->module, node));
  gantry_cli_add_string (json, "scope", gantry_context_scope_path (report->module->context, node->scope));
  gantry_cli_add_string (json, "phase", gantry_phase_name (node->phase));
  gantry_cli_add_string (json, "kind", gantry_event_kind_name (row->kind));
  if (row->control != 0)
    gantry_cli_add_int (json, "within", row->control);
  gantry_cli_add_int (json, "count", (gint64) row->count);
  gantry_cli_add_double (json, "milliseconds", row->measured_us / 1000);
  gantry_cli_add_double (json, "predicted_milliseconds", row->control != 0 ? NAN : MAX (row->planned_us, 0) / 1000);
  gantry_cli_add_int (json, "bytes", (gint64) row->bytes);
  gantry_cli_add_double (json, "achieved_bytes_per_second", gantry_kernel_row_achieved (row));
  gantry_cli_add_double (json, "reachable_bytes_per_second", row->reachable > 0 ? row->reachable : NAN);
  json_builder_end_object (json);
}

static void
add_slowest (JsonBuilder *json, const GantryRunReport *report)
{
  g_autoptr (GantryKernelTable) table = table_of (report);

  json_builder_set_member_name (json, "slowest");
  json_builder_begin_array (json);
  for (guint i = 0, n = 0; i < table->rows->len && n < report->n_slowest; i++)
    {
      const GantryKernelRow *row = &g_array_index (table->rows, GantryKernelRow, i);
      const GantryNode *node = gantry_module_node (report->module, row->node);

      if (node == NULL)
        continue;
      add_slow (json, report, row, node);
      n++;
    }
  json_builder_end_array (json);
}

void
gantry_run_report_notes_text (const GantryRecording *recording)
{
  for (guint i = 0; i < gantry_recording_n_notes (recording); i++)
    gantry_cli_print (i == 0 ? "\nnotes\n  %s\n" : "  %s\n", gantry_recording_note (recording, i));
}

static void
print_slowest (const GantryRunReport *report)
{
  g_autoptr (GantryKernelTable) table = report->n_slowest > 0 ? table_of (report) : NULL;

  for (guint i = 0, n = 0; table != NULL && i < table->rows->len && n < report->n_slowest; i++)
    {
      const GantryKernelRow *row = &g_array_index (table->rows, GantryKernelRow, i);
      const GantryNode *node = gantry_module_node (report->module, row->node);
      g_autofree char *label = node != NULL ? gantry_node_label (report->module, node) : NULL;
      g_autofree char *scope = node != NULL ? gantry_format_text (gantry_context_scope_path (report->module->context, node->scope), FALSE) : NULL;
      g_autofree char *within = row->control != 0 ? g_strdup_printf (", within %%%u", row->control) : g_strdup ("");
      /* What is within a loop has no time of its own in the plan. */
      g_autofree char *predicted = row->control != 0 ? g_strdup ("-") : g_strdup_printf ("%.3f", MAX (row->planned_us, 0) / 1000);
      g_autofree char *roofline = row->reachable > 0 ? g_strdup_printf ("%.2f", row->reachable / 1e9) : g_strdup ("-");

      if (node == NULL)
        continue;
      if (n == 0 && report->elsewhere != NULL)
        gantry_cli_print ("\nWhat is predicted, and the roofline, are for another machine than ran.\n");
      if (n++ == 0)
        gantry_cli_print ("\n%13s %13s %7s %8s %9s  %-9s %s\n", "ms of a run", "predicted ms", "times", "GB/s", "roofline", "phase", "operation");
      gantry_cli_print ("%13.3f %13s %7.0f %8.2f %9s  %-9s %%%u %s '%s'%s%s%s\n", row->measured_us / 1000, predicted, row->count,
                        gantry_kernel_row_achieved (row) / 1e9, roofline, gantry_phase_name (node->phase), node->id, gantry_node_op_name (report->module, node),
                        label, scope != NULL && *scope != '\0' ? " in " : "", scope != NULL ? scope : "", within);
    }
}

gboolean
gantry_run_report_write_kernels (const GantryRunReport *report, const char *path, GantryReadFiles *read, GError **error)
{
  g_autoptr (GantryKernelTable) table = table_of (report);
  g_autoptr (GantryOutput) output = gantry_output_new (path, read, error);

  return output != NULL
         && gantry_output_finish (
           output, gantry_kernel_table_write_csv (table, report->result->recording, report->module, gantry_output_stream (output), NULL, error), error);
}

void
gantry_run_report_json (const GantryRunReport *report)
{
  const GantryRunResult *result = report->result;
  const GantryPlan *plan = result->plan;
  const struct
  {
    const char *key;
    double value;
  } numbers[] = {
    { "milliseconds", result->milliseconds },       { "milliseconds_min", result->milliseconds_min },    { "milliseconds_max", result->milliseconds_max },
    { "compile_milliseconds", result->compile_ms }, { "predicted_milliseconds", plan->total_us / 1000 },
  };
  const struct
  {
    const char *key;
    guint64 value;
  } sizes[] = {
    { "threads", result->n_threads },
    { "runs", result->n_runs },
    { "planned_bytes", gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE) },
    { "host_planned_bytes", gantry_plan_host_bytes (plan) },
    { "arena_bytes", plan->arena_bytes[GANTRY_MEMORY_DEVICE] },
    { "lower_bound_bytes", gantry_plan_least_bytes (plan) },
    { "arena_lower_bound_bytes", plan->lower_bound },
    { "limit_bytes", report->limit },
    { "copied_bytes", plan->copied_bytes },
    { "copied_in_out_bytes", result->copied_in_out },
    { "kernels", gantry_recording_n_events (result->recording, GANTRY_QUEUE_COMPUTE) / MAX (gantry_recording_n_runs (result->recording), 1) },
  };
  g_autoptr (JsonBuilder) json = json_builder_new ();
  GantryMemoryParts parts;

  gantry_memory_report_warn (result, report->module, report->limit);
  json_builder_begin_object (json);
  gantry_cli_add_string (json, "device", result->device);
  gantry_cli_add_string (json, "predicted_for", report->elsewhere != NULL ? report->elsewhere : result->device);
  gantry_cli_add_boolean (json, "predicted_elsewhere", report->elsewhere != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    gantry_cli_add_double (json, numbers[i].key, numbers[i].value);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    gantry_cli_add_int (json, sizes[i].key, (gint64) sizes[i].value);
  gantry_cli_add_measured (json, "touched_bytes", result->memory != NULL, result->peak_bytes);
  gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, &parts);
  gantry_cli_add_parts (json, "parts", &parts);
  gantry_plan_report_add_approximate (json, plan);
  gantry_plan_report_add_problems (json, report->module, plan);
  add_overlap (json, report);
  gantry_memory_report_json (json, result, report->module, report->limit);
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
      if (report->changes != NULL)
        gantry_changes_report_json (json, report->changes, report->module);
    }
  if (report->add != NULL)
    report->add (json, report->add_data);
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
  gantry_cli_print ("%-10s %s a run; of that time %.1f %% hidden as planned, %.1f %% as measured\n", "copied", copied,
                    100 * gantry_overlap_hidden (&overlaps.planned), 100 * gantry_overlap_hidden (&overlaps.measured));
}

void
gantry_run_report_text (const GantryRunReport *report)
{
  g_autofree char *elsewhere = report->elsewhere != NULL ? gantry_format_text (report->elsewhere, FALSE) : NULL;
  const GantryRunResult *result = report->result;

  gantry_memory_report_warn (result, report->module, report->limit);
  gantry_cli_print ("%-10s %s\n", "device", result->device);
  gantry_cli_print ("%-10s %.3f ms, median of %u (%.3f to %.3f)", "time", result->milliseconds, result->n_runs, result->milliseconds_min,
                    result->milliseconds_max);
  if (report->elsewhere == NULL)
    gantry_cli_print ("; predicted %.3f ms\n", result->plan->total_us / 1000);
  else
    gantry_cli_print ("\n%-10s %.3f ms for %s, which is not what ran: not to be compared\n", "predicted", result->plan->total_us / 1000, elsewhere);
  gantry_plan_report_print_approximate (result->plan);
  gantry_plan_report_print_problems (report->module, result->plan);
  if (report->replanned)
    gantry_cli_print ("%-10s %.3f ms measured, %.3f ms predicted\n", "before", report->measured_before_ms, report->predicted_before_ms);
  if (report->changes != NULL)
    gantry_changes_report_text (report->changes, report->module);
  gantry_memory_report_planned (result->plan, report->limit);
  gantry_memory_report_text (result, report->module, report->limit);
  gantry_cli_device_print_memory (report->device);
  print_copies (report);
  gantry_cli_print ("%-10s %.0f ms\n", "compiled in", result->compile_ms);
  for (guint i = 0; report->losses != NULL && i < report->losses->len; i++)
    if (i < 10 || i + 1 == report->losses->len)
      {
        double loss = g_array_index (report->losses, double, i);

        /* The sign of a NaN says nothing. */
        gantry_cli_print ("%-10s %.9g after step %u\n", "loss", isnan (loss) ? (double) NAN : loss, i + 1);
      }
  if (report->compared)
    gantry_cli_print ("%-10s as expected (largest difference %.2g of the largest value)\n", "outputs", report->worst);
  print_slowest (report);
}
