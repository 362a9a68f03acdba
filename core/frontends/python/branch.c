/* SPDX-License-Identifier: Apache-2.0 */
/* An `if` on a variable: both arms are walked from the same start, and what they leave is joined into one node. */
#include "core/frontends/python/interpreter-private.h"
#include "core/graph/operation.h"

/* What an arm left. */
typedef struct
{
  GantryRegion *region;
  GantryPyStatus status;
  PyObject *locals, *state, *result;
} Arm;

static void
arm_clear (Arm *arm)
{
  Py_CLEAR (arm->locals);
  Py_CLEAR (arm->state);
  Py_CLEAR (arm->result);
}

static void
restore (PyObject *dict, PyObject *copy)
{
  PyDict_Clear (dict);
  PyDict_Update (dict, copy);
}

/* A parameter that an arm is the first to touch is an input of the graph: after it, and in the other arm, it is what that is. */
static void
keep_inputs (GantryPyState *state)
{
  GantryTrace *trace = gantry_py_trace (state);

  for (Py_ssize_t i = 0; trace == trace->root && i < PyList_GET_SIZE (trace->parameters); i++)
    {
      PyObject *key = PyLong_FromVoidPtr (PyList_GET_ITEM (trace->parameters, i));

      if (!PyDict_Contains (trace->state, key))
        {
          PyObject *value = gantry_py_variable_new (state, g_array_index (trace->parameter_nodes, guint32, i), GANTRY_PY_TENSOR);

          PyDict_SetItem (trace->state, key, value);
          Py_DECREF (value);
        }
      Py_DECREF (key);
    }
}

/* What an arm returns is what its parameters are there. Steals @result. Returns: (nullable): NULL with an exception */
static PyObject *
parameters_now (GantryPyState *state, PyObject *result)
{
  PyObject *items, *now;
  Py_ssize_t n;

  if (gantry_py_value_check (result) && ((GantryPyValue *) result)->is_parameter)
    {
      now = gantry_py_parameter_value (state, result);
      Py_DECREF (result);
      return now;
    }
  if (!PyTuple_CheckExact (result))
    return result;
  n = PyTuple_GET_SIZE (result);
  items = PyTuple_New (n);
  for (Py_ssize_t i = 0; i < n; i++)
    {
      now = parameters_now (state, Py_NewRef (PyTuple_GET_ITEM (result, i)));
      if (now == NULL)
        {
          Py_DECREF (items);
          Py_DECREF (result);
          return NULL;
        }
      PyTuple_SET_ITEM (items, i, now);
    }
  Py_DECREF (result);
  return items;
}

static gboolean
walk_arm (GantryPyFrame *frame, Arm *arm, const char *name, GantryPyArm walk, gconstpointer data, PyObject *locals, PyObject *state)
{
  GantryTrace *trace = gantry_py_trace (frame->state);
  PyObject *result = frame->result;
  const GantryPyNode *place = trace->place;

  frame->result = NULL;
  arm->region = gantry_py_region_begin (trace, name);
  arm->status = walk (frame, data);
  if (arm->status != GANTRY_PY_FAILED && frame->result != NULL)
    {
      frame->result = parameters_now (frame->state, frame->result);
      if (frame->result == NULL)
        arm->status = GANTRY_PY_FAILED;
    }
  gantry_py_region_leave (trace, NULL, 0);
  arm->locals = PyDict_Copy (frame->locals);
  arm->state = PyDict_Copy (trace->state);
  arm->result = frame->result;
  frame->result = result;
  restore (frame->locals, locals);
  restore (trace->state, state);
  keep_inputs (frame->state);
  if (arm->status != GANTRY_PY_FAILED)
    gantry_py_set_place (trace, place);
  return arm->status != GANTRY_PY_FAILED;
}

static gboolean
ends_loop (GantryPyStatus status)
{
  return status == GANTRY_PY_BROKEN || status == GANTRY_PY_RETURNED;
}

static void
set_flag (PyObject *locals, const char *name, gboolean value)
{
  /* What an inner loop left as a flag is still to be obeyed. */
  if (value || PyDict_GetItemString (locals, name) == NULL)
    PyDict_SetItemString (locals, name, value ? Py_True : Py_False);
}

