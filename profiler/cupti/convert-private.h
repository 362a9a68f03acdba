/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the conversion share. */
#pragma once
#include "profiler/cupti/clock.h"
#include "profiler/cupti/convert.h"
#include "profiler/cupti/decode.h"

G_BEGIN_DECLS

typedef enum
{
  GROUP_STREAM, /* context, stream */
  GROUP_CALLS,  /* thread */
  GROUP_RANGES, /* thread, domain */
  GROUP_SYNC,
  GROUP_OVERHEAD,
  GROUP_MEMORY,
} GroupKind;

/** Events that come to lie in one lane. */
typedef struct
{
  guint32 kind, a, b; /* the key: GroupKind and what it says */
  guint32 device;
  guint64 votes[GANTRY_N_QUEUES]; /* of a stream: instructions of each queue that it did */
  GArray *events;                 /* GantryEvent, names of the builder */
  GByteArray *ordered;            /* of a stream: for each event whether it was asked for by itself, not as a node of a graph */
} Group;

/** What an open NVTX range began with. */
typedef struct
{
  gint64 begin;
  guint32 name, thread, domain;
  gboolean ended;
} OpenRange;

/** A change of what the driver gave out, for a counter. */
typedef struct
{
  gint64 time;
  gint64 bytes;    /* of memory: the change; of a pool: its size */
  gint64 used;     /* of a pool: in use */
  guint32 counter; /* memory kind, or POOL_COUNTER + device */
} MemoryChange;
#define POOL_COUNTER 0x100u

typedef struct
{
  const GantryCuptiCapture *capture;
  const GantryCuptiRun *runs;
  guint n_runs;
  GantryExecutable *executable;
  GantryRecordingBuilder *builder;
  const GantryCuptiBuffer *buffer; /* the one being walked */
  GantryCuptiClock clock;
  gboolean has_clock;
  gint64 origin, first, last;              /* CLOCK_MONOTONIC: time 0; of all records */
  GHashTable *externals;                   /* correlation id -> external id, both 32 bits */
  GHashTable *graph_nodes;                 /* guint64* graph node -> external id */
  GHashTable *call_names;                  /* cbid * 2 + is_driver -> string of the capture */
  GHashTable *ranges;                      /* marker id -> OpenRange* */
  GHashTable *groups;                      /* Group -> itself */
  GHashTable *threads;                     /* thread id -> 1, 2, ... */
  GHashTable *thread_names, *stream_names; /* id -> string of the builder's (char*, not owned) */
  GHashTable *domains;                     /* string of the builder -> its text */
  GHashTable *contexts;                    /* context id -> device + 1 */
  GArray *changes;                         /* MemoryChange */
  char *device;                            /* what the device's own record calls it */
  guint64 n_device_work, n_without_time, n_bad_time, n_unknown_mark, n_open_ranges, n_lost_ends, n_late_ends;
  GantryCuptiWalk walk;
} Converter;

/** Returns: FALSE when @theirs is no time */
gboolean _gantry_cupti_time (Converter *converter, guint64 theirs, gint64 *time);
/** The string of @address in the buffer being walked, as an id of the builder; 0: none. */
guint32 _gantry_cupti_name (Converter *converter, guint64 address);
Group *_gantry_cupti_group (Converter *converter, GroupKind kind, guint32 a, guint32 b);
/** A small number for a thread of the host. */
guint16 _gantry_cupti_thread (Converter *converter, guint32 thread);

/* convert-device.c: kernels, copies, sets; graph launches. */
void _gantry_cupti_convert_work (Converter *converter, const GantryCuptiRecord *record);
/** Takes the length of work whose end is later than that of work behind it in its stream; after all was converted. */
void _gantry_cupti_cut_ends (Converter *converter);
/* convert-host.c: calls, synchronization, markers, overhead, memory. */
void _gantry_cupti_note_range (Converter *converter, const GantryCuptiRecord *record);
void _gantry_cupti_convert_host (Converter *converter, const GantryCuptiRecord *record);
void _gantry_cupti_end_open_ranges (Converter *converter);
void _gantry_cupti_add_memory (Converter *converter);
/* convert-lanes.c */
void _gantry_cupti_place_groups (Converter *converter);

G_END_DECLS
