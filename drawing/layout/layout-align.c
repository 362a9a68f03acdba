/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which vertices stand exactly below each other: the blocks, which are placed as rigid columns
 * afterwards.
 *
 * The idea of aligning along links that do not cross, and so never get in each other's way, is from
 * Brandes and Koepf 2001. The choice is ours and made for computation graphs: the bends of one net
 * first, so that long edges are straight; then the main line of the program, which goes through the
 * middle of parallel branches, takes the longest way where there are two, and, where branches join,
 * continues the oldest column.
 */
#include "drawing/layout/layout-private.h"

#include <stdlib.h>

typedef struct
{
  LayLevel *level;
  guint8 *taken; /* something in the row below is aligned with it */
  guint32 *main; /* link to the main continuation */
  gint32 *top;   /* row in which the column of each vertex begins */
} Aligner;

/* Vertices of a link as seen on the page. */
static void
ends_of (const LayLevel *level, guint32 link, guint32 *above, guint32 *below)
{
  const LayLink *it = &level->link[link];
  const LayWire *wire = &level->wire[it->wire];

  *above = wire->face == LAY_BOTTOM ? wire->from : it->to;
  *below = wire->face == LAY_BOTTOM ? it->to : wire->from;
}

/* Length of the longest path through a link. */
gint32
lay_link_path (const LayLevel *level, guint32 link)
{
  const LayVertex *from = &level->vertex[level->wire[level->link[link].wire].from];
  const LayVertex *to = &level->vertex[level->link[link].to];

  return from->depth + 1 + to->tail;
}

gboolean
lay_link_is_plain (const LayLevel *level, guint32 link)
{
  const LayVertex *from = &level->vertex[level->wire[level->link[link].wire].from];
  const LayVertex *to = &level->vertex[level->link[link].to];

  return lay_vertex_is_base (from) && lay_vertex_is_base (to) && from->side == to->side && level->link[link].klass == GANTRY_LAYOUT_EDGE_FLOW;
}

gint
lay_compare_positions (gconstpointer a, gconstpointer b, gpointer data)
{
  const LayVertex *vertex = data;
  guint32 u = vertex[((const LayNeighbour *) a)->vertex].pos;
  guint32 v = vertex[((const LayNeighbour *) b)->vertex].pos;

  return u < v ? -1 : u > v;
}

/* The link that the column of an upper vertex continues along: with three branches or more the
 * middle one, with two the one on the longer path. */
static guint32
main_continuation (const LayLevel *level, guint32 v, LayNeighbour *list)
{
  guint32 n = 0;

  for (guint32 k = level->down_first[v]; k < level->down_first[v + 1]; k++)
    if (lay_link_is_plain (level, level->down[k].link))
      list[n++] = level->down[k];
  if (n == 0)
    return LAY_NONE;
  if (n > 1)
    g_qsort_with_data (list, (gint) n, sizeof *list, lay_compare_positions, level->vertex);

  guint32 left = (n - 1) / 2;
  guint32 right = n / 2;

  if (lay_link_path (level, list[right].link) > lay_link_path (level, list[left].link))
    left = right;
  return list[left].link;
}

static LayGrade
grade_link (const Aligner *aligner, guint32 link)
{
  const LayLevel *level = aligner->level;
  const LayLink *it = &level->link[link];
  const LayVertex *from = &level->vertex[level->wire[it->wire].from];
  const LayVertex *to = &level->vertex[it->to];
  guint32 above;
  guint32 below;

  if (from->kind == LAY_BEND && to->kind == LAY_BEND)
    return LAY_GRADE_TRUNK;
  if (it->klass != GANTRY_LAYOUT_EDGE_FLOW || from->side != to->side)
    return LAY_GRADE_NONE;
  if (from->kind == LAY_BEND || to->kind == LAY_BEND)
    return LAY_GRADE_STUB;
  ends_of (level, link, &above, &below);
  return aligner->main[above] == link ? LAY_GRADE_MAIN : LAY_GRADE_PLAIN;
}

/* Whether aligning along link a is better than along link b. */
static gboolean
is_better (const Aligner *aligner, guint32 a, guint32 b)
{
  guint32 above_a;
  guint32 above_b;
  guint32 below;
  gint32 difference = lay_link_path (aligner->level, a) - lay_link_path (aligner->level, b);

  if (ABS (difference) > LAY_EQUAL_PATHS)
    return difference > 0;
  ends_of (aligner->level, a, &above_a, &below);
  ends_of (aligner->level, b, &above_b, &below);
  if (aligner->top[above_a] != aligner->top[above_b])
    return aligner->top[above_a] < aligner->top[above_b];
  /* Through ports only program order tells the main line, which made its value last, from what was
   * saved before. */
  return aligner->level->vertex[above_a].kind == LAY_IN && aligner->level->vertex[above_b].kind == LAY_IN
         && aligner->level->vertex[above_a].hint > aligner->level->vertex[above_b].hint;
}

