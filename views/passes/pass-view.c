/* SPDX-License-Identifier: Apache-2.0 */
/* The two panes, what ties them, and searching in them. */
#include "views/passes/pass-view.h"

struct _GantryPassView
{
  GtkBox parent_instance;
  GtkPaned *paned;
  GantryGraphPane *before, *after;
  GantryCompilation *compilation;
  guint index;
  gboolean single;
  gboolean tying;
  GantryGraphCanvas *focused; /* (nullable), one of ours */
  char *search;
  GArray *matches; /* guint32, in program order, of the focused canvas */
  guint match;     /* 1 .., 0: none yet */
};

static guint place_signal;

G_DEFINE_FINAL_TYPE (GantryPassView, gantry_pass_view, GTK_TYPE_BOX)

GantryGraphCanvas *
gantry_pass_view_get_before (GantryPassView *self)
{
  return gantry_graph_pane_get_canvas (self->before);
}

GantryGraphCanvas *
gantry_pass_view_get_after (GantryPassView *self)
{
  return gantry_graph_pane_get_canvas (self->after);
}

static gboolean
shows_both (GantryPassView *self)
{
  return gtk_widget_get_visible (GTK_WIDGET (self->before));
}

GantryGraphCanvas *
gantry_pass_view_get_canvas (GantryPassView *self)
{
  if (shows_both (self) && self->focused == gantry_pass_view_get_before (self))
    return self->focused;
  return gantry_pass_view_get_after (self);
}

/* Search */

/* What has no place in the picture (the body of a fusion, a constant that only constants read) cannot be shown. */
static void
keep_seen (GArray *ids, const GantryGraphPicture *picture, const GantryModule *module)
{
  guint n = 0;

  if (picture == NULL || gantry_graph_picture_module (picture) != module)
    return;
  for (guint i = 0; i < ids->len; i++)
    if (gantry_graph_picture_box_of (picture, g_array_index (ids, guint32, i)) != GANTRY_NO_BOX)
      g_array_index (ids, guint32, n++) = g_array_index (ids, guint32, i);
  g_array_set_size (ids, n);
}

static void
set_matches (GantryGraphCanvas *canvas, const char *text, GArray **list)
{
  GantryModule *module = gantry_graph_canvas_get_module (canvas);
  g_autoptr (GArray) found = NULL;
  g_autoptr (GHashTable) set = NULL;

  if (module == NULL || text == NULL || *text == '\0')
    {
      gantry_graph_canvas_set_matches (canvas, NULL);
      return;
    }
  found = gantry_graph_search (module, text);
  keep_seen (found, gantry_graph_canvas_get_picture (canvas), module);
  set = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < found->len; i++)
    g_hash_table_add (set, GUINT_TO_POINTER (g_array_index (found, guint32, i)));
  gantry_graph_canvas_set_matches (canvas, set);
  if (list == NULL)
    return;
  g_clear_pointer (list, g_array_unref);
  *list = g_steal_pointer (&found);
}

guint
gantry_pass_view_search (GantryPassView *self, const char *text)
{
  GantryGraphCanvas *canvas = gantry_pass_view_get_canvas (self);
  GantryGraphCanvas *other = canvas == gantry_pass_view_get_after (self) ? gantry_pass_view_get_before (self) : gantry_pass_view_get_after (self);

  if (text != self->search)
    {
      g_free (self->search);
      self->search = g_strdup (text);
    }
  self->match = 0;
  g_clear_pointer (&self->matches, g_array_unref);
  set_matches (canvas, self->search, &self->matches);
  set_matches (other, self->search, NULL);
  return self->matches != NULL ? self->matches->len : 0;
}

guint
gantry_pass_view_step_match (GantryPassView *self, int step)
{
  guint n = self->matches != NULL ? self->matches->len : 0;

  if (n == 0)
    return 0;
  if (self->match == 0)
    self->match = step > 0 ? 1 : n;
  else
    self->match = (self->match - 1 + n + (guint) (step > 0 ? 1 : n - 1)) % n + 1;
  gantry_graph_canvas_show_node (gantry_pass_view_get_canvas (self), g_array_index (self->matches, guint32, self->match - 1), TRUE);
  return self->match;
}

const GArray *
gantry_pass_view_get_matches (GantryPassView *self)
{
  return self->matches;
}

void
gantry_pass_view_set_placements (GantryPassView *self, GantryPlacements *placements, const GArray *steps)
{
  g_autoptr (GArray) ghosts = steps != NULL ? gantry_graph_ghosts_new ((const GantryPlanStep *) (gpointer) steps->data, steps->len) : NULL;

  gantry_graph_canvas_set_placements (gantry_pass_view_get_before (self), placements, ghosts);
  gantry_graph_canvas_set_placements (gantry_pass_view_get_after (self), placements, ghosts);
}

guint
gantry_pass_view_n_matches (GantryPassView *self)
{
  return self->matches != NULL ? self->matches->len : 0;
}

/* What ties the panes */

static void
folds_changed (GantryGraphCanvas *canvas, gpointer data)
{
  GantryPassView *self = data;
  GantryGraphCanvas *other = canvas == gantry_pass_view_get_after (self) ? gantry_pass_view_get_before (self) : gantry_pass_view_get_after (self);

  if (gantry_graph_canvas_get_module (other) != NULL)
    gantry_graph_canvas_set_folded (other, gantry_graph_canvas_get_folded (canvas));
}

