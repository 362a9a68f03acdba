/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions. */
#include "core/frontends/python/interpreter-private.h"
#include <string.h>

/* @result of an operator (@name) of @a and @b (nullable): where it is NULL, with the exception that graph mode has. */
static PyObject *
checked (GantryPyFrame *frame, const char *name, PyObject *a, PyObject *b, PyObject *result)
{
  PyObject *operands = result != NULL ? NULL : b != NULL ? PyTuple_Pack (2, a, b) : PyTuple_Pack (1, a);

  if (result == NULL)
    _gantry_py_refused (frame->state, name, operands);
  Py_XDECREF (operands);
  return result;
}

/* @star: what a starred item is an operand of */
static PyObject *
eval_items (GantryPyFrame *frame, GantryPyNode *const *nodes, guint n, const char *star)
{
  PyObject *list = PyList_New (0);

  for (guint i = 0; i < n; i++)
    {
      gboolean starred = nodes[i]->kind == GANTRY_PY_STARRED;
      PyObject *value = _gantry_py_eval (frame, starred ? nodes[i]->a : nodes[i]), *elements = NULL;

      if (value != NULL && starred)
        {
          elements = checked (frame, star, value, NULL, _gantry_py_elements (frame, value));
          Py_SETREF (value, elements);
        }
      if (value == NULL)
        {
          Py_DECREF (list);
          return NULL;
        }
      if (starred)
        PyList_SetSlice (list, PyList_GET_SIZE (list), PyList_GET_SIZE (list), value);
      else
        PyList_Append (list, value);
      Py_DECREF (value);
    }
  return list;
}

static PyObject *
eval_tuple (GantryPyFrame *frame, GantryPyNode *const *nodes, guint n, const char *star)
{
  PyObject *list = eval_items (frame, nodes, n, star), *tuple = list != NULL ? PyList_AsTuple (list) : NULL;

  Py_XDECREF (list);
  return tuple;
}

/* Names */

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

      for (GantryTrace *t = frame->state->trace; changed == NULL && t != NULL; t = t != t->root ? t->parent : NULL)
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

          return PyErr_Format (PyExc_UnboundLocalError, "The local variable '%U' is not defined in %s branch, but defined in %s branch.",
                               name, in_true ? "false" : "true", in_true ? "true" : "false");
        }
      if (node->kind == GANTRY_PY_FOR || node->kind == GANTRY_PY_WHILE)
        return PyErr_Format (PyExc_UnboundLocalError, "The local variable '%U' defined in the '%s' loop body cannot be used outside of "
                             "the loop body. Please define variable '%U' before '%s'.", name, word, name, word);
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
  [GANTRY_PY_ADD] = { PyNumber_Add, "add" }, [GANTRY_PY_SUB] = { PyNumber_Subtract, "sub" },
  [GANTRY_PY_MULT] = { PyNumber_Multiply, "mul" }, [GANTRY_PY_DIV] = { PyNumber_TrueDivide, "truediv" },
  [GANTRY_PY_MOD] = { PyNumber_Remainder, "mod" }, [GANTRY_PY_POW] = { power, "pow" },
  [GANTRY_PY_FLOOR_DIV] = { PyNumber_FloorDivide, "floordiv" }, [GANTRY_PY_MAT_MULT] = { PyNumber_MatrixMultiply, "matmul" },
  [GANTRY_PY_LSHIFT] = { PyNumber_Lshift, "lshift" }, [GANTRY_PY_RSHIFT] = { PyNumber_Rshift, "rshift" },
  [GANTRY_PY_BIT_OR] = { PyNumber_Or, "or_" }, [GANTRY_PY_BIT_XOR] = { PyNumber_Xor, "xor" },
  [GANTRY_PY_BIT_AND] = { PyNumber_And, "and_" },
};

