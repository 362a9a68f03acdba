/* SPDX-License-Identifier: Apache-2.0 */
/* How queues overlap, counted by hand and nanosecond by nanosecond, and what the cost model is given. */
#include "profiler/overlap.h"
#include "tests/random-seed.h"
#include <string.h>

static void
add (GantryRecordingBuilder *builder, guint lane, GantryEventKind kind, gint64 begin, gint64 end, guint32 node, guint64 bytes)
{
  GantryEvent event = { begin, end, bytes, GANTRY_NO_INSTRUCTION, node };

  event.kind = kind;
  event.lane = (guint8) lane;
  gantry_recording_builder_add (builder, &event);
}

/* Two runs. In the first a copy of 40 ns is half hidden: 10 beside a kernel, 20 beside a wait, 10 beside the next. */
static GantryRecording *
two_runs (void)
{
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();

  gantry_recording_builder_add_run (builder, &(GantryRecordedRun){ 0, 200, 0 });
  gantry_recording_builder_add_run (builder, &(GantryRecordedRun){ 1000, 1100, 0 });
  add (builder, GANTRY_QUEUE_COMPUTE, GANTRY_EVENT_KERNEL, 0, 100, 7, 0);
  add (builder, GANTRY_QUEUE_COMPUTE, GANTRY_EVENT_WAIT, 100, 120, 8, 0);
  add (builder, GANTRY_QUEUE_COMPUTE, GANTRY_EVENT_KERNEL, 120, 200, 8, 0);
  add (builder, GANTRY_QUEUE_TO_HOST, GANTRY_EVENT_COPY, 20, 80, 7, 600);
  add (builder, GANTRY_QUEUE_TO_DEVICE, GANTRY_EVENT_COPY, 90, 130, 7, 200);
  add (builder, GANTRY_QUEUE_COMPUTE, GANTRY_EVENT_KERNEL, 1005, 1055, 7, 0);
  add (builder, GANTRY_QUEUE_COMPUTE, GANTRY_EVENT_KERNEL, 1055, 1100, 7, 0);
  add (builder, GANTRY_QUEUE_TO_HOST, GANTRY_EVENT_COPY, 1000, 1100, 7, 400);
  return gantry_recording_builder_end (builder);
}

static void
test_by_hand (void)
{
  g_autoptr (GantryRecording) recording = two_runs ();
  GantryOverlap all, first, second;

  gantry_recording_overlap (recording, 0, &first);
  g_assert_cmpint (first.run_ns, ==, 200);
  g_assert_cmpint (first.queues[GANTRY_QUEUE_COMPUTE].busy_ns, ==, 180);
  g_assert_cmpint (first.queues[GANTRY_QUEUE_COMPUTE].wait_ns, ==, 20);
  g_assert_cmpuint (first.queues[GANTRY_QUEUE_COMPUTE].n_events, ==, 2);
  g_assert_cmpuint (first.queues[GANTRY_QUEUE_TO_HOST].bytes, ==, 600);
  g_assert_cmpint (first.copy_ns, ==, 100);
  g_assert_cmpint (first.hidden_ns, ==, 60 + 10 + 10);
  g_assert_cmpint (first.exposed_ns, ==, 20);
  g_assert_cmpfloat_with_epsilon (gantry_overlap_hidden (&first), 0.8, 1e-12);
  gantry_recording_overlap (recording, 1, &second);
  g_assert_cmpint (second.hidden_ns, ==, 95);
  g_assert_cmpint (second.run_ns, ==, 100);
  gantry_recording_overlap (recording, -1, &all);
  g_assert_cmpint (all.run_ns, ==, 300);
  g_assert_cmpint (all.hidden_ns, ==, 80 + 95);
  g_assert_cmpint (all.copy_ns, ==, 200);
  g_assert_cmpuint (all.queues[GANTRY_QUEUE_TO_HOST].bytes, ==, 1000);
  g_assert_cmpfloat_with_epsilon (gantry_overlap_kept (&second, &first), 0.8 / 0.95, 1e-12);
  g_assert_cmpfloat_with_epsilon (gantry_overlap_kept (&first, &second), 1, 1e-12);
}

