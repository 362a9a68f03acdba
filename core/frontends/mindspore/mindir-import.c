/* SPDX-License-Identifier: Apache-2.0 */
/* The course of an import: index, inputs, weights, the nodes of the main graph, its outputs. */
#include "core/frontends/mindspore/mindir-private.h"
#include <string.h>

static void
set_plain_place (MindImport *import, const char *what, const char *name)
{
  g_autofree char *text = g_strdup_printf ("%s '%s'", what, name);
  GantryLocation location = { .file = import->file, .text = gantry_context_intern (import->context, text) };

  gantry_builder_set_place (import->b, 0, gantry_context_location (import->context, &location));
}

/* "42_Net_construct_16:fc.weight": what stands behind the name of the graph. */
static char *
own_name (const char *full)
{
  const char *colon = strchr (full, ':');

  return g_utf8_make_valid (colon != NULL && colon[1] != '\0' ? colon + 1 : full, -1);
}

/* Inputs */

static MindValue *
write_input (MindImport *import, const MindValue *declared, const char *name)
{
  MindValue *value;

  if (declared->kind == MIND_NODE)
    {
      set_plain_place (import, "input", name);
      return gantry_mind_node_value (import, gantry_builder_parameter (import->b, declared->node, name));
    }
  if (declared->kind != MIND_TUPLE)
    return gantry_mind_value_new (import, (MindKind) declared->kind);
  value = gantry_mind_tuple_new (import, declared->n);
  for (guint i = 0; i < declared->n; i++)
    {
      g_autofree char *inner = g_strdup_printf ("%s.%u", name, i);

      value->members[i] = write_input (import, declared->members[i], inner);
    }
  return gantry_mind_tuple_close (import, value) ? value : NULL;
}

static void
write_inputs (MindImport *import, const MindGraph *graph)
{
  for (guint i = 0; i < graph->inputs->len && import->error == NULL; i++)
    {
      const MindInput *input = &g_array_index (graph->inputs, MindInput, i);
      g_autofree char *name = own_name (gantry_interner_string (import->names, input->name));
      MindAttr attr = { .type = MIND_TYPE_TENSORS, .n_tensors = 1, .tensors = &input->tensor };
      MindValue *declared;

      if (input->tensor.data == NULL && input->info.data != NULL)
        gantry_mind_read_attr (import, input->info, 0, &attr);
      else if (input->tensor.data == NULL)
        attr = (MindAttr){ 0 };
      declared = import->error == NULL ? gantry_mind_declared (import, &attr, name) : NULL;
      if (declared != NULL)
        gantry_mind_bind (import, input->name, write_input (import, declared, name));
    }
}

/* Weights */

/* Statistics that the optimizer does not touch. */
static gboolean
is_buffer (const char *name)
{
  return g_str_has_suffix (name, "moving_mean") || g_str_has_suffix (name, "moving_variance");
}

/* @attrs: of a constant */
static guint32
write_value (MindImport *import, GantryLiteral *literal, const char *name, guint32 attrs)
{
  guint32 type = gantry_context_type_id (import->context, literal->type);

  if (import->options->open_weights)
    {
      g_ptr_array_add (import->info->weights, gantry_literal_ref (literal));
      return gantry_builder_parameter (import->b, type, name);
    }
  gantry_builder_set_name (import->b, gantry_context_intern (import->context, name));
  return gantry_builder_add_typed (import->b, GANTRY_OP_CONSTANT, NULL, 0, attrs, type);
}

