/* SPDX-License-Identifier: Apache-2.0 */
/* Life of a recording and its plain questions. */
#include "profiler/recording-private.h"
#include <string.h>

/* Columns after each other, widest first: each is aligned where the first one is. */
EventChunk *
_gantry_event_chunk_over (GBytes *data, gsize offset, guint32 n, guint version)
{
  EventChunk *chunk = g_new0 (EventChunk, 1);
  guint8 *at = (guint8 *) g_bytes_get_data (data, NULL) + offset;
  gsize narrow = n * sizeof (guint32);

  g_assert (((gsize) at & 7) == 0);
  chunk->n = n;
  chunk->data = g_bytes_ref (data);
  chunk->begin = (gint64 *) at;
  chunk->end = chunk->begin + n;
  chunk->bytes = (guint64 *) (chunk->end + n);
  chunk->instruction = (guint32 *) (chunk->bytes + n);
  chunk->node = chunk->instruction + n;
  chunk->name = chunk->node + n;
  at = (guint8 *) chunk->name + narrow;
  if (version > 1)
    {
      chunk->correlation = (guint32 *) at;
      chunk->detail = chunk->correlation + n;
      at += 2 * narrow;
    }
  chunk->thread = (guint16 *) at;
  chunk->kind = (guint8 *) (chunk->thread + n);
  return chunk;
}

EventChunk *
_gantry_event_chunk_new (guint32 n)
{
  gsize size = MAX (n, 1) * (gsize) EVENT_BYTES_2;
  g_autoptr (GBytes) data = g_bytes_new_take (g_malloc0 (size), size);

  return _gantry_event_chunk_over (data, 0, n, 2);
}

void
_gantry_event_chunk_free (EventChunk *chunk)
{
  if (chunk == NULL)
    return;
  g_bytes_unref (chunk->data);
  g_free (chunk->index);
  g_free (chunk);
}

static void
clear_counter (gpointer data)
{
  Counter *counter = data;

  g_free (counter->name);
  _gantry_series_clear (&counter->series);
}

GantryRecording *
_gantry_recording_new (guint n_lanes)
{
  GantryRecording *recording = g_new0 (GantryRecording, 1);

  g_atomic_ref_count_init (&recording->ref_count);
  recording->device = g_strdup ("");
  recording->strings = g_ptr_array_new_with_free_func (g_free);
  recording->details = g_array_new (FALSE, FALSE, sizeof (GantryLaunchDetail));
  recording->notes = g_ptr_array_new_with_free_func (g_free);
  recording->n_lanes = n_lanes;
  recording->lanes = g_new0 (Lane, n_lanes + 1);
  recording->memory = g_array_new (FALSE, FALSE, sizeof (GantryMemoryEvent));
  recording->runs = g_array_new (FALSE, FALSE, sizeof (GantryRecordedRun));
  recording->counters = g_array_new (FALSE, TRUE, sizeof (Counter));
  g_array_set_clear_func (recording->counters, clear_counter);
  return recording;
}

GantryRecording *
gantry_recording_ref (GantryRecording *recording)
{
  g_atomic_ref_count_inc (&recording->ref_count);
  return recording;
}

static void
clear_lane (Lane *lane)
{
  for (guint32 i = 0; i < lane->n_chunks; i++)
    _gantry_event_chunk_free (lane->chunks[i]);
  for (guint i = 0; i < lane->n_levels; i++)
    g_free (lane->levels[i].nodes);
  g_free (lane->levels);
  g_free (lane->chunks);
  g_free (lane->name);
}

void
gantry_recording_unref (GantryRecording *recording)
{
  if (recording == NULL || !g_atomic_ref_count_dec (&recording->ref_count))
    return;
  _gantry_source_free (recording->source);
  for (guint i = 0; i < recording->n_lanes; i++)
    clear_lane (&recording->lanes[i]);
  for (guint i = 0; i < GANTRY_N_MEMORY_KINDS; i++)
    _gantry_series_clear (&recording->memory_series[i]);
  g_free (recording->lanes);
  g_free (recording->device);
  g_ptr_array_unref (recording->strings);
  g_array_unref (recording->details);
  g_ptr_array_unref (recording->notes);
  g_array_unref (recording->memory);
  g_array_unref (recording->runs);
  g_array_unref (recording->counters);
  g_free (recording);
}

