/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that is known of what is selected, and its code; of the whole model where nothing is. */
#pragma once
#include "views/code/code-view.h"
#include "views/selection.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_INSPECTOR (gantry_inspector_get_type ())
G_DECLARE_FINAL_TYPE (GantryInspector, gantry_inspector, GANTRY, INSPECTOR, GtkBox)

/** Returns: (transfer floating): it follows document and selection, and keeps them */
GtkWidget *gantry_inspector_new (GantryDocument *document, GantrySelection *selection);
/** All words of the page "node", a line each: for tests and for copying. (transfer full) */
char *gantry_inspector_to_text (GantryInspector *inspector);
/** "node" or "code". */
void gantry_inspector_show_page (GantryInspector *inspector, const char *page);
/** Returns: (transfer none): what the page "code" shows */
GantryCodeView *gantry_inspector_get_code_view (GantryInspector *inspector);

G_END_DECLS
