/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier: first the frame of the module (functions, ids, which functions call which), then each
 * node by itself. A message names function, node, operation and location. */
#include "core/graph/verifier.h"
#include "core/base/error.h"
#include "core/graph/operation-private.h"

typedef struct
{
  const GantryModule *module;
  const GantryModule *previous;
  GHashTable *functions; /* id -> 1 + index */
  const GantryFunction *function;
  guint32 *types; /* of operands, for the type rule */
  guint n_types;
} Verifier;

static gboolean fail (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
fail (GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    *error = g_error_new_valist (GANTRY_ERROR, GANTRY_ERROR_INVALID, format, args);
  va_end (args);
  return FALSE;
}

static const GantryFunction *
find_function (const Verifier *v, guint32 id)
{
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (v->functions, GUINT_TO_POINTER (id)));

  return index != 0 ? &v->module->functions[index - 1] : NULL;
}

static const char *
function_name (const Verifier *v, const GantryFunction *function)
{
  return gantry_context_string (v->module->context, function->name);
}

/* The frame */

static gboolean
check_function (Verifier *v, guint index, GError **error)
{
  const GantryModule *module = v->module;
  const GantryFunction *function = &module->functions[index];
  guint32 expected = index == 0 ? 0 : function[-1].first_node + function[-1].n_nodes;
  const char *name = function_name (v, function);

  if (function->id == 0 || find_function (v, function->id) != NULL)
    return fail (error, "function @%s: its id %u is 0 or that of another function", name, function->id);
  g_hash_table_insert (v->functions, GUINT_TO_POINTER (function->id), GUINT_TO_POINTER (index + 1));
  if (function->first_node != expected || function->n_nodes > module->n_nodes - expected || function->n_params > function->n_nodes)
    return fail (error, "function @%s: its nodes are not a part of the module's of their own", name);
  if (function->n_results > module->n_operands || function->results > module->n_operands - function->n_results)
    return fail (error, "function @%s: its results lie outside of the operand pool", name);
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[function->first_node + i];

      if ((node->op == GANTRY_OP_PARAMETER) != (i < function->n_params))
        return fail (error, "function @%s, node %%%u: parameters have to come first and be counted", name, node->id);
    }
  return TRUE;
}

static gboolean
check_results (const Verifier *v, const GantryFunction *function, GError **error)
{
  for (guint i = 0; i < function->n_results; i++)
    {
      guint32 id = gantry_function_result_id (v->module, function, i);
      const GantryNode *node = gantry_module_node (v->module, id);
      guint32 position = node != NULL ? gantry_module_position (v->module, node) : 0;

      if (node == NULL || position < function->first_node || position - function->first_node >= function->n_nodes)
        return fail (error, "function @%s: result %u, %%%u, is not a value of that function", function_name (v, function), i, id);
    }
  return TRUE;
}

static gboolean
check_frame (Verifier *v, GError **error)
{
  const GantryModule *module = v->module;
  guint32 total = 0;

  if (module->n_functions == 0)
    return fail (error, "the module has no function");
  for (guint i = 0; i < module->n_functions; i++)
    {
      if (!check_function (v, i, error))
        return FALSE;
      total += module->functions[i].n_nodes;
    }
  if (total != module->n_nodes)
    return fail (error, "%u of the module's %u nodes stand in no function", module->n_nodes - total, module->n_nodes);
  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      guint32 id = module->nodes[i].id;

      if (id == 0 || id >= module->n_index || module->index[id] != i + 1)
        return fail (error, "node %%%u: its id is 0 or that of another node", id);
    }
  for (guint i = 0; i < module->n_functions; i++)
    if (!check_results (v, &module->functions[i], error))
      return FALSE;
  return TRUE;
}

/* Recursion: a depth-first walk over who names whom, with a stack of its own. */

static guint32
next_callee (const Verifier *v, const GantryFunction *function, guint32 *node, guint32 *attr)
{
  for (; *node < function->n_nodes; ++*node, *attr = 0)
    {
      const GantryAttrs *attrs = gantry_context_attrs (v->module->context, v->module->nodes[function->first_node + *node].attrs);

      while (*attr < attrs->n)
        {
          const GantryAttr *item = &attrs->items[(*attr)++];

          if (item->kind == GANTRY_ATTR_FUNCTION)
            return item->id;
        }
    }
  return 0;
}

