/* SPDX-License-Identifier: Apache-2.0 */
/* Output is never lost silently: what standard output refuses is an error, and a file that cannot be written whole leaves
 * what was there. The command line is run by a shell, which sets where its output goes and how large a file may be. */
#include "tests/app/cli/cli-test.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Runs gantry-cli as "$0" of a shell command; the paths are "$1", "$2". */
static CliResult *
run_in_shell (const char *command, const char *first, const char *second)
{
  CliResult *result = g_new0 (CliResult, 1);
  g_autofree char *program = cli_program ();
  const char *const argv[] = { "/bin/sh", "-c", command, program, first, second, NULL };
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GError) error = NULL;

  process = g_subprocess_newv (argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, &result->out, &result->err, &error);
  g_assert_no_error (error);
  result->status = g_subprocess_get_if_exited (process) ? g_subprocess_get_exit_status (process) : -1;
  return result;
}

/* One command of each way to print: usage, text, JSON, a stream. */
static void
test_standard_output (void)
{
  static const char *const commands[] = { "--help",        "--version",          "run --help",
                                          "python --help", "info \"$1\"",        "info --json \"$1\"",
                                          "passes \"$1\"", "plan --json \"$1\"", "run --json --runs=1 \"$1\"",
                                          "devices" };
  g_autofree char *path = cli_own_file ("sample.onnx");

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autofree char *full = g_strconcat ("\"$0\" ", commands[i], " > /dev/full", NULL);
      g_autofree char *closed = g_strconcat ("\"$0\" ", commands[i], " >&-", NULL);
      g_autoptr (CliResult) refused = run_in_shell (full, path, NULL), without = run_in_shell (closed, path, NULL);

      g_test_message ("%s", commands[i]);
      cli_assert_status (refused, 1);
      cli_assert_one_error (refused, "standard output");
      cli_assert_status (without, 1);
      cli_assert_one_error (without, "standard output");
    }
}

/* A command that prints nothing needs no standard output; what it cannot do it says itself. */
static void
test_nothing_printed (void)
{
  g_autofree char *path = cli_own_file ("unknown-operation.onnx");
  g_autoptr (CliResult) result = run_in_shell ("\"$0\" run \"$1\" >&-", path, NULL);

  cli_assert_status (result, 3);
}

static void
assert_old (const char *folder, const char *path)
{
  g_autofree char *text = NULL;
  g_autoptr (GDir) directory = g_dir_open (folder, 0, NULL);
  guint n = 0;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "what was there");
  while (g_dir_read_name (directory) != NULL)
    n++;
  g_assert_cmpuint (n, ==, 1);
}

/* A disk that is full after 512 bytes: the limit of a file's size says the same at the same call. */
static void
test_files (void)
{
  static const struct
  {
    const char *name, *command;
  } cases[] = {
    { "graph.svg", "render \"$1\" -o \"$2\"" },
    { "graph.png", "render \"$1\" -o \"$2\"" },
    { "graph.dot", "render \"$1\" -o \"$2\"" },
    { "model.onnx", "export \"$1\" --snapshot=legalize -o \"$2\"" },
    { "model.mlir", "export \"$1\" -o \"$2\"" },
    { "model.gir", "export \"$1\" -o \"$2\"" },
    { "kernels.csv", "run --runs=1 --kernels \"$2\" \"$1\"" },
    { "output_0.npy", "run --runs=1 --output-dir \"$(dirname \"$2\")\" \"$1\"" },
  };
  g_autofree char *model = cli_own_file ("sample.onnx");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gboolean small = strcmp (cases[i].name, "output_0.npy") == 0;
      g_autofree char *folder = cli_temporary_folder (), *path = g_build_filename (folder, cases[i].name, NULL);
      g_autofree char *command = g_strconcat ("trap '' XFSZ; ulimit -f ", small ? "0" : "1", "; \"$0\" ", cases[i].command, NULL);
      g_autoptr (CliResult) result = NULL;

      g_test_message ("%s", cases[i].command);
      g_assert_true (g_file_set_contents (path, "what was there", -1, NULL));
      result = run_in_shell (command, model, path);
      cli_assert_status (result, 1);
      g_assert_nonnull (strstr (result->err, path));
      assert_old (folder, path);
      cli_remove_folder (g_steal_pointer (&folder));
    }
}

