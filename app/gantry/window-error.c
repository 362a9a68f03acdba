/* SPDX-License-Identifier: Apache-2.0 */
/* Errors as the user sees them: in a dialog of their own, or on the page of a file that could not be opened; with the source where the
 * message names a place in it. */
#include "app/gantry/window-private.h"
#include "views/source/source-error.h"
#include "views/wrapped-label.h"
#include <string.h>

/* Sets wrapping and font for @text, which the label has. What is laid out in lines that begin with spaces, as a Python traceback is, keeps them below each
 * other; sentences are wrapped. Returns:
 * whether its lines may be longer than there is room */
static gboolean
lay_out (GtkLabel *label, const char *text)
{
  gboolean laid_out = strstr (text, "\n  ") != NULL;

  gtk_label_set_wrap (label, !laid_out);
  gtk_label_set_justify (label, laid_out ? GTK_JUSTIFY_LEFT : gtk_label_get_justify (label));
  if (laid_out)
    {
      gtk_widget_add_css_class (GTK_WIDGET (label), "monospace");
      gtk_label_set_width_chars (label, -1);
      gtk_label_set_max_width_chars (label, -1);
    }
  else
    gtk_widget_remove_css_class (GTK_WIDGET (label), "monospace");
  return laid_out;
}

/* All of the message, in as much room as there is. */
static GtkWidget *
message_new (const char *message)
{
  GtkWidget *scroller = gtk_scrolled_window_new (), *label = gantry_wrapped_label_new (message);

  /* One width, natural and given: the height that the scroller asks for is that of the lines it will have. */
  gtk_label_set_width_chars (GTK_LABEL (label), 56);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 56);
  gtk_widget_set_name (label, "told");
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), label);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scroller), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scroller), 360);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  if (lay_out (GTK_LABEL (label), message))
    gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_AUTOMATIC, GTK_POLICY_AUTOMATIC);
  gtk_widget_set_size_request (scroller, 420, -1);
  return scroller;
}

static void
copy_message (GtkWidget *button, gpointer data)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (button), g_object_get_data (G_OBJECT (button), "message"));
}

static GtkWidget *
copy_button_new (const char *message)
{
  GtkWidget *button = gtk_button_new_with_label ("Copy");

  gtk_widget_set_name (button, "copy-message");
  gtk_widget_set_halign (button, GTK_ALIGN_START);
  gtk_widget_set_tooltip_text (button, "Copy the message");
  g_object_set_data_full (G_OBJECT (button), "message", g_strdup (message), g_free);
  g_signal_connect (button, "clicked", G_CALLBACK (copy_message), NULL);
  return button;
}

void
_gantry_window_tell_of (GantryWindow *self, const char *path, const char *heading, const GError *error)
{
  GtkWidget *dialog, *box, *source;

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      _gantry_window_toast (self, "Cancelled");
      return;
    }
  g_free (self->error);
  self->error = g_strdup (error->message);
  dialog = adw_message_dialog_new (GTK_WINDOW (self), heading, NULL);
  gtk_widget_set_name (dialog, "error");
  box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  gtk_box_append (GTK_BOX (box), message_new (error->message));
  source = gantry_source_error_new (error->message, path);
  if (source != NULL)
    gtk_box_append (GTK_BOX (box), source);
  gtk_box_append (GTK_BOX (box), copy_button_new (error->message));
  adw_message_dialog_set_extra_child (ADW_MESSAGE_DIALOG (dialog), box);
  adw_message_dialog_add_response (ADW_MESSAGE_DIALOG (dialog), "close", "_Close");
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "close");
  gtk_window_present (GTK_WINDOW (dialog));
}

void
_gantry_window_tell (GantryWindow *self, const char *heading, const GError *error)
{
  const GantryModel *model = gantry_document_get_model (self->document);

  _gantry_window_tell_of (self, model != NULL ? model->path : NULL, heading, error);
}

void
_gantry_window_show_error (GantryWindow *self, const char *path, const GError *error)
{
  g_free (self->error);
  self->error = g_strdup (error->message);
  gantry_label_wrap (self->error_label);
  gtk_label_set_text (self->error_label, error->message);
  lay_out (self->error_label, error->message);
  adw_bin_set_child (self->error_source, gantry_source_error_new (error->message, path));
}
