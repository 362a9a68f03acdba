/* SPDX-License-Identifier: Apache-2.0 */
/* Joining what two ways of control leave: structures of the same form, leaves of the same type. */
#include "core/frontends/python/interpreter-private.h"
#include "core/graph/context.h"
#include <string.h>

void
_gantry_py_join_init (GantryPyJoin *join)
{
  join->a = g_ptr_array_new_with_free_func ((GDestroyNotify) Py_DecRef);
  join->b = g_ptr_array_new_with_free_func ((GDestroyNotify) Py_DecRef);
  join->kinds = g_array_new (FALSE, FALSE, sizeof (guint));
}

void
_gantry_py_join_clear (GantryPyJoin *join)
{
  g_ptr_array_unref (join->a);
  g_ptr_array_unref (join->b);
  g_array_unref (join->kinds);
}

static const GantryElementType number_elements[] = {
  [GANTRY_PY_INT] = GANTRY_I64,
  [GANTRY_PY_FLOAT] = GANTRY_F64,
  [GANTRY_PY_BOOL] = GANTRY_BOOL,
  [GANTRY_PY_HANDLE] = GANTRY_I64,
};

static const char *const dtype_names[GANTRY_N_ELEMENT_TYPES] = {
  [GANTRY_BOOL] = "Bool",     [GANTRY_I8] = "Int8",     [GANTRY_I16] = "Int16",   [GANTRY_I32] = "Int32",  [GANTRY_I64] = "Int64",
  [GANTRY_U8] = "UInt8",      [GANTRY_U16] = "UInt16",  [GANTRY_U32] = "UInt32",  [GANTRY_U64] = "UInt64", [GANTRY_F16] = "Float16",
  [GANTRY_BF16] = "BFloat16", [GANTRY_F32] = "Float32", [GANTRY_F64] = "Float64",
};

gboolean
_gantry_py_leaf_kind (GantryPyState *state, PyObject *value, GantryPyValueKind *kind)
{
  if (gantry_py_value_check (value))
    *kind = (GantryPyValueKind) ((GantryPyValue *) value)->kind;
  else if (PyBool_Check (value))
    *kind = GANTRY_PY_BOOL;
  else if (PyLong_CheckExact (value))
    *kind = GANTRY_PY_INT;
  else if (PyFloat_CheckExact (value))
    *kind = GANTRY_PY_FLOAT;
  else
    return FALSE;
  return TRUE;
}

PyObject *
_gantry_py_number_value (GantryPyState *state, PyObject *number, GantryPyValueKind kind)
{
  const GantryType *type = gantry_context_type (state->context, gantry_context_scalar (state->context, number_elements[kind]));
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);
  PyObject *value;

  if (kind == GANTRY_PY_FLOAT)
    gantry_element_write_double (GANTRY_F64, data, PyFloat_AsDouble (number));
  else if (kind == GANTRY_PY_BOOL)
    *data = PyObject_IsTrue (number) == 1;
  else
    gantry_element_write_int (GANTRY_I64, data, PyLong_AsLongLong (number));
  value = gantry_py_value_new (state, literal);
  if (PyErr_Occurred ())
    Py_CLEAR (value);
  return value;
}

guint32
_gantry_py_lift_leaf (GantryPyState *state, GantryRegion *region, PyObject *value, GantryPyValueKind kind)
{
  GantryRegion *innermost = gantry_py_trace (state)->region;
  PyObject *known;
  guint32 id = 0;

  if ((gantry_py_is_variable (value) && (kind != GANTRY_PY_HANDLE || gantry_py_is_handle (value)))
      || (kind == GANTRY_PY_TENSOR && gantry_py_value_check (value)))
    return gantry_py_use_in (state, region, value);
  if (kind != GANTRY_PY_HANDLE)
    {
      known = _gantry_py_number_value (state, value, kind);
      id = known != NULL ? gantry_py_use_in (state, region, known) : 0;
      Py_XDECREF (known);
      return id;
    }
  /* An object that is known becomes one of the run. */
  gantry_py_trace (state)->region = region;
  known = PyTuple_Pack (1, value);
  value = gantry_py_host_call (state, _gantry_py_hook (state, "identity"), known, NULL, GANTRY_PY_HANDLE);
  if (value != NULL)
    id = gantry_py_use_in (state, region, value);
  Py_DECREF (known);
  Py_XDECREF (value);
  gantry_py_trace (state)->region = innermost;
  return id;
}

