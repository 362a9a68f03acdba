/* SPDX-License-Identifier: Apache-2.0 */
/* Python's builtin functions as a graph knows them. Those that only look at structures are CPython's; a variable among the
 * arguments makes nodes; an object of the run makes a host call. */
#include "core/frontends/python/interpreter-private.h"
#include <string.h>

const char *
_gantry_py_type_word (GantryPyState *state, PyObject *value)
{
  if (gantry_py_value_check (value))
    {
      guint8 kind = ((GantryPyValue *) value)->kind;

      return kind == GANTRY_PY_TENSOR ? "Tensor" : kind == GANTRY_PY_HANDLE ? "External" : "Number";
    }
  if (PyLong_Check (value) || PyFloat_Check (value))
    return "Number";
  /* NumPy's scalars. */
  if (PyNumber_Check (value) && g_str_has_prefix (Py_TYPE (value)->tp_name, "numpy.") && strcmp (Py_TYPE (value)->tp_name, "numpy.ndarray") != 0)
    return "Number";
  if (PyUnicode_Check (value))
    return "String";
  if (PyTuple_Check (value))
    return "Tuple";
  if (PyList_Check (value))
    return "List";
  if (PyDict_Check (value))
    return "Dictionary";
  if (value == Py_None)
    return "None";
  if (PySlice_Check (value))
    return "Slice";
  if (PyFunction_Check (value) || PyMethod_Check (value) || _gantry_py_is_closure (state, value))
    return "Func";
  return "External";
}

PyObject *
_gantry_py_elements (GantryPyFrame *frame, PyObject *iterable)
{
  PyObject *elements, *operands;

  if (PyTuple_Check (iterable) || PyList_Check (iterable))
    return Py_NewRef (iterable);
  if (PyDict_Check (iterable))
    return PyDict_Keys (iterable);
  elements = gantry_py_value_check (iterable) ? _gantry_py_call_hook (frame->state, "tensor_elements", "O", iterable) : PySequence_List (iterable);
  if (elements == NULL)
    {
      operands = PyTuple_Pack (1, iterable);
      _gantry_py_refused (frame->state, "iter", operands);
      Py_DECREF (operands);
    }
  return elements;
}

typedef struct
{
  GantryPyFrame *frame;
  PyObject *callable, *args, *kwargs;
  Py_ssize_t n;
} Call;

static PyObject *
argument (const Call *call, Py_ssize_t i)
{
  return PyTuple_GET_ITEM (call->args, i);
}

static PyObject *
plainly (const Call *call)
{
  return PyObject_Call (call->callable, call->args, call->kwargs);
}

static PyObject *
by_hook (const Call *call, const char *name)
{
  return PyObject_Call (_gantry_py_hook (call->frame->state, name), call->args, call->kwargs);
}

/* int, float, bool of a variable is a variable number. */
static PyObject *
convert (const Call *call, const char *hook)
{
  if (call->n > 0 && gantry_py_is_variable (argument (call, 0)))
    return by_hook (call, hook);
  return plainly (call);
}

static PyObject *
builtin_int (const Call *call)
{
  return convert (call, "to_int");
}

static PyObject *
builtin_float (const Call *call)
{
  return convert (call, "to_float");
}

static PyObject *
builtin_bool (const Call *call)
{
  PyObject *predicate = NULL;
  int truth;

  if (call->n != 1)
    return plainly (call);
  truth = _gantry_py_truth (call->frame, argument (call, 0), &predicate);
  if (truth == 2)
    Py_SETREF (predicate, _gantry_py_call_hook (call->frame->state, "truth_number", "O", predicate));
  return truth < 0 ? NULL : truth == 2 ? predicate : PyBool_FromLong (truth);
}

static PyObject *
builtin_str (const Call *call)
{
  if (call->n > 0 && gantry_py_holds_variable (argument (call, 0)))
    return gantry_py_host_call (call->frame->state, _gantry_py_hook (call->frame->state, "graph_str"), call->args, NULL, GANTRY_PY_HANDLE);
  return by_hook (call, "graph_str");
}

static PyObject *
to_tuple (PyObject *sequence)
{
  PyObject *tuple = sequence != NULL ? PySequence_Tuple (sequence) : NULL;

  Py_XDECREF (sequence);
  return tuple;
}

static PyObject *
builtin_tuple (const Call *call)
{
  return call->n == 0 ? PyTuple_New (0) : to_tuple (_gantry_py_elements (call->frame, argument (call, 0)));
}

