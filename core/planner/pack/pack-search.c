/* SPDX-License-Identifier: Apache-2.0 */
/* Static allocation by search over orders: an order of the items stands for the packing in which each
 * in turn takes the lowest gap that it fits. Several sorted orders are tried (with the lowest gap and with the
 * tightest gap), then the best one is changed around what stands at the top: hill climbing, as the
 * allocator of Arm's Vela compiler does, with undo and with evaluation from the first changed place
 * on. Work is counted, not time, so the result does not depend on the machine. */
#include "core/planner/pack/pack-private.h"
#include <string.h>

/* More pairs of items alive together than this are not listed: the skyline's packing stands. */
#define MOST_PAIRS (4u * 1024 * 1024)

typedef struct
{
  guint64 begin, end;
} Span;

typedef struct
{
  PackProblem *problem;
  guint32 *first;      /* n + 1: where the neighbours of each item begin */
  guint32 *neighbours; /* items alive at the same time */
  guint32 *order;
  guint32 *position; /* in order */
  guint64 *saved;    /* offsets, to undo */
  guint64 *best;
  Span *spans; /* scratch */
  guint64 work;
  guint64 random;
} Search;

/* Of a pair alive at the same time, the one that begins later (in the order of the items) finds the earlier one. */
static guint64
count_pairs (const PackProblem *problem)
{
  g_autofree guint32 *ending = g_new0 (guint32, problem->n_times + 1);
  guint64 pairs = 0;
  guint32 alive = 0, time = 0;

  for (guint32 i = 0; i < problem->n; i++)
    {
      for (; time < problem->items[i].begin; time++)
        alive -= ending[time];
      pairs += alive++;
      ending[problem->items[i].end]++;
    }
  return pairs;
}

static void
list_neighbours (Search *search)
{
  const PackProblem *problem = search->problem;
  g_autofree guint32 *alive = g_new (guint32, problem->n);
  guint32 n_alive = 0;

  /* Twice the same walk: to count, and to fill from the end of each list. */
  for (int fill = 0; fill < 2; fill++)
    {
      n_alive = 0;
      for (guint32 i = 0; i < problem->n; i++)
        {
          guint32 kept = 0;

          for (guint32 k = 0; k < n_alive; k++)
            {
              guint32 j = alive[k];

              if (problem->items[j].end < problem->items[i].begin)
                continue;
              alive[kept++] = j;
              if (!fill)
                search->first[i]++, search->first[j]++;
              else
                {
                  search->neighbours[--search->first[i]] = j;
                  search->neighbours[--search->first[j]] = i;
                }
            }
          alive[kept] = i;
          n_alive = kept + 1;
        }
      if (fill)
        break;
      for (guint32 i = 0; i < problem->n; i++)
        search->first[i + 1] += search->first[i];
      search->neighbours = g_new (guint32, search->first[problem->n] + 1);
    }
}

/* The earlier neighbours of item @i as spans in the order of offset. */
static guint32
placed_spans (Search *search, guint32 i)
{
  const PackItem *items = search->problem->items;
  guint32 n = 0;

  for (guint32 k = search->first[i]; k < search->first[i + 1]; k++)
    {
      guint32 j = search->neighbours[k], at = n;
      Span span;

      if (search->position[j] >= search->position[i])
        continue;
      span.begin = items[j].offset;
      span.end = items[j].offset + items[j].size;
      search->spans[n++] = span;
      /* Insertion sort: the lists of a real program are short, and long ones go to the library below. */
      if (n <= 48)
        for (; at > 0 && search->spans[at - 1].begin > span.begin; at--)
          {
            search->spans[at] = search->spans[at - 1];
            search->spans[at - 1] = span;
          }
    }
  search->work += search->first[i + 1] - search->first[i] + n;
  return n;
}

