/* SPDX-License-Identifier: Apache-2.0 */
/* Writing MindIR: graphs, values, constants, nodes. Field numbers are those of mind_ir.proto. */
#include "core/base/allocate.h"
#include "core/frontends/mindspore/export-private.h"
#include <string.h>

/* Errors */

void
gantry_mind_export_fail (MindExport *e, const char *format, ...)
{
  g_autofree char *place = NULL, *what = NULL;
  va_list arguments;

  if (e->error != NULL)
    return;
  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  place = e->node != NULL ? gantry_node_where (e->module, e->node) : NULL;
  g_set_error (&e->error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s: %s", place != NULL ? place : "the module", what);
}

/* Numbers of types */

static guint
data_type (MindExport *e, GantryElementType element)
{
  static const guint8 numbers[GANTRY_N_ELEMENT_TYPES] = {
    [GANTRY_F32] = 1,  [GANTRY_U8] = 2,   [GANTRY_I8] = 3,   [GANTRY_U16] = 4,  [GANTRY_I16] = 5,  [GANTRY_I32] = 6,   [GANTRY_I64] = 7,
    [GANTRY_BOOL] = 9, [GANTRY_F16] = 10, [GANTRY_F64] = 11, [GANTRY_U32] = 12, [GANTRY_U64] = 13, [GANTRY_BF16] = 16,
  };

  if (numbers[element] == 0)
    gantry_mind_export_fail (e, "MindIR has no element type %s", gantry_element_name (element));
  return numbers[element];
}

const GantryType *
gantry_mind_export_type (MindExport *e, GantryElementType element, guint rank, const GantryDim *dims)
{
  return gantry_context_type (e->context, gantry_context_tensor (e->context, element, rank, dims));
}

/* TensorProto */

static GByteArray *
tensor (MindExport *e, const char *name, const GantryType *type)
{
  GByteArray *message = g_byte_array_new ();

  if (type->kind != GANTRY_TYPE_TENSOR || !gantry_type_is_static (type))
    gantry_mind_export_fail (e, "a size is not known: it follows from data, or was not bound");
  for (guint i = 0; i < type->rank && type->kind == GANTRY_TYPE_TENSOR; i++)
    gantry_wire_put_int (message, 1, (guint64) type->dims[i]);
  gantry_wire_put_int (message, 2, data_type (e, (GantryElementType) type->element));
  if (name != NULL)
    gantry_wire_put_string (message, 7, name);
  return message;
}

static void
put_data (MindExport *e, GByteArray *message, const GantryLiteral *literal)
{
  gint64 size = gantry_type_bytes (literal->type);
  guint8 *dense;

  e->data += (guint64) MAX (size, 0);
  if (e->data > MIND_EXPORT_MOST_DATA)
    {
      gantry_mind_export_fail (e, "its tensors are larger than the %d MiB that one MindIR file is given here", (int) (MIND_EXPORT_MOST_DATA >> 20));
      return;
    }
  dense = gantry_try_allocate ((gsize) size + 1, 1, "a tensor", &e->error);
  if (dense == NULL)
    return;
  gantry_literal_copy_to (literal, dense);
  gantry_wire_put_bytes (message, 9, dense, (gsize) size);
  g_free (dense);
}

/* Graphs */

void
gantry_mind_export_push (MindExport *e, const char *name)
{
  ExportGraph *graph = g_new0 (ExportGraph, 1);

  graph->outer = e->graph;
  graph->name = gantry_arena_strdup (e->arena, name);
  graph->nodes = g_byte_array_new ();
  graph->inputs = g_byte_array_new ();
  graph->parameters = g_byte_array_new ();
  graph->outputs = g_byte_array_new ();
  graph->constants = g_hash_table_new (g_str_hash, g_str_equal);
  e->graph = graph;
}

GByteArray *
gantry_mind_export_pop (MindExport *e)
{
  ExportGraph *graph = e->graph;
  GByteArray *message = g_steal_pointer (&graph->nodes), *parts[] = { graph->parameters, graph->inputs, graph->outputs };

  gantry_wire_put_string (message, 2, graph->name);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_byte_array_append (message, parts[i]->data, parts[i]->len);
      g_byte_array_unref (parts[i]);
    }
  g_hash_table_unref (graph->constants);
  e->graph = graph->outer;
  g_free (graph);
  return message;
}

/* Values */

