/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which row each vertex of a level stands in.
 *
 * Longest path from the sources, after the edges that close cycles have been set aside (depth-first
 * search), then two corrections that matter for computation graphs: a tree of constants hangs
 * directly over its consumer, and a vertex with more outputs than inputs moves down to them. Parts
 * that are not connected are packed on shelves. Nothing recurses: a computation graph is nearly as
 * deep as it is large.
 */
#include "drawing/layout/layout-private.h"

#include <math.h>

static gboolean
has_say (const LaySegment *segment)
{
  return segment->klass == GANTRY_LAYOUT_EDGE_FLOW && !segment->back && segment->from != segment->to;
}

/* Lists the segments at each vertex, in their order. */
static guint32 *
list_segments (LayLevel *level, LayJob *job, gboolean outgoing, guint32 **first_out)
{
  guint32 n = level->n_vertices;
  guint32 *first = LAY_NEW (&job->scratch, guint32, n + 2);
  guint32 *list = LAY_NEW (&job->scratch, guint32, level->n_segments);

  for (guint32 s = 0; s < level->n_segments; s++)
    if (has_say (&level->segment[s]))
      first[(outgoing ? level->segment[s].from : level->segment[s].to) + 2]++;
  for (guint32 v = 0; v < n; v++)
    first[v + 2] += first[v + 1];
  for (guint32 s = 0; s < level->n_segments; s++)
    if (has_say (&level->segment[s]))
      list[first[(outgoing ? level->segment[s].from : level->segment[s].to) + 1]++] = s;
  *first_out = first;
  return list;
}

static gint
compare_hints (gconstpointer a, gconstpointer b, gpointer data)
{
  const LayVertex *vertex = data;
  guint32 u = *(const guint32 *) a;
  guint32 v = *(const guint32 *) b;

  if (vertex[u].hint != vertex[v].hint)
    return vertex[u].hint < vertex[v].hint ? -1 : 1;
  return u < v ? -1 : u > v;
}

static guint32 *
sort_by_hint (LayLevel *level, LayJob *job)
{
  guint32 *list = LAY_NEW (&job->scratch, guint32, level->n_vertices);
  gboolean sorted = TRUE;

  for (guint32 v = 0; v < level->n_vertices; v++)
    {
      list[v] = v;
      sorted = sorted && (v == 0 || level->vertex[v - 1].hint <= level->vertex[v].hint);
    }
  if (!sorted)
    g_qsort_with_data (list, (gint) level->n_vertices, sizeof *list, compare_hints, level->vertex);
  return list;
}

/* Marks as back the segments that lead to a vertex on the search path. Searching from the sources
 * first keeps the natural direction; program order decides the rest. */
static void
break_cycles (LayLevel *level, LayJob *job, LayFlow *flow)
{
  LayMark mark = lay_scratch_mark (&job->scratch);
  guint32 n = level->n_vertices;
  guint8 *state = LAY_NEW (&job->scratch, guint8, n); /* 0 new, 1 on the path, 2 done */
  guint32 *path = LAY_NEW (&job->scratch, guint32, n);
  guint32 *next = LAY_NEW (&job->scratch, guint32, n);

  for (guint32 v = 0; v < n; v++)
    next[v] = flow->out_first[v];
  for (guint32 i = 0; i < 2 * n; i++)
    {
      guint32 root = flow->by_hint[i % n];
      guint32 depth = 0;

      if (state[root] != 0 || (i < n && flow->in_first[root] != flow->in_first[root + 1]))
        continue;
      path[depth++] = root;
      state[root] = 1;
      while (depth > 0)
        {
          guint32 v = path[depth - 1];

          if (next[v] == flow->out_first[v + 1])
            {
              state[v] = 2;
              depth--;
              continue;
            }
          LaySegment *segment = &level->segment[flow->out[next[v]++]];
          if (state[segment->to] == 1)
            segment->back = TRUE;
          else if (state[segment->to] == 0)
            {
              state[segment->to] = 1;
              path[depth++] = segment->to;
            }
        }
    }
  lay_scratch_release (&job->scratch, mark);
}

/* Tails before heads; among the free ones, program order. */
static void
sort_topologically (LayLevel *level, LayJob *job, LayFlow *flow)
{
  guint32 n = level->n_vertices;
  guint32 *missing = LAY_NEW (&job->scratch, guint32, n);
  guint32 filled = 0;

  flow->topological = LAY_NEW (&job->scratch, guint32, n);
  for (guint32 i = 0; i < n; i++)
    {
      guint32 v = flow->by_hint[i];

      missing[v] = flow->in_first[v + 1] - flow->in_first[v];
      if (missing[v] == 0)
        flow->topological[filled++] = v;
    }
  for (guint32 i = 0; i < filled; i++)
    {
      guint32 v = flow->topological[i];

      for (guint32 k = flow->out_first[v]; k < flow->out_first[v + 1]; k++)
        {
          guint32 w = level->segment[flow->out[k]].to;

          if (--missing[w] == 0)
            flow->topological[filled++] = w;
        }
    }
  g_assert (filled == n);
}

