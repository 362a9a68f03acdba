/* SPDX-License-Identifier: Apache-2.0 */
/* A text compiled as a training step, its kernels once, and then run on the CPU device under one policy after another. */
#pragma once
#include "core/compiler/compiler.h"
#include "core/plan/executable.h"
#include "core/runtime/runtime.h"

typedef struct
{
  GantryModel *model;
  GantryCompileSettings settings;
  GantryCompilation *compilation;
  GantryExecutable *kept; /* everything kept; the kernels are its own, all others borrow them */
  guint32 n_kernel_of, *kernel_of;
  guint8 *layout_blocks;
  GantryKernelSizes *sizes;
  guint n_inputs, n_outputs;
  GantryLiteral **inputs;
} FormStep;

/** What an element of a parameter is: @name, @index, and the user's data. */
typedef double (*FormValue) (const char *name, guint index, gpointer data);

/** @without: (nullable): a pass to leave out. A program that is a step already stays one. Fails the test on any error. */
FormStep *form_step_new (const char *text, GantryOptimizer optimizer, const char *without, FormValue value, gpointer data);
void form_step_free (FormStep *step);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FormStep, form_step_free)
/** The last snapshot. */
GantryModule *form_step_module (const FormStep *step);
/** Opens a text; what the compilation says. The file is gone again. (transfer full): never NULL where @error is */
GantryCompilation *form_compile (const char *text, const GantryCompileSettings *settings, GError **error);
/** The plan with the workspaces that the kernels want. @policy and @reports (nullable); @limit 0: none. (transfer full) (nullable) */
GantryPlan *form_step_plan (FormStep *step, const char *policy, guint64 limit, GPtrArray **reports, GError **error);
/** The fastest that fits into @bytes. (transfer full) (nullable) */
GantryPlan *form_step_solve (FormStep *step, guint64 bytes, GError **error);
/** (transfer full) */
GantryExecutable *form_step_executable (const FormStep *step, GantryPlan *plan);
/** Bytes of the device that @executable takes when it is loaded. */
guint64 form_device_bytes (const GantryExecutable *executable);
/** @n_runs steps in a row; each instruction is checked; the device holds what the plan says, and no more.
 *  (transfer full) (element-type GantryLiteral) */
GPtrArray *form_step_run (const FormStep *step, GantryExecutable *executable, guint n_runs);
/** Runs with @policy. (transfer full) */
GPtrArray *form_step_run_policy (FormStep *step, const char *policy, guint n_runs);
/** Fails with @what unless all are the same, bit for bit. */
void form_assert_same (GPtrArray *a, GPtrArray *b, const char *what);
