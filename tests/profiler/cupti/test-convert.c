/* SPDX-License-Identifier: Apache-2.0 */
/* Captures laid out as recordings: queues, nodes, ranges, notes; clocks; and the .cupti file. */
#include "profiler/cupti/clock.h"
#include "profiler/cupti/convert.h"
#include "profiler/cpu/recorder.h"
#include "core/base/error.h"
#include "tests/profiler/cupti/make-executable.h"
#include "tests/random-seed.h"
#include "tools/cupti-sample.h"
#include <string.h>

#define BEGIN 5000000

static const CuptiSampleOptions some = { .seed = 5, .steps = 10, .kernels = 20, .begin = BEGIN, .buffer_bytes = 30000, .sample_ns = 50000 };

static guint
lane_called (const GantryRecording *recording, const char *name)
{
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    if (g_strcmp0 (gantry_recording_lane_name (recording, lane), name) == 0)
      return lane;
  g_error ("no lane \"%s\"", name);
}

static gboolean
has_note (const GantryRecording *recording, const char *part)
{
  for (guint i = 0; i < gantry_recording_n_notes (recording); i++)
    if (strstr (gantry_recording_note (recording, i), part) != NULL)
      return TRUE;
  return FALSE;
}

static void
expect_totals (const GantryRecording *recording, const CuptiSampleTotals *totals)
{
  GantryEventTotals found[GANTRY_N_EVENT_KINDS];

  gantry_recording_totals (recording, found);
  g_assert_cmpuint (found[GANTRY_EVENT_KERNEL].count, ==, totals->kernels);
  g_assert_cmpuint (found[GANTRY_EVENT_COPY].count, ==, totals->copies);
  g_assert_cmpuint (found[GANTRY_EVENT_FILL].count, ==, totals->sets);
  g_assert_cmpuint (found[GANTRY_EVENT_CALL].count, ==, totals->calls);
  g_assert_cmpuint (found[GANTRY_EVENT_SYNC].count, ==, totals->syncs);
  g_assert_cmpuint (found[GANTRY_EVENT_RANGE].count, ==, totals->ranges);
  g_assert_cmpuint (found[GANTRY_EVENT_OVERHEAD].count, ==, totals->overheads);
  g_assert_cmpuint (found[GANTRY_EVENT_MARK].count, ==, totals->instants + totals->memory);
}

