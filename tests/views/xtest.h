/* SPDX-License-Identifier: Apache-2.0 */
/* Tells an X server that its mouse and its keys moved (its XTEST extension). Only on a display where no window manager
 * runs, as the one that tools/test gives: elsewhere the pointer is somebody's. */
#pragma once
#include <gtk/gtk.h>
#include <xcb/xcb.h>

G_BEGIN_DECLS

typedef struct
{
  xcb_connection_t *connection;
  xcb_window_t root;
} ViewsXtest;

/** Returns: (transfer full) (nullable): NULL and the test skipped, where @display is no such X server */
ViewsXtest *views_xtest_new (GdkDisplay *display);
void views_xtest_free (ViewsXtest *xtest);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ViewsXtest, views_xtest_free)

/** Points of the root window. */
void views_xtest_move (ViewsXtest *xtest, double x, double y);
/** The first button; @type: XCB_BUTTON_PRESS or XCB_BUTTON_RELEASE */
void views_xtest_button (ViewsXtest *xtest, guint8 type);
/** Presses and releases the key of @keyval, without modifiers. */
void views_xtest_key (ViewsXtest *xtest, GdkDisplay *display, guint keyval);

G_END_DECLS
