/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings as bytes, for the session file: a head and chunks. All numbers are little endian, and
 * nothing is aligned; a string is its length (u32) and its bytes, UTF-8.
 *
 * head:  "GNTH", version u32 = 1, origin i64, device string,
 *        n u32, then n strings (ids from 1 on),
 *        n u32 lanes: name string ("" where it is that of the queue), events u64,
 *        n u32 runs: begin i64, end i64, peak u64,
 *        memory events u64, n u32 counters: name string, samples u64,
 *        chunks u32
 * chunk: "GNTC", version u8 = 1, content u8, lane u8, 0, number u32, n u32, begin i64, end i64 (the time range),
 *        then columns of n each:
 *        content 0, events: begin i64, end i64, bytes u64, instruction u32, node u32, name u32, thread u16, kind u8
 *        content 1, memory events: time i64, offset u64, bytes u64, buffer u32, node u32, memory u8, release u8
 *        content 2, counter samples: time i64, value f64, counter u32
 * Chunks are numbered lane by lane, then memory events, then counter samples; each kind is split at every
 * GANTRY_CHUNK_EVENTS. Events are sorted by begin, memory events by time, samples by counter and time. */
#include "core/base/error.h"
#include "profiler/recording-private.h"
#include <string.h>

#define HEAD_MAGIC "GNTH"
#define CHUNK_MAGIC "GNTC"
#define VERSION 1
#define CHUNK_HEAD 32u
#define MOST_STRINGS (1u << 26)

enum { CONTENT_EVENTS, CONTENT_MEMORY, CONTENT_SAMPLES };

static const gsize row_bytes[] = { 39, 34, 20 };

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
  gsize length = strlen (text);

  put (out, length, 4);
  g_byte_array_append (out, (const guint8 *) text, (guint) length);
}

static guint64
n_samples (const GantryRecording *recording)
{
  guint64 n = 0;

  for (guint i = 0; i < recording->counters->len; i++)
    n += g_array_index (recording->counters, Counter, i).series.n;
  return n;
}

static guint64
chunks_of (guint64 n)
{
  return (n + GANTRY_CHUNK_EVENTS - 1) / GANTRY_CHUNK_EVENTS;
}

guint32
gantry_recording_n_chunks (const GantryRecording *recording)
{
  guint64 n = chunks_of (recording->memory->len) + chunks_of (n_samples (recording));

  for (guint i = 0; i < recording->n_lanes; i++)
    n += recording->lanes[i].n_chunks;
  return (guint32) n;
}

GBytes *
gantry_recording_head (const GantryRecording *recording)
{
  GByteArray *out = g_byte_array_new ();

  g_byte_array_append (out, (const guint8 *) HEAD_MAGIC, 4);
  put (out, VERSION, 4);
  put (out, (guint64) recording->origin, 8);
  put_string (out, recording->device);
  put (out, recording->strings->len, 4);
  for (guint i = 0; i < recording->strings->len; i++)
    put_string (out, g_ptr_array_index (recording->strings, i));
  put (out, recording->n_lanes, 4);
  for (guint i = 0; i < recording->n_lanes; i++)
    {
      put_string (out, recording->lanes[i].name != NULL ? recording->lanes[i].name : "");
      put (out, recording->lanes[i].n, 8);
    }
  put (out, recording->runs->len, 4);
  for (guint i = 0; i < recording->runs->len; i++)
    {
      const GantryRecordedRun *run = gantry_recording_run (recording, i);

      put (out, (guint64) run->begin, 8);
      put (out, (guint64) run->end, 8);
      put (out, run->peak_bytes, 8);
    }
  put (out, recording->memory->len, 8);
  put (out, recording->counters->len, 4);
  for (guint i = 0; i < recording->counters->len; i++)
    {
      put_string (out, g_array_index (recording->counters, Counter, i).name);
      put (out, g_array_index (recording->counters, Counter, i).series.n, 8);
    }
  put (out, gantry_recording_n_chunks (recording), 4);
  return g_byte_array_free_to_bytes (out);
}

/* A column: every element of @array, taken by an expression over i. */
#define COLUMN(out, n, width, expression)                                                                    \
  for (guint32 i = 0; i < (n); i++)                                                                          \
    put ((out), (guint64) (expression), (width))

static void
put_chunk_head (GByteArray *out, const GantryChunkInfo *info)
{
  g_byte_array_append (out, (const guint8 *) CHUNK_MAGIC, 4);
  put (out, VERSION, 1);
  put (out, info->content, 1);
  put (out, info->lane, 1);
  put (out, 0, 1);
  put (out, info->number, 4);
  put (out, info->n, 4);
  put (out, (guint64) info->begin, 8);
  put (out, (guint64) info->end, 8);
}

