/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli run: compiles, runs and measures; compares with expected outputs; leaves a session file.
 * With --session it is the window's child: model, settings and results are in that file. */
#include "app/cli/confine.h"
#include "app/cli/inputs.h"
#include "app/cli/kernel-table.h"
#include "app/cli/memory-report.h"
#include "app/cli/program.h"
#include "app/cli/run-report.h"
#include <errno.h>
#include <string.h>

#define MOST_OPEN 256u /* files at a time */

typedef struct
{
  GantryCliOptions common;
  GantryProgramOptions program;
  char **inputs;
  char **expected;
  char *output;     /* session file to write */
  char *output_dir; /* for outputs as .npy */
  gint runs, warmup;
  gint steps; /* 0: independent runs */
  gboolean replan;
  gint slowest;  /* operations to list */
  char *kernels; /* CSV of all of them */
  double relative, absolute;
  gboolean session;
  gint parent; /* 0: none that matters */
  char *device;
  char *arch;
} Options;

static void
options_clear (Options *options)
{
  gantry_cli_options_clear (&options->common);
  g_strfreev (options->inputs);
  g_strfreev (options->expected);
  g_free (options->output);
  g_free (options->output_dir);
  g_free (options->device);
  g_free (options->arch);
  g_free (options->kernels);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static gboolean
compare_outputs (const Options *options, GantryModule *module, const GantryValues *values, double *worst, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint i = 0; options->expected != NULL && options->expected[i] != NULL; i++)
    {
      g_autoptr (GantryLiteral) expected = NULL;
      GantryComparison comparison;

      if (i >= entry->n_results)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--expect %s: the model has only %u outputs", options->expected[i], entry->n_results);
          return FALSE;
        }
      expected = gantry_input_read (module->context, options->expected[i], NULL, error);
      if (expected == NULL)
        return FALSE;
      gantry_compare (gantry_values_result (values, i), expected, options->relative, options->absolute, &comparison);
      *worst = MAX (*worst, comparison.worst_relative);
      if (!comparison.equal)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_MISMATCH, "output %u differs from %s: %s", i, options->expected[i], comparison.why);
          g_free (comparison.why);
          return FALSE;
        }
    }
  return TRUE;
}

/* Outputs @first to @end: all are written before the first takes its place, so that a disk that is full leaves the old ones.
 * @n_new: (inout): how many have taken it */
static gboolean
write_some (const char *directory, GantryReadFiles *read, const GantryValues *values, guint first, guint end, guint *n_new, GError **error)
{
  g_autoptr (GPtrArray) begun = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_output_free);

  for (guint i = first; i < end; i++)
    {
      g_autofree char *name = g_strdup_printf ("output_%u.npy", i);
      g_autofree char *path = g_build_filename (directory, name, NULL);
      GantryOutput *output = gantry_tensor_file_begin_npy (gantry_values_result (values, i), path, read, error);

      if (output == NULL)
        return FALSE;
      g_ptr_array_add (begun, output);
    }
  for (guint i = 0; i < begun->len; i++, ++*n_new)
    if (!gantry_output_finish (g_ptr_array_index (begun, i), TRUE, error))
      return FALSE;
  return TRUE;
}

static gboolean
write_outputs (const char *directory, GantryReadFiles *read, GantryModule *module, const GantryValues *values, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  guint n_new = 0;

  if (g_mkdir_with_parents (directory, 0777) != 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s: the folder cannot be made: %s", directory, g_strerror (errno));
      return FALSE;
    }
  for (guint i = 0; i < entry->n_results; i += MOST_OPEN)
    if (!write_some (directory, read, values, i, MIN (i + MOST_OPEN, entry->n_results), &n_new, error))
      {
        if (n_new > 0)
          gantry_error_prefix (error, "%u of the outputs are new, those from output_%u.npy on are not: ", n_new, n_new);
        return FALSE;
      }
  return TRUE;
}

