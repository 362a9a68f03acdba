/* SPDX-License-Identifier: Apache-2.0 */
/* Start, styles, shortcuts, the About window. */
#include "app/gantry/application.h"
#include "app/gantry/shortcuts.h"
#include "app/gantry/state.h"
#include "app/gantry/window.h"
#include "core/base/child-program.h"
#include "core/document/calibration.h"
#include "gantry-config.h"
#include "gantry-resources.h"
#include <glib-unix.h>
#include <signal.h>

struct _GantryApplication
{
  AdwApplication parent_instance;
  GCancellable *calibrating; /* until the program ends */
  gboolean restored;         /* what was unsaved was looked for */
  gboolean lost;             /* what was unsaved could be kept nowhere */
};

G_DEFINE_FINAL_TYPE (GantryApplication, gantry_application, ADW_TYPE_APPLICATION)

#define RESOURCES "/org/gantry/Gantry"

/* Style */

static void
apply_style (const char *style)
{
  AdwColorScheme scheme = ADW_COLOR_SCHEME_DEFAULT;

  if (g_strcmp0 (style, "light") == 0)
    scheme = ADW_COLOR_SCHEME_FORCE_LIGHT;
  else if (g_strcmp0 (style, "dark") == 0)
    scheme = ADW_COLOR_SCHEME_FORCE_DARK;
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), scheme);
}

static void
change_style (GSimpleAction *action, GVariant *value, gpointer data)
{
  const char *style = g_variant_get_string (value, NULL);

  g_simple_action_set_state (action, value);
  apply_style (style);
  gantry_state_set_string ("style", style);
}

static void
quit (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GList *windows = g_list_copy (gtk_application_get_windows (data));

  /* Each is asked to close, so that none loses an unsaved session. */
  for (GList *at = windows; at != NULL; at = at->next)
    gtk_window_close (at->data);
  g_list_free (windows);
}

static void
about (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkWindow *window = gtk_application_get_active_window (data);

  adw_show_about_window (window, "application-name", "Gantry", "application-icon", "org.gantry.Gantry", "version", GANTRY_VERSION, "license-type",
                         GTK_LICENSE_APACHE_2_0, "comments",
                         "A workbench for neural networks that must fit and run fast: the graph before and after every "
                         "compiler pass, the plan of memory, and the measured run laid over it.",
                         NULL);
}

#define FRONT_POINTS 12
#define FRONT_QUIET_MS 2000

static GtkWidget *
window_new (GtkApplication *application)
{
  GtkWidget *window = gantry_window_new (application);

  gantry_document_keep_front (gantry_window_get_document (GANTRY_WINDOW (window)), FRONT_POINTS, FRONT_QUIET_MS);
  gantry_window_set_find_sizes (GANTRY_WINDOW (window), TRUE);
  return window;
}

static void
new_window (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_window_present (GTK_WINDOW (window_new (data)));
}

static void
keep_all (GtkApplication *self)
{
  for (GList *at = gtk_application_get_windows (self); at != NULL; at = at->next)
    if (GANTRY_IS_WINDOW (at->data) && !gantry_window_keep (at->data))
      GANTRY_APPLICATION (self)->lost = TRUE;
}

/* The session manager ends the program: there is nobody to ask. */
static void
session_ends (GtkApplication *self, gpointer data)
{
  keep_all (self);
}

/* Whoever sends the signal does not wait for an answer either. */
static gboolean
end (gpointer self)
{
  keep_all (self);
  g_application_quit (self);
  return G_SOURCE_CONTINUE;
}

static const GActionEntry actions[] = {
  { "quit", quit, NULL, NULL, NULL, { 0 } },
  { "about", about, NULL, NULL, NULL, { 0 } },
  { "new-window", new_window, NULL, NULL, NULL, { 0 } },
  { "style", NULL, "s", "'system'", change_style, { 0 } },
};

/* What this machine does: measured once, when the window has been drawn and nobody has asked for anything yet */

#define QUIET_SECONDS 3

static void
calibrated (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GtkApplication) self = data;
  g_autoptr (GError) error = NULL;

  /* What could not be measured is tried again at a later start; plans tell that rates are stated. */
  if (!gantry_calibration_start_finish (result, &error))
    return;
  for (GList *at = gtk_application_get_windows (self); at != NULL; at = at->next)
    if (GANTRY_IS_WINDOW (at->data))
      gantry_document_take_machine (gantry_window_get_document (at->data));
}

static gboolean
calibrate (gpointer data)
{
  GantryApplication *self = data;
  g_autofree char *cli = gantry_child_program ();

  if (cli != NULL)
    gantry_calibration_start_async (cli, self->calibrating, calibrated, g_object_ref (self));
  return G_SOURCE_REMOVE;
}

/* Life */

