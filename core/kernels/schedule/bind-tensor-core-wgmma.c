/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions of f16 and bf16 by wgmma of sm_90a, which takes both factors out of shared memory by itself: four warps
 * multiply 64 rows by all columns of the tile. Tiles come there as everywhere (bind-contraction-stage.c): fetched by
 * cp.async where the factor is one load, computed where it is not, so that convolutions and what is fused before come
 * this way too. One product is under way while the next tiles are waited for.
 *
 * Banks: rows of tiles are 128 bytes, whose chunks of 16 bytes are exchanged by the row's number modulo 8 (the layout
 * is the hardware's own). Fetches write whole rows: 8 threads, 128 bytes. */
#include "core/kernels/schedule/bind-contraction-private.h"

#define WARP 32
#define GROUP 128 /* threads that multiply together */
#define CHUNK 8   /* elements of 16 bytes */
#define ROW 64    /* elements of 128 bytes */
#define DEPTH GANTRY_WGMMA_DEPTH
#define ROWS GANTRY_WGMMA_ROWS

/* Of the stages one is read behind the back of the threads, one is filled: with four, two steps are on their way meanwhile. */
static const GantryTileShape shapes[] = {
  { 128, 256, DEPTH, ROWS, 256, 4, 1.0 }, { 128, 128, DEPTH, ROWS, 128, 4, 0.8 },
  { 128, 128, DEPTH, ROWS, 128, 3, 0.8 }, /* of which a multiprocessor holds two: one stores while the other multiplies */
  { 64, 128, DEPTH, ROWS, 128, 4, 0.5 },  { 128, 64, DEPTH, ROWS, 64, 4, 0.45 }, /* for narrow results */
  { 64, 64, DEPTH, ROWS, 64, 4, 0.35 },   { 64, 64, DEPTH, ROWS, 64, 8, 0.35 },  /* for few blocks of a long depth: six steps on their way */
  { 64, 256, DEPTH, ROWS, 256, 4, 0.6 },                                         /* for wide results of few rows */
};

/* A short depth never comes to the last stages. */
static guint
tiles_held (const GantryTiling *t, const GantryTileShape *shape)
{
  return (guint) MIN ((gint64) shape->stages, t->steps);
}

static guint64
shared_bytes (const GantryTiling *t, const GantryTileShape *shape)
{
  return (guint64) (shape->bm + shape->bn) * DEPTH * 2 * tiles_held (t, shape);
}

typedef struct
{
  GantryTiling tiling;
  const GantryTileShape *shape;
  GantryStage a, b;
  guint32 sums;  /* private array */
  guint32 group; /* node: of four warps */
} Product;

static guint32
place (const GantryStage *stage, guint32 own, guint32 depth)
{
  GantryKx *kx = stage->tiling->kx;
  gboolean along_depth = stage->factor->along_depth;
  guint32 row = along_depth ? own : depth, at = along_depth ? depth : own;
  guint32 chunk = gantry_index_divide (kx, gantry_index_remainder (kx, at, ROW), CHUNK);

  chunk = gantry_index_xor (kx, chunk, gantry_index_remainder (kx, row, 8));
  return gantry_kx_linear (
    kx, 0,
    (GantryKxTerm[]){ { gantry_index_divide (kx, at, ROW), ROW * DEPTH }, { row, ROW }, { chunk, CHUNK }, { gantry_index_remainder (kx, at, CHUNK), 1 } }, 4);
}

static void
multiply (gpointer data, guint32 buffer)
{
  Product *p = data;
  GantryKx *kx = p->tiling.kx;

  gantry_grid_wgmma (p->tiling.grid, p->sums, p->shape->bn, p->a.shared, gantry_index_sum (kx, buffer, (gint64) p->a.tile_elements, p->group, ROWS * DEPTH),
                     !p->a.factor->along_depth, p->b.shared, gantry_index_scale (kx, buffer, (gint64) p->b.tile_elements), !p->b.factor->along_depth,
                     p->tiling.lag);
}

