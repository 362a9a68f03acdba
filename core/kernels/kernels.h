/* SPDX-License-Identifier: Apache-2.0 */
/* core/kernels: from a module to code that runs on this machine. Tensor expressions become x86-64
 * vector code through LLVM, matrix products and convolutions may go to oneDNN, and what no
 * expression can say (sort, scatter, random bits) is written by hand here. LLVM and oneDNN appear in
 * no other room. LLVM aborts the process on what it cannot select and generated code may fault: use
 * this room in a child process only. */
#pragma once
#include "core/base/base.h"
#include "core/ir/executable.h"
#include "core/ir/module.h"
#include "core/ir/plan.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_CODE_CPU,         /* vector code for the processor, and oneDNN */
  GANTRY_CODE_GRID_ON_CPU, /* the schedules of the GPU `arch`, lowered for the processor: to test them without one */
  GANTRY_CODE_CUDA,        /* PTX, and a cubin where the assembler ptxas is installed */
} GantryCodeTarget;

/**
 * GantryKernelOptions:
 * @n_threads: threads to compile on, and threads that a library kernel uses when it runs; 0: all processors
 * @use_library: matrix products and convolutions by oneDNN where it can
 * @keep_texts: keep tensor expression, LLVM IR and assembly of every generated kernel (compiling takes about
 *  twice as long)
 * @optimization: 0 to 3: LLVM's level for code generation
 * @cpu: (nullable): LLVM's name of the processor to generate for, NULL: this one. Code for a processor that
 *  this one does not contain can be read but not run.
 * @free_layouts: values between kernels may be kept in a blocked layout (same size) where that is faster (CPU only)
 * @target: what the code is for
 * @arch: (nullable): the GPU, NULL: "sm_90a"; one of "sm_80", "sm_90", "sm_90a" and "sm_100"
 * @cache_folder: (nullable): where assembled code is kept by content; NULL: nowhere
 * @allow_tf32: products of f32 may be rounded to 10 bits of mantissa, so that tensor cores can do them (GPU only); the sums
 *  stay f32
 */
typedef struct
{
  guint n_threads;
  gboolean use_library;
  gboolean keep_texts;
  guint optimization;
  const char *cpu;
  gboolean free_layouts;
  GantryCodeTarget target;
  const char *arch;
  const char *cache_folder;
  gboolean allow_tf32;
} GantryKernelOptions;

#define GANTRY_KERNEL_OPTIONS_INIT { .n_threads = 0, .use_library = TRUE, .keep_texts = FALSE, .optimization = 2, \
                                     .cpu = NULL, .free_layouts = TRUE }

/**
 * GantryKernelSet: the kernels of one module's entry function, read freely.
 *
 * @n_distinct: functions generated; nodes with the same expression share one
 * @target: what the code was generated for: "x86-64 znver3 (LLVM 19.1.7, oneDNN 2.6.3)"
 * @compile_ms: wall-clock time of the whole
 */
typedef struct
{
  guint32 n_kernels;
  guint32 n_distinct;
  GantryKernel *kernels;  /* in program order of their nodes */
  guint32 n_kernel_of;
  guint32 *kernel_of;     /* node id -> 1 + index in kernels, 0: none */
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
 * Makes one kernel for each node of the entry function that does work: not for parameters, constants, tuples and
 * results of tuples, nor for views (reshape and the like), which share their operand's buffer or are copied.
 *
 * Returns: (transfer full) (nullable): NULL with %GANTRY_ERROR_UNSUPPORTED naming every node that cannot be compiled
 *  ("<op>: <why>", one a line), or %G_IO_ERROR_CANCELLED
 */
GantryKernelSet *gantry_kernels_compile (GantryModule *module, const GantryKernelOptions *options,
                                         const GantryProgress *progress, GError **error);

/** Returns: (nullable): the kernel that does the work of the node */
const GantryKernel *gantry_kernel_set_find (const GantryKernelSet *set, guint32 node);
/** Scratch that the node's kernel needs while it runs: what the planner asks for each node. */
guint64 gantry_kernel_set_workspace (const GantryKernelSet *set, guint32 node);

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
 * Returns: (transfer full) (nullable): NULL with @error when plan and kernels do not fit together
 */
GantryExecutable *gantry_executable_new (GantryModule *module, GantryPlan *plan, GantryKernelSet *kernels,
                                         GError **error);

/** Versions and processor in one line, for `--version` and recordings. Returns: (transfer full) */
char *gantry_kernels_describe (void);

G_END_DECLS
