/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what was captured. */
#include "profiler/cupti/capture.h"

static void
buffer_free (gpointer data)
{
  GantryCuptiBuffer *buffer = data;

  g_bytes_unref (buffer->data);
  g_free (buffer->index);
  g_free (buffer->addresses);
  g_free (buffer);
}

GantryCuptiCapture *
gantry_cupti_capture_new (guint32 version)
{
  GantryCuptiCapture *capture = g_new0 (GantryCuptiCapture, 1);

  capture->version = version;
  capture->moments = g_array_new (FALSE, FALSE, sizeof (GantryCuptiMoment));
  capture->strings = g_ptr_array_new_with_free_func (g_free);
  capture->ids = g_hash_table_new (g_str_hash, g_str_equal);
  capture->notes = g_ptr_array_new_with_free_func (g_free);
  capture->calls = g_array_new (FALSE, FALSE, sizeof (GantryCuptiCallName));
  capture->graph_nodes = g_array_new (FALSE, FALSE, sizeof (GantryCuptiGraphNode));
  capture->buffers = g_ptr_array_new_with_free_func (buffer_free);
  capture->counters = g_ptr_array_new_with_free_func (g_free);
  capture->newest = g_array_new (FALSE, FALSE, sizeof (GantryCuptiMoment));
  capture->samples = g_array_new (FALSE, FALSE, sizeof (GantryCuptiSample));
  capture->values = g_array_new (FALSE, FALSE, sizeof (double));
  return capture;
}

void
gantry_cupti_capture_free (GantryCuptiCapture *capture)
{
  if (capture == NULL)
    return;
  g_free (capture->chip);
  g_free (capture->device);
  g_array_unref (capture->moments);
  g_hash_table_unref (capture->ids);
  g_ptr_array_unref (capture->strings);
  g_ptr_array_unref (capture->notes);
  g_array_unref (capture->calls);
  g_array_unref (capture->graph_nodes);
  g_ptr_array_unref (capture->buffers);
  g_ptr_array_unref (capture->counters);
  g_array_unref (capture->newest);
  g_array_unref (capture->samples);
  g_array_unref (capture->values);
  g_free (capture);
}

guint32
gantry_cupti_capture_intern (GantryCuptiCapture *capture, const char *text)
{
  guint32 id;
  char *copy;

  if (text == NULL)
    return 0;
  id = GPOINTER_TO_UINT (g_hash_table_lookup (capture->ids, text));
  if (id != 0)
    return id;
  copy = g_utf8_make_valid (text, -1);
  g_ptr_array_add (capture->strings, copy);
  g_hash_table_insert (capture->ids, copy, GUINT_TO_POINTER (capture->strings->len));
  return capture->strings->len;
}

const char *
gantry_cupti_capture_string (const GantryCuptiCapture *capture, guint32 id)
{
  return id >= 1 && id <= capture->strings->len ? g_ptr_array_index (capture->strings, id - 1) : NULL;
}

void
gantry_cupti_capture_note (GantryCuptiCapture *capture, const char *format, ...)
{
  g_autofree char *note = NULL;
  va_list args;

  va_start (args, format);
  note = g_strdup_vprintf (format, args);
  va_end (args);
  if (!g_ptr_array_find_with_equal_func (capture->notes, note, g_str_equal, NULL))
    g_ptr_array_add (capture->notes, g_steal_pointer (&note));
}

static int
compare_addresses (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const GantryCuptiAddress *x = a, *y = b;

  return (x->address > y->address) - (x->address < y->address);
}

void
gantry_cupti_capture_add_buffer (GantryCuptiCapture *capture, GBytes *data, guint32 *index, guint32 n_index, GantryCuptiAddress *addresses, guint32 n_addresses)
{
  GantryCuptiBuffer *buffer = g_new (GantryCuptiBuffer, 1);

  if (n_addresses > 1)
    g_qsort_with_data (addresses, (gint) n_addresses, sizeof *addresses, compare_addresses, NULL);
  *buffer = (GantryCuptiBuffer){ data, index, n_index, n_addresses, addresses };
  g_ptr_array_add (capture->buffers, buffer);
}

const char *
gantry_cupti_capture_name (const GantryCuptiCapture *capture, const GantryCuptiBuffer *buffer, guint64 address)
{
  guint32 low = 0, high = buffer->n_addresses;

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if (buffer->addresses[middle].address < address)
        low = middle + 1;
      else
        high = middle;
    }
  if (address == 0 || low >= buffer->n_addresses || buffer->addresses[low].address != address)
    return NULL;
  return gantry_cupti_capture_string (capture, buffer->addresses[low].string);
}
