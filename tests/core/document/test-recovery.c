/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery files: what is unsaved comes back with its edits, whoever holds a lock is left alone, and what is saved is not kept. */
#include "core/document/recovery-private.h"
#include "core/document/recovery.h"
#include "tests/core/document/document-test.h"
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static char *state_folder;
static char *program; /* this one, started again as one that is killed */

static GantryRecovery *
recovery_new (void)
{
  g_autoptr (GError) error = NULL;
  GantryRecovery *recovery = gantry_recovery_new (&error);

  g_assert_no_error (error);
  return recovery;
}

static void
keep (GantryRecovery *recovery, GantryDocument *document, const char *view)
{
  g_autoptr (GError) error = NULL;

  gantry_recovery_save (recovery, document, view, &error);
  g_assert_no_error (error);
  g_assert_false (gantry_recovery_is_behind (recovery, document, view));
}

typedef struct
{
  gboolean done;
  char *view;
  GError *error;
} Answer;

static void
recovered (GObject *source, GAsyncResult *result, gpointer data)
{
  Answer *answer = data;

  gantry_document_recover_finish (GANTRY_DOCUMENT (source), result, &answer->view, &answer->error);
  answer->done = TRUE;
}

static GantryDocument *
recover (GantryRecovery *recovery, char **view)
{
  GantryDocument *document = gantry_document_new ();
  Answer answer = { FALSE, NULL, NULL };

  gantry_document_recover_async (document, recovery, NULL, recovered, &answer);
  while (!answer.done)
    g_main_context_iteration (NULL, TRUE);
  g_assert_no_error (answer.error);
  *view = answer.view;
  gantry_document_wait (document);
  return document;
}

static void
reloaded (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  *(gboolean *) data = gantry_document_recompile_finish (GANTRY_DOCUMENT (source), result, &error);
  g_assert_no_error (error);
}

static void
add_run (GantryDocument *document, const char *name)
{
  g_autoptr (GantryRunResult) result = gantry_run_result_new ();

  result->name = g_strdup (name);
  result->device = g_strdup ("none");
  result->when = g_strdup ("2026-01-01T00:00:00Z");
  result->n_runs = 1;
  result->plan = gantry_plan_ref (gantry_document_get_plan (document));
  result->recording = gantry_recording_from_plan (gantry_compilation_module (gantry_document_get_compilation (document)), result->plan);
  gantry_document_add_run (document, result);
}

static gboolean
has_run (GantryDocument *document, const char *name)
{
  GPtrArray *runs = gantry_document_get_runs (document);

  for (guint i = 0; i < runs->len; i++)
    if (strcmp (((GantryRunResult *) g_ptr_array_index (runs, i))->name, name) == 0)
      return TRUE;
  return FALSE;
}

/* Edits of every kind, two of them undone. */
static void
edit (GantryDocument *document)
{
  g_autoptr (GantryVariant) variant = NULL;
  g_autoptr (GArray) all = NULL;

  gantry_document_set_limit (document, 1000000000);
  gantry_document_set_policy (document, "policy nothing_saveable", NULL);
  gantry_document_wait (document);
  all = doc_residuals (document);
  g_assert_cmpuint (all->len, >, 0);
  gantry_document_set_placement (document, doc_last (document), (const guint32 *) (gpointer) all->data, all->len, GANTRY_PLACEMENT_RECOMPUTE, NULL);
  variant = gantry_document_make_variant (document, "mine");
  gantry_document_add_variant (document, variant);
  gantry_document_set_finite_math (document, TRUE);
  gantry_document_set_pass_enabled (document, "cse", FALSE);
  gantry_document_undo (document);
  gantry_document_undo (document);
  gantry_document_wait (document);
}

