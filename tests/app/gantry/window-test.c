/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the window share. */
#include "tests/app/gantry/window-test.h"
#include "app/gantry/application.h"
#include "drawing/theme.h"
#include <string.h>

static GantryApplication *application;
static char *config_folder;

void
window_test_init (int *argc, char ***argv)
{
  g_autoptr (GError) error = NULL;

  config_folder = g_dir_make_tmp ("gantry-window-XXXXXX", &error);
  g_assert_no_error (error);
  g_setenv ("XDG_CONFIG_HOME", config_folder, TRUE);
  g_setenv ("XDG_STATE_HOME", config_folder, TRUE);
  g_test_init (argc, argv, NULL);
}

GantryWindow *
window_test_new (void)
{
  GtkWidget *window;

  if (!views_have_display ())
    return NULL;
  if (application == NULL)
    {
      g_autoptr (GError) error = NULL;

      application = gantry_application_new (G_APPLICATION_NON_UNIQUE);
      g_application_register (G_APPLICATION (application), NULL, &error);
      g_assert_no_error (error);
      g_application_hold (G_APPLICATION (application));
    }
  window = gantry_window_new (GTK_APPLICATION (application));
  gtk_window_present (GTK_WINDOW (window));
  views_wait_until (gtk_widget_get_width (window) > 100);
  return GANTRY_WINDOW (window);
}

void
window_test_free (GantryWindow *window)
{
  gtk_window_destroy (GTK_WINDOW (window));
  views_settle ();
}

int
window_test_run (void)
{
  int status = g_test_run ();

  g_clear_object (&application);
  g_clear_pointer (&config_folder, g_free);
  return status;
}

gboolean
window_test_is_idle (GantryWindow *window)
{
  GantryPassView *view = gantry_window_get_pass_view (window);

  return !gantry_document_is_busy (gantry_window_get_document (window)) && !gantry_graph_canvas_is_busy (gantry_pass_view_get_before (view))
         && !gantry_graph_canvas_is_busy (gantry_pass_view_get_after (view)) && gantry_time_panel_is_ready (gantry_window_get_time_panel (window))
         && gantry_source_page_is_ready (gantry_window_get_source_page (window)) && g_strcmp0 (gantry_window_get_page (window), "loading") != 0;
}

void
window_test_wait (GantryWindow *window)
{
  views_wait_until (window_test_is_idle (window));
  views_settle ();
  views_wait_until (window_test_is_idle (window));
}

void
window_test_open (GantryWindow *window, const char *path)
{
  gantry_window_open (window, path);
  window_test_wait (window);
}

GantryWindow *
window_test_with (const char *program, gboolean train)
{
  g_autofree char *path = views_source_file (program);
  GantryWindow *window = window_test_new ();
  GantryDocument *document;
  GantryTrainingOptions training;

  if (window == NULL)
    return NULL;
  document = gantry_window_get_document (window);
  window_test_open (window, path);
  g_assert_cmpstr (gantry_window_get_error (window), ==, NULL);
  if (!train)
    return window;
  gantry_training_options_init (&training);
  training.optimizer = GANTRY_OPTIMIZER_ADAM;
  gantry_document_set_training (document, &training);
  gantry_training_options_clear (&training);
  window_test_wait (window);
  g_assert_null (gantry_document_get_compilation (document)->refusal);
  gantry_pass_list_select (gantry_window_get_pass_list (window), gantry_document_get_compilation (document)->n_snapshots - 1);
  window_test_wait (window);
  g_assert_nonnull (gantry_document_get_prediction (document));
  return window;
}

GantryWindow *
window_test_sample (void)
{
  g_autofree char *path = views_sample ("sample.onnx");
  GantryWindow *window = window_test_new ();

  if (window == NULL)
    return NULL;
  window_test_open (window, path);
  g_assert_cmpstr (gantry_window_get_error (window), ==, NULL);
  g_assert_cmpstr (gantry_window_get_page (window), ==, "model");
  return window;
}

char *
window_test_cli (void)
{
  const char *given = g_getenv ("GANTRY_CLI"), *root = g_getenv ("GANTRY_BUILD_ROOT");

  return given != NULL ? g_strdup (given) : g_build_filename (root != NULL ? root : ".", "app", "gantry-cli", NULL);
}

gboolean
window_test_has_cli (void)
{
  g_autofree char *path = window_test_cli ();

  if (g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
    {
      g_setenv ("GANTRY_CLI", path, TRUE);
      return TRUE;
    }
  g_test_skip ("gantry-cli is not built");
  return FALSE;
}

void
window_test_act (GantryWindow *window, const char *name)
{
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), name));
  g_action_group_activate_action (G_ACTION_GROUP (window), name, NULL);
}

static gboolean
has_name (GtkWidget *widget, const char *name)
{
  return g_strcmp0 (gtk_widget_get_name (widget), name) == 0;
}

