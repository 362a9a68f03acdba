/* SPDX-License-Identifier: Apache-2.0 */
/* Records by key: sorted, searched in halves, compared. */
#include "core/base/keyed-array.h"
#include <string.h>

static int
compare_keys (gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return x < y ? -1 : x > y;
}

void
gantry_keyed_array_sort (GArray *array)
{
  g_array_sort (array, compare_keys);
}

gconstpointer
gantry_keyed_array_find (const GArray *array, guint64 key)
{
  guint found;

  if (!g_array_binary_search ((GArray *) array, &key, compare_keys, &found))
    return NULL;
  return array->data + (gsize) found * g_array_get_element_size ((GArray *) array);
}

gboolean
gantry_keyed_array_equal (const GArray *a, const GArray *b)
{
  return a->len == b->len && (a->len == 0 || memcmp (a->data, b->data, (gsize) a->len * g_array_get_element_size ((GArray *) a)) == 0);
}
