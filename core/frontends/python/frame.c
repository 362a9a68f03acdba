/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the user's source: closures, binding of arguments, walking of a body. */
#include "core/frontends/python/interpreter-private.h"
#include "core/graph/context.h"
#include <string.h>

#define MOST_DEPTH 1000

gboolean
_gantry_py_is_closure (GantryPyState *state, PyObject *value)
{
  return Py_IS_TYPE (value, (PyTypeObject *) state->closure_type);
}

static void
closure_dealloc (PyObject *self)
{
  GantryPyClosure *closure = (GantryPyClosure *) self;
  PyTypeObject *type = Py_TYPE (self);

  PyObject_GC_UnTrack (self);
  Py_XDECREF (closure->outer);
  Py_XDECREF (closure->cells);
  Py_XDECREF (closure->globals);
  Py_XDECREF (closure->defaults);
  Py_XDECREF (closure->kwdefaults);
  type->tp_free (self);
  Py_DECREF (type);
}

static int
closure_traverse (PyObject *self, visitproc visit, void *arg)
{
  GantryPyClosure *closure = (GantryPyClosure *) self;

  Py_VISIT (Py_TYPE (self));
  Py_VISIT (closure->outer);
  Py_VISIT (closure->cells);
  Py_VISIT (closure->defaults);
  Py_VISIT (closure->kwdefaults);
  return 0;
}

/* Library code calls a function of the graph. */
static PyObject *
closure_call (PyObject *self, PyObject *args, PyObject *kwargs)
{
  GantryPyState *state = gantry_py_state ();
  GantryPyFrame frame = { .state = state, .globals = ((GantryPyClosure *) self)->globals, .name = "" };

  if (gantry_py_trace (state) == NULL)
    {
      PyErr_SetString (PyExc_RuntimeError, "a function made inside of a graph cannot be called outside of it");
      return NULL;
    }
  return _gantry_py_call_closure (&frame, self, args, kwargs);
}

PyObject *
gantry_py_closure_type_new (PyObject *module)
{
  static PyType_Slot slots[] = {
    { Py_tp_dealloc, closure_dealloc },
    { Py_tp_traverse, closure_traverse },
    { Py_tp_call, closure_call },
    { 0, NULL },
  };
  static PyType_Spec spec = {
    .name = "_gantry.Closure", .basicsize = sizeof (GantryPyClosure), .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, .slots = slots
  };

  return PyType_FromModuleAndSpec (module, &spec, NULL);
}

PyObject *
_gantry_py_function_locals (const GantryPyFrame *frame)
{
  return frame->n_comprehensions > 0 ? PyTuple_GET_ITEM (frame->outer, frame->n_comprehensions - 1) : frame->locals;
}

PyObject *
_gantry_py_outer_with (const GantryPyFrame *frame)
{
  Py_ssize_t n = frame->outer != NULL ? PyTuple_GET_SIZE (frame->outer) : 0;
  PyObject *outer = PyTuple_New (n + 1);

  PyTuple_SET_ITEM (outer, 0, Py_NewRef (frame->locals));
  for (Py_ssize_t i = 0; i < n; i++)
    PyTuple_SET_ITEM (outer, i + 1, Py_NewRef (PyTuple_GET_ITEM (frame->outer, i)));
  return outer;
}

static gboolean
take_defaults (GantryPyFrame *frame, GantryPyClosure *closure, const GantryPyNode *arguments)
{
  closure->defaults = PyTuple_New (arguments->n_list3);
  for (guint i = 0; i < arguments->n_list3; i++)
    {
      PyObject *value = _gantry_py_eval (frame, arguments->list3[i]);

      if (value == NULL)
        return FALSE;
      PyTuple_SET_ITEM (closure->defaults, i, value);
    }
  closure->kwdefaults = PyDict_New ();
  for (guint i = 0; i < arguments->n_list4; i++)
    {
      PyObject *value = arguments->list4[i] != NULL ? _gantry_py_eval (frame, arguments->list4[i]) : NULL;

      if (value == NULL && arguments->list4[i] != NULL)
        return FALSE;
      if (value != NULL)
        PyDict_SetItem (closure->kwdefaults, arguments->list2[i]->name, value);
      Py_XDECREF (value);
    }
  return TRUE;
}

