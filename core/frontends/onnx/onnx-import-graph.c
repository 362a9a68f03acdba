/* SPDX-License-Identifier: Apache-2.0 */
/* A graph as a function: inputs become parameters, initializers constants, then its nodes in order.
 * A subgraph is closed: names from outside become its last parameters. */
#include "core/frontends/onnx/onnx-import-private.h"
#include <string.h>

/* Bodies */

void
gantry_onnx_body_init (GantryOnnxBody *body, GantryOnnxImport *import, const GantryOnnxBody *outer)
{
  *body = (GantryOnnxBody){ .import = import };
  body->values = g_hash_table_new (g_str_hash, g_str_equal);
  body->types = g_hash_table_new (g_str_hash, g_str_equal);
  body->opsets = outer != NULL ? outer->opsets : import->opsets;
  body->bindings = outer != NULL ? outer->bindings : NULL;
  body->prefix = g_strdup (outer != NULL ? outer->prefix : "");
  body->where = g_strdup (outer != NULL ? outer->where : "");
  body->scope = g_strdup (outer != NULL ? outer->scope : "");
  body->line = outer != NULL ? outer->line : 0;
}

void
gantry_onnx_body_clear (GantryOnnxBody *body)
{
  g_hash_table_unref (body->values);
  g_hash_table_unref (body->types);
  g_free (body->prefix);
  g_free (body->where);
  g_free (body->scope);
  g_free (body->scopes);
}

gboolean
gantry_onnx_body_define (GantryOnnxBody *body, const char *name, guint32 id, GError **error)
{
  if (g_hash_table_insert (body->values, (gpointer) name, GUINT_TO_POINTER (id)))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%svalue '%s' is given twice; each value needs a name of its own", body->where, name);
  return FALSE;
}

/* Names, places */

static guint32
location_of (GantryOnnxBody *body, const char *what, const char *name)
{
  GantryOnnxImport *import = body->import;
  g_autofree char *text = g_strdup_printf ("%s%s '%s'", body->where, what, name);
  GantryLocation location = { .file = import->file_string, .line = body->line, .text = gantry_context_intern (import->context, text) };

  return gantry_context_location (import->context, &location);
}

static guint32
name_in (GantryOnnxBody *body, const char *name)
{
  g_autofree char *full = *body->prefix != '\0' ? g_strconcat (body->prefix, name, NULL) : NULL;

  return gantry_context_intern (body->import->context, full != NULL ? full : name);
}

/* Inputs */

/* Returns: the parameter's id, 0 on error. */
static guint32
write_parameter (GantryOnnxBody *body, const char *what, const char *name, guint32 name_id, guint32 type, GError **error)
{
  GantryOnnxImport *import = body->import;
  guint32 scope = gantry_context_scope (import->context, body->scope);

  if (!gantry_onnx_count (import, 1, error))
    return 0;
  gantry_builder_set_place (import->builder, scope, location_of (body, what, name));
  gantry_builder_set_name (import->builder, name_id);
  return gantry_builder_parameter (import->builder, type, NULL);
}

static GHashTable *
initializer_names (const Onnx__GraphProto *graph)
{
  GHashTable *names = g_hash_table_new (g_str_hash, g_str_equal);

  for (gsize i = 0; i < graph->n_initializer; i++)
    if (graph->initializer[i]->name != NULL)
      g_hash_table_add (names, graph->initializer[i]->name);
  for (gsize i = 0; i < graph->n_sparse_initializer; i++)
    if (graph->sparse_initializer[i]->values != NULL && graph->sparse_initializer[i]->values->name != NULL)
      g_hash_table_add (names, graph->sparse_initializer[i]->values->name);
  return names;
}

/* The user gives this input of the model a value. */
static gboolean
is_set (const GantryOnnxImport *import, const char *name)
{
  for (guint i = 0; i < import->options->n_values; i++)
    if (strcmp (import->options->values[i].name, name) == 0)
      return TRUE;
  return FALSE;
}

/* Up to IR version 3 every initializer stands among the inputs too, and later versions may give an
 * input a default so: in both cases the value is known and it is no input, unless the user gives another. */
static gboolean
write_inputs (GantryOnnxBody *body, const Onnx__GraphProto *graph, gboolean is_main, GError **error)
{
  g_autoptr (GHashTable) given = initializer_names (graph);

  for (gsize i = 0; i < graph->n_input; i++)
    {
      const Onnx__ValueInfoProto *input = graph->input[i];
      gboolean set = FALSE;
      guint32 type, id;

      if (input->name == NULL || *input->name == '\0')
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%sinput %zu has no name; the file is damaged", body->where, i);
          return FALSE;
        }
      set = is_main && is_set (body->import, input->name);
      if (g_hash_table_contains (given, input->name) && !set)
        continue;
      /* The dimensions of one that is set are those of its value: there is nothing to bind. */
      type = gantry_onnx_value_type (body->import, input->type, is_main && !set ? input->name : NULL);
      id = write_parameter (body, "input", input->name, name_in (body, input->name), type, error);
      if (id == 0 || !gantry_onnx_body_define (body, input->name, id, error))
        return FALSE;
    }
  return TRUE;
}