static PyObject *
builtin_list (const Call *call)
{
  PyObject *elements = call->n == 0 ? PyTuple_New (0) : _gantry_py_elements (call->frame, argument (call, 0)), *list;

  list = elements != NULL ? PySequence_List (elements) : NULL;
  Py_XDECREF (elements);
  return list;
}

static PyObject *
builtin_range (const Call *call)
{
  PyObject *plain, *range;

  for (Py_ssize_t i = 0; i < call->n; i++)
    if (gantry_py_is_variable (argument (call, i)) && ((GantryPyValue *) argument (call, i))->kind == GANTRY_PY_INT)
      return gantry_py_host_call (call->frame->state, _gantry_py_hook (call->frame->state, "range_tuple"), call->args, NULL, GANTRY_PY_HANDLE);
  if (gantry_py_holds_variable (call->args))
    return PyErr_Format (PyExc_TypeError, "For range(), the inputs have to be known while compiling, except in a for statement.");
  plain = _gantry_py_call_hook (call->frame->state, "plain_arguments", "O", call->args);
  range = plain != NULL ? PyObject_Call (call->callable, plain, NULL) : NULL;
  Py_XDECREF (plain);
  return to_tuple (range);
}

static PyObject *
elements_of_all (const Call *call, Py_ssize_t from)
{
  PyObject *all = PyTuple_New (call->n - from);

  for (Py_ssize_t i = from; i < call->n; i++)
    {
      PyObject *elements = _gantry_py_elements (call->frame, argument (call, i));

      if (elements == NULL)
        {
          Py_DECREF (all);
          return NULL;
        }
      PyTuple_SET_ITEM (all, i - from, elements);
    }
  return all;
}

static PyObject *
builtin_zip (const Call *call)
{
  PyObject *all = call->n > 0 ? elements_of_all (call, 0) : NULL, *zipped = all != NULL ? PyObject_Call (call->callable, all, NULL) : NULL;

  if (call->n == 0)
    PyErr_SetString (PyExc_RuntimeError, "The zip operator must have at least 1 argument, but the size of arguments is 0.");
  Py_XDECREF (all);
  return to_tuple (zipped);
}

static PyObject *
builtin_enumerate (const Call *call)
{
  PyObject *elements = call->n > 0 ? _gantry_py_elements (call->frame, argument (call, 0)) : NULL, *args, *result;

  if (elements == NULL)
    return call->n == 0 ? plainly (call) : NULL;
  args = PyTuple_New (call->n);
  PyTuple_SET_ITEM (args, 0, elements);
  for (Py_ssize_t i = 1; i < call->n; i++)
    PyTuple_SET_ITEM (args, i, Py_NewRef (argument (call, i)));
  result = PyObject_Call (call->callable, args, call->kwargs);
  Py_DECREF (args);
  return to_tuple (result);
}

/* One kind of result for all: a list where the first sequence is one. */
static PyObject *
like_first (PyObject *list, PyObject *first)
{
  PyObject *tuple;

  if (list == NULL || PyList_Check (first))
    return list;
  tuple = PyList_AsTuple (list);
  Py_DECREF (list);
  return tuple;
}

static PyObject *
builtin_map (const Call *call)
{
  PyObject *all = call->n > 1 ? elements_of_all (call, 1) : NULL, *result = all != NULL ? PyList_New (0) : NULL;
  Py_ssize_t n = all != NULL ? PySequence_Fast_GET_SIZE (PyTuple_GET_ITEM (all, 0)) : 0;

  for (Py_ssize_t i = 1; all == NULL && i < call->n; i++)
    if (!PyDict_Check (argument (call, i)) && !PyTuple_Check (argument (call, i)) && !PyList_Check (argument (call, i)))
      {
        PyObject *operands = PyTuple_GetSlice (call->args, i, i + 1);

        _gantry_py_refused (call->frame->state, "map", operands);
        Py_DECREF (operands);
      }
  if (call->n < 2)
    PyErr_SetString (PyExc_TypeError, "The Map operator must have at least two arguments: map() takes a function and what it is mapped over.");
  for (Py_ssize_t j = 1; result != NULL && j < call->n - 1; j++)
    if (PySequence_Fast_GET_SIZE (PyTuple_GET_ITEM (all, j)) != n)
      {
        PyErr_Format (PyExc_RuntimeError,
                      "For 'Map', the length of tuples must be the same. The length of the second element in Map is "
                      "%zd, but the length of the third element in Map is %zd.",
                      n, PySequence_Fast_GET_SIZE (PyTuple_GET_ITEM (all, j)));
        Py_CLEAR (result);
      }
  for (Py_ssize_t i = 0; result != NULL && i < n; i++)
    {
      PyObject *args = PyTuple_New (call->n - 1), *one;

      for (Py_ssize_t j = 0; j < call->n - 1; j++)
        PyTuple_SET_ITEM (args, j, Py_NewRef (PySequence_Fast_GET_ITEM (PyTuple_GET_ITEM (all, j), i)));
      one = _gantry_py_call (call->frame, argument (call, 0), args, NULL);
      if (one == NULL || PyList_Append (result, one) < 0)
        Py_CLEAR (result);
      Py_XDECREF (one);
      Py_DECREF (args);
    }
  Py_XDECREF (all);
  return result != NULL ? like_first (result, argument (call, 1)) : NULL;
}

