/* SPDX-License-Identifier: Apache-2.0 */
/* From a model file to a module: opens the file, writes the graph as it stands, finds the types,
 * and collects what the file says about itself. */
#include "core/frontends/onnx/onnx-import-private.h"
#include <string.h>

#define CANCEL_EVERY 4096u

void
gantry_onnx_warn (GantryOnnxImport *import, const char *format, ...)
{
  va_list args;

  if (import->warnings->len >= GANTRY_ONNX_MAX_WARNINGS)
    return;
  va_start (args, format);
  g_ptr_array_add (import->warnings, g_strdup_vprintf (format, args));
  va_end (args);
}

gboolean
gantry_onnx_count (GantryOnnxImport *import, guint n, GError **error)
{
  if (n > import->max_nodes - import->n_written)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "the model has more than %u nodes with its functions written out, which is the limit",
                   import->max_nodes);
      return FALSE;
    }
  if (import->n_written / CANCEL_EVERY != (import->n_written + n) / CANCEL_EVERY && gantry_progress_cancelled (import->progress, error))
    return FALSE;
  import->n_written += n;
  return TRUE;
}

/* Operator sets */

static gboolean
read_opsets (GantryOnnxImport *import, GError **error)
{
  const Onnx__ModelProto *model = import->file->model;

  for (gsize i = 0; i < model->n_opset_import; i++)
    {
      const char *domain = gantry_onnx_domain (model->opset_import[i]->domain);
      gint64 version = model->opset_import[i]->version;

      if (version < 0 || version > G_MAXINT)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "operator set '%s' has version %" G_GINT64_FORMAT "; the file is damaged", domain, version);
          return FALSE;
        }
      g_hash_table_insert (import->opsets, (gpointer) domain, GINT_TO_POINTER ((gint) version));
      if (*domain == '\0' && (version < GANTRY_ONNX_OLDEST_OPSET || version > GANTRY_ONNX_NEWEST_OPSET))
        gantry_onnx_warn (import,
                          "The model is written in operator set %" G_GINT64_FORMAT ", and Gantry knows %d to %d; an operation "
                          "that changed between them may be refused.",
                          version, GANTRY_ONNX_OLDEST_OPSET, GANTRY_ONNX_NEWEST_OPSET);
    }
  /* Before IR version 3 there was but one operator set, the first. */
  if (model->n_opset_import == 0 && model->ir_version < 3)
    g_hash_table_insert (import->opsets, (gpointer) "", GINT_TO_POINTER (1));
  else if (model->n_opset_import == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                   "the model does not say which operator set its operations are of (opset_import); it is "
                   "cut short or "
                   "damaged");
      return FALSE;
    }
  return TRUE;
}

/* Life of an import */

static void
import_init (GantryOnnxImport *import, GantryContext *context, GantryOnnxFile *file, const GantryOnnxOptions *options, const GantryProgress *progress)
{
  *import = (GantryOnnxImport){ .context = context, .file = file, .options = options, .progress = progress };
  import->builder = gantry_builder_new (context, file->name);
  import->info = g_new0 (GantryOnnxInfo, 1);
  import->file_string = gantry_context_intern (context, file->name);
  import->max_nodes = options->max_nodes != 0 ? options->max_nodes : GANTRY_ONNX_DEFAULT_MAX_NODES;
  import->opsets = g_hash_table_new (g_str_hash, g_str_equal);
  import->functions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  import->calls = g_hash_table_new (NULL, NULL);
  import->captures = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_ptr_array_unref);
  import->operations = g_hash_table_new (NULL, NULL);
  import->no_opset = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  import->symbols = g_hash_table_new (g_str_hash, g_str_equal);
  import->unbound = g_ptr_array_new_with_free_func (g_free);
  import->warnings = g_ptr_array_new_with_free_func (g_free);
  import->dim_used = g_new0 (guint8, options->n_dims + 1);
  gantry_context_add_dialect (context, gantry_onnx_dialect ());
}

static void
import_clear (GantryOnnxImport *import)
{
  gantry_builder_free (import->builder);
  g_clear_pointer (&import->info, gantry_onnx_info_free);
  g_hash_table_unref (import->opsets);
  g_hash_table_unref (import->functions);
  g_hash_table_unref (import->calls);
  g_hash_table_unref (import->captures);
  g_hash_table_unref (import->operations);
  g_hash_table_unref (import->no_opset);
  g_hash_table_unref (import->symbols);
  g_ptr_array_unref (import->unbound);
  g_ptr_array_unref (import->warnings);
  g_free (import->dim_used);
}

static GantryModule *
import_run (GantryOnnxImport *import, GError **error)
{
  g_autoptr (GantryModule) written = NULL, module = NULL;

  gantry_onnx_info_describe (import);
  gantry_progress_report (import->progress, 0.1, "reading the graph");
  if (!read_opsets (import, error) || !gantry_onnx_collect_functions (import, error) || !gantry_onnx_check_expansion (import, error)
      || !gantry_onnx_write_graph (import, import->file->model->graph, error) || !gantry_onnx_check_dims (import, error))
    return NULL;
  written = gantry_builder_finish (import->builder, error);
  if (written == NULL)
    return NULL;
  module = gantry_module_set_inputs (written, import->options->values, import->options->n_values, error);
  if (module == NULL)
    return NULL;
  if (!gantry_onnx_infer (import, module, error))
    return NULL;
  gantry_onnx_info_add_values (import, module);
  return g_steal_pointer (&module);
}

static GantryModule *
import_file (GantryContext *context, GantryOnnxFile *file, const GantryOnnxOptions *options, GantryOnnxInfo **info, const GantryProgress *progress,
             GError **error)
{
  static const GantryOnnxOptions defaults = { 0 };
  GantryOnnxImport import;
  GantryModule *module;

  import_init (&import, context, file, options != NULL ? options : &defaults, progress);
  module = import_run (&import, error);
  if (module == NULL)
    gantry_error_prefix (error, "%s: ", file->name);
  else if (info != NULL)
    *info = g_steal_pointer (&import.info);
  import_clear (&import);
  return module;
}

GantryModule *
gantry_onnx_import (GantryContext *context, const char *path, const GantryOnnxOptions *options, GantryOnnxInfo **info, const GantryProgress *progress,
                    GError **error)
{
  g_autoptr (GantryOnnxFile) file = NULL;

  g_return_val_if_fail (context != NULL && path != NULL, NULL);
  gantry_progress_report (progress, 0.0, "opening the file");
  file = gantry_onnx_file_open (path, &onnx__model_proto__descriptor, progress, error);
  if (file == NULL)
    return NULL;
  file->anywhere = options != NULL && options->outside;
  return import_file (context, file, options, info, progress, error);
}

GantryModule *
gantry_onnx_import_bytes (GantryContext *context, GBytes *bytes, const char *name, const GantryOnnxOptions *options, GantryOnnxInfo **info,
                          const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryOnnxFile) file = NULL;

  g_return_val_if_fail (context != NULL && bytes != NULL && name != NULL, NULL);
  file = gantry_onnx_file_from_bytes (bytes, name, &onnx__model_proto__descriptor, progress, error);
  return file != NULL ? import_file (context, file, options, info, progress, error) : NULL;
}
