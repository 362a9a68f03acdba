/* SPDX-License-Identifier: Apache-2.0 */
/* From a call to a graph: the signature, the trace, what goes in and what comes out. */
#include "core/frontends/python/program.h"
#include "core/ir/context.h"
#include "core/ir/verifier.h"
#include <string.h>

void
gantry_py_program_free (GantryPyProgram *program)
{
  if (program == NULL)
    return;
  if (program->compiled != NULL)
    program->state->backend->release (program->state->backend->self, program->compiled);
  gantry_module_unref (program->module);
  g_ptr_array_unref (program->hosts);
  g_array_unref (program->kinds);
  Py_XDECREF (program->parameters);
  Py_XDECREF (program->output);
  Py_XDECREF (program->origin);
  Py_XDECREF (program->updated);
  Py_XDECREF (program->lists);
  Py_XDECREF (program->kept);
  gantry_context_unref (program->context);
  g_free (program);
}

static void
capsule_free (PyObject *capsule)
{
  gantry_py_program_free (PyCapsule_GetPointer (capsule, "gantry.program"));
}

/* Signatures */

typedef enum
{
  AS_ARGUMENT, /* tensors are variables, the rest is known */
  AS_MUTABLE,  /* numbers are variables too */
  AS_CONSTANT,
} Role;

static gboolean
is_mutable (PyObject *object)
{
  PyObject *mark;

  if (gantry_py_value_check (object))
    return ((GantryPyValue *) object)->is_mutable;
  if (PyTuple_CheckExact (object) || PyList_CheckExact (object) || PyDict_CheckExact (object) || PyLong_CheckExact (object)
      || PyFloat_CheckExact (object) || PyUnicode_CheckExact (object) || object == Py_None || PyBool_Check (object))
    return FALSE;
  mark = PyObject_GetAttrString ((PyObject *) Py_TYPE (object), "__gantry_mutable__");
  PyErr_Clear ();
  Py_XDECREF (mark);
  return mark != NULL;
}

static PyObject *signature (GantryPyState *state, PyObject *object, Role role, GPtrArray *leaves);

static PyObject *
signature_of_items (GantryPyState *state, PyObject *object, Role role, GPtrArray *leaves)
{
  PyObject *key = PyList_New (0), *name, *value, *tuple, *item;
  Py_ssize_t at = 0;

  if (PyDict_Check (object))
    while (PyDict_Next (object, &at, &name, &value))
      {
        item = Py_BuildValue ("(ON)", name, signature (state, value, role, leaves));
        if (item != NULL)
          PyList_Append (key, item);
        Py_XDECREF (item);
      }
  else
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE (object); i++)
      {
        item = signature (state, PySequence_Fast_GET_ITEM (object, i), role, leaves);
        PyList_Append (key, item);
        Py_XDECREF (item);
      }
  tuple = Py_BuildValue ("(ONs)", Py_TYPE (object), PyList_AsTuple (key), role == AS_MUTABLE ? "variable" : "");
  Py_DECREF (key);
  return tuple;
}

/* What a graph is specialised for: a hashable object; the variables in order are added to @leaves. */
static PyObject *
signature (GantryPyState *state, PyObject *object, Role role, GPtrArray *leaves)
{
  if (is_mutable (object) && role != AS_CONSTANT)
    role = AS_MUTABLE;
  if (PyTuple_Check (object) || PyList_Check (object) || PyDict_Check (object))
    return signature_of_items (state, object, role == AS_ARGUMENT ? AS_CONSTANT : role, leaves);
  if (gantry_py_value_check (object))
    {
      PyObject *shape;

      if (role == AS_CONSTANT)
        return Py_BuildValue ("(sN)", "constant", PyLong_FromVoidPtr (((GantryPyValue *) object)->literal));
      g_ptr_array_add (leaves, object);
      shape = PyObject_GetAttrString (object, "shape");
      return Py_BuildValue ("(siN)", "tensor", (int) ((GantryPyValue *) object)->type->element, shape);
    }
  if (role == AS_MUTABLE && (PyLong_Check (object) || PyFloat_Check (object)))
    {
      g_ptr_array_add (leaves, object);
      return Py_BuildValue ("(ss)", "number", PyBool_Check (object) ? "bool" : PyLong_Check (object) ? "int" : "float");
    }
  if (object == Py_None || PyUnicode_Check (object) || PyLong_Check (object) || PyFloat_Check (object))
    return Py_BuildValue ("(OO)", Py_TYPE (object), object);
  return Py_BuildValue ("(sN)", "object", PyLong_FromVoidPtr (object));
}

