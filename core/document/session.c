/* SPDX-License-Identifier: Apache-2.0 */
/* The session file's schema and what reading and writing have in common. */
#include "core/document/session-private.h"
#include <errno.h>
#include <string.h>

/* clang-format off */
static const char schema[] =
  "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;"
  "CREATE TABLE IF NOT EXISTS dims (name TEXT PRIMARY KEY, size INTEGER NOT NULL) WITHOUT ROWID;"
  "CREATE TABLE IF NOT EXISTS inputs (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
  "CREATE TABLE IF NOT EXISTS passes (position INTEGER PRIMARY KEY, name TEXT NOT NULL, title TEXT NOT NULL,"
  "  enabled INTEGER NOT NULL, nodes_before INTEGER, nodes_after INTEGER, made INTEGER, removed INTEGER,"
  "  milliseconds REAL);"
  "CREATE TABLE IF NOT EXISTS nodes (id INTEGER PRIMARY KEY, function TEXT, op TEXT NOT NULL, name TEXT, type TEXT,"
  "  scope TEXT, location TEXT);"
  "CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE, name TEXT, device TEXT,"
  "  recorded_at TEXT, threads INTEGER, runs INTEGER, milliseconds REAL, milliseconds_min REAL, milliseconds_max REAL,"
  "  compile_milliseconds REAL, planned_bytes INTEGER, touched_bytes INTEGER, constant_bytes INTEGER,"
  "  arena_lower_bound_bytes INTEGER, literal_bytes INTEGER, peak_step INTEGER, predicted_us REAL, init_steps INTEGER,"
  "  program TEXT, head BLOB, copied_bytes INTEGER, recompute_us REAL, stall_us REAL, resident INTEGER,"
  "  packed_bytes INTEGER, code_bytes INTEGER, sizes_known INTEGER, model_sha256 TEXT, limit_bytes INTEGER,"
  "  kernels TEXT, target TEXT, arch TEXT);"
  "CREATE TABLE IF NOT EXISTS plan_steps (run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step INTEGER,"
  "  node INTEGER, queue INTEGER, init INTEGER, start_us REAL, duration_us REAL, live_bytes INTEGER,"
  "  kind INTEGER, instance INTEGER, wait_us REAL, operands INTEGER, buffers TEXT, waits TEXT,"
  "  PRIMARY KEY (run, step)) WITHOUT ROWID;"
  "CREATE TABLE IF NOT EXISTS plan_buffers (run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
  "  buffer INTEGER, node INTEGER, member INTEGER, category INTEGER, region INTEGER, memory INTEGER, in_place INTEGER,"
  "  shares INTEGER, offset INTEGER, size INTEGER, first_step INTEGER, last_step INTEGER, role INTEGER,"
  "  instance INTEGER, stored INTEGER, PRIMARY KEY (run, buffer)) WITHOUT ROWID;"
  "CREATE TABLE IF NOT EXISTS plan_memory (run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
  "  memory INTEGER, arena_bytes INTEGER, argument_bytes INTEGER, output_bytes INTEGER, alias_bytes INTEGER,"
  "  PRIMARY KEY (run, memory)) WITHOUT ROWID;"
  "CREATE TABLE IF NOT EXISTS run_memory (run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, what TEXT,"
  "  bytes INTEGER, step INTEGER, node INTEGER, PRIMARY KEY (run, what)) WITHOUT ROWID;"
  "CREATE TABLE IF NOT EXISTS plan_problems (run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
  "  node INTEGER, kind INTEGER, given INTEGER, reason TEXT);"
  "CREATE TABLE IF NOT EXISTS placements (variant TEXT NOT NULL, key TEXT NOT NULL, node INTEGER, kind INTEGER NOT NULL,"
  "  memory INTEGER NOT NULL, decided_by INTEGER NOT NULL, name TEXT, PRIMARY KEY (variant, key)) WITHOUT ROWID;"
  "CREATE TABLE IF NOT EXISTS schedules (variant TEXT NOT NULL, position INTEGER, key TEXT NOT NULL,"
  "  PRIMARY KEY (variant, position)) WITHOUT ROWID;"
  "CREATE TABLE IF NOT EXISTS measured (key TEXT PRIMARY KEY, us REAL NOT NULL) WITHOUT ROWID;"
  "CREATE TABLE IF NOT EXISTS variants (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, policy TEXT,"
  "  limit_bytes INTEGER, decided_by INTEGER, planned_bytes INTEGER, temp_bytes INTEGER, host_planned_bytes INTEGER,"
  "  copied_bytes INTEGER, step_us REAL, recompute_us REAL, stall_us REAL, gap REAL, sizes_known INTEGER,"
  "  fits INTEGER, parts TEXT, limit_part REAL, fetch_limit_bytes INTEGER);"
  "CREATE TABLE IF NOT EXISTS front (position INTEGER PRIMARY KEY, program TEXT NOT NULL, name TEXT NOT NULL,"
  "  limit_bytes INTEGER, planned_bytes INTEGER, temp_bytes INTEGER, host_planned_bytes INTEGER, copied_bytes INTEGER,"
  "  step_us REAL, recompute_us REAL, stall_us REAL, gap REAL, placements TEXT NOT NULL, sizes_known INTEGER,"
  "  fits INTEGER, parts TEXT, limit_part REAL);"
  "CREATE TABLE IF NOT EXISTS chunks (run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, number INTEGER,"
  "  content INTEGER, lane INTEGER, n INTEGER, begin_ns INTEGER, end_ns INTEGER, data BLOB NOT NULL,"
  "  PRIMARY KEY (run, number));"
  "CREATE TABLE IF NOT EXISTS code (run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, node INTEGER,"
  "  kernel TEXT, kind TEXT, texpr TEXT, llvm_ir TEXT, assembly TEXT, schedule TEXT, arch TEXT, cubin BLOB, registers INTEGER,"
  "  spill_store_bytes INTEGER, spill_load_bytes INTEGER, stack_bytes INTEGER, shared_bytes INTEGER, same_as INTEGER);"
  "CREATE TABLE IF NOT EXISTS embedded (file INTEGER NOT NULL, part INTEGER NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL,"
  "  PRIMARY KEY (file, part));"
  /* Uids of runs that were deleted: whoever still has one does not write it again. */
  "CREATE TABLE IF NOT EXISTS deleted (uid TEXT PRIMARY KEY) WITHOUT ROWID;"
  "CREATE INDEX IF NOT EXISTS code_by_run ON code (run);";
