/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a run's memory: the sums add up, and what is not as it should be is told; nothing else is. */
#include "core/plan/memory-summary.h"
#include <string.h>

#define MIB ((guint64) 1 << 20)

/* 200 MiB of constants, 60 of an arena of the host. (transfer full) */
static GantryPlan *
plan_of (void)
{
  GantryPlan *plan = gantry_plan_new (0, 0);

  plan->constant_bytes = 200 * MIB;
  plan->arena_bytes[GANTRY_MEMORY_DEVICE + 1] = 60 * MIB;
  return plan;
}

/* All that is planned is there, and @heap bytes more. (transfer full) */
static GantryMemoryMeasure *
measure_of (guint64 heap)
{
  GantryMemoryMeasure *measure = gantry_memory_measure_new (0);

  measure->touched.bytes[GANTRY_PART_CONSTANTS] = measure->peak_bytes = 200 * MIB;
  measure->host_bytes = 50 * MIB;
  measure->held = 250 * MIB;
  measure->owners[GANTRY_OWNER_PROGRAMS] = 20 * MIB;
  measure->owners[GANTRY_OWNER_HEAP] = heap;
  measure->process = measure->process_peak = measure->held + 20 * MIB + heap;
  return measure;
}

static gint64
sum_of (const GantryMemorySummary *summary)
{
  gint64 sum = 0;

  for (guint i = 0; i < summary->differences->len; i++)
    sum += g_array_index (summary->differences, GantryMemoryDifference, i).bytes;
  return sum;
}

static void
test_sums (void)
{
  g_autoptr (GantryPlan) plan = plan_of ();
  g_autoptr (GantryMemoryMeasure) measure = measure_of (10 * MIB);
  g_autoptr (GantryMemorySummary) summary = gantry_memory_summary_new (plan, measure, NULL, 0);
  const GantryMemoryRow *rows = (const GantryMemoryRow *) (gpointer) summary->parts->data;

  /* A limit is of the device alone. */
  g_assert_cmpuint (summary->planned, ==, 200 * MIB);
  g_assert_cmpuint (summary->touched, ==, 200 * MIB);
  g_assert_cmpuint (summary->planned_all, ==, 260 * MIB);
  g_assert_cmpuint (summary->touched_all, ==, 250 * MIB);
  g_assert_cmpuint (summary->process, ==, 280 * MIB);
  g_assert_cmpuint (summary->allowed, ==, 360 * MIB + 260 * MIB / 50);
  g_assert_cmpuint (summary->parts->len, ==, 2);
  g_assert_cmpstr (rows[0].name, ==, gantry_memory_part_name (GANTRY_PART_CONSTANTS));
  g_assert_cmpuint (rows[0].planned, ==, 200 * MIB);
  g_assert_cmpuint (rows[1].planned, ==, 60 * MIB);
  g_assert_cmpuint (rows[1].touched, ==, 50 * MIB);
  /* 20 and 10 beside the plan, 10 of the plan are not there. */
  g_assert_cmpuint (summary->differences->len, ==, 3);
  g_assert_cmpint (sum_of (summary), ==, 20 * (gint64) MIB);
  g_assert_cmpuint (summary->warnings->len, ==, 0);
  g_assert_cmpuint (summary->notes->len, ==, 0);
}

/* A byte more than is allowed is told of. */
static void
test_too_large (void)
{
  g_autoptr (GantryPlan) plan = plan_of ();
  guint64 most = gantry_memory_allowed_bytes (260 * MIB) - 270 * MIB;

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GantryMemoryMeasure) measure = measure_of (most + i);
      g_autoptr (GantryMemorySummary) summary = gantry_memory_summary_new (plan, measure, NULL, 0);

      g_assert_cmpint (sum_of (summary), ==, (gint64) (summary->process - summary->planned_all));
      g_assert_cmpuint (summary->warnings->len, ==, i);
      if (i == 1)
        g_assert_nonnull (strstr (g_ptr_array_index (summary->warnings, 0), "260.0 MiB are planned"));
      if (i == 1)
        g_assert_nonnull (strstr (g_ptr_array_index (summary->warnings, 0), "heap and stacks 95.3 MiB"));
    }
}

