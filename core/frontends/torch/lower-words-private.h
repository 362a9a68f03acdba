/* SPDX-License-Identifier: Apache-2.0 */
/* Short words for the arithmetic of rules, in which @l is the AtenLower. Operands broadcast. */
#pragma once
#include "core/frontends/torch/lower-private.h"

#define BINARY(op, x, y) gantry_builder_binary_broadcast (l->b, GANTRY_OP_##op, x, y)
#define UNARY(op, x) gantry_builder_unary (l->b, GANTRY_OP_##op, x)
#define LIKE(x, value) gantry_builder_like (l->b, x, value)
