/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the tree of groups and cuts the edges at their borders.
 */
#include "drawing/layout/layout-tree-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- groups ---------------------------------------------------------------------------------- */

static gboolean
measure_depths (LayTree *tree, GError **error)
{
  guint32 n = tree->root;

  tree->group[n].parent = LAY_NONE;
  tree->group[n].depth = 0;
  for (guint32 g = 0; g < n; g++)
    {
      guint32 parent = tree->input->group_parent != NULL ? tree->input->group_parent[g] : GANTRY_LAYOUT_NO_GROUP;

      tree->group[g].parent = parent == GANTRY_LAYOUT_NO_GROUP ? n : parent;
    }
  for (guint32 g = 0; g < n; g++)
    {
      guint32 path[GANTRY_LAYOUT_MAX_NESTING + 1];
      guint32 length = 0;
      guint32 a = g;

      for (; a != n && tree->group[a].depth == 0; a = tree->group[a].parent)
        {
          if (length > GANTRY_LAYOUT_MAX_NESTING)
            break;
          path[length++] = a;
        }
      if (length + tree->group[a].depth > GANTRY_LAYOUT_MAX_NESTING)
        {
          g_set_error (error, GANTRY_LAYOUT_ERROR, GANTRY_LAYOUT_ERROR_INPUT,
                       "layout: group %u lies in more than %d others, or in itself; flatten the groups or mend "
                       "group_parent",
                       g, GANTRY_LAYOUT_MAX_NESTING);
          return FALSE;
        }
      for (guint32 depth = tree->group[a].depth; length > 0;)
        tree->group[path[--length]].depth = ++depth;
    }
  return TRUE;
}

/* Sorts the groups so that each comes before the one around it: by depth, the deepest first. */
static void
sort_inside_out (LayTree *tree)
{
  guint32 n = tree->root + 1;
  guint32 count[GANTRY_LAYOUT_MAX_NESTING + 2] = { 0 };

  for (guint32 g = 0; g < n; g++)
    count[tree->group[g].depth]++;
  for (guint32 d = GANTRY_LAYOUT_MAX_NESTING; d-- > 0;)
    count[d] += count[d + 1];
  /* Now count[d] is how many are at least as deep as d: those of depth d end there. */
  for (guint32 g = n; g-- > 0;)
    tree->inside_out[--count[tree->group[g].depth]] = g;
}

/* Lists 0 .. n-1 by their key; lists of one key are in ascending order. */
static guint32 *
list_by_key (LayScratch *scratch, const guint32 *key, guint32 n, guint32 n_keys, guint32 **first_out)
{
  guint32 *first = LAY_NEW (scratch, guint32, (gsize) n_keys + 2);
  guint32 *list = LAY_NEW (scratch, guint32, n);

  for (guint32 i = 0; i < n; i++)
    if (key[i] != LAY_NONE)
      first[key[i] + 2]++;
  for (guint32 k = 0; k < n_keys; k++)
    first[k + 2] += first[k + 1];
  for (guint32 i = 0; i < n; i++)
    if (key[i] != LAY_NONE)
      list[first[key[i] + 1]++] = i;
  *first_out = first;
  return list;
}

static void
list_members (LayTree *tree, LayScratch *scratch)
{
  guint32 n_groups = tree->root + 1;
  guint32 n_nodes = tree->input->n_nodes;
  guint32 *key = LAY_NEW (scratch, guint32, MAX (n_groups, n_nodes));

  for (guint32 v = 0; v < n_nodes; v++)
    key[v] = lay_tree_group_of (tree, v);
  tree->node = list_by_key (tree->keep, key, n_nodes, n_groups, &tree->node_first);
  for (guint32 g = 0; g < n_groups; g++)
    key[g] = tree->group[g].parent;
  tree->child = list_by_key (tree->keep, key, n_groups, n_groups, &tree->child_first);
}

/* Where a group belongs in program order and in the previous picture follows from its members. */
static void
place_in_order (LayTree *tree)
{
  const GantryLayoutInput *input = tree->input;

  for (guint32 g = 0; g <= tree->root; g++)
    tree->group[g].hint = G_MAXUINT32;
  for (guint32 v = 0; v < input->n_nodes; v++)
    {
      LayGroup *group = &tree->group[lay_tree_group_of (tree, v)];

      group->hint = MIN (group->hint, input->order_hint != NULL ? input->order_hint[v] : v);
      if (input->previous_x != NULL && isfinite (input->previous_x[v]))
        {
          group->previous += input->previous_x[v];
          group->n_previous++;
        }
    }
  for (guint32 i = 0; i < tree->root; i++)
    {
      LayGroup *group = &tree->group[tree->inside_out[i]];
      LayGroup *parent = &tree->group[group->parent];

      parent->hint = MIN (parent->hint, group->hint);
      parent->previous += group->previous;
      parent->n_previous += group->n_previous;
    }
  for (guint32 g = 0; g <= tree->root; g++)
    tree->group[g].previous = tree->group[g].n_previous > 0 ? tree->group[g].previous / tree->group[g].n_previous : NAN;
}

