/* SPDX-License-Identifier: Apache-2.0 */
/* Loops. What is known while compiling is walked trip by trip; a loop whose end depends on data becomes a `while`, whose
 * carries are found by walking its body until nothing more changes. */
#include "core/frontends/python/interpreter-private.h"
#include "core/graph/context.h"
#include "core/graph/operation.h"

#define MOST_UNROLLED 200000

/* @chain: what led to the loop */
static gboolean
begin_trip (GantryTrace *trace, const GantryPyChain *chain, const GantryPyNode *loop, guint number)
{
  gantry_py_chain_enter (trace, chain, loop, GANTRY_STEP_ITERATION, number, NULL);
  if (++trace->root->n_unrolled <= MOST_UNROLLED)
    return TRUE;
  PyErr_Format (PyExc_RuntimeError,
                "The loops of this graph have more than %d trips together that are known while compiling; "
                "make the condition a variable, or the loop shorter.",
                MOST_UNROLLED);
  return FALSE;
}

static gboolean
goes_on (GantryPyStatus status)
{
  return status == GANTRY_PY_NEXT || status == GANTRY_PY_CONTINUED;
}

/* Flags */

typedef struct
{
  PyObject *flag; /* (nullable): of the loop around */
} Outer;

static void
enter (GantryPyFrame *frame, Outer *outer)
{
  outer->flag = Py_XNewRef (PyDict_GetItemString (frame->locals, GANTRY_PY_BREAK_FLAG));
  if (outer->flag != NULL)
    PyDict_DelItemString (frame->locals, GANTRY_PY_BREAK_FLAG);
  frame->loops++;
}

static void
leave (GantryPyFrame *frame, Outer *outer)
{
  frame->loops--;
  if (PyDict_GetItemString (frame->locals, GANTRY_PY_BREAK_FLAG) != NULL)
    PyDict_DelItemString (frame->locals, GANTRY_PY_BREAK_FLAG);
  if (outer->flag != NULL)
    PyDict_SetItemString (frame->locals, GANTRY_PY_BREAK_FLAG, outer->flag);
  Py_XDECREF (outer->flag);
}

PyObject *
_gantry_py_loop_return_flag (GantryPyFrame *frame)
{
  PyObject *flag = PyDict_GetItemString (frame->locals, GANTRY_PY_RETURN_FLAG);

  if (flag == NULL)
    return NULL;
  Py_INCREF (flag);
  PyDict_DelItemString (frame->locals, GANTRY_PY_RETURN_FLAG);
  return flag;
}

/* 0: goes on, 1: broken, 2: data decides, then @flag */
static int
broken (GantryPyFrame *frame, PyObject **flag)
{
  PyObject *value = PyDict_GetItemString (frame->locals, GANTRY_PY_BREAK_FLAG);

  *flag = NULL;
  if (value == NULL || value == Py_False)
    return 0;
  return value == Py_True ? 1 : _gantry_py_truth (frame, value, flag);
}

static GantryPyStatus
arm_nothing (GantryPyFrame *frame, gconstpointer data)
{
  return GANTRY_PY_NEXT;
}

/* One trip that only happens where no earlier one broke the loop. */
static GantryPyStatus
guarded (GantryPyFrame *frame, GantryPyArm body, gconstpointer data)
{
  PyObject *flag;
  int decided = broken (frame, &flag);
  GantryPyStatus status;

  if (decided < 0)
    return GANTRY_PY_FAILED;
  if (decided == 1)
    return GANTRY_PY_BROKEN;
  if (decided == 0)
    return body (frame, data);
  status = _gantry_py_branch (frame, flag, arm_nothing, NULL, body, data);
  Py_DECREF (flag);
  return status;
}

/* for */

typedef struct
{
  const GantryPyNode *node;
  PyObject *element;
} Trip;

static GantryPyStatus
for_trip (GantryPyFrame *frame, gconstpointer data)
{
  const Trip *trip = data;

  if (_gantry_py_assign (frame, trip->node->a, trip->element) < 0)
    return GANTRY_PY_FAILED;
  return _gantry_py_exec_block (frame, trip->node->list, trip->node->n_list);
}

static GantryPyStatus
walk_elements (GantryPyFrame *frame, const GantryPyNode *node, PyObject *elements)
{
  GantryPyChain chain = gantry_py_trace (frame->state)->chain;
  GantryPyStatus status = GANTRY_PY_NEXT;

  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE (elements) && goes_on (status); i++)
    {
      Trip trip = { node, PySequence_Fast_GET_ITEM (elements, i) };

      if (!begin_trip (gantry_py_trace (frame->state), &chain, node, (guint) i + 1))
        return GANTRY_PY_FAILED;
      status = guarded (frame, for_trip, &trip);
    }
  if (status != GANTRY_PY_FAILED)
    gantry_py_trace (frame->state)->chain = chain; /* else it says what led to the failure */
  return status == GANTRY_PY_BROKEN || goes_on (status) ? GANTRY_PY_NEXT : status;
}

