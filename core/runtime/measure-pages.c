/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of the arenas, looked at from outside of the plan: which are there, under which part of the plan's values, and which
 * under none. Pages under no value are given back as soon as that is so. */
#include "core/runtime/measure-private.h"
#include <string.h>
#include <sys/mman.h>

/* Pages that whole looks at the arenas may ask for in a run: a second or two. */
#define MOST_LOOKS ((guint64) 1 << 28)

/* As a plan counts it (gantry_plan_spans()): what was fetched of an argument that lives in the host's memory is temporary. */
static GantryMemoryPart
part_of (const Measuring *m, guint32 buffer)
{
  if (m->is_argument[buffer])
    return GANTRY_PART_ARGUMENTS;
  return m->executor->executable->plan->buffers[buffer].category == GANTRY_BUFFER_WORKSPACE ? GANTRY_PART_WORKSPACES : GANTRY_PART_TEMPORARIES;
}

void
_gantry_measure_zone_init (Measuring *m, GantryMemoryKind kind)
{
  Zone *zone = &m->zones[kind];
  gsize bytes = m->executor->arena_bytes[kind];

  if (bytes == 0)
    return;
  zone->memory = m->executor->arenas[kind] - GANTRY_ARENA_GUARD;
  zone->n_front = GANTRY_ARENA_GUARD / m->page;
  zone->n = 2 * zone->n_front + (bytes + m->page - 1) / m->page;
  zone->alive = g_new0 (guint32, zone->n);
  zone->part = g_new0 (guint8, zone->n);
  zone->there = g_new0 (guint8, zone->n);
  zone->now = g_new0 (guint8, zone->n);
  /* A huge page would be there for whoever touches a byte of it. */
  madvise (zone->memory, zone->n * m->page, MADV_NOHUGEPAGE);
}

void
_gantry_measure_zone_clear (Measuring *m, GantryMemoryKind kind)
{
  Zone *zone = &m->zones[kind];

  if (zone->n > 0)
    madvise (m->executor->arenas[kind], m->executor->arena_bytes[kind], MADV_HUGEPAGE);
  g_free (zone->alive);
  g_free (zone->part);
  g_free (zone->there);
  g_free (zone->now);
}

/* What page @i, which is there, is counted with. */
static gsize *
count_of (Zone *zone, gsize i)
{
  return zone->alive[i] > 0 ? &zone->held[zone->part[i]] : &zone->outside;
}

/* The pages that a place lies on. Returns: FALSE for none in the arena: it is empty, or where the caller has it */
static gboolean
pages_of (Measuring *m, guint32 place, Zone **zone, gsize *first, gsize *end)
{
  const Place *p = &m->executor->places[place];
  const GantryPlanBuffer *buffer = &m->executor->executable->plan->buffers[p->owner];

  if (p->used == 0 || m->executor->lent[place])
    return FALSE;
  *zone = &m->zones[buffer->memory];
  *first = (*zone)->n_front + buffer->offset / m->page;
  *end = (*zone)->n_front + (buffer->offset + p->used + m->page - 1) / m->page;
  return TRUE;
}

void
_gantry_measure_enter (Measuring *m, guint32 place)
{
  Zone *zone;
  gsize first, end;

  m->alive[place] = TRUE;
  if (!pages_of (m, place, &zone, &first, &end))
    return;
  for (gsize i = first; i < end; i++)
    {
      if (zone->there[i])
        --*count_of (zone, i);
      zone->alive[i]++;
      if (zone->there[i])
        ++*count_of (zone, i);
    }
}

void
_gantry_measure_name_part (Measuring *m, const GantryPlanSpan *span)
{
  guint32 place = m->executor->place_of[span->buffer];
  Zone *zone;
  gsize first, end;

  if (place == G_MAXUINT32 || !pages_of (m, place, &zone, &first, &end))
    return;
  for (gsize i = first; i < end; i++)
    {
      if (zone->there[i])
        --*count_of (zone, i);
      zone->part[i] = part_of (m, span->buffer);
      if (zone->there[i])
        ++*count_of (zone, i);
    }
}

void
_gantry_measure_drop_dead (Measuring *m, Zone *zone, gsize first, gsize end)
{
  for (gsize i = first, next; i < end; i = next)
    {
      for (next = i; next < end && zone->alive[next] == 0; next++)
        if (zone->there[next])
          {
            zone->there[next] = FALSE;
            zone->outside--;
            zone->n_there--;
          }
      if (next > i)
        madvise (zone->memory + i * m->page, (next - i) * m->page, MADV_DONTNEED);
      else
        next++;
    }
}

void
_gantry_measure_leave (Measuring *m, guint32 place)
{
  Zone *zone;
  gsize first, end;

  m->alive[place] = FALSE;
  if (!pages_of (m, place, &zone, &first, &end))
    return;
  for (gsize i = first; i < end; i++)
    {
      if (zone->there[i])
        --*count_of (zone, i);
      zone->alive[i]--;
      if (zone->there[i])
        ++*count_of (zone, i);
    }
  _gantry_measure_drop_dead (m, zone, first, end);
}

/* Looks which pages from @first to @end are there. */
static void
look (Measuring *m, Zone *zone, gsize first, gsize end)
{
  if (end <= first)
    return;
  if (mincore (zone->memory + first * m->page, (end - first) * m->page, zone->now + first) != 0)
    {
      m->missing = "mincore";
      return;
    }
  for (gsize i = first; i < end; i++)
    {
      gboolean there = zone->now[i] & 1;

      if (there == zone->there[i])
        continue;
      zone->there[i] = there;
      *count_of (zone, i) += there ? 1 : (gsize) -1;
      zone->n_there += there ? 1 : (gsize) -1;
    }
}

gsize
_gantry_measure_pages (const Measuring *m)
{
  gsize pages = 0;

  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    pages += m->zones[kind].n_there;
  return pages;
}

gsize
_gantry_measure_look (Measuring *m)
{
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    look (m, &m->zones[kind], 0, m->zones[kind].n);
  return _gantry_measure_pages (m);
}

gsize
_gantry_measure_look_after (Measuring *m, guint32 instruction)
{
  const GantryExecutable *executable = m->executor->executable;
  const GantryInstruction *at = &executable->instructions[instruction];
  guint64 pages = 0;

  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    pages += m->zones[kind].n;
  m->unlooked += pages;
  if (m->unlooked >= m->interval)
    {
      m->unlooked = 0;
      return _gantry_measure_look (m);
    }
  for (guint32 k = 0; k < at->n_buffers; k++)
    {
      guint32 place = m->executor->place_of[executable->buffer_refs[at->buffers + k]];
      Zone *zone;
      gsize first, end;

      if (place != G_MAXUINT32 && pages_of (m, place, &zone, &first, &end))
        look (m, zone, first, end);
    }
  return _gantry_measure_pages (m);
}

void
_gantry_measure_plan_looks (Measuring *m)
{
  guint64 pages = 0;

  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    pages += m->zones[kind].n;
  /* Whole looks of MOST_LOOKS pages in all; with fewer each instruction has its own. */
  m->interval = pages * MAX ((guint64) m->executor->executable->n_instructions * pages / MOST_LOOKS, 1);
}
