/* SPDX-License-Identifier: Apache-2.0 */
/* The module `_gantry`: what Gantry's Python modules are written over. */
#include "core/frontends/python/module-private.h"
#include "core/frontends/python/jax/jax.h"
#include "core/frontends/python/program.h"
#include "core/graph/context.h"
#include "core/graph/text.h"
#include <string.h>

static PyModuleDef definition;

GantryPyState *
gantry_py_state (void)
{
  return PyModule_GetState (PyState_FindModule (&definition));
}

static PyObject *
module_op (PyObject *module, PyObject *args)
{
  const char *name;
  PyObject *operands, *attrs = NULL, *fast, *result;

  if (!PyArg_ParseTuple (args, "sO|O", &name, &operands, &attrs))
    return NULL;
  fast = PySequence_Fast (operands, "operands are a sequence");
  if (fast == NULL)
    return NULL;
  result = gantry_py_apply (gantry_py_state (), name, PySequence_Fast_ITEMS (fast), (guint) PySequence_Fast_GET_SIZE (fast), attrs);
  Py_DECREF (fast);
  return result;
}

static PyObject *
module_register (PyObject *module, PyObject *args, PyObject *kwargs)
{
  GantryPyState *state = PyModule_GetState (module);
  static char *names[] = { "tensor", "scalar", "external", "parameter", "cell", "primitive", "hooks", NULL };
  PyObject *values[7];

  if (!PyArg_ParseTupleAndKeywords (args, kwargs, "OOOOOOO", names, &values[0], &values[1], &values[2], &values[3], &values[4], &values[5], &values[6]))
    return NULL;
  Py_XSETREF (state->tensor, Py_NewRef (values[0]));
  Py_XSETREF (state->scalar, Py_NewRef (values[1]));
  Py_XSETREF (state->external, Py_NewRef (values[2]));
  Py_XSETREF (state->parameter, Py_NewRef (values[3]));
  Py_XSETREF (state->cell, Py_NewRef (values[4]));
  Py_XSETREF (state->primitive, Py_NewRef (values[5]));
  Py_XSETREF (state->hooks, Py_NewRef (values[6]));
  Py_RETURN_NONE;
}

/* set_tensor_class (class): the class that values are made of before all is registered. */
static PyObject *
module_set_tensor_class (PyObject *module, PyObject *type)
{
  GantryPyState *state = PyModule_GetState (module);

  Py_XSETREF (state->tensor, Py_NewRef (type));
  Py_RETURN_NONE;
}

/* graph_call (callable, args, kwargs, cache, extra, strict, only_compile) */
static PyObject *
module_graph_call (PyObject *module, PyObject *args)
{
  PyObject *callable, *arguments, *kwargs, *cache, *extra;
  int strict, only_compile = 0;

  if (!PyArg_ParseTuple (args, "OO!OO!Op|p", &callable, &PyTuple_Type, &arguments, &kwargs, &PyDict_Type, &cache, &extra, &strict, &only_compile))
    return NULL;
  return gantry_py_graph_call (gantry_py_state (), callable, arguments, kwargs == Py_None ? NULL : kwargs, cache, extra, strict, only_compile);
}

/* call (callable, args, kwargs): as the graph being made calls it; plainly outside of one. */
static PyObject *
module_call (PyObject *module, PyObject *args)
{
  GantryPyState *state = gantry_py_state ();
  GantryPyFrame frame = { .state = state, .globals = PyEval_GetBuiltins (), .name = "call" };
  PyObject *callable, *arguments, *kwargs = Py_None;

  if (!PyArg_ParseTuple (args, "OO!|O", &callable, &PyTuple_Type, &arguments, &kwargs))
    return NULL;
  kwargs = kwargs == Py_None || PyDict_GET_SIZE (kwargs) == 0 ? NULL : kwargs;
  if (gantry_py_trace (state) == NULL || gantry_py_trace (state)->root->record)
    return PyObject_Call (callable, arguments, kwargs);
  return _gantry_py_call (&frame, callable, arguments, kwargs);
}

