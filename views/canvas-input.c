/* SPDX-License-Identifier: Apache-2.0 */
/* The event controllers of a canvas. */
#include "views/canvas-input.h"

GtkGesture *
gantry_canvas_add_input (GtkWidget *canvas, const GantryCanvasHandlers *handlers)
{
  GtkEventController *controller = gtk_event_controller_motion_new ();
  GtkGesture *gesture, *drag;

  g_signal_connect (controller, "motion", handlers->motion, canvas);
  g_signal_connect (controller, "leave", handlers->leave, canvas);
  gtk_widget_add_controller (canvas, controller);
  controller = gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
  g_signal_connect (controller, "scroll", handlers->scroll, canvas);
  gtk_widget_add_controller (canvas, controller);
  controller = gtk_event_controller_key_new ();
  g_signal_connect (controller, "key-pressed", handlers->key_pressed, canvas);
  gtk_widget_add_controller (canvas, controller);
  gesture = gtk_gesture_click_new ();
  g_signal_connect (gesture, "pressed", handlers->click_pressed, canvas);
  g_signal_connect (gesture, "released", handlers->click_released, canvas);
  gtk_widget_add_controller (canvas, GTK_EVENT_CONTROLLER (gesture));
  drag = gtk_gesture_drag_new ();
  g_signal_connect (drag, "drag-begin", handlers->drag_begin, canvas);
  g_signal_connect (drag, "drag-update", handlers->drag_update, canvas);
  g_signal_connect (drag, "drag-end", handlers->drag_end, canvas);
  gtk_widget_add_controller (canvas, GTK_EVENT_CONTROLLER (drag));
  gesture = gtk_gesture_zoom_new ();
  g_signal_connect (gesture, "begin", handlers->pinch_begin, canvas);
  g_signal_connect (gesture, "scale-changed", handlers->pinch, canvas);
  gtk_widget_add_controller (canvas, GTK_EVENT_CONTROLLER (gesture));
  gtk_widget_set_has_tooltip (canvas, TRUE);
  g_signal_connect (canvas, "query-tooltip", handlers->query_tooltip, NULL);
  return drag;
}
