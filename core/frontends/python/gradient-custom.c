/* SPDX-License-Identifier: Apache-2.0 */
/* Cells and functions with a derivative of their own: see GantryPyCustom. */
#include "core/frontends/python/gradient-private.h"
#include "core/graph/context.h"

void
_gantry_py_custom_free (gpointer data)
{
  GantryPyCustom *custom = data;

  Py_XDECREF (custom->bprop);
  Py_XDECREF (custom->args);
  Py_XDECREF (custom->out);
  Py_XDECREF (custom->zeros);
  g_free (custom);
}

static gboolean
carries (const GantryPyGradient *gradient, const GantryPyValue *value)
{
  return value->kind == GANTRY_PY_TENSOR && _gantry_py_gradient_carries (gradient, value->type);
}

/* A leaf of the result: stopped, plus zeros that the gradient is wanted by. */
static PyObject *
cut_leaf (GantryPyGradient *gradient, GantryPyCustom *custom, GantryPyValue *leaf)
{
  GantryPyState *state = gradient->state;
  PyObject *zero, *inner, *result = NULL;

  if (!carries (gradient, leaf))
    return Py_NewRef ((PyObject *) leaf);
  zero = _gantry_py_call_hook (state, "zeros_of", "O", leaf);
  if (zero == NULL)
    return NULL;
  PyList_Append (custom->zeros, zero);
  inner = _gantry_py_gradient_want (gradient, zero);
  Py_DECREF (zero);
  custom->n_zeros++;
  if (inner != NULL)
    result = _gantry_py_call_hook (state, "stopped_plus", "OO", leaf, inner);
  Py_XDECREF (inner);
  return result;
}

PyObject *
gantry_py_custom_gradient (GantryPyState *state, PyObject *bprop, PyObject *args, guint n_read, PyObject *out)
{
  GantryPyGradient *gradient = gantry_py_trace (state)->gradient;
  GantryPyCustom *custom;
  g_autoptr (GPtrArray) leaves = g_ptr_array_new (), cut = g_ptr_array_new_with_free_func ((GDestroyNotify) Py_DecRef);
  PyObject *result;
  guint next = 0;

  if (gradient == NULL)
    return Py_NewRef (out);
  if (gantry_py_trace (state)->root->record || gantry_py_trace (state)->region != gantry_py_trace (state)->body)
    {
      PyErr_SetString (PyExc_NotImplementedError, "what has a derivative of its own (bprop, custom_vjp, custom_jvp) is differentiated "
                                                  "where a graph is made, and not inside of a scan, or of a branch or loop that data "
                                                  "decides about");
      return NULL;
    }
  custom = g_new0 (GantryPyCustom, 1);
  g_ptr_array_add (gradient->customs, custom);
  custom->bprop = Py_NewRef (bprop);
  custom->args = gantry_py_with_parameters (state, args);
  custom->n_read = n_read;
  custom->out = gantry_py_with_parameters (state, out);
  custom->zeros = PyList_New (0);
  custom->first_zero = gradient->wanted->len;
  gantry_py_collect_variables (custom->out, leaves);
  for (guint i = 0; i < leaves->len; i++)
    {
      PyObject *leaf = cut_leaf (gradient, custom, g_ptr_array_index (leaves, i));

      if (leaf == NULL)
        return NULL;
      g_ptr_array_add (cut, leaf);
    }
  result = gantry_py_replace_variables (custom->out, (PyObject *const *) cut->pdata, &next);
  /* `bprop` is given what the others see, whose own derivative is by the rule as well. */
  if (result != NULL)
    Py_SETREF (custom->out, Py_NewRef (result));
  return result;
}

gboolean
_gantry_py_customs_end (GantryPyGradient *gradient)
{
  for (guint c = 0; c < gradient->customs->len; c++)
    {
      GantryPyCustom *custom = g_ptr_array_index (gradient->customs, c);
      g_autoptr (GPtrArray) args = g_ptr_array_new ();

      gantry_py_collect_variables (custom->args, args);
      custom->first_id = gradient->ids->len;
      custom->n_args = args->len;
      if (!_gantry_py_gradient_add_values (gradient, custom->args))
        return FALSE;
      custom->n_out = gradient->ids->len;
      if (!_gantry_py_gradient_add_values (gradient, custom->out))
        return FALSE;
      custom->n_out = gradient->ids->len - custom->n_out;
      custom->first_output = gradient->outputs->len;
      for (guint i = 0; i + custom->n_read < args->len; i++)
        {
          guint index = custom->first_id + i;

          if (carries (gradient, g_ptr_array_index (args, i)))
            g_array_append_val (gradient->outputs, index);
        }
    }
  return TRUE;
}

/* @structure with the results from @first on in place of its variables; cotangents are those of the zeros. */
static PyObject *
outside (GantryPyGradient *gradient, PyObject *structure, const guint32 *results, guint first, const GantryPyCustom *cotangents)
{
  GantryPyState *state = gradient->state;
  g_autoptr (GPtrArray) leaves = g_ptr_array_new (), values = g_ptr_array_new_with_free_func ((GDestroyNotify) Py_DecRef);
  guint next = 0, zero = 0;

  gantry_py_collect_variables (structure, leaves);
  for (guint i = 0; i < leaves->len; i++)
    {
      const GantryPyValue *leaf = g_ptr_array_index (leaves, i);
      guint32 id = results[first + i];
      PyObject *value;

      if (cotangents != NULL && carries (gradient, leaf))
        id = _gantry_py_gradient_by (gradient, results, cotangents->first_zero + zero++);
      value = gantry_py_wrap (state, id, (GantryPyValueKind) leaf->kind);
      if (value == NULL)
        return NULL;
      g_ptr_array_add (values, value);
    }
  return gantry_py_replace_variables (structure, (PyObject *const *) values->pdata, &next);
}

