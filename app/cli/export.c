/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli export: a model, or the recording of a run, for other programs. */
#include "app/cli/cli.h"
#include "app/cli/run-choice.h"
#include "core/base/output.h"
#include "core/compiler/export.h"
#include <gio/gunixoutputstream.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  GantryCliOptions common;
  char *to, *output, *run, *snapshot;
  gboolean external;
} Options;

static void
options_clear (Options *options)
{
  gantry_cli_options_clear (&options->common);
  g_free (options->to);
  g_free (options->output);
  g_free (options->run);
  g_free (options->snapshot);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static gboolean
write_as (const char *format, const GantryRecording *recording, GOutputStream *stream, GError **error)
{
  static const struct
  {
    const char *name;
    GantryCsvTable table;
  } tables[] = {
    { "csv", GANTRY_CSV_EVENTS },
    { "memory-csv", GANTRY_CSV_MEMORY },
    { "counters-csv", GANTRY_CSV_COUNTERS },
  };

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    if (strcmp (format, tables[i].name) == 0)
      return gantry_recording_write_csv (recording, tables[i].table, stream, NULL, error);
  if (strcmp (format, "chrome") == 0)
    return gantry_recording_write_chrome (recording, stream, NULL, error);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "--to %s: no such format; of a recording there are chrome, csv, memory-csv and counters-csv, of a model onnx, stablehlo, mindir and gir",
               format);
  return FALSE;
}

/* The run that was asked for; the last one where none was. */
static GantryRunResult *
choose (const Options *options, const char *path, GPtrArray *runs, const GError *left_out, GError **error)
{
  if (options->run != NULL)
    return gantry_cli_choose_run (runs, left_out, path, options->run, error);
  if (runs->len > 0)
    return g_ptr_array_index (runs, runs->len - 1);
  if (left_out != NULL)
    g_set_error (error, left_out->domain, left_out->code, "%s: none of its runs can be exported; %s", path, left_out->message);
  else
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: the session has no run yet; make one with gantry-cli run --session %s", path, path);
  return NULL;
}

static gboolean
write_to_standard_output (const char *to, const GantryRecording *recording, GError **error)
{
  g_autoptr (GOutputStream) stream = g_unix_output_stream_new (STDOUT_FILENO, FALSE);

  return write_as (to, recording, stream, error) && g_output_stream_close (stream, NULL, error);
}

/* A model */

/* What the name of the file says counts only where no format was asked for. */
static GantryExportFormat
model_format (const Options *options)
{
  return options->to != NULL ? gantry_export_format_named (options->to) : gantry_export_format_of (options->output);
}

static void
print_model (const Options *options, const char *snapshot, GPtrArray *notes)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  for (guint i = 0; i < notes->len && !options->common.json; i++)
    gantry_cli_tell ("%s: %s\n", g_get_prgname (), (const char *) g_ptr_array_index (notes, i));
  if (!options->common.json)
    {
      gantry_cli_print ("%s: after %s\n", options->output, snapshot);
      return;
    }
  json_builder_begin_object (json);
  gantry_cli_add_string (json, "output", options->output);
  gantry_cli_add_string (json, "snapshot", snapshot);
  json_builder_set_member_name (json, "notes");
  json_builder_begin_array (json);
  for (guint i = 0; i < notes->len; i++)
    json_builder_add_string_value (json, g_ptr_array_index (notes, i));
  json_builder_end_array (json);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static gboolean
export_model (const Options *options, GantryExportFormat format, const char *path, GError **error)
{
  g_autoptr (GantryDocument) document = gantry_cli_open (&options->common, path, error);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  GantryExportOptions how = { options->snapshot, options->external, options->common.read };
  const char *snapshot;

  if (document == NULL)
    return FALSE;
  snapshot = gantry_compilation_export (gantry_document_get_compilation (document), format, options->output, &how, notes, error);
  if (snapshot == NULL)
    return FALSE;
  print_model (options, snapshot, notes);
  return TRUE;
}

/* A recording */

static gboolean
export_recording (const Options *options, const char *path, GError **error)
{
  g_autoptr (GError) notice = NULL;
  g_autoptr (GPtrArray) runs = gantry_runs_read (path, gantry_cli_progress (&options->common), &notice, error);
  GantryRunResult *run = runs != NULL ? choose (options, path, runs, notice, error) : NULL;
  g_autoptr (GantryOutput) output = NULL;

  if (run == NULL) /* the error says which are left out */
    return FALSE;
  gantry_cli_tell_left_out (notice);
  if (strcmp (options->output, "-") == 0)
    return write_to_standard_output (options->to, run->recording, error);
  output = gantry_output_new (options->output, options->common.read, error);
  return output != NULL && gantry_output_finish (output, write_as (options->to, run->recording, gantry_output_stream (output), error), error);
}

static void
print_result (const Options *options)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  if (strcmp (options->output, "-") == 0)
    return;
  if (!options->common.json)
    {
      gantry_cli_print ("%s\n", options->output);
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
      "Of a model: onnx, stablehlo, mindir or gir (as the file's name ends); of a recording: chrome (for Perfetto and about:tracing; the default, but "
      "for names in .csv), csv, "
      "memory-csv or counters-csv",
      "FORMAT" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "File to write; - for standard output", "FILE" },
    { "run", 'r', 0, G_OPTION_ARG_STRING, &options.run, "Which run of the session, by number or first digits of its id (the last)", "RUN" },
    { "snapshot", 0, 0, G_OPTION_ARG_STRING, &options.snapshot, "Of a model: the pass after which it is written (as it was made or imported)", "PASS" },
    { "external-data", 0, 0, G_OPTION_ARG_NONE, &options.external, "Of an ONNX model: weights in a file beside it", NULL },
    { NULL },
  };
  g_autoptr (GError) error = NULL;
  GantryExportFormat format;
  gboolean guessed;

  if (!gantry_cli_parse ("export", "MODEL|SESSION|TRACE", "Writes a model, or what a run recorded, in a form that other programs read.", &options.common, own,
                         &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2 || options.output == NULL)
    {
      gantry_cli_tell ("gantry-cli export: give one model, session or trace, and --output FILE\n");
      return GANTRY_EXIT_ERROR;
    }
  gantry_read_files_add (options.common.read, argv[1]);
  format = model_format (&options);
  if (format != GANTRY_EXPORT_NONE)
    return export_model (&options, format, argv[1], &error) ? GANTRY_EXIT_DONE : gantry_cli_fail (error);
  guessed = options.to == NULL;
  if (guessed)
    options.to = g_strdup (g_str_has_suffix (options.output, ".csv") ? "csv" : "chrome");
  if (!export_recording (&options, argv[1], &error))
    {
      if (guessed && g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED))
        gantry_error_prefix (&error, "%s: a model is written to a name in .onnx, .mlir, .mindir or .gir, or with --to; as a recording: ", options.output);
      return gantry_cli_fail (error);
    }
  print_result (&options);
  return GANTRY_EXIT_DONE;
}
