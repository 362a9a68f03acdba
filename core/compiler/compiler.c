/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the passes over a model, verifies after each, keeps a snapshot of each, and plans. */
#include "core/base/asks.h"
#include "core/compiler/model-private.h"
#include "core/compiler/compiler.h"
#include "core/compiler/pipeline-private.h"
#include "core/compiler/planner-pool.h"
#include "core/compiler/planning-private.h"
#include "core/graph/operation.h"
#include "core/graph/verifier.h"
#include "core/passes/properties.h"
#include <string.h>

/* Nodes of @module that @other lacks: those that do work, as nodes are counted, so that the figures of a pass add up; and all. */
static guint
count_lacking (const GantryModule *module, const GantryModule *other, guint *n_all)
{
  guint n = 0;

  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[i], *there = gantry_module_node (other, node->id);

      *n_all += there == NULL;
      n += _gantry_is_working (module, node) && (there == NULL || !_gantry_is_working (other, there));
    }
  return n;
}

static void
count_changes (const GantryModule *before, const GantryModule *after, GantrySnapshot *snapshot)
{
  guint n_all = 0;

  if (before == after)
    return;
  snapshot->n_made = count_lacking (after, before, &n_all);
  snapshot->n_removed = count_lacking (before, after, &n_all);
  snapshot->changed = n_all > 0;
}

char *
gantry_snapshot_properties_text (const GantrySnapshot *snapshot)
{
  return gantry_properties_to_text ((GantryProperties) snapshot->properties);
}

static GantrySnapshot *
add_snapshot (GantryCompilation *compilation, const char *name, const char *title, const char *description, gboolean enabled, GantryModule *module,
              double milliseconds)
{
  GantryModule *before = compilation->n_snapshots > 0 ? gantry_compilation_module (compilation) : module;
  GantrySnapshot *snapshot = &compilation->snapshots[compilation->n_snapshots++];

  snapshot->pass = g_strdup (name);
  snapshot->title = g_strdup (title);
  snapshot->description = g_strdup (description);
  snapshot->enabled = enabled;
  snapshot->module = module;
  snapshot->milliseconds = milliseconds;
  snapshot->nodes_before = _gantry_count_working (before);
  snapshot->nodes_after = _gantry_count_working (module);
  count_changes (before, module, snapshot);
  return snapshot;
}

/* A program that contradicts itself (types that do not fit) is a damaged file, not one that we cannot do yet. Where a
 * dimension is open the contradiction may only be that. */
static gboolean
is_malformed (const GantryCompilation *compilation, const GError *failure)
{
  char **unbound = compilation->model->unbound;

  return g_error_matches (failure, GANTRY_ERROR, GANTRY_ERROR_INVALID) && (unbound == NULL || unbound[0] == NULL);
}

/* The passes need static shapes to plan; a program with open dimensions is refused here, by name. */
static void
refuse_unbound (GantryCompilation *compilation)
{
  const GantryModel *model = compilation->model;
  g_autofree char *names = NULL;

  if (compilation->refusal == NULL || model->unbound == NULL || model->unbound[0] == NULL)
    return;
  names = g_strjoinv (", ", model->unbound);
  /* One that says the same of one node, and nothing besides. */
  if (strstr (compilation->refusal->message, GANTRY_ASKS_SIZE) != NULL && strchr (compilation->refusal->message, '\n') == NULL)
    {
      g_clear_error (&compilation->refusal);
      compilation->refusal = g_error_new (GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "the size of %s is not given: " GANTRY_ASKS_SIZE " %s", names,
                                          model->unbound[1] != NULL ? "each" : "it");
      return;
    }
  gantry_error_prefix (&compilation->refusal, "the size of %s is not given (" GANTRY_ASKS_SIZE " %s first): ", names,
                       model->unbound[1] != NULL ? "each" : "it");
}

