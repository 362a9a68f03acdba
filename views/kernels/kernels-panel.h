/* SPDX-License-Identifier: Apache-2.0 */
/* Page of the bottom panel: every kernel and copy of the run shown, planned beside measured. */
#pragma once
#include "core/document/document.h"
#include "views/kernels/kernel-item.h"
#include "views/selection.h"

G_BEGIN_DECLS

#define GANTRY_TYPE_KERNELS_PANEL (gantry_kernels_panel_get_type ())
G_DECLARE_FINAL_TYPE (GantryKernelsPanel, gantry_kernels_panel, GANTRY, KERNELS_PANEL, GtkBox)

/** Signals: "export": the table is wanted in a file; "activated" (uint node): a row was activated. */
GtkWidget *gantry_kernels_panel_new (GantryDocument *document, GantrySelection *selection);
/** TRUE when the rows are those of the document's run. */
gboolean gantry_kernels_panel_is_ready (GantryKernelsPanel *panel);
/** Rows as they are sorted and filtered. */
guint gantry_kernels_panel_n_rows (GantryKernelsPanel *panel);
/** (transfer none) (nullable) */
GantryKernelItem *gantry_kernels_panel_get_row (GantryKernelsPanel *panel, guint row);
/** @row: as they are sorted and filtered, from 0. It selects its node too, as a click does. */
void gantry_kernels_panel_select_row (GantryKernelsPanel *panel, guint row);
/** @words: parts of names, operations, scopes, phases: a row has to have all of them. */
void gantry_kernels_panel_set_filter (GantryKernelsPanel *panel, const char *words);
/** The line of totals. (transfer none) */
const char *gantry_kernels_panel_get_summary (GantryKernelsPanel *panel);
/** All rows as CSV, whatever is filtered. @read: (nullable): as gantry_output_new() */
gboolean gantry_kernels_panel_write_csv (GantryKernelsPanel *panel, GFile *file, GantryReadFiles *read, GError **error);

G_END_DECLS