static PyObject *
module_in_graph (PyObject *module, PyObject *unused)
{
  GantryPyState *state = gantry_py_state ();

  return PyBool_FromLong (gantry_py_trace (state) != NULL && !gantry_py_trace (state)->root->record);
}

static PyObject *
module_recording (PyObject *module, PyObject *unused)
{
  GantryPyState *state = gantry_py_state ();

  return PyBool_FromLong (gantry_py_trace (state) != NULL && gantry_py_trace (state)->root->record);
}

static PyObject *
module_assign (PyObject *module, PyObject *args)
{
  PyObject *parameter, *value;

  if (!PyArg_ParseTuple (args, "OO", &parameter, &value))
    return NULL;
  if (gantry_py_parameter_assign (gantry_py_state (), parameter, value) < 0)
    return NULL;
  Py_RETURN_NONE;
}

static PyObject *
module_parameter_value (PyObject *module, PyObject *parameter)
{
  return gantry_py_parameter_value (gantry_py_state (), parameter);
}

/* number (value, kind): a variable number of a 0-d variable tensor. */
static PyObject *
module_number (PyObject *module, PyObject *args)
{
  GantryPyState *state = gantry_py_state ();
  static const char *const names[] = { "tensor", "int", "float", "bool", "object" };
  PyObject *value;
  const char *kind;

  if (!PyArg_ParseTuple (args, "Os", &value, &kind))
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i], kind) == 0)
      {
        if (gantry_py_is_variable (value) && ((GantryPyValue *) value)->literal == NULL)
          return gantry_py_variable_new (state, ((GantryPyValue *) value)->node, (GantryPyValueKind) i);
        return gantry_py_object_of (state, ((GantryPyValue *) value)->literal, (GantryPyValueKind) i);
      }
  return PyErr_Format (PyExc_ValueError, "no kind of number: %s", kind);
}

/* variable (value): a known value as a variable of the graph being made: what mutable () gives in a graph. */
static PyObject *
module_variable (PyObject *module, PyObject *args)
{
  GantryPyState *state = gantry_py_state ();
  GantryPyValueKind kind;
  PyObject *value;
  guint32 id;

  if (!PyArg_ParseTuple (args, "O", &value))
    return NULL;
  if (gantry_py_trace (state) == NULL || gantry_py_is_variable (value) || !_gantry_py_leaf_kind (state, value, &kind))
    return Py_NewRef (value);
  id = _gantry_py_lift_leaf (state, gantry_py_trace (state)->region, value, kind);
  return id != 0 ? gantry_py_wrap (state, id, kind) : NULL;
}

/* host_call (callable, args, kind) */
static PyObject *
module_host_call (PyObject *module, PyObject *args)
{
  static const char *const names[] = { "tensor", "int", "float", "bool", "object" };
  PyObject *callable, *arguments;
  const char *kind;

  if (!PyArg_ParseTuple (args, "OO!s", &callable, &PyTuple_Type, &arguments, &kind))
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i], kind) == 0)
      return gantry_py_host_call (gantry_py_state (), callable, arguments, NULL, (GantryPyValueKind) i);
  return PyErr_Format (PyExc_ValueError, "no kind of result: %s", kind);
}

static PyObject *
module_resource (PyObject *module, PyObject *args)
{
  const char *path;
  g_autoptr (GBytes) bytes = NULL;
  gconstpointer data;
  gsize size;

  if (!PyArg_ParseTuple (args, "s", &path))
    return NULL;
  bytes = gantry_py_resource (path);
  if (bytes == NULL)
    Py_RETURN_NONE;
  data = g_bytes_get_data (bytes, &size);
  /* It lies in the program itself, for as long as that runs. */
  return PyMemoryView_FromMemory ((char *) data, (Py_ssize_t) size, PyBUF_READ);
}

static PyObject *
module_type_word (PyObject *module, PyObject *value)
{
  return PyUnicode_FromString (_gantry_py_type_word (gantry_py_state (), value));
}

