/* SPDX-License-Identifier: Apache-2.0 */
/* The line above a canvas, and the words over it while there is no picture. */
#include "views/graph/graph-pane.h"
#include "views/format.h"

/* Shorter waits are not worth a word. */
#define PATIENCE_MS 350

struct _GantryGraphPane
{
  GtkBox parent_instance;
  GantryGraphCanvas *canvas;
  GtkWidget *heading, *detail, *message, *spinner, *words;
  guint patience;
};

G_DEFINE_FINAL_TYPE (GantryGraphPane, gantry_graph_pane, GTK_TYPE_BOX)

static void
show_words (GantryGraphPane *self, const char *words, gboolean spinning)
{
  gtk_widget_set_visible (self->message, words != NULL);
  gtk_widget_set_visible (self->spinner, spinning);
  gtk_spinner_set_spinning (GTK_SPINNER (self->spinner), spinning);
  gtk_label_set_text (GTK_LABEL (self->words), words != NULL ? words : "");
}

static void
update (GantryGraphPane *self)
{
  GantryGraphPicture *picture = gantry_graph_canvas_get_picture (self->canvas);
  const GError *error = gantry_graph_canvas_get_error (self->canvas);

  if (gantry_graph_canvas_is_busy (self->canvas))
    return; /* still waiting */
  g_clear_handle_id (&self->patience, g_source_remove);
  if (error != NULL)
    show_words (self, error->message, FALSE);
  else if (picture != NULL && gantry_graph_picture_n_boxes (picture) == 0)
    show_words (self, "This program has no nodes.", FALSE);
  else
    show_words (self, NULL, FALSE);
}

static gboolean
patience_ends (gpointer data)
{
  GantryGraphPane *self = data;

  self->patience = 0;
  show_words (self, "Laying out the graph", TRUE);
  return G_SOURCE_REMOVE;
}

static void
watch (GantryGraphPane *self)
{
  g_clear_handle_id (&self->patience, g_source_remove);
  if (gantry_graph_canvas_is_busy (self->canvas))
    self->patience = g_timeout_add (PATIENCE_MS, patience_ends, self);
  else
    update (self);
}

static void
set_heading (GantryGraphPane *self, GantryCompilation *compilation, guint index, GantryCanvasSide side)
{
  const GantrySnapshot *snapshot = &compilation->snapshots[index];
  const GantrySnapshot *pass = side == GANTRY_CANVAS_BEFORE ? snapshot + 1 : snapshot;
  g_autofree char *nodes = gantry_format_plural (snapshot->nodes_after, "node", "nodes");
  g_autofree char *heading = NULL, *detail = NULL;

  switch (side)
    {
    case GANTRY_CANVAS_PLAIN:
      heading = g_strdup (index == 0 ? "As imported" : snapshot->title);
      detail = g_strdup (nodes);
      break;
    case GANTRY_CANVAS_BEFORE:
      heading = g_strdup_printf ("Before: %s", pass->title);
      detail = pass->n_removed > 0 ? g_strdup_printf ("%s, \342\210\222%u", nodes, pass->n_removed) : g_strdup (nodes);
      break;
    case GANTRY_CANVAS_AFTER:
      heading = g_strdup_printf ("After: %s", pass->title);
      detail = pass->n_made > 0 ? g_strdup_printf ("%s, +%u", nodes, pass->n_made) : g_strdup (nodes);
      break;
    }
  gtk_label_set_text (GTK_LABEL (self->heading), heading);
  gtk_label_set_text (GTK_LABEL (self->detail), detail);
  gtk_widget_set_tooltip_text (self->heading, pass->description);
}

void
gantry_graph_pane_set_snapshot (GantryGraphPane *self, GantryCompilation *compilation, guint index, GantryCanvasSide side)
{
  gantry_graph_canvas_set_snapshot (self->canvas, compilation, index, side);
  if (compilation != NULL)
    set_heading (self, compilation, index, side);
  watch (self);
}

GantryGraphCanvas *
gantry_graph_pane_get_canvas (GantryGraphPane *self)
{
  return self->canvas;
}

static void
gantry_graph_pane_dispose (GObject *object)
{
  GantryGraphPane *self = GANTRY_GRAPH_PANE (object);

  g_clear_handle_id (&self->patience, g_source_remove);
  G_OBJECT_CLASS (gantry_graph_pane_parent_class)->dispose (object);
}

static void
gantry_graph_pane_class_init (GantryGraphPaneClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = gantry_graph_pane_dispose;
}

static GtkWidget *
make_title (GantryGraphPane *self)
{
  GtkWidget *bar = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);

  gtk_widget_add_css_class (bar, "pane-title");
  self->heading = gtk_label_new ("");
  gtk_label_set_ellipsize (GTK_LABEL (self->heading), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (self->heading), 0);
  gtk_widget_add_css_class (self->heading, "heading");
  gtk_widget_set_hexpand (self->heading, TRUE);
  self->detail = gtk_label_new ("");
  gtk_widget_add_css_class (self->detail, "dim-label");
  gtk_widget_add_css_class (self->detail, "numeric");
  gtk_box_append (GTK_BOX (bar), self->heading);
  gtk_box_append (GTK_BOX (bar), self->detail);
  return bar;
}

static GtkWidget *
make_message (GantryGraphPane *self)
{
  self->message = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  gtk_widget_set_halign (self->message, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (self->message, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (self->message, "pane-message");
  self->spinner = gtk_spinner_new ();
  self->words = gtk_label_new ("");
  gtk_label_set_wrap (GTK_LABEL (self->words), TRUE);
  gtk_label_set_selectable (GTK_LABEL (self->words), TRUE);
  gtk_label_set_max_width_chars (GTK_LABEL (self->words), 60);
  gtk_box_append (GTK_BOX (self->message), self->spinner);
  gtk_box_append (GTK_BOX (self->message), self->words);
  gtk_widget_set_visible (self->message, FALSE);
  return self->message;
}

static void
gantry_graph_pane_init (GantryGraphPane *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
}

GtkWidget *
gantry_graph_pane_new (GantrySelection *selection)
{
  GantryGraphPane *self = g_object_new (GANTRY_TYPE_GRAPH_PANE, NULL);
  GtkWidget *overlay = gtk_overlay_new ();

  self->canvas = GANTRY_GRAPH_CANVAS (gantry_graph_canvas_new (selection));
  gtk_box_append (GTK_BOX (self), make_title (self));
  gtk_box_append (GTK_BOX (self), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
  gtk_overlay_set_child (GTK_OVERLAY (overlay), GTK_WIDGET (self->canvas));
  gtk_overlay_add_overlay (GTK_OVERLAY (overlay), make_message (self));
  gtk_box_append (GTK_BOX (self), overlay);
  g_signal_connect_object (self->canvas, "picture-changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->canvas, "folds-changed", G_CALLBACK (watch), self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}
