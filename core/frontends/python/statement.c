/* SPDX-License-Identifier: Apache-2.0 */
/* Statements. Where a condition is a variable and a branch leaves the function or the loop, what follows the `if` is walked
 * inside of each arm that goes on, so that the arms meet where all is done. */
#include "core/frontends/python/interpreter-private.h"

gboolean
_gantry_py_has_jump (const GantryPyNode *node, gboolean in_loop)
{
  if (node == NULL)
    return FALSE;
  switch (node->kind)
    {
    case GANTRY_PY_RETURN: return TRUE;
    case GANTRY_PY_BREAK:
    case GANTRY_PY_CONTINUE: return !in_loop;
    case GANTRY_PY_WHILE:
    case GANTRY_PY_FOR: in_loop = TRUE; break;
    case GANTRY_PY_IF: break;
    case GANTRY_PY_WITH:
      for (guint i = 0; i < node->n_list2; i++)
        if (_gantry_py_has_jump (node->list2[i], in_loop))
          return TRUE;
      return FALSE;
    default: return FALSE;
    }
  for (guint i = 0; i < node->n_list; i++)
    if (_gantry_py_has_jump (node->list[i], in_loop))
      return TRUE;
  for (guint i = 0; i < node->n_list2; i++)
    if (_gantry_py_has_jump (node->list2[i], in_loop))
      return TRUE;
  return FALSE;
}

static GantryPyStatus
status_of (int done)
{
  return done < 0 ? GANTRY_PY_FAILED : GANTRY_PY_NEXT;
}

static void
set_result (GantryPyFrame *frame, PyObject *value)
{
  Py_XSETREF (frame->result, value);
}

static GantryPyStatus
exec_return (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *value = node->a != NULL ? _gantry_py_eval (frame, node->a) : Py_NewRef (Py_None);

  if (value == NULL)
    return GANTRY_PY_FAILED;
  set_result (frame, value);
  return GANTRY_PY_RETURNED;
}

static GantryPyStatus
exec_assign (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *value = _gantry_py_eval (frame, node->a);
  int done = value != NULL ? 0 : -1;

  for (guint i = 0; done == 0 && i < node->n_list; i++)
    done = _gantry_py_assign (frame, node->list[i], value);
  Py_XDECREF (value);
  return status_of (done);
}

static GantryPyStatus
exec_aug_assign (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *before = _gantry_py_eval (frame, node->a);
  PyObject *value = before != NULL ? _gantry_py_eval (frame, node->b) : NULL;
  PyObject *result = value != NULL ? _gantry_py_binary (frame, node->op, before, value) : NULL;
  int done = result != NULL ? _gantry_py_assign (frame, node->a, result) : -1;

  Py_XDECREF (before);
  Py_XDECREF (value);
  Py_XDECREF (result);
  return status_of (done);
}

/* In a branch that data decides about, it is raised when the graph runs. */
static gboolean
is_conditional (GantryTrace *trace)
{
  const GantryRegion *region = trace->region;

  for (; trace != NULL && region == trace->body; trace = trace != trace->root ? trace->parent : NULL)
    region = region->parent;
  return trace != NULL;
}

static GantryPyStatus
raise_later (GantryPyFrame *frame, PyObject *exception)
{
  PyObject *args = PyTuple_Pack (1, exception);
  GantryTrace *trace = gantry_py_trace (frame->state);
  gboolean strict = trace->strict;
  PyObject *done;

  /* An exception that is known is part of the subset of level STRICT too, as print is. */
  trace->strict = strict && gantry_py_holds_variable (args);
  done = gantry_py_host_call (frame->state, _gantry_py_hook (frame->state, "raise_now"), args, NULL, GANTRY_PY_BOOL);
  trace->strict = strict;

  Py_DECREF (args);
  Py_XDECREF (done);
  return done != NULL ? GANTRY_PY_RAISED : GANTRY_PY_FAILED;
}

