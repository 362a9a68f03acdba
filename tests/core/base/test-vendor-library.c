/* SPDX-License-Identifier: Apache-2.0 */
/* Where a vendor's libraries are looked for: an empty root with files in the places where installers put them. */
#include "core/base/vendor-library.h"
#include <glib/gstdio.h>
#include <stdlib.h>

/* In the order in which they are to be found. */
static const char *const files[] = {
  "home/extras/CUPTI/lib64",
  "usr/local/nvidia/lib64",
  "usr/lib/wsl/lib",
  "usr/local/cuda/targets/x86_64-linux/lib",
  "usr/local/cuda-13.0/lib64",
  "usr/local/cuda-12.8/lib64",
  "venv [1]/lib/python3.11/site-packages/nvidia/cuda_cupti/lib",
  "conda/lib/python3.12/site-packages/nvidia/cu13/lib",
  "home of me/.local/lib/python3.11/site-packages/nvidia/cublas/lib",
  "python/lib/python3.10/site-packages/nvidia/cublas/lib",
  "usr/local/lib/python3.11/dist-packages/nvidia/cublas/lib",
};

static void
make_file (const char *folder, const char *name, int mode)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  g_assert_true (g_file_set_contents (path, "", 0, NULL));
  g_assert_cmpint (g_chmod (path, mode), ==, 0);
}

static void
set_folder (const char *variable, const char *root, const char *below)
{
  g_autofree char *path = g_build_filename (root, below, NULL);

  g_setenv (variable, path, TRUE);
}

static void
check (const char *root, const char *const *names, guint n_names)
{
  g_auto (GStrv) paths = gantry_vendor_library_paths (root, names);

  g_assert_cmpstr (paths[0], ==, names[0]);
  /* What this machine itself has is there too. */
  for (guint i = 0, at = 1; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (root, files[i], names[0], NULL), *real = NULL;

      while (paths[at] != NULL && (real = g_canonicalize_filename (paths[at], "/")) != NULL && !g_str_equal (real, path))
        {
          g_clear_pointer (&real, g_free);
          at++;
        }
      if (paths[at] == NULL)
        g_error ("%s is not found, or in the wrong order", path);
    }
  g_assert_true (g_strv_contains ((const char *const *) paths, names[n_names - 1]));
}

static void
test_places (void)
{
  static const char *const names[] = { "libgantry-thing.so.13", "libgantry-thing.so.12", NULL };
  g_autofree char *root = g_dir_make_tmp ("gantry-vendor-XXXXXX", NULL);
  g_autofree char *python = g_build_filename (root, "python/bin", NULL), *remove = g_strdup_printf ("rm -r '%s'", root);

  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *folder = g_build_filename (root, files[i], NULL);

      make_file (folder, names[0], 0644);
    }
  make_file (python, "python3", 0755);
  set_folder ("CUDA_HOME", root, "home");
  set_folder ("VIRTUAL_ENV", root, "venv [1]");
  set_folder ("CONDA_PREFIX", root, "conda");
  set_folder ("HOME", root, "home of me");
  g_setenv ("PATH", python, TRUE);
  check (root, names, 2);
  g_setenv ("PATH", "/usr/bin:/bin", TRUE);
  g_assert_cmpint (system (remove), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/vendor-library/places", test_places);
  return g_test_run ();
}