PyObject *
_gantry_py_zeros_like (GantryPyState *state, PyObject *value)
{
  GantryPyValueKind kind;
  guint8 *data;

  if (PyTuple_Check (value) || PyList_Check (value))
    {
      Py_ssize_t n = PySequence_Fast_GET_SIZE (value);
      PyObject *zeros = PyTuple_Check (value) ? PyTuple_New (n) : PyList_New (n);

      for (Py_ssize_t i = 0; i < n; i++)
        {
          PyObject *item = _gantry_py_zeros_like (state, PySequence_Fast_GET_ITEM (value, i));

          if (PyTuple_Check (value))
            PyTuple_SET_ITEM (zeros, i, item);
          else
            PyList_SET_ITEM (zeros, i, item);
        }
      return zeros;
    }
  if (!_gantry_py_leaf_kind (state, value, &kind) || kind == GANTRY_PY_HANDLE)
    return Py_NewRef (kind == GANTRY_PY_HANDLE && gantry_py_value_check (value) ? Py_None : value);
  if (kind == GANTRY_PY_BOOL)
    return Py_NewRef (Py_False);
  if (kind == GANTRY_PY_INT)
    return PyLong_FromLong (0);
  if (kind == GANTRY_PY_FLOAT)
    return PyFloat_FromDouble (0);
  {
    const GantryType *type = ((GantryPyValue *) value)->type;
    const GantryType *own = gantry_context_type (state->context, gantry_context_tensor (state->context, type->element, type->rank, type->dims));

    return gantry_py_value_new (state, gantry_literal_new_zeroed (own, &data));
  }
}

/* The leaf that stands for two: a variable that gantry_py_replace_variables() finds. */
static PyObject *
add_leaf (GantryPyState *state, GantryPyJoin *join, PyObject *a, PyObject *b, guint kind)
{
  PyTypeObject *type = (PyTypeObject *) (kind == GANTRY_PY_TENSOR ? state->tensor : kind == GANTRY_PY_HANDLE ? state->external : state->scalar);
  GantryPyValue *placeholder = (GantryPyValue *) type->tp_alloc (type, 0);

  if (placeholder == NULL)
    return NULL;
  placeholder->node = G_MAXUINT32;
  placeholder->kind = (guint8) kind;
  placeholder->context = gantry_context_ref (gantry_py_trace (state)->context);
  placeholder->type = gantry_context_type (gantry_py_trace (state)->context, 0);
  g_ptr_array_add (join->a, Py_NewRef (a));
  g_ptr_array_add (join->b, Py_NewRef (b));
  g_array_append_val (join->kinds, kind);
  return (PyObject *) placeholder;
}

/* The same on both ways: its variables stay what they are. */
static PyObject *
keep (GantryPyJoin *join, PyObject *value)
{
  g_autoptr (GPtrArray) variables = g_ptr_array_new ();

  gantry_py_collect_variables (value, variables);
  for (guint i = 0; i < variables->len; i++)
    {
      PyObject *variable = g_ptr_array_index (variables, i);
      guint kind = ((GantryPyValue *) variable)->kind;

      g_ptr_array_add (join->a, Py_NewRef (variable));
      g_ptr_array_add (join->b, Py_NewRef (variable));
      g_array_append_val (join->kinds, kind);
    }
  return Py_NewRef (value);
}