ExportValue *
gantry_mind_export_value (MindExport *e, const char *name, const GantryType *type)
{
  ExportValue *value = gantry_arena_new0 (e->arena, ExportValue, 1);

  value->name = name != NULL ? gantry_arena_strdup (e->arena, name) : NULL;
  value->type = type;
  return value;
}

ExportValue *
gantry_mind_export_tuple (MindExport *e, ExportValue **members, guint n)
{
  ExportValue *tuple = gantry_mind_export_value (e, NULL, gantry_context_type (e->context, 0));

  tuple->n = n;
  tuple->members = gantry_arena_copy (e->arena, members, sizeof *members * n);
  return tuple;
}

static GByteArray *
value_info (MindExport *e, const char *name, const GantryType *type)
{
  GByteArray *message = g_byte_array_new ();

  gantry_wire_put_string (message, 1, name);
  gantry_wire_put_message (message, 2, tensor (e, NULL, type));
  return message;
}

/* A name of the model that nothing has: @wanted where that is free. */
static const char *
free_name (MindExport *e, const char *wanted)
{
  char *name = gantry_arena_strdup (e->arena, wanted);

  while (!g_hash_table_add (e->names, name))
    {
      g_autofree char *other = g_strdup_printf ("%s_%u", wanted, ++e->counter);

      name = gantry_arena_strdup (e->arena, other);
    }
  return name;
}

ExportValue *
gantry_mind_export_input (MindExport *e, const char *name, const GantryType *type)
{
  g_autofree char *full = g_strdup_printf ("%s:%s", e->graph->name, free_name (e, name));

  gantry_wire_put_message (e->graph->inputs, 5, value_info (e, full, type));
  return gantry_mind_export_value (e, full, type);
}

ExportValue *
gantry_mind_export_parameter (MindExport *e, const char *name, const GantryLiteral *literal)
{
  const char *own = free_name (e, name);
  g_autofree char *full = g_strdup_printf ("%s:%s", e->graph->name, own);
  GByteArray *message = tensor (e, full, literal->type);

  put_data (e, message, literal);
  gantry_wire_put_string (message, 13, own);
  gantry_wire_put_int (message, 16, 0);
  gantry_wire_put_message (e->graph->parameters, 3, message);
  return gantry_mind_export_value (e, full, literal->type);
}

void
gantry_mind_export_output (MindExport *e, ExportValue *value)
{
  const char *name = gantry_mind_export_use (e, value);
  GByteArray *message = g_byte_array_new ();

  gantry_wire_put_string (message, 1, name);
  if (value->members != NULL)
    gantry_wire_put_string (message, 4, "Tuple");
  else
    gantry_wire_put_message (message, 2, tensor (e, NULL, value->type));
  gantry_wire_put_message (e->graph->outputs, 6, message);
}

/* Attributes */

GByteArray *
gantry_mind_export_attribute (const char *name, guint type)
{
  GByteArray *message = g_byte_array_new ();

  if (name != NULL)
    gantry_wire_put_string (message, 1, name);
  gantry_wire_put_int (message, 16, type);
  return message;
}

static GByteArray *
int_attribute (const char *name, guint type, gint64 value)
{
  GByteArray *message = gantry_mind_export_attribute (name, type);

  gantry_wire_put_int (message, 3, (guint64) value);
  return message;
}

static GByteArray *
ints_attribute (const char *name, const gint64 *values, guint n)
{
  GByteArray *message = gantry_mind_export_attribute (name, 20);

  for (guint i = 0; i < n; i++)
    {
      GByteArray *member = gantry_mind_export_attribute (NULL, 7);

      gantry_wire_put_int (member, 10, (guint64) values[i]);
      gantry_wire_put_message (message, 17, member);
    }
  return message;
}

void
gantry_mind_attr_int (GByteArray *attrs, const char *name, gint64 value)
{
  gantry_wire_put_message (attrs, 3, int_attribute (name, 7, value));
}

void
gantry_mind_attr_bool (GByteArray *attrs, const char *name, gboolean value)
{
  gantry_wire_put_message (attrs, 3, int_attribute (name, 9, value));
}

void
gantry_mind_attr_ints (GByteArray *attrs, const char *name, const gint64 *values, guint n)
{
  gantry_wire_put_message (attrs, 3, ints_attribute (name, values, n));
}

