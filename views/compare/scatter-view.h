/* SPDX-License-Identifier: Apache-2.0 */
/* Memory against time as a widget: one point can be selected, by mouse and by keys, and activated. */
#pragma once
#include "drawing/painters.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_SCATTER_VIEW (gantry_scatter_view_get_type ())
G_DECLARE_FINAL_TYPE (GantryScatterView, gantry_scatter_view, GANTRY, SCATTER_VIEW, GtkWidget)

/** Signals: "selected" (guint), "activated" (guint): index of a point. */
GtkWidget *gantry_scatter_view_new (void);
/** @points: (array length=n): copied, their labels too */
void gantry_scatter_view_set (GantryScatterView *view, const GantryScatterPoint *points, guint n, guint64 limit);
void gantry_scatter_view_select (GantryScatterView *view, guint index); /* G_MAXUINT: none */

G_END_DECLS
