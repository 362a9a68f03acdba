/* SPDX-License-Identifier: Apache-2.0 */
/* GantryRecording: the one model of what was measured (or planned), whoever made it. Events lie in
 * lanes, sorted by begin, in chunks of columns; above them stands a tree of sums and largest ends, so
 * that long spans are found, folding costs the pixels drawn, and totals are exact.
 *
 * Times are nanoseconds from the recording's origin. A recording is immutable and may be read from
 * any thread. The layout of a serialised chunk is described in profiler/chunk.c. */
#pragma once
#include "core/plan/executable.h"

G_BEGIN_DECLS

/** The order is part of the session file format: append only. */
typedef enum
{
  GANTRY_EVENT_KERNEL,
  GANTRY_EVENT_COPY,
  GANTRY_EVENT_FILL,
  GANTRY_EVENT_WAIT, /* a queue stood still for another one */
  GANTRY_EVENT_HOST_CALL,
  GANTRY_EVENT_RUN,      /* a whole run, in the lane "runs" */
  GANTRY_EVENT_MARK,     /* anything else that has a name */
  GANTRY_EVENT_SYNC,     /* the host waited for the device */
  GANTRY_EVENT_CALL,     /* of the driver or a runtime library, on a thread of the host */
  GANTRY_EVENT_OVERHEAD, /* of measuring, or of the driver (compiling, loading, flushing) */
  GANTRY_EVENT_RANGE,    /* that a program named: NVTX, a record function; ranges nest */
  GANTRY_EVENT_CONVERT,  /* of a residual to fewer bits, or back */
  GANTRY_N_EVENT_KINDS
} GantryEventKind;

/** "kernel", "host call": as exports call it. */
const char *gantry_event_kind_name (GantryEventKind kind);

/** Lanes 0 .. GANTRY_N_QUEUES - 1 are the queues; then come the runs and what an import brings. */
#define GANTRY_LANE_NAME_CONTROL "control" /* what ran of branches and loops, and below that what ran in it; deeper ones "control, 2" */
#define GANTRY_LANE_RUNS GANTRY_N_QUEUES
#define GANTRY_MAX_LANES 256u
#define GANTRY_CHUNK_EVENTS 65536u
#define GANTRY_NO_INSTRUCTION G_MAXUINT32

typedef struct
{
  gint64 begin, end;   /* ns, end >= begin */
  guint64 bytes;       /* moved by a copy or fill, read and written by a kernel; 0 unknown */
  guint32 instruction; /* of the executable, or GANTRY_NO_INSTRUCTION; of a run: its number */
  guint32 node;        /* node id or 0 */
  guint32 name;        /* string of the recording */
  guint16 thread;
  guint8 kind; /* GantryEventKind */
  guint8 lane;
  guint32 correlation; /* equal in a call and in what it started; 0: none */
  guint32 detail;      /* 1 + index of a GantryLaunchDetail; 0: none */
} GantryEvent;

/** How a kernel was launched; equal ones are kept once. Zero where it is not known. */
typedef struct
{
  guint32 grid[3], block[3], cluster[3];
  guint32 registers;                     /* per thread */
  guint32 static_shared, dynamic_shared; /* bytes per block */
  guint32 local_bytes;                   /* per thread: spills and stack */
  guint32 device, stream;
} GantryLaunchDetail;

typedef struct
{
  gint64 time;
  guint64 offset, bytes; /* bytes of the place, of an allocation and of its release; of what was measured the change of the sum */
  guint32 buffer;        /* of the plan; GANTRY_NO_BUFFER for what was measured */
  guint32 node;          /* whose value it is, or whose work began then */
  guint8 memory;         /* GantryMemoryKind */
  guint8 release;        /* 0: allocated */
} GantryMemoryEvent;

typedef struct
{
  gint64 begin, end;
  guint64 peak_bytes; /* most that the device held, all parts of its memory: as measured, or of a plan as planned; 0: not known */
} GantryRecordedRun;

typedef struct _GantryRecording GantryRecording;
typedef struct _GantryRecordingBuilder GantryRecordingBuilder;

GantryRecording *gantry_recording_ref (GantryRecording *recording);
void gantry_recording_unref (GantryRecording *recording);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryRecording, gantry_recording_unref)

