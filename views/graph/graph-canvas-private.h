/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the canvas share: its state, and who does what. */
#pragma once
#include "views/graph/graph-canvas.h"
#include "views/scene-snapshot.h"

G_BEGIN_DECLS

#define GANTRY_CANVAS_MIN_SCALE 0.004f
#define GANTRY_CANVAS_MAX_SCALE 4.0f

/* Something that shall stay where it is on the screen when the picture changes. */
typedef struct
{
  guint32 node, scope; /* one of them, or none */
  float x, y;          /* of its top left corner in the widget */
} GantryCanvasAnchor;

struct _GantryGraphCanvas
{
  GtkWidget parent_instance;
  GantrySelection *selection;
  GantryCompilation *compilation;
  guint index;
  GantryCanvasSide side;
  GHashTable *marked; /* made or removed by the pass */

  /* The picture, and the one that is being made */
  GantryGraphPicture *picture;
  GError *error;
  GHashTable *folded;
  GCancellable *cancellable;
  guint generation;
  gboolean busy;
  gboolean view_chosen; /* by the user or for an earlier picture */
  GantryCanvasAnchor anchor;
  guint32 show_when_ready; /* node */
  gboolean fit_when_ready;

  /* What is seen of it */
  GantryGraphView view;
  GHashTable *matches;
  GantryPlacements *placements; /* (nullable) */
  GArray *ghosts;               /* (nullable) */
  guint32 hover;                /* box */
  gboolean focused_selection;
  gboolean selecting; /* the canvas itself is changing the selection */

  /* Drawing */
  GantryPen *pen;
  GantryScene *scene;
  GskRenderNode *cached;
  GskRenderNode *minimap;
  graphene_rect_t minimap_rect;
  guint n_clipped, n_marks;
  int width; /* as allocated last */

  /* Input */
  GtkEventController *drag;  /* the gesture: the widget keeps it */
  GantryGraphView drag_view; /* when it began */
  gboolean drag_minimap;
  gboolean dragging;
  double zoom_scale;
  double pointer_x, pointer_y;
  gboolean pointer_inside;
  gboolean minimap_open;   /* its corner is open: it goes where it hides least */
  gboolean minimap_covers; /* boxes lie below it */
  guint minimap_corner;    /* where it stands: bottom right, bottom left, top right, top left */
};

/* graph-canvas.c */
void _gantry_graph_canvas_invalidate (GantryGraphCanvas *canvas);
void _gantry_graph_canvas_request (GantryGraphCanvas *canvas);
/** Keeps the view near the picture. */
void _gantry_graph_canvas_clamp (GantryGraphCanvas *canvas);
void _gantry_graph_canvas_select_box (GantryGraphCanvas *canvas, guint32 box, gboolean toggle);
/** The box of the selection's primary node here, or GANTRY_NO_BOX. */
guint32 _gantry_graph_canvas_primary_box (GantryGraphCanvas *canvas);
void _gantry_graph_canvas_zoom_at (GantryGraphCanvas *canvas, float factor, float x, float y);
void _gantry_graph_canvas_show_rect (GantryGraphCanvas *canvas, const GantryLayoutBox *rect);
void _gantry_graph_canvas_choose_view (GantryGraphCanvas *canvas);
void _gantry_graph_canvas_keep_anchor (GantryGraphCanvas *canvas, guint32 node, guint32 scope);
/** Remembers what is in the middle of the view, as the node that it is in snapshot @index. */
void _gantry_graph_canvas_keep_middle (GantryGraphCanvas *canvas, GantryCompilation *compilation, guint index);
void _gantry_graph_canvas_restore_anchor (GantryGraphCanvas *canvas);

/* graph-canvas-draw.c */
void _gantry_graph_canvas_snapshot (GtkWidget *widget, GtkSnapshot *snapshot);
gboolean _gantry_graph_canvas_in_minimap (GantryGraphCanvas *canvas, double x, double y);
void _gantry_graph_canvas_minimap_to (GantryGraphCanvas *canvas, double x, double y);

/* graph-canvas-input.c */
/** Tells the window that a key asks for a placement. */
void _gantry_graph_canvas_ask_place (GantryGraphCanvas *canvas, int kind, GantryReach reach);
void _gantry_graph_canvas_add_input (GantryGraphCanvas *canvas);
char *_gantry_graph_canvas_describe (GantryGraphCanvas *canvas, guint32 box);

G_END_DECLS
