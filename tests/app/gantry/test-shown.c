/* SPDX-License-Identifier: Apache-2.0 */
/* A measurement beside a plan: what it is of is said where it is of another, and a limit that it exceeds. */
#include "app/gantry/window-private.h"
#include "tests/app/gantry/window-test.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* A run of @plan, but for a peak of @peak_bytes. @arch: "": on the processor */
static void
add_run_of (GantryDocument *document, GantryPlan *plan, const char *arch, guint64 peak_bytes)
{
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();
  GantryModule *module = gantry_compilation_module (gantry_document_get_compilation (document));

  run->device = g_strdup (gantry_document_get_settings (document)->target.name);
  run->arch = g_strdup (arch);
  run->when = g_strdup ("2026-01-01T00:00:00Z");
  run->n_runs = 3;
  run->milliseconds = run->milliseconds_min = run->milliseconds_max = 7;
  run->peak_bytes = peak_bytes;
  run->plan = gantry_plan_ref (plan);
  run->recording = gantry_recording_from_plan (module, run->plan);
  run->memory = gantry_memory_measure_new (run->plan->n_steps);
  run->memory->peak_bytes = run->memory->touched.bytes[GANTRY_PART_TEMPORARIES] = peak_bytes;
  gantry_document_add_run (document, run);
}

/* ... as it is planned. */
static void
add_run (GantryDocument *document, guint64 peak_bytes)
{
  add_run_of (document, gantry_document_get_plan (document), "", peak_bytes);
}

/* A window in which @program is planned, and its document; NULL where there is no display. */
static GantryWindow *
open_program (const char *program, gboolean training, GantryDocument **document)
{
  GantryWindow *window = window_test_with (program, training);

  if (window == NULL)
    return NULL;
  *document = gantry_window_get_document (window);
  gantry_document_wait (*document);
  return window;
}

/* After a change, until the document is planned again and the window shows it. */
static void
settle (GantryWindow *window)
{
  gantry_document_wait (gantry_window_get_document (window));
  window_test_wait (window);
}

static gboolean
shows (GantryWindow *window, const char *text)
{
  return window_test_has_text (GTK_WIDGET (window), text);
}

static GantryMemoryTable *
table_of (GantryWindow *window)
{
  return GANTRY_MEMORY_TABLE (window_test_find_type (GTK_WIDGET (window), "GantryMemoryTable"));
}

/* After an edit, and after an undo: in the line at the bottom, above the lanes, and in the table of what was measured. */
static void
test_placements (void)
{
  static const char *const line[] = { "measured with other placements (median of 3)", "MiB touched with other placements", ", with other placements" };
  GantryDocument *document;
  GantryWindow *window = open_program ("data/programs/transformer-tiny.gir", TRUE, &document);

  if (window == NULL)
    return;
  add_run (document, 12 << 20);
  window_test_wait (window);
  g_assert_true (shows (window, "12.0 MiB touched") && shows (window, "measured (median of 3)"));
  g_assert_false (shows (window, "with other placements"));
  g_assert_true (gantry_document_set_policy (document, "policy nothing_saveable", NULL));
  window_test_wait (window);
  for (guint i = 0; i < G_N_ELEMENTS (line); i++)
    g_assert_true (shows (window, line[i]));
  g_assert_cmpstr (gantry_memory_table_get_text (table_of (window), 0, 1), ==, "planned then");
  add_run (document, 12 << 20);
  window_test_wait (window);
  g_assert_false (shows (window, "with other placements"));
  g_assert_cmpstr (gantry_memory_table_get_text (table_of (window), 0, 1), ==, "planned");
  gantry_document_undo (document);
  window_test_wait (window);
  for (guint i = 0; i < G_N_ELEMENTS (line); i++)
    g_assert_true (shows (window, line[i]));
  window_test_free (window);
}

