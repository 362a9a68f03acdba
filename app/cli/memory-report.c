/* SPDX-License-Identifier: Apache-2.0 */
/* Planned is added up from the plan; all else is what was measured. */
#include "app/cli/memory-report.h"
#include "core/plan/memory-summary.h"

static void
print_parts (const GantryMemorySummary *summary)
{
  gantry_cli_print ("%-10s %12s %12s\n", "", "planned", "touched");
  for (guint i = 0; i < summary->parts->len; i++)
    {
      const GantryMemoryRow *row = &g_array_index (summary->parts, GantryMemoryRow, i);
      g_autofree char *planned = NULL, *touched = NULL;

      gantry_format_bytes_apart (row->planned, row->touched, 0, &planned, &touched);
      gantry_cli_print ("%-10s %12s %12s %s\n", "", planned, touched, row->name);
    }
  for (guint i = 0; i < summary->notes->len; i++)
    gantry_cli_print ("%-10s %s\n", "", (const char *) g_ptr_array_index (summary->notes, i));
}

static void
print_differences (const GantryMemorySummary *summary)
{
  for (guint i = 0; i < summary->differences->len; i++)
    {
      const GantryMemoryDifference *difference = &g_array_index (summary->differences, GantryMemoryDifference, i);
      g_autofree char *size = gantry_cli_bytes ((guint64) ABS (difference->bytes));
      g_autofree char *text = g_strdup_printf ("%s%s", difference->bytes < 0 ? "-" : "", size);

      gantry_cli_print ("%-10s %12s %s\n", "", text, difference->name);
    }
}

/* " and 71.0 MiB of host memory": where there is any. (transfer full) */
static char *
host_text (guint64 bytes)
{
  g_autofree char *size = gantry_cli_bytes (bytes);

  return bytes > 0 ? g_strdup_printf (" and %s of host memory", size) : g_strdup ("");
}

void
gantry_memory_report_planned (const GantryPlan *plan, guint64 limit)
{
  g_autofree char *planned = gantry_format_bytes_within (gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE), limit);
  g_autofree char *host = host_text (gantry_plan_host_bytes (plan)), *text = gantry_format_limit (limit);

  gantry_cli_print ("%-10s %s planned%s%s%s\n", "memory", planned, host, limit > 0 ? ", limit " : "", limit > 0 ? text : "");
}

void
gantry_memory_report_text (const GantryRunResult *result, const GantryModule *module, guint64 limit)
{
  const GantryMemoryMeasure *measure = result->memory;
  g_autoptr (GantryMemorySummary) summary = measure != NULL ? gantry_memory_summary_new (result->plan, measure, module, limit) : NULL;
  g_autofree char *planned = NULL, *touched = NULL, *host = NULL, *process = NULL;

  if (summary == NULL && result->unmeasured != NULL)
    gantry_cli_print ("%-10s not measured\n", "touched");
  if (summary == NULL)
    return;
  touched = gantry_format_bytes_within (summary->touched, limit);
  host = host_text (summary->touched_all - summary->touched);
  gantry_cli_print ("%-10s %s%s%s", "touched", touched, host, measure->driver ? ", as the driver counts" : ", in whole pages");
  if (summary->step != G_MAXUINT32)
    gantry_cli_print ("; by part in step %u, where that was", summary->step);
  gantry_cli_print ("\n");
  print_parts (summary);
  if (summary->process == 0 && !measure->driver)
    gantry_cli_print ("%-10s not known: the system does not say what the process has in memory (/proc/self/smaps)\n", "process");
  if (summary->process == 0)
    return;
  planned = gantry_format_bytes_within (summary->planned_all, limit);
  process = gantry_format_bytes_within (summary->process, limit);
  gantry_cli_print ("%-10s %s at most since the program was loaded, where %s are planned%s; beside the plan\n", "process", process, planned,
                    summary->planned_all > summary->planned ? " in all" : "");
  print_differences (summary);
}

static void
tell_unmeasured (const char *why, guint64 limit)
{
  g_autofree char *text = gantry_format_limit (limit);

  gantry_cli_tell ("%s: warning: The memory was not measured: %s.\n", g_get_prgname (), why);
  if (limit > 0)
    gantry_cli_tell ("%s: warning: Whether the run kept to the limit of %s is not known.\n", g_get_prgname (), text);
}

void
gantry_memory_report_warn (const GantryRunResult *result, const GantryModule *module, guint64 limit)
{
  g_autoptr (GantryMemorySummary) summary = result->memory != NULL ? gantry_memory_summary_new (result->plan, result->memory, module, limit) : NULL;

  if (result->unmeasured != NULL)
    tell_unmeasured (result->unmeasured, limit);
  for (guint i = 0; summary != NULL && i < summary->warnings->len; i++)
    gantry_cli_tell ("%s: warning: %s\n", g_get_prgname (), (const char *) g_ptr_array_index (summary->warnings, i));
}

gboolean
gantry_memory_report_above (const GantryRunResult *result, guint64 limit)
{
  return result->memory != NULL && gantry_memory_measure_exceeds (result->memory, limit);
}