/* In a loop arms that leave it in different ways leave flags, which the loop reads. */
static void
flags_for_loop (Arm *arm)
{
  set_flag (arm->locals, GANTRY_PY_BREAK_FLAG, ends_loop (arm->status));
  set_flag (arm->locals, GANTRY_PY_RETURN_FLAG, arm->status == GANTRY_PY_RETURNED);
  if (arm->status == GANTRY_PY_RETURNED)
    PyDict_SetItemString (arm->locals, GANTRY_PY_RETURN_VALUE, arm->result);
  Py_CLEAR (arm->result);
  if (arm->status != GANTRY_PY_RAISED)
    arm->status = GANTRY_PY_NEXT;
}

static void
make_equal (GantryPyFrame *frame, Arm *arms)
{
  if (arms[0].status == arms[1].status || arms[0].status == GANTRY_PY_RAISED || arms[1].status == GANTRY_PY_RAISED)
    return;
  for (guint i = 0; i < 2; i++)
    if (frame->loops > 0)
      flags_for_loop (&arms[i]);
    else if (arms[i].status == GANTRY_PY_NEXT)
      {
        arms[i].status = GANTRY_PY_RETURNED;
        arms[i].result = Py_NewRef (Py_None);
      }
}

/* An arm that raises leaves whatever the other one leaves: nobody will see it. */
static void
follow_other (GantryPyState *state, Arm *raised, const Arm *other)
{
  PyObject *key, *value;
  Py_ssize_t at = 0;

  Py_SETREF (raised->locals, PyDict_New ());
  while (PyDict_Next (other->locals, &at, &key, &value))
    {
      PyObject *zeros = _gantry_py_zeros_like (state, value);

      PyDict_SetItem (raised->locals, key, zeros);
      Py_DECREF (zeros);
    }
  if (other->result != NULL)
    raised->result = _gantry_py_zeros_like (state, other->result);
  raised->status = other->status;
}

static PyObject *
missing (GantryPyFrame *frame, PyObject *name, PyObject *other, gboolean in_then)
{
  g_autofree char *message = NULL;

  if (PyUnicode_Check (name) && PyUnicode_CompareWithASCIIString (name, GANTRY_PY_RETURN_VALUE) == 0)
    return _gantry_py_zeros_like (frame->state, other);
  if (PyUnicode_Check (name) && *PyUnicode_AsUTF8 (name) == '$')
    return Py_NewRef (Py_False);
  message = g_strdup_printf ("The local variable '%s' is not defined in %s branch, but defined in %s branch.",
                             PyUnicode_Check (name) ? PyUnicode_AsUTF8 (name) : "?", in_then ? "false" : "true", in_then ? "true" : "false");
  return _gantry_py_undefined_new (frame->state, message);
}

/* A parameter that one arm assigned: the other one has it as it was; so it has a list from outside, whose key has its name and place. */
static PyObject *
state_before (GantryPyState *state, PyObject *key, PyObject *other)
{
  GantryTrace *trace = gantry_py_trace (state);
  PyObject *found = NULL;

  for (GantryTrace *t = trace; found == NULL && t != NULL; t = t != t->root ? t->parent : NULL)
    found = PyDict_GetItem (t->state, key);
  if (found == NULL && PyTuple_Check (key) && PyUnicode_Check (PyTuple_GET_ITEM (key, 0)))
    found = PyDict_GetItem (trace->root->origins, PyTuple_GET_ITEM (key, 1));
  found = found != NULL ? Py_NewRef (found) : _gantry_py_outside_before (state, key);
  return found != NULL ? found : Py_NewRef (other);
}

static PyObject *
join_key (GantryPyFrame *frame, GantryPyJoin *join, PyObject *key, PyObject *a, PyObject *b, gboolean is_state)
{
  PyObject *result;

  if (is_state)
    {
      PyObject *before = a == NULL || b == NULL ? state_before (frame->state, key, a != NULL ? a : b) : NULL;
      /* Parameters, lists and dicts are what they are outside. */
      gboolean is_attribute = PyTuple_Check (key) && !PyUnicode_Check (PyTuple_GET_ITEM (key, 0));

      result = (is_attribute ? _gantry_py_join_objects : _gantry_py_join) (frame->state, join, a != NULL ? a : before, b != NULL ? b : before);
      Py_XDECREF (before);
      return result;
    }
  if (a != NULL && b != NULL)
    return _gantry_py_join (frame->state, join, a, b);
  {
    PyObject *filler = missing (frame, key, a != NULL ? a : b, a != NULL);

    result = _gantry_py_join (frame->state, join, a != NULL ? a : filler, b != NULL ? b : filler);
    Py_DECREF (filler);
    return result;
  }
}

