/* SPDX-License-Identifier: Apache-2.0 */
/* Writing StableHLO: a module as text. Fusions and calls are what their bodies say. */
#include "core/base/output.h"
#include "core/base/asks.h"
#include "core/frontends/xla/stablehlo-export-private.h"
#include "core/frontends/xla/xla.h"
#include <string.h>

#define MOST_DEPTH 64

void
gantry_stablehlo_export_fail (MlirExport *m, const char *format, ...)
{
  g_autofree char *place = m->node != NULL ? gantry_context_location_text (m->context, m->node->location) : NULL;
  g_autofree char *label = m->node != NULL ? gantry_node_label (m->module, m->node) : g_strdup ("");
  g_autofree char *what = NULL;
  va_list arguments;

  if (m->error != NULL)
    return;
  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (&m->error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s%s%s '%s': %s", place != NULL ? place : "", place != NULL && *place != '\0' ? ": " : "",
               m->node != NULL ? gantry_node_op_name (m->module, m->node) : "module", label, what);
}

const GantryFunction *
gantry_stablehlo_export_body (MlirExport *m, const char *key)
{
  const GantryAttr *attr = gantry_attrs_find (m->context, m->node->attrs, key);
  const GantryFunction *body = attr != NULL && attr->kind == GANTRY_ATTR_FUNCTION ? gantry_module_function (m->module, attr->id) : NULL;

  if (body == NULL)
    gantry_stablehlo_export_fail (m, "attribute %s names no function", key);
  return body;
}

/* Nodes */

static MlirName *
drop (MlirExport *m, MlirName *x)
{
  g_hash_table_add (m->dropped, (gpointer) gantry_node_op_name (m->module, m->node));
  return x;
}

/* Where a value goes is said as JAX says it. */
static MlirName *
copy (MlirExport *m, MlirName *x)
{
  const GantryType *type = gantry_node_type (m->module, m->node);
  MlirName *value;

  if (gantry_attrs_find (m->context, m->node->attrs, "memory") == NULL)
    return drop (m, x);
  value = gantry_stablehlo_new_name (m, type);
  gantry_stablehlo_print_indent (m);
  g_string_append_printf (m->out,
                          "%s = stablehlo.custom_call @annotate_device_placement(%s) {has_side_effect = true, "
                          "mhlo.frontend_attributes = {_xla_buffer_placement = \"%s\"}}",
                          value->text, x->text, gantry_memory_kind_name ((GantryMemoryKind) type->memory));
  gantry_stablehlo_end (m, &x, 1, &type, 1);
  return value;
}

static MlirName *
constant (MlirExport *m)
{
  const GantryAttr *attr = gantry_attrs_find (m->context, m->node->attrs, "value");
  const GantryLiteral *literal = attr != NULL ? gantry_context_literal (m->context, attr->id) : NULL;

  if (literal != NULL)
    return gantry_stablehlo_literal (m, literal);
  gantry_stablehlo_export_fail (m, "the constant has no value");
  return gantry_stablehlo_new_name (m, NULL);
}

static MlirName *
member (MlirExport *m, MlirName *tuple)
{
  return tuple->members != NULL ? tuple->members[gantry_attrs_int (m->context, m->node->attrs, "index", 0)] : tuple;
}

static MlirName *
tuple_of (MlirExport *m, MlirName **in, guint n)
{
  MlirName *tuple = gantry_arena_new0 (m->arena, MlirName, 1);

  tuple->members = gantry_arena_copy (m->arena, in, sizeof *in * n);
  return tuple;
}

static gboolean
is_written (const GantryType *type, GantryContext *context)
{
  gboolean all = TRUE;

  if (type->kind != GANTRY_TYPE_TUPLE)
    return gantry_type_is_static (type) && gantry_element_is_compiled ((GantryElementType) type->element);
  for (guint i = 0; i < type->rank; i++)
    all = all && is_written (gantry_context_type (context, (guint32) type->dims[i]), context);
  return all;
}