/* How much is unrolled, and whether products are fused, is part of what is set. */
static void
test_unrolled (void)
{
  g_autoptr (GantryState) state = _gantry_state_copy (NULL), back = NULL;
  g_autoptr (GVariant) packed = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  gantry_target_init_cpu (&state->settings.target, 1);
  state->settings.most_unrolled = 1234;
  state->settings.order = GANTRY_ORDER_BREADTH;
  state->settings.allocator = GANTRY_ALLOCATOR_BFC;
  state->settings.fuse_products = TRUE;
  packed = _gantry_state_to_variant (state);
  bytes = g_variant_get_data_as_bytes (packed);
  back = _gantry_state_from_bytes (bytes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (back->settings.most_unrolled, ==, 1234);
  g_assert_cmpint (back->settings.order, ==, GANTRY_ORDER_BREADTH);
  g_assert_cmpint (back->settings.allocator, ==, GANTRY_ALLOCATOR_BFC);
  g_assert_true (back->settings.fuse_products);
  g_assert_true (gantry_compile_settings_same_program (&back->settings, &state->settings));
}

/* A session whose model was loaded again after it had changed, and that was not saved then. */
static void
test_reloaded (void)
{
  g_autofree char *from = doc_file ("data/programs/transformer-tiny.gir"), *folder = g_dir_make_tmp ("gantry-reloaded-XXXXXX", NULL);
  g_autofree char *model = g_build_filename (folder, "m.gir", NULL), *session = g_build_filename (folder, "m.gantry", NULL);
  g_autofree char *text = NULL, *view = NULL, *before = NULL;
  g_autoptr (GantryDocument) document = gantry_document_new (), again = NULL, last = gantry_document_new ();
  g_autoptr (GantryRecovery) recovery = recovery_new ();
  g_autoptr (GString) changed = NULL;
  g_autoptr (GError) error = NULL;
  gboolean done = FALSE;

  g_assert_true (g_file_get_contents (from, &text, NULL, NULL) && g_file_set_contents (model, text, -1, NULL));
  g_assert_true (gantry_document_open (document, model, NULL, NULL, &error));
  add_run (document, "before");
  g_assert_true (gantry_document_save (document, session, &error));
  before = gantry_model_hash (gantry_document_get_model (document), NULL);
  changed = g_string_new (text);
  g_assert_cmpuint (g_string_replace (changed, "\"tokens\"", "\"token_ids\"", 0), >, 0);
  g_assert_true (g_file_set_contents (model, changed->str, -1, NULL));
  gantry_document_reload_async (document, FALSE, reloaded, &done);
  doc_wait_until (done);
  gantry_document_wait (document);
  g_assert_true (gantry_document_is_unsaved (document));
  add_run (document, "after");
  keep (recovery, document, NULL);
  again = recover (recovery, &view);
  g_assert_true (gantry_document_is_unsaved (again));
  g_assert_cmpstr (gantry_document_get_session_path (again), ==, session);
  g_assert_true (has_run (again, "before") && has_run (again, "after"));
  g_assert_true (gantry_document_save (again, NULL, &error));
  gantry_document_open (last, session, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (gantry_document_get_runs (last)->len, ==, 2);
  for (guint i = 0; i < 2; i++)
    {
      const GantryRunResult *run = g_ptr_array_index (gantry_document_get_runs (last), i);

      g_assert_cmpstr (run->other_model, ==, strcmp (run->name, "before") == 0 ? before : NULL);
    }
  gantry_recovery_remove (recovery);
  g_unlink (model);
  g_unlink (session);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
kept (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  gantry_recovery_save_finish (result, &error);
  g_assert_no_error (error);
  ++*(guint *) data;
}

/* What is removed while it is saved goes when that is done, and nobody waits for it; a save that was asked for since stays. */
static void
test_removed_while_saving (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", FALSE);
  g_autoptr (GantryRecovery) recovery = recovery_new ();
  const char *path = gantry_recovery_get_path (recovery);

  gantry_document_set_limit (document, 1000000000);
  gantry_document_wait (document);
  for (guint again = 0; again < 2; again++)
    {
      sqlite3 *lock = NULL;
      guint n = 0;

      keep (recovery, document, NULL);
      g_assert_cmpint (sqlite3_open (path, &lock), ==, SQLITE_OK);
      g_assert_cmpint (sqlite3_exec (lock, "BEGIN IMMEDIATE", NULL, NULL, NULL), ==, SQLITE_OK);
      gantry_recovery_save_async (recovery, document, "first", kept, &n);
      g_usleep (100000); /* its worker waits for the lock of the file */
      gantry_recovery_remove_later (recovery);
      g_assert_true (gantry_recovery_is_behind (recovery, document, "first"));
      if (again != 0)
        gantry_recovery_save_async (recovery, document, "second", kept, &n);
      g_assert_cmpint (sqlite3_close (lock), ==, SQLITE_OK); /* too late for the first, if removing had waited for it */
      doc_wait_until (n == 1 + again);
      g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS) == (again != 0));
      g_assert_true (gantry_recovery_is_behind (recovery, document, "second") == (again == 0));
    }
  gantry_recovery_remove (recovery);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

/* What it was opened with is not set by an edit, and holds for all of them. */
static void
test_opened_with (void)
{
  g_autofree char *path = doc_file ("data/programs/transformer-tiny.gir"), *view = NULL;
  g_autoptr (GantryDocument) document = gantry_document_new (), again = NULL;
  g_autoptr (GantryRecovery) recovery = recovery_new ();
  g_autoptr (GantryBindings) bindings = gantry_bindings_new ();
  GantryOpenOptions options = GANTRY_OPEN_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;

  gantry_bindings_set_entry (bindings, "second");
  options.bindings = bindings;
  gantry_document_open (document, path, &options, NULL, &error);
  g_assert_no_error (error);
  gantry_document_set_limit (document, 1000000000);
  gantry_document_wait (document);
  keep (recovery, document, NULL);
  again = recover (recovery, &view);
  g_assert_cmpstr (gantry_document_get_bindings (again)->entry, ==, "second");
  gantry_document_undo (again);
  gantry_document_wait (again);
  g_assert_cmpstr (gantry_document_get_bindings (again)->entry, ==, "second");
  g_assert_cmpstr (gantry_document_get_model (again)->bindings->entry, ==, "second");
  gantry_recovery_remove (recovery);
}

static void
test_edits (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE), again = NULL;
  g_autoptr (GantryRecovery) recovery = recovery_new ();
  g_autofree char *path = g_strdup (gantry_recovery_get_path (recovery)), *view = NULL;
  g_autoptr (GPtrArray) none = NULL, list = NULL;
  const GantryCompileSettings *before, *after;

  g_assert_false (gantry_document_is_unsaved (document)); /* it was opened so */
  edit (document);
  add_run (document, "a run");
  gantry_document_set_notes (document, "what was seen");
  keep (recovery, document, "what is shown");
  none = gantry_recovery_list ();
  g_assert_cmpuint (none->len, ==, 0); /* it is held */
  g_clear_pointer (&recovery, gantry_recovery_unref);
  list = gantry_recovery_list ();
  g_assert_cmpuint (list->len, ==, 1);
  g_assert_cmpstr (gantry_recovery_get_path (g_ptr_array_index (list, 0)), ==, path);
  again = recover (g_ptr_array_index (list, 0), &view);
  g_assert_cmpstr (view, ==, "what is shown");
  g_assert_cmpstr (gantry_document_get_path (again), ==, gantry_document_get_path (document));
  g_assert_cmpstr (gantry_document_get_notes (again), ==, "what was seen");
  g_assert_true (gantry_document_is_unsaved (again));
  g_assert_true (has_run (again, "a run"));
  g_assert_cmpuint (gantry_document_get_variants (again)->len, ==, gantry_document_get_variants (document)->len);
  for (guint i = 0; i < gantry_document_get_variants (document)->len; i++)
    {
      const GantryVariant *x = g_ptr_array_index (gantry_document_get_variants (document), i);
      const GantryVariant *y = g_ptr_array_index (gantry_document_get_variants (again), i);

      g_assert_cmpmem (&y->figures, sizeof y->figures, &x->figures, sizeof x->figures);
    }
  do
    {
      before = gantry_document_get_settings (document);
      after = gantry_document_get_settings (again);
      g_assert_true (gantry_compile_settings_same_program (before, after));
      g_assert_true (gantry_compile_settings_same_plan (before, after));
      g_assert_cmpstr (gantry_document_get_undo_name (document), ==, gantry_document_get_undo_name (again));
      g_assert_cmpstr (gantry_document_get_redo_name (document), ==, gantry_document_get_redo_name (again));
      if (gantry_document_get_undo_name (document) == NULL)
        break;
      gantry_document_undo (document);
      gantry_document_undo (again);
    }
  while (TRUE);
  while (gantry_document_get_redo_name (document) != NULL)
    {
      gantry_document_redo (document);
      gantry_document_redo (again);
    }
  gantry_document_wait (document);
  gantry_document_wait (again);
  g_assert_true (gantry_compile_settings_same_program (gantry_document_get_settings (document), gantry_document_get_settings (again)));
  gantry_recovery_remove (g_ptr_array_index (list, 0));
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

static guint
count_rows (const char *path, const char *sql)
{
  sqlite3 *db = NULL;
  sqlite3_stmt *statement = NULL;
  guint n;

  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_ROW);
  n = (guint) sqlite3_column_int (statement, 0);
  sqlite3_finalize (statement);
  sqlite3_close (db);
  return n;
}

/* States come and go with the edits, and runs that the session file has are not copied. */
static void
test_of_session (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", FALSE), again = NULL;
  g_autoptr (GantryRecovery) recovery = recovery_new ();
  g_autofree char *session = g_build_filename (state_folder, "x.gantry", NULL), *view = NULL;
  g_autoptr (GError) error = NULL;
  const char *path = gantry_recovery_get_path (recovery);

  g_assert_false (gantry_document_is_unsaved (document));
  add_run (document, "saved");
  g_assert_true (gantry_document_is_unsaved (document));
  g_assert_true (gantry_document_save (document, session, &error));
  g_assert_false (gantry_document_is_unsaved (document));
  gantry_document_set_limit (document, 5000000000);
  g_assert_true (gantry_document_is_unsaved (document));
  gantry_document_undo (document);
  g_assert_false (gantry_document_is_unsaved (document));
  gantry_document_redo (document);
  keep (recovery, document, NULL);
  g_assert_cmpuint (count_rows (path, "SELECT count(*) FROM runs"), ==, 0);
  g_assert_cmpuint (count_rows (path, "SELECT count(*) FROM recovery WHERE key LIKE 'state %'"), ==, 2);
  gantry_document_undo (document);
  gantry_document_set_policy (document, "policy dots_saveable", NULL);
  add_run (document, "unsaved");
  keep (recovery, document, NULL);
  g_assert_cmpuint (count_rows (path, "SELECT count(*) FROM recovery WHERE key LIKE 'state %'"), ==, 2);
  g_assert_cmpuint (count_rows (path, "SELECT count(*) FROM runs"), ==, 1);
  again = recover (recovery, &view);
  g_assert_true (has_run (again, "saved"));
  g_assert_true (has_run (again, "unsaved"));
  /* It is saved where it came from. */
  g_assert_true (gantry_document_save (again, NULL, &error));
  g_assert_no_error (error);
  g_assert_false (gantry_document_is_unsaved (again));
  g_assert_cmpuint (count_rows (session, "SELECT count(*) FROM runs"), ==, 2);
  gantry_recovery_remove (recovery);
  g_unlink (session);
}

/* A process that ends in the middle of its work leaves a file that another is offered. */
static void
test_killed (void)
{
  const char *argv[] = { program, "--keep", NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) process = g_subprocess_newv (argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error);
  g_autoptr (GDataInputStream) lines = NULL;
  g_autoptr (GantryDocument) document = NULL;
  g_autofree char *line = NULL, *view = NULL;
  g_autoptr (GPtrArray) none = NULL, list = NULL;

  g_assert_no_error (error);
  lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (process));
  line = g_data_input_stream_read_line (lines, NULL, NULL, NULL);
  g_assert_cmpstr (line, ==, "kept");
  none = gantry_recovery_list ();
  g_assert_cmpuint (none->len, ==, 0); /* it lives */
  g_subprocess_force_exit (process);
  g_subprocess_wait (process, NULL, NULL);
  list = gantry_recovery_list ();
  g_assert_cmpuint (list->len, ==, 1);
  document = recover (g_ptr_array_index (list, 0), &view);
  g_assert_cmpstr (gantry_document_get_notes (document), ==, "killed");
  gantry_recovery_remove (g_ptr_array_index (list, 0));
}

