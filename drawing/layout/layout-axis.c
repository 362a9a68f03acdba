/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Axes: an even number of parallel branches is centred between where they part and where they meet.
 *
 * Of three branches the middle one continues the column of the fork. Of two or four none does; so
 * that the column still goes straight on below them, an invisible vertex is put between the two
 * halves in every row, and fork, invisible vertices and join become one block. Where the halves
 * never meet, as in a tree, the fork ends its column and is placed in the middle over them.
 */
#include "drawing/layout/layout-private.h"

#include <stdlib.h>
#include <string.h>

enum
{
  MOST_ROWS = 48,     /* of a fork and join */
  MOST_VERTICES = 48, /* of one half in one row */
};

/* The part of one half of the branches in one row. */
typedef struct
{
  guint32 n;
  guint32 vertex[MOST_VERTICES];
} Front;

typedef struct
{
  LayLevel *level;
  GArray *axes;   /* LayAxis */
  GArray *places; /* guint32: after which position of its row each axis vertex stands */
} Finder;

static gboolean
front_has (const Front *front, guint32 v)
{
  for (guint32 i = 0; i < front->n; i++)
    if (front->vertex[i] == v)
      return TRUE;
  return FALSE;
}

/* The next row of a half, which may be empty; FALSE if it becomes too wide. */
static gboolean
advance (const LayLevel *level, Front *front)
{
  Front next = { 0 };

  for (guint32 i = 0; i < front->n; i++)
    for (guint32 k = level->down_first[front->vertex[i]]; k < level->down_first[front->vertex[i] + 1]; k++)
      {
        guint32 v = level->down[k].vertex;

        if (front_has (&next, v))
          continue;
        if (next.n == MOST_VERTICES)
          return FALSE;
        next.vertex[next.n++] = v;
      }
  *front = next;
  return TRUE;
}

/* How far right, or left, a half reaches in its row. */
static guint32
reach_of (const LayLevel *level, const Front *front, gboolean right)
{
  guint32 reach = level->vertex[front->vertex[0]].pos;

  for (guint32 i = 1; i < front->n; i++)
    {
      guint32 pos = level->vertex[front->vertex[i]].pos;

      reach = right ? MAX (reach, pos) : MIN (reach, pos);
    }
  return reach;
}

/* The one vertex in which both halves meet, if what else there is of them stays on its own side of
 * it. */
static guint32
find_join (const LayLevel *level, const Front *left, const Front *right)
{
  guint32 join = LAY_NONE;

  for (guint32 i = 0; i < left->n; i++)
    if (front_has (right, left->vertex[i]))
      {
        if (join != LAY_NONE)
          return LAY_NONE;
        join = left->vertex[i];
      }
  if (join == LAY_NONE || !lay_vertex_is_base (&level->vertex[join]) || reach_of (level, left, TRUE) > level->vertex[join].pos
      || reach_of (level, right, FALSE) < level->vertex[join].pos)
    return LAY_NONE;
  return join;
}

static gboolean
do_meet (const Front *left, const Front *right)
{
  for (guint32 i = 0; i < left->n; i++)
    if (front_has (right, left->vertex[i]))
      return TRUE;
  return FALSE;
}

/* Follows both halves down until they meet; notes the gap between them in each row. */
static void
follow_halves (Finder *finder, guint32 fork, Front *left, Front *right)
{
  const LayLevel *level = finder->level;
  LayAxis axis = { .fork = fork, .n_rows = 0, .first = finder->places->len };

  for (; axis.n_rows < MOST_ROWS; axis.n_rows++)
    {
      if (do_meet (left, right))
        {
          axis.join = find_join (level, left, right);
          if (axis.join != LAY_NONE && axis.n_rows > 0 && finder->places->len - axis.first == axis.n_rows
              && level->vertex[axis.join].side == level->vertex[fork].side)
            {
              g_array_append_val (finder->axes, axis);
              return;
            }
          break;
        }
      if (left->n == 0 && right->n == 0)
        {
          level->vertex[fork].split = TRUE;
          break;
        }
      if (left->n > 0 && right->n > 0)
        {
          guint32 gap = reach_of (level, left, TRUE);

          if (reach_of (level, right, FALSE) != gap + 1)
            break;
          g_array_append_val (finder->places, gap);
        }
      if (!advance (level, left) || !advance (level, right))
        break;
    }
  g_array_set_size (finder->places, axis.first);
}

