/* SPDX-License-Identifier: Apache-2.0 */
/* XLA's buffer assignment as text and as JSON. */
#include "app/cli/assignment-report.h"

#define MOST_NAMES 4u

static int
compare_sizes (gconstpointer a, gconstpointer b)
{
  const GantryXlaAllocation *x = *(GantryXlaAllocation *const *) a, *y = *(GantryXlaAllocation *const *) b;

  if (x->size != y->size)
    return x->size > y->size ? -1 : 1;
  return x->number != y->number ? (x->number < y->number ? -1 : 1) : 0;
}

static void
print_allocation (const GantryXlaAssignment *assignment, const GantryXlaAllocation *allocation)
{
  g_autofree char *size = gantry_cli_bytes (allocation->size);

  gantry_cli_print ("  %10s %-12s", size, gantry_xla_allocation_kind_name (allocation->kind));
  for (guint i = 0; i < MIN (allocation->n_values, MOST_NAMES); i++)
    {
      const GantryXlaValue *value = &g_array_index (assignment->values, GantryXlaValue, allocation->first_value + i);
      g_autofree char *name = gantry_cli_field (value->name);

      gantry_cli_print ("%s %s", i > 0 ? "," : "", name);
    }
  if (allocation->n_values > MOST_NAMES)
    gantry_cli_print (" and %u more", allocation->n_values - MOST_NAMES);
  gantry_cli_print ("\n");
}

static void
print_peak (const GantryXlaAssignment *assignment)
{
  g_autofree char *bytes = NULL, *where = NULL;

  if (assignment->live_bytes == NULL)
    {
      gantry_cli_print ("%-13s not known: the dump has no live ranges\n", "alive");
      return;
    }
  bytes = gantry_cli_bytes (assignment->live_bytes[assignment->peak_step]);
  where = gantry_cli_field (g_ptr_array_index (assignment->steps, assignment->peak_step));
  gantry_cli_print ("%-13s at most %s, at %s (step %u of %u)\n", "alive", bytes, where, assignment->peak_step, assignment->steps->len);
}

void
gantry_cli_print_assignment_summary (const GantryXlaAssignment *assignment)
{
  g_autofree char *total = gantry_cli_bytes (assignment->total_bytes);
  g_autofree char *temporary = gantry_cli_bytes (assignment->bytes[GANTRY_XLA_ALLOCATION_TEMPORARY]);
  g_autofree char *host = gantry_cli_bytes (assignment->bytes[GANTRY_XLA_ALLOCATION_HOST]);

  gantry_cli_print ("%-13s %s, of that %s of temporaries, and %s in the host (XLA's plan, not measured)\n", "XLA's own", total, temporary, host);
  print_peak (assignment);
}

void
gantry_cli_print_assignment (const GantryXlaAssignment *assignment, guint most)
{
  g_autoptr (GPtrArray) order = g_ptr_array_new ();
  g_autofree char *total = gantry_cli_bytes (assignment->total_bytes);

  gantry_cli_print ("\n%-13s %s on the device; %u allocations (XLA's plan, not measured)\n", "assignment", total, assignment->allocations->len);
  for (guint i = 0; i < GANTRY_XLA_N_ALLOCATIONS; i++)
    {
      g_autofree char *bytes = gantry_cli_bytes (assignment->bytes[i]);

      gantry_cli_print ("%-13s %s\n", gantry_xla_allocation_kind_name (i), bytes);
    }
  print_peak (assignment);
  for (guint i = 0; i < assignment->allocations->len; i++)
    g_ptr_array_add (order, &g_array_index (assignment->allocations, GantryXlaAllocation, i));
  g_ptr_array_sort (order, compare_sizes);
  for (guint i = 0; i < MIN (most, order->len); i++)
    print_allocation (assignment, g_ptr_array_index (order, i));
}

static void
add_values (JsonBuilder *json, const GantryXlaAssignment *assignment, const GantryXlaAllocation *allocation)
{
  json_builder_set_member_name (json, "values");
  json_builder_begin_array (json);
  for (guint i = 0; i < allocation->n_values; i++)
    {
      const GantryXlaValue *value = &g_array_index (assignment->values, GantryXlaValue, allocation->first_value + i);

      json_builder_begin_object (json);
      gantry_cli_add_string (json, "name", value->name);
      gantry_cli_add_int (json, "bytes", (gint64) value->size);
      gantry_cli_add_int (json, "offset", (gint64) value->offset);
      gantry_cli_add_int (json, "begin", value->timed ? (gint64) value->begin : -1);
      gantry_cli_add_int (json, "end", value->timed ? (gint64) value->end : -1);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
add_allocations (JsonBuilder *json, const GantryXlaAssignment *assignment)
{
  json_builder_set_member_name (json, "allocations");
  json_builder_begin_array (json);
  for (guint i = 0; i < assignment->allocations->len; i++)
    {
      const GantryXlaAllocation *allocation = &g_array_index (assignment->allocations, GantryXlaAllocation, i);

      json_builder_begin_object (json);
      gantry_cli_add_int (json, "number", allocation->number);
      gantry_cli_add_string (json, "kind", gantry_xla_allocation_kind_name (allocation->kind));
      gantry_cli_add_int (json, "bytes", (gint64) allocation->size);
      gantry_cli_add_int (json, "space", allocation->color);
      add_values (json, assignment, allocation);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
add_curve (JsonBuilder *json, const GantryXlaAssignment *assignment)
{
  gint64 peak = assignment->live_bytes != NULL ? (gint64) assignment->live_bytes[assignment->peak_step] : -1;

  gantry_cli_add_int (json, "most_live_bytes", peak);
  gantry_cli_add_string (json, "most_live_at", peak >= 0 ? g_ptr_array_index (assignment->steps, assignment->peak_step) : NULL);
  json_builder_set_member_name (json, "curve");
  json_builder_begin_array (json);
  for (guint i = 0; i < assignment->steps->len; i++)
    json_builder_add_int_value (json, (gint64) assignment->live_bytes[i]);
  json_builder_end_array (json);
}

void
gantry_cli_add_assignment (JsonBuilder *json, const GantryXlaAssignment *assignment, gboolean all)
{
  static const char *const keys[] = { "argument_bytes", "output_bytes", "constant_bytes", "temporary_bytes", "thread_local_bytes", "host_bytes" };

  json_builder_set_member_name (json, "xla_assignment");
  if (assignment == NULL)
    {
      json_builder_add_null_value (json);
      return;
    }
  json_builder_begin_object (json);
  gantry_cli_add_int (json, "total_bytes", (gint64) assignment->total_bytes);
  for (guint i = 0; i < GANTRY_XLA_N_ALLOCATIONS; i++)
    gantry_cli_add_int (json, keys[i], (gint64) assignment->bytes[i]);
  add_curve (json, assignment);
  if (all)
    add_allocations (json, assignment);
  json_builder_end_object (json);
}
