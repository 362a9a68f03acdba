/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and setting of names, attributes and elements. */
#include "core/frontends/python/interpreter-private.h"
#include <string.h>

/* Objects from outside */

void
_gantry_py_note_origin (GantryPyState *state, PyObject *list, PyObject *origin)
{
  GantryTrace *root = gantry_py_trace (state)->root;
  PyObject *key = PyLong_FromVoidPtr (list);

  PyDict_SetItem (root->origins, key, origin);
  PyList_Append (root->kept, list);
  PyList_Append (root->kept, origin);
  Py_DECREF (key);
}

PyObject *
_gantry_py_origin (GantryPyState *state, PyObject *list)
{
  PyObject *key = PyLong_FromVoidPtr (list);
  PyObject *origin = PyDict_GetItem (gantry_py_trace (state)->root->origins, key);

  Py_DECREF (key);
  return origin;
}

static gboolean
is_plain (GantryPyState *state, PyObject *value)
{
  return value == Py_None || PyBool_Check (value) || PyLong_Check (value) || PyFloat_Check (value) || PyUnicode_Check (value) || PyTuple_Check (value)
         || PyList_Check (value) || PyDict_Check (value) || PyType_Check (value) || PyFunction_Check (value) || PyMethod_Check (value)
         || PyCFunction_Check (value) || PyModule_Check (value) || PySlice_Check (value) || value == Py_Ellipsis || gantry_py_value_check (value);
}

/* Lists and dicts from outside are the objects that they are there, those inside of others too. Returns: FALSE with an exception */
static gboolean
note_outside (GantryPyState *state, PyObject *value)
{
  PyObject *key, *item;
  Py_ssize_t at = 0;
  gboolean fine = TRUE;

  if (!PyTuple_CheckExact (value) && !PyList_CheckExact (value) && !PyDict_CheckExact (value))
    return TRUE;
  if (!PyTuple_CheckExact (value))
    {
      if (_gantry_py_origin (state, value) != NULL)
        return TRUE;
      _gantry_py_note_origin (state, value, value);
    }
  if (Py_EnterRecursiveCall (" in a list from outside of the graph") != 0)
    return FALSE;
  if (PyDict_CheckExact (value))
    while (fine && PyDict_Next (value, &at, &key, &item))
      fine = note_outside (state, item);
  else
    for (; fine && at < PySequence_Fast_GET_SIZE (value); at++)
      fine = note_outside (state, PySequence_Fast_GET_ITEM (value, at));
  Py_LeaveRecursiveCall ();
  return fine;
}

/* What an assignment in this graph made of a list or dict from outside. */
PyObject *
_gantry_py_container_now (GantryPyState *state, PyObject *value)
{
  PyObject *key = Py_BuildValue ("(sN)", "list", PyLong_FromVoidPtr (value)), *now = NULL;

  for (GantryTrace *t = gantry_py_trace (state); now == NULL && t != NULL; t = t != t->root ? t->parent : NULL)
    now = PyDict_GetItem (t->state, key);
  Py_DECREF (key);
  return Py_XNewRef (now);
}

PyObject *
_gantry_py_admit (GantryPyFrame *frame, PyObject *value)
{
  GantryPyState *state = frame->state;
  PyObject *now;

  if (value == NULL)
    return NULL;
  if (!gantry_py_trace (state)->strict && (PyList_CheckExact (value) || PyDict_CheckExact (value) || PyTuple_CheckExact (value)))
    {
      now = _gantry_py_container_now (state, value);
      if (now == NULL && !note_outside (state, value))
        Py_CLEAR (value);
      if (now != NULL)
        Py_SETREF (value, now);
      return value;
    }
  if (gantry_py_trace (state)->strict && !is_plain (state, value) && !_gantry_py_is_graph_object (state, value)
      && _gantry_py_author (state, (PyObject *) Py_TYPE (value)) == GANTRY_PY_USERS)
    {
      PyErr_Format (PyExc_TypeError, "Do not support to convert %R object into graph node.", Py_TYPE (value));
      Py_CLEAR (value);
    }
  return value;
}

/* Attributes */

