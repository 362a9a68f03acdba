/* SPDX-License-Identifier: Apache-2.0 */
/* What a group of threads does with its row: the terms of a reduction in turn, what its members found put together,
 * what the slices of a row leave for each other, and the results. Which groups there are is said in bind-cooperative.c.
 */
#include "core/kernels/schedule/loop-schedule.h"
#include "core/kernels/schedule/bind-cooperative-private.h"

#define WRITTEN_OUT 8 /* steps of a group along a row that are written out */

typedef struct
{
  GantryKxNode node;
  GantryElementType type; /* of the accumulators */
  gint64 count;           /* of terms */
  guint n_axes;
  guint axes[GANTRY_KX_MAX_VARS];
  guint32 identity;
  guint32 sums;  /* PRIVATE: one for each lane */
  guint32 terms; /* PRIVATE: what the lanes add next */
} Reduction;

/* Positions of a group along a row */

static gint64
steps_of (const GantryCooperation *c, gint64 count)
{
  gint64 at_once = c->hands * c->lanes;

  return (count + at_once - 1) / at_once;
}

/* The position that this thread takes at @step, at most count - lanes; @inside: (out): whether it is one at all, or
 * GANTRY_GRID_NONE when that is certain. With @lane, the lane's variable is part of it. */
static guint32
position (GantryCooperation *c, guint32 step, gint64 count, gboolean lane, guint32 *inside)
{
  GantryKx *kx = c->kx;
  gint64 n = count / c->lanes; /* in vectors */
  guint32 at = gantry_index_sum (kx, step, c->hands, c->hand, 1);

  *inside = GANTRY_GRID_NONE;
  if (n % c->hands != 0)
    {
      *inside = gantry_index_below (kx, at, n);
      at = gantry_index_minimum (kx, at, n - 1);
    }
  return lane && c->lanes > 1 ? gantry_index_sum (kx, at, c->lanes, gantry_kx_index (kx, c->lane), 1) : gantry_index_sum (kx, at, c->lanes, at, 0);
}

/* Reducing */

static guint32
combine (GantryCooperation *c, const Reduction *r, guint32 a, guint32 b)
{
  return gantry_kx_binary (c->kx, r->type, r->node.op, 0, a, b);
}

/* Adds the terms of one step to the sums. */
static void
reduce_step (GantryCooperation *c, Reduction *r, guint32 step)
{
  GantryKx *kx = c->kx;
  guint32 substitution[GANTRY_KX_MAX_VARS], inside, term, values[16];

  gantry_substitution_clear (substitution);
  gantry_substitution_decode (substitution, kx, position (c, step, r->count, TRUE, &inside), r->axes, r->n_axes);
  term = gantry_substitute (kx, substitution, r->node.a);
  gantry_grid_reduce_serial (c->grid, &term, 1);
  term = gantry_kx_cast (kx, r->type, term);
  if (inside != GANTRY_GRID_NONE)
    term = gantry_kx_select (kx, inside, term, r->identity);
  if (c->lanes == 1)
    {
      gantry_grid_set (c->grid, r->sums, gantry_index_const (kx, 0), combine (c, r, gantry_grid_get (c->grid, r->sums, gantry_index_const (kx, 0)), term));
      return;
    }
  gantry_grid_set_lanes (c->grid, r->terms, gantry_index_const (kx, 0), term, c->lane, c->lanes);
  gantry_grid_get_lanes (c->grid, r->terms, gantry_index_const (kx, 0), c->lanes, values);
  for (guint l = 0; l < c->lanes; l++)
    gantry_grid_set (c->grid, r->sums, gantry_index_const (kx, l), combine (c, r, gantry_grid_get (c->grid, r->sums, gantry_index_const (kx, l)), values[l]));
}

/* This thread's share of the reduction. */
static guint32
reduce_alone (GantryCooperation *c, Reduction *r)
{
  GantryKx *kx = c->kx;
  gint64 steps = steps_of (c, r->count);
  guint32 total;

  r->sums = gantry_grid_array (c->grid, GANTRY_SPACE_PRIVATE, r->type, c->lanes, 0, "sums");
  if (c->lanes > 1)
    r->terms = gantry_grid_array (c->grid, GANTRY_SPACE_PRIVATE, r->type, c->lanes, 0, "terms");
  for (guint l = 0; l < c->lanes; l++)
    gantry_grid_set (c->grid, r->sums, gantry_index_const (kx, l), r->identity);
  if (steps <= WRITTEN_OUT)
    for (gint64 step = 0; step < steps; step++)
      reduce_step (c, r, gantry_index_const (kx, step));
  else
    {
      reduce_step (c, r, gantry_grid_begin_for_to (c->grid, steps, FALSE));
      gantry_grid_end (c->grid);
    }
  total = gantry_grid_get (c->grid, r->sums, gantry_index_const (kx, 0));
  for (guint l = 1; l < c->lanes; l++)
    total = combine (c, r, total, gantry_grid_get (c->grid, r->sums, gantry_index_const (kx, l)));
  return gantry_grid_let (c->grid, total);
}

