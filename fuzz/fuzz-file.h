/* SPDX-License-Identifier: Apache-2.0 */
/* Files for fuzz targets of readers that take a path: in a folder of the process's own, removed when it ends. */
#pragma once
#include <glib/gstdio.h>

/** Returns: (transfer full): a path for @name in the folder; the folder is made at the first call */
char *fuzz_file_path (const char *name);
/** Puts @size bytes into the file @name. Returns: (transfer full): its path */
char *fuzz_file_write (const char *name, gconstpointer data, gsize size);
