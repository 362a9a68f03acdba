/* SPDX-License-Identifier: Apache-2.0 */
/* The evaluator: one node by its tensor expression or its hand-written meaning, and whole functions
 * node after node with every value freed at its last use. */
#include "core/eval/evaluator-private.h"
#include "core/eval/evaluator.h"
#include "core/base/error.h"

/* Functions that call functions: a verified module never recurs, one that is not gets an error. */
#define MAX_DEPTH 64
/* Of one node: minutes. */
#define MOST_FLOPS ((gint64) 1 << 37)

static void
value_clear (gpointer data)
{
  if (data != NULL)
    g_ptr_array_unref (data);
}

GPtrArray *
_gantry_values_new (void)
{
  return g_ptr_array_new_with_free_func (value_clear);
}

GantryValue *
_gantry_value_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
}

static void
unsupported (GError **error, const char *why)
{
  g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, why);
}

static guint
result_count (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  return type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1;
}

/* Operations that leave the bytes alone: the result shares them. */

static void
unref_literal (gpointer data)
{
  gantry_literal_unref (data);
}

static GantryLiteral *
view_of (GantryLiteral *literal, const GantryType *type, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  GantryLiteral *view;

  if (literal->type == type)
    return gantry_literal_ref (literal);
  if (literal->type->element != type->element || gantry_type_elements (literal->type) != gantry_type_elements (type))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the operand's value does not have as many elements as the result");
      return NULL;
    }
  bytes = g_bytes_new_with_free_func (literal->data, literal->size, unref_literal, gantry_literal_ref (literal));
  view = gantry_literal_new (type, bytes, literal->splat, error);
  if (view != NULL)
    view->mapped = literal->mapped;
  if (view != NULL && literal->source_path != NULL)
    {
      view->source_path = g_strdup (literal->source_path);
      view->source_offset = literal->source_offset;
    }
  return view;
}

static gboolean
evaluate_expression (const GantryMachine *machine, const GantryNode *node, GantryLiteral *const *operands, GantryLiteral **results, GError **error)
{
  const GantryType *type = gantry_node_type (machine->module, node);
  g_autoptr (GantryTexpr) texpr = gantry_texpr_of_node (machine->module, node, error);

  if (texpr == NULL)
    return FALSE;
  g_assert (texpr->n_inputs <= node->n_operands);
  for (guint i = 0; i < texpr->n_inputs; i++)
    if (operands[i] == NULL || !gantry_type_same_shape (operands[i]->type, texpr->inputs[i]))
      {
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the value of operand %u is not of its type", i);
        return FALSE;
      }
  results[0] = _gantry_texpr_evaluate (texpr, operands, type, machine->progress, error);
  return results[0] != NULL;
}

static gboolean
evaluate_constant (const GantryModule *module, const GantryNode *node, GantryLiteral **results, GError **error)
{
  GantryLiteral *literal = gantry_node_literal (module, node);

  if (literal == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "a constant without a value");
      return FALSE;
    }
  results[0] = gantry_literal_ref (literal);
  return TRUE;
}

