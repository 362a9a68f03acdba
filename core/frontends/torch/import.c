/* SPDX-License-Identifier: Apache-2.0 */
/* From an archive to a module: finds the program in it, writes inputs, graph and outputs as its signature has them. */
#include "core/base/file.h"
#include "core/frontends/torch/torch-private.h"
#include <string.h>

#define MODEL_ENTRY "models/model.json"

void
gantry_torch_info_free (GantryTorchInfo *info)
{
  if (info == NULL)
    return;
  g_free (info->producer);
  g_ptr_array_unref (info->unknown);
  g_ptr_array_unref (info->unbound);
  g_ptr_array_unref (info->warnings);
  g_free (info);
}

/* Layouts */

static gint64
find_suffix (const GantryZip *zip, const char *suffix)
{
  for (guint i = 0; i < gantry_zip_count (zip); i++)
    {
      const char *name = gantry_zip_name (zip, i);

      if (strcmp (name, suffix) == 0 || (g_str_has_suffix (name, suffix) && name[strlen (name) - strlen (suffix) - 1] == '/'))
        return i;
    }
  return -1;
}

#define HOW_TO_EXPORT "export the module: torch.export.save (torch.export.export (module, (example_input,)), \"model.pt2\")"

/* All entries stand in one folder of any name. */
static gboolean
find_prefix (TorchImport *import, GError **error)
{
  gint64 model = find_suffix (import->zip, MODEL_ENTRY);
  const char *name;

  if (model >= 0)
    {
      name = gantry_zip_name (import->zip, (guint) model);
      import->prefix = g_strndup (name, strlen (name) - strlen (MODEL_ENTRY));
      return TRUE;
    }
  if (find_suffix (import->zip, "serialized_exported_program.json") >= 0)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                 "its weights are pickled, as torch before 2.9 saved them, and a pickle is a program, which is not run; load it with "
                 "torch.export.load and save it again by torch 2.9 or newer");
  else if (find_suffix (import->zip, "constants.pkl") >= 0)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                 "it is TorchScript, as torch.jit.save writes it; " HOW_TO_EXPORT ", with the module that it was scripted or traced from");
  else if (find_suffix (import->zip, "data.pkl") >= 0)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                 "it is what torch.save writes: weights or a module as a pickle, which is a program and is not run; load it in Python and " HOW_TO_EXPORT);
  else
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the archive holds no " MODEL_ENTRY ", so it is no exported program");
  return FALSE;
}

/* Bytes are used as they lie. */
static gboolean
check_byte_order (TorchImport *import, GError **error)
{
  g_autofree char *name = g_strconcat (import->prefix, "byteorder", NULL);
  gint64 index = gantry_zip_find (import->zip, name);
  g_autoptr (GBytes) bytes = index >= 0 ? gantry_zip_read (import->zip, (guint) index, 64, error) : NULL;
  gsize n = 0;
  const char *text = bytes != NULL ? g_bytes_get_data (bytes, &n) : NULL;

  if (index >= 0 && bytes == NULL)
    return FALSE;
  if (n == 3 && memcmp (text, "big", 3) == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "its weights are written big end first, which is not read");
      return FALSE;
    }
  return TRUE;
}

/* Signature */

/* The tensor that an entry of the signature names: {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}}. */
static const char *
entry_name (const TorchJson *entry)
{
  const TorchJson *argument = gantry_torch_json_object (entry, "arg");
  const char *name = gantry_torch_json_string (argument, "name");

  return name != NULL ? name : gantry_torch_json_string (gantry_torch_json_object (argument, "as_tensor"), "name");
}

static const TorchJson *
meta_of (TorchFrame *frame, const char *name)
{
  return gantry_torch_json_object (gantry_torch_json_object (frame->graph, "tensor_values"), name);
}

static gboolean
write_input (TorchFrame *frame, const char *name, GError **error)
{
  TorchImport *import = frame->import;
  const TorchJson *meta = meta_of (frame, name);
  guint32 type = meta != NULL ? gantry_torch_type (import, meta, error) : 0;

  if (meta == NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "input '%s' has no type; the archive is damaged", name);
  if (type == 0 || g_hash_table_contains (frame->values, name))
    return FALSE;
  gantry_torch_set_plain_place (import, "input", name);
  g_hash_table_insert (frame->values, (gpointer) name, gantry_torch_value_new (import, gantry_builder_parameter (import->b, type, name), meta));
  return TRUE;
}

static void
count_weight (TorchImport *import, const TorchJson *meta)
{
  guint32 id = meta != NULL ? gantry_torch_type (import, meta, NULL) : 0;

  import->info->n_weights++;
  import->info->weight_bytes += (guint64) MAX (gantry_type_bytes (gantry_context_type (import->context, id)), 0);
}

