/* SPDX-License-Identifier: Apache-2.0 */
/* Placements in the window: a training step is made, values are placed by keys, by the inspector and by commands, and
 * everything follows at once; variants, the front, the limit, and policies with mistakes. */
#include "tests/app/gantry/window-test.h"
#include <adwaita.h>
#include <string.h>

static GantryDocument *
document_of (GantryWindow *window)
{
  return gantry_window_get_document (window);
}

static guint
last_snapshot (GantryWindow *window)
{
  return gantry_document_get_compilation (document_of (window))->n_snapshots - 1;
}

static GantryWindow *
window_with_step (void)
{
  return window_test_with ("data/programs/transformer-tiny.gir", TRUE);
}

static GtkWidget *
canvas_of (GantryWindow *window)
{
  return GTK_WIDGET (gantry_pass_view_get_canvas (gantry_window_get_pass_view (window)));
}

/* The largest residual of the second layer that may be recomputed: there is an equal one in the first. */
static guint32
residual (GantryWindow *window)
{
  GantryModule *module = gantry_compilation_module (gantry_document_get_compilation (document_of (window)));
  guint n;
  const GantryCandidate *list = gantry_planner_candidates (gantry_document_get_planner (document_of (window)), &n), *best = NULL;

  for (guint i = 0; i < n; i++)
    {
      const GantryNode *node = gantry_module_node (module, list[i].node);
      const char *scope = gantry_context_scope_path (module->context, node->scope);

      if (list[i].subject == GANTRY_SUBJECT_RESIDUAL && (list[i].allowed >> GANTRY_PLACEMENT_RECOMPUTE & 1) != 0 && strstr (scope, "layer.1/") != NULL
          && (best == NULL || list[i].bytes > best->bytes))
        best = &list[i];
    }
  g_assert_nonnull (best);
  return best->node;
}

static GantryPlacementKind
kind_of (GantryWindow *window, guint32 node)
{
  return gantry_placements_kind (gantry_document_get_placements (document_of (window)), node);
}

static guint
count_kind (GantryWindow *window, GantryPlacementKind kind)
{
  const GArray *entries = gantry_document_get_placements (document_of (window))->entries;
  guint n = 0;

  for (guint i = 0; i < entries->len; i++)
    n += g_array_index (entries, GantryPlacement, i).kind == kind;
  return n;
}

static void
select_node (GantryWindow *window, guint32 node)
{
  gantry_selection_set (gantry_window_get_selection (window), last_snapshot (window), &node, 1);
  views_settle ();
}

/* Not a moment later: no turn of the main loop lies between the edit and this. */
static void
assert_answered (GantryWindow *window)
{
  const GantryForecast *forecast = gantry_document_get_prediction (document_of (window));

  g_assert_nonnull (forecast);
  g_assert_true (forecast->has_delta);
  g_assert_true (gantry_placements_equal (forecast->placements, gantry_document_get_placements (document_of (window))));
}

static void
place (GantryWindow *window, const char *what)
{
  g_action_group_activate_action (G_ACTION_GROUP (window), "place", g_variant_new_string (what));
}

/* One meaning of memory: the inspector, the line at the bottom and the plan that the curve is drawn of say the same peak, while what
 * the kernels need is not known, and when it is. */
static void
assert_one_peak (GantryWindow *window, gboolean known)
{
  GantryDocument *document = document_of (window);
  guint64 bytes = gantry_plan_memory_bytes (gantry_document_get_plan (document), GANTRY_MEMORY_DEVICE);
  g_autofree char *text = gantry_memory_peak_text (bytes, 0, known), *status = g_strdup_printf ("Peak %s", text);
  GtkWidget *inspector = GTK_WIDGET (gantry_window_get_inspector (window));

  g_assert_cmpint (gantry_document_get_prediction (document)->prediction->sizes_known, ==, known);
  g_assert_true (window_test_has_text (inspector, text));
  g_assert_true (window_test_has_text (GTK_WIDGET (window), status));
  g_assert_true (window_test_has_text (inspector, "at least") == !known);
}