void
gantry_mind_attr_string (GByteArray *attrs, const char *name, const char *value)
{
  GByteArray *message = gantry_mind_export_attribute (name, 8);

  gantry_wire_put_string (message, 5, value);
  gantry_wire_put_message (attrs, 3, message);
}

/* Constants */

/* @attr: (transfer full). @key: (nullable): what tells this constant from others of the graph */
static const char *
constant (MindExport *e, const char *key, GByteArray *attr)
{
  const char *known = key != NULL ? g_hash_table_lookup (e->graph->constants, key) : NULL;
  g_autofree char *name = g_strdup_printf ("ValueNode_%u", ++e->counter);
  GByteArray *node;
  char *kept;

  if (known != NULL)
    {
      g_byte_array_unref (attr);
      return known;
    }
  kept = gantry_arena_strdup (e->arena, name);
  node = g_byte_array_new ();
  gantry_wire_put_string (node, 2, kept);
  gantry_wire_put_string (node, 3, kept);
  gantry_wire_put_string (node, 4, "Constant");
  gantry_wire_put_message (node, 5, attr);
  gantry_wire_put_message (e->graph->nodes, 1, node);
  if (key != NULL)
    g_hash_table_insert (e->graph->constants, gantry_arena_strdup (e->arena, key), kept);
  return kept;
}

const char *
gantry_mind_export_int (MindExport *e, gint64 value)
{
  g_autofree char *key = g_strdup_printf ("%" G_GINT64_FORMAT, value);

  return constant (e, key, int_attribute ("value", 7, value));
}

const char *
gantry_mind_export_bool (MindExport *e, gboolean value)
{
  return constant (e, value ? "true" : "false", int_attribute ("value", 9, value));
}

const char *
gantry_mind_export_ints (MindExport *e, const gint64 *values, guint n)
{
  g_autoptr (GString) key = g_string_new ("(");

  for (guint i = 0; i < n; i++)
    g_string_append_printf (key, "%" G_GINT64_FORMAT ",", values[i]);
  return constant (e, key->str, ints_attribute ("value", values, n));
}

/* TypeId of MindSpore, as Cast takes it. */
const char *
gantry_mind_export_dtype (MindExport *e, GantryElementType element)
{
  static const guint8 numbers[GANTRY_N_ELEMENT_TYPES] = {
    [GANTRY_BOOL] = 30, [GANTRY_I8] = 32,  [GANTRY_I16] = 33, [GANTRY_I32] = 34, [GANTRY_I64] = 35, [GANTRY_U8] = 37,   [GANTRY_U16] = 38,
    [GANTRY_U32] = 39,  [GANTRY_U64] = 40, [GANTRY_F16] = 42, [GANTRY_F32] = 43, [GANTRY_F64] = 44, [GANTRY_BF16] = 45,
  };

  return gantry_mind_export_int (e, numbers[element]);
}

ExportValue *
gantry_mind_export_literal (MindExport *e, const GantryLiteral *literal)
{
  GByteArray *attr = gantry_mind_export_attribute ("value", 19), *message = tensor (e, NULL, literal->type);

  put_data (e, message, literal);
  gantry_wire_put_message (attr, 12, message);
  return gantry_mind_export_value (e, constant (e, NULL, attr), literal->type);
}

ExportValue *
gantry_mind_export_scalar (MindExport *e, GantryElementType element, double value)
{
  const GantryType *type = gantry_context_type (e->context, gantry_context_scalar (e->context, element));
  guint8 *data;
  g_autoptr (GantryLiteral) literal = gantry_literal_new_zeroed (type, &data);

  gantry_element_write_double (element, data, value);
  return gantry_mind_export_literal (e, literal);
}

ExportValue *
gantry_mind_export_range (MindExport *e, GantryElementType element, gint64 n, guint rank, guint axis)
{
  GantryDim dims[GANTRY_MAX_RANK];
  g_autoptr (GantryLiteral) literal = NULL;
  guint8 *data;

  for (guint i = 0; i < rank; i++)
    dims[i] = i == axis ? n : 1;
  literal = gantry_literal_try_new_zeroed (gantry_mind_export_type (e, element, rank, dims), &data, e->error == NULL ? &e->error : NULL);
  if (literal == NULL)
    return e->nobody;
  for (gint64 i = 0; i < n; i++)
    gantry_element_write_int (element, data + (gsize) i * gantry_element_size (element), i);
  return gantry_mind_export_literal (e, literal);
}