static PyObject *
join_tensors (GantryPyState *state, GantryPyJoin *join, PyObject *a, PyObject *b)
{
  const GantryType *x = ((GantryPyValue *) a)->type, *y = ((GantryPyValue *) b)->type;
  gboolean same = x->rank == y->rank;

  if (x->element != y->element)
    return PyErr_Format (PyExc_TypeError, CANNOT_JOIN "Type Join Failed: dtype1 = %s, dtype2 = %s.", dtype_names[x->element], dtype_names[y->element]);
  for (guint d = 0; same && d < x->rank; d++)
    same = x->dims[d] == y->dims[d];
  if (!same)
    {
      PyObject *shapes[2] = { PyObject_GetAttrString (a, "shape"), PyObject_GetAttrString (b, "shape") };

      PyErr_Format (PyExc_ValueError, CANNOT_JOIN "Shape Join Failed: shape1 = %R, shape2 = %R.", shapes[0], shapes[1]);
      Py_XDECREF (shapes[0]);
      Py_XDECREF (shapes[1]);
      return NULL;
    }
  return add_leaf (state, join, a, b, GANTRY_PY_TENSOR);
}

static const char *
abstract_of (GantryPyState *state, PyObject *value)
{
  GantryPyValueKind kind;

  if (PyTuple_Check (value))
    return "AbstractTuple";
  if (PyList_Check (value))
    return "AbstractList";
  if (PyDict_Check (value))
    return "AbstractDictionary";
  if (value == Py_None)
    return "AbstractNone";
  if (!_gantry_py_leaf_kind (state, value, &kind))
    return PyUnicode_Check (value) ? "AbstractScalar" : "AbstractExternal";
  return kind == GANTRY_PY_TENSOR ? "AbstractTensor" : kind == GANTRY_PY_HANDLE ? "AbstractAny" : "AbstractScalar";
}

static PyObject *
cannot (GantryPyState *state, PyObject *a, PyObject *b)
{
  static const char *const numbers[] = { "Tensor", "Int64", "Float32", "Bool", "Any" };
  GantryPyValueKind x, y;

  if (_gantry_py_leaf_kind (state, a, &x) && _gantry_py_leaf_kind (state, b, &y) && x != GANTRY_PY_TENSOR && y != GANTRY_PY_TENSOR)
    return PyErr_Format (PyExc_TypeError, CANNOT_JOIN "Type Join Failed: dtype1 = %s, dtype2 = %s.", numbers[x], numbers[y]);
  return PyErr_Format (PyExc_TypeError, CANNOT_JOIN "Type Join Failed: abstract type %s cannot join with %s.", abstract_of (state, a), abstract_of (state, b));
}

static PyObject *
join_sequences (GantryPyState *state, GantryPyJoin *join, PyObject *a, PyObject *b)
{
  Py_ssize_t n = PySequence_Fast_GET_SIZE (a);
  PyObject *result;

  if (n != PySequence_Fast_GET_SIZE (b))
    return PyErr_Format (PyExc_ValueError, CANNOT_JOIN "The lengths of the sequences differ: %zd and %zd.", n, PySequence_Fast_GET_SIZE (b));
  result = PyTuple_Check (a) ? PyTuple_New (n) : PyList_New (n);
  for (Py_ssize_t i = 0; i < n; i++)
    {
      PyObject *item = _gantry_py_join (state, join, PySequence_Fast_GET_ITEM (a, i), PySequence_Fast_GET_ITEM (b, i));

      if (item == NULL)
        {
          Py_DECREF (result);
          return NULL;
        }
      if (PyTuple_Check (a))
        PyTuple_SET_ITEM (result, i, item);
      else
        PyList_SET_ITEM (result, i, item);
    }
  return result;
}

