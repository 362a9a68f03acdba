/* SPDX-License-Identifier: Apache-2.0 */
/* Beside the memory curve: who is alive at a moment, and, where memory was measured, what the run took. */
#pragma once
#include "views/memory/alive-list.h"
#include "views/memory/memory-table.h"

G_BEGIN_DECLS

#define GANTRY_TYPE_MEMORY_SIDE (gantry_memory_side_get_type ())
G_DECLARE_FINAL_TYPE (GantryMemorySide, gantry_memory_side, GANTRY, MEMORY_SIDE, GtkBox)

/** Returns: (transfer floating): with an empty list, whose rows select in @selection */
GtkWidget *gantry_memory_side_new (GantrySelection *selection);
/** @summary: (nullable): NULL where nothing was measured: then there is the list alone.
 *  @difference: as gantry_memory_table_set() */
void gantry_memory_side_set (GantryMemorySide *side, const GantryMemorySummary *summary, const char *difference);
/** Shows what the run took (TRUE), if that is known, or who is alive. */
void gantry_memory_side_show_measured (GantryMemorySide *side, gboolean measured);
/** Returns: (transfer none): the list of who is alive */
GantryAliveList *gantry_memory_side_get_alive (GantryMemorySide *side);
/** Returns: (transfer none): the table of what the run took */
GantryMemoryTable *gantry_memory_side_get_table (GantryMemorySide *side);

G_END_DECLS
