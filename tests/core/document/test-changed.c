/* SPDX-License-Identifier: Apache-2.0 */
/* A model whose file changes while it is open: what is run or compiled is what was opened, or nothing. */
#include "tests/core/document/document-test.h"
#include <glib/gstdio.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>
#include <utime.h>

typedef struct
{
  char *folder, *model, *session;
} Place;

static void
set_up (Place *place, gconstpointer data)
{
  g_autofree char *from = doc_file ("data/programs/transformer-tiny.gir"), *text = NULL;
  gsize length;

  place->folder = g_dir_make_tmp ("gantry-test-XXXXXX", NULL);
  place->model = g_build_filename (place->folder, "m.gir", NULL);
  place->session = g_build_filename (place->folder, "m.gantry", NULL);
  g_assert_true (g_file_get_contents (from, &text, &length, NULL));
  g_assert_true (g_file_set_contents (place->model, text, (gssize) length, NULL));
}

static void
tear_down (Place *place, gconstpointer data)
{
  g_unlink (place->model);
  g_unlink (place->session);
  g_assert_cmpint (g_rmdir (place->folder), ==, 0);
  g_free (place->folder);
  g_free (place->model);
  g_free (place->session);
}

static GantryDocument *
open_model (const Place *place)
{
  g_autoptr (GError) error = NULL;
  GantryDocument *document = gantry_document_new ();

  gantry_document_open (document, place->model, NULL, NULL, &error);
  g_assert_no_error (error);
  return document;
}

/* As an exporter does that writes over the file. */
static void
export_again (const Place *place)
{
  g_autofree char *from = doc_file ("data/programs/optimizer-8.gir"), *text = NULL;
  FILE *file = g_fopen (place->model, "w");
  gsize length;

  g_assert_true (g_file_get_contents (from, &text, &length, NULL));
  g_assert_cmpuint (fwrite (text, 1, length, file), ==, length);
  g_assert_cmpint (fclose (file), ==, 0);
}

static void
write_copy (const Place *place, const char *name)
{
  g_autofree char *from = doc_file (name), *text = NULL;
  gsize length;

  g_assert_true (g_file_get_contents (from, &text, &length, NULL));
  g_assert_true (g_file_set_contents (place->model, text, (gssize) length, NULL)); /* another file in its place */
}

/* What was only touched, or written again with the same bytes, is not told to have changed; the same size with other bytes is. */
static void
test_touched (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (place);
  GantryModel *model = gantry_document_get_model (document);
  g_autofree char *hash = gantry_model_hash (model, NULL), *text = NULL;
  struct utimbuf then = { 1000000000, 1000000000 };
  g_autoptr (GError) error = NULL;
  gsize length;

  g_assert_nonnull (hash);
  g_assert_cmpint (g_utime (place->model, &then), ==, 0);
  g_assert_null (gantry_model_find_changed (model));
  g_assert_true (gantry_model_check_files (model, &error));
  write_copy (place, "data/programs/transformer-tiny.gir");
  g_assert_null (gantry_model_find_changed (model));
  g_assert_true (g_file_get_contents (place->model, &text, &length, NULL));
  text[length - 1] = ' ';
  g_assert_true (g_file_set_contents (place->model, text, (gssize) length, NULL));
  g_assert_cmpstr (gantry_model_find_changed (model), ==, place->model);
  write_copy (place, "data/programs/transformer-tiny.gir");
  g_assert_null (gantry_model_find_changed (model));
  export_again (place);
  g_assert_cmpstr (gantry_model_find_changed (model), ==, place->model);
}

