/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products that cuBLASLt can do. */
#pragma once
#include "core/plan/executable.h"

G_BEGIN_DECLS

/** Returns: (transfer full) (nullable): the product that the node's kernel is and no more */
GantryGpuProduct *gantry_product_of (const GantryModule *module, const GantryNode *node);

G_END_DECLS
