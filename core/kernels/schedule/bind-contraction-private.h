/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions on a GPU: sums over products of two factors, each of which depends on a part of the variables of the
 * results. What recognises them, stages the factors in shared memory and stores the results is shared by
 * the schedules that multiply (bind-contraction.c: any type, bind-tensor-core.c: mma.sync, bind-tensor-core-wgmma.c: wgmma).
 *
 * Names: the first factor depends on the rows, the second on the columns, both on the depth (what is summed over) and
 * on the batch. Variables of one group are counted as one number, the last one fastest. */
#pragma once
#include "core/kernels/schedule/bind.h"

G_BEGIN_DECLS

/** Variables that are counted as one number. */
typedef struct
{
  guint n;
  guint vars[GANTRY_KX_MAX_VARS]; /* outermost first */
  gint64 count;
} GantryAxes;

/** One of the two that are multiplied. */
typedef struct
{
  guint32 value;        /* node: as it is staged, before casts that lose nothing */
  guint8 element;       /* GantryElementType of it */
  gboolean along_depth; /* what lies side by side in memory are neighbours along the depth, not along its own group */
  gboolean is_load;     /* the value is one load, or where a predicate does not hold zero: see gantry_factor_load() */
  guint lanes;          /* a power of two: so many neighbours lie side by side at a multiple of their number */
  gboolean is_packed;   /* a launch before puts it into the workspace: see bind-contraction-pack.c */
} GantryFactor;

typedef struct
{
  GantryKx *kx;
  guint32 reduce;   /* node */
  guint8 product;   /* GantryElementType in which products are computed */
  guint8 direction; /* of the product: GANTRY_TX_UNROUNDED, or 0 */
  guint8 term;      /* of what is summed */
  guint8 sum;       /* of the accumulators */
  GantryAxes rows, columns, batch, depth;
  GantryFactor a, b;
  guint scratch[3]; /* variables for asking */
} GantryContraction;

/** Is it one, and are rows, columns and depth long enough for tiles? Nothing but nodes and variables is added to @kx.
 */
gboolean gantry_contraction_find (GantryContraction *c, GantryKx *kx);
/**
 * gantry_factor_load:
 * @value: node: a factor, whatever was put in the place of its variables
 * @predicate: (out): node, bool: where it is false the factor is zero; GANTRY_GRID_NONE: nowhere
 *
 * Padding of a convolution is a select between a load and zero, which cp.async does by itself.
 *
 * Returns: the load; GANTRY_GRID_NONE where @value is something else
 */
guint32 gantry_factor_load (GantryKx *kx, guint32 value, guint32 *predicate);
/** Which factors are packed, where the matrix units want 16 bytes at a time: changes them. */
void gantry_contraction_choose_packing (GantryContraction *c);
/** Adds the launch that packs factor @i (0: a, 1: b) of @own elements for tiles of @bk along the depth. Returns: offset in the
 * workspace */
guint64 gantry_contraction_pack (const GantryContraction *c, guint i, guint bk, GantryBound *bound);
/** Elements of a packed factor, for the whole batch; and the place of one in it: @own and @depth are nodes. */
guint64 gantry_packed_count (const GantryContraction *c, guint i, guint bk);
guint32 gantry_packed_place (const GantryContraction *c, guint i, guint bk, guint32 batch, guint32 own, guint32 depth);
/** What stands for the variables of a group when they are counted by @flat: put into @substitution. */
static inline void
gantry_axes_decode (const GantryAxes *axes, GantryKx *kx, guint32 flat, guint32 *substitution)
{
  gantry_substitution_decode (substitution, kx, flat, axes->vars, axes->n);
}
/** LOAD, LINEAR or INDEX: it steps by one with the variable @lane, from a multiple of @lanes. */
gboolean gantry_address_is_contiguous (const GantryKx *kx, guint32 address, guint lane, guint lanes);

/**
 * GantryTiling: one launch in which each block computes rows x columns of the results.
 *
 * The depth is cut in steps of `bk`; `splits` blocks take parts of it that follow each other, and leave their sums in
 * the workspace.
 */
typedef struct
{
  const GantryContraction *c;
  GantryKx *kx;
  GantryGrid *grid;
  guint bm, bn, bk, threads;
  gint64 row_tiles, column_tiles, steps, splits, steps_per_split;
  guint resident;    /* blocks that a multiprocessor holds at once; 0: 1 */
  double tail_us;    /* what a block by itself takes before its first step and after its last one */
  guint ahead;       /* so many steps are on their way while one is multiplied; 0: 1 */
  guint lag;         /* so many steps after its own the matrix units may still read a tile */
  guint64 workspace; /* offset; where there are splits */
  guint32 packed[2]; /* arrays of the factors a and b, where they are packed */
  guint32 partial;   /* array; where there are splits */
  guint32 *results;  /* arrays, one for each root */
  guint32 thread;    /* nodes from here on */
  guint32 row_tile, column_tile, batch, split;
  guint32 first_step, n_steps; /* of this block */
} GantryTiling;

