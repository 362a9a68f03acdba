/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules for reductions whose value many results share: softmax, layer norm, sums of rows and of columns. The
 * variables that such a reduction depends on say which one it is (here called its row, whatever the axis); the threads of a
 * group take its terms in turn and put their partial results together, in an order that never changes. Then the same group
 * computes the results of the row.
 *
 * A group lies along the warp where the terms lie side by side in memory (rows), and across the warps of a block
 * where neighbouring rows do (columns): either way the lanes of a warp load neighbouring elements. What a thread
 * loads for the first reduction it still has for the next one and for the results: positions of a group are dealt
 * out in the same way each time, and short rows are written out, so that equal loads are one node of the expression.
 *
 * Where there are fewer rows than the GPU has multiprocessors and they are long, each is cut into slices: one launch
 * for each reduction leaves what the slices found in the workspace, and whoever needs it adds it up in order. */
#include "core/kernels/bind-private.h"
#include <string.h>

#define MIN_TERMS 32    /* a shorter reduction is one thread's work */
#define WARP 32
#define WRITTEN_OUT 8   /* steps of a group along a row that are written out */
#define WARP_ROW 1024   /* up to this many terms a warp does a row by itself */
#define BLOCK_THREADS 256
#define SLICE_TERMS 4096 /* a slice of a long row has at least so many */
#define MAX_SLICES 256

typedef struct
{
  GantryKx *kx;
  GantryGrid *grid;
  gboolean across;     /* columns: the members of a group stand in different warps */
  guint group;         /* threads of a group, a power of two */
  guint rows_at_once;  /* groups of a block */
  guint lanes;
  guint lane;          /* variable */
  guint64 bound;       /* what is known to a thread: variables of the grid, and values */
  guint64 inner;       /* variables of the results within a row */
  guint32 member;      /* node: number within the group */
  guint32 place;       /* node: which group of the block */
  guint32 row;         /* node */
  guint32 live;        /* node: the row exists; GANTRY_GRID_NONE: it always does */
  gint64 n_rows;
  gint64 slices;       /* blocks that share a row */
  guint32 slice;       /* node: which of them */
  gint64 hands;        /* threads that the positions of a row are dealt to: those of all slices */
  guint32 hand;        /* node: number of this one */
  GArray *partials;    /* guint64: where in the workspace the slices' parts of each reduction lie */
} Cooperation;

/* Which reductions */

static gboolean
is_cooperative (const GantryKx *kx, const GantryKxNode *node)
{
  return (node->vars & ~kx->result_vars) == 0 && gantry_vars_count (kx, node->u) >= MIN_TERMS;
}

/* The first reduction, innermost ones before what they are in, that depends on @known variables alone. */
static guint32
next_reduction (const GantryKx *kx, guint64 known)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);

  for (guint32 id = 0; id < kx->nodes->len; id++)
    {
      const GantryKxNode *node = gantry_kx_node (kx, id);

      if (needed[id] && node->kind == GANTRY_KX_REDUCE && (node->vars & ~known) == 0
          && gantry_vars_count (kx, node->u) >= MIN_TERMS)
        return id;
    }
  return GANTRY_GRID_NONE;
}

/* How the loads of a reduction lie: the last of its axes, and whether neighbouring terms are neighbours in memory. */
static guint
last_axis (const GantryKx *kx, guint32 reduction, gboolean *side_by_side)
{
  GantryKxRoot body = { .value = gantry_kx_node (kx, reduction)->a, .address = gantry_kx_node (kx, reduction)->a };
  guint axes[GANTRY_KX_MAX_VARS], n = gantry_schedule_axes (kx, reduction, axes), unit, strided;

  gantry_schedule_strides (kx, &body, 1, axes[n - 1], &unit, &strided);
  *side_by_side = unit > 0 && strided == 0;
  return axes[n - 1];
}

