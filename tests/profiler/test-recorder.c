/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU recorder told by hand, a plan as a recording, and the export read back as JSON. */
#include "core/graph/text.h"
#include "profiler/overlap.h"
#include "tests/profiler/make-recording.h"
#include "tests/random-seed.h"
#include <json-glib/json-glib.h>
#include <string.h>

/* %1 -> kernel a (%2) -> copied to host (%3). Buffer 2 shares the place of buffer 0. */
static GantryExecutable *
some_executable (void)
{
  static const char text[] = "module \"m\" { func @main #1 (%1 \"in\": f32[16]) -> (%3) { "
                             "%2 \"act\" = exponential(%1): f32[16] %3 \"out\" = copy(%2): f32[16] } }";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  GantryExecutable *e = g_new0 (GantryExecutable, 1);

  g_atomic_ref_count_init (&e->ref_count);
  e->module = gantry_module_from_text (context, text, -1, "test", &error);
  g_assert_no_error (error);
  e->plan = gantry_plan_new (2, 3);
  for (guint32 i = 0; i < 3; i++)
    e->plan->buffers[i] = (GantryPlanBuffer){ .node = i + 1, .shares = GANTRY_NO_BUFFER, .size = 60, .end = 1 };
  e->plan->buffers[0].end = 0;
  e->plan->buffers[1].offset = 64;
  e->plan->buffers[2].shares = 0;
  e->plan->buffers[2].begin = 1;
  e->plan->arena_bytes[GANTRY_MEMORY_DEVICE] = 128;
  gantry_plan_sum_live (e->plan);
  e->plan->steps[0] = (GantryPlanStep){ .node = 2, .queue = GANTRY_QUEUE_COMPUTE, .duration_us = 1.5 };
  e->plan->steps[1] = (GantryPlanStep){ .node = 3, .queue = GANTRY_QUEUE_TO_HOST, .kind = GANTRY_STEP_COPY, .start_us = 1.5, .duration_us = 2.25 };
  e->plan->total_us = 3.75;
  e->n_kernels = 1;
  e->kernels = g_new0 (GantryKernel, 1);
  e->kernels[0].name = g_strdup ("kernel_act");
  e->kernels[0].bytes = 128;
  e->n_instructions = 3;
  e->instructions = g_new0 (GantryInstruction, 3);
  e->instructions[0] = (GantryInstruction){ .kind = GANTRY_INSTRUCTION_LAUNCH, .node = 2 };
  e->instructions[1] = (GantryInstruction){ .kind = GANTRY_INSTRUCTION_WAIT, .queue = GANTRY_QUEUE_TO_HOST };
  e->instructions[2] = (GantryInstruction){ .kind = GANTRY_INSTRUCTION_COPY, .queue = GANTRY_QUEUE_TO_HOST, .node = 3, .step = 1, .bytes = 64 };
  return e;
}

static void
tell_run (const GantryObserver *o, const GantryExecutable *executable, gint64 t)
{
  o->begin_run (o->self, executable, t);
  o->memory (o->self, t, 2, 128);
  o->instruction (o->self, 0, t + 10, t + 110);
  o->wait (o->self, 1, t + 5, t + 111);
  o->memory (o->self, t + 110, 3, 64);
  o->instruction (o->self, 2, t + 112, t + 200);
  o->end_run (o->self, t + 250);
}

static void
expect_event (const GantryRecording *recording, guint lane, guint64 index, GantryEventKind kind, gint64 begin, gint64 end, guint32 node, guint64 bytes,
              const char *name)
{
  GantryEvent event;

  gantry_recording_get (recording, lane, index, &event);
  g_assert_cmpint (event.kind, ==, kind);
  g_assert_cmpint (event.begin, ==, begin);
  g_assert_cmpint (event.end, ==, end);
  g_assert_cmpuint (event.node, ==, node);
  g_assert_cmpuint (event.bytes, ==, bytes);
  g_assert_cmpstr (gantry_recording_string (recording, event.name), ==, name);
}

