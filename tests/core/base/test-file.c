/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of core/base/file: what the file of a stranger may have opened. */
#include "core/base/error.h"
#include "core/base/file.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* outside/secret; home/model, home/weights, home/deep/weights, home/link and home/folder to the outside; and a hub's cache:
 * hub/blobs/1 (model) and 2 (weights), hub/snapshots/a/model and weights, which are links there, and a link to the secret. */
typedef struct
{
  char *top;
} Fixture;

static char *
in (const Fixture *f, const char *name)
{
  return g_build_filename (f->top, name, NULL);
}

static void
put (const Fixture *f, const char *name)
{
  g_autofree char *path = in (f, name), *folder = g_path_get_dirname (path);

  g_mkdir_with_parents (folder, 0700);
  g_assert_true (g_file_set_contents (path, name, -1, NULL));
}

static void
put_link (const Fixture *f, const char *name, const char *to)
{
  g_autofree char *path = in (f, name), *folder = g_path_get_dirname (path);

  g_mkdir_with_parents (folder, 0700);
  g_assert_cmpint (symlink (to, path), ==, 0);
}

static void
set_up (Fixture *f, gconstpointer data)
{
  f->top = g_dir_make_tmp ("file-test-XXXXXX", NULL);
  put (f, "outside/secret");
  put (f, "home/model");
  put (f, "home/weights");
  put (f, "home/deep/weights");
  put (f, "home-of-others/weights");
  put_link (f, "home/link", "../outside/secret");
  put_link (f, "home/folder", "../outside");
  put_link (f, "home/own", "deep/weights");
  put (f, "hub/blobs/1");
  put (f, "hub/blobs/2");
  put_link (f, "hub/snapshots/a/model", "../../blobs/1");
  put_link (f, "hub/snapshots/a/weights", "../../blobs/2");
  put_link (f, "hub/snapshots/a/trap", "../../../outside/secret");
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  const char *const argv[] = { "rm", "-r", f->top, NULL };

  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
  g_free (f->top);
}

/* @allowed: with the user's leave it opens in any case. */
static void
expect (const Fixture *f, const char *name, const char *owner, gboolean allowed)
{
  g_autofree char *path = in (f, name), *model = in (f, owner);
  g_autoptr (GError) error = NULL;
  g_autoptr (GMappedFile) file = gantry_file_map_beside (path, model, FALSE, &error);
  g_autoptr (GMappedFile) anyway = gantry_file_map_beside (path, model, TRUE, NULL);

  g_test_message ("%s for %s", name, owner);
  g_assert_nonnull (anyway);
  if (allowed)
    {
      g_assert_no_error (error);
      g_assert_nonnull (file);
      return;
    }
  g_assert_null (file);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_OUTSIDE);
  g_assert_nonnull (strstr (error->message, path));
}

static void
test_folder (Fixture *f, gconstpointer data)
{
  expect (f, "home/weights", "home/model", TRUE);
  expect (f, "home/deep/weights", "home/model", TRUE);
  expect (f, "home/own", "home/model", TRUE);
  expect (f, "home/deep/../weights", "home/model", TRUE);
  expect (f, "home/link", "home/model", FALSE);
  expect (f, "home/folder/secret", "home/model", FALSE);
  expect (f, "home/../outside/secret", "home/model", FALSE);
  expect (f, "home-of-others/weights", "home/model", FALSE);
  expect (f, "outside/secret", "home/model", FALSE);
}

static void
test_hub (Fixture *f, gconstpointer data)
{
  expect (f, "hub/snapshots/a/weights", "hub/snapshots/a/model", TRUE);
  expect (f, "hub/snapshots/a/trap", "hub/snapshots/a/model", FALSE);
  /* A model that is no link has no contents elsewhere. */
  expect (f, "hub/snapshots/a/weights", "home/model", FALSE);
}

