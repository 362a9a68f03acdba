/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The horizontal parts of the wires, and with them all heights.
 *
 * In each channel, every wire that is not straight gets a track. Wires that go right are laid
 * first, the rightmost on top, then those that go left, the leftmost on top: two that run the same
 * way then do not cross, and no wire's way in runs over another's way out. A wire goes into the
 * highest track below all laid before it that it overlaps.
 */
#include "drawing/layout/layout-private.h"

#include <stdlib.h>

enum
{
  NEAR = 4,                /* parts nearer to each other than this, along or across, are kept apart */
  MARGIN = 10,             /* between the box above and the first track */
  ARROW_MARGIN = 14,       /* between the last track and the box below */
  MOST_TURN_HEIGHT = 1600, /* where a channel has more to turn, its tracks move together */
  REPAIRS = 3,             /* rounds of keeping ends apart */
  MOST_NEAR = 16,          /* ends that are looked at for each */
};

/* Wires in the order in which they are laid. */
typedef enum
{
  ONLY_ABOVE, /* both ends at the top of the channel */
  TO_RIGHT,
  TO_LEFT,
  ONLY_BELOW,
} Way;

typedef struct
{
  Way way;
  gint64 key;
  guint32 wire;
} HorizontalPart;

/* A vertical end within the channel. */
typedef struct
{
  gint32 x;
  gboolean above;
  guint32 part;
} End;

typedef struct
{
  LayLevel *level;
  LayJob *job;
  guint32 *first; /* wires with a horizontal part, by channel */
  guint32 *wires;
  gint32 *n_tracks;
} Tracker;

static void
measure_wires (LayLevel *level)
{
  for (guint32 w = 0; w < level->n_wires; w++)
    {
      LayWire *wire = &level->wire[w];

      wire->lo = wire->hi = wire->at;
      for (guint32 k = wire->first_link; k < wire->first_link + wire->n_links; k++)
        {
          wire->lo = MIN (wire->lo, level->link[k].at);
          wire->hi = MAX (wire->hi, level->link[k].at);
        }
    }
}

static void
list_by_channel (Tracker *tracker)
{
  LayLevel *level = tracker->level;
  LayScratch *scratch = &tracker->job->scratch;
  guint32 *first = LAY_NEW (scratch, guint32, (gsize) level->n_rows + 3);

  for (guint32 w = 0; w < level->n_wires; w++)
    if (level->wire[w].lo < level->wire[w].hi)
      first[level->wire[w].channel + 2]++;
  for (gint32 c = 0; c <= level->n_rows; c++)
    first[c + 2] += first[c + 1];
  tracker->wires = LAY_NEW (scratch, guint32, first[level->n_rows + 2]);
  for (guint32 w = 0; w < level->n_wires; w++)
    if (level->wire[w].lo < level->wire[w].hi)
      tracker->wires[first[level->wire[w].channel + 1]++] = w;
  tracker->first = first;
}

static HorizontalPart
describe_part (const LayLevel *level, guint32 w)
{
  const LayWire *wire = &level->wire[w];
  gint64 sum[2] = { 0, 0 }; /* below, above */
  gint64 n[2] = { 0, 0 };
  gboolean from_above = wire->face == LAY_BOTTOM;
  HorizontalPart part = { .wire = w };

  sum[from_above] += wire->at;
  n[from_above]++;
  for (guint32 k = wire->first_link; k < wire->first_link + wire->n_links; k++)
    {
      gboolean above = level->link[k].face == LAY_BOTTOM;

      sum[above] += level->link[k].at;
      n[above]++;
    }
  if (n[0] == 0 || n[1] == 0)
    {
      part.way = n[0] == 0 ? ONLY_ABOVE : ONLY_BELOW;
      part.key = n[0] == 0 ? wire->hi - wire->lo : wire->lo - wire->hi;
      return part;
    }
  part.way = sum[0] * n[1] >= sum[1] * n[0] ? TO_RIGHT : TO_LEFT;
  part.key = part.way == TO_RIGHT ? -(gint64) wire->at : wire->at;
  return part;
}

static gint
compare_parts (gconstpointer a, gconstpointer b)
{
  const HorizontalPart *p = a;
  const HorizontalPart *q = b;

  if (p->way != q->way)
    return p->way < q->way ? -1 : 1;
  if (p->key != q->key)
    return p->key < q->key ? -1 : 1;
  return p->wire < q->wire ? -1 : p->wire > q->wire;
}

