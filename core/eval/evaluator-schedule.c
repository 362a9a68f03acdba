/* SPDX-License-Identifier: Apache-2.0 */
/* What the evaluator finds out about an expression before the first block: what each node depends on, what is
 * needed at all, and the outermost place where it can be computed: once per block, or in the loop of a reduction
 * at the axis it depends on; the axes that most nodes depend on turn slowest. */
#include "core/eval/evaluator-private.h"
#include "core/base/error.h"
#include <string.h>

guint
_gantry_tx_arguments (const GantryTexpr *texpr, const GantryTx *tx, const guint32 **list)
{
  switch (tx->kind)
    {
    case GANTRY_TX_LOAD: *list = texpr->pool + tx->b; return tx->c;
    case GANTRY_TX_UNARY:
    case GANTRY_TX_CAST:
    case GANTRY_TX_BITCAST:
    case GANTRY_TX_REDUCE: *list = &tx->a; return 1;
    case GANTRY_TX_BINARY: *list = &tx->a; return 2;
    case GANTRY_TX_SELECT: *list = &tx->a; return 3;
    default: *list = NULL; return 0;
    }
}

static guint32
axes_mask (const GantryTexpr *texpr, const GantryTx *tx)
{
  guint32 mask = 0;

  for (guint32 i = 0; i < tx->c; i++)
    mask |= 1u << texpr->pool[tx->b + i];
  return mask;
}

/* Tries the operation on no lanes. */
static gboolean
has_arithmetic (const GantryTexpr *texpr, const GantryTx *tx)
{
  GantryLane none;

  switch (tx->kind)
    {
    case GANTRY_TX_UNARY: return _gantry_lanes_unary (tx->op, texpr->nodes[tx->a].type, &none, &none, 0);
    case GANTRY_TX_BINARY: return tx->op == GANTRY_OP_COMPARE || _gantry_lanes_binary (tx->op, tx->type, &none, &none, &none, 0);
    case GANTRY_TX_REDUCE: return _gantry_lane_identity (tx->op, tx->type, &none) && _gantry_lanes_binary (tx->op, tx->type, &none, &none, &none, 0);
    default: return TRUE;
    }
}

static gboolean
check_node (const GantryTexpr *texpr, GantryLiteral *const *inputs, const GantryTx *tx, GError **error)
{
  if (!gantry_element_is_compiled (tx->type))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "element type %s cannot be evaluated", gantry_element_name (tx->type));
      return FALSE;
    }
  if (tx->kind == GANTRY_TX_LOAD
      && (tx->a >= texpr->n_inputs || inputs[tx->a] == NULL || inputs[tx->a]->type->rank != tx->c || inputs[tx->a]->type->element != tx->type))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the value of operand %u does not have the type that the operation was made for", tx->a);
      return FALSE;
    }
  if (!has_arithmetic (texpr, tx))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s does not take elements of type %s",
                   gantry_op_info (tx->op) != NULL ? gantry_op_info (tx->op)->name : "an operation", gantry_element_name (texpr->nodes[tx->a].type));
      return FALSE;
    }
  return TRUE;
}

/* The value of a load of a splat depends on no index, provided that it is in range. */
static void
find_dependencies (GantryEvaluation *e)
{
  const GantryTexpr *texpr = e->texpr;
  const guint32 *arguments;

  for (guint32 i = 0; i < texpr->n_nodes; i++)
    {
      const GantryTx *tx = &texpr->nodes[i];
      guint n = _gantry_tx_arguments (texpr, tx, &arguments);

      for (guint j = 0; j < n; j++)
        e->depends[i] |= e->depends[arguments[j]];
      if (tx->kind == GANTRY_TX_INDEX)
        e->depends[i] = 1u << tx->a;
      else if (tx->kind == GANTRY_TX_REDUCE)
        e->depends[i] &= ~axes_mask (texpr, tx);
      else if (tx->kind == GANTRY_TX_LOAD)
        {
          e->loads[i] = _gantry_load_new (e, i);
          if (e->loads[i]->affine && e->loads[i]->n_guards == 0)
            e->depends[i] = e->loads[i]->splat ? 0 : e->loads[i]->offset.mask;
        }
    }
}

