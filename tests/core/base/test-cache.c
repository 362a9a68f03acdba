/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of core/base/cache: what was used last stays, within the budget; nothing outside is touched. */
#include "core/base/cache.h"
#include "core/base/scratch.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ENTRY_BYTES (64 * 1024)

typedef struct
{
  GantryScratch *scratch;
  char *cache, *outside;
} Fixture;

/* A file of ENTRY_BYTES in the cache that was used @seconds ago. */
static void
add (const Fixture *fixture, const char *name, gint64 seconds)
{
  g_autofree char *path = g_build_filename (fixture->cache, name, NULL), *folder = g_path_get_dirname (path);
  g_autofree char *bytes = g_malloc0 (ENTRY_BYTES);
  struct timespec times[2] = { { .tv_sec = time (NULL) - seconds }, { .tv_sec = time (NULL) - seconds } };

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, bytes, ENTRY_BYTES, NULL));
  g_assert_cmpint (utimensat (AT_FDCWD, path, times, 0), ==, 0);
  g_assert_cmpint (utimensat (AT_FDCWD, folder, times, 0), ==, 0);
}

static gboolean
has (const Fixture *fixture, const char *name)
{
  g_autofree char *path = g_build_filename (fixture->cache, name, NULL);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autofree char *kept = NULL, *link = NULL;

  fixture->scratch = gantry_scratch_new (NULL);
  g_assert_nonnull (fixture->scratch);
  fixture->cache = gantry_scratch_file (fixture->scratch, "cache");
  fixture->outside = gantry_scratch_file (fixture->scratch, "outside");
  add (fixture, "cubin/old", 5000);
  add (fixture, "cubin/new", 2000);
  add (fixture, "kernels/older", 6000);
  add (fixture, "models/hash/model", 4000);
  add (fixture, "models/hash/weights", 4500);
  /* Neither a link to a folder nor what lies beside the folders is an entry. */
  g_assert_cmpint (g_mkdir_with_parents (fixture->outside, 0700), ==, 0);
  kept = g_build_filename (fixture->outside, "kept", NULL);
  g_assert_true (g_file_set_contents (kept, "", 0, NULL));
  link = g_build_filename (fixture->cache, "link", NULL);
  g_assert_cmpint (symlink (fixture->outside, link), ==, 0);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_autofree char *kept = g_build_filename (fixture->outside, "kept", NULL);

  g_assert_true (g_file_test (kept, G_FILE_TEST_EXISTS));
  gantry_scratch_free (fixture->scratch);
  g_free (fixture->cache);
  g_free (fixture->outside);
}

static void
test_fits (Fixture *fixture, gconstpointer data)
{
  g_assert_cmpuint (gantry_cache_trim (fixture->cache, 8 * ENTRY_BYTES, 0), ==, 0);
  g_assert_true (has (fixture, "kernels/older"));
}

/* One after the other goes, and a folder goes whole. */
static void
test_oldest_first (Fixture *fixture, gconstpointer data)
{
  g_assert_cmpuint (gantry_cache_trim (fixture->cache, 5 * ENTRY_BYTES - 1, 0), ==, 1);
  g_assert_false (has (fixture, "kernels/older"));
  g_assert_cmpuint (gantry_cache_trim (fixture->cache, 3 * ENTRY_BYTES + 8192, 0), ==, 1);
  g_assert_false (has (fixture, "cubin/old"));
  g_assert_true (has (fixture, "models/hash/weights"));
  g_assert_cmpuint (gantry_cache_trim (fixture->cache, 2 * ENTRY_BYTES, 0), ==, 1);
  g_assert_false (has (fixture, "models/hash"));
  g_assert_true (has (fixture, "cubin/new"));
}

static void
test_used (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = g_build_filename (fixture->cache, "kernels", "older", NULL);

  gantry_cache_use (path);
  g_assert_cmpuint (gantry_cache_trim (fixture->cache, ENTRY_BYTES, 0), ==, 3);
  g_assert_true (has (fixture, "kernels/older"));
}

static void
test_spared (Fixture *fixture, gconstpointer data)
{
  g_assert_cmpuint (gantry_cache_trim (fixture->cache, 0, 4200), ==, 2);
  g_assert_true (has (fixture, "models/hash/weights") && has (fixture, "cubin/new"));
}