static int
be_killed (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", FALSE);
  g_autoptr (GantryRecovery) recovery = recovery_new ();

  gantry_document_set_notes (document, "killed");
  keep (recovery, document, NULL);
  printf ("kept\n");
  fflush (stdout);
  g_usleep (600 * G_USEC_PER_SEC);
  return 0;
}

/* What the kernels need was found out once: it is known in what is recovered, whichever edits are undone there. */
static void
test_sizes (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE), again = NULL;
  g_autoptr (GantryRecovery) recovery = recovery_new ();
  g_autofree char *program_text = gantry_module_content (gantry_compilation_module (gantry_document_get_compilation (document)));
  g_autoptr (GantryKernelSizes) sizes = gantry_kernel_sizes_new (program_text, "a processor");
  g_autofree char *view = NULL;

  sizes->conditions = gantry_kernel_conditions_text (&(GantryKernelConditions){ 0 });
  sizes->code_bytes = 123456;
  gantry_document_set_limit (document, 5000000000);
  gantry_document_set_kernel_sizes (document, sizes);
  gantry_document_wait (document);
  g_assert_true (gantry_document_get_plan (document)->sizes_known);
  keep (recovery, document, NULL);
  again = recover (recovery, &view);
  g_assert_true (gantry_document_get_plan (again)->sizes_known);
  g_assert_cmpuint (gantry_document_get_plan (again)->code_bytes, ==, 123456);
  gantry_document_undo (again);
  gantry_document_wait (again);
  g_assert_true (gantry_document_get_plan (again)->sizes_known);
  gantry_recovery_remove (recovery);
}

