/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery files: their folder, their locks, and saving into them. What a save writes is what the last one lacks. */
#include "core/document/recovery-private.h"
#include "core/base/thread.h"
#include "core/document/session-private.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#define ENDING ".gantry"
#define MOST_LISTED 32u

struct _GantryRecovery
{
  gatomicrefcount ref_count;
  char *path, *lock_path;
  int lock;       /* descriptor that holds the lock; -1: of a file that nobody else looks for */
  GMutex writing; /* one save at a time */
  /* What the file holds, as the owning thread knows it */
  gboolean kept;
  GantryMark mark;
  char *view;
  guint64 n_models;    /* of the document: another model was opened since */
  GHashTable *written; /* serials of the states in it, guint64* */
  gboolean is_known;   /* @written is: not of one that another process has left */
  guint n_saving;
  int n_removed; /* atomic, changed by the owning thread: a save that was asked for before does nothing */
  int n_deleted; /* guarded by @writing: of these, how many are done */
};

/* Files and locks */

char *
gantry_recovery_folder (GError **error)
{
  g_autofree char *folder = g_build_filename (g_get_user_state_dir (), "gantry", "recovery", NULL);

  GStatBuf made;

  /* One that was there before may be open to all. */
  if (g_mkdir_with_parents (folder, 0700) == 0 && g_stat (folder, &made) == 0 && ((made.st_mode & 077) == 0 || g_chmod (folder, made.st_mode & 0700) == 0))
    return g_steal_pointer (&folder);
  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (errno), "%s: the folder for unsaved work cannot be made: %s", folder, g_strerror (errno));
  return NULL;
}

/* Whether the lock at @path is ours now, and still the one that others look at. A lock of flock(2) is of the open file and not of
 * the process, so that two documents of one process have theirs as well. */
static gboolean
take_lock (const char *path, int *descriptor)
{
  struct stat ours;
  GStatBuf theirs;
  int lock = g_open (path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

  if (lock < 0)
    return FALSE;
  if (flock (lock, LOCK_EX | LOCK_NB) != 0 || fstat (lock, &ours) != 0 || g_stat (path, &theirs) != 0 || ours.st_ino != theirs.st_ino)
    {
      g_close (lock, NULL);
      return FALSE;
    }
  *descriptor = lock;
  return TRUE;
}

/* @path: (transfer full); without a lock */
static GantryRecovery *
recovery_at (char *path)
{
  GantryRecovery *recovery = g_new0 (GantryRecovery, 1);

  g_atomic_ref_count_init (&recovery->ref_count);
  g_mutex_init (&recovery->writing);
  recovery->path = path;
  recovery->lock = -1;
  recovery->written = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  return recovery;
}

/* (transfer full) (nullable): NULL where somebody else has the lock */
static GantryRecovery *
claim (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL), *lock_path = g_strconcat (path, ".lock", NULL);
  GantryRecovery *recovery;
  int lock;

  if (!take_lock (lock_path, &lock))
    return NULL;
  recovery = recovery_at (g_steal_pointer (&path));
  recovery->lock_path = g_steal_pointer (&lock_path);
  recovery->lock = lock;
  return recovery;
}