/* A fork has an even number of branches, and if two, of about the same length. */
static void
try_fork (Finder *finder, guint32 fork)
{
  const LayLevel *level = finder->level;
  LayNeighbour branch[2 * MOST_VERTICES];
  guint32 n = 0;
  Front half[2] = { 0 };

  for (guint32 k = level->down_first[fork]; k < level->down_first[fork + 1]; k++)
    if (lay_link_is_plain (level, level->down[k].link))
      {
        if (n == G_N_ELEMENTS (branch))
          return;
        branch[n++] = level->down[k];
      }
  if (n == 0 || n % 2 == 1)
    return;
  if (n == 2 && ABS (lay_link_path (level, branch[0].link) - lay_link_path (level, branch[1].link)) > LAY_EQUAL_PATHS)
    return;
  g_qsort_with_data (branch, (gint) n, sizeof *branch, lay_compare_positions, level->vertex);
  for (guint32 i = 0; i < n; i++)
    {
      Front *mine = &half[i >= n / 2];

      if (!front_has (mine, branch[i].vertex))
        mine->vertex[mine->n++] = branch[i].vertex;
    }
  follow_halves (finder, fork, &half[0], &half[1]);
}

/* --- putting them in ------------------------------------------------------------------------- */

/* An axis vertex on its way into its row. */
typedef struct
{
  gint32 row;
  guint32 after;
  guint32 vertex;
} Entry;

static gint
compare_entries (gconstpointer a, gconstpointer b)
{
  const Entry *p = a;
  const Entry *q = b;

  if (p->row != q->row)
    return p->row < q->row ? -1 : 1;
  if (p->after != q->after)
    return p->after < q->after ? -1 : 1;
  return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

static guint32 *
lengthen (LayScratch *scratch, const guint32 *first, guint32 n_before, guint32 n_after)
{
  guint32 *longer = LAY_NEW (scratch, guint32, (gsize) n_after + 2);

  memcpy (longer, first, ((gsize) n_before + 1) * sizeof *first);
  for (guint32 v = n_before + 1; v <= n_after; v++)
    longer[v] = first[n_before];
  return longer;
}

/* The axis vertices become the last of the level's; they have no links. */
static Entry *
add_vertices (LayLevel *level, LayJob *job, const Finder *finder, LayScratch *scratch)
{
  guint32 before = level->n_vertices;
  guint32 after = before + finder->places->len;
  LayVertex *vertex = LAY_NEW (scratch, LayVertex, after);
  Entry *entry = LAY_NEW (scratch, Entry, finder->places->len);

  memcpy (vertex, level->vertex, before * sizeof *vertex);
  for (guint32 i = 0; i < finder->axes->len; i++)
    {
      LayAxis *axis = &g_array_index (finder->axes, LayAxis, i);

      for (guint32 k = 0; k < axis->n_rows; k++)
        {
          LayVertex *mine = &vertex[before + axis->first + k];

          mine->kind = LAY_AXIS;
          mine->side = vertex[axis->fork].side;
          mine->row = vertex[axis->fork].row + 1 + (gint32) k;
          entry[axis->first + k] = (Entry){ mine->row, g_array_index (finder->places, guint32, axis->first + k), before + axis->first + k };
        }
      axis->first += before;
    }
  level->vertex = vertex;
  level->n_vertices = after;
  level->up_first = lengthen (scratch, level->up_first, before, after);
  level->down_first = lengthen (scratch, level->down_first, before, after);
  return entry;
}

static void
merge_into_rows (LayLevel *level, Entry *entry, guint32 n, LayScratch *scratch)
{
  guint32 *order = LAY_NEW (scratch, guint32, level->row_first[level->n_rows] + n);
  guint32 filled = 0;
  guint32 next = 0;

  qsort (entry, n, sizeof *entry, compare_entries);
  for (gint32 r = 0; r < level->n_rows; r++)
    {
      guint32 begin = level->row_first[r];
      guint32 past = level->row_first[r + 1];

      /* Row r's own begin has been read by now, and its successor is not yet overwritten. */
      level->row_first[r] = filled;
      for (guint32 i = begin; i < past; i++)
        {
          order[filled++] = level->order[i];
          for (; next < n && entry[next].row == r && entry[next].after == i - begin; next++)
            order[filled++] = entry[next].vertex;
        }
      for (guint32 i = level->row_first[r]; i < filled; i++)
        level->vertex[order[i]].pos = i - level->row_first[r];
    }
  level->row_first[level->n_rows] = filled;
  level->order = order;
}

gboolean
lay_level_axes (LayLevel *level, LayJob *job)
{
  g_autoptr (GArray) axes = g_array_new (FALSE, FALSE, sizeof (LayAxis));
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (guint32));
  Finder finder = { level, axes, places };

  for (guint32 v = 0; v < level->n_base && places->len < level->n_vertices; v++)
    try_fork (&finder, v);
  if (axes->len > 0)
    {
      Entry *entry = add_vertices (level, job, &finder, &job->scratch);

      merge_into_rows (level, entry, places->len, &job->scratch);
      level->n_axes = axes->len;
      level->axis = LAY_NEW (&job->scratch, LayAxis, axes->len);
      memcpy (level->axis, axes->data, axes->len * sizeof (LayAxis));
    }
  return !lay_job_cancelled (job);
}
