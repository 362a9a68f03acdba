/* SPDX-License-Identifier: Apache-2.0 */
/* Writing ONNX: the nodes of a function, one after the other, into the graph that is open. Fusions and calls are what their
 * bodies say; operations on memory say nothing in ONNX and become Identity. */
#include "core/frontends/onnx/export-private.h"
#include "core/base/asks.h"
#include <string.h>

#define GANTRY_EXPORT_DEPTH 64

ExportValue *
gantry_export_tuple (GantryOnnxExport *e, ExportValue **members, guint n)
{
  ExportValue *tuple = gantry_arena_new0 (e->arena, ExportValue, 1);

  tuple->type = e->nobody->type;
  tuple->members = gantry_arena_copy (e->arena, members, sizeof *members * n);
  return tuple;
}

ExportValue *
gantry_export_graph_input (GantryOnnxExport *e, const char *name, const GantryType *type)
{
  ExportValue *value = gantry_export_value (e, gantry_export_name (e, name), type);

  g_ptr_array_add (e->graph->inputs, gantry_export_value_info (e, value->name, type));
  return value;
}

const GantryFunction *
gantry_export_body (GantryOnnxExport *e, const char *key)
{
  const GantryAttr *attr = gantry_attrs_find (e->context, e->node->attrs, key);
  const GantryFunction *body = attr != NULL && attr->kind == GANTRY_ATTR_FUNCTION ? gantry_module_function (e->module, attr->id) : NULL;

  if (body == NULL)
    gantry_export_fail (e, "attribute %s names no function", key);
  return body;
}

/* A value of its own with that of another. */
static ExportValue *
identity (GantryOnnxExport *e, ExportValue *x)
{
  return gantry_export_op (e, "Identity", x->type, 1, x);
}

void
gantry_export_outputs (GantryOnnxExport *e, ExportValue **values, guint n, const char *const *names)
{
  for (guint i = 0; i < n && e->error == NULL; i++)
    {
      ExportValue *value = values[i];

      if (value->members != NULL)
        {
          gantry_export_fail (e, "a tuple is a result");
          return;
        }
      if (value->name == NULL)
        gantry_export_settle (e, value);
      if (value->made_in != e->graph || value->is_output || (names != NULL && value->slot == NULL && !g_str_equal (value->name, names[i])))
        value = identity (e, value);
      if (names != NULL)
        gantry_export_rename (e, value, names[i]);
      value->slot = NULL;
      value->is_output = TRUE;
      g_ptr_array_add (e->graph->outputs, gantry_export_value_info (e, value->name, value->type));
    }
}

/* Nodes */

static gboolean
is_memory (guint op)
{
  return op == GANTRY_OP_COPY || op == GANTRY_OP_STOP_GRADIENT || op == GANTRY_OP_CHECKPOINT_NAME || op == GANTRY_OP_REMATERIALIZE
         || op == GANTRY_OP_OPTIMIZATION_BARRIER;
}

static ExportValue *
memory (GantryOnnxExport *e, ExportValue **in, G_GNUC_UNUSED guint n)
{
  g_hash_table_add (e->identities, (gpointer) gantry_node_op_name (e->module, e->node));
  return identity (e, in[0]);
}

static ExportRule
rule_of (guint op)
{
  switch (op)
    {
    case GANTRY_OP_FUSION:
    case GANTRY_OP_CALL:
    case GANTRY_OP_IF:
    case GANTRY_OP_WHILE:
    case GANTRY_OP_SCAN: return gantry_export_control;
    case GANTRY_OP_IOTA:
    case GANTRY_OP_BROADCAST_IN_DIM:
    case GANTRY_OP_RESHAPE:
    case GANTRY_OP_TRANSPOSE:
    case GANTRY_OP_REVERSE:
    case GANTRY_OP_SLICE:
    case GANTRY_OP_PAD:
    case GANTRY_OP_CONCATENATE:
    case GANTRY_OP_DYNAMIC_SLICE:
    case GANTRY_OP_DYNAMIC_UPDATE_SLICE: return gantry_export_movement;
    case GANTRY_OP_GATHER: return gantry_export_gather;
    case GANTRY_OP_SCATTER: return gantry_export_scatter;
    case GANTRY_OP_REDUCE: return gantry_export_reduction;
    case GANTRY_OP_REDUCE_WINDOW: return gantry_export_reduce_window;
    case GANTRY_OP_DOT_GENERAL: return gantry_export_dot;
    case GANTRY_OP_CONVOLUTION: return gantry_export_convolution;
    case GANTRY_OP_SORT: return gantry_export_sort;
    case GANTRY_OP_RNG_BIT_GENERATOR:
    case GANTRY_OP_CUSTOM_CALL: return NULL;
    default: return is_memory (op) ? memory : gantry_export_elementwise;
    }
}

