/* SPDX-License-Identifier: Apache-2.0 */
/* Orders for qsort() and g_array_sort(). */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** @a, @b: double *; ascending. Not for NaN */
static inline int
gantry_compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

G_END_DECLS
