/* SPDX-License-Identifier: Apache-2.0 */
/* What the device took of each recorded run. */
#include "profiler/device-times.h"

typedef struct
{
  gint64 begin, end; /* of its work; begin > end: none */
} Span;

/* Events of a lane come in the order of time. */
static void
widen (Span *spans, const GantryRecording *recording, guint lane)
{
  guint64 n = gantry_recording_n_events (recording, lane);
  guint run = 0, n_runs = gantry_recording_n_runs (recording);

  for (guint64 i = 0; i < n; i++)
    {
      GantryEvent event;

      gantry_recording_get (recording, lane, i, &event);
      if (event.kind != GANTRY_EVENT_KERNEL && event.kind != GANTRY_EVENT_COPY && event.kind != GANTRY_EVENT_FILL && event.kind != GANTRY_EVENT_CONVERT)
        continue;
      while (run + 1 < n_runs && gantry_recording_run (recording, run + 1)->begin <= event.begin)
        run++;
      if (event.begin < gantry_recording_run (recording, run)->begin || event.begin > gantry_recording_run (recording, run)->end)
        continue;
      spans[run].begin = MIN (spans[run].begin, event.begin);
      spans[run].end = MAX (spans[run].end, event.end);
    }
}

gboolean
gantry_recording_device_times (const GantryRecording *recording, GArray *milliseconds, GArray *launch)
{
  guint n_runs = gantry_recording_n_runs (recording);
  g_autofree Span *spans = g_new (Span, n_runs + 1);

  for (guint i = 0; i < n_runs; i++)
    spans[i] = (Span){ G_MAXINT64, G_MININT64 };
  for (guint lane = 0; n_runs > 0 && lane < GANTRY_N_QUEUES; lane++)
    widen (spans, recording, lane);
  for (guint i = 0; i < n_runs; i++)
    if (spans[i].begin > spans[i].end)
      return FALSE;
  for (guint i = 0; i < n_runs; i++)
    {
      double took = (double) (spans[i].end - spans[i].begin) / 1e6;
      double before = (double) (spans[i].begin - gantry_recording_run (recording, i)->begin) / 1e6;

      g_array_append_val (milliseconds, took);
      if (launch != NULL)
        g_array_append_val (launch, before);
    }
  return n_runs > 0;
}
