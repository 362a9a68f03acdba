/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates a tensor expression for GANTRY_LANES output elements at a time, by the schedule that
 * evaluator-schedule.c makes. Nothing is walked recursively but nested reductions, and those are at
 * most GANTRY_MAX_RANK deep. */
#include "core/eval/evaluator-private.h"
#include "core/base/error.h"
#include <string.h>

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
  guint n_arguments = _gantry_tx_arguments (e->texpr, tx, &arguments);
  guint8 *poison = e->poison + (gsize) id * GANTRY_LANES;
  const GantryLane *predicate = tx->kind == GANTRY_TX_SELECT ? _gantry_evaluation_lanes (e, tx->a) : NULL;
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

  if (_gantry_lanes_are_float (type) && type != GANTRY_F64 && e->exact[id] != 1)
    _gantry_lanes_round (GANTRY_F32, r, n);
}

static void
evaluate_reduce (GantryEvaluation *e, guint32 id, guint n)
{
  const GantryTx *tx = &e->texpr->nodes[id];
  const GantryLoop *loop = e->loops[id];
  GantryLane *r = _gantry_evaluation_lanes (e, id);
  const GantryLane *x = _gantry_evaluation_lanes (e, tx->a);
  guint8 *poison = e->poison + (gsize) id * GANTRY_LANES;
  const guint8 *from = e->poison + (gsize) tx->a * GANTRY_LANES;
  GantryLane identity = { 0 };
  int level = 0;

  _gantry_lane_identity (tx->op, tx->type, &identity);
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
      _gantry_lanes_binary (tx->op, tx->type, r, r, x, n);
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
  const GantryLane *p = _gantry_evaluation_lanes (e, tx->a);
  const GantryLane *x = _gantry_evaluation_lanes (e, tx->b);
  const GantryLane *y = _gantry_evaluation_lanes (e, tx->c);

  for (guint l = 0; l < n; l++)
    r[l].u = p[l].u != 0 ? x[l].u : y[l].u;
}

static void
compute (GantryEvaluation *e, guint32 id, guint n)
{
  const GantryTx *nodes = e->texpr->nodes;
  const GantryTx *tx = &nodes[id];
  GantryLane *r = _gantry_evaluation_lanes (e, id);
  const GantryLane *x = _gantry_evaluation_lanes (e, tx->kind == GANTRY_TX_CONST ? id : tx->a);

  switch ((GantryTxKind) tx->kind)
    {
    case GANTRY_TX_CONST:
      r[0].i = tx->i; /* or f: one union */
      if (_gantry_lanes_are_float (tx->type))
        _gantry_lanes_round (tx->type, r, 1);
      for (guint l = 1; l < n; l++)
        r[l] = r[0];
      break;
    case GANTRY_TX_UNARY:
      _gantry_lanes_unary (tx->op, nodes[tx->a].type, r, x, n);
      round_arithmetic (e, id, r, n);
      break;
    case GANTRY_TX_BINARY:
      if (tx->op == GANTRY_OP_COMPARE)
        _gantry_lanes_compare (tx->direction, nodes[tx->a].type, r, x, _gantry_evaluation_lanes (e, tx->b), n);
      else
        {
          _gantry_lanes_binary (tx->op, tx->type, r, x, _gantry_evaluation_lanes (e, tx->b), n);
          round_arithmetic (e, id, r, n);
        }
      break;
    case GANTRY_TX_SELECT: evaluate_select (e, tx, r, n); break;
    case GANTRY_TX_CAST: _gantry_lanes_cast (tx->type, nodes[tx->a].type, r, x, n); break;
    case GANTRY_TX_BITCAST: _gantry_lanes_bitcast (tx->type, nodes[tx->a].type, r, x, n); break;
    default: g_assert_not_reached ();
    }
}

static void
evaluate_node (GantryEvaluation *e, guint32 id)
{
  const GantryTx *tx = &e->texpr->nodes[id];
  gboolean uniform = (e->depends[id] & _gantry_evaluation_output_mask (e)) == 0;
  GantryLane *r = _gantry_evaluation_lanes (e, id);
  guint8 *poison = e->poison + (gsize) id * GANTRY_LANES;
  guint n = uniform ? 1 : e->n_lanes;

  if (tx->kind == GANTRY_TX_LOAD)
    _gantry_load_evaluate (e, id, n);
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
      _gantry_load_begin_block (e, e->loads[i]);
  evaluate_list (e, e->top);
  if (e->poisoned[root])
    {
      const guint8 *poison = e->poison + (gsize) root * GANTRY_LANES;
      const guint8 *first_bad = memchr (poison, 1, e->n_lanes);

      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "element %" G_GINT64_FORMAT " of the result reads outside of an operand",
                   first + (gint64) (first_bad - poison));
      return FALSE;
    }
  _gantry_lanes_write (e->texpr->element, destination, _gantry_evaluation_lanes (e, root), e->n_lanes);
  return TRUE;
}

static GantryLiteral *
evaluate_all (GantryEvaluation *e, const GantryType *type, const GantryProgress *progress, GError **error)
{
  gsize size = gantry_element_size (type->element);
  guint8 *data;
  guint8 one[8];
  g_autoptr (GantryLiteral) literal = NULL;

  if (e->n_elements > 1 && (e->depends[e->texpr->root] & _gantry_evaluation_output_mask (e)) == 0)
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
      if (gantry_progress_cancelled (progress, error) || !evaluate_block (e, first, data + first * (gint64) size, error))
        return NULL;
    }
  return g_steal_pointer (&literal);
}

GantryLiteral *
_gantry_texpr_evaluate (const GantryTexpr *texpr, GantryLiteral *const *inputs, const GantryType *type, const GantryProgress *progress, GError **error)
{
  GantryEvaluation e;
  GantryLiteral *literal = NULL;
  gint64 n = gantry_type_elements (type);

  if (n < 0 || gantry_type_bytes (type) < 0 || type->element != texpr->element)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the result's type is not the static tensor type of its expression");
      return NULL;
    }
  if (_gantry_evaluation_init (&e, texpr, inputs, error))
    {
      e.n_elements = n;
      literal = evaluate_all (&e, type, progress, error);
    }
  _gantry_evaluation_clear (&e);
  return literal;
}
