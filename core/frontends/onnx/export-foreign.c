/* SPDX-License-Identifier: Apache-2.0 */
/* Writing ONNX: operations that were imported from ONNX and not yet legalized, as they came. What the import could not keep
 * is refused. onnx-node.h says how they look. */
#include "core/frontends/onnx/export-private.h"
#include <string.h>

static void
refuse (GantryOnnxExport *e, const char *attribute)
{
  gantry_export_fail (e, "attribute '%s' was not kept when the model was opened", attribute);
}

static void
set_bytes (GantryOnnxExport *e, ProtobufCBinaryData *data, guint32 string)
{
  const char *text = gantry_context_string (e->context, string);

  data->len = strlen (text);
  data->data = gantry_arena_copy (e->arena, text, data->len);
}

static void
write_list (GantryOnnxExport *e, Onnx__AttributeProto *proto, const GantryAttr *attr)
{
  switch (attr->kind)
    {
    case GANTRY_ATTR_INTS:
      proto->ints = gantry_arena_copy (e->arena, attr->ints, sizeof *attr->ints * attr->n);
      proto->n_ints = attr->n;
      break;
    case GANTRY_ATTR_FLOATS:
      proto->floats = gantry_arena_new0 (e->arena, float, attr->n + 1);
      proto->n_floats = attr->n;
      for (guint64 i = 0; i < attr->n; i++)
        proto->floats[i] = (float) attr->floats[i];
      break;
    default:
      proto->strings = gantry_arena_new0 (e->arena, ProtobufCBinaryData, attr->n + 1);
      proto->n_strings = attr->n;
      for (guint64 i = 0; i < attr->n; i++)
        set_bytes (e, &proto->strings[i], attr->ids[i]);
      break;
    }
}

static const GantryFunction *
graph_of (GantryOnnxExport *e, const GantryAttr *attr)
{
  const GantryFunction *function = gantry_module_function (e->module, attr->id);

  if (function == NULL)
    gantry_export_fail (e, "an attribute names no function");
  return function;
}

/* Its own inputs, then all captures of the node, which it finds around it. */
static Onnx__GraphProto *
subgraph (GantryOnnxExport *e, const GantryFunction *function, ExportValue **captures, guint n_captures)
{
  ExportValue **values = gantry_arena_new0 (e->arena, ExportValue *, function->n_params + 1);
  ExportValue **results = gantry_arena_new0 (e->arena, ExportValue *, function->n_results + 1);
  guint own = function->n_params - MIN (n_captures, function->n_params);

  gantry_export_push (e);
  for (guint i = 0; i < function->n_params; i++)
    {
      const GantryNode *parameter = &e->module->nodes[function->first_node + i];
      const char *name = gantry_context_string (e->context, parameter->name);

      values[i] = i < own ? gantry_export_graph_input (e, *name != '\0' ? name : "input", gantry_node_type (e->module, parameter)) : captures[i - own];
    }
  if (gantry_export_function (e, function, values, results))
    gantry_export_outputs (e, results, function->n_results, NULL);
  return gantry_export_pop (e, gantry_context_string (e->context, function->name));
}

