/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that are put together for loops alone: what a plan of a training step gives no place, and what nothing is to be placed of. */
#pragma once
#include "core/graph/module.h"

G_BEGIN_DECLS

/**
 * gantry_function_find_walked:
 * @needed: (nullable): by position within the function: nodes that are run; %NULL: all
 *
 * Finds the concatenations of which loops alone read, along the first dimension, a slice each trip, and that have as many operands as such
 * a loop has trips: trip i can have operand i where it lies. Linear in nodes and operands.
 *
 * Returns: (transfer full): by position within the function
 */
guint8 *gantry_function_find_walked (const GantryModule *module, const GantryFunction *function, const guint8 *needed);

G_END_DECLS
