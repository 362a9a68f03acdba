/* SPDX-License-Identifier: Apache-2.0 */
/* What lowering rules of every front end write: short compositions of the builder's operations. As in its own sugar, an
 * operand 0 gives 0 and records no error: it was absent, or what should have made it has failed and said why. */
#pragma once
#include "core/graph/builder.h"

G_BEGIN_DECLS

/**
 * gantry_builder_add_operands:
 * @attrs: (transfer full) (nullable)
 * @operands: @n ids, 8 at most
 *
 * Adds a core operation whose operands stand in an argument list. Returns: the node id; 0 on error, and where one is 0
 */
guint32 gantry_builder_add_operands (GantryBuilder *builder, guint op, GantryAttrList *attrs, guint n, va_list operands);

/**
 * gantry_builder_refuse:
 * @failed: (inout): whether the rule has refused already: then nothing is recorded; %TRUE afterwards
 *
 * Records a %GANTRY_ERROR_UNSUPPORTED by the rule of an operation.
 */
void gantry_builder_refuse (GantryBuilder *builder, gboolean *failed, const char *format, va_list arguments);

/**
 * gantry_builder_like:
 * @x: a tensor
 *
 * Returns: a scalar constant of @x's element type
 */
guint32 gantry_builder_like (GantryBuilder *builder, guint32 x, double value);
/** @n numbers as a constant of one dimension, rounded to @element. */
guint32 gantry_builder_floats (GantryBuilder *builder, GantryElementType element, const double *values, gint64 n);
/** @x times @factor; @x itself for 1. */
guint32 gantry_builder_scale (GantryBuilder *builder, guint32 x, double factor);
/** @x plus @term; @x itself for 0. */
guint32 gantry_builder_offset (GantryBuilder *builder, guint32 x, double term);
/** @x where it is at most 0, else 0: its derivative at 0 is 1, so that what continues a function below 0 smoothly has its own there. */
guint32 gantry_builder_at_most_zero (GantryBuilder *builder, guint32 x);
/** log (1 + exp (@x)) without overflow; its derivative is the logistic of @x, at 0 too. */
guint32 gantry_builder_softplus (GantryBuilder *builder, guint32 x);
/** f16 and bf16 as f32, in which sums of them are computed; @x itself where it is another type. */
guint32 gantry_builder_widen (GantryBuilder *builder, guint32 x);

/** @x with axes @a and @b exchanged; itself where they are the same. */
guint32 gantry_builder_swap_axes (GantryBuilder *builder, guint32 x, gint64 a, gint64 b);
/**
 * gantry_builder_along:
 * @x: n elements, in any shape
 *
 * Returns: @x with @rank dimensions, all 1 but n at @axis, so that it broadcasts along that axis of another value
 */
guint32 gantry_builder_along (GantryBuilder *builder, guint32 x, guint rank, gint64 axis);
/** Elements [@start, @limit) by @stride of one axis; @x itself where that is all of them. */
guint32 gantry_builder_slice_axis (GantryBuilder *builder, guint32 x, gint64 axis, gint64 start, gint64 limit, gint64 stride);
/** @x with the order of @axes reversed; itself for no axes. */
guint32 gantry_builder_reverse (GantryBuilder *builder, guint32 x, const gint64 *axes, gsize n);
/**
 * gantry_builder_pad_if_any:
 * @value: a scalar of @x's element type
 * @interior: (nullable): none
 *
 * Returns: gantry_builder_pad(); @x itself where all of @low, @high and @interior are 0
 */
guint32 gantry_builder_pad_if_any (GantryBuilder *builder, guint32 x, guint32 value, const gint64 *low, const gint64 *high, const gint64 *interior);
/**
 * gantry_builder_take:
 * @indices: integers of any rank, none negative; one out of range is clamped
 *
 * Elements along @axis. Returns: @x with the dimensions of @indices in place of the axis
 */
guint32 gantry_builder_take (GantryBuilder *builder, guint32 x, gint64 axis, guint32 indices);
/**
 * gantry_builder_scatter_vectors:
 * @vectors: i64[..., k]: places in the first k dimensions of @x, each along the last dimension
 * @updates: their dimensions without the last one, then the dimensions of @x that the places leave
 * @kind: as that of the operation: "set" "add" "mul" "min" "max"
 *
 * Returns: @x with slices set to @updates or combined with them
 */
guint32 gantry_builder_scatter_vectors (GantryBuilder *builder, guint32 x, guint32 vectors, guint32 updates, const char *kind);
/** @indices of any integer type as i64, where i < 0 means i + @size: only converted where all are known to be >= 0. */
guint32 gantry_builder_wrap_indices (GantryBuilder *builder, guint32 indices, gint64 size);

/**
 * gantry_builder_reduce_axes:
 * @kind: as gantry_builder_reduce()
 * @axes: in any order
 * @keep: leave a dimension of 1 at each of @axes
 *
 * Returns: the reduction; @x itself for no axes
 */
guint32 gantry_builder_reduce_axes (GantryBuilder *builder, const char *kind, guint32 x, const gint64 *axes, gsize n, gboolean keep);
/** The mean over @axes, kept as dimensions of 1, as f32 at least. */
guint32 gantry_builder_mean (GantryBuilder *builder, guint32 x, const gint64 *axes, gsize n);
/** exp (x - max) / sum over @axes together, or the logarithm of it, as f32 at least. */
guint32 gantry_builder_softmax (GantryBuilder *builder, guint32 x, const gint64 *axes, gsize n, gboolean logarithm);

G_END_DECLS
