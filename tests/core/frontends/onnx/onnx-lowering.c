/* SPDX-License-Identifier: Apache-2.0 */
/* Walks an imported module and asks the dialect for the core operations of each node. */
#include "tests/core/frontends/onnx/onnx-lowering.h"
#include "core/eval/fold.h"

#define FOLD_LIMIT 4096

/* The values of the nodes of the entry: of a tuple its members. */
typedef struct
{
  guint32 id;
  guint n;
  guint32 *members;
} Value;

static void
clear_values (Value *values, guint n)
{
  for (guint i = 0; i < n; i++)
    g_free (values[i].members);
  g_free (values);
}

static Value *
value_of (const GantryModule *source, const GantryFunction *f, Value *values, guint32 id)
{
  const GantryNode *node = id != 0 ? gantry_module_node (source, id) : NULL;

  return node != NULL ? &values[gantry_module_position (source, node) - f->first_node] : NULL;
}

static gboolean
lower_foreign (GantryBuilder *b, const GantryModule *source, const GantryFunction *f, const GantryNode *node, Value *values, Value *value, GError **error)
{
  const GantryDialect *dialect = gantry_context_dialect_of (source->context, node->op);
  g_autofree guint32 *operands = g_new0 (guint32, node->n_operands + 1);
  const GantryType *type = gantry_node_type (source, node);

  g_assert_nonnull (dialect);
  for (guint i = 0; i < node->n_operands; i++)
    {
      Value *operand = value_of (source, f, values, gantry_node_operand_id (source, node, i));

      operands[i] = operand != NULL ? operand->id : 0;
    }
  value->n = type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1;
  value->members = g_new0 (guint32, value->n + 1);
  gantry_builder_set_place (b, node->scope, node->location);
  gantry_builder_set_origins (b, &node->id, 1);
  if (!dialect->lower (b, source, node, operands, value->members, value->n, error))
    return FALSE;
  if (value->n == 1)
    value->id = value->members[0];
  return TRUE;
}

static gboolean
lower_node (GantryBuilder *b, const GantryModule *source, const GantryFunction *f, const GantryNode *node, Value *values, Value *value, GError **error)
{
  g_autofree guint32 *operands = NULL;

  if (node->op >= GANTRY_OP_FOREIGN)
    return lower_foreign (b, source, f, node, values, value, error);
  if (node->op == GANTRY_OP_RESULT)
    {
      Value *tuple = value_of (source, f, values, gantry_node_operand_id (source, node, 0));
      gint64 index = gantry_attrs_int (source->context, node->attrs, "index", 0);

      g_assert_true (tuple != NULL && index >= 0 && index < tuple->n);
      value->id = tuple->members[index];
      return TRUE;
    }
  operands = g_new0 (guint32, node->n_operands + 1);
  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = value_of (source, f, values, gantry_node_operand_id (source, node, i))->id;
  gantry_builder_set_place (b, node->scope, node->location);
  value->id = gantry_builder_add (b, node->op, operands, node->n_operands, node->attrs);
  return TRUE;
}

GantryModule *
onnx_lowering_run (GantryModule *source, GantryLiteral *const *bound, GError **error)
{
  const GantryFunction *f = gantry_module_entry (source);
  g_autoptr (GantryBuilder) b = gantry_builder_new (source->context, "lowered");
  Value *values = g_new0 (Value, f->n_nodes + 1);
  g_autofree guint32 *results = g_new0 (guint32, f->n_results + 1);
  gboolean good = TRUE;

  gantry_fold_set_limit (b, FOLD_LIMIT);
  gantry_builder_begin (b, "main", 0);
  for (guint i = 0; i < f->n_params; i++)
    {
      const GantryNode *node = &source->nodes[f->first_node + i];

      gantry_builder_set_place (b, node->scope, node->location);
      if (bound == NULL || bound[i] == NULL)
        values[i].id = gantry_builder_parameter (b, node->type, "x");
    }
  for (guint i = 0; i < f->n_params; i++)
    if (bound != NULL && bound[i] != NULL)
      values[i].id = gantry_builder_literal (b, bound[i]);
  for (guint i = f->n_params; i < f->n_nodes && good; i++)
    good = lower_node (b, source, f, &source->nodes[f->first_node + i], values, &values[i], error);
  for (guint i = 0; i < f->n_results && good; i++)
    {
      Value *value = value_of (source, f, values, gantry_function_result_id (source, f, i));

      results[i] = value != NULL ? value->id : 0;
      if (results[i] == 0)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "result %u is not computed", i);
          good = FALSE;
        }
    }
  gantry_builder_end (b, results, good ? f->n_results : 0);
  clear_values (values, f->n_nodes);
  return good ? gantry_builder_finish (b, error) : NULL;
}
