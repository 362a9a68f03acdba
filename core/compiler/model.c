/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a file: which front end reads it, and what it says in one form for all formats. */
#include "core/compiler/model-private.h"
#include "core/base/cache.h"
#include "core/base/file.h"
#include "core/compiler/python-model.h"
#include "core/compiler/random-weights.h"
#include "core/frontends/front-end.h"
#include "core/frontends/onnx/onnx.h"
#include "core/frontends/xla/xla.h"
#include "core/graph/operation.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include "core/planner/policy/policy.h"
#include <string.h>

GantryModel *
gantry_model_ref (GantryModel *model)
{
  g_atomic_ref_count_inc (&model->ref_count);
  return model;
}

static void
free_values (GantryModelValue *values, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_free (values[i].name);
      g_free (values[i].type);
    }
  g_free (values);
}

void
gantry_model_unref (GantryModel *model)
{
  if (model == NULL || !g_atomic_ref_count_dec (&model->ref_count))
    return;
  free_values (model->inputs, model->n_inputs);
  free_values (model->outputs, model->n_outputs);
  for (guint i = 0; i < model->n_unsupported; i++)
    {
      g_free (model->unsupported[i].operation);
      g_free (model->unsupported[i].why);
      g_free (model->unsupported[i].where);
    }
  g_free (model->unsupported);
  g_free (model->path);
  g_free (model->carried_as);
  g_free (model->format);
  g_free (model->producer);
  g_free (model->opset);
  g_clear_pointer (&model->files, g_array_unref);
  gantry_read_files_unref (model->read);
  g_free (model->hash);
  g_free (model->own_hash);
  gantry_cache_hold_free (model->hold);
  g_strfreev (model->unbound);
  g_strfreev (model->warnings);
  g_free (model->policy);
  gantry_bindings_unref (model->bindings);
  g_clear_pointer (&model->stages, g_array_unref);
  gantry_xla_assignment_free (model->assignment);
  gantry_module_unref (model->module);
  g_mutex_clear (&model->compiling);
  g_mutex_clear (&model->hashing);
  g_free (model);
}

static GantryModelValue *
copy_values (const GantryOnnxValue *values, guint n)
{
  GantryModelValue *copy = g_new0 (GantryModelValue, n + 1);

  for (guint i = 0; i < n; i++)
    copy[i] = (GantryModelValue){ .name = g_strdup (values[i].name), .type = g_strdup (values[i].type_text) };
  return copy;
}

static char *
opset_text (const GantryOnnxInfo *info, gint64 *main_opset)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < info->n_opsets; i++)
    {
      const char *domain = *info->opsets[i].domain != '\0' ? info->opsets[i].domain : "ai.onnx";

      if (strcmp (domain, "ai.onnx") == 0)
        *main_opset = info->opsets[i].version;
      g_string_append_printf (text, "%s%s %" G_GINT64_FORMAT, i > 0 ? ", " : "", domain, info->opsets[i].version);
    }
  return g_string_free (text, FALSE);
}

static void
take_onnx_info (GantryModel *model, const GantryOnnxInfo *info)
{
  model->format = g_strdup ("ONNX");
  model->producer = g_strdup (info->producer != NULL ? info->producer : "");
  model->opset = opset_text (info, &model->main_opset);
  model->n_nodes = info->n_nodes;
  model->n_initializers = info->n_initializers;
  model->initializer_bytes = info->initializer_bytes;
  model->n_inputs = info->n_inputs;
  model->inputs = copy_values (info->inputs, info->n_inputs);
  model->n_outputs = info->n_outputs;
  model->outputs = copy_values (info->outputs, info->n_outputs);
  model->n_unsupported = info->n_unsupported;
  model->unsupported = g_new0 (GantryModelRefusal, info->n_unsupported + 1);
  for (guint i = 0; i < info->n_unsupported; i++)
    model->unsupported[i] = (GantryModelRefusal){ g_strdup (info->unsupported[i].operation), g_strdup (info->unsupported[i].why),
                                                  g_strdup (info->unsupported[i].first), info->unsupported[i].count };
  model->unbound = g_strdupv (info->unbound);
  model->warnings = g_strdupv (info->warnings);
}

