/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a recording together from events in any order. */
#include "profiler/recording-private.h"
#include <string.h>

typedef struct
{
  guint counter;
  gint64 time;
  double value;
} Sample;

struct _GantryRecordingBuilder
{
  gint64 origin, epoch;
  char *device;
  GHashTable *ids; /* string -> id */
  GPtrArray *strings;
  GHashTable *detail_ids; /* GantryLaunchDetail -> 1 + index */
  GArray *details;        /* GantryLaunchDetail */
  GPtrArray *notes;
  GArray *lanes[GANTRY_MAX_LANES]; /* GantryEvent; NULL while empty */
  char *lane_names[GANTRY_MAX_LANES];
  GArray *memory;
  GArray *runs;
  GPtrArray *counters; /* names */
  GArray *samples;
};

static guint
hash_detail (gconstpointer key)
{
  const guint32 *words = key;
  guint hash = 2166136261u;

  for (guint i = 0; i < sizeof (GantryLaunchDetail) / sizeof (guint32); i++)
    hash = (hash ^ words[i]) * 16777619u;
  return hash;
}

static gboolean
equal_details (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (GantryLaunchDetail)) == 0;
}

GantryRecordingBuilder *
gantry_recording_builder_new (void)
{
  GantryRecordingBuilder *builder = g_new0 (GantryRecordingBuilder, 1);

  builder->ids = g_hash_table_new (g_str_hash, g_str_equal);
  builder->strings = g_ptr_array_new_with_free_func (g_free);
  builder->detail_ids = g_hash_table_new_full (hash_detail, equal_details, g_free, NULL);
  builder->details = g_array_new (FALSE, FALSE, sizeof (GantryLaunchDetail));
  builder->notes = g_ptr_array_new_with_free_func (g_free);
  builder->memory = g_array_new (FALSE, FALSE, sizeof (GantryMemoryEvent));
  builder->runs = g_array_new (FALSE, FALSE, sizeof (GantryRecordedRun));
  builder->counters = g_ptr_array_new_with_free_func (g_free);
  builder->samples = g_array_new (FALSE, FALSE, sizeof (Sample));
  return builder;
}

void
gantry_recording_builder_free (GantryRecordingBuilder *builder)
{
  if (builder == NULL)
    return;
  for (guint i = 0; i < GANTRY_MAX_LANES; i++)
    {
      g_clear_pointer (&builder->lanes[i], g_array_unref);
      g_free (builder->lane_names[i]);
    }
  g_free (builder->device);
  g_hash_table_unref (builder->ids);
  g_ptr_array_unref (builder->strings);
  g_hash_table_unref (builder->detail_ids);
  g_array_unref (builder->details);
  g_ptr_array_unref (builder->notes);
  g_array_unref (builder->memory);
  g_array_unref (builder->runs);
  g_ptr_array_unref (builder->counters);
  g_array_unref (builder->samples);
  g_free (builder);
}

void
gantry_recording_builder_set_origin (GantryRecordingBuilder *builder, gint64 origin_ns)
{
  builder->origin = origin_ns;
}

void
gantry_recording_builder_set_epoch (GantryRecordingBuilder *builder, gint64 epoch_ns)
{
  builder->epoch = epoch_ns;
}

void
gantry_recording_builder_set_device (GantryRecordingBuilder *builder, const char *device)
{
  g_free (builder->device);
  builder->device = g_strdup (device);
}

guint32
gantry_recording_builder_string (GantryRecordingBuilder *builder, const char *text)
{
  guint id;
  char *copy;

  if (text == NULL || text[0] == '\0')
    return 0;
  id = GPOINTER_TO_UINT (g_hash_table_lookup (builder->ids, text));
  if (id != 0)
    return id;
  copy = g_strdup (text);
  g_ptr_array_add (builder->strings, copy);
  g_hash_table_insert (builder->ids, copy, GUINT_TO_POINTER (builder->strings->len));
  return builder->strings->len;
}

guint32
gantry_recording_builder_detail (GantryRecordingBuilder *builder, const GantryLaunchDetail *detail)
{
  guint id = GPOINTER_TO_UINT (g_hash_table_lookup (builder->detail_ids, detail));

  /* All words are numbers and there is none between them: equal details are equal bytes. */
  G_STATIC_ASSERT (sizeof (GantryLaunchDetail) == 15 * sizeof (guint32));
  if (id != 0)
    return id;
  g_array_append_vals (builder->details, detail, 1);
  g_hash_table_insert (builder->detail_ids, g_memdup2 (detail, sizeof *detail), GUINT_TO_POINTER (builder->details->len));
  return builder->details->len;
}

