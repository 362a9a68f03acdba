/* SPDX-License-Identifier: Apache-2.0 */
/* The way from a text to numbers: what gantry-cli train and run do, but the kernels of a step are compiled once and
 * serve all its plans, since a placement changes no kernel. */
#include "tests/app/cli/form-run.h"
#include "core/base/error.h"
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"
#include "core/planner/solver/solve.h"
#include "core/plan/executable.h"
#include "core/plan/kernel-sizes.h"
#include "core/plan/plan.h"
#include <glib/gstdio.h>
#include <string.h>

#define N_THREADS 2

static GantryModel *
open_text (const char *text, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-forms-XXXXXX", error);
  g_autofree char *path = folder != NULL ? g_build_filename (folder, "form.gir", NULL) : NULL;
  GantryModel *model = NULL;

  if (path != NULL && g_file_set_contents (path, text, -1, error))
    model = gantry_model_open (path, NULL, -1, NULL, error);
  if (path != NULL)
    g_unlink (path);
  if (folder != NULL)
    g_rmdir (folder);
  return model;
}

GantryCompilation *
form_compile (const char *text, const GantryCompileSettings *settings, GError **error)
{
  g_autoptr (GantryModel) model = open_text (text, error);

  return model != NULL ? gantry_compile (model, settings, NULL, error) : NULL;
}

GantryModule *
form_step_module (const FormStep *step)
{
  return gantry_compilation_module (step->compilation);
}

static void
compile_kernels (FormStep *step)
{
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPlan) plan = NULL;
  GantryKernelSet *kernels;

  options.n_threads = N_THREADS;
  kernels = gantry_kernels_compile (form_step_module (step), &options, NULL, &error);
  g_assert_no_error (error);
  step->n_kernel_of = kernels->n_kernel_of;
  step->kernel_of = g_memdup2 (kernels->kernel_of, sizeof (guint32) * kernels->n_kernel_of);
  step->layout_blocks = g_memdup2 (kernels->layout_blocks, kernels->n_kernel_of);
  step->sizes = gantry_kernel_set_sizes (kernels, form_step_module (step));
  plan = gantry_compilation_plan (step->compilation, &step->settings, step->sizes, NULL, NULL, &error);
  g_assert_no_error (error);
  step->kept = gantry_executable_new (form_step_module (step), plan, kernels, &error);
  g_assert_no_error (error);
}

static GantryLiteral *
make_input (GantryModule *module, const GantryNode *parameter, FormValue value, gpointer data)
{
  const GantryAttr *initial = gantry_attrs_find (module->context, parameter->attrs, "initial");
  const GantryType *type = gantry_node_type (module, parameter);
  const char *name = gantry_context_string (module->context, parameter->name);
  GantryLiteral *literal;
  guint8 *bytes;

  if (initial != NULL)
    return gantry_literal_ref (gantry_context_literal (module->context, initial->id));
  literal = gantry_literal_new_zeroed (type, &bytes);
  for (gint64 i = 0; i < gantry_type_elements (type); i++)
    gantry_element_write_double (type->element, bytes + (gsize) i * (literal->size / (gsize) gantry_type_elements (type)), value (name, (guint) i, data));
  return literal;
}

FormStep *
form_step_new (const char *text, GantryOptimizer optimizer, const char *without, FormValue value, gpointer data)
{
  FormStep *step = g_new0 (FormStep, 1);
  g_autoptr (GError) error = NULL;
  const GantryFunction *entry;

  step->model = open_text (text, &error);
  g_assert_no_error (error);
  gantry_compile_settings_init (&step->settings);
  step->settings.train = TRUE;
  step->settings.training.optimizer = optimizer;
  step->settings.training.loss = GANTRY_LOSS_OUTPUT;
  if (without != NULL)
    gantry_compile_settings_set_enabled (&step->settings, without, FALSE);
  step->compilation = gantry_compile (step->model, &step->settings, NULL, &error);
  g_assert_no_error (error);
  g_assert_no_error (step->compilation->refusal);
  g_assert_no_error (step->compilation->plan_error);
  compile_kernels (step);
  entry = gantry_module_entry (form_step_module (step));
  step->n_inputs = entry->n_params;
  step->n_outputs = entry->n_results;
  step->inputs = g_new0 (GantryLiteral *, step->n_inputs + 1);
  for (guint i = 0; i < step->n_inputs; i++)
    step->inputs[i] = make_input (form_step_module (step), &form_step_module (step)->nodes[entry->first_node + i], value, data);
  return step;
}

void
form_step_free (FormStep *step)
{
  for (guint i = 0; i < step->n_inputs; i++)
    gantry_literal_unref (step->inputs[i]);
  g_free (step->inputs);
  g_free (step->kernel_of);
  g_free (step->layout_blocks);
  gantry_kernel_sizes_unref (step->sizes);
  gantry_executable_unref (step->kept);
  gantry_compilation_unref (step->compilation);
  gantry_compile_settings_clear (&step->settings);
  gantry_model_unref (step->model);
  g_free (step);
}

GantryPlan *
form_step_plan (FormStep *step, const char *policy, guint64 limit, GPtrArray **reports, GError **error)
{
  g_auto (GantryCompileSettings) settings;
  g_autoptr (GantryCompilation) compilation = NULL;

  gantry_compile_settings_copy (&settings, &step->settings);
  g_free (settings.policy);
  settings.policy = g_strdup (policy);
  compilation = gantry_compilation_replan (step->compilation, &settings, NULL, error);
  if (compilation == NULL)
    return NULL;
  if (reports != NULL)
    *reports = compilation->reports != NULL ? g_ptr_array_ref (compilation->reports) : NULL;
  settings.target.memory_limit = limit;
  return gantry_compilation_plan (compilation, &settings, step->sizes, NULL, NULL, error);
}

