/* SPDX-License-Identifier: Apache-2.0 */
/* Random placements on random and on real programs: whatever is kept, computed again or moved, the results are those of
 * keeping all, bit for bit. Kernels are compiled once for a program; each placement gives a plan and a run of its own. */
#include "core/base/error.h"
#include "core/compiler/compiler.h"
#include "core/graph/text.h"
#include "core/runtime/runtime.h"
#include "tests/differential/differential.h"
#include "tests/soak.h"
#include <stdio.h>
#include <string.h>

#define PLACEMENTS_OF_RANDOM 24
#define PLACEMENTS_OF_REAL 120

static const char *const real_programs[] = { "mlp", "layers-tiny", "lstm", "convnet", "transformer-tiny" };

typedef struct
{
  SoakOptions options;
  GantryDevice *device;
  guint64 passed, failed, skipped, programs, copies, again;
} Soak;

/* One program with its kernels. */
typedef struct
{
  char *name;
  GantryModule *module; /* after the passes */
  GantryKernelSet *kernels;
  GantryKernelSizes *sizes;
  GPtrArray *inputs, *expected;
} Program;

static void
program_clear (Program *program)
{
  g_clear_pointer (&program->expected, g_ptr_array_unref);
  g_clear_pointer (&program->inputs, g_ptr_array_unref);
  g_clear_pointer (&program->sizes, gantry_kernel_sizes_unref);
  g_clear_pointer (&program->kernels, gantry_kernel_set_free);
  g_clear_pointer (&program->module, gantry_module_unref);
  g_free (program->name);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Program, program_clear)

/* Real programs are opened, each in its turn; the others are made. */
static GantryModel *
next_model (const Soak *soak, guint64 number, guint32 seed, Program *program, GError **error)
{
  g_autoptr (GantryModule) module = NULL;

  if (number % 8 == 0)
    {
      const char *name = real_programs[number / 8 % G_N_ELEMENTS (real_programs)];
      const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
      g_autofree char *file = g_strconcat (name, ".gir", NULL);
      g_autofree char *path = g_build_filename (root != NULL ? root : ".", "data", "programs", file, NULL);

      program->name = g_strdup (name);
      return gantry_model_open (path, NULL, 1, NULL, error);
    }
  program->name = g_strdup_printf ("random program %u", seed);
  module = diff_generate (seed);
  return gantry_model_new (module, "random");
}

/* As a training step, with residuals and state, where the program has gradients. */
static GantryModule *
lower (GantryModel *model, GRand *rand, GError **error)
{
  static const GantryOptimizer optimizers[] = { GANTRY_OPTIMIZER_NONE, GANTRY_OPTIMIZER_SGD, GANTRY_OPTIMIZER_ADAM };
  g_auto (GantryCompileSettings) settings;
  g_autoptr (GantryCompilation) compilation = NULL;

  gantry_compile_settings_init (&settings);
  settings.train = g_rand_int_range (rand, 0, 4) > 0;
  settings.training.loss = GANTRY_LOSS_OUTPUT;
  settings.training.optimizer = optimizers[g_rand_int_range (rand, 0, G_N_ELEMENTS (optimizers))];
  compilation = gantry_compile (model, &settings, NULL, NULL);
  if (compilation == NULL || compilation->refusal != NULL || compilation->plan == NULL)
    {
      g_clear_pointer (&compilation, gantry_compilation_unref);
      settings.train = FALSE;
      compilation = gantry_compile (model, &settings, NULL, error);
    }
  if (compilation == NULL)
    return NULL;
  if (compilation->refusal != NULL || compilation->plan == NULL)
    {
      g_propagate_error (error, g_error_copy (compilation->refusal != NULL ? compilation->refusal : compilation->plan_error));
      return NULL;
    }
  return gantry_module_ref (gantry_compilation_module (compilation));
}

/* A set that an executable may own, over kernels that stay ours. */
static GantryKernelSet *
borrow (const GantryKernelSet *own)
{
  GantryKernelSet *set = g_memdup2 (own, sizeof *own);

  set->kernels = g_memdup2 (own->kernels, own->n_kernels * sizeof *own->kernels);
  for (guint32 i = 0; i < own->n_kernels; i++)
    {
      GantryKernel *kernel = &set->kernels[i];

      kernel->name = g_strdup (kernel->name);
      kernel->free_state = NULL;
      kernel->texpr = kernel->llvm_ir = kernel->assembly = kernel->schedule = NULL;
      kernel->gpu = NULL;
    }
  set->kernel_of = g_memdup2 (own->kernel_of, own->n_kernel_of * sizeof *own->kernel_of);
  set->layout_blocks = g_memdup2 (own->layout_blocks, own->n_kernel_of * sizeof *own->layout_blocks);
  set->target = g_strdup (own->target);
  set->images = NULL;
  set->n_images = 0;
  set->free_code = NULL;
  return set;
}

static void
unref_literal (gpointer literal)
{
  if (literal != NULL)
    gantry_literal_unref (literal);
}

static GPtrArray *
run (Soak *soak, const Program *program, GantryPlan *plan, gboolean whole, GError **error)
{
  g_autoptr (GantryExecutable) executable = gantry_executable_new (program->module, plan, borrow (program->kernels), error);
  g_autoptr (GantryExecutor) executor = NULL;
  g_autoptr (GPtrArray) results = NULL;

  executor = executable != NULL ? gantry_executor_new (soak->device, executable, NULL, error) : NULL;
  if (executor == NULL)
    return NULL;
  gantry_executor_set_verify (executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | (whole ? GANTRY_VERIFY_WRITES : 0));
  results = g_ptr_array_new_with_free_func (unref_literal);
  g_ptr_array_set_size (results, (gint) executable->n_outputs);
  if (!gantry_executor_run_literals (executor, (GantryLiteral *const *) program->inputs->pdata, program->inputs->len, (GantryLiteral **) results->pdata,
                                     results->len, NULL, NULL, error))
    return NULL;
  return g_steal_pointer (&results);
}

