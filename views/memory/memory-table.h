/* SPDX-License-Identifier: Apache-2.0 */
/* What a run took: planned beside touched by part, the process, and what it has beside the plan. */
#pragma once
#include "core/plan/memory-summary.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_MEMORY_TABLE (gantry_memory_table_get_type ())
G_DECLARE_FINAL_TYPE (GantryMemoryTable, gantry_memory_table, GANTRY, MEMORY_TABLE, GtkBox)

/** Returns: (transfer floating): an empty table */
GtkWidget *gantry_memory_table_new (void);
/** Fills it. @summary: (nullable): NULL empties it. @difference: (nullable): in what way what was run is not what is planned now
 *  (gantry_shown_run_difference()): what is called planned is then said to be of the run */
void gantry_memory_table_set (GantryMemoryTable *table, const GantryMemorySummary *summary, const char *difference);
/** The text of a cell, for who cannot see it. @column: 0 is the name. (transfer none) (nullable): NULL where there is none */
const char *gantry_memory_table_get_text (GantryMemoryTable *table, guint row, guint column);

G_END_DECLS
