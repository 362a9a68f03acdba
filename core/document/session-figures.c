/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a plan in the columns of a row: seven in a row, and three that later versions have added behind all others. */
#include "core/document/session-private.h"
#include <string.h>

/* A line for each part that is not 0: "arguments 17408". */
static char *
parts_to_text (const GantryMemoryParts *parts)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < GANTRY_N_MEMORY_PARTS; i++)
    if (parts->bytes[i] > 0)
      g_string_append_printf (text, "%s %" G_GUINT64_FORMAT "\n", gantry_memory_part_name (i), parts->bytes[i]);
  return g_string_free (text, FALSE);
}

/* Lines that are none are left out. */
static void
read_parts (const char *text, GantryMemoryParts *parts)
{
  for (const char *line = text; *line != '\0'; line += strcspn (line, "\n"), line += *line == '\n')
    for (guint i = 0; i < GANTRY_N_MEMORY_PARTS; i++)
      {
        const char *name = gantry_memory_part_name (i);

        if (g_str_has_prefix (line, name) && line[strlen (name)] == ' ')
          parts->bytes[i] = g_ascii_strtoull (line + strlen (name) + 1, NULL, 10);
      }
}

void
_gantry_bind_figures (sqlite3_stmt *statement, int first, int added, const GantryPlanFigures *figures)
{
  const guint64 sizes[] = { figures->peak_bytes, figures->temp_bytes, figures->host_bytes, figures->copied_bytes };
  const double times[] = { figures->step_us, figures->recompute_us, figures->stall_us };
  g_autofree char *parts = parts_to_text (&figures->parts);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    sqlite3_bind_int64 (statement, first + (int) i, (gint64) sizes[i]);
  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    sqlite3_bind_double (statement, first + (int) (G_N_ELEMENTS (sizes) + i), times[i]);
  sqlite3_bind_int (statement, added, figures->sizes_known);
  sqlite3_bind_int (statement, added + 1, figures->fits);
  _gantry_bind_text (statement, added + 2, parts);
}

gboolean
_gantry_column_figures (sqlite3_stmt *row, int first, int added, GantryPlanFigures *figures)
{
  guint64 *const sizes[] = { &figures->peak_bytes, &figures->temp_bytes, &figures->host_bytes, &figures->copied_bytes };
  double *const times[] = { &figures->step_us, &figures->recompute_us, &figures->stall_us };
  g_autofree char *parts = _gantry_column_text (row, added + 2);

  *figures = (GantryPlanFigures){ .fits = TRUE };
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    *sizes[i] = (guint64) sqlite3_column_int64 (row, first + (int) i);
  for (guint i = 0; i < G_N_ELEMENTS (times); i++)
    *times[i] = sqlite3_column_double (row, first + (int) (G_N_ELEMENTS (sizes) + i));
  figures->sizes_known = sqlite3_column_int (row, added) != 0;
  if (sqlite3_column_type (row, added + 1) != SQLITE_NULL) /* older files hold what fitted, or do not say */
    figures->fits = sqlite3_column_int (row, added + 1) != 0;
  read_parts (parts, &figures->parts);
  return sqlite3_column_type (row, first) != SQLITE_NULL;
}

char *
_gantry_session_figures (sqlite3 *db, const char *table)
{
  return g_strconcat (_gantry_session_column (db, table, "sizes_known"), ", ", _gantry_session_column (db, table, "fits"), ", ",
                      _gantry_session_column (db, table, "parts"), NULL);
}
