/* SPDX-License-Identifier: Apache-2.0 */
/* Which values may have bytes in common, as the expressions of their operations allow it. */
#pragma once
#include "core/graph/operation.h"

G_BEGIN_DECLS

/** TRUE when the result may be written over operand @i: same bytes, each element read before only its own is written. */
gboolean gantry_node_may_alias (const GantryModule *module, const GantryNode *node, guint i);
/**
 * gantry_slice_is_contiguous:
 * @offset: (out): bytes from the operand's begin to the result's
 *
 * Returns: TRUE where the elements that a slice takes stand together and in order in its row-major operand
 */
gboolean gantry_slice_is_contiguous (const GantryModule *module, const GantryNode *node, guint64 *offset);
/** TRUE where the operands of a concatenation stand one behind the other in its row-major result. */
gboolean gantry_concatenate_is_contiguous (const GantryModule *module, const GantryNode *node);
/**
 * gantry_node_may_share:
 *
 * Whether a plan may give operand @i and the result bytes in common: one written over the other, a view of a part, or a part
 * that is made inside the whole. All values that are tied by this have to be laid out in the same way.
 */
gboolean gantry_node_may_share (const GantryModule *module, const GantryNode *node, guint i);

G_END_DECLS
