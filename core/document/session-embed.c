/* SPDX-License-Identifier: Apache-2.0 */
/* A session that carries its model along: the bytes of the model's files, in parts. They are opened from a folder of the user's own
 * where the model is not found, or is no longer that of the session. */
#include "core/base/cache.h"
#include "core/base/scratch.h"
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

/* list_carried() refuses code beside a program: it is a stranger's, and would run too. */
gboolean
_gantry_session_can_embed (const GantryModel *model, GError **error)
{
  if (model->stages != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                 "%s: a session carries no folder of dumps along; save it without the model, which is then opened from there", model->path);
  else if (gantry_model_is_program (model->path) && model->files != NULL && model->files->len > 1)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s: the program imports it, and a session carries no code along but the program itself",
                 g_array_index (model->files, GantryModelFile, 1).path);
  else
    return TRUE;
  return FALSE;
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
  if (!_gantry_session_can_embed (model, error))
    return FALSE;
  for (guint i = 0; model->files != NULL && i < model->files->len; i++)
    {
      g_autofree char *path = g_canonicalize_filename (g_array_index (model->files, GantryModelFile, i).path, NULL), *name = NULL;

      if (i == 0)
        folder = g_path_get_dirname (path);
      name = name_beside (folder, path);
      if (name == NULL)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s: does not lie beside the model and cannot be carried along with it", path);
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
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "SELECT data FROM embedded WHERE file = ? ORDER BY part", error);
  GError *own = NULL;

  if (statement == NULL)
    return FALSE;
  sqlite3_bind_int64 (statement, 1, number);
  while (own == NULL && _gantry_session_row (db, statement, &own))
    g_output_stream_write_all (gantry_output_stream (output), sqlite3_column_blob (statement, 0), (gsize) sqlite3_column_bytes (statement, 0), NULL, NULL,
                               &own);
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
  output = gantry_output_new (path, NULL, error);
  return output != NULL && gantry_output_finish (output, write_parts (db, number, output, error), error);
}

static gboolean
is_hash (const char *text)
{
  return text != NULL && strlen (text) == 64 && strspn (text, "0123456789abcdef") == 64;
}

/* A file that the session carries along. */
typedef struct
{
  gint64 number;
  char *name, *hash;
} Carried;

static void
carried_clear (gpointer data)
{
  Carried *carried = data;

  g_free (carried->name);
  g_free (carried->hash);
}

/* (transfer full) (nullable): NULL with @error */
static char *
hash_parts (sqlite3 *db, gint64 number, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "SELECT data FROM embedded WHERE file = ? ORDER BY part", error);
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  GError *own = NULL;

  if (statement == NULL)
    return NULL;
  sqlite3_bind_int64 (statement, 1, number);
  while (_gantry_session_row (db, statement, &own))
    g_checksum_update (sum, sqlite3_column_blob (statement, 0), sqlite3_column_bytes (statement, 0));
  if (own == NULL)
    return g_strdup (g_checksum_get_string (sum));
  g_propagate_error (error, own);
  return NULL;
}

static GArray *
list_carried (sqlite3 *db, GError **error)
{
  g_auto (GantrySessionRows) rows = { .db = db };
  g_autoptr (GArray) list = g_array_new (FALSE, TRUE, sizeof (Carried));
  GError *own = NULL;

  g_array_set_clear_func (list, carried_clear);
  _gantry_rows_begin (&rows, db, "embedded", "SELECT file, name FROM embedded WHERE part = 0 ORDER BY file", &own);
  while (own == NULL && list->len < MOST_FILES && _gantry_rows_next (&rows, &own))
    {
      Carried carried = { sqlite3_column_int64 (rows.statement, 0), _gantry_column_text (rows.statement, 1), NULL };

      if (!is_safe_name (carried.name))
        g_set_error (&own, GANTRY_ERROR, GANTRY_ERROR_INVALID, "carries a file along whose name '%.80s' leads elsewhere", carried.name);
      else if (list->len > 0 && gantry_model_is_program (g_array_index (list, Carried, 0).name))
        g_set_error (&own, GANTRY_ERROR, GANTRY_ERROR_INVALID, "carries other files along with a program, which would be run with it");
      else
        carried.hash = hash_parts (db, carried.number, &own);
      g_array_append_val (list, carried);
    }
  if (own == NULL)
    return g_steal_pointer (&list);
  g_propagate_error (error, own);
  return NULL;
}

/* As gantry_model_has_hash(), before anything is written. */
static gboolean
check_carried (GArray *list, const char *hash, GError **error)
{
  g_autoptr (GChecksum) all = g_checksum_new (G_CHECKSUM_SHA256);

  for (guint i = 0; i < list->len; i++)
    {
      g_checksum_update (all, (const guchar *) g_array_index (list, Carried, i).hash, -1);
      g_checksum_update (all, (const guchar *) "\n", 1);
    }
  if (strcmp (g_array_index (list, Carried, 0).hash, hash) == 0 || (list->len > 1 && strcmp (g_checksum_get_string (all), hash) == 0))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "the model that it carries along is not the one that it was saved with; put the model back or beside the session file");
  return FALSE;
}

/* A file that is there as it should be stays: somebody may have it open. */
static gboolean
is_there (const char *path, const char *hash)
{
  g_autoptr (GMappedFile) mapped = g_file_test (path, G_FILE_TEST_IS_SYMLINK) ? NULL : gantry_file_map (path, NULL);
  g_autofree char *now = mapped == NULL ? NULL
                                        : g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) g_mapped_file_get_contents (mapped),
                                                                       g_mapped_file_get_length (mapped));

  return g_strcmp0 (now, hash) == 0;
}

/* What lies at the top of @folder and is none of the model's, but hidden files, which may be under way. */
static void
remove_others (const char *folder, GArray *list)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      gsize length = strlen (name);
      gboolean wanted = *name == '.';

      for (guint i = 0; i < list->len && !wanted; i++)
        {
          const char *own = g_array_index (list, Carried, i).name;

          wanted = strncmp (own, name, length) == 0 && (own[length] == '\0' || own[length] == '/');
        }
      if (!wanted)
        {
          g_autofree char *path = g_build_filename (folder, name, NULL);

          gantry_scratch_remove (path);
        }
    }
}

char *
_gantry_session_extract (sqlite3 *db, const char *hash, GError **error)
{
  g_autoptr (GArray) list = NULL;
  g_autoptr (GError) own = NULL;
  g_autofree char *folder = NULL;
  GantryCacheHold *hold;

  if (!is_hash (hash) || !_gantry_session_has (db, "embedded", "data"))
    return NULL;
  list = list_carried (db, error);
  if (list == NULL || list->len == 0 || !check_carried (list, hash, error))
    return NULL;
  folder = g_build_filename (g_get_user_cache_dir (), "gantry", "models", hash, NULL);
  hold = gantry_cache_hold (folder);
  remove_others (folder, list);
  for (guint i = 0; i < list->len && own == NULL; i++)
    {
      const Carried *carried = &g_array_index (list, Carried, i);
      g_autofree char *path = g_build_filename (folder, carried->name, NULL);

      if (!is_there (path, carried->hash))
        extract_file (db, carried->number, path, &own);
    }
  gantry_cache_hold_free (hold);
  if (own == NULL)
    return g_build_filename (folder, g_array_index (list, Carried, 0).name, NULL);
  g_propagate_error (error, g_steal_pointer (&own));
  return NULL;
}
