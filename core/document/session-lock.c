/* SPDX-License-Identifier: Apache-2.0 */
/* Who has a session file locked. SQLite locks bytes behind the first GiB (SQLite's file format, "The Lock-Byte Page"), and the
 * system lists all locks in /proc/locks (proc_locks(5)): a lock is asked for there because opening the file once more, and closing it,
 * would give up those that this process has. */
#include "core/document/session-private.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_LOCK_BYTE G_GUINT64_CONSTANT (0x40000000)
#define N_LOCK_BYTES 512

/* The process of a line "1: POSIX  ADVISORY  WRITE 123 08:01:456 1073741824 1073742335"; 0: the line is of something else. */
static int
holder_in (const char *line, guint64 inode)
{
  char kind[16], access[16];
  guint64 number, begin;
  int process;

  if (sscanf (line, "%*s %15s %*s %15s %d %*x:%*x:%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, kind, access, &process, &number, &begin) != 5
      || (strcmp (kind, "POSIX") != 0 && strcmp (kind, "OFDLCK") != 0) || number != inode || begin < FIRST_LOCK_BYTE || begin >= FIRST_LOCK_BYTE + N_LOCK_BYTES
      || strcmp (access, "WRITE") != 0)
    return 0;
  return process;
}

char *
_gantry_session_lock_holder (const char *path)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  struct stat info;

  if (path == NULL || stat (path, &info) != 0 || !g_file_get_contents ("/proc/locks", &text, NULL, NULL))
    return NULL;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      int process = holder_in (lines[i], info.st_ino);
      g_autofree char *file = process > 0 && process != getpid () ? g_strdup_printf ("/proc/%d/comm", process) : NULL;
      g_autofree char *name = NULL;

      if (file == NULL)
        continue;
      if (!g_file_get_contents (file, &name, NULL, NULL))
        return g_strdup_printf ("process %d", process);
      return g_strdup_printf ("'%s' (process %d)", g_strchomp (name), process);
    }
  return NULL;
}