static void
test_recorder (void)
{
  g_autoptr (GantryExecutable) executable = some_executable ();
  g_autoptr (GantryCpuRecorder) recorder = gantry_cpu_recorder_new ("cpu, 2 threads");
  g_autoptr (GantryRecording) recording = NULL;
  g_autoptr (GantryRecording) empty = NULL;
  g_autoptr (GHashTable) measured = NULL;
  GantryMemoryEvent memory;

  tell_run (gantry_cpu_recorder_observer (recorder), executable, 1000000);
  tell_run (gantry_cpu_recorder_observer (recorder), executable, 1000300);
  recording = gantry_cpu_recorder_take (recorder);
  g_assert_cmpint (gantry_recording_origin (recording), ==, 1000000);
  g_assert_cmpstr (gantry_recording_device (recording), ==, "cpu, 2 threads");
  g_assert_cmpuint (gantry_recording_n_events (recording, GANTRY_QUEUE_COMPUTE), ==, 2);
  g_assert_cmpuint (gantry_recording_n_events (recording, GANTRY_QUEUE_TO_HOST), ==, 4);
  expect_event (recording, 0, 0, GANTRY_EVENT_KERNEL, 10, 110, 2, 128, "kernel_act");
  expect_event (recording, 0, 1, GANTRY_EVENT_KERNEL, 310, 410, 2, 128, "kernel_act");
  expect_event (recording, 1, 0, GANTRY_EVENT_WAIT, 5, 111, 0, 0, "wait for kernel_act");
  expect_event (recording, 1, 1, GANTRY_EVENT_COPY, 112, 200, 3, 64, "out to host");
  expect_event (recording, GANTRY_LANE_RUNS, 1, GANTRY_EVENT_RUN, 300, 550, 0, 0, "run 2");
  g_assert_cmpuint (gantry_recording_n_runs (recording), ==, 2);
  g_assert_cmpuint (gantry_recording_peak_bytes (recording), ==, 128);
  g_assert_cmpuint (gantry_recording_n_memory_events (recording), ==, 6);
  gantry_recording_get_memory (recording, 1, &memory);
  g_assert_true (memory.release);
  g_assert_cmpuint (memory.buffer, ==, GANTRY_NO_BUFFER);
  g_assert_cmpuint (memory.node, ==, 3);
  g_assert_cmpuint (memory.bytes, ==, 64);
  g_assert_cmpuint (gantry_recording_memory_at (recording, GANTRY_MEMORY_DEVICE, 50), ==, 128);
  g_assert_cmpuint (gantry_recording_memory_at (recording, GANTRY_MEMORY_DEVICE, 150), ==, 64);
  g_assert_cmpuint (gantry_recording_memory_at (recording, GANTRY_MEMORY_DEVICE, 250), ==, 0);
  measured = gantry_recording_measured_us (recording);
  /* The 10 ns from the begin of the run on belong to it; what was copied on another queue is no work of its node. */
  g_assert_cmpfloat_with_epsilon (*(double *) g_hash_table_lookup (measured, GUINT_TO_POINTER (2)), 0.11, 1e-9);
  g_assert_null (g_hash_table_lookup (measured, GUINT_TO_POINTER (3)));
  /* Taken, it is empty, and can go on. */
  empty = gantry_cpu_recorder_take (recorder);
  g_assert_cmpuint (gantry_recording_n_runs (empty), ==, 0);
}

