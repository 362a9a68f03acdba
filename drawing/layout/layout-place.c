/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where each block stands across the page.
 *
 * Blocks are rigid; two that are neighbours in some row must keep their distance. Every block
 * wishes for the mean of what its links ask. Wishes that cannot all be met are settled fairly: let
 * everyone who is in the way be pushed to the right, then, from the same wishes, to the left, and
 * take the middle of both, which keeps all distances because they are linear. So branches of one
 * fork, which all wish to stand under it, spread evenly around it. A few dozen rounds of that
 * replace the quadratic program that the wishes are; each is linear in the vertices.
 */
#include "drawing/layout/layout-private.h"

#include <math.h>

enum
{
  ROUNDS = 32,       /* of settling everything at once */
  TOUCHES = 8,       /* of settling one block after the other */
  SNAPS = 2,         /* of making nearly straight lines straight */
  SNAP = 48,         /* points that a block may move for that */
  MOST_SNAPPED = 64, /* lines of a block that is snapped */
  CORNER = 8,        /* straight lines keep this far from the corners of a box */
};

/* A bend is drawn to the boxes at its ends, they hardly to it. */
static const double BOX_TO_BEND = 0.05;
/* A consumer is hardly drawn to a constant that hangs over it. */
static const double BOX_TO_CONSTANT = 0.1;
/* What stands in the middle over its branches is hardly drawn to what is above it. */
static const double BRANCHES_TO_ROOT = 0.002;
/* What passes from column to column only draws the columns together. */
static const double ACROSS = 0.02;
/* Everything is drawn to the middle of the page a little, or a long graph would wander off. */
static const double TO_MIDDLE = 0.01;
/* The page is this much wider than blocks packed as tight as they go, and this many points. */
static const double PAGE = 1.25;
static const double PAGE_MARGIN = 300;

/* A wish: to stand offset to the right of another block; the line is straight if it is that, give
 * or take slack. A negative slack says that it need not be straight. */
typedef struct
{
  guint32 other;
  float weight;
  gint32 offset;
  gint32 slack;
} Wish;

typedef struct
{
  LayLevel *level;
  LayJob *job;
  LayBlocks blocks;
  guint32 *wish_first;
  Wish *wish;
  double *x;
  double *least; /* leftmost and rightmost place on the page */
  double *most;
  double *wanted;
  double *pushed_right;
  double *pushed_left;
} Placer;

/* How much a vertex cares for another that it is linked with. */
static double
weight_of (const LayVertex *vertex, const LayVertex *other, const LayLink *link)
{
  if (vertex->split && other->row < vertex->row)
    return BRANCHES_TO_ROOT;
  if (vertex->side != other->side || link->klass != GANTRY_LAYOUT_EDGE_FLOW)
    return ACROSS;
  if (lay_vertex_is_base (vertex) && !lay_vertex_is_base (other))
    return BOX_TO_BEND;
  if (lay_vertex_is_base (vertex) && other->depth == 0 && vertex->depth > 1)
    return BOX_TO_CONSTANT;
  return 1;
}

static void
list_wishes (Placer *placer)
{
  const LayLevel *level = placer->level;
  LayJob *job = placer->job;

  placer->wish_first = LAY_NEW (&job->scratch, guint32, placer->blocks.n + 2);
  placer->wish = LAY_NEW (&job->scratch, Wish, 2 * (gsize) level->n_links);
  for (guint fill = 0; fill < 2; fill++)
    {
      for (guint32 k = 0; k < level->n_links; k++)
        {
          const LayLink *link = &level->link[k];
          const LayWire *wire = &level->wire[link->wire];
          const LayVertex *u = &level->vertex[wire->from];
          const LayVertex *v = &level->vertex[link->to];

          if (u->kind == LAY_LANE || v->kind == LAY_LANE || u->block == v->block)
            continue;
          if (!fill)
            {
              placer->wish_first[u->block + 2]++;
              placer->wish_first[v->block + 2]++;
              continue;
            }
          gint32 slack = link->pin == LAY_FREE ? MAX (v->w / 2 - CORNER, 0) : 0;
          /* Around what stands in the middle over its branches, even is better than straight. */
          slack = u->split || v->split ? -1 : slack;
          gint32 offset = v->shift + lay_pin_from_middle (v, link->pin) - u->shift - lay_pin_from_middle (u, wire->pin);
          placer->wish[placer->wish_first[u->block + 1]++] = (Wish){ v->block, (float) weight_of (u, v, link), offset, slack };
          placer->wish[placer->wish_first[v->block + 1]++] = (Wish){ u->block, (float) weight_of (v, u, link), -offset, slack };
        }
      for (guint32 b = 0; !fill && b < placer->blocks.n; b++)
        placer->wish_first[b + 2] += placer->wish_first[b + 1];
    }
}