static void
test_one_peak (void)
{
  GantryWindow *window = window_with_step ();
  g_autoptr (GantryKernelSizes) sizes = NULL;
  g_autofree char *content = NULL;

  if (window == NULL)
    return;
  gantry_selection_clear (gantry_window_get_selection (window));
  window_test_wait (window);
  assert_one_peak (window, FALSE);
  content = gantry_module_content (gantry_compilation_module (gantry_document_get_compilation (document_of (window))));
  sizes = gantry_kernel_sizes_new (content, "a processor");
  sizes->conditions = gantry_kernel_conditions_text (&(GantryKernelConditions){ 0 });
  sizes->code_bytes = 123456789;
  gantry_document_set_kernel_sizes (document_of (window), sizes);
  views_wait_until (gantry_document_get_plan (document_of (window))->sizes_known);
  window_test_wait (window);
  assert_one_peak (window, TRUE);
  window_test_free (window);
}

/* Keys, the inspector, reaches */

static void
test_keys (void)
{
  GantryWindow *window = window_with_step ();
  guint64 before;
  guint32 node;

  if (window == NULL)
    return;
  node = residual (window);
  before = gantry_document_get_prediction (document_of (window))->prediction->peak_bytes;
  select_node (window, node);
  g_assert_cmpint (kind_of (window, node), ==, GANTRY_PLACEMENT_KEEP);
  g_assert_true (window_test_key (canvas_of (window), GDK_KEY_r, 0));
  g_assert_cmpint (kind_of (window, node), ==, GANTRY_PLACEMENT_RECOMPUTE);
  assert_answered (window);
  g_assert_cmpfloat (gantry_document_get_prediction (document_of (window))->prediction->recompute_us, >, 0);
  g_assert_nonnull (strstr (gantry_document_get_undo_name (document_of (window)), "recompute"));
  window_test_wait (window);
  g_assert_true (window_test_key (canvas_of (window), GDK_KEY_o, 0));
  g_assert_cmpint (kind_of (window, node), ==, GANTRY_PLACEMENT_OFFLOAD);
  assert_answered (window);
  g_assert_cmpuint (gantry_document_get_prediction (document_of (window))->prediction->copied_bytes, >, 0);
  g_assert_true (window_test_key (canvas_of (window), GDK_KEY_k, 0));
  g_assert_cmpint (kind_of (window, node), ==, GANTRY_PLACEMENT_KEEP);
  g_assert_cmpuint (gantry_document_get_prediction (document_of (window))->prediction->peak_bytes, ==, before);
  g_assert_true (window_test_key (canvas_of (window), GDK_KEY_u, 0));
  g_assert_null (gantry_placements_find (gantry_document_get_placements (document_of (window)), node));
  window_test_free (window);
}

static void
test_undo (void)
{
  GantryWindow *window = window_with_step ();
  guint32 node;

  if (window == NULL)
    return;
  node = residual (window);
  select_node (window, node);
  place (window, "recompute");
  window_test_wait (window);
  window_test_act (window, "undo");
  g_assert_cmpint (kind_of (window, node), ==, GANTRY_PLACEMENT_KEEP);
  window_test_wait (window);
  window_test_act (window, "redo");
  g_assert_cmpint (kind_of (window, node), ==, GANTRY_PLACEMENT_RECOMPUTE);
  window_test_wait (window);
  window_test_act (window, "clear-placements");
  g_assert_cmpint (kind_of (window, node), ==, GANTRY_PLACEMENT_KEEP);
  window_test_wait (window);
  window_test_free (window);
}

