/* SPDX-License-Identifier: Apache-2.0 */
/* Staging: a function is run over variables, and what it did is a module. */
#include "core/frontends/python/jax/jax.h"
#include "core/frontends/python/program.h"
#include "core/graph/context.h"
#include "core/graph/verifier.h"
#include <string.h>

/* Places */

#define MOST_FRAMES 32

/* Not of Gantry's modules: what the user wrote. */
static gboolean
is_users (PyCodeObject *code)
{
  const char *file = PyUnicode_AsUTF8 (code->co_filename);

  if (file == NULL) /* a name with surrogates has no UTF-8 */
    PyErr_Clear ();
  return file != NULL && !g_str_has_prefix (file, "<gantry>") && !g_str_has_prefix (file, "<frozen");
}

/* Where the innermost frame of the user's is, and the calls of the user's that led there. 0: there is none */
static guint32
users_location (GantryContext *context)
{
  PyFrameObject *frame = PyEval_GetFrame ();
  GantryLocation places[MOST_FRAMES];
  guint n = 0;
  guint32 id = 0;

  Py_XINCREF (frame);
  while (frame != NULL && n < MOST_FRAMES)
    {
      PyCodeObject *code = PyFrame_GetCode (frame);
      PyFrameObject *back = PyFrame_GetBack (frame);

      if (is_users (code))
        places[n++] = (GantryLocation){ .file = gantry_context_intern (context, PyUnicode_AsUTF8 (code->co_filename)),
                                        .line = (guint32) MAX (PyFrame_GetLineNumber (frame), 0),
                                        .function = gantry_context_intern (context, PyUnicode_AsUTF8 (code->co_qualname)) };
      Py_DECREF (code);
      Py_DECREF (frame);
      frame = back;
    }
  Py_XDECREF (frame);
  while (n-- > 0)
    {
      places[n].parent = id;
      id = gantry_context_location (context, &places[n]);
    }
  return id;
}

void
gantry_py_jax_set_place (GantryTrace *trace, const guint32 *operands, guint n)
{
  guint32 location = users_location (trace->context);
  GantryPhase phase = GANTRY_PHASE_FORWARD;

  if (location != 0)
    gantry_builder_set_place (trace->builder, trace->root->scope, location);
  for (guint i = 0; i < n; i++)
    {
      const GantryNode *node = gantry_builder_node (trace->builder, operands[i]);

      if (node != NULL && node->phase != GANTRY_PHASE_FORWARD)
        phase = GANTRY_PHASE_UPDATE;
    }
  gantry_builder_set_phase (trace->builder, phase);
}

/* Parameters */

static gboolean
memory_of (const char *name, GantryMemoryKind *memory)
{
  for (guint i = 0; i < GANTRY_N_MEMORY_KINDS; i++)
    if (strcmp (name, gantry_memory_kind_name ((GantryMemoryKind) i)) == 0)
      {
        *memory = (GantryMemoryKind) i;
        return TRUE;
      }
  PyErr_Format (PyExc_ValueError, "there is no memory kind '%s'", name);
  return FALSE;
}

static PyObject *
parameter (GantryPyState *state, PyObject *spec)
{
  const char *element, *memory_name, *name;
  GantryMemoryKind memory;
  GantryDim dims[GANTRY_MAX_RANK];
  PyObject *shape;
  guint rank;

  if (!PyArg_ParseTuple (spec, "sO!sz", &element, &PyTuple_Type, &shape, &memory_name, &name) || !memory_of (memory_name, &memory))
    return NULL;
  if (PyTuple_GET_SIZE (shape) > GANTRY_MAX_RANK)
    return PyErr_Format (PyExc_ValueError, "an array has at most %d dimensions", GANTRY_MAX_RANK);
  for (rank = 0; rank < PyTuple_GET_SIZE (shape); rank++)
    dims[rank] = PyLong_AsLongLong (PyTuple_GET_ITEM (shape, rank));
  if (PyErr_Occurred ())
    return NULL;
  for (guint i = 0; i < rank; i++)
    if (dims[i] < 0)
      return PyErr_Format (PyExc_ValueError, "dimension %u of a parameter is negative", i);
  return gantry_py_trace_parameter (state, gantry_context_tensor_in (gantry_py_trace (state)->context, gantry_element_from_name (element), rank, dims, memory),
                                    name, GANTRY_PY_TENSOR);
}

