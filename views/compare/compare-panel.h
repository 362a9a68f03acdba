/* SPDX-License-Identifier: Apache-2.0 */
/* Variants side by side: a table of what each needs and takes, and the same as points of memory against time, with the
 * front that the solver finds. Every row and point can be loaded. */
#pragma once
#include "core/document/document.h"
#include "views/compare/scatter-view.h"

G_BEGIN_DECLS

#define GANTRY_TYPE_COMPARE_PANEL (gantry_compare_panel_get_type ())
G_DECLARE_FINAL_TYPE (GantryComparePanel, gantry_compare_panel, GANTRY, COMPARE_PANEL, GtkBox)

/** Signal "error" (const char *what, const GError *error). */
GtkWidget *gantry_compare_panel_new (GantryDocument *document);
/** Searches for the front on a worker thread; what it finds are rows and points. */
void gantry_compare_panel_find_front (GantryComparePanel *panel, guint n_points, double seconds);
/** Adds the placements as they are now as a variant. @name: (nullable): the next free one */
void gantry_compare_panel_save_variant (GantryComparePanel *panel, const char *name);
/** Rows: the placements as they are now, variants, points of the front. */
guint gantry_compare_panel_n_rows (GantryComparePanel *panel);
/** (transfer none) (nullable): NULL for the first row, and past the end. */
GantryVariant *gantry_compare_panel_get_row (GantryComparePanel *panel, guint row);
/** Makes the document's placements those of @row, as a double click does: one edit. Nothing happens past the end. */
void gantry_compare_panel_load_row (GantryComparePanel *panel, guint row);
/** Index among the rows, as above; G_MAXUINT: none is selected. */
guint gantry_compare_panel_get_selected (GantryComparePanel *panel);
/** TRUE from gantry_compare_panel_find_front() until its answer has come. */
gboolean gantry_compare_panel_is_searching (GantryComparePanel *panel);
/** Returns: (transfer none): the points of memory against time */
GantryScatterView *gantry_compare_panel_get_scatter (GantryComparePanel *panel);

G_END_DECLS