static void
clear_file (gpointer data)
{
  GantryModelFile *file = data;

  g_free (file->path);
  g_free (file->hash);
}

void
_gantry_model_add_file (GantryModel *model, const char *path)
{
  GantryModelFile file = { .path = g_strdup (path) };

  gantry_file_identify (path, &file.identity);
  g_array_append_val (model->files, file);
  gantry_read_files_add (model->read, path);
}

/* (transfer full) */
static GantryDimSize *
sizes_of (const GantryBindings *bindings)
{
  GantryDimSize *sizes = g_new0 (GantryDimSize, bindings->n_dims + 1);

  for (guint i = 0; i < bindings->n_dims; i++)
    sizes[i] = (GantryDimSize){ bindings->dims[i].name, bindings->dims[i].size };
  return sizes;
}

static GantryModule *
open_onnx (GantryModel *model, GantryContext *context, const GantryProgress *progress, GError **error)
{
  const GantryBindings *bindings = model->bindings;
  g_autofree GantryDimSize *dims = sizes_of (bindings);
  GantryOnnxOptions options = {
    .dims = dims, .n_dims = bindings->n_dims, .values = bindings->inputs, .n_values = bindings->n_inputs, .outside = bindings->outside
  };
  g_autoptr (GantryOnnxInfo) info = NULL;
  GantryModule *module;

  module = gantry_onnx_import (context, model->path, &options, &info, progress, error);
  if (module != NULL)
    take_onnx_info (model, info);
  for (guint i = 0; module != NULL && info->data_files[i] != NULL; i++)
    _gantry_model_add_file (model, info->data_files[i]);
  return module;
}

gboolean
_gantry_is_working (const GantryModule *module, const GantryNode *node)
{
  const GantryFunction *entry = gantry_module_entry (module);
  const GantryOpInfo *info = gantry_op_info (node->op);

  return node >= &module->nodes[entry->first_node] && node < &module->nodes[entry->first_node + entry->n_nodes]
         && (info == NULL || (info->flags & GANTRY_OP_STRUCTURE) == 0);
}

guint
_gantry_count_working (const GantryModule *module)
{
  guint n = 0;

  for (guint32 i = 0; i < module->n_nodes; i++)
    n += _gantry_is_working (module, &module->nodes[i]);
  return n;
}

static void
take_text_info (GantryModel *model, GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);

  model->format = g_strdup ("Gantry text");
  model->producer = g_strdup ("");
  model->opset = g_strdup ("");
  model->inputs = g_new0 (GantryModelValue, entry->n_params + 1);
  model->outputs = g_new0 (GantryModelValue, entry->n_results + 1);
  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];

      model->inputs[model->n_inputs++] = (GantryModelValue){ .name = gantry_node_label (module, node),
                                                             .type = gantry_context_type_text (module->context, node->type),
                                                             .donated = (guint) (gantry_parameter_alias (module, node) + 1) };
    }
  for (guint i = 0; i < entry->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (module, gantry_function_result_id (module, entry, i));

      model->outputs[model->n_outputs++] = (GantryModelValue){ .name = gantry_node_label (module, node),
                                                               .type = gantry_context_type_text (module->context, node->type) };
    }
  for (guint32 i = 0; i < module->n_nodes; i++)
    model->n_initializers += module->nodes[i].op == GANTRY_OP_CONSTANT;
  model->n_nodes = _gantry_count_working (module);
}

#define ROW(folder) &gantry_front_end_##folder,
static const GantryFrontEnd *const front_ends[] = { GANTRY_FRONT_END_LIST (ROW) };

void
gantry_model_add_dialects (GantryContext *context)
{
  gantry_context_add_dialect (context, gantry_onnx_dialect ());
  for (guint i = 0; i < G_N_ELEMENTS (front_ends); i++)
    {
      guint n;
      const GantryDialect *dialects = front_ends[i]->dialects (&n);

      for (guint k = 0; k < n; k++)
        gantry_context_add_dialect (context, &dialects[k]);
    }
}

