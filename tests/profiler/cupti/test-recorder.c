/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder against a stand-in for CUPTI: what it asks and in which order, what comes of buffers, marks, graphs and
 * counters, and what is said when something is missing. */
#include "profiler/cpu/recorder.h"
#include "profiler/cupti/cupti.h"
#include "core/base/error.h"
#include "tests/profiler/cupti/fake-cupti.h"
#include "tests/profiler/cupti/make-executable.h"
#include "profiler/cupti/privileges.h"
#include <dlfcn.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static FakeCupti *fake;
static void (*reset) (void);

static GantryCuptiRecorder *
start (const GantryCuptiOptions *options)
{
  g_autoptr (GError) error = NULL;
  GantryCuptiRecorder *recorder = gantry_cupti_start (options, &error);

  g_assert_no_error (error);
  return recorder;
}

static gboolean
has_note (const GantryRecording *recording, const char *part)
{
  for (guint i = 0; i < gantry_recording_n_notes (recording); i++)
    if (strstr (gantry_recording_note (recording, i), part) != NULL)
      return TRUE;
  return FALSE;
}

static gsize
position (const char *word)
{
  const char *at = strstr (fake->log->str, word);

  if (at == NULL)
    g_error ("\"%s\" is not in: %s", word, fake->log->str);
  return (gsize) (at - fake->log->str);
}

/* Two kernels and a copy of a program with two kernels, marked, then one kernel of nobody. */
static void
play (GantryCuptiRecorder *recorder)
{
  gantry_cupti_push (recorder, 0);
  fake->launch (7, "first_kernel", 0);
  gantry_cupti_pop (recorder);
  gantry_cupti_push (recorder, 1);
  fake->launch (7, "second_kernel", 0);
  gantry_cupti_pop (recorder);
  gantry_cupti_push (recorder, 2);
  fake->copy (13, 4096);
  gantry_cupti_pop (recorder);
  fake->launch (8, "stranger", 0);
}

static void
test_record (void)
{
  g_autoptr (GantryExecutable) executable = make_executable (2);
  g_autoptr (GantryRecording) recording = NULL;
  GantryCuptiRecorder *recorder;
  GantryEvent event;

  reset ();
  recorder = start (NULL);
  play (recorder);
  recording = gantry_cupti_stop (recorder, NULL, 0, executable, NULL);
  g_assert_cmpuint (gantry_recording_n_notes (recording), ==, 0);
  g_assert_cmpuint (gantry_recording_n_events (recording, GANTRY_QUEUE_COMPUTE), ==, 2);
  gantry_recording_get (recording, GANTRY_QUEUE_COMPUTE, 1, &event);
  g_assert_cmpstr (gantry_recording_string (recording, event.name), ==, "second_kernel");
  g_assert_cmpuint (event.instruction, ==, 1);
  g_assert_cmpuint (event.node, ==, 2);
  g_assert_cmpuint (gantry_recording_detail (recording, event.detail)->registers, ==, 40);
  gantry_recording_get (recording, GANTRY_QUEUE_TO_HOST, 0, &event);
  g_assert_cmpuint (event.bytes, ==, 4096);
  g_assert_cmpuint (event.node, ==, 3);
  /* The library was asked what its calls are called. */
  for (guint lane = GANTRY_LANE_RUNS + 1; lane < gantry_recording_n_lanes (recording); lane++)
    if (g_str_equal (gantry_recording_lane_name (recording, lane), "thread 99: calls"))
      {
        g_assert_cmpuint (gantry_recording_n_events (recording, lane), ==, 4);
        gantry_recording_get (recording, lane, 0, &event);
      }
  g_assert_cmpstr (gantry_recording_string (recording, event.name), ==, "cuLaunchKernel");
  /* The order that CUPTI needs. */
  g_assert_cmpuint (position ("subscribe"), <, position ("register-timestamp"));
  g_assert_cmpuint (position ("register-timestamp"), <, position ("enable:"));
  g_assert_cmpuint (position ("register-callbacks"), <, position ("enable:"));
  g_assert_cmpuint (position ("flush:0"), <, position ("disable:"));
  g_assert_cmpuint (position ("disable:"), <, position ("flush:1"));
  g_assert_cmpuint (position ("flush:1"), <, position ("unsubscribe"));
}