/* A list always: how many elements it has is not in the type of the argument. */
static PyObject *
builtin_filter (const Call *call)
{
  PyObject *elements = call->n == 2 ? _gantry_py_elements (call->frame, argument (call, 1)) : NULL;
  PyObject *result = elements != NULL ? PyList_New (0) : NULL;

  for (Py_ssize_t i = 0; result != NULL && i < PySequence_Fast_GET_SIZE (elements); i++)
    {
      PyObject *element = PySequence_Fast_GET_ITEM (elements, i), *predicate = NULL;
      PyObject *verdict = argument (call, 0) == Py_None ? Py_NewRef (element) : _gantry_py_call1 (call->frame, argument (call, 0), element);
      int truth = verdict != NULL ? _gantry_py_truth (call->frame, verdict, &predicate) : -1;

      Py_XDECREF (verdict);
      Py_XDECREF (predicate);
      if (truth == 2)
        PyErr_SetString (PyExc_TypeError, "For filter(), what the function returns has to be known while compiling.");
      if (truth < 0 || truth == 2)
        Py_CLEAR (result);
      else if (truth == 1)
        PyList_Append (result, element);
    }
  Py_XDECREF (elements);
  if (call->n != 2)
    return plainly (call);
  return result;
}

static PyObject *
builtin_len (const Call *call)
{
  PyObject *method, *result;

  if (call->n == 1 && _gantry_py_is_graph_object (call->frame->state, argument (call, 0))
      && _gantry_py_author (call->frame->state, (PyObject *) Py_TYPE (argument (call, 0))) == GANTRY_PY_USERS)
    {
      PyObject *none = PyTuple_New (0);

      method = PyObject_GetAttrString (argument (call, 0), "__len__");
      result = method != NULL ? _gantry_py_call (call->frame, method, none, NULL) : NULL;
      Py_XDECREF (method);
      Py_DECREF (none);
      return result;
    }
  return plainly (call);
}

static PyObject *
builtin_isinstance (const Call *call)
{
  return call->n == 2 ? by_hook (call, "graph_isinstance") : plainly (call);
}

static PyObject *
builtin_type (const Call *call)
{
  return call->n == 1 ? by_hook (call, "graph_type") : plainly (call);
}

static PyObject *
builtin_getattr (const Call *call)
{
  PyObject *result;

  if (call->n >= 2 && !PyUnicode_Check (argument (call, 1)))
    return PyErr_Format (PyExc_TypeError, "getattr(): attribute name must be string but got: %s",
                         _gantry_py_type_word (call->frame->state, argument (call, 1)));
  if (call->n < 2 || call->n > 3)
    return plainly (call);
  result = _gantry_py_getattr (call->frame, argument (call, 0), argument (call, 1));
  if (result == NULL && call->n == 3 && PyErr_ExceptionMatches (PyExc_AttributeError))
    {
      PyErr_Clear ();
      return Py_NewRef (argument (call, 2));
    }
  return result;
}

static PyObject *
builtin_hasattr (const Call *call)
{
  PyObject *result;

  if (call->n != 2 || !PyUnicode_Check (argument (call, 1)))
    return plainly (call);
  result = _gantry_py_getattr (call->frame, argument (call, 0), argument (call, 1));
  if (result == NULL && !PyErr_ExceptionMatches (PyExc_AttributeError))
    return NULL;
  PyErr_Clear ();
  Py_XDECREF (result);
  return PyBool_FromLong (result != NULL);
}

