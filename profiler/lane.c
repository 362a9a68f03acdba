/* SPDX-License-Identifier: Apache-2.0 */
/* The index above a lane, and what is asked of it: which events overlap a span of time, which one is at
 * a time, and what is in each pixel. Its nodes know the largest end below them, so an event that
 * began long ago is found without looking at all since, and the sums, so that what falls into one pixel
 * is added at once: drawing costs the pixels, not the events. */
#include "profiler/recording-private.h"
#include <string.h>

/* Pixels over which what was not read yet is spread at most. */
#define MOST_SPREAD 8u

static void
take_event (const EventChunk *chunk, guint32 i, guint64 index, IndexNode *node, gboolean first)
{
  gint64 begin = chunk->begin[i], end = chunk->end[i];

  if (first)
    *node = (IndexNode){ begin, end, 0, end - begin, index };
  node->last_end = MAX (node->last_end, end);
  node->busy = add_ns (node->busy, end - begin);
  if (end - begin > node->longest_ns)
    {
      node->longest_ns = end - begin;
      node->longest = index;
    }
}

static void
take_node (const IndexNode *child, IndexNode *node, gboolean first)
{
  if (first)
    {
      *node = *child;
      return;
    }
  node->last_end = MAX (node->last_end, child->last_end);
  node->busy = add_ns (node->busy, child->busy);
  if (child->longest_ns > node->longest_ns)
    {
      node->longest_ns = child->longest_ns;
      node->longest = child->longest;
    }
}

static guint64
nodes_above (guint64 n)
{
  return (n + INDEX_FANOUT - 1) / INDEX_FANOUT;
}

static void
take_nodes (const IndexNode *below, guint64 n, IndexNode *above)
{
  for (guint64 i = 0; i < n; i++)
    take_node (&below[i], &above[i / INDEX_FANOUT], i % INDEX_FANOUT == 0);
}

guint
_gantry_chunk_index (EventChunk *chunk, guint32 place, IndexNode *above)
{
  guint32 n = (guint32) nodes_above (chunk->n);

  if (chunk->index == NULL)
    chunk->index = g_new (IndexNode, n + 1);
  for (guint32 i = 0; i < chunk->n; i++)
    take_event (chunk, i, (guint64) place * GANTRY_CHUNK_EVENTS + i, &chunk->index[i / INDEX_FANOUT], i % INDEX_FANOUT == 0);
  take_nodes (chunk->index, n, above);
  return (guint) nodes_above (n);
}

void
_gantry_lane_index_begin (Lane *lane)
{
  lane->levels = g_new0 (IndexLevel, 1);
  lane->n_levels = 1;
  lane->levels[0].n = (lane->n + SUMMARY_EVENTS - 1) / SUMMARY_EVENTS;
  lane->levels[0].nodes = g_new0 (IndexNode, lane->levels[0].n + 1);
}

void
_gantry_lane_index_end (Lane *lane)
{
  for (guint64 n = lane->levels[0].n; n > 1; n = lane->levels[lane->n_levels - 1].n)
    {
      IndexLevel level = { nodes_above (n) };

      level.nodes = g_new (IndexNode, level.n);
      take_nodes (lane->levels[lane->n_levels - 1].nodes, n, level.nodes);
      lane->levels = g_renew (IndexLevel, lane->levels, lane->n_levels + 1);
      lane->levels[lane->n_levels++] = level;
    }
}

void
_gantry_lane_index (Lane *lane)
{
  _gantry_lane_index_begin (lane);
  for (guint32 c = 0; c < lane->n_chunks; c++)
    _gantry_chunk_index (lane->chunks[c], c, &lane->levels[0].nodes[c * SUMMARIES_OF_CHUNK]);
  _gantry_lane_index_end (lane);
}

/* Level 0 is read where it is needed. */
static const IndexNode *
node_at (const Lane *lane, guint level, guint64 i)
{
  const guint of_chunk = GANTRY_CHUNK_EVENTS / INDEX_FANOUT;

  return level > 0 ? &lane->levels[level - 1].nodes[i] : &lane_chunk (lane, (guint32) (i / of_chunk))->index[i % of_chunk];
}

