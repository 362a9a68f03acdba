/* SPDX-License-Identifier: Apache-2.0 */
/* Imports: what the fixtures (made by the scripts beside them, from the documented schemas) hold is there, what this
 * program exports comes back, and whatever else a file may be ends in an error. */
#include "core/base/error.h"
#include "tests/profiler/make-recording.h"
#include "tests/random-seed.h"
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

static char *
fixture (const char *name)
{
  return g_build_filename (g_getenv ("GANTRY_FIXTURES"), name, NULL);
}

static GantryRecording *
import_fixture (const char *name)
{
  g_autofree char *path = fixture (name);
  g_autoptr (GError) error = NULL;
  GantryRecording *recording = gantry_trace_import (path, NULL, &error);

  g_assert_no_error (error);
  return recording;
}

static GantryRecording *
import_text (const char *text, GError **error)
{
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_data (text, (gssize) strlen (text), NULL);

  return gantry_trace_import_chrome (stream, "trace", NULL, error);
}

static guint
lane_named (const GantryRecording *recording, const char *name)
{
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    if (strcmp (gantry_recording_lane_name (recording, lane), name) == 0)
      return lane;
  g_error ("no lane is named '%s'", name);
}

static void
assert_event (const GantryRecording *recording, guint lane, guint64 index, const char *name, GantryEventKind kind, gint64 begin, gint64 end)
{
  GantryEvent event = { 0 };

  gantry_recording_get (recording, lane, index, &event);
  g_assert_cmpstr (gantry_recording_string (recording, event.name), ==, name);
  g_assert_cmpuint (event.kind, ==, kind);
  g_assert_cmpint (event.begin, ==, begin);
  g_assert_cmpint (event.end, ==, end);
}

/* Three steps of 20 operators, each with two nested ranges, a launch and a kernel; a copy, a fill, two more calls. */
static void
test_kineto (void)
{
  g_autoptr (GantryRecording) recording = import_fixture ("kineto.json.gz");
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
  guint kernels = lane_named (recording, "GPU 0, stream 7"), host = lane_named (recording, "thread 4242 (python)");
  const GantryLaunchDetail *detail;
  GantryEvent event = { 0 };

  gantry_recording_totals (recording, totals);
  g_assert_cmpuint (totals[GANTRY_EVENT_KERNEL].count, ==, 60);
  g_assert_cmpint (totals[GANTRY_EVENT_KERNEL].total_ns, ==, 60 * 5123);
  g_assert_cmpuint (totals[GANTRY_EVENT_COPY].count, ==, 3);
  g_assert_cmpuint (totals[GANTRY_EVENT_COPY].bytes, ==, 3 << 20);
  g_assert_cmpuint (totals[GANTRY_EVENT_FILL].count, ==, 3);
  g_assert_cmpuint (totals[GANTRY_EVENT_FILL].bytes, ==, 3 * 4096);
  g_assert_cmpuint (totals[GANTRY_EVENT_CALL].count, ==, 66);
  g_assert_cmpuint (totals[GANTRY_EVENT_RANGE].count, ==, 126);
  g_assert_cmpuint (totals[GANTRY_EVENT_OVERHEAD].count, ==, 1);
  /* The first event is at 1700000000000000.500 us; nanoseconds are exact. */
  g_assert_cmpint (gantry_recording_origin (recording), ==, 1700000000000000500);
  gantry_recording_get (recording, kernels, 0, &event);
  assert_event (recording, kernels, 0, "void kernel<0, float>(float*)", GANTRY_EVENT_KERNEL, 6000, 11123);
  g_assert_cmpuint (event.correlation, ==, 100001);
  detail = gantry_recording_detail (recording, event.detail);
  g_assert_cmpuint (detail->grid[1], ==, 2);
  g_assert_cmpuint (detail->block[0], ==, 128);
  g_assert_cmpuint (detail->registers, ==, 32);
  g_assert_cmpuint (detail->dynamic_shared, ==, 1024);
  g_assert_cmpuint (detail->stream, ==, 7);
  /* Streams before threads; annotations of the device beside its kernels; ranges by depth. */
  g_assert_cmpuint (kernels, ==, 4);
  g_assert_cmpuint (lane_named (recording, "GPU 0, stream 7, annotations"), ==, 5);
  g_assert_cmpuint (lane_named (recording, "GPU 0, stream 20"), ==, 6);
  assert_event (recording, host, 0, "ProfilerStep#1", GANTRY_EVENT_RANGE, 0, 250000);
  assert_event (recording, host + 1, 0, "aten::op0", GANTRY_EVENT_RANGE, 0, 9000);
  assert_event (recording, host + 2, 0, "aten::inner0", GANTRY_EVENT_RANGE, 1000, 8000);
  assert_event (recording, host + 3, 0, "cudaLaunchKernel", GANTRY_EVENT_CALL, 2001, 5001);
  g_assert_cmpuint (gantry_recording_n_runs (recording), ==, 3);
  g_assert_cmpint (gantry_recording_run (recording, 1)->begin, ==, 250000);
  g_assert_cmpuint (gantry_recording_n_counters (recording), ==, 2);
  g_assert_cmpstr (gantry_recording_device (recording), ==, "NVIDIA H200");
  g_assert_cmpuint (gantry_recording_n_notes (recording), ==, 0);
}

