/* SPDX-License-Identifier: Apache-2.0 */
/* The bottom panel: lanes and memory curve on one axis, and who is alive at the moment that was picked. */
#pragma once
#include "views/memory/memory-side.h"
#include "views/timeline/time-canvas.h"

G_BEGIN_DECLS

#define GANTRY_TYPE_TIME_PANEL (gantry_time_panel_get_type ())
G_DECLARE_FINAL_TYPE (GantryTimePanel, gantry_time_panel, GANTRY, TIME_PANEL, GtkBox)

/** Returns: (transfer floating): it follows document and selection, and keeps them */
GtkWidget *gantry_time_panel_new (GantryDocument *document, GantrySelection *selection);
/** Returns: (transfer none): the one of both canvases */
GantryTimeAxis *gantry_time_panel_get_axis (GantryTimePanel *panel);
/** Returns: (transfer none): what stands beside the curve */
GantryMemorySide *gantry_time_panel_get_side (GantryTimePanel *panel);
/** Returns: (transfer none): the lanes, or the memory curve */
GantryTimeCanvas *gantry_time_panel_get_canvas (GantryTimePanel *panel, GantryTimeKind kind);
/** Goes to the moment with the most memory of the plan. */
void gantry_time_panel_go_to_peak (GantryTimePanel *panel);
/** Brings the selection into view. Returns: FALSE where nothing of it takes time */
gboolean gantry_time_panel_show_selection (GantryTimePanel *panel);
/** TRUE when the picture shows the document's present state. */
gboolean gantry_time_panel_is_ready (GantryTimePanel *panel);

G_END_DECLS
