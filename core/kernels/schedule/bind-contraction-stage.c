/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of the factors on their way to shared memory, and the loop over the depth in which that overlaps with the
 * multiplication. What is one load that lies side by side, or zero, is fetched asynchronously, several steps ahead;
 * everything else is computed into registers before the multiplication of the step before and stored after it. What is fetched is
 * put on its way after the multiplication has been given to the matrix units. */
#include "core/kernels/schedule/bind-contraction-private.h"

#define WRITTEN_AT_ONCE 16

/* How many neighbours along the tile's rows are taken by neighbouring threads, before the next row begins. They are neighbours in memory,
 * unless what follows there belongs to the next row: then each row's first is taken before any row's second, and a thread has one row
 * or few, whose place in the window it works out once for all its moves.
 *
 * What is computed one by one is taken by the warp: the other coordinate is then the same for all its threads, and each
 * thread has few different ones, so that few places along the depth are taken apart into window and channel.
 *
 * Where it is transposed: 32 bytes of f32 or f64 are a sector of global memory, and with 4 elements of padding the
 * stores of a phase fall in 32 different banks: f32 at 4 * depth + own (depth < 8, own < 4), f64 at twice that (depth <
 * 4, own < 4). */
static guint
run_of (const GantryStage *stage, guint along)
{
  if (stage->across_first)
    return 1;
  if (stage->transposes)
    return MIN (along, gantry_element_size (stage->factor->element) == 8 ? 4 : 8);
  return stage->lanes > 1 || stage->factor->along_depth ? along : MIN (along, 32);
}

gboolean
gantry_grid_begin_if_unknown (GantryGrid *grid, guint32 condition)
{
  if (gantry_kx_node (grid->kx, condition)->kind == GANTRY_KX_CONST)
    return FALSE;
  gantry_grid_begin_if (grid, condition);
  return TRUE;
}

static gboolean
is_false (const GantryKx *kx, guint32 condition)
{
  const GantryKxNode *node = gantry_kx_node (kx, condition);

  return node->kind == GANTRY_KX_CONST && node->i == 0;
}

/* Where the factor is read for element (@own, @depth); -1: nowhere, or not known. */
static gint64
address_at (const GantryStage *stage, gint64 own, gint64 depth)
{
  const GantryTiling *t = stage->tiling;
  GantryKx *kx = t->kx;
  guint32 substitution[GANTRY_KX_MAX_VARS], predicate, load;
  const GantryKxNode *node;

  gantry_substitution_clear (substitution);
  gantry_axes_decode (stage->axes, kx, gantry_index_const (kx, own), substitution);
  gantry_axes_decode (&t->c->depth, kx, gantry_index_const (kx, depth), substitution);
  gantry_axes_decode (&t->c->batch, kx, gantry_index_const (kx, 0), substitution);
  load = gantry_factor_load (kx, gantry_substitute (kx, substitution, stage->factor->value), &predicate);
  node = load != GANTRY_GRID_NONE ? gantry_kx_node (kx, gantry_kx_address (kx, load)) : NULL;
  return node != NULL && node->kind == GANTRY_KX_CONST ? node->i : -1;
}

/* Channels in blocks: behind a block lies that of the next element of the own group, not the next one of the depth. Asked in the middle,
 * at the first place of four that is not in a convolution's padding. */
static gboolean
lies_across (const GantryStage *stage)
{
  gint64 middle = stage->axes->count / 2, depth = stage->tiling->c->depth.count / 2 / stage->lanes * stage->lanes;

  for (gint64 own = middle; own < MIN (middle + 4, stage->axes->count - 1); own++)
    {
      gint64 here = address_at (stage, own, depth), across = address_at (stage, own + 1, depth);

      if (here >= 0 && across >= 0)
        return across == here + stage->lanes && address_at (stage, own, depth + stage->lanes) != across;
    }
  return FALSE;
}

