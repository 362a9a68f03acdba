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
  gpointer compiled;     /* (nullable): of the backend; NULL: walked, with the evaluator for what computes */
  GPtrArray *hosts;      /* GantryPyHostCall */
  PyObject *parameters;  /* list: inputs after those of the arguments */
  guint n_arguments;
  PyObject *output;      /* structure with variables in it */
  PyObject *origin;      /* (nullable): the list outside that is what is returned */
  GArray *kinds;         /* GantryPyValueKind (guint) of each result */
  guint n_outputs;       /* results that belong to @output; then come @updated, then what @lists hold */
  PyObject *updated;     /* list of Parameters that get a result */
  PyObject *lists;       /* list of (list outside, structure) */
  PyObject *kept;
} GantryPyProgram;

/** Calls the graph of @callable for these arguments, making it first where @cache (dict) has none. */
PyObject *gantry_py_graph_call (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, PyObject *cache,
                                PyObject *extra, gboolean strict, gboolean only_compile);
void gantry_py_program_free (GantryPyProgram *program);

/** Runs a module node by node: host calls are CPython's, the rest is evaluated. @results: (out) (transfer full) */
gboolean gantry_py_walk (GantryPyProgram *program, GantryLiteral *const *arguments, GantryLiteral **results);

/** @object with its Parameters replaced by what they are in the trace. Returns: a new reference */
PyObject *gantry_py_with_parameters (GantryPyState *state, PyObject *object);

/** _gantry.gradient (function, args, kwargs, positions, weights, sens, has_aux) */
PyObject *gantry_py_gradient (PyObject *module, PyObject *args);

/** Writes the nodes of @module into the innermost region; @arguments stand for its parameters. @results: (out) */
gboolean gantry_py_splice (GantryPyState *state, GantryModule *module, const guint32 *arguments, guint32 *results);

/** A program without cache, for one run: of a module whose arguments are the literals of @variables and results all tensors. */
gboolean gantry_py_run_module (GantryPyState *state, GantryModule *module, GPtrArray *hosts, GantryLiteral *const *arguments,
                               GantryLiteral **results);

G_END_DECLS
