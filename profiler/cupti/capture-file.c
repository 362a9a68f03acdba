/* SPDX-License-Identifier: Apache-2.0 */
/* The .cupti file: a capture as bytes. All numbers are little endian, nothing is aligned; a string is its length
 * (u32) and its bytes. docs/recordings.md describes it. */
#include "core/base/error.h"
#include "profiler/cupti/capture.h"
#include <string.h>

#define FORMAT 1u
#define FLAG_MONOTONIC 1u
#define FLAG_INDEX 1u
#define LONGEST_STRING (1u << 20)

/* Writing. */

static void
put (GByteArray *out, guint64 value, guint width)
{
  value = GUINT64_TO_LE (value);
  g_byte_array_append (out, (const guint8 *) &value, width);
}

static void
put_string (GByteArray *out, const char *text)
{
  gsize length = text != NULL ? MIN (strlen (text), LONGEST_STRING) : 0;

  put (out, length, 4);
  if (length > 0)
    g_byte_array_append (out, (const guint8 *) text, (guint) length);
}

static void
put_strings (GByteArray *out, const GPtrArray *strings)
{
  put (out, strings->len, 4);
  for (guint i = 0; i < strings->len; i++)
    put_string (out, g_ptr_array_index (strings, i));
}

static void
put_moments (GByteArray *out, const GArray *moments)
{
  put (out, moments->len, 4);
  for (guint i = 0; i < moments->len; i++)
    {
      const GantryCuptiMoment *moment = &g_array_index (moments, GantryCuptiMoment, i);

      put (out, (guint64) moment->theirs, 8);
      put (out, (guint64) moment->monotonic, 8);
    }
}

static void
put_head (GByteArray *out, const GantryCuptiCapture *capture)
{
  g_byte_array_append (out, (const guint8 *) GANTRY_CUPTI_MAGIC, 8);
  put (out, FORMAT, 4);
  put (out, capture->version, 4);
  put (out, capture->is_monotonic ? FLAG_MONOTONIC : 0, 4);
  put (out, capture->dropped, 8);
  put_string (out, capture->chip);
  put_string (out, capture->device);
  put_moments (out, capture->moments);
  put_strings (out, capture->strings);
  put_strings (out, capture->notes);
  put (out, capture->calls->len, 4);
  for (guint i = 0; i < capture->calls->len; i++)
    {
      const GantryCuptiCallName *call = &g_array_index (capture->calls, GantryCuptiCallName, i);

      put (out, call->is_driver, 4);
      put (out, call->cbid, 4);
      put (out, call->string, 4);
    }
  put (out, capture->graph_nodes->len, 4);
  for (guint i = 0; i < capture->graph_nodes->len; i++)
    {
      const GantryCuptiGraphNode *node = &g_array_index (capture->graph_nodes, GantryCuptiGraphNode, i);

      put (out, node->graph_node, 8);
      put (out, node->external, 8);
    }
}

static void
put_samples (GByteArray *out, const GantryCuptiCapture *capture)
{
  put_strings (out, capture->counters);
  put (out, (guint64) capture->sampled_from, 8);
  put (out, (guint64) capture->sampled_to, 8);
  put (out, (guint64) capture->realtime_ahead, 8);
  put_moments (out, capture->newest);
  put (out, capture->samples->len, 4);
  for (guint i = 0; i < capture->samples->len; i++)
    {
      const GantryCuptiSample *sample = &g_array_index (capture->samples, GantryCuptiSample, i);

      put (out, (guint64) sample->begin, 8);
      put (out, (guint64) sample->end, 8);
      for (guint c = 0; c < capture->counters->len; c++)
        {
          guint64 bits;

          memcpy (&bits, &g_array_index (capture->values, double, i * capture->counters->len + c), 8);
          put (out, bits, 8);
        }
    }
}

static void
put_buffer_head (GByteArray *out, const GantryCuptiBuffer *buffer)
{
  put (out, g_bytes_get_size (buffer->data), 8);
  put (out, buffer->index != NULL ? FLAG_INDEX : 0, 4);
  put (out, buffer->n_index, 4);
  put (out, buffer->n_addresses, 4);
  for (guint32 i = 0; i < buffer->n_addresses; i++)
    {
      put (out, buffer->addresses[i].address, 8);
      put (out, buffer->addresses[i].string, 4);
    }
  for (guint32 i = 0; i < buffer->n_index; i++)
    put (out, buffer->index[i], 4);
}

