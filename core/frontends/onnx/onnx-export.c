/* SPDX-License-Identifier: Apache-2.0 */
/* Writing ONNX: a module as a file. The messages are small and made in one arena; the values of weights stay where they are,
 * mostly pages of the model's own file, and are written from there. */
#include "core/frontends/onnx/export-private.h"
#include "core/base/output.h"
#include <glib/gstdio.h>
#include <string.h>

/* A message of protocol buffers ends at 2 GiB; what is larger lies beside it. */
#define GANTRY_ONNX_EXPORT_INLINE (G_GUINT64_CONSTANT (2000) << 20)
#define GANTRY_ONNX_EXPORT_SMALL 1024u
#define GANTRY_ONNX_EXPORT_ALIGNMENT 64u

void
gantry_export_use_opset (GantryOnnxExport *e, const char *domain, gint64 version)
{
  gpointer known;

  if (!g_hash_table_lookup_extended (e->opsets, domain, NULL, &known))
    g_hash_table_insert (e->opsets, gantry_arena_strdup (e->arena, domain), GSIZE_TO_POINTER ((gsize) version));
  else if ((gint64) GPOINTER_TO_SIZE (known) != version)
    gantry_export_fail (e,
                        "it is of version %" G_GINT64_FORMAT " of the operator set '%s', others are of version %" G_GINT64_FORMAT
                        "; export after 'legalize', where all are of one",
                        version, domain, (gint64) GPOINTER_TO_SIZE (known));
}

static void
graph_free (gpointer data)
{
  ExportGraph *graph = data;

  g_ptr_array_unref (graph->nodes);
  g_ptr_array_unref (graph->initializers);
  g_ptr_array_unref (graph->inputs);
  g_ptr_array_unref (graph->outputs);
  g_hash_table_unref (graph->constants);
  g_free (graph);
}

static void
export_init (GantryOnnxExport *e, const GantryModule *module)
{
  gint64 ones[GANTRY_MAX_RANK];

  *e = (GantryOnnxExport){ .arena = gantry_arena_new (), .context = module->context, .module = module };
  e->names = g_hash_table_new (g_str_hash, g_str_equal);
  e->kept = g_hash_table_new (g_str_hash, g_str_equal);
  e->opsets = g_hash_table_new (g_str_hash, g_str_equal);
  e->identities = g_hash_table_new (g_str_hash, g_str_equal);
  e->holders = g_ptr_array_new_with_free_func (graph_free);
  for (guint i = 0; i < GANTRY_MAX_RANK; i++)
    ones[i] = 1;
  for (guint32 i = 0; i < module->n_nodes; i++)
    e->imported = e->imported || module->nodes[i].op >= GANTRY_OP_FOREIGN;
  e->nobody = gantry_export_value (e, gantry_arena_strdup (e->arena, ""), gantry_export_type (e, GANTRY_F32, GANTRY_MAX_RANK, ones));
}

