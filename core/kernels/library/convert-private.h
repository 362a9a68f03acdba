/* SPDX-License-Identifier: Apache-2.0 */
/* Whole arrays between the 16-bit float types and float: the library computes in float only. */
#pragma once
#include "core/graph/type.h"

G_BEGIN_DECLS

/** @element: f16 or bf16. No alignment is needed. */
void gantry_convert_to_float (GantryElementType element, const void *from, float *to, gsize n);
void gantry_convert_from_float (GantryElementType element, const float *from, void *to, gsize n);

G_END_DECLS
