/* SPDX-License-Identifier: Apache-2.0 */
/* Two forecasts beside each other, for people and for programs. */
#include "app/cli/changes-report.h"

#define MOST_TIMES 10u

static char *
label_of (const GantryModule *module, guint32 id)
{
  const GantryNode *node = gantry_module_node (module, id);

  return node != NULL ? gantry_node_label (module, node) : g_strdup_printf ("%%%u", id);
}

static void
add_times (JsonBuilder *json, const GantryPlanChanges *changes, const GantryModule *module)
{
  json_builder_set_member_name (json, "times");
  json_builder_begin_array (json);
  for (guint i = 0; i < changes->times->len; i++)
    {
      const GantryTimeChange *change = &g_array_index (changes->times, GantryTimeChange, i);
      g_autofree char *label = label_of (module, change->node);

      json_builder_begin_object (json);
      gantry_cli_add_int (json, "node", change->node);
      gantry_cli_add_string (json, "name", label);
      gantry_cli_add_double (json, "before_us", change->before_us);
      gantry_cli_add_double (json, "after_us", change->after_us);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
add_placements (JsonBuilder *json, const GantryPlanChanges *changes, const GantryModule *module)
{
  json_builder_set_member_name (json, "placements");
  json_builder_begin_array (json);
  for (guint i = 0; i < changes->placements->len; i++)
    {
      const GantryPlacementChange *change = &g_array_index (changes->placements, GantryPlacementChange, i);
      g_autofree char *label = label_of (module, change->node);

      json_builder_begin_object (json);
      gantry_cli_add_int (json, "node", change->node);
      gantry_cli_add_string (json, "name", label);
      gantry_cli_add_string (json, "before", gantry_placement_kind_name (change->before));
      gantry_cli_add_string (json, "after", gantry_placement_kind_name (change->after));
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

void
gantry_changes_report_json (JsonBuilder *json, const GantryPlanChanges *changes, const GantryModule *module)
{
  json_builder_set_member_name (json, "changes");
  json_builder_begin_object (json);
  gantry_cli_add_double (json, "step_before_ms", changes->before.step_us / 1000);
  gantry_cli_add_double (json, "step_after_ms", changes->after.step_us / 1000);
  gantry_cli_add_int (json, "planned_before_bytes", (gint64) changes->before.peak_bytes);
  gantry_cli_add_int (json, "planned_after_bytes", (gint64) changes->after.peak_bytes);
  gantry_cli_add_boolean (json, "sizes_before_known", changes->before.sizes_known);
  gantry_cli_add_boolean (json, "sizes_after_known", changes->after.sizes_known);
  gantry_cli_add_int (json, "copied_before_bytes", (gint64) changes->before.copied_bytes);
  gantry_cli_add_int (json, "copied_after_bytes", (gint64) changes->after.copied_bytes);
  gantry_cli_add_int (json, "steps", changes->n_steps);
  gantry_cli_add_int (json, "steps_moved", changes->n_moved);
  gantry_cli_add_int (json, "steps_new", changes->n_new);
  gantry_cli_add_int (json, "steps_gone", changes->n_gone);
  add_placements (json, changes, module);
  add_times (json, changes, module);
  json_builder_end_object (json);
}

void
gantry_changes_report_text (const GantryPlanChanges *changes, const GantryModule *module)
{
  g_autofree char *summary = gantry_plan_changes_summary (changes);
  g_autofree char *peak_before = gantry_memory_peak_text (changes->before.peak_bytes, 0, changes->before.sizes_known);
  g_autofree char *peak = gantry_memory_peak_text (changes->after.peak_bytes, 0, changes->after.sizes_known);

  gantry_cli_print ("%-10s %s\n", "changed", summary);
  gantry_cli_print ("%-10s step %.3f ms, was %.3f ms; peak %s, was %s\n", "", changes->after.step_us / 1000, changes->before.step_us / 1000, peak, peak_before);
  for (guint i = 0; i < MIN (changes->placements->len, MOST_TIMES); i++)
    {
      const GantryPlacementChange *change = &g_array_index (changes->placements, GantryPlacementChange, i);
      g_autofree char *label = label_of (module, change->node);

      gantry_cli_print ("%-10s %s: %s, was %s\n", "", label, gantry_placement_kind_name (change->after), gantry_placement_kind_name (change->before));
    }
  for (guint i = 0; i < MIN (changes->times->len, MOST_TIMES); i++)
    {
      const GantryTimeChange *change = &g_array_index (changes->times, GantryTimeChange, i);
      g_autofree char *label = label_of (module, change->node);

      gantry_cli_print ("%-10s %s: %.1f us, was %.1f us\n", "", label, change->after_us, change->before_us);
    }
}