static gboolean
write_inputs (TorchFrame *frame, const TorchJson *specs, GError **error)
{
  static const char *const kinds[][2] = { { "parameter", "parameter_name" }, { "buffer", "buffer_name" }, { "tensor_constant", "tensor_constant_name" } };

  for (guint i = 0; specs != NULL && i < specs->n; i++)
    {
      const TorchJson *spec = gantry_torch_json_element (specs, i), *user = gantry_torch_json_object (spec, "user_input");
      const char *name = entry_name (user);

      if (name != NULL)
        {
          gantry_torch_bind_axes (frame->import, name, meta_of (frame, name));
          if (!write_input (frame, name, error))
            {
              if (error != NULL && *error == NULL)
                g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "input '%s' is named twice; the archive is damaged", name);
              return FALSE;
            }
        }
      for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
        {
          const TorchJson *weight = gantry_torch_json_object (spec, kinds[k][0]);
          TorchValue *value;

          name = entry_name (weight);
          if (name == NULL || gantry_torch_json_string (weight, kinds[k][1]) == NULL)
            continue;
          value = gantry_torch_value_new (frame->import, 0, meta_of (frame, name));
          value->weight = gantry_torch_json_string (weight, kinds[k][1]);
          value->is_buffer = k > 0;
          count_weight (frame->import, value->meta);
          g_hash_table_insert (frame->values, (gpointer) name, value);
        }
    }
  return TRUE;
}

static gboolean
append_output (TorchFrame *frame, const char *name, GArray *results, GError **error)
{
  TorchValue *value = g_hash_table_lookup (frame->values, name);
  guint32 id;

  if (value == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "output '%s' is given by no node; the archive is damaged", name);
      return FALSE;
    }
  id = gantry_torch_value_id (frame, value, error);
  g_array_append_val (results, id);
  return id != 0;
}

/* The outputs that the user sees, then what is written to buffers and inputs. */
static gboolean
write_outputs (TorchFrame *frame, const TorchJson *specs, GError **error)
{
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; specs != NULL && i < specs->n; i++)
      {
        const TorchJson *value = NULL;
        const char *kind = gantry_torch_json_union (gantry_torch_json_element (specs, i), &value);
        gboolean is_user = kind != NULL && (strcmp (kind, "user_output") == 0 || strcmp (kind, "loss_output") == 0);
        const char *name = kind != NULL && value->kind == TORCH_JSON_OBJECT ? entry_name (value) : NULL;

        if (name != NULL && is_user == (pass == 0) && strcmp (kind, "token") != 0 && !append_output (frame, name, results, error))
          return FALSE;
      }
  if (results->len == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the program has no output that is a tensor");
      return FALSE;
    }
  gantry_builder_end (frame->import->b, (const guint32 *) (gpointer) results->data, results->len);
  return TRUE;
}

static gboolean
write_program (TorchImport *import, GError **error)
{
  const TorchJson *root = gantry_torch_json_parse (import, MODEL_ENTRY, error);
  const TorchJson *module = gantry_torch_json_object (root, "graph_module"), *signature = gantry_torch_json_object (module, "signature");
  g_autoptr (GHashTable) values = g_hash_table_new (g_str_hash, g_str_equal);
  TorchFrame frame = { import, gantry_torch_json_object (module, "graph"), values, 0 };
  const char *version = gantry_torch_json_string (root, "torch_version");

  if (root == NULL)
    return FALSE;
  if (frame.graph == NULL || signature == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, MODEL_ENTRY " has no graph or no signature; the archive is damaged");
      return FALSE;
    }
  import->info->producer = version != NULL ? g_strconcat ("torch ", version, NULL) : g_strdup ("");
  gantry_torch_json_int (gantry_torch_json_object (root, "schema_version"), "major", &import->info->schema);
  gantry_builder_begin (import->b, "main", 0);
  return write_inputs (&frame, gantry_torch_json_array (signature, "input_specs"), error) && gantry_torch_write_graph (&frame, error)
         && write_outputs (&frame, gantry_torch_json_array (signature, "output_specs"), error);
}

/* Life of an import */

static void
import_init (TorchImport *import, GantryContext *context, const char *name, const GantryTorchOptions *options, const GantryProgress *progress)
{
  *import = (TorchImport){ .context = context, .options = options, .progress = progress };
  import->b = gantry_builder_new (context, name);
  import->info = g_new0 (GantryTorchInfo, 1);
  import->info->unknown = g_ptr_array_new_with_free_func (g_free);
  import->info->unbound = g_ptr_array_new_with_free_func (g_free);
  import->info->warnings = g_ptr_array_new_with_free_func (g_free);
  import->file = gantry_context_intern (context, name);
  import->trees = g_ptr_array_new_with_free_func (gantry_torch_tree_free);
  import->literals = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  import->symbols = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  import->unbound = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  import->operations = g_hash_table_new (NULL, NULL);
  import->values = g_ptr_array_new_with_free_func (g_free);
  import->max_nodes = options->max_nodes != 0 ? options->max_nodes : TORCH_DEFAULT_MOST_NODES;
  for (guint i = 0; i < options->n_dims; i++)
    g_hash_table_insert (import->symbols, g_strdup (options->dims[i].name), g_memdup2 (&options->dims[i].value, sizeof (gint64)));
  gantry_context_add_dialect (context, gantry_torch_dialect ());
}

