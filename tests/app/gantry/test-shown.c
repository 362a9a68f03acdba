/* SPDX-License-Identifier: Apache-2.0 */
/* A measurement beside a plan: what it is of is said where it is of another, and a limit that it exceeds. */
#include "app/gantry/window-private.h"
#include "tests/app/gantry/window-test.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* A run as the plan has it, but for a peak of @peak_bytes. */
static void
add_run (GantryDocument *document, guint64 peak_bytes)
{
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();
  GantryModule *module = gantry_compilation_module (gantry_document_get_compilation (document));

  run->device = g_strdup ("cpu");
  run->when = g_strdup ("2026-01-01T00:00:00Z");
  run->n_runs = 3;
  run->milliseconds = run->milliseconds_min = run->milliseconds_max = 7;
  run->peak_bytes = peak_bytes;
  run->plan = gantry_plan_ref (gantry_document_get_plan (document));
  run->recording = gantry_recording_from_plan (module, run->plan);
  run->memory = gantry_memory_measure_new (run->plan->n_steps);
  run->memory->peak_bytes = run->memory->touched.bytes[GANTRY_PART_TEMPORARIES] = peak_bytes;
  gantry_document_add_run (document, run);
}

static gboolean
shows (GantryWindow *window, const char *text)
{
  return window_test_has_text (GTK_WIDGET (window), text);
}

/* After an edit, and after an undo: in the line at the bottom and above the lanes. */
static void
test_placements (void)
{
  static const char *const line[] = { "measured with other placements (median of 3)", "MiB measured with other placements",
                                      ", with other placements" };
  GantryWindow *window = window_test_with ("data/programs/transformer-tiny.gir", TRUE);
  GantryDocument *document;

  if (window == NULL)
    return;
  document = gantry_window_get_document (window);
  gantry_document_wait (document);
  add_run (document, 12 << 20);
  window_test_wait (window);
  g_assert_true (shows (window, "12.0 MiB measured") && shows (window, "measured (median of 3)"));
  g_assert_false (shows (window, "with other placements"));
  g_assert_true (gantry_document_set_policy (document, "policy nothing_saveable", NULL));
  window_test_wait (window);
  for (guint i = 0; i < G_N_ELEMENTS (line); i++)
    g_assert_true (shows (window, line[i]));
  add_run (document, 12 << 20);
  window_test_wait (window);
  g_assert_false (shows (window, "with other placements"));
  gantry_document_undo (document);
  window_test_wait (window);
  for (guint i = 0; i < G_N_ELEMENTS (line); i++)
    g_assert_true (shows (window, line[i]));
  window_test_free (window);
}

/* What the list of runs has at @place. (transfer full) */
static char *
listed (GantryWindow *window, int place)
{
  g_autoptr (GMenu) menu = g_menu_new ();
  g_autoptr (GMenuModel) section = NULL;
  char *label = NULL;

  _gantry_window_append_runs (window, menu);
  section = g_menu_model_get_item_link (G_MENU_MODEL (menu), 0, G_MENU_LINK_SECTION);
  g_assert_true (g_menu_model_get_item_attribute (section, place, G_MENU_ATTRIBUTE_LABEL, "s", &label));
  return label;
}