static void
test_inspector (void)
{
  GantryWindow *window = window_with_step ();
  GtkWidget *button;
  guint32 node;

  if (window == NULL)
    return;
  node = residual (window);
  select_node (window, node);
  views_wait_until (window_test_button (GTK_WIDGET (gantry_window_get_inspector (window)), "Recompute") != NULL);
  button = window_test_button (GTK_WIDGET (gantry_window_get_inspector (window)), "Recompute");
  g_assert_true (gtk_widget_is_sensitive (button));
  /* Where it was written, without the folder: that says more about the user than about the node. */
  g_assert_true (window_test_has_text (GTK_WIDGET (gantry_window_get_inspector (window)), "transformer-tiny.gir"));
  g_assert_false (window_test_has_text (GTK_WIDGET (gantry_window_get_inspector (window)), "/transformer-tiny.gir"));
  g_signal_emit_by_name (button, "clicked");
  g_assert_cmpint (kind_of (window, node), ==, GANTRY_PLACEMENT_RECOMPUTE);
  assert_answered (window);
  views_settle ();
  /* The choice is written anew: what is so now is pressed. */
  button = window_test_button (GTK_WIDGET (gantry_window_get_inspector (window)), "Recompute");
  g_assert_true (gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (button)));
  window_test_wait (window);
  /* In fewer bits: the line at the bottom says that results are approximate, until it is undone. */
  g_assert_false (window_test_has_text (GTK_WIDGET (window), "approximate"));
  g_signal_emit_by_name (window_test_button (GTK_WIDGET (gantry_window_get_inspector (window)), "8 bits"), "clicked");
  g_assert_cmpint (kind_of (window, node), ==, GANTRY_PLACEMENT_INT8);
  window_test_wait (window);
  views_wait_until (window_test_has_text (GTK_WIDGET (window), "Results are approximate"));
  window_test_act (window, "undo");
  window_test_wait (window);
  views_wait_until (!window_test_has_text (GTK_WIDGET (window), "Results are approximate"));
  window_test_free (window);
}

static void
test_reaches (void)
{
  GantryWindow *window = window_with_step ();
  guint32 node;
  guint alike, scope;

  if (window == NULL)
    return;
  node = residual (window);
  select_node (window, node);
  place (window, "recompute alike");
  assert_answered (window);
  alike = count_kind (window, GANTRY_PLACEMENT_RECOMPUTE);
  g_assert_cmpuint (alike, ==, 2); /* one in each of two layers */
  window_test_wait (window);
  window_test_act (window, "undo");
  window_test_wait (window);
  select_node (window, node);
  g_assert_true (window_test_key (canvas_of (window), GDK_KEY_R, GDK_SHIFT_MASK));
  assert_answered (window);
  scope = count_kind (window, GANTRY_PLACEMENT_RECOMPUTE);
  g_assert_cmpuint (scope, >=, 1);
  g_assert_cmpint (kind_of (window, node), ==, GANTRY_PLACEMENT_RECOMPUTE);
  window_test_act (window, "clear-placements");
  window_test_wait (window);
  gantry_pass_view_search (gantry_window_get_pass_view (window), "mlp");
  place (window, "offload matches");
  assert_answered (window);
  g_assert_cmpuint (count_kind (window, GANTRY_PLACEMENT_OFFLOAD), >, 2);
  window_test_wait (window);
  window_test_free (window);
}

/* Variants and the front */

