/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts blocks that would make the drawing much wider than its rows.
 *
 * In a dense graph rigid blocks make staircases: one is left of the next in one row, that one left
 * of a third some rows below, and so on, until the drawing is many times as wide as its widest row.
 * A staircase is a long path of distances; cutting one of its blocks between the row where the path
 * enters it and the row where it leaves it takes the path apart, at the price of one bend. Graphs
 * that are narrow, as most models are, are left alone.
 */
#include "drawing/layout/layout-private.h"

enum
{
  MOST_ROUNDS = 24,
  GENTLE_ROUNDS = 6, /* after these, twice as many cuts are made in every round */
  FEW = 2000,        /* one cut for so many blocks is not worth another round */
  SLACK = 400,       /* points by which a path may be longer than 5/4 of the widest row that it touches */
  PIECES = 6,
  MOST_PIECES = 256,
};

typedef struct
{
  LayLevel *level;
  LayBlocks blocks;
  gint64 *at;    /* leftmost place of each block */
  guint32 *from; /* the distance that holds it there, or LAY_NONE */
  guint8 *seen;
  gint64 *row_width;
  guint32 *last; /* the lowest vertex of each block */
  gint64 pieces; /* a path that is too long is cut this often in every length that it may have */
} Loosener;

/* Where a block can be cut: at the vertex below, to loosen it from the one above. */
typedef struct
{
  guint32 vertex;
  guint8 grade;
} Cut;

static void
measure_rows (Loosener *loosener, LayJob *job)
{
  const LayLevel *level = loosener->level;

  loosener->row_width = LAY_NEW (&job->scratch, gint64, level->n_rows);
  for (gint32 r = 0; r < level->n_rows; r++)
    for (guint32 i = level->row_first[r]; i + 1 < level->row_first[r + 1]; i++)
      loosener->row_width[r] += lay_distance_between (job, &level->vertex[level->order[i]], &level->vertex[level->order[i + 1]]);
}

static void
push_left (Loosener *loosener)
{
  const LayBlocks *blocks = &loosener->blocks;

  for (guint32 i = 0; i < blocks->n; i++)
    {
      guint32 b = blocks->sorted[i];

      loosener->at[b] = 0;
      loosener->from[b] = LAY_NONE;
      for (guint32 k = blocks->left_first[b]; k < blocks->left_first[b + 1]; k++)
        {
          gint64 at = loosener->at[blocks->left[k].other] + blocks->left[k].gap;

          if (loosener->from[b] == LAY_NONE || at > loosener->at[b])
            {
              loosener->at[b] = at;
              loosener->from[b] = k;
            }
        }
    }
}

/* The weakest alignment of a block between two rows. */
static Cut
find_cut (const Loosener *loosener, guint32 block, gint32 row_a, gint32 row_b)
{
  const LayLevel *level = loosener->level;
  gint32 upper = MIN (row_a, row_b);
  gint32 lower = MAX (row_a, row_b);
  Cut best = { LAY_NONE, 0 };

  for (guint32 v = loosener->last[block]; v != LAY_NONE && level->vertex[v].row > upper; v = level->above[v])
    if (level->vertex[v].row <= lower && level->above[v] != LAY_NONE && (best.vertex == LAY_NONE || level->grade[v] > best.grade))
      best = (Cut){ v, level->grade[v] };
  return best;
}

/* Follows the path that holds a block in its place to the left, and, if it is too long, cuts it
 * often: cuts bring forward other paths, and cutting each only as often as it needs takes many more
 * rounds and cuts more in the end. */
static guint32
loosen_path (Loosener *loosener, guint32 block)
{
  const LayBlocks *blocks = &loosener->blocks;
  gint64 length = loosener->at[block];
  gint64 begin = length;
  gint64 widest = 0;
  Cut best = { LAY_NONE, 0 };
  gint32 row = -1; /* where the path leaves the block */
  guint32 n_cuts = 0;

  while (!loosener->seen[block] && loosener->from[block] != LAY_NONE)
    {
      const LayDistance *left = &blocks->left[loosener->from[block]];

      loosener->seen[block] = TRUE;
      widest = MAX (widest, loosener->row_width[left->row]);
      if (row >= 0 && row != left->row)
        {
          Cut cut = find_cut (loosener, block, row, left->row);

          if (cut.vertex != LAY_NONE && (best.vertex == LAY_NONE || cut.grade > best.grade))
            best = cut;
        }
      gint64 limit = widest * 5 / 4 + SLACK;

      if (best.vertex != LAY_NONE && length > limit && begin - loosener->at[left->other] > limit / loosener->pieces)
        {
          loosener->level->above[best.vertex] = LAY_NONE;
          n_cuts++;
          best.vertex = LAY_NONE;
          begin = loosener->at[left->other];
          widest = 0;
        }
      row = left->row;
      block = left->other;
    }
  return n_cuts;
}

static guint32
loosen_once (Loosener *loosener, LayJob *job)
{
  LayLevel *level = loosener->level;
  LayMark mark = lay_scratch_mark (&job->scratch);
  guint32 n_cuts = 0;

  lay_blocks_init (&loosener->blocks, level, job);
  loosener->at = LAY_NEW (&job->scratch, gint64, loosener->blocks.n);
  loosener->from = LAY_NEW (&job->scratch, guint32, loosener->blocks.n);
  loosener->seen = LAY_NEW (&job->scratch, guint8, loosener->blocks.n);
  loosener->last = LAY_NEW (&job->scratch, guint32, loosener->blocks.n);
  for (guint32 i = 0; i < level->row_first[level->n_rows]; i++)
    loosener->last[level->vertex[level->order[i]].block] = level->order[i];
  push_left (loosener);
  for (guint32 i = loosener->blocks.n; i-- > 0;)
    n_cuts += loosen_path (loosener, loosener->blocks.sorted[i]);
  lay_scratch_release (&job->scratch, mark);
  return n_cuts;
}

gboolean
lay_level_loosen (LayLevel *level, LayJob *job)
{
  LayMark mark = lay_scratch_mark (&job->scratch);
  Loosener loosener = { .level = level, .pieces = PIECES };

  measure_rows (&loosener, job);
  for (guint round = 0; round < MOST_ROUNDS; round++)
    {
      if (lay_job_cancelled (job))
        return FALSE;
      if (loosen_once (&loosener, job) <= level->n_blocks / FEW)
        break;
      if (round >= GENTLE_ROUNDS)
        loosener.pieces = MIN (2 * loosener.pieces, MOST_PIECES);
    }
  lay_scratch_release (&job->scratch, mark);
  return TRUE;
}