static void
store (Product *p)
{
  GantryTiling *t = &p->tiling;
  GantryKx *kx = t->kx;
  guint32 warp = gantry_index_divide (kx, gantry_index_remainder (kx, t->thread, GROUP), WARP);
  guint32 row = gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { t->row_tile, p->shape->bm }, { p->group, ROWS }, { warp, 16 } }, 3);

  gantry_grid_wgmma_await (t->grid, p->sums, p->shape->bn);
  gantry_tiling_store_fragments (t, p->sums, gantry_index_const (kx, 0), row, gantry_index_scale (kx, t->column_tile, p->shape->bn), p->shape->bn,
                                 gantry_index_remainder (kx, t->thread, WARP));
}

static void
clear_sums (Product *p)
{
  GantryGrid *grid = p->tiling.grid;
  guint32 i = gantry_grid_begin_for_to (grid, p->shape->bn / 2, TRUE);

  gantry_grid_set (grid, p->sums, i, gantry_kx_const_float (p->tiling.kx, GANTRY_F32, 0));
  gantry_grid_end (grid);
}

static void
begin_stage (Product *p, GantryStage *stage, const GantryFactor *factor, const GantryAxes *axes, guint32 own_tile, guint tile)
{
  *stage = (GantryStage){ .tiling = &p->tiling,
                          .factor = factor,
                          .axes = axes,
                          .own_tile = own_tile,
                          .tile = tile,
                          .place = place,
                          .pitch = ROW,
                          .tile_elements = (guint64) tile * DEPTH };
  gantry_stage_begin (stage, tiles_held (&p->tiling, p->shape));
}

/* Computed one by one: the addresses take many registers. */
static gboolean
is_computed (const GantryFactor *factor)
{
  return !factor->is_load || factor->lanes == 1;
}

#define RESERVED 1024    /* bytes of shared memory that the driver takes for each block */
#define START_US 1.5     /* until a block's first tile is there (an estimate) */
#define REGISTERS 65536  /* of a multiprocessor */
#define OWN_REGISTERS 56 /* of a thread, beside its sums: what ptxas takes at most for plain products */

static void
set_residence (GantryTiling *t, const GantryTileShape *shape, const GantryContraction *c, const GantryGpu *gpu)
{
  guint64 bytes = shared_bytes (t, shape) + RESERVED;
  guint by_registers = REGISTERS / (t->threads * (shape->bn / 2 + OWN_REGISTERS));
  double out = 0;

  for (guint i = 0; i < c->kx->n_roots; i++)
    out += gantry_element_size (c->kx->roots[i].element);
  t->resident = (guint) CLAMP ((gpu->shared_bytes + RESERVED) / bytes, 1, MAX (by_registers, 1));
  t->tail_us = START_US + out * shape->bm * shape->bn * MAX (gpu->n_multiprocessors, 1) / gpu->model->memory_bandwidth * 1e6;
}

static gboolean
fits (GantryTiling *tiling, const GantryTileShape *shape, const GantryContraction *c, const GantryGpu *gpu)
{
  tiling->lag = 1;
  tiling->ahead = shape->stages - 1 - tiling->lag;
  set_residence (tiling, shape, c, gpu);
  return shared_bytes (tiling, shape) <= gpu->shared_bytes && (shape->bn <= 128 || (!is_computed (&c->a) && !is_computed (&c->b)));
}

gboolean
gantry_bind_wgmma (GantryBound *bound, const GantryContraction *c, const GantryGpu *gpu)
{
  Product p = { 0 };
  GantryTiling *t = &p.tiling;

  p.shape = gantry_tiling_choose (t, c, gpu, shapes, G_N_ELEMENTS (shapes), GROUP, gpu->model->rates[GANTRY_UNIT_PRODUCT_F16], fits);
  if (p.shape == NULL)
    return FALSE;
  gantry_tiling_begin (t, c, bound);
  begin_stage (&p, &p.a, &c->a, &c->rows, t->row_tile, p.shape->bm);
  begin_stage (&p, &p.b, &c->b, &c->columns, t->column_tile, p.shape->bn);
  p.group = gantry_index_divide (t->kx, t->thread, GROUP);
  p.sums = gantry_grid_array (t->grid, GANTRY_SPACE_PRIVATE, GANTRY_F32, p.shape->bn / 2, 0, "sums");
  clear_sums (&p);
  gantry_tiling_run (t, &p.a, &p.b, p.shape->stages, multiply, &p);
  store (&p);
  gantry_tiling_finish (t, bound);
  gantry_tiling_clear (t);
  return TRUE;
}
