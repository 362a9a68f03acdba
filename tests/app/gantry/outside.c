/* SPDX-License-Identifier: Apache-2.0 */
/* A program of its own process as its user meets it. Interfaces: "AT-SPI 2 protocol", freedesktop.org (org.a11y.atspi). */
#include "tests/app/gantry/outside.h"
#include "tests/views/xtest.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE (240 * G_USEC_PER_SEC) /* a hang fails the test, whatever the machine's speed */
#define PAUSE 50000
#define MOST_DEPTH 60
#define WINDOW_COORDINATES 1u
#define STATE_VISIBLE 30u

struct _Outside
{
  GTestDBus *bus;
  GDBusConnection *accessible; /* the bus of AT-SPI */
  GSubprocess *process;
  GdkDisplay *display;
  ViewsXtest *xtest;
  char *folder; /* settings, cache and sockets */
};

/* Objects of the accessible tree */

typedef struct
{
  char *bus, *path;
} Object;

static void
object_free (gpointer data)
{
  Object *object = data;

  g_free (object->bus);
  g_free (object->path);
  g_free (object);
}

static Object *
object_new (const char *bus, const char *path)
{
  Object *object = g_new (Object, 1);

  *object = (Object){ g_strdup (bus), g_strdup (path) };
  return object;
}

/* What is asked may be gone meanwhile: then there is no answer. */
static GVariant *
ask (Outside *o, const Object *object, const char *interface, const char *method, GVariant *arguments)
{
  return g_dbus_connection_call_sync (o->accessible, object->bus, object->path, interface, method, arguments, NULL, G_DBUS_CALL_FLAGS_NONE, 10000, NULL, NULL);
}

static GPtrArray *
children_of (Outside *o, const Object *object)
{
  GPtrArray *children = g_ptr_array_new_with_free_func (object_free);
  g_autoptr (GVariant) answer = ask (o, object, "org.a11y.atspi.Accessible", "GetChildren", NULL);
  GVariantIter *iter;
  const char *bus, *path;

  if (answer == NULL)
    return children;
  g_variant_get (answer, "(a(so))", &iter);
  while (g_variant_iter_next (iter, "(&s&o)", &bus, &path))
    g_ptr_array_add (children, object_new (bus, path));
  g_variant_iter_free (iter);
  return children;
}

static char *
name_of (Outside *o, const Object *object)
{
  g_autoptr (GVariant) answer = ask (o, object, "org.freedesktop.DBus.Properties", "Get", g_variant_new ("(ss)", "org.a11y.atspi.Accessible", "Name"));
  g_autoptr (GVariant) value = NULL;

  if (answer == NULL)
    return g_strdup ("");
  g_variant_get (answer, "(v)", &value);
  return g_variant_dup_string (value, NULL);
}

static char *
role_of (Outside *o, const Object *object)
{
  g_autoptr (GVariant) answer = ask (o, object, "org.a11y.atspi.Accessible", "GetRoleName", NULL);
  char *role = NULL;

  if (answer != NULL)
    g_variant_get (answer, "(s)", &role);
  return role != NULL ? role : g_strdup ("");
}

static gboolean
is_visible (Outside *o, const Object *object)
{
  g_autoptr (GVariant) answer = ask (o, object, "org.a11y.atspi.Accessible", "GetState", NULL);
  g_autoptr (GVariantIter) iter = NULL;
  guint32 word;

  if (answer == NULL)
    return FALSE;
  g_variant_get (answer, "(au)", &iter);
  return g_variant_iter_next (iter, "u", &word) && (word & 1u << STATE_VISIBLE) != 0;
}

/* Of the window's own coordinates. */
static gboolean
get_area (Outside *o, const Object *object, OutsideArea *area)
{
  g_autoptr (GVariant) answer = ask (o, object, "org.a11y.atspi.Component", "GetExtents", g_variant_new ("(u)", WINDOW_COORDINATES));

  if (answer == NULL)
    return FALSE;
  g_variant_get (answer, "((iiii))", &area->x, &area->y, &area->width, &area->height);
  return area->width > 0 && area->height > 0;
}

/* The largest window on the screen. */
static OutsideArea
largest_window (Outside *o)
{
  xcb_connection_t *c = o->xtest->connection;
  xcb_query_tree_reply_t *tree = xcb_query_tree_reply (c, xcb_query_tree (c, o->xtest->root), NULL);
  OutsideArea largest = { 0 };

  g_assert_nonnull (tree);
  for (int i = 0; i < xcb_query_tree_children_length (tree); i++)
    {
      xcb_get_geometry_reply_t *at = xcb_get_geometry_reply (c, xcb_get_geometry (c, xcb_query_tree_children (tree)[i]), NULL);

      if (at != NULL && at->width * at->height > largest.width * largest.height)
        largest = (OutsideArea){ at->x, at->y, at->width, at->height };
      free (at);
    }
  free (tree);
  return largest;
}