/* The run of an inference beside its training step: said to be what it is, and nothing is compared with it. */
static void
test_another_program (void)
{
  GantryWindow *window = window_test_with ("data/programs/mlp.gir", FALSE);
  g_autofree char *own = NULL, *other = NULL;
  GantryTrainingOptions training;
  GantryDocument *document;

  if (window == NULL)
    return;
  document = gantry_window_get_document (window);
  gantry_document_wait (document);
  add_run (document, 12 << 20);
  window_test_wait (window);
  g_assert_true (shows (window, "12.0 MiB measured"));
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "replan"));
  gantry_training_options_init (&training);
  gantry_document_set_training (document, &training);
  gantry_training_options_clear (&training);
  gantry_document_wait (document);
  g_assert_null (gantry_document_get_run (document));
  add_run (document, 13 << 20);
  own = listed (window, 0);
  other = listed (window, 1);
  g_assert_nonnull (strstr (own, "13.0 MiB"));
  g_assert_null (strstr (own, "of another program"));
  g_assert_nonnull (strstr (other, "of another program"));
  gantry_document_set_run (document, g_ptr_array_index (gantry_document_get_runs (document), 0));
  window_test_wait (window);
  g_assert_true (shows (window, "predicted; the run chosen, 7.00 ms, is of another program"));
  g_assert_true (shows (window, "planned; the run chosen is of another program"));
  g_assert_false (shows (window, "with other placements") || shows (window, "12.0 MiB measured"));
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "replan"));
  gantry_document_undo (document);
  window_test_wait (window);
  g_assert_true (shows (window, "12.0 MiB measured") && shows (window, "measured (median of 3)"));
  window_test_free (window);
}

/* A limit that the plan keeps to and the machine does not. */
static void
test_above_limit (void)
{
  GantryWindow *window = window_test_with ("data/programs/mlp.gir", FALSE);
  GantryDocument *document;

  if (window == NULL)
    return;
  document = gantry_window_get_document (window);
  gantry_document_set_limit (document, 10 << 20);
  window_test_wait (window);
  add_run (document, 10 << 20);
  window_test_wait (window);
  g_assert_false (shows (window, "bove the limit"));
  add_run (document, (10 << 20) + 1);
  window_test_wait (window);
  g_assert_true (shows (window, "10.1 MiB measured: above the limit of 10.0 MiB"));
  g_assert_true (shows (window, "Above the limit: 10.1 MiB of device memory were in use"));
  gantry_document_set_limit (document, 11 << 20);
  window_test_wait (window);
  g_assert_false (shows (window, "bove the limit"));
  window_test_free (window);
}

static void
export_as (const char *path, const char *from, const char *to)
{
  g_autofree char *source = views_source_file ("data/programs/mlp.gir"), *text = NULL;
  g_autoptr (GString) changed = NULL;

  g_assert_true (g_file_get_contents (source, &text, NULL, NULL));
  changed = g_string_new (text);
  if (from != NULL)
    g_assert_cmpuint (g_string_replace (changed, from, to, 0), >, 0);
  g_assert_true (g_file_set_contents (path, changed->str, (gssize) changed->len, NULL));
}

static void
reload (GantryWindow *window)
{
  GtkWidget *button = NULL;

  views_wait_until ((button = window_test_find (GTK_WIDGET (window), "reload")) != NULL);
  g_signal_emit_by_name (button, "clicked");
  window_test_wait (window);
  g_assert_cmpstr (gantry_window_get_error (window), ==, NULL);
  views_wait_until (window_test_find (GTK_WIDGET (window), "reload") == NULL);
  window_test_wait (window);
}

/* The same nodes with the same numbers, but other work: its run is of what the file held before. */
static void
test_reload (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-shown-XXXXXX", NULL), *path = g_build_filename (folder, "m.gir", NULL);
  GantryWindow *window = window_test_new ();
  GantryDocument *document;

  if (window == NULL)
    return;
  export_as (path, NULL, NULL);
  window_test_open (window, path);
  document = gantry_window_get_document (window);
  add_run (document, 12 << 20);
  window_test_wait (window);
  g_assert_true (shows (window, "12.0 MiB measured"));
  export_as (path, "tanh", "exponential");
  reload (window);
  g_assert_null (gantry_document_get_run (document));
  g_assert_false (shows (window, "12.0 MiB measured") || shows (window, "median of 3"));
  /* It is still there, and said to be what it is. */
  g_assert_cmpuint (gantry_document_get_runs (document)->len, ==, 1);
  gantry_document_set_run (document, g_ptr_array_index (gantry_document_get_runs (document), 0));
  window_test_wait (window);
  g_assert_true (shows (window, "12.0 MiB measured with the model as it was"));
  /* What holds again what it held has its runs again. */
  export_as (path, NULL, NULL);
  reload (window);
  g_assert_nonnull (gantry_document_get_run (document));
  g_assert_false (shows (window, "as it was"));
  window_test_free (window);
  g_unlink (path);
  g_rmdir (folder);
}

