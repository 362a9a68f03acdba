/* SPDX-License-Identifier: Apache-2.0 */
/* A canvas with a line that says what it shows, and words where there is nothing to draw. */
#pragma once
#include "views/graph/graph-canvas.h"

G_BEGIN_DECLS

#define GANTRY_TYPE_GRAPH_PANE (gantry_graph_pane_get_type ())
G_DECLARE_FINAL_TYPE (GantryGraphPane, gantry_graph_pane, GANTRY, GRAPH_PANE, GtkBox)

/** Returns: (transfer floating): a pane that shows nothing yet; @selection is shared */
GtkWidget *gantry_graph_pane_new (GantrySelection *selection);
/** Returns: (transfer none): the canvas in it */
GantryGraphCanvas *gantry_graph_pane_get_canvas (GantryGraphPane *pane);
/** As gantry_graph_canvas_set_snapshot(), with its heading. */
void gantry_graph_pane_set_snapshot (GantryGraphPane *pane, GantryCompilation *compilation, guint index, GantryCanvasSide side);

G_END_DECLS
