/* SPDX-License-Identifier: Apache-2.0 */
/* Constant folding while a graph is built. */
#pragma once
#include "core/graph/builder.h"

G_BEGIN_DECLS

/** A #GantryFoldFunc that asks the evaluator: nodes whose operands are all constants and whose result has at most @limit elements. */
guint32 gantry_fold_node (GantryBuilder *builder, guint op, const guint32 *operands, guint n, guint32 attrs, guint32 type, gint64 limit);
/** Folds nodes with @builder, from now on, whose result has at most @elements elements; 0: none. */
void gantry_fold_set_limit (GantryBuilder *builder, gint64 elements);

G_END_DECLS
