/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded interpreter: starts CPython 3.11 with the user's packages and Gantry's modules, runs a program, ends. */
#include "core/frontends/python/module-private.h"
#include "core/frontends/python/python.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include <string.h>

const char *
gantry_python_missing (void)
{
  return NULL;
}

GBytes *
gantry_py_resource (const char *path)
{
  g_autofree char *full = g_strconcat ("/org/gantry/python/", path, NULL);

  return g_resource_lookup_data (gantry_python_modules_get_resource (), full, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
}

/* The interpreter whose packages are seen: the one named, the virtual environment's, the system's. */
static char *
interpreter_of (const GantryPythonOptions *options)
{
  const char *environment = g_getenv ("VIRTUAL_ENV");

  if (options->interpreter != NULL)
    return g_strdup (options->interpreter);
  if (environment != NULL)
    {
      g_autofree char *python = g_build_filename (environment, "bin", "python", NULL);

      if (g_file_test (python, G_FILE_TEST_IS_EXECUTABLE))
        return g_steal_pointer (&python);
    }
  return g_strdup ("/usr/bin/python3.11");
}

/* A virtual environment says which version it is of. */
static gboolean
check_version (const char *interpreter, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (interpreter), *base = g_path_get_dirname (folder);
  g_autofree char *config = g_build_filename (base, "pyvenv.cfg", NULL), *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (config, &text, NULL, NULL))
    return TRUE;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      const char *value = strchr (lines[i], '=');

      if (!g_str_has_prefix (lines[i], "version") || value == NULL || strstr (value, "3.11.") != NULL)
        continue;
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                   "%s is of Python%s; programs run under Python 3.11: make an environment of it, or name another interpreter", base, value + 1);
      return FALSE;
    }
  return TRUE;
}

static gboolean
start (const GantryPythonOptions *options, GError **error)
{
  g_autofree char *interpreter = interpreter_of (options);
  PyConfig config;
  PyStatus status;

  if (!check_version (interpreter, error))
    return FALSE;
  PyImport_AppendInittab ("_gantry", gantry_py_module_init);
  PyConfig_InitPythonConfig (&config);
  config.parse_argv = 0;
  config.install_signal_handlers = 1;
  status = PyConfig_SetBytesString (&config, &config.program_name, interpreter);
  if (!PyStatus_Exception (status))
    status = PyConfig_SetBytesString (&config, &config.executable, interpreter);
  if (!PyStatus_Exception (status))
    status = PyConfig_SetBytesArgv (&config, options->argc, options->argv);
  if (!PyStatus_Exception (status))
    status = Py_InitializeFromConfig (&config);
  PyConfig_Clear (&config);
  if (!PyStatus_Exception (status))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "Python did not start: %s", status.err_msg != NULL ? status.err_msg : "no reason given");
  return FALSE;
}

/* The finder of Gantry's modules. */
static gboolean
install (const GantryPythonOptions *options, const GantryPythonBackend *backend)
{
  PyObject *module = PyImport_ImportModule ("_gantry"), *code, *globals, *done;
  g_autoptr (GBytes) text = gantry_py_resource ("bootstrap.py");

  if (module == NULL || text == NULL)
    return FALSE;
  ((GantryPyState *) PyModule_GetState (module))->backend = backend;
  Py_DECREF (module);
  if (options->real)
    return TRUE;
  code = Py_CompileString (g_bytes_get_data (text, NULL), "<gantry>/bootstrap.py", Py_file_input);
  globals = Py_BuildValue ("{ssss}", "__name__", "_gantry_bootstrap", "__builtins__", "");
  PyDict_SetItemString (globals, "__builtins__", PyEval_GetBuiltins ());
  done = code != NULL ? PyEval_EvalCode (code, globals, globals) : NULL;
  Py_XDECREF (code);
  Py_XDECREF (done);
  Py_DECREF (globals);
  return done != NULL;
}

static void
set_path (const char *program)
{
  g_autofree char *path = g_canonicalize_filename (program, NULL), *folder = g_path_get_dirname (path);
  PyObject *list = PySys_GetObject ("path"), *entry = PyUnicode_DecodeFSDefault (folder);

  PyList_Insert (list, 0, entry);
  Py_DECREF (entry);
}

static PyObject *
run_file (const char *program, const char *sha256)
{
  PyObject *main = PyImport_AddModule ("__main__"), *globals = PyModule_GetDict (main), *file, *code, *result;
  g_autofree char *text = NULL, *sum = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GMappedFile) mapped = gantry_file_map_text (program, &error);
  gsize length;

  if (mapped == NULL)
    {
      PyErr_SetString (PyExc_OSError, error->message);
      return NULL;
    }
  length = g_mapped_file_get_length (mapped);
  text = g_malloc0 (length + 1);
  if (length > 0) /* an empty file is mapped nowhere */
    memcpy (text, g_mapped_file_get_contents (mapped), length);
  sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) text, length);
  if (sha256 != NULL && strcmp (sum, sha256) != 0)
    {
      PyErr_SetString (PyExc_OSError, "the program has changed since it was allowed to run; open it again");
      return NULL;
    }
  if (memchr (text, '\0', length) != NULL) /* the compiler would take it for the end */
    {
      PyErr_SetString (PyExc_ValueError, "source code cannot contain null bytes");
      return NULL;
    }
  file = PyUnicode_DecodeFSDefault (program);
  PyDict_SetItemString (globals, "__file__", file);
  Py_DECREF (file);
  PyDict_SetItemString (globals, "__builtins__", PyImport_AddModule ("builtins"));
  code = Py_CompileStringExFlags (text, program, Py_file_input, NULL, -1);
  result = code != NULL ? PyEval_EvalCode (code, globals, globals) : NULL;
  Py_XDECREF (code);
  return result;
}

