/* SPDX-License-Identifier: Apache-2.0 */
/* Names: what they stand for where a graph is made. */
#include "core/frontends/python/interpreter-private.h"

static PyObject *
find_name (GantryPyFrame *frame, PyObject *name)
{
  PyObject *value = PyDict_GetItem (frame->locals, name), *builtins, *dict;

  if (value != NULL)
    return Py_NewRef (value);
  for (Py_ssize_t i = 0; frame->outer != NULL && i < PyTuple_GET_SIZE (frame->outer); i++)
    if ((value = PyDict_GetItem (PyTuple_GET_ITEM (frame->outer, i), name)) != NULL)
      return Py_NewRef (value);
  if (frame->cells != NULL && (value = PyDict_GetItem (frame->cells, name)) != NULL)
    return _gantry_py_admit (frame, Py_NewRef (value));
  if ((value = PyDict_GetItem (frame->globals, name)) != NULL)
    {
      PyObject *key = Py_BuildValue ("(NO)", PyLong_FromVoidPtr (frame->globals), name), *changed = NULL;

      for (GantryTrace *t = gantry_py_trace (frame->state); changed == NULL && t != NULL; t = t != t->root ? t->parent : NULL)
        changed = PyDict_GetItem (t->state, key);
      Py_DECREF (key);
      changed = changed != NULL ? Py_NewRef (changed) : _gantry_py_outside_input (frame->state, frame->globals, name);
      if (changed != NULL)
        return changed;
      if (!PyFunction_Check (value) && !PyType_Check (value) && !PyModule_Check (value))
        _gantry_py_note_read (frame->state, frame->globals, name, value);
      return _gantry_py_admit (frame, Py_NewRef (value));
    }
  builtins = PyDict_GetItemString (frame->globals, "__builtins__");
  dict = builtins != NULL && PyModule_Check (builtins) ? PyModule_GetDict (builtins) : builtins;
  value = dict != NULL ? PyDict_GetItem (dict, name) : NULL;
  if (value == NULL)
    value = PyDict_GetItem (PyEval_GetBuiltins (), name);
  return Py_XNewRef (value);
}

static gboolean block_binds (GantryPyNode *const *nodes, guint n, PyObject *name);

/* Whether @node is @name as a target, or a tuple or list with it. */
static gboolean
target_binds (const GantryPyNode *target, PyObject *name)
{
  if (target->kind == GANTRY_PY_NAME)
    return PyUnicode_Compare (target->name, name) == 0;
  if (target->kind == GANTRY_PY_STARRED)
    return target_binds (target->a, name);
  return (target->kind == GANTRY_PY_TUPLE || target->kind == GANTRY_PY_LIST) && block_binds (target->list, target->n_list, name);
}

static gboolean
binds (const GantryPyNode *node, PyObject *name)
{
  switch (node->kind)
    {
    case GANTRY_PY_ASSIGN: return block_binds (node->list, node->n_list, name);
    case GANTRY_PY_AUG_ASSIGN: return target_binds (node->a, name);
    case GANTRY_PY_FUNCTION_DEF: return PyUnicode_Compare (node->name, name) == 0;
    case GANTRY_PY_FOR: return target_binds (node->a, name) || block_binds (node->list, node->n_list, name);
    case GANTRY_PY_WITH: return block_binds (node->list2, node->n_list2, name);
    case GANTRY_PY_IF:
    case GANTRY_PY_WHILE: return block_binds (node->list, node->n_list, name) || block_binds (node->list2, node->n_list2, name);
    default: return target_binds (node, name);
    }
}

static gboolean
block_binds (GantryPyNode *const *nodes, guint n, PyObject *name)
{
  for (guint i = 0; i < n; i++)
    if (binds (nodes[i], name))
      return TRUE;
  return FALSE;
}

/* A name that only an arm or a loop of the function would have defined. Returns: NULL with an exception */
static PyObject *
undefined_name (const GantryPyFrame *frame, PyObject *name)
{
  const GantryPyNode *function = frame->node;

  for (guint i = 0; function != NULL && function->kind == GANTRY_PY_FUNCTION_DEF && i < function->n_list; i++)
    {
      const GantryPyNode *node = function->list[i];
      const char *word = node->kind == GANTRY_PY_FOR ? "for" : "while";

      if (!binds (node, name))
        continue;
      if (node->kind == GANTRY_PY_IF)
        {
          gboolean in_true = block_binds (node->list, node->n_list, name);

          return PyErr_Format (PyExc_UnboundLocalError, "The local variable '%U' is not defined in %s branch, but defined in %s branch.", name,
                               in_true ? "false" : "true", in_true ? "true" : "false");
        }
      if (node->kind == GANTRY_PY_FOR || node->kind == GANTRY_PY_WHILE)
        return PyErr_Format (PyExc_UnboundLocalError,
                             "The local variable '%U' defined in the '%s' loop body cannot be used outside of "
                             "the loop body. Please define variable '%U' before '%s'.",
                             name, word, name, word);
      break;
    }
  return PyErr_Format (PyExc_NameError, "The name '%U' is not defined, or not supported in graph mode.", name);
}

PyObject *
_gantry_py_lookup (GantryPyFrame *frame, PyObject *name)
{
  PyObject *value = find_name (frame, name);

  if (value == NULL && PyErr_Occurred ())
    return NULL;
  if (value == NULL)
    return undefined_name (frame, name);
  if (_gantry_py_is_undefined (frame->state, value))
    {
      PyErr_SetString (PyExc_UnboundLocalError, _gantry_py_undefined_message (value));
      Py_CLEAR (value);
    }
  return value;
}
