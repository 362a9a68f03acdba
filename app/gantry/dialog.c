/* SPDX-License-Identifier: Apache-2.0 */
/* What the dialogs of the window share. */
#include "app/gantry/dialog.h"
#include <math.h>

static gboolean
close_on_escape (GtkWidget *widget, GVariant *arguments, gpointer data)
{
  gtk_window_close (GTK_WINDOW (widget));
  return TRUE;
}

GtkWindow *
_gantry_dialog_new (GantryWindow *window, const char *name, const char *title, GtkWidget *content, GtkWidget *end)
{
  GtkWidget *dialog = adw_window_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0), *bar = adw_header_bar_new ();
  GtkEventController *controller = gtk_shortcut_controller_new ();

  gtk_window_set_title (GTK_WINDOW (dialog), title);
  gtk_widget_set_name (dialog, name);
  gtk_window_set_transient_for (GTK_WINDOW (dialog), GTK_WINDOW (window));
  gtk_window_set_modal (GTK_WINDOW (dialog), TRUE);
  gtk_window_set_destroy_with_parent (GTK_WINDOW (dialog), TRUE);
  if (end != NULL)
    adw_header_bar_pack_end (ADW_HEADER_BAR (bar), end);
  gtk_box_append (GTK_BOX (box), bar);
  gtk_widget_set_vexpand (content, TRUE);
  gtk_box_append (GTK_BOX (box), content);
  adw_window_set_content (ADW_WINDOW (dialog), box);
  gtk_shortcut_controller_add_shortcut (GTK_SHORTCUT_CONTROLLER (controller),
                                        gtk_shortcut_new (gtk_keyval_trigger_new (GDK_KEY_Escape, 0), gtk_callback_action_new (close_on_escape, NULL, NULL)));
  gtk_widget_add_controller (dialog, controller);
  return GTK_WINDOW (dialog);
}

GtkWidget *
_gantry_dialog_number (const char *title, const char *name, double value)
{
  GtkWidget *row = adw_entry_row_new ();
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  gtk_editable_set_text (GTK_EDITABLE (row), g_ascii_formatd (text, sizeof text, "%.10g", value));
  gtk_widget_set_name (row, name);
  return row;
}

gboolean
_gantry_dialog_read_number (GtkWidget *row, double least, double *value)
{
  g_autofree char *text = g_strstrip (g_strdup (gtk_editable_get_text (GTK_EDITABLE (row))));
  char *end;
  double read = g_ascii_strtod (text, &end);
  gboolean ok = end != text && *end == '\0' && isfinite (read) && read >= least;

  if (ok)
    gtk_widget_remove_css_class (row, "error");
  else
    gtk_widget_add_css_class (row, "error");
  if (ok)
    *value = read;
  return ok;
}
