/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of a node, every kind, as onnx-node.h says. An attribute inside a function may stand
 * for what the call gives; then its subgraphs see the names of the caller. */
#include "core/base/fail.h"
#include "core/frontends/onnx/onnx-import-private.h"
#include <string.h>

/* Tensors */

static void
write_strings (GantryAttrList *list, const char *key, const Onnx__TensorProto *tensor)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *shape = g_strconcat (key, ".shape", NULL);

  for (gsize i = 0; i < tensor->n_string_data; i++)
    g_ptr_array_add (texts, gantry_onnx_text (&tensor->string_data[i]));
  gantry_attr_list_set_strings (list, key, (const char *const *) texts->pdata, texts->len);
  gantry_attr_list_set_ints (list, shape, tensor->dims, tensor->n_dims);
}

gboolean
gantry_onnx_write_tensor (GantryOnnxImport *import, GantryAttrList *list, const char *key, const Onnx__TensorProto *tensor, guint32 *type, GError **error)
{
  g_autoptr (GantryLiteral) literal = NULL;

  *type = gantry_onnx_tensor_type (import->context, tensor, error);
  if (*type == 0 || !gantry_onnx_tensor_literal (import->file, import->context, tensor, &literal, error))
    return FALSE;
  if (literal != NULL)
    gantry_attr_list_set_literal (list, key, gantry_context_add_literal (import->context, literal));
  else if (gantry_context_type (import->context, *type)->element == GANTRY_STRING)
    write_strings (list, key, tensor);
  else
    gantry_attr_list_set_type (list, key, *type);
  return TRUE;
}

static gboolean
write_sparse (GantryOnnxImport *import, GantryAttrList *list, const char *key, const Onnx__SparseTensorProto *sparse, GError **error)
{
  g_autofree char *values = g_strconcat (key, ".values", NULL);
  g_autofree char *indices = g_strconcat (key, ".indices", NULL);
  g_autofree char *dims = g_strconcat (key, ".dims", NULL);
  guint32 type;

  if (sparse->values == NULL || sparse->indices == NULL)
    return gantry_fail (error, GANTRY_ERROR_INVALID, "a sparse tensor lacks its values or indices; the file is damaged");
  gantry_attr_list_set_ints (list, dims, sparse->dims, sparse->n_dims);
  return gantry_onnx_write_tensor (import, list, values, sparse->values, &type, error)
         && gantry_onnx_write_tensor (import, list, indices, sparse->indices, &type, error);
}

/* Lists */

static void
write_floats (GantryAttrList *list, const char *key, const Onnx__AttributeProto *attribute)
{
  g_autofree double *values = g_new (double, attribute->n_floats + 1);

  for (gsize i = 0; i < attribute->n_floats; i++)
    values[i] = attribute->floats[i];
  gantry_attr_list_set_floats (list, key, values, attribute->n_floats);
}

static void
write_texts (GantryAttrList *list, const char *key, const Onnx__AttributeProto *attribute)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

  for (gsize i = 0; i < attribute->n_strings; i++)
    g_ptr_array_add (texts, gantry_onnx_text (&attribute->strings[i]));
  gantry_attr_list_set_strings (list, key, (const char *const *) texts->pdata, texts->len);
}

/* One attribute of a node: what its parts need to be written. */
typedef struct
{
  GantryOnnxBody *body; /* that sees the names of its subgraphs */
  GantryAttrList *list;
  gsize index;        /* of the node in the body that it is written for */
  GantryOnnxBody *at; /* that body */
  GArray *captures;
} Target;

static gboolean
write_graph (Target *target, const char *key, const Onnx__GraphProto *graph, GError **error)
{
  guint32 function = gantry_onnx_write_subgraph (target->at, target->body, graph, key, target->index, target->captures, error);

  if (function == 0)
    return FALSE;
  gantry_attr_list_set_function (target->list, key, function);
  return TRUE;
}

/* The element @i of a list attribute whose elements are messages. */
static gboolean
write_element (Target *target, const char *key, const Onnx__AttributeProto *attribute, gint kind, gsize i, GError **error)
{
  GantryOnnxImport *import = target->body->import;
  guint32 type;

  switch (kind)
    {
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSORS: return gantry_onnx_write_tensor (import, target->list, key, attribute->tensors[i], &type, error);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPHS: return write_graph (target, key, attribute->graphs[i], error);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSORS: return write_sparse (import, target->list, key, attribute->sparse_tensors[i], error);
    default: gantry_attr_list_set_type (target->list, key, gantry_onnx_value_type (import, attribute->type_protos[i], NULL)); return TRUE;
    }
}

static gboolean
write_elements (Target *target, const char *key, const Onnx__AttributeProto *attribute, gint kind, gsize n, GError **error)
{
  if (n > GANTRY_ONNX_MAX_ATTRIBUTES)
    return gantry_fail (error, GANTRY_ERROR_TOO_LARGE, "it is a list of %zu; the limit is %u", n, GANTRY_ONNX_MAX_ATTRIBUTES);
  gantry_attr_list_set_int (target->list, key, (gint64) n);
  for (gsize i = 0; i < n; i++)
    {
      g_autofree char *part = g_strdup_printf ("%s.%zu", key, i);

      if (!write_element (target, part, attribute, kind, i, error))
        return FALSE;
    }
  return TRUE;
}

