/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates a tensor expression for GANTRY_LANES output elements at a time. Before the first block
 * every node is given the outermost place where it can be computed: once per block, or in the loop of
 * a reduction at the axis it depends on; the axes that most nodes depend on turn slowest. Nothing
 * is walked recursively but nested reductions, and those are at most GANTRY_MAX_RANK deep. */
#include "core/ir/evaluator-private.h"
#include "core/base/error.h"
#include <string.h>

/* Poison and cancelling are looked at once in that many blocks. */
#define BLOCKS_BETWEEN_CHECKS 64

static guint
arguments_of (const GantryTexpr *texpr, const GantryTx *tx, const guint32 **list)
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
    case GANTRY_TX_UNARY: return gantry_lanes_unary (tx->op, texpr->nodes[tx->a].type, &none, &none, 0);
    case GANTRY_TX_BINARY:
      return tx->op == GANTRY_OP_COMPARE || gantry_lanes_binary (tx->op, tx->type, &none, &none, &none, 0);
    case GANTRY_TX_REDUCE:
      return gantry_lane_identity (tx->op, tx->type, &none) &&
             gantry_lanes_binary (tx->op, tx->type, &none, &none, &none, 0);
    default: return TRUE;
    }
}

static gboolean
check_node (const GantryTexpr *texpr, GantryLiteral *const *inputs, const GantryTx *tx, GError **error)
{
  if (!gantry_element_is_compiled (tx->type))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "element type %s cannot be evaluated",
                   gantry_element_name (tx->type));
      return FALSE;
    }
  if (tx->kind == GANTRY_TX_LOAD
      && (tx->a >= texpr->n_inputs || inputs[tx->a] == NULL || inputs[tx->a]->type->rank != tx->c
          || inputs[tx->a]->type->element != tx->type))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                   "the value of operand %u does not have the type that the operation was made for", tx->a);
      return FALSE;
    }
  if (!has_arithmetic (texpr, tx))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s does not take elements of type %s",
                   gantry_op_info (tx->op) != NULL ? gantry_op_info (tx->op)->name : "an operation",
                   gantry_element_name (texpr->nodes[tx->a].type));
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
      guint n = arguments_of (texpr, tx, &arguments);

      for (guint j = 0; j < n; j++)
        e->depends[i] |= e->depends[arguments[j]];
      if (tx->kind == GANTRY_TX_INDEX)
        e->depends[i] = 1u << tx->a;
      else if (tx->kind == GANTRY_TX_REDUCE)
        e->depends[i] &= ~axes_mask (texpr, tx);
      else if (tx->kind == GANTRY_TX_LOAD)
        {
          e->loads[i] = gantry_load_new (e, i);
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
        guint n = arguments_of (e->texpr, &e->texpr->nodes[i], &arguments);

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
      guint n = arguments_of (e->texpr, tx, &arguments);

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
  guint32 all_axes = ~gantry_evaluation_output_mask (e);

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
  e->used_coordinates &= gantry_evaluation_output_mask (e);
  return TRUE;
}

static gboolean
check_expression (const GantryTexpr *texpr, GantryLiteral *const *inputs, GError **error)
{
  const guint32 *arguments;

  g_assert (texpr->rank + texpr->n_axes <= GANTRY_MAX_VARIABLES && texpr->rank <= GANTRY_MAX_RANK);
  for (guint32 i = 0; i < texpr->n_nodes; i++)
    {
      guint n = arguments_of (texpr, &texpr->nodes[i], &arguments);

      for (guint j = 0; j < n; j++)
        g_assert (arguments[j] < i);
      if (!check_node (texpr, inputs, &texpr->nodes[i], error))
        return FALSE;
    }
  return TRUE;
}

