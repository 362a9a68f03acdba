/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of dimensions as attributes give them, and how dimensions lie in memory. */
#pragma once
#include "core/ir/module.h"

G_BEGIN_DECLS

typedef struct
{
  const gint64 *ints; /* (unowned) */
  gsize n;
} GantryDimList;

static inline GantryDimList
gantry_dim_list (const GantryModule *module, const GantryNode *node, const char *key)
{
  GantryDimList list;

  list.ints = gantry_attrs_ints (module->context, node->attrs, key, &list.n);
  return list;
}

static inline gboolean
gantry_dim_list_contains (GantryDimList list, gint64 dim)
{
  for (gsize i = 0; i < list.n; i++)
    if (list.ints[i] == dim)
      return TRUE;
  return FALSE;
}

/** Elements from one place of @dim to the next. */
static inline gint64
gantry_dim_stride (const GantryType *type, guint dim)
{
  gint64 stride = 1;

  for (guint d = dim + 1; d < type->rank; d++)
    stride *= type->dims[d];
  return stride;
}

G_END_DECLS
