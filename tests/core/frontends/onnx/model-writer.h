/* SPDX-License-Identifier: Apache-2.0 */
/* Writes small ONNX models for the tests, field by field in wire form, so that they can be wrong in
 * any way. Every function returns a new message; the put_ functions append a field and free the
 * message that they are given. */
#pragma once
#include "core/frontends/onnx/onnx.h"

G_BEGIN_DECLS

typedef GByteArray Message;

Message *message_new (void);
void put_int (Message *m, guint field, gint64 value);
void put_float (Message *m, guint field, float value);
void put_text (Message *m, guint field, const char *text);
void put_bytes (Message *m, guint field, gconstpointer data, gsize size);
void put_message (Message *m, guint field, Message *part);

/* ValueInfoProto; @dims: "2,n,?" ('?' in quotes: a dimension of that name) or "" for a scalar; NULL for no type at all. @element: a
 * TensorProto.DataType. */
Message *write_value (const char *name, gint element, const char *dims);
/* TensorProto with raw_data; @dims as above, numbers only. */
Message *write_tensor (const char *name, gint element, const char *dims, gconstpointer data, gsize size);
/* NodeProto; @inputs and @outputs are names with commas between, "" for none; attributes are
 * appended as field 5. */
Message *write_node (const char *operation, const char *name, const char *inputs, const char *outputs);
Message *write_attribute_int (const char *name, gint64 value);
Message *write_attribute_float (const char *name, float value);
Message *write_attribute_text (const char *name, const char *value);
Message *write_attribute_ints (const char *name, const char *values);
Message *write_attribute_graph (const char *name, Message *graph);
Message *write_attribute_tensor (const char *name, Message *tensor);
Message *write_attribute_reference (const char *name, gint kind, const char *refers_to);
/* Appends attribute and graph to a node, node and values to a graph. */
void put_attribute (Message *node, Message *attribute);
void put_node (Message *graph, Message *node);
void put_input (Message *graph, Message *value);
void put_output (Message *graph, Message *value);
void put_initializer (Message *graph, Message *tensor);
/* ModelProto of IR version 8 and operator set 17 around @graph, which is freed. */
Message *write_model (Message *graph);
Message *write_model_with (Message *graph, gint64 ir_version, gint64 opset);
/* FunctionProto of domain "local"; nodes are appended as field 7. The model has to import "local".
 * */
Message *write_function (const char *name, const char *inputs, const char *outputs, const char *attributes);
void put_function (Message *model, Message *function);
GBytes *finish_model (Message *model);

enum
{
  ELEMENT_FLOAT = 1,
  ELEMENT_INT8 = 3,
  ELEMENT_INT32 = 6,
  ELEMENT_INT64 = 7,
  ELEMENT_STRING = 8,
  ELEMENT_BOOL = 9,
  ELEMENT_DOUBLE = 11,
  ELEMENT_INT4 = 22,
};

/* Imports @model (freed) as "test.onnx"; no error is expected. */
GantryModule *import_model (GantryContext *context, Message *model, GantryOnnxInfo **info);
/* The error that importing @model (freed) ends in: its code is @code and its message has all of the
 * given parts. */
void assert_refused (Message *model, gint code, ...) G_GNUC_NULL_TERMINATED;
/* The node whose value has this name; there has to be one. */
const GantryNode *find_value (const GantryModule *module, const char *name);
const char *node_scope (const GantryModule *module, const GantryNode *node);
void assert_type (const GantryModule *module, const char *name, const char *type);
void assert_op (const GantryModule *module, const char *name, const char *op);
/* The data folder beside the sources, NULL after g_test_skip() where it is not there. */
char *shared_data (const char *name);

G_END_DECLS
