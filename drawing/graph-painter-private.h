/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that paint a graph share: what is painted where, and what lies in the view. */
#pragma once
#include "drawing/graph-picture-private.h"
#include "drawing/painters.h"

G_BEGIN_DECLS

#define SCALE_EDGES 0.06f
#define SCALE_TITLE 0.42f
#define SCALE_SUBTITLE 0.62f
#define SCALE_LABEL 0.72f

typedef struct
{
  GantryScene *scene;
  const GantryGraphPicture *picture;
  const GantryGraphView *view;
  const GantryGraphState *state;
  GArray *boxes, *edges, *groups; /* guint32: visible ones */
} GantryGraphPainter;

GantryLayoutBox _gantry_graph_to_scene (const GantryGraphView *view, const GantryLayoutBox *box);

/* graph-placements.c: only with state->placements */
GantryInk _gantry_graph_edge_ink (const GantryGraphPainter *p, const GantryGraphEdge *edge);
/** One segment of a saved value's edge. */
void _gantry_graph_paint_placed (GantryGraphPainter *p, const GantryLayoutPoint *a, const GantryLayoutPoint *b, const GantryGraphEdge *edge, GantryInk ink);
void _gantry_graph_paint_letters (GantryGraphPainter *p);
void _gantry_graph_paint_ghosts (GantryGraphPainter *p);

G_END_DECLS
