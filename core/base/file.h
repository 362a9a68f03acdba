/* SPDX-License-Identifier: Apache-2.0 */
/* Opening files that somebody names. What is no ordinary file is refused before it is read: reading from a queue waits for a
 * writer that may never come, a device may have no end. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * gantry_file_check:
 * @path: links are followed
 *
 * Returns: TRUE where @path is an ordinary file; FALSE with %G_FILE_ERROR where it cannot be looked at, and where it is a folder
 *  (%G_FILE_ERROR_ISDIR), a queue, a socket or a device (%G_FILE_ERROR_INVAL)
 */
gboolean gantry_file_check (const char *path, GError **error);

/**
 * gantry_file_map:
 * @path: links are followed
 *
 * Maps an ordinary file for reading. What is opened is what was checked: the file cannot be exchanged in between.
 *
 * Returns: (transfer full) (nullable): as gantry_file_check() where it fails
 */
GMappedFile *gantry_file_map (const char *path, GError **error);

/** The largest text that is read: a model's, or a program's. */
#define GANTRY_FILE_MOST_TEXT ((gsize) 1 << 30)

/**
 * gantry_file_map_text:
 *
 * As gantry_file_map(), of a file that holds text.
 *
 * Returns: (transfer full) (nullable): %GANTRY_ERROR_TOO_LARGE where it has more than %GANTRY_FILE_MOST_TEXT bytes
 */
GMappedFile *gantry_file_map_text (const char *path, GError **error);

/**
 * gantry_file_read:
 * @most: bytes
 * @size: (out) (optional): without the NUL that is added
 *
 * Reads an ordinary file into memory.
 *
 * Returns: (transfer full) (nullable): free with g_free(); %NULL as gantry_file_check() where it fails, with %GANTRY_ERROR_TOO_LARGE where
 *  the file has more than @most bytes
 */
char *gantry_file_read (const char *path, gsize most, gsize *size, GError **error);

/**
 * gantry_file_map_beside:
 * @path: that a file of a stranger names
 * @owner: that file
 * @anywhere: the user allows all files
 *
 * As gantry_file_map(), but without @anywhere the file has to lie, links followed, in the folder of @owner or below it. Where @owner is
 * a link itself the folder of what it points to will do as well: caches of model hubs have a folder of links to a folder of contents.
 *
 * Returns: (transfer full) (nullable): %GANTRY_ERROR_OUTSIDE where the user would have to allow it
 */
GMappedFile *gantry_file_map_beside (const char *path, const char *owner, gboolean anywhere, GError **error);

/**
 * gantry_file_guard_start:
 *
 * From now on reading a page of a file that gantry_file_map() has mapped and that is no longer in the file, because somebody has made
 * the file shorter, gives zeros instead of SIGBUS, in every thread. Only for a program that asks gantry_file_identify() before it
 * trusts what it reads: to any other the end of the process is the better answer. Other SIGBUS go to the handler before.
 */
void gantry_file_guard_start (void);

/**
 * gantry_file_guard_end:
 * @program: its name, in the message
 *
 * As gantry_file_guard_start(), but such a read ends the process, with exit status 1 and the name of the file on standard error: what was
 * begun with one half of a file has no result that could be told from a right one. The first of the two functions that is called counts.
 */
void gantry_file_guard_end (const char *program);

/** GantryFileIdentity: tells whether a path still names the bytes that it named before. */
typedef struct
{
  guint64 device, inode, size;
  gint64 modified_ns;
} GantryFileIdentity;

/** @path: links are followed. FALSE, and @identity zero, where there is no such file. */
gboolean gantry_file_identify (const char *path, GantryFileIdentity *identity);
/** Returns: TRUE where device, inode, size in bytes and time of the last change are the same: the contents were not read for it */
gboolean gantry_file_identity_equal (const GantryFileIdentity *a, const GantryFileIdentity *b);

G_END_DECLS
