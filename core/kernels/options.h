/* SPDX-License-Identifier: Apache-2.0 */
/* How kernels are made. */
#pragma once
#include "core/kernels/instructions.h"
#include "core/plan/code-target.h"
#include "core/plan/compression.h"

G_BEGIN_DECLS

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
 * @free_layouts: values between kernels may be kept in a blocked layout (same size) where that is faster: convolutions of oneDNN in f32, those
 *  for a GPU in f16 and bf16
 * @layout_block: channels in a block of those layouts: 8 or 16; 0: as the instruction set has it (16 with AVX-512).
 *  Where oneDNN has no code for the other one, it reorders or generated code does the work: slower, never different
 * @target: what the code is for
 * @arch: (nullable): the GPU, NULL: "sm_90a"; one of "sm_80", "sm_90", "sm_90a" and "sm_100"
 * @cache_folder: (nullable): where assembled code is kept by content; NULL: nowhere
 * @allow_tf32: factors of matrix products and convolutions of f32 may be rounded to 10 bits of mantissa, so that tensor cores can do them
 *  (GPU only); the sums stay f32
 * @host_calls: a custom_call has no code: who runs the program answers it (gantry_executor_set_host_call()). For programs that embed
 *  the libraries; without it a custom_call is an error that names its target
 * @gpu_library: plain products have a workspace of %GANTRY_GPU_LIBRARY_WORKSPACE, for a library that may do them (CUDA only)
 * @compressions: (nullable) (element-type GantryCompression): conversions that the plan may make
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
  const GArray *compressions;
} GantryKernelOptions;

/** What cuBLASLt is given to work in: as NVIDIA recommends for Hopper. The plan counts it, and values share its place. */
#define GANTRY_GPU_LIBRARY_WORKSPACE ((guint64) 32 << 20)

#define GANTRY_KERNEL_OPTIONS_INIT \
  { \
    .n_threads = 0, .use_library = TRUE, .keep_texts = FALSE, .optimization = 2, .cpu = NULL, .free_layouts = TRUE \
  }

G_END_DECLS