/* Contrast */

static double
linear (double value)
{
  return value <= 0.04045 ? value / 12.92 : pow ((value + 0.055) / 1.055, 2.4);
}

static double
luminance (double red, double green, double blue)
{
  return 0.2126 * linear (red) + 0.7152 * linear (green) + 0.0722 * linear (blue);
}

/* WCAG 2.1, of @ink on @ground, of which @opacity lets some through. */
static double
contrast (const GdkRGBA *ink, double opacity, const GdkRGBA *ground)
{
  double alpha = ink->alpha * opacity, below = luminance (ground->red, ground->green, ground->blue);
  double text = luminance (ground->red + alpha * (ink->red - ground->red), ground->green + alpha * (ink->green - ground->green),
                           ground->blue + alpha * (ink->blue - ground->blue));

  return (MAX (text, below) + 0.05) / (MIN (text, below) + 0.05);
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

static void
check_contrast (GtkWidget *widget, const char *ground_name)
{
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (widget);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GskRenderNode *node;
  GdkRGBA ground;
  double least = 21;
  guint n = 0;

  gdk_paintable_snapshot (paintable, snapshot, gtk_widget_get_width (widget), gtk_widget_get_height (widget));
  node = gtk_snapshot_free_to_node (snapshot);
  g_assert_nonnull (node);
  g_assert_true (gtk_style_context_lookup_color (gtk_widget_get_style_context (widget), ground_name, &ground));
  look_at (node, 1, &ground, &least, &n);
  gsk_render_node_unref (node);
  g_assert_cmpuint (n, >, 10);
  g_assert_cmpfloat (least, >=, 4.5);
}

/* Of passes that changed nothing, too. */
static void
test_contrast (void)
{
  GantryWindow *window = window_test_with ("data/programs/mlp.gir", FALSE);
  AdwStyleManager *style = adw_style_manager_get_default ();

  if (window == NULL)
    return;
  for (guint dark = 0; dark < 2; dark++)
    {
      adw_style_manager_set_color_scheme (style, dark ? ADW_COLOR_SCHEME_FORCE_DARK : ADW_COLOR_SCHEME_FORCE_LIGHT);
      g_assert_true (adw_style_manager_get_dark (style) == (dark != 0));
      views_settle ();
      check_contrast (GTK_WIDGET (gantry_window_get_pass_list (window)), "window_bg_color");
      check_contrast (GTK_WIDGET (gantry_window_get_pass_list (window)), "headerbar_bg_color");
    }
  adw_style_manager_set_color_scheme (style, ADW_COLOR_SCHEME_DEFAULT);
  window_test_free (window);
}

/* What is asked and told in the words that are meant. */
static void
test_words (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry_shown_XXXXXX", NULL), *path = g_build_filename (folder, "my_model.gir", NULL);
  g_autofree char *item = _gantry_window_menu_text ("my_model.gir"), *label = NULL;
  GantryWindow *window = window_test_new ();
  g_autoptr (GError) error = g_error_new_literal (GANTRY_ERROR, GANTRY_ERROR_FAILED, "Traceback:\n  File \"a.py\", line 1\n    x");
  g_autoptr (GMenuModel) recent = NULL;
  GMenuModel *menu;
  GtkWidget *told = NULL, *dialog;

  if (window == NULL)
    return;
  g_assert_cmpstr (item, ==, "my__model.gir"); /* one of two is shown */
  export_as (path, NULL, NULL);
  window_test_open (window, path);
  menu = gtk_menu_button_get_menu_model (window->model_button);
  recent = g_menu_model_get_item_link (menu, g_menu_model_get_n_items (menu) - 1, G_MENU_LINK_SECTION);
  g_menu_model_get_item_attribute (recent, 0, G_MENU_ATTRIBUTE_LABEL, "s", &label);
  g_assert_cmpstr (label, ==, item);
  g_assert_true (shows (window, "until the end"));
  gantry_document_set_limit (gantry_window_get_document (window), 1 << 30);
  window_test_wait (window);
  gtk_window_close (GTK_WINDOW (window));
  dialog = window_test_dialog ("unsaved");
  g_assert_nonnull (dialog);
  g_assert_nonnull (strstr (adw_message_dialog_get_body (ADW_MESSAGE_DIALOG (dialog)), "not part of the model's file"));
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  gtk_window_destroy (GTK_WINDOW (dialog));
  /* Lines stay below each other. */
  _gantry_window_tell (window, "What", error);
  views_settle ();
  dialog = window_test_dialog ("error");
  g_assert_nonnull (dialog);
  told = window_test_find (dialog, "told");
  g_assert_false (gtk_label_get_wrap (GTK_LABEL (told)));
  g_assert_true (gtk_widget_has_css_class (told, "monospace"));
  gtk_window_destroy (GTK_WINDOW (dialog));
  window_test_free (window);
  g_unlink (path);
  g_rmdir (folder);
}

/* The answer to a question that will be asked. */
static GtkWidget *
asked (const char *name)
{
  GtkWidget *dialog = NULL;

  views_wait_until ((dialog = window_test_dialog (name)) != NULL);
  return dialog;
}

static void
answer (GtkWidget *dialog, const char *response)
{
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), response);
  gtk_window_destroy (GTK_WINDOW (dialog));
}