GantryRecovery *
gantry_recovery_new (GError **error)
{
  g_autofree char *folder = gantry_recovery_folder (error), *uuid = g_uuid_string_random ();
  g_autofree char *name = g_strconcat (uuid, ENDING, NULL);
  GantryRecovery *recovery = folder != NULL ? claim (folder, name) : NULL;

  if (recovery == NULL && folder != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s: no file for unsaved work can be made there", folder);
  return recovery;
}

static gint64
time_of (const char *path)
{
  GStatBuf info;

  return g_stat (path, &info) == 0 ? (gint64) info.st_mtime : 0;
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  gint64 x = time_of ((*(GantryRecovery *const *) a)->path), y = time_of ((*(GantryRecovery *const *) b)->path);

  return (x > y) - (x < y);
}

/* What a process has left that ended before its first save: deleted while it is locked, so that nobody takes it meanwhile. */
static void
sweep (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *file = g_strndup (path, strlen (path) - strlen (".lock"));
  int lock;

  if (g_file_test (file, G_FILE_TEST_EXISTS) || !take_lock (path, &lock))
    return;
  if (!g_file_test (file, G_FILE_TEST_EXISTS))
    g_unlink (path);
  g_close (lock, NULL);
}

GPtrArray *
gantry_recovery_list (void)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_recovery_unref);
  g_autofree char *folder = gantry_recovery_folder (NULL);
  g_autoptr (GDir) dir = folder != NULL ? g_dir_open (folder, 0, NULL) : NULL;
  const char *name;

  while (dir != NULL && list->len < MOST_LISTED && (name = g_dir_read_name (dir)) != NULL)
    {
      GantryRecovery *recovery;

      if (g_str_has_suffix (name, ENDING ".lock"))
        sweep (folder, name);
      if (!g_str_has_suffix (name, ENDING))
        continue;
      recovery = claim (folder, name);
      if (recovery == NULL)
        continue;
      recovery->kept = g_file_test (recovery->path, G_FILE_TEST_EXISTS); /* not where it went meanwhile */
      if (recovery->kept)
        g_ptr_array_add (list, recovery);
      else
        gantry_recovery_unref (recovery);
    }
  g_ptr_array_sort (list, compare_times);
  return list;
}

GantryRecovery *
gantry_recovery_ref (GantryRecovery *recovery)
{
  g_atomic_ref_count_inc (&recovery->ref_count);
  return recovery;
}

void
gantry_recovery_unref (GantryRecovery *recovery)
{
  if (recovery == NULL || !g_atomic_ref_count_dec (&recovery->ref_count))
    return;
  if (recovery->lock >= 0)
    {
      if (!g_file_test (recovery->path, G_FILE_TEST_EXISTS))
        g_unlink (recovery->lock_path);
      g_close (recovery->lock, NULL);
    }
  g_mutex_clear (&recovery->writing);
  g_hash_table_unref (recovery->written);
  g_free (recovery->view);
  g_free (recovery->path);
  g_free (recovery->lock_path);
  g_free (recovery);
}

const char *
gantry_recovery_get_path (GantryRecovery *recovery)
{
  return recovery->path;
}

static void
delete_file (const char *path)
{
  g_autofree char *journal = g_strconcat (path, "-journal", NULL);

  g_unlink (path);
  g_unlink (journal);
}

/* Deletes what was to be removed since. With @writing held. */
static void
catch_up (GantryRecovery *recovery)
{
  int n = g_atomic_int_get (&recovery->n_removed);

  if (recovery->n_deleted != n)
    delete_file (recovery->path);
  recovery->n_deleted = n;
}

static void
mark_removed (GantryRecovery *recovery)
{
  g_atomic_int_inc (&recovery->n_removed);
  recovery->kept = FALSE;
  g_hash_table_remove_all (recovery->written);
}

void
gantry_recovery_remove (GantryRecovery *recovery)
{
  mark_removed (recovery);
  g_mutex_lock (&recovery->writing);
  catch_up (recovery);
  g_mutex_unlock (&recovery->writing);
}

void
gantry_recovery_remove_later (GantryRecovery *recovery)
{
  mark_removed (recovery);
  if (!g_mutex_trylock (&recovery->writing)) /* who has it looks once more when it has let go of it */
    return;
  catch_up (recovery);
  g_mutex_unlock (&recovery->writing);
}

/* Saving: what is to be written is gathered on the owning thread */

typedef struct
{
  char *key;
  GVariant *value;
} Row;

typedef struct
{
  GantryRecovery *recovery;
  GantryCompilation *compilation;
  GantryCompileSettings settings;
  GantryBindings *bindings;
  GPtrArray *runs, *variants;
  GantryFront *front; /* (nullable) */
  GHashTable *names;  /* (nullable) */
  char *notes, *view;
  GArray *rows;        /* Row: put in */
  GPtrArray *gone;     /* char*: keys that are taken out */
  gboolean anew;       /* all states are put in */
  gboolean other_file; /* what is kept is of another document */
  GantryMark mark;
  guint64 n_models;
  int n_removed;
  GHashTable *serials; /* guint64*: of all states that the file then has */
} Keeping;

