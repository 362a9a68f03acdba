/* SPDX-License-Identifier: Apache-2.0 */
/* From a call to a graph: the signature, the trace, what goes in and what comes out. */
#include "core/frontends/python/program.h"
#include "core/frontends/python/scope.h"
#include "core/graph/context.h"
#include "core/graph/verifier.h"
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
  Py_XDECREF (program->updated);
  Py_XDECREF (program->lists);
  Py_XDECREF (program->written);
  Py_XDECREF (program->reads);
  Py_XDECREF (program->stale);
  Py_XDECREF (program->kept);
  gantry_context_unref (program->context);
  g_free (program);
}

/* Outputs */

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

/* The next call finds the list as this one leaves it. */
static void
note_changed (GantryTrace *trace, PyObject *origin)
{
  PyObject *key, *entry;

  if (trace->stale == NULL)
    return;
  key = Py_BuildValue ("(sN)", "list", PyLong_FromVoidPtr (origin));
  entry = Py_BuildValue ("(NOO)", key, origin, Py_None);
  PyList_Append (trace->stale, entry);
  Py_DECREF (entry);
}

/* What whoever opens the graph as a model is told of a Parameter. A graph that only runs has no result written over it: others may
 * look at what it was. @result: what it is assigned, -1: nothing */
static void
describe_parameter (GantryPyState *state, Py_ssize_t i, gint result)
{
  GantryTrace *trace = gantry_py_trace (state);
  guint32 id = g_array_index (trace->parameter_nodes, guint32, i);
  PyObject *trained = PyObject_GetAttrString (PyList_GET_ITEM (trace->parameters, i), "requires_grad");
  GantryAttrList *attrs;

  PyErr_Clear ();
  if (state->graphs != NULL)
    {
      attrs = gantry_attr_list_new (trace->context);
      gantry_attr_list_set_all (attrs, gantry_builder_node (trace->builder, id)->attrs);
      gantry_attr_list_set_string (attrs, "role", trained == Py_True ? "parameter" : "state");
      if (result >= 0)
        gantry_attr_list_set_int (attrs, "alias", result);
      gantry_builder_set_parameter_attrs (trace->builder, id, gantry_attr_list_end (attrs));
    }
  Py_XDECREF (trained);
}

/* What is made of gradients is the update, until a gradient is taken again. */
static GantryPhase
phase_of (GantryBuilder *builder, const GantryNode *node, gpointer spliced)
{
  if (g_hash_table_contains (spliced, GUINT_TO_POINTER (node->id)))
    return (GantryPhase) node->phase;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_builder_node (builder, gantry_builder_operand_of (builder, node->id, i));

      if (operand != NULL && operand->phase != GANTRY_PHASE_FORWARD)
        return GANTRY_PHASE_UPDATE;
    }
  return GANTRY_PHASE_FORWARD;
}

/* Parameters that the graph assigns, and lists from outside that its methods change. */
static gboolean
add_updates (GantryPyState *state, GantryPyProgram *program, GArray *ids)
{
  GantryTrace *trace = gantry_py_trace (state);
  PyObject *key, *value;
  Py_ssize_t at = 0;

  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (trace->parameters); i++)
    {
      PyObject *parameter = PyList_GET_ITEM (trace->parameters, i), *now = gantry_py_parameter_value (state, parameter);

      gboolean assigned = now != NULL && ((GantryPyValue *) now)->node != g_array_index (trace->parameter_nodes, guint32, i);

      describe_parameter (state, i, assigned ? (gint) ids->len : -1);
      if (assigned)
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

        note_changed (trace, origin);
        pair = PyTuple_Pack (2, origin, value);
        PyList_Append (program->lists, pair);
        Py_DECREF (pair);
        if (!add_results (state, program, value, ids))
          return FALSE;
      }
  return !PyErr_Occurred ();
}

/* Attributes that are assigned when the graph has run. */
static gboolean
add_written (GantryPyState *state, GantryPyProgram *program, GArray *ids)
{
  GantryTrace *trace = gantry_py_trace (state);
  PyObject *key, *target;
  Py_ssize_t at = 0;

  program->is_out_of_order = PyDict_GET_SIZE (trace->written) > 0 && trace->hosts->len > 0;
  while (!program->is_out_of_order && PyDict_Next (trace->written, &at, &key, &target))
    {
      PyObject *value = PyDict_GetItem (trace->state, key), *marked, *structure, *entry;

      if (value == NULL || _gantry_py_is_undefined (state, value))
        {
          program->is_out_of_order = TRUE;
          break;
        }
      marked = gantry_py_mark_origins (state, value);
      structure = marked != NULL ? gantry_py_with_parameters (state, marked) : NULL;
      Py_XDECREF (marked);
      if (structure == NULL)
        return FALSE;
      entry = PyTuple_Pack (3, PyTuple_GET_ITEM (target, 0), PyTuple_GET_ITEM (target, 1), structure);
      PyList_Append (program->written, entry);
      Py_DECREF (entry);
      Py_DECREF (structure);
      if (!add_results (state, program, structure, ids))
        return FALSE;
    }
  return !PyErr_Occurred ();
}