/* Children of node @i at @level: nodes of the level below, or events. */
static guint64
children (const Lane *lane, guint level, guint64 i, guint64 *end)
{
  guint64 below = level > 1 ? lane->levels[level - 2].n : level > 0 ? nodes_above (lane->n) : lane->n;

  *end = MIN ((i + 1) * INDEX_FANOUT, below);
  return i * INDEX_FANOUT;
}

/* An event without length counts when it lies inside. */
static gboolean
overlaps (gint64 begin, gint64 end, gint64 t0, gint64 t1)
{
  return begin < t1 && (end > t0 || begin >= t0);
}

static gboolean
visit (const Lane *lane, guint level, guint64 i, gint64 t0, gint64 t1, GantryEventFunc func, gpointer user_data)
{
  const IndexNode *node = node_at (lane, level, i);
  guint64 end, child;

  if (node->last_end < t0 || node->first_begin >= t1)
    return TRUE;
  for (child = children (lane, level, i, &end); child < end; child++)
    {
      if (level > 0)
        {
          if (!visit (lane, level - 1, child, t0, t1, func, user_data))
            return FALSE;
        }
      else if (overlaps (lane_begin (lane, child), lane_end (lane, child), t0, t1) && !func (child, user_data))
        return FALSE;
    }
  return TRUE;
}

void
gantry_recording_overlapping (const GantryRecording *recording, guint lane, gint64 t0, gint64 t1, GantryEventFunc func, gpointer user_data)
{
  const Lane *l;

  g_return_if_fail (lane < recording->n_lanes);
  l = &recording->lanes[lane];
  if (l->n > 0 && t0 < t1)
    visit (l, l->n_levels, 0, t0, t1, func, user_data);
}

/* From the right: the first found is the one that began last. */
static gboolean
find_at (const Lane *lane, guint level, guint64 i, gint64 time, guint64 *index)
{
  const IndexNode *node = node_at (lane, level, i);
  guint64 end, first = children (lane, level, i, &end);

  if (node->last_end < time || node->first_begin > time)
    return FALSE;
  for (guint64 child = end; child-- > first;)
    {
      if (level > 0)
        {
          if (find_at (lane, level - 1, child, time, index))
            return TRUE;
        }
      else if (overlaps (lane_begin (lane, child), lane_end (lane, child), time, time + 1))
        {
          *index = child;
          return TRUE;
        }
    }
  return FALSE;
}

gboolean
gantry_recording_at (const GantryRecording *recording, guint lane, gint64 time, guint64 *index)
{
  const Lane *l;

  g_return_val_if_fail (lane < recording->n_lanes, FALSE);
  l = &recording->lanes[lane];
  return l->n > 0 && time < MOST_TIME && find_at (l, l->n_levels, 0, time, index);
}

/* Folding. */

typedef struct
{
  const Lane *lane;
  gint64 t0, t1;
  guint n_pixels;
  GantryFoldPixel *out;
  gint64 *longest; /* by pixel: the part of the longest event there */
} Fold;

static void
touch (Fold *fold, guint pixel, guint32 count, gint64 busy, gint64 longest_ns, guint64 longest)
{
  GantryFoldPixel *out = &fold->out[pixel];

  if (out->n_touching == 0 || longest_ns > fold->longest[pixel])
    {
      fold->longest[pixel] = longest_ns;
      out->longest = longest;
    }
  out->n_touching += count;
  out->busy_ns = add_ns (out->busy_ns, busy);
}

