/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program in one configuration: passes, kernels, plan with its placements, executor. */
#include "core/base/error.h"
#include "core/compiler/compiler.h"
#include "core/eval/evaluator.h"
#include "core/planner/planner.h"
#include "core/runtime/runtime.h"
#include "tests/differential/differential.h"

DiffMachine *
diff_machine_new (void)
{
  return g_new0 (DiffMachine, 1);
}

void
diff_machine_free (DiffMachine *machine)
{
  for (guint i = 0; i < DIFF_MOST_THREADS; i++)
    g_clear_pointer (&machine->devices[i], gantry_device_unref);
  g_free (machine);
}

static guint
threads_of (const DiffConfig *config)
{
  return MAX (config->threads, 1);
}

static GantryDevice *
device_of (DiffMachine *machine, const DiffConfig *config)
{
  guint n = threads_of (config);

  if (machine->devices[n - 1] == NULL)
    machine->devices[n - 1] = gantry_cpu_device_new (n);
  return machine->devices[n - 1];
}

static void
unref_literal (gpointer literal)
{
  if (literal != NULL)
    gantry_literal_unref (literal);
}

static GPtrArray *
new_results (guint n)
{
  GPtrArray *results = g_ptr_array_new_with_free_func (unref_literal);

  g_ptr_array_set_size (results, (gint) n);
  return results;
}

static GPtrArray *
evaluate (GantryModule *module, const GPtrArray *inputs, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GPtrArray) results = new_results (entry->n_results);

  if (!gantry_evaluate (module, entry, (GantryLiteral *const *) inputs->pdata, (GantryLiteral **) results->pdata, NULL, error))
    return NULL;
  return g_steal_pointer (&results);
}

/* The program after the passes. */
static GantryModule *
run_passes (GantryModule *module, const DiffConfig *config, GError **error)
{
  g_autoptr (GantryModel) model = gantry_model_new (module, "differential");
  g_autoptr (GantryCompilation) compilation = NULL;
  g_auto (GantryCompileSettings) settings;

  gantry_compile_settings_init (&settings);
  settings.fuse_rows = settings.fuse_products = config->back_end == DIFF_GRID;
  if (config->rolled)
    gantry_compile_settings_keep_loops (&settings);
  if (config->left_out != NULL)
    gantry_compile_settings_set_enabled (&settings, config->left_out, FALSE);
  compilation = gantry_compile (model, &settings, NULL, error);
  if (compilation == NULL)
    return NULL;
  if (compilation->refusal != NULL || compilation->plan_error != NULL)
    {
      g_propagate_error (error, g_error_copy (compilation->refusal != NULL ? compilation->refusal : compilation->plan_error));
      return NULL;
    }
  return gantry_module_ref (gantry_compilation_module (compilation));
}

static GantryKernelSet *
compile_kernels (GantryModule *module, const DiffConfig *config, GError **error)
{
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;

  options.n_threads = threads_of (config);
  options.use_library = config->back_end == DIFF_LIBRARY;
  options.optimization = config->optimization;
  options.instructions = config->instructions;
  options.layout_block = config->block;
  if (config->back_end == DIFF_GRID)
    options.target = GANTRY_CODE_GRID_ON_CPU;
  return gantry_kernels_compile (module, &options, NULL, error);
}

GantryPlacements *
diff_random_placements (const GantryPlanner *planner, guint32 seed, double share)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  GantryPlacements *placements = gantry_placements_new ();
  const GantryCandidate *candidates;
  guint n;

  candidates = gantry_planner_candidates (planner, &n);
  for (guint i = 0; i < n; i++)
    {
      guint kind = (guint) g_rand_int_range (rand, 0, GANTRY_N_PLACEMENTS);
      GantryPlacement placement = { candidates[i].node, (guint8) kind, GANTRY_DECIDED_BY_CLICK, GANTRY_MEMORY_PINNED_HOST, candidates[i].subject };

      if ((candidates[i].allowed & (1u << kind) & GANTRY_EXACT_PLACEMENTS) != 0 && g_rand_double (rand) < share)
        gantry_placements_set (placements, &placement);
    }
  return placements;
}

static GantryExecutable *
build (GantryModule *module, const DiffConfig *config, GError **error)
{
  GantryKernelSet *kernels = compile_kernels (module, config, error);
  g_autoptr (GantryKernelSizes) sizes = kernels != NULL ? gantry_kernel_set_sizes (kernels, module) : NULL;
  GantryPlanOptions options = { .sizes = sizes };
  g_autoptr (GantryPlanner) planner = NULL;
  g_autoptr (GantryPlacements) placements = NULL;
  g_autoptr (GantryPlan) plan = NULL;

  if (kernels == NULL)
    return NULL;
  planner = gantry_planner_new (module, &options, NULL, error);
  if (planner != NULL)
    {
      if (config->placements != 0)
        placements = diff_random_placements (planner, config->placements, 1);
      plan = gantry_planner_plan (planner, placements, NULL, error);
    }
  if (plan == NULL)
    {
      gantry_kernel_set_free (kernels);
      return NULL;
    }
  return gantry_executable_new (module, plan, kernels, error);
}

/* Where it is not known how long a kernel takes, the device leaves none to one thread. */
static void
divide_all (GantryExecutable *executable)
{
  for (guint32 i = 0; i < executable->n_kernels; i++)
    executable->kernels[i].flops = executable->kernels[i].bytes = -1;
}

/* Places are overwritten when they are allocated and released, so that a read too early or too late shows. */
static GPtrArray *
execute (DiffMachine *machine, GantryExecutable *executable, const GPtrArray *inputs, const DiffConfig *config, GError **error)
{
  g_autoptr (GantryExecutor) executor = NULL;
  g_autoptr (GPtrArray) results = NULL;

  if (threads_of (config) > 1)
    divide_all (executable);
  executor = gantry_executor_new (device_of (machine, config), executable, NULL, error);
  if (executor == NULL)
    return NULL;
  gantry_executor_set_verify (executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | (config->whole ? GANTRY_VERIFY_WRITES : 0));
  results = new_results (executable->n_outputs);
  if (!gantry_executor_run_literals (executor, (GantryLiteral *const *) inputs->pdata, inputs->len, (GantryLiteral **) results->pdata, results->len, NULL, NULL,
                                     error))
    return NULL;
  return g_steal_pointer (&results);
}

GPtrArray *
diff_run (DiffMachine *machine, GantryModule *module, const GPtrArray *inputs, const DiffConfig *config, GError **error)
{
  g_autoptr (GantryModule) lowered = NULL;
  g_autoptr (GantryExecutable) executable = NULL;

  if (config->back_end == DIFF_EVALUATOR)
    return evaluate (module, inputs, error);
  lowered = run_passes (module, config, error);
  executable = lowered != NULL ? build (lowered, config, error) : NULL;
  return executable != NULL ? execute (machine, executable, inputs, config, error) : NULL;
}