static void
test_kinds (Fixture *f, gconstpointer data)
{
  g_autofree char *queue = in (f, "home/queue"), *model = in (f, "home/model"), *none = in (f, "home/none");
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (mkfifo (queue, 0600), ==, 0);
  g_assert_null (gantry_file_map_beside (queue, model, TRUE, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL);
  g_clear_error (&error);
  g_assert_null (gantry_file_map_beside ("/dev/zero", model, TRUE, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL);
  g_clear_error (&error);
  g_assert_null (gantry_file_map_beside (none, model, TRUE, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
  g_clear_error (&error);
  g_assert_null (gantry_file_read (queue, 100, NULL, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL);
}

/* What is longer than it may be is not read. */
static void
test_limits (Fixture *f, gconstpointer data)
{
  g_autofree char *model = in (f, "home/model"), *all = NULL;
  g_autoptr (GMappedFile) short_text = NULL;
  g_autoptr (GError) error = NULL;
  gsize size = 0;

  all = gantry_file_read (model, strlen ("home/model"), &size, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (all, ==, "home/model");
  g_assert_cmpuint (size, ==, strlen ("home/model"));
  g_assert_null (gantry_file_read (model, strlen ("home/model") - 1, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
  g_clear_error (&error);
  short_text = gantry_file_map_text (model, &error);
  g_assert_no_error (error);
  g_assert_cmpint (truncate (model, (off_t) GANTRY_FILE_MOST_TEXT + 1), ==, 0); /* without contents */
  g_assert_null (gantry_file_map_text (model, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
}

/* 16 pages of ones, of which one is left while they are mapped. (transfer full) */
static GMappedFile *
map_and_cut (const Fixture *f, char **path)
{
  g_autofree char *bytes = g_malloc (1 << 16);
  GMappedFile *mapped;

  *path = in (f, "cut");
  memset (bytes, 1, 1 << 16);
  g_assert_true (g_file_set_contents (*path, bytes, 1 << 16, NULL));
  mapped = gantry_file_map (*path, NULL);
  g_assert_nonnull (mapped);
  g_assert_cmpint (truncate (*path, 4096), ==, 0);
  return mapped;
}

static guint
sum (const char *bytes, gsize n)
{
  guint total = 0;

  for (gsize i = 0; i < n; i += 512)
    total += (guint) ((const volatile char *) bytes)[i];
  return total;
}

static void
test_zeros (Fixture *f, gconstpointer data)
{
  g_autofree char *path = NULL;
  g_autoptr (GMappedFile) mapped = NULL;

  if (g_test_subprocess ())
    {
      gantry_file_guard_start ();
      mapped = map_and_cut (f, &path);
      g_assert_cmpuint (sum (g_mapped_file_get_contents (mapped), 1 << 16), ==, 8);
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
}

static void
test_end (Fixture *f, gconstpointer data)
{
  g_autofree char *path = NULL;
  g_autoptr (GMappedFile) mapped = NULL;

  if (g_test_subprocess ())
    {
      gantry_file_guard_end ("a program");
      mapped = map_and_cut (f, &path);
      sum (g_mapped_file_get_contents (mapped), 1 << 16);
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*a program: *cut: changed while it was read,*");
}

/* What lies where a file was, after it was unmapped, is not ours: reading it ends in SIGBUS as ever. */
static void
test_unmapped (Fixture *f, gconstpointer data)
{
  g_autofree char *path = NULL, *other = in (f, "other");
  const char *place;
  int file;

  if (g_test_subprocess ())
    {
      GMappedFile *mapped;

      gantry_file_guard_start ();
      mapped = map_and_cut (f, &path);
      place = g_mapped_file_get_contents (mapped);
      g_mapped_file_unref (mapped);
      g_assert_true (g_file_set_contents (other, "x", 1, NULL));
      file = open (other, O_RDONLY | O_CLOEXEC);
      g_assert_true (mmap ((void *) place, 1 << 16, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == place);
      sum (place, 1 << 16);
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr_unmatched ("*changed*");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add ("/base/file/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("folder", test_folder);
  ADD ("hub", test_hub);
  ADD ("kinds", test_kinds);
  ADD ("limits", test_limits);
  ADD ("zeros", test_zeros);
  ADD ("end", test_end);
  ADD ("unmapped", test_unmapped);
#undef ADD
  return g_test_run ();
}
