/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of core/base/cache: what was used last stays, within the budget; nothing outside is touched. */
#include "core/base/cache.h"
#include "core/base/scratch.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
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
  g_test_add_func ("/base/cache/missing", test_missing);
  return g_test_run ();
}
