/* SPDX-License-Identifier: Apache-2.0 */
/* What bound programs that were lowered for the CPU call: memory of a block and what a warp of a GPU does by itself. */
#pragma once
#include "core/kernels/program/grid.h"

G_BEGIN_DECLS

/* Bytes behind shared memory: what is found changed there was written by a fault. */
#define GANTRY_GRID_GUARD 128

typedef struct
{
  const char *name;
  gpointer function;
} GantryGridSymbol;

/** The functions by the names that generated code calls them by. */
const GantryGridSymbol *gantry_grid_symbols (guint *n);

typedef struct
{
  guint32 group;
  guint32 bytes;
  guint8 *to;
  const guint8 *from; /* NULL: zeros */
  gboolean landed;    /* the bytes are there, which nobody may know yet */
} GantryGridFetch;

typedef struct _GantryGridRaces GantryGridRaces;

/** A block: what stands before its memory. */
typedef struct
{
  guint8 *memory; /* shared memory, the guard, the threads' records */
  guint64 shared_bytes, thread_bytes;
  guint32 n_threads;
  GArray **fetches;       /* per thread, NULL: none yet: GantryGridFetch */
  guint32 *group;         /* per thread: the one that is open */
  GArray *products;       /* of grid-run-wgmma.c */
  GantryGridRaces *races; /* NULL: they are not looked for */
} GantryGridBlock;

/** Returns: (transfer none): what stands before the memory @block, which is of gantry_grid_block_new() */
GantryGridBlock *gantry_grid_block_of (guint8 *block);

/**
 * gantry_grid_block_new:
 * @shared_bytes: a multiple of 128
 * @thread_bytes: of each thread's record, a multiple of 16
 * @races: whether they are looked for: see grid-races.c
 *
 * Returns: memory of a block, aligned to 128: shared memory, the guard, then the threads' records
 */
guint8 *gantry_grid_block_new (guint64 shared_bytes, guint64 thread_bytes, guint32 n_threads, guint32 races);
void gantry_grid_block_free (guint8 *block);
/** Before block number @task begins: fills its memory with bits that are no numbers, so that what was not written
 * shows. */
void gantry_grid_block_begin (guint8 *block, gint64 task);
/** Ends the process with a message when something was written behind an array of shared memory. */
void gantry_grid_block_end (guint8 *block);

/* Fetches really are late: until they are waited for, their target holds no numbers. @from: (nullable): NULL for zeros;
 * @statement: for messages. */
/** @to: in shared memory, at a multiple of @bytes, which are 4, 8 or 16. Adds to the group of @thread that is open */
void gantry_grid_block_fetch (guint8 *block, guint32 thread, void *to, const void *from, guint32 bytes, guint32 statement);
/** Now its bytes are there. */
void gantry_grid_fetch_land (GantryGridFetch *fetch);
/** The fetches of @thread since the last commit are one group. */
void gantry_grid_block_commit (guint8 *block, guint32 thread);
/** @thread waits: what it fetched lands, but for its newest @groups groups. */
void gantry_grid_block_await (guint8 *block, guint32 thread, guint32 groups);

/** All warps: @rows: thread 0's pointer to its row; @to: thread 0's fragment; both @stride bytes apart. */
void gantry_grid_warps_load (guint8 *block, const void *rows, void *to, guint64 stride, guint32 n_threads, guint32 shape, guint32 statement);

/**
 * gantry_grid_warps_mma:
 * @shape: GantryMmaShape
 * @d: @a: @b: thread 0's fragments; those of the next thread lie @stride bytes on
 * @n_threads: a multiple of 32
 *
 * mma.sync of all warps: their products are added to @d. Fragments lie as PTX says for the shape.
 */
void gantry_grid_warps_mma (guint32 shape, void *d, const void *a, const void *b, guint64 stride, guint32 n_threads);

/* grid-run-wgmma.c */