MlirName *
gantry_stablehlo_export_node (MlirExport *m, MlirName **in, guint n)
{
  guint op = m->node->op;

  if (op >= GANTRY_OP_FOREIGN)
    gantry_stablehlo_export_fail (m, "it is as the file has it; what is written is in core operations: --snapshot legalize or a later one");
  else if (op == GANTRY_OP_CUSTOM_CALL)
    gantry_stablehlo_export_fail (m, "StableHLO has no such operation");
  else if (!is_written (gantry_node_type (m->module, m->node), m->context))
    gantry_stablehlo_export_fail (m, "a dimension has no size: " GANTRY_ASKS_SIZE " it");
  if (m->error != NULL)
    return gantry_stablehlo_new_name (m, NULL);
  switch (op)
    {
    case GANTRY_OP_CONSTANT: return constant (m);
    case GANTRY_OP_TUPLE: return tuple_of (m, in, n);
    case GANTRY_OP_RESULT: return member (m, in[0]);
    case GANTRY_OP_CHECKPOINT_NAME:
    case GANTRY_OP_REMATERIALIZE: return drop (m, in[0]);
    case GANTRY_OP_COPY: return copy (m, in[0]);
    case GANTRY_OP_OPTIMIZATION_BARRIER: return gantry_stablehlo_op (m, "stablehlo.optimization_barrier", in[0]->type, 1, in[0]);
    case GANTRY_OP_FUSION:
    case GANTRY_OP_CALL:
    case GANTRY_OP_IF:
    case GANTRY_OP_WHILE:
    case GANTRY_OP_SCAN:
    case GANTRY_OP_SORT:
    case GANTRY_OP_RNG_BIT_GENERATOR: return gantry_stablehlo_export_control (m, in, n);
    case GANTRY_OP_REDUCE:
    case GANTRY_OP_REDUCE_WINDOW:
    case GANTRY_OP_SCATTER:
    case GANTRY_OP_DOT_GENERAL:
    case GANTRY_OP_CONVOLUTION: return gantry_stablehlo_export_sum (m, in, n);
    default: break;
    }
  return gantry_op_info (op)->op_class == GANTRY_CLASS_ELEMENTWISE ? gantry_stablehlo_export_elementwise (m, in, n)
                                                                   : gantry_stablehlo_export_movement (m, in, n);
}

static MlirName **
find_operands (MlirExport *m, const GantryFunction *function, MlirName **values)
{
  MlirName **in = gantry_arena_new0 (m->arena, MlirName *, m->node->n_operands + 1);

  for (guint i = 0; i < m->node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (m->module, m->node, i);

      in[i] = operand != NULL ? values[gantry_module_position (m->module, operand) - function->first_node] : NULL;
    }
  return in;
}

gboolean
gantry_stablehlo_export_function (MlirExport *m, const GantryFunction *function, MlirName **arguments, MlirName **results)
{
  const GantryNode *outer = m->node;
  g_autofree MlirName **values = g_new0 (MlirName *, function->n_nodes + 1);

  if (++m->depth > MOST_DEPTH)
    gantry_stablehlo_export_fail (m, "functions nest deeper than %d", MOST_DEPTH);
  for (guint32 i = 0; i < function->n_nodes && m->error == NULL; i++)
    {
      m->node = &m->module->nodes[function->first_node + i];
      values[i] = i < function->n_params ? arguments[i] : gantry_stablehlo_export_node (m, find_operands (m, function, values), m->node->n_operands);
    }
  m->node = outer;
  m->depth--;
  for (guint i = 0; i < function->n_results && m->error == NULL; i++)
    {
      const GantryNode *node = gantry_module_node (m->module, gantry_function_result_id (m->module, function, i));

      results[i] = values[gantry_module_position (m->module, node) - function->first_node];
      if (results[i]->text == NULL)
        gantry_stablehlo_export_fail (m, "a tuple is a result");
    }
  return m->error == NULL;
}

/* The entry */

static void
print_memory (MlirExport *m, const GantryType *type, const char *separator)
{
  if (type->memory != GANTRY_MEMORY_DEVICE)
    g_string_append_printf (m->out, "%smhlo.memory_kind = \"%s\"", separator, gantry_memory_kind_name ((GantryMemoryKind) type->memory));
}

static void
print_parameter (MlirExport *m, MlirName *value)
{
  gint64 alias = gantry_attrs_int (m->context, m->node->attrs, "alias", -1);
  gboolean donated = alias < 0 && gantry_attrs_int (m->context, m->node->attrs, "jax.buffer_donor", 0) != 0;
  const char *name = gantry_context_string (m->context, m->node->name);

  g_string_append_printf (m->out, "%s: ", value->text);
  gantry_stablehlo_print_type (m->out, value->type);
  if (alias >= 0 || donated || value->type->memory != GANTRY_MEMORY_DEVICE)
    {
      g_string_append (m->out, " {");
      if (alias >= 0)
        g_string_append_printf (m->out, "tf.aliasing_output = %" G_GINT64_FORMAT " : i32", alias);
      if (donated)
        g_string_append (m->out, "jax.buffer_donor = true");
      print_memory (m, value->type, alias >= 0 || donated ? ", " : "");
      g_string_append_c (m->out, '}');
    }
  if (*name != '\0')
    {
      g_string_append (m->out, " loc(");
      gantry_stablehlo_print_string (m->out, name);
      g_string_append_c (m->out, ')');
    }
}

