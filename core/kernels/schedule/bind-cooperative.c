/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules for reductions whose value many results share: softmax, layer norm, sums of rows and of columns. The
 * variables that such a reduction depends on say which one it is (here called its row, whatever the axis); the threads
 * of a group take its terms in turn and put their partial results together, in an order that never changes. Then the
 * same group computes the results of the row.
 *
 * A group lies along the warp where the terms lie side by side in memory (rows), and across the warps of a block
 * where neighbouring rows do (columns): either way the lanes of a warp load neighbouring elements. What a thread
 * loads for the first reduction it still has for the next one and for the results: positions of a group are dealt
 * out in the same way each time, and short rows are written out, so that equal loads are one node of the expression.
 *
 * Where there are fewer rows than the GPU has multiprocessors and they are long, each is cut into slices: one launch
 * for each reduction leaves what the slices found in the workspace, and whoever needs it adds it up in order. */
#include "core/kernels/schedule/bind-cooperative-private.h"
#include "core/kernels/schedule/loop-schedule.h"
#include <string.h>

#define MIN_TERMS 32  /* a shorter reduction is one thread's work */
#define WARP_ROW 1024 /* up to this many terms a warp does a row by itself */
#define BLOCK_THREADS 256
#define SLICE_TERMS 4096 /* a slice of a long row has at least so many */
#define MAX_SLICES 256

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

      if (needed[id] && node->kind == GANTRY_KX_REDUCE && (node->vars & ~known) == 0 && gantry_vars_count (kx, node->u) >= MIN_TERMS)
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
  guint64 rows;        /* variables that say which row */
  guint64 inner;       /* the results' other variables */
  gint64 terms;        /* of the longest reduction */
  guint32 longest;     /* that reduction */
  guint element_bytes; /* of the widest element that it loads */
} Found;

static gboolean
find_rows (const GantryKx *kx, Found *found)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);

  *found = (Found){ .longest = GANTRY_GRID_NONE, .element_bytes = 1 };
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

/* The launch */

/* As many elements as 16 bytes hold, where all that is read and written side by side begins at multiples of them; one
 * where a thread has a reduction of its own for each element. */
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

/* @neighbours: the variable along which a warp's rows lie side by side, where they do */
static void
choose_shape (GantryCooperation *c, const Found *found, gint neighbours, gint64 n_rows)
{
  gint64 work = MAX (found->terms, gantry_vars_count (c->kx, found->inner)) / c->lanes;

  if (c->across)
    {
      /* Of no more rows than lie side by side, as of 8 in a blocked layout, a warp takes several terms. */
      c->rows_at_once = power_of_two (c->kx->extents[neighbours], 8, GANTRY_WARP);
      c->group = power_of_two (found->terms / 8, 4, 32);
      return;
    }
  /* A warp by itself needs no barrier, and does several rows where one would leave threads of it idle; a block is for rows that
   * keep all of its threads busy. */
  c->group = found->terms <= WARP_ROW ? power_of_two (work, 4, GANTRY_WARP) : power_of_two (work / 4, 64, 512);
  c->rows_at_once = c->group <= GANTRY_WARP ? (guint) CLAMP (n_rows, 1, BLOCK_THREADS / c->group) : 1;
  while (c->rows_at_once & (c->rows_at_once - 1))
    c->rows_at_once--;
  c->rows_at_once = MAX (c->rows_at_once, GANTRY_WARP / c->group); /* whole warps, if some of their rows are none */
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
blocks_of_rows (const GantryCooperation *c)
{
  return (c->n_rows + c->rows_at_once - 1) / c->rows_at_once;
}

static void
begin_launch (GantryCooperation *c, GantryBound *bound, const guint *vars, guint n)
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
  c->bound = gantry_kx_node (kx, b)->vars | gantry_kx_node (kx, x)->vars | gantry_kx_node (kx, y)->vars | gantry_kx_node (kx, c->slice)->vars
             | GANTRY_KX_HAS_VALUE;
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
choose_slices (const GantryCooperation *c, const Found *found, const GantryGpu *gpu)
{
  gint64 wanted = 2 * (gint64) gpu->n_multiprocessors / blocks_of_rows (c);

  return CLAMP (MIN (wanted, found->terms / SLICE_TERMS), 1, MAX_SLICES);
}

/* One launch: all reductions and the results. */
static void
bind_rows (GantryCooperation *c, GantryBound *bound, const guint *vars, guint n)
{
  guint32 id;

  begin_launch (c, bound, vars, n);
  while ((id = next_reduction (c->kx, c->bound)) != GANTRY_GRID_NONE)
    gantry_cooperation_reduce (c, id);
  gantry_cooperation_store (c);
}

/* One launch for each reduction, and one for the results; each begins with what those before it have left. */
static void
bind_slices (GantryCooperation *c, GantryBound *bound, const guint *vars, guint n)
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
        gantry_cooperation_take (c, next_reduction (kx, c->bound), k);
      id = next_reduction (kx, c->bound);
      if (id == GANTRY_GRID_NONE)
        break;
      gantry_cooperation_leave (c, bound, id);
    }
  gantry_cooperation_store (c);
  g_array_unref (c->partials);
}

static gboolean
bind (GantryBound *bound, GantryKx *kx, const Found *found, gint neighbours, const GantryGpu *gpu)
{
  GantryCooperation c = { .kx = kx, .across = neighbours >= 0, .inner = found->inner };
  guint vars[GANTRY_KX_MAX_VARS], n = order_rows (kx, found, neighbours, vars);

  c.n_rows = gantry_vars_count (kx, found->rows);
  c.lanes = c.across ? 1 : choose_lanes (kx, found);
  choose_shape (&c, found, neighbours, c.n_rows);
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
