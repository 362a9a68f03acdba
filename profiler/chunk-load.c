/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings from bytes: nothing is believed before it is checked. The columns of events are not copied: they are used
 * where they lie, in what was read. The layout is told in profiler/chunk.c. */
#include "core/base/allocate.h"
#include "profiler/chunk-private.h"
#include <string.h>

#define MOST_STRINGS (1u << 26)
#define MOST_NOTES (1u << 16)
#define MOST_CHUNKS (1u << 20)

typedef struct
{
  const guint8 *data;
  gsize size, at;
  const char *what; /* "head", "chunk 3" */
  GBytes *bytes;    /* of a chunk: what @data is of */
  guint version;    /* of a chunk */
  guint32 n;        /* of a chunk: rows */
  GError **error;
  gboolean failed;
} Reader;

static gboolean G_GNUC_PRINTF (3, 4) fail (Reader *r, GantryError code, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  if (r->failed)
    return FALSE;
  r->failed = TRUE;
  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (r->error, GANTRY_ERROR, code, "recording, %s, byte %" G_GSIZE_FORMAT ": %s", r->what, r->at, message);
  return FALSE;
}

static guint64
get (Reader *r, guint width)
{
  guint64 value = 0;

  if (r->failed || r->size - r->at < width)
    {
      fail (r, GANTRY_ERROR_TRUNCATED, "the data end here");
      return 0;
    }
  memcpy (&value, r->data + r->at, width);
  r->at += width;
  return GUINT64_FROM_LE (value);
}

/* A number of things of which each takes at least @least bytes of what follows. */
static guint32
get_count (Reader *r, guint32 most, gsize least, const char *of)
{
  guint32 n = (guint32) get (r, 4);

  if (!r->failed && n > most)
    fail (r, GANTRY_ERROR_TOO_LARGE, "%u %s, at most %u", n, of, most);
  else if (!r->failed && n > (r->size - r->at) / least)
    fail (r, GANTRY_ERROR_TRUNCATED, "%u %s do not fit in the rest", n, of);
  return r->failed ? 0 : n;
}

static char *
get_string (Reader *r)
{
  guint32 length = get_count (r, G_MAXINT32, 1, "bytes of text");
  const char *text = (const char *) r->data + r->at;

  if (r->failed || !g_utf8_validate_len (text, length, NULL))
    {
      fail (r, GANTRY_ERROR_INVALID, "a text that is not UTF-8");
      return NULL;
    }
  r->at += length;
  return g_strndup (text, length);
}

static gboolean
get_magic (Reader *r, const char *magic)
{
  if (r->size < 4 || memcmp (r->data, magic, 4) != 0)
    return fail (r, r->size < 4 ? GANTRY_ERROR_TRUNCATED : GANTRY_ERROR_INVALID, "it does not begin with '%s'", magic);
  r->at = 4;
  return TRUE;
}

/* What the head promises. */
typedef struct
{
  GantryRecording *recording;
  guint64 n_memory, n_samples;
  guint64 *counter_samples; /* by counter */
  guint32 n_chunks;
  guint version;
} Loader;

static guint64
get_events (Reader *r)
{
  guint64 n = get (r, 8);

  if (n > (guint64) G_MAXUINT32 * 16)
    fail (r, GANTRY_ERROR_TOO_LARGE, "%" G_GUINT64_FORMAT " events", n);
  return r->failed ? 0 : n;
}

static void
get_lanes (Reader *r, Loader *loader, guint64 *chunks)
{
  guint32 n = get_count (r, GANTRY_MAX_LANES, 12, "lanes");
  GantryRecording *recording = loader->recording;

  if (!r->failed && n <= GANTRY_LANE_RUNS)
    fail (r, GANTRY_ERROR_INVALID, "%u lanes, at least %u", n, GANTRY_LANE_RUNS + 1);
  if (r->failed)
    return;
  g_free (recording->lanes);
  recording->n_lanes = 0;
  recording->lanes = gantry_try_new0 (Lane, n, "the lanes of a recording", r->error);
  if (recording->lanes == NULL)
    {
      r->failed = TRUE;
      return;
    }
  recording->n_lanes = n;
  for (guint32 i = 0; i < n && !r->failed; i++)
    {
      Lane *lane = &recording->lanes[i];

      lane->name = get_string (r);
      if (lane->name != NULL && lane->name[0] == '\0')
        g_clear_pointer (&lane->name, g_free);
      lane->n = get_events (r);
      *chunks += _gantry_chunks_of (lane->n);
    }
}

