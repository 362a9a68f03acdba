/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients: the function is walked into a module of its own, whose captures are parameters; the backend differentiates it, and
 * what comes out is written where the gradient was asked for. Outside of a graph the function runs as CPython runs it, and a
 * recording trace notes what it computes. */
#include "core/frontends/python/program.h"
#include "core/ir/context.h"
#include "core/ir/text.h"
#include <string.h>

gboolean
gantry_py_splice (GantryPyState *state, GantryModule *module, const guint32 *arguments, guint32 *results)
{
  GantryBuilder *builder = state->trace->builder;
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GHashTable) map = g_hash_table_new (NULL, NULL);

  for (guint32 f = 0; f < module->n_functions; f++)
    {
      const GantryFunction *function = &module->functions[f];
      g_autofree guint32 *own = NULL;

      if (f > 0)
        gantry_builder_begin (builder, gantry_context_string (module->context, function->name), function->id);
      for (guint32 i = 0; i < function->n_nodes; i++)
        {
          GantryNode node = module->nodes[function->first_node + i];
          g_autofree guint32 *operands = g_new0 (guint32, node.n_operands + 1);
          guint32 id;

          for (guint j = 0; j < node.n_operands; j++)
            operands[j] = GPOINTER_TO_UINT (g_hash_table_lookup (map, GUINT_TO_POINTER (module->operands[node.operands + j])));
          if (f == 0 && i < entry->n_params)
            id = arguments[i];
          else
            {
              node.n_origins = 0;
              node.phase = GANTRY_PHASE_FORWARD;
              id = gantry_builder_add_node (builder, &node, operands, NULL);
            }
          g_hash_table_insert (map, GUINT_TO_POINTER (module->nodes[function->first_node + i].id), GUINT_TO_POINTER (id));
        }
      if (f == 0)
        continue;
      own = g_new0 (guint32, function->n_results + 1);
      for (guint i = 0; i < function->n_results; i++)
        own[i] = GPOINTER_TO_UINT (g_hash_table_lookup (map, GUINT_TO_POINTER (gantry_function_result_id (module, function, i))));
      gantry_builder_end (builder, own, function->n_results);
    }
  for (guint i = 0; i < entry->n_results; i++)
    results[i] = GPOINTER_TO_UINT (g_hash_table_lookup (map, GUINT_TO_POINTER (gantry_function_result_id (module, entry, i))));
  return gantry_py_check_builder (state->trace);
}

/* A variable that the gradient is taken by. */
typedef struct
{
  PyObject *outer; /* borrowed: the value outside */
  guint32 inner;   /* node of the parameter */
  gboolean cast;   /* outside it is an integer */
} Wanted;

typedef struct
{
  GantryPyState *state;
  GantryTrace *trace;   /* of the function */
  GArray *wanted;       /* Wanted: positions first, then weights */
  guint n_positions;    /* of @wanted */
  PyObject *inner_args;
  PyObject *result;     /* structure that the function gave, of the inner trace */
  GArray *ids;          /* of its results: those of @result, then changed state */
  GArray *kinds;
  guint n_values;       /* of @ids that belong to @result */
  guint n_main;         /* of them that count for the gradient */
  PyObject *changed;    /* list of keys of the state */
  GantryModule *module;
  GArray *outputs;      /* guint: indices of the results that are differentiated */
} Gradient;

static guint32
float_type (GantryTrace *trace, const GantryType *type, gboolean *cast)
{
  GantryElementType element = (GantryElementType) type->element;

  *cast = !gantry_element_is_float (element);
  return gantry_context_tensor (trace->context, *cast ? GANTRY_F64 : element, type->rank, type->dims);
}

static GantryLiteral *
literal_as (GantryPyState *state, PyObject *value, gboolean cast)
{
  GantryLiteral *literal = ((GantryPyValue *) value)->literal;
  PyObject *attrs, *converted;
  GantryTrace *trace = state->trace;

  if (literal == NULL || !cast)
    return literal != NULL ? gantry_literal_ref (literal) : NULL;
  state->trace = NULL;
  converted = gantry_py_value_new (state, gantry_literal_ref (literal));
  attrs = Py_BuildValue ("{ss}", "to", "f64");
  Py_SETREF (converted, gantry_py_apply (state, "convert", &converted, 1, attrs));
  state->trace = trace;
  Py_DECREF (attrs);
  literal = gantry_literal_ref (((GantryPyValue *) converted)->literal);
  Py_DECREF (converted);
  return literal;
}

