/* SPDX-License-Identifier: Apache-2.0 */
/* Plans, and lends planners, by the settings of a compilation. */
#include "core/compiler/planning-private.h"
#include "core/compiler/pipeline-private.h"
#include "core/compiler/planner-pool.h"
#include <string.h>

/* A link that was measured is the link that there is. */
static GantryTarget
target_of (const GantryCompileSettings *settings)
{
  GantryTarget target = settings->target;

  if (settings->measured != NULL && settings->measured->link_bandwidth > 0)
    target.link_bandwidth = settings->measured->link_bandwidth;
  return target;
}

/* Those of the settings, if they are of the kernels of @module as they are made for the runs that are planned for. (nullable) */
static const GantryKernelSizes *
sizes_of (const GantryCompileSettings *settings, const GantryModule *module)
{
  const GantryKernelSizes *sizes = settings->sizes;
  g_autofree char *content = NULL;

  if (sizes == NULL || sizes->program == NULL || g_strcmp0 (sizes->arch != NULL ? sizes->arch : "", settings->target.arch) != 0
      || !gantry_compile_settings_made_under (settings, sizes->conditions))
    return NULL;
  content = gantry_module_content (module);
  return strcmp (content, sizes->program) == 0 ? sizes : NULL;
}

static GantryPlanOptions
plan_options (const GantryCompileSettings *settings, const GantryTarget *target, GHashTable *measured_us, const GantryKernelSizes *sizes)
{
  /* Arguments and results are the caller's, who keeps them for the whole run: nothing else can lie where they do. */
  return (GantryPlanOptions){
    .target = target, .measured_us = measured_us, .sizes = sizes, .flags = GANTRY_PLAN_RESIDENT, .order = settings->order, .allocator = settings->allocator
  };
}

GantryPlanner *
gantry_compilation_take_planner (GantryCompilation *compilation, const GantryProgress *progress, GError **error)
{
  GantryPlanOptions options = plan_options (&compilation->settings, &compilation->planned_target, compilation->measured_us, compilation->sizes);
  GantryPlanner *planner;

  g_return_val_if_fail (compilation->keys != NULL, NULL);
  planner = _gantry_planner_pool_take (compilation->planners);
  return planner != NULL ? planner : gantry_planner_new (gantry_compilation_module (compilation), &options, progress, error);
}

void
gantry_compilation_give_planner (GantryCompilation *compilation, GantryPlanner *planner)
{
  if (planner != NULL)
    _gantry_planner_pool_give (compilation->planners, planner);
}

/* A refusal for @limit, of the device, names the passes that would leave more room if they were left out. */
static void
name_passes (const GantryCompilation *compilation, guint64 limit, GError *failure)
{
  for (guint i = 0; limit > 0 && g_error_matches (failure, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY) && i < compilation->n_snapshots; i++)
    {
      const GantrySnapshot *snapshot = &compilation->snapshots[i];
      char *before = failure->message;

      if (!snapshot->changed || !_gantry_pipeline_takes_memory (snapshot->pass))
        continue;
      failure->message = g_strdup_printf ("%s; the pass '%s' (%s) has taken memory to save time: without it less may be needed", before, snapshot->pass,
                                          snapshot->title);
      g_free (before);
    }
}

/* What cannot be planned at all is a refusal, as it is of a pass; what only does not fit is none: another placement may. */
static void
take_failure (GantryCompilation *compilation, GError *failure)
{
  if (g_error_matches (failure, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY))
    compilation->plan_error = failure;
  else
    compilation->refusal = failure;
}

gboolean
_gantry_compilation_make_plan (GantryCompilation *compilation, const GantryProgress *progress, GError **error)
{
  GantryPlanner *planner;
  GError *failure = NULL;

  gantry_progress_report (progress, -1, "Planning");
  compilation->keys = gantry_module_keys (gantry_compilation_module (compilation));
  compilation->planned_target = target_of (&compilation->settings);
  compilation->sizes = sizes_of (&compilation->settings, gantry_compilation_module (compilation));
  if (compilation->settings.measured != NULL)
    compilation->measured_us = gantry_measured_times_by_node (compilation->settings.measured, gantry_compilation_module (compilation), compilation->keys);
  compilation->placements = gantry_choices_place_over (compilation->settings.choices, compilation->settings.policy, gantry_compilation_module (compilation),
                                                       compilation->keys, &compilation->reports, error);
  if (compilation->placements == NULL)
    return FALSE;
  planner = gantry_compilation_take_planner (compilation, progress, &failure);
  if (planner != NULL)
    {
      compilation->plan = gantry_planner_plan (planner, compilation->placements, progress, &failure);
      compilation->refused_plan = gantry_planner_take_refused (planner);
    }
  gantry_compilation_give_planner (compilation, planner);
  if (g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, failure);
      return FALSE;
    }
  name_passes (compilation, compilation->settings.target.memory_limit, failure);
  if (failure != NULL)
    take_failure (compilation, failure);
  return TRUE;
}

GantryPlan *
gantry_compilation_plan (const GantryCompilation *compilation, const GantryCompileSettings *settings, const GantryKernelSizes *sizes, GHashTable *measured_us,
                         const GantryProgress *progress, GError **error)
{
  const GantryModule *module = gantry_compilation_module (compilation);
  g_autoptr (GHashTable) of_settings = measured_us == NULL && settings->measured != NULL && compilation->keys != NULL
                                         ? gantry_measured_times_by_node (settings->measured, module, compilation->keys)
                                         : NULL;
  GantryTarget target = target_of (settings);
  GantryPlanOptions options = plan_options (settings, &target, measured_us != NULL ? measured_us : of_settings,
                                            sizes != NULL ? sizes : sizes_of (settings, module));
  GError *failure = NULL;
  GantryPlan *plan;
  g_autoptr (GantryPlanner) planner = NULL;

  planner = gantry_planner_new (gantry_compilation_module (compilation), &options, progress, error);
  plan = planner != NULL ? gantry_planner_plan (planner, compilation->placements, progress, &failure) : NULL;
  name_passes (compilation, target.memory_limit, failure);
  if (failure != NULL)
    g_propagate_error (error, failure);
  return plan;
}
