/* SPDX-License-Identifier: Apache-2.0 */
/* One operation on arrays, by code for the processor that calls no C library. */
#pragma once
#include "core/kernels/emit/compiler.h"

/* @op of @n elements of @x and, with two operands, @y, by what @special says; no call leaves the module but for those of the model. */
void compute_elements (GantrySpecialBy special, GantryOp op, GantryElementType element, guint n_operands, gsize n, void *x, void *y, void *result);
/* Whether the processor has fused multiply-adds, which that code relies on */
gboolean compute_has_fused (void);
