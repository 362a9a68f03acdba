/* SPDX-License-Identifier: Apache-2.0 */
/* The window as an object: its views, and what it shows of the state of the document. */
#include "app/gantry/state.h"
#include "app/gantry/window-private.h"
#include "views/format.h"
#include "views/work-bar.h"
#include <string.h>

G_DEFINE_FINAL_TYPE (GantryWindow, gantry_window, ADW_TYPE_APPLICATION_WINDOW)

void
_gantry_window_toast (GantryWindow *self, const char *text)
{
  g_autofree char *escaped = g_markup_escape_text (text, -1); /* names of variants and files may hold any sign */
  AdwToast *toast = adw_toast_new (escaped);

  adw_toast_set_timeout (toast, 3);
  adw_toast_overlay_add_toast (self->toasts, toast);
}

#define LEAST_WIDTH_FOR_TARGET 1000 /* of the window; below, names have its room, and the Run button's tooltip tells it */

void
_gantry_window_show_target (GantryWindow *self)
{
  gboolean model = g_strcmp0 (gtk_stack_get_visible_child_name (self->stack), "model") == 0;
  int width, height;

  gtk_window_get_default_size (GTK_WINDOW (self), &width, &height);
  gtk_widget_set_visible (GTK_WIDGET (self->target_label), model && (width >= LEAST_WIDTH_FOR_TARGET || gtk_window_is_maximized (GTK_WINDOW (self))));
}

static void
update_target (GantryWindow *self)
{
  const GantryCompileSettings *settings = gantry_document_get_settings (self->document);
  const GantryRunResult *run = gantry_document_get_run (self->document);
  g_autofree char *rates = NULL, *tooltip = NULL;
  GantryTarget cpu;

  if (settings == NULL)
    return;
  if (gantry_document_is_recording (self->document))
    {
      gtk_label_set_text (self->target_label, run != NULL ? run->device : "");
      gtk_widget_set_tooltip_text (GTK_WIDGET (self->target_label), "What ran it, as the recording says");
      return;
    }
  if (settings->target.name[0] == '\0')
    gantry_target_init_cpu (&cpu, 0);
  gtk_label_set_text (self->target_label, settings->target.name[0] != '\0' ? settings->target.name : cpu.name);
  rates = gantry_target_rates_text (&settings->target);
  tooltip = g_strdup_printf ("What the program is compiled and planned for. Times: %s", rates);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->target_label), tooltip);
}

/* What the document says */

static void
update_busy (GantryWindow *self)
{
  gboolean busy = gantry_document_is_busy (self->document);
  gboolean opening = busy && self->opening != NULL;
  double fraction = -1;
  g_autofree char *activity = NULL;

  g_object_get (self->document, "progress", &fraction, "activity", &activity, NULL);
  gtk_stack_set_visible_child_name (self->run_stack, busy && !opening ? "busy" : "run");
  gtk_spinner_set_spinning (self->busy_spinner, busy && !opening);
  gtk_spinner_set_spinning (self->loading_spinner, opening);
  gantry_work_bar_set (self->progress_bar, busy && !opening, fraction);
  if (opening)
    gtk_label_set_text (self->loading_label, activity != NULL && *activity != '\0' ? activity : "Opening");
  else if (busy && activity != NULL && *activity != '\0')
    _gantry_window_show_activity (self, activity);
  else if (!busy)
    _gantry_window_update_status (self);
  _gantry_window_update_actions (self);
}

