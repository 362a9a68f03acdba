/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front of the layout: checks the input, lays out the groups inside out, and writes the result.
 */
#include "drawing/layout/layout.h"

#include "drawing/layout/layout-result-private.h"
#include "drawing/layout/layout-tree-private.h"

#include <math.h>

G_DEFINE_QUARK (gantry - layout - error - quark, gantry_layout_error)

/* Coordinates stay below this, so that sums of a few of them fit into 32 bits. */
#define MOST_EXTENT ((gint64) 1 << 30)

void
gantry_layout_params_init (GantryLayoutParams *params)
{
  g_return_if_fail (params != NULL);

  *params = (GantryLayoutParams){
    .node_gap = 24,
    .rank_gap = 36,
    .lane_gap = 8,
    .port_gap = 14,
    .group_padding = 16,
    .group_title = 24,
    .fold = GANTRY_LAYOUT_FOLD_AUTO,
  };
}

/* --- checks ---------------------------------------------------------------------------------- */

static gboolean
check_size (const char *what, guint32 index, const char *of_what, float size, GError **error)
{
  if (isfinite (size) && size >= 0 && size <= GANTRY_LAYOUT_MAX_SIZE)
    return TRUE;
  g_set_error (error, GANTRY_LAYOUT_ERROR, GANTRY_LAYOUT_ERROR_INPUT, "layout: %s of %s %u is %g; it must be from 0 to %g points", what, of_what, index,
               (double) size, (double) GANTRY_LAYOUT_MAX_SIZE);
  return FALSE;
}

static gboolean
check_index (const char *what, guint32 index, const char *of_what, guint32 value, guint32 n, GError **error)
{
  if (value < n)
    return TRUE;
  g_set_error (error, GANTRY_LAYOUT_ERROR, GANTRY_LAYOUT_ERROR_INPUT, "layout: %s of %s %u is %u, but there are only %u; give one that exists", what, of_what,
               index, value, n);
  return FALSE;
}

static gboolean
check_groups (const GantryLayoutInput *input, GError **error)
{
  for (guint32 g = 0; g < input->n_groups; g++)
    {
      if (input->group_parent != NULL && input->group_parent[g] != GANTRY_LAYOUT_NO_GROUP
          && !check_index ("the parent", g, "group", input->group_parent[g], input->n_groups, error))
        return FALSE;
      if (input->group_min_width != NULL && !check_size ("the title width", g, "group", input->group_min_width[g], error))
        return FALSE;
    }
  for (guint32 v = 0; input->group != NULL && v < input->n_nodes; v++)
    if (input->group[v] != GANTRY_LAYOUT_NO_GROUP && !check_index ("the group", v, "node", input->group[v], input->n_groups, error))
      return FALSE;
  return TRUE;
}

static gboolean
check_input (const GantryLayoutInput *input, GError **error)
{
  if ((guint64) input->n_nodes + input->n_edges + input->n_groups >= G_MAXINT32 / 8)
    {
      g_set_error (error, GANTRY_LAYOUT_ERROR, GANTRY_LAYOUT_ERROR_TOO_LARGE,
                   "layout: %u nodes, %u edges and %u groups are more than can be drawn; fold some groups", input->n_nodes, input->n_edges, input->n_groups);
      return FALSE;
    }
  for (guint32 v = 0; v < input->n_nodes; v++)
    if (!check_size ("the width", v, "node", input->width[v], error) || !check_size ("the height", v, "node", input->height[v], error))
      return FALSE;
  for (guint32 e = 0; e < input->n_edges; e++)
    {
      if (!check_index ("the tail", e, "edge", input->tail[e], input->n_nodes, error)
          || !check_index ("the head", e, "edge", input->head[e], input->n_nodes, error))
        return FALSE;
      if (input->edge_class != NULL && !check_index ("the class", e, "edge", input->edge_class[e], GANTRY_LAYOUT_EDGE_SAVED + 1, error))
        return FALSE;
    }
  return check_groups (input, error);
}

static gboolean
take_measure (const char *name, float value, gint32 *measure, GError **error)
{
  if (!isfinite (value) || value < 0 || value > 1000)
    {
      g_set_error (error, GANTRY_LAYOUT_ERROR, GANTRY_LAYOUT_ERROR_INPUT, "layout: %s is %g; it must be from 0 to 1000 points", name, (double) value);
      return FALSE;
    }
  *measure = (gint32) roundf (value);
  return TRUE;
}