static PyObject *
host_getattr (GantryPyFrame *frame, PyObject *object, PyObject *name)
{
  PyObject *builtins = PyEval_GetBuiltins (), *args = PyTuple_Pack (2, object, name), *result;

  result = gantry_py_host_call (frame->state, PyDict_GetItemString (builtins, "getattr"), args, NULL, GANTRY_PY_HANDLE);
  Py_DECREF (args);
  return result;
}

static PyObject *
no_attribute (GantryPyFrame *frame, PyObject *object, PyObject *name)
{
  GantryPyState *state = frame->state;
  PyObject *operands;

  if (!PyErr_ExceptionMatches (PyExc_AttributeError))
    return NULL;
  if (!PyModule_Check (object))
    {
      PyErr_Clear ();
      PyErr_Format (PyExc_AttributeError, "External object has no attribute %U", name);
    }
  operands = PyTuple_Pack (2, object, name);
  _gantry_py_refused (state, "getattr", operands);
  Py_DECREF (operands);
  return NULL;
}

/* STRICT: what only CPython answers of tensors and strings. */
static gboolean
is_of_python (GantryPyState *state, PyObject *object, PyObject *name)
{
  static const char *const of_strings[] = { "format", "upper", "lower", "isupper", "islower", NULL };

  if (!gantry_py_trace (state)->strict)
    return FALSE;
  if (PyUnicode_Check (object))
    return !g_strv_contains (of_strings, PyUnicode_AsUTF8 (name)) && PyObject_HasAttr (object, name);
  return gantry_py_is_variable (object) && ((GantryPyValue *) object)->literal == NULL
         && PySet_Contains (_gantry_py_hook (state, "host_attributes"), name) == 1;
}

/* STRICT: of a Primitive, and of a Cell that the graph makes, nothing but its call. */
static gboolean
is_closed (GantryPyState *state, PyObject *object)
{
  if (!gantry_py_trace (state)->strict || PyType_Check (object))
    return FALSE;
  if (PyObject_TypeCheck (object, (PyTypeObject *) state->primitive))
    return TRUE;
  return PyObject_TypeCheck (object, (PyTypeObject *) state->cell) && g_hash_table_contains (gantry_py_trace (state)->root->made, object);
}

/* The document: what is read of a Cell or jit_class object in the graph, before it is assigned, is a constant. It is not said of what an
 * object reads of itself. */
static gboolean
is_frozen (const GantryPyFrame *frame, PyObject *object)
{
  if (!_gantry_py_is_graph_object (frame->state, object))
    return FALSE;
  for (; frame != NULL; frame = frame->caller)
    {
      const GantryPyNode *arguments = frame->node != NULL ? frame->node->a : NULL;

      if (arguments != NULL && arguments->n_list > 0 && frame->locals != NULL
          && PyDict_GetItem (_gantry_py_function_locals (frame), arguments->list[0]->name) == object)
        return FALSE;
    }
  return TRUE;
}

/* A property of the program's own reads what the graph makes of the object; what no graph is made of is left to CPython. Returns: NULL
 * without exception */
static PyObject *
by_property (GantryPyFrame *frame, PyObject *object, PyObject *name)
{
  GantryTrace *root = gantry_py_trace (frame->state)->root;
  const GantryPyNode *failed = root->failed;
  PyObject *value = _gantry_py_record_get (frame, object, name);

  if (value == NULL && root->failed != failed)
    {
      root->failed = failed;
      g_clear_pointer (&root->calls, g_free);
    }
  PyErr_Clear ();
  return value;
}

static gboolean
is_number_variable (PyObject *object)
{
  guint8 kind = gantry_py_is_variable (object) ? ((GantryPyValue *) object)->kind : GANTRY_PY_TENSOR;

  return kind == GANTRY_PY_INT || kind == GANTRY_PY_FLOAT || kind == GANTRY_PY_BOOL;
}

