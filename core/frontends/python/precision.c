/* SPDX-License-Identifier: Apache-2.0 */
/* Cells that compute in a float type of their own: `Cell.to_float ()`. While one runs, what was made before it began (its
 * Parameters and constants, in eager mode its inputs too) is of that type wherever it is read, and keeps its own type where it
 * is stored: the conversion is an operation of the graph, so gradients come in the type that is stored. */
#include "core/frontends/python/interpreter-private.h"
#include "core/frontends/python/trace.h"
#include "core/frontends/python/scope.h"

/* The inputs of a graph's Cell are converted when it is called: a variable that is no more than a node keeps its type. */
gboolean
gantry_py_is_lowered (GantryPyState *state, PyObject *object)
{
  const GantryPyValue *value = (const GantryPyValue *) object;
  const GantryPyPrecision precision = gantry_py_precision_now (state);

  return precision.element != GANTRY_ELEMENT_NONE && value->kind == GANTRY_PY_TENSOR && value->type != NULL && value->birth < precision.since
         && value->type->element != precision.element && gantry_element_is_float ((GantryElementType) value->type->element)
         && (value->node == 0 || (gantry_py_trace (state) != NULL && gantry_py_trace (state)->root->record));
}

GantryElementType
gantry_py_read_element (GantryPyState *state, PyObject *value)
{
  return gantry_py_is_lowered (state, value) ? gantry_py_precision_now (state).element : (GantryElementType) ((GantryPyValue *) value)->type->element;
}

/* @value in another type, whatever is computed in. */
static PyObject *
convert (GantryPyState *state, PyObject *value, GantryElementType element)
{
  GantryPyPrecision before = gantry_py_set_precision (state, (GantryPyPrecision){ .element = GANTRY_ELEMENT_NONE });
  PyObject *attrs = Py_BuildValue ("{ss}", "to", gantry_element_name (element)), *result;

  result = gantry_py_apply (state, "convert", &value, 1, attrs);
  gantry_py_set_precision (state, before);
  Py_DECREF (attrs);
  return result;
}

PyObject *
gantry_py_lowered (GantryPyState *state, PyObject *value)
{
  return gantry_py_is_lowered (state, value) ? convert (state, value, gantry_py_precision_now (state).element) : Py_NewRef (value);
}

PyObject *
gantry_py_as_stored (GantryPyState *state, PyObject *value, GantryElementType element)
{
  PyObject *read = gantry_py_lowered (state, value), *stored;

  if (read == NULL || ((GantryPyValue *) read)->kind != GANTRY_PY_TENSOR || ((GantryPyValue *) read)->type->element == element)
    return read;
  stored = convert (state, read, element);
  Py_DECREF (read);
  return stored;
}

GantryPyPrecision
gantry_py_precision_begin (GantryPyState *state, GantryElementType element)
{
  return gantry_py_set_precision (state, (GantryPyPrecision){ .element = element, .since = ++state->births });
}

/* stored (value): it as it is stored, whatever type the Cell that runs computes in. */
PyObject *
gantry_py_stored (PyObject *module, PyObject *object)
{
  GantryPyState *state = gantry_py_state ();
  PyObject *value, *copy;
  GantryPyValue *from;

  if (!gantry_py_value_check (object) || !gantry_py_is_lowered (state, object))
    return Py_NewRef (object);
  value = gantry_py_parameter_value (state, object);
  if (value == NULL || !gantry_py_is_lowered (state, value))
    return value;
  from = (GantryPyValue *) value;
  copy = from->node != 0 ? gantry_py_variable_new (state, from->node, GANTRY_PY_TENSOR) : gantry_py_value_new (state, gantry_literal_ref (from->literal));
  if (copy != NULL && from->node != 0 && from->literal != NULL)
    ((GantryPyValue *) copy)->literal = gantry_literal_ref (from->literal);
  Py_DECREF (value);
  return copy;
}

/* precision (element or None or what it gave): from now on; returns what was before, to be given back. */
PyObject *
gantry_py_precision (PyObject *module, PyObject *object)
{
  GantryPyState *state = gantry_py_state ();
  GantryPyPrecision before;
  GantryElementType element = GANTRY_ELEMENT_NONE;
  unsigned long long since;
  int given;

  if (PyTuple_Check (object))
    {
      if (!PyArg_ParseTuple (object, "iK", &given, &since))
        return NULL;
      before = gantry_py_set_precision (state, (GantryPyPrecision){ .element = (GantryElementType) given, .since = since });
    }
  else
    {
      if (object != Py_None && PyUnicode_Check (object))
        element = gantry_element_from_name (PyUnicode_AsUTF8 (object));
      before = gantry_py_precision_begin (state, element);
    }
  return Py_BuildValue ("(iK)", (int) before.element, (unsigned long long) before.since);
}

/* The type that the Cell computes in: NONE where it has none of its own; -1 with an exception. */
static int
element_of_cell (PyObject *cell)
{
  PyObject *name = PyObject_GetAttrString (cell, "_computes_in");
  int element = name == NULL ? -1 : name == Py_None ? (int) GANTRY_ELEMENT_NONE : (int) gantry_element_from_name (PyUnicode_AsUTF8 (name));

  Py_XDECREF (name);
  return element;
}

/* @object with its float tensors of type @element, or as they are read here. */
static PyObject *
floats_as (GantryPyState *state, PyObject *object, GantryElementType element)
{
  return _gantry_py_call_hook (state, "floats_as", "Oz", object, element != GANTRY_ELEMENT_NONE ? gantry_element_name (element) : NULL);
}

static PyObject *
call_construct (GantryPyFrame *frame, PyObject *cell, PyObject *construct, PyObject *args, PyObject *kwargs)
{
  GantryPyState *state = frame->state;
  GantryPyPrecision before;
  PyObject *result = NULL, *named = NULL;
  int element = element_of_cell (cell);

  if (element < 0)
    return NULL;
  if (element == GANTRY_ELEMENT_NONE && gantry_py_precision_now (state).element == GANTRY_ELEMENT_NONE)
    return _gantry_py_call (frame, construct, args, kwargs);
  args = floats_as (state, args, (GantryElementType) element);
  if (args != NULL && kwargs != NULL)
    named = floats_as (state, kwargs, (GantryElementType) element);
  before = gantry_py_precision_begin (state, (GantryElementType) element);
  if (args != NULL && (kwargs == NULL || named != NULL))
    result = _gantry_py_call (frame, construct, args, named);
  if (result != NULL)
    Py_SETREF (result, floats_as (state, result, GANTRY_ELEMENT_NONE));
  gantry_py_set_precision (state, before);
  Py_XDECREF (args);
  Py_XDECREF (named);
  return result;
}

PyObject *
_gantry_py_call_construct (GantryPyFrame *frame, PyObject *cell, PyObject *construct, PyObject *args, PyObject *kwargs)
{
  guint32 before = gantry_py_scope_begin (frame->state, cell);
  PyObject *result = call_construct (frame, cell, construct, args, kwargs);

  gantry_py_scope_end (frame->state, before);
  return result;
}