/* clang-format on */

static gboolean
fail_locked (const char *file, GError **error)
{
  g_autofree char *holder = _gantry_session_lock_holder (file);

  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED,
               "%s: the file is locked: %s is writing it or holds it open for writing; try again when it is done, or end it",
               file != NULL && *file != '\0' ? file : "session", holder != NULL ? holder : "another program");
  return FALSE;
}

gboolean
_gantry_session_fail (sqlite3 *db, GError **error)
{
  int code = sqlite3_errcode (db) & 0xff;
  const char *file = sqlite3_db_filename (db, "main");
  const int system = code == SQLITE_IOERR ? sqlite3_system_errno (db) : 0; /* of the last call, which need not be the one that failed */
  const gboolean told = system == EFBIG || system == EDQUOT || system == ENOSPC;
  const char *advice = "";
  GantryError kind = GANTRY_ERROR_FAILED;

  if (code == SQLITE_FULL)
    advice = ": free some space and save again; the file still holds what it held before";
  else if (code == SQLITE_IOERR)
    advice = ": the disk refuses it, or a limit of file sizes (ulimit -f) does; the file still holds what it held before";
  else if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
    {
      advice = ": it is no session file, or it is damaged";
      kind = GANTRY_ERROR_INVALID;
    }
  else if (code == SQLITE_ERROR && g_str_has_prefix (sqlite3_errmsg (db), "no such ")) /* table or column */
    advice = ": the session is damaged, its tables are not as they were written; open an earlier copy, or make it again from the model";
  else if (code == SQLITE_TOOBIG)
    {
      advice = ": larger than any that a session has";
      kind = GANTRY_ERROR_TOO_LARGE;
    }
  else if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
    return fail_locked (file, error);
  else if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM)
    advice = ": check that folder and file may be written";
  else if (code == SQLITE_INTERRUPT)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "reading the session was cancelled");
      return FALSE;
    }
  g_set_error (error, GANTRY_ERROR, kind, "%s: %s%s%s%s", file != NULL && *file != '\0' ? file : "session", sqlite3_errmsg (db), told ? ": " : "",
               told ? g_strerror (system) : "", advice);
  return FALSE;
}

