/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli profile: records runs without a window, here or on another machine, and tells what was planned and what was
 * measured. On a GPU CUPTI records; elsewhere the runs tell it themselves. */
#include "app/cli/confine.h"
#include "app/cli/device.h"
#include "app/cli/inputs.h"
#include "app/cli/kernel-table.h"
#include "app/cli/profile-gpu.h"
#include "app/cli/remote.h"
#include "app/cli/memory-report.h"
#include "app/cli/run-report.h"
#include "core/base/compare.h"
#include "core/base/error.h"
#include "core/base/scratch.h"
#include "core/document/outside.h"
#include "profiler/kernel-table.h"
#include <stdlib.h>
#include <string.h>

typedef struct
{
  GantryCliOptions common;
  GantryProgramOptions program;
  GantryTrainingOptions training;
  GantryCuptiOptions cupti;
  char **inputs;
  char *output, *device, *arch;
  gint runs, warmup, steps, slowest, parent;
  gboolean train, session, unrecorded;
  char *loss, *optimizer;
  gint64 kernel; /* node; -1: none */
  char *raw, *kernels;
  char *host, *launcher, *remote_cli;
  char **send;
} Options;

static void
options_clear (Options *options)
{
  char **const texts[] = { &options->output, &options->device,  &options->arch, &options->loss,     &options->optimizer,
                           &options->raw,    &options->kernels, &options->host, &options->launcher, &options->remote_cli };

  gantry_cli_options_clear (&options->common);
  gantry_training_options_clear (&options->training);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (*texts[i]);
  g_strfreev (options->inputs);
  g_strfreev (options->send);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* What was measured, wherever that was. */
typedef struct
{
  GantryDocument *document;
  GantryRunResult *result;
  GantryProgramTimes times; /* of runs that were not recorded: then there is no result */
  char *kernel;             /* (nullable): that was looked at */
  GantryCuptiKernelProfile counted;
} Profile;

static void
profile_clear (Profile *profile)
{
  g_clear_pointer (&profile->result, gantry_run_result_unref);
  gantry_program_times_clear (&profile->times);
  g_clear_object (&profile->document);
  g_free (profile->kernel);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Profile, profile_clear)

static GantryModule *
module_of (const Profile *profile)
{
  return gantry_compilation_module (gantry_document_get_compilation (profile->document));
}

/* Here. */

static guint
ordinal_of (const char *device)
{
  return device != NULL && g_str_has_prefix (device, "cuda:") ? (guint) g_ascii_strtoull (device + 5, NULL, 10) : 0;
}

static gboolean
measure (Profile *profile, const Options *options, const GantryProgramOptions *how, GantryProgram *program, GError **error)
{
  const GantryProgress *progress = gantry_cli_progress (&options->common);
  g_autoptr (GantryValues) values = gantry_values_new (module_of (profile), options->inputs, options->common.read, error);
  g_autoptr (GArray) losses = g_array_new (FALSE, FALSE, sizeof (double));

  if (values == NULL)
    return FALSE;
  if (options->unrecorded)
    return gantry_program_time (program, how, values, (guint) options->warmup, (guint) options->runs, &profile->times, progress, error);
  if (options->steps > 0)
    profile->result = gantry_program_measure_steps (program, how, values, (guint) options->steps, losses, progress, error);
  else
    profile->result = gantry_program_measure (program, how, values, (guint) options->warmup, (guint) options->runs, progress, error);
  return profile->result != NULL;
}

static gboolean
profile_with (Profile *profile, const Options *options, GantryGpuProfiler *gpu, GantryDevice *device, GantryProgramOptions *how, const char *path,
              GError **error)
{
  g_autoptr (GantryProgram) program = NULL;

  profile->document = gantry_cli_open (&options->common, path, error);
  if (profile->document == NULL)
    return FALSE;
  how->limit = gantry_document_get_settings (profile->document)->target.memory_limit;
  how->host_limit = gantry_document_get_settings (profile->document)->target.host_limit;
  program = gantry_program_new (gantry_document_get_compilation (profile->document), gantry_document_get_settings (profile->document), how,
                                gantry_cli_progress (&options->common), error);
  if (program == NULL)
    return FALSE;
  gantry_program_confine (how);
  if (gpu != NULL)
    gantry_gpu_profiler_attach (gpu, how);
  if (!measure (profile, options, how, program, error))
    return FALSE;
  return options->kernel < 0
         || gantry_gpu_profile_node (device, ordinal_of (options->device), program, (guint32) options->kernel, &profile->kernel, &profile->counted, error);
}

static gboolean
profile_here (Profile *profile, const Options *options, GantryDevice **device, const char *path, GError **error)
{
  GantryProgramOptions how = options->program;
  GantryCuptiOptions cupti = options->cupti;
  g_autoptr (GantryGpuProfiler) gpu = NULL;

  cupti.device = ordinal_of (options->device);
  cupti.raw_path = options->raw;
  cupti.read = options->common.read;
  if (how.code == GANTRY_CODE_CUDA && !options->unrecorded)
    gpu = gantry_gpu_profiler_new (&cupti);
  *device = gantry_program_open_device (&how, options->device, error);
  return *device != NULL && profile_with (profile, options, gpu, *device, &how, path, error);
}

/* Elsewhere. */

/* An input that is a file goes along, and is beside the session there. (transfer full) */
static char *
input_there (const char *text, GPtrArray *files)
{
  const char *equals = strchr (text, '='), *value = equals != NULL ? equals + 1 : text;
  g_autofree char *base = g_path_get_basename (value);

  if (!g_file_test (value, G_FILE_TEST_IS_REGULAR))
    return g_strdup (text);
  g_ptr_array_add (files, g_strdup (value));
  return g_strdup_printf ("%.*s%s", (int) (value - text), text, base);
}

/* (transfer full) */
static GPtrArray *
arguments_there (const Options *options, GPtrArray *files)
{
  GPtrArray *arguments = g_ptr_array_new_with_free_func (g_free);

  g_ptr_array_add (arguments, g_strdup_printf ("--device=%s", options->device));
  g_ptr_array_add (arguments, g_strdup_printf ("--runs=%d", options->runs));
  g_ptr_array_add (arguments, g_strdup_printf ("--warmup=%d", options->warmup));
  if (options->steps > 0)
    g_ptr_array_add (arguments, g_strdup_printf ("--steps=%d", options->steps));
  if (options->program.threads > 0)
    g_ptr_array_add (arguments, g_strdup_printf ("--threads=%d", options->program.threads));
  if (options->program.no_library)
    g_ptr_array_add (arguments, g_strdup ("--no-library"));
  if (options->program.gpu_library)
    g_ptr_array_add (arguments, g_strdup ("--gpu-library"));
  if (options->program.allow_tf32)
    g_ptr_array_add (arguments, g_strdup ("--allow-tf32"));
  if (options->cupti.counters)
    g_ptr_array_add (arguments, g_strdup ("--counters"));
  if (options->arch != NULL)
    g_ptr_array_add (arguments, g_strdup_printf ("--target=%s", options->arch));
  for (guint i = 0; options->inputs != NULL && options->inputs[i] != NULL; i++)
    {
      g_autofree char *input = input_there (options->inputs[i], files);

      g_ptr_array_add (arguments, g_strdup_printf ("--input=%s", input));
    }
  g_ptr_array_add (arguments, NULL);
  return arguments;
}

/* The newest run of the session that came back becomes one of ours. */
static gboolean
take_back (Profile *profile, const char *session, GError **error)
{
  g_autoptr (GError) notice = NULL;
  g_autoptr (GPtrArray) runs = gantry_runs_read (session, NULL, &notice, error);

  gantry_cli_tell_left_out (notice);
  if (runs == NULL)
    return FALSE;
  if (runs->len == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the session that came back has no run");
      return FALSE;
    }
  profile->result = gantry_run_result_ref (g_ptr_array_index (runs, runs->len - 1));
  /* Read it whole now: its file goes. */
  return profile->result->recording == NULL || gantry_recording_load_all (profile->result->recording, NULL, error);
}

static gboolean
profile_in (Profile *profile, const Options *options, const char *folder, GError **error)
{
  g_autofree char *session = g_build_filename (folder, "session.gantry", NULL), *back = NULL;
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free), arguments = arguments_there (options, files);
  GantryRemote remote = { .host = options->host, .launcher = options->launcher, .cli = options->remote_cli };

  if (!gantry_document_save (profile->document, session, error))
    return FALSE;
  g_ptr_array_insert (files, 0, g_strdup (session));
  g_ptr_array_insert (files, 1, g_strdup (gantry_document_get_model (profile->document)->path));
  for (guint i = 0; options->send != NULL && options->send[i] != NULL; i++)
    g_ptr_array_add (files, g_strdup (options->send[i]));
  g_ptr_array_add (files, NULL);
  remote.files = (char *const *) files->pdata;
  remote.arguments = (char *const *) arguments->pdata;
  back = gantry_remote_run (&remote, folder, gantry_cli_progress (&options->common), error);
  return back != NULL && take_back (profile, back, error);
}