/* Trips, and the arm of a branch in one of them, which lies in the lane below. */
static void
test_regions (void)
{
  static const GantryRegionSpan spans[] = {
    { 1000010, 1000100, 2, GANTRY_CONTROL_WHILE, GANTRY_CONTROL_BODY, 0 },
    { 1000020, 1000050, 3, GANTRY_CONTROL_BRANCH, GANTRY_CONTROL_ELSE, 0 },
    { 1000100, 1000200, 2, GANTRY_CONTROL_WHILE, GANTRY_CONTROL_BODY, 1 },
  };
  g_autoptr (GantryExecutable) executable = some_executable (), body = some_executable ();
  g_autoptr (GantryCpuRecorder) recorder = gantry_cpu_recorder_new ("cpu");
  g_autoptr (GantryRecording) recording = NULL;
  const GantryRegionEvent events[] = { { 1000025, 1000045, body, 0 }, { 1000060, 1000090, body, 2 }, { 1000110, 1000180, body, 0 } };
  const GantryObserver *o = gantry_cpu_recorder_observer (recorder);
  const guint lane = GANTRY_LANE_RUNS + 1;

  o->begin_run (o->self, executable, 1000000);
  o->spans (o->self, spans, G_N_ELEMENTS (spans), 7);
  o->region_events (o->self, events, G_N_ELEMENTS (events), 5);
  o->end_run (o->self, 1000250);
  recording = gantry_cpu_recorder_take (recorder);
  g_assert_cmpstr (gantry_recording_lane_name (recording, lane), ==, "control");
  g_assert_cmpuint (gantry_recording_n_events (recording, lane), ==, 2);
  g_assert_cmpuint (gantry_recording_n_events (recording, lane + 1), ==, 3);
  g_assert_cmpuint (gantry_recording_n_events (recording, lane + 2), ==, 1);
  for (guint depth = 0; depth < 3; depth++)
    g_assert_true (gantry_recording_lane_is_control (recording, lane + depth));
  g_assert_false (gantry_recording_lane_is_control (recording, GANTRY_QUEUE_COMPUTE));
  expect_event (recording, lane, 0, GANTRY_EVENT_RANGE, 10, 100, 2, 0, "trip 1 of act");
  expect_event (recording, lane, 1, GANTRY_EVENT_RANGE, 100, 200, 2, 0, "trip 2 of act");
  expect_event (recording, lane + 1, 0, GANTRY_EVENT_RANGE, 20, 50, 3, 0, "else of out");
  expect_event (recording, lane + 1, 1, GANTRY_EVENT_COPY, 60, 90, 3, 64, "out to host");
  expect_event (recording, lane + 1, 2, GANTRY_EVENT_KERNEL, 110, 180, 2, 128, "kernel_act");
  expect_event (recording, lane + 2, 0, GANTRY_EVENT_KERNEL, 25, 45, 2, 128, "kernel_act");
  g_assert_cmpuint (gantry_recording_n_notes (recording), ==, 2);
  g_assert_true (g_str_has_prefix (gantry_recording_note (recording, 0), "5 kernels within loops"));
  g_assert_true (g_str_has_prefix (gantry_recording_note (recording, 1), "7 trips and arms are not shown"));
}

/* However many runs there are, what is kept is the newest of them, within the budget, and it says so. */
static void
test_budget (void)
{
  g_autoptr (GantryExecutable) executable = some_executable ();
  g_autoptr (GantryCpuRecorder) recorder = gantry_cpu_recorder_new ("cpu");
  g_autoptr (GantryRecording) recording = NULL, next = NULL;
  const guint n = 100000;
  GantryEvent newest;
  guint kept;

  gantry_cpu_recorder_set_budget (recorder, 100000);
  for (guint i = 0; i < n; i++)
    tell_run (gantry_cpu_recorder_observer (recorder), executable, 1000000 + 300 * (gint64) i);
  recording = gantry_cpu_recorder_take (recorder);
  kept = gantry_recording_n_runs (recording);
  /* A run of three events and two of memory takes more than a hundred bytes. */
  g_assert_cmpuint (kept, >, 100);
  g_assert_cmpuint (kept, <, 1000);
  g_assert_cmpuint (gantry_recording_n_events (recording, GANTRY_QUEUE_COMPUTE), ==, kept);
  gantry_recording_get (recording, GANTRY_LANE_RUNS, kept - 1, &newest);
  g_assert_cmpstr (gantry_recording_string (recording, newest.name), ==, "run 100000");
  g_assert_cmpint (gantry_recording_origin (recording), ==, 1000000 + 300 * (gint64) (n - kept));
  g_assert_cmpuint (gantry_recording_n_notes (recording), ==, 1);
  g_assert_nonnull (strstr (gantry_recording_note (recording, 0), "of 100000 runs"));
  /* One run is kept whole, whatever it takes; and a recorder that is taken begins anew. */
  gantry_cpu_recorder_set_budget (recorder, 1);
  tell_run (gantry_cpu_recorder_observer (recorder), executable, 1000000);
  next = gantry_cpu_recorder_take (recorder);
  g_assert_cmpuint (gantry_recording_n_runs (next), ==, 1);
  g_assert_cmpuint (gantry_recording_n_notes (next), ==, 0);
}