/* A window takes each element for several places of the depth: the tiles of steps that follow each other are mostly the same elements. */
static gboolean
reads_again (const GantryStage *stage)
{
  GantryKx *kx = stage->tiling->kx;
  guint32 predicate, load = gantry_factor_load (kx, stage->factor->value, &predicate);
  const GantryKxNode *node = load != GANTRY_GRID_NONE ? gantry_kx_node (kx, load) : NULL;

  return node != NULL && node->kind == GANTRY_KX_LOAD
         && (double) stage->axes->count * (double) stage->tiling->c->depth.count >= 2.0 * gantry_type_elements (kx->inputs[node->a].type);
}

void
gantry_stage_begin (GantryStage *stage, guint n_stages)
{
  const GantryFactor *factor = stage->factor;
  GantryTiling *t = stage->tiling;
  guint size = gantry_element_size (factor->element), elements = stage->tile * t->bk;
  guint along = factor->along_depth ? t->bk : stage->tile;

  stage->lanes = stage->transposes ? 1 : MIN (factor->lanes, along);
  while (stage->lanes > 1 && (elements / stage->lanes % t->threads != 0 || along % stage->lanes != 0))
    stage->lanes /= 2;
  g_assert (elements % (stage->lanes * t->threads) == 0);
  stage->moves = elements / stage->lanes / t->threads;
  stage->fetches = factor->is_load && stage->lanes * size >= 4;
  stage->across_first = stage->fetches && !factor->is_packed && factor->along_depth && lies_across (stage);
  stage->reads_again = stage->fetches && !factor->is_packed && reads_again (stage);
  stage->lane = stage->lanes > 1 ? gantry_grid_variable (t->grid, GANTRY_AXIS_LANE, stage->lanes) : GANTRY_GRID_NONE;
  stage->shared = gantry_grid_array (t->grid, GANTRY_SPACE_SHARED, factor->element, stage->tile_elements * n_stages, 0,
                                     factor == &t->c->a ? "a_tile" : "b_tile");
  /* Rounded once, when it is stored. */
  if (!stage->fetches && t->lag == 0)
    stage->registers = gantry_grid_array (t->grid, GANTRY_SPACE_PRIVATE, gantry_element_at_least_f32 (factor->element), stage->moves * stage->lanes, 0,
                                          factor == &t->c->a ? "a_next" : "b_next");
}

/* One move of a thread */

typedef struct
{
  guint32 own, depth;       /* within the tile, of lane 0 */
  guint32 own_at, depth_at; /* in the whole, no further than its end; of lane 0 */
  guint32 inside;           /* condition: depth_at is where it would be without that limit */
} Move;

/* The place of unit @at of @tile in units of @lanes: coordinate in the whole of @count elements. */
static guint32
place_in_whole (GantryKx *kx, guint32 tile_number, guint tile, guint32 at, guint lanes, gint64 count, guint32 *inside)
{
  guint32 unit = gantry_index_sum (kx, tile_number, tile / lanes, at, 1);

  if (inside != NULL)
    *inside = gantry_index_less (kx, unit, gantry_index_const (kx, count / lanes));
  return gantry_index_scale (kx, gantry_index_minimum (kx, unit, count / lanes - 1), lanes);
}

/* @whole: the tile ends before the depth does. */
static Move
move_of (const GantryStage *stage, guint32 step, guint32 number, gboolean whole)
{
  const GantryTiling *t = stage->tiling;
  GantryKx *kx = t->kx;
  gboolean along_depth = stage->factor->along_depth;
  guint along = (along_depth ? t->bk : stage->tile) / stage->lanes, across = along_depth ? stage->tile : t->bk;
  guint run = run_of (stage, along), rows = t->threads / run, blocks = along / run;
  guint own_lanes = along_depth ? 1 : stage->lanes, depth_lanes = along_depth ? stage->lanes : 1;
  guint32 unit = gantry_index_sum (kx, number, t->threads, t->thread, 1), p, q, own, depth;
  Move move;

  if (rows > 0 && t->threads % run == 0 && across % rows == 0) /* along a row first */
    {
      p = gantry_index_sum (kx, gantry_index_remainder (kx, t->thread, run), 1, gantry_index_remainder (kx, number, blocks), run);
      q = gantry_index_sum (kx, gantry_index_divide (kx, t->thread, run), 1, gantry_index_divide (kx, number, blocks), rows);
    }
  else
    {
      p = gantry_index_sum (kx, gantry_index_remainder (kx, unit, run), 1, gantry_index_divide (kx, unit, (gint64) run * across), run);
      q = gantry_index_remainder (kx, gantry_index_divide (kx, unit, run), across);
    }
  own = along_depth ? q : p;
  depth = along_depth ? p : q;
  move.own = gantry_index_scale (kx, own, own_lanes);
  move.depth = gantry_index_scale (kx, depth, depth_lanes);
  move.own_at = place_in_whole (kx, stage->own_tile, stage->tile, own, own_lanes, stage->axes->count, NULL);
  move.depth_at = place_in_whole (kx, step, t->bk, depth, depth_lanes, whole ? G_MAXINT32 : t->c->depth.count, &move.inside);
  return move;
}

