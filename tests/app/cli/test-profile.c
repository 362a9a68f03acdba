/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli profile: what it records and reports here, and on "another machine", which is this one behind a launcher: one that
 * works, and ones that are missing, die in the middle or talk nonsense. */
#include "tests/app/cli/cli-test.h"
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  char *folder, *model, *session, *program;
} Place;

static void
set_up (Place *place, gconstpointer data)
{
  g_autofree char *linear = cli_own_file ("linear.onnx");

  place->folder = cli_temporary_folder ();
  place->model = g_steal_pointer (&linear);
  place->session = g_build_filename (place->folder, "run.gantry", NULL);
  place->program = cli_program ();
}

static void
tear_down (Place *place, gconstpointer data)
{
  cli_remove_folder (place->folder);
  g_free (place->model);
  g_free (place->session);
  g_free (place->program);
}

static JsonObject *
object_of (JsonNode *root)
{
  return json_node_get_object (root);
}

static void
check_report (const CliResult *result, guint n_runs)
{
  g_autoptr (JsonNode) root = NULL;
  JsonArray *runs, *slowest;

  cli_assert_status (result, 0);
  root = cli_json (result);
  runs = json_object_get_array_member (object_of (root), "runs_milliseconds");
  g_assert_cmpuint (json_array_get_length (runs), ==, n_runs);
  g_assert_cmpfloat (json_array_get_double_element (runs, 0), >, 0);
  slowest = json_object_get_array_member (object_of (root), "slowest");
  g_assert_cmpuint (json_array_get_length (slowest), >, 0);
  g_assert_true (json_object_has_member (object_of (root), "notes"));
}

/* Recorded here: the report, and the session that opens again with its run. */
static void
test_here (Place *place, gconstpointer data)
{
  g_autoptr (CliResult) result = cli_run ("profile", "--json", "--runs=3", "--warmup=1", "-o", place->session, place->model, NULL);
  g_autofree char *trace = g_build_filename (place->folder, "run.json", NULL);
  g_autoptr (CliResult) exported = NULL, text = NULL;

  check_report (result, 3);
  exported = cli_run ("export", place->session, "-o", trace, NULL);
  cli_assert_status (exported, 0);
  g_assert_true (g_file_test (trace, G_FILE_TEST_EXISTS));
  text = cli_run ("profile", "--runs=1", place->model, NULL);
  cli_assert_status (text, 0);
  g_assert_nonnull (strstr (text->out, "memory "));
  g_assert_nonnull (strstr (text->out, "roofline"));
}

static void
test_grid (Place *place, gconstpointer data)
{
  g_autoptr (CliResult) result = cli_run ("profile", "--json", "--device=grid", "--runs=2", place->model, NULL);

  check_report (result, 2);
}

/* A driver that takes all work and does none of it: CUPTI, which finds no GPU, is missed in a note, and the rest is there. */
static void
test_stand_in (Place *place, gconstpointer data)
{
#ifdef FAKE_LIBCUDA
  g_autoptr (CliResult) result = NULL;
  g_autoptr (JsonNode) root = NULL;
  JsonArray *notes;

  g_setenv ("GANTRY_LIBCUDA", FAKE_LIBCUDA, TRUE);
  g_setenv ("GANTRY_FAKE_CUDA", "accept=1", TRUE);
  g_setenv ("GANTRY_LIBCUPTI", "/nowhere/libcupti.so.13", TRUE);
  result = cli_run ("profile", "--json", "--device=cuda", "--runs=3", "-o", place->session, place->model, NULL);
  g_unsetenv ("GANTRY_LIBCUPTI");
  g_unsetenv ("GANTRY_FAKE_CUDA");
  g_unsetenv ("GANTRY_LIBCUDA");
  check_report (result, 3);
  root = cli_json (result);
  g_assert_cmpstr (json_object_get_string_member (object_of (root), "device"), ==, "Stand-in GPU 0");
  notes = json_object_get_array_member (object_of (root), "notes");
  g_assert_cmpuint (json_array_get_length (notes), >, 0);
  g_assert_nonnull (strstr (json_array_get_string_element (notes, 0), "the program's own events"));
#else
  g_test_skip ("the stand-in for the driver is not built");
#endif
}

/* A training step of a program, made on the way. */
static void
test_train (Place *place, gconstpointer data)
{
  g_autofree char *models = g_path_get_dirname (place->model), *up = g_path_get_dirname (models);
  g_autofree char *program = g_build_filename (up, "programs", "mlp.gir", NULL);
  g_autoptr (CliResult) result = cli_run ("profile", "--json", "--train", "--loss=mse", "--steps=4", program, NULL);

  check_report (result, 4);
}

