/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up operands for a kernel that is launched by itself. Zeros would flatter it: multipliers that switch nothing take less power,
 * and the clock goes up. */
#pragma once
#include "core/graph/type.h"

G_BEGIN_DECLS

/** The least dimension that is above 0 of those of @types (nullable each): a number below it is an index along any of them; 1 where
 *  there is none. */
gint64 gantry_kernel_input_bound (const GantryType *const *types, guint n);
/**
 * gantry_kernel_input_fill:
 * @type: of static dimensions
 * @below: whole numbers are from 0 on and below this, so that they are valid as indices
 * @number: of the operand: another one has other values; the same one always the same
 * @data: (out): gantry_type_bytes() of @type: floating point numbers in [-1, 1), truth values, whole numbers
 */
void gantry_kernel_input_fill (const GantryType *type, gint64 below, guint number, guint8 *data);

G_END_DECLS
