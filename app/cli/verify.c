/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli verify: runs folders of ONNX backend tests (model.onnx beside test_data_set_N with input_I.pb
 * and output_I.pb), in children, so that a crash is one line and not the end. A child for a GPU takes many folders: opening
 * a context takes the driver longer than most of them, and contexts are opened one after another. */
#include "app/cli/inputs.h"
#include "app/cli/program.h"
#include <gio/gio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CASE_SECONDS 60
#define GPU_BATCH 25
#define END_OF_CASE '\x1e' /* on a child's standard error: behind what one folder's case has written, then its status */

typedef enum
{
  PASS,
  MISMATCH,
  UNSUPPORTED,
  FAILED,
  N_VERDICTS
} Verdict;
static const char *const verdict_names[N_VERDICTS] = { "pass", "mismatch", "unsupported", "error" };

typedef struct
{
  GantryCliOptions common;
  GantryProgramOptions program;
  double relative, absolute;
  gboolean child;   /* this is one: it tells the status of each folder on standard error */
  gboolean several; /* folders: the next one is compiled where the one before has run */
  gboolean quiet;
  char *device, *arch;
} Options;

static void
options_clear (Options *options)
{
  gantry_cli_options_clear (&options->common);
  g_free (options->device);
  g_free (options->arch);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* The child */

static char **
numbered_files (const char *directory, const char *stem)
{
  GPtrArray *files = g_ptr_array_new ();

  for (guint i = 0;; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s_%u.pb", stem, i);
      char *path = g_build_filename (directory, name, NULL);

      g_ptr_array_add (files, path);
      if (!g_file_test (path, G_FILE_TEST_EXISTS))
        {
          g_free (path);
          g_ptr_array_index (files, i) = NULL;
          return (char **) g_ptr_array_free (files, FALSE);
        }
    }
}

static gboolean
check_outputs (const Options *options, GantryModule *module, const GantryValues *values, char **expected, GError **error)
{
  for (guint i = 0; expected[i] != NULL; i++)
    {
      g_autoptr (GantryLiteral) wanted = gantry_input_read (module->context, expected[i], NULL, error);
      GantryComparison comparison;

      if (wanted == NULL)
        return FALSE;
      gantry_compare (gantry_values_result (values, i), wanted, options->relative, options->absolute, &comparison);
      if (!comparison.equal)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_MISMATCH, "output %u: %s", i, comparison.why);
          g_free (comparison.why);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
run_data_set (const Options *options, GantryProgram *program, const char *directory, GError **error)
{
  GantryModule *module = program->executable->module;
  const GantryFunction *entry = gantry_module_entry (module);
  g_auto (GStrv) input_files = numbered_files (directory, "input");
  g_auto (GStrv) output_files = numbered_files (directory, "output");
  g_autoptr (GantryValues) values = NULL;
  g_autoptr (GantryRunResult) result = NULL;

  if (g_strv_length (input_files) != entry->n_params || g_strv_length (output_files) > entry->n_results)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: has %u inputs and %u outputs, the model %u and %u", directory, g_strv_length (input_files),
                   g_strv_length (output_files), entry->n_params, entry->n_results);
      return FALSE;
    }
  values = gantry_values_new (module, input_files, options->common.read, error);
  if (values == NULL)
    return FALSE;
  result = gantry_program_measure (program, &options->program, values, 0, 1, NULL, error);
  return result != NULL && check_outputs (options, module, values, output_files, error);
}

/* A model that is run with nothing has not passed. */
static gboolean
nothing_to_compare (const char *folder, GError **error)
{
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: there is no test_data_set_0 beside the model", folder);
  return FALSE;
}

static gboolean
verify_folder (const Options *options, const char *folder, GError **error)
{
  g_autofree char *path = g_build_filename (folder, "model.onnx", NULL);
  g_autoptr (GantryDocument) document = gantry_cli_open (&options->common, path, error);
  g_autoptr (GantryProgram) program = NULL;

  if (document == NULL)
    return FALSE;
  program = gantry_program_new (gantry_document_get_compilation (document), gantry_document_get_settings (document), &options->program, NULL, error);
  if (program == NULL)
    return FALSE;
  if (!options->several)
    gantry_program_confine (&options->program);
  for (guint i = 0;; i++)
    {
      g_autofree char *name = g_strdup_printf ("test_data_set_%u", i);
      g_autofree char *directory = g_build_filename (folder, name, NULL);

      if (!g_file_test (directory, G_FILE_TEST_IS_DIR))
        return i > 0 || nothing_to_compare (folder, error);
      if (!run_data_set (options, program, directory, error))
        return FALSE;
    }
}