/* Sealing. */

static void
extend (GantryRecording *recording, gint64 begin, gint64 end, gboolean *any)
{
  recording->begin = *any ? MIN (recording->begin, begin) : begin;
  recording->end = *any ? MAX (recording->end, end) : end;
  *any = TRUE;
}

static void
find_range (GantryRecording *recording)
{
  gboolean any = FALSE;

  for (guint i = 0; i < recording->n_lanes; i++)
    {
      const Lane *lane = &recording->lanes[i];

      if (lane->n > 0)
        extend (recording, lane->levels[lane->n_levels - 1].nodes[0].first_begin, lane->levels[lane->n_levels - 1].nodes[0].last_end, &any);
    }
  for (guint i = 0; i < recording->runs->len; i++)
    {
      const GantryRecordedRun *run = gantry_recording_run (recording, i);

      extend (recording, run->begin, run->end, &any);
    }
  if (recording->memory->len > 0)
    extend (recording, g_array_index (recording->memory, GantryMemoryEvent, 0).time,
            g_array_index (recording->memory, GantryMemoryEvent, recording->memory->len - 1).time, &any);
  for (guint i = 0; i < recording->counters->len; i++)
    {
      const Series *series = &g_array_index (recording->counters, Counter, i).series;

      if (series->n > 0)
        extend (recording, series->time[0], series->time[series->n - 1], &any);
    }
}

void
_gantry_event_chunk_sum (const EventChunk *chunk, GantryEventTotals *all)
{
  for (guint32 k = 0; k < chunk->n; k++)
    {
      GantryEventTotals *totals = &all[chunk->kind[k]];
      gint64 length = chunk->end[k] - chunk->begin[k];

      totals->count++;
      totals->bytes += chunk->bytes[k];
      totals->total_ns = add_ns (totals->total_ns, length);
      totals->longest_ns = MAX (totals->longest_ns, length);
    }
}

static void
sum_memory (GantryRecording *recording, GantryMemoryKind kind)
{
  Series *series = &recording->memory_series[kind];
  double alive = 0;

  series->time = g_new (gint64, recording->memory->len + 1);
  series->value = g_new (double, recording->memory->len + 1);
  for (guint i = 0; i < recording->memory->len; i++)
    {
      const GantryMemoryEvent *event = &g_array_index (recording->memory, GantryMemoryEvent, i);

      if (event->memory != kind)
        continue;
      alive += event->release ? -(double) event->bytes : (double) event->bytes;
      series->time[series->n] = event->time;
      series->value[series->n++] = alive;
    }
}

void
_gantry_recording_seal (GantryRecording *recording)
{
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    {
      sum_memory (recording, kind);
      _gantry_series_index (&recording->memory_series[kind]);
    }
  for (guint i = 0; i < recording->counters->len; i++)
    _gantry_series_index (&g_array_index (recording->counters, Counter, i).series);
  find_range (recording);
}

/* Reading. */

gint64
gantry_recording_origin (const GantryRecording *recording)
{
  return recording->origin;
}

/* From 2000 to 2200. */
#define FIRST_DATE (G_GINT64_CONSTANT (946684800) * 1000000000)
#define LAST_DATE (G_GINT64_CONSTANT (7258118400) * 1000000000)

gint64
gantry_recording_when (const GantryRecording *recording)
{
  gint64 origin = recording->origin;

  if (origin > -FIRST_DATE && origin < FIRST_DATE && recording->epoch > 0 && recording->epoch < LAST_DATE)
    origin += recording->epoch;
  return origin >= FIRST_DATE && origin < LAST_DATE ? origin : 0;
}

const char *
gantry_recording_device (const GantryRecording *recording)
{
  return recording->device;
}

const char *
gantry_recording_string (const GantryRecording *recording, guint32 id)
{
  return id > 0 && id <= recording->strings->len ? g_ptr_array_index (recording->strings, id - 1) : "";
}