/* Initializers */

static guint32
write_constant (GantryOnnxBody *body, const char *name, guint32 scope, const char *foreign, guint32 type, GantryAttrList *list)
{
  GantryOnnxImport *import = body->import;
  guint op = foreign != NULL ? gantry_context_foreign_op (import->context, foreign) : GANTRY_OP_CONSTANT;

  gantry_builder_set_place (import->builder, scope, location_of (body, "initializer", name));
  gantry_builder_set_name (import->builder, name_in (body, name));
  return gantry_builder_add_typed (import->builder, op, NULL, 0, gantry_attr_list_end (list), type);
}

static gboolean
write_initializer (GantryOnnxBody *body, const Onnx__TensorProto *tensor, guint32 scope, gsize index, GError **error)
{
  GantryOnnxImport *import = body->import;
  g_autoptr (GantryAttrList) list = gantry_attr_list_new (import->context);
  gboolean compiled;
  guint32 type, id;

  if (tensor->name == NULL || *tensor->name == '\0')
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%sinitializer %zu has no name; the file is damaged", body->where, index);
      return FALSE;
    }
  if (!gantry_onnx_count (import, 1, error) || !gantry_onnx_write_tensor (import, list, "value", tensor, &type, error))
    {
      gantry_error_prefix (error, "%sinitializer '%s': ", body->where, tensor->name);
      return FALSE;
    }
  compiled = gantry_element_is_compiled (gantry_context_type (import->context, type)->element);
  id = write_constant (body, tensor->name, scope, compiled ? NULL : GANTRY_ONNX_PREFIX "Initializer", type, g_steal_pointer (&list));
  return gantry_onnx_body_define (body, tensor->name, id, error);
}

static gboolean
write_sparse_initializer (GantryOnnxBody *body, const Onnx__SparseTensorProto *sparse, guint32 scope, GError **error)
{
  GantryOnnxImport *import = body->import;
  g_autoptr (GantryAttrList) list = gantry_attr_list_new (import->context);
  guint32 values, indices, type = 0, id;

  if (sparse->values == NULL || sparse->indices == NULL || sparse->values->name == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%sa sparse initializer lacks its values, indices or name; the file is damaged", body->where);
      return FALSE;
    }
  if (!gantry_onnx_count (import, 1, error) || !gantry_onnx_write_tensor (import, list, "value.values", sparse->values, &values, error)
      || !gantry_onnx_write_tensor (import, list, "value.indices", sparse->indices, &indices, error))
    {
      gantry_error_prefix (error, "%sinitializer '%s': ", body->where, sparse->values->name);
      return FALSE;
    }
  gantry_attr_list_set_ints (list, "value.dims", sparse->dims, sparse->n_dims);
  if (sparse->n_dims <= GANTRY_MAX_RANK)
    type = gantry_context_tensor (import->context, gantry_context_type (import->context, values)->element, (guint) sparse->n_dims, sparse->dims);
  id = write_constant (body, sparse->values->name, scope, GANTRY_ONNX_PREFIX "SparseInitializer", type, g_steal_pointer (&list));
  return gantry_onnx_body_define (body, sparse->values->name, id, error);
}

/* A weight stands where its users stand: in the innermost scope that holds them all. name -> scope
 * id + 1 */
static GHashTable *
scopes_of_operands (GantryOnnxBody *body)
{
  GHashTable *scopes = g_hash_table_new (g_str_hash, g_str_equal);

  for (gsize i = 0; i < body->n_nodes; i++)
    for (gsize j = 0; j < body->nodes[i]->n_input; j++)
      {
        const char *name = body->nodes[i]->input[j];
        guint32 scope = body->scopes[i], before = GPOINTER_TO_UINT (g_hash_table_lookup (scopes, name));

        if (before != 0)
          scope = gantry_onnx_common_scope (body->import->context, before - 1, scope);
        g_hash_table_insert (scopes, (gpointer) name, GUINT_TO_POINTER (scope + 1));
      }
  return scopes;
}

static gboolean
write_initializers (GantryOnnxBody *body, const Onnx__GraphProto *graph, GError **error)
{
  g_autoptr (GHashTable) scopes = scopes_of_operands (body);
  guint32 base = gantry_context_scope (body->import->context, body->scope);

  for (gsize i = 0; i < graph->n_initializer + graph->n_sparse_initializer; i++)
    {
      const Onnx__SparseTensorProto *sparse = i >= graph->n_initializer ? graph->sparse_initializer[i - graph->n_initializer] : NULL;
      const Onnx__TensorProto *tensor = sparse != NULL ? sparse->values : graph->initializer[i];
      guint32 scope = tensor != NULL && tensor->name != NULL ? GPOINTER_TO_UINT (g_hash_table_lookup (scopes, tensor->name)) : 0;

      scope = scope != 0 ? scope - 1 : base;
      /* An input of the model that has another value. */
      if (tensor != NULL && tensor->name != NULL && is_set (body->import, tensor->name) && g_hash_table_contains (body->values, tensor->name))
        continue;
      if (sparse != NULL ? !write_sparse_initializer (body, sparse, scope, error) : !write_initializer (body, tensor, scope, i, error))
        return FALSE;
    }
  return TRUE;
}

