/* SPDX-License-Identifier: Apache-2.0 */
/* A program of the real JAX or torch: its own Python runs it, with the module `gantry` told to write instead of opening a window. */
#include "app/cli/import-real.h"
#include "core/base/error.h"
#include <string.h>
#include <unistd.h>

/* The folder to import the module from: installed, or of the build. */
static char *
module_folder (GError **error)
{
  static const char *const places[] = { "../share/gantry/python", "../data/python" };
  g_autofree char *self = g_file_read_link ("/proc/self/exe", error), *folder = self != NULL ? g_path_get_dirname (self) : NULL;

  for (guint i = 0; folder != NULL && i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *place = g_build_filename (folder, places[i], NULL), *module = g_build_filename (place, "gantry", "__init__.py", NULL);

      if (g_file_test (module, G_FILE_TEST_IS_REGULAR))
        return g_canonicalize_filename (place, NULL);
    }
  if (folder != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "the Python module 'gantry' is not installed beside %s", self);
  return NULL;
}

static char *
interpreter (const char *python)
{
  const char *environment = g_getenv ("VIRTUAL_ENV");

  if (python != NULL)
    return g_strdup (python);
  return environment != NULL && *environment != '\0' ? g_build_filename (environment, "bin", "python", NULL) : g_strdup ("python3");
}

static gboolean
run (const char *program, const char *python, const char *folder, GError **error)
{
  g_autofree char *path = interpreter (python), *module = module_folder (error), *paths = NULL;
  const char *given = g_getenv ("PYTHONPATH");
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_autoptr (GSubprocess) child = NULL;

  if (module == NULL)
    return FALSE;
  paths = given != NULL && *given != '\0' ? g_strconcat (module, ":", given, NULL) : g_strdup (module);
  g_subprocess_launcher_setenv (launcher, "PYTHONPATH", paths, TRUE);
  g_subprocess_launcher_setenv (launcher, "GANTRY_SHOW", folder, TRUE);
  g_subprocess_launcher_take_stdout_fd (launcher, dup (STDERR_FILENO));
  child = g_subprocess_launcher_spawn (launcher, error, path, program, NULL);
  if (child == NULL || !g_subprocess_wait (child, NULL, error))
    return FALSE;
  if (g_subprocess_get_successful (child))
    return TRUE;
  if (g_subprocess_get_if_exited (child))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s: it ended with status %d under %s", program, g_subprocess_get_exit_status (child), path);
  else
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s: signal %d ended it", program, g_subprocess_get_term_sig (child));
  return FALSE;
}

/* "program-layer-2.mlir" is of the function "layer-2". Returns: (transfer full) */
static char *
function_of (const char *file, const char *program)
{
  g_autofree char *base = g_path_get_basename (program);
  gsize n = strlen (base) - strlen (".py");
  const char *name = strncmp (file, base, n) == 0 && file[n] == '-' ? file + n + 1 : file, *dot = strrchr (name, '.');

  return g_strndup (name, dot != NULL ? (gsize) (dot - name) : strlen (name));
}

static int
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *
list (const char *folder, GError **error)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, error);
  GPtrArray *files;
  const char *name;

  if (dir == NULL)
    return NULL;
  files = g_ptr_array_new_with_free_func (g_free);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".mlir") || g_str_has_suffix (name, ".pt2"))
      g_ptr_array_add (files, g_strdup (name));
  g_ptr_array_sort (files, compare_texts);
  return files;
}

static char *
choose (const GPtrArray *files, const char *program, const char *entry, const char *folder, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < files->len; i++)
    {
      g_autofree char *name = function_of (g_ptr_array_index (files, i), program);

      if (g_strcmp0 (name, entry) == 0 || (entry == NULL && files->len == 1))
        return g_build_filename (folder, g_ptr_array_index (files, i), NULL);
      g_string_append_printf (names, "\n  %s", name);
    }
  if (files->len == 0)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                 "%s: it shows nothing; say what is to be taken over by `import gantry` and `gantry.show (f, *arguments)`", program);
  else if (entry != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: it does not show '%s', but:%s", program, entry, names->str);
  else
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: it shows several; name one by --entry:%s", program, names->str);
  return NULL;
}

char *
gantry_cli_show_real (const char *program, const char *python, const char *entry, const GantryScratch *scratch, GError **error)
{
  const char *folder = gantry_scratch_folder (scratch);
  g_autoptr (GPtrArray) files = NULL;

  if (!run (program, python, folder, error))
    return NULL;
  files = list (folder, error);
  return files != NULL ? choose (files, program, entry, folder, error) : NULL;
}
