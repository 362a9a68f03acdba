/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow whose bodies are functions: each is run once over variables, in a region of its own. */
#include "core/frontends/python/jax/jax.h"
#include "core/graph/context.h"

/* Nodes for the values of a sequence, in the innermost region. */
static gboolean
use_all (GantryPyState *state, PyObject *values, GArray *ids)
{
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE (values); i++)
    {
      PyObject *value = PySequence_Fast_GET_ITEM (values, i);
      guint32 id;

      if (!gantry_py_value_check (value) || ((GantryPyValue *) value)->type == NULL)
        {
          PyErr_Format (PyExc_TypeError, "control flow takes and gives arrays, not %.100s", Py_TYPE (value)->tp_name);
          return FALSE;
        }
      id = gantry_py_use (state, value);
      if (id == 0)
        {
          gantry_py_check_builder (gantry_py_trace (state));
          return FALSE;
        }
      g_array_append_val (ids, id);
    }
  return TRUE;
}

/* Whether there is a trace for a node of control flow. FALSE with an exception */
static gboolean
is_traced (const GantryPyState *state)
{
  if (gantry_py_trace (state) != NULL)
    return TRUE;
  PyErr_SetString (PyExc_RuntimeError, "control flow is a node of a graph, and none is being made");
  return FALSE;
}

/* The type that a body sees: of an x (@axis 0) a slice. */
static guint32
parameter_type (GantryTrace *trace, guint32 id, gboolean sliced)
{
  const GantryType *type = gantry_builder_get_type (trace->builder, id);

  return gantry_context_tensor (trace->context, (GantryElementType) type->element, type->rank - (sliced ? 1 : 0), type->dims + (sliced ? 1 : 0));
}

/**
 * Runs @function in a region of its own, with a parameter for each of @operands (the last @n_xs are sliced).
 * @results: (out): node ids. Returns: (nullable): the region, left; NULL with an exception
 */
static GantryRegion *
run_body (GantryPyState *state, const char *name, PyObject *function, const GArray *operands, guint n_xs, GArray *results)
{
  GantryTrace *trace = gantry_py_trace (state);
  guint32 scope = trace->root->scope;
  g_autofree guint32 *types = g_new0 (guint32, operands->len + 1);
  PyObject *parameters = PyTuple_New (operands->len), *values = NULL;
  GantryRegion *region;
  gboolean fine = TRUE;

  if (parameters == NULL)
    return NULL;
  for (guint i = 0; i < operands->len; i++)
    types[i] = parameter_type (trace, g_array_index (operands, guint32, i), i >= operands->len - n_xs);
  region = gantry_py_region_begin (trace, name);
  /* A scope in a body is relative to the node that it is the body of. */
  trace->root->scope = 0;
  for (guint i = 0; fine && i < operands->len; i++)
    {
      guint32 id = gantry_builder_parameter (trace->builder, types[i], NULL);
      PyObject *one = gantry_py_wrap (state, id, GANTRY_PY_TENSOR);

      fine = one != NULL;
      if (fine)
        PyTuple_SET_ITEM (parameters, i, one);
    }
  if (fine)
    values = PyObject_Call (function, parameters, NULL);
  if (values != NULL && !PyList_Check (values))
    PyErr_SetString (PyExc_TypeError, "a body returns a list");
  fine = values != NULL && PyList_Check (values) && use_all (state, values, results);
  Py_XDECREF (values);
  Py_DECREF (parameters);
  trace->root->scope = scope;
  if (!fine)
    {
      /* A program that catches the error goes on where it was: in the region outside. */
      gantry_py_region_leave (trace, NULL, 0);
      return NULL;
    }
  gantry_py_region_leave (trace, (const guint32 *) (gpointer) results->data, results->len);
  return region;
}

/* The members of what a node of control flow gives, always as a tuple. */
static PyObject *
members (GantryPyState *state, guint32 id)
{
  PyObject *result = gantry_py_wrap (state, id, GANTRY_PY_TENSOR), *tuple;

  if (result == NULL || PyTuple_Check (result))
    return result;
  tuple = PyTuple_Pack (1, result);
  Py_DECREF (result);
  return tuple;
}

static const guint32 *
ids_of (const GArray *ids)
{
  return (const guint32 *) (gpointer) ids->data;
}