static void
update_title (GantryWindow *self)
{
  const char *path = gantry_document_get_path (self->document);
  const char *graph = _gantry_window_graph (self);
  g_autofree char *base = path != NULL ? g_path_get_basename (path) : NULL;
  g_autofree char *name = base != NULL && graph != NULL ? g_strdup_printf ("%s: %s", base, graph) : g_strdup (base);
  g_autofree char *title = NULL, *tooltip = path != NULL && graph != NULL ? g_strdup_printf ("%s\ngraph %s", path, graph) : g_strdup (path);
  gboolean modified = FALSE;

  g_object_get (self->document, "modified", &modified, NULL);
  title = name != NULL ? g_strdup_printf ("%s \342\200\223 Gantry", name) : g_strdup ("Gantry");
  gtk_window_set_title (GTK_WINDOW (self), title);
  gtk_widget_set_visible (GTK_WIDGET (self->model_button), name != NULL);
  if (name != NULL)
    gtk_label_set_text (self->model_label, name);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->model_button), tooltip);
}

void
_gantry_window_update (GantryWindow *self)
{
  gboolean loaded = gantry_document_get_compilation (self->document) != NULL;
  const char *page = self->opening != NULL ? "loading" : self->error != NULL && !loaded ? "error" : loaded ? "model" : "welcome";

  gtk_stack_set_visible_child_name (self->stack, page);
  gtk_widget_set_visible (self->status_bar, g_strcmp0 (page, "model") == 0);
  gtk_widget_set_visible (self->search_box, g_strcmp0 (page, "model") == 0 && !gantry_document_is_recording (self->document));
  gtk_widget_set_visible (GTK_WIDGET (self->run_stack), !gantry_document_is_recording (self->document));
  _gantry_window_show_target (self);
  update_title (self);
  update_target (self);
  update_busy (self);
  _gantry_window_update_header (self);
}

static void
show_step (GantryWindow *self, GantryCompilation *compilation)
{
  if (!self->show_step || compilation == NULL)
    return;
  self->show_step = FALSE;
  if (!gantry_module_is_training (gantry_compilation_module (compilation)))
    return;
  gantry_pass_list_select (self->pass_list, compilation->n_snapshots - 1);
  g_action_group_change_action_state (G_ACTION_GROUP (self), "single-pane", g_variant_new_boolean (TRUE));
}

/* Of another program there is neither graph nor code: time has all the room. */
static void
show_outside (GantryWindow *self)
{
  gboolean outside = gantry_document_is_recording (self->document);

  if (outside == self->outside)
    return;
  self->outside = outside;
  if (outside)
    _gantry_window_show_bottom (self, "time");
  g_action_group_change_action_state (G_ACTION_GROUP (self), "maximize-time", g_variant_new_boolean (outside));
}

static void
compilation_changed (GantryWindow *self)
{
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);

  gantry_selection_set_compilation (self->selection, compilation);
  gantry_pass_view_set (self->pass_view, compilation, compilation != NULL ? gantry_pass_list_get_selected (self->pass_list) : 0);
  gantry_source_page_set_snapshot (self->source_page, gantry_pass_list_get_selected (self->pass_list));
  _gantry_window_watch_files (self);
  _gantry_window_update_notice (self);
  _gantry_window_update (self);
  show_step (self, compilation);
  show_outside (self);
  _gantry_window_find_sizes (self);
}

void
_gantry_window_show_step_when_made (GantryWindow *self)
{
  self->show_step = TRUE;
}

static void
plan_error_changed (GantryWindow *self)
{
  _gantry_window_update_notice (self);
  _gantry_window_update_status (self);
  _gantry_window_update_actions (self);
}

static void
place_asked (GantryPassView *view, int kind, int reach, gpointer data)
{
  _gantry_window_place (data, kind, (GantryReach) reach);
}

static void
error_told (GantryDocument *document, const char *what, const GError *error, gpointer data)
{
  _gantry_window_tell (data, what, error);
}

static void
compare_failed (GantryComparePanel *panel, const char *what, const GError *error, gpointer data)
{
  _gantry_window_tell (data, what, error);
}

static void
kernel_activated (GantryKernelsPanel *panel, guint node, gpointer data)
{
  _gantry_window_show_in_time (data);
}

static void
prediction_changed (GantryWindow *self)
{
  _gantry_window_update_placements (self);
  _gantry_window_update_status (self);
}