static void
get_runs (Reader *r, GantryRecording *recording)
{
  for (guint32 n = get_count (r, G_MAXUINT32, 24, "runs"); n > 0 && !r->failed; n--)
    {
      GantryRecordedRun run;

      run.begin = (gint64) get (r, 8);
      run.end = (gint64) get (r, 8);
      run.peak_bytes = get (r, 8);
      if (run.begin > run.end || run.begin <= -MOST_TIME || run.end >= MOST_TIME)
        fail (r, GANTRY_ERROR_INVALID, "a run that ends before it begins");
      else
        g_array_append_val (recording->runs, run);
    }
}

static void
get_counters (Reader *r, Loader *loader)
{
  guint32 n = get_count (r, 1u << 20, 12, "counters");

  loader->counter_samples = gantry_try_new0 (guint64, n, "the counters of a recording", r->failed ? NULL : r->error);
  if (loader->counter_samples == NULL)
    {
      r->failed = TRUE;
      return;
    }
  for (guint32 i = 0; i < n && !r->failed; i++)
    {
      Counter counter = { get_string (r) };

      if (counter.name == NULL)
        return;
      g_array_append_val (loader->recording->counters, counter);
      loader->counter_samples[i] = get_events (r);
      loader->n_samples += loader->counter_samples[i];
    }
}

static void
get_details (Reader *r, GantryRecording *recording)
{
  guint32 n = get_count (r, G_MAXUINT32, DETAIL_WORDS * 4, "launch details");

  for (; n > 0 && !r->failed; n--)
    {
      guint32 words[DETAIL_WORDS];

      for (guint i = 0; i < DETAIL_WORDS; i++)
        words[i] = (guint32) get (r, 4);
      G_STATIC_ASSERT (sizeof words == sizeof (GantryLaunchDetail));
      g_array_append_vals (recording->details, words, 1);
    }
  for (n = get_count (r, MOST_NOTES, 4, "notes"); n > 0 && !r->failed; n--)
    {
      char *note = get_string (r);

      if (note != NULL)
        g_ptr_array_add (recording->notes, note);
    }
}

static void
get_totals (Reader *r, GantryRecording *recording)
{
  guint32 n = get_count (r, GANTRY_N_EVENT_KINDS, 32, "kinds of events");

  for (guint32 i = 0; i < n && !r->failed; i++)
    {
      GantryEventTotals *totals = &recording->totals[i];

      totals->count = get (r, 8);
      totals->bytes = get (r, 8);
      totals->total_ns = (gint64) get (r, 8);
      totals->longest_ns = (gint64) get (r, 8);
    }
}

static gboolean
get_node (Reader *r, const Lane *lane, guint64 i)
{
  IndexNode *node = &lane->levels[0].nodes[i];
  guint64 first = i * SUMMARY_EVENTS;

  node->first_begin = (gint64) get (r, 8);
  node->last_end = (gint64) get (r, 8);
  node->busy = (gint64) get (r, 8);
  node->longest_ns = (gint64) get (r, 8);
  node->longest = first + get (r, 2);
  if (!r->failed
      && (node->first_begin <= -MOST_TIME || node->last_end >= MOST_TIME || node->last_end < node->first_begin
          || (i > 0 && node[-1].first_begin > node->first_begin) || node->longest_ns < 0 || node->longest_ns > node->last_end - node->first_begin
          || node->busy < node->longest_ns || node->longest >= MIN (first + SUMMARY_EVENTS, lane->n)))
    fail (r, GANTRY_ERROR_INVALID, "a summary of events that cannot be");
  return !r->failed;
}

