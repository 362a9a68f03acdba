/* SPDX-License-Identifier: Apache-2.0 */
/* What came out against what may come out. */
#include "tests/differential/differential.h"
#include <math.h>

/* The bound holds to first order, and arithmetic may be arranged in another way than the program says (sums of
 * constants put together, a multiplication and an addition rounded once). */
#define SLACK 2.0

/* A bound above this share of the tensor's largest magnitude says little. */
#define NEAR 0.01

static double
largest (const DiffValue *value)
{
  gint64 n = gantry_type_elements (value->type);
  double most = 0;

  for (gint64 i = 0; i < n; i++)
    {
      double v = fabs (gantry_literal_get_double (value->value, i));

      if (isfinite (v))
        most = MAX (most, v);
    }
  return most;
}

static gboolean
is_same (const GantryType *type, const DiffValue *want, const GantryLiteral *got, gint64 i)
{
  double x, y;

  if (!gantry_element_is_float (type->element))
    return gantry_literal_get_int (want->value, i) == gantry_literal_get_int (got, i);
  x = gantry_literal_get_double (want->value, i);
  y = gantry_literal_get_double (got, i);
  return x == y || (isnan (x) && isnan (y));
}

static gboolean
is_near (const DiffValue *want, const GantryLiteral *got, gint64 i, double most, DiffCount *count)
{
  double bound = want->error[i], x = gantry_literal_get_double (want->value, i), y = gantry_literal_get_double (got, i);
  double distance = fabs (x - y);
  gboolean is_close = bound <= NEAR * most;

  if (is_close)
    count->near++;
  else
    count->loose++;
  if (!(distance <= SLACK * bound) && x != y && !(isnan (x) && isnan (y)))
    return FALSE;
  if (is_close && bound > 0)
    count->worst = MAX (count->worst, distance / bound);
  return TRUE;
}

static char *
describe (guint result, const DiffValue *want, const GantryLiteral *got, gint64 i)
{
  gboolean is_float = gantry_element_is_float (want->type->element);

  if (!is_float)
    return g_strdup_printf ("result %u, element %" G_GINT64_FORMAT ": %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT, result, i,
                            gantry_literal_get_int (got, i), gantry_literal_get_int (want->value, i));
  return g_strdup_printf ("result %u, element %" G_GINT64_FORMAT ": %.9g, expected %.9g within %.3g", result, i, gantry_literal_get_double (got, i),
                          gantry_literal_get_double (want->value, i), want->error != NULL ? SLACK * want->error[i] : 0.0);
}

static char *
compare_result (guint result, const DiffValue *want, const GantryLiteral *got, DiffCount *count)
{
  gint64 n = gantry_type_elements (want->type);
  double most = largest (want);

  if (!gantry_type_same_shape (want->type, got->type))
    return g_strdup_printf ("result %u is of another type", result);
  for (gint64 i = 0; i < n; i++)
    {
      double bound = want->error != NULL ? want->error[i] : 0;

      if (isinf (bound))
        count->open++;
      else if (bound == 0)
        {
          count->exact++;
          if (!is_same (want->type, want, got, i))
            return describe (result, want, got, i);
        }
      else if (!is_near (want, got, i, most, count))
        return describe (result, want, got, i);
    }
  return NULL;
}

char *
diff_compare (const GPtrArray *expected, const GPtrArray *got, DiffCount *count)
{
  for (guint i = 0; i < expected->len; i++)
    {
      char *difference = compare_result (i, g_ptr_array_index (expected, i), g_ptr_array_index (got, i), count);

      if (difference != NULL)
        return difference;
    }
  return NULL;
}

void
diff_count_add (DiffCount *count, const DiffCount *more)
{
  count->exact += more->exact;
  count->near += more->near;
  count->loose += more->loose;
  count->open += more->open;
  count->worst = MAX (count->worst, more->worst);
}
