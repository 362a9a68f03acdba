/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gantry's layered graph layout: boxes and arrows in, positions and orthogonal routes out.
 *
 * It is made for computation graphs: deep (tens of thousands of ranks), narrow, with residual edges
 * that skip ranks, scopes that nest, and training steps whose saved values span the whole graph. It
 * knows nothing of operations, widgets or files, and depends on GLib alone.
 *
 * All lengths are points. The result is snapped to whole points: the layout is computed in
 * integers, so the same input gives the same picture, bit for bit, on every machine.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/** GANTRY_LAYOUT_NO_GROUP: the group of a node, or the parent of a group, that lies directly in the
 * drawing. */
#define GANTRY_LAYOUT_NO_GROUP G_MAXUINT32

/** GANTRY_LAYOUT_MAX_SIZE: the largest width or height of one box, in points. */
#define GANTRY_LAYOUT_MAX_SIZE 100000.0f

/** GANTRY_LAYOUT_MAX_NESTING: how deep groups may nest. */
#define GANTRY_LAYOUT_MAX_NESTING 128

#define GANTRY_LAYOUT_ERROR (gantry_layout_error_quark ())
/** Returns: the domain of errors whose codes are of #GantryLayoutError; write it %GANTRY_LAYOUT_ERROR */
GQuark gantry_layout_error_quark (void);

/**
 * GantryLayoutError:
 * @GANTRY_LAYOUT_ERROR_INPUT: the description of the graph is not usable; the message says which
 * entry
 * @GANTRY_LAYOUT_ERROR_TOO_LARGE: the picture would not fit into the coordinate range of 2^30
 * points
 */
typedef enum
{
  GANTRY_LAYOUT_ERROR_INPUT,
  GANTRY_LAYOUT_ERROR_TOO_LARGE,
} GantryLayoutError;

/**
 * GantryLayoutEdgeClass:
 * @GANTRY_LAYOUT_EDGE_FLOW: ordinary data flow: the head is placed below the tail
 * @GANTRY_LAYOUT_EDGE_SAVED: routed, but without a say in where its ends are placed (a saved
 * activation)
 */
typedef enum
{
  GANTRY_LAYOUT_EDGE_FLOW = 0,
  GANTRY_LAYOUT_EDGE_SAVED = 1,
} GantryLayoutEdgeClass;

/**
 * GantryLayoutInput:
 * @n_nodes: number of nodes
 * @width: (array length=n_nodes): widths, finite, 0 to %GANTRY_LAYOUT_MAX_SIZE
 * @height: (array length=n_nodes): heights, likewise
 * @n_edges: number of edges; self loops, parallel edges and cycles are allowed
 * @tail: (array length=n_edges): the node that each edge leaves
 * @head: (array length=n_edges): the node that each edge enters
 * @edge_class: (array length=n_edges) (nullable): a #GantryLayoutEdgeClass each; %NULL: all flow
 * @edge_value: (array length=n_edges) (nullable): which value of its tail each edge carries. Edges
 * of one value share a trunk and branch from it, edges of different values never do. %NULL: a node
 * has one value
 * @n_groups: number of groups
 * @group: (array length=n_nodes) (nullable): the innermost group of each node, or
 * %GANTRY_LAYOUT_NO_GROUP
 * @group_parent: (array length=n_groups) (nullable): the group around each group; %NULL: groups do
 * not nest
 * @group_min_width: (array length=n_groups) (nullable): room that each group's title needs
 * @order_hint: (array length=n_nodes) (nullable): program order; ties are broken by it. %NULL: the
 * index
 * @previous_x: (array length=n_nodes) (nullable): where each node stood in the picture that this
 * one replaces (any point of the box will do, if the same for all), NaN for a node that was not in
 * it. Neighbours keep their order unless another has fewer crossings
 *
 * What to lay out. The arrays are only read, and only during gantry_layout_compute().
 */
typedef struct
{
  guint32 n_nodes;
  const float *width;
  const float *height;
  guint32 n_edges;
  const guint32 *tail;
  const guint32 *head;
  const guint8 *edge_class;
  const guint32 *edge_value;
  guint32 n_groups;
  const guint32 *group;
  const guint32 *group_parent;
  const float *group_min_width;
  const guint32 *order_hint;
  const float *previous_x;
} GantryLayoutInput;

/**
 * GantryLayoutFold:
 * @GANTRY_LAYOUT_FOLD_AUTO: fold a graph whose long edges are nested around a turning point, as a
 * training step's saved values are: the first half runs down, the second runs back up beside it
 * @GANTRY_LAYOUT_FOLD_NEVER: everything runs down
 */
typedef enum
{
  GANTRY_LAYOUT_FOLD_AUTO,
  GANTRY_LAYOUT_FOLD_NEVER,
} GantryLayoutFold;

/**
 * GantryLayoutParams:
 * @node_gap: least horizontal distance between two boxes
 * @rank_gap: least vertical distance between two ranks; grows where many edges must turn
 * @lane_gap: distance between two edges that run side by side
 * @port_gap: wanted distance between two edges that enter the same box
 * @group_padding: room inside a group's border
 * @group_title: height of the title band at the top of a group
 * @fold: whether the drawing may be folded
 *
 * Measures of the picture, in points, each 0 to 1000. Fill with gantry_layout_params_init() first.
 */
