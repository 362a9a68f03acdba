/* SPDX-License-Identifier: Apache-2.0 */
/* A lock on a folder goes with the process that holds it, however that ends. */
#include "core/base/scratch.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OWNED "gantry-scratch-"
/* Between making a folder and locking it it has this name: nobody takes it for one that was left. */
#define UNLOCKED "gantry-unlocked-"
#define SECONDS_TO_LOCK 60
#define MOST_TRIES 10

struct _GantryScratch
{
  char *folder;
  int lock;
};

static void
fail (const char *path, int code, GError **error)
{
  g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (code), "%s: no folder for temporary files: %s", path, g_strerror (code));
}

static int
lock_folder (const char *path, int how)
{
  int folder = g_open (path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0), code, done;

  if (folder < 0)
    return -1;
  do
    done = flock (folder, how);
  while (done != 0 && errno == EINTR);
  if (done == 0)
    return folder;
  code = errno;
  close (folder);
  errno = code;
  return -1;
}

/* A sweep holds the lock while it looks whether the folder is new: that is waited for. Returns: FALSE with errno */
static gboolean
make_folder (GantryScratch *scratch)
{
  g_autofree char *unlocked = g_build_filename (g_get_tmp_dir (), UNLOCKED "XXXXXX", NULL);
  int code;

  if (g_mkdtemp (unlocked) == NULL)
    return FALSE;
  scratch->lock = lock_folder (unlocked, LOCK_EX);
  scratch->folder = g_strdup_printf ("%s/" OWNED "%s", g_get_tmp_dir (), unlocked + strlen (unlocked) - 6);
  if (scratch->lock >= 0 && g_rename (unlocked, scratch->folder) == 0)
    return TRUE;
  code = errno;
  g_rmdir (unlocked);
  if (scratch->lock >= 0)
    close (scratch->lock);
  scratch->lock = -1;
  g_clear_pointer (&scratch->folder, g_free);
  errno = code;
  return FALSE;
}

GantryScratch *
gantry_scratch_new (GError **error)
{
  g_autoptr (GantryScratch) scratch = g_new0 (GantryScratch, 1);

  scratch->lock = -1;
  /* A process that stood still for longer than SECONDS_TO_LOCK finds that its folder is gone. */
  for (guint i = 0; i < MOST_TRIES; i++)
    if (make_folder (scratch))
      return g_steal_pointer (&scratch);
    else if (errno != ENOENT)
      break;
  fail (g_get_tmp_dir (), errno, error);
  return NULL;
}

const char *
gantry_scratch_folder (const GantryScratch *scratch)
{
  return scratch->folder;
}

char *
gantry_scratch_file (const GantryScratch *scratch, const char *name)
{
  return g_build_filename (scratch->folder, name, NULL);
}

static int
remove_one (const char *path, const struct stat *info, int kind, struct FTW *where)
{
  remove (path); /* what cannot be removed is for the next start */
  return 0;
}

void
gantry_scratch_remove (const char *path)
{
  nftw (path, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

void
gantry_scratch_free (GantryScratch *scratch)
{
  if (scratch == NULL)
    return;
  if (scratch->folder != NULL)
    gantry_scratch_remove (scratch->folder);
  if (scratch->lock >= 0)
    close (scratch->lock);
  g_free (scratch->folder);
  g_free (scratch);
}

static gboolean
is_left (const char *name, const struct stat *info)
{
  return g_str_has_prefix (name, OWNED) || info->st_mtime < time (NULL) - SECONDS_TO_LOCK;
}

/* In a folder that all write to a name says nothing: it has to be a folder of this user. */
static gboolean
sweep_one (const char *path, const char *name)
{
  int folder = lock_folder (path, LOCK_EX | LOCK_NB);
  struct stat info;
  gboolean left;

  if (folder < 0)
    return FALSE;
  left = fstat (folder, &info) == 0 && info.st_uid == geteuid () && is_left (name, &info);
  if (left)
    gantry_scratch_remove (path);
  close (folder);
  return left;
}

guint
gantry_scratch_sweep (void)
{
  g_autoptr (GDir) directory = g_dir_open (g_get_tmp_dir (), 0, NULL);
  const char *name;
  guint n = 0;

  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    if (g_str_has_prefix (name, OWNED) || g_str_has_prefix (name, UNLOCKED))
      {
        g_autofree char *path = g_build_filename (g_get_tmp_dir (), name, NULL);

        n += sweep_one (path, name);
      }
  return n;
}
