/* SPDX-License-Identifier: Apache-2.0 */
/* Session files on the command line: what was opened, compiled and run comes back; a child that is killed and a disk
 * that is full lose nothing; a damaged file is one clear error. */
#include "tests/app/cli/cli-test.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/resource.h>

typedef struct
{
  char *folder;
  char *session;
} Place;

static void
set_up (Place *place, gconstpointer data)
{
  place->folder = cli_temporary_folder ();
  place->session = g_build_filename (place->folder, "x.gantry", NULL);
}

static void
tear_down (Place *place, gconstpointer data)
{
  cli_remove_folder (place->folder);
  g_free (place->session);
}

static void
compile_into (const Place *place)
{
  g_autofree char *model = cli_own_file ("linear.onnx");
  g_autoptr (CliResult) result = cli_run ("compile", "-o", place->session, model, NULL);

  cli_assert_status (result, 0);
}

/* compile, info, run, and info again: the model and its settings come with the file. */
static void
test_round_trip (Place *place, gconstpointer data)
{
  g_autofree char *model = cli_own_file ("open-batch.onnx");
  g_autoptr (CliResult) made = cli_run ("run", "--runs=2", "--dim=batch=5", "--disable=cse", "-o", place->session, model, NULL);
  g_autoptr (CliResult) info = cli_run ("info", "--json", place->session, NULL);
  g_autoptr (CliResult) passes = cli_run ("passes", place->session, NULL);
  g_autoptr (CliResult) again = cli_run ("run", "--runs=1", "--json", place->session, NULL);
  g_autoptr (JsonNode) root = NULL;
  JsonObject *output;

  cli_assert_status (made, 0);
  cli_assert_status (info, 0);
  root = cli_json (info);
  output = json_array_get_object_element (json_object_get_array_member (json_node_get_object (root), "outputs"), 0);
  g_assert_cmpstr (json_object_get_string_member (output, "type"), ==, "f32[5,4]");
  cli_assert_status (passes, 0);
  g_assert_nonnull (strstr (passes->out, "(off)"));
  cli_assert_status (again, 0);
}

/* A session whose run was killed is as it was. */
static void
test_killed (Place *place, gconstpointer data)
{
  g_autofree char *program = cli_program ();
  g_autoptr (GError) error = NULL;
  g_autofree char *before = NULL, *after = NULL;
  gsize before_size, after_size;
  g_autoptr (GSubprocess) child = NULL;
  g_autoptr (CliResult) info = NULL;

  compile_into (place);
  g_assert_true (g_file_get_contents (place->session, &before, &before_size, NULL));
  child = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, program, "run", "--session", "--progress", "--runs=1000000", place->session, NULL);
  g_assert_no_error (error);
  g_usleep (300000);
  g_subprocess_send_signal (child, SIGKILL);
  g_assert_true (g_subprocess_wait (child, NULL, &error));
  g_assert_true (g_subprocess_get_if_signaled (child));
  g_assert_true (g_file_get_contents (place->session, &after, &after_size, NULL));
  g_assert_cmpmem (before, before_size, after, after_size);
  info = cli_run ("info", place->session, NULL);
  cli_assert_status (info, 0);
}

static void
limit_file_size (gpointer data)
{
  const struct rlimit limit = { 64 * 1024, 64 * 1024 };

  signal (SIGXFSZ, SIG_IGN);
  setrlimit (RLIMIT_FSIZE, &limit);
}

/* No room for what is to be added: one error, and the file still holds what it held. */
static void
test_full (Place *place, gconstpointer data)
{
  g_autofree char *program = cli_program ();
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) child = NULL;
  g_autofree char *said = NULL;
  g_autoptr (CliResult) passes = NULL;

  compile_into (place);
  g_subprocess_launcher_set_child_setup (launcher, limit_file_size, NULL, NULL);
  child = g_subprocess_launcher_spawn (launcher, &error, program, "run", "--session", "--runs=2000", place->session, NULL);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (child, NULL, NULL, NULL, &said, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_subprocess_get_exit_status (child), ==, 1);
  g_assert_nonnull (strstr (said, "x.gantry"));
  g_assert_nonnull (strstr (said, g_strerror (EFBIG)));
  passes = cli_run ("passes", place->session, NULL);
  cli_assert_status (passes, 0);
}

