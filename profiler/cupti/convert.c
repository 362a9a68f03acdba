/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the buffers twice: first for what ties records together (external ids, begins of ranges, names), then for the
 * events themselves. */
#include "core/base/error.h"
#include "profiler/cupti/convert-private.h"
#include <gio/gio.h>
#include <math.h>
#include <string.h>

gboolean
_gantry_cupti_time (Converter *converter, guint64 theirs, gint64 *time)
{
  return gantry_cupti_clock_map (&converter->clock, theirs, time);
}

guint32
_gantry_cupti_name (Converter *converter, guint64 address)
{
  return gantry_recording_builder_string (converter->builder, gantry_cupti_capture_name (converter->capture, converter->buffer, address));
}

static guint
hash_group (gconstpointer key)
{
  const Group *group = key;

  return (group->kind * 31 + group->a) * 2654435761u + group->b;
}

static gboolean
equal_groups (gconstpointer a, gconstpointer b)
{
  const Group *x = a, *y = b;

  return x->kind == y->kind && x->a == y->a && x->b == y->b;
}

static void
free_group (gpointer data)
{
  Group *group = data;

  g_array_unref (group->events);
  g_byte_array_unref (group->ordered);
  g_free (group);
}

static void
converter_init (Converter *converter)
{
  const GantryCuptiCapture *capture = converter->capture;

  converter->builder = gantry_recording_builder_new ();
  converter->externals = g_hash_table_new (NULL, NULL);
  converter->graph_nodes = g_hash_table_new (g_int64_hash, g_int64_equal);
  converter->call_names = g_hash_table_new (NULL, NULL);
  converter->ranges = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  converter->groups = g_hash_table_new_full (hash_group, equal_groups, free_group, NULL);
  converter->threads = g_hash_table_new (NULL, NULL);
  converter->thread_names = g_hash_table_new (NULL, NULL);
  converter->stream_names = g_hash_table_new (NULL, NULL);
  converter->domains = g_hash_table_new (NULL, NULL);
  converter->contexts = g_hash_table_new (NULL, NULL);
  converter->changes = g_array_new (FALSE, FALSE, sizeof (MemoryChange));
  converter->first = G_MAXINT64;
  converter->last = G_MININT64;
  for (guint i = 0; i < capture->calls->len; i++)
    {
      const GantryCuptiCallName *call = &g_array_index (capture->calls, GantryCuptiCallName, i);
      gpointer key = GUINT_TO_POINTER (call->cbid * 2 + (call->is_driver != 0));

      g_hash_table_insert (converter->call_names, key, (gpointer) gantry_cupti_capture_string (capture, call->string));
    }
  for (guint i = 0; i < capture->graph_nodes->len; i++)
    {
      GantryCuptiGraphNode *node = &g_array_index (capture->graph_nodes, GantryCuptiGraphNode, i);

      g_hash_table_insert (converter->graph_nodes, &node->graph_node, GUINT_TO_POINTER ((guint32) node->external));
    }
}

static void
converter_clear (Converter *converter)
{
  g_hash_table_unref (converter->externals);
  g_hash_table_unref (converter->graph_nodes);
  g_hash_table_unref (converter->call_names);
  g_hash_table_unref (converter->ranges);
  g_hash_table_unref (converter->groups);
  g_hash_table_unref (converter->threads);
  g_hash_table_unref (converter->thread_names);
  g_hash_table_unref (converter->stream_names);
  g_hash_table_unref (converter->domains);
  g_hash_table_unref (converter->contexts);
  g_array_unref (converter->changes);
  g_free (converter->device);
}

