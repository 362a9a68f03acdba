/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes: where long nets run beside the columns.
 *
 * A lane passes many rows. It stands as near as the widest of them allows, to the left or the
 * right, whichever is nearer to its ends. Short lanes are placed first, so nested ones lie around
 * each other like the layers of an onion and do not cross.
 */
#include "drawing/layout/layout-private.h"

#include <stdlib.h>

typedef struct
{
  guint32 vertex;
  gint32 first; /* row */
  gint32 last;
  gint64 ends_sum; /* of the x of what it is linked with */
  guint32 n_ends;
} Lane;

static gint
compare_lanes (gconstpointer a, gconstpointer b)
{
  const Lane *p = a;
  const Lane *q = b;
  gint32 span_p = p->last - p->first;
  gint32 span_q = q->last - q->first;

  if (span_p != span_q)
    return span_p < span_q ? -1 : 1;
  return p->vertex < q->vertex ? -1 : p->vertex > q->vertex;
}

static gint32
middle_of (const LayVertex *vertex)
{
  return vertex->x + vertex->w / 2;
}

static Lane *
list_lanes (LayLevel *level, LayJob *job, guint32 *n_out)
{
  guint32 n = 0;

  for (guint32 v = level->n_base; v < level->n_vertices; v++)
    n += level->vertex[v].kind == LAY_LANE;

  Lane *lane = LAY_NEW (&job->scratch, Lane, n);
  guint32 *lane_of = LAY_NEW (&job->scratch, guint32, level->n_vertices);

  n = 0;
  for (guint32 v = level->n_base; v < level->n_vertices; v++)
    if (level->vertex[v].kind == LAY_LANE)
      {
        lane_of[v] = n;
        lane[n++] = (Lane){ .vertex = v, .first = level->vertex[v].row, .last = (gint32) level->vertex[v].pos };
      }
  for (guint32 k = 0; k < level->n_links; k++)
    {
      guint32 u = level->wire[level->link[k].wire].from;
      guint32 v = level->link[k].to;

      for (guint swap = 0; swap < 2; swap++)
        {
          guint32 end = swap ? u : v;
          guint32 mine = swap ? v : u;

          if (level->vertex[mine].kind != LAY_LANE || level->vertex[end].kind == LAY_LANE)
            continue;
          lane[lane_of[mine]].ends_sum += middle_of (&level->vertex[end]);
          lane[lane_of[mine]].n_ends++;
        }
    }
  *n_out = n;
  return lane;
}

gboolean
lay_level_lanes (LayLevel *level, LayJob *job)
{
  LayMark mark = lay_scratch_mark (&job->scratch);
  LaySky right;
  LaySky left; /* the left ends, negated */
  guint32 n;
  Lane *lane = list_lanes (level, job, &n);

  lay_sky_init (&right, &job->scratch, (guint32) level->n_rows, G_MININT32 / 4);
  lay_sky_init (&left, &job->scratch, (guint32) level->n_rows, G_MININT32 / 4);
  for (gint32 r = 0; r < level->n_rows && n > 0; r++)
    {
      guint32 begin = level->row_first[r];
      guint32 past = level->row_first[r + 1];

      if (begin == past)
        continue;
      const LayVertex *first = &level->vertex[level->order[begin]];
      const LayVertex *last = &level->vertex[level->order[past - 1]];

      lay_sky_raise (&left, (guint32) r, (guint32) r, -first->x + job->bend_gap - job->lane_gap);
      lay_sky_raise (&right, (guint32) r, (guint32) r, last->x + last->w + job->bend_gap - job->lane_gap);
    }
  qsort (lane, n, sizeof *lane, compare_lanes);
  for (guint32 i = 0; i < n; i++)
    {
      guint32 top = (guint32) lane[i].first;
      guint32 bottom = (guint32) lane[i].last;
      gint32 at_right = lay_sky_max (&right, top, bottom) + job->lane_gap;
      gint32 at_left = -(lay_sky_max (&left, top, bottom) + job->lane_gap);
      gint64 ends = lane[i].ends_sum / MAX (lane[i].n_ends, 1);
      LayVertex *vertex = &level->vertex[lane[i].vertex];

      if (at_right - ends <= ends - at_left)
        {
          vertex->x = at_right;
          lay_sky_raise (&right, top, bottom, at_right);
        }
      else
        {
          vertex->x = at_left;
          lay_sky_raise (&left, top, bottom, -at_left);
        }
      level->left = MIN (level->left, vertex->x);
      level->right = MAX (level->right, vertex->x);
      if (i % 1024 == 0 && lay_job_cancelled (job))
        return FALSE;
    }
  lay_scratch_release (&job->scratch, mark);
  return TRUE;
}
