/* SPDX-License-Identifier: Apache-2.0 */
/* Reading activity records field by field, and walking from one to the next. */
#include "profiler/cupti/decode.h"
#include <string.h>

static guint32
get32 (const guint8 *record, guint at)
{
  guint32 value;

  memcpy (&value, record + at, 4);
  return GUINT32_FROM_LE (value);
}

static guint32
get16 (const guint8 *record, guint at)
{
  guint16 value;

  memcpy (&value, record + at, 2);
  return GUINT16_FROM_LE (value);
}

static guint64
get64 (const guint8 *record, guint at)
{
  guint64 value;

  memcpy (&value, record + at, 8);
  return GUINT64_FROM_LE (value);
}

static guint64
get64_if (const guint8 *record, gsize size, guint at)
{
  return size >= at + 8 ? get64 (record, at) : 0;
}

static void
get_span (const guint8 *data, guint start, guint end, GantryCuptiRecord *record)
{
  record->begin = get64 (data, start);
  record->end = get64 (data, end);
}

static void
get_place (const guint8 *data, guint device, GantryCuptiRecord *record)
{
  /* Device, context and stream stand side by side in every kind that has them. */
  record->device = get32 (data, device);
  record->context = get32 (data, device + 4);
  record->stream = get32 (data, device + 8);
}

/* CUpti_ActivityObjectKindId: process and thread, or device, context and stream. */
static void
get_object (const guint8 *data, guint object, guint id, GantryCuptiRecord *record)
{
  record->object = get32 (data, object);
  if (record->object == CUPTI_OBJECT_PROCESS || record->object == CUPTI_OBJECT_THREAD)
    {
      record->process = get32 (data, id);
      record->thread = record->object == CUPTI_OBJECT_THREAD ? get32 (data, id + 4) : 0;
    }
  else
    get_place (data, id, record);
}

static void
decode_kernel (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  record->kind = GANTRY_CUPTI_KERNEL;
  get_span (data, KERNEL_START, KERNEL_END, record);
  get_place (data, KERNEL_DEVICE, record);
  record->correlation = get32 (data, KERNEL_CORRELATION);
  record->name = get64 (data, KERNEL_NAME);
  record->graph_node = get64_if (data, size, KERNEL_GRAPH_NODE);
  for (guint i = 0; i < 3; i++)
    {
      record->kernel.grid[i] = get32 (data, KERNEL_GRID + 4 * i);
      record->kernel.block[i] = get32 (data, KERNEL_BLOCK + 4 * i);
      record->kernel.cluster[i] = size >= KERNEL_CLUSTER + 12 ? get32 (data, KERNEL_CLUSTER + 4 * i) : 0;
    }
  record->kernel.registers = get16 (data, KERNEL_REGISTERS);
  record->kernel.static_shared = get32 (data, KERNEL_STATIC_SHARED);
  record->kernel.dynamic_shared = get32 (data, KERNEL_DYNAMIC_SHARED);
  record->kernel.local_bytes = get32 (data, KERNEL_LOCAL_PER_THREAD);
}

static void
decode_copy (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  gboolean peer = record->activity == CUPTI_KIND_MEMCPY2;

  record->kind = GANTRY_CUPTI_COPY;
  get_span (data, MEMCPY_START, MEMCPY_END, record);
  get_place (data, MEMCPY_DEVICE, record);
  record->bytes = get64 (data, MEMCPY_BYTES);
  record->correlation = get32 (data, peer ? MEMCPY2_CORRELATION : MEMCPY_CORRELATION);
  record->graph_node = get64_if (data, size, peer ? MEMCPY2_GRAPH_NODE : MEMCPY_GRAPH_NODE);
  record->copy.direction = data[MEMCPY_COPY_KIND];
  record->copy.from = data[MEMCPY_FROM];
  record->copy.to = data[MEMCPY_TO];
  record->copy.from_device = peer ? get32 (data, MEMCPY2_FROM_DEVICE) : record->device;
  record->copy.to_device = peer ? get32 (data, MEMCPY2_TO_DEVICE) : record->device;
}

static void
decode_set (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  record->kind = GANTRY_CUPTI_SET;
  get_span (data, MEMSET_START, MEMSET_END, record);
  get_place (data, MEMSET_DEVICE, record);
  record->bytes = get64 (data, MEMSET_BYTES);
  record->correlation = get32 (data, MEMSET_CORRELATION);
  record->graph_node = get64_if (data, size, MEMSET_GRAPH_NODE);
}

static void
decode_call (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  record->kind = GANTRY_CUPTI_CALL;
  get_span (data, API_START, API_END, record);
  record->process = get32 (data, API_PROCESS);
  record->thread = get32 (data, API_THREAD);
  record->correlation = get32 (data, API_CORRELATION);
  record->call.cbid = get32 (data, API_CBID);
  record->call.result = get32 (data, API_RESULT);
  record->call.is_driver = record->activity == CUPTI_KIND_DRIVER;
}

