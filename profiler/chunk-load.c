/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings from bytes: nothing is believed before it is checked. The columns of events are not copied: they are used
 * where they lie, in what was read. The layout is told in profiler/chunk.c. */
#include "core/base/error.h"
#include "profiler/chunk-private.h"
#include <string.h>

#define MOST_STRINGS (1u << 26)
#define MOST_NOTES (1u << 16)

typedef struct
{
  const guint8 *data;
  gsize size, at;
  const char *what; /* "head", "chunk 3" */
  GBytes *bytes;    /* of a chunk: what @data is of */
  guint version;    /* of a chunk */
  GError **error;
  gboolean failed;
} Reader;

static gboolean G_GNUC_PRINTF (3, 4)
fail (Reader *r, GantryError code, const char *format, ...)
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
  recording->lanes = g_new0 (Lane, n + 1);
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

  loader->counter_samples = g_new0 (guint64, n + 1);
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
  guint version;

  r.data = g_bytes_get_data (head, &r.size);
  if (!get_magic (&r, HEAD_MAGIC) || (version = get_version (&r, 4)) == 0)
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
  if (version > 1)
    get_details (&r, recording);
  loader->n_chunks = (guint32) get (&r, 4);
  if (!r.failed && r.at != r.size)
    fail (&r, GANTRY_ERROR_INVALID, "more data than there should be");
  chunks += _gantry_chunks_of (loader->n_memory) + _gantry_chunks_of (loader->n_samples);
  if (!r.failed && (loader->n_memory > G_MAXUINT32 || chunks != loader->n_chunks))
    fail (&r, GANTRY_ERROR_INVALID, "the number of chunks is not that of its events");
  return !r.failed;
}

static gboolean
read_chunk_head (Reader *r, GantryChunkInfo *info)
{
  gsize bytes;

  if (!get_magic (r, CHUNK_MAGIC) || (r->version = get_version (r, 1)) == 0)
    return FALSE;
  info->content = (guint8) get (r, 1);
  info->lane = (guint8) get (r, 1);
  get (r, 1);
  info->number = (guint32) get (r, 4);
  info->n = (guint32) get (r, 4);
  info->begin = (gint64) get (r, 8);
  info->end = (gint64) get (r, 8);
  if (r->failed)
    return FALSE;
  if (info->content > CONTENT_SAMPLES || info->n > GANTRY_CHUNK_EVENTS)
    return fail (r, GANTRY_ERROR_INVALID, "content %u with %u rows", info->content, info->n);
  bytes = info->n * _gantry_row_bytes (info->content, r->version);
  if (r->size - r->at != bytes)
    return fail (r, r->size - r->at < bytes ? GANTRY_ERROR_TRUNCATED : GANTRY_ERROR_INVALID,
                 "%u rows do not take %" G_GSIZE_FORMAT " bytes", info->n, r->size - r->at);
  return TRUE;
}

