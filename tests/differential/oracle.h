/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the oracle share. */
#pragma once
#include "core/graph/operation.h"
#include "tests/differential/differential.h"

G_BEGIN_DECLS

/** The values of one run of the oracle live until it ends: they are shared freely. */
typedef struct
{
  const GantryModule *module;
  GPtrArray *owned; /* DiffValue */
} DiffOracle;

/* Values (oracle-value.c) */

/** @value: (transfer full): floats as f64. @error: (transfer full) (nullable) */
DiffValue *_diff_value_new (DiffOracle *oracle, const GantryType *type, GantryLiteral *value, double *error);
/** A value of which nothing is known. */
DiffValue *_diff_value_open (DiffOracle *oracle, const GantryType *type);
/** @type with f64 in place of any float. */
const GantryType *_diff_type_as_double (GantryContext *context, const GantryType *type);
/** The literal with f64 in place of any float. Returns: (transfer full) */
GantryLiteral *_diff_literal_as_double (GantryContext *context, GantryLiteral *literal);
/** @values: one for each element of @type; made a literal of f64 of its shape. Returns: (transfer full) */
GantryLiteral *_diff_doubles (GantryContext *context, const GantryType *type, const double *values);
/** All elements. Returns: (transfer full) */
double *_diff_read_doubles (const GantryLiteral *literal);
gboolean _diff_is_exact (const DiffValue *value);

/* Rounding (oracle-round.c) */

/** Half a unit in the last place, relative: 2^-24 for f32. */
double _diff_unit (GantryElementType element);
/** The error of storing @v, computed to within @steps units of the type that arithmetic is done in. */
double _diff_rounding (GantryElementType element, double v, double steps);
/** Whether @v is a number of that type. */
gboolean _diff_representable (GantryElementType element, double v);
/** Relative error of a sum of @n terms, of the sum of their magnitudes. */
double _diff_sum_error (GantryElementType element, gint64 n);
/** |a - b|; 0 for two NaN or equal infinities, infinity where only one is such. */
double _diff_distance (double a, double b);
/** Units that an elementwise operation of floats may be off by; 0: exact. */
double _diff_steps (guint op);
/** An elementwise operation of floats. @direction: of a comparison */
double _diff_scalar (guint op, const char *direction, const double *x);

/* One node (oracle-twin.c) */

/**
 * _diff_twin:
 * @sum: only the sum of a convolution, not what follows it
 * @kind: (nullable): in place of the node's attribute of that name
 *
 * Evaluates a node with operands of other element types than it has in the program: floats as f64, or the errors of its
 * operands. Attributes that name a float type name f64.
 */
gboolean _diff_twin (const GantryModule *module, const GantryNode *node, gboolean sum, const char *kind, GantryLiteral *const *operands,
                     GantryLiteral **results, GError **error);
guint _diff_n_results (const GantryModule *module, const GantryNode *node);
const GantryType *_diff_result_type (const GantryModule *module, const GantryNode *node, guint i);

/* Rules (oracle-rules.c, oracle-sums.c, oracle-order.c): all but structure and control */
gboolean _diff_apply (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, DiffValue **results, GError **error);
gboolean _diff_apply_sum (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, double *error_out, const double *value, GError **error);
gboolean _diff_apply_scatter (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, double *error_out, const double *value, GError **error);
gboolean _diff_apply_sort (const DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, double **errors, GError **error);
/** Copies the errors through an operation that only moves elements. */
gboolean _diff_move_errors (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, guint n_data, double *error_out, GError **error);

G_END_DECLS
