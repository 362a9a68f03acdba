/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients: the function is walked into a module of its own, whose captures are parameters; the backend differentiates it, and
 * what comes out is written where the gradient was asked for. Outside of a graph the function runs as CPython runs it, and a
 * recording trace notes what it computes. */
#include "core/frontends/python/gradient-private.h"
#include "core/graph/context.h"
#include "core/graph/text.h"
#include <string.h>

gboolean
_gantry_py_gradient_carries (const GantryPyGradient *gradient, const GantryType *type)
{
  return gantry_element_is_float (type->element) || (gradient->integers && gantry_element_is_integer (type->element));
}

PyObject *
_gantry_py_gradient_want (GantryPyGradient *gradient, PyObject *value)
{
  GantryPyWanted wanted = { .outer = value, .position = G_MAXUINT };
  const GantryPyValue *outer = (const GantryPyValue *) value;
  guint32 type = gantry_context_tensor (gradient->trace->context, outer->type->element, outer->type->rank, outer->type->dims);
  PyObject *inner = gantry_py_trace_parameter (gradient->state, type, NULL, (GantryPyValueKind) outer->kind);

  if (inner == NULL)
    return NULL;
  wanted.inner = ((GantryPyValue *) inner)->node;
  gradient->integers |= gantry_element_is_integer (outer->type->element);
  if (gradient->trace->root->record && outer->literal != NULL)
    ((GantryPyValue *) inner)->literal = gantry_literal_ref (outer->literal);
  g_array_append_val (gradient->wanted, wanted);
  return inner;
}

gboolean
gantry_py_gradient_wants (const GantryTrace *trace, const PyObject *parameter)
{
  for (; trace != NULL; trace = trace != trace->root ? trace->parent : NULL)
    {
      const GantryPyGradient *gradient = trace->gradient;

      for (guint i = gradient != NULL ? gradient->n_positions : 0; gradient != NULL && i < gradient->wanted->len; i++)
        if (g_array_index (gradient->wanted, GantryPyWanted, i).outer == parameter)
          return TRUE;
    }
  return FALSE;
}

static PyObject *want_argument (GantryPyGradient *gradient, PyObject *argument);

static PyObject *
want_values (GantryPyGradient *gradient, PyObject *dict)
{
  PyObject *copy = PyDict_New (), *key, *value;
  Py_ssize_t at = 0;

  while (copy != NULL && PyDict_Next (dict, &at, &key, &value))
    {
      PyObject *item = want_argument (gradient, value);

      if (item == NULL || PyDict_SetItem (copy, key, item) < 0)
        Py_CLEAR (copy);
      Py_XDECREF (item);
    }
  return copy;
}

/* The tensors and variable numbers of an argument become parameters; the rest stays. */
static PyObject *
want_argument (GantryPyGradient *gradient, PyObject *argument)
{
  PyObject *copy;

  if (gantry_py_value_check (argument) && !((GantryPyValue *) argument)->is_parameter
      && (((GantryPyValue *) argument)->kind == GANTRY_PY_TENSOR || (gantry_py_is_variable (argument) && !gantry_py_is_handle (argument))))
    return _gantry_py_gradient_want (gradient, argument);
  if (gantry_py_value_check (argument) && ((GantryPyValue *) argument)->is_parameter)
    {
      PyObject *inner = _gantry_py_gradient_want (gradient, argument), *key = PyLong_FromVoidPtr (argument);

      if (inner != NULL)
        PyDict_SetItem (gradient->trace->state, key, inner);
      Py_DECREF (key);
      Py_XDECREF (inner);
      return Py_NewRef (argument);
    }
  if ((!PyTuple_Check (argument) && !PyList_Check (argument) && !PyDict_Check (argument)) || PyObject_HasAttrString (argument, "_fields"))
    return Py_NewRef (argument);
  if (Py_EnterRecursiveCall (" in an argument of a gradient") != 0)
    return NULL;
  if (PyDict_Check (argument))
    {
      copy = want_values (gradient, argument);
      Py_LeaveRecursiveCall ();
      return copy;
    }
  copy = PyTuple_Check (argument) ? PyTuple_New (PyTuple_GET_SIZE (argument)) : PyList_New (PyList_GET_SIZE (argument));
  for (Py_ssize_t i = 0; copy != NULL && i < PySequence_Fast_GET_SIZE (argument); i++)
    {
      PyObject *item = want_argument (gradient, PySequence_Fast_GET_ITEM (argument, i));

      if (item == NULL)
        Py_CLEAR (copy);
      else if (PyTuple_Check (argument))
        PyTuple_SET_ITEM (copy, i, item);
      else
        PyList_SET_ITEM (copy, i, item);
    }
  Py_LeaveRecursiveCall ();
  return copy;
}

