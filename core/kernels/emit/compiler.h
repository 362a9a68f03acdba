/* SPDX-License-Identifier: Apache-2.0 */
/* LLVM set up: compilers (one for each thread: a context and a target machine) that turn a module into an object file. */
#pragma once
#include "core/base/base.h"
#include "core/expr/texpr.h"
#include "core/kernels/emit/emit.h"
#include "core/kernels/program/grid.h"

G_BEGIN_DECLS

typedef struct
{
  LLVMContextRef context;
  LLVMTargetMachineRef machine;
  char *cpu;
  char *features;
  guint vector_bytes;
  gboolean has_fma;
  gboolean has_f16c;
  gboolean no_calls;       /* as in GantryEmit */
  GantrySpecialBy special; /* the same; of code for the processor NONE or BY_MODEL, which wants has_fma */
  gboolean find_races;     /* as in GantryKernelOptions */
  GantryGpu *gpu;          /* (nullable): made by gantry_compiler_new_nvptx() */
} GantryCompiler;

/** @cpu: (nullable): NULL: the host's; @level: 0..3 */
GantryCompiler *gantry_compiler_new (const char *cpu, guint level, GError **error);
void gantry_compiler_free (GantryCompiler *compiler);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryCompiler, gantry_compiler_free)

/** Starts a module. Its function `name` (const void *state, void *const *buffers, i64 begin, i64 end) is open at its
 *  first block. */
void gantry_compiler_begin (GantryCompiler *compiler, const char *name, GantryEmit *emit);
/**
 * gantry_compiler_end:
 * @ir: @assembly: (out) (nullable): texts
 *
 * Runs the passes and generates code; disposes of the module. Returns: an object file, NULL and @error on failure
 */
LLVMMemoryBufferRef gantry_compiler_end (GantryCompiler *compiler, GantryEmit *emit, char **ir, char **assembly, GError **error);

/** LLVM's name of this processor. (transfer full) */
char *gantry_compiler_host_cpu (void);
/** This processor has @feature, by LLVM's name of it, and the operating system lets it be used. */
gboolean gantry_compiler_host_has (const char *feature);

/** Adds what in @texpr cannot be generated to @why (one line each). Returns: FALSE when there is something. */
gboolean gantry_generate_check (const GantryTexpr *texpr, const GantryCompiler *compiler, GString *why);
/** Makes LLVM's target for x86-64 known; once for a process. gantry_llvm_load() comes first. */
void gantry_compiler_initialize_x86 (void);

G_END_DECLS