typedef struct
{
  guint32 function, node, attr;
} Frame;

static gboolean
check_recursion (const Verifier *v, GError **error)
{
  enum
  {
    UNSEEN,
    OPEN,
    DONE
  };
  g_autofree guint8 *state = g_new0 (guint8, v->module->n_functions);
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (Frame));

  for (guint32 root = 0; root < v->module->n_functions; root++)
    {
      Frame frame = { .function = root };

      if (state[root] != UNSEEN)
        continue;
      g_array_append_val (stack, frame);
      state[root] = OPEN;
      while (stack->len > 0)
        {
          Frame *top = &g_array_index (stack, Frame, stack->len - 1);
          const GantryFunction *function = &v->module->functions[top->function];
          guint32 id = next_callee (v, function, &top->node, &top->attr);
          const GantryFunction *callee = find_function (v, id);
          Frame next = { .function = callee != NULL ? (guint32) (callee - v->module->functions) : 0 };

          if (id == 0)
            {
              state[top->function] = DONE;
              g_array_set_size (stack, stack->len - 1);
            }
          else if (callee == NULL)
            continue; /* said of the node, later */
          else if (state[next.function] == OPEN)
            return fail (error, "function @%s calls itself, through @%s", function_name (v, callee), function_name (v, function));
          else if (state[next.function] == UNSEEN)
            {
              state[next.function] = OPEN;
              g_array_append_val (stack, next);
            }
        }
    }
  return TRUE;
}

/* One node */

static gboolean
check_operands (const Verifier *v, const GantryNode *node, GError **error)
{
  const GantryModule *module = v->module;
  guint32 position = gantry_module_position (module, node);

  if (node->n_operands > module->n_operands || node->operands > module->n_operands - node->n_operands)
    return fail (error, "its operands lie outside of the operand pool");
  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 id = gantry_node_operand_id (module, node, i);
      const GantryNode *operand = gantry_module_node (module, id);

      if (id == 0 && node->op >= GANTRY_OP_FOREIGN)
        continue;
      if (operand == NULL)
        return fail (error, "operand %u, %%%u, is not in this module", i, id);
      if (gantry_module_position (module, operand) < v->function->first_node)
        return fail (error, "operand %u, %%%u, is of another function", i, id);
      if (gantry_module_position (module, operand) >= position)
        return fail (error, "operand %u, %%%u, does not come earlier in this function", i, id);
    }
  return TRUE;
}

static gboolean
check_origins (const Verifier *v, const GantryNode *node, GError **error)
{
  const GantryModule *module = v->module;

  if (node->n_origins > module->n_origins || (node->n_origins > 0 && node->origins > module->n_origins - node->n_origins))
    return fail (error, "its origins lie outside of the origin pool");
  for (guint i = 0; i < node->n_origins; i++)
    {
      guint32 id = module->origins[node->origins + i];

      if (id == 0 || (v->previous != NULL && gantry_module_node (v->previous, id) == NULL))
        return fail (error, "origin %u, %%%u, is not in the snapshot before", i, id);
    }
  if (v->previous != NULL && node->n_origins == 0 && gantry_module_node (v->previous, node->id) == NULL)
    return fail (error, "it is not in the snapshot before and names no origin there");
  return TRUE;
}

static gboolean
check_attributes (const Verifier *v, const GantryNode *node, GError **error)
{
  GantryContext *context = v->module->context;
  const GantryAttrs *attrs = gantry_context_attrs (context, node->attrs);

  for (guint i = 0; i < attrs->n; i++)
    {
      const GantryAttr *item = &attrs->items[i];
      const char *key = gantry_context_string (context, item->key);

      if (item->kind > GANTRY_ATTR_FUNCTION)
        return fail (error, "attribute %s is of no known kind", key);
      if (item->kind == GANTRY_ATTR_FUNCTION && find_function (v, item->id) == NULL)
        return fail (error, "attribute %s names function %u, which is not in this module", key, item->id);
      if (item->kind == GANTRY_ATTR_LITERAL && gantry_context_literal (context, item->id) == NULL)
        return fail (error, "attribute %s has no literal", key);
    }
  if (node->op == GANTRY_OP_CHECKPOINT_NAME && *gantry_attrs_string (context, node->attrs, "name", "") == '\0')
    return fail (error, "attribute name is missing");
  return TRUE;
}

