/* SPDX-License-Identifier: Apache-2.0 */
/* What must not be replaced by what is made of it: the files that were read. Whoever opens a file for the user adds it, and whatever
 * writes one asks (core/base/output.h). */
#pragma once
#include "core/base/file.h"

G_BEGIN_DECLS

/** GantryReadFiles: reference counted; any thread may add to it and ask it. */
typedef struct _GantryReadFiles GantryReadFiles;

/** Returns: (transfer full): an empty set, which allows every output */
GantryReadFiles *gantry_read_files_new (void);
GantryReadFiles *gantry_read_files_ref (GantryReadFiles *files);
void gantry_read_files_unref (GantryReadFiles *files);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryReadFiles, gantry_read_files_unref)

/** Adds a file: what lies at @path now, links followed, and what will lie there when somebody asks. There may be nothing. */
void gantry_read_files_add (GantryReadFiles *files, const char *path);
/** Adds those of @others (nullable). */
void gantry_read_files_add_all (GantryReadFiles *files, GantryReadFiles *others);

/**
 * gantry_read_files_allow:
 * @files: (nullable): none
 * @output: that is to be written, links followed
 *
 * Returns: FALSE with %GANTRY_ERROR_INVALID where @output is one of @files, under its own or another name (a link, or the same inode)
 */
gboolean gantry_read_files_allow (GantryReadFiles *files, const char *output, GError **error);

G_END_DECLS
