/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the rooms together that only a child process may use: kernels, runtime, recorder. */
#include "app/cli/program.h"
#include "app/cli/confine.h"
#include "app/cli/device.h"
#include "core/base/compare.h"
#include "core/base/process-memory.h"
#include "profiler/device-times.h"
#include "profiler/profiler.h"
#include <string.h>

#define MOST_THREADS 1024

static const char *const kernel_kinds[] = { "generated", "library", "builtin" };

static gboolean
choose_instructions (GantryProgramOptions *options, const GantryCliOptions *common, GError **error)
{
  if (common->layout_block != 0 && common->layout_block != 8 && common->layout_block != 16)
    {
      g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--layout-block takes 8 or 16");
      return FALSE;
    }
  options->layout_block = (guint) common->layout_block;
  options->quick_compile = common->quick_compile;
  if (common->instructions == NULL)
    return TRUE;
  if (gantry_instruction_set_parse (common->instructions, &options->instructions, error) && gantry_kernels_limit_library (options->instructions, error))
    return TRUE;
  g_prefix_error (error, "--instructions: ");
  return FALSE;
}

GantryBuildOptions
gantry_program_build_options (const GantryProgramOptions *options)
{
  return (GantryBuildOptions){
    .threads = (guint) MAX (options->threads, 0),
    .code = options->code,
    .no_library = options->no_library,
    .allow_tf32 = options->allow_tf32,
    .gpu_library = options->gpu_library,
    .keep_texts = options->keep_texts,
    .quick_compile = options->quick_compile,
    .instructions = options->instructions,
    .layout_block = options->layout_block,
    .arch = options->arch,
    .cache_folder = options->cache_folder,
  };
}

char *
gantry_program_conditions (const GantryProgramOptions *options)
{
  const GantryBuildOptions build = gantry_program_build_options (options);

  return gantry_build_conditions (&build);
}

gboolean
gantry_program_choose_device (GantryProgramOptions *options, const char *device, GantryCliOptions *common, char **arch, GError **error)
{
  guint ordinal;
  const GantryDeviceKind *kind = gantry_device_kind_find (device, &ordinal, error);

  if (kind == NULL)
    return FALSE;
  if (options->threads < 0 || options->threads > MOST_THREADS)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--threads is from 1 to %d; 0 takes all processors", MOST_THREADS);
      return FALSE;
    }
  if (common->resolved.arch != NULL)
    {
      g_free (*arch);
      *arch = g_strdup (common->resolved.arch);
    }
  options->arch = *arch;
  options->code = kind->code;
  common->tf32 = options->allow_tf32;
  common->gpu = gantry_cli_device_model (kind, ordinal);
  common->made_for = options->code == GANTRY_CODE_CPU ? GANTRY_CLI_CODE_FOR_PROCESSOR : GANTRY_CLI_CODE_FOR_GPU;
  common->fuse_rows = common->fuse_rows || options->code != GANTRY_CODE_CPU || *arch != NULL;
  return choose_instructions (options, common, error);
}

GantryDevice *
gantry_program_open_device (GantryProgramOptions *options, const char *device, GError **error)
{
  guint ordinal;
  const GantryDeviceKind *kind = gantry_device_kind_find (device, &ordinal, error);
  GantryDevice *opened = kind != NULL ? kind->open (ordinal, (guint) MAX (options->threads, 0), error) : NULL;

  options->device = opened;
  if (opened != NULL && gantry_device_is_cuda (opened))
    {
      g_autofree char *folder = g_build_filename (g_get_user_cache_dir (), "gantry", "products", NULL);

      gantry_cuda_device_set_library (opened, options->gpu_library, folder);
    }
  if (opened != NULL && options->arch == NULL && kind->arch != NULL)
    options->arch = kind->arch (opened);
  return opened;
}

/* Planning again for a GPU starts the assembler again. */
void
gantry_program_confine (const GantryProgramOptions *options)
{
  g_autoptr (GError) error = NULL;

  if (!gantry_confine_code (options->code != GANTRY_CODE_CPU, &error))
    gantry_cli_tell ("%s: note: %s\n", g_get_prgname (), error->message);
}

GantryProgram *
gantry_program_new (const GantryCompilation *compilation, const GantryCompileSettings *settings, const GantryProgramOptions *options,
                    const GantryProgress *progress, GError **error)
{
  const GantryBuildOptions build = gantry_program_build_options (options);
  GantryProgram *program = gantry_build (compilation, settings, &build, progress, error);

  if (program == NULL && compilation->refusal == NULL)
    gantry_cli_advise_search (error);
  return program;
}

