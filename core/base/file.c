/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary files alone are opened. */
#include "core/base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>

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
  g_set_error (error, G_FILE_ERROR, S_ISDIR (mode) ? G_FILE_ERROR_ISDIR : G_FILE_ERROR_INVAL,
               "%s: is %s and not a file; name a file", path, kind);
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

GMappedFile *
gantry_file_map (const char *path, GError **error)
{
  /* Without O_NONBLOCK opening a queue would wait for its other end. */
  int descriptor = g_open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0);
  GMappedFile *mapped = NULL;
  struct stat info;

  if (descriptor < 0)
    {
      fail (path, "cannot be opened", errno, error);
      return NULL;
    }
  if (fstat (descriptor, &info) != 0)
    fail (path, "cannot be read", errno, error);
  else if (check_mode (path, info.st_mode, error))
    mapped = g_mapped_file_new_from_fd (descriptor, FALSE, error);
  g_close (descriptor, NULL);
  return mapped;
}