/* Making one. Events may come in any order. */
/** Returns: (transfer full): with nothing recorded, whose time 0 is not known yet */
GantryRecordingBuilder *gantry_recording_builder_new (void);
void gantry_recording_builder_free (GantryRecordingBuilder *builder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryRecordingBuilder, gantry_recording_builder_free)
/** Absolute CLOCK_MONOTONIC of time 0, kept as a note. */
void gantry_recording_builder_set_origin (GantryRecordingBuilder *builder, gint64 origin_ns);
/** When the clock of the origin was 0: ns since 1970, UTC. */
void gantry_recording_builder_set_epoch (GantryRecordingBuilder *builder, gint64 epoch_ns);
/** What was measured and by whom ("cpu, 2 threads"). */
void gantry_recording_builder_set_device (GantryRecordingBuilder *builder, const char *device);
/** Returns: what GantryEvent.name takes, equal for equal texts; 0 for NULL and "" */
guint32 gantry_recording_builder_string (GantryRecordingBuilder *builder, const char *text);
/** Names lane @lane (others are named after their queue). Where calls or ranges of a lane beyond the runs' overlap, they
 *  nest: gantry_recording_builder_end() gives each depth a lane of its own below it ("NAME, 2"), so numbers of the lanes
 *  after it are higher in the recording than here. */
void gantry_recording_builder_set_lane_name (GantryRecordingBuilder *builder, guint lane, const char *name);
/** @event: copied; its end not before its begin, both within 2^61 ns of time 0, name and detail of @builder */
void gantry_recording_builder_add (GantryRecordingBuilder *builder, const GantryEvent *event);
/** @event: copied. */
void gantry_recording_builder_add_memory (GantryRecordingBuilder *builder, const GantryMemoryEvent *event);
/** @run: copied; numbered in the order in which they are added. */
void gantry_recording_builder_add_run (GantryRecordingBuilder *builder, const GantryRecordedRun *run);
/** @name: equal names are one counter; @time: ns from the origin; @value: in the unit that @name says */
void gantry_recording_builder_add_counter (GantryRecordingBuilder *builder, const char *name, gint64 time, double value);
/** Returns: what GantryEvent.detail takes; equal details share one. */
guint32 gantry_recording_builder_detail (GantryRecordingBuilder *builder, const GantryLaunchDetail *detail);
/** A sentence that who reads the recording must know: dropped records, missing privileges, clocks that do not agree. */
void gantry_recording_builder_add_note (GantryRecordingBuilder *builder, const char *note);
/** Sorts, indexes and frees @builder. Returns: (transfer full) */
GantryRecording *gantry_recording_builder_end (GantryRecordingBuilder *builder);

/** A recording of what @plan predicts, for drawing beside a measured one; init steps are left out. (transfer full) */
GantryRecording *gantry_recording_from_plan (const GantryModule *module, const GantryPlan *plan);

/* Reading. */
typedef struct
{
  guint64 count;
  guint64 bytes;
  gint64 total_ns;
  gint64 longest_ns;
} GantryEventTotals;

/** Returns: CLOCK_MONOTONIC of time 0, in ns; 0 where that is not known */
gint64 gantry_recording_origin (const GantryRecording *recording);
/**
 * gantry_recording_when:
 *
 * By the epoch of its clock, or by its origin where that can only be a time since 1970: no processor runs for decades. Not kept by
 * gantry_recording_head().
 *
 * Returns: when time 0 of it was, in ns since 1970, UTC; 0: it does not say
 */