/* What the document says that a graph raises. */
static gboolean
check_raised (PyObject *exception)
{
  /* clang-format off */
  static const char *const supported[] = {
    "NoExceptionType", "UnknownError", "ArgumentError", "NotSupportError", "NotExistsError", "DeviceProcessError", "AbortedError",
    "IndexError", "ValueError", "TypeError", "KeyError", "AttributeError", "NameError", "AssertionError", "BaseException",
    "KeyboardInterrupt", "Exception", "StopIteration", "OverflowError", "ZeroDivisionError", "EnvironmentError", "IOError", "OSError",
    "ImportError", "MemoryError", "UnboundLocalError", "RuntimeError", "NotImplementedError", "IndentationError", "RuntimeWarning", NULL,
  };
  /* clang-format on */
  PyTypeObject *type = PyExceptionClass_Check (exception) ? (PyTypeObject *) exception : Py_TYPE (exception);
  g_autofree char *names = NULL;

  if (gantry_py_is_handle (exception) || g_strv_contains (supported, type->tp_name))
    return TRUE;
  names = g_strjoinv (", ", (char **) supported);
  PyErr_Format (PyExc_RuntimeError, "Unsupported exception type: %s. Raise only support some Python standard exception types: %s.", type->tp_name, names);
  return FALSE;
}

static GantryPyStatus
exec_raise (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *exception = node->a != NULL ? _gantry_py_eval (frame, node->a) : NULL;
  GantryPyStatus status = GANTRY_PY_FAILED;

  if (node->a == NULL)
    PyErr_SetString (PyExc_RuntimeError, "No active exception to reraise");
  if (exception == NULL)
    return GANTRY_PY_FAILED;
  gantry_py_set_place (gantry_py_trace (frame->state), node);
  if (!check_raised (exception))
    status = GANTRY_PY_FAILED;
  else if (is_conditional (gantry_py_trace (frame->state)) || gantry_py_is_handle (exception))
    status = raise_later (frame, exception);
  else if (PyExceptionClass_Check (exception))
    PyErr_SetNone (exception);
  else
    PyErr_SetObject ((PyObject *) Py_TYPE (exception), exception);
  Py_DECREF (exception);
  return status;
}

static GantryPyStatus
assert_later (GantryPyFrame *frame, PyObject *predicate, PyObject *message)
{
  PyObject *args = PyTuple_Pack (2, predicate, message);
  PyObject *done = gantry_py_host_call (frame->state, _gantry_py_hook (frame->state, "assert_now"), args, NULL, GANTRY_PY_BOOL);

  Py_DECREF (args);
  Py_XDECREF (done);
  return done != NULL ? GANTRY_PY_NEXT : GANTRY_PY_FAILED;
}

static GantryPyStatus
exec_assert (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *value = _gantry_py_eval (frame, node->a), *predicate = NULL, *message;
  int truth = value != NULL ? _gantry_py_truth (frame, value, &predicate) : -1;
  GantryPyStatus status = GANTRY_PY_FAILED;

  Py_XDECREF (value);
  if (truth < 0 || truth == 1)
    return truth < 0 ? GANTRY_PY_FAILED : GANTRY_PY_NEXT;
  message = node->b != NULL ? _gantry_py_eval (frame, node->b) : Py_NewRef (Py_None);
  gantry_py_set_place (gantry_py_trace (frame->state), node);
  if (message != NULL && (truth == 2 || is_conditional (gantry_py_trace (frame->state)) || gantry_py_holds_variable (message)))
    status = assert_later (frame, truth == 2 ? predicate : Py_False, message);
  else if (message != NULL && message != Py_None)
    PyErr_SetObject (PyExc_AssertionError, message);
  else if (message != NULL)
    PyErr_SetNone (PyExc_AssertionError);
  Py_XDECREF (message);
  Py_XDECREF (predicate);
  return status;
}

static int
exec_global (GantryPyFrame *frame, const GantryPyNode *node)
{
  if (frame->global_names == NULL)
    frame->global_names = PySet_New (NULL);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (node->value); i++)
    PySet_Add (frame->global_names, PyList_GET_ITEM (node->value, i));
  return 0;
}

static int
exec_def (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *function = _gantry_py_closure_new (frame, node);
  int done = function != NULL ? _gantry_py_assign_name (frame, node->name, function) : -1;

  Py_XDECREF (function);
  return done;
}

/* with */

static PyObject *
call_method (GantryPyFrame *frame, PyObject *object, const char *name, Py_ssize_t n_none)
{
  PyObject *key = PyUnicode_InternFromString (name), *method = _gantry_py_getattr (frame, object, key), *args, *result = NULL;

  Py_DECREF (key);
  if (method == NULL && PyErr_ExceptionMatches (PyExc_AttributeError))
    PyErr_Format (PyExc_RuntimeError, "MsClassObject: '%s' has no %s function, please check the code.", Py_TYPE (object)->tp_name, name);
  if (method == NULL)
    return NULL;
  args = PyTuple_New (n_none);
  for (Py_ssize_t i = 0; i < n_none; i++)
    PyTuple_SET_ITEM (args, i, Py_NewRef (Py_None));
  result = _gantry_py_call (frame, method, args, NULL);
  Py_DECREF (args);
  Py_DECREF (method);
  return result;
}

