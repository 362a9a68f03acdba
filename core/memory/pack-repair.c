/* SPDX-License-Identifier: Apache-2.0 */
/* Static allocation by repair: what stands above a ceiling is taken out and put in below it, the largest first; where no
 * gap is large enough, at the offset at which the least has to give way, which then looks for a place itself. What had to
 * give way often costs more, so that the same items do not drive each other out forever (min-conflicts with weights).
 * Made for large problems, of which the skyline leaves only a few items too high. Work is counted, not time. */
#include "core/memory/pack-private.h"
#include <string.h>

typedef struct
{
  guint64 offset, top;
  double cost;
  guint32 item;
} Span;

typedef struct
{
  PackProblem *problem;
  guint64 ceiling;
  guint8 *placed;
  guint32 *evictions;
  guint32 *heap; /* items that look for a place, the largest area first */
  guint32 n_heap;
  Span *by_offset, *by_top;
  guint32 n_spans;
  guint64 work;
} Repair;

static double
area (const PackItem *item)
{
  return (double) item->size * ((double) item->end - item->begin + 1);
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
  repair->placed[item] = FALSE;
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

static int
compare_offsets (const void *a, const void *b)
{
  const Span *x = a, *y = b;

  return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : (x->item > y->item) - (x->item < y->item);
}

static int
compare_tops (const void *a, const void *b)
{
  const Span *x = a, *y = b;

  return x->top != y->top ? (x->top < y->top ? -1 : 1) : (x->item > y->item) - (x->item < y->item);
}

/* What lies where, during the life of @item. */
static void
collect (Repair *repair, guint32 item)
{
  const PackProblem *problem = repair->problem;
  const PackItem *items = problem->items;
  guint32 begin = items[item].begin, end = items[item].end, n = 0;

  /* Sorted by begin. */
  for (guint32 j = 0; j < problem->n && items[j].begin <= end; j++)
    if (items[j].end >= begin && repair->placed[j])
      repair->by_offset[n++] = (Span){ items[j].offset, items[j].offset + items[j].size,
                                       area (&items[j]) * (1 + repair->evictions[j]), j };
  repair->n_spans = n;
  memcpy (repair->by_top, repair->by_offset, n * sizeof (Span));
  qsort (repair->by_offset, n, sizeof (Span), compare_offsets);
  qsort (repair->by_top, n, sizeof (Span), compare_tops);
  repair->work += problem->n / 8 + 16 * (guint64) n;
}

/* Returns: the offset at which an item of @size meets the least; what it meets is the rest that begins below its top,
 * without what ends below its offset. @cost: 0 where it fits */
static guint64
cheapest_offset (const Repair *repair, guint64 size, double *cost)
{
  guint64 best = 0, tightest = G_MAXUINT64;
  guint32 begun = 0;
  double sum_begun = 0, sum_ended = 0;

  *cost = G_MAXDOUBLE;
  for (guint32 k = 0; k <= repair->n_spans; k++)
    {
      guint64 offset = k > 0 ? repair->by_top[k - 1].top : 0, room;
      guint32 ended = k;
      double met;

      if (k > 0)
        sum_ended += repair->by_top[k - 1].cost;
      if (offset + size > repair->ceiling)
        break;
      for (; begun < repair->n_spans && repair->by_offset[begun].offset < offset + size; begun++)
        sum_begun += repair->by_offset[begun].cost;
      met = begun == ended ? 0 : MAX (sum_begun - sum_ended, 1); /* the sums are rounded */
      room = (begun < repair->n_spans ? repair->by_offset[begun].offset : repair->ceiling) - offset;
      /* The tightest of the gaps, else the least in the way. */
      if (met < *cost || (met == 0 && *cost == 0 && room < tightest))
        {
          *cost = met;
          tightest = room;
          best = offset;
        }
    }
  return best;
}

static gboolean
insert (Repair *repair, guint32 item)
{
  PackItem *new = &repair->problem->items[item];
  double cost;

  collect (repair, item);
  new->offset = cheapest_offset (repair, new->size, &cost);
  if (cost == G_MAXDOUBLE)
    return FALSE;
  for (guint32 k = 0; k < repair->n_spans; k++)
    {
      const Span *span = &repair->by_offset[k];

      if (span->offset >= new->offset + new->size || span->top <= new->offset)
        continue;
      repair->evictions[span->item]++;
      push (repair, span->item);
    }
  repair->placed[item] = TRUE;
  return TRUE;
}

gboolean
_gantry_pack_repair (PackProblem *problem, guint64 ceiling, guint64 *work, const GantryProgress *progress)
{
  Repair repair = { problem, ceiling };
  gboolean done = TRUE;

  repair.placed = g_new0 (guint8, problem->n);
  repair.evictions = g_new0 (guint32, problem->n);
  repair.heap = g_new (guint32, problem->n + 1);
  repair.by_offset = g_new (Span, problem->n);
  repair.by_top = g_new (Span, problem->n);
  for (guint32 i = 0; i < problem->n; i++)
    {
      repair.placed[i] = problem->items[i].offset + problem->items[i].size <= ceiling;
      if (!repair.placed[i])
        push (&repair, i);
    }
  for (guint32 round = 0; repair.n_heap > 0 && done; round++)
    done = repair.work < *work && (round % 64 != 0 || !gantry_progress_cancelled (progress, NULL))
           && insert (&repair, pop (&repair));
  *work -= MIN (*work, repair.work);
  g_free (repair.placed);
  g_free (repair.evictions);
  g_free (repair.heap);
  g_free (repair.by_offset);
  g_free (repair.by_top);
  return done;
}
