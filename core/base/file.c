/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary files alone are opened. */
#include "core/base/file-private.h"
#include "core/base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean
fail (const char *path, const char *what, int code, GError **error)
{
  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (code), "%s: %s: %s", path, what, g_strerror (code));
  return FALSE;
}

static gboolean
check_mode (const char *path, mode_t mode, GError **error)
{
  const char *kind = S_ISDIR (mode) ? "a folder" : S_ISFIFO (mode) ? "a queue" : S_ISSOCK (mode) ? "a socket" : "a device";

  if (S_ISREG (mode))
    return TRUE;
  g_set_error (error, G_FILE_ERROR, S_ISDIR (mode) ? G_FILE_ERROR_ISDIR : G_FILE_ERROR_INVAL, "%s: is %s and not a file; name a file", path, kind);
  return FALSE;
}

gboolean
gantry_file_check (const char *path, GError **error)
{
  GStatBuf info;

  if (g_stat (path, &info) != 0)
    return fail (path, "cannot be read", errno, error);
  return check_mode (path, info.st_mode, error);
}

/* Without O_NONBLOCK opening a queue would wait for its other end. */
static int
open_file (const char *path, GError **error)
{
  int file = g_open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0);
  struct stat info;

  if (file < 0)
    fail (path, "cannot be opened", errno, error);
  else if (fstat (file, &info) != 0)
    fail (path, "cannot be read", errno, error);
  else if (check_mode (path, info.st_mode, error))
    return file;
  if (file >= 0)
    close (file);
  return -1;
}

static GMappedFile *
map_and_close (int file, const char *path, GError **error)
{
  GMappedFile *mapped = file >= 0 ? g_mapped_file_new_from_fd (file, FALSE, error) : NULL;

  if (file >= 0)
    close (file);
  if (mapped != NULL)
    _gantry_file_guard_add (g_mapped_file_get_contents (mapped), g_mapped_file_get_length (mapped), path);
  return mapped;
}

GMappedFile *
gantry_file_map (const char *path, GError **error)
{
  return map_and_close (open_file (path, error), path, error);
}

GMappedFile *
gantry_file_map_text (const char *path, GError **error)
{
  g_autoptr (GMappedFile) file = gantry_file_map (path, error);

  if (file == NULL || g_mapped_file_get_length (file) <= GANTRY_FILE_MOST_TEXT)
    return g_steal_pointer (&file);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: a text may have at most 1 GiB", path);
  return NULL;
}

/* FALSE where the file ends before @size bytes. */
static gboolean
read_all (int file, char *data, gsize size)
{
  gsize at = 0;
  gssize n;

  while (at < size && (n = read (file, data + at, size - at)) != 0)
    if (n > 0)
      at += (gsize) n;
    else if (errno != EINTR)
      return FALSE;
  return at == size;
}

char *
gantry_file_read (const char *path, gsize most, gsize *size, GError **error)
{
  int file = open_file (path, error);
  g_autofree char *data = NULL;
  struct stat info;
  gboolean done = FALSE;

  if (file < 0)
    return NULL;
  if (fstat (file, &info) != 0)
    fail (path, "cannot be read", errno, error);
  else if ((guint64) info.st_size > most)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: has more than %" G_GSIZE_FORMAT " bytes", path, most);
  else
    {
      data = g_malloc ((gsize) info.st_size + 1);
      data[info.st_size] = '\0';
      errno = EIO; /* for an end that comes early */
      done = read_all (file, data, (gsize) info.st_size) || fail (path, "cannot be read", errno, error);
    }
  close (file);
  if (done && size != NULL)
    *size = (gsize) info.st_size;
  return done ? g_steal_pointer (&data) : NULL;
}

/* Links followed. (transfer full) (nullable) */
static char *
real_path (const char *path)
{
  char *found = realpath (path, NULL), *copy = g_strdup (found);

  free (found);
  return copy;
}

static gboolean
lies_below (const char *path, const char *folder)
{
  gsize n = folder != NULL ? strlen (folder) : 0;

  return n > 0 && strncmp (path, folder, n) == 0 && (path[n] == '/' || folder[n - 1] == '/');
}

/* Of the file that is open, so that no link is exchanged after the look. */
static gboolean
is_beside (int file, const char *owner)
{
  g_autofree char *self = g_strdup_printf ("/proc/self/fd/%d", file), *real = real_path (self);
  g_autofree char *folder = g_path_get_dirname (owner), *home = real_path (folder);
  g_autofree char *target = real_path (owner), *contents = target != NULL ? g_path_get_dirname (target) : NULL;

  return real != NULL && (lies_below (real, home) || lies_below (real, contents));
}

GMappedFile *
gantry_file_map_beside (const char *path, const char *owner, gboolean anywhere, GError **error)
{
  int file = open_file (path, error);

  if (file < 0 || anywhere || is_beside (file, owner))
    return map_and_close (file, path, error);
  close (file);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_OUTSIDE, "'%s' lies outside the model's folder; what a model reads there only you can allow", path);
  return NULL;
}

gboolean
gantry_file_identify (const char *path, GantryFileIdentity *identity)
{
  struct stat info;

  *identity = (GantryFileIdentity){ 0 };
  if (stat (path, &info) != 0)
    return FALSE;
  *identity = (GantryFileIdentity){ info.st_dev, info.st_ino, (guint64) info.st_size, (gint64) info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec };
  return TRUE;
}

gboolean
gantry_file_identity_equal (const GantryFileIdentity *a, const GantryFileIdentity *b)
{
  return a->device == b->device && a->inode == b->inode && a->size == b->size && a->modified_ns == b->modified_ns;
}
