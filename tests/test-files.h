/* SPDX-License-Identifier: Apache-2.0 */
/* Where tests find files: in the tree, and in the folder of shared data, which may not be there. */
#pragma once
#include <glib.h>

/** @folder: in the source tree; @name: (nullable): in that. Returns: (transfer full) */
static inline char *
test_source_file (const char *folder, const char *name)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");

  return g_build_filename (root != NULL ? root : ".", folder, name, NULL);
}

/** The same in the folder that GANTRY_SHARED names, else in ../shared beside the tree. Returns: (transfer full): whether
 * there is such a file or not */
static inline char *
test_shared_file (const char *folder, const char *name)
{
  const char *shared = g_getenv ("GANTRY_SHARED");
  g_autofree char *beside = test_source_file ("../shared", NULL);

  return g_build_filename (shared != NULL ? shared : beside, folder, name, NULL);
}

/** Adds the paths of the files below @path, or @path itself if it is one, whose names end in @ending, in no order. */
static inline void
test_find_files (GPtrArray *files, const char *path, const char *ending)
{
  g_autoptr (GDir) directory = g_dir_open (path, 0, NULL);
  const char *name;

  if (directory == NULL && g_str_has_suffix (path, ending))
    g_ptr_array_add (files, g_strdup (path));
  while (directory != NULL && (name = g_dir_read_name (directory)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      test_find_files (files, child, ending);
    }
}
