/* SPDX-License-Identifier: Apache-2.0 */
/* Files: choosing, dropping, saving, exporting, recent ones, and asking before a session is lost. */
#include "app/gantry/state.h"
#include "app/gantry/window-private.h"
#include "drawing/painters.h"
#include "views/format.h"
#include "views/theme-of.h"
#include <string.h>

/* Choosing */

static void
add_filter (GtkFileChooserNative *chooser, const char *name, const char *patterns)
{
  GtkFileFilter *filter = gtk_file_filter_new ();
  g_auto (GStrv) parts = g_strsplit (patterns, " ", -1);

  gtk_file_filter_set_name (filter, name);
  for (guint i = 0; parts[i] != NULL; i++)
    gtk_file_filter_add_pattern (filter, parts[i]);
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (chooser), filter);
  g_object_unref (filter);
}

static void
show_chooser (GantryWindow *self, const char *title, GtkFileChooserAction action, const char *name, GCallback response)
{
  const char *path = gantry_document_get_path (self->document);

  g_clear_object (&self->chooser);
  self->chooser = gtk_file_chooser_native_new (title, GTK_WINDOW (self), action, NULL, NULL);
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (self->chooser), TRUE);
  if (path != NULL)
    {
      g_autoptr (GFile) file = g_file_new_for_path (path);
      g_autoptr (GFile) folder = g_file_get_parent (file);

      if (folder != NULL)
        gtk_file_chooser_set_current_folder (GTK_FILE_CHOOSER (self->chooser), folder, NULL);
    }
  if (name != NULL)
    gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (self->chooser), name);
  g_signal_connect_object (self->chooser, "response", response, self, 0);
}

static char *
chosen_path (GtkNativeDialog *dialog, int response)
{
  g_autoptr (GFile) file = NULL;

  if (response != GTK_RESPONSE_ACCEPT)
    return NULL;
  file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  return file != NULL ? g_file_get_path (file) : NULL;
}

static void
open_response (GtkNativeDialog *dialog, int response, gpointer data)
{
  g_autofree char *path = chosen_path (dialog, response);

  if (path != NULL)
    gantry_window_open (data, path);
}

void
_gantry_window_say_formats (GantryWindow *self)
{
  g_autofree char *models = gantry_model_formats (),
                  *all = g_strdup_printf ("A model: %s; a session (.gantry); or what another program recorded: an Nsight Systems export "
                                          "(.sqlite), a Kineto or Chrome trace (.json). You can also drop a file here.",
                                          models);

  adw_status_page_set_description (self->welcome_page, all);
}

void
_gantry_window_choose_open (GantryWindow *self)
{
  g_autofree char *models = gantry_model_patterns (), *all = g_strconcat (models, " *.gantry *.json *.json.gz *.sqlite", NULL);

  show_chooser (self, "Open a model, a session or a recording", GTK_FILE_CHOOSER_ACTION_OPEN, NULL, G_CALLBACK (open_response));
  add_filter (self->chooser, "Models, sessions and recordings", all);
  add_filter (self->chooser, "Traces of other programs", "*.json *.json.gz *.sqlite *.db");
  add_filter (self->chooser, "All files", "*");
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (self->chooser));
}

void
_gantry_window_choose_folder (GantryWindow *self)
{
  show_chooser (self, "Open a folder of XLA's dumps", GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, NULL, G_CALLBACK (open_response));
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (self->chooser));
}

const char *
_gantry_window_graph (GantryWindow *self)
{
  const GantryModel *model = gantry_document_get_model (self->document);

  return model != NULL && model->bindings != NULL ? model->bindings->entry : NULL;
}

/* Of a program that makes several graphs each has files of its own. A session has its name. */
char *
_gantry_window_propose_name (GantryWindow *self, const char *ending)
{
  const char *path = gantry_document_get_path (self->document);
  const char *graph = gantry_document_get_session_path (self->document) == NULL ? _gantry_window_graph (self) : NULL;
  g_autofree char *base = path != NULL ? g_path_get_basename (path) : g_strdup ("program"), *name = NULL;
  char *dot = strrchr (base, '.');

  if (dot != NULL && dot != base)
    *dot = '\0';
  name = graph != NULL ? g_strdelimit (g_strconcat (base, "-", graph, NULL), G_DIR_SEPARATOR_S, '-') : g_strdup (base);
  return g_strconcat (name, ending, NULL);
}