static gboolean
profile_there (Profile *profile, const Options *options, const char *path, GError **error)
{
  g_autoptr (GantryScratch) scratch = NULL;

  profile->document = gantry_cli_open (&options->common, path, error);
  if (profile->document == NULL)
    return FALSE;
  scratch = gantry_scratch_new (error);
  return scratch != NULL && profile_in (profile, options, gantry_scratch_folder (scratch), error);
}

/* The report. */

typedef struct
{
  const char *name;
  double value;
} Figure;

/* @figures: at least 12. Returns: how many */
static guint
figures_of (const GantryCuptiKernelProfile *p, Figure *figures)
{
  const Figure all[] = {
    { "passes", p->n_passes },           { "microseconds", p->duration_ns / 1e3 }, { "clock_hz", p->clock_hz },      { "flops", p->flops },
    { "tensor_flops", p->tensor_flops }, { "dram_bytes", p->dram_bytes },          { "l2_bytes", p->l2_bytes },      { "occupancy_percent", p->occupancy },
    { "sm_percent", p->sm_busy },        { "tensor_percent", p->tensor_busy },     { "dram_percent", p->dram_busy }, { "l2_percent", p->l2_busy },
  };

  memcpy (figures, all, sizeof all);
  return G_N_ELEMENTS (all);
}

