/* SPDX-License-Identifier: Apache-2.0 */
/* The window: one document and the views on it. */
#pragma once
#include "core/document/document.h"
#include "core/document/recovery.h"
#include "views/compare/compare-panel.h"
#include "views/inspector/inspector.h"
#include "views/kernels/kernels-panel.h"
#include "views/passes/pass-list.h"
#include "views/passes/pass-view.h"
#include "views/selection.h"
#include "views/source/source-page.h"
#include "views/timeline/time-panel.h"
#include <adwaita.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_WINDOW (gantry_window_get_type ())
G_DECLARE_FINAL_TYPE (GantryWindow, gantry_window, GANTRY, WINDOW, AdwApplicationWindow)

/** Returns: (transfer floating): a window with the page "welcome"; it belongs to @application */
GtkWidget *gantry_window_new (GtkApplication *application);
/** Opens a model or session; what comes of it is shown. Asks first where something is unsaved. */
void gantry_window_open (GantryWindow *window, const char *path);

/** Opens what was unsaved, and keeps it on in the same file. */
void gantry_window_recover (GantryWindow *window, GantryRecovery *recovery);
/** Once something is open here, tells that @n other windows hold what was unsaved: what is shown is what was asked for. */
void gantry_window_tell_restored (GantryWindow *window, guint n);
/** Keeps at once what is unsaved, before the process ends: where the folder for it takes nothing, beside the model or among temporary
 *  files, which standard error tells. Returns: FALSE where it is lost, which standard error tells too */
gboolean gantry_window_keep (GantryWindow *window);

/** Whether the child is asked, in the background, what the kernels of each program need, so that plans count it before the first run. */
void gantry_window_set_find_sizes (GantryWindow *window, gboolean find_sizes);

/* Its parts, for its actions and for tests: (transfer none), never NULL, they live as long as the window. */
GantryDocument *gantry_window_get_document (GantryWindow *window);          /* what is open; one for the life of the window */
GantrySelection *gantry_window_get_selection (GantryWindow *window);        /* what all views share */
GantryPassList *gantry_window_get_pass_list (GantryWindow *window);         /* the list of snapshots, on the left */
GantryPassView *gantry_window_get_pass_view (GantryWindow *window);         /* the graph before and after the pass selected */
GantryInspector *gantry_window_get_inspector (GantryWindow *window);        /* what is known of the selection */
GantrySourcePage *gantry_window_get_source_page (GantryWindow *window);     /* the source beside the graph */
GantryTimePanel *gantry_window_get_time_panel (GantryWindow *window);       /* lanes and memory curve, a page at the bottom */
GantryComparePanel *gantry_window_get_compare_panel (GantryWindow *window); /* variants side by side, a page at the bottom */
GantryKernelsPanel *gantry_window_get_kernels_panel (GantryWindow *window); /* kernels of the run shown, a page at the bottom */
/** The page shown: "welcome", "loading", "error" or "model". */
const char *gantry_window_get_page (GantryWindow *window);
/** The last error that the user was told, NULL after a success. */
const char *gantry_window_get_error (GantryWindow *window);
/** Saves the session, to its own file where @path is NULL; what goes wrong is told. From then on @path is what is open. */
void gantry_window_save_to (GantryWindow *window, const char *path);
/** Writes the picture that has the focus; the format follows the ending. */
gboolean gantry_window_export (GantryWindow *window, const char *path, GError **error);

G_END_DECLS
