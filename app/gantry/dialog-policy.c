/* SPDX-License-Identifier: Apache-2.0 */
/* Policy...: statements on the left, what became of each on the right of its line. Applying is one edit; the program
 * and the pictures behind the dialog follow at once. */
#include "app/gantry/dialog.h"
#include "app/gantry/window-private.h"
#include <gtksourceview/gtksource.h>
#include <stdio.h>
#include <string.h>

typedef struct
{
  GantryWindow *window;
  GtkWindow *dialog;
  GtkTextBuffer *text, *reports;
  GtkLabel *message;
  GtkWidget *apply, *hint; /* @hint: seen while the text is empty */
} Policy;

/* Reports, each on the line of its statement */

static GString *
report_line (GPtrArray *lines, guint line)
{
  while (lines->len < MAX (line, 1))
    g_ptr_array_add (lines, g_string_new (NULL));
  return g_ptr_array_index (lines, MAX (line, 1) - 1);
}

static void
free_line (gpointer line)
{
  g_string_free (line, TRUE);
}

static void
show_reports (Policy *p)
{
  GPtrArray *reports = gantry_document_get_reports (p->window->document);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (free_line);
  g_autoptr (GHashTable) bad = g_hash_table_new (NULL, NULL);
  GtkTextIter end;

  for (guint i = 0; reports != NULL && i < reports->len; i++)
    {
      const GantryPolicyReport *report = g_ptr_array_index (reports, i);
      GString *line = report_line (lines, report->line);

      g_string_append (line, line->len > 0 ? "; " : "");
      if (report->problem == NULL || report->n_decided > 0)
        g_string_append_printf (line, "%u matched, %u decided%s", report->n_matched, report->n_decided, report->problem != NULL ? ", " : "");
      if (report->problem != NULL)
        g_string_append (line, report->problem);
      if (report->problem != NULL)
        g_hash_table_add (bad, line);
    }
  gtk_text_buffer_set_text (p->reports, "", 0);
  for (guint i = 0; i < lines->len; i++)
    {
      GString *line = g_ptr_array_index (lines, i);

      gtk_text_buffer_get_end_iter (p->reports, &end);
      gtk_text_buffer_insert_with_tags_by_name (p->reports, &end, line->str, (int) line->len, g_hash_table_contains (bad, line) ? "problem" : "good", NULL);
      gtk_text_buffer_get_end_iter (p->reports, &end);
      gtk_text_buffer_insert (p->reports, &end, "\n", 1);
    }
}

/* The text */

static char *
text_of (Policy *p)
{
  GtkTextIter start, end;

  gtk_text_buffer_get_bounds (p->text, &start, &end);
  return gtk_text_buffer_get_text (p->text, &start, &end, FALSE);
}

/* A mistake says "policy:LINE:COLUMN: ...": the line is marked. */
static void
show_mistake (Policy *p, const GError *error)
{
  guint line = 0, column = 0;
  GtkTextIter start, end;

  gtk_text_buffer_get_bounds (p->text, &start, &end);
  gtk_text_buffer_remove_tag_by_name (p->text, "mistake", &start, &end);
  gtk_label_set_text (p->message, error != NULL ? error->message : "");
  gtk_widget_set_visible (GTK_WIDGET (p->message), error != NULL);
  gtk_widget_set_visible (p->hint, error == NULL && gtk_text_buffer_get_char_count (p->text) == 0);
  gtk_widget_set_sensitive (p->apply, error == NULL);
  if (error == NULL || sscanf (error->message, "policy:%u:%u", &line, &column) != 2 || line == 0)
    return;
  gtk_text_buffer_get_iter_at_line (p->text, &start, (int) line - 1);
  end = start;
  if (!gtk_text_iter_ends_line (&end))
    gtk_text_iter_forward_to_line_end (&end);
  gtk_text_buffer_apply_tag_by_name (p->text, "mistake", &start, &end);
}

static void
text_changed (Policy *p)
{
  g_autofree char *text = text_of (p);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPolicy) policy = gantry_policy_parse (text, -1, &error);

  show_mistake (p, error);
  gtk_text_buffer_set_text (p->reports, "", 0); /* they were of another text */
}

static void
apply (Policy *p)
{
  g_autofree char *text = g_strchomp (text_of (p));
  g_autoptr (GError) error = NULL;

  if (!gantry_document_set_policy (p->window->document, *text != '\0' ? text : NULL, &error))
    show_mistake (p, error);
  else
    show_reports (p);
}

/* Names of policies */

