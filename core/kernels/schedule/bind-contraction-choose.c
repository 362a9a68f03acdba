/* SPDX-License-Identifier: Apache-2.0 */
/* Which tile a contraction gets, and how many blocks share its depth: what the model of the GPU says is fastest. */
#include "core/kernels/schedule/bind-contraction-private.h"

#define MIN_SPLIT_DEPTH 256 /* of one part */
#define MAX_SPLITS 32
#define WASTE 0.01

/* Of 15 tile shapes on 57 convolutions and three products, measured on an H200, these find tiles that take 8 % longer than the fastest ones do
 * together; both are about what such a GPU's data sheet lets one expect. */
#define LEAST_STEP_US 0.1 /* barrier, addresses and the way from shared memory, however small the tile is */
#define LATENCY_US 0.9    /* from a fetch to its data, when all multiprocessors fetch */
#define FETCH_RATE 75e3   /* bytes that a multiprocessor gets from the second cache in a microsecond */

static gint64
quotient_up (gint64 a, gint64 b)
{
  return (a + b - 1) / b;
}

/* Splits of about @splits parts, none of them empty. */
static void
cut (GantryTiling *t, gint64 splits)
{
  t->steps_per_split = quotient_up (t->steps, MAX (splits, 1));
  t->splits = quotient_up (t->steps, t->steps_per_split);
}

/* One wave: @resident blocks on a multiprocessor share its units and its way to memory. A block that fetches a step ahead of its
 * multiplications waits for it, however small it is. The first tiles and the results of one block are under way while others multiply, so
 * that only one such time is seen. */
static double
wave_us (const GantryTiling *t, const GantryContraction *c, gint64 resident, double rate)
{
  double step = MAX (2.0 * t->bm * t->bn * t->bk / rate * 1e6, LEAST_STEP_US);
  double fetch = (t->bm * gantry_element_size (c->a.element) + t->bn * gantry_element_size (c->b.element)) * t->bk / FETCH_RATE;

  step = (double) resident * MAX (step, fetch);
  if (t->ahead > 0)
    step = MAX (step, LATENCY_US / t->ahead);
  return (double) t->steps_per_split * step + t->tail_us;
}

/* What lies outside of the results is fetched, multiplied and thrown away: of two tiles that take as long, the one that does less of it. */
static double
cost_us (const GantryTiling *t, const GantryContraction *c, const GantryGpu *gpu, double rate)
{
  gint64 count = c->rows.count * c->columns.count * c->batch.count;
  gint64 blocks = t->row_tiles * t->column_tiles * c->batch.count * t->splits;
  gint64 n = MAX (gpu->n_multiprocessors, 1), resident = MAX (t->resident, 1), full = blocks / (n * resident), rest = blocks % (n * resident);
  double covered = (double) t->row_tiles * t->bm * (double) t->column_tiles * t->bn / ((double) c->rows.count * (double) c->columns.count);
  double us = (double) full * wave_us (t, c, resident, rate / (double) n);

  if (rest > 0) /* the last wave is of fewer than there is room for */
    us += wave_us (t, c, quotient_up (rest, n), rate / (double) n);
  us *= 1 + WASTE * (covered - 1);

  /* Each sum is written and read. */
  if (t->splits > 1)
    us += gpu->launch_us + (double) (count * t->splits) * 2 * gantry_element_size (c->sum) / gpu->model->memory_bandwidth * 1e6;
  return us;
}

/* Chooses how many blocks share the depth: more give all multiprocessors work, but leave sums for a second launch, which costs a launch
 * and their traffic. Depends on nothing but the shapes and the model of the GPU. Returns: microseconds */
static double
split (GantryTiling *t, const GantryContraction *c, const GantryGpu *gpu, double rate)
{
  gint64 blocks, most, best = 1;
  double least;

  blocks = t->row_tiles * t->column_tiles * c->batch.count;
  most = MIN (MIN (gpu->n_multiprocessors / MAX (blocks, 1), c->depth.count / MIN_SPLIT_DEPTH), MAX_SPLITS);
  cut (t, 1);
  least = cost_us (t, c, gpu, rate);
  for (gint64 splits = 2; splits <= most; splits++)
    {
      double us;

      cut (t, splits);
      us = cost_us (t, c, gpu, rate);
      if (us >= least)
        continue;
      least = us;
      best = splits;
    }
  cut (t, best);
  return least;
}

const GantryTileShape *
gantry_tiling_choose (GantryTiling *tiling, const GantryContraction *c, const GantryGpu *gpu, const GantryTileShape *shapes, guint n_shapes, guint unit_threads,
                      double rate, GantryTileFits fits)
{
  const GantryTileShape *best = NULL;
  double least = 0;

  for (guint i = 0; i < n_shapes; i++)
    {
      const GantryTileShape *shape = &shapes[i];
      GantryTiling t = { .bm = shape->bm, .bn = shape->bn, .bk = shape->bk, .threads = shape->bm / shape->um * (shape->bn / shape->un) * unit_threads };
      double cost;

      t.row_tiles = quotient_up (c->rows.count, t.bm);
      t.column_tiles = quotient_up (c->columns.count, t.bn);
      t.steps = quotient_up (c->depth.count, t.bk);
      if (!fits (&t, shape, c, gpu))
        continue;
      cost = split (&t, c, gpu, shape->rate * rate);
      if (best != NULL && cost >= least)
        continue;
      best = shape;
      least = cost;
      *tiling = t;
    }
  if (best == NULL || (double) tiling->row_tiles * tiling->column_tiles * tiling->splits * c->batch.count > G_MAXINT32)
    return NULL;
  return best;
}