static void
test_begin_end (void)
{
  g_autoptr (GantryRecording) recording = import_fixture ("chrome.json");
  guint worker = lane_named (recording, "thread worker"), other = lane_named (recording, "thread other");

  assert_event (recording, worker, 0, "outer", GANTRY_EVENT_RANGE, 0, 10000);
  assert_event (recording, worker + 1, 0, "inner \"quoted\" \xc3\xa9\n", GANTRY_EVENT_RANGE, 2500, 4250);
  assert_event (recording, worker + 1, 1, "here", GANTRY_EVENT_MARK, 5000, 5000);
  assert_event (recording, other, 0, "never ended", GANTRY_EVENT_RANGE, 8000, 10000);
  g_assert_cmpuint (gantry_recording_n_counters (recording), ==, 3);
  g_assert_cmpstr (gantry_recording_counter_name (recording, 0), ==, "heap, used");
  g_assert_cmpstr (gantry_recording_counter_name (recording, 2), ==, "load");
  /* One without time; a number, an entry of another sort and an end too many; a range without end. */
  g_assert_cmpuint (gantry_recording_n_notes (recording), ==, 3);
  g_assert_cmpstr (gantry_recording_note (recording, 1), ==, "1 entries of the trace have no time or an impossible one and were left out");
  g_assert_cmpstr (gantry_recording_note (recording, 2), ==, "3 entries of the trace are of a sort that is not shown");
}