static void
test_variants (void)
{
  GantryWindow *window = window_with_step ();
  GantryComparePanel *panel;
  GtkWidget *dialog = NULL;
  guint32 node;

  if (window == NULL)
    return;
  node = residual (window);
  panel = gantry_window_get_compare_panel (window);
  gantry_compare_panel_save_variant (panel, "all kept");
  select_node (window, node);
  place (window, "recompute");
  window_test_wait (window);
  gantry_compare_panel_save_variant (panel, NULL);
  g_assert_cmpuint (gantry_compare_panel_n_rows (panel), ==, 3);
  g_assert_cmpstr (gantry_compare_panel_get_row (panel, 2)->name, ==, "A");
  g_action_group_change_action_state (G_ACTION_GROUP (window), "variant", g_variant_new_string ("all kept"));
  g_assert_cmpint (kind_of (window, node), ==, GANTRY_PLACEMENT_KEEP);
  window_test_wait (window);
  g_action_group_change_action_state (G_ACTION_GROUP (window), "variant", g_variant_new_string ("A"));
  g_assert_cmpint (kind_of (window, node), ==, GANTRY_PLACEMENT_RECOMPUTE);
  window_test_wait (window);
  /* The current one is renamed and deleted; undo brings it back. */
  window_test_act (window, "rename-variant");
  for (guint i = 0; i < g_list_model_get_n_items (gtk_window_get_toplevels ()); i++)
    {
      g_autoptr (GtkWidget) toplevel = g_list_model_get_item (gtk_window_get_toplevels (), i);

      if (ADW_IS_MESSAGE_DIALOG (toplevel))
        dialog = toplevel;
    }
  g_assert_nonnull (dialog);
  gtk_editable_set_text (GTK_EDITABLE (adw_message_dialog_get_extra_child (ADW_MESSAGE_DIALOG (dialog))), "lean & <fast>");
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), "save");
  gtk_window_close (GTK_WINDOW (dialog));
  views_settle ();
  g_assert_cmpstr (gantry_compare_panel_get_row (panel, 2)->name, ==, "lean & <fast>");
  window_test_act (window, "delete-variant");
  g_assert_cmpuint (gantry_compare_panel_n_rows (panel), ==, 2);
  views_wait_frame (GTK_WIDGET (window));
  g_assert_true (window_test_has_text (GTK_WIDGET (window), "Deleted the variant lean & <fast>")); /* no markup */
  window_test_act (window, "undo");
  g_assert_cmpuint (gantry_compare_panel_n_rows (panel), ==, 3);
  window_test_wait (window);
  window_test_free (window);
}

static void
test_front (void)
{
  GantryWindow *window = window_with_step ();
  GantryComparePanel *panel;
  GantryScatterView *scatter;
  guint n;

  if (window == NULL)
    return;
  panel = gantry_window_get_compare_panel (window);
  scatter = gantry_compare_panel_get_scatter (panel);
  g_action_group_activate_action (G_ACTION_GROUP (window), "bottom-page", g_variant_new_string ("compare"));
  g_assert_true (gtk_widget_get_mapped (GTK_WIDGET (panel)));
  gantry_compare_panel_find_front (panel, 5, 5);
  g_assert_true (gantry_compare_panel_is_searching (panel));
  views_wait_until (!gantry_compare_panel_is_searching (panel));
  window_test_wait (window);
  n = gantry_compare_panel_n_rows (panel);
  g_assert_cmpuint (n, >=, 3); /* what is placed now, and at least two points */
  for (guint i = 2; i < n; i++)
    g_assert_cmpuint (gantry_compare_panel_get_row (panel, i)->figures.peak_bytes, <, gantry_compare_panel_get_row (panel, i - 1)->figures.peak_bytes);
  /* A point by the keys is its row; Return loads it. */
  g_assert_true (window_test_key (GTK_WIDGET (scatter), GDK_KEY_Right, 0));
  for (guint i = 0; i + 2 < n; i++)
    window_test_key (GTK_WIDGET (scatter), GDK_KEY_Left, 0);
  g_assert_cmpuint (gantry_compare_panel_get_selected (panel), ==, n - 1);
  g_assert_true (window_test_key (GTK_WIDGET (scatter), GDK_KEY_Return, 0));
  views_settle ();
  window_test_wait (window);
  gantry_document_wait (document_of (window)); /* the point has a limit: it is planned anew, on a thread */
  g_assert_cmpuint (gantry_document_get_prediction (document_of (window))->prediction->peak_bytes, ==,
                    gantry_compare_panel_get_row (panel, n - 1)->figures.peak_bytes);
  g_assert_cmpuint (gantry_compare_panel_get_selected (panel), ==, n - 1); /* and stays selected */
  window_test_free (window);
}

/* The limit */

