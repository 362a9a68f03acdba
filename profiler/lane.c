/* SPDX-License-Identifier: Apache-2.0 */
/* The index above a lane, and what is asked of it: which events overlap a span of time, which one is at
 * a time, and what is in each pixel. Its nodes know the largest end below them, so an event that
 * began long ago is found without looking at all since, and the sums, so that what falls into one pixel
 * is added at once: drawing costs the pixels, not the events. */
#include "profiler/recording-private.h"
#include <string.h>

static void
take_event (const Lane *lane, guint64 index, IndexNode *node, gboolean first)
{
  gint64 begin = lane_begin (lane, index), end = lane_end (lane, index);

  if (first)
    *node = (IndexNode){ begin, end, 0, end - begin, index };
  node->last_end = MAX (node->last_end, end);
  node->busy += end - begin;
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
  node->busy += child->busy;
  if (child->longest_ns > node->longest_ns)
    {
      node->longest_ns = child->longest_ns;
      node->longest = child->longest;
    }
}

void
_gantry_lane_index (Lane *lane)
{
  guint64 n = lane->n;

  if (n == 0)
    return;
  do
    {
      IndexLevel level = { (n + INDEX_FANOUT - 1) / INDEX_FANOUT };

      level.nodes = g_new (IndexNode, level.n);
      for (guint64 i = 0; i < n; i++)
        {
          IndexNode *node = &level.nodes[i / INDEX_FANOUT];

          if (lane->n_levels == 0)
            take_event (lane, i, node, i % INDEX_FANOUT == 0);
          else
            take_node (&lane->levels[lane->n_levels - 1].nodes[i], node, i % INDEX_FANOUT == 0);
        }
      lane->levels = g_renew (IndexLevel, lane->levels, lane->n_levels + 1);
      lane->levels[lane->n_levels++] = level;
      n = level.n;
    }
  while (n > 1);
}

/* Children of node @i at @level: nodes of the level below, or events. */
static guint64
children (const Lane *lane, guint level, guint64 i, guint64 *end)
{
  guint64 below = level > 0 ? lane->levels[level - 1].n : lane->n;

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
  const IndexNode *node = &lane->levels[level].nodes[i];
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
gantry_recording_overlapping (const GantryRecording *recording, guint lane, gint64 t0, gint64 t1,
                              GantryEventFunc func, gpointer user_data)
{
  const Lane *l;

  g_return_if_fail (lane < recording->n_lanes);
  l = &recording->lanes[lane];
  if (l->n > 0 && t0 < t1)
    visit (l, l->n_levels - 1, 0, t0, t1, func, user_data);
}

/* From the right: the first found is the one that began last. */
static gboolean
find_at (const Lane *lane, guint level, guint64 i, gint64 time, guint64 *index)
{
  const IndexNode *node = &lane->levels[level].nodes[i];
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
  return l->n > 0 && time < MOST_TIME && find_at (l, l->n_levels - 1, 0, time, index);
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
  out->busy_ns += busy;
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

static void
fold_node (Fold *fold, guint level, guint64 i)
{
  const IndexNode *node = &fold->lane->levels[level].nodes[i];
  guint64 end, first;

  if (node->last_end < fold->t0 || node->first_begin >= fold->t1)
    return;
  if (node->first_begin >= fold->t0 && node->last_end < fold->t1)
    {
      guint pixel = pixel_of (fold->t0, fold->t1, fold->n_pixels, node->first_begin);

      if (pixel == pixel_of (fold->t0, fold->t1, fold->n_pixels, node->last_end))
        {
          guint64 width = INDEX_FANOUT, count;

          for (guint l = 0; l < level; l++)
            width *= INDEX_FANOUT;
          count = MIN ((i + 1) * width, fold->lane->n) - i * width;
          fold->out[pixel].count += (guint32) count;
          touch (fold, pixel, (guint32) count, node->busy, node->longest_ns, node->longest);
          return;
        }
    }
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
gantry_recording_fold (const GantryRecording *recording, guint lane, gint64 t0, gint64 t1, guint n_pixels,
                       GantryFoldPixel *out)
{
  Fold fold = { NULL, t0, t1, n_pixels, out, NULL };

  g_return_if_fail (lane < recording->n_lanes && t0 < t1);
  memset (out, 0, n_pixels * sizeof *out);
  fold.lane = &recording->lanes[lane];
  if (fold.lane->n == 0 || n_pixels == 0)
    return;
  fold.longest = g_new0 (gint64, n_pixels);
  fold_node (&fold, fold.lane->n_levels - 1, 0);
  g_free (fold.longest);
}