static void
take_times (GantryRunResult *result, GArray *times)
{
  guint n = times->len;
  const double *sorted;

  g_array_sort (times, gantry_compare_doubles);
  sorted = (const double *) (gpointer) times->data;
  result->milliseconds = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  result->milliseconds_min = sorted[0];
  result->milliseconds_max = sorted[n - 1];
}

/* Of a recorded run on a GPU the time is the GPU's: the host's has what recording costs before the GPU begins. */
static void
take_device_times (GantryRunResult *result, GArray *times)
{
  g_autoptr (GArray) took = g_array_new (FALSE, FALSE, sizeof (double));

  if (!gantry_run_result_is_of_gpu (result) || result->recording == NULL || !gantry_recording_device_times (result->recording, took, NULL)
      || took->len != times->len)
    return;
  g_array_set_size (times, 0);
  g_array_append_vals (times, took->data, took->len);
}

static void
take_image (GantryCode *code, const GantryGpuImage *image)
{
  code->arch = image->arch;
  code->cubin = image->is_text ? NULL : image->code;
  code->is_measured = image->is_measured;
  code->registers = image->registers;
  code->spill_store_bytes = image->spill_store_bytes;
  code->spill_load_bytes = image->spill_load_bytes;
  code->stack_bytes = image->stack_bytes;
  code->shared_bytes = image->static_shared_bytes;
}

static void
take_codes (GantryRunResult *result, const GantryExecutable *executable)
{
  /* Kernels that were generated once share their texts. */
  g_autoptr (GHashTable) first = g_hash_table_new (NULL, NULL);

  for (guint32 i = 0; i < executable->n_kernels; i++)
    {
      const GantryKernel *kernel = &executable->kernels[i];
      GantryCode code = { .node = kernel->node,
                          .kernel = kernel->name,
                          .kind = (char *) kernel_kinds[kernel->kind],
                          .texpr = kernel->texpr,
                          .llvm_ir = kernel->llvm_ir,
                          .assembly = kernel->assembly,
                          .schedule = kernel->schedule };

      if (kernel->node == G_MAXUINT32)
        continue;
      if (kernel->gpu != NULL && kernel->gpu->n_launches > 0 && kernel->gpu->launches[0].image < executable->n_images)
        take_image (&code, &executable->images[kernel->gpu->launches[0].image]);
      if (code.llvm_ir == NULL)
        gantry_run_result_add_code (result, &code, NULL);
      else
        g_hash_table_insert (first, code.llvm_ir, (gpointer) gantry_run_result_add_code (result, &code, g_hash_table_lookup (first, code.llvm_ir)));
    }
}

/* A run of its own for the memory; what it writes over is written anew for the next. */
static gboolean
measure_memory (GantryExecutor *executor, const GantryProgram *program, GantryValues *values, const GantryProgress *progress, GError **error)
{
  const GantryExecutable *executable = program->executable;

  if (gantry_progress_cancelled (progress, error))
    return FALSE;
  gantry_values_write (values);
  return gantry_executor_measure (executor, gantry_values_inputs (values), executable->n_inputs, gantry_values_outputs (values, FALSE), executable->n_outputs,
                                  progress, error);
}

/* @device: of others than the host's the executor has its own copies of arguments, which are then written once. */
static gboolean
run_all (GantryExecutor *executor, GantryProgram *program, const GantryDevice *device, GantryCpuRecorder *recorder, GantryValues *values, guint n_warmup,
         guint n_runs, GArray *times, const GantryProgress *progress, GError **error)
{
  const GantryExecutable *executable = program->executable;
  guint n = n_warmup + n_runs;

  if (!measure_memory (executor, program, values, progress, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      double ms;

      if (gantry_progress_cancelled (progress, error))
        return FALSE;
      gantry_progress_report (progress, (double) i / n, "Running");
      if (gantry_device_is_host (device))
        gantry_values_write (values);
      if (!gantry_executor_run (executor, gantry_values_inputs (values), executable->n_inputs, gantry_values_outputs (values, i + 1 == n),
                                executable->n_outputs, i >= n_warmup ? gantry_cpu_recorder_observer (recorder) : NULL,
                                progress != NULL ? progress->cancellable : NULL, error))
        return FALSE;
      ms = (double) gantry_executor_run_ns (executor) / 1e6;
      if (i >= n_warmup)
        g_array_append_val (times, ms);
    }
  return TRUE;
}

void
gantry_program_set_limits (const GantryProgramOptions *options, GantryDevice *device)
{
  gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, options->limit);
  for (guint kind = GANTRY_MEMORY_DEVICE + 1; kind < GANTRY_N_MEMORY_KINDS; kind++)
    gantry_device_set_limit (device, (GantryMemoryKind) kind, options->host_limit);
}