/* What ran with other kernels, or on something else than is planned for, was not predicted: in the line at the bottom and above the lanes. */
static void
test_conditions (void)
{
  static const char *const line[] = { "12.0 MiB touched with no library", "7.00 ms measured with no library (median of 3)", ", with no library" };
  GantryDocument *document;
  GantryWindow *window = open_program ("data/programs/transformer-tiny.gir", TRUE, &document);
  g_autoptr (GantryKernelSizes) sizes = gantry_kernel_sizes_new (NULL, NULL);
  g_autoptr (GantryPlan) plan = NULL;
  g_autoptr (GError) error = NULL;

  if (window == NULL)
    return;
  sizes->conditions = gantry_kernel_conditions_text (&(GantryKernelConditions){ .no_library = TRUE });
  plan = gantry_compilation_plan (gantry_document_get_compilation (document), gantry_document_get_settings (document), sizes, NULL, NULL, &error);
  g_assert_no_error (error);
  add_run_of (document, plan, "", 12 << 20);
  window_test_wait (window);
  for (guint i = 0; i < G_N_ELEMENTS (line); i++)
    g_assert_true (shows (window, line[i]));
  g_assert_cmpstr (gantry_memory_table_get_text (table_of (window), 0, 1), ==, "planned then");
  add_run_of (document, gantry_document_get_plan (document), "grid", 12 << 20);
  window_test_wait (window);
  g_assert_false (shows (window, "no library"));
  g_assert_true (shows (window, "7.00 ms measured elsewhere than on cpu, "));
  add_run (document, 12 << 20);
  window_test_wait (window);
  g_assert_true (shows (window, "7.00 ms measured (median of 3)"));
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
  GantryDocument *document;
  GantryWindow *window = open_program ("data/programs/mlp.gir", FALSE, &document);
  g_autofree char *own = NULL, *other = NULL;
  GantryTrainingOptions training;

  if (window == NULL)
    return;
  add_run (document, 12 << 20);
  window_test_wait (window);
  g_assert_true (shows (window, "12.0 MiB touched"));
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
  g_assert_false (shows (window, "with other placements") || shows (window, "12.0 MiB touched"));
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "replan"));
  gantry_document_undo (document);
  window_test_wait (window);
  g_assert_true (shows (window, "12.0 MiB touched") && shows (window, "measured (median of 3)"));
  window_test_free (window);
}

/* A limit that the plan keeps to and the machine does not. */
static void
test_above_limit (void)
{
  GantryDocument *document;
  GantryWindow *window = open_program ("data/programs/mlp.gir", FALSE, &document);

  if (window == NULL)
    return;
  gantry_document_set_limit (document, 10 << 20);
  window_test_wait (window);
  add_run (document, 10 << 20);
  window_test_wait (window);
  g_assert_false (shows (window, "bove the limit"));
  add_run (document, (10 << 20) + 1);
  window_test_wait (window);
  g_assert_true (shows (window, "10.1 MiB touched: above the limit of 10.0 MiB"));
  g_assert_true (shows (window, "Above the limit: 10.1 MiB of device memory were touched"));
  gantry_document_set_limit (document, 11 << 20);
  views_wait_until (!shows (window, "bove the limit"));
  window_test_free (window);
}

/* What ran with other placements had another limit, or none: the present one says nothing of it. */
static void
test_limit_of_other_placements (void)
{
  GantryDocument *document;
  GantryWindow *window = open_program ("data/programs/transformer-tiny.gir", TRUE, &document);

  if (window == NULL)
    return;
  add_run (document, 12 << 20);
  g_assert_true (gantry_document_set_policy (document, "policy nothing_saveable", NULL));
  gantry_document_set_limit (document, 11 << 20);
  window_test_wait (window);
  g_assert_true (shows (window, "12.0 MiB touched with other placements, "));
  g_assert_true (shows (window, " planned then"));
  g_assert_false (shows (window, "bove the limit"));
  window_test_free (window);
}

/* What is said above the lanes follows the placements: a run within the limit of its own plan is no news under another one. */
static void
test_above_limit_follows (void)
{
  GantryDocument *document;
  GantryWindow *window = open_program ("data/programs/transformer-tiny.gir", TRUE, &document);

  if (window == NULL)
    return;
  add_run (document, 12 << 20);
  gantry_document_set_limit (document, 11 << 20);
  settle (window);
  g_assert_true (shows (window, "Above the limit: 12.0 MiB of device memory were touched"));
  g_assert_true (gantry_document_set_policy (document, "policy nothing_saveable", NULL));
  settle (window);
  g_assert_false (shows (window, "bove the limit"));
  gantry_document_undo (document);
  settle (window);
  g_assert_true (shows (window, "Above the limit: 12.0 MiB of device memory were touched"));
  window_test_free (window);
}

