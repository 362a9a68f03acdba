/* SPDX-License-Identifier: Apache-2.0 */
/* Curves of a processor: how long kernels of each kind of work take, small ones and large ones. */
#pragma once
#include "app/cli/program.h"
#include "core/planner/target.h"

G_BEGIN_DECLS

/** Of one program. */
#define GANTRY_CALIBRATION_MOST_RUNS 300u

/**
 * gantry_calibration_measure_kernels:
 * @target: (inout): gets its curves, what kernels, runs and trips of loops cost beside their work, and the bandwidth of the memory
 * @how: of the processor
 * @seconds: no measurement begins later
 * @spread: (out): median, over all programs, of the median of the runs of one over the least of them: 1 on a machine that does nothing else
 */
gboolean gantry_calibration_measure_kernels (GantryTarget *target, const GantryProgramOptions *how, double seconds, const GantryProgress *progress,
                                             double *spread, GError **error);

G_END_DECLS
