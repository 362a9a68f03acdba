/* SPDX-License-Identifier: Apache-2.0 */
/* Passes everything on to SQLite's own layer, and counts what changes a file. */
#include "tests/core/document/faulty-vfs.h"
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  sqlite3_file base;
  sqlite3_file *real; /* lies behind this structure */
} File;

static struct
{
  sqlite3_vfs vfs;
  sqlite3_vfs *real;
  Fault fault;
  guint fatal, calls;
} layer;

static int
file_close (sqlite3_file *file)
{
  File *self = (File *) file;

  return self->real->pMethods != NULL ? self->real->pMethods->xClose (self->real) : SQLITE_OK;
}

static int
file_read (sqlite3_file *file, void *data, int n, sqlite3_int64 at)
{
  File *self = (File *) file;

  return self->real->pMethods->xRead (self->real, data, n, at);
}

/* Whether this call fails. */
static gboolean
fails (void)
{
  layer.calls++;
  return layer.fault != FAULT_NONE && layer.calls >= layer.fatal;
}

static int
fail (void)
{
  if (layer.fault == FAULT_KILL)
    _exit (99);
  return layer.fault == FAULT_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

/* A full disk still writes what has a place. */
static gboolean
is_within (File *self, sqlite3_int64 end)
{
  sqlite3_int64 size = 0;

  return self->real->pMethods->xFileSize (self->real, &size) == SQLITE_OK && end <= size;
}

/* ... and syncs, shortens and deletes. */
static gboolean
fails_on_full (void)
{
  return fails () && layer.fault != FAULT_FULL;
}

static int
file_write (sqlite3_file *file, const void *data, int n, sqlite3_int64 at)
{
  File *self = (File *) file;

  if (!fails () || (layer.fault == FAULT_FULL && is_within (self, at + n)))
    return self->real->pMethods->xWrite (self->real, data, n, at);
  if (layer.fault == FAULT_KILL || layer.fault == FAULT_SHORT_WRITE)
    self->real->pMethods->xWrite (self->real, data, n / 2, at);
  return fail ();
}

static int
file_truncate (sqlite3_file *file, sqlite3_int64 size)
{
  File *self = (File *) file;

  return fails_on_full () ? fail () : self->real->pMethods->xTruncate (self->real, size);
}

static int
file_sync (sqlite3_file *file, int flags)
{
  File *self = (File *) file;

  return fails_on_full () ? fail () : self->real->pMethods->xSync (self->real, flags);
}

static int
file_size (sqlite3_file *file, sqlite3_int64 *size)
{
  File *self = (File *) file;

  return self->real->pMethods->xFileSize (self->real, size);
}

static int
file_lock (sqlite3_file *file, int level)
{
  File *self = (File *) file;

  return self->real->pMethods->xLock (self->real, level);
}

static int
file_unlock (sqlite3_file *file, int level)
{
  File *self = (File *) file;

  return self->real->pMethods->xUnlock (self->real, level);
}

static int
file_check_lock (sqlite3_file *file, int *reserved)
{
  File *self = (File *) file;

  return self->real->pMethods->xCheckReservedLock (self->real, reserved);
}

static int
file_control (sqlite3_file *file, int op, void *data)
{
  File *self = (File *) file;

  return self->real->pMethods->xFileControl (self->real, op, data);
}

static int
file_sector (sqlite3_file *file)
{
  File *self = (File *) file;

  return self->real->pMethods->xSectorSize (self->real);
}

static int
file_characteristics (sqlite3_file *file)
{
  File *self = (File *) file;

  return self->real->pMethods->xDeviceCharacteristics (self->real);
}

static const sqlite3_io_methods methods = {
  .iVersion = 1,
  .xClose = file_close,
  .xRead = file_read,
  .xWrite = file_write,
  .xTruncate = file_truncate,
  .xSync = file_sync,
  .xFileSize = file_size,
  .xLock = file_lock,
  .xUnlock = file_unlock,
  .xCheckReservedLock = file_check_lock,
  .xFileControl = file_control,
  .xSectorSize = file_sector,
  .xDeviceCharacteristics = file_characteristics,
};

static int
vfs_open (sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
  File *self = (File *) file;
  int code;

  self->real = (sqlite3_file *) (gpointer) (self + 1);
  memset (self->real, 0, (gsize) layer.real->szOsFile);
  code = layer.real->xOpen (layer.real, name, self->real, flags, out);
  self->base.pMethods = code == SQLITE_OK ? &methods : NULL;
  return code;
}

static int
vfs_delete (sqlite3_vfs *vfs, const char *name, int sync)
{
  return fails_on_full () ? fail () : layer.real->xDelete (layer.real, name, sync);
}

void
faulty_vfs_install (void)
{
  layer.real = sqlite3_vfs_find (NULL);
  layer.vfs = *layer.real;
  layer.vfs.zName = "faulty";
  layer.vfs.pNext = NULL;
  layer.vfs.szOsFile = (int) sizeof (File) + layer.real->szOsFile;
  layer.vfs.xOpen = vfs_open;
  layer.vfs.xDelete = vfs_delete;
  g_assert_cmpint (sqlite3_vfs_register (&layer.vfs, TRUE), ==, SQLITE_OK);
}

void
faulty_vfs_arm (Fault fault, guint call)
{
  layer.fault = fault;
  layer.fatal = call;
  layer.calls = 0;
}

guint
faulty_vfs_calls (void)
{
  return layer.calls;
}