/* Results */

/* The node of a result in the memory that it is wanted in. 0 with an exception */
static guint32
result_in (GantryPyState *state, PyObject *value, const char *memory_name)
{
  GantryTrace *trace = gantry_py_trace (state);
  GantryMemoryKind memory;
  GantryAttrList *attrs;
  guint32 id;

  if (!gantry_py_value_check (value) || ((GantryPyValue *) value)->type == NULL)
    {
      PyErr_Format (PyExc_TypeError, "a staged function returns arrays, not %.100s", Py_TYPE (value)->tp_name);
      return 0;
    }
  if (!memory_of (memory_name, &memory) || (id = gantry_py_use (state, value)) == 0)
    return 0;
  if (gantry_builder_get_type (trace->builder, id)->memory == memory)
    return id;
  attrs = gantry_attr_list_new (trace->context);
  gantry_attr_list_set_string (attrs, "memory", memory_name);
  gantry_py_jax_set_place (trace, &id, 1);
  return gantry_builder_add (trace->builder, GANTRY_OP_COPY, &id, 1, gantry_attr_list_end (attrs));
}

static gboolean
set_aliases (GantryTrace *trace, PyObject *parameters, PyObject *aliases, guint n_results)
{
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE (aliases); i++)
    {
      GantryAttrList *attrs = gantry_attr_list_new (trace->context);
      int from = 0, to = 0;

      if (!PyArg_Parse (PySequence_Fast_GET_ITEM (aliases, i), "(ii)", &from, &to) || from < 0 || from >= PyTuple_GET_SIZE (parameters) || to < 0
          || (guint) to >= n_results)
        {
          if (!PyErr_Occurred ())
            PyErr_Format (PyExc_ValueError, "there is no parameter %d or no result %d for an alias", from, to);
          gantry_attr_list_free (attrs);
          return FALSE;
        }
      gantry_attr_list_set_int (attrs, "alias", to);
      gantry_builder_set_parameter_attrs (trace->builder, ((GantryPyValue *) PyTuple_GET_ITEM (parameters, from))->node, gantry_attr_list_end (attrs));
    }
  return TRUE;
}

static GantryModule *
finish (GantryPyState *state, PyObject *parameters, PyObject *result)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;
  PyObject *values, *memories, *aliases;

  if (!PyArg_Parse (result, "(O!O!O!)", &PyList_Type, &values, &PyList_Type, &memories, &PyList_Type, &aliases))
    return NULL;
  if (PyList_GET_SIZE (values) != PyList_GET_SIZE (memories))
    {
      PyErr_SetString (PyExc_TypeError, "a staged function gives a memory kind for each of its values");
      return NULL;
    }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (values); i++)
    {
      const char *memory = PyUnicode_AsUTF8 (PyList_GET_ITEM (memories, i));
      guint32 id = memory != NULL ? result_in (state, PyList_GET_ITEM (values, i), memory) : 0;

      if (id == 0)
        {
          if (!PyErr_Occurred ())
            gantry_py_check_builder (gantry_py_trace (state));
          return NULL;
        }
      g_array_append_val (ids, id);
    }
  if (!set_aliases (gantry_py_trace (state), parameters, aliases, ids->len))
    return NULL;
  gantry_py_region_leave (gantry_py_trace (state), (const guint32 *) (gpointer) ids->data, ids->len);
  module = gantry_builder_finish (gantry_py_trace (state)->builder, &error);
  if (module == NULL || !gantry_verify (module, NULL, &error))
    {
      PyErr_SetString (PyExc_RuntimeError, error->message);
      return NULL;
    }
  return g_steal_pointer (&module);
}

