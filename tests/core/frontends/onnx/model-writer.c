/* SPDX-License-Identifier: Apache-2.0 */
/* The wire form of protobuf, as much of it as a model needs, and what tests ask of a module. */
#include "tests/core/frontends/onnx/model-writer.h"
#include "core/graph/graph.h"
#include "tests/test-files.h"
#include <string.h>

/* Wire form */

Message *
message_new (void)
{
  return g_byte_array_new ();
}

static void
put_varint (Message *m, guint64 value)
{
  for (; value >= 0x80; value >>= 7)
    g_byte_array_append (m, &(guint8){ (guint8) (value | 0x80) }, 1);
  g_byte_array_append (m, &(guint8){ (guint8) value }, 1);
}

void
put_int (Message *m, guint field, gint64 value)
{
  put_varint (m, (guint64) field << 3);
  put_varint (m, (guint64) value);
}

void
put_float (Message *m, guint field, float value)
{
  put_varint (m, (guint64) field << 3 | 5);
  g_byte_array_append (m, (const guint8 *) &value, 4);
}

void
put_bytes (Message *m, guint field, gconstpointer data, gsize size)
{
  put_varint (m, (guint64) field << 3 | 2);
  put_varint (m, size);
  if (size > 0)
    g_byte_array_append (m, data, (guint) size);
}

void
put_text (Message *m, guint field, const char *text)
{
  put_bytes (m, field, text, strlen (text));
}

void
put_message (Message *m, guint field, Message *part)
{
  put_bytes (m, field, part->data, part->len);
  g_byte_array_unref (part);
}

/* @texts: with commas between; "" is none, and an empty one between commas is written. */
static void
put_texts (Message *m, guint field, const char *texts)
{
  g_auto (GStrv) parts = g_strsplit (texts, ",", -1);

  for (guint i = 0; *texts != '\0' && parts[i] != NULL; i++)
    put_text (m, field, parts[i]);
}

/* Messages of ONNX */

static Message *
write_shape (const char *dims)
{
  Message *shape = message_new ();
  g_auto (GStrv) parts = g_strsplit (dims, ",", -1);

  for (guint i = 0; *dims != '\0' && parts[i] != NULL; i++)
    {
      Message *dim = message_new ();

      if (g_ascii_isdigit (*parts[i]))
        put_int (dim, 1, g_ascii_strtoll (parts[i], NULL, 10));
      else if (strcmp (parts[i], "'?'") == 0)
        put_text (dim, 2, "?");
      else if (*parts[i] != '?')
        put_text (dim, 2, parts[i]);
      put_message (shape, 1, dim);
    }
  return shape;
}

Message *
write_value (const char *name, gint element, const char *dims)
{
  Message *value = message_new (), *type, *tensor;

  put_text (value, 1, name);
  if (dims == NULL)
    return value;
  tensor = message_new ();
  put_int (tensor, 1, element);
  put_message (tensor, 2, write_shape (dims));
  type = message_new ();
  put_message (type, 1, tensor);
  put_message (value, 2, type);
  return value;
}

Message *
write_tensor (const char *name, gint element, const char *dims, gconstpointer data, gsize size)
{
  Message *tensor = message_new ();
  g_auto (GStrv) parts = g_strsplit (dims, ",", -1);

  for (guint i = 0; *dims != '\0' && parts[i] != NULL; i++)
    put_int (tensor, 1, g_ascii_strtoll (parts[i], NULL, 10));
  put_int (tensor, 2, element);
  put_text (tensor, 8, name);
  if (data != NULL)
    put_bytes (tensor, 9, data, size);
  return tensor;
}

Message *
write_node (const char *operation, const char *name, const char *inputs, const char *outputs)
{
  Message *node = message_new ();

  put_texts (node, 1, inputs);
  put_texts (node, 2, outputs);
  put_text (node, 3, name);
  put_text (node, 4, operation);
  return node;
}

static Message *
attribute (const char *name, gint kind)
{
  Message *m = message_new ();

  put_text (m, 1, name);
  put_int (m, 20, kind);
  return m;
}

Message *
write_attribute_float (const char *name, float value)
{
  Message *m = attribute (name, 1);

  put_float (m, 2, value);
  return m;
}

Message *
write_attribute_int (const char *name, gint64 value)
{
  Message *m = attribute (name, 2);

  put_int (m, 3, value);
  return m;
}

Message *
write_attribute_text (const char *name, const char *value)
{
  Message *m = attribute (name, 3);

  put_text (m, 4, value);
  return m;
}

Message *
write_attribute_tensor (const char *name, Message *tensor)
{
  Message *m = attribute (name, 4);

  put_message (m, 5, tensor);
  return m;
}