static gboolean
take_arguments (GantryPyGradient *gradient, PyObject *args, PyObject *positions, PyObject *weights)
{
  Py_ssize_t n = PyTuple_GET_SIZE (args);

  gradient->inner_args = PyTuple_New (n);
  if (gradient->inner_args == NULL)
    return FALSE;
  for (Py_ssize_t i = 0; i < n; i++)
    {
      PyObject *index = PyLong_FromSsize_t (i);
      gboolean wanted = PySequence_Contains (positions, index) == 1;
      PyObject *inner = wanted ? want_argument (gradient, PyTuple_GET_ITEM (args, i)) : Py_NewRef (PyTuple_GET_ITEM (args, i));

      Py_DECREF (index);
      if (inner == NULL)
        return FALSE;
      PyTuple_SET_ITEM (gradient->inner_args, i, inner);
    }
  gradient->n_positions = gradient->wanted->len;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE (weights); i++)
    {
      PyObject *weight = PySequence_Fast_GET_ITEM (weights, i), *inner = _gantry_py_gradient_want (gradient, weight), *key;

      if (inner == NULL)
        return FALSE;
      key = PyLong_FromVoidPtr (weight);
      PyDict_SetItem (gradient->trace->state, key, inner);
      Py_DECREF (key);
      Py_DECREF (inner);
    }
  return TRUE;
}

gboolean
_gantry_py_gradient_add_values (GantryPyGradient *gradient, PyObject *structure)
{
  g_autoptr (GPtrArray) variables = g_ptr_array_new ();

  gantry_py_collect_variables (structure, variables);
  for (guint i = 0; i < variables->len; i++)
    {
      guint kind = ((GantryPyValue *) g_ptr_array_index (variables, i))->kind;
      guint32 id = gantry_py_use (gradient->state, g_ptr_array_index (variables, i));

      if (id == 0)
        return FALSE;
      g_array_append_val (gradient->ids, id);
      g_array_append_val (gradient->kinds, kind);
    }
  return TRUE;
}

static gboolean
is_initial (const GantryPyGradient *gradient, PyObject *value)
{
  for (guint i = 0; i < gradient->wanted->len; i++)
    if (((GantryPyValue *) value)->node == g_array_index (gradient->wanted, GantryPyWanted, i).inner)
      return TRUE;
  return FALSE;
}

/* What the function assigned inside leaves the module too. */
static gboolean
add_state (GantryPyGradient *gradient)
{
  PyObject *key, *value;
  Py_ssize_t at = 0;

  while (PyDict_Next (gradient->trace->state, &at, &key, &value))
    if (!gantry_py_is_variable (value) || !is_initial (gradient, value))
      {
        PyList_Append (gradient->changed, key);
        if (!_gantry_py_gradient_add_values (gradient, value))
          return FALSE;
      }
  return TRUE;
}

