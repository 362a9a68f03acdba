/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli export: the recording of a run, for other programs. */
#include "app/cli/cli.h"
#include "app/cli/run-choice.h"
#include "core/base/output.h"
#include <gio/gunixoutputstream.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  GantryCliOptions common;
  char *to, *output, *run;
} Options;

static void
options_clear (Options *options)
{
  gantry_cli_options_clear (&options->common);
  g_free (options->to);
  g_free (options->output);
  g_free (options->run);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static gboolean
write_as (const char *format, const GantryRecording *recording, GOutputStream *stream, GError **error)
{
  static const struct { const char *name; GantryCsvTable table; } tables[] = {
    { "csv", GANTRY_CSV_EVENTS }, { "memory-csv", GANTRY_CSV_MEMORY }, { "counters-csv", GANTRY_CSV_COUNTERS },
  };

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    if (strcmp (format, tables[i].name) == 0)
      return gantry_recording_write_csv (recording, tables[i].table, stream, NULL, error);
  if (strcmp (format, "chrome") == 0)
    return gantry_recording_write_chrome (recording, stream, NULL, error);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "--to %s: no such format; there are chrome, csv, memory-csv and counters-csv", format);
  return FALSE;
}

/* The run that was asked for; the last one where none was. */
static GantryRunResult *
choose (const Options *options, const char *path, GPtrArray *runs, GError **error)
{
  if (options->run != NULL)
    return gantry_cli_choose_run (runs, path, options->run, error);
  if (runs->len > 0)
    return g_ptr_array_index (runs, runs->len - 1);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "%s: the session has no run yet; make one with gantry-cli run --save %s MODEL", path, path);
  return NULL;
}

static gboolean
write_to_standard_output (const char *to, const GantryRecording *recording, GError **error)
{
  g_autoptr (GOutputStream) stream = g_unix_output_stream_new (STDOUT_FILENO, FALSE);

  return write_as (to, recording, stream, error) && g_output_stream_close (stream, NULL, error);
}

static gboolean
export (const Options *options, const char *path, GError **error)
{
  g_autoptr (GError) notice = NULL;
  g_autoptr (GPtrArray) runs = gantry_runs_read (path, gantry_cli_progress (&options->common), &notice, error);
  GantryRunResult *run = runs != NULL ? choose (options, path, runs, error) : NULL;
  g_autoptr (GantryOutput) output = NULL;

  gantry_cli_tell_left_out (notice);
  if (run == NULL)
    return FALSE;
  if (strcmp (options->output, "-") == 0)
    return write_to_standard_output (options->to, run->recording, error);
  output = gantry_output_new (options->output, error);
  return output != NULL
         && gantry_output_finish (output, write_as (options->to, run->recording, gantry_output_stream (output), error), error);
}

static void
print_result (const Options *options)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  if (strcmp (options->output, "-") == 0)
    return;
  if (!options->common.json)
    {
      printf ("%s\n", options->output);
      return;
    }
  json_builder_begin_object (json);
  gantry_cli_add_string (json, "output", options->output);
  gantry_cli_add_string (json, "format", options->to);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

int
gantry_cli_export (int argc, char **argv)
{
  g_auto (Options) options = { .common = GANTRY_CLI_OPTIONS_INIT };
  const GOptionEntry own[] = {
    { "to", 't', 0, G_OPTION_ARG_STRING, &options.to,
      "chrome (for Perfetto and about:tracing; the default), csv, memory-csv or counters-csv", "FORMAT" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "File to write; - for standard output", "FILE" },
    { "run", 'r', 0, G_OPTION_ARG_STRING, &options.run,
      "Which run of the session, by number or first digits of its id (the last)", "RUN" },
    { NULL },
  };
  g_autoptr (GError) error = NULL;

  if (!gantry_cli_parse ("export", "SESSION|TRACE", "Writes what a run recorded in a form that other programs read.",
                         &options.common, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2 || options.output == NULL)
    {
      fprintf (stderr, "gantry-cli export: give one session or trace, and --output FILE\n");
      return GANTRY_EXIT_ERROR;
    }
  if (options.to == NULL)
    options.to = g_strdup ("chrome");
  if (!gantry_cli_check_output (options.output, argv[1], &error) || !export (&options, argv[1], &error))
    return gantry_cli_fail (error);
  print_result (&options);
  return GANTRY_EXIT_DONE;
}