static gboolean
end_trace (GantryPyState *state, GantryPyProgram *program, PyObject *result)
{
  GantryTrace *trace = gantry_py_trace (state);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GError) error = NULL;
  PyObject *marked = trace->strict ? Py_NewRef (result) : gantry_py_mark_origins (state, result);
  PyObject *plain = marked != NULL ? gantry_py_as_result (marked, trace->strict) : NULL;

  program->output = plain != NULL ? gantry_py_with_parameters (state, plain) : NULL;
  Py_XDECREF (plain);
  Py_XDECREF (marked);
  if (program->output == NULL || !add_results (state, program, program->output, ids))
    return FALSE;
  program->n_outputs = ids->len;
  if (!add_updates (state, program, ids) || !add_written (state, program, ids))
    return FALSE;
  gantry_py_region_leave (trace, (const guint32 *) (gpointer) ids->data, ids->len);
  if (g_hash_table_size (trace->spliced) > 0)
    gantry_builder_choose_phases (trace->builder, phase_of, trace->spliced);
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
  program->reads = Py_XNewRef (trace->reads);
  program->stale = Py_XNewRef (trace->stale);
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
  program->written = PyList_New (0);
  return program;
}

static void
program_drop (GantryPyProgram *program)
{
  Py_XDECREF (program->output);
  Py_XDECREF (program->updated);
  Py_XDECREF (program->lists);
  Py_XDECREF (program->written);
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

/* The method of a Cell that a graph is made of is its construct. */
static PyObject *
call_traced (GantryPyFrame *frame, PyObject *callable, PyObject *args, PyObject *kwargs)
{
  GantryPyState *state = frame->state;
  GantryPyPrecision before = gantry_py_precision_begin (state, GANTRY_ELEMENT_NONE);
  PyObject *self = PyMethod_Check (callable) ? PyMethod_GET_SELF (callable) : NULL, *result;

  if (self != NULL && PyObject_TypeCheck (self, (PyTypeObject *) state->cell))
    {
      gantry_py_scope_name_cells (state, self, "");
      result = _gantry_py_call_construct (frame, self, callable, args, kwargs);
    }
  else
    result = _gantry_py_call (frame, callable, args, kwargs);
  gantry_py_set_precision (state, before);
  return result;
}

GantryPyProgram *
gantry_py_trace_call (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, gboolean strict, GArray *slots, gboolean writes_at_end)
{
  GantryTrace *trace = gantry_py_trace_begin (state, FALSE);
  GantryPyFrame frame = { .state = state, .globals = PyEval_GetBuiltins (), .name = "graph" };
  GantryPyProgram *program = program_new (state);
  PyObject *abstract_args = NULL, *abstract_kwargs = NULL, *result = NULL;
  gboolean fine = FALSE;

  trace->strict = strict;
  trace->writes_at_end = writes_at_end;
  gantry_py_set_place (trace, place_of (state, callable));
  if (_gantry_py_abstract_arguments (state, callable, args, kwargs, &abstract_args, &abstract_kwargs)
      && (slots == NULL || _gantry_py_enter_slots (state, slots)))
    {
      result = call_traced (&frame, callable, abstract_args, abstract_kwargs);
      while (gantry_py_trace (state) != trace)
        gantry_py_trace_end (state, gantry_py_trace (state));
      if (result != NULL)
        fine = end_trace (state, program, result);
    }
  Py_XDECREF (abstract_args);
  Py_XDECREF (abstract_kwargs);
  Py_XDECREF (result);
  while (gantry_py_trace (state) != trace)
    gantry_py_trace_end (state, gantry_py_trace (state));
  if (state->errors != NULL)
    gantry_py_set_failed (state, trace->failed, trace->calls);
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
  program->compiled = backend->compile (backend->self, program->module, NULL, NULL);
}

static char *
arguments_text (const GantryPyProgram *program)
{
  const GantryFunction *entry = gantry_module_entry (program->module);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < program->n_arguments && i < entry->n_params; i++)
    {
      g_autofree char *type = gantry_context_type_text (program->context, program->module->nodes[entry->first_node + i].type);

      g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", type);
    }
  return g_string_free (text, FALSE);
}