/* @path: of the text; @model says where it comes from. */
static GantryModule *
open_text (GantryModel *model, const char *path, GantryContext *context, GError **error)
{
  g_autoptr (GMappedFile) file = gantry_file_map_text (path, error);
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GantryModule) whole = NULL, module = NULL;

  if (file == NULL)
    return NULL;
  gantry_model_add_dialects (context);
  whole = gantry_module_from_text_beside (context, g_mapped_file_get_contents (file), (gssize) g_mapped_file_get_length (file), model->path,
                                          model->bindings->outside ? NULL : path, files, error);
  if (whole == NULL)
    return NULL;
  module = gantry_module_set_inputs (whole, model->bindings->inputs, model->bindings->n_inputs, error);
  if (module == NULL || !gantry_verify (module, NULL, error))
    {
      gantry_error_prefix (error, "%s: ", model->path);
      return NULL;
    }
  take_text_info (model, module);
  for (guint i = 0; i < files->len; i++)
    _gantry_model_add_file (model, g_ptr_array_index (files, i));
  return g_steal_pointer (&module);
}

/* Each line on which Python is called is an operation that cannot be compiled. */
static void
take_host_lines (GantryModel *model, const char *text)
{
  g_auto (GStrv) lines = *text != '\0' ? g_strsplit (text, "\n", -1) : g_new0 (char *, 1);
  guint n = g_strv_length (lines);

  model->unsupported = g_new0 (GantryModelRefusal, n + 1);
  for (guint i = 0; i < n; i++)
    {
      const char *what = strstr (lines[i], ": ");

      model->unsupported[model->n_unsupported++] = (GantryModelRefusal){
        g_strdup ("python"), g_strdup_printf ("is left to Python: %s", what != NULL ? what + 2 : lines[i]),
        what != NULL ? g_strndup (lines[i], (gsize) (what - lines[i])) : g_strdup (model->path), 1
      };
    }
}

/* A program may say more than a policy can hold: then it opens without one. */
static void
take_policy (GantryModel *model, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPolicy) policy = *text != '\0' ? gantry_policy_parse (text, -1, &error) : NULL;
  char *warning[2] = { NULL, NULL };

  if (policy != NULL)
    model->policy = g_strdup (text);
  if (error == NULL)
    return;
  warning[0] = g_strdup_printf ("what the program says of memory is left out: %s", error->message);
  model->warnings = g_strdupv (warning);
  g_free (warning[0]);
}

static GantryModule *
open_python (GantryModel *model, GantryContext *context, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryProgramGraphs) graphs = gantry_program_graphs_run (model->path, model->bindings->program, progress, error);
  const GantryProgramGraph *graph = graphs != NULL ? gantry_program_graphs_find (graphs, model->path, model->bindings->entry, error) : NULL;
  GantryModule *module = graph != NULL ? open_text (model, graph->file, context, error) : NULL;

  if (module == NULL)
    return NULL;
  g_free (model->format);
  model->format = g_strdup (GANTRY_PYTHON_FORMAT);
  take_host_lines (model, graph->host_lines);
  take_policy (model, graph->policy);
  for (guint i = 0; i < graphs->sources->len; i++)
    _gantry_model_add_file (model, g_ptr_array_index (graphs->sources, i));
  return module;
}

/* Operations that no rule knows are the ones that nobody has to compile anything for to know of. */
static gboolean
take_unknown (GantryModel *model, GantryModule *module, const GPtrArray *unknown, const GantryProgress *progress, GError **error)
{
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);

  model->unsupported = g_new0 (GantryModelRefusal, unknown->len + 1);
  for (guint i = 0; i < unknown->len; i++)
    {
      const char *name = g_ptr_array_index (unknown, i);
      GantryModelRefusal *refusal = &model->unsupported[model->n_unsupported++];

      *refusal = (GantryModelRefusal){ g_strdup (name), g_strdup ("unknown operation"), NULL, 0 };
      g_hash_table_insert (by_name, refusal->operation, refusal);
    }
  for (guint32 n = 0; n < module->n_nodes && unknown->len > 0; n++)
    {
      const GantryNode *node = &module->nodes[n];
      GantryModelRefusal *refusal = g_hash_table_lookup (by_name, gantry_node_op_name (module, node));

      if (n % 4096 == 0 && gantry_progress_cancelled (progress, error))
        return FALSE;
      if (refusal != NULL && refusal->count++ == 0)
        refusal->where = gantry_context_location_text (module->context, node->location);
    }
  for (guint i = 0; i < model->n_unsupported; i++)
    if (model->unsupported[i].where == NULL)
      model->unsupported[i].where = g_strdup (model->path);
  return TRUE;
}