static const char program[] = "import jax\nimport jax.numpy as jnp\n\n@jax.jit\ndef first(x):\n    return x + 1\n\n\n"
                              "@jax.jit\ndef second(x):\n    return jnp.tanh(x)\n\n\n"
                              "x = jax.random.normal(jax.random.key(0), (4,))\nfirst(x)\nsecond(x)\n";

/* A program that makes two graphs: which one is asked. What Gantry's own modules compile is none of them. */
static void
test_which_graph (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-shown-XXXXXX", NULL), *path = g_build_filename (folder, "two.py", NULL);
  g_autofree char *cli = g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL);
  GantryWindow *window;
  GtkWidget *dialog, *list;
  GantryDocument *document;

  if (!g_file_test (cli, G_FILE_TEST_IS_EXECUTABLE))
    {
      g_test_skip ("without gantry-cli no program runs");
      return;
    }
  g_setenv ("GANTRY_CLI", cli, TRUE);
  window = window_test_new ();
  if (window == NULL)
    return;
  g_assert_true (g_file_set_contents (path, program, -1, NULL));
  gantry_window_open (window, path);
  answer (asked ("program"), "allow");
  dialog = asked ("which-graph");
  list = window_test_find (dialog, "graphs");
  g_assert_nonnull (list);
  g_assert_cmpstr (adw_preferences_row_get_title (ADW_PREFERENCES_ROW (gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), 0))), ==, "first");
  g_assert_cmpstr (adw_preferences_row_get_title (ADW_PREFERENCES_ROW (gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), 1))), ==, "second");
  g_assert_null (gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), 2));
  gtk_list_box_select_row (GTK_LIST_BOX (list), gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), 1));
  answer (dialog, "open");
  window_test_wait (window);
  g_assert_cmpstr (gantry_window_get_error (window), ==, NULL);
  document = gantry_window_get_document (window);
  g_assert_nonnull (gantry_document_get_model (document));
  g_assert_cmpstr (gantry_document_get_bindings (document)->entry, ==, "second");
  window_test_free (window);
  g_unlink (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  g_test_add_func ("/app/shown/placements", test_placements);
  g_test_add_func ("/app/shown/another-program", test_another_program);
  g_test_add_func ("/app/shown/above-limit", test_above_limit);
  g_test_add_func ("/app/shown/reload", test_reload);
  g_test_add_func ("/app/shown/contrast", test_contrast);
  g_test_add_func ("/app/shown/words", test_words);
  g_test_add_func ("/app/shown/which-graph", test_which_graph);
  return window_test_run ();
}
