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
/* How long a writer waits for the others, milliseconds: sixteen that write 100 MiB each at 100 MiB/s. */
#define BUSY_MILLISECONDS 30000

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
  gint64 id = pragma (db, "PRAGMA application_id"), version = _gantry_session_version (db);

  if (id < 0)
    return _gantry_session_fail (db, error);
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
                   "%s: written by a newer Gantry (session version %" G_GINT64_FORMAT ", this one reads up to %d)", path,
                   version, GANTRY_SESSION_VERSION);
      return FALSE;
    }
  return TRUE;
}

/* SQLite rolls back what a journal holds, and then deletes the file that the journal names as the one that spans several
 * databases. A session is saved as one database, so that a journal with such a name was made to delete something. Its
 * last eight bytes are a mark then (SQLite's file format, 3.3 "The Rollback Journal"). */
static gboolean
check_journal (const char *path, GError **error)
{
  static const guint8 mark[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
  g_autofree char *journal = g_strconcat (path, "-journal", NULL);
  g_autoptr (GMappedFile) mapped = NULL;
  gsize size;

  if (!g_file_test (journal, G_FILE_TEST_EXISTS))
    return TRUE;
  mapped = gantry_file_map (journal, error);
  if (mapped == NULL)
    return FALSE;
  size = g_mapped_file_get_length (mapped);
  if (size <= sizeof mark || memcmp (g_mapped_file_get_contents (mapped) + size - sizeof mark, mark, sizeof mark) != 0)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "%s: names a further file that would be deleted; no session writes such a journal. Move it away to open the "
               "session as it stands", journal);
  return FALSE;
}

/* A file that is not there yet is made by a writer. */
static gboolean
check_file (const char *path, gboolean writable, GError **error)
{
  if (writable && !g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  return gantry_file_check (path, error) && check_journal (path, error);
}

static gboolean
refuse_schema (const char *path, const char *kind, const char *name, GError **error)
{
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "%s: no session that Gantry wrote: %s '%.80s' would run code of the file's own", path, kind, name);
  return FALSE;
}

static gboolean
contains (const char *sql, const char *word)
{
  g_autofree char *upper = g_ascii_strup (sql, -1);

  return strstr (upper, word) != NULL;
}

/* Views and triggers are switched off: they are never evaluated, whatever they say. The session's own tables are plain: every
 * column is stored, none is computed or checked by an expression, and no index is made over one. What else somebody keeps in
 * the file is not read. */
static gboolean
check_object (const char *path, const char *type, const char *table, const char *name, const char *sql, GError **error)
{
  if (!_gantry_session_owns_table (table))
    return TRUE;
  if (strcmp (type, "index") == 0 && (strchr (sql, '(') != strrchr (sql, '(') || contains (sql, "WHERE")))
    return refuse_schema (path, "the index", name, error);
  if (strcmp (type, "table") == 0 && (contains (sql, "GENERATED") || contains (sql, "AS (") || contains (sql, "AS(")
                                      || contains (sql, "CHECK") || contains (sql, "VIRTUAL") || contains (sql, "DEFAULT")))
    return refuse_schema (path, "the table", name, error);
  if (strcmp (type, "view") == 0)
    return refuse_schema (path, "the view", name, error);
  return TRUE;
}

static gboolean
check_schema (sqlite3 *db, const char *path, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
    _gantry_session_prepare (db, "SELECT type, tbl_name, name, sql FROM sqlite_master", error);
  GError *own = NULL;

  if (statement == NULL)
    return FALSE;
  while (own == NULL && _gantry_session_row (db, statement, &own))
    {
      g_autofree char *type = _gantry_column_text (statement, 0), *table = _gantry_column_text (statement, 1);
      g_autofree char *name = _gantry_column_text (statement, 2), *sql = _gantry_column_text (statement, 3);

      check_object (path, type, table, name, sql, &own);
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
  g_autoptr (sqlite3) db = NULL;

  if (!check_file (path, writable, error))
    return NULL;
  if (sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE | (writable ? SQLITE_OPEN_CREATE : 0), NULL) != SQLITE_OK)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s: cannot be opened: %s", path,
                   db != NULL ? sqlite3_errmsg (db) : "out of memory");
      return NULL;
    }
  gantry_database_distrust (db, MOST_BYTES_OF_A_VALUE, cancellable);
  sqlite3_busy_timeout (db, BUSY_MILLISECONDS);
  if (!_gantry_session_exec (db, "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;", error)
      || !check_version (db, path, writable, error) || !check_schema (db, path, error)
      || (!writable && !_gantry_session_exec (db, "PRAGMA query_only = ON;", error)))
    return NULL;
  return g_steal_pointer (&db);
}

/* The header is read over a connection: a process that opens and closes the file itself gives up all locks that SQLite holds on
 * it, those of another thread's save too (fcntl(2), "Record locking and file descriptors"). */
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
