/* SPDX-License-Identifier: Apache-2.0 */
/* The list of snapshots: the import and every pass, with what it changed and how long it took, and a switch for
 * each that can be left out. */
#pragma once
#include "core/document/document.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_PASS_LIST (gantry_pass_list_get_type ())
G_DECLARE_FINAL_TYPE (GantryPassList, gantry_pass_list, GANTRY, PASS_LIST, GtkBox)

/** Signal "selected" (guint index of the snapshot): the user or gantry_pass_list_select() chose another. */
GtkWidget *gantry_pass_list_new (GantryDocument *document);
/** Returns: index of the snapshot that is selected, 0 for the import */
guint gantry_pass_list_get_selected (GantryPassList *list);
/** @index: of a snapshot; nothing happens where there is none, or its pass was left out. */
void gantry_pass_list_select (GantryPassList *list, guint index);

G_END_DECLS
