/* SPDX-License-Identifier: Apache-2.0 */
/* Turns what an executor tells its observer into a recording. */
#pragma once
#include "profiler/recording.h"

G_BEGIN_DECLS

typedef struct _GantryCpuRecorder GantryCpuRecorder;

/** @device: (nullable): what to write into the recording ("cpu, 2 threads") */
GantryCpuRecorder *gantry_cpu_recorder_new (const char *device);
void gantry_cpu_recorder_free (GantryCpuRecorder *recorder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryCpuRecorder, gantry_cpu_recorder_free)
/** Returns: (transfer none): give it to the runs to be recorded, which must not overlap; valid until the recorder ends */
const GantryObserver *gantry_cpu_recorder_observer (GantryCpuRecorder *recorder);
/**
 * gantry_cpu_recorder_set_budget:
 * @bytes: of what is noted of all runs (64 MiB unless set)
 *
 * Where there is more the oldest runs are dropped, which the recording says in a note; the newest is always kept whole.
 */
void gantry_cpu_recorder_set_budget (GantryCpuRecorder *recorder, gsize bytes);
/** The next recording taken says @note, a sentence for who looks at it. (transfer none) */
void gantry_cpu_recorder_add_note (GantryCpuRecorder *recorder, const char *note);
/** All runs observed so far that are kept; the recorder is empty afterwards and can go on. (transfer full) */
GantryRecording *gantry_cpu_recorder_take (GantryCpuRecorder *recorder);

G_END_DECLS
