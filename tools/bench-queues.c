/* SPDX-License-Identifier: Apache-2.0 */
/* How well copies hide behind computing on this machine, and how near predictions come: a training step of a chain of
 * matrix products under several placements. Each is planned, run, planned again from what was measured, and run again;
 * prediction and measurement are then compared. Prints lines for tools/bench.
 * Usage: bench-queues [--size N] [--layers L] [--runs N] */
#include "core/autodiff/autodiff.h"
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"
#include "core/planner/planner.h"
#include "core/plan/executable.h"
#include "core/plan/kernel-sizes.h"
#include "core/plan/placement.h"
#include "core/plan/plan.h"
#include "core/runtime/runtime.h"
#include "profiler/profiler.h"
#include "tools/bench-figure.h"
#include "tools/bench-main.h"

static int size = 1024, n_layers = 6, n_runs = 5, n_threads = 0;

static GOptionEntry entries[] = { { "size", 0, 0, G_OPTION_ARG_INT, &size, "Rows and columns of the matrices (1024)", "N" },
                                  { "layers", 0, 0, G_OPTION_ARG_INT, &n_layers, "Products in the chain (6)", "L" },
                                  { "runs", 0, 0, G_OPTION_ARG_INT, &n_runs, "Measured runs of each plan (5)", "N" },
                                  { "threads", 0, 0, G_OPTION_ARG_INT, &n_threads, "Threads of the compute queue (0: all processors)", "N" },
                                  G_OPTION_ENTRY_NULL };

typedef struct
{
  GantryContext *context;
  GantryModule *module;
  GantryDevice *device;
  GantryDeviceRates rates;
  GantryLiteral **inputs;
  guint n_inputs, n_outputs;
} Bench;

/* x -> tanh (x w) -> ..., trained by plain gradient descent. */
static GantryModule *
make_step (GantryContext *context, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GantryModule) module = NULL;
  GantryTrainingOptions options;
  GantryModule *step;

  g_string_printf (text, "module \"chain\" {\n  func @main #1 (%%1 \"x\": f32[%d,%d]", size, size);
  for (int i = 0; i < n_layers; i++)
    g_string_append_printf (text, ", %%%d \"w%d\": f32[%d,%d] {role = \"parameter\"}", i + 2, i, size, size);
  g_string_append_printf (text, ") -> (%%%d) {\n", 1001 + 2 * n_layers - 2);
  for (int i = 0; i < n_layers; i++)
    {
      g_string_append_printf (text,
                              "    %%%d = dot_general(%%%d, %%%d) {lhs_contracting_dimensions = [1], "
                              "rhs_contracting_dimensions = [0]}: f32[%d,%d]\n",
                              1000 + 2 * i, i == 0 ? 1 : 1001 + 2 * (i - 1), i + 2, size, size);
      g_string_append_printf (text, "    %%%d \"x%d\" = tanh(%%%d): f32[%d,%d]\n", 1001 + 2 * i, i + 1, 1000 + 2 * i, size, size);
    }
  g_string_append (text, "  }\n}\n");
  module = gantry_module_from_text (context, text->str, -1, "chain", error);
  if (module == NULL)
    return NULL;
  gantry_training_options_init (&options);
  step = gantry_training_step (module, &options, NULL, error);
  gantry_training_options_clear (&options);
  return step;
}

static GantryLiteral *
random_literal (const GantryType *type, GRand *rand)
{
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

  for (gint64 i = 0; type->element == GANTRY_F32 && i < gantry_type_elements (type); i++)
    ((float *) (gpointer) data)[i] = (float) g_rand_double_range (rand, -0.03, 0.03);
  return literal;
}

typedef enum
{
  KEEP,
  RECOMPUTE,
  OFFLOAD_RESIDUALS,
  OFFLOAD_PARAMETERS,
  N_VARIANTS
} Variant;

static const char *const names[] = { "keep", "recompute", "offload-residuals", "offload-parameters" };

