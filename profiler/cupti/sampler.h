/* SPDX-License-Identifier: Apache-2.0 */
/* PM sampling: hardware counters read at a fixed interval while the program runs, decoded by a thread of its own. */
#pragma once
#include "profiler/cupti/capture.h"
#include "profiler/cupti/library.h"

G_BEGIN_DECLS

typedef struct _GantryCuptiSampler GantryCuptiSampler;

/**
 * _gantry_cupti_sampler_start:
 * @interval_ns: between samples
 * @hardware_bytes: of the buffer that the GPU writes to
 * @insufficient: (out): TRUE when only privileges are missing
 */
GantryCuptiSampler *_gantry_cupti_sampler_start (const GantryCuptiLibrary *library, guint device, guint64 interval_ns, gsize hardware_bytes,
                                                 gboolean *insufficient, GError **error);
/** Ends the sampling. The counters stay reserved. */
void _gantry_cupti_sampler_stop (GantryCuptiSampler *sampler);
/** Once it is stopped: puts what was sampled, and notes, into @capture. */
void _gantry_cupti_sampler_take (const GantryCuptiSampler *sampler, GantryCuptiCapture *capture);
/** Gives the counters back and frees @sampler. It ends CUPTI's work in this process: after the activities are
 *  flushed. */
void _gantry_cupti_sampler_free (GantryCuptiSampler *sampler);
/** Returns: (nullable): which chip it is */
const char *_gantry_cupti_sampler_chip (const GantryCuptiSampler *sampler);

G_END_DECLS