/* Another file in the same window: nothing of the one before is left. */
static void
test_another (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", FALSE), again = NULL;
  g_autoptr (GantryRecovery) recovery = recovery_new ();
  g_autofree char *other = doc_file ("data/programs/optimizer-8.gir"), *view = NULL;
  g_autoptr (GError) error = NULL;

  gantry_document_set_limit (document, 5000000000);
  keep (recovery, document, "one");
  g_assert_true (gantry_document_open (document, other, NULL, NULL, &error));
  gantry_document_set_notes (document, "of the other");
  keep (recovery, document, "two");
  again = recover (recovery, &view);
  g_assert_cmpstr (gantry_document_get_notes (again), ==, "of the other");
  g_assert_null (gantry_document_get_undo_name (again));
  gantry_recovery_remove (recovery);
}

/* What was recovered is replaced by the next save only when that is whole: here it cannot be written. */
static void
test_never_without (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", FALSE), again = NULL, third = NULL;
  g_autoptr (GantryRecovery) recovery = recovery_new ();
  g_autofree char *view = NULL, *path = g_strdup (gantry_recovery_get_path (recovery));
  g_autoptr (GPtrArray) list = NULL;
  g_autoptr (GError) error = NULL;
  sqlite3 *db = NULL;

  gantry_document_set_limit (document, 5000000000);
  keep (recovery, document, "one");
  g_clear_pointer (&recovery, gantry_recovery_unref);
  list = gantry_recovery_list ();
  g_assert_cmpuint (list->len, ==, 1);
  again = recover (g_ptr_array_index (list, 0), &view);
  g_clear_pointer (&view, g_free);
  g_assert_cmpint (sqlite3_open (path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, "CREATE TABLE x (a); CREATE INDEX bad ON runs (length (uid))", NULL, NULL, NULL), ==, SQLITE_OK);
  gantry_document_set_notes (again, "more");
  g_assert_false (gantry_recovery_save (g_ptr_array_index (list, 0), again, "two", &error));
  g_assert_cmpint (sqlite3_exec (db, "DROP INDEX bad", NULL, NULL, NULL), ==, SQLITE_OK);
  sqlite3_close (db);
  third = recover (g_ptr_array_index (list, 0), &view);
  g_assert_cmpstr (view, ==, "one");
  g_assert_cmpuint (gantry_document_get_settings (third)->target.memory_limit, ==, 5000000000);
  gantry_recovery_remove (g_ptr_array_index (list, 0));
}