/* --- edges ----------------------------------------------------------------------------------- */

static guint32
value_of (const GantryLayoutInput *input, guint32 e)
{
  return input->edge_value != NULL ? input->edge_value[e] : 0;
}

static guint8
class_of (const GantryLayoutInput *input, guint32 e)
{
  return input->edge_class != NULL ? input->edge_class[e] : GANTRY_LAYOUT_EDGE_FLOW;
}

static gint
compare_edges (gconstpointer a, gconstpointer b, gpointer data)
{
  const GantryLayoutInput *input = data;
  guint32 e = *(const guint32 *) a;
  guint32 f = *(const guint32 *) b;

  if (value_of (input, e) != value_of (input, f))
    return value_of (input, e) < value_of (input, f) ? -1 : 1;
  if (class_of (input, e) != class_of (input, f))
    return class_of (input, e) < class_of (input, f) ? -1 : 1;
  return e < f ? -1 : e > f;
}

/* All edges, those of one net together. */
static guint32 *
sort_edges (LayTree *tree, LayScratch *scratch)
{
  const GantryLayoutInput *input = tree->input;
  guint32 *first;
  guint32 *list = list_by_key (scratch, input->tail, input->n_edges, input->n_nodes, &first);

  if (input->edge_value != NULL || input->edge_class != NULL)
    for (guint32 v = 0; v < input->n_nodes; v++)
      if (first[v + 1] - first[v] > 1)
        g_qsort_with_data (list + first[v], (gint) (first[v + 1] - first[v]), sizeof *list, compare_edges, (gpointer) input);
  return list;
}

/* Cuts edges, one after the other; without an array of parts it only counts them. */
typedef struct
{
  LayTree *tree;
  guint32 n_parts;
  guint32 n_listed;
  guint32 net;
  /* The parts of this net that leave and enter each group, valid where the stamp is the net's. */
  guint32 *out_stamp;
  guint32 *out_part;
  guint32 *in_stamp;
  guint32 *in_part;
} Cutter;

static guint32
add_part (Cutter *cutter, const LayPart *part)
{
  if (cutter->tree->part != NULL)
    cutter->tree->part[cutter->n_parts] = *part;
  return cutter->n_parts++;
}

static void
list_part (Cutter *cutter, guint32 part)
{
  if (cutter->tree->part != NULL)
    cutter->tree->edge_part[cutter->n_listed] = part;
  cutter->n_listed++;
}

static guint32
find_common_group (const LayTree *tree, guint32 a, guint32 b)
{
  while (a != b)
    {
      if (tree->group[a].depth >= tree->group[b].depth)
        a = tree->group[a].parent;
      else
        b = tree->group[b].parent;
    }
  return a;
}

/* Leads a part out of every group up to the common one. */
static void
cut_way_out (Cutter *cutter, LayPart *at, guint32 common)
{
  while (at->group != common)
    {
      guint32 g = at->group;

      if (cutter->out_stamp[g] != cutter->net)
        {
          at->to_kind = LAY_END_BORDER;
          at->to = g;
          cutter->out_part[g] = add_part (cutter, at);
          cutter->out_stamp[g] = cutter->net;
        }
      list_part (cutter, cutter->out_part[g]);
      at->from_kind = LAY_END_GROUP;
      at->from = g;
      at->from_part = cutter->out_part[g];
      at->group = cutter->tree->group[g].parent;
    }
}

/* And into every group down to the one of the head. */
static void
cut_way_in (Cutter *cutter, LayPart *at, guint32 innermost)
{
  guint32 path[GANTRY_LAYOUT_MAX_NESTING + 1];
  guint32 length = 0;

  for (guint32 g = innermost; g != at->group; g = cutter->tree->group[g].parent)
    path[length++] = g;
  while (length > 0)
    {
      guint32 g = path[--length];

      if (cutter->in_stamp[g] != cutter->net)
        {
          at->to_kind = LAY_END_GROUP;
          at->to = g;
          cutter->in_part[g] = add_part (cutter, at);
          cutter->in_stamp[g] = cutter->net;
        }
      list_part (cutter, cutter->in_part[g]);
      at->from_kind = LAY_END_BORDER;
      at->from = cutter->in_part[g];
      at->from_part = LAY_NONE;
      at->group = g;
    }
}

