/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the rooms together that only a child process may use: kernels, runtime, recorder. */
#include "app/cli/program.h"
#include "core/kernels/kernels.h"
#include "profiler/profiler.h"

static const char *const kernel_kinds[] = { "generated", "library", "builtin", "control" };

void
gantry_program_free (GantryProgram *program)
{
  if (program == NULL)
    return;
  gantry_executable_unref (program->executable);
  g_free (program->target);
  g_free (program);
}

static guint64
workspace_of (const GantryModule *module, const GantryNode *node, gpointer kernels)
{
  return gantry_kernel_set_workspace (kernels, node->id);
}

GantryProgram *
gantry_program_new (const GantryCompilation *compilation, const GantryCompileSettings *settings,
                    const GantryProgramOptions *options, const GantryProgress *progress, GError **error)
{
  GantryKernelOptions kernel_options = GANTRY_KERNEL_OPTIONS_INIT;
  g_autoptr (GantryKernelSet) kernels = NULL;
  g_autoptr (GantryPlan) plan = NULL;
  g_autoptr (GantryProgram) program = g_new0 (GantryProgram, 1);

  if (compilation->refusal != NULL)
    {
      g_propagate_error (error, g_error_copy (compilation->refusal));
      return NULL;
    }
  program->n_threads = options->threads > 0 ? (guint) options->threads : g_get_num_processors ();
  kernel_options.n_threads = program->n_threads;
  kernel_options.use_library = !options->no_library;
  kernel_options.keep_texts = options->keep_texts;
  kernels = gantry_kernels_compile (gantry_compilation_module (compilation), &kernel_options, progress, error);
  if (kernels == NULL)
    return NULL;
  program->target = g_strdup (kernels->target);
  program->compile_ms = kernels->compile_ms;
  plan = gantry_compilation_plan (compilation, settings, workspace_of, kernels, NULL, progress, error);
  if (plan == NULL)
    return NULL;
  program->executable = gantry_executable_new (gantry_compilation_module (compilation), plan,
                                               g_steal_pointer (&kernels), error);
  return program->executable != NULL ? g_steal_pointer (&program) : NULL;
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

static void
take_times (GantryRunResult *result, GArray *times)
{
  guint n = times->len;
  const double *sorted;

  g_array_sort (times, compare_doubles);
  sorted = (const double *) (gpointer) times->data;
  result->milliseconds = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  result->milliseconds_min = sorted[0];
  result->milliseconds_max = sorted[n - 1];
}

static void
take_codes (GantryRunResult *result, const GantryExecutable *executable)
{
  for (guint32 i = 0; i < executable->n_kernels; i++)
    {
      const GantryKernel *kernel = &executable->kernels[i];
      GantryCode code = { .node = kernel->node, .kernel = kernel->name, .kind = (char *) kernel_kinds[kernel->kind],
                          .texpr = kernel->texpr, .llvm_ir = kernel->llvm_ir, .assembly = kernel->assembly };

      gantry_run_result_add_code (result, &code);
    }
}

static void
drop_outputs (GantryLiteral **outputs, guint n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&outputs[i], gantry_literal_unref);
}

static gboolean
run_all (GantryExecutor *executor, GantryProgram *program, GantryCpuRecorder *recorder, GantryLiteral *const *inputs,
         GantryLiteral **outputs, guint n_warmup, guint n_runs, GArray *times, const GantryProgress *progress,
         GError **error)
{
  const GantryExecutable *executable = program->executable;

  for (guint i = 0; i < n_warmup + n_runs; i++)
    {
      gint64 start;
      double ms;

      if (gantry_progress_cancelled (progress, error))
        return FALSE;
      gantry_progress_report (progress, (double) i / (n_warmup + n_runs), "Running");
      drop_outputs (outputs, executable->n_outputs);
      start = gantry_time_ns ();
      if (!gantry_executor_run_literals (executor, inputs, executable->n_inputs, outputs, executable->n_outputs,
                                         i >= n_warmup ? gantry_cpu_recorder_observer (recorder) : NULL,
                                         progress != NULL ? progress->cancellable : NULL, error))
        return FALSE;
      ms = (double) (gantry_time_ns () - start) / 1e6;
      if (i >= n_warmup)
        g_array_append_val (times, ms);
    }
  return TRUE;
}

GantryRunResult *
gantry_program_measure (GantryProgram *program, const GantryProgramOptions *options, GantryLiteral *const *inputs,
                        GantryLiteral **outputs, guint n_warmup, guint n_runs, const GantryProgress *progress,
                        GError **error)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (program->n_threads);
  g_autoptr (GantryExecutor) executor = NULL;
  g_autoptr (GantryCpuRecorder) recorder = gantry_cpu_recorder_new (gantry_device_name (device));
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autoptr (GantryRunResult) result = NULL;

  g_return_val_if_fail (n_runs > 0, NULL);
  gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, options->limit);
  gantry_progress_report (progress, -1, "Loading");
  executor = gantry_executor_new (device, program->executable, progress != NULL ? progress->cancellable : NULL, error);
  if (executor == NULL ||
      !run_all (executor, program, recorder, inputs, outputs, n_warmup, n_runs, times, progress, error))
    return NULL;
  result = gantry_run_result_new ();
  result->device = g_strdup (gantry_device_name (device));
  result->when = g_date_time_format_iso8601 (now);
  result->n_threads = program->n_threads;
  result->n_runs = n_runs;
  result->compile_ms = program->compile_ms;
  result->plan = gantry_plan_ref (program->executable->plan);
  result->planned_bytes = result->plan->arena_bytes[GANTRY_MEMORY_DEVICE];
  result->constant_bytes = result->plan->constant_bytes + program->executable->packed_bytes;
  result->peak_bytes = gantry_executor_peak_bytes (executor);
  result->recording = gantry_cpu_recorder_take (recorder);
  take_times (result, times);
  take_codes (result, program->executable);
  return g_steal_pointer (&result);
}
