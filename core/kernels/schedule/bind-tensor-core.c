/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions of f16 and bf16 on the tensor cores of sm_80 and later, by mma.sync: products and sums are those of f32,
 * as the expression says. Factors that are f32 go this way as tf32, with 10 bits of mantissa, only where
 * GantryGpu.allow_tf32 says that this is exact enough.
 *
 * Tiles lie in shared memory as the factors do in global memory, the one of the two directions that is contiguous there
 * innermost, so that they are fetched 16 bytes at a time; ldmatrix reads either, transposing where needed. Fragments
 * are numbered as in the PTX ISA (9.7.14.5.8, mma.m16n8k16).
 *
 * Banks. ldmatrix reads 8 rows of 16 bytes (chunks) at once; it is without conflict when the 8 chunks lie at different
 * places modulo 128 bytes. Depth innermost: a row of 32 elements is 64 bytes, so rows 2r and 2r + 1 fill 128 bytes and
 * rows differ by (row / 2) only; chunk c of a row stands at c ^ (row / 2 % 4): 8 neighbouring rows take all 8 places.
 * Own group innermost: a row is a multiple of 128 bytes; chunk c stands at c ^ (row % 8): again all 8 places. Stores
 * and fetches write whole rows of chunks, which the exclusive or permutes within 64 or 128 bytes. */
#include "core/kernels/schedule/bind-contraction-private.h"

#define WARP 32
#define CHUNK 8  /* elements of 16 bytes */
#define DEPTH 32 /* of f16 and bf16 */
#define TF32_DEPTH 16
#define MMA_ROWS 16
#define MMA_COLUMNS 8
#define MAX_HELD 128 /* registers of sums and of what comes next: as many again are needed for the work itself */

/* tf32 takes steps of TF32_DEPTH instead. */
static const GantryTileShape shapes[] = {
  { 128, 256, DEPTH, 64, 64, 4, 1.0 }, { 128, 128, DEPTH, 64, 32, 4, 0.85 }, { 64, 128, DEPTH, 32, 32, 4, 0.6 },
  { 128, 64, DEPTH, 32, 32, 4, 0.6 },  { 64, 64, DEPTH, 32, 32, 4, 0.5 },
};

typedef struct
{
  GantryTiling tiling;
  const GantryTileShape *shape;
  GantryMmaShape mma;
  gboolean tf32;
  guint mma_depth, x_count, y_count; /* of one mma: depth, and elements of each thread's fragments */
  GantryStage a, b;
  guint32 x, y, sums;            /* private arrays */
  guint32 lane;                  /* nodes: within the warp */
  guint32 warp_row, warp_column; /* of the warp's tile in the block's, in warp tiles */
} Product;

/* tf32: fragments are read one by one, thread t of the warp (row t / 4, depth t % 4) at 20 * row + depth or at
 * row + depth * (tile + 8): 32 different banks either way. */
static guint32
tf32_place (const GantryStage *stage, guint32 own, guint32 depth)
{
  gboolean along_depth = stage->factor->along_depth;

  return gantry_index_sum (stage->tiling->kx, along_depth ? own : depth, stage->pitch, along_depth ? depth : own, 1);
}

/* Where element (@own, @depth) of a tile stands. */
static guint32
place (const GantryStage *stage, guint32 own, guint32 depth)
{
  GantryKx *kx = stage->tiling->kx;
  gboolean along_depth = stage->factor->along_depth;
  guint32 row = along_depth ? own : depth, at = along_depth ? depth : own;
  guint32 turn = along_depth ? gantry_index_remainder (kx, gantry_index_divide (kx, row, 2), 4) : gantry_index_remainder (kx, row, 8);
  guint32 chunk = gantry_index_xor (kx, gantry_index_divide (kx, at, CHUNK), turn);

  return gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { row, stage->pitch }, { chunk, CHUNK }, { gantry_index_remainder (kx, at, CHUNK), 1 } }, 3);
}

/* Fragments */

/* Four 8 x 8 matrices of a tile into the private array @to: matrix i covers own elements from @own + @own_steps[i] and
 * depth from @depth + @depth_steps[i]. Each thread names the row that it stands for: lane % 8 of matrix lane / 8. */