static void
measure_paths (LayLevel *level, const LayFlow *flow)
{
  LayVertex *vertex = level->vertex;

  for (guint32 i = 0; i < level->n_vertices; i++)
    {
      guint32 v = flow->topological[i];

      vertex[v].depth = 0;
      for (guint32 k = flow->in_first[v]; k < flow->in_first[v + 1]; k++)
        vertex[v].depth = MAX (vertex[v].depth, vertex[level->segment[flow->in[k]].from].depth + 1);
      vertex[v].row = vertex[v].depth;
    }
  for (guint32 i = level->n_vertices; i-- > 0;)
    {
      guint32 v = flow->topological[i];

      vertex[v].tail = 0;
      for (guint32 k = flow->out_first[v]; k < flow->out_first[v + 1]; k++)
        vertex[v].tail = MAX (vertex[v].tail, vertex[level->segment[flow->out[k]].to].tail + 1);
    }
}

/* A tree of constants is a vertex whose every ancestor serves nothing but it. */
static guint8 *
find_constant_trees (LayLevel *level, LayJob *job, const LayFlow *flow)
{
  guint8 *is_tree = LAY_NEW (&job->scratch, guint8, level->n_vertices);

  for (guint32 i = 0; i < level->n_vertices; i++)
    {
      guint32 v = flow->topological[i];

      is_tree[v] = level->vertex[v].kind != LAY_IN;
      for (guint32 k = flow->in_first[v]; is_tree[v] && k < flow->in_first[v + 1]; k++)
        {
          guint32 u = level->segment[flow->in[k]].from;

          is_tree[v] = is_tree[u] && flow->out_first[u + 1] - flow->out_first[u] == 1;
        }
    }
  return is_tree;
}

/* Moves down what gains by it. Longest path has already put everything as high as it can stand. */
static void
pull_down (LayLevel *level, LayJob *job, const LayFlow *flow)
{
  LayMark mark = lay_scratch_mark (&job->scratch);
  const guint8 *is_tree = find_constant_trees (level, job, flow);
  LayVertex *vertex = level->vertex;

  for (guint32 i = level->n_vertices; i-- > 0;)
    {
      guint32 v = flow->topological[i];
      guint32 n_out = flow->out_first[v + 1] - flow->out_first[v];
      guint32 n_in = flow->in_first[v + 1] - flow->in_first[v];
      gint32 lowest = G_MAXINT32;

      if (vertex[v].kind == LAY_IN || n_out == 0 || (!is_tree[v] && n_out <= n_in))
        continue;
      for (guint32 k = flow->out_first[v]; k < flow->out_first[v + 1]; k++)
        {
          guint32 w = level->segment[flow->out[k]].to;

          if (vertex[w].kind != LAY_OUT)
            lowest = MIN (lowest, vertex[w].row - 1);
        }
      if (lowest != G_MAXINT32)
        vertex[v].row = lowest;
    }
  lay_scratch_release (&job->scratch, mark);
}

/* --- parts that are not connected ------------------------------------------------------------ */

typedef struct
{
  guint32 first; /* in program order */
  guint32 n_vertices;
  gint32 n_rows;
  double area;
  double width;
} Part;

static guint32
find_root (guint32 *parent, guint32 v)
{
  while (parent[v] != v)
    {
      parent[v] = parent[parent[v]];
      v = parent[v];
    }
  return v;
}

/* Numbers the parts in program order; the parts of each vertex go to part_of. */
static guint32
find_parts (LayLevel *level, LayJob *job, const LayFlow *flow, guint32 *part_of)
{
  guint32 n = level->n_vertices;
  guint32 *parent = LAY_NEW (&job->scratch, guint32, n);
  guint32 *number = LAY_NEW (&job->scratch, guint32, n);
  guint32 n_parts = 0;

  for (guint32 v = 0; v < n; v++)
    {
      parent[v] = v;
      number[v] = LAY_NONE;
    }
  for (guint32 s = 0; s < level->n_segments; s++)
    {
      guint32 a = find_root (parent, level->segment[s].from);
      guint32 b = find_root (parent, level->segment[s].to);

      parent[MAX (a, b)] = MIN (a, b);
    }
  for (guint32 i = 0; i < n; i++)
    {
      guint32 root = find_root (parent, flow->by_hint[i]);

      if (number[root] == LAY_NONE)
        number[root] = n_parts++;
      part_of[flow->by_hint[i]] = number[root];
    }
  return n_parts;
}

static void
measure_parts (LayLevel *level, LayJob *job, const guint32 *part_of, Part *part, guint32 n_parts)
{
  for (guint32 p = 0; p < n_parts; p++)
    part[p] = (Part){ .first = p, .n_rows = 1 };
  for (guint32 v = 0; v < level->n_vertices; v++)
    {
      const LayVertex *vertex = &level->vertex[v];
      Part *mine = &part[part_of[v]];

      mine->n_vertices++;
      mine->n_rows = MAX (mine->n_rows, vertex->row + 1);
      mine->area += (double) (vertex->w + job->node_gap) * (vertex->h + job->rank_gap);
      mine->width += vertex->w + job->node_gap;
    }
  for (guint32 p = 0; p < n_parts; p++)
    part[p].width /= part[p].n_rows;
}