static void
write_weight (MindImport *import, GantryWireSpan message)
{
  g_autoptr (GantryLiteral) literal = NULL;
  g_autofree char *name = NULL;
  GantryAttrList *list;
  MindTensor tensor;
  guint32 id;

  gantry_mind_read_tensor (import, message, &tensor);
  name = own_name (gantry_mind_text (import, tensor.name));
  if (import->error != NULL)
    return;
  set_plain_place (import, "parameter", name);
  if (gantry_mind_tensor_has_data (&tensor))
    {
      literal = gantry_mind_tensor_literal (import, &tensor);
      if (literal == NULL)
        return;
      list = gantry_attr_list_new (import->context);
      gantry_attr_list_set_literal (list, "value", gantry_context_add_literal (import->context, literal));
      if (is_buffer (name))
        gantry_attr_list_set_string (list, "role", "buffer");
      import->info->n_weights++;
      import->info->weight_bytes += (guint64) MAX (gantry_type_bytes (literal->type), 0);
      id = write_value (import, literal, name, gantry_attr_list_end (list));
    }
  else
    id = gantry_builder_parameter (import->b, gantry_mind_tensor_type (import, &tensor, name), name);
  g_hash_table_add (import->weights, GUINT_TO_POINTER (id));
  gantry_mind_bind (import, gantry_mind_intern (import, tensor.name), gantry_mind_node_value (import, id));
}

/* A weight without a value is an input, and those come first; the state of random numbers is between. */
static void
write_weights (MindImport *import, const MindGraph *graph)
{
  for (guint pass = 0; pass < 2; pass++)
    {
      for (guint i = 0; i < graph->parameters->len && import->error == NULL; i++)
        {
          GantryWireSpan message = g_array_index (graph->parameters, GantryWireSpan, i);
          MindTensor tensor;

          gantry_mind_read_tensor (import, message, &tensor);
          if (import->error == NULL && gantry_mind_tensor_has_data (&tensor) == (pass == 1))
            write_weight (import, message);
        }
      if (pass == 0)
        gantry_mind_write_random_state (import);
    }
}

/* A constant stands in one of the graphs that use it, whichever was written first. */
static void
read_constants (MindImport *import)
{
  for (guint g = 0; g < import->graphs->len; g++)
    {
      const MindGraph *graph = g_ptr_array_index (import->graphs, g);

      for (guint i = 0; i < graph->nodes->len && import->error == NULL; i++)
        {
          const MindNode *node = &g_array_index (graph->nodes, MindNode, i);
          MindValue *value = gantry_mind_is_constant (import, node) ? gantry_mind_constant (import, node) : NULL;

          if (value != NULL)
            gantry_mind_bind (import, node->output, value);
          else if (import->error != NULL)
            gantry_error_prefix (&import->error, "constant %u '%s': ", i + 1, gantry_interner_string (import->names, node->output));
        }
    }
}

/* Outputs */

/* What is a parameter of the module is written over by what it becomes, where that fits. */
static void
set_alias (MindImport *import, guint32 id, guint32 becomes, guint result)
{
  const GantryNode *node = gantry_builder_node (import->b, id);
  GantryAttrList *attrs;

  if (node == NULL || node->op != GANTRY_OP_PARAMETER || gantry_builder_type (import->b, id) != gantry_builder_type (import->b, becomes))
    return;
  attrs = gantry_attr_list_new (import->context);
  gantry_attr_list_set_all (attrs, node->attrs);
  gantry_attr_list_set_int (attrs, "alias", result);
  gantry_builder_set_parameter_attrs (import->b, id, gantry_attr_list_end (attrs));
}

/* What parameters become stands behind the outputs. */
static void
write_assignments (MindImport *import, GArray *results)
{
  g_autoptr (GHashTable) done = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < import->assignments->len && import->error == NULL; i++)
    {
      MindValue *parameter = g_array_index (import->assignments, MindAssignment, i).parameter;
      guint32 id;

      if (!g_hash_table_add (done, GUINT_TO_POINTER (parameter->node)))
        continue;
      id = gantry_mind_use (import, gantry_mind_assigned (import, parameter, import->assignments->len));
      if (import->error != NULL)
        return;
      set_alias (import, parameter->node, id, results->len);
      g_array_append_val (results, id);
      import->info->n_assigned++;
    }
}

