/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions. */
#include "core/frontends/python/interpreter-private.h"

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
          elements = _gantry_py_checked (frame, star, value, NULL, _gantry_py_elements (frame, value));
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

static PyObject *
eval_unary (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *value = _gantry_py_eval (frame, node->a);
  PyObject *result = value != NULL ? _gantry_py_unary (frame, node->op, value) : NULL;

  Py_XDECREF (value);
  return result;
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
            both = x == 0 ? Py_NewRef (Py_False) : x == 2 ? _gantry_py_call_hook (frame->state, "logical_and", "OOO", result, a, one) : Py_NewRef (one);
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
    _gantry_py_checked (frame, "key", key, NULL, NULL);
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
  GantryPyChain chain = gantry_py_trace (frame->state)->chain;
  PyObject *iterable, *elements, *result, *locals = frame->locals, *outer = frame->outer;
  gboolean fine = TRUE;

  if (node->n_list > 1)
    return PyErr_Format (PyExc_TypeError,
                         "The `generators` supports one `comprehension` in %s/GeneratorExp, but got %u "
                         "comprehensions.",
                         node->kind == GANTRY_PY_DICT_COMP ? "DictComp" : "ListComp", node->n_list);
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

      gantry_py_chain_enter (gantry_py_trace (frame->state), &chain, node, GANTRY_STEP_ITERATION, (guint) i + 1, NULL);
      passes = _gantry_py_assign (frame, generator->a, PySequence_Fast_GET_ITEM (elements, i)) < 0 ? -1 : passes_filters (frame, generator);
      fine = passes == 0 || (passes == 1 && add_element (frame, node, result) == 0);
    }
  if (fine)
    gantry_py_trace (frame->state)->chain = chain;
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
      int done = value == NULL ? -1 : node->list2[i]->name != NULL ? PyDict_SetItem (kwargs, node->list2[i]->name, value) : PyDict_Update (kwargs, value);

      if (value != NULL && done < 0)
        _gantry_py_checked (frame, "star", value, NULL, NULL);

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

  if (is_super (frame, node))
    return eval_super (frame, node);
  result = _gantry_py_method_call (frame, node, &callable);
  if (callable == NULL)
    return result;
  args = eval_tuple (frame, node->list, node->n_list, "star");
  kwargs = args != NULL ? eval_keywords (frame, node) : NULL;
  if (kwargs != NULL)
    {
      gantry_py_set_place (gantry_py_trace (frame->state), node);
      result = _gantry_py_call (frame, callable, args, PyDict_GET_SIZE (kwargs) > 0 ? kwargs : NULL);
    }
  Py_DECREF (callable);
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
        gantry_py_set_place (gantry_py_trace (frame->state), node);
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
    default: return PyErr_Format (PyExc_RuntimeError, "Unsupported expression '%U'.", node->name != NULL ? node->name : Py_None);
    }
}
