/* SPDX-License-Identifier: Apache-2.0 */
/* Folders for files that nobody keeps. What a process that was killed left behind is removed when the next one starts. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct _GantryScratch GantryScratch;

/**
 * gantry_scratch_new:
 *
 * Makes a folder that is this user's alone (0700) in the folder for temporary files. It is locked (flock(2)) as long as the
 * process lives, which is how gantry_scratch_sweep() knows whose owner is gone.
 *
 * Returns: (transfer full) (nullable): NULL with %G_FILE_ERROR
 */
GantryScratch *gantry_scratch_new (GError **error);

/** Its path. Returns: (transfer none) */
const char *gantry_scratch_folder (const GantryScratch *scratch);

/** The path of a file in it. Returns: (transfer full) */
char *gantry_scratch_file (const GantryScratch *scratch, const char *name);

/** Removes the folder with all that is in it. */
void gantry_scratch_free (GantryScratch *scratch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryScratch, gantry_scratch_free)

/** Removes the file or folder at @path with all that is in it; links are removed, not followed. */
void gantry_scratch_remove (const char *path);

/** Removes the folders of this user whose processes have ended. Each program calls it once at its start. Returns: how many */
guint gantry_scratch_sweep (void);

G_END_DECLS