static void
write_outputs (MindImport *import, MindValue *value)
{
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));

  gantry_mind_flatten (value, leaves);
  for (guint i = 0; i < leaves->len && import->error == NULL; i++)
    if (gantry_mind_is_data (g_ptr_array_index (leaves, i)))
      {
        guint32 id = gantry_mind_use (import, g_ptr_array_index (leaves, i));

        g_array_append_val (results, id);
      }
  write_assignments (import, results);
  if (import->error == NULL && results->len == 0)
    gantry_mind_fail (import, GANTRY_ERROR_INVALID, "the model has no output that is a tensor");
  gantry_mind_region_end (import, (const guint32 *) (gpointer) results->data, import->error == NULL ? results->len : 0);
}

static void
write_model (MindImport *import)
{
  const MindGraph *graph = g_ptr_array_index (import->graphs, 0);
  g_autofree MindValue **arguments = g_new0 (MindValue *, graph->inputs->len + 1);
  MindRegion *entry = gantry_mind_region_begin (import, "main");
  MindValue *value = NULL;

  read_constants (import);
  write_inputs (import, graph);
  write_weights (import, graph);
  for (guint i = 0; i < graph->inputs->len && import->error == NULL; i++)
    arguments[i] = g_ptr_array_index (import->values, g_array_index (graph->inputs, MindInput, i).name);
  if (import->error == NULL)
    value = gantry_mind_write_graph (import, 0, arguments, graph->inputs->len);
  if (value != NULL)
    write_outputs (import, value);
  gantry_mind_region_free (entry);
}

/* Life of an import */

static void
import_init (MindImport *import, GantryContext *context, GBytes *bytes, const char *name, const GantryMindsporeOptions *options, const GantryProgress *progress)
{
  *import = (MindImport){ .context = context, .options = options, .progress = progress, .bytes = bytes };
  import->begin = g_bytes_get_data (bytes, NULL);
  import->b = gantry_builder_new (context, name);
  import->info = g_new0 (GantryMindsporeInfo, 1);
  import->info->producer = g_strdup ("");
  import->info->unknown = g_ptr_array_new_with_free_func (g_free);
  import->info->unbound = g_ptr_array_new_with_free_func (g_free);
  import->info->files = g_ptr_array_new_with_free_func (g_free);
  import->info->weights = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  import->weights = g_hash_table_new (NULL, NULL);
  import->assignments = g_array_new (FALSE, FALSE, sizeof (MindAssignment));
  import->assigned = g_hash_table_new (NULL, NULL);
  import->file = gantry_context_intern (context, name);
  import->arena = gantry_arena_new ();
  import->names = gantry_interner_new ();
  import->inputs = g_array_new (FALSE, FALSE, sizeof (guint32));
  import->graphs = g_ptr_array_new ();
  import->by_name = g_hash_table_new (NULL, NULL);
  import->primitives = g_hash_table_new (NULL, NULL);
  import->values = g_ptr_array_new ();
  import->literals = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  import->regions = g_ptr_array_new ();
  import->loops = g_array_new (FALSE, FALSE, sizeof (guint));
  import->operations = g_hash_table_new (NULL, NULL);
  import->external = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
  import->symbols = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  import->max_nodes = options->max_nodes != 0 ? options->max_nodes : MIND_DEFAULT_MOST_NODES;
  for (guint i = 0; i < options->n_dims; i++)
    g_hash_table_insert (import->symbols, g_strdup (options->dims[i].name), g_memdup2 (&options->dims[i].value, sizeof (gint64)));
  gantry_context_add_dialect (context, gantry_mindspore_dialect ());
}

