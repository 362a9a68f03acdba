/* SPDX-License-Identifier: Apache-2.0 */
/* Writing files: what was there stays until all of the new file is on the disk, and an output that could not be written
 * whole is an error. */
#pragma once
#include "core/base/read-files.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _GantryOutput GantryOutput;

/**
 * gantry_output_new:
 * @path: links are followed
 * @read: (nullable): the files that what is written was made of: @path may be none of them. NULL where it can be none, in a folder of
 *  the program's own
 *
 * Begins a file. It is written without a name where the file system can do that (Linux' O_TMPFILE, open(2)), else beside
 * @path, and takes its place in gantry_output_finish(): whatever happens before leaves what was at @path, and a process that is
 * killed leaves nothing beside it. It has the mode of the file that it replaces. What is no ordinary file, a device or a queue,
 * cannot be replaced: it is written into. A queue that nobody reads is an error, not a wait.
 *
 * Returns: (transfer full) (nullable): NULL with %G_FILE_ERROR where nothing can be written there, as gantry_read_files_allow() where it
 *  would replace what is read
 */
GantryOutput *gantry_output_new (const char *path, GantryReadFiles *read, GError **error);

/** Where the contents go; it is buffered. Returns: (transfer none) */
GOutputStream *gantry_output_stream (GantryOutput *output);

/**
 * gantry_output_finish:
 * @written: FALSE where a write has failed and set @error
 * @error: gets the file's name
 *
 * Brings all that was written to the disk and puts the file in its place. To be called once.
 *
 * Returns: FALSE where something did not arrive, or the file was read meanwhile; it is then as it was
 */
gboolean gantry_output_finish (GantryOutput *output, gboolean written, GError **error);

/** Without gantry_output_finish() before it what was written is dropped. */
void gantry_output_free (GantryOutput *output);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryOutput, gantry_output_free)

/** Writes @size bytes as the file @path, as above. */
gboolean gantry_output_write (const char *path, GantryReadFiles *read, gconstpointer data, gsize size, GError **error);

G_END_DECLS