/* The variable of the rows along which the loads of @reduction step by one, else -1. */
static gint
row_of_neighbours (const GantryKx *kx, guint32 reduction, guint64 rows)
{
  GantryKxRoot body = { .value = gantry_kx_node (kx, reduction)->a, .address = gantry_kx_node (kx, reduction)->a };

  for (guint v = 0; v < kx->n_vars; v++)
    {
      guint unit, strided;

      if (!(rows >> v & 1) || kx->extents[v] < 8)
        continue;
      gantry_schedule_strides (kx, &body, 1, v, &unit, &strided);
      if (unit > 0 && strided == 0)
        return (gint) v;
    }
  return -1;
}

typedef struct
{
  guint64 rows;      /* variables that say which row */
  guint64 inner;     /* the results' other variables */
  gint64 terms;      /* of the longest reduction */
  guint32 longest;   /* that reduction */
  guint element_bytes; /* of the widest element that it loads */
} Found;

static gboolean
find_rows (const GantryKx *kx, Found *found)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);

  *found = (Found) { .longest = GANTRY_GRID_NONE, .element_bytes = 1 };
  for (guint32 id = 0; id < kx->nodes->len; id++)
    {
      const GantryKxNode *node = gantry_kx_node (kx, id);

      if (!needed[id])
        continue;
      if (node->kind == GANTRY_KX_LOAD)
        found->element_bytes = MAX (found->element_bytes, gantry_element_size (node->type));
      if (node->kind != GANTRY_KX_REDUCE || !is_cooperative (kx, node))
        continue;
      found->rows |= node->vars;
      if (gantry_vars_count (kx, node->u) > found->terms)
        {
          found->terms = gantry_vars_count (kx, node->u);
          found->longest = id;
        }
    }
  for (guint v = 0; v < kx->n_vars; v++)
    if (kx->result_vars >> v & 1 && kx->extents[v] > 1 && !(found->rows >> v & 1))
      found->inner |= G_GUINT64_CONSTANT (1) << v;
  return found->longest != GANTRY_GRID_NONE;
}

/* Positions of a group along a row */

static gint64
steps_of (const Cooperation *c, gint64 count)
{
  gint64 at_once = c->hands * c->lanes;

  return (count + at_once - 1) / at_once;
}

/* The position that this thread takes at @step, at most count - lanes; @inside: (out): whether it is one at all, or
 * GANTRY_GRID_NONE when that is certain. With @lane, the lane's variable is part of it. */
static guint32
position (Cooperation *c, guint32 step, gint64 count, gboolean lane, guint32 *inside)
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
  return lane && c->lanes > 1 ? gantry_index_sum (kx, at, c->lanes, gantry_kx_index (kx, c->lane), 1)
                              : gantry_index_sum (kx, at, c->lanes, at, 0);
}

/* Reducing */

typedef struct
{
  GantryKxNode node;
  GantryElementType type; /* of the accumulators */
  gint64 count;           /* of terms */
  guint n_axes;
  guint axes[GANTRY_KX_MAX_VARS];
  guint32 identity;
  guint32 sums;           /* PRIVATE: one for each lane */
  guint32 terms;          /* PRIVATE: what the lanes add next */
} Reduction;

static guint32
combine (Cooperation *c, const Reduction *r, guint32 a, guint32 b)
{
  return gantry_kx_binary (c->kx, r->type, r->node.op, 0, a, b);
}

/* Adds the terms of one step to the sums. */
static void
reduce_step (Cooperation *c, Reduction *r, guint32 step)
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
      gantry_grid_set (c->grid, r->sums, gantry_index_const (kx, 0),
                       combine (c, r, gantry_grid_get (c->grid, r->sums, gantry_index_const (kx, 0)), term));
      return;
    }
  gantry_grid_set_lanes (c->grid, r->terms, gantry_index_const (kx, 0), term, c->lane, c->lanes);
  gantry_grid_get_lanes (c->grid, r->terms, gantry_index_const (kx, 0), c->lanes, values);
  for (guint l = 0; l < c->lanes; l++)
    gantry_grid_set (c->grid, r->sums, gantry_index_const (kx, l),
                     combine (c, r, gantry_grid_get (c->grid, r->sums, gantry_index_const (kx, l)), values[l]));
}

