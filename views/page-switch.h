/* SPDX-License-Identifier: Apache-2.0 */
/* The two pages of the panel at the bottom, as linked buttons: both title bars show them, so that the one not seen is
 * one click away. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

/** Bound to the action "win.bottom-page" with the targets "time" and "compare". Returns: (transfer floating) */
GtkWidget *gantry_page_switch_new (void);
/** The button that gives the panel the whole height: "win.maximize-time". Returns: (transfer floating) */
GtkWidget *gantry_maximize_button_new (void);

G_END_DECLS