static void
ended (GObject *source, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

static void
test_refused (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (place);
  g_autoptr (GAsyncResult) compiled = NULL, ran = NULL, again = NULL;
  g_autoptr (GError) error = NULL, run_error = NULL, save_error = NULL, reload_error = NULL;
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();
  GantryModel *before = gantry_document_get_model (document);

  run->plan = gantry_plan_ref (gantry_document_get_plan (document));
  run->recording = gantry_recording_from_plan (gantry_compilation_module (gantry_document_get_compilation (document)), run->plan);
  gantry_document_add_run (document, run);
  gantry_document_set_limit (document, 5000000000);
  g_assert_null (gantry_model_find_changed (before));
  export_again (place);
  g_assert_cmpstr (gantry_model_find_changed (before), ==, place->model);
  gantry_document_recompile_async (document, ended, &compiled);
  doc_wait_until (compiled != NULL);
  g_assert_false (gantry_document_recompile_finish (document, compiled, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, place->model));
  gantry_document_run_async (document, "/nowhere/gantry-cli", 1, ended, &ran);
  doc_wait_until (ran != NULL);
  g_assert_false (gantry_document_run_finish (document, ran, &run_error));
  g_assert_error (run_error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_nonnull (strstr (run_error->message, "has changed since it was opened"));
  g_assert_true (gantry_document_get_model (document) == before);
  g_assert_false (gantry_document_save (document, place->session, &save_error)); /* nobody knows of what it would be */
  g_assert_error (save_error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  /* What it holds now, with what was set. */
  gantry_document_reload_async (document, FALSE, ended, &again);
  doc_wait_until (again != NULL);
  g_assert_true (gantry_document_recompile_finish (document, again, &reload_error));
  g_assert_no_error (reload_error);
  g_assert_true (gantry_document_get_model (document) != before);
  g_assert_null (gantry_model_find_changed (gantry_document_get_model (document)));
  g_assert_null (gantry_document_get_run (document)); /* it was of another program */
  g_assert_cmpuint (gantry_document_get_settings (document)->target.memory_limit, ==, 5000000000);
  g_assert_nonnull (gantry_document_get_undo_name (document));
  doc_wait (document);
}

/* The session is of what was opened, also when the file changes between opening and saving. */
static void
test_hash (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (place), again = gantry_document_new ();
  g_autofree char *hash = gantry_model_hash (gantry_document_get_model (document), NULL);
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (strlen (hash), ==, 64);
  g_assert_true (gantry_document_save (document, place->session, NULL));
  export_again (place);
  g_assert_false (gantry_document_open (again, place->session, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_CHANGED);
}

/* The same program with another name in it. */
static void
rename_input (const Place *place)
{
  g_autoptr (GString) changed = NULL;
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (place->model, &text, NULL, NULL));
  changed = g_string_new (text);
  g_assert_cmpuint (g_string_replace (changed, "\"tokens\"", "\"token_ids\"", 0), >, 0);
  g_assert_true (g_file_set_contents (place->model, changed->str, (gssize) changed->len, NULL));
}

static void
add_run (GantryDocument *document)
{
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();

  run->plan = gantry_plan_ref (gantry_document_get_plan (document));
  run->recording = gantry_recording_from_plan (gantry_compilation_module (gantry_document_get_compilation (document)), run->plan);
  gantry_document_add_run (document, run);
}

static void
saved (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  gantry_document_save_finish (GANTRY_DOCUMENT (source), result, &error);
  g_assert_no_error (error);
  *(gboolean *) data = TRUE;
}

/* The model is loaded again, and is another one, while it is saved for the first time: the file is of the one before until it is saved
 * again. */
static void
test_reload_while_saving (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (place), again = gantry_document_new ();
  g_autofree char *hash = gantry_model_hash (gantry_document_get_model (document), NULL);
  g_autoptr (GAsyncResult) reloaded = NULL;
  g_autoptr (GError) error = NULL;
  gboolean done = FALSE;
  sqlite3 *lock;

  g_assert_cmpint (sqlite3_open (place->session, &lock), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (lock, "BEGIN IMMEDIATE", NULL, NULL, NULL), ==, SQLITE_OK);
  gantry_document_save_async (document, place->session, saved, &done);
  rename_input (place);
  gantry_document_reload_async (document, FALSE, ended, &reloaded);
  doc_wait_until (reloaded != NULL);
  g_assert_true (gantry_document_recompile_finish (document, reloaded, &error));
  doc_wait (document);
  g_assert_false (done);
  g_assert_cmpint (sqlite3_close (lock), ==, SQLITE_OK);
  doc_wait_until (done);
  g_assert_cmpstr (gantry_document_get_session_path (document), ==, place->session);
  g_assert_true (gantry_document_is_unsaved (document));
  g_assert_false (gantry_document_open (again, place->session, NULL, NULL, &error)); /* it is of the model before */
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_CHANGED);
  g_clear_error (&error);
  gantry_document_save (document, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (gantry_document_is_unsaved (document));
  gantry_document_open (again, place->session, NULL, NULL, &error);
  g_assert_no_error (error);
}

/* A run that ends while its model is loaded again is one of the model as it was. */
static void
test_run_while_reloading (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (place);
  g_autofree char *hash = gantry_model_hash (gantry_document_get_model (document), NULL);
  g_autoptr (GAsyncResult) reloaded = NULL;

  rename_input (place);
  gantry_document_reload_async (document, FALSE, ended, &reloaded);
  add_run (document);
  doc_wait_until (reloaded != NULL);
  g_assert_true (gantry_document_recompile_finish (document, reloaded, NULL));
  g_assert_cmpstr (((GantryRunResult *) g_ptr_array_index (gantry_document_get_runs (document), 0))->other_model, ==, hash);
  doc_wait (document);
}

/* A session with a run and a limit, saved; its model then has changed. (transfer full) */
static GantryDocument *
open_session (const Place *place, char **hash)
{
  g_autoptr (GantryDocument) saved = open_model (place);
  GantryDocument *document = gantry_document_new ();
  g_autoptr (GError) error = NULL;

  add_run (saved);
  gantry_document_set_limit (saved, 5000000000);
  gantry_document_wait (saved);
  g_assert_true (gantry_document_save (saved, place->session, &error));
  g_assert_true (gantry_document_open (document, place->session, NULL, NULL, &error));
  g_assert_false (gantry_document_is_unsaved (document));
  *hash = gantry_model_hash (gantry_document_get_model (document), NULL);
  rename_input (place);
  return document;
}

static void
reload (GantryDocument *document)
{
  g_autoptr (GAsyncResult) ended_with = NULL;
  g_autoptr (GError) error = NULL;

  gantry_document_reload_async (document, FALSE, ended, &ended_with);
  doc_wait_until (ended_with != NULL);
  gantry_document_recompile_finish (document, ended_with, &error);
  g_assert_no_error (error);
  gantry_document_wait (document);
}

static const char *
model_of_run (GantryDocument *document, guint i)
{
  return ((GantryRunResult *) g_ptr_array_index (gantry_document_get_runs (document), i))->other_model;
}

/* Saved, the session is of the model as it is now, and its first run of the one before; a second is of now. */
static void
save_and_open (const Place *place, GantryDocument *document, const char *before)
{
  g_autoptr (GantryDocument) again = gantry_document_new ();
  g_autoptr (GError) error = NULL;

  add_run (document);
  g_assert_true (gantry_document_save (document, NULL, &error));
  g_assert_no_error (error);
  g_assert_false (gantry_document_is_unsaved (document));
  gantry_document_open (again, place->session, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (gantry_document_is_unsaved (again));
  g_assert_cmpuint (gantry_document_get_runs (again)->len, ==, 2);
  g_assert_cmpstr (model_of_run (again, 0), ==, before);
  g_assert_cmpstr (model_of_run (again, 1), ==, NULL);
  g_assert_cmpuint (gantry_document_get_settings (again)->target.memory_limit, ==, 5000000000);
}

/* A session whose model was loaded again is unsaved, and may be saved. */
static void
test_reloaded (Place *place, gconstpointer data)
{
  g_autofree char *before = NULL;
  g_autoptr (GantryDocument) document = open_session (place, &before);
  g_autoptr (GAsyncResult) merged = NULL;
  gboolean modified = FALSE;

  reload (document);
  g_assert_true (gantry_document_is_unsaved (document));
  g_object_get (document, "modified", &modified, NULL);
  g_assert_true (modified);
  g_assert_cmpstr (model_of_run (document, 0), ==, before);
  gantry_document_merge_runs_async (document, ended, &merged);
  doc_wait_until (merged != NULL);
  g_assert_cmpuint (gantry_document_merge_runs_finish (document, merged, NULL), ==, 0);
  save_and_open (place, document, before);
  reload (document); /* nothing has changed */
  g_assert_false (gantry_document_is_unsaved (document));
}

/* What others add to the file before it is saved is of the model that the file is of, and a window that has it open as that model does not
 * write it over once it is of another. */
static void
test_two_models (Place *place, gconstpointer data)
{
  g_autofree char *before = NULL;
  g_autoptr (GantryDocument) document = open_session (place, &before), other = gantry_document_new ();
  GantryOpenOptions options = GANTRY_OPEN_OPTIONS_INIT;
  g_autoptr (GError) error = NULL, conflict = NULL;

  options.changed_model = TRUE;
  gantry_document_open (other, place->session, &options, NULL, &error);
  g_assert_no_error (error);
  save_and_open (place, other, before);
  gantry_document_set_limit (document, 6000000000);
  g_assert_false (gantry_document_save (document, NULL, &conflict));
  g_assert_error (conflict, GANTRY_ERROR, GANTRY_ERROR_INVALID);
}

/* Opened anew it is refused, unless that is accepted. */
static void
test_accepted (Place *place, gconstpointer data)
{
  g_autofree char *before = NULL;
  g_autoptr (GantryDocument) document = open_session (place, &before);
  GantryOpenOptions options = GANTRY_OPEN_OPTIONS_INIT;
  g_autoptr (GError) refused = NULL, error = NULL;

  g_assert_false (gantry_document_open (document, place->session, NULL, NULL, &refused));
  g_assert_error (refused, GANTRY_ERROR, GANTRY_ERROR_CHANGED);
  g_assert_nonnull (strstr (refused->message, place->model));
  options.changed_model = TRUE;
  gantry_document_open (document, place->session, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (gantry_document_is_unsaved (document));
  g_assert_null (gantry_document_get_run (document));
  g_assert_cmpstr (model_of_run (document, 0), ==, before);
  save_and_open (place, document, before);
  /* Of a model that has not changed there is nothing to accept. */
  gantry_document_open (document, place->session, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (gantry_document_is_unsaved (document));
}

/* One that carries its model along carries the new one once it is saved. */
static void
test_carried (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (place), again = gantry_document_new ();
  g_autofree char *hash = NULL, *now = NULL;
  g_autoptr (GError) error = NULL;

  gantry_document_set_embed (document, TRUE);
  g_assert_true (gantry_document_save (document, place->session, &error));
  gantry_document_set_embed (document, FALSE);
  rename_input (place);
  reload (document);
  hash = gantry_model_hash (gantry_document_get_model (document), NULL);
  g_assert_true (gantry_document_save (document, NULL, &error));
  g_assert_no_error (error);
  g_unlink (place->model);
  gantry_document_open (again, place->session, NULL, NULL, &error);
  g_assert_no_error (error);
  now = gantry_model_hash (gantry_document_get_model (again), NULL);
  g_assert_cmpstr (now, ==, hash);
}

/* The same bytes again, with the ids that passes gave meanwhile: the run is still one of this program. */
static void
test_same_bytes (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (place);
  g_autoptr (GAsyncResult) trained = NULL, again = NULL;
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();
  g_autoptr (GError) error = NULL;
  GantryTrainingOptions training;

  gantry_training_options_init (&training);
  gantry_document_set_training (document, &training);
  gantry_training_options_clear (&training);
  gantry_document_recompile_async (document, ended, &trained);
  doc_wait_until (trained != NULL);
  g_assert_true (gantry_document_recompile_finish (document, trained, &error));
  run->plan = gantry_plan_ref (gantry_document_get_plan (document));
  run->recording = gantry_recording_from_plan (gantry_compilation_module (gantry_document_get_compilation (document)), run->plan);
  gantry_document_add_run (document, run);
  gantry_document_reload_async (document, FALSE, ended, &again);
  doc_wait_until (again != NULL);
  g_assert_true (gantry_document_recompile_finish (document, again, &error));
  g_assert_no_error (error);
  g_assert_nonnull (gantry_document_get_run (document));
  g_assert_cmpstr (gantry_document_get_run (document)->uid, ==, run->uid);
  g_assert_false (gantry_document_is_run_of_another (document, gantry_document_get_run (document)));
}

/* A Python program is also what it imports from its own folder. */
static void
test_imported (Place *place, gconstpointer data)
{
  g_autofree char *cli = g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL);
  g_autofree char *program = g_build_filename (place->folder, "m.py", NULL), *mark = NULL;
  g_autofree char *module = g_build_filename (place->folder, "part.py", NULL);
  g_autoptr (GantryDocument) document = gantry_document_new (), again = gantry_document_new ();
  GantryOpenOptions options = GANTRY_OPEN_OPTIONS_INIT;
  const char *trusted[2] = { NULL, NULL };
  g_autoptr (GError) error = NULL, other = NULL;

  g_setenv ("GANTRY_CLI", cli, TRUE);
  g_assert_true (g_file_set_contents (module, "SCALE = 2.0\n", -1, NULL));
  g_assert_true (g_file_set_contents (program,
                                      "import json\nfrom mindspore import Tensor, jit\nfrom part import SCALE\n@jit\n"
                                      "def f(x):\n    return x * SCALE\nf(Tensor([1.0]))\n",
                                      -1, NULL));
  trusted[0] = mark = gantry_model_program_mark (program, NULL);
  options.trusted = trusted;
  if (!gantry_document_open (document, program, &options, NULL, &error) && strstr (error->message, "has no Python") != NULL)
    g_test_skip ("built without CPython");
  else
    {
      const GantryModel *model;

      g_assert_no_error (error);
      model = gantry_document_get_model (document);
      g_assert_cmpuint (model->files->len, ==, 2); /* nothing of the library */
      g_assert_cmpstr (g_array_index (model->files, GantryModelFile, 1).path, ==, module);
      g_assert_true (gantry_document_save (document, place->session, &error));
      g_assert_null (gantry_model_find_changed (model));
      gantry_document_open (again, place->session, &options, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (g_file_set_contents (module, "SCALE = 30.0\n", -1, NULL));
      g_assert_cmpstr (gantry_model_find_changed (model), ==, module);
      g_assert_false (gantry_document_open (again, place->session, &options, NULL, &other));
      g_assert_error (other, GANTRY_ERROR, GANTRY_ERROR_CHANGED);
    }
  g_unlink (program);
  g_unlink (module);
}

/* Runs that another process adds to the session. */
static void
test_merged (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = open_model (place), other = gantry_document_new ();
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();
  g_autoptr (GAsyncResult) result = NULL, nothing = NULL;
  gboolean modified = TRUE;

  g_assert_true (gantry_document_save (document, place->session, NULL));
  g_assert_true (gantry_document_open (other, place->session, NULL, NULL, NULL));
  run->name = g_strdup ("of another");
  run->plan = gantry_plan_ref (gantry_document_get_plan (other));
  run->recording = gantry_recording_from_plan (gantry_compilation_module (gantry_document_get_compilation (other)), run->plan);
  gantry_document_add_run (other, run);
  g_assert_true (gantry_document_save (other, NULL, NULL));
  gantry_document_merge_runs_async (document, ended, &result);
  doc_wait_until (result != NULL);
  g_assert_cmpuint (gantry_document_merge_runs_finish (document, result, NULL), ==, 1);
  g_assert_cmpstr (gantry_document_get_run (document)->name, ==, "of another");
  g_object_get (document, "modified", &modified, NULL);
  g_assert_false (modified || gantry_document_is_unsaved (document));
  gantry_document_merge_runs_async (document, ended, &nothing);
  doc_wait_until (nothing != NULL);
  g_assert_cmpuint (gantry_document_merge_runs_finish (document, nothing, NULL), ==, 0);
}

/* Mapped files that become shorter */

static volatile guint sum;

/* @n_others: of files that are mapped after it, and still are */
static void
read_after_end (const Place *place, gboolean guarded, guint n_others)
{
  g_autoptr (GPtrArray) others = g_ptr_array_new_with_free_func ((GDestroyNotify) g_mapped_file_unref);
  g_autofree char *bytes = g_malloc0 (1 << 20);
  g_autoptr (GMappedFile) mapped = NULL;

  if (guarded)
    gantry_file_guard_start ();
  memset (bytes, 1, 1 << 20);
  g_assert_true (g_file_set_contents (place->model, bytes, 1 << 20, NULL));
  mapped = gantry_file_map (place->model, NULL);
  g_assert_true (g_file_set_contents (place->session, bytes, 1, NULL));
  for (guint i = 0; i < n_others; i++)
    g_ptr_array_add (others, gantry_file_map (place->session, NULL));
  g_assert_cmpint (truncate (place->model, 4096), ==, 0);
  for (guint i = 0; i < 1 << 20; i += 512)
    sum += (guint) g_mapped_file_get_contents (mapped)[i];
}

static void
test_guarded (Place *place, gconstpointer data)
{
  sum = 0;
  read_after_end (place, TRUE, 0);
  g_assert_cmpuint (sum, ==, 8); /* the page that is left, and zeros */
  sum = 0;
  read_after_end (place, TRUE, 3000); /* as many as there are */
  g_assert_cmpuint (sum, ==, 8);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add ("/changed/" name, Place, NULL, set_up, function, tear_down)
  ADD ("touched", test_touched);
  ADD ("refused", test_refused);
  ADD ("hash", test_hash);
  ADD ("imported", test_imported);
  ADD ("same-bytes", test_same_bytes);
  ADD ("reloaded", test_reloaded);
  ADD ("reload-while-saving", test_reload_while_saving);
  ADD ("run-while-reloading", test_run_while_reloading);
  ADD ("two-models", test_two_models);
  ADD ("accepted", test_accepted);
  ADD ("carried", test_carried);
  ADD ("merged", test_merged);
  ADD ("guarded", test_guarded);
  return g_test_run ();
}