/* This thread's share of the reduction. */
static guint32
reduce_alone (Cooperation *c, Reduction *r)
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
combine_lanes (Cooperation *c, const Reduction *r, guint32 x, guint width)
{
  for (guint mask = width / 2; mask > 0; mask /= 2)
    x = gantry_grid_let (c->grid, combine (c, r, x, gantry_grid_shuffle (c->grid, x, mask)));
  return x;
}

/* Rows: lanes of a warp, then the warps of the block through shared memory. */
static guint32
combine_along (Cooperation *c, const Reduction *r, guint32 x)
{
  GantryKx *kx = c->kx;
  guint n_warps = c->group / WARP;
  guint32 shared, lane;

  x = combine_lanes (c, r, x, MIN (c->group, WARP));
  if (n_warps <= 1)
    return x;
  shared = gantry_grid_array (c->grid, GANTRY_SPACE_SHARED, r->type, n_warps, 0, "warps");
  lane = gantry_index_remainder (kx, c->member, WARP);
  gantry_grid_begin_if (c->grid, gantry_index_below (kx, lane, 1));
  gantry_grid_set (c->grid, shared, gantry_index_divide (kx, c->member, WARP), x);
  gantry_grid_end (c->grid);
  gantry_grid_barrier (c->grid);
  x = gantry_grid_get (c->grid, shared, gantry_index_remainder (kx, lane, n_warps));
  return combine_lanes (c, r, x, n_warps);
}

/* Columns: all through shared memory; every member adds up what all of them found, in one order. */
static guint32
combine_across (Cooperation *c, const Reduction *r, guint32 x)
{
  GantryKx *kx = c->kx;
  guint32 shared = gantry_grid_array (c->grid, GANTRY_SPACE_SHARED, r->type, (guint64) c->group * c->rows_at_once, 0,
                                      "columns");
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
reduction_of (Cooperation *c, guint32 id)
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
reduce (Cooperation *c, Reduction *r)
{
  guint32 x = reduce_alone (c, r);

  return c->across ? combine_across (c, r, x) : combine_along (c, r, x);
}

/* Slices */

static guint32
partials_array (Cooperation *c, const Reduction *r, guint which)
{
  return gantry_grid_array (c->grid, GANTRY_SPACE_WORKSPACE, r->type, (guint64) (c->n_rows * c->slices),
                            g_array_index (c->partials, guint64, which), "partials");
}

static guint32
both (GantryKx *kx, guint32 a, guint32 b)
{
  return a == GANTRY_GRID_NONE ? b : gantry_kx_binary (kx, GANTRY_BOOL, GANTRY_OP_AND, 0, a, b);
}

static void
leave_partial (Cooperation *c, GantryBound *bound, guint32 id)
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

/* What the slices found in an earlier launch, added up in their order. */
static void
take_partials (Cooperation *c, guint32 id, guint which)
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
store_step (Cooperation *c, const guint32 *results, const guint *vars, guint n, gint64 count, guint32 step)
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

static void
store_row (Cooperation *c)
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

/* The launch */

/* As many elements as 16 bytes hold, where all that is read and written side by side begins at multiples of them; one where
 * a thread has a reduction of its own for each element. */
static guint
choose_lanes (const GantryKx *kx, const Found *found)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);
  guint lanes = MAX (16 / found->element_bytes, 1);
  guint vars[GANTRY_KX_MAX_VARS], n = gantry_vars_in_memory_order (kx, found->inner, kx->roots[0].address, vars);

  lanes = MIN (lanes, 8);
  while (lanes > 1 && n > 0 && kx->extents[vars[n - 1]] % lanes != 0)
    lanes /= 2;
  for (guint32 id = 0; id < kx->nodes->len; id++)
    {
      const GantryKxNode *node = gantry_kx_node (kx, id);
      gboolean side_by_side;

      if (!needed[id] || node->kind != GANTRY_KX_REDUCE)
        continue;
      if (!is_cooperative (kx, node))
        return 1;
      while (lanes > 1 && kx->extents[last_axis (kx, id, &side_by_side)] % lanes != 0)
        lanes /= 2;
    }
  for (guint i = 0; i < kx->n_roots && n > 0 && lanes > 1; i++)
    if (!gantry_address_steps_by_one (kx, kx->roots[i].address, vars[n - 1]))
      lanes = 1;
  return lanes;
}