static void
test_folder (void)
{
  g_autofree char *folder = gantry_recovery_folder (NULL);
  GStatBuf info;

  g_assert_true (g_str_has_prefix (folder, state_folder));
  g_assert_cmpint (g_stat (folder, &info), ==, 0);
  g_assert_cmpuint (info.st_mode & 0777, ==, 0700);
}

/* Prints where unsaved work went, with no folder for it, and, where @gone, none of the model and of temporary files either. */
static int
be_ended (gboolean gone)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-home-XXXXXX", NULL), *model = g_build_filename (folder, "step.gir", NULL);
  g_autofree char *from = doc_file ("data/programs/transformer-tiny.gir"), *text = NULL, *path = NULL;
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_get_contents (from, &text, NULL, NULL) && g_file_set_contents (model, text, -1, NULL));
  g_assert_true (gantry_document_open (document, model, NULL, NULL, NULL));
  gantry_document_wait (document);
  add_run (document, "kept");
  gantry_document_set_notes (document, "by me");
  g_assert_null (gantry_recovery_new (NULL));
  if (gone)
    {
      g_assert_cmpint (g_unlink (model), ==, 0);
      g_assert_cmpint (g_rmdir (folder), ==, 0);
      g_assert_cmpint (g_rmdir (g_get_tmp_dir ()), ==, 0);
    }
  path = gantry_recovery_save_elsewhere (document, "view", &error);
  g_assert_true ((path == NULL) == (error != NULL) && (path == NULL) == gone);
  text = (g_free (text), gantry_recovery_describe (document));
  printf ("%s\n%s\n", path != NULL ? path : error->message, text);
  return 0;
}