static void
give_limit (GantryWindow *window, const char *text)
{
  GtkWidget *entry = window_test_find (GTK_WIDGET (window), "limit");

  gtk_editable_set_text (GTK_EDITABLE (entry), text);
  g_signal_emit_by_name (entry, "activate");
  window_test_wait (window);
}

static guint64
limit_of (GantryWindow *window)
{
  return gantry_document_get_settings (document_of (window))->target.memory_limit;
}

/* All that is alive at the peak that is predicted now. */
static gboolean
lists_peak (GantryWindow *window)
{
  GantryAliveList *alive = gantry_memory_side_get_alive (gantry_time_panel_get_side (gantry_window_get_time_panel (window)));

  return gantry_alive_list_count (alive) > 10
         && gantry_alive_list_bytes (alive) == gantry_document_get_prediction (document_of (window))->prediction->peak_bytes;
}

/* The button is off and says why; so does the bar above the graph, and so do the keys. */
static void
assert_cannot_run (GantryWindow *window)
{
  const GError *why = gantry_document_get_plan_error (document_of (window));
  GtkWidget *button = window_test_button (GTK_WIDGET (window), "_Run");

  g_assert_nonnull (button);
  g_assert_false (gtk_widget_get_sensitive (button));
  g_assert_nonnull (strstr (gtk_widget_get_tooltip_text (button), why->message));
  g_assert_true (window_test_has_text (GTK_WIDGET (window), "cannot be run"));
  g_assert_null (gantry_window_get_error (window));
  window_test_act (window, "run-or-tell");
  g_assert_nonnull (strstr (gantry_window_get_error (window), why->message));
  g_assert_null (gantry_document_child_id (document_of (window)));
}

static void
test_limit (void)
{
  GantryWindow *window = window_with_step ();
  GtkWidget *entry, *button;

  if (window == NULL)
    return;
  entry = window_test_find (GTK_WIDGET (window), "limit");
  g_assert_true (gtk_widget_get_mapped (entry));
  give_limit (window, "8 GiB");
  g_assert_cmpuint (limit_of (window), ==, G_GUINT64_CONSTANT (8) << 30);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, "8.00 GiB");
  give_limit (window, "nonsense");
  g_assert_true (gtk_widget_has_css_class (entry, "error"));
  g_assert_cmpuint (limit_of (window), ==, G_GUINT64_CONSTANT (8) << 30);
  gtk_widget_grab_focus (entry);
  give_limit (window, "200%");
  g_assert_false (gtk_widget_is_ancestor (gtk_window_get_focus (GTK_WINDOW (window)), entry));
  g_assert_cmpuint (limit_of (window), ==, 2 * gantry_document_get_prediction (document_of (window))->prediction->peak_bytes);
  g_assert_null (gantry_document_get_plan_error (document_of (window)));
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, "200%"); /* as it was given */
  gtk_widget_grab_focus (entry);
  give_limit (window, "100");
  /* Who tries again types into the field, and not shortcuts. */
  g_assert_true (gtk_widget_is_ancestor (gtk_window_get_focus (GTK_WINDOW (window)), entry));
  views_wait_until (gantry_document_get_plan_error (document_of (window)) != NULL);
  views_settle ();
  window_test_wait (window);
  assert_cannot_run (window);
  /* Who holds the peak that does not fit is listed all the same. */
  views_wait_until (lists_peak (window));
  /* And so it is after the next click. */
  select_node (window, residual (window));
  place (window, "offload");
  window_test_wait (window);
  g_assert_nonnull (gantry_document_get_plan_error (document_of (window)));
  views_wait_until (lists_peak (window));
  button = window_test_button (GTK_WIDGET (window), "Remove the limit");
  g_assert_nonnull (button); /* the bar above the graph says by how much, and what can be done */
  g_signal_emit_by_name (button, "clicked");
  g_assert_cmpuint (limit_of (window), ==, 0);
  views_wait_until (gantry_document_get_plan_error (document_of (window)) == NULL);
  window_test_wait (window);
  g_assert_null (window_test_button (GTK_WIDGET (window), "Remove the limit"));
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "run"));
  window_test_free (window);
}

