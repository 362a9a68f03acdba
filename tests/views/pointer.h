/* SPDX-License-Identifier: Apache-2.0 */
/* A mouse and a keyboard for tests: the X server is told that they moved (its XTEST extension), so that everything from the
 * server to the handler is the real way: picking, grabs, gestures that compete, double clicks. Only on a display where no
 * window manager runs, as the one that tools/test gives: elsewhere the pointer is somebody's. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct _ViewsPointer ViewsPointer;

/** For @window, which must be mapped. Returns: (transfer full) (nullable): NULL and the test skipped, where it cannot be */
ViewsPointer *views_pointer_new (GtkWidget *window);
void views_pointer_free (ViewsPointer *pointer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ViewsPointer, views_pointer_free)

/** To @x, @y in coordinates of @widget. Each of these returns when the window has dealt with the event. */
void views_pointer_move (ViewsPointer *pointer, GtkWidget *widget, double x, double y);
void views_pointer_press (ViewsPointer *pointer);
void views_pointer_release (ViewsPointer *pointer);
/** @n_press: 2 for a double click. Never one click with those before it. */
void views_pointer_click (ViewsPointer *pointer, GtkWidget *widget, double x, double y, guint n_press);
/** Presses at @x, @y and goes by @dx, @dy in some steps; the button stays down. */
void views_pointer_drag (ViewsPointer *pointer, GtkWidget *widget, double x, double y, double dx, double dy);
/** Presses and releases the key of @keyval, without modifiers. */
void views_pointer_key (ViewsPointer *pointer, guint keyval);

G_END_DECLS
