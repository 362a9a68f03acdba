/* SPDX-License-Identifier: Apache-2.0 */
/* How a recording lies in memory: lanes of chunks of columns, an index above each lane, and series for
 * what goes up and down. */
#pragma once
#include "profiler/recording.h"

#define INDEX_FANOUT 32u
/** Events of a node of the index's level 1, the lowest that is kept in the head: a chunk has 64 of them. */
#define SUMMARY_EVENTS (INDEX_FANOUT * INDEX_FANOUT)

/** What is known of all events below a node of the index. */
typedef struct
{
  gint64 first_begin; /* begins rise, so this is that of its first event */
  gint64 last_end;    /* the largest */
  gint64 busy;        /* sum of lengths */
  gint64 longest_ns;
  guint64 longest; /* index of the first event of that length */
} IndexNode;

typedef struct
{
  guint64 n;
  IndexNode *nodes;
} IndexLevel;

/** The columns of up to GANTRY_CHUNK_EVENTS events; all of a lane but the last are full. They lie as in the chunk's
 *  serialised form, so one that was read is used where it lies: whoever is no builder does not write into them. */
typedef struct
{
  guint32 n;
  gint64 *begin, *end;
  guint64 *bytes;
  guint32 *instruction, *node, *name;
  guint32 *correlation, *detail; /* NULL: all 0 (a chunk of version 1) */
  guint16 *thread;
  guint8 *kind;
  GBytes *data;     /* what the columns lie in */
  IndexNode *index; /* level 0: one for each INDEX_FANOUT events */
} EventChunk;

typedef struct _Source Source;

/** Level 0 of the index lies in the chunks; levels[0] is level 1, and the last one has one node. */
typedef struct
{
  char *name;
  guint64 n;
  guint32 n_chunks;
  guint32 first_number; /* of its chunks among all */
  EventChunk **chunks;  /* NULL: not read yet; set once, by _gantry_source_fetch() */
  guint n_levels;
  IndexLevel *levels;
  Source *source; /* (nullable) (unowned): where chunks that are not there come from */
} Lane;

/** A curve that keeps its value until the next point; 0 before the first. */
typedef struct
{
  guint64 n;
  gint64 *time; /* rising, equal ones in the order in which they happened */
  double *value;
  guint n_levels;
  struct
  {
    guint64 n;
    GantryCurvePixel *range;
  } * levels;
} Series;

typedef struct
{
  char *name;
  Series series;
} Counter;

struct _GantryRecording
{
  gatomicrefcount ref_count;
  gint64 origin, epoch; /* @epoch: of its clock, ns since 1970; 0: not known */
  char *device;
  GPtrArray *strings; /* id - 1 */
  GArray *details;    /* GantryLaunchDetail */
  GPtrArray *notes;
  guint n_lanes;
  Lane *lanes;
  GArray *memory; /* GantryMemoryEvent, by time */
  Series memory_series[GANTRY_N_MEMORY_KINDS];
  GArray *runs;     /* GantryRecordedRun */
  GArray *counters; /* Counter */
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
  gint64 begin, end; /* of everything */
  Source *source;    /* (nullable): chunks are read when they are asked for */
};

/** Bytes of an event in a chunk of version 1 and 2. */
#define EVENT_BYTES_1 39u
#define EVENT_BYTES_2 47u

/** @n events, all 0, to be filled. */
EventChunk *_gantry_event_chunk_new (guint32 n);
/** The columns of @n events at byte @offset of @data, aligned to 8, which are kept. */
EventChunk *_gantry_event_chunk_over (GBytes *data, gsize offset, guint32 n, guint version);
void _gantry_event_chunk_free (EventChunk *chunk);

/* source.c */

/** Chunks of a recording that are read when they are first needed, by any thread. */
Source *_gantry_source_new (GantryRecording *recording, GantryChunkReader read, gpointer user_data, GDestroyNotify destroy);
void _gantry_source_free (Source *source);
/** Reads a chunk that is not there. Where that fails one takes its place whose events have no length: see
 *  gantry_recording_load_all(). */
const EventChunk *_gantry_source_fetch (const Lane *lane, guint32 chunk);
/** Begins to read all chunks on a thread of its own, the first time that it is called. */
void _gantry_source_hurry (Source *source);

/** A chunk that is there. */
static inline const EventChunk *
lane_resident (const Lane *lane, guint32 chunk)
{
  return g_atomic_pointer_get (&lane->chunks[chunk]);
}

