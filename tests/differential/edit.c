/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites a program: what each node becomes is decided by others, this file carries it out. */
#include "tests/differential/edit.h"
#include "core/graph/builder.h"
#include "core/graph/verifier.h"

typedef struct
{
  GantryModule *source;
  const guint32 *results;
  guint n_results;
  const DiffEdit *edits;
  GantryBuilder *b;
  gboolean *needed;      /* by position in the entry function */
  guint32 *ids;          /* new ids by position there */
  GHashTable *functions; /* those that are copied already */
} Editor;

static const GantryFunction *
entry_of (const Editor *e)
{
  return gantry_module_entry (e->source);
}

/* Through replacements to the node whose value is used. */
static guint32
position_of (const Editor *e, guint32 id)
{
  for (;;)
    {
      guint32 i = gantry_module_position (e->source, gantry_module_node (e->source, id)) - entry_of (e)->first_node;

      if (e->edits[i].kind != DIFF_EDIT_REPLACE)
        return i;
      id = e->edits[i].with;
    }
}

static void
mark_needed (Editor *e)
{
  const GantryFunction *entry = entry_of (e);

  for (guint i = 0; i < e->n_results; i++)
    e->needed[position_of (e, e->results[i])] = TRUE;
  for (guint32 i = entry->n_nodes; i-- > 0;)
    {
      const GantryNode *node = &e->source->nodes[entry->first_node + i];

      if (!e->needed[i] || e->edits[i].kind == DIFF_EDIT_PARAMETER)
        continue;
      for (guint j = 0; j < node->n_operands; j++)
        e->needed[position_of (e, gantry_node_operand_id (e->source, node, j))] = TRUE;
    }
}

/* Bodies are copied as they are, those that they name first. */
static void
copy_function (Editor *e, guint32 id)
{
  const GantryFunction *function = gantry_module_function (e->source, id);
  const GantryModule *source = e->source;

  if (function == NULL || !g_hash_table_add (e->functions, GUINT_TO_POINTER (id)))
    return;
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryAttrs *attrs = gantry_context_attrs (source->context, source->nodes[function->first_node + i].attrs);

      for (guint k = 0; k < attrs->n; k++)
        if (attrs->items[k].kind == GANTRY_ATTR_FUNCTION)
          copy_function (e, attrs->items[k].id);
    }
  gantry_builder_begin (e->b, gantry_context_string (source->context, function->name), id);
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = &source->nodes[function->first_node + i];

      gantry_builder_add_node (e->b, node, source->operands + node->operands, source->origins + node->origins);
    }
  gantry_builder_end (e->b, source->operands + function->results, function->n_results);
}

/* A parameter is donated to the result that it was donated to before, if that is still one. */
static guint32
donated_attrs (const Editor *e, const GantryNode *node)
{
  GantryContext *context = e->source->context;
  gint64 alias = gantry_attrs_int (context, node->attrs, "alias", -1), now = -1;
  GantryAttrList *list;

  if (gantry_attrs_find (context, node->attrs, "alias") == NULL)
    return node->attrs;
  for (guint i = 0; alias >= 0 && i < e->n_results; i++)
    if (e->results[i] == gantry_function_result_id (e->source, entry_of (e), (guint) alias))
      now = i;
  list = gantry_attr_list_new (context);
  gantry_attr_list_set_all (list, node->attrs);
  gantry_attr_list_set_int (list, "alias", now);
  return gantry_attr_list_end (list);
}

static void
add_parameter (Editor *e, guint32 i)
{
  const GantryNode *node = &e->source->nodes[entry_of (e)->first_node + i];
  GantryContext *context = e->source->context;
  const char *leaf = gantry_attrs_string (context, node->attrs, "leaf", NULL);
  g_autofree char *name = g_strdup_printf ("s%u", node->id);
  GantryNode parameter = { .op = GANTRY_OP_PARAMETER, .phase = node->phase, .location = node->location };
  GantryAttrList *attrs;

  parameter.name = node->op == GANTRY_OP_PARAMETER || leaf != NULL ? node->name : gantry_context_intern (context, name);
  parameter.type = e->edits[i].type != 0 ? e->edits[i].type : node->type;
  if (node->op == GANTRY_OP_PARAMETER)
    parameter.attrs = donated_attrs (e, node);
  else if (leaf != NULL)
    {
      attrs = gantry_attr_list_new (context);
      gantry_attr_list_set_string (attrs, "role", leaf);
      parameter.attrs = gantry_attr_list_end (attrs);
    }
  e->ids[i] = gantry_builder_add_node (e->b, &parameter, NULL, NULL);
}