/* Dialogs */

static void
set_text (GtkWidget *view, const char *text)
{
  gtk_text_buffer_set_text (gtk_text_view_get_buffer (GTK_TEXT_VIEW (view)), text, -1);
}

static char *
text_of (GtkWidget *view)
{
  GtkTextBuffer *buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (view));
  GtkTextIter start, end;

  gtk_text_buffer_get_bounds (buffer, &start, &end);
  return gtk_text_buffer_get_text (buffer, &start, &end, FALSE);
}

static void
test_policy (void)
{
  GantryWindow *window = window_with_step ();
  GtkWidget *dialog, *apply;
  g_autofree char *reports = NULL;
  g_auto (GStrv) lines = NULL;

  if (window == NULL)
    return;
  window_test_act (window, "policy");
  dialog = window_test_dialog ("policy");
  g_assert_nonnull (dialog);
  apply = window_test_find (dialog, "apply");
  /* A mistake is told while one writes, and cannot be applied. */
  set_text (window_test_find (dialog, "text"), "op:dot maybe");
  g_assert_false (gtk_widget_get_sensitive (apply));
  g_assert_true (g_str_has_prefix (gtk_label_get_text (GTK_LABEL (window_test_find (dialog, "message"))), "policy:1:"));
  set_text (window_test_find (dialog, "text"), "scope:encoder/* recompute\n\nname:nothing-of-that-name keep\n");
  g_assert_true (gtk_widget_get_sensitive (apply));
  g_signal_emit_by_name (apply, "clicked");
  g_assert_cmpuint (count_kind (window, GANTRY_PLACEMENT_RECOMPUTE), >, 2);
  assert_answered (window);
  reports = text_of (window_test_find (dialog, "reports"));
  lines = g_strsplit (reports, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), >=, 3);
  g_assert_nonnull (strstr (lines[0], "decided"));
  g_assert_cmpstr (lines[1], ==, "");
  g_assert_nonnull (strstr (lines[2], "matches nothing"));
  gtk_window_close (GTK_WINDOW (dialog));
  window_test_wait (window);
  /* The status bar leads there again. */
  window_test_act (window, "problems");
  g_assert_nonnull (window_test_dialog ("policy"));
  gtk_window_close (GTK_WINDOW (window_test_dialog ("policy")));
  window_test_free (window);
}

