/* SPDX-License-Identifier: Apache-2.0 */
/* What views ask of a recording, against going through all events. */
#include "tests/profiler/make-recording.h"
#include "tests/random-seed.h"
#include <string.h>

static gboolean
overlaps (const GantryEvent *event, gint64 t0, gint64 t1)
{
  if (event->begin == event->end)
    return event->begin >= t0 && event->begin < t1;
  return event->begin < t1 && event->end > t0;
}

typedef struct
{
  GArray *found;
  guint most;
} Found;

static gboolean
collect (guint64 index, gpointer user_data)
{
  Found *found = user_data;

  g_array_append_val (found->found, index);
  return found->found->len < found->most;
}

static void
check_overlapping (const GantryRecording *recording, guint lane, gint64 t0, gint64 t1)
{
  g_autoptr (GArray) array = g_array_new (FALSE, FALSE, sizeof (guint64));
  Found found = { array, G_MAXUINT };
  guint n = 0;

  gantry_recording_overlapping (recording, lane, t0, t1, collect, &found);
  for (guint64 i = 0; i < gantry_recording_n_events (recording, lane); i++)
    {
      GantryEvent event;

      gantry_recording_get (recording, lane, i, &event);
      if (!overlaps (&event, t0, t1))
        continue;
      g_assert_cmpuint (n, <, array->len);
      g_assert_cmpuint (g_array_index (array, guint64, n), ==, i);
      n++;
    }
  g_assert_cmpuint (n, ==, array->len);
}

/* Each event into each pixel, by comparing spans. */
static void
check_fold (const GantryRecording *recording, guint lane, gint64 t0, gint64 t1, guint n_pixels)
{
  g_autofree GantryFoldPixel *out = g_new (GantryFoldPixel, n_pixels);
  guint64 counted = 0, expected = 0;

  gantry_recording_fold (recording, lane, t0, t1, n_pixels, out);
  for (guint p = 0; p < n_pixels; p++)
    {
      /* Pixel p holds the times t with floor ((t - t0) n / (t1 - t0)) = p. */
      gint64 from = t0, to, longest = -1;
      guint touching = 0;
      gint64 busy = 0;

      while (from < t1 && (from - t0) * (gint64) n_pixels / (t1 - t0) < (gint64) p)
        from += MAX (((gint64) p * (t1 - t0) - (from - t0) * (gint64) n_pixels) / (gint64) n_pixels, 1);
      for (to = from; to < t1 && (to - t0) * (gint64) n_pixels / (t1 - t0) == (gint64) p;)
        to += MAX ((((gint64) p + 1) * (t1 - t0) - (to - t0) * (gint64) n_pixels) / (gint64) n_pixels, 1);
      counted += out[p].count;
      for (guint64 i = 0; i < gantry_recording_n_events (recording, lane); i++)
        {
          GantryEvent event;
          gint64 part;

          gantry_recording_get (recording, lane, i, &event);
          /* A pixel narrower than a nanosecond may hold no time at all: what goes on around it is drawn through. */
          if (from < to ? !overlaps (&event, from, to) : event.begin >= from || event.end <= from)
            continue;
          part = MIN (event.end, to) - MAX (event.begin, from);
          touching++;
          busy += part;
          longest = MAX (longest, part);
        }
      g_assert_cmpuint (out[p].n_touching, ==, touching);
      g_assert_cmpint (out[p].busy_ns, ==, busy);
      if (touching > 0)
        {
          GantryEvent event;

          gantry_recording_get (recording, lane, out[p].longest, &event);
          g_assert_cmpint (MIN (event.end, to) - MAX (event.begin, from), ==, longest);
        }
    }
  for (guint64 i = 0; i < gantry_recording_n_events (recording, lane); i++)
    {
      GantryEvent event;

      gantry_recording_get (recording, lane, i, &event);
      expected += overlaps (&event, t0, t1);
    }
  g_assert_cmpuint (counted, ==, expected);
}