static gboolean
finish (const Options *options, const char *path, GantryDocument *document, const GantryProgram *program, GantryRunResult *result, const GantryValues *values,
        double *worst, GError **error)
{
  const char *session = options->session ? path : options->output;
  GantryModule *module = program->executable->module;

  gantry_document_add_run (document, result);
  /* What was planned without them is from now on planned as it runs. */
  gantry_document_set_kernel_sizes (document, program->sizes);
  gantry_kernel_table_keep (program->sizes, &options->program);
  if (options->output_dir != NULL && !write_outputs (options->output_dir, options->common.read, module, values, error))
    return FALSE;
  if (session != NULL && !gantry_document_save (document, session, error))
    return FALSE;
  return compare_outputs (options, module, values, worst, error);
}

/* What is run: a program with its inputs, measured once, or once more with a plan made from what was measured. */
typedef struct
{
  GantryDocument *document;
  GantryProgram *program;
  GantryValues *values;
  GArray *losses;
  GantryRunReport report;
} Run;

static GantryModule *
module_of (const Run *run)
{
  return gantry_compilation_module (gantry_document_get_compilation (run->document));
}

static void
run_clear (Run *run)
{
  gantry_values_free (run->values);
  gantry_program_free (run->program);
  g_clear_pointer (&run->report.result, gantry_run_result_unref);
  g_clear_pointer (&run->losses, g_array_unref);
  g_clear_object (&run->document);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

static gboolean
measure (Run *run, const Options *options, const GantryProgramOptions *how, GError **error)
{
  const GantryProgress *progress = gantry_cli_progress (&options->common);

  g_array_set_size (run->losses, 0);
  g_clear_pointer (&run->report.result, gantry_run_result_unref);
  if (options->steps > 0)
    run->report.result = gantry_program_measure_steps (run->program, how, run->values, (guint) options->steps, run->losses, progress, error);
  else
    run->report.result = gantry_program_measure (run->program, how, run->values, (guint) options->warmup, (guint) options->runs, progress, error);
  return run->report.result != NULL;
}

/* The plan again, with the times and the link that were measured, and a run of it. */
static gboolean
replan (Run *run, const Options *options, const GantryProgramOptions *how, GError **error)
{
  GantryRunResult *result = run->report.result;

  run->report.replanned = TRUE;
  run->report.measured_before_ms = result->milliseconds;
  run->report.predicted_before_ms = result->plan->total_us / 1000;
  /* Both plans count what the kernels need, so that what differs comes of the times alone. */
  gantry_document_set_kernel_sizes (run->document, run->program->sizes);
  gantry_document_wait (run->document);
  if (!gantry_document_set_measured (run->document, result, error))
    return FALSE;
  gantry_document_wait (run->document);
  run->report.changes = gantry_document_get_changes (run->document);
  g_clear_pointer (&run->program, gantry_program_free);
  run->program = gantry_program_new (gantry_document_get_compilation (run->document), gantry_document_get_settings (run->document), how,
                                     gantry_cli_progress (&options->common), error);
  return run->program != NULL && measure (run, options, how, error);
}

/* Whether some result takes the place of a parameter, for the next step to go on with. */
static gboolean
goes_on (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint i = 0; i < entry->n_params; i++)
    if (gantry_parameter_alias (module, &module->nodes[entry->first_node + i]) >= 0)
      return TRUE;
  return FALSE;
}

