/* SPDX-License-Identifier: Apache-2.0 */
/* The list of passes. Rows are made anew for each compilation; there are a dozen. */
#include "views/passes/pass-list.h"
#include "views/format.h"

struct _GantryPassList
{
  GtkBox parent_instance;
  GantryDocument *document;
  GtkListBox *list;
  GtkWidget *total;
  char *selected_pass; /* name: the index may mean another pass in the next compilation */
  guint selected;
  gboolean filling;
};

G_DEFINE_FINAL_TYPE (GantryPassList, gantry_pass_list, GTK_TYPE_BOX)

static guint selected_signal;

static GtkWidget *
label_new (const char *text, const char *css_class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  if (css_class != NULL)
    gtk_widget_add_css_class (label, css_class);
  return label;
}

static void
switched (GtkSwitch *toggle, GParamSpec *pspec, gpointer data)
{
  GantryPassList *self = data;
  const char *pass = g_object_get_data (G_OBJECT (toggle), "pass");

  if (!self->filling)
    gantry_document_set_pass_enabled (self->document, pass, gtk_switch_get_active (toggle));
}

static char *
changes_text (const GantrySnapshot *snapshot, guint index)
{
  if (index == 0)
    return gantry_format_plural (snapshot->nodes_after, "node", "nodes");
  if (!snapshot->enabled)
    return g_strdup ("left out");
  if (snapshot->n_made == 0 && snapshot->n_removed == 0)
    return g_strdup (snapshot->changed ? "only constants" : "no change");
  return g_strdup_printf ("+%u \342\210\222%u", snapshot->n_made, snapshot->n_removed);
}

#define COUNTED "Counted are nodes that do work: no parameters, constants and members of tuples, and none within functions."

/* As the figures of the row add up. */
static char *
sum_text (const GantrySnapshot *snapshot)
{
  return g_strdup_printf ("%u nodes before, %u made, %u removed: %u after. " COUNTED, snapshot->nodes_before, snapshot->n_made, snapshot->n_removed,
                          snapshot->nodes_after);
}

static char *
time_text (const GantrySnapshot *snapshot)
{
  if (snapshot->milliseconds <= 0)
    return g_strdup ("");
  if (snapshot->milliseconds < 0.1)
    return g_strdup ("< 0.1 ms");
  return g_strdup_printf ("%.1f ms", snapshot->milliseconds);
}

static GtkWidget *
make_switch (GantryPassList *self, const char *pass, const char *title, gboolean active)
{
  GtkWidget *toggle = gtk_switch_new ();
  g_autofree char *label = g_strdup_printf ("Run the pass %s", title);

  gtk_switch_set_active (GTK_SWITCH (toggle), active);
  gtk_widget_set_valign (toggle, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (toggle, active ? "Leave this pass out" : "Run this pass");
  gtk_accessible_update_property (GTK_ACCESSIBLE (toggle), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  g_object_set_data_full (G_OBJECT (toggle), "pass", g_strdup (pass), g_free);
  g_signal_connect (toggle, "notify::active", G_CALLBACK (switched), self);
  return toggle;
}

static GtkWidget *
make_row (const char *title, const char *description, const char *left, const char *right, gboolean dim, GtkWidget *toggle)
{
  GtkWidget *row = gtk_list_box_row_new ();
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  GtkWidget *below = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *time = label_new (right, "caption");
  GtkWidget *changes = label_new (left, "caption");

  gtk_widget_add_css_class (changes, "numeric");
  gtk_widget_add_css_class (time, "numeric");
  if (!dim) /* else all of it is: two of them on top of each other are not read */
    gtk_widget_add_css_class (time, "secondary");
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_widget_set_hexpand (changes, TRUE);
  gtk_box_append (GTK_BOX (below), changes);
  gtk_box_append (GTK_BOX (below), time);
  gtk_box_append (GTK_BOX (texts), label_new (title, NULL));
  gtk_box_append (GTK_BOX (texts), below);
  gtk_box_append (GTK_BOX (line), texts);
  if (toggle != NULL)
    gtk_box_append (GTK_BOX (line), toggle);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), line);
  gtk_widget_set_tooltip_text (texts, description);
  gtk_widget_add_css_class (row, "pass-row");
  if (dim)
    gtk_widget_add_css_class (texts, "secondary");
  return row;
}

static gboolean
is_required (const char *pass)
{
  guint n;
  const GantryPassInfo *passes = gantry_compiler_passes (&n);

  for (guint i = 0; i < n; i++)
    if (g_strcmp0 (passes[i].name, pass) == 0)
      return passes[i].required;
  return TRUE;
}

static void
add_snapshot (GantryPassList *self, const GantrySnapshot *snapshot, guint index)
{
  g_autofree char *left = changes_text (snapshot, index), *right = time_text (snapshot);
  gboolean unchanged = index > 0 && !snapshot->changed;
  g_autofree char *holds = gantry_snapshot_properties_text (snapshot), *sum = sum_text (snapshot);
  g_autofree char *description = index > 0 ? g_strdup_printf ("%s\n%s\nHolds after it: %s.", snapshot->description, sum, holds)
                                           : g_strdup_printf ("%s\n" COUNTED, snapshot->description);
  GtkWidget *toggle = NULL;

  if (index > 0 && !is_required (snapshot->pass))
    toggle = make_switch (self, snapshot->pass, snapshot->title, snapshot->enabled);
  gtk_list_box_append (self->list, make_row (snapshot->title, description, left, right, unchanged, toggle));
}