/* Saving */

/* What was asked before is not done now. */
static void
stay (GantryWindow *self)
{
  self->closing = FALSE;
  g_clear_pointer (&self->next, g_free);
}

/* What was asked before is done: another file is opened, or the window closed. */
static void
leave (GantryWindow *self)
{
  g_autofree char *next = g_steal_pointer (&self->next);

  self->closing = next == NULL;
  if (next != NULL)
    _gantry_window_open_now (self, next, 0);
  else
    gtk_window_close (GTK_WINDOW (self));
}

/* A save that takes longer than this waits for somebody. */
#define WAITING_MS 1000

typedef struct
{
  GantryWindow *window;
  char *path;
  guint timer;       /* 0: it has told */
  AdwToast *waiting; /* (nullable): what it told */
} Saving;

static gboolean
tell_waiting (gpointer data)
{
  Saving *saving = data;
  g_autofree char *name = g_path_get_basename (saving->path), *escaped = g_markup_escape_text (name, -1);
  g_autofree char *text = g_strdup_printf ("Saving: waiting for %s, which may be locked", escaped);

  saving->timer = 0;
  if (saving->window->document == NULL)
    return G_SOURCE_REMOVE;
  saving->waiting = adw_toast_new (text);
  adw_toast_set_timeout (saving->waiting, 0);
  adw_toast_overlay_add_toast (saving->window->toasts, g_object_ref (saving->waiting));
  return G_SOURCE_REMOVE;
}

/* It has ended. */
static void
stop_waiting (Saving *saving)
{
  if (saving->timer != 0)
    g_source_remove (saving->timer);
  if (saving->waiting == NULL)
    return;
  if (saving->window->document != NULL)
    adw_toast_dismiss (saving->waiting);
  g_clear_object (&saving->waiting);
}

static void
saved (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree Saving *saving = data;
  g_autoptr (GantryWindow) self = saving->window;
  g_autofree char *path = saving->path;
  g_autoptr (GError) error = NULL;

  stop_waiting (saving);
  if (self->document == NULL) /* closed */
    return;
  if (!gantry_document_save_finish (self->document, result, &error))
    {
      stay (self);
      _gantry_window_tell (self, "The session is not saved", error);
      return;
    }
  _gantry_window_watch_files (self); /* it may be another session file */
  gantry_state_add_recent (path);
  _gantry_window_fill_recent (self);
  if (self->closing || self->next != NULL)
    leave (self);
  else
    _gantry_window_toast (self, "Session saved");
}

void
gantry_window_save_to (GantryWindow *self, const char *path)
{
  Saving *saving = g_new0 (Saving, 1);

  saving->window = g_object_ref (self);
  saving->path = g_strdup (path != NULL ? path : gantry_document_get_session_path (self->document));
  saving->timer = g_timeout_add (WAITING_MS, tell_waiting, saving);
  gantry_document_save_async (self->document, path, saved, saving);
}

static void
save_response (GtkNativeDialog *dialog, int response, gpointer data)
{
  GantryWindow *self = data;
  g_autofree char *path = chosen_path (dialog, response);

  if (path != NULL)
    {
      const char *embed = gtk_file_chooser_get_choice (GTK_FILE_CHOOSER (dialog), "embed");

      gantry_document_set_embed (self->document, g_strcmp0 (embed, "true") == 0);
      gantry_window_save_to (self, path);
    }
  else
    stay (self);
}

void
_gantry_window_save (GantryWindow *self, gboolean ask_where)
{
  g_autofree char *name = _gantry_window_propose_name (self, ".gantry");

  if (!ask_where && gantry_document_get_session_path (self->document) != NULL)
    {
      gantry_window_save_to (self, NULL);
      return;
    }
  show_chooser (self, "Save the session", GTK_FILE_CHOOSER_ACTION_SAVE, name, G_CALLBACK (save_response));
  add_filter (self->chooser, "Sessions", "*.gantry");
  gtk_file_chooser_add_choice (GTK_FILE_CHOOSER (self->chooser), "embed", "Carry the model along in the session", NULL, NULL);
  gtk_file_chooser_set_choice (GTK_FILE_CHOOSER (self->chooser), "embed", "false");
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (self->chooser));
}

