/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of the evaluator. Indices that are sums of multiples of index variables (nearly all) become
 * one affine offset, so that a load is an addition and a copy per lane; a dimension whose range the
 * variables' extents do not prove keeps a check per lane. Other indices are evaluated like any node.
 * A lane out of range reads nothing and is poisoned: whether that matters is decided by SELECT. */
#include "core/eval/evaluator-private.h"
#include <string.h>

static gint64
extent_of (const GantryTexpr *texpr, guint variable)
{
  return variable < texpr->rank ? texpr->shape[variable] : texpr->axes[variable - texpr->rank];
}

/* Returns: FALSE when coefficients or any value that they can give overflow. */
static gboolean
affine_add (const GantryTexpr *texpr, GantryAffine *r, const GantryAffine *x, gint64 factor)
{
  guint n = texpr->rank + texpr->n_axes;
  gint64 reach = 0; /* bound of the absolute value, doubled for safety of partial sums */
  gint64 term;

  if (__builtin_mul_overflow (x->base, factor, &term) || __builtin_add_overflow (r->base, term, &r->base))
    return FALSE;
  for (guint v = 0; v < n; v++)
    {
      if (__builtin_mul_overflow (x->coefficients[v], factor, &term) || __builtin_add_overflow (r->coefficients[v], term, &r->coefficients[v]))
        return FALSE;
      r->mask = r->coefficients[v] != 0 ? r->mask | 1u << v : r->mask & ~(1u << v);
      if (r->coefficients[v] == G_MININT64 || __builtin_mul_overflow (ABS (r->coefficients[v]), MAX (extent_of (texpr, v), 1), &term)
          || __builtin_add_overflow (reach, term, &reach))
        return FALSE;
    }
  return r->base != G_MININT64 && !__builtin_add_overflow (reach, ABS (r->base), &reach) && reach < G_MAXINT64 / 4;
}

static void
affine_range (const GantryTexpr *texpr, const GantryAffine *x, gint64 *low, gint64 *high)
{
  *low = *high = x->base;
  for (guint v = 0; v < texpr->rank + texpr->n_axes; v++)
    {
      gint64 reach = x->coefficients[v] * MAX (extent_of (texpr, v) - 1, 0);

      *(reach < 0 ? low : high) += reach;
    }
}

static gboolean
find_affine (const GantryEvaluation *e, guint32 node, GantryAffine *r)
{
  const GantryTexpr *texpr = e->texpr;
  const GantryTx *tx = &texpr->nodes[node];
  const GantryAffine *a, *b;

  if (tx->type != GANTRY_I64)
    return FALSE;
  if (tx->kind == GANTRY_TX_CONST)
    {
      r->base = tx->i;
      return ABS (tx->i / 4) < G_MAXINT64 / 16;
    }
  if (tx->kind == GANTRY_TX_INDEX)
    {
      r->coefficients[tx->a] = 1;
      r->mask = 1u << tx->a;
      return TRUE;
    }
  if (tx->kind != GANTRY_TX_BINARY || (a = e->affines[tx->a]) == NULL || (b = e->affines[tx->b]) == NULL)
    return FALSE;
  if (tx->op == GANTRY_OP_ADD || tx->op == GANTRY_OP_SUBTRACT)
    return affine_add (texpr, r, a, 1) && affine_add (texpr, r, b, tx->op == GANTRY_OP_ADD ? 1 : -1);
  if (tx->op == GANTRY_OP_MULTIPLY && b->mask == 0)
    return affine_add (texpr, r, a, b->base);
  if (tx->op == GANTRY_OP_MULTIPLY && a->mask == 0)
    return affine_add (texpr, r, b, a->base);
  return FALSE;
}

void
_gantry_evaluation_find_affines (GantryEvaluation *e)
{
  GantryAffine r;

  for (guint32 i = 0; i < e->texpr->n_nodes; i++)
    {
      memset (&r, 0, sizeof r);
      if (find_affine (e, i, &r))
        e->affines[i] = g_memdup2 (&r, sizeof r);
    }
}

