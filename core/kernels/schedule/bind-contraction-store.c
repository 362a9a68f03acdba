/* SPDX-License-Identifier: Apache-2.0 */
/* What is around the multiplication: which block computes what, and what becomes of the sums. Where rows and columns
 * give few blocks and the depth is long, several blocks share it and a second launch adds their sums, always in the
 * same order. */
#include "core/kernels/schedule/bind-contraction-private.h"

#define SUM_THREADS 256

/* Blocks */

/* Neighbouring blocks share tiles: up to 8 rows of tiles are gone through column by column, so that what runs at one
 * time reads few tiles of both factors and finds them in the cache. */
static gint64
rows_of_group (gint64 row_tiles)
{
  gint64 rows = 8;

  while (row_tiles % rows != 0)
    rows--;
  return rows;
}

static guint32
let (GantryTiling *t, guint32 expression, gint64 count)
{
  guint32 value = gantry_grid_let (t->grid, expression);

  gantry_grid_assume (t->grid, value, 0, count - 1);
  return value;
}

static void
add_results (GantryTiling *t)
{
  gint64 count = t->c->rows.count * t->c->columns.count * t->c->batch.count;

  t->results = g_new (guint32, t->kx->n_roots);
  for (guint i = 0; i < t->kx->n_roots; i++)
    t->results[i] = gantry_grid_array (t->grid, GANTRY_SPACE_RESULT, t->kx->roots[i].element, (guint64) count, t->kx->roots[i].output, "result");
}

static void
add_partial (GantryTiling *t)
{
  gint64 count = t->c->rows.count * t->c->columns.count * t->c->batch.count * t->splits;

  t->partial = gantry_grid_array (t->grid, GANTRY_SPACE_WORKSPACE, t->c->sum, (guint64) count, t->workspace, "partial");
}

void
gantry_tiling_begin (GantryTiling *t, const GantryContraction *c, GantryBound *bound)
{
  gint64 tiles = t->row_tiles * t->column_tiles, group = rows_of_group (t->row_tiles), rest;
  guint32 blocks[3] = { (guint32) (tiles * t->splits * c->batch.count), 1, 1 }, threads[3] = { t->threads, 1, 1 }, block, tile;
  const GantryFactor *factors[2] = { &c->a, &c->b };
  guint64 packed[2] = { 0 };
  GantryKx *kx = c->kx;

  t->c = c;
  t->kx = kx;
  for (guint i = 0; i < 2; i++)
    if (factors[i]->is_packed)
      packed[i] = gantry_contraction_pack (c, i, t->bk, bound);
  t->grid = gantry_bound_add (bound, kx, blocks, threads);
  for (guint i = 0; i < 2; i++)
    if (factors[i]->is_packed)
      t->packed[i] = gantry_grid_array (t->grid, GANTRY_SPACE_WORKSPACE, factors[i]->element, gantry_packed_count (c, i, t->bk), packed[i], "packed");
  block = gantry_grid_index (t->grid, GANTRY_AXIS_BLOCK_X, blocks[0]);
  t->thread = gantry_grid_index (t->grid, GANTRY_AXIS_THREAD_X, t->threads);
  tile = gantry_index_remainder (kx, block, tiles);
  t->row_tile = let (t, gantry_index_sum (kx, gantry_index_divide (kx, tile, group * t->column_tiles), group, gantry_index_remainder (kx, tile, group), 1),
                     t->row_tiles);
  t->column_tile = let (t, gantry_index_divide (kx, gantry_index_remainder (kx, tile, group * t->column_tiles), group), t->column_tiles);
  t->split = let (t, gantry_index_remainder (kx, gantry_index_divide (kx, block, tiles), t->splits), t->splits);
  t->batch = let (t, gantry_index_divide (kx, block, tiles * t->splits), c->batch.count);
  t->first_step = gantry_index_scale (kx, t->split, t->steps_per_split);
  rest = t->steps - (t->splits - 1) * t->steps_per_split;
  t->n_steps = gantry_index_const (kx, rest);
  if (t->splits > 1 && rest != t->steps_per_split)
    {
      t->n_steps = gantry_index_minimum (kx, gantry_kx_linear (kx, t->steps, (GantryKxTerm[]){ { t->first_step, -1 } }, 1), t->steps_per_split);
      t->n_steps = gantry_grid_let (t->grid, t->n_steps);
      gantry_grid_assume (t->grid, t->n_steps, 1, t->steps_per_split);
    }
  if (t->splits > 1)
    {
      t->workspace = gantry_bound_reserve (bound, (guint64) (t->splits * c->rows.count * c->columns.count * c->batch.count) * gantry_element_size (c->sum));
      add_partial (t);
    }
  else
    add_results (t);
}

