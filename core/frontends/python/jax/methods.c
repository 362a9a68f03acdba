/* SPDX-License-Identifier: Apache-2.0 */
/* What `_gantry` has for the modules `jax` and `optax`. */
#include "core/frontends/python/jax/jax.h"
#include "core/frontends/python/program.h"
#include "core/graph/context.h"

/* state (): 0 outside of a trace, 1 where a function is staged, 2 where what runs is recorded for a gradient */
static PyObject *
method_tracing (PyObject *module, PyObject *unused)
{
  const GantryPyState *state = gantry_py_state ();

  return PyLong_FromLong (gantry_py_trace (state) == NULL ? 0 : gantry_py_trace (state)->root->record ? 2 : 1);
}

/* set_scope (path): of the nodes that are added from now on. Returns: the one before */
static PyObject *
method_set_scope (PyObject *module, PyObject *args)
{
  GantryPyState *state = gantry_py_state ();
  const char *path;
  PyObject *before;

  if (!PyArg_ParseTuple (args, "s", &path))
    return NULL;
  if (gantry_py_trace (state) == NULL)
    return PyUnicode_FromString ("");
  before = PyUnicode_FromString (gantry_context_scope_path (gantry_py_trace (state)->context, gantry_py_trace (state)->root->scope));
  gantry_py_trace (state)->root->scope = gantry_context_scope (gantry_py_trace (state)->context, path);
  return before;
}

/* scope_number (): a number that no scope of this graph has yet */
static PyObject *
method_scope_number (PyObject *module, PyObject *unused)
{
  GantryPyState *state = gantry_py_state ();

  return PyLong_FromUnsignedLong (gantry_py_trace (state) != NULL ? gantry_py_trace (state)->root->n_scopes++ : 0);
}

/* untraced (callable, args): what it gives where nothing is traced */
static PyObject *
method_untraced (PyObject *module, PyObject *args)
{
  GantryPyState *state = gantry_py_state ();
  GantryTrace *trace = gantry_py_trace (state);
  PyObject *callable, *arguments, *result;

  if (!PyArg_ParseTuple (args, "OO!", &callable, &PyTuple_Type, &arguments))
    return NULL;
  gantry_py_set_trace (state, NULL);
  result = PyObject_Call (callable, arguments, NULL);
  gantry_py_set_trace (state, trace);
  return result;
}

/* attach (variable, known): the bytes of a variable of a recording trace */
static PyObject *
method_attach (PyObject *module, PyObject *args)
{
  PyObject *variable, *known;

  if (!PyArg_ParseTuple (args, "OO", &variable, &known))
    return NULL;
  if (!gantry_py_value_check (variable) || !gantry_py_value_check (known) || ((GantryPyValue *) known)->literal == NULL)
    return PyErr_Format (PyExc_TypeError, "attach takes a variable and a known value");
  g_clear_pointer (&((GantryPyValue *) variable)->literal, gantry_literal_unref);
  ((GantryPyValue *) variable)->literal = gantry_literal_ref (((GantryPyValue *) known)->literal);
  Py_RETURN_NONE;
}

/* known (value): the bytes of a value without its node */
static PyObject *
method_known (PyObject *module, PyObject *value)
{
  GantryPyState *state = gantry_py_state ();

  if (!gantry_py_value_check (value) || ((GantryPyValue *) value)->literal == NULL)
    return PyErr_Format (PyExc_TypeError, "the value is not known");
  return gantry_py_value_new (state, gantry_py_adopt (state, ((GantryPyValue *) value)->literal));
}

/* lift (value): a known value as a variable of the graph being made */
static PyObject *
method_lift (PyObject *module, PyObject *value)
{
  GantryPyState *state = gantry_py_state ();
  guint32 id;

  if (gantry_py_trace (state) == NULL || !gantry_py_value_check (value) || ((GantryPyValue *) value)->type == NULL)
    return Py_NewRef (value);
  gantry_py_jax_set_place (gantry_py_trace (state), NULL, 0);
  id = gantry_py_use (state, value);
  return id != 0 ? gantry_py_wrap (state, id, GANTRY_PY_TENSOR) : NULL;
}

/* differentiating (): whether what is made now is the function of a gradient */
static PyObject *
method_differentiating (PyObject *module, PyObject *unused)
{
  const GantryPyState *state = gantry_py_state ();

  return PyBool_FromLong (gantry_py_trace (state) != NULL && gantry_py_trace (state)->gradient != NULL);
}

/* custom_gradient (rule, args, n_read, out): @out, whose gradient @rule (args..., out, cotangents) makes that of @args but for the last @n_read variables */
static PyObject *
method_custom_gradient (PyObject *module, PyObject *args)
{
  PyObject *rule, *arguments, *out;
  guint n_read;

  if (!PyArg_ParseTuple (args, "OO!IO!", &rule, &PyTuple_Type, &arguments, &n_read, &PyTuple_Type, &out))
    return NULL;
  return gantry_py_custom_gradient (gantry_py_state (), rule, arguments, n_read, out);
}

/* set_hooks (dict): what C asks of the modules */
static PyObject *
method_set_hooks (PyObject *module, PyObject *hooks)
{
  GantryPyState *state = gantry_py_state ();

  Py_XSETREF (state->hooks, Py_NewRef (hooks));
  Py_RETURN_NONE;
}

PyMethodDef *
gantry_py_jax_methods (void)
{
  static PyMethodDef methods[] = {
    { "stage", gantry_py_jax_stage, METH_VARARGS,
      "stage (function, parameters, name, policies): a graph of what the function does; policies: a list that gets its statements meanwhile" },
    { "compile", gantry_py_jax_compile, METH_VARARGS, "compile (staged, policy)" },
    { "run", gantry_py_jax_run, METH_VARARGS, "run (staged, values, once)" },
    { "memory", gantry_py_jax_memory, METH_O, "memory (staged): bytes by the plan" },
    { "staged_text", gantry_py_jax_text, METH_VARARGS, "staged_text (staged, compiled)" },
    { "scan", gantry_py_jax_scan, METH_VARARGS, "scan (body, carries, xs, length, reverse)" },
    { "branch", gantry_py_jax_branch, METH_VARARGS, "branch (predicate, then, otherwise)" },
    { "loop", gantry_py_jax_loop, METH_VARARGS, "loop (condition, body, values)" },
    { "tracing", method_tracing, METH_NOARGS, "0: nothing is traced, 1: a function is staged, 2: what runs is recorded" },
    { "set_scope", method_set_scope, METH_VARARGS, "set_scope (path): the scope of what is added from now on" },
    { "scope_number", method_scope_number, METH_NOARGS, "a number for a scope" },
    { "untraced", method_untraced, METH_VARARGS, "untraced (callable, args)" },
    { "attach", method_attach, METH_VARARGS, "attach (variable, known)" },
    { "known", method_known, METH_O, "the bytes of a value without its node" },
    { "lift", method_lift, METH_O, "a known value as a variable" },
    { "differentiating", method_differentiating, METH_NOARGS, "whether what is made now is the function of a gradient" },
    { "custom_gradient", method_custom_gradient, METH_VARARGS,
      "custom_gradient (rule, args, n_read, out): out, with what the rule says as the gradient of args" },
    { "set_hooks", method_set_hooks, METH_O, "functions of the modules that C calls" },
    { NULL },
  };

  return methods;
}