/* What stands for the events until they are read. */
static void
get_summary (Reader *r, GantryRecording *recording)
{
  get_totals (r, recording);
  for (guint l = 0; l < recording->n_lanes && !r->failed; l++)
    {
      Lane *lane = &recording->lanes[l];
      guint64 nodes = (lane->n + SUMMARY_EVENTS - 1) / SUMMARY_EVENTS;

      if (lane->n == 0)
        continue;
      if (nodes > (r->size - r->at) / SUMMARY_BYTES)
        {
          fail (r, GANTRY_ERROR_TRUNCATED, "the summary of %" G_GUINT64_FORMAT " events does not fit in the rest", lane->n);
          return;
        }
      _gantry_lane_index_begin (lane);
      for (guint64 i = 0; i < nodes; i++)
        if (!get_node (r, lane, i))
          return;
      _gantry_lane_index_end (lane);
    }
}

/* Returns: 0, with an error, where this program does not know it */
static guint
get_version (Reader *r, guint width)
{
  guint version = (guint) get (r, width);

  if (!r->failed && version != 1 && version != CHUNK_VERSION)
    fail (r, GANTRY_ERROR_UNSUPPORTED, "version %u; this program knows those up to %u", version, CHUNK_VERSION);
  return r->failed ? 0 : version;
}

static gboolean
read_head (Loader *loader, GBytes *head, GError **error)
{
  GantryRecording *recording = loader->recording;
  Reader r = { .what = "head", .error = error };
  guint64 chunks = 0;

  r.data = g_bytes_get_data (head, &r.size);
  if (!get_magic (&r, HEAD_MAGIC) || (loader->version = get_version (&r, 4)) == 0)
    return FALSE;
  recording->origin = (gint64) get (&r, 8);
  g_free (recording->device);
  recording->device = get_string (&r);
  for (guint32 n = get_count (&r, MOST_STRINGS, 4, "strings"); n > 0 && !r.failed; n--)
    g_ptr_array_add (recording->strings, get_string (&r));
  get_lanes (&r, loader, &chunks);
  get_runs (&r, recording);
  loader->n_memory = get_events (&r);
  get_counters (&r, loader);
  if (loader->version > 1)
    get_details (&r, recording);
  if (loader->version > 1 && !r.failed)
    get_summary (&r, recording);
  loader->n_chunks = (guint32) get (&r, 4);
  if (!r.failed && r.at != r.size)
    fail (&r, GANTRY_ERROR_INVALID, "more data than there should be");
  chunks += _gantry_chunks_of (loader->n_memory) + _gantry_chunks_of (loader->n_samples);
  if (!r.failed && loader->n_chunks > MOST_CHUNKS)
    fail (&r, GANTRY_ERROR_TOO_LARGE, "%u chunks, at most %u", loader->n_chunks, MOST_CHUNKS);
  if (!r.failed && (loader->n_memory > G_MAXUINT32 || chunks != loader->n_chunks))
    fail (&r, GANTRY_ERROR_INVALID, "the number of chunks is not that of its events");
  return !r.failed;
}

/* The chunk has to be the one that the head names: @left rows of that content are still to come. */
static gboolean
read_chunk_head (Reader *r, guint content, guint lane, guint64 left, guint32 number)
{
  guint is_content, is_lane;
  guint32 is_number;
  gsize bytes;

  if (!get_magic (r, CHUNK_MAGIC) || (r->version = get_version (r, 1)) == 0)
    return FALSE;
  is_content = (guint) get (r, 1);
  is_lane = (guint) get (r, 1);
  get (r, 1);
  is_number = (guint32) get (r, 4);
  r->n = (guint32) get (r, 4);
  get (r, 8); /* the range of time is for the table of chunks */
  get (r, 8);
  if (r->failed)
    return FALSE;
  if (is_content != content || is_lane != lane || is_number != number || r->n != MIN (left, GANTRY_CHUNK_EVENTS))
    return fail (r, GANTRY_ERROR_INVALID, "it is not the chunk that the head names");
  bytes = r->n * _gantry_row_bytes (content, r->version);
  if (r->size - r->at != bytes)
    return fail (r, r->size - r->at < bytes ? GANTRY_ERROR_TRUNCATED : GANTRY_ERROR_INVALID, "%u rows do not take %" G_GSIZE_FORMAT " bytes", r->n,
                 r->size - r->at);
  return TRUE;
}

