/* SPDX-License-Identifier: Apache-2.0 */
/* Activity buffers as CUPTI 13.0 fills them, made without a GPU: for tests, and for measuring how recordings of any
 * size open. What is in them is computed from a seed, so a file can be made anew anywhere. */
#pragma once
#include "profiler/cupti/capture.h"

G_BEGIN_DECLS

/** Streams and the thread of the sample. */
enum
{
  CUPTI_SAMPLE_COMPUTE = 7,
  CUPTI_SAMPLE_TO_HOST = 13,
  CUPTI_SAMPLE_TO_DEVICE = 14,
  CUPTI_SAMPLE_OTHER = 20
};
#define CUPTI_SAMPLE_CONTEXT 1u
#define CUPTI_SAMPLE_THREAD 4711u

typedef struct
{
  guint32 seed;
  guint steps;        /* of a program that repeats itself */
  guint kernels;      /* in each step */
  gsize buffer_bytes; /* a buffer is full when the next record does not fit; 0: 4 MiB */
  gint64 begin;       /* ns, when the first step begins */
  gboolean no_index;  /* leave the index out, so that the walk goes by sizes */
  guint sample_ns;    /* time between samples of counters; 0: none */
} CuptiSampleOptions;

/** What a sample must come to. */
typedef struct
{
  guint64 kernels, copies, sets, calls, syncs, ranges, instants, overheads, memory, samples, buffers, bytes;
  gint64 first, last;
} CuptiSampleTotals;

/**
 * cupti_sample_new:
 *
 * Every step is an NVTX range with a nested one; it launches its kernels (instruction i is the i-th of the step,
 * marked by external id i + 1), copies one value to the host and one back, and waits. A fifth stream sets memory,
 * unmarked.
 */
GantryCuptiCapture *cupti_sample_new (const CuptiSampleOptions *options, CuptiSampleTotals *totals);

/* For tests that write records one by one. */

/** Appends a record of @kind with 13.0's length, all zero but its kind. Returns: where it begins in @buffer */
gsize cupti_sample_record (GByteArray *buffer, guint32 kind);
void cupti_sample_set (GByteArray *buffer, gsize at, guint64 value, guint width);

G_END_DECLS