static void
test_from_plan (void)
{
  g_autoptr (GantryExecutable) executable = some_executable ();
  g_autoptr (GantryRecording) recording = gantry_recording_from_plan (executable->module, executable->plan);

  expect_event (recording, 0, 0, GANTRY_EVENT_KERNEL, 0, 1500, 2, 128, "act");
  expect_event (recording, 1, 0, GANTRY_EVENT_COPY, 1500, 3750, 3, 128, "out to host");
  g_assert_cmpuint (gantry_recording_n_runs (recording), ==, 1);
  g_assert_cmpint (gantry_recording_run (recording, 0)->end, ==, 3750);
  g_assert_cmpuint (gantry_recording_peak_bytes (recording), ==, 128);
  /* Two places, of which the first is shared; both are there until the end. */
  g_assert_cmpuint (gantry_recording_n_memory_events (recording), ==, 4);
  g_assert_cmpuint (gantry_recording_memory_at (recording, GANTRY_MEMORY_DEVICE, 3000), ==, 128);
  g_assert_cmpuint (gantry_recording_memory_at (recording, GANTRY_MEMORY_DEVICE, 3750), ==, 0);
}

/* The peak of a plan and its curve are of all parts: what is no value is there all the time. */
static void
test_from_plan_parts (void)
{
  g_autoptr (GantryExecutable) executable = some_executable ();
  g_autoptr (GantryRecording) recording = NULL;

  executable->plan->constant_bytes = 1000;
  executable->plan->packed_bytes = 200;
  executable->plan->code_bytes = 24;
  recording = gantry_recording_from_plan (executable->module, executable->plan);
  g_assert_cmpuint (gantry_recording_peak_bytes (recording), ==, 128 + 1224);
  g_assert_cmpuint (gantry_recording_peak_bytes (recording), ==, gantry_plan_memory_bytes (executable->plan, GANTRY_MEMORY_DEVICE));
  g_assert_cmpuint (gantry_recording_memory_at (recording, GANTRY_MEMORY_DEVICE, 0), ==, 128 + 1224);
  g_assert_cmpuint (gantry_recording_memory_at (recording, GANTRY_MEMORY_DEVICE, 3000), ==, 128 + 1224);
  g_assert_cmpuint (gantry_recording_memory_at (recording, GANTRY_MEMORY_DEVICE, 3750), ==, 1224);
}

/* A training step in small: the residual %2 goes to the host and comes back, %1 is computed again. */
static void
test_from_plan_queues (void)
{
  static const char text[] = "module \"m\" { func @main #1 (%1 \"in\": f32[16]) -> (%4) { "
                             "%2 \"act\" = exponential(%1): f32[16] %3 \"more\" = exponential(%2): f32[16] "
                             "%4 \"grad\" = multiply(%3, %2): f32[16] } }";
  static const guint32 refs[] = { 0, 1, 1, 2, 2, 3, 0, 1, 1, 3, 0 }, waits[] = { 0, 1, 3 };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "test", &error);
  g_autoptr (GantryPlan) plan = gantry_plan_new (5, 4);
  g_autoptr (GantryRecording) recording = NULL;
  GantryOverlap overlap;

  g_assert_no_error (error);
  for (guint32 i = 0; i < 4; i++)
    plan->buffers[i] = (GantryPlanBuffer){ .node = 2, .shares = GANTRY_NO_BUFFER, .size = 64, .offset = 64 * i, .end = 4 };
  plan->buffers[2].memory = GANTRY_MEMORY_PINNED_HOST;
  gantry_plan_set_pools (plan, G_N_ELEMENTS (refs), G_N_ELEMENTS (waits));
  memcpy (plan->refs, refs, sizeof refs);
  memcpy (plan->waits, waits, sizeof waits);
  plan->steps[0] = (GantryPlanStep){ .node = 2, .n_refs = 2, .duration_us = 10 };
  plan->steps[1] = (GantryPlanStep){ .node = 2,
                                     .queue = GANTRY_QUEUE_TO_HOST,
                                     .kind = GANTRY_STEP_COPY,
                                     .first_ref = 2,
                                     .n_refs = 2,
                                     .n_waits = 1,
                                     .start_us = 10,
                                     .duration_us = 4,
                                     .wait_us = 10 };
  plan->steps[2] = (GantryPlanStep){ .node = 3, .first_ref = 2, .n_refs = 2, .start_us = 10, .duration_us = 10 };
  plan->steps[3] = (GantryPlanStep){ .node = 2,
                                     .queue = GANTRY_QUEUE_TO_DEVICE,
                                     .kind = GANTRY_STEP_COPY,
                                     .first_ref = 4,
                                     .n_refs = 2,
                                     .first_wait = 1,
                                     .n_waits = 1,
                                     .start_us = 14,
                                     .duration_us = 8 };
  plan->steps[4] = (GantryPlanStep){ .node = 3,
                                     .kind = GANTRY_STEP_RECOMPUTE,
                                     .first_ref = 8,
                                     .n_refs = 3,
                                     .instance = 1,
                                     .first_wait = 2,
                                     .n_waits = 1,
                                     .start_us = 22,
                                     .duration_us = 10,
                                     .wait_us = 2 };
  plan->total_us = 32;
  recording = gantry_recording_from_plan (module, plan);
  expect_event (recording, 0, 0, GANTRY_EVENT_KERNEL, 0, 10000, 2, 128, "act");
  expect_event (recording, 0, 1, GANTRY_EVENT_KERNEL, 10000, 20000, 3, 128, "more");
  expect_event (recording, 0, 2, GANTRY_EVENT_WAIT, 20000, 22000, 3, 0, "wait for act to device");
  expect_event (recording, 0, 3, GANTRY_EVENT_KERNEL, 22000, 32000, 3, 128, "recompute more");
  expect_event (recording, 1, 0, GANTRY_EVENT_WAIT, 0, 10000, 2, 0, "wait for act");
  expect_event (recording, 1, 1, GANTRY_EVENT_COPY, 10000, 14000, 2, 64, "act to host");
  expect_event (recording, 2, 0, GANTRY_EVENT_COPY, 14000, 22000, 2, 64, "act to device");
  gantry_recording_overlap (recording, -1, &overlap);
  g_assert_cmpint (overlap.copy_ns, ==, 12000);
  g_assert_cmpint (overlap.hidden_ns, ==, 10000);
  g_assert_cmpint (overlap.queues[GANTRY_QUEUE_COMPUTE].wait_ns, ==, 2000);
}

