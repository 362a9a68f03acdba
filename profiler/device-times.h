/* SPDX-License-Identifier: Apache-2.0 */
/* What the device took of each recorded run. */
#pragma once
#include "profiler/recording.h"

G_BEGIN_DECLS

/**
 * gantry_recording_device_times:
 * @recording: loaded as a whole
 * @milliseconds: (element-type double): of each run, from where the device begins its first work of the run to where it ends its last,
 *   appended
 * @launch: (element-type double) (nullable): of each run, milliseconds before that, in which the host brought the work there, appended
 *
 * Kernels, copies and fills on the lanes of the queues are work. A run on a GPU that is recorded begins later than one that is not: CUPTI
 * looks at each kernel when it is launched (2 us for each, on an H200), not when it runs. So what the host's clock says of a recorded run is
 * not what the device took.
 *
 * Returns: whether the device worked in every run; where it did not nothing is appended
 */
gboolean gantry_recording_device_times (const GantryRecording *recording, GArray *milliseconds, GArray *launch);

G_END_DECLS