static gboolean
call_function (GantryPyGradient *gradient, PyObject *function, PyObject *kwargs, gboolean has_aux)
{
  GantryPyState *state = gradient->state;
  GantryPyFrame frame = { .state = state, .globals = PyEval_GetBuiltins (), .name = "grad" };
  PyObject *result;
  GPtrArray *main = g_ptr_array_new ();

  if (gradient->trace->root->record)
    result = PyObject_Call (function, gradient->inner_args, kwargs);
  else
    result = _gantry_py_call (&frame, function, gradient->inner_args, kwargs);
  gradient->result = result != NULL ? gantry_py_with_parameters (state, result) : NULL;
  Py_XDECREF (result);
  if (gradient->result != NULL)
    gantry_py_collect_variables (
      has_aux && PyTuple_Check (gradient->result) && PyTuple_GET_SIZE (gradient->result) > 0 ? PyTuple_GET_ITEM (gradient->result, 0) : gradient->result, main);
  gradient->n_main = main->len;
  g_ptr_array_unref (main);
  return gradient->result != NULL;
}

/* The results that are differentiated. */
static void
add_outputs (GantryPyGradient *gradient)
{
  for (guint i = 0; i < gradient->n_main; i++)
    {
      const GantryType *type = gantry_builder_get_type (gradient->trace->builder, g_array_index (gradient->ids, guint32, i));

      if (_gantry_py_gradient_carries (gradient, type))
        g_array_append_val (gradient->outputs, i);
    }
}

/* What only CPython makes when the graph runs has no derivative in the graph; operation by operation it has what its tensors have. */
static gboolean
check_results (const GantryPyGradient *gradient)
{
  for (guint i = 0; i < gradient->n_main; i++)
    if (g_array_index (gradient->kinds, guint, i) == GANTRY_PY_HANDLE)
      {
        PyErr_SetString (_gantry_py_hook (gradient->state, "NoDerivative"), "A result of the function that is differentiated is an "
                                                                            "object that only Python knows when the graph runs.");
        return FALSE;
      }
  return TRUE;
}

/* Ends the function's module. */
static gboolean
end_function (GantryPyGradient *gradient)
{
  g_autoptr (GError) error = NULL;

  if (!_gantry_py_gradient_add_values (gradient, gradient->result) || !check_results (gradient))
    return FALSE;
  gradient->n_values = gradient->ids->len;
  if (!add_state (gradient))
    return FALSE;
  add_outputs (gradient);
  if (gradient->outputs->len == 0 && !gradient->integers)
    {
      gradient->integers = TRUE;
      add_outputs (gradient);
    }
  gradient->n_own_outputs = gradient->outputs->len;
  if (!_gantry_py_customs_end (gradient))
    return FALSE;
  gantry_py_region_leave (gradient->trace, (const guint32 *) (gpointer) gradient->ids->data, gradient->ids->len);
  gradient->module = gantry_builder_finish (gradient->trace->builder, &error);
  if (gradient->module == NULL)
    PyErr_SetString (PyExc_RuntimeError, error->message);
  return gradient->module != NULL;
}

/* Whether the program asks for gradients by numbers: by a switch of MindSpore's. */
static gboolean
differentiates_numbers (GantryPyState *state)
{
  PyObject *hook = PyDict_GetItemString (state->hooks, "differentiates_numbers");
  PyObject *asked = hook != NULL ? PyObject_CallNoArgs (hook) : NULL;

  Py_XDECREF (asked);
  return asked == Py_True;
}

