/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: vertices that stand exactly below each other and are moved across the page as one.
 */
#include "drawing/layout/layout-private.h"

/* The distance from the middle of a to the middle of b, neighbours in a row. */
gint32
lay_distance_between (const LayJob *job, const LayVertex *a, const LayVertex *b)
{
  gboolean thin_a = !lay_vertex_is_base (a) || a->w == 0;
  gboolean thin_b = !lay_vertex_is_base (b) || b->w == 0;
  gint32 gap = thin_a && thin_b ? job->lane_gap : thin_a || thin_b ? job->bend_gap : job->node_gap;

  /* An axis has no width of its own: both sides of it together are as far apart as they would be
   * without it. */
  if (a->kind == LAY_AXIS || b->kind == LAY_AXIS)
    gap = (thin_a && thin_b ? job->bend_gap : job->node_gap) / 2;
  if (a->side != b->side)
    gap += job->node_gap;
  return a->w / 2 + gap + b->w / 2;
}

/* Numbers the blocks and says where in its block each vertex stands. */
static void
number_blocks (LayLevel *level)
{
  LayVertex *vertex = level->vertex;

  level->n_blocks = 0;
  for (guint32 i = 0; i < level->row_first[level->n_rows]; i++)
    {
      guint32 v = level->order[i];
      guint32 u = level->above[v];

      if (u == LAY_NONE)
        {
          vertex[v].block = level->n_blocks++;
          vertex[v].shift = 0;
          continue;
        }
      vertex[v].block = vertex[u].block;
      vertex[v].shift = vertex[u].shift;
      if (level->through[v] == LAY_NONE)
        continue;
      const LayLink *link = &level->link[level->through[v]];
      const LayWire *wire = &level->wire[link->wire];
      gint32 pin_u = wire->from == u ? wire->pin : link->pin;
      gint32 pin_v = wire->from == u ? link->pin : wire->pin;

      vertex[v].shift += lay_pin_from_middle (&vertex[u], pin_u) - lay_pin_from_middle (&vertex[v], pin_v);
    }
}

static void
list_distances (LayBlocks *blocks, const LayLevel *level, LayJob *job)
{
  guint32 n_pairs = level->row_first[level->n_rows];

  blocks->left_first = LAY_NEW (&job->scratch, guint32, blocks->n + 2);
  blocks->right_first = LAY_NEW (&job->scratch, guint32, blocks->n + 2);
  blocks->left = LAY_NEW (&job->scratch, LayDistance, n_pairs);
  blocks->right = LAY_NEW (&job->scratch, LayDistance, n_pairs);
  for (guint fill = 0; fill < 2; fill++)
    {
      for (gint32 r = 0; r < level->n_rows; r++)
        for (guint32 i = level->row_first[r]; i + 1 < level->row_first[r + 1]; i++)
          {
            const LayVertex *a = &level->vertex[level->order[i]];
            const LayVertex *b = &level->vertex[level->order[i + 1]];

            if (!fill)
              {
                blocks->right_first[a->block + 2]++;
                blocks->left_first[b->block + 2]++;
                continue;
              }
            gint32 gap = a->shift + lay_distance_between (job, a, b) - b->shift;
            blocks->right[blocks->right_first[a->block + 1]++] = (LayDistance){ b->block, gap, r };
            blocks->left[blocks->left_first[b->block + 1]++] = (LayDistance){ a->block, gap, r };
          }
      for (guint32 b = 0; !fill && b < blocks->n; b++)
        {
          blocks->right_first[b + 2] += blocks->right_first[b + 1];
          blocks->left_first[b + 2] += blocks->left_first[b + 1];
        }
    }
}

/* Blocks do not cross each other, so left-of has no circle. */
static void
sort_blocks (LayBlocks *blocks, LayJob *job)
{
  guint32 *missing = LAY_NEW (&job->scratch, guint32, blocks->n);
  guint32 filled = 0;

  blocks->sorted = LAY_NEW (&job->scratch, guint32, blocks->n);
  for (guint32 b = 0; b < blocks->n; b++)
    {
      missing[b] = blocks->left_first[b + 1] - blocks->left_first[b];
      if (missing[b] == 0)
        blocks->sorted[filled++] = b;
    }
  for (guint32 i = 0; i < filled; i++)
    {
      guint32 b = blocks->sorted[i];

      for (guint32 k = blocks->right_first[b]; k < blocks->right_first[b + 1]; k++)
        if (--missing[blocks->right[k].other] == 0)
          blocks->sorted[filled++] = blocks->right[k].other;
    }
  g_assert (filled == blocks->n);
}

/* Makes blocks of the alignments of a level, and lists their distances. */
void
lay_blocks_init (LayBlocks *blocks, LayLevel *level, LayJob *job)
{
  number_blocks (level);
  blocks->n = level->n_blocks;
  list_distances (blocks, level, job);
  sort_blocks (blocks, job);
}
