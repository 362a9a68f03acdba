/* SPDX-License-Identifier: Apache-2.0 */
/* core/frontends/python/jax: functions in JAX's style become graphs. No source is read: CPython runs the function over
 * variables, and each operation adds a node to the trace (../trace.h). The modules `jax` and `optax` are written
 * over the functions of `_gantry` that stand here: staging a function, compiling and running what it gave, and the control flow
 * whose bodies are functions too. */
#pragma once
#include "core/frontends/python/trace.h"

G_BEGIN_DECLS

/**
 * GantryPyStaged: a graph made of a function of variables. In a capsule "gantry.staged".
 *
 * @compiled: (nullable): of the backend; NULL: not compiled yet, or it cannot be: then the evaluator runs it
 * @refusal: (nullable): why it cannot be compiled
 * @no_memory: the refusal is that the plan does not fit, which is an error and no reason to evaluate it
 */
typedef struct
{
  GantryPyState *state;
  GantryModule *module;
  gpointer compiled;
  char *refusal;
  gboolean tried;
  gboolean no_memory;
} GantryPyStaged;

/** Functions of the module `_gantry`; ends with an entry without a name. Static. */
PyMethodDef *gantry_py_jax_methods (void);

/** The next node stands where the innermost frame of a file of the user's is; what is computed from gradients is of the
 * update. */
void gantry_py_jax_set_place (GantryTrace *trace, const guint32 *operands, guint n);

/**
 * stage (function, parameters, name): runs function (*variables),
 *   which returns (values, memory kinds of the results, aliases)
 * @parameters: a tuple (element, shape, memory kind, name) each
 *
 * An alias is (parameter, result): the result is written over the parameter. Returns: a capsule
 */
PyObject *gantry_py_jax_stage (PyObject *module, PyObject *args);
/** compile (staged, policy): why statements of the policy decided nothing, or None. A graph that cannot be compiled is
 * evaluated, with a warning; one that does not fit is a MemoryError. */
PyObject *gantry_py_jax_compile (PyObject *module, PyObject *args);
/** run (staged, values, once): a tuple of values; what runs once and takes little is evaluated, not compiled */
PyObject *gantry_py_jax_run (PyObject *module, PyObject *args);
/** memory (staged): bytes by the plan, a dict of (device, host); None where it is not compiled */
PyObject *gantry_py_jax_memory (PyObject *module, PyObject *staged);
/** staged_text (staged, compiled): Gantry's text form, before or after the passes */
PyObject *gantry_py_jax_text (PyObject *module, PyObject *args);

/** scan (body, carries, xs, length, reverse): the last carries and the stacked ys */
PyObject *gantry_py_jax_scan (PyObject *module, PyObject *args);
/** branch (predicate, then, otherwise): what the functions without arguments give */
PyObject *gantry_py_jax_branch (PyObject *module, PyObject *args);
/** loop (condition, body, values): the values in the end */
PyObject *gantry_py_jax_loop (PyObject *module, PyObject *args);

G_END_DECLS
