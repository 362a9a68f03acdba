/* SPDX-License-Identifier: Apache-2.0 */
/* One node evaluated with operands of other element types. */
#include "core/eval/evaluator.h"
#include "tests/differential/oracle.h"
#include <string.h>

guint
_diff_n_results (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  return type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1;
}

const GantryType *
_diff_result_type (const GantryModule *module, const GantryNode *node, guint i)
{
  const GantryType *type = gantry_node_type (module, node);

  return type->kind == GANTRY_TYPE_TUPLE ? gantry_context_type (module->context, gantry_context_tuple_member (module->context, node->type, i)) : type;
}

static void
copy_attr (GantryContext *context, GantryAttrList *list, const GantryAttr *item)
{
  const char *key = gantry_context_string (context, item->key);

  switch ((GantryAttrKind) item->kind)
    {
    case GANTRY_ATTR_INT: gantry_attr_list_set_int (list, key, item->i); break;
    case GANTRY_ATTR_STRING: gantry_attr_list_set_string (list, key, gantry_context_string (context, item->id)); break;
    case GANTRY_ATTR_INTS: gantry_attr_list_set_ints (list, key, item->ints, item->n); break;
    case GANTRY_ATTR_TYPE:
      gantry_attr_list_set_type (list, key, gantry_context_type_id (context, _diff_type_as_double (context, gantry_context_type (context, item->id))));
      break;
    default: break; /* no operation with a twin has others */
    }
}

static guint32
twin_attrs (const GantryModule *module, const GantryNode *node, gboolean sum, const char *kind)
{
  GantryContext *context = module->context;
  const GantryAttrs *attrs = gantry_context_attrs (context, node->attrs);
  GantryAttrList *list = gantry_attr_list_new (context);

  for (guint i = 0; i < attrs->n; i++)
    if (!sum || strcmp (gantry_context_string (context, attrs->items[i].key), "post") != 0)
      copy_attr (context, list, &attrs->items[i]);
  if (kind != NULL)
    gantry_attr_list_set_string (list, "kind", kind);
  return gantry_attr_list_end (list);
}

gboolean
_diff_twin (const GantryModule *module, const GantryNode *node, gboolean sum, const char *kind, GantryLiteral *const *operands, GantryLiteral **results,
            GError **error)
{
  guint n = node->n_operands;
  g_autofree GantryNode *nodes = g_new0 (GantryNode, n + 1);
  g_autofree guint32 *ids = g_new0 (guint32, n + 1);
  g_autofree guint32 *types = g_new0 (guint32, n + 1);
  g_autofree guint32 *index = g_new0 (guint32, n + 2);
  GantryFunction function = { .id = 1, .n_nodes = n + 1, .n_params = n };
  GantryModule alone = { .context = module->context,
                         .n_functions = 1,
                         .n_nodes = n + 1,
                         .n_operands = n,
                         .n_index = n + 2,
                         .functions = &function,
                         .nodes = nodes,
                         .operands = ids,
                         .index = index };
  GantryTypeQuery query = { .context = module->context, .op = node->op, .n_operands = n, .operand_types = types };

  for (guint i = 0; i <= n; i++)
    {
      nodes[i] = (GantryNode){ .id = i + 1, .op = GANTRY_OP_PARAMETER };
      index[i + 1] = i + 1;
      if (i == n)
        break;
      types[i] = nodes[i].type = gantry_context_type_id (module->context, operands[i]->type);
      ids[i] = i + 1;
    }
  nodes[n].op = node->op;
  nodes[n].n_operands = n;
  nodes[n].attrs = query.attrs = twin_attrs (module, node, sum, kind);
  nodes[n].type = gantry_op_infer (&query, error);
  return nodes[n].type != 0 && gantry_evaluate_node (&alone, &nodes[n], operands, results, _diff_n_results (&alone, &nodes[n]), error);
}
