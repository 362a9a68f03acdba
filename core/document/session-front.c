/* SPDX-License-Identifier: Apache-2.0 */
/* The front of memory and time that was searched for, in a session file: of the program that it was found for, a row for
 * each point. */
#include "core/document/session-private.h"
#include <string.h>

#define FETCH_LIMIT "fetch limit "

static void
clear_front (gpointer data)
{
  GantryFront *front = data;

  g_free (front->program);
  g_ptr_array_unref (front->points);
}

GantryFront *
_gantry_front_new (const char *program, GPtrArray *points, gboolean unasked)
{
  GantryFront *front = g_atomic_rc_box_new0 (GantryFront);

  front->program = g_strdup (program);
  front->points = g_ptr_array_ref (points);
  front->unasked = unasked;
  return front;
}

GantryFront *
_gantry_front_ref (GantryFront *front)
{
  return front != NULL ? g_atomic_rc_box_acquire (front) : NULL;
}

void
_gantry_front_unref (GantryFront *front)
{
  if (front != NULL)
    g_atomic_rc_box_release_full (front, clear_front);
}

/* A line for each: what the columns of the table placements hold; then the keys of the schedule and the limit that copies are fetched
 * late for, where there is one. */
static char *
choices_to_text (const GantryChoices *choices)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; choices != NULL && i < choices->entries->len; i++)
    {
      const GantryChoice *choice = &g_array_index (choices->entries, GantryChoice, i);

      g_string_append_printf (text, "%016" G_GINT64_MODIFIER "x %u %u %u %u\n", choice->key, choice->node, choice->kind, choice->memory, choice->decider);
    }
  for (guint i = 0; choices != NULL && choices->schedule != NULL && i < choices->schedule->len; i++)
    g_string_append_printf (text, "%016" G_GINT64_MODIFIER "x\n", g_array_index (choices->schedule, guint64, i));
  if (choices != NULL && choices->fetch_limit != 0)
    g_string_append_printf (text, FETCH_LIMIT "%" G_GUINT64_FORMAT "\n", choices->fetch_limit);
  return g_string_free (text, FALSE);
}

/* Lines that are none are left out: a point that places less is a point all the same. */
static GantryChoices *
choices_of_text (const char *text)
{
  g_autoptr (GArray) list = g_array_new (FALSE, TRUE, sizeof (GantryChoice)), schedule = g_array_new (FALSE, FALSE, sizeof (guint64));
  GantryChoices *choices = gantry_choices_new ();

  for (const char *line = text; *line != '\0'; line += strcspn (line, "\n"), line += *line == '\n')
    {
      GantryChoice choice = { 0 };
      guint64 values[4] = { 0 };
      g_autofree char *key = g_strndup (line, strcspn (line, " \n"));
      char *end = (char *) line + strlen (key);
      guint n = 0;

      if (g_str_has_prefix (line, FETCH_LIMIT))
        {
          choices->fetch_limit = g_ascii_strtoull (line + strlen (FETCH_LIMIT), NULL, 10);
          continue;
        }
      if (!_gantry_session_key (key, &choice.key))
        continue;
      for (; n < G_N_ELEMENTS (values) && *end == ' ' && g_ascii_isdigit (end[1]); n++)
        values[n] = g_ascii_strtoull (end + 1, &end, 10);
      if (n == 0)
        g_array_append_val (schedule, choice.key);
      if (n < G_N_ELEMENTS (values))
        continue;
      choice.node = (guint32) MIN (values[0], G_MAXUINT32);
      choice.kind = (guint8) gantry_placement_kind_of_number ((gint64) MIN (values[1], G_MAXINT64));
      choice.memory = (guint8) MIN (values[2], GANTRY_N_MEMORY_KINDS - 1);
      choice.decider = (guint8) MIN (values[3], GANTRY_DECIDED_BY_SOLVER);
      g_array_append_val (list, choice);
    }
  gantry_choices_set_many (choices, (const GantryChoice *) (gpointer) list->data, list->len);
  gantry_choices_set_schedule (choices, (const guint64 *) (gpointer) schedule->data, schedule->len);
  return choices;
}