/* Records that a later version made longer are walked as the library says. */
static void
test_longer_records (void)
{
  g_autoptr (GantryRecording) recording = NULL;
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
  GantryCuptiRecorder *recorder;

  reset ();
  fake->version = 139999;
  fake->record_bytes = 240;
  recorder = start (NULL);
  play (recorder);
  recording = gantry_cupti_stop (recorder, NULL, 0, NULL, NULL);
  gantry_recording_totals (recording, totals);
  g_assert_cmpuint (totals[GANTRY_EVENT_KERNEL].count, ==, 3);
  g_assert_cmpuint (totals[GANTRY_EVENT_COPY].count, ==, 1);
  g_assert_cmpuint (gantry_recording_n_notes (recording), ==, 0);
}

/* What a version or a GPU does not record is told in one sentence, and the rest is recorded. */
static void
test_refused_kinds (void)
{
  g_autoptr (GantryRecording) recording = NULL;
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
  GantryCuptiRecorder *recorder;

  reset ();
  fake->enable_memory = CUPTI_ERROR_NOT_COMPATIBLE;
  recorder = start (NULL);
  play (recorder);
  recording = gantry_cupti_stop (recorder, NULL, 0, NULL, NULL);
  gantry_recording_totals (recording, totals);
  g_assert_cmpuint (totals[GANTRY_EVENT_KERNEL].count, ==, 3);
  g_assert_cmpuint (gantry_recording_n_notes (recording), ==, 1);
  g_assert_true (has_note (recording, "CUPTI does not record allocations, memory pools here (CUPTI_ERROR_MADE_UP)."));
}

/* When enough is held no buffer is given; what CUPTI then drops is counted and told. Old versions always get one. */
static void
test_dropped (void)
{
  const guint32 versions[] = { 130001, 24 };

  for (guint v = 0; v < 2; v++)
    {
      g_autoptr (GantryRecording) recording = NULL;
      GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
      GantryCuptiOptions options = { .buffer_bytes = 4096, .most_bytes = 4000 };
      GantryCuptiRecorder *recorder;

      reset ();
      fake->version = versions[v];
      recorder = start (&options);
      for (guint i = 0; i < 100; i++)
        fake->launch (7, "kernel", 0);
      recording = gantry_cupti_stop (recorder, NULL, 0, NULL, NULL);
      gantry_recording_totals (recording, totals);
      g_assert_cmpuint (totals[GANTRY_EVENT_KERNEL].count, >, 10);
      g_assert_cmpuint (totals[GANTRY_EVENT_KERNEL].count, <, 20);
      {
        g_autofree char *note = g_strdup_printf ("%" G_GUINT64_FORMAT " records were dropped",
                                                 200 - totals[GANTRY_EVENT_KERNEL].count - totals[GANTRY_EVENT_CALL].count);

        g_assert_true (has_note (recording, note));
      }
    }
}

static GantryRecording *
observe (GantryExecutable *executable)
{
  g_autoptr (GantryCpuRecorder) recorder = gantry_cpu_recorder_new (NULL);
  const GantryObserver *o = gantry_cpu_recorder_observer (recorder);

  o->begin_run (o->self, executable, 1000);
  o->instruction (o->self, 0, 2000, 3000);
  o->end_run (o->self, 4000);
  return gantry_cpu_recorder_take (recorder);
}

/* Error 35 may come from registering already: then the stamps of the program's own are the recording. */
static void
test_privileges (void)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GantryExecutable) executable = make_executable (2);
      g_autoptr (GantryRecording) observed = observe (executable);
      g_autoptr (GantryRecording) recording = NULL;
      GantryCuptiRecorder *recorder;

      reset ();
      if (i == 0)
        fake->register_callbacks = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
      else
        fake->enable_kernels = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
      recorder = start (NULL);
      gantry_cupti_push (recorder, 0);
      gantry_cupti_pop (recorder);
      recording = gantry_cupti_stop (recorder, NULL, 0, executable, observed);
      g_assert_true (has_note (recording, "No privilege to record what the GPU does"));
      g_assert_true (has_note (recording, "SYS_ADMIN"));
      g_assert_true (has_note (recording, "CUPTI gave no work of the device"));
      g_assert_cmpuint (gantry_recording_n_events (recording, GANTRY_QUEUE_COMPUTE), ==, 1);
      g_assert_cmpuint (gantry_recording_n_runs (recording), ==, 1);
    }
}