/* Nodes, outputs */

gboolean
gantry_onnx_body_write_nodes (GantryOnnxBody *body, GError **error)
{
  g_autofree guint32 *order = gantry_onnx_order (body, error);

  if (order == NULL)
    return FALSE;
  for (gsize i = 0; i < body->n_nodes; i++)
    if (!gantry_onnx_write_node (body, order[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
end_function (GantryOnnxBody *body, const Onnx__GraphProto *graph, GError **error)
{
  g_autofree guint32 *results = g_new (guint32, graph->n_output + 1);

  for (gsize i = 0; i < graph->n_output; i++)
    {
      const char *name = graph->output[i]->name;

      results[i] = name != NULL ? GPOINTER_TO_UINT (g_hash_table_lookup (body->values, name)) : 0;
      if (results[i] == 0)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%soutput '%s' is produced by no node, input or initializer; the file is damaged",
                       body->where, name != NULL ? name : "");
          return FALSE;
        }
    }
  gantry_builder_end (body->import->builder, results, (guint) graph->n_output);
  return TRUE;
}

static gboolean
write_contents (GantryOnnxBody *body, const Onnx__GraphProto *graph, GError **error)
{
  body->nodes = graph->node;
  body->n_nodes = graph->n_node;
  body->scopes = gantry_onnx_scopes (body);
  gantry_onnx_declare_types (body, graph->value_info, graph->n_value_info);
  gantry_onnx_declare_types (body, graph->output, graph->n_output);
  return write_initializers (body, graph, error) && gantry_onnx_body_write_nodes (body, error) && end_function (body, graph, error);
}

gboolean
gantry_onnx_write_graph (GantryOnnxImport *import, const Onnx__GraphProto *graph, GError **error)
{
  g_auto (GantryOnnxBody) body;

  gantry_onnx_body_init (&body, import, NULL);
  gantry_builder_begin (import->builder, graph->name != NULL && *graph->name != '\0' ? graph->name : "main", 0);
  return write_inputs (&body, graph, TRUE, error) && write_contents (&body, graph, error);
}

/* All bodies of a node take the captures of all of them; each names those that are its own. */
static gboolean
write_captures (GantryOnnxBody *body, const GantryOnnxBody *names, const Onnx__GraphProto *graph, GArray *captures, GError **error)
{
  GantryOnnxImport *import = body->import;
  GPtrArray *own = gantry_onnx_free_names (import, graph);
  g_autoptr (GHashTable) parameters = g_hash_table_new (NULL, NULL); /* id outside -> id inside */

  for (guint i = 0; i < captures->len; i++)
    {
      guint32 id = g_array_index (captures, guint32, i), name = gantry_builder_node (import->builder, id)->name;
      guint32 parameter = write_parameter (body, "captured", gantry_context_string (import->context, name), name, gantry_builder_type (import->builder, id),
                                           error);

      if (parameter == 0)
        return FALSE;
      g_hash_table_insert (parameters, GUINT_TO_POINTER (id), GUINT_TO_POINTER (parameter));
    }
  /* An input that a call leaves out, id 0, is left out inside, too. */
  for (guint i = 0; i < own->len; i++)
    {
      char *name = g_ptr_array_index (own, i);
      gpointer id = g_hash_table_lookup (names->values, name);

      g_hash_table_insert (body->values, name, g_hash_table_lookup (parameters, id));
    }
  return TRUE;
}

guint32
gantry_onnx_write_subgraph (GantryOnnxBody *outer, const GantryOnnxBody *names, const Onnx__GraphProto *graph, const char *attribute, gsize index,
                            GArray *captures, GError **error)
{
  GantryOnnxImport *import = outer->import;
  g_autofree char *node = gantry_onnx_node_where (outer, index);
  g_auto (GantryOnnxBody) body;
  guint32 function;

  gantry_onnx_body_init (&body, import, outer);
  body.bindings = names->bindings;
  body.opsets = names->opsets;
  g_free (body.where);
  body.where = g_strdup_printf ("%s, %s, ", node, attribute);
  body.line = outer->line != 0 ? outer->line : (guint32) index + 1;
  g_free (body.scope);
  body.scope = g_strdup (gantry_context_scope_path (import->context, outer->scopes[index]));
  function = gantry_builder_begin (import->builder, attribute, 0);
  if (!write_inputs (&body, graph, FALSE, error) || !write_captures (&body, names, graph, captures, error) || !write_contents (&body, graph, error))
    return 0;
  return function;
}
