/* SPDX-License-Identifier: Apache-2.0 */
/* Where the system withholds something (what is in memory, threads, a lock, a folder that may be written) or a file is not what it
 * should be: what could not be had is said, nothing is made up, and nothing waits for ever. */
#include "tests/app/cli/cli-test.h"
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY "65534"
#define PROGRAM "module \"small\" {\n  func @main #1 (%1 \"x\": f32[4]) -> (%2) {\n    %2 = negate(%1): f32[4]\n  }\n}\n"

typedef struct
{
  char *folder, *model; /* the model may be read by everybody */
} Place;

static void
set_up (Place *place, gconstpointer data)
{
  place->folder = cli_temporary_folder ();
  place->model = g_build_filename (place->folder, "small.gir", NULL);
  g_assert_true (g_file_set_contents (place->model, PROGRAM, -1, NULL));
  g_assert_cmpint (g_chmod (place->folder, 0777), ==, 0);
  g_assert_cmpint (g_chmod (place->model, 0644), ==, 0);
}

static void
tear_down (Place *place, gconstpointer data)
{
  g_free (place->model);
  cli_remove_folder (place->folder);
}

/* @script with $G gantry-cli, $M the model and $F the folder, which has a cache of its own; what takes minutes is stopped: status 124. */
static CliResult *
run_script (const Place *place, const char *script)
{
  CliResult *result = g_new0 (CliResult, 1);
  g_autofree char *program = cli_program (), *cache = g_build_filename (place->folder, "cache", NULL);
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GError) error = NULL;

  g_subprocess_launcher_setenv (launcher, "G", program, TRUE);
  g_subprocess_launcher_setenv (launcher, "M", place->model, TRUE);
  g_subprocess_launcher_setenv (launcher, "F", place->folder, TRUE);
  g_subprocess_launcher_setenv (launcher, "XDG_CACHE_HOME", cache, TRUE);
  process = g_subprocess_launcher_spawn (launcher, &error, "timeout", "120", "sh", "-c", script, NULL);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, &result->out, &result->err, &error);
  g_assert_no_error (error);
  result->status = g_subprocess_get_if_exited (process) ? g_subprocess_get_exit_status (process) : -1;
  return result;
}

/* What is not known of memory is not measured: no figure, no status that depends on it, and a warning that says why. */
/* Who opens the session later, in the window too, reads in the recording's notes why there is no memory. */
static void
assert_session_says_why (const Place *place, const char *hidden)
{
  g_autoptr (CliResult) result = run_script (place, "\"$G\" export $F/s.gantry -o $F/s.json && cat $F/s.json; rm -f $F/s.gantry $F/s.json");
  const char *note;

  cli_assert_status (result, 0);
  note = strstr (result->out, "The memory was not measured: ");
  g_assert_nonnull (note);
  g_assert_nonnull (strstr (note, hidden));
}

static void
test_no_pages (Place *place, gconstpointer data)
{
  static const char *const hidden[] = { "maps", "pagemap" };
  g_autoptr (CliResult) may = run_script (place, "unshare -m true || unshare -rm true");

  if (may->status != 0)
    {
      g_test_skip ("files of /proc cannot be hidden here");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (hidden); i++)
    {
      g_autofree char *script = g_strdup_printf (
        "U='unshare -m'; $U true 2> /dev/null || U='unshare -rm';"
        " $U sh -c 'mount --bind /dev/null /proc/$$/%s && exec \"$G\" run \"$M\" -n 1 --limit 100%% --json -o $F/s.gantry'",
        hidden[i]);
      g_autofree char *probe = g_strdup_printf ("U='unshare -m'; $U true 2> /dev/null || U='unshare -rm';"
                                                " $U sh -c 'mount --bind /dev/null /proc/$$/%s && exec \"$G\" --version'",
                                                hidden[i]);
      g_autoptr (CliResult) starts = run_script (place, probe);
      g_autoptr (CliResult) result = starts->status == 0 ? run_script (place, script) : NULL;
      g_autoptr (JsonNode) json = NULL;
      JsonObject *object;

      if (result == NULL) /* AddressSanitizer wants to read its maps */
        {
          g_test_message ("the program does not begin without %s", hidden[i]);
          continue;
        }
      cli_assert_status (result, 0);
      g_assert_nonnull (strstr (result->err, "The memory was not measured: "));
      g_assert_nonnull (strstr (result->err, hidden[i]));
      g_assert_nonnull (strstr (result->err, "is not known"));
      json = cli_json (result);
      object = json_node_get_object (json);
      g_assert_true (json_object_get_null_member (object, "memory"));
      g_assert_true (json_object_get_null_member (object, "touched_bytes"));
      g_assert_nonnull (strstr (json_object_get_string_member (object, "not_measured"), hidden[i]));
      assert_session_says_why (place, hidden[i]);
    }
}

