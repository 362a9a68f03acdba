/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a text of moderate size. */
#include "app/cli/text-file.h"
#include "core/base/error.h"
#include "core/base/file.h"

#define MOST_TEXT_BYTES ((gsize) 16 << 20)

char *
gantry_cli_read_text (GantryReadFiles *read, const char *option, const char *path, GError **error)
{
  g_autoptr (GMappedFile) file = gantry_file_map (path, error);

  gantry_read_files_add (read, path);
  if (file != NULL && g_mapped_file_get_length (file) <= MOST_TEXT_BYTES)
    return g_mapped_file_get_length (file) > 0 ? g_strndup (g_mapped_file_get_contents (file), g_mapped_file_get_length (file)) : g_strdup ("");
  if (file != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: has more than 16 MiB", path);
  gantry_error_prefix (error, "%s: ", option);
  return NULL;
}
