/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of the attributes of core operations that type rules, costs and expressions need alike, of a node whose type rule has passed. */
#pragma once
#include "core/graph/operation.h"

G_BEGIN_DECLS

/** ADD, MULTIPLY, MAXIMUM, MINIMUM, AND or OR for "add" "mul" "max" "min" "and" "or"; NONE for another @kind. */
GantryOp gantry_reduction_op (const char *kind);
/** Writes list attribute @key to @values, or @fallback @n times where it is absent. */
void gantry_op_ints (GantryContext *context, guint32 attrs, const char *key, guint n, gint64 fallback, gint64 *values);
/** Fills in a list of dimension numbers as a mask. */
guint32 gantry_op_mask (GantryContext *context, guint32 attrs, const char *key);
/** One windowed dimension: the position read is o * stride + w * window_dilation - low, in the dilated base. */
typedef struct
{
  gint64 size, stride, low, high, base_dilation, window_dilation;
} GantryWindow;
/** @operation: CONVOLUTION or REDUCE_WINDOW; the sizes of a convolution's windows are left alone. */
void gantry_op_windows (GantryContext *context, guint32 attrs, GantryOp operation, guint n, GantryWindow *windows);
/**
 * gantry_op_running_axis:
 * @windows: of a REDUCE_WINDOW, one for each dimension of @type
 * @reverse: (out): whether the window begins at each element, and does not end there; untouched where there is no axis
 *
 * Returns: the one axis along which values run, sums for example: the window is as long as it and ends, or begins, at each element; -1
 *  where it is none
 */
gint gantry_op_running_axis (const GantryWindow *windows, const GantryType *type, gboolean *reverse);

G_END_DECLS
