/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through the places with glob(): versions of toolkits and of Python are whatever is there. */
#include "core/base/vendor-library.h"
#include <glob.h>
#include <string.h>

static gboolean
contains (const GPtrArray *paths, const char *path)
{
  return g_ptr_array_find_with_equal_func ((GPtrArray *) paths, path, g_str_equal, NULL);
}

/* @pattern: as of the shell; the later of what fits comes first, so that the newest version does. */
static void
add_files (GPtrArray *paths, const char *pattern)
{
  glob_t found = { 0 };

  if (glob (pattern, 0, NULL, &found) == 0)
    for (gsize i = found.gl_pathc; i-- > 0;)
      if (!contains (paths, found.gl_pathv[i]))
        g_ptr_array_add (paths, g_strdup (found.gl_pathv[i]));
  globfree (&found);
}

/* What stands in a pattern for itself. (transfer full) */
static char *
quote (const char *path)
{
  GString *quoted = g_string_new (NULL);

  for (const char *at = path; *at != '\0'; at++)
    {
      if (strchr ("\\*?[]", *at) != NULL)
        g_string_append_c (quoted, '\\');
      g_string_append_c (quoted, *at);
    }
  return g_string_free (quoted, FALSE);
}

static void
add_below (GPtrArray *paths, const char *folder, const char *below, const char *name)
{
  g_autofree char *quoted = folder != NULL && *folder != '\0' ? quote (folder) : NULL;
  g_autofree char *pattern = quoted != NULL ? g_strdup_printf ("%s/%s/%s", quoted, below, name) : NULL;

  if (pattern != NULL)
    add_files (paths, pattern);
}

/* Of a toolkit. */
static void
add_toolkit (GPtrArray *paths, const char *folder, const char *version, const char *name)
{
  static const char *const below[] = { "lib64", "lib", "extras/CUPTI/lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib" };

  for (guint i = 0; i < G_N_ELEMENTS (below); i++)
    {
      g_autofree char *place = g_build_filename (version, below[i], NULL);

      add_below (paths, folder, place, name);
    }
}

/* Of a Python: what pip installs as nvidia-cuda-cupti, nvidia-cublas-cu12 and their like. */
static void
add_wheels (GPtrArray *paths, const char *prefix, const char *name)
{
  add_below (paths, prefix, "lib/python3*/site-packages/nvidia/*/lib", name);
  add_below (paths, prefix, "lib/python3*/dist-packages/nvidia/*/lib", name);
}

/* The prefix of the python3 that is started by that name. (transfer full) (nullable) */
static char *
python_prefix (void)
{
  g_autofree char *program = g_find_program_in_path ("python3");
  g_autofree char *folder = program != NULL ? g_path_get_dirname (program) : NULL;

  return folder != NULL ? g_path_get_dirname (folder) : NULL;
}

char **
gantry_vendor_library_paths (const char *root, const char *const *names)
{
  GPtrArray *paths = g_ptr_array_new ();
  g_autofree char *local = g_build_filename (root != NULL ? root : "/", "usr/local", NULL);
  g_autofree char *usr = g_build_filename (root != NULL ? root : "/", "usr", NULL), *python = python_prefix ();
  g_autofree char *own = g_build_filename (g_get_home_dir (), ".local", NULL);

  for (guint i = 0; names[i] != NULL; i++)
    {
      g_ptr_array_add (paths, g_strdup (names[i]));
      add_toolkit (paths, g_getenv ("CUDA_HOME"), ".", names[i]);
      add_below (paths, local, "nvidia/lib64", names[i]);
      add_below (paths, local, "nvidia/lib", names[i]);
      add_below (paths, usr, "lib/wsl/lib", names[i]);
      add_toolkit (paths, local, "cuda", names[i]);
      add_toolkit (paths, local, "cuda-*", names[i]);
      add_wheels (paths, g_getenv ("VIRTUAL_ENV"), names[i]);
      add_wheels (paths, g_getenv ("CONDA_PREFIX"), names[i]);
      add_wheels (paths, own, names[i]);
      add_wheels (paths, python, names[i]);
      add_wheels (paths, local, names[i]);
      add_wheels (paths, usr, names[i]);
    }
  g_ptr_array_add (paths, NULL);
  return (char **) g_ptr_array_free (paths, FALSE);
}