/* After an error of a device none of the folders that follow can be trusted to it: another child takes them. */
static int
be_child (const Options *options, char **folders)
{
  for (guint i = 0; folders[i] != NULL; i++)
    {
      g_autoptr (GError) error = NULL;
      int status;

      alarm (CASE_SECONDS);
      status = verify_folder (options, folders[i], &error) ? GANTRY_EXIT_DONE : gantry_cli_fail (error);
      fprintf (stderr, "%c%d\n", END_OF_CASE, status);
      fflush (stderr);
      if (status == GANTRY_EXIT_ERROR)
        break;
    }
  return GANTRY_EXIT_DONE;
}

/* The parent */

typedef struct
{
  char *folder;
  char *first_line; /* of what it wrote on standard error */
  Verdict verdict;
} Case;

static void
case_free (gpointer data)
{
  Case *c = data;

  g_free (c->folder);
  g_free (c->first_line);
  g_free (c);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Every folder with a model in it, in order of name. */
static void
find_cases (GPtrArray *cases, const char *path, guint depth)
{
  g_autofree char *model = g_build_filename (path, "model.onnx", NULL);
  g_autoptr (GDir) directory = NULL;
  g_autoptr (GPtrArray) folders = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  if (g_file_test (model, G_FILE_TEST_EXISTS))
    {
      Case *c = g_new0 (Case, 1);

      c->folder = g_strdup (path);
      g_ptr_array_add (cases, c);
      return;
    }
  directory = depth < 8 ? g_dir_open (path, 0, NULL) : NULL;
  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      if (g_file_test (child, G_FILE_TEST_IS_DIR))
        g_ptr_array_add (folders, g_steal_pointer (&child));
    }
  g_ptr_array_sort (folders, compare_names);
  for (guint i = 0; i < folders->len; i++)
    find_cases (cases, g_ptr_array_index (folders, i), depth + 1);
}

/* A child for the cases @first to before @end. (transfer full) */
static GSubprocess *
start_child (GPtrArray *cases, guint first, guint end, const Options *options, const char *self, GError **error)
{
  g_autofree char *relative = g_strdup_printf ("--relative=%g", options->relative);
  g_autofree char *absolute = g_strdup_printf ("--absolute=%g", options->absolute);
  g_autofree char *device = options->device != NULL ? g_strdup_printf ("--device=%s", options->device) : NULL;
  g_autofree char *instructions = g_strdup_printf ("--instructions=%s", gantry_instruction_set_name (options->program.instructions));
  g_autofree char *block = g_strdup_printf ("--layout-block=%u", options->program.layout_block);
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();

  g_ptr_array_add (arguments, (gpointer) self);
  g_ptr_array_add (arguments, (gpointer) "verify");
  g_ptr_array_add (arguments, (gpointer) "--child");
  g_ptr_array_add (arguments, (gpointer) "--threads=1");
  g_ptr_array_add (arguments, relative);
  g_ptr_array_add (arguments, absolute);
  g_ptr_array_add (arguments, instructions);
  g_ptr_array_add (arguments, block);
  if (options->program.quick_compile)
    g_ptr_array_add (arguments, (gpointer) "--quick-compile");
  if (options->program.no_library)
    g_ptr_array_add (arguments, (gpointer) "--no-library");
  if (options->program.allow_tf32)
    g_ptr_array_add (arguments, (gpointer) "--allow-tf32");
  if (device != NULL)
    g_ptr_array_add (arguments, device);
  for (guint i = 0; options->common.disabled != NULL && options->common.disabled[i] != NULL; i++)
    {
      g_ptr_array_add (arguments, (gpointer) "--disable");
      g_ptr_array_add (arguments, options->common.disabled[i]);
    }
  for (guint i = first; i < end; i++)
    g_ptr_array_add (arguments, ((Case *) g_ptr_array_index (cases, i))->folder);
  g_ptr_array_add (arguments, NULL);
  return g_subprocess_newv ((const char *const *) arguments->pdata, G_SUBPROCESS_FLAGS_STDERR_PIPE | G_SUBPROCESS_FLAGS_STDOUT_SILENCE, error);
}

/* What follows "gantry-cli verify: " in the first line. */
static char *
first_line (const char *text)
{
  const char *prefix = "gantry-cli verify: ";

  if (text == NULL)
    return g_strdup ("");
  if (g_str_has_prefix (text, prefix))
    text += strlen (prefix);
  return g_strndup (text, strcspn (text, "\n"));
}

