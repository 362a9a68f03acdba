/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that a graph makes and hands to CPython: functions of CPython, made when the graph runs at the place where they are handed
 * over, whose free variables are cells that what the graph binds afterwards is put into. */
#include "core/frontends/python/interpreter-private.h"

#define CAPTURES "captures"

/* The variables that functions of the run read, kept with the graph. Returns: a borrowed reference, NULL with an exception */
static PyObject *
captures_of (GantryPyState *state)
{
  PyObject *origins = gantry_py_trace (state)->root->origins, *captures = PyDict_GetItemString (origins, CAPTURES);

  if (captures != NULL)
    return captures;
  captures = _gantry_py_call_hook (state, "captures", "");
  if (captures != NULL)
    PyDict_SetItemString (origins, CAPTURES, captures);
  Py_XDECREF (captures);
  return captures;
}

/* Where the innermost function around it binds @name, and to what. Returns: a new reference to a tuple (scope, value), None where no
 * function does so far */
static PyObject *
find_captured (GantryPyState *state, const GantryPyClosure *closure, PyObject *name)
{
  Py_ssize_t n = closure->outer != NULL ? PyTuple_GET_SIZE (closure->outer) : 0;

  for (Py_ssize_t i = 0; i < n + 1; i++)
    {
      PyObject *scope = i < n ? PyTuple_GET_ITEM (closure->outer, i) : closure->cells;
      PyObject *value = scope != NULL ? PyDict_GetItem (scope, name) : NULL;

      if (value != NULL && !_gantry_py_is_undefined (state, value))
        return PyTuple_Pack (2, scope, value);
    }
  return Py_NewRef (Py_None);
}

static PyObject *
find_all (GantryPyState *state, const GantryPyClosure *closure, PyObject *names)
{
  PyObject *found = PyTuple_New (PyTuple_GET_SIZE (names));

  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE (names); i++)
    PyTuple_SET_ITEM (found, i, find_captured (state, closure, PyTuple_GET_ITEM (names, i)));
  return found;
}

PyObject *
_gantry_py_function_of_run (GantryPyState *state, PyObject *object)
{
  const GantryPyClosure *closure = (const GantryPyClosure *) object;
  const GantryPySource *source = closure->node->source;
  g_autofree char *text = g_strjoinv ("\n", source->lines);
  PyObject *captures = captures_of (state), *made, *found = NULL, *result = NULL;

  made = captures != NULL
           ? _gantry_py_call_hook (state, "made_function", "ysIIO", text, source->file, closure->node->line, closure->node->column, closure->globals)
           : NULL;
  if (made != NULL)
    {
      PyObject *names = PyObject_GetAttrString (made, "captured");

      found = names != NULL ? find_all (state, closure, names) : NULL;
      Py_XDECREF (names);
    }
  if (found != NULL)
    result = _gantry_py_call_hook (state, "function_of_run", "OOOOOOi", captures, object, made, found, closure->defaults, closure->kwdefaults,
                                   (int) gantry_py_trace (state)->root->assigns_parameters);
  Py_XDECREF (made);
  Py_XDECREF (found);
  return result;
}

int
_gantry_py_rebound (GantryPyState *state, PyObject *scope, PyObject *name, PyObject *value)
{
  PyObject *captures = PyDict_GetItemString (gantry_py_trace (state)->root->origins, CAPTURES), *done;

  if (captures == NULL)
    return 0;
  done = PyObject_CallMethod (captures, "rebound", "OOO", scope, name, value);
  Py_XDECREF (done);
  return done != NULL ? 0 : -1;
}
