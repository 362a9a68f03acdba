/* SPDX-License-Identifier: Apache-2.0 */
/* Measures each rate of a target file on a device, one small program after the other. */
#pragma once
#include "app/cli/program.h"
#include "core/planner/target.h"
#include "core/runtime/device-kind.h"

G_BEGIN_DECLS

/**
 * GantryCalibrationFigure: one rate.
 *
 * @key: of the target file: "product_f16"
 * @beside: (nullable): what is told beside the value of @key in a comment: "f16"; NULL: the value itself
 * @value: in the unit of @key: a second's operations or bytes, or microseconds; where it was not measured, as stated
 * @least, @most: of @n runs, of which @value is the median
 * @stated: as published, or stated for this processor; 0: nothing is stated
 * @n_kernels: that a run launched; 0: none of a program
 * @milliseconds: median of the runs of its program; 0: none of a program
 * @of: what was run
 * @clock: "events of the GPU"
 * @why: (nullable): why it was not measured
 * @failed: it should have been
 */
typedef struct
{
  char *key, *beside;
  double value, least, most, stated, milliseconds;
  guint n, n_kernels;
  char *of;
  const char *clock;
  char *why;
  gboolean failed;
} GantryCalibrationFigure;

/** @target: @stated with what was measured. @figures: (element-type GantryCalibrationFigure), those of a key together */
typedef struct
{
  GantryTarget stated, target;
  GArray *figures;
  guint n_measured, n_failed;
  double spread; /* of a processor: as gantry_calibration_measure_kernels() */
} GantryCalibration;

void gantry_calibration_clear (GantryCalibration *calibration);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GantryCalibration, gantry_calibration_clear)

/**
 * gantry_calibration_run:
 * @how: its device runs the programs
 * @stated: what is known of it without measuring
 * @seconds: no measurement begins later
 * @calibration: (out): to be cleared
 *
 * What cannot be measured keeps its stated value, with the reason; a measurement that fails takes no other one along.
 */
void gantry_calibration_run (const GantryProgramOptions *how, const GantryTarget *stated, double seconds, const GantryProgress *progress,
                             GantryCalibration *calibration);

G_END_DECLS
