/* SPDX-License-Identifier: Apache-2.0 */
/* Packing problems as tables of text, as the benchmark sets of google/minimalloc are kept. */
#pragma once
#include "core/planner/pack/pack.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 n;
  GantryPackItem *items;
  char **ids; /* as the file names them; n, and NULL at the end */
} GantryPackTable;

void gantry_pack_table_free (GantryPackTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryPackTable, gantry_pack_table_free)

/**
 * gantry_pack_table_from_csv:
 * @text: need not end with a zero
 * @name: of the file, for messages
 *
 * The first line names the columns, in any order: `id`, `lower` (first step), `upper` (the step after the last) or `end`
 * (the last step), `size` (bytes). Others are passed over. Fields hold no quotes and no commas; lines may end with CRLF,
 * empty ones and ones that begin with # are passed over. At most 1,000,000 buffers, steps below 2^32 - 1, and sizes that
 * are together below 2^62.
 *
 * Returns: (transfer full) (nullable): NULL with %GANTRY_ERROR_INVALID, which names line and field
 */
GantryPackTable *gantry_pack_table_from_csv (const char *text, gsize length, const char *name, GError **error);

G_END_DECLS