/* The oldest files do not write the kind: then it is the field that is there. */
static gint
kind_of (const Onnx__AttributeProto *a)
{
  if (a->has_type && a->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__UNDEFINED)
    return a->type;
  if (a->has_f)
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT;
  if (a->has_i)
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
  if (a->has_s)
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING;
  if (a->t != NULL)
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
  if (a->g != NULL)
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH;
  if (a->n_floats > 0)
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS;
  if (a->n_strings > 0)
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS;
  if (a->n_tensors > 0)
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSORS;
  if (a->n_graphs > 0)
    return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPHS;
  return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
}

static gboolean
write_missing (const char *what, GError **error)
{
  return gantry_fail (error, GANTRY_ERROR_INVALID, "it is said to be %s, but holds none; the file is damaged", what);
}

static gboolean
write_kind (Target *target, const char *key, const Onnx__AttributeProto *a, GError **error)
{
  GantryOnnxImport *import = target->body->import;
  g_autofree char *text = NULL;
  gint kind = kind_of (a);
  guint32 type;

  switch (kind)
    {
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT: gantry_attr_list_set_float (target->list, key, a->f); return TRUE;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT: gantry_attr_list_set_int (target->list, key, a->i); return TRUE;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING:
      text = gantry_onnx_text (&a->s);
      gantry_attr_list_set_string (target->list, key, text);
      return TRUE;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS: write_floats (target->list, key, a); return TRUE;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS: gantry_attr_list_set_ints (target->list, key, a->ints, a->n_ints); return TRUE;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS: write_texts (target->list, key, a); return TRUE;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR:
      return a->t != NULL ? gantry_onnx_write_tensor (import, target->list, key, a->t, &type, error) : write_missing ("a tensor", error);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH: return a->g != NULL ? write_graph (target, key, a->g, error) : write_missing ("a graph", error);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR:
      return a->sparse_tensor != NULL ? write_sparse (import, target->list, key, a->sparse_tensor, error) : write_missing ("a sparse tensor", error);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TYPE_PROTO:
      gantry_attr_list_set_type (target->list, key, gantry_onnx_value_type (import, a->tp, NULL));
      return TRUE;
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSORS: return write_elements (target, key, a, kind, a->n_tensors, error);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPHS: return write_elements (target, key, a, kind, a->n_graphs, error);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSORS: return write_elements (target, key, a, kind, a->n_sparse_tensors, error);
    case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TYPE_PROTOS: return write_elements (target, key, a, kind, a->n_type_protos, error);
    default: return gantry_fail (error, GANTRY_ERROR_INVALID, "kind %d is no kind of attribute; the file is damaged", kind);
    }
}

const Onnx__AttributeProto *
gantry_onnx_attribute (GantryOnnxBody *body, const Onnx__AttributeProto *attribute, GantryOnnxBody **of, GError **error)
{
  const GantryOnnxBinding *binding;

  *of = body;
  if (attribute->ref_attr_name == NULL || *attribute->ref_attr_name == '\0')
    return attribute;
  if (body->bindings == NULL)
    {
      gantry_fail (error, GANTRY_ERROR_INVALID, "it stands for '%s' of a function, but is in none; the file is damaged", attribute->ref_attr_name);
      return NULL;
    }
  binding = g_hash_table_lookup (body->bindings, attribute->ref_attr_name);
  if (binding == NULL)
    return NULL;
  *of = binding->body;
  return binding->attribute;
}

/* What Gantry adds must not hide what the file says. */
static const char *
own_key (const char *name)
{
  if (strcmp (name, "opset") == 0)
    return "opset_";
  return strcmp (name, "captures") == 0 ? "captures_" : name;
}

static gboolean
write_attribute (GantryOnnxBody *body, gsize index, const Onnx__AttributeProto *attribute, GantryAttrList *list, GArray *captures, GError **error)
{
  Target target = { .list = list, .index = index, .at = body, .captures = captures };
  g_autoptr (GError) local = NULL;
  const Onnx__AttributeProto *value = gantry_onnx_attribute (body, attribute, &target.body, &local);

  if (value == NULL && local == NULL)
    return TRUE;
  if (value != NULL && write_kind (&target, own_key (attribute->name), value, &local))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  gantry_error_prefix (error, "attribute '%s': ", attribute->name);
  return FALSE;
}

gboolean
gantry_onnx_write_attributes (GantryOnnxBody *body, gsize index, GantryAttrList *list, GArray *captures, GError **error)
{
  const Onnx__NodeProto *node = body->nodes[index];

  if (node->n_attribute > GANTRY_ONNX_MAX_ATTRIBUTES)
    return gantry_fail (error, GANTRY_ERROR_TOO_LARGE, "it has %zu attributes; the limit is %u", node->n_attribute, GANTRY_ONNX_MAX_ATTRIBUTES);
  for (gsize i = 0; i < node->n_attribute; i++)
    {
      const char *name = node->attribute[i]->name;

      if (name == NULL || *name == '\0')
        return gantry_fail (error, GANTRY_ERROR_INVALID, "attribute %zu has no name; the file is damaged", i);
      for (gsize j = 0; j < i; j++)
        if (strcmp (node->attribute[j]->name, name) == 0)
          return gantry_fail (error, GANTRY_ERROR_INVALID, "attribute '%s' is given twice; the file is damaged", name);
      if (!write_attribute (body, index, node->attribute[i], list, captures, error))
        return FALSE;
    }
  return TRUE;
}