/* The device and what records it, loaded. */
typedef struct
{
  GantryDevice *device;
  GantryExecutor *executor;
  GantryCpuRecorder *recorder;
  GantryMemoryWatch *watch;
  GArray *times;
  char *when;
} Session;

static void
session_clear (Session *session)
{
  g_clear_pointer (&session->recorder, gantry_cpu_recorder_free);
  g_clear_pointer (&session->executor, gantry_executor_free);
  g_clear_pointer (&session->device, gantry_device_unref);
  g_clear_pointer (&session->watch, gantry_memory_watch_free);
  g_clear_pointer (&session->times, g_array_unref);
  g_free (session->when);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Session, session_clear)

/* Before a page of it is touched. What is not pinned on the host may lie in a file. @beside: bytes of inputs and results that lie beside
 * their places in the plan */
static gboolean
check_memory (const GantryPlan *plan, guint64 beside, const GantryProgramOptions *options, GError **error)
{
  guint64 there = gantry_process_memory_of_machine (), planned = gantry_plan_memory_bytes (plan, GANTRY_MEMORY_PINNED_HOST);
  g_autofree char *there_text = gantry_format_bytes_down (there), *planned_text = NULL, *beside_text = NULL;

  if (options->code != GANTRY_CODE_CUDA)
    planned += gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE);
  if (planned <= there && beside <= there - planned)
    return TRUE;
  planned_text = gantry_format_bytes (planned);
  beside_text = beside > 0 ? gantry_format_bytes (beside) : NULL;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY, "the plan takes %s%s%s, this machine has %s%s", planned_text,
               beside > 0 ? ", and inputs and outputs that are copied " : "", beside > 0 ? beside_text : "", there_text,
               gantry_cli_hint ("; --limit plans with less"));
  return FALSE;
}

static gboolean
load (Session *session, GantryProgram *program, const GantryProgramOptions *options, const GantryValues *values, const GantryProgress *progress, GError **error)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();

  if (!check_memory (program->executable->plan, 0, options, error))
    return FALSE;
  session->device = options->device != NULL ? gantry_device_ref (options->device) : gantry_cpu_device_new (program->n_threads);
  session->recorder = gantry_cpu_recorder_new (gantry_device_name (session->device));
  session->times = g_array_new (FALSE, FALSE, sizeof (double));
  session->when = g_date_time_format_iso8601 (now);
  gantry_program_set_limits (options, session->device);
  /* The peak of the process is that of the program from now on, not that of compiling it. */
  gantry_process_memory_trim ();
  gantry_process_memory_reset_peak ();
  gantry_progress_report (progress, -1, "Loading");
  session->watch = gantry_memory_watch_new (gantry_plan_memory_bytes (program->executable->plan, GANTRY_MEMORY_DEVICE)
                                            + gantry_plan_host_bytes (program->executable->plan));
  session->executor = gantry_executor_new (session->device, program->executable, progress != NULL ? progress->cancellable : NULL, error);
  return session->executor != NULL && check_memory (program->executable->plan, gantry_values_bytes_beside (values, session->executor), options, error);
}

/* What the device did otherwise than asked for. */
static void
tell_notes (GantryDevice *device)
{
  g_auto (GStrv) notes = gantry_device_is_cuda (device) ? gantry_cuda_device_get_notes (device) : NULL;

  for (guint i = 0; notes != NULL && notes[i] != NULL; i++)
    fprintf (stderr, "%s: note: %s\n", g_get_prgname (), notes[i]);
}

/* A session keeps the recording: who opens it sees why it has no measured memory. */
static void
note_unmeasured (GantryCpuRecorder *recorder, const char *why)
{
  g_autofree char *note = why != NULL ? g_strdup_printf ("The memory was not measured: %s.", why) : NULL;

  if (note != NULL)
    gantry_cpu_recorder_add_note (recorder, note);
}

/* And that results of the run were approximate, into whatever the recording is written. */
static void
note_approximate (GantryCpuRecorder *recorder, const GantryPlan *plan)
{
  g_autofree char *text = gantry_plan_approximate_text (plan), *note = text != NULL ? g_strdup_printf ("Results are %s.", text) : NULL;

  if (note != NULL)
    gantry_cpu_recorder_add_note (recorder, note);
}