static void
test_sample (void)
{
  CuptiSampleTotals totals;
  g_autoptr (GantryCuptiCapture) capture = cupti_sample_new (&some, &totals);
  g_autoptr (GantryExecutable) executable = make_executable (20);
  g_autoptr (GantryRecording) recording = gantry_cupti_convert (capture, NULL, 0, executable, NULL);
  const GantryLaunchDetail *detail;
  GantryEvent event, call;
  gint64 begin, end;
  guint calls;

  expect_totals (recording, &totals);
  g_assert_cmpuint (gantry_recording_n_notes (recording), ==, 0);
  g_assert_cmpstr (gantry_recording_device (recording), ==, "a GPU that was made up (GH100)");
  g_assert_cmpint (gantry_recording_origin (recording), ==, BEGIN);
  /* The queues are found by what their streams did. */
  g_assert_cmpuint (gantry_recording_n_events (recording, GANTRY_QUEUE_COMPUTE), ==, totals.kernels);
  g_assert_cmpuint (gantry_recording_n_events (recording, GANTRY_QUEUE_TO_HOST), ==, 10);
  g_assert_cmpuint (gantry_recording_n_events (recording, GANTRY_QUEUE_TO_DEVICE), ==, 10);
  g_assert_cmpuint (gantry_recording_n_events (recording, lane_called (recording, "stream 20")), ==, 10);
  /* The 43rd kernel is instruction 2 of the third step. */
  gantry_recording_get (recording, GANTRY_QUEUE_COMPUTE, 42, &event);
  g_assert_cmpuint (event.instruction, ==, 2);
  g_assert_cmpuint (event.node, ==, 2);
  g_assert_cmpuint (event.bytes, ==, 128);
  g_assert_cmpstr (gantry_recording_string (recording, event.name), ==, "fusion_5");
  detail = gantry_recording_detail (recording, event.detail);
  g_assert_nonnull (detail);
  g_assert_cmpuint (detail->grid[0], ==, 132 + 5);
  g_assert_cmpuint (detail->block[0], ==, 128);
  g_assert_cmpuint (detail->registers, ==, 32 + 5);
  g_assert_cmpuint (detail->dynamic_shared, ==, 1024 * 5);
  g_assert_cmpuint (detail->local_bytes, ==, 16);
  g_assert_cmpuint (detail->stream, ==, CUPTI_SAMPLE_COMPUTE);
  /* Its call has the same correlation id, and came before. */
  calls = lane_called (recording, "thread 4711: calls");
  for (guint64 i = 0; i < gantry_recording_n_events (recording, calls); i++)
    {
      gantry_recording_get (recording, calls, i, &call);
      if (call.correlation == event.correlation)
        break;
    }
  g_assert_cmpuint (call.correlation, ==, event.correlation);
  g_assert_cmpint (call.end, <=, event.begin);
  g_assert_cmpstr (gantry_recording_string (recording, call.name), ==, "cuLaunchKernelEx");
  gantry_recording_get (recording, GANTRY_QUEUE_TO_HOST, 0, &event);
  g_assert_cmpstr (gantry_recording_string (recording, event.name), ==, "out to host");
  g_assert_cmpuint (event.node, ==, 3);
  g_assert_cmpuint (event.bytes, ==, (guint64) (event.end - event.begin) * 50);
  /* Ranges nest: the inner one and the instant, which lies in the outer one too, have a lane below. */
  g_assert_cmpuint (gantry_recording_n_events (recording, lane_called (recording, "thread 4711: NVTX, sample")), ==, 10);
  g_assert_cmpuint (gantry_recording_n_events (recording, lane_called (recording, "thread 4711: NVTX, sample, 2")), ==, 20);
  g_assert_cmpuint (gantry_recording_n_counters (recording), ==, 3);
  gantry_recording_range (recording, &begin, &end);
  g_assert_cmpint (begin, ==, 0);
  g_assert_cmpint (end, >=, totals.last - BEGIN);
}

/* Without an executable nothing is tied, but all is there. */
static void
test_unknown_program (void)
{
  CuptiSampleTotals totals;
  g_autoptr (GantryCuptiCapture) capture = cupti_sample_new (&some, &totals);
  g_autoptr (GantryRecording) recording = gantry_cupti_convert (capture, NULL, 0, NULL, NULL);
  g_autoptr (GantryExecutable) other = make_executable (1);
  g_autoptr (GantryRecording) wrong = gantry_cupti_convert (capture, NULL, 0, other, NULL);
  guint lane = lane_called (recording, "stream 7");
  GantryEvent event;

  expect_totals (recording, &totals);
  g_assert_cmpuint (gantry_recording_n_events (recording, GANTRY_QUEUE_COMPUTE), ==, 0);
  gantry_recording_get (recording, lane, 3, &event);
  g_assert_cmpuint (event.instruction, ==, GANTRY_NO_INSTRUCTION);
  g_assert_cmpuint (event.node, ==, 0);
  expect_totals (wrong, &totals);
  g_assert_true (has_note (wrong, "marked with instructions that the executable does not have"));
}

