/* SPDX-License-Identifier: Apache-2.0 */
/* How a recording lies in memory: lanes of chunks of columns, an index above each lane, and series for
 * what goes up and down. */
#pragma once
#include "profiler/recording.h"

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
  GBytes *data; /* what the columns lie in */
} EventChunk;

#define INDEX_FANOUT 32u

/** What is known of all events below a node of the index. */
typedef struct
{
  gint64 first_begin; /* begins rise, so this is that of its first event */
  gint64 last_end;    /* the largest */
  gint64 busy;        /* sum of lengths */
  gint64 longest_ns;
  guint64 longest;    /* index of the first event of that length */
} IndexNode;

typedef struct
{
  guint64 n;
  IndexNode *nodes;
} IndexLevel;

typedef struct
{
  char *name;
  guint64 n;
  guint32 n_chunks;
  EventChunk **chunks;
  guint n_levels;
  IndexLevel *levels; /* [0]: of INDEX_FANOUT events each; the last has one node */
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
  } *levels;
} Series;

typedef struct
{
  char *name;
  Series series;
} Counter;

struct _GantryRecording
{
  gatomicrefcount ref_count;
  gint64 origin;
  char *device;
  GPtrArray *strings; /* id - 1 */
  GArray *details;    /* GantryLaunchDetail */
  GPtrArray *notes;
  guint n_lanes;
  Lane *lanes;
  GArray *memory;     /* GantryMemoryEvent, by time */
  Series memory_series[GANTRY_N_MEMORY_KINDS];
  GArray *runs;       /* GantryRecordedRun */
  GArray *counters;   /* Counter */
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
  gint64 begin, end;  /* of everything */
};

/** Bytes of an event in a chunk of version 1 and 2. */
#define EVENT_BYTES_1 39u
#define EVENT_BYTES_2 47u

/** @n events, all 0, to be filled. */
EventChunk *_gantry_event_chunk_new (guint32 n);
/** The columns of @n events at byte @offset of @data, aligned to 8, which are kept. */
EventChunk *_gantry_event_chunk_over (GBytes *data, gsize offset, guint32 n, guint version);
void _gantry_event_chunk_free (EventChunk *chunk);

static inline const EventChunk *
lane_chunk (const Lane *lane, guint64 index, guint32 *within)
{
  *within = (guint32) (index % GANTRY_CHUNK_EVENTS);
  return lane->chunks[index / GANTRY_CHUNK_EVENTS];
}

static inline gint64
lane_begin (const Lane *lane, guint64 index)
{
  return lane->chunks[index / GANTRY_CHUNK_EVENTS]->begin[index % GANTRY_CHUNK_EVENTS];
}

static inline gint64
lane_end (const Lane *lane, guint64 index)
{
  return lane->chunks[index / GANTRY_CHUNK_EVENTS]->end[index % GANTRY_CHUNK_EVENTS];
}

/** A recording with nothing in it but @n_lanes empty lanes. */
GantryRecording *_gantry_recording_new (guint n_lanes);
/** Computes all that follows from events, memory events and runs. The recording is then complete. */
void _gantry_recording_seal (GantryRecording *recording);

/* lane.c */
void _gantry_lane_index (Lane *lane);

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

/** Times a recording may hold: far enough from the limits of 64 bits that differences never overflow. */
#define MOST_TIME ((gint64) 1 << 61)