/* The status that sys.exit () asked for. */
static int
exit_status (void)
{
  PyObject *type, *value, *traceback, *code;
  int status = 0;

  PyErr_Fetch (&type, &value, &traceback);
  PyErr_NormalizeException (&type, &value, &traceback);
  code = PyObject_GetAttrString (value, "code");
  if (code != NULL && PyLong_Check (code))
    status = (int) PyLong_AsLong (code);
  else if (code != NULL && code != Py_None)
    {
      PySys_WriteStderr ("%s\n", PyUnicode_Check (code) ? PyUnicode_AsUTF8 (code) : "");
      status = 1;
    }
  PyErr_Clear ();
  Py_XDECREF (code);
  Py_XDECREF (type);
  Py_XDECREF (value);
  Py_XDECREF (traceback);
  return status;
}

static int
finish (PyObject *result)
{
  int status = 0;

  if (result == NULL && PyErr_ExceptionMatches (PyExc_SystemExit))
    status = exit_status ();
  else if (result == NULL)
    {
      status = PyErr_ExceptionMatches (PyExc_KeyboardInterrupt) ? 130 : 1;
      PyErr_Print ();
    }
  Py_XDECREF (result);
  return status;
}

/* The file of a module that lies below @folder. (transfer full) (nullable) */
static char *
source_below (PyObject *module, const char *folder)
{
  PyObject *name = PyModule_Check (module) ? PyDict_GetItemString (PyModule_GetDict (module), "__file__") : NULL;
  const char *file = name != NULL && PyUnicode_Check (name) ? PyUnicode_AsUTF8 (name) : NULL;
  g_autofree char *path = file != NULL && g_path_is_absolute (file) ? g_canonicalize_filename (file, NULL) : NULL;

  PyErr_Clear (); /* a name that is no UTF-8 */
  if (path == NULL || !g_str_has_prefix (path, folder) || strstr (path, "/site-packages/") != NULL || strstr (path, "/dist-packages/") != NULL
      || !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return NULL;
  return g_steal_pointer (&path);
}

static int
compare_paths (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* @folder: with a slash at its end */
static void
list_sources (const char *folder, const char *program, GPtrArray *sources)
{
  PyObject *module;
  Py_ssize_t at = 0;

  while (PyDict_Next (PyImport_GetModuleDict (), &at, NULL, &module))
    {
      g_autofree char *path = source_below (module, folder);

      if (path != NULL && strcmp (path, program) != 0 && sources->len < GANTRY_PYTHON_MOST_SOURCES
          && !g_ptr_array_find_with_equal_func (sources, path, g_str_equal, NULL))
        g_ptr_array_add (sources, g_steal_pointer (&path));
    }
  g_ptr_array_sort (sources, compare_paths);
}

static int
run (const GantryPythonOptions *options, const GantryPythonBackend *backend, GPtrArray *graphs, GPtrArray *errors, GPtrArray *sources, GError **error)
{
  /* Before the program goes to another folder. */
  g_autofree char *program = g_canonicalize_filename (options->argv[0], NULL), *place = g_path_get_dirname (program);
  g_autofree char *folder = g_str_has_suffix (place, "/") ? g_strdup (place) : g_strconcat (place, "/", NULL);
  int status = 1;

  if (!start (options, error))
    return 2;
  if (install (options, backend))
    {
      gantry_py_state ()->graphs = graphs;
      gantry_py_state ()->errors = errors;
      set_path (options->argv[0]);
      status = finish (run_file (options->argv[0], options->sha256));
      if (sources != NULL)
        list_sources (folder, program, sources);
    }
  else
    PyErr_Print ();
  if (Py_FinalizeEx () < 0 && status == 0)
    status = 120;
  return status;
}

int
gantry_python_run (const GantryPythonOptions *options, const GantryPythonBackend *backend, GError **error)
{
  return run (options, backend, NULL, NULL, NULL, error);
}

int
gantry_python_import (const GantryPythonOptions *options, const GantryPythonBackend *backend, GPtrArray **graphs, GPtrArray **errors, GPtrArray **sources,
                      GError **error)
{
  *graphs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_python_graph_free);
  *errors = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_python_error_free);
  *sources = g_ptr_array_new_with_free_func (g_free);
  return run (options, backend, *graphs, *errors, *sources, error);
}
