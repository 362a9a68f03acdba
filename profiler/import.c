/* SPDX-License-Identifier: Apache-2.0 */
/* Imports: which kind a file is, and what the kinds have in common. */
#include "profiler/import-private.h"
#include "core/base/error.h"
#include <stdlib.h>
#include <string.h>

#define FIRST_LANE (GANTRY_LANE_RUNS + 1)
#define MOST_COUNTERS 512u

void
_gantry_import_init (Import *import)
{
  *import = (Import){ .builder = gantry_recording_builder_new () };
  import->ids = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  import->counters = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  import->lanes = g_array_new (FALSE, TRUE, sizeof (ImportLane));
}

void
_gantry_import_clear (Import *import)
{
  for (guint i = 0; i < import->lanes->len; i++)
    g_free (g_array_index (import->lanes, ImportLane, i).name);
  g_array_unref (import->lanes);
  g_hash_table_unref (import->ids);
  g_hash_table_unref (import->counters);
  gantry_recording_builder_free (import->builder);
}

ImportLane *
_gantry_import_lane (Import *import, const char *key, guint8 *lane)
{
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (import->ids, key));

  if (index == 0)
    {
      if (import->lanes->len < GANTRY_MAX_LANES - FIRST_LANE)
        g_array_set_size (import->lanes, import->lanes->len + 1);
      else
        import->too_many = TRUE;
      index = import->lanes->len;
      if (!import->too_many)
        g_hash_table_insert (import->ids, g_strdup (key), GUINT_TO_POINTER (index));
    }
  *lane = (guint8) (FIRST_LANE + index - 1);
  return &g_array_index (import->lanes, ImportLane, index - 1);
}

void
_gantry_import_event (Import *import, const GantryEvent *event)
{
  /* A shift to 0 must not take them beyond what a recording may have. */
  if (event->begin > event->end || event->begin <= -MOST_TIME / 2 || event->end >= MOST_TIME)
    {
      import->n_bad_times++;
      return;
    }
  gantry_recording_builder_add (import->builder, event);
  import->n_events++;
}

void
_gantry_import_sample (Import *import, const char *counter, gint64 time, double value)
{
  if (time <= -MOST_TIME / 2 || time >= MOST_TIME)
    {
      import->n_bad_times++;
      return;
    }
  if (!g_hash_table_contains (import->counters, counter))
    {
      if (g_hash_table_size (import->counters) == MOST_COUNTERS)
        {
          import->n_bad_counters++;
          return;
        }
      g_hash_table_add (import->counters, g_strdup (counter));
    }
  gantry_recording_builder_add_counter (import->builder, counter, time, value);
  import->n_events++;
}

typedef struct
{
  const ImportLane *lane;
  guint8 number;
} Place;

static int
compare_places (gconstpointer a, gconstpointer b)
{
  const Place *p = a, *q = b;
  const ImportLane *x = p->lane, *y = q->lane;

  if (x->device != y->device)
    return x->device ? -1 : 1;
  if (x->group != y->group)
    return x->group < y->group ? -1 : 1;
  if (x->sort != y->sort)
    return x->sort < y->sort ? -1 : 1;
  if (x->member != y->member)
    return x->member < y->member ? -1 : 1;
  return (p->number > q->number) - (p->number < q->number);
}

static void
order_lanes (Import *import)
{
  guint n = import->lanes->len;
  g_autofree Place *places = g_new0 (Place, n + 1);
  g_autofree guint8 *order = g_new0 (guint8, n + 1);

  for (guint i = 0; i < n; i++)
    {
      const ImportLane *lane = &g_array_index (import->lanes, ImportLane, i);
      g_autofree char *name = lane->name != NULL ? g_strdup (lane->name)
                              : lane->device     ? g_strdup_printf ("GPU %" G_GINT64_FORMAT ", stream %" G_GINT64_FORMAT, lane->group, lane->member)
                                                 : g_strdup_printf ("thread %" G_GINT64_FORMAT, lane->member);

      places[i] = (Place){ lane, (guint8) (FIRST_LANE + i) };
      gantry_recording_builder_set_lane_name (import->builder, FIRST_LANE + i, name);
    }
  qsort (places, n, sizeof *places, compare_places);
  for (guint i = 0; i < n; i++)
    order[i] = places[i].number;
  _gantry_recording_builder_order_lanes (import->builder, order, n);
}

static void
note (Import *import, guint64 n, const char *what)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT " %s", n, what);

  if (n > 0)
    gantry_recording_builder_add_note (import->builder, text);
}