/* Cells, jit_class objects, and objects of classes of the program's own; what somebody else's does on its way in and out is nothing that
 * happens when a graph is made. Returns: FALSE with an exception */
static gboolean
may_be_entered (GantryPyState *state, PyObject *context)
{
  if (gantry_py_is_handle (context) || _gantry_py_is_graph_object (state, context)
      || (_gantry_py_author (state, (PyObject *) Py_TYPE (context)) == GANTRY_PY_USERS && PyObject_HasAttrString (context, "__enter__")))
    return TRUE;
  PyErr_Format (PyExc_TypeError, "Only support jit_class instance, but got PythonObject(type: %R, value: %R)", Py_TYPE (context), context);
  return FALSE;
}

static GantryPyStatus
exec_with_item (GantryPyFrame *frame, const GantryPyNode *node, guint item)
{
  PyObject *context, *value, *left;
  GantryPyStatus status;
  int done = 0;

  if (item == node->n_list)
    return _gantry_py_exec_block (frame, node->list2, node->n_list2);
  context = _gantry_py_eval (frame, node->list[item]->a);
  if (context != NULL && !may_be_entered (frame->state, context))
    Py_CLEAR (context);
  value = context != NULL ? call_method (frame, context, "__enter__", 0) : NULL;
  if (value != NULL && node->list[item]->b != NULL)
    done = _gantry_py_assign (frame, node->list[item]->b, value);
  status = value == NULL || done < 0 ? GANTRY_PY_FAILED : exec_with_item (frame, node, item + 1);
  if (status != GANTRY_PY_FAILED)
    {
      left = call_method (frame, context, "__exit__", 3);
      status = left != NULL ? status : GANTRY_PY_FAILED;
      Py_XDECREF (left);
    }
  Py_XDECREF (value);
  Py_XDECREF (context);
  return status;
}

/* if */

static GantryPyStatus
arm_rest (GantryPyFrame *frame, gconstpointer data)
{
  return _gantry_py_exec (frame, data);
}

static GantryPyStatus
arm_return_value (GantryPyFrame *frame, gconstpointer data)
{
  PyObject *value = PyDict_GetItemString (frame->locals, GANTRY_PY_RETURN_VALUE);

  set_result (frame, Py_NewRef (value != NULL ? value : Py_None));
  return GANTRY_PY_RETURNED;
}

/* Walks an if. @done: the rest has been walked with it. */
static GantryPyStatus
exec_if (GantryPyFrame *frame, const GantryPyNode *node, const GantryPyRest *rest, gboolean *done)
{
  PyObject *value = _gantry_py_eval (frame, node->a), *predicate = NULL;
  int truth = value != NULL ? _gantry_py_truth (frame, value, &predicate) : -1;
  gboolean jumps = _gantry_py_has_jump (node, FALSE);
  GantryPyRest then = { node->list, node->n_list, 0, jumps ? rest : NULL };
  GantryPyRest otherwise = { node->list2, node->n_list2, 0, jumps ? rest : NULL };
  GantryPyStatus status;

  Py_XDECREF (value);
  *done = jumps;
  if (truth < 0)
    return GANTRY_PY_FAILED;
  if (truth != 2)
    return _gantry_py_exec (frame, truth == 1 ? &then : &otherwise);
  status = _gantry_py_branch (frame, predicate, arm_rest, &then, arm_rest, &otherwise);
  Py_DECREF (predicate);
  return status;
}

/* A break that ends the loop whose body this is. */
static gboolean
has_break (GantryPyNode *const *body, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    switch (body[i]->kind)
      {
      case GANTRY_PY_BREAK: return TRUE;
      case GANTRY_PY_IF:
        if (has_break (body[i]->list, body[i]->n_list))
          return TRUE;
        G_GNUC_FALLTHROUGH;
      case GANTRY_PY_WITH:
        if (has_break (body[i]->list2, body[i]->n_list2))
          return TRUE;
        break;
      default: break;
      }
  return FALSE;
}

/* `while True` without a break: what follows it is never reached. */
static gboolean
ends_by_return_alone (const GantryPyNode *node)
{
  return node->kind == GANTRY_PY_WHILE && node->a->kind == GANTRY_PY_CONSTANT && PyObject_IsTrue (node->a->value) == 1 && !has_break (node->list, node->n_list);
}