static void
write_over (const Place *place, glong offset, const char *bytes, gsize n)
{
  FILE *file = g_fopen (place->session, "r+b");

  g_assert_nonnull (file);
  g_assert_cmpint (fseek (file, offset, SEEK_SET), ==, 0);
  g_assert_cmpuint (fwrite (bytes, 1, n, file), ==, n);
  fclose (file);
}

static void
test_damaged (Place *place, gconstpointer data)
{
  g_autoptr (CliResult) result = NULL;
  char garbage[4096];

  memset (garbage, 0xa5, sizeof garbage);
  compile_into (place);
  write_over (place, 100, garbage, sizeof garbage);
  result = cli_run ("info", place->session, NULL);
  cli_assert_status (result, 1);
  cli_assert_one_error (result, "x.gantry");
}

static void
test_cut_off (Place *place, gconstpointer data)
{
  g_autoptr (CliResult) result = NULL;
  g_autofree char *text = NULL;
  gsize length;

  compile_into (place);
  g_assert_true (g_file_get_contents (place->session, &text, &length, NULL));
  g_assert_true (g_file_set_contents (place->session, text, (gssize) length / 3, NULL));
  result = cli_run ("info", place->session, NULL);
  cli_assert_status (result, 1);
  cli_assert_one_error (result, "x.gantry");
}

/* A model that has changed, or is gone, is said by name. */
static void
test_model_gone (Place *place, gconstpointer data)
{
  g_autofree char *original = cli_own_file ("linear.onnx");
  g_autofree char *model = g_build_filename (place->folder, "m.onnx", NULL);
  g_autofree char *bytes = NULL;
  gsize length;
  g_autoptr (CliResult) made = NULL, changed = NULL, gone = NULL;

  g_assert_true (g_file_get_contents (original, &bytes, &length, NULL));
  g_assert_true (g_file_set_contents (model, bytes, (gssize) length, NULL));
  made = cli_run ("compile", "-o", place->session, model, NULL);
  cli_assert_status (made, 0);
  bytes[length / 2] ^= 1;
  g_assert_true (g_file_set_contents (model, bytes, (gssize) length, NULL));
  changed = cli_run ("info", place->session, NULL);
  cli_assert_status (changed, 1);
  cli_assert_one_error (changed, "m.onnx");
  g_unlink (model);
  gone = cli_run ("info", place->session, NULL);
  cli_assert_status (gone, 1);
  cli_assert_one_error (gone, "m.onnx");
}

/* A model that was exported again: the session opens with it where that is accepted, and saving makes it a session of that. */
static void
test_model_changed (Place *place, gconstpointer data)
{
  static const char *const names[] = { "x", "features" };
  g_autofree char *model = g_build_filename (place->folder, "m.gir", NULL);
  g_autoptr (CliResult) refused = NULL, accepted = NULL, ran = NULL, now = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *text = g_strdup_printf ("module \"m\" {\n  func @main #1 (%%1 \"%s\": f32[4]) -> (%%2) {\n"
                                               "    %%2 = tanh(%%1): f32[4]\n  }\n}\n",
                                               names[i]);
      g_autoptr (CliResult) made = NULL;

      g_assert_true (g_file_set_contents (model, text, -1, NULL));
      made = i == 0 ? cli_run ("run", "--runs=1", "-o", place->session, model, NULL) : NULL;
      if (made != NULL)
        cli_assert_status (made, 0);
    }
  refused = cli_run ("info", place->session, NULL);
  cli_assert_status (refused, 1);
  cli_assert_one_error (refused, "--accept-changed-model");
  accepted = cli_run ("info", "--accept-changed-model", place->session, NULL);
  cli_assert_status (accepted, 0);
  ran = cli_run ("run", "--runs=1", "--session", "--accept-changed-model", place->session, NULL);
  cli_assert_status (ran, 0);
  now = cli_run ("info", place->session, NULL);
  cli_assert_status (now, 0);
}

