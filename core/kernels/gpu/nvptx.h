/* SPDX-License-Identifier: Apache-2.0 */
/* LLVM set up for NVIDIA's GPUs: modules of kernels, which become PTX. */
#pragma once
#include "core/kernels/emit/compiler.h"
#include "core/kernels/emit/grid-emit.h"

G_BEGIN_DECLS

/**
 * gantry_compiler_new_nvptx:
 * @gpu: kept; for sm_100, which LLVM 19 does not know, the code is that of sm_90
 * @level: of code generation, 0 to 3
 */
GantryCompiler *gantry_compiler_new_nvptx (const GantryGpu *gpu, guint level, GError **error);

/** Starts a module without any function. */
void gantry_nvptx_begin (GantryCompiler *compiler, const char *name, GantryEmit *emit);
/** Starts the kernel @name (@n_parameters addresses of global memory) for blocks as @grid says; open at its first
 * block. */
void gantry_nvptx_begin_kernel (GantryEmit *emit, const char *name, guint n_parameters, const GantryGrid *grid);
/** Closes the kernel begun last */
void gantry_nvptx_end_kernel (GantryEmit *emit);
/** Runs the passes, disposes of the module. Returns: (transfer full) (nullable): PTX */
char *gantry_nvptx_end (GantryCompiler *compiler, GantryEmit *emit, char **ir, GError **error);

/* grid-ptx-wgmma.c: see GantryGridMachine. */
/** A WGMMA, its commit and its wait for older ones. @d: this thread's sums, added to; @a: @b: the tiles' addresses in shared memory */
void gantry_nvptx_wgmma (GantryGridEmit *emit, const GantryGridStatement *statement, LLVMValueRef d, LLVMValueRef a, LLVMValueRef b);
/** wgmma.wait_group for all that is under way. @d: this thread's sums, which may be read from here on. */
void gantry_nvptx_wgmma_await (GantryGridEmit *emit, const GantryGridStatement *statement, LLVMValueRef d);
/** fence.proxy.async: what this thread wrote to shared memory before is there for a wgmma after the next barrier. */
void gantry_nvptx_wgmma_fence (GantryGridEmit *emit);

G_END_DECLS
