/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of core/document share: the state of the object and the loads that worker threads make. */
#pragma once
#include "core/document/document.h"

G_BEGIN_DECLS

/** What a worker makes of a file; installed on the document in one go. */
typedef struct
{
  char *path;         /* as opened */
  char *session_path; /* (nullable): the .gantry file, when it was one */
  GantryCompilation *compilation;
  GantryCompileSettings settings;
  GPtrArray *runs; /* GantryRunResult */
} GantryLoaded;

void _gantry_loaded_free (GantryLoaded *loaded);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryLoaded, _gantry_loaded_free)

/** Any thread. */
GantryLoaded *_gantry_load (const char *path, const GantryOpenOptions *options, const GantryProgress *progress,
                            GError **error);
/** The session half of it: reads @path, opens its model, compiles and reads the runs. */
GantryLoaded *_gantry_session_load (const char *path, const GantryOpenOptions *options, const GantryProgress *progress,
                                    GError **error);
gboolean _gantry_session_is_session (const char *path);
/** Makes @path hold exactly this, in one transaction; runs that it has already are not written again. Any thread. */
gboolean _gantry_session_save (const char *path, GantryCompilation *compilation, const GantryCompileSettings *settings,
                               GPtrArray *runs, GError **error);
/** The runs of a session file. (transfer full) (element-type GantryRunResult) */
GPtrArray *_gantry_session_load_runs (const char *path, GError **error);

/** Installs @loaded (transfer full) on the owning thread. */
void _gantry_document_install (GantryDocument *document, GantryLoaded *loaded);
void _gantry_document_set_activity (GantryDocument *document, const char *activity, double fraction);
void _gantry_document_set_busy (GantryDocument *document, gboolean busy);
/** A new cancellable for new work; the one before is cancelled. (transfer none) */
GCancellable *_gantry_document_renew (GantryDocument *document);
/** Whether the work with that cancellable is the newest one, cancelled or not: only it may say that the work is over. */
gboolean _gantry_document_is_newest (GantryDocument *document, GCancellable *cancellable);
/** Whether the settings were edited after the compilation was made. */
gboolean _gantry_document_is_stale (GantryDocument *document);
/** Counts what a save has to write: equal counts, equal state. */
guint64 _gantry_document_n_changes (GantryDocument *document);
const char *_gantry_document_session_path (GantryDocument *document); /* (nullable) */
/** What the document was at @n_changes now is in @path. Does nothing when another model than @model was opened since. */
void _gantry_document_saved (GantryDocument *document, const char *path, const GantryModel *model, guint64 n_changes);
void _gantry_document_set_child_id (GantryDocument *document, const char *id);

/**
 * GantryActivity: progress told from a worker thread, handed to the document in one idle call however often the
 * worker reports.
 */
typedef struct _GantryActivity GantryActivity;
GantryActivity *_gantry_activity_new (GantryDocument *document, GCancellable *cancellable);
const GantryProgress *_gantry_activity_progress (GantryActivity *activity);
void _gantry_activity_free (GantryActivity *activity);

G_END_DECLS