static PyMethodDef methods[] = {
  { "op", module_op, METH_VARARGS, "op (name, operands, attrs): applies a core operation" },
  { "value_from", gantry_py_value_from, METH_VARARGS, "value_from (object, element): a known tensor" },
  { "value_shared", gantry_py_value_shared, METH_O, "value_shared (object): a tensor of the bytes of a buffer, or None" },
  { "register", (PyCFunction) (void (*) (void)) module_register, METH_VARARGS | METH_KEYWORDS, "the classes and hooks of the modules" },
  { "set_tensor_class", module_set_tensor_class, METH_O, "the class of tensors" },
  { "graph_call", module_graph_call, METH_VARARGS, "calls a function as a graph" },
  { "call", module_call, METH_VARARGS, "calls a function as part of what is being made" },
  { "in_graph", module_in_graph, METH_NOARGS, "whether a graph is being made" },
  { "recording", module_recording, METH_NOARGS, "whether what runs is recorded for its gradient" },
  { "assign", module_assign, METH_VARARGS, "assign (parameter, value)" },
  { "parameter_value", module_parameter_value, METH_O, "what a parameter is here" },
  { "precision", gantry_py_precision, METH_O, "precision (element or None): the float type that what exists is read in" },
  { "stored", gantry_py_stored, METH_O, "stored (value): as it is stored, not as it is read" },
  { "number", module_number, METH_VARARGS, "number (value, kind)" },
  { "variable", module_variable, METH_VARARGS, "a known value as a variable" },
  { "host_call", module_host_call, METH_VARARGS, "host_call (callable, args, kind)" },
  { "gradient", gantry_py_gradient, METH_VARARGS, "gradient (function, args, kwargs, positions, weights, sens, has_aux)" },
  { "graph_text", gantry_py_graph_text, METH_VARARGS, "graph_text (callable, args, strict): a graph in Gantry's text form" },
  { "graph_file", gantry_py_graph_file, METH_VARARGS, "graph_file (callable, args, strict, path): writes a graph as MindIR or ONNX" },
  { "splice_file", gantry_py_splice_file, METH_VARARGS, "splice_file (path, args, parameters): a MindIR model as part of the graph" },
  { "file_weights", gantry_py_file_weights, METH_O, "file_weights (path): [(name, value)] of the weights of a MindIR model" },
  { "resource", module_resource, METH_VARARGS, "a file of Gantry's modules, or None" },
  { "align_arrays", gantry_py_align_arrays, METH_O, "align_arrays (capsule of NumPy's functions): its arrays lie where graphs read them" },
  { "type_word", module_type_word, METH_O, "what messages call a value" },
  { NULL },
};

static void
module_free (void *self)
{
  GantryPyState *state = PyModule_GetState (self);

  if (state == NULL || state->context == NULL)
    return;
  g_clear_pointer (&state->sources, g_hash_table_unref);
  g_clear_pointer (&state->eager, g_hash_table_unref);
  PyThread_tss_delete (&state->thread);
}

static PyModuleDef definition = {
  PyModuleDef_HEAD_INIT, .m_name = "_gantry",   .m_doc = "The compiler's side of Gantry's Python modules.", .m_size = sizeof (GantryPyState),
  .m_methods = methods,  .m_free = module_free,
};

PyObject *
gantry_py_module_init (void)
{
  PyObject *module = PyModule_Create (&definition);
  GantryPyState *state;

  if (module == NULL)
    return NULL;
  state = PyModule_GetState (module);
  if (PyThread_tss_create (&state->thread) != 0)
    {
      Py_DECREF (module);
      return PyErr_NoMemory ();
    }
  state->context = gantry_context_new ();
  state->written = PyDict_New ();
  state->sources = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) gantry_py_source_free);
  state->eager = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  state->value_type = gantry_py_value_type_new (module);
  state->closure_type = gantry_py_closure_type_new (module);
  state->undefined_type = gantry_py_undefined_type_new (module);
  if (state->value_type == NULL || state->closure_type == NULL || state->undefined_type == NULL)
    {
      Py_DECREF (module);
      return NULL;
    }
  if (PyModule_AddFunctions (module, gantry_py_jax_methods ()) < 0)
    {
      Py_DECREF (module);
      return NULL;
    }
  PyModule_AddObjectRef (module, "Value", state->value_type);
  PyModule_AddObjectRef (module, "Closure", state->closure_type);
  return module;
}