/* All of two dicts, as a list of (key, structure) pairs. */
static PyObject *
join_dicts (GantryPyFrame *frame, GantryPyJoin *join, PyObject *a, PyObject *b, gboolean is_state)
{
  PyObject *result = PyList_New (0), *key, *value;

  for (guint pass = 0; pass < 2; pass++)
    {
      Py_ssize_t at = 0;

      while (PyDict_Next (pass == 0 ? a : b, &at, &key, &value))
        {
          PyObject *other = PyDict_GetItem (pass == 0 ? b : a, key), *joined, *pair;

          if (pass == 1 && other != NULL)
            continue;
          joined = join_key (frame, join, key, pass == 0 ? value : other, pass == 0 ? other : value, is_state);
          if (joined == NULL)
            {
              Py_DECREF (result);
              return NULL;
            }
          pair = PyTuple_Pack (2, key, joined);
          PyList_Append (result, pair);
          Py_DECREF (pair);
          Py_DECREF (joined);
        }
    }
  return result;
}

/* One joined structure: [pairs of locals, pairs of state, result]. */
static PyObject *
join_arms (GantryPyFrame *frame, GantryPyJoin *join, const Arm *arms)
{
  PyObject *locals = join_dicts (frame, join, arms[0].locals, arms[1].locals, FALSE);
  PyObject *state = locals != NULL ? join_dicts (frame, join, arms[0].state, arms[1].state, TRUE) : NULL;
  PyObject *result = NULL, *all = NULL;

  if (state != NULL)
    result = arms[0].result != NULL ? _gantry_py_join (frame->state, join, arms[0].result, arms[1].result) : Py_NewRef (Py_None);
  if (result != NULL)
    all = Py_BuildValue ("[OOO]", locals, state, result);
  Py_XDECREF (locals);
  Py_XDECREF (state);
  Py_XDECREF (result);
  return all;
}

static gboolean
is_joined (const GantryPyJoin *join, guint i)
{
  return g_ptr_array_index (join->a, i) != g_ptr_array_index (join->b, i);
}

static gboolean
end_arm (GantryPyFrame *frame, GantryRegion *region, const GantryPyJoin *join, GPtrArray *leaves, GArray *results)
{
  GantryTrace *trace = gantry_py_trace (frame->state);
  GantryRegion *outer = trace->region;
  gboolean fine = TRUE;

  gantry_builder_reopen (trace->builder, region->function);
  trace->region = region;
  for (guint i = 0; fine && i < leaves->len; i++)
    if (is_joined (join, i))
      {
        guint32 id = _gantry_py_lift_leaf (frame->state, region, g_ptr_array_index (leaves, i), g_array_index (join->kinds, guint, i));

        fine = id != 0;
        g_array_append_val (results, id);
      }
  trace->region = outer;
  gantry_builder_end (trace->builder, (const guint32 *) (gpointer) results->data, results->len);
  return fine;
}

/* The node, and its results in place of the leaves. */
static gboolean
write_if (GantryPyFrame *frame, PyObject *predicate, Arm *arms, const GantryPyJoin *join, PyObject **values)
{
  GantryTrace *trace = gantry_py_trace (frame->state);
  g_autoptr (GArray) then_results = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) else_results = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  GantryRegion *regions[2] = { arms[0].region, arms[1].region };
  GantryAttrList *attrs = gantry_attr_list_new (trace->context);
  guint32 id = gantry_py_use (frame->state, predicate);
  PyObject *tuple;
  guint taken = 0;

  g_array_append_val (operands, id);
  if (!end_arm (frame, regions[0], join, join->a, then_results) || !end_arm (frame, regions[1], join, join->b, else_results))
    {
      gantry_attr_list_free (attrs);
      return FALSE;
    }
  gantry_py_regions_align (trace, regions, 2);
  g_array_append_vals (operands, regions[0]->outer->data, regions[0]->outer->len);
  gantry_attr_list_set_function (attrs, "then", regions[0]->function);
  gantry_attr_list_set_function (attrs, "else", regions[1]->function);
  id = gantry_builder_add (trace->builder, GANTRY_OP_IF, (const guint32 *) (gpointer) operands->data, operands->len, gantry_attr_list_end (attrs));
  tuple = gantry_py_wrap (frame->state, id, GANTRY_PY_TENSOR);
  if (tuple == NULL)
    return FALSE;
  for (guint i = 0; i < join->a->len; i++)
    {
      PyObject *a = g_ptr_array_index (join->a, i);

      if (!is_joined (join, i))
        values[i] = Py_NewRef (a);
      else
        {
          GantryPyValue *member = (GantryPyValue *) (PyTuple_Check (tuple) ? PyTuple_GET_ITEM (tuple, taken) : tuple);

          taken++;
          values[i] = gantry_py_variable_new (frame->state, member->node, g_array_index (join->kinds, guint, i));
        }
    }
  Py_DECREF (tuple);
  return TRUE;
}