static gboolean
differentiate (GantryPyGradient *gradient)
{
  GantryPyState *state = gradient->state;
  const GantryFunction *entry = gantry_module_entry (gradient->module);
  g_autofree guint *inputs = g_new0 (guint, gradient->wanted->len + 1);
  g_autoptr (GError) error = NULL;
  GantryModule *derived;
  gboolean numbers = differentiates_numbers (state);
  guint n = 0;

  if (PyErr_Occurred ())
    return FALSE;

  for (guint w = 0; w < gradient->wanted->len; w++)
    for (guint i = 0; i < entry->n_params; i++)
      {
        const GantryNode *node = &gradient->module->nodes[entry->first_node + i];
        GantryPyWanted *wanted = &g_array_index (gradient->wanted, GantryPyWanted, w);

        /* A number has a gradient by name only, which is zero, unless the program asks for more. */
        if (node->id != wanted->inner || (((GantryPyValue *) wanted->outer)->kind != GANTRY_PY_TENSOR && !numbers)
            || !_gantry_py_gradient_carries (gradient, gantry_node_type (gradient->module, node)))
          continue;
        wanted->position = n;
        inputs[n++] = i;
      }
  if (n == 0 || gradient->outputs->len == 0)
    {
      for (guint w = 0; w < gradient->wanted->len; w++)
        g_array_index (gradient->wanted, GantryPyWanted, w).position = G_MAXUINT;
      return TRUE; /* nothing depends on anything: the module stays */
    }
  if (state->backend == NULL || state->backend->gradient == NULL)
    {
      PyErr_SetString (PyExc_RuntimeError, "gradients are not available here");
      return FALSE;
    }
  derived = state->backend->gradient (state->backend->self, gradient->module, (const guint *) (gpointer) gradient->outputs->data, gradient->outputs->len,
                                      inputs, n, gradient->integers, &error);
  if (derived == NULL)
    {
      PyErr_SetString (g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED) ? _gantry_py_hook (state, "NoDerivative") : PyExc_RuntimeError,
                       error->message);
      return FALSE;
    }
  gantry_module_unref (gradient->module);
  gradient->module = derived;
  return TRUE;
}

/* The cotangent of output @i: given, or ones. */
static guint32
seed (GantryPyGradient *gradient, guint i, guint32 type_id, GPtrArray *sens)
{
  GantryPyState *state = gradient->state;
  const GantryType *type = gantry_context_type (gantry_py_trace (state)->context, type_id);
  gboolean own = i < gradient->n_own_outputs;
  PyObject *given = own && i < sens->len ? g_ptr_array_index (sens, i) : NULL;

  if (!own && gradient->seeds != NULL)
    {
      PyObject *key = PyLong_FromUnsignedLong (i);

      given = PyDict_GetItem (gradient->seeds, key);
      Py_DECREF (key);
    }
  if (given == NULL)
    return gantry_builder_splat (gantry_py_trace (state)->builder, type->element, own ? 1.0 : 0.0, type->rank, type->dims);
  given = _gantry_py_call_hook (state, "cotangent", "OsN", given, gantry_element_name (type->element), PyLong_FromUnsignedLong (type_id));
  if (given == NULL)
    return 0;
  {
    guint32 id = gantry_py_use (state, given);

    Py_DECREF (given);
    return id;
  }
}

static guint32 *
outer_arguments (GantryPyGradient *gradient, GPtrArray *sens)
{
  GantryPyState *state = gradient->state;
  const GantryFunction *entry = gantry_module_entry (gradient->module);
  guint32 *arguments = g_new0 (guint32, entry->n_params + 1);
  const GantryRegion *body = gradient->trace->body;
  guint n_seeds = 0;

  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &gradient->module->nodes[entry->first_node + i];

      for (guint w = 0; arguments[i] == 0 && w < gradient->wanted->len; w++)
        {
          const GantryPyWanted *wanted = &g_array_index (gradient->wanted, GantryPyWanted, w);

          if (wanted->inner != node->id)
            continue;
          arguments[i] = gantry_py_use (state, wanted->outer);
        }
      for (guint j = 0; arguments[i] == 0 && j < body->inner->len; j++)
        if (g_array_index (body->inner, guint32, j) == node->id)
          arguments[i] = g_array_index (body->outer, guint32, j);
      if (arguments[i] == 0)
        arguments[i] = seed (gradient, n_seeds++, node->type, sens);
    }
  return arguments;
}