/* What kernels alone take in a run: its pauses are left out. */
static void
add_kernels (JsonBuilder *json, const Profile *profile)
{
  const GantryRates rates = { 0 };
  g_autoptr (GantryKernelTable) table = gantry_kernel_table_new (profile->result->recording, module_of (profile), profile->result->plan, &rates);
  double us = 0;

  for (guint i = 0; i < table->rows->len; i++)
    {
      const GantryKernelRow *row = &g_array_index (table->rows, GantryKernelRow, i);

      us += row->kind == GANTRY_EVENT_KERNEL && row->control == 0 ? row->measured_us : 0;
    }
  gantry_cli_add_double (json, "kernels_milliseconds", us / 1000);
}

static void
add_numbers (JsonBuilder *json, const char *name, const GArray *numbers)
{
  json_builder_set_member_name (json, name);
  json_builder_begin_array (json);
  for (guint i = 0; i < numbers->len; i++)
    gantry_cli_add_number (json, g_array_index (numbers, double, i));
  json_builder_end_array (json);
}

static void
add_more (JsonBuilder *json, gpointer user_data)
{
  const Profile *profile = user_data;
  const GantryRecording *recording = profile->result->recording;
  g_autoptr (GArray) launch = g_array_new (FALSE, FALSE, sizeof (double)), times = gantry_run_result_get_times (profile->result, launch);
  Figure figures[12];

  json_builder_set_member_name (json, "notes");
  json_builder_begin_array (json);
  for (guint i = 0; i < gantry_recording_n_notes (recording); i++)
    json_builder_add_string_value (json, gantry_recording_note (recording, i));
  json_builder_end_array (json);
  add_numbers (json, "runs_milliseconds", times); /* on the queues: inputs are there before, results read after */
  add_numbers (json, "launch_milliseconds", launch);
  add_kernels (json, profile);
  if (profile->kernel == NULL)
    return;
  json_builder_set_member_name (json, "kernel_counters");
  json_builder_begin_object (json);
  gantry_cli_add_string (json, "kernel", profile->kernel);
  for (guint i = 0, n = figures_of (&profile->counted, figures); i < n; i++)
    gantry_cli_add_double (json, figures[i].name, figures[i].value);
  json_builder_end_object (json);
}