/* What the observer was told comes in, on the same axis; and all of it when CUPTI gave nothing. */
static void
test_observed (void)
{
  CuptiSampleTotals totals;
  g_autoptr (GantryCuptiCapture) capture = cupti_sample_new (&some, &totals);
  g_autoptr (GantryCuptiCapture) nothing = gantry_cupti_capture_new (CUPTI_VERSION_13_0);
  g_autoptr (GantryExecutable) executable = make_executable (20);
  g_autoptr (GantryCpuRecorder) recorder = gantry_cpu_recorder_new (NULL);
  const GantryObserver *o = gantry_cpu_recorder_observer (recorder);
  g_autoptr (GantryRecording) observed = NULL;
  g_autoptr (GantryRecording) recording = NULL;
  g_autoptr (GantryRecording) stamps = NULL;
  GantryCuptiRun run = { BEGIN - 1000, G_MAXINT64 / 4, executable };
  GantryEvent event;

  o->begin_run (o->self, executable, BEGIN - 1000);
  o->memory (o->self, BEGIN, 1, 64);
  o->instruction (o->self, 0, BEGIN + 10, BEGIN + 110);
  o->wait (o->self, 21, BEGIN + 20, BEGIN + 50);
  o->end_run (o->self, totals.last);
  observed = gantry_cpu_recorder_take (recorder);
  recording = gantry_cupti_convert (capture, &run, 1, NULL, observed);
  g_assert_cmpint (gantry_recording_origin (recording), ==, BEGIN - 1000);
  g_assert_cmpuint (gantry_recording_n_runs (recording), ==, 1);
  g_assert_cmpuint (gantry_recording_n_memory_events (recording), ==, 2);
  g_assert_cmpuint (gantry_recording_n_events (recording, GANTRY_QUEUE_COMPUTE), ==, totals.kernels);
  g_assert_cmpuint (gantry_recording_n_events (recording, GANTRY_QUEUE_TO_DEVICE), ==, 11);
  gantry_recording_get (recording, GANTRY_QUEUE_TO_DEVICE, 0, &event);
  g_assert_cmpuint (event.kind, ==, GANTRY_EVENT_WAIT);
  g_assert_cmpint (event.begin, ==, 1020);
  gantry_recording_get (recording, GANTRY_QUEUE_COMPUTE, 0, &event);
  g_assert_cmpuint (event.instruction, ==, 0);
  stamps = gantry_cupti_convert (nothing, &run, 1, NULL, observed);
  g_assert_cmpuint (gantry_recording_n_events (stamps, GANTRY_QUEUE_COMPUTE), ==, 1);
  g_assert_true (has_note (stamps, "CUPTI gave no work of the device"));
}

/* Records without times, dropped ones, open ranges, ends without begins, buffers that break off: all in notes. */
static void
test_notes (void)
{
  g_autoptr (GantryCuptiCapture) capture = gantry_cupti_capture_new (CUPTI_VERSION_13_0);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GantryRecording) recording = NULL;
  gsize at;

  capture->is_monotonic = TRUE;
  capture->dropped = 12;
  gantry_cupti_capture_note (capture, "privileges are missing");
  cupti_sample_record (bytes, CUPTI_KIND_CONCURRENT_KERNEL); /* times 0 */
  at = cupti_sample_record (bytes, CUPTI_KIND_CONCURRENT_KERNEL);
  cupti_sample_set (bytes, at + KERNEL_START, 900, 8);
  cupti_sample_set (bytes, at + KERNEL_END, 800, 8);
  at = cupti_sample_record (bytes, CUPTI_KIND_DRIVER);
  cupti_sample_set (bytes, at + API_START, 100, 8);
  cupti_sample_set (bytes, at + API_END, G_MAXUINT64, 8);
  at = cupti_sample_record (bytes, CUPTI_KIND_MARKER);
  cupti_sample_set (bytes, at + MARKER_FLAGS, CUPTI_MARKER_START, 4);
  cupti_sample_set (bytes, at + MARKER_TIME, 1000, 8);
  cupti_sample_set (bytes, at + MARKER_ID, 5, 4);
  at = cupti_sample_record (bytes, CUPTI_KIND_MARKER);
  cupti_sample_set (bytes, at + MARKER_FLAGS, CUPTI_MARKER_END, 4);
  cupti_sample_set (bytes, at + MARKER_TIME, 1500, 8);
  cupti_sample_set (bytes, at + MARKER_ID, 6, 4);
  g_byte_array_append (bytes, (const guint8 *) "\x0a\0\0\0cut", 7);
  gantry_cupti_capture_add_buffer (capture, g_bytes_new (bytes->data, bytes->len), NULL, 0, NULL, 0);
  recording = gantry_cupti_convert (capture, NULL, 0, NULL, NULL);
  g_assert_true (has_note (recording, "privileges are missing"));
  g_assert_true (has_note (recording, "12 records were dropped"));
  g_assert_true (has_note (recording, "1 records have no times"));
  g_assert_true (has_note (recording, "2 records or samples have impossible times"));
  g_assert_true (has_note (recording, "1 NVTX ranges had not ended"));
  g_assert_true (has_note (recording, "1 NVTX ranges began before"));
  g_assert_true (has_note (recording, "Activity buffer 1 was read up to byte 584"));
}

