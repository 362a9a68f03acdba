/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that control names, planned by themselves: what their control needs beside operands and results, and how long it takes. */
#include "core/plan/region-layout.h"
#include "core/memory/program-private.h"
#include <string.h>

#define MOST_NESTED 32

/* Limits are for the whole program: the regions come as small as they can. */
static GantryPlan *
make_plan (Program *program, GantryModule *region, const GantryPlanOptions *options, const GantryProgress *progress, GError **error)
{
  GantryPlanOptions inner = options != NULL ? *options : (GantryPlanOptions){ 0 };
  GantryTarget target;

  if (inner.target != NULL)
    {
      target = *inner.target;
      target.memory_limit = target.host_limit = 0;
      inner.target = &target;
    }
  inner.flags |= GANTRY_PLAN_RESIDENT;
  inner.nesting++;
  return gantry_memory_plan (region, &inner, progress, error);
}

/* Returns: (transfer none) (nullable) */
static GantryPlan *
plan_of (Program *program, GantryModule *module, guint32 function, const GantryPlanOptions *options,
         const GantryProgress *progress, GError **error)
{
  GantryPlanRegion region = { .function = function };

  for (guint i = 0; i < program->regions->len; i++)
    if (g_array_index (program->regions, GantryPlanRegion, i).function == function)
      return g_array_index (program->regions, GantryPlanRegion, i).plan;
  region.plan = make_plan (program, module, options, progress, error);
  if (region.plan == NULL)
    return NULL;
  program->region_bytes += region.plan->constant_bytes + region.plan->literal_bytes;
  g_array_append_val (program->regions, region);
  return region.plan;
}

static double
time_of (const GantryControl *control, const double *us)
{
  double trips = (double) MAX (control->trips, control->kind == GANTRY_CONTROL_SCAN ? 0 : 1);

  switch ((GantryControlKind) control->kind)
    {
    case GANTRY_CONTROL_BRANCH:
      return MAX (us[GANTRY_CONTROL_THEN], us[GANTRY_CONTROL_ELSE]);
    case GANTRY_CONTROL_WHILE:
      return trips * us[GANTRY_CONTROL_BODY] + (trips + 1) * us[GANTRY_CONTROL_CONDITION];
    case GANTRY_CONTROL_SCAN:
      return trips * us[GANTRY_CONTROL_BODY];
    default:
      return us[0];
    }
}

/* Whether what stands outside of a scan keeps slices of it from being used where they lie; what is offloaded is no slice's business
 * here: see _gantry_planner_workspace(). By parameter of the body, then by result. (transfer full) */
static guint8 *
find_staged (const Program *program, const GantryNode *node, const GantryControl *control)
{
  guint n = control->n_operands - control->first + control->n_results;
  guint8 *staged = g_new0 (guint8, n + 1);

  memset (staged, program->slices_staged, n);
  for (guint i = control->first; i < control->n_operands; i++)
    {
      guint32 operand = _gantry_program_operand (program, node, i);
      const Value *value = operand != NONE ? VALUE (program, operand) : NULL;

      if (value == NULL || value->kind == VALUE_LITERAL || value->memory != GANTRY_MEMORY_DEVICE)
        staged[i - control->first] = TRUE;
    }
  return staged;
}

gboolean
_gantry_program_plan_regions (Program *program, const GantryNode *node, Work *work, const GantryPlanOptions *options,
                              const GantryProgress *progress, GError **error)
{
  g_autofree guint8 *staged = NULL;
  GantryControl control;
  double us[2] = { 0, 0 };

  if (!gantry_control_of (program->module, node, &control))
    return _gantry_program_fail (program, node, GANTRY_ERROR_INVALID, "it names a function that is not in the module", error);
  if (options != NULL && options->nesting >= MOST_NESTED)
    return _gantry_program_fail (program, node, GANTRY_ERROR_UNSUPPORTED,
                                 "branches and loops nest deeper than " G_STRINGIFY (MOST_NESTED), error);
  staged = find_staged (program, node, &control);
  for (guint r = 0; r < control.n_regions; r++)
    {
      g_autoptr (GantryModule) module = gantry_module_region (program->module, control.functions[r]);
      GantryPlan *plan = plan_of (program, module, control.functions[r], options, progress, error);
      g_autoptr (GantryRegionLayout) layout = plan != NULL ? gantry_region_layout_new (&control, r, module, plan, staged, error) : NULL;

      if (layout == NULL)
        return FALSE;
      work->workspace = MAX (work->workspace, layout->bytes);
      us[r] = plan->total_us;
    }
  work->control_us = time_of (&control, us);
  return TRUE;
}