static void
pass_selected (GantryPassList *list, guint index, gpointer data)
{
  GantryWindow *self = data;
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);

  /* While a new compilation is being announced the list may hear of it before the window. */
  gantry_selection_set_compilation (self->selection, compilation);
  gantry_pass_view_set (self->pass_view, compilation, index);
  gantry_source_page_set_snapshot (self->source_page, index);
}

/* Opening */

void
_gantry_window_remember_program (GantryWindow *self)
{
  const GantryModel *model = gantry_document_get_model (self->document);
  g_autofree char *mark = NULL;

  if (model == NULL || !gantry_model_is_program (model->path))
    return;
  mark = gantry_model_program_mark (model->path, NULL);
  if (mark != NULL)
    gantry_state_add_trusted (mark);
}

static void
opened (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GantryWindow) self = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_strdup (self->opening);

  if (!gantry_document_open_finish (self->document, result, &error))
    {
      /* Superseded by another request: that one will answer. */
      if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) && gantry_document_is_busy (self->document))
        return;
      g_clear_pointer (&self->opening, g_free);
      if (path != NULL && (_gantry_window_ask_to_allow (self, path, NULL, error) || _gantry_window_ask_which (self, path, error)))
        ;
      else if (gantry_document_get_compilation (self->document) != NULL || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        _gantry_window_tell_of (self, path, "This file cannot be opened", error);
      else
        _gantry_window_show_error (self, path, error);
      _gantry_window_update (self);
      return;
    }
  g_clear_pointer (&self->opening, g_free);
  g_clear_pointer (&self->error, g_free);
  if (path != NULL)
    gantry_state_add_recent (path);
  _gantry_window_remember_program (self);
  _gantry_window_arrange_source (self);
  _gantry_window_fill_recent (self);
  _gantry_window_update (self);
  _gantry_window_say_restored (self);
  gtk_widget_grab_focus (GTK_WIDGET (gantry_pass_view_get_canvas (self->pass_view)));
}

void
_gantry_window_open_now (GantryWindow *self, const char *path, guint allowed)
{
  GantryOpenOptions options;

  _gantry_window_begin_opening (self, path, allowed, &options);
  g_clear_pointer (&self->error, g_free);
  gantry_document_open_async (self->document, self->opening, &options, opened, g_object_ref (self));
  _gantry_open_options_clear (&options);
  _gantry_window_update (self);
}

void
gantry_window_open (GantryWindow *self, const char *path)
{
  g_return_if_fail (GANTRY_IS_WINDOW (self));
  g_clear_pointer (&self->entry, g_free);
  if (gantry_document_is_unsaved (self->document))
    _gantry_window_ask_unsaved (self, path);
  else
    _gantry_window_open_now (self, path, 0);
}

/* Reading */

GantryDocument *
gantry_window_get_document (GantryWindow *self)
{
  return self->document;
}

GantrySelection *
gantry_window_get_selection (GantryWindow *self)
{
  return self->selection;
}

GantryPassList *
gantry_window_get_pass_list (GantryWindow *self)
{
  return self->pass_list;
}

GantryPassView *
gantry_window_get_pass_view (GantryWindow *self)
{
  return self->pass_view;
}

GantryInspector *
gantry_window_get_inspector (GantryWindow *self)
{
  return self->inspector;
}

GantrySourcePage *
gantry_window_get_source_page (GantryWindow *self)
{
  return self->source_page;
}

GantryTimePanel *
gantry_window_get_time_panel (GantryWindow *self)
{
  return self->time_panel;
}

GantryComparePanel *
gantry_window_get_compare_panel (GantryWindow *self)
{
  return self->compare_panel;
}

GantryKernelsPanel *
gantry_window_get_kernels_panel (GantryWindow *self)
{
  return self->kernels_panel;
}

const char *
gantry_window_get_page (GantryWindow *self)
{
  return gtk_stack_get_visible_child_name (self->stack);
}

const char *
gantry_window_get_error (GantryWindow *self)
{
  return self->error;
}

