/* SPDX-License-Identifier: Apache-2.0 */
/* The panel: which page is shown and when it is written anew. */
#include "views/inspector/inspector.h"
#include "views/inspector/inspector-private.h"
#include "views/shown-plan.h"

struct _GantryInspector
{
  GtkBox parent_instance;
  GantryDocument *document;
  GantrySelection *selection;
  GtkStack *stack;
  GtkBox *details;
  GtkWidget *scroller;
  GantryCodeView *code;
  GHashTable *measured; /* of measured_of */
  GantryRunResult *measured_of;
  guint idle;
};

G_DEFINE_FINAL_TYPE (GantryInspector, gantry_inspector, GTK_TYPE_BOX)

static GHashTable *
measured_by_node (GantryInspector *self, GantryRunResult *run)
{
  g_autoptr (GArray) totals = NULL;

  if (run == self->measured_of)
    return self->measured;
  g_clear_pointer (&self->measured, g_hash_table_unref);
  g_clear_pointer (&self->measured_of, gantry_run_result_unref);
  if (run == NULL || run->recording == NULL)
    return NULL;
  self->measured_of = gantry_run_result_ref (run);
  self->measured = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  totals = gantry_recording_by_node (run->recording);
  for (guint i = 0; i < totals->len; i++)
    {
      const GantryNodeTotals *entry = &g_array_index (totals, GantryNodeTotals, i);

      g_hash_table_insert (self->measured, GUINT_TO_POINTER (entry->node), g_memdup2 (entry, sizeof *entry));
    }
  return self->measured;
}

static void
write_details (GantryInspector *self, const GantryInspected *what)
{
  GantryRows rows;
  guint n = gantry_selection_count (self->selection);

  gantry_rows_begin (&rows, self->details, self->selection);
  if (n == 0)
    _gantry_inspect_model (&rows, what);
  else if (n == 1)
    _gantry_inspect_node (&rows, what, gantry_selection_primary (self->selection));
  else
    _gantry_inspect_many (&rows, what, gantry_selection_in (self->selection, what->snapshot));
}

static void
write_code (GantryInspector *self, const GantryInspected *what)
{
  guint32 id = gantry_selection_count (self->selection) == 1 ? gantry_selection_primary (self->selection) : 0;
  guint32 last = id != 0 ? _gantry_inspect_last (what->compilation, what->snapshot, id) : 0;

  gantry_code_view_set (self->code, gantry_compilation_module (what->compilation), last, what->run);
}

static gboolean
update (gpointer data)
{
  GantryInspector *self = data;
  GantryInspected what = { .document = self->document };

  self->idle = 0;
  what.compilation = gantry_document_get_compilation (self->document);
  if (what.compilation == NULL)
    return G_SOURCE_REMOVE;
  what.run = gantry_shown_run (self->document);
  what.measured = measured_by_node (self, what.run);
  what.snapshot = MIN (gantry_selection_snapshot (self->selection), what.compilation->n_snapshots - 1);
  write_details (self, &what);
  write_code (self, &what);
  gtk_adjustment_set_value (gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (self->scroller)), 0);
  return G_SOURCE_REMOVE;
}

/* Several things change at once when a compilation arrives: one rewrite is enough. */
static void
queue_update (GantryInspector *self)
{
  if (self->idle == 0)
    self->idle = g_idle_add_full (GTK_PRIORITY_RESIZE - 1, update, self, NULL);
}

static void
collect_text (GtkWidget *widget, GString *text)
{
  if (GTK_IS_LABEL (widget))
    g_string_append_printf (text, "%s\n", gtk_label_get_text (GTK_LABEL (widget)));
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    collect_text (child, text);
}

char *
gantry_inspector_to_text (GantryInspector *self)
{
  GString *text = g_string_new (NULL);

  if (self->idle != 0)
    {
      g_clear_handle_id (&self->idle, g_source_remove);
      update (self);
    }
  collect_text (GTK_WIDGET (self->details), text);
  return g_string_free (text, FALSE);
}

void
gantry_inspector_show_page (GantryInspector *self, const char *page)
{
  gtk_stack_set_visible_child_name (self->stack, page);
}

GantryCodeView *
gantry_inspector_get_code_view (GantryInspector *self)
{
  return self->code;
}

static void
gantry_inspector_dispose (GObject *object)
{
  GantryInspector *self = GANTRY_INSPECTOR (object);

  g_clear_handle_id (&self->idle, g_source_remove);
  g_clear_pointer (&self->measured, g_hash_table_unref);
  g_clear_pointer (&self->measured_of, gantry_run_result_unref);
  g_clear_object (&self->document);
  g_clear_object (&self->selection);
  G_OBJECT_CLASS (gantry_inspector_parent_class)->dispose (object);
}

static void
gantry_inspector_class_init (GantryInspectorClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = gantry_inspector_dispose;
}

static void
gantry_inspector_init (GantryInspector *self)
{
  GtkWidget *title = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *switcher = gtk_stack_switcher_new ();
  GtkWidget *heading = gtk_label_new ("Inspector");

  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_widget_add_css_class (heading, "heading");
  gtk_label_set_xalign (GTK_LABEL (heading), 0);
  gtk_widget_set_hexpand (heading, TRUE);
  self->stack = GTK_STACK (gtk_stack_new ());
  gtk_stack_switcher_set_stack (GTK_STACK_SWITCHER (switcher), self->stack);
  gtk_widget_add_css_class (title, "pane-title");
  gtk_box_append (GTK_BOX (title), heading);
  gtk_box_append (GTK_BOX (title), switcher);
  self->details = GTK_BOX (gtk_box_new (GTK_ORIENTATION_VERTICAL, 4));
  gtk_widget_set_margin_top (GTK_WIDGET (self->details), 10);
  gtk_widget_set_margin_bottom (GTK_WIDGET (self->details), 14);
  gtk_widget_set_margin_start (GTK_WIDGET (self->details), 12);
  gtk_widget_set_margin_end (GTK_WIDGET (self->details), 12);
  self->scroller = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (self->scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->scroller), GTK_WIDGET (self->details));
  gtk_widget_set_vexpand (self->scroller, TRUE);
  self->code = GANTRY_CODE_VIEW (gantry_code_view_new ());
  gtk_stack_add_titled (self->stack, self->scroller, "node", "Node");
  gtk_stack_add_titled (self->stack, GTK_WIDGET (self->code), "code", "Code");
  gtk_box_append (GTK_BOX (self), title);
  gtk_box_append (GTK_BOX (self), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
  gtk_box_append (GTK_BOX (self), GTK_WIDGET (self->stack));
}

GtkWidget *
gantry_inspector_new (GantryDocument *document, GantrySelection *selection)
{
  GantryInspector *self = g_object_new (GANTRY_TYPE_INSPECTOR, NULL);

  self->document = g_object_ref (document);
  self->selection = g_object_ref (selection);
  g_signal_connect_object (document, "notify::compilation", G_CALLBACK (queue_update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::run", G_CALLBACK (queue_update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::prediction", G_CALLBACK (queue_update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::plan", G_CALLBACK (queue_update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (selection, "changed", G_CALLBACK (queue_update), self, G_CONNECT_SWAPPED);
  queue_update (self);
  return GTK_WIDGET (self);
}
