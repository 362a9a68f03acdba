/* SPDX-License-Identifier: Apache-2.0 */
/* What bound programs that were lowered for the CPU call: memory of a block and what a warp of a GPU does by itself. */
#pragma once
#include "core/kernels/grid-private.h"

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

/**
 * gantry_grid_block_new:
 * @shared_bytes: a multiple of 128
 * @thread_bytes: of each thread's record, a multiple of 16
 *
 * Returns: memory of a block, aligned to 128: shared memory, the guard, then the threads' records
 */
guint8 *gantry_grid_block_new (guint64 shared_bytes, guint64 thread_bytes, guint32 n_threads);
void gantry_grid_block_free (guint8 *block);
/** Before a block begins: fills its memory with bits that are no numbers, so that what was not written shows. */
void gantry_grid_block_begin (guint8 *block);
/** Ends the process with a message when something was written behind an array of shared memory. */
void gantry_grid_block_end (guint8 *block);

/* Fetches really are late: until they are waited for, their target holds no numbers. */
void gantry_grid_block_fetch (guint8 *block, guint32 thread, void *to, const void *from, guint32 bytes);
void gantry_grid_block_commit (guint8 *block, guint32 thread);
void gantry_grid_block_await (guint8 *block, guint32 thread, guint32 groups);

/** All warps: @rows: thread 0's pointer to its row; @to: thread 0's fragment; both @stride bytes apart. */
void gantry_grid_warps_load (const void *rows, void *to, guint64 stride, guint32 n_threads, guint32 shape);
void gantry_grid_warps_mma (guint32 shape, void *d, const void *a, const void *b, guint64 stride, guint32 n_threads);

/* grid-run-wgmma.c */

#define GANTRY_GRID_PRODUCT_BYTES 48
/** Products that a block has begun and not done: of so many bytes each; the block's. */
GArray *gantry_grid_block_products (guint8 *block);
/**
 * gantry_grid_block_wgmma:
 * @tiles: thread 0's pointers to the tiles a and b; @d: thread 0's sums; both @stride bytes apart
 * @shape: 1: a is transposed, 2: b, 4: bf16
 *
 * Begins a product of each group of 128 threads. It is done as late as it may be, so that a tile that is overwritten
 * too early gives wrong results here too.
 */
void gantry_grid_block_wgmma (guint8 *block, const void *tiles, void *d, guint64 stride, guint32 n_threads,
                              guint32 columns, guint32 shape, guint32 left);
void gantry_grid_block_wgmma_await (guint8 *block, guint32 n_threads, guint32 left);

G_END_DECLS
