/* SPDX-License-Identifier: Apache-2.0 */
/* Random fusions of f32: elementwise operations, comparisons, conversions, movements and reductions, with one or two
 * results of one shape, over operands of that shape, of one dimension of it or of none. */
#pragma once
#include "core/ir/ir.h"

/** The same module for the same state of @rand. (transfer full) */
GantryModule *random_fusion_module (GantryContext *context, GRand *rand);