static void
load_matrices (Product *p, const GantryStage *stage, guint32 buffer, guint32 own, guint32 depth, gboolean own_first, guint32 to, guint32 offset)
{
  GantryGrid *grid = p->tiling.grid;
  GantryKx *kx = p->tiling.kx;
  guint32 within = gantry_index_remainder (kx, p->lane, 8), matrix = gantry_index_divide (kx, p->lane, 8);
  guint32 low = gantry_index_remainder (kx, matrix, 2), high = gantry_index_divide (kx, matrix, 2);
  guint32 own_half = own_first ? low : high, depth_half = own_first ? high : low, index;
  gboolean along_depth = stage->factor->along_depth;

  own = gantry_index_sum (kx, own, 1, own_half, 8);
  depth = gantry_index_sum (kx, depth, 1, depth_half, 8);
  if (along_depth)
    own = gantry_index_sum (kx, own, 1, within, 1);
  else
    depth = gantry_index_sum (kx, depth, 1, within, 1);
  index = gantry_index_sum (kx, buffer, (gint64) stage->tile_elements, place (stage, own, depth), 1);
  gantry_grid_matrix_load (grid, to, offset, stage->shared, index, 4, !along_depth);
}

/* One fragment of f32: @own_halves and two halves of the depth, the own ones first. */
static void
load_elements (Product *p, const GantryStage *stage, guint32 buffer, guint32 own, guint own_halves, guint32 depth, guint32 to, guint32 offset)
{
  GantryGrid *grid = p->tiling.grid;
  GantryKx *kx = p->tiling.kx;

  own = gantry_index_sum (kx, own, 1, gantry_index_divide (kx, p->lane, 4), 1);
  depth = gantry_index_sum (kx, depth, 1, gantry_index_remainder (kx, p->lane, 4), 1);
  for (guint i = 0; i < 2 * own_halves; i++)
    {
      guint32 at = tf32_place (stage, gantry_kx_linear (kx, i % own_halves * 8, (GantryKxTerm[]){ { own, 1 } }, 1),
                               gantry_kx_linear (kx, i / own_halves * 4, (GantryKxTerm[]){ { depth, 1 } }, 1));

      at = gantry_index_sum (kx, buffer, (gint64) stage->tile_elements, at, 1);
      gantry_grid_set (grid, to, gantry_kx_linear (kx, i, (GantryKxTerm[]){ { offset, 1 } }, 1), gantry_grid_get (grid, stage->shared, at));
    }
}

static void
load_tf32_fragments (Product *p, guint32 buffer, guint32 depth)
{
  GantryGrid *grid = p->tiling.grid;
  GantryKx *kx = p->tiling.kx;
  guint32 i = gantry_grid_begin_for_to (grid, p->shape->um / MMA_ROWS, TRUE);

  load_elements (p, &p->a, buffer, gantry_index_sum (kx, p->warp_row, p->shape->um, i, MMA_ROWS), 2, depth, p->x, gantry_index_scale (kx, i, 4));
  gantry_grid_end (grid);
  i = gantry_grid_begin_for_to (grid, p->shape->un / MMA_COLUMNS, TRUE);
  load_elements (p, &p->b, buffer, gantry_index_sum (kx, p->warp_column, p->shape->un, i, MMA_COLUMNS), 1, depth, p->y, gantry_index_scale (kx, i, 2));
  gantry_grid_end (grid);
}

/* The fragments of a warp's rows, 16 at a time (quadrants in the order of the ISA: own, then depth), and of its
 * columns, 16 at a time: two fragments of 8 (depth, then own). */
static void
load_fragments (Product *p, guint32 buffer, guint32 depth)
{
  GantryGrid *grid = p->tiling.grid;
  GantryKx *kx = p->tiling.kx;
  guint32 i;

  i = gantry_grid_begin_for_to (grid, p->shape->um / MMA_ROWS, TRUE);
  load_matrices (p, &p->a, buffer, gantry_index_sum (kx, p->warp_row, p->shape->um, i, MMA_ROWS), depth, TRUE, p->x, gantry_index_scale (kx, i, 8));
  gantry_grid_end (grid);
  i = gantry_grid_begin_for_to (grid, p->shape->un / (2 * MMA_COLUMNS), TRUE);
  load_matrices (p, &p->b, buffer, gantry_index_sum (kx, p->warp_column, p->shape->un, i, 2 * MMA_COLUMNS), depth, FALSE, p->y, gantry_index_scale (kx, i, 8));
  gantry_grid_end (grid);
}