static gboolean
save_point (sqlite3 *db, sqlite3_stmt *statement, guint position, const char *program, const GantryVariant *point, GError **error)
{
  g_autofree char *placements = choices_to_text (point->choices);

  sqlite3_clear_bindings (statement);
  sqlite3_bind_int64 (statement, 1, position);
  _gantry_bind_text (statement, 2, program);
  _gantry_bind_text (statement, 3, point->name);
  sqlite3_bind_int64 (statement, 4, (gint64) point->limit);
  _gantry_bind_figures (statement, 5, 14, &point->figures);
  if (point->gap >= 0)
    sqlite3_bind_double (statement, 12, point->gap);
  _gantry_bind_text (statement, 13, placements);
  if (point->limit_part > 0)
    sqlite3_bind_double (statement, 17, point->limit_part);
  return _gantry_session_step (db, statement, error);
}

static gboolean
says (sqlite3 *db, const char *sql)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, sql, NULL);

  return statement != NULL && sqlite3_step (statement) == SQLITE_ROW && sqlite3_column_int (statement, 0) != 0;
}

#define IS_UNASKED "EXISTS (SELECT 1 FROM meta WHERE key = 'front_unasked')"

gboolean
_gantry_session_save_front (sqlite3 *db, const GantryFront *front, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = NULL;

  /* One that somebody has asked for meanwhile stays. */
  if (front->unasked && says (db, "SELECT EXISTS (SELECT 1 FROM front) AND NOT " IS_UNASKED))
    return TRUE;
  if (!_gantry_session_exec (db, "DELETE FROM front; DELETE FROM meta WHERE key = 'front_unasked'", error)
      || (front->unasked && !_gantry_session_exec (db, "INSERT INTO meta VALUES ('front_unasked', '1')", error)))
    return FALSE;
  statement = _gantry_session_prepare (db, "INSERT INTO front VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", error);
  for (guint i = 0; statement != NULL && i < front->points->len; i++)
    if (!save_point (db, statement, i, front->program, g_ptr_array_index (front->points, i), error))
      return FALSE;
  return statement != NULL;
}

static GantryVariant *
load_point (sqlite3_stmt *row)
{
  g_autofree char *name = _gantry_column_text (row, 1), *placements = _gantry_column_text (row, 11);
  GantryVariant *point = _gantry_variant_new (name);

  point->by = GANTRY_DECIDED_BY_SOLVER;
  point->predicted = TRUE;
  point->limit = (guint64) sqlite3_column_int64 (row, 2);
  _gantry_column_figures (row, 3, 12, &point->figures);
  point->gap = sqlite3_column_type (row, 10) != SQLITE_NULL ? sqlite3_column_double (row, 10) : -1;
  point->choices = choices_of_text (placements);
  point->limit_part = MAX (sqlite3_column_double (row, 15), 0);
  return point;
}

gboolean
_gantry_session_load_front (sqlite3 *db, GantryFront **front, GError **error)
{
  g_autoptr (GPtrArray) points = _gantry_variants_new ();
  g_auto (GantrySessionRows) rows = { .db = db };
  g_autofree char *program = NULL, *query = NULL, *figures = _gantry_session_figures (db, "front");
  GError *own = NULL;

  *front = NULL;
  if (!_gantry_session_has (db, "front", "placements"))
    return TRUE;
  query = g_strconcat ("SELECT program, name, limit_bytes, ", _gantry_session_column (db, "front", "planned_bytes"), ", temp_bytes, ",
                       _gantry_session_column (db, "front", "host_planned_bytes"),
                       ", copied_bytes, step_us,"
                       " recompute_us, stall_us, gap, placements, ",
                       figures, ", ", _gantry_session_column (db, "front", "limit_part"), " FROM front ORDER BY position", NULL);
  _gantry_rows_begin (&rows, db, "front", query, &own);
  while (own == NULL && _gantry_rows_next (&rows, &own))
    {
      if (program == NULL)
        program = _gantry_column_text (rows.statement, 0);
      g_ptr_array_add (points, load_point (rows.statement));
    }
  if (own != NULL)
    {
      g_propagate_error (error, own);
      return FALSE;
    }
  if (points->len > 0)
    *front = _gantry_front_new (program, points, says (db, "SELECT " IS_UNASKED));
  return TRUE;
}
