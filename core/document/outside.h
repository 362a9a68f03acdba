/* SPDX-License-Identifier: Apache-2.0 */
/* Runs without their program: of a session whose model is not at hand, and traces of other programs. */
#pragma once
#include "core/document/document.h"

G_BEGIN_DECLS

/**
 * gantry_runs_read:
 * @path: a session, whose model need not be there, or the trace of another program (profiler/import.h)
 * @notice: (out) (optional): says which runs are left out, because they are larger than any that is read, or damaged
 *
 * Returns: (transfer full) (nullable) (element-type GantryRunResult): the other runs in it
 */
GPtrArray *gantry_runs_read (const char *path, const GantryProgress *progress, GError **notice, GError **error);

/** GantryRunEntry: what tells a run of a session file apart. Nothing is empty but by the file's fault, and the
 *  device of a recording that names none. */
typedef struct
{
  char *uid, *name, *device;
  char *when; /* ISO 8601, UTC */
  double milliseconds;
} GantryRunEntry;

/** The runs of the session @path, the oldest first, those too that cannot be read. (transfer full) (nullable)
 *  (element-type GantryRunEntry) */
GPtrArray *gantry_runs_list (const char *path, GError **error);
/**
 * gantry_runs_delete:
 * @uids: (array zero-terminated=1)
 *
 * Deletes runs of the session @path, all of them or, with @error, none, and makes the file smaller where there is space beside it for
 * that. They stay deleted: who has such a run open does not write it again.
 */
gboolean gantry_runs_delete (const char *path, const char *const *uids, GError **error);

/** Is the file, by its content, the trace of another program (profiler/import.h) or what CUPTI recorded (a .cupti file)? */
gboolean gantry_outside_is_trace (const char *path);
/** Reads either. Returns: (transfer full) (nullable): NULL with an error that names the file */
GantryRecording *gantry_outside_read_trace (const char *path, const GantryProgress *progress, GError **error);

G_END_DECLS
