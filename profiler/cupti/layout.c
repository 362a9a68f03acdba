/* SPDX-License-Identifier: Apache-2.0 */
/* The table of record sizes. To add a version: take sizeof of the struct that its cupti_activity.h names as the current
 * one for each kind, from a build on x86-64 or aarch64, and add a column here and to layout-check.c. */
#include "profiler/cupti/layout.h"

/* CUDA 13.0. Zero: a kind that a process of today cannot enable (the counters of the API before 2018), or of whose
 * struct two lengths are possible there: marker data. */
static const guint8 sizes_13_0[CUPTI_N_KINDS] = {
  [CUPTI_KIND_MEMCPY] = 96,  /* CUpti_ActivityMemcpy6 */
  [CUPTI_KIND_MEMSET] = 88,  /* CUpti_ActivityMemset4 */
  [CUPTI_KIND_KERNEL] = 216, /* CUpti_ActivityKernel10 */
  [CUPTI_KIND_DRIVER] = 40,  /* CUpti_ActivityAPI */
  [CUPTI_KIND_RUNTIME] = 40,
  [CUPTI_KIND_DEVICE] = 184, /* CUpti_ActivityDevice5 */
  [CUPTI_KIND_CONTEXT] = 32, /* CUpti_ActivityContext3 */
  [CUPTI_KIND_CONCURRENT_KERNEL] = 216,
  [CUPTI_KIND_NAME] = 32,                 /* CUpti_ActivityName */
  [CUPTI_KIND_MARKER] = 56,               /* CUpti_ActivityMarker2 */
  [CUPTI_KIND_OVERHEAD] = 56,             /* CUpti_ActivityOverhead3 */
  [20] = 40,                              /* CUpti_ActivityEnvironment */
  [CUPTI_KIND_MEMCPY2] = 96,              /* CUpti_ActivityMemcpyPtoP4 */
  [25] = 104,                             /* CUpti_ActivityUnifiedMemoryCounter3 */
  [26] = 32,                              /* CUpti_ActivityFunction */
  [27] = 24,                              /* CUpti_ActivityModule */
  [28] = 24,                              /* CUpti_ActivityDeviceAttribute */
  [30] = 40,                              /* CUpti_ActivityPCSampling3 */
  [31] = 32,                              /* CUpti_ActivityPCSamplingRecordInfo */
  [36] = 56,                              /* CUpti_ActivityCudaEvent2 */
  [CUPTI_KIND_STREAM] = 24,               /* CUpti_ActivityStream */
  [CUPTI_KIND_SYNCHRONIZATION] = 56,      /* CUpti_ActivitySynchronization2 */
  [CUPTI_KIND_EXTERNAL_CORRELATION] = 24, /* CUpti_ActivityExternalCorrelation */
  [40] = 136,                             /* CUpti_ActivityNvLink4 */
  [45] = 80,                              /* CUpti_ActivityMemory */
  [46] = 168,                             /* CUpti_ActivityPcie */
  [CUPTI_KIND_INTERNAL_LAUNCH_API] = 40,  /* CUpti_ActivityAPI */
  [CUPTI_KIND_MEMORY2] = 128,             /* CUpti_ActivityMemory4 */
  [CUPTI_KIND_MEMORY_POOL] = 80,          /* CUpti_ActivityMemoryPool3 */
  [CUPTI_KIND_GRAPH_TRACE] = 56,          /* CUpti_ActivityGraphTrace2 */
  [52] = 72,                              /* CUpti_ActivityJit2 */
  [53] = 56,                              /* CUpti_ActivityDeviceGraphTrace */
  [54] = 64,                              /* CUpti_ActivityMemDecompress */
};

guint
gantry_cupti_record_size (guint32 version, guint32 kind)
{
  if (version < CUPTI_VERSION_13_0 || version >= CUPTI_VERSION_13_1 || kind >= CUPTI_N_KINDS)
    return 0;
  return sizes_13_0[kind];
}