static void
clear_row (gpointer data)
{
  Row *row = data;

  g_free (row->key);
  g_variant_unref (row->value);
}

static void
keeping_free (gpointer data)
{
  Keeping *keeping = data;

  gantry_recovery_unref (keeping->recovery);
  gantry_compilation_unref (keeping->compilation);
  gantry_compile_settings_clear (&keeping->settings);
  gantry_bindings_unref (keeping->bindings);
  g_ptr_array_unref (keeping->runs);
  g_ptr_array_unref (keeping->variants);
  g_clear_pointer (&keeping->names, g_hash_table_unref);
  _gantry_front_unref (keeping->front);
  g_array_unref (keeping->rows);
  g_ptr_array_unref (keeping->gone);
  g_hash_table_unref (keeping->serials);
  g_free (keeping->notes);
  g_free (keeping->view);
  g_free (keeping);
}

static void
put (Keeping *keeping, char *key, GVariant *value)
{
  Row row = { key, g_variant_ref_sink (value) };

  g_array_append_val (keeping->rows, row);
}

static void
put_text (Keeping *keeping, const char *key, const char *text)
{
  put (keeping, g_strdup (key), g_variant_new_string (text != NULL ? text : ""));
}

static char *
state_key (guint64 serial)
{
  return g_strdup_printf ("state %" G_GUINT64_FORMAT, serial);
}

static void
put_state (Keeping *keeping, const GantryState *state)
{
  g_autoptr (GVariant) value = NULL;

  if (!g_hash_table_add (keeping->serials, g_memdup2 (&state->serial, sizeof state->serial)))
    return;
  if (!keeping->anew && g_hash_table_contains (keeping->recovery->written, &state->serial))
    return;
  value = _gantry_state_to_variant (state);
  put (keeping, state_key (state->serial), value);
}

static void
put_edits (Keeping *keeping, GantryDocument *document)
{
  GVariantBuilder edits;
  GHashTableIter iter;
  gpointer serial;

  g_variant_builder_init (&edits, G_VARIANT_TYPE ("a(sttt)"));
  for (guint i = 0; i < document->edits->len; i++)
    {
      const GantryEdit *edit = g_ptr_array_index (document->edits, i);

      put_state (keeping, edit->old_state);
      put_state (keeping, edit->new_state);
      g_variant_builder_add (&edits, "(sttt)", edit->name, edit->merge, edit->old_state->serial, edit->new_state->serial);
    }
  put_state (keeping, document->state);
  put (keeping, g_strdup ("edits"), g_variant_new ("(uta(sttt))", document->n_done, document->state->serial, &edits));
  g_hash_table_iter_init (&iter, keeping->recovery->written);
  while (!keeping->anew && g_hash_table_iter_next (&iter, &serial, NULL))
    if (!g_hash_table_contains (keeping->serials, serial))
      g_ptr_array_add (keeping->gone, state_key (*(guint64 *) serial));
}

static Keeping *
gather (GantryRecovery *recovery, GantryDocument *document, const char *view)
{
  Keeping *keeping = g_new0 (Keeping, 1);
  GPtrArray *runs = document->loaded->runs;

  keeping->recovery = gantry_recovery_ref (recovery);
  keeping->compilation = gantry_compilation_ref (document->loaded->compilation);
  gantry_compile_settings_copy (&keeping->settings, &document->state->settings);
  keeping->bindings = gantry_bindings_ref (document->state->bindings);
  keeping->variants = g_ptr_array_ref (document->state->variants);
  keeping->front = _gantry_front_ref (_gantry_document_front_to_save (document));
  keeping->names = document->names != NULL ? g_hash_table_ref (document->names) : NULL;
  keeping->notes = g_strdup (document->notes);
  keeping->view = g_strdup (view);
  keeping->mark = _gantry_document_mark (document);
  keeping->n_models = document->n_models;
  keeping->n_removed = recovery->n_removed; /* only this thread changes it */
  keeping->serials = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  keeping->gone = g_ptr_array_new_with_free_func (g_free);
  keeping->rows = g_array_new (FALSE, FALSE, sizeof (Row));
  g_array_set_clear_func (keeping->rows, clear_row);
  /* While a save is under way it is not known what the file has. */
  keeping->other_file = recovery->n_models != document->n_models;
  keeping->anew = !recovery->kept || !recovery->is_known || recovery->n_saving > 0 || keeping->other_file;
  keeping->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_run_result_unref);
  for (guint i = 0; i < runs->len; i++)
    if (!g_hash_table_contains (document->kept_runs, ((GantryRunResult *) g_ptr_array_index (runs, i))->uid))
      g_ptr_array_add (keeping->runs, gantry_run_result_ref (g_ptr_array_index (runs, i)));
  put_text (keeping, "path", document->loaded->path);
  put_text (keeping, "session", document->loaded->session_path);
  put_text (keeping, "session state", document->loaded->session_state);
  put_text (keeping, "session model", document->loaded->session_model);
  put_text (keeping, "view", view);
  put_edits (keeping, document);
  return keeping;
}

