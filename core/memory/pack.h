/* SPDX-License-Identifier: Apache-2.0 */
/* Static allocation: buffers with known lifetimes and sizes get offsets in one arena so that no two
 * that are alive together overlap, and the arena is low. */
#pragma once
#include "core/base/progress.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 begin;  /* first step at which it is alive */
  guint32 end;    /* last step, inclusive */
  guint64 size;   /* bytes; 0 takes no room */
  guint64 offset; /* (out) */
} GantryPackItem;

typedef struct
{
  guint64 alignment; /* of offsets; sizes are rounded up to it; 0: 1 */
  guint64 target;    /* stop as soon as the height is at most this; 0: at the lower bound */
  guint rounds;      /* of improvement; 0: a default that keeps large inputs quick */
} GantryPackOptions;

/** The largest sum of (rounded) sizes alive at one step: no packing is lower. @step: (out) (optional): the first such. */
guint64 gantry_pack_lower_bound (const GantryPackItem *items, guint32 n, guint64 alignment, guint32 *step);

/**
 * gantry_pack:
 * @items: offsets are written
 * @options: (nullable)
 * @progress: (nullable): asked between rounds; a cancelled packing keeps the best one found, which is valid
 *
 * Best fit over lifetimes in several orders, then orders changed at random (with a fixed seed: the same input gives
 * the same offsets) around what stands at the top; the lowest packing wins and the search ends at the lower bound.
 *
 * Returns: the height in bytes, a multiple of the alignment
 */
guint64 gantry_pack (GantryPackItem *items, guint32 n, const GantryPackOptions *options, const GantryProgress *progress);

/** TRUE when no two items that are alive together overlap; else @a and @b (out) (optional) name the first such pair. */
gboolean gantry_pack_check (const GantryPackItem *items, guint32 n, guint64 alignment, guint32 *a, guint32 *b);

G_END_DECLS
