/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of compressed traces. With an odd first byte the rest is compressed here, so that what stands behind the
 * compression is reached; with an even one the rest is the file. */

#include "fuzz/fuzz-file.h"
#include "profiler/import.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* (transfer full) */
static GBytes *
compress (const guint8 *data, gsize size)
{
  g_autoptr (GConverter) zip = G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, 1));
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  g_autoptr (GOutputStream) out = g_converter_output_stream_new (memory, zip);

  g_assert (g_output_stream_write_all (out, data, size, NULL, NULL, NULL) && g_output_stream_close (out, NULL, NULL));
  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (memory));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *path = NULL;
  g_autoptr (GantryRecording) recording = NULL;
  g_autoptr (GError) error = NULL;

  if (size == 0)
    return 0;
  if ((data[0] & 1) != 0)
    {
      g_autoptr (GBytes) bytes = compress (data + 1, size - 1);

      path = fuzz_file_write ("t.json.gz", g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
    }
  else
    path = fuzz_file_write ("t.json.gz", data + 1, size - 1);
  recording = gantry_trace_import (path, NULL, &error);
  g_assert ((recording == NULL) == (error != NULL));
  g_assert (error == NULL || error->message[0] != '\0');
  return 0;
}