/* The object */

static void
gantry_window_dispose (GObject *object)
{
  GantryWindow *self = GANTRY_WINDOW (object);

  if (self->document != NULL)
    {
      g_signal_handlers_disconnect_by_data (self->document, self);
      gantry_document_cancel (self->document);
    }
  _gantry_window_stop_keeping (self, FALSE);
  _gantry_window_stop_watching (self);
  g_clear_object (&self->document);
  g_clear_object (&self->selection);
  g_clear_object (&self->chooser);
  G_OBJECT_CLASS (gantry_window_parent_class)->dispose (object);
}

static void
gantry_window_finalize (GObject *object)
{
  GantryWindow *self = GANTRY_WINDOW (object);

  g_free (self->error);
  g_free (self->missing);
  g_free (self->opening);
  g_free (self->entry);
  g_free (self->next);
  G_OBJECT_CLASS (gantry_window_parent_class)->finalize (object);
}

#define BIND(name) gtk_widget_class_bind_template_child (widget_class, GantryWindow, name)

static void
gantry_window_class_init (GantryWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = gantry_window_dispose;
  G_OBJECT_CLASS (klass)->finalize = gantry_window_finalize;
  GTK_WINDOW_CLASS (klass)->close_request = _gantry_window_close_request;
  gtk_widget_class_set_template_from_resource (widget_class, "/org/gantry/Gantry/window.ui");
  BIND (toasts);
  BIND (target_label);
  BIND (model_label);
  BIND (search_count);
  BIND (loading_label);
  BIND (error_label);
  BIND (model_button);
  BIND (menu_button);
  BIND (run_stack);
  BIND (stack);
  BIND (bottom_stack);
  BIND (run_button);
  BIND (cancel_button);
  BIND (busy_spinner);
  BIND (loading_spinner);
  BIND (search_entry);
  BIND (search_box);
  BIND (progress_bar);
  BIND (error_page);
  BIND (error_source);
  BIND (welcome_page);
  BIND (recent_list);
  BIND (bottom_paned);
  BIND (left_paned);
  BIND (right_paned);
  BIND (source_paned);
  BIND (passes_bin);
  BIND (notice_bin);
  BIND (graph_bin);
  BIND (inspector_bin);
  BIND (source_bin);
  BIND (time_bin);
  BIND (status_bar);
  BIND (status_peak);
  BIND (status_time);
  BIND (status_nodes);
  BIND (status_message);
  BIND (status_button);
  BIND (variant_button);
  BIND (variant_label);
  BIND (limit_entry);
  BIND (times_button);
  BIND (times_label);
  BIND (undo_menu);
}

static void
line_selected (GantrySourcePage *page, gpointer data)
{
  gantry_graph_canvas_reveal_selection (gantry_pass_view_get_canvas (((GantryWindow *) data)->pass_view));
}