static void
test_outside (void)
{
  g_autoptr (GantryPlan) plan = plan_of ();
  g_autoptr (GantryMemoryMeasure) measure = measure_of (0);
  g_autoptr (GantryMemorySummary) summary = NULL;

  measure->outside = (GantryUnplannedMemory){ 4096, 7, 0 };
  measure->beside = (GantryUnplannedMemory){ 3 * MIB, 8, 0 };
  summary = gantry_memory_summary_new (plan, measure, NULL, 0);
  g_assert_cmpuint (summary->warnings->len, ==, 1);
  g_assert_true (g_str_has_prefix (g_ptr_array_index (summary->warnings, 0), "4.00 KiB were touched outside"));
  g_assert_nonnull (strstr (g_ptr_array_index (summary->warnings, 0), "in step 7"));
  g_assert_cmpuint (summary->notes->len, ==, 1);
  g_assert_nonnull (strstr (g_ptr_array_index (summary->notes, 0), "allocated beside the plan in step 8"));
}

/* A driver says nothing of the process. */
static void
test_driver (void)
{
  g_autoptr (GantryPlan) plan = plan_of ();
  g_autoptr (GantryMemoryMeasure) measure = gantry_memory_measure_new (0);
  g_autoptr (GantryMemorySummary) summary = NULL;

  measure->driver = TRUE;
  measure->peak_bytes = 200 * MIB;
  summary = gantry_memory_summary_new (plan, measure, NULL, 0);
  g_assert_cmpuint (summary->differences->len, ==, 0);
  g_assert_cmpuint (summary->warnings->len, ==, 0);
}

/* Planned and touched by part are of the same step, the one where most was touched, and what is not is said. */
static void
test_moment (void)
{
  g_autoptr (GantryPlan) plan = gantry_plan_new (2, 2);
  g_autoptr (GantryMemoryMeasure) measure = gantry_memory_measure_new (2);
  const GantryMemoryRow *rows;

  plan->buffers[0] = (GantryPlanBuffer){ .category = GANTRY_BUFFER_WORKSPACE, .shares = GANTRY_NO_BUFFER, .size = 9 * MIB };
  plan->buffers[1] = (GantryPlanBuffer){ .category = GANTRY_BUFFER_TEMPORARY, .shares = GANTRY_NO_BUFFER, .size = 8 * MIB, .begin = 1, .end = 1 };
  plan->arena_bytes[GANTRY_MEMORY_DEVICE] = 9 * MIB;
  gantry_plan_sum_live (plan);
  g_assert_cmpuint (plan->peak_step, ==, 0);
  measure->peak_bytes = measure->touched.bytes[GANTRY_PART_TEMPORARIES] = 8 * MIB;
  for (guint32 step = 0; step < 2; step++)
    {
      g_autoptr (GantryMemorySummary) summary = NULL;

      measure->peak_step = step;
      summary = gantry_memory_summary_new (plan, measure, NULL, 0);
      rows = (const GantryMemoryRow *) (gpointer) summary->parts->data;
      g_assert_cmpuint (summary->step, ==, step);
      g_assert_cmpuint (summary->planned, ==, 9 * MIB);
      g_assert_cmpuint (summary->planned_then, ==, (9 - step) * MIB);
      g_assert_cmpuint (summary->notes->len, ==, step);
      g_assert_cmpuint (summary->parts->len, ==, 2 - step); /* no workspace is planned where most was touched */
      g_assert_cmpuint (rows[0].planned, ==, step == 0 ? 0 : 8 * MIB);
    }
}

/* The plan is held against the limit by who makes it; what was measured, here. */
static void
test_limit (void)
{
  g_autoptr (GantryPlan) plan = plan_of ();
  g_autoptr (GantryMemoryMeasure) measure = measure_of (0);
  guint64 touched = 0, limit;

  touched = measure->peak_bytes;
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GantryMemorySummary) summary = NULL;

      limit = touched - i;
      summary = gantry_memory_summary_new (plan, measure, NULL, limit);
      g_assert_cmpuint (summary->warnings->len, ==, i);
      g_assert_cmpuint (summary->notes->len, ==, 1 - i); /* the process has program and libraries, which no limit is for */
      g_assert_nonnull (
        strstr (i == 1 ? g_ptr_array_index (summary->warnings, 0) : g_ptr_array_index (summary->notes, 0), i == 1 ? "Above the limit" : "more than the limit"));
    }
}