static Verdict
verdict_of (int status)
{
  return status == GANTRY_EXIT_DONE ? PASS : status == GANTRY_EXIT_MISMATCH ? MISMATCH : status == GANTRY_EXIT_UNSUPPORTED ? UNSUPPORTED : FAILED;
}

/* What ended the child in the middle of @c, which had written @output. */
static void
fail_case (Case *c, GSubprocess *child, const char *output)
{
  gboolean signaled = g_subprocess_get_if_signaled (child);
  int number = signaled ? g_subprocess_get_term_sig (child) : g_subprocess_get_exit_status (child);

  c->verdict = FAILED;
  c->first_line = !signaled && *output != '\0'    ? first_line (output)
                  : signaled && number == SIGALRM ? g_strdup_printf ("took longer than %d s", CASE_SECONDS)
                                                  : g_strdup_printf ("the child ended with %s %d", signaled ? "signal" : "status", number);
}

/* Waits for the child; returns the first of the cases @first to before @end that it has not come to. */
static guint
end_child (GSubprocess *child, GPtrArray *cases, guint first, guint end)
{
  g_autofree char *output = NULL;
  guint begin = first;
  char *text, *mark;

  g_subprocess_communicate_utf8 (child, NULL, NULL, NULL, &output, NULL);
  if (output == NULL) /* no UTF-8 */
    output = g_strdup ("");
  for (text = output; first < end && text != NULL && (mark = strchr (text, END_OF_CASE)) != NULL; first++)
    {
      Case *c = g_ptr_array_index (cases, first);

      *mark = '\0';
      c->verdict = verdict_of ((int) g_ascii_strtoll (mark + 1, &text, 10));
      c->first_line = first_line (output);
      text += *text == '\n';
      memmove (output, text, strlen (text) + 1);
      text = output;
    }
  if (first < end && (first == begin || !g_subprocess_get_if_exited (child) || g_subprocess_get_exit_status (child) != GANTRY_EXIT_DONE))
    fail_case (g_ptr_array_index (cases, first++), child, output);
  return first;
}

static void
report_case (const Case *c, JsonBuilder *json, gboolean quiet)
{
  g_autofree char *name = g_path_get_basename (c->folder);

  if (json != NULL)
    {
      json_builder_begin_object (json);
      json_builder_set_member_name (json, "name");
      json_builder_add_string_value (json, name);
      json_builder_set_member_name (json, "verdict");
      json_builder_add_string_value (json, verdict_names[c->verdict]);
      json_builder_set_member_name (json, "why");
      json_builder_add_string_value (json, c->verdict == PASS ? "" : c->first_line);
      json_builder_end_object (json);
      return;
    }
  if (c->verdict == PASS || c->verdict == MISMATCH)
    {
      if (!quiet || c->verdict == MISMATCH)
        gantry_cli_print ("%-60s %s%s%s\n", name, verdict_names[c->verdict], c->verdict == PASS ? "" : "  ", c->verdict == PASS ? "" : c->first_line);
    }
  else if (!quiet || c->verdict == FAILED)
    gantry_cli_print ("%-60s %s: %s\n", name, verdict_names[c->verdict], c->first_line);
  fflush (stdout);
}

/* Keeps as many children at work as there are processors; results are told in order of name. */
static gboolean
run_cases (GPtrArray *cases, const Options *options, const char *self, JsonBuilder *json, guint *totals, GError **error)
{
  guint width = options->program.threads > 0 ? (guint) options->program.threads : g_get_num_processors ();
  guint batch = options->program.code == GANTRY_CODE_CUDA ? GPU_BATCH : 1;
  guint n = (cases->len + batch - 1) / batch, started = 0;
  g_autoptr (GPtrArray) children = g_ptr_array_new_full (n, g_object_unref);

  for (guint i = 0; i < n; i++)
    {
      guint first = i * batch, end = MIN (first + batch, cases->len), reported = first;

      for (; started < n && started < i + width; started++)
        {
          GSubprocess *child = start_child (cases, started * batch, MIN ((started + 1) * batch, cases->len), options, self, error);

          if (child == NULL)
            return FALSE;
          g_ptr_array_add (children, child);
        }
      while ((first = end_child (g_ptr_array_index (children, i), cases, first, end)) < end)
        {
          GSubprocess *child = start_child (cases, first, end, options, self, error);

          if (child == NULL)
            return FALSE;
          g_object_unref (g_ptr_array_index (children, i));
          g_ptr_array_index (children, i) = child;
        }
      for (; reported < end; reported++)
        {
          const Case *c = g_ptr_array_index (cases, reported);

          totals[c->verdict]++;
          report_case (c, json, options->quiet);
        }
    }
  return TRUE;
}

