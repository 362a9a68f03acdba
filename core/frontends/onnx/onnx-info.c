/* SPDX-License-Identifier: Apache-2.0 */
/* What a model file says about itself, as counts and lists that views and the command line show. */
#include "core/frontends/onnx/onnx-import-private.h"
#include <string.h>

void
gantry_onnx_info_free (GantryOnnxInfo *info)
{
  if (info == NULL)
    return;
  for (guint i = 0; i < info->n_opsets; i++)
    g_free (info->opsets[i].domain);
  for (guint i = 0; i < info->n_inputs; i++)
    {
      g_free (info->inputs[i].name);
      g_free (info->inputs[i].type_text);
    }
  for (guint i = 0; i < info->n_outputs; i++)
    {
      g_free (info->outputs[i].name);
      g_free (info->outputs[i].type_text);
    }
  for (guint i = 0; i < info->n_unsupported; i++)
    {
      g_free (info->unsupported[i].operation);
      g_free (info->unsupported[i].why);
      g_free (info->unsupported[i].first);
    }
  g_free (info->producer);
  g_free (info->graph_name);
  g_free (info->opsets);
  g_free (info->inputs);
  g_free (info->outputs);
  g_free (info->unsupported);
  g_strfreev (info->unbound);
  g_strfreev (info->warnings);
  g_strfreev (info->data_files);
  g_free (info);
}

/* A bool in a file, a sparse tensor, an int4: what its values take there; good enough for a size to
 * show. */
static guint64
tensor_bytes (const Onnx__TensorProto *tensor)
{
  GantryElementType element = gantry_onnx_element (tensor->data_type);
  guint64 bytes = MAX (gantry_element_size (element), 1);

  for (gsize i = 0; i < tensor->n_dims; i++)
    if (!g_uint64_checked_mul (&bytes, bytes, (guint64) MAX (tensor->dims[i], 0)))
      return 0;
  return bytes;
}

static void
count_graph (GantryOnnxInfo *info, const Onnx__GraphProto *graph)
{
  info->n_nodes += (guint) graph->n_node;
  info->n_initializers += (guint) (graph->n_initializer + graph->n_sparse_initializer);
  for (gsize i = 0; i < graph->n_initializer; i++)
    info->initializer_bytes += tensor_bytes (graph->initializer[i]);
  for (gsize i = 0; i < graph->n_node; i++)
    for (gsize j = 0; j < graph->node[i]->n_attribute; j++)
      {
        const Onnx__AttributeProto *attribute = graph->node[i]->attribute[j];

        if (attribute->g != NULL)
          count_graph (info, attribute->g);
        for (gsize k = 0; k < attribute->n_graphs; k++)
          count_graph (info, attribute->graphs[k]);
      }
}

void
gantry_onnx_info_describe (GantryOnnxImport *import)
{
  const Onnx__ModelProto *model = import->file->model;
  GantryOnnxInfo *info = import->info;
  const char *name = model->producer_name != NULL ? model->producer_name : "";
  const char *version = model->producer_version != NULL ? model->producer_version : "";

  info->ir_version = model->ir_version;
  info->producer = g_strconcat (name, *name != '\0' && *version != '\0' ? " " : "", version, NULL);
  info->graph_name = g_strdup (model->graph->name != NULL ? model->graph->name : "");
  info->n_functions = (guint) model->n_functions;
  info->n_opsets = (guint) model->n_opset_import;
  info->opsets = g_new0 (GantryOnnxOpset, info->n_opsets + 1);
  for (guint i = 0; i < info->n_opsets; i++)
    {
      info->opsets[i].domain = g_strdup (gantry_onnx_domain (model->opset_import[i]->domain));
      info->opsets[i].version = model->opset_import[i]->version;
    }
  count_graph (info, model->graph);
}

static void
set_value (GantryOnnxImport *import, GantryOnnxValue *value, const Onnx__ValueInfoProto *declared, const char *name, guint32 type)
{
  value->name = g_strdup (name);
  value->type = type;
  value->type_text = gantry_onnx_type_text (import, declared != NULL ? declared->type : NULL, type);
}

static int
compare_strings (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static char **
data_files (const GantryOnnxFile *file)
{
  GPtrArray *paths = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer location;

  g_hash_table_iter_init (&iter, file->external);
  while (file->folder != NULL && g_hash_table_iter_next (&iter, &location, NULL))
    g_ptr_array_add (paths, gantry_onnx_file_external_path (file, location));
  g_ptr_array_sort (paths, compare_strings);
  g_ptr_array_add (paths, NULL);
  return (char **) g_ptr_array_free (paths, FALSE);
}

void
gantry_onnx_info_add_values (GantryOnnxImport *import, const GantryModule *module)
{
  const Onnx__GraphProto *graph = import->file->model->graph;
  const GantryFunction *entry = gantry_module_entry (module);
  GantryOnnxInfo *info = import->info;
  g_autoptr (GHashTable) declared = g_hash_table_new (g_str_hash, g_str_equal);

  for (gsize i = 0; i < graph->n_input; i++)
    if (graph->input[i]->name != NULL)
      g_hash_table_insert (declared, graph->input[i]->name, graph->input[i]);
  info->n_inputs = entry->n_params;
  info->inputs = g_new0 (GantryOnnxValue, entry->n_params + 1);
  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      const char *name = gantry_context_string (import->context, node->name);

      set_value (import, &info->inputs[i], g_hash_table_lookup (declared, name), name, node->type);
    }
  info->n_outputs = entry->n_results;
  info->outputs = g_new0 (GantryOnnxValue, entry->n_results + 1);
  for (guint i = 0; i < entry->n_results; i++)
    set_value (import, &info->outputs[i], graph->output[i], graph->output[i]->name,
               gantry_module_node (module, gantry_function_result_id (module, entry, i))->type);
  g_ptr_array_add (import->unbound, NULL);
  info->data_files = data_files (import->file);
  info->unbound = g_strdupv ((char **) import->unbound->pdata);
  g_ptr_array_add (import->warnings, NULL);
  info->warnings = g_strdupv ((char **) import->warnings->pdata);
}