/* The sizes have been checked: no column read can fail. */
#define READ_COLUMN(r, n, width, place, Type)                                                                \
  for (guint32 i = 0; i < (n); i++)                                                                          \
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
read_events (Reader *r, const GantryRecording *recording, Lane *lane, guint32 place, guint32 n)
{
  EventChunk *chunk = take_columns (r, n);
  gint64 last = place > 0 ? lane->chunks[place - 1]->begin[GANTRY_CHUNK_EVENTS - 1] : G_MININT64;

  lane->chunks[place] = chunk;
  lane->n_chunks = place + 1;
  for (guint32 i = 0; i < n; i++)
    {
      if (chunk->begin[i] < last || chunk->end[i] < chunk->begin[i] || chunk->begin[i] <= -MOST_TIME
          || chunk->end[i] >= MOST_TIME)
        return fail (r, GANTRY_ERROR_INVALID, "event %u is out of order or ends before it begins", i);
      if (chunk->kind[i] >= GANTRY_N_EVENT_KINDS || chunk->name[i] > recording->strings->len)
        return fail (r, GANTRY_ERROR_INVALID, "event %u has no known kind or name", i);
      if (chunk->detail != NULL && chunk->detail[i] > recording->details->len)
        return fail (r, GANTRY_ERROR_INVALID, "event %u has no known launch detail", i);
      last = chunk->begin[i];
    }
  return TRUE;
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
    if (events[i].memory >= GANTRY_N_MEMORY_KINDS || events[i].time <= -MOST_TIME || events[i].time >= MOST_TIME
        || events[i].release > 1 || (first + i > 0 && events[i].time < (&events[i])[-1].time))
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
      if (series->n >= loader->counter_samples[rows[i].counter]
          || (series->n > 0 && series->time[series->n - 1] > rows[i].time))
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

/* The chunk that comes next in the order of numbers is of the kind that the head says, and as long. */
static gboolean
read_chunk (Loader *loader, Reader *r, guint content, guint lane, guint32 place, guint64 total, guint32 number)
{
  GantryChunkInfo info = { 0 };
  guint64 n = MIN (total - (guint64) place * GANTRY_CHUNK_EVENTS, GANTRY_CHUNK_EVENTS);

  if (!read_chunk_head (r, &info))
    return FALSE;
  if (info.number != number || info.content != content || info.lane != lane || info.n != n)
    return fail (r, GANTRY_ERROR_INVALID, "it is not the chunk that the head names");
  if (content == CONTENT_EVENTS)
    return read_events (r, loader->recording, &loader->recording->lanes[lane], place, info.n);
  if (content == CONTENT_MEMORY)
    return read_memory (r, loader->recording->memory, info.n);
  return read_samples (r, loader, info.n);
}

/* Puts the chunks in the order of their numbers. */
static GBytes **
sort_chunks (const Loader *loader, GBytes *const *chunks, guint32 n, GError **error)
{
  g_autofree GBytes **sorted = g_new0 (GBytes *, (gsize) n + 1);

  if (n != loader->n_chunks)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED, "recording: %u chunks where there should be %u", n,
                   loader->n_chunks);
      return NULL;
    }
  for (guint32 i = 0; i < n; i++)
    {
      GantryChunkInfo info = { 0 };
      g_autofree char *what = g_strdup_printf ("chunk %u", i);
      Reader r = { .what = what, .error = error };

      r.data = g_bytes_get_data (chunks[i], &r.size);
      if (!read_chunk_head (&r, &info))
        return NULL;
      if (info.number >= n || sorted[info.number] != NULL)
        {
          fail (&r, GANTRY_ERROR_INVALID, "number %u is too high or comes twice", info.number);
          return NULL;
        }
      sorted[info.number] = chunks[i];
    }
  return g_steal_pointer (&sorted);
}

static gboolean
read_all (Loader *loader, GBytes *const *sorted, guint content, guint lane, guint64 total, guint32 *number,
          GError **error)
{
  for (guint32 place = 0; place < _gantry_chunks_of (total); place++, ++*number)
    {
      g_autofree char *what = g_strdup_printf ("chunk %u", *number);
      Reader r = { .what = what, .bytes = sorted[*number], .error = error };

      r.data = g_bytes_get_data (sorted[*number], &r.size);
      if (!read_chunk (loader, &r, content, lane, place, total, *number))
        return FALSE;
    }
  return TRUE;
}

static gboolean
load (Loader *loader, GBytes *head, GBytes *const *chunks, guint32 n_chunks, GError **error)
{
  GantryRecording *recording = loader->recording;
  g_autofree GBytes **sorted = NULL;
  guint32 number = 0;

  if (!read_head (loader, head, error))
    return FALSE;
  sorted = sort_chunks (loader, chunks, n_chunks, error);
  if (sorted == NULL)
    return FALSE;
  for (guint l = 0; l < recording->n_lanes; l++)
    {
      /* As many as there really are chunks for: the head alone is not believed. */
      recording->lanes[l].chunks = g_new0 (EventChunk *, _gantry_chunks_of (recording->lanes[l].n) + 1);
      if (!read_all (loader, sorted, CONTENT_EVENTS, l, recording->lanes[l].n, &number, error))
        return FALSE;
    }
  return read_all (loader, sorted, CONTENT_MEMORY, 0, loader->n_memory, &number, error)
         && read_all (loader, sorted, CONTENT_SAMPLES, 0, loader->n_samples, &number, error);
}

GantryRecording *
gantry_recording_load (GBytes *head, GBytes *const *chunks, guint32 n_chunks, GError **error)
{
  Loader loader = { _gantry_recording_new (GANTRY_LANE_RUNS + 1) };
  gboolean loaded = load (&loader, head, chunks, n_chunks, error);

  g_free (loader.counter_samples);
  if (!loaded)
    {
      gantry_recording_unref (loader.recording);
      return NULL;
    }
  _gantry_recording_seal (loader.recording);
  return loader.recording;
}