/* Nodes */

/* Primitives stand once, whatever nodes refer to them. @attrs: (transfer full) (nullable) */
static const char *
primitive_name (MindExport *e, const char *primitive, GByteArray *attrs)
{
  g_autoptr (GByteArray) message = g_byte_array_new ();
  g_autoptr (GBytes) key = NULL;
  const char *known;
  g_autofree char *name = NULL;
  GByteArray *whole;

  gantry_wire_put_string (message, 2, primitive);
  if (attrs != NULL)
    {
      g_byte_array_append (message, attrs->data, attrs->len);
      g_byte_array_unref (attrs);
    }
  gantry_wire_put_string (message, 4, "");
  key = g_bytes_new (message->data, message->len);
  known = g_hash_table_lookup (e->primitives, key);
  if (known != NULL)
    return known;
  name = g_strdup_printf ("%s:%u", primitive, ++e->counter);
  whole = g_byte_array_new ();
  gantry_wire_put_string (whole, 1, name);
  g_byte_array_append (whole, message->data, message->len);
  gantry_wire_put_message (e->primitive_list, 12, whole);
  known = gantry_arena_strdup (e->arena, name);
  g_hash_table_insert (e->primitives, g_steal_pointer (&key), (gpointer) known);
  return known;
}

/* "Default/layers.0/fc/MatMul-op3": the scope of the node, as MindSpore writes scopes. */
static char *
domain_of (MindExport *e, const char *primitive)
{
  const char *scope = e->node != NULL ? gantry_context_scope_path (e->context, e->node->scope) : "";
  guint count = GPOINTER_TO_UINT (g_hash_table_lookup (e->counts, primitive));

  g_hash_table_insert (e->counts, gantry_arena_strdup (e->arena, primitive), GUINT_TO_POINTER (count + 1));
  return g_strdup_printf ("Default/%s%s%s-op%u", scope, *scope != '\0' ? "/" : "", primitive, count);
}

/* What has no name is called as MindSpore calls it. */
static char *
output_name (MindExport *e)
{
  const char *own = e->node != NULL ? gantry_context_string (e->context, e->node->name) : "";
  guint number = ++e->counter;
  g_autofree char *label = *own != '\0' ? g_strdup (own) : g_strdup_printf ("CNode_%u", number);

  return g_strdup_printf ("%s:%s:%u", e->graph->name, g_strdelimit (label, ":", '_'), number);
}

/* @shape: (transfer full): attribute "shape" */
static char *
write_node (MindExport *e, const char *operation, const char *label, const char *const *inputs, guint n_inputs, GByteArray *shape)
{
  GByteArray *node = g_byte_array_new ();
  char *output = output_name (e);
  g_autofree char *reference = g_strconcat ("REF::", operation, NULL), *domain = domain_of (e, label);

  for (guint i = 0; i < n_inputs; i++)
    gantry_wire_put_string (node, 1, inputs[i]);
  gantry_wire_put_string (node, 2, output);
  gantry_wire_put_string (node, 3, output);
  gantry_wire_put_string (node, 4, reference);
  gantry_wire_put_message (node, 5, shape);
  gantry_wire_put_string (node, 7, domain);
  gantry_wire_put_message (e->graph->nodes, 1, node);
  return output;
}

static GByteArray *
shape_of (MindExport *e, const char *name, const GantryType *type)
{
  GByteArray *shape = gantry_mind_export_attribute (name, 19);

  gantry_wire_put_message (shape, 12, tensor (e, NULL, type));
  return shape;
}

static GByteArray *
shape_of_all (MindExport *e, const GantryType *const *types, guint n)
{
  GByteArray *shape = gantry_mind_export_attribute ("shape", 20);

  for (guint i = 0; i < n; i++)
    gantry_wire_put_message (shape, 17, shape_of (e, NULL, types[i]));
  gantry_wire_put_message (shape, 18, g_byte_array_new ());
  return shape;
}

/* The members of a tuple that node @name gives. */
static ExportValue *
members_of (MindExport *e, const char *name, const GantryType *const *types, guint n)
{
  g_autofree ExportValue **members = g_new0 (ExportValue *, n + 1);
  ExportValue *tuple;

  for (guint i = 0; i < n; i++)
    members[i] = gantry_mind_export_node (e, "TupleGetItem", NULL, types[i], name, gantry_mind_export_int (e, i), NULL);
  tuple = gantry_mind_export_tuple (e, members, n);
  tuple->name = gantry_arena_strdup (e->arena, name);
  return tuple;
}

