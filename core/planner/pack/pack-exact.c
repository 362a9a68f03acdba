/* SPDX-License-Identifier: Apache-2.0 */
/* Exact packing: sets up the search (pack-exact-search.c) and tries it with several orders of the items and rules for
 * the next decision in turn, each for a number of nodes that doubles from round to round: one that is quick on a problem
 * is hopeless on the next, and none is best. What one try learns, the next ones use. */
#include "core/planner/pack/pack-exact-private.h"
#include <string.h>

/* Beyond, one node costs too much for the search to get anywhere. */
#define MOST_ITEMS 2048
#define MOST_ENTRIES (1024u * 1024)
#define FEWEST_NODES 500
#define MOST_ATTEMPTS 4096

struct _PackExact
{
  Exact state;
};

/* Falling; T the largest load among the item's sections, W how many sections, A size times sections, Z size. */
typedef struct
{
  ExactRule rule;
  const char *order;
} Attempt;

/* Chosen by trial so that together they solve the most of the minimalloc problems with some buffers left out. */
static const Attempt attempts[] = {
  { EXACT_BY_FORCED_FAILURES, "TAW" }, { EXACT_BY_FAILURES, "TWA" }, { EXACT_BY_SLACK, "TZW" },   { EXACT_BY_FAILURES, "ZTW" },
  { EXACT_BY_LEVEL, "ZTW" },           { EXACT_BY_HARDNESS, "WTZ" }, { EXACT_BY_OPTIONS, "ZTW" }, { EXACT_BY_FORCED_FAILURES, "TWA" },
};

typedef struct
{
  const Exact *e;
  const char *order;
} Ranking;

static gint64
key_of (const Exact *e, char letter, guint32 item)
{
  gint64 width = e->last[item] - e->first[item] + 1;

  switch (letter)
    {
    case 'T': return e->pressure[item];
    case 'W': return width;
    case 'Z': return e->size[item];
    default: return width * e->size[item];
    }
}

static int
compare_ranks (const void *a, const void *b, gpointer user_data)
{
  const Ranking *ranking = user_data;
  guint32 i = *(const guint32 *) a, j = *(const guint32 *) b;

  for (const char *letter = ranking->order; *letter != '\0'; letter++)
    {
      gint64 x = key_of (ranking->e, *letter, i), y = key_of (ranking->e, *letter, j);

      if (x != y)
        return x > y ? -1 : 1;
    }
  return (i > j) - (i < j);
}

static void
rank_items (Exact *e, const char *order)
{
  g_autofree guint32 *sorted = g_new (guint32, e->n);
  Ranking ranking = { e, order };

  for (guint32 i = 0; i < e->n; i++)
    sorted[i] = i;
  g_qsort_with_data (sorted, (gint) e->n, sizeof *sorted, compare_ranks, &ranking);
  for (guint32 k = 0; k < e->n; k++)
    e->rank[sorted[k]] = k;
}

static guint64
common_divisor (const PackProblem *problem)
{
  guint64 unit = 0;

  for (guint32 i = 0; i < problem->n && unit != 1; i++)
    for (guint64 a = problem->items[i].size, rest; a != 0; a = rest)
      {
        rest = unit % a;
        unit = a;
      }
  return unit;
}

/* A time at which nothing ends before the next begins is no section: whatever is alive there is alive at the next. */
static void
make_sections (Exact *e, const PackProblem *problem)
{
  g_autofree guint32 *section = g_new0 (guint32, problem->n_times);
  g_autofree guint8 *ends = g_new0 (guint8, problem->n_times);

  for (guint32 i = 0; i < e->n; i++)
    ends[problem->items[i].end] = TRUE;
  for (guint32 t = 0; t < problem->n_times; t++)
    {
      section[t] = e->n_sections;
      e->n_sections += ends[t];
    }
  e->first = g_new (guint32, e->n);
  e->last = g_new (guint32, e->n);
  for (guint32 i = 0; i < e->n; i++)
    {
      e->first[i] = section[problem->items[i].begin];
      e->last[i] = section[problem->items[i].end];
    }
}

