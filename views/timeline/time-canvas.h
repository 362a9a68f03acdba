/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes or memory curve as a widget on a shared axis. */
#pragma once
#include "drawing/painters.h"
#include "views/selection.h"
#include "views/timeline/time-axis.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_TIME_CANVAS (gantry_time_canvas_get_type ())
G_DECLARE_FINAL_TYPE (GantryTimeCanvas, gantry_time_canvas, GANTRY, TIME_CANVAS, GtkWidget)

typedef enum
{
  GANTRY_TIME_LANES,
  GANTRY_TIME_MEMORY
} GantryTimeKind;

/** Returns: (transfer floating): of @kind, without a model; it keeps @axis and @selection, which it shares */
GtkWidget *gantry_time_canvas_new (GantryTimeKind kind, GantryTimeAxis *axis, GantrySelection *selection);
/** @model: (nullable); @snapshot: the last one, whose nodes the plan names; @limit: bytes of device memory, 0: none */
void gantry_time_canvas_set_model (GantryTimeCanvas *canvas, GantryTimeModel *model, GantryPlan *plan, guint snapshot, guint64 limit);
/** @difference: (nullable): in what way what was measured is not of the plan: it is said beside its peak */
void gantry_time_canvas_set_difference (GantryTimeCanvas *canvas, const char *difference);
/** @limit: bytes of device memory, drawn as a line; 0: none */
void gantry_time_canvas_set_limit (GantryTimeCanvas *canvas, guint64 limit);
/** Shows the selection, with some time around it. Returns: FALSE where nothing of it takes time */
gboolean gantry_time_canvas_show_selection (GantryTimeCanvas *canvas);
/** Marks that were left out of the last frame for want of budget; 0 is right. */
guint gantry_time_canvas_n_clipped (GantryTimeCanvas *canvas);
/** As if the user clicked there. */
void gantry_time_canvas_click (GantryTimeCanvas *canvas, double x, double y, gboolean toggle);

G_END_DECLS
