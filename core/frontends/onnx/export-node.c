/* SPDX-License-Identifier: Apache-2.0 */
/* Writing ONNX: nodes, names, initializers and errors. */
#include "core/frontends/onnx/export-private.h"
#include <string.h>

/* Errors */

void
gantry_export_fail (GantryOnnxExport *e, const char *format, ...)
{
  g_autofree char *where = e->node != NULL ? gantry_node_where (e->module, e->node) : g_strdup ("the module");
  g_autofree char *what = NULL;
  va_list arguments;

  if (e->error != NULL)
    return;
  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (&e->error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s: %s", where, what);
}

/* Graphs */

ExportGraph *
gantry_export_push (GantryOnnxExport *e)
{
  ExportGraph *graph = g_new0 (ExportGraph, 1);

  graph->outer = e->graph;
  graph->nodes = g_ptr_array_new ();
  graph->initializers = g_ptr_array_new ();
  graph->inputs = g_ptr_array_new ();
  graph->outputs = g_ptr_array_new ();
  graph->constants = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  g_ptr_array_add (e->holders, graph);
  e->graph = graph;
  return graph;
}

Onnx__GraphProto *
gantry_export_pop (GantryOnnxExport *e, const char *name)
{
  ExportGraph *graph = e->graph;
  Onnx__GraphProto *proto = gantry_arena_new0 (e->arena, Onnx__GraphProto, 1);

  onnx__graph_proto__init (proto);
  proto->name = gantry_arena_strdup (e->arena, name);
  proto->node = (Onnx__NodeProto **) graph->nodes->pdata;
  proto->n_node = graph->nodes->len;
  proto->initializer = (Onnx__TensorProto **) graph->initializers->pdata;
  proto->n_initializer = graph->initializers->len;
  proto->input = (Onnx__ValueInfoProto **) graph->inputs->pdata;
  proto->n_input = graph->inputs->len;
  proto->output = (Onnx__ValueInfoProto **) graph->outputs->pdata;
  proto->n_output = graph->outputs->len;
  e->graph = graph->outer;
  return proto;
}

/* Names and values */

char *
gantry_export_name (GantryOnnxExport *e, const char *wanted)
{
  char *name = gantry_arena_strdup (e->arena, *wanted != '\0' ? wanted : "value");

  while (g_hash_table_contains (e->names, name))
    {
      g_autofree char *other = g_strdup_printf ("%s_%u", *wanted != '\0' ? wanted : "value", ++e->counter);

      name = gantry_arena_strdup (e->arena, other);
    }
  g_hash_table_add (e->names, name);
  return name;
}

ExportValue *
gantry_export_value (GantryOnnxExport *e, char *name, const GantryType *type)
{
  ExportValue *value = gantry_arena_new0 (e->arena, ExportValue, 1);

  value->name = name;
  value->type = type;
  return value;
}

void
gantry_export_rename (GantryOnnxExport *e, ExportValue *value, const char *wanted)
{
  if (value->slot == NULL || e->error != NULL || g_str_equal (value->name, wanted))
    return;
  g_hash_table_remove (e->names, value->name);
  value->name = gantry_export_name (e, wanted);
  *value->slot = value->name;
}

/* Types */

gint32
gantry_export_data_type (GantryElementType element)
{
  static const gint32 types[GANTRY_N_ELEMENT_TYPES] = {
    [GANTRY_BOOL] = ONNX__TENSOR_PROTO__DATA_TYPE__BOOL,         [GANTRY_I8] = ONNX__TENSOR_PROTO__DATA_TYPE__INT8,
    [GANTRY_I16] = ONNX__TENSOR_PROTO__DATA_TYPE__INT16,         [GANTRY_I32] = ONNX__TENSOR_PROTO__DATA_TYPE__INT32,
    [GANTRY_I64] = ONNX__TENSOR_PROTO__DATA_TYPE__INT64,         [GANTRY_U8] = ONNX__TENSOR_PROTO__DATA_TYPE__UINT8,
    [GANTRY_U16] = ONNX__TENSOR_PROTO__DATA_TYPE__UINT16,        [GANTRY_U32] = ONNX__TENSOR_PROTO__DATA_TYPE__UINT32,
    [GANTRY_U64] = ONNX__TENSOR_PROTO__DATA_TYPE__UINT64,        [GANTRY_F16] = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16,
    [GANTRY_BF16] = ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16,     [GANTRY_F32] = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT,
    [GANTRY_F64] = ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE,        [GANTRY_I4] = ONNX__TENSOR_PROTO__DATA_TYPE__INT4,
    [GANTRY_U4] = ONNX__TENSOR_PROTO__DATA_TYPE__UINT4,          [GANTRY_F8E4M3FN] = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT8E4M3FN,
    [GANTRY_F8E5M2] = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT8E5M2, [GANTRY_C64] = ONNX__TENSOR_PROTO__DATA_TYPE__COMPLEX64,
    [GANTRY_C128] = ONNX__TENSOR_PROTO__DATA_TYPE__COMPLEX128,   [GANTRY_STRING] = ONNX__TENSOR_PROTO__DATA_TYPE__STRING,
  };

  return types[element];
}

Onnx__ValueInfoProto *
gantry_export_value_info (GantryOnnxExport *e, const char *name, const GantryType *type)
{
  Onnx__ValueInfoProto *info = gantry_arena_new0 (e->arena, Onnx__ValueInfoProto, 1);
  Onnx__TypeProto__Tensor *tensor;

  onnx__value_info_proto__init (info);
  info->name = gantry_arena_strdup (e->arena, name);
  if (type->kind != GANTRY_TYPE_TENSOR || gantry_export_data_type ((GantryElementType) type->element) == 0)
    return info;
  info->type = gantry_arena_new0 (e->arena, Onnx__TypeProto, 1);
  onnx__type_proto__init (info->type);
  info->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  tensor = info->type->tensor_type = gantry_arena_new0 (e->arena, Onnx__TypeProto__Tensor, 1);
  onnx__type_proto__tensor__init (tensor);
  tensor->has_elem_type = TRUE;
  tensor->elem_type = gantry_export_data_type ((GantryElementType) type->element);
  tensor->shape = gantry_arena_new0 (e->arena, Onnx__TensorShapeProto, 1);
  onnx__tensor_shape_proto__init (tensor->shape);
  tensor->shape->n_dim = type->rank;
  tensor->shape->dim = gantry_arena_new0 (e->arena, Onnx__TensorShapeProto__Dimension *, type->rank + 1);
  for (guint i = 0; i < type->rank; i++)
    {
      Onnx__TensorShapeProto__Dimension *dim = gantry_arena_new0 (e->arena, Onnx__TensorShapeProto__Dimension, 1);

      onnx__tensor_shape_proto__dimension__init (dim);
      tensor->shape->dim[i] = dim;
      if (GANTRY_DIM_IS_STATIC (type->dims[i]))
        {
          dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
          dim->dim_value = type->dims[i];
        }
      else if (GANTRY_DIM_IS_SYMBOL (type->dims[i]))
        {
          dim->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
          dim->dim_param = gantry_arena_strdup (e->arena, gantry_context_string (e->context, GANTRY_DIM_SYMBOL_ID (type->dims[i])));
        }
    }
  return info;
}

const GantryType *
gantry_export_type (GantryOnnxExport *e, GantryElementType element, guint rank, const gint64 *dims)
{
  return gantry_context_type (e->context, gantry_context_tensor (e->context, element, rank, dims));
}

const GantryType *
gantry_export_with (GantryOnnxExport *e, const ExportValue *value, GantryElementType element)
{
  return gantry_export_type (e, element, value->type->rank, value->type->dims);
}

/* Nodes */

void
gantry_export_begin (GantryOnnxExport *e, ExportNode *node, const char *operation)
{
  node->e = e;
  node->proto = gantry_arena_new0 (e->arena, Onnx__NodeProto, 1);
  onnx__node_proto__init (node->proto);
  node->proto->op_type = gantry_arena_strdup (e->arena, operation);
  node->inputs = g_ptr_array_new ();
  node->attributes = g_ptr_array_new ();
}

void
gantry_export_input (ExportNode *node, ExportValue *value)
{
  if (value != NULL)
    gantry_export_settle (node->e, value);
  g_ptr_array_add (node->inputs, value != NULL ? value->name : gantry_arena_strdup (node->e->arena, ""));
}

Onnx__AttributeProto *
gantry_export_attribute (GantryOnnxExport *e, const char *name, gint32 type)
{
  Onnx__AttributeProto *attribute = gantry_arena_new0 (e->arena, Onnx__AttributeProto, 1);

  onnx__attribute_proto__init (attribute);
  attribute->name = gantry_arena_strdup (e->arena, name);
  attribute->has_type = TRUE;
  attribute->type = type;
  return attribute;
}

static Onnx__AttributeProto *
add_attribute (ExportNode *node, const char *name, gint32 type)
{
  Onnx__AttributeProto *attribute = gantry_export_attribute (node->e, name, type);

  g_ptr_array_add (node->attributes, attribute);
  return attribute;
}

void
gantry_export_int (ExportNode *node, const char *name, gint64 value)
{
  Onnx__AttributeProto *attribute = add_attribute (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);

  attribute->has_i = TRUE;
  attribute->i = value;
}

void
gantry_export_ints (ExportNode *node, const char *name, const gint64 *values, gsize n)
{
  Onnx__AttributeProto *attribute = add_attribute (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);

  attribute->ints = gantry_arena_copy (node->e->arena, values, sizeof *values * n);
  attribute->n_ints = n;
}

void
gantry_export_string (ExportNode *node, const char *name, const char *value)
{
  Onnx__AttributeProto *attribute = add_attribute (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);

  attribute->has_s = TRUE;
  attribute->s.len = strlen (value);
  attribute->s.data = gantry_arena_copy (node->e->arena, value, attribute->s.len);
}

void
gantry_export_graph (ExportNode *node, const char *name, Onnx__GraphProto *graph)
{
  add_attribute (node, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH)->g = graph;
}

static gpointer
take_array (GantryOnnxExport *e, GPtrArray *array, size_t *n)
{
  gpointer copy = gantry_arena_copy (e->arena, array->pdata, sizeof (gpointer) * array->len);

  *n = array->len;
  g_ptr_array_unref (array);
  return copy;
}

/* "conv1" of "node 12 'conv1'", which is how the import says where a node stands. */
static char *
imported_name (const GantryLocation *location, GantryContext *context)
{
  const char *text = location != NULL ? gantry_context_string (context, location->text) : "";
  const char *begin = strchr (text, '\''), *end = strrchr (text, '\'');

  return begin != NULL && end > begin ? g_strndup (begin + 1, (gsize) (end - begin - 1)) : NULL;
}

/* What a node is called says its scope, as other exporters do, and its place in the source stands beside it. */
static void
set_place (GantryOnnxExport *e, Onnx__NodeProto *proto)
{
  const char *scope = gantry_context_scope_path (e->context, e->node->scope);
  g_autofree char *name = NULL, *location = NULL;

  if (e->node->op >= GANTRY_OP_FOREIGN)
    {
      name = imported_name (gantry_context_get_location (e->context, e->node->location), e->context);
      proto->name = name != NULL ? gantry_arena_strdup (e->arena, name) : NULL;
      return;
    }
  name = g_strdup_printf ("%s%s%s_%u", scope, *scope != '\0' ? "/" : "", proto->op_type, ++e->counter);
  location = gantry_context_location_text (e->context, e->node->location);
  proto->name = gantry_arena_strdup (e->arena, name);
  if (location != NULL && *location != '\0')
    proto->doc_string = gantry_arena_strdup (e->arena, location);
}

ExportValue **
gantry_export_end_many (ExportNode *node, const GantryType *const *types, guint n)
{
  GantryOnnxExport *e = node->e;
  Onnx__NodeProto *proto = node->proto;
  ExportValue **values = gantry_arena_new0 (e->arena, ExportValue *, n + 1);

  proto->input = take_array (e, node->inputs, &proto->n_input);
  proto->attribute = take_array (e, node->attributes, &proto->n_attribute);
  proto->output = gantry_arena_new0 (e->arena, char *, n + 1);
  proto->n_output = n;
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *wanted = g_strdup_printf ("%s_%u", proto->op_type, ++e->counter);

      if (e->error != NULL)
        {
          values[i] = e->nobody;
          continue;
        }
      values[i] = gantry_export_value (e, gantry_export_name (e, wanted), types[i]);
      proto->output[i] = values[i]->name;
      values[i]->slot = &proto->output[i];
      values[i]->made_in = e->graph;
    }
  if (e->error != NULL)
    return values;
  if (e->node != NULL)
    set_place (e, proto);
  g_ptr_array_add (e->graph->nodes, proto);
  return values;
}