/* Of an object from outside, which the graph has not assigned. Returns: a new reference, NULL with an exception */
static PyObject *
outside_attribute (GantryPyFrame *frame, PyObject *object, PyObject *name)
{
  gboolean is_slot = !PyModule_Check (object) && !gantry_py_value_check (object) && !is_frozen (frame, object);
  PyObject *value = is_slot ? _gantry_py_outside_input (frame->state, object, name) : NULL;

  if (value != NULL)
    return value;
  if (is_slot && !gantry_py_trace (frame->state)->strict && !PyType_Check (object))
    {
      value = by_property (frame, object, name);
      if (value != NULL)
        return value;
    }
  value = is_number_variable (object) ? NULL : PyObject_GetAttr (object, name);
  if (is_number_variable (object))
    PyErr_SetObject (PyExc_AttributeError, name);
  if (value == NULL)
    return no_attribute (frame, object, name);
  if (is_slot)
    _gantry_py_note_read (frame->state, object, name, value);
  return _gantry_py_admit (frame, value);
}

PyObject *
_gantry_py_getattr (GantryPyFrame *frame, PyObject *object, PyObject *name)
{
  PyObject *value;

  if (is_closed (frame->state, object))
    return PyErr_Format (PyExc_AttributeError,
                         "'%s' is only called in a graph: its attribute '%U' cannot be used at "
                         "jit_syntax_level STRICT.",
                         Py_TYPE (object)->tp_name, name);
  if (is_of_python (frame->state, object, name))
    return PyErr_Format (PyExc_AttributeError,
                         "In JIT strict mode, cannot get attributes %U or the %s object has no attribute: '%U'. You "
                         "can use os.environ['MS_DEV_JIT_SYNTAX_LEVEL'] = '2' to enable the JIT lax mode to support the current syntax.",
                         name, _gantry_py_type_word (frame->state, object), name);
  if (gantry_py_is_handle (object))
    return host_getattr (frame, object, name);
  if (gantry_py_is_variable (object) && !((GantryPyValue *) object)->literal && PySet_Contains (_gantry_py_hook (frame->state, "host_attributes"), name) == 1)
    return _gantry_py_call_hook (frame->state, "host_method", "OO", object, name);
  if (!PyModule_Check (object) && !gantry_py_value_check (object))
    {
      value = _gantry_py_attribute_now (frame->state, object, name);
      if (value == NULL && _gantry_py_is_record (frame->state, object))
        value = _gantry_py_record_get (frame, object, name);
      if (value != NULL && _gantry_py_is_undefined (frame->state, value))
        {
          PyErr_SetString (PyExc_AttributeError, _gantry_py_undefined_message (value));
          Py_CLEAR (value);
        }
      if (value != NULL || PyErr_Occurred ())
        return value;
    }
  return outside_attribute (frame, object, name);
}

#define IN_STRICT "In JIT strict mode, if need to modify a member attribute of a class with @jit_class or of a Cell, it has to be a Parameter."

int
_gantry_py_setattr (GantryPyFrame *frame, PyObject *object, PyObject *name, PyObject *value)
{
  GantryPyState *state = frame->state;
  gboolean is_record = _gantry_py_is_record (state, object);
  PyObject *before = gantry_py_is_handle (object) || is_record ? NULL : PyObject_GetAttr (object, name), *converted;
  int done;

  PyErr_Clear ();
  if (gantry_py_value_check (object) && ((GantryPyValue *) object)->is_parameter)
    {
      Py_XDECREF (before);
      PyErr_Format (PyExc_ValueError, "Do not support to set attribute for a parameter: '%U' cannot be set in a graph.", name);
      return -1;
    }
  if (before != NULL && gantry_py_value_check (before) && ((GantryPyValue *) before)->is_parameter)
    {
      converted = _gantry_py_call_hook (state, "assigned", "OO", before, value);
      done = converted != NULL ? gantry_py_parameter_assign (state, before, converted) : -1;
      Py_XDECREF (converted);
      Py_DECREF (before);
      return done;
    }
  if (is_record || !gantry_py_trace (state)->strict)
    Py_XDECREF (before);
  if (is_record)
    return _gantry_py_record_set (frame, object, name, value);
  if (!gantry_py_trace (state)->strict)
    {
      done = gantry_py_is_handle (object) ? 0 : _gantry_py_property_set (frame, object, name, value);
      return done == 0 ? _gantry_py_outside_set (state, object, name, value) : done < 0 ? -1 : 0;
    }
  if (before == NULL)
    PyErr_Format (PyExc_AttributeError,
                  "The '%s' object has no attribute '%U'. It should be initialized as a 'Parameter' type in the '__init__' function before "
                  "assigning. " IN_STRICT,
                  Py_TYPE (object)->tp_name, name);
  else
    PyErr_Format (PyExc_TypeError,
                  "In JIT strict mode, if need to modify a member attribute of a class with self.%U, the member "
                  "attribute must be of the Parameter type. But got '%S' with type '%s'.",
                  name, before, Py_TYPE (before)->tp_name);
  Py_XDECREF (before);
  return -1;
}

