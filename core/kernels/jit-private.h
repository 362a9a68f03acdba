/* SPDX-License-Identifier: Apache-2.0 */
/* LLVM set up: compilers (one for each thread: a context and a target machine) that turn a module into
 * an object file, and the linker in which objects become callable code. */
#pragma once
#include "core/base/base.h"
#include "core/kernels/emit-private.h"
#include "core/kernels/grid-private.h"

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
  gboolean no_calls;     /* as in GantryEmit */
  GantryGpu *gpu;        /* (nullable): made by gantry_compiler_new_nvptx() */
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
LLVMMemoryBufferRef gantry_compiler_end (GantryCompiler *compiler, GantryEmit *emit, char **ir, char **assembly,
                                         GError **error);

typedef struct _GantryJit GantryJit;
GantryJit *gantry_jit_new (GError **error);
void gantry_jit_free (GantryJit *jit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryJit, gantry_jit_free)
/** Takes @object. Safe from any thread. */
/** Bytes that the code and data of @object take once it is linked: each kind in pages of its own. */
guint64 gantry_jit_object_bytes (LLVMMemoryBufferRef object);
gboolean gantry_jit_add (GantryJit *jit, LLVMMemoryBufferRef object, GError **error);
gpointer gantry_jit_find (GantryJit *jit, const char *name, GError **error);

/** LLVM's name of this processor. (transfer full) */
char *gantry_jit_host_cpu (void);
/** This processor has @feature, by LLVM's name of it, and the operating system lets it be used. */
gboolean gantry_jit_host_has (const char *feature);

G_END_DECLS