void
gantry_tiling_clear (GantryTiling *t)
{
  g_clear_pointer (&t->results, g_free);
}

/* Storing */

/* The results as the graph's roots, with @sum in the place of the reduction. */
static GantryKxRoot *
results_of (const GantryTiling *t, guint32 sum)
{
  GantryKx *kx = t->kx;
  GantryKxRoot *saved = kx->roots, *results = g_memdup2 (saved, kx->n_roots * sizeof *saved);

  kx->roots = results;
  gantry_kx_replace (kx, t->c->reduce, sum);
  results = kx->roots;
  kx->roots = saved;
  return results;
}

static void
rebuild_at (const GantryTiling *t, guint32 row, guint32 column, GantryKxRoot *result)
{
  guint32 substitution[GANTRY_KX_MAX_VARS];

  gantry_substitution_clear (substitution);
  gantry_axes_decode (&t->c->rows, t->kx, row, substitution);
  gantry_axes_decode (&t->c->columns, t->kx, column, substitution);
  gantry_axes_decode (&t->c->batch, t->kx, t->batch, substitution);
  gantry_kx_rebuild (t->kx, substitution, result, 1);
}

static guint32
sum_as_reduce (const GantryTiling *t, guint32 sum)
{
  return gantry_kx_cast (t->kx, gantry_kx_node (t->kx, t->c->reduce)->type, sum);
}

/* One result, all lanes at once. Returns: FALSE where they do not lie side by side */
static gboolean
store_lanes (const GantryTiling *t, guint number, guint32 row, guint32 column, guint lane, guint lanes, const guint32 *values)
{
  GantryKx *kx = t->kx;
  g_autofree GantryKxRoot *results = results_of (t, sum_as_reduce (t, gantry_lanes_choose (kx, lane, lanes, values)));
  GantryKxRoot first = results[number];

  rebuild_at (t, row, gantry_index_sum (kx, column, 1, gantry_kx_index (kx, lane), 1), &results[number]);
  if (!gantry_address_is_contiguous (kx, results[number].address, lane, lanes))
    return FALSE;
  rebuild_at (t, row, column, &first);
  gantry_grid_set_lanes (t->grid, t->results[number], first.address, results[number].value, lane, lanes);
  return TRUE;
}

static void
store_each (const GantryTiling *t, guint number, guint32 row, guint32 column, guint lanes, const guint32 *values)
{
  GantryKx *kx = t->kx;

  for (guint i = 0; i < lanes; i++)
    {
      g_autofree GantryKxRoot *results = results_of (t, sum_as_reduce (t, values[i]));
      guint32 at = gantry_kx_linear (kx, i, (GantryKxTerm[]){ { column, 1 } }, 1);
      gboolean asks = gantry_grid_begin_if_unknown (t->grid, gantry_index_less (kx, at, gantry_index_const (kx, t->c->columns.count)));

      rebuild_at (t, row, at, &results[number]);
      gantry_grid_set (t->grid, t->results[number], results[number].address, results[number].value);
      if (asks)
        gantry_grid_end (t->grid);
    }
}

static void
store_partial (const GantryTiling *t, guint32 row, guint32 column, guint lane, guint lanes, const guint32 *values)
{
  const GantryContraction *c = t->c;
  GantryKx *kx = t->kx;
  guint32 matrix = gantry_index_sum (kx, t->split, c->batch.count, t->batch, 1);
  guint32 at = gantry_index_sum (kx, gantry_index_sum (kx, matrix, c->rows.count, row, 1), c->columns.count, column, 1);

  if (lanes > 1 && c->columns.count % lanes == 0)
    {
      gantry_grid_set_lanes (t->grid, t->partial, at, gantry_lanes_choose (kx, lane, lanes, values), lane, lanes);
      return;
    }
  for (guint i = 0; i < lanes; i++)
    {
      guint32 here = gantry_kx_linear (kx, i, (GantryKxTerm[]){ { column, 1 } }, 1);
      gboolean asks = gantry_grid_begin_if_unknown (t->grid, gantry_index_less (kx, here, gantry_index_const (kx, c->columns.count)));

      gantry_grid_set (t->grid, t->partial, gantry_kx_linear (kx, i, (GantryKxTerm[]){ { at, 1 } }, 1), values[i]);
      if (asks)
        gantry_grid_end (t->grid);
    }
}