static void
test_nsys (void)
{
  g_autoptr (GantryRecording) recording = import_fixture ("nsys-2024.sqlite");
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
  guint kernels = lane_named (recording, "GPU 0, stream 7"), host = lane_named (recording, "python3, thread 4243");
  const GantryLaunchDetail *detail;
  GantryEvent event = { 0 };
  GantryCurvePixel curve[1];

  gantry_recording_totals (recording, totals);
  g_assert_cmpuint (totals[GANTRY_EVENT_KERNEL].count, ==, 30);
  g_assert_cmpuint (totals[GANTRY_EVENT_CALL].count, ==, 30);
  g_assert_cmpuint (totals[GANTRY_EVENT_COPY].count, ==, 5);
  g_assert_cmpuint (totals[GANTRY_EVENT_COPY].bytes, ==, 5 << 20);
  g_assert_cmpuint (totals[GANTRY_EVENT_FILL].bytes, ==, 4096);
  g_assert_cmpuint (totals[GANTRY_EVENT_SYNC].count, ==, 1);
  g_assert_cmpuint (totals[GANTRY_EVENT_RANGE].count, ==, 2);
  g_assert_cmpuint (totals[GANTRY_EVENT_MARK].count, ==, 1);
  g_assert_cmpuint (totals[GANTRY_EVENT_OVERHEAD].count, ==, 1);
  g_assert_cmpint (gantry_recording_origin (recording), ==, 980000);
  assert_event (recording, kernels, 0, "Memset", GANTRY_EVENT_FILL, 20100, 20900);
  assert_event (recording, kernels, 1, "gemm0", GANTRY_EVENT_KERNEL, 25000, 29000);
  gantry_recording_get (recording, kernels, 2, &event);
  detail = gantry_recording_detail (recording, event.detail);
  g_assert_cmpuint (event.correlation, ==, 2);
  g_assert_cmpuint (detail->registers, ==, 41);
  g_assert_cmpuint (detail->cluster[0], ==, 2);
  g_assert_cmpuint (detail->local_bytes, ==, 16);
  g_assert_cmpuint (detail->static_shared, ==, 128);
  assert_event (recording, lane_named (recording, "GPU 0, stream 13"), 1, "Memcpy DtoH", GANTRY_EVENT_COPY, 40000, 48000);
  assert_event (recording, host, 1, "epoch", GANTRY_EVENT_RANGE, 10000, 320000);
  assert_event (recording, host + 1, 0, "step", GANTRY_EVENT_RANGE, 15000, 319990);
  assert_event (recording, host + 2, 1, "cudaLaunchKernel_v7000", GANTRY_EVENT_CALL, 20000, 23000);
  g_assert_cmpuint (gantry_recording_memory_at (recording, GANTRY_MEMORY_DEVICE, 105000), ==, 5 << 20);
  g_assert_cmpuint (gantry_recording_memory_at (recording, GANTRY_MEMORY_DEVICE, 200000), ==, 4 << 20);
  g_assert_cmpuint (gantry_recording_n_counters (recording), ==, 2);
  g_assert_cmpstr (gantry_recording_counter_name (recording, 0), ==, "GPU 0, SM Active");
  gantry_recording_counter_curve (recording, 0, 0, 400000, 1, curve);
  g_assert_cmpfloat (curve[0].max, ==, 40);
  g_assert_cmpstr (gantry_recording_device (recording), ==, "NVIDIA H200");
  g_assert_cmpuint (gantry_recording_n_runs (recording), ==, 1);
}

/* An early version: fewer tables, fewer columns. */
static void
test_nsys_old (void)
{
  g_autoptr (GantryRecording) recording = import_fixture ("nsys-2019.sqlite");
  guint kernels = lane_named (recording, "GPU 0, stream 7"), host = lane_named (recording, "thread 4243");

  g_assert_cmpuint (gantry_recording_n_events (recording, kernels), ==, 30);
  assert_event (recording, kernels, 0, "void gemm<0>(float *)", GANTRY_EVENT_KERNEL, 15000, 19000);
  assert_event (recording, host, 0, "epoch", GANTRY_EVENT_RANGE, 0, 210000);
  g_assert_cmpuint (gantry_recording_n_notes (recording), ==, 0);
}

/* What this program exports comes back event for event, lane for lane. */
static void
test_own (void)
{
  g_autoptr (GRand) random = test_rand (43);
  g_autoptr (GantryRecording) recording = make_recording (random, 1500, 100000000), back = NULL;
  g_autoptr (GOutputStream) out = g_memory_output_stream_new_resizable ();
  g_autoptr (GInputStream) in = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (gantry_recording_write_chrome (recording, out, NULL, &error));
  g_output_stream_close (out, NULL, NULL);
  bytes = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (out));
  in = g_memory_input_stream_new_from_bytes (bytes);
  back = gantry_trace_import_chrome (in, "own", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (gantry_recording_n_lanes (back), ==, gantry_recording_n_lanes (recording));
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    {
      g_assert_cmpstr (gantry_recording_lane_name (back, lane), ==, gantry_recording_lane_name (recording, lane));
      g_assert_cmpuint (gantry_recording_n_events (back, lane), ==, gantry_recording_n_events (recording, lane));
      for (guint64 i = 0; i < gantry_recording_n_events (recording, lane); i++)
        {
          GantryEvent a = { 0 }, b = { 0 };

          gantry_recording_get (recording, lane, i, &a);
          gantry_recording_get (back, lane, i, &b);
          /* Events that begin and end together may come in another order. */
          g_assert_cmpint (a.begin, ==, b.begin);
          g_assert_cmpint (a.end, ==, b.end);
        }
    }
  {
    GantryEventTotals a[GANTRY_N_EVENT_KINDS], b[GANTRY_N_EVENT_KINDS];

    gantry_recording_totals (recording, a);
    gantry_recording_totals (back, b);
    g_assert_cmpmem (a, sizeof a, b, sizeof b);
  }
  g_assert_cmpuint (gantry_recording_n_notes (back), ==, 2);
  g_assert_cmpstr (gantry_recording_device (back), ==, "test device");
}

