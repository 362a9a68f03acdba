/* SPDX-License-Identifier: Apache-2.0 */
/* The window driven through its actions: open, fold, search, select, passes before and after, undo, export. */
#include "tests/app/gantry/window-test.h"
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* Opening */

static void
test_open (void)
{
  GantryWindow *window = window_test_sample ();
  g_autofree char *text = NULL;

  if (window == NULL)
    return;
  g_assert_cmpuint (gantry_graph_picture_n_boxes (gantry_graph_canvas_get_picture (gantry_pass_view_get_after (gantry_window_get_pass_view (window)))), >, 3);
  text = gantry_inspector_to_text (gantry_window_get_inspector (window));
  g_assert_nonnull (strstr (text, "sample.onnx"));
  g_assert_nonnull (strstr (text, "ONNX"));
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "undo"));
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "run"));
  window_test_free (window);
}

/* The page before a file is open names what core/compiler reads, and the other things that open. */
static void
test_formats (void)
{
  GantryWindow *window = window_test_sample ();
  g_autofree char *formats = gantry_model_formats ();
  AdwStatusPage *page;

  if (window == NULL)
    return;
  page = ADW_STATUS_PAGE (gtk_widget_get_template_child (GTK_WIDGET (window), GANTRY_TYPE_WINDOW, "welcome_page"));
  g_assert_nonnull (strstr (adw_status_page_get_description (page), formats));
  g_assert_nonnull (strstr (adw_status_page_get_description (page), ".gantry"));
  window_test_free (window);
}

/* The largest figures of a real model, where there is one. */
static void
test_open_real (void)
{
  g_autofree char *path = NULL, *text = NULL;
  GantryWindow *window = window_test_new ();

  if (window == NULL)
    return;
  path = views_shared_model ("mnist.onnx");
  if (path != NULL)
    {
      window_test_open (window, path);
      g_assert_cmpstr (gantry_window_get_page (window), ==, "model");
      g_assert_cmpuint (gantry_document_get_model (gantry_window_get_document (window))->n_nodes, ==, 12);
      text = gantry_inspector_to_text (gantry_window_get_inspector (window));
      g_assert_nonnull (strstr (text, "Input3"));
    }
  window_test_free (window);
}

/* Passes */

/* Where the box of @id is, from the middle of the upper edge of the canvas. */
static GtkAllocation
place_of (GantryGraphCanvas *canvas, guint32 id)
{
  GantryGraphPicture *picture = gantry_graph_canvas_get_picture (canvas);
  GantryGraphView view;
  GantryLayoutBox rect;

  gantry_graph_canvas_get_view (canvas, &view);
  gantry_graph_picture_box_rect (picture, gantry_graph_picture_box_of (picture, id), &rect);
  return (GtkAllocation){ (int) ((rect.x + rect.width / 2 - view.x) * view.scale) - gtk_widget_get_width (GTK_WIDGET (canvas)) / 2,
                          (int) ((rect.y - view.y) * view.scale), 0, 0 };
}

/* The pane that opens beside the other one shows the same place of the program in its middle. */
static void
test_beside (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-tiny.gir", FALSE);
  GantryPassView *view;
  GantryCompilation *compilation;
  GtkAllocation before, after;
  guint32 id;

  if (window == NULL)
    return;
  view = gantry_window_get_pass_view (window);
  compilation = gantry_document_get_compilation (gantry_window_get_document (window));
  gantry_pass_list_select (gantry_window_get_pass_list (window), compilation->n_snapshots - 1);
  views_wait_until (window_test_is_idle (window));
  views_settle ();
  views_wait_frame (GTK_WIDGET (window));
  id = gantry_module_entry (compilation->snapshots[compilation->n_snapshots - 1].module)->first_node;
  id = compilation->snapshots[compilation->n_snapshots - 1].module->nodes[id].id;
  before = place_of (gantry_pass_view_get_before (view), id);
  after = place_of (gantry_pass_view_get_after (view), id);
  g_assert_cmpint (ABS (before.x - after.x), <=, 4);
  g_assert_cmpint (ABS (before.y - after.y), <=, 4);
  window_test_free (window);
}

