/* SPDX-License-Identifier: Apache-2.0 */
/* How each kind of operation carries errors: elementwise ones by their values at the corners of the box that their
 * operands may lie in, moving ones by moving the errors. Sums stand in oracle-sums.c, sorting and scattering in
 * oracle-order.c. */
#include "tests/differential/oracle.h"
#include <math.h>
#include <string.h>

static double
error_at (const DiffValue *value, gint64 i)
{
  return value->error != NULL ? value->error[i] : 0;
}

static gboolean
all_exact (const GantryNode *node, DiffValue *const *operands)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (!_diff_is_exact (operands[i]))
      return FALSE;
  return TRUE;
}

/* Elementwise */

/* Whether the sign of a zero matters: which one a sum of zeros has nobody promises. */
static gboolean
tells_zeros (guint op, const double *x, guint n)
{
  gboolean zero = FALSE;

  for (guint i = 0; i < n; i++)
    zero = zero || x[i] == 0;
  return zero && (op == GANTRY_OP_ATAN2 || op == GANTRY_OP_DIVIDE || op == GANTRY_OP_POWER || op == GANTRY_OP_RSQRT);
}

/* Whether a pole lies between the corners, or a power of a negative number that is no number beside one that is (of a whole exponent):
 * the corners say nothing then. */
static gboolean
has_pole (guint op, const double *x, const double *e)
{
  if (op == GANTRY_OP_DIVIDE || op == GANTRY_OP_REMAINDER)
    return e[1] > 0 && fabs (x[1]) <= e[1];
  if (op == GANTRY_OP_POWER && e[1] > 0 && x[0] - e[0] < 0)
    return TRUE;
  /* 1 to any power is 1, and so is anything to the power 0, NaN too. */
  if (op == GANTRY_OP_POWER && ((isnan (x[1]) && e[0] > 0 && fabs (x[0] - 1) <= e[0]) || (isnan (x[0]) && e[1] > 0 && fabs (x[1]) <= e[1])))
    return TRUE;
  return op == GANTRY_OP_TAN && floor ((x[0] - e[0]) / G_PI - 0.5) != floor ((x[0] + e[0]) / G_PI - 0.5);
}

/* Whether rounding decides if two numbers are equal: inside the box, which corners need not show. */
static gboolean
may_meet (guint op, const char *direction, const double *x, const double *e)
{
  gboolean tells_equal = op == GANTRY_OP_COMPARE && (strcmp (direction, "EQ") == 0 || strcmp (direction, "NE") == 0);

  return tells_equal && fabs (x[0] - x[1]) <= e[0] + e[1];
}

/* How far a remainder may jump: where the quotient passes a whole number inside the box, over the divisor's range. */
static double
remainder_jump (const double *x, const double *e)
{
  double divisor = fabs (x[1]) + e[1], size = fabs (x[0]), nearest = fabs (x[1]) - e[1];
  gboolean jumps = trunc ((size + e[0]) / nearest) != trunc (MAX (size - e[0], 0) / divisor);

  return !jumps ? 0 : size <= e[0] ? 2 * divisor : divisor;
}

/* The farthest that the corners lead away. */
static double
corners (guint op, const char *direction, const double *x, const double *e, guint n)
{
  double least = tells_zeros (op, x, n) ? 0x1p-149 : 0;
  double center = _diff_scalar (op, direction, x), worst = 0;

  for (guint i = 0; i < n; i++)
    if (!isfinite (e[i]))
      return INFINITY;
  if (has_pole (op, x, e) || may_meet (op, direction, x, e))
    return INFINITY;
  if (op == GANTRY_OP_REMAINDER)
    worst = remainder_jump (x, e);
  if (op == GANTRY_OP_SINE || op == GANTRY_OP_COSINE) /* turns between wide corners, with a slope of at most 1 */
    worst = MIN (e[0], 2);
  for (guint corner = 0; corner < 1u << n; corner++)
    {
      double at[3] = { 0 };

      for (guint i = 0; i < n; i++)
        at[i] = corner >> i & 1 ? x[i] + MAX (e[i], least) : x[i] - MAX (e[i], least);
      worst = MAX (worst, _diff_distance (_diff_scalar (op, direction, at), center));
    }
  return worst;
}