static void note (Converter *converter, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
note (Converter *converter, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  gantry_recording_builder_add_note (converter->builder, text);
}

/* The first walk finds the time that all the others count from, too. */
static void
look_at_time (Converter *converter, const GantryCuptiRecord *record)
{
  gint64 begin, end;

  if (record->begin == 0 || !_gantry_cupti_time (converter, record->begin, &begin) || !_gantry_cupti_time (converter, record->end, &end) || end < begin)
    return;
  converter->first = MIN (converter->first, begin);
  converter->last = MAX (converter->last, end);
}

static void
take_name (Converter *converter, const GantryCuptiRecord *record)
{
  gpointer name = (gpointer) gantry_cupti_capture_name (converter->capture, converter->buffer, record->name);

  if (record->object == CUPTI_OBJECT_THREAD)
    g_hash_table_insert (converter->thread_names, GUINT_TO_POINTER (record->thread), name);
  else if (record->object == CUPTI_OBJECT_STREAM)
    g_hash_table_insert (converter->stream_names, GUINT_TO_POINTER (record->stream), name);
}

static void
take_device (Converter *converter, const GantryCuptiRecord *record)
{
  const char *name = gantry_cupti_capture_name (converter->capture, converter->buffer, record->name);

  if (name != NULL && converter->device == NULL)
    converter->device = g_strdup_printf ("%s, %u multiprocessors", name, record->unit.processors);
}

static void
look_at (const GantryCuptiRecord *record, gpointer user_data)
{
  Converter *converter = user_data;

  look_at_time (converter, record);
  switch ((GantryCuptiRecordKind) record->kind)
    {
    case GANTRY_CUPTI_EXTERNAL:
      if (record->external.kind == CUPTI_EXTERNAL_CUSTOM0)
        g_hash_table_insert (converter->externals, GUINT_TO_POINTER (record->correlation), GUINT_TO_POINTER ((guint32) record->external.id));
      break;
    case GANTRY_CUPTI_CONTEXT: g_hash_table_insert (converter->contexts, GUINT_TO_POINTER (record->context), GUINT_TO_POINTER (record->device + 1)); break;
    case GANTRY_CUPTI_NAME: take_name (converter, record); break;
    case GANTRY_CUPTI_DEVICE: take_device (converter, record); break;
    default: break;
    }
}

/* Begins of ranges are times from the origin, which is known after the first walk. */
static void
look_at_marker (const GantryCuptiRecord *record, gpointer user_data)
{
  if (record->kind == GANTRY_CUPTI_MARKER)
    _gantry_cupti_note_range (user_data, record);
}

static void
convert (const GantryCuptiRecord *record, gpointer user_data)
{
  switch ((GantryCuptiRecordKind) record->kind)
    {
    case GANTRY_CUPTI_KERNEL:
    case GANTRY_CUPTI_COPY:
    case GANTRY_CUPTI_SET:
    case GANTRY_CUPTI_GRAPH: _gantry_cupti_convert_work (user_data, record); break;
    default: _gantry_cupti_convert_host (user_data, record);
    }
}

static const char *
stop_reason (GantryCuptiStop stop)
{
  switch (stop)
    {
    case GANTRY_CUPTI_STOP_INVALID: return "a record there was not finished";
    case GANTRY_CUPTI_STOP_UNKNOWN_SIZE: return "how long records of that kind are is not known for this version of CUPTI";
    case GANTRY_CUPTI_STOP_TRUNCATED: return "the record goes beyond the end";
    default: return "the index leads out of the buffer";
    }
}

/* @noting: tell where a buffer could not be read to its end; once is enough. */
static void
walk (Converter *converter, GantryCuptiRecordFunc func, gboolean noting)
{
  guint n_stopped = 0;

  memset (&converter->walk, 0, sizeof converter->walk);
  for (guint i = 0; i < converter->capture->buffers->len; i++)
    {
      const GantryCuptiBuffer *buffer = g_ptr_array_index (converter->capture->buffers, i);
      gsize size;
      const guint8 *data = g_bytes_get_data (buffer->data, &size);

      converter->buffer = buffer;
      gantry_cupti_walk (converter->capture->version, data, size, buffer->index, buffer->n_index, func, converter, &converter->walk);
      if (noting && converter->walk.stop != GANTRY_CUPTI_STOP_END && n_stopped++ == 0)
        note (converter, "Activity buffer %u was read up to byte %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " (record kind %u): %s.", i + 1,
              converter->walk.stop_at, size, converter->walk.stop_kind, stop_reason (converter->walk.stop));
    }
  converter->buffer = NULL;
  if (n_stopped > 1)
    note (converter, "%u more activity buffers could not be read to their ends.", n_stopped - 1);
}

static void
find_clock (Converter *converter)
{
  const GArray *moments = converter->capture->moments;

  gantry_cupti_clock_same (&converter->clock);
  converter->has_clock = TRUE;
  if (converter->capture->is_monotonic)
    return;
  if (!gantry_cupti_clock_fit ((const GantryCuptiMoment *) moments->data, moments->len, &converter->clock))
    note (converter, "CUPTI's clock could not be related to the host's: its events lie elsewhere on the time axis than runs do.");
  else if (converter->clock.error_ns > 10000)
    note (converter, "CUPTI's clock agrees with the host's within %.1f us only.", (double) converter->clock.error_ns / 1000);
}

/* What the observer was told: runs, memory and waits; all of it where the device's own records are missing. */
static void
add_observed (Converter *converter, const GantryRecording *observed)
{
  gboolean all = converter->n_device_work == 0;

  for (guint lane = 0; lane <= GANTRY_LANE_RUNS; lane++)
    for (guint64 i = 0; i < gantry_recording_n_events (observed, lane); i++)
      {
        GantryEvent event;

        gantry_recording_get (observed, lane, i, &event);
        if (!all && lane != GANTRY_LANE_RUNS && event.kind != GANTRY_EVENT_WAIT && event.kind != GANTRY_EVENT_HOST_CALL)
          continue;
        event.name = gantry_recording_builder_string (converter->builder, gantry_recording_string (observed, event.name));
        event.detail = 0;
        event.lane = (guint8) lane;
        gantry_recording_builder_add (converter->builder, &event);
      }
  for (guint64 i = 0; i < gantry_recording_n_memory_events (observed); i++)
    {
      GantryMemoryEvent event;

      gantry_recording_get_memory (observed, i, &event);
      gantry_recording_builder_add_memory (converter->builder, &event);
    }
  for (guint i = 0; i < gantry_recording_n_runs (observed); i++)
    gantry_recording_builder_add_run (converter->builder, gantry_recording_run (observed, i));
  if (all && gantry_recording_n_runs (observed) > 0)
    note (converter, "CUPTI gave no work of the device: kernels and copies are as the program's own events timed them.");
}

static void
add_samples (Converter *converter)
{
  const GantryCuptiCapture *capture = converter->capture;
  guint n_counters = capture->counters->len;
  GantryCuptiClock clock;
  g_autofree char *about = NULL;

  if (capture->samples->len == 0)
    return;
  about = gantry_cupti_clock_of_samples (capture, &clock);
  if (about != NULL)
    note (converter, "%s", about);
  for (guint i = 0; i < capture->samples->len; i++)
    {
      const GantryCuptiSample *sample = &g_array_index (capture->samples, GantryCuptiSample, i);
      gint64 time;

      /* A sample is of the time before its end; the curve keeps a value until the next one. */
      if (sample->begin < 0 || !gantry_cupti_clock_map (&clock, (guint64) sample->begin, &time))
        {
          converter->n_bad_time++;
          continue;
        }
      for (guint c = 0; c < n_counters; c++)
        {
          double value = g_array_index (capture->values, double, i *n_counters + c);

          if (isfinite (value))
            gantry_recording_builder_add_counter (converter->builder, g_ptr_array_index (capture->counters, c), time - converter->origin, value);
        }
    }
}

static void
add_notes (Converter *converter)
{
  const GantryCuptiCapture *capture = converter->capture;

  for (guint i = 0; i < capture->notes->len; i++)
    gantry_recording_builder_add_note (converter->builder, g_ptr_array_index (capture->notes, i));
  if (capture->dropped > 0)
    note (converter,
          "%" G_GUINT64_FORMAT " records were dropped for want of buffers: events are missing. Record for a shorter "
          "time, fewer kinds, or with larger buffers.",
          capture->dropped);
  if (converter->n_without_time > 0)
    note (converter,
          "%" G_GUINT64_FORMAT " records have no times (CUPTI's buffers on the device were full) and are left out; "
          "a larger device buffer helps.",
          converter->n_without_time);
  if (converter->n_bad_time > 0)
    note (converter, "%" G_GUINT64_FORMAT " records or samples have impossible times and are left out.", converter->n_bad_time);
  if (converter->n_late_ends == 1)
    note (converter, "A kernel or copy ended, by its record, after work that stands behind it in its stream: when it ended is not known, and it is "
                     "drawn without a length.");
  else if (converter->n_late_ends > 1)
    note (converter,
          "%" G_GUINT64_FORMAT " kernels or copies ended, by their records, after work that stands behind them in their stream: "
          "when they ended is not known, and they are drawn without a length.",
          converter->n_late_ends);
  if (converter->walk.n_short > 0)
    note (converter, "%" G_GUINT64_FORMAT " records are shorter than their kind and are left out.", converter->walk.n_short);
  if (converter->n_unknown_mark > 0)
    note (converter, "%" G_GUINT64_FORMAT " events are marked with instructions that the executable does not have: it is another one.",
          converter->n_unknown_mark);
  if (converter->n_open_ranges > 0)
    note (converter, "%" G_GUINT64_FORMAT " NVTX ranges had not ended and are drawn to the end of the recording.", converter->n_open_ranges);
  if (converter->n_lost_ends > 0)
    note (converter, "%" G_GUINT64_FORMAT " NVTX ranges began before the recording and are left out.", converter->n_lost_ends);
}

static void
set_device (Converter *converter)
{
  const GantryCuptiCapture *capture = converter->capture;
  const char *name = capture->device != NULL && capture->device[0] != '\0' ? capture->device : converter->device;
  g_autofree char *text = NULL;

  if (capture->chip != NULL && capture->chip[0] != '\0')
    text = g_strdup_printf ("%s (%s)", name != NULL ? name : "NVIDIA GPU", capture->chip);
  gantry_recording_builder_set_device (converter->builder, text != NULL ? text : name != NULL ? name : "NVIDIA GPU");
}

GantryRecording *
gantry_cupti_convert (const GantryCuptiCapture *capture, const GantryCuptiRun *runs, guint n_runs, GantryExecutable *executable,
                      const GantryRecording *observed)
{
  Converter converter = { .capture = capture, .runs = runs, .n_runs = n_runs, .executable = executable };

  converter_init (&converter);
  find_clock (&converter);
  walk (&converter, look_at, TRUE);
  if (observed != NULL && gantry_recording_n_runs (observed) > 0)
    converter.origin = gantry_recording_origin (observed);
  else if (converter.first <= converter.last)
    converter.origin = converter.first;
  else if (capture->samples->len > 0)
    converter.origin = CLAMP (capture->sampled_from, -GANTRY_CUPTI_MOST_TIME, GANTRY_CUPTI_MOST_TIME);
  gantry_recording_builder_set_origin (converter.builder, converter.origin);
  gantry_recording_builder_set_epoch (converter.builder, capture->realtime_ahead);
  set_device (&converter);
  walk (&converter, look_at_marker, FALSE);
  walk (&converter, convert, FALSE);
  _gantry_cupti_end_open_ranges (&converter);
  _gantry_cupti_cut_ends (&converter);
  _gantry_cupti_place_groups (&converter);
  _gantry_cupti_add_memory (&converter);
  add_samples (&converter);
  if (observed != NULL)
    add_observed (&converter, observed);
  else if (n_runs == 0 && converter.first <= converter.last) /* nobody says what a run was: all of it is one */
    gantry_recording_builder_add_run (converter.builder, &(GantryRecordedRun){ converter.first - converter.origin, converter.last - converter.origin, 0 });
  add_notes (&converter);
  converter_clear (&converter);
  return gantry_recording_builder_end (converter.builder);
}

gboolean
gantry_cupti_is_capture (const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileInputStream) stream = gantry_file_check (path, NULL) ? g_file_read (file, NULL, NULL) : NULL;
  char start[8];
  gsize n = 0;

  return stream != NULL && g_input_stream_read_all (G_INPUT_STREAM (stream), start, sizeof start, &n, NULL, NULL) && n == sizeof start
         && memcmp (start, GANTRY_CUPTI_MAGIC, sizeof start) == 0;
}

GantryRecording *
gantry_cupti_open (const char *path, GantryExecutable *executable, GError **error)
{
  g_autoptr (GMappedFile) file = gantry_file_map (path, error);
  g_autoptr (GBytes) bytes = file != NULL ? g_mapped_file_get_bytes (file) : NULL;
  g_autoptr (GantryCuptiCapture) capture = bytes != NULL ? gantry_cupti_capture_read (bytes, error) : NULL;

  if (bytes != NULL && capture == NULL)
    gantry_error_prefix (error, "%s: ", path);
  return capture != NULL ? gantry_cupti_convert (capture, NULL, 0, executable, NULL) : NULL;
}