/* Exporting */

gboolean
gantry_window_export (GantryWindow *self, const char *path, GError **error)
{
  GantryGraphPicture *picture = gantry_graph_canvas_get_picture (gantry_pass_view_get_canvas (self->pass_view));
  g_autoptr (GantryScene) scene = NULL;
  GantryGraphView view = { -16, -16, 1 };
  g_autoptr (GantryReadFiles) read = gantry_document_get_read_files (self->document);
  const GantryTheme *theme = gantry_theme_of (GTK_WIDGET (self));
  float width, height;

  if (picture == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s: there is no picture yet; wait for it and export again", path);
      return FALSE;
    }
  if (g_str_has_suffix (path, ".dot") || g_str_has_suffix (path, ".gv"))
    return gantry_graph_picture_write_dot (picture, path, read, error);
  gantry_graph_picture_size (picture, &width, &height);
  scene = gantry_scene_new (width + 32, height + 32);
  gantry_paint_graph (scene, picture, &view, NULL, theme);
  return gantry_scene_write (scene, theme, path, 1, read, error);
}

static void
export_response (GtkNativeDialog *dialog, int response, gpointer data)
{
  GantryWindow *self = data;
  g_autofree char *path = chosen_path (dialog, response), *text = NULL;
  g_autoptr (GError) error = NULL;

  if (path == NULL)
    return;
  if (!gantry_window_export (self, path, &error))
    {
      _gantry_window_tell (self, "The picture is not written", error);
      return;
    }
  text = g_strdup_printf ("Written: %s", path);
  _gantry_window_toast (self, text);
}

void
_gantry_window_choose_export (GantryWindow *self)
{
  g_autofree char *name = _gantry_window_propose_name (self, ".svg");

  show_chooser (self, "Export the graph (.svg, .png or .dot)", GTK_FILE_CHOOSER_ACTION_SAVE, name, G_CALLBACK (export_response));
  add_filter (self->chooser, "SVG, PNG and DOT", "*.svg *.png *.dot");
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (self->chooser));
}

static void
kernels_response (GtkNativeDialog *dialog, int response, gpointer data)
{
  GantryWindow *self = data;
  g_autofree char *path = chosen_path (dialog, response), *text = NULL;
  g_autoptr (GFile) file = path != NULL ? g_file_new_for_path (path) : NULL;
  g_autoptr (GantryReadFiles) read = gantry_document_get_read_files (self->document);
  g_autoptr (GError) error = NULL;

  if (file == NULL)
    return;
  if (!gantry_kernels_panel_write_csv (self->kernels_panel, file, read, &error))
    {
      _gantry_window_tell (self, "The table is not written", error);
      return;
    }
  text = g_strdup_printf ("Written: %s", path);
  _gantry_window_toast (self, text);
}

void
_gantry_window_choose_kernels (GantryWindow *self)
{
  g_autofree char *name = _gantry_window_propose_name (self, ".csv");

  show_chooser (self, "Export the table of kernels", GTK_FILE_CHOOSER_ACTION_SAVE, name, G_CALLBACK (kernels_response));
  add_filter (self->chooser, "Comma separated values", "*.csv");
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (self->chooser));
}

/* Recent files: in the menu of the model's name, and on the first page. */

static GMenu *
recent_menu (char **paths)
{
  GMenu *menu = g_menu_new ();

  for (guint i = 0; paths[i] != NULL; i++)
    {
      g_autofree char *file = g_path_get_basename (paths[i]), *brief = gantry_format_short (file, GANTRY_MENU_NAME);
      g_autofree char *name = _gantry_window_menu_text (brief);
      g_autoptr (GMenuItem) item = g_menu_item_new (NULL, NULL);

      g_menu_item_set_label (item, name);
      g_menu_item_set_action_and_target (item, "win.open-path", "s", paths[i]);
      g_menu_append_item (menu, item);
    }
  return menu;
}