/* Sets how far left and right each block may go. If all wishes are within these bounds, settling
 * keeps to them: what pushes a block has room for it on its own far side. */
static void
bound_page (Placer *placer)
{
  const LayBlocks *blocks = &placer->blocks;
  double width = 0;

  for (guint32 i = 0; i < blocks->n; i++)
    {
      guint32 b = blocks->sorted[i];

      for (guint32 k = blocks->left_first[b]; k < blocks->left_first[b + 1]; k++)
        placer->least[b] = MAX (placer->least[b], placer->least[blocks->left[k].other] + blocks->left[k].gap);
      width = MAX (width, placer->least[b]);
    }
  for (guint32 i = blocks->n; i-- > 0;)
    {
      guint32 b = blocks->sorted[i];

      for (guint32 k = blocks->right_first[b]; k < blocks->right_first[b + 1]; k++)
        placer->most[b] = MIN (placer->most[b], placer->most[blocks->right[k].other] - blocks->right[k].gap);
    }

  double half = (width * PAGE + PAGE_MARGIN) / 2;

  for (guint32 b = 0; b < blocks->n; b++)
    {
      placer->least[b] -= half;
      placer->most[b] += half;
    }
}

/* Moves every block as near to where it is wanted as the distances allow, sharing the blame. */
static void
settle (Placer *placer)
{
  for (guint32 i = 0; i < placer->blocks.n; i++)
    {
      guint32 b = placer->blocks.sorted[i];
      double x = placer->wanted[b];

      for (guint32 k = placer->blocks.left_first[b]; k < placer->blocks.left_first[b + 1]; k++)
        x = MAX (x, placer->pushed_right[placer->blocks.left[k].other] + placer->blocks.left[k].gap);
      placer->pushed_right[b] = x;
    }
  for (guint32 i = placer->blocks.n; i-- > 0;)
    {
      guint32 b = placer->blocks.sorted[i];
      double x = placer->wanted[b];

      for (guint32 k = placer->blocks.right_first[b]; k < placer->blocks.right_first[b + 1]; k++)
        x = MIN (x, placer->pushed_left[placer->blocks.right[k].other] - placer->blocks.right[k].gap);
      placer->pushed_left[b] = x;
    }
  for (guint32 b = 0; b < placer->blocks.n; b++)
    placer->x[b] = (placer->pushed_right[b] + placer->pushed_left[b]) / 2;
}

/* The mean of what the links of a block ask. */
static double
mean_wish (const Placer *placer, guint32 b)
{
  double sum = 0;
  double weight = TO_MIDDLE;

  for (guint32 k = placer->wish_first[b]; k < placer->wish_first[b + 1]; k++)
    {
      const Wish *mine = &placer->wish[k];

      sum += (placer->x[mine->other] + mine->offset) * mine->weight;
      weight += mine->weight;
    }
  return sum / weight;
}

/* Half way from where each block is to the mean of its wishes: all at once and all the way would
 * swing. */
static void
wish (Placer *placer)
{
  for (guint32 b = 0; b < placer->blocks.n; b++)
    {
      double wanted = (placer->x[b] + mean_wish (placer, b)) / 2;

      placer->wanted[b] = CLAMP (wanted, placer->least[b], placer->most[b]);
    }
}

/* Between which places a block can move while all others stay. */
static void
find_room (const Placer *placer, guint32 b, double *low, double *high)
{
  const LayBlocks *blocks = &placer->blocks;

  *low = -G_MAXDOUBLE;
  *high = G_MAXDOUBLE;
  for (guint32 k = blocks->left_first[b]; k < blocks->left_first[b + 1]; k++)
    *low = MAX (*low, placer->x[blocks->left[k].other] + blocks->left[k].gap);
  for (guint32 k = blocks->right_first[b]; k < blocks->right_first[b + 1]; k++)
    *high = MIN (*high, placer->x[blocks->right[k].other] - blocks->right[k].gap);
}