static inline const EventChunk *
lane_chunk (const Lane *lane, guint32 chunk)
{
  const EventChunk *resident = lane_resident (lane, chunk);

  return G_LIKELY (resident != NULL) ? resident : _gantry_source_fetch (lane, chunk);
}

static inline gint64
lane_begin (const Lane *lane, guint64 index)
{
  return lane_chunk (lane, (guint32) (index / GANTRY_CHUNK_EVENTS))->begin[index % GANTRY_CHUNK_EVENTS];
}

static inline gint64
lane_end (const Lane *lane, guint64 index)
{
  return lane_chunk (lane, (guint32) (index / GANTRY_CHUNK_EVENTS))->end[index % GANTRY_CHUNK_EVENTS];
}

/** A recording with nothing in it but @n_lanes empty lanes. */
GantryRecording *_gantry_recording_new (guint n_lanes);
/** Computes all that follows from lanes with an index, memory events and runs. The recording is then complete. */
void _gantry_recording_seal (GantryRecording *recording);
/** Adds the events of a chunk. */
void _gantry_event_chunk_sum (const EventChunk *chunk, GantryEventTotals *totals);

/* chunk-load.c */

/** Decodes chunk @place of lane @l and makes its index; @summarised: which has to agree with level 1 of the lane's. */
EventChunk *_gantry_chunk_decode (const GantryRecording *recording, guint l, guint32 place, GBytes *bytes, gboolean summarised, GError **error);

/* lane.c */
/** Makes the index of a lane whose chunks are all there. */
void _gantry_lane_index (Lane *lane);
/** Room for level 1; and, once that is filled, the levels above it. */
void _gantry_lane_index_begin (Lane *lane);
void _gantry_lane_index_end (Lane *lane);
/** Makes level 0 of @chunk, which is number @place of its lane. @above: (out): its nodes of level 1
 *  Returns: how many these are */
guint _gantry_chunk_index (EventChunk *chunk, guint32 place, IndexNode *above);
#define SUMMARIES_OF_CHUNK (GANTRY_CHUNK_EVENTS / SUMMARY_EVENTS)

/* builder.c: for imports, which learn what lanes are and when time began as they go. */

const char *_gantry_recording_builder_text (const GantryRecordingBuilder *builder, guint32 string);
/** Lane order[i] becomes the i-th after the runs' lane. @order has all @n lanes beyond it, once each. */
void _gantry_recording_builder_order_lanes (GantryRecordingBuilder *builder, const guint8 *order, guint n);
/** First and last time of events, memory events and samples. FALSE: there are none. */
gboolean _gantry_recording_builder_range (const GantryRecordingBuilder *builder, gint64 *first, gint64 *last);
/** Moves all times; they have to stay such as a recording may have. */
void _gantry_recording_builder_shift (GantryRecordingBuilder *builder, gint64 by);

/* nest.c */
/** Of events sorted by begin (the longer first): the row of each when those that overlap come to lie in rows of their own:
 *  what encloses above what it encloses. At most @most rows; what would lie deeper is in the last.
 *  @rows: (out): by event. Returns: how many rows there are */
guint _gantry_nest (const GantryEvent *events, guint n, guint most, guint8 *rows);

/* series.c */
void _gantry_series_index (Series *series);
void _gantry_series_clear (Series *series);
double _gantry_series_at (const Series *series, gint64 time);
void _gantry_series_fold (const Series *series, gint64 t0, gint64 t1, guint n_pixels, GantryCurvePixel *out);

/** The pixel of @time, which lies in [t0, t1); and the first time that is in pixel @pixel or beyond. */
static inline guint
pixel_of (gint64 t0, gint64 t1, guint n_pixels, gint64 time)
{
  return (guint) ((__int128) (time - t0) * n_pixels / (t1 - t0));
}

static inline gint64
pixel_edge (gint64 t0, gint64 t1, guint n_pixels, guint pixel)
{
  return t0 + (gint64) (((__int128) pixel * (t1 - t0) + n_pixels - 1) / n_pixels);
}

/** The sum of two lengths of time. Absurd ones are no reason for an undefined sum. */
static inline gint64
add_ns (gint64 a, gint64 b)
{
  gint64 sum;

  return __builtin_add_overflow (a, b, &sum) ? G_MAXINT64 : sum;
}

/** Times a recording may hold: far enough from the limits of 64 bits that differences never overflow. */
#define MOST_TIME ((gint64) 1 << 61)
