/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of dimensions as attributes give them, and how dimensions lie in memory. */
#pragma once
#include "core/base/integers.h"
#include "core/graph/module.h"

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
  return gantry_ints_contain (list.ints, list.n, dim);
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

/** Dimensions that lie in memory like one; none: { 1, 1 }. */
typedef struct
{
  gint64 size, stride;
} GantryDimGroup;

/** Puts @dim of @type behind those of the group. Returns: FALSE when they do not lie like one */
static inline gboolean
gantry_dim_group_extend (GantryDimGroup *group, const GantryType *type, gint64 dim)
{
  gint64 size = type->dims[dim], stride = gantry_dim_stride (type, (guint) dim);

  if (size == 1)
    return TRUE;
  if (group->size == 1)
    *group = (GantryDimGroup){ size, stride };
  else if (group->stride == size * stride)
    *group = (GantryDimGroup){ group->size * size, stride };
  else
    return FALSE;
  return TRUE;
}

G_END_DECLS
