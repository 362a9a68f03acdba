/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of other programs as documents: opened by what they are, saved as sessions, opened again without the trace; and
 * sessions whose recording is read when it is looked at. */
#include "core/document/outside.h"
#include "tests/core/document/document-test.h"
#include <sqlite3.h>
#include <glib/gstdio.h>
#include <unistd.h>

static char *
fixture (const char *name)
{
  g_autofree char *path = g_build_filename ("tests/fixtures/recordings", name, NULL);

  return doc_file (path);
}

static GantryDocument *
open_document (const char *path)
{
  GantryDocument *document = gantry_document_new ();
  g_autoptr (GError) error = NULL;

  gantry_document_open (document, path, NULL, NULL, &error);
  g_assert_no_error (error);
  return document;
}

static void
assert_same_events (const GantryRecording *a, const GantryRecording *b)
{
  GantryEventTotals x[GANTRY_N_EVENT_KINDS], y[GANTRY_N_EVENT_KINDS];

  gantry_recording_totals (a, x);
  gantry_recording_totals (b, y);
  g_assert_cmpmem (x, sizeof x, y, sizeof y);
  g_assert_cmpuint (gantry_recording_n_lanes (a), ==, gantry_recording_n_lanes (b));
  for (guint lane = 0; lane < gantry_recording_n_lanes (a); lane++)
    {
      g_assert_cmpstr (gantry_recording_lane_name (a, lane), ==, gantry_recording_lane_name (b, lane));
      g_assert_cmpuint (gantry_recording_n_events (a, lane), ==, gantry_recording_n_events (b, lane));
      for (guint64 i = 0; i < gantry_recording_n_events (a, lane); i++)
        {
          GantryEvent e = { 0 }, f = { 0 };

          gantry_recording_get (a, lane, i, &e);
          gantry_recording_get (b, lane, i, &f);
          g_assert_cmpmem (&e, sizeof e, &f, sizeof f);
        }
    }
}

static void
test_kineto (void)
{
  g_autofree char *path = fixture ("kineto.json.gz"), *folder = g_dir_make_tmp ("gantry-outside-XXXXXX", NULL);
  g_autofree char *session = g_build_filename (folder, "run.gantry", NULL);
  g_autoptr (GantryDocument) document = open_document (path), again = NULL;
  g_autoptr (GPtrArray) runs = NULL;
  g_autoptr (GError) error = NULL;
  GantryRunResult *run = gantry_document_get_run (document);

  g_assert_true (gantry_document_is_recording (document));
  g_assert_null (gantry_document_run_difference (document, run, NULL, 0)); /* nothing is planned that it could differ from */
  g_assert_nonnull (gantry_document_get_compilation (document)->plan);
  g_assert_cmpuint (gantry_document_get_runs (document)->len, ==, 1);
  g_assert_cmpstr (run->name, ==, "kineto.json.gz");
  g_assert_cmpstr (run->device, ==, "NVIDIA H200");
  g_assert_true (g_str_has_prefix (run->when, "2023-11-14T22:13:20")); /* when it was recorded, whenever its file was written */
  g_assert_cmpuint (run->n_runs, ==, 3);
  g_assert_cmpfloat_with_epsilon (run->milliseconds, 0.25, 1e-9);
  g_assert_true (gantry_document_save (document, session, &error));
  g_assert_no_error (error);
  again = open_document (session);
  g_assert_cmpstr (gantry_document_get_model (again)->format, ==, "recording");
  assert_same_events (run->recording, gantry_document_get_run (again)->recording);
  runs = gantry_runs_read (session, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (runs->len, ==, 1);
  assert_same_events (run->recording, ((GantryRunResult *) g_ptr_array_index (runs, 0))->recording);
  g_unlink (session);
  g_rmdir (folder);
}

/* In the window it is opened on a worker thread, and compiled again as any other document. */
static void
test_nsys_async (void)
{
  g_autofree char *path = fixture ("nsys-2024.sqlite");
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GError) error = NULL;

  gantry_document_open_async (document, path, NULL, NULL, NULL);
  doc_wait_until (gantry_document_get_run (document) != NULL);
  g_assert_cmpstr (gantry_document_get_path (document), ==, path);
  g_assert_true (gantry_document_recompile (document, NULL, &error));
  g_assert_no_error (error);
  g_assert_nonnull (gantry_document_get_run (document));
  doc_wait (document);
}

static void
test_wrong (void)
{
  static const char *const texts[] = { "{\"a\": 1}", "[1, 2", "{\"traceEvents\": []}" };
  g_autofree char *folder = g_dir_make_tmp ("gantry-outside-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "trace.json", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GantryDocument) document = gantry_document_new ();
      g_autoptr (GError) error = NULL;

      g_assert_true (g_file_set_contents (path, texts[i], -1, NULL));
      g_assert_false (gantry_document_open (document, path, NULL, NULL, &error));
      g_assert_true (error->domain == GANTRY_ERROR);
      g_assert_true (g_str_has_prefix (error->message, path));
    }
  g_unlink (path);
  g_rmdir (folder);
}

/* A recording of so many chunks that a session reads them when they are looked at. */
static GantryRecording *
many_chunks (void)
{
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();

  for (guint lane = 4; lane < 44; lane++)
    for (gint64 i = 0; i < 500; i++)
      gantry_recording_builder_add (builder, &(GantryEvent){ .begin = 10 * i, .end = 10 * i + lane % 10, .lane = (guint8) lane, .bytes = (guint64) i });
  gantry_recording_builder_add_run (builder, &(GantryRecordedRun){ 0, 5000, 0 });
  return gantry_recording_builder_end (builder);
}