/* Every lane gets the result of the lanes whose numbers differ from its own below @width. */
static guint32
combine_lanes (GantryCooperation *c, const Reduction *r, guint32 x, guint width)
{
  for (guint mask = width / 2; mask > 0; mask /= 2)
    x = gantry_grid_let (c->grid, combine (c, r, x, gantry_grid_shuffle (c->grid, x, mask)));
  return x;
}

/* Rows: lanes of a warp, then the warps of the block through shared memory. */
static guint32
combine_along (GantryCooperation *c, const Reduction *r, guint32 x)
{
  GantryKx *kx = c->kx;
  guint n_warps = c->group / GANTRY_WARP;
  guint32 shared, lane;

  x = combine_lanes (c, r, x, MIN (c->group, GANTRY_WARP));
  if (n_warps <= 1)
    return x;
  shared = gantry_grid_array (c->grid, GANTRY_SPACE_SHARED, r->type, n_warps, 0, "warps");
  lane = gantry_index_remainder (kx, c->member, GANTRY_WARP);
  gantry_grid_begin_if (c->grid, gantry_index_below (kx, lane, 1));
  gantry_grid_set (c->grid, shared, gantry_index_divide (kx, c->member, GANTRY_WARP), x);
  gantry_grid_end (c->grid);
  gantry_grid_barrier (c->grid);
  x = gantry_grid_get (c->grid, shared, gantry_index_remainder (kx, lane, n_warps));
  return combine_lanes (c, r, x, n_warps);
}

/* Columns: all through shared memory; every member adds up what all of them found, in one order. */
static guint32
combine_across (GantryCooperation *c, const Reduction *r, guint32 x)
{
  GantryKx *kx = c->kx;
  guint32 shared = gantry_grid_array (c->grid, GANTRY_SPACE_SHARED, r->type, (guint64) c->group * c->rows_at_once, 0, "columns");
  guint32 total = GANTRY_GRID_NONE;

  gantry_grid_set (c->grid, shared, gantry_index_sum (kx, c->member, c->rows_at_once, c->place, 1), x);
  gantry_grid_barrier (c->grid);
  for (guint i = 0; i < c->group; i++)
    {
      guint32 one = gantry_grid_get (c->grid, shared, gantry_index_sum (kx, c->place, 1, gantry_index_const (kx, (gint64) i * c->rows_at_once), 1));

      total = i == 0 ? one : combine (c, r, total, one);
    }
  return gantry_grid_let (c->grid, total);
}

static Reduction
reduction_of (GantryCooperation *c, guint32 id)
{
  GantryKx *kx = c->kx;
  Reduction r = { .node = *gantry_kx_node (kx, id) };

  r.type = gantry_element_at_least_f32 (r.node.type);
  r.n_axes = gantry_schedule_axes (kx, id, r.axes);
  r.count = gantry_vars_count (kx, r.node.u);
  r.identity = gantry_kx_identity (kx, r.node.op, r.type);
  return r;
}

/* Statements for what this group finds of the reduction. */
static guint32
reduce (GantryCooperation *c, Reduction *r)
{
  guint32 x = reduce_alone (c, r);

  return c->across ? combine_across (c, r, x) : combine_along (c, r, x);
}

void
gantry_cooperation_reduce (GantryCooperation *c, guint32 id)
{
  Reduction r = reduction_of (c, id);
  guint32 x = reduce (c, &r);

  gantry_kx_replace (c->kx, id, gantry_kx_cast (c->kx, r.node.type, x));
}

/* Slices */

static guint32
partials_array (GantryCooperation *c, const Reduction *r, guint which)
{
  return gantry_grid_array (c->grid, GANTRY_SPACE_WORKSPACE, r->type, (guint64) (c->n_rows * c->slices), g_array_index (c->partials, guint64, which),
                            "partials");
}

static guint32
both (GantryKx *kx, guint32 a, guint32 b)
{
  return a == GANTRY_GRID_NONE ? b : gantry_kx_binary (kx, GANTRY_BOOL, GANTRY_OP_AND, 0, a, b);
}

