/* SPDX-License-Identifier: Apache-2.0 */
/* Which snapshot is written, and by which writer. */
#include "core/compiler/export.h"
#include "core/base/output.h"
#include "core/frontends/mindspore/mindspore.h"
#include "core/frontends/onnx/onnx.h"
#include "core/frontends/xla/xla.h"
#include "core/graph/text.h"
#include "core/passes/passes.h"
#include <string.h>

/* @dialect: (nullable): whose operations the format can say as they were imported */
static const struct
{
  GantryExportFormat format;
  const char *name, *ending, *dialect;
} formats[] = {
  { GANTRY_EXPORT_ONNX, "onnx", ".onnx", "onnx." },
  { GANTRY_EXPORT_STABLEHLO, "stablehlo", ".mlir", NULL },
  { GANTRY_EXPORT_STABLEHLO, "stablehlo", ".stablehlo", NULL },
  { GANTRY_EXPORT_MINDIR, "mindir", ".mindir", NULL },
  { GANTRY_EXPORT_TEXT, "gir", ".gir", "" },
};

GantryExportFormat
gantry_export_format_of (const char *path)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (g_str_has_suffix (path, formats[i].ending))
      return formats[i].format;
  return GANTRY_EXPORT_NONE;
}

GantryExportFormat
gantry_export_format_named (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (strcmp (name, formats[i].name) == 0)
      return formats[i].format;
  return GANTRY_EXPORT_NONE;
}

static const char *
dialect_of (GantryExportFormat format)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i].format == format)
      return formats[i].dialect;
  return NULL;
}

/* Whether all imported operations of @module are of @dialect; there may be none. */
static gboolean
is_said (const GantryModule *module, const char *dialect)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (module->nodes[i].op >= GANTRY_OP_FOREIGN && (dialect == NULL || !g_str_has_prefix (gantry_node_op_name (module, &module->nodes[i]), dialect)))
      return FALSE;
  return TRUE;
}

static const GantrySnapshot *
find (const GantryCompilation *compilation, const char *pass)
{
  for (guint i = compilation->n_snapshots; i-- > 0;)
    if (strcmp (compilation->snapshots[i].pass, pass) == 0)
      return &compilation->snapshots[i];
  return NULL;
}

/* Why there is none in the format's operations is what stopped the passes. */
static const GantrySnapshot *
choose (const GantryCompilation *compilation, GantryExportFormat format, GError **error)
{
  const GantrySnapshot *step = find (compilation, "train");

  if (step != NULL)
    return step;
  for (guint i = compilation->imported; i < compilation->n_snapshots; i++)
    if (is_said (compilation->snapshots[i].module, dialect_of (format)))
      return &compilation->snapshots[i];
  if (compilation->refusal != NULL)
    g_propagate_error (error, g_error_copy (compilation->refusal));
  else
    g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "no snapshot is in operations of the format");
  return NULL;
}

static gboolean
write_text (const GantryModule *module, const char *path, GantryReadFiles *read, GError **error)
{
  g_autofree char *text = gantry_module_to_text (module, NULL);

  return gantry_output_write (path, read, text, strlen (text), error);
}

const char *
gantry_compilation_export (const GantryCompilation *compilation, GantryExportFormat format, const char *path, const GantryExportOptions *options,
                           GPtrArray *notes, GError **error)
{
  const char *wanted = options != NULL ? options->snapshot : NULL;
  GantryReadFiles *read = options != NULL && options->read != NULL ? options->read : compilation->model->read;
  GantryOnnxExportOptions onnx = { .external = options != NULL && options->external, .read = read };
  const GantrySnapshot *snapshot = wanted != NULL ? find (compilation, wanted) : choose (compilation, format, error);
  gboolean done = FALSE;

  g_return_val_if_fail (format != GANTRY_EXPORT_NONE, NULL);
  if (snapshot == NULL && wanted != NULL && compilation->refusal != NULL)
    g_propagate_error (error, g_error_copy (compilation->refusal));
  else if (snapshot == NULL && wanted != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "no pass '%s' has run; 'gantry-cli passes' lists them", wanted);
  if (snapshot == NULL)
    return NULL;
  onnx.snapshot = snapshot->pass;
  switch (format)
    {
    case GANTRY_EXPORT_ONNX: done = gantry_onnx_export (snapshot->module, path, &onnx, notes, error); break;
    case GANTRY_EXPORT_STABLEHLO: done = gantry_stablehlo_export (snapshot->module, path, read, notes, error); break;
    case GANTRY_EXPORT_MINDIR: done = gantry_mindspore_export (snapshot->module, path, NULL, read, error); break;
    case GANTRY_EXPORT_TEXT: done = write_text (snapshot->module, path, read, error); break;
    case GANTRY_EXPORT_NONE: break;
    }
  return done ? snapshot->pass : NULL;
}

gboolean
gantry_module_export (const GantryModule *module, const char *path, const char *const *names, GantryLiteral *const *values, GError **error)
{
  guint n = gantry_module_entry (module)->n_params;
  g_autofree GantryOnnxWeight *weights = g_new0 (GantryOnnxWeight, n + 1);
  g_autofree GantryMindsporeWeight *parameters = g_new0 (GantryMindsporeWeight, n + 1);
  GantryOnnxExportOptions options = { .weights = weights };

  for (guint i = 0; i < n; i++)
    {
      weights[i] = (GantryOnnxWeight){ names != NULL ? names[i] : NULL, values != NULL ? values[i] : NULL };
      parameters[i] = (GantryMindsporeWeight){ weights[i].name, weights[i].value };
    }
  return gantry_export_format_of (path) == GANTRY_EXPORT_MINDIR ? gantry_mindspore_export (module, path, parameters, NULL, error)
                                                                : gantry_onnx_export (module, path, &options, NULL, error);
}

GantryModule *
gantry_module_load (GantryContext *context, const char *path, GPtrArray **weights, gboolean *draws, guint *n_assigned, GError **error)
{
  GantryMindsporeOptions options = { .open_weights = weights != NULL };
  g_autoptr (GantryMindsporeInfo) info = NULL;
  g_autoptr (GantryModule) module = gantry_mindspore_import (context, path, &options, &info, NULL, error);
  GantryModule *core = module != NULL ? gantry_pass_legalize.run (module, NULL, NULL, error) : NULL;

  if (module != NULL && core == NULL)
    gantry_error_prefix (error, "%s: ", path);
  if (core == NULL)
    return NULL;
  *n_assigned = info->n_assigned;
  *draws = info->draws;
  if (weights != NULL)
    *weights = g_ptr_array_ref (info->weights);
  return core;
}
