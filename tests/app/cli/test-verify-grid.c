/* SPDX-License-Identifier: Apache-2.0 */
/* The schedules that are made for a GPU, lowered for the processor, pass the ONNX conformance tests: whatever passes with
 * the processor's own code passes with them too. Every fifth folder of the suite, or with `-m slow` all of them. */
#include "tests/app/cli/cli-test.h"
#include <string.h>

#define EVERY 5
#define AT_ONCE 200

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* (transfer full): paths of folders */
static GPtrArray *
find_folders (const char *suite)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (g_free);
  GPtrArray *chosen = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (suite, 0, NULL);
  const char *name;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (all, g_build_filename (suite, name, NULL));
  g_ptr_array_sort (all, compare_names);
  for (guint i = 0; i < all->len; i += g_test_slow () ? 1 : EVERY)
    g_ptr_array_add (chosen, g_strdup (g_ptr_array_index (all, i)));
  return chosen;
}

/* Verdicts by name of the folder, added to @verdicts. */
static void
verify (const GPtrArray *folders, guint first, guint n, const char *device, GHashTable *verdicts)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  g_autoptr (CliResult) result = NULL;
  g_autoptr (JsonNode) node = NULL;
  JsonArray *cases;

  g_ptr_array_add (arguments, (gpointer) "verify");
  g_ptr_array_add (arguments, (gpointer) "--json");
  g_ptr_array_add (arguments, (gpointer) device);
  for (guint i = first; i < first + n; i++)
    g_ptr_array_add (arguments, g_ptr_array_index (folders, i));
  result = cli_runv (arguments);
  node = cli_json (result);
  cases = json_object_get_array_member (json_node_get_object (node), "cases");
  for (guint i = 0; i < json_array_get_length (cases); i++)
    {
      JsonObject *one = json_array_get_object_element (cases, i);

      g_hash_table_insert (verdicts, g_strdup (json_object_get_string_member (one, "name")),
                           g_strdup_printf ("%s %s", json_object_get_string_member (one, "verdict"), json_object_get_string_member (one, "why")));
    }
}

static GHashTable *
verify_all (const GPtrArray *folders, const char *device)
{
  GHashTable *verdicts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (guint i = 0; i < folders->len; i += AT_ONCE)
    verify (folders, i, MIN (AT_ONCE, folders->len - i), device, verdicts);
  return verdicts;
}

static void
test_onnx (void)
{
  g_autofree char *suite = cli_shared_file ("onnx-conformance", "node");
  g_autoptr (GPtrArray) folders = NULL;
  g_autoptr (GHashTable) cpu = NULL, grid = NULL;
  GHashTableIter iter;
  gpointer name, verdict;
  guint n_passed = 0;

  if (suite == NULL)
    return;
  folders = find_folders (suite);
  cpu = verify_all (folders, "--device=cpu");
  grid = verify_all (folders, "--device=grid");
  g_hash_table_iter_init (&iter, cpu);
  while (g_hash_table_iter_next (&iter, &name, &verdict))
    {
      const char *other = g_hash_table_lookup (grid, name);

      g_assert_nonnull (other);
      if (!g_str_has_prefix (verdict, "pass"))
        continue;
      if (!g_str_has_prefix (other, "pass"))
        {
          g_test_message ("%s: %s", (const char *) name, other);
          g_test_fail ();
        }
      n_passed++;
    }
  g_test_message ("%u folders, %u pass on the processor", folders->len, n_passed);
  g_assert_cmpuint (n_passed, >, folders->len / 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/verify-grid/onnx", test_onnx);
  return g_test_run ();
}