static void
export_clear (GantryOnnxExport *e)
{
  g_hash_table_unref (e->names);
  g_hash_table_unref (e->kept);
  g_hash_table_unref (e->opsets);
  g_hash_table_unref (e->identities);
  g_ptr_array_unref (e->holders);
  gantry_arena_free (e->arena);
  g_clear_error (&e->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GantryOnnxExport, export_clear)

/* What cannot be written at all */

/* All calls of the host at once, with their lines: whoever wants to be rid of them has to know them all. */
static gboolean
refuse_host_calls (const GantryModule *module, GError **error)
{
  g_autofree char *lines = gantry_module_host_calls (module);

  if (lines != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "what calls the host cannot be written as ONNX; these lines do:%s", lines);
  return lines == NULL;
}

/* The entry */

static ExportValue *
entry_input (GantryOnnxExport *e, const GantryNode *node, guint index, const GantryOnnxWeight *weight)
{
  g_autofree char *plain = g_strdup_printf ("input_%u", index);
  const GantryAttr *initial = gantry_attrs_find (e->context, node->attrs, "initial");
  const GantryType *type = gantry_node_type (e->module, node);
  const char *own = gantry_context_string (e->context, node->name);
  const char *name = weight != NULL && weight->name != NULL ? weight->name : *own != '\0' ? own : plain;
  ExportValue *value = gantry_export_value (e, gantry_export_name (e, name), type);

  if (weight != NULL && weight->value != NULL)
    {
      g_ptr_array_add (e->graph->initializers, gantry_export_tensor (e, weight->value, value->name));
      return value;
    }
  g_ptr_array_add (e->graph->inputs, gantry_export_value_info (e, value->name, type));
  /* The value of a parameter before the first step is its default: an initializer of the same name. */
  if (initial != NULL && initial->kind == GANTRY_ATTR_LITERAL)
    g_ptr_array_add (e->graph->initializers, gantry_export_tensor (e, gantry_context_literal (e->context, initial->id), value->name));
  return value;
}

static char **
output_names (GantryOnnxExport *e, const GantryFunction *entry)
{
  char **names = gantry_arena_new0 (e->arena, char *, entry->n_results + 1);

  for (guint i = 0; i < entry->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (e->module, gantry_function_result_id (e->module, entry, i));
      const char *name = gantry_context_string (e->context, node->name);
      g_autofree char *plain = g_strdup_printf ("output_%u", i);

      names[i] = gantry_arena_strdup (e->arena, *name != '\0' ? name : plain);
      if (*name != '\0' && node->op != GANTRY_OP_PARAMETER && !g_hash_table_contains (e->kept, names[i]))
        g_hash_table_insert (e->kept, names[i], GUINT_TO_POINTER (node->id));
    }
  return names;
}

static Onnx__GraphProto *
write_entry (GantryOnnxExport *e, const GantryOnnxWeight *weights)
{
  const GantryFunction *entry = gantry_module_entry (e->module);
  ExportValue **values = gantry_arena_new0 (e->arena, ExportValue *, entry->n_params + 1);
  ExportValue **results = gantry_arena_new0 (e->arena, ExportValue *, entry->n_results + 1);
  char **names;

  gantry_export_push (e);
  for (guint i = 0; i < entry->n_params; i++)
    values[i] = entry_input (e, &e->module->nodes[entry->first_node + i], i, weights != NULL ? &weights[i] : NULL);
  names = output_names (e, entry);
  if (gantry_export_function (e, entry, values, results))
    gantry_export_outputs (e, results, entry->n_results, (const char *const *) names);
  return gantry_export_pop (e, gantry_context_string (e->context, entry->name));
}

/* The model */

/* The version of the format that came with an operator set. */
static gint64
format_of (gint64 opset)
{
  static const struct
  {
    gint64 opset, version;
  } versions[] = {
    { 25, 13 }, { 24, 12 }, { 23, 11 }, { 21, 10 }, { 19, 9 }, { 0, GANTRY_ONNX_EXPORT_IR },
  };
  guint i = 0;

  while (opset < versions[i].opset)
    i++;
  return versions[i].version;
}

static void
set_opsets (GantryOnnxExport *e, Onnx__ModelProto *model)
{
  GHashTableIter iter;
  gpointer domain, version;

  if (!g_hash_table_contains (e->opsets, ""))
    gantry_export_use_opset (e, "", GANTRY_ONNX_EXPORT_OPSET);
  model->opset_import = gantry_arena_new0 (e->arena, Onnx__OperatorSetIdProto *, g_hash_table_size (e->opsets));
  g_hash_table_iter_init (&iter, e->opsets);
  while (g_hash_table_iter_next (&iter, &domain, &version))
    {
      Onnx__OperatorSetIdProto *opset = gantry_arena_new0 (e->arena, Onnx__OperatorSetIdProto, 1);

      onnx__operator_set_id_proto__init (opset);
      opset->domain = domain;
      opset->has_version = TRUE;
      opset->version = (gint64) GPOINTER_TO_SIZE (version);
      model->opset_import[model->n_opset_import++] = opset;
      if (*(const char *) domain == '\0')
        model->ir_version = format_of (opset->version);
    }
  model->has_ir_version = TRUE;
}

static void
add_property (GantryOnnxExport *e, Onnx__ModelProto *model, const char *key, const char *value)
{
  Onnx__StringStringEntryProto *entry = gantry_arena_new0 (e->arena, Onnx__StringStringEntryProto, 1);

  onnx__string_string_entry_proto__init (entry);
  entry->key = gantry_arena_strdup (e->arena, key);
  entry->value = gantry_arena_strdup (e->arena, value);
  model->metadata_props[model->n_metadata_props++] = entry;
}

/* Which output an input's memory is written over: ONNX cannot say it. */
static void
add_aliases (GantryOnnxExport *e, Onnx__ModelProto *model)
{
  const GantryFunction *entry = gantry_module_entry (e->module);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < entry->n_params; i++)
    {
      gint64 result = gantry_attrs_int (e->context, e->module->nodes[entry->first_node + i].attrs, "alias", -1);

      if (result >= 0 && result < (gint64) model->graph->n_output && model->graph->n_input == entry->n_params)
        g_string_append_printf (text, "%s%s=%s", text->len > 0 ? "\n" : "", model->graph->input[i]->name, model->graph->output[result]->name);
    }
  if (text->len > 0)
    add_property (e, model, "gantry.donated", text->str);
}

