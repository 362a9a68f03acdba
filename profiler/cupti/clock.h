/* SPDX-License-Identifier: Apache-2.0 */
/* From another clock to CLOCK_MONOTONIC. */
#pragma once
#include "profiler/cupti/capture.h"

G_BEGIN_DECLS

typedef struct
{
  gint64 theirs, monotonic; /* a moment on both */
  double faster;            /* ns that CLOCK_MONOTONIC gains on the other clock per ns of it */
  gint64 error_ns;          /* the largest distance of a known moment from the line */
} GantryCuptiClock;

/** Times of the recorder lie within this many ns of 0: about 36 years. */
#define GANTRY_CUPTI_MOST_TIME ((gint64) 1 << 60)

/** The clock that is CLOCK_MONOTONIC already. */
void gantry_cupti_clock_same (GantryCuptiClock *clock);
/**
 * gantry_cupti_clock_fit:
 *
 * Puts a line through moments that were read on both clocks (least squares). One moment gives an offset; none gives
 * FALSE.
 */
gboolean gantry_cupti_clock_fit (const GantryCuptiMoment *moments, guint n, GantryCuptiClock *clock);
/** Returns: FALSE when @theirs is no time that can be (then @monotonic is unset) */
gboolean gantry_cupti_clock_map (const GantryCuptiClock *clock, guint64 theirs, gint64 *monotonic);

/**
 * gantry_cupti_clock_of_samples:
 *
 * Which clock the samples of counters were stamped by is not documented: CLOCK_MONOTONIC or CLOCK_REALTIME when all
 * of them then lie in the time of the sampling, else one of the GPU, which is aligned so that no sample is read
 * before it was made.
 *
 * Returns: (nullable) (transfer full): what to note about it; NULL when it is CLOCK_MONOTONIC
 */
char *gantry_cupti_clock_of_samples (const GantryCuptiCapture *capture, GantryCuptiClock *clock);

G_END_DECLS
