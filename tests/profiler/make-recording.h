/* SPDX-License-Identifier: Apache-2.0 */
/* Random recordings for tests: short events, events that last long and enclose others, events without
 * length, gaps, bursts. */
#pragma once
#include "profiler/profiler.h"

static inline GantryRecording *
make_recording (GRand *random, guint n_events, gint64 span)
{
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  guint32 names[5];

  gantry_recording_builder_set_device (builder, "test device");
  gantry_recording_builder_set_origin (builder, 123456789);
  for (guint i = 0; i < 5; i++)
    {
      g_autofree char *name = g_strdup_printf ("kernel \"%u\" \xc3\xa9\n", i);

      names[i] = i == 0 ? 0 : gantry_recording_builder_string (builder, name);
    }
  for (guint i = 0; i < n_events; i++)
    {
      GantryEvent event = { 0 };
      gint32 shape = g_rand_int_range (random, 0, 20);
      gint64 length = g_rand_int_range (random, 0, (gint32) MAX (span / MAX (n_events, 1), 2));

      if (shape == 0)
        length = (gint64) (g_rand_double (random) * (double) span);
      else if (shape < 3)
        length = 0;
      event.begin = (gint64) (g_rand_double (random) * (double) span);
      if (shape > 15)
        event.begin = event.begin / (span / 4 + 1) * (span / 4 + 1); /* bursts */
      event.end = event.begin + length;
      event.bytes = (guint64) g_rand_int_range (random, 0, 1000000);
      event.instruction = shape == 5 ? GANTRY_NO_INSTRUCTION : i;
      event.node = (guint32) g_rand_int_range (random, 0, 20);
      event.name = names[g_rand_int_range (random, 0, 5)];
      event.thread = (guint16) g_rand_int_range (random, 0, 3);
      event.lane = (guint8) g_rand_int_range (random, 0, 3) * 2; /* 0, 2 and 4 */
      /* Lane 4 stays one: nothing in it nests. */
      event.kind = (guint8) g_rand_int_range (random, 0, event.lane == 4 ? GANTRY_EVENT_SYNC : GANTRY_N_EVENT_KINDS);
      event.correlation = shape % 2 == 0 ? i : 0;
      if (shape % 3 == 0)
        {
          GantryLaunchDetail detail = { { 1 + i % 4, 2, 1 }, { 128, 1, 1 }, { 1, 1, 1 }, .registers = 40, .stream = 7 };

          event.detail = gantry_recording_builder_detail (builder, &detail);
        }
      gantry_recording_builder_add (builder, &event);
    }
  for (guint i = 0; i < n_events / 2; i++)
    {
      GantryMemoryEvent event = { 0 };

      event.time = (gint64) (g_rand_double (random) * (double) span);
      event.offset = (guint64) g_rand_int_range (random, 0, 1000);
      event.bytes = (guint64) g_rand_int_range (random, 0, 1000);
      event.buffer = i;
      event.node = i + 1;
      event.memory = (guint8) g_rand_int_range (random, 0, 2);
      gantry_recording_builder_add_memory (builder, &event);
      event.time += g_rand_int_range (random, 0, 1000);
      event.release = 1;
      gantry_recording_builder_add_memory (builder, &event);
    }
  for (guint i = 0; i < n_events / 3; i++)
    gantry_recording_builder_add_counter (builder, i % 3 == 0 ? "power" : "clock", (gint64) (g_rand_double (random) * (double) span),
                                          g_rand_double_range (random, -5, 5));
  gantry_recording_builder_add_note (builder, "3 records were dropped");
  gantry_recording_builder_add_note (builder, "3 records were dropped");
  gantry_recording_builder_add_note (builder, "no right to sample counters");
  gantry_recording_builder_set_lane_name (builder, 4, "imported");
  gantry_recording_builder_add_run (builder, &(GantryRecordedRun){ 0, span / 2, 1000 });
  gantry_recording_builder_add_run (builder, &(GantryRecordedRun){ span / 2, span, 3000 });
  return gantry_recording_builder_end (builder);
}
