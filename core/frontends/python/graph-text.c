/* SPDX-License-Identifier: Apache-2.0 */
/* A graph for others: without what only Python can do. */
#include "core/frontends/python/program.h"
#include "core/ir/text.h"
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

PyObject *
gantry_py_graph_text (PyObject *module, PyObject *args)
{
  GantryPyState *state = gantry_py_state ();
  PyObject *callable, *arguments, *result = NULL;
  GantryPyProgram *program;
  int strict;

  if (!PyArg_ParseTuple (args, "OO!p", &callable, &PyTuple_Type, &arguments, &strict))
    return NULL;
  program = gantry_py_trace_call (state, callable, arguments, NULL, strict);
  if (program == NULL)
    return NULL;
  if (program->hosts->len > 0)
    {
      g_autofree char *lines = gantry_py_host_lines (program->hosts);

      PyErr_Format (PyExc_RuntimeError, "A graph that calls Python cannot be exported; these lines do:\n%s", lines);
    }
  else
    {
      g_autofree char *text = gantry_module_to_text (program->module, NULL);

      result = PyUnicode_FromString (text);
    }
  gantry_py_program_free (program);
  return result;
}
