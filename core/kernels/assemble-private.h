/* SPDX-License-Identifier: Apache-2.0 */
/* What the assembly of an executable checks beside its own lists. */
#pragma once
#include "core/kernels/kernels.h"

G_BEGIN_DECLS

/**
 * gantry_assembly_check_layouts:
 * @plan: its steps name buffers and nodes that there are
 *
 * Every place is read in the layout that it was written in, views and parts of it included; what comes in and goes out is
 * row-major; and where a result is written over an operand both lie alike. Goes through the steps once.
 *
 * Returns: FALSE with the node and the value in @error
 */
gboolean gantry_assembly_check_layouts (const GantryModule *module, const GantryPlan *plan, const GantryKernelSet *kernels, GError **error);

G_END_DECLS
