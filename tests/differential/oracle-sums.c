/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of what sums: reductions, windows, products and convolutions. The error of a sum is what its terms bring along
 * and what the additions round, which is a share of the sum of the terms' magnitudes. */
#include "tests/differential/oracle.h"
#include <math.h>
#include <string.h>

/* |x| and the error of an operand. */
typedef struct
{
  double *size, *error;
  gint64 n;
} Magnitude;

static void
magnitude_clear (Magnitude *m)
{
  g_free (m->size);
  g_free (m->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Magnitude, magnitude_clear)

static Magnitude
magnitude_of (const DiffValue *value)
{
  Magnitude m = { .n = gantry_type_elements (value->type) };

  m.size = _diff_read_doubles (value->value);
  m.error = value->error != NULL ? g_memdup2 (value->error, sizeof *m.error * (gsize) (m.n + 1)) : g_new0 (double, m.n + 1);
  for (gint64 i = 0; i < m.n; i++)
    m.size[i] = fabs (m.size[i]);
  return m;
}

/* Sum of magnitudes that is exact in the type: all numbers are integers, and none of their sums too large. */
static gboolean
all_integers (const DiffValue *value)
{
  gint64 n = gantry_type_elements (value->type);

  if (!_diff_is_exact (value))
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    {
      double v = gantry_literal_get_double (value->value, i);

      if (v != trunc (v))
        return FALSE;
    }
  return TRUE;
}

/* Runs the node on made-up operands. Returns: (transfer full) (nullable): its values */
static double *
run (const DiffOracle *oracle, const GantryNode *node, const char *kind, DiffValue *const *operands, double *const *made, GError **error)
{
  g_autoptr (GPtrArray) literals = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  g_autoptr (GantryLiteral) result = NULL;

  for (guint i = 0; i < node->n_operands; i++)
    g_ptr_array_add (literals, _diff_doubles (oracle->module->context, operands[i]->type, made[i]));
  if (!_diff_twin (oracle->module, node, TRUE, kind, (GantryLiteral *const *) literals->pdata, &result, error))
    return NULL;
  return _diff_read_doubles (result);
}

/* a + s b, element by element. */
static double *
combine (const double *a, double s, const double *b, gint64 n)
{
  double *sum = g_new (double, n + 1);

  for (gint64 i = 0; i < n; i++)
    sum[i] = a[i] + s * b[i];
  return sum;
}

/* Products summed: |A| (eB + g |B|) + eA (|B| + eB), and the bias. */

static gint64
count_terms (const DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands)
{
  GantryContext *context = oracle->module->context;
  const GantryType *type = operands[0]->type;
  gint64 terms = 1;
  const gint64 *dims;
  gsize n;

  if (node->op == GANTRY_OP_CONVOLUTION)
    return MAX (gantry_type_elements (operands[1]->type) / MAX (operands[1]->type->dims[0], 1), 1);
  dims = gantry_attrs_ints (context, node->attrs,
                            node->op == GANTRY_OP_DOT_GENERAL ? "lhs_contracting_dimensions"
                            : node->op == GANTRY_OP_REDUCE    ? "dimensions"
                                                              : "window_dimensions",
                            &n);
  for (gsize i = 0; i < n; i++)
    terms *= node->op == GANTRY_OP_REDUCE_WINDOW ? dims[i] : type->dims[dims[i]];
  return MAX (terms, 1);
}

static gboolean
product_errors (const DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, const GantryType *type, double *errors, GError **error)
{
  g_auto (Magnitude) a = magnitude_of (operands[0]), b = magnitude_of (operands[1]);
  double gamma = _diff_sum_error (type->element, count_terms (oracle, node, operands) + (node->n_operands > 2));
  g_autofree double *second = combine (b.error, gamma, b.size, b.n), *whole = combine (b.size, 1, b.error, b.n);
  g_autofree double *bias = NULL, *none = NULL, *left = NULL, *right = NULL;
  gint64 n = gantry_type_elements (type);

  if (node->n_operands > 2)
    {
      g_auto (Magnitude) c = magnitude_of (operands[2]);

      bias = combine (c.error, gamma, c.size, c.n);
      none = g_new0 (double, c.n + 1);
    }
  left = run (oracle, node, NULL, operands, (double *const[]){ a.size, second, bias }, error);
  if (left == NULL)
    return FALSE;
  if (!_diff_is_exact (operands[0]))
    {
      right = run (oracle, node, NULL, operands, (double *const[]){ a.error, whole, none }, error);
      if (right == NULL)
        return FALSE;
    }
  for (gint64 i = 0; i < n; i++)
    errors[i] = left[i] + (right != NULL ? right[i] : 0);
  return TRUE;
}

/* Reductions */

static gboolean
extreme_errors (const DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, const double *value, gint64 n, double *errors, GError **error)
{
  g_autofree double *x = _diff_read_doubles (operands[0]->value);
  gint64 m = gantry_type_elements (operands[0]->type);
  g_autofree double *below = combine (x, -1, operands[0]->error, m), *above = combine (x, 1, operands[0]->error, m);
  g_autofree double *low = NULL, *high = NULL;

  for (gint64 i = 0; i < m; i++)
    if (isnan (x[i]) && operands[0]->error[i] != 0) /* it may be a number */
      {
        below[i] = -INFINITY;
        above[i] = INFINITY;
      }
  low = run (oracle, node, NULL, operands, (double *const[]){ below }, error);
  high = low != NULL ? run (oracle, node, NULL, operands, (double *const[]){ above }, error) : NULL;
  if (high == NULL)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    errors[i] = MAX (_diff_distance (low[i], value[i]), _diff_distance (high[i], value[i]));
  return TRUE;
}

/* Relative errors add up in a product. */
static gboolean
multiply_errors (const DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, const GantryType *type, double *errors, GError **error)
{
  g_auto (Magnitude) x = magnitude_of (operands[0]);
  g_autofree double *whole = combine (x.size, 1, x.error, x.n);
  g_autofree double *most = run (oracle, node, NULL, operands, (double *const[]){ whole }, error);
  g_autofree double *size = most != NULL ? run (oracle, node, NULL, operands, (double *const[]){ x.size }, error) : NULL;
  double gamma = _diff_sum_error (type->element, count_terms (oracle, node, operands));
  gint64 n = gantry_type_elements (type);

  if (size == NULL)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    errors[i] = most[i] * (1 + gamma) - size[i];
  return TRUE;
}

static gboolean
add_errors (const DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, const GantryType *type, double *errors, GError **error)
{
  g_auto (Magnitude) x = magnitude_of (operands[0]);
  double gamma = _diff_sum_error (type->element, count_terms (oracle, node, operands));
  g_autofree double *terms = combine (x.error, gamma, x.size, x.n);
  g_autofree double *sum = run (oracle, node, NULL, operands, (double *const[]){ terms }, error);
  gint64 n = gantry_type_elements (type);

  if (sum == NULL)
    return FALSE;
  memcpy (errors, sum, (gsize) n * sizeof *sum);
  return TRUE;
}

/* Integers: one term that is not known makes the result unknown. */
static gboolean
integer_errors (const DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, gint64 n, double *errors, GError **error)
{
  g_autofree double *made[3] = { NULL };
  g_autofree double *result = NULL;
  gboolean exact = TRUE;

  for (guint i = 0; i < node->n_operands; i++)
    exact = exact && _diff_is_exact (operands[i]);
  if (exact)
    return TRUE;
  if (node->n_operands > 1) /* of products it is not worth telling which */
    {
      for (gint64 i = 0; i < n; i++)
        errors[i] = INFINITY;
      return TRUE;
    }
  result = run (oracle, node, "max", operands, (double *const[]){ operands[0]->error }, error);
  if (result == NULL)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    errors[i] = result[i] > 0 ? INFINITY : 0;
  return TRUE;
}

/* What sums of integers, each exact in the type, give. */
static gboolean
is_integer_sum (const DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, const GantryType *type)
{
  const char *kind = gantry_attrs_string (oracle->module->context, node->attrs, "kind", "add");

  for (guint i = 0; i < node->n_operands; i++)
    if (!all_integers (operands[i]))
      return FALSE;
  return strcmp (kind, "add") == 0;
}

static gboolean
has_nan (const DiffValue *value)
{
  for (gint64 i = 0; i < gantry_type_elements (value->type); i++)
    if (isnan (gantry_literal_get_double (value->value, i)))
      return TRUE;
  return FALSE;
}

/* Whether a convolution multiplies weights by zeros around its operand is a back end's affair (docs/operations.md): it is seen where
 * a weight is no number. */
static gboolean
meets_padding (const DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands)
{
  GantryContext *context = oracle->module->context;
  gsize n_padding, n_dilation;
  const gint64 *padding = gantry_attrs_ints (context, node->attrs, "padding", &n_padding);
  const gint64 *dilation = gantry_attrs_ints (context, node->attrs, "lhs_dilation", &n_dilation);
  gboolean zeros = FALSE;

  for (gsize i = 0; i < n_padding; i++)
    zeros = zeros || padding[i] > 0;
  for (gsize i = 0; i < n_dilation; i++)
    zeros = zeros || dilation[i] > 1;
  return node->op == GANTRY_OP_CONVOLUTION && zeros && has_nan (operands[1]);
}

/* Is a sum that is no number so for sure? Where a term is: not where two infinities might meet. */
static gboolean
knows_nans (const DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands)
{
  for (guint k = 0; k < node->n_operands; k++)
    for (gint64 i = 0; i < gantry_type_elements (operands[k]->type); i++)
      {
        double v = gantry_literal_get_double (operands[k]->value, i), e = operands[k]->error != NULL ? operands[k]->error[i] : 0;

        if (isinf (v) || !isfinite (e) || (isnan (v) && e != 0))
          return FALSE;
      }
  return !meets_padding (oracle, node, operands);
}

gboolean
_diff_apply_sum (DiffOracle *oracle, const GantryNode *node, DiffValue *const *operands, double *errors, const double *value, GError **error)
{
  const GantryType *type = gantry_node_type (oracle->module, node);
  const char *kind = gantry_attrs_string (oracle->module->context, node->attrs, "kind", "add");
  gint64 n = gantry_type_elements (type);
  double gamma = _diff_sum_error (type->element, count_terms (oracle, node, operands));
  gboolean done, whole = is_integer_sum (oracle, node, operands, type), known = knows_nans (oracle, node, operands);

  if (!gantry_element_is_float (operands[0]->type->element))
    return integer_errors (oracle, node, operands, n, errors, error);
  if (strcmp (kind, "max") == 0 || strcmp (kind, "min") == 0)
    return _diff_is_exact (operands[0]) || extreme_errors (oracle, node, operands, value, n, errors, error);
  if (node->n_operands > 1)
    done = product_errors (oracle, node, operands, type, errors, error);
  else if (strcmp (kind, "mul") == 0)
    done = multiply_errors (oracle, node, operands, type, errors, error);
  else
    done = add_errors (oracle, node, operands, type, errors, error);
  for (gint64 i = 0; done && i < n; i++)
    {
      if (whole && errors[i] / gamma < 1 / _diff_unit (type->element) && _diff_representable (type->element, value[i]))
        errors[i] = 0;
      else
        errors[i] += _diff_rounding (type->element, value[i], 1);
      if (isnan (errors[i]))
        errors[i] = known && isnan (value[i]) ? 0 : INFINITY;
    }
  return done;
}
