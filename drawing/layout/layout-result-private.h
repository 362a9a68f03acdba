/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finished layout as it lies in memory: one block with the public structure, its arrays and the
 * index over them.
 */
#pragma once

#include "drawing/layout/layout-private.h"

enum
{
  LAY_INDEX_FAN = 16,
  LAY_INDEX_MOST_LEVELS = 10,
};

typedef struct
{
  float x0;
  float y0;
  float x1;
  float y1;
} LayBounds;

/* A packed R-tree: bounds of the entries, then of each LAY_INDEX_FAN of them, and so on up to one.
 */
typedef struct
{
  guint32 n_entries;
  guint32 n_levels;
  guint32 level_first[LAY_INDEX_MOST_LEVELS + 1];
  LayBounds *bounds;
  guint32 *item;  /* of each entry: a node, a group or an edge, numbered through in this order */
  guint32 *point; /* for an edge, the point at which the piece begins */
} LayIndex;

typedef struct
{
  GantryLayout layout;
  gatomicrefcount references;
  LayIndex index;
} LayResult;

guint32 lay_index_count_entries (const GantryLayout *layout);
guint32 lay_index_plan (LayIndex *index, guint32 n_entries);
void lay_index_build (LayIndex *index, const GantryLayout *layout, LayScratch *scratch);
