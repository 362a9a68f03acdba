/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes of a snapshot were written in which line of which file, both ways. */
#pragma once
#include "core/graph/module.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 file;     /* string id */
  guint32 line;     /* from 1 */
  guint32 first, n; /* in GantrySourceIndex.nodes */
} GantrySourceLine;

/**
 * GantrySourceIndex: immutable, reference counted.
 *
 * @lines: (element-type GantrySourceLine): by file and line
 * @nodes: ids of nodes of the entry function, those of a line together and in program order. What stands in a region or a fusion
 *  counts for the node that runs it
 * @files: (element-type guint32): string ids, in the order in which nodes name them
 */
typedef struct
{
  gatomicrefcount ref_count;
  GantryModule *module;
  GArray *lines;
  guint32 *nodes;
  GArray *files;
} GantrySourceIndex;

/** Linear, but for sorting the lines. Any thread. (transfer full) */
GantrySourceIndex *gantry_source_index_new (GantryModule *module);
GantrySourceIndex *gantry_source_index_ref (GantrySourceIndex *index);
void gantry_source_index_unref (GantrySourceIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantrySourceIndex, gantry_source_index_unref)

/** The line of @file, a string id of the module's context: (transfer none) (nullable): NULL where nothing was written there */
const GantrySourceLine *gantry_source_index_find (const GantrySourceIndex *index, guint32 file, guint32 line);

/**
 * gantry_source_index_led:
 *
 * The nodes that a call, a loop or a gradient on the line led to: what a line stands for in which nothing was written itself.
 *
 * Returns: (transfer full) (element-type guint32): ids of nodes of the entry function, in program order
 */
GArray *gantry_source_index_led (const GantrySourceIndex *index, guint32 file, guint32 line);

/** Where @node was written in a text: (transfer none) (nullable): NULL for the place in a binary model, and for none */
const GantryLocation *gantry_source_place (const GantryModule *module, const GantryNode *node);

typedef void (*GantrySourcePartFunc) (const GantryModule *module, const GantryNode *part, gpointer data);
/**
 * gantry_source_each_part:
 * @budget: (inout): how many nodes to visit yet: a hostile program runs one region from many nodes
 *
 * Calls @func for each node inside of what @node runs, at any depth; not for their parameters, and not for @node itself.
 */
void gantry_source_each_part (const GantryModule *module, const GantryNode *node, guint64 *budget, GantrySourcePartFunc func, gpointer data);
/** A budget that is enough for each program whose regions have one user each. */
guint64 gantry_source_part_budget (const GantryModule *module);

G_END_DECLS
