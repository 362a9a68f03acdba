/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the model: an operation whose body the model gives is written out where it is
 * called, its attributes put in, below a scope named after the call. Lowering never sees such a
 * call. */
#include "core/frontends/onnx/onnx-import-private.h"
#include <string.h>

static char *
function_key (const char *domain, const char *name, const char *overload)
{
  return g_strconcat (gantry_onnx_domain (domain), "\n", name != NULL ? name : "", "\n", overload != NULL ? overload : "", NULL);
}

gboolean
gantry_onnx_collect_functions (GantryOnnxImport *import, GError **error)
{
  const Onnx__ModelProto *model = import->file->model;

  for (gsize i = 0; i < model->n_functions; i++)
    {
      Onnx__FunctionProto *function = model->functions[i];

      if (g_hash_table_insert (import->functions, function_key (function->domain, function->name, function->overload), function))
        continue;
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "function '%s' of domain '%s' is given twice; the file is damaged",
                   function->name != NULL ? function->name : "", function->domain != NULL ? function->domain : "");
      return FALSE;
    }
  return TRUE;
}

const Onnx__FunctionProto *
gantry_onnx_find_function (GantryOnnxImport *import, const Onnx__NodeProto *node)
{
  g_autofree char *key = NULL;

  if (g_hash_table_size (import->functions) == 0)
    return NULL;
  key = function_key (node->domain, node->op_type, node->overload);
  return g_hash_table_lookup (import->functions, key);
}

/* How many nodes and calls there are with every call written out: each function is counted once, however often and
 * however deep it is called. */

typedef struct
{
  GantryOnnxImport *import;
  GHashTable *counts; /* Onnx__FunctionProto* -> guint64*, 0 while it is being counted */
  guint depth;
} Expansion;

static guint64 count_nodes (Expansion *expansion, Onnx__NodeProto **nodes, gsize n);

static guint64
sum_up_to_most (guint64 a, guint64 b)
{
  return a > G_MAXUINT64 - b ? G_MAXUINT64 : a + b;
}

/* What calls itself or lies too deep is refused by name when it is written; here it only has to end. */
static guint64
count_function (Expansion *expansion, const Onnx__FunctionProto *function)
{
  guint64 *count = g_hash_table_lookup (expansion->counts, function);

  if (count != NULL || expansion->depth == GANTRY_ONNX_MAX_CALL_DEPTH)
    return count != NULL ? *count : 0;
  count = g_new0 (guint64, 1);
  g_hash_table_insert (expansion->counts, (gpointer) function, count);
  expansion->depth++;
  *count = count_nodes (expansion, function->node, function->n_node);
  expansion->depth--;
  return *count;
}

static guint64
count_nodes (Expansion *expansion, Onnx__NodeProto **nodes, gsize n)
{
  guint64 sum = n;

  for (gsize i = 0; i < n; i++)
    {
      const Onnx__FunctionProto *function = gantry_onnx_find_function (expansion->import, nodes[i]);

      if (function != NULL)
        sum = sum_up_to_most (sum, count_function (expansion, function));
      for (gsize j = 0; j < nodes[i]->n_attribute; j++)
        {
          const Onnx__AttributeProto *attribute = nodes[i]->attribute[j];

          for (gsize k = 0; k < attribute->n_graphs + (attribute->g != NULL); k++)
            {
              const Onnx__GraphProto *graph = k < attribute->n_graphs ? attribute->graphs[k] : attribute->g;

              sum = sum_up_to_most (sum, count_nodes (expansion, graph->node, graph->n_node));
            }
        }
    }
  return sum;
}

gboolean
gantry_onnx_check_expansion (GantryOnnxImport *import, GError **error)
{
  const Onnx__GraphProto *graph = import->file->model->graph;
  Expansion expansion = { .import = import };
  guint64 n;

  if (g_hash_table_size (import->functions) == 0)
    return TRUE;
  expansion.counts = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  n = count_nodes (&expansion, graph->node, graph->n_node);
  g_hash_table_unref (expansion.counts);
  if (n <= import->max_nodes)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE,
               "the model has %s%" G_GUINT64_FORMAT " nodes and calls with its functions written out, and the limit is %u",
               n == G_MAXUINT64 ? "more than " : "", n, import->max_nodes);
  return FALSE;
}

