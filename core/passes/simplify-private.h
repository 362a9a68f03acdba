/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pass simplify share. */
#pragma once
#include "core/graph/rewriter.h"

G_BEGIN_DECLS

/** Has @id one @value (out) for all elements, as a constant? */
gboolean _gantry_simplify_is_uniform (GantryBuilder *b, guint32 id, double *value);

/**
 * _gantry_simplify_add_in_place:
 * @node: a sum of @module
 * @x: its operands, new ids
 *
 * The gradients of many slices of one value are added up in the storage of the sum, each in its own place, instead of as arrays
 * of the whole size that are zero elsewhere: x + pad (u) is x with u added to that slice of it. Only of gradients: in a forward
 * program the sum is better off fused with what follows.
 *
 * Returns: the value that takes the place of @node, 0 where it is not such a sum
 */
guint32 _gantry_simplify_add_in_place (GantryBuilder *b, const GantryModule *module, const GantryNode *node, const guint32 *x, const GantryUses *uses);

/**
 * _gantry_simplify_running:
 * @node: a reduce_window
 * @x: its operand, new id
 *
 * A running sum, product or extreme of a long axis is a window as long as the axis at each element: n * n operations. By blocks of 32 it is
 * about 32 n; a sum is rounded at each level. Those of f16 and bf16 are computed in f32. (Two levels of what Blelloch, Prefix Sums and Their
 * Applications, 1990, has as a tree.)
 *
 * Returns: the value that takes the place of @node, 0 where it is no such window
 */
guint32 _gantry_simplify_running (GantryBuilder *b, const GantryNode *node, guint32 x);

/**
 * _gantry_simplify_scatter:
 * @x: operands of the scatter @node, new ids
 *
 * The gradient of what takes one element of each row, of x[i, label[i]], is a scatter of one place in each row of zeros. It is a
 * choice by the place: elementwise, so that it is computed where it is read, and neither the zeros nor the result are kept.
 *
 * Returns: the value that takes the place of @node, 0 where it is not such a scatter
 */
guint32 _gantry_simplify_scatter (GantryBuilder *b, const GantryNode *node, const guint32 *x);

/**
 * _gantry_simplify_softmax:
 * @node: a product of @module
 * @x: its operands, new ids
 *
 * Where the derivative of p = e / sum (e), e = exp (t), has been written by the rules of quotient and exponential, the backward phase
 * reads e, and p too where a product does: two values of one size. e is p * sum (e), but for rounding, so that p alone is kept.
 *
 * Returns: the value that takes the place of @node, 0 where it is no product with such an e
 */
guint32 _gantry_simplify_softmax (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, const guint32 *x, const GantryUses *uses);

G_END_DECLS