ExportValue *
gantry_export_end (ExportNode *node, const GantryType *type)
{
  return gantry_export_end_many (node, &type, 1)[0];
}

ExportValue *
gantry_export_op (GantryOnnxExport *e, const char *operation, const GantryType *type, guint n, ...)
{
  ExportNode node;
  va_list values;

  gantry_export_begin (e, &node, operation);
  va_start (values, n);
  for (guint i = 0; i < n; i++)
    gantry_export_input (&node, va_arg (values, ExportValue *));
  va_end (values);
  return gantry_export_end (&node, type);
}

/* Initializers */

/* A value that stands for many is written once: a node makes the rest of it. */
#define GANTRY_EXPORT_SPLAT 1024

Onnx__TensorProto *
gantry_export_tensor (GantryOnnxExport *e, const GantryLiteral *literal, const char *name)
{
  const GantryType *type = literal->type;
  Onnx__TensorProto *tensor = gantry_arena_new0 (e->arena, Onnx__TensorProto, 1);

  onnx__tensor_proto__init (tensor);
  tensor->name = name != NULL ? gantry_arena_strdup (e->arena, name) : NULL;
  tensor->has_data_type = TRUE;
  tensor->data_type = gantry_export_data_type ((GantryElementType) type->element);
  tensor->n_dims = type->rank;
  tensor->dims = gantry_arena_copy (e->arena, type->dims, sizeof *type->dims * type->rank);
  tensor->has_raw_data = TRUE;
  tensor->raw_data.len = (size_t) gantry_type_bytes (type);
  if (literal->splat)
    {
      tensor->raw_data.data = gantry_arena_alloc (e->arena, tensor->raw_data.len + 1);
      gantry_literal_copy_to (literal, tensor->raw_data.data);
    }
  else
    tensor->raw_data.data = (uint8_t *) literal->data; /* the module keeps it, often in the mapped file */
  return tensor;
}