static gboolean
has_label (GtkWidget *widget, const char *label)
{
  return GTK_IS_BUTTON (widget) && g_strcmp0 (gtk_button_get_label (GTK_BUTTON (widget)), label) == 0;
}

static GtkWidget *
find (GtkWidget *widget, gboolean (*is) (GtkWidget *, const char *), const char *text)
{
  GtkWidget *found = is (widget, text) ? widget : NULL;

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL && found == NULL; child = gtk_widget_get_next_sibling (child))
    found = find (child, is, text);
  return found;
}

GtkWidget *
window_test_find (GtkWidget *widget, const char *name)
{
  return find (widget, has_name, name);
}

GtkWidget *
window_test_button (GtkWidget *widget, const char *label)
{
  return find (widget, has_label, label);
}

static gboolean
has_type (GtkWidget *widget, const char *name)
{
  return strcmp (G_OBJECT_TYPE_NAME (widget), name) == 0;
}

static gboolean
has_text (GtkWidget *widget, const char *text)
{
  return GTK_IS_LABEL (widget) && gtk_widget_get_mapped (widget) && strstr (gtk_label_get_text (GTK_LABEL (widget)), text) != NULL;
}

GtkWidget *
window_test_find_type (GtkWidget *widget, const char *name)
{
  return find (widget, has_type, name);
}

gboolean
window_test_has_text (GtkWidget *widget, const char *text)
{
  return find (widget, has_text, text) != NULL;
}

GtkWidget *
window_test_dialog (const char *name)
{
  GListModel *toplevels = gtk_window_get_toplevels ();

  for (guint i = 0; i < g_list_model_get_n_items (toplevels); i++)
    {
      g_autoptr (GtkWidget) toplevel = g_list_model_get_item (toplevels, i);

      if (has_name (toplevel, name))
        return toplevel;
    }
  return NULL;
}

gboolean
window_test_key (GtkWidget *widget, guint key, GdkModifierType state)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);
  gboolean taken = FALSE;

  for (guint i = 0; i < g_list_model_get_n_items (controllers) && !taken; i++)
    {
      g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (GTK_IS_EVENT_CONTROLLER_KEY (controller))
        g_signal_emit_by_name (controller, "key-pressed", key, 0, state, &taken);
    }
  return taken;
}

/* Contrast */

/* Of @ink on @ground, of which @opacity lets some through. */
static double
contrast (const GdkRGBA *ink, double opacity, const GdkRGBA *ground)
{
  float alpha = (float) (ink->alpha * opacity);
  GantryColor below = { ground->red, ground->green, ground->blue };
  GantryColor text = { ground->red + alpha * (ink->red - ground->red), ground->green + alpha * (ink->green - ground->green),
                       ground->blue + alpha * (ink->blue - ground->blue) };

  return gantry_color_contrast (&text, &below);
}

static GskRenderNode *
child_of (GskRenderNode *node)
{
  switch (gsk_render_node_get_node_type (node))
    {
    case GSK_TRANSFORM_NODE: return gsk_transform_node_get_child (node);
    case GSK_CLIP_NODE: return gsk_clip_node_get_child (node);
    case GSK_ROUNDED_CLIP_NODE: return gsk_rounded_clip_node_get_child (node);
    case GSK_OPACITY_NODE: return gsk_opacity_node_get_child (node);
    case GSK_DEBUG_NODE: return gsk_debug_node_get_child (node);
    default: return NULL;
    }
}

/* The least contrast of all texts in what is drawn, and how many there are. */
static void
look_at (GskRenderNode *node, double opacity, const GdkRGBA *ground, double *least, guint *n)
{
  if (gsk_render_node_get_node_type (node) == GSK_TEXT_NODE)
    {
      *least = MIN (*least, contrast (gsk_text_node_get_color (node), opacity, ground));
      ++*n;
    }
  if (gsk_render_node_get_node_type (node) == GSK_OPACITY_NODE)
    opacity *= gsk_opacity_node_get_opacity (node);
  if (gsk_render_node_get_node_type (node) == GSK_CONTAINER_NODE)
    for (guint i = 0; i < gsk_container_node_get_n_children (node); i++)
      look_at (gsk_container_node_get_child (node, i), opacity, ground, least, n);
  else if (child_of (node) != NULL)
    look_at (child_of (node), opacity, ground, least, n);
}

double
window_test_contrast (GtkWidget *widget, const GdkRGBA *ground, guint *n)
{
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (widget);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GskRenderNode *node;
  double least = 21;

  *n = 0;
  gdk_paintable_snapshot (paintable, snapshot, gtk_widget_get_width (widget), gtk_widget_get_height (widget));
  node = gtk_snapshot_free_to_node (snapshot);
  g_assert_nonnull (node);
  look_at (node, 1, ground, &least, n);
  gsk_render_node_unref (node);
  return least;
}