/* What the function sees for an argument; lists are copies. */
static PyObject *
abstract (GantryPyState *state, PyObject *object, Role role, const char *name)
{
  GantryPyValueKind kind;
  PyObject *copy, *key, *value;
  Py_ssize_t at = 0;

  if (is_mutable (object) && role != AS_CONSTANT)
    role = AS_MUTABLE;
  if (PyDict_Check (object))
    {
      copy = PyDict_New ();
      while (PyDict_Next (object, &at, &key, &value))
        {
          PyObject *item = abstract (state, value, role == AS_ARGUMENT ? AS_CONSTANT : role, name);

          PyDict_SetItem (copy, key, item);
          Py_DECREF (item);
        }
      return copy;
    }
  if (PyTuple_Check (object) || PyList_Check (object))
    {
      Py_ssize_t n = PySequence_Fast_GET_SIZE (object);

      if (PyTuple_Check (object) && role != AS_MUTABLE)
        return Py_NewRef (object);
      copy = PyTuple_Check (object) ? PyTuple_New (n) : PyList_New (n);
      for (Py_ssize_t i = 0; i < n; i++)
        {
          PyObject *item = abstract (state, PySequence_Fast_GET_ITEM (object, i), role == AS_ARGUMENT ? AS_CONSTANT : role, name);

          if (PyTuple_Check (object))
            PyTuple_SET_ITEM (copy, i, item);
          else
            PyList_SET_ITEM (copy, i, item);
        }
      return copy;
    }
  if (gantry_py_value_check (object) && role != AS_CONSTANT)
    {
      const GantryType *type = ((GantryPyValue *) object)->type;

      return gantry_py_trace_parameter (state, gantry_context_tensor (state->trace->context, type->element, type->rank, type->dims),
                                        name, GANTRY_PY_TENSOR);
    }
  if (role == AS_MUTABLE && (PyLong_Check (object) || PyFloat_Check (object)))
    {
      kind = PyBool_Check (object) ? GANTRY_PY_BOOL : PyLong_Check (object) ? GANTRY_PY_INT : GANTRY_PY_FLOAT;
      return gantry_py_trace_parameter (state, gantry_context_scalar (state->trace->context,
                                                                      kind == GANTRY_PY_BOOL ? GANTRY_BOOL
                                                                      : kind == GANTRY_PY_INT ? GANTRY_I64 : GANTRY_F64),
                                        name, kind);
    }
  return Py_NewRef (object);
}

/* Names of a function's parameters, for the nodes. */
static PyObject *
names_of (PyObject *callable)
{
  PyObject *function = callable, *code, *names;
  gboolean bound = PyMethod_Check (callable);

  if (bound)
    function = PyMethod_GET_FUNCTION (callable);
  code = PyObject_GetAttrString (function, "__code__");
  names = code != NULL ? PyObject_GetAttrString (code, "co_varnames") : NULL;
  PyErr_Clear ();
  Py_XDECREF (code);
  if (names != NULL && bound)
    Py_SETREF (names, PySequence_GetSlice (names, 1, PY_SSIZE_T_MAX));
  return names;
}

static gboolean
abstract_arguments (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, PyObject **abstract_args,
                    PyObject **abstract_kwargs)
{
  PyObject *names = names_of (callable), *key, *value;
  Py_ssize_t at = 0;

  *abstract_args = PyTuple_New (PyTuple_GET_SIZE (args));
  *abstract_kwargs = kwargs != NULL && PyDict_GET_SIZE (kwargs) > 0 ? PyDict_New () : NULL;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE (args); i++)
    {
      const char *name = names != NULL && i < PyTuple_GET_SIZE (names) ? PyUnicode_AsUTF8 (PyTuple_GET_ITEM (names, i)) : NULL;
      PyObject *item = abstract (state, PyTuple_GET_ITEM (args, i), AS_ARGUMENT, name);

      if (item == NULL)
        return FALSE;
      PyTuple_SET_ITEM (*abstract_args, i, item);
    }
  Py_XDECREF (names);
  while (*abstract_kwargs != NULL && PyDict_Next (kwargs, &at, &key, &value))
    {
      PyObject *item = abstract (state, value, AS_ARGUMENT, PyUnicode_AsUTF8 (key));

      PyDict_SetItem (*abstract_kwargs, key, item);
      Py_DECREF (item);
    }
  return !PyErr_Occurred ();
}