static gboolean
take_params (LayJob *job, const GantryLayoutParams *params, GError **error)
{
  GantryLayoutParams defaults;

  if (params == NULL)
    {
      gantry_layout_params_init (&defaults);
      params = &defaults;
    }
  job->fold = params->fold == GANTRY_LAYOUT_FOLD_AUTO;
  if (!take_measure ("node_gap", params->node_gap, &job->node_gap, error) || !take_measure ("rank_gap", params->rank_gap, &job->rank_gap, error)
      || !take_measure ("lane_gap", params->lane_gap, &job->lane_gap, error) || !take_measure ("port_gap", params->port_gap, &job->port_gap, error)
      || !take_measure ("group_padding", params->group_padding, &job->group_padding, error)
      || !take_measure ("group_title", params->group_title, &job->group_title, error))
    return FALSE;
  job->bend_gap = (job->node_gap + job->lane_gap) / 2;
  return TRUE;
}

/* Boxes have even sizes, so that their middles are whole points. */
static gint32
even_size (float size)
{
  gint32 whole = (gint32) ceilf (size);

  return whole + whole % 2;
}

/* Everything side by side, or on top of each other with a track for every wire, is this large. */
static gboolean
check_extent (const LayTree *tree, const LayJob *job, GError **error)
{
  gint64 n_thin = 4 * ((gint64) tree->n_parts + tree->input->n_nodes + tree->root) + 64 * ((gint64) tree->root + 1);
  gint64 width = n_thin * (job->bend_gap + job->lane_gap);
  gint64 height = n_thin * job->lane_gap;

  for (guint32 v = 0; v < tree->input->n_nodes; v++)
    {
      width += tree->box[v].w + 2 * job->node_gap;
      height += tree->box[v].h + job->rank_gap + 32;
    }
  for (guint32 g = 0; g < tree->root; g++)
    {
      width += tree->group[g].min_width + 2 * (job->node_gap + job->group_padding) + 2;
      height += job->rank_gap + job->group_title + 2 * job->group_padding + 32;
    }
  if (MAX (width, height) <= MOST_EXTENT)
    return TRUE;
  g_set_error (error, GANTRY_LAYOUT_ERROR, GANTRY_LAYOUT_ERROR_TOO_LARGE,
               "layout: the drawing could be %" G_GINT64_FORMAT " points large; fold some groups or make boxes smaller", MAX (width, height));
  return FALSE;
}

/* --- result ---------------------------------------------------------------------------------- */

/* From places in the content of the group around to places in the drawing. */
static void
place_absolutely (LayTree *tree)
{
  for (guint32 i = tree->root + 1; i-- > 0;)
    {
      guint32 g = tree->inside_out[i];
      LayGroup *group = &tree->group[g];
      gint32 x = group->x + group->content_x;
      gint32 y = group->y + group->content_y;

      for (guint32 k = tree->child_first[g]; k < tree->child_first[g + 1]; k++)
        {
          LayGroup *child = &tree->group[tree->child[k]];

          child->x += x;
          child->y = y + (group->flipped ? group->content_h - child->y - child->h : child->y);
          child->flipped ^= group->flipped;
        }
      for (guint32 k = tree->node_first[g]; k < tree->node_first[g + 1]; k++)
        {
          LayBox *box = &tree->box[tree->node[k]];

          box->x += x;
          box->y = y + (group->flipped ? group->content_h - box->y - box->h : box->y);
          box->flipped ^= group->flipped;
        }
    }
}

/* Collects the points of a route, leaving out what lies on a straight line. */
typedef struct
{
  GantryLayoutPoint *points; /* NULL: only count */
  guint32 n;
  guint32 n_before; /* of the edges before */
  GantryLayoutPoint last[2];
} Pen;