/* ... and written on any */

static gboolean
write_row (sqlite3 *db, sqlite3_stmt *statement, const Row *row, GError **error)
{
  _gantry_bind_text (statement, 1, row->key);
  _gantry_bind_blob (statement, 2, g_variant_get_data (row->value), g_variant_get_size (row->value));
  return _gantry_session_step (db, statement, error);
}

/* Within the transaction of the session, so that edits and settings belong together. */
static gboolean
write_rows (sqlite3 *db, gpointer data, GError **error)
{
  const Keeping *keeping = data;
  g_autoptr (sqlite3_stmt) in = NULL, out = NULL;

  g_chmod (keeping->recovery->path, 0600); /* it is new, and nothing is in it yet; the folder is for its owner alone besides */
  if (!_gantry_session_exec (db, "CREATE TABLE IF NOT EXISTS recovery (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID", error))
    return FALSE;
  in = _gantry_session_prepare (db, "INSERT OR REPLACE INTO recovery VALUES (?, ?)", error);
  out = in != NULL ? _gantry_session_prepare (db, "DELETE FROM recovery WHERE key = ?", error) : NULL;
  if (out == NULL || (keeping->anew && !_gantry_session_exec (db, "DELETE FROM recovery", error)))
    return FALSE;
  for (guint i = 0; i < keeping->rows->len; i++)
    if (!write_row (db, in, &g_array_index (keeping->rows, Row, i), error))
      return FALSE;
  for (guint i = 0; i < keeping->gone->len; i++)
    {
      sqlite3_bind_text (out, 1, g_ptr_array_index (keeping->gone, i), -1, SQLITE_STATIC);
      if (!_gantry_session_step (db, out, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
write_file (Keeping *keeping, GError **error)
{
  GantryRecovery *recovery = keeping->recovery;
  GantrySessionParts parts = { .compilation = keeping->compilation,
                               .settings = &keeping->settings,
                               .runs = keeping->runs,
                               .variants = keeping->variants,
                               .front = keeping->front,
                               .names = keeping->names,
                               .notes = keeping->notes,
                               .bindings = keeping->bindings,
                               .also = write_rows,
                               .also_data = keeping,
                               .replace = keeping->other_file,
                               .here = TRUE };
  gboolean done = TRUE;

  g_mutex_lock (&recovery->writing);
  catch_up (recovery);
  /* One transaction, whatever is replaced: a kill leaves what was kept before. */
  if (keeping->n_removed == recovery->n_deleted)
    done = _gantry_session_save (recovery->path, &parts, NULL, error);
  g_mutex_unlock (&recovery->writing);
  g_mutex_lock (&recovery->writing); /* what was to be removed meanwhile has not waited */
  catch_up (recovery);
  g_mutex_unlock (&recovery->writing);
  return done;
}

/* Takes note of what the file has now. */
static void
note (Keeping *keeping, gboolean done)
{
  GantryRecovery *recovery = keeping->recovery;

  if (keeping->n_removed != recovery->n_removed)
    return;
  recovery->kept = recovery->is_known = done;
  recovery->mark = keeping->mark;
  recovery->n_models = keeping->n_models;
  g_free (recovery->view);
  recovery->view = g_strdup (keeping->view);
  g_hash_table_unref (recovery->written);
  recovery->written = g_hash_table_ref (keeping->serials);
}

void
_gantry_recovery_take (GantryRecovery *recovery, GantryDocument *document)
{
  recovery->n_models = document->n_models;
}

gboolean
gantry_recovery_is_behind (GantryRecovery *recovery, GantryDocument *document, const char *view)
{
  GantryMark now = _gantry_document_mark (document);

  return !recovery->kept || recovery->n_models != document->n_models || recovery->mark.n_changes != now.n_changes || recovery->mark.serial != now.serial
         || g_strcmp0 (recovery->view, view) != 0;
}

static void
keep_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;

  if (write_file (data, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

void
gantry_recovery_save_async (GantryRecovery *recovery, GantryDocument *document, const char *view, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (document, NULL, callback, user_data);

  g_return_if_fail (document->loaded != NULL);
  g_task_set_task_data (task, gather (recovery, document, view), keeping_free);
  recovery->n_saving++;
  gantry_task_run_in_thread (task, keep_thread);
}

gboolean
gantry_recovery_save_finish (GAsyncResult *result, GError **error)
{
  Keeping *keeping = g_task_get_task_data (G_TASK (result));
  gboolean done = g_task_propagate_boolean (G_TASK (result), error);

  keeping->recovery->n_saving--;
  note (keeping, done);
  return done;
}

gboolean
gantry_recovery_save (GantryRecovery *recovery, GantryDocument *document, const char *view, GError **error)
{
  Keeping *keeping;
  gboolean done;

  g_return_val_if_fail (document->loaded != NULL, FALSE);
  keeping = gather (recovery, document, view);
  done = write_file (keeping, error);
  note (keeping, done);
  keeping_free (keeping);
  return done;
}

/* "step" of step.gantry or step.onnx. (transfer full) */
static char *
stem_of (const char *path)
{
  char *name = g_path_get_basename (path), *dot = strrchr (name, '.');

  if (dot != NULL && dot != name)
    *dot = 0;
  return name;
}

char *
gantry_recovery_save_elsewhere (GantryDocument *document, const char *view, GError **error)
{
  const char *of = document->loaded->session_path != NULL ? document->loaded->session_path : document->loaded->path;
  g_autofree char *beside = g_path_get_dirname (of), *stem = stem_of (of);
  const char *const folders[] = { beside, g_get_tmp_dir () };

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autofree char *name = g_strdup_printf ("%s-unsaved-%08x" ENDING, stem, g_random_int ());
      g_autoptr (GantryRecovery) recovery = recovery_at (g_build_filename (folders[i], name, NULL));

      int file;

      g_clear_error (error); /* that of the folder before */
      /* The folder may be everybody's, and the file is not. */
      file = g_open (recovery->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
      if (file < 0)
        {
          g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (errno), "%s: %s", recovery->path, g_strerror (errno));
          continue;
        }
      g_close (file, NULL);
      if (gantry_recovery_save (recovery, document, view, error))
        return g_strdup (recovery->path);
      delete_file (recovery->path);
    }
  return NULL;
}

char *
gantry_recovery_describe (GantryDocument *document)
{
  GPtrArray *runs = document->loaded != NULL ? document->loaded->runs : NULL;
  gboolean edits = document->state != NULL && document->state->serial != document->kept.serial;
  g_autofree char *some = NULL;
  guint n = 0;

  for (guint i = 0; runs != NULL && i < runs->len; i++)
    n += !g_hash_table_contains (document->kept_runs, ((GantryRunResult *) g_ptr_array_index (runs, i))->uid);
  if (n == 0 && !edits && document->loaded != NULL && document->loaded->other_model != NULL)
    return g_strdup ("the model that was loaded again");
  if (n == 0)
    return g_strdup (edits ? "edits" : "notes, or a front that was searched for");
  some = g_strdup_printf (n == 1 ? "%u run" : "%u runs", n);
  return edits ? g_strconcat (some, " and edits", NULL) : g_steal_pointer (&some);
}
