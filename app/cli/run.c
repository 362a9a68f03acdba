/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli run: compiles, runs and measures; compares with expected outputs; leaves a session file.
 * With --session it is the window's child: model, settings and results are in that file. */
#include "app/cli/inputs.h"
#include "app/cli/program.h"
#include <string.h>

typedef struct
{
  GantryCliOptions common;
  GantryProgramOptions program;
  char **inputs;
  char **expected;
  char *output;     /* session file to write */
  char *output_dir; /* for outputs as .npy */
  gint runs, warmup;
  double relative, absolute;
  gboolean session;
} Options;

static void
options_clear (Options *options)
{
  gantry_cli_options_clear (&options->common);
  g_strfreev (options->inputs);
  g_strfreev (options->expected);
  g_free (options->output);
  g_free (options->output_dir);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
print_json (const GantryRunResult *result, const GantryModule *module, double worst, gboolean compared)
{
  const struct { const char *key; double value; } numbers[] = {
    { "milliseconds", result->milliseconds },   { "milliseconds_min", result->milliseconds_min },
    { "milliseconds_max", result->milliseconds_max }, { "compile_milliseconds", result->compile_ms },
  };
  const struct { const char *key; guint64 value; } sizes[] = {
    { "threads", result->n_threads },           { "runs", result->n_runs },
    { "planned_bytes", result->planned_bytes }, { "peak_bytes", result->peak_bytes },
    { "lower_bound_bytes", result->plan->lower_bound }, { "constant_bytes", result->constant_bytes },
    { "kernels", gantry_recording_n_events (result->recording, GANTRY_QUEUE_COMPUTE) / result->n_runs },
  };
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  json_builder_set_member_name (json, "device");
  json_builder_add_string_value (json, result->device);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      json_builder_set_member_name (json, numbers[i].key);
      json_builder_add_double_value (json, numbers[i].value);
    }
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      json_builder_set_member_name (json, sizes[i].key);
      json_builder_add_int_value (json, (gint64) sizes[i].value);
    }
  if (compared)
    {
      json_builder_set_member_name (json, "worst_relative");
      json_builder_add_double_value (json, worst);
    }
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static void
print_text (const GantryRunResult *result, double worst, gboolean compared)
{
  g_autofree char *planned = gantry_cli_bytes (result->planned_bytes);
  g_autofree char *peak = gantry_cli_bytes (result->peak_bytes);
  g_autofree char *constants = gantry_cli_bytes (result->constant_bytes);

  printf ("%-10s %s\n", "device", result->device);
  printf ("%-10s %.3f ms, median of %u (%.3f to %.3f)\n", "time", result->milliseconds, result->n_runs,
          result->milliseconds_min, result->milliseconds_max);
  printf ("%-10s %s planned, %s measured, constants %s\n", "memory", planned, peak, constants);
  printf ("%-10s %.0f ms\n", "compiled in", result->compile_ms);
  if (compared)
    printf ("%-10s as expected (largest difference %.2g of the largest value)\n", "outputs", worst);
}

static gboolean
compare_outputs (const Options *options, GantryModule *module, GantryLiteral **outputs, double *worst, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint i = 0; options->expected != NULL && options->expected[i] != NULL; i++)
    {
      g_autoptr (GantryLiteral) expected = NULL;
      GantryComparison comparison;

      if (i >= entry->n_results)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--expect %s: the model has only %u outputs",
                       options->expected[i], entry->n_results);
          return FALSE;
        }
      expected = gantry_input_read (module->context, options->expected[i], NULL, error);
      if (expected == NULL)
        return FALSE;
      gantry_compare (outputs[i], expected, options->relative, options->absolute, &comparison);
      *worst = MAX (*worst, comparison.worst_relative);
      if (!comparison.equal)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_MISMATCH, "output %u differs from %s: %s", i,
                       options->expected[i], comparison.why);
          g_free (comparison.why);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
write_outputs (const char *directory, GantryModule *module, GantryLiteral **outputs, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);

  if (g_mkdir_with_parents (directory, 0777) != 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s: the folder cannot be made", directory);
      return FALSE;
    }
  for (guint i = 0; i < entry->n_results; i++)
    {
      g_autofree char *name = g_strdup_printf ("output_%u.npy", i);
      g_autofree char *path = g_build_filename (directory, name, NULL);

      if (!gantry_tensor_file_write_npy (outputs[i], path, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
finish (const Options *options, const char *path, GantryDocument *document, GantryModule *module,
        GantryRunResult *result, GantryLiteral **outputs, double *worst, GError **error)
{
  const char *session = options->session ? path : options->output;

  gantry_document_add_run (document, result);
  if (options->output_dir != NULL && !write_outputs (options->output_dir, module, outputs, error))
    return FALSE;
  if (session != NULL && !gantry_document_save (document, session, error))
    return FALSE;
  return compare_outputs (options, module, outputs, worst, error);
}

static int
run (const Options *options, const char *path)
{
  const GantryProgress *progress = gantry_cli_progress (&options->common);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryDocument) document = gantry_cli_open (&options->common, path, &error);
  g_autoptr (GantryProgram) program = NULL;
  g_autoptr (GantryRunResult) result = NULL;
  GantryModule *module;
  GantryLiteral **inputs = NULL, **outputs = NULL;
  double worst = 0;

  if (document == NULL)
    return gantry_cli_fail (error);
  module = gantry_compilation_module (gantry_document_get_compilation (document));
  program = gantry_program_new (gantry_document_get_compilation (document), gantry_document_get_settings (document),
                                &options->program, progress, &error);
  if (program != NULL)
    inputs = gantry_inputs_make (module, options->inputs, &error);
  if (inputs != NULL)
    {
      outputs = g_new0 (GantryLiteral *, gantry_module_entry (module)->n_results + 1);
      result = gantry_program_measure (program, &options->program, inputs, outputs, (guint) options->warmup,
                                       (guint) options->runs, progress, &error);
    }
  if (result != NULL)
    finish (options, path, document, module, result, outputs, &worst, &error);
  gantry_literals_free (inputs, gantry_module_entry (module)->n_params);
  gantry_literals_free (outputs, gantry_module_entry (module)->n_results);
  if (error != NULL)
    return gantry_cli_fail (error);
  if (options->common.json)
    print_json (result, module, worst, options->expected != NULL);
  else
    print_text (result, worst, options->expected != NULL);
  return GANTRY_EXIT_DONE;
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
    { "threads", 't', 0, G_OPTION_ARG_INT, &options.program.threads, "Worker threads (all processors)", "N" },
    { "no-library", 0, 0, G_OPTION_ARG_NONE, &options.program.no_library, "Generated code only, no oneDNN", NULL },
    { "keep-code", 0, 0, G_OPTION_ARG_NONE, &options.program.keep_texts, "Keep the kernels' texts in the session", NULL },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Write a session file", "FILE.gantry" },
    { "output-dir", 0, 0, G_OPTION_ARG_FILENAME, &options.output_dir, "Write the outputs as .npy", "DIR" },
    { "session", 0, 0, G_OPTION_ARG_NONE, &options.session, "The argument is a session file: add the run to it", NULL },
    { NULL },
  };

  options.common.places = TRUE;
  if (!gantry_cli_parse ("run", "MODEL", "Compiles a model, runs it and measures.", &options.common, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2 || options.runs < 1 || options.runs > 1000000 || options.warmup < 0)
    {
      fprintf (stderr, "gantry-cli run: give one model, and at least one run\n");
      return GANTRY_EXIT_ERROR;
    }
  options.program.keep_texts = options.program.keep_texts || options.session || options.output != NULL;
  return run (&options, argv[1]);
}