static PyObject *
join_dicts (GantryPyState *state, GantryPyJoin *join, PyObject *a, PyObject *b)
{
  PyObject *result = PyDict_New (), *key, *value;
  Py_ssize_t at = 0;

  if (PyDict_GET_SIZE (a) != PyDict_GET_SIZE (b))
    PyErr_SetString (PyExc_ValueError, CANNOT_JOIN "The keys of the dictionaries differ.");
  while (!PyErr_Occurred () && PyDict_Next (a, &at, &key, &value))
    {
      PyObject *other = PyDict_GetItem (b, key), *item;

      if (other == NULL)
        {
          PyErr_Format (PyExc_ValueError, CANNOT_JOIN "The key %R is in one dictionary only.", key);
          break;
        }
      item = _gantry_py_join (state, join, value, other);
      if (item != NULL)
        PyDict_SetItem (result, key, item);
      Py_XDECREF (item);
    }
  if (PyErr_Occurred ())
    Py_CLEAR (result);
  return result;
}

static gboolean
equal_constants (PyObject *a, PyObject *b)
{
  int equal;

  if (Py_TYPE (a) != Py_TYPE (b) || gantry_py_value_check (a) || gantry_py_holds_variable (a) || gantry_py_holds_variable (b))
    return FALSE;
  if (!PyLong_Check (a) && !PyFloat_Check (a) && !PyUnicode_Check (a) && !PyBytes_Check (a) && !PySlice_Check (a))
    return FALSE;
  equal = PyObject_RichCompareBool (a, b, Py_EQ);
  if (equal < 0)
    PyErr_Clear ();
  return equal == 1;
}

static gboolean
is_function (PyObject *object)
{
  return PyCallable_Check (object) && !gantry_py_value_check (object);
}

/* What only CPython knows is an object of the run; so is what may be None. */
static gboolean
may_be_of_run (GantryPyState *state, PyObject *a, PyObject *b)
{
  GantryPyValueKind kind;

  if (is_function (a) || is_function (b))
    return FALSE;
  if (a == Py_None || b == Py_None || gantry_py_is_handle (a) || gantry_py_is_handle (b))
    return TRUE;
  return !PyTuple_Check (a) && !PyList_Check (a) && !PyDict_Check (a) && !PyTuple_Check (b) && !PyList_Check (b) && !PyDict_Check (b)
         && !_gantry_py_leaf_kind (state, a, &kind) && !_gantry_py_leaf_kind (state, b, &kind);
}

PyObject *
_gantry_py_join_objects (GantryPyState *state, GantryPyJoin *join, PyObject *a, PyObject *b)
{
  guint n = join->a->len;
  PyObject *joined = _gantry_py_join (state, join, a, b);

  if (joined != NULL || gantry_py_trace (state)->strict || !PyErr_ExceptionMatches (PyExc_Exception))
    return joined;
  PyErr_Clear ();
  g_ptr_array_set_size (join->a, (int) n);
  g_ptr_array_set_size (join->b, (int) n);
  g_array_set_size (join->kinds, n);
  return add_leaf (state, join, a, b, GANTRY_PY_HANDLE);
}

PyObject *
_gantry_py_join (GantryPyState *state, GantryPyJoin *join, PyObject *a, PyObject *b)
{
  GantryPyValueKind x, y;

  if (a == b || equal_constants (a, b))
    return keep (join, a);
  if (_gantry_py_is_undefined (state, a))
    return Py_NewRef (a);
  if (_gantry_py_is_undefined (state, b))
    return Py_NewRef (b);
  if ((PyTuple_Check (a) && PyTuple_Check (b)) || (PyList_Check (a) && PyList_Check (b)))
    return join_sequences (state, join, a, b);
  if (PyDict_Check (a) && PyDict_Check (b))
    return join_dicts (state, join, a, b);
  if (_gantry_py_leaf_kind (state, a, &x) && _gantry_py_leaf_kind (state, b, &y) && x == y)
    return x == GANTRY_PY_TENSOR ? join_tensors (state, join, a, b) : add_leaf (state, join, a, b, x);
  if (!gantry_py_trace (state)->strict && may_be_of_run (state, a, b))
    return add_leaf (state, join, a, b, GANTRY_PY_HANDLE);
  return cannot (state, a, b);
}