/* Steps that nobody looks at: only their times are told. */
static void
test_unrecorded (Place *place, gconstpointer data)
{
  g_autoptr (CliResult) result = cli_run ("profile", "--json", "--unrecorded", "--runs=3", place->model, NULL);
  g_autoptr (CliResult) kept = cli_run ("profile", "--unrecorded", "-o", place->session, place->model, NULL);
  g_autoptr (JsonNode) root = NULL;
  JsonArray *runs;

  cli_assert_status (result, 0);
  root = cli_json (result);
  runs = json_object_get_array_member (object_of (root), "runs_milliseconds");
  g_assert_cmpuint (json_array_get_length (runs), ==, 3);
  g_assert_cmpfloat (json_array_get_double_element (runs, 2), >, 0);
  cli_assert_status (kept, 1);
  cli_assert_one_error (kept, "--unrecorded only tells times");
}

/* A launcher that only starts the program: all that was recorded comes back. */
static void
test_there (Place *place, gconstpointer data)
{
  g_autoptr (CliResult) result = cli_run ("profile", "--json", "--device=cpu", "--runs=3", "--launcher=env LANG=C", "-o", place->session, place->model, NULL);
  g_autoptr (CliResult) again = NULL;

  check_report (result, 3);
  again = cli_run ("run", "--runs=1", place->session, NULL);
  cli_assert_status (again, 0);
}

/* Words with spaces and quotes arrive as they are. */
static void
test_words (Place *place, gconstpointer data)
{
  g_autofree char *odd = g_build_filename (place->folder, "it's a \"model\" $HOME", NULL);
  g_autofree char *link = g_build_filename (odd, "cli", NULL);
  g_autofree char *argument = g_strdup_printf ("--remote-cli=%s", link);
  g_autoptr (CliResult) result = NULL;

  g_assert_cmpint (g_mkdir (odd, 0700), ==, 0);
  g_assert_cmpint (symlink (place->program, link), ==, 0);
  result = cli_run ("profile", "--json", "--device=cpu", "--runs=1", "--launcher=env 'A=b c'", argument, place->model, NULL);
  check_report (result, 1);
  g_unlink (link);
  g_rmdir (odd);
}

/* What goes wrong, and what is said. %s: gantry-cli */
static const struct
{
  const char *name, *launcher, *device;
  int status;
  const char *part;
} failures[] = {
  { "missing", "no-such-launcher -n1", "cpu", 3, "here: there is no program no-such-launcher" },
  { "quotes", "sh -c 'x", "cpu", 1, "--launcher:" },
  { "no-cli", "sh -c 'exec /nowhere/gantry-cli serve'", "cpu", 3, "--remote-cli PATH" },
  { "ends", "sh -c 'exit 7'", "cpu", 1, "ended with status 7 before the run was over" },
  { "killed", "sh -c 'kill -9 $$'", "cpu", 1, "ended by signal 9" },
  { "greets", "sh -c 'echo Welcome to node17; exec cat'", "cpu", 1, "'Welcome to node17" },
  { "silent", "sh -c 'exec true'", "cpu", 1, "ended with status 0 before" },
  { "bytes", "sh -c 'head -c 100000 /dev/zero; exec cat'", "cpu", 1, "not what gantry-cli says" },
  { "long-frame", "sh -c 'printf GnFr\\\\001\\\\000\\\\000\\\\000\\\\377\\\\377\\\\377\\\\377\\\\377\\\\377\\\\000\\\\000; exec cat'", "cpu", 1,
    "bytes where" },
  { "other-version",
    "sh -c 'printf GnFr\\\\001\\\\000\\\\000\\\\000\\\\005\\\\000\\\\000\\\\000\\\\000\\\\000\\\\000\\\\000\\\\011\\\\000\\\\000\\\\0009; exec cat'", "cpu", 3,
    "speaks version 9 of the frames" },
  { "in-the-middle", "sh -c '\"$0\" serve | dd bs=1 count=60 2>/dev/null; kill -9 $$' %s", "cpu", 1, "ended by signal 9" },
  { "no-gpu", "env GANTRY_LIBCUDA=/nowhere/libcuda.so.1", "cuda", 3, "on env GANTRY_LIBCUDA=/nowhere/libcuda.so.1: no NVIDIA driver" },
};