static PyObject *
want (Gradient *gradient, PyObject *value, gboolean is_weight)
{
  Wanted wanted = { .outer = value };
  guint32 type = float_type (gradient->trace, ((GantryPyValue *) value)->type, &wanted.cast);
  PyObject *inner = gantry_py_trace_parameter (gradient->state, type, NULL, GANTRY_PY_TENSOR);

  if (inner == NULL)
    return NULL;
  wanted.inner = ((GantryPyValue *) inner)->node;
  if (gradient->trace->root->record)
    ((GantryPyValue *) inner)->literal = literal_as (gradient->state, value, wanted.cast);
  g_array_append_val (gradient->wanted, wanted);
  return inner;
}

/* The tensors of an argument become parameters; the rest stays. */
static PyObject *
want_argument (Gradient *gradient, PyObject *argument)
{
  PyObject *copy;

  if (gantry_py_value_check (argument) && ((GantryPyValue *) argument)->kind == GANTRY_PY_TENSOR
      && !((GantryPyValue *) argument)->is_parameter)
    return want (gradient, argument, FALSE);
  if (gantry_py_value_check (argument) && ((GantryPyValue *) argument)->is_parameter)
    {
      PyObject *inner = want (gradient, argument, FALSE), *key = PyLong_FromVoidPtr (argument);

      if (inner != NULL)
        PyDict_SetItem (gradient->trace->state, key, inner);
      Py_DECREF (key);
      Py_XDECREF (inner);
      return Py_NewRef (argument);
    }
  if (!PyTuple_CheckExact (argument) && !PyList_CheckExact (argument))
    return Py_NewRef (argument);
  copy = PyTuple_Check (argument) ? PyTuple_New (PyTuple_GET_SIZE (argument)) : PyList_New (PyList_GET_SIZE (argument));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE (argument); i++)
    {
      PyObject *item = want_argument (gradient, PySequence_Fast_GET_ITEM (argument, i));

      if (PyTuple_Check (argument))
        PyTuple_SET_ITEM (copy, i, item);
      else
        PyList_SET_ITEM (copy, i, item);
    }
  return copy;
}

static gboolean
take_arguments (Gradient *gradient, PyObject *args, PyObject *positions, PyObject *weights)
{
  Py_ssize_t n = PyTuple_GET_SIZE (args);

  gradient->inner_args = PyTuple_New (n);
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
      PyObject *weight = PySequence_Fast_GET_ITEM (weights, i), *inner = want (gradient, weight, TRUE), *key;

      if (inner == NULL)
        return FALSE;
      key = PyLong_FromVoidPtr (weight);
      PyDict_SetItem (gradient->trace->state, key, inner);
      Py_DECREF (key);
      Py_DECREF (inner);
    }
  return TRUE;
}

static gboolean
add_values (Gradient *gradient, PyObject *structure)
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
is_initial (const Gradient *gradient, PyObject *value)
{
  for (guint i = 0; i < gradient->wanted->len; i++)
    if (((GantryPyValue *) value)->node == g_array_index (gradient->wanted, Wanted, i).inner)
      return TRUE;
  return FALSE;
}

/* What the function assigned inside leaves the module too. */
static gboolean
add_state (Gradient *gradient)
{
  PyObject *key, *value;
  Py_ssize_t at = 0;

  while (PyDict_Next (gradient->trace->state, &at, &key, &value))
    if (!gantry_py_is_variable (value))
      {
        if (gantry_py_holds_variable (value))
          continue;
        PyList_Append (gradient->changed, key);
      }
    else if (!is_initial (gradient, value))
      {
        PyList_Append (gradient->changed, key);
        if (!add_values (gradient, value))
          return FALSE;
      }
  return TRUE;
}

static gboolean
call_function (Gradient *gradient, PyObject *function, PyObject *kwargs, gboolean has_aux)
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
    gantry_py_collect_variables (has_aux && PyTuple_Check (gradient->result) && PyTuple_GET_SIZE (gradient->result) > 0
                                   ? PyTuple_GET_ITEM (gradient->result, 0) : gradient->result, main);
  gradient->n_main = main->len;
  g_ptr_array_unref (main);
  return gradient->result != NULL;
}

/* Ends the function's module. */
static gboolean
end_function (Gradient *gradient)
{
  g_autoptr (GError) error = NULL;

  if (!add_values (gradient, gradient->result))
    return FALSE;
  gradient->n_values = gradient->ids->len;
  if (!add_state (gradient))
    return FALSE;
  for (guint i = 0; i < gradient->n_main; i++)
    {
      const GantryType *type = gantry_builder_get_type (gradient->trace->builder, g_array_index (gradient->ids, guint32, i));

      if (gantry_element_is_float (type->element))
        g_array_append_val (gradient->outputs, i);
    }
  gantry_py_region_leave (gradient->trace, (const guint32 *) (gpointer) gradient->ids->data, gradient->ids->len);
  gradient->module = gantry_builder_finish (gradient->trace->builder, &error);
  if (gradient->module == NULL)
    PyErr_SetString (PyExc_RuntimeError, error->message);
  return gradient->module != NULL;
}

