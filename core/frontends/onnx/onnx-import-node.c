/* SPDX-License-Identifier: Apache-2.0 */
/* One node of the file as one foreign node: operands, attributes, captures, results, place and
 * names, as onnx-node.h says. */
#include "core/frontends/onnx/onnx-import-private.h"
#include <string.h>

const char *
gantry_onnx_domain (const char *domain)
{
  return domain == NULL || strcmp (domain, "ai.onnx") == 0 ? "" : domain;
}

/* Places */

char *
gantry_onnx_node_where (const GantryOnnxBody *body, gsize index)
{
  const Onnx__NodeProto *node = body->nodes[index];
  const char *operation = node->op_type != NULL ? node->op_type : "?";

  if (node->name != NULL && *node->name != '\0')
    return g_strdup_printf ("%snode %zu '%s' (%s)", body->where, index + 1, node->name, operation);
  return g_strdup_printf ("%snode %zu (%s)", body->where, index + 1, operation);
}

guint32
gantry_onnx_node_location (GantryOnnxBody *body, gsize index)
{
  const Onnx__NodeProto *node = body->nodes[index];
  GantryContext *context = body->import->context;
  GantryLocation location = { .file = body->import->file_string };
  g_autofree char *text = NULL;

  location.line = body->line != 0 ? body->line : (guint32) index + 1;
  if (node->name != NULL && *node->name != '\0')
    text = g_strdup_printf ("%snode %zu '%s'", body->where, index + 1, node->name);
  else
    text = g_strdup_printf ("%snode %zu", body->where, index + 1);
  location.text = gantry_context_intern (context, text);
  return gantry_context_location (context, &location);
}

/* Names of values */

static guint32
value_name (GantryOnnxBody *body, const char *name)
{
  const char *alias = body->aliases != NULL ? g_hash_table_lookup (body->aliases, name) : NULL;
  g_autofree char *full = NULL;

  if (alias != NULL)
    return gantry_context_intern (body->import->context, alias);
  if (*body->prefix != '\0')
    full = g_strconcat (body->prefix, name, NULL);
  return gantry_context_intern (body->import->context, full != NULL ? full : name);
}

/* Operands */

static gboolean
fail_missing (GantryOnnxBody *body, gsize index, const char *what, const char *name, GError **error)
{
  g_autofree char *where = gantry_onnx_node_where (body, index);

  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "%s: %s '%s' is produced by no node, input or initializer; the file is damaged or was cut out "
               "of a larger "
               "model",
               where, what, name);
  return FALSE;
}

static gboolean
find_operands (GantryOnnxBody *body, gsize index, GArray *operands, GError **error)
{
  const Onnx__NodeProto *node = body->nodes[index];
  guint used = 0;

  for (gsize i = 0; i < node->n_input; i++)
    {
      const char *name = node->input[i];
      gpointer id = NULL;
      guint32 operand;

      if (*name != '\0' && !g_hash_table_lookup_extended (body->values, name, NULL, &id))
        return fail_missing (body, index, "input", name, error);
      operand = GPOINTER_TO_UINT (id);
      g_array_append_val (operands, operand);
      if (operand != 0)
        used = operands->len;
    }
  g_array_set_size (operands, used);
  return TRUE;
}

static gboolean
add_captures (GantryOnnxBody *body, gsize index, const GantryOnnxBody *names, const Onnx__GraphProto *graph, GArray *captures, GHashTable *known,
              GError **error)
{
  GPtrArray *free_names = gantry_onnx_free_names (body->import, graph);

  for (guint i = 0; i < free_names->len; i++)
    {
      const char *name = g_ptr_array_index (free_names, i);
      guint32 id;
      gpointer found;

      if (!g_hash_table_lookup_extended (names->values, name, NULL, &found))
        return fail_missing (body, index, "value of its subgraph", name, error);
      id = GPOINTER_TO_UINT (found);
      if (id != 0 && g_hash_table_add (known, found))
        g_array_append_val (captures, id);
    }
  return TRUE;
}