ExportValue *
gantry_mind_export_add (MindExport *e, const char *operation, GByteArray *attrs, const char *const *inputs, guint n_inputs, const GantryType *const *types,
                        guint n_types, gboolean is_tuple)
{
  g_autofree char *output = NULL;
  gboolean known = FALSE;

  for (guint i = 0; i < n_inputs; i++)
    known = known || inputs[i] == NULL;
  if (e->error != NULL || known)
    {
      g_clear_pointer (&attrs, g_byte_array_unref);
      return e->nobody;
    }
  output = write_node (e, primitive_name (e, operation, attrs), operation, inputs, n_inputs,
                       is_tuple ? shape_of_all (e, types, n_types) : shape_of (e, "shape", types[0]));
  if (e->error != NULL)
    return e->nobody;
  return is_tuple ? members_of (e, output, types, n_types) : gantry_mind_export_value (e, output, types[0]);
}

ExportValue *
gantry_mind_export_node (MindExport *e, const char *primitive, GByteArray *attrs, const GantryType *type, ...)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();
  const char *name;
  va_list list;

  va_start (list, type);
  while ((name = va_arg (list, const char *)) != NULL)
    g_ptr_array_add (inputs, (gpointer) name);
  va_end (list);
  return gantry_mind_export_add (e, primitive, attrs, (const char *const *) inputs->pdata, inputs->len, &type, 1, FALSE);
}

const char *
gantry_mind_export_use (MindExport *e, ExportValue *value)
{
  if (value->name == NULL && value->narrow != NULL)
    {
      const char *narrow = gantry_mind_export_use (e, value->narrow);

      value->name =
        gantry_mind_export_node (e, "BroadcastTo", NULL, value->type, narrow, gantry_mind_export_ints (e, value->type->dims, value->type->rank), NULL)->name;
    }
  else if (value->name == NULL && value->members != NULL)
    {
      g_autofree const char **names = g_new0 (const char *, value->n + 1);
      g_autofree const GantryType **types = g_new0 (const GantryType *, value->n + 1);
      g_autofree char *output = NULL;

      for (guint i = 0; i < value->n; i++)
        {
          names[i] = gantry_mind_export_use (e, value->members[i]);
          types[i] = value->members[i]->type;
        }
      if (e->error != NULL)
        return "";
      output = write_node (e, primitive_name (e, "MakeTuple", NULL), "MakeTuple", names, value->n, shape_of_all (e, types, value->n));
      value->name = gantry_arena_strdup (e->arena, output);
    }
  return value->name != NULL ? value->name : "";
}

/* Functions as values */

static GByteArray *
closure (const char *name, const char *function)
{
  GByteArray *shape = gantry_mind_export_attribute (name, 27);

  gantry_wire_put_string (shape, 5, function);
  return shape;
}

const char *
gantry_mind_export_closure (MindExport *e, const char *primitive, const char *const *inputs, guint n_inputs, const char *const *functions, guint n_functions)
{
  GByteArray *shape = n_functions == 1 ? closure ("shape", functions[0]) : gantry_mind_export_attribute ("shape", 29);
  g_autofree char *output = NULL;

  for (guint i = 0; i < n_functions && n_functions > 1; i++)
    gantry_wire_put_message (shape, 17, closure (NULL, functions[i]));
  output = write_node (e, primitive_name (e, primitive, NULL), primitive, inputs, n_inputs, shape);
  return gantry_arena_strdup (e->arena, output);
}

ExportValue *
gantry_mind_export_call (MindExport *e, const char *function, ExportValue **arguments, guint n, const GantryType *const *types, guint n_types,
                         gboolean is_tuple)
{
  g_autofree const char **names = g_new0 (const char *, n + 1);
  g_autofree char *output = NULL;

  for (guint i = 0; i < n; i++)
    names[i] = gantry_mind_export_use (e, arguments[i]);
  if (e->error != NULL)
    return e->nobody;
  output = write_node (e, function, "call", names, n, is_tuple ? shape_of_all (e, types, n_types) : shape_of (e, "shape", types[0]));
  return is_tuple ? members_of (e, output, types, n_types) : gantry_mind_export_value (e, output, types[0]);
}
