/* SPDX-License-Identifier: Apache-2.0 */
/* A training step in a session file, and what commands say of it. */
#include "tests/app/cli/step-test.h"

void
step_place_set_up (StepPlace *place, gconstpointer data)
{
  place->folder = cli_temporary_folder ();
  place->step = g_build_filename (place->folder, "step.gantry", NULL);
}

void
step_place_tear_down (StepPlace *place, gconstpointer data)
{
  cli_remove_folder (place->folder);
  g_free (place->step);
}

char *
step_program (const char *name)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");

  return g_build_filename (root != NULL ? root : ".", "data", "programs", name, NULL);
}

JsonNode *
step_make (const StepPlace *place, const char *name)
{
  g_autofree char *path = step_program (name);
  g_autoptr (CliResult) result = cli_run ("train", "--optimizer=adam", "--lr=0.01", "--loss=mse", "--json", "-o", place->step, path, NULL);

  cli_assert_status (result, 0);
  return cli_json (result);
}

JsonNode *
step_ask (const StepPlace *place, const char *command, ...)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  g_autoptr (CliResult) result = NULL;
  va_list list;

  g_ptr_array_add (arguments, (gpointer) command);
  g_ptr_array_add (arguments, (gpointer) "--json");
  va_start (list, command);
  for (const char *argument = va_arg (list, const char *); argument != NULL; argument = va_arg (list, const char *))
    g_ptr_array_add (arguments, (gpointer) argument);
  va_end (list);
  g_ptr_array_add (arguments, place->step);
  result = cli_runv (arguments);
  cli_assert_status (result, 0);
  return cli_json (result);
}

gint64
step_number (JsonNode *node, const char *key)
{
  g_assert_true (json_object_has_member (json_node_get_object (node), key));
  return json_object_get_int_member (json_node_get_object (node), key);
}

gint64
step_part (JsonNode *node, const char *name)
{
  return json_object_get_int_member (json_object_get_object_member (json_node_get_object (node), "parts"), name);
}