static void
write_attribute (GantryOnnxExport *e, ExportNode *node, const GantryAttr *attr, const char *name, ExportValue **captures, guint n_captures)
{
  static const gint32 types[] = {
    [GANTRY_ATTR_INT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT,
    [GANTRY_ATTR_FLOAT] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT,
    [GANTRY_ATTR_STRING] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING,
    [GANTRY_ATTR_INTS] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS,
    [GANTRY_ATTR_FLOATS] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS,
    [GANTRY_ATTR_STRINGS] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS,
    [GANTRY_ATTR_TYPE] = 0,
    [GANTRY_ATTR_LITERAL] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR,
    [GANTRY_ATTR_FUNCTION] = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH,
  };
  Onnx__AttributeProto *proto;
  const GantryFunction *function;

  if (types[attr->kind] == 0 || strchr (name, '.') != NULL) /* lists of tensors and graphs, sparse tensors, texts as tensors */
    {
      refuse (e, name);
      return;
    }
  proto = gantry_export_attribute (e, name, types[attr->kind]);
  g_ptr_array_add (node->attributes, proto);
  proto->has_i = attr->kind == GANTRY_ATTR_INT;
  proto->has_f = attr->kind == GANTRY_ATTR_FLOAT;
  proto->has_s = attr->kind == GANTRY_ATTR_STRING;
  switch (attr->kind)
    {
    case GANTRY_ATTR_INT: proto->i = attr->i; break;
    case GANTRY_ATTR_FLOAT: proto->f = (float) attr->f; break;
    case GANTRY_ATTR_STRING: set_bytes (e, &proto->s, attr->id); break;
    case GANTRY_ATTR_LITERAL: proto->t = gantry_export_tensor (e, gantry_context_literal (e->context, attr->id), NULL); break;
    case GANTRY_ATTR_FUNCTION:
      function = graph_of (e, attr);
      proto->g = function != NULL ? subgraph (e, function, captures, n_captures) : NULL;
      break;
    default: write_list (e, proto, attr); break;
    }
}

static void
write_attributes (GantryOnnxExport *e, ExportNode *node, ExportValue **captures, guint n_captures)
{
  const GantryAttrs *attrs = gantry_context_attrs (e->context, e->node->attrs);

  for (guint i = 0; i < attrs->n && e->error == NULL; i++)
    {
      const char *name = gantry_context_string (e->context, attrs->items[i].key);

      if (g_str_equal (name, "opset") || g_str_equal (name, "captures"))
        continue;
      if (g_str_equal (name, "doc_string"))
        node->proto->doc_string = gantry_arena_strdup (e->arena, gantry_context_string (e->context, attrs->items[i].id));
      else if (g_str_equal (name, "opset_") || g_str_equal (name, "captures_"))
        write_attribute (e, node, &attrs->items[i], g_str_equal (name, "opset_") ? "opset" : "captures", captures, n_captures);
      else
        write_attribute (e, node, &attrs->items[i], name, captures, n_captures);
    }
}

/* The results that somebody takes out; the others had no name in the file, or need none. */
static void
drop_unused (GantryOnnxExport *e, Onnx__NodeProto *proto, guint n)
{
  const GantryFunction *function = gantry_module_function_of (e->module, e->node);
  const GantryNode *end = e->module->nodes + function->first_node + function->n_nodes;
  g_autofree gboolean *used = g_new0 (gboolean, n);

  for (const GantryNode *node = e->node + 1; node < end; node++)
    if (node->op == GANTRY_OP_RESULT && gantry_node_operand_id (e->module, node, 0) == e->node->id)
      used[CLAMP (gantry_attrs_int (e->context, node->attrs, "index", 0), 0, (gint64) n - 1)] = TRUE;
  for (guint i = 0; i < n; i++)
    if (!used[i])
      proto->output[i] = gantry_arena_strdup (e->arena, "");
}

static ExportValue *
end_node (GantryOnnxExport *e, ExportNode *node)
{
  const GantryType *type = gantry_node_type (e->module, e->node), **types;
  ExportValue **values;

  if (type->kind != GANTRY_TYPE_TUPLE)
    return gantry_export_end (node, type);
  types = gantry_arena_new0 (e->arena, const GantryType *, type->rank + 1);
  for (guint i = 0; i < type->rank; i++)
    types[i] = gantry_context_type (e->context, (guint32) type->dims[i]);
  values = gantry_export_end_many (node, types, type->rank);
  if (e->error == NULL && !gantry_attrs_find (e->context, e->node->attrs, "captures"))
    drop_unused (e, node->proto, type->rank);
  return gantry_export_tuple (e, values, type->rank);
}

ExportValue *
gantry_export_foreign (GantryOnnxExport *e, ExportValue **in, guint n)
{
  const char *full = gantry_node_op_name (e->module, e->node), *operation, *dot;
  guint n_captures = gantry_onnx_node_captures (e->context, e->node);
  g_autofree char *domain = NULL;
  ExportNode node;

  if (!g_str_has_prefix (full, GANTRY_ONNX_PREFIX) || g_str_equal (full, GANTRY_ONNX_PREFIX "Initializer"))
    {
      gantry_export_fail (e, g_str_has_prefix (full, GANTRY_ONNX_PREFIX) ? "its values were not kept when the model was opened" : "it is no operation of ONNX");
      return e->nobody;
    }
  operation = gantry_onnx_node_operation (e->context, e->node);
  dot = strrchr (operation, '.');
  domain = dot != NULL ? g_strndup (operation, (gsize) (dot - operation)) : g_strdup ("");
  gantry_export_use_opset (e, domain, gantry_onnx_node_opset (e->context, e->node));
  gantry_export_begin (e, &node, dot != NULL ? dot + 1 : operation);
  if (*domain != '\0')
    node.proto->domain = gantry_arena_strdup (e->arena, domain);
  n_captures = MIN (n_captures, n);
  for (guint i = 0; i < n; i++)
    if (i < n - n_captures)
      gantry_export_input (&node, in[i]);
    else if (in[i] != NULL)
      gantry_export_settle (e, in[i]);
  write_attributes (e, &node, in + n - n_captures, n_captures);
  return end_node (e, &node);
}