static void
multiply (gpointer data, guint32 buffer)
{
  Product *p = data;
  GantryGrid *grid = p->tiling.grid;
  GantryKx *kx = p->tiling.kx;
  guint n = p->shape->un / MMA_COLUMNS;
  guint32 at = gantry_grid_begin_for_to (grid, p->tiling.bk / p->mma_depth, TRUE), i, j;

  if (p->tf32)
    load_tf32_fragments (p, buffer, gantry_index_scale (kx, at, p->mma_depth));
  else
    load_fragments (p, buffer, gantry_index_scale (kx, at, p->mma_depth));
  i = gantry_grid_begin_for_to (grid, p->shape->um / MMA_ROWS, TRUE);
  j = gantry_grid_begin_for_to (grid, n, TRUE);
  gantry_grid_mma (grid, p->mma, p->sums, gantry_index_sum (kx, i, 4 * n, j, 4), p->x, gantry_index_scale (kx, i, p->x_count), p->y,
                   gantry_index_scale (kx, j, p->y_count));
  gantry_grid_end (grid);
  gantry_grid_end (grid);
  gantry_grid_end (grid);
}

static void
clear_sums (Product *p)
{
  GantryGrid *grid = p->tiling.grid;
  guint32 i = gantry_grid_begin_for_to (grid, p->shape->um * p->shape->un / WARP, TRUE);

  gantry_grid_set (grid, p->sums, i, gantry_kx_const_float (p->tiling.kx, GANTRY_F32, 0));
  gantry_grid_end (grid);
}

static void
store (Product *p)
{
  GantryTiling *t = &p->tiling;
  GantryKx *kx = t->kx;
  guint32 i = gantry_grid_begin_for_to (t->grid, p->shape->um / MMA_ROWS, TRUE);
  guint32 row = gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { t->row_tile, p->shape->bm }, { p->warp_row, p->shape->um }, { i, MMA_ROWS } }, 3);

  gantry_tiling_store_fragments (t, p->sums, gantry_index_scale (kx, i, p->shape->un / 2), row,
                                 gantry_index_sum (kx, t->column_tile, p->shape->bn, p->warp_column, p->shape->un), p->shape->un, p->lane);
  gantry_grid_end (t->grid);
}

static void
begin_stage (Product *p, GantryStage *stage, const GantryFactor *factor, const GantryAxes *axes, guint32 own_tile, guint tile)
{
  guint depth = p->tiling.bk;

  *stage = (GantryStage){ .tiling = &p->tiling,
                          .factor = factor,
                          .axes = axes,
                          .own_tile = own_tile,
                          .tile = tile,
                          .place = p->tf32 ? tf32_place : place,
                          .pitch = factor->along_depth ? depth : tile };
  if (p->tf32)
    stage->pitch += factor->along_depth ? 4 : 8;
  stage->tile_elements = (guint64) stage->pitch * (factor->along_depth ? tile : depth);
  gantry_stage_begin (stage, p->shape->stages);
}

/* Only the products of a dot_general or a convolution may have their factors rounded: an elementwise product keeps its bits beside
 * whatever sum it is fused with. Those of 16 bits are exact in f32. */
static gboolean
is_for_tensor_cores (const GantryContraction *c, const GantryGpu *gpu)
{
  return gpu->capability >= 80 && c->a.element == c->b.element && c->product == GANTRY_F32 && c->sum == GANTRY_F32
         && (c->a.element == GANTRY_F16 || c->a.element == GANTRY_BF16
             || (c->a.element == GANTRY_F32 && gpu->allow_tf32 && c->direction == GANTRY_TX_UNROUNDED));
}