static void
check_at (const GantryRecording *recording, guint lane, gint64 time)
{
  guint64 found = 0, expected = 0;
  gboolean any = FALSE, got = gantry_recording_at (recording, lane, time, &found);

  for (guint64 i = 0; i < gantry_recording_n_events (recording, lane); i++)
    {
      GantryEvent event;

      gantry_recording_get (recording, lane, i, &event);
      if (overlaps (&event, time, time + 1))
        {
          any = TRUE;
          expected = i;
        }
    }
  g_assert_cmpint (got, ==, any);
  if (any)
    g_assert_cmpuint (found, ==, expected);
}

static void
test_against_all (void)
{
  g_autoptr (GRand) random = test_rand (21);

  for (guint round = 0; round < 40; round++)
    {
      gint64 span = round % 4 == 0 ? 200 : 1000000;
      g_autoptr (GantryRecording) recording = make_recording (random, round * 100, span);

      for (guint k = 0; k < 12; k++)
        {
          gint64 t0 = g_rand_int_range (random, -100, (gint32) span), t1 = t0 + 1 + g_rand_int_range (random, 0, (gint32) span);
          guint lane = (guint) g_rand_int_range (random, 0, 5);

          if (k == 0)
            t0 = -1000, t1 = 3 * span;
          check_overlapping (recording, lane, t0, t1);
          check_fold (recording, lane, t0, t1, (guint) g_rand_int_range (random, 1, 60));
          check_at (recording, lane, t0);
        }
    }
}

static void
test_stop (void)
{
  g_autoptr (GRand) random = test_rand (22);
  g_autoptr (GantryRecording) recording = make_recording (random, 1000, 1000000);
  g_autoptr (GArray) array = g_array_new (FALSE, FALSE, sizeof (guint64));
  Found found = { array, 3 };

  gantry_recording_overlapping (recording, 0, 0, 1000000, collect, &found);
  g_assert_cmpuint (array->len, ==, 3);
}

/* An event that began long ago is still found among many short ones. */
static void
test_long_span (void)
{
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  g_autoptr (GantryRecording) recording = NULL;
  g_autoptr (GArray) array = g_array_new (FALSE, FALSE, sizeof (guint64));
  Found found = { array, G_MAXUINT };
  GantryFoldPixel pixel;

  gantry_recording_builder_add (builder, &(GantryEvent){ .begin = 0, .end = 2000000 });
  for (gint64 i = 0; i < 200000; i++)
    gantry_recording_builder_add (builder, &(GantryEvent){ .begin = 10 * i, .end = 10 * i + 5 });
  recording = gantry_recording_builder_end (builder);
  g_assert_cmpuint (gantry_recording_n_events (recording, 0), ==, 200001);
  gantry_recording_overlapping (recording, 0, 1500006, 1500009, collect, &found);
  g_assert_cmpuint (array->len, ==, 1);
  g_assert_cmpuint (g_array_index (array, guint64, 0), ==, 0);
  gantry_recording_fold (recording, 0, -10, 2000010, 1, &pixel);
  g_assert_cmpuint (pixel.count, ==, 200001);
  g_assert_cmpuint (pixel.longest, ==, 0);
  g_assert_cmpint (pixel.busy_ns, ==, 2000000 + 5 * 200000);
}

/* A million events in a thousand pixels: told, not judged. */
static void
test_large (void)
{
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  g_autofree GantryFoldPixel *out = g_new (GantryFoldPixel, 1000);
  g_autoptr (GantryRecording) recording = NULL;
  gint64 start = g_get_monotonic_time (), middle;
  guint64 count = 0;

  for (gint64 i = 0; i < 1000000; i++)
    gantry_recording_builder_add (builder, &(GantryEvent){ .begin = 7 * i, .end = 7 * i + 6, .node = 1 + i % 1000 });
  recording = gantry_recording_builder_end (builder);
  middle = g_get_monotonic_time ();
  for (guint round = 0; round < 100; round++)
    gantry_recording_fold (recording, 0, 100 * round, 7000000 - round, 1000, out);
  g_test_message ("a million events: made in %.0f ms, folded into 1000 pixels in %.3f ms", (double) (middle - start) / 1e3,
                  (double) (g_get_monotonic_time () - middle) / 1e5);
  gantry_recording_fold (recording, 0, 0, 7000000, 1000, out);
  for (guint p = 0; p < 1000; p++)
    count += out[p].count;
  g_assert_cmpuint (count, ==, 1000000);
}

