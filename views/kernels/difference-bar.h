/* SPDX-License-Identifier: Apache-2.0 */
/* A bar from the middle of its cell: to the right for more, to the left for less. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_DIFFERENCE_BAR (gantry_difference_bar_get_type ())
G_DECLARE_FINAL_TYPE (GantryDifferenceBar, gantry_difference_bar, GANTRY, DIFFERENCE_BAR, GtkWidget)

/** Returns: (transfer floating): a bar that shows no difference */
GtkWidget *gantry_difference_bar_new (void);
/** @value: -1 to 1 */
void gantry_difference_bar_set (GantryDifferenceBar *bar, double value);

G_END_DECLS