static GByteArray *
start_chunk (const GantryChunkInfo *info)
{
  GByteArray *out = g_byte_array_sized_new ((guint) (CHUNK_HEAD + info->n * row_bytes[info->content]));

  put_chunk_head (out, info);
  return out;
}

static GByteArray *
events_chunk (const EventChunk *chunk, GantryChunkInfo *info)
{
  GByteArray *out;

  info->n = chunk->n;
  info->begin = chunk->begin[0];
  info->end = chunk->end[0];
  for (guint32 i = 0; i < chunk->n; i++)
    info->end = MAX (info->end, chunk->end[i]);
  out = start_chunk (info);
  COLUMN (out, chunk->n, 8, chunk->begin[i]);
  COLUMN (out, chunk->n, 8, chunk->end[i]);
  COLUMN (out, chunk->n, 8, chunk->bytes[i]);
  COLUMN (out, chunk->n, 4, chunk->instruction[i]);
  COLUMN (out, chunk->n, 4, chunk->node[i]);
  COLUMN (out, chunk->n, 4, chunk->name[i]);
  COLUMN (out, chunk->n, 2, chunk->thread[i]);
  COLUMN (out, chunk->n, 1, chunk->kind[i]);
  return out;
}

static GByteArray *
memory_chunk (const GantryRecording *recording, guint first, GantryChunkInfo *info)
{
  const GantryMemoryEvent *events = &g_array_index (recording->memory, GantryMemoryEvent, first);
  GByteArray *out;

  info->content = CONTENT_MEMORY;
  info->n = MIN (recording->memory->len - first, GANTRY_CHUNK_EVENTS);
  info->begin = events[0].time;
  info->end = events[info->n - 1].time;
  out = start_chunk (info);
  COLUMN (out, info->n, 8, events[i].time);
  COLUMN (out, info->n, 8, events[i].offset);
  COLUMN (out, info->n, 8, events[i].bytes);
  COLUMN (out, info->n, 4, events[i].buffer);
  COLUMN (out, info->n, 4, events[i].node);
  COLUMN (out, info->n, 1, events[i].memory);
  COLUMN (out, info->n, 1, events[i].release);
  return out;
}

typedef struct
{
  gint64 time;
  guint64 bits;
  guint32 counter;
} SampleRow;

static GByteArray *
samples_chunk (const GantryRecording *recording, guint64 first, GantryChunkInfo *info)
{
  g_autofree SampleRow *rows = g_new (SampleRow, GANTRY_CHUNK_EVENTS);
  guint64 place = 0;
  GByteArray *out;

  info->content = CONTENT_SAMPLES;
  for (guint c = 0; c < recording->counters->len; c++)
    {
      const Series *series = &g_array_index (recording->counters, Counter, c).series;

      for (guint64 i = first > place ? first - place : 0; i < series->n && info->n < GANTRY_CHUNK_EVENTS; i++)
        {
          SampleRow *row = &rows[info->n++];

          row->time = series->time[i];
          memcpy (&row->bits, &series->value[i], 8);
          row->counter = c;
          info->begin = info->n == 1 ? row->time : MIN (info->begin, row->time);
          info->end = info->n == 1 ? row->time : MAX (info->end, row->time);
        }
      place += series->n;
    }
  out = start_chunk (info);
  COLUMN (out, info->n, 8, rows[i].time);
  COLUMN (out, info->n, 8, rows[i].bits);
  COLUMN (out, info->n, 4, rows[i].counter);
  return out;
}

GBytes *
gantry_recording_chunk (const GantryRecording *recording, guint32 number, GantryChunkInfo *info)
{
  GantryChunkInfo local = { number };
  guint32 left = number, memory_chunks = (guint32) chunks_of (recording->memory->len);
  GByteArray *out = NULL;

  g_return_val_if_fail (number < gantry_recording_n_chunks (recording), NULL);
  for (guint l = 0; l < recording->n_lanes && out == NULL; l++)
    {
      local.lane = (guint8) l;
      if (left < recording->lanes[l].n_chunks)
        out = events_chunk (recording->lanes[l].chunks[left], &local);
      else
        left -= recording->lanes[l].n_chunks;
    }
  if (out == NULL)
    {
      local.lane = 0;
      out = left < memory_chunks
                ? memory_chunk (recording, left * GANTRY_CHUNK_EVENTS, &local)
                : samples_chunk (recording, (guint64) (left - memory_chunks) * GANTRY_CHUNK_EVENTS, &local);
    }
  if (info != NULL)
    *info = local;
  return g_byte_array_free_to_bytes (out);
}