/* Values of a few bytes touch whole pages: what is only the rest of those is above no limit. */
static void
test_rounding (void)
{
  g_autoptr (GantryPlan) plan = plan_of ();
  g_autoptr (GantryMemoryMeasure) measure = measure_of (0);

  measure->rounding_bytes = 5 * MIB;
  for (guint i = 0; i < 2; i++)
    {
      guint64 limit = measure->peak_bytes - 5 * MIB - i;
      g_autoptr (GantryMemorySummary) summary = gantry_memory_summary_new (plan, measure, NULL, limit);

      g_assert_cmpint (summary->above_limit, ==, i);
      g_assert_cmpint (gantry_memory_measure_exceeds (measure, limit), ==, i);
      g_assert_cmpuint (summary->warnings->len, ==, i);
      g_assert_nonnull (strstr (i == 1 ? g_ptr_array_index (summary->warnings, 0) : g_ptr_array_index (summary->notes, 0),
                                i == 1 ? "Above the limit" : "rest of pages; that keeps to the limit"));
    }
}

static gint64
difference_of (const GantryMemorySummary *summary, const char *name)
{
  for (guint i = 0; i < summary->differences->len; i++)
    if (strcmp (g_array_index (summary->differences, GantryMemoryDifference, i).name, name) == 0)
      return g_array_index (summary->differences, GantryMemoryDifference, i).bytes;
  return 0;
}

/* What was held more than planned: code that is in no plan, as much rest of pages as was counted, and what nobody knows. */
static void
test_apart (void)
{
  g_autoptr (GantryPlan) plan = plan_of ();
  g_autoptr (GantryMemoryMeasure) measure = measure_of (0);
  g_autoptr (GantryMemorySummary) summary = NULL;

  plan->code_bytes = MIB;
  measure->touched.bytes[GANTRY_PART_CODE] = 13 * MIB;
  measure->peak_bytes = 231 * MIB;
  measure->rounding_bytes = 8 * MIB;
  measure->held = 291 * MIB;
  measure->process = measure->process_peak = measure->held + 20 * MIB;
  summary = gantry_memory_summary_new (plan, measure, NULL, 201 * MIB);
  g_assert_cmpint (difference_of (summary, "code that is in no plan"), ==, 12 * MIB);
  g_assert_cmpint (difference_of (summary, "rounded up to pages"), ==, 8 * MIB);
  g_assert_cmpint (difference_of (summary, "not accounted for"), ==, 10 * MIB);
  g_assert_cmpint (sum_of (summary), ==, (gint64) (summary->process - summary->planned_all));
  g_assert_true (summary->above_limit);
  g_assert_nonnull (strstr (g_ptr_array_index (summary->warnings, 0), "(30.0 MiB too much: 12.0 MiB code that is in no plan, 8.00 MiB rounded up to pages, "
                                                                      "10.0 MiB not accounted for)"));
}

/* A run that was planned for more than a limit that was set later: what was planned is accounted for, whatever the limit is now. */
static void
test_limit_set_later (void)
{
  g_autoptr (GantryPlan) plan = plan_of ();
  g_autoptr (GantryMemoryMeasure) measure = measure_of (0);

  for (guint64 touched = 190; touched <= 210; touched += 20)
    {
      g_autoptr (GantryMemorySummary) summary = NULL;

      measure->peak_bytes = touched * MIB;
      measure->rounding_bytes = MIB;
      summary = gantry_memory_summary_new (plan, measure, NULL, 100 * MIB);
      g_assert_true (summary->above_limit);
      g_assert_cmpuint (summary->warnings->len, ==, 1);
      g_assert_cmpstr (g_ptr_array_index (summary->warnings, 0), ==,
                       touched == 190 ? "Above the limit: 190.0 MiB of device memory were touched, in whole pages, the limit is 100.0 MiB; the run "
                                        "was planned for 200.0 MiB, before this limit was set."
                                      : "Above the limit: 210.0 MiB of device memory were touched, in whole pages, the limit is 100.0 MiB; the run "
                                        "was planned for 200.0 MiB, before this limit was set (10.0 MiB more than planned: 1.00 MiB rounded up "
                                        "to pages, 9.00 MiB not accounted for).");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ir/memory-summary/sums", test_sums);
  g_test_add_func ("/ir/memory-summary/moment", test_moment);
  g_test_add_func ("/ir/memory-summary/limit", test_limit);
  g_test_add_func ("/ir/memory-summary/rounding", test_rounding);
  g_test_add_func ("/ir/memory-summary/apart", test_apart);
  g_test_add_func ("/ir/memory-summary/limit-set-later", test_limit_set_later);
  g_test_add_func ("/ir/memory-summary/too-large", test_too_large);
  g_test_add_func ("/ir/memory-summary/outside", test_outside);
  g_test_add_func ("/ir/memory-summary/driver", test_driver);
  return g_test_run ();
}