/* What the factor is at @move, lane by lane unless @first: then of lane 0. */
static guint32
factor_at (const GantryStage *stage, const Move *move, gboolean first)
{
  const GantryTiling *t = stage->tiling;
  GantryKx *kx = t->kx;
  guint32 substitution[GANTRY_KX_MAX_VARS], own = move->own_at, depth = move->depth_at;
  guint32 lane = stage->lanes > 1 && !first ? gantry_kx_index (kx, stage->lane) : gantry_index_const (kx, 0);

  if (stage->factor->along_depth)
    depth = gantry_index_sum (kx, depth, 1, lane, 1);
  else
    own = gantry_index_sum (kx, own, 1, lane, 1);
  gantry_substitution_clear (substitution);
  gantry_axes_decode (stage->axes, kx, own, substitution);
  gantry_axes_decode (&t->c->depth, kx, depth, substitution);
  gantry_axes_decode (&t->c->batch, kx, t->batch, substitution);
  return gantry_substitute (kx, substitution, stage->factor->value);
}

static guint32
place_of (const GantryStage *stage, const Move *move, guint32 buffer)
{
  return gantry_index_sum (stage->tiling->kx, buffer, (gint64) stage->tile_elements, stage->place (stage, move->own, move->depth), 1);
}

static void
set (const GantryStage *stage, guint32 array, guint32 index, guint32 value)
{
  if (stage->lanes > 1)
    gantry_grid_set_lanes (stage->tiling->grid, array, index, value, stage->lane, stage->lanes);
  else
    gantry_grid_set (stage->tiling->grid, array, index, value);
}

/* Of @values the one of the lane. */
guint32
gantry_lanes_choose (GantryKx *kx, guint lane, guint lanes, const guint32 *values)
{
  guint32 chosen = values[lanes - 1];

  for (guint i = lanes - 1; i-- > 0;)
    chosen = gantry_kx_select (kx, gantry_kx_binary (kx, GANTRY_BOOL, GANTRY_OP_COMPARE, GANTRY_EQ, gantry_kx_index (kx, lane), gantry_index_const (kx, i)),
                               values[i], chosen);
  return chosen;
}

/* Tiles */

/* With zeros behind the end of the depth. */
static guint32
value_at (const GantryStage *stage, const Move *move)
{
  GantryKx *kx = stage->tiling->kx;

  return gantry_kx_select (kx, move->inside, factor_at (stage, move, FALSE), gantry_kx_identity (kx, GANTRY_OP_ADD, stage->factor->element));
}

/* Some moves at a time: all of them at once would need more registers than there are for the addresses. */
static void
write_tile (const GantryStage *stage, guint32 step, guint32 buffer)
{
  GantryGrid *grid = stage->tiling->grid;
  GantryKx *kx = stage->tiling->kx;
  guint at_once = stage->moves > WRITTEN_AT_ONCE ? WRITTEN_AT_ONCE : stage->moves;
  guint32 outer = gantry_grid_begin_for_to (grid, stage->moves / at_once, FALSE);
  guint32 inner = gantry_grid_begin_for_to (grid, at_once, TRUE);
  Move move = move_of (stage, step, gantry_index_sum (kx, outer, at_once, inner, 1), FALSE);

  set (stage, stage->shared, place_of (stage, &move, buffer), value_at (stage, &move));
  gantry_grid_end (grid);
  gantry_grid_end (grid);
}

