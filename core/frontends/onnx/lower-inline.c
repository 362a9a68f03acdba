/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the body of a subgraph in place: each of its nodes is lowered with its parameters replaced
 * by values, so that what is constant outside is constant inside. */
#include "core/frontends/onnx/onnx-lower.h"

#define MOST_DEPTH 16

guint32
gantry_lower_function (GantryLower *l, const char *key)
{
  const GantryAttr *attr = gantry_attrs_find (l->context, l->node->attrs, key);

  if (attr != NULL && attr->kind == GANTRY_ATTR_FUNCTION)
    return attr->id;
  gantry_lower_invalid (l, "attribute %s is missing", key);
  return 0;
}

/* The values of one node: one, or the members of a tuple. */
typedef struct
{
  guint32 id;
  guint n_members;
  guint32 *members;
} Value;

/* One more than the largest member of the tuple @node that anything takes out; the declared type
 * may not be known yet. */
static guint
count_results (const GantryModule *source, const GantryFunction *f, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (source, node);
  guint n = type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1;

  for (guint i = 0; i < f->n_nodes; i++)
    {
      const GantryNode *user = &source->nodes[f->first_node + i];

      if (user->op == GANTRY_OP_RESULT && gantry_node_operand_id (source, user, 0) == node->id)
        n = MAX (n, (guint) gantry_attrs_int (source->context, user->attrs, "index", 0) + 1);
    }
  return n;
}

static gboolean
inline_foreign (GantryLower *l, const GantryFunction *f, const GantryNode *node, const Value *values, Value *value)
{
  const GantryModule *source = l->source;
  guint32 *operands = gantry_arena_new0 (l->arena, guint32, node->n_operands + 1);
  GError *error = NULL;

  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 old = gantry_node_operand_id (source, node, i);
      const GantryNode *operand = old != 0 ? gantry_module_node (source, old) : NULL;

      if (operand != NULL)
        operands[i] = values[gantry_module_position (source, operand) - f->first_node].id;
    }
  value->n_members = count_results (source, f, node);
  value->members = gantry_arena_new0 (l->arena, guint32, value->n_members + 1);
  if (!gantry_lower_node (l->b, source, node, operands, value->members, value->n_members, l->depth + 1, &error))
    {
      l->failed = TRUE;
      gantry_builder_fail (l->b, (GantryError) error->code, "%s: %s", l->op, error->message);
      g_error_free (error);
      return FALSE;
    }
  value->id = value->n_members == 1 ? value->members[0] : 0;
  return TRUE;
}

static gboolean
inline_node (GantryLower *l, const GantryFunction *f, const GantryNode *node, Value *values, Value *value)
{
  const GantryModule *source = l->source;

  if (node->op >= GANTRY_OP_FOREIGN)
    return inline_foreign (l, f, node, values, value);
  if (node->op == GANTRY_OP_CONSTANT)
    {
      const GantryAttr *attr = gantry_attrs_find (source->context, node->attrs, "value");

      value->id = gantry_builder_literal (l->b, gantry_context_literal (source->context, attr->id));
      return TRUE;
    }
  if (node->op == GANTRY_OP_RESULT)
    {
      const GantryNode *tuple = gantry_node_operand (source, node, 0);
      gint64 index = gantry_attrs_int (source->context, node->attrs, "index", 0);
      const Value *from = tuple != NULL ? &values[gantry_module_position (source, tuple) - f->first_node] : NULL;

      value->id = from != NULL && index >= 0 && index < from->n_members ? from->members[index] : 0;
      return TRUE;
    }
  gantry_lower_fail (l, "the subgraph holds an operation '%s' that is not ONNX", gantry_node_op_name (source, node));
  return FALSE;
}

gboolean
gantry_lower_inline (GantryLower *l, guint32 function, const guint32 *arguments, guint n_arguments, guint32 *results, guint n_results)
{
  const GantryFunction *f = gantry_module_function (l->source, function);
  Value *values;

  if (f == NULL || f->n_params != n_arguments || f->n_results < n_results)
    {
      gantry_lower_invalid (l, "the subgraph does not take %u values and give %u", n_arguments, n_results);
      return FALSE;
    }
  if (l->depth >= MOST_DEPTH)
    {
      gantry_lower_fail (l, "subgraphs are nested more than %d deep", MOST_DEPTH);
      return FALSE;
    }
  values = gantry_arena_new0 (l->arena, Value, f->n_nodes + 1);
  for (guint i = 0; i < f->n_nodes && !l->failed; i++)
    {
      const GantryNode *node = &l->source->nodes[f->first_node + i];

      if (i < f->n_params)
        values[i].id = arguments[i];
      else
        {
          gantry_builder_set_place (l->b, node->scope, node->location);
          inline_node (l, f, node, values, &values[i]);
        }
    }
  gantry_builder_set_place (l->b, l->node->scope, l->node->location);
  for (guint i = 0; i < n_results && !l->failed; i++)
    {
      const GantryNode *node = gantry_module_node (l->source, gantry_function_result_id (l->source, f, i));

      results[i] = node != NULL ? values[gantry_module_position (l->source, node) - f->first_node].id : 0;
      if (results[i] == 0)
        gantry_lower_fail (l, "result %u of the subgraph is not computed", i);
    }
  return !l->failed;
}
