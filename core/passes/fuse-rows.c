/* SPDX-License-Identifier: Apache-2.0 */
/* Which reductions may be computed within the kernel of what reads them: those over the innermost dimensions whose value goes,
 * through arithmetic on rows alone, into broadcasts that give each row its own number back. Softmax and
 * normalizations are of this kind: a kernel holds a row, and what it finds about it is used for the row's elements. A
 * reduction over outer dimensions is not: its row would lie across the whole operand. */
#include "core/passes/fuse-private.h"
#include "core/graph/operation.h"

/* With fewer rows there would be too little to do at once; shorter rows gain nothing. */
#define MIN_ROWS 32
#define MIN_LENGTH 8
#define MOST_STEPS 24 /* nodes between a reduction and its broadcasts */

typedef struct
{
  const GantryModule *module;
  const GantryUses *uses;
  const GantryType *whole; /* of the operand */
  guint row_rank;          /* dimensions that say which row */
  guint n;
  guint32 steps[MOST_STEPS]; /* positions: the reduction, then what is computed for each row */
} Closure;

static gboolean
reduces_innermost (const GantryModule *module, const GantryNode *node, const GantryType *whole)
{
  gsize n;
  const gint64 *dims = gantry_attrs_ints (module->context, node->attrs, "dimensions", &n);

  if (n == 0 || n >= whole->rank)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      gboolean inner = dims[i] >= (gint64) (whole->rank - n);

      for (gsize j = 0; j < i; j++)
        inner = inner && dims[j] != dims[i];
      if (!inner)
        return FALSE;
    }
  return TRUE;
}

/* One element for each row: the dimensions of the rows, and then none but ones. */
static gboolean
is_of_rows (const Closure *c, const GantryType *type)
{
  if (!gantry_type_is_tensor (type) || type->rank < c->row_rank)
    return FALSE;
  for (guint d = 0; d < type->rank; d++)
    if (type->dims[d] != (d < c->row_rank ? c->whole->dims[d] : 1))
      return FALSE;
  return TRUE;
}

static gboolean
is_whole (const Closure *c, const GantryType *type)
{
  if (!gantry_type_is_tensor (type) || type->rank != c->whole->rank)
    return FALSE;
  for (guint d = 0; d < type->rank; d++)
    if (type->dims[d] != c->whole->dims[d])
      return FALSE;
  return TRUE;
}

/* Each row's number for all elements of the row. */
static gboolean
gives_back (const Closure *c, const GantryNode *node)
{
  gsize n;
  const gint64 *to = gantry_attrs_ints (c->module->context, node->attrs, "broadcast_dimensions", &n);

  if (node->op != GANTRY_OP_BROADCAST_IN_DIM || !is_whole (c, gantry_node_type (c->module, node)))
    return FALSE;
  for (gsize d = 0; d < n; d++)
    if (to[d] != (gint64) d)
      return FALSE;
  return TRUE;
}

static gboolean
add_step (Closure *c, guint32 position)
{
  for (guint i = 0; i < c->n; i++)
    if (c->steps[i] == position)
      return TRUE;
  if (c->n == MOST_STEPS)
    return FALSE;
  c->steps[c->n++] = position;
  return TRUE;
}

/* Follows the values of rows to their broadcasts. Returns: FALSE when one is needed for something else */
static gboolean
follow (Closure *c, guint32 reduction)
{
  gboolean returns = FALSE;

  add_step (c, reduction);
  for (guint i = 0; i < c->n; i++)
    for (guint32 k = c->uses->first[c->steps[i]]; k < c->uses->first[c->steps[i] + 1]; k++)
      {
        guint32 user = c->uses->users[k];
        const GantryNode *node = user != G_MAXUINT32 ? &c->module->nodes[user] : NULL;
        const GantryOpInfo *info = node != NULL ? gantry_op_info (node->op) : NULL;

        if (info == NULL || node->phase != c->module->nodes[reduction].phase)
          return FALSE;
        if (gives_back (c, node))
          returns = TRUE;
        else if (!is_of_rows (c, gantry_node_type (c->module, node)) || (!(info->flags & GANTRY_OP_ELEMENTWISE) && node->op != GANTRY_OP_RESHAPE)
                 || !add_step (c, user))
          return FALSE;
      }
  return returns;
}

guint32 *
_gantry_fuse_find_rows (const GantryModule *module, const GantryUses *uses)
{
  guint32 *rows = g_new0 (guint32, module->n_nodes + 1);

  for (guint32 position = 0; position < module->n_nodes; position++)
    {
      const GantryNode *node = &module->nodes[position];
      Closure c = { .module = module, .uses = uses };

      if (node->op != GANTRY_OP_REDUCE)
        continue;
      c.whole = gantry_node_operand_type (module, node, 0);
      if (!gantry_type_is_static (c.whole) || !gantry_type_is_tensor (gantry_node_type (module, node)) || !reduces_innermost (module, node, c.whole))
        continue;
      c.row_rank = gantry_node_type (module, node)->rank;
      if (gantry_type_elements (gantry_node_type (module, node)) < MIN_ROWS
          || gantry_type_elements (c.whole) < MIN_LENGTH * gantry_type_elements (gantry_node_type (module, node)) || !follow (&c, position))
        continue;
      for (guint i = 0; i < c.n; i++)
        rows[c.steps[i]] = 1 + position;
    }
  return rows;
}