/* The end of a range may stand in an earlier buffer than its begin. */
static void
test_range_across_buffers (void)
{
  g_autoptr (GantryCuptiCapture) capture = gantry_cupti_capture_new (CUPTI_VERSION_13_0);
  g_autoptr (GantryRecording) recording = NULL;
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];

  capture->is_monotonic = TRUE;
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GByteArray) bytes = g_byte_array_new ();
      gsize at = cupti_sample_record (bytes, CUPTI_KIND_MARKER);

      cupti_sample_set (bytes, at + MARKER_FLAGS, i == 0 ? CUPTI_MARKER_END : CUPTI_MARKER_START, 4);
      cupti_sample_set (bytes, at + MARKER_TIME, i == 0 ? 700 : 200, 8);
      cupti_sample_set (bytes, at + MARKER_ID, 3, 4);
      gantry_cupti_capture_add_buffer (capture, g_bytes_new (bytes->data, bytes->len), NULL, 0, NULL, 0);
    }
  recording = gantry_cupti_convert (capture, NULL, 0, NULL, NULL);
  gantry_recording_totals (recording, totals);
  g_assert_cmpuint (totals[GANTRY_EVENT_RANGE].count, ==, 1);
  g_assert_cmpint (totals[GANTRY_EVENT_RANGE].total_ns, ==, 500);
  g_assert_cmpuint (gantry_recording_n_notes (recording), ==, 0);
}

/* A kernel of a replayed graph is tied by the node that was marked when the graph was made. */
static void
test_graph_node (void)
{
  g_autoptr (GantryCuptiCapture) capture = gantry_cupti_capture_new (CUPTI_VERSION_13_0);
  g_autoptr (GantryExecutable) executable = make_executable (3);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GantryRecording) recording = NULL;
  GantryCuptiGraphNode node = { 0x500000001ull, 3 };
  GantryEvent event;
  gsize at = cupti_sample_record (bytes, CUPTI_KIND_CONCURRENT_KERNEL);

  capture->is_monotonic = TRUE;
  g_array_append_val (capture->graph_nodes, node);
  cupti_sample_set (bytes, at + KERNEL_START, 100, 8);
  cupti_sample_set (bytes, at + KERNEL_END, 200, 8);
  cupti_sample_set (bytes, at + KERNEL_GRAPH_NODE, node.graph_node, 8);
  gantry_cupti_capture_add_buffer (capture, g_bytes_new (bytes->data, bytes->len), NULL, 0, NULL, 0);
  recording = gantry_cupti_convert (capture, NULL, 0, executable, NULL);
  gantry_recording_get (recording, GANTRY_QUEUE_COMPUTE, 0, &event);
  g_assert_cmpuint (event.instruction, ==, 2);
}

