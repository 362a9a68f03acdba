/* SPDX-License-Identifier: Apache-2.0 */
/* What one kernel computes: the expressions of its results over its operands, and how all of them lie in memory. */
#pragma once
#include "core/expr/kernel-expression.h"

G_BEGIN_DECLS

/** One kernel. Buffers: inputs, then one per result. */
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
/** Everything that the code depends on, as bytes: equal keys give equal code. */
GBytes *gantry_kernel_source_key (const GantryKernelSource *source);

G_END_DECLS
