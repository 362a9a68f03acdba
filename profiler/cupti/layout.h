/* SPDX-License-Identifier: Apache-2.0 */
/* How CUPTI's activity records lie in memory: numbers of our own, so that a stored buffer is read without CUPTI.
 * Where its headers are found, layout-check.c compares every one with them.
 *
 * Records only grow from version to version: what a kind's first fields mean and where they lie has not changed since
 * CUDA 11.0 (CUpti_ActivityKernel5 and its like). So the fields below are read wherever a record is long enough, and
 * only the length must be known from elsewhere. All numbers are little endian; addresses have 8 bytes; every record's
 * length is a multiple of 8. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** CUpti_ActivityKind, those that are decoded. */
enum
{
  CUPTI_KIND_INVALID = 0,
  CUPTI_KIND_MEMCPY = 1,
  CUPTI_KIND_MEMSET = 2,
  CUPTI_KIND_KERNEL = 3,
  CUPTI_KIND_DRIVER = 4,
  CUPTI_KIND_RUNTIME = 5,
  CUPTI_KIND_DEVICE = 8,
  CUPTI_KIND_CONTEXT = 9,
  CUPTI_KIND_CONCURRENT_KERNEL = 10,
  CUPTI_KIND_NAME = 11,
  CUPTI_KIND_MARKER = 12,
  CUPTI_KIND_MARKER_DATA = 13,
  CUPTI_KIND_OVERHEAD = 17,
  CUPTI_KIND_MEMCPY2 = 22,
  CUPTI_KIND_STREAM = 37,
  CUPTI_KIND_SYNCHRONIZATION = 38,
  CUPTI_KIND_EXTERNAL_CORRELATION = 39,
  CUPTI_KIND_INTERNAL_LAUNCH_API = 48,
  CUPTI_KIND_MEMORY2 = 49,
  CUPTI_KIND_MEMORY_POOL = 50,
  CUPTI_KIND_GRAPH_TRACE = 51,
  CUPTI_N_KINDS = 55, /* that 13.0 knows */
};

/** Where the fields of a record lie: NAME_FIELD = offset in bytes. Every record begins with its kind (u32). */
/* clang-format off */
enum
{
  KERNEL_REGISTERS = 6, /* u16 */
  KERNEL_START = 16, KERNEL_END = 24,
  KERNEL_DEVICE = 40, KERNEL_CONTEXT = 44, KERNEL_STREAM = 48,
  KERNEL_GRID = 52, KERNEL_BLOCK = 64, /* 3 x i32 each */
  KERNEL_STATIC_SHARED = 76, KERNEL_DYNAMIC_SHARED = 80, KERNEL_LOCAL_PER_THREAD = 84,
  KERNEL_CORRELATION = 92, KERNEL_NAME = 104,
  KERNEL_QUEUED = 120, KERNEL_SUBMITTED = 128,
  KERNEL_GRAPH_NODE = 144, KERNEL_CLUSTER = 176, /* 3 x u32 */
  KERNEL_LEAST = 144, /* CUpti_ActivityKernel4 */

  MEMCPY_COPY_KIND = 4, MEMCPY_FROM = 5, MEMCPY_TO = 6, MEMCPY_FLAGS = 7, /* u8 each */
  MEMCPY_BYTES = 8, MEMCPY_START = 16, MEMCPY_END = 24,
  MEMCPY_DEVICE = 32, MEMCPY_CONTEXT = 36, MEMCPY_STREAM = 40,
  MEMCPY_CORRELATION = 44, MEMCPY_GRAPH_NODE = 64,
  MEMCPY_LEAST = 64,

  MEMCPY2_FROM_DEVICE = 44, MEMCPY2_TO_DEVICE = 52, /* the others as MEMCPY */
  MEMCPY2_CORRELATION = 60, MEMCPY2_GRAPH_NODE = 72,
  MEMCPY2_LEAST = 72,

  MEMSET_VALUE = 4, MEMSET_BYTES = 8, MEMSET_START = 16, MEMSET_END = 24,
  MEMSET_DEVICE = 32, MEMSET_CONTEXT = 36, MEMSET_STREAM = 40, MEMSET_CORRELATION = 44,
  MEMSET_FLAGS = 48, MEMSET_MEMORY = 50, /* u16 each */
  MEMSET_GRAPH_NODE = 64,
  MEMSET_LEAST = 64,

  API_CBID = 4, API_START = 8, API_END = 16, API_PROCESS = 24, API_THREAD = 28, API_CORRELATION = 32, API_RESULT = 36,
  API_LEAST = 40,