static void
draw_to (Pen *pen, float x, float y)
{
  guint32 n = pen->n - pen->n_before;

  if (n >= 1 && pen->last[1].x == x && pen->last[1].y == y)
    return;
  if (n >= 2 && ((pen->last[0].x == pen->last[1].x && pen->last[1].x == x) || (pen->last[0].y == pen->last[1].y && pen->last[1].y == y)))
    pen->n--;
  else
    pen->last[0] = pen->last[1];
  pen->last[1] = (GantryLayoutPoint){ x, y };
  if (pen->points != NULL)
    pen->points[pen->n] = pen->last[1];
  pen->n++;
}

static void
draw_part (Pen *pen, const LayTree *tree, const LayPart *part)
{
  const LayGroup *group = &tree->group[part->group];
  gint32 x = group->x + group->content_x;
  gint32 y = group->y + group->content_y;

  for (guint32 i = 0; i < part->n_points; i++)
    {
      gint32 local = part->points[2 * i + 1];

      draw_to (pen, (float) (x + part->points[2 * i]), (float) (y + (group->flipped ? group->content_h - local : local)));
    }
}

/* Draws all edges; every route has at least two points. */
static void
draw_edges (Pen *pen, const LayTree *tree, guint32 *edge_first)
{
  for (guint32 e = 0; e < tree->input->n_edges; e++)
    {
      const LayPart *part;

      pen->n_before = pen->n;
      if (edge_first != NULL)
        edge_first[e] = pen->n;
      for (guint32 k = tree->edge_first[e];; k++)
        {
          part = &tree->part[tree->edge_part[k]];
          draw_part (pen, tree, part);
          if (part->to_kind == LAY_END_NODE)
            break;
        }
      if (pen->n - pen->n_before == 1)
        {
          if (pen->points != NULL)
            pen->points[pen->n] = pen->last[1];
          pen->n++;
        }
    }
  if (edge_first != NULL)
    edge_first[tree->input->n_edges] = pen->n;
}

/* Sets out the arrays of a result one after the other; with no block it only measures. */
typedef struct
{
  guint8 *block;
  gsize used;
} Shelf;

static gpointer
shelve (Shelf *shelf, gsize n, gsize size)
{
  gpointer at = shelf->block != NULL ? shelf->block + shelf->used : NULL;

  shelf->used += (n * size + 15) / 16 * 16;
  return at;
}

typedef struct
{
  LayResult *result;
  GantryLayoutBox *node;
  GantryLayoutBox *group;
  guint32 *edge_first;
  GantryLayoutPoint *points;
} Pages;

static gsize
set_out (guint8 *block, const GantryLayoutInput *input, guint32 n_points, guint32 n_entries, guint32 n_bounds, Pages *pages, LayIndex *index)
{
  Shelf shelf = { block, 0 };

  pages->result = shelve (&shelf, 1, sizeof *pages->result);
  pages->node = shelve (&shelf, input->n_nodes, sizeof *pages->node);
  pages->group = shelve (&shelf, input->n_groups, sizeof *pages->group);
  pages->edge_first = shelve (&shelf, (gsize) input->n_edges + 1, sizeof *pages->edge_first);
  pages->points = shelve (&shelf, n_points, sizeof *pages->points);
  index->bounds = shelve (&shelf, n_bounds, sizeof *index->bounds);
  index->item = shelve (&shelf, n_entries, sizeof *index->item);
  index->point = shelve (&shelf, n_entries, sizeof *index->point);
  return shelf.used;
}

static void
write_boxes (const LayTree *tree, Pages *pages, GantryLayout *layout)
{
  for (guint32 v = 0; v < layout->n_nodes; v++)
    {
      const LayBox *box = &tree->box[v];

      pages->node[v] = (GantryLayoutBox){ (float) box->x, (float) box->y, (float) box->w, (float) box->h };
      layout->n_folded += box->flipped;
    }
  for (guint32 g = 0; g < layout->n_groups; g++)
    {
      const LayGroup *group = &tree->group[g];

      pages->group[g] = (GantryLayoutBox){ (float) group->x, (float) group->y, (float) group->w, (float) group->h };
    }
}

/* How many entries the index will have depends on the routes, so these are drawn into working
 * memory first. */
