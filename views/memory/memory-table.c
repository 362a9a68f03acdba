/* SPDX-License-Identifier: Apache-2.0 */
/* A grid of names and sizes; its words and sums are those of GantryMemorySummary. */
#include "views/memory/memory-table.h"
#include "views/format.h"

#define N_COLUMNS 3
#define PLANNED_THEN "planned then"

struct _GantryMemoryTable
{
  GtkBox parent_instance;
  GtkGrid *grid;
  int n_rows;
};

G_DEFINE_FINAL_TYPE (GantryMemoryTable, gantry_memory_table, GTK_TYPE_BOX)

static void
empty (GantryMemoryTable *self)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->grid))) != NULL)
    gtk_grid_remove (self->grid, child);
  self->n_rows = 0;
}

/* @class: (nullable): of all cells */
static void
put (GantryMemoryTable *self, int column, const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), column > 0 ? 1 : 0);
  gtk_widget_set_hexpand (label, column == 0);
  if (column > 0)
    gtk_widget_add_css_class (label, "numeric");
  if (class != NULL)
    gtk_widget_add_css_class (label, class);
  gtk_grid_attach (self->grid, label, column, self->n_rows, 1, 1);
}

static void
put_line (GantryMemoryTable *self, const char *name, const char *first, const char *second, const char *class)
{
  put (self, 0, name, class);
  put (self, 1, first, class);
  put (self, 2, second, class);
  self->n_rows++;
}

static void
put_space (GantryMemoryTable *self)
{
  GtkWidget *line = gtk_separator_new (GTK_ORIENTATION_HORIZONTAL);

  gtk_widget_set_margin_top (line, 4);
  gtk_widget_set_margin_bottom (line, 4);
  gtk_grid_attach (self->grid, line, 0, self->n_rows++, N_COLUMNS, 1);
}

static void
put_parts (GantryMemoryTable *self, const GantryMemorySummary *summary, const char *difference)
{
  g_autofree char *planned = NULL, *touched = NULL;

  gantry_format_bytes_apart (summary->planned_then, summary->touched_all, 0, &planned, &touched);
  put_line (self, "", difference != NULL ? PLANNED_THEN : "planned", "touched", "dim-label");
  for (guint i = 0; i < summary->parts->len; i++)
    {
      const GantryMemoryRow *row = &g_array_index (summary->parts, GantryMemoryRow, i);
      g_autofree char *first = NULL, *second = NULL;

      gantry_format_bytes_apart (row->planned, row->touched, 0, &first, &second);
      put_line (self, row->name, first, second, NULL);
    }
  put_line (self, "all of it", planned, touched, "heading");
}

static void
put_process (GantryMemoryTable *self, const GantryMemorySummary *summary, gboolean then)
{
  gboolean over = summary->process > summary->allowed;
  /* "Expected at most" is rounded as the process is, with as many figures: it never reads as the smaller where it is the larger. */
  g_autofree char *process = NULL, *planned = gantry_format_bytes (summary->planned_all), *allowed = NULL;

  gantry_format_bytes_apart (summary->process, summary->allowed, 0, &process, &allowed);
  put_space (self);
  put_line (self, "process, from loading on", "", process, over ? "error" : "heading");
  put_line (self, then ? PLANNED_THEN : "planned", "", planned, NULL);
  for (guint i = 0; i < summary->differences->len; i++)
    {
      const GantryMemoryDifference *difference = &g_array_index (summary->differences, GantryMemoryDifference, i);
      g_autofree char *bytes = gantry_format_bytes ((guint64) ABS (difference->bytes));
      g_autofree char *text = g_strconcat (difference->bytes < 0 ? "−" : "", bytes, NULL);

      put_line (self, difference->name, "", text, NULL);
    }
  put_line (self, "expected at most", "", allowed, "dim-label");
}

static void
put_note (GantryMemoryTable *self, const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_add_css_class (label, class);
  gtk_widget_set_margin_top (label, 6);
  gtk_grid_attach (self->grid, label, 0, self->n_rows++, N_COLUMNS, 1);
}

static void
put_notes (GantryMemoryTable *self, GPtrArray *notes, const char *class)
{
  for (guint i = 0; i < notes->len; i++)
    put_note (self, g_ptr_array_index (notes, i), class);
}

static void
put_difference (GantryMemoryTable *self, const char *difference)
{
  g_autofree char *text = g_strdup_printf ("This run was made %s: what is called planned here is the plan that was run, not the one that is "
                                           "shown now.",
                                           difference);

  put_note (self, text, "dim-label");
}

void
gantry_memory_table_set (GantryMemoryTable *self, const GantryMemorySummary *summary, const char *difference)
{
  g_return_if_fail (GANTRY_IS_MEMORY_TABLE (self));
  empty (self);
  if (summary == NULL)
    return;
  put_parts (self, summary, difference);
  if (summary->process > 0)
    put_process (self, summary, difference != NULL);
  if (difference != NULL)
    put_difference (self, difference);
  put_notes (self, summary->warnings, "error");
  put_notes (self, summary->notes, "dim-label");
}

const char *
gantry_memory_table_get_text (GantryMemoryTable *self, guint row, guint column)
{
  GtkWidget *child = gtk_grid_get_child_at (self->grid, (int) column, (int) row);

  return GTK_IS_LABEL (child) ? gtk_label_get_text (GTK_LABEL (child)) : NULL;
}

static void
gantry_memory_table_class_init (GantryMemoryTableClass *klass)
{
}

static void
gantry_memory_table_init (GantryMemoryTable *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();

  self->grid = GTK_GRID (gtk_grid_new ());
  gtk_grid_set_column_spacing (self->grid, 12);
  gtk_grid_set_row_spacing (self->grid, 2);
  gtk_widget_set_margin_start (GTK_WIDGET (self->grid), 14);
  gtk_widget_set_margin_end (GTK_WIDGET (self->grid), 14);
  gtk_widget_set_margin_top (GTK_WIDGET (self->grid), 6);
  gtk_widget_set_margin_bottom (GTK_WIDGET (self->grid), 8);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->grid), GTK_ACCESSIBLE_PROPERTY_LABEL, "Memory planned and touched", -1);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), GTK_WIDGET (self->grid));
  gtk_widget_set_vexpand (scroller, TRUE);
  gtk_box_append (GTK_BOX (self), scroller);
  gtk_widget_set_hexpand (scroller, TRUE);
}

GtkWidget *
gantry_memory_table_new (void)
{
  return g_object_new (GANTRY_TYPE_MEMORY_TABLE, "orientation", GTK_ORIENTATION_VERTICAL, NULL);
}
