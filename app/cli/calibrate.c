/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli calibrate: the target file of a device, from what it does. */
#include "app/cli/calibrate-measure.h"
#include "app/cli/confine.h"
#include "app/cli/device.h"
#include "core/base/processor-load.h"
#include "core/base/error.h"
#include "core/base/output.h"
#include "core/planner/machine.h"
#include <string.h>

#define GROUP "target"

typedef struct
{
  GantryCliOptions common;
  GantryProgramOptions program;
  char *device, *arch, *output;
  double seconds;
  gboolean keep;
  gint parent; /* 0: none that matters */
} Options;

static void
options_clear (Options *options)
{
  gantry_cli_options_clear (&options->common);
  g_free (options->device);
  g_free (options->arch);
  g_free (options->output);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* What is measured, for people. */
typedef struct
{
  char *name, *driver; /* @driver: (nullable) */
  char *when;
  const GantryGpuModel *model; /* (nullable): whose published rates stand for what was not measured */
  double seconds;
} Machine;

static void
machine_clear (Machine *machine)
{
  g_free (machine->name);
  g_free (machine->driver);
  g_free (machine->when);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Machine, machine_clear)

/* Rates that are known without measuring, and the device's name. */
static gboolean
describe (const Options *options, GantryDevice *device, Machine *machine, GantryTarget *stated, GError **error)
{
  guint ordinal;
  const GantryDeviceKind *kind = gantry_device_kind_find (options->device, &ordinal, error);
  g_autoptr (GantryDeviceProbe) probe = kind != NULL && kind->probe != NULL ? kind->probe (NULL) : NULL;
  const GantryDeviceInfo *info = probe != NULL && ordinal < probe->n_devices ? &probe->devices[ordinal] : NULL;
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();

  if (kind == NULL)
    return FALSE;
  /* What was found is a processor with all of its threads; the one that is open has those that were asked for. */
  machine->name = g_strdup (kind->code == GANTRY_CODE_GRID_ON_CPU           ? kind->name
                            : kind->code == GANTRY_CODE_CPU || info == NULL ? gantry_device_name (device)
                                                                            : info->name);
  machine->driver = probe != NULL ? g_strdup (probe->driver) : NULL;
  machine->when = g_date_time_format_iso8601 (now);
  machine->model = gantry_cli_device_model (kind, ordinal);
  if (machine->model != NULL)
    gantry_target_init_gpu (stated, machine->model);
  else
    gantry_target_init_cpu (stated, (guint) MAX (options->program.threads, 0));
  if (machine->model != NULL && options->program.arch != NULL)
    g_strlcpy (stated->arch, options->program.arch, sizeof stated->arch);
  if (machine->model != NULL && info != NULL)
    stated->memory_limit = info->bytes;
  return TRUE;
}

static void
name_target (GantryTarget *target, const Machine *machine)
{
  g_autofree char *name = g_strdup_printf ("%.48s, measured", machine->name);
  const char *end;

  g_strlcpy (target->name, name, sizeof target->name);
  if (!g_utf8_validate (target->name, -1, &end))
    target->name[end - target->name] = '\0';
}

/* The file. */

static void
add_figure (GString *text, const GantryCalibrationFigure *figure, const char *known_as)
{
  if (text->len > 0)
    g_string_append_c (text, '\n');
  g_string_append_printf (text, " %s%s", figure->beside != NULL ? figure->beside : "", figure->beside != NULL ? ": " : "");
  if (figure->why != NULL)
    {
      g_autofree char *why = gantry_format_text (figure->why, FALSE);

      g_string_append_printf (text, "not measured (%s): %s", figure->of, why);
    }
  else
    g_string_append_printf (text, "measured: %.4g (%.4g to %.4g) in %u runs by %s: %s", figure->value, figure->least, figure->most, figure->n, figure->clock,
                            figure->of);
  if (figure->stated > 0)
    g_string_append_printf (text, "; %s: %.4g", known_as, figure->stated);
}

/* All that is told of @key; "" of what nothing was measured for. (transfer full) */
static char *
comment_of (const GantryCalibration *calibration, const char *key, const char *known_as)
{
  GString *text = g_string_new (NULL);

  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < calibration->figures->len; i++)
      {
        const GantryCalibrationFigure *figure = &g_array_index (calibration->figures, GantryCalibrationFigure, i);

        if (strcmp (figure->key, key) == 0 && (figure->beside != NULL) == (pass == 1))
          add_figure (text, figure, known_as);
      }
  return g_string_free (text, FALSE);
}