/* Returns: TRUE when the node has subgraphs, in @has. */
static gboolean
find_captures (GantryOnnxBody *body, gsize index, GArray *captures, gboolean *has, GError **error)
{
  const Onnx__NodeProto *node = body->nodes[index];
  g_autoptr (GHashTable) known = NULL;

  *has = FALSE;
  for (gsize i = 0; i < node->n_attribute; i++)
    {
      GantryOnnxBody *names;
      const Onnx__AttributeProto *attribute = gantry_onnx_attribute (body, node->attribute[i], &names, NULL);

      if (attribute == NULL)
        continue;
      for (gsize j = 0; j < attribute->n_graphs + (attribute->g != NULL); j++)
        {
          if (known == NULL)
            known = g_hash_table_new (NULL, NULL);
          *has = TRUE;
          if (!add_captures (body, index, names, j < attribute->n_graphs ? attribute->graphs[j] : attribute->g, captures, known, error))
            return FALSE;
        }
    }
  return TRUE;
}

/* Attributes that Gantry adds */

static gint64
opset_of (GantryOnnxBody *body, const char *domain)
{
  GantryOnnxImport *import = body->import;
  gpointer version;

  if (g_hash_table_lookup_extended (body->opsets, domain, NULL, &version))
    return GPOINTER_TO_INT (version);
  if (g_hash_table_add (import->no_opset, g_strdup (domain)))
    gantry_onnx_warn (import, "The model uses operations of domain '%s' but does not say of which version.", *domain != '\0' ? domain : "ai.onnx");
  return 0;
}

static gboolean
write_all_attributes (GantryOnnxBody *body, gsize index, gboolean has_graphs, GArray *captures, guint32 *attrs, GError **error)
{
  const Onnx__NodeProto *node = body->nodes[index];
  g_autoptr (GantryAttrList) list = gantry_attr_list_new (body->import->context);

  if (!gantry_onnx_write_attributes (body, index, list, captures, error))
    {
      g_autofree char *where = gantry_onnx_node_where (body, index);

      gantry_error_prefix (error, "%s: ", where);
      return FALSE;
    }
  gantry_attr_list_set_int (list, "opset", opset_of (body, gantry_onnx_domain (node->domain)));
  if (has_graphs)
    gantry_attr_list_set_int (list, "captures", captures->len);
  if (node->doc_string != NULL && *node->doc_string != '\0')
    gantry_attr_list_set_string (list, "doc_string", node->doc_string);
  *attrs = gantry_attr_list_end (g_steal_pointer (&list));
  return TRUE;
}

/* Results */

static guint
count_results (const Onnx__NodeProto *node, gboolean has_graphs)
{
  guint n = (guint) node->n_output;

  while (!has_graphs && n > 0 && *node->output[n - 1] == '\0')
    n--;
  return n;
}

static guint32
declared_type (GantryOnnxBody *body, const char *name)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (body->types, name));
}

static guint32
declared_tuple (GantryOnnxBody *body, const Onnx__NodeProto *node, guint n)
{
  g_autofree guint32 *types = g_new (guint32, n);

  for (guint i = 0; i < n; i++)
    types[i] = declared_type (body, node->output[i]);
  return gantry_context_tuple (body->import->context, n, types);
}

static gboolean
write_result (GantryOnnxBody *body, const char *name, guint32 tuple, guint index, GError **error)
{
  GantryOnnxImport *import = body->import;
  GantryAttrList *list;
  guint32 id;

  if (!gantry_onnx_count (import, 1, error))
    return FALSE;
  list = gantry_attr_list_new (import->context);
  gantry_attr_list_set_int (list, "index", index);
  gantry_builder_set_name (import->builder, value_name (body, name));
  id = gantry_builder_add_typed (import->builder, GANTRY_OP_RESULT, &tuple, 1, gantry_attr_list_end (list), declared_type (body, name));
  return gantry_onnx_body_define (body, name, id, error);
}