/* (transfer full) (nullable): NULL: the same bits */
static char *
first_difference (const GPtrArray *a, const GPtrArray *b)
{
  for (guint i = 0; i < a->len; i++)
    {
      const GantryLiteral *x = g_ptr_array_index (a, i), *y = g_ptr_array_index (b, i);

      for (gsize at = 0; at < x->size; at++)
        if (x->data[at] != y->data[at])
          return g_strdup_printf ("result %u differs from byte %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT, i, at, x->size);
    }
  return NULL;
}

static void
count_steps (Soak *soak, const GantryPlan *plan)
{
  for (guint32 i = 0; i < plan->n_steps; i++)
    {
      soak->copies += plan->steps[i].kind == GANTRY_STEP_COPY;
      soak->again += plan->steps[i].kind == GANTRY_STEP_RECOMPUTE;
    }
}

static void
report (Soak *soak, const Program *program, guint64 number, const char *why, const GantryPlacements *placements)
{
  g_autofree char *text = gantry_module_to_text (program->module, NULL);
  g_autoptr (GString) all = g_string_new (NULL);

  g_string_append_printf (all, "// %s: %s\n", program->name, why);
  for (guint i = 0; placements != NULL && i < placements->entries->len; i++)
    {
      const GantryPlacement *entry = &g_array_index (placements->entries, GantryPlacement, i);

      g_string_append_printf (all, "// %%%u: %u\n", entry->node, entry->kind);
    }
  g_string_append (all, text);
  soak_report (&soak->options, number, why, all->str);
  soak->failed++;
}

static gboolean
try_placement (Soak *soak, const Program *program, guint64 number, GantryPlanner *planner, GRand *rand)
{
  g_autoptr (GantryPlacements) placements = diff_random_placements (planner, g_rand_int (rand), g_rand_int_range (rand, 0, 4) == 0 ? 1 : g_rand_double (rand));
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPlan) plan = gantry_planner_plan (planner, placements, NULL, &error);
  g_autoptr (GPtrArray) got = plan != NULL ? run (soak, program, plan, g_rand_int_range (rand, 0, 16) == 0, &error) : NULL;
  g_autofree char *difference = got != NULL ? first_difference (program->expected, got) : g_strdup (error->message);

  if (plan != NULL)
    count_steps (soak, plan);
  if (difference == NULL)
    soak->passed++;
  else
    report (soak, program, number, difference, placements);
  return difference == NULL;
}

static gboolean
prepare (Soak *soak, Program *program, guint64 number, guint32 seed, GRand *rand, GError **error)
{
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  g_autoptr (GantryModel) model = next_model (soak, number, seed, program, error);

  program->module = model != NULL ? lower (model, rand, error) : NULL;
  if (program->module == NULL)
    return FALSE;
  options.n_threads = 1;
  options.use_library = g_rand_boolean (rand);
  options.optimization = 1;
  program->kernels = gantry_kernels_compile (program->module, &options, NULL, error);
  if (program->kernels == NULL)
    return FALSE;
  program->sizes = gantry_kernel_set_sizes (program->kernels, program->module);
  program->inputs = diff_inputs (program->module, seed);
  return TRUE;
}

static void
try_program (Soak *soak, guint64 number)
{
  guint32 seed = soak_case_seed (&soak->options, number);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_auto (Program) program = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPlanner) planner = NULL;
  g_autoptr (GantryPlan) plan = NULL;
  guint n = number % 8 == 0 ? PLACEMENTS_OF_REAL : PLACEMENTS_OF_RANDOM;

  if (!prepare (soak, &program, number, seed, rand, &error))
    {
      printf ("# skipped: %s: %s\n", program.name, error->message);
      soak->skipped++;
      return;
    }
  planner = gantry_planner_new (program.module, &(GantryPlanOptions){ .sizes = program.sizes }, NULL, &error);
  plan = planner != NULL ? gantry_planner_plan (planner, NULL, NULL, &error) : NULL;
  program.expected = plan != NULL ? run (soak, &program, plan, FALSE, &error) : NULL;
  soak->programs++;
  if (program.expected == NULL)
    report (soak, &program, number, error->message, NULL);
  for (guint i = 0; program.expected != NULL && i < n && soak_goes_on (&soak->options, soak->passed); i++)
    if (!try_placement (soak, &program, number, planner, rand))
      break;
}

int
main (int argc, char **argv)
{
  Soak soak = { 0 };
  int status;

  if (!soak_options_read (&soak.options, &argc, &argv, "- random placements give the bits of keeping all"))
    return 2;
  soak.device = gantry_cpu_device_new (1);
  for (guint64 i = 0; soak_goes_on (&soak.options, soak.passed); i++)
    try_program (&soak, i);
  gantry_device_unref (soak.device);
  printf ("# %" G_GUINT64_FORMAT " programs, %" G_GUINT64_FORMAT " copies, %" G_GUINT64_FORMAT " recomputations\n", soak.programs, soak.copies, soak.again);
  status = soak_end (soak.passed, soak.failed, soak.skipped);
  soak_options_clear (&soak.options);
  return status;
}