static guint
n_runs (const char *session)
{
  g_autoptr (CliResult) result = cli_run ("runs", "--json", session, NULL);
  g_autoptr (JsonNode) json = NULL;

  cli_assert_status (result, 0);
  json = cli_json (result);
  return json_array_get_length (json_object_get_array_member (json_node_get_object (json), "runs"));
}

static goffset
size_of (const char *path)
{
  GStatBuf info;

  g_assert_cmpint (g_stat (path, &info), ==, 0);
  return info.st_size;
}

/* Deleted runs are gone, the others are there, and the file is smaller; a run that is not there deletes none. */
static void
test_deleted (Place *place, gconstpointer data)
{
  g_autofree char *model = cli_own_file ("sample.onnx");
  g_autoptr (CliResult) first = cli_run ("run", "--runs=1", "-o", place->session, model, NULL);
  g_autoptr (CliResult) second = cli_run ("run", "--runs=1", "--session", place->session, NULL);
  g_autoptr (CliResult) third = cli_run ("run", "--runs=1", "--session", place->session, NULL), none = NULL, two = NULL, info = NULL;
  goffset before;

  cli_assert_status (first, 0);
  cli_assert_status (second, 0);
  cli_assert_status (third, 0);
  g_assert_cmpuint (n_runs (place->session), ==, 3);
  before = size_of (place->session);
  none = cli_run ("runs", "--delete=1", "--delete=4", place->session, NULL);
  cli_assert_status (none, 1);
  cli_assert_one_error (none, "no such run");
  g_assert_cmpuint (n_runs (place->session), ==, 3);
  two = cli_run ("runs", "--delete=1", "--delete=3", place->session, NULL);
  cli_assert_status (two, 0);
  g_assert_cmpuint (n_runs (place->session), ==, 1);
  g_assert_cmpint (size_of (place->session), <, before * 3 / 4);
  info = cli_run ("info", place->session, NULL);
  cli_assert_status (info, 0);
}

/* A trace need not say where it was recorded. */
static void
test_no_device (Place *place, gconstpointer data)
{
  g_autofree char *trace = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "fixtures", "recordings", "chrome.json", NULL);
  g_autoptr (CliResult) import = cli_run ("import", "-o", place->session, trace, NULL);
  g_autoptr (CliResult) list = cli_run ("runs", place->session, NULL), json = cli_run ("runs", "--json", place->session, NULL);
  g_autoptr (JsonNode) node = NULL;
  JsonArray *runs;

  cli_assert_status (import, 0);
  g_assert_nonnull (strstr (import->out, "device     not known\n"));
  cli_assert_status (list, 0);
  g_assert_nonnull (strstr (list->out, "  not known  "));
  node = cli_json (json);
  runs = json_object_get_array_member (json_node_get_object (node), "runs");
  g_assert_true (json_object_get_null_member (json_array_get_object_element (runs, 0), "device"));
}

static void
run_sql (const Place *place, const char *sql)
{
  sqlite3 *db = NULL;
  char *why = NULL;

  g_assert_cmpint (sqlite3_open (place->session, &db), ==, SQLITE_OK);
  if (sqlite3_exec (db, sql, NULL, NULL, &why) != SQLITE_OK)
    g_error ("%s: %s", sql, why);
  sqlite3_close (db);
}

/* Three runs with names, and ids of which one begins as a number does. */
static void
make_three (const Place *place)
{
  g_autofree char *model = cli_own_file ("linear.onnx");

  for (int i = 0; i < 3; i++)
    {
      g_autoptr (CliResult) run = i == 0 ? cli_run ("run", "--runs=1", "-o", place->session, model, NULL)
                                         : cli_run ("run", "--runs=1", "--session", place->session, NULL);

      cli_assert_status (run, 0);
    }
  run_sql (place, "UPDATE runs SET uid = 'aaaa' || id || 'c', name = 'one' || id;"
                  " UPDATE runs SET uid = '0003cccc' WHERE id = 2");
}