void
gantry_recording_builder_add_note (GantryRecordingBuilder *builder, const char *note)
{
  for (guint i = 0; i < builder->notes->len; i++)
    if (strcmp (g_ptr_array_index (builder->notes, i), note) == 0)
      return;
  g_ptr_array_add (builder->notes, g_strdup (note));
}

void
gantry_recording_builder_set_lane_name (GantryRecordingBuilder *builder, guint lane, const char *name)
{
  g_return_if_fail (lane < GANTRY_MAX_LANES);
  g_free (builder->lane_names[lane]);
  builder->lane_names[lane] = g_strdup (name);
}

void
gantry_recording_builder_add (GantryRecordingBuilder *builder, const GantryEvent *event)
{
  g_return_if_fail (event->begin <= event->end && event->kind < GANTRY_N_EVENT_KINDS);
  g_return_if_fail (event->begin > -MOST_TIME && event->end < MOST_TIME);
  g_return_if_fail (event->name <= builder->strings->len && event->detail <= builder->details->len);
  if (builder->lanes[event->lane] == NULL)
    builder->lanes[event->lane] = g_array_new (FALSE, FALSE, sizeof (GantryEvent));
  g_array_append_vals (builder->lanes[event->lane], event, 1);
}

void
gantry_recording_builder_add_memory (GantryRecordingBuilder *builder, const GantryMemoryEvent *event)
{
  g_return_if_fail (event->memory < GANTRY_N_MEMORY_KINDS && ABS (event->time) < MOST_TIME);
  g_array_append_vals (builder->memory, event, 1);
}

void
gantry_recording_builder_add_run (GantryRecordingBuilder *builder, const GantryRecordedRun *run)
{
  g_return_if_fail (run->begin <= run->end && run->begin > -MOST_TIME && run->end < MOST_TIME);
  g_array_append_vals (builder->runs, run, 1);
}

void
gantry_recording_builder_add_counter (GantryRecordingBuilder *builder, const char *name, gint64 time, double value)
{
  Sample sample = { 0, time, value };

  g_return_if_fail (ABS (time) < MOST_TIME);
  while (sample.counter < builder->counters->len && strcmp (g_ptr_array_index (builder->counters, sample.counter), name) != 0)
    sample.counter++;
  if (sample.counter == builder->counters->len)
    g_ptr_array_add (builder->counters, g_strdup (name));
  g_array_append_val (builder->samples, sample);
}

const char *
_gantry_recording_builder_text (const GantryRecordingBuilder *builder, guint32 string)
{
  return string > 0 && string <= builder->strings->len ? g_ptr_array_index (builder->strings, string - 1) : "";
}

void
_gantry_recording_builder_order_lanes (GantryRecordingBuilder *builder, const guint8 *order, guint n)
{
  GArray *lanes[GANTRY_MAX_LANES] = { NULL };
  char *names[GANTRY_MAX_LANES] = { NULL };
  const guint first = GANTRY_LANE_RUNS + 1;

  g_assert (n <= GANTRY_MAX_LANES - first);
  for (guint i = 0; i < n; i++)
    {
      lanes[i] = g_steal_pointer (&builder->lanes[order[i]]);
      names[i] = g_steal_pointer (&builder->lane_names[order[i]]);
    }
  for (guint i = 0; i < n; i++)
    {
      g_assert (builder->lanes[first + i] == NULL && builder->lane_names[first + i] == NULL);
      builder->lanes[first + i] = lanes[i];
      builder->lane_names[first + i] = names[i];
    }
}

gboolean
_gantry_recording_builder_range (const GantryRecordingBuilder *builder, gint64 *first, gint64 *last)
{
  *first = G_MAXINT64;
  *last = G_MININT64;
  for (guint lane = 0; lane < GANTRY_MAX_LANES; lane++)
    for (guint i = 0; builder->lanes[lane] != NULL && i < builder->lanes[lane]->len; i++)
      {
        *first = MIN (*first, g_array_index (builder->lanes[lane], GantryEvent, i).begin);
        *last = MAX (*last, g_array_index (builder->lanes[lane], GantryEvent, i).end);
      }
  for (guint i = 0; i < builder->memory->len; i++)
    {
      *first = MIN (*first, g_array_index (builder->memory, GantryMemoryEvent, i).time);
      *last = MAX (*last, g_array_index (builder->memory, GantryMemoryEvent, i).time);
    }
  for (guint i = 0; i < builder->samples->len; i++)
    {
      *first = MIN (*first, g_array_index (builder->samples, Sample, i).time);
      *last = MAX (*last, g_array_index (builder->samples, Sample, i).time);
    }
  return *first <= *last;
}