/* What is read is not replaced by what is made of it. */
static void
test_own_input (void)
{
  g_autofree char *folder = cli_temporary_folder (), *model = cli_own_file ("sample.onnx"), *before = NULL, *after = NULL;
  g_autofree char *path = g_build_filename (folder, "model.onnx", NULL);
  g_autoptr (CliResult) kernels = NULL;
  gsize n_before, n_after;

  g_assert_true (g_file_get_contents (model, &before, &n_before, NULL));
  g_assert_true (g_file_set_contents (path, before, (gssize) n_before, NULL));
  kernels = cli_run ("run", "--runs=1", "--kernels", path, path, NULL);
  cli_assert_status (kernels, 1);
  g_assert_nonnull (strstr (kernels->err, "is what is read"));
  g_assert_true (g_file_get_contents (path, &after, &n_after, NULL));
  g_assert_cmpmem (before, n_before, after, n_after);
  cli_remove_folder (g_steal_pointer (&folder));
}

/* No command tries to make so many threads. */
static void
test_threads (void)
{
  static const char *const commands[] = { "run", "profile", "compile", "calibrate" }, *const numbers[] = { "100000000", "-1" };
  g_autofree char *model = cli_own_file ("sample.onnx");

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    for (guint k = 0; k < G_N_ELEMENTS (numbers); k++)
      {
        const char *argument = strcmp (commands[i], "calibrate") == 0 ? NULL : model;
        g_autoptr (CliResult) many = cli_run (commands[i], "-t", numbers[k], argument, NULL);

        cli_assert_status (many, 1);
        cli_assert_one_error (many, "--threads is from 1 to 1024");
      }
}

/* Two outputs, of which the second does not fit: the first is the old one too. */
static void
test_outputs_together (void)
{
  g_autofree char *folder = cli_temporary_folder (), *model = g_build_filename (folder, "two.gir", NULL);
  g_autofree char *first = g_build_filename (folder, "output_0.npy", NULL), *second = g_build_filename (folder, "output_1.npy", NULL);
  g_autofree char *text = NULL;
  g_autoptr (CliResult) refused = NULL, done = NULL;

  g_assert_true (g_file_set_contents (model,
                                      "module \"two\" {\n  func @main #1 (%1 \"x\": f32[4], %2 \"y\": f32[4000]) -> (%3, %4) {\n"
                                      "    %3 = tanh(%1): f32[4]\n    %4 = tanh(%2): f32[4000]\n  }\n}\n",
                                      -1, NULL));
  g_assert_true (g_file_set_contents (first, "what was there", -1, NULL));
  refused = run_in_shell ("trap '' XFSZ; ulimit -f 4; \"$0\" run --runs=1 --output-dir=\"$2\" \"$1\"", model, folder);
  g_assert_cmpint (refused->status, ==, 1);
  g_assert_nonnull (strstr (refused->err, "output_1.npy"));
  g_assert_true (g_file_get_contents (first, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, "what was there");
  g_assert_false (g_file_test (second, G_FILE_TEST_EXISTS));
  done = cli_run ("run", "--runs=1", "--output-dir", folder, model, NULL);
  cli_assert_status (done, 0);
  g_assert_true (g_file_test (second, G_FILE_TEST_EXISTS));
  cli_remove_folder (g_steal_pointer (&folder));
}

static gboolean
has_open (GSubprocess *process, const char *path)
{
  g_autofree char *folder = g_strdup_printf ("/proc/%s/fd", g_subprocess_get_identifier (process));
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  gboolean found = FALSE;
  const char *name;

  g_assert_nonnull (dir); /* it has ended */
  while (!found && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *link = g_build_filename (folder, name, NULL), *file = g_file_read_link (link, NULL);

      found = g_strcmp0 (file, path) == 0;
    }
  return found;
}

/* "many": @n results, one after the other. */
static void
write_many (const char *model, guint n)
{
  g_autoptr (GString) text = g_string_new ("module \"many\" {\n  func @main #1 (%1 \"x\": f32[4]) -> (");

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%%%u", i > 0 ? ", " : "", i + 2);
  g_string_append (text, ") {\n");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "    %%%u = tanh(%%%u): f32[4]\n", i + 2, i + 1);
  g_string_append (text, "  }\n}\n");
  g_assert_true (g_file_set_contents (model, text->str, -1, NULL));
}

/* More outputs than are open at a time, of which one cannot take its place, because a folder has it by then: how many are new is said, and
 * once. A queue that is full holds the program up where it has begun to write them. */
