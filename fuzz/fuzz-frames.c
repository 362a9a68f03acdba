/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of the frames between two gantry-cli: whatever the bytes, reading ends in frames, each of a kind that there is
 * and within its limits, and then in an error. A file's name never leaves its folder. */

#include "app/cli/frames.h"
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
look_at (const GantryFrame *frame)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  g_auto (GStrv) arguments = NULL;
  guint64 bytes;
  int status;

  switch (frame->kind)
    {
    case GANTRY_FRAME_HELLO: g_assert ((gantry_frame_parse_hello (frame, &text, &error)) == (error == NULL)); break;
    case GANTRY_FRAME_FILE:
      g_assert ((gantry_frame_parse_file (frame, &text, &bytes, &error)) == (error == NULL));
      g_assert (text == NULL || (strchr (text, '/') == NULL && text[0] != '.' && bytes <= GANTRY_FRAME_MOST_FILE));
      break;
    case GANTRY_FRAME_ARGUMENTS:
      arguments = gantry_frame_parse_arguments (frame, &error);
      g_assert ((arguments == NULL) == (error != NULL));
      g_assert (arguments == NULL || g_strv_length (arguments) <= GANTRY_FRAME_MOST_ARGUMENTS);
      break;
    case GANTRY_FRAME_FAILED: g_assert ((gantry_frame_parse_failed (frame, &status, &text, &error)) == (error == NULL)); break;
    default: break;
    }
  g_assert (text == NULL || g_utf8_validate (text, -1, NULL));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_data (data, (gssize) size, NULL);
  g_autoptr (GError) error = NULL;

  while (error == NULL)
    {
      g_auto (GantryFrame) frame = { 0 };

      if (!gantry_frame_read (stream, &frame, &error))
        break;
      g_assert (frame.kind >= GANTRY_FRAME_HELLO && frame.kind <= GANTRY_FRAME_DONE);
      g_assert (g_bytes_get_size (frame.payload) <= GANTRY_FRAME_MOST_BYTES);
      look_at (&frame);
    }
  g_assert (error != NULL);
  return 0;
}
