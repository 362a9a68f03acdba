/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording holds: how long it is, its events by kind and by lane, and what its notes say. */
#include "app/cli/trace-report.h"
#include "app/cli/device.h"

static void
add_lanes (JsonBuilder *json, const GantryRecording *recording)
{
  json_builder_set_member_name (json, "lanes");
  json_builder_begin_array (json);
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    {
      guint64 n = gantry_recording_n_events (recording, lane);

      if (n == 0)
        continue;
      json_builder_begin_object (json);
      gantry_cli_add_string (json, "name", gantry_recording_lane_name (recording, lane));
      gantry_cli_add_int (json, "events", (gint64) n);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

void
gantry_cli_add_trace (JsonBuilder *json, const GantryRecording *recording)
{
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
  gint64 begin, end;

  gantry_recording_totals (recording, totals);
  gantry_recording_range (recording, &begin, &end);
  gantry_cli_add_string (json, "device", gantry_cli_device_known (gantry_recording_device (recording), NULL));
  gantry_cli_add_double (json, "milliseconds", (double) (end - begin) / 1e6);
  json_builder_set_member_name (json, "events");
  json_builder_begin_object (json);
  for (guint i = 0; i < GANTRY_N_EVENT_KINDS; i++)
    gantry_cli_add_int (json, gantry_event_kind_name (i), (gint64) totals[i].count);
  json_builder_end_object (json);
  add_lanes (json, recording);
  gantry_cli_add_int (json, "memory_events", (gint64) gantry_recording_n_memory_events (recording));
  gantry_cli_add_int (json, "counters", gantry_recording_n_counters (recording));
  gantry_cli_add_int (json, "runs", gantry_recording_n_runs (recording));
  json_builder_set_member_name (json, "notes");
  json_builder_begin_array (json);
  for (guint i = 0; i < gantry_recording_n_notes (recording); i++)
    json_builder_add_string_value (json, gantry_recording_note (recording, i));
  json_builder_end_array (json);
}

void
gantry_cli_print_trace (const GantryRecording *recording)
{
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
  gint64 begin, end;

  gantry_recording_totals (recording, totals);
  gantry_recording_range (recording, &begin, &end);
  gantry_cli_print ("%-10s %s\n%-10s %.6g ms, %u runs\n\n", "device", gantry_cli_device_known (gantry_recording_device (recording), GANTRY_CLI_NOT_KNOWN),
                    "time", (double) (end - begin) / 1e6, gantry_recording_n_runs (recording));
  gantry_cli_print ("%-10s %12s %14s %12s\n", "kind", "events", "total ms", "bytes");
  for (guint i = 0; i < GANTRY_N_EVENT_KINDS; i++)
    {
      g_autofree char *bytes = gantry_cli_bytes (totals[i].bytes);

      if (totals[i].count > 0)
        gantry_cli_print ("%-10s %12" G_GUINT64_FORMAT " %14.6g %12s\n", gantry_event_kind_name (i), totals[i].count, (double) totals[i].total_ns / 1e6,
                          totals[i].bytes > 0 ? bytes : "");
    }
  gantry_cli_print ("\n%-36s %12s\n", "lane", "events");
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    if (gantry_recording_n_events (recording, lane) > 0)
      gantry_cli_print ("%-36s %12" G_GUINT64_FORMAT "\n", gantry_recording_lane_name (recording, lane), gantry_recording_n_events (recording, lane));
  for (guint i = 0; i < gantry_recording_n_notes (recording); i++)
    gantry_cli_print (i == 0 ? "\nnotes\n  %s\n" : "  %s\n", gantry_recording_note (recording, i));
}