static void
add_guard (GantryLoad *load, const GantryAffine *index, gint64 extent)
{
  GantryGuard *guard;

  load->guards = g_renew (GantryGuard, load->guards, load->n_guards + 1);
  guard = &load->guards[load->n_guards++];
  guard->index = *index;
  guard->extent = extent;
}

/* Returns: FALSE when the indices have to be evaluated. */
static gboolean
make_affine (const GantryEvaluation *e, const GantryTx *tx, GantryLoad *load)
{
  gint64 low, high;

  for (guint d = 0; d < load->rank; d++)
    {
      const GantryAffine *index = e->affines[e->texpr->pool[tx->b + d]];

      if (index == NULL || !affine_add (e->texpr, &load->offset, index, load->strides[d]))
        return FALSE;
      affine_range (e->texpr, index, &low, &high);
      if (low < 0 || high >= load->dims[d])
        add_guard (load, index, load->dims[d]);
    }
  return TRUE;
}

GantryLoad *
_gantry_load_new (GantryEvaluation *e, guint32 node)
{
  const GantryTx *tx = &e->texpr->nodes[node];
  const GantryLiteral *literal = e->inputs[tx->a];
  GantryLoad *load = g_new0 (GantryLoad, 1);
  gint64 stride = 1;

  load->type = literal->type->element;
  load->rank = tx->c;
  load->data = literal->data;
  load->splat = literal->splat;
  for (guint d = load->rank; d-- > 0;)
    {
      load->dims[d] = literal->type->dims[d];
      load->strides[d] = literal->splat ? 0 : stride;
      stride *= load->dims[d];
    }
  load->affine = make_affine (e, tx, load);
  if (!load->affine)
    load->n_guards = 0;
  return load;
}

void
_gantry_load_free (GantryLoad *load)
{
  if (load != NULL)
    {
      g_free (load->guards);
      g_free (load);
    }
}

/* What the output coordinates contribute to @affine, for each lane. */
static void
fill_lanes (const GantryEvaluation *e, const GantryAffine *affine, gint64 *lanes)
{
  guint32 mask = affine->mask & _gantry_evaluation_output_mask (e);

  memset (lanes, 0, e->n_lanes * sizeof *lanes);
  for (; mask != 0; mask &= mask - 1)
    {
      guint v = (guint) __builtin_ctz (mask);
      const gint64 *coordinates = e->coordinates + v * GANTRY_LANES;
      gint64 coefficient = affine->coefficients[v];

      for (guint l = 0; l < e->n_lanes; l++)
        lanes[l] += coefficient * coordinates[l];
    }
}

static gint64
delta_of (const GantryEvaluation *e, const GantryAffine *affine)
{
  guint32 mask = affine->mask & ~_gantry_evaluation_output_mask (e);
  gint64 delta = affine->base;

  for (; mask != 0; mask &= mask - 1)
    {
      guint v = (guint) __builtin_ctz (mask);

      delta += affine->coefficients[v] * e->variables[v];
    }
  return delta;
}

static GantryLanePattern
pattern_of (const gint64 *lanes, guint n)
{
  guint l = 1;

  if (n == 1 || lanes[1] == lanes[0])
    {
      while (l < n && lanes[l] == lanes[0])
        l++;
      return l == n ? GANTRY_LANES_SAME : GANTRY_LANES_ANYHOW;
    }
  while (l < n && lanes[l] == lanes[0] + l)
    l++;
  return l == n ? GANTRY_LANES_STEP : GANTRY_LANES_ANYHOW;
}

