/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of CUPTI and of the sampler against CLOCK_MONOTONIC. */
#include "profiler/cupti/clock.h"
#include <math.h>

/* Samples may be stamped this long before the call that starts the sampling returns, or after the one that ends it. */
#define SLACK_NS 200000000

void
gantry_cupti_clock_same (GantryCuptiClock *clock)
{
  *clock = (GantryCuptiClock){ 0 };
}

static gboolean
is_time (gint64 time)
{
  return time > -GANTRY_CUPTI_MOST_TIME && time < GANTRY_CUPTI_MOST_TIME;
}

gboolean
gantry_cupti_clock_map (const GantryCuptiClock *clock, guint64 theirs, gint64 *monotonic)
{
  gint64 since, gained;

  /* CLOCK_REALTIME in nanoseconds is beyond 2^60: what counts is the distance from a known moment. */
  if (theirs > (guint64) G_MAXINT64)
    return FALSE;
  if (clock->theirs < 0 && (gint64) theirs > G_MAXINT64 + clock->theirs)
    return FALSE;
  since = (gint64) theirs - clock->theirs;
  if (!is_time (since) || !is_time (clock->monotonic))
    return FALSE;
  gained = (gint64) ((double) since * clock->faster);
  if (!is_time (gained) || !is_time (clock->monotonic + since) || !is_time (clock->monotonic + since + gained))
    return FALSE;
  *monotonic = clock->monotonic + since + gained;
  return TRUE;
}

gboolean
gantry_cupti_clock_fit (const GantryCuptiMoment *moments, guint n, GantryCuptiClock *clock)
{
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0, mean_x, mean_y;

  gantry_cupti_clock_same (clock);
  if (n == 0)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (moments[i].theirs < 0 || !is_time (moments[i].theirs - moments[0].theirs) || !is_time (moments[i].monotonic))
      return FALSE;
  clock->theirs = moments[0].theirs;
  clock->monotonic = moments[0].monotonic;
  /* What is fitted is the little by which one clock gains on the other: so doubles are exact enough. */
  for (guint i = 0; i < n; i++)
    {
      double x = (double) (moments[i].theirs - clock->theirs);
      double y = (double) (moments[i].monotonic - clock->monotonic) - x;

      sum_x += x;
      sum_y += y;
      sum_xx += x * x;
      sum_xy += x * y;
    }
  mean_x = sum_x / n;
  mean_y = sum_y / n;
  if (sum_xx - sum_x * mean_x > 0)
    clock->faster = (sum_xy - sum_x * mean_y) / (sum_xx - sum_x * mean_x);
  clock->monotonic += (gint64) (mean_y - clock->faster * mean_x);
  /* Two clocks of one machine differ by parts in a million; more means that one of them was set. */
  if (!(fabs (clock->faster) < 0.01))
    clock->faster = 0;
  for (guint i = 0; i < n; i++)
    {
      gint64 mapped;

      if (gantry_cupti_clock_map (clock, (guint64) moments[i].theirs, &mapped))
        clock->error_ns = MAX (clock->error_ns, ABS (mapped - moments[i].monotonic));
    }
  return TRUE;
}

/* Do all samples lie in the time of the sampling, when their clock is @ahead of CLOCK_MONOTONIC? */
static gboolean
fits (const GantryCuptiCapture *capture, gint64 ahead)
{
  gint64 from = capture->sampled_from, to = capture->sampled_to;

  if (!is_time (from) || !is_time (to) || ahead > G_MAXINT64 / 2 || ahead < 0)
    return FALSE;
  for (guint i = 0; i < capture->samples->len; i++)
    {
      const GantryCuptiSample *sample = &g_array_index (capture->samples, GantryCuptiSample, i);

      if (sample->begin < 0 || sample->end < 0 || sample->begin - ahead < from - SLACK_NS || sample->end - ahead > to + SLACK_NS)
        return FALSE;
    }
  return TRUE;
}

char *
gantry_cupti_clock_of_samples (const GantryCuptiCapture *capture, GantryCuptiClock *clock)
{
  gint64 least = G_MAXINT64;

  gantry_cupti_clock_same (clock);
  if (fits (capture, 0))
    return NULL;
  if (fits (capture, capture->realtime_ahead))
    {
      clock->theirs = capture->realtime_ahead;
      return g_strdup ("The counters' samples carry the time of day; they were moved to the recording's clock by the "
                       "difference that was read when sampling began.");
    }
  for (guint i = 0; i < capture->newest->len; i++)
    {
      const GantryCuptiMoment *moment = &g_array_index (capture->newest, GantryCuptiMoment, i);

      /* The decoding that came soonest after its newest sample bounds the offset best. */
      if (moment->theirs >= 0 && moment->theirs < G_MAXINT64 / 2 && is_time (moment->monotonic) && moment->monotonic - moment->theirs < least)
        {
          least = moment->monotonic - moment->theirs;
          clock->theirs = moment->theirs;
          clock->monotonic = moment->monotonic;
        }
    }
  return g_strdup ("The counters' samples carry a clock of the GPU; they were aligned by when they could be read, so they "
                   "may be drawn later than they were, at most by the time between two readings.");
}
