/* SPDX-License-Identifier: Apache-2.0 */
/* From tensor expressions to an object file for the processor: one kernel. */
#pragma once
#include "core/expr/kernel-source.h"
#include "core/kernels/emit/compiler.h"

G_BEGIN_DECLS

/** Generates the function @name. Returns: the object, NULL with @error. */
LLVMMemoryBufferRef
gantry_generate (GantryCompiler *compiler, const GantryKernelSource *source, const char *name, gint64 *n_tasks, char **ir, char **assembly, GError **error);

G_END_DECLS
