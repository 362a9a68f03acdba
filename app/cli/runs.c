/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli runs: which runs a session has, and deleting them. */
#include "app/cli/cli.h"
#include "app/cli/device.h"
#include "app/cli/run-choice.h"

#define SHOWN_DIGITS 8 /* of an id */

static gboolean delete (GPtrArray *runs, const char *path, char **names, GError **error)
{
  g_autoptr (GPtrArray) uids = g_ptr_array_new ();

  for (guint i = 0; names[i] != NULL; i++)
    {
      const GantryRunEntry *entry = gantry_cli_find_run (runs, path, "--delete", names[i], error);

      if (entry == NULL)
        return FALSE;
      if (!g_ptr_array_find (uids, entry->uid, NULL))
        g_ptr_array_add (uids, entry->uid);
    }
  g_ptr_array_add (uids, NULL);
  return gantry_runs_delete (path, (const char *const *) uids->pdata, error);
}

static void
print_json (GPtrArray *runs)
{
  g_autoptr (JsonBuilder) json = json_builder_new ();

  json_builder_begin_object (json);
  json_builder_set_member_name (json, "runs");
  json_builder_begin_array (json);
  for (guint i = 0; i < runs->len; i++)
    {
      const GantryRunEntry *entry = g_ptr_array_index (runs, i);

      json_builder_begin_object (json);
      gantry_cli_add_int (json, "number", i + 1);
      gantry_cli_add_string (json, "id", entry->uid);
      gantry_cli_add_string (json, "name", entry->name);
      gantry_cli_add_string (json, "device", gantry_cli_device_known (entry->device, NULL));
      gantry_cli_add_string (json, "recorded_at", entry->when);
      gantry_cli_add_double (json, "milliseconds", entry->milliseconds);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_end_object (json);
  gantry_cli_print_json (json);
}

static void
print_text (GPtrArray *runs)
{
  if (runs->len > 0)
    gantry_cli_print ("%6s  %-*s  %-20s  %12s  %-10s  %s\n", "number", SHOWN_DIGITS, "id", "recorded at", "ms", "device", "name");
  for (guint i = 0; i < runs->len; i++)
    {
      const GantryRunEntry *entry = g_ptr_array_index (runs, i);
      g_autofree char *uid = gantry_cli_field (entry->uid), *when = gantry_cli_field (entry->when);
      g_autofree char *device = gantry_cli_field (gantry_cli_device_known (entry->device, GANTRY_CLI_NOT_KNOWN)), *name = gantry_cli_field (entry->name);

      gantry_cli_print ("%6u  %-*.*s  %-20s  %12.3f  %-10s  %s\n", i + 1, SHOWN_DIGITS, SHOWN_DIGITS, uid, when, entry->milliseconds, device, name);
    }
}

int
gantry_cli_runs (int argc, char **argv)
{
  g_auto (GantryCliOptions) options = GANTRY_CLI_OPTIONS_INIT;
  g_auto (GStrv) names = NULL;
  const GOptionEntry own[] = {
    { "delete", 0, 0, G_OPTION_ARG_STRING_ARRAY, &names,
      "Delete this run: its number or the first digits of its id; the file is made smaller. May be given several times", "RUN" },
    { NULL },
  };
  g_autoptr (GPtrArray) runs = NULL;
  g_autoptr (GError) error = NULL;

  if (!gantry_cli_parse ("runs", "SESSION", "Lists the runs of a session, those too that cannot be read, or deletes some.", &options, own, &argc, &argv))
    return GANTRY_EXIT_ERROR;
  if (argc != 2)
    {
      gantry_cli_tell ("gantry-cli runs: give one session\n");
      return GANTRY_EXIT_ERROR;
    }
  runs = gantry_runs_list (argv[1], &error);
  if (runs != NULL && names != NULL && delete (runs, argv[1], names, &error))
    {
      g_ptr_array_unref (runs);
      runs = gantry_runs_list (argv[1], &error);
    }
  if (error != NULL)
    return gantry_cli_fail (error);
  if (options.json)
    print_json (runs);
  else
    print_text (runs);
  return GANTRY_EXIT_DONE;
}