static void
test_privileges_text (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-cupti-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "params", NULL);
  g_autofree char *unknown = _gantry_cupti_privileges_text (path);
  g_autofree char *admin = NULL, *all = NULL;

  g_assert_true (g_file_set_contents (path, "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n", -1, NULL));
  admin = _gantry_cupti_privileges_text (path);
  g_assert_true (g_file_set_contents (path, "RmProfilingAdminOnly: 0\n", -1, NULL));
  all = _gantry_cupti_privileges_text (path);
  g_assert_nonnull (strstr (unknown, "NVreg_RestrictProfilingToAdminUsers=0"));
  g_assert_null (strstr (unknown, "RmProfilingAdminOnly is"));
  g_assert_nonnull (strstr (admin, "RmProfilingAdminOnly is 1"));
  g_assert_nonnull (strstr (admin, "NVreg_RestrictProfilingToAdminUsers=0"));
  g_assert_nonnull (strstr (all, "RmProfilingAdminOnly is 0"));
  g_unlink (path);
  g_rmdir (folder);
}

static void
test_other_subscriber (void)
{
  const CUptiResult results[] = { CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, CUPTI_ERROR_MAX_LIMIT_REACHED };

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;

      reset ();
      fake->subscribe = results[i];
      fake->old_subscriber = i == 0 ? "Nsight Systems" : NULL;
      g_assert_null (gantry_cupti_start (NULL, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED);
      g_assert_nonnull (strstr (error->message, i == 0 ? "\"Nsight Systems\" records this process" : "another tool records"));
    }
  /* It can be tried again. */
  reset ();
  gantry_cupti_cancel (start (NULL));
}

