/* SPDX-License-Identifier: Apache-2.0 */
/* What may come out of a program: walks its functions, control flow included, and applies the rules. */
#include "core/base/error.h"
#include "tests/differential/oracle.h"
#include <math.h>
#include <string.h>

#define MOST_TRIPS 10000

/* (element-type DiffValue): borrowed from the oracle */
static GPtrArray *run_function (DiffOracle *oracle, const GantryFunction *function, DiffValue *const *arguments, GError **error);

static const GantryFunction *
function_of (const DiffOracle *oracle, const GantryNode *node, const char *key)
{
  return gantry_module_function (oracle->module, gantry_attrs_find (oracle->module->context, node->attrs, key)->id);
}

static gboolean
take (GPtrArray *from, DiffValue **results)
{
  for (guint i = 0; from != NULL && i < from->len; i++)
    results[i] = g_ptr_array_index (from, i);
  g_clear_pointer (&from, g_ptr_array_unref);
  return TRUE;
}

static void
open_all (DiffOracle *oracle, const GantryNode *node, DiffValue **results)
{
  for (guint i = 0; i < _diff_n_results (oracle->module, node); i++)
    results[i] = _diff_value_open (oracle, _diff_result_type (oracle->module, node, i));
}

/* Control */

static gboolean
run_if (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, DiffValue **results, GError **error)
{
  GPtrArray *out;

  if (!_diff_is_exact (operands[0]))
    {
      open_all (oracle, node, results);
      return TRUE;
    }
  out = run_function (oracle, function_of (oracle, node, gantry_literal_get_int (operands[0]->value, 0) != 0 ? "then" : "else"), operands + 1, error);
  return out != NULL && take (out, results);
}

static gboolean
run_while (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, DiffValue **results, GError **error)
{
  guint n = node->n_operands;

  memcpy (results, operands, n * sizeof *results);
  for (guint trip = 0; trip < MOST_TRIPS; trip++)
    {
      g_autoptr (GPtrArray) more = run_function (oracle, function_of (oracle, node, "cond"), results, error);
      GPtrArray *next;

      if (more == NULL)
        return FALSE;
      if (!_diff_is_exact (g_ptr_array_index (more, 0)))
        {
          open_all (oracle, node, results);
          return TRUE;
        }
      if (gantry_literal_get_int (((DiffValue *) g_ptr_array_index (more, 0))->value, 0) == 0)
        return TRUE;
      next = run_function (oracle, function_of (oracle, node, "body"), results, error);
      if (next == NULL)
        return FALSE;
      take (next, results);
    }
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "a loop does not end in %d trips", MOST_TRIPS);
  return FALSE;
}

/* Elements before, along and after a dimension of @type whose size is @length there. */
static void
spans (const GantryType *type, gint64 axis, gint64 *outer, gint64 *inner)
{
  *outer = *inner = 1;
  for (gint64 d = 0; d < type->rank; d++)
    if (d < axis)
      *outer *= type->dims[d];
    else if (d > axis)
      *inner *= type->dims[d];
}

static DiffValue *
slice_of (DiffOracle *oracle, const DiffValue *x, gint64 axis, gint64 i, const GantryType *type)
{
  gint64 outer, inner, length = x->type->dims[axis];
  gsize size = gantry_element_size (x->value->type->element);
  double *error = x->error != NULL ? g_new0 (double, gantry_type_elements (type) + 1) : NULL;
  g_autofree guint8 *dense = g_malloc ((gsize) gantry_type_bytes (x->value->type) + 1);
  GantryLiteral *value;
  guint8 *data;

  spans (x->type, axis, &outer, &inner);
  value = gantry_literal_new_zeroed (_diff_type_as_double (oracle->module->context, type), &data);
  gantry_literal_copy_to (x->value, dense);
  for (gint64 o = 0; o < outer; o++)
    {
      memcpy (data + (gsize) (o * inner) * size, dense + (gsize) ((o * length + i) * inner) * size, (gsize) inner * size);
      if (error != NULL)
        memcpy (error + o * inner, x->error + (o * length + i) * inner, (gsize) inner * sizeof *error);
    }
  return _diff_value_new (oracle, type, value, error);
}