GantryRecording *
_gantry_import_end (Import *import, const char *what, gboolean keep_times, gboolean has_runs, GError **error)
{
  gint64 first, last;

  if (!_gantry_recording_builder_range (import->builder, &first, &last))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: there is no event in it that could be shown", what);
      return NULL;
    }
  if (!keep_times && last - first >= MOST_TIME)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: its events are centuries apart", what);
      return NULL;
    }
  note (import, import->n_bad_times, "entries of the trace have no time or an impossible one and were left out");
  note (import, import->n_passed_over, "entries of the trace are of a sort that is not shown");
  note (import, import->n_bad_counters, "samples of counters beyond the first 512 were left out");
  if (import->too_many)
    gantry_recording_builder_add_note (import->builder, "the trace has more threads and streams than there are lanes;"
                                                        " the last lane shows several");
  order_lanes (import);
  if (!has_runs)
    gantry_recording_builder_add_run (import->builder, &(GantryRecordedRun){ first, last, 0 });
  if (!keep_times)
    {
      _gantry_recording_builder_shift (import->builder, -first);
      gantry_recording_builder_set_origin (import->builder, first);
    }
  return gantry_recording_builder_end (g_steal_pointer (&import->builder));
}

/* Which kind a file is */

GantryTraceKind
gantry_trace_kind (const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileInputStream) stream = gantry_file_check (path, NULL) ? g_file_read (file, NULL, NULL) : NULL;
  g_autoptr (GInputStream) plain = NULL;
  g_autoptr (GConverter) unzip = NULL;
  guint8 start[64] = { 0 };
  gsize n = 0, at = 0;

  if (stream == NULL || !g_input_stream_read_all (G_INPUT_STREAM (stream), start, sizeof start, &n, NULL, NULL))
    return GANTRY_TRACE_NONE;
  if (n >= 16 && memcmp (start, "SQLite format 3", 16) == 0)
    return _gantry_nsys_is (path) ? GANTRY_TRACE_NSYS : GANTRY_TRACE_NONE;
  if (n > 2 && start[0] == 0x1f && start[1] == 0x8b)
    {
      if (!g_seekable_seek (G_SEEKABLE (stream), 0, G_SEEK_SET, NULL, NULL))
        return GANTRY_TRACE_NONE;
      unzip = G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));
      plain = g_converter_input_stream_new (G_INPUT_STREAM (stream), unzip);
      if (!g_input_stream_read_all (plain, start, sizeof start, &n, NULL, NULL))
        return GANTRY_TRACE_NONE;
    }
  if (n > 3 && memcmp (start, "\xef\xbb\xbf", 3) == 0)
    at = 3;
  while (at < n && g_ascii_isspace (start[at]))
    at++;
  if (at == n || (start[at] != '{' && start[at] != '['))
    return GANTRY_TRACE_NONE;
  /* A jaxpr begins with a brace and a word. */
  for (at++; at < n && g_ascii_isspace (start[at]); at++)
    ;
  return at + 6 < n && memcmp (start + at, "lambda", 6) == 0 ? GANTRY_TRACE_NONE : GANTRY_TRACE_CHROME;
}

static GantryRecording *
import_chrome_file (const char *path, const GantryProgress *progress, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileInputStream) stream = g_file_read (file, NULL, error);
  g_autoptr (GInputStream) plain = NULL;
  guint8 magic[2] = { 0 };

  if (stream == NULL || !g_input_stream_read_all (G_INPUT_STREAM (stream), magic, 2, NULL, NULL, error)
      || !g_seekable_seek (G_SEEKABLE (stream), 0, G_SEEK_SET, NULL, error))
    return NULL;
  if (magic[0] == 0x1f && magic[1] == 0x8b)
    {
      g_autoptr (GConverter) unzip = G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));

      plain = g_converter_input_stream_new (G_INPUT_STREAM (stream), unzip);
    }
  else
    plain = g_object_ref (G_INPUT_STREAM (stream));
  return gantry_trace_import_chrome (plain, path, progress, error);
}

GantryRecording *
gantry_trace_import (const char *path, const GantryProgress *progress, GError **error)
{
  if (!gantry_file_check (path, error))
    return NULL;
  switch (gantry_trace_kind (path))
    {
    case GANTRY_TRACE_CHROME: return import_chrome_file (path, progress, error);
    case GANTRY_TRACE_NSYS: return _gantry_nsys_import_file (path, progress, error);
    case GANTRY_TRACE_NONE: break;
    }
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
               "%s: no trace that can be read: give a JSON trace of PyTorch or Chrome, or the SQLite export of Nsight"
               " Systems (nsys export --type sqlite)",
               path);
  return NULL;
}
