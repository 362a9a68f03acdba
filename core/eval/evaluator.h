/* SPDX-License-Identifier: Apache-2.0 */
/* Computes core operations by reading their tensor expressions: the oracle of the tests and what
 * constant folding uses. f16, bf16 and f32 sums are accumulated in double. Not fast, but linear in
 * the elements computed; no expression is walked recursively. */
#pragma once
#include "core/base/progress.h"
#include "core/graph/module.h"

G_BEGIN_DECLS

/**
 * gantry_evaluate_node:
 * @operands: literals of the operand values (NULL for a tuple operand)
 * @results: (out): one literal, or one per member of a tuple type; (transfer full)
 */
gboolean gantry_evaluate_node (const GantryModule *module, const GantryNode *node, GantryLiteral *const *operands, GantryLiteral **results, guint n_results,
                               GError **error);
/**
 * gantry_evaluate:
 * @arguments: one literal per parameter of @function
 * @results: (out): one per result, (transfer full)
 *
 * Runs a whole function, control flow and fusions included.
 */
gboolean gantry_evaluate (const GantryModule *module, const GantryFunction *function, GantryLiteral *const *arguments, GantryLiteral **results,
                          const GantryProgress *progress, GError **error);

G_END_DECLS