static GantryPlacements *
choose (GantryPlanner *planner, Variant variant)
{
  static const guint8 kinds[] = { GANTRY_PLACEMENT_KEEP, GANTRY_PLACEMENT_RECOMPUTE, GANTRY_PLACEMENT_OFFLOAD, GANTRY_PLACEMENT_OFFLOAD };
  GantryPlacements *placements = gantry_placements_new ();
  GantryPlacementSubject subject = variant == OFFLOAD_PARAMETERS ? GANTRY_SUBJECT_PARAMETER : GANTRY_SUBJECT_RESIDUAL;
  const GantryCandidate *candidates;
  guint n;

  candidates = gantry_planner_candidates (planner, &n);
  for (guint i = 0; i < n; i++)
    {
      GantryPlacement placement = { candidates[i].node, kinds[variant], GANTRY_DECIDED_BY_RULE, GANTRY_MEMORY_PINNED_HOST, candidates[i].subject };

      if (candidates[i].subject == subject && (candidates[i].allowed & (1u << kinds[variant])) != 0)
        gantry_placements_set (placements, &placement);
    }
  return placements;
}

static GantryExecutable *
build (const Bench *bench, Variant variant, GHashTable *measured, double link, GError **error)
{
  GantryKernelOptions kernel_options = GANTRY_KERNEL_OPTIONS_INIT;
  GantryTarget target;
  GantryPlanOptions options = { .target = &target, .measured_us = measured };
  g_autoptr (GantryKernelSizes) sizes = NULL;
  GantryKernelSet *kernels;
  g_autoptr (GantryPlanner) planner = NULL;
  g_autoptr (GantryPlacements) placements = NULL;
  g_autoptr (GantryPlan) plan = NULL;

  gantry_target_init_cpu (&target, gantry_cpu_device_threads (bench->device));
  target.link_bandwidth = link;
  target.launch_us = bench->rates.launch_us;
  kernel_options.n_threads = gantry_cpu_device_threads (bench->device);
  kernels = gantry_kernels_compile (bench->module, &kernel_options, NULL, error);
  if (kernels == NULL)
    return NULL;
  options.sizes = sizes = gantry_kernel_set_sizes (kernels, bench->module);
  planner = gantry_planner_new (bench->module, &options, NULL, error);
  placements = planner != NULL ? choose (planner, variant) : NULL;
  plan = planner != NULL ? gantry_planner_plan (planner, placements, NULL, error) : NULL;
  if (plan == NULL)
    {
      gantry_kernel_set_free (kernels);
      return NULL;
    }
  return gantry_executable_new (bench->module, plan, kernels, error);
}

/* The runs after the first, which only warms up. */
static GantryRecording *
run (const Bench *bench, GantryExecutable *executable, int n, GError **error)
{
  g_autoptr (GantryExecutor) executor = gantry_executor_new (bench->device, executable, NULL, error);
  g_autoptr (GantryCpuRecorder) recorder = gantry_cpu_recorder_new (gantry_device_name (bench->device));
  g_autofree GantryLiteral **outputs = g_new0 (GantryLiteral *, bench->n_outputs + 1);

  for (int i = 0; i <= n; i++)
    {
      if (executor == NULL
          || !gantry_executor_run_literals (executor, bench->inputs, bench->n_inputs, outputs, bench->n_outputs,
                                            i > 0 ? gantry_cpu_recorder_observer (recorder) : NULL, NULL, error))
        return NULL;
      for (guint k = 0; k < bench->n_outputs; k++)
        gantry_literal_unref (outputs[k]);
    }
  return gantry_cpu_recorder_take (recorder);
}

static void
print_figure (Variant variant, const char *what, double *values, guint n, const char *unit, const char *peer)
{
  g_autofree char *full = g_strdup_printf ("queues.%s.%s", names[variant], what);

  bench_print_figure (full, values, (guint) n, unit, peer);
}

