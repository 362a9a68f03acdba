/* SPDX-License-Identifier: Apache-2.0 */
/* The search entry: marks while typing, steps with Enter, counts beside it. */
#include "app/gantry/window-private.h"

static void
show_count (GantryWindow *self, guint match, guint n)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (self->search_entry));
  g_autofree char *count = NULL;

  if (*text == '\0')
    count = g_strdup ("");
  else if (n == 0)
    count = g_strdup ("none");
  else if (match == 0)
    count = g_strdup_printf ("%u found", n);
  else
    count = g_strdup_printf ("%u of %u", match, n);
  gtk_label_set_text (self->search_count, count);
  if (*text != '\0' && n == 0)
    gtk_widget_add_css_class (GTK_WIDGET (self->search_entry), "error");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self->search_entry), "error");
}

static guint
search (GantryWindow *self)
{
  return gantry_pass_view_search (self->pass_view, gtk_editable_get_text (GTK_EDITABLE (self->search_entry)));
}

static void
search_changed (GantryWindow *self)
{
  show_count (self, 0, search (self));
}

void
_gantry_window_search_step (GantryWindow *self, int step)
{
  guint match = gantry_pass_view_step_match (self->pass_view, step);

  show_count (self, match, gantry_pass_view_n_matches (self->pass_view));
}

static void
stop_search (GantryWindow *self)
{
  gtk_editable_set_text (GTK_EDITABLE (self->search_entry), "");
  gtk_widget_grab_focus (GTK_WIDGET (gantry_pass_view_get_canvas (self->pass_view)));
}

static gboolean
key_pressed (GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state, gpointer data)
{
  if (key != GDK_KEY_Return && key != GDK_KEY_KP_Enter)
    return FALSE;
  _gantry_window_search_step (data, (state & GDK_SHIFT_MASK) != 0 ? -1 : 1);
  return TRUE;
}

void
_gantry_window_connect_search (GantryWindow *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();

  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (key_pressed), self);
  gtk_widget_add_controller (GTK_WIDGET (self->search_entry), keys);
  g_signal_connect_swapped (self->search_entry, "search-changed", G_CALLBACK (search_changed), self);
  g_signal_connect_swapped (self->search_entry, "stop-search", G_CALLBACK (stop_search), self);
}