static void
load_tile (const GantryStage *stage, guint32 step)
{
  GantryGrid *grid = stage->tiling->grid;
  GantryKx *kx = stage->tiling->kx;
  guint32 number = gantry_grid_begin_for_to (grid, stage->moves, TRUE), value;
  Move move = move_of (stage, step, number, FALSE);

  value = value_at (stage, &move);
  set (stage, stage->registers, gantry_index_scale (kx, number, stage->lanes), value);
  gantry_grid_end (grid);
}

static void
store_tile (const GantryStage *stage, guint32 buffer)
{
  GantryGrid *grid = stage->tiling->grid;
  GantryKx *kx = stage->tiling->kx;
  guint32 number = gantry_grid_begin_for_to (grid, stage->moves, TRUE), values[16];
  Move move = move_of (stage, gantry_index_const (kx, 0), number, TRUE);

  gantry_grid_get_lanes (grid, stage->registers, gantry_index_scale (kx, number, stage->lanes), stage->lanes, values);
  set (stage, stage->shared, place_of (stage, &move, buffer), stage->lanes > 1 ? gantry_lanes_choose (kx, stage->lane, stage->lanes, values) : values[0]);
  gantry_grid_end (grid);
}

/* Where the factor is zero anyhow: padding of a convolution, and what lies behind the end of the depth. */
static guint32
predicate_of (const GantryStage *stage, const Move *move, guint32 predicate)
{
  GantryKx *kx = stage->tiling->kx;

  if (predicate == GANTRY_GRID_NONE)
    return move->inside;
  return gantry_kx_binary (kx, GANTRY_BOOL, GANTRY_OP_AND, 0, predicate, move->inside);
}

static void
fetch_packed (const GantryStage *stage, guint32 step, guint32 buffer, guint32 number)
{
  const GantryTiling *t = stage->tiling;
  Move move = move_of (stage, step, number, TRUE);
  guint i = stage->factor == &t->c->b;

  gantry_grid_fetch_workspace (t->grid, stage->shared, place_of (stage, &move, buffer), t->packed[i],
                               gantry_packed_place (t->c, i, t->bk, t->batch, move.own_at, move.depth_at), stage->lanes);
}

static void
fetch_from_input (const GantryStage *stage, guint32 step, guint32 buffer, guint32 number)
{
  GantryGrid *grid = stage->tiling->grid;
  GantryKx *kx = stage->tiling->kx;
  Move move = move_of (stage, step, number, FALSE);
  guint32 to = place_of (stage, &move, buffer), predicate, load = gantry_factor_load (kx, factor_at (stage, &move, TRUE), &predicate);

  predicate = predicate_of (stage, &move, predicate);
  if (load == GANTRY_GRID_NONE || is_false (kx, predicate)) /* zero, whatever the thread is */
    set (stage, stage->shared, to, gantry_kx_identity (kx, GANTRY_OP_ADD, stage->factor->element));
  else
    {
      gantry_grid_fetch (grid, stage->shared, to, gantry_kx_node (kx, load)->a, gantry_kx_address (kx, load),
                         gantry_kx_node (kx, predicate)->kind == GANTRY_KX_CONST ? GANTRY_GRID_NONE : predicate, stage->lanes);
      if (stage->reads_again)
        gantry_grid_fetch_cached (grid);
    }
}

static void
fetch_tile (const GantryStage *stage, guint32 step, guint32 buffer)
{
  GantryGrid *grid = stage->tiling->grid;
  guint32 number = gantry_grid_begin_for_to (grid, stage->moves, TRUE);

  if (stage->factor->is_packed)
    fetch_packed (stage, step, buffer, number);
  else
    fetch_from_input (stage, step, buffer, number);
  gantry_grid_end (grid);
}

/* The number of the block's step @at in the whole depth. */
static guint32
step_of (GantryTiling *t, guint32 at)
{
  guint32 step = gantry_grid_let (t->grid, gantry_index_sum (t->kx, t->first_step, 1, at, 1));

  gantry_grid_assume (t->grid, step, 0, t->steps - 1);
  return step;
}