static PyObject *
builtin_setattr (const Call *call)
{
  if (call->n != 3)
    return plainly (call);
  if (_gantry_py_setattr (call->frame, argument (call, 0), argument (call, 1), argument (call, 2)) < 0)
    return NULL;
  Py_RETURN_NONE;
}

/* all, any: true ones are looked for as far as they are known. */
static PyObject *
all_or_any (const Call *call, gboolean is_all)
{
  PyObject *elements = call->n == 1 ? _gantry_py_elements (call->frame, argument (call, 0)) : NULL;
  PyObject *result = elements != NULL ? PyBool_FromLong (is_all) : NULL;

  for (Py_ssize_t i = 0; result != NULL && i < PySequence_Fast_GET_SIZE (elements); i++)
    {
      PyObject *predicate = NULL, *joined;
      int truth = _gantry_py_truth (call->frame, PySequence_Fast_GET_ITEM (elements, i), &predicate);

      joined = truth < 0 ? NULL : _gantry_py_logical (call->frame->state, is_all ? "and" : "or", result, truth == 2 ? predicate : truth ? Py_True : Py_False);
      Py_XDECREF (predicate);
      Py_SETREF (result, joined);
    }
  Py_XDECREF (elements);
  return call->n == 1 ? result : plainly (call);
}

static PyObject *
builtin_all (const Call *call)
{
  return all_or_any (call, TRUE);
}

static PyObject *
builtin_any (const Call *call)
{
  return all_or_any (call, FALSE);
}

static PyObject *
builtin_max (const Call *call)
{
  return by_hook (call, "graph_max");
}

static PyObject *
builtin_min (const Call *call)
{
  return by_hook (call, "graph_min");
}

static PyObject *
builtin_sum (const Call *call)
{
  PyObject *total, *elements;

  if (call->n == 0)
    return plainly (call);
  if (gantry_py_value_check (argument (call, 0)))
    return by_hook (call, "graph_sum");
  elements = _gantry_py_elements (call->frame, argument (call, 0));
  total = call->n > 1 ? Py_NewRef (argument (call, 1)) : PyLong_FromLong (0);
  for (Py_ssize_t i = 0; elements != NULL && total != NULL && i < PySequence_Fast_GET_SIZE (elements); i++)
    Py_SETREF (total, _gantry_py_binary (call->frame, GANTRY_PY_ADD, total, PySequence_Fast_GET_ITEM (elements, i)));
  if (elements == NULL)
    Py_CLEAR (total);
  Py_XDECREF (elements);
  return total;
}

static PyObject *
builtin_round (const Call *call)
{
  return gantry_py_holds_variable (call->args) || (call->n > 0 && gantry_py_value_check (argument (call, 0))) ? by_hook (call, "graph_round") : plainly (call);
}

static PyObject *
builtin_dict (const Call *call)
{
  return plainly (call);
}

/* What is printed when the graph runs, in the order of the program. */
static PyObject *
builtin_print (const Call *call)
{
  GantryPyState *state = call->frame->state;
  gboolean strict = gantry_py_trace (state)->strict;
  PyObject *done;

  gantry_py_trace (state)->strict = FALSE;
  done = gantry_py_host_call (state, _gantry_py_hook (state, gantry_py_holds_handle (call->args) ? "graph_print_plainly" : "graph_print"), call->args,
                              call->kwargs, GANTRY_PY_BOOL);
  gantry_py_trace (state)->strict = strict;
  if (done == NULL)
    return NULL;
  Py_DECREF (done);
  Py_RETURN_NONE;
}

static PyObject *
builtin_super (const Call *call)
{
  return plainly (call);
}

typedef struct
{
  const char *name;
  PyObject *(*call) (const Call *call);
} Builtin;

/* clang-format off */
static const Builtin builtins[] = {
  { "int", builtin_int }, { "float", builtin_float }, { "bool", builtin_bool }, { "str", builtin_str },
  { "tuple", builtin_tuple }, { "list", builtin_list }, { "dict", builtin_dict }, { "range", builtin_range },
  { "zip", builtin_zip }, { "enumerate", builtin_enumerate }, { "map", builtin_map }, { "filter", builtin_filter },
  { "len", builtin_len }, { "isinstance", builtin_isinstance }, { "type", builtin_type }, { "getattr", builtin_getattr },
  { "hasattr", builtin_hasattr }, { "setattr", builtin_setattr }, { "all", builtin_all }, { "any", builtin_any },
  { "max", builtin_max }, { "min", builtin_min }, { "sum", builtin_sum }, { "round", builtin_round },
  { "print", builtin_print }, { "super", builtin_super }, { "abs", plainly }, { "pow", plainly },
};
/* clang-format on */

