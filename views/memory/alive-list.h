/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds memory at a moment: every place that is alive, largest first, and until which use. */
#pragma once
#include "views/selection.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_ALIVE_LIST (gantry_alive_list_get_type ())
G_DECLARE_FINAL_TYPE (GantryAliveList, gantry_alive_list, GANTRY, ALIVE_LIST, GtkBox)

/** Returns: (transfer floating): an empty list, whose rows select their nodes in @selection */
GtkWidget *gantry_alive_list_new (GantrySelection *selection);
/** Lists what is alive while @step of @plan, a plan of the last snapshot, runs. @limit: bytes that the sum is shown beside, 0: none; @touched:
 *  likewise, of the peak of a run, so that the plan's peak reads as it does beside that */
void gantry_alive_list_set (GantryAliveList *list, GantryCompilation *compilation, const GantryPlan *plan, guint32 step, guint64 limit, guint64 touched);
/** @words: shown instead of a list */
void gantry_alive_list_clear (GantryAliveList *list, const char *words);
/** How many places are listed. */
guint gantry_alive_list_count (GantryAliveList *list);
/** The bytes of all that is listed. */
guint64 gantry_alive_list_bytes (GantryAliveList *list);

G_END_DECLS
