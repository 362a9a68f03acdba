/* SPDX-License-Identifier: Apache-2.0 */
/* The actions of the window, by the names that shortcuts, menus and tests use. */
#include "app/gantry/dialog.h"
#include "app/gantry/shortcuts.h"
#include "app/gantry/window-private.h"
#include "views/shown-plan.h"

#define ACTION(name) static void name (GSimpleAction *action, GVariant *parameter, gpointer data)

static GantryGraphCanvas *
canvas_of (gpointer window)
{
  return gantry_pass_view_get_canvas (((GantryWindow *) window)->pass_view);
}

ACTION (open_action)
{
  _gantry_window_choose_open (data);
}

ACTION (open_folder)
{
  _gantry_window_choose_folder (data);
}

static void
open_path (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gantry_window_open (data, g_variant_get_string (parameter, NULL));
}

static void
tell (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  _gantry_window_toast (data, g_variant_get_string (parameter, NULL));
}

ACTION (save)
{
  _gantry_window_save (data, FALSE);
}

ACTION (save_as)
{
  _gantry_window_save (data, TRUE);
}

ACTION (export_action)
{
  _gantry_window_choose_export (data);
}

ACTION (undo)
{
  gantry_document_undo (((GantryWindow *) data)->document);
}

ACTION (redo)
{
  gantry_document_redo (((GantryWindow *) data)->document);
}

ACTION (run)
{
  _gantry_window_run (data);
}

ACTION (run_or_tell)
{
  _gantry_window_run_or_tell (data);
}

ACTION (cancel)
{
  gantry_document_cancel (((GantryWindow *) data)->document);
}

ACTION (find)
{
  gtk_widget_grab_focus (GTK_WIDGET (((GantryWindow *) data)->search_entry));
}

ACTION (find_next)
{
  _gantry_window_search_step (data, 1);
}

ACTION (find_previous)
{
  _gantry_window_search_step (data, -1);
}

ACTION (fit)
{
  gantry_graph_canvas_fit (canvas_of (data));
}

ACTION (zoom_in)
{
  gantry_graph_canvas_zoom (canvas_of (data), 1.25);
}

ACTION (zoom_out)
{
  gantry_graph_canvas_zoom (canvas_of (data), 0.8);
}

ACTION (fold_all)
{
  gantry_graph_canvas_fold_all (canvas_of (data));
}

ACTION (unfold_all)
{
  gantry_graph_canvas_unfold_all (canvas_of (data));
}

ACTION (clear_selection)
{
  gantry_selection_clear (((GantryWindow *) data)->selection);
}

static void
step_pass (GantryWindow *self, int step)
{
  int index = (int) gantry_pass_list_get_selected (self->pass_list) + step;

  if (index >= 0)
    gantry_pass_list_select (self->pass_list, (guint) index);
}

ACTION (next_pass)
{
  step_pass (data, 1);
}

ACTION (previous_pass)
{
  step_pass (data, -1);
}

ACTION (peak)
{
  GantryWindow *self = data;

  _gantry_window_show_bottom (self, "time");
  gantry_time_panel_go_to_peak (self->time_panel);
}

ACTION (clear_placements)
{
  gantry_document_clear_placements (((GantryWindow *) data)->document);
}

ACTION (train)
{
  _gantry_dialog_train (data);
}

ACTION (policy)
{
  _gantry_dialog_policy (data);
}

ACTION (orders)
{
  _gantry_dialog_orders (data);
}

ACTION (solve)
{
  _gantry_dialog_solve (data);
}

ACTION (limit)
{
  gtk_widget_grab_focus (GTK_WIDGET (((GantryWindow *) data)->limit_entry));
}

ACTION (no_limit)
{
  gantry_document_set_limit (((GantryWindow *) data)->document, 0);
}

ACTION (problems)
{
  _gantry_window_show_problems (data);
}

ACTION (save_variant)
{
  _gantry_window_name_variant (data, FALSE);
}

ACTION (rename_variant)
{
  _gantry_window_name_variant (data, TRUE);
}

ACTION (delete_variant)
{
  _gantry_window_delete_variant (data);
}

/* Its state is the variant that the document is now: loading one changes that. */
static void
change_variant (GSimpleAction *action, GVariant *value, gpointer data)
{
  _gantry_window_load_variant (data, g_variant_get_string (value, NULL));
}

ACTION (replan)
{
  _gantry_window_use_times (data, TRUE);
}

ACTION (model_times)
{
  _gantry_window_use_times (data, FALSE);
}

ACTION (show_in_time)
{
  _gantry_window_show_in_time (data);
}

ACTION (show_code)
{
  GantryWindow *self = data;

  gtk_widget_set_visible (GTK_WIDGET (self->inspector_bin), TRUE);
  gantry_inspector_show_page (self->inspector, "code");
}

ACTION (reload)
{
  _gantry_window_reload (data);
}