PyObject *
gantry_py_jax_scan (PyObject *module, PyObject *args)
{
  GantryPyState *state = gantry_py_state ();
  GantryTrace *trace = gantry_py_trace (state);
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree gint64 *zeros = NULL;
  GantryRegion *region;
  GantryScan scan = { 0 };
  PyObject *body, *carries, *xs;
  long long length;
  int reverse;

  if (!PyArg_ParseTuple (args, "OO!O!Lp", &body, &PyList_Type, &carries, &PyList_Type, &xs, &length, &reverse) || !is_traced (state)
      || !use_all (state, carries, operands) || !use_all (state, xs, operands))
    return NULL;
  for (guint i = (guint) PyList_GET_SIZE (carries); i < operands->len; i++)
    if (gantry_builder_get_type (trace->builder, g_array_index (operands, guint32, i))->rank == 0)
      return PyErr_Format (PyExc_TypeError, "a scan walks along the first dimension, which a scalar has not");
  scan.n_carries = (guint) PyList_GET_SIZE (carries);
  scan.n_xs = (guint) PyList_GET_SIZE (xs);
  region = run_body (state, "scan", body, operands, scan.n_xs, results);
  if (region == NULL)
    return NULL;
  if (results->len < scan.n_carries)
    return PyErr_Format (PyExc_TypeError, "the body of a scan returns %u carries", scan.n_carries);
  zeros = g_new0 (gint64, operands->len + results->len + 1);
  scan.body = region->function;
  scan.length = length;
  scan.reverse = reverse;
  scan.n_ys = results->len - scan.n_carries;
  scan.n_captures = region->outer->len;
  scan.axes = scan.y_axes = zeros;
  g_array_append_vals (operands, region->outer->data, region->outer->len);
  gantry_py_jax_set_place (trace, ids_of (operands), operands->len);
  return members (state, gantry_builder_scan (trace->builder, &scan, ids_of (operands)));
}

PyObject *
gantry_py_jax_branch (PyObject *module, PyObject *args)
{
  GantryPyState *state = gantry_py_state ();
  GantryTrace *trace = gantry_py_trace (state);
  g_autoptr (GArray) none = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) first = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) second = g_array_new (FALSE, FALSE, sizeof (guint32));
  GantryRegion *regions[2];
  GantryAttrList *attrs;
  PyObject *predicate, *then, *otherwise;
  guint32 id;

  if (!PyArg_ParseTuple (args, "OOO", &predicate, &then, &otherwise) || !is_traced (state))
    return NULL;
  if (!gantry_py_value_check (predicate) || ((GantryPyValue *) predicate)->type == NULL)
    return PyErr_Format (PyExc_TypeError, "a predicate is an array, not %.100s", Py_TYPE (predicate)->tp_name);
  if ((id = gantry_py_use (state, predicate)) == 0)
    {
      gantry_py_check_builder (trace);
      return NULL;
    }
  g_array_append_val (operands, id);
  if ((regions[0] = run_body (state, "then", then, none, 0, first)) == NULL || (regions[1] = run_body (state, "else", otherwise, none, 0, second)) == NULL)
    return NULL;
  gantry_py_regions_align (trace, regions, 2);
  g_array_append_vals (operands, regions[0]->outer->data, regions[0]->outer->len);
  attrs = gantry_attr_list_new (trace->context);
  gantry_attr_list_set_function (attrs, "then", regions[0]->function);
  gantry_attr_list_set_function (attrs, "else", regions[1]->function);
  gantry_py_jax_set_place (trace, ids_of (operands), operands->len);
  return members (state, gantry_builder_add (trace->builder, GANTRY_OP_IF, ids_of (operands), operands->len, gantry_attr_list_end (attrs)));
}

PyObject *
gantry_py_jax_loop (PyObject *module, PyObject *args)
{
  GantryPyState *state = gantry_py_state ();
  GantryTrace *trace = gantry_py_trace (state);
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) verdict = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));
  GantryRegion *regions[2];
  GantryAttrList *attrs;
  PyObject *condition, *body, *values;

  if (!PyArg_ParseTuple (args, "OOO!", &condition, &body, &PyList_Type, &values) || !is_traced (state) || !use_all (state, values, operands)
      || (regions[0] = run_body (state, "cond", condition, operands, 0, verdict)) == NULL
      || (regions[1] = run_body (state, "body", body, operands, 0, results)) == NULL)
    return NULL;
  if (verdict->len != 1 || results->len != operands->len)
    return PyErr_Format (PyExc_TypeError, "the body of a loop gives as many values as it takes, and its condition one");
  /* A loop passes on what its functions read from outside. */
  gantry_py_regions_align (trace, regions, 2);
  g_array_append_vals (operands, regions[1]->outer->data, regions[1]->outer->len);
  g_array_append_vals (results, regions[1]->inner->data, regions[1]->inner->len);
  gantry_builder_reopen (trace->builder, regions[1]->function);
  gantry_builder_end (trace->builder, ids_of (results), results->len);
  attrs = gantry_attr_list_new (trace->context);
  gantry_attr_list_set_function (attrs, "cond", regions[0]->function);
  gantry_attr_list_set_function (attrs, "body", regions[1]->function);
  gantry_py_jax_set_place (trace, ids_of (operands), operands->len);
  return members (state, gantry_builder_add (trace->builder, GANTRY_OP_WHILE, ids_of (operands), operands->len, gantry_attr_list_end (attrs)));
}
