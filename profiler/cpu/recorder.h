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
/** All runs observed so far; the recorder is empty afterwards and can go on. (transfer full) */
GantryRecording *gantry_cpu_recorder_take (GantryCpuRecorder *recorder);

G_END_DECLS