/* Moves a block as far to the mean of its wishes as the others leave room. */
static void
touch (Placer *placer, guint32 b)
{
  double low;
  double high;

  find_room (placer, b, &low, &high);
  if (low < high)
    placer->x[b] = CLAMP (mean_wish (placer, b), low, high);
}

/* Settling pushes blocks out of the way that then have room again; these come back one by one. */
static void
touch_up (Placer *placer)
{
  for (guint32 i = 0; i < placer->blocks.n; i++)
    touch (placer, placer->blocks.sorted[i]);
  for (guint32 i = placer->blocks.n; i-- > 0;)
    touch (placer, placer->blocks.sorted[i]);
}

/* How much of what a block is linked with is straight if it moves by a distance. */
static double
straightness (const Placer *placer, guint32 b, double move)
{
  double sum = 0;

  for (guint32 k = placer->wish_first[b]; k < placer->wish_first[b + 1]; k++)
    {
      const Wish *mine = &placer->wish[k];

      if (fabs (placer->x[mine->other] + mine->offset - placer->x[b] - move) <= mine->slack)
        sum += mine->weight;
    }
  return sum;
}

/* Moves a block a little where that makes more of its lines straight. */
static void
snap (Placer *placer, guint32 b)
{
  double low;
  double high;
  double best_move = 0;
  double best = straightness (placer, b, 0);
  guint32 n = placer->wish_first[b + 1] - placer->wish_first[b];

  find_room (placer, b, &low, &high);
  for (guint32 k = placer->wish_first[b]; k < placer->wish_first[b + 1] && n <= MOST_SNAPPED; k++)
    {
      const Wish *mine = &placer->wish[k];
      double off = placer->x[mine->other] + mine->offset - placer->x[b];
      double move = off > mine->slack ? off - mine->slack : off < -mine->slack ? off + mine->slack : 0;
      double sum;

      if (mine->slack < 0 || move == 0 || fabs (move) > SNAP || placer->x[b] + move < low || placer->x[b] + move > high)
        continue;
      sum = straightness (placer, b, move);
      if (sum > best)
        {
          best = sum;
          best_move = move;
        }
    }
  placer->x[b] += best_move;
}

/* From here on in whole points; rounding down keeps whole distances. */
static void
snap_to_lines (Placer *placer)
{
  for (guint32 b = 0; b < placer->blocks.n; b++)
    placer->x[b] = floor (placer->x[b]);
  for (guint round = 0; round < SNAPS; round++)
    for (guint32 b = 0; b < placer->blocks.n; b++)
      snap (placer, b);
}

/* From blocks to boxes. */
static void
write_down (Placer *placer)
{
  LayLevel *level = placer->level;

  level->left = G_MAXINT32;
  level->right = G_MININT32;
  for (guint32 v = 0; v < level->n_vertices; v++)
    {
      LayVertex *vertex = &level->vertex[v];

      if (vertex->kind == LAY_LANE)
        continue;
      vertex->x = (gint32) placer->x[vertex->block] + vertex->shift - vertex->w / 2;
      level->left = MIN (level->left, vertex->x);
      level->right = MAX (level->right, vertex->x + vertex->w);
    }
}

gboolean
lay_level_place (LayLevel *level, LayJob *job)
{
  LayMark mark = lay_scratch_mark (&job->scratch);
  Placer placer = { .level = level, .job = job };

  lay_blocks_init (&placer.blocks, level, job);

  placer.x = LAY_NEW (&job->scratch, double, placer.blocks.n);
  placer.wanted = LAY_NEW (&job->scratch, double, placer.blocks.n);
  placer.pushed_left = LAY_NEW (&job->scratch, double, placer.blocks.n);
  placer.pushed_right = LAY_NEW (&job->scratch, double, placer.blocks.n);
  placer.least = LAY_NEW (&job->scratch, double, placer.blocks.n);
  placer.most = LAY_NEW (&job->scratch, double, placer.blocks.n);
  list_wishes (&placer);
  bound_page (&placer);

  /* At first all wish to stand in the middle of the page. */
  settle (&placer);
  for (guint round = 0; round < ROUNDS; round++)
    {
      if (lay_job_cancelled (job))
        return FALSE;
      wish (&placer);
      settle (&placer);
    }
  for (guint round = 0; round < TOUCHES; round++)
    touch_up (&placer);
  snap_to_lines (&placer);
  write_down (&placer);
  lay_scratch_release (&job->scratch, mark);
  return TRUE;
}
