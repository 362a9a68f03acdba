/* SPDX-License-Identifier: Apache-2.0 */
/* The linker in which objects become callable code. */
#pragma once
#include "core/kernels/emit/compiler.h"

G_BEGIN_DECLS

typedef struct _GantryJit GantryJit;
/** Without any object. (transfer full) (nullable): %GANTRY_ERROR_FAILED where LLVM's linker does not start */
GantryJit *gantry_jit_new (GError **error);
void gantry_jit_free (GantryJit *jit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryJit, gantry_jit_free)
/** Bytes that the code and data of @object take once it is linked: each kind in pages of its own. */
guint64 gantry_jit_object_bytes (LLVMMemoryBufferRef object);
/** Takes @object. Safe from any thread. */
gboolean gantry_jit_add (GantryJit *jit, LLVMMemoryBufferRef object, GError **error);
/** The address of the function @name of an object that was added, which lives as long as @jit; %NULL with %GANTRY_ERROR_FAILED where
 *  it has none */
gpointer gantry_jit_find (GantryJit *jit, const char *name, GError **error);

G_END_DECLS