/* A loop; a return inside of it that data decides about parts what follows. */
static GantryPyStatus
exec_loop (GantryPyFrame *frame, const GantryPyNode *node, const GantryPyRest *rest, gboolean *done)
{
  GantryPyStatus status;
  PyObject *flag, *predicate = NULL;
  int truth;

  *done = FALSE;
  if (node->n_list2 > 0)
    {
      PyErr_Format (PyExc_RuntimeError, "The '%s...else...' statement is not supported now.", node->kind == GANTRY_PY_FOR ? "for" : "while");
      return GANTRY_PY_FAILED;
    }
  status = node->kind == GANTRY_PY_FOR ? _gantry_py_exec_for (frame, node) : _gantry_py_exec_while (frame, node);
  if (status != GANTRY_PY_NEXT || (flag = _gantry_py_loop_return_flag (frame)) == NULL)
    return status;
  truth = _gantry_py_truth (frame, flag, &predicate);
  Py_DECREF (flag);
  *done = TRUE;
  if (truth < 0)
    return GANTRY_PY_FAILED;
  if (truth == 2 && ends_by_return_alone (node))
    {
      Py_CLEAR (predicate);
      truth = 1;
    }
  if (truth != 2)
    return truth == 1 ? arm_return_value (frame, NULL) : _gantry_py_exec (frame, rest);
  status = _gantry_py_branch (frame, predicate, arm_return_value, NULL, arm_rest, rest);
  Py_DECREF (predicate);
  return status;
}

static GantryPyStatus
exec_expression (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *value = _gantry_py_eval (frame, node->a);

  Py_XDECREF (value);
  return value != NULL ? GANTRY_PY_NEXT : GANTRY_PY_FAILED;
}

static GantryPyStatus
unsupported (const GantryPyNode *node)
{
  PyErr_Format (PyExc_RuntimeError, "Unsupported statement '%U'.", node->name != NULL ? node->name : Py_None);
  return GANTRY_PY_FAILED;
}

static GantryPyStatus
exec_simple (GantryPyFrame *frame, const GantryPyNode *node)
{
  switch (node->kind)
    {
    case GANTRY_PY_RETURN: return exec_return (frame, node);
    case GANTRY_PY_EXPR: return exec_expression (frame, node);
    case GANTRY_PY_ASSIGN: return exec_assign (frame, node);
    case GANTRY_PY_AUG_ASSIGN: return exec_aug_assign (frame, node);
    case GANTRY_PY_FUNCTION_DEF: return status_of (exec_def (frame, node));
    case GANTRY_PY_GLOBAL: return status_of (exec_global (frame, node));
    case GANTRY_PY_PASS: return GANTRY_PY_NEXT;
    case GANTRY_PY_BREAK: return GANTRY_PY_BROKEN;
    case GANTRY_PY_CONTINUE: return GANTRY_PY_CONTINUED;
    case GANTRY_PY_RAISE: return exec_raise (frame, node);
    case GANTRY_PY_ASSERT: return exec_assert (frame, node);
    case GANTRY_PY_WITH: return exec_with_item (frame, node, 0);
    case GANTRY_PY_CLASS_DEF: PyErr_SetString (PyExc_RuntimeError, "Unsupported statement 'ClassDef'."); return GANTRY_PY_FAILED;
    default: return unsupported (node);
    }
}

GantryPyStatus
_gantry_py_exec (GantryPyFrame *frame, const GantryPyRest *rest)
{
  GantryPyRest here = *rest;

  for (;;)
    {
      const GantryPyNode *node;
      GantryPyStatus status;
      gboolean done = FALSE;

      while (here.at == here.n)
        {
          if (here.next == NULL)
            return GANTRY_PY_NEXT;
          here = *here.next;
        }
      node = here.statements[here.at++];
      gantry_py_set_place (gantry_py_trace (frame->state), node);
      if (node->kind == GANTRY_PY_IF)
        status = exec_if (frame, node, &here, &done);
      else if (node->kind == GANTRY_PY_WHILE || node->kind == GANTRY_PY_FOR)
        status = exec_loop (frame, node, &here, &done);
      else
        status = exec_simple (frame, node);
      if (status != GANTRY_PY_NEXT || done)
        return status;
    }
}

GantryPyStatus
_gantry_py_exec_block (GantryPyFrame *frame, GantryPyNode **statements, guint n)
{
  GantryPyRest rest = { statements, n, 0, NULL };

  return _gantry_py_exec (frame, &rest);
}