static GantryRunResult *
result_of (Session *session, const GantryProgram *program, const GantryProgramOptions *options, const GantryValues *values)
{
  GantryRunResult *result = gantry_run_result_new ();
  g_autoptr (GError) error = NULL;

  tell_notes (session->device);
  result->device = g_strdup (gantry_device_name (session->device));
  result->arch = g_strdup (options->code == GANTRY_CODE_CPU ? "" : options->code == GANTRY_CODE_GRID_ON_CPU ? "grid" : options->arch);
  result->when = g_steal_pointer (&session->when);
  result->n_threads = program->n_threads;
  result->n_runs = session->times->len;
  result->compile_ms = program->compile_ms;
  result->plan = gantry_plan_ref (program->executable->plan);
  result->limit = options->limit;
  result->copied_in_out = gantry_values_copied_bytes (values) + gantry_executor_copied_bytes (session->executor);
  result->memory = gantry_executor_take_measure (session->executor, &error);
  result->unmeasured = error != NULL ? g_strdup (error->message) : NULL;
  note_unmeasured (session->recorder, result->unmeasured);
  note_approximate (session->recorder, result->plan);
  result->peak_bytes = result->memory != NULL ? result->memory->peak_bytes : 0;
  result->recording = gantry_cpu_recorder_take (session->recorder);
  if (options->end_recording != NULL)
    {
      result->recording = options->end_recording (options->recorder, program->executable, result->recording);
      take_device_times (result, session->times);
    }
  take_times (result, session->times);
  take_codes (result, program->executable);
  return result;
}

GantryRunResult *
gantry_program_measure (GantryProgram *program, const GantryProgramOptions *options, GantryValues *values, guint n_warmup, guint n_runs,
                        const GantryProgress *progress, GError **error)
{
  g_auto (Session) session = { 0 };

  g_return_val_if_fail (n_runs > 0, NULL);
  if (!load (&session, program, options, values, progress, error)
      || !run_all (session.executor, program, session.device, session.recorder, values, n_warmup, n_runs, session.times, progress, error))
    return NULL;
  return result_of (&session, program, options, values);
}

/* Steps in a row */

typedef struct
{
  const GantryProgress *progress;
  guint n_steps;
  GArray *times, *losses;
  gint64 start;
  const GantryLiteral *loss; /* (nullable) */
} Steps;

static gboolean
step_done (gpointer self, guint step, const GantryRunOutput *outputs)
{
  Steps *steps = self;
  gint64 now = gantry_time_ns ();
  double ms = (double) (now - steps->start) / 1e6;

  g_array_append_val (steps->times, ms);
  if (steps->loss != NULL)
    {
      double loss = gantry_literal_get_double (steps->loss, 0);

      g_array_append_val (steps->losses, loss);
    }
  gantry_progress_report (steps->progress, (double) (step + 1) / steps->n_steps, "Training");
  steps->start = gantry_time_ns ();
  return TRUE;
}

static gboolean
run_steps (Session *session, const GantryProgram *program, GantryValues *values, guint n_steps, GArray *losses, const GantryProgress *progress, GError **error)
{
  const GantryExecutable *executable = program->executable;
  const GantryLiteral *first = executable->n_outputs > 0 ? gantry_values_result (values, 0) : NULL;
  Steps steps = { progress, n_steps, session->times, losses, 0, NULL };
  GantryRunHooks hooks = { .done = step_done, .self = &steps };

  if (first != NULL && gantry_type_elements (first->type) == 1 && gantry_element_is_float (first->type->element))
    steps.loss = first;
  if (!measure_memory (session->executor, program, values, progress, error))
    return FALSE;
  gantry_values_write (values);
  steps.start = gantry_time_ns ();
  return gantry_executor_run_steps (session->executor, n_steps, gantry_values_inputs (values), executable->n_inputs, gantry_values_outputs (values, TRUE),
                                    executable->n_outputs, &hooks, gantry_cpu_recorder_observer (session->recorder),
                                    progress != NULL ? progress->cancellable : NULL, error);
}

GantryRunResult *
gantry_program_measure_steps (GantryProgram *program, const GantryProgramOptions *options, GantryValues *values, guint n_steps, GArray *losses,
                              const GantryProgress *progress, GError **error)
{
  g_auto (Session) session = { 0 };

  g_return_val_if_fail (n_steps > 0, NULL);
  if (!load (&session, program, options, values, progress, error) || !run_steps (&session, program, values, n_steps, losses, progress, error))
    return NULL;
  return result_of (&session, program, options, values);
}