static gboolean
flush (GByteArray *out, GOutputStream *stream, GCancellable *cancellable, GError **error)
{
  gboolean ok = g_output_stream_write_all (stream, out->data, out->len, NULL, cancellable, error);

  g_byte_array_set_size (out, 0);
  return ok;
}

gboolean
gantry_cupti_capture_write (const GantryCuptiCapture *capture, GOutputStream *stream, GCancellable *cancellable, GError **error)
{
  g_autoptr (GByteArray) out = g_byte_array_new ();

  put_head (out, capture);
  put_samples (out, capture);
  put (out, capture->buffers->len, 4);
  for (guint i = 0; i < capture->buffers->len; i++)
    {
      const GantryCuptiBuffer *buffer = g_ptr_array_index (capture->buffers, i);
      gsize size;
      gconstpointer data = g_bytes_get_data (buffer->data, &size);

      put_buffer_head (out, buffer);
      if (!flush (out, stream, cancellable, error) || !g_output_stream_write_all (stream, data, size, NULL, cancellable, error))
        return FALSE;
    }
  return flush (out, stream, cancellable, error);
}

/* Reading. After the first thing that is wrong all reads give nothing, and `failed` says why. */

typedef struct
{
  GBytes *bytes;
  const guint8 *data;
  gsize size, at;
  GantryError code;
  const char *failed;
} Reader;

static void
fail (Reader *reader, GantryError code, const char *why)
{
  if (reader->failed != NULL)
    return;
  reader->code = code;
  reader->failed = why;
}

static guint64
get (Reader *reader, guint width)
{
  guint64 value = 0;

  if (reader->failed == NULL && reader->size - reader->at < width)
    fail (reader, GANTRY_ERROR_TRUNCATED, "the file ends here");
  if (reader->failed != NULL)
    return 0;
  memcpy (&value, reader->data + reader->at, width);
  reader->at += width;
  return GUINT64_FROM_LE (value);
}

/* A number of things of which each takes at least @least bytes: more than the rest of the file holds cannot be. */
static guint32
get_count (Reader *reader, guint least)
{
  guint64 n = get (reader, 4);

  if (reader->failed == NULL && n > (reader->size - reader->at) / least)
    fail (reader, GANTRY_ERROR_TRUNCATED, "more is announced than the file holds");
  return reader->failed == NULL ? (guint32) n : 0;
}

static char *
get_string (Reader *reader)
{
  guint32 length = get_count (reader, 1);
  char *text;

  if (length > LONGEST_STRING)
    fail (reader, GANTRY_ERROR_TOO_LARGE, "a string is longer than 1 MiB");
  if (reader->failed != NULL)
    return NULL;
  text = g_utf8_make_valid ((const char *) reader->data + reader->at, length);
  reader->at += length;
  return text;
}

static void
get_strings (Reader *reader, GPtrArray *strings)
{
  guint32 n = get_count (reader, 4);

  for (guint32 i = 0; i < n && reader->failed == NULL; i++)
    {
      char *text = get_string (reader);

      if (text != NULL)
        g_ptr_array_add (strings, text);
    }
}

static void
get_moments (Reader *reader, GArray *moments)
{
  guint32 n = get_count (reader, 16);

  for (guint32 i = 0; i < n; i++)
    {
      GantryCuptiMoment moment;

      moment.theirs = (gint64) get (reader, 8);
      moment.monotonic = (gint64) get (reader, 8);
      g_array_append_val (moments, moment);
    }
}

static void
get_head (Reader *reader, GantryCuptiCapture *capture)
{
  guint32 n;

  capture->version = (guint32) get (reader, 4);
  capture->is_monotonic = (get (reader, 4) & FLAG_MONOTONIC) != 0;
  capture->dropped = get (reader, 8);
  capture->chip = get_string (reader);
  capture->device = get_string (reader);
  get_moments (reader, capture->moments);
  get_strings (reader, capture->strings);
  get_strings (reader, capture->notes);
  n = get_count (reader, 12);
  for (guint32 i = 0; i < n; i++)
    {
      GantryCuptiCallName call;

      call.is_driver = (guint32) get (reader, 4);
      call.cbid = (guint32) get (reader, 4);
      call.string = (guint32) get (reader, 4);
      g_array_append_val (capture->calls, call);
    }
  n = get_count (reader, 16);
  for (guint32 i = 0; i < n; i++)
    {
      GantryCuptiGraphNode node;

      node.graph_node = get (reader, 8);
      node.external = get (reader, 8);
      g_array_append_val (capture->graph_nodes, node);
    }
}