/* Those that take names are written with a place for them. */
static void
insert_policy (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  Policy *p = data;
  const char *name = g_variant_get_string (parameter, NULL);
  gboolean names = strstr (name, "names") != NULL;
  g_autofree char *line = NULL;
  GtkTextIter at;

  gtk_text_buffer_get_end_iter (p->text, &at);
  line = g_strdup_printf ("%spolicy %s%s\n", gtk_text_iter_starts_line (&at) ? "" : "\n", name, names ? "(name)" : "");
  gtk_text_buffer_insert (p->text, &at, line, -1);
}

static void
insert_rule (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  Policy *p = data;
  g_autofree char *line = NULL;
  GtkTextIter at;

  gtk_text_buffer_get_end_iter (p->text, &at);
  line = g_strdup_printf ("%s%s\n", gtk_text_iter_starts_line (&at) ? "" : "\n", g_variant_get_string (parameter, NULL));
  gtk_text_buffer_insert (p->text, &at, line, -1);
}

static const GActionEntry entries[] = {
  { "insert", insert_policy, "s", NULL, NULL, { 0 } },
  { "rule", insert_rule, "s", NULL, NULL, { 0 } },
};

static void
append_item (GMenu *menu, const char *text, const char *action)
{
  g_auto (GStrv) parts = g_strsplit (text, "_", -1);
  g_autofree char *label = g_strjoinv ("__", parts); /* an underscore would be a mnemonic */
  g_autoptr (GMenuItem) item = g_menu_item_new (label, NULL);

  g_menu_item_set_action_and_target (item, action, "s", text);
  g_menu_append_item (menu, item);
}

static GtkWidget *
make_insert (void)
{
  static const char *const rules[] = { "op:dot keep",    "op:* recompute",     "scope:encoder/* recompute",
                                       "name:x offload", "role:state offload", "bytes>=64MiB offload" };
  GtkWidget *button = gtk_menu_button_new ();
  g_autoptr (GMenu) menu = g_menu_new (), policies = g_menu_new (), examples = g_menu_new ();
  const char *const *names = gantry_policy_names ();

  for (guint i = 0; names[i] != NULL; i++)
    append_item (policies, names[i], "policy.insert");
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    append_item (examples, rules[i], "policy.rule");
  g_menu_append_section (menu, "Policies of JAX", G_MENU_MODEL (policies));
  g_menu_append_section (menu, "Rules", G_MENU_MODEL (examples));
  gtk_menu_button_set_label (GTK_MENU_BUTTON (button), "Insert");
  gtk_menu_button_set_menu_model (GTK_MENU_BUTTON (button), G_MENU_MODEL (menu));
  gtk_widget_set_halign (button, GTK_ALIGN_START);
  gtk_widget_set_tooltip_text (button, "Names of policies, and how rules are written");
  return button;
}

/* The dialog */

static GtkWidget *
make_text (Policy *p)
{
  GtkWidget *across = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0), *scroller = gtk_scrolled_window_new ();
  GtkWidget *view = gtk_source_view_new (), *beside = gtk_text_view_new ();
  GtkSourceBuffer *buffer = GTK_SOURCE_BUFFER (gtk_text_view_get_buffer (GTK_TEXT_VIEW (view)));
  GtkSourceStyleSchemeManager *schemes = gtk_source_style_scheme_manager_get_default ();
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());

  gtk_source_buffer_set_style_scheme (buffer, gtk_source_style_scheme_manager_get_scheme (schemes, dark ? "Adwaita-dark" : "Adwaita"));
  gtk_source_view_set_show_line_numbers (GTK_SOURCE_VIEW (view), TRUE);
  gtk_text_view_set_monospace (GTK_TEXT_VIEW (view), TRUE);
  gtk_text_view_set_monospace (GTK_TEXT_VIEW (beside), TRUE);
  gtk_text_view_set_editable (GTK_TEXT_VIEW (beside), FALSE);
  gtk_text_view_set_cursor_visible (GTK_TEXT_VIEW (beside), FALSE);
  gtk_text_view_set_left_margin (GTK_TEXT_VIEW (beside), 12);
  gtk_text_view_set_left_margin (GTK_TEXT_VIEW (view), 6);
  gtk_widget_set_focusable (beside, FALSE);
  gtk_widget_set_hexpand (view, TRUE);
  gtk_widget_set_size_request (view, 300, -1);
  gtk_widget_set_size_request (beside, 580, -1);
  gtk_widget_set_name (view, "text");
  gtk_widget_set_name (beside, "reports");
  gtk_accessible_update_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_LABEL, "Policy", -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (beside), GTK_ACCESSIBLE_PROPERTY_LABEL, "What became of each statement", -1);
  p->text = GTK_TEXT_BUFFER (buffer);
  p->reports = gtk_text_view_get_buffer (GTK_TEXT_VIEW (beside));
  gtk_text_buffer_create_tag (p->text, "mistake", "underline", PANGO_UNDERLINE_ERROR, NULL);
  gtk_text_buffer_create_tag (p->reports, "good", "foreground", dark ? "#9a9996" : "#5e5c64", NULL);
  gtk_text_buffer_create_tag (p->reports, "problem", "foreground", dark ? "#ffa348" : "#c64600", "weight", PANGO_WEIGHT_BOLD, NULL);
  gtk_box_append (GTK_BOX (across), view);
  gtk_box_append (GTK_BOX (across), gtk_separator_new (GTK_ORIENTATION_VERTICAL));
  gtk_box_append (GTK_BOX (across), beside);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), across);
  gtk_widget_set_vexpand (scroller, TRUE);
  return scroller;
}