static void
keep_graph (GantryPyState *state, GantryPyProgram *program, PyObject *callable)
{
  GantryPythonGraph *graph;
  PyObject *name = PyObject_GetAttrString (callable, "__qualname__");

  PyErr_Clear ();
  if (state->graphs != NULL)
    {
      graph = g_new0 (GantryPythonGraph, 1);
      graph->name = g_strdup (name != NULL && PyUnicode_Check (name) ? PyUnicode_AsUTF8 (name) : "graph");
      graph->arguments = arguments_text (program);
      graph->host_lines = program->hosts->len > 0 ? gantry_py_host_lines (program->hosts) : NULL;
      graph->module = gantry_module_ref (program->module);
      g_ptr_array_add (state->graphs, graph);
    }
  Py_XDECREF (name);
}

void
gantry_py_program_ready (GantryPyState *state, GantryPyProgram *program, PyObject *callable)
{
  keep_graph (state, program, callable);
  compile (state, program);
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
  if (program->compiled == NULL)
    return gantry_py_walk (program, arguments, results);
  return gantry_py_run_compiled (program->state, program->compiled, arguments, results);
}

static void
free_literals (GantryLiteral **literals, guint n)
{
  for (guint i = 0; i < n; i++)
    if (literals[i] != NULL)
      gantry_literal_unref (literals[i]);
  g_free (literals);
}

static void
fill (PyObject *outside, PyObject *value)
{
  if (PyList_Check (outside))
    {
      PyList_SetSlice (outside, 0, PY_SSIZE_T_MAX, value);
      return;
    }
  PyDict_Clear (outside);
  PyDict_Update (outside, value);
}

static gboolean
set_outside (GantryPyState *state, PyObject *target, PyObject *value)
{
  PyObject *owner = _gantry_py_held (PyTuple_GET_ITEM (target, 0)), *name = PyTuple_GET_ITEM (target, 1), *done;

  if (owner == NULL)
    return TRUE;
  if (PyDict_CheckExact (owner))
    return PyDict_SetItem (owner, name, value) == 0;
  done = _gantry_py_call_hook (state, "set_attribute", "OOO", owner, name, value);
  Py_XDECREF (done);
  return done != NULL;
}

/* Gives each parameter, list, dict and attribute what the run made of it. Returns: FALSE with an exception */
static gboolean
write_back (GantryPyProgram *program, PyObject *const *objects, GantryLiteral **results)
{
  guint next = program->n_outputs;
  gboolean fine = TRUE;

  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (program->updated); i++, next++)
    gantry_py_value_set ((GantryPyValue *) PyList_GET_ITEM (program->updated, i), gantry_py_adopt (program->state, results[next]));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (program->lists); i++)
    {
      PyObject *pair = PyList_GET_ITEM (program->lists, i);
      PyObject *value = gantry_py_replace_variables (PyTuple_GET_ITEM (pair, 1), objects, &next);

      if (value != NULL)
        fill (PyTuple_GET_ITEM (pair, 0), value);
      Py_XDECREF (value);
    }
  for (Py_ssize_t i = 0; fine && i < PyList_GET_SIZE (program->written); i++)
    {
      PyObject *target = PyList_GET_ITEM (program->written, i);
      PyObject *filled = gantry_py_replace_variables (PyTuple_GET_ITEM (target, 2), objects, &next);
      PyObject *value = filled != NULL ? gantry_py_take_origins (filled) : NULL;

      fine = value != NULL && set_outside (program->state, target, value);
      Py_XDECREF (filled);
      Py_XDECREF (value);
    }
  return fine;
}

/* The lists that were outside are themselves again. */
static PyObject *
output_of (GantryPyProgram *program, PyObject *const *objects)
{
  guint next = 0;
  PyObject *filled = gantry_py_replace_variables (program->output, objects, &next), *output;

  output = filled != NULL ? gantry_py_take_origins (filled) : NULL;
  Py_XDECREF (filled);
  return output;
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
  gboolean is_step = program->compiled != NULL && PyList_GET_SIZE (program->updated) > 0, began = is_step && gantry_py_step_begin ();
  gboolean fine = began || !is_step;

  for (guint i = 0; fine && i < leaves->len; i++)
    fine = (arguments[i] = literal_of (state, g_ptr_array_index (leaves, i))) != NULL;
  for (Py_ssize_t i = 0; fine && i < n_parameters; i++)
    arguments[leaves->len + i] = literal_of (state, PyList_GET_ITEM (program->parameters, i));
  if (fine && execute (program, arguments, results))
    {
      for (guint i = 0; i < n_results; i++)
        objects[i] = result_object (program, results[i], (GantryPyValueKind) g_array_index (program->kinds, guint, i));
      if (write_back (program, objects, results))
        output = output_of (program, objects);
    }
  if (began)
    gantry_py_step_end ();
  for (guint i = 0; i < n_results; i++)
    Py_XDECREF (objects[i]);
  g_free (objects);
  free_literals (arguments, leaves->len + (guint) n_parameters);
  free_literals (results, n_results);
  return output;
}

