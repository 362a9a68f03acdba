/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli compile: code and plan without running them. */
#include "app/cli/code-report.h"
#include "app/cli/confine.h"
#include "app/cli/kernel-table.h"
#include <string.h>

typedef struct
{
  GantryCliOptions common;
  GantryProgramOptions program;
  char *output;
  char *emit;   /* one of GANTRY_CODE_EMITS */
  char *device; /* as of run, and "cuda" */
  char *arch;
  gboolean session;
  gint parent;
} Options;

static void
options_clear (Options *options)
{
  gantry_cli_options_clear (&options->common);
  g_free (options->output);
  g_free (options->emit);
  g_free (options->device);
  g_free (options->arch);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* What the code was made for, as published. */
static void
add_gpu (JsonBuilder *json, const GantryGpuModel *gpu)
{
  json_builder_set_member_name (json, "gpu");
  json_builder_begin_object (json);
  gantry_cli_add_string (json, "name", gpu->name);
  gantry_cli_add_string (json, "arch", gpu->arch);
  gantry_cli_add_int (json, "multiprocessors", gpu->n_multiprocessors);
  gantry_cli_add_double (json, "memory_bandwidth", gpu->memory_bandwidth);
  gantry_cli_add_double (json, "product_f16", gpu->rates[GANTRY_UNIT_PRODUCT_F16]);
  gantry_cli_add_double (json, "special", gpu->rates[GANTRY_UNIT_SPECIAL]);
  json_builder_end_object (json);
}

static void
print_json (const GantryProgram *program, const GantryCompilation *compilation, const GantryGpuModel *gpu)
{
  const GantryPlan *plan = program->executable->plan;
  const struct
  {
    const char *key;
    gint64 value;
  } sizes[] = {
    { "kernels", program->executable->n_kernels },
    { "steps", plan->n_steps - plan->n_init_steps },
    { "init_steps", plan->n_init_steps },
    { "planned_bytes", (gint64) gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE) },
    { "arena_bytes", (gint64) plan->arena_bytes[GANTRY_MEMORY_DEVICE] },
    { "lower_bound_bytes", (gint64) gantry_plan_least_bytes (plan) },
    { "arena_lower_bound_bytes", (gint64) plan->lower_bound },
  };
  g_autoptr (JsonBuilder) json = json_builder_new ();
  GantryMemoryParts parts;

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
  gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, &parts);
  gantry_cli_add_parts (json, "parts", &parts);
  if (program->executable->n_images > 0)
    {
      if (gpu != NULL)
        add_gpu (json, gpu);
      gantry_code_report_json (program->executable, json);
    }
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static void
print_text (const GantryProgram *program)
{
  const GantryPlan *plan = program->executable->plan;
  g_autofree char *needed = gantry_cli_bytes (gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE));
  g_autofree char *bound = gantry_cli_bytes (gantry_plan_least_bytes (plan)), *named = NULL;
  GantryMemoryParts parts;

  gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, &parts);
  named = gantry_memory_parts_text (&parts);
  gantry_cli_print ("%-12s %s\n", "target", program->target);
  gantry_cli_print ("%-12s %u kernels in %.0f ms\n", "compiled", program->executable->n_kernels, program->compile_ms);
  gantry_cli_print ("%-12s %u steps, and %u once at load\n", "plan", plan->n_steps - plan->n_init_steps, plan->n_init_steps);
  gantry_cli_print ("%-12s %s planned (lower bound %s): %s\n", "memory", needed, bound, named);
  gantry_cli_print ("%-12s %.3f ms predicted\n", "time", plan->total_us / 1000);
  if (program->executable->n_images > 0)
    gantry_code_report_text (program->executable);
}

/* The window's child: what the kernels need goes into the session, whether the plan fits or not. */
static int
keep_sizes (const Options *options, const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryDocument) document = gantry_cli_open (&options->common, path, &error);

  if (document == NULL || !gantry_kernel_table_use (document, &options->program, gantry_cli_progress (&options->common), &error)
      || !gantry_document_save (document, path, &error))
    return gantry_cli_fail (error);
  return GANTRY_EXIT_DONE;
}

