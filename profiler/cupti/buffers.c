/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer that comes back is walked once with CUPTI's own function, which knows how long records are: where each
 * begins is kept beside it, and the strings that its records point to are copied while they are there. */
#include "profiler/cupti/buffers.h"
#include "profiler/cupti/decode.h"

/* CUPTI before API version 27 crashes when it is given no buffer. */
#define FIRST_WITHOUT_BUFFERS 27u

void
_gantry_cupti_buffers_init (GantryCuptiBuffers *buffers, const GantryCuptiLibrary *library, gsize buffer_bytes, guint64 most_bytes)
{
  buffers->library = library;
  g_mutex_init (&buffers->lock);
  buffers->capture = gantry_cupti_capture_new (library->version);
  buffers->buffer_bytes = buffer_bytes;
  buffers->most_bytes = most_bytes;
}

void
_gantry_cupti_buffers_clear (GantryCuptiBuffers *buffers)
{
  g_clear_pointer (&buffers->capture, gantry_cupti_capture_free);
  g_mutex_clear (&buffers->lock);
}

static gboolean
is_full (GantryCuptiBuffers *buffers)
{
  gboolean full;

  g_mutex_lock (&buffers->lock);
  full = buffers->held >= buffers->most_bytes;
  g_mutex_unlock (&buffers->lock);
  return full;
}

guint8 *
_gantry_cupti_buffers_request (GantryCuptiBuffers *buffers, gsize *size)
{
  guint8 *buffer = NULL;

  *size = 0;
  if (buffers->library->version >= FIRST_WITHOUT_BUFFERS && is_full (buffers))
    return NULL;
  /* malloc aligns to 16; CUPTI asks for 8. */
  buffer = g_try_malloc (buffers->buffer_bytes);
  if (buffer != NULL)
    *size = buffers->buffer_bytes;
  return buffer;
}

/* Addresses of the strings of one record; 0: none. */
static void
note_strings (GHashTable *strings, const GantryCuptiRecord *record)
{
  if (record->name != 0)
    g_hash_table_add (strings, GSIZE_TO_POINTER ((gsize) record->name));
  if (record->domain != 0)
    g_hash_table_add (strings, GSIZE_TO_POINTER ((gsize) record->domain));
}

static void
look_at_record (GHashTable *strings, const guint8 *data, gsize size)
{
  GantryCuptiRecord record;

  if (gantry_cupti_decode (data, size, &record))
    note_strings (strings, &record);
}

/* The walk of the library. Returns where records begin. */
static GArray *
walk (const GantryCuptiBuffers *buffers, guint8 *buffer, gsize valid, GHashTable *strings)
{
  GArray *index = g_array_new (FALSE, FALSE, sizeof (guint32));
  CUpti_Activity *record = NULL;
  gsize last = 0;

  while (valid <= G_MAXUINT32 && buffers->library->activity_get_next_record (buffer, valid, &record) == CUPTI_SUCCESS)
    {
      gsize at = (gsize) ((guint8 *) record - buffer);
      guint32 begin = (guint32) at;

      if (at >= valid || (index->len > 0 && at <= last))
        break;
      if (index->len > 0)
        look_at_record (strings, buffer + last, at - last);
      g_array_append_val (index, begin);
      last = at;
    }
  if (index->len > 0)
    look_at_record (strings, buffer + last, valid - last);
  return index;
}

/* With the lock held: the strings that addresses stand for become the capture's. */
static GantryCuptiAddress *
intern_strings (GantryCuptiCapture *capture, GHashTable *strings, guint32 *n)
{
  GantryCuptiAddress *addresses = g_new (GantryCuptiAddress, g_hash_table_size (strings) + 1);
  GHashTableIter iter;
  gpointer key;

  *n = 0;
  g_hash_table_iter_init (&iter, strings);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    addresses[(*n)++] = (GantryCuptiAddress){ GPOINTER_TO_SIZE (key), gantry_cupti_capture_intern (capture, key) };
  return addresses;
}

static void
keep (GantryCuptiBuffers *buffers, guint8 *buffer, gsize valid)
{
  g_autoptr (GHashTable) strings = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) index = walk (buffers, buffer, valid, strings);
  guint32 n_index = index->len, n_addresses;

  g_mutex_lock (&buffers->lock);
  if (buffers->held >= buffers->most_bytes)
    {
      buffers->dropped += n_index;
      g_free (buffer);
    }
  else
    {
      GantryCuptiAddress *addresses = intern_strings (buffers->capture, strings, &n_addresses);

      buffers->held += valid;
      gantry_cupti_capture_add_buffer (buffers->capture, g_bytes_new_take (g_realloc (buffer, valid), valid), (guint32 *) g_array_steal (index, NULL), n_index,
                                       addresses, n_addresses);
    }
  g_mutex_unlock (&buffers->lock);
}

void
_gantry_cupti_buffers_complete (GantryCuptiBuffers *buffers, CUcontext context, guint32 stream, guint8 *buffer, gsize valid)
{
  size_t dropped = 0;

  if (valid > 0 && buffer != NULL)
    keep (buffers, buffer, valid);
  else
    g_free (buffer);
  if (buffers->library->activity_get_dropped (context, stream, &dropped) != CUPTI_SUCCESS)
    dropped = 0;
  g_mutex_lock (&buffers->lock);
  buffers->dropped += dropped;
  g_mutex_unlock (&buffers->lock);
}
