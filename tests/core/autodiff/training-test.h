/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of training steps share: the sample programs, values for their inputs that any other program can
 * make again, and running a step with the evaluator. */
#pragma once
#include "core/autodiff/autodiff.h"
#include "core/eval/evaluator.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"

/** data/programs/NAME.gir, verified. @f64: with every f32 made f64. */
GantryModule *training_program (const char *name, gboolean f64);
GantryModule *training_from_text (const char *text);
/** gantry_training_step(), verified against @module. */
GantryModule *training_step (GantryModule *module, const GantryTrainingOptions *options);

/** Values of a function's parameters or results. */
typedef struct
{
  guint n;
  GantryLiteral **values;
} TrainingValues;

void training_values_free (TrainingValues *values);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TrainingValues, training_values_free)

/**
 * training_arguments:
 *
 * For each entry parameter: of a state its initial value; of a weight what gantry_randomize_weights() gives for its name
 * and seed 0; of another input of floating point 2 u - 1, of integers floor (5 u), u = gantry_random_at() from its name.
 */
TrainingValues *training_arguments (const GantryModule *module);
TrainingValues *training_run (const GantryModule *module, const TrainingValues *arguments);
/** Results of @step written over the arguments that they alias. */
void training_feed_back (const GantryModule *step, TrainingValues *arguments, const TrainingValues *results);
/** Index of the entry parameter of that name; it has to be there. */
guint training_find (const GantryModule *module, const char *name);
/** Sets element @i of a dense copy of @literal. Returns: (transfer full) */
GantryLiteral *training_changed (const GantryLiteral *literal, gint64 i, double value);
/** Norm of the difference of @n elements over that of @expected. */
double training_distance (const GantryLiteral *found, const double *expected, gint64 n);