/* Marks what is to be computed for @root: index arithmetic of affine loads is not. */
static void
mark_needed (const GantryEvaluation *e, guint32 root, guint8 *needed)
{
  const guint32 *arguments;

  needed[root] = TRUE;
  for (guint32 i = root + 1; i-- > 0;)
    if (needed[i] && !(e->loads[i] != NULL && e->loads[i]->affine))
      {
        guint n = _gantry_tx_arguments (e->texpr, &e->texpr->nodes[i], &arguments);

        for (guint j = 0; j < n; j++)
          needed[arguments[j]] = TRUE;
      }
}

/* A product that goes into a sum, be it through a SELECT, is not rounded on its own: 1 when all users want it so. */
static void
find_exact (GantryEvaluation *e)
{
  const guint32 *arguments;

  for (guint32 i = e->texpr->n_nodes; i-- > 0;)
    {
      const GantryTx *tx = &e->texpr->nodes[i];
      guint n = _gantry_tx_arguments (e->texpr, tx, &arguments);

      for (guint j = 0; j < n; j++)
        {
          gboolean summed = tx->kind == GANTRY_TX_REDUCE && tx->op == GANTRY_OP_ADD;
          gboolean chosen = tx->kind == GANTRY_TX_SELECT && j > 0 && e->exact[i] == 1;

          e->exact[arguments[j]] |= summed || chosen ? 1 : 2;
        }
    }
}

static void
order_axes (const GantryEvaluation *e, GantryLoop *loop, const GArray *body)
{
  guint users[GANTRY_MAX_VARIABLES] = { 0 };

  for (guint i = 0; i < body->len; i++)
    for (guint a = 0; a < loop->n_axes; a++)
      users[loop->axes[a]] += e->depends[g_array_index (body, guint32, i)] >> loop->axes[a] & 1;
  for (guint i = 1; i < loop->n_axes; i++) /* insertion sort, stable: most users first */
    for (guint j = i; j > 0 && users[loop->axes[j]] > users[loop->axes[j - 1]]; j--)
      {
        guint axis = loop->axes[j];

        loop->axes[j] = loop->axes[j - 1];
        loop->axes[j - 1] = axis;
      }
}

/* The body of a reduction: what it needs that depends on its axes and on no axis of a reduction within. */
static gboolean
make_loop (GantryEvaluation *e, guint32 node, GError **error)
{
  const GantryTexpr *texpr = e->texpr;
  const GantryTx *tx = &texpr->nodes[node];
  g_autofree guint8 *needed = g_new0 (guint8, texpr->n_nodes);
  g_autoptr (GArray) body = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 own = axes_mask (texpr, tx);
  guint32 inner = 0;
  GantryLoop *loop = g_new0 (GantryLoop, 1);

  e->loops[node] = loop;
  loop->n_axes = tx->c;
  for (guint a = 0; a < loop->n_axes; a++)
    {
      loop->axes[a] = texpr->pool[tx->b + a];
      loop->lists[a] = g_array_new (FALSE, FALSE, sizeof (guint32));
    }
  mark_needed (e, tx->a, needed);
  for (guint32 i = 0; i < node; i++)
    if (needed[i] && texpr->nodes[i].kind == GANTRY_TX_REDUCE)
      inner |= axes_mask (texpr, &texpr->nodes[i]);
  if (inner & own)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "two nested reductions run over the same index");
      return FALSE;
    }
  for (guint32 i = 0; i < node; i++)
    if (needed[i] && (e->depends[i] & own) != 0 && (e->depends[i] & inner) == 0)
      g_array_append_val (body, i);
  order_axes (e, loop, body);
  for (guint i = 0; i < body->len; i++)
    {
      guint32 id = g_array_index (body, guint32, i);
      guint level = loop->n_axes - 1;

      while ((e->depends[id] >> loop->axes[level] & 1) == 0)
        level--;
      g_array_append_val (loop->lists[level], id);
    }
  return TRUE;
}