gboolean
_gantry_session_exec (sqlite3 *db, const char *sql, GError **error)
{
  return sqlite3_exec (db, sql, NULL, NULL, NULL) == SQLITE_OK || _gantry_session_fail (db, error);
}

sqlite3_stmt *
_gantry_session_prepare (sqlite3 *db, const char *sql, GError **error)
{
  sqlite3_stmt *statement = NULL;

  if (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL) != SQLITE_OK)
    {
      _gantry_session_fail (db, error);
      return NULL;
    }
  return statement;
}

gboolean
_gantry_session_row (sqlite3 *db, sqlite3_stmt *statement, GError **error)
{
  int code = sqlite3_step (statement);

  if (code != SQLITE_ROW && code != SQLITE_DONE)
    _gantry_session_fail (db, error);
  return code == SQLITE_ROW;
}

gboolean
_gantry_session_has (sqlite3 *db, const char *table, const char *column)
{
  return sqlite3_table_column_metadata (db, NULL, table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* Columns that had another name up to version 5, where a figure of a plan and one that was measured were called alike. */
static const struct
{
  const char *table, *before, *now;
} renamed[] = {
  { "runs", "peak_bytes", "touched_bytes" },     { "runs", "lower_bound_bytes", "arena_lower_bound_bytes" },
  { "variants", "peak_bytes", "planned_bytes" }, { "variants", "host_bytes", "host_planned_bytes" },
  { "front", "peak_bytes", "planned_bytes" },    { "front", "host_bytes", "host_planned_bytes" },
};

const char *
_gantry_session_column (sqlite3 *db, const char *table, const char *name)
{
  if (_gantry_session_has (db, table, name))
    return name;
  for (guint i = 0; i < G_N_ELEMENTS (renamed); i++)
    if (strcmp (renamed[i].table, table) == 0 && strcmp (renamed[i].now, name) == 0 && _gantry_session_has (db, table, renamed[i].before))
      return renamed[i].before;
  return "NULL";
}

gboolean
_gantry_session_step (sqlite3 *db, sqlite3_stmt *statement, GError **error)
{
  int code = sqlite3_step (statement);

  if (code != SQLITE_DONE && code != SQLITE_ROW)
    {
      _gantry_session_fail (db, error);
      sqlite3_reset (statement);
      return FALSE;
    }
  sqlite3_reset (statement);
  return TRUE;
}

/* SQLite leaves a column NULL where binding failed (too long, no memory). A blob of zeros is looked at when the row is made, and refused then. */
static void
check_bound (sqlite3_stmt *statement, int column, int code)
{
  if (code != SQLITE_OK)
    sqlite3_bind_zeroblob (statement, column, G_MAXINT);
}

void
_gantry_bind_text (sqlite3_stmt *statement, int column, const char *text)
{
  check_bound (statement, column, sqlite3_bind_text (statement, column, text, -1, SQLITE_TRANSIENT));
}

void
_gantry_bind_blob (sqlite3_stmt *statement, int column, gconstpointer data, gsize size)
{
  check_bound (statement, column, sqlite3_bind_blob64 (statement, column, data, size, SQLITE_TRANSIENT));
}

gboolean
_gantry_session_key (const char *text, guint64 *key)
{
  return strlen (text) == 16 && strspn (text, "0123456789abcdefABCDEF") == 16 && g_ascii_string_to_unsigned (text, 16, 0, G_MAXUINT64, key, NULL);
}

char *
_gantry_column_text (sqlite3_stmt *statement, int column)
{
  const char *text = (const char *) sqlite3_column_text (statement, column);

  return g_strdup (text != NULL ? text : "");
}

/* Up to version 4 planned_bytes was the height of the device's arena. It is kept where the others have theirs, and the column means what
 * a limit is compared with: all that the plan takes of the device. A file without runs, a new one, has nothing to change. */
static const char planned_of_device[] =
  "INSERT OR IGNORE INTO plan_memory SELECT id, 0, planned_bytes, 0, 0, 0 FROM runs;"
  "UPDATE runs SET planned_bytes = planned_bytes + COALESCE (constant_bytes, 0) + COALESCE (literal_bytes, 0) + COALESCE (code_bytes, 0);";

static gboolean
rename_columns (sqlite3 *db, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (renamed); i++)
    {
      g_autofree char *sql = g_strdup_printf ("ALTER TABLE %s RENAME COLUMN %s TO %s", renamed[i].table, renamed[i].before, renamed[i].now);

      if (!_gantry_session_has (db, renamed[i].table, renamed[i].now) && _gantry_session_has (db, renamed[i].table, renamed[i].before)
          && !_gantry_session_exec (db, sql, error))
        return FALSE;
    }
  return TRUE;
}

/* What later versions have added to a table that was there before, and call otherwise. */
static gboolean
upgrade (sqlite3 *db, GError **error)
{
  /* clang-format off */
  static const struct { const char *table, *column, *type; } added[] = {
    { "runs", "copied_bytes", "INTEGER" },  { "runs", "recompute_us", "REAL" },
    { "runs", "stall_us", "REAL" },         { "runs", "resident", "INTEGER" },
    { "runs", "packed_bytes", "INTEGER" },  { "runs", "code_bytes", "INTEGER" },
    { "runs", "sizes_known", "INTEGER" },   { "runs", "model_sha256", "TEXT" },
    { "plan_steps", "kind", "INTEGER" },    { "plan_steps", "instance", "INTEGER" },
    { "plan_steps", "wait_us", "REAL" },    { "plan_steps", "operands", "INTEGER" },
    { "plan_steps", "buffers", "TEXT" },    { "plan_steps", "waits", "TEXT" },
    { "code", "schedule", "TEXT" },         { "code", "arch", "TEXT" },
    { "code", "cubin", "BLOB" },            { "code", "registers", "INTEGER" },
    { "code", "spill_store_bytes", "INTEGER" },
    { "code", "spill_load_bytes", "INTEGER" },
    { "code", "stack_bytes", "INTEGER" },   { "code", "shared_bytes", "INTEGER" },
    { "code", "same_as", "INTEGER" },
    { "runs", "limit_bytes", "INTEGER" },   { "runs", "kernels", "TEXT" },
    { "runs", "target", "TEXT" },           { "runs", "arch", "TEXT" },
    { "variants", "sizes_known", "INTEGER" },
    { "front", "sizes_known", "INTEGER" },  { "placements", "name", "TEXT" },
    { "variants", "fits", "INTEGER" },      { "variants", "parts", "TEXT" },
    { "variants", "limit_part", "REAL" },   { "variants", "fetch_limit_bytes", "INTEGER" },
    { "front", "fits", "INTEGER" },         { "front", "parts", "TEXT" },
    { "front", "limit_part", "REAL" },
    { "plan_buffers", "role", "INTEGER" },  { "plan_buffers", "instance", "INTEGER" },
    { "plan_buffers", "stored", "INTEGER" },
  };
  /* clang-format on */
  g_autofree char *mark = g_strdup_printf ("PRAGMA application_id = %d; PRAGMA user_version = %d;", GANTRY_SESSION_APPLICATION_ID, GANTRY_SESSION_VERSION);

  for (guint i = 0; i < G_N_ELEMENTS (added); i++)
    {
      g_autofree char *sql = g_strdup_printf ("ALTER TABLE %s ADD COLUMN %s %s", added[i].table, added[i].column, added[i].type);

      if (!_gantry_session_has (db, added[i].table, added[i].column) && !_gantry_session_exec (db, sql, error))
        return FALSE;
    }
  return rename_columns (db, error) && (_gantry_session_version (db) >= GANTRY_SESSION_PLANNED_OF_DEVICE || _gantry_session_exec (db, planned_of_device, error))
         && _gantry_session_exec (db, mark, error);
}

gboolean
_gantry_session_owns_table (const char *name)
{
  g_autofree char *lower = g_ascii_strdown (name, -1);
  g_autofree char *start = g_strdup_printf (" EXISTS %s (", lower);

  return strstr (schema, start) != NULL || strcmp (lower, GANTRY_SESSION_RECOVERY) == 0;
}

gboolean
_gantry_session_prepare_tables (sqlite3 *db, GError **error)
{
  return _gantry_session_exec (db, schema, error) && upgrade (db, error);
}

char *
_gantry_session_fingerprint (const GantryCompilation *compilation)
{
  const GantryModule *module = gantry_compilation_module (compilation);
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);

  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[i];
      g_autofree char *type = gantry_context_type_text (module->context, node->type);
      g_autofree char *line = g_strdup_printf ("%u %s %s\n", node->id, gantry_node_op_name (module, node), type);

      g_checksum_update (checksum, (const guchar *) line, -1);
    }
  return g_strdup (g_checksum_get_string (checksum));
}
