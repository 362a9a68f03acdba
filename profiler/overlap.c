/* SPDX-License-Identifier: Apache-2.0 */
/* Overlap of the queues, and the measured times that the cost model takes. Both walk over all events once. */
#include "profiler/overlap.h"
#include "profiler/recording-private.h"

/* A longer pause before an event is no cost of starting it. */
#define LONGEST_PAUSE_NS 20000

/* A stretch of time. */
typedef struct
{
  gint64 begin, end;
} Span;

typedef struct
{
  const GantryRecording *recording;
  gint64 begin, end; /* what lies outside is cut off */
} Window;

static Span
cut (const Window *window, gint64 begin, gint64 end)
{
  Span span = { MAX (begin, window->begin), MIN (end, window->end) };

  return span;
}

/* Counts the events of a queue. Returns: (transfer full): when it was busy: spans that rise and do not touch */
static GArray *
walk_queue (const Window *window, guint queue, GantryQueueTimes *times)
{
  GArray *busy = g_array_new (FALSE, FALSE, sizeof (Span));
  guint64 n = gantry_recording_n_events (window->recording, queue);

  for (guint64 i = 0; i < n; i++)
    {
      GantryEvent event;
      Span span, *last = busy->len > 0 ? &g_array_index (busy, Span, busy->len - 1) : NULL;

      gantry_recording_get (window->recording, queue, i, &event);
      span = cut (window, event.begin, event.end);
      if (span.begin > span.end || event.end < window->begin || event.begin > window->end)
        continue;
      if (event.kind == GANTRY_EVENT_WAIT)
        {
          times->wait_ns += span.end - span.begin;
          continue;
        }
      times->n_events++;
      times->bytes += event.bytes;
      if (last != NULL && span.begin <= last->end)
        last->end = MAX (last->end, span.end);
      else
        g_array_append_val (busy, span);
    }
  for (guint i = 0; i < busy->len; i++)
    times->busy_ns += g_array_index (busy, Span, i).end - g_array_index (busy, Span, i).begin;
  return busy;
}

/* How long both are busy. */
static gint64
common (const GArray *a, const GArray *b)
{
  gint64 sum = 0;

  for (guint i = 0, j = 0; i < a->len && j < b->len;)
    {
      const Span *x = &g_array_index (a, Span, i), *y = &g_array_index (b, Span, j);

      sum += MAX (MIN (x->end, y->end) - MAX (x->begin, y->begin), 0);
      if (x->end < y->end)
        i++;
      else
        j++;
    }
  return sum;
}

void
gantry_recording_overlap (const GantryRecording *recording, gint run, GantryOverlap *overlap)
{
  Window window = { recording, G_MININT64, G_MAXINT64 };
  GArray *busy[GANTRY_N_QUEUES];

  g_return_if_fail (run < (gint) gantry_recording_n_runs (recording));
  *overlap = (GantryOverlap){ 0 };
  for (guint i = 0; i < gantry_recording_n_runs (recording); i++)
    {
      const GantryRecordedRun *one = gantry_recording_run (recording, i);

      if (run >= 0 && (guint) run != i)
        continue;
      overlap->run_ns += one->end - one->begin;
      if (run >= 0)
        window = (Window){ recording, one->begin, one->end };
    }
  for (guint q = 0; q < GANTRY_N_QUEUES; q++)
    busy[q] = walk_queue (&window, q, &overlap->queues[q]);
  for (guint q = 0; q < GANTRY_N_QUEUES; q++)
    if (q != GANTRY_QUEUE_COMPUTE)
      {
        overlap->copy_ns += overlap->queues[q].busy_ns;
        overlap->hidden_ns += common (busy[GANTRY_QUEUE_COMPUTE], busy[q]);
      }
  overlap->exposed_ns = overlap->copy_ns - overlap->hidden_ns;
  for (guint q = 0; q < GANTRY_N_QUEUES; q++)
    g_array_unref (busy[q]);
}

double
gantry_overlap_hidden (const GantryOverlap *overlap)
{
  return overlap->copy_ns > 0 ? (double) overlap->hidden_ns / (double) overlap->copy_ns : 1;
}

double
gantry_overlap_kept (const GantryOverlap *planned, const GantryOverlap *measured)
{
  double should = gantry_overlap_hidden (planned);

  return should > 0 ? MIN (gantry_overlap_hidden (measured) / should, 1) : 1;
}

