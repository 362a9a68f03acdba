/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and deletions that overlap with what else is done: another process holds the file's lock, so that they wait for it. */
#include "core/document/outside.h"
#include "tests/core/document/document-test.h"
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

typedef struct
{
  char *folder, *path, *other;
  sqlite3 *lock; /* (nullable) */
} Place;

static void
set_up (Place *place, gconstpointer data)
{
  place->folder = g_dir_make_tmp ("gantry-test-XXXXXX", NULL);
  place->path = g_build_filename (place->folder, "x.gantry", NULL);
  place->other = g_build_filename (place->folder, "y.gantry", NULL);
  place->lock = NULL;
}

static void
tear_down (Place *place, gconstpointer data)
{
  g_unlink (place->path);
  g_unlink (place->other);
  g_assert_cmpint (g_rmdir (place->folder), ==, 0);
  g_free (place->folder);
  g_free (place->path);
  g_free (place->other);
}

static void
lock (Place *place)
{
  g_assert_cmpint (sqlite3_open (place->path, &place->lock), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (place->lock, "BEGIN IMMEDIATE", NULL, NULL, NULL), ==, SQLITE_OK);
}

static void
unlock (Place *place)
{
  g_assert_cmpint (sqlite3_exec (place->lock, "ROLLBACK", NULL, NULL, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_close (place->lock), ==, SQLITE_OK);
}

static GantryDocument *
open_model (int batch)
{
  g_autofree char *path = doc_file ("data/models/open-batch.onnx");
  g_autoptr (GantryBindings) bindings = gantry_bindings_new ();
  GantryOpenOptions options = GANTRY_OPEN_OPTIONS_INIT;
  GantryDocument *document = gantry_document_new ();
  g_autoptr (GError) error = NULL;

  gantry_bindings_set_dim (bindings, "batch", batch);
  options.bindings = bindings;
  gantry_document_open (document, path, &options, NULL, &error);
  g_assert_no_error (error);
  return document;
}

static GantryRunResult *
add_run (GantryDocument *document)
{
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();

  run->plan = gantry_plan_ref (gantry_document_get_plan (document));
  run->recording = gantry_recording_from_plan (gantry_compilation_module (gantry_document_get_compilation (document)), run->plan);
  gantry_document_add_run (document, run);
  return gantry_document_get_run (document);
}

static void
save (GantryDocument *document, const char *path)
{
  g_autoptr (GError) error = NULL;

  gantry_document_save (document, path, &error);
  g_assert_no_error (error);
}

static guint
n_in_file (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) list = gantry_runs_list (path, &error);

  g_assert_no_error (error);
  return list->len;
}

static void
saved (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  gantry_document_save_finish (GANTRY_DOCUMENT (source), result, &error);
  g_assert_no_error (error);
  ++*(guint *) data;
}

static void
deleted (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  gantry_document_delete_run_finish (GANTRY_DOCUMENT (source), result, &error);
  g_assert_no_error (error);
  ++*(guint *) data;
}

