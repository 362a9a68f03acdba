/* SPDX-License-Identifier: Apache-2.0 */
/* A file is written without a name or beside its place, brought to the disk, and renamed. */
#include "core/base/output.h"
#include <errno.h>
#include <fcntl.h>
#include <gio/gunixoutputstream.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES (64 * 1024)
#define MOST_NAMES 100 /* that are tried */

struct _GantryOutput
{
  char *given;  /* the name in messages */
  char *path;   /* links followed */
  char *beside; /* (nullable): the name that it has for now */
  int file;
  gboolean into; /* @path is no ordinary file */
  gboolean replaces;
  GantryReadFiles *read; /* (nullable) */
  GOutputStream *stream;
};

static gboolean
fail (const GantryOutput *output, int code, GError **error)
{
  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (code), "%s: cannot be written: %s", output->given, g_strerror (code));
  return FALSE;
}

static char *
name_beside (const GantryOutput *output)
{
  g_autofree char *folder = g_path_get_dirname (output->path);

  return g_strdup_printf ("%s/.gantry-%08x%08x", folder, g_random_int (), g_random_int ());
}

/* Without a name, so that the kernel removes it should this process be killed. */
static int
open_nameless (const GantryOutput *output, mode_t mode)
{
  g_autofree char *folder = g_path_get_dirname (output->path);

  return g_open (folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, (int) mode);
}

static gboolean
open_named (GantryOutput *output, mode_t mode)
{
  for (guint i = 0; i < MOST_NAMES && output->file < 0; i++)
    {
      g_free (output->beside);
      output->beside = name_beside (output);
      output->file = g_open (output->beside, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, (int) mode);
      if (output->file < 0 && errno != EEXIST)
        break;
    }
  if (output->file >= 0)
    return TRUE;
  g_clear_pointer (&output->beside, g_free);
  return FALSE;
}

/* Opening a queue waits for somebody who reads it, for ever where nobody does. Returns: -1 with errno */
static int
open_into (const GantryOutput *output, mode_t mode)
{
  int file = g_open (output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | (S_ISFIFO (mode) ? O_NONBLOCK : 0), 0);

  if (file >= 0 && S_ISFIFO (mode))
    fcntl (file, F_SETFL, 0);
  return file;
}

static gboolean
open_file (GantryOutput *output, GError **error)
{
  struct stat old;

  output->replaces = stat (output->path, &old) == 0;
  output->into = output->replaces && !S_ISREG (old.st_mode);
  if (output->into)
    output->file = open_into (output, old.st_mode);
  /* A folder that may be written to is no leave to replace a file that may not. */
  else if (!output->replaces || access (output->path, W_OK) == 0)
    {
      output->file = open_nameless (output, 0666);
      if (output->file < 0)
        open_named (output, 0666);
    }
  if (output->file < 0 && output->into && errno == ENXIO)
    {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NXIO, "%s: is a queue that nobody reads; name a file", output->given);
      return FALSE;
    }
  if (output->file < 0)
    return fail (output, errno, error);
  if (output->replaces && !output->into && fchmod (output->file, old.st_mode & 0777) != 0)
    return fail (output, errno, error);
  return TRUE;
}

GantryOutput *
gantry_output_new (const char *path, GantryReadFiles *read, GError **error)
{
  g_autoptr (GantryOutput) output = g_new0 (GantryOutput, 1);
  char *resolved = realpath (path, NULL);
  g_autoptr (GOutputStream) raw = NULL;

  output->file = -1;
  output->given = g_strdup (path);
  output->path = g_strdup (resolved != NULL ? resolved : path);
  free (resolved);
  output->read = read != NULL ? gantry_read_files_ref (read) : NULL;
  if (!gantry_read_files_allow (read, path, error) || !open_file (output, error))
    return NULL;
  raw = g_unix_output_stream_new (output->file, FALSE);
  output->stream = g_buffered_output_stream_new_sized (raw, BUFFER_BYTES);
  return g_steal_pointer (&output);
}

GOutputStream *
gantry_output_stream (GantryOutput *output)
{
  return output->stream;
}

/* A link cannot replace a file: it gets a name beside it first, and lives under that for one call. */
static gboolean
give_name (GantryOutput *output)
{
  g_autofree char *self = g_strdup_printf ("/proc/self/fd/%d", output->file);

  if (!output->replaces && linkat (AT_FDCWD, self, AT_FDCWD, output->path, AT_SYMLINK_FOLLOW) == 0)
    return TRUE;
  for (guint i = 0; i < MOST_NAMES; i++)
    {
      g_autofree char *name = name_beside (output);

      if (linkat (AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
        {
          output->beside = g_steal_pointer (&name);
          return TRUE;
        }
      if (errno != EEXIST)
        break;
    }
  return FALSE;
}

/* A queue and a terminal have no disk behind them. */
static gboolean
sync_file (const GantryOutput *output)
{
  return fsync (output->file) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

gboolean
gantry_output_finish (GantryOutput *output, gboolean written, GError **error)
{
  int file;

  g_return_val_if_fail (output->file >= 0, FALSE);
  if (!written || !g_output_stream_close (output->stream, NULL, error))
    {
      g_prefix_error (error, "%s: ", output->given);
      return FALSE;
    }
  if (!gantry_read_files_allow (output->read, output->given, error))
    return FALSE;
  if (!sync_file (output) || (!output->into && output->beside == NULL && !give_name (output)))
    return fail (output, errno, error);
  file = output->file;
  output->file = -1;
  if (close (file) != 0)
    return fail (output, errno, error);
  if (output->beside == NULL)
    return TRUE;
  if (rename (output->beside, output->path) != 0)
    return fail (output, errno, error);
  g_clear_pointer (&output->beside, g_free);
  return TRUE;
}

void
gantry_output_free (GantryOutput *output)
{
  g_autoptr (GCancellable) dropped = g_cancellable_new ();

  if (output == NULL)
    return;
  /* What the buffer still holds is not wanted. */
  g_cancellable_cancel (dropped);
  if (output->stream != NULL)
    g_output_stream_close (output->stream, dropped, NULL);
  g_clear_object (&output->stream);
  if (output->file >= 0)
    close (output->file);
  if (output->beside != NULL)
    g_unlink (output->beside);
  g_free (output->beside);
  g_free (output->path);
  g_free (output->given);
  gantry_read_files_unref (output->read);
  g_free (output);
}

gboolean
gantry_output_write (const char *path, GantryReadFiles *read, gconstpointer data, gsize size, GError **error)
{
  g_autoptr (GantryOutput) output = gantry_output_new (path, read, error);

  return output != NULL && gantry_output_finish (output, g_output_stream_write_all (output->stream, data, size, NULL, NULL, error), error);
}