PyObject *
_gantry_py_closure_new (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyTypeObject *type = (PyTypeObject *) frame->state->closure_type;
  GantryPyClosure *closure = (GantryPyClosure *) type->tp_alloc (type, 0);

  if (closure == NULL)
    return NULL;
  closure->node = node;
  closure->outer = _gantry_py_outer_with (frame);
  closure->cells = Py_XNewRef (frame->cells);
  closure->globals = Py_NewRef (frame->globals);
  if (!take_defaults (frame, closure, node->a))
    Py_CLEAR (closure);
  return (PyObject *) closure;
}

/* Walking */

static PyObject *
walk (GantryPyFrame *frame)
{
  GantryPyStatus status;

  if (frame->node->kind == GANTRY_PY_LAMBDA)
    return _gantry_py_eval (frame, frame->node->b);
  status = _gantry_py_exec_block (frame, frame->node->list, frame->node->n_list);
  if (status == GANTRY_PY_FAILED)
    return NULL;
  return frame->result != NULL ? Py_NewRef (frame->result) : Py_NewRef (Py_None);
}

static void
forget_failure (GantryTrace *root)
{
  root->failed = root->too_deep = NULL;
  g_clear_pointer (&root->calls, g_free);
}

/* A recursion has no end to its calls that anyone reads. */
#define MOST_CALLS 32

/* The lines that a traceback shows for a graph: as if CPython had run it. */
static void
add_traceback (GantryPyFrame *frame, const GantryPyNode *place)
{
  GantryTrace *trace = gantry_py_trace (frame->state), *root = trace->root;

  if (root->failed == NULL && place != NULL)
    {
      root->failed = place;
      root->calls = gantry_context_location_chain (trace->context, gantry_py_location (trace, place), MOST_CALLS);
    }
  if (place != NULL && place->line > 0)
    _PyTraceback_Add (frame->name, place->source->file, (int) place->line);
}

static PyObject *
run (GantryPyFrame *frame, PyObject *args, PyObject *kwargs, PyObject *defaults, PyObject *kwdefaults)
{
  GantryTrace *trace = gantry_py_trace (frame->state);
  const GantryPyNode *place = trace->place;
  GantryPyChain chain = trace->chain;
  PyObject *result = NULL;

  if (trace->depth >= MOST_DEPTH)
    {
      trace->root->too_deep = frame->node;
      trace->root->too_deep_in = trace->region;
      PyErr_Format (PyExc_RuntimeError,
                    "Exceed function call depth limit %d, (function call depth: %u, simulate call "
                    "depth: %u).",
                    MOST_DEPTH, trace->depth + 1, trace->depth + 1);
      return NULL;
    }
  gantry_py_chain_enter (trace, &chain, trace->depth > 0 ? place : NULL,
                         trace->gradient != NULL && trace->depth == trace->outer_depth ? GANTRY_STEP_GRADIENT : GANTRY_STEP_CALL, 0, frame->name);
  trace->depth++;
  frame->locals = PyDict_New ();
  if (_gantry_py_bind (frame, args, kwargs, defaults, kwdefaults))
    {
      result = walk (frame);
      if (result == NULL)
        add_traceback (frame, gantry_py_trace (frame->state)->place);
    }
  Py_XDECREF (frame->result);
  Py_XDECREF (frame->global_names);
  Py_DECREF (frame->locals);
  gantry_py_trace (frame->state)->depth--;
  gantry_py_trace (frame->state)->chain = chain;
  gantry_py_set_place (gantry_py_trace (frame->state), place);
  return result;
}

PyObject *
_gantry_py_call_closure (GantryPyFrame *caller, PyObject *callable, PyObject *args, PyObject *kwargs)
{
  GantryPyClosure *closure = (GantryPyClosure *) callable;
  GantryPyFrame frame = {
    .state = caller->state, .caller = caller, .node = closure->node, .outer = closure->outer, .cells = closure->cells, .globals = closure->globals
  };

  frame.name = closure->node->name != NULL ? PyUnicode_AsUTF8 (closure->node->name) : "<lambda>";
  return run (&frame, args, kwargs, closure->defaults, closure->kwdefaults);
}

static PyObject *
cells_of (PyObject *function)
{
  PyObject *names = PyCode_GetFreevars ((PyCodeObject *) PyFunction_GET_CODE (function));
  PyObject *closure = PyFunction_GET_CLOSURE (function), *cells = PyDict_New ();

  for (Py_ssize_t i = 0; closure != NULL && i < PyTuple_GET_SIZE (closure); i++)
    {
      PyObject *value = PyCell_GET (PyTuple_GET_ITEM (closure, i));

      if (value != NULL)
        PyDict_SetItem (cells, PyTuple_GET_ITEM (names, i), value);
    }
  Py_XDECREF (names);
  return cells;
}