static GtkWidget *
make_content (Policy *p)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0), *foot = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);

  gtk_box_append (GTK_BOX (box), make_text (p));
  gtk_box_append (GTK_BOX (box), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
  p->message = GTK_LABEL (gtk_label_new (""));
  gtk_label_set_wrap (p->message, TRUE);
  gtk_label_set_selectable (p->message, TRUE);
  gtk_label_set_xalign (p->message, 0);
  gtk_widget_set_hexpand (GTK_WIDGET (p->message), TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (p->message), "error");
  gtk_widget_set_name (GTK_WIDGET (p->message), "message");
  p->hint = gtk_label_new ("One statement a line, such as \342\200\234policy dots_saveable in encoder/*\342\200\235 or "
                           "\342\200\234role:state offload\342\200\235. Insert lists what there is; Apply tells on the right what each has placed.");
  gtk_label_set_wrap (GTK_LABEL (p->hint), TRUE);
  gtk_label_set_xalign (GTK_LABEL (p->hint), 0);
  gtk_widget_set_hexpand (p->hint, TRUE);
  gtk_widget_set_name (p->hint, "hint");
  gtk_widget_add_css_class (p->hint, "secondary");
  gtk_widget_set_margin_start (foot, 12);
  gtk_widget_set_margin_end (foot, 12);
  gtk_widget_set_margin_top (foot, 8);
  gtk_widget_set_margin_bottom (foot, 8);
  gtk_box_append (GTK_BOX (foot), make_insert ());
  gtk_box_append (GTK_BOX (foot), p->hint);
  gtk_box_append (GTK_BOX (foot), GTK_WIDGET (p->message));
  gtk_box_append (GTK_BOX (box), foot);
  return box;
}

static gboolean
apply_by_key (GtkWidget *widget, GVariant *arguments, gpointer data)
{
  Policy *p = data;

  if (gtk_widget_get_sensitive (p->apply))
    apply (p);
  return TRUE;
}

static void
add_keys (Policy *p)
{
  GtkEventController *controller = gtk_shortcut_controller_new ();

  gtk_event_controller_set_propagation_phase (controller, GTK_PHASE_CAPTURE); /* before the text takes Return */
  gtk_shortcut_controller_add_shortcut (GTK_SHORTCUT_CONTROLLER (controller), gtk_shortcut_new (gtk_keyval_trigger_new (GDK_KEY_Return, GDK_CONTROL_MASK),
                                                                                                gtk_callback_action_new (apply_by_key, p, NULL)));
  gtk_widget_add_controller (GTK_WIDGET (p->dialog), controller);
}

void
_gantry_dialog_policy (GantryWindow *window)
{
  Policy *p = g_new0 (Policy, 1);
  const GantryCompileSettings *settings = gantry_document_get_settings (window->document);
  GtkWidget *content = make_content (p);
  g_autoptr (GSimpleActionGroup) group = g_simple_action_group_new ();

  p->window = window;
  p->apply = gtk_button_new_with_mnemonic ("_Apply");
  gtk_widget_add_css_class (p->apply, "suggested-action");
  gtk_widget_set_name (p->apply, "apply");
  gtk_widget_set_tooltip_text (p->apply, "Place everything as the statements say (Ctrl+Enter)");
  p->dialog = _gantry_dialog_new (window, "policy", "Policy", content, p->apply);
  gtk_window_set_default_size (p->dialog, 1000, 420);
  g_action_map_add_action_entries (G_ACTION_MAP (group), entries, G_N_ELEMENTS (entries), p);
  gtk_widget_insert_action_group (GTK_WIDGET (p->dialog), "policy", G_ACTION_GROUP (group));
  g_object_set_data_full (G_OBJECT (p->dialog), "policy", p, g_free);
  gtk_text_buffer_set_text (p->text, settings->policy != NULL ? settings->policy : "", -1);
  show_mistake (p, NULL);
  show_reports (p);
  g_signal_connect_swapped (p->text, "changed", G_CALLBACK (text_changed), p);
  g_signal_connect_swapped (p->apply, "clicked", G_CALLBACK (apply), p);
  add_keys (p);
  gtk_window_present (p->dialog);
}