/* Every order with every allocator; a row that is chosen is what is planned, and undone like any edit. */
static void
test_orders (void)
{
  GantryWindow *window = window_test_with ("data/programs/mlp.gir", TRUE);
  GtkWidget *dialog, *row;

  if (window == NULL)
    return;
  window_test_act (window, "orders");
  dialog = window_test_dialog ("orders");
  g_assert_nonnull (dialog);
  while (window_test_find (dialog, "depth-bfc") == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_true (gtk_check_button_get_active (GTK_CHECK_BUTTON (window_test_find (dialog, "memory-exact"))));
  row = window_test_find (dialog, "depth-bfc");
  gtk_check_button_set_active (GTK_CHECK_BUTTON (row), TRUE);
  window_test_wait (window);
  g_assert_cmpint (gantry_document_get_settings (document_of (window))->order, ==, GANTRY_ORDER_DEPTH);
  g_assert_cmpint (gantry_document_get_settings (document_of (window))->allocator, ==, GANTRY_ALLOCATOR_BFC);
  g_assert_nonnull (gantry_document_get_plan (document_of (window)));
  gtk_window_close (GTK_WINDOW (dialog));
  gantry_document_undo (document_of (window));
  window_test_wait (window);
  g_assert_cmpint (gantry_document_get_settings (document_of (window))->order, ==, GANTRY_ORDER_BEST);
  window_test_free (window);
}

static void
test_train (void)
{
  GantryWindow *window = window_test_with ("data/programs/mlp.gir", FALSE);
  GtkWidget *dialog;

  if (window == NULL)
    return;
  window_test_act (window, "train");
  dialog = window_test_dialog ("train");
  g_assert_nonnull (dialog);
  adw_combo_row_set_selected (ADW_COMBO_ROW (window_test_find (dialog, "optimizer")), GANTRY_OPTIMIZER_MOMENTUM);
  g_assert_true (gtk_widget_get_visible (window_test_find (dialog, "momentum")));
  g_assert_false (gtk_widget_get_visible (window_test_find (dialog, "beta1")));
  gtk_editable_set_text (GTK_EDITABLE (window_test_find (dialog, "rate")), "fast");
  g_signal_emit_by_name (window_test_find (dialog, "apply"), "clicked");
  g_assert_true (gtk_widget_has_css_class (window_test_find (dialog, "rate"), "error"));
  g_assert_false (gantry_document_get_settings (document_of (window))->train);
  gtk_editable_set_text (GTK_EDITABLE (window_test_find (dialog, "rate")), "0.05");
  gtk_editable_set_text (GTK_EDITABLE (window_test_find (dialog, "clip")), "1");
  gtk_editable_set_text (GTK_EDITABLE (window_test_find (dialog, "microbatches")), "2.5");
  g_signal_emit_by_name (window_test_find (dialog, "apply"), "clicked");
  g_assert_true (gtk_widget_has_css_class (window_test_find (dialog, "microbatches"), "error"));
  gtk_editable_set_text (GTK_EDITABLE (window_test_find (dialog, "microbatches")), "2");
  g_signal_emit_by_name (window_test_find (dialog, "apply"), "clicked");
  views_settle ();
  window_test_wait (window);
  g_assert_null (window_test_dialog ("train"));
  g_assert_cmpfloat (gantry_document_get_settings (document_of (window))->training.learning_rate, ==, 0.05);
  g_assert_cmpuint (gantry_document_get_settings (document_of (window))->training.microbatches, ==, 2);
  g_assert_cmpint (gantry_document_get_settings (document_of (window))->training.optimizer, ==, GANTRY_OPTIMIZER_MOMENTUM);
  g_assert_true (gantry_module_is_training (gantry_compilation_module (gantry_document_get_compilation (document_of (window)))));
  /* What was made is shown. */
  g_assert_cmpuint (gantry_pass_list_get_selected (gantry_window_get_pass_list (window)), ==, last_snapshot (window));
  window_test_free (window);
}

static void
test_solve (void)
{
  GantryWindow *window = window_with_step ();
  GtkWidget *dialog;
  GPtrArray *variants;
  guint64 before, asked;

  if (window == NULL)
    return;
  before = gantry_document_get_prediction (document_of (window))->prediction->peak_bytes;
  window_test_act (window, "solve");
  dialog = window_test_dialog ("solve");
  g_assert_nonnull (dialog);
  gtk_editable_set_text (GTK_EDITABLE (window_test_find (dialog, "size")), "much");
  g_signal_emit_by_name (window_test_find (dialog, "start"), "clicked");
  g_assert_nonnull (strstr (gtk_label_get_text (GTK_LABEL (window_test_find (dialog, "message"))), "is no size"));
  gtk_editable_set_text (GTK_EDITABLE (window_test_find (dialog, "size")), "90%");
  g_signal_emit_by_name (window_test_find (dialog, "start"), "clicked");
  views_wait_until (window_test_dialog ("solve") == NULL);
  window_test_wait (window);
  variants = gantry_document_get_variants (document_of (window));
  g_assert_cmpuint (variants->len, ==, 1);
  g_assert_true (g_str_has_prefix (((GantryVariant *) g_ptr_array_index (variants, 0))->name, "fit "));
  asked = (guint64) (0.9 * (double) before);
  g_assert_cmpuint (gantry_document_get_prediction (document_of (window))->prediction->peak_bytes, <=, asked);
  window_test_free (window);
}

static GtkWidget *
start_search (GantryWindow *window, const char *size)
{
  GtkWidget *dialog;

  window_test_act (window, "solve");
  dialog = window_test_dialog ("solve");
  g_assert_nonnull (dialog);
  gtk_editable_set_text (GTK_EDITABLE (window_test_find (dialog, "size")), size);
  g_signal_emit_by_name (window_test_find (dialog, "start"), "clicked");
  return dialog;
}

/* Closing the dialog stops the search and changes nothing; what it had found can be had for some seconds. */
static void
test_solve_closed (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-4.gir", TRUE);
  g_autoptr (GantryPlacements) before = NULL;
  g_autofree char *undo = NULL;
  GtkWidget *dialog, *message, *button;
  GPtrArray *variants;

  if (window == NULL)
    return;
  before = gantry_placements_copy (gantry_document_get_placements (document_of (window)));
  undo = g_strdup (gantry_document_get_undo_name (document_of (window)));
  dialog = start_search (window, "40%");
  message = window_test_find (dialog, "message");
  views_wait_until (strstr (gtk_label_get_text (GTK_LABEL (message)), "best so far") != NULL);
  gtk_window_close (GTK_WINDOW (dialog));
  window_test_wait (window);
  variants = gantry_document_get_variants (document_of (window));
  g_assert_true (variants == NULL || variants->len == 0);
  g_assert_true (gantry_placements_equal (gantry_document_get_placements (document_of (window)), before));
  g_assert_cmpstr (gantry_document_get_undo_name (document_of (window)), ==, undo);
  button = window_test_button (window_test_find_type (GTK_WIDGET (window), "AdwToastWidget"), "Load");
  g_assert_nonnull (button);
  g_signal_emit_by_name (button, "clicked");
  window_test_wait (window);
  variants = gantry_document_get_variants (document_of (window));
  g_assert_cmpuint (variants->len, ==, 1);
  g_assert_true (g_str_has_prefix (((GantryVariant *) g_ptr_array_index (variants, 0))->name, "fit "));
  g_assert_cmpuint (gantry_document_get_prediction (document_of (window))->prediction->peak_bytes, ==,
                    ((GantryVariant *) g_ptr_array_index (variants, 0))->figures.peak_bytes);
  window_test_free (window);
}

/* Closed before there is anything: that is said, and the document is free for the next search. */
static void
test_solve_closed_at_once (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-4.gir", TRUE);
  GtkWidget *dialog;

  if (window == NULL)
    return;
  gtk_window_close (GTK_WINDOW (start_search (window, "40%")));
  window_test_wait (window);
  g_assert_true (window_test_has_text (GTK_WIDGET (window), "Search stopped"));
  g_assert_null (window_test_dialog ("solve"));
  /* The window may go while a search ends. */
  dialog = start_search (window, "45%");
  gtk_window_close (GTK_WINDOW (dialog));
  window_test_free (window);
}

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  g_test_add_func ("/app/placing/one-peak", test_one_peak);
  g_test_add_func ("/app/placing/keys", test_keys);
  g_test_add_func ("/app/placing/undo", test_undo);
  g_test_add_func ("/app/placing/inspector", test_inspector);
  g_test_add_func ("/app/placing/reaches", test_reaches);
  g_test_add_func ("/app/placing/variants", test_variants);
  g_test_add_func ("/app/placing/front", test_front);
  g_test_add_func ("/app/placing/limit", test_limit);
  g_test_add_func ("/app/placing/policy", test_policy);
  g_test_add_func ("/app/placing/orders", test_orders);
  g_test_add_func ("/app/placing/train", test_train);
  g_test_add_func ("/app/placing/solve", test_solve);
  g_test_add_func ("/app/placing/solve-closed", test_solve_closed);
  g_test_add_func ("/app/placing/solve-closed-at-once", test_solve_closed_at_once);
  return window_test_run ();
}
