/* SPDX-License-Identifier: Apache-2.0 */
/* Short words for the arithmetic of rules, in which @l is the GantryLower. Operands broadcast as numpy does. */
#pragma once
#include "core/frontends/onnx/onnx-lower.h"

#define BINARY(op, x, y) gantry_builder_binary_broadcast (l->b, GANTRY_OP_##op, x, y)
#define ADD(x, y) BINARY (ADD, x, y)
#define SUBTRACT(x, y) BINARY (SUBTRACT, x, y)
#define MULTIPLY(x, y) BINARY (MULTIPLY, x, y)
#define DIVIDE(x, y) BINARY (DIVIDE, x, y)
#define MAXIMUM(x, y) BINARY (MAXIMUM, x, y)
#define MINIMUM(x, y) BINARY (MINIMUM, x, y)
#define UNARY(op, x) gantry_lower_unary (l, GANTRY_OP_##op, x)
#define LIKE(x, value) gantry_builder_like (l->b, x, value)