static void
decode_sync (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  record->kind = GANTRY_CUPTI_SYNC;
  get_span (data, SYNC_START, SYNC_END, record);
  record->correlation = get32 (data, SYNC_CORRELATION);
  record->context = get32 (data, SYNC_CONTEXT);
  record->stream = get32 (data, SYNC_STREAM);
  record->sync.type = get32 (data, SYNC_TYPE);
  record->sync.event = get32 (data, SYNC_EVENT);
}

static void
decode_external (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  record->kind = GANTRY_CUPTI_EXTERNAL;
  record->correlation = get32 (data, EXTERNAL_CORRELATION);
  record->external.kind = get32 (data, EXTERNAL_KIND);
  record->external.id = get64 (data, EXTERNAL_ID);
}

static void
decode_marker (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  record->kind = GANTRY_CUPTI_MARKER;
  get_span (data, MARKER_TIME, MARKER_TIME, record);
  get_object (data, MARKER_OBJECT, MARKER_OBJECT_ID, record);
  record->name = get64 (data, MARKER_NAME);
  record->domain = get64_if (data, size, MARKER_DOMAIN);
  record->marker.flags = get32 (data, MARKER_FLAGS);
  record->marker.id = get32 (data, MARKER_ID);
}

static void
decode_overhead (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  record->kind = GANTRY_CUPTI_OVERHEAD;
  get_span (data, OVERHEAD_START, OVERHEAD_END, record);
  get_object (data, OVERHEAD_OBJECT, OVERHEAD_OBJECT_ID, record);
  record->correlation = size >= OVERHEAD_CORRELATION + 4 ? get32 (data, OVERHEAD_CORRELATION) : 0;
  record->overhead.kind = get32 (data, OVERHEAD_KIND);
}

static void
decode_memory (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  record->kind = GANTRY_CUPTI_MEMORY;
  get_span (data, MEMORY2_TIME, MEMORY2_TIME, record);
  get_place (data, MEMORY2_DEVICE, record);
  record->process = get32 (data, MEMORY2_PROCESS);
  record->correlation = get32 (data, MEMORY2_CORRELATION);
  record->bytes = get64 (data, MEMORY2_BYTES);
  record->name = get64 (data, MEMORY2_NAME);
  record->memory.operation = get32 (data, MEMORY2_OPERATION);
  record->memory.kind = get32 (data, MEMORY2_KIND);
  record->memory.address = get64 (data, MEMORY2_ADDRESS);
}

static void
decode_pool (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  record->kind = GANTRY_CUPTI_POOL;
  get_span (data, POOL_TIME, POOL_TIME, record);
  record->process = get32 (data, POOL_PROCESS);
  record->device = get32 (data, POOL_DEVICE);
  record->correlation = get32 (data, POOL_CORRELATION);
  record->bytes = get64 (data, POOL_SIZE);
  record->pool.operation = get32 (data, POOL_OPERATION);
  record->pool.address = get64 (data, POOL_ADDRESS);
  record->pool.used = get64_if (data, size, POOL_USED);
}

static void
decode_graph (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  record->kind = GANTRY_CUPTI_GRAPH;
  get_span (data, GRAPH_START, GRAPH_END, record);
  record->correlation = get32 (data, GRAPH_CORRELATION);
  record->device = get32 (data, GRAPH_DEVICE);
  record->context = get32 (data, GRAPH_CONTEXT);
  record->stream = get32 (data, GRAPH_STREAM);
}

static void
decode_device (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  record->kind = GANTRY_CUPTI_DEVICE;
  record->device = get32 (data, DEVICE_ID);
  record->name = get64 (data, DEVICE_NAME);
  record->bytes = get64 (data, DEVICE_MEMORY);
  record->unit.major = get32 (data, DEVICE_MAJOR);
  record->unit.minor = get32 (data, DEVICE_MINOR);
  record->unit.processors = get32 (data, DEVICE_PROCESSORS);
  record->unit.kilobytes_per_second = get64 (data, DEVICE_BANDWIDTH);
}

static void
decode_context (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  record->kind = GANTRY_CUPTI_CONTEXT;
  record->context = get32 (data, CONTEXT_ID);
  record->device = get32 (data, CONTEXT_DEVICE);
  record->stream = get16 (data, CONTEXT_NULL_STREAM);
}

static void
decode_stream (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  record->kind = GANTRY_CUPTI_STREAM;
  record->context = get32 (data, STREAM_CONTEXT);
  record->stream = get32 (data, STREAM_ID);
  record->correlation = get32 (data, STREAM_CORRELATION);
}

static void
decode_name (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  record->kind = GANTRY_CUPTI_NAME;
  get_object (data, NAME_OBJECT, NAME_OBJECT_ID, record);
  record->name = get64 (data, NAME_NAME);
}

typedef struct
{
  guint16 least; /* bytes that must be there */
  void (*decode) (const guint8 *data, gsize size, GantryCuptiRecord *record);
} Decoder;