/* @window: in its own coordinates; around it a window has a border that is as wide on all sides. */
static void
to_screen (Outside *o, const OutsideArea *window, OutsideArea *area)
{
  const OutsideArea outer = largest_window (o);

  area->x += outer.x + (outer.width - window->width) / 2;
  area->y += outer.y + (outer.height - window->height) / 2;
}

/* @told: (nullable): gets a line for each object that is visible */
static char *
search (Outside *o, const Object *object, const char *role, const char *text, OutsideArea *area, GString *told, guint depth)
{
  g_autofree char *name = NULL, *own_role = NULL;
  g_autoptr (GPtrArray) children = NULL;
  OutsideArea own;
  char *found = NULL;

  if (!is_visible (o, object) || !get_area (o, object, &own))
    return NULL;
  name = name_of (o, object);
  own_role = role_of (o, object);
  if (told != NULL && *name != '\0')
    g_string_append_printf (told, "# %*s%s '%s'\n", (int) depth, "", own_role, name);
  if ((role == NULL || strcmp (own_role, role) == 0) && strstr (name, text) != NULL)
    {
      *area = own;
      return g_steal_pointer (&name);
    }
  children = depth < MOST_DEPTH ? children_of (o, object) : g_ptr_array_new ();
  for (guint i = 0; i < children->len && found == NULL; i++)
    found = search (o, g_ptr_array_index (children, i), role, text, area, told, depth + 1);
  return found;
}

static char *
search_all (Outside *o, const char *role, const char *text, OutsideArea *area, GString *told)
{
  const Object root = { (char *) "org.a11y.atspi.Registry", (char *) "/org/a11y/atspi/accessible/root" };
  g_autoptr (GPtrArray) programs = children_of (o, &root);
  char *found = NULL;

  for (guint i = 0; i < programs->len && found == NULL; i++)
    {
      g_autoptr (GPtrArray) windows = children_of (o, g_ptr_array_index (programs, i));

      for (guint w = 0; w < windows->len && found == NULL; w++)
        {
          OutsideArea whole, own;

          found = search (o, g_ptr_array_index (windows, w), role, text, &own, told, 0);
          if (found == NULL || area == NULL || !get_area (o, g_ptr_array_index (windows, w), &whole))
            continue;
          to_screen (o, &whole, &own);
          *area = own;
        }
    }
  return found;
}

char *
outside_find (Outside *o, const char *role, const char *text, OutsideArea *area)
{
  return search_all (o, role, text, area, NULL);
}

char *
outside_wait (Outside *o, const char *role, const char *text, OutsideArea *area)
{
  gint64 end = g_get_monotonic_time () + PATIENCE;
  char *found = NULL;

  while ((found = outside_find (o, role, text, area)) == NULL)
    {
      gboolean ended = g_subprocess_get_identifier (o->process) == NULL;

      if (ended || g_get_monotonic_time () > end)
        {
          g_autoptr (GString) told = g_string_new (NULL);

          g_free (search_all (o, "no such role", "", NULL, told));
          g_error ("%s '%s' is not shown%s; what is:\n%s", role != NULL ? role : "anything", text, ended ? ", the program has ended" : "", told->str);
        }
      g_main_context_iteration (NULL, FALSE); /* hears when the program ends */
      g_usleep (PAUSE);
    }
  return found;
}

/* Input and picture */

void
outside_click (Outside *o, const OutsideArea *area)
{
  views_xtest_move (o->xtest, area->x + area->width / 2.0, area->y + area->height / 2.0);
  views_xtest_button (o->xtest, XCB_BUTTON_PRESS);
  views_xtest_button (o->xtest, XCB_BUTTON_RELEASE);
}

void
outside_key (Outside *o, guint keyval)
{
  OutsideArea window = largest_window (o);

  views_xtest_move (o->xtest, window.x + window.width / 2.0, window.y + window.height / 2.0); /* keys go where the pointer is */
  views_xtest_key (o->xtest, o->display, keyval);
}