/* Entries whose folders may not be written to: neither removed nor counted as such. Root may, so that root becomes another user. */
static void
test_not_removable (Fixture *fixture, gconstpointer data)
{
  const char *const kinds[] = { "cubin", "kernels", "models" };
  pid_t child;
  int status;

  chmod (gantry_scratch_folder (fixture->scratch), 0755);
  chmod (fixture->cache, 0755);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *kind = g_build_filename (fixture->cache, kinds[i], NULL);

      chmod (kind, 0555);
    }
  child = fork ();
  if (child == 0)
    {
      if (geteuid () == 0 && setuid (64321) != 0)
        _exit (77);
      _exit (gantry_cache_trim (fixture->cache, 0, 0) == 0 ? 0 : 1);
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *kind = g_build_filename (fixture->cache, kinds[i], NULL);

      chmod (kind, 0700);
    }
  if (WEXITSTATUS (status) == 77)
    g_test_skip ("root cannot become another user");
  else
    g_assert_cmpint (status, ==, 0);
  g_assert_true (has (fixture, "cubin/old"));
}

#define LINK_BYTES (4 * 1024 * 1024)

/* @n entries of LINK_BYTES, links to one file: each counts as a whole. */
static void
add_links (const char *cache, const char *kind, guint n, gint64 seconds)
{
  g_autofree char *folder = g_build_filename (cache, kind, NULL), *first = g_build_filename (folder, "0", NULL);
  g_autofree char *bytes = g_malloc0 (LINK_BYTES);
  struct timespec times[2] = { { .tv_sec = time (NULL) - seconds }, { .tv_sec = time (NULL) - seconds } };

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (first, bytes, LINK_BYTES, NULL));
  for (guint i = 1; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s/%u", folder, i);

      g_assert_cmpint (link (first, name), ==, 0);
    }
  g_assert_cmpint (utimensat (AT_FDCWD, first, times, 0), ==, 0);
}

static guint
count_entries (const char *cache, const char *kind)
{
  g_autofree char *folder = g_build_filename (cache, kind, NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

/* Once an hour, to the budget, of what was not used for a day. */
static void
trim_user_cache (void)
{
  g_autoptr (GantryScratch) scratch = gantry_scratch_new (NULL);
  g_autofree char *home = gantry_scratch_file (scratch, "home"), *cache = g_build_filename (home, "gantry", NULL);
  g_autofree char *stamp = g_build_filename (cache, ".trimmed", NULL);
  const guint n_fit = (guint) (GANTRY_CACHE_BYTES / LINK_BYTES);
  struct timespec times[2] = { { .tv_sec = time (NULL) - 7200 }, { .tv_sec = time (NULL) - 7200 } };
  guint left;

  g_setenv ("XDG_CACHE_HOME", home, TRUE);
  gantry_cache_trim_sometimes ();
  g_assert_false (g_file_test (home, G_FILE_TEST_EXISTS)); /* who has no cache gets none */
  add_links (cache, "new", 100, 3600);
  add_links (cache, "old", 200, 2 * 24 * 3600);
  gantry_cache_trim_sometimes ();
  left = count_entries (cache, "old");
  g_assert_cmpuint (left, <=, n_fit - 100);
  g_assert_cmpuint (left, >, n_fit - 110);
  add_links (cache, "newer", 250, 3600);
  gantry_cache_trim_sometimes ();
  g_assert_cmpuint (count_entries (cache, "old"), ==, left);
  g_assert_cmpint (utimensat (AT_FDCWD, stamp, times, 0), ==, 0);
  gantry_cache_trim_sometimes ();
  g_assert_cmpuint (count_entries (cache, "old"), ==, 0);
  g_assert_cmpuint (count_entries (cache, "new") + count_entries (cache, "newer"), ==, 350);
}

static void
test_sometimes (void)
{
  if (g_test_subprocess ())
    {
      trim_user_cache ();
      return;
    }
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed ();
}

static void
test_missing (void)
{
  g_assert_cmpuint (gantry_cache_trim ("/no/such/folder", 0, 0), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/base/cache/fits", Fixture, NULL, set_up, test_fits, tear_down);
  g_test_add ("/base/cache/oldest-first", Fixture, NULL, set_up, test_oldest_first, tear_down);
  g_test_add ("/base/cache/used", Fixture, NULL, set_up, test_used, tear_down);
  g_test_add ("/base/cache/spared", Fixture, NULL, set_up, test_spared, tear_down);
  g_test_add ("/base/cache/not-removable", Fixture, NULL, set_up, test_not_removable, tear_down);
  g_test_add_func ("/base/cache/sometimes", test_sometimes);
  g_test_add_func ("/base/cache/missing", test_missing);
  return g_test_run ();
}
