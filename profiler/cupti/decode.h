/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of an activity buffer to records in a form of our own: pure functions, nothing of CUPTI is needed,
 * every length is checked. What the bytes hold as addresses stays a number: names are looked up in the table that the
 * capture keeps beside the buffer. */
#pragma once
#include "profiler/cupti/layout.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_CUPTI_KERNEL,
  GANTRY_CUPTI_COPY, /* also between devices */
  GANTRY_CUPTI_SET,
  GANTRY_CUPTI_CALL, /* of the driver or the runtime */
  GANTRY_CUPTI_SYNC,
  GANTRY_CUPTI_EXTERNAL, /* an external id for a correlation id */
  GANTRY_CUPTI_MARKER,   /* NVTX: one end of a range, or an instant */
  GANTRY_CUPTI_OVERHEAD,
  GANTRY_CUPTI_MEMORY, /* an allocation or a release */
  GANTRY_CUPTI_POOL,
  GANTRY_CUPTI_GRAPH, /* a whole graph launch, where kernels are not told one by one */
  GANTRY_CUPTI_DEVICE,
  GANTRY_CUPTI_CONTEXT,
  GANTRY_CUPTI_STREAM,
  GANTRY_CUPTI_NAME, /* that a program gave to a thread, a context or a stream */
  GANTRY_CUPTI_N_RECORDS
} GantryCuptiRecordKind;

/** One record. Which members have a meaning depends on `kind`; the others are 0. */
typedef struct
{
  guint8 kind;      /* GantryCuptiRecordKind */
  guint32 activity; /* CUpti_ActivityKind */
  guint32 correlation;
  guint64 begin, end; /* as CUPTI gave them; of something without length both are its time */
  guint32 device, context, stream;
  guint32 process, thread;
  guint64 name, domain; /* addresses of strings; 0: none */
  guint64 bytes;        /* COPY, SET, MEMORY; the size of a POOL and of a DEVICE's memory */
  guint64 graph_node;   /* KERNEL, COPY, SET: of a graph launch */
  guint32 object;       /* MARKER, OVERHEAD, NAME: what it belongs to (CUPTI_OBJECT_*) */
  union
  {
    struct
    {
      guint32 grid[3], block[3], cluster[3];
      guint32 registers, static_shared, dynamic_shared, local_bytes;
    } kernel;
    struct
    {
      guint8 direction, from, to; /* CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind */
      guint32 from_device, to_device;
    } copy;
    struct
    {
      guint32 cbid, result;
      gboolean is_driver;
    } call;
    struct
    {
      guint32 type; /* CUpti_ActivitySynchronizationType */
      guint32 event;
    } sync;
    struct
    {
      guint32 kind;
      guint64 id;
    } external;
    struct
    {
      guint32 flags, id;
    } marker;
    struct
    {
      guint32 kind; /* CUpti_ActivityOverheadKind */
    } overhead;
    struct
    {
      guint32 operation, kind; /* 1: allocation, 2: release; CUpti_ActivityMemoryKind */
      guint64 address;
    } memory;
    struct
    {
      guint32 operation; /* 1: created, 2: destroyed, 3: trimmed */
      guint64 address, used;
    } pool;
    struct
    {
      guint32 major, minor, processors; /* compute capability; multiprocessors */
      guint64 kilobytes_per_second;     /* of its memory */
    } unit;
  };
} GantryCuptiRecord;

typedef void (*GantryCuptiRecordFunc) (const GantryCuptiRecord *record, gpointer user_data);

typedef enum
{
  GANTRY_CUPTI_STOP_END,          /* the whole buffer was read */
  GANTRY_CUPTI_STOP_INVALID,      /* a record that CUPTI had not finished */
  GANTRY_CUPTI_STOP_UNKNOWN_SIZE, /* of a kind or a version whose length is not known, and there is no index */
  GANTRY_CUPTI_STOP_TRUNCATED,    /* a record goes beyond the end */
  GANTRY_CUPTI_STOP_BAD_INDEX,    /* the index does not rise, or leads out of the buffer */
} GantryCuptiStop;

/** What a walk found. Walks may be added up: the counts then are sums. */
typedef struct
{
  guint64 n_records; /* given to the function */
  guint64 n_other;   /* of kinds that are not decoded */
  guint64 n_short;   /* shorter than their kind's first fields */
  GantryCuptiStop stop;
  gsize stop_at;     /* byte */
  guint32 stop_kind; /* CUpti_ActivityKind there */
} GantryCuptiWalk;

/**
 * gantry_cupti_walk:
 * @version: what cuptiGetVersion() said
 * @data: a buffer's valid bytes, not necessarily aligned
 * @index: (nullable): where the records begin, as the library's own walk found them; without it the lengths come from
 *  gantry_cupti_record_size()
 * @func: called for every record that is decoded, in the order of the buffer
 * @walk: (inout): counts are added, the rest is set
 */
void gantry_cupti_walk (guint32 version, const guint8 *data, gsize size, const guint32 *index, guint32 n_index, GantryCuptiRecordFunc func, gpointer user_data,
                        GantryCuptiWalk *walk);
/**
 * gantry_cupti_decode:
 * @data: one record of @size bytes
 *
 * Returns: FALSE when it is of another kind (@record's kind is GANTRY_CUPTI_N_RECORDS) or too short (it is not)
 */
gboolean gantry_cupti_decode (const guint8 *data, gsize size, GantryCuptiRecord *record);

G_END_DECLS