/* The arm that is taken, or, where rounding decides which, either. */
static double
select_error (DiffValue *const *operands, const double *a, const double *b, gint64 i)
{
  double distance;

  if (error_at (operands[0], i) == 0)
    return gantry_literal_get_int (operands[0]->value, i) != 0 ? error_at (operands[1], i) : error_at (operands[2], i);
  if (a == NULL)
    return INFINITY;
  distance = _diff_distance (a[i], b[i]);
  return distance + MAX (error_at (operands[1], i), error_at (operands[2], i));
}

static double *
select_errors (DiffValue *const *operands, gint64 n)
{
  gboolean is_float = gantry_element_is_float (operands[1]->type->element);
  g_autofree double *a = is_float ? _diff_read_doubles (operands[1]->value) : NULL;
  g_autofree double *b = is_float ? _diff_read_doubles (operands[2]->value) : NULL;
  double *error = g_new0 (double, n + 1);

  for (gint64 i = 0; i < n; i++)
    error[i] = select_error (operands, a, b, i);
  return error;
}

/* A number of the type that only exact arithmetic leads to is what every way of computing gives. f64 is not computed in
 * anything wider, so that only integers are known to be exact. */
static gboolean
stays_exact (guint op, const GantryType *type, double value, const double *x, guint n)
{
  gboolean exact = _diff_representable (type->element, value);

  for (guint i = 0; type->element == GANTRY_F64 && i < n; i++)
    exact = exact && x[i] == trunc (x[i]) && fabs (value) < 0x1p53;
  return exact && (op == GANTRY_OP_ADD || op == GANTRY_OP_SUBTRACT || op == GANTRY_OP_MULTIPLY);
}

static double *
elementwise_errors (const DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, const GantryType *type, const GantryLiteral *value)
{
  const char *direction = gantry_attrs_string (oracle->module->context, node->attrs, "comparison_direction", "EQ");
  gint64 n = gantry_type_elements (type);
  double *error = g_new0 (double, n + 1), steps = _diff_steps (node->op);
  gboolean to_float = gantry_element_is_float (type->element);
  g_autofree double *v = to_float ? _diff_read_doubles (value) : NULL;
  double *x[3] = { NULL };

  g_assert (node->n_operands <= 3);
  for (guint k = 0; k < node->n_operands; k++)
    x[k] = _diff_read_doubles (operands[k]->value);
  for (gint64 i = 0; i < n; i++)
    {
      double at[3] = { 0 }, e[3] = { 0 };

      for (guint k = 0; k < node->n_operands; k++)
        {
          at[k] = x[k][i];
          e[k] = error_at (operands[k], i);
        }
      if (e[0] != 0 || e[1] != 0 || e[2] != 0 || tells_zeros (node->op, at, node->n_operands))
        error[i] = corners (node->op, direction, at, e, node->n_operands);
      else if (to_float && stays_exact (node->op, type, v[i], at, node->n_operands))
        continue;
      if (!to_float)
        error[i] = error[i] != 0 ? INFINITY : 0;
      else if (steps > 0)
        error[i] += _diff_rounding (type->element, v[i], steps);
    }
  for (guint k = 0; k < node->n_operands; k++)
    g_free (x[k]);
  return error;
}

/* Integers and booleans: known, or nothing is known. */
static double *
open_errors (const GantryNode *node, DiffValue *const *operands, gint64 n)
{
  double *error = g_new0 (double, n + 1);

  for (guint k = 0; k < node->n_operands; k++)
    for (gint64 i = 0; operands[k]->error != NULL && i < n; i++)
      if (operands[k]->error[i] != 0)
        error[i] = INFINITY;
  return error;
}

