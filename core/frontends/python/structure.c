/* SPDX-License-Identifier: Apache-2.0 */
/* Structures of lists, tuples and dicts, made anew with other leaves. */
#include "core/frontends/python/program.h"
#include <string.h>

/* @object made anew: @leaf gives a new reference in place of a part, or NULL without exception for what it does not replace. */
typedef PyObject *(*Leaf) (gpointer data, PyObject *object);

static PyObject *map_structure (PyObject *object, Leaf leaf, gpointer data);

static PyObject *
map_dict (PyObject *object, Leaf leaf, gpointer data)
{
  PyObject *copy = PyDict_New (), *key, *value;
  Py_ssize_t at = 0;

  while (copy != NULL && PyDict_Next (object, &at, &key, &value))
    {
      PyObject *item = map_structure (value, leaf, data);

      if (item == NULL || PyDict_SetItem (copy, key, item) < 0)
        Py_CLEAR (copy);
      Py_XDECREF (item);
    }
  return copy;
}

static PyObject *
map_sequence (PyObject *object, Leaf leaf, gpointer data)
{
  PyObject *copy = PyTuple_Check (object) ? PyTuple_New (PyTuple_GET_SIZE (object)) : PyList_New (PyList_GET_SIZE (object));

  for (Py_ssize_t i = 0; copy != NULL && i < PySequence_Fast_GET_SIZE (object); i++)
    {
      PyObject *item = map_structure (PySequence_Fast_GET_ITEM (object, i), leaf, data);

      if (item == NULL)
        Py_CLEAR (copy);
      else if (PyTuple_Check (object))
        PyTuple_SET_ITEM (copy, i, item);
      else
        PyList_SET_ITEM (copy, i, item);
    }
  return copy;
}

static PyObject *
map_structure (PyObject *object, Leaf leaf, gpointer data)
{
  PyObject *copy = leaf (data, object);

  if (copy != NULL || PyErr_Occurred ())
    return copy;
  if (!PyDict_CheckExact (object) && !PyTuple_CheckExact (object) && !PyList_CheckExact (object))
    return Py_NewRef (object);
  if (Py_EnterRecursiveCall (" in an object that holds itself") != 0)
    return NULL;
  copy = PyDict_CheckExact (object) ? map_dict (object, leaf, data) : map_sequence (object, leaf, data);
  Py_LeaveRecursiveCall ();
  return copy;
}

static PyObject *
parameter_leaf (gpointer state, PyObject *object)
{
  return gantry_py_value_check (object) ? gantry_py_parameter_value (state, object) : NULL;
}

PyObject *
gantry_py_with_parameters (GantryPyState *state, PyObject *object)
{
  return map_structure (object, parameter_leaf, state);
}

static PyObject *
function_leaf (gpointer state, PyObject *object)
{
  return _gantry_py_is_closure (state, object) ? _gantry_py_function_of_run (state, object) : NULL;
}

PyObject *
gantry_py_with_functions (GantryPyState *state, PyObject *object)
{
  return map_structure (object, function_leaf, state);
}

static gboolean
is_numpy_number (PyObject *object)
{
  const char *name = Py_TYPE (object)->tp_name;

  return g_str_has_prefix (name, "numpy.") && PyNumber_Check (object) && strcmp (name, "numpy.ndarray") != 0 && strcmp (name, "numpy.datetime64") != 0
         && strcmp (name, "numpy.timedelta64") != 0;
}

static PyObject *
result_leaf (gpointer strict, PyObject *object)
{
  PyObject *list, *tuple, *copy;

  if (is_numpy_number (object))
    return PyObject_CallMethod (object, "item", NULL);
  if (!GPOINTER_TO_INT (strict) || !PyDict_CheckExact (object))
    return NULL;
  list = PyDict_Values (object);
  tuple = PyList_AsTuple (list);
  copy = map_structure (tuple, result_leaf, strict);
  Py_DECREF (list);
  Py_DECREF (tuple);
  return copy;
}

PyObject *
gantry_py_as_result (PyObject *object, gboolean strict)
{
  return map_structure (object, result_leaf, GINT_TO_POINTER (strict));
}

/* A list from outside, where the structure is kept: a capsule that holds it. */
#define ORIGIN "gantry.origin"

static void
origin_free (PyObject *capsule)
{
  Py_DECREF ((PyObject *) PyCapsule_GetPointer (capsule, ORIGIN));
}

/* A record: a tuple of a capsule that holds its class, and its attributes. */
#define CLASS "gantry.class"

static void
class_free (PyObject *capsule)
{
  Py_DECREF ((PyObject *) PyCapsule_GetPointer (capsule, CLASS));
}

static PyObject *
record_leaf (gpointer state, PyObject *object)
{
  PyObject *attributes = _gantry_py_is_record (state, object) ? _gantry_py_record_attributes (state, object) : NULL, *marked = NULL;

  if (attributes == NULL)
    return NULL;
  /* A record may hold another, and in the end itself. */
  if (Py_EnterRecursiveCall (" in an object that holds itself") == 0)
    {
      marked = map_structure (attributes, record_leaf, state);
      Py_LeaveRecursiveCall ();
    }
  Py_DECREF (attributes);
  return marked == NULL ? NULL : Py_BuildValue ("(NN)", PyCapsule_New (Py_NewRef (Py_TYPE (object)), CLASS, class_free), marked);
}

PyObject *
gantry_py_mark_records (GantryPyState *state, PyObject *object)
{
  return map_structure (object, record_leaf, state);
}

static PyObject *
origin_leaf (gpointer state, PyObject *object)
{
  PyObject *origin = PyList_CheckExact (object) || PyDict_CheckExact (object) ? _gantry_py_origin (state, object) : NULL;

  return origin != NULL ? PyCapsule_New (Py_NewRef (origin), ORIGIN, origin_free) : record_leaf (state, object);
}

static PyObject *list_leaf (gpointer unused, PyObject *object);

/* Made as pickle makes objects: by the class, without its initializer. */
static PyObject *
instance_of (PyObject *type, PyObject *attributes)
{
  PyObject *object = PyObject_CallMethod (type, "__new__", "O", type), *filled = map_structure (attributes, list_leaf, NULL);
  PyObject *own = object != NULL ? PyObject_GetAttrString (object, "__dict__") : NULL;

  if (own == NULL || filled == NULL || PyDict_Update (own, filled) < 0)
    Py_CLEAR (object);
  Py_XDECREF (own);
  Py_XDECREF (filled);
  return object;
}

static PyObject *
list_leaf (gpointer unused, PyObject *object)
{
  if (PyTuple_CheckExact (object) && PyTuple_GET_SIZE (object) == 2 && PyCapsule_IsValid (PyTuple_GET_ITEM (object, 0), CLASS))
    return instance_of (PyCapsule_GetPointer (PyTuple_GET_ITEM (object, 0), CLASS), PyTuple_GET_ITEM (object, 1));
  return PyCapsule_IsValid (object, ORIGIN) ? Py_NewRef ((PyObject *) PyCapsule_GetPointer (object, ORIGIN)) : NULL;
}

PyObject *
gantry_py_mark_origins (GantryPyState *state, PyObject *object)
{
  return map_structure (object, origin_leaf, state);
}

PyObject *
gantry_py_take_origins (PyObject *object)
{
  return map_structure (object, list_leaf, NULL);
}