static void
evaluation_clear (GantryEvaluation *e)
{
  for (guint32 i = 0; i < e->texpr->n_nodes; i++)
    {
      g_free (e->affines[i]);
      gantry_load_free (e->loads[i]);
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

static gboolean
evaluation_init (GantryEvaluation *e, const GantryTexpr *texpr, GantryLiteral *const *inputs, GError **error)
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
  gantry_evaluation_find_affines (e);
  find_dependencies (e);
  find_exact (e);
  return make_schedule (e, error);
}

/* Coordinates of the output elements @first.. along the dimensions that are used. */
static void
set_coordinates (GantryEvaluation *e, gint64 first)
{
  gint64 inner = 1;

  for (guint v = e->texpr->rank; v-- > 0;)
    {
      gint64 extent = e->texpr->shape[v];

      if (e->used_coordinates >> v & 1)
        {
          gint64 *lanes = e->coordinates + v * GANTRY_LANES;
          gint64 coordinate = first / inner % extent;
          gint64 phase = first % inner;

          for (guint l = 0; l < e->n_lanes; l++)
            {
              lanes[l] = coordinate;
              if (++phase == inner)
                {
                  phase = 0;
                  if (++coordinate == extent)
                    coordinate = 0;
                }
            }
        }
      inner *= extent;
    }
}

/* Poison of a node is that of its arguments; of SELECT that of the predicate and of the arm taken. */
static void
spread_poison (GantryEvaluation *e, guint32 id, guint n)
{
  const GantryTx *tx = &e->texpr->nodes[id];
  const guint32 *arguments;
  guint n_arguments = arguments_of (e->texpr, tx, &arguments);
  guint8 *poison = e->poison + (gsize) id * GANTRY_LANES;
  const GantryLane *predicate = tx->kind == GANTRY_TX_SELECT ? gantry_evaluation_lanes (e, tx->a) : NULL;
  guint8 any = 0;

  e->poisoned[id] = FALSE;
  for (guint j = 0; j < n_arguments; j++)
    {
      const guint8 *from = e->poison + (gsize) arguments[j] * GANTRY_LANES;

      if (!e->poisoned[arguments[j]])
        continue;
      if (!e->poisoned[id])
        memset (poison, 0, n);
      e->poisoned[id] = TRUE;
      for (guint l = 0; l < n; l++)
        poison[l] |= predicate == NULL || j == 0 || (predicate[l].u != 0) == (j == 1) ? from[l] : 0;
    }
  if (!e->poisoned[id])
    return;
  for (guint l = 0; l < n; l++)
    any |= poison[l];
  e->poisoned[id] = any != 0;
}

static void evaluate_node (GantryEvaluation *e, guint32 id);

static void
evaluate_list (GantryEvaluation *e, const GArray *list)
{
  for (guint i = 0; i < list->len; i++)
    evaluate_node (e, g_array_index (list, guint32, i));
}

/* Advances the innermost axis that has a next value. Returns: its level, -1 at the end. */
static int
advance (GantryEvaluation *e, const GantryLoop *loop)
{
  for (int level = (int) loop->n_axes - 1; level >= 0; level--)
    {
      guint variable = loop->axes[level];

      if (++e->variables[variable] < e->texpr->axes[variable - e->texpr->rank])
        return level;
      e->variables[variable] = 0;
    }
  return -1;
}

/* f16 and bf16 are computed with in f32: the last rounding is that of the result. */
static void
round_arithmetic (const GantryEvaluation *e, guint32 id, GantryLane *r, guint n)
{
  GantryElementType type = e->texpr->nodes[id].type;

  if (gantry_lanes_are_float (type) && type != GANTRY_F64 && e->exact[id] != 1)
    gantry_lanes_round (GANTRY_F32, r, n);
}

static void
evaluate_reduce (GantryEvaluation *e, guint32 id, guint n)
{
  const GantryTx *tx = &e->texpr->nodes[id];
  const GantryLoop *loop = e->loops[id];
  GantryLane *r = gantry_evaluation_lanes (e, id);
  const GantryLane *x = gantry_evaluation_lanes (e, tx->a);
  guint8 *poison = e->poison + (gsize) id * GANTRY_LANES;
  const guint8 *from = e->poison + (gsize) tx->a * GANTRY_LANES;
  GantryLane identity = { 0 };
  int level = 0;

  gantry_lane_identity (tx->op, tx->type, &identity);
  for (guint l = 0; l < n; l++)
    r[l] = identity;
  e->poisoned[id] = FALSE;
  memset (poison, 0, n);
  for (guint a = 0; a < loop->n_axes; a++)
    {
      e->variables[loop->axes[a]] = 0;
      if (e->texpr->axes[loop->axes[a] - e->texpr->rank] == 0)
        return;
    }
  do
    {
      for (guint i = (guint) level; i < loop->n_axes; i++)
        evaluate_list (e, loop->lists[i]);
      gantry_lanes_binary (tx->op, tx->type, r, r, x, n);
      if (e->poisoned[tx->a])
        {
          e->poisoned[id] = TRUE;
          for (guint l = 0; l < n; l++)
            poison[l] |= from[l];
        }
      level = advance (e, loop);
    }
  while (level >= 0);
  round_arithmetic (e, id, r, n);
}

static void
evaluate_index (GantryEvaluation *e, const GantryTx *tx, GantryLane *r, guint n)
{
  if (tx->a < e->texpr->rank)
    memcpy (r, e->coordinates + tx->a * GANTRY_LANES, n * sizeof *r);
  else
    for (guint l = 0; l < n; l++)
      r[l].i = e->variables[tx->a];
}

static void
evaluate_select (GantryEvaluation *e, const GantryTx *tx, GantryLane *r, guint n)
{
  const GantryLane *p = gantry_evaluation_lanes (e, tx->a);
  const GantryLane *x = gantry_evaluation_lanes (e, tx->b);
  const GantryLane *y = gantry_evaluation_lanes (e, tx->c);

  for (guint l = 0; l < n; l++)
    r[l].u = p[l].u != 0 ? x[l].u : y[l].u;
}

static void
compute (GantryEvaluation *e, guint32 id, guint n)
{
  const GantryTx *nodes = e->texpr->nodes;
  const GantryTx *tx = &nodes[id];
  GantryLane *r = gantry_evaluation_lanes (e, id);
  const GantryLane *x = gantry_evaluation_lanes (e, tx->kind == GANTRY_TX_CONST ? id : tx->a);

  switch ((GantryTxKind) tx->kind)
    {
    case GANTRY_TX_CONST:
      r[0].i = tx->i; /* or f: one union */
      if (gantry_lanes_are_float (tx->type))
        gantry_lanes_round (tx->type, r, 1);
      for (guint l = 1; l < n; l++)
        r[l] = r[0];
      break;
    case GANTRY_TX_UNARY:
      gantry_lanes_unary (tx->op, nodes[tx->a].type, r, x, n);
      round_arithmetic (e, id, r, n);
      break;
    case GANTRY_TX_BINARY:
      if (tx->op == GANTRY_OP_COMPARE)
        gantry_lanes_compare (tx->direction, nodes[tx->a].type, r, x, gantry_evaluation_lanes (e, tx->b), n);
      else
        {
          gantry_lanes_binary (tx->op, tx->type, r, x, gantry_evaluation_lanes (e, tx->b), n);
          round_arithmetic (e, id, r, n);
        }
      break;
    case GANTRY_TX_SELECT: evaluate_select (e, tx, r, n); break;
    case GANTRY_TX_CAST: gantry_lanes_cast (tx->type, nodes[tx->a].type, r, x, n); break;
    case GANTRY_TX_BITCAST: gantry_lanes_bitcast (tx->type, nodes[tx->a].type, r, x, n); break;
    default: g_assert_not_reached ();
    }
}

static void
evaluate_node (GantryEvaluation *e, guint32 id)
{
  const GantryTx *tx = &e->texpr->nodes[id];
  gboolean uniform = (e->depends[id] & gantry_evaluation_output_mask (e)) == 0;
  GantryLane *r = gantry_evaluation_lanes (e, id);
  guint8 *poison = e->poison + (gsize) id * GANTRY_LANES;
  guint n = uniform ? 1 : e->n_lanes;

  if (tx->kind == GANTRY_TX_LOAD)
    gantry_load_evaluate (e, id, n);
  else if (tx->kind == GANTRY_TX_REDUCE)
    evaluate_reduce (e, id, n);
  else if (tx->kind == GANTRY_TX_INDEX)
    evaluate_index (e, tx, r, n);
  else
    {
      compute (e, id, n);
      spread_poison (e, id, n);
    }
  if (n < e->n_lanes)
    {
      for (guint l = 1; l < e->n_lanes; l++)
        r[l] = r[0];
      if (e->poisoned[id])
        memset (poison + 1, poison[0], e->n_lanes - 1);
    }
}

static gboolean
evaluate_block (GantryEvaluation *e, gint64 first, guint8 *destination, GError **error)
{
  guint32 root = e->texpr->root;

  set_coordinates (e, first);
  for (guint32 i = 0; i < e->texpr->n_nodes; i++)
    if (e->needed[i] && e->loads[i] != NULL)
      gantry_load_begin_block (e, e->loads[i]);
  evaluate_list (e, e->top);
  if (e->poisoned[root])
    {
      const guint8 *poison = e->poison + (gsize) root * GANTRY_LANES;
      const guint8 *first_bad = memchr (poison, 1, e->n_lanes);

      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                   "element %" G_GINT64_FORMAT " of the result reads outside of an operand",
                   first + (gint64) (first_bad - poison));
      return FALSE;
    }
  gantry_lanes_write (e->texpr->element, destination, gantry_evaluation_lanes (e, root), e->n_lanes);
  return TRUE;
}