static gboolean
is_number_variable (PyObject *value)
{
  return gantry_py_is_variable (value) && ((GantryPyValue *) value)->kind != GANTRY_PY_TENSOR
         && ((GantryPyValue *) value)->kind != GANTRY_PY_HANDLE;
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
  if (is_array_with_number (a, b) || is_array_with_number (b, a) || gantry_py_is_handle (a) || gantry_py_is_handle (b) || (PyUnicode_Check (a) && gantry_py_holds_variable (b))
      || (op == GANTRY_PY_MULT && ((is_sequence (a) && is_number_variable (b)) || (is_sequence (b) && is_number_variable (a)))))
    return host_binary (frame, binaries[op].host, a, b);
  return checked (frame, binaries[op].host, a, b, binaries[op].function (a, b));
}

/* The truth of a tensor is a tensor, that of a number a number. Steals @truth (nullable). */
static PyObject *
like_operand (GantryPyFrame *frame, PyObject *operand, PyObject *truth)
{
  if (truth != NULL && gantry_py_is_variable (truth) && gantry_py_value_check (operand)
      && ((GantryPyValue *) operand)->kind == GANTRY_PY_TENSOR && ((GantryPyValue *) truth)->kind == GANTRY_PY_BOOL)
    Py_SETREF (truth, _gantry_py_call_hook (frame->state, "truth_tensor", "O", truth));
  return truth;
}

static PyObject *
eval_unary (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *value = _gantry_py_eval (frame, node->a), *predicate = NULL, *result = NULL;
  const char *name;
  int truth;

  if (value == NULL)
    return NULL;
  if (node->op == GANTRY_PY_NOT)
    {
      truth = _gantry_py_truth (frame, value, &predicate);
      result = truth < 0 ? NULL : truth == 2 ? _gantry_py_logical (frame->state, "not", predicate, NULL) : PyBool_FromLong (!truth);
      result = like_operand (frame, value, result);
      Py_DECREF (value);
      Py_XDECREF (predicate);
      return result;
    }
  name = node->op == GANTRY_PY_USUB ? "neg" : node->op == GANTRY_PY_UADD ? "pos" : "invert";
  if (gantry_py_is_handle (value))
    result = host_binary (frame, name, value, NULL);
  else
    result = checked (frame, name, value, NULL, node->op == GANTRY_PY_USUB ? PyNumber_Negative (value)
                                                : node->op == GANTRY_PY_UADD ? PyNumber_Positive (value) : PyNumber_Invert (value));
  Py_DECREF (value);
  return result;
}

