/* SPDX-License-Identifier: Apache-2.0 */
/* verify gives a child for a GPU many folders: what ends or spoils one of them is told of that one, and another child takes the rest.
 * The stand-in for a driver takes all work and does none of it, so that results differ. */
#include "tests/app/cli/cli-test.h"
#include <string.h>

static char *
fixture (const char *name)
{
  return g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "fixtures", "models", name, NULL);
}

static void
check_case (JsonArray *cases, guint i, const char *verdict, const char *why)
{
  JsonObject *one = json_array_get_object_element (cases, i);

  g_assert_cmpstr (json_object_get_string_member (one, "verdict"), ==, verdict);
  g_assert_nonnull (strstr (json_object_get_string_member (one, "why"), why));
}

static void
test_children (void)
{
#ifdef FAKE_LIBCUDA
  g_autofree char *first = fixture ("sum-of-expanded"), *last = fixture ("transposed-sum");
  char *folder = cli_temporary_folder ();
  g_autofree char *model = g_build_filename (folder, "model.onnx", NULL);
  g_autoptr (CliResult) result = NULL;
  g_autoptr (JsonNode) root = NULL;
  g_autoptr (GError) error = NULL;
  JsonArray *cases;

  g_file_set_contents (model, "no model\n", -1, &error);
  g_assert_no_error (error);
  g_setenv ("GANTRY_LIBCUDA", FAKE_LIBCUDA, TRUE);
  g_setenv ("GANTRY_FAKE_CUDA", "accept=1", TRUE);
  result = cli_run ("verify", "--json", "--threads=1", "--device=cuda", first, folder, last, NULL);
  g_unsetenv ("GANTRY_FAKE_CUDA");
  g_unsetenv ("GANTRY_LIBCUDA");
  root = cli_json (result);
  cases = json_object_get_array_member (json_node_get_object (root), "cases");
  g_assert_cmpuint (json_array_get_length (cases), ==, 3);
  check_case (cases, 0, "mismatch", "element 0 is");
  check_case (cases, 1, "error", "not an ONNX model");
  check_case (cases, 2, "mismatch", "element 0 is");
  cli_remove_folder (folder);
#else
  g_test_skip ("the stand-in for a driver is not built");
#endif
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/verify/children", test_children);
  return g_test_run ();
}
