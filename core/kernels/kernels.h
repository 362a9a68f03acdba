/* SPDX-License-Identifier: Apache-2.0 */
/* core/kernels: from a module to code that runs on this machine. Tensor expressions become x86-64
 * vector code through LLVM, matrix products and convolutions may go to oneDNN, and what no
 * expression can say (sort, scatter, random bits) is written by hand here. LLVM and oneDNN appear in
 * no other room. LLVM aborts the process on what it cannot select and generated code may fault: use
 * this room in a child process only. */
#pragma once
#include "core/base/base.h"
#include "core/graph/module.h"
#include "core/kernels/options.h"
#include "core/plan/executable.h"
#include "core/plan/kernel-sizes.h"
#include "core/plan/plan.h"

G_BEGIN_DECLS

/**
 * GantryKernelSet: the kernels of one module's entry function and of what control in it runs, read freely.
 *
 * @n_distinct: functions generated; nodes with the same expression share one
 * @layout_blocks: how the kernels write and read the value of each node: 0: row-major; else channels (dimension 1) in
 *  blocks of so many, which are innermost
 * @code_bytes: of the code that was generated, as loaded, by the library too
 * @code_at_least: the library's is not known
 * @target: what the code was generated for: "x86-64 znver3 (LLVM 19.1.7, oneDNN 2.6.3)"
 * @compile_ms: wall-clock time of the whole
 */
typedef struct
{
  guint32 n_kernels;
  guint32 n_distinct;
  guint64 code_bytes;
  gboolean code_at_least;
  GantryKernel *kernels; /* in program order of their nodes, then conversions, which are of no node */
  guint32 n_kernel_of;
  guint32 *kernel_of;    /* node id -> 1 + index in kernels, 0: none */
  guint8 *layout_blocks; /* node id -> 0, 8 or 16; n_kernel_of of them */
  guint32 n_compressions;
  GantryCompression *compressions; /* those of the options; their kernels are the last ones, to fewer bits and back in turn */
  char *target;
  double compile_ms;
  guint32 n_images;
  GantryGpuImage *images; /* of GANTRY_CODE_CUDA */
  gpointer code;          /* the JIT */
  GDestroyNotify free_code;
} GantryKernelSet;

void gantry_kernel_set_free (GantryKernelSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryKernelSet, gantry_kernel_set_free)

/**
 * gantry_kernels_compile:
 * @module: legalized; types of its entry function are static
 * @options: (nullable): NULL: the defaults
 * @progress: (nullable): fraction of the kernels done
 *
 * Makes one kernel for each node of the entry function, and of the functions that its control names, that does work: not for parameters, constants, tuples and
 * results of tuples, nor for views (reshape and the like), which share their operand's buffer or are copied.
 *
 * Returns: (transfer full) (nullable): NULL with %GANTRY_ERROR_UNSUPPORTED naming every node that cannot be compiled
 *  ("<op>: <why>", one a line), or %G_IO_ERROR_CANCELLED
 */
GantryKernelSet *gantry_kernels_compile (GantryModule *module, const GantryKernelOptions *options, const GantryProgress *progress, GError **error);

/** Returns: (nullable): the kernel that does the work of the node */
const GantryKernel *gantry_kernel_set_find (const GantryKernelSet *set, guint32 node);
/** Returns: (nullable): the kernel that converts so; @back: from fewer bits */
const GantryKernel *gantry_kernel_set_find_compression (const GantryKernelSet *set, const GantryCompression *compression, gboolean back);
/** What the kernels need beside operands and results: for the planner. @module: that they were made for. (transfer full) */
GantryKernelSizes *gantry_kernel_set_sizes (const GantryKernelSet *set, const GantryModule *module);

/**
 * gantry_executable_new:
 * @plan: of @module, made with the workspaces of @kernels
 * @kernels: (transfer full): also on error
 *
 * Puts the instruction list together: first what runs once at load (`init` set: fills of splat constants,
 * launches on constants only), then the plan's steps in its order. The buffers of a LAUNCH are the operands' in
 * order, the results', and the workspace when
 * `workspace_bytes` is not 0; when `packed_bytes` is not 0 the runtime passes the packed region as one more.
 * A FILL takes element and count from plan->buffers[buffer].literal; `bytes` is the whole size.
 *
 * Returns: (transfer full) (nullable): NULL with @error when plan and kernels do not fit together: a buffer is missing or too
 *  small, or a kernel would read a place in another layout than it was written in
 */
GantryExecutable *gantry_executable_new (GantryModule *module, GantryPlan *plan, GantryKernelSet *kernels, GError **error);

/** Versions and processor in one line, for `--version` and recordings. Returns: (transfer full) */
char *gantry_kernels_describe (void);

G_END_DECLS
