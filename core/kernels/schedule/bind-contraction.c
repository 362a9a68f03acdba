/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions of any element type by the ordinary units: each thread multiplies a small tile out of shared memory.
 * Both tiles lie there with the depth outermost, so that a thread reads neighbours of its rows and of its columns as
 * vectors. */
#include "core/kernels/schedule/bind-contraction-private.h"

static const GantryTileShape shapes[] = {
  { 128, 128, 8, 8, 8, 0, 1.0 }, { 128, 32, 16, 4, 4, 0, 0.6 }, { 32, 128, 16, 4, 4, 0, 0.6 }, { 64, 64, 16, 4, 4, 0, 0.7 }, { 32, 32, 32, 2, 2, 0, 0.4 },
};

typedef struct
{
  GantryTiling tiling;
  const GantryTileShape *shape;
  GantryStage a, b;
  guint va, vb;       /* vectors read from shared memory */
  guint32 x, y, sums; /* private arrays */
  guint32 thread_row, thread_column;
} Product;

static guint32
place (const GantryStage *stage, guint32 own, guint32 depth)
{
  return gantry_index_sum (stage->tiling->kx, depth, stage->pitch, own, 1);
}

/* Reads the thread's elements of a tile at one depth. Those of one vector are neighbours; the vectors of all threads
 * stand side by side, so that a warp reads without conflict: its threads read neighbouring vectors or the same. */
static void
read_elements (Product *p, const GantryStage *stage, guint32 buffer, guint32 depth, guint32 number, guint n, guint lanes, guint32 to)
{
  GantryGrid *grid = p->tiling.grid;
  GantryKx *kx = p->tiling.kx;
  guint32 values[8];

  for (guint i = 0; i < n / lanes; i++)
    {
      guint32 own = gantry_kx_linear (kx, (gint64) i * (stage->tile / (n / lanes)), (GantryKxTerm[]){ { number, lanes } }, 1);

      gantry_grid_get_lanes (grid, stage->shared, gantry_index_sum (kx, buffer, (gint64) stage->tile_elements, place (stage, own, depth), 1), lanes, values);
      for (guint l = 0; l < lanes; l++)
        gantry_grid_set (grid, to, gantry_index_const (kx, i * lanes + l), gantry_kx_cast (kx, p->tiling.c->product, values[l]));
    }
}

static void
multiply (gpointer data, guint32 buffer)
{
  Product *p = data;
  const GantryContraction *c = p->tiling.c;
  GantryGrid *grid = p->tiling.grid;
  GantryKx *kx = p->tiling.kx;
  guint32 depth = gantry_grid_begin_for_to (grid, p->shape->bk, TRUE), i, j, at, x, y, sum;

  read_elements (p, &p->a, buffer, depth, p->thread_row, p->shape->um, p->va, p->x);
  read_elements (p, &p->b, buffer, depth, p->thread_column, p->shape->un, p->vb, p->y);
  i = gantry_grid_begin_for_to (grid, p->shape->um, TRUE);
  x = gantry_grid_get (grid, p->x, i);
  j = gantry_grid_begin_for_to (grid, p->shape->un, TRUE);
  at = gantry_index_sum (kx, i, p->shape->un, j, 1);
  y = gantry_grid_get (grid, p->y, j);
  sum = gantry_grid_get (grid, p->sums, at);
  gantry_grid_set (grid, p->sums, at,
                   gantry_kx_binary (kx, c->sum, GANTRY_OP_ADD, 0, sum,
                                     gantry_kx_cast (kx, c->term, gantry_kx_binary (kx, c->product, GANTRY_OP_MULTIPLY, c->direction, x, y))));
  gantry_grid_end (grid);
  gantry_grid_end (grid);
  gantry_grid_end (grid);
}

static void
clear_sums (Product *p)
{
  GantryGrid *grid = p->tiling.grid;
  guint32 i = gantry_grid_begin_for_to (grid, p->shape->um * p->shape->un, TRUE);

  gantry_grid_set (grid, p->sums, i, gantry_kx_identity (p->tiling.kx, GANTRY_OP_ADD, p->tiling.c->sum));
  gantry_grid_end (grid);
}