/* The first tiles, before the loop. */
static void
fill (GantryTiling *t, GantryStage *stages[2], guint ahead)
{
  guint32 at = gantry_grid_begin_for_to (t->grid, ahead, TRUE), step;
  gboolean asks = gantry_grid_begin_if_unknown (t->grid, gantry_index_less (t->kx, at, t->n_steps));

  step = step_of (t, at);
  for (guint i = 0; i < 2; i++)
    if (stages[i]->fetches)
      fetch_tile (stages[i], step, at);
    else
      write_tile (stages[i], step, at);
  if (asks)
    gantry_grid_end (t->grid);
  if (stages[0]->fetches || stages[1]->fetches)
    gantry_grid_commit (t->grid);
  gantry_grid_end (t->grid);
}

/* What is done for the tiles of a later step. */
typedef enum
{
  WORK_FETCH = 1 << 0, /* what is fetched is put on its way */
  WORK_LOAD = 1 << 1,  /* what is computed comes into registers */
  WORK_STORE = 1 << 2, /* and from there, or at once, into shared memory */
} Work;

static gboolean
has_work (const GantryStage *stage, Work work)
{
  return stage->fetches ? (work & WORK_FETCH) != 0 : (work & WORK_STORE) != 0 || ((work & WORK_LOAD) != 0 && stage->tiling->lag == 0);
}

static void
prepare_tiles (GantryTiling *t, GantryStage *stages[2], guint32 next, guint32 buffer, Work work)
{
  guint32 is_there = gantry_index_less (t->kx, next, t->n_steps), step;
  gboolean asks;

  if (is_false (t->kx, is_there) || (!has_work (stages[0], work) && !has_work (stages[1], work)))
    return;
  asks = gantry_grid_begin_if_unknown (t->grid, is_there);
  step = step_of (t, next);
  for (guint i = 0; i < 2; i++)
    if (!has_work (stages[i], work))
      continue;
    else if (stages[i]->fetches)
      fetch_tile (stages[i], step, buffer);
    else if (work & WORK_LOAD)
      load_tile (stages[i], step);
    else if (t->lag == 0)
      store_tile (stages[i], buffer);
    else
      write_tile (stages[i], step, buffer);
  if (asks)
    gantry_grid_end (t->grid);
}

void
gantry_tiling_run (GantryTiling *t, GantryStage *a, GantryStage *b, guint n_stages, void (*multiply) (gpointer data, guint32 buffer), gpointer data)
{
  GantryStage *stages[2] = { a, b };
  gboolean fetches = a->fetches || b->fetches;
  GantryKx *kx = t->kx;
  guint ahead = n_stages - 1 - t->lag;
  guint32 at, next, buffer;

  /* The matrix units have work before anything is fetched. Where only one step is on its way that would leave no time for it. */
  Work before = ahead >= 2 ? WORK_LOAD : WORK_LOAD | WORK_FETCH, after = ahead >= 2 ? WORK_FETCH | WORK_STORE : WORK_STORE;

  g_assert (n_stages >= 2 + t->lag);
  fill (t, stages, ahead);
  at = gantry_grid_begin_for (t->grid, gantry_index_const (kx, 0), t->n_steps, 1, FALSE);
  next = gantry_kx_linear (kx, ahead, (GantryKxTerm[]){ { at, 1 } }, 1);
  buffer = gantry_index_remainder (kx, next, n_stages);
  if (fetches)
    gantry_grid_await (t->grid, ahead - 1);
  if (t->lag > 0)
    gantry_grid_fence (t->grid);
  gantry_grid_barrier (t->grid);
  prepare_tiles (t, stages, next, buffer, before);
  if (fetches && ahead < 2)
    gantry_grid_commit (t->grid);
  multiply (data, gantry_index_remainder (kx, at, n_stages));
  prepare_tiles (t, stages, next, buffer, after);
  if (fetches && ahead >= 2)
    gantry_grid_commit (t->grid);
  gantry_grid_end (t->grid);
}