gboolean
_gantry_model_take_xla_info (GantryModel *model, GantryModule *module, const GantryXlaInfo *info, const GantryProgress *progress, GError **error)
{
  take_text_info (model, module);
  g_free (model->format);
  model->format = g_strdup (info->format);
  return take_unknown (model, module, info->unknown, progress, error);
}

/* The values of inputs that are known before compiling, in a program that its reader did not give them. */
static GantryModule *
with_inputs (GantryModel *model, GantryModule *whole, GError **error)
{
  GantryModule *module = gantry_module_set_inputs (whole, model->bindings->inputs, model->bindings->n_inputs, error);

  if (module == NULL)
    gantry_error_prefix (error, "%s: ", model->path);
  return module;
}

gboolean
_gantry_model_take_info (GantryModel *model, GantryModule *module, const GantryReadInfo *info, const GantryProgress *progress, GError **error)
{
  take_text_info (model, module);
  g_free (model->format);
  model->format = g_strdup (info->format);
  if (info->producer != NULL)
    {
      g_free (model->producer);
      model->producer = g_strdup (info->producer);
    }
  if (info->is_counted)
    {
      model->n_nodes = info->n_nodes;
      model->n_initializers = info->n_weights;
      model->initializer_bytes = info->weight_bytes;
    }
  if (info->unbound != NULL)
    {
      model->unbound = g_new0 (char *, info->unbound->len + 1);
      for (guint i = 0; i < info->unbound->len; i++)
        model->unbound[i] = g_strdup (g_ptr_array_index (info->unbound, i));
    }
  for (guint i = 0; info->files != NULL && i < info->files->len; i++)
    _gantry_model_add_file (model, g_ptr_array_index (info->files, i));
  return info->unknown == NULL || take_unknown (model, module, info->unknown, progress, error);
}

static GantryModule *
open_by (const GantryFrontEnd *front_end, GantryModel *model, GantryContext *context, const GantryProgress *progress, GError **error)
{
  const GantryBindings *bindings = model->bindings;
  g_autofree GantryDimSize *dims = sizes_of (bindings);
  const GantryReadOptions options = { .dims = dims, .n_dims = bindings->n_dims, .outside = bindings->outside };
  g_auto (GantryReadInfo) info = { 0 };
  g_autoptr (GantryModule) whole = front_end->import (context, model->path, &options, &info, progress, error);
  g_autoptr (GantryModule) module = whole != NULL ? with_inputs (model, whole, error) : NULL;

  return module != NULL && _gantry_model_take_info (model, module, &info, progress, error) ? g_steal_pointer (&module) : NULL;
}

/* A model whose weights are made up has them from the start, so that every view shows what is computed. */
static gboolean
randomize (GantryModel *model, gint64 seed, const GantryProgress *progress, GError **error)
{
  GantryModule *random;

  model->random_weights = seed;
  if (seed < 0)
    return TRUE;
  random = gantry_randomize_weights (model->module, seed, progress, error);
  if (random == NULL)
    return FALSE;
  gantry_module_unref (model->module);
  model->module = random;
  return TRUE;
}

static void
clear_stage (gpointer data)
{
  GantryModelStage *stage = data;

  g_free (stage->pass);
  g_free (stage->title);
  g_free (stage->description);
  gantry_module_unref (stage->module);
}

GArray *
_gantry_model_stages_new (void)
{
  GArray *stages = g_array_new (FALSE, TRUE, sizeof (GantryModelStage));

  g_array_set_clear_func (stages, clear_stage);
  return stages;
}