static void
test_clock (void)
{
  GantryCuptiMoment moments[5];
  GantryCuptiClock clock;
  gint64 time;

  /* The time of day, 40 parts in a million faster, read with a jitter of 2 us. */
  for (guint i = 0; i < 5; i++)
    {
      moments[i].monotonic = 7000000000 + (gint64) i * 1000000000;
      moments[i].theirs = 1790000000000000000 + (gint64) i * 1000040000 + (i % 2 == 0 ? 1000 : -1000);
    }
  g_assert_true (gantry_cupti_clock_fit (moments, 5, &clock));
  g_assert_cmpint (clock.error_ns, >, 500);
  g_assert_cmpint (clock.error_ns, <, 2000);
  g_assert_true (gantry_cupti_clock_map (&clock, 1790000000000000000ull + 2000080000, &time));
  g_assert_cmpint (ABS (time - 9000000000), <, 1500);
  g_assert_false (gantry_cupti_clock_map (&clock, 5, &time));
  g_assert_false (gantry_cupti_clock_map (&clock, G_MAXUINT64, &time));
  /* One moment is an offset. */
  g_assert_true (gantry_cupti_clock_fit (moments, 1, &clock));
  g_assert_true (gantry_cupti_clock_map (&clock, (guint64) moments[0].theirs + 500, &time));
  g_assert_cmpint (time, ==, moments[0].monotonic + 500);
  g_assert_false (gantry_cupti_clock_fit (moments, 0, &clock));
  /* A clock that was set in between cannot be fitted by a line: its slope is not believed, and the error says so. */
  moments[4].theirs += 3600000000000;
  g_assert_true (gantry_cupti_clock_fit (moments, 5, &clock));
  g_assert_cmpint (clock.error_ns, >, 1000000000);
}

static void
test_clock_note (void)
{
  CuptiSampleTotals totals;
  g_autoptr (GantryCuptiCapture) capture = cupti_sample_new (&some, &totals);
  g_autoptr (GantryRecording) without = NULL;
  g_autoptr (GantryRecording) with = NULL;
  GantryCuptiMoment moments[] = { { BEGIN, 900 }, { BEGIN + 1000000, 1000900 }, { BEGIN + 2000000, 2060900 } };

  capture->is_monotonic = FALSE;
  without = gantry_cupti_convert (capture, NULL, 0, NULL, NULL);
  g_assert_true (has_note (without, "could not be related"));
  g_array_append_vals (capture->moments, moments, 3);
  with = gantry_cupti_convert (capture, NULL, 0, NULL, NULL);
  g_assert_true (has_note (with, "agrees with the host's within"));
}

static void
add_sample (GantryCuptiCapture *capture, gint64 begin)
{
  GantryCuptiSample sample = { begin, begin + 1000 };
  double value = 1;

  g_array_append_val (capture->samples, sample);
  g_array_append_val (capture->values, value);
}

static void
test_clock_of_samples (void)
{
  static const gint64 monotonic = 50000000000, realtime = 1790000000000000000, gpu = 123000000000000;
  const gint64 begins[] = { monotonic, realtime, gpu };

  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (GantryCuptiCapture) capture = gantry_cupti_capture_new (CUPTI_VERSION_13_0);
      GantryCuptiMoment newest[] = { { begins[i] + 2000000, monotonic + 2300000 }, { begins[i] + 4000000, monotonic + 4050000 } };
      g_autofree char *about = NULL;
      GantryCuptiClock clock;
      gint64 time;

      g_ptr_array_add (capture->counters, g_strdup ("c"));
      capture->sampled_from = monotonic;
      capture->sampled_to = monotonic + 5000000;
      capture->realtime_ahead = realtime - monotonic;
      g_array_append_vals (capture->newest, newest, 2);
      for (guint s = 0; s < 4; s++)
        add_sample (capture, begins[i] + s * 1000000);
      about = gantry_cupti_clock_of_samples (capture, &clock);
      g_assert_true (gantry_cupti_clock_map (&clock, (guint64) begins[i] + 1000000, &time));
      g_assert_cmpint (time, ==, monotonic + 1000000 + (i == 2 ? 50000 : 0));
      g_assert_true ((about == NULL) == (i == 0));
    }
}

