/* SPDX-License-Identifier: Apache-2.0 */
/* A session that carries its model along: the bytes of the model's files, in parts. They are opened from a folder of the user's own
 * where the model is not found, or is no longer that of the session. */
#include "core/document/session-private.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#define PART_BYTES ((gsize) 16 << 20)
#define MOST_FILES 4096

/* The name of a file beside the model: relative to its folder. (transfer full) (nullable) */
static char *
name_beside (const char *folder, const char *path)
{
  g_autoptr (GFile) base = g_file_new_for_path (folder), file = g_file_new_for_path (path);

  return g_file_get_relative_path (base, file);
}

static gboolean
embed_file (sqlite3 *db, gint64 number, const char *name, const char *path, GError **error)
{
  g_autoptr (GMappedFile) mapped = gantry_file_map (path, error);
  gsize length = mapped != NULL ? g_mapped_file_get_length (mapped) : 0;
  gsize at = 0;

  if (mapped == NULL)
    return FALSE;
  for (gint64 part = 0; at < length || part == 0; part++)
    {
      g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "INSERT INTO embedded VALUES (?, ?, ?, ?)", error);
      gsize n = MIN (length - at, PART_BYTES);

      if (statement == NULL)
        return FALSE;
      sqlite3_bind_int64 (statement, 1, number);
      sqlite3_bind_int64 (statement, 2, part);
      _gantry_bind_text (statement, 3, name);
      sqlite3_bind_blob64 (statement, 4, n > 0 ? g_mapped_file_get_contents (mapped) + at : "", n, SQLITE_STATIC);
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
      at += n;
    }
  return TRUE;
}

gboolean
_gantry_session_embed (sqlite3 *db, const GantryModel *model, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "SELECT 1 FROM embedded LIMIT 1", error);
  g_autofree char *first = NULL, *folder = NULL;
  GError *own = NULL;

  if (statement == NULL)
    return FALSE;
  if (_gantry_session_row (db, statement, &own)) /* of this model: a session is of one */
    return TRUE;
  if (own != NULL)
    {
      g_propagate_error (error, own);
      return FALSE;
    }
  for (guint i = 0; model->files != NULL && i < model->files->len; i++)
    {
      g_autofree char *path = g_canonicalize_filename (g_array_index (model->files, GantryModelFile, i).path, NULL), *name = NULL;

      if (i == 0)
        folder = g_path_get_dirname (path);
      name = name_beside (folder, path);
      if (name == NULL)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                       "%s: does not lie beside the model and cannot be carried along with it", path);
          return FALSE;
        }
      if (!embed_file (db, i, name, path, error))
        return FALSE;
    }
  return gantry_model_check_files (model, error); /* while it was read */
}

/* The file may be a stranger's: nothing is written but below @folder. */
static gboolean
is_safe_name (const char *name)
{
  g_auto (GStrv) parts = g_strsplit_set (name, "/\\", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (*parts[i] == '\0' || strcmp (parts[i], ".") == 0 || strcmp (parts[i], "..") == 0)
      return FALSE;
  return *name != '\0' && strchr (name, '\\') == NULL && g_utf8_validate (name, -1, NULL);
}

static gboolean
write_parts (sqlite3 *db, gint64 number, GantryOutput *output, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
    _gantry_session_prepare (db, "SELECT data FROM embedded WHERE file = ? ORDER BY part", error);
  GError *own = NULL;

  if (statement == NULL)
    return FALSE;
  sqlite3_bind_int64 (statement, 1, number);
  while (own == NULL && _gantry_session_row (db, statement, &own))
    g_output_stream_write_all (gantry_output_stream (output), sqlite3_column_blob (statement, 0),
                               (gsize) sqlite3_column_bytes (statement, 0), NULL, NULL, &own);
  if (own == NULL)
    return TRUE;
  g_propagate_error (error, own);
  return FALSE;
}

static gboolean
extract_file (sqlite3 *db, gint64 number, const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (GantryOutput) output = NULL;

  if (g_mkdir_with_parents (folder, 0700) != 0)
    {
      g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (errno), "%s: %s", folder, g_strerror (errno));
      return FALSE;
    }
  output = gantry_output_new (path, error);
  return output != NULL && gantry_output_finish (output, write_parts (db, number, output, error), error);
}

static gboolean
is_hash (const char *text)
{
  return text != NULL && strlen (text) == 64 && strspn (text, "0123456789abcdef") == 64;
}

char *
_gantry_session_extract (sqlite3 *db, const char *hash, GError **error)
{
  g_auto (GantrySessionRows) rows = { .db = db };
  g_autofree char *first = NULL;
  GError *own = NULL;
  guint n = 0;

  if (!is_hash (hash) || !_gantry_session_has (db, "embedded", "data"))
    return NULL;
  _gantry_rows_begin (&rows, db, "embedded", "SELECT file, name FROM embedded WHERE part = 0 ORDER BY file", &own);
  while (own == NULL && n++ < MOST_FILES && _gantry_rows_next (&rows, &own))
    {
      g_autofree char *name = _gantry_column_text (rows.statement, 1);
      g_autofree char *path = g_build_filename (g_get_user_cache_dir (), "gantry", "models", hash, name, NULL);

      if (!is_safe_name (name))
        g_set_error (&own, GANTRY_ERROR, GANTRY_ERROR_INVALID, "carries a file along whose name '%.80s' leads elsewhere", name);
      else if (first != NULL && gantry_model_is_program (first))
        g_set_error (&own, GANTRY_ERROR, GANTRY_ERROR_INVALID, "carries other files along with a program, which would be run with it");
      else if (extract_file (db, sqlite3_column_int64 (rows.statement, 0), path, &own) && first == NULL)
        first = g_steal_pointer (&path);
    }
  if (own == NULL)
    return g_steal_pointer (&first);
  g_propagate_error (error, own);
  return NULL;
}
