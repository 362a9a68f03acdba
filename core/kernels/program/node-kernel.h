/* SPDX-License-Identifier: Apache-2.0 */
/* What makes a kernel of one kind out of a node. Each maker fills in a GantryKernel (its name, node and
 * costs are there already) or says why it cannot. */
#pragma once
#include "core/plan/executable.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_MADE,
  GANTRY_NOT_MINE, /* another kind of kernel has to do it */
  GANTRY_CANNOT,   /* nobody can; the reason is appended to @why, one line */
} GantryMade;

/** "fusion_12_add_relu": what it is made of, not too long; without the id as good for other nodes of its like. */
char *gantry_node_kernel_name (const GantryModule *module, const GantryNode *node, gboolean with_id);
/** How many types a node's value has: members of a tuple, else 1; and each of them. */
guint gantry_node_n_results (const GantryModule *module, const GantryNode *node);
/** @i: below gantry_node_n_results(). Returns: (transfer none): the type of that result, never NULL */
const GantryType *gantry_node_result_type (const GantryModule *module, const GantryNode *node, guint i);
/** The literal that operand @i is, NULL when it is computed. */
GantryLiteral *gantry_node_operand_literal (const GantryModule *module, const GantryNode *node, guint i);

G_END_DECLS
