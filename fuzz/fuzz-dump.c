/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of folders that XLA dumps: the input is files, each behind a line "@ NAME". They are put into a folder, which is listed;
 * the modules of each compilation are read and matched, and what its buffers are. Whatever is in them, all of that ends in modules that
 * the verifier takes, or in one error. */
#include "core/frontends/xla/assignment.h"
#include "core/frontends/xla/dump.h"
#include "core/graph/graph.h"
#include "fuzz/fuzz-file.h"
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

#define MOST_FILES 32

/* Names of one part; what else is given as one is left out. */
static gboolean
may_be_name (const char *name)
{
  return *name != 0 && *name != '.' && strlen (name) < 200 && strchr (name, '/') == NULL;
}

/* Returns: (transfer full) (element-type utf8): the paths of what was written */
static GPtrArray *
write_files (const char *folder, const guint8 *data, gsize size)
{
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  const char *at = (const char *) data, *end = at + size;

  while (at < end && paths->len < MOST_FILES)
    {
      const char *line = memchr (at, '\n', (gsize) (end - at)), *next;
      g_autofree char *name = NULL;

      if (line == NULL || line - at < 2 || memcmp (at, "@ ", 2) != 0)
        break;
      name = g_strndup (at + 2, (gsize) (line - at - 2));
      next = g_strstr_len (line, end - line, "\n@ ");
      at = next != NULL ? next + 1 : end;
      if (may_be_name (name))
        {
          char *path = g_build_filename (folder, name, NULL);
          FILE *file = g_fopen (path, "wbe");

          g_assert (file == NULL || fwrite (line + 1, 1, (gsize) (at - line - 1), file) == (gsize) (at - line - 1));
          if (file != NULL)
            fclose (file);
          g_ptr_array_add (paths, path);
        }
    }
  return paths;
}

static void
read_assignment (const GantryXlaDump *dump, const GantryXlaDumpCompilation *compilation)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GMappedFile) file = compilation->assignment != NULL ? gantry_xla_dump_map (dump, compilation->assignment, &error) : NULL;
  g_autoptr (GantryXlaAssignment) assignment = NULL;

  if (file == NULL)
    return;
  assignment = gantry_xla_assignment_parse (g_mapped_file_get_contents (file), g_mapped_file_get_length (file), "fuzz.txt", &error);
  g_assert ((assignment == NULL) == (error != NULL));
}

static void
read_compilation (GantryXlaDump *dump, const GantryXlaDumpCompilation *compilation)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) modules = gantry_xla_dump_read (dump, compilation, context, &info, NULL, &error);

  g_assert ((modules == NULL) == (error != NULL));
  for (guint i = 0; modules != NULL && i < modules->len; i++)
    if (g_ptr_array_index (modules, i) != NULL)
      {
        g_assert (gantry_verify (g_ptr_array_index (modules, i), NULL, &error) == (error == NULL));
        g_clear_error (&error);
      }
  read_assignment (dump, compilation);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *folder = fuzz_file_path ("dump");
  g_autoptr (GPtrArray) paths = NULL;
  g_autoptr (GantryXlaDump) dump = NULL;
  g_autoptr (GError) error = NULL;

  g_assert (g_mkdir_with_parents (folder, 0700) == 0);
  paths = write_files (folder, data, size);
  dump = gantry_xla_dump_list (folder, &error);
  g_assert ((dump == NULL) == (error != NULL));
  for (guint i = 0; dump != NULL && i < dump->compilations->len; i++)
    read_compilation (dump, g_ptr_array_index (dump->compilations, i));
  for (guint i = 0; i < paths->len; i++)
    g_unlink (g_ptr_array_index (paths, i));
  return 0;
}
