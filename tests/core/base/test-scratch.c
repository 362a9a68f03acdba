/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of core/base/scratch: what a killed process left is removed, what belongs to a living one stays. */
#include "core/base/process-limits.h"
#include "core/base/scratch.h"
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Makes a folder with files in it, a link to @outside among them. */
static GantryScratch *
make (const char *outside)
{
  g_autoptr (GError) error = NULL;
  GantryScratch *scratch = gantry_scratch_new (&error);
  g_autofree char *file = NULL, *inner = NULL, *deep = NULL, *link = NULL;

  g_assert_no_error (error);
  file = gantry_scratch_file (scratch, "session.gantry");
  inner = gantry_scratch_file (scratch, "back");
  deep = g_build_filename (inner, "session.gantry", NULL);
  link = gantry_scratch_file (scratch, "link");
  g_assert_true (g_file_set_contents (file, "a", 1, NULL));
  g_assert_cmpint (g_mkdir (inner, 0700), ==, 0);
  g_assert_true (g_file_set_contents (deep, "b", 1, NULL));
  g_assert_cmpint (symlink (outside, link), ==, 0);
  return scratch;
}

static guint
count_files (const char *folder)
{
  g_autoptr (GDir) directory = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (directory) != NULL)
    n++;
  return n;
}

static void
test_private (void)
{
  g_autoptr (GantryScratch) scratch = gantry_scratch_new (NULL);
  struct stat info;

  g_assert_cmpint (stat (gantry_scratch_folder (scratch), &info), ==, 0);
  g_assert_cmpuint (info.st_mode & 0777, ==, 0700);
}

static void
test_removed (gconstpointer outside)
{
  GantryScratch *scratch = make (outside);
  g_autofree char *folder = g_strdup (gantry_scratch_folder (scratch));

  gantry_scratch_free (scratch);
  g_assert_false (g_file_test (folder, G_FILE_TEST_EXISTS));
  g_assert_cmpuint (count_files (outside), ==, 1);
}

static void
test_swept (gconstpointer outside)
{
  g_autoptr (GantryScratch) ours = make (outside);
  guint before = count_files (g_get_tmp_dir ());

  for (int i = 0; i < 3; i++)
    {
      pid_t child = fork ();
      int status;

      if (child == 0)
        {
          make (outside);
          raise (SIGKILL);
        }
      g_assert_cmpint (waitpid (child, &status, 0), ==, child);
      g_assert_true (WIFSIGNALED (status));
    }
  g_assert_cmpuint (count_files (g_get_tmp_dir ()), ==, before + 3);
  g_assert_cmpuint (gantry_scratch_sweep (), ==, 3);
  g_assert_cmpuint (count_files (g_get_tmp_dir ()), ==, before);
  g_assert_true (g_file_test (gantry_scratch_folder (ours), G_FILE_TEST_IS_DIR));
  g_assert_cmpuint (count_files (outside), ==, 1);
}

/* A link by that name is somebody's trap. */
static void
test_trap (gconstpointer outside)
{
  g_autofree char *link = g_build_filename (g_get_tmp_dir (), "gantry-scratch-trap00", NULL);

  g_assert_cmpint (symlink (outside, link), ==, 0);
  g_assert_cmpuint (gantry_scratch_sweep (), ==, 0);
  g_assert_cmpuint (count_files (outside), ==, 1);
  g_unlink (link);
}

/* While others sweep without a pause every folder is made, and none is taken away. */
static void
test_race (void)
{
  pid_t sweepers[2], self = getpid ();

  for (guint i = 0; i < G_N_ELEMENTS (sweepers); i++)
    {
      sweepers[i] = fork ();
      if (sweepers[i] == 0 && !gantry_process_end_with (self, SIGKILL, NULL))
        _exit (1);
      while (sweepers[i] == 0)
        gantry_scratch_sweep ();
    }
  for (guint i = 0; i < 4000; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryScratch) scratch = gantry_scratch_new (&error);

      g_assert_no_error (error);
      g_assert_true (g_file_test (gantry_scratch_folder (scratch), G_FILE_TEST_IS_DIR));
    }
  for (guint i = 0; i < G_N_ELEMENTS (sweepers); i++)
    {
      kill (sweepers[i], SIGKILL);
      g_assert_cmpint (waitpid (sweepers[i], NULL, 0), ==, sweepers[i]);
    }
}

/* The tests have a folder for temporary files of their own, for others make and sweep at the same time. */
static int
run_in_own_folder (char **argv)
{
  g_autofree char *folder = g_dir_make_tmp ("scratch-test-XXXXXX", NULL), *kept = g_build_filename (folder, "outside", "kept", NULL);
  g_autofree char *outside = g_path_get_dirname (kept), *temporary = g_build_filename (folder, "tmp", NULL);
  g_auto (GStrv) environment = g_get_environ ();
  int status = -1;

  g_assert_cmpint (g_mkdir (outside, 0700), ==, 0);
  g_assert_cmpint (g_mkdir (temporary, 0700), ==, 0);
  g_assert_true (g_file_set_contents (kept, "", 0, NULL));
  environment = g_environ_setenv (environment, "TMPDIR", temporary, TRUE);
  environment = g_environ_setenv (environment, "SCRATCH_TEST", outside, TRUE);
  g_spawn_sync (NULL, argv, environment, G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL, NULL, NULL, &status, NULL);
  g_unlink (kept);
  g_rmdir (outside);
  g_rmdir (temporary);
  g_rmdir (folder);
  return g_spawn_check_wait_status (status, NULL) ? 0 : 1;
}

int
main (int argc, char **argv)
{
  const char *outside = g_getenv ("SCRATCH_TEST");

  if (outside == NULL)
    return run_in_own_folder (argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/scratch/private", test_private);
  g_test_add_data_func ("/base/scratch/removed", outside, test_removed);
  g_test_add_data_func ("/base/scratch/swept", outside, test_swept);
  g_test_add_data_func ("/base/scratch/trap", outside, test_trap);
  g_test_add_func ("/base/scratch/race", test_race);
  return g_test_run ();
}