static gint
compare_ends (gconstpointer a, gconstpointer b)
{
  const End *p = a;
  const End *q = b;

  if (p->x != q->x)
    return p->x < q->x ? -1 : 1;
  return p->part < q->part ? -1 : p->part > q->part;
}

static guint32
list_ends (const LayLevel *level, const HorizontalPart *part, guint32 n, End *end)
{
  guint32 n_ends = 0;

  for (guint32 i = 0; i < n; i++)
    {
      const LayWire *wire = &level->wire[part[i].wire];

      end[n_ends++] = (End){ wire->at, wire->face == LAY_BOTTOM, i };
      for (guint32 k = wire->first_link; k < wire->first_link + wire->n_links; k++)
        end[n_ends++] = (End){ level->link[k].at, level->link[k].face == LAY_BOTTOM, i };
    }
  qsort (end, n_ends, sizeof *end, compare_ends);
  return n_ends;
}

static void
move_before (HorizontalPart *part, guint32 from, guint32 to)
{
  HorizontalPart mine = part[from];

  for (guint32 i = from; i > to; i--)
    part[i] = part[i - 1];
  part[to] = mine;
}

/* Where a wire comes down from above on the same line as another goes down from below it, the first
 * must lie higher, or they would be drawn over each other. Moves such wires to the front; a circle
 * of them stays as it is. */
static void
keep_ends_apart (Tracker *tracker, HorizontalPart *part, guint32 n)
{
  LayMark mark = lay_scratch_mark (&tracker->job->scratch);
  guint32 n_ends = 0;

  for (guint32 i = 0; i < n; i++)
    n_ends += 1 + tracker->level->wire[part[i].wire].n_links;

  End *end = LAY_NEW (&tracker->job->scratch, End, n_ends);

  for (guint repair = 0; repair < REPAIRS; repair++)
    {
      gboolean moved = FALSE;

      list_ends (tracker->level, part, n, end);
      for (guint32 i = 0; i < n_ends && !moved; i++)
        for (guint32 k = i + 1; k < MIN (n_ends, i + MOST_NEAR) && end[k].x - end[i].x < NEAR; k++)
          {
            const End *above = end[i].above ? &end[i] : &end[k];
            const End *below = end[i].above ? &end[k] : &end[i];

            if (above->above == below->above || above->part <= below->part)
              continue;
            move_before (part, above->part, below->part);
            moved = TRUE;
            break;
          }
      if (!moved)
        break;
    }
  lay_scratch_release (&tracker->job->scratch, mark);
}

static gint
compare_ints (gconstpointer a, gconstpointer b)
{
  gint32 x = *(const gint32 *) a;
  gint32 y = *(const gint32 *) b;

  return x < y ? -1 : x > y;
}

/* Sorts, and leaves each number once; returns how many are left. */
static guint32
sort_ints (gint32 *x, guint32 n)
{
  guint32 kept = 0;

  qsort (x, n, sizeof *x, compare_ints);
  for (guint32 i = 0; i < n; i++)
    if (kept == 0 || x[kept - 1] != x[i])
      x[kept++] = x[i];
  return kept;
}

static guint32
find_int (const gint32 *sorted, guint32 n, gint32 wanted)
{
  guint32 low = 0;

  while (n > 1)
    {
      guint32 half = n / 2;

      if (sorted[low + half] <= wanted)
        low += half;
      n -= half;
    }
  return low;
}

/* Lays the parts in their order; returns the number of tracks. */
static gint32
lay_parts (Tracker *tracker, const HorizontalPart *part, guint32 n)
{
  LayMark mark = lay_scratch_mark (&tracker->job->scratch);
  LayWire *wire = tracker->level->wire;
  gint32 *x = LAY_NEW (&tracker->job->scratch, gint32, 2 * (gsize) n);
  LaySky sky;
  gint32 n_tracks = 0;

  for (guint32 i = 0; i < n; i++)
    {
      x[2 * i] = wire[part[i].wire].lo;
      x[2 * i + 1] = wire[part[i].wire].hi + NEAR;
    }
  guint32 n_places = sort_ints (x, 2 * n);

  lay_sky_init (&sky, &tracker->job->scratch, n_places, -1);
  for (guint32 i = 0; i < n; i++)
    {
      LayWire *mine = &wire[part[i].wire];
      guint32 first = find_int (x, n_places, mine->lo);
      guint32 last = find_int (x, n_places, mine->hi + NEAR);

      mine->track = lay_sky_max (&sky, first, last) + 1;
      lay_sky_raise (&sky, first, last, mine->track);
      n_tracks = MAX (n_tracks, mine->track + 1);
    }
  lay_scratch_release (&tracker->job->scratch, mark);
  return n_tracks;
}