/* Only the first digits of an id may be all decimal: they are no number. */
static void
test_decimal_ids (Place *place, gconstpointer data)
{
  const char *none[] = { "003", "0", "-1", "000", "1000", "", "aaaa" };
  g_autoptr (CliResult) deleted = NULL;

  make_three (place);
  for (guint i = 0; i < G_N_ELEMENTS (none); i++)
    {
      g_autofree char *option = g_strconcat ("--delete=", none[i], NULL);
      g_autoptr (CliResult) refused = cli_run ("runs", option, place->session, NULL);

      cli_assert_status (refused, 1);
      cli_assert_one_error (refused, "such run");
    }
  deleted = cli_run ("runs", "--delete=0003", place->session, NULL); /* and not the third */
  cli_assert_status (deleted, 0);
  g_assert_null (strstr (deleted->out, "one2"));
  g_assert_nonnull (strstr (deleted->out, "one3"));
}

/* All subcommands count runs alike, where one of them is too large to be read too. */
static void
test_numbers (Place *place, gconstpointer data)
{
  static const struct
  {
    const char *run;
    int status;
    const char *said;
  } cases[] = {
    { "--run=1", 1, "left out" },    { "--run=2", 0, NULL },          { "--run=aaaa3", 0, NULL },       { "--run=0003", 1, "left out" },
    { "--run=3", 1, "no such run" }, { "--run=0", 1, "no such run" }, { "--run=-1", 1, "no such run" }, { "--run=1", 1, "run 1: " },
  };
  g_autofree char *csv = g_build_filename (place->folder, "x.csv", NULL), *svg = g_build_filename (place->folder, "x.svg", NULL);
  g_autoptr (CliResult) deleted = NULL;

  make_three (place);
  deleted = cli_run ("runs", "--delete=1", place->session, NULL); /* what was the second is the first, in all that is said of it */
  cli_assert_status (deleted, 0);
  run_sql (place, "WITH RECURSIVE n (x) AS (SELECT 100 UNION ALL SELECT x + 1 FROM n WHERE x < 1100)"
                  " INSERT INTO plan_memory SELECT 2, x, 0, 0, 0, 0 FROM n");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CliResult) exported = cli_run ("export", "--to=csv", "-o", csv, cases[i].run, place->session, NULL);
      g_autoptr (CliResult) drawn = cli_run ("render", "--view=timeline", "-o", svg, cases[i].run, place->session, NULL);

      cli_assert_status (exported, cases[i].status);
      cli_assert_status (drawn, cases[i].status);
      if (cases[i].said == NULL)
        continue;
      g_assert_nonnull (strstr (exported->err, cases[i].said));
      g_assert_nonnull (strstr (drawn->err, cases[i].said));
    }
}

/* A program that is over its limit has no plan to draw: one error says why, and a run that fitted is drawn all the same. */
static void
test_over_limit (Place *place, gconstpointer data)
{
  static const char *const views[] = { "--view=timeline", "--view=memory" };
  g_autofree char *model = cli_own_file ("sample.onnx"), *svg = g_build_filename (place->folder, "x.svg", NULL);
  g_autoptr (CliResult) made = cli_run ("run", "--runs=1", "-o", place->session, model, NULL);
  g_autoptr (CliResult) set = cli_run ("compile", "--session", "--limit=64", place->session, NULL);

  cli_assert_status (made, 0);
  cli_assert_status (set, 0);
  for (guint i = 0; i < G_N_ELEMENTS (views); i++)
    {
      g_autoptr (CliResult) refused = cli_run ("render", views[i], "-o", svg, place->session, NULL);
      g_autoptr (CliResult) drawn = cli_run ("render", views[i], "--run=1", "-o", svg, place->session, NULL);

      cli_assert_status (refused, 1);
      cli_assert_one_error (refused, "--fit");
      cli_assert_status (drawn, 0);
      g_assert_cmpint (g_unlink (svg), ==, 0);
    }
}