const char *
_gantry_py_builtin_name (PyObject *callable)
{
  const char *name = NULL;
  PyObject *found;

  if (PyType_Check (callable))
    name = ((PyTypeObject *) callable)->tp_name;
  else if (PyCFunction_Check (callable))
    name = ((PyCFunctionObject *) callable)->m_ml->ml_name;
  if (name == NULL || strchr (name, '.') != NULL)
    return NULL;
  found = PyDict_GetItemString (PyEval_GetBuiltins (), name);
  return found == callable ? name : NULL;
}

static const char *const structural[] = { "isinstance", "print", "getattr", "hasattr", "setattr", "map", "filter", "zip",
                                          "enumerate",  "type",  "range",   "super",   "sum",     "all", "any",    NULL };

static gboolean
goes_to_host (const Call *call, const char *name)
{
  if (strcmp (name, "print") == 0)
    return FALSE;
  if (!g_strv_contains (structural, name))
    return gantry_py_holds_handle (call->args);
  if (strcmp (name, "getattr") == 0 && call->n == 2)
    return FALSE;
  for (Py_ssize_t i = 0; i < call->n; i++)
    if (gantry_py_is_handle (argument (call, i)))
      return TRUE;
  return FALSE;
}

static gboolean
is_reduce (PyObject *callable)
{
  return PyCFunction_Check (callable) && strcmp (((PyCFunctionObject *) callable)->m_ml->ml_name, "reduce") == 0
         && ((PyCFunctionObject *) callable)->m_module != NULL
         && PyUnicode_CompareWithASCIIString (((PyCFunctionObject *) callable)->m_module, "_functools") == 0;
}

/* functools.reduce (function, elements[, first]): the function may be one of the graph. */
static PyObject *
call_reduce (const Call *call)
{
  PyObject *elements = call->n >= 2 && call->n <= 3 ? _gantry_py_elements (call->frame, argument (call, 1)) : NULL;
  PyObject *total = elements != NULL && call->n == 3 ? Py_NewRef (argument (call, 2)) : NULL;
  Py_ssize_t i = 0, n = elements != NULL ? PySequence_Fast_GET_SIZE (elements) : 0;

  if (elements == NULL)
    return PyErr_Occurred () ? NULL : plainly (call);
  if (total == NULL && n == 0)
    PyErr_SetString (PyExc_TypeError, "reduce() of empty iterable with no initial value");
  else if (total == NULL)
    total = Py_NewRef (PySequence_Fast_GET_ITEM (elements, i++));
  for (; total != NULL && i < n; i++)
    {
      PyObject *args = PyTuple_Pack (2, total, PySequence_Fast_GET_ITEM (elements, i));

      Py_SETREF (total, _gantry_py_call (call->frame, argument (call, 0), args, NULL));
      Py_DECREF (args);
    }
  Py_DECREF (elements);
  return total;
}

/* Those that call functions of the program, whose exceptions are theirs. */
static gboolean
calls_others (const char *name)
{
  static const char *const names[] = { "map", "filter", "getattr", "hasattr", "setattr", "print", "super", NULL };

  return g_strv_contains (names, name);
}

PyObject *
_gantry_py_call_builtin (GantryPyFrame *frame, PyObject *callable, PyObject *args, PyObject *kwargs, gboolean *known)
{
  const char *name = _gantry_py_builtin_name (callable);
  Call call = { frame, callable, args, kwargs, PyTuple_GET_SIZE (args) };
  PyObject *result;

  *known = is_reduce (callable) && !gantry_py_holds_handle (args);
  if (*known)
    return call_reduce (&call);
  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (builtins); i++)
    if (strcmp (builtins[i].name, name) == 0)
      {
        *known = TRUE;
        if (goes_to_host (&call, name))
          return gantry_py_host_call (frame->state, callable, args, kwargs, GANTRY_PY_HANDLE);
        result = builtins[i].call (&call);
        if (result == NULL && !calls_others (name))
          _gantry_py_refused (frame->state, name, args);
        return result;
      }
  return NULL;
}
