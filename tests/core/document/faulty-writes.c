/* SPDX-License-Identifier: Apache-2.0 */
/* What is no ordinary file (pipes, terminals) is left alone. */
#include "tests/core/document/faulty-writes.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct
{
  WriteFault fault;
  guint fatal, calls;
  gboolean armed;
} writes;

void
faulty_writes_arm (WriteFault fault, guint call)
{
  writes.fault = fault;
  writes.fatal = call;
  writes.calls = 0;
  writes.armed = TRUE;
}

guint
faulty_writes_calls (void)
{
  writes.armed = FALSE;
  return writes.calls;
}

static gboolean
counts (int file)
{
  struct stat info;

  return writes.armed && (file < 0 || (fstat (file, &info) == 0 && S_ISREG (info.st_mode)));
}

/* Whether this call fails, with errno set. A kill does not return. */
static gboolean
fails (void)
{
  writes.calls++;
  if (writes.fault == WRITE_GOOD || writes.calls < writes.fatal)
    return FALSE;
  if (writes.fault == WRITE_KILL)
    _exit (99);
  errno = writes.fault == WRITE_IO ? EIO : ENOSPC;
  return writes.fault != WRITE_SHORT || writes.calls > writes.fatal;
}

ssize_t
write (int file, const void *data, size_t n)
{
  gboolean now = counts (file) && writes.calls + 1 == writes.fatal;

  if (now && (writes.fault == WRITE_KILL || writes.fault == WRITE_SHORT))
    n = (size_t) MAX (syscall (SYS_write, file, data, (n + 1) / 2), 0);
  if (counts (file) && fails ())
    return -1;
  return now && writes.fault == WRITE_SHORT ? (ssize_t) n : syscall (SYS_write, file, data, n);
}

int
fsync (int file)
{
  return counts (file) && fails () ? -1 : (int) syscall (SYS_fsync, file);
}

int
linkat (int from_folder, const char *from, int to_folder, const char *to, int flags)
{
  return counts (-1) && fails () ? -1 : (int) syscall (SYS_linkat, from_folder, from, to_folder, to, flags);
}

int
rename (const char *from, const char *to)
{
  return counts (-1) && fails () ? -1 : (int) syscall (SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}