static void
change_reload_when_saved (GSimpleAction *action, GVariant *value, gpointer data)
{
  g_simple_action_set_state (action, value);
  _gantry_window_reload_when_saved (data, g_variant_get_boolean (value));
}

ACTION (go_to_source)
{
  _gantry_window_show_source (data);
}

ACTION (export_kernels)
{
  _gantry_window_choose_kernels (data);
}

ACTION (menu)
{
  gtk_menu_button_popup (((GantryWindow *) data)->menu_button);
}

ACTION (show_shortcuts)
{
  GtkWidget *window = gantry_shortcuts_window_new ();

  gtk_window_set_transient_for (GTK_WINDOW (window), GTK_WINDOW (data));
  gtk_window_present (GTK_WINDOW (window));
  g_object_unref (window);
}

static void
change_single_pane (GSimpleAction *action, GVariant *value, gpointer data)
{
  g_simple_action_set_state (action, value);
  gantry_pass_view_set_single (((GantryWindow *) data)->pass_view, g_variant_get_boolean (value));
}

static void
change_finite_math (GSimpleAction *action, GVariant *value, gpointer data)
{
  gantry_document_set_finite_math (((GantryWindow *) data)->document, g_variant_get_boolean (value));
}

static void
change_maximize_time (GSimpleAction *action, GVariant *value, gpointer data)
{
  g_simple_action_set_state (action, value);
  _gantry_window_maximize_time (data, g_variant_get_boolean (value));
}

static void
change_bottom_page (GSimpleAction *action, GVariant *value, gpointer data)
{
  _gantry_window_show_bottom (data, g_variant_get_string (value, NULL));
}

static const GActionEntry entries[] = {
  { "open", open_action, NULL, NULL, NULL, { 0 } },
  { "open-folder", open_folder, NULL, NULL, NULL, { 0 } },
  { "open-path", open_path, "s", NULL, NULL, { 0 } },
  { "save", save, NULL, NULL, NULL, { 0 } },
  { "save-as", save_as, NULL, NULL, NULL, { 0 } },
  { "export", export_action, NULL, NULL, NULL, { 0 } },
  { "undo", undo, NULL, NULL, NULL, { 0 } },
  { "redo", redo, NULL, NULL, NULL, { 0 } },
  { "run", run, NULL, NULL, NULL, { 0 } },
  { "run-or-tell", run_or_tell, NULL, NULL, NULL, { 0 } },
  { "cancel", cancel, NULL, NULL, NULL, { 0 } },
  { "find", find, NULL, NULL, NULL, { 0 } },
  { "find-next", find_next, NULL, NULL, NULL, { 0 } },
  { "find-previous", find_previous, NULL, NULL, NULL, { 0 } },
  { "fit", fit, NULL, NULL, NULL, { 0 } },
  { "zoom-in", zoom_in, NULL, NULL, NULL, { 0 } },
  { "zoom-out", zoom_out, NULL, NULL, NULL, { 0 } },
  { "fold-all", fold_all, NULL, NULL, NULL, { 0 } },
  { "unfold-all", unfold_all, NULL, NULL, NULL, { 0 } },
  { "clear-selection", clear_selection, NULL, NULL, NULL, { 0 } },
  { "next-pass", next_pass, NULL, NULL, NULL, { 0 } },
  { "previous-pass", previous_pass, NULL, NULL, NULL, { 0 } },
  { "peak", peak, NULL, NULL, NULL, { 0 } },
  { "tell", tell, "s", NULL, NULL, { 0 } },
  { "place", _gantry_window_place_action, "s", NULL, NULL, { 0 } },
  { "clear-placements", clear_placements, NULL, NULL, NULL, { 0 } },
  { "train", train, NULL, NULL, NULL, { 0 } },
  { "policy", policy, NULL, NULL, NULL, { 0 } },
  { "orders", orders, NULL, NULL, NULL, { 0 } },
  { "solve", solve, NULL, NULL, NULL, { 0 } },
  { "limit", limit, NULL, NULL, NULL, { 0 } },
  { "no-limit", no_limit, NULL, NULL, NULL, { 0 } },
  { "problems", problems, NULL, NULL, NULL, { 0 } },
  { "save-variant", save_variant, NULL, NULL, NULL, { 0 } },
  { "rename-variant", rename_variant, NULL, NULL, NULL, { 0 } },
  { "delete-variant", delete_variant, NULL, NULL, NULL, { 0 } },
  { "variant", NULL, "s", "''", change_variant, { 0 } },
  { "replan", replan, NULL, NULL, NULL, { 0 } },
  { "model-times", model_times, NULL, NULL, NULL, { 0 } },
  { "show-in-time", show_in_time, NULL, NULL, NULL, { 0 } },
  { "show-code", show_code, NULL, NULL, NULL, { 0 } },
  { "go-to-source", go_to_source, NULL, NULL, NULL, { 0 } },
  { "reload", reload, NULL, NULL, NULL, { 0 } },
  { "reload-when-saved", NULL, NULL, "false", change_reload_when_saved, { 0 } },
  { "export-kernels", export_kernels, NULL, NULL, NULL, { 0 } },
  { "menu", menu, NULL, NULL, NULL, { 0 } },
  { "show-shortcuts", show_shortcuts, NULL, NULL, NULL, { 0 } },
  { "delete-run", _gantry_window_delete_run, NULL, NULL, NULL, { 0 } },
  { "show-run", NULL, "s", "''", _gantry_window_choose_run, { 0 } },
  { "single-pane", NULL, NULL, "false", change_single_pane, { 0 } },
  { "finite-math", NULL, NULL, "false", change_finite_math, { 0 } },
  { "bottom-page", NULL, "s", "'time'", change_bottom_page, { 0 } },
  { "maximize-time", NULL, NULL, "false", change_maximize_time, { 0 } },
};

