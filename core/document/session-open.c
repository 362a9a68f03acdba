/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a session file. It may have been left in the middle of a save (its journal then lies beside it and is rolled
 * back), and it may come from a stranger: nothing that it says in views, triggers, generated columns, checks or indices is
 * evaluated, whatever is read from it can be interrupted, and what is no file is not waited for. */
#include "core/document/session-private.h"
#include "profiler/database.h"
#include <string.h>

/* Most bytes of one text or blob: parts of embedded files have 16 MiB, a chunk of 64 k events is below 8 MiB, the code of a kernel
 * far below. */
#define MOST_BYTES_OF_A_VALUE (64 * 1024 * 1024)
/* How long a writer waits for the others, milliseconds: sixteen that write 100 MiB each at 100 MiB/s. Who reads waits for one that is
 * being committed, and is told what it waits for soon. */
#define WRITER_MILLISECONDS 30000
#define READER_MILLISECONDS 8000

static gint64
pragma (sqlite3 *db, const char *sql)
{
  g_autoptr (sqlite3_stmt) statement = NULL;

  if (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL) != SQLITE_OK || sqlite3_step (statement) != SQLITE_ROW)
    return -1;
  return sqlite3_column_int64 (statement, 0);
}

gint64
_gantry_session_version (sqlite3 *db)
{
  return pragma (db, "PRAGMA user_version");
}

/* An empty file is new; anything else has to say that it is ours and of a version that we read. */
static gboolean
check_version (sqlite3 *db, const char *path, gboolean writable, GError **error)
{
  gint64 id = pragma (db, "PRAGMA application_id"), version;

  if (id < 0)
    return _gantry_session_fail (db, error);
  version = _gantry_session_version (db); /* not before: where the file is locked each waits */
  if (id == 0 && pragma (db, "SELECT count(*) FROM sqlite_master") == 0 && writable)
    return TRUE; /* who writes says so */
  if (id != GANTRY_SESSION_APPLICATION_ID)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: an SQLite file, but no Gantry session", path);
      return FALSE;
    }
  if (version > GANTRY_SESSION_VERSION)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                   "%s: written by a newer Gantry (session version %" G_GINT64_FORMAT ", this one reads up to %d)", path, version, GANTRY_SESSION_VERSION);
      return FALSE;
    }
  return TRUE;
}

static void
refuse_schema (const char *path, const char *kind, const char *name, const char *why, GError **error)
{
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: no session that Gantry wrote: the %.10s '%.80s' %s", path, kind, name, why);
}

/* Of CHECK and DEFAULT SQLite tells in the text alone; a keyword cannot be written in another way. */
static gboolean
is_plain (sqlite3 *db, const char *table, const char *sql)
{
  g_autofree char *upper = g_ascii_strup (sql, -1);

  return strstr (upper, "CHECK") == NULL && strstr (upper, "DEFAULT") == NULL && gantry_database_is_plain (db, table);
}

/* Whether deleting a row of the session's own would change, or look for, rows of @table. */
static gboolean
refers_to_ours (sqlite3 *db, const char *table, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "SELECT \"table\" FROM pragma_foreign_key_list (?, 'main')", error);
  gboolean refers = FALSE;

  if (statement == NULL)
    return FALSE;
  _gantry_bind_text (statement, 1, table);
  while (!refers && _gantry_session_row (db, statement, error))
    {
      g_autofree char *parent = _gantry_column_text (statement, 0);

      refers = _gantry_session_owns_table (parent);
    }
  return refers;
}

/* Views and triggers are switched off: they are never evaluated, whatever they say. The session's own tables are plain: every
 * column is stored, none is computed or checked by an expression, and no index is made over one. What else somebody keeps in
 * the file is not read, and what is done to the session's tables does nothing to it. */
static void
check_object (sqlite3 *db, const char *path, const char *type, const char *table, const char *name, const char *sql, GError **error)
{
  const gboolean ours = _gantry_session_owns_table (table), is_table = strcmp (type, "table") == 0;
  GError *own = NULL;

  if (ours && is_table && !is_plain (db, table, sql))
    {
      const int code = sqlite3_errcode (db);

      if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE)
        _gantry_session_fail (db, error);
      else
        refuse_schema (path, type, name, "or an index of it would run code of the file's own", error);
    }
  else if (ours && !is_table && strcmp (type, "index") != 0)
    refuse_schema (path, type, name, "would run code of the file's own", error);
  else if (!ours && is_table && refers_to_ours (db, table, &own))
    refuse_schema (path, type, name, "refers to rows of the session; drop it, or keep it in a file of its own", error);
  if (own != NULL)
    g_propagate_error (error, own);
}

static gboolean
check_schema (sqlite3 *db, const char *path, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "SELECT type, tbl_name, name, sql FROM sqlite_master", error);
  GError *own = NULL;

  if (statement == NULL)
    return FALSE;
  while (own == NULL && _gantry_session_row (db, statement, &own))
    {
      g_autofree char *type = _gantry_column_text (statement, 0), *table = _gantry_column_text (statement, 1);
      g_autofree char *name = _gantry_column_text (statement, 2), *sql = _gantry_column_text (statement, 3);

      check_object (db, path, type, table, name, sql, &own);
    }
  if (own == NULL)
    return TRUE;
  g_propagate_error (error, own);
  return FALSE;
}

/* Also for reading the file is opened for writing where that is allowed: a save that was interrupted is rolled back. Where it
 * is not allowed and there is something to roll back the first read says so. */
sqlite3 *
_gantry_session_open (const char *path, gboolean writable, GCancellable *cancellable, GError **error)
{
  g_autoptr (sqlite3) db = gantry_database_open (path, SQLITE_OPEN_READWRITE | (writable ? SQLITE_OPEN_CREATE : 0), MOST_BYTES_OF_A_VALUE, cancellable, error);

  if (db == NULL)
    return NULL;
  sqlite3_busy_timeout (db, writable ? WRITER_MILLISECONDS : READER_MILLISECONDS);
  if (!_gantry_session_exec (db, "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;", error)
      || !check_version (db, path, writable, error) || !check_schema (db, path, error)
      || (!writable && !_gantry_session_exec (db, "PRAGMA query_only = ON;", error)))
    return NULL;
  return g_steal_pointer (&db);
}

/* The header is read over a connection, below what would replay a journal: a process that opens and closes the file itself gives up all locks that SQLite
 * holds on it, those of another thread's save too (fcntl(2), "Record locking and file descriptors"). */
static gboolean
read_header (const char *path, guint8 header[72])
{
  g_autoptr (sqlite3) db = NULL;
  sqlite3_file *file = NULL;

  return gantry_file_check (path, NULL) && sqlite3_open_v2 (path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK
         && sqlite3_file_control (db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK && file->pMethods != NULL
         && file->pMethods->xRead (file, header, 72, 0) == SQLITE_OK && memcmp (header, "SQLite format 3", 16) == 0;
}

gboolean
_gantry_session_is_session (const char *path)
{
  guint8 header[72];

  return read_header (path, header);
}

gboolean
_gantry_session_is_own (const char *path)
{
  guint8 header[72];
  guint32 id;

  if (!read_header (path, header))
    return FALSE;
  memcpy (&id, header + 68, sizeof id); /* SQLite's file format, 1.3.15 "The Application ID" */
  return GUINT32_FROM_BE (id) == GANTRY_SESSION_APPLICATION_ID;
}
