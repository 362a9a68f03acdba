/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli pack: its figures, its status for each outcome, and what it says of tables that are broken. */
#include "tests/app/cli/cli-test.h"
#include <string.h>

typedef struct
{
  char *folder;
  char *table;
} Fixture;

static void
write_table (Fixture *fixture, const char *text)
{
  g_autoptr (GError) error = NULL;

  g_file_set_contents (fixture->table, text, -1, &error);
  g_assert_no_error (error);
}

static void
set_up (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  fixture->folder = cli_temporary_folder ();
  fixture->table = g_build_filename (fixture->folder, "table.csv", NULL);
}

static void
tear_down (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  g_free (fixture->table);
  cli_remove_folder (fixture->folder);
}

/* Two buffers of 10 and 6 bytes alive together, and one of 16 after them. */
static const char three[] = "id,lower,upper,size\na,0,4,10\nb,2,4,6\nc,4,9,16\n";

static void
test_figures (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (CliResult) result = NULL;
  g_autoptr (JsonNode) root = NULL;
  JsonObject *object, *offsets;
  gint64 a, b;

  write_table (fixture, three);
  result = cli_run ("pack", "--capacity", "16", "--offsets", "--json", fixture->table, NULL);
  cli_assert_status (result, 0);
  root = cli_json (result);
  object = json_node_get_object (root);
  g_assert_cmpint (json_object_get_int_member (object, "buffers"), ==, 3);
  g_assert_cmpint (json_object_get_int_member (object, "height"), ==, 16);
  g_assert_cmpint (json_object_get_int_member (object, "load"), ==, 16);
  g_assert_cmpint (json_object_get_int_member (object, "lower_bound"), ==, 16);
  g_assert_cmpint (json_object_get_int_member (object, "gap"), ==, 0);
  g_assert_cmpint (json_object_get_int_member (object, "over"), ==, 0);
  g_assert_true (json_object_get_boolean_member (object, "fits"));
  g_assert_cmpfloat (json_object_get_double_member (object, "milliseconds"), >=, 0);
  offsets = json_object_get_object_member (object, "offsets");
  a = json_object_get_int_member (offsets, "a");
  b = json_object_get_int_member (offsets, "b");
  g_assert_true ((a == 0 && b == 10) || (a == 6 && b == 0));
  g_assert_cmpint (json_object_get_int_member (offsets, "c"), ==, 0);
}

static void
test_without_capacity (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (CliResult) result = NULL;
  g_autoptr (JsonNode) root = NULL;
  JsonObject *object;

  write_table (fixture, three);
  result = cli_run ("pack", "--alignment", "64", "--json", fixture->table, NULL);
  cli_assert_status (result, 0);
  root = cli_json (result);
  object = json_node_get_object (root);
  g_assert_cmpint (json_object_get_int_member (object, "height"), ==, 128);
  g_assert_true (json_object_get_null_member (object, "fits"));
  g_assert_true (json_object_get_null_member (object, "over"));
  g_assert_false (json_object_has_member (object, "offsets"));
}

/* Status 2, and by how much. */
static void
test_too_small (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  g_autoptr (CliResult) json = NULL, text = NULL;
  g_autoptr (JsonNode) root = NULL;
  JsonObject *object;

  write_table (fixture, three);
  json = cli_run ("pack", "--capacity", "13", "--json", fixture->table, NULL);
  text = cli_run ("pack", "--capacity", "13", fixture->table, NULL);
  cli_assert_status (json, 2);
  cli_assert_status (text, 2);
  root = cli_json (json);
  object = json_node_get_object (root);
  g_assert_false (json_object_get_boolean_member (object, "fits"));
  g_assert_cmpint (json_object_get_int_member (object, "over"), ==, 3);
  g_assert_nonnull (strstr (text->out, "does not fit: 3 bytes too high, and no packing fits"));
}

static void
test_broken_tables (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  static const struct
  {
    const char *text, *where, *help;
  } tables[] = {
    { "", "line 0", "the first line says" },
    { "id,lower,size\na,1,2\n", "line 1", "are needed" },
    { "id,lower,upper,size\na,0,4,10\nb,2,x,6\n", "line 3", "write a step in digits" },
    { "id,lower,upper,size\na,0,4,-1\n", "line 2", "write bytes in digits" },
    { "id,lower,upper,size\na,4,4,1\n", "line 2", "upper lies above lower" },
    { "id,lower,upper,size\na,0,4\n", "line 2", "one field for each" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    {
      g_autoptr (CliResult) result = NULL;

      write_table (fixture, tables[i].text);
      result = cli_run ("pack", "--json", fixture->table, NULL);
      cli_assert_status (result, 1);
      cli_assert_one_error (result, tables[i].where);
      g_assert_nonnull (strstr (result->err, tables[i].help));
      g_assert_nonnull (strstr (result->err, "table.csv"));
    }
}

static void
test_bad_calls (Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
  static const char *const options[][2] = {
    { "--capacity", "0" }, { "--capacity", "1GiB" }, { "--alignment", "x" }, { "--alignment", "9999999999" }, { "--effort", "-3" }
  };
  g_autoptr (CliResult) nothing = cli_run ("pack", NULL);
  g_autofree char *absent = g_build_filename (fixture->folder, "absent.csv", NULL);
  g_autoptr (CliResult) missing = cli_run ("pack", absent, NULL);

  cli_assert_status (nothing, 1);
  cli_assert_one_error (nothing, "give one table");
  cli_assert_status (missing, 1);
  cli_assert_one_error (missing, "absent.csv");
  write_table (fixture, three);
  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      g_autoptr (CliResult) result = cli_run ("pack", options[i][0], options[i][1], fixture->table, NULL);

      cli_assert_status (result, 1);
      cli_assert_one_error (result, options[i][0]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/cli/pack/figures", Fixture, NULL, set_up, test_figures, tear_down);
  g_test_add ("/cli/pack/without-capacity", Fixture, NULL, set_up, test_without_capacity, tear_down);
  g_test_add ("/cli/pack/too-small", Fixture, NULL, set_up, test_too_small, tear_down);
  g_test_add ("/cli/pack/broken-tables", Fixture, NULL, set_up, test_broken_tables, tear_down);
  g_test_add ("/cli/pack/bad-calls", Fixture, NULL, set_up, test_bad_calls, tear_down);
  return g_test_run ();
}