static char *
head_of (const Machine *machine)
{
  g_autofree char *name = gantry_format_text (machine->name, FALSE);
  g_autofree char *driver = machine->driver != NULL ? gantry_format_text (machine->driver, FALSE) : NULL;

  return g_strdup_printf (" %s%s%s: what it does, measured by gantry-cli calibrate on %s.\n"
                          " Each rate is the median of runs of which nothing is recorded, with the least and the most. What was not measured is as "
                          "%s%s.",
                          name, driver != NULL ? ", " : "", driver != NULL ? driver : "", machine->when,
                          machine->model != NULL ? "published of " : "stated for a processor of its threads",
                          machine->model != NULL ? machine->model->label : "");
}

/* (transfer full) */
static char *
file_text (const GantryCalibration *calibration, const Machine *machine, GError **error)
{
  g_autofree char *bare = gantry_target_to_text (&calibration->target), *head = head_of (machine);
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_auto (GStrv) keys = NULL;

  if (!g_key_file_load_from_data (file, bare, strlen (bare), G_KEY_FILE_NONE, error) || !g_key_file_set_comment (file, GROUP, NULL, head, error))
    return NULL;
  keys = g_key_file_get_keys (file, GROUP, NULL, error);
  for (guint i = 0; keys != NULL && keys[i] != NULL; i++)
    {
      g_autofree char *comment = comment_of (calibration, keys[i], machine->model != NULL ? "published" : "stated");

      if (*comment != '\0' && !g_key_file_set_comment (file, GROUP, keys[i], comment, error))
        return NULL;
    }
  return keys != NULL ? g_key_file_to_data (file, NULL, error) : NULL;
}

/* The answer. */

static void
add_json (JsonBuilder *json, const GantryCalibrationFigure *figure)
{
  json_builder_begin_object (json);
  gantry_cli_add_string (json, "key", figure->key);
  gantry_cli_add_string (json, "beside", figure->beside);
  gantry_cli_add_boolean (json, "measured", figure->why == NULL);
  if (figure->why == NULL || figure->stated > 0)
    gantry_cli_add_double (json, "value", figure->value);
  if (figure->stated > 0)
    gantry_cli_add_double (json, "stated", figure->stated);
  gantry_cli_add_string (json, "of", figure->of);
  gantry_cli_add_string (json, "why", figure->why);
  gantry_cli_add_boolean (json, "failed", figure->failed);
  if (figure->why == NULL)
    {
      gantry_cli_add_double (json, "least", figure->least);
      gantry_cli_add_double (json, "most", figure->most);
      gantry_cli_add_int (json, "runs", figure->n);
      gantry_cli_add_int (json, "kernels", figure->n_kernels);
      if (figure->milliseconds > 0)
        gantry_cli_add_double (json, "milliseconds", figure->milliseconds);
      gantry_cli_add_string (json, "timed_by", figure->clock);
    }
  json_builder_end_object (json);
}

static void
print_json (const Options *options, const GantryCalibration *calibration, const Machine *machine)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  gantry_cli_add_string (json, "device", options->device != NULL ? options->device : "cpu");
  gantry_cli_add_string (json, "name", machine->name);
  gantry_cli_add_string (json, "driver", machine->driver);
  gantry_cli_add_string (json, "date", machine->when);
  gantry_cli_add_string (json, "target", calibration->target.name);
  gantry_cli_add_string (json, "published", machine->model != NULL ? machine->model->name : NULL);
  gantry_cli_add_string (json, "output", options->output);
  gantry_cli_add_double (json, "seconds", machine->seconds);
  if (calibration->spread > 0)
    gantry_cli_add_double (json, "spread", calibration->spread);
  json_builder_set_member_name (json, "rates");
  json_builder_begin_array (json);
  for (guint i = 0; i < calibration->figures->len; i++)
    add_json (json, &g_array_index (calibration->figures, GantryCalibrationFigure, i));
  json_builder_end_array (json);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static void