/* The sizes change while the file is written: what was written is taken note of all the same, and the next save goes on from there. */
static void
test_sizes_while_saving (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (3), again = gantry_document_new ();
  g_autoptr (GError) error = NULL;
  guint n = 0;

  for (guint first = 0; first < 2; first++)
    {
      lock (place);
      gantry_document_set_limit (document, 1000000000 + first);
      gantry_document_save_async (document, first == 0 ? place->path : NULL, saved, &n);
      gantry_document_bind_dim (document, "batch", 7 + (int) first);
      doc_wait (document);
      g_assert_cmpint (gantry_document_get_model (document)->bindings->dims[0].size, ==, 7 + (int) first);
      g_assert_cmpuint (n, ==, first);
      unlock (place);
      doc_wait_until (n == first + 1);
      g_assert_cmpstr (gantry_document_get_session_path (document), ==, place->path);
      g_assert_cmpstr (gantry_document_get_path (document), ==, place->path);
      g_assert_true (gantry_document_is_unsaved (document)); /* the sizes are */
    }
  save (document, NULL);
  g_assert_false (gantry_document_is_unsaved (document));
  gantry_document_open (again, place->path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (gantry_document_get_model (again)->bindings->dims[0].size, ==, 8);
}

/* Two saves that follow each other at once: the second is no change by somebody else. */
static void
test_two_saves (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (3);
  guint n = 0;

  save (document, place->path);
  for (guint i = 0; i < 2; i++)
    {
      gantry_document_set_limit (document, 1000000000 + i);
      gantry_document_save_async (document, NULL, saved, &n);
    }
  doc_wait_until (n == 2);
  g_assert_false (gantry_document_is_unsaved (document));
}

/* What somebody else has deleted from the file is deleted here too. */
static void
test_deleted_elsewhere (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (3);
  GantryRunResult *run = add_run (document);
  const char *uids[] = { run->uid, NULL };
  g_autoptr (GError) error = NULL;
  guint n = 0;

  save (document, place->path);
  g_assert_true (gantry_runs_delete (place->path, uids, &error));
  g_assert_no_error (error);
  g_assert_false (gantry_runs_delete (place->path, uids, &error)); /* who names it is told that it is not there */
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  gantry_document_delete_run_async (document, run, deleted, &n);
  doc_wait_until (n == 1);
  g_assert_cmpuint (gantry_document_get_runs (document)->len, ==, 0);
  g_assert_null (gantry_document_get_run (document));
}

/* A run that is being saved when it is deleted does not stay in the file; and what is saved meanwhile waits. */
static void
test_deleted_while_saving (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (3);
  guint n_saved = 0, n_deleted = 0;
  GantryRunResult *run;

  save (document, place->path);
  run = add_run (document);
  lock (place);
  gantry_document_save_async (document, NULL, saved, &n_saved);
  gantry_document_delete_run_async (document, run, deleted, &n_deleted);
  gantry_document_save_async (document, NULL, saved, &n_saved);
  unlock (place);
  doc_wait_until (n_saved == 2 && n_deleted == 1);
  g_assert_cmpuint (n_in_file (place->path), ==, 0);
  g_assert_cmpuint (gantry_document_get_runs (document)->len, ==, 0);
  g_assert_false (gantry_document_is_unsaved (document));
}

/* Deleting is work like any other: the document is busy with it, and says so. */
static void
test_busy (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (3);
  GantryRunResult *run = add_run (document);
  g_autofree char *activity = NULL;
  guint n = 0;

  save (document, place->path);
  lock (place);
  gantry_document_delete_run_async (document, run, deleted, &n);
  g_assert_true (gantry_document_is_busy (document));
  g_object_get (document, "activity", &activity, NULL);
  g_assert_cmpstr (activity, ==, "Deleting a run");
  gantry_document_cancel (document); /* that the file is made smaller */
  unlock (place);
  doc_wait_until (n == 1);
  doc_wait (document);
  g_assert_cmpuint (n_in_file (place->path), ==, 0);
}

/* The run is deleted from the file that was open, and not from one that is opened meanwhile and has it too. */
static void
test_opened_while_deleting (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (3);
  GantryRunResult *run = add_run (document);
  g_autoptr (GError) error = NULL;
  guint n = 0;

  save (document, place->other);
  save (document, place->path);
  lock (place);
  gantry_document_delete_run_async (document, run, deleted, &n);
  gantry_document_open (document, place->other, NULL, NULL, &error);
  g_assert_no_error (error);
  unlock (place);
  doc_wait_until (n == 1);
  g_assert_cmpuint (gantry_document_get_runs (document)->len, ==, 1);
  g_assert_cmpuint (n_in_file (place->other), ==, 1);
  g_assert_cmpuint (n_in_file (place->path), ==, 0);
}

/* The run of a trace was in no file of ours and nothing is lost with it; one that was made here and is deleted is lost as was asked. */
static void
test_nothing_unsaved (Place *place, gconstpointer data)
{
  g_autofree char *trace = doc_file ("tests/fixtures/recordings/chrome.json");
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GError) error = NULL;
  guint n = 0;

  gantry_document_open (document, trace, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (gantry_document_get_run (document));
  gantry_document_delete_run_async (document, gantry_document_get_run (document), deleted, &n);
  doc_wait_until (n == 1);
  g_assert_false (gantry_document_is_unsaved (document));
  g_clear_object (&document);
  document = open_model (3);
  add_run (document);
  g_assert_true (gantry_document_is_unsaved (document));
  gantry_document_delete_run_async (document, gantry_document_get_run (document), deleted, &n);
  doc_wait_until (n == 2);
  g_assert_false (gantry_document_is_unsaved (document));
}

/* Runs come and go while the program is compiled again: the worker has a list of its own. */
static void
test_run_while_compiling (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (3);
  guint n = 0;

  add_run (document);
  save (document, place->path);
  gantry_document_set_pass_enabled (document, "cse", FALSE);
  for (guint i = 0; i < 100; i++)
    add_run (document);
  gantry_document_delete_run_async (document, g_ptr_array_index (gantry_document_get_runs (document), 0), deleted, &n);
  doc_wait_until (n == 1);
  doc_wait (document);
  g_assert_cmpuint (gantry_document_get_runs (document)->len, ==, 100);
}

/* What a run was held against is kept with it: the limit of the program may be another by then. */
static void
test_limit_of_run (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (3), again = gantry_document_new ();
  g_autoptr (GError) error = NULL;

  add_run (document)->limit = G_GUINT64_CONSTANT (12345678901);
  save (document, place->path);
  gantry_document_open (again, place->path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (gantry_document_get_run (again)->limit, ==, G_GUINT64_CONSTANT (12345678901));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add ("/document/runs/" name, Place, NULL, set_up, function, tear_down)
  ADD ("limit", test_limit_of_run);
  ADD ("sizes-while-saving", test_sizes_while_saving);
  ADD ("two-saves", test_two_saves);
  ADD ("deleted-elsewhere", test_deleted_elsewhere);
  ADD ("deleted-while-saving", test_deleted_while_saving);
  ADD ("busy", test_busy);
  ADD ("opened-while-deleting", test_opened_while_deleting);
  ADD ("nothing-unsaved", test_nothing_unsaved);
  ADD ("run-while-compiling", test_run_while_compiling);
#undef ADD
  return g_test_run ();
}