void
gantry_tiling_store (GantryTiling *t, guint32 row, guint32 column, guint lanes, const guint32 *values)
{
  GantryKx *kx = t->kx;
  guint32 inside = gantry_kx_binary (kx, GANTRY_BOOL, GANTRY_OP_AND, 0, gantry_index_less (kx, row, gantry_index_const (kx, t->c->rows.count)),
                                     gantry_index_less (kx, column, gantry_index_const (kx, t->c->columns.count)));
  gboolean asks = gantry_grid_begin_if_unknown (t->grid, inside);
  guint lane = lanes > 1 ? gantry_grid_variable (t->grid, GANTRY_AXIS_LANE, lanes) : GANTRY_GRID_NONE;

  if (t->splits > 1)
    store_partial (t, row, column, lane, lanes, values);
  for (guint i = 0; i < kx->n_roots && t->splits <= 1; i++)
    if (lanes == 1 || t->c->columns.count % lanes != 0 || !store_lanes (t, i, row, column, lane, lanes, values))
      store_each (t, i, row, column, lanes, values);
  if (asks)
    gantry_grid_end (t->grid);
}

/* Fragments. Of 16 rows and 8 columns each thread has two neighbours of row lane / 4, then two of the row 8 further down: four
 * threads have the columns of a row. Two results of two bytes are half of what a quarter of a sector could take, so of four such
 * fragments side by side each of the four threads gets one whole: it stores 16 bytes, and the four of them 64 in a row. */

#define QUAD 4
#define PAIR 2

/* Of blocks @i and @i + @count of @values, the threads with the bit @mask of their lane keep the second and get the other thread's
 * second, the others likewise the first; what came from the thread of the lower lane is first. */
static void
exchange (GantryTiling *t, guint32 lane, guint mask, guint32 *values, guint i, guint count)
{
  GantryKx *kx = t->kx;
  guint32 bit = gantry_index_remainder (kx, gantry_index_divide (kx, lane, mask), 2);
  guint32 is_low = gantry_index_less (kx, bit, gantry_index_const (kx, 1));

  for (guint k = i; k < i + count; k++)
    {
      guint32 first = values[k], second = values[k + count];
      guint32 other = gantry_grid_shuffle (t->grid, gantry_kx_select (kx, is_low, second, first), mask);

      values[k] = gantry_grid_let (t->grid, gantry_kx_select (kx, is_low, first, other));
      values[k + count] = gantry_grid_let (t->grid, gantry_kx_select (kx, is_low, other, second));
    }
}

static gboolean
exchanges_fragments (const GantryTiling *t, guint columns)
{
  for (guint i = 0; i < t->kx->n_roots; i++)
    if (gantry_element_size (t->kx->roots[i].element) != 2)
      return FALSE;
  return t->splits <= 1 && columns % (8 * QUAD) == 0 && t->c->columns.count % 8 == 0;
}

/* @at: of the thread's first sum in the row; @column: of the first of the fragments */
static void
store_quad (GantryTiling *t, guint32 sums, guint32 at, guint32 row, guint32 column, guint32 lane)
{
  GantryKx *kx = t->kx;
  guint32 values[QUAD * PAIR];

  for (guint i = 0; i < QUAD; i++)
    gantry_grid_get_lanes (t->grid, sums, gantry_kx_linear (kx, 4 * i, (GantryKxTerm[]){ { at, 1 } }, 1), PAIR, &values[i * PAIR]);
  exchange (t, lane, 1, values, 0, PAIR);
  exchange (t, lane, 1, values, 2 * PAIR, PAIR);
  exchange (t, lane, 2, values, 0, 2 * PAIR);
  gantry_tiling_store (t, row, gantry_index_sum (kx, column, 1, gantry_index_remainder (kx, lane, QUAD), 8), QUAD * PAIR, values);
}