/* What exceeds its limit is never run: no time is told of it, and none is compared with it. */
static void
test_no_time (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-tiny.gir", TRUE);
  GantryDocument *document;

  if (window == NULL)
    return;
  document = gantry_window_get_document (window);
  gantry_document_wait (document);
  window_test_wait (window);
  g_assert_true (gantry_document_fits (document) && shows (window, "Step ") && !shows (window, "does not fit"));
  gantry_document_set_limit (document, 1 << 12);
  gantry_document_wait (document);
  window_test_wait (window);
  g_assert_false (gantry_document_fits (document));
  g_assert_true (shows (window, "Step: does not fit") && shows (window, "planned, and does not fit"));
  g_assert_false (shows (window, "Step 1") || shows (window, "waiting"));
  gantry_document_set_limit (document, 0);
  gantry_document_wait (document);
  window_test_wait (window);
  g_assert_true (gantry_document_fits (document) && !shows (window, "does not fit"));
  /* The one before had no time. */
  g_assert_true (gantry_document_get_prediction (document)->has_delta && !gantry_document_get_prediction (document)->has_step_delta);
  add_run (document, 12 << 20);
  gantry_document_set_limit (document, 1 << 12);
  gantry_document_wait (document);
  window_test_wait (window);
  g_assert_true (shows (window, "Time: does not fit, 7.00 ms measured"));
  window_test_free (window);
}

static void export_as (const char *path, const char *from, const char *to);

/* A limit has one text: where it is set, where it refuses, and where it is undone. */
static void
test_limit (void)
{
  GantryDocument *document;
  GantryWindow *window = open_program ("data/programs/mlp.gir", FALSE, &document);
  GtkWidget *entry, *dialog;

  if (window == NULL)
    return;
  entry = window_test_find (GTK_WIDGET (window), "limit");
  gantry_document_set_limit (document, 20001);
  settle (window);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, "19.533 KiB");
  g_assert_nonnull (strstr (gantry_document_get_undo_name (document), "19.533 KiB"));
  gantry_document_set_limit (document, 1234);
  settle (window);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, "1.206 KiB");
  views_wait_until (shows (window, "where the limit is 1.206 KiB"));
  /* The bar is a few lines high: all of it is in a dialog. */
  g_signal_emit_by_name (window_test_button (GTK_WIDGET (window), "Details"), "clicked");
  views_settle ();
  dialog = window_test_dialog ("error");
  g_assert_nonnull (dialog);
  g_assert_true (window_test_has_text (dialog, gantry_document_get_plan_error (document)->message));
  gtk_window_destroy (GTK_WINDOW (dialog));
  window_test_free (window);
}

static void reload (GantryWindow *window);

/* The file brings other names: the placement of the one that is gone is told by it, and holds again when the file has it again. */
static void
test_missing_after_reload (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-shown-XXXXXX", NULL), *path = g_build_filename (folder, "m.gir", NULL);
  GantryWindow *window = window_test_new ();
  GantryDocument *document;
  guint32 weight = 2;

  if (window == NULL)
    return;
  export_as (path, NULL, NULL);
  window_test_open (window, path);
  document = gantry_window_get_document (window);
  g_assert_cmpuint (gantry_document_set_placement (document, 0, &weight, 1, GANTRY_PLACEMENT_OFFLOAD, NULL), ==, 1);
  settle (window);
  g_assert_false (shows (window, "no effect"));
  export_as (path, "fc1/w", "fc1/kernel");
  reload (window);
  g_assert_true (shows (window, "1 placement has no effect") && shows (window, "offload of parameter fc1/w"));
  export_as (path, NULL, NULL);
  reload (window);
  g_assert_false (shows (window, "no effect"));
  g_assert_cmpuint (gantry_document_get_placements (document)->entries->len, ==, 1);
  window_test_free (window);
  g_unlink (path);
  g_rmdir (folder);
}

