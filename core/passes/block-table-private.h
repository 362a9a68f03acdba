/* SPDX-License-Identifier: Apache-2.0 */
/* What roll writes down about the blocks that became the iterations of a scan, and unroll reads: lists of strings in the
 * scan's attributes, first those of iteration 0, which the body has, then what stands for each in iteration 1, ... */
#pragma once
#include "core/graph/module.h"

G_BEGIN_DECLS

#define GANTRY_BLOCK_SCOPES "block_scopes"
#define GANTRY_BLOCK_NAMES "block_names"
#define GANTRY_BLOCK_LOCATIONS "block_locations"

typedef struct
{
  GHashTable *places; /* (nullable): 1 + id of iteration 0 -> 1 + its place in the list */
  guint32 *ids;       /* of strings, or of locations: n of iteration 0, n of iteration 1, ... */
  gsize n;
} GantryBlockTable;

/** Reads the list @key of a scan of @length iterations; its strings as ids, those of locations as ids of locations.
 *  Returns: FALSE when there is none that fits */
gboolean _gantry_block_table_init (GantryBlockTable *table, GantryContext *context, guint32 attrs, const char *key, gint64 length);
void _gantry_block_table_clear (GantryBlockTable *table);
/** What stands in iteration @i for @id of iteration 0. Returns: FALSE, @found untouched, when it is not in the table. */
gboolean _gantry_block_table_look_up (const GantryBlockTable *table, guint32 id, gint64 i, guint32 *found);

/** A location as a string: line, column, length of the file's name, that name and the text. Returns: (transfer none): it
 *  lives as long as the context */
const char *_gantry_block_location_text (GantryContext *context, guint32 location);

G_END_DECLS