print_figures (const GantryCalibration *calibration)
{
  for (guint i = 0; i < calibration->figures->len; i++)
    {
      const GantryCalibrationFigure *figure = &g_array_index (calibration->figures, GantryCalibrationFigure, i);

      if (figure->beside == NULL && figure->why == NULL && figure->stated <= 0)
        gantry_cli_print ("%-17s %-10.4g nothing is stated              %s\n", figure->key, figure->value, figure->of);
      else if (figure->beside == NULL && figure->why == NULL)
        gantry_cli_print ("%-17s %-10.4g of the stated %-10.4g %5.2f  %s\n", figure->key, figure->value, figure->stated, figure->value / figure->stated,
                          figure->of);
      else if (figure->beside == NULL)
        gantry_cli_print ("%-17s %-10.4g as stated: %s\n", figure->key, figure->value, figure->why);
    }
}

/* On standard error too: who writes a file may not read it. */
static void
tell_failures (const GantryCalibration *calibration)
{
  for (guint i = 0; i < calibration->figures->len; i++)
    {
      const GantryCalibrationFigure *figure = &g_array_index (calibration->figures, GantryCalibrationFigure, i);

      if (figure->why != NULL)
        gantry_cli_tell ("gantry-cli calibrate: %s%s%s%s was not measured (%s): %s\n", figure->failed ? "" : "note: ", figure->key,
                         figure->beside != NULL ? ", " : "", figure->beside != NULL ? figure->beside : "", figure->of, figure->why);
    }
}

static gboolean
write_text (GantryOutput *output, const char *text, GError **error)
{
  gboolean written = g_output_stream_write_all (gantry_output_stream (output), text, strlen (text), NULL, NULL, error);

  return gantry_output_finish (output, written, error);
}

static gboolean
report (const Options *options, GantryCalibration *calibration, const Machine *machine, GantryOutput *output, GError **error)
{
  g_autofree char *text = NULL;

  name_target (&calibration->target, machine);
  text = file_text (calibration, machine, error);
  tell_failures (calibration);
  if (text == NULL || (output != NULL && !write_text (output, text, error)))
    return FALSE;
  if (options->common.json)
    print_json (options, calibration, machine);
  else if (output != NULL)
    print_figures (calibration);
  else
    gantry_cli_write_lines (stdout, text);
  return TRUE;
}

/* Of this machine for plans that nobody tells what they are for. What else it did meanwhile makes all of it slower than it is. */
#define MOST_OTHERS 0.15 /* of a processor */
#define MOST_SPREAD 1.25

static gboolean
keep_measured (const Options *options, const GantryCalibration *calibration, double others, GError **error)
{
  guint n_threads = (guint) MAX (options->program.threads, 0);

  if (calibration->n_failed == 0 && others <= MOST_OTHERS && calibration->spread <= MOST_SPREAD)
    return gantry_machine_keep (&calibration->target, n_threads, error);
  gantry_machine_put_off (n_threads);
  if (calibration->n_failed > 0)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "not kept, for not all could be measured");
  else if (others > MOST_OTHERS)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED,
                 "not kept: other programs had %.1f of the processors meanwhile, so that what was measured is too slow. Calibrate again when "
                 "the machine is idle",
                 others);
  else
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED,
                 "not kept: equal runs took %.2f times as long as the fastest of them, so the machine did something else meanwhile. Calibrate "
                 "again when it is idle",
                 calibration->spread);
  return FALSE;
}

#define LOOK_SECONDS 0.3

/* Before some seconds are spent on what will not be kept. Returns: FALSE where others are at work now */
static gboolean
check_idle (const Options *options, GError **error)
{
  GantryProcessorLoad before, after;
  double others;

  gantry_processor_load_read (&before);
  g_usleep ((gulong) (LOOK_SECONDS * G_USEC_PER_SEC));
  gantry_processor_load_read (&after);
  others = gantry_processor_load_of_others (&before, &after);
  if (others <= MOST_OTHERS)
    return TRUE;
  gantry_machine_put_off ((guint) MAX (options->program.threads, 0));
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED,
               "nothing is measured to be kept: other programs have %.1f of the processors now, so that all would be too slow. Calibrate again when "
               "the machine is idle",
               others);
  return FALSE;
}

