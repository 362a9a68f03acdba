/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every layout must satisfy: boxes apart, members inside their groups, routes complete and
 * clear of boxes.
 */
#include "tests/drawing/layout/layout-check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A node or a group, for the sweep over all boxes. */
typedef struct
{
  GantryLayoutBox box;
  guint32 index;
  gboolean is_group;
} Item;

static guint32
group_of (const GantryLayoutInput *input, guint32 v)
{
  return input->group != NULL ? input->group[v] : GANTRY_LAYOUT_NO_GROUP;
}

static guint32
parent_of (const GantryLayoutInput *input, guint32 g)
{
  return input->group_parent != NULL ? input->group_parent[g] : GANTRY_LAYOUT_NO_GROUP;
}

/* Whether a node lies in a group or in one of the groups in it. */
static gboolean
is_member (const GantryLayoutInput *input, guint32 v, guint32 group)
{
  for (guint32 g = group_of (input, v); g != GANTRY_LAYOUT_NO_GROUP; g = parent_of (input, g))
    if (g == group)
      return TRUE;
  return FALSE;
}

static gboolean
is_inside (const GantryLayoutInput *input, guint32 inner, guint32 outer)
{
  for (guint32 g = inner; g != GANTRY_LAYOUT_NO_GROUP; g = parent_of (input, g))
    if (g == outer)
      return TRUE;
  return FALSE;
}

static gboolean
overlap (const GantryLayoutBox *a, const GantryLayoutBox *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height;
}

static gboolean
contains (const GantryLayoutBox *outer, const GantryLayoutBox *inner)
{
  return outer->x <= inner->x && outer->y <= inner->y && inner->x + inner->width <= outer->x + outer->width
         && inner->y + inner->height <= outer->y + outer->height;
}

static int
compare_items (const void *a, const void *b)
{
  const Item *p = a;
  const Item *q = b;

  return p->box.y < q->box.y ? -1 : p->box.y > q->box.y;
}

static gboolean
may_overlap (const GantryLayoutInput *input, const Item *a, const Item *b)
{
  if (a->is_group && b->is_group)
    return is_inside (input, a->index, b->index) || is_inside (input, b->index, a->index);
  if (a->is_group)
    return is_member (input, b->index, a->index);
  return b->is_group && is_member (input, a->index, b->index);
}

static void
check_sizes (const GantryLayoutInput *input, const GantryLayout *layout)
{
  GantryLayoutBox page = { 0, 0, layout->width, layout->height };

  g_assert_cmpuint (layout->n_nodes, ==, input->n_nodes);
  g_assert_cmpuint (layout->n_edges, ==, input->n_edges);
  g_assert_cmpuint (layout->n_groups, ==, input->n_groups);
  for (guint32 v = 0; v < input->n_nodes; v++)
    {
      const GantryLayoutBox *box = &layout->node[v];

      g_assert_cmpfloat (box->width, >=, input->width[v]);
      g_assert_cmpfloat (box->width, <, input->width[v] + 2);
      g_assert_cmpfloat (box->height, >=, input->height[v]);
      g_assert_cmpfloat (box->height, <, input->height[v] + 2);
      g_assert_true (contains (&page, box));
    }
  for (guint32 g = 0; g < input->n_groups; g++)
    {
      g_assert_true (contains (&page, &layout->group[g]));
      if (input->group_min_width != NULL)
        g_assert_cmpfloat (layout->group[g].width, >=, input->group_min_width[g]);
    }
}

static void
check_groups (const GantryLayoutInput *input, const GantryLayout *layout)
{
  for (guint32 v = 0; v < input->n_nodes; v++)
    if (group_of (input, v) != GANTRY_LAYOUT_NO_GROUP)
      g_assert_true (contains (&layout->group[group_of (input, v)], &layout->node[v]));
  for (guint32 g = 0; g < input->n_groups; g++)
    if (parent_of (input, g) != GANTRY_LAYOUT_NO_GROUP)
      g_assert_true (contains (&layout->group[parent_of (input, g)], &layout->group[g]));
}

/* Boxes are apart unless one is a group and the other in it. */
static void
check_apart (const GantryLayoutInput *input, const GantryLayout *layout)
{
  guint32 n = input->n_nodes + input->n_groups;
  g_autofree Item *item = g_new (Item, MAX (n, 1));

  for (guint32 i = 0; i < n; i++)
    {
      gboolean is_group = i >= input->n_nodes;
      guint32 index = is_group ? i - input->n_nodes : i;

      item[i] = (Item){ is_group ? layout->group[index] : layout->node[index], index, is_group };
    }
  qsort (item, n, sizeof *item, compare_items);
  for (guint32 i = 0; i < n; i++)
    for (guint32 k = i + 1; k < n && item[k].box.y < item[i].box.y + item[i].box.height; k++)
      if (overlap (&item[i].box, &item[k].box))
        g_assert_true (may_overlap (input, &item[i], &item[k]));
}

