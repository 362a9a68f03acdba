/* SPDX-License-Identifier: Apache-2.0 */
/* What a real GPU recorded (data/recordings): ten steps of a transformer whose residuals are offloaded. It shows what the stand-in
 * for CUPTI cannot: that records have the lengths that the layouts say, and that times lie on streams as a device does its work. */
#include "profiler/cupti/convert.h"
#include "profiler/cupti/decode.h"
#include <string.h>

typedef struct
{
  guint64 n[GANTRY_CUPTI_N_RECORDS];
  guint64 copied;
  guint64 n_backwards; /* that end before they begin */
} Counts;

static void
count (const GantryCuptiRecord *record, gpointer user_data)
{
  Counts *counts = user_data;

  counts->n[record->kind]++;
  counts->copied += record->kind == GANTRY_CUPTI_COPY ? record->bytes : 0;
  counts->n_backwards += record->end < record->begin;
}

static GBytes *
unpack (const char *path)
{
  g_autofree char *xz = g_find_program_in_path ("xz");
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GError) error = NULL;
  GBytes *bytes = NULL;

  if (xz == NULL)
    return NULL;
  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, xz, "-dc", path, NULL);
  g_assert_no_error (error);
  g_subprocess_communicate (process, NULL, NULL, &bytes, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_get_successful (process));
  return bytes;
}

/* Of one stream: work whose end is later than that of work behind it. The last blocks of a kernel may end after the first ones of the
 * next began, by a microsecond. */
static guint64
count_late_ends (const GantryRecording *recording, guint lane)
{
  gint64 least_end = G_MAXINT64;
  guint64 n = 0;

  for (guint64 i = gantry_recording_n_events (recording, lane); i-- > 0;)
    {
      GantryEvent event;

      gantry_recording_get (recording, lane, i, &event);
      n += event.end > least_end;
      least_end = MIN (least_end, event.end);
    }
  return n;
}

static void
test_offload (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "data", "recordings", "h100-2026-11-26", "transformer-12-offload.cupti.xz", NULL);
  g_autoptr (GBytes) bytes = unpack (path);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryCuptiCapture) capture = NULL;
  g_autoptr (GantryRecording) recording = NULL;
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
  Counts counts = { 0 };
  GantryCuptiWalk walk = { 0 };

  if (bytes == NULL)
    {
      g_test_skip ("xz is not installed");
      return;
    }
  capture = gantry_cupti_capture_read (bytes, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < capture->buffers->len; i++)
    {
      const GantryCuptiBuffer *buffer = g_ptr_array_index (capture->buffers, i);
      gsize size;
      const guint8 *data = g_bytes_get_data (buffer->data, &size);

      /* Lengths come from the layouts, not from the index that the library gave. */
      gantry_cupti_walk (capture->version, data, size, NULL, 0, count, &counts, &walk);
      g_assert_cmpint (walk.stop, ==, GANTRY_CUPTI_STOP_END);
    }
  g_assert_cmpuint (walk.n_short, ==, 0);
  g_assert_cmpuint (counts.n_backwards, ==, 0);
  g_assert_cmpuint (counts.n[GANTRY_CUPTI_KERNEL], >, 10000);
  g_assert_cmpuint (counts.n[GANTRY_CUPTI_COPY], >, 5000);
  g_assert_cmpuint (capture->dropped, ==, 0);

  recording = gantry_cupti_convert (capture, NULL, 0, NULL, NULL);
  gantry_recording_totals (recording, totals);
  g_assert_cmpuint (totals[GANTRY_EVENT_KERNEL].count, ==, counts.n[GANTRY_CUPTI_KERNEL]);
  g_assert_cmpuint (totals[GANTRY_EVENT_COPY].count, ==, counts.n[GANTRY_CUPTI_COPY]);
  g_assert_cmpuint (totals[GANTRY_EVENT_COPY].bytes, ==, counts.copied);
  g_assert_cmpuint (totals[GANTRY_EVENT_CALL].count, ==, counts.n[GANTRY_CUPTI_CALL]);
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    if (g_str_has_prefix (gantry_recording_lane_name (recording, lane), "stream "))
      g_assert_cmpuint (count_late_ends (recording, lane), ==, 0);
  /* Nobody watched the runs: all of it is one, which the window shows. */
  g_assert_cmpuint (gantry_recording_n_runs (recording), ==, 1);
  g_assert_cmpint (gantry_recording_run (recording, 0)->end, >, G_GINT64_CONSTANT (1000000000));
  /* One copy of 3 KiB ends, by its record, 0.8 s after it began: longer than all other work of a step. */
  g_assert_cmpuint (gantry_recording_n_notes (recording), ==, 1);
  g_assert_nonnull (strstr (gantry_recording_note (recording, 0), "A kernel or copy ended"));
  g_assert_cmpint (totals[GANTRY_EVENT_COPY].longest_ns, <, 10000000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/profiler/cupti/captured/offload", test_offload);
  return g_test_run ();
}