static void
test_nothing (void)
{
  g_autoptr (GantryRecording) recording = gantry_recording_builder_end (gantry_recording_builder_new ());
  GantryOverlap overlap;

  gantry_recording_overlap (recording, -1, &overlap);
  g_assert_cmpint (overlap.copy_ns, ==, 0);
  g_assert_cmpfloat (gantry_overlap_hidden (&overlap), ==, 1);
  g_assert_cmpfloat (gantry_overlap_kept (&overlap, &overlap), ==, 1);
  g_assert_cmpfloat (gantry_recording_link_bandwidth (recording, GANTRY_N_QUEUES), ==, 0);
}

/* Random events of which many overlap: compared with looking at every nanosecond. */
#define SPAN 4000

static void
test_random (void)
{
  g_autoptr (GRand) rand = test_rand (61);

  for (guint round = 0; round < 50; round++)
    {
      GantryRecordingBuilder *builder = gantry_recording_builder_new ();
      g_autoptr (GantryRecording) recording = NULL;
      g_autofree guint8 *busy = g_new0 (guint8, GANTRY_N_QUEUES * SPAN);
      gint64 hidden = 0, copied = 0;
      GantryOverlap overlap;

      for (guint i = 0; i < 60; i++)
        {
          guint queue = (guint) g_rand_int_range (rand, 0, GANTRY_N_QUEUES);
          gint64 begin = g_rand_int_range (rand, 0, SPAN - 200), end = begin + g_rand_int_range (rand, 0, 200);
          gboolean wait = g_rand_boolean (rand) && g_rand_boolean (rand);

          add (builder, queue, wait ? GANTRY_EVENT_WAIT : queue == 0 ? GANTRY_EVENT_KERNEL : GANTRY_EVENT_COPY, begin, end, 1, 0);
          if (!wait)
            memset (busy + queue * SPAN + begin, 1, (gsize) (end - begin));
        }
      for (guint t = 0; t < SPAN; t++)
        for (guint queue = 1; queue < GANTRY_N_QUEUES; queue++)
          {
            copied += busy[queue * SPAN + t];
            hidden += busy[queue * SPAN + t] && busy[t];
          }
      recording = gantry_recording_builder_end (builder);
      gantry_recording_overlap (recording, -1, &overlap);
      g_assert_cmpint (overlap.copy_ns, ==, copied);
      g_assert_cmpint (overlap.hidden_ns, ==, hidden);
    }
}

static double
measured_of (GHashTable *measured, guint32 node)
{
  const double *us = g_hash_table_lookup (measured, GUINT_TO_POINTER (node));

  g_assert_nonnull (us);
  return *us;
}

static void
test_measured (void)
{
  g_autoptr (GantryRecording) recording = two_runs ();
  g_autoptr (GHashTable) measured = gantry_recording_measured_us (recording);

  /* 100, 50 with the 5 since its run began, and 45; copies of node 7 on other queues are none of its work. */
  g_assert_cmpuint (g_hash_table_size (measured), ==, 2);
  g_assert_cmpfloat_with_epsilon (measured_of (measured, 7), 0.055, 1e-12);
  g_assert_cmpfloat_with_epsilon (measured_of (measured, 8), 0.080, 1e-12);
  g_assert_cmpfloat_with_epsilon (gantry_recording_link_bandwidth (recording, GANTRY_QUEUE_TO_HOST), 1000 / 160e-9, 1);
  g_assert_cmpfloat_with_epsilon (gantry_recording_link_bandwidth (recording, GANTRY_QUEUE_TO_DEVICE), 200 / 40e-9, 1);
  g_assert_cmpfloat_with_epsilon (gantry_recording_link_bandwidth (recording, GANTRY_N_QUEUES), 1200 / 200e-9, 1);
}

