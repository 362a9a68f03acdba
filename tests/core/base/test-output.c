/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of core/base/output: what was there stays until all of the new file is written, and nothing is left beside it,
 * whether a write fails at any byte or the process is killed. */
#include "core/base/error.h"
#include "core/base/output.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OLD "what was there"
#define NEW_BYTES 300000

typedef struct
{
  char *folder, *path;
  char *contents; /* NEW_BYTES */
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = g_dir_make_tmp ("output-XXXXXX", NULL);
  fixture->path = g_build_filename (fixture->folder, "file", NULL);
  fixture->contents = g_malloc (NEW_BYTES);
  memset (fixture->contents, 'n', NEW_BYTES);
  g_assert_true (g_file_set_contents (fixture->path, OLD, -1, NULL));
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_unlink (fixture->path);
  g_assert_cmpint (g_rmdir (fixture->folder), ==, 0);
  g_free (fixture->contents);
  g_free (fixture->path);
  g_free (fixture->folder);
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
assert_old (const Fixture *fixture)
{
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (fixture->path, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, OLD);
  g_assert_cmpuint (count_files (fixture->folder), ==, 1);
}

static void
test_replaces (Fixture *fixture, gconstpointer data)
{
  g_autofree char *link = g_build_filename (fixture->folder, "link", NULL), *text = NULL;
  g_autoptr (GError) error = NULL;
  struct stat info;
  gsize size;

  g_assert_cmpint (chmod (fixture->path, 0640), ==, 0);
  g_assert_cmpint (symlink ("file", link), ==, 0);
  g_assert_true (gantry_output_write (link, NULL, fixture->contents, NEW_BYTES, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  g_assert_true (g_file_get_contents (fixture->path, &text, &size, NULL));
  g_assert_cmpmem (text, size, fixture->contents, NEW_BYTES);
  g_assert_cmpint (stat (fixture->path, &info), ==, 0);
  g_assert_cmpuint (info.st_mode & 0777, ==, 0640);
  g_assert_cmpuint (count_files (fixture->folder), ==, 2);
  g_unlink (link);
}

/* Nobody reads the queue: that is an error and not a wait. Somebody does: it is written into. */
static void
test_queue (Fixture *fixture, gconstpointer data)
{
  g_autofree char *queue = g_build_filename (fixture->folder, "queue", NULL);
  g_autoptr (GError) error = NULL;
  char text[8];
  int reader;

  g_assert_cmpint (mkfifo (queue, 0600), ==, 0);
  alarm (60);
  g_assert_false (gantry_output_write (queue, NULL, "text", 4, &error));
  alarm (0);
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NXIO);
  g_assert_nonnull (strstr (error->message, "queue: is a queue that nobody reads"));
  reader = open (queue, O_RDONLY | O_NONBLOCK);
  g_assert_true (gantry_output_write (queue, NULL, "text", 4, NULL));
  g_assert_cmpint (read (reader, text, sizeof text), ==, 4);
  close (reader);
  g_unlink (queue);
}

/* A new file has the mode that the user's mask leaves. */
static void
test_new (Fixture *fixture, gconstpointer data)
{
  mode_t mask = umask (027);
  g_autoptr (GError) error = NULL;
  struct stat info;

  g_unlink (fixture->path);
  g_assert_true (gantry_output_write (fixture->path, NULL, "", 0, &error));
  g_assert_no_error (error);
  umask (mask);
  g_assert_cmpint (stat (fixture->path, &info), ==, 0);
  g_assert_cmpuint (info.st_mode & 0777, ==, 0640);
  g_assert_cmpint (info.st_size, ==, 0);
  g_assert_cmpuint (count_files (fixture->folder), ==, 1);
}

static void
test_dropped (Fixture *fixture, gconstpointer data)
{
  GantryOutput *output = gantry_output_new (fixture->path, NULL, NULL);

  g_assert_true (g_output_stream_write_all (gantry_output_stream (output), fixture->contents, NEW_BYTES, NULL, NULL, NULL));
  assert_old (fixture);
  gantry_output_free (output);
  assert_old (fixture);
}

/* The limit of a file's size stands for a disk that is full after as many bytes. */
static void
test_full (Fixture *fixture, gconstpointer data)
{
  struct rlimit before, limit;

  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  limit = before;
  for (gsize bytes = 0; bytes < NEW_BYTES; bytes = bytes * 3 / 2 + 1)
    {
      g_autoptr (GError) error = NULL;
      gboolean written;

      limit.rlim_cur = bytes;
      g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &limit), ==, 0);
      written = gantry_output_write (fixture->path, NULL, fixture->contents, NEW_BYTES, &error);
      g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
      g_assert_false (written);
      g_assert_nonnull (strstr (error->message, fixture->path));
      assert_old (fixture);
    }
  signal (SIGXFSZ, SIG_DFL);
}

static void
test_killed (Fixture *fixture, gconstpointer data)
{
  for (gsize bytes = 1; bytes < NEW_BYTES; bytes *= 7)
    {
      pid_t child = fork ();
      int status;

      if (child == 0)
        {
          GantryOutput *output = gantry_output_new (fixture->path, NULL, NULL);

          g_output_stream_write_all (gantry_output_stream (output), fixture->contents, bytes, NULL, NULL, NULL);
          raise (SIGKILL);
        }
      g_assert_cmpint (waitpid (child, &status, 0), ==, child);
      g_assert_true (WIFSIGNALED (status));
      assert_old (fixture);
    }
}

static void
test_device (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (gantry_output_write ("/dev/null", NULL, OLD, strlen (OLD), &error));
  g_assert_no_error (error);
  g_assert_false (gantry_output_write ("/dev/full", NULL, OLD, strlen (OLD), &error));
  g_assert_nonnull (strstr (error->message, "/dev/full"));
  g_clear_error (&error);
  g_assert_false (gantry_output_write (fixture->folder, NULL, OLD, strlen (OLD), &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_ISDIR);
}

/* What is read is not replaced, whether it was read before or while it was written; what was read of it may lie elsewhere by now, and
 * another file where it lay. */
static void
test_read (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GantryReadFiles) before = gantry_read_files_new (), meanwhile = gantry_read_files_new ();
  g_autofree char *other = g_build_filename (fixture->folder, "other", NULL);
  g_autoptr (GError) error = NULL;
  GantryOutput *output;

  gantry_read_files_add (before, fixture->path);
  g_assert_null (gantry_output_new (fixture->path, before, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_clear_error (&error);
  output = gantry_output_new (fixture->path, meanwhile, &error);
  g_assert_no_error (error);
  gantry_read_files_add_all (meanwhile, before);
  g_assert_false (gantry_output_finish (output, TRUE, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  gantry_output_free (output);
  assert_old (fixture);
  g_assert_cmpuint (count_files (fixture->folder), ==, 1);
  g_assert_cmpint (g_rename (fixture->path, other), ==, 0);
  g_assert_true (g_file_set_contents (fixture->path, OLD, -1, NULL));
  g_assert_false (gantry_output_write (other, before, "", 0, NULL));
  g_assert_false (gantry_output_write (fixture->path, before, "", 0, NULL));
  g_unlink (fixture->path);
  g_assert_true (gantry_output_write (fixture->path, before, "", 0, NULL));
  g_unlink (other);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add ("/base/output/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("replaces", test_replaces);
  ADD ("new", test_new);
  ADD ("dropped", test_dropped);
  ADD ("full", test_full);
  ADD ("killed", test_killed);
  ADD ("read", test_read);
  ADD ("device", test_device);
  ADD ("queue", test_queue);
#undef ADD
  return g_test_run ();
}