/* Result type of a function as the type rules want it: of one result its own, else a tuple. */
static guint32
type_of_function (gpointer data, guint32 id)
{
  const Verifier *v = data;
  const GantryFunction *function = find_function (v, id);
  g_autofree guint32 *types = NULL;

  if (function == NULL)
    return 0;
  types = g_new (guint32, function->n_results + 1);
  for (guint i = 0; i < function->n_results; i++)
    types[i] = gantry_module_node (v->module, gantry_function_result_id (v->module, function, i))->type;
  return function->n_results == 1 ? types[0] : gantry_context_tuple (v->module->context, function->n_results, types);
}

static gboolean
check_type (Verifier *v, const GantryNode *node, GError **error)
{
  GantryContext *context = v->module->context;
  GantryTypeQuery query = { .context = context,
                            .op = node->op,
                            .n_operands = node->n_operands,
                            .attrs = node->attrs,
                            .module = v->module,
                            .function_result = type_of_function,
                            .data = v };
  gboolean unknown = FALSE;
  g_autoptr (GError) reason = NULL;
  guint32 type;

  if (node->n_operands > G_MAXUINT16)
    return fail (error, "%u operands are more than an operation can have", node->n_operands);
  if (node->n_operands > v->n_types)
    v->types = g_renew (guint32, v->types, v->n_types = node->n_operands);
  for (guint i = 0; i < node->n_operands; i++)
    {
      v->types[i] = gantry_node_operand (v->module, node, i)->type;
      unknown |= v->types[i] == 0;
    }
  query.operand_types = v->types;
  type = gantry_op_infer (&query, &reason);
  if (reason != NULL && !(unknown && g_error_matches (reason, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED)))
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  if (reason == NULL && !gantry_type_fits (context, type, node->type))
    {
      g_autofree char *want = gantry_context_type_text (context, type);
      g_autofree char *have = gantry_context_type_text (context, node->type);

      return fail (error, "its type is %s, but should be %s", have, want);
    }
  return TRUE;
}

static gboolean
check_node (Verifier *v, const GantryNode *node, GError **error)
{
  if (node->op < GANTRY_OP_FOREIGN && gantry_op_info (node->op) == NULL)
    return fail (error, "operation code %u is not in the table", node->op);
  if (!check_operands (v, node, error) || !check_attributes (v, node, error) || !check_origins (v, node, error))
    return FALSE;
  if (gantry_context_get_location (v->module->context, node->location) == NULL)
    return fail (error, "it has no location");
  if (node->op == GANTRY_OP_PARAMETER)
    return node->n_operands == 0 || fail (error, "a parameter has no operands");
  return node->op >= GANTRY_OP_FOREIGN || check_type (v, node, error);
}

static gboolean
check_nodes (Verifier *v, GError **error)
{
  const GantryModule *module = v->module;

  for (guint f = 0; f < module->n_functions; f++)
    {
      v->function = &module->functions[f];
      for (guint32 i = 0; i < v->function->n_nodes; i++)
        {
          const GantryNode *node = &module->nodes[v->function->first_node + i];

          if (!check_node (v, node, error))
            {
              g_autofree char *location = gantry_context_location_text (module->context, node->location);
              g_autofree char *label = gantry_node_label (module, node);

              gantry_error_prefix (error, "function @%s, node %%%u '%s', %s (%s): ", function_name (v, v->function), node->id, label,
                                   gantry_node_op_name (module, node), location);
              return FALSE;
            }
        }
    }
  return TRUE;
}

gboolean
gantry_verify (const GantryModule *module, const GantryModule *previous, GError **error)
{
  Verifier v = { .module = module, .previous = previous };
  gboolean good;

  v.functions = g_hash_table_new (NULL, NULL);
  good = check_frame (&v, error) && check_recursion (&v, error) && check_nodes (&v, error);
  g_hash_table_unref (v.functions);
  g_free (v.types);
  return good;
}