static void
store (Product *p)
{
  GantryTiling *t = &p->tiling;
  GantryKx *kx = t->kx;
  guint tm = p->shape->um, tn = p->shape->un, row_vectors = tm / p->va, column_vectors = tn / p->vb;
  guint32 i = gantry_grid_begin_for_to (t->grid, tm, TRUE), j = gantry_grid_begin_for_to (t->grid, column_vectors, TRUE);
  guint32 row, column, values[8];

  row = gantry_kx_linear (kx, 0,
                          (GantryKxTerm[]){ { t->row_tile, p->shape->bm },
                                            { gantry_index_divide (kx, i, p->va), p->shape->bm / row_vectors },
                                            { p->thread_row, p->va },
                                            { gantry_index_remainder (kx, i, p->va), 1 } },
                          4);
  column = gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { t->column_tile, p->shape->bn }, { j, p->shape->bn / column_vectors }, { p->thread_column, p->vb } }, 3);
  gantry_grid_get_lanes (t->grid, p->sums, gantry_index_sum (kx, i, tn, j, p->vb), p->vb, values);
  gantry_tiling_store (t, row, column, p->vb, values);
  gantry_grid_end (t->grid);
  gantry_grid_end (t->grid);
}

static void
begin_stage (Product *p, GantryStage *stage, const GantryFactor *factor, const GantryAxes *axes, guint32 own_tile, guint tile, guint n_stages)
{
  *stage = (GantryStage){
    .tiling = &p->tiling, .factor = factor, .axes = axes, .own_tile = own_tile, .tile = tile, .place = place, .transposes = factor->along_depth
  };
  stage->pitch = stage->transposes ? tile + 4 : tile;
  stage->tile_elements = (guint64) stage->pitch * p->shape->bk;
  gantry_stage_begin (stage, n_stages);
}

static double
vector_rate (const GantryContraction *c, const GantryGpu *gpu)
{
  return gpu->model->rates[gantry_element_size (c->sum) > 4 ? GANTRY_UNIT_VECTOR_F64 : GANTRY_UNIT_VECTOR_F32];
}

/* 64 sums of 8 bytes and what they are made of do not stay in 255 registers. */
static gboolean
fits (GantryTiling *tiling, const GantryTileShape *shape, const GantryContraction *c, const GantryGpu *gpu)
{
  return gantry_element_size (c->sum) <= 4 || shape->um * shape->un <= 16;
}

gboolean
gantry_bind_contraction (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu)
{
  GantryContraction c;
  Product p = { 0 };
  guint n_stages;

  if (!gantry_contraction_find (&c, kx))
    return FALSE;
  p.shape = gantry_tiling_choose (&p.tiling, &c, gpu, shapes, G_N_ELEMENTS (shapes), 1, vector_rate (&c, gpu), fits);
  if (p.shape == NULL)
    return FALSE;
  p.va = MIN (MIN (4, 16 / gantry_element_size (c.a.element)), p.shape->um);
  p.vb = MIN (MIN (4, 16 / gantry_element_size (c.b.element)), p.shape->un);
  gantry_tiling_begin (&p.tiling, &c, bound);
  n_stages = c.a.is_load && c.b.is_load ? 3 : 2;
  begin_stage (&p, &p.a, &c.a, &c.rows, p.tiling.row_tile, p.shape->bm, n_stages);
  begin_stage (&p, &p.b, &c.b, &c.columns, p.tiling.column_tile, p.shape->bn, n_stages);
  p.thread_row = gantry_index_divide (kx, p.tiling.thread, p.shape->bn / p.shape->un);
  p.thread_column = gantry_index_remainder (kx, p.tiling.thread, p.shape->bn / p.shape->un);
  p.x = gantry_grid_array (p.tiling.grid, GANTRY_SPACE_PRIVATE, c.product, p.shape->um, 0, "x");
  p.y = gantry_grid_array (p.tiling.grid, GANTRY_SPACE_PRIVATE, c.product, p.shape->un, 0, "y");
  p.sums = gantry_grid_array (p.tiling.grid, GANTRY_SPACE_PRIVATE, c.sum, p.shape->um * p.shape->un, 0, "sums");
  clear_sums (&p);
  gantry_tiling_run (&p.tiling, &p.a, &p.b, n_stages, multiply, &p);
  store (&p);
  gantry_tiling_finish (&p.tiling, bound);
  gantry_tiling_clear (&p.tiling);
  return TRUE;
}