guint32
_gantry_py_gradient_by (const GantryPyGradient *gradient, const guint32 *results, guint w)
{
  const GantryPyWanted *wanted = &g_array_index (gradient->wanted, GantryPyWanted, w);
  const GantryType *type = ((GantryPyValue *) wanted->outer)->type;

  return wanted->position != G_MAXUINT ? results[gradient->ids->len + wanted->position]
                                       : gantry_builder_splat (gantry_py_trace (gradient->state)->builder, type->element, 0, type->rank, type->dims);
}

/* What the function left in the state, as the graph outside sees it. Returns: a new reference, NULL with an exception */
static PyObject *
as_outside (GantryPyGradient *gradient, PyObject *value, const guint32 *results, guint *at)
{
  g_autoptr (GPtrArray) inner = g_ptr_array_new ();
  g_autofree PyObject **values = NULL;
  PyObject *now = NULL;
  gboolean fine = TRUE;
  guint next = 0;

  gantry_py_collect_variables (value, inner);
  values = g_new0 (PyObject *, inner->len + 1);
  for (guint i = 0; i < inner->len; i++, (*at)++)
    {
      const GantryPyValue *before = g_ptr_array_index (inner, i);

      values[i] = gantry_py_wrap (gradient->state, results[*at], (GantryPyValueKind) g_array_index (gradient->kinds, guint, *at));
      fine = fine && values[i] != NULL;
      if (values[i] != NULL && before->literal != NULL)
        ((GantryPyValue *) values[i])->literal = gantry_literal_ref (before->literal);
    }
  if (fine)
    now = gantry_py_replace_variables (value, values, &next);
  for (guint i = 0; i < inner->len; i++)
    Py_XDECREF (values[i]);
  return now;
}

static PyObject *
wrap_results (GantryPyGradient *gradient, const guint32 *results)
{
  GantryPyState *state = gradient->state;
  g_autoptr (GPtrArray) inner = g_ptr_array_new ();
  g_autofree PyObject **values = g_new0 (PyObject *, gradient->n_values + 1);
  PyObject *output, *grads = PyList_New (0);
  guint next = 0, at = gradient->n_values;

  gantry_py_collect_variables (gradient->result, inner);
  for (guint i = 0; i < gradient->n_values; i++)
    {
      values[i] = gantry_py_wrap (state, results[i], (GantryPyValueKind) g_array_index (gradient->kinds, guint, i));
      if (values[i] != NULL && ((GantryPyValue *) g_ptr_array_index (inner, i))->literal != NULL)
        ((GantryPyValue *) values[i])->literal = gantry_literal_ref (((GantryPyValue *) g_ptr_array_index (inner, i))->literal);
    }
  output = gantry_py_replace_variables (gradient->result, values, &next);
  for (guint i = 0; i < gradient->n_values; i++)
    Py_XDECREF (values[i]);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (gradient->changed); i++)
    {
      PyObject *key = PyList_GET_ITEM (gradient->changed, i), *value = PyDict_GetItem (gradient->trace->state, key);
      PyObject *now = as_outside (gradient, value, results, &at);

      if (now != NULL)
        PyDict_SetItem (gantry_py_trace (state)->state, key, now);
      Py_XDECREF (now);
    }
  for (guint w = 0; w < gradient->n_wanted; w++)
    {
      const GantryPyWanted *wanted = &g_array_index (gradient->wanted, GantryPyWanted, w);
      const GantryPyValue *outer = (const GantryPyValue *) wanted->outer;
      guint32 id = _gantry_py_gradient_by (gradient, results, w);
      PyObject *grad = gantry_py_wrap (state, id, (GantryPyValueKind) outer->kind);

      PyList_Append (grads, grad);
      Py_XDECREF (grad);
    }
  return Py_BuildValue ("(NNI)", output, grads, gradient->n_positions);
}