/* What of a trace tells whether a walk that failed has left something behind. */
typedef struct
{
  GantryTrace *trace;
  GantryRegion *region;
  guint n_hosts, n_assigned;
} Mark;

static Mark
mark_of (GantryTrace *trace)
{
  return (Mark){ trace, trace->region, trace->root->hosts->len, trace->root->n_assigned };
}

/* Whether the function called itself too often because a variable decides where that ends: on level LAX it is left to the run, which
 * knows the variable. What never ends, what is to be differentiated, and what has done something already keeps the error. */
static gboolean
ends_by_data (const GantryPyFrame *frame, const Mark *before, PyObject *args, PyObject *kwargs)
{
  GantryTrace *trace = gantry_py_trace (frame->state), *root = trace->root;
  const GantryPyNode *too_deep = root->too_deep;

  if (too_deep != frame->node || trace->strict || trace != before->trace || trace->region != before->region || root->too_deep_in == before->region
      || root->hosts->len != before->n_hosts || root->n_assigned != before->n_assigned)
    return FALSE;
  for (const GantryPyFrame *outer = frame->caller; outer != NULL; outer = outer->caller)
    if (outer->node == too_deep)
      return FALSE;
  for (GantryTrace *t = trace; t != NULL; t = t != root ? t->parent : NULL)
    if (t->gradient != NULL || t->record)
      return FALSE;
  return gantry_py_holds_variable (args) || (kwargs != NULL && gantry_py_holds_variable (kwargs));
}

PyObject *
_gantry_py_call_function (GantryPyFrame *caller, PyObject *function, PyObject *args, PyObject *kwargs)
{
  GantryPyState *state = caller->state;
  GantryPyNode *node = gantry_py_source_function (state->sources, function);
  GantryPyFrame frame = { .state = state, .caller = caller, .node = node };
  Mark before = mark_of (gantry_py_trace (state));
  PyObject *result;

  if (node == NULL)
    return NULL;
  frame.globals = PyFunction_GET_GLOBALS (function);
  frame.cells = cells_of (function);
  frame.name = PyUnicode_AsUTF8 (((PyFunctionObject *) function)->func_qualname);
  result = run (&frame, args, kwargs, PyFunction_GET_DEFAULTS (function), PyFunction_GET_KW_DEFAULTS (function));
  Py_DECREF (frame.cells);
  if (result == NULL && ends_by_data (&frame, &before, args, kwargs))
    {
      PyErr_Clear ();
      forget_failure (before.trace->root);
      result = gantry_py_host_call (state, function, args, kwargs, GANTRY_PY_HANDLE);
    }
  return result;
}

/* Names that only one branch defines */

typedef struct
{
  PyObject ob_base;
  char *message;
} Undefined;

static void
undefined_dealloc (PyObject *self)
{
  PyTypeObject *type = Py_TYPE (self);

  g_free (((Undefined *) self)->message);
  type->tp_free (self);
  Py_DECREF (type);
}

PyObject *
gantry_py_undefined_type_new (PyObject *module)
{
  static PyType_Slot slots[] = { { Py_tp_dealloc, undefined_dealloc }, { 0, NULL } };
  static PyType_Spec spec = { .name = "_gantry.Undefined", .basicsize = sizeof (Undefined), .flags = Py_TPFLAGS_DEFAULT, .slots = slots };

  return PyType_FromModuleAndSpec (module, &spec, NULL);
}

PyObject *
_gantry_py_undefined_new (GantryPyState *state, const char *message)
{
  PyTypeObject *type = (PyTypeObject *) state->undefined_type;
  Undefined *undefined = (Undefined *) type->tp_alloc (type, 0);

  if (undefined != NULL)
    undefined->message = g_strdup (message);
  return (PyObject *) undefined;
}

gboolean
_gantry_py_is_undefined (GantryPyState *state, PyObject *value)
{
  return Py_IS_TYPE (value, (PyTypeObject *) state->undefined_type);
}

const char *
_gantry_py_undefined_message (PyObject *value)
{
  return ((Undefined *) value)->message;
}