/* A refusal of the user's program, or of what was wished for it, is kept; anything else is an error. */
static gboolean
refuse (GantryCompilation *compilation, guint index, GError *failure, GError **error)
{
  gboolean cancelled = g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED);

  if (cancelled || (is_malformed (compilation, failure) && !_gantry_pipeline_is_wish (index)))
    {
      g_propagate_error (error, failure);
      return FALSE;
    }
  compilation->refusal = failure;
  return TRUE;
}

/* What the pass needs has to hold by what the passes before it gave and kept. */
static gboolean
check_needs (const GantryPassInfo *info, GantryProperties needs, GantryProperties held, GError **error)
{
  g_autofree char *missing = NULL;

  if ((needs & ~held) == 0)
    return TRUE;
  missing = gantry_properties_to_text (needs & ~held);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "the pass '%s' needs what does not hold before it: %s (please report this)", info->name, missing);
  return FALSE;
}

/* What is read off the module is checked in every build; the rest costs as much as a pass, and tests do it. */
static gboolean
check_result (const GantryPassInfo *info, GantryModule *after, const GantryModule *before, GantryProperties held, GError **error)
{
  if (after == before || (gantry_verify (after, before, error) && gantry_properties_hold (after, held & GANTRY_PROPERTY_CORE, error)))
    return TRUE;
  gantry_error_prefix (error, "the pass '%s' broke the program (please report this): ", info->name);
  return FALSE;
}

/* One pass and its verification. */
static gboolean
run_pass (GantryCompilation *compilation, guint index, const GantryProgress *progress, GError **error)
{
  const GantryPassInfo *info = _gantry_pipeline_info (index);
  gboolean enabled = info->required || gantry_compile_settings_enabled (&compilation->settings, info->name);
  GantryModule *before = gantry_compilation_module (compilation);
  GantryProperties held = compilation->snapshots[compilation->n_snapshots - 1].properties;
  g_autoptr (GantryModule) after = NULL;
  GError *failure = NULL;
  gint64 start = g_get_monotonic_time ();
  double milliseconds;

  if (gantry_progress_cancelled (progress, error))
    return FALSE;
  if (enabled && !check_needs (info, _gantry_pipeline_needs (index), held, error))
    return FALSE;
  gantry_progress_report (progress, (double) index / GANTRY_N_PIPELINE_PASSES, info->title);
  after = enabled ? _gantry_pipeline_run (index, before, &compilation->settings, progress, &failure) : gantry_module_ref (before);
  milliseconds = (double) (g_get_monotonic_time () - start) / 1000.0;
  if (after == NULL)
    return refuse (compilation, index, failure, error);
  if (enabled)
    held = _gantry_pipeline_after (index, held, after != before);
  if (!check_result (info, after, before, held, error))
    return FALSE;
  add_snapshot (compilation, info->name, info->title, info->description, enabled, g_steal_pointer (&after), milliseconds)->properties = held;
  return TRUE;
}

/* After a refusal the rest is noted; what a pass would have found is not known, so those of control flow are as well. */
static gboolean
run_passes (GantryCompilation *compilation, const GantryProgress *progress, GError **error)
{
  compilation->unreached = g_new0 (const GantryPassInfo *, GANTRY_N_PIPELINE_PASSES);
  for (guint i = 0; i < GANTRY_N_PIPELINE_PASSES; i++)
    {
      GantryModule *module = gantry_compilation_module (compilation);

      if (!_gantry_pipeline_applies (i, module, &compilation->settings))
        continue;
      if (compilation->refusal == NULL && !run_pass (compilation, i, progress, error))
        return FALSE;
      if (compilation->refusal != NULL)
        compilation->unreached[compilation->n_unreached++] = _gantry_pipeline_info (i);
    }
  return TRUE;
}

/* A step that the file brings along is not made into a step of a step. */
static void
take_settings (GantryCompilation *compilation, const GantryCompileSettings *settings)
{
  if (settings != NULL)
    gantry_compile_settings_copy (&compilation->settings, settings);
  else
    gantry_compile_settings_init (&compilation->settings);
  if (gantry_module_is_training (compilation->model->module))
    compilation->settings.train = FALSE;
}