static gboolean
differentiate (Gradient *gradient)
{
  GantryPyState *state = gradient->state;
  const GantryFunction *entry = gantry_module_entry (gradient->module);
  g_autofree guint *inputs = g_new0 (guint, gradient->wanted->len + 1);
  g_autoptr (GError) error = NULL;
  GantryModule *derived;

  for (guint w = 0; w < gradient->wanted->len; w++)
    for (guint i = 0; i < entry->n_params; i++)
      if (gradient->module->nodes[entry->first_node + i].id == g_array_index (gradient->wanted, Wanted, w).inner)
        inputs[w] = i;
  if (state->backend == NULL || state->backend->gradient == NULL)
    {
      PyErr_SetString (PyExc_RuntimeError, "gradients are not available here");
      return FALSE;
    }
  derived = state->backend->gradient (state->backend->self, gradient->module, (const guint *) (gpointer) gradient->outputs->data,
                                      gradient->outputs->len, inputs, gradient->wanted->len, &error);
  if (derived == NULL)
    {
      PyErr_SetString (PyExc_RuntimeError, error->message);
      return FALSE;
    }
  gantry_module_unref (gradient->module);
  gradient->module = derived;
  return TRUE;
}

/* The cotangent of output @i: given, or ones. */
static guint32
seed (Gradient *gradient, guint i, guint32 type_id, GPtrArray *sens)
{
  GantryPyState *state = gradient->state;
  const GantryType *type = gantry_context_type (state->trace->context, type_id);
  PyObject *given = i < sens->len ? g_ptr_array_index (sens, i) : NULL;

  if (given == NULL)
    return gantry_builder_splat (state->trace->builder, type->element, 1.0, type->rank, type->dims);
  given = _gantry_py_call_hook (state, "cotangent", "OsN", given, gantry_element_name (type->element),
                                PyLong_FromUnsignedLong (type_id));
  if (given == NULL)
    return 0;
  {
    guint32 id = gantry_py_use (state, given);

    Py_DECREF (given);
    return id;
  }
}

static guint32 *
outer_arguments (Gradient *gradient, GPtrArray *sens)
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
          const Wanted *wanted = &g_array_index (gradient->wanted, Wanted, w);

          if (wanted->inner != node->id)
            continue;
          arguments[i] = gantry_py_use (state, wanted->outer);
          if (wanted->cast)
            arguments[i] = gantry_builder_convert (state->trace->builder, arguments[i], GANTRY_F64);
        }
      for (guint j = 0; arguments[i] == 0 && j < body->inner->len; j++)
        if (g_array_index (body->inner, guint32, j) == node->id)
          arguments[i] = g_array_index (body->outer, guint32, j);
      if (arguments[i] == 0)
        arguments[i] = seed (gradient, n_seeds++, node->type, sens);
    }
  return arguments;
}

static PyObject *
wrap_results (Gradient *gradient, const guint32 *results)
{
  GantryPyState *state = gradient->state;
  g_autoptr (GPtrArray) inner = g_ptr_array_new ();
  g_autofree PyObject **values = g_new0 (PyObject *, gradient->n_values + 1);
  PyObject *output, *grads = PyList_New (0);
  guint next = 0, n_ids = gradient->ids->len, at = gradient->n_values;

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
      PyObject *now = gantry_py_is_variable (value) ? gantry_py_wrap (state, results[at++], GANTRY_PY_TENSOR) : Py_NewRef (value);

      if (now != NULL && now != value && ((GantryPyValue *) value)->literal != NULL)
        ((GantryPyValue *) now)->literal = gantry_literal_ref (((GantryPyValue *) value)->literal);
      PyDict_SetItem (state->trace->state, key, now);
      Py_XDECREF (now);
    }
  for (guint w = 0; w < gradient->wanted->len; w++)
    {
      const Wanted *wanted = &g_array_index (gradient->wanted, Wanted, w);
      guint32 id = results[n_ids + w];
      PyObject *grad;

      if (wanted->cast)
        id = gantry_builder_convert (state->trace->builder, id, (GantryElementType) ((GantryPyValue *) wanted->outer)->type->element);
      grad = gantry_py_wrap (state, id, GANTRY_PY_TENSOR);
      PyList_Append (grads, grad);
      Py_XDECREF (grad);
    }
  return Py_BuildValue ("(NNI)", output, grads, gradient->n_positions);
}