void
_gantry_recording_builder_shift (GantryRecordingBuilder *builder, gint64 by)
{
  for (guint lane = 0; lane < GANTRY_MAX_LANES; lane++)
    for (guint i = 0; builder->lanes[lane] != NULL && i < builder->lanes[lane]->len; i++)
      {
        GantryEvent *event = &g_array_index (builder->lanes[lane], GantryEvent, i);

        event->begin += by;
        event->end += by;
      }
  for (guint i = 0; i < builder->memory->len; i++)
    g_array_index (builder->memory, GantryMemoryEvent, i).time += by;
  for (guint i = 0; i < builder->samples->len; i++)
    g_array_index (builder->samples, Sample, i).time += by;
  for (guint i = 0; i < builder->runs->len; i++)
    {
      g_array_index (builder->runs, GantryRecordedRun, i).begin += by;
      g_array_index (builder->runs, GantryRecordedRun, i).end += by;
    }
}

/* Sorting. What a recorder brings is in order already, mostly; the sort keeps equal ones as they came. */

static int
compare_events (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const GantryEvent *x = a, *y = b;

  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  /* What encloses comes before what it encloses. */
  return (x->end < y->end) - (x->end > y->end);
}

static int
compare_memory (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const GantryMemoryEvent *x = a, *y = b;

  return (x->time > y->time) - (x->time < y->time);
}

static int
compare_samples (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const Sample *x = a, *y = b;

  if (x->counter != y->counter)
    return x->counter < y->counter ? -1 : 1;
  return (x->time > y->time) - (x->time < y->time);
}

static void
sort (GArray *array, GCompareDataFunc compare)
{
  gsize size = g_array_get_element_size (array);

  for (guint i = 1; i < array->len; i++)
    if (compare (array->data + (i - 1) * size, array->data + i * size, NULL) > 0)
      {
        g_qsort_with_data (array->data, (gint) array->len, size, compare, NULL);
        return;
      }
}

static void
fill_chunk (EventChunk *chunk, const GantryEvent *events)
{
  for (guint32 i = 0; i < chunk->n; i++)
    {
      chunk->begin[i] = events[i].begin;
      chunk->end[i] = events[i].end;
      chunk->bytes[i] = events[i].bytes;
      chunk->instruction[i] = events[i].instruction;
      chunk->node[i] = events[i].node;
      chunk->name[i] = events[i].name;
      chunk->correlation[i] = events[i].correlation;
      chunk->detail[i] = events[i].detail;
      chunk->thread[i] = events[i].thread;
      chunk->kind[i] = events[i].kind;
    }
}

/* @events: sorted */
static void
fill_lane (Lane *lane, const GArray *events)
{
  lane->n = events->len;
  lane->n_chunks = (events->len + GANTRY_CHUNK_EVENTS - 1) / GANTRY_CHUNK_EVENTS;
  lane->chunks = g_new (EventChunk *, lane->n_chunks);
  for (guint32 c = 0; c < lane->n_chunks; c++)
    {
      guint first = c * GANTRY_CHUNK_EVENTS;

      lane->chunks[c] = _gantry_event_chunk_new (MIN (events->len - first, GANTRY_CHUNK_EVENTS));
      fill_chunk (lane->chunks[c], &g_array_index (events, GantryEvent, first));
    }
  _gantry_lane_index (lane);
}

/* Lanes. What the recording will have: lanes of the builder, some of them split. */

typedef struct
{
  char *name;
  GArray *events; /* (nullable) */
} Strip;

static void
clear_strip (gpointer data)
{
  Strip *strip = data;

  g_free (strip->name);
  g_clear_pointer (&strip->events, g_array_unref);
}

static gboolean
has_nesting_kind (const GArray *events)
{
  for (guint i = 0; i < events->len; i++)
    {
      guint kind = g_array_index (events, GantryEvent, i).kind;

      if (kind == GANTRY_EVENT_CALL || kind == GANTRY_EVENT_RANGE)
        return TRUE;
    }
  return FALSE;
}