guint
outside_count (Outside *o, const OutsideArea *area, GantryInk ink)
{
  const GantryColor *color = &gantry_theme_get (FALSE)->ink[ink];
  const guint8 wanted[] = { (guint8) lroundf (color->blue * 255), (guint8) lroundf (color->green * 255), (guint8) lroundf (color->red * 255) };
  xcb_get_image_cookie_t cookie = xcb_get_image (o->xtest->connection, XCB_IMAGE_FORMAT_Z_PIXMAP, o->xtest->root, (gint16) area->x, (gint16) area->y,
                                                 (guint16) area->width, (guint16) area->height, ~0u);
  xcb_get_image_reply_t *image = xcb_get_image_reply (o->xtest->connection, cookie, NULL);
  const guint8 *data;
  guint n = 0;

  g_assert_nonnull (image);
  g_assert_cmpint (image->depth, ==, 24); /* blue, green, red and a byte that says nothing */
  data = xcb_get_image_data (image);
  for (int i = 0; i < xcb_get_image_data_length (image); i += 4)
    n += memcmp (data + i, wanted, sizeof wanted) == 0;
  free (image);
  return n;
}

/* Start and end */

static gboolean
connect_accessible (Outside *o)
{
  g_autoptr (GDBusConnection) session = NULL;
  g_autoptr (GVariant) answer = NULL;
  const char *address;

  session = g_dbus_connection_new_for_address_sync (
    g_test_dbus_get_bus_address (o->bus), G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL, NULL, NULL);
  if (session == NULL)
    return FALSE;
  answer = g_dbus_connection_call_sync (session, "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", NULL, G_VARIANT_TYPE ("(s)"),
                                        G_DBUS_CALL_FLAGS_NONE, 60000, NULL, NULL);
  if (answer == NULL)
    return FALSE;
  g_variant_get (answer, "(&s)", &address);
  o->accessible = g_dbus_connection_new_for_address_sync (
    address, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL, NULL, NULL);
  return o->accessible != NULL;
}

static void
start_process (Outside *o, const char *const *arguments)
{
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE);
  g_autoptr (GError) error = NULL;

  g_subprocess_launcher_setenv (launcher, "DISPLAY", gdk_display_get_name (o->display), TRUE); /* the test's bus takes it away */
  g_subprocess_launcher_setenv (launcher, "GTK_A11Y", "atspi", TRUE);
  g_subprocess_launcher_unsetenv (launcher, "NO_AT_BRIDGE");
  g_subprocess_launcher_unsetenv (launcher, "GANTRY_CLI"); /* a user has none */
  g_subprocess_launcher_setenv (launcher, "XDG_CONFIG_HOME", o->folder, TRUE);
  g_subprocess_launcher_setenv (launcher, "XDG_STATE_HOME", o->folder, TRUE);
  o->process = g_subprocess_launcher_spawnv (launcher, arguments, &error);
  g_assert_no_error (error);
}

Outside *
outside_start (const char *const *arguments)
{
  g_autoptr (Outside) o = NULL;

  if (!gtk_init_check ())
    {
      g_test_skip ("there is no display; tools/test gives the tests one");
      return NULL;
    }
  o = g_new0 (Outside, 1);
  o->display = gdk_display_get_default ();
  o->xtest = views_xtest_new (o->display);
  if (o->xtest == NULL)
    return NULL;
  o->folder = g_dir_make_tmp ("gantry-outside-XXXXXX", NULL);
  g_setenv ("XDG_RUNTIME_DIR", o->folder, TRUE); /* the bus of AT-SPI has its socket there */
  o->bus = g_test_dbus_new (G_TEST_DBUS_NONE);
  g_test_dbus_add_service_dir (o->bus, "/usr/share/dbus-1/services");
  g_test_dbus_up (o->bus);
  if (!connect_accessible (o))
    {
      g_test_skip ("there is no AT-SPI here (at-spi2-core)");
      return NULL;
    }
  start_process (o, arguments);
  return g_steal_pointer (&o);
}

static void
remove_folder (const char *folder)
{
  const char *const arguments[] = { "rm", "-rf", folder, NULL };

  g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
}

void
outside_free (Outside *o)
{
  if (o->process != NULL)
    {
      g_subprocess_force_exit (o->process);
      g_subprocess_wait (o->process, NULL, NULL);
    }
  g_clear_object (&o->process);
  g_clear_object (&o->accessible);
  if (o->bus != NULL)
    g_test_dbus_stop (o->bus);
  g_clear_object (&o->bus);
  g_clear_pointer (&o->xtest, views_xtest_free);
  if (o->folder != NULL)
    remove_folder (o->folder);
  g_free (o->folder);
  g_free (o);
}
