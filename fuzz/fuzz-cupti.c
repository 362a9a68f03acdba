/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of CUPTI captures: a .cupti file, or else one activity buffer without an index. Whatever the bytes, reading
 * ends in a capture or in an error, and what was read becomes a recording. */

#include "profiler/cupti/convert.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryCuptiCapture) capture = gantry_cupti_capture_read (bytes, &error);

  g_assert ((capture == NULL) == (error != NULL));
  if (capture == NULL)
    {
      capture = gantry_cupti_capture_new (CUPTI_VERSION_13_0);
      capture->is_monotonic = TRUE;
      gantry_cupti_capture_add_buffer (capture, g_bytes_ref (bytes), NULL, 0, NULL, 0);
    }
  gantry_recording_unref (gantry_cupti_convert (capture, NULL, 0, NULL, NULL));
  return 0;
}