static void
test_passes (void)
{
  GantryWindow *window = window_test_sample ();
  GantryDocument *document;
  GantryPassView *view;
  GantryCompilation *compilation;
  g_autoptr (GHashTable) made = NULL;
  g_autofree char *text = NULL;

  if (window == NULL)
    return;
  document = gantry_window_get_document (window);
  view = gantry_window_get_pass_view (window);
  compilation = gantry_document_get_compilation (document);
  g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (gantry_pass_view_get_before (view))));
  window_test_act (window, "next-pass");
  views_wait_until (window_test_is_idle (window));
  views_settle ();
  g_assert_cmpuint (gantry_pass_list_get_selected (gantry_window_get_pass_list (window)), ==, 1);
  g_assert_true (gtk_widget_get_mapped (GTK_WIDGET (gantry_pass_view_get_before (view))));
  g_assert_cmpuint (gantry_graph_canvas_get_snapshot (gantry_pass_view_get_before (view)), ==, 0);
  g_assert_cmpuint (gantry_graph_canvas_get_snapshot (gantry_pass_view_get_after (view)), ==, 1);
  made = gantry_compilation_changes (compilation, 1, FALSE);
  g_assert_cmpuint (g_hash_table_size (made), >=, compilation->snapshots[1].n_made); /* constants too */
  /* Selecting before the pass selects what it became. */
  {
    const GantryModule *module = compilation->snapshots[0].module;
    guint32 node = module->nodes[gantry_module_entry (module)->first_node + gantry_module_entry (module)->n_nodes - 1].id;

    gantry_selection_set (gantry_window_get_selection (window), 0, &node, 1);
    g_assert_cmpuint (g_hash_table_size (gantry_selection_in (gantry_window_get_selection (window), 1)), >, 0);
    text = gantry_inspector_to_text (gantry_window_get_inspector (window));
    g_assert_nonnull (strstr (text, "Through the passes"));
    g_assert_nonnull (strstr (text, compilation->snapshots[1].title));
  }
  g_action_group_change_action_state (G_ACTION_GROUP (window), "single-pane", g_variant_new_boolean (TRUE));
  views_settle ();
  g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (gantry_pass_view_get_before (view))));
  window_test_free (window);
}

static char *
inspected (GantryWindow *window, guint32 id)
{
  guint last = gantry_document_get_compilation (gantry_window_get_document (window))->n_snapshots - 1;

  gantry_selection_set (gantry_window_get_selection (window), last, &id, 1);
  return gantry_inspector_to_text (gantry_window_get_inspector (window));
}

/* An argument is needed until the end, but not one that is donated to what the last step writes over it. */
static void
test_last_use (void)
{
  static const char program[] = "module \"m\" {\n  func @main #1 (%1 \"w\": f32[64] {role = \"state\", alias = 0}, %2 \"x\": f32[64]) -> (%4) {\n"
                                "    %3 = reduce(%2) {kind = \"add\", dimensions = [0]}: f32[]\n"
                                "    %5 = broadcast_in_dim(%3) {shape = [64], broadcast_dimensions = ints[]}: f32[64]\n"
                                "    %4 = add(%1, %5): f32[64] phase(update)\n  }\n}\n";
  g_autofree char *folder = g_dir_make_tmp ("gantry-test-XXXXXX", NULL), *path = g_build_filename (folder, "donated.gir", NULL);
  g_autofree char *donated = NULL, *stays = NULL;
  GantryWindow *window;

  g_assert_true (g_file_set_contents (path, program, -1, NULL));
  window = window_test_new ();
  if (window != NULL)
    {
      window_test_open (window, path);
      donated = inspected (window, 1);
      stays = inspected (window, 2);
      g_assert_nonnull (strstr (donated, "needed until"));
      g_assert_null (strstr (donated, "the end (argument)"));
      g_assert_nonnull (strstr (stays, "the end (argument)"));
      window_test_free (window);
    }
  g_unlink (path);
  g_rmdir (folder);
}

static gboolean
pass_enabled (GantryWindow *window, const char *pass)
{
  return gantry_compile_settings_enabled (gantry_document_get_settings (gantry_window_get_document (window)), pass);
}

static const char *
optional_pass (void)
{
  guint n;
  const GantryPassInfo *passes = gantry_compiler_passes (&n);

  for (guint i = 0; i < n; i++)
    if (!passes[i].required)
      return passes[i].name;
  return NULL;
}

