/* SPDX-License-Identifier: Apache-2.0 */
/* Small models of tests/fixtures/models, one for each class of faults that tools/check-models found: their outputs are numpy's
 * with the libraries, with generated code alone, and with the schedules that are made for a GPU. */
#include "tests/app/cli/cli-test.h"

static void
test_device (gconstpointer option)
{
  g_autofree char *folder = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "fixtures", "models", NULL);
  g_autoptr (CliResult) result = cli_run ("verify", "--json", option, folder, NULL);
  g_autoptr (JsonNode) node = cli_json (result);
  JsonArray *cases = json_object_get_array_member (json_node_get_object (node), "cases");

  g_assert_cmpuint (json_array_get_length (cases), >, 0);
  for (guint i = 0; i < json_array_get_length (cases); i++)
    {
      JsonObject *one = json_array_get_object_element (cases, i);

      if (g_strcmp0 (json_object_get_string_member (one, "verdict"), "pass") == 0)
        continue;
      g_test_message ("%s: %s %s", json_object_get_string_member (one, "name"), json_object_get_string_member (one, "verdict"),
                      json_object_get_string_member (one, "why"));
      g_test_fail ();
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/cli/made-models/library", "--device=cpu", test_device);
  g_test_add_data_func ("/cli/made-models/own", "--no-library", test_device);
  g_test_add_data_func ("/cli/made-models/grid", "--device=grid", test_device);
  return g_test_run ();
}