/* What makes no sense without a model. */
static const char *const need_model[] = {
  "save",       "save-as",  "export",           "find",         "find-next",     "find-previous", "fit",         "zoom-in",       "zoom-out", "fold-all",
  "unfold-all", "place",    "clear-placements", "next-pass",    "previous-pass", "single-pane",   "finite-math", "maximize-time", "train",    "limit",
  "no-limit",   "problems", "bottom-page",      "show-in-time", "show-code",     "go-to-source",  "reload",
};

/* What makes no sense for a program that is not planned. */
static const char *const need_planner[] = { "policy", "orders", "solve", "variant", "save-variant" };

/* And what makes none of the run of another program, whose document is a recording and nothing else. */
static const char *const need_program[] = { "train", "policy",   "orders", "solve",        "variant",   "save-variant", "place",     "clear-placements",
                                            "limit", "no-limit", "export", "show-in-time", "show-code", "go-to-source", "delete-run" };

static void
enable (GantryWindow *self, const char *name, gboolean enabled)
{
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), name);

  if (G_IS_SIMPLE_ACTION (action))
    g_simple_action_set_enabled (G_SIMPLE_ACTION (action), enabled);
}

static void
update_run (GantryWindow *self)
{
  g_autoptr (GError) why = _gantry_window_why_no_run (self);
  const char *target = gtk_label_get_text (self->target_label);
  g_autofree char *text = g_strdup_printf ("Compile, run and measure in a child process (F5)%s%s", *target != '\0' ? ", on " : "", target);

  enable (self, "run", why == NULL);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->run_button), why != NULL ? why->message : text);
}

void
_gantry_window_update_actions (GantryWindow *self)
{
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  const GantryCompileSettings *settings = gantry_document_get_settings (self->document);
  const GantryRunResult *run = gantry_shown_run (self->document);
  gboolean busy = gantry_document_is_busy (self->document), can_undo = FALSE, can_redo = FALSE;
  GAction *finite = g_action_map_lookup_action (G_ACTION_MAP (self), "finite-math");

  g_object_get (self->document, "can-undo", &can_undo, "can-redo", &can_redo, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (need_model); i++)
    enable (self, need_model[i], compilation != NULL && self->opening == NULL);
  for (guint i = 0; i < G_N_ELEMENTS (need_planner); i++)
    enable (self, need_planner[i], compilation != NULL && self->opening == NULL && gantry_document_get_planner (self->document) != NULL);
  /* What does not fit has a peak too. */
  enable (self, "peak",
          (gantry_shown_plan (self->document) != NULL || gantry_document_get_refused_plan (self->document) != NULL) && compilation != NULL
            && !gantry_document_is_recording (self->document));
  enable (self, "delete-run", gantry_document_get_run (self->document) != NULL && !busy);
  update_run (self);
  if (gantry_document_is_recording (self->document))
    for (guint i = 0; i < G_N_ELEMENTS (need_program); i++)
      enable (self, need_program[i], FALSE);
  enable (self, "replan", run != NULL && !gantry_document_is_recording (self->document) && gantry_document_get_planner (self->document) != NULL);
  enable (self, "export-kernels", run != NULL);
  enable (self, "model-times", settings != NULL && settings->measured != NULL);
  enable (self, "cancel", busy);
  enable (self, "undo", can_undo);
  enable (self, "redo", can_redo);
  if (settings != NULL && finite != NULL)
    g_simple_action_set_state (G_SIMPLE_ACTION (finite), g_variant_new_boolean (settings->finite_math));
}

static void
add_panel_action (GantryWindow *self, const char *name, gpointer widget)
{
  g_autoptr (GPropertyAction) action = g_property_action_new (name, widget, "visible");

  g_action_map_add_action (G_ACTION_MAP (self), G_ACTION (action));
}

void
_gantry_window_add_actions (GantryWindow *self)
{
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  add_panel_action (self, "show-passes", self->passes_bin);
  add_panel_action (self, "show-inspector", self->inspector_bin);
  add_panel_action (self, "show-source", self->source_bin);
  add_panel_action (self, "show-time", self->time_bin);
}
