/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the XTEST extension over a connection of its own. The one request that it takes is written here by hand: the
 * library for it would be one more package for 36 bytes. Protocol: "XTEST Extension Protocol", X Consortium, section 4. */
#include "tests/views/xtest.h"
#include <gdk/x11/gdkx.h>
#include <math.h>
#include <xcb/xcbext.h>

#define FAKE_INPUT 2

typedef struct
{
  guint8 major, minor;
  guint16 length;
  guint8 type, detail;
  guint16 pad0;
  guint32 time;
  guint32 root;
  guint32 pad1[2];
  gint16 x, y;
  guint8 pad2[7];
  guint8 device;
} FakeInput;

G_STATIC_ASSERT (sizeof (FakeInput) == 36);

/* One for the process: xcb keeps what it knows of extensions by address. */
static xcb_extension_t xtest = { "XTEST", 0 };

static void
fake (ViewsXtest *self, guint8 type, guint8 detail, double x, double y)
{
  static const xcb_protocol_request_t request = { 2, &xtest, FAKE_INPUT, 1 };
  FakeInput input = {
    .type = type, .detail = detail, .root = type == XCB_MOTION_NOTIFY ? self->root : XCB_NONE, .x = (gint16) lround (x), .y = (gint16) lround (y)
  };
  struct iovec parts[4] = { { NULL, 0 }, { NULL, 0 }, { &input, sizeof input }, { NULL, 0 } };

  /* xcb writes the head and the length, and may use the two parts in front. */
  xcb_send_request (self->connection, 0, parts + 2, &request);
  xcb_flush (self->connection);
  g_assert_cmpint (xcb_connection_has_error (self->connection), ==, 0);
}

ViewsXtest *
views_xtest_new (GdkDisplay *display)
{
  const xcb_query_extension_reply_t *extension;
  ViewsXtest *self;

  if (!GDK_IS_X11_DISPLAY (display) || g_strcmp0 (gdk_x11_screen_get_window_manager_name (gdk_x11_display_get_screen (display)), "unknown") != 0)
    {
      g_test_skip ("the pointer of this display is somebody's; tools/test gives the tests a display of their own");
      return NULL;
    }
  self = g_new0 (ViewsXtest, 1);
  self->connection = xcb_connect (gdk_display_get_name (display), NULL);
  extension = xcb_connection_has_error (self->connection) == 0 ? xcb_get_extension_data (self->connection, &xtest) : NULL;
  if (extension == NULL || !extension->present)
    {
      g_test_skip ("the X server has no extension XTEST");
      views_xtest_free (self);
      return NULL;
    }
  self->root = xcb_setup_roots_iterator (xcb_get_setup (self->connection)).data->root;
  return self;
}

void
views_xtest_free (ViewsXtest *self)
{
  xcb_disconnect (self->connection);
  g_free (self);
}

void
views_xtest_move (ViewsXtest *self, double x, double y)
{
  fake (self, XCB_MOTION_NOTIFY, FALSE, x, y);
}

void
views_xtest_button (ViewsXtest *self, guint8 type)
{
  fake (self, type, 1, 0, 0);
}

void
views_xtest_key (ViewsXtest *self, GdkDisplay *display, guint keyval)
{
  g_autofree GdkKeymapKey *keys = NULL;
  int n_keys;

  g_assert_true (gdk_display_map_keyval (display, keyval, &keys, &n_keys));
  fake (self, XCB_KEY_PRESS, (guint8) keys[0].keycode, 0, 0);
  fake (self, XCB_KEY_RELEASE, (guint8) keys[0].keycode, 0, 0);
}
