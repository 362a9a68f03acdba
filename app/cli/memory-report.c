/* SPDX-License-Identifier: Apache-2.0 */
/* Planned is added up from the plan; all else is what was measured. */
#include "app/cli/memory-report.h"

/* What a page or a library's first call may take more. */
#define NOTABLE ((guint64) 1 << 20)

/* The parts of the plan in the device's memory and the host's: what the process was meant to take. */
static guint64
planned_bytes (const GantryPlan *plan)
{
  return gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE) + gantry_plan_host_bytes (plan);
}

static void
print_unplanned (const GantryUnplannedMemory *memory, const GantryModule *module, const char *what)
{
  const GantryNode *node = gantry_module_node (module, memory->node);
  g_autofree char *bytes = gantry_cli_bytes (memory->bytes);
  g_autofree char *label = node != NULL ? gantry_node_label (module, node) : NULL;

  printf ("%-10s %s %s in step %u%s%s%s\n", "", bytes, what, memory->step, label != NULL ? ", '" : "", label != NULL ? label : "",
          label != NULL ? "'" : "");
}

static void
print_parts (const guint64 *bytes, guint n, const char *(*name) (guint))
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = gantry_cli_bytes (bytes[i]);

      if (bytes[i] > 0)
        printf ("%-10s %12s %s\n", "", text, name (i));
    }
}

/* Each part of the device's memory, planned beside touched. */
static void
print_both (const GantryPlan *plan, const GantryMemoryMeasure *measure)
{
  GantryMemoryParts parts;

  gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, &parts);
  printf ("%-10s %12s %12s\n", "", "planned", "touched");
  for (guint i = 0; i < GANTRY_N_MEMORY_PARTS; i++)
    {
      g_autofree char *planned = gantry_cli_bytes (parts.bytes[i]), *touched = gantry_cli_bytes (measure->touched.bytes[i]);

      if (parts.bytes[i] > 0 || measure->touched.bytes[i] > 0)
        printf ("%-10s %12s %12s %s\n", "", planned, touched, gantry_memory_part_name (i));
    }
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

void
gantry_memory_report_text (const GantryRunResult *result, const GantryModule *module)
{
  const GantryMemoryMeasure *measure = result->memory;
  guint64 planned = planned_bytes (result->plan);
  g_autofree char *plan = gantry_format_bytes_up (planned), *touched = NULL, *host = NULL, *process = NULL;

  if (measure == NULL)
    return;
  touched = gantry_cli_bytes (measure->peak_bytes);
  host = gantry_cli_bytes (measure->host_bytes);
  printf ("%-10s %s, in whole pages%s%s%s\n", "touched", touched, measure->host_bytes > 0 ? "; of the host's memory " : "",
          measure->host_bytes > 0 ? host : "", measure->driver ? ", as the driver counts" : "");
  print_both (result->plan, measure);
  if (measure->outside.bytes > 0)
    print_unplanned (&measure->outside, module, "touched outside of all places");
  if (measure->beside.bytes >= NOTABLE)
    print_unplanned (&measure->beside, module, "allocated beside the plan");
  if (measure->process_peak == 0)
    return;
  process = gantry_cli_bytes (measure->process_peak);
  printf ("%-10s %s at most, where %s are planned; beside what the plan names\n", "process", process, plan);
  print_parts (measure->owners, GANTRY_N_MEMORY_OWNERS, owner_name);
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
gantry_memory_report_json (JsonBuilder *json, const GantryRunResult *result, const GantryModule *module)
{
  const GantryMemoryMeasure *measure = result->memory;

  json_builder_set_member_name (json, "memory");
  if (measure == NULL)
    {
      json_builder_add_null_value (json);
      return;
    }
  json_builder_begin_object (json);
  gantry_cli_add_int (json, "planned_bytes", (gint64) planned_bytes (result->plan));
  gantry_cli_add_int (json, "touched_bytes", (gint64) measure->peak_bytes);
  gantry_cli_add_int (json, "touched_host_bytes", (gint64) measure->host_bytes);
  gantry_cli_add_boolean (json, "driver", measure->driver);
  add_parts (json, "touched", measure->touched.bytes, GANTRY_N_MEMORY_PARTS, part_name);
  add_unplanned (json, "outside", &measure->outside, module);
  add_unplanned (json, "beside", &measure->beside, module);
  gantry_cli_add_int (json, "process_bytes", (gint64) measure->process_peak);
  gantry_cli_add_int (json, "process_now_bytes", (gint64) measure->process);
  gantry_cli_add_int (json, "planned_now_bytes", (gint64) measure->planned_now);
  add_parts (json, "owners", measure->owners, GANTRY_N_MEMORY_OWNERS, owner_name);
  json_builder_end_object (json);
}