static void
test_undo (void)
{
  GantryWindow *window = window_test_sample ();
  const char *pass = optional_pass ();
  GantryCompilation *before;

  if (window == NULL)
    return;
  before = gantry_compilation_ref (gantry_document_get_compilation (gantry_window_get_document (window)));
  g_assert_true (pass_enabled (window, pass));
  gantry_document_set_pass_enabled (gantry_window_get_document (window), pass, FALSE);
  views_wait_until (window_test_is_idle (window));
  g_assert_true (gantry_document_get_compilation (gantry_window_get_document (window)) != before);
  g_assert_false (pass_enabled (window, pass));
  window_test_act (window, "undo");
  views_wait_until (window_test_is_idle (window));
  g_assert_true (pass_enabled (window, pass));
  window_test_act (window, "redo");
  views_wait_until (window_test_is_idle (window));
  g_assert_false (pass_enabled (window, pass));
  g_action_group_change_action_state (G_ACTION_GROUP (window), "finite-math", g_variant_new_boolean (TRUE));
  views_wait_until (window_test_is_idle (window));
  g_assert_true (gantry_document_get_settings (gantry_window_get_document (window))->finite_math);
  window_test_act (window, "undo");
  views_wait_until (window_test_is_idle (window));
  g_assert_false (gantry_document_get_settings (gantry_window_get_document (window))->finite_math);
  gantry_compilation_unref (before);
  window_test_free (window);
}

/* Looking */

static void
test_fold_and_search (void)
{
  GantryWindow *window = window_test_sample ();
  GantryPassView *view;
  GtkWidget *entry;

  if (window == NULL)
    return;
  view = gantry_window_get_pass_view (window);
  window_test_act (window, "fold-all");
  views_wait_until (window_test_is_idle (window));
  window_test_act (window, "unfold-all");
  views_wait_until (window_test_is_idle (window));
  window_test_act (window, "find");
  views_settle ();
  entry = GTK_WIDGET (gtk_root_get_focus (GTK_ROOT (window)));
  g_assert_nonnull (entry);
  g_assert_nonnull (gtk_widget_get_ancestor (entry, GTK_TYPE_SEARCH_ENTRY));
  gtk_editable_set_text (GTK_EDITABLE (gtk_widget_get_ancestor (entry, GTK_TYPE_SEARCH_ENTRY)), "f32");
  views_wait_until (gantry_pass_view_n_matches (view) > 0);
  window_test_act (window, "find-next");
  g_assert_cmpuint (gantry_selection_count (gantry_window_get_selection (window)), ==, 1);
  window_test_act (window, "find-previous");
  window_test_act (window, "clear-selection");
  g_assert_cmpuint (gantry_selection_count (gantry_window_get_selection (window)), ==, 0);
  window_test_act (window, "fit");
  window_test_act (window, "zoom-in");
  window_test_act (window, "zoom-out");
  window_test_free (window);
}

static void
test_panels (void)
{
  GantryWindow *window = window_test_sample ();
  GtkWidget *time;

  if (window == NULL)
    return;
  time = GTK_WIDGET (gantry_window_get_time_panel (window));
  g_assert_true (gtk_widget_get_mapped (time));
  window_test_act (window, "show-time");
  g_assert_false (gtk_widget_get_mapped (time));
  window_test_act (window, "show-time");
  g_assert_true (gtk_widget_get_mapped (time));
  window_test_act (window, "show-inspector");
  g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (gantry_window_get_inspector (window))));
  window_test_act (window, "show-inspector");
  g_action_group_change_action_state (G_ACTION_GROUP (window), "maximize-time", g_variant_new_boolean (TRUE));
  g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (gantry_window_get_pass_view (window))));
  g_assert_true (gtk_widget_get_mapped (time));
  g_action_group_change_action_state (G_ACTION_GROUP (window), "maximize-time", g_variant_new_boolean (FALSE));
  g_assert_true (gtk_widget_get_mapped (GTK_WIDGET (gantry_window_get_pass_view (window))));
  window_test_free (window);
}