static GantryModel *
new_model (const char *path, const GantryBindings *bindings)
{
  GantryModel *model = g_new0 (GantryModel, 1);

  g_atomic_ref_count_init (&model->ref_count);
  g_mutex_init (&model->compiling);
  g_mutex_init (&model->hashing);
  model->path = g_strdup (path);
  model->bindings = gantry_bindings_copy (bindings);
  model->random_weights = -1;
  model->read = gantry_read_files_new ();
  gantry_read_files_add_all (model->read, model->bindings->read);
  return model;
}

GantryModel *
gantry_model_new (GantryModule *module, const char *name)
{
  GantryModel *model = new_model (name, NULL);

  model->module = gantry_module_ref (module);
  take_text_info (model, module);
  return model;
}

gboolean
gantry_model_is_program (const char *path)
{
  return g_str_has_suffix (path, ".py");
}

char *
gantry_model_program_mark (const char *path, GError **error)
{
  g_autofree char *full = g_canonicalize_filename (path, NULL), *sum = NULL;
  g_autoptr (GMappedFile) text = gantry_file_map_text (path, error);

  if (text == NULL)
    return NULL;
  sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) g_mapped_file_get_contents (text), g_mapped_file_get_length (text));
  return g_strconcat (sum, " ", full, NULL);
}

char *
gantry_model_patterns (void)
{
  GString *patterns = g_string_new ("*.onnx *.gir *.py");

  for (guint i = 0; i < G_N_ELEMENTS (front_ends); i++)
    g_string_append_printf (patterns, " %s", front_ends[i]->patterns);
  return g_string_free (patterns, FALSE);
}

char *
gantry_model_formats (void)
{
  GString *formats = g_string_new ("ONNX (.onnx)");

  for (guint i = 0; i < G_N_ELEMENTS (front_ends); i++)
    g_string_append_printf (formats, ", %s", front_ends[i]->formats);
  g_string_append (formats, ", a Python program (.py) or Gantry's text form (.gir)");
  return g_string_free (formats, FALSE);
}

/* What no other reads is ONNX. */
static GantryModule *
open_file (GantryModel *model, GantryContext *context, const GantryProgress *progress, GError **error)
{
  if (g_str_has_suffix (model->path, ".gir"))
    return open_text (model, model->path, context, error);
  if (gantry_model_is_program (model->path))
    return open_python (model, context, progress, error);
  for (guint i = 0; i < G_N_ELEMENTS (front_ends); i++)
    if (front_ends[i]->reads (model->path))
      return open_by (front_ends[i], model, context, progress, error);
  return open_onnx (model, context, progress, error);
}

GantryModel *
gantry_model_open (const char *path, const GantryBindings *bindings, gint64 random_weights, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryModel) model = new_model (path, bindings);
  g_autoptr (GantryContext) context = gantry_context_new ();
  gboolean is_folder = g_file_test (path, G_FILE_TEST_IS_DIR);

  if (!is_folder && !gantry_file_check (path, error))
    return NULL;
  model->hold = gantry_cache_hold (path);
  /* Before it is read: what changes in between is taken for a change after. */
  model->files = g_array_new (FALSE, FALSE, sizeof (GantryModelFile));
  g_array_set_clear_func (model->files, clear_file);
  if (!is_folder)
    {
      _gantry_model_add_file (model, path);
      model->file_bytes = g_array_index (model->files, GantryModelFile, 0).identity.size;
      if (model->file_bytes == 0)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED, "%s: the file is empty; copy or download it again", path);
          return NULL;
        }
    }
  model->module = (!is_folder                       ? open_file
                   : _gantry_model_has_texts (path) ? _gantry_model_open_texts
                                                    : _gantry_model_open_dump) (model, context, progress, error);
  if (model->module == NULL || !randomize (model, random_weights, progress, error))
    return NULL;
  return g_steal_pointer (&model);
}

static char *
hash_file (const char *path, GError **error)
{
  g_autoptr (GMappedFile) file = gantry_file_map (path, error);

  if (file == NULL)
    return NULL;
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) g_mapped_file_get_contents (file), g_mapped_file_get_length (file));
}

