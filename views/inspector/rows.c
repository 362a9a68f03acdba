/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the inspector as widgets. */
#include "views/inspector/rows.h"
#include "views/wrapped-label.h"
#include <string.h>

#define MOST_TITLE_LINES 3

void
gantry_rows_begin (GantryRows *rows, GtkBox *box, GantrySelection *selection)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (box))) != NULL)
    gtk_box_remove (box, child);
  *rows = (GantryRows){ .box = box, .selection = selection, .keys = gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL) };
  g_object_set_data_full (G_OBJECT (box), "keys", rows->keys, g_object_unref);
}

static GtkWidget *
label_new (const char *text, const char *css_class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_valign (label, GTK_ALIGN_BASELINE);
  if (css_class != NULL)
    gtk_widget_add_css_class (label, css_class);
  return label;
}

static GtkWidget *
value_new (const char *text)
{
  GtkWidget *label = gantry_wrapped_label_new (text);

  gtk_widget_set_valign (label, GTK_ALIGN_BASELINE);
  gtk_widget_set_hexpand (label, TRUE);
  /* A label wraps at its natural width otherwise, and pushes the panel wide. */
  gtk_label_set_max_width_chars (GTK_LABEL (label), 20);
  return label;
}

void
gantry_rows_title (GantryRows *rows, const char *title, const char *subtitle)
{
  GtkWidget *label = value_new (title);

  gtk_widget_add_css_class (label, "title-4");
  gtk_label_set_lines (GTK_LABEL (label), MOST_TITLE_LINES);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_set_tooltip_text (label, title);
  gtk_box_append (rows->box, label);
  if (subtitle == NULL || *subtitle == '\0')
    return;
  label = value_new (subtitle);
  gtk_widget_add_css_class (label, "dim-label");
  gtk_box_append (rows->box, label);
}

void
gantry_rows_section (GantryRows *rows, const char *title)
{
  if (title != NULL)
    gtk_box_append (rows->box, label_new (title, "inspector-section"));
  rows->grid = GTK_GRID (gtk_grid_new ());
  gtk_widget_add_css_class (GTK_WIDGET (rows->grid), "inspector-grid");
  gtk_grid_set_column_spacing (rows->grid, 10);
  gtk_grid_set_row_spacing (rows->grid, 3);
  gtk_box_append (rows->box, GTK_WIDGET (rows->grid));
  rows->n = 0;
}

static void
add (GantryRows *rows, const char *key, GtkWidget *value)
{
  if (rows->grid == NULL)
    gantry_rows_section (rows, NULL);
  if (key != NULL)
    {
      GtkWidget *label = label_new (key, "inspector-key");

      gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
      gtk_label_set_width_chars (GTK_LABEL (label), 11);
      gtk_label_set_max_width_chars (GTK_LABEL (label), 16);
      gtk_widget_set_tooltip_text (label, strlen (key) > 14 ? key : NULL);
      gtk_size_group_add_widget (rows->keys, label);
      gtk_grid_attach (rows->grid, label, 0, rows->n, 1, 1);
    }
  gtk_grid_attach (rows->grid, value, 1, rows->n++, 1, 1);
}

void
gantry_rows_text (GantryRows *rows, const char *key, const char *value)
{
  if (value != NULL && *value != '\0')
    add (rows, key, value_new (value));
}

void
gantry_rows_mono (GantryRows *rows, const char *key, const char *value)
{
  GtkWidget *label;

  if (value == NULL || *value == '\0')
    return;
  label = value_new (value);
  gtk_widget_add_css_class (label, "monospace");
  add (rows, key, label);
}

void
gantry_rows_take (GantryRows *rows, const char *key, char *value)
{
  gantry_rows_text (rows, key, value);
  g_free (value);
}

void
gantry_rows_note (GantryRows *rows, const char *text)
{
  GtkWidget *label = value_new (text);

  gtk_widget_add_css_class (label, "dim-label");
  if (rows->grid == NULL)
    gantry_rows_section (rows, NULL);
  gtk_grid_attach (rows->grid, label, 0, rows->n++, 2, 1);
}

void
gantry_rows_widget (GantryRows *rows, GtkWidget *widget)
{
  if (rows->grid == NULL)
    gantry_rows_section (rows, NULL);
  gtk_grid_attach (rows->grid, widget, 0, rows->n++, 2, 1);
}

/* Links */

typedef struct
{
  GantrySelection *selection;
  guint snapshot;
  guint32 node;
} Link;

static void
link_free (gpointer data, GClosure *closure)
{
  Link *link = data;

  g_object_unref (link->selection);
  g_free (link);
}

static void
clicked (GtkButton *button, gpointer data)
{
  const Link *link = data;
  /* Selecting rebuilds the inspector and frees this link. */
  g_autoptr (GantrySelection) selection = g_object_ref (link->selection);
  guint32 node = link->node;

  gantry_selection_set (selection, link->snapshot, &node, 1);
}

char *
gantry_rows_node_name (const GantryModule *module, const GantryNode *node)
{
  g_autofree char *label = gantry_node_label (module, node);
  const char *name = gantry_node_op_name (module, node);

  if (node->op >= GANTRY_OP_FOREIGN && strrchr (name, '.') != NULL)
    name = strrchr (name, '.') + 1;
  return g_strdup_printf ("%s %s", name, label);
}

/* A button in the line that reads as text. */
static GtkWidget *
link_new (const char *text, const char *tooltip)
{
  GtkWidget *button = gtk_button_new (), *label = label_new (text, NULL);

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_button_set_child (GTK_BUTTON (button), label);
  gtk_widget_set_tooltip_text (button, tooltip);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "inspector-link");
  gtk_widget_set_hexpand (button, TRUE);
  return button;
}

void
gantry_rows_action (GantryRows *rows, const char *key, const char *text, const char *tooltip, const char *action)
{
  GtkWidget *button = link_new (text, tooltip);

  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  gtk_widget_set_name (button, key);
  add (rows, key, button);
}

void
gantry_rows_link (GantryRows *rows, const char *key, const GantryModule *module, guint snapshot, guint32 id)
{
  const GantryNode *node = gantry_module_node (module, id);
  g_autofree char *name = NULL, *type = NULL, *tooltip = NULL;
  GtkWidget *button;
  Link *link;

  if (node == NULL)
    return;
  name = gantry_rows_node_name (module, node);
  type = gantry_context_type_text (module->context, node->type);
  tooltip = g_strdup_printf ("%s\n%s\nClick to select", name, type);
  button = link_new (name, tooltip);
  link = g_new (Link, 1);
  *link = (Link){ g_object_ref (rows->selection), snapshot, id };
  g_signal_connect_data (button, "clicked", G_CALLBACK (clicked), link, link_free, 0);
  add (rows, key, button);
}