/* Writing */

static gboolean
check_node (GantryOnnxBody *body, gsize index, GError **error)
{
  const Onnx__NodeProto *node = body->nodes[index];
  g_autofree char *where = NULL;

  if (node->op_type != NULL && *node->op_type != '\0' && node->n_input <= GANTRY_ONNX_MAX_OPERANDS && node->n_output <= GANTRY_ONNX_MAX_OPERANDS)
    return TRUE;
  where = gantry_onnx_node_where (body, index);
  if (node->op_type == NULL || *node->op_type == '\0')
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: it names no operation; the file is damaged", where);
  else
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: it has more than %u inputs or outputs", where, GANTRY_ONNX_MAX_OPERANDS);
  return FALSE;
}

static gboolean
find_operation (GantryOnnxImport *import, const Onnx__NodeProto *node, guint *op, GError **error)
{
  const char *domain = gantry_onnx_domain (node->domain);
  g_autofree char *name = g_strconcat (GANTRY_ONNX_PREFIX, domain, *domain != '\0' ? "." : "", node->op_type, NULL);

  *op = gantry_context_foreign_op (import->context, name);
  g_hash_table_add (import->operations, GUINT_TO_POINTER (*op));
  if (*op < G_MAXUINT16 && g_hash_table_size (import->operations) <= GANTRY_ONNX_MAX_OPERATIONS)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "the model has more than %u different operations", GANTRY_ONNX_MAX_OPERATIONS);
  return FALSE;
}

static gboolean
write_foreign (GantryOnnxBody *body, gsize index, GArray *operands, guint32 attrs, guint n_results, GError **error)
{
  GantryOnnxImport *import = body->import;
  const Onnx__NodeProto *node = body->nodes[index];
  guint32 type = 0, id, name = 0;
  guint op;

  if (!gantry_onnx_count (import, 1, error) || !find_operation (import, node, &op, error))
    return FALSE;
  gantry_builder_set_place (import->builder, body->scopes[index], gantry_onnx_node_location (body, index));
  if (n_results == 1)
    {
      type = declared_type (body, node->output[0]);
      name = value_name (body, node->output[0]);
    }
  else if (n_results > 1)
    type = declared_tuple (body, node, n_results);
  if (n_results != 1 && node->name != NULL && *node->name != '\0')
    name = value_name (body, node->name);
  gantry_builder_set_name (import->builder, name);
  id = gantry_builder_add_typed (import->builder, op, (const guint32 *) (gpointer) operands->data, operands->len, attrs, type);
  if (n_results == 1)
    return *node->output[0] == '\0' || gantry_onnx_body_define (body, node->output[0], id, error);
  for (guint i = 0; i < n_results; i++)
    if (*node->output[i] != '\0' && !write_result (body, node->output[i], id, i, error))
      return FALSE;
  return TRUE;
}

gboolean
gantry_onnx_write_node (GantryOnnxBody *body, gsize index, GError **error)
{
  const Onnx__FunctionProto *function;
  g_autoptr (GArray) operands = NULL;
  g_autoptr (GArray) captures = NULL;
  gboolean has_graphs;
  guint32 attrs;

  if (!check_node (body, index, error))
    return FALSE;
  function = gantry_onnx_find_function (body->import, body->nodes[index]);
  if (function != NULL)
    return gantry_onnx_write_call (body, index, function, error);
  operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  captures = g_array_new (FALSE, FALSE, sizeof (guint32));
  if (!find_operands (body, index, operands, error) || !find_captures (body, index, captures, &has_graphs, error)
      || !write_all_attributes (body, index, has_graphs, captures, &attrs, error))
    return FALSE;
  if (captures->len > 0)
    g_array_append_vals (operands, captures->data, captures->len);
  return write_foreign (body, index, operands, attrs, count_results (body->nodes[index], has_graphs), error);
}