static void
test_many_outputs (void)
{
  g_autofree char *folder = cli_temporary_folder (), *model = g_build_filename (folder, "many.gir", NULL), *cli = cli_program ();
  g_autofree char *queue = g_build_filename (folder, "output_258.npy", NULL), *taken = g_build_filename (folder, "output_257.npy", NULL);
  g_autofree char *last = g_build_filename (folder, "output_256.npy", NULL), *err = NULL;
  char bytes[4096] = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) process = NULL;
  int end;

  write_many (model, 260);
  g_assert_cmpint (mkfifo (queue, 0600), ==, 0);
  end = g_open (queue, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0);
  g_assert_cmpint (end, >=, 0);
  while (write (end, bytes, sizeof bytes) > 0)
    ;
  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error, cli, "run", "--runs=1", "--output-dir", folder, model,
                              NULL);
  g_assert_no_error (error);
  while (!has_open (process, queue))
    g_usleep (1000);
  g_assert_cmpint (g_mkdir (taken, 0700), ==, 0);
  while (read (end, bytes, sizeof bytes) > 0)
    ;
  g_assert_true (g_subprocess_communicate_utf8 (process, NULL, NULL, NULL, &err, &error));
  close (end);
  g_assert_cmpint (g_subprocess_get_exit_status (process), ==, 1);
  g_test_message ("%s", err);
  g_assert_nonnull (strstr (err, "gantry-cli run: 257 of the outputs are new, those from output_257.npy on are not: "));
  g_assert_null (strstr (err, "the first"));
  g_assert_true (g_file_test (last, G_FILE_TEST_EXISTS));
  g_assert_cmpint (g_rmdir (taken), ==, 0);
  cli_remove_folder (g_steal_pointer (&folder));
}

static gboolean
maps (GSubprocess *process, const char *path)
{
  const char *pid = g_subprocess_get_identifier (process);
  g_autofree char *name = pid != NULL ? g_strdup_printf ("/proc/%s/maps", pid) : NULL, *text = NULL;

  g_assert_nonnull (pid); /* it has ended before it read the file */
  return g_file_get_contents (name, &text, NULL, NULL) && strstr (text, path) != NULL;
}

/* A pipe of which @room bytes are free. */
static void
open_full_pipe (int *ends, gsize room)
{
  g_autofree char *filling = NULL;
  int size;

  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  size = fcntl (ends[1], F_SETPIPE_SZ, 4096);
  g_assert_cmpint (size, >, (int) room);
  filling = g_strnfill ((gsize) size - room, '.');
  g_assert_cmpint (write (ends[1], filling, (gsize) size - room), ==, size - (int) room);
}

static int
bytes_in (int end)
{
  int n = -1;

  g_assert_cmpint (ioctl (end, FIONREAD, &n), ==, 0);
  return n;
}

/* The program waits at its third line of progress, until the file that it has mapped by then is cut. Before its second line it maps
 * the file to identify it, which is not meant. */
static void
test_cut_while_read (void)
{
  static const char lines[] = "progress -1.000 Opening\nprogress 0.000 opening the file\n";
  g_autofree char *program = cli_program (), *from = cli_own_file ("sample.onnx"), *folder = cli_temporary_folder ();
  g_autofree char *path = g_build_filename (folder, "cut.onnx", NULL), *bytes = NULL, *err = NULL;
  const char *const argv[] = { program, "run", "--progress", path, NULL };
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GError) error = NULL;
  char buffer[4096];
  int ends[2], filled;
  gsize size;

  g_assert_true (g_file_get_contents (from, &bytes, &size, NULL) && g_file_set_contents (path, bytes, (gssize) size, NULL));
  open_full_pipe (ends, sizeof lines + 8);
  filled = bytes_in (ends[0]);
  g_subprocess_launcher_take_stdout_fd (launcher, ends[1]);
  process = g_subprocess_launcher_spawnv (launcher, argv, &error);
  g_assert_no_error (error);
  g_subprocess_launcher_close (launcher);
  while (bytes_in (ends[0]) - filled < (int) sizeof lines - 1)
    {
      g_assert_nonnull (g_subprocess_get_identifier (process)); /* it has ended before */
      g_usleep (2000);
    }
  while (!maps (process, path))
    g_usleep (2000);
  g_assert_cmpint (truncate (path, 4096), ==, 0);
  while (read (ends[0], buffer, sizeof buffer) > 0)
    ;
  close (ends[0]);
  g_assert_true (g_subprocess_communicate_utf8 (process, NULL, NULL, NULL, &err, &error));
  g_assert_true (g_subprocess_get_if_exited (process));
  g_assert_cmpint (g_subprocess_get_exit_status (process), ==, 1);
  if (strstr (err, "cut.onnx: changed while it was read") == NULL)
    g_error ("another error: %s", err);
  cli_remove_folder (g_steal_pointer (&folder));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/output/standard-output", test_standard_output);
  g_test_add_func ("/cli/output/nothing-printed", test_nothing_printed);
  g_test_add_func ("/cli/output/files", test_files);
  g_test_add_func ("/cli/output/own-input", test_own_input);
  g_test_add_func ("/cli/output/threads", test_threads);
  g_test_add_func ("/cli/output/outputs-together", test_outputs_together);
  g_test_add_func ("/cli/output/many-outputs", test_many_outputs);
  g_test_add_func ("/cli/output/cut-while-read", test_cut_while_read);
  return g_test_run ();
}