static void
gantry_application_startup (GApplication *application)
{
  g_autoptr (GtkCssProvider) css = gtk_css_provider_new ();
  g_autofree char *style = NULL;

  gantry_file_guard_start (); /* a model may be exported again while it is open */
  g_resources_register (gantry_get_resource ());
  G_APPLICATION_CLASS (gantry_application_parent_class)->startup (application);
  gtk_css_provider_load_from_resource (css, RESOURCES "/style.css");
  gtk_style_context_add_provider_for_display (gdk_display_get_default (), GTK_STYLE_PROVIDER (css), GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
  g_object_set (gtk_settings_get_default (), "gtk-label-select-on-focus", FALSE, NULL); /* to read, not to copy */
  gtk_icon_theme_add_resource_path (gtk_icon_theme_get_for_display (gdk_display_get_default ()), RESOURCES "/icons");
  gtk_window_set_default_icon_name ("org.gantry.Gantry");
  g_action_map_add_action_entries (G_ACTION_MAP (application), actions, G_N_ELEMENTS (actions), application);
  style = gantry_state_get_string ("style");
  if (style != NULL)
    g_action_group_change_action_state (G_ACTION_GROUP (application), "style", g_variant_new_string (style));
  gantry_shortcuts_install (GTK_APPLICATION (application));
  g_signal_connect (application, "query-end", G_CALLBACK (session_ends), NULL);
  g_unix_signal_add (SIGTERM, end, application);
  g_unix_signal_add (SIGHUP, end, application);
  g_unix_signal_add (SIGINT, end, application);
  gantry_calibration_enable ();
  g_timeout_add_seconds_full (G_PRIORITY_LOW, QUIET_SECONDS, calibrate, g_object_ref (application), g_object_unref);
}

static void
gantry_application_shutdown (GApplication *application)
{
  g_cancellable_cancel (GANTRY_APPLICATION (application)->calibrating);
  G_APPLICATION_CLASS (gantry_application_parent_class)->shutdown (application);
}

static void
gantry_application_finalize (GObject *object)
{
  g_object_unref (GANTRY_APPLICATION (object)->calibrating);
  G_OBJECT_CLASS (gantry_application_parent_class)->finalize (object);
}

/* What other processes have left unsaved, once, each in a window; @empty: (nullable): may be used for the first. Returns: how many */
static guint
restore (GantryApplication *self, GtkWidget *empty)
{
  g_autoptr (GPtrArray) list = NULL;

  if (self->restored)
    return 0;
  self->restored = TRUE;
  list = gantry_recovery_list ();
  for (guint i = 0; i < list->len; i++)
    {
      GtkWidget *window = i == 0 && empty != NULL ? empty : window_new (GTK_APPLICATION (self));

      gtk_window_present (GTK_WINDOW (window));
      gantry_window_recover (GANTRY_WINDOW (window), g_ptr_array_index (list, i));
    }
  return list->len;
}

static void
gantry_application_activate (GApplication *application)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (application));
  GtkWidget *empty = NULL;

  if (window == NULL)
    window = GTK_WINDOW (empty = window_new (GTK_APPLICATION (application)));
  gtk_window_present (window);
  restore (GANTRY_APPLICATION (application), empty);
}

/* What was asked for stands in front of what nobody asked for. */
static void
gantry_application_open (GApplication *application, GFile **files, int n_files, const char *hint)
{
  guint n_restored = restore (GANTRY_APPLICATION (application), NULL);

  for (int i = 0; i < n_files; i++)
    {
      GtkWidget *window = window_new (GTK_APPLICATION (application));
      g_autofree char *path = g_file_get_path (files[i]);

      gtk_window_present (GTK_WINDOW (window));
      if (path != NULL)
        gantry_window_open (GANTRY_WINDOW (window), path);
      if (i == 0 && n_restored > 0)
        gantry_window_tell_restored (GANTRY_WINDOW (window), n_restored);
    }
}

static void
gantry_application_class_init (GantryApplicationClass *klass)
{
  GApplicationClass *application_class = G_APPLICATION_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gantry_application_finalize;
  application_class->startup = gantry_application_startup;
  application_class->shutdown = gantry_application_shutdown;
  application_class->activate = gantry_application_activate;
  application_class->open = gantry_application_open;
}

static void
gantry_application_init (GantryApplication *self)
{
  self->calibrating = g_cancellable_new ();
}

GantryApplication *
gantry_application_new (GApplicationFlags flags)
{
  return g_object_new (GANTRY_TYPE_APPLICATION, "application-id", "org.gantry.Gantry", "flags", flags | G_APPLICATION_HANDLES_OPEN, "resource-base-path",
                       RESOURCES, "register-session", TRUE, NULL);
}

int
gantry_application_status (GantryApplication *self, int status)
{
  return status == 0 && self->lost ? 1 : status;
}
