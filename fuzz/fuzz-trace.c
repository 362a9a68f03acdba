/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of imported traces: bytes that begin as an SQLite file are the export of Nsight Systems, all others a
 * trace in JSON. Either gives a recording whose export can be imported again with as many events, or an error. */

#include "profiler/import.h"
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static guint64
count_events (const GantryRecording *recording)
{
  guint64 n = 0;

  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    n += gantry_recording_n_events (recording, lane);
  return n;
}

static void
check_again (const GantryRecording *recording)
{
  g_autoptr (GOutputStream) out = g_memory_output_stream_new_resizable ();
  g_autoptr (GInputStream) in = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GantryRecording) again = NULL;
  g_autoptr (GError) error = NULL;

  g_assert (gantry_recording_write_chrome (recording, out, NULL, NULL));
  g_output_stream_close (out, NULL, NULL);
  bytes = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (out));
  in = g_memory_input_stream_new_from_bytes (bytes);
  again = gantry_trace_import_chrome (in, "again", NULL, &error);
  /* Memory events become counters: a recording of nothing else has none where their sum is no number. */
  g_assert (again != NULL ? count_events (again) == count_events (recording) : count_events (recording) == 0);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GInputStream) stream = NULL;
  g_autoptr (GantryRecording) recording = NULL;
  g_autoptr (GError) error = NULL;

  if (size >= 16 && memcmp (data, "SQLite format 3", 16) == 0)
    recording = gantry_trace_import_nsys (bytes, "fuzz", NULL, &error);
  else
    {
      stream = g_memory_input_stream_new_from_bytes (bytes);
      recording = gantry_trace_import_chrome (stream, "fuzz", NULL, &error);
    }
  g_assert ((recording == NULL) == (error != NULL));
  if (recording != NULL)
    check_again (recording);
  return 0;
}