static PyObject *
compare_in (GantryPyFrame *frame, guint op, PyObject *a, PyObject *b)
{
  PyObject *result;
  int found;

  if ((PyTuple_Check (b) || PyList_Check (b)) && (gantry_py_holds_variable (a) || gantry_py_holds_variable (b)
                                                  || gantry_py_value_check (a)))
    result = _gantry_py_call_hook (frame->state, "sequence_contains", "OO", b, a);
  else
    {
      found = PySequence_Contains (b, a);
      result = checked (frame, "contains", a, b, found < 0 ? NULL : PyBool_FromLong (found));
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
    return gantry_py_is_handle (a) || gantry_py_is_handle (b) ? host_binary (frame, op == GANTRY_PY_IS ? "is_" : "is_not", a, b)
                                                              : compare_is (frame, op, a, b);
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
  if ((op == GANTRY_PY_EQ || op == GANTRY_PY_NOT_EQ) && is_sequence (a) && is_sequence (b)
      && (gantry_py_holds_variable (a) || gantry_py_holds_variable (b)))
    {
      PyObject *same = _gantry_py_call_hook (frame->state, "same", "OO", a, b);

      if (same != NULL && op == GANTRY_PY_NOT_EQ)
        Py_SETREF (same, _gantry_py_logical (frame->state, "not", same, NULL));
      return same;
    }
  return checked (frame, names[op - GANTRY_PY_EQ], a, b, PyObject_RichCompare (a, b, codes[op - GANTRY_PY_EQ]));
}

/* a < b < c: all of them; what follows a known False is not looked at. */
static PyObject *
eval_compare (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *left = _gantry_py_eval (frame, node->a), *result = NULL;

  for (guint i = 0; left != NULL && i < node->n_list; i++)
    {
      PyObject *right = _gantry_py_eval (frame, node->list[i]);
      PyObject *one = right != NULL ? _gantry_py_compare (frame, node->ops[i], left, right) : NULL;

      Py_SETREF (left, right);
      if (one == NULL)
        {
          Py_CLEAR (left);
          Py_CLEAR (result);
          return NULL;
        }
      if (result == NULL)
        result = one;
      else
        {
          PyObject *a = NULL, *b = NULL, *both = NULL;
          int x = _gantry_py_truth (frame, result, &a), y = x > 0 ? _gantry_py_truth (frame, one, &b) : 0;

          if (x >= 0 && y >= 0)
            both = x == 0   ? Py_NewRef (Py_False)
                   : x == 2 ? _gantry_py_call_hook (frame->state, "logical_and", "OOO", result, a, one)
                            : Py_NewRef (one);
          if (both == Py_None)
            Py_SETREF (both, _gantry_py_logical (frame->state, "and", x == 2 ? a : Py_True, y == 2 ? b : y ? Py_True : Py_False));
          Py_XDECREF (a);
          Py_XDECREF (b);
          Py_DECREF (one);
          Py_SETREF (result, both);
          if (result == NULL)
            break;
        }
    }
  Py_XDECREF (left);
  return result;
}

static PyObject *
eval_bool_from (GantryPyFrame *frame, const GantryPyNode *node, guint at)
{
  PyObject *value = _gantry_py_eval (frame, node->list[at]), *predicate = NULL, *rest, *result;
  gboolean is_and = node->op == GANTRY_PY_AND;
  int truth;

  if (value == NULL || at + 1 == node->n_list)
    return value;
  truth = _gantry_py_truth (frame, value, &predicate);
  if (truth != 2)
    {
      if (truth < 0 || truth != is_and)
        {
          if (truth < 0)
            Py_CLEAR (value);
          return value;
        }
      Py_DECREF (value);
      return eval_bool_from (frame, node, at + 1);
    }
  rest = eval_bool_from (frame, node, at + 1);
  result = rest == NULL ? NULL : _gantry_py_call_hook (frame->state, is_and ? "logical_and" : "logical_or", "OOO", value, predicate, rest);
  if (result == Py_None)
    Py_SETREF (result, _gantry_py_branch_value (frame, predicate, NULL, is_and ? rest : value, NULL, is_and ? value : rest));
  Py_XDECREF (rest);
  Py_DECREF (predicate);
  Py_DECREF (value);
  return result;
}

static PyObject *
eval_if (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *test = _gantry_py_eval (frame, node->a), *predicate = NULL, *result;
  int truth = test != NULL ? _gantry_py_truth (frame, test, &predicate) : -1;

  Py_XDECREF (test);
  if (truth < 0)
    return NULL;
  if (truth != 2)
    return _gantry_py_eval (frame, truth == 1 ? node->b : node->c);
  result = _gantry_py_branch_value (frame, predicate, node->b, NULL, node->c, NULL);
  Py_DECREF (predicate);
  return result;
}

/* Subscripts */

static PyObject *
eval_slice (GantryPyFrame *frame, const GantryPyNode *node)
{
  GantryPyNode *parts[3] = { node->a, node->b, node->c };
  PyObject *values[3] = { NULL }, *slice = NULL;
  gboolean fine = TRUE;

  for (guint i = 0; fine && i < 3; i++)
    if (parts[i] != NULL)
      fine = (values[i] = _gantry_py_eval (frame, parts[i])) != NULL;
  if (fine)
    slice = PySlice_New (values[0], values[1], values[2]);
  for (guint i = 0; i < 3; i++)
    Py_XDECREF (values[i]);
  return slice;
}

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
  if (PyTuple_Check (object) && frame->state->trace->strict && gantry_py_is_variable (index)
      && ((GantryPyValue *) index)->kind == GANTRY_PY_TENSOR && !all_callable (object))
    return PyErr_Format (PyExc_TypeError, "When JIT_SYNTAX_LEVEL is STRICT, using Tensor index to get value from tuple requires that all "
                         "elements in tuple should be function but got tuple abstract: %R", object);
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
  if (result != NULL && !frame->state->trace->strict && (PyList_CheckExact (result) || PyDict_CheckExact (result)))
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
  return checked (frame, "getitem", object, index, getitem (frame, object, index));
}

