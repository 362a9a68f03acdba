/* SPDX-License-Identifier: Apache-2.0 */
/* Looks a name up in a table. */
#include "core/base/names.h"

guint
gantry_find_name (const char *const *names, guint n, const char *name)
{
  guint i;

  for (i = 0; i < n; i++)
    if (g_strcmp0 (name, names[i]) == 0)
      break;
  return i;
}