static const Decoder decoders[CUPTI_N_KINDS] = {
  [CUPTI_KIND_MEMCPY] = { MEMCPY_LEAST, decode_copy },
  [CUPTI_KIND_MEMSET] = { MEMSET_LEAST, decode_set },
  [CUPTI_KIND_KERNEL] = { KERNEL_LEAST, decode_kernel },
  [CUPTI_KIND_DRIVER] = { API_LEAST, decode_call },
  [CUPTI_KIND_RUNTIME] = { API_LEAST, decode_call },
  [CUPTI_KIND_DEVICE] = { DEVICE_LEAST, decode_device },
  [CUPTI_KIND_CONTEXT] = { CONTEXT_LEAST, decode_context },
  [CUPTI_KIND_CONCURRENT_KERNEL] = { KERNEL_LEAST, decode_kernel },
  [CUPTI_KIND_NAME] = { NAME_LEAST, decode_name },
  [CUPTI_KIND_MARKER] = { MARKER_LEAST, decode_marker },
  [CUPTI_KIND_OVERHEAD] = { OVERHEAD_LEAST, decode_overhead },
  [CUPTI_KIND_MEMCPY2] = { MEMCPY2_LEAST, decode_copy },
  [CUPTI_KIND_STREAM] = { STREAM_LEAST, decode_stream },
  [CUPTI_KIND_SYNCHRONIZATION] = { SYNC_LEAST, decode_sync },
  [CUPTI_KIND_EXTERNAL_CORRELATION] = { EXTERNAL_LEAST, decode_external },
  [CUPTI_KIND_MEMORY2] = { MEMORY2_LEAST, decode_memory },
  [CUPTI_KIND_MEMORY_POOL] = { POOL_LEAST, decode_pool },
  [CUPTI_KIND_GRAPH_TRACE] = { GRAPH_LEAST, decode_graph },
};

gboolean
gantry_cupti_decode (const guint8 *data, gsize size, GantryCuptiRecord *record)
{
  guint32 kind = size >= 4 ? get32 (data, 0) : CUPTI_KIND_INVALID;

  memset (record, 0, sizeof *record);
  record->kind = GANTRY_CUPTI_N_RECORDS;
  record->activity = kind;
  if (kind >= CUPTI_N_KINDS || decoders[kind].decode == NULL)
    return FALSE;
  if (size < decoders[kind].least)
    {
      record->kind = 0;
      return FALSE;
    }
  decoders[kind].decode (data, size, record);
  return TRUE;
}

static void
take (const guint8 *data, gsize size, GantryCuptiRecordFunc func, gpointer user_data, GantryCuptiWalk *walk)
{
  GantryCuptiRecord record;

  if (gantry_cupti_decode (data, size, &record))
    {
      walk->n_records++;
      if (func != NULL)
        func (&record, user_data);
    }
  else if (record.kind == GANTRY_CUPTI_N_RECORDS)
    walk->n_other++;
  else
    walk->n_short++;
}

static void
stop (GantryCuptiWalk *walk, GantryCuptiStop why, gsize at, guint32 kind)
{
  walk->stop = why;
  walk->stop_at = at;
  walk->stop_kind = kind;
}

/* The library's own walk has told where records begin: a record's length is the way to the next one. */
static void
walk_index (const guint8 *data, gsize size, const guint32 *index, guint32 n_index, GantryCuptiRecordFunc func, gpointer user_data, GantryCuptiWalk *walk)
{
  for (guint32 i = 0; i < n_index; i++)
    {
      gsize at = index[i], end = i + 1 < n_index ? index[i + 1] : size;

      if (end > size || at >= end)
        {
          stop (walk, GANTRY_CUPTI_STOP_BAD_INDEX, MIN (at, size), 0);
          return;
        }
      take (data + at, end - at, func, user_data, walk);
    }
  stop (walk, GANTRY_CUPTI_STOP_END, size, 0);
}

void
gantry_cupti_walk (guint32 version, const guint8 *data, gsize size, const guint32 *index, guint32 n_index, GantryCuptiRecordFunc func, gpointer user_data,
                   GantryCuptiWalk *walk)
{
  gsize at = 0;

  if (index != NULL)
    {
      walk_index (data, size, index, n_index, func, user_data, walk);
      return;
    }
  while (at < size)
    {
      guint32 kind = size - at >= 4 ? get32 (data + at, 0) : CUPTI_KIND_INVALID;
      gsize length = gantry_cupti_record_size (version, kind);

      if (size - at < 4 || (length > 0 && length > size - at))
        stop (walk, GANTRY_CUPTI_STOP_TRUNCATED, at, kind);
      else if (kind == CUPTI_KIND_INVALID)
        stop (walk, GANTRY_CUPTI_STOP_INVALID, at, kind);
      else if (length == 0)
        stop (walk, GANTRY_CUPTI_STOP_UNKNOWN_SIZE, at, kind);
      else
        {
          take (data + at, length, func, user_data, walk);
          at += length;
          continue;
        }
      return;
    }
  stop (walk, GANTRY_CUPTI_STOP_END, size, 0);
}
