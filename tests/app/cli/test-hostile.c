/* SPDX-License-Identifier: Apache-2.0 */
/* Models of strangers on the command line: what they read outside their folder, and sizes that no machine has. */
#include "core/base/process-memory.h"
#include "core/compiler/model.h"
#include "tests/app/cli/cli-test.h"
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READER \
  "module \"reader\" {\n  func @main #1 (%%1 \"x\": f32[4]) -> (%%3) {\n" \
  "    %%2 = constant() {value = file<f32[4]: \"%s\", 0, 16>}: f32[4]\n" \
  "    %%3 = add(%%1, %%2): f32[4]\n  }\n}\n"
#define LARGE \
  "module \"large\" {\n  func @main #1 (%1 \"x\": f32[1000000000000]) -> (%2) {\n" \
  "    %2 = negate(%1): f32[1000000000000]\n  }\n}\n"

/* Writes a model that reads @secret. (transfer full): its path */
static char *
write_reader (const char *folder, const char *secret)
{
  char *path = g_build_filename (folder, "reader.gir", NULL);
  g_autofree char *text = g_strdup_printf (READER, secret);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  return path;
}

static void
test_outside (void)
{
  char *folder = cli_temporary_folder (), *outside = cli_temporary_folder ();
  g_autofree char *secret = g_build_filename (outside, "secret", NULL), *inside = g_build_filename (folder, "own", NULL);
  g_autofree char *model = write_reader (folder, secret), *own = NULL, *session = g_build_filename (outside, "s.gantry", NULL);
  static const char *const commands[] = { "info", "passes", "run", "plan" };

  g_assert_true (g_file_set_contents (secret, "secret of someone", -1, NULL));
  g_assert_true (g_file_set_contents (inside, "inside, not a secret", -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autoptr (CliResult) refused = cli_run (commands[i], model, NULL), allowed = cli_run (commands[i], "--allow-outside", model, NULL);

      cli_assert_status (refused, 1);
      cli_assert_one_error (refused, "--allow-outside");
      cli_assert_status (allowed, 0);
    }
  {
    g_autoptr (CliResult) saved = cli_run ("run", "--allow-outside", "--runs=1", "-o", session, model, NULL);
    g_autoptr (CliResult) again = cli_run ("info", session, NULL);

    /* The leave is in no file: a session may come from somebody else. */
    cli_assert_status (saved, 0);
    cli_assert_status (again, 1);
    cli_assert_one_error (again, "--allow-outside");
  }
  own = write_reader (folder, inside);
  {
    g_autoptr (CliResult) result = cli_run ("run", "--runs=1", own, NULL);

    cli_assert_status (result, 0);
  }
  cli_remove_folder (folder);
  cli_remove_folder (outside);
}

/* Values that a text reads from another file are of the model: that file is one of its files, and in its hash. */
static void
test_identity (void)
{
  char *folder = cli_temporary_folder ();
  g_autofree char *data = g_build_filename (folder, "data", NULL), *path = write_reader (folder, data);
  char *hashes[2];
  static const char *const values[] = { "sixteen bytes, a", "sixteen bytes, b" };

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GantryModel) model = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_true (g_file_set_contents (data, values[i], -1, NULL));
      model = gantry_model_open (path, NULL, -1, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (model->files->len, ==, 2);
      g_assert_cmpstr (g_array_index (model->files, GantryModelFile, 1).path, ==, data);
      hashes[i] = gantry_model_hash (model, &error);
      g_assert_no_error (error);
    }
  g_assert_cmpstr (hashes[0], !=, hashes[1]);
  g_free (hashes[0]);
  g_free (hashes[1]);
  cli_remove_folder (folder);
}

/* A session is a file: what cannot be one is refused, and a queue is not waited for. */
static void
test_no_file (void)
{
  char *folder = cli_temporary_folder ();
  g_autofree char *queue = g_build_filename (folder, "queue", NULL), *picture = g_build_filename (folder, "queue.svg", NULL);
  g_autofree char *model = cli_own_file ("sample.onnx");

  g_assert_cmpint (mkfifo (queue, 0600), ==, 0);
  g_assert_cmpint (mkfifo (picture, 0600), ==, 0);
  {
    g_autoptr (CliResult) session = cli_run ("plan", "-o", queue, model, NULL), device = cli_run ("plan", "-o", "/dev/full", model, NULL);
    g_autoptr (CliResult) drawn = cli_run ("render", "-o", picture, model, NULL);

    cli_assert_status (session, 1);
    cli_assert_one_error (session, "queue: is a queue and not a file");
    cli_assert_status (device, 1);
    cli_assert_one_error (device, "/dev/full: is a device and not a file");
    cli_assert_status (drawn, 1);
    cli_assert_one_error (drawn, "is a queue that nobody reads");
  }
  cli_remove_folder (folder);
}