guint
gantry_recording_n_details (const GantryRecording *recording)
{
  return recording->details->len;
}

const GantryLaunchDetail *
gantry_recording_detail (const GantryRecording *recording, guint32 detail)
{
  return detail > 0 && detail <= recording->details->len ? &g_array_index (recording->details, GantryLaunchDetail, detail - 1) : NULL;
}

guint
gantry_recording_n_notes (const GantryRecording *recording)
{
  return recording->notes->len;
}

const char *
gantry_recording_note (const GantryRecording *recording, guint index)
{
  g_return_val_if_fail (index < recording->notes->len, "");
  return g_ptr_array_index (recording->notes, index);
}

const char *
gantry_event_kind_name (GantryEventKind kind)
{
  static const char *const names[GANTRY_N_EVENT_KINDS] = { "kernel", "copy", "fill", "wait",     "host call", "run",
                                                           "mark",   "sync", "call", "overhead", "range",     "convert" };

  g_return_val_if_fail (kind < GANTRY_N_EVENT_KINDS, "");
  return names[kind];
}

guint
gantry_recording_n_lanes (const GantryRecording *recording)
{
  return recording->n_lanes;
}

const char *
gantry_recording_lane_name (const GantryRecording *recording, guint lane)
{
  static const char *const names[] = { "compute", "to host", "to device", "runs" };

  g_return_val_if_fail (lane < recording->n_lanes, "");
  if (recording->lanes[lane].name != NULL)
    return recording->lanes[lane].name;
  return lane < G_N_ELEMENTS (names) ? names[lane] : "other";
}

gboolean
gantry_recording_lane_is_control (const GantryRecording *recording, guint lane)
{
  const char *name = lane > GANTRY_LANE_RUNS ? gantry_recording_lane_name (recording, lane) : "";

  return strcmp (name, GANTRY_LANE_NAME_CONTROL) == 0 || g_str_has_prefix (name, GANTRY_LANE_NAME_CONTROL ", ");
}

guint64
gantry_recording_n_events (const GantryRecording *recording, guint lane)
{
  return lane < recording->n_lanes ? recording->lanes[lane].n : 0;
}

void
gantry_recording_get (const GantryRecording *recording, guint lane, guint64 index, GantryEvent *event)
{
  const EventChunk *chunk;
  guint32 i;

  g_return_if_fail (lane < recording->n_lanes && index < recording->lanes[lane].n);
  chunk = lane_chunk (&recording->lanes[lane], (guint32) (index / GANTRY_CHUNK_EVENTS));
  i = (guint32) (index % GANTRY_CHUNK_EVENTS);
  event->begin = chunk->begin[i];
  event->end = chunk->end[i];
  event->bytes = chunk->bytes[i];
  event->instruction = chunk->instruction[i];
  event->node = chunk->node[i];
  event->name = chunk->name[i];
  event->thread = chunk->thread[i];
  event->kind = chunk->kind[i];
  event->lane = (guint8) lane;
  event->correlation = chunk->correlation != NULL ? chunk->correlation[i] : 0;
  event->detail = chunk->detail != NULL ? chunk->detail[i] : 0;
}

guint64
gantry_recording_n_memory_events (const GantryRecording *recording)
{
  return recording->memory->len;
}

void
gantry_recording_get_memory (const GantryRecording *recording, guint64 index, GantryMemoryEvent *event)
{
  g_return_if_fail (index < recording->memory->len);
  *event = g_array_index (recording->memory, GantryMemoryEvent, index);
}

guint
gantry_recording_n_runs (const GantryRecording *recording)
{
  return recording->runs->len;
}

const GantryRecordedRun *
gantry_recording_run (const GantryRecording *recording, guint index)
{
  g_return_val_if_fail (index < recording->runs->len, NULL);
  return &g_array_index (recording->runs, GantryRecordedRun, index);
}

void
gantry_recording_range (const GantryRecording *recording, gint64 *begin, gint64 *end)
{
  *begin = recording->begin;
  *end = recording->end;
}