static gboolean
run_all (Run *run, const Options *options, const char *path, GError **error)
{
  GantryProgramOptions how = options->program;
  const GantryCompileSettings *settings;

  /* They are read after the outputs are written. */
  for (guint i = 0; options->expected != NULL && options->expected[i] != NULL; i++)
    gantry_read_files_add (options->common.read, options->expected[i]);
  run->document = gantry_cli_open (&options->common, path, error);
  /* What could not be kept is not measured first. */
  if (run->document == NULL || (options->kernels != NULL && !gantry_read_files_allow (options->common.read, options->kernels, error)))
    return FALSE;
  settings = gantry_document_get_settings (run->document);
  how.limit = settings->target.memory_limit;
  how.host_limit = settings->target.host_limit;
  run->program = gantry_program_new (gantry_document_get_compilation (run->document), settings, &how, gantry_cli_progress (&options->common), error);
  if (run->program != NULL && options->steps > 0 && !goes_on (module_of (run)))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                   "--steps %d: %s is no training step, nothing goes on from one run to the next; make a step of it with gantry-cli train, or run "
                   "it as often with --runs",
                   options->steps, path);
      return FALSE;
    }
  if (run->program != NULL)
    gantry_program_confine (&how);
  if (run->program != NULL)
    run->values = gantry_values_new (module_of (run), options->inputs, options->common.read, error);
  return run->values != NULL && measure (run, options, &how, error) && (!options->replan || replan (run, options, &how, error));
}

/* Rules without an effect are told, whatever the output's form: a run that ignored them looks like any other. */
static void
warn_of_rules (GPtrArray *reports)
{
  for (guint i = 0; reports != NULL && i < reports->len; i++)
    {
      const GantryPolicyReport *report = g_ptr_array_index (reports, i);

      if (report->problem != NULL)
        gantry_cli_tell ("%s: rule '%s' (%s): %s\n", g_get_prgname (), report->text, report->place, report->problem);
    }
}

static int
run (const Options *options, GantryDevice *device, const char *path)
{
  g_auto (Run) run = { .losses = g_array_new (FALSE, FALSE, sizeof (double)) };
  g_autoptr (GError) error = NULL;
  const GantryCompileSettings *settings;
  g_autofree char *elsewhere = NULL;

  if (run_all (&run, options, path, &error))
    finish (options, path, run.document, run.program, run.report.result, run.values, &run.report.worst, &error);
  if (error != NULL)
    return gantry_cli_fail (error);
  warn_of_rules (gantry_document_get_reports (run.document));
  run.report.module = module_of (&run);
  run.report.n_slowest = (guint) options->slowest;
  run.report.compared = options->expected != NULL;
  settings = gantry_document_get_settings (run.document);
  /* Without a loss the first result is a parameter or a gradient. */
  run.report.losses = options->steps > 0 && !(settings->train && settings->training.no_loss) ? run.losses : NULL;
  run.report.limit = settings->target.memory_limit;
  run.report.target = settings->target;
  run.report.elsewhere = elsewhere = gantry_document_predicted_elsewhere (run.document, run.report.result);
  run.report.device = device;
  if (options->kernels != NULL && !gantry_run_report_write_kernels (&run.report, options->kernels, options->common.read, &error))
    return gantry_cli_fail (error);
  if (options->common.json)
    gantry_run_report_json (&run.report);
  else
    {
      gantry_run_report_text (&run.report);
      if (options->slowest > 0 && run.report.result->recording != NULL)
        gantry_run_report_notes_text (run.report.result->recording);
    }
  return gantry_memory_report_above (run.report.result, run.report.limit) ? GANTRY_EXIT_ABOVE_LIMIT : GANTRY_EXIT_DONE;
}

