/* SPDX-License-Identifier: Apache-2.0 */
/* From tensor expressions to an object file: one kernel. */
#pragma once
#include "core/kernels/jit-private.h"
#include "core/kernels/nest-private.h"

G_BEGIN_DECLS

/** One kernel to generate. Buffers: inputs, then one per result. */
typedef struct
{
  guint n_inputs;
  GantryKxInput *inputs;
  GPtrArray *results;      /* GantryTexpr, over all the inputs */
  GantryKxLayout *layouts; /* of the results */
} GantryKernelSource;

/** Whether result @i has elements, and none before it is of its shape. */
gboolean gantry_kernel_source_leads (const GantryKernelSource *source, guint i);
/** All results of the shape of result @first that stand at or after it. Returns: (transfer full): NULL with @error */
GantryKx *gantry_kernel_source_group (const GantryKernelSource *source, guint first, GError **error);
/** Adds what in @texpr cannot be generated to @why (one line each). Returns: FALSE when there is something. */
gboolean gantry_generate_check (const GantryTexpr *texpr, const GantryCompiler *compiler, GString *why);
/** Everything that the code depends on, as bytes: equal keys give equal code. */
GBytes *gantry_generate_key (const GantryKernelSource *source);
/** Generates the function @name. Returns: the object, NULL with @error. */
LLVMMemoryBufferRef gantry_generate (GantryCompiler *compiler, const GantryKernelSource *source, const char *name,
                                     gint64 *n_tasks, char **ir, char **assembly, GError **error);

G_END_DECLS
