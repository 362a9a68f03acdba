/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kernels: sums by node and run, medians, what was planned, rates, and its CSV. */
#include "core/graph/text.h"
#include "profiler/device-times.h"
#include "profiler/kernel-table.h"
#include <string.h>

static void
add (GantryRecordingBuilder *builder, guint lane, guint kind, guint32 node, const char *name, gint64 begin, gint64 ns, guint64 bytes)
{
  const GantryEvent event = { .begin = begin,
                              .end = begin + ns,
                              .bytes = bytes,
                              .node = node,
                              .kind = (guint8) kind,
                              .lane = (guint8) lane,
                              .name = gantry_recording_builder_string (builder, name) };

  gantry_recording_builder_add (builder, &event);
}

/* Three runs: node 5 runs twice in each, and takes 30, 10 and 1000 ns; node 6 is copied out; one event has no node. */
static GantryRecording *
make (void)
{
  static const gint64 halves[] = { 15, 5, 500 };
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();

  for (guint run = 0; run < 3; run++)
    {
      gint64 at = 10000 * (gint64) run;

      gantry_recording_builder_add_run (builder, &(GantryRecordedRun){ at, at + 5000, 100 });
      add (builder, GANTRY_QUEUE_COMPUTE, GANTRY_EVENT_KERNEL, 5, "five", at, halves[run], 100);
      add (builder, GANTRY_QUEUE_COMPUTE, GANTRY_EVENT_WAIT, 5, "", at + 600, 900, 0);
      add (builder, GANTRY_QUEUE_COMPUTE, GANTRY_EVENT_KERNEL, 5, "recompute five", at + 2000, halves[run], 100);
      add (builder, GANTRY_QUEUE_TO_HOST, GANTRY_EVENT_COPY, 6, "six", at + 100, 2000, 4000);
      add (builder, GANTRY_QUEUE_TO_DEVICE, GANTRY_EVENT_COPY, 0, "copy to device", at + 7000, 2500, 5000); /* the next run's arguments */
    }
  add (builder, 5, GANTRY_EVENT_KERNEL, 0, "a \"foreign\", kernel", 50, 300, 0);
  return gantry_recording_builder_end (builder);
}

static GantryPlan *
make_plan (void)
{
  GantryPlan *plan = gantry_plan_new (4, 0);

  plan->n_init_steps = 1;
  plan->steps[0] = (GantryPlanStep){ .node = 5, .duration_us = 77, .init = 1 };
  plan->steps[1] = (GantryPlanStep){ .node = 5, .duration_us = 0.01 };
  plan->steps[2] = (GantryPlanStep){ .node = 6, .duration_us = 1, .queue = GANTRY_QUEUE_TO_HOST, .kind = GANTRY_STEP_COPY };
  plan->steps[3] = (GantryPlanStep){ .node = 5, .duration_us = 0.01, .kind = GANTRY_STEP_RECOMPUTE };
  return plan;
}