static PyObject *
eval_subscript (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *object = _gantry_py_eval (frame, node->a);
  PyObject *index = object != NULL ? _gantry_py_eval (frame, node->b) : NULL;
  PyObject *result = index != NULL ? _gantry_py_getitem (frame, object, index) : NULL;

  Py_XDECREF (object);
  Py_XDECREF (index);
  return result;
}

/* Dicts and comprehensions */

/* Of a dict that is made in the graph: its keys are known. */
static int
set_key (GantryPyFrame *frame, PyObject *dict, PyObject *key, PyObject *value)
{
  int done = -1;

  if (gantry_py_holds_variable (key) && !gantry_py_holds_handle (key))
    PyErr_SetString (PyExc_TypeError, "The keys of a dict have to be known while compiling.");
  else
    done = PyDict_SetItem (dict, key, value);
  if (done < 0)
    checked (frame, "key", key, NULL, NULL);
  return done;
}

static PyObject *
eval_dict (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *dict = PyDict_New ();

  for (guint i = 0; i < node->n_list; i++)
    {
      PyObject *key = node->list[i] != NULL ? _gantry_py_eval (frame, node->list[i]) : NULL;
      PyObject *value = key != NULL || node->list[i] == NULL ? _gantry_py_eval (frame, node->list2[i]) : NULL;
      int done = value == NULL ? -1 : key != NULL ? set_key (frame, dict, key, value) : PyDict_Update (dict, value);

      Py_XDECREF (key);
      Py_XDECREF (value);
      if (done < 0)
        {
          Py_DECREF (dict);
          return NULL;
        }
    }
  return dict;
}

static int
passes_filters (GantryPyFrame *frame, const GantryPyNode *generator)
{
  for (guint i = 0; i < generator->n_list; i++)
    {
      PyObject *test = _gantry_py_eval (frame, generator->list[i]), *predicate = NULL;
      int truth = test != NULL ? _gantry_py_truth (frame, test, &predicate) : -1;

      Py_XDECREF (test);
      if (truth == 2)
        {
          Py_DECREF (predicate);
          PyErr_SetString (PyExc_TypeError, "The condition of a comprehension has to be known while compiling: how many elements "
                                            "a list has cannot depend on data.");
          return -1;
        }
      if (truth != 1)
        return truth;
    }
  return 1;
}

static int
add_element (GantryPyFrame *frame, const GantryPyNode *node, PyObject *result)
{
  PyObject *key = _gantry_py_eval (frame, node->a), *value;
  int done = -1;

  if (key == NULL)
    return -1;
  if (node->kind != GANTRY_PY_DICT_COMP)
    done = PyList_Append (result, key);
  else if ((value = _gantry_py_eval (frame, node->b)) != NULL)
    {
      done = set_key (frame, result, key, value);
      Py_DECREF (value);
    }
  Py_DECREF (key);
  return done;
}

