/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the rows of a table: no more of them, and no more bytes of text, than a session has. A file may come from a stranger, and
 * what reads it keeps what it has read. */
#include "core/document/session-private.h"

#define KIB ((guint64) 1 << 10)
#define MIB ((guint64) 1 << 20)

/* Settings at once; of the tables of runs those of one run. A training step of a million nodes has at most eight million steps, buffers
 * or placed values; 128 bytes of text a step are the numbers of ten buffers. */
static const struct
{
  const char *table;
  guint64 most_rows, most_bytes;
} limits[] = {
  { "meta", 1000, 32 * MIB },
  { "dims", 10000, MIB },
  { "inputs", 10000, 64 * MIB },
  { "passes", 1000, MIB },
  { "placements", 8 * MIB, 256 * MIB },
  { "measured", 8 * MIB, 256 * MIB },
  { "front", 1000, 256 * MIB },
  { "schedules", 8 * MIB, 256 * MIB },
  { "variants", 1000, 4 * MIB },
  { "runs", 10000, 1024 * MIB },
  { "plan_steps", 8 * MIB, 1024 * MIB },
  { "plan_buffers", 8 * MIB, MIB },
  { "plan_memory", 1000, KIB },
  { "run_memory", 1000, MIB },
  { "plan_problems", 8 * MIB, 1024 * MIB },
  { "code", MIB, 2048 * MIB },
  { "chunks", 64 * KIB, 4096 * MIB },
  { "embedded", MIB, 64 * 1024 * MIB },
};

static guint
index_of (const char *table)
{
  guint i = 0;

  while (i < G_N_ELEMENTS (limits) && g_strcmp0 (limits[i].table, table) != 0)
    i++;
  g_assert (i < G_N_ELEMENTS (limits));
  return i;
}

gboolean
_gantry_session_fail_rows (sqlite3 *db, const char *table, guint64 rows, GError **error)
{
  const guint i = index_of (table);
  const gboolean many = rows > limits[i].most_rows;

  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: the table %s has more than %" G_GUINT64_FORMAT " %s, which is more than is read",
               sqlite3_db_filename (db, "main"), table, many ? limits[i].most_rows : limits[i].most_bytes / KIB, many ? "rows" : "KiB of text");
  return FALSE;
}

guint64
_gantry_session_most_rows (const char *table)
{
  return limits[index_of (table)].most_rows;
}

/* "length of a + length of b": the bytes of text in a row of @table. An invalid text or one with NUL counts whole. (transfer full) */
static char *
bytes_of_row (sqlite3 *db, const char *table, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("SELECT * FROM %s", table);
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, sql, error);
  GString *sum = statement != NULL ? g_string_new ("0") : NULL;

  for (int i = 0; sum != NULL && i < sqlite3_column_count (statement); i++)
    {
      const char *name = sqlite3_column_name (statement, i);
      char *term = sqlite3_mprintf (" + CASE typeof (\"%w\") WHEN 'text' THEN length (CAST (\"%w\" AS BLOB))"
                                    " WHEN 'blob' THEN length (\"%w\") ELSE 0 END",
                                    name, name, name);

      g_string_append (sum, term);
      sqlite3_free (term);
    }
  return sum != NULL ? g_string_free (sum, FALSE) : NULL;
}

gboolean
_gantry_session_check_bytes (sqlite3 *db, const char *table, gint64 run, GError **error)
{
  const guint i = index_of (table);
  g_autofree char *bytes = bytes_of_row (db, table, error), *sql = NULL;
  g_autoptr (sqlite3_stmt) statement = NULL;
  guint64 n_bytes = 0;
  GError *own = NULL;

  if (bytes == NULL)
    return FALSE;
  sql = g_strdup_printf ("SELECT total (%s) FROM %s WHERE run = ?", bytes, table);
  statement = _gantry_session_prepare (db, sql, error);
  if (statement == NULL)
    return FALSE;
  sqlite3_bind_int64 (statement, 1, run);
  if (_gantry_session_row (db, statement, &own))
    n_bytes = (guint64) sqlite3_column_double (statement, 0);
  if (own != NULL)
    {
      g_propagate_error (error, own);
      return FALSE;
    }
  return n_bytes <= limits[i].most_bytes || _gantry_session_fail_rows (db, table, 0, error);
}

guint64
_gantry_session_most_bytes (const char *table)
{
  return limits[index_of (table)].most_bytes;
}

gboolean
_gantry_rows_begin (GantrySessionRows *rows, sqlite3 *db, const char *table, const char *sql, GError **error)
{
  rows->db = db;
  rows->table = table;
  rows->n_rows = rows->n_bytes = 0;
  rows->statement = _gantry_session_prepare (db, sql, error);
  return rows->statement != NULL;
}

gboolean
_gantry_rows_next (GantrySessionRows *rows, GError **error)
{
  const guint i = index_of (rows->table);
  GError *own = NULL;

  if (!_gantry_session_row (rows->db, rows->statement, &own))
    {
      if (own != NULL && own->domain == GANTRY_ERROR)
        g_prefix_error (&own, "the table %s of ", rows->table);
      if (own != NULL)
        g_propagate_error (error, own);
      return FALSE;
    }
  rows->n_rows++;
  for (int column = 0; column < sqlite3_column_count (rows->statement); column++)
    {
      int type = sqlite3_column_type (rows->statement, column);

      if (type == SQLITE_TEXT || type == SQLITE_BLOB) /* the length of a number would make a text of it */
        rows->n_bytes += (guint64) sqlite3_column_bytes (rows->statement, column);
    }
  if (rows->n_rows <= limits[i].most_rows && rows->n_bytes <= limits[i].most_bytes)
    return TRUE;
  return _gantry_session_fail_rows (rows->db, rows->table, rows->n_rows, error);
}

gboolean
_gantry_session_check_settings (sqlite3 *db, GError **error)
{
  static const char *const tables[] = { "meta", "dims", "inputs", "passes", "placements", "measured", "variants", "front", "schedules" };
  GError *own = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (tables) && own == NULL; i++)
    {
      g_auto (GantrySessionRows) rows = { .db = db };
      g_autofree char *sql = g_strdup_printf ("SELECT * FROM %s", tables[i]);

      _gantry_rows_begin (&rows, db, tables[i], sql, &own);
      while (own == NULL && _gantry_rows_next (&rows, &own))
        ;
    }
  if (own == NULL)
    return TRUE;
  g_propagate_error (error, own);
  return FALSE;
}

void
_gantry_rows_clear (GantrySessionRows *rows)
{
  g_clear_pointer (&rows->statement, sqlite3_finalize);
}
