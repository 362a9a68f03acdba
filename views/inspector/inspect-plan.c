/* SPDX-License-Identifier: Apache-2.0 */
/* A node in the plan and in the measurement. */
#include "core/graph/node-text.h"
#include "core/graph/operation.h"
#include "core/plan/plan-alive.h"
#include "profiler/recording.h"
#include "views/format.h"
#include "views/inspector/inspector-private.h"
#include "views/shown-plan.h"

static const char *
category_name (const GantryPlanBuffer *buffer)
{
  switch ((GantryBufferCategory) buffer->category)
    {
    case GANTRY_BUFFER_INPUT: return "input";
    case GANTRY_BUFFER_OUTPUT: return "output";
    case GANTRY_BUFFER_CONSTANT: return "constant";
    case GANTRY_BUFFER_TEMPORARY: return "temporary";
    case GANTRY_BUFFER_WORKSPACE: return "workspace";
    }
  return "?";
}

static char *
place_text (const GantryPlanBuffer *buffer)
{
  g_autofree char *offset = gantry_format_integer (buffer->offset);

  switch ((GantryRegion) buffer->region)
    {
    case GANTRY_REGION_ARENA: return g_strdup_printf ("arena of the %s, at byte %s", gantry_memory_kind_name (buffer->memory), offset);
    case GANTRY_REGION_CONSTANT: return g_strdup_printf ("filled once at load, at byte %s", offset);
    case GANTRY_REGION_LITERAL: return g_strdup ("mapped from the model file, never copied");
    }
  return NULL;
}

static void
show_last_use (GantryRows *rows, const GantryInspected *what, const GantryPlan *plan, const GantryPlanBuffer *buffer)
{
  const GantryModule *module = gantry_compilation_module (what->compilation);
  guint32 until = gantry_plan_until_node (plan, (guint32) (buffer - plan->buffers));

  if (until == 0)
    gantry_rows_take (rows, "needed until", gantry_node_until_text (module, 0, buffer->category == GANTRY_BUFFER_INPUT));
  else if (buffer->begin != buffer->end)
    gantry_rows_link (rows, "needed until", module, what->compilation->n_snapshots - 1, until);
}

/* Whose space it was given. */
static void
show_place_before (GantryRows *rows, const GantryInspected *what, const GantryPlan *plan, const GantryPlanBuffer *buffer)
{
  guint32 before = gantry_plan_place_before (plan, (guint32) (buffer - plan->buffers));

  if (before != GANTRY_NO_BUFFER)
    gantry_rows_link (rows, "there before", gantry_compilation_module (what->compilation), what->compilation->n_snapshots - 1, plan->buffers[before].node);
  else
    gantry_rows_text (rows, "there before", "nothing");
}

static void
show_buffer (GantryRows *rows, const GantryInspected *what, const GantryPlan *plan, const GantryPlanBuffer *buffer)
{
  const GantryModule *module = gantry_compilation_module (what->compilation);
  guint last = what->compilation->n_snapshots - 1;

  gantry_rows_text (rows, "kind", category_name (buffer));
  gantry_rows_take (rows, "size", gantry_format_bytes (buffer->size));
  gantry_rows_take (rows, "place", place_text (buffer));
  if (buffer->region == GANTRY_REGION_ARENA)
    gantry_rows_take (rows, "alive", g_strdup_printf ("step %u to %u of %u", buffer->begin, buffer->end, plan->n_steps > 0 ? plan->n_steps - 1 : 0));
  if (buffer->region == GANTRY_REGION_ARENA)
    show_place_before (rows, what, plan, buffer);
  if (buffer->region == GANTRY_REGION_ARENA)
    show_last_use (rows, what, plan, buffer);
  if (buffer->shares != GANTRY_NO_BUFFER)
    gantry_rows_link (rows, buffer->in_place ? "in place over" : "a view of", module, last, plan->buffers[buffer->shares].node);
  if (plan->n_steps > plan->n_init_steps && buffer->region == GANTRY_REGION_ARENA && buffer->begin <= plan->peak_step && plan->peak_step <= buffer->end)
    gantry_rows_text (rows, "at the peak", "alive");
}

static void
show_step (GantryRows *rows, const GantryPlan *plan, guint32 id)
{
  for (guint32 i = 0; i < plan->n_steps; i++)
    if (plan->steps[i].node == id)
      {
        g_autofree char *duration = gantry_format_ns ((gint64) (plan->steps[i].duration_us * 1000));
        g_autofree char *start = gantry_format_ns ((gint64) (plan->steps[i].start_us * 1000));

        if (plan->steps[i].init)
          gantry_rows_take (rows, "runs", g_strdup_printf ("once at load, as step %u", i));
        else
          gantry_rows_take (rows, "runs", g_strdup_printf ("as step %u, at %s", i, start));
        gantry_rows_take (rows, "predicted", g_steal_pointer (&duration));
        return;
      }
}

static void
show_measured (GantryRows *rows, const GantryInspected *what, guint32 id)
{
  const GantryNodeTotals *totals;
  g_autofree char *difference = NULL, *note = NULL;
  double mean;

  if (what->run == NULL)
    return;
  gantry_rows_section (rows, "Measured");
  totals = what->measured != NULL ? g_hash_table_lookup (what->measured, GUINT_TO_POINTER (id)) : NULL;
  if (totals == NULL || totals->count == 0)
    {
      gantry_rows_note (rows, "Not in the run shown: it does no work of its own, or the program has changed since.");
      return;
    }
  mean = (double) totals->total_ns / (double) totals->count;
  difference = gantry_shown_run_difference (what->document);
  note = g_strdup_printf ("The run was made %s: what is predicted is not for it.", difference != NULL ? difference : "");
  if (difference != NULL)
    gantry_rows_note (rows, note);
  gantry_rows_take (rows, "mean", gantry_format_ns ((gint64) mean));
  gantry_rows_take (rows, "range", g_strdup_printf ("%.3f to %.3f ms", (double) totals->shortest_ns / 1e6, (double) totals->longest_ns / 1e6));
  gantry_rows_take (rows, "times", gantry_format_integer (totals->count));
  {
    const GantryModule *module = gantry_compilation_module (what->compilation);
    const GantryNode *node = gantry_module_node (module, id);
    gint64 flops = node != NULL ? gantry_node_flops (module, node) : -1;
    g_autofree char *rate = flops > 0 && mean > 0 ? gantry_format_count ((double) flops / mean * 1e9) : NULL;

    if (rate != NULL)
      gantry_rows_take (rows, "rate", g_strdup_printf ("%sFLOP/s", rate));
  }
}

void
_gantry_inspect_plan (GantryRows *rows, const GantryInspected *what, guint32 id)
{
  const GantryPlan *plan = gantry_shown_plan (what->document);
  guint32 buffer;

  if (plan == NULL)
    return;
  gantry_rows_section (rows, "In the plan");
  show_step (rows, plan, id);
  buffer = gantry_plan_buffer_of (plan, id, 0);
  if (buffer == GANTRY_NO_BUFFER)
    gantry_rows_note (rows, "No memory of its own.");
  else
    show_buffer (rows, what, plan, &plan->buffers[buffer]);
  show_measured (rows, what, id);
}