static void
fold_event (Fold *fold, guint64 index)
{
  gint64 begin = lane_begin (fold->lane, index), end = lane_end (fold->lane, index);
  gboolean goes_on = end > fold->t1;
  guint first, last;

  if (!overlaps (begin, end, fold->t0, fold->t1))
    return;
  begin = MAX (begin, fold->t0);
  end = MIN (end, fold->t1);
  first = pixel_of (fold->t0, fold->t1, fold->n_pixels, begin);
  last = end > begin ? pixel_of (fold->t0, fold->t1, fold->n_pixels, end - 1) : first;
  /* Where a pixel is less than a nanosecond, the last ones hold no time; what goes on beyond them is in them. */
  if (goes_on)
    last = fold->n_pixels - 1;
  fold->out[first].count++;
  for (guint pixel = first; pixel <= last; pixel++)
    {
      gint64 from = pixel > first ? pixel_edge (fold->t0, fold->t1, fold->n_pixels, pixel) : begin;
      gint64 to = pixel < last ? pixel_edge (fold->t0, fold->t1, fold->n_pixels, pixel + 1) : end;

      touch (fold, pixel, 1, to - from, to - from, index);
    }
}

static guint64
events_of (const Fold *fold, guint level, guint64 i)
{
  guint64 width = INDEX_FANOUT;

  for (guint l = 0; l < level; l++)
    width *= INDEX_FANOUT;
  return MIN ((i + 1) * width, fold->lane->n) - i * width;
}

/* A node of level 1 whose chunk has not been read, within the span and a few pixels wide: what is known of it is spread
 * over them as if its events were even. So a picture of everything is there at once; a thread reads the chunks, and the
 * next one is exact. Returns: FALSE where that would be seen */
static gboolean
spread (Fold *fold, const IndexNode *node, guint64 i)
{
  guint first, last, n;
  guint64 count = events_of (fold, 1, i), left = count;
  gint64 busy = node->busy;

  if (fold->lane->source == NULL || lane_resident (fold->lane, (guint32) (i / SUMMARIES_OF_CHUNK)) != NULL || node->first_begin < fold->t0
      || node->last_end >= fold->t1)
    return FALSE;
  first = pixel_of (fold->t0, fold->t1, fold->n_pixels, node->first_begin);
  last = pixel_of (fold->t0, fold->t1, fold->n_pixels, node->last_end);
  n = last - first + 1;
  if (n > MOST_SPREAD)
    return FALSE;
  _gantry_source_hurry (fold->lane->source);
  for (guint k = 0; k < n; k++)
    {
      guint32 part = (guint32) (left / (n - k));
      gint64 part_busy = busy / (n - k);

      fold->out[first + k].count += part;
      touch (fold, first + k, part, part_busy, MIN (node->longest_ns, part_busy), node->longest);
      left -= part;
      busy -= part_busy;
    }
  return TRUE;
}

static void
fold_node (Fold *fold, guint level, guint64 i)
{
  const IndexNode *node = node_at (fold->lane, level, i);
  guint64 end, first;

  if (node->last_end < fold->t0 || node->first_begin >= fold->t1)
    return;
  if (node->first_begin >= fold->t0 && node->last_end < fold->t1)
    {
      guint pixel = pixel_of (fold->t0, fold->t1, fold->n_pixels, node->first_begin);

      if (pixel == pixel_of (fold->t0, fold->t1, fold->n_pixels, node->last_end))
        {
          guint64 count = events_of (fold, level, i);

          fold->out[pixel].count += (guint32) count;
          touch (fold, pixel, (guint32) count, node->busy, node->longest_ns, node->longest);
          return;
        }
    }
  if (level == 1 && spread (fold, node, i))
    return;
  first = children (fold->lane, level, i, &end);
  for (guint64 child = first; child < end; child++)
    {
      if (level > 0)
        fold_node (fold, level - 1, child);
      else
        fold_event (fold, child);
    }
}

void
gantry_recording_fold (const GantryRecording *recording, guint lane, gint64 t0, gint64 t1, guint n_pixels, GantryFoldPixel *out)
{
  Fold fold = { NULL, t0, t1, n_pixels, out, NULL };

  g_return_if_fail (lane < recording->n_lanes && t0 < t1);
  memset (out, 0, n_pixels * sizeof *out);
  fold.lane = &recording->lanes[lane];
  if (fold.lane->n == 0 || n_pixels == 0)
    return;
  fold.longest = g_new0 (gint64, n_pixels);
  fold_node (&fold, fold.lane->n_levels, 0);
  g_free (fold.longest);
}