/* Truncation towards integers, and to bool. */
static double *
convert_errors (DiffValue *const *operands, const GantryType *type, const GantryLiteral *value)
{
  const GantryType *from = operands[0]->type;
  gint64 n = gantry_type_elements (type);
  double *error = g_new0 (double, n + 1);
  g_autofree double *x = _diff_read_doubles (operands[0]->value), *v = _diff_read_doubles (value);
  gboolean narrower = !gantry_element_is_float (from->element) || _diff_unit (type->element) > _diff_unit (from->element)
                      || (type->element == GANTRY_F16 && from->element == GANTRY_BF16);

  for (gint64 i = 0; i < n; i++)
    {
      double e = error_at (operands[0], i);

      if (!gantry_element_is_float (type->element))
        error[i] = e == 0 || (gantry_element_is_float (from->element) && type->element != GANTRY_BOOL && trunc (x[i] - e) == trunc (x[i] + e) && isfinite (e))
                     ? 0
                     : INFINITY;
      else if (!gantry_element_is_float (from->element))
        error[i] = e != 0 ? INFINITY : _diff_representable (type->element, v[i]) ? 0 : _diff_rounding (type->element, v[i], 1);
      else
        error[i] = e + (narrower && (e != 0 || !_diff_representable (type->element, v[i])) ? _diff_rounding (type->element, v[i], 1) : 0);
    }
  return error;
}

/* The bits of a float are known where its value is, to the last one. */
static gboolean
bitcast (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, DiffValue **result, GError **error)
{
  GantryContext *context = oracle->module->context;
  const GantryType *from = operands[0]->type, *type = gantry_node_type (oracle->module, node);
  gint64 n = gantry_type_elements (from);
  g_autoptr (GantryLiteral) own = NULL;
  g_autoptr (GantryLiteral) bits = NULL;
  double *errors = open_errors (node, operands, n);
  guint8 *data;

  own = gantry_literal_new_zeroed (from, &data);
  if (gantry_element_is_float (from->element))
    for (gint64 i = 0; i < n; i++)
      {
        double v = gantry_literal_get_double (operands[0]->value, i);

        gantry_element_write_double (from->element, data + i * gantry_element_size (from->element), v);
        /* Which NaN or zero it is nobody promises. */
        if (isnan (v) || v == 0 || !_diff_representable (from->element, v))
          errors[i] = INFINITY;
      }
  else
    gantry_literal_copy_to (operands[0]->value, data);
  {
    g_autoptr (GBytes) bytes = g_bytes_new (own->data, own->size);

    bits = gantry_literal_new (type, bytes, FALSE, error);
  }
  if (bits == NULL)
    {
      g_free (errors);
      return FALSE;
    }
  *result = _diff_value_new (oracle, type, _diff_literal_as_double (context, bits), errors);
  return TRUE;
}

/* Movement */

gboolean
_diff_move_errors (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, guint n_data, double *error_out, GError **error)
{
  GantryContext *context = oracle->module->context;
  g_autoptr (GPtrArray) moved = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  g_autoptr (GantryLiteral) result = NULL;
  g_autofree double *values = NULL;
  gint64 n = gantry_type_elements (gantry_node_type (oracle->module, node));

  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryType *type = operands[i]->type;
      g_autofree double *zeros = g_new0 (double, gantry_type_elements (type) + 1);

      if (i >= n_data && !_diff_is_exact (operands[i])) /* an index that rounding decides */
        {
          for (gint64 k = 0; k < n; k++)
            error_out[k] = INFINITY;
          return TRUE;
        }
      g_ptr_array_add (moved, i >= n_data ? gantry_literal_ref (operands[i]->value)
                                          : _diff_doubles (context, type, operands[i]->error != NULL ? operands[i]->error : zeros));
    }
  if (!_diff_twin (oracle->module, node, FALSE, NULL, (GantryLiteral *const *) moved->pdata, &result, error))
    return FALSE;
  values = _diff_read_doubles (result);
  memcpy (error_out, values, (gsize) n * sizeof *values);
  return TRUE;
}

static guint
count_data (const GantryNode *node)
{
  switch (node->op)
    {
    case GANTRY_OP_GATHER:
    case GANTRY_OP_DYNAMIC_SLICE: return 1;
    case GANTRY_OP_DYNAMIC_UPDATE_SLICE: return 2;
    default: return node->n_operands;
    }
}

static double *
iota_errors (const GantryType *type, const GantryLiteral *value)
{
  gint64 n = gantry_type_elements (type);
  double *error = g_new0 (double, n + 1);

  for (gint64 i = 0; gantry_element_is_float (type->element) && i < n; i++)
    {
      double v = gantry_literal_get_double (value, i);

      error[i] = _diff_representable (type->element, v) ? 0 : _diff_rounding (type->element, v, 1);
    }
  return error;
}

