/* SPDX-License-Identifier: Apache-2.0 */
/* The front of memory and time for who is about to choose a size: its points, how far the search for it is, and a button that ends that
 * search. Not to be seen while there is neither. */
#pragma once
#include "core/document/document.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_FRONT_VIEW (gantry_front_view_get_type ())
G_DECLARE_FINAL_TYPE (GantryFrontView, gantry_front_view, GANTRY, FRONT_VIEW, GtkBox)

/** Signal: "chosen" (GantryVariant *): a point. */
GtkWidget *gantry_front_view_new (GantryDocument *document);
/** Points that are drawn, without that of the placements as they are. */
guint gantry_front_view_n_points (GantryFrontView *view);

/** "Finding the front in the background: 42 %". Returns: (transfer full) (nullable): NULL: nobody is at it */
char *gantry_front_progress_text (GantryDocument *document);

G_END_DECLS