static void
print_totals (JsonBuilder *json, const guint *totals, guint n)
{
  if (json == NULL)
    {
      gantry_cli_print ("%u folders: %u pass, %u mismatch, %u unsupported, %u error\n", n, totals[PASS], totals[MISMATCH], totals[UNSUPPORTED], totals[FAILED]);
      return;
    }
  json_builder_end_array (json);
  json_builder_set_member_name (json, "totals");
  json_builder_begin_object (json);
  for (guint i = 0; i < N_VERDICTS; i++)
    {
      json_builder_set_member_name (json, verdict_names[i]);
      json_builder_add_int_value (json, totals[i]);
    }
  json_builder_end_object (json);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static int
verify_all (const Options *options, char **paths)
{
  g_autoptr (GPtrArray) cases = g_ptr_array_new_with_free_func (case_free);
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autoptr (JsonBuilder) json = options->common.json ? json_builder_new () : NULL;
  g_autoptr (GError) error = NULL;
  guint totals[N_VERDICTS] = { 0 };

  for (guint i = 0; paths[i] != NULL; i++)
    find_cases (cases, paths[i], 0);
  if (cases->len == 0)
    {
      gantry_cli_tell ("gantry-cli verify: no folder with a model.onnx in %s\n", paths[0]);
      return GANTRY_EXIT_ERROR;
    }
  if (json != NULL)
    {
      json_builder_begin_object (json);
      json_builder_set_member_name (json, "cases");
      json_builder_begin_array (json);
    }
  if (!run_cases (cases, options, self, json, totals, &error))
    return gantry_cli_fail (error);
  print_totals (json, totals, cases->len);
  if (totals[FAILED] > 0)
    return GANTRY_EXIT_ERROR;
  if (totals[MISMATCH] > 0)
    return GANTRY_EXIT_MISMATCH;
  return totals[UNSUPPORTED] > 0 ? GANTRY_EXIT_UNSUPPORTED : GANTRY_EXIT_DONE;
}

int
gantry_cli_verify (int argc, char **argv)
{
  g_auto (Options) options = { .common = GANTRY_CLI_OPTIONS_INIT, .relative = 1e-3, .absolute = 1e-7 };
  const GOptionEntry own[] = {
    { "relative", 0, 0, G_OPTION_ARG_DOUBLE, &options.relative, "Relative tolerance (1e-3)", "R" },
    { "absolute", 0, 0, G_OPTION_ARG_DOUBLE, &options.absolute, "Absolute tolerance (1e-7)", "A" },
    { "threads", 't', 0, G_OPTION_ARG_INT, &options.program.threads, "Children at work at once", "N" },
    { "no-library", 0, 0, G_OPTION_ARG_NONE, &options.program.no_library, "Generated code only, no oneDNN", NULL },
    { "allow-tf32", 0, 0, G_OPTION_ARG_NONE, &options.program.allow_tf32, "Products of f32 on a GPU may be rounded to 10 bits of mantissa, for tensor cores",
      NULL },
    { "device", 0, 0, G_OPTION_ARG_STRING, &options.device, "What runs them: cpu, cuda or cuda:N (a GPU), or grid (what is made for a GPU, on the processor)",
      "NAME" },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options.quiet, "Only mismatches, errors and totals", NULL },
    { "child", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &options.child, "Run the folders in this process", NULL },
    { NULL },
  };
  g_autofree char *cache = g_build_filename (g_get_user_cache_dir (), "gantry", "cubin", NULL);
  g_autoptr (GantryDevice) device = NULL;
  g_autoptr (GError) error = NULL;

  options.program.cache_folder = cache;
  options.common.code = TRUE;
  if (!gantry_cli_parse ("verify", "DIR...",
                         "Runs folders of ONNX backend tests, or folders of such folders, and prints for each: pass, "
                         "mismatch, unsupported: WHY or error: WHY.",
                         &options.common, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (!gantry_program_choose_device (&options.program, options.device, &options.common, &options.arch, &error))
    return gantry_cli_fail (error);
  if (argc < 2)
    {
      gantry_cli_tell ("gantry-cli verify: give at least one folder\n");
      return GANTRY_EXIT_ERROR;
    }
  if (!options.child)
    return verify_all (&options, argv + 1);
  options.several = argc > 2;
  device = gantry_program_open_device (&options.program, options.device, &error);
  return device != NULL ? be_child (&options, argv + 1) : gantry_cli_fail (error);
}