static Onnx__ModelProto *
write_model (GantryOnnxExport *e, const GantryOnnxExportOptions *options)
{
  Onnx__ModelProto *model = gantry_arena_new0 (e->arena, Onnx__ModelProto, 1);

  onnx__model_proto__init (model);
  model->graph = write_entry (e, options->weights);
  if (e->error != NULL)
    return NULL;
  model->producer_name = gantry_arena_strdup (e->arena, "gantry");
  model->metadata_props = gantry_arena_new0 (e->arena, Onnx__StringStringEntryProto *, 2); /* snapshot, donated */
  set_opsets (e, model);
  if (options->snapshot != NULL)
    add_property (e, model, "gantry.snapshot", options->snapshot);
  add_aliases (e, model);
  return model;
}

static void
note_identities (GantryOnnxExport *e, GPtrArray *notes)
{
  GHashTableIter iter;
  gpointer name;

  if (notes == NULL)
    return;
  g_hash_table_iter_init (&iter, e->identities);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_ptr_array_add (notes, g_strdup_printf ("%s is written as Identity: %s is not said in ONNX", (const char *) name,
                                             g_str_equal (name, "stop_gradient")   ? "of what no gradient is taken"
                                             : g_str_equal (name, "rematerialize") ? "what is made again"
                                                                                   : "where a value lies"));
}

/* Files */

typedef struct
{
  ProtobufCBuffer base;
  GOutputStream *stream;
  GError *error;
} Buffer;

static void
append (ProtobufCBuffer *base, size_t length, const uint8_t *data)
{
  Buffer *buffer = (Buffer *) base;

  if (buffer->error == NULL)
    g_output_stream_write_all (buffer->stream, data, length, NULL, NULL, &buffer->error);
}

static gboolean
pack (const Onnx__ModelProto *model, GOutputStream *stream, GError **error)
{
  Buffer buffer = { .base = { append }, .stream = stream };

  onnx__model_proto__pack_to_buffer (model, &buffer.base);
  if (buffer.error == NULL)
    return TRUE;
  g_propagate_error (error, buffer.error);
  return FALSE;
}

static guint64
initializer_bytes (const Onnx__GraphProto *graph)
{
  guint64 bytes = 0;

  for (gsize i = 0; i < graph->n_initializer; i++)
    bytes += graph->initializer[i]->raw_data.len;
  return bytes;
}

