/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of recordings as a session file keeps them: whatever the bytes of head and chunks, reading ends in a
 * recording that can be asked everything, or in an error. The input is a list of blobs, each after its length (u32, little
 * endian): the head, then the chunks. */

#include "profiler/import.h"
#include "profiler/overlap.h"
#include <string.h>

#define MOST_BLOBS 64u

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static GBytes *
take_blob (const guint8 **data, gsize *size)
{
  guint32 length;
  GBytes *blob;

  if (*size < 4)
    return NULL;
  memcpy (&length, *data, 4);
  length = MIN (GUINT32_FROM_LE (length), *size - 4);
  blob = g_bytes_new (*data + 4, length);
  *data += 4 + length;
  *size -= 4 + length;
  return blob;
}

static gboolean
count (guint64 index, gpointer user_data)
{
  return ++*(guint *) user_data < 1000;
}

static void
ask (const GantryRecording *recording)
{
  GantryFoldPixel pixels[32];
  GantryCurvePixel curve[32];
  GantryOverlap overlap;
  g_autoptr (GArray) nodes = gantry_recording_by_node (recording);
  g_autoptr (GHashTable) measured = gantry_recording_measured_us (recording);
  g_autoptr (GOutputStream) out = g_memory_output_stream_new_resizable ();
  gint64 begin, end;
  guint n = 0;

  gantry_recording_range (recording, &begin, &end);
  gantry_recording_overlap (recording, -1, &overlap);
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    {
      guint64 index;

      gantry_recording_fold (recording, lane, begin, end + 1, G_N_ELEMENTS (pixels), pixels);
      gantry_recording_overlapping (recording, lane, begin, end + 1, count, &n);
      gantry_recording_at (recording, lane, begin / 2 + end / 2, &index);
    }
  gantry_recording_memory_curve (recording, GANTRY_MEMORY_DEVICE, begin, end + 1, G_N_ELEMENTS (curve), curve);
  for (guint i = 0; i < MIN (gantry_recording_n_counters (recording), 8); i++)
    gantry_recording_counter_curve (recording, i, begin, end + 1, G_N_ELEMENTS (curve), curve);
  g_assert (gantry_recording_write_chrome (recording, out, NULL, NULL));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GPtrArray) chunks = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autoptr (GBytes) head = take_blob (&data, &size);
  g_autoptr (GantryRecording) recording = NULL;
  g_autoptr (GError) error = NULL;
  GBytes *chunk;

  if (head == NULL)
    return 0;
  while (chunks->len < MOST_BLOBS && (chunk = take_blob (&data, &size)) != NULL)
    g_ptr_array_add (chunks, chunk);
  recording = gantry_recording_load (head, (GBytes *const *) chunks->pdata, chunks->len, &error);
  g_assert ((recording == NULL) == (error != NULL));
  if (recording != NULL)
    ask (recording);
  return 0;
}
