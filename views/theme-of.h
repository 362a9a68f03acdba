/* SPDX-License-Identifier: Apache-2.0 */
/* The theme that a widget draws with: light or dark as libadwaita's style manager says, and a redraw when it changes. */
#pragma once
#include "drawing/theme.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/** The colours of the light or dark style, as the desktop asks for one now; gantry_theme_watch() tells of another. (transfer none) */
const GantryTheme *gantry_theme_of (GtkWidget *widget);
/** Calls @changed (swapped: with @object) when the theme of @object changes, for as long as @object lives. */
void gantry_theme_watch (gpointer object, void (*changed) (gpointer object));

G_END_DECLS