static void
print_head (MlirExport *m, const GantryFunction *entry, MlirName **values)
{
  g_string_append (m->out, "module @");
  gantry_stablehlo_print_string (m->out, gantry_context_string (m->context, m->module->name));
  g_string_append (m->out, " attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n  func.func public @main(");
  for (guint i = 0; i < entry->n_params; i++)
    {
      m->node = &m->module->nodes[entry->first_node + i];
      if (!is_written (gantry_node_type (m->module, m->node), m->context))
        gantry_stablehlo_export_fail (m, "a dimension has no size: " GANTRY_ASKS_SIZE " it");
      values[i] = gantry_stablehlo_new_name (m, gantry_node_type (m->module, m->node));
      g_string_append (m->out, i > 0 ? ", " : "");
      print_parameter (m, values[i]);
    }
  g_string_append (m->out, ") -> (");
  for (guint i = 0; i < entry->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (m->module, gantry_function_result_id (m->module, entry, i));
      const char *name = gantry_context_string (m->context, node->name);

      g_string_append (m->out, i > 0 ? ", " : "");
      gantry_stablehlo_print_type (m->out, gantry_node_type (m->module, node));
      g_string_append (m->out, " {jax.result_info = ");
      gantry_stablehlo_print_string (m->out, name);
      print_memory (m, gantry_node_type (m->module, node), ", ");
      g_string_append_c (m->out, '}');
    }
  m->node = NULL;
  g_string_append (m->out, ") {\n");
}

static void
print_module (MlirExport *m)
{
  const GantryFunction *entry = gantry_module_entry (m->module);
  MlirName **values = gantry_arena_new0 (m->arena, MlirName *, entry->n_params + 1);
  MlirName **results = gantry_arena_new0 (m->arena, MlirName *, entry->n_results + 1);

  print_head (m, entry, values);
  m->indent = 2;
  if (!gantry_stablehlo_export_function (m, entry, values, results))
    return;
  g_string_append (m->out, "    return");
  for (guint i = 0; i < entry->n_results; i++)
    g_string_append_printf (m->out, "%s %s", i > 0 ? "," : "", results[i]->text);
  for (guint i = 0; i < entry->n_results; i++)
    {
      g_string_append (m->out, i > 0 ? ", " : " : ");
      gantry_stablehlo_print_type (m->out, gantry_node_type (m->module, gantry_module_node (m->module, gantry_function_result_id (m->module, entry, i))));
    }
  g_string_append (m->out, "\n  }\n}\n");
  gantry_stablehlo_flush (m);
}

static void
note_lost (const MlirExport *m, GPtrArray *notes)
{
  const GantryFunction *entry = gantry_module_entry (m->module);
  GHashTableIter iter;
  gpointer name;
  guint n = 0;

  if (notes == NULL)
    return;
  g_hash_table_iter_init (&iter, m->dropped);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_ptr_array_add (notes, g_strdup_printf ("%s is left out: its value is its operand's", (const char *) name));
  for (guint i = 0; i < entry->n_params; i++)
    n += gantry_attrs_find (m->context, m->module->nodes[entry->first_node + i].attrs, "initial") != NULL;
  if (n > 0)
    g_ptr_array_add (notes, g_strdup_printf ("the first values of %u parameters are left out: StableHLO has none", n));
}

gboolean
gantry_stablehlo_export (const GantryModule *module, const char *path, GantryReadFiles *read, GPtrArray *notes, GError **error)
{
  g_autoptr (GantryOutput) output = gantry_output_new (path, read, error);
  g_autoptr (GantryArena) arena = NULL;
  g_autoptr (GHashTable) dropped = NULL;
  g_autoptr (GString) out = NULL;
  MlirExport m = { .context = module->context, .module = module };

  if (output == NULL)
    return FALSE;
  m.arena = arena = gantry_arena_new ();
  m.dropped = dropped = g_hash_table_new (g_str_hash, g_str_equal);
  m.out = out = g_string_new (NULL);
  m.stream = gantry_output_stream (output);
  print_module (&m);
  note_lost (&m, notes);
  if (m.error != NULL && m.error->domain == GANTRY_ERROR)
    {
      g_propagate_error (error, m.error);
      return FALSE;
    }
  if (m.error != NULL)
    g_propagate_error (error, m.error);
  return gantry_output_finish (output, m.error == NULL, error);
}
