/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of a plan beside those of a measurement, and sentences about what does not match. */
#include "core/plan/memory-summary.h"

/* What a page or a library's first call may take more. */
#define NOTABLE ((guint64) 1 << 20)
/* How many of the owners a warning names. */
#define NAMED 3u
/* What was held more than planned is made of. */
#define UNPLANNED_CODE "code that is in no plan"
#define REST_OF_PAGES "rounded up to pages"
#define UNKNOWN "not accounted for"

guint64
gantry_memory_allowed_bytes (guint64 planned)
{
  return planned + GANTRY_PROCESS_ALLOWANCE + planned / GANTRY_PROCESS_ALLOWANCE_PART;
}

static void
add_part (GantryMemorySummary *summary, const char *name, guint64 planned, guint64 touched)
{
  GantryMemoryRow row = { name, planned, touched };

  if (planned > 0 || touched > 0)
    g_array_append_val (summary->parts, row);
}

/* An arena is one allocation, and so are the constants: a driver does not say what they hold. */
static void
add_allocations (GantryMemorySummary *summary, const GantryPlan *plan, const guint64 *touched)
{
  guint64 *planned = summary->planned_parts.bytes;

  gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, &summary->planned_parts);
  add_part (summary, "arguments, temporaries and workspaces",
            planned[GANTRY_PART_ARGUMENTS] + planned[GANTRY_PART_TEMPORARIES] + planned[GANTRY_PART_WORKSPACES], touched[GANTRY_PART_TEMPORARIES]);
  add_part (summary, "constants and packed weights", planned[GANTRY_PART_CONSTANTS] + planned[GANTRY_PART_PACKED_WEIGHTS], touched[GANTRY_PART_CONSTANTS]);
  add_part (summary, gantry_memory_part_name (GANTRY_PART_CODE), planned[GANTRY_PART_CODE], touched[GANTRY_PART_CODE]);
  summary->planned_then = gantry_memory_parts_total (&summary->planned_parts); /* of the host nothing is counted */
}

static void
add_parts (GantryMemorySummary *summary, const GantryPlan *plan, const GantryMemoryMeasure *measure)
{
  GantryMemoryParts *parts = &summary->planned_parts;

  if (summary->step != G_MAXUINT32)
    gantry_plan_memory_parts_at (plan, summary->step, parts);
  else
    gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, parts);
  for (guint i = 0; i < GANTRY_N_MEMORY_PARTS; i++)
    add_part (summary, gantry_memory_part_name ((GantryMemoryPart) i), parts->bytes[i], measure->touched.bytes[i]);
  add_part (summary, "host memory", gantry_plan_host_bytes (plan), measure->host_bytes);
  summary->planned_then = gantry_memory_parts_total (parts) + gantry_plan_host_bytes (plan);
}

/* Pages are looked at by step, a driver's counters are not. */
static guint32
step_of (const GantryPlan *plan, const GantryMemoryMeasure *measure)
{
  gboolean known = !measure->driver && measure->peak_step >= plan->n_init_steps && measure->peak_step < plan->n_steps;

  return known ? measure->peak_step : G_MAXUINT32;
}

/* What has most in one step need not have most in the other: who adds up the parts does not get the plan's peak. */
static void
tell_moment (GantryMemorySummary *summary, const GantryPlan *plan)
{
  g_autofree char *then = NULL, *most = NULL;
  guint64 host = gantry_plan_host_bytes (plan);

  if (summary->step == G_MAXUINT32 || summary->planned_then == summary->planned_all)
    return;
  gantry_format_bytes_apart (summary->planned_then - host, summary->planned, 0, &then, &most);
  g_ptr_array_add (summary->notes, g_strdup_printf ("By part is of step %u, where most was touched and %s are planned; the plan's own peak "
                                                    "of %s is in step %u.",
                                                    summary->step, then, most, plan->peak_step));
}

static void
add_difference (GantryMemorySummary *summary, const char *name, gint64 bytes)
{
  GantryMemoryDifference difference = { name, bytes };

  if (bytes != 0)
    g_array_append_val (summary->differences, difference);
}

/* Code that was found, less what is planned of it. */
static guint64
unplanned_code (const GantryMemorySummary *summary)
{
  const char *name = gantry_memory_part_name (GANTRY_PART_CODE);

  for (guint i = 0; i < summary->parts->len; i++)
    {
      const GantryMemoryRow *row = &g_array_index (summary->parts, GantryMemoryRow, i);

      if (row->name == name)
        return row->touched > row->planned ? row->touched - row->planned : 0;
    }
  return 0;
}