/* Parts of one vertex last, else program order. */
static gint
compare_parts (gconstpointer a, gconstpointer b)
{
  const Part *p = a;
  const Part *q = b;

  if ((p->n_vertices == 1) != (q->n_vertices == 1))
    return p->n_vertices == 1 ? 1 : -1;
  return p->first < q->first ? -1 : p->first > q->first;
}

/* Side by side while they fit into a page of pleasant shape, then on a new shelf below. */
static void
shelve_parts (LayLevel *level, LayJob *job, const LayFlow *flow)
{
  LayMark mark = lay_scratch_mark (&job->scratch);
  guint32 *part_of = LAY_NEW (&job->scratch, guint32, level->n_vertices);
  guint32 n_parts = find_parts (level, job, flow, part_of);

  if (n_parts > 1)
    {
      Part *part = LAY_NEW (&job->scratch, Part, n_parts);
      gint32 *base = LAY_NEW (&job->scratch, gint32, n_parts);
      double area = 0;
      double widest = 0;
      double used = 0;
      gint32 shelf = 0;
      gint32 shelf_rows = 0;

      measure_parts (level, job, part_of, part, n_parts);
      qsort (part, n_parts, sizeof *part, compare_parts);
      for (guint32 p = 0; p < n_parts; p++)
        {
          area += part[p].area;
          widest = MAX (widest, part[p].width);
        }
      double page = MAX (widest, sqrt (area * 1.8)) + 1;
      for (guint32 p = 0; p < n_parts; p++)
        {
          if (used > 0 && used + part[p].width > page)
            {
              shelf += shelf_rows;
              shelf_rows = 0;
              used = 0;
            }
          base[part[p].first] = shelf;
          used += part[p].width;
          shelf_rows = MAX (shelf_rows, part[p].n_rows);
        }
      for (guint32 v = 0; v < level->n_vertices; v++)
        if (level->vertex[v].kind != LAY_IN)
          level->vertex[v].row += base[part_of[v]];
    }
  lay_scratch_release (&job->scratch, mark);
}

static gboolean
is_port (const LayVertex *vertex)
{
  return vertex->kind == LAY_IN || vertex->kind == LAY_OUT;
}

/* The ports of the upper border stand in a row above all, those of the lower border in one below;
 * rows that nobody stands in go. */
static void
settle_rows (LayLevel *level, LayJob *job)
{
  LayMark mark = lay_scratch_mark (&job->scratch);
  gint32 least = G_MAXINT32;
  gint32 most = G_MININT32;

  for (guint32 v = 0; v < level->n_vertices; v++)
    if (!is_port (&level->vertex[v]))
      {
        least = MIN (least, level->vertex[v].row);
        most = MAX (most, level->vertex[v].row);
      }
  if (least > most)
    least = most = 0;

  guint32 n_raw = (guint32) (most - least) + 3;
  gint32 *row = LAY_NEW (&job->scratch, gint32, n_raw);
  gint32 n_rows = 0;

  for (guint32 v = 0; v < level->n_vertices; v++)
    {
      LayVertex *vertex = &level->vertex[v];

      if (is_port (vertex))
        vertex->row = vertex->kind == LAY_IN ? least - 1 : most + 1;
      vertex->row -= least - 1;
      row[vertex->row] = 1;
    }
  for (guint32 r = 0; r < n_raw; r++)
    row[r] = row[r] != 0 ? n_rows++ : -1;
  for (guint32 v = 0; v < level->n_vertices; v++)
    level->vertex[v].row = row[level->vertex[v].row];
  level->n_rows = n_rows;
  lay_scratch_release (&job->scratch, mark);
}

gboolean
lay_level_rank (LayLevel *level, LayJob *job)
{
  LayMark mark = lay_scratch_mark (&job->scratch);
  LayFlow flow = { 0 };

  flow.by_hint = sort_by_hint (level, job);
  flow.out = list_segments (level, job, TRUE, &flow.out_first);
  flow.in = list_segments (level, job, FALSE, &flow.in_first);
  break_cycles (level, job, &flow);
  flow.out = list_segments (level, job, TRUE, &flow.out_first);
  flow.in = list_segments (level, job, FALSE, &flow.in_first);
  sort_topologically (level, job, &flow);
  measure_paths (level, &flow);
  pull_down (level, job, &flow);
  if (lay_job_cancelled (job))
    return FALSE;
  shelve_parts (level, job, &flow);
  if (job->fold && !lay_level_fold (level, job, &flow))
    return FALSE;
  settle_rows (level, job);
  lay_scratch_release (&job->scratch, mark);
  return TRUE;
}
