/* SPDX-License-Identifier: Apache-2.0 */
/* What the user may set for a compilation. */
#pragma once
#include "core/autodiff/autodiff.h"
#include "core/compiler/choices.h"
#include "core/compiler/measured.h"
#include "core/planner/memory-plan.h"
#include "core/plan/kernel-sizes.h"

G_BEGIN_DECLS

/**
 * GantryCompileSettings:
 * @disabled_passes: (nullable): NULL-terminated names of passes to leave out
 * @fuse_rows, @fuse_products: see GantryPassOptions: for kernels on a GPU
 * @order, @allocator: see GantryPlanOptions
 * @max_nodes, @fold_flops, @most_unrolled: see GantryPassOptions; 0: the usual limits
 * @train: make a training step of the program, as @training says; a program that is a step already is left as it is
 * @policy: (nullable): statements of core/planner/policy/policy.h
 * @choices: (nullable): placements given one by one (clicks, the solver); a click wins over @policy
 * @target: the machine, with its limit of device memory
 * @sizes: (nullable): what the kernels of a program need; used where they are those of the program that is compiled, for @target, and
 *  made under the conditions of the runs that are planned for
 * @conditions: (nullable): these (gantry_kernel_conditions_text()), where a command says them. It is no setting of a session
 * @measured: (nullable): times and the link of a run, which the cost model uses in place of what it would predict
 */
typedef struct
{
  char **disabled_passes;
  gboolean finite_math;
  gboolean fuse_rows;
  gboolean fuse_products;
  GantryOrderPolicy order;
  GantryAllocator allocator;
  guint32 max_nodes;
  gint64 fold_flops;
  guint32 most_unrolled;
  gboolean train;
  GantryTrainingOptions training;
  char *policy;
  GantryChoices *choices;
  GantryTarget target;
  GantryMeasuredTimes *measured;
  GantryKernelSizes *sizes;
  char *conditions;
} GantryCompileSettings;

/** The defaults: all passes, no training, nothing placed, the processor that this runs on without a limit. */
void gantry_compile_settings_init (GantryCompileSettings *settings);
/** Where nobody has said what is planned for, this machine's processor, what it was measured to do comes into them, if that is kept
 *  (core/planner/machine.h). @n_threads: 0 for all processors. Returns: whether it is */
gboolean gantry_compile_settings_take_machine (GantryCompileSettings *settings, guint n_threads);
/** @to: holds nothing before, and is to be cleared with gantry_compile_settings_clear() */
void gantry_compile_settings_copy (GantryCompileSettings *to, const GantryCompileSettings *from);
void gantry_compile_settings_clear (GantryCompileSettings *settings);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GantryCompileSettings, gantry_compile_settings_clear)
/** @pass: name of a pass. Returns: FALSE where @settings leave it out; any other name is enabled */
gboolean gantry_compile_settings_enabled (const GantryCompileSettings *settings, const char *pass);
/** Returns: TRUE when something changed */
gboolean gantry_compile_settings_set_enabled (GantryCompileSettings *settings, const char *pass, gboolean enabled);
/** Every loop that can stays one, whatever its trips cost. */
void gantry_compile_settings_keep_loops (GantryCompileSettings *settings);
/**
 * gantry_compile_settings_conditions:
 *
 * What the kernels of the runs that are planned for are made under: as a command says, else as those were whose measured times are
 * planned with, so that times and sizes are of the same kernels; else those of a run without options.
 *
 * Returns: (transfer full): as gantry_kernel_conditions_text()
 */
char *gantry_compile_settings_conditions (const GantryCompileSettings *settings);
/** What those are made with that a run without options is not, for people: "no library". (transfer full) (nullable): %NULL: nothing */
char *gantry_compile_settings_unusual (const GantryCompileSettings *settings);
/** Whether kernels that were made under @conditions (nullable: not known) are those of the runs that are planned for. */
gboolean gantry_compile_settings_made_under (const GantryCompileSettings *settings, const char *conditions);
/** Whether both give the same snapshots. */
gboolean gantry_compile_settings_same_program (const GantryCompileSettings *a, const GantryCompileSettings *b);
/** Whether both give the same plan of the same program. */
gboolean gantry_compile_settings_same_plan (const GantryCompileSettings *a, const GantryCompileSettings *b);

G_END_DECLS
