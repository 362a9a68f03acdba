/* SPDX-License-Identifier: Apache-2.0 */
/* From a compiled document to a program that runs: kernels, the plan with their workspaces, the
 * executable; and one measured run of it. Used by compile, run and verify. */
#pragma once
#include "app/cli/cli.h"
#include "core/ir/executable.h"
#include "core/runtime/runtime.h"

G_BEGIN_DECLS

typedef struct
{
  gint threads;
  gboolean no_library;
  gboolean keep_texts;
  guint64 limit; /* bytes of the device arena, 0: none */
  GHashTable *measured_us; /* (nullable): as GantryPlanOptions */
} GantryProgramOptions;

typedef struct
{
  GantryExecutable *executable;
  char *target;
  double compile_ms;
  guint n_threads;
} GantryProgram;

void gantry_program_free (GantryProgram *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryProgram, gantry_program_free)

/** Returns: (nullable): the refusal of the compilation, or what kernels or plan could not do, in @error */
GantryProgram *gantry_program_new (const GantryCompilation *compilation, const GantryCompileSettings *settings,
                                   const GantryProgramOptions *options, const GantryProgress *progress, GError **error);

/**
 * gantry_program_measure:
 * @inputs: one literal for each parameter
 * @outputs: (out): of the last run, (transfer full)
 *
 * Loads the program, runs it @n_warmup times unmeasured and @n_runs times measured.
 * Returns: (transfer full) (nullable)
 */
GantryRunResult *gantry_program_measure (GantryProgram *program, const GantryProgramOptions *options,
                                         GantryLiteral *const *inputs, GantryLiteral **outputs, guint n_warmup,
                                         guint n_runs, const GantryProgress *progress, GError **error);

/**
 * gantry_program_measure_steps:
 * @losses: (element-type double): gets the first result of each step, where that is one number
 *
 * As gantry_program_measure(), but the runs are the steps of one training: each goes on with the parameters and the state that
 * the one before left on the device.
 */
GantryRunResult *gantry_program_measure_steps (GantryProgram *program, const GantryProgramOptions *options,
                                               GantryLiteral *const *inputs, GantryLiteral **outputs, guint n_steps,
                                               GArray *losses, const GantryProgress *progress, GError **error);

G_END_DECLS