/* range () of variables: a counter that is carried. */

typedef struct
{
  const GantryPyNode *node;
  PyObject *counter, *sequence; /* counter: hidden name; sequence: (start, stop, step) or a handle */
} Counted;

static PyObject *
counted_condition (GantryPyFrame *frame, gconstpointer data)
{
  const Counted *counted = data;
  PyObject *counter = PyDict_GetItem (frame->locals, counted->counter), *below, *zero, *up, *above, *result;

  if (!PyTuple_Check (counted->sequence))
    return _gantry_py_compare (frame, GANTRY_PY_LT, counter, PyDict_GetItemString (frame->locals, "$length"));
  zero = PyLong_FromLong (0);
  up = _gantry_py_compare (frame, GANTRY_PY_GT, PyTuple_GET_ITEM (counted->sequence, 2), zero);
  Py_DECREF (zero);
  below = up != NULL ? _gantry_py_compare (frame, GANTRY_PY_LT, counter, PyTuple_GET_ITEM (counted->sequence, 1)) : NULL;
  above = below != NULL ? _gantry_py_compare (frame, GANTRY_PY_GT, counter, PyTuple_GET_ITEM (counted->sequence, 1)) : NULL;
  if (above == NULL)
    result = NULL;
  else if (PyBool_Check (up))
    result = Py_NewRef (up == Py_True ? below : above);
  else
    result = gantry_py_is_variable (up) ? _gantry_py_branch_value (frame, up, NULL, below, NULL, above) : NULL;
  Py_XDECREF (up);
  Py_XDECREF (below);
  Py_XDECREF (above);
  return result;
}

static GantryPyStatus
counted_trip (GantryPyFrame *frame, gconstpointer data)
{
  const Counted *counted = data;
  PyObject *counter = Py_NewRef (PyDict_GetItem (frame->locals, counted->counter)), *element, *step, *next;
  gboolean is_range = PyTuple_Check (counted->sequence);
  Trip trip = { counted->node, NULL };
  GantryPyStatus status = GANTRY_PY_FAILED;

  element = is_range ? Py_NewRef (counter) : _gantry_py_getitem (frame, counted->sequence, counter);
  step = is_range ? Py_NewRef (PyTuple_GET_ITEM (counted->sequence, 2)) : PyLong_FromLong (1);
  next = element != NULL ? _gantry_py_binary (frame, GANTRY_PY_ADD, counter, step) : NULL;
  if (next != NULL)
    {
      PyDict_SetItem (frame->locals, counted->counter, next);
      trip.element = element;
      status = for_trip (frame, &trip);
    }
  Py_DECREF (counter);
  Py_DECREF (step);
  Py_XDECREF (element);
  Py_XDECREF (next);
  return status;
}

static GantryPyStatus
walk_counted (GantryPyFrame *frame, const GantryPyNode *node, PyObject *sequence)
{
  PyObject *name = PyUnicode_FromFormat ("$counter%u.%u", node->line, node->column);
  PyObject *start = PyTuple_Check (sequence) ? Py_NewRef (PyTuple_GET_ITEM (sequence, 0)) : PyLong_FromLong (0);
  Counted counted = { node, name, sequence };
  PyObject *first, *length = NULL;
  GantryPyStatus status = GANTRY_PY_FAILED;

  PyDict_SetItem (frame->locals, name, start);
  if (!PyTuple_Check (sequence))
    {
      length = _gantry_py_call_hook (frame->state, "host_length", "O", sequence);
      if (length != NULL)
        PyDict_SetItemString (frame->locals, "$length", length);
    }
  first = PyTuple_Check (sequence) || length != NULL ? counted_condition (frame, &counted) : NULL;
  if (first != NULL)
    status = _gantry_py_variable_loop (frame, "for", first, counted_condition, counted_trip, &counted);
  PyDict_DelItem (frame->locals, name);
  Py_XDECREF (first);
  Py_XDECREF (length);
  Py_DECREF (start);
  Py_DECREF (name);
  return status;
}

/* The bounds of `for i in range (...)` where one is a variable; NULL: it is not one. */
static PyObject *
variable_range (GantryPyFrame *frame, const GantryPyNode *iter)
{
  PyObject *callee, *bounds = NULL, *given;

  if (iter->kind != GANTRY_PY_CALL || iter->a->kind != GANTRY_PY_NAME || iter->n_list < 1 || iter->n_list > 3 || iter->n_list2 > 0
      || PyUnicode_CompareWithASCIIString (iter->a->name, "range") != 0)
    return NULL;
  callee = _gantry_py_eval (frame, iter->a);
  if (callee != (PyObject *) &PyRange_Type)
    {
      Py_XDECREF (callee);
      PyErr_Clear ();
      return NULL;
    }
  Py_DECREF (callee);
  given = PyTuple_New (iter->n_list);
  for (guint i = 0; i < iter->n_list; i++)
    {
      PyObject *value = iter->list[i]->kind != GANTRY_PY_STARRED ? _gantry_py_eval (frame, iter->list[i]) : NULL;

      if (value == NULL)
        {
          Py_DECREF (given);
          return NULL;
        }
      PyTuple_SET_ITEM (given, i, value);
    }
  if (gantry_py_holds_variable (given))
    bounds = _gantry_py_call_hook (frame->state, "range_bounds", "O", given);
  Py_DECREF (given);
  return bounds;
}

