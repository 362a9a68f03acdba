/* SPDX-License-Identifier: Apache-2.0 */
/* Small questions about integers that every room asks. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** Whether @value is one of the @n of @list, which may be NULL where @n is 0. */
static inline gboolean
gantry_ints_contain (const gint64 *list, gsize n, gint64 value)
{
  for (gsize i = 0; i < n; i++)
    if (list[i] == value)
      return TRUE;
  return FALSE;
}

/** The greatest common divisor, not negative; of 0 and x it is |x|. (Euclid's algorithm) */
static inline gint64
gantry_greatest_divisor (gint64 a, gint64 b)
{
  a = ABS (a);
  b = ABS (b);
  while (b != 0)
    {
      gint64 rest = a % b;

      a = b;
      b = rest;
    }
  return a;
}

G_END_DECLS
