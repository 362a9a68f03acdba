/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes of nodes: the Cell whose construct they are of, by the names of the attributes that hold it: "layer1.0/conv". */
#include "core/frontends/python/scope.h"
#include "core/graph/context.h"

/* "layer1.0.conv" below @base: a number belongs to the list that it counts in. (transfer full) */
static char *
path_of (const char *base, const char *name)
{
  GString *path = g_string_new (base);
  g_auto (GStrv) parts = g_strsplit (name, ".", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (*parts[i] != '\0')
      g_string_append_printf (path, "%s%s", path->len == 0 ? "" : i > 0 && g_ascii_isdigit (*parts[i]) ? "." : "/", parts[i]);
  return g_string_free (path, FALSE);
}

/* Notes @cell, whose attributes call it @name. Returns: FALSE with a Python exception */
static gboolean
note (GantryTrace *root, PyObject *cell, const char *base, const char *name)
{
  g_autofree char *path = path_of (base, name);
  PyObject *key = PyLong_FromVoidPtr (cell);
  PyObject *value = Py_BuildValue ("(sO)", path, cell); /* which keeps the address its own */
  gboolean done = key != NULL && value != NULL && PyDict_SetDefault (root->scopes, key, value) != NULL;

  Py_XDECREF (key);
  Py_XDECREF (value);
  return done;
}

void
gantry_py_scope_name_cells (GantryPyState *state, PyObject *cell, const char *base)
{
  GantryTrace *root = gantry_py_trace (state)->root;
  PyObject *cells = PyObject_CallMethod (cell, "cells_and_names", NULL), *iterator = cells != NULL ? PyObject_GetIter (cells) : NULL, *item;
  gboolean fine = iterator != NULL;

  while (fine && (item = PyIter_Next (iterator)) != NULL)
    {
      const char *name;
      PyObject *inner;

      fine = PyArg_ParseTuple (item, "sO", &name, &inner) && note (root, inner, base, name);
      Py_DECREF (item);
    }
  Py_XDECREF (iterator);
  Py_XDECREF (cells);
  PyErr_Clear (); /* a program may have its own: it loses names by that */
}

static const char *
find (GantryTrace *root, PyObject *cell)
{
  PyObject *key = PyLong_FromVoidPtr (cell), *value = key != NULL ? PyDict_GetItem (root->scopes, key) : NULL;

  Py_XDECREF (key);
  return value != NULL ? PyUnicode_AsUTF8 (PyTuple_GET_ITEM (value, 0)) : NULL;
}

guint32
gantry_py_scope_begin (GantryPyState *state, PyObject *cell)
{
  GantryTrace *trace = gantry_py_trace (state), *root = trace->root;
  const guint32 before = root->scope;
  const char *path;

  if (root->staged) /* whose scopes are JAX's */
    return before;
  path = find (root, cell);
  if (path == NULL)
    {
      g_autofree char *base = path_of (gantry_context_scope_path (trace->context, before), Py_TYPE (cell)->tp_name);

      gantry_py_scope_name_cells (state, cell, base);
      path = find (root, cell);
    }
  if (path != NULL)
    root->scope = gantry_context_scope (trace->context, path);
  PyErr_Clear ();
  gantry_py_set_place (trace, trace->place);
  return before;
}

void
gantry_py_scope_end (GantryPyState *state, guint32 before)
{
  GantryTrace *trace = gantry_py_trace (state);

  if (trace->root->staged)
    return;
  trace->root->scope = before;
  gantry_py_set_place (trace, trace->place);
}