/* Inputs and attributes */

static gboolean
bind_inputs (GantryOnnxBody *inside, GantryOnnxBody *body, const Onnx__NodeProto *node, const Onnx__FunctionProto *function, GError **error)
{
  if (node->n_input > function->n_input)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "it has %zu inputs, but the function '%s' takes %zu", node->n_input, function->name,
                   function->n_input);
      return FALSE;
    }
  for (gsize i = 0; i < function->n_input; i++)
    {
      const char *name = i < node->n_input ? node->input[i] : "";
      gpointer id = NULL;

      if (*name != '\0' && !g_hash_table_lookup_extended (body->values, name, NULL, &id))
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "input '%s' is produced by no node, input or initializer; the file is damaged", name);
          return FALSE;
        }
      if (!gantry_onnx_body_define (inside, function->input[i], GPOINTER_TO_UINT (id), error))
        return FALSE;
    }
  return TRUE;
}

static void
bind (GHashTable *bindings, const char *name, const Onnx__AttributeProto *attribute, GantryOnnxBody *body)
{
  GantryOnnxBinding *binding = g_new (GantryOnnxBinding, 1);

  *binding = (GantryOnnxBinding){ .attribute = attribute, .body = body };
  g_hash_table_insert (bindings, (gpointer) name, binding);
}

/* Defaults first, then what the call gives; an attribute of the call may itself stand for one of
 * the function around it. */
static gboolean
bind_attributes (GantryOnnxBody *inside, GantryOnnxBody *body, const Onnx__NodeProto *node, const Onnx__FunctionProto *function, GError **error)
{
  for (gsize i = 0; i < function->n_attribute_proto; i++)
    if (function->attribute_proto[i]->name != NULL)
      bind (inside->bindings, function->attribute_proto[i]->name, function->attribute_proto[i], inside);
  for (gsize i = 0; i < node->n_attribute; i++)
    {
      g_autoptr (GError) local = NULL;
      GantryOnnxBody *of;
      const Onnx__AttributeProto *attribute = gantry_onnx_attribute (body, node->attribute[i], &of, &local);

      if (local != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&local));
          return FALSE;
        }
      if (attribute != NULL && node->attribute[i]->name != NULL)
        bind (inside->bindings, node->attribute[i]->name, attribute, of);
    }
  return TRUE;
}

static GHashTable *
opsets_of (const GantryOnnxBody *body, const Onnx__FunctionProto *function)
{
  GHashTable *opsets = g_hash_table_new (g_str_hash, g_str_equal);

  if (function->n_opset_import == 0)
    return g_hash_table_ref (body->import->opsets);
  for (gsize i = 0; i < function->n_opset_import; i++)
    {
      gint64 version = function->opset_import[i]->version;

      g_hash_table_insert (opsets, (gpointer) gantry_onnx_domain (function->opset_import[i]->domain), GINT_TO_POINTER ((gint) CLAMP (version, 0, G_MAXINT)));
    }
  return opsets;
}

/* Outputs */

static gboolean
name_outputs (GantryOnnxBody *inside, GantryOnnxBody *body, const Onnx__NodeProto *node, const Onnx__FunctionProto *function, GError **error)
{
  if (node->n_output > function->n_output)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "it has %zu outputs, but the function '%s' gives %zu", node->n_output, function->name,
                   function->n_output);
      return FALSE;
    }
  for (gsize i = 0; i < node->n_output; i++)
    {
      const char *outer = node->output[i];
      const char *alias = body->aliases != NULL ? g_hash_table_lookup (body->aliases, outer) : NULL;
      gpointer type = g_hash_table_lookup (body->types, outer);

      if (*outer == '\0')
        continue;
      g_hash_table_insert (inside->aliases, function->output[i], alias != NULL ? g_strdup (alias) : g_strconcat (body->prefix, outer, NULL));
      if (type != NULL)
        g_hash_table_insert (inside->types, function->output[i], type);
    }
  return TRUE;
}

