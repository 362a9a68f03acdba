/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on values: truth, arithmetic, comparisons, subscripts. */
#include "core/frontends/python/interpreter-private.h"
#include <string.h>

PyObject *
_gantry_py_checked (GantryPyFrame *frame, const char *name, PyObject *a, PyObject *b, PyObject *result)
{
  PyObject *operands = result != NULL ? NULL : b != NULL ? PyTuple_Pack (2, a, b) : PyTuple_Pack (1, a);

  if (result == NULL)
    _gantry_py_refused (frame->state, name, operands);
  Py_XDECREF (operands);
  return result;
}

/* Truth */

int
_gantry_py_truth (GantryPyFrame *frame, PyObject *value, PyObject **predicate)
{
  PyObject *result;

  *predicate = NULL;
  if (gantry_py_is_handle (value))
    {
      PyObject *args = PyTuple_Pack (1, value);

      *predicate = gantry_py_host_call (frame->state, (PyObject *) &PyBool_Type, args, NULL, GANTRY_PY_BOOL);
      Py_DECREF (args);
      return *predicate != NULL ? 2 : -1;
    }
  if (!gantry_py_value_check (value))
    return PyObject_IsTrue (value);
  result = _gantry_py_call_hook (frame->state, "predicate", "O", value);
  if (result == NULL)
    return -1;
  if (!gantry_py_is_variable (result))
    {
      int truth = PyObject_IsTrue (result);

      Py_DECREF (result);
      return truth;
    }
  *predicate = result;
  return 2;
}

PyObject *
_gantry_py_logical (GantryPyState *state, const char *op, PyObject *a, PyObject *b)
{
  PyObject *values[2] = { NULL, NULL }, *result = NULL;

  if (b != NULL && (PyBool_Check (a) || PyBool_Check (b)))
    {
      gboolean is_and = strcmp (op, "and") == 0;
      PyObject *constant = PyBool_Check (a) ? a : b, *other = PyBool_Check (a) ? b : a;

      return Py_NewRef ((constant == Py_True) == is_and ? other : constant);
    }
  if (b == NULL && PyBool_Check (a))
    return PyBool_FromLong (a == Py_False);
  values[0] = a;
  values[1] = b;
  result = gantry_py_apply (state, op, values, b != NULL ? 2 : 1, NULL);
  if (result != NULL && gantry_py_is_variable (result))
    Py_SETREF (result, gantry_py_variable_new (state, ((GantryPyValue *) result)->node, GANTRY_PY_BOOL));
  return result;
}

/* Operators */

static PyObject *
host_binary (GantryPyFrame *frame, const char *name, PyObject *a, PyObject *b)
{
  PyObject *module = PyImport_ImportModule ("operator");
  PyObject *function = module != NULL ? PyObject_GetAttrString (module, name) : NULL;
  PyObject *args = b != NULL ? PyTuple_Pack (2, a, b) : PyTuple_Pack (1, a), *result = NULL;

  if (function != NULL)
    result = gantry_py_host_call (frame->state, function, args, NULL, GANTRY_PY_HANDLE);
  Py_XDECREF (module);
  Py_XDECREF (function);
  Py_DECREF (args);
  return result;
}

typedef PyObject *(*Binary) (PyObject *, PyObject *);

static PyObject *
power (PyObject *a, PyObject *b)
{
  return PyNumber_Power (a, b, Py_None);
}

static const struct
{
  Binary function;
  const char *host;
} binaries[GANTRY_PY_N_OPERATORS] = {
  [GANTRY_PY_ADD] = { PyNumber_Add, "add" },
  [GANTRY_PY_SUB] = { PyNumber_Subtract, "sub" },
  [GANTRY_PY_MULT] = { PyNumber_Multiply, "mul" },
  [GANTRY_PY_DIV] = { PyNumber_TrueDivide, "truediv" },
  [GANTRY_PY_MOD] = { PyNumber_Remainder, "mod" },
  [GANTRY_PY_POW] = { power, "pow" },
  [GANTRY_PY_FLOOR_DIV] = { PyNumber_FloorDivide, "floordiv" },
  [GANTRY_PY_MAT_MULT] = { PyNumber_MatrixMultiply, "matmul" },
  [GANTRY_PY_LSHIFT] = { PyNumber_Lshift, "lshift" },
  [GANTRY_PY_RSHIFT] = { PyNumber_Rshift, "rshift" },
  [GANTRY_PY_BIT_OR] = { PyNumber_Or, "or_" },
  [GANTRY_PY_BIT_XOR] = { PyNumber_Xor, "xor" },
  [GANTRY_PY_BIT_AND] = { PyNumber_And, "and_" },
};

static gboolean
is_number_variable (PyObject *value)
{
  return gantry_py_is_variable (value) && ((GantryPyValue *) value)->kind != GANTRY_PY_TENSOR && ((GantryPyValue *) value)->kind != GANTRY_PY_HANDLE;
}

static gboolean
is_sequence (PyObject *value)
{
  return PyTuple_Check (value) || PyList_Check (value);
}