static void
gradient_clear (Gradient *gradient)
{
  g_array_unref (gradient->wanted);
  g_array_unref (gradient->ids);
  g_array_unref (gradient->kinds);
  g_array_unref (gradient->outputs);
  Py_XDECREF (gradient->inner_args);
  Py_XDECREF (gradient->result);
  Py_XDECREF (gradient->changed);
  g_clear_pointer (&gradient->module, gantry_module_unref);
}

/* What a gradient by nothing that matters is. */
static gboolean
has_gradient (const Gradient *gradient)
{
  return gradient->outputs->len > 0 && gradient->wanted->len > 0;
}

static PyObject *
splice_gradient (Gradient *gradient, PyObject *sens)
{
  GantryPyState *state = gradient->state;
  g_autoptr (GPtrArray) given = g_ptr_array_new ();
  g_autofree guint32 *arguments = NULL, *results = NULL;

  if (!has_gradient (gradient))
    return PyErr_Format (PyExc_ValueError, "grad: the function gives no tensor of floating point that depends on an argument.");
  if (sens != Py_None)
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE (sens); i++)
      g_ptr_array_add (given, PyTuple_GET_ITEM (sens, i));
  arguments = outer_arguments (gradient, given);
  results = g_new0 (guint32, gantry_module_entry (gradient->module)->n_results + 1);
  if (PyErr_Occurred () || !gantry_py_splice (state, gradient->module, arguments, results))
    return NULL;
  return wrap_results (gradient, results);
}

/* Inside of a trace. */
static PyObject *
gradient_in_trace (GantryPyState *state, PyObject *function, PyObject *args, PyObject *kwargs, PyObject *positions,
                   PyObject *weights, PyObject *sens, gboolean has_aux)
{
  Gradient gradient = { .state = state, .wanted = g_array_new (FALSE, FALSE, sizeof (Wanted)),
                        .ids = g_array_new (FALSE, FALSE, sizeof (guint32)), .kinds = g_array_new (FALSE, FALSE, sizeof (guint)),
                        .outputs = g_array_new (FALSE, FALSE, sizeof (guint)), .changed = PyList_New (0) };
  GantryTrace *outer = state->trace;
  PyObject *result = NULL;
  gboolean fine;

  gradient.trace = gantry_py_trace_begin (state, TRUE);
  fine = take_arguments (&gradient, args, positions, weights) && call_function (&gradient, function, kwargs, has_aux)
         && end_function (&gradient) && (!has_gradient (&gradient) || differentiate (&gradient));
  state->trace = outer;
  if (fine)
    result = splice_gradient (&gradient, sens);
  state->trace = gradient.trace;
  gantry_py_trace_end (state, gradient.trace);
  gradient_clear (&gradient);
  return result;
}

/* Outside: a trace that records what runs, whose module then gives the gradients. */

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
  return gantry_py_run_module (state, module, trace->hosts, (GantryLiteral *const *) literals->pdata,
                               (GantryLiteral **) results->pdata);
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
  variable = gantry_py_trace_parameter (state, gantry_context_tensor (state->trace->context, type->element, type->rank, type->dims),
                                        NULL, GANTRY_PY_TENSOR);
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

      values[i] = variable->literal != NULL ? gantry_py_object_of (state, variable->literal, (GantryPyValueKind) variable->kind)
                                            : Py_NewRef (Py_None);
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

static PyObject *
gradient_recorded (GantryPyState *state, PyObject *function, PyObject *args, PyObject *kwargs, PyObject *positions,
                   PyObject *weights, PyObject *sens, gboolean has_aux)
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
    found = gradient_in_trace (state, function, own, kwargs, positions, weights, sens, has_aux);
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
  while (state->trace != trace)
    gantry_py_trace_end (state, state->trace);
  gantry_py_trace_end (state, trace);
  return result;
}

PyObject *
gantry_py_gradient (PyObject *module, PyObject *args)
{
  GantryPyState *state = gantry_py_state ();
  PyObject *function, *arguments, *kwargs, *positions, *weights, *sens;
  int has_aux;

  if (!PyArg_ParseTuple (args, "OO!OO!OOp", &function, &PyTuple_Type, &arguments, &kwargs, &PyTuple_Type, &positions, &weights,
                         &sens, &has_aux))
    return NULL;
  kwargs = kwargs == Py_None || PyDict_GET_SIZE (kwargs) == 0 ? NULL : kwargs;
  return (state->trace != NULL ? gradient_in_trace : gradient_recorded) (state, function, arguments, kwargs, positions, weights,
                                                                         sens, has_aux);
}