/* Not while it is written: then it is another before and after. */
static gboolean
holds_the_same (GantryModelFile *file, const GantryFileIdentity *now)
{
  g_autofree char *hash = NULL;
  GantryFileIdentity after;

  if (gantry_file_identity_equal (now, &file->identity) || gantry_file_identity_equal (now, &file->same))
    return TRUE;
  if (file->hash == NULL || now->size != file->identity.size)
    return FALSE;
  hash = hash_file (file->path, NULL);
  if (g_strcmp0 (hash, file->hash) != 0 || !gantry_file_identify (file->path, &after) || !gantry_file_identity_equal (now, &after))
    return FALSE;
  file->same = *now;
  return TRUE;
}

/* With the lock held. */
static const char *
find_changed (const GantryModel *model)
{
  for (guint i = 0; model->files != NULL && i < model->files->len; i++)
    {
      GantryModelFile *file = &g_array_index (model->files, GantryModelFile, i);
      GantryFileIdentity now;

      if (!gantry_file_identify (file->path, &now) || !holds_the_same (file, &now))
        return file->path;
    }
  return NULL;
}

/* @changed: (nullable) */
static gboolean
check_changed (const char *changed, GError **error)
{
  if (changed == NULL)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: has changed since it was opened, so that what is shown is not what it holds; open it again",
               changed);
  return FALSE;
}

const char *
gantry_model_find_changed (const GantryModel *model)
{
  GMutex *lock = (GMutex *) &model->hashing;
  const char *changed;

  g_mutex_lock (lock);
  changed = find_changed (model);
  g_mutex_unlock (lock);
  return changed;
}

gboolean
gantry_model_check_files (const GantryModel *model, GError **error)
{
  return check_changed (gantry_model_find_changed (model), error);
}

char *
gantry_model_identity (const GantryModel *model)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; model->files != NULL && i < model->files->len; i++)
    {
      const GantryModelFile *file = &g_array_index (model->files, GantryModelFile, i);
      const GantryFileIdentity *id = &file->identity;

      g_string_append_printf (text, "%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GINT64_FORMAT " %s\n", id->device, id->inode,
                              id->size, id->modified_ns, file->path);
    }
  return g_string_free (text, FALSE);
}

/* The hashes of the first file and of all. What is read is what was opened: nothing has changed before and after. */
static gboolean
make_hash (GantryModel *model, GError **error)
{
  g_autoptr (GChecksum) all = g_checksum_new (G_CHECKSUM_SHA256);
  g_autoptr (GPtrArray) hashes = g_ptr_array_new_with_free_func (g_free);

  if (model->files == NULL || model->files->len == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: was not read from a file", model->path);
      return FALSE;
    }
  if (!check_changed (find_changed (model), error))
    return FALSE;
  for (guint i = 0; i < model->files->len; i++)
    {
      char *hash = hash_file (g_array_index (model->files, GantryModelFile, i).path, error);

      if (hash == NULL)
        return FALSE;
      g_ptr_array_add (hashes, hash);
      g_checksum_update (all, (const guchar *) hash, -1);
      g_checksum_update (all, (const guchar *) "\n", 1);
    }
  if (!check_changed (find_changed (model), error))
    return FALSE;
  for (guint i = 0; i < hashes->len; i++)
    {
      char **hash = &g_array_index (model->files, GantryModelFile, i).hash;

      g_free (*hash);
      *hash = g_strdup (g_ptr_array_index (hashes, i));
    }
  model->own_hash = g_strdup (g_ptr_array_index (hashes, 0));
  model->hash = g_strdup (model->files->len == 1 ? model->own_hash : g_checksum_get_string (all));
  return TRUE;
}

char *
gantry_model_hash (GantryModel *model, GError **error)
{
  char *hash = NULL;

  g_mutex_lock (&model->hashing);
  if (model->hash != NULL || make_hash (model, error))
    hash = g_strdup (model->hash);
  g_mutex_unlock (&model->hashing);
  return hash;
}

gboolean
gantry_model_has_hash (GantryModel *model, const char *hash, GError **error)
{
  g_autofree char *now = gantry_model_hash (model, error);

  return now != NULL && (strcmp (now, hash) == 0 || g_strcmp0 (model->own_hash, hash) == 0);
}
