/* SPDX-License-Identifier: Apache-2.0 */
/* The environment names it first, then it is looked for beside this program, where builds and installations put it. */
#include "core/base/child-program.h"
#include "gantry-config.h"

char *
gantry_child_program (void)
{
  const char *given = g_getenv ("GANTRY_CLI");
  g_autofree char *self = NULL, *folder = NULL, *beside = NULL;

  if (given != NULL && *given != '\0')
    return g_strdup (given);
  self = g_file_read_link ("/proc/self/exe", NULL);
  if (self != NULL)
    {
      folder = g_path_get_dirname (self);
      beside = g_build_filename (folder, GANTRY_CLI_NAME, NULL);
      if (g_file_test (beside, G_FILE_TEST_IS_EXECUTABLE))
        return g_steal_pointer (&beside);
    }
  return g_find_program_in_path (GANTRY_CLI_NAME);
}