static void
add_views (GantryWindow *self)
{
  self->pass_view = GANTRY_PASS_VIEW (gantry_pass_view_new (self->selection));
  adw_bin_set_child (self->graph_bin, GTK_WIDGET (self->pass_view));
  self->pass_list = GANTRY_PASS_LIST (gantry_pass_list_new (self->document));
  adw_bin_set_child (self->passes_bin, GTK_WIDGET (self->pass_list));
  self->inspector = GANTRY_INSPECTOR (gantry_inspector_new (self->document, self->selection));
  adw_bin_set_child (self->inspector_bin, GTK_WIDGET (self->inspector));
  self->source_page = GANTRY_SOURCE_PAGE (gantry_source_page_new (self->document, self->selection));
  adw_bin_set_child (self->source_bin, GTK_WIDGET (self->source_page));
  g_signal_connect_object (self->source_page, "selected", G_CALLBACK (line_selected), self, 0);
  g_signal_connect_object (self->source_page, "source-found", G_CALLBACK (_gantry_window_source_found), self, G_CONNECT_SWAPPED);
  self->time_panel = GANTRY_TIME_PANEL (gantry_time_panel_new (self->document, self->selection));
  gtk_stack_add_named (self->bottom_stack, GTK_WIDGET (self->time_panel), "time");
  self->compare_panel = GANTRY_COMPARE_PANEL (gantry_compare_panel_new (self->document));
  gtk_stack_add_named (self->bottom_stack, GTK_WIDGET (self->compare_panel), "compare");
  self->kernels_panel = GANTRY_KERNELS_PANEL (gantry_kernels_panel_new (self->document, self->selection));
  gtk_stack_add_named (self->bottom_stack, GTK_WIDGET (self->kernels_panel), "kernels");
  g_signal_connect_object (self->kernels_panel, "export", G_CALLBACK (_gantry_window_choose_kernels), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->kernels_panel, "activated", G_CALLBACK (kernel_activated), self, 0);
  g_signal_connect_object (self->compare_panel, "error", G_CALLBACK (compare_failed), self, 0);
  g_signal_connect_object (self->pass_list, "selected", G_CALLBACK (pass_selected), self, 0);
  g_signal_connect_object (self->pass_view, "place", G_CALLBACK (place_asked), self, 0);
}

static void
gantry_window_init (GantryWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->document = gantry_document_new ();
  self->selection = gantry_selection_new ();
  add_views (self);
  g_signal_connect_swapped (self->document, "notify::compilation", G_CALLBACK (compilation_changed), self);
  g_signal_connect_swapped (self->document, "notify::placements", G_CALLBACK (_gantry_window_update_placements), self);
  g_signal_connect_swapped (self->document, "notify::placements", G_CALLBACK (_gantry_window_update_missing), self);
  g_signal_connect_swapped (self->document, "notify::prediction", G_CALLBACK (prediction_changed), self);
  g_signal_connect_swapped (self->document, "notify::plan", G_CALLBACK (_gantry_window_update_status), self);
  g_signal_connect_swapped (self->document, "notify::plan-error", G_CALLBACK (plan_error_changed), self);
  g_signal_connect (self->document, "error", G_CALLBACK (error_told), self);
  g_signal_connect_swapped (self->document, "notify::run", G_CALLBACK (_gantry_window_update_status), self);
  g_signal_connect_swapped (self->document, "notify::run", G_CALLBACK (_gantry_window_update_actions), self);
  g_signal_connect_swapped (self->document, "notify::run", G_CALLBACK (_gantry_window_update_runs), self);
  g_signal_connect_swapped (self->document, "notify::compilation", G_CALLBACK (_gantry_window_update_runs), self);
  g_signal_connect_swapped (self->document, "notify::busy", G_CALLBACK (update_busy), self);
  g_signal_connect_swapped (self->document, "notify::progress", G_CALLBACK (update_busy), self);
  g_signal_connect_swapped (self->document, "notify::activity", G_CALLBACK (update_busy), self);
  g_signal_connect_swapped (self->document, "notify::modified", G_CALLBACK (update_title), self);
  g_signal_connect_swapped (self->document, "notify::path", G_CALLBACK (update_title), self);
  g_signal_connect_swapped (self->document, "notify::can-undo", G_CALLBACK (_gantry_window_update_actions), self);
  g_signal_connect_swapped (self->document, "notify::can-redo", G_CALLBACK (_gantry_window_update_actions), self);
  _gantry_window_add_actions (self);
  _gantry_window_connect_search (self);
  _gantry_window_connect_header (self);
  _gantry_window_connect_times (self);
  _gantry_window_accept_drops (self);
  _gantry_window_say_formats (self);
  _gantry_window_fill_recent (self);
  _gantry_window_restore_layout (self);
  _gantry_window_start_keeping (self);
  _gantry_window_update (self);
}

GtkWidget *
gantry_window_new (GtkApplication *application)
{
  return g_object_new (GANTRY_TYPE_WINDOW, "application", application, NULL);
}