/* Everything but tuples and control. */
static gboolean
evaluate_plain (const GantryMachine *machine, const GantryNode *node, GantryLiteral *const *operands, GantryLiteral **results, GError **error)
{
  const GantryModule *module = machine->module;
  gint64 flops = gantry_node_flops (module, node);

  if (flops > MOST_FLOPS)
    {
      const GantryNode *operand = gantry_node_operand (module, node, 0);
      g_autofree char *type = gantry_context_type_text (module->context, operand != NULL ? operand->type : node->type);

      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE,
                   "it takes %.3g operations, more than the evaluator does one by one: is %s the size that was meant?", (double) flops, type);
      return FALSE;
    }
  switch (node->op)
    {
    case GANTRY_OP_CONSTANT: return evaluate_constant (module, node, results, error);
    case GANTRY_OP_SORT: return _gantry_evaluate_sort (module, node, operands, results, error);
    case GANTRY_OP_SCATTER: return _gantry_evaluate_scatter (module, node, operands, results, error);
    case GANTRY_OP_RNG_BIT_GENERATOR: return _gantry_evaluate_random (module, node, operands, results, error);
    case GANTRY_OP_RESHAPE:
    case GANTRY_OP_COPY:
    case GANTRY_OP_OPTIMIZATION_BARRIER:
    case GANTRY_OP_CHECKPOINT_NAME:
      if (operands[0] == NULL)
        {
          unsupported (error, "a tuple cannot be evaluated here");
          return FALSE;
        }
      results[0] = view_of (operands[0], gantry_node_type (module, node), error);
      return results[0] != NULL;
    case GANTRY_OP_PARAMETER: unsupported (error, "a parameter has no value of its own"); return FALSE;
    case GANTRY_OP_CUSTOM_CALL: unsupported (error, "the evaluator does not know custom calls"); return FALSE;
    default: break;
    }
  if (node->op >= GANTRY_OP_FOREIGN)
    {
      unsupported (error, "an imported operation has a meaning only once it is legalized");
      return FALSE;
    }
  return evaluate_expression (machine, node, operands, results, error);
}

/* Tuples */

static GantryValue *
make_tuple (GPtrArray *operands, GError **error)
{
  GantryValue *value = _gantry_value_new ();

  for (guint i = 0; i < operands->len; i++)
    {
      if (_gantry_values_get (operands, i) == NULL || _gantry_values_get (operands, i)->len != 1)
        {
          unsupported (error, "a tuple within a tuple cannot be evaluated");
          g_ptr_array_unref (value);
          return NULL;
        }
      g_ptr_array_add (value, gantry_literal_ref (g_ptr_array_index (_gantry_values_get (operands, i), 0)));
    }
  return value;
}

static GantryValue *
take_member (const GantryModule *module, const GantryNode *node, GPtrArray *operands, GError **error)
{
  gint64 index = gantry_attrs_int (module->context, node->attrs, "index", -1);
  const GantryValue *tuple = operands->len == 1 ? _gantry_values_get (operands, 0) : NULL;
  GantryValue *value;

  if (tuple == NULL || index < 0 || index >= tuple->len)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "there is no value of member %" G_GINT64_FORMAT " of the tuple", index);
      return NULL;
    }
  value = _gantry_value_new ();
  g_ptr_array_add (value, gantry_literal_ref (g_ptr_array_index (tuple, index)));
  return value;
}

/* Both operands are the same. */
static GantryValue *
take_saved (GPtrArray *operands, GError **error)
{
  const GantryValue *saved = _gantry_values_get (operands, 0);
  GantryValue *value;

  if (saved == NULL || saved->len != 1)
    {
      unsupported (error, "a tuple is not made again");
      return NULL;
    }
  value = _gantry_value_new ();
  g_ptr_array_add (value, gantry_literal_ref (g_ptr_array_index (saved, 0)));
  return value;
}

static GantryValue *
evaluate_value (const GantryMachine *machine, const GantryNode *node, GPtrArray *operands, GError **error)
{
  g_autofree GantryLiteral **literals = NULL;
  g_autofree GantryLiteral **results = NULL;
  guint n_results = result_count (machine->module, node);
  GantryValue *value;

  switch (node->op)
    {
    case GANTRY_OP_TUPLE: return make_tuple (operands, error);
    case GANTRY_OP_RESULT: return take_member (machine->module, node, operands, error);
    case GANTRY_OP_REMATERIALIZE: return take_saved (operands, error);
    case GANTRY_OP_IF:
    case GANTRY_OP_WHILE:
    case GANTRY_OP_SCAN:
    case GANTRY_OP_CALL:
    case GANTRY_OP_FUSION: return _gantry_evaluate_control (machine, node, operands, error);
    default: break;
    }
  literals = g_new0 (GantryLiteral *, operands->len + 1);
  results = g_new0 (GantryLiteral *, n_results + 1);
  for (guint i = 0; i < operands->len; i++)
    if (_gantry_values_get (operands, i) != NULL && _gantry_values_get (operands, i)->len == 1)
      literals[i] = g_ptr_array_index (_gantry_values_get (operands, i), 0);
  if (!evaluate_plain (machine, node, literals, results, error))
    return NULL;
  value = _gantry_value_new ();
  for (guint i = 0; i < n_results; i++)
    g_ptr_array_add (value, results[i]);
  return value;
}