static void
import_clear (TorchImport *import)
{
  gantry_builder_free (import->b);
  g_clear_pointer (&import->info, gantry_torch_info_free);
  gantry_zip_free (import->zip);
  g_free (import->prefix);
  g_ptr_array_unref (import->trees);
  g_clear_pointer (&import->payloads, g_hash_table_unref);
  g_hash_table_unref (import->literals);
  g_hash_table_unref (import->symbols);
  g_hash_table_unref (import->unbound);
  g_hash_table_unref (import->operations);
  g_ptr_array_unref (import->values);
}

static int
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
finish_info (TorchImport *import)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, import->operations);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      const char *name = gantry_context_op_name (import->context, (guint16) GPOINTER_TO_UINT (key));

      if (!gantry_torch_knows_operation (name))
        g_ptr_array_add (import->info->unknown, g_strdup (name));
    }
  g_hash_table_iter_init (&iter, import->unbound);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_ptr_array_add (import->info->unbound, g_strdup (key));
  g_ptr_array_sort (import->info->unknown, compare_texts);
  g_ptr_array_sort (import->info->unbound, compare_texts);
}

static GantryModule *
import_run (TorchImport *import, GBytes *bytes, GError **error)
{
  GantryModule *module;

  gantry_progress_report (import->progress, 0.0, "reading the archive");
  import->zip = gantry_zip_open (bytes, error);
  if (import->zip == NULL || !find_prefix (import, error) || !check_byte_order (import, error) || !gantry_torch_read_payloads (import, error)
      || !write_program (import, error))
    return NULL;
  module = gantry_builder_finish (import->b, error);
  if (module != NULL)
    finish_info (import);
  return module;
}

static GantryModule *
import_archive (GantryContext *context, GBytes *bytes, const char *name, const char *path, const GantryTorchOptions *options, GantryTorchInfo **info,
                const GantryProgress *progress, GError **error)
{
  static const GantryTorchOptions defaults = { 0 };
  TorchImport import;
  GantryModule *module;

  import_init (&import, context, name, options != NULL ? options : &defaults, progress);
  import.path = path;
  module = import_run (&import, bytes, error);
  if (module == NULL)
    gantry_error_prefix (error, "%s: ", name);
  else if (info != NULL)
    *info = g_steal_pointer (&import.info);
  import_clear (&import);
  return module;
}

gboolean
gantry_torch_reads (const char *path)
{
  g_autoptr (GMappedFile) file = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GantryZip) zip = NULL;

  if (g_str_has_suffix (path, ".pt2"))
    return TRUE;
  file = gantry_file_map (path, NULL);
  if (file == NULL || g_mapped_file_get_length (file) < 4 || memcmp (g_mapped_file_get_contents (file), "PK\x03\x04", 4) != 0)
    return FALSE;
  bytes = g_mapped_file_get_bytes (file);
  zip = gantry_zip_open (bytes, NULL);
  return zip != NULL
         && (find_suffix (zip, MODEL_ENTRY) >= 0 || find_suffix (zip, "serialized_exported_program.json") >= 0
             || find_suffix (zip, "data.pkl") >= 0); /* which is refused, with what to do */
}

GantryModule *
gantry_torch_import (GantryContext *context, const char *path, const GantryTorchOptions *options, GantryTorchInfo **info, const GantryProgress *progress,
                     GError **error)
{
  g_autoptr (GMappedFile) file = NULL;
  g_autoptr (GBytes) bytes = NULL;

  g_return_val_if_fail (context != NULL && path != NULL, NULL);
  file = gantry_file_map (path, error);
  if (file == NULL)
    return NULL;
  bytes = g_mapped_file_get_bytes (file);
  return import_archive (context, bytes, path, path, options, info, progress, error);
}

GantryModule *
gantry_torch_import_bytes (GantryContext *context, GBytes *bytes, const char *name, const GantryTorchOptions *options, GantryTorchInfo **info,
                           const GantryProgress *progress, GError **error)
{
  g_return_val_if_fail (context != NULL && bytes != NULL && name != NULL, NULL);
  return import_archive (context, bytes, name, NULL, options, info, progress, error);
}
