/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a .cupti file as the recorder would, without a GPU. The same options give the same bytes.
 * Usage: make-cupti-buffers [OPTION...] FILE
 *   --seed N      what lengths are drawn from (1)
 *   --steps N     steps of the program (100)
 *   --kernels N   kernels in each step (100); a kernel makes 3 records, a step 15 more
 *   --buffer N    bytes of a buffer (4194304)
 *   --sample NS   ns between samples of two counters; 0 for none (0)
 *   --no-index    leave out where records begin, so that readers must know their lengths */
#include "tools/cupti-sample.h"

int
main (int argc, char **argv)
{
  int seed = 1, steps = 100, kernels = 100, buffer = 4 << 20, sample = 0;
  gboolean no_index = FALSE;
  GOptionEntry entries[] = { { "seed", 0, 0, G_OPTION_ARG_INT, &seed, "What lengths are drawn from", "N" },
                             { "steps", 0, 0, G_OPTION_ARG_INT, &steps, "Steps of the program", "N" },
                             { "kernels", 0, 0, G_OPTION_ARG_INT, &kernels, "Kernels in each step", "N" },
                             { "buffer", 0, 0, G_OPTION_ARG_INT, &buffer, "Bytes of a buffer", "N" },
                             { "sample", 0, 0, G_OPTION_ARG_INT, &sample, "Time between samples of counters", "NS" },
                             { "no-index", 0, 0, G_OPTION_ARG_NONE, &no_index, "Leave out the index", NULL },
                             { NULL } };
  g_autoptr (GOptionContext) context = g_option_context_new ("FILE");
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryCuptiCapture) capture = NULL;
  g_autoptr (GFile) file = NULL;
  g_autoptr (GFileOutputStream) stream = NULL;
  CuptiSampleOptions options;
  CuptiSampleTotals totals;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || argc != 2 || steps < 0 || kernels < 0 || buffer < 256 || sample < 0)
    {
      g_printerr ("%s; see make-cupti-buffers --help\n", error != NULL ? error->message : "one FILE and no negative numbers");
      return 2;
    }
  options = (CuptiSampleOptions){ (guint32) seed, (guint) steps, (guint) kernels, (gsize) buffer, 1000000000000ll, no_index, (guint) sample };
  capture = cupti_sample_new (&options, &totals);
  file = g_file_new_for_commandline_arg (argv[1]);
  stream = g_file_replace (file, NULL, FALSE, G_FILE_CREATE_NONE, NULL, &error);
  if (stream == NULL || !gantry_cupti_capture_write (capture, G_OUTPUT_STREAM (stream), NULL, &error)
      || !g_output_stream_close (G_OUTPUT_STREAM (stream), NULL, &error))
    {
      g_printerr ("%s: %s\n", argv[1], error->message);
      return 1;
    }
  g_print ("%s: %" G_GUINT64_FORMAT " buffers, %" G_GUINT64_FORMAT " bytes in them; %" G_GUINT64_FORMAT " kernels, %" G_GUINT64_FORMAT
           " copies, %" G_GUINT64_FORMAT " calls, %" G_GUINT64_FORMAT " ranges, %" G_GUINT64_FORMAT " samples\n",
           argv[1], totals.buffers, totals.bytes, totals.kernels, totals.copies, totals.calls, totals.ranges, totals.samples);
  return 0;
}