static int
calibrate (Options *options)
{
  GantryProcessorLoad before, after;
  g_autoptr (GantryDevice) device = NULL;
  g_autoptr (GantryOutput) output = NULL;
  g_auto (GantryCalibration) calibration = { 0 };
  g_auto (Machine) machine = { 0 };
  g_autoptr (GError) error = NULL;
  GantryTarget stated;
  gint64 begin = g_get_monotonic_time ();

  device = gantry_program_open_device (&options->program, options->device, &error);
  if (device == NULL || !describe (options, device, &machine, &stated, &error))
    return gantry_cli_fail (error);
  /* Before anything is measured: what cannot be written is known at once. */
  output = options->output != NULL ? gantry_output_new (options->output, options->common.read, &error) : NULL;
  if (error != NULL || (options->keep && !check_idle (options, &error)))
    return gantry_cli_fail (error);
  gantry_program_confine (&options->program);
  gantry_processor_load_read (&before);
  gantry_calibration_run (&options->program, &stated, options->seconds, gantry_cli_progress (&options->common), &calibration);
  gantry_processor_load_read (&after);
  machine.seconds = (double) (g_get_monotonic_time () - begin) / 1e6;
  g_strlcpy (calibration.target.measured, machine.when, sizeof calibration.target.measured);
  if (!report (options, &calibration, &machine, output, &error)
      || (options->keep && !keep_measured (options, &calibration, gantry_processor_load_of_others (&before, &after), &error)))
    return gantry_cli_fail (error);
  return calibration.n_failed > 0 ? GANTRY_EXIT_ERROR : GANTRY_EXIT_DONE;
}

int
gantry_cli_calibrate (int argc, char **argv)
{
  g_auto (Options) options = { .common = GANTRY_CLI_OPTIONS_INIT, .seconds = 20 };
  g_autofree char *cache = g_build_filename (g_get_user_cache_dir (), "gantry", "cubin", NULL);
  g_autoptr (GError) error = NULL;
  const GOptionEntry own[] = {
    { "device", 0, 0, G_OPTION_ARG_STRING, &options.device, "What is measured, as gantry-cli run", "NAME" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Write the target file; without this it is printed", "FILE.target" },
    { "keep", 0, 0, G_OPTION_ARG_NONE, &options.keep, "Of the processor: plan by it from now on, in the window too", NULL },
    { "parent", 0, 0, G_OPTION_ARG_INT, &options.parent, "End when this process, which asked for it, ends", "PID" },
    { "seconds", 0, 0, G_OPTION_ARG_DOUBLE, &options.seconds, "What has not begun then is not measured (20)", "SECONDS" },
    { "threads", 't', 0, G_OPTION_ARG_INT, &options.program.threads, "Worker threads (all processors)", "N" },
    { "no-library", 0, 0, G_OPTION_ARG_NONE, &options.program.no_library, "Generated code only, no libraries", NULL },
    { NULL },
  };

  options.program.cache_folder = cache;
  if (!gantry_cli_parse ("calibrate", "",
                         "Measures what a device does, and writes it as a target file, by which programs are planned: "
                         "--target FILE.",
                         &options.common, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 1 || !(options.seconds > 0))
    {
      gantry_cli_tell ("gantry-cli calibrate: %s\n", argc != 1 ? "takes no arguments" : "--seconds is more than 0");
      return GANTRY_EXIT_ERROR;
    }
  if (options.parent != 0 && !gantry_confine_child (options.parent, GANTRY_MOST_FILE_BYTES, &error))
    return gantry_cli_fail (error);
  if (!gantry_program_choose_device (&options.program, options.device, &options.common, &options.arch, &error))
    return gantry_cli_fail (error);
  if (options.keep && (options.program.code != GANTRY_CODE_CPU || options.program.no_library || options.common.instructions != NULL))
    {
      gantry_cli_tell ("gantry-cli calibrate: --keep is of the processor as it is: without --device, --no-library and --instructions\n");
      return GANTRY_EXIT_ERROR;
    }
  return calibrate (&options);
}