static void
track_channel (Tracker *tracker, gint32 channel)
{
  LayMark mark = lay_scratch_mark (&tracker->job->scratch);
  const guint32 *wires = tracker->wires + tracker->first[channel];
  guint32 n = tracker->first[channel + 1] - tracker->first[channel];

  if (n == 1)
    {
      tracker->level->wire[wires[0]].track = 0;
      tracker->n_tracks[channel] = 1;
    }
  else if (n > 1)
    {
      HorizontalPart *part = LAY_NEW (&tracker->job->scratch, HorizontalPart, n);

      for (guint32 i = 0; i < n; i++)
        part[i] = describe_part (tracker->level, wires[i]);
      qsort (part, n, sizeof *part, compare_parts);
      keep_ends_apart (tracker, part, n);
      tracker->n_tracks[channel] = lay_parts (tracker, part, n);
    }
  lay_scratch_release (&tracker->job->scratch, mark);
}

static gint32
pitch_of (const Tracker *tracker, gint32 channel)
{
  gint32 n_tracks = tracker->n_tracks[channel];

  return MIN (tracker->job->lane_gap, MAX (2, MOST_TURN_HEIGHT / MAX (n_tracks, 1)));
}

/* Above the first row and under the last there is nothing but turns; a row of ports needs little
 * room. */
static gint32
height_of_channel (const Tracker *tracker, gint32 channel, const gint32 *row_height)
{
  gint32 n_tracks = tracker->n_tracks[channel];
  gboolean outer = channel == 0 || channel == tracker->level->n_rows;
  gint32 least = tracker->job->rank_gap;

  if (outer)
    return n_tracks == 0 ? 0 : MARGIN + ARROW_MARGIN + (n_tracks - 1) * pitch_of (tracker, channel);
  if (row_height[channel - 1] == 0 || row_height[channel] == 0)
    least /= 2;
  if (n_tracks == 0)
    return least;
  return MAX (least, MARGIN + ARROW_MARGIN + (n_tracks - 1) * pitch_of (tracker, channel));
}

/* Sets the tops of the boxes, and turns track numbers into y. */
static void
set_heights (Tracker *tracker)
{
  LayLevel *level = tracker->level;
  LayScratch *scratch = &tracker->job->scratch;
  gint32 *row_height = LAY_NEW (scratch, gint32, level->n_rows);
  gint32 *row_top = LAY_NEW (scratch, gint32, level->n_rows);
  gint32 *first_track = LAY_NEW (scratch, gint32, (gsize) level->n_rows + 1);
  gint32 y = 0;

  for (guint32 v = 0; v < level->n_vertices; v++)
    if (level->vertex[v].kind != LAY_LANE)
      row_height[level->vertex[v].row] = MAX (row_height[level->vertex[v].row], level->vertex[v].h);
  for (gint32 c = 0; c <= level->n_rows; c++)
    {
      gint32 height = height_of_channel (tracker, c, row_height);
      gint32 turns = MAX (tracker->n_tracks[c] - 1, 0) * pitch_of (tracker, c);

      first_track[c] = y + MARGIN + (height - MARGIN - ARROW_MARGIN - turns) / 2;
      y += height;
      if (c < level->n_rows)
        {
          row_top[c] = y;
          y += row_height[c];
        }
    }
  level->height = y;
  for (guint32 v = 0; v < level->n_vertices; v++)
    {
      LayVertex *vertex = &level->vertex[v];

      if (vertex->kind != LAY_LANE)
        vertex->y = row_top[vertex->row] + (row_height[vertex->row] - vertex->h) / 2;
    }
  for (guint32 w = 0; w < level->n_wires; w++)
    {
      LayWire *wire = &level->wire[w];

      if (wire->track >= 0)
        wire->track = first_track[wire->channel] + wire->track * pitch_of (tracker, wire->channel);
    }
}

gboolean
lay_level_tracks (LayLevel *level, LayJob *job)
{
  LayMark mark = lay_scratch_mark (&job->scratch);
  Tracker tracker = { .level = level, .job = job };

  measure_wires (level);
  list_by_channel (&tracker);
  tracker.n_tracks = LAY_NEW (&job->scratch, gint32, (gsize) level->n_rows + 1);
  for (gint32 c = 0; c <= level->n_rows; c++)
    {
      track_channel (&tracker, c);
      if (c % 1024 == 0 && lay_job_cancelled (job))
        return FALSE;
    }
  set_heights (&tracker);
  lay_scratch_release (&job->scratch, mark);
  return TRUE;
}
