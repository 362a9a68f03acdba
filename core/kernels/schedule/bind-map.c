/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule that takes everything: results in the order in which they lie in memory, some neighbouring ones for each
 * thread, so that 16 bytes are loaded and stored at once. Short reductions, as those of windows, are written out: their
 * loads are on the way together, and are wide where the neighbours' are neighbours too. Longer ones are loops of the thread. */
#include "core/kernels/schedule/bind.h"
#include "core/kernels/schedule/loop-schedule.h"

#define BLOCK_THREADS 256
#define WARP 32
#define PIECE_BYTES 16
/* Fewer threads than this for each multiprocessor: rather more of them with less to do each. */
#define ENOUGH_THREADS 512
/* Of all lanes of a thread. */
#define MOST_NODES 2048

typedef struct
{
  GantryKx *kx;
  guint n; /* variables of the results, outermost first */
  guint order[GANTRY_KX_MAX_VARS];
  guint lanes;
  gint64 n_threads; /* in all */
} Map;

static guint
widest (const GantryKx *kx)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);
  guint bytes = 1;

  for (guint32 id = 0; id < kx->nodes->len; id++)
    if (needed[id] && gantry_kx_node (kx, id)->kind == GANTRY_KX_LOAD)
      bytes = MAX (bytes, (guint) gantry_element_size (gantry_kx_node (kx, id)->type));
  for (guint i = 0; i < kx->n_roots; i++)
    bytes = MAX (bytes, (guint) gantry_element_size (kx->roots[i].element));
  return bytes;
}

static gboolean
has_reduction (const GantryKx *kx)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);

  for (guint32 id = 0; id < kx->nodes->len; id++)
    if (needed[id] && gantry_kx_node (kx, id)->kind == GANTRY_KX_REDUCE)
      return TRUE;
  return FALSE;
}

static gboolean
steps_by_one (const GantryKx *kx, guint v)
{
  for (guint i = 0; i < kx->n_roots; i++)
    if (!gantry_address_steps_by_one (kx, kx->roots[i].address, v))
      return FALSE;
  return TRUE;
}

/* Elements that a thread computes at once, as far as their loads and stores allow it. */
static guint
lanes_along (GantryKx *kx, guint v, gboolean reduces)
{
  g_autofree guint8 *needed = NULL;
  guint lanes = PIECE_BYTES / widest (kx), n_nodes = 0, unit, strided;

  if (!steps_by_one (kx, v) || has_reduction (kx))
    return 1;
  if (!reduces)
    return lanes;
  /* What neighbours read of their windows lies side by side, or else neighbouring threads had better read it. */
  gantry_schedule_strides (kx, kx->roots, kx->n_roots, v, &unit, &strided);
  needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);
  for (guint32 id = 0; id < kx->nodes->len; id++)
    n_nodes += needed[id];
  while (lanes > 1 && (strided > 0 || lanes * n_nodes > MOST_NODES))
    lanes /= 2;
  return lanes;
}

static void
choose (Map *map, const GantryGpu *gpu)
{
  GantryKx *kx = map->kx;
  gint64 elements = 1, innermost = 1;

  for (guint v = 0; v < kx->n_vars; v++)
    if (kx->result_vars >> v & 1)
      {
        map->order[map->n++] = v;
        elements *= kx->extents[v];
      }
  map->lanes = 1;
  if (map->n > 0)
    {
      guint v = map->order[map->n - 1];
      gboolean reduces = has_reduction (kx);

      gantry_schedule_write_out (kx, v);
      innermost = kx->extents[v];
      map->lanes = lanes_along (kx, v, reduces);
    }
  while (map->lanes > 1 && (innermost % map->lanes != 0 || elements / map->lanes < (gint64) gpu->n_multiprocessors * ENOUGH_THREADS))
    map->lanes /= 2;
  map->n_threads = elements / map->lanes;
}

/* The coordinates of thread @number's first element; @lane: (nullable): added to the innermost one */
static void
place (Map *map, guint32 number, const guint32 *lane, guint32 *substitution)
{
  GantryKx *kx = map->kx;

  gantry_substitution_clear (substitution);
  for (guint i = map->n; i-- > 0;)
    {
      guint v = map->order[i];
      guint lanes = i + 1 == map->n ? map->lanes : 1;
      gint64 by = kx->extents[v] / lanes;
      guint32 index = i > 0 ? gantry_index_remainder (kx, number, by) : number;

      if (lanes > 1)
        index = gantry_index_sum (kx, index, lanes, lane != NULL ? *lane : index, lane != NULL);
      substitution[v] = index;
      number = gantry_index_divide (kx, number, by);
    }
}

static void
emit (Map *map, GantryGrid *grid, guint32 number)
{
  GantryKx *kx = map->kx;
  guint n = kx->n_roots, lane_variable = GANTRY_GRID_NONE;
  g_autofree GantryKxRoot *roots = g_memdup2 (kx->roots, n * sizeof *roots);
  g_autofree GantryKxRoot *firsts = g_memdup2 (kx->roots, n * sizeof *firsts);
  g_autofree guint32 *values = g_new (guint32, n), *arrays = g_new (guint32, n);
  guint32 substitution[GANTRY_KX_MAX_VARS], lane = 0;

  for (guint i = 0; i < n; i++)
    arrays[i] = gantry_grid_result_array (grid, &roots[i]);
  if (map->lanes > 1)
    {
      lane_variable = gantry_grid_variable (grid, GANTRY_AXIS_LANE, map->lanes);
      lane = gantry_kx_index (kx, lane_variable);
    }
  place (map, number, map->lanes > 1 ? &lane : NULL, substitution);
  gantry_kx_rebuild (kx, substitution, roots, n);
  place (map, number, NULL, substitution);
  gantry_kx_rebuild (kx, substitution, firsts, n);
  for (guint i = 0; i < n; i++)
    values[i] = roots[i].value;
  gantry_grid_reduce_serial (grid, values, n);
  for (guint i = 0; i < n; i++)
    gantry_grid_set_lanes (grid, arrays[i], firsts[i].address, values[i], lane_variable, map->lanes);
}

gboolean
gantry_bind_map (GantryBound *bound, GantryKx *kx, const GantryGpu *gpu)
{
  Map map = { .kx = kx };
  gint64 block, blocks;
  GantryGrid *grid;
  guint32 number;

  choose (&map, gpu);
  block = MIN (BLOCK_THREADS, (map.n_threads + WARP - 1) / WARP * WARP);
  blocks = (map.n_threads + block - 1) / block;
  if (blocks > G_MAXINT32)
    return FALSE;
  grid = gantry_bound_add (bound, kx, (guint32[]){ (guint32) blocks, 1, 1 }, (guint32[]){ (guint32) block, 1, 1 });
  number = gantry_grid_index (grid, GANTRY_AXIS_BLOCK_X, blocks);
  number = gantry_index_sum (kx, number, block, gantry_grid_index (grid, GANTRY_AXIS_THREAD_X, block), 1);
  if (blocks * block == map.n_threads)
    {
      emit (&map, grid, number);
      return TRUE;
    }
  gantry_grid_begin_if (grid, gantry_index_below (kx, number, map.n_threads));
  number = gantry_grid_let (grid, number);
  gantry_grid_assume (grid, number, 0, map.n_threads - 1);
  emit (&map, grid, number);
  gantry_grid_end (grid);
  return TRUE;
}