static void
test_chrome (void)
{
  g_autoptr (GRand) random = test_rand (41);
  g_autoptr (GantryRecording) recording = make_recording (random, 3000, 1000000);
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;
  JsonArray *events;
  guint64 spans = 0, samples = 0, expected = 0;
  double length = 0;

  g_assert_true (gantry_recording_write_chrome (recording, stream, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (g_output_stream_close (stream, NULL, NULL));
  bytes = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  g_assert_true (json_parser_load_from_data (parser, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes), &error));
  g_assert_no_error (error);
  events = json_object_get_array_member (json_node_get_object (json_parser_get_root (parser)), "traceEvents");
  for (guint i = 0; i < json_array_get_length (events); i++)
    {
      JsonObject *event = json_array_get_object_element (events, i);
      const char *phase = json_object_get_string_member (event, "ph");

      if (strcmp (phase, "X") == 0)
        {
          spans++;
          length += json_object_get_double_member (event, "dur");
          g_assert_cmpint (json_object_get_string_member (event, "name")[0], !=, '\0');
        }
      else if (strcmp (phase, "C") == 0)
        samples++;
    }
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    for (guint64 i = 0; i < gantry_recording_n_events (recording, lane); i++)
      {
        GantryEvent event;

        gantry_recording_get (recording, lane, i, &event);
        length -= (double) (event.end - event.begin) / 1e3;
        expected++;
      }
  g_assert_cmpuint (spans, ==, expected);
  g_assert_cmpuint (samples, ==, gantry_recording_n_memory_events (recording) + 1000);
  g_assert_cmpfloat_with_epsilon (length, 0, 1e-3);
}

static void
test_chrome_cancelled (void)
{
  g_autoptr (GRand) random = test_rand (42);
  g_autoptr (GantryRecording) recording = make_recording (random, 3000, 1000000);
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_false (gantry_recording_write_chrome (recording, stream, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/profiler/recorder/runs", test_recorder);
  g_test_add_func ("/profiler/recorder/regions", test_regions);
  g_test_add_func ("/profiler/recorder/budget", test_budget);
  g_test_add_func ("/profiler/recorder/from-plan", test_from_plan);
  g_test_add_func ("/profiler/recorder/from-plan-parts", test_from_plan_parts);
  g_test_add_func ("/profiler/recorder/from-plan-queues", test_from_plan_queues);
  g_test_add_func ("/profiler/recorder/chrome", test_chrome);
  g_test_add_func ("/profiler/recorder/chrome-cancelled", test_chrome_cancelled);
  return g_test_run ();
}