/* An array of NumPy and a variable number: NumPy would take the variable for an object. */
static gboolean
is_array_with_number (PyObject *array, PyObject *number)
{
  return is_number_variable (number) && strcmp (Py_TYPE (array)->tp_name, "numpy.ndarray") == 0;
}

PyObject *
_gantry_py_binary (GantryPyFrame *frame, guint op, PyObject *a, PyObject *b)
{
  if (is_array_with_number (a, b) || is_array_with_number (b, a) || gantry_py_is_handle (a) || gantry_py_is_handle (b)
      || (PyUnicode_Check (a) && gantry_py_holds_variable (b))
      || (op == GANTRY_PY_MULT && ((is_sequence (a) && is_number_variable (b)) || (is_sequence (b) && is_number_variable (a)))))
    return host_binary (frame, binaries[op].host, a, b);
  return _gantry_py_checked (frame, binaries[op].host, a, b, binaries[op].function (a, b));
}

/* The truth of a tensor is a tensor, that of a number a number. Steals @truth (nullable). */
static PyObject *
like_operand (GantryPyFrame *frame, PyObject *operand, PyObject *truth)
{
  if (truth != NULL && gantry_py_is_variable (truth) && gantry_py_value_check (operand) && ((GantryPyValue *) operand)->kind == GANTRY_PY_TENSOR
      && ((GantryPyValue *) truth)->kind == GANTRY_PY_BOOL)
    Py_SETREF (truth, _gantry_py_call_hook (frame->state, "truth_tensor", "O", truth));
  return truth;
}

PyObject *
_gantry_py_unary (GantryPyFrame *frame, guint op, PyObject *value)
{
  static const struct
  {
    unaryfunc function;
    const char *name;
  } unaries[] = {
    [GANTRY_PY_USUB] = { PyNumber_Negative, "neg" }, [GANTRY_PY_UADD] = { PyNumber_Positive, "pos" }, [GANTRY_PY_INVERT] = { PyNumber_Invert, "invert" }
  };

  if (op == GANTRY_PY_NOT)
    {
      PyObject *predicate = NULL;
      int truth = _gantry_py_truth (frame, value, &predicate);
      PyObject *result = truth < 0 ? NULL : truth == 2 ? _gantry_py_logical (frame->state, "not", predicate, NULL) : PyBool_FromLong (!truth);

      Py_XDECREF (predicate);
      return like_operand (frame, value, result);
    }
  if (gantry_py_is_handle (value))
    return host_binary (frame, unaries[op].name, value, NULL);
  return _gantry_py_checked (frame, unaries[op].name, value, NULL, unaries[op].function (value));
}

static PyObject *
compare_in (GantryPyFrame *frame, guint op, PyObject *a, PyObject *b)
{
  PyObject *result;
  int found;

  if ((PyTuple_Check (b) || PyList_Check (b)) && (gantry_py_holds_variable (a) || gantry_py_holds_variable (b) || gantry_py_value_check (a)))
    result = _gantry_py_call_hook (frame->state, "sequence_contains", "OO", b, a);
  else
    {
      found = PySequence_Contains (b, a);
      result = _gantry_py_checked (frame, "contains", a, b, found < 0 ? NULL : PyBool_FromLong (found));
    }
  if (result != NULL && op == GANTRY_PY_NOT_IN)
    Py_SETREF (result, _gantry_py_logical (frame->state, "not", result, NULL));
  return like_operand (frame, a, result);
}

static PyObject *
compare_is (GantryPyFrame *frame, guint op, PyObject *a, PyObject *b)
{
  /* Numbers that are variables are no objects: they are what they are equal to. */
  if ((is_number_variable (a) && (is_number_variable (b) || PyLong_Check (b) || PyFloat_Check (b)))
      || (is_number_variable (b) && (PyLong_Check (a) || PyFloat_Check (a))))
    return PyObject_RichCompare (a, b, op == GANTRY_PY_IS ? Py_EQ : Py_NE);
  return PyBool_FromLong ((a == b) == (op == GANTRY_PY_IS));
}

PyObject *
_gantry_py_compare (GantryPyFrame *frame, guint op, PyObject *a, PyObject *b)
{
  static const int codes[] = { Py_EQ, Py_NE, Py_LT, Py_LE, Py_GT, Py_GE };
  static const char *const names[] = { "eq", "ne", "lt", "le", "gt", "ge" };

  if (op == GANTRY_PY_IS || op == GANTRY_PY_IS_NOT)
    return gantry_py_is_handle (a) || gantry_py_is_handle (b) ? host_binary (frame, op == GANTRY_PY_IS ? "is_" : "is_not", a, b) : compare_is (frame, op, a, b);
  if (gantry_py_is_handle (a) || gantry_py_is_handle (b)
      || ((is_sequence (a) || is_sequence (b)) && (gantry_py_holds_handle (a) || gantry_py_holds_handle (b))))
    {
      PyObject *result, *name;

      if (op != GANTRY_PY_IN && op != GANTRY_PY_NOT_IN)
        return host_binary (frame, names[op - GANTRY_PY_EQ], a, b);
      result = host_binary (frame, "contains", b, a);
      if (result == NULL || op == GANTRY_PY_IN)
        return result;
      name = host_binary (frame, "not_", result, NULL);
      Py_DECREF (result);
      return name;
    }
  if (op == GANTRY_PY_IN || op == GANTRY_PY_NOT_IN)
    return compare_in (frame, op, a, b);
  if ((op == GANTRY_PY_EQ || op == GANTRY_PY_NOT_EQ) && is_sequence (a) && is_sequence (b) && (gantry_py_holds_variable (a) || gantry_py_holds_variable (b)))
    {
      PyObject *same = _gantry_py_call_hook (frame->state, "same", "OO", a, b);

      if (same != NULL && op == GANTRY_PY_NOT_EQ)
        Py_SETREF (same, _gantry_py_logical (frame->state, "not", same, NULL));
      return same;
    }
  return _gantry_py_checked (frame, names[op - GANTRY_PY_EQ], a, b, PyObject_RichCompare (a, b, codes[op - GANTRY_PY_EQ]));
}

