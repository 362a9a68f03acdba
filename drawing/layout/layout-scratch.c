/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Working memory of the layout, and the skyline that lanes and tracks are packed with.
 *
 * The layout allocates many arrays that live exactly as long as a stage or a level. They come out
 * of chunks and go back together; what is counted is what is really taken from the system, so a
 * figure for memory per node is no guess.
 */
#include "drawing/layout/layout-private.h"

#include <string.h>

struct _LayChunk
{
  LayChunk *before;
  gsize capacity;
  gsize used;
};

enum
{
  SMALLEST_CHUNK = 16 * 1024,
  LARGEST_CHUNK = 1024 * 1024,
  ALIGNMENT = 16,
};

/* Where the payload of a chunk begins. */
static const gsize HEADER = (sizeof (LayChunk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

void
lay_scratch_init (LayScratch *scratch, LayCount *count)
{
  scratch->last = NULL;
  scratch->count = count;
}

static void
drop_last (LayScratch *scratch)
{
  LayChunk *chunk = scratch->last;

  scratch->last = chunk->before;
  scratch->count->held -= chunk->capacity;
  g_free (chunk);
}

void
lay_scratch_clear (LayScratch *scratch)
{
  while (scratch->last != NULL)
    drop_last (scratch);
}

LayMark
lay_scratch_mark (const LayScratch *scratch)
{
  return (LayMark){ scratch->last, scratch->last != NULL ? scratch->last->used : 0 };
}

/* Takes back all that was handed out since the mark was set. */
void
lay_scratch_release (LayScratch *scratch, LayMark mark)
{
  while (scratch->last != mark.chunk)
    drop_last (scratch);
  if (scratch->last != NULL)
    scratch->last->used = mark.used;
}

static void
add_chunk (LayScratch *scratch, gsize needed)
{
  gsize capacity = SMALLEST_CHUNK;

  if (scratch->last != NULL)
    capacity = MIN (scratch->last->capacity * 2, (gsize) LARGEST_CHUNK);
  capacity = MAX (capacity, needed + HEADER);

  LayChunk *chunk = g_malloc (capacity);
  chunk->before = scratch->last;
  chunk->capacity = capacity;
  chunk->used = HEADER;
  scratch->last = chunk;
  scratch->count->held += capacity;
  scratch->count->peak = MAX (scratch->count->peak, scratch->count->held);
}

/* Zeroed memory for n things of the given size; never NULL, not even for none. */
gpointer
lay_scratch_alloc (LayScratch *scratch, gsize n, gsize size)
{
  g_assert (n <= G_MAXSIZE / 4 / size);

  gsize bytes = (MAX (n, 1) * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

  if (scratch->last == NULL || scratch->last->capacity - scratch->last->used < bytes)
    add_chunk (scratch, bytes);

  gpointer result = (guint8 *) scratch->last + scratch->last->used;
  scratch->last->used += bytes;
  return memset (result, 0, bytes);
}

/* --- skyline: a segment tree in which "raise to at least" needs no pushing down -------------- */

void
lay_sky_init (LaySky *sky, LayScratch *scratch, guint32 n, gint32 floor)
{
  sky->size = 1;
  while (sky->size < n)
    sky->size *= 2;
  sky->top = LAY_NEW (scratch, gint32, 2 * (gsize) sky->size);
  sky->laid = LAY_NEW (scratch, gint32, 2 * (gsize) sky->size);
  for (guint32 i = 0; i < 2 * sky->size; i++)
    sky->top[i] = sky->laid[i] = floor;
}

/* top[i]: the highest point under tree node i; laid[i]: what was laid over all of node i at once.
 * The highest point of a range is the highest top of the nodes that make it up, or something laid
 * over an ancestor. */
gint32
lay_sky_max (const LaySky *sky, guint32 first, guint32 last)
{
  guint32 a = first + sky->size;
  guint32 b = last + sky->size;
  gint32 highest = MAX (sky->top[a], sky->top[b]);

  for (; a + 1 < b; a /= 2, b /= 2)
    {
      if (a % 2 == 0)
        highest = MAX (highest, sky->top[a + 1]);
      if (b % 2 == 1)
        highest = MAX (highest, sky->top[b - 1]);
      highest = MAX (highest, MAX (sky->laid[a / 2], sky->laid[b / 2]));
    }
  for (; a >= 1; a /= 2, b /= 2)
    highest = MAX (highest, MAX (sky->laid[a], sky->laid[b]));
  return highest;
}

static void
lay_over (LaySky *sky, guint32 node, gint32 height)
{
  sky->laid[node] = MAX (sky->laid[node], height);
  sky->top[node] = MAX (sky->top[node], height);
}

void
lay_sky_raise (LaySky *sky, guint32 first, guint32 last, gint32 height)
{
  guint32 a = first + sky->size;
  guint32 b = last + sky->size;

  lay_over (sky, a, height);
  lay_over (sky, b, height);
  for (; a >= 1; a /= 2, b /= 2)
    {
      if (a + 1 < b)
        {
          if (a % 2 == 0)
            lay_over (sky, a + 1, height);
          if (b % 2 == 1)
            lay_over (sky, b - 1, height);
        }
      sky->top[a] = MAX (sky->top[a], height);
      sky->top[b] = MAX (sky->top[b], height);
    }
}