/* (transfer full) (array): path and what */
static char **
end_one (const char *how, const char *temporary)
{
  const char *const argv[] = { program, how, NULL };
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_autoptr (GSubprocess) process = NULL;
  g_autofree char *out = NULL;

  g_subprocess_launcher_setenv (launcher, "XDG_STATE_HOME", "/dev/null/none", TRUE);
  g_subprocess_launcher_setenv (launcher, "TMPDIR", temporary, TRUE);
  process = g_subprocess_launcher_spawnv (launcher, argv, NULL);
  g_assert_true (g_subprocess_communicate_utf8 (process, NULL, NULL, &out, NULL, NULL));
  g_assert_true (g_subprocess_get_if_exited (process) && g_subprocess_get_exit_status (process) == 0);
  return g_strsplit (out, "\n", 3);
}

/* A process that ends and has no folder for unsaved work: a session beside the model that opens as others do. */
static void
test_elsewhere (void)
{
  g_autofree char *temporary = g_dir_make_tmp ("gantry-tmp-XXXXXX", NULL), *folder = NULL, *model = NULL;
  g_auto (GStrv) kept = end_one ("--end", temporary), lost = NULL;
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GError) error = NULL;

  g_assert_true (g_str_has_prefix (kept[0], temporary) && strstr (kept[0], "/step-unsaved-") != NULL);
  g_assert_cmpstr (kept[1], ==, "1 run");
  gantry_document_open (document, kept[0], NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (has_run (document, "kept"));
  g_assert_cmpstr (gantry_document_get_notes (document), ==, "by me");
  g_clear_object (&document);
  folder = g_path_get_dirname (kept[0]);
  model = g_build_filename (folder, "step.gir", NULL);
  g_unlink (kept[0]);
  g_unlink (model);
  g_rmdir (folder);
  lost = end_one ("--end-gone", temporary);
  g_assert_nonnull (strstr (lost[0], "step-unsaved-"));
  g_assert_cmpstr (lost[1], ==, "1 run");
  g_rmdir (temporary);
}

int
main (int argc, char **argv)
{
  int status;

  if (argc == 2 && strcmp (argv[1], "--keep") == 0)
    return be_killed ();
  if (argc == 2 && g_str_has_prefix (argv[1], "--end"))
    return be_ended (strcmp (argv[1], "--end-gone") == 0);
  program = argv[0];
  state_folder = g_dir_make_tmp ("gantry-state-XXXXXX", NULL);
  g_setenv ("XDG_STATE_HOME", state_folder, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/recovery/folder", test_folder);
  g_test_add_func ("/recovery/edits", test_edits);
  g_test_add_func ("/recovery/opened-with", test_opened_with);
  g_test_add_func ("/recovery/removed-while-saving", test_removed_while_saving);
  g_test_add_func ("/recovery/unrolled", test_unrolled);
  g_test_add_func ("/recovery/reloaded", test_reloaded);
  g_test_add_func ("/recovery/of-session", test_of_session);
  g_test_add_func ("/recovery/another", test_another);
  g_test_add_func ("/recovery/never-without", test_never_without);
  g_test_add_func ("/recovery/sizes", test_sizes);
  g_test_add_func ("/recovery/killed", test_killed);
  g_test_add_func ("/recovery/elsewhere", test_elsewhere);
  status = g_test_run ();
  return status;
}