/* Sizes are part of what is written. */
static gboolean
check_static (GantryOnnxExport *e, const GantryType *type)
{
  if (type->kind == GANTRY_TYPE_TUPLE)
    {
      for (guint i = 0; i < type->rank; i++)
        if (!check_static (e, gantry_context_type (e->context, (guint32) type->dims[i])))
          return FALSE;
      return TRUE;
    }
  if (gantry_type_is_static (type))
    return TRUE;
  gantry_export_fail (e, "a dimension has no size: " GANTRY_ASKS_SIZE " it");
  return FALSE;
}

static ExportValue *
write_core (GantryOnnxExport *e, ExportValue **in, guint n)
{
  ExportRule rule = rule_of (e->node->op);
  const GantryType *type = gantry_node_type (e->module, e->node);

  if (rule == NULL)
    {
      gantry_export_fail (e, "ONNX has no such operation");
      return e->nobody;
    }
  if (!check_static (e, type))
    return e->nobody;
  gantry_export_use_opset (e, "", GANTRY_ONNX_EXPORT_OPSET);
  if (type->kind == GANTRY_TYPE_TENSOR && gantry_type_elements (type) == 0)
    return gantry_export_empty (e, type);
  return rule (e, in, n);
}

static ExportValue *
member (GantryOnnxExport *e, ExportValue *tuple)
{
  gint64 index = gantry_attrs_int (e->context, e->node->attrs, "index", 0);

  return tuple->members != NULL ? tuple->members[index] : tuple;
}

static ExportValue *
constant (GantryOnnxExport *e)
{
  const GantryAttr *attr = gantry_attrs_find (e->context, e->node->attrs, "value");
  GantryLiteral *literal = attr != NULL ? gantry_context_literal (e->context, attr->id) : NULL;
  const char *name = gantry_context_string (e->context, e->node->name);

  if (literal == NULL)
    {
      gantry_export_fail (e, "the constant has no value");
      return e->nobody;
    }
  return gantry_export_literal (e, literal, *name != '\0' ? name : "constant");
}

static ExportValue *
write_node (GantryOnnxExport *e, ExportValue **in, guint n)
{
  switch (e->node->op)
    {
    case GANTRY_OP_CONSTANT: return constant (e);
    case GANTRY_OP_TUPLE: return gantry_export_tuple (e, in, n);
    case GANTRY_OP_RESULT: return member (e, in[0]);
    default: return e->node->op >= GANTRY_OP_FOREIGN ? gantry_export_foreign (e, in, n) : write_core (e, in, n);
    }
}

/* A body may have nodes of the name that the whole has, and the results of the entry keep theirs before all others. */
static void
name_after (GantryOnnxExport *e, ExportValue *value)
{
  const char *name = gantry_context_string (e->context, e->node->name);
  gpointer owner = g_hash_table_lookup (e->kept, name);
  gboolean whole = e->node->op == GANTRY_OP_FUSION || e->node->op == GANTRY_OP_CALL;

  if (*name == '\0' || (value->named && !whole) || (owner != NULL && GPOINTER_TO_UINT (owner) != e->node->id))
    return;
  gantry_export_rename (e, value, name);
  value->named = TRUE;
}

/* Operands of a function: of this frame alone, for a body may be written in several places. */
static ExportValue **
find_operands (GantryOnnxExport *e, const GantryFunction *function, ExportValue **values)
{
  ExportValue **in = gantry_arena_new0 (e->arena, ExportValue *, e->node->n_operands + 1);

  for (guint i = 0; i < e->node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (e->module, e->node, i);

      in[i] = operand != NULL ? values[gantry_module_position (e->module, operand) - function->first_node] : NULL;
    }
  return in;
}

gboolean
gantry_export_function (GantryOnnxExport *e, const GantryFunction *function, ExportValue **arguments, ExportValue **results)
{
  const GantryNode *outer = e->node;
  g_autofree ExportValue **values = g_new0 (ExportValue *, function->n_nodes + 1);

  if (++e->depth > GANTRY_EXPORT_DEPTH)
    gantry_export_fail (e, "functions nest deeper than %d", GANTRY_EXPORT_DEPTH);
  for (guint32 i = 0; i < function->n_nodes && e->error == NULL; i++)
    {
      e->node = &e->module->nodes[function->first_node + i];
      if (i < function->n_params)
        {
          values[i] = arguments[i];
          continue;
        }
      values[i] = write_node (e, find_operands (e, function, values), e->node->n_operands);
      if (e->error == NULL && values[i]->members == NULL)
        name_after (e, values[i]);
    }
  e->node = outer;
  e->depth--;
  for (guint i = 0; i < function->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (e->module, gantry_function_result_id (e->module, function, i));

      results[i] = e->error == NULL ? values[gantry_module_position (e->module, node) - function->first_node] : e->nobody;
    }
  return e->error == NULL;
}