/* The slices @parts (indexed by iteration) put together along @axis of @type. */
static DiffValue *
stack_of (DiffOracle *oracle, const GPtrArray *parts, gint64 axis, const GantryType *type)
{
  gint64 outer, inner, length = (gint64) parts->len;
  const GantryType *stored = _diff_type_as_double (oracle->module->context, type);
  gsize size = gantry_element_size (stored->element);
  double *error = g_new0 (double, gantry_type_elements (type) + 1);
  GantryLiteral *value;
  guint8 *data;

  spans (type, axis, &outer, &inner);
  value = gantry_literal_new_zeroed (stored, &data);
  for (gint64 i = 0; i < length; i++)
    {
      const DiffValue *part = g_ptr_array_index (parts, i);
      g_autofree guint8 *dense = g_malloc ((gsize) gantry_type_bytes (part->value->type) + 1);

      gantry_literal_copy_to (part->value, dense);
      for (gint64 o = 0; o < outer; o++)
        {
          memcpy (data + (gsize) ((o * length + i) * inner) * size, dense + (gsize) (o * inner) * size, (gsize) inner * size);
          if (part->error != NULL)
            memcpy (error + (o * length + i) * inner, part->error + o * inner, (gsize) inner * sizeof *error);
        }
    }
  return _diff_value_new (oracle, type, value, error);
}

static gboolean
iterate (DiffOracle *oracle, const GantryScan *scan, const GantryFunction *body, DiffValue **state, gint64 i, GPtrArray *const *stacks,
         DiffValue *const *operands, GError **error)
{
  g_autofree DiffValue **arguments = g_new0 (DiffValue *, scan->n_carries + scan->n_xs + scan->n_captures + 1);
  g_autoptr (GPtrArray) out = NULL;
  guint n = 0;

  for (guint c = 0; c < scan->n_carries; c++)
    arguments[n++] = state[c];
  for (guint x = 0; x < scan->n_xs; x++, n++)
    arguments[n] = slice_of (oracle, operands[n], scan->axes[x], i, gantry_node_type (oracle->module, &oracle->module->nodes[body->first_node + n]));
  for (guint c = 0; c < scan->n_captures; c++, n++)
    arguments[n] = operands[n];
  out = run_function (oracle, body, arguments, error);
  if (out == NULL)
    return FALSE;
  for (guint c = 0; c < scan->n_carries; c++)
    state[c] = g_ptr_array_index (out, c);
  for (guint y = 0; y < scan->n_ys; y++)
    g_ptr_array_index (stacks[y], i) = g_ptr_array_index (out, scan->n_carries + y);
  return TRUE;
}

static gboolean
run_scan (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, DiffValue **results, GError **error)
{
  const GantryFunction *body = function_of (oracle, node, "body");
  g_autoptr (GPtrArray) stacks = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  GantryScan scan;

  gantry_scan_of (oracle->module, node, &scan);
  for (guint y = 0; y < scan.n_ys; y++)
    {
      g_ptr_array_add (stacks, g_ptr_array_new ());
      g_ptr_array_set_size (g_ptr_array_index (stacks, y), (gint) scan.length);
    }
  memcpy (results, operands, scan.n_carries * sizeof *results);
  for (gint64 i = 0; i < scan.length; i++)
    if (!iterate (oracle, &scan, body, results, scan.reverse ? scan.length - 1 - i : i, (GPtrArray *const *) stacks->pdata, operands, error))
      return FALSE;
  for (guint y = 0; y < scan.n_ys; y++)
    results[scan.n_carries + y] = stack_of (oracle, g_ptr_array_index (stacks, y), scan.y_axes[y],
                                            _diff_result_type (oracle->module, node, scan.n_carries + y));
  return TRUE;
}

/* Nodes */

static DiffValue *
constant (DiffOracle *oracle, const GantryNode *node)
{
  GantryContext *context = oracle->module->context;
  const GantryAttr *value = gantry_attrs_find (context, node->attrs, "value");

  return _diff_value_new (oracle, gantry_node_type (oracle->module, node), _diff_literal_as_double (context, gantry_context_literal (context, value->id)),
                          NULL);
}

/* Same bytes, another shape. */
static DiffValue *
reshape (DiffOracle *oracle, const GantryNode *node, const DiffValue *x, GError **error)
{
  const GantryType *type = gantry_node_type (oracle->module, node);
  gint64 n = gantry_type_elements (type);
  GantryLiteral *value;

  if (!_diff_twin (oracle->module, node, FALSE, NULL, &x->value, &value, error))
    return NULL;
  return _diff_value_new (oracle, type, value, x->error != NULL ? g_memdup2 (x->error, sizeof (double) * (gsize) (n + 1)) : NULL);
}