/* Curves. */

static void
check_curve (const GantryRecording *recording, GantryMemoryKind kind, gint64 t0, gint64 t1, guint n_pixels)
{
  g_autofree GantryCurvePixel *out = g_new (GantryCurvePixel, n_pixels);

  gantry_recording_memory_curve (recording, kind, t0, t1, n_pixels, out);
  for (guint p = 0; p < n_pixels; p++)
    {
      gint64 from = t0 + ((gint64) p * (t1 - t0) + n_pixels - 1) / n_pixels;
      gint64 to = t0 + (((gint64) p + 1) * (t1 - t0) + n_pixels - 1) / n_pixels;
      double alive = 0, min = 0, max = 0;
      gboolean any = FALSE;

      for (guint64 i = 0; i <= gantry_recording_n_memory_events (recording); i++)
        {
          GantryMemoryEvent event = { G_MAXINT64 };

          if (i < gantry_recording_n_memory_events (recording))
            gantry_recording_get_memory (recording, i, &event);
          if (i < gantry_recording_n_memory_events (recording) && event.memory != kind)
            continue;
          /* The value so far holds until this event: does it hold somewhere in the pixel? */
          if (!any && event.time > from)
            {
              min = max = alive;
              any = TRUE;
            }
          if (event.time >= MAX (to, from + 1))
            break;
          alive += event.release ? -(double) event.bytes : (double) event.bytes;
          if (event.time >= from)
            {
              min = any ? MIN (min, alive) : alive;
              max = any ? MAX (max, alive) : alive;
              any = TRUE;
            }
        }
      if (from == to)
        {
          /* Narrower than a nanosecond: the value at its edge. */
          g_assert_cmpfloat (out[p].max, ==, (double) gantry_recording_memory_at (recording, kind, from));
          continue;
        }
      g_assert_cmpfloat (out[p].min, ==, min);
      g_assert_cmpfloat (out[p].max, ==, max);
    }
}

static void
test_memory_curve (void)
{
  g_autoptr (GRand) random = test_rand (23);

  for (guint round = 0; round < 30; round++)
    {
      /* Allocations of all before any release, so that the sum never is below 0. */
      GantryRecordingBuilder *builder = gantry_recording_builder_new ();
      g_autoptr (GantryRecording) recording = NULL;

      for (guint i = 0; i < round * 60; i++)
        {
          GantryMemoryEvent event = { g_rand_int_range (random, 0, 3000), 0, (guint64) g_rand_int_range (random, 0, 900), i };

          event.memory = (guint8) g_rand_int_range (random, 0, 2);
          gantry_recording_builder_add_memory (builder, &event);
          event.time += g_rand_int_range (random, 0, 500);
          event.release = 1;
          gantry_recording_builder_add_memory (builder, &event);
        }
      recording = gantry_recording_builder_end (builder);
      for (guint k = 0; k < 10; k++)
        {
          gint64 t0 = g_rand_int_range (random, -50, 3000);

          check_curve (recording, k % 2, t0, t0 + g_rand_int_range (random, 1, 4000), (guint) g_rand_int_range (random, 1, 100));
        }
      g_assert_cmpuint (gantry_recording_memory_at (recording, 0, 1000000), ==, 0);
      g_assert_cmpuint (gantry_recording_memory_at (recording, 0, -1), ==, 0);
    }
}

static void
test_counters (void)
{
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  g_autoptr (GantryRecording) recording = NULL;
  GantryCurvePixel out[4];

  gantry_recording_builder_add_counter (builder, "power", 20, 7);
  gantry_recording_builder_add_counter (builder, "clock", 0, 1);
  gantry_recording_builder_add_counter (builder, "power", 10, 3);
  gantry_recording_builder_add_counter (builder, "power", 25, -2);
  recording = gantry_recording_builder_end (builder);
  g_assert_cmpuint (gantry_recording_n_counters (recording), ==, 2);
  g_assert_cmpstr (gantry_recording_counter_name (recording, 0), ==, "power");
  gantry_recording_counter_curve (recording, 0, 0, 40, 4, out);
  g_assert_cmpfloat (out[0].min, ==, 0);
  g_assert_cmpfloat (out[0].max, ==, 0);
  g_assert_cmpfloat (out[1].min, ==, 3);
  g_assert_cmpfloat (out[1].max, ==, 3);
  g_assert_cmpfloat (out[2].min, ==, -2);
  g_assert_cmpfloat (out[2].max, ==, 7);
  g_assert_cmpfloat (out[3].min, ==, -2);
  g_assert_cmpfloat (out[3].max, ==, -2);
}