/* A queue that had nothing to do is not slow at what comes then. */
static void
test_long_pause (void)
{
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  g_autoptr (GantryRecording) recording = NULL;
  g_autoptr (GHashTable) measured = NULL;

  add (builder, GANTRY_QUEUE_COMPUTE, GANTRY_EVENT_KERNEL, 0, 1000, 3, 0);
  add (builder, GANTRY_QUEUE_COMPUTE, GANTRY_EVENT_KERNEL, 50001000, 50002000, 4, 0);
  recording = gantry_recording_builder_end (builder);
  measured = gantry_recording_measured_us (recording);
  g_assert_cmpfloat_with_epsilon (measured_of (measured, 3), 1, 1e-12);
  g_assert_cmpfloat_with_epsilon (measured_of (measured, 4), 1, 1e-12);
}

/* @n events of one instruction, each 100 ns long with 10 before it. Returns: when the last ends */
static gint64
add_launches (GantryRecordingBuilder *builder, guint32 instruction, guint32 node, guint n, gint64 begin)
{
  for (guint i = 0; i < n; i++)
    {
      GantryEvent event = { begin + 10, begin + 110, 0, instruction, node };

      event.kind = GANTRY_EVENT_KERNEL;
      event.lane = GANTRY_QUEUE_COMPUTE;
      gantry_recording_builder_add (builder, &event);
      begin += 110;
    }
  return begin;
}

/* Launches of one kernel are one time; the same instruction in the next run, and another of the same node, are not. */
static void
test_launches (void)
{
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  g_autoptr (GantryRecording) recording = NULL;
  g_autoptr (GHashTable) measured = NULL;
  gint64 time = add_launches (builder, 5, 9, 40, 0); /* warming up */

  for (guint run = 0; run < 3; run++)
    {
      GantryRecordedRun one = { .begin = time };

      time = add_launches (builder, 5, 9, 3, time);
      time = add_launches (builder, 6, 9, 3, time);
      time = add_launches (builder, 7, 8, 2, time);
      time = add_launches (builder, GANTRY_NO_INSTRUCTION, 4, 2, time);
      one.end = time;
      gantry_recording_builder_add_run (builder, &one);
    }
  recording = gantry_recording_builder_end (builder);
  measured = gantry_recording_measured_us (recording);
  g_assert_cmpfloat_with_epsilon (measured_of (measured, 9), 0.330, 1e-12);
  g_assert_cmpfloat_with_epsilon (measured_of (measured, 8), 0.220, 1e-12);
  g_assert_cmpfloat_with_epsilon (measured_of (measured, 4), 0.110, 1e-12);
}

/* A program of one kernel: each run is one time of it, and without runs each event is. */
static void
test_one_kernel (void)
{
  for (guint with_runs = 0; with_runs < 2; with_runs++)
    {
      GantryRecordingBuilder *builder = gantry_recording_builder_new ();
      g_autoptr (GantryRecording) recording = NULL;
      g_autoptr (GHashTable) measured = NULL;

      for (gint64 i = 0; i < 5; i++)
        {
          if (with_runs)
            gantry_recording_builder_add_run (builder, &(GantryRecordedRun){ 110 * i, 110 * (i + 1), 0 });
          add_launches (builder, 1, 2, 1, 110 * i);
        }
      recording = gantry_recording_builder_end (builder);
      measured = gantry_recording_measured_us (recording);
      g_assert_cmpfloat_with_epsilon (measured_of (measured, 2), 0.110, 1e-12);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/profiler/overlap/by-hand", test_by_hand);
  g_test_add_func ("/profiler/overlap/nothing", test_nothing);
  g_test_add_func ("/profiler/overlap/random", test_random);
  g_test_add_func ("/profiler/overlap/measured", test_measured);
  g_test_add_func ("/profiler/overlap/long-pause", test_long_pause);
  g_test_add_func ("/profiler/overlap/launches", test_launches);
  g_test_add_func ("/profiler/overlap/one-kernel", test_one_kernel);
  return g_test_run ();
}
