/* SPDX-License-Identifier: Apache-2.0 */
/* Static allocation: buffers with known lifetimes and sizes get offsets in one arena so that no two
 * that are alive together overlap, and the arena is low. */
#pragma once
#include "core/base/progress.h"

G_BEGIN_DECLS

/** How places are chosen. */
typedef enum
{
  GANTRY_ALLOCATOR_EXACT,    /* skylines, local search and branch and bound: the lowest that is found */
  GANTRY_ALLOCATOR_BEST_FIT, /* largest first, each into the smallest gap, as XLA's heap simulator */
  GANTRY_ALLOCATOR_BFC,      /* a pool that is asked in the order of the steps, as TensorFlow's best fit with coalescing */
  GANTRY_N_ALLOCATORS,
} GantryAllocator;

/** "exact", "best-fit", "bfc". Returns: static */
const char *gantry_allocator_name (GantryAllocator allocator);
/** Returns: FALSE where no allocator is called @name */
gboolean gantry_allocator_parse (const char *name, GantryAllocator *allocator);

typedef struct
{
  guint32 begin;  /* first step at which it is alive */
  guint32 end;    /* last step, inclusive */
  guint64 size;   /* bytes; 0 takes no room */
  guint64 offset; /* (out) */
} GantryPackItem;

typedef struct
{
  guint64 alignment;         /* of offsets; sizes are rounded up to it; 0: 1 */
  guint64 target;            /* stop as soon as the height is at most this; 0: at the lower bound */
  guint rounds;              /* of improvement by changed orders; 0: a default that keeps large inputs quick */
  guint64 nodes;             /* effort: decisions of the exact search, at the most, and 256 list entries for each; more of
                      * everything else as well: some seconds for a million, however hard the problem is. 0: for
                      * every day, some 50 ms for 2,000 items, tenths of a second for 100,000 */
  GantryAllocator allocator; /* of the others than the exact one no effort counts; best fit takes time with the square of @n */
} GantryPackOptions;

typedef struct
{
  guint64 height;      /* bytes, a multiple of the alignment */
  guint64 load;        /* the largest sum of sizes alive at one step */
  guint64 lower_bound; /* no packing is lower: the load, or more where the exact search has proved it */
  guint64 nodes;       /* that the exact search has looked at */
  guint64 work;        /* list entries that it has looked at */
} GantryPackResult;

/** The largest sum of (rounded) sizes alive at one step: no packing is lower. @step: (out) (optional): the first. */
guint64 gantry_pack_lower_bound (const GantryPackItem *items, guint32 n, guint64 alignment, guint32 *step);

/**
 * gantry_pack_solve:
 * @items: offsets are written
 * @options: (nullable)
 * @progress: (nullable): asked now and then; a cancelled packing keeps the best one found, which is valid
 * @result: (out) (optional)
 *
 * Skylines first, which are nearly linear. Where they do not reach the target, up to some 2,000 items are given to an
 * exact search (branch and bound, see pack-exact-search.c) for it; then orders of the items are changed at random (with
 * a fixed seed), and the exact search looks for packings between the bound and the best one. The lowest packing wins.
 * Effort is counted, never timed: the same input gives the same offsets on every machine.
 *
 * Returns: the height in bytes, a multiple of the alignment
 */
guint64 gantry_pack_solve (GantryPackItem *items, guint32 n, const GantryPackOptions *options, const GantryProgress *progress, GantryPackResult *result);

/** gantry_pack_solve() for those who want no more than the height. */
guint64 gantry_pack (GantryPackItem *items, guint32 n, const GantryPackOptions *options, const GantryProgress *progress);

/** TRUE when no two items that are alive together overlap; else @a and @b (out) (optional) name the first such pair. */
gboolean gantry_pack_check (const GantryPackItem *items, guint32 n, guint64 alignment, guint32 *a, guint32 *b);

G_END_DECLS
