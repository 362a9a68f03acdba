/* SPDX-License-Identifier: Apache-2.0 */
/* Records: objects of classes of the user's own that a graph makes. Their attributes are values of the graph, kept where assigned
 * Parameters are: an arm or a loop that assigns one joins or carries it, and all names of an object see it. The object itself has
 * them too, as they were when it was made or assigned outside of every arm and loop: what CPython does with it sees that. */
#include "core/frontends/python/program.h"

PyObject *
_gantry_py_attribute_key (PyObject *object, PyObject *name)
{
  return Py_BuildValue ("(NO)", PyLong_FromVoidPtr (object), name);
}

PyObject *
_gantry_py_attribute_now (GantryPyState *state, PyObject *object, PyObject *name)
{
  PyObject *key = _gantry_py_attribute_key (object, name), *now = NULL;

  for (GantryTrace *t = gantry_py_trace (state); now == NULL && t != NULL; t = t != t->root ? t->parent : NULL)
    now = PyDict_GetItem (t->state, key);
  Py_DECREF (key);
  return Py_XNewRef (now);
}

gboolean
_gantry_py_is_record (GantryPyState *state, PyObject *object)
{
  return gantry_py_trace (state) != NULL && gantry_py_trace (state)->root->made != NULL && g_hash_table_contains (gantry_py_trace (state)->root->made, object)
         && !PyObject_TypeCheck (object, (PyTypeObject *) state->cell) && !PyObject_TypeCheck (object, (PyTypeObject *) state->primitive);
}

/* What the object has in its own dict. Returns: a new reference, NULL without exception where it has none */
static PyObject *
own_attributes (PyObject *object)
{
  PyObject *own = PyObject_GetAttrString (object, "__dict__");

  if (own == NULL)
    PyErr_Clear ();
  else if (!PyDict_CheckExact (own))
    Py_CLEAR (own);
  return own;
}

static gboolean
may_be_record (GantryPyState *state, PyObject *object)
{
  return PyType_HasFeature (Py_TYPE (object), Py_TPFLAGS_HEAPTYPE) && !PyType_Check (object) && !gantry_py_value_check (object)
         && !PyObject_TypeCheck (object, (PyTypeObject *) state->cell) && !PyObject_TypeCheck (object, (PyTypeObject *) state->primitive)
         && _gantry_py_author (state, (PyObject *) Py_TYPE (object)) == GANTRY_PY_USERS;
}

/* Its attributes are what its dict has now; objects that its initializer made are records too. */
static void
take_attributes (GantryPyState *state, PyObject *object)
{
  PyObject *own = own_attributes (object), *name, *value;
  Py_ssize_t at = 0;

  while (own != NULL && PyDict_Next (own, &at, &name, &value))
    {
      PyObject *key = _gantry_py_attribute_key (object, name);

      /* What only this object holds was made with it. */
      if (Py_REFCNT (value) == 1 && may_be_record (state, value) && !_gantry_py_is_record (state, value))
        _gantry_py_add_record (state, value);
      PyDict_SetItem (gantry_py_trace (state)->state, key, value);
      Py_DECREF (key);
    }
  Py_XDECREF (own);
}

void
_gantry_py_add_record (GantryPyState *state, PyObject *object)
{
  GantryTrace *root = gantry_py_trace (state)->root;

  if (root->made == NULL || !may_be_record (state, object))
    return;
  g_hash_table_add (root->made, object);
  PyList_Append (root->kept, object);
  take_attributes (state, object);
}

/* The getter or setter that the class has for the name, where it is the user's. Borrowed. */
static PyObject *
accessor (GantryPyState *state, PyObject *object, PyObject *name, const char *which)
{
  PyObject *property = _PyType_Lookup (Py_TYPE (object), name), *function;

  if (property == NULL || !Py_IS_TYPE (property, &PyProperty_Type))
    return NULL;
  function = PyObject_GetAttrString (property, which);
  Py_XDECREF (function); /* the property holds it */
  return function != NULL && PyFunction_Check (function) && _gantry_py_author (state, function) == GANTRY_PY_USERS ? function : NULL;
}

PyObject *
_gantry_py_record_get (GantryPyFrame *frame, PyObject *object, PyObject *name)
{
  PyObject *get = accessor (frame->state, object, name, "fget");

  return get != NULL ? _gantry_py_call1 (frame, get, object) : NULL;
}

int
_gantry_py_property_set (GantryPyFrame *frame, PyObject *object, PyObject *name, PyObject *value)
{
  PyObject *set = accessor (frame->state, object, name, "fset"), *args, *done;

  if (set == NULL)
    return 0;
  args = PyTuple_Pack (2, object, value);
  done = _gantry_py_call (frame, set, args, NULL);
  Py_DECREF (args);
  Py_XDECREF (done);
  return done != NULL ? 1 : -1;
}

static gboolean
is_outermost (const GantryTrace *trace)
{
  return trace == trace->root && trace->region == trace->body;
}

int
_gantry_py_record_set (GantryPyFrame *frame, PyObject *object, PyObject *name, PyObject *value)
{
  GantryPyState *state = frame->state;
  PyObject *found = _PyType_Lookup (Py_TYPE (object), name), *own, *key;
  int by_property = _gantry_py_property_set (frame, object, name, value);
  gboolean is_new;

  if (by_property != 0)
    return by_property < 0 ? -1 : 0;
  own = own_attributes (object);
  if (own == NULL || Py_TYPE (object)->tp_setattro != PyObject_GenericSetAttr || (found != NULL && Py_TYPE (found)->tp_descr_set != NULL))
    {
      int done = PyObject_SetAttr (object, name, value);

      Py_XDECREF (own);
      if (done == 0)
        take_attributes (state, object);
      return done;
    }
  is_new = PyDict_GetItem (own, name) == NULL;
  Py_DECREF (own);
  if ((is_new || is_outermost (gantry_py_trace (state))) && PyObject_GenericSetAttr (object, name, value) < 0)
    return -1;
  key = _gantry_py_attribute_key (object, name);
  PyDict_SetItem (gantry_py_trace (state)->state, key, value);
  Py_DECREF (key);
  return 0;
}

PyObject *
_gantry_py_record_attributes (GantryPyState *state, PyObject *object)
{
  PyObject *own = own_attributes (object), *result = own != NULL ? PyDict_New () : NULL, *name, *value;
  Py_ssize_t at = 0;

  while (result != NULL && PyDict_Next (own, &at, &name, &value))
    {
      PyObject *now = _gantry_py_attribute_now (state, object, name);

      PyDict_SetItem (result, name, now != NULL ? now : value);
      Py_XDECREF (now);
    }
  Py_XDECREF (own);
  return result;
}