/* Measured times. */

typedef struct
{
  guint32 node;
  gint64 ns;
} Sample;

static int
compare_samples (gconstpointer a, gconstpointer b)
{
  const Sample *x = a, *y = b;

  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  return (x->ns > y->ns) - (x->ns < y->ns);
}

/* When the event really began to take the queue: at the end of the one before it, or at the begin of its run. */
static gint64
taken_since (const GantryRecording *recording, guint *run, gint64 last_end, gint64 begin)
{
  while (*run + 1 < gantry_recording_n_runs (recording) && gantry_recording_run (recording, *run + 1)->begin <= begin)
    ++*run;
  if (*run < gantry_recording_n_runs (recording) && gantry_recording_run (recording, *run)->begin <= begin)
    last_end = MAX (last_end, gantry_recording_run (recording, *run)->begin);
  return last_end < begin - LONGEST_PAUSE_NS ? begin : MIN (last_end, begin);
}

/* Of what the compute queue did last. */
typedef struct
{
  guint32 instruction;
  guint run;
} Execution;

/* A kernel of several launches is several events of one instruction, which follow each other in its run. Without runs its
 * executions could not be told apart: there each event is one. */
static gboolean
is_more_of (const Execution *last, const GantryEvent *event, guint run, guint n_runs)
{
  return n_runs > 0 && event->instruction != GANTRY_NO_INSTRUCTION && last->instruction == event->instruction && last->run == run;
}

/* What the compute queue did, by node. Runs are told of in the order of time; what ends before the first is for warming up. */
static GArray *
take_samples (const GantryRecording *recording)
{
  GArray *samples = g_array_new (FALSE, FALSE, sizeof (Sample));
  guint64 n = gantry_recording_n_events (recording, GANTRY_QUEUE_COMPUTE);
  guint run = 0, n_runs = gantry_recording_n_runs (recording);
  Execution last = { GANTRY_NO_INSTRUCTION, 0 };
  gint64 last_end = G_MININT64;

  for (guint64 i = 0; i < n; i++)
    {
      GantryEvent event;
      Sample sample;

      gantry_recording_get (recording, GANTRY_QUEUE_COMPUTE, i, &event);
      sample = (Sample){ event.node, event.end - taken_since (recording, &run, last_end, event.begin) };
      last_end = event.end;
      if (event.node == 0 || (event.kind != GANTRY_EVENT_KERNEL && event.kind != GANTRY_EVENT_COPY && event.kind != GANTRY_EVENT_FILL)
          || (n_runs > 0 && event.end <= gantry_recording_run (recording, 0)->begin))
        continue;
      if (is_more_of (&last, &event, run, n_runs))
        g_array_index (samples, Sample, samples->len - 1).ns += sample.ns;
      else
        g_array_append_val (samples, sample);
      last = (Execution){ event.instruction, run };
    }
  g_array_sort (samples, compare_samples);
  return samples;
}

GHashTable *
gantry_recording_measured_us (const GantryRecording *recording)
{
  GHashTable *measured = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (GArray) samples = take_samples (recording);

  for (guint first = 0, end; first < samples->len; first = end)
    {
      const Sample *of = &g_array_index (samples, Sample, first);
      double *us = g_new (double, 1);

      for (end = first + 1; end < samples->len && g_array_index (samples, Sample, end).node == of->node;)
        end++;
      *us = (double) (g_array_index (samples, Sample, (first + end - 1) / 2).ns + g_array_index (samples, Sample, (first + end) / 2).ns) / 2e3;
      g_hash_table_insert (measured, GUINT_TO_POINTER (of->node), us);
    }
  return measured;
}

double
gantry_recording_link_bandwidth (const GantryRecording *recording, GantryQueue queue)
{
  double bytes = 0, ns = 0;

  for (guint q = 0; q < GANTRY_N_QUEUES; q++)
    for (guint64 i = 0; q != GANTRY_QUEUE_COMPUTE && (queue == GANTRY_N_QUEUES || queue == q) && i < gantry_recording_n_events (recording, q); i++)
      {
        GantryEvent event;

        gantry_recording_get (recording, q, i, &event);
        if (event.kind != GANTRY_EVENT_COPY)
          continue;
        bytes += (double) event.bytes;
        ns += (double) (event.end - event.begin);
      }
  return ns > 0 ? bytes / ns * 1e9 : 0;
}