static void
check_attached (const GantryLayoutBox *box, const GantryLayoutPoint *point)
{
  g_assert_cmpfloat (point->x, >=, box->x);
  g_assert_cmpfloat (point->x, <=, box->x + box->width);
  g_assert_true (point->y == box->y || point->y == box->y + box->height);
}

/* One straight run of an edge, and what it may touch. */
typedef struct
{
  const GantryLayoutInput *input;
  const GantryLayout *layout;
  guint32 edge;
  GantryLayoutBox run;
} Run;

/* A run that lies within a box, more than along its border. */
static gboolean
cuts (const GantryLayoutBox *run, const GantryLayoutBox *box)
{
  return run->x < box->x + box->width && box->x < run->x + run->width && run->y < box->y + box->height && box->y < run->y + run->height;
}

static gboolean
check_crossed (GantryLayoutItemKind kind, guint32 index, gpointer user_data)
{
  const Run *run = user_data;

  if (kind == GANTRY_LAYOUT_ITEM_NODE)
    g_assert_false (cuts (&run->run, &run->layout->node[index]));
  else if (kind == GANTRY_LAYOUT_ITEM_GROUP && cuts (&run->run, &run->layout->group[index]))
    g_assert_true (is_member (run->input, run->input->tail[run->edge], index) || is_member (run->input, run->input->head[run->edge], index));
  return TRUE;
}

static void
check_route (const GantryLayoutInput *input, const GantryLayout *layout, guint32 e)
{
  guint32 first = layout->edge_first[e];
  guint32 past = layout->edge_first[e + 1];
  const GantryLayoutPoint *points = layout->points;

  g_assert_cmpuint (past, >=, first + 2);
  g_assert_cmpuint (past, <=, layout->n_points);
  check_attached (&layout->node[input->tail[e]], &points[first]);
  check_attached (&layout->node[input->head[e]], &points[past - 1]);
  for (guint32 i = first; i + 1 < past; i++)
    {
      float dx = points[i + 1].x - points[i].x;
      float dy = points[i + 1].y - points[i].y;
      Run run = { input, layout, e, { MIN (points[i].x, points[i + 1].x), MIN (points[i].y, points[i + 1].y), fabsf (dx), fabsf (dy) } };

      g_assert_true (isfinite (dx) && isfinite (dy));
      g_assert_true (dx == 0 || dy == 0);
      g_assert_cmpfloat (run.run.x, >=, 0);
      g_assert_cmpfloat (run.run.y, >=, 0);
      g_assert_cmpfloat (run.run.x + run.run.width, <=, layout->width);
      g_assert_cmpfloat (run.run.y + run.run.height, <=, layout->height);
      gantry_layout_query (layout, &run.run, check_crossed, &run);
    }
}

void
layout_check (const GantryLayoutInput *input, const GantryLayout *layout)
{
  check_sizes (input, layout);
  check_groups (input, layout);
  check_apart (input, layout);
  g_assert_cmpuint (layout->edge_first[0], ==, 0);
  g_assert_cmpuint (layout->edge_first[input->n_edges], ==, layout->n_points);
  for (guint32 e = 0; e < input->n_edges; e++)
    check_route (input, layout, e);
  g_assert_cmpuint (layout->bytes, >, 0);
  g_assert_cmpuint (layout->peak_bytes, >=, layout->bytes);
}

void
layout_check_same (const GantryLayout *a, const GantryLayout *b)
{
  g_assert_cmpuint (a->n_points, ==, b->n_points);
  g_assert_cmpmem (a->node, a->n_nodes * sizeof *a->node, b->node, b->n_nodes * sizeof *b->node);
  g_assert_cmpmem (a->group, a->n_groups * sizeof *a->group, b->group, b->n_groups * sizeof *b->group);
  g_assert_cmpmem (a->edge_first, (a->n_edges + 1) * sizeof *a->edge_first, b->edge_first, (b->n_edges + 1) * sizeof *b->edge_first);
  g_assert_cmpmem (a->points, a->n_points * sizeof *a->points, b->points, b->n_points * sizeof *b->points);
  g_assert_cmpfloat (a->width, ==, b->width);
  g_assert_cmpfloat (a->height, ==, b->height);
  g_assert_cmpuint (a->n_folded, ==, b->n_folded);
  g_assert_cmpuint (a->bytes, ==, b->bytes);
}