/* Where the system tells pages and not the whole process, what was touched is known, and of the process nothing is made up. */
static void
test_no_process (Place *place, gconstpointer data)
{
  static const char *const forms[] = { "", " --json" };
  g_autoptr (CliResult) may = run_script (place, "unshare -m true || unshare -rm true");

  if (may->status != 0)
    {
      g_test_skip ("files of /proc cannot be hidden here");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      g_autofree char *script = g_strdup_printf ("U='unshare -m'; $U true 2> /dev/null || U='unshare -rm';"
                                                 " $U sh -c 'mount --bind /dev/null /proc/$$/smaps && exec \"$G\" run \"$M\" -n 1%s'",
                                                 forms[i]);
      g_autoptr (CliResult) result = run_script (place, script);
      g_autoptr (JsonNode) json = NULL;
      JsonObject *memory;

      cli_assert_status (result, 0);
      if (i == 0)
        {
          g_assert_nonnull (strstr (result->out, "process    not known"));
          continue;
        }
      json = cli_json (result);
      g_assert_cmpint (json_object_get_int_member (json_node_get_object (json), "touched_bytes"), >, 0);
      memory = json_object_get_object_member (json_node_get_object (json), "memory");
      g_assert_true (json_object_get_null_member (memory, "process_bytes"));
      g_assert_true (json_object_get_null_member (memory, "owners"));
    }
}

/* However few threads there may be: a command does its work or says that it cannot, and neither waits nor ends by a signal. */
static void
test_no_threads (Place *place, gconstpointer data)
{
  static const char *const commands[] = { "run $M -n 1 -t 4", "solve $M --fit 100% -o $F/s.gantry", "calibrate --seconds 0.1 -t 1" };
  static const guint limits[] = { 1, 2, 3, 4, 5 };
  g_autoptr (CliResult) may = run_script (place, "test $(id -u) -ne 0 || setpriv --reuid " NOBODY " --clear-groups \"$G\" --version");
  guint n_refused = 0;

  if (may->status != 0)
    {
      g_test_skip ("there is no user here whose threads can be limited");
      return;
    }
  for (guint c = 0; c < G_N_ELEMENTS (commands); c++)
    for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
      {
        g_autofree char *script = g_strdup_printf ("U=; test $(id -u) -ne 0 || U='setpriv --reuid " NOBODY " --clear-groups';"
                                                   " exec $U prlimit --nproc=%u \"$G\" %s",
                                                   limits[i], commands[c]);
        g_autoptr (CliResult) result = run_script (place, script);

        if (result->status == 0)
          continue;
        cli_assert_status (result, 1);
        g_assert_nonnull (strstr (result->err, "hread")); /* ours, or that of the library of threads that a library of kernels uses */
        n_refused++;
      }
  g_assert_cmpuint (n_refused, >, 0);
}

/* An entry of a cache that is no file, or has no end, is as if it were not there. */
static void
test_cache (Place *place, gconstpointer data)
{
  static const char *const others[] = { "rm $k; mkfifo $k", "ln -sf /dev/zero $k", "rm $k; truncate -s 100G $k", "rm $k; mkdir $k" };
  g_autoptr (CliResult) made = run_script (place, "$G solve $M --fit 100% -o $F/s.gantry && ls $F/cache/gantry/kernels/*");

  cli_assert_status (made, 0);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autofree char *script = g_strdup_printf (
        "for k in $F/cache/gantry/kernels/*; do %s; done; $G solve $M --fit 100%% -o $F/s.gantry; s=$?; rm -r $F/cache; "
        "$G solve $M --fit 100%% -o $F/s.gantry > $F/again; exit $s",
        others[i]);
      g_autoptr (CliResult) result = run_script (place, script);

      cli_assert_status (result, 0);
    }
}

/* A program is a text: there is a limit to its length, which is what is said. */
static void
test_long_program (Place *place, gconstpointer data)
{
  g_autoptr (CliResult) info = run_script (place, "truncate -s 100G $F/h.py && exec $G info $F/h.py");
  g_autoptr (CliResult) python = run_script (place, "exec $G python $F/h.py");

  cli_assert_status (info, 1);
  cli_assert_one_error (info, "h.py: a text may have at most 1 GiB");
  cli_assert_status (python, 1);
  g_assert_nonnull (strstr (python->err, "h.py: a text may have at most 1 GiB"));
}

