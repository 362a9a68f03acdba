/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured of a run's memory in the session file: a row for each figure, by its name. */
#include "core/document/session-private.h"

/* The figures beside parts and owners. @unplanned: its bytes are with a step and a node */
typedef struct
{
  const char *name;
  guint64 *bytes;
  guint32 *step, *node; /* (nullable) */
} Figure;

enum
{
  N_FIGURES = 8
};

static void
list_figures (GantryMemoryMeasure *measure, Figure figures[N_FIGURES])
{
  const Figure all[N_FIGURES] = {
    { "touched", &measure->peak_bytes, &measure->peak_step, NULL },
    { "rounding", &measure->rounding_bytes, NULL, NULL },
    { "host touched", &measure->host_bytes, NULL, NULL },
    { "outside", &measure->outside.bytes, &measure->outside.step, &measure->outside.node },
    { "beside", &measure->beside.bytes, &measure->beside.step, &measure->beside.node },
    { "process peak", &measure->process_peak, NULL, NULL },
    { "process", &measure->process, NULL, NULL },
    { "held", &measure->held, NULL, NULL },
  };

  for (guint i = 0; i < N_FIGURES; i++)
    figures[i] = all[i];
}

static gboolean
save_row (sqlite3 *db, sqlite3_stmt *statement, const char *what, guint64 bytes, const guint32 *step, const guint32 *node, GError **error)
{
  _gantry_bind_text (statement, 2, what);
  sqlite3_bind_int64 (statement, 3, (gint64) bytes);
  if (step != NULL && *step != G_MAXUINT32)
    sqlite3_bind_int64 (statement, 4, *step);
  else
    sqlite3_bind_null (statement, 4);
  if (node != NULL && *node != 0)
    sqlite3_bind_int64 (statement, 5, *node);
  else
    sqlite3_bind_null (statement, 5);
  return _gantry_session_step (db, statement, error);
}

gboolean
_gantry_session_save_measure (sqlite3 *db, gint64 run, const GantryMemoryMeasure *measure, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "INSERT INTO run_memory VALUES (?, ?, ?, ?, ?)", error);
  Figure figures[N_FIGURES];

  if (statement == NULL)
    return FALSE;
  list_figures ((GantryMemoryMeasure *) measure, figures);
  sqlite3_bind_int64 (statement, 1, run);
  for (guint i = 0; i < N_FIGURES; i++)
    if (!save_row (db, statement, figures[i].name, *figures[i].bytes, figures[i].step, figures[i].node, error))
      return FALSE;
  for (guint i = 0; i < GANTRY_N_MEMORY_PARTS; i++)
    if (!save_row (db, statement, gantry_memory_part_name (i), measure->touched.bytes[i], NULL, NULL, error))
      return FALSE;
  for (guint i = 0; i < GANTRY_N_MEMORY_OWNERS; i++)
    if (!save_row (db, statement, gantry_memory_owner_name (i), measure->owners[i], NULL, NULL, error))
      return FALSE;
  return save_row (db, statement, "driver", measure->driver != FALSE, NULL, NULL, error);
}

/* What rows were called up to version 5. */
static const char *
name_now (const char *what)
{
  static const char *const names[][2] = { { "peak", "touched" }, { "host", "host touched" }, { "planned parts now", "held" } };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_strcmp0 (what, names[i][0]) == 0)
      return names[i][1];
  return what;
}

static void
take_row (GantryMemoryMeasure *measure, const Figure *figures, const char *name, guint64 bytes, guint32 step, guint32 node)
{
  const char *what = name_now (name);

  for (guint i = 0; i < N_FIGURES; i++)
    if (g_strcmp0 (what, figures[i].name) == 0)
      {
        *figures[i].bytes = bytes;
        if (figures[i].step != NULL)
          *figures[i].step = step;
        if (figures[i].node != NULL)
          *figures[i].node = node;
      }
  for (guint i = 0; i < GANTRY_N_MEMORY_PARTS; i++)
    if (g_strcmp0 (what, gantry_memory_part_name (i)) == 0)
      measure->touched.bytes[i] = bytes;
  for (guint i = 0; i < GANTRY_N_MEMORY_OWNERS; i++)
    if (g_strcmp0 (what, gantry_memory_owner_name (i)) == 0)
      measure->owners[i] = bytes;
  if (g_strcmp0 (what, "driver") == 0)
    measure->driver = bytes != 0;
}

GantryMemoryMeasure *
_gantry_session_load_measure (sqlite3 *db, gint64 run)
{
  g_auto (GantrySessionRows) rows = { .db = db };
  g_autoptr (GantryMemoryMeasure) measure = gantry_memory_measure_new (0);
  Figure figures[N_FIGURES];
  gboolean found = FALSE;

  if (!_gantry_session_has (db, "run_memory", "what"))
    return NULL;
  if (!_gantry_rows_begin (&rows, db, "run_memory", "SELECT what, bytes, step, node FROM run_memory WHERE run = ?", NULL))
    return NULL;
  list_figures (measure, figures);
  sqlite3_bind_int64 (rows.statement, 1, run);
  while (_gantry_rows_next (&rows, NULL))
    {
      found = TRUE;
      take_row (measure, figures, (const char *) sqlite3_column_text (rows.statement, 0), (guint64) sqlite3_column_int64 (rows.statement, 1),
                sqlite3_column_type (rows.statement, 2) == SQLITE_NULL ? G_MAXUINT32 : (guint32) sqlite3_column_int64 (rows.statement, 2),
                (guint32) sqlite3_column_int64 (rows.statement, 3));
    }
  return found ? g_steal_pointer (&measure) : NULL;
}