static guint32
count_entries (const Exact *e)
{
  guint32 entries = 0;

  for (guint32 i = 0; i < e->n && entries <= MOST_ENTRIES; i++)
    entries += e->last[i] - e->first[i] + 1;
  return entries;
}

static void
allocate (Exact *e, guint32 entries)
{
  guint32 n = e->n, sections = e->n_sections;

  e->n_words = (sections + 63) / 64;
  e->size = g_new (gint32, n);
  e->same = g_new (guint32, n);
  e->has_larger = g_new0 (guint8, n);
  e->pressure = g_new0 (gint32, n);
  e->rank = g_new0 (guint32, n);
  e->starting = g_new0 (guint32, sections + 1);
  e->by_first = g_new (guint16, n);
  e->state = g_new0 (gint32, 4 * (gsize) sections + n);
  e->level = e->state;
  e->top = e->level + sections;
  e->total = e->top + sections;
  e->under = e->total + sections;
  e->low = e->under + sections;
  e->offset = g_new0 (gint32, n);
  e->placed = g_new0 (guint8, n);
  e->count = g_new0 (guint32, sections);
  e->crossing = g_new0 (guint32, sections);
  e->list_begin = g_new0 (guint32, sections + 1);
  e->list = g_new (guint16, entries);
  e->slot_begin = g_new0 (guint32, n);
  e->slot = g_new (guint32, entries);
  e->stack = g_new (guint16, n);
  e->log_room = 4096;
  e->log = g_new (ExactUndo, e->log_room);
  e->dirty = g_new0 (guint64, e->n_words);
  e->touched = g_new0 (guint64, e->n_words);
  e->raised_room = sections + 64;
  e->raised = g_new (guint16, e->raised_room);
  e->cover = g_new0 (gint32, sections + 1);
  e->pool_room = 16 * n;
  e->pool = g_new (guint16, e->pool_room);
  e->failures = g_new0 (guint32, sections);
  e->table_bits = 16;
  e->table = g_new0 (guint64, (gsize) 1 << e->table_bits);
  e->most_depth = 2 * n + 256;
}

static void
fill_lists (Exact *e)
{
  guint32 entries = 0;

  for (guint32 i = 0; i < e->n; i++)
    {
      e->slot_begin[i] = entries;
      entries += e->last[i] - e->first[i] + 1;
      e->starting[e->first[i] + 1]++;
      for (guint32 s = e->first[i]; s <= e->last[i]; s++)
        {
          e->list_begin[s + 1]++;
          e->total[s] += e->size[i];
          e->crossing[s] += s > e->first[i];
        }
    }
  for (guint32 s = 0; s < e->n_sections; s++)
    {
      e->starting[s + 1] += e->starting[s];
      e->list_begin[s + 1] += e->list_begin[s];
      e->under[s] = -1;
    }
  for (guint32 i = 0; i < e->n; i++)
    for (guint32 s = e->first[i]; s <= e->last[i]; s++)
      {
        guint32 at = e->list_begin[s] + e->count[s]++;

        e->list[at] = (guint16) i;
        e->slot[e->slot_begin[i] + s - e->first[i]] = at;
        e->pressure[i] = MAX (e->pressure[i], e->total[s]);
      }
}

/* The items of the problem are sorted by begin, so that those of a section stand together. */
static void
find_same (Exact *e)
{
  for (guint32 i = 0; i < e->n; i++)
    {
      e->by_first[i] = (guint16) i;
      e->same[i] = EXACT_NO_ITEM;
      for (guint32 j = i; j-- > 0 && e->first[j] == e->first[i];)
        if (e->last[j] == e->last[i])
          {
            if (e->size[j] == e->size[i] && e->same[i] == EXACT_NO_ITEM)
              e->same[i] = j;
            e->has_larger[i] |= e->size[j] > e->size[i];
            e->has_larger[j] |= e->size[i] > e->size[j];
          }
    }
}