/* Between the start of a run and the GPU's first work; the first run is launched command by command. */
static void
print_launch (const GantryRunResult *result)
{
  g_autoptr (GArray) launch = g_array_new (FALSE, FALSE, sizeof (double)), times = gantry_run_result_get_times (result, launch);

  if (launch->len == 0)
    return;
  g_array_sort (launch, gantry_compare_doubles);
  gantry_cli_print ("%-10s %.3f ms, median: the host's, before the GPU begins, with CUPTI at each kernel; not in the time, which is the GPU's\n", "launch",
                    g_array_index (launch, double, launch->len / 2));
}

static void
print_more (const Profile *profile)
{
  const GantryRecording *recording = profile->result->recording;
  Figure figures[12];

  print_launch (profile->result);
  gantry_run_report_notes_text (recording);
  if (profile->kernel == NULL)
    return;
  gantry_cli_print ("\nkernel %s by itself\n", profile->kernel);
  for (guint i = 0, n = figures_of (&profile->counted, figures); i < n; i++)
    gantry_cli_print ("  %-18s %.6g\n", figures[i].name, figures[i].value);
}

static void
add_times (JsonBuilder *json, const GantryProgramTimes *times)
{
  json_builder_set_member_name (json, "runs_milliseconds");
  json_builder_begin_array (json);
  for (guint i = 0; i < times->milliseconds->len; i++)
    gantry_cli_add_number (json, g_array_index (times->milliseconds, double, i));
  json_builder_end_array (json);
  gantry_cli_add_string (json, "timed_by", times->between_events ? "events of the GPU" : "the host's clock");
  json_builder_set_member_name (json, "notes");
  json_builder_begin_array (json);
  for (guint i = 0; times->notes[i] != NULL; i++)
    json_builder_add_string_value (json, times->notes[i]);
  json_builder_end_array (json);
}

static void
report_times (const Profile *profile, const Options *options, GantryDevice *device)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();
  const GantryProgramTimes *times = &profile->times;

  for (guint i = 0; !options->common.json && i < times->milliseconds->len; i++)
    gantry_cli_print ("%.6g ms\n", g_array_index (times->milliseconds, double, i));
  for (guint i = 0; !options->common.json && times->notes[i] != NULL; i++)
    gantry_cli_print ("%s\n", times->notes[i]);
  if (!options->common.json)
    return;
  json_builder_begin_object (json);
  gantry_cli_add_string (json, "device", gantry_device_name (device));
  add_times (json, times);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static gboolean
report (Profile *profile, const Options *options, GantryDevice *device, GError **error)
{
  const GantryCompileSettings *settings = gantry_document_get_settings (profile->document);
  g_autofree char *elsewhere = gantry_document_predicted_elsewhere (profile->document, profile->result);
  GantryRunReport report = { .result = profile->result,
                             .module = module_of (profile),
                             .limit = settings->target.memory_limit,
                             .target = settings->target,
                             .elsewhere = elsewhere,
                             .n_slowest = (guint) options->slowest,
                             .device = device,
                             .add = add_more,
                             .add_data = profile };

  if (options->kernels != NULL && !gantry_run_report_write_kernels (&report, options->kernels, options->common.read, error))
    return FALSE;
  if (options->common.json)
    gantry_run_report_json (&report);
  else
    {
      gantry_run_report_text (&report);
      print_more (profile);
    }
  return TRUE;
}