static PyObject *
eval_comprehension (GantryPyFrame *frame, const GantryPyNode *node)
{
  const GantryPyNode *generator = node->list[0];
  GantryPyChain chain = frame->state->trace->chain;
  PyObject *iterable, *elements, *result, *locals = frame->locals, *outer = frame->outer;
  gboolean fine = TRUE;

  if (node->n_list > 1)
    return PyErr_Format (PyExc_TypeError, "The `generators` supports one `comprehension` in %s/GeneratorExp, but got %u "
                         "comprehensions.", node->kind == GANTRY_PY_DICT_COMP ? "DictComp" : "ListComp", node->n_list);
  iterable = _gantry_py_eval (frame, generator->b);
  elements = iterable != NULL ? _gantry_py_elements (frame, iterable) : NULL;
  Py_XDECREF (iterable);
  if (elements == NULL)
    return NULL;
  /* Its variables are its own: functions that are made in it keep them. */
  frame->outer = _gantry_py_outer_with (frame);
  frame->locals = PyDict_New ();
  frame->n_comprehensions++;
  result = node->kind == GANTRY_PY_DICT_COMP ? PyDict_New () : PyList_New (0);
  for (Py_ssize_t i = 0; fine && i < PySequence_Fast_GET_SIZE (elements); i++)
    {
      int passes;

      gantry_py_chain_enter (frame->state->trace, &chain, node, GANTRY_STEP_ITERATION, (guint) i + 1, NULL);
      passes = _gantry_py_assign (frame, generator->a, PySequence_Fast_GET_ITEM (elements, i)) < 0
                 ? -1 : passes_filters (frame, generator);
      fine = passes == 0 || (passes == 1 && add_element (frame, node, result) == 0);
    }
  if (fine)
    frame->state->trace->chain = chain;
  Py_SETREF (frame->locals, locals);
  Py_SETREF (frame->outer, outer);
  frame->n_comprehensions--;
  Py_DECREF (elements);
  if (!fine)
    Py_CLEAR (result);
  return result;
}

/* Strings */

static PyObject *
format_piece (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *value, *spec, *piece;

  if (node->kind != GANTRY_PY_FORMATTED_VALUE)
    return _gantry_py_eval (frame, node);
  value = _gantry_py_eval (frame, node->a);
  spec = value == NULL ? NULL : node->b != NULL ? _gantry_py_eval (frame, node->b) : PyUnicode_FromString ("");
  piece = spec != NULL ? Py_BuildValue ("(OiO)", value, (int) (gint8) node->op, spec) : NULL;
  Py_XDECREF (value);
  Py_XDECREF (spec);
  return piece;
}

static PyObject *
eval_joined (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *pieces = PyTuple_New (node->n_list), *args, *result = NULL;

  for (guint i = 0; i < node->n_list; i++)
    {
      PyObject *piece = format_piece (frame, node->list[i]);

      if (piece == NULL)
        {
          Py_DECREF (pieces);
          return NULL;
        }
      PyTuple_SET_ITEM (pieces, i, piece);
    }
  args = PyTuple_Pack (1, pieces);
  if (gantry_py_holds_variable (pieces))
    result = gantry_py_host_call (frame->state, _gantry_py_hook (frame->state, "join_string"), args, NULL, GANTRY_PY_HANDLE);
  else
    result = PyObject_CallObject (_gantry_py_hook (frame->state, "join_string"), args);
  Py_DECREF (args);
  Py_DECREF (pieces);
  return result;
}

/* Calls */

static PyObject *
eval_keywords (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *kwargs = PyDict_New ();

  for (guint i = 0; i < node->n_list2; i++)
    {
      PyObject *value = _gantry_py_eval (frame, node->list2[i]->a);
      int done = value == NULL ? -1 : node->list2[i]->name != NULL ? PyDict_SetItem (kwargs, node->list2[i]->name, value)
                                                                   : PyDict_Update (kwargs, value);

      if (value != NULL && done < 0)
        checked (frame, "star", value, NULL, NULL);

      Py_XDECREF (value);
      if (done < 0)
        {
          Py_DECREF (kwargs);
          return NULL;
        }
    }
  return kwargs;
}

static gboolean
is_super (GantryPyFrame *frame, const GantryPyNode *node)
{
  return node->a->kind == GANTRY_PY_NAME && PyUnicode_CompareWithASCIIString (node->a->name, "super") == 0
         && PyDict_GetItem (_gantry_py_function_locals (frame), node->a->name) == NULL;
}