/* A loop of two trips, whose kernel has a row of its own, and is in no sum beside it; alone it is in all sums. */
static void
test_within (void)
{
  static const char text[] = "module \"m\" { func @main #1 (%1: f32[4]) -> (%2) { %2 = scan(%1) {body = @body #2, length = 2, n_carries = 1}: f32[4] } "
                             "func @body #2 (%3: f32[4]) -> (%4) { %4 = exponential(%3): f32[4] } }";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "test", &error);

  g_assert_no_error (error);
  for (guint with_loop = 0; with_loop < 2; with_loop++)
    {
      GantryRecordingBuilder *builder = gantry_recording_builder_new ();
      g_autoptr (GantryRecording) recording = NULL;
      g_autoptr (GantryKernelTable) table = NULL;
      const GantryKernelRow *rows;

      gantry_recording_builder_add_run (builder, &(GantryRecordedRun){ 0, 5000, 100 });
      if (with_loop)
        add (builder, GANTRY_QUEUE_COMPUTE, GANTRY_EVENT_KERNEL, 2, "scan: 2 trips", 0, 5000, 0);
      add (builder, GANTRY_LANE_RUNS + 1, GANTRY_EVENT_KERNEL, 4, "exp", 100, 1000, 32);
      add (builder, GANTRY_LANE_RUNS + 1, GANTRY_EVENT_KERNEL, 4, "exp", 2500, 2000, 32);
      recording = gantry_recording_builder_end (builder);
      table = gantry_kernel_table_new (recording, module, NULL, NULL);
      rows = (const GantryKernelRow *) (gpointer) table->rows->data;
      g_assert_cmpuint (table->rows->len, ==, 1 + with_loop);
      g_assert_cmpuint (rows[with_loop].node, ==, 4);
      g_assert_cmpuint (rows[with_loop].control, ==, with_loop ? 2 : 0);
      g_assert_cmpfloat (rows[with_loop].count, ==, 2);
      g_assert_cmpfloat (rows[with_loop].measured_us, ==, 3);
      g_assert_cmpfloat (table->measured_us, ==, with_loop ? 5 : 3);
      g_assert_cmpuint (table->n_events, ==, with_loop ? 1 : 2);
    }
}

/* What is faster than the roofline says has none: its bytes did not come from memory. */
static void
test_faster (void)
{
  g_autoptr (GantryRecording) recording = make ();
  g_autoptr (GantryPlan) plan = make_plan ();
  const GantryRates rates = { 0, 5e9, 1.9e9 };
  g_autoptr (GantryKernelTable) table = gantry_kernel_table_new (recording, NULL, plan, &rates);
  const GantryKernelRow *rows = (const GantryKernelRow *) (gpointer) table->rows->data;

  g_assert_cmpfloat_with_epsilon (gantry_kernel_row_achieved (&rows[0]), 2e9, 1);
  g_assert_cmpfloat (rows[0].reachable, ==, 0);
  g_assert_cmpfloat (gantry_kernel_row_achieved (&rows[1]), >, 5e9);
  g_assert_cmpfloat (rows[1].reachable, ==, 0);
}

static void
test_rows (void)
{
  g_autoptr (GantryRecording) recording = make ();
  g_autoptr (GantryPlan) plan = make_plan ();
  const GantryRates rates = { 0, 8e9, 2e9 };
  g_autoptr (GantryKernelTable) table = gantry_kernel_table_new (recording, NULL, plan, &rates);
  const GantryKernelRow *rows = (const GantryKernelRow *) (gpointer) table->rows->data;

  g_assert_cmpuint (table->n_runs, ==, 3);
  g_assert_cmpuint (table->rows->len, ==, 3);
  g_assert_cmpuint (table->n_events, ==, 10);
  g_assert_cmpint (table->total_ns, ==, 1040 + 6000 + 300);
  g_assert_cmpuint (rows[0].node, ==, 6); /* the longest first */
  g_assert_cmpfloat (rows[0].measured_us, ==, 2);
  g_assert_cmpfloat (rows[0].planned_us, ==, 1);
  g_assert_cmpuint (rows[0].bytes, ==, 4000);
  g_assert_cmpfloat_with_epsilon (gantry_kernel_row_achieved (&rows[0]), 2e9, 1);
  g_assert_cmpfloat_with_epsilon (rows[0].reachable, 2e9, 1); /* the link's */
  g_assert_cmpuint (rows[1].node, ==, 5);
  g_assert_cmpfloat (rows[1].measured_us, ==, 0.03); /* the median of the sums, the wait not in it */
  g_assert_cmpfloat (rows[1].planned_us, ==, 0.02);  /* what runs at load is no part of a run */
  g_assert_cmpfloat (rows[1].count, ==, 2);
  g_assert_cmpuint (rows[1].bytes, ==, 200);
  g_assert_cmpfloat_with_epsilon (rows[1].reachable, 8e9, 1);
  g_assert_cmpuint (rows[2].node, ==, 0);
  g_assert_cmpfloat (rows[2].planned_us, <, 0);
  g_assert_cmpfloat (rows[2].measured_us, ==, 0); /* in one run of three */
  g_assert_cmpint (rows[2].total_ns, ==, 300);
  g_assert_cmpfloat (table->measured_us, ==, rows[0].measured_us + rows[1].measured_us);
}