static void
cut_edge (Cutter *cutter, guint32 e)
{
  LayTree *tree = cutter->tree;
  const GantryLayoutInput *input = tree->input;
  guint32 u = input->tail[e];
  guint32 v = input->head[e];
  guint32 innermost = lay_tree_group_of (tree, v);
  LayPart at = {
    .group = lay_tree_group_of (tree, u),
    .net = cutter->net,
    .hint = input->order_hint != NULL ? input->order_hint[u] : u,
    .from_kind = LAY_END_NODE,
    .from = u,
    .from_part = LAY_NONE,
    .klass = class_of (input, e),
  };

  if (tree->part != NULL)
    tree->edge_first[e] = cutter->n_listed;
  cut_way_out (cutter, &at, find_common_group (tree, at.group, innermost));
  cut_way_in (cutter, &at, innermost);
  at.to_kind = LAY_END_NODE;
  at.to = v;
  list_part (cutter, add_part (cutter, &at));
}

static gboolean
is_same_net (const GantryLayoutInput *input, guint32 e, guint32 f)
{
  return input->tail[e] == input->tail[f] && value_of (input, e) == value_of (input, f) && class_of (input, e) == class_of (input, f);
}

static void
cut_edges (Cutter *cutter, const guint32 *edges)
{
  const GantryLayoutInput *input = cutter->tree->input;

  cutter->n_parts = cutter->n_listed = 0;
  for (guint32 g = 0; g <= cutter->tree->root; g++)
    cutter->out_stamp[g] = cutter->in_stamp[g] = LAY_NONE;
  for (guint32 i = 0; i < input->n_edges; i++)
    {
      if (i == 0)
        cutter->net = 0;
      else if (!is_same_net (input, edges[i - 1], edges[i]))
        cutter->net++;
      cut_edge (cutter, edges[i]);
    }
}

static void
list_parts (LayTree *tree, LayScratch *scratch)
{
  guint32 *key = LAY_NEW (scratch, guint32, tree->n_parts);

  for (guint32 p = 0; p < tree->n_parts; p++)
    key[p] = tree->part[p].group;
  tree->part_list = list_by_key (tree->keep, key, tree->n_parts, tree->root + 1, &tree->part_first);
}

/* How many parts there may be at most, before they are counted in 32 bits. */
static gboolean
check_part_count (const LayTree *tree, GError **error)
{
  const GantryLayoutInput *input = tree->input;
  guint64 most = 0;

  for (guint32 e = 0; e < input->n_edges; e++)
    most += 1 + tree->group[lay_tree_group_of (tree, input->tail[e])].depth + tree->group[lay_tree_group_of (tree, input->head[e])].depth;
  if (most < G_MAXUINT32 / 4)
    return TRUE;
  g_set_error (error, GANTRY_LAYOUT_ERROR, GANTRY_LAYOUT_ERROR_TOO_LARGE,
               "layout: %u edges cross up to %" G_GUINT64_FORMAT " borders of groups in all; fold some groups", input->n_edges, most);
  return FALSE;
}

/* Counts first, then cuts. Edges are listed net by net; edge_first says where, and the part that
 * ends at a node is the last of its edge. */
static void
cut_and_list (LayTree *tree, LayScratch *scratch)
{
  const GantryLayoutInput *input = tree->input;
  guint32 *edges = sort_edges (tree, scratch);
  guint32 n_groups = tree->root + 1;
  Cutter cutter = {
    .tree = tree,
    .out_stamp = LAY_NEW (scratch, guint32, n_groups),
    .out_part = LAY_NEW (scratch, guint32, n_groups),
    .in_stamp = LAY_NEW (scratch, guint32, n_groups),
    .in_part = LAY_NEW (scratch, guint32, n_groups),
  };

  cut_edges (&cutter, edges);
  tree->n_parts = cutter.n_parts;
  tree->part = LAY_NEW (tree->keep, LayPart, cutter.n_parts);
  tree->edge_first = LAY_NEW (tree->keep, guint32, input->n_edges);
  tree->edge_part = LAY_NEW (tree->keep, guint32, cutter.n_listed);
  cut_edges (&cutter, edges);
  list_parts (tree, scratch);
}

gboolean
lay_tree_init (LayTree *tree, const GantryLayoutInput *input, LayScratch *keep, LayScratch *scratch, GError **error)
{
  *tree = (LayTree){ .input = input, .keep = keep, .root = input->n_groups };
  tree->group = LAY_NEW (keep, LayGroup, (gsize) tree->root + 1);
  tree->inside_out = LAY_NEW (keep, guint32, (gsize) tree->root + 1);
  tree->box = LAY_NEW (keep, LayBox, input->n_nodes);
  tree->local = LAY_NEW (keep, guint32, (gsize) input->n_nodes + tree->root);
  if (!measure_depths (tree, error))
    return FALSE;
  sort_inside_out (tree);
  if (!check_part_count (tree, error))
    return FALSE;

  LayMark mark = lay_scratch_mark (scratch);

  list_members (tree, scratch);
  place_in_order (tree);
  cut_and_list (tree, scratch);
  lay_scratch_release (scratch, mark);
  return TRUE;
}