GantryPlan *
form_step_solve (FormStep *step, guint64 bytes, GError **error)
{
  GantryPlanOptions options = { .target = &step->settings.target, .sizes = step->sizes };
  GantrySolveGoal goal = { .memory_bytes = bytes, .seconds = 2 };
  GantryTarget target = step->settings.target;
  g_autoptr (GantryPlanner) planner = gantry_planner_new (form_step_module (step), &options, NULL, error);
  g_autoptr (GantryPlanner) limited = NULL;
  g_autoptr (GantrySolution) solution = NULL;

  g_assert_nonnull (planner);
  solution = gantry_solve (planner, &goal, NULL, NULL, error);
  if (solution == NULL)
    return NULL;
  g_assert_cmpuint (solution->figures.peak_bytes, <=, bytes);
  target.memory_limit = solution->limit_bytes;
  options.target = &target;
  limited = gantry_planner_new (form_step_module (step), &options, NULL, error);
  return gantry_planner_plan (limited, solution->placements, NULL, error);
}

GantryExecutable *
form_step_executable (const FormStep *step, GantryPlan *plan)
{
  GantryKernelSet *set = g_new0 (GantryKernelSet, 1);
  GantryExecutable *executable;
  g_autoptr (GError) error = NULL;

  set->n_kernels = step->kept->n_kernels;
  set->kernels = g_memdup2 (step->kept->kernels, sizeof (GantryKernel) * step->kept->n_kernels);
  set->n_kernel_of = step->n_kernel_of;
  set->kernel_of = g_memdup2 (step->kernel_of, sizeof (guint32) * step->n_kernel_of);
  set->layout_blocks = g_memdup2 (step->layout_blocks, step->n_kernel_of);
  for (guint32 i = 0; i < set->n_kernels; i++)
    {
      GantryKernel *kernel = &set->kernels[i];

      kernel->name = g_strdup (kernel->name);
      kernel->free_state = NULL;
      kernel->texpr = kernel->llvm_ir = kernel->assembly = NULL;
    }
  executable = gantry_executable_new (form_step_module (step), plan, set, &error);
  g_assert_no_error (error);
  return executable;
}

static guint64
places (guint64 bytes)
{
  return (bytes + GANTRY_PLACE_ALIGNMENT - 1) / GANTRY_PLACE_ALIGNMENT * GANTRY_PLACE_ALIGNMENT;
}

guint64
form_device_bytes (const GantryExecutable *executable)
{
  return executable->plan->arena_bytes[GANTRY_MEMORY_DEVICE] + executable->packed_bytes + places (executable->plan->constant_bytes);
}

GPtrArray *
form_step_run (const FormStep *step, GantryExecutable *executable, guint n_runs)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (N_THREADS);
  GPtrArray *outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  g_autofree GantryLiteral **in = g_memdup2 (step->inputs, sizeof (GantryLiteral *) * (step->n_inputs + 1));
  g_autoptr (GantryExecutor) executor = NULL;
  g_autoptr (GError) error = NULL;
  const guint64 *arena = executable->plan->arena_bytes;
  GantryMemoryParts parts;
  guint64 most;

  /* As much as the plan says, code included, of which the device allocates form_device_bytes (). */
  gantry_plan_memory_parts (executable->plan, GANTRY_MEMORY_DEVICE, &parts);
  gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, gantry_memory_parts_total (&parts));
  if (arena[GANTRY_MEMORY_PINNED_HOST] > 0)
    gantry_device_set_limit (device, GANTRY_MEMORY_PINNED_HOST, arena[GANTRY_MEMORY_PINNED_HOST]);
  executor = gantry_executor_new (device, executable, NULL, &error);
  g_assert_no_error (error);
  gantry_executor_set_verify (executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | GANTRY_VERIFY_WRITES);
  g_ptr_array_set_size (outputs, (gint) step->n_outputs);
  for (guint run = 0; run < n_runs; run++)
    {
      for (guint i = 0; i < step->n_outputs; i++)
        g_clear_pointer ((GantryLiteral **) &outputs->pdata[i], gantry_literal_unref);
      if (!gantry_executor_run_literals (executor, in, step->n_inputs, (GantryLiteral **) outputs->pdata, step->n_outputs, NULL, NULL, &error))
        g_error ("step %u: %s", run + 1, error->message);
      memset (in, 0, sizeof (GantryLiteral *) * step->n_inputs); /* the next goes on with what is there */
    }
  gantry_device_get_memory (device, GANTRY_MEMORY_DEVICE, NULL, &most, NULL);
  g_assert_cmpuint (most, ==, form_device_bytes (executable));
  gantry_device_get_memory (device, GANTRY_MEMORY_PINNED_HOST, NULL, &most, NULL);
  g_assert_cmpuint (most, ==, arena[GANTRY_MEMORY_PINNED_HOST]);
  return outputs;
}

GPtrArray *
form_step_run_policy (FormStep *step, const char *policy, guint n_runs)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPlan) plan = form_step_plan (step, policy, 0, NULL, &error);
  g_autoptr (GantryExecutable) executable = NULL;

  g_assert_no_error (error);
  executable = form_step_executable (step, plan);
  return form_step_run (step, executable, n_runs);
}

void
form_assert_same (GPtrArray *a, GPtrArray *b, const char *what)
{
  g_assert_cmpuint (a->len, ==, b->len);
  for (guint i = 0; i < a->len; i++)
    {
      const GantryLiteral *x = g_ptr_array_index (a, i), *y = g_ptr_array_index (b, i);

      if (x->size != y->size || memcmp (x->data, y->data, x->size) != 0)
        g_error ("%s: result %u differs", what, i);
    }
}