/* Elements */

PyObject *
_gantry_py_setitem (GantryPyFrame *frame, PyObject *object, PyObject *index, PyObject *value)
{
  GantryPyState *state = frame->state;
  PyObject *result = NULL, *plain;

  if (gantry_py_value_check (object) && !gantry_py_is_handle (object) && !is_number_variable (object) && !gantry_py_holds_handle (value))
    return _gantry_py_call_hook (state, "tensor_setitem", "OOO", object, index, value);
  if (PyList_Check (object))
    {
      plain = gantry_py_holds_variable (index) ? NULL : _gantry_py_call_hook (state, "plain_index", "O", index);
      if (plain == NULL)
        return PyErr_Occurred () ? NULL : _gantry_py_call_hook (state, "sequence_setitem", "OOO", object, index, value);
      result = PyList_GetSlice (object, 0, PyList_GET_SIZE (object));
      if (PyObject_SetItem (result, plain, value) < 0)
        {
          PyObject *operands = PyTuple_Pack (2, object, plain);

          Py_CLEAR (result);
          _gantry_py_refused (state, "setitem", operands);
          Py_DECREF (operands);
        }
      Py_DECREF (plain);
      return result;
    }
  if (PyDict_Check (object))
    {
      result = PyDict_Copy (object);
      if (PyDict_SetItem (result, index, value) < 0)
        Py_CLEAR (result);
      return result;
    }
  if (!gantry_py_is_handle (object)
      && (is_number_variable (object) || Py_TYPE (object)->tp_as_mapping == NULL || Py_TYPE (object)->tp_as_mapping->mp_ass_subscript == NULL))
    {
      PyObject *operands = PyTuple_Pack (2, object, index);

      PyErr_Format (PyExc_TypeError, "'%s' object does not support item assignment", Py_TYPE (object)->tp_name);
      _gantry_py_refused (state, "setitem", operands);
      Py_DECREF (operands);
      return NULL;
    }
  return PyErr_Format (PyExc_RuntimeError,
                       "For operation 'setitem', current input arguments types are <%s, %s, %s>. The 1-th "
                       "argument type '%s' is not supported now.",
                       _gantry_py_type_word (state, object), _gantry_py_type_word (state, index), _gantry_py_type_word (state, value),
                       _gantry_py_type_word (state, object));
}

static int
assign_element (GantryPyFrame *frame, const GantryPyNode *target, PyObject *value)
{
  PyObject *object = _gantry_py_eval (frame, target->a);
  PyObject *index = object != NULL ? _gantry_py_eval (frame, target->b) : NULL;
  PyObject *changed = index != NULL ? _gantry_py_setitem (frame, object, index, value) : NULL;
  int done = -1;

  if (changed != NULL && gantry_py_value_check (object) && ((GantryPyValue *) object)->is_parameter)
    done = gantry_py_parameter_assign (frame->state, object, changed);
  else if (changed != NULL && PyDict_CheckExact (object) && _gantry_py_origin (frame->state, object) != NULL)
    done = _gantry_py_change_outside (frame, target->a, object, changed);
  else if (changed != NULL)
    done = _gantry_py_assign (frame, target->a, changed);
  Py_XDECREF (object);
  Py_XDECREF (index);
  Py_XDECREF (changed);
  return done;
}

int
_gantry_py_assign_name (GantryPyFrame *frame, PyObject *name, PyObject *value)
{
  if (frame->global_names == NULL || PySet_Contains (frame->global_names, name) != 1)
    return PyDict_SetItem (frame->locals, name, value) < 0 ? -1 : _gantry_py_rebound (frame->state, frame->locals, name, value);
  return _gantry_py_outside_set (frame->state, frame->globals, name, value);
}