static void
focus_changed (GtkEventControllerFocus *controller, gpointer data)
{
  GantryPassView *self = data;

  self->focused = GANTRY_GRAPH_CANVAS (gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (controller)));
}

static void
apply (GantryPassView *self)
{
  gboolean both = self->compilation != NULL && self->index > 0 && !self->single;
  GantryGraphCanvas *before = gantry_pass_view_get_before (self), *after = gantry_pass_view_get_after (self);

  if (both && !shows_both (self) && gtk_widget_get_width (GTK_WIDGET (self)) > 0)
    gtk_paned_set_position (self->paned, gtk_widget_get_width (GTK_WIDGET (self)) / 2);
  gtk_widget_set_visible (GTK_WIDGET (self->before), both);
  if (both)
    {
      gboolean fresh = gantry_graph_canvas_get_picture (before) == NULL;
      gantry_graph_pane_set_snapshot (self->before, self->compilation, self->index - 1, GANTRY_CANVAS_BEFORE);
      gantry_graph_canvas_set_folded (before, gantry_graph_canvas_get_folded (after));
      if (fresh && gantry_graph_canvas_get_picture (after) != NULL)
        gantry_graph_canvas_open_beside (before, after, gtk_widget_get_width (GTK_WIDGET (self)) / 2);
      gantry_graph_pane_set_snapshot (self->after, self->compilation, self->index, GANTRY_CANVAS_AFTER);
    }
  else
    {
      gantry_graph_pane_set_snapshot (self->before, NULL, 0, GANTRY_CANVAS_PLAIN);
      gantry_graph_pane_set_snapshot (self->after, self->compilation, self->index, self->index > 0 ? GANTRY_CANVAS_AFTER : GANTRY_CANVAS_PLAIN);
    }
  if (self->search != NULL)
    gantry_pass_view_search (self, self->search);
}

void
gantry_pass_view_set (GantryPassView *self, GantryCompilation *compilation, guint index)
{
  if (compilation != NULL)
    gantry_compilation_ref (compilation);
  g_clear_pointer (&self->compilation, gantry_compilation_unref);
  self->compilation = compilation;
  self->index = index;
  apply (self);
}

void
gantry_pass_view_set_single (GantryPassView *self, gboolean single)
{
  if (self->single == single)
    return;
  self->single = single;
  apply (self);
}

gboolean
gantry_pass_view_get_single (GantryPassView *self)
{
  return self->single;
}

static void
gantry_pass_view_finalize (GObject *object)
{
  GantryPassView *self = GANTRY_PASS_VIEW (object);

  g_clear_pointer (&self->compilation, gantry_compilation_unref);
  g_clear_pointer (&self->matches, g_array_unref);
  g_free (self->search);
  G_OBJECT_CLASS (gantry_pass_view_parent_class)->finalize (object);
}

static void
gantry_pass_view_class_init (GantryPassViewClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gantry_pass_view_finalize;
  place_signal = g_signal_new ("place", GANTRY_TYPE_PASS_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2, G_TYPE_INT, G_TYPE_INT);
}

static void
gantry_pass_view_init (GantryPassView *self)
{
}

static void
place_asked (GantryGraphCanvas *canvas, int kind, int reach, gpointer data)
{
  GantryPassView *self = data;

  self->focused = canvas;
  g_signal_emit (self, place_signal, 0, kind, reach);
}

static void
connect_pane (GantryPassView *self, GantryGraphPane *pane)
{
  GantryGraphCanvas *canvas = gantry_graph_pane_get_canvas (pane);
  GtkEventController *focus = gtk_event_controller_focus_new ();

  g_signal_connect (focus, "enter", G_CALLBACK (focus_changed), self);
  gtk_widget_add_controller (GTK_WIDGET (canvas), focus);
  g_signal_connect_object (canvas, "folds-changed", G_CALLBACK (folds_changed), self, 0);
  g_signal_connect_object (canvas, "place", G_CALLBACK (place_asked), self, 0);
}

GtkWidget *
gantry_pass_view_new (GantrySelection *selection)
{
  GantryPassView *self = g_object_new (GANTRY_TYPE_PASS_VIEW, NULL);

  self->before = GANTRY_GRAPH_PANE (gantry_graph_pane_new (selection));
  self->after = GANTRY_GRAPH_PANE (gantry_graph_pane_new (selection));
  self->paned = GTK_PANED (gtk_paned_new (GTK_ORIENTATION_HORIZONTAL));
  gtk_paned_set_start_child (self->paned, GTK_WIDGET (self->before));
  gtk_paned_set_end_child (self->paned, GTK_WIDGET (self->after));
  gtk_paned_set_shrink_start_child (self->paned, FALSE);
  gtk_paned_set_shrink_end_child (self->paned, FALSE);
  gtk_widget_set_visible (GTK_WIDGET (self->before), FALSE);
  gtk_widget_set_hexpand (GTK_WIDGET (self->paned), TRUE);
  gtk_box_append (GTK_BOX (self), GTK_WIDGET (self->paned));
  connect_pane (self, self->before);
  connect_pane (self, self->after);
  return GTK_WIDGET (self);
}