void
_gantry_load_begin_block (GantryEvaluation *e, GantryLoad *load)
{
  if (!load->affine)
    return;
  fill_lanes (e, &load->offset, load->lanes);
  load->pattern = pattern_of (load->lanes, e->n_lanes);
  for (guint i = 0; i < load->n_guards; i++)
    {
      GantryGuard *guard = &load->guards[i];

      fill_lanes (e, &guard->index, guard->lanes);
      guard->low = guard->high = guard->lanes[0];
      for (guint l = 1; l < e->n_lanes; l++)
        {
          guard->low = MIN (guard->low, guard->lanes[l]);
          guard->high = MAX (guard->high, guard->lanes[l]);
        }
    }
}

static void
load_within (const GantryLoad *load, GantryLane *r, gint64 delta, guint n)
{
  if (load->pattern == GANTRY_LANES_STEP)
    _gantry_lanes_copy (load->type, r, load->data, load->lanes[0] + delta, n);
  else if (load->pattern == GANTRY_LANES_SAME)
    {
      _gantry_lanes_copy (load->type, r, load->data, load->lanes[0] + delta, 1);
      for (guint l = 1; l < n; l++)
        r[l] = r[0];
    }
  else
    _gantry_lanes_gather (load->type, r, load->data, load->lanes, delta, n);
}

static gboolean
load_affine (const GantryEvaluation *e, const GantryLoad *load, GantryLane *r, guint8 *poison, guint n)
{
  gint64 delta = delta_of (e, &load->offset);
  gint64 safe[GANTRY_LANES];
  gboolean bad = FALSE;

  for (guint i = 0; i < load->n_guards; i++)
    {
      const GantryGuard *guard = &load->guards[i];
      gint64 part = delta_of (e, &guard->index);

      if (guard->low + part >= 0 && guard->high + part < guard->extent)
        continue;
      if (!bad)
        memset (poison, 0, n);
      bad = TRUE;
      for (guint l = 0; l < n; l++)
        poison[l] |= (guint64) (guard->lanes[l] + part) >= (guint64) guard->extent;
    }
  if (!bad)
    {
      load_within (load, r, delta, n);
      return FALSE;
    }
  for (guint l = 0; l < n; l++)
    safe[l] = poison[l] ? -delta : load->lanes[l];
  for (guint l = 0; l < n; l++)
    r[l].u = 0;
  if (memchr (poison, 0, n) != NULL) /* else there may be no element at all */
    _gantry_lanes_gather (load->type, r, load->data, safe, delta, n);
  return TRUE;
}

static gboolean
load_anywhere (const GantryEvaluation *e, const GantryTx *tx, const GantryLoad *load, GantryLane *r, guint8 *poison, guint n)
{
  gint64 offsets[GANTRY_LANES] = { 0 };

  memset (poison, 0, n);
  for (guint d = 0; d < load->rank; d++)
    {
      guint32 index = e->texpr->pool[tx->b + d];
      const GantryLane *x = _gantry_evaluation_lanes (e, index);
      const guint8 *inherited = e->poisoned[index] ? e->poison + (gsize) index * GANTRY_LANES : NULL;

      for (guint l = 0; l < n; l++)
        {
          poison[l] |= x[l].u >= (guint64) load->dims[d] || (inherited != NULL && inherited[l]);
          offsets[l] = poison[l] ? 0 : offsets[l] + x[l].i * load->strides[d];
        }
    }
  for (guint l = 0; l < n; l++)
    r[l].u = 0;
  if (memchr (poison, 0, n) != NULL)
    _gantry_lanes_gather (load->type, r, load->data, offsets, 0, n);
  return memchr (poison, 1, n) != NULL;
}

void
_gantry_load_evaluate (GantryEvaluation *e, guint32 node, guint n)
{
  const GantryLoad *load = e->loads[node];
  GantryLane *r = _gantry_evaluation_lanes (e, node);
  guint8 *poison = e->poison + (gsize) node * GANTRY_LANES;

  if (load->affine)
    e->poisoned[node] = load_affine (e, load, r, poison, n);
  else
    e->poisoned[node] = load_anywhere (e, &e->texpr->nodes[node], load, r, poison, n);
}