static const char *
part_name (guint part)
{
  return gantry_memory_part_name (part);
}

static const char *
owner_name (guint owner)
{
  return gantry_memory_owner_name (owner);
}

static void
add_parts (JsonBuilder *json, const char *member, const guint64 *bytes, guint n, const char *(*name) (guint))
{
  json_builder_set_member_name (json, member);
  json_builder_begin_object (json);
  for (guint i = 0; i < n; i++)
    gantry_cli_add_int (json, name (i), (gint64) bytes[i]);
  json_builder_end_object (json);
}

static guint64
touched_of (const GantryMemoryRow *row)
{
  return row->touched;
}

static guint64
planned_of (const GantryMemoryRow *row)
{
  return row->planned;
}

/* What a driver counts has other parts. */
static void
add_rows (JsonBuilder *json, const char *member, const GantryMemorySummary *summary, guint64 (*bytes) (const GantryMemoryRow *))
{
  json_builder_set_member_name (json, member);
  json_builder_begin_object (json);
  for (guint i = 0; i < summary->parts->len; i++)
    {
      const GantryMemoryRow *row = &g_array_index (summary->parts, GantryMemoryRow, i);

      gantry_cli_add_int (json, row->name, (gint64) bytes (row));
    }
  json_builder_end_object (json);
}

static void
add_both (JsonBuilder *json, const GantryMemorySummary *summary, const GantryMemoryMeasure *measure)
{
  if (measure->driver)
    {
      add_rows (json, "touched", summary, touched_of);
      add_rows (json, "planned_then", summary, planned_of);
      return;
    }
  add_parts (json, "touched", measure->touched.bytes, GANTRY_N_MEMORY_PARTS, part_name);
  add_parts (json, "planned_then", summary->planned_parts.bytes, GANTRY_N_MEMORY_PARTS, part_name);
}

static void
add_unplanned (JsonBuilder *json, const char *member, const GantryUnplannedMemory *memory, const GantryModule *module)
{
  const GantryNode *node = gantry_module_node (module, memory->node);
  g_autofree char *label = node != NULL ? gantry_node_label (module, node) : NULL;

  json_builder_set_member_name (json, member);
  json_builder_begin_object (json);
  gantry_cli_add_int (json, "bytes", (gint64) memory->bytes);
  gantry_cli_add_int (json, "step", memory->step != G_MAXUINT32 ? (gint64) memory->step : -1);
  gantry_cli_add_string (json, "name", label);
  json_builder_end_object (json);
}

void
gantry_memory_report_json (JsonBuilder *json, const GantryRunResult *result, const GantryModule *module, guint64 limit)
{
  const GantryMemoryMeasure *measure = result->memory;
  g_autoptr (GantryMemorySummary) summary = NULL;

  gantry_cli_add_string (json, "not_measured", result->unmeasured);
  json_builder_set_member_name (json, "memory");
  if (measure == NULL)
    {
      json_builder_add_null_value (json);
      return;
    }
  summary = gantry_memory_summary_new (result->plan, measure, module, limit);
  json_builder_begin_object (json);
  gantry_cli_add_int (json, "planned_bytes", (gint64) summary->planned);
  gantry_cli_add_int (json, "host_planned_bytes", (gint64) (summary->planned_all - summary->planned));
  gantry_cli_add_int (json, "planned_all_bytes", (gint64) summary->planned_all);
  gantry_cli_add_int (json, "touched_bytes", (gint64) summary->touched);
  gantry_cli_add_measured (json, "host_touched_bytes", !measure->driver, summary->touched_all - summary->touched);
  gantry_cli_add_measured (json, "touched_all_bytes", !measure->driver, summary->touched_all);
  gantry_cli_add_int (json, "rounding_bytes", (gint64) measure->rounding_bytes);
  gantry_cli_add_boolean (json, "above_limit", summary->above_limit);
  gantry_cli_add_int (json, "allowed_bytes", (gint64) summary->allowed);
  gantry_cli_add_boolean (json, "driver", measure->driver);
  gantry_cli_add_int (json, "touched_step", summary->step != G_MAXUINT32 ? (gint64) summary->step : -1);
  add_both (json, summary, measure);
  add_unplanned (json, "outside", &measure->outside, module);
  add_unplanned (json, "beside", &measure->beside, module);
  gantry_cli_add_measured (json, "process_bytes", measure->process_peak > 0, measure->process_peak);
  gantry_cli_add_measured (json, "process_now_bytes", measure->process_peak > 0, measure->process);
  gantry_cli_add_measured (json, "held_bytes", measure->process_peak > 0, measure->held);
  if (measure->process > 0)
    add_parts (json, "owners", measure->owners, GANTRY_N_MEMORY_OWNERS, owner_name);
  else
    gantry_cli_add_string (json, "owners", NULL); /* not known */
  json_builder_set_member_name (json, "warnings");
  json_builder_begin_array (json);
  for (guint i = 0; i < summary->warnings->len; i++)
    json_builder_add_string_value (json, g_ptr_array_index (summary->warnings, i));
  json_builder_end_array (json);
  json_builder_end_object (json);
}