/* With what tf32 pads: depth innermost is the larger. */
static guint64
shared_bytes (const GantryTileShape *shape, gboolean tf32)
{
  return (guint64) (shape->bm + shape->bn) * (tf32 ? (TF32_DEPTH + 4) * 4 : DEPTH * 2) * shape->stages;
}

/* Registers for what is computed a step ahead. */
static guint
ahead (const GantryFactor *factor, guint tile, guint threads)
{
  if (factor->element == GANTRY_F32)
    return factor->is_load ? 0 : tile * TF32_DEPTH / threads;
  return factor->is_load && factor->lanes > 1 ? 0 : tile * DEPTH / threads;
}

static gboolean
fits (GantryTiling *tiling, const GantryTileShape *shape, const GantryContraction *c, const GantryGpu *gpu)
{
  gboolean tf32 = c->a.element == GANTRY_F32;

  if (tf32)
    {
      tiling->bk = TF32_DEPTH;
      tiling->steps = (c->depth.count + TF32_DEPTH - 1) / TF32_DEPTH;
    }
  return shared_bytes (shape, tf32) <= gpu->shared_bytes
         && shape->um * shape->un / WARP + ahead (&c->a, shape->bm, tiling->threads) + ahead (&c->b, shape->bn, tiling->threads) <= MAX_HELD;
}

static double
unit_rate (const GantryContraction *c, const GantryGpu *gpu)
{
  return c->a.element == GANTRY_F32 ? gpu->model->tf32 : gpu->model->rates[GANTRY_UNIT_PRODUCT_F16];
}

gboolean
gantry_bind_tensor_core (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu)
{
  GantryContraction c;
  Product p = { 0 };
  GantryTiling *t = &p.tiling;
  guint columns;

  if (!gantry_contraction_find (&c, kx) || !is_for_tensor_cores (&c, gpu))
    return FALSE;
  p.tf32 = c.a.element == GANTRY_F32;
  if (!p.tf32)
    gantry_contraction_choose_packing (&c);
  if (gpu->has_wgmma && !p.tf32 && gantry_bind_wgmma (bound, &c, gpu))
    return TRUE;
  p.shape = gantry_tiling_choose (t, &c, gpu, shapes, G_N_ELEMENTS (shapes), WARP, unit_rate (&c, gpu), fits);
  if (p.shape == NULL)
    return FALSE;
  p.mma = p.tf32 ? GANTRY_MMA_M16N8K8_TF32 : c.a.element == GANTRY_F16 ? GANTRY_MMA_M16N8K16_F16 : GANTRY_MMA_M16N8K16_BF16;
  p.mma_depth = p.tf32 ? 8 : 16;
  p.x_count = p.tf32 ? 4 : 8;
  p.y_count = p.tf32 ? 2 : 4;
  gantry_tiling_begin (t, &c, bound);
  begin_stage (&p, &p.a, &c.a, &c.rows, t->row_tile, p.shape->bm);
  begin_stage (&p, &p.b, &c.b, &c.columns, t->column_tile, p.shape->bn);
  columns = p.shape->bn / p.shape->un;
  p.lane = gantry_index_remainder (kx, t->thread, WARP);
  p.warp_row = gantry_index_divide (kx, t->thread, WARP * columns);
  p.warp_column = gantry_index_remainder (kx, gantry_index_divide (kx, t->thread, WARP), columns);
  p.x = gantry_grid_array (t->grid, GANTRY_SPACE_PRIVATE, c.a.element, p.shape->um / MMA_ROWS * p.x_count, 0, "x");
  p.y = gantry_grid_array (t->grid, GANTRY_SPACE_PRIVATE, c.b.element, p.shape->un / MMA_COLUMNS * p.y_count, 0, "y");
  p.sums = gantry_grid_array (t->grid, GANTRY_SPACE_PRIVATE, GANTRY_F32, p.shape->um * p.shape->un / WARP, 0, "sums");
  clear_sums (&p);
  gantry_tiling_run (t, &p.a, &p.b, p.shape->stages, multiply, &p);
  store (&p);
  gantry_tiling_finish (t, bound);
  gantry_tiling_clear (t);
  return TRUE;
}