static GantryPyStatus
walk_for (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *bounds = variable_range (frame, node->b), *iterable, *elements;
  GantryPyStatus status = GANTRY_PY_FAILED;

  if (PyErr_Occurred ())
    return GANTRY_PY_FAILED;
  if (bounds != NULL)
    {
      status = walk_counted (frame, node, bounds);
      Py_DECREF (bounds);
      return status;
    }
  iterable = _gantry_py_eval (frame, node->b);
  if (iterable == NULL)
    return GANTRY_PY_FAILED;
  if (gantry_py_is_handle (iterable))
    {
      elements = _gantry_py_call_hook (frame->state, "host_list", "O", iterable);
      status = elements != NULL ? walk_counted (frame, node, elements) : GANTRY_PY_FAILED;
    }
  else
    {
      elements = _gantry_py_elements (frame, iterable);
      status = elements != NULL ? walk_elements (frame, node, elements) : GANTRY_PY_FAILED;
    }
  Py_XDECREF (elements);
  Py_DECREF (iterable);
  return status;
}

GantryPyStatus
_gantry_py_exec_for (GantryPyFrame *frame, const GantryPyNode *node)
{
  Outer outer;
  GantryPyStatus status;

  enter (frame, &outer);
  status = walk_for (frame, node);
  leave (frame, &outer);
  return status;
}

/* while */

static PyObject *
while_condition (GantryPyFrame *frame, gconstpointer data)
{
  return _gantry_py_eval (frame, ((const GantryPyNode *) data)->a);
}

static GantryPyStatus
while_trip (GantryPyFrame *frame, gconstpointer data)
{
  const GantryPyNode *node = data;

  return _gantry_py_exec_block (frame, node->list, node->n_list);
}

/* Whether data decides on the next trip; then @predicate: no trip so far broke the loop, and its condition holds. 1: another
 * trip, 0: none */
static int
decide (GantryPyFrame *frame, const GantryPyNode *node, PyObject **predicate)
{
  PyObject *flag, *test, *whole;
  int is_broken = broken (frame, &flag), truth;

  if (is_broken < 0 || is_broken == 1)
    return is_broken < 0 ? -1 : 0;
  test = _gantry_py_eval (frame, node->a);
  truth = test != NULL ? _gantry_py_truth (frame, test, predicate) : -1;
  Py_XDECREF (test);
  if (is_broken == 2 && truth > 0)
    {
      whole = _gantry_py_logical (frame->state, "not", flag, NULL);
      if (truth == 2 && whole != NULL)
        Py_SETREF (*predicate, _gantry_py_logical (frame->state, "and", whole, *predicate));
      else
        Py_XSETREF (*predicate, Py_XNewRef (whole));
      Py_XDECREF (whole);
      truth = 2;
    }
  Py_XDECREF (flag);
  return truth;
}

static GantryPyStatus
walk_while (GantryPyFrame *frame, const GantryPyNode *node)
{
  GantryPyChain chain = gantry_py_trace (frame->state)->chain;

  for (guint number = 1;; number++)
    {
      PyObject *predicate = NULL;
      GantryPyStatus status;
      int truth = decide (frame, node, &predicate);

      if (truth < 0 || (truth == 2 && predicate == NULL))
        return GANTRY_PY_FAILED;
      if (truth == 0)
        return GANTRY_PY_NEXT;
      if (truth == 2)
        {
          status = _gantry_py_variable_loop (frame, "while", predicate, while_condition, while_trip, node);
          Py_DECREF (predicate);
          return status;
        }
      if (!begin_trip (gantry_py_trace (frame->state), &chain, node, number))
        return GANTRY_PY_FAILED;
      status = while_trip (frame, node);
      if (status != GANTRY_PY_FAILED)
        gantry_py_trace (frame->state)->chain = chain;
      if (!goes_on (status))
        return status == GANTRY_PY_BROKEN ? GANTRY_PY_NEXT : status;
    }
}

GantryPyStatus
_gantry_py_exec_while (GantryPyFrame *frame, const GantryPyNode *node)
{
  Outer outer;
  GantryPyStatus status;

  enter (frame, &outer);
  status = walk_while (frame, node);
  leave (frame, &outer);
  return status;
}