static gboolean
make_schedule (GantryEvaluation *e, GError **error)
{
  const GantryTexpr *texpr = e->texpr;
  guint32 all_axes = ~_gantry_evaluation_output_mask (e);

  mark_needed (e, texpr->root, e->needed);
  for (guint32 i = 0; i < texpr->n_nodes; i++)
    {
      if (!e->needed[i])
        continue;
      if (texpr->nodes[i].kind == GANTRY_TX_REDUCE && !make_loop (e, i, error))
        return FALSE;
      if ((e->depends[i] & all_axes) == 0)
        g_array_append_val (e->top, i);
      if (texpr->nodes[i].kind == GANTRY_TX_INDEX)
        e->used_coordinates |= e->depends[i];
      if (e->loads[i] != NULL)
        {
          e->used_coordinates |= e->loads[i]->offset.mask;
          for (guint g = 0; g < e->loads[i]->n_guards; g++)
            e->used_coordinates |= e->loads[i]->guards[g].index.mask;
        }
    }
  e->used_coordinates &= _gantry_evaluation_output_mask (e);
  return TRUE;
}

static gboolean
check_expression (const GantryTexpr *texpr, GantryLiteral *const *inputs, GError **error)
{
  const guint32 *arguments;

  g_assert (texpr->rank + texpr->n_axes <= GANTRY_MAX_VARIABLES && texpr->rank <= GANTRY_MAX_RANK);
  for (guint32 i = 0; i < texpr->n_nodes; i++)
    {
      guint n = _gantry_tx_arguments (texpr, &texpr->nodes[i], &arguments);

      for (guint j = 0; j < n; j++)
        g_assert (arguments[j] < i);
      if (!check_node (texpr, inputs, &texpr->nodes[i], error))
        return FALSE;
    }
  return TRUE;
}

void
_gantry_evaluation_clear (GantryEvaluation *e)
{
  for (guint32 i = 0; i < e->texpr->n_nodes; i++)
    {
      g_free (e->affines[i]);
      _gantry_load_free (e->loads[i]);
      if (e->loops[i] != NULL)
        for (guint a = 0; a < e->loops[i]->n_axes; a++)
          g_array_unref (e->loops[i]->lists[a]);
      g_free (e->loops[i]);
    }
  g_array_unref (e->top);
  g_free (e->depends);
  g_free (e->needed);
  g_free (e->exact);
  g_free (e->affines);
  g_free (e->loads);
  g_free (e->loops);
  g_free (e->values);
  g_free (e->poison);
  g_free (e->poisoned);
  g_free (e->coordinates);
}

gboolean
_gantry_evaluation_init (GantryEvaluation *e, const GantryTexpr *texpr, GantryLiteral *const *inputs, GError **error)
{
  guint32 n = texpr->n_nodes;

  memset (e, 0, sizeof *e);
  e->texpr = texpr;
  e->inputs = inputs;
  e->top = g_array_new (FALSE, FALSE, sizeof (guint32));
  e->depends = g_new0 (guint32, n);
  e->needed = g_new0 (guint8, n);
  e->exact = g_new0 (guint8, n);
  e->affines = g_new0 (GantryAffine *, n);
  e->loads = g_new0 (GantryLoad *, n);
  e->loops = g_new0 (GantryLoop *, n);
  e->values = g_new (GantryLane, (gsize) n * GANTRY_LANES);
  e->poison = g_new (guint8, (gsize) n * GANTRY_LANES);
  e->poisoned = g_new0 (guint8, n);
  e->coordinates = g_new (gint64, MAX (texpr->rank, 1) * GANTRY_LANES);
  if (!check_expression (texpr, inputs, error))
    return FALSE;
  _gantry_evaluation_find_affines (e);
  find_dependencies (e);
  find_exact (e);
  return make_schedule (e, error);
}
