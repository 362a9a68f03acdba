/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a session file by name: listed without being read, and deleted. */
#include "core/base/file.h"
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

/* @missing: what is not there is as it should be */
static gboolean
delete_all (sqlite3 *db, const char *const *uids, gboolean missing, const char *path, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "DELETE FROM runs WHERE uid = ?", error), note = NULL;

  note = statement != NULL ? _gantry_session_prepare (db, "INSERT OR IGNORE INTO deleted VALUES (?)", error) : NULL;
  for (guint i = 0; note != NULL && uids[i] != NULL; i++)
    {
      _gantry_bind_text (statement, 1, uids[i]);
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
      if (!missing && sqlite3_changes (db) == 0)
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
shrink (const char *path, GCancellable *cancellable)
{
  g_autoptr (sqlite3) db = _gantry_session_open (path, TRUE, cancellable, NULL);

  if (db == NULL)
    return;
  sqlite3_limit (db, SQLITE_LIMIT_ATTACHED, 1);
  if (sqlite3_exec (db, "VACUUM", NULL, NULL, NULL) != SQLITE_OK)
    g_debug ("the session is not made smaller: %s", sqlite3_errmsg (db));
}

static gboolean
delete_runs (const char *path, const char *const *uids, gboolean missing, GError **error)
{
  g_autoptr (sqlite3) db = gantry_file_check (path, error) ? _gantry_session_open (path, TRUE, NULL, error) : NULL;

  if (db == NULL || !_gantry_session_exec (db, "BEGIN IMMEDIATE", error))
    return FALSE;
  /* What hangs on a run goes with it: the tables say ON DELETE CASCADE. */
  if (!_gantry_session_prepare_tables (db, error) || !delete_all (db, uids, missing, path, error) || !_gantry_session_exec (db, "COMMIT", error))
    {
      sqlite3_exec (db, "ROLLBACK", NULL, NULL, NULL);
      return FALSE;
    }
  return TRUE;
}

gboolean
gantry_runs_delete (const char *path, const char *const *uids, GError **error)
{
  if (!delete_runs (path, uids, FALSE, error))
    return FALSE;
  shrink (path, NULL);
  return TRUE;
}

gboolean
_gantry_session_delete_run (const char *path, const char *uid, GCancellable *cancellable, GError **error)
{
  const char *const uids[] = { uid, NULL };

  if (!delete_runs (path, uids, TRUE, error))
    return FALSE;
  shrink (path, cancellable);
  return TRUE;
}
