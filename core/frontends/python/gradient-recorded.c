/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients outside of a graph: a trace that records what runs, whose module then gives them. */
#include "core/frontends/python/gradient-private.h"
#include "core/graph/context.h"

/* Finishes the recorded module, runs it and puts the bytes into the variables that @outputs holds. */
static gboolean
run_recorded (GantryPyState *state, GantryTrace *trace, PyObject *outputs, GPtrArray *literals, GPtrArray *results)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;
  Py_ssize_t n = PyList_GET_SIZE (outputs);

  for (Py_ssize_t i = 0; i < n; i++)
    {
      guint32 id = gantry_py_use (state, PyList_GET_ITEM (outputs, i));

      if (id == 0)
        return FALSE;
      g_array_append_val (ids, id);
    }
  gantry_py_region_leave (trace, (const guint32 *) (gpointer) ids->data, ids->len);
  module = gantry_builder_finish (trace->builder, &error);
  if (module == NULL)
    {
      PyErr_SetString (PyExc_RuntimeError, error->message);
      return FALSE;
    }
  g_ptr_array_set_size (results, (gint) n);
  return gantry_py_run_module (state, module, trace->hosts, (GantryLiteral *const *) literals->pdata, (GantryLiteral **) results->pdata);
}

/* Each tensor argument is a variable with its bytes. */
static PyObject *
record_argument (GantryPyState *state, PyObject *argument, GPtrArray *literals)
{
  const GantryType *type;
  PyObject *variable;

  if (!gantry_py_value_check (argument) || ((GantryPyValue *) argument)->is_parameter)
    return Py_NewRef (argument);
  type = ((GantryPyValue *) argument)->type;
  variable = gantry_py_trace_parameter (state, gantry_context_tensor (gantry_py_trace (state)->context, type->element, type->rank, type->dims), NULL,
                                        GANTRY_PY_TENSOR);
  if (variable == NULL)
    return NULL;
  ((GantryPyValue *) variable)->literal = gantry_literal_ref (((GantryPyValue *) argument)->literal);
  g_ptr_array_add (literals, ((GantryPyValue *) argument)->literal);
  return variable;
}

static PyObject *
known_of (GantryPyState *state, PyObject *structure)
{
  g_autoptr (GPtrArray) variables = g_ptr_array_new ();
  g_autofree PyObject **values = NULL;
  PyObject *result;
  guint next = 0;

  gantry_py_collect_variables (structure, variables);
  values = g_new0 (PyObject *, variables->len + 1);
  for (guint i = 0; i < variables->len; i++)
    {
      GantryPyValue *variable = g_ptr_array_index (variables, i);

      values[i] = variable->literal != NULL ? gantry_py_object_of (state, variable->literal, (GantryPyValueKind) variable->kind) : Py_NewRef (Py_None);
    }
  result = gantry_py_replace_variables (structure, values, &next);
  for (guint i = 0; i < variables->len; i++)
    Py_DECREF (values[i]);
  return result;
}

static void
unref_literal (gpointer literal)
{
  if (literal != NULL)
    gantry_literal_unref (literal);
}

PyObject *
_gantry_py_gradient_recorded (GantryPyState *state, PyObject *function, PyObject *args, PyObject *kwargs, PyObject *positions, PyObject *weights,
                              PyObject *sens, gboolean has_aux)
{
  GantryTrace *trace = gantry_py_trace_begin (state, FALSE);
  g_autoptr (GPtrArray) literals = g_ptr_array_new (), results = g_ptr_array_new_with_free_func (unref_literal);
  PyObject *own = PyTuple_New (PyTuple_GET_SIZE (args)), *found = NULL, *result = NULL;
  gboolean fine = TRUE;

  trace->record = TRUE;
  for (Py_ssize_t i = 0; fine && i < PyTuple_GET_SIZE (args); i++)
    {
      PyObject *item = record_argument (state, PyTuple_GET_ITEM (args, i), literals);

      fine = item != NULL;
      if (fine)
        PyTuple_SET_ITEM (own, i, item);
    }
  if (fine)
    found = _gantry_py_gradient_in_trace (state, function, own, kwargs, positions, weights, sens, has_aux);
  if (found != NULL)
    {
      PyObject *output = known_of (state, PyTuple_GET_ITEM (found, 0)), *grads = PyTuple_GET_ITEM (found, 1), *known = PyList_New (0);

      for (Py_ssize_t i = 0; i < PyList_GET_SIZE (trace->parameters); i++)
        {
          /* As it was read: the function may have changed it since. */
          PyObject *key = PyLong_FromVoidPtr (PyList_GET_ITEM (trace->parameters, i));
          PyObject *first = PyDict_GetItem (trace->origins, key);

          g_ptr_array_add (literals, ((GantryPyValue *) (first != NULL ? first : PyList_GET_ITEM (trace->parameters, i)))->literal);
          Py_DECREF (key);
        }
      if (run_recorded (state, trace, grads, literals, results))
        {
          for (guint i = 0; i < results->len; i++)
            {
              PyObject *grad = gantry_py_object_of (state, g_ptr_array_index (results, i), GANTRY_PY_TENSOR);

              PyList_Append (known, grad);
              Py_DECREF (grad);
            }
          result = Py_BuildValue ("(OOO)", output, known, PyTuple_GET_ITEM (found, 2));
        }
      Py_DECREF (known);
      Py_XDECREF (output);
    }
  Py_XDECREF (found);
  Py_DECREF (own);
  while (gantry_py_trace (state) != trace)
    gantry_py_trace_end (state, gantry_py_trace (state));
  gantry_py_trace_end (state, trace);
  return result;
}