/* The sizes have been checked: no column read can fail. */
#define READ_COLUMN(r, n, width, place, Type) \
  for (guint32 i = 0; i < (n); i++) \
  (place) = (Type) get ((r), (width))

/* The columns where they lie; a copy of them only where they would not be aligned, or are in another order of bytes. */
static EventChunk *
take_columns (Reader *r, guint32 n)
{
  gsize bytes = r->size - r->at;
  g_autoptr (GBytes) copy = NULL;
  EventChunk *chunk;

  if (((gsize) (r->data + r->at) & 7) == 0 && G_BYTE_ORDER == G_LITTLE_ENDIAN)
    return _gantry_event_chunk_over (r->bytes, r->at, n, r->version);
  copy = g_bytes_new (r->data + r->at, bytes);
  chunk = _gantry_event_chunk_over (copy, 0, n, r->version);
  _gantry_column_swap (chunk->begin, 3 * n, 8);
  _gantry_column_swap (chunk->instruction, (r->version > 1 ? 5 : 3) * n, 4);
  _gantry_column_swap (chunk->thread, n, 2);
  return chunk;
}

static gboolean
check_events (Reader *r, const GantryRecording *recording, const EventChunk *chunk, gint64 last)
{
  for (guint32 i = 0; i < chunk->n; i++)
    {
      if (chunk->begin[i] < last || chunk->end[i] < chunk->begin[i] || chunk->begin[i] <= -MOST_TIME || chunk->end[i] >= MOST_TIME)
        return fail (r, GANTRY_ERROR_INVALID, "event %u is out of order or ends before it begins", i);
      if (chunk->kind[i] >= GANTRY_N_EVENT_KINDS || chunk->name[i] > recording->strings->len)
        return fail (r, GANTRY_ERROR_INVALID, "event %u has no known kind or name", i);
      if (chunk->detail != NULL && chunk->detail[i] > recording->details->len)
        return fail (r, GANTRY_ERROR_INVALID, "event %u has no known launch detail", i);
      last = chunk->begin[i];
    }
  return TRUE;
}

/* The index of the chunk is what the head says of it. */
static gboolean
check_index (Reader *r, const Lane *lane, guint32 place, const EventChunk *chunk, const IndexNode *above, guint n)
{
  const IndexLevel *level = &lane->levels[0];
  guint64 first = (guint64) place * SUMMARIES_OF_CHUNK;

  if (memcmp (above, &level->nodes[first], n * sizeof *above) != 0
      || (first + n < level->n && chunk->begin[chunk->n - 1] > level->nodes[first + n].first_begin))
    return fail (r, GANTRY_ERROR_INVALID, "its events are not those that the head tells of");
  return TRUE;
}

EventChunk *
_gantry_chunk_decode (const GantryRecording *recording, guint l, guint32 place, GBytes *bytes, gboolean summarised, GError **error)
{
  const Lane *lane = &recording->lanes[l];
  guint32 number = lane->first_number + place;
  g_autofree char *what = g_strdup_printf ("chunk %u", number);
  Reader r = { .what = what, .bytes = bytes, .error = error };
  gint64 last = !summarised && place > 0 ? lane->chunks[place - 1]->begin[GANTRY_CHUNK_EVENTS - 1] : G_MININT64;
  IndexNode above[SUMMARIES_OF_CHUNK] = { { 0 } };
  EventChunk *chunk;
  guint n;

  r.data = g_bytes_get_data (bytes, &r.size);
  if (!read_chunk_head (&r, CONTENT_EVENTS, l, lane->n - (guint64) place * GANTRY_CHUNK_EVENTS, number))
    return NULL;
  chunk = take_columns (&r, r.n);
  if (check_events (&r, recording, chunk, last))
    {
      n = _gantry_chunk_index (chunk, place, above);
      if (!summarised || check_index (&r, lane, place, chunk, above, n))
        return chunk;
    }
  _gantry_event_chunk_free (chunk);
  return NULL;
}

