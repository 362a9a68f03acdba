/* SPDX-License-Identifier: Apache-2.0 */
/* core/kernels: from a module to code that runs on this machine. Tensor expressions become x86-64
 * vector code through LLVM, matrix products and convolutions may go to oneDNN, and what no
 * expression can say (sort, scatter, random bits) is written by hand here. LLVM and oneDNN appear in
 * no other room. LLVM aborts the process on what it cannot select and generated code may fault: use
 * this room in a child process only. */
#pragma once
#include "core/base/base.h"
#include "core/graph/module.h"
#include "core/plan/executable.h"
#include "core/plan/kernel-sizes.h"
#include "core/plan/plan.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_CODE_CPU,         /* vector code for the processor, and oneDNN */
  GANTRY_CODE_GRID_ON_CPU, /* the schedules of the GPU `arch`, lowered for the processor: to test them without one */
  GANTRY_CODE_CUDA,        /* PTX, and a cubin where the assembler ptxas is installed */
} GantryCodeTarget;

/**
 * GantryInstructionSet: what code for the processor may consist of
 * @GANTRY_INSTRUCTIONS_NATIVE: all that this processor has
 * @GANTRY_INSTRUCTIONS_SSE4: x86-64-v2: vectors of 16 bytes
 * @GANTRY_INSTRUCTIONS_AVX2: x86-64-v3: vectors of 32 bytes, fused multiply-add, conversion of f16
 * @GANTRY_INSTRUCTIONS_AVX512: x86-64-v4: vectors of 64 bytes
 */
typedef enum
{
  GANTRY_INSTRUCTIONS_NATIVE,
  GANTRY_INSTRUCTIONS_SSE4,
  GANTRY_INSTRUCTIONS_AVX2,
  GANTRY_INSTRUCTIONS_AVX512,
} GantryInstructionSet;

#define GANTRY_N_INSTRUCTION_SETS (GANTRY_INSTRUCTIONS_AVX512 + 1)

/** "native", "sse4", "avx2" or "avx512". */
const char *gantry_instruction_set_name (GantryInstructionSet set);
/** The set of that name. Returns: FALSE with the names that there are in @error */
gboolean gantry_instruction_set_parse (const char *name, GantryInstructionSet *set, GError **error);
/** Whether this processor, under this operating system, can run such code. */
gboolean gantry_instruction_set_available (GantryInstructionSet set);

/**
 * gantry_kernels_limit_library:
 * @set: the most that oneDNN may use from now on
 *
 * oneDNN takes such a limit once in a process, and only before it is used for anything else: to be called at the start of
 * a program, before the first gantry_kernels_compile(). A limit in the environment (ONEDNN_MAX_CPU_ISA) does the same.
 *
 * Returns: FALSE with %GANTRY_ERROR_UNSUPPORTED where the processor lacks the set, or where the library may already use
 *  more than it; TRUE also when it was limited so before
 */
gboolean gantry_kernels_limit_library (GantryInstructionSet set, GError **error);

/**
 * GantryKernelOptions:
 * @n_threads: threads to compile on, and threads that a library kernel uses when it runs; 0: all processors
 * @use_library: matrix products and convolutions by oneDNN where it can
 * @keep_texts: keep tensor expression, LLVM IR and assembly of every generated kernel (compiling takes about
 *  twice as long)
 * @optimization: 0 to 3: LLVM's level for code generation
 * @cpu: (nullable): LLVM's name of the processor to generate for, NULL: this one. Code for a processor that
 *  this one does not contain can be read but not run.
 * @instructions: what generated code may consist of, where @cpu is NULL. It is also the most that oneDNN may use, which is a
 *  matter of the process: compiling with @use_library for less than the library may use is an error that names
 *  gantry_kernels_limit_library()
 * @free_layouts: values between kernels may be kept in a blocked layout (same size) where that is faster (CPU only)
 * @layout_block: channels in a block of those layouts: 8 or 16; 0: as the instruction set has it (16 with AVX-512).
 *  Where oneDNN has no code for the other one, it reorders or generated code does the work: slower, never different
 * @target: what the code is for
 * @arch: (nullable): the GPU, NULL: "sm_90a"; one of "sm_80", "sm_90", "sm_90a" and "sm_100"
 * @cache_folder: (nullable): where assembled code is kept by content; NULL: nowhere
 * @allow_tf32: products of f32 may be rounded to 10 bits of mantissa, so that tensor cores can do them (GPU only); the sums
 *  stay f32
 * @host_calls: a custom_call has no code: who runs the program answers it (gantry_executor_set_host_call()). For programs that embed
 *  the libraries; without it a custom_call is an error that names its target
 * @gpu_library: plain products have a workspace of %GANTRY_GPU_LIBRARY_WORKSPACE, for a library that may do them (CUDA only)
 * @find_races: the code tells what its threads do to shared memory, and a race ends the process
 *  (GANTRY_CODE_GRID_ON_CPU only; slow, for tests)
 */
typedef struct
{
  guint n_threads;
  gboolean use_library;
  gboolean keep_texts;
  guint optimization;
  const char *cpu;
  GantryInstructionSet instructions;
  gboolean free_layouts;
  guint layout_block;
  GantryCodeTarget target;
  const char *arch;
  const char *cache_folder;
  gboolean allow_tf32;
  gboolean gpu_library;
  gboolean find_races;
  gboolean host_calls;
} GantryKernelOptions;

/** What cuBLASLt is given to work in: as NVIDIA recommends for Hopper. The plan counts it, and values share its place. */
#define GANTRY_GPU_LIBRARY_WORKSPACE ((guint64) 32 << 20)

#define GANTRY_KERNEL_OPTIONS_INIT { .n_threads = 0, .use_library = TRUE, .keep_texts = FALSE, .optimization = 2, \
                                     .cpu = NULL, .free_layouts = TRUE }

/**
 * GantryKernelSet: the kernels of one module's entry function and of what control in it runs, read freely.
 *
 * @n_distinct: functions generated; nodes with the same expression share one
 * @layout_blocks: how the kernels write and read the value of each node: 0: row-major; else channels (dimension 1) in
 *  blocks of so many, which are innermost
 * @code_bytes: of the code that was generated, as loaded
 * @target: what the code was generated for: "x86-64 znver3 (LLVM 19.1.7, oneDNN 2.6.3)"
 * @compile_ms: wall-clock time of the whole
 */
typedef struct
{
  guint32 n_kernels;
  guint32 n_distinct;
  guint64 code_bytes;
  GantryKernel *kernels;  /* in program order of their nodes */
  guint32 n_kernel_of;
  guint32 *kernel_of;     /* node id -> 1 + index in kernels, 0: none */
  guint8 *layout_blocks;  /* node id -> 0, 8 or 16; n_kernel_of of them */
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
GantryKernelSet *gantry_kernels_compile (GantryModule *module, const GantryKernelOptions *options,
                                         const GantryProgress *progress, GError **error);

/** Returns: (nullable): the kernel that does the work of the node */
const GantryKernel *gantry_kernel_set_find (const GantryKernelSet *set, guint32 node);
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
GantryExecutable *gantry_executable_new (GantryModule *module, GantryPlan *plan, GantryKernelSet *kernels,
                                         GError **error);

/** What LLVM calls this machine's processor: "znver3". Returns: (transfer full) */
char *gantry_kernels_processor (void);
/** Versions and processor in one line, for `--version` and recordings. Returns: (transfer full) */
char *gantry_kernels_describe (void);

G_END_DECLS