/* What a stranger wrote into a session is no command to the terminal, and no half of a letter. */
static void
test_strange_names (Place *place, gconstpointer data)
{
  g_autoptr (CliResult) list = NULL;

  make_three (place);
  run_sql (place, "UPDATE runs SET name = 'a' || char (27) || '[2J' || char (10) || 'b', device = char (155) || '0m',"
                  " uid = 'aaaaaaa' || char (228) || id");
  list = cli_run ("runs", place->session, NULL);
  cli_assert_status (list, 0);
  g_assert_nonnull (strstr (list->out, "a\\033[2J\\nb"));
  for (const char *c = list->out; *c != '\0'; c++)
    g_assert_true (*c == '\n' || g_ascii_isprint (*c));
}

/* A session that carries its model along opens where the model is not. */
static void
test_embedded (Place *place, gconstpointer data)
{
  g_autofree char *original = cli_own_file ("linear.onnx"), *bytes = NULL;
  g_autofree char *model = g_build_filename (place->folder, "m.onnx", NULL);
  gsize length;
  g_autoptr (CliResult) made = NULL, run = NULL, again = NULL;

  g_setenv ("XDG_CACHE_HOME", place->folder, TRUE);
  g_assert_true (g_file_get_contents (original, &bytes, &length, NULL));
  g_assert_true (g_file_set_contents (model, bytes, (gssize) length, NULL));
  made = cli_run ("compile", "--embed", "-o", place->session, model, NULL);
  cli_assert_status (made, 0);
  g_unlink (model);
  run = cli_run ("run", "--runs=1", "--session", place->session, NULL);
  cli_assert_status (run, 0);
  again = cli_run ("info", place->session, NULL);
  cli_assert_status (again, 0);
}

/* A program that a session names, or carries along, runs only where the user says so. */
static void
test_program (Place *place, gconstpointer data)
{
  g_autofree char *model = g_build_filename (place->folder, "model.py", NULL), *marker = g_build_filename (place->folder, "ran", NULL);
  g_autofree char *text = g_strdup_printf ("from mindspore import Tensor, jit\nopen('%s', 'w').close()\n@jit\ndef f(x):\n    return x + 1\n"
                                           "f(Tensor([1.0]))\n",
                                           marker);
  g_autoptr (CliResult) made = NULL;

  g_setenv ("XDG_CACHE_HOME", place->folder, TRUE);
  g_assert_true (g_file_set_contents (model, text, -1, NULL));
  made = cli_run ("compile", "--embed", "-o", place->session, model, NULL);
  if (strstr (made->err, "CPython") != NULL)
    {
      g_test_skip ("built without CPython");
      return;
    }
  cli_assert_status (made, 0);
  for (int carried = 0; carried < 2; carried++)
    {
      g_autoptr (CliResult) refused = NULL, allowed = NULL;

      g_assert_cmpint (g_unlink (marker), ==, 0);
      refused = cli_run ("info", place->session, NULL);
      cli_assert_status (refused, 1);
      g_assert_nonnull (strstr (refused->err, "--trust-program"));
      g_assert_false (g_file_test (marker, G_FILE_TEST_EXISTS));
      allowed = cli_run ("info", "--trust-program", place->session, NULL);
      cli_assert_status (allowed, 0);
      g_assert_true (g_file_test (marker, G_FILE_TEST_EXISTS));
      g_unlink (model);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add ("/cli/session/" name, Place, NULL, set_up, function, tear_down)
  ADD ("deleted", test_deleted);
  ADD ("no-device", test_no_device);
  ADD ("decimal-ids", test_decimal_ids);
  ADD ("numbers", test_numbers);
  ADD ("over-limit", test_over_limit);
  ADD ("strange-names", test_strange_names);
  ADD ("round-trip", test_round_trip);
  ADD ("program", test_program);
  ADD ("killed", test_killed);
  ADD ("full", test_full);
  ADD ("damaged", test_damaged);
  ADD ("cut-off", test_cut_off);
  ADD ("model-gone", test_model_gone);
  ADD ("model-changed", test_model_changed);
  ADD ("embedded", test_embedded);
  return g_test_run ();
}