static void
report (Variant variant, GantryExecutable *executable, const GantryRecording *recording)
{
  const GantryPlan *plan = executable->plan;
  g_autoptr (GantryRecording) predicted = gantry_recording_from_plan (executable->module, plan);
  g_autofree double *step = g_new (double, n_runs), *hidden = g_new (double, n_runs), *off = g_new (double, n_runs);
  g_autofree char *plan_hides = NULL, *plan_takes = NULL;
  guint n = gantry_recording_n_runs (recording);
  double peak = (double) plan->arena_bytes[GANTRY_MEMORY_DEVICE] / (1 << 20);
  GantryOverlap planned, measured;

  gantry_recording_overlap (predicted, -1, &planned);
  for (guint i = 0; i < n; i++)
    {
      gantry_recording_overlap (recording, (gint) i, &measured);
      step[i] = (double) measured.run_ns / 1e6;
      hidden[i] = 100 * gantry_overlap_kept (&planned, &measured);
      off[i] = 100 * (step[i] * 1e3 / plan->total_us - 1);
    }
  plan_takes = g_strdup_printf ("plan: %.4g ms", plan->total_us / 1e3);
  plan_hides = g_strdup_printf ("plan: hides %.1f %% of %.4g ms", 100 * gantry_overlap_hidden (&planned), (double) planned.copy_ns / 1e6);
  print_figure (variant, "step", step, n, "ms", plan_takes);
  print_figure (variant, "beyond_prediction", off, n, "%", "within 15");
  if (plan->copied_bytes > 0)
    print_figure (variant, "planned_hiding_kept", hidden, n, "%", plan_hides);
  print_figure (variant, "device_memory", &peak, 1, "MiB", "planned");
}

static gboolean
measure (const Bench *bench, Variant variant, GError **error)
{
  double link = bench->rates.both;
  g_autoptr (GantryExecutable) first = build (bench, variant, NULL, link, error);
  g_autoptr (GantryRecording) once = first != NULL ? run (bench, first, 1, error) : NULL;
  g_autoptr (GHashTable) measured = NULL;
  g_autoptr (GantryExecutable) second = NULL;
  g_autoptr (GantryRecording) recording = NULL;

  if (once == NULL)
    return FALSE;
  measured = gantry_recording_measured_us (once);
  if (gantry_recording_link_bandwidth (once, GANTRY_N_QUEUES) > 0)
    link = gantry_recording_link_bandwidth (once, GANTRY_N_QUEUES);
  second = build (bench, variant, measured, link, error);
  recording = second != NULL ? run (bench, second, n_runs, error) : NULL;
  if (recording == NULL)
    return FALSE;
  report (variant, second, recording);
  return TRUE;
}

static gboolean
prepare (Bench *bench, GError **error)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  const GantryFunction *entry;

  bench->context = gantry_context_new ();
  bench->device = gantry_cpu_device_new (n_threads);
  bench->module = make_step (bench->context, error);
  if (bench->module == NULL || !gantry_device_measure (bench->device, (gsize) size * (gsize) size * 4, &bench->rates, NULL, error))
    return FALSE;
  g_print ("# link: %.1f GB/s to host, %.1f GB/s to device, %.1f GB/s both; launch %.3f us\n", bench->rates.to_host / 1e9, bench->rates.to_device / 1e9,
           bench->rates.both / 1e9, bench->rates.launch_us);
  entry = gantry_module_entry (bench->module);
  bench->n_inputs = entry->n_params;
  bench->n_outputs = entry->n_results;
  bench->inputs = g_new0 (GantryLiteral *, entry->n_params + 1);
  for (guint i = 0; i < entry->n_params; i++)
    bench->inputs[i] = random_literal (gantry_node_type (bench->module, &bench->module->nodes[entry->first_node + i]), rand);
  return TRUE;
}

static gboolean
measure_variants (GError **error)
{
  Bench bench = { NULL };
  gboolean ok = prepare (&bench, error);

  for (guint i = 0; ok && i < N_VARIANTS; i++)
    ok = measure (&bench, i, error);
  for (guint i = 0; bench.inputs != NULL && i < bench.n_inputs; i++)
    gantry_literal_unref (bench.inputs[i]);
  g_free (bench.inputs);
  g_clear_pointer (&bench.module, gantry_module_unref);
  g_clear_pointer (&bench.context, gantry_context_unref);
  g_clear_pointer (&bench.device, gantry_device_unref);
  return ok;
}

int
main (int argc, char **argv)
{
  static const BenchLimit limits[] = {
    { "size", &size, 8, 16384 }, { "layers", &n_layers, 2, 400 }, { "runs", &n_runs, 1, 1000 }, { "threads", &n_threads, 0, 1024 }, { NULL },
  };

  return bench_main (argc, argv, "bench-queues", entries, limits, measure_variants);
}
