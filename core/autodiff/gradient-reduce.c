/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives of reductions. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"
#include <string.h>

#define B d->builder

guint32
_gantry_diff_spread (GantryDiff *d, const GantryNode *node, guint32 x)
{
  const GantryType *type = _gantry_diff_operand_type (d, node, 0);
  gsize n, next = 0;
  const gint64 *axes = gantry_attrs_ints (d->context, node->attrs, "dimensions", &n);
  gint64 map[GANTRY_MAX_RANK];
  guint rank = 0;

  for (guint i = 0; i < type->rank; i++)
    if (next < n && axes[next] == i)
      next++;
    else
      map[rank++] = i;
  return gantry_builder_broadcast (B, x, type->rank, type->dims, map);
}

guint32
_gantry_diff_reduce (GantryDiff *d, const GantryNode *node, const char *kind, guint32 x)
{
  gsize n;
  const gint64 *axes = gantry_attrs_ints (d->context, node->attrs, "dimensions", &n);

  return gantry_builder_reduce (B, kind, x, axes, n);
}

/* The product of the others: y / x, but where just one factor is 0 it is that one's, and with
 * more there is none. */
static guint32
product_of_others (GantryDiff *d, const GantryNode *node, guint32 x)
{
  GantryElementType element = gantry_node_type (d->module, node)->element;
  guint32 is_zero = gantry_builder_compare (B, "EQ", x, _gantry_diff_splat_like (d, x, 0));
  guint32 safe = gantry_builder_select (B, is_zero, _gantry_diff_splat_like (d, x, 1), x);
  guint32 zeros = _gantry_diff_reduce (d, node, "add", gantry_builder_convert (B, is_zero, element));
  guint32 product = _gantry_diff_spread (d, node, _gantry_diff_reduce (d, node, "mul", safe));
  guint32 others = gantry_builder_binary (B, GANTRY_OP_SUBTRACT, _gantry_diff_spread (d, node, zeros), gantry_builder_convert (B, is_zero, element));
  guint32 none = gantry_builder_compare (B, "EQ", others, _gantry_diff_splat_like (d, others, 0));

  return _gantry_diff_where (d, none, gantry_builder_binary (B, GANTRY_OP_DIVIDE, product, safe));
}

void
_gantry_gradient_reduce (GantryDiff *d, const GantryNode *node, guint32 g)
{
  const char *kind = gantry_attrs_string (d->context, node->attrs, "kind", "");
  GantryElementType element = gantry_node_type (d->module, node)->element;
  guint32 x = _gantry_diff_operand (d, node, 0), equal;

  if (strcmp (kind, "add") == 0)
    {
      _gantry_diff_give (d, node, 0, _gantry_diff_spread (d, node, g));
      return;
    }
  if (strcmp (kind, "mul") == 0)
    {
      _gantry_diff_give (d, node, 0, _gantry_diff_multiply (d, _gantry_diff_spread (d, node, g), product_of_others (d, node, x)));
      return;
    }
  /* max, min: equal ones share, as in JAX */
  equal = gantry_builder_compare (B, "EQ", x, _gantry_diff_spread (d, node, _gantry_diff_result (d, node)));
  g = gantry_builder_binary (B, GANTRY_OP_DIVIDE, g, _gantry_diff_reduce (d, node, "add", gantry_builder_convert (B, equal, element)));
  _gantry_diff_give (d, node, 0, _gantry_diff_where (d, equal, _gantry_diff_spread (d, node, g)));
}