static void
test_failure (Place *place, gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autofree char *launcher = strstr (failures[i].launcher, "%s") != NULL ? g_strdup_printf (failures[i].launcher, place->program)
                                                                          : g_strdup (failures[i].launcher);
  g_autofree char *argument = g_strdup_printf ("--launcher=%s", launcher);
  g_autofree char *device = g_strdup_printf ("--device=%s", failures[i].device);
  g_autoptr (CliResult) result = cli_run ("profile", device, argument, "-o", place->session, place->model, NULL);

  g_test_message ("%s", result->err);
  cli_assert_status (result, failures[i].status);
  g_assert_true (g_str_has_prefix (result->err, "gantry-cli profile: "));
  g_assert_nonnull (strstr (result->err, failures[i].part));
  g_assert_cmpstr (result->out, ==, "");
  g_assert_false (g_file_test (place->session, G_FILE_TEST_EXISTS));
}

/* Without ssh, and a host that is an option. */
static void
test_host (Place *place, gconstpointer data)
{
  g_autofree char *path = g_strdup (g_getenv ("PATH"));
  g_autoptr (CliResult) missing = NULL, option = NULL;

  g_setenv ("PATH", "/nowhere", TRUE);
  missing = cli_run ("profile", "--host=me@there", place->model, NULL);
  g_setenv ("PATH", path, TRUE);
  cli_assert_status (missing, 3);
  cli_assert_one_error (missing, "here: there is no program ssh");
  option = cli_run ("profile", "--host=-oProxyCommand=true", place->model, NULL);
  cli_assert_status (option, 1);
  cli_assert_one_error (option, "takes machine or user@machine");
}

/* ssh gets one text for a shell: a program in its place shows and runs it. */
static void
test_ssh (Place *place, gconstpointer data)
{
  g_autofree char *ssh = g_build_filename (place->folder, "ssh", NULL), *path = g_strdup (g_getenv ("PATH"));
  g_autofree char *extended = g_strdup_printf ("%s:%s", place->folder, path);
  g_autofree char *cli = g_strdup_printf ("--remote-cli=%s", place->program);
  g_autoptr (CliResult) result = NULL, unreachable = NULL;

  g_assert_true (g_file_set_contents (ssh,
                                      "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\n[ \"$2\" = me@there ] || { echo \"no route to $2\" >&2; exit 255; }\n"
                                      "exec sh -c \"$3\"\n",
                                      -1, NULL));
  g_assert_cmpint (g_chmod (ssh, 0700), ==, 0);
  g_setenv ("PATH", extended, TRUE);
  result = cli_run ("profile", "--json", "--device=cpu", "--runs=2", "--host=me@there", "--launcher=env A='b c'", cli, place->model, NULL);
  unreachable = cli_run ("profile", "--device=cpu", "--host=elsewhere", cli, place->model, NULL);
  g_setenv ("PATH", path, TRUE);
  check_report (result, 2);
  cli_assert_status (unreachable, 1);
  g_assert_nonnull (strstr (unreachable->err, "elsewhere could not be reached by ssh\n  no route to elsewhere"));
  g_unlink (ssh);
}

/* Options that do not go together, and counters of what is no GPU. */
static void
test_options (Place *place, gconstpointer data)
{
  const struct
  {
    const char *option, *part;
    int status;
  } cases[] = {
    { "--runs=0", "--runs is from 1", 1 },
    { "--loss=mse", "go with --train", 1 },
    { "--kernel=3", "use --device cuda", 3 },
    { "--device=tpu", "--device tpu", 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CliResult) result = cli_run ("profile", cases[i].option, place->model, NULL);

      cli_assert_status (result, cases[i].status);
      cli_assert_one_error (result, cases[i].part);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add ("/cli/profile/" name, Place, NULL, set_up, function, tear_down)
  ADD ("here", test_here);
  ADD ("grid", test_grid);
  ADD ("stand-in", test_stand_in);
  ADD ("train", test_train);
  ADD ("unrecorded", test_unrecorded);
  ADD ("there", test_there);
  ADD ("words", test_words);
  ADD ("host", test_host);
  ADD ("ssh", test_ssh);
  ADD ("options", test_options);
  for (guint i = 0; i < G_N_ELEMENTS (failures); i++)
    {
      g_autofree char *path = g_strdup_printf ("/cli/profile/failure/%s", failures[i].name);

      g_test_add (path, Place, GUINT_TO_POINTER (i), set_up, test_failure, tear_down);
    }
  return g_test_run ();
}