/* Each of these is an error of ours, and none an endless loop. */
static void
test_wrong (void)
{
  /* clang-format off */
  static const char *const wrong[] = {
    "", " ", "{", "[", "]", "nul", "17", "\"x\"", "{}", "[]", "{\"traceEvents\":[]}", "{\"traceEvents\":{}}",
    "{\"traceEvents\":[{}]}", "{\"traceEvents\":[{\"ph\":\"X\"}]}", "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1,}]}",
    "{\"traceEvents\":[{\"ph\":\"X\" \"ts\":1}]}", "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1e300,\"dur\":1}]}",
    "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":NaN,\"dur\":1}]}", "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1,\"dur\":-5}]}",
    "{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"thread_name\",\"args\":{\"name\":\"a\"}}]}", "[{\"a\":\"\\x\"}]",
    "[{\"a\":\"\\ud800\\u12\"}]", "{\"a\":1}}", "{\"a\" 1}", "{1:1}", "[1 2]", "[{\"ph\":\"C\",\"ts\":1,\"args\":{\"a\":1e999}}]",
    "[{\"ph\":\"X\",\"ts\":-2000000000000000,\"dur\":1},{\"ph\":\"X\",\"ts\":2000000000000000,\"dur\":1}] x",
  };
  /* clang-format on */
  g_autoptr (GString) deep = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) own = NULL;
      g_autoptr (GantryRecording) recording = import_text (wrong[i], &own);

      if (recording != NULL || own == NULL || own->domain != GANTRY_ERROR)
        g_error ("'%s' gives no error of ours", wrong[i]);
      g_assert_true (g_str_has_prefix (own->message, "trace"));
    }
  for (guint i = 0; i < 100000; i++)
    g_string_append (deep, "[");
  g_assert_null (import_text (deep->str, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
}

/* A trace whose program was stopped is shown as far as it goes. */
static void
test_cut_off (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryRecording) recording = import_text ("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":5,\"dur\":2,\"pid\":1,\"tid\":2},\n{\"ph\":\"X\",\"na", &error);

  g_assert_no_error (error);
  assert_event (recording, 4, 0, "a", GANTRY_EVENT_RANGE, 0, 2000);
  g_assert_cmpstr (gantry_recording_note (recording, 0), ==, "the trace ends in the middle; what came before is shown");
}

/* More threads than there are lanes: all events are there. */
static void
test_many_threads (void)
{
  g_autoptr (GString) text = g_string_new ("[");
  g_autoptr (GantryRecording) recording = NULL;
  g_autoptr (GError) error = NULL;
  guint64 n = 0;

  for (guint i = 0; i < 1000; i++)
    g_string_append_printf (text, "%s{\"ph\":\"X\",\"ts\":%u,\"dur\":1,\"pid\":1,\"tid\":%u,\"name\":\"e\"}", i > 0 ? "," : "", 2 * i, i);
  g_string_append_c (text, ']');
  recording = import_text (text->str, &error);
  g_assert_no_error (error);
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    n += gantry_recording_n_events (recording, lane);
  g_assert_cmpuint (n, ==, 1000);
  g_assert_cmpuint (gantry_recording_n_lanes (recording), ==, GANTRY_MAX_LANES);
  g_assert_cmpuint (gantry_recording_n_notes (recording), ==, 1);
}

