/* SPDX-License-Identifier: Apache-2.0 */
/* Orders and allocators side by side: what each takes, and how far from what is alive its packing is. */
#include "app/cli/allocation-report.h"
#include "app/cli/cli.h"
#include "core/compiler/allocations.h"

GArray *
gantry_allocation_report_new (GantryDocument *document, const GantryProgress *progress, GError **error)
{
  return gantry_compilation_compare_allocations (gantry_document_get_compilation (document), gantry_document_get_settings (document), progress, error);
}

void
gantry_allocation_report_json (JsonBuilder *json, const GArray *rows)
{
  json_builder_set_member_name (json, "allocations");
  json_builder_begin_array (json);
  for (guint i = 0; i < rows->len; i++)
    {
      const GantryAllocation *row = &g_array_index (rows, GantryAllocation, i);

      json_builder_begin_object (json);
      gantry_cli_add_string (json, "order", gantry_order_name (row->order));
      gantry_cli_add_string (json, "allocator", gantry_allocator_name (row->allocator));
      gantry_cli_add_int (json, "planned_bytes", (gint64) row->peak_bytes);
      gantry_cli_add_int (json, "lower_bound_bytes", (gint64) row->least_bytes);
      gantry_cli_add_double (json, "step_ms", row->step_us / 1000);
      gantry_cli_add_boolean (json, "chosen", row->is_chosen);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

void
gantry_allocation_report_text (const GArray *rows)
{
  gantry_cli_print ("\n%-10s %-10s %12s %12s %10s %12s\n", "order", "allocator", "peak", "alive", "over that", "step");
  for (guint i = 0; i < rows->len; i++)
    {
      const GantryAllocation *row = &g_array_index (rows, GantryAllocation, i);
      g_autofree char *peak = gantry_format_bytes (row->peak_bytes), *least = gantry_format_bytes (row->least_bytes);

      gantry_cli_print ("%-10s %-10s %12s %12s %8.2f %% %9.3f ms%s\n", gantry_order_name (row->order), gantry_allocator_name (row->allocator), peak, least,
                        100 * ((double) row->peak_bytes / (double) MAX (row->least_bytes, 1) - 1), row->step_us / 1000, row->is_chosen ? "  chosen" : "");
    }
}