static void
test_statuses (Place *place, gconstpointer data)
{
  g_autoptr (CliResult) help = cli_run ("--help", NULL);

  for (char status = '0'; status <= '4'; status++)
    {
      const char text[] = { ' ', status, ' ', '\0' }, line[] = { '\n', status, ' ', '\0' };

      g_assert_true (strstr (strstr (help->out, "Exit status:"), text) != NULL || strstr (help->out, line) != NULL);
    }
}

/* Who has a session locked is named, and is not waited for long. */
static void
test_locked (Place *place, gconstpointer data)
{
  g_autofree char *session = g_build_filename (place->folder, "s.gantry", NULL);
  g_autoptr (CliResult) made = run_script (place, "$G plan $M -o $F/s.gantry"), locked = NULL;
  sqlite3 *db = NULL;
  g_autofree char *self = g_strdup_printf ("(process %d)", getpid ()), *locks = NULL;

  cli_assert_status (made, 0);
  g_assert_cmpint (sqlite3_open (session, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), ==, SQLITE_OK);
  locked = run_script (place, "exec $G info $F/s.gantry");
  cli_assert_status (locked, 1);
  cli_assert_one_error (locked, "s.gantry: the file is locked: ");
  if (g_file_get_contents ("/proc/locks", &locks, NULL, NULL) && *locks != '\0')
    g_assert_nonnull (strstr (locked->err, self));
  sqlite3_close (db);
}

/* Why something cannot be written or read is its true cause. */
static void
test_causes (Place *place, gconstpointer data)
{
  static const struct
  {
    const char *script, *said;
  } cases[] = {
    { "$U $G run $M -n 1 -o $F/ro/x.gantry > /dev/null", "ro/x.gantry: cannot be made: Permission denied" },
    { "$U $G run $M -n 1 --output-dir $F/ro/x > /dev/null", "ro/x: the folder cannot be made: Permission denied" },
    { ": > $F/e.gantry; exec $G info $F/e.gantry", "e.gantry: no session: the file is empty" },
    { "echo nothing > $F/e.gantry; exec $G info $F/e.gantry", "e.gantry: no session: it does not begin as a session does" },
    { ": > $F/e.hlo.pb; exec $G info $F/e.hlo.pb", "e.hlo.pb: the file is empty" },
    { ": > $F/e.onnx; exec $G info $F/e.onnx", "e.onnx: the file is empty" },
  };
  g_autoptr (CliResult) may = run_script (place, "test $(id -u) -ne 0 || setpriv --reuid " NOBODY " --clear-groups \"$G\" --version");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *script = g_strconcat ("U=; test $(id -u) -ne 0 || U='setpriv --reuid " NOBODY " --clear-groups'; mkdir -p $F/ro; "
                                             "chmod 0555 $F/ro; ",
                                             cases[i].script, NULL);
      g_autoptr (CliResult) result = NULL;

      if (may->status != 0 && strstr (script, "$U") != NULL)
        continue; /* root may write everywhere */
      result = run_script (place, script);
      cli_assert_status (result, 1);
      cli_assert_one_error (result, cases[i].said);
      g_assert_null (strstr (result->err, "ONNX"));
    }
}

/* A solver that cannot be loaded is an error like any other. */
static void
test_no_solver (Place *place, gconstpointer data)
{
  static const char *const commands[] = { "solve --fit 50%", "solve --at-most 1000", "pareto", "plan --fit 50%" };

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autofree char *script = g_strconcat ("mkdir -p $F/lib; : > $F/lib/libCbcSolver.so.3; LD_LIBRARY_PATH=$F/lib exec $G ", commands[i],
                                             " --no-kernels \"$GANTRY_SOURCE_ROOT/data/programs/mlp.gir\"", NULL);
      g_autoptr (CliResult) result = run_script (place, script);

      cli_assert_status (result, 1);
      cli_assert_one_error (result, "CBC cannot be used: libCbcSolver.so.3 (");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add ("/cli/deprived/" name, Place, NULL, set_up, function, tear_down)
  ADD ("pages", test_no_pages);
  ADD ("process", test_no_process);
  ADD ("threads", test_no_threads);
  ADD ("cache", test_cache);
  ADD ("long-program", test_long_program);
  ADD ("statuses", test_statuses);
  ADD ("locked", test_locked);
  ADD ("causes", test_causes);
  ADD ("solver", test_no_solver);
#undef ADD
  return g_test_run ();
}