static void
test_kinds (void)
{
  g_autofree char *kineto = fixture ("kineto.json.gz"), *chrome = fixture ("chrome.json");
  g_autofree char *nsys = fixture ("nsys-2019.sqlite"), *script = fixture ("make-nsys.py"), *none = fixture ("none");
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (gantry_trace_kind (kineto), ==, GANTRY_TRACE_CHROME);
  g_assert_cmpint (gantry_trace_kind (chrome), ==, GANTRY_TRACE_CHROME);
  g_assert_cmpint (gantry_trace_kind (nsys), ==, GANTRY_TRACE_NSYS);
  g_assert_cmpint (gantry_trace_kind (script), ==, GANTRY_TRACE_NONE);
  g_assert_cmpint (gantry_trace_kind (none), ==, GANTRY_TRACE_NONE);
  g_assert_null (gantry_trace_import (script, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
}

/* Databases with bytes changed: a recording or an error. */
static void
test_damaged_database (void)
{
  g_autofree char *path = fixture ("nsys-2024.sqlite"), *data = NULL;
  g_autoptr (GRand) random = test_rand (44);
  guint refused = 0;
  gsize size;

  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  for (guint round = 0; round < 400; round++)
    {
      g_autofree char *copy = g_memdup2 (data, size);
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryRecording) recording = NULL;

      for (gint32 n = g_rand_int_range (random, 1, 20); n > 0; n--)
        copy[g_rand_int_range (random, 16, (gint32) size)] = (char) g_rand_int_range (random, 0, 256);
      bytes = g_bytes_new (copy, round % 3 == 0 ? (gsize) g_rand_int_range (random, 0, (gint32) size) : size);
      recording = gantry_trace_import_nsys (bytes, "database", NULL, &error);
      g_assert_true ((recording == NULL) == (error != NULL));
      refused += recording == NULL;
    }
  g_test_message ("%u of 400 refused", refused);
  g_assert_cmpuint (refused, >, 50);
}

/* Exports that were made to do harm: what would run code of their own is an error, and what goes on for ever ends when it is
 * cancelled. */
static void
test_strangers (void)
{
  static const struct
  {
    const char *sql;
    gboolean ends;
  } cases[] = {
    { "CREATE TABLE StringIds (id INTEGER, value TEXT AS (zeroblob (60000000 + id)))", FALSE },
    { "CREATE TABLE StringIds (id INTEGER, value TEXT AS (printf ('%9999999d', id)) STORED)", FALSE },
    { "CREATE VIRTUAL TABLE NVTX_EVENTS USING rtree (id, a, b)", FALSE },
    { "CREATE TABLE StringIds (id INTEGER, value TEXT); CREATE INDEX x ON StringIds (hex (zeroblob (1000 + id)))", FALSE },
    { "CREATE TABLE StringIds (id INTEGER, value TEXT); CREATE INDEX x ON StringIds (id) WHERE id > 3", FALSE },
    { "CREATE TABLE NVTX_EVENTS (start INTEGER); CREATE VIEW StringIds AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1"
      " FROM n) SELECT x AS id, 'a' AS value FROM n",
      TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryRecording) recording = NULL;
      sqlite3 *db = NULL;

      g_close (g_file_open_tmp ("stranger-XXXXXX.sqlite", &path, NULL), NULL);
      g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
      g_assert_cmpint (sqlite3_exec (db, cases[i].sql, NULL, NULL, NULL), ==, SQLITE_OK);
      sqlite3_close (db);
      recording = gantry_trace_import (path, NULL, &error);
      g_test_message ("%s: %s", cases[i].sql, error != NULL ? error->message : "taken over");
      g_assert_true ((recording == NULL) == (error != NULL));
      if (!cases[i].ends)
        {
          g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
          g_assert_nonnull (strstr (error->message, "code of the file's own"));
        }
      g_unlink (path);
    }
}

static void
test_cancelled (void)
{
  g_autofree char *path = fixture ("kineto.json.gz");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GantryProgress progress = { .cancellable = cancellable };
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_null (gantry_trace_import (path, &progress, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/profiler/import/kineto", test_kineto);
  g_test_add_func ("/profiler/import/begin-end", test_begin_end);
  g_test_add_func ("/profiler/import/nsys", test_nsys);
  g_test_add_func ("/profiler/import/nsys-old", test_nsys_old);
  g_test_add_func ("/profiler/import/own", test_own);
  g_test_add_func ("/profiler/import/wrong", test_wrong);
  g_test_add_func ("/profiler/import/cut-off", test_cut_off);
  g_test_add_func ("/profiler/import/many-threads", test_many_threads);
  g_test_add_func ("/profiler/import/kinds", test_kinds);
  g_test_add_func ("/profiler/import/damaged-database", test_damaged_database);
  g_test_add_func ("/profiler/import/strangers", test_strangers);
  g_test_add_func ("/profiler/import/cancelled", test_cancelled);
  return g_test_run ();
}
