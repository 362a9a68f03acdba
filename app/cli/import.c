/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli import: says what the trace of another program holds, and keeps it as a session. */
#include "app/cli/cli.h"
#include "profiler/import.h"

typedef struct
{
  GantryCliOptions common;
  char *output;
} Options;

static void
options_clear (Options *options)
{
  gantry_cli_options_clear (&options->common);
  g_free (options->output);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
print_json (const Options *options, const GantryRecording *recording)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];

  gantry_recording_totals (recording, totals);
  json_builder_begin_object (json);
  gantry_cli_add_string (json, "output", options->output);
  gantry_cli_add_string (json, "device", gantry_recording_device (recording));
  json_builder_set_member_name (json, "events");
  json_builder_begin_object (json);
  for (guint i = 0; i < GANTRY_N_EVENT_KINDS; i++)
    gantry_cli_add_int (json, gantry_event_kind_name (i), (gint64) totals[i].count);
  json_builder_end_object (json);
  gantry_cli_add_int (json, "memory_events", (gint64) gantry_recording_n_memory_events (recording));
  gantry_cli_add_int (json, "counters", gantry_recording_n_counters (recording));
  gantry_cli_add_int (json, "runs", gantry_recording_n_runs (recording));
  json_builder_set_member_name (json, "notes");
  json_builder_begin_array (json);
  for (guint i = 0; i < gantry_recording_n_notes (recording); i++)
    json_builder_add_string_value (json, gantry_recording_note (recording, i));
  json_builder_end_array (json);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static void
print_text (const GantryRecording *recording)
{
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
  gint64 begin, end;

  gantry_recording_totals (recording, totals);
  gantry_recording_range (recording, &begin, &end);
  printf ("%-10s %s\n%-10s %.6g ms, %u runs\n\n", "device", gantry_recording_device (recording), "time",
          (double) (end - begin) / 1e6, gantry_recording_n_runs (recording));
  printf ("%-10s %12s %14s %12s\n", "kind", "events", "total ms", "bytes");
  for (guint i = 0; i < GANTRY_N_EVENT_KINDS; i++)
    {
      g_autofree char *bytes = gantry_cli_bytes (totals[i].bytes);

      if (totals[i].count > 0)
        printf ("%-10s %12" G_GUINT64_FORMAT " %14.6g %12s\n", gantry_event_kind_name (i), totals[i].count,
                (double) totals[i].total_ns / 1e6, totals[i].bytes > 0 ? bytes : "");
    }
  printf ("\n%-36s %12s\n", "lane", "events");
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    if (gantry_recording_n_events (recording, lane) > 0)
      printf ("%-36s %12" G_GUINT64_FORMAT "\n", gantry_recording_lane_name (recording, lane),
              gantry_recording_n_events (recording, lane));
  for (guint i = 0; i < gantry_recording_n_notes (recording); i++)
    printf ("%s%s\n", i == 0 ? "\nnotes\n  " : "  ", gantry_recording_note (recording, i));
}

static gboolean
import (const Options *options, const char *path, GError **error)
{
  g_autoptr (GantryDocument) document = NULL;
  const GantryRecording *recording;

  if (gantry_trace_kind (path) == GANTRY_TRACE_NONE)
    {
      /* Says what is wrong. */
      gantry_recording_unref (gantry_trace_import (path, NULL, error));
      return FALSE;
    }
  document = gantry_cli_open (&options->common, path, error);
  if (document == NULL || (options->output != NULL && !gantry_document_save (document, options->output, error)))
    return FALSE;
  recording = gantry_document_get_run (document)->recording;
  if (options->common.json)
    print_json (options, recording);
  else
    print_text (recording);
  return TRUE;
}

int
gantry_cli_import (int argc, char **argv)
{
  g_auto (Options) options = { .common = GANTRY_CLI_OPTIONS_INIT };
  const GOptionEntry own[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Session to write (FILE.gantry)", "FILE" },
    { NULL },
  };
  g_autoptr (GError) error = NULL;

  if (!gantry_cli_parse ("import", "TRACE",
                         "Takes over what another program measured: the SQLite export of Nsight Systems, a trace of\n"
                         "PyTorch's profiler or of Chrome (JSON, also .gz). Says what is in it; --output keeps it.",
                         &options.common, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2)
    {
      fprintf (stderr, "gantry-cli import: give one trace\n");
      return GANTRY_EXIT_ERROR;
    }
  return import (&options, argv[1], &error) ? GANTRY_EXIT_DONE : gantry_cli_fail (error);
}
