/* SPDX-License-Identifier: Apache-2.0 */
/* Random fusions of f32: elementwise operations, comparisons, conversions, movements and reductions, with one or two
 * results of one shape, over operands of that shape, of one dimension of it or of none. */
#pragma once
#include "core/graph/graph.h"

/** The same module for the same state of @rand. (transfer full) */
GantryModule *random_fusion_module (GantryContext *context, GRand *rand);

/** Of one and more of an argument's size: more than the kernel and the evaluator may differ in it. */
#define RANDOM_FUSION_JITTER 0x1p-13f
/** The same module, but that the arguments of functions that jump (floor, sign, comparisons, integers) are moved by RANDOM_FUSION_JITTER
 *  up or down, each element by itself: what is another result then is decided by rounding, and all else is the same to the bit.
 *  (transfer full) */
GantryModule *random_fusion_module_with_jitter (GantryContext *context, GRand *rand, GRand *jitter);