gint64 gantry_recording_when (const GantryRecording *recording);
/** Returns: (transfer none): what was measured and by whom ("cpu, 2 threads"); "" where it does not say */
const char *gantry_recording_device (const GantryRecording *recording);
const char *gantry_recording_string (const GantryRecording *recording, guint32 id); /* "" when there is none */
/** Returns: how many ways of launching a kernel it has; a detail is 1 to this */
guint gantry_recording_n_details (const GantryRecording *recording);
/** Returns: (nullable): the detail of an event's `detail`, NULL for 0 */
const GantryLaunchDetail *gantry_recording_detail (const GantryRecording *recording, guint32 detail);
/** Returns: how many sentences a reader must know */
guint gantry_recording_n_notes (const GantryRecording *recording);
/** @index: below gantry_recording_n_notes(). Returns: (transfer none) */
const char *gantry_recording_note (const GantryRecording *recording, guint index);
/** Returns: how many lanes it has, those that are empty too */
guint gantry_recording_n_lanes (const GantryRecording *recording);
/** @lane: below gantry_recording_n_lanes(). Returns: (transfer none): its own name, or that of its queue */
const char *gantry_recording_lane_name (const GantryRecording *recording, guint lane);
/** Whether @lane has trips, arms, or what ran within them: no queue, but the program's own work, seen from nearer. */
gboolean gantry_recording_lane_is_control (const GantryRecording *recording, guint lane);
/** Returns: how many events lie in @lane; 0 where there is no such lane */
guint64 gantry_recording_n_events (const GantryRecording *recording, guint lane);
/** @index: in the order of begin in that lane */
void gantry_recording_get (const GantryRecording *recording, guint lane, guint64 index, GantryEvent *event);
/** Returns: how many allocations, releases and measured changes there are */
guint64 gantry_recording_n_memory_events (const GantryRecording *recording);
/** @index: below gantry_recording_n_memory_events(), in the order of time; @event: (out caller-allocates) */
void gantry_recording_get_memory (const GantryRecording *recording, guint64 index, GantryMemoryEvent *event);
/** Returns: how many whole runs it holds */
guint gantry_recording_n_runs (const GantryRecording *recording);
/** @index: below gantry_recording_n_runs(). Returns: (transfer none) */
const GantryRecordedRun *gantry_recording_run (const GantryRecording *recording, guint index);
/** First begin and last end of all that is recorded. */
void gantry_recording_range (const GantryRecording *recording, gint64 *begin, gint64 *end);
/** Exact totals of all lanes but the runs', by kind: @totals has GANTRY_N_EVENT_KINDS. */
void gantry_recording_totals (const GantryRecording *recording, GantryEventTotals *totals);
/** The largest peak_bytes of its runs. */
guint64 gantry_recording_peak_bytes (const GantryRecording *recording);

typedef struct
{
  guint32 node;
  guint32 name;
  guint64 count;
  guint64 bytes;
  gint64 total_ns, shortest_ns, longest_ns;
} GantryNodeTotals;
/** Kernels, copies and fills by node, the one with the largest total first. (transfer full) (element-type GantryNodeTotals) */
GArray *gantry_recording_by_node (const GantryRecording *recording);
/**
 * gantry_recording_measured_us:
 *
 * What GantryPlanOptions.measured_us takes: by node id, how long the compute queue was taken by it, in microseconds: the
 * median over all times that it ran (recomputations are runs of it too), the short pause before it included. Events of
 * one instruction that follow each other in a run, as those of a kernel of several launches, are one time.
 * Copies on the copy queues do not count: see gantry_recording_link_bandwidth() in profiler/overlap.h.
 *
 * Returns: (transfer full) (element-type guint double*)
 */
GHashTable *gantry_recording_measured_us (const GantryRecording *recording);

/* What views ask. */
/**
 * GantryEventFunc: Returns: FALSE to stop.
 */
typedef gboolean (*GantryEventFunc) (guint64 index, gpointer user_data);
/** Calls @func for every event of @lane that overlaps [@t0, @t1), also such as began long before; an event without
 *  length counts when it lies inside. In the order of begin; costs the events found, times a logarithm. */
void gantry_recording_overlapping (const GantryRecording *recording, guint lane, gint64 t0, gint64 t1, GantryEventFunc func, gpointer user_data);
/** The event of @lane at @time that began last. Returns: FALSE when there is none */
gboolean gantry_recording_at (const GantryRecording *recording, guint lane, gint64 time, guint64 *index);

typedef struct
{
  gint64 busy_ns;     /* sum of the parts of events that lie in this pixel */
  guint64 longest;    /* index of the event with the largest part; only where n_touching > 0 */
  guint32 count;      /* events that begin here; in the first pixel also those that began before */
  guint32 n_touching; /* events of which a part lies here */
} GantryFoldPixel;
/** Folds the events of @lane that overlap [@t0, @t1) into @n_pixels; the counts sum to the number of those events. */
void gantry_recording_fold (const GantryRecording *recording, guint lane, gint64 t0, gint64 t1, guint n_pixels, GantryFoldPixel *out);