typedef struct
{
  float node_gap;
  float rank_gap;
  float lane_gap;
  float port_gap;
  float group_padding;
  float group_title;
  GantryLayoutFold fold;
} GantryLayoutParams;

/** GantryLayoutBox: a rectangle; @x and @y are its top left corner, y grows downwards. */
typedef struct
{
  float x;
  float y;
  float width;
  float height;
} GantryLayoutBox;

/** GantryLayoutPoint: a point of a route. */
typedef struct
{
  float x;
  float y;
} GantryLayoutPoint;

/**
 * GantryLayout:
 * @node: (array length=n_nodes): the boxes. Sizes are the input's, rounded up to even points
 * @group: (array length=n_groups): the group boxes, title band included. A group without a node is
 * a box too
 * @edge_first: where each edge's points begin in @points; has n_edges + 1 entries
 * @points: (array length=n_points): the routes from tail to head. Consecutive points differ in one
 *   coordinate only. The first lies on the border of the tail, the last on the border of the head
 * @width: extent of the whole picture, which begins at 0, 0
 * @height: likewise
 * @n_folded: how many nodes run upwards (see #GantryLayoutFold): data leaves these at the top
 * @bytes: size of this result
 * @peak_bytes: the most memory held at once while it was computed, this result included
 *
 * A finished layout. Immutable, so any thread may read it.
 */
typedef struct
{
  guint32 n_nodes;
  guint32 n_edges;
  guint32 n_groups;
  guint32 n_points;
  const GantryLayoutBox *node;
  const GantryLayoutBox *group;
  const guint32 *edge_first;
  const GantryLayoutPoint *points;
  float width;
  float height;
  guint32 n_folded;
  gsize bytes;
  gsize peak_bytes;
} GantryLayout;

/**
 * GantryLayoutItemKind:
 * @GANTRY_LAYOUT_ITEM_NONE: nothing
 * @GANTRY_LAYOUT_ITEM_NODE: a node
 * @GANTRY_LAYOUT_ITEM_EDGE: an edge
 * @GANTRY_LAYOUT_ITEM_GROUP: a group
 */
typedef enum
{
  GANTRY_LAYOUT_ITEM_NONE,
  GANTRY_LAYOUT_ITEM_NODE,
  GANTRY_LAYOUT_ITEM_EDGE,
  GANTRY_LAYOUT_ITEM_GROUP,
} GantryLayoutItemKind;

/**
 * GantryLayoutVisit:
 * @kind: what was found
 * @index: which node, edge or group
 * @user_data: the caller's
 *
 * Returns: %FALSE to end the query
 */
typedef gboolean (*GantryLayoutVisit) (GantryLayoutItemKind kind, guint32 index, gpointer user_data);

/**
 * gantry_layout_params_init:
 * @params: (out caller-allocates): measures to fill
 *
 * Sets the measures that suit boxes with one or two lines of text.
 */
void gantry_layout_params_init (GantryLayoutParams *params);

/**
 * gantry_layout_compute:
 * @input: what to lay out
 * @params: (nullable): measures, or %NULL for those of gantry_layout_params_init()
 * @cancellable: (nullable): ends the work early
 * @error: why there is no layout: #GantryLayoutError, or %G_IO_ERROR_CANCELLED
 *
 * Lays a graph out in ranks, from top to bottom, with orthogonal edges. Boxes do not overlap, edges
 * run through no box but those at their ends, and the nodes of a group, with those of the groups in
 * it, have a rectangle of their own. May be called from any thread. Time and memory are linear in
 * nodes and edges, but for a logarithm, as long as groups do not nest deeply.
 *
 * The method is that of Sugiyama, Tagawa and Toda (1981), with a place for long edges of our own:
 * see layout-route.c, layout-align.c and layout-fold.c for what is particular to computation
 * graphs.
 *
 * Returns: (transfer full): the layout, or %NULL with @error set
 */
GantryLayout *gantry_layout_compute (const GantryLayoutInput *input, const GantryLayoutParams *params, GCancellable *cancellable, GError **error);

/**
 * gantry_layout_ref:
 * @layout: a layout
 *
 * Returns: (transfer full): @layout with one more owner; any thread may call this
 */
GantryLayout *gantry_layout_ref (GantryLayout *layout);
/**
 * gantry_layout_unref:
 * @layout: (transfer full): a layout
 *
 * Gives up ownership; the last owner frees it.
 */
void gantry_layout_unref (GantryLayout *layout);

/**
 * gantry_layout_query:
 * @layout: a layout
 * @area: a rectangle of the drawing
 * @visit: (scope call): called once for everything that has a point in common with @area, in no
 * promised order
 * @user_data: for @visit
 *
 * Finds the nodes, groups and edges in a part of the drawing. Takes time for what is found, not for
 * what there is.
 */
void gantry_layout_query (const GantryLayout *layout, const GantryLayoutBox *area, GantryLayoutVisit visit, gpointer user_data);

/**
 * gantry_layout_pick:
 * @layout: a layout
 * @x: a place in the drawing
 * @y: likewise
 * @tolerance: how far from an edge it is still hit, in points
 * @index: (out): which one was hit
 *
 * Finds what lies under the pointer: a node, else the nearest edge, else the innermost group.
 *
 * Returns: what was hit; @index is only set if that is something
 */
GantryLayoutItemKind gantry_layout_pick (const GantryLayout *layout, float x, float y, float tolerance, guint32 *index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryLayout, gantry_layout_unref)

G_END_DECLS
