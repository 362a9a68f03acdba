/* SPDX-License-Identifier: Apache-2.0 */
/* From a display list (drawing/scene.h) to GTK's render nodes: the one place where the two meet. */
#pragma once
#include "drawing/scene.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/** GantryPen: the texts of one widget, shaped once and drawn at any zoom. Main thread. */
typedef struct _GantryPen GantryPen;

/** @widget: whose fonts are used; it must outlive the pen. */
GantryPen *gantry_pen_new (GtkWidget *widget);
void gantry_pen_free (GantryPen *pen);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryPen, gantry_pen_free)

/** Appends all marks of @scene to @snapshot. */
void gantry_pen_draw (GantryPen *pen, GtkSnapshot *snapshot, const GantryScene *scene, const GantryTheme *theme);
/** As above, as a node to keep. Returns: (transfer full) (nullable): NULL when there is nothing to see */
GskRenderNode *gantry_pen_render (GantryPen *pen, const GantryScene *scene, const GantryTheme *theme);

G_END_DECLS