/* super () without arguments: the class is a free variable of the method, the object its first argument. */
static PyObject *
eval_super (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *args, *result, *type = frame->cells != NULL ? PyDict_GetItemString (frame->cells, "__class__") : NULL;
  const GantryPyNode *arguments = frame->node->a;

  if (node->n_list > 0)
    args = eval_tuple (frame, node->list, node->n_list, "star");
  else if (type == NULL || arguments->n_list == 0)
    {
      PyErr_SetString (PyExc_RuntimeError, "super(): no arguments");
      return NULL;
    }
  else
    args = PyTuple_Pack (2, type, PyDict_GetItem (_gantry_py_function_locals (frame), arguments->list[0]->name));
  result = args != NULL ? PyObject_CallObject ((PyObject *) &PySuper_Type, args) : NULL;
  Py_XDECREF (args);
  return result;
}

static PyObject *
eval_call (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *callable, *args, *kwargs, *result;
  gboolean handled = FALSE;

  if (is_super (frame, node))
    return eval_super (frame, node);
  result = _gantry_py_method_call (frame, node, &handled);
  if (handled)
    return result;
  callable = _gantry_py_eval (frame, node->a);
  args = callable != NULL ? eval_tuple (frame, node->list, node->n_list, "star") : NULL;
  kwargs = args != NULL ? eval_keywords (frame, node) : NULL;
  if (kwargs != NULL)
    {
      gantry_py_set_place (frame->state->trace, node);
      result = _gantry_py_call (frame, callable, args, PyDict_GET_SIZE (kwargs) > 0 ? kwargs : NULL);
    }
  Py_XDECREF (callable);
  Py_XDECREF (args);
  Py_XDECREF (kwargs);
  return result;
}

PyObject *
_gantry_py_eval (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *list, *object, *result;

  switch (node->kind)
    {
    case GANTRY_PY_CONSTANT:
      if (PyComplex_Check (node->value))
        return PyErr_Format (PyExc_TypeError, "Unsupported Constant type : %S", node->value);
      return Py_NewRef (node->value);
    case GANTRY_PY_NAME: return _gantry_py_lookup (frame, node->name);
    case GANTRY_PY_ATTRIBUTE:
      object = _gantry_py_eval (frame, node->a);
      result = object != NULL ? _gantry_py_getattr (frame, object, node->name) : NULL;
      Py_XDECREF (object);
      return result;
    case GANTRY_PY_SUBSCRIPT: return eval_subscript (frame, node);
    case GANTRY_PY_SLICE: return eval_slice (frame, node);
    case GANTRY_PY_CALL: return eval_call (frame, node);
    case GANTRY_PY_BIN_OP:
      object = _gantry_py_eval (frame, node->a);
      list = object != NULL ? _gantry_py_eval (frame, node->b) : NULL;
      if (list != NULL)
        gantry_py_set_place (frame->state->trace, node);
      result = list != NULL ? _gantry_py_binary (frame, node->op, object, list) : NULL;
      Py_XDECREF (object);
      Py_XDECREF (list);
      return result;
    case GANTRY_PY_UNARY_OP: return eval_unary (frame, node);
    case GANTRY_PY_BOOL_OP: return eval_bool_from (frame, node, 0);
    case GANTRY_PY_COMPARE: return eval_compare (frame, node);
    case GANTRY_PY_IF_EXP: return eval_if (frame, node);
    case GANTRY_PY_LAMBDA: return _gantry_py_closure_new (frame, node);
    case GANTRY_PY_TUPLE: return eval_tuple (frame, node->list, node->n_list, "iter");
    case GANTRY_PY_LIST: return eval_items (frame, node->list, node->n_list, "iter");
    case GANTRY_PY_DICT: return eval_dict (frame, node);
    case GANTRY_PY_LIST_COMP:
    case GANTRY_PY_GENERATOR:
    case GANTRY_PY_DICT_COMP: return eval_comprehension (frame, node);
    case GANTRY_PY_JOINED_STR: return eval_joined (frame, node);
    default:
      return PyErr_Format (PyExc_RuntimeError, "Unsupported expression '%U'.",
                           node->name != NULL ? node->name : Py_None);
    }
}