void
gantry_tiling_store_fragments (GantryTiling *t, guint32 sums, guint32 offset, guint32 row, guint32 column, guint columns, guint32 lane)
{
  GantryKx *kx = t->kx;
  guint width = exchanges_fragments (t, columns) ? 8 * QUAD : 8;
  guint32 half = gantry_grid_begin_for_to (t->grid, 2, TRUE), j = gantry_grid_begin_for_to (t->grid, columns / width, TRUE), at, values[PAIR];

  row = gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { row, 1 }, { half, 8 }, { gantry_index_divide (kx, lane, 4), 1 } }, 3);
  at = gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { offset, 1 }, { j, width / 2 }, { half, 2 } }, 3);
  column = gantry_index_sum (kx, column, 1, j, width);
  if (width > 8)
    store_quad (t, sums, at, row, column, lane);
  else
    {
      gantry_grid_get_lanes (t->grid, sums, at, PAIR, values);
      gantry_tiling_store (t, row, gantry_index_sum (kx, column, 1, gantry_index_remainder (kx, lane, 4), 2), PAIR, values);
    }
  gantry_grid_end (t->grid);
  gantry_grid_end (t->grid);
}

/* The launch that adds the parts */

static void
sum_parts (GantryTiling *sum, const GantryTiling *t, guint32 unit, gint64 units, guint lanes)
{
  GantryGrid *grid = sum->grid;
  GantryKx *kx = sum->kx;
  guint32 sums = gantry_grid_array (grid, GANTRY_SPACE_PRIVATE, t->c->sum, lanes, 0, "sum"), part, values[16], so_far[16];
  gint64 row_units = t->c->columns.count / lanes;
  guint32 row = gantry_index_divide (kx, unit, row_units);

  gantry_grid_get_lanes (grid, sum->partial, gantry_index_scale (kx, unit, lanes), lanes, values);
  for (guint i = 0; i < lanes; i++)
    gantry_grid_set (grid, sums, gantry_index_const (kx, i), values[i]);
  part = gantry_grid_begin_for (grid, gantry_index_const (kx, 1), gantry_index_const (kx, t->splits), 1, FALSE);
  gantry_grid_get_lanes (grid, sum->partial, gantry_index_scale (kx, gantry_index_sum (kx, part, units, unit, 1), lanes), lanes, values);
  gantry_grid_get_lanes (grid, sums, gantry_index_const (kx, 0), lanes, so_far);
  for (guint i = 0; i < lanes; i++)
    gantry_grid_set (grid, sums, gantry_index_const (kx, i), gantry_kx_binary (kx, t->c->sum, GANTRY_OP_ADD, 0, so_far[i], values[i]));
  gantry_grid_end (grid);
  gantry_grid_get_lanes (grid, sums, gantry_index_const (kx, 0), lanes, so_far);
  sum->batch = gantry_index_divide (kx, row, t->c->rows.count);
  gantry_tiling_store (sum, gantry_index_remainder (kx, row, t->c->rows.count), gantry_index_scale (kx, gantry_index_remainder (kx, unit, row_units), lanes),
                       lanes, so_far);
}

void
gantry_tiling_finish (GantryTiling *t, GantryBound *bound)
{
  const GantryContraction *c = t->c;
  guint lanes = c->columns.count % 4 == 0 && gantry_element_size (c->sum) <= 4 ? 4 : 1;
  gint64 units = c->rows.count * c->columns.count * c->batch.count / lanes;
  guint32 blocks[3] = { (guint32) ((units + SUM_THREADS - 1) / SUM_THREADS), 1, 1 }, threads[3] = { SUM_THREADS, 1, 1 }, unit;
  GantryTiling sum = { .c = c, .kx = t->kx, .splits = t->splits, .workspace = t->workspace };
  gboolean asks;

  if (t->splits <= 1)
    return;
  sum.grid = gantry_bound_add (bound, t->kx, blocks, threads);
  add_partial (&sum);
  add_results (&sum);
  sum.splits = 1;
  unit = gantry_index_sum (t->kx, gantry_grid_index (sum.grid, GANTRY_AXIS_BLOCK_X, blocks[0]), SUM_THREADS,
                           gantry_grid_index (sum.grid, GANTRY_AXIS_THREAD_X, SUM_THREADS), 1);
  asks = gantry_grid_begin_if_unknown (sum.grid, gantry_index_less (t->kx, unit, gantry_index_const (t->kx, units)));
  unit = gantry_grid_let (sum.grid, unit);
  gantry_grid_assume (sum.grid, unit, 0, units - 1);
  sum_parts (&sum, t, unit, units, lanes);
  if (asks)
    gantry_grid_end (sum.grid);
  gantry_tiling_clear (&sum);
}
