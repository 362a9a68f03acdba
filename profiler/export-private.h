/* SPDX-License-Identifier: Apache-2.0 */
/* What exports have in common: text that goes to a stream as it is made, so that a recording of millions of events takes
 * no more memory than a buffer. */
#pragma once
#include "profiler/recording-private.h"

#define EXPORT_FLUSH_AT 65536u

typedef struct
{
  GOutputStream *stream;
  GCancellable *cancellable;
  GString *text;
} Export;

/** Writes what has come together when it is @at_least that long. */
static inline gboolean
_gantry_export_flush (Export *out, gsize at_least, GError **error)
{
  gboolean written;

  if (out->text->len < at_least)
    return TRUE;
  /* Not every stream looks. */
  if (g_cancellable_set_error_if_cancelled (out->cancellable, error))
    return FALSE;
  written = g_output_stream_write_all (out->stream, out->text->str, out->text->len, NULL, out->cancellable, error);
  g_string_truncate (out->text, 0);
  return written;
}

/** A number, faster than a format. */
static inline void
_gantry_export_number (GString *out, guint64 number)
{
  char digits[20];
  guint n = sizeof digits;

  do
    digits[--n] = (char) ('0' + number % 10);
  while ((number /= 10) > 0);
  g_string_append_len (out, digits + n, (gssize) (sizeof digits - n));
}
