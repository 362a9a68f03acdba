/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of core/base/random.h, by the element type of the operand. */
#include "app/cli/kernel-inputs.h"
#include "core/base/random.h"
#include "core/graph/literal.h"
#include <math.h>

gint64
gantry_kernel_input_bound (const GantryType *const *types, guint n)
{
  gint64 least = G_MAXINT64;

  for (guint i = 0; i < n; i++)
    for (guint d = 0; types[i] != NULL && d < types[i]->rank; d++)
      if (types[i]->dims[d] > 0)
        least = MIN (least, types[i]->dims[d]);
  return least < G_MAXINT64 ? least : 1;
}

void
gantry_kernel_input_fill (const GantryType *type, gint64 below, guint number, guint8 *data)
{
  GantryElementType element = (GantryElementType) type->element;
  guint64 start = gantry_random_start ("kernel operand", number);
  gint64 n = gantry_type_elements (type), size = (gint64) gantry_element_size (element);
  /* Of eight bits no more than a signed one has. */
  double most = (double) CLAMP (below, 1, size == 1 ? 127 : G_MAXINT32);

  for (gint64 i = 0; i < n; i++)
    {
      double u = gantry_random_at (start, (guint64) i);

      gantry_element_write_double (element, data + i * size,
                                   gantry_element_is_float (element) ? 2 * u - 1
                                   : element == GANTRY_BOOL          ? (double) (u >= 0.5)
                                                                     : floor (u * most));
    }
}