PackExact *
_gantry_pack_exact_new (const PackProblem *problem)
{
  PackExact *exact;
  Exact *e;
  guint64 unit;
  guint32 entries;

  if (problem->n == 0 || problem->n > MOST_ITEMS)
    return NULL;
  unit = common_divisor (problem);
  if (problem->lower_bound / unit > G_MAXINT32 / 4)
    return NULL;
  exact = g_new0 (PackExact, 1);
  e = &exact->state;
  e->n = problem->n;
  e->unit = unit;
  make_sections (e, problem);
  entries = count_entries (e);
  if (entries > MOST_ENTRIES)
    {
      _gantry_pack_exact_free (exact);
      return NULL;
    }
  allocate (e, entries);
  for (guint32 i = 0; i < e->n; i++)
    e->size[i] = (gint32) (problem->items[i].size / unit);
  fill_lists (e);
  find_same (e);
  return exact;
}

void
_gantry_pack_exact_free (PackExact *exact)
{
  Exact *e = &exact->state;
  gpointer arrays[] = { e->first,  e->last,   e->size,    e->same,     e->pressure,   e->rank, e->starting,   e->by_first, e->state,
                        e->offset, e->placed, e->count,   e->crossing, e->list_begin, e->list, e->slot_begin, e->slot,     e->stack,
                        e->log,    e->dirty,  e->touched, e->raised,   e->cover,      e->pool, e->failures,   e->table,    e->has_larger };

  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    g_free (arrays[i]);
  g_free (exact);
}

guint64
_gantry_pack_exact_unit (const PackExact *exact)
{
  return exact->state.unit;
}

/* Takes the packing that was found over, and makes the state ready for another. */
static guint64
take_packing (Exact *e, PackProblem *problem)
{
  guint64 height = 0;

  for (guint32 i = 0; i < e->n; i++)
    {
      problem->items[i].offset = (guint64) e->offset[i] * e->unit;
      height = MAX (height, problem->items[i].offset + problem->items[i].size);
    }
  _gantry_exact_undo (e, (ExactMark){ 0, 0 });
  return height;
}

PackOutcome
_gantry_pack_exact_run (PackExact *exact, PackProblem *problem, guint64 capacity, guint64 *nodes, guint64 *work, guint64 *height,
                        const GantryProgress *progress)
{
  Exact *e = &exact->state;
  guint64 length = MAX (FEWEST_NODES, 2 * (guint64) e->n);
  gint32 units = (gint32) MIN (capacity / e->unit, G_MAXINT32 / 2);
  PackOutcome outcome = PACK_LIMIT;

  /* What fails under one capacity may not fail under a larger one. */
  if (units > e->capacity)
    memset (e->table, 0, sizeof (guint64) << e->table_bits);
  e->capacity = units;
  e->progress = progress;
  for (guint32 s = 0; s < e->n_sections; s++)
    if (e->total[s] > e->capacity)
      return PACK_NONE;
  for (guint k = 0; k < MOST_ATTEMPTS && (*nodes) > 0 && *work > 0 && outcome == PACK_LIMIT; k++)
    {
      const Attempt *attempt = &attempts[k % G_N_ELEMENTS (attempts)];

      if (gantry_progress_cancelled (progress, NULL))
        break;
      e->rule = attempt->rule;
      e->limit = MIN (*nodes, length);
      e->most_work = *work;
      rank_items (e, attempt->order);
      outcome = _gantry_exact_search (e);
      *nodes -= MIN (*nodes, e->nodes);
      *work -= MIN (*work, e->work);
      if (k % G_N_ELEMENTS (attempts) == G_N_ELEMENTS (attempts) - 1)
        length *= 2;
    }
  if (outcome == PACK_FOUND)
    *height = take_packing (e, problem);
  return outcome;
}