/* Subscripts */

static gboolean
check_slice (PyObject *slice)
{
  PySliceObject *s = (PySliceObject *) slice;
  PyObject *const parts[] = { s->start, s->stop, s->step };
  static const char *const names[] = { "start", "stop", "step" };

  for (guint i = 0; i < 3; i++)
    if (PyFloat_Check (parts[i]) || PyUnicode_Check (parts[i]))
      {
        PyErr_Format (PyExc_RuntimeError, "Attribute '%s' of %R should be int or Tensor with Int type but got %S", names[i], slice, parts[i]);
        return FALSE;
      }
  return TRUE;
}

static gboolean
all_callable (PyObject *tuple)
{
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE (tuple); i++)
    if (!PyCallable_Check (PyTuple_GET_ITEM (tuple, i)))
      return FALSE;
  return TRUE;
}

static PyObject *
getitem (GantryPyFrame *frame, PyObject *object, PyObject *index)
{
  PyObject *result, *plain;

  if (PySlice_Check (index) && !check_slice (index))
    return NULL;

  if (gantry_py_is_handle (object) || gantry_py_is_handle (index))
    return host_binary (frame, "getitem", object, index);
  if (gantry_py_value_check (object))
    {
      result = PyObject_GetItem (object, index);
      return result == NULL && _gantry_py_needs_data (frame->state) ? host_binary (frame, "getitem", object, index) : result;
    }
  if (PyTuple_Check (object) && gantry_py_trace (frame->state)->strict && gantry_py_is_variable (index) && ((GantryPyValue *) index)->kind == GANTRY_PY_TENSOR
      && !all_callable (object))
    return PyErr_Format (PyExc_TypeError,
                         "When JIT_SYNTAX_LEVEL is STRICT, using Tensor index to get value from tuple requires that all "
                         "elements in tuple should be function but got tuple abstract: %R",
                         object);
  if (is_sequence (object) && gantry_py_value_check (index))
    {
      result = _gantry_py_call_hook (frame->state, "sequence_item", "OO", object, index);
      return result == NULL && _gantry_py_needs_data (frame->state) ? host_binary (frame, "getitem", object, index) : result;
    }
  if ((PyTuple_Check (object) || PyList_Check (object) || PyUnicode_Check (object)) && PySlice_Check (index)
      && (gantry_py_value_check (((PySliceObject *) index)->start) || gantry_py_value_check (((PySliceObject *) index)->stop)
          || gantry_py_value_check (((PySliceObject *) index)->step)))
    {
      plain = _gantry_py_call_hook (frame->state, "plain_slice", "O", index);
      if (plain == NULL && _gantry_py_needs_data (frame->state))
        return _gantry_py_call_hook (frame->state, "host_slice", "OO", object, index);
      result = plain != NULL ? PyObject_GetItem (object, plain) : NULL;
      Py_XDECREF (plain);
      return result;
    }
  if (_gantry_py_is_graph_object (frame->state, object))
    {
      PyObject *method = PyObject_GetAttrString (object, "__getitem__");

      result = method != NULL ? _gantry_py_call1 (frame, method, index) : NULL;
      Py_XDECREF (method);
      return result;
    }
  if (PyDict_Check (object) && gantry_py_value_check (index) && gantry_py_is_variable (index))
    return PyErr_Format (PyExc_TypeError, "The keys of a dict have to be known while compiling.");
  if (gantry_py_holds_variable (index))
    return host_binary (frame, "getitem", object, index);
  result = PyObject_GetItem (object, index);
  if (result != NULL && !gantry_py_trace (frame->state)->strict && (PyList_CheckExact (result) || PyDict_CheckExact (result)))
    {
      PyObject *now = _gantry_py_container_now (frame->state, result);

      if (now != NULL)
        Py_SETREF (result, now);
    }
  return result;
}

PyObject *
_gantry_py_getitem (GantryPyFrame *frame, PyObject *object, PyObject *index)
{
  return _gantry_py_checked (frame, "getitem", object, index, getitem (frame, object, index));
}