static ExportValue *
fill (GantryOnnxExport *e, const GantryLiteral *literal)
{
  const GantryType *one = gantry_export_type (e, (GantryElementType) literal->type->element, 1, (gint64[]){ 1 });
  g_autoptr (GBytes) bytes = g_bytes_new (literal->data, gantry_element_size ((GantryElementType) literal->type->element));
  g_autoptr (GantryLiteral) element = gantry_literal_new (one, bytes, FALSE, NULL);
  Onnx__AttributeProto *attribute;
  ExportNode node;

  gantry_export_begin (e, &node, "ConstantOfShape");
  gantry_export_input (&node, gantry_export_vector (e, literal->type->dims, literal->type->rank));
  attribute = add_attribute (&node, "value", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR);
  attribute->t = gantry_export_tensor (e, element, NULL);
  attribute->t->raw_data.data = gantry_arena_copy (e->arena, element->data, attribute->t->raw_data.len);
  return gantry_export_end (&node, literal->type);
}

ExportValue *
gantry_export_literal (GantryOnnxExport *e, GantryLiteral *literal, const char *name)
{
  char *taken;

  if (e->error != NULL)
    return e->nobody;
  if (gantry_export_data_type ((GantryElementType) literal->type->element) == 0)
    {
      gantry_export_fail (e, "ONNX has no element type %s", gantry_element_name ((GantryElementType) literal->type->element));
      return e->nobody;
    }
  if (literal->splat && gantry_type_elements (literal->type) > GANTRY_EXPORT_SPLAT && !e->imported)
    return fill (e, literal);
  taken = gantry_export_name (e, name);
  g_ptr_array_add (e->graph->initializers, gantry_export_tensor (e, literal, taken));
  return gantry_export_value (e, taken, literal->type);
}

