/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's advice for files of others ("Defense Against The Dark Arts", sqlite.org/security.html). */
#include "profiler/database.h"

#define STEPS_BETWEEN_LOOKS 10000

static int
is_cancelled (gpointer cancellable)
{
  return g_cancellable_is_cancelled (cancellable);
}

void
gantry_database_distrust (sqlite3 *db, int most_bytes_of_a_value, GCancellable *cancellable)
{
  const struct { int limit, most; } limits[] = {
    { SQLITE_LIMIT_LENGTH, most_bytes_of_a_value },  { SQLITE_LIMIT_COLUMN, 500 },       { SQLITE_LIMIT_EXPR_DEPTH, 50 },
    { SQLITE_LIMIT_COMPOUND_SELECT, 5 },             { SQLITE_LIMIT_ATTACHED, 0 },       { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
    { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000 },      { SQLITE_LIMIT_WORKER_THREADS, 0 }, { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    sqlite3_limit (db, limits[i].limit, limits[i].most);
  sqlite3_db_config (db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  sqlite3_progress_handler (db, cancellable != NULL ? STEPS_BETWEEN_LOOKS : 0, is_cancelled, cancellable);
}

/* A virtual table has no page of its own; a column that is computed is hidden to "*". */
gboolean
gantry_database_is_plain (sqlite3 *db, const char *table)
{
  static const char sql[] = "SELECT (SELECT count(*) FROM main.sqlite_master WHERE type = 'table' AND name = ?1 COLLATE NOCASE"
                            " AND rootpage > 0) AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 0)";
  sqlite3_stmt *statement = NULL;
  gboolean plain = sqlite3_prepare_v2 (db, sql, -1, &statement, NULL) == SQLITE_OK
                   && sqlite3_bind_text (statement, 1, table, -1, SQLITE_STATIC) == SQLITE_OK
                   && sqlite3_step (statement) == SQLITE_ROW && sqlite3_column_int (statement, 0) != 0;

  sqlite3_finalize (statement);
  return plain;
}