static GantryLiteral *
evaluate_all (GantryEvaluation *e, const GantryType *type, const GantryProgress *progress, GError **error)
{
  gsize size = gantry_element_size (type->element);
  guint8 *data;
  guint8 one[8];
  g_autoptr (GantryLiteral) literal = NULL;
  guint blocks = 0;

  if (e->n_elements > 1 && (e->depends[e->texpr->root] & gantry_evaluation_output_mask (e)) == 0)
    {
      e->n_lanes = 1;
      if (!evaluate_block (e, 0, one, error))
        return NULL;
      g_autoptr (GBytes) bytes = g_bytes_new (one, size);
      return gantry_literal_new (type, bytes, TRUE, error);
    }
  literal = gantry_literal_new_zeroed (type, &data);
  for (gint64 first = 0; first < e->n_elements; first += GANTRY_LANES)
    {
      e->n_lanes = (guint) MIN (GANTRY_LANES, e->n_elements - first);
      if (!evaluate_block (e, first, data + first * (gint64) size, error))
        return NULL;
      if (++blocks % BLOCKS_BETWEEN_CHECKS == 0 && gantry_progress_cancelled (progress, error))
        return NULL;
    }
  return g_steal_pointer (&literal);
}

GantryLiteral *
gantry_texpr_evaluate (const GantryTexpr *texpr, GantryLiteral *const *inputs, const GantryType *type,
                       const GantryProgress *progress, GError **error)
{
  GantryEvaluation e;
  GantryLiteral *literal = NULL;
  gint64 n = gantry_type_elements (type);

  if (n < 0 || gantry_type_bytes (type) < 0 || type->element != texpr->element)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                   "the result's type is not the static tensor type of its expression");
      return NULL;
    }
  if (evaluation_init (&e, texpr, inputs, error))
    {
      e.n_elements = n;
      literal = evaluate_all (&e, type, progress, error);
    }
  evaluation_clear (&e);
  return literal;
}
