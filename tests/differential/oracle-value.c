/* SPDX-License-Identifier: Apache-2.0 */
/* Values with bounds: making them, and literals of f64 in place of other floats. */
#include "tests/differential/oracle.h"
#include <math.h>
#include <string.h>

void
diff_value_free (gpointer data)
{
  DiffValue *value = data;

  gantry_literal_unref (value->value);
  g_free (value->error);
  g_free (value);
}

/* An error of nothing but zeros is no error. */
static double *
drop_zeros (double *error, gint64 n)
{
  for (gint64 i = 0; error != NULL && i < n; i++)
    if (error[i] != 0)
      return error;
  g_free (error);
  return NULL;
}

DiffValue *
_diff_value_new (DiffOracle *oracle, const GantryType *type, GantryLiteral *value, double *error)
{
  DiffValue *result = g_new0 (DiffValue, 1);

  result->type = type;
  result->value = value;
  result->error = drop_zeros (error, gantry_type_elements (type));
  g_ptr_array_add (oracle->owned, result);
  return result;
}

DiffValue *
_diff_value_open (DiffOracle *oracle, const GantryType *type)
{
  gint64 n = gantry_type_elements (type);
  double *error = g_new (double, n + 1);

  for (gint64 i = 0; i < n; i++)
    error[i] = INFINITY;
  return _diff_value_new (oracle, type, gantry_literal_new_zeroed (_diff_type_as_double (oracle->module->context, type), NULL), error);
}

gboolean
_diff_is_exact (const DiffValue *value)
{
  return value->error == NULL;
}

const GantryType *
_diff_type_as_double (GantryContext *context, const GantryType *type)
{
  if (!gantry_element_is_float (type->element) || type->element == GANTRY_F64)
    return type;
  return gantry_context_type (context, gantry_context_tensor (context, GANTRY_F64, type->rank, type->dims));
}

GantryLiteral *
_diff_doubles (GantryContext *context, const GantryType *type, const double *values)
{
  gint64 n = gantry_type_elements (type);
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (gantry_context_type (context, gantry_context_tensor (context, GANTRY_F64, type->rank, type->dims)),
                                                      &data);

  if (n > 0)
    memcpy (data, values, (gsize) n * sizeof *values);
  return literal;
}

double *
_diff_read_doubles (const GantryLiteral *literal)
{
  gint64 n = gantry_type_elements (literal->type);
  double *values = g_new (double, n + 1);

  if (literal->type->element == GANTRY_F64 && !literal->splat)
    memcpy (values, literal->data, (gsize) n * sizeof *values);
  else
    for (gint64 i = 0; i < n; i++)
      values[i] = gantry_literal_get_double (literal, i);
  return values;
}

GantryLiteral *
_diff_literal_as_double (GantryContext *context, GantryLiteral *literal)
{
  g_autofree double *values = NULL;

  if (!gantry_element_is_float (literal->type->element) || literal->type->element == GANTRY_F64)
    return gantry_literal_ref (literal);
  values = _diff_read_doubles (literal);
  return _diff_doubles (context, literal->type, values);
}
