/* SPDX-License-Identifier: Apache-2.0 */
/* A child that wraps, in as much height as it needs at the width it is given, up to a limit; where there is less it scrolls. A scrolled
 * window alone asks its child for a height without saying how wide it will be. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_SCROLL_FIT (gantry_scroll_fit_get_type ())
G_DECLARE_FINAL_TYPE (GantryScrollFit, gantry_scroll_fit, GANTRY, SCROLL_FIT, GtkWidget)

/**
 * gantry_scroll_fit_new:
 * @child: (nullable) (transfer floating)
 * @least: the height in points that it keeps where room is short
 * @most: above which it scrolls
 *
 * Returns: (transfer floating)
 */
GtkWidget *gantry_scroll_fit_new (GtkWidget *child, int least, int most);
/** @child: (nullable) (transfer floating): in place of the one before */
void gantry_scroll_fit_set_child (GantryScrollFit *self, GtkWidget *child);
/** @most: points of height above which it scrolls */
void gantry_scroll_fit_set_most (GantryScrollFit *self, int most);

G_END_DECLS