static void
set_pairs (PyObject *dict, PyObject *pairs)
{
  PyDict_Clear (dict);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (pairs); i++)
    PyDict_SetItem (dict, PyTuple_GET_ITEM (PyList_GET_ITEM (pairs, i), 0), PyTuple_GET_ITEM (PyList_GET_ITEM (pairs, i), 1));
}

/* Whether there is anything to be decided at run time: an arm may do something without leaving a value. */
static gboolean
merge (GantryPyFrame *frame, PyObject *predicate, Arm *arms)
{
  GantryPyJoin join;
  PyObject *all, *filled = NULL;
  PyObject **values;
  guint next = 0;

  _gantry_py_join_init (&join);
  all = join_arms (frame, &join, arms);
  values = g_new0 (PyObject *, join.a->len + 1);
  if (all != NULL && write_if (frame, predicate, arms, &join, values))
    filled = gantry_py_replace_variables (all, values, &next);
  if (filled != NULL)
    {
      set_pairs (frame->locals, PyList_GET_ITEM (filled, 0));
      set_pairs (gantry_py_trace (frame->state)->state, PyList_GET_ITEM (filled, 1));
      if (arms[0].result != NULL)
        Py_XSETREF (frame->result, Py_NewRef (PyList_GET_ITEM (filled, 2)));
    }
  for (guint i = 0; i < join.a->len; i++)
    Py_XDECREF (values[i]);
  g_free (values);
  Py_XDECREF (all);
  _gantry_py_join_clear (&join);
  Py_XDECREF (filled);
  return filled != NULL;
}

GantryPyStatus
_gantry_py_branch (GantryPyFrame *frame, PyObject *predicate, GantryPyArm then, gconstpointer then_data, GantryPyArm otherwise, gconstpointer else_data)
{
  PyObject *locals = PyDict_Copy (frame->locals), *state = PyDict_Copy (gantry_py_trace (frame->state)->state);
  Arm arms[2] = { 0 };
  GantryPyStatus status = GANTRY_PY_FAILED;

  if (walk_arm (frame, &arms[0], "then", then, then_data, locals, state) && walk_arm (frame, &arms[1], "else", otherwise, else_data, locals, state))
    {
      make_equal (frame, arms);
      status = arms[0].status == GANTRY_PY_RAISED ? arms[1].status : arms[0].status;
      if (arms[0].status == GANTRY_PY_RAISED && arms[1].status != GANTRY_PY_RAISED)
        follow_other (frame->state, &arms[0], &arms[1]);
      else if (arms[1].status == GANTRY_PY_RAISED && arms[0].status != GANTRY_PY_RAISED)
        follow_other (frame->state, &arms[1], &arms[0]);
      if (!merge (frame, predicate, arms))
        status = GANTRY_PY_FAILED;
    }
  arm_clear (&arms[0]);
  arm_clear (&arms[1]);
  Py_DECREF (locals);
  Py_DECREF (state);
  return status;
}

/* Expressions */

typedef struct
{
  const GantryPyNode *node;
  PyObject *value; /* (nullable): in place of the node */
} Choice;

static GantryPyStatus
arm_choice (GantryPyFrame *frame, gconstpointer data)
{
  const Choice *choice = data;
  PyObject *value = choice->value != NULL ? Py_NewRef (choice->value) : _gantry_py_eval (frame, choice->node);

  if (value == NULL)
    return GANTRY_PY_FAILED;
  Py_XSETREF (frame->result, value);
  return GANTRY_PY_RETURNED;
}

PyObject *
_gantry_py_branch_value (GantryPyFrame *frame, PyObject *predicate, const GantryPyNode *then, PyObject *then_value, const GantryPyNode *otherwise,
                         PyObject *else_value)
{
  Choice choices[2] = { { then, then_value }, { otherwise, else_value } };
  PyObject *before = frame->result, *value = NULL;

  frame->result = NULL;
  if (_gantry_py_branch (frame, predicate, arm_choice, &choices[0], arm_choice, &choices[1]) != GANTRY_PY_FAILED)
    value = Py_NewRef (frame->result);
  Py_XDECREF (frame->result);
  frame->result = before;
  return value;
}