static gboolean
run_node (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, DiffValue **results, GError **error)
{
  GPtrArray *out;

  switch (node->op)
    {
    case GANTRY_OP_CONSTANT: results[0] = constant (oracle, node); return TRUE;
    case GANTRY_OP_TUPLE: memcpy (results, operands, node->n_operands * sizeof *results); return TRUE;
    case GANTRY_OP_IF: return run_if (oracle, node, operands, results, error);
    case GANTRY_OP_WHILE: return run_while (oracle, node, operands, results, error);
    case GANTRY_OP_SCAN: return run_scan (oracle, node, operands, results, error);
    case GANTRY_OP_CALL:
    case GANTRY_OP_FUSION: out = run_function (oracle, function_of (oracle, node, "body"), operands, error); return out != NULL && take (out, results);
    case GANTRY_OP_RESHAPE: results[0] = reshape (oracle, node, operands[0], error); return results[0] != NULL;
    default: return _diff_apply (oracle, node, operands, results, error);
    }
}

/* The values of @node's operands; of a tuple its first member. */
static DiffValue **
operands_of (const DiffOracle *oracle, const GantryFunction *function, const GantryNode *node, DiffValue **const *values)
{
  DiffValue **operands = g_new0 (DiffValue *, node->n_operands + 1);

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = values[gantry_module_position (oracle->module, gantry_node_operand (oracle->module, node, i)) - function->first_node][0];
  return operands;
}

static gboolean
run_at (DiffOracle *oracle, const GantryFunction *function, guint32 i, DiffValue ***values, GError **error)
{
  const GantryNode *node = &oracle->module->nodes[function->first_node + i];
  g_autofree DiffValue **operands = operands_of (oracle, function, node, values);

  values[i] = g_new0 (DiffValue *, MAX (_diff_n_results (oracle->module, node), node->n_operands) + 1);
  if (node->op == GANTRY_OP_RESULT)
    {
      gint64 index = gantry_attrs_int (oracle->module->context, node->attrs, "index", 0);

      values[i][0] = values[gantry_module_position (oracle->module, gantry_node_operand (oracle->module, node, 0)) - function->first_node][index];
      return TRUE;
    }
  if (run_node (oracle, node, operands, values[i], error))
    return TRUE;
  gantry_error_prefix (error, "oracle, %%%u %s: ", node->id, gantry_node_op_name (oracle->module, node));
  return FALSE;
}

static GPtrArray *
run_function (DiffOracle *oracle, const GantryFunction *function, DiffValue *const *arguments, GError **error)
{
  g_autoptr (GPtrArray) frame = g_ptr_array_new_with_free_func (g_free);
  DiffValue ***values;
  GPtrArray *results;

  g_ptr_array_set_size (frame, (gint) function->n_nodes + 1);
  values = (DiffValue ***) frame->pdata;
  for (guint32 i = 0; i < function->n_nodes; i++)
    if (i < function->n_params)
      {
        values[i] = g_new0 (DiffValue *, 1);
        values[i][0] = arguments[i];
      }
    else if (!run_at (oracle, function, i, values, error))
      return NULL;
  results = g_ptr_array_new ();
  for (guint32 i = 0; i < function->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (oracle->module, gantry_function_result_id (oracle->module, function, i));

      g_ptr_array_add (results, values[gantry_module_position (oracle->module, node) - function->first_node][0]);
    }
  return results;
}

/* The results of the entry function own what they are made of. */
static GPtrArray *
keep_results (DiffOracle *oracle, const GPtrArray *out)
{
  GPtrArray *results = g_ptr_array_new_with_free_func (diff_value_free);

  for (guint i = 0; i < out->len; i++)
    {
      const DiffValue *value = g_ptr_array_index (out, i);
      DiffValue *copy = g_new0 (DiffValue, 1);

      *copy = *value;
      gantry_literal_ref (copy->value);
      if (value->error != NULL)
        copy->error = g_memdup2 (value->error, sizeof (double) * (gsize) (gantry_type_elements (value->type) + 1));
      g_ptr_array_add (results, copy);
    }
  return results;
}

GPtrArray *
diff_oracle (const GantryModule *module, const GPtrArray *inputs, GError **error)
{
  DiffOracle oracle = { module, g_ptr_array_new_with_free_func (diff_value_free) };
  const GantryFunction *entry = gantry_module_entry (module);
  g_autofree DiffValue **arguments = g_new0 (DiffValue *, entry->n_params + 1);
  g_autoptr (GPtrArray) out = NULL;
  GPtrArray *results = NULL;

  g_return_val_if_fail (inputs->len == entry->n_params, NULL);
  for (guint i = 0; i < entry->n_params; i++)
    arguments[i] = _diff_value_new (&oracle, gantry_node_type (module, &module->nodes[entry->first_node + i]),
                                    _diff_literal_as_double (module->context, g_ptr_array_index (inputs, i)), NULL);
  out = run_function (&oracle, entry, arguments, error);
  if (out != NULL)
    results = keep_results (&oracle, out);
  g_ptr_array_unref (oracle.owned);
  return results;
}