static int
compare_spans (const void *a, const void *b)
{
  const Span *x = a, *y = b;

  return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Where item @i goes: the lowest gap that it fits, or the tightest one. */
static guint64
find_gap (Search *search, guint32 i, gboolean tightest)
{
  guint64 size = search->problem->items[i].size, top = 0, best = G_MAXUINT64, best_gap = G_MAXUINT64;
  guint32 n = placed_spans (search, i);

  if (n > 48)
    qsort (search->spans, n, sizeof (Span), compare_spans);
  for (guint32 k = 0; k < n; k++)
    {
      const Span *span = &search->spans[k];

      if (span->begin > top && span->begin - top >= size && span->begin - top < best_gap)
        {
          best = top;
          best_gap = span->begin - top;
          if (!tightest)
            return best;
        }
      top = MAX (top, span->end);
    }
  return best != G_MAXUINT64 ? best : top;
}

/* Places the items of the order from @from on. Returns: their height, or more than @limit as soon as it is exceeded */
static guint64
evaluate (Search *search, guint32 from, gboolean tightest, guint64 limit)
{
  PackItem *items = search->problem->items;
  guint64 height = 0;

  for (guint32 k = from; k < search->problem->n; k++)
    {
      guint32 i = search->order[k];

      items[i].offset = find_gap (search, i, tightest);
      height = MAX (height, items[i].offset + items[i].size);
      if (height > limit)
        break;
    }
  return height;
}

static void
number_positions (Search *search)
{
  for (guint32 k = 0; k < search->problem->n; k++)
    search->position[search->order[k]] = k;
}

static void
save (const Search *search, guint64 *offsets)
{
  for (guint32 i = 0; i < search->problem->n; i++)
    offsets[i] = search->problem->items[i].offset;
}

static void
restore (Search *search, const guint64 *offsets)
{
  for (guint32 i = 0; i < search->problem->n; i++)
    search->problem->items[i].offset = offsets[i];
}

/* The orders to begin with: by one or two of these, falling, ties by the next. */

typedef enum
{
  KEY_SIZE,
  KEY_LENGTH,
  KEY_AREA,
  KEY_PRESSURE, /* the most that is ever alive together with it */
  KEY_OFFSET,   /* rising: that of the packing at hand */
  N_KEYS
} Key;

typedef struct
{
  double value[N_KEYS];
} Keys;

typedef struct
{
  const Keys *keys;
  Key by[3];
} Sorting;

static const Key sortings[][3] = {
  { KEY_SIZE, KEY_LENGTH, KEY_PRESSURE }, { KEY_LENGTH, KEY_SIZE, KEY_PRESSURE }, { KEY_AREA, KEY_SIZE, KEY_PRESSURE },
  { KEY_PRESSURE, KEY_AREA, KEY_SIZE },   { KEY_PRESSURE, KEY_LENGTH, KEY_SIZE }, { KEY_PRESSURE, KEY_SIZE, KEY_LENGTH },
};

static int
compare_keys (const void *a, const void *b, gpointer user_data)
{
  const Sorting *sorting = user_data;
  guint32 i = *(const guint32 *) a, j = *(const guint32 *) b;

  for (int k = 0; k < 3; k++)
    {
      double x = sorting->keys[i].value[sorting->by[k]], y = sorting->keys[j].value[sorting->by[k]];

      if (x != y)
        return x > y ? -1 : 1;
    }
  return (i > j) - (i < j);
}

static void
sort_order (Search *search, const Keys *keys, const Key *by)
{
  Sorting sorting = { keys, { by[0], by[1], by[2] } };

  for (guint32 i = 0; i < search->problem->n; i++)
    search->order[i] = i;
  g_qsort_with_data (search->order, (gint) search->problem->n, sizeof (guint32), compare_keys, &sorting);
  number_positions (search);
}

static void
fill_keys (const PackProblem *problem, Keys *keys)
{
  for (guint32 i = 0; i < problem->n; i++)
    {
      const PackItem *item = &problem->items[i];
      double length = (double) (item->end - item->begin) + 1;
      guint64 pressure = 0;

      /* Sampled where it is long: a key needs no exactness. */
      for (guint32 t = item->begin, step = 1 + (item->end - item->begin) / 64; t <= item->end; t += step)
        pressure = MAX (pressure, problem->live[t]);
      keys[i].value[KEY_SIZE] = (double) item->size;
      keys[i].value[KEY_LENGTH] = length;
      keys[i].value[KEY_AREA] = length * (double) item->size;
      keys[i].value[KEY_PRESSURE] = (double) pressure;
      keys[i].value[KEY_OFFSET] = -(double) item->offset;
    }
}

/* Leaves the best packing in `best`. */
static guint64
try_sortings (Search *search, guint64 height, guint64 most_work)
{
  PackProblem *problem = search->problem;
  g_autofree Keys *keys = g_new (Keys, problem->n);

  fill_keys (problem, keys);
  for (guint s = 0; s < 2 * G_N_ELEMENTS (sortings) && height > problem->target && search->work < most_work; s++)
    {
      guint64 reached;

      sort_order (search, keys, sortings[s / 2]);
      reached = evaluate (search, 0, s % 2 == 1, height - 1);
      if (reached < height)
        {
          height = reached;
          save (search, search->best);
        }
    }
  return height;
}

static guint32
random_below (Search *search, guint32 n)
{
  /* xorshift64*, Vigna 2016 */
  search->random ^= search->random >> 12;
  search->random ^= search->random << 25;
  search->random ^= search->random >> 27;
  return (guint32) (((search->random * G_GUINT64_CONSTANT (2685821657736338717)) >> 33) % n);
}

/* One of the items whose end is the height. */
static guint32
random_top (Search *search, guint64 height)
{
  const PackProblem *problem = search->problem;
  guint32 count = 0, found = 0;

  for (guint32 i = 0; i < problem->n; i++)
    if (problem->items[i].offset + problem->items[i].size == height && random_below (search, ++count) == 0)
      found = i;
  search->work += problem->n;
  return found;
}

/* An item alive together with @i; @i itself when it is alone. */
static guint32
random_neighbour (Search *search, guint32 i)
{
  guint32 n = search->first[i + 1] - search->first[i];

  return n > 0 ? search->neighbours[search->first[i] + random_below (search, n)] : i;
}

/* Moves the item at place @from of the order to place @to, those between by one. */
static void
move (Search *search, guint32 from, guint32 to)
{
  guint32 item = search->order[from];

  if (from > to)
    memmove (search->order + to + 1, search->order + to, (from - to) * sizeof (guint32));
  else
    memmove (search->order + from, search->order + from + 1, (to - from) * sizeof (guint32));
  search->order[to] = item;
  for (guint32 k = MIN (from, to); k <= MAX (from, to); k++)
    search->position[search->order[k]] = k;
}

/* One change around the top: swaps two of the items there, or brings one forward. */
typedef struct
{
  gboolean swap;
  guint32 from, to;
} Change;

static void
apply (Search *search, const Change *change)
{
  if (change->swap)
    {
      guint32 a = search->order[change->from], b = search->order[change->to];

      search->order[change->from] = b;
      search->order[change->to] = a;
      search->position[a] = change->to;
      search->position[b] = change->from;
    }
  else
    move (search, change->from, change->to);
}

static void
revert (Search *search, const Change *change)
{
  Change back = { change->swap, change->to, change->from };

  apply (search, &back);
}

static gboolean
propose (Search *search, guint64 height, Change *change)
{
  guint32 top = random_top (search, height), near = random_neighbour (search, top);
  guint32 a = top, b = near;

  switch (random_below (search, 4))
    {
    case 0: /* the neighbour against one of its own */ a = random_neighbour (search, near); break;
    case 1: a = random_neighbour (search, top); break;
    default: break;
    }
  change->swap = random_below (search, 2) == 0;
  change->from = search->position[a];
  change->to = search->position[b];
  return change->from != change->to;
}

/* Climbs from the order at hand, whose packing has height @height. */
static guint64
climb (Search *search, guint64 height, guint rounds, guint64 work, const GantryProgress *progress)
{
  PackProblem *problem = search->problem;
  guint64 best = height, limit = rounds > 0 ? G_MAXUINT64 : search->work + work;
  guint stale = 0;

  save (search, search->saved);
  for (guint round = 0; (rounds == 0 || round < rounds) && search->work < limit && best > problem->target; round++)
    {
      Change change;
      guint64 reached, below = 0;
      /* After long without gain one worse step is taken, no more than a hundredth above the best. */
      guint64 bound = stale > 2000 ? best + best / 100 : height;
      guint32 from;

      if (round % 64 == 0 && gantry_progress_cancelled (progress, NULL))
        break;
      if (!propose (search, height, &change))
        continue;
      apply (search, &change);
      from = MIN (change.from, change.to);
      for (guint32 k = 0; k < from; k++)
        {
          const PackItem *item = &problem->items[search->order[k]];

          below = MAX (below, item->offset + item->size);
        }
      reached = below <= bound ? MAX (below, evaluate (search, from, FALSE, bound)) : below;
      if (reached > bound)
        {
          revert (search, &change);
          for (guint32 k = from; k < problem->n; k++)
            problem->items[search->order[k]].offset = search->saved[search->order[k]];
          stale++;
          continue;
        }
      for (guint32 k = from; k < problem->n; k++)
        search->saved[search->order[k]] = problem->items[search->order[k]].offset;
      stale = reached < best || stale > 2000 ? 0 : stale + 1;
      height = reached;
      if (reached < best)
        {
          best = reached;
          save (search, search->best);
        }
    }
  return best;
}

static gboolean
search_init (Search *search, PackProblem *problem, guint64 most_pairs)
{
  guint32 n = problem->n;

  if (count_pairs (problem) > most_pairs)
    return FALSE;
  search->problem = problem;
  search->random = G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);
  search->first = g_new0 (guint32, n + 1);
  list_neighbours (search);
  search->order = g_new (guint32, n);
  search->position = g_new (guint32, n);
  search->saved = g_new (guint64, n);
  search->best = g_new (guint64, n);
  search->spans = g_new (Span, n);
  return TRUE;
}