/* The program as it was opened, and, where another compiler has worked on it, what that made of it step by step. */
static void
add_model (GantryCompilation *compilation)
{
  const GantryModel *model = compilation->model;
  guint n = model->stages != NULL ? model->stages->len : 0;

  for (guint i = 0; i < n; i++)
    {
      const GantryModelStage *stage = &g_array_index (model->stages, GantryModelStage, i);

      add_snapshot (compilation, stage->pass, stage->title, stage->description, TRUE, gantry_module_ref (i + 1 < n ? stage->module : model->module), 0);
    }
  if (n == 0)
    add_snapshot (compilation, "import", "Import", "The program as the file has it.", TRUE, gantry_module_ref (model->module), 0);
}

/* Compilations of one model are made one after another: the ids that passes give come from one counter, and those of a
 * compilation are to be the same wherever it is made (a run in another process names nodes by them). */
static GantryCompilation *
compile (GantryModel *model, const GantryCompileSettings *settings, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryCompilation) compilation = g_new0 (GantryCompilation, 1);

  g_atomic_ref_count_init (&compilation->ref_count);
  compilation->model = gantry_model_ref (model);
  take_settings (compilation, settings);
  compilation->first_id = gantry_context_last_node_id (model->module->context);
  compilation->snapshots = g_new0 (GantrySnapshot, GANTRY_N_PIPELINE_PASSES + 1 + (model->stages != NULL ? model->stages->len : 0));
  compilation->planners = _gantry_planner_pool_new ();
  add_model (compilation);
  compilation->imported = compilation->n_snapshots - 1;
  if (!run_passes (compilation, progress, error))
    return NULL;
  if (compilation->refusal == NULL && !_gantry_compilation_make_plan (compilation, progress, error))
    return NULL;
  refuse_unbound (compilation);
  return g_steal_pointer (&compilation);
}

GantryCompilation *
gantry_compile (GantryModel *model, const GantryCompileSettings *settings, const GantryProgress *progress, GError **error)
{
  GantryCompilation *compilation;

  g_mutex_lock (&model->compiling);
  compilation = compile (model, settings, progress, error);
  g_mutex_unlock (&model->compiling);
  return compilation;
}

static void
share_snapshots (GantryCompilation *to, const GantryCompilation *from)
{
  to->snapshots = g_new0 (GantrySnapshot, from->n_snapshots + 1);
  to->n_snapshots = from->n_snapshots;
  to->imported = from->imported;
  for (guint i = 0; i < from->n_snapshots; i++)
    {
      to->snapshots[i] = from->snapshots[i];
      to->snapshots[i].pass = g_strdup (from->snapshots[i].pass);
      to->snapshots[i].title = g_strdup (from->snapshots[i].title);
      to->snapshots[i].description = g_strdup (from->snapshots[i].description);
      gantry_module_ref (to->snapshots[i].module);
    }
  to->n_unreached = from->n_unreached;
  to->unreached = g_memdup2 (from->unreached, sizeof *from->unreached * GANTRY_N_PIPELINE_PASSES);
}

GantryCompilation *
gantry_compilation_replan (const GantryCompilation *compilation, const GantryCompileSettings *settings, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryCompilation) copy = g_new0 (GantryCompilation, 1);

  g_atomic_ref_count_init (&copy->ref_count);
  copy->model = gantry_model_ref (compilation->model);
  take_settings (copy, settings);
  copy->first_id = compilation->first_id;
  copy->planners = _gantry_planner_pool_new ();
  share_snapshots (copy, compilation);
  if (compilation->refusal != NULL && compilation->keys == NULL)
    copy->refusal = g_error_copy (compilation->refusal);
  else if (!_gantry_compilation_make_plan (copy, progress, error))
    return NULL;
  return g_steal_pointer (&copy);
}
