/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery files: what is unsaved in a document, kept while it is open, so that the end of its process costs no work. Each is a
 * session file with the edits beside it, in a folder of the user's own; a lock beside it is held while its document is open. */
#pragma once
#include "core/document/document.h"

G_BEGIN_DECLS

/**
 * GantryRecovery: one recovery file and the lock of it. Reference counted; the lock goes with the last reference, and the file stays
 * unless gantry_recovery_remove() was called. Main thread, but for references.
 */
typedef struct _GantryRecovery GantryRecovery;

/** The folder of the user's recovery files, made with mode 0700 where it is missing. (transfer full) (nullable) */
char *gantry_recovery_folder (GError **error);
/** A new one, with its lock. Nothing is written before the first save. Returns: (transfer full) (nullable) */
GantryRecovery *gantry_recovery_new (GError **error);
/** Those whose process has ended, oldest first, each with its lock: no other process is offered them while they are held.
 *  (transfer full) (element-type GantryRecovery) */
GPtrArray *gantry_recovery_list (void);
GantryRecovery *gantry_recovery_ref (GantryRecovery *recovery);
void gantry_recovery_unref (GantryRecovery *recovery);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryRecovery, gantry_recovery_unref)
/** Returns: (transfer none): of the session file that it keeps, which may not be there yet */
const char *gantry_recovery_get_path (GantryRecovery *recovery);
/** Deletes what is kept, after a save under way; the lock stays held and another save begins anew. */
void gantry_recovery_remove (GantryRecovery *recovery);
/** The same without waiting: the worker of a save under way deletes it. Not for a process that ends. */
void gantry_recovery_remove_later (GantryRecovery *recovery);

/** Whether @document or @view (nullable) differs from what was last kept. */
gboolean gantry_recovery_is_behind (GantryRecovery *recovery, GantryDocument *document, const char *view);
/**
 * gantry_recovery_save_async:
 * @view: (nullable): what the program wants to find again, in a text of its own
 *
 * Keeps what is unsaved: settings, placements, variants, notes, the edits with what is undone, and those runs that the session file
 * lacks. What was kept before is not written again. The caller's thread only copies what has changed.
 */
void gantry_recovery_save_async (GantryRecovery *recovery, GantryDocument *document, const char *view, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: FALSE with @error where it could not be written; what was kept before is then still there */
gboolean gantry_recovery_save_finish (GAsyncResult *result, GError **error);
/** The same at once, after a save under way: before the process ends. */
gboolean gantry_recovery_save (GantryRecovery *recovery, GantryDocument *document, const char *view, GError **error);

/**
 * gantry_recovery_save_elsewhere:
 * @view: (nullable): as for gantry_recovery_save()
 *
 * For a process that ends and whose recovery file cannot be written: keeps the same in a session file with a name of its own,
 * NAME-unsaved-XXXXXXXX.gantry, in the folder of the session or the model, else in that of temporary files. Nobody offers it at the next
 * start; it is opened as any session is.
 *
 * Returns: (transfer full) (nullable): the path to tell; NULL where neither folder took it
 */
char *gantry_recovery_save_elsewhere (GantryDocument *document, const char *view, GError **error);
/** What would be lost of a document that is unsaved: "2 runs and edits" (transfer full) */
char *gantry_recovery_describe (GantryDocument *document);

/**
 * gantry_document_recover_async:
 * @options: (nullable): which programs may run
 *
 * Opens what @recovery holds as it was: under the path that it was opened from, unsaved, with its edits.
 */
void gantry_document_recover_async (GantryDocument *document, GantryRecovery *recovery, const GantryOpenOptions *options, GAsyncReadyCallback callback,
                                    gpointer user_data);
/** @view: (out) (transfer full) (nullable) */
gboolean gantry_document_recover_finish (GantryDocument *document, GAsyncResult *result, char **view, GError **error);

G_END_DECLS