static void
add_node (Editor *e, guint32 i)
{
  const GantryNode *node = &e->source->nodes[entry_of (e)->first_node + i];
  const GantryAttrs *attrs = gantry_context_attrs (e->source->context, node->attrs);
  g_autofree guint32 *operands = g_new0 (guint32, node->n_operands + 1);

  for (guint k = 0; k < attrs->n; k++)
    if (attrs->items[k].kind == GANTRY_ATTR_FUNCTION)
      copy_function (e, attrs->items[k].id);
  for (guint j = 0; j < node->n_operands; j++)
    operands[j] = e->ids[position_of (e, gantry_node_operand_id (e->source, node, j))];
  gantry_builder_set_place_of (e->b, node);
  gantry_builder_set_name (e->b, node->name);
  e->ids[i] = gantry_builder_add (e->b, node->op, operands, node->n_operands, e->edits[i].attrs != 0 ? e->edits[i].attrs : node->attrs);
}

static gboolean
is_parameter (const Editor *e, guint32 i)
{
  return e->edits[i].kind == DIFF_EDIT_PARAMETER || (e->edits[i].kind == DIFF_EDIT_KEEP && i < entry_of (e)->n_params);
}

static GantryModule *
write_module (Editor *e)
{
  const GantryFunction *entry = entry_of (e);
  g_autofree guint32 *ids = g_new0 (guint32, e->n_results + 1);
  g_autoptr (GantryModule) module = NULL;

  mark_needed (e);
  gantry_builder_begin (e->b, "main", 0);
  for (guint32 i = 0; i < entry->n_nodes; i++)
    if (e->needed[i] && is_parameter (e, i))
      add_parameter (e, i);
  for (guint32 i = 0; i < entry->n_nodes; i++)
    if (e->needed[i] && !is_parameter (e, i) && e->edits[i].kind == DIFF_EDIT_KEEP)
      add_node (e, i);
  for (guint i = 0; i < e->n_results; i++)
    ids[i] = e->ids[position_of (e, e->results[i])];
  if (!gantry_builder_check (e->b, NULL))
    return NULL;
  gantry_builder_end (e->b, ids, e->n_results);
  module = gantry_builder_finish (e->b, NULL);
  return module != NULL && gantry_verify (module, NULL, NULL) ? g_steal_pointer (&module) : NULL;
}

GantryModule *
diff_edit (GantryModule *module, const DiffEdit *edits, const guint32 *results, guint n_results)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GantryBuilder) builder = gantry_builder_new (module->context, gantry_context_string (module->context, module->name));
  g_autofree gboolean *needed = g_new0 (gboolean, entry->n_nodes + 1);
  g_autofree guint32 *ids = g_new0 (guint32, entry->n_nodes + 1);
  g_autoptr (GHashTable) functions = g_hash_table_new (NULL, NULL);
  Editor e = { module, results, n_results, edits, builder, needed, ids, functions };

  return write_module (&e);
}

GantryModule *
diff_edit_leaves (GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autofree DiffEdit *edits = g_new0 (DiffEdit, entry->n_nodes + 1);
  GantryModule *edited;

  for (guint32 i = 0; i < entry->n_nodes; i++)
    if (gantry_attrs_find (module->context, module->nodes[entry->first_node + i].attrs, "leaf") != NULL)
      edits[i].kind = DIFF_EDIT_PARAMETER;
  edited = diff_edit (module, edits, module->operands + entry->results, entry->n_results);
  g_assert_nonnull (edited);
  return edited;
}