void
gantry_recording_totals (const GantryRecording *recording, GantryEventTotals *totals)
{
  memcpy (totals, recording->totals, sizeof recording->totals);
}

guint64
gantry_recording_peak_bytes (const GantryRecording *recording)
{
  guint64 peak = 0;

  for (guint i = 0; i < recording->runs->len; i++)
    peak = MAX (peak, gantry_recording_run (recording, i)->peak_bytes);
  return peak;
}

void
gantry_recording_memory_curve (const GantryRecording *recording, GantryMemoryKind memory, gint64 t0, gint64 t1, guint n_pixels, GantryCurvePixel *out)
{
  g_return_if_fail (memory < GANTRY_N_MEMORY_KINDS && t0 < t1);
  _gantry_series_fold (&recording->memory_series[memory], t0, t1, n_pixels, out);
}

guint64
gantry_recording_memory_at (const GantryRecording *recording, GantryMemoryKind memory, gint64 time)
{
  g_return_val_if_fail (memory < GANTRY_N_MEMORY_KINDS, 0);
  return (guint64) MAX (_gantry_series_at (&recording->memory_series[memory], time), 0);
}

guint
gantry_recording_n_counters (const GantryRecording *recording)
{
  return recording->counters->len;
}

const char *
gantry_recording_counter_name (const GantryRecording *recording, guint counter)
{
  g_return_val_if_fail (counter < recording->counters->len, "");
  return g_array_index (recording->counters, Counter, counter).name;
}

void
gantry_recording_counter_curve (const GantryRecording *recording, guint counter, gint64 t0, gint64 t1, guint n_pixels, GantryCurvePixel *out)
{
  g_return_if_fail (counter < recording->counters->len && t0 < t1);
  _gantry_series_fold (&g_array_index (recording->counters, Counter, counter).series, t0, t1, n_pixels, out);
}

/* By node. */

static int
compare_totals (gconstpointer a, gconstpointer b)
{
  const GantryNodeTotals *x = a, *y = b;

  if (x->total_ns != y->total_ns)
    return x->total_ns > y->total_ns ? -1 : 1;
  return (x->node > y->node) - (x->node < y->node);
}

static void
add_to_node (GArray *nodes, GHashTable *places, const EventChunk *chunk, guint32 i)
{
  gint64 length = chunk->end[i] - chunk->begin[i];
  guint place = GPOINTER_TO_UINT (g_hash_table_lookup (places, GUINT_TO_POINTER (chunk->node[i])));
  GantryNodeTotals *totals;

  if (place == 0)
    {
      GantryNodeTotals fresh = { chunk->node[i], chunk->name[i], 0, 0, 0, length, length };

      g_array_append_val (nodes, fresh);
      place = nodes->len;
      g_hash_table_insert (places, GUINT_TO_POINTER (chunk->node[i]), GUINT_TO_POINTER (place));
    }
  totals = &g_array_index (nodes, GantryNodeTotals, place - 1);
  totals->count++;
  totals->bytes += chunk->bytes[i];
  totals->total_ns = add_ns (totals->total_ns, length);
  totals->shortest_ns = MIN (totals->shortest_ns, length);
  totals->longest_ns = MAX (totals->longest_ns, length);
}

GArray *
gantry_recording_by_node (const GantryRecording *recording)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (GantryNodeTotals));
  g_autoptr (GHashTable) places = g_hash_table_new (NULL, NULL);

  for (guint l = 0; l < recording->n_lanes; l++)
    for (guint32 c = 0; l != GANTRY_LANE_RUNS && c < recording->lanes[l].n_chunks; c++)
      {
        const EventChunk *chunk = lane_chunk (&recording->lanes[l], c);

        for (guint32 i = 0; i < chunk->n; i++)
          if (chunk->node[i] != 0 && (chunk->kind[i] == GANTRY_EVENT_KERNEL || chunk->kind[i] == GANTRY_EVENT_COPY || chunk->kind[i] == GANTRY_EVENT_FILL))
            add_to_node (nodes, places, chunk, i);
      }
  g_array_sort (nodes, compare_totals);
  return nodes;
}