static PyObject *
bprop_arguments (GantryPyGradient *gradient, const GantryPyCustom *custom, const guint32 *results)
{
  PyObject *args = outside (gradient, custom->args, results, custom->first_id, NULL);
  PyObject *out = args != NULL ? outside (gradient, custom->out, results, custom->first_id + custom->n_args, NULL) : NULL;
  PyObject *cotangent = out != NULL ? outside (gradient, custom->out, results, custom->first_id + custom->n_args, custom) : NULL;
  PyObject *last = cotangent != NULL ? PyTuple_Pack (2, out, cotangent) : NULL;
  PyObject *all = last != NULL ? PySequence_Concat (args, last) : NULL;

  Py_XDECREF (args);
  Py_XDECREF (out);
  Py_XDECREF (cotangent);
  Py_XDECREF (last);
  return all;
}

/* The tensors of what `bprop` gave are the seeds of the inputs, in order. */
static gboolean
take_seeds (GantryPyGradient *gradient, const GantryPyCustom *custom, PyObject *given)
{
  g_autoptr (GPtrArray) args = g_ptr_array_new ();
  PyObject *flat = _gantry_py_call_hook (gradient->state, "bprop_gradients", "OO", custom->args, given);
  guint output = custom->first_output;
  gboolean fine = flat != NULL;

  gantry_py_collect_variables (custom->args, args);
  for (guint i = 0; fine && i + custom->n_read < args->len; i++)
    if (carries (gradient, g_ptr_array_index (args, i)))
      {
        PyObject *key = PyLong_FromUnsignedLong (output++), *seed = PyList_GetItem (flat, i);

        fine = seed != NULL && (seed == Py_None || PyDict_SetItem (gradient->seeds, key, seed) == 0);
        Py_DECREF (key);
      }
  Py_XDECREF (flat);
  return fine;
}

gboolean
_gantry_py_customs_run (GantryPyGradient *gradient, PyObject *sens)
{
  GantryPyState *state = gradient->state;
  GantryPyFrame frame = { .state = state, .globals = PyEval_GetBuiltins (), .name = "bprop" };

  gradient->seeds = PyDict_New ();
  for (guint c = gradient->customs->len; c-- > 0;)
    {
      const GantryPyCustom *custom = g_ptr_array_index (gradient->customs, c);
      g_autofree guint32 *results = _gantry_py_gradient_splice (gradient, sens);
      PyObject *args = results != NULL ? bprop_arguments (gradient, custom, results) : NULL;
      PyObject *given = args != NULL ? _gantry_py_call (&frame, custom->bprop, args, NULL) : NULL;
      gboolean fine = given != NULL && take_seeds (gradient, custom, given);

      Py_XDECREF (args);
      Py_XDECREF (given);
      if (!fine)
        return FALSE;
    }
  return TRUE;
}

/* What the leaves of @cut hold beside what they stand for: the zeros of the gradient around this one. */
static gboolean
move_zeros (GantryPyGradient *gradient, GantryPyCustom *custom, PyObject *out, PyObject *cut)
{
  GantryPyState *state = gradient->state;
  g_autoptr (GPtrArray) before = g_ptr_array_new (), after = g_ptr_array_new ();
  guint zero = custom->first_zero;

  gantry_py_collect_variables (out, before);
  gantry_py_collect_variables (cut, after);
  for (guint i = 0; i < before->len; i++)
    if (carries (gradient, g_ptr_array_index (before, i)))
      {
        PyObject *moved = _gantry_py_call_hook (state, "beside", "OO", g_ptr_array_index (after, i), g_ptr_array_index (before, i));

        if (moved == NULL)
          return FALSE;
        PyList_Append (custom->zeros, moved);
        g_array_index (gradient->wanted, GantryPyWanted, zero++).outer = moved;
        Py_DECREF (moved);
      }
  return TRUE;
}

gboolean
_gantry_py_customs_nest (GantryPyGradient *gradient, PyObject *sens)
{
  GantryPyState *state = gradient->state;

  if (gantry_py_trace (state)->gradient == NULL)
    return TRUE;
  for (guint c = 0; c < gradient->customs->len; c++)
    {
      GantryPyCustom *custom = g_ptr_array_index (gradient->customs, c);
      g_autofree guint32 *results = _gantry_py_gradient_splice (gradient, sens);
      PyObject *args = results != NULL ? outside (gradient, custom->args, results, custom->first_id, NULL) : NULL;
      PyObject *out = args != NULL ? outside (gradient, custom->out, results, custom->first_id + custom->n_args, NULL) : NULL;
      PyObject *cut = out != NULL ? gantry_py_custom_gradient (state, custom->bprop, args, custom->n_read, out) : NULL;
      gboolean fine = cut != NULL && move_zeros (gradient, custom, out, cut);

      Py_XDECREF (args);
      Py_XDECREF (out);
      Py_XDECREF (cut);
      if (!fine)
        return FALSE;
    }
  return TRUE;
}