/* One operation */

static double *
errors_of (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, GantryLiteral *const *values, GError **error)
{
  const GantryType *type = _diff_result_type (oracle->module, node, 0);
  const GantryOpInfo *info = gantry_op_info (node->op);
  gint64 n = gantry_type_elements (type);
  g_autofree double *errors = NULL, *v = NULL;
  gboolean done;

  switch (node->op)
    {
    case GANTRY_OP_IOTA: return iota_errors (type, values[0]);
    case GANTRY_OP_SELECT: return select_errors (operands, n);
    case GANTRY_OP_CONVERT: return convert_errors (operands, type, values[0]);
    default: break;
    }
  if (info->flags & GANTRY_OP_ELEMENTWISE)
    return gantry_element_is_float (operands[0]->type->element) ? elementwise_errors (oracle, node, operands, type, values[0])
                                                                : open_errors (node, operands, n);
  errors = g_new0 (double, n + 1);
  v = _diff_read_doubles (values[0]);
  if (node->op == GANTRY_OP_SCATTER)
    done = _diff_apply_scatter (oracle, node, operands, errors, v, error);
  else if (info->op_class == GANTRY_CLASS_REDUCTION || info->op_class == GANTRY_CLASS_CONTRACTION)
    done = _diff_apply_sum (oracle, node, operands, errors, v, error);
  else if (all_exact (node, operands))
    done = TRUE;
  else
    done = _diff_move_errors (oracle, node, operands, count_data (node), errors, error);
  return done ? g_steal_pointer (&errors) : NULL;
}

/* What does not fit into the type may be infinite on one back end and large on another. */
static void
open_overflows (const GantryType *type, const GantryLiteral *value, double *errors)
{
  gint64 n = gantry_type_elements (type);

  for (gint64 i = 0; i < n; i++)
    {
      double v = gantry_element_is_float (type->element) ? gantry_literal_get_double (value, i) : 0;

      if (isnan (errors[i]) || (isfinite (v) && !isfinite (_diff_rounding (type->element, fabs (v) + errors[i], 2)) && v != 0))
        errors[i] = INFINITY;
    }
}

static gboolean
apply_several (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, GantryLiteral **values, DiffValue **results, GError **error)
{
  gboolean done = TRUE;
  guint n = _diff_n_results (oracle->module, node);
  g_autofree double **errors = g_new0 (double *, n + 1);

  for (guint i = 0; i < n; i++)
    errors[i] = g_new0 (double, gantry_type_elements (values[i]->type) + 1);
  if (node->op == GANTRY_OP_SORT)
    done = _diff_apply_sort (oracle, node, operands, errors, error);
  for (guint i = 0; i < n; i++)
    results[i] = _diff_value_new (oracle, _diff_result_type (oracle->module, node, i), values[i], errors[i]);
  return done;
}

gboolean
_diff_apply (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, DiffValue **results, GError **error)
{
  guint n = _diff_n_results (oracle->module, node);
  g_autofree GantryLiteral **literals = g_new0 (GantryLiteral *, node->n_operands + 1);
  g_autofree GantryLiteral **values = g_new0 (GantryLiteral *, n + 1);
  double *errors;

  if (node->op == GANTRY_OP_BITCAST_CONVERT)
    return bitcast (oracle, node, operands, &results[0], error);
  for (guint i = 0; i < node->n_operands; i++)
    literals[i] = operands[i]->value;
  if (!_diff_twin (oracle->module, node, FALSE, NULL, literals, values, error))
    return FALSE;
  if (node->op == GANTRY_OP_SORT || node->op == GANTRY_OP_RNG_BIT_GENERATOR)
    return apply_several (oracle, node, operands, values, results, error);
  errors = errors_of (oracle, node, operands, values, error);
  if (errors == NULL)
    return FALSE;
  open_overflows (_diff_result_type (oracle->module, node, 0), values[0], errors);
  results[0] = _diff_value_new (oracle, _diff_result_type (oracle->module, node, 0), values[0], errors);
  return TRUE;
}