typedef struct
{
  double min, max; /* of the curve within the pixel */
} GantryCurvePixel;
/** Bytes of @memory alive over time; 0 before the first event. */
void gantry_recording_memory_curve (const GantryRecording *recording, GantryMemoryKind memory, gint64 t0, gint64 t1, guint n_pixels, GantryCurvePixel *out);
/** Bytes of @memory alive at @time (after all that happened then). */
guint64 gantry_recording_memory_at (const GantryRecording *recording, GantryMemoryKind memory, gint64 time);
/** Returns: how many counters were sampled */
guint gantry_recording_n_counters (const GantryRecording *recording);
/** @counter: below gantry_recording_n_counters(). Returns: (transfer none): with its unit */
const char *gantry_recording_counter_name (const GantryRecording *recording, guint counter);

/**
 * gantry_recording_counter_curve:
 * @counter: below gantry_recording_n_counters()
 * @t0: @t1: the time in ns that @n_pixels show, @t0 first
 * @out: (out) (array length=n_pixels): least and largest value of each; a sample holds until the next
 */
void gantry_recording_counter_curve (const GantryRecording *recording, guint counter, gint64 t0, gint64 t1, guint n_pixels, GantryCurvePixel *out);

/* For the session file: a recording is a head (strings, lanes, runs, counters' names) and chunks. */
typedef struct
{
  guint32 number; /* 0 .. n - 1 */
  guint8 content; /* 0 events, 1 memory events, 2 counter samples */
  guint8 lane;    /* of events */
  guint32 n;
  gint64 begin, end; /* time range covered */
} GantryChunkInfo;

/** Returns: (transfer full): all but the events, with what a picture of the whole needs; layout in profiler/chunk.c */
GBytes *gantry_recording_head (const GantryRecording *recording);
/** Returns: how many chunks gantry_recording_chunk() gives */
guint32 gantry_recording_n_chunks (const GantryRecording *recording);
/** Returns: (transfer full): the blob of chunk @number; @info: (out) (optional): what a table keeps beside it */
GBytes *gantry_recording_chunk (const GantryRecording *recording, guint32 number, GantryChunkInfo *info);
/**
 * gantry_recording_load:
 * @head: what gantry_recording_head() gave
 * @chunks: all chunks, in any order
 *
 * Returns: (transfer full) (nullable): %GANTRY_ERROR_TRUNCATED, %GANTRY_ERROR_INVALID or %GANTRY_ERROR_TOO_LARGE say
 *  which chunk is wrong and at which byte
 */
GantryRecording *gantry_recording_load (GBytes *head, GBytes *const *chunks, guint32 n_chunks, GError **error);

/** Reads chunk @number. Called for one chunk at a time, by any thread. Returns: (transfer full) (nullable) */
typedef GBytes *(*GantryChunkReader) (guint32 number, gpointer user_data, GError **error);
/**
 * gantry_recording_open:
 * @head: what gantry_recording_head() gave
 * @read: reads chunks as they are needed
 * @destroy: (nullable): of @user_data, when all is read or the recording is dropped; @user_data is taken in any case
 *
 * As gantry_recording_load(), but events are read when they are first asked for: what the head keeps of them is enough
 * for a picture of the whole. Until then gantry_recording_fold() may spread up to 1024 neighbouring events evenly over a
 * few pixels; it begins to read all of them on a thread of its own then. Memory events and samples are read at once.
 * A recording of version 1 is read whole.
 *
 * Returns: (transfer full) (nullable): as gantry_recording_load()
 */
GantryRecording *gantry_recording_open (GBytes *head, GantryChunkReader read, gpointer user_data, GDestroyNotify destroy, GError **error);
/**
 * gantry_recording_load_all:
 *
 * Reads all that was not read yet: before an export, and to know whether it can be read. In place of events that could
 * not be read there are as many without length or name.
 *
 * Returns: FALSE with the first @error that there was, now or before
 */
gboolean gantry_recording_load_all (const GantryRecording *recording, GCancellable *cancellable, GError **error);

/** Writes the trace event format of Chrome and Perfetto, as a stream. */
gboolean gantry_recording_write_chrome (const GantryRecording *recording, GOutputStream *stream, GCancellable *cancellable, GError **error);

typedef enum
{
  GANTRY_CSV_EVENTS,
  GANTRY_CSV_MEMORY,   /* memory events */
  GANTRY_CSV_COUNTERS, /* samples */
} GantryCsvTable;

/** Writes a table with a line for each event, as a stream; columns as docs/recordings.md tells. */
gboolean gantry_recording_write_csv (const GantryRecording *recording, GantryCsvTable table, GOutputStream *stream, GCancellable *cancellable, GError **error);

G_END_DECLS