/* A pass takes the value away that was placed: the bar above the graph says so, and takes it back at the press of a button. */
static void
test_missing (void)
{
  GantryDocument *document;
  GantryWindow *window = open_program ("data/programs/transformer-tiny.gir", TRUE, &document);
  const GantryModule *module;
  guint placed = 0;

  if (window == NULL)
    return;
  module = gantry_compilation_module (gantry_document_get_compilation (document));
  for (guint32 i = 0; i < module->n_nodes && placed == 0; i++)
    if (g_str_equal (gantry_node_op_name (module, &module->nodes[i]), "fusion"))
      placed = gantry_document_set_placement (document, gantry_document_get_compilation (document)->n_snapshots - 1, &module->nodes[i].id, 1,
                                              GANTRY_PLACEMENT_OFFLOAD, NULL);
  g_assert_cmpuint (placed, ==, 1);
  window_test_wait (window);
  g_assert_false (shows (window, "has no effect"));
  gantry_document_set_pass_enabled (document, "fuse", FALSE);
  settle (window);
  g_assert_true (shows (window, "1 placement has no effect") && shows (window, "offload of fusion %"));
  gantry_document_undo (document);
  settle (window);
  g_assert_false (shows (window, "has no effect"));
  gantry_document_redo (document);
  settle (window);
  g_assert_true (shows (window, "has no effect"));
  g_signal_emit_by_name (window_test_button (GTK_WIDGET (window), "Forget them"), "clicked");
  window_test_wait (window);
  g_assert_false (shows (window, "has no effect"));
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
  g_assert_true (shows (window, "12.0 MiB touched"));
  export_as (path, "tanh", "exponential");
  reload (window);
  g_assert_null (gantry_document_get_run (document));
  g_assert_false (shows (window, "12.0 MiB touched") || shows (window, "median of 3"));
  /* It is still there, and said to be what it is. */
  g_assert_cmpuint (gantry_document_get_runs (document)->len, ==, 1);
  gantry_document_set_run (document, g_ptr_array_index (gantry_document_get_runs (document), 0));
  window_test_wait (window);
  g_assert_true (shows (window, "12.0 MiB touched with the model as it was"));
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

/* All texts of @widget, some of which may still be drawn in the colours of before, stand out at last. */
static gboolean
stands_out (GtkWidget *widget, const char *ground_name)
{
  GdkRGBA ground;
  double least;
  guint n;

  g_assert_true (gtk_style_context_lookup_color (gtk_widget_get_style_context (widget), ground_name, &ground));
  least = window_test_contrast (widget, &ground, &n);
  return n > 10 && least >= 4.5;
}

static void
check_contrast (GtkWidget *widget, const char *ground_name)
{
  views_wait_until (stands_out (widget, ground_name));
}

/* Of passes that changed nothing, too. */
static void
test_contrast (void)
{
  GantryWindow *window = window_test_with ("data/programs/mlp.gir", FALSE);
  AdwStyleManager *style = adw_style_manager_get_default ();

  if (window == NULL)
    return;
  g_action_group_activate_action (G_ACTION_GROUP (window), "bottom-page", g_variant_new_string ("compare"));
  window_test_wait (window);
  for (guint dark = 0; dark < 2; dark++)
    {
      adw_style_manager_set_color_scheme (style, dark ? ADW_COLOR_SCHEME_FORCE_DARK : ADW_COLOR_SCHEME_FORCE_LIGHT);
      g_assert_true (adw_style_manager_get_dark (style) == (dark != 0));
      views_settle ();
      check_contrast (GTK_WIDGET (gantry_window_get_pass_list (window)), "window_bg_color");
      check_contrast (GTK_WIDGET (gantry_window_get_pass_list (window)), "headerbar_bg_color");
      views_wait_frame (GTK_WIDGET (gantry_window_get_compare_panel (window)));
      check_contrast (GTK_WIDGET (gantry_window_get_inspector (window)), "window_bg_color");
      check_contrast (window_test_find_type (GTK_WIDGET (gantry_window_get_compare_panel (window)), "GtkColumnView"), "view_bg_color");
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
  _gantry_window_show_activity (window, "Measuring memory");
  g_assert_true (shows (window, "Measuring memory"));
  _gantry_window_update_status (window);
  g_assert_false (shows (window, "Measuring memory"));
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
  g_autofree char *cli = g_build_filename (g_getenv ("GANTRY_BUILD_ROOT"), "app", "gantry-cli", NULL), *proposed = NULL;
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
  g_assert_true (shows (window, "two.py: second"));
  g_assert_true (window_test_has_text (GTK_WIDGET (gantry_window_get_inspector (window)), "second"));
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (window)), ==, "two.py: second \342\200\223 Gantry");
  proposed = _gantry_window_propose_name (window, ".gantry");
  g_assert_cmpstr (proposed, ==, "two-second.gantry");
  window_test_free (window);
  g_unlink (path);
  g_rmdir (folder);
}