static void
add_differences (GantryMemorySummary *summary, const GantryMemoryMeasure *measure)
{
  gint64 held = (gint64) (measure->held - summary->planned_all), sum = held;
  guint64 more = held > 0 ? (guint64) held : 0, code = MIN (unplanned_code (summary), more);
  guint64 rest = MIN (measure->rounding_bytes, more - code);

  for (guint i = 0; i < GANTRY_N_MEMORY_OWNERS; i++)
    {
      add_difference (summary, gantry_memory_owner_name ((GantryMemoryOwner) i), (gint64) measure->owners[i]);
      sum += (gint64) measure->owners[i];
    }
  add_difference (summary, "planned and not held", MIN (held, 0));
  add_difference (summary, UNPLANNED_CODE, (gint64) code);
  add_difference (summary, REST_OF_PAGES, (gint64) rest);
  add_difference (summary, UNKNOWN, (gint64) (more - code - rest));
  /* Nothing where the measurement adds up. */
  add_difference (summary, "not told apart", (gint64) (summary->process - summary->planned_all) - sum);
}

/* "3.2 MiB WHAT in step 12, 'name'" (transfer full) */
static char *
unplanned_text (const GantryUnplannedMemory *memory, const GantryModule *module, const char *what)
{
  const GantryNode *node = module != NULL ? gantry_module_node (module, memory->node) : NULL;
  g_autofree char *bytes = gantry_format_bytes (memory->bytes), *label = node != NULL ? gantry_node_label (module, node) : NULL;
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (text, "%s %s", bytes, what);
  if (memory->step != G_MAXUINT32)
    g_string_append_printf (text, " in step %u", memory->step);
  if (label != NULL)
    g_string_append_printf (text, ", '%s'", label);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static int
compare_differences (gconstpointer a, gconstpointer b)
{
  const GantryMemoryDifference *x = a, *y = b;

  return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* "heap and stacks 120 MiB, ...": the largest. (transfer full) */
static char *
largest_text (const GantryMemorySummary *summary)
{
  g_autoptr (GArray) sorted = g_array_copy (summary->differences);
  g_autoptr (GString) text = g_string_new (NULL);

  g_array_sort (sorted, compare_differences);
  for (guint i = 0; i < MIN (sorted->len, NAMED); i++)
    {
      const GantryMemoryDifference *difference = &g_array_index (sorted, GantryMemoryDifference, i);
      g_autofree char *bytes = difference->bytes > 0 ? gantry_format_bytes ((guint64) difference->bytes) : NULL;

      if (bytes != NULL)
        g_string_append_printf (text, "%s%s %s", i > 0 ? ", " : "", difference->name, bytes);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
warn (GantryMemorySummary *summary, const GantryMemoryMeasure *measure, const GantryModule *module)
{
  if (summary->process > summary->allowed)
    {
      g_autofree char *process = NULL, *allowed = NULL, *planned = gantry_format_bytes (summary->planned_all), *most = largest_text (summary);

      gantry_format_bytes_apart (summary->process, summary->allowed, 0, &process, &allowed);
      g_ptr_array_add (summary->warnings, g_strdup_printf ("The process took %s where %s are planned and %s are expected at most; "
                                                           "beside the plan: %s.",
                                                           process, planned, allowed, most));
    }
  if (measure->outside.bytes > 0)
    {
      g_autofree char *text = unplanned_text (&measure->outside, module, "were touched outside of all places of the plan");

      g_ptr_array_add (summary->warnings, g_strconcat (text, ": a kernel writes where it should not.", NULL));
    }
  if (measure->beside.bytes >= NOTABLE)
    g_ptr_array_add (summary->notes, unplanned_text (&measure->beside, module, "allocated beside the plan"));
}

/* A value of a few bytes touches a page: of small programs that is most of what is seen. */
static void
tell_rounding (GantryMemorySummary *summary, const GantryMemoryMeasure *measure, guint64 limit)
{
  g_autofree char *seen = gantry_format_bytes_within (measure->peak_bytes, limit), *text = gantry_format_limit (limit);
  g_autofree char *rounding = gantry_format_bytes (measure->rounding_bytes);

  g_ptr_array_add (summary->notes, g_strdup_printf ("%s were touched%s, of which up to %s are %s; that keeps to the limit of %s.", seen,
                                                    measure->driver ? ", as the driver counts" : " in whole pages", rounding,
                                                    measure->driver ? "rest of its pages and what it took by itself" : "rest of pages", text));
}

static void
append_part (GString *text, guint64 bytes, const char *what)
{
  g_autofree char *size = gantry_format_bytes (bytes);

  if (bytes > 0)
    g_string_append_printf (text, "%s%s %s", text->len > 0 ? ", " : "", size, what);
}

/* What is known of so many bytes that are too much, and the rest of them. (transfer full) */
static char *
too_much_text (const GantryMemorySummary *summary, const GantryMemoryMeasure *measure, guint64 bytes)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint64 code = MIN (unplanned_code (summary), bytes), rest = MIN (measure->rounding_bytes, bytes - code);

  append_part (text, code, UNPLANNED_CODE);
  append_part (text, rest, REST_OF_PAGES);
  append_part (text, bytes - code - rest, UNKNOWN);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* "30.0 MiB too much: ..." of who keeps to @bytes. (transfer full) */
static char *
beyond_text (const GantryMemorySummary *summary, const GantryMemoryMeasure *measure, guint64 bytes, const char *what)
{
  g_autofree char *size = gantry_format_bytes (summary->touched - bytes), *of = too_much_text (summary, measure, summary->touched - bytes);

  return g_strdup_printf ("%s %s: %s", size, what, of);
}

/* What does not keep to its limit is never run: a plan of more was made before this limit was set, and all of it is accounted for. */
static void
warn_above_limit (GantryMemorySummary *summary, const GantryMemoryMeasure *measure, guint64 limit)
{
  const gboolean planned_above = summary->planned > limit;
  g_autofree char *seen = gantry_format_bytes_within (summary->touched, limit), *text = gantry_format_limit (limit);
  g_autofree char *planned = gantry_format_bytes_within (summary->planned, limit), *beyond = NULL;
  g_autoptr (GString) words = g_string_new (NULL);

  g_string_append_printf (words, "Above the limit: %s of device memory were touched%s, the limit is %s", seen, measure->driver ? "" : ", in whole pages", text);
  if (planned_above)
    g_string_append_printf (words, "; the run was planned for %s, before this limit was set", planned);
  if (!planned_above)
    beyond = beyond_text (summary, measure, limit, "too much");
  else if (summary->touched > summary->planned)
    beyond = beyond_text (summary, measure, summary->planned, "more than planned");
  if (beyond != NULL)
    g_string_append_printf (words, " (%s)", beyond);
  g_string_append_c (words, '.');
  g_ptr_array_add (summary->warnings, g_string_free (g_steal_pointer (&words), FALSE));
}

/* What was measured is held against the limit itself: that a plan keeps to it says nothing of the machine. The limit is of the
 * program's memory on the device; where that is the processor's, a process has program, libraries and compiler besides. */
static void
hold_against_limit (GantryMemorySummary *summary, const GantryMemoryMeasure *measure, guint64 limit)
{
  g_autofree char *seen = NULL, *text = NULL;

  summary->above_limit = gantry_memory_measure_exceeds (measure, limit);
  if (summary->above_limit)
    warn_above_limit (summary, measure, limit);
  else if (measure->peak_bytes > limit)
    tell_rounding (summary, measure, limit);
  else if (summary->process > measure->host_bytes + limit)
    {
      seen = gantry_format_bytes_within (summary->process, limit);
      text = gantry_format_limit (limit);
      g_ptr_array_add (summary->notes, g_strdup_printf ("The process took %s, more than the limit of %s, which the program's own memory "
                                                        "on the device keeps to; program, libraries and compiler come on top of it.",
                                                        seen, text));
    }
}

GantryMemorySummary *
gantry_memory_summary_new (const GantryPlan *plan, const GantryMemoryMeasure *measure, const GantryModule *module, guint64 limit)
{
  GantryMemorySummary *summary;

  g_return_val_if_fail (plan != NULL && measure != NULL, NULL);
  summary = g_new0 (GantryMemorySummary, 1);
  summary->parts = g_array_new (FALSE, FALSE, sizeof (GantryMemoryRow));
  summary->differences = g_array_new (FALSE, FALSE, sizeof (GantryMemoryDifference));
  summary->warnings = g_ptr_array_new_with_free_func (g_free);
  summary->notes = g_ptr_array_new_with_free_func (g_free);
  summary->planned = gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE);
  summary->planned_all = summary->planned + gantry_plan_host_bytes (plan);
  summary->touched = measure->peak_bytes;
  summary->touched_all = summary->touched + measure->host_bytes;
  summary->process = measure->process_peak;
  summary->allowed = gantry_memory_allowed_bytes (summary->planned_all);
  summary->step = step_of (plan, measure);
  if (measure->driver)
    add_allocations (summary, plan, measure->touched.bytes);
  else
    add_parts (summary, plan, measure);
  tell_moment (summary, plan);
  if (summary->process > 0)
    add_differences (summary, measure);
  warn (summary, measure, module);
  if (limit > 0)
    hold_against_limit (summary, measure, limit);
  return summary;
}

void
gantry_memory_summary_free (GantryMemorySummary *summary)
{
  if (summary == NULL)
    return;
  g_array_unref (summary->parts);
  g_array_unref (summary->differences);
  g_ptr_array_unref (summary->warnings);
  g_ptr_array_unref (summary->notes);
  g_free (summary);
}
