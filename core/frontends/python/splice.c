/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes of one module written into the trace of another. */
#include "core/frontends/python/program.h"
#include "core/graph/context.h"

/* Attributes that name other functions: those of this splice. */
static guint32
attrs_with (GantryContext *context, guint32 attrs, GHashTable *functions)
{
  const GantryAttrs *all = gantry_context_attrs (context, attrs);
  GantryAttrList *list = NULL;

  for (guint32 i = 0; i < all->n; i++)
    if (all->items[i].kind == GANTRY_ATTR_FUNCTION)
      {
        if (list == NULL)
          {
            list = gantry_attr_list_new (context);
            gantry_attr_list_set_all (list, attrs);
          }
        gantry_attr_list_set_function (list, gantry_context_string (context, all->items[i].key),
                                       GPOINTER_TO_UINT (g_hash_table_lookup (functions, GUINT_TO_POINTER (all->items[i].id))));
      }
  return list != NULL ? gantry_attr_list_end (list) : attrs;
}

gboolean
gantry_py_splice (GantryPyState *state, GantryModule *module, const guint32 *arguments, guint32 *results)
{
  GantryBuilder *builder = gantry_py_trace (state)->builder;
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GHashTable) map = g_hash_table_new (NULL, NULL), functions = g_hash_table_new (NULL, NULL);

  for (guint32 f = 1; f < module->n_functions; f++)
    g_hash_table_insert (functions, GUINT_TO_POINTER (module->functions[f].id), GUINT_TO_POINTER (gantry_context_next_function_id (module->context)));
  for (guint32 f = 0; f < module->n_functions; f++)
    {
      const GantryFunction *function = &module->functions[f];
      g_autofree guint32 *own = NULL;

      if (f > 0)
        gantry_builder_begin (builder, gantry_context_string (module->context, function->name),
                              GPOINTER_TO_UINT (g_hash_table_lookup (functions, GUINT_TO_POINTER (function->id))));
      for (guint32 i = 0; i < function->n_nodes; i++)
        {
          GantryNode node = module->nodes[function->first_node + i];
          g_autofree guint32 *operands = g_new0 (guint32, node.n_operands + 1);
          guint32 id;

          for (guint j = 0; j < node.n_operands; j++)
            operands[j] = GPOINTER_TO_UINT (g_hash_table_lookup (map, GUINT_TO_POINTER (module->operands[node.operands + j])));
          if (f == 0 && i < entry->n_params)
            id = arguments[i];
          else
            {
              /* A module may be spliced more than once: nodes and functions are new. */
              node.id = 0;
              node.n_origins = 0;
              node.attrs = attrs_with (module->context, node.attrs, functions);
              id = gantry_builder_add_node (builder, &node, operands, NULL);
              g_hash_table_add (gantry_py_trace (state)->root->spliced, GUINT_TO_POINTER (id));
            }
          g_hash_table_insert (map, GUINT_TO_POINTER (module->nodes[function->first_node + i].id), GUINT_TO_POINTER (id));
        }
      if (f == 0)
        continue;
      own = g_new0 (guint32, function->n_results + 1);
      for (guint i = 0; i < function->n_results; i++)
        own[i] = GPOINTER_TO_UINT (g_hash_table_lookup (map, GUINT_TO_POINTER (gantry_function_result_id (module, function, i))));
      gantry_builder_end (builder, own, function->n_results);
    }
  for (guint i = 0; i < entry->n_results; i++)
    results[i] = GPOINTER_TO_UINT (g_hash_table_lookup (map, GUINT_TO_POINTER (gantry_function_result_id (module, entry, i))));
  return gantry_py_check_builder (gantry_py_trace (state));
}