/* Outputs */

PyObject *
gantry_py_with_parameters (GantryPyState *state, PyObject *object)
{
  PyObject *copy, *key, *value;
  Py_ssize_t at = 0;

  if (gantry_py_value_check (object))
    return gantry_py_parameter_value (state, object);
  if (PyDict_CheckExact (object))
    {
      copy = PyDict_New ();
      while (copy != NULL && PyDict_Next (object, &at, &key, &value))
        {
          PyObject *item = gantry_py_with_parameters (state, value);

          if (item == NULL || PyDict_SetItem (copy, key, item) < 0)
            Py_CLEAR (copy);
          Py_XDECREF (item);
        }
      return copy;
    }
  if (!PyTuple_CheckExact (object) && !PyList_CheckExact (object))
    return Py_NewRef (object);
  copy = PyTuple_Check (object) ? PyTuple_New (PyTuple_GET_SIZE (object)) : PyList_New (PyList_GET_SIZE (object));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE (object); i++)
    {
      PyObject *item = gantry_py_with_parameters (state, PySequence_Fast_GET_ITEM (object, i));

      if (item == NULL)
        {
          Py_DECREF (copy);
          return NULL;
        }
      if (PyTuple_Check (object))
        PyTuple_SET_ITEM (copy, i, item);
      else
        PyList_SET_ITEM (copy, i, item);
    }
  return copy;
}

static gboolean
add_results (GantryPyState *state, GantryPyProgram *program, PyObject *structure, GArray *ids)
{
  g_autoptr (GPtrArray) variables = g_ptr_array_new ();

  gantry_py_collect_variables (structure, variables);
  for (guint i = 0; i < variables->len; i++)
    {
      guint kind = ((GantryPyValue *) g_ptr_array_index (variables, i))->kind;
      guint32 id = gantry_py_use (state, g_ptr_array_index (variables, i));

      if (id == 0)
        return FALSE;
      g_array_append_val (ids, id);
      g_array_append_val (program->kinds, kind);
    }
  return TRUE;
}

/* Parameters that the graph assigns, and lists from outside that its methods change. */
static gboolean
add_updates (GantryPyState *state, GantryPyProgram *program, GArray *ids)
{
  GantryTrace *trace = state->trace;
  PyObject *key, *value;
  Py_ssize_t at = 0;

  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (trace->parameters); i++)
    {
      PyObject *parameter = PyList_GET_ITEM (trace->parameters, i), *now = gantry_py_parameter_value (state, parameter);

      if (now != NULL && ((GantryPyValue *) now)->node != g_array_index (trace->parameter_nodes, guint32, i))
        {
          guint32 id = gantry_py_use (state, now);
          guint kind = GANTRY_PY_TENSOR;

          PyList_Append (program->updated, parameter);
          g_array_append_val (ids, id);
          g_array_append_val (program->kinds, kind);
        }
      Py_XDECREF (now);
    }
  while (PyDict_Next (trace->state, &at, &key, &value))
    if (PyTuple_Check (key) && PyUnicode_Check (PyTuple_GET_ITEM (key, 0)))
      {
        PyObject *origin = PyDict_GetItem (trace->origins, PyTuple_GET_ITEM (key, 1)), *pair;

        pair = PyTuple_Pack (2, origin, value);
        PyList_Append (program->lists, pair);
        Py_DECREF (pair);
        if (!add_results (state, program, value, ids))
          return FALSE;
      }
  return !PyErr_Occurred ();
}

static PyObject *
values_of_dicts (PyObject *result)
{
  PyObject *list, *tuple;

  if (!PyDict_Check (result))
    return result;
  list = PyDict_Values (result);
  tuple = PyList_AsTuple (list);
  Py_DECREF (list);
  Py_DECREF (result);
  return tuple;
}