/* Passes that a refused program did not come to: seen, so that nobody wonders where they are. */
static void
add_not_reached (GantryPassList *self, const GantryCompilation *compilation)
{
  const GantryCompileSettings *settings = gantry_document_get_settings (self->document);

  for (guint i = 0; i < compilation->n_unreached; i++)
    {
      const GantryPassInfo *pass = compilation->unreached[i];
      GtkWidget *toggle = pass->required ? NULL : make_switch (self, pass->name, pass->title, gantry_compile_settings_enabled (settings, pass->name));
      GtkWidget *row = make_row (pass->title, pass->description, "not reached", "", TRUE, toggle);

      gtk_list_box_row_set_selectable (GTK_LIST_BOX_ROW (row), FALSE);
      gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
      gtk_list_box_append (self->list, row);
    }
}

static guint
index_of_selected (GantryPassList *self, const GantryCompilation *compilation)
{
  for (guint i = 0; i < compilation->n_snapshots; i++)
    if (g_strcmp0 (compilation->snapshots[i].pass, self->selected_pass) == 0)
      return i;
  return 0;
}

static void
set_total (GantryPassList *self, const GantryCompilation *compilation)
{
  double milliseconds = 0;
  g_autofree char *text = NULL;

  for (guint i = 1; i < compilation->n_snapshots; i++)
    milliseconds += compilation->snapshots[i].milliseconds;
  if (milliseconds > 0)
    text = milliseconds < 0.1 ? g_strdup ("< 0.1 ms") : g_strdup_printf ("%.*f ms", milliseconds < 10 ? 1 : 0, milliseconds);
  gtk_label_set_text (GTK_LABEL (self->total), text != NULL ? text : ""); /* none was reached */
}

static void
fill (GantryPassList *self)
{
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  GtkWidget *row;

  self->filling = TRUE;
  while ((row = gtk_widget_get_first_child (GTK_WIDGET (self->list))) != NULL)
    gtk_list_box_remove (self->list, row);
  if (compilation != NULL)
    {
      for (guint i = 0; i < compilation->n_snapshots; i++)
        add_snapshot (self, &compilation->snapshots[i], i);
      add_not_reached (self, compilation);
      set_total (self, compilation);
      self->selected = index_of_selected (self, compilation);
      gtk_list_box_select_row (self->list, gtk_list_box_get_row_at_index (self->list, (int) self->selected));
    }
  self->filling = FALSE;
  if (compilation != NULL)
    g_signal_emit (self, selected_signal, 0, self->selected);
}

static void
row_selected (GtkListBox *list, GtkListBoxRow *row, gpointer data)
{
  GantryPassList *self = data;
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  guint index;

  if (self->filling || row == NULL || compilation == NULL)
    return;
  index = (guint) gtk_list_box_row_get_index (row);
  if (index == self->selected || index >= compilation->n_snapshots)
    return;
  self->selected = index;
  g_free (self->selected_pass);
  self->selected_pass = g_strdup (compilation->snapshots[index].pass);
  g_signal_emit (self, selected_signal, 0, index);
}

guint
gantry_pass_list_get_selected (GantryPassList *self)
{
  return self->selected;
}

void
gantry_pass_list_select (GantryPassList *self, guint index)
{
  GtkListBoxRow *row = gtk_list_box_get_row_at_index (self->list, (int) index);

  if (row != NULL && gtk_list_box_row_get_selectable (row))
    gtk_list_box_select_row (self->list, row);
}

static void
gantry_pass_list_finalize (GObject *object)
{
  GantryPassList *self = GANTRY_PASS_LIST (object);

  g_clear_object (&self->document);
  g_free (self->selected_pass);
  G_OBJECT_CLASS (gantry_pass_list_parent_class)->finalize (object);
}

static void
gantry_pass_list_class_init (GantryPassListClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gantry_pass_list_finalize;
  selected_signal = g_signal_new ("selected", GANTRY_TYPE_PASS_LIST, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void
gantry_pass_list_init (GantryPassList *self)
{
  GtkWidget *title = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *scroller = gtk_scrolled_window_new ();
  GtkWidget *heading = label_new ("Passes", "heading");

  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_widget_set_hexpand (heading, TRUE);
  self->total = label_new ("", "secondary");
  gtk_widget_add_css_class (self->total, "numeric");
  gtk_widget_set_tooltip_text (self->total, "Time of all passes");
  gtk_widget_add_css_class (title, "pane-title");
  gtk_box_append (GTK_BOX (title), heading);
  gtk_box_append (GTK_BOX (title), self->total);
  self->list = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_selection_mode (self->list, GTK_SELECTION_BROWSE);
  gtk_widget_add_css_class (GTK_WIDGET (self->list), "navigation-sidebar");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, "Passes", -1);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), GTK_WIDGET (self->list));
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_widget_set_vexpand (scroller, TRUE);
  gtk_box_append (GTK_BOX (self), title);
  gtk_box_append (GTK_BOX (self), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
  gtk_box_append (GTK_BOX (self), scroller);
  gtk_widget_set_size_request (GTK_WIDGET (self), 200, -1);
  g_signal_connect (self->list, "row-selected", G_CALLBACK (row_selected), self);
}

GtkWidget *
gantry_pass_list_new (GantryDocument *document)
{
  GantryPassList *self = g_object_new (GANTRY_TYPE_PASS_LIST, NULL);

  self->document = g_object_ref (document);
  g_signal_connect_object (document, "notify::compilation", G_CALLBACK (fill), self, G_CONNECT_SWAPPED);
  fill (self);
  return GTK_WIDGET (self);
}