/* The best link of a grade up from v that crosses none accepted: strictly between the bounds. */
static guint32
choose_link (const Aligner *aligner, guint32 v, LayGrade grade, gint64 low, gint64 high)
{
  const LayLevel *level = aligner->level;
  guint32 best = LAY_NONE;

  for (guint32 k = level->up_first[v]; k < level->up_first[v + 1]; k++)
    {
      const LayNeighbour *up = &level->up[k];
      gint64 pos = level->vertex[up->vertex].pos;

      if (pos <= low || pos >= high || aligner->taken[up->vertex] || grade_link (aligner, up->link) != grade)
        continue;
      if (best == LAY_NONE || is_better (aligner, up->link, level->up[best].link))
        best = k;
    }
  return best;
}

/* Axes are in a row already. Where two cross, the right one is broken. */
static void
take_axes (Aligner *aligner, const guint32 *row, guint32 n)
{
  const LayLevel *level = aligner->level;
  gint64 low = -1;

  for (guint32 i = 0; i < n; i++)
    {
      guint32 u = level->above[row[i]];

      if (u == LAY_NONE)
        continue;
      if (level->vertex[u].pos > low)
        {
          low = level->vertex[u].pos;
          aligner->top[row[i]] = aligner->top[u];
          continue;
        }
      level->above[row[i]] = LAY_NONE;
      aligner->taken[u] = FALSE;
    }
}

/* Aligns the vertices of row r with those of the row above. high is working room, one for each
 * vertex of the row. */
static void
align_row (Aligner *aligner, gint32 r, gint64 *high)
{
  const LayLevel *level = aligner->level;
  const guint32 *row = level->order + level->row_first[r];
  guint32 n = level->row_first[r + 1] - level->row_first[r];

  take_axes (aligner, row, n);
  for (LayGrade grade = LAY_GRADE_TRUNK; grade < LAY_N_GRADES; grade++)
    {
      gint64 bound = G_MAXINT64;
      gint64 low = -1;

      for (guint32 i = n; i-- > 0;)
        {
          high[i] = bound;
          if (level->above[row[i]] != LAY_NONE)
            bound = level->vertex[level->above[row[i]]].pos;
        }
      for (guint32 i = 0; i < n; i++)
        {
          guint32 v = row[i];

          if (level->above[v] == LAY_NONE)
            {
              guint32 best = choose_link (aligner, v, grade, low, high[i]);

              if (best == LAY_NONE)
                continue;
              level->above[v] = level->up[best].vertex;
              level->through[v] = level->up[best].link;
              level->grade[v] = grade;
              aligner->taken[level->above[v]] = TRUE;
              aligner->top[v] = aligner->top[level->above[v]];
            }
          low = level->vertex[level->above[v]].pos;
        }
    }
}

static void
align_axes (Aligner *aligner)
{
  LayLevel *level = aligner->level;

  for (guint32 v = 0; v < level->n_base; v++)
    aligner->taken[v] = level->vertex[v].split;
  for (guint32 i = 0; i < level->n_axes; i++)
    {
      const LayAxis *axis = &level->axis[i];
      guint32 above = axis->fork;

      if (aligner->taken[axis->fork] || level->above[axis->join] != LAY_NONE)
        continue;
      for (guint32 k = 0; k <= axis->n_rows; k++)
        {
          guint32 v = k < axis->n_rows ? axis->first + k : axis->join;

          level->above[v] = above;
          level->through[v] = LAY_NONE;
          level->grade[v] = LAY_GRADE_AXIS;
          aligner->taken[above] = TRUE;
          above = v;
        }
    }
}

gboolean
lay_level_align (LayLevel *level, LayJob *job)
{
  guint32 n = level->n_vertices;
  guint32 widest = 0;

  level->above = LAY_NEW (&job->scratch, guint32, n);
  level->through = LAY_NEW (&job->scratch, guint32, n);
  level->grade = LAY_NEW (&job->scratch, guint8, n);

  LayMark mark = lay_scratch_mark (&job->scratch);
  Aligner aligner = {
    .level = level,
    .taken = LAY_NEW (&job->scratch, guint8, n),
    .main = LAY_NEW (&job->scratch, guint32, n),
    .top = LAY_NEW (&job->scratch, gint32, n),
  };
  LayNeighbour *list = LAY_NEW (&job->scratch, LayNeighbour, level->n_links);

  for (guint32 v = 0; v < n; v++)
    {
      level->above[v] = LAY_NONE;
      aligner.top[v] = level->vertex[v].row;
      aligner.main[v] = main_continuation (level, v, list);
    }
  for (gint32 r = 0; r < level->n_rows; r++)
    widest = MAX (widest, level->row_first[r + 1] - level->row_first[r]);

  align_axes (&aligner);

  gint64 *high = LAY_NEW (&job->scratch, gint64, widest);

  for (gint32 r = 1; r < level->n_rows; r++)
    align_row (&aligner, r, high);
  lay_scratch_release (&job->scratch, mark);
  return !lay_job_cancelled (job);
}