static void
import_clear (MindImport *import)
{
  gantry_builder_free (import->b);
  g_clear_pointer (&import->info, gantry_mindspore_info_free);
  g_clear_error (&import->error);
  gantry_arena_free (import->arena);
  gantry_interner_free (import->names);
  g_array_unref (import->inputs);
  g_ptr_array_unref (import->graphs);
  g_hash_table_unref (import->by_name);
  g_hash_table_unref (import->primitives);
  g_ptr_array_unref (import->values);
  g_ptr_array_unref (import->literals);
  g_ptr_array_unref (import->regions);
  g_array_unref (import->loops);
  g_array_unref (import->assignments);
  g_hash_table_unref (import->assigned);
  g_hash_table_unref (import->weights);
  g_hash_table_unref (import->operations);
  g_hash_table_unref (import->external);
  g_hash_table_unref (import->symbols);
}

static int
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
finish_info (MindImport *import)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, import->operations);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      const char *name = gantry_context_op_name (import->context, (guint16) GPOINTER_TO_UINT (key));

      if (!gantry_mindspore_knows_operation (name))
        g_ptr_array_add (import->info->unknown, g_strdup (name));
    }
  g_ptr_array_sort (import->info->unknown, compare_texts);
}

static GantryModule *
import_run (MindImport *import)
{
  GantryWireSpan whole = { import->begin, g_bytes_get_size (import->bytes) };
  GantryModule *module;

  gantry_progress_report (import->progress, 0.0, "reading the model");
  gantry_mind_index (import, whole);
  if (import->error == NULL)
    write_model (import);
  if (import->error != NULL)
    return NULL;
  module = gantry_builder_finish (import->b, &import->error);
  if (module != NULL)
    finish_info (import);
  return module;
}

static GantryModule *
import_model (GantryContext *context, GBytes *bytes, const char *name, const char *path, const GantryMindsporeOptions *options, GantryMindsporeInfo **info,
              const GantryProgress *progress, GError **error)
{
  static const GantryMindsporeOptions defaults = { 0 };
  g_autoptr (GBytes) translated = g_str_has_suffix (name, ".ir") ? gantry_mind_from_text (bytes) : NULL;
  MindImport import;
  GantryModule *module;

  import_init (&import, context, translated != NULL ? translated : bytes, name, options != NULL ? options : &defaults, progress);
  import.path = translated == NULL ? path : NULL;
  module = import_run (&import);
  if (module == NULL)
    {
      gantry_error_prefix (&import.error, "%s: ", name);
      g_propagate_error (error, g_steal_pointer (&import.error));
    }
  else if (info != NULL)
    *info = g_steal_pointer (&import.info);
  import_clear (&import);
  return module;
}

void
gantry_mindspore_info_free (GantryMindsporeInfo *info)
{
  g_free (info->producer);
  g_ptr_array_unref (info->unknown);
  g_ptr_array_unref (info->unbound);
  g_ptr_array_unref (info->files);
  g_ptr_array_unref (info->weights);
  g_free (info);
}

gboolean
gantry_mindspore_reads (const char *path)
{
  return g_str_has_suffix (path, ".mindir") || g_str_has_suffix (path, ".ir");
}

GantryModule *
gantry_mindspore_import (GantryContext *context, const char *path, const GantryMindsporeOptions *options, GantryMindsporeInfo **info,
                         const GantryProgress *progress, GError **error)
{
  g_autoptr (GMappedFile) file = NULL;
  g_autoptr (GBytes) bytes = NULL;

  g_return_val_if_fail (context != NULL && path != NULL, NULL);
  file = gantry_file_map (path, error);
  if (file == NULL)
    return NULL;
  bytes = g_mapped_file_get_bytes (file);
  return import_model (context, bytes, path, path, options, info, progress, error);
}

GantryModule *
gantry_mindspore_import_bytes (GantryContext *context, GBytes *bytes, const char *name, const GantryMindsporeOptions *options, GantryMindsporeInfo **info,
                               const GantryProgress *progress, GError **error)
{
  g_return_val_if_fail (context != NULL && bytes != NULL && name != NULL, NULL);
  return import_model (context, bytes, name, NULL, options, info, progress, error);
}