/* Totals. */

static void
test_totals (void)
{
  g_autoptr (GRand) random = test_rand (24);
  g_autoptr (GantryRecording) recording = make_recording (random, 3000, 1000000);
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS], expected[GANTRY_N_EVENT_KINDS] = { { 0 } };
  g_autoptr (GArray) nodes = gantry_recording_by_node (recording);
  gint64 begin, end, first = G_MAXINT64, last = G_MININT64, sum[20] = { 0 };
  guint64 count[20] = { 0 };

  gantry_recording_totals (recording, totals);
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    for (guint64 i = 0; i < gantry_recording_n_events (recording, lane); i++)
      {
        GantryEvent e;

        gantry_recording_get (recording, lane, i, &e);
        g_assert_cmpuint (e.lane, ==, lane);
        first = MIN (first, e.begin);
        last = MAX (last, e.end);
        expected[e.kind].count++;
        expected[e.kind].bytes += e.bytes;
        expected[e.kind].total_ns += e.end - e.begin;
        expected[e.kind].longest_ns = MAX (expected[e.kind].longest_ns, e.end - e.begin);
        if (e.kind == GANTRY_EVENT_KERNEL || e.kind == GANTRY_EVENT_COPY || e.kind == GANTRY_EVENT_FILL)
          {
            sum[e.node] += e.end - e.begin;
            count[e.node]++;
          }
      }
  g_assert_cmpmem (totals, sizeof totals, expected, sizeof expected);
  gantry_recording_range (recording, &begin, &end);
  g_assert_cmpint (begin, <=, first);
  g_assert_cmpint (end, >=, last);
  g_assert_cmpuint (gantry_recording_peak_bytes (recording), ==, 3000);
  g_assert_cmpuint (nodes->len, ==, 19); /* node 0 is none */
  for (guint i = 0; i < nodes->len; i++)
    {
      const GantryNodeTotals *t = &g_array_index (nodes, GantryNodeTotals, i);

      g_assert_cmpint (t->total_ns, ==, sum[t->node]);
      g_assert_cmpuint (t->count, ==, count[t->node]);
      g_assert_true (i == 0 || t->total_ns <= g_array_index (nodes, GantryNodeTotals, i - 1).total_ns);
    }
}

static void
test_names (void)
{
  g_autoptr (GRand) random = test_rand (25);
  g_autoptr (GantryRecording) recording = make_recording (random, 100, 1000);

  g_assert_cmpuint (gantry_recording_n_lanes (recording), ==, 5);
  g_assert_cmpstr (gantry_recording_lane_name (recording, 0), ==, "compute");
  g_assert_cmpstr (gantry_recording_lane_name (recording, 4), ==, "imported");
  g_assert_cmpstr (gantry_recording_device (recording), ==, "test device");
  g_assert_cmpint (gantry_recording_origin (recording), ==, 123456789);
  g_assert_cmpstr (gantry_recording_string (recording, 0), ==, "");
  g_assert_cmpstr (gantry_recording_string (recording, 1), ==, "kernel \"1\" \xc3\xa9\n");
  g_assert_cmpstr (gantry_recording_string (recording, 1000), ==, "");
}

