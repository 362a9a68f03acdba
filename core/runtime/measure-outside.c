/* SPDX-License-Identifier: Apache-2.0 */
/* Memory outside of the arenas: what the caller has lent, constants that are read where they are mapped, the constant regions.
 * Blocks of the heap among them share pages, each of which is there once. */
#include "core/runtime/measure-private.h"
#include <unistd.h>

typedef struct
{
  const guint8 *data;
  gsize size;
  GantryMemoryPart part;
  guint64 counted; /* bytes of it that were seen in memory */
} Range;

static int
compare_ranges (gconstpointer a, gconstpointer b)
{
  const Range *x = a, *y = b;

  return x->data != y->data ? (x->data > y->data) - (x->data < y->data) : (x->part > y->part) - (x->part < y->part);
}

/* Bytes of the pages under @ranges, a page that several share as the part of the first of them; what is found is added to @facts. */
static GantryMemoryParts
count_ranges (GArray *ranges, GantryPageFacts *facts)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  GantryMemoryParts parts = { { 0 } };
  gsize done = 0; /* up to this address */

  g_array_sort (ranges, compare_ranges);
  for (guint i = 0; i < ranges->len; i++)
    {
      const Range *range = &g_array_index (ranges, Range, i);
      gsize begin = GPOINTER_TO_SIZE (range->data) / page * page;
      gsize end = (GPOINTER_TO_SIZE (range->data) + range->size + page - 1) / page * page;

      begin = MAX (begin, done);
      if (range->size == 0 || end <= begin)
        continue;
      parts.bytes[range->part] += gantry_pages_count (GSIZE_TO_POINTER (begin), end - begin, facts);
      done = end;
    }
  return parts;
}

static void
add_range (GArray *ranges, gconstpointer data, gsize size, GantryMemoryPart part)
{
  Range range = { data, size, part, 0 };

  g_array_append_val (ranges, range);
}

static gboolean
is_of_device (const GantryExecutor *executor, guint32 place)
{
  return executor->executable->plan->buffers[executor->places[place].owner].memory == GANTRY_MEMORY_DEVICE;
}

/* What the caller has lent of the device's memory, or of the host's. */
static void
add_lent (const GantryExecutor *executor, gboolean of_device, GArray *ranges)
{
  for (guint32 p = 0; p < executor->n_places; p++)
    if (executor->lent[p] && !is_of_device (executor, p) == !of_device)
      add_range (ranges, executor->base[p], executor->places[p].used, GANTRY_PART_ARGUMENTS);
}

/* Constants of the executor and of all its regions. */
static void
add_constants (const GantryExecutor *executor, GArray *ranges)
{
  const GantryPlan *plan = executor->executable->plan;
  gsize filled = MIN (whole_place (plan->constant_bytes), executor->constant_bytes);

  for (guint32 b = 0; b < plan->n_buffers; b++)
    if (plan->buffers[b].region == GANTRY_REGION_LITERAL)
      add_range (ranges, executor->addresses[b], plan->buffers[b].size, GANTRY_PART_CONSTANTS);
  if (executor->constant_bytes > 0)
    {
      add_range (ranges, executor->constants, filled, GANTRY_PART_CONSTANTS);
      add_range (ranges, executor->constants + filled, executor->constant_bytes - filled, GANTRY_PART_PACKED_WEIGHTS);
    }
  for (guint32 i = 0; i < executor->executable->n_controls; i++)
    for (guint r = 0; r < executor->executable->controls[i].control.n_regions; r++)
      add_constants (executor->controls[i].regions[r], ranges);
}

GantryMemoryParts
_gantry_measure_outside (const GantryExecutor *executor, GantryPageFacts *facts)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (Range));

  add_lent (executor, TRUE, ranges);
  add_constants (executor, ranges);
  return count_ranges (ranges, facts);
}

guint64
_gantry_measure_lent_host (const GantryExecutor *executor, GantryPageFacts *facts)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (Range));
  GantryMemoryParts parts;

  add_lent (executor, FALSE, ranges);
  parts = count_ranges (ranges, facts);
  return gantry_memory_parts_total (&parts);
}

/* Ranges that come into memory as they are used: what the caller has lent of the device's memory, and constants that are read where they
 * are mapped, those of regions too. */
static void
add_used (const GantryExecutor *executor, GArray *ranges)
{
  const GantryPlan *plan = executor->executable->plan;

  for (guint32 b = 0; b < plan->n_buffers; b++)
    if (plan->buffers[b].region == GANTRY_REGION_LITERAL)
      add_range (ranges, executor->addresses[b], plan->buffers[b].size, GANTRY_PART_CONSTANTS);
  for (guint32 i = 0; i < executor->executable->n_controls; i++)
    for (guint r = 0; r < executor->executable->controls[i].control.n_regions; r++)
      add_used (executor->controls[i].regions[r], ranges);
}