static gboolean
take_outputs (GantryOnnxBody *inside, GantryOnnxBody *body, const Onnx__NodeProto *node, const Onnx__FunctionProto *function, GError **error)
{
  for (gsize i = 0; i < node->n_output; i++)
    {
      guint32 id = GPOINTER_TO_UINT (g_hash_table_lookup (inside->values, function->output[i]));

      if (*node->output[i] == '\0')
        continue;
      if (id == 0)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "output '%s' of function '%s' is produced by none of its nodes; the file is damaged",
                       function->output[i], function->name);
          return FALSE;
        }
      if (!gantry_onnx_body_define (body, node->output[i], id, error))
        return FALSE;
    }
  return TRUE;
}

/* Writing */

static void
set_place (GantryOnnxBody *inside, const GantryOnnxBody *body, gsize index, const Onnx__FunctionProto *function)
{
  const Onnx__NodeProto *node = body->nodes[index];
  g_autofree char *where = gantry_onnx_node_where (body, index);
  const char *scope = gantry_context_scope_path (body->import->context, body->scopes[index]);
  const char *name = node->name != NULL && *node->name != '\0' ? node->name : node->op_type;
  const char *last = strrchr (name, '/');

  last = last != NULL && last[1] != '\0' ? last + 1 : name;
  inside->nodes = function->node;
  inside->n_nodes = function->n_node;
  inside->line = body->line != 0 ? body->line : (guint32) index + 1;
  g_free (inside->where);
  inside->where = g_strdup_printf ("%s, function %s, ", where, function->name);
  g_free (inside->scope);
  inside->scope = g_strconcat (scope, *scope != '\0' ? "/" : "", last, NULL);
  g_free (inside->prefix);
  inside->prefix = g_strdup_printf ("%s%s/", body->prefix, name);
  inside->scopes = gantry_onnx_scopes (inside);
}

static gboolean
check_call (GantryOnnxImport *import, const Onnx__FunctionProto *function, GError **error)
{
  if (g_hash_table_contains (import->calls, function))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "function '%s' calls itself; ONNX functions may not, write the loop as Loop or Scan",
                 function->name);
  else if (import->call_depth >= GANTRY_ONNX_MAX_CALL_DEPTH)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "functions call each other more than %u deep", GANTRY_ONNX_MAX_CALL_DEPTH);
  else
    return gantry_onnx_count (import, 1, error);
  return FALSE;
}

static gboolean
write_inside (GantryOnnxBody *inside, GantryOnnxBody *body, gsize index, const Onnx__FunctionProto *function, GError **error)
{
  GantryOnnxImport *import = body->import;
  const Onnx__NodeProto *node = body->nodes[index];
  gboolean ok;

  if (!bind_inputs (inside, body, node, function, error) || !bind_attributes (inside, body, node, function, error)
      || !name_outputs (inside, body, node, function, error))
    return FALSE;
  gantry_onnx_declare_types (inside, function->value_info, function->n_value_info);
  g_hash_table_add (import->calls, (gpointer) function);
  import->call_depth++;
  ok = gantry_onnx_body_write_nodes (inside, error);
  import->call_depth--;
  g_hash_table_remove (import->calls, function);
  return ok && take_outputs (inside, body, node, function, error);
}

gboolean
gantry_onnx_write_call (GantryOnnxBody *body, gsize index, const Onnx__FunctionProto *function, GError **error)
{
  g_auto (GantryOnnxBody) inside;
  g_autoptr (GHashTable) bindings = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  g_autoptr (GHashTable) aliases = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  g_autoptr (GHashTable) opsets = opsets_of (body, function);
  g_autoptr (GError) local = NULL;

  gantry_onnx_body_init (&inside, body->import, body);
  inside.bindings = bindings;
  inside.aliases = aliases;
  inside.opsets = opsets;
  set_place (&inside, body, index, function);
  if (check_call (body->import, function, &local) && write_inside (&inside, body, index, function, &local))
    return TRUE;
  /* An error inside says where it is; one of the call itself does not yet. */
  if (!g_str_has_prefix (local->message, "node "))
    {
      g_autofree char *where = gantry_onnx_node_where (body, index);

      gantry_error_prefix (&local, "%s: ", where);
    }
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}
