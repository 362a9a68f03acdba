/* SPDX-License-Identifier: Apache-2.0 */
/* One folder a process: libFuzzer runs several. */
#include "fuzz/fuzz-file.h"
#include "core/base/scratch.h"
#include <stdlib.h>

static const char *folder (void);

static void
remove_folder (void)
{
  gantry_scratch_remove (folder ());
}

static const char *
folder (void)
{
  static gsize made;

  if (g_once_init_enter (&made))
    {
      char *path = g_dir_make_tmp ("gantry-fuzz-XXXXXX", NULL);

      g_assert (path != NULL);
      g_once_init_leave (&made, GPOINTER_TO_SIZE (path));
      atexit (remove_folder);
    }
  return GSIZE_TO_POINTER (made);
}

char *
fuzz_file_path (const char *name)
{
  return g_build_filename (folder (), name, NULL);
}

char *
fuzz_file_write (const char *name, gconstpointer data, gsize size)
{
  char *path = fuzz_file_path (name);
  FILE *file = g_fopen (path, "wbe");

  g_assert (file != NULL && (size == 0 || fwrite (data, 1, size, file) == size));
  g_assert (fclose (file) == 0);
  return path;
}
