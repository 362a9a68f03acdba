/* SPDX-License-Identifier: Apache-2.0 */
/* Looking back at functions that a builder has ended, before the module is finished. */
#pragma once
#include "core/graph/builder.h"

G_BEGIN_DECLS

/** Returns: (nullable): what stands at @position of a function that was ended, parameters first; captures are not among them. Valid until the next add */
const GantryNode *gantry_builder_node_at (GantryBuilder *builder, guint32 function_id, guint position);
/** Returns: (nullable): the ids that a function returns which was ended, @n of them; NULL for none. Valid until the next add */
const guint32 *gantry_builder_results (GantryBuilder *builder, guint32 function_id, guint *n);

G_END_DECLS
