/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a session file by name: listed without being read, and deleted. */
#include "core/base/file.h"
#include "core/document/document-private.h"
#include "core/document/outside.h"
#include "core/document/session-private.h"

static void
entry_free (gpointer data)
{
  GantryRunEntry *entry = data;

  g_free (entry->uid);
  g_free (entry->name);
  g_free (entry->device);
  g_free (entry->when);
  g_free (entry);
}

GPtrArray *
gantry_runs_list (const char *path, GError **error)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (entry_free);
  g_autoptr (sqlite3) db = _gantry_session_open (path, FALSE, NULL, error);
  g_auto (GantrySessionRows) rows = { .db = db };
  GError *own = NULL;

  if (db == NULL)
    return NULL;
  _gantry_rows_begin (&rows, db, "runs", "SELECT uid, name, device, recorded_at, milliseconds FROM runs ORDER BY id", &own);
  while (own == NULL && _gantry_rows_next (&rows, &own))
    {
      GantryRunEntry *entry = g_new0 (GantryRunEntry, 1);

      entry->uid = _gantry_column_text (rows.statement, 0);
      entry->name = _gantry_column_text (rows.statement, 1);
      entry->device = _gantry_column_text (rows.statement, 2);
      entry->when = _gantry_column_text (rows.statement, 3);
      entry->milliseconds = sqlite3_column_double (rows.statement, 4);
      g_ptr_array_add (list, entry);
    }
  if (own == NULL)
    return g_steal_pointer (&list);
  g_propagate_error (error, own);
  return NULL;
}

static gboolean
delete_all (sqlite3 *db, const char *const *uids, const char *path, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "DELETE FROM runs WHERE uid = ?", error), note = NULL;

  note = statement != NULL ? _gantry_session_prepare (db, "INSERT OR IGNORE INTO deleted VALUES (?)", error) : NULL;
  for (guint i = 0; note != NULL && uids[i] != NULL; i++)
    {
      _gantry_bind_text (statement, 1, uids[i]);
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
      if (sqlite3_changes (db) == 0)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: there is no run %s in it", path, uids[i]);
          return FALSE;
        }
      _gantry_bind_text (note, 1, uids[i]);
      if (!_gantry_session_step (db, note, error))
        return FALSE;
    }
  return note != NULL;
}

/* Rebuilding the file takes a second database beside it. Where that fails the runs are gone all the same, and their pages are used for
 * the next ones. */
static void
shrink (sqlite3 *db)
{
  sqlite3_limit (db, SQLITE_LIMIT_ATTACHED, 1);
  if (sqlite3_exec (db, "VACUUM", NULL, NULL, NULL) != SQLITE_OK)
    g_debug ("the session is not made smaller: %s", sqlite3_errmsg (db));
  sqlite3_limit (db, SQLITE_LIMIT_ATTACHED, 0);
}

gboolean
gantry_runs_delete (const char *path, const char *const *uids, GError **error)
{
  g_autoptr (sqlite3) db = gantry_file_check (path, error) ? _gantry_session_open (path, TRUE, NULL, error) : NULL;

  if (db == NULL || !_gantry_session_exec (db, "BEGIN IMMEDIATE", error))
    return FALSE;
  /* What hangs on a run goes with it: the tables say ON DELETE CASCADE. */
  if (!_gantry_session_prepare_tables (db, error) || !delete_all (db, uids, path, error) || !_gantry_session_exec (db, "COMMIT", error))
    {
      sqlite3_exec (db, "ROLLBACK", NULL, NULL, NULL);
      return FALSE;
    }
  shrink (db);
  return TRUE;
}

/* Of a document */

typedef struct
{
  char *path; /* (nullable): it is in no file */
  GantryRunResult *run;
} Deleting;

static void
deleting_free (gpointer data)
{
  Deleting *deleting = data;

  g_free (deleting->path);
  gantry_run_result_unref (deleting->run);
  g_free (deleting);
}

static void
delete_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Deleting *deleting = data;
  const char *const uids[] = { deleting->run->uid, NULL };
  GError *error = NULL;

  if (deleting->path == NULL || gantry_runs_delete (deleting->path, uids, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

void
gantry_document_delete_run_async (GantryDocument *document, GantryRunResult *run, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (document, NULL, callback, user_data);
  Deleting *deleting = g_new0 (Deleting, 1);

  g_return_if_fail (document->loaded != NULL);
  if (g_hash_table_contains (document->kept_runs, run->uid))
    deleting->path = g_strdup (document->loaded->session_path);
  deleting->run = gantry_run_result_ref (run);
  g_task_set_task_data (task, deleting, deleting_free);
  g_task_run_in_thread (task, delete_thread);
}

gboolean
gantry_document_delete_run_finish (GantryDocument *document, GAsyncResult *result, GError **error)
{
  const Deleting *deleting = g_task_get_task_data (G_TASK (result));

  if (!g_task_propagate_boolean (G_TASK (result), error))
    return FALSE;
  _gantry_document_forget_run (document, deleting->run->uid);
  return TRUE;
}
