/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings as bytes, for the session file: a head and chunks. All numbers are little endian, and a string is its
 * length (u32) and its bytes, UTF-8. This is version 2; what version 1 lacked is marked so.
 *
 * head:  "GNTH", version u32 = 2, origin i64, device string,
 *        n u32, then n strings (ids from 1 on),
 *        n u32 lanes: name string ("" where it is that of the queue), events u64,
 *        n u32 runs: begin i64, end i64, peak u64,
 *        memory events u64, n u32 counters: name string, samples u64,
 *        since 2: n u32 launch details of 15 u32 each, as GantryLaunchDetail has them; n u32 notes: string;
 *        n u32 kinds of events: count u64, bytes u64, sum of lengths i64, longest i64 (without the lane of runs); for each
 *        lane, for each 1024 of its events: first begin i64, last end i64, sum of lengths i64, longest i64, which of them
 *        that is u16,
 *        chunks u32
 * chunk: "GNTC", version u8 = 2, content u8, lane u8, 0, number u32, n u32, begin i64, end i64 (the time range),
 *        then columns of n each:
 *        content 0, events: begin i64, end i64, bytes u64, instruction u32, node u32, name u32,
 *                           since 2: correlation u32, detail u32, thread u16, kind u8
 *        content 1, memory events: time i64, offset u64, bytes u64, buffer u32, node u32, memory u8, release u8
 *        content 2, counter samples: time i64, value f64, counter u32
 * The head of a chunk takes 32 bytes, so that its columns are aligned where it is.
 * Chunks are numbered lane by lane, then memory events, then counter samples; each kind is split at every
 * GANTRY_CHUNK_EVENTS. Events are sorted by begin, memory events by time, samples by counter and time.
 *
 * Here they are written; profiler/chunk-load.c reads them. */
#include "profiler/chunk-private.h"
#include <string.h>

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

guint32
gantry_recording_n_chunks (const GantryRecording *recording)
{
  guint64 n = _gantry_chunks_of (recording->memory->len) + _gantry_chunks_of (n_samples (recording));

  for (guint i = 0; i < recording->n_lanes; i++)
    n += recording->lanes[i].n_chunks;
  return (guint32) n;
}

static void
put_details (GByteArray *out, const GantryRecording *recording)
{
  const guint32 *words = (const guint32 *) (gpointer) recording->details->data;

  put (out, recording->details->len, 4);
  for (guint i = 0; i < recording->details->len * DETAIL_WORDS; i++)
    put (out, words[i], 4);
  put (out, recording->notes->len, 4);
  for (guint i = 0; i < recording->notes->len; i++)
    put_string (out, gantry_recording_note (recording, i));
}

/* What stands for the events until they are read. */
static void
put_summary (GByteArray *out, const GantryRecording *recording)
{
  put (out, GANTRY_N_EVENT_KINDS, 4);
  for (guint i = 0; i < GANTRY_N_EVENT_KINDS; i++)
    {
      put (out, recording->totals[i].count, 8);
      put (out, recording->totals[i].bytes, 8);
      put (out, (guint64) recording->totals[i].total_ns, 8);
      put (out, (guint64) recording->totals[i].longest_ns, 8);
    }
  for (guint l = 0; l < recording->n_lanes; l++)
    for (guint64 i = 0; recording->lanes[l].n > 0 && i < recording->lanes[l].levels[0].n; i++)
      {
        const IndexNode *node = &recording->lanes[l].levels[0].nodes[i];

        put (out, (guint64) node->first_begin, 8);
        put (out, (guint64) node->last_end, 8);
        put (out, (guint64) node->busy, 8);
        put (out, (guint64) node->longest_ns, 8);
        put (out, node->longest % SUMMARY_EVENTS, 2);
      }
}

GBytes *
gantry_recording_head (const GantryRecording *recording)
{
  GByteArray *out = g_byte_array_new ();

  g_byte_array_append (out, (const guint8 *) HEAD_MAGIC, 4);
  put (out, CHUNK_VERSION, 4);
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
  put_details (out, recording);
  put_summary (out, recording);
  put (out, gantry_recording_n_chunks (recording), 4);
  return g_byte_array_free_to_bytes (out);
}

/* A column: every element of @array, taken by an expression over i. */
#define COLUMN(out, n, width, expression) \
  for (guint32 i = 0; i < (n); i++) \
  put ((out), (guint64) (expression), (width))

/* A column that is there as it is written; NULL: of zeros. */
static void
put_column (GByteArray *out, gconstpointer column, guint32 n, guint width)
{
  guint at = out->len;

  g_byte_array_set_size (out, at + n * width);
  if (column != NULL)
    memcpy (out->data + at, column, (gsize) n * width);
  else
    memset (out->data + at, 0, (gsize) n * width);
  _gantry_column_swap (out->data + at, n, width);
}

static void
put_chunk_head (GByteArray *out, const GantryChunkInfo *info)
{
  g_byte_array_append (out, (const guint8 *) CHUNK_MAGIC, 4);
  put (out, CHUNK_VERSION, 1);
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
  GByteArray *out = g_byte_array_sized_new ((guint) (CHUNK_HEAD + info->n * _gantry_row_bytes (info->content, CHUNK_VERSION)));

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
  put_column (out, chunk->begin, chunk->n, 8);
  put_column (out, chunk->end, chunk->n, 8);
  put_column (out, chunk->bytes, chunk->n, 8);
  put_column (out, chunk->instruction, chunk->n, 4);
  put_column (out, chunk->node, chunk->n, 4);
  put_column (out, chunk->name, chunk->n, 4);
  put_column (out, chunk->correlation, chunk->n, 4);
  put_column (out, chunk->detail, chunk->n, 4);
  put_column (out, chunk->thread, chunk->n, 2);
  put_column (out, chunk->kind, chunk->n, 1);
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
  guint32 left = number, memory_chunks = (guint32) _gantry_chunks_of (recording->memory->len);
  GByteArray *out = NULL;

  g_return_val_if_fail (number < gantry_recording_n_chunks (recording), NULL);
  for (guint l = 0; l < recording->n_lanes && out == NULL; l++)
    {
      local.lane = (guint8) l;
      if (left < recording->lanes[l].n_chunks)
        out = events_chunk (lane_chunk (&recording->lanes[l], left), &local);
      else
        left -= recording->lanes[l].n_chunks;
    }
  if (out == NULL)
    {
      local.lane = 0;
      out = left < memory_chunks ? memory_chunk (recording, left * GANTRY_CHUNK_EVENTS, &local)
                                 : samples_chunk (recording, (guint64) (left - memory_chunks) * GANTRY_CHUNK_EVENTS, &local);
    }
  if (info != NULL)
    *info = local;
  return g_byte_array_free_to_bytes (out);
}