ExportValue *
gantry_export_constant (GantryOnnxExport *e, const GantryType *type, gconstpointer data, gsize size)
{
  g_autoptr (GByteArray) text = g_byte_array_new ();
  g_autoptr (GBytes) key = NULL, bytes = NULL;
  g_autoptr (GantryLiteral) literal = NULL;
  ExportValue *value;

  if (e->error != NULL)
    return e->nobody;
  g_byte_array_append (text, (const guint8 *) &type, sizeof type); /* interned: one address for each type */
  g_byte_array_append (text, data, (guint) size);
  key = g_byte_array_free_to_bytes (g_steal_pointer (&text));
  value = g_hash_table_lookup (e->graph->constants, key);
  if (value != NULL)
    return value;
  bytes = g_bytes_new_static (gantry_arena_copy (e->arena, data, size), size);
  literal = gantry_literal_new (type, bytes, FALSE, NULL);
  value = gantry_export_literal (e, literal, "constant");
  g_hash_table_insert (e->graph->constants, g_steal_pointer (&key), value);
  return value;
}

ExportValue *
gantry_export_vector (GantryOnnxExport *e, const gint64 *values, gsize n)
{
  const gint64 dim = (gint64) n;

  return gantry_export_constant (e, gantry_export_type (e, GANTRY_I64, 1, &dim), n > 0 ? (gconstpointer) values : "", sizeof *values * n);
}