static void
get_samples (Reader *reader, GantryCuptiCapture *capture)
{
  guint32 n;

  get_strings (reader, capture->counters);
  if (capture->counters->len > GANTRY_CUPTI_MOST_COUNTERS)
    fail (reader, GANTRY_ERROR_TOO_LARGE, "more counters than one sampling can hold");
  capture->sampled_from = (gint64) get (reader, 8);
  capture->sampled_to = (gint64) get (reader, 8);
  capture->realtime_ahead = (gint64) get (reader, 8);
  get_moments (reader, capture->newest);
  n = get_count (reader, 16 + 8 * capture->counters->len);
  for (guint32 i = 0; i < n; i++)
    {
      GantryCuptiSample sample;

      sample.begin = (gint64) get (reader, 8);
      sample.end = (gint64) get (reader, 8);
      g_array_append_val (capture->samples, sample);
      for (guint c = 0; c < capture->counters->len; c++)
        {
          guint64 bits = get (reader, 8);
          double value;

          memcpy (&value, &bits, 8);
          g_array_append_val (capture->values, value);
        }
    }
}

static void
get_buffer (Reader *reader, GantryCuptiCapture *capture)
{
  guint64 size = get (reader, 8);
  gboolean has_index = (get (reader, 4) & FLAG_INDEX) != 0;
  guint64 n_index = get (reader, 4), n_addresses = get (reader, 4);
  g_autofree GantryCuptiAddress *addresses = NULL;
  g_autofree guint32 *index = NULL;
  gsize left = reader->size - reader->at;

  if (reader->failed == NULL && (size > left || n_index * 4 > left - size || n_addresses * 12 > left - size - n_index * 4))
    fail (reader, GANTRY_ERROR_TRUNCATED, "a buffer is announced that goes beyond the end of the file");
  if (reader->failed != NULL)
    return;
  addresses = g_new (GantryCuptiAddress, n_addresses + 1);
  for (guint64 i = 0; i < n_addresses; i++)
    {
      addresses[i].address = get (reader, 8);
      addresses[i].string = (guint32) get (reader, 4);
    }
  index = has_index ? g_new (guint32, n_index + 1) : NULL;
  for (guint64 i = 0; i < n_index; i++)
    {
      guint32 at = (guint32) get (reader, 4);

      if (has_index)
        index[i] = at;
    }
  gantry_cupti_capture_add_buffer (capture, g_bytes_new_from_bytes (reader->bytes, reader->at, size), g_steal_pointer (&index),
                                   has_index ? (guint32) n_index : 0, g_steal_pointer (&addresses), (guint32) n_addresses);
  reader->at += size;
}

GantryCuptiCapture *
gantry_cupti_capture_read (GBytes *bytes, GError **error)
{
  Reader reader = { bytes };
  g_autoptr (GantryCuptiCapture) capture = gantry_cupti_capture_new (0);
  guint32 n = 0;

  reader.data = g_bytes_get_data (bytes, &reader.size);
  if (reader.size < 8 || memcmp (reader.data, GANTRY_CUPTI_MAGIC, 8) != 0)
    {
      g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "byte 0: not a .cupti file, which begins with " GANTRY_CUPTI_MAGIC);
      return NULL;
    }
  reader.at = 8;
  if (get (&reader, 4) != FORMAT)
    fail (&reader, GANTRY_ERROR_UNSUPPORTED, "another format of .cupti files than this program reads");
  get_head (&reader, capture);
  get_samples (&reader, capture);
  n = get_count (&reader, 20);
  for (guint32 i = 0; i < n && reader.failed == NULL; i++)
    get_buffer (&reader, capture);
  if (reader.failed == NULL && reader.at != reader.size)
    fail (&reader, GANTRY_ERROR_INVALID, "there is more after the last buffer");
  if (reader.failed != NULL)
    {
      g_set_error (error, GANTRY_ERROR, reader.code, "byte %" G_GSIZE_FORMAT " of the .cupti file: %s", reader.at, reader.failed);
      return NULL;
    }
  /* The file may name a string twice: the first one found by its text is as good. */
  for (guint i = 0; i < capture->strings->len; i++)
    g_hash_table_insert (capture->ids, g_ptr_array_index (capture->strings, i), GUINT_TO_POINTER (i + 1));
  return g_steal_pointer (&capture);
}