static gboolean
check (const Options *options, int argc, GError **error)
{
  const char *wrong = NULL;

  if (argc != 2)
    wrong = "give one model";
  else if (options->runs < 1 || options->runs > 1000000 || options->warmup < 0)
    wrong = "--runs is from 1 to 1000000, --warmup from 0 on";
  else if (options->steps < 0 || options->steps > 1000000)
    wrong = "--steps is from 1 to 1000000";
  else if (options->slowest < 0)
    wrong = "--slowest is from 0 on";
  if (wrong != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s", wrong);
  return wrong == NULL;
}

int
gantry_cli_run (int argc, char **argv)
{
  g_auto (Options) options = { .common = GANTRY_CLI_OPTIONS_INIT, .runs = 5, .warmup = 2, .relative = 1e-3, .absolute = 1e-7 };
  const GOptionEntry own[] = {
    { "input", 'i', 0, G_OPTION_ARG_STRING_ARRAY, &options.inputs,
      "An input: [NAME=]FILE (.pb, .npy, raw) or random[:SEED], hash:SEED, value:NUMBER, arange, zeros, ones", "VALUE" },
    { "expect", 'e', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.expected, "Compare outputs, in order, with files", "FILE" },
    { "relative", 0, 0, G_OPTION_ARG_DOUBLE, &options.relative, "Relative tolerance (1e-3)", "R" },
    { "absolute", 0, 0, G_OPTION_ARG_DOUBLE, &options.absolute, "Absolute tolerance (1e-7)", "A" },
    { "runs", 'n', 0, G_OPTION_ARG_INT, &options.runs, "Measured runs (5)", "N" },
    { "warmup", 0, 0, G_OPTION_ARG_INT, &options.warmup, "Runs before those (2)", "N" },
    { "steps", 0, 0, G_OPTION_ARG_INT, &options.steps, "Instead: steps in a row, each going on with the parameters and the state of the one before", "N" },
    { "replan", 0, 0, G_OPTION_ARG_NONE, &options.replan, "Plan again from the times measured, and run that", NULL },
    { "slowest", 0, 0, G_OPTION_ARG_INT, &options.slowest, "List the operations that take longest", "N" },
    { "kernels", 0, 0, G_OPTION_ARG_FILENAME, &options.kernels, "Write a table of all kernels and copies", "FILE.csv" },
    { "threads", 't', 0, G_OPTION_ARG_INT, &options.program.threads, "Worker threads (all processors)", "N" },
    { "no-library", 0, 0, G_OPTION_ARG_NONE, &options.program.no_library, "Generated code only, no oneDNN", NULL },
    { "gpu-library", 0, 0, G_OPTION_ARG_NONE, &options.program.gpu_library, "cuBLASLt may do products on a GPU, where it is faster", NULL },
    { "allow-tf32", 0, 0, G_OPTION_ARG_NONE, &options.program.allow_tf32, "Products of f32 on a GPU may be rounded to 10 bits of mantissa, for tensor cores",
      NULL },
    { "device", 0, 0, G_OPTION_ARG_STRING, &options.device,
      "What runs it: cpu, cuda or cuda:N (a GPU), or grid (what is made for the GPU that --target names, on the processor)", "NAME" },
    { "keep-code", 0, 0, G_OPTION_ARG_NONE, &options.program.keep_texts, "Keep the kernels' texts in the session", NULL },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Write a session file", "FILE.gantry" },
    { "output-dir", 0, 0, G_OPTION_ARG_FILENAME, &options.output_dir, "Write the outputs as .npy", "DIR" },
    { "session", 0, 0, G_OPTION_ARG_NONE, &options.session, "The argument is a session file: add the run to it", NULL },
    { "parent", 0, 0, G_OPTION_ARG_INT, &options.parent, "End when this process, which started the run, ends", "PID" },
    { NULL },
  };
  g_autofree char *cache = g_build_filename (g_get_user_cache_dir (), "gantry", "cubin", NULL);
  g_autoptr (GantryDevice) device = NULL;
  g_autoptr (GError) error = NULL;

  options.program.cache_folder = cache;
  gantry_kernel_table_count_in (&options.common, &options.program);
  options.common.places = options.common.code = TRUE;
  if (!gantry_cli_parse ("run", "MODEL", "Compiles a model, runs it and measures.", &options.common, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (!check (&options, argc, &error) || (options.parent != 0 && !gantry_confine_child (options.parent, GANTRY_MOST_FILE_BYTES, &error))
      || !gantry_program_choose_device (&options.program, options.device, &options.common, &options.arch, &error))
    return gantry_cli_fail (error);
  options.program.keep_texts = options.program.keep_texts || options.session || options.output != NULL;
  /* Before anything is compiled: what it is compiled for, and whether there is one at all. */
  device = gantry_program_open_device (&options.program, options.device, &error);
  return device != NULL ? run (&options, device, argv[1]) : gantry_cli_fail (error);
}