ExportValue *
gantry_export_empty (GantryOnnxExport *e, const GantryType *type)
{
  return gantry_export_constant (e, type, "", 0);
}

ExportValue *
gantry_export_scalar (GantryOnnxExport *e, GantryElementType element, double value)
{
  guint8 bytes[16];

  gantry_element_write_double (element, bytes, value);
  return gantry_export_constant (e, gantry_export_type (e, element, 0, NULL), bytes, gantry_element_size (element));
}

ExportValue *
gantry_export_integer (GantryOnnxExport *e, GantryElementType element, gint64 value)
{
  guint8 bytes[16];

  gantry_element_write_int (element, bytes, value);
  return gantry_export_constant (e, gantry_export_type (e, element, 0, NULL), bytes, gantry_element_size (element));
}

ExportValue *
gantry_export_range (GantryOnnxExport *e, gint64 n, gint64 factor, guint rank, gint64 axis)
{
  g_autofree gint64 *values = g_new (gint64, n + 1);
  gint64 dims[GANTRY_MAX_RANK];

  for (gint64 i = 0; i < n; i++)
    values[i] = i * factor;
  for (guint i = 0; i < rank; i++)
    dims[i] = i == axis ? n : 1;
  return gantry_export_constant (e, gantry_export_type (e, GANTRY_I64, rank, dims), values, sizeof *values * (gsize) n);
}
