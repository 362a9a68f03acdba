/* SPDX-License-Identifier: Apache-2.0 */
/* core/compiler: the driver. A file and settings go in; the imported module, one snapshot for each pass
 * and a plan come out. It holds the one list of passes and chooses the front end of a file. What it gives
 * is immutable and may be read from any thread. */
#pragma once
#include "core/base/base.h"
#include "core/compiler/compilation.h"
#include "core/compiler/planning.h"
#include "core/compiler/tensor-file.h"

G_BEGIN_DECLS

/**
 * gantry_compile:
 * @settings: (nullable): which passes, for which target
 *
 * Runs the passes over an opened model, verifies after each, and plans. A program that cannot be compiled is no
 * error here: the refusal is kept beside the snapshots that were made, so that a view can show both.
 *
 * Returns: (transfer full) (nullable): NULL when cancelled, when the program contradicts itself (%GANTRY_ERROR_INVALID:
 *  types that do not fit), or when a pass broke it (a bug, said plainly)
 */
GantryCompilation *gantry_compile (GantryModel *model, const GantryCompileSettings *settings, const GantryProgress *progress, GError **error);

/**
 * gantry_compilation_replan:
 *
 * The same snapshots with another target, policy or choices, which @settings says: only the plan is new.
 *
 * Returns: (transfer full) (nullable): as gantry_compile(); %GANTRY_ERROR_INVALID where the policy has a mistake
 */
GantryCompilation *
gantry_compilation_replan (const GantryCompilation *compilation, const GantryCompileSettings *settings, const GantryProgress *progress, GError **error);

/**
 * gantry_compiler_check_examples:
 * @path, @bindings, @random_weights: as gantry_model_open()
 * @dim: the dimension of the examples; @batch: how many there are, from 2 on
 *
 * gantry_training_check_examples() of a model. Reads it twice: for worker threads.
 *
 * Returns: FALSE with @error where its loss is not shown to be a mean over examples that do not depend on each other
 */
gboolean gantry_compiler_check_examples (const char *path, const GantryBindings *bindings, gint64 random_weights, const char *dim, gint64 batch,
                                         const GantryTrainingOptions *training, const GantryProgress *progress, GError **error);

G_END_DECLS