static gboolean
end_trace (GantryPyState *state, GantryPyProgram *program, PyObject *result)
{
  GantryTrace *trace = state->trace;
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GError) error = NULL;

  program->origin = trace->strict ? NULL : Py_XNewRef (_gantry_py_origin (state, result));
  program->output = gantry_py_with_parameters (state, result);
  if (program->output != NULL && trace->strict)
    program->output = values_of_dicts (program->output);
  if (program->output == NULL || !add_results (state, program, program->output, ids))
    return FALSE;
  program->n_outputs = ids->len;
  if (!add_updates (state, program, ids))
    return FALSE;
  gantry_py_region_leave (trace, (const guint32 *) (gpointer) ids->data, ids->len);
  program->module = gantry_builder_finish (trace->builder, &error);
  if (program->module == NULL || !gantry_verify (program->module, NULL, &error))
    {
      PyErr_SetString (PyExc_RuntimeError, error->message);
      return FALSE;
    }
  program->hosts = g_ptr_array_ref (trace->hosts);
  program->parameters = Py_NewRef (trace->parameters);
  program->kept = Py_BuildValue ("(OO)", trace->kept, trace->origins);
  program->context = gantry_context_ref (trace->context);
  return TRUE;
}

static GantryPyProgram *
program_new (GantryPyState *state)
{
  GantryPyProgram *program = g_new0 (GantryPyProgram, 1);

  program->state = state;
  program->kinds = g_array_new (FALSE, FALSE, sizeof (guint));
  program->updated = PyList_New (0);
  program->lists = PyList_New (0);
  return program;
}

static void
program_drop (GantryPyProgram *program)
{
  Py_XDECREF (program->output);
  Py_XDECREF (program->updated);
  Py_XDECREF (program->lists);
  g_array_unref (program->kinds);
  g_clear_pointer (&program->module, gantry_module_unref);
  g_free (program);
}

/* Where the function is written: the place of its inputs. */
static const GantryPyNode *
place_of (GantryPyState *state, PyObject *callable)
{
  PyObject *function = PyMethod_Check (callable) ? PyMethod_GET_FUNCTION (callable) : callable;
  const GantryPyNode *node = NULL;

  if (PyFunction_Check (function) && _gantry_py_author (state, function) == GANTRY_PY_USERS)
    node = gantry_py_source_function (state->sources, function);
  PyErr_Clear ();
  return node;
}

/* Walks the function with variables for its arguments. */
static GantryPyProgram *
trace_call (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, gboolean strict)
{
  GantryTrace *trace = gantry_py_trace_begin (state, FALSE);
  GantryPyFrame frame = { .state = state, .globals = PyEval_GetBuiltins (), .name = "graph" };
  GantryPyProgram *program = program_new (state);
  PyObject *abstract_args = NULL, *abstract_kwargs = NULL, *result = NULL;
  gboolean fine = FALSE;

  trace->strict = strict;
  gantry_py_set_place (trace, place_of (state, callable));
  if (abstract_arguments (state, callable, args, kwargs, &abstract_args, &abstract_kwargs))
    {
      result = _gantry_py_call (&frame, callable, abstract_args, abstract_kwargs);
      while (state->trace != trace)
        gantry_py_trace_end (state, state->trace);
      if (result != NULL)
        fine = end_trace (state, program, result);
    }
  Py_XDECREF (abstract_args);
  Py_XDECREF (abstract_kwargs);
  Py_XDECREF (result);
  while (state->trace != trace)
    gantry_py_trace_end (state, state->trace);
  gantry_py_trace_end (state, trace);
  if (!fine)
    {
      program_drop (program);
      return NULL;
    }
  return program;
}

static void
compile (GantryPyState *state, GantryPyProgram *program)
{
  const GantryPythonBackend *backend = state->backend;

  /* Host calls are CPython's, and what the compiler refuses is evaluated: see docs/python.md. */
  if (program->hosts->len > 0 || backend == NULL || backend->compile == NULL || program->kinds->len == 0)
    return;
  program->compiled = backend->compile (backend->self, program->module, NULL);
}