static gboolean
read_memory (Reader *r, GArray *memory, guint32 n)
{
  guint first = memory->len;
  GantryMemoryEvent *events;

  g_array_set_size (memory, first + n);
  events = &g_array_index (memory, GantryMemoryEvent, first);
  memset (events, 0, n * sizeof *events);
  READ_COLUMN (r, n, 8, events[i].time, gint64);
  READ_COLUMN (r, n, 8, events[i].offset, guint64);
  READ_COLUMN (r, n, 8, events[i].bytes, guint64);
  READ_COLUMN (r, n, 4, events[i].buffer, guint32);
  READ_COLUMN (r, n, 4, events[i].node, guint32);
  READ_COLUMN (r, n, 1, events[i].memory, guint8);
  READ_COLUMN (r, n, 1, events[i].release, guint8);
  for (guint32 i = 0; i < n; i++)
    if (events[i].memory >= GANTRY_N_MEMORY_KINDS || events[i].time <= -MOST_TIME || events[i].time >= MOST_TIME || events[i].release > 1
        || (first + i > 0 && events[i].time < (&events[i])[-1].time))
      return fail (r, GANTRY_ERROR_INVALID, "memory event %u is out of order or of no known kind", i);
  return TRUE;
}

static gboolean
read_samples (Reader *r, Loader *loader, guint32 n)
{
  g_autofree SampleRow *rows = g_new (SampleRow, n + 1);
  GArray *counters = loader->recording->counters;

  READ_COLUMN (r, n, 8, rows[i].time, gint64);
  READ_COLUMN (r, n, 8, rows[i].bits, guint64);
  READ_COLUMN (r, n, 4, rows[i].counter, guint32);
  for (guint32 i = 0; i < n; i++)
    {
      Series *series;

      if (rows[i].counter >= counters->len || rows[i].time <= -MOST_TIME || rows[i].time >= MOST_TIME)
        return fail (r, GANTRY_ERROR_INVALID, "sample %u is of no counter", i);
      series = &g_array_index (counters, Counter, rows[i].counter).series;
      if (series->n >= loader->counter_samples[rows[i].counter] || (series->n > 0 && series->time[series->n - 1] > rows[i].time))
        return fail (r, GANTRY_ERROR_INVALID, "sample %u is out of order or one too many", i);
      if ((series->n & (series->n - 1)) == 0)
        {
          series->time = g_renew (gint64, series->time, MAX (2 * series->n, 1));
          series->value = g_renew (double, series->value, MAX (2 * series->n, 1));
        }
      series->time[series->n] = rows[i].time;
      memcpy (&series->value[series->n++], &rows[i].bits, 8);
    }
  return TRUE;
}

/* Reads the chunks of memory events or samples, which begin with number @number. */
static gboolean
read_rest (Loader *loader, guint content, guint64 total, guint32 number, GantryChunkReader read, gpointer user_data, GError **error)
{
  for (guint64 done = 0; done < total; done += GANTRY_CHUNK_EVENTS, number++)
    {
      g_autofree char *what = g_strdup_printf ("chunk %u", number);
      g_autoptr (GBytes) bytes = read (number, user_data, error);
      Reader r = { .what = what, .bytes = bytes, .error = error };

      if (bytes == NULL)
        return FALSE;
      r.data = g_bytes_get_data (bytes, &r.size);
      if (!read_chunk_head (&r, content, 0, total - done, number)
          || !(content == CONTENT_MEMORY ? read_memory (&r, loader->recording->memory, r.n) : read_samples (&r, loader, r.n)))
        return FALSE;
    }
  return TRUE;
}

/* Numbers the chunks of lanes. @number: (out): the number after them */
static gboolean
number_chunks (GantryRecording *recording, guint32 *number, GError **error)
{
  *number = 0;

  for (guint l = 0; l < recording->n_lanes; l++)
    {
      Lane *lane = &recording->lanes[l];

      lane->first_number = *number;
      lane->chunks = gantry_try_new0 (EventChunk *, _gantry_chunks_of (lane->n), "the chunks of a lane", error);
      if (lane->chunks == NULL)
        return FALSE;
      lane->n_chunks = (guint32) _gantry_chunks_of (lane->n);
      *number += lane->n_chunks;
    }
  return TRUE;
}