void
gantry_cooperation_leave (GantryCooperation *c, GantryBound *bound, guint32 id)
{
  GantryKx *kx = c->kx;
  Reduction r = reduction_of (c, id);
  guint32 x = reduce (c, &r);
  guint64 slot = gantry_bound_reserve (bound, (guint64) (c->n_rows * c->slices) * gantry_element_size (r.type));

  g_array_append_val (c->partials, slot);
  gantry_grid_begin_if (c->grid, both (kx, c->live, gantry_index_below (kx, c->member, 1)));
  gantry_grid_set (c->grid, partials_array (c, &r, c->partials->len - 1), gantry_index_sum (kx, c->row, c->slices, c->slice, 1), x);
  gantry_grid_end (c->grid);
}

void
gantry_cooperation_take (GantryCooperation *c, guint32 id, guint which)
{
  GantryKx *kx = c->kx;
  Reduction r = reduction_of (c, id);
  guint32 partials = partials_array (c, &r, which), zero = gantry_index_const (kx, 0), i, one;

  r.sums = gantry_grid_array (c->grid, GANTRY_SPACE_PRIVATE, r.type, 1, 0, "total");
  gantry_grid_set (c->grid, r.sums, zero, r.identity);
  i = gantry_grid_begin_for_to (c->grid, c->slices, FALSE);
  one = gantry_grid_get (c->grid, partials, gantry_index_sum (kx, c->row, c->slices, i, 1));
  gantry_grid_set (c->grid, r.sums, zero, combine (c, &r, gantry_grid_get (c->grid, r.sums, zero), one));
  gantry_grid_end (c->grid);
  gantry_kx_replace (kx, id, gantry_kx_cast (kx, r.node.type, gantry_grid_get (c->grid, r.sums, zero)));
}

/* The results of the row */

static void
store_step (GantryCooperation *c, const guint32 *results, const guint *vars, guint n, gint64 count, guint32 step)
{
  GantryKx *kx = c->kx;
  guint32 values[GANTRY_KX_MAX_VARS], addresses[GANTRY_KX_MAX_VARS], inside;
  g_autofree guint32 *stored = g_new (guint32, kx->n_roots);

  gantry_substitution_clear (values);
  gantry_substitution_clear (addresses);
  gantry_substitution_decode (values, kx, position (c, step, count, TRUE, &inside), vars, n);
  gantry_substitution_decode (addresses, kx, position (c, step, count, FALSE, &inside), vars, n);
  if (inside != GANTRY_GRID_NONE)
    gantry_grid_begin_if (c->grid, inside);
  for (guint i = 0; i < kx->n_roots; i++)
    stored[i] = gantry_substitute (kx, values, kx->roots[i].value);
  gantry_grid_reduce_serial (c->grid, stored, kx->n_roots);
  for (guint i = 0; i < kx->n_roots; i++)
    {
      guint32 address = gantry_substitute (kx, addresses, kx->roots[i].address);

      if (c->lanes > 1)
        gantry_grid_set_lanes (c->grid, results[i], address, stored[i], c->lane, c->lanes);
      else
        gantry_grid_set (c->grid, results[i], address, stored[i]);
    }
  if (inside != GANTRY_GRID_NONE)
    gantry_grid_end (c->grid);
}

void
gantry_cooperation_store (GantryCooperation *c)
{
  GantryKx *kx = c->kx;
  guint vars[GANTRY_KX_MAX_VARS], n = gantry_vars_in_memory_order (kx, c->inner, kx->roots[0].address, vars);
  g_autofree guint32 *results = g_new (guint32, kx->n_roots);
  gint64 count = gantry_vars_count (kx, c->inner), steps;
  guint32 condition = c->live;

  for (guint i = 0; i < kx->n_roots; i++)
    results[i] = gantry_grid_result_array (c->grid, &kx->roots[i]);
  if (n == 0)
    {
      condition = both (kx, condition, gantry_index_below (kx, c->hand, 1));
      c->lanes = 1;
      c->hands = 1;
      c->hand = gantry_index_const (kx, 0);
    }
  if (condition != GANTRY_GRID_NONE)
    gantry_grid_begin_if (c->grid, condition);
  steps = steps_of (c, count);
  if (steps <= WRITTEN_OUT)
    for (gint64 step = 0; step < steps; step++)
      store_step (c, results, vars, n, count, gantry_index_const (kx, step));
  else
    {
      store_step (c, results, vars, n, count, gantry_grid_begin_for_to (c->grid, steps, FALSE));
      gantry_grid_end (c->grid);
    }
  if (condition != GANTRY_GRID_NONE)
    gantry_grid_end (c->grid);
}