static void
name_node (const GantryModule *module, const GantryNode *node, GError **error)
{
  g_autofree char *label = gantry_node_label (module, node);

  gantry_error_prefix (error, "%s (%%%u '%s'): ", gantry_node_op_name (module, node), node->id, label);
}

/* Functions */

/* For each node of @function the last node that uses it, both as positions in the function. */
static guint32 *
find_last_uses (const GantryModule *module, const GantryFunction *function)
{
  guint32 *last = g_new0 (guint32, (gsize) function->n_nodes + 1);

  for (guint32 i = 0; i < function->n_nodes; i++)
    last[i] = i;
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[function->first_node + i];

      for (guint j = 0; j < node->n_operands; j++)
        {
          const GantryNode *operand = gantry_node_operand (module, node, j);
          guint32 position = operand != NULL ? gantry_module_position (module, operand) - function->first_node : 0;

          if (operand != NULL && position < i)
            last[position] = i;
        }
    }
  for (guint32 i = 0; i < function->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (module, gantry_function_result_id (module, function, i));
      guint32 position = node != NULL ? gantry_module_position (module, node) - function->first_node : G_MAXUINT32;

      if (position < function->n_nodes)
        last[position] = G_MAXUINT32;
    }
  return last;
}

static GPtrArray *
collect_operands (const GantryModule *module, const GantryFunction *function, GPtrArray *values, const guint32 *ids, guint n, GError **error)
{
  g_autoptr (GPtrArray) operands = _gantry_values_new ();

  for (guint i = 0; i < n; i++)
    {
      const GantryNode *operand = gantry_module_node (module, ids[i]);
      guint32 position = operand != NULL ? gantry_module_position (module, operand) - function->first_node : G_MAXUINT32;

      if (position >= values->len || _gantry_values_get (values, position) == NULL)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%%%u has no value at this place of function @%s", ids[i],
                       gantry_context_string (module->context, function->name));
          return NULL;
        }
      g_ptr_array_add (operands, g_ptr_array_ref (_gantry_values_get (values, position)));
    }
  return g_steal_pointer (&operands);
}

static void
free_dead (const GantryModule *module, const GantryFunction *function, const guint32 *last, GPtrArray *values, guint32 position)
{
  const GantryNode *node = &module->nodes[function->first_node + position];

  for (guint j = 0; j <= node->n_operands; j++)
    {
      const GantryNode *used = j < node->n_operands ? gantry_node_operand (module, node, j) : node;
      guint32 at = used != NULL ? gantry_module_position (module, used) - function->first_node : G_MAXUINT32;

      if (at < values->len && last[at] == position)
        g_clear_pointer (&g_ptr_array_index (values, at), value_clear);
    }
}

static gboolean
may_run (const GantryMachine *machine, const GantryFunction *function, const GPtrArray *arguments, GError **error)
{
  const char *name = gantry_context_string (machine->module->context, function->name);

  if (machine->depth > MAX_DEPTH)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "@%s is called at a depth over %d", name, MAX_DEPTH);
  else if (arguments->len != function->n_params)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "@%s takes %u arguments, not %u", name, function->n_params, arguments->len);
  else
    return TRUE;
  return FALSE;
}

