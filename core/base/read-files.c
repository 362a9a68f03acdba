/* SPDX-License-Identifier: Apache-2.0 */
/* A list of files. Which file it is says its device and inode, so that all its names are found; its path is asked again, because what
 * was read may have been written anew since. */
#include "core/base/read-files.h"
#include "core/base/error.h"
#include <string.h>

struct _GantryReadFiles
{
  gatomicrefcount ref_count;
  GMutex lock;
  GArray *files; /* File */
};

typedef struct
{
  char *path;
  GantryFileIdentity identity; /* when it was added; zero: there was none */
} File;

static void
clear_file (gpointer data)
{
  g_free (((File *) data)->path);
}

GantryReadFiles *
gantry_read_files_new (void)
{
  GantryReadFiles *files = g_new0 (GantryReadFiles, 1);

  g_atomic_ref_count_init (&files->ref_count);
  g_mutex_init (&files->lock);
  files->files = g_array_new (FALSE, FALSE, sizeof (File));
  g_array_set_clear_func (files->files, clear_file);
  return files;
}

GantryReadFiles *
gantry_read_files_ref (GantryReadFiles *files)
{
  g_atomic_ref_count_inc (&files->ref_count);
  return files;
}

void
gantry_read_files_unref (GantryReadFiles *files)
{
  if (files == NULL || !g_atomic_ref_count_dec (&files->ref_count))
    return;
  g_array_unref (files->files);
  g_mutex_clear (&files->lock);
  g_free (files);
}

static void
add (GantryReadFiles *files, const char *path, const GantryFileIdentity *identity)
{
  File file = { g_strdup (path), *identity };

  g_mutex_lock (&files->lock);
  g_array_append_val (files->files, file);
  g_mutex_unlock (&files->lock);
}

void
gantry_read_files_add (GantryReadFiles *files, const char *path)
{
  GantryFileIdentity identity;

  gantry_file_identify (path, &identity);
  add (files, path, &identity);
}

void
gantry_read_files_add_all (GantryReadFiles *files, GantryReadFiles *others)
{
  if (others == NULL || others == files)
    return;
  g_mutex_lock (&others->lock);
  for (guint i = 0; i < others->files->len; i++)
    {
      const File *file = &g_array_index (others->files, File, i);

      add (files, file->path, &file->identity);
    }
  g_mutex_unlock (&others->lock);
}

static gboolean
is_same (const GantryFileIdentity *a, const GantryFileIdentity *b)
{
  return a->device == b->device && a->inode == b->inode;
}

static gboolean
names (const File *file, const GantryFileIdentity *output)
{
  GantryFileIdentity now;

  return is_same (&file->identity, output) || (gantry_file_identify (file->path, &now) && is_same (&now, output));
}

static void
refuse (const char *output, const char *path, GError **error)
{
  gboolean other = strcmp (output, path) != 0;

  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "'%s' is what is read%s%s%s: what is made of it does not replace it; name another file to write",
               output, other ? ", as '" : "", other ? path : "", other ? "'" : "");
}

gboolean
gantry_read_files_allow (GantryReadFiles *files, const char *output, GError **error)
{
  GantryFileIdentity there;
  gboolean allowed = TRUE;

  if (files == NULL || !gantry_file_identify (output, &there))
    return TRUE;
  g_mutex_lock (&files->lock);
  for (guint i = 0; i < files->files->len && allowed; i++)
    if (names (&g_array_index (files->files, File, i), &there))
      {
        refuse (output, g_array_index (files->files, File, i).path, error);
        allowed = FALSE;
      }
  g_mutex_unlock (&files->lock);
  return allowed;
}
