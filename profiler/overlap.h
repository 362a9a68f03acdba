/* SPDX-License-Identifier: Apache-2.0 */
/* How well the queues of a recording run beside each other: how busy each is, how much of the copying is hidden
 * behind computing, and how long queues stand still for others. The same for plans (gantry_recording_from_plan()) and
 * for measurements, so that the two can be compared. */
#pragma once
#include "profiler/recording.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 n_events; /* waits not counted */
  guint64 bytes;    /* of copies and fills: moved; of kernels: read and written, where known */
  gint64 busy_ns;   /* something ran, waits not counted; what overlaps counts once */
  gint64 wait_ns;   /* it stood still for another queue */
} GantryQueueTimes;

/**
 * GantryOverlap:
 *
 * A copy on one of the two copy queues is *hidden* while a kernel (or a copy or fill) runs on the compute queue: the
 * time would have passed anyway. It is *exposed* while the compute queue waits or has nothing to do. So
 * copy_ns = hidden_ns + exposed_ns; copies on both queues at a time count for each.
 */
typedef struct
{
  GantryQueueTimes queues[GANTRY_N_QUEUES];
  gint64 run_ns;  /* sum of the runs */
  gint64 copy_ns; /* the copy queues' busy time, both */
  gint64 hidden_ns;
  gint64 exposed_ns;
} GantryOverlap;

/** @run: index of a run, or -1 for all of the recording. Linear in the events. */
void gantry_recording_overlap (const GantryRecording *recording, gint run, GantryOverlap *overlap);
/** Part of the copying that is hidden, 0 to 1; 1 when nothing is copied. */
double gantry_overlap_hidden (const GantryOverlap *overlap);
/** Part of what @planned hides that @measured hides too: 1 when it hides at least the same share of its copying. */
double gantry_overlap_kept (const GantryOverlap *planned, const GantryOverlap *measured);

/**
 * gantry_recording_link_bandwidth:
 * @queue: one of the copy queues, or %GANTRY_N_QUEUES for both together
 *
 * Returns: bytes per second of its copies while they run; 0 when it has none
 */
double gantry_recording_link_bandwidth (const GantryRecording *recording, GantryQueue queue);

G_END_DECLS