static guint
power_of_two (gint64 n, guint least, guint most)
{
  guint p = least;

  while (p < most && p < n)
    p *= 2;
  return p;
}

static void
choose_shape (Cooperation *c, const Found *found, gint64 n_rows)
{
  gint64 work = MAX (found->terms, gantry_vars_count (c->kx, found->inner)) / c->lanes;

  if (c->across)
    {
      c->rows_at_once = WARP;
      c->group = power_of_two (found->terms / 8, 4, 32);
      return;
    }
  /* A warp by itself needs no barrier; a block is for rows that keep all of its threads busy. */
  c->group = found->terms <= WARP_ROW ? WARP : power_of_two (work / 4, 64, 512);
  c->rows_at_once = c->group == WARP ? (guint) CLAMP (n_rows, 1, BLOCK_THREADS / WARP) : 1;
  while (c->rows_at_once & (c->rows_at_once - 1))
    c->rows_at_once--;
}

/* Rows are counted with the one along which memory lies last. */
static guint
order_rows (const GantryKx *kx, const Found *found, gint neighbours, guint *vars)
{
  guint n = gantry_vars_in_memory_order (kx, found->rows, kx->roots[0].address, vars);

  for (guint i = 0; neighbours >= 0 && i + 1 < n; i++)
    if (vars[i] == (guint) neighbours)
      {
        vars[i] = vars[i + 1];
        vars[i + 1] = (guint) neighbours;
      }
  return n;
}

static gint64
blocks_of_rows (const Cooperation *c)
{
  return (c->n_rows + c->rows_at_once - 1) / c->rows_at_once;
}

static void
begin_launch (Cooperation *c, GantryBound *bound, const guint *vars, guint n)
{
  GantryKx *kx = c->kx;
  gint64 n_blocks = blocks_of_rows (c);
  guint32 grid[3] = { (guint32) n_blocks, (guint32) c->slices, 1 }, block[3] = { c->group, c->rows_at_once, 1 };
  guint32 substitution[GANTRY_KX_MAX_VARS], x, y, b;

  if (c->across)
    {
      block[0] = c->rows_at_once;
      block[1] = c->group;
    }
  c->grid = gantry_bound_add (bound, kx, grid, block);
  b = gantry_grid_index (c->grid, GANTRY_AXIS_BLOCK_X, n_blocks);
  x = gantry_grid_index (c->grid, GANTRY_AXIS_THREAD_X, block[0]);
  y = block[1] > 1 ? gantry_grid_index (c->grid, GANTRY_AXIS_THREAD_Y, block[1]) : gantry_index_const (kx, 0);
  c->slice = c->slices > 1 ? gantry_grid_index (c->grid, GANTRY_AXIS_BLOCK_Y, c->slices) : gantry_index_const (kx, 0);
  c->lane = gantry_grid_variable (c->grid, GANTRY_AXIS_LANE, c->lanes);
  c->member = c->across ? y : x;
  c->place = c->across ? x : y;
  c->hands = c->group * c->slices;
  c->hand = gantry_index_sum (kx, c->slice, c->group, c->member, 1);
  c->bound = gantry_kx_node (kx, b)->vars | gantry_kx_node (kx, x)->vars | gantry_kx_node (kx, y)->vars
             | gantry_kx_node (kx, c->slice)->vars | GANTRY_KX_HAS_VALUE;
  c->live = GANTRY_GRID_NONE;
  c->row = gantry_index_sum (kx, b, c->rows_at_once, c->place, 1);
  if (c->n_rows % c->rows_at_once != 0)
    {
      c->live = gantry_index_below (kx, c->row, c->n_rows);
      c->row = gantry_index_minimum (kx, c->row, c->n_rows - 1);
    }
  gantry_substitution_clear (substitution);
  gantry_substitution_decode (substitution, kx, c->row, vars, n);
  gantry_kx_rebuild (kx, substitution, kx->roots, kx->n_roots);
}