static void
gradient_clear (GantryPyGradient *gradient)
{
  g_array_unref (gradient->wanted);
  g_array_unref (gradient->ids);
  g_array_unref (gradient->kinds);
  g_array_unref (gradient->outputs);
  Py_XDECREF (gradient->inner_args);
  Py_XDECREF (gradient->result);
  Py_XDECREF (gradient->changed);
  Py_XDECREF (gradient->seeds);
  g_ptr_array_unref (gradient->customs);
  g_clear_pointer (&gradient->module, gantry_module_unref);
}

guint32 *
_gantry_py_gradient_splice (GantryPyGradient *gradient, PyObject *sens)
{
  g_autoptr (GPtrArray) given = g_ptr_array_new ();
  g_autofree guint32 *arguments = NULL, *results = NULL;

  if (sens != Py_None)
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE (sens); i++)
      g_ptr_array_add (given, PyTuple_GET_ITEM (sens, i));
  arguments = outer_arguments (gradient, given);
  results = g_new0 (guint32, gantry_module_entry (gradient->module)->n_results + 1);
  if (PyErr_Occurred () || !gantry_py_splice (gradient->state, gradient->module, arguments, results))
    return NULL;
  return g_steal_pointer (&results);
}

static PyObject *
splice_gradient (GantryPyGradient *gradient, PyObject *sens)
{
  g_autofree guint32 *results = NULL;

  if (!_gantry_py_customs_nest (gradient, sens) || !_gantry_py_customs_run (gradient, sens))
    return NULL;
  results = _gantry_py_gradient_splice (gradient, sens);
  return results != NULL ? wrap_results (gradient, results) : NULL;
}

PyObject *
_gantry_py_gradient_in_trace (GantryPyState *state, PyObject *function, PyObject *args, PyObject *kwargs, PyObject *positions, PyObject *weights,
                              PyObject *sens, gboolean has_aux)
{
  GantryPyGradient gradient = { .state = state,
                                .wanted = g_array_new (FALSE, FALSE, sizeof (GantryPyWanted)),
                                .ids = g_array_new (FALSE, FALSE, sizeof (guint32)),
                                .kinds = g_array_new (FALSE, FALSE, sizeof (guint)),
                                .outputs = g_array_new (FALSE, FALSE, sizeof (guint)),
                                .changed = PyList_New (0),
                                .customs = g_ptr_array_new_with_free_func (_gantry_py_custom_free) };
  GantryTrace *outer = gantry_py_trace (state);
  PyObject *result = NULL;
  gboolean fine;

  gradient.trace = gantry_py_trace_begin (state, TRUE);
  gradient.trace->gradient = &gradient;
  fine = take_arguments (&gradient, args, positions, weights);
  gradient.n_wanted = gradient.wanted->len;
  fine = fine && call_function (&gradient, function, kwargs, has_aux) && end_function (&gradient) && differentiate (&gradient);
  gantry_py_set_trace (state, outer);
  if (fine)
    result = splice_gradient (&gradient, sens);
  gantry_py_set_trace (state, gradient.trace);
  gantry_py_trace_end (state, gradient.trace);
  gradient_clear (&gradient);
  return result;
}

PyObject *
gantry_py_gradient (PyObject *module, PyObject *args)
{
  GantryPyState *state = gantry_py_state ();
  PyObject *function, *arguments, *kwargs, *positions, *weights, *sens;
  int has_aux;

  if (!PyArg_ParseTuple (args, "OO!OO!OOp", &function, &PyTuple_Type, &arguments, &kwargs, &PyTuple_Type, &positions, &weights, &sens, &has_aux))
    return NULL;
  kwargs = kwargs == Py_None || PyDict_GET_SIZE (kwargs) == 0 ? NULL : kwargs;
  return (gantry_py_trace (state) != NULL ? _gantry_py_gradient_in_trace : _gantry_py_gradient_recorded) (state, function, arguments, kwargs, positions,
                                                                                                          weights, sens, has_aux);
}