void
_gantry_window_fill_recent (GantryWindow *self)
{
  g_auto (GStrv) paths = gantry_state_get_recent ();
  g_autoptr (GMenu) menu = g_menu_new ();
  g_autoptr (GMenu) files = recent_menu (paths);
  GtkWidget *row;

  _gantry_window_append_runs (self, menu);
  g_menu_append_section (menu, "Recent files", G_MENU_MODEL (files));
  gtk_menu_button_set_menu_model (self->model_button, G_MENU_MODEL (menu));
  while ((row = gtk_widget_get_first_child (GTK_WIDGET (self->recent_list))) != NULL)
    gtk_list_box_remove (self->recent_list, row);
  for (guint i = 0; paths[i] != NULL && i < 5; i++)
    {
      g_autofree char *file = g_path_get_basename (paths[i]), *folder = g_path_get_dirname (paths[i]);
      g_autofree char *name = gantry_format_short (file, GANTRY_MENU_NAME);

      row = adw_action_row_new ();
      adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), name);
      adw_action_row_set_subtitle (ADW_ACTION_ROW (row), folder);
      adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 1);
      adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (row), 1);
      gtk_widget_set_tooltip_text (row, paths[i]);
      gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
      gtk_actionable_set_action_name (GTK_ACTIONABLE (row), "win.open-path");
      gtk_actionable_set_action_target (GTK_ACTIONABLE (row), "s", paths[i]);
      gtk_list_box_append (self->recent_list, row);
    }
  gtk_widget_set_visible (GTK_WIDGET (self->recent_list), paths[0] != NULL);
}

/* Dropping */

static gboolean
dropped (GtkDropTarget *target, const GValue *value, double x, double y, gpointer data)
{
  GSList *files = g_value_get_boxed (value);
  g_autofree char *path = files != NULL ? g_file_get_path (files->data) : NULL;

  if (path == NULL)
    return FALSE;
  gantry_window_open (data, path);
  return TRUE;
}

void
_gantry_window_accept_drops (GantryWindow *self)
{
  GtkDropTarget *target = gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);

  g_signal_connect (target, "drop", G_CALLBACK (dropped), self);
  gtk_widget_add_controller (GTK_WIDGET (self->stack), GTK_EVENT_CONTROLLER (target));
  gtk_widget_add_css_class (GTK_WIDGET (self->stack), "drop-target");
}

/* Leaving what is unsaved */

static void
leave_response (AdwMessageDialog *dialog, const char *response, gpointer data)
{
  GantryWindow *self = data;

  if (g_strcmp0 (response, "save") == 0)
    {
      self->closing = self->next == NULL;
      _gantry_window_save (self, FALSE);
    }
  else if (g_strcmp0 (response, "discard") == 0)
    {
      /* The dialog is still held while it responds, and would look for its parent when it is let go, which is gone by then. */
      gtk_window_set_transient_for (GTK_WINDOW (dialog), NULL);
      leave (self);
    }
  else
    stay (self);
}

void
_gantry_window_ask_unsaved (GantryWindow *self, const char *path)
{
  GtkWidget *dialog = adw_message_dialog_new (GTK_WINDOW (self), "Save the session?", NULL);
  const char *session = gantry_document_get_session_path (self->document);
  g_autofree char *name = NULL;

  g_object_get (self->document, "title", &name, NULL);
  /* The model is in its file, whatever is answered. */
  if (session == NULL)
    adw_message_dialog_format_body (ADW_MESSAGE_DIALOG (dialog),
                                    "Placements, settings, searches and runs of %s are not part of the model's file, "
                                    "and there is no session file with them yet. They are lost if they are not saved; the model "
                                    "stays as it is.",
                                    name);
  else
    adw_message_dialog_format_body (ADW_MESSAGE_DIALOG (dialog),
                                    "What was set, searched for and measured since %s was saved last is lost if it is not "
                                    "saved now.",
                                    name);
  gtk_widget_set_name (dialog, "unsaved");
  g_free (self->next);
  self->next = g_strdup (path);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", "_Cancel", "discard", "_Discard", "save", "_Save", NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "discard", ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "save", ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "save");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  g_signal_connect_object (dialog, "response", G_CALLBACK (leave_response), self, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

gboolean
_gantry_window_close_request (GtkWindow *window)
{
  GantryWindow *self = GANTRY_WINDOW (window);

  _gantry_window_store_layout (self);
  if (!self->closing && gantry_document_is_unsaved (self->document))
    {
      _gantry_window_ask_unsaved (self, NULL);
      return TRUE;
    }
  _gantry_window_stop_keeping (self, !self->recovering);
  gantry_document_cancel (self->document);
  return FALSE;
}
