/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in JAX's style run by the child: those of the document on host offloading as they are written, one test for each row of
 * its index, and small programs whose values JAX gave. Each program checks itself. */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>

#define SECONDS "900" /* of a machine that does much else */

static gboolean have_document;

/* Rows that run programs of the document: they import their text. */
static gboolean
needs_document (const char *path)
{
  g_autofree char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) && strstr (text, "import document") != NULL;
}

static void
test_program (gconstpointer data)
{
  const char *path = data;
  g_autofree char *cli = g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL);
  g_autofree char *output = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) child = NULL;

  if (needs_document (path) && !have_document)
    {
      g_test_skip ("the programs of the host-offloading document are not here: GANTRY_SHARED names their folder");
      return;
    }
  child = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE, &error, "timeout", SECONDS, cli, "python", path, NULL);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate_utf8 (child, NULL, NULL, &output, NULL, &error));
  g_assert_no_error (error);
  if (!g_subprocess_get_successful (child))
    g_test_message ("%s", output);
  g_assert_true (g_subprocess_get_successful (child));
}

/* A name that is not there says what is near and what there is. */
static void
test_unknown_name (void)
{
  g_autofree char *cli = g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL);
  g_autofree char *path = NULL, *errors = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) child = NULL;
  int file = g_file_open_tmp ("jax-XXXXXX.py", &path, &error);

  g_assert_no_error (error);
  g_close (file, NULL);
  g_assert_true (g_file_set_contents (path, "import jax.numpy as jnp\njnp.argmx([1])\n", -1, &error));
  child = g_subprocess_new (G_SUBPROCESS_FLAGS_STDERR_PIPE, &error, cli, "python", path, NULL);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate_utf8 (child, NULL, NULL, NULL, &errors, &error));
  g_assert_false (g_subprocess_get_successful (child));
  g_assert_nonnull (strstr (errors, "AttributeError: module 'jax.numpy' has no attribute 'argmx'"));
  g_assert_nonnull (strstr (errors, "Near: argmax"));
  g_assert_nonnull (strstr (errors, "There is: "));
  g_unlink (path);
}

/* What a child of that command prints on standard output; it ends well. (transfer full) */
static char *
output_of (const char *first, ...)
{
  g_autofree char *cli = g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL);
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) child = NULL;
  char *output = NULL;
  va_list rest;

  g_ptr_array_add (argv, cli);
  va_start (rest, first);
  for (const char *word = first; word != NULL; word = va_arg (rest, const char *))
    g_ptr_array_add (argv, (char *) word);
  va_end (rest);
  g_ptr_array_add (argv, NULL);
  child = g_subprocess_newv ((const char *const *) argv->pdata, G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate_utf8 (child, NULL, NULL, &output, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (g_subprocess_get_successful (child));
  return output;
}

/* Bytes of the temporaries of a plan, on the device and in the host. @rule: (nullable): what its first rule begins with */
static void
temporaries_of (const char *json, const char *rule, gint64 bytes[2])
{
  g_autoptr (JsonNode) root = json_from_string (json, NULL);
  JsonObject *plan = json_node_get_object (root);
  JsonArray *rules = json_object_get_array_member (plan, "rules");

  bytes[0] = json_object_get_int_member (json_object_get_object_member (plan, "parts"), "temporaries");
  bytes[1] = json_object_get_int_member (json_object_get_object_member (plan, "host_parts"), "temporaries");
  g_assert_cmpuint (json_array_get_length (rules), ==, rule != NULL ? 1 : 0);
  if (rule == NULL)
    return;
  g_assert_true (g_str_has_prefix (json_object_get_string_member (json_array_get_object_element (rules, 0), "rule"), rule));
  g_assert_cmpint (json_object_get_int_member (json_array_get_object_element (rules, 0), "decided"), >, 0);
}

/* One of the tutorial's programs, smaller: %s is the policy. */
static const char offloading[] = "import jax, jax.numpy as jnp\n"
                                 "from jax import checkpoint_policies as cp\n"
                                 "from jax.ad_checkpoint import checkpoint_name\n"
                                 "def layer(x, w):\n"
                                 "    x = checkpoint_name(x, 'x')\n"
                                 "    return x @ w[0] @ w[1], None\n"
                                 "def scanned(w, x):\n"
                                 "    return jnp.sum(jax.lax.scan(jax.checkpoint(layer, policy=%s), x, w)[0])\n"
                                 "w = jnp.ones((6, 64, 256)), jnp.ones((6, 256, 64))\n"
                                 "stats = jax.jit(jax.grad(scanned)).lower(w, jnp.ones((64, 64))).compile().memory_analysis()\n"
                                 "print(stats.temp_size_in_bytes, stats.host_temp_size_in_bytes)\n";

/* The policies of a program come along with its graph: what plans it gives the figures that the program sees, as rules that the
 * user may change, in a session too. */
static void
test_policies_arrive (gconstpointer policy)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-jax-XXXXXX", NULL), *path = g_build_filename (folder, "layers.py", NULL);
  g_autofree char *session = g_build_filename (folder, "layers.gantry", NULL);
  g_autofree char *text = NULL, *rule = g_strconcat ("policy ", (const char *) policy + strlen ("cp."), NULL);
  g_auto (GStrv) parts = g_strsplit (offloading, "%s", 2);
  g_autofree char *printed = NULL, *planned = NULL, *again = NULL, *kept = NULL, *said = NULL;
  gint64 expected[2], found[2];

  text = g_strconcat (parts[0], policy, parts[1], NULL);
  rule[strcspn (rule, "(")] = '\0';
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  printed = output_of ("python", path, NULL);
  g_assert_cmpint (sscanf (printed, "%" G_GINT64_FORMAT " %" G_GINT64_FORMAT, &expected[0], &expected[1]), ==, 2);
  planned = output_of ("plan", "--json", "--kernels", path, NULL);
  temporaries_of (planned, rule, found);
  g_assert_cmpint (found[0], ==, expected[0]);
  g_assert_cmpint (found[1], ==, expected[1]);
  said = output_of ("import", "-o", session, path, NULL);
  again = output_of ("plan", "--json", "--kernels", "--trust-program", session, NULL);
  temporaries_of (again, rule, found);
  g_assert_cmpint (found[0], ==, expected[0]);
  g_assert_cmpint (found[1], ==, expected[1]);
  kept = output_of ("plan", "--json", "--kernels", "--rules", "", path, NULL);
  temporaries_of (kept, NULL, found);
  g_assert_cmpint (found[0], >, expected[0]);
  g_unlink (session);
  g_unlink (path);
  g_rmdir (folder);
}