/* Calls and ranges of a thread lie within each other: a lane for each depth, in which no two overlap. */
static void
test_nested (void)
{
  static const struct
  {
    gint64 begin, end;
    guint row;
  } events[] = {
    { 0, 100, 0 }, { 10, 60, 1 }, { 20, 30, 2 }, { 30, 40, 2 }, { 60, 90, 1 }, { 70, 70, 2 }, { 100, 120, 0 },
  };
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  g_autoptr (GantryRecording) recording = NULL;
  guint next[3] = { 0 };

  gantry_recording_builder_set_lane_name (builder, 4, "main thread");
  gantry_recording_builder_set_lane_name (builder, 5, "stream 7");
  for (guint i = G_N_ELEMENTS (events); i-- > 0;)
    gantry_recording_builder_add (builder,
                                  &(GantryEvent){ .begin = events[i].begin, .end = events[i].end, .lane = 4, .node = i + 1, .kind = GANTRY_EVENT_RANGE });
  gantry_recording_builder_add (builder, &(GantryEvent){ .begin = 5, .end = 6, .lane = 5 });
  /* What the device did is left as it is, even where it overlaps. */
  gantry_recording_builder_add (builder, &(GantryEvent){ .begin = 5, .end = 9, .lane = 5 });
  recording = gantry_recording_builder_end (builder);
  g_assert_cmpuint (gantry_recording_n_lanes (recording), ==, 8);
  g_assert_cmpstr (gantry_recording_lane_name (recording, 4), ==, "main thread");
  g_assert_cmpstr (gantry_recording_lane_name (recording, 5), ==, "main thread, 2");
  g_assert_cmpstr (gantry_recording_lane_name (recording, 6), ==, "main thread, 3");
  g_assert_cmpstr (gantry_recording_lane_name (recording, 7), ==, "stream 7");
  g_assert_cmpuint (gantry_recording_n_events (recording, 7), ==, 2);
  for (guint i = 0; i < G_N_ELEMENTS (events); i++)
    {
      GantryEvent event;

      gantry_recording_get (recording, 4 + events[i].row, next[events[i].row]++, &event);
      g_assert_cmpuint (event.node, ==, i + 1);
      g_assert_cmpuint (event.lane, ==, 4 + events[i].row);
    }
}

/* A lane never becomes more lanes than there may be, however deep its events. */
static void
test_nested_deep (void)
{
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  g_autoptr (GantryRecording) recording = NULL;
  guint64 n = 0;

  for (guint lane = 4; lane < GANTRY_MAX_LANES; lane++)
    for (gint64 depth = 0; depth < 40; depth++)
      gantry_recording_builder_add (builder, &(GantryEvent){ .begin = depth, .end = 200 - depth, .lane = (guint8) lane, .kind = GANTRY_EVENT_CALL });
  recording = gantry_recording_builder_end (builder);
  g_assert_cmpuint (gantry_recording_n_lanes (recording), ==, GANTRY_MAX_LANES);
  for (guint lane = 0; lane < GANTRY_MAX_LANES; lane++)
    n += gantry_recording_n_events (recording, lane);
  g_assert_cmpuint (n, ==, 40 * (GANTRY_MAX_LANES - 4));
}

static void
test_empty (void)
{
  g_autoptr (GantryRecording) recording = gantry_recording_builder_end (gantry_recording_builder_new ());
  GantryFoldPixel fold[3];
  GantryCurvePixel curve[3];
  guint64 index;
  gint64 begin, end;

  gantry_recording_fold (recording, 0, 0, 100, 3, fold);
  g_assert_cmpuint (fold[0].count + fold[1].count + fold[2].count, ==, 0);
  gantry_recording_memory_curve (recording, GANTRY_MEMORY_DEVICE, 0, 100, 3, curve);
  g_assert_cmpfloat (curve[2].max, ==, 0);
  g_assert_false (gantry_recording_at (recording, 0, 5, &index));
  gantry_recording_range (recording, &begin, &end);
  g_assert_cmpint (begin, ==, end);
  g_assert_cmpuint (gantry_recording_n_chunks (recording), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/profiler/recording/against-all", test_against_all);
  g_test_add_func ("/profiler/recording/stop", test_stop);
  g_test_add_func ("/profiler/recording/long-span", test_long_span);
  g_test_add_func ("/profiler/recording/large", test_large);
  g_test_add_func ("/profiler/recording/memory-curve", test_memory_curve);
  g_test_add_func ("/profiler/recording/counters", test_counters);
  g_test_add_func ("/profiler/recording/totals", test_totals);
  g_test_add_func ("/profiler/recording/names", test_names);
  g_test_add_func ("/profiler/recording/nested", test_nested);
  g_test_add_func ("/profiler/recording/nested-deep", test_nested_deep);
  g_test_add_func ("/profiler/recording/empty", test_empty);
  return g_test_run ();
}