static GantryLayout *
write_result (const LayTree *tree, LayScratch *scratch)
{
  const GantryLayoutInput *input = tree->input;
  Pen pen = { 0 };

  draw_edges (&pen, tree, NULL);

  guint32 n_points = pen.n;
  GantryLayoutPoint *points = LAY_NEW (scratch, GantryLayoutPoint, n_points);
  guint32 *edge_first = LAY_NEW (scratch, guint32, (gsize) input->n_edges + 1);
  GantryLayout draft = {
    .n_nodes = input->n_nodes,
    .n_edges = input->n_edges,
    .n_groups = input->n_groups,
    .n_points = n_points,
    .width = (float) tree->group[tree->root].w,
    .height = (float) tree->group[tree->root].h,
    .points = points,
    .edge_first = edge_first,
  };

  pen = (Pen){ .points = points };
  draw_edges (&pen, tree, edge_first);

  LayIndex index = { 0 };
  Pages pages;
  guint32 n_entries = lay_index_count_entries (&draft);
  guint32 n_bounds = lay_index_plan (&index, n_entries);
  gsize bytes = set_out (NULL, input, n_points, n_entries, n_bounds, &pages, &index);
  guint8 *block = g_malloc0 (bytes);

  scratch->count->held += bytes;
  scratch->count->peak = MAX (scratch->count->peak, scratch->count->held);
  set_out (block, input, n_points, n_entries, n_bounds, &pages, &index);
  memcpy (pages.points, points, n_points * sizeof *points);
  memcpy (pages.edge_first, edge_first, ((gsize) input->n_edges + 1) * sizeof *edge_first);
  write_boxes (tree, &pages, &draft);
  draft.node = pages.node;
  draft.group = pages.group;
  draft.points = pages.points;
  draft.edge_first = pages.edge_first;
  lay_index_build (&index, &draft, scratch);
  draft.bytes = bytes;
  draft.peak_bytes = scratch->count->peak;
  pages.result->layout = draft;
  pages.result->index = index;
  g_atomic_ref_count_init (&pages.result->references);
  return &pages.result->layout;
}

static void
take_sizes (LayTree *tree)
{
  const GantryLayoutInput *input = tree->input;

  for (guint32 v = 0; v < input->n_nodes; v++)
    {
      tree->box[v].w = even_size (input->width[v]);
      tree->box[v].h = even_size (input->height[v]);
    }
  for (guint32 g = 0; g < input->n_groups && input->group_min_width != NULL; g++)
    tree->group[g].min_width = even_size (input->group_min_width[g]);
}

static GantryLayout *
compute (const GantryLayoutInput *input, LayJob *job, LayScratch *keep, GError **error)
{
  LayTree tree;

  if (!lay_tree_init (&tree, input, keep, &job->scratch, error))
    return NULL;
  take_sizes (&tree);
  if (!check_extent (&tree, job, error))
    return NULL;
  for (guint32 i = 0; i <= tree.root; i++)
    if (lay_job_cancelled (job) || !lay_tree_layout_group (&tree, job, tree.inside_out[i]))
      {
        g_cancellable_set_error_if_cancelled (job->cancellable, error);
        return NULL;
      }
  place_absolutely (&tree);
  return write_result (&tree, &job->scratch);
}

GantryLayout *
gantry_layout_compute (const GantryLayoutInput *input, const GantryLayoutParams *params, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (input != NULL, NULL);
  g_return_val_if_fail (input->n_nodes == 0 || (input->width != NULL && input->height != NULL), NULL);
  g_return_val_if_fail (input->n_edges == 0 || (input->tail != NULL && input->head != NULL), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  LayJob job = { .cancellable = cancellable };
  LayCount count = { 0 };
  LayScratch keep;

  if (!check_input (input, error) || !take_params (&job, params, error))
    return NULL;
  lay_scratch_init (&job.scratch, &count);
  lay_scratch_init (&keep, &count);

  GantryLayout *layout = compute (input, &job, &keep, error);

  lay_scratch_clear (&keep);
  lay_scratch_clear (&job.scratch);
  return layout;
}

GantryLayout *
gantry_layout_ref (GantryLayout *layout)
{
  g_return_val_if_fail (layout != NULL, NULL);
  g_atomic_ref_count_inc (&((LayResult *) layout)->references);
  return layout;
}

void
gantry_layout_unref (GantryLayout *layout)
{
  g_return_if_fail (layout != NULL);
  if (g_atomic_ref_count_dec (&((LayResult *) layout)->references))
    g_free (layout);
}
