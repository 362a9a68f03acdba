/* SPDX-License-Identifier: Apache-2.0 */
/* A graph for others: without what only Python can do. */
#include "core/frontends/python/program.h"
#include "core/graph/text.h"
#include <string.h>

char *
gantry_py_host_lines (const GPtrArray *hosts)
{
  g_autoptr (GString) lines = g_string_new (NULL);

  for (guint i = 0; i < hosts->len; i++)
    {
      const GantryPyHostCall *host = g_ptr_array_index (hosts, i);
      g_autofree char *line = g_strdup_printf ("%s:%u: %.*s\n", host->file != NULL ? host->file : "?", host->line,
                                               (int) strcspn (host->text, "\n"), host->text);

      /* One line of the program may be several calls. */
      if (lines->len < strlen (line) || strcmp (lines->str + lines->len - strlen (line), line) != 0)
        g_string_append (lines, line);
    }
  if (lines->len == 0)
    return NULL;
  g_string_truncate (lines, lines->len - 1);
  return g_string_free (g_steal_pointer (&lines), FALSE);
}

/* The graph of a call, or NULL with an exception, which names the lines that only Python can do. */
static GantryPyProgram *
trace_for_others (PyObject *callable, PyObject *arguments, gboolean strict)
{
  GantryPyProgram *program = gantry_py_trace_call (gantry_py_state (), callable, arguments, NULL, strict);

  if (program != NULL && program->hosts->len > 0)
    {
      g_autofree char *lines = gantry_py_host_lines (program->hosts);

      PyErr_Format (PyExc_RuntimeError, "A graph that calls Python cannot be exported; these lines do:\n%s", lines);
      gantry_py_program_free (program);
      return NULL;
    }
  return program;
}

PyObject *
gantry_py_graph_text (PyObject *module, PyObject *args)
{
  PyObject *callable, *arguments, *result;
  GantryPyProgram *program;
  g_autofree char *text = NULL;
  int strict;

  if (!PyArg_ParseTuple (args, "OO!p", &callable, &PyTuple_Type, &arguments, &strict))
    return NULL;
  program = trace_for_others (callable, arguments, strict);
  if (program == NULL)
    return NULL;
  text = gantry_module_to_text (program->module, NULL);
  result = PyUnicode_FromString (text);
  gantry_py_program_free (program);
  return result;
}

/* Parameters are called as the program calls them, "fc.weight", and have the values that they have now. */
static gboolean
write_onnx (const GantryPyProgram *program, const char *path, GError **error)
{
  const GantryPythonBackend *backend = program->state->backend;
  guint n = gantry_module_entry (program->module)->n_params;
  guint first = n - MIN (n, (guint) PyList_GET_SIZE (program->parameters)); /* behind the arguments */
  guint n_names = 0;
  g_auto (GStrv) names = g_new0 (char *, n + 1);
  g_autofree const char **given = g_new0 (const char *, n + 1);
  g_autofree GantryLiteral **values = g_new0 (GantryLiteral *, n + 1);

  for (guint i = first; i < n; i++)
    {
      PyObject *parameter = PyList_GET_ITEM (program->parameters, (Py_ssize_t) (i - first));
      PyObject *name = PyObject_GetAttrString (parameter, "name");

      if (name != NULL && PyUnicode_Check (name))
        given[i] = names[n_names++] = g_strdup (PyUnicode_AsUTF8 (name));
      Py_XDECREF (name);
      PyErr_Clear ();
      if (gantry_py_value_check (parameter))
        values[i] = ((GantryPyValue *) parameter)->literal;
    }
  return backend->export (backend->self, program->module, path, given, values, error);
}

PyObject *
gantry_py_graph_onnx (PyObject *module, PyObject *args)
{
  PyObject *callable, *arguments;
  g_autoptr (GError) error = NULL;
  GantryPyProgram *program;
  const char *path;
  int strict;

  if (!PyArg_ParseTuple (args, "OO!ps", &callable, &PyTuple_Type, &arguments, &strict, &path))
    return NULL;
  if (gantry_py_state ()->backend == NULL || gantry_py_state ()->backend->export == NULL)
    return PyErr_Format (PyExc_NotImplementedError, "export: nothing here writes ONNX");
  program = trace_for_others (callable, arguments, strict);
  if (program == NULL)
    return NULL;
  if (!write_onnx (program, path, &error))
    PyErr_SetString (error->domain == GANTRY_ERROR ? PyExc_RuntimeError : PyExc_OSError, error->message);
  gantry_py_program_free (program);
  if (error != NULL)
    return NULL;
  Py_RETURN_NONE;
}
