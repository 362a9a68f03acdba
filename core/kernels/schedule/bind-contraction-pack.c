/* SPDX-License-Identifier: Apache-2.0 */
/* Packing a factor of a contraction: what does not lie in memory as the tiles want it, weights of a convolution for one, is written once
 * into the workspace with the depth innermost, by a launch of its own, and fetched from there. Without that each tile of the
 * other factor would compute it again, element by element. Behind the end of the depth are zeros, up to a whole
 * step, so that all of it can be fetched. */
#include "core/kernels/schedule/bind-contraction-private.h"

#define THREADS 256
#define BYTES 16        /* that a thread stores, and a fetch brings */
#define LEAST_REUSE 512 /* results to each element: fewer are computed from where it lies */

static const GantryFactor *
factor_of (const GantryContraction *c, guint i)
{
  return i == 0 ? &c->a : &c->b;
}

static const GantryAxes *
own_of (const GantryContraction *c, guint i)
{
  return i == 0 ? &c->rows : &c->columns;
}

/* A packed factor is read once and written once more, so it should be the smaller one, and used again and again. */
static void
choose (GantryFactor *factor, const GantryAxes *own, const GantryAxes *other)
{
  guint size = gantry_element_size (factor->element);

  if ((factor->is_load && factor->lanes * size >= 4) || other->count < LEAST_REUSE || own->count > other->count)
    return;
  factor->is_packed = TRUE;
  factor->is_load = TRUE;
  factor->along_depth = TRUE;
  factor->lanes = BYTES / size;
}

void
gantry_contraction_choose_packing (GantryContraction *c)
{
  choose (&c->a, &c->rows, &c->columns);
  choose (&c->b, &c->columns, &c->rows);
}

static gint64
pitch (const GantryContraction *c, guint bk)
{
  return (c->depth.count + bk - 1) / bk * bk;
}

guint64
gantry_packed_count (const GantryContraction *c, guint i, guint bk)
{
  return (guint64) (c->batch.count * own_of (c, i)->count * pitch (c, bk));
}

guint32
gantry_packed_place (const GantryContraction *c, guint i, guint bk, guint32 batch, guint32 own, guint32 depth)
{
  gint64 by = pitch (c, bk);

  return gantry_kx_linear (c->kx, 0, (GantryKxTerm[]){ { batch, own_of (c, i)->count * by }, { own, by }, { depth, 1 } }, 3);
}

/* The factor at the place that is counted by @unit and @lane, zero behind the end of the depth. */
static guint32
value_at (const GantryContraction *c, guint i, guint bk, guint32 unit, guint32 lane)
{
  GantryKx *kx = c->kx;
  const GantryFactor *factor = factor_of (c, i);
  gint64 units = pitch (c, bk) / factor->lanes;
  guint32 row = gantry_index_divide (kx, unit, units), substitution[GANTRY_KX_MAX_VARS];
  guint32 depth = gantry_index_sum (kx, gantry_index_remainder (kx, unit, units), factor->lanes, lane, 1);
  guint32 inside = gantry_index_less (kx, depth, gantry_index_const (kx, c->depth.count));

  gantry_substitution_clear (substitution);
  gantry_axes_decode (own_of (c, i), kx, gantry_index_remainder (kx, row, own_of (c, i)->count), substitution);
  gantry_axes_decode (&c->batch, kx, gantry_index_divide (kx, row, own_of (c, i)->count), substitution);
  gantry_axes_decode (&c->depth, kx, gantry_index_minimum (kx, depth, c->depth.count - 1), substitution);
  return gantry_kx_select (kx, inside, gantry_substitute (kx, substitution, factor->value), gantry_kx_identity (kx, GANTRY_OP_ADD, factor->element));
}

guint64
gantry_contraction_pack (const GantryContraction *c, guint i, guint bk, GantryBound *bound)
{
  const GantryFactor *factor = factor_of (c, i);
  guint64 count = gantry_packed_count (c, i, bk), offset = gantry_bound_reserve (bound, count * gantry_element_size (factor->element));
  gint64 units = (gint64) count / factor->lanes;
  guint32 blocks[3] = { (guint32) ((units + THREADS - 1) / THREADS), 1, 1 }, threads[3] = { THREADS, 1, 1 }, array, unit;
  GantryGrid *grid = gantry_bound_add (bound, c->kx, blocks, threads);
  guint lane = gantry_grid_variable (grid, GANTRY_AXIS_LANE, factor->lanes);
  gboolean asks;

  array = gantry_grid_array (grid, GANTRY_SPACE_WORKSPACE, factor->element, count, offset, "packed");
  unit = gantry_index_sum (c->kx, gantry_grid_index (grid, GANTRY_AXIS_BLOCK_X, blocks[0]), THREADS, gantry_grid_index (grid, GANTRY_AXIS_THREAD_X, THREADS),
                           1);
  asks = gantry_grid_begin_if_unknown (grid, gantry_index_less (c->kx, unit, gantry_index_const (c->kx, units)));
  unit = gantry_grid_let (grid, unit);
  gantry_grid_assume (grid, unit, 0, units - 1);
  gantry_grid_set_lanes (grid, array, gantry_index_scale (c->kx, unit, factor->lanes), value_at (c, i, bk, unit, gantry_kx_index (c->kx, lane)), lane,
                         factor->lanes);
  if (asks)
    gantry_grid_end (grid);
  return offset;
}