  DEVICE_BANDWIDTH = 8,  /* u64, kB/s */
  DEVICE_MEMORY = 16,    /* u64, bytes */
  DEVICE_CLOCK = 36, DEVICE_PROCESSORS = 44, DEVICE_MAJOR = 104, DEVICE_MINOR = 108, DEVICE_ID = 112, DEVICE_NAME = 136,
  DEVICE_LEAST = 144,

  CONTEXT_ID = 4, CONTEXT_DEVICE = 8, CONTEXT_NULL_STREAM = 14, /* u16 */
  CONTEXT_LEAST = 16,

  NAME_OBJECT = 4, NAME_OBJECT_ID = 8, NAME_NAME = 24,
  NAME_LEAST = 32,

  MARKER_FLAGS = 4, MARKER_TIME = 8, MARKER_ID = 16, MARKER_OBJECT = 20, MARKER_OBJECT_ID = 24, MARKER_NAME = 40,
  MARKER_DOMAIN = 48,
  MARKER_LEAST = 48,

  OVERHEAD_KIND = 4, OVERHEAD_OBJECT = 8, OVERHEAD_OBJECT_ID = 12, OVERHEAD_START = 24, OVERHEAD_END = 32,
  OVERHEAD_CORRELATION = 40,
  OVERHEAD_LEAST = 40,

  STREAM_CONTEXT = 4, STREAM_ID = 8, STREAM_PRIORITY = 12, STREAM_FLAG = 16, STREAM_CORRELATION = 20,
  STREAM_LEAST = 24,

  SYNC_TYPE = 4, SYNC_START = 8, SYNC_END = 16, SYNC_CORRELATION = 24, SYNC_CONTEXT = 28,
  SYNC_STREAM = 32, SYNC_EVENT = 36,
  SYNC_LEAST = 40,

  EXTERNAL_KIND = 4, EXTERNAL_ID = 8, EXTERNAL_CORRELATION = 16,
  EXTERNAL_LEAST = 24,

  MEMORY2_OPERATION = 4, MEMORY2_KIND = 8, MEMORY2_CORRELATION = 12, MEMORY2_ADDRESS = 16, MEMORY2_BYTES = 24,
  MEMORY2_TIME = 32, MEMORY2_PROCESS = 48, MEMORY2_DEVICE = 52, MEMORY2_CONTEXT = 56, MEMORY2_STREAM = 60,
  MEMORY2_NAME = 64, MEMORY2_ASYNC = 72,
  MEMORY2_LEAST = 80,

  POOL_OPERATION = 4, POOL_TYPE = 8, POOL_CORRELATION = 12, POOL_PROCESS = 16, POOL_DEVICE = 20,
  POOL_ADDRESS = 32, POOL_SIZE = 40, POOL_THRESHOLD = 48, POOL_TIME = 56, POOL_USED = 64,
  POOL_LEAST = 64,

  GRAPH_CORRELATION = 4, GRAPH_START = 8, GRAPH_END = 16, GRAPH_DEVICE = 24, GRAPH_ID = 28,
  GRAPH_CONTEXT = 32, GRAPH_STREAM = 36,
  GRAPH_LEAST = 40,
};
/* clang-format on */

/** CUpti_ActivityObjectKind. */
enum
{
  CUPTI_OBJECT_PROCESS = 1,
  CUPTI_OBJECT_THREAD,
  CUPTI_OBJECT_DEVICE,
  CUPTI_OBJECT_CONTEXT,
  CUPTI_OBJECT_STREAM
};

/** Of a marker's flags. */
enum
{
  CUPTI_MARKER_INSTANT = 1,
  CUPTI_MARKER_START = 2,
  CUPTI_MARKER_END = 4
};

/** CUpti_ExternalCorrelationKind: the one that our marks use. */
enum
{
  CUPTI_EXTERNAL_CUSTOM0 = 3
};

/** cuptiGetVersion() of CUDA 13.0, and the first that is not 13.0. */
#define CUPTI_VERSION_13_0 130000u
#define CUPTI_VERSION_13_1 130100u

/**
 * gantry_cupti_record_size:
 * @version: what cuptiGetVersion() said when the buffer was filled
 *
 * Returns: the bytes of a record of @kind; 0 where it is not known (a kind or a version that is not in the table). The
 *  table is that of CUDA 13.0; buffers of other versions are walked by the index that the recorder stores with them.
 */
guint gantry_cupti_record_size (guint32 version, guint32 kind);

G_END_DECLS
