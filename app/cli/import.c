/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli import: says what the trace of another program holds, and keeps it as a session. */
#include "app/cli/import-real.h"
#include "app/cli/trace-report.h"
#include "core/document/outside.h"

typedef struct
{
  GantryCliOptions common;
  char *output;
  char *python;
  gboolean real;
} Options;

static void
options_clear (Options *options)
{
  gantry_cli_options_clear (&options->common);
  g_free (options->output);
  g_free (options->python);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
print_json (const Options *options, const GantryRecording *recording)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  gantry_cli_add_string (json, "output", options->output);
  gantry_cli_add_trace (json, recording);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static gboolean
keep (const Options *options, GantryDocument *document, const char *path, GError **error)
{
  const GantryModel *model = gantry_document_get_model (document);

  if (options->output != NULL && !gantry_document_save (document, options->output, error))
    return FALSE;
  if (!options->common.json)
    gantry_cli_print ("%s: %u operations, %u inputs, %u outputs\n", options->output != NULL ? options->output : path, model->n_nodes, model->n_inputs,
                      model->n_outputs);
  return TRUE;
}

/* A session of the graph that a program makes. One that calls Python is refused: nobody else could run it. */
static gboolean
import_program (const Options *options, const char *path, GError **error)
{
  g_autoptr (GantryDocument) document = gantry_cli_open (&options->common, path, error);
  const GantryModel *model = document != NULL ? gantry_document_get_model (document) : NULL;
  g_autoptr (GString) lines = g_string_new (NULL);

  if (model == NULL)
    return FALSE;
  for (guint i = 0; i < model->n_unsupported; i++)
    g_string_append_printf (lines, "\n  %s: %s", model->unsupported[i].where, model->unsupported[i].why);
  if (model->n_unsupported > 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                   "%s: a graph that calls Python cannot be kept without it; these "
                   "lines do:%s",
                   path, lines->str);
      return FALSE;
    }
  return keep (options, document, path, error);
}

/* What the program shows lies in a folder that goes with this process: so the session carries it along. */
static gboolean
import_real (Options *options, const char *path, GError **error)
{
  g_autoptr (GantryScratch) scratch = gantry_scratch_new (error);
  g_autofree char *shown = scratch != NULL ? gantry_cli_show_real (path, options->python, options->common.entry, scratch, error) : NULL;
  g_autoptr (GantryDocument) document = NULL;

  if (shown == NULL)
    return FALSE;
  g_clear_pointer (&options->common.entry, g_free);
  options->common.embed = TRUE;
  document = gantry_cli_open (&options->common, shown, error);
  return document != NULL && keep (options, document, path, error);
}

static gboolean
import (Options *options, const char *path, GError **error)
{
  g_autoptr (GantryDocument) document = NULL;
  const GantryRecording *recording;

  if (options->real && !gantry_model_is_program (path))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: --real is for Python programs (.py)", path);
      return FALSE;
    }
  if (options->real)
    return import_real (options, path, error);
  if (gantry_model_is_program (path))
    return import_program (options, path, error);
  if (!gantry_outside_is_trace (path))
    {
      /* Says what is wrong. */
      gantry_recording_unref (gantry_outside_read_trace (path, NULL, error));
      return FALSE;
    }
  document = gantry_cli_open (&options->common, path, error);
  if (document == NULL || (options->output != NULL && !gantry_document_save (document, options->output, error)))
    return FALSE;
  recording = gantry_document_get_run (document)->recording;
  if (options->common.json)
    print_json (options, recording);
  else
    gantry_cli_print_trace (recording);
  return TRUE;
}

int
gantry_cli_import (int argc, char **argv)
{
  g_auto (Options) options = { .common = GANTRY_CLI_OPTIONS_INIT };
  const GOptionEntry own[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Session to write (FILE.gantry)", "FILE" },
    { "real", 0, 0, G_OPTION_ARG_NONE, &options.real, "Run the program by the user's own Python; it says by gantry.show what is taken over", NULL },
    { "python", 0, 0, G_OPTION_ARG_FILENAME, &options.python, "That Python (the one of $VIRTUAL_ENV, else python3)", "INTERPRETER" },
    { NULL },
  };
  g_autoptr (GError) error = NULL;

  if (!gantry_cli_parse ("import", "TRACE|PROGRAM",
                         "Takes over what another program measured: the SQLite export of Nsight Systems, a trace of\n"
                         "PyTorch's profiler or of Chrome (JSON, also .gz); also what CUPTI recorded (.cupti). Says what is\n"
                         "in it; --output keeps it. Of a Python program the graph that it makes; with --real, run by the user's Python,\n"
                         "what it shows by gantry.show.",
                         &options.common, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2)
    {
      gantry_cli_tell ("gantry-cli import: give one trace or program\n");
      return GANTRY_EXIT_ERROR;
    }
  return import (&options, argv[1], &error) ? GANTRY_EXIT_DONE : gantry_cli_fail (error);
}