/* A recording that does not say when it was made has the date of its file, and says that. What counts from a moment that is named does. */
static void
test_when (void)
{
  static const struct
  {
    const char *epoch, *when;
  } cases[] = {
    { "", "file of 20" },
    { ", \"baseTimeNanoseconds\": 1700000000000000000", "2023-11-14T22:13:25" },
    { ", \"baseTimeNanoseconds\": 7", "file of 20" },
    { ", \"baseTimeNanoseconds\": \"soon\"", "file of 20" },
  };
  g_autofree char *folder = g_dir_make_tmp ("gantry-outside-XXXXXX", NULL), *path = g_build_filename (folder, "t.json", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 5000000, \"dur\": 7, \"pid\": 1, \"tid\": 1, "
                                               "\"name\": \"work\"}]%s}",
                                               cases[i].epoch);
      g_autoptr (GantryDocument) document = NULL;

      g_assert_true (g_file_set_contents (path, text, -1, NULL));
      document = open_document (path);
      g_test_message ("%s", gantry_document_get_run (document)->when);
      g_assert_true (g_str_has_prefix (gantry_document_get_run (document)->when, cases[i].when));
    }
  g_unlink (path);
  g_rmdir (folder);
}

static void
test_many_chunks (void)
{
  g_autofree char *path = fixture ("chrome.json"), *folder = g_dir_make_tmp ("gantry-outside-XXXXXX", NULL);
  g_autofree char *session = g_build_filename (folder, "run.gantry", NULL);
  g_autofree char *other = g_build_filename (folder, "copy.gantry", NULL);
  g_autoptr (GantryDocument) document = open_document (path), again = NULL, copied = NULL;
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();
  g_autoptr (GError) error = NULL;

  run->plan = gantry_plan_ref (gantry_document_get_compilation (document)->plan);
  run->recording = many_chunks ();
  gantry_document_add_run (document, run);
  g_assert_true (gantry_document_save (document, session, &error));
  g_assert_no_error (error);
  again = open_document (session);
  /* Saved elsewhere before anything was looked at. */
  g_assert_true (gantry_document_save (again, other, &error));
  g_assert_no_error (error);
  assert_same_events (run->recording, gantry_document_get_run (again)->recording);
  copied = open_document (other);
  g_assert_true (gantry_recording_load_all (gantry_document_get_run (copied)->recording, NULL, &error));
  g_assert_no_error (error);
  assert_same_events (run->recording, gantry_document_get_run (copied)->recording);
  g_unlink (session);
  g_unlink (other);
  g_rmdir (folder);
}

/* Another program deletes the run that is open, or the file is damaged: what cannot be read is not saved as something else. */
static void
test_lost_chunk (void)
{
  g_autofree char *path = fixture ("chrome.json"), *folder = g_dir_make_tmp ("gantry-outside-XXXXXX", NULL);
  g_autofree char *session = g_build_filename (folder, "run.gantry", NULL);
  g_autofree char *other = g_build_filename (folder, "copy.gantry", NULL);
  g_autoptr (GantryDocument) document = open_document (path), again = NULL;
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();
  g_autoptr (GError) error = NULL;
  sqlite3 *db = NULL;

  run->plan = gantry_plan_ref (gantry_document_get_compilation (document)->plan);
  run->recording = many_chunks ();
  gantry_document_add_run (document, run);
  g_assert_true (gantry_document_save (document, session, &error));
  again = open_document (session);
  g_assert_cmpint (sqlite3_open (session, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, "DELETE FROM chunks WHERE number = 20", NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
  g_assert_false (gantry_document_save (again, other, &error));
  g_assert_nonnull (strstr (error->message, "cannot be read any more"));
  g_assert_false (g_file_test (other, G_FILE_TEST_EXISTS));
  g_unlink (session);
  g_rmdir (folder);
}

/* What CUPTI recorded opens as a trace does, whatever the file is called. */
static void
test_cupti (void)
{
  g_autofree char *path = doc_file ("fuzz/corpus/cupti/small.cupti"), *broken = doc_file ("fuzz/corpus/cupti/unknown-kind.bin");
  g_autoptr (GantryDocument) document = open_document (path);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) runs = gantry_runs_read (path, NULL, NULL, &error);
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];

  g_assert_no_error (error);
  g_assert_true (gantry_outside_is_trace (path));
  g_assert_false (gantry_outside_is_trace (broken));
  gantry_recording_totals (gantry_document_get_run (document)->recording, totals);
  g_assert_cmpuint (totals[GANTRY_EVENT_KERNEL].count, >, 0);
  g_assert_cmpuint (runs->len, ==, 1);
  assert_same_events (gantry_document_get_run (document)->recording, ((GantryRunResult *) g_ptr_array_index (runs, 0))->recording);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/document/outside/kineto", test_kineto);
  g_test_add_func ("/document/outside/when", test_when);
  g_test_add_func ("/document/outside/nsys-async", test_nsys_async);
  g_test_add_func ("/document/outside/wrong", test_wrong);
  g_test_add_func ("/document/outside/many-chunks", test_many_chunks);
  g_test_add_func ("/document/outside/lost-chunk", test_lost_chunk);
  g_test_add_func ("/document/outside/cupti", test_cupti);
  return g_test_run ();
}
