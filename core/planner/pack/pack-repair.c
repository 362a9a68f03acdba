/* SPDX-License-Identifier: Apache-2.0 */
/* Static allocation by repair: what stands above a ceiling is taken out and put in below it, the largest first; where
 * no gap is large enough, at the offset at which the least has to give way, which then looks for a place itself. What
 * had to give way often costs more, so that the same items do not drive each other out forever (min-conflicts with
 * weights). Made for large problems, of which the skyline leaves only a few items too high: who is alive together with an item is
 * read off the lists of pack-windows.c. Work is counted, not time. */
#include "core/planner/pack/pack-private.h"
#include <math.h>

/* What each time that it had to give way adds to the cost of an item, of its first cost. */
#define DEARER 0.25

/* A bottom or a top of something that is alive together with the item that looks for a place. */
typedef struct
{
  guint64 at;
  double cost;
} Edge;

typedef struct
{
  PackProblem *problem;
  PackWindows *windows;
  guint64 ceiling;
  double *cost;  /* of an item: what it costs to take it out */
  guint32 *heap; /* items that look for a place, the largest first */
  guint32 n_heap;
  Edge *bottoms, *tops;
  guint32 *met;
  guint64 work;
} Repair;

/* How hard an item is to place, roughly: length counts for more than size, as small gaps are many and long ones few.
 * Found by trial; a square root is the same on every machine. */
static double
hardness (const PackItem *item)
{
  return sqrt ((double) item->size) * ((double) item->end - item->begin + 1);
}

static gboolean
comes_first (const Repair *repair, guint32 i, guint32 j)
{
  const PackItem *a = &repair->problem->items[i], *b = &repair->problem->items[j];

  if (a->size != b->size)
    return a->size > b->size;
  return i < j;
}

static void
push (Repair *repair, guint32 item)
{
  guint32 at = repair->n_heap++;

  for (; at > 0 && comes_first (repair, item, repair->heap[(at - 1) / 2]); at = (at - 1) / 2)
    repair->heap[at] = repair->heap[(at - 1) / 2];
  repair->heap[at] = item;
}

static guint32
pop (Repair *repair)
{
  guint32 first = repair->heap[0], last = repair->heap[--repair->n_heap], at = 0;

  while (2 * at + 1 < repair->n_heap)
    {
      guint32 child = 2 * at + 1;

      if (child + 1 < repair->n_heap && comes_first (repair, repair->heap[child + 1], repair->heap[child]))
        child++;
      if (!comes_first (repair, repair->heap[child], last))
        break;
      repair->heap[at] = repair->heap[child];
      at = child;
    }
  repair->heap[at] = last;
  return first;
}

/* The edges, rising, of what is alive together with an item. Returns: how many */
static guint32
collect (Repair *repair, guint32 item, PackEdge edge, Edge *edges)
{
  const PackItem *items = repair->problem->items;
  guint32 begin = items[item].begin, end = items[item].end, length, n = 0;
  const guint32 *list = _gantry_pack_windows_list (repair->windows, item, edge, &length);

  for (guint32 k = 0; k < length; k++)
    {
      const PackItem *other = &items[list[k]];

      edges[n] = (Edge){ edge == PACK_TOP ? other->offset + other->size : other->offset, repair->cost[list[k]] };
      n += other->begin <= end && other->end >= begin;
    }
  repair->work += length;
  return n;
}

/* Returns: the offset at which an item of @size meets the least; what it meets is the rest that begins below its top,
 * without what ends below its offset. @cost: 0 where it fits */
static guint64
cheapest_offset (const Repair *repair, guint32 n, guint64 size, double *cost)
{
  guint64 best = 0, tightest = G_MAXUINT64;
  guint32 begun = 0;
  double sum_begun = 0, sum_ended = 0;

  *cost = G_MAXDOUBLE;
  for (guint32 k = 0; k <= n; k++)
    {
      guint64 offset = k > 0 ? repair->tops[k - 1].at : 0, room;
      double met;

      if (k > 0)
        sum_ended += repair->tops[k - 1].cost;
      if (offset + size > repair->ceiling)
        break;
      for (; begun < n && repair->bottoms[begun].at < offset + size; begun++)
        sum_begun += repair->bottoms[begun].cost;
      met = begun == k ? 0 : MAX (sum_begun - sum_ended, 1); /* the sums are rounded */
      if (met > *cost)
        continue;
      room = (begun < n ? repair->bottoms[begun].at : repair->ceiling) - offset;
      /* The tightest of the gaps, else the least in the way. */
      if (met < *cost || (met == 0 && room < tightest))
        {
          *cost = met;
          tightest = room;
          best = offset;
        }
    }
  return best;
}

/* Takes out what an item at @offset would overlap. */
static void
make_way (Repair *repair, guint32 item, guint64 offset)
{
  const PackItem *items = repair->problem->items, *new = &items[item];
  guint32 length, n = 0;
  const guint32 *list = _gantry_pack_windows_list (repair->windows, item, PACK_BOTTOM, &length);

  for (guint32 k = 0; k < length && items[list[k]].offset < offset + new->size; k++)
    {
      const PackItem *other = &items[list[k]];

      if (other->begin <= new->end && other->end >= new->begin && other->offset + other->size > offset)
        repair->met[n++] = list[k];
    }
  for (guint32 k = 0; k < n; k++)
    {
      guint32 other = repair->met[k];

      repair->work += _gantry_pack_windows_remove (repair->windows, other);
      repair->cost[other] += DEARER * hardness (&items[other]);
      push (repair, other);
    }
}

static gboolean
insert (Repair *repair, guint32 item)
{
  PackItem *new = &repair->problem->items[item];
  guint32 n = collect (repair, item, PACK_BOTTOM, repair->bottoms);
  guint64 offset;
  double cost;

  collect (repair, item, PACK_TOP, repair->tops);
  offset = cheapest_offset (repair, n, new->size, &cost);
  if (cost == G_MAXDOUBLE)
    return FALSE;
  if (cost > 0)
    make_way (repair, item, offset);
  new->offset = offset;
  repair->work += _gantry_pack_windows_insert (repair->windows, item);
  return TRUE;
}

gboolean
_gantry_pack_repair (PackProblem *problem, guint64 ceiling, guint64 *work, const GantryProgress *progress)
{
  Repair repair = { problem, _gantry_pack_windows_new (problem, ceiling), ceiling };
  gboolean done = TRUE;

  repair.cost = g_new (double, problem->n);
  repair.heap = g_new (guint32, problem->n + 1);
  repair.bottoms = g_new (Edge, problem->n + 1);
  repair.tops = g_new (Edge, problem->n + 1);
  repair.met = g_new (guint32, problem->n);
  for (guint32 i = 0; i < problem->n; i++)
    {
      repair.cost[i] = hardness (&problem->items[i]);
      if (problem->items[i].offset + problem->items[i].size > ceiling)
        push (&repair, i);
    }
  for (guint32 round = 0; repair.n_heap > 0 && done; round++)
    done = repair.work < *work && (round % 64 != 0 || !gantry_progress_cancelled (progress, NULL)) && insert (&repair, pop (&repair));
  *work -= MIN (*work, repair.work);
  _gantry_pack_windows_free (repair.windows);
  g_free (repair.cost);
  g_free (repair.heap);
  g_free (repair.bottoms);
  g_free (repair.tops);
  g_free (repair.met);
  return done;
}
