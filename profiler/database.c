/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's advice for files of others ("Defense Against The Dark Arts", sqlite.org/security.html). */
#include "profiler/database.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEPS_BETWEEN_LOOKS 10000

static int
is_cancelled (gpointer cancellable)
{
  return g_cancellable_is_cancelled (cancellable);
}

void
gantry_database_distrust (sqlite3 *db, int most_bytes_of_a_value, GCancellable *cancellable)
{
  const struct
  {
    int limit, most;
  } limits[] = {
    { SQLITE_LIMIT_LENGTH, most_bytes_of_a_value },
    { SQLITE_LIMIT_COLUMN, 500 },
    { SQLITE_LIMIT_EXPR_DEPTH, 50 },
    { SQLITE_LIMIT_COMPOUND_SELECT, 5 },
    { SQLITE_LIMIT_ATTACHED, 0 },
    { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
    { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000 },
    { SQLITE_LIMIT_WORKER_THREADS, 0 },
    { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    sqlite3_limit (db, limits[i].limit, limits[i].most);
  sqlite3_db_config (db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  sqlite3_progress_handler (db, cancellable != NULL ? STEPS_BETWEEN_LOOKS : 0, is_cancelled, cancellable);
}

static gboolean
refuse_beside (const char *path, const char *why, GError **error)
{
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: %s. Move it away to open the file as it stands", path, why);
  return FALSE;
}

/* SQLite writes into what lies beside a database under these names, and makes it empty: it has to be a file of its own. It is not
 * opened, for a process that closes a file gives up the locks that it has on it (fcntl(2)). */
static gboolean
check_beside (const char *path, GError **error)
{
  struct stat info;

  if (lstat (path, &info) != 0)
    return errno == ENOENT || refuse_beside (path, g_strerror (errno), error);
  if (S_ISREG (info.st_mode) && info.st_nlink <= 1)
    return TRUE;
  return refuse_beside (path, S_ISREG (info.st_mode) ? "is a second name of another file; SQLite makes no such file" : "is no file; SQLite makes a file there",
                        error);
}

/* SQLite rolls back what a journal holds, and then deletes the file that the journal names as the one that spans several databases. What
 * is read here was written as one database, so that a journal with such a name was made to delete something. Its last eight bytes are a
 * mark then (SQLite's file format, 3.3 "The Rollback Journal"). */
static gboolean
check_journal (const char *path, GError **error)
{
  static const guint8 mark[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
  g_autoptr (GMappedFile) mapped = NULL;
  GError *own = NULL;
  gsize size;

  if (!check_beside (path, error))
    return FALSE;
  mapped = gantry_file_map (path, &own);
  if (mapped == NULL)
    {
      const gboolean none = g_error_matches (own, G_FILE_ERROR, G_FILE_ERROR_NOENT); /* also: another's save has just ended */

      if (none)
        g_error_free (own);
      else
        g_propagate_error (error, own);
      return none;
    }
  size = g_mapped_file_get_length (mapped);
  if (size <= sizeof mark || memcmp (g_mapped_file_get_contents (mapped) + size - sizeof mark, mark, sizeof mark) != 0)
    return TRUE;
  return refuse_beside (path, "names a further file that would be deleted; no session and no export has such a journal", error);
}

/* By the names that SQLite itself will use, which are those of the file that links lead to. */
static gboolean
check_companions (sqlite3 *db, GError **error)
{
  const char *file = sqlite3_db_filename (db, "main");
  g_autofree char *index = g_strconcat (file, "-shm", NULL);

  return check_journal (sqlite3_filename_journal (file), error) && check_beside (sqlite3_filename_wal (file), error) && check_beside (index, error);
}

/* Where making a file fails SQLite tries to open it for reading, and tells why that fails. */
static int
why_not_made (const char *absolute, int system)
{
  g_autofree char *folder = g_path_get_dirname (absolute);

  return access (folder, W_OK | X_OK) != 0 ? errno : system;
}

sqlite3 *
gantry_database_open (const char *path, int flags, int most_bytes_of_a_value, GCancellable *cancellable, GError **error)
{
  /* SQLite may take what begins with "file:" for an address with options. */
  g_autofree char *folder = g_path_is_absolute (path) ? NULL : g_get_current_dir ();
  g_autofree char *absolute = folder != NULL ? g_build_filename (folder, path, NULL) : g_strdup (path);
  const gboolean is_new = (flags & SQLITE_OPEN_CREATE) != 0 && !g_file_test (path, G_FILE_TEST_EXISTS);
  sqlite3 *db = NULL;

  if (!is_new && !gantry_file_check (path, error))
    return NULL;
  if (sqlite3_open_v2 (absolute, &db, flags, NULL) != SQLITE_OK)
    {
      int system = db != NULL ? sqlite3_system_errno (db) : 0;

      system = is_new ? why_not_made (absolute, system) : system;
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s: cannot be %s: %s%s", path, is_new ? "made" : "opened",
                   system != 0  ? g_strerror (system)
                   : db != NULL ? sqlite3_errmsg (db)
                                : "out of memory",
                   is_new ? "; its folder has to be there and to let files be made in it" : "");
    }
  else if (check_companions (db, error))
    {
      gantry_database_distrust (db, most_bytes_of_a_value, cancellable);
      return db;
    }
  sqlite3_close (db);
  return NULL;
}

/* Only what begins with CREATE TABLE is no virtual table; SQLite sees to it that type and name are those of the text. A column that is
 * computed is hidden to "*". */
gboolean
gantry_database_is_plain (sqlite3 *db, const char *table)
{
  static const char sql[] = "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ?1 COLLATE NOCASE AND rootpage > 0"
                            "               AND sql LIKE 'CREATE TABLE %')"
                            " AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo (?1, 'main') WHERE hidden <> 0)"
                            " AND NOT EXISTS (SELECT 1 FROM pragma_index_list (?1, 'main') WHERE partial)"
                            " AND NOT EXISTS (SELECT 1 FROM pragma_index_list (?1, 'main') AS i, pragma_index_xinfo (i.name, 'main') WHERE cid = -2)";
  sqlite3_stmt *statement = NULL;
  gboolean plain = sqlite3_prepare_v2 (db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_bind_text (statement, 1, table, -1, SQLITE_STATIC) == SQLITE_OK
                   && sqlite3_step (statement) == SQLITE_ROW && sqlite3_column_int (statement, 0) != 0;

  sqlite3_finalize (statement);
  return plain;
}