static void
staged_free (PyObject *capsule)
{
  GantryPyStaged *staged = PyCapsule_GetPointer (capsule, "gantry.staged");

  if (staged->compiled != NULL)
    staged->state->backend->release (staged->state->backend->self, staged->compiled);
  gantry_module_unref (staged->module);
  g_free (staged->refusal);
  g_free (staged);
}

/* (transfer full) (nullable): the texts of a list, a line each */
static char *
lines_of (PyObject *list)
{
  g_autoptr (GString) lines = g_string_new (NULL);

  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (list); i++)
    {
      const char *line = PyUnicode_AsUTF8 (PyList_GET_ITEM (list, i));

      if (line == NULL)
        {
          PyErr_Clear (); /* a name with surrogates, which no node has either */
          continue;
        }
      g_string_append_printf (lines, "%s%s", lines->len > 0 ? "\n" : "", line);
    }
  return lines->len > 0 ? g_string_free (g_steal_pointer (&lines), FALSE) : NULL;
}

/* While a program is imported its graphs are kept; without a name it is a step of Gantry's own modules, and no graph of the program. */
static void
keep (GantryPyState *state, GantryModule *module, const char *name, PyObject *policies)
{
  GantryPythonGraph *graph;
  const GantryFunction *entry = gantry_module_entry (module);
  GString *text;

  if (state->graphs == NULL || *name == '\0')
    return;
  text = g_string_new (NULL);
  for (guint i = 0; i < entry->n_params; i++)
    {
      g_autofree char *type = gantry_context_type_text (module->context, module->nodes[entry->first_node + i].type);

      g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", type);
    }
  graph = g_new0 (GantryPythonGraph, 1);
  graph->name = g_strdup (name);
  graph->arguments = g_string_free (text, FALSE);
  graph->policy = lines_of (policies);
  graph->module = gantry_module_ref (module);
  g_ptr_array_add (state->graphs, graph);
}

static GantryModule *
stage (GantryPyState *state, PyObject *function, PyObject *specs)
{
  Py_ssize_t n = PyTuple_GET_SIZE (specs);
  PyObject *parameters = PyTuple_New (n), *result = NULL;
  GantryModule *module = NULL;
  gboolean fine = parameters != NULL;

  for (Py_ssize_t i = 0; fine && i < n; i++)
    {
      PyObject *spec = PyTuple_GET_ITEM (specs, i), *one = NULL;

      if (PyTuple_Check (spec))
        one = parameter (state, spec);
      else
        PyErr_SetString (PyExc_TypeError, "a parameter is (element, shape, memory kind, name)");
      fine = one != NULL;
      if (fine)
        PyTuple_SET_ITEM (parameters, i, one);
    }
  if (fine)
    result = PyObject_Call (function, parameters, NULL);
  if (result != NULL)
    module = finish (state, parameters, result);
  Py_XDECREF (parameters);
  Py_XDECREF (result);
  return module;
}

PyObject *
gantry_py_jax_stage (PyObject *self, PyObject *args)
{
  GantryPyState *state = gantry_py_state ();
  PyObject *function, *specs, *policies;
  const char *name;
  GantryTrace *trace;
  GantryModule *module;
  GantryPyStaged *staged;

  if (!PyArg_ParseTuple (args, "OO!sO!", &function, &PyTuple_Type, &specs, &name, &PyList_Type, &policies))
    return NULL;
  trace = gantry_py_trace_begin (state, FALSE);
  trace->staged = TRUE;
  module = stage (state, function, specs);
  while (gantry_py_trace (state) != trace)
    gantry_py_trace_end (state, gantry_py_trace (state));
  gantry_py_trace_end (state, trace);
  if (module == NULL)
    return NULL;
  keep (state, module, name, policies);
  staged = g_new0 (GantryPyStaged, 1);
  staged->state = state;
  staged->module = module;
  return PyCapsule_New (staged, "gantry.staged", staged_free);
}
