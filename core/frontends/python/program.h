/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of functions: specialised for a signature, kept, and run. */
#pragma once
#include "core/frontends/python/interpreter-private.h"

G_BEGIN_DECLS

/** What a call of a graph does. Kept in a capsule by the function's cache. */
typedef struct
{
  GantryPyState *state;
  GantryContext *context;
  GantryModule *module;
  gpointer compiled;    /* (nullable): of the backend; NULL: walked, with the evaluator for what computes */
  GPtrArray *hosts;     /* GantryPyHostCall */
  PyObject *parameters; /* list: inputs after those of the arguments */
  guint n_arguments;
  PyObject *output;         /* structure with variables in it, and capsules for the lists outside of the graph */
  GArray *kinds;            /* GantryPyValueKind (guint) of each result */
  guint n_outputs;          /* results that belong to @output; then come @updated, then what @lists and @written hold */
  PyObject *updated;        /* list of Parameters that get a result */
  PyObject *lists;          /* list of (list outside, structure) */
  PyObject *written;        /* list of (held owner, name, structure): attributes that get a value when the graph has run */
  PyObject *reads;          /* (nullable) dict: key of an attribute of outside that the graph was made for -> held owner */
  PyObject *stale;          /* list of (key, held owner, name): what it reads and assigns, and no slot was known for */
  Py_ssize_t n_written;     /* attributes that graphs had assigned when @reads was last looked at */
  gboolean is_out_of_order; /* CPython does something in it, and @written is to stand in its order */
  PyObject *kept;
} GantryPyProgram;

#define GANTRY_PY_PROGRAM "gantry.program" /* the name of a capsule that holds one */

/** What a graph is made of. */
typedef struct
{
  PyObject *callable, *args, *kwargs;
  gboolean strict;
} GantryPyCall;

/** Calls the graph of @callable for these arguments, making it first where @cache (dict) has none. */
PyObject *gantry_py_graph_call (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, PyObject *cache, PyObject *extra, gboolean strict,
                                gboolean only_compile);
void gantry_py_program_free (GantryPyProgram *program);

/** Runs a module node by node: host calls are CPython's, the rest is evaluated. @results: (out) (transfer full) */
gboolean gantry_py_walk (GantryPyProgram *program, GantryLiteral *const *arguments, GantryLiteral **results);

/** @object with its Parameters replaced by what they are in the trace. Returns: a new reference */
PyObject *gantry_py_with_parameters (GantryPyState *state, PyObject *object);

/** @object with functions of the run in place of those that the graph makes. A new reference, NULL with an exception. */
PyObject *gantry_py_with_functions (GantryPyState *state, PyObject *object);

/** @object with its records, and all that they hold, as they are now; gantry_py_take_origins() makes objects of them. A new reference. */
PyObject *gantry_py_mark_records (GantryPyState *state, PyObject *object);
/** What a graph gives for @object: numbers of Python in place of NumPy's, and @strict tuples of their values in place of dicts. A new
 *  reference, NULL with an exception. */
PyObject *gantry_py_as_result (PyObject *object, gboolean strict);
/** @object with a capsule in place of each list that is one from outside, and its records marked; and the lists and objects in place
 *  of that. New references. */
PyObject *gantry_py_mark_origins (GantryPyState *state, PyObject *object);
/** @object with the lists, and new objects, that gantry_py_mark_origins() has put marks for. A new reference, NULL with an exception. */
PyObject *gantry_py_take_origins (PyObject *object);

/** What a call of @callable is specialised for, as a hashable object; its variables are added to @leaves in order. Returns: a new reference */
PyObject *
_gantry_py_signature (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, PyObject *extra, gboolean strict, GPtrArray *leaves);
/** What the function sees for its arguments: parameters of the trace in place of the variables. */
gboolean _gantry_py_abstract_arguments (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, PyObject **abstract_args,
                                        PyObject **abstract_kwargs);

/** What a slot holds, likewise; @is_input: its tensors and numbers are variables. */
PyObject *_gantry_py_slot_signature (GantryPyState *state, PyObject *value, gboolean is_input, GPtrArray *leaves);
/** What the function sees of a slot that is an input. Returns: a new reference */
PyObject *_gantry_py_abstract_slot (GantryPyState *state, PyObject *value, const char *name);

/** Walks the function with variables for its arguments. @slots: (nullable) (element-type GantryPySlot); @writes_at_end: attributes are
 *  assigned when the graph has run, not by host calls. Returns: (nullable): NULL with an exception */
GantryPyProgram *
gantry_py_trace_call (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, gboolean strict, GArray *slots, gboolean writes_at_end);
/** @program has been accepted: it is kept for whoever imports, and compiled. */
void gantry_py_program_ready (GantryPyState *state, GantryPyProgram *program, PyObject *callable);

/** The graph of @call that holds now, made where there is none. @leaves: its inputs of the arguments, to which those of its slots are
 *  added; @values: a list that keeps them. Returns: (nullable): a new reference to its capsule; NULL with an exception */
PyObject *gantry_py_variant (GantryPyState *state, PyObject *cache, PyObject *key, const GantryPyCall *call, GPtrArray *leaves, PyObject *values);
/** What CPython does in a program, "file:line: text" a line. Returns: (transfer full) (nullable): NULL where it does nothing */
char *gantry_py_host_lines (const GPtrArray *hosts);
/** _gantry.graph_text (callable, args, strict): the graph in Gantry's text form; RuntimeError where it needs Python to run */
PyObject *gantry_py_graph_text (PyObject *module, PyObject *args);

/** _gantry.splice_file (path, args, parameters): a MindIR model as part of the graph that is being made; its weights are @parameters, which it
 *  may assign, or constants (None). Returns: a tuple of its results */
PyObject *gantry_py_splice_file (PyObject *module, PyObject *args);
/** _gantry.file_weights (path). Returns: a list of names and values; the state that random numbers are drawn from is the first, and its
 *  name is None */
PyObject *gantry_py_file_weights (PyObject *module, PyObject *path);
/** _gantry.graph_file (callable, args, strict, path): writes the graph as MindIR or ONNX, by the ending; RuntimeError as graph_text() */
PyObject *gantry_py_graph_file (PyObject *module, PyObject *args);

/** What a Cell with a `bprop` of its own gave, where a gradient is being made. @n_read: how many of the variables of @args, the last ones,
 * @bprop only reads: it gives no gradient of them. Returns: a new reference: what stands for @out */
PyObject *gantry_py_custom_gradient (GantryPyState *state, PyObject *bprop, PyObject *args, guint n_read, PyObject *out);

/** _gantry.gradient (function, args, kwargs, positions, weights, sens, has_aux) */
PyObject *gantry_py_gradient (PyObject *module, PyObject *args);

/** Writes the nodes of @module into the innermost region; @arguments stand for its parameters. @results: (out) */
gboolean gantry_py_splice (GantryPyState *state, GantryModule *module, const guint32 *arguments, guint32 *results);

/** A program without cache, for one run: of a module whose arguments are the literals of @variables and results all tensors. */
gboolean gantry_py_run_module (GantryPyState *state, GantryModule *module, GPtrArray *hosts, GantryLiteral *const *arguments, GantryLiteral **results);
/** The same without the compiler: what it refuses. */
gboolean gantry_py_run_evaluated (GantryPyState *state, GantryModule *module, GPtrArray *hosts, GantryLiteral *const *arguments, GantryLiteral **results);

G_END_DECLS