GPtrArray *
_gantry_evaluate_function (const GantryMachine *machine, const GantryFunction *function, GPtrArray *arguments, GError **error)
{
  const GantryModule *module = machine->module;
  g_autofree guint32 *last = NULL;
  g_autoptr (GPtrArray) values = _gantry_values_new ();

  if (!may_run (machine, function, arguments, error))
    return NULL;
  last = find_last_uses (module, function);
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[function->first_node + i];
      g_autoptr (GPtrArray) operands = NULL;
      GantryValue *value = NULL;

      if (i < function->n_params)
        value = _gantry_values_get (arguments, i) != NULL ? g_ptr_array_ref (_gantry_values_get (arguments, i)) : NULL;
      else if (!gantry_progress_cancelled (machine->progress, error))
        {
          operands = collect_operands (module, function, values, module->operands + node->operands, node->n_operands, error);
          value = operands != NULL ? evaluate_value (machine, node, operands, error) : NULL;
          if (value == NULL)
            name_node (module, node, error);
        }
      if (value == NULL && i >= function->n_params)
        return NULL;
      g_ptr_array_add (values, value);
      free_dead (module, function, last, values, i);
    }
  return collect_operands (module, function, values, module->operands + function->results, function->n_results, error);
}

/* Public */

static GantryValue *
wrap (GantryLiteral *literal)
{
  GantryValue *value;

  if (literal == NULL)
    return NULL;
  value = _gantry_value_new ();
  g_ptr_array_add (value, gantry_literal_ref (literal));
  return value;
}

gboolean
gantry_evaluate_node (const GantryModule *module, const GantryNode *node, GantryLiteral *const *operands, GantryLiteral **results, guint n_results,
                      GError **error)
{
  GantryMachine machine = { .module = module };
  g_autoptr (GPtrArray) values = _gantry_values_new ();
  GantryValue *value;

  g_return_val_if_fail (n_results == result_count (module, node), FALSE);
  for (guint i = 0; i < node->n_operands; i++)
    g_ptr_array_add (values, wrap (operands[i]));
  value = evaluate_value (&machine, node, values, error);
  if (value != NULL && value->len != n_results)
    {
      g_clear_pointer (&value, value_clear);
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the value does not have %u members", n_results);
    }
  if (value == NULL)
    {
      name_node (module, node, error);
      return FALSE;
    }
  for (guint i = 0; i < n_results; i++)
    results[i] = gantry_literal_ref (g_ptr_array_index (value, i));
  value_clear (value);
  return TRUE;
}

static gboolean
check_arguments (const GantryModule *module, const GantryFunction *function, GantryLiteral *const *arguments, GError **error)
{
  for (guint i = 0; i < function->n_params; i++)
    {
      const GantryNode *node = &module->nodes[function->first_node + i];

      if (!gantry_type_same_shape (gantry_node_type (module, node), arguments[i]->type))
        {
          g_autofree char *label = gantry_node_label (module, node);
          g_autofree char *text = gantry_context_type_text (module->context, node->type);

          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "argument %u of @%s is not of the type of parameter '%s', %s; bind its symbols, if any", i,
                       gantry_context_string (module->context, function->name), label, text);
          return FALSE;
        }
    }
  return TRUE;
}

gboolean
gantry_evaluate (const GantryModule *module, const GantryFunction *function, GantryLiteral *const *arguments, GantryLiteral **results,
                 const GantryProgress *progress, GError **error)
{
  GantryMachine machine = { .module = module, .progress = progress };
  g_autoptr (GPtrArray) values = _gantry_values_new ();
  g_autoptr (GPtrArray) out = NULL;

  if (!check_arguments (module, function, arguments, error))
    return FALSE;
  for (guint i = 0; i < function->n_params; i++)
    g_ptr_array_add (values, wrap (arguments[i]));
  out = _gantry_evaluate_function (&machine, function, values, error);
  if (out == NULL)
    return FALSE;
  for (guint i = 0; i < out->len; i++)
    if (_gantry_values_get (out, i)->len != 1)
      {
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "result %u of @%s is a tuple", i, gantry_context_string (module->context, function->name));
        return FALSE;
      }
  for (guint i = 0; i < out->len; i++)
    results[i] = gantry_literal_ref (g_ptr_array_index (_gantry_values_get (out, i), 0));
  return TRUE;
}
