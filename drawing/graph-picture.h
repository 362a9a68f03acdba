/* SPDX-License-Identifier: Apache-2.0 */
/* A module laid out to be looked at: boxes for nodes and folded scopes, routed edges, labels. Immutable; made on a
 * worker thread, painted by graph-painter.h. */
#pragma once
#include "core/base/progress.h"
#include "core/graph/module.h"
#include "drawing/layout/layout.h"
#include "drawing/scene.h"

G_BEGIN_DECLS

typedef struct _GantryGraphPicture GantryGraphPicture;

/**
 * GantryGraphOptions:
 * @folded: (nullable): set of scope ids (GUINT_TO_POINTER) shown as one box; NULL: chosen by size
 *  (gantry_graph_default_folds())
 * @show_constants: constants as boxes of their own; else they are counted on their users
 * @function: id of the function to show, 0: the entry
 * @previous: (nullable): the picture that this one replaces: what stays keeps its place as far as it can
 */
typedef struct
{
  GHashTable *folded;
  gboolean show_constants;
  guint32 function;
  const GantryGraphPicture *previous;
} GantryGraphOptions;

/**
 * gantry_graph_picture_new:
 * @module: kept by reference
 * @options: (nullable): NULL: the entry, folded by size, without constants
 * @progress: (nullable): is asked whether to go on
 *
 * Linear in nodes and edges, but for a logarithm. Worker thread. Returns: (transfer full) (nullable): NULL with
 * %GANTRY_ERROR_INVALID where there is no such function, as gantry_layout_compute(), or %G_IO_ERROR_CANCELLED
 */
GantryGraphPicture *gantry_graph_picture_new (GantryModule *module, const GantryGraphOptions *options, const GantryProgress *progress, GError **error);
GantryGraphPicture *gantry_graph_picture_ref (GantryGraphPicture *picture);
void gantry_graph_picture_unref (GantryGraphPicture *picture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryGraphPicture, gantry_graph_picture_unref)

/** The folds that keep the picture of @module below about 1,500 boxes; of a training step below about 220, so that its layers
 *  are boxes. (transfer full) */
GHashTable *gantry_graph_default_folds (const GantryModule *module, guint32 function);
/** Every scope of two nodes or more. (transfer full) */
GHashTable *gantry_graph_all_folds (const GantryModule *module, guint32 function);
/** The innermost scope around @scope, or it, that can be folded and is not in @folded. 0: none */
guint32 gantry_graph_scope_to_fold (const GantryModule *module, guint32 function, guint32 scope, GHashTable *folded);
/** How many values an edge stands for: more than one where it joins two folded scopes of a training step. */
guint32 gantry_graph_picture_edge_n_values (const GantryGraphPicture *picture, guint32 edge);

/** TRUE for a training step: the forward phase runs down, what derives from it stands beside it and runs back up. */
gboolean gantry_graph_picture_is_mirrored (const GantryGraphPicture *picture);
/** Which phase of a training step the nodes of a box belong to. */
GantryPhase gantry_graph_picture_box_phase (const GantryGraphPicture *picture, guint32 box);
/** TRUE when the edge carries a value that the forward phase saves for a later one. @value: (out) (optional): its node */
gboolean gantry_graph_picture_edge_saved (const GantryGraphPicture *picture, guint32 edge, guint32 *value);
/** Returns: (transfer none): what it shows */
GantryModule *gantry_graph_picture_module (const GantryGraphPicture *picture);
/** Returns: (transfer none): where boxes, groups and edges lie, in points */
const GantryLayout *gantry_graph_picture_layout (const GantryGraphPicture *picture);
GHashTable *gantry_graph_picture_folded (const GantryGraphPicture *picture); /* (transfer none) */
/** @width: @height: (out): of the whole, in points */
void gantry_graph_picture_size (const GantryGraphPicture *picture, float *width, float *height);

#define GANTRY_NO_BOX G_MAXUINT32
/** Returns: how many boxes there are, numbered from 0: nodes that are shown, and folded scopes */
guint32 gantry_graph_picture_n_boxes (const GantryGraphPicture *picture);
/** The box that shows a node: its own, that of a folded scope, or of its user for a hidden constant. */
guint32 gantry_graph_picture_box_of (const GantryGraphPicture *picture, guint32 node);
/** The node of a box, 0 for a folded scope. */
guint32 gantry_graph_picture_box_node (const GantryGraphPicture *picture, guint32 box);
/** The scope of a folded box or of a group, 0 for a node. */
guint32 gantry_graph_picture_box_scope (const GantryGraphPicture *picture, guint32 box);
/** @group: of the layout. Returns: the scope id whose nodes stand in it */
guint32 gantry_graph_picture_group_scope (const GantryGraphPicture *picture, guint32 group);
/** All nodes that a box stands for. (transfer full) (element-type guint32) */
GArray *gantry_graph_picture_box_nodes (const GantryGraphPicture *picture, guint32 box);
/** @rect: (out caller-allocates): where @box lies, in points of the picture */
void gantry_graph_picture_box_rect (const GantryGraphPicture *picture, guint32 box, GantryLayoutBox *rect);
/** First (largest label first) and second line of a box. (transfer none) */
const char *gantry_graph_picture_box_title (const GantryGraphPicture *picture, guint32 box);
/** The type of a node, what a folded scope holds; "" where there is none. (transfer none) */
const char *gantry_graph_picture_box_subtitle (const GantryGraphPicture *picture, guint32 box);

/** What lies at a point of the picture. @index: box, edge or group. */
GantryLayoutItemKind gantry_graph_picture_pick (const GantryGraphPicture *picture, float x, float y, float tolerance, guint32 *index);

typedef enum
{
  GANTRY_WALK_UP,
  GANTRY_WALK_DOWN,
  GANTRY_WALK_LEFT,
  GANTRY_WALK_RIGHT
} GantryWalk;
/** The box that the keyboard goes to: up to an operand, down to a user (the one nearest below), left and right to the
 *  neighbour in the same row. GANTRY_NO_BOX when there is none. */
guint32 gantry_graph_picture_walk (const GantryGraphPicture *picture, guint32 box, GantryWalk direction);

/** Nodes whose operation, name, type or scope contains @text, ignoring case; in program order. (transfer full) (element-type guint32) */
GArray *gantry_graph_search (const GantryModule *module, const char *text);

G_END_DECLS