static void
keep_graph (GantryPyState *state, GantryPyProgram *program, PyObject *callable, PyObject *key)
{
  GantryPythonGraph *graph;
  PyObject *name = PyObject_GetAttrString (callable, "__qualname__");

  PyErr_Clear ();
  if (state->graphs != NULL)
    {
      graph = g_new0 (GantryPythonGraph, 1);
      graph->name = g_strdup (name != NULL && PyUnicode_Check (name) ? PyUnicode_AsUTF8 (name) : "graph");
      graph->arguments = g_strdup ("");
      graph->module = gantry_module_ref (program->module);
      g_ptr_array_add (state->graphs, graph);
    }
  Py_XDECREF (name);
}

/* Running */

static GantryLiteral *
literal_of (GantryPyState *state, PyObject *leaf)
{
  PyObject *value;
  GantryLiteral *literal;

  if (gantry_py_value_check (leaf))
    return gantry_literal_ref (((GantryPyValue *) leaf)->literal);
  value = _gantry_py_number_value (state, leaf, PyBool_Check (leaf) ? GANTRY_PY_BOOL : PyLong_Check (leaf) ? GANTRY_PY_INT : GANTRY_PY_FLOAT);
  literal = value != NULL ? gantry_literal_ref (((GantryPyValue *) value)->literal) : NULL;
  Py_XDECREF (value);
  return literal;
}

static gboolean
execute (GantryPyProgram *program, GantryLiteral *const *arguments, GantryLiteral **results)
{
  const GantryPythonBackend *backend = program->state->backend;
  g_autoptr (GError) error = NULL;

  if (program->compiled == NULL)
    return gantry_py_walk (program, arguments, results);
  if (backend->run (backend->self, program->compiled, arguments, results, &error))
    return TRUE;
  PyErr_SetString (PyExc_RuntimeError, error->message);
  return FALSE;
}

static void
free_literals (GantryLiteral **literals, guint n)
{
  for (guint i = 0; i < n; i++)
    if (literals[i] != NULL)
      gantry_literal_unref (literals[i]);
  g_free (literals);
}

/* Gives each parameter and list what the run made of it. */
static void
write_back (GantryPyProgram *program, PyObject *const *objects, GantryLiteral **results)
{
  guint next = program->n_outputs;

  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (program->updated); i++, next++)
    gantry_py_value_set ((GantryPyValue *) PyList_GET_ITEM (program->updated, i), gantry_py_adopt (program->state, results[next]));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (program->lists); i++)
    {
      PyObject *pair = PyList_GET_ITEM (program->lists, i);
      PyObject *value = gantry_py_replace_variables (PyTuple_GET_ITEM (pair, 1), objects, &next);

      if (value != NULL)
        PyList_SetSlice (PyTuple_GET_ITEM (pair, 0), 0, PY_SSIZE_T_MAX, value);
      Py_XDECREF (value);
    }
}

/* The outermost list that is returned is the one outside, where it is that. */
static PyObject *
output_of (GantryPyProgram *program, PyObject *const *objects)
{
  guint next = 0;

  if (program->origin != NULL)
    return Py_NewRef (program->origin);
  return gantry_py_replace_variables (program->output, objects, &next);
}

/* An object of the run is in the table that the walk left. */
static PyObject *
result_object (GantryPyProgram *program, GantryLiteral *literal, GantryPyValueKind kind)
{
  PyObject *table;

  if (kind != GANTRY_PY_HANDLE)
    return gantry_py_object_of (program->state, literal, kind);
  table = PyDict_GetItemString (PyTuple_GET_ITEM (program->kept, 1), "objects");
  return Py_XNewRef (PyList_GetItem (table, (Py_ssize_t) gantry_literal_get_int (literal, 0)));
}