/* A folder of XLA's dumps: its passes are walked like ours, and a node is followed through them. */
static void
test_dump (void)
{
  g_autofree char *path = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "fixtures", "xla-dump", NULL), *text = NULL;
  GantryWindow *window = window_test_new ();
  GantryCompilation *compilation;
  g_autoptr (GArray) became = NULL;

  if (window == NULL)
    return;
  window_test_open (window, path);
  g_assert_cmpstr (gantry_window_get_error (window), ==, NULL);
  g_assert_cmpstr (gantry_window_get_page (window), ==, "model");
  compilation = gantry_document_get_compilation (gantry_window_get_document (window));
  g_assert_cmpstr (compilation->snapshots[7].pass, ==, "xla-after_optimizations");
  gantry_pass_list_select (gantry_window_get_pass_list (window), 2);
  window_test_wait (window);
  g_assert_cmpuint (gantry_pass_list_get_selected (gantry_window_get_pass_list (window)), ==, 2);
  g_assert_true (window_test_has_text (GTK_WIDGET (gantry_window_get_pass_list (window)), "XLA: algsimp"));
  text = gantry_inspector_to_text (gantry_window_get_inspector (window));
  g_assert_nonnull (strstr (text, "XLA's plan, not measured"));
  g_assert_nonnull (strstr (text, "352 B"));
  g_assert_nonnull (window_test_find_type (GTK_WIDGET (window), "GantryAssignmentCurve"));
  became = gantry_compilation_follow (compilation, 0, compilation->snapshots[0].module->nodes[0].id, compilation->n_snapshots - 1);
  g_assert_cmpuint (became->len, ==, 1);
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "open-folder"));
  window_test_free (window);
}

/* Of several compilations in a folder one is asked for, and opened under its name. */
static void
test_which_compilation (void)
{
  static const char *const names[] = { "module_0001.f.before_optimizations.txt", "module_0002.f.before_optimizations.txt" };
  g_autofree char *folder = g_dir_make_tmp ("gantry-which-XXXXXX", NULL);
  GantryWindow *window = window_test_new ();
  GtkWidget *dialog, *list;

  if (window == NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);
      g_autofree char *text = g_strdup_printf ("HloModule f\nENTRY e {\n  x = f32[%u]{0} parameter(0)\n  ROOT y = f32[%u]{0} negate(x)\n}\n", i + 2, i + 2);

      g_assert_true (g_file_set_contents (path, text, -1, NULL));
    }
  gantry_window_open (window, folder);
  dialog = asked ("which-graph");
  g_assert_true (window_test_has_text (dialog, "has 2 compilations"));
  list = window_test_find (dialog, "graphs");
  gtk_list_box_select_row (GTK_LIST_BOX (list), gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), 1));
  answer (dialog, "open");
  window_test_wait (window);
  g_assert_cmpstr (gantry_window_get_error (window), ==, NULL);
  g_assert_cmpstr (gantry_document_get_model (gantry_window_get_document (window))->inputs[0].type, ==, "f32[3]");
  window_test_free (window);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  g_test_add_func ("/app/shown/placements", test_placements);
  g_test_add_func ("/app/shown/conditions", test_conditions);
  g_test_add_func ("/app/shown/another-program", test_another_program);
  g_test_add_func ("/app/shown/limit", test_limit);
  g_test_add_func ("/app/shown/above-limit", test_above_limit);
  g_test_add_func ("/app/shown/above-limit-follows", test_above_limit_follows);
  g_test_add_func ("/app/shown/limit-of-other-placements", test_limit_of_other_placements);
  g_test_add_func ("/app/shown/no-time", test_no_time);
  g_test_add_func ("/app/shown/missing", test_missing);
  g_test_add_func ("/app/shown/missing-after-reload", test_missing_after_reload);
  g_test_add_func ("/app/shown/reload", test_reload);
  g_test_add_func ("/app/shown/contrast", test_contrast);
  g_test_add_func ("/app/shown/words", test_words);
  g_test_add_func ("/app/shown/which-graph", test_which_graph);
  g_test_add_func ("/app/shown/dump", test_dump);
  g_test_add_func ("/app/shown/which-compilation", test_which_compilation);
  return window_test_run ();
}
