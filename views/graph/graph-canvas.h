/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of one snapshot as a widget: pan, zoom, fold, walk, select. Pictures are laid out on worker threads;
 * the one on the screen stays until the next is there. */
#pragma once
#include "core/document/document.h"
#include "drawing/painters.h"
#include "views/selection.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_GRAPH_CANVAS (gantry_graph_canvas_get_type ())
G_DECLARE_FINAL_TYPE (GantryGraphCanvas, gantry_graph_canvas, GANTRY, GRAPH_CANVAS, GtkWidget)

/**
 * GantryGraphCanvas:
 *
 * Signals: "folds-changed" (the user folded or unfolded), "picture-changed" (another picture, or its failure),
 * "place" (int: GantryPlacementKind or GANTRY_PLACEMENT_UNSET, int: GantryReach): a key asks for it.
 */
GtkWidget *gantry_graph_canvas_new (GantrySelection *selection);

/** What a placement given on the canvas reaches. */
typedef enum
{
  GANTRY_REACH_SELECTION,
  GANTRY_REACH_SCOPE,   /* the scopes of what is selected */
  GANTRY_REACH_ALIKE,   /* the same values in all equal blocks */
  GANTRY_REACH_MATCHES, /* everything that the search found */
} GantryReach;

typedef enum
{
  GANTRY_CANVAS_PLAIN,
  GANTRY_CANVAS_BEFORE, /* marks what the pass after @index removes */
  GANTRY_CANVAS_AFTER,  /* marks what the pass @index made */
} GantryCanvasSide;

/** Shows snapshot @index of @compilation; NULL shows nothing. */
void gantry_graph_canvas_set_snapshot (GantryGraphCanvas *canvas, GantryCompilation *compilation, guint index, GantryCanvasSide side);
/** To be called after gantry_graph_canvas_set_snapshot(), while its picture is made: what is in the middle of @other, which shows a snapshot of
 * the same compilation, or was shown there, will be in the middle of @self, which will be @width points wide. */
void gantry_graph_canvas_open_beside (GantryGraphCanvas *self, GantryGraphCanvas *other, int width);
/** Returns: the index last given to gantry_graph_canvas_set_snapshot(), whether or not its picture is there yet */
guint gantry_graph_canvas_get_snapshot (GantryGraphCanvas *canvas);
GantryModule *gantry_graph_canvas_get_module (GantryGraphCanvas *canvas);        /* (nullable) (transfer none) */
GantryGraphPicture *gantry_graph_canvas_get_picture (GantryGraphCanvas *canvas); /* (nullable) (transfer none) */
/** Why there is no picture: (nullable). */
const GError *gantry_graph_canvas_get_error (GantryGraphCanvas *canvas);
/** TRUE while a picture is being made. */
gboolean gantry_graph_canvas_is_busy (GantryGraphCanvas *canvas);
/** Marks that painters left out of the last frame; 0 is right. */
guint gantry_graph_canvas_n_clipped (GantryGraphCanvas *canvas);
/** Marks of the last frame. */
guint gantry_graph_canvas_n_marks (GantryGraphCanvas *canvas);

/** How the saved values of a training step are placed, and what is computed again: (nullable), kept. */
void gantry_graph_canvas_set_placements (GantryGraphCanvas *canvas, GantryPlacements *placements, GArray *ghosts);
/** Nodes found by a search: (nullable) (transfer none): a set of node ids. */
void gantry_graph_canvas_set_matches (GantryGraphCanvas *canvas, GHashTable *matches);
/** Brings a node into view and, when @select, selects it. */
void gantry_graph_canvas_show_node (GantryGraphCanvas *canvas, guint32 node, gboolean select);
/** Brings what is selected into view, when nothing of it is. */
void gantry_graph_canvas_reveal_selection (GantryGraphCanvas *canvas);

/** Shows the whole picture; while one is being made, that one once it is there. */
void gantry_graph_canvas_fit (GantryGraphCanvas *canvas);
/** Fits the selection, the second time everything. */
void gantry_graph_canvas_focus_selection (GantryGraphCanvas *canvas);
/** @factor: above 1 shows less, larger; the middle stays where it is. */
void gantry_graph_canvas_zoom (GantryGraphCanvas *canvas, double factor);
/** @view: (out caller-allocates): what part of the picture is seen, and its scale. */
void gantry_graph_canvas_get_view (GantryGraphCanvas *canvas, GantryGraphView *view);
/** @view: copied; the next frame shows that part of the picture. */
void gantry_graph_canvas_set_view (GantryGraphCanvas *canvas, const GantryGraphView *view);

/** (nullable) (transfer none): the set of folded scopes, NULL: chosen by size. */
void gantry_graph_canvas_set_folded (GantryGraphCanvas *canvas, GHashTable *folded);
/** Returns: (transfer none) (nullable): what was set, with what the user has folded since; NULL: chosen by size */
GHashTable *gantry_graph_canvas_get_folded (GantryGraphCanvas *canvas);
/** @scope: id; 0 does nothing. It keeps its place on the screen. */
void gantry_graph_canvas_toggle_fold (GantryGraphCanvas *canvas, guint32 scope);
/** Folds the scope around the selected node, or unfolds the selected box. Returns: FALSE when there is none */
gboolean gantry_graph_canvas_toggle_fold_selected (GantryGraphCanvas *canvas);
/** Folds every group that is shown; of a training step every scope of two nodes or more. */
void gantry_graph_canvas_fold_all (GantryGraphCanvas *canvas);
/** Unfolds every scope, however large the picture becomes. */
void gantry_graph_canvas_unfold_all (GantryGraphCanvas *canvas);
/** Walks from the selected box. Returns: FALSE when there is nothing that way */
gboolean gantry_graph_canvas_walk (GantryGraphCanvas *canvas, GantryWalk direction);

/** Where the small map lies now, which goes to the side where it hides less. Returns: FALSE where there is none: all is in sight */
gboolean gantry_graph_canvas_get_minimap (GantryGraphCanvas *canvas, graphene_rect_t *rect);

G_END_DECLS