/* As many slices as keep the GPU busy; a row that fits into one block is not cut. */
static gint64
choose_slices (const Cooperation *c, const Found *found, const GantryGpu *gpu)
{
  gint64 wanted = 2 * (gint64) gpu->n_multiprocessors / blocks_of_rows (c);

  return CLAMP (MIN (wanted, found->terms / SLICE_TERMS), 1, MAX_SLICES);
}

/* One launch: all reductions and the results. */
static void
bind_rows (Cooperation *c, GantryBound *bound, const guint *vars, guint n)
{
  guint32 id;

  begin_launch (c, bound, vars, n);
  while ((id = next_reduction (c->kx, c->bound)) != GANTRY_GRID_NONE)
    {
      Reduction r = reduction_of (c, id);
      guint32 x = reduce (c, &r);

      gantry_kx_replace (c->kx, id, gantry_kx_cast (c->kx, r.node.type, x));
    }
  store_row (c);
}

/* One launch for each reduction, and one for the results; each begins with what those before it have left. */
static void
bind_slices (Cooperation *c, GantryBound *bound, const guint *vars, guint n)
{
  GantryKx *kx = c->kx;
  g_autofree GantryKxRoot *roots = g_memdup2 (kx->roots, kx->n_roots * sizeof *roots);

  c->partials = g_array_new (FALSE, FALSE, sizeof (guint64));
  for (guint launch = 0;; launch++)
    {
      guint32 id;

      memcpy (kx->roots, roots, kx->n_roots * sizeof *roots);
      begin_launch (c, bound, vars, n);
      for (guint k = 0; k < launch; k++)
        take_partials (c, next_reduction (kx, c->bound), k);
      id = next_reduction (kx, c->bound);
      if (id == GANTRY_GRID_NONE)
        break;
      leave_partial (c, bound, id);
    }
  store_row (c);
  g_array_unref (c->partials);
}

static gboolean
bind (GantryBound *bound, GantryKx *kx, const Found *found, gint neighbours, const GantryGpu *gpu)
{
  Cooperation c = { .kx = kx, .across = neighbours >= 0, .inner = found->inner };
  guint vars[GANTRY_KX_MAX_VARS], n = order_rows (kx, found, neighbours, vars);

  c.n_rows = gantry_vars_count (kx, found->rows);
  c.lanes = c.across ? 1 : choose_lanes (kx, found);
  choose_shape (&c, found, c.n_rows);
  if (blocks_of_rows (&c) >= G_MAXINT32)
    return FALSE;
  c.slices = choose_slices (&c, found, gpu);
  if (c.slices == 1)
    bind_rows (&c, bound, vars, n);
  else
    bind_slices (&c, bound, vars, n);
  return TRUE;
}

gboolean
gantry_bind_rows (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu)
{
  Found found;
  gboolean side_by_side;

  if (!find_rows (kx, &found))
    return FALSE;
  last_axis (kx, found.longest, &side_by_side);
  if (!side_by_side && row_of_neighbours (kx, found.longest, found.rows) >= 0)
    return FALSE;
  return bind (bound, kx, &found, -1, gpu);
}

gboolean
gantry_bind_columns (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu)
{
  Found found;
  gint neighbours;

  if (!find_rows (kx, &found))
    return FALSE;
  neighbours = row_of_neighbours (kx, found.longest, found.rows);
  return neighbours >= 0 && bind (bound, kx, &found, neighbours, gpu);
}