static int
assign_starred (GantryPyFrame *frame, const GantryPyNode *target, PyObject *elements, guint star)
{
  Py_ssize_t n = PySequence_Fast_GET_SIZE (elements), after = (Py_ssize_t) target->n_list - star - 1;
  PyObject *middle;
  int done = 0;

  if (n < (Py_ssize_t) target->n_list - 1)
    {
      PyErr_Format (PyExc_ValueError, "not enough values to unpack (expected at least %u, got %zd)", target->n_list - 1, n);
      return -1;
    }
  for (guint i = 0; done == 0 && i < star; i++)
    done = _gantry_py_assign (frame, target->list[i], PySequence_Fast_GET_ITEM (elements, i));
  middle = PyList_New (0);
  for (Py_ssize_t i = star; i < n - after; i++)
    PyList_Append (middle, PySequence_Fast_GET_ITEM (elements, i));
  if (done == 0)
    done = _gantry_py_assign (frame, target->list[star]->a, middle);
  for (Py_ssize_t i = 0; done == 0 && i < after; i++)
    done = _gantry_py_assign (frame, target->list[star + 1 + i], PySequence_Fast_GET_ITEM (elements, n - after + i));
  Py_DECREF (middle);
  return done;
}

static int
assign_sequence (GantryPyFrame *frame, const GantryPyNode *target, PyObject *value)
{
  PyObject *elements = gantry_py_is_handle (value) ? _gantry_py_call_hook (frame->state, "host_unpack", "OI", value, target->n_list)
                                                   : _gantry_py_elements (frame, value);
  int done = elements != NULL ? 0 : -1;

  if (elements == NULL || (PySequence_Fast_GET_SIZE (elements) == 0 && target->n_list > 0))
    {
      PyObject *operands = PyTuple_Pack (1, value);

      if (elements != NULL)
        PyErr_Format (PyExc_ValueError, "not enough values to unpack (expected %u, got 0)", target->n_list);
      _gantry_py_refused (frame->state, "unpack", operands);
      Py_DECREF (operands);
      Py_XDECREF (elements);
      return -1;
    }
  for (guint i = 0; done == 0 && i < target->n_list; i++)
    if (target->list[i]->kind == GANTRY_PY_STARRED)
      {
        done = assign_starred (frame, target, elements, i);
        Py_DECREF (elements);
        return done;
      }
  if (done == 0 && PySequence_Fast_GET_SIZE (elements) != target->n_list)
    {
      Py_ssize_t n = PySequence_Fast_GET_SIZE (elements);

      if (n > target->n_list)
        PyErr_Format (PyExc_ValueError, "too many values to unpack (expected %u)", target->n_list);
      else
        PyErr_Format (PyExc_IndexError,
                      "%s evaluator index should be in range[-%zd, %zd), but got %zd. There are not enough values to "
                      "unpack (expected %u, got %zd)",
                      PyList_Check (value) ? "list_getitem" : "TupleGetItem", n, n, n, target->n_list, n);
      done = -1;
    }
  for (guint i = 0; done == 0 && i < target->n_list; i++)
    done = _gantry_py_assign (frame, target->list[i], PySequence_Fast_GET_ITEM (elements, i));
  Py_XDECREF (elements);
  return done;
}

int
_gantry_py_assign (GantryPyFrame *frame, const GantryPyNode *target, PyObject *value)
{
  PyObject *object;
  int done;

  switch (target->kind)
    {
    case GANTRY_PY_NAME: return _gantry_py_assign_name (frame, target->name, value);
    case GANTRY_PY_TUPLE:
    case GANTRY_PY_LIST: return assign_sequence (frame, target, value);
    case GANTRY_PY_SUBSCRIPT: return assign_element (frame, target, value);
    case GANTRY_PY_ATTRIBUTE:
      object = _gantry_py_eval (frame, target->a);
      done = object != NULL ? _gantry_py_setattr (frame, object, target->name, value) : -1;
      Py_XDECREF (object);
      return done;
    default: PyErr_SetString (PyExc_RuntimeError, "Unsupported assignment target."); return -1;
    }
}