/**
 * GantryTileShape:
 * @bm: rows of a block's tile; @bn: its columns
 * @bk: depth of a step
 * @um: @un: rows and columns of that tile which one unit multiplies: a thread, a warp, four warps
 * @stages: tiles of each factor in shared memory at a time; 0: as the factors want it
 * @rate: how fast the like of it multiplies, of the fastest of its table (an estimate by what is read from shared memory for each product)
 */
typedef struct
{
  guint bm, bn, bk, um, un, stages;
  double rate;
} GantryTileShape;

/** Whether the GPU can hold what @shape needs. @tiling: bm to threads are those of @shape, the tiles and steps
 * those of @c; resident, tail_us, ahead and lag are set here */
typedef gboolean (*GantryTileFits) (GantryTiling *tiling, const GantryTileShape *shape, const GantryContraction *c, const GantryGpu *gpu);

/**
 * gantry_tiling_choose:
 * @tiling: (out): sizes, tiles and splits, of the shape that is returned
 * @shapes: (array length=n_shapes): of two that take as long the first is chosen
 * @unit_threads: threads of one unit
 * @rate: operations per second of the whole GPU, for tiles whose rate is 1
 *
 * Returns: (nullable): one of @shapes; %NULL where none fits, or a launch would have too many blocks
 */
const GantryTileShape *gantry_tiling_choose (GantryTiling *tiling, const GantryContraction *c, const GantryGpu *gpu, const GantryTileShape *shapes,
                                             guint n_shapes, guint unit_threads, double rate, GantryTileFits fits);
/** Adds the launches that pack and this one, and defines the nodes; gantry_tiling_choose() was called. */
void gantry_tiling_begin (GantryTiling *tiling, const GantryContraction *c, GantryBound *bound);
void gantry_tiling_clear (GantryTiling *tiling);
/** A node whose lane @i is @values[i]. @lane: variable */
guint32 gantry_lanes_choose (GantryKx *kx, guint lane, guint lanes, const guint32 *values);
/** Begins an IF unless @condition is known. Returns: whether it did */
gboolean gantry_grid_begin_if_unknown (GantryGrid *grid, guint32 condition);
/** Adds the launch that sums what the splits left, where there are any. */
void gantry_tiling_finish (GantryTiling *tiling, GantryBound *bound);

/**
 * gantry_tiling_store:
 * @row: @column: nodes: place in the whole of element 0; @column is a multiple of @lanes
 * @values: sums of @lanes neighbours of one row
 *
 * Computes what the results make of the sums and stores it, or leaves the sums in the workspace. What lies outside is
 * not stored.
 */
void gantry_tiling_store (GantryTiling *tiling, guint32 row, guint32 column, guint lanes, const guint32 *values);

/**
 * GantryStage: how a tile of a factor comes into shared memory.
 *
 * @place: index in the tile of element (@own, @depth), which are nodes
 */
typedef struct _GantryStage GantryStage;
struct _GantryStage
{
  GantryTiling *tiling;
  const GantryFactor *factor;
  const GantryAxes *axes; /* its own */
  guint32 own_tile;       /* node: which tile of its own group */
  guint tile;             /* elements of its own group */
  guint pitch;            /* between rows of the tile in shared memory, elements */
  guint64 tile_elements;  /* of one stage in shared memory */
  guint32 (*place) (const GantryStage *stage, guint32 own, guint32 depth);
  gboolean transposes;   /* neighbours in memory are not neighbours in shared memory */
  gboolean fetches;      /* asynchronously, where a whole tile is there */
  gboolean across_first; /* neighbouring threads take neighbours of the own group, not of the depth */
  gboolean reads_again;  /* what is fetched for one step is mostly fetched again for the next ones */
  guint lanes;           /* elements that a thread moves at once */
  guint moves;           /* of a thread, for one tile */
  guint lane;            /* variable */
  guint32 shared;        /* array, of all stages */
  guint32 registers;     /* array, where it does not fetch */
};

/** Fills in what follows from the members up to `transposes`. */
void gantry_stage_begin (GantryStage *stage, guint n_stages);

/**
 * gantry_tiling_run:
 * @n_stages: tiles in shared memory: at least 2 + lag
 * @multiply: emits the work on the tiles in stage @buffer (node)
 *
 * Emits the loop over the depth. One barrier for each step: after it everything that was fetched for the step is there,
 * and everybody is done with the stage that is filled next. With a lag the matrix units read behind the back of the
 * threads: a fence for them comes before the barrier.
 */
void gantry_tiling_run (GantryTiling *tiling, GantryStage *a, GantryStage *b, guint n_stages, void (*multiply) (gpointer data, guint32 buffer), gpointer data);

/** @c: of two factors of f16 or bf16. Returns: FALSE, with nothing added, where no tile fits */
gboolean gantry_bind_wgmma (GantryBound *bound, const GantryContraction *c, const GantryGpu *gpu);
/** Where the sums of mma and wgmma go: two neighbours at a time, of 16 rows at @row and all @columns from @column on.
 * @sums: private array, from @offset on in the order of wgmma; @lane: of the warp */
void gantry_tiling_store_fragments (GantryTiling *tiling, guint32 sums, guint32 offset, guint32 row, guint32 column, guint columns, guint32 lane);

G_END_DECLS