/* Who is alive at the peak adds up to the peak. */
static void
test_peak (void)
{
  GantryWindow *window = window_test_sample ();
  GantryAliveList *alive;
  const GantryPlan *plan;
  GantryMemoryParts parts;

  if (window == NULL)
    return;
  plan = gantry_document_get_compilation (gantry_window_get_document (window))->plan;
  g_assert_nonnull (plan);
  window_test_act (window, "peak");
  alive = gantry_memory_side_get_alive (gantry_time_panel_get_side (gantry_window_get_time_panel (window)));
  g_assert_cmpuint (gantry_alive_list_bytes (alive), ==, gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE));
  g_assert_cmpuint (gantry_alive_list_count (alive), >, 0);
  /* The parts have the names that a measurement has for them. */
  gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, &parts);
  for (guint i = 0; i < GANTRY_N_MEMORY_PARTS; i++)
    g_assert_true (window_test_has_text (GTK_WIDGET (alive), gantry_memory_part_name (i)) == (parts.bytes[i] > 0));
  {
    const guint64 bytes = gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE);
    g_autofree char *planned = NULL, *touched = NULL;

    /* Beside a run that touched a little more it has the figures that tell the two apart, as the line at the bottom has. */
    gantry_memory_peak_texts (bytes, plan->sizes_known, bytes + bytes / 2000 + 1, 0, &planned, &touched);
    gantry_alive_list_set (alive, gantry_document_get_compilation (gantry_window_get_document (window)), plan, plan->peak_step, 0, bytes + bytes / 2000 + 1);
    g_assert_true (window_test_has_text (GTK_WIDGET (alive), planned));
  }
  window_test_free (window);
}

static void
test_export (void)
{
  static const struct
  {
    const char *name, *begin;
  } files[] = { { "graph.svg", "<?xml" }, { "graph.png", "\211PNG" }, { "graph.dot", "digraph" } };
  GantryWindow *window = window_test_sample ();

  if (window == NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (g_get_user_config_dir (), files[i].name, NULL), *content = NULL;
      g_autoptr (GError) error = NULL;
      gsize size;

      gantry_window_export (window, path, &error);
      g_assert_no_error (error);
      g_file_get_contents (path, &content, &size, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (size, >, 200);
      g_assert_nonnull (g_strstr_len (content, 64, files[i].begin));
      g_unlink (path);
    }
  {
    g_autoptr (GError) error = NULL;

    g_assert_false (gantry_window_export (window, "/no/such/folder/graph.png", &error));
    g_assert_nonnull (error);
  }
  window_test_free (window);
}

/* What is open is not replaced by its picture, under none of its names. */
static void
test_export_of_model (void)
{
  static const char *const names[] = { "graph.svg", "graph.png", "graph.dot" };
  g_autofree char *folder = g_dir_make_tmp ("gantry-export-XXXXXX", NULL), *model = g_build_filename (folder, "m.gir", NULL);
  g_autofree char *weights = g_build_filename (folder, "w.bin", NULL), *text = NULL;
  GantryWindow *window = window_test_new ();

  if (window == NULL)
    return;
  text = g_strdup_printf ("module \"reader\" {\n  func @main #1 (%%1 \"x\": f32[4]) -> (%%3) {\n"
                          "    %%2 = constant() {value = file<f32[4]: \"%s\", 0, 16>}: f32[4]\n"
                          "    %%3 = add(%%1, %%2): f32[4]\n  }\n}\n",
                          weights);
  g_assert_true (g_file_set_contents (weights, "sixteen bytes...", 16, NULL));
  g_assert_true (g_file_set_contents (model, text, -1, NULL));
  window_test_open (window, model);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL), *content = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_cmpint (link (weights, path), ==, 0);
      g_assert_false (gantry_window_export (window, path, &error));
      g_assert_nonnull (strstr (error->message, "is what is read"));
      g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
      g_assert_cmpstr (content, ==, "sixteen bytes...");
      g_unlink (path);
    }
  window_test_free (window);
  g_unlink (weights);
  g_unlink (model);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  g_test_add_func ("/app/window/open", test_open);
  g_test_add_func ("/app/window/formats", test_formats);
  g_test_add_func ("/app/window/open-real", test_open_real);
  g_test_add_func ("/app/window/passes", test_passes);
  g_test_add_func ("/app/window/beside", test_beside);
  g_test_add_func ("/app/window/last-use", test_last_use);
  g_test_add_func ("/app/window/undo", test_undo);
  g_test_add_func ("/app/window/fold-and-search", test_fold_and_search);
  g_test_add_func ("/app/window/panels", test_panels);
  g_test_add_func ("/app/window/peak", test_peak);
  g_test_add_func ("/app/window/export", test_export);
  g_test_add_func ("/app/window/export-of-model", test_export_of_model);
  return window_test_run ();
}
