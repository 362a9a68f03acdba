/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a module as generated code, and compares values. */
#include "tests/core/frontends/xla/run-case.h"
#include "core/compiler/compiler.h"
#include "core/kernels/kernels.h"
#include "core/planner/planner.h"
#include "core/runtime/runtime.h"
#include <math.h>
#include <string.h>

static GantryModule *
passes (GantryModule *module, RunBackEnd back_end, GError **error)
{
  g_autoptr (GantryModel) model = gantry_model_new (module, "case");
  g_autoptr (GantryCompilation) compilation = NULL;
  g_auto (GantryCompileSettings) settings;
  const GError *refusal;

  gantry_compile_settings_init (&settings);
  settings.fuse_rows = settings.fuse_products = back_end == RUN_GRID;
  compilation = gantry_compile (model, &settings, NULL, error);
  if (compilation == NULL)
    return NULL;
  refusal = compilation->refusal != NULL ? compilation->refusal : compilation->plan_error;
  if (refusal != NULL)
    {
      g_propagate_error (error, g_error_copy (refusal));
      return NULL;
    }
  return gantry_module_ref (gantry_compilation_module (compilation));
}

static GantryExecutable *
build (GantryModule *module, RunBackEnd back_end, GError **error)
{
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  GantryKernelSet *kernels;
  g_autoptr (GantryKernelSizes) sizes = NULL;
  g_autoptr (GantryPlanner) planner = NULL;
  g_autoptr (GantryPlacements) placements = gantry_placements_new ();
  g_autoptr (GantryPlan) plan = NULL;
  GantryPlanOptions plan_options = { 0 };

  options.n_threads = 1;
  if (back_end == RUN_GRID)
    options.target = GANTRY_CODE_GRID_ON_CPU;
  kernels = gantry_kernels_compile (module, &options, NULL, error);
  if (kernels == NULL)
    return NULL;
  plan_options.sizes = sizes = gantry_kernel_set_sizes (kernels, module);
  planner = gantry_planner_new (module, &plan_options, NULL, error);
  plan = planner != NULL ? gantry_planner_plan (planner, placements, NULL, error) : NULL;
  if (plan == NULL)
    {
      gantry_kernel_set_free (kernels);
      return NULL;
    }
  return gantry_executable_new (module, plan, kernels, error);
}

static void
unref_literal (gpointer literal)
{
  if (literal != NULL)
    gantry_literal_unref (literal);
}

GPtrArray *
run_case (GantryModule *module, const GPtrArray *inputs, RunBackEnd back_end, GError **error)
{
  g_autoptr (GantryModule) lowered = passes (module, back_end, error);
  g_autoptr (GantryExecutable) executable = lowered != NULL ? build (lowered, back_end, error) : NULL;
  GantryDevice *device;
  g_autoptr (GantryExecutor) executor = NULL;
  g_autoptr (GPtrArray) results = g_ptr_array_new_with_free_func (unref_literal);

  if (executable == NULL)
    return NULL;
  device = gantry_cpu_device_new (1);
  executor = gantry_executor_new (device, executable, NULL, error);
  gantry_device_unref (device);
  if (executor == NULL)
    return NULL;
  g_ptr_array_set_size (results, (gint) executable->n_outputs);
  if (!gantry_executor_run_literals (executor, (GantryLiteral *const *) inputs->pdata, inputs->len, (GantryLiteral **) results->pdata, results->len, NULL, NULL,
                                     error))
    return NULL;
  return g_steal_pointer (&results);
}

/* Relative distance of neighbouring numbers. */
static double
unit (GantryElementType element)
{
  switch ((int) element)
    {
    case GANTRY_BF16: return 0x1p-8;
    case GANTRY_F16: return 0x1p-11;
    case GANTRY_F32: return 0x1p-24;
    default: return 0x1p-53;
    }
}

/* @absolute: what the rounding of sums of the largest values comes to, where they cancel. */
static gboolean
numbers_agree (double a, double b, gboolean exact, double relative, double absolute)
{
  if (isnan (a) || isnan (b))
    return isnan (a) && isnan (b);
  if (a == b)
    return TRUE;
  return !exact && isfinite (a) && isfinite (b) && (fabs (a - b) <= relative * fmax (fabs (a), fabs (b)) || fabs (a - b) <= absolute);
}

static double
largest (const GantryLiteral *literal, gint64 n)
{
  double most = 0;

  for (gint64 i = 0; i < n; i++)
    {
      double value = fabs (gantry_literal_get_double (literal, i));

      if (isfinite (value))
        most = fmax (most, value);
    }
  return most;
}

gboolean
run_agree (const GantryLiteral *actual, const GantryLiteral *expected, gboolean exact, double tolerance, char **why)
{
  GantryElementType element = (GantryElementType) expected->type->element;
  gint64 n = gantry_type_elements (expected->type);
  double relative = fmax (tolerance, 6 * unit (element)), absolute = 0;

  if (!gantry_type_same_shape (actual->type, expected->type))
    {
      *why = g_strdup ("another type");
      return FALSE;
    }
  if (gantry_element_is_float (element))
    absolute = 64 * unit (element) * largest (expected, n);
  for (gint64 i = 0; i < n; i++)
    if (gantry_element_is_float (element))
      {
        double a = gantry_literal_get_double (actual, i), b = gantry_literal_get_double (expected, i);

        if (!numbers_agree (a, b, exact, relative, absolute))
          {
            *why = g_strdup_printf ("element %" G_GINT64_FORMAT " is %.9g and should be %.9g", i, a, b);
            return FALSE;
          }
      }
    else if (gantry_literal_get_int (actual, i) != gantry_literal_get_int (expected, i))
      {
        *why = g_strdup_printf ("element %" G_GINT64_FORMAT " is %" G_GINT64_FORMAT " and should be %" G_GINT64_FORMAT, i, gantry_literal_get_int (actual, i),
                                gantry_literal_get_int (expected, i));
        return FALSE;
      }
  return TRUE;
}