static int
profile (const Options *options, const char *path)
{
  g_autoptr (GantryDevice) device = NULL;
  g_auto (Profile) profile = { 0 };
  g_autoptr (GError) error = NULL;
  const char *output = options->session ? path : options->output;
  gboolean elsewhere = options->host != NULL || options->launcher != NULL;

  if (!(elsewhere ? profile_there (&profile, options, path, &error) : profile_here (&profile, options, &device, path, &error)))
    return gantry_cli_fail (error);
  if (options->unrecorded)
    {
      report_times (&profile, options, device);
      return GANTRY_EXIT_DONE;
    }
  if (profile.result->recording == NULL || profile.result->plan == NULL)
    {
      gantry_cli_tell ("gantry-cli profile: the run that came back has no recording or no plan\n");
      return GANTRY_EXIT_ERROR;
    }
  gantry_document_add_run (profile.document, profile.result);
  if ((output != NULL && !gantry_document_save (profile.document, output, &error)) || !report (&profile, options, device, &error))
    return gantry_cli_fail (error);
  return gantry_memory_report_above (profile.result, gantry_document_get_settings (profile.document)->target.memory_limit) ? GANTRY_EXIT_ABOVE_LIMIT
                                                                                                                           : GANTRY_EXIT_DONE;
}

static gboolean
check (Options *options, int argc, GError **error)
{
  gboolean elsewhere = options->host != NULL || options->launcher != NULL;
  const char *wrong = NULL;

  if (argc != 2)
    wrong = "give one model";
  else if (options->runs < 1 || options->runs > 1000000 || options->warmup < 0 || options->steps < 0 || options->steps > 1000000)
    wrong = "--runs is from 1 to 1000000, --warmup from 0 on, --steps from 1 to 1000000";
  else if (options->slowest < 0 || options->kernel < -1 || options->kernel > G_MAXUINT32)
    wrong = "--slowest and --kernel are from 0 on";
  else if (elsewhere && (options->kernel >= 0 || options->raw != NULL || options->session))
    wrong = "--kernel, --raw and --session are of runs on this machine: not with --host or --launcher";
  else if (options->unrecorded && (elsewhere || options->session || options->output != NULL || options->kernel >= 0 || options->steps > 0))
    wrong = "--unrecorded only tells times, of runs on this machine: not with --output, --kernel, --steps, --host or --launcher";
  else if (!options->train && (options->loss != NULL || options->optimizer != NULL))
    wrong = "--loss and --optimizer go with --train";
  if (wrong != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s", wrong);
  if (options->train)
    options->common.training = &options->training;
  /* Another machine is asked for its GPU; and the program is compiled for what it runs on. */
  if (options->device == NULL && elsewhere)
    options->device = g_strdup ("cuda");
  return wrong == NULL && (options->loss == NULL || gantry_loss_parse (options->loss, &options->training.loss, error))
         && (options->optimizer == NULL || gantry_optimizer_parse (options->optimizer, &options->training.optimizer, error));
}

static gboolean
parse (Options *options, int *argc, char ***argv)
{
  const GOptionEntry own[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output, "Write a session file", "FILE.gantry" },
    { "device", 0, 0, G_OPTION_ARG_STRING, &options->device, "What runs it, as gantry-cli run; elsewhere cuda without this", "NAME" },
    { "runs", 'n', 0, G_OPTION_ARG_INT, &options->runs, "Recorded runs (5)", "N" },
    { "warmup", 0, 0, G_OPTION_ARG_INT, &options->warmup, "Runs before those (2)", "N" },
    { "steps", 0, 0, G_OPTION_ARG_INT, &options->steps, "Instead: steps in a row, as gantry-cli run", "N" },
    { "unrecorded", 0, 0, G_OPTION_ARG_NONE, &options->unrecorded, "Record nothing: only tell how long steps in a row take when nobody looks", NULL },
    { "train", 0, 0, G_OPTION_ARG_NONE, &options->train, "Make a training step of the program first", NULL },
    { "loss", 0, 0, G_OPTION_ARG_STRING, &options->loss, "With --train: as gantry-cli train", "NAME" },
    { "optimizer", 0, 0, G_OPTION_ARG_STRING, &options->optimizer, "With --train: as gantry-cli train", "NAME" },
    { "input", 'i', 0, G_OPTION_ARG_STRING_ARRAY, &options->inputs, "An input, as gantry-cli run", "VALUE" },
    { "counters", 0, 0, G_OPTION_ARG_NONE, &options->cupti.counters, "Sample a GPU's hardware counters too", NULL },
    { "kernel", 0, 0, G_OPTION_ARG_INT64, &options->kernel, "Then launch this node's kernel by itself, and count what it does on the GPU", "NODE" },
    { "raw", 0, 0, G_OPTION_ARG_FILENAME, &options->raw, "Keep what CUPTI gave as it came", "FILE.cupti" },
    { "slowest", 0, 0, G_OPTION_ARG_INT, &options->slowest, "List the operations that take longest (20)", "N" },
    { "kernels", 0, 0, G_OPTION_ARG_FILENAME, &options->kernels, "Write a table of all kernels and copies", "FILE.csv" },
    { "threads", 't', 0, G_OPTION_ARG_INT, &options->program.threads, "Worker threads (all processors)", "N" },
    { "no-library", 0, 0, G_OPTION_ARG_NONE, &options->program.no_library, "Generated code only, no libraries", NULL },
    { "gpu-library", 0, 0, G_OPTION_ARG_NONE, &options->program.gpu_library, "As gantry-cli run", NULL },
    { "allow-tf32", 0, 0, G_OPTION_ARG_NONE, &options->program.allow_tf32, "As gantry-cli run", NULL },
    { "host", 0, 0, G_OPTION_ARG_STRING, &options->host, "Do it on another machine, through ssh", "[USER@]MACHINE" },
    { "launcher", 0, 0, G_OPTION_ARG_STRING, &options->launcher, "Do it where this program starts another one: 'srun -n1 --gres=gpu:1'; with --host from there",
      "COMMAND" },
    { "remote-cli", 0, 0, G_OPTION_ARG_STRING, &options->remote_cli, "gantry-cli there (gantry-cli)", "PATH" },
    { "send", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options->send, "Another file that the model needs beside it there, such as its weights", "FILE" },
    { "session", 0, 0, G_OPTION_ARG_NONE, &options->session, "The argument is a session file: add the run to it", NULL },
    { "parent", 0, 0, G_OPTION_ARG_INT, &options->parent, "End when this process, which started the run, ends", "PID" },
    { NULL },
  };

  return gantry_cli_parse ("profile", "MODEL", "Compiles a model, records its runs, and tells what was planned and what was measured.", &options->common, own,
                           argc, argv);
}

int
gantry_cli_profile (int argc, char **argv)
{
  g_auto (Options) options = { .common = GANTRY_CLI_OPTIONS_INIT, .runs = 5, .warmup = 2, .slowest = 20, .kernel = -1 };
  g_autofree char *cache = g_build_filename (g_get_user_cache_dir (), "gantry", "cubin", NULL);
  g_autoptr (GError) error = NULL;

  options.program.cache_folder = cache;
  gantry_kernel_table_count_in (&options.common, &options.program);
  options.program.keep_texts = TRUE;
  options.common.places = TRUE;
  gantry_training_options_init (&options.training);
  if (!parse (&options, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (!check (&options, argc, &error) || (options.parent != 0 && !gantry_confine_child (options.parent, GANTRY_MOST_FILE_BYTES, &error))
      || !gantry_program_choose_device (&options.program, options.device, &options.common, &options.arch, &error))
    return gantry_cli_fail (error);
  /* Still one thread: libraries' ranges are seen only when the environment says so before they are loaded. */
  if (options.program.code == GANTRY_CODE_CUDA && options.host == NULL && options.launcher == NULL)
    gantry_cupti_prepare_environment ();
  return profile (&options, argv[1]);
}