static void
test_csv (void)
{
  g_autoptr (GantryRecording) recording = make ();
  g_autoptr (GantryPlan) plan = make_plan ();
  g_autoptr (GantryKernelTable) table = gantry_kernel_table_new (recording, NULL, plan, NULL);
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  g_assert_true (gantry_kernel_table_write_csv (table, recording, NULL, stream, NULL, &error));
  g_assert_no_error (error);
  g_output_stream_write_all (stream, "", 1, NULL, NULL, NULL);
  text = g_strdup (g_memory_output_stream_get_data (G_MEMORY_OUTPUT_STREAM (stream)));
  lines = g_strsplit (text, "\r\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 5); /* names, three rows, and what follows the last end of line */
  g_assert_cmpint (g_str_has_prefix (lines[0], "node,name,operation,"), ==, TRUE);
  g_assert_cmpstr (lines[1], ==, "6,six,,,,copy,to host,3,6000,1,1,2,1,2,98.5222,4000,2,,,,,,");
  g_assert_nonnull (strstr (lines[3], "0,\"a \"\"foreign\"\", kernel\",,,,kernel,"));
}

/* What another program recorded has no plan: there work runs on after the step that launched it. */
static void
test_between_runs (void)
{
  g_autoptr (GantryRecording) recording = make ();
  g_autoptr (GantryPlan) none = gantry_plan_new (0, 0);
  GantryPlan *const plans[] = { NULL, none };

  for (guint i = 0; i < G_N_ELEMENTS (plans); i++)
    {
      g_autoptr (GantryKernelTable) table = gantry_kernel_table_new (recording, NULL, plans[i], NULL);
      const GantryKernelRow *rows = (const GantryKernelRow *) (gpointer) table->rows->data;

      g_assert_cmpuint (table->rows->len, ==, 4);
      g_assert_cmpuint (table->n_events, ==, 13);
      g_assert_cmpfloat (rows[0].measured_us, ==, 2.5);
      g_assert_cmpuint (rows[0].node, ==, 0);
    }
}

static void
test_empty (void)
{
  g_autoptr (GantryRecording) recording = gantry_recording_builder_end (gantry_recording_builder_new ());
  g_autoptr (GantryKernelTable) table = gantry_kernel_table_new (recording, NULL, NULL, NULL);

  g_assert_cmpuint (table->rows->len, ==, 0);
  g_assert_cmpuint (table->n_runs, ==, 1);
}

/* A kernel of two launches is executed once for both, and its step that recomputes it once more. */
static void
test_launches (void)
{
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  static const char *const names[] = { "pack", "multiply", "pack", "multiply" };
  const guint32 details[] = { gantry_recording_builder_detail (builder, &(GantryLaunchDetail){ .registers = 18 }),
                              gantry_recording_builder_detail (builder, &(GantryLaunchDetail){ .registers = 90 }) };

  for (guint run = 0; run < 2; run++)
    {
      gint64 at = 10000 * (gint64) run;

      gantry_recording_builder_add_run (builder, &(GantryRecordedRun){ at, at + 5000, 100 });
      for (guint i = 0; i < G_N_ELEMENTS (names); i++)
        gantry_recording_builder_add (builder, &(GantryEvent){ .begin = at + 100 * i,
                                                               .end = at + 100 * i + (i % 2 == 0 ? 20 : 80),
                                                               .detail = details[i % 2],
                                                               .node = 5,
                                                               .kind = GANTRY_EVENT_KERNEL,
                                                               .lane = GANTRY_QUEUE_COMPUTE,
                                                               .instruction = 3 + i / 2,
                                                               .name = gantry_recording_builder_string (builder, names[i]) });
    }
  {
    g_autoptr (GantryRecording) recording = gantry_recording_builder_end (builder);
    g_autoptr (GantryKernelTable) table = gantry_kernel_table_new (recording, NULL, NULL, NULL);
    const GantryKernelRow *row = &g_array_index (table->rows, GantryKernelRow, 0);

    g_assert_cmpuint (table->rows->len, ==, 1);
    g_assert_cmpfloat (row->count, ==, 4);
    g_assert_cmpfloat (row->executions, ==, 2);
    g_assert_cmpuint (gantry_recording_detail (recording, row->detail)->registers, ==, 90); /* of the longer launch */
  }
}

/* What a GPU takes of a run is from its first work to its last: not the host's way there, nor what is brought there before the runs or between them. */
static void
test_device_times (void)
{
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double)), launch = g_array_new (FALSE, FALSE, sizeof (double));

  add (builder, GANTRY_QUEUE_TO_DEVICE, GANTRY_EVENT_COPY, 7, "weights", -5000000, 4000000, 10);
  for (guint run = 0; run < 2; run++)
    {
      gint64 at = 10000000 * (gint64) run;

      gantry_recording_builder_add_run (builder, &(GantryRecordedRun){ at, at + 9000000, 100 });
      add (builder, GANTRY_QUEUE_COMPUTE, GANTRY_EVENT_KERNEL, 5, "five", at + 2000000, 1000000, 100);
      add (builder, GANTRY_QUEUE_COMPUTE, GANTRY_EVENT_WAIT, 5, "", at + 500000, 8000000, 0);
      add (builder, GANTRY_QUEUE_TO_DEVICE, GANTRY_EVENT_COPY, 7, "the next run's arguments", at + 9500000, 400000, 10);
      add (builder, GANTRY_QUEUE_TO_HOST, GANTRY_EVENT_COPY, 6, "six", at + 1500000, 5000000 + 1000000 * (gint64) run, 4000);
    }
  {
    g_autoptr (GantryRecording) recording = gantry_recording_builder_end (builder);
    g_autoptr (GantryRecording) foreign = make ();

    g_assert_true (gantry_recording_device_times (recording, times, launch));
    g_assert_cmpuint (times->len, ==, 2);
    g_assert_cmpfloat_with_epsilon (g_array_index (times, double, 0), 5, 1e-9);
    g_assert_cmpfloat_with_epsilon (g_array_index (times, double, 1), 6, 1e-9);
    g_assert_cmpfloat_with_epsilon (g_array_index (launch, double, 1), 1.5, 1e-9);
    g_assert_true (gantry_recording_device_times (foreign, times, NULL));
  }
  {
    GantryRecordingBuilder *idle = gantry_recording_builder_new ();
    g_autoptr (GantryRecording) recording = NULL;

    gantry_recording_builder_add_run (idle, &(GantryRecordedRun){ 0, 5000, 100 });
    recording = gantry_recording_builder_end (idle);
    g_array_set_size (times, 0);
    g_assert_false (gantry_recording_device_times (recording, times, NULL));
    g_assert_cmpuint (times->len, ==, 0);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernel-table/rows", test_rows);
  g_test_add_func ("/kernel-table/within", test_within);
  g_test_add_func ("/kernel-table/faster", test_faster);
  g_test_add_func ("/kernel-table/csv", test_csv);
  g_test_add_func ("/kernel-table/launches", test_launches);
  g_test_add_func ("/kernel-table/device-times", test_device_times);
  g_test_add_func ("/kernel-table/empty", test_empty);
  g_test_add_func ("/kernel-table/between-runs", test_between_runs);
  return g_test_run ();
}