static GBytes *
file_of (const GantryCuptiCapture *capture)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GError) error = NULL;

  gantry_cupti_capture_write (capture, stream, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_output_stream_close (stream, NULL, NULL));
  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
}

static void
test_file (void)
{
  CuptiSampleTotals totals;
  g_autoptr (GantryCuptiCapture) capture = cupti_sample_new (&some, &totals);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) again = NULL;
  g_autoptr (GantryCuptiCapture) read = NULL;
  g_autoptr (GantryRecording) recording = NULL;
  g_autoptr (GError) error = NULL;
  GantryCuptiMoment moment = { 3, 4 };
  GantryCuptiGraphNode node = { 1ull << 40, 9 };

  gantry_cupti_capture_note (capture, "a note");
  g_array_append_val (capture->moments, moment);
  g_array_append_val (capture->graph_nodes, node);
  bytes = file_of (capture);
  read = gantry_cupti_capture_read (bytes, &error);
  g_assert_no_error (error);
  again = file_of (read);
  g_assert_true (g_bytes_equal (bytes, again));
  g_assert_cmpuint (read->buffers->len, ==, totals.buffers);
  recording = gantry_cupti_convert (read, NULL, 0, NULL, NULL);
  expect_totals (recording, &totals);
  g_assert_true (has_note (recording, "a note"));
}

/* Cut anywhere it is refused; with any byte changed it is refused or read, and what was read can be laid out. */
static void
test_broken_file (void)
{
  CuptiSampleOptions options = { .seed = 2, .steps = 1, .kernels = 2, .begin = BEGIN, .sample_ns = 20000, .buffer_bytes = 1000 };
  CuptiSampleTotals totals;
  g_autoptr (GantryCuptiCapture) capture = cupti_sample_new (&options, &totals);
  g_autoptr (GBytes) bytes = file_of (capture);
  g_autoptr (GRand) random = test_rand (4);
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  guint n_read = 0;

  for (gsize end = 0; end < size; end++)
    {
      g_autoptr (GBytes) part = g_bytes_new (data, end);
      g_autoptr (GError) error = NULL;

      g_assert_null (gantry_cupti_capture_read (part, &error));
      g_assert_nonnull (error);
      g_assert_true (g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED) || g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_INVALID));
    }
  for (guint trial = 0; trial < 3000; trial++)
    {
      guint8 *copy = g_memdup2 (data, size);
      g_autoptr (GBytes) broken = NULL;
      g_autoptr (GantryCuptiCapture) read = NULL;
      g_autoptr (GError) error = NULL;

      for (guint i = 0; i <= trial % 4; i++)
        copy[g_rand_int_range (random, 8, (gint32) size)] = (guint8) g_rand_int (random);
      broken = g_bytes_new_take (copy, size);
      read = gantry_cupti_capture_read (broken, &error);
      g_assert_true ((read == NULL) == (error != NULL));
      if (read == NULL)
        continue;
      n_read++;
      gantry_recording_unref (gantry_cupti_convert (read, NULL, 0, NULL, NULL));
    }
  g_assert_cmpuint (n_read, >, 100);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/profiler/cupti/convert/sample", test_sample);
  g_test_add_func ("/profiler/cupti/convert/unknown-program", test_unknown_program);
  g_test_add_func ("/profiler/cupti/convert/observed", test_observed);
  g_test_add_func ("/profiler/cupti/convert/notes", test_notes);
  g_test_add_func ("/profiler/cupti/convert/range-across-buffers", test_range_across_buffers);
  g_test_add_func ("/profiler/cupti/convert/graph-node", test_graph_node);
  g_test_add_func ("/profiler/cupti/clock/fit", test_clock);
  g_test_add_func ("/profiler/cupti/clock/note", test_clock_note);
  g_test_add_func ("/profiler/cupti/clock/samples", test_clock_of_samples);
  g_test_add_func ("/profiler/cupti/file/round-trip", test_file);
  g_test_add_func ("/profiler/cupti/file/broken", test_broken_file);
  return g_test_run ();
}
