/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli compile: code and plan without running them. */
#include "app/cli/program.h"
#include <string.h>

typedef struct
{
  GantryCliOptions common;
  GantryProgramOptions program;
  char *output;
  char *emit; /* texpr, llvm, asm */
} Options;

static void
options_clear (Options *options)
{
  gantry_cli_options_clear (&options->common);
  g_free (options->output);
  g_free (options->emit);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static const char *
text_of (const GantryKernel *kernel, const char *emit)
{
  if (strcmp (emit, "texpr") == 0)
    return kernel->texpr;
  return strcmp (emit, "llvm") == 0 ? kernel->llvm_ir : kernel->assembly;
}

/* One file for each kernel into a folder, or all of them on standard output. */
static gboolean
emit_code (const Options *options, const GantryExecutable *executable, GError **error)
{
  const char *suffix = strcmp (options->emit, "llvm") == 0 ? "ll" : strcmp (options->emit, "asm") == 0 ? "s" : "te";

  if (options->output != NULL && g_mkdir_with_parents (options->output, 0777) != 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s: the folder cannot be made", options->output);
      return FALSE;
    }
  for (guint32 i = 0; i < executable->n_kernels; i++)
    {
      const GantryKernel *kernel = &executable->kernels[i];
      const char *text = text_of (kernel, options->emit);

      if (text == NULL)
        continue;
      if (options->output == NULL)
        printf ("; %s\n%s\n", kernel->name, text);
      else
        {
          g_autofree char *name = g_strdup_printf ("%s.%s", kernel->name, suffix);
          g_autofree char *path = g_build_filename (options->output, name, NULL);

          if (!g_file_set_contents (path, text, -1, error))
            return FALSE;
        }
    }
  return TRUE;
}

static void
print_json (const GantryProgram *program, const GantryCompilation *compilation)
{
  const GantryPlan *plan = program->executable->plan;
  const struct { const char *key; gint64 value; } sizes[] = {
    { "kernels", program->executable->n_kernels },
    { "steps", plan->n_steps - plan->n_init_steps },
    { "init_steps", plan->n_init_steps },
    { "planned_bytes", (gint64) plan->arena_bytes[GANTRY_MEMORY_DEVICE] },
    { "lower_bound_bytes", (gint64) plan->lower_bound },
    { "constant_bytes", (gint64) (plan->constant_bytes + program->executable->packed_bytes) },
    { "literal_bytes", (gint64) plan->literal_bytes },
  };
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  json_builder_set_member_name (json, "target");
  json_builder_add_string_value (json, program->target);
  json_builder_set_member_name (json, "milliseconds");
  json_builder_add_double_value (json, program->compile_ms);
  json_builder_set_member_name (json, "predicted_milliseconds");
  json_builder_add_double_value (json, plan->total_us / 1000);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      json_builder_set_member_name (json, sizes[i].key);
      json_builder_add_int_value (json, sizes[i].value);
    }
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static void
print_text (const GantryProgram *program)
{
  const GantryPlan *plan = program->executable->plan;
  g_autofree char *arena = gantry_cli_bytes (plan->arena_bytes[GANTRY_MEMORY_DEVICE]);
  g_autofree char *bound = gantry_cli_bytes (plan->lower_bound);
  g_autofree char *constants = gantry_cli_bytes (plan->constant_bytes + program->executable->packed_bytes);

  printf ("%-12s %s\n", "target", program->target);
  printf ("%-12s %u kernels in %.0f ms\n", "compiled", program->executable->n_kernels, program->compile_ms);
  printf ("%-12s %u steps, and %u once at load\n", "plan", plan->n_steps - plan->n_init_steps, plan->n_init_steps);
  printf ("%-12s %s planned (lower bound %s), constants %s\n", "memory", arena, bound, constants);
  printf ("%-12s %.3f ms predicted\n", "time", plan->total_us / 1000);
}

static int
compile (const Options *options, const char *path)
{
  const GantryProgress *progress = gantry_cli_progress (&options->common);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryDocument) document = gantry_cli_open (&options->common, path, &error);
  g_autoptr (GantryProgram) program = NULL;

  if (document != NULL)
    program = gantry_program_new (gantry_document_get_compilation (document), gantry_document_get_settings (document),
                                  &options->program, progress, &error);
  if (program != NULL && options->emit != NULL)
    emit_code (options, program->executable, &error);
  else if (program != NULL && options->output != NULL)
    gantry_document_save (document, options->output, &error);
  if (error != NULL)
    return gantry_cli_fail (error);
  if (options->common.json)
    print_json (program, gantry_document_get_compilation (document));
  else if (options->emit == NULL || options->output != NULL)
    print_text (program);
  return GANTRY_EXIT_DONE;
}

int
gantry_cli_compile (int argc, char **argv)
{
  g_auto (Options) options = { .common = GANTRY_CLI_OPTIONS_INIT };
  const GOptionEntry own[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Write a session file; with --emit a folder of texts",
      "PATH" },
    { "emit", 0, 0, G_OPTION_ARG_STRING, &options.emit, "Write code: texpr, llvm or asm", "KIND" },
    { "threads", 't', 0, G_OPTION_ARG_INT, &options.program.threads, "Worker threads (all processors)", "N" },
    { "no-library", 0, 0, G_OPTION_ARG_NONE, &options.program.no_library, "Generated code only, no oneDNN", NULL },
    { NULL },
  };

  options.common.places = TRUE;
  if (!gantry_cli_parse ("compile", "MODEL", "Compiles a model for this machine.", &options.common, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2)
    {
      fprintf (stderr, "gantry-cli compile: give one model\n");
      return GANTRY_EXIT_ERROR;
    }
  if (options.emit != NULL && strcmp (options.emit, "texpr") != 0 && strcmp (options.emit, "llvm") != 0 &&
      strcmp (options.emit, "asm") != 0)
    {
      fprintf (stderr, "gantry-cli compile: --emit takes texpr, llvm or asm\n");
      return GANTRY_EXIT_ERROR;
    }
  options.program.keep_texts = options.emit != NULL;
  return compile (&options, argv[1]);
}