/* Reading: nothing is believed before it is checked. */

typedef struct
{
  const guint8 *data;
  gsize size, at;
  const char *what; /* "head", "chunk 3" */
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
      *chunks += chunks_of (lane->n);
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

static gboolean
read_head (Loader *loader, GBytes *head, GError **error)
{
  GantryRecording *recording = loader->recording;
  Reader r = { .what = "head", .error = error };
  guint64 chunks = 0;

  r.data = g_bytes_get_data (head, &r.size);
  if (!get_magic (&r, HEAD_MAGIC))
    return FALSE;
  if (get (&r, 4) != VERSION)
    return fail (&r, GANTRY_ERROR_UNSUPPORTED, "a version that this program does not know");
  recording->origin = (gint64) get (&r, 8);
  g_free (recording->device);
  recording->device = get_string (&r);
  for (guint32 n = get_count (&r, MOST_STRINGS, 4, "strings"); n > 0 && !r.failed; n--)
    g_ptr_array_add (recording->strings, get_string (&r));
  get_lanes (&r, loader, &chunks);
  get_runs (&r, recording);
  loader->n_memory = get_events (&r);
  get_counters (&r, loader);
  loader->n_chunks = (guint32) get (&r, 4);
  if (!r.failed && r.at != r.size)
    fail (&r, GANTRY_ERROR_INVALID, "more data than there should be");
  chunks += chunks_of (loader->n_memory) + chunks_of (loader->n_samples);
  if (!r.failed && (loader->n_memory > G_MAXUINT32 || chunks != loader->n_chunks))
    fail (&r, GANTRY_ERROR_INVALID, "the number of chunks is not that of its events");
  return !r.failed;
}

static gboolean
read_chunk_head (Reader *r, GantryChunkInfo *info)
{
  gsize bytes;

  if (!get_magic (r, CHUNK_MAGIC))
    return FALSE;
  if (get (r, 1) != VERSION)
    return fail (r, GANTRY_ERROR_UNSUPPORTED, "a version that this program does not know");
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
  bytes = info->n * row_bytes[info->content];
  if (r->size - r->at != bytes)
    return fail (r, r->size - r->at < bytes ? GANTRY_ERROR_TRUNCATED : GANTRY_ERROR_INVALID,
                 "%u rows do not take %" G_GSIZE_FORMAT " bytes", info->n, r->size - r->at);
  return TRUE;
}

/* The sizes have been checked: no column read can fail. */
#define READ_COLUMN(r, n, width, place, Type)                                                                \
  for (guint32 i = 0; i < (n); i++)                                                                          \
    (place) = (Type) get ((r), (width))

static gboolean
read_events (Reader *r, Lane *lane, guint32 place, guint32 n, guint n_strings)
{
  EventChunk *chunk = _gantry_event_chunk_new (n);
  gint64 last = place > 0 ? lane->chunks[place - 1]->begin[GANTRY_CHUNK_EVENTS - 1] : G_MININT64;

  lane->chunks[place] = chunk;
  lane->n_chunks = place + 1;
  READ_COLUMN (r, n, 8, chunk->begin[i], gint64);
  READ_COLUMN (r, n, 8, chunk->end[i], gint64);
  READ_COLUMN (r, n, 8, chunk->bytes[i], guint64);
  READ_COLUMN (r, n, 4, chunk->instruction[i], guint32);
  READ_COLUMN (r, n, 4, chunk->node[i], guint32);
  READ_COLUMN (r, n, 4, chunk->name[i], guint32);
  READ_COLUMN (r, n, 2, chunk->thread[i], guint16);
  READ_COLUMN (r, n, 1, chunk->kind[i], guint8);
  for (guint32 i = 0; i < n; i++)
    {
      if (chunk->begin[i] < last || chunk->end[i] < chunk->begin[i] || chunk->begin[i] <= -MOST_TIME
          || chunk->end[i] >= MOST_TIME)
        return fail (r, GANTRY_ERROR_INVALID, "event %u is out of order or ends before it begins", i);
      if (chunk->kind[i] >= GANTRY_N_EVENT_KINDS || chunk->name[i] > n_strings)
        return fail (r, GANTRY_ERROR_INVALID, "event %u has no known kind or name", i);
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
    return read_events (r, &loader->recording->lanes[lane], place, info.n, loader->recording->strings->len);
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
  for (guint32 place = 0; place < chunks_of (total); place++, ++*number)
    {
      g_autofree char *what = g_strdup_printf ("chunk %u", *number);
      Reader r = { .what = what, .error = error };

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
      recording->lanes[l].chunks = g_new0 (EventChunk *, chunks_of (recording->lanes[l].n) + 1);
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