Message *
write_attribute_graph (const char *name, Message *graph)
{
  Message *m = attribute (name, 5);

  put_message (m, 6, graph);
  return m;
}

Message *
write_attribute_ints (const char *name, const char *values)
{
  Message *m = attribute (name, 7);
  g_auto (GStrv) parts = g_strsplit (values, ",", -1);

  for (guint i = 0; *values != '\0' && parts[i] != NULL; i++)
    put_int (m, 8, g_ascii_strtoll (parts[i], NULL, 10));
  return m;
}

Message *
write_attribute_reference (const char *name, gint kind, const char *refers_to)
{
  Message *m = attribute (name, kind);

  put_text (m, 21, refers_to);
  return m;
}

void
put_attribute (Message *node, Message *part)
{
  put_message (node, 5, part);
}

void
put_node (Message *graph, Message *node)
{
  put_message (graph, 1, node);
}

void
put_input (Message *graph, Message *value)
{
  put_message (graph, 11, value);
}

void
put_output (Message *graph, Message *value)
{
  put_message (graph, 12, value);
}

void
put_initializer (Message *graph, Message *tensor)
{
  put_message (graph, 5, tensor);
}

static void
put_opset (Message *m, guint field, const char *domain, gint64 version)
{
  Message *opset = message_new ();

  put_text (opset, 1, domain);
  put_int (opset, 2, version);
  put_message (m, field, opset);
}

Message *
write_model_with (Message *graph, gint64 ir_version, gint64 opset)
{
  Message *model = message_new ();

  put_int (model, 1, ir_version);
  put_text (model, 2, "model-writer");
  put_opset (model, 8, "", opset);
  put_opset (model, 8, "local", 1);
  put_message (model, 7, graph);
  return model;
}

Message *
write_model (Message *graph)
{
  return write_model_with (graph, 8, 17);
}

Message *
write_function (const char *name, const char *inputs, const char *outputs, const char *attributes)
{
  Message *function = message_new ();

  put_text (function, 1, name);
  put_texts (function, 4, inputs);
  put_texts (function, 5, outputs);
  put_texts (function, 6, attributes);
  put_opset (function, 9, "", 13);
  put_opset (function, 9, "local", 1);
  put_text (function, 10, "local");
  return function;
}

void
put_function (Message *model, Message *function)
{
  put_message (model, 25, function);
}

GBytes *
finish_model (Message *model)
{
  return g_byte_array_free_to_bytes (model);
}

/* What tests ask */

GantryModule *
import_model (GantryContext *context, Message *model, GantryOnnxInfo **info)
{
  g_autoptr (GBytes) bytes = finish_model (model);
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_onnx_import_bytes (context, bytes, "test.onnx", NULL, info, NULL, &error);

  g_assert_no_error (error);
  gantry_verify (module, NULL, &error);
  g_assert_no_error (error);
  return module;
}

void
assert_refused (Message *model, gint code, ...)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GBytes) bytes = finish_model (model);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_onnx_import_bytes (context, bytes, "test.onnx", NULL, NULL, NULL, &error);
  const char *part;
  va_list parts;

  g_assert_null (module);
  g_assert_error (error, GANTRY_ERROR, code);
  g_assert_true (g_str_has_prefix (error->message, "test.onnx: "));
  va_start (parts, code);
  while ((part = va_arg (parts, const char *)) != NULL)
    if (strstr (error->message, part) == NULL)
      g_error ("the message lacks \"%s\": %s", part, error->message);
  va_end (parts);
}

const GantryNode *
find_value (const GantryModule *module, const char *name)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (strcmp (gantry_context_string (module->context, module->nodes[i].name), name) == 0)
      return &module->nodes[i];
  g_error ("the module has no value '%s'", name);
}

const char *
node_scope (const GantryModule *module, const GantryNode *node)
{
  return gantry_context_scope_path (module->context, node->scope);
}

void
assert_type (const GantryModule *module, const char *name, const char *type)
{
  g_autofree char *text = gantry_context_type_text (module->context, find_value (module, name)->type);

  g_assert_cmpstr (text, ==, type);
}

void
assert_op (const GantryModule *module, const char *name, const char *op)
{
  g_assert_cmpstr (gantry_node_op_name (module, find_value (module, name)), ==, op);
}

char *
shared_data (const char *name)
{
  g_autofree char *path = test_shared_file ("data", name);
  g_autofree char *why = NULL;

  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&path);
  why = g_strdup_printf ("the test data are not here: %s", path);
  g_test_skip (why);
  return NULL;
}