/* Ranges become whole pages: those that have bytes in common one, the rest without what belongs to the one before. */
static void
make_disjoint (GArray *ranges, gsize page)
{
  gsize bytes = 0; /* up to this address */
  guint n = 0;

  g_array_sort (ranges, compare_ranges);
  for (guint i = 0; i < ranges->len; i++)
    {
      Range range = g_array_index (ranges, Range, i), *last = n > 0 ? &g_array_index (ranges, Range, n - 1) : NULL;
      gsize begin = GPOINTER_TO_SIZE (range.data), end = begin + range.size;
      gsize first = begin / page * page, after = (end + page - 1) / page * page;

      if (range.size == 0)
        continue;
      if (last != NULL && begin < bytes)
        last->size = MAX (after, GPOINTER_TO_SIZE (last->data) + last->size) - GPOINTER_TO_SIZE (last->data);
      else
        {
          if (last != NULL)
            first = MAX (first, GPOINTER_TO_SIZE (last->data) + last->size);
          range.data = GSIZE_TO_POINTER (first);
          range.size = after > first ? after - first : 0;
          g_array_index (ranges, Range, n++) = range;
        }
      bytes = MAX (bytes, end);
    }
  g_array_set_size (ranges, n);
}

static guint64
count_new (Measuring *m, Range *range)
{
  guint64 there = gantry_pages_count (range->data, range->size, &m->facts);
  guint64 more = there > range->counted ? there - range->counted : 0;

  range->counted += more;
  return more;
}

void
_gantry_measure_list_ranges (Measuring *m)
{
  const GantryExecutor *executor = m->executor;

  m->ranges = g_array_new (FALSE, FALSE, sizeof (Range));
  add_lent (executor, TRUE, m->ranges);
  add_used (executor, m->ranges);
  make_disjoint (m->ranges, m->page);
  for (guint i = 0; i < m->ranges->len; i++)
    count_new (m, &g_array_index (m->ranges, Range, i));
}

/* The range that holds the page of @data: the last that begins no later. */
static Range *
range_of (const Measuring *m, gconstpointer data)
{
  guint first = 0, end = m->ranges->len;

  while (first < end)
    {
      guint middle = first + (end - first) / 2;

      if ((gconstpointer) g_array_index (m->ranges, Range, middle).data <= data)
        first = middle + 1;
      else
        end = middle;
    }
  return first > 0 ? &g_array_index (m->ranges, Range, first - 1) : NULL;
}

GantryMemoryParts
_gantry_measure_used (Measuring *m, const GantryInstruction *instruction)
{
  const GantryExecutor *executor = m->executor;
  const GantryExecutable *executable = executor->executable;
  GantryMemoryParts parts = { { 0 } };

  for (guint32 k = 0; k < instruction->n_buffers; k++)
    {
      guint32 b = executable->buffer_refs[instruction->buffers + k], p = executor->place_of[b];
      gboolean literal = executable->plan->buffers[b].region == GANTRY_REGION_LITERAL;
      Range *range = literal || (p != G_MAXUINT32 && executor->lent[p] && is_of_device (executor, p))
                       ? range_of (m, literal ? executor->addresses[b] : executor->base[p])
                       : NULL;

      if (range != NULL)
        parts.bytes[range->part] += count_new (m, range);
    }
  for (guint i = 0; instruction->kind == GANTRY_INSTRUCTION_CONTROL && i < m->ranges->len; i++)
    parts.bytes[g_array_index (m->ranges, Range, i).part] += count_new (m, &g_array_index (m->ranges, Range, i));
  return parts;
}

/* Of the pages under @ranges, what is outside of them. */
static guint64
count_rest (GArray *ranges, gsize page)
{
  gsize pages = 0, bytes = 0; /* up to these addresses */
  guint64 rest = 0;

  g_array_sort (ranges, compare_ranges);
  for (guint i = 0; i < ranges->len; i++)
    {
      const Range *range = &g_array_index (ranges, Range, i);
      gsize begin = GPOINTER_TO_SIZE (range->data), end = begin + range->size;
      gsize first = begin / page * page, last = (end + page - 1) / page * page;

      if (range->size == 0)
        continue;
      rest += last > pages ? last - MAX (first, pages) : 0;
      rest -= end > bytes ? end - MAX (begin, bytes) : 0;
      pages = MAX (pages, last);
      bytes = MAX (bytes, end);
    }
  return rest;
}

guint64
_gantry_measure_rounding (const GantryExecutor *executor, gsize page)
{
  const GantryPlan *plan = executor->executable->plan;
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (Range));

  for (guint32 p = 0; p < executor->n_places; p++)
    if (is_of_device (executor, p) && !executor->lent[p] && executor->arenas[GANTRY_MEMORY_DEVICE] != NULL)
      add_range (ranges, executor->arenas[GANTRY_MEMORY_DEVICE] + plan->buffers[executor->places[p].owner].offset, executor->places[p].used,
                 GANTRY_PART_TEMPORARIES);
  add_lent (executor, TRUE, ranges);
  add_constants (executor, ranges);
  return count_rest (ranges, page);
}