static void
set_external (GantryOnnxExport *e, Onnx__TensorProto *tensor, const char *file, guint64 offset)
{
  g_autofree char *begin = g_strdup_printf ("%" G_GUINT64_FORMAT, offset);
  g_autofree char *length = g_strdup_printf ("%zu", tensor->raw_data.len);
  const char *entries[3][2] = { { "location", file }, { "offset", begin }, { "length", length } };

  tensor->external_data = gantry_arena_new0 (e->arena, Onnx__StringStringEntryProto *, G_N_ELEMENTS (entries));
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    {
      Onnx__StringStringEntryProto *entry = gantry_arena_new0 (e->arena, Onnx__StringStringEntryProto, 1);

      onnx__string_string_entry_proto__init (entry);
      entry->key = gantry_arena_strdup (e->arena, entries[i][0]);
      entry->value = gantry_arena_strdup (e->arena, entries[i][1]);
      tensor->external_data[tensor->n_external_data++] = entry;
    }
  tensor->has_data_location = TRUE;
  tensor->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
  tensor->has_raw_data = FALSE;
}

static gboolean
write_data (GantryOnnxExport *e, const Onnx__GraphProto *graph, const char *name, GOutputStream *stream, GError **error)
{
  static const guint8 zeros[GANTRY_ONNX_EXPORT_ALIGNMENT] = { 0 };
  guint64 offset = 0;

  for (gsize i = 0; i < graph->n_initializer; i++)
    {
      Onnx__TensorProto *tensor = graph->initializer[i];
      gsize gap = (GANTRY_ONNX_EXPORT_ALIGNMENT - offset % GANTRY_ONNX_EXPORT_ALIGNMENT) % GANTRY_ONNX_EXPORT_ALIGNMENT;

      if (tensor->raw_data.len < GANTRY_ONNX_EXPORT_SMALL)
        continue;
      if (!g_output_stream_write_all (stream, zeros, gap, NULL, NULL, error)
          || !g_output_stream_write_all (stream, tensor->raw_data.data, tensor->raw_data.len, NULL, NULL, error))
        return FALSE;
      set_external (e, tensor, name, offset + gap);
      offset += gap + tensor->raw_data.len;
    }
  return TRUE;
}

/* A new name: the data of the model that is there already stay what they are until the new model takes its place, and after. */
static char *
data_path (const char *path)
{
  char *data = g_strconcat (path, ".data", NULL);

  for (guint i = 1; g_file_test (data, G_FILE_TEST_EXISTS); i++)
    {
      g_free (data);
      data = g_strdup_printf ("%s.data.%u", path, i);
    }
  return data;
}

static gboolean
write_file (const Onnx__ModelProto *model, const char *path, GantryReadFiles *read, GError **error)
{
  g_autoptr (GantryOutput) output = gantry_output_new (path, read, error);

  return output != NULL && gantry_output_finish (output, pack (model, gantry_output_stream (output), error), error);
}

/* The data first: a model that is there has all of its data. */
static gboolean
write_external (GantryOnnxExport *e, Onnx__ModelProto *model, const char *path, GantryReadFiles *read, GPtrArray *notes, GError **error)
{
  g_autofree char *data = data_path (path), *name = g_path_get_basename (data);
  g_autoptr (GantryOutput) output = gantry_output_new (data, read, error);

  if (output == NULL || !gantry_output_finish (output, write_data (e, model->graph, name, gantry_output_stream (output), error), error))
    return FALSE;
  if (!write_file (model, path, read, error))
    {
      g_unlink (data);
      return FALSE;
    }
  if (notes != NULL)
    g_ptr_array_add (notes, g_strdup_printf ("the weights are in %s, which belongs to the model", data));
  return TRUE;
}

gboolean
gantry_onnx_export (const GantryModule *module, const char *path, const GantryOnnxExportOptions *options, GPtrArray *notes, GError **error)
{
  static const GantryOnnxExportOptions none = { 0 };
  g_auto (GantryOnnxExport) e = { 0 };
  Onnx__ModelProto *model;

  options = options != NULL ? options : &none;
  export_init (&e, module);
  if (!refuse_host_calls (module, error))
    return FALSE;
  model = write_model (&e, options);
  if (model == NULL)
    {
      g_propagate_error (error, g_steal_pointer (&e.error));
      return FALSE;
    }
  note_identities (&e, notes);
  if (options->external || initializer_bytes (model->graph) > GANTRY_ONNX_EXPORT_INLINE)
    return write_external (&e, model, path, options->read, notes, error);
  return write_file (model, path, options->read, error);
}
