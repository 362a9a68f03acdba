/* SPDX-License-Identifier: Apache-2.0 */
/* Two allocators that others use, to compare with. A pool that is asked while the program runs, in the manner of TensorFlow's BFC
 * allocator (best fit with coalescing; after Lea's malloc): the smallest free chunk that is large enough, split where at least half
 * of it would be left, joined with its free neighbours when it is given back. And best fit, largest first, of XLA's heap
 * simulator: each item in the smallest gap between those that are placed and alive with it. */
#include "core/planner/pack/pack-private.h"
#include <stdlib.h>

#define MOST_LEFT (128u * 1024 * 1024) /* of a chunk that is not split: more is, whatever it is a part of */

typedef struct
{
  guint64 offset, size;
  gint32 item; /* or -1: free */
} Chunk;

static int
compare_ends (const void *a, const void *b, gpointer user_data)
{
  const PackItem *items = user_data, *x = &items[*(const guint32 *) a], *y = &items[*(const guint32 *) b];

  return x->end != y->end ? (x->end < y->end ? -1 : 1) : (x->begin > y->begin) - (x->begin < y->begin);
}

static Chunk *
pool_chunk (GArray *chunks, guint i)
{
  return &g_array_index (chunks, Chunk, i);
}

/* Chunks stand in the order of their offsets, without gaps. Returns: the one that begins at @offset */
static guint
find_pool_chunk (GArray *chunks, guint64 offset)
{
  guint low = 0, high = chunks->len;

  while (low + 1 < high)
    {
      guint middle = low + (high - low) / 2;

      if (pool_chunk (chunks, middle)->offset <= offset)
        low = middle;
      else
        high = middle;
    }
  return low;
}

static void
give_back (GArray *chunks, guint64 offset)
{
  guint i = find_pool_chunk (chunks, offset);

  pool_chunk (chunks, i)->item = -1;
  if (i + 1 < chunks->len && pool_chunk (chunks, i + 1)->item < 0)
    {
      pool_chunk (chunks, i)->size += pool_chunk (chunks, i + 1)->size;
      g_array_remove_index (chunks, i + 1);
    }
  if (i > 0 && pool_chunk (chunks, i - 1)->item < 0)
    {
      pool_chunk (chunks, i - 1)->size += pool_chunk (chunks, i)->size;
      g_array_remove_index (chunks, i);
    }
}

/* The smallest free chunk of at least @size; where there is none the pool grows, by what its last chunk lacks where that is free. */
static guint
choose_chunk (GArray *chunks, guint64 size)
{
  guint best = G_MAXUINT;
  Chunk *last = chunks->len > 0 ? pool_chunk (chunks, chunks->len - 1) : NULL;

  for (guint i = 0; i < chunks->len; i++)
    if (pool_chunk (chunks, i)->item < 0 && pool_chunk (chunks, i)->size >= size
        && (best == G_MAXUINT || pool_chunk (chunks, i)->size < pool_chunk (chunks, best)->size))
      best = i;
  if (best != G_MAXUINT)
    return best;
  if (last != NULL && last->item < 0)
    last->size = size;
  else
    g_array_append_val (chunks, ((Chunk){ last != NULL ? last->offset + last->size : 0, size, -1 }));
  return chunks->len - 1;
}

static guint64
take (GArray *chunks, guint64 size, gint32 item)
{
  guint i = choose_chunk (chunks, size);
  Chunk rest = *pool_chunk (chunks, i);

  pool_chunk (chunks, i)->item = item;
  if (rest.size >= 2 * size || rest.size - size >= MOST_LEFT)
    {
      pool_chunk (chunks, i)->size = size;
      rest.offset += size;
      rest.size -= size;
      g_array_insert_val (chunks, i + 1, rest);
    }
  return pool_chunk (chunks, i)->offset;
}

guint64
_gantry_pack_pool (PackProblem *problem)
{
  g_autoptr (GArray) chunks = g_array_new (FALSE, FALSE, sizeof (Chunk));
  g_autofree guint32 *by_end = g_new (guint32, problem->n + 1);
  guint32 gone = 0;

  for (guint32 i = 0; i < problem->n; i++)
    by_end[i] = i;
  g_qsort_with_data (by_end, (gint) problem->n, sizeof *by_end, compare_ends, problem->items);
  for (guint32 i = 0; i < problem->n; i++)
    {
      PackItem *item = &problem->items[i];

      for (; problem->items[by_end[gone]].end < item->begin; gone++)
        give_back (chunks, problem->items[by_end[gone]].offset);
      item->offset = take (chunks, item->size, (gint32) i);
    }
  return chunks->len > 0 ? pool_chunk (chunks, chunks->len - 1)->offset + pool_chunk (chunks, chunks->len - 1)->size : 0;
}

/* Best fit */

static int
compare_sizes (const void *a, const void *b, gpointer user_data)
{
  const PackItem *items = user_data, *x = &items[*(const guint32 *) a], *y = &items[*(const guint32 *) b];
  guint32 long_x = x->end - x->begin, long_y = y->end - y->begin;

  if (x->size != y->size)
    return x->size > y->size ? -1 : 1;
  return long_x != long_y ? (long_x > long_y ? -1 : 1) : (x > y) - (x < y);
}

static int
compare_offsets (const void *a, const void *b, gpointer user_data)
{
  const PackItem *items = user_data, *x = &items[*(const guint32 *) a], *y = &items[*(const guint32 *) b];

  return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : (x > y) - (x < y);
}

/* @alive: placed items that are alive with @item, by offset */
static guint64
smallest_gap (const PackProblem *problem, const PackItem *item, const guint32 *alive, guint32 n_alive)
{
  guint64 top = 0, gap = G_MAXUINT64, offset = G_MAXUINT64;

  for (guint32 j = 0; j < n_alive; j++)
    {
      const PackItem *other = &problem->items[alive[j]];

      if (other->offset > top && other->offset - top >= item->size && other->offset - top < gap)
        {
          gap = other->offset - top;
          offset = top;
        }
      top = MAX (top, other->offset + other->size);
    }
  return offset != G_MAXUINT64 ? offset : top;
}

guint64
_gantry_pack_best_fit (PackProblem *problem, const GantryProgress *progress)
{
  g_autofree guint32 *order = g_new (guint32, problem->n + 1), *alive = g_new (guint32, problem->n + 1);
  guint64 height = 0;

  for (guint32 i = 0; i < problem->n; i++)
    order[i] = i;
  g_qsort_with_data (order, (gint) problem->n, sizeof *order, compare_sizes, problem->items);
  for (guint32 k = 0; k < problem->n; k++)
    {
      PackItem *item = &problem->items[order[k]];
      guint32 n_alive = 0;

      if (k % 256 == 0 && gantry_progress_cancelled (progress, NULL))
        return _gantry_pack_skyline (problem, PACK_PRESSURE);
      for (guint32 j = 0; j < k; j++)
        if (problem->items[order[j]].begin <= item->end && item->begin <= problem->items[order[j]].end)
          alive[n_alive++] = order[j];
      g_qsort_with_data (alive, (gint) n_alive, sizeof *alive, compare_offsets, problem->items);
      item->offset = smallest_gap (problem, item, alive, n_alive);
      height = MAX (height, item->offset + item->size);
    }
  return height;
}
