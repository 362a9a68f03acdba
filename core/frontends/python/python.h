/* SPDX-License-Identifier: Apache-2.0 */
/* core/frontends/python: Python programs become graphs. It embeds CPython 3.11, which runs a user's program as it
 * would by itself; `import mindspore` finds Gantry's own modules. What is to be a graph (a function under `jit`, the
 * construct of a Cell in graph mode) is read from its source: `ast` parses the file once, the tree is copied into C
 * structures (source.h), and an abstract interpreter (interpreter-private.h) walks it: what is known while
 * compiling is computed by CPython itself, what is not becomes nodes of core/graph (trace.h). `import jax` finds modules whose
 * functions are run over variables instead (jax/jax.h). For child processes only. */
#pragma once
#include "core/graph/module.h"
#include <gio/gio.h>

G_BEGIN_DECLS

/** What a compiled graph takes by its plan, in bytes: [0] of device memory, [1] of the host's. Temporaries are values between
 *  steps; the scratch of single kernels is @workspaces. */
typedef struct
{
  guint64 arguments[2], outputs[2], aliases[2], temporaries[2], workspaces[2], code[2];
} GantryPythonMemory;

/**
 * GantryPythonBackend: what the rooms above give, so that this one need not know them. All are called from the one
 * thread that runs Python.
 *
 * @compile: (nullable): makes @module ready to run, with what the statements of @policy (nullable) place; NULL and
 *  %GANTRY_ERROR_UNSUPPORTED where the compiler cannot: then the evaluator runs it
 * @run: @arguments: one for each parameter of the entry, unchanged afterwards, @results: (out): one for each result, (transfer full);
 *  @cancellable: (nullable): ends it with %G_IO_ERROR_CANCELLED
 * @release: frees what compile gave
 * @memory: what the plan takes
 * @text: the module after the last pass in Gantry's text form, (transfer full)
 * @problems: statements of the policy that decided nothing and why, one a line; (transfer full) (nullable)
 * @export: writes the module as the model @path, whose ending says as what (.mindir, else ONNX); @names: (nullable elements): of each parameter of the
 * entry its name there,
 *  @values: (nullable elements): its value where it is a weight
 * @load: the MindIR model @path as a module of core operations in @context, ; @weights: (nullable) (out): values (GantryLiteral) of
 *  the weights, which are then its last parameters, else constants; @draws: (out): whether the first of them is the state that it draws random
 *  numbers from; @n_assigned: (out): so many of its last results are what parameters
 *  become, by their attribute `alias`; (transfer full)
 * @gradient: the module with one cotangent parameter more for each result of @outputs; its results are the gradients by
 *  the parameters of @inputs; @integers: as GantryGradientOptions has it
 */
typedef struct
{
  gpointer (*compile) (gpointer self, GantryModule *module, const char *policy, GError **error);
  gboolean (*run) (gpointer self, gpointer compiled, GantryLiteral *const *arguments, GantryLiteral **results, GCancellable *cancellable, GError **error);
  void (*release) (gpointer self, gpointer compiled);
  void (*memory) (gpointer self, gpointer compiled, GantryPythonMemory *memory);
  char *(*text) (gpointer self, gpointer compiled);
  char *(*problems) (gpointer self, gpointer compiled);
  gboolean (*export) (gpointer self, GantryModule *module, const char *path, const char *const *names, GantryLiteral *const *values, GError **error);
  GantryModule *(*load) (gpointer self, GantryContext *context, const char *path, GPtrArray **weights, gboolean *draws, guint *n_assigned, GError **error);
  GantryModule *(*gradient) (gpointer self, GantryModule *module, const guint *outputs, guint n_outputs, const guint *inputs, guint n_inputs, gboolean integers,
                             GError **error);
  gpointer self;
} GantryPythonBackend;

/**
 * GantryPythonOptions:
 * @interpreter: (nullable): the Python whose packages are used; NULL: $VIRTUAL_ENV, else the system's
 * @real: leave the user's own modules in place
 * @argv: (array length=argc): sys.argv; argv[0] is the program
 */
typedef struct
{
  const char *interpreter;
  gboolean real;
  const char *sha256; /* (nullable): of the program: anything else is not run */
  int argc;
  char **argv;
} GantryPythonOptions;

/** Why there is no Python in this build, or NULL where there is. */
const char *gantry_python_missing (void);

/**
 * gantry_python_run:
 *
 * Runs the program as `python program.py` would: output, exit status, an uncaught exception as a traceback on standard
 * error. Once in a process.
 *
 * Returns: the exit status; 2 with @error set when Python could not start
 */
int gantry_python_run (const GantryPythonOptions *options, const GantryPythonBackend *backend, GError **error);

/** One error of a program that was checked. */
typedef struct
{
  char *file;
  guint line, column; /* from 1; 0: not known */
  char *type;         /* "RuntimeError" */
  char *message;
  char *calls; /* (nullable): what called the function that it is in, innermost first: "file:line:column: called from here, in
                         Net.construct" a line */
} GantryPythonError;

void gantry_python_error_free (GantryPythonError *error);

/**
 * GantryPythonGraph: one graph that a program made.
 *
 * @name: of the function or Cell: "Net.construct"
 * @arguments: "f32[2,3], i64[]": types of its inputs, without those of parameters
 * @host_lines: (nullable): what only Python can do in it, "file:line: text" a line
 * @policy: (nullable): what the program says of the memory of its values, as statements of core/planner/policy/policy.h, one a line
 */
typedef struct
{
  char *name;
  char *arguments;
  char *host_lines;
  char *policy;
  GantryModule *module;
} GantryPythonGraph;

void gantry_python_graph_free (GantryPythonGraph *graph);

/** Most sources that a program is known to have imported; what is over that is not listed. */
#define GANTRY_PYTHON_MOST_SOURCES 4096u

/**
 * gantry_python_import:
 * @graphs: (out) (element-type GantryPythonGraph) (transfer full): in the order in which they were compiled
 * @errors: (out) (element-type GantryPythonError) (transfer full): what graphs could not be made for, and why; a
 *  graph that cannot be made does not end the program, which goes on with what CPython computes for the call
 *
 * @sources: (out) (element-type filename) (transfer full): of the modules that it imported from its own folder and the ones below,
 *  not of packages that are installed there: full paths in their order
 *
 * Runs the program and keeps its graphs. Returns: the exit status of the program
 */
int gantry_python_import (const GantryPythonOptions *options, const GantryPythonBackend *backend, GPtrArray **graphs, GPtrArray **errors, GPtrArray **sources,
                          GError **error);

G_END_DECLS