/* Nor is a program that cannot be one read until it ends. */
static void
test_no_program (void)
{
  char *folder = cli_temporary_folder ();
  g_autofree char *queue = g_build_filename (folder, "queue.py", NULL), *device = g_build_filename (folder, "device.py", NULL);
  static const char *const commands[] = { "python", "check" };

  g_assert_cmpint (mkfifo (queue, 0600), ==, 0);
  g_assert_cmpint (symlink ("/dev/zero", device), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autoptr (CliResult) waiting = cli_run (commands[i], queue, NULL), endless = cli_run (commands[i], device, NULL);

      cli_assert_status (waiting, 1);
      g_assert_nonnull (strstr (waiting->err, "queue.py: is a queue and not a file"));
      cli_assert_status (endless, 1);
      g_assert_nonnull (strstr (endless->err, "device.py: is a device and not a file"));
    }
  cli_remove_folder (folder);
}

/* A program is not what stands before its first NUL: none of it runs. */
static void
test_null_byte (void)
{
  static const char text[] = "print('ran')\n\0raise ValueError('hidden')\n";
  char *folder = cli_temporary_folder ();
  g_autofree char *program = g_build_filename (folder, "program.py", NULL);
  g_autoptr (CliResult) result = NULL;

  g_assert_true (g_file_set_contents (program, text, sizeof text - 1, NULL));
  result = cli_run ("python", program, NULL);
  cli_assert_status (result, 1);
  g_assert_nonnull (strstr (result->err, "source code cannot contain null bytes"));
  g_assert_cmpstr (result->out, ==, "");
  cli_remove_folder (folder);
}

/* That nothing was found is said, and is no success. */
static void
test_no_graph (void)
{
  char *folder = cli_temporary_folder ();
  g_autofree char *program = g_build_filename (folder, "program.py", NULL);
  g_autoptr (CliResult) result = NULL;

  g_assert_true (g_file_set_contents (program, "pass\n", -1, NULL));
  result = cli_run ("check", program, NULL);
  cli_assert_status (result, 1);
  cli_assert_one_error (result, "makes no graph");
  cli_remove_folder (folder);
}

static void
test_large (void)
{
  char *folder = cli_temporary_folder ();
  g_autofree char *model = g_build_filename (folder, "large.gir", NULL);
  g_autoptr (CliResult) result = NULL;

  g_assert_true (g_file_set_contents (model, LARGE, -1, NULL));
  result = cli_run ("run", "--runs=1", model, NULL);
  cli_assert_status (result, 1);
  cli_assert_one_error (result, "this machine has");
  cli_remove_folder (folder);
}

/* A plan and what it copies in and out, which each fit into the machine and do not together. */
static void
test_large_together (void)
{
  guint64 n = gantry_process_memory_of_machine () / 10 * 4 / sizeof (float);
  char *folder = cli_temporary_folder ();
  g_autofree char *model = g_build_filename (folder, "large.gir", NULL);
  g_autofree char *text = g_strdup_printf ("module \"large\" {\n  func @main #1 (%%1 \"x\": f32[%1$" G_GUINT64_FORMAT "]) -> (%%4, %%1) {\n"
                                           "    %%2 = exponential(%%1): f32[%1$" G_GUINT64_FORMAT
                                           "]\n    %%3 = optimization_barrier(%%2): f32[%1$" G_GUINT64_FORMAT "]\n"
                                           "    %%4 = reduce(%%3) {dimensions = [0], kind = \"add\"}: f32[]\n  }\n}\n",
                                           n);
  g_autoptr (CliResult) result = NULL;

  g_assert_true (g_file_set_contents (model, text, -1, NULL));
  result = cli_run ("run", "--runs=1", "--input=zeros", model, NULL);
  cli_assert_status (result, 1);
  cli_assert_one_error (result, "inputs and outputs that are copied");
  cli_remove_folder (folder);
}

/* A policy or a target that has no end is refused at once. */
static void
test_endless (void)
{
  static const char *const options[] = { "--policy=/dev/zero", "--target=/dev/zero" };
  g_autofree char *model = cli_own_file ("sample.onnx");

  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      g_autoptr (CliResult) result = cli_run ("plan", options[i], model, NULL);

      cli_assert_status (result, 1);
      cli_assert_one_error (result, "is a device");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/hostile/outside", test_outside);
  g_test_add_func ("/cli/hostile/identity", test_identity);
  g_test_add_func ("/cli/hostile/no-file", test_no_file);
  g_test_add_func ("/cli/hostile/no-program", test_no_program);
  g_test_add_func ("/cli/hostile/no-graph", test_no_graph);
  g_test_add_func ("/cli/hostile/null-byte", test_null_byte);
  g_test_add_func ("/cli/hostile/large", test_large);
  g_test_add_func ("/cli/hostile/large-together", test_large_together);
  g_test_add_func ("/cli/hostile/endless", test_endless);
  return g_test_run ();
}