static int
compile (const Options *options, const char *path)
{
  const GantryProgress *progress = gantry_cli_progress (&options->common);
  const GantryGpuModel *named = options->common.resolved.gpu, *gpu = named != NULL ? named : options->common.gpu;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryDocument) document = gantry_cli_open (&options->common, path, &error);
  g_autoptr (GantryProgram) program = NULL;

  if (document != NULL)
    program = gantry_program_new (gantry_document_get_compilation (document), gantry_document_get_settings (document), &options->program, progress, &error);
  if (program != NULL)
    gantry_kernel_table_keep (program->sizes, &options->program);
  if (program != NULL && options->emit != NULL)
    gantry_code_emit (program->executable, options->emit, options->output, options->common.read, &error);
  else if (program != NULL && options->output != NULL)
    {
      gantry_document_set_kernel_sizes (document, program->sizes);
      gantry_document_save (document, options->output, &error);
    }
  if (error != NULL)
    return gantry_cli_fail (error);
  if (options->common.json)
    print_json (program, gantry_document_get_compilation (document), gpu);
  else if (options->emit == NULL || options->output != NULL)
    print_text (program);
  return GANTRY_EXIT_DONE;
}

/* A GPU is named by --target; what there is for a GPU only asks for one by itself. */
static gboolean
choose (Options *options, GError **error)
{
  gboolean of_gpu = FALSE;

  if (options->emit != NULL && !gantry_code_emit_is_known (options->emit, &of_gpu))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--emit takes " GANTRY_CODE_EMITS);
      return FALSE;
    }
  if (!gantry_program_choose_device (&options->program, options->device, &options->common, &options->arch, error))
    return FALSE;
  if (options->device == NULL && (options->arch != NULL || of_gpu))
    {
      options->program.code = GANTRY_CODE_CUDA;
      options->common.made_for = GANTRY_CLI_CODE_FOR_GPU;
    }
  if (options->program.code == GANTRY_CODE_CUDA && options->common.gpu == NULL)
    options->common.gpu = gantry_gpu_model ("sm_90a"); /* what code is made for where nothing is named */
  if (options->program.code == GANTRY_CODE_CUDA || !of_gpu)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--emit %s is of a GPU: leave --device out", options->emit);
  return FALSE;
}

int
gantry_cli_compile (int argc, char **argv)
{
  g_auto (Options) options = { .common = GANTRY_CLI_OPTIONS_INIT };
  const GOptionEntry own[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Write a session file; with --emit a folder of texts", "PATH" },
    { "session", 0, 0, G_OPTION_ARG_NONE, &options.session, "The argument is a session file: only note in it what the kernels need", NULL },
    { "parent", 0, 0, G_OPTION_ARG_INT, &options.parent, "End when this process, which asked for it, ends", "PID" },
    { "emit", 0, 0, G_OPTION_ARG_STRING, &options.emit, "Write code: " GANTRY_CODE_EMITS, "KIND" },
    { "device", 0, 0, G_OPTION_ARG_STRING, &options.device, "cpu, or grid (what is made for a GPU, for the processor); a GPU is named by --target sm_90a",
      "NAME" },
    { "threads", 't', 0, G_OPTION_ARG_INT, &options.program.threads, "Worker threads (all processors)", "N" },
    { "no-library", 0, 0, G_OPTION_ARG_NONE, &options.program.no_library, "Generated code only, no oneDNN", NULL },
    { "gpu-library", 0, 0, G_OPTION_ARG_NONE, &options.program.gpu_library, "cuBLASLt may do products on a GPU, where it is faster", NULL },
    { "allow-tf32", 0, 0, G_OPTION_ARG_NONE, &options.program.allow_tf32, "Products of f32 on a GPU may be rounded to 10 bits of mantissa, for tensor cores",
      NULL },
    { NULL },
  };
  g_autofree char *cache = g_build_filename (g_get_user_cache_dir (), "gantry", "cubin", NULL);
  g_autoptr (GError) error = NULL;

  options.common.places = options.common.code = TRUE;
  if (!gantry_cli_parse ("compile", "MODEL",
                         "Compiles a model for this machine, or for the GPU that --target names: "
                         "a100, h100, h200, b200 or rtx4090, or sm_80, sm_90, sm_90a or sm_100.",
                         &options.common, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2)
    {
      gantry_cli_tell ("gantry-cli compile: give one model\n");
      return GANTRY_EXIT_ERROR;
    }
  if ((options.parent != 0 && !gantry_confine_child (options.parent, GANTRY_MOST_FILE_BYTES, &error)) || !choose (&options, &error))
    return gantry_cli_fail (error);
  options.program.keep_texts = options.emit != NULL;
  options.program.cache_folder = cache;
  gantry_kernel_table_count_in (&options.common, &options.program);
  return options.session ? keep_sizes (&options, argv[1]) : compile (&options, argv[1]);
}