/** Products that a block has begun and not awaited, the oldest first. */
typedef struct
{
  const guint8 *a, *b;
  guint8 *d;
  guint64 stride;
  guint32 first_thread, columns, shape, statement;
  gboolean done; /* the sums are there, which nobody may know yet */
} GantryGridProduct;

#define GANTRY_GRID_GROUP 128 /* threads of a wgmma */

/**
 * gantry_grid_block_wgmma:
 * @tiles: thread 0's pointers to the tiles a and b; @d: thread 0's sums; both @stride bytes apart
 * @shape: 1: a is transposed, 2: b, 4: bf16
 *
 * Begins a product of each group of 128 threads. It is done as late as it may be, so that a tile that is overwritten
 * too early gives wrong results here too.
 */
void gantry_grid_block_wgmma (guint8 *block, const void *tiles, void *d, guint64 stride, guint32 n_threads, guint32 columns, guint32 shape, guint32 left,
                              guint32 statement);
/** All groups wait: their oldest products are done, until @left of each are under way. */
void gantry_grid_block_wgmma_await (guint8 *block, guint32 n_threads, guint32 left);
/** Unless it is done. Those of one group are done in their order. */
void gantry_grid_product_do (GantryGridProduct *product);
/** Address of element (@own, @depth) of a tile: two bytes. */
const guint8 *gantry_grid_tile_element (const guint8 *tile, guint own, guint depth, gboolean transposed);

/* grid-races.c: who may see what, and when. All are called by one thread for a block. */

/**
 * gantry_grid_races_begin:
 * @seed: of the interleavings; 0: threads in order, and all that is asynchronous as late as it may be
 *
 * From here on races in code that was made to look for them are counted rather than fatal. One at a time in a process.
 */
void gantry_grid_races_begin (guint64 seed);
/** @first: (out) (optional) (transfer full): what was found first, NULL: nothing. Returns: how many */
guint gantry_grid_races_end (char **first);

/** @block: outlives it. Returns: (transfer full): for each byte of shared memory who wrote and read it last */
GantryGridRaces *gantry_grid_races_new (GantryGridBlock *block);
void gantry_grid_races_free (GantryGridRaces *races);
/** Forgets what was noted of the block before; the interleaving of block number @task follows from it and the seed. */
void gantry_grid_races_new_block (GantryGridRaces *races, gint64 task);

/* Called by generated code where races are looked for. */

/** The thread that is number @number in the order of this piece of the program; 0 begins a new piece, before which some
 * of what is under way may arrive. */
guint32 gantry_grid_block_thread (guint8 *block, guint32 number);
/** @access: 0: reads; 1: writes. */
void gantry_grid_block_access (guint8 *block, guint32 thread, const void *at, guint32 bytes, guint32 access, guint32 statement);
/** fence.proxy.async of @thread: what it wrote to shared memory before may be read by a wgmma after the next barrier. */
void gantry_grid_block_fence (guint8 *block, guint32 thread);
/** All threads have met: each may see what the others wrote, and write what they read. */
void gantry_grid_block_barrier (guint8 *block);

/* Called by the other functions of a block that has races. */

/** @thread reads @bytes bytes of shared memory from @at on. A race counts, or ends the process with a message that names @statement. */
void gantry_grid_races_read (GantryGridRaces *races, guint32 thread, const void *at, guint32 bytes, guint32 statement);
/** @thread has begun @fetch: until it knows that it landed nobody may read or write its target. Races as gantry_grid_races_read(). */
void gantry_grid_races_fetch (GantryGridRaces *races, guint32 thread, const GantryGridFetch *fetch, guint32 statement);
/** The thread knows that it is there. */
void gantry_grid_races_fetched (GantryGridRaces *races, guint32 thread, const GantryGridFetch *fetch);
/** A wgmma has begun: until it is waited for nobody may write its tiles. Races as gantry_grid_races_read(). */
void gantry_grid_races_product (GantryGridRaces *races, const GantryGridProduct *product);
/** It was waited for: its tiles may be written again. */
void gantry_grid_races_product_known (GantryGridRaces *races, const GantryGridProduct *product);

G_END_DECLS