static PyObject *
run (GantryPyProgram *program, GPtrArray *leaves)
{
  GantryPyState *state = program->state;
  Py_ssize_t n_parameters = PyList_GET_SIZE (program->parameters);
  guint n_results = program->kinds->len;
  GantryLiteral **arguments = g_new0 (GantryLiteral *, leaves->len + n_parameters + 1);
  GantryLiteral **results = g_new0 (GantryLiteral *, n_results + 1);
  PyObject **objects = g_new0 (PyObject *, n_results + 1), *output = NULL;
  gboolean fine = TRUE;

  for (guint i = 0; fine && i < leaves->len; i++)
    fine = (arguments[i] = literal_of (state, g_ptr_array_index (leaves, i))) != NULL;
  for (Py_ssize_t i = 0; fine && i < n_parameters; i++)
    arguments[leaves->len + i] = literal_of (state, PyList_GET_ITEM (program->parameters, i));
  if (fine && execute (program, arguments, results))
    {
      for (guint i = 0; i < n_results; i++)
        objects[i] = result_object (program, results[i], (GantryPyValueKind) g_array_index (program->kinds, guint, i));
      write_back (program, objects, results);
      output = output_of (program, objects);
    }
  for (guint i = 0; i < n_results; i++)
    Py_XDECREF (objects[i]);
  g_free (objects);
  free_literals (arguments, leaves->len + (guint) n_parameters);
  free_literals (results, n_results);
  return output;
}

static PyObject *
make_key (GantryPyState *state, PyObject *args, PyObject *kwargs, PyObject *extra, gboolean strict, GPtrArray *leaves)
{
  PyObject *list = PyList_New (0), *key, *name, *value, *item;
  Py_ssize_t at = 0;

  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE (args); i++)
    {
      item = signature (state, PyTuple_GET_ITEM (args, i), AS_ARGUMENT, leaves);
      PyList_Append (list, item);
      Py_XDECREF (item);
    }
  while (kwargs != NULL && PyDict_Next (kwargs, &at, &name, &value))
    {
      item = Py_BuildValue ("(ON)", name, signature (state, value, AS_ARGUMENT, leaves));
      PyList_Append (list, item);
      Py_XDECREF (item);
    }
  key = Py_BuildValue ("(NOO)", PyList_AsTuple (list), extra, strict ? Py_True : Py_False);
  Py_DECREF (list);
  return key;
}

PyObject *
gantry_py_graph_call (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, PyObject *cache, PyObject *extra,
                      gboolean strict, gboolean only_compile)
{
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();
  PyObject *key, *capsule, *result = NULL, *held;
  GantryPyProgram *program;

  if (state->trace != NULL && !state->trace->root->record)
    {
      GantryPyFrame frame = { .state = state, .globals = PyEval_GetBuiltins (), .name = "graph" };

      return _gantry_py_call (&frame, callable, args, kwargs);
    }
  if (state->trace != NULL)
    return PyObject_Call (callable, args, kwargs);
  key = make_key (state, args, kwargs, extra, strict, leaves);
  capsule = key != NULL ? PyDict_GetItemWithError (cache, key) : NULL;
  if (capsule == NULL && !PyErr_Occurred ())
    {
      program = trace_call (state, callable, args, kwargs, strict);
      if (program != NULL)
        {
          program->n_arguments = leaves->len;
          keep_graph (state, program, callable, key);
          compile (state, program);
          capsule = PyCapsule_New (program, "gantry.program", capsule_free);
          held = Py_BuildValue ("(NOO)", capsule, args, kwargs != NULL ? kwargs : Py_None);
          PyDict_SetItem (cache, key, held);
          Py_DECREF (held);
        }
    }
  else if (capsule != NULL)
    capsule = PyTuple_GET_ITEM (capsule, 0);
  Py_XDECREF (key);
  if (capsule != NULL)
    {
      program = PyCapsule_GetPointer (capsule, "gantry.program");
      result = only_compile ? Py_NewRef (Py_None) : run (program, leaves);
    }
  return result;
}

gboolean
gantry_py_run_module (GantryPyState *state, GantryModule *module, GPtrArray *hosts, GantryLiteral *const *arguments,
                      GantryLiteral **results)
{
  GantryPyProgram *program = program_new (state);
  gboolean fine;

  program->module = gantry_module_ref (module);
  program->context = gantry_context_ref (module->context);
  program->hosts = g_ptr_array_ref (hosts);
  program->kept = Py_BuildValue ("(ON)", Py_None, PyDict_New ());
  for (guint i = 0; i < gantry_module_entry (module)->n_results; i++)
    {
      guint kind = GANTRY_PY_TENSOR;

      g_array_append_val (program->kinds, kind);
    }
  compile (state, program);
  fine = execute (program, arguments, results);
  gantry_py_program_free (program);
  return fine;
}
