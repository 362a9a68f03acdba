/* SPDX-License-Identifier: Apache-2.0 */
/* Curves with a tree of least and largest values, so that a pixel costs a logarithm. */
#include "profiler/recording-private.h"

void
_gantry_series_clear (Series *series)
{
  for (guint i = 0; i < series->n_levels; i++)
    g_free (series->levels[i].range);
  g_free (series->levels);
  g_free (series->time);
  g_free (series->value);
}

static void
widen (GantryCurvePixel *range, double min, double max, gboolean first)
{
  range->min = first ? min : MIN (range->min, min);
  range->max = first ? max : MAX (range->max, max);
}

void
_gantry_series_index (Series *series)
{
  guint64 n = series->n;

  while (n > INDEX_FANOUT)
    {
      guint64 above = (n + INDEX_FANOUT - 1) / INDEX_FANOUT;
      GantryCurvePixel *range = g_new (GantryCurvePixel, above);

      for (guint64 i = 0; i < n; i++)
        {
          gboolean first = i % INDEX_FANOUT == 0;

          if (series->n_levels == 0)
            widen (&range[i / INDEX_FANOUT], series->value[i], series->value[i], first);
          else
            {
              const GantryCurvePixel *below = &series->levels[series->n_levels - 1].range[i];

              widen (&range[i / INDEX_FANOUT], below->min, below->max, first);
            }
        }
      series->levels = g_realloc_n (series->levels, series->n_levels + 1, sizeof *series->levels);
      series->levels[series->n_levels].n = above;
      series->levels[series->n_levels++].range = range;
      n = above;
    }
}

/* Number of points before @time. */
static guint64
points_before (const Series *series, gint64 time)
{
  guint64 low = 0, high = series->n;

  while (low < high)
    {
      guint64 middle = low + (high - low) / 2;

      if (series->time[middle] < time)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

double
_gantry_series_at (const Series *series, gint64 time)
{
  guint64 n = points_before (series, time + 1);

  return n > 0 ? series->value[n - 1] : 0;
}

/* Widens @range by the points [from, to). */
static void
range_of (const Series *series, guint64 from, guint64 to, GantryCurvePixel *range, gboolean *first)
{
  while (from < to)
    {
      guint level = 0;
      guint64 width = 1;

      /* The widest node that begins here and does not reach beyond. */
      while (level < series->n_levels && from % (width * INDEX_FANOUT) == 0 && from + width * INDEX_FANOUT <= to)
        {
          width *= INDEX_FANOUT;
          level++;
        }
      if (level == 0)
        widen (range, series->value[from], series->value[from], *first);
      else
        {
          const GantryCurvePixel *node = &series->levels[level - 1].range[from / width];

          widen (range, node->min, node->max, *first);
        }
      *first = FALSE;
      from += width;
    }
}

void
_gantry_series_fold (const Series *series, gint64 t0, gint64 t1, guint n_pixels, GantryCurvePixel *out)
{
  for (guint pixel = 0; pixel < n_pixels; pixel++)
    {
      gint64 from = pixel_edge (t0, t1, n_pixels, pixel), to = pixel_edge (t0, t1, n_pixels, pixel + 1);
      guint64 begin = points_before (series, from), end = points_before (series, to);
      gboolean first = TRUE;

      /* What it was before counts, unless it changes at the very edge. */
      if (begin >= series->n || series->time[begin] > from || begin == end)
        {
          double before = begin == end ? _gantry_series_at (series, from) : begin > 0 ? series->value[begin - 1] : 0;

          widen (&out[pixel], before, before, first);
          first = FALSE;
        }
      range_of (series, begin, end, &out[pixel], &first);
    }
}