static void
search_clear (Search *search)
{
  g_free (search->first);
  g_free (search->neighbours);
  g_free (search->order);
  g_free (search->position);
  g_free (search->saved);
  g_free (search->best);
  g_free (search->spans);
}

guint64
_gantry_pack_search (PackProblem *problem, guint64 height, guint rounds, guint64 work, const GantryProgress *progress)
{
  static const Key by_offset[3] = { KEY_OFFSET, KEY_LENGTH, KEY_SIZE };
  Search search = { 0 };
  g_autofree Keys *keys = NULL;
  guint64 reached;

  /* Where one order alone would take the work, there is no climb. */
  if (!search_init (&search, problem, rounds > 0 ? MOST_PAIRS : MIN (MOST_PAIRS, work / 4)))
    return height;
  save (&search, search.best);
  height = try_sortings (&search, height, work);
  restore (&search, search.best);
  if (height > problem->target)
    {
      /* In the order of its own offsets a packing can only sink. */
      keys = g_new (Keys, problem->n);
      fill_keys (problem, keys);
      sort_order (&search, keys, by_offset);
      reached = evaluate (&search, 0, FALSE, G_MAXUINT64);
      g_assert (reached <= height);
      height = reached;
      save (&search, search.best);
      height = climb (&search, height, rounds, work, progress);
      restore (&search, search.best);
    }
  search_clear (&search);
  return height;
}