static void
test_two_recorders (void)
{
  g_autoptr (GantryCuptiRecorder) recorder = NULL;
  g_autoptr (GError) error = NULL;

  reset ();
  recorder = start (NULL);
  g_assert_null (gantry_cupti_start (NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED);
  g_assert_nonnull (strstr (error->message, "under way"));
}

/* CUPTI keeps its own clock: events come to lie where they were all the same. */
static void
test_other_clock (void)
{
  g_autoptr (GantryRecording) recording = NULL;
  GantryCuptiRecorder *recorder;
  gint64 before, after, begin, end;

  reset ();
  fake->register_timestamp = CUPTI_ERROR_NOT_INITIALIZED;
  recorder = start (NULL);
  before = g_get_monotonic_time () * 1000;
  play (recorder);
  after = g_get_monotonic_time () * 1000 + 2000;
  recording = gantry_cupti_stop (recorder, NULL, 0, NULL, NULL);
  gantry_recording_range (recording, &begin, &end);
  /* Two readings of the clocks lie within a microsecond mostly, but the machine may be busy. */
  g_assert_cmpint (gantry_recording_origin (recording) + begin, >, before - 20000000);
  g_assert_cmpint (gantry_recording_origin (recording) + end, <, after + 20000000);
}

static void
test_graph (void)
{
  g_autoptr (GantryExecutable) executable = make_executable (2);
  g_autoptr (GantryRecording) recording = NULL;
  GantryCuptiRecorder *recorder;
  GantryEvent event;

  reset ();
  recorder = start (NULL);
  gantry_cupti_push (recorder, 1);
  fake->make_node (100, 200);
  gantry_cupti_pop (recorder);
  fake->make_node (101, 201); /* unmarked */
  fake->launch (7, "of_graph", 200);
  fake->launch (7, "of_graph_too", 201);
  recording = gantry_cupti_stop (recorder, NULL, 0, executable, NULL);
  gantry_recording_get (recording, GANTRY_QUEUE_COMPUTE, 0, &event);
  g_assert_cmpuint (event.instruction, ==, 1);
  gantry_recording_get (recording, GANTRY_QUEUE_COMPUTE, 1, &event);
  g_assert_cmpuint (event.instruction, ==, GANTRY_NO_INSTRUCTION);
}

static void
test_ranges_and_failure (void)
{
  g_autoptr (GantryRecording) recording = NULL;
  g_autofree char *name = g_strdup ("a name that is freed");
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
  GantryCuptiRecorder *recorder;

  reset ();
  recorder = start (NULL);
  fake->range (name, TRUE, 1);
  fake->launch (7, "kernel", 0);
  fake->range (NULL, FALSE, 1);
  fake->fail ("the device is gone");
  recording = gantry_cupti_stop (recorder, NULL, 0, NULL, NULL);
  gantry_recording_totals (recording, totals);
  g_assert_cmpuint (totals[GANTRY_EVENT_RANGE].count, ==, 1);
  g_assert_true (has_note (recording, "CUPTI stopped recording: the device is gone"));
}

/* Waits until the sampler's thread wrote @n times @word, or a while. */
static void
await (const char *word, guint n)
{
  for (guint i = 0; i < 2000; i++)
    {
      guint found = 0;

      for (const char *at = fake->log->str; (at = strstr (at, word)) != NULL; at++)
        found++;
      if (found >= n)
        return;
      g_usleep (1000);
    }
}

static void
test_counters (void)
{
  GantryCuptiOptions options = { .counters = TRUE };
  g_autoptr (GantryRecording) recording = NULL;
  GantryCuptiRecorder *recorder;
  GantryCurvePixel pixel;
  gint64 begin, end;

  reset ();
  fake->overflow_at = 2;
  recorder = start (&options);
  play (recorder);
  await ("pm-start", 2);
  recording = gantry_cupti_stop (recorder, NULL, 0, NULL, NULL);
  g_assert_cmpstr (gantry_recording_device (recording), ==, "NVIDIA GPU (GH100)");
  g_assert_cmpuint (gantry_recording_n_counters (recording), ==, 10);
  g_assert_cmpstr (gantry_recording_counter_name (recording, 1), ==, "tensor pipe (%)");
  gantry_recording_range (recording, &begin, &end);
  gantry_recording_counter_curve (recording, 1, begin, end + 1, 1, &pixel);
  g_assert_cmpfloat (pixel.max, ==, 2);
  g_assert_true (has_note (recording, "overflowed 1 times"));
  g_assert_true (has_note (recording, "carry the time of day"));
  /* Sampling begins anew after the overflow; the counters are given back after everything else. */
  g_assert_cmpuint (position ("pm-stop pm-start"), >, 0);
  g_assert_cmpuint (position ("unsubscribe"), <, position ("pm-disable"));
}

/* A chip that counts only three of them in one pass, and does not have one. */
static void
test_fewer_counters (void)
{
  GantryCuptiOptions options = { .counters = TRUE };
  g_autoptr (GantryRecording) recording = NULL;
  GantryCuptiRecorder *recorder;

  reset ();
  fake->refused = "TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed";
  fake->most_metrics = 3;
  fake->no_time_trigger = TRUE;
  recorder = start (&options);
  recording = gantry_cupti_stop (recorder, NULL, 0, NULL, NULL);
  g_assert_cmpuint (gantry_recording_n_counters (recording), <=, 3);
  g_assert_true (has_note (recording, "GH100 has no counter \"tensor pipe (%)\""));
  g_assert_true (has_note (recording, "GH100 has no counter \"blocks started\""));
  g_assert_false (has_note (recording, "\"DRAM throughput (%)\""));
  g_assert_true (has_note (recording, "every 500000 cycles"));
}

static void
test_counters_without_privileges (void)
{
  GantryCuptiOptions options = { .counters = TRUE };
  g_autoptr (GantryRecording) recording = NULL;
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
  GantryCuptiRecorder *recorder;

  reset ();
  fake->pm_enable = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  recorder = start (&options);
  play (recorder);
  recording = gantry_cupti_stop (recorder, NULL, 0, NULL, NULL);
  gantry_recording_totals (recording, totals);
  g_assert_cmpuint (totals[GANTRY_EVENT_KERNEL].count, ==, 3);
  g_assert_true (has_note (recording, "No privilege to record hardware counters"));
}

static void
test_raw_file (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-cupti-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "raw.cupti", NULL);
  g_autofree char *nowhere = g_build_filename (folder, "missing", "raw.cupti", NULL);
  GantryCuptiOptions options = { .raw_path = path }, bad = { .raw_path = nowhere };
  g_autoptr (GantryExecutable) executable = make_executable (2);
  g_autoptr (GantryRecording) first = NULL;
  g_autoptr (GantryRecording) second = NULL;
  g_autoptr (GantryRecording) third = NULL;
  g_autoptr (GError) error = NULL;
  GantryCuptiRecorder *recorder;
  GantryEvent a, b;

  reset ();
  recorder = start (&options);
  play (recorder);
  first = gantry_cupti_stop (recorder, NULL, 0, executable, NULL);
  second = gantry_cupti_open (path, executable, &error);
  g_assert_no_error (error);
  for (guint64 i = 0; i < gantry_recording_n_events (first, 0); i++)
    {
      gantry_recording_get (first, 0, i, &a);
      gantry_recording_get (second, 0, i, &b);
      g_assert_true (a.begin == b.begin && a.end == b.end && a.instruction == b.instruction);
      g_assert_cmpstr (gantry_recording_string (first, a.name), ==, gantry_recording_string (second, b.name));
    }
  g_assert_cmpuint (gantry_recording_n_lanes (first), ==, gantry_recording_n_lanes (second));
  reset ();
  third = gantry_cupti_stop (start (&bad), NULL, 0, executable, NULL);
  g_assert_true (has_note (third, "could not be written"));
  g_assert_true (g_file_set_contents (path, "nonsense", -1, NULL));
  g_assert_null (gantry_cupti_open (path, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_true (g_str_has_prefix (error->message, path));
  g_unlink (path);
  g_rmdir (folder);
}

static gboolean
count_launch (gpointer user_data, GError **error)
{
  guint *n = user_data;

  (*n)++;
  if (*n > 100)
    {
      g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "the launch failed");
      return FALSE;
    }
  return TRUE;
}

static void
test_kernel_profile (void)
{
  GantryCuptiKernelProfile profile;
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) failed = NULL;
  g_autoptr (GError) forbidden = NULL;
  guint n = 0;

  reset ();
  g_assert_true (gantry_cupti_profile_kernel (NULL, 0, count_launch, &n, &profile, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (n, ==, 3);
  g_assert_cmpuint (profile.n_passes, ==, 3);
  /* Metric i counts i + 1: the table's weights are in the sums. */
  g_assert_cmpfloat (profile.duration_ns, ==, 1);
  g_assert_cmpfloat (profile.flops, ==, 2 + 3 + 2 * 4 + 5 + 6 + 2 * 7 + 8 + 9 + 2 * 10);
  g_assert_cmpfloat (profile.dram_bytes, ==, 14);
  g_assert_cmpfloat (profile.occupancy, ==, 16);
  g_assert_cmpstr (fake->log->str, ==,
                   "range-start range-push range-pop range-stop range-start range-push range-pop range-stop "
                   "range-start range-push range-pop range-stop range-disable ");
  /* A launch that fails ends it, in order. */
  reset ();
  n = 100;
  g_assert_false (gantry_cupti_profile_kernel (NULL, 0, count_launch, &n, &profile, &failed));
  g_assert_cmpstr (failed->message, ==, "the launch failed");
  g_assert_cmpstr (fake->log->str, ==, "range-start range-push range-pop range-stop range-disable ");
  reset ();
  fake->range_enable = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  g_assert_false (gantry_cupti_profile_kernel (NULL, 0, count_launch, &n, &profile, &forbidden));
  g_assert_nonnull (strstr (forbidden->message, "SYS_ADMIN"));
}

/* In a process of its own, since libraries stay loaded and the environment is only changed at the beginning. */
static void
test_missing (void)
{
  static const struct
  {
    const char *variable, *value, *message;
  } cases[] = { { "GANTRY_LIBCUPTI", "/nowhere/libcupti.so.13", "which GANTRY_LIBCUPTI names, cannot be loaded" },
                { "GANTRY_LIBCUDA", "/nowhere/libcuda.so.1", "no NVIDIA driver" },
                { "FAKE_CUDA_INIT", "100", "no CUDA-capable device is detected (error 100 of cuInit" } };

  if (g_test_subprocess ())
    {
      g_autoptr (GError) error = NULL;
      const char *number = g_getenv ("GANTRY_TEST_CASE");
      guint i = (guint) g_ascii_strtoull (number, NULL, 10);

      g_setenv (cases[i].variable, cases[i].value, TRUE);
      g_assert_null (gantry_cupti_start (NULL, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, cases[i].message));
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *number = g_strdup_printf ("%u", i);

      g_setenv ("GANTRY_TEST_CASE", number, TRUE);
      g_test_trap_subprocess (NULL, 0, 0);
      g_test_trap_assert_passed ();
    }
}

/* NVTX of libraries is told to the file that this variable names; one that is set stays. */
static void
test_environment (void)
{
  if (g_test_subprocess ())
    {
      g_unsetenv ("NVTX_INJECTION64_PATH");
      gantry_cupti_prepare_environment ();
      g_assert_cmpstr (g_getenv ("NVTX_INJECTION64_PATH"), ==, g_getenv ("GANTRY_LIBCUPTI"));
      g_setenv ("NVTX_INJECTION64_PATH", "another", TRUE);
      gantry_cupti_prepare_environment ();
      g_assert_cmpstr (g_getenv ("NVTX_INJECTION64_PATH"), ==, "another");
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
}

int
main (int argc, char **argv)
{
  gpointer library;

  g_test_init (&argc, &argv, NULL);
  library = dlopen (g_getenv ("GANTRY_LIBCUPTI"), RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    g_error ("the stand-in for CUPTI: %s", dlerror ());
  reset = (void (*) (void)) dlsym (library, "fake_cupti_reset");
  fake = ((FakeCupti * (*) (void) ) dlsym (library, "fake_cupti")) ();
  g_test_add_func ("/profiler/cupti/recorder/record", test_record);
  g_test_add_func ("/profiler/cupti/recorder/longer-records", test_longer_records);
  g_test_add_func ("/profiler/cupti/recorder/refused-kinds", test_refused_kinds);
  g_test_add_func ("/profiler/cupti/recorder/dropped", test_dropped);
  g_test_add_func ("/profiler/cupti/recorder/privileges", test_privileges);
  g_test_add_func ("/profiler/cupti/recorder/privileges-text", test_privileges_text);
  g_test_add_func ("/profiler/cupti/recorder/other-subscriber", test_other_subscriber);
  g_test_add_func ("/profiler/cupti/recorder/two-recorders", test_two_recorders);
  g_test_add_func ("/profiler/cupti/recorder/other-clock", test_other_clock);
  g_test_add_func ("/profiler/cupti/recorder/graph", test_graph);
  g_test_add_func ("/profiler/cupti/recorder/ranges-and-failure", test_ranges_and_failure);
  g_test_add_func ("/profiler/cupti/recorder/counters", test_counters);
  g_test_add_func ("/profiler/cupti/recorder/fewer-counters", test_fewer_counters);
  g_test_add_func ("/profiler/cupti/recorder/counters-without-privileges", test_counters_without_privileges);
  g_test_add_func ("/profiler/cupti/recorder/raw-file", test_raw_file);
  g_test_add_func ("/profiler/cupti/recorder/kernel-profile", test_kernel_profile);
  g_test_add_func ("/profiler/cupti/recorder/missing", test_missing);
  g_test_add_func ("/profiler/cupti/recorder/environment", test_environment);
  return g_test_run ();
}