/* All events at once, of a recording without summaries. */
static gboolean
read_lanes (GantryRecording *recording, GantryChunkReader read, gpointer user_data, GError **error)
{
  for (guint l = 0; l < recording->n_lanes; l++)
    {
      Lane *lane = &recording->lanes[l];

      for (guint32 c = 0; c < lane->n_chunks; c++)
        {
          g_autoptr (GBytes) bytes = read (lane->first_number + c, user_data, error);

          lane->chunks[c] = bytes != NULL ? _gantry_chunk_decode (recording, l, c, bytes, FALSE, error) : NULL;
          if (lane->chunks[c] == NULL)
            return FALSE;
          if (l != GANTRY_LANE_RUNS)
            _gantry_event_chunk_sum (lane->chunks[c], recording->totals);
        }
      if (lane->n > 0)
        _gantry_lane_index (lane);
    }
  return TRUE;
}

static gboolean
open_recording (Loader *loader, GBytes *head, GantryChunkReader read, gpointer user_data, GError **error)
{
  GantryRecording *recording = loader->recording;
  guint32 number;

  if (!read_head (loader, head, error) || !number_chunks (recording, &number, error))
    return FALSE;
  if (loader->version == 1 && !read_lanes (recording, read, user_data, error))
    return FALSE;
  if (!read_rest (loader, CONTENT_MEMORY, loader->n_memory, number, read, user_data, error)
      || !read_rest (loader, CONTENT_SAMPLES, loader->n_samples, number + (guint32) _gantry_chunks_of (loader->n_memory), read, user_data, error))
    return FALSE;
  _gantry_recording_seal (recording);
  return TRUE;
}

GantryRecording *
gantry_recording_open (GBytes *head, GantryChunkReader read, gpointer user_data, GDestroyNotify destroy, GError **error)
{
  Loader loader = { _gantry_recording_new (GANTRY_LANE_RUNS + 1) };
  gboolean opened = open_recording (&loader, head, read, user_data, error);

  g_free (loader.counter_samples);
  if (opened && loader.version > 1)
    {
      loader.recording->source = _gantry_source_new (loader.recording, read, user_data, destroy);
      return loader.recording;
    }
  if (destroy != NULL)
    destroy (user_data);
  if (opened)
    return loader.recording;
  gantry_recording_unref (loader.recording);
  return NULL;
}

/* Chunks that are all at hand. */

typedef struct
{
  GBytes **sorted; /* by number */
  guint32 n;
} Given;

static gboolean
sort_chunks (Given *given, GBytes *const *chunks, GError **error)
{
  for (guint32 i = 0; i < given->n; i++)
    {
      g_autofree char *what = g_strdup_printf ("chunk %u", i);
      Reader r = { .what = what, .at = 8, .error = error };
      guint32 number;

      r.data = g_bytes_get_data (chunks[i], &r.size);
      r.at = MIN (r.at, r.size);
      number = (guint32) get (&r, 4);
      if (r.failed)
        return FALSE;
      if (number >= given->n || given->sorted[number] != NULL)
        return fail (&r, GANTRY_ERROR_INVALID, "number %u is too high or comes twice", number);
      given->sorted[number] = chunks[i];
    }
  return TRUE;
}

static GBytes *
read_given (guint32 number, gpointer user_data, GError **error)
{
  const Given *given = user_data;

  if (number < given->n)
    return g_bytes_ref (given->sorted[number]);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED, "recording: %u chunks, and chunk %u is missing", given->n, number);
  return NULL;
}

GantryRecording *
gantry_recording_load (GBytes *head, GBytes *const *chunks, guint32 n_chunks, GError **error)
{
  g_autofree GBytes **sorted = gantry_try_new0 (GBytes *, n_chunks, "the chunks of a recording", error);
  Given given = { sorted, n_chunks };
  g_autoptr (GantryRecording) recording = NULL;

  if (sorted == NULL || !sort_chunks (&given, chunks, error))
    return NULL;
  recording = gantry_recording_open (head, read_given, &given, NULL, error);
  if (recording == NULL || !gantry_recording_load_all (recording, NULL, error))
    return NULL;
  if (gantry_recording_n_chunks (recording) == n_chunks)
    return g_steal_pointer (&recording);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "recording: %u chunks where there should be %u", n_chunks, gantry_recording_n_chunks (recording));
  return NULL;
}