static guint
add_folder (const char *name)
{
  g_autofree char *folder = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "core", "frontends", "python", "jax", name, NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *file;
  guint n = 0;

  while (dir != NULL && (file = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (file, ".py"))
      {
        g_autofree char *stem = g_strndup (file, strlen (file) - strlen (".py"));
        g_autofree char *test = g_strdup_printf ("/jax/%s/%s", name, stem);

        g_test_add_data_func_full (test, g_build_filename (folder, file, NULL), test_program, g_free);
        n++;
      }
  return n;
}

/* Each row has a program, or stands in the list with the reason. */
static void
test_rows_complete (void)
{
  const char *source = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *list = g_build_filename (source, "tests", "core", "frontends", "python", "jax", "rows", "none.txt", NULL);
  g_autofree char *none = NULL;
  guint n = 0;

  g_assert_true (g_file_get_contents (list, &none, NULL, NULL));
  for (guint i = 1; i <= 12 + 27; i++)
    {
      g_autofree char *id = i <= 12 ? g_strdup_printf ("s0.%03u", i) : g_strdup_printf ("s0.R%03u", i - 12);
      g_autofree char *name = g_strconcat (id, ".py", NULL), *line = g_strconcat ("\n", id, "\t", NULL);
      g_autofree char *path = g_build_filename (source, "tests", "core", "frontends", "python", "jax", "rows", name, NULL);
      gboolean has = g_file_test (path, G_FILE_TEST_EXISTS);

      if (!has && strstr (none, line) == NULL)
        g_test_message ("%s has no test", id);
      n += has || strstr (none, line) != NULL;
    }
  g_assert_cmpuint (n, ==, 12 + 27);
}

int
main (int argc, char **argv)
{
  g_autofree char *shared = NULL, *folder = NULL;

  g_test_init (&argc, &argv, NULL);
  shared = g_strdup (g_getenv ("GANTRY_SHARED"));
  if (shared == NULL)
    shared = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "..", "shared", NULL);
  folder = g_build_filename (shared, "conformance", "host-offloading", NULL);
  have_document = g_file_test (folder, G_FILE_TEST_IS_DIR);
  g_test_add_func ("/jax/rows/complete", test_rows_complete);
  g_test_add_func ("/jax/unknown-name", test_unknown_name);
  g_test_add_data_func ("/jax/policies-arrive/nothing-saved", "cp.nothing_saveable", test_policies_arrive);
  g_test_add_data_func ("/jax/policies-arrive/offloaded",
                        "cp.save_and_offload_only_these_names(names_which_can_be_saved=[], names_which_can_be_offloaded=['x'], "
                        "offload_src='device', offload_dst='pinned_host')",
                        test_policies_arrive);
  add_folder ("rows");
  add_folder ("cases");
  return g_test_run ();
}
