/* SPDX-License-Identifier: Apache-2.0 */
/* Folding: a node of constants is computed as it is added to a builder. */
#include "core/eval/fold.h"
#include "core/eval/evaluator.h"
#include "core/graph/operation.h"

/* A module of one node over parameters, so that the evaluator can be asked about a node not yet frozen. */
static GantryLiteral *
evaluate_alone (GantryBuilder *builder, guint op, GantryLiteral **operands, const guint32 *types, guint n, guint32 attrs, guint32 type)
{
  g_autofree GantryNode *nodes = g_new0 (GantryNode, n + 1);
  g_autofree guint32 *ids = g_new0 (guint32, n + 1);
  g_autofree guint32 *index = g_new0 (guint32, n + 2);
  GantryFunction function = { .id = 1, .n_nodes = n + 1, .n_params = n };
  GantryModule module = { .context = gantry_builder_context (builder),
                          .n_functions = 1,
                          .n_nodes = n + 1,
                          .n_operands = n,
                          .n_index = n + 2,
                          .functions = &function,
                          .nodes = nodes,
                          .operands = ids,
                          .index = index };
  GantryLiteral *result = NULL;

  for (guint i = 0; i <= n; i++)
    {
      nodes[i].id = i + 1;
      nodes[i].op = GANTRY_OP_PARAMETER;
      nodes[i].type = i < n ? types[i] : type;
      index[i + 1] = i + 1;
      if (i < n)
        ids[i] = i + 1;
    }
  nodes[n].op = (guint16) op;
  nodes[n].n_operands = n;
  nodes[n].attrs = attrs;
  /* A node that cannot be folded is simply not folded. */
  gantry_evaluate_node (&module, &nodes[n], operands, &result, 1, NULL);
  return result;
}

static gboolean
foldable (guint op)
{
  const GantryOpInfo *info = gantry_op_info (op);

  return info != NULL && (info->flags & (GANTRY_OP_EXTERN | GANTRY_OP_STRUCTURE | GANTRY_OP_RANDOM | GANTRY_OP_EFFECT)) == 0 && op != GANTRY_OP_FUSION
         && op != GANTRY_OP_CHECKPOINT_NAME;
}

guint32
gantry_fold_node (GantryBuilder *builder, guint op, const guint32 *operands, guint n, guint32 attrs, guint32 type, gint64 limit)
{
  g_autofree GantryLiteral **values = g_new0 (GantryLiteral *, n + 1);
  g_autofree guint32 *types = g_new0 (guint32, n + 1);
  g_autoptr (GantryLiteral) result = NULL;
  gint64 elements = gantry_type_elements (gantry_context_type (gantry_builder_context (builder), type));

  if (limit <= 0 || elements < 0 || elements > limit || !foldable (op))
    return 0;
  for (guint i = 0; i < n; i++)
    {
      values[i] = gantry_builder_constant_of (builder, operands[i]);
      if (values[i] == NULL || gantry_type_elements (values[i]->type) > 64 * limit)
        return 0;
      types[i] = gantry_builder_type (builder, operands[i]);
    }
  result = evaluate_alone (builder, op, values, types, n, attrs, type);
  return result != NULL ? gantry_builder_literal (builder, result) : 0;
}

void
gantry_fold_set_limit (GantryBuilder *builder, gint64 elements)
{
  gantry_builder_set_fold (builder, elements > 0 ? gantry_fold_node : NULL, elements);
}
