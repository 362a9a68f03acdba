/* SPDX-License-Identifier: Apache-2.0 */
/* Writing MindIR: the rules by operation, functions, the model. */
#include "core/base/output.h"
#include "core/frontends/mindspore/export-private.h"
#include "core/graph/operation.h"
#include <string.h>

typedef ExportValue *(*Rule) (MindExport *e, ExportValue **in, guint n);

/* Where a value lies has no form in MindIR. */
static ExportValue *
same (MindExport *e, ExportValue **in, guint n)
{
  (void) e;
  (void) n;
  return in[0];
}

static ExportValue *
tuple (MindExport *e, ExportValue **in, guint n)
{
  return gantry_mind_export_tuple (e, in, n);
}

static ExportValue *
result (MindExport *e, ExportValue **in, guint n)
{
  gint64 index = gantry_attrs_int (e->context, e->node->attrs, "index", 0);

  (void) n;
  return in[0]->members != NULL && index < in[0]->n ? in[0]->members[index] : e->nobody;
}

static Rule
rule_of (guint op)
{
  const GantryOpInfo *info = gantry_op_info (op);

  switch (op)
    {
    case GANTRY_OP_TUPLE: return tuple;
    case GANTRY_OP_RESULT: return result;
    case GANTRY_OP_CALL:
    case GANTRY_OP_FUSION:
    case GANTRY_OP_IF:
    case GANTRY_OP_WHILE:
    case GANTRY_OP_SCAN: return gantry_mind_export_control;
    case GANTRY_OP_OPTIMIZATION_BARRIER:
    case GANTRY_OP_CHECKPOINT_NAME:
    case GANTRY_OP_REMATERIALIZE:
    case GANTRY_OP_COPY: return same;
    case GANTRY_OP_REDUCE: return gantry_mind_export_reduction;
    case GANTRY_OP_REDUCE_WINDOW: return gantry_mind_export_window;
    case GANTRY_OP_DOT_GENERAL: return gantry_mind_export_dot;
    case GANTRY_OP_CONVOLUTION: return gantry_mind_export_convolution;
    case GANTRY_OP_GATHER: return gantry_mind_export_gather;
    case GANTRY_OP_SORT: return gantry_mind_export_sort;
    case GANTRY_OP_IOTA: return gantry_mind_export_elementwise;
    default: break;
    }
  if (info == NULL || op == GANTRY_OP_SCATTER || op == GANTRY_OP_DYNAMIC_UPDATE_SLICE)
    return NULL;
  return info->op_class == GANTRY_CLASS_ELEMENTWISE ? gantry_mind_export_elementwise
         : info->op_class == GANTRY_CLASS_MOVEMENT  ? gantry_mind_export_movement
                                                    : NULL;
}

/* A constant of floats with a name is a weight. */
static ExportValue *
constant (MindExport *e, const GantryNode *node)
{
  GantryLiteral *literal = gantry_node_literal (e->module, node);
  const char *name = gantry_context_string (e->context, node->name);

  if (literal == NULL || !gantry_element_is_compiled ((GantryElementType) literal->type->element))
    {
      gantry_mind_export_fail (e, "a constant of element type %s", literal != NULL ? gantry_element_name ((GantryElementType) literal->type->element) : "?");
      return e->nobody;
    }
  if (*name != '\0' && e->graph->outer == NULL && literal->type->rank > 0 && gantry_element_is_float ((GantryElementType) literal->type->element))
    return gantry_mind_export_parameter (e, name, literal);
  if (literal->splat && literal->type->rank > 0)
    {
      const GantryType *scalar = gantry_context_type (e->context, gantry_context_scalar (e->context, (GantryElementType) literal->type->element));
      g_autoptr (GBytes) one = g_bytes_new (literal->data, literal->size);
      g_autoptr (GantryLiteral) narrow = gantry_literal_new (scalar, one, FALSE, NULL);

      return gantry_mind_export_broadcast (e, gantry_mind_export_literal (e, narrow), literal->type->rank, literal->type->dims);
    }
  return gantry_mind_export_literal (e, literal);
}

static ExportValue *
write_one (MindExport *e, const GantryNode *node, GHashTable *values)
{
  g_autofree ExportValue **in = g_new0 (ExportValue *, node->n_operands + 1);
  Rule rule = rule_of (node->op);

  if (node->op == GANTRY_OP_CONSTANT)
    return constant (e, node);
  for (guint i = 0; i < node->n_operands; i++)
    {
      in[i] = g_hash_table_lookup (values, GUINT_TO_POINTER (gantry_node_operand_id (e->module, node, i)));
      if (in[i] == NULL || in[i] == e->nobody)
        return e->nobody;
    }
  if (rule == NULL)
    {
      gantry_mind_export_fail (e, "it is not written as MindIR");
      return e->nobody;
    }
  return rule (e, in, node->n_operands);
}

