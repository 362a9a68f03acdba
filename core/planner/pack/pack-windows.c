/* SPDX-License-Identifier: Apache-2.0 */
/* Who is alive together with an item, in the order of offset: time is covered by windows of several widths, each half
 * over the next, and each knows the placed items that are alive in it by their bottoms and by their tops. Whatever is
 * alive together with an item stands in the list of the narrowest window that holds the item's whole life. */
#include "core/planner/pack/pack-private.h"
#include <string.h>

#define MOST_LEVELS 16
/* From level to level windows are this much narrower. */
#define NARROWER 4
/* List entries for each item, on one level and on all of them: what a change may cost, and the memory. */
#define MOST_ENTRIES_OF_LEVEL 24
#define MOST_ENTRIES 64
#define NARROWEST 8

typedef struct
{
  guint32 step; /* window k covers the times [k step, k step + 2 step) */
  guint32 n;
  guint32 *begin; /* of a window: where its list begins */
  guint32 *count; /* of a window: how many of its items are placed */
  guint32 *lists[2];
} Level;

struct _PackWindows
{
  const PackProblem *problem;
  guint n_levels;
  Level levels[MOST_LEVELS]; /* from wide to narrow */
};

static inline guint32
first_window (const Level *level, const PackItem *item)
{
  guint32 k = item->begin / level->step;

  return k > 0 ? k - 1 : 0;
}

static inline guint32
last_window (const Level *level, const PackItem *item)
{
  return item->end / level->step;
}

static guint64
count_entries (const PackProblem *problem, const Level *level)
{
  guint64 entries = 0;

  for (guint32 i = 0; i < problem->n; i++)
    entries += last_window (level, &problem->items[i]) - first_window (level, &problem->items[i]) + 1;
  return entries;
}

static void
level_init (Level *level, const PackProblem *problem, guint64 entries)
{
  guint32 sum = 0;

  level->n = (problem->n_times - 1) / level->step + 1;
  level->begin = g_new0 (guint32, level->n + 1);
  level->count = g_new0 (guint32, level->n);
  for (guint edge = 0; edge < 2; edge++)
    level->lists[edge] = g_new (guint32, entries);
  for (guint32 i = 0; i < problem->n; i++)
    for (guint32 k = first_window (level, &problem->items[i]); k <= last_window (level, &problem->items[i]); k++)
      level->begin[k]++;
  for (guint32 k = 0; k < level->n; k++)
    {
      guint32 count = level->begin[k];

      level->begin[k] = sum;
      sum += count;
    }
}

static inline guint64
edge_of (const PackItem *item, PackEdge edge)
{
  return edge == PACK_TOP ? item->offset + item->size : item->offset;
}

typedef struct
{
  guint64 at;
  guint32 item;
} Key;

static int
compare_keys (const void *a, const void *b)
{
  const Key *x = a, *y = b;

  return x->at != y->at ? (x->at < y->at ? -1 : 1) : (x->item > y->item) - (x->item < y->item);
}

/* Fills all lists of one edge in its order. */
static void
fill (PackWindows *windows, guint64 ceiling, PackEdge edge)
{
  const PackItem *items = windows->problem->items;
  g_autofree Key *keys = g_new (Key, windows->problem->n);
  guint32 n = 0;

  for (guint32 i = 0; i < windows->problem->n; i++)
    if (items[i].offset + items[i].size <= ceiling)
      keys[n++] = (Key){ edge_of (&items[i], edge), i };
  qsort (keys, n, sizeof *keys, compare_keys);
  for (guint l = 0; l < windows->n_levels; l++)
    {
      Level *level = &windows->levels[l];

      memset (level->count, 0, level->n * sizeof *level->count);
      for (guint32 j = 0; j < n; j++)
        {
          guint32 last = last_window (level, &items[keys[j].item]);

          for (guint32 k = first_window (level, &items[keys[j].item]); k <= last; k++)
            level->lists[edge][level->begin[k] + level->count[k]++] = keys[j].item;
        }
    }
}

PackWindows *
_gantry_pack_windows_new (const PackProblem *problem, guint64 ceiling)
{
  PackWindows *windows = g_new0 (PackWindows, 1);
  guint64 sum = 0;

  windows->problem = problem;
  for (guint32 step = MAX (problem->n_times, 1); windows->n_levels < MOST_LEVELS; step /= NARROWER)
    {
      Level level = { .step = step };
      guint64 entries = count_entries (problem, &level);

      sum += entries;
      if (windows->n_levels > 0 && (entries > MOST_ENTRIES_OF_LEVEL * (guint64) problem->n || sum > MOST_ENTRIES * (guint64) problem->n))
        break;
      level_init (&level, problem, entries);
      windows->levels[windows->n_levels++] = level;
      if (step < NARROWEST * NARROWER)
        break;
    }
  fill (windows, ceiling, PACK_BOTTOM);
  fill (windows, ceiling, PACK_TOP);
  return windows;
}

void
_gantry_pack_windows_free (PackWindows *windows)
{
  for (guint l = 0; l < windows->n_levels; l++)
    {
      g_free (windows->levels[l].begin);
      g_free (windows->levels[l].count);
      g_free (windows->levels[l].lists[PACK_BOTTOM]);
      g_free (windows->levels[l].lists[PACK_TOP]);
    }
  g_free (windows);
}

const guint32 *
_gantry_pack_windows_list (const PackWindows *windows, guint32 item, PackEdge edge, guint32 *length)
{
  const PackItem *it = &windows->problem->items[item];
  const Level *level = &windows->levels[0];
  guint32 k = 0;

  for (guint l = 1; l < windows->n_levels; l++)
    {
      const Level *narrower = &windows->levels[l];
      guint32 window = it->begin / narrower->step;

      if (it->end / narrower->step > window + 1)
        break;
      level = narrower;
      k = window;
    }
  *length = level->count[k];
  return level->lists[edge] + level->begin[k];
}

/* Index of the first entry of a list that does not come before @item. */
static guint32
find (const PackItem *items, const guint32 *list, guint32 n, guint32 item, PackEdge edge)
{
  guint64 at = edge_of (&items[item], edge);
  guint32 low = 0, high = n;

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;
      guint64 other = edge_of (&items[list[middle]], edge);

      if (other < at || (other == at && list[middle] < item))
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* Puts an item into all its lists, or takes it out of them. Returns: what that costs, in list entries */
static guint64
change (PackWindows *windows, guint32 item, gboolean enter)
{
  const PackItem *items = windows->problem->items;
  guint64 work = 0;

  for (guint l = 0; l < windows->n_levels; l++)
    {
      Level *level = &windows->levels[l];

      for (guint32 k = first_window (level, &items[item]); k <= last_window (level, &items[item]); k++)
        {
          guint32 n = level->count[k];

          for (PackEdge edge = PACK_BOTTOM; edge <= PACK_TOP; edge++)
            {
              guint32 *list = level->lists[edge] + level->begin[k], at = find (items, list, n, item, edge);

              if (enter)
                {
                  memmove (list + at + 1, list + at, (n - at) * sizeof *list);
                  list[at] = item;
                }
              else
                memmove (list + at, list + at + 1, (n - at - 1) * sizeof *list);
            }
          level->count[k] = enter ? n + 1 : n - 1;
          work += 16 + n / 16;
        }
    }
  return work;
}

guint64
_gantry_pack_windows_insert (PackWindows *windows, guint32 item)
{
  return change (windows, item, TRUE);
}

guint64
_gantry_pack_windows_remove (PackWindows *windows, guint32 item)
{
  return change (windows, item, FALSE);
}
