/* SPDX-License-Identifier: Apache-2.0 */
/* What a canvas hears: the pointer, the wheel, keys, clicks, drags, pinches, and that a tooltip is asked for. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * GantryCanvasHandlers:
 * @motion: of #GtkEventControllerMotion, as @leave
 * @scroll: of #GtkEventControllerScroll, both axes
 * @key_pressed: of #GtkEventControllerKey
 * @click_pressed: of #GtkGestureClick, the first button, as @click_released
 * @drag_begin: of #GtkGestureDrag, the first button, as @drag_update and @drag_end
 * @pinch_begin: "begin" of #GtkGestureZoom
 * @pinch: its "scale-changed"
 * @query_tooltip: of #GtkWidget
 *
 * A handler of each signal; all but @query_tooltip get the canvas as their last argument.
 */
typedef struct
{
  GCallback motion, leave, scroll, key_pressed;
  GCallback click_pressed, click_released;
  GCallback drag_begin, drag_update, drag_end;
  GCallback pinch_begin, pinch;
  GCallback query_tooltip;
} GantryCanvasHandlers;

/**
 * gantry_canvas_add_input:
 * @canvas: gets the controllers, which live as long as it does
 * @handlers: read before the call returns
 *
 * Returns: (transfer none): the gesture of drags, so that it can be reset or take other buttons
 */
GtkGesture *gantry_canvas_add_input (GtkWidget *canvas, const GantryCanvasHandlers *handlers);

G_END_DECLS