void
gantry_mind_export_function (MindExport *e, const GantryFunction *function, ExportValue **arguments, ExportValue **results)
{
  const GantryNode *outer = e->node;
  g_autoptr (GHashTable) values = g_hash_table_new (NULL, NULL);

  for (guint32 i = 0; i < function->n_nodes && e->error == NULL; i++)
    {
      const GantryNode *node = &e->module->nodes[function->first_node + i];
      ExportValue *value;

      e->node = node;
      value = i < function->n_params ? arguments[i] : write_one (e, node, values);
      g_hash_table_insert (values, GUINT_TO_POINTER (node->id), value);
    }
  e->node = outer;
  for (guint i = 0; i < function->n_results; i++)
    {
      results[i] = g_hash_table_lookup (values, GUINT_TO_POINTER (gantry_function_result_id (e->module, function, i)));
      if (results[i] == NULL)
        results[i] = e->nobody;
    }
}

/* All calls of the host at once, with their lines: whoever wants to be rid of them has to know them all. */
static gboolean
refuse_host_calls (const GantryModule *module, GError **error)
{
  g_autofree char *lines = gantry_module_host_calls (module);

  if (lines != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "what calls the host cannot be written as MindIR; these lines do:%s", lines);
  return lines == NULL;
}

static ExportValue *
write_parameter (MindExport *e, const GantryNode *node, guint index, const GantryMindsporeWeight *weight)
{
  const char *own = gantry_context_string (e->context, node->name);
  g_autofree char *plain = g_strdup_printf ("input_%u", index);
  const char *name = weight != NULL && weight->name != NULL ? weight->name : *own != '\0' ? own : plain;

  return weight != NULL && weight->value != NULL ? gantry_mind_export_parameter (e, name, weight->value)
                                                 : gantry_mind_export_input (e, name, gantry_node_type (e->module, node));
}

static GByteArray *
write_model (MindExport *e, const GantryMindsporeWeight *weights)
{
  const GantryFunction *entry = gantry_module_entry (e->module);
  g_autofree ExportValue **arguments = g_new0 (ExportValue *, entry->n_params + 1), **results = g_new0 (ExportValue *, entry->n_results + 1);
  GByteArray *model = g_byte_array_new ();

  gantry_mind_export_push (e, "main");
  for (guint i = 0; i < entry->n_params; i++)
    arguments[i] = write_parameter (e, &e->module->nodes[entry->first_node + i], i, weights != NULL ? &weights[i] : NULL);
  gantry_mind_export_function (e, entry, arguments, results);
  if (e->error == NULL)
    gantry_mind_export_output (e, entry->n_results > 1 ? gantry_mind_export_tuple (e, results, entry->n_results) : results[0]);
  gantry_wire_put_string (model, 1, "0.1.1");
  gantry_wire_put_string (model, 2, "Gantry, for MindSpore");
  gantry_wire_put_string (model, 5, "2.7.0"); /* of MindSpore, whose primitives these are */
  while (e->graph->outer != NULL)             /* after an error */
    g_byte_array_unref (gantry_mind_export_pop (e));
  gantry_wire_put_message (model, 7, gantry_mind_export_pop (e));
  g_byte_array_append (model, e->functions->data, e->functions->len);
  gantry_wire_put_int (model, 10, 1);
  g_byte_array_append (model, e->primitive_list->data, e->primitive_list->len);
  gantry_wire_put_int (model, 13, 3);
  return model;
}

gboolean
gantry_mindspore_export (const GantryModule *module, const char *path, const GantryMindsporeWeight *weights, GantryReadFiles *read, GError **error)
{
  MindExport e = { .module = module, .context = module->context };
  g_autoptr (GByteArray) model = NULL;

  if (!refuse_host_calls (module, error))
    return FALSE;
  e.arena = gantry_arena_new ();
  e.functions = g_byte_array_new ();
  e.primitive_list = g_byte_array_new ();
  e.primitives = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  e.counts = g_hash_table_new (g_str_hash, g_str_equal);
  e.names = g_hash_table_new (g_str_hash, g_str_equal);
  e.nobody = gantry_mind_export_value (&e, "", gantry_context_type (e.context, gantry_context_scalar (e.context, GANTRY_F32)));
  model = write_model (&e, weights);
  g_byte_array_unref (e.functions);
  g_byte_array_unref (e.primitive_list);
  g_hash_table_unref (e.primitives);
  g_hash_table_unref (e.counts);
  g_hash_table_unref (e.names);
  gantry_arena_free (e.arena);
  if (e.error != NULL)
    {
      g_propagate_error (error, e.error);
      return FALSE;
    }
  return gantry_output_write (path, read, (const char *) model->data, model->len, error);
}
