/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The groups of a drawing as a tree, and its edges cut at the groups' borders.
 *
 * Group n_groups, the root, stands for the drawing itself. Edges that carry one value of one node
 * (a net) share their parts: all that leave a group leave through one port, and all that enter one
 * do so too.
 */
#pragma once

#include "drawing/layout/layout-private.h"

typedef enum
{
  LAY_END_NODE,
  LAY_END_GROUP,
  LAY_END_BORDER, /* the border of the part's own group */
} LayEndKind;

/* One piece of one or more edges, within one group. */
typedef struct
{
  guint32 group;
  guint32 net;
  guint32 hint;      /* program order of the net's tail */
  guint32 from;      /* node, group, or, if it comes through the border, the part outside that leads to it */
  guint32 from_part; /* the part inside the group that it comes from */
  guint32 to;
  gint32 port_x; /* of the end at a border, from the left of that group's box */
  guint8 from_kind;
  guint8 to_kind;
  guint8 klass;
  guint32 n_points;
  gint32 *points; /* x, y pairs within the content of the group */
} LayPart;

/* A group, laid out. */
typedef struct
{
  guint32 parent;
  guint32 depth; /* the root has 0 */
  guint32 hint;  /* of its first node */
  double previous;
  guint32 n_previous;
  gint32 min_width;
  gint32 x; /* in the content of its parent, in the end in the drawing */
  gint32 y;
  gint32 w;
  gint32 h;
  gint32 content_x; /* where its content begins, from its top left corner */
  gint32 content_y;
  gint32 content_h;
  guint8 flipped; /* runs upwards */
} LayGroup;

typedef struct
{
  gint32 x; /* in the content of its group, in the end in the drawing */
  gint32 y;
  gint32 w;
  gint32 h;
  guint8 flipped;
} LayBox;

typedef struct
{
  const GantryLayoutInput *input;
  LayScratch *keep; /* lives until the result is written */
  guint32 root;
  LayGroup *group;
  guint32 *inside_out; /* groups, each before the one around it */
  LayBox *box;
  guint32 *local; /* of each node, then each group: its vertex while the level around it is at work */
  /* The nodes, groups and parts directly in each group. */
  guint32 *node_first;
  guint32 *node;
  guint32 *child_first;
  guint32 *child;
  guint32 *part_first;
  guint32 *part_list;
  guint32 n_parts;
  LayPart *part;
  /* The parts of each edge, from tail to head. */
  guint32 *edge_first;
  guint32 *edge_part;
} LayTree;

static inline guint32
lay_tree_group_of (const LayTree *tree, guint32 node)
{
  if (tree->input->group == NULL || tree->input->group[node] == GANTRY_LAYOUT_NO_GROUP)
    return tree->root;
  return tree->input->group[node];
}

gboolean lay_tree_init (LayTree *tree, const GantryLayoutInput *input, LayScratch *keep, LayScratch *scratch, GError **error);
gboolean lay_tree_layout_group (LayTree *tree, LayJob *job, guint32 group);
