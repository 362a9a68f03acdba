/* SPDX-License-Identifier: Apache-2.0 */
/* Pseudo-random weights in place of a model's own: for models published without their weights, and to
 * compare two programs on values that mean something everywhere. */
#pragma once
#include "core/base/progress.h"
#include "core/graph/module.h"

G_BEGIN_DECLS

/**
 * gantry_randomize_weights:
 * @module: as imported
 * @seed: equal seeds give equal weights
 *
 * Replaces each floating point constant, and each value that a ConstantOfShape of static type makes, that has
 * more than one element and that a result is computed with: what only tells operations what to do
 * (gantry_operand_is_setting(): the scales of Resize) stays. Element i of the value named n gets
 *
 *     u = (splitmix64 (fnv1a64 (n) + seed * 0x9e3779b97f4a7c15 + i) >> 40) / 2^24
 *     rank 1: 0.25 + u / 2     higher rank: (2 u - 1) * sqrt (6 / (elements / first dimension))
 *
 * (He initialization in uniform form for the latter; the former keep normalized residual networks from growing), rounded
 * to the element type; u is gantry_random_at() of core/base/random.h.
 *
 * Returns: (transfer full) (nullable)
 */
GantryModule *gantry_randomize_weights (GantryModule *module, gint64 seed, const GantryProgress *progress, GError **error);

G_END_DECLS
