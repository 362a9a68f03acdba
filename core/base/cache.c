/* SPDX-License-Identifier: Apache-2.0 */
/* The time of change of a file is that of its last use: reading a file does not change it, so who reads says so. */
#include "core/base/cache.h"
#include "core/base/file.h"
#include "core/base/scratch.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STAMP ".trimmed" /* its time is that of the last look at all entries */
#define SECONDS_BETWEEN_LOOKS 3600
#define SPARE_SECONDS (24 * 3600)
#define MOST_DEPTH 16

typedef struct
{
  char *path;
  guint64 bytes; /* on the disk */
  gint64 used;
} Entry;

static void
entry_clear (gpointer data)
{
  g_free (((Entry *) data)->path);
}

void
gantry_cache_use (const char *path)
{
  utimensat (AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

char *
gantry_cache_read (const char *path, gsize *size)
{
  char *data = gantry_file_read (path, GANTRY_CACHE_MOST_ENTRY, size, NULL);

  if (data != NULL)
    gantry_cache_use (path);
  return data;
}

struct _GantryCacheHold
{
  char *path;
  int file; /* locked as long as it is open */
};

static char *
user_folder (void)
{
  return g_build_filename (g_get_user_cache_dir (), "gantry", NULL);
}

/* FOLDER/KIND/ENTRY of FOLDER/KIND/ENTRY/.... (transfer full) (nullable) */
static char *
entry_of (const char *path)
{
  g_autofree char *folder = user_folder (), *full = g_canonicalize_filename (path, NULL);
  gsize length = strlen (folder);
  const char *kind = g_str_has_prefix (full, folder) && full[length] == '/' ? full + length + 1 : NULL;
  const char *entry = kind != NULL ? strchr (kind, '/') : NULL;

  return entry != NULL ? g_strndup (full, (gsize) (entry - full) + 1 + strcspn (entry + 1, "/")) : NULL;
}

GantryCacheHold *
gantry_cache_hold (const char *path)
{
  g_autofree char *entry = entry_of (path);
  GantryCacheHold *hold;
  int file = entry != NULL ? g_open (entry, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0) : -1;

  if (file < 0)
    return NULL;
  gantry_cache_use (entry);
  if (flock (file, LOCK_SH | LOCK_NB) != 0)
    {
      close (file);
      return NULL;
    }
  hold = g_new0 (GantryCacheHold, 1);
  hold->path = g_steal_pointer (&entry);
  hold->file = file;
  return hold;
}

void
gantry_cache_hold_free (GantryCacheHold *hold)
{
  if (hold == NULL)
    return;
  gantry_cache_use (hold->path); /* until now */
  close (hold->file);
  g_free (hold->path);
  g_free (hold);
}

/* FALSE where somebody holds it. */
static gboolean
remove_entry (const char *path)
{
  int file = g_open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
  gboolean held = file >= 0 && flock (file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;

  if (!held)
    gantry_scratch_remove (path);
  if (file >= 0)
    close (file);
  return !held;
}

/* Adds what is at @path, and below it, to @entry. */
static void
measure (Entry *entry, const char *path, guint depth)
{
  g_autoptr (GDir) dir = NULL;
  const char *name;
  struct stat info;

  if (lstat (path, &info) != 0)
    return;
  entry->bytes += (guint64) info.st_blocks * 512;
  entry->used = MAX (entry->used, (gint64) info.st_mtime);
  if (!S_ISDIR (info.st_mode) || depth == 0 || (dir = g_dir_open (path, 0, NULL)) == NULL)
    return;
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *inner = g_build_filename (path, name, NULL);

      measure (entry, inner, depth - 1);
    }
}

static void
add_entries (GArray *entries, const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      Entry entry = { .path = g_build_filename (folder, name, NULL) };

      measure (&entry, entry.path, MOST_DEPTH);
      g_array_append_val (entries, entry);
    }
}

static int
compare_uses (gconstpointer a, gconstpointer b)
{
  const Entry *x = a, *y = b;

  return (x->used > y->used) - (x->used < y->used);
}

guint
gantry_cache_trim (const char *folder, guint64 most_bytes, gint64 spare_seconds)
{
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  gint64 spared = (gint64) time (NULL) - spare_seconds;
  const char *name;
  guint64 bytes = 0;
  guint n = 0;

  g_array_set_clear_func (entries, entry_clear);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *kind = g_build_filename (folder, name, NULL);

      if (!g_file_test (kind, G_FILE_TEST_IS_SYMLINK) && g_file_test (kind, G_FILE_TEST_IS_DIR))
        add_entries (entries, kind);
    }
  g_array_sort (entries, compare_uses);
  for (guint i = 0; i < entries->len; i++)
    bytes += g_array_index (entries, Entry, i).bytes;
  for (guint i = 0; i < entries->len && bytes > most_bytes; i++)
    {
      const Entry *entry = &g_array_index (entries, Entry, i);
      Entry left = { 0 };

      if (entry->used >= spared)
        break;
      if (!remove_entry (entry->path))
        continue;
      /* What may not be removed still takes its room. */
      measure (&left, entry->path, MOST_DEPTH);
      bytes -= entry->bytes - MIN (entry->bytes, left.bytes);
      n += !g_file_test (entry->path, G_FILE_TEST_EXISTS) && !g_file_test (entry->path, G_FILE_TEST_IS_SYMLINK);
    }
  return n;
}

void
gantry_cache_trim_sometimes (void)
{
  g_autofree char *folder = user_folder (), *stamp = g_build_filename (folder, STAMP, NULL);
  struct stat info;
  gint64 now = (gint64) time (NULL);
  int file;

  if (stat (stamp, &info) == 0 && info.st_mtime <= now && info.st_mtime > now - SECONDS_BETWEEN_LOOKS)
    return;
  if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    return;
  file = g_open (stamp, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0)
    return;
  futimens (file, NULL);
  close (file);
  gantry_cache_trim (folder, GANTRY_CACHE_BYTES, SPARE_SECONDS);
}
