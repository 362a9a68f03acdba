/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding: a level whose long segments are nested around a turning point is drawn as two columns.
 *
 * In a training step each value saved by the forward pass is used at the mirrored place of the
 * backward pass: thousands of segments, each thousands of ranks long. Drawn with everything below
 * the turning point turned up again beside the first half, they are short and level. The turning
 * point is the weighted median of the middles of the long segments; the level is folded only if
 * that makes its segments much shorter in all.
 */
#include "drawing/layout/layout-private.h"

enum
{
  LONG_SPAN = 16,   /* ranks */
  LEAST_LONG = 8,   /* long nets, else there is nothing to gain */
  LEAST_SHARE = 24, /* one net in so many must be long */
  SLIDES = 4,       /* passes that draw mirrored rows together */
};

static gint32
span_of (const LayLevel *level, const LaySegment *segment)
{
  return ABS (level->vertex[segment->to].row - level->vertex[segment->from].row);
}

/* The farthest of the segments of one net that begin at s; they share a trunk, so no other adds to
 * the length. s moves on to the next net. */
static const LaySegment *
next_net (const LayLevel *level, guint32 *s)
{
  const LaySegment *farthest = &level->segment[*s];

  for (guint32 net = farthest->net; *s < level->n_segments && level->segment[*s].net == net; (*s)++)
    if (span_of (level, &level->segment[*s]) > span_of (level, farthest))
      farthest = &level->segment[*s];
  return farthest;
}

/* The row sum (twice the middle) that halves the length of all long nets; -1 if there are few. */
static gint32
find_turn (LayLevel *level, LayJob *job, gint32 n_rows)
{
  gint64 *weight = LAY_NEW (&job->scratch, gint64, 2 * (gsize) n_rows);
  gint64 total = 0;
  guint32 n_long = 0;

  for (guint32 s = 0; s < level->n_segments;)
    {
      const LaySegment *segment = next_net (level, &s);
      gint32 span = span_of (level, segment);

      if (span <= LONG_SPAN)
        continue;
      n_long++;
      total += span;
      weight[level->vertex[segment->to].row + level->vertex[segment->from].row] += span;
    }
  if (n_long < LEAST_LONG || n_long < level->n_nets / LEAST_SHARE)
    return -1;

  gint64 seen = 0;
  for (gint32 sum = 0; sum < 2 * n_rows; sum++)
    {
      seen += weight[sum];
      if (seen * 2 >= total)
        return sum;
    }
  return -1;
}

static gint32
folded_row (gint32 row, gint32 turn)
{
  return row > turn / 2 ? turn - row : row;
}

static gboolean
is_worth_it (const LayLevel *level, gint32 turn)
{
  gint64 straight = 0;
  gint64 folded = 0;

  for (guint32 s = 0; s < level->n_segments;)
    {
      const LaySegment *segment = next_net (level, &s);

      straight += span_of (level, segment);
      folded += ABS (folded_row (level->vertex[segment->from].row, turn) - folded_row (level->vertex[segment->to].row, turn));
    }
  return folded * 2 < straight;
}

/* The mean row of the values that a vertex of the right column takes from the left one; its own row
 * if none. */
static gint32
row_of_values (const LayLevel *level, const guint64 *sum, const guint32 *n, guint32 v)
{
  return n[v] > 0 ? (gint32) (sum[v] / n[v]) : level->vertex[v].row;
}

/* Moves a vertex of the right column towards a row, as far as its neighbours there allow. */
static void
slide (LayLevel *level, const LayFlow *flow, guint32 v, gint32 wanted)
{
  LayVertex *vertex = level->vertex;
  gint32 above = G_MININT32;
  gint32 below = G_MAXINT32;

  for (guint32 k = flow->out_first[v]; k < flow->out_first[v + 1]; k++)
    {
      const LayVertex *to = &vertex[level->segment[flow->out[k]].to];

      if (to->side == LAY_RIGHT)
        above = MAX (above, to->row);
    }
  for (guint32 k = flow->in_first[v]; k < flow->in_first[v + 1]; k++)
    {
      const LayVertex *from = &vertex[level->segment[flow->in[k]].from];

      if (from->side == LAY_RIGHT)
        below = MIN (below, from->row);
    }
  if (above != G_MININT32 && wanted <= above)
    wanted = above + 1;
  if (below != G_MAXINT32 && wanted >= below)
    wanted = below - 1;
  vertex[v].row = wanted;
}

/* Longest path pressed the right column against the end of the program. Where there is play, its
 * vertices move to the rows of the values that they use. */
static void
slide_right_column (LayLevel *level, LayJob *job, const LayFlow *flow)
{
  LayMark mark = lay_scratch_mark (&job->scratch);
  LayVertex *vertex = level->vertex;
  guint64 *sum = LAY_NEW (&job->scratch, guint64, level->n_vertices);
  guint32 *n = LAY_NEW (&job->scratch, guint32, level->n_vertices);

  for (guint32 s = 0; s < level->n_segments; s++)
    {
      const LaySegment *segment = &level->segment[s];

      if (vertex[segment->from].side == LAY_LEFT && vertex[segment->to].side == LAY_RIGHT)
        {
          sum[segment->to] += (guint32) vertex[segment->from].row;
          n[segment->to]++;
        }
    }
  for (guint pass = 0; pass < SLIDES; pass++)
    for (guint32 i = 0; i < level->n_vertices; i++)
      {
        guint32 v = flow->topological[pass % 2 == 0 ? i : level->n_vertices - 1 - i];

        if (vertex[v].side == LAY_RIGHT)
          slide (level, flow, v, row_of_values (level, sum, n, v));
      }
  lay_scratch_release (&job->scratch, mark);
}

/* Decides, and if so sets the sides and the rows anew. */
gboolean
lay_level_fold (LayLevel *level, LayJob *job, const LayFlow *flow)
{
  LayMark mark = lay_scratch_mark (&job->scratch);
  gint32 n_rows = 0;

  for (guint32 v = 0; v < level->n_vertices; v++)
    n_rows = MAX (n_rows, level->vertex[v].row + 1);

  gint32 turn = find_turn (level, job, n_rows);

  lay_scratch_release (&job->scratch, mark);
  if (turn < 0 || !is_worth_it (level, turn))
    return !lay_job_cancelled (job);

  /* Rows may become negative here, where the second half is the longer one; they are settled
   * afterwards. */
  for (guint32 v = 0; v < level->n_vertices; v++)
    {
      LayVertex *vertex = &level->vertex[v];

      if (vertex->kind == LAY_IN || vertex->kind == LAY_OUT || vertex->row <= turn / 2)
        continue;
      vertex->side = LAY_RIGHT;
      vertex->row = folded_row (vertex->row, turn);
    }
  level->folded = TRUE;
  slide_right_column (level, job, flow);
  return !lay_job_cancelled (job);
}