/* CPython, which goes on with the call, meets parts of it as graphs of their own. */
static gboolean
is_same_error (gconstpointer a, gconstpointer b)
{
  const GantryPythonError *x = a, *y = b;

  return g_strcmp0 (x->file, y->file) == 0 && x->line == y->line && x->column == y->column && strcmp (x->type, y->type) == 0
         && strcmp (x->message, y->message) == 0;
}

/* While importing: what the graph could not be made for is kept, and CPython computes the call. */
static PyObject *
call_instead (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs)
{
  GantryPythonError *error = g_new0 (GantryPythonError, 1);
  const GantryPyThread *thread = gantry_py_thread (state);
  PyObject *type, *value, *traceback, *text;

  if (thread != NULL && thread->failed != NULL)
    {
      error->file = g_strdup (thread->failed->source->file);
      error->line = thread->failed->line;
      error->column = thread->failed->column + 1;
      error->calls = g_strdup (thread->calls);
      gantry_py_set_failed (state, NULL, NULL);
    }
  PyErr_Fetch (&type, &value, &traceback);
  PyErr_NormalizeException (&type, &value, &traceback);
  text = value != NULL ? PyObject_Str (value) : NULL;
  error->type = g_strdup (type != NULL ? ((PyTypeObject *) type)->tp_name : "Error");
  error->message = g_strdup (text != NULL ? PyUnicode_AsUTF8 (text) : "");
  if (g_ptr_array_find_with_equal_func (state->errors, error, is_same_error, NULL))
    gantry_python_error_free (error);
  else
    g_ptr_array_add (state->errors, error);
  Py_XDECREF (text);
  Py_XDECREF (type);
  Py_XDECREF (value);
  Py_XDECREF (traceback);
  PyErr_Clear ();
  return PyObject_Call (callable, args, kwargs);
}

/* What a graph has to know, and does not: no exception of its own, for who calls it. */
static void
show_need (GantryPyState *state)
{
  PyObject *type, *value, *traceback, *text;

  if (!PyErr_ExceptionMatches (_gantry_py_hook (state, "NeedsData")))
    return;
  PyErr_Fetch (&type, &value, &traceback);
  text = value != NULL ? PyObject_Str (value) : NULL;
  PyErr_Clear ();
  Py_DECREF (type);
  Py_XDECREF (value);
  PyErr_Restore (Py_NewRef (PyExc_TypeError), text, traceback);
}

PyObject *
gantry_py_graph_call (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, PyObject *cache, PyObject *extra, gboolean strict,
                      gboolean only_compile)
{
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();
  const GantryPyCall call = { callable, args, kwargs, strict };
  PyObject *key, *capsule, *values, *result = NULL;

  if (gantry_py_trace (state) != NULL && !gantry_py_trace (state)->root->record)
    {
      GantryPyFrame frame = { .state = state, .globals = PyEval_GetBuiltins (), .name = "graph" };

      return _gantry_py_call (&frame, callable, args, kwargs);
    }
  if (gantry_py_trace (state) != NULL)
    return PyObject_Call (callable, args, kwargs);
  key = _gantry_py_signature (state, callable, args, kwargs, extra, strict, leaves);
  values = PyList_New (0);
  capsule = key != NULL ? gantry_py_variant (state, cache, key, &call, leaves, values) : NULL;
  Py_XDECREF (key);
  if (capsule != NULL)
    result = only_compile ? Py_NewRef (Py_None) : run (PyCapsule_GetPointer (capsule, GANTRY_PY_PROGRAM), leaves);
  else
    show_need (state);
  if (capsule == NULL && state->errors != NULL && PyErr_ExceptionMatches (PyExc_Exception))
    result = call_instead (state, callable, args, kwargs);
  Py_XDECREF (capsule);
  Py_DECREF (values);
  return result;
}

static gboolean
run_module (GantryPyState *state, GantryModule *module, GPtrArray *hosts, GantryLiteral *const *arguments, GantryLiteral **results, gboolean compiled)
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
  if (compiled)
    compile (state, program);
  fine = execute (program, arguments, results);
  gantry_py_program_free (program);
  return fine;
}

gboolean
gantry_py_run_module (GantryPyState *state, GantryModule *module, GPtrArray *hosts, GantryLiteral *const *arguments, GantryLiteral **results)
{
  return run_module (state, module, hosts, arguments, results, TRUE);
}

gboolean
gantry_py_run_evaluated (GantryPyState *state, GantryModule *module, GPtrArray *hosts, GantryLiteral *const *arguments, GantryLiteral **results)
{
  return run_module (state, module, hosts, arguments, results, FALSE);
}
