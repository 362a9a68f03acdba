/* SPDX-License-Identifier: Apache-2.0 */
/* The mouse and the keyboard of an X server for one window: each request is done when the window has dealt with it. */
#include "tests/views/pointer.h"
#include "tests/views/views-test.h"
#include "tests/views/xtest.h"
#include <gdk/x11/gdkx.h>
#include <math.h>
#include <stdlib.h>

#define DRAG_STEPS 5
/* Milliseconds that a press waits for another one: */
#define ALONE 1
#define FOLLOWED 60000

struct _ViewsPointer
{
  GtkWidget *window;
  ViewsXtest *xtest;
  GtkEventController *watch;
  guint n_buttons, n_keys; /* events that the window was told of */
  double x, y;             /* the pointer, as it knows, of its surface */
  double asked_x, asked_y; /* where it was sent */
};

/* Sees everything that reaches the window, before the widgets do and without taking it. */
static gboolean
seen (GtkEventControllerLegacy *controller, GdkEvent *event, gpointer data)
{
  ViewsPointer *self = data;

  switch ((int) gdk_event_get_event_type (event))
    {
    case GDK_BUTTON_PRESS:
    case GDK_BUTTON_RELEASE: self->n_buttons++; break;
    case GDK_KEY_PRESS:
    case GDK_KEY_RELEASE: self->n_keys++; break;
    case GDK_ENTER_NOTIFY:
    case GDK_MOTION_NOTIFY: gdk_event_get_position (event, &self->x, &self->y); break;
    default: break;
    }
  return GDK_EVENT_PROPAGATE;
}

/* What is one double click must not hang on how busy the machine is: how long a press waits for the next one is said
 * before each press. */
static void
patience (ViewsPointer *self, int milliseconds)
{
  g_object_set (gtk_widget_get_settings (self->window), "gtk-double-click-time", milliseconds, NULL);
}

ViewsPointer *
views_pointer_new (GtkWidget *window)
{
  ViewsXtest *xtest = views_xtest_new (gtk_widget_get_display (window));
  ViewsPointer *self;

  if (xtest == NULL)
    return NULL;
  self = g_new0 (ViewsPointer, 1);
  self->xtest = xtest;
  self->window = window;
  self->x = self->y = -1;
  self->watch = gtk_event_controller_legacy_new ();
  gtk_event_controller_set_propagation_phase (self->watch, GTK_PHASE_CAPTURE);
  g_signal_connect (self->watch, "event", G_CALLBACK (seen), self);
  gtk_widget_add_controller (window, self->watch);
  patience (self, ALONE);
  return self;
}

void
views_pointer_free (ViewsPointer *self)
{
  gtk_widget_remove_controller (self->window, self->watch);
  views_xtest_free (self->xtest);
  g_free (self);
}

static gboolean
is_there (ViewsPointer *self)
{
  return fabs (self->x - self->asked_x) < 1 && fabs (self->y - self->asked_y) < 1;
}

/* @x, @y: of the surface of the window */
static void
go (ViewsPointer *self, double x, double y)
{
  GdkSurface *surface = gtk_native_get_surface (GTK_NATIVE (self->window));
  xcb_translate_coordinates_cookie_t cookie;
  xcb_translate_coordinates_reply_t *origin;
  int scale = gdk_surface_get_scale_factor (surface);

  cookie = xcb_translate_coordinates (self->xtest->connection, (xcb_window_t) gdk_x11_surface_get_xid (surface), self->xtest->root, 0, 0);
  origin = xcb_translate_coordinates_reply (self->xtest->connection, cookie, NULL);
  g_assert_nonnull (origin);
  self->asked_x = round (x);
  self->asked_y = round (y);
  views_xtest_move (self->xtest, origin->dst_x + self->asked_x * scale, origin->dst_y + self->asked_y * scale);
  free (origin);
  views_wait_until (is_there (self));
  views_settle ();
}

void
views_pointer_move (ViewsPointer *self, GtkWidget *widget, double x, double y)
{
  double surface_x, surface_y, shift_x, shift_y;

  g_assert_true (gtk_widget_translate_coordinates (widget, self->window, x, y, &surface_x, &surface_y));
  gtk_native_get_surface_transform (GTK_NATIVE (self->window), &shift_x, &shift_y);
  go (self, surface_x + shift_x, surface_y + shift_y);
}

static void
button (ViewsPointer *self, guint8 type)
{
  guint n = self->n_buttons;

  views_xtest_button (self->xtest, type);
  views_wait_until (self->n_buttons > n);
  views_settle ();
}

void
views_pointer_press (ViewsPointer *self)
{
  button (self, XCB_BUTTON_PRESS);
}

void
views_pointer_release (ViewsPointer *self)
{
  button (self, XCB_BUTTON_RELEASE);
}

void
views_pointer_click (ViewsPointer *self, GtkWidget *widget, double x, double y, guint n_press)
{
  views_pointer_move (self, widget, x, y);
  for (guint i = 0; i < n_press; i++)
    {
      patience (self, i + 1 < n_press ? FOLLOWED : ALONE);
      views_pointer_press (self);
      views_pointer_release (self);
    }
  g_usleep (2 * ALONE * 1000);
  views_settle ();
}

void
views_pointer_drag (ViewsPointer *self, GtkWidget *widget, double x, double y, double dx, double dy)
{
  double from_x, from_y;

  views_pointer_move (self, widget, x, y);
  from_x = self->asked_x;
  from_y = self->asked_y;
  views_pointer_press (self);
  /* By the surface, not by the widget: what is dragged may move under the pointer. */
  for (int i = 1; i <= DRAG_STEPS; i++)
    go (self, from_x + dx * i / DRAG_STEPS, from_y + dy * i / DRAG_STEPS);
}

void
views_pointer_key (ViewsPointer *self, guint keyval)
{
  guint n = self->n_keys;

  views_xtest_key (self->xtest, gtk_widget_get_display (self->window), keyval);
  views_wait_until (self->n_keys > n + 1);
  views_settle ();
}
