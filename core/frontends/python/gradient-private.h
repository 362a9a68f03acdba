/* SPDX-License-Identifier: Apache-2.0 */
/* A gradient while it is made. */
#pragma once
#include "core/frontends/python/program.h"

G_BEGIN_DECLS

/* A variable that the gradient is taken by. */
typedef struct
{
  PyObject *outer; /* borrowed: the value outside */
  guint32 inner;   /* node of the parameter */
  guint position;  /* among those that the module is differentiated by; UINT_MAX: its gradient is zero */
} GantryPyWanted;

typedef struct
{
  GantryPyState *state;
  GantryTrace *trace; /* of the function */
  GArray *wanted;     /* GantryPyWanted: positions first, then weights */
  guint n_positions;  /* of @wanted */
  gboolean integers;  /* they are differentiated too: one of them is wanted, or the function gives nothing else */
  PyObject *inner_args;
  PyObject *result; /* structure that the function gave, of the inner trace */
  GArray *ids;      /* of its results: those of @result, then changed state */
  GArray *kinds;
  guint n_values;    /* of @ids that belong to @result */
  guint n_main;      /* of them that count for the gradient */
  PyObject *changed; /* list of keys of the state */
  GantryModule *module;
  GArray *outputs;     /* guint: indices of the results that are differentiated: those of the function, then inputs of customs */
  guint n_own_outputs; /* of @outputs that the function's own cotangents are for */
  guint n_wanted;      /* of @wanted that were asked for; then come the zeros of customs */
  GPtrArray *customs;  /* GantryPyCustom: in the order of the calls */
  PyObject *seeds;     /* (nullable) dict: index in @outputs -> cotangent, of customs' inputs */
} GantryPyGradient;

/**
 * GantryPyCustom: a call of a Cell with a derivative of its own (`bprop`), or of a function with one (`custom_vjp`, `custom_jvp`).
 *
 * What the call gave stands behind stop_gradient, plus zeros that the gradient is wanted by as well: that gradient is the
 * cotangent of the result. Its inputs are results of the module, so that they take what `bprop` makes of it as their seeds.
 */
typedef struct
{
  PyObject *bprop, *args, *out;  /* of the inner trace */
  guint first_zero, n_zeros;     /* in @wanted */
  guint n_read;                  /* the last variables of @args, which `bprop` reads and gives no gradient of */
  guint first_id, n_args, n_out; /* in @ids: tensors of @args, then those of @out */
  guint first_output;            /* in @outputs: those of the inputs that are floats */
  PyObject *zeros;               /* list: what the zeros are outside */
} GantryPyCustom;

void _gantry_py_custom_free (gpointer custom);
/** The results of the module that belong to the calls. */
gboolean _gantry_py_customs_end (GantryPyGradient *gradient);
/** Where the gradient is part of a function that is differentiated: what stands for each call has the derivative by its rule there too. */
gboolean _gantry_py_customs_nest (GantryPyGradient *gradient, PyObject *sens);
/** Asks each `bprop`, the last call first, and leaves what it says in the seeds. */
gboolean _gantry_py_customs_run (GantryPyGradient *gradient, PyObject *sens);
/** Writes the module into the trace with the seeds as they are. @results: (out): of n_results of its entry */
guint32 *_gantry_py_gradient_splice (GantryPyGradient *gradient, PyObject *sens);
/** TRUE for tensors and numbers that have a gradient. */
gboolean _gantry_py_gradient_carries (const GantryPyGradient *gradient, const GantryType *type);
/** The gradient by the @w-th of what is wanted, among the @results of the spliced module. */
guint32 _gantry_py_gradient_by (const GantryPyGradient *gradient, const guint32 *results, guint w);
gboolean _gantry_py_gradient_add_values (GantryPyGradient *gradient, PyObject *structure);
PyObject *_gantry_py_gradient_want (GantryPyGradient *gradient, PyObject *value);
/**
 * _gantry_py_gradient_in_trace:
 * @kwargs: (nullable)
 * @sens: the tuple of the results' gradients, or None: ones
 *
 * While a graph is traced: differentiates @function and writes the result into the trace at once.
 *
 * Returns: (transfer full) (nullable): a tuple of what @function gives (with what has_aux adds), the list of gradients, those by the
 *  leaves of @positions before those by @weights, and how many are by positions; NULL with an exception
 */
PyObject *_gantry_py_gradient_in_trace (GantryPyState *state, PyObject *function, PyObject *args, PyObject *kwargs, PyObject *positions, PyObject *weights,
                                        PyObject *sens, gboolean has_aux);
PyObject *_gantry_py_gradient_recorded (GantryPyState *state, PyObject *function, PyObject *args, PyObject *kwargs, PyObject *positions, PyObject *weights,
                                        PyObject *sens, gboolean has_aux);

G_END_DECLS