/* Adds @strip, one for each depth where its events nest. @most: how many lanes it may become. */
static void
add_strips (GArray *strips, Strip *strip, guint most)
{
  g_autofree guint8 *rows = g_new (guint8, strip->events->len);
  guint n = _gantry_nest ((const GantryEvent *) (gpointer) strip->events->data, strip->events->len, most, rows);

  for (guint row = 0; row < n; row++)
    {
      const char *name = strip->name != NULL ? strip->name : "other";
      Strip one = { row == 0 ? g_strdup (strip->name) : g_strdup_printf ("%s, %u", name, row + 1) };

      one.events = g_array_new (FALSE, FALSE, sizeof (GantryEvent));
      for (guint i = 0; i < strip->events->len; i++)
        if (rows[i] == row)
          g_array_append_vals (one.events, &g_array_index (strip->events, GantryEvent, i), 1);
      g_array_append_val (strips, one);
    }
  clear_strip (strip);
}

/* Takes the builder's lanes. Returns: (transfer full) (element-type Strip) */
static GArray *
take_strips (GantryRecordingBuilder *builder)
{
  GArray *strips = g_array_new (FALSE, FALSE, sizeof (Strip));
  guint n_lanes = GANTRY_LANE_RUNS + 1;

  g_array_set_clear_func (strips, clear_strip);
  for (guint i = n_lanes; i < GANTRY_MAX_LANES; i++)
    if (builder->lanes[i] != NULL || builder->lane_names[i] != NULL)
      n_lanes = i + 1;
  for (guint i = 0; i < n_lanes; i++)
    {
      Strip strip = { g_steal_pointer (&builder->lane_names[i]), g_steal_pointer (&builder->lanes[i]) };

      if (strip.events != NULL)
        sort (strip.events, compare_events);
      /* Those that follow need a lane each. */
      if (i > GANTRY_LANE_RUNS && strip.events != NULL && has_nesting_kind (strip.events))
        add_strips (strips, &strip, GANTRY_MAX_LANES - strips->len - (n_lanes - 1 - i));
      else
        g_array_append_val (strips, strip);
    }
  return strips;
}

static void
fill_counters (GantryRecordingBuilder *builder, GantryRecording *recording)
{
  guint next = 0;

  sort (builder->samples, compare_samples);
  for (guint c = 0; c < builder->counters->len; c++)
    {
      Counter counter = { g_strdup (g_ptr_array_index (builder->counters, c)) };
      guint first = next;

      while (next < builder->samples->len && g_array_index (builder->samples, Sample, next).counter == c)
        next++;
      counter.series.n = next - first;
      counter.series.time = g_new (gint64, next - first + 1);
      counter.series.value = g_new (double, next - first + 1);
      for (guint i = first; i < next; i++)
        {
          counter.series.time[i - first] = g_array_index (builder->samples, Sample, i).time;
          counter.series.value[i - first] = g_array_index (builder->samples, Sample, i).value;
        }
      g_array_append_val (recording->counters, counter);
    }
}

GantryRecording *
gantry_recording_builder_end (GantryRecordingBuilder *builder)
{
  g_autoptr (GArray) strips = take_strips (builder);
  GantryRecording *recording = _gantry_recording_new (strips->len);

  recording->origin = builder->origin;
  recording->epoch = builder->epoch;
  g_free (recording->device);
  recording->device = g_strdup (builder->device != NULL ? builder->device : "");
  for (guint i = 0; i < strips->len; i++)
    {
      Strip *strip = &g_array_index (strips, Strip, i);

      recording->lanes[i].name = g_steal_pointer (&strip->name);
      if (strip->events != NULL)
        fill_lane (&recording->lanes[i], strip->events);
      for (guint32 c = 0; i != GANTRY_LANE_RUNS && c < recording->lanes[i].n_chunks; c++)
        _gantry_event_chunk_sum (recording->lanes[i].chunks[c], recording->totals);
      /* The columns are another copy. */
      g_clear_pointer (&strip->events, g_array_unref);
    }
  sort (builder->memory, compare_memory);
  g_array_append_vals (recording->memory, builder->memory->data, builder->memory->len);
  g_array_append_vals (recording->runs, builder->runs->data, builder->runs->len);
  g_array_append_vals (recording->details, builder->details->data, builder->details->len);
  fill_counters (builder, recording);
  g_ptr_array_unref (recording->strings);
  recording->strings = g_ptr_array_ref (builder->strings);
  g_ptr_array_unref (recording->notes);
  recording->notes = g_ptr_array_ref (builder->notes);
  _gantry_recording_seal (recording);
  gantry_recording_builder_free (builder);
  return recording;
}
