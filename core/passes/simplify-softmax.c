/* SPDX-License-Identifier: Apache-2.0 */
/* simplify: what a softmax leaves to its backward phase. */
#include "core/passes/simplify-private.h"
#include "core/graph/operation.h"
#include <string.h>

/* Is it the sum of elements of @of, one for each row, at all places of the row? */
static gboolean
is_own_sum (const GantryModule *module, const GantryNode *node, const GantryNode *of)
{
  while (node != NULL && (node->op == GANTRY_OP_BROADCAST_IN_DIM || node->op == GANTRY_OP_RESHAPE))
    node = gantry_node_operand (module, node, 0);
  return node != NULL && node->op == GANTRY_OP_REDUCE && gantry_node_operand (module, node, 0) == of
         && strcmp (gantry_attrs_string (module->context, node->attrs, "kind", ""), "add") == 0;
}

/* Is it there in the backward phase in any case, since a node reads it that is no part of a fusion? */
static gboolean
is_kept (const GantryModule *module, const GantryUses *uses, guint32 position)
{
  for (guint32 i = uses->first[position]; i < uses->first[position + 1]; i++)
    if (uses->users[i] != G_MAXUINT32)
      {
        const GantryNode *user = &module->nodes[uses->users[i]];
        const GantryOpInfo *info = gantry_op_info (user->op);

        if (user->phase != GANTRY_PHASE_FORWARD && info != NULL && (info->flags & (GANTRY_OP_ELEMENTWISE | GANTRY_OP_VIEW)) == 0)
          return TRUE;
      }
  return FALSE;
}

/* The softmax of the exponential @e, made before @position. */
static const GantryNode *
softmax_of (const GantryModule *module, const GantryUses *uses, const GantryNode *e, guint32 position)
{
  guint32 at = gantry_module_position (module, e);

  for (guint32 i = uses->first[at]; i < uses->first[at + 1]; i++)
    {
      const GantryNode *user = uses->users[i] < position ? &module->nodes[uses->users[i]] : NULL;

      if (user != NULL && user->op == GANTRY_OP_DIVIDE && user->phase == GANTRY_PHASE_FORWARD && gantry_node_operand (module, user, 0) == e
          && is_own_sum (module, gantry_node_operand (module, user, 1), e) && is_kept (module, uses, uses->users[i]))
        return user;
    }
  return NULL;
}

guint32
_gantry_simplify_softmax (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, const guint32 *x, const GantryUses *uses)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);

  for (guint i = 0; i < 2 && node->phase != GANTRY_PHASE_FORWARD; i++)
    {
      const GantryNode *e = gantry_node_operand (module, node, i), *quotient = NULL;
      guint32 again;

      if (e != NULL && e->op == GANTRY_OP_EXPONENTIAL && e->phase == GANTRY_PHASE_FORWARD)
        quotient = softmax_of (module, uses, e, gantry_module_position (module, node));
      if (quotient == NULL)
        continue;
      again = gantry_builder_binary (b, GANTRY_OP_MULTIPLY, gantry_rewriter_map (rewriter, quotient->id),
                                     gantry_rewriter_map (rewriter, gantry_node_operand_id (module, quotient, 1)));
      return gantry_builder_binary (b, GANTRY_OP_MULTIPLY, i == 0 ? again : x[0], i == 0 ? x[1] : again);
    }
  return 0;
}
