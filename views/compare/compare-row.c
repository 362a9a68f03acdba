/* SPDX-License-Identifier: Apache-2.0 */
/* The rows and the columns of the table of variants. */
#include "views/compare/compare-row.h"
#include "views/format.h"
#include "views/shown-plan.h"
#include <math.h>

#define OF_BEFORE "Predicted before passes, sizes, times or target were changed"

G_DEFINE_FINAL_TYPE (GantryCompareRow, gantry_compare_row, G_TYPE_OBJECT)

static void
gantry_compare_row_finalize (GObject *object)
{
  gantry_variant_unref (GANTRY_COMPARE_ROW (object)->variant);
  G_OBJECT_CLASS (gantry_compare_row_parent_class)->finalize (object);
}

static void
gantry_compare_row_class_init (GantryCompareRowClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gantry_compare_row_finalize;
}

static void
gantry_compare_row_init (GantryCompareRow *self)
{
}

GantryCompareRow *
gantry_compare_row_new (GantryVariant *variant, GantryPointKind kind, gboolean current)
{
  GantryCompareRow *self = g_object_new (GANTRY_TYPE_COMPARE_ROW, NULL);

  self->variant = gantry_variant_ref (variant);
  self->kind = kind;
  self->current = current;
  return self;
}

/* Columns */

typedef enum
{
  COLUMN_NAME,
  COLUMN_PEAK,
  COLUMN_TEMP,
  COLUMN_STEP,
  COLUMN_AGAIN,
  COLUMN_COPIED,
  COLUMN_HOST,
  COLUMN_GAP,
  N_COLUMNS
} Column;

static const struct
{
  const char *title, *tooltip;
} columns[N_COLUMNS] = {
  { "Variant", "The name given, or a point that the solver found" },
  { "Peak", "Most device memory at once, planned" },
  { "Temporaries", "Values between the steps at the peak, without workspaces; the rest of it is arguments, constants and code" },
  { "Step", "Predicted time of a step" },
  { "Done again", "Part of the step that is recomputation" },
  { "Copied", "Bytes between device and host in a step, both ways" },
  { "Host", "Most host memory at once, planned" },
  { "Gap", "How far at most from the best that there is for this limit" },
};

/* Older files tell only the sum. */
static gboolean
knows_parts (const GantryVariant *v)
{
  return gantry_memory_parts_total (&v->figures.parts) > 0;
}

/* What is not known, or nobody gets, comes after the worst that is. */
static double
value_of (const GantryVariant *v, Column column)
{
  if (!v->predicted)
    return INFINITY;
  if (!gantry_variant_fits (v) && (column == COLUMN_STEP || column == COLUMN_AGAIN))
    return INFINITY;
  switch (column)
    {
    case COLUMN_PEAK: return (double) v->figures.peak_bytes;
    case COLUMN_TEMP: return !knows_parts (v) ? INFINITY : (double) v->figures.parts.bytes[GANTRY_PART_TEMPORARIES];
    case COLUMN_STEP: return v->figures.step_us;
    case COLUMN_AGAIN: return v->figures.recompute_us / MAX (v->figures.step_us, 1e-9);
    case COLUMN_COPIED: return (double) v->figures.copied_bytes;
    case COLUMN_HOST: return (double) v->figures.host_bytes;
    case COLUMN_GAP: return v->gap < 0 ? INFINITY : v->gap;
    default: return 0;
    }
}

static char *
name_of (const GantryCompareRow *row)
{
  if (row->kind != GANTRY_POINT_NOW)
    return gantry_variant_shown_name (row->variant);
  return g_strdup (gantry_variant_is_approximate (row->variant) ? "as placed now (approximate)" : "as placed now");
}

static char *
text_of (const GantryCompareRow *row, Column column)
{
  const GantryVariant *v = row->variant;

  if (column == COLUMN_NAME)
    return name_of (row);
  if (!v->predicted)
    return g_strdup ("–");
  if (!gantry_variant_fits (v) && (column == COLUMN_STEP || column == COLUMN_AGAIN))
    return g_strdup (column == COLUMN_STEP ? GANTRY_DOES_NOT_FIT : "–");
  switch (column)
    {
    case COLUMN_PEAK: return gantry_memory_peak_text (v->figures.peak_bytes, v->limit, v->figures.sizes_known);
    case COLUMN_TEMP: return !knows_parts (v) ? g_strdup ("–") : gantry_format_bytes (v->figures.parts.bytes[GANTRY_PART_TEMPORARIES]);
    case COLUMN_STEP: return gantry_format_ns_finely ((gint64) (v->figures.step_us * 1000), row->digits);
    case COLUMN_AGAIN: return g_strdup_printf ("%.1f %%", 100 * value_of (v, COLUMN_AGAIN));
    case COLUMN_COPIED: return gantry_format_bytes (v->figures.copied_bytes);
    case COLUMN_HOST: return gantry_format_bytes (v->figures.host_bytes);
    case COLUMN_GAP: return v->gap < 0 ? g_strdup ("–") : g_strdup_printf ("%.1f %%", 100 * v->gap);
    default: return NULL;
    }
}

static void
setup (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  gboolean is_name = GPOINTER_TO_INT (data) == COLUMN_NAME;
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), is_name ? 0 : 1);
  gtk_label_set_ellipsize (GTK_LABEL (label), is_name ? PANGO_ELLIPSIZE_MIDDLE : PANGO_ELLIPSIZE_NONE);
  if (is_name)
    gtk_label_set_width_chars (GTK_LABEL (label), 14);
  else
    gtk_widget_add_css_class (label, "numeric");
  gtk_list_item_set_child (item, label);
}

static void
set_class (GtkWidget *widget, const char *name, gboolean has)
{
  if (has)
    gtk_widget_add_css_class (widget, name);
  else
    gtk_widget_remove_css_class (widget, name);
}

static void
bind (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  const GantryCompareRow *row = gtk_list_item_get_item (item);
  GtkWidget *label = gtk_list_item_get_child (item);
  g_autofree char *text = text_of (row, (Column) GPOINTER_TO_INT (data));

  gtk_label_set_text (GTK_LABEL (label), text);
  gtk_widget_set_tooltip_text (label, GPOINTER_TO_INT (data) == COLUMN_NAME ? text : row->current ? NULL : OF_BEFORE);
  set_class (label, "row-now", row->kind == GANTRY_POINT_NOW);
  set_class (label, "row-before", !row->current && GPOINTER_TO_INT (data) != COLUMN_NAME);
}

static int
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const GantryCompareRow *x = a, *y = b;
  Column column = (Column) GPOINTER_TO_INT (data);
  double p, q;

  if (column == COLUMN_NAME)
    {
      g_autofree char *of_x = name_of (x), *of_y = name_of (y);

      return g_utf8_collate (of_x, of_y); /* by what is read in the row */
    }
  p = value_of (x->variant, column);
  q = value_of (y->variant, column);
  return p < q ? GTK_ORDERING_SMALLER : p > q ? GTK_ORDERING_LARGER : GTK_ORDERING_EQUAL;
}

/* The titles stand in the first child of the table, in the order of the columns. GTK has no other way to them. */
static void
explain_columns (GtkWidget *view)
{
  GtkWidget *title = gtk_widget_get_first_child (gtk_widget_get_first_child (view));

  for (int i = 0; i < N_COLUMNS && title != NULL; i++, title = gtk_widget_get_next_sibling (title))
    {
      gtk_widget_set_tooltip_text (title, columns[i].tooltip);
      if (i != COLUMN_NAME && gtk_widget_get_first_child (title) != NULL) /* above their figures */
        gtk_widget_set_halign (gtk_widget_get_first_child (title), GTK_ALIGN_END);
    }
}

GtkWidget *
gantry_compare_table_new (GListModel *rows, GtkSelectionModel **selection)
{
  GtkWidget *view = gtk_column_view_new (NULL);
  GtkSortListModel *sorted;

  for (int i = 0; i < N_COLUMNS; i++)
    {
      GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
      GtkColumnViewColumn *column;
      GtkSorter *sorter = GTK_SORTER (gtk_custom_sorter_new (compare, GINT_TO_POINTER (i), NULL));

      g_signal_connect (factory, "setup", G_CALLBACK (setup), GINT_TO_POINTER (i));
      g_signal_connect (factory, "bind", G_CALLBACK (bind), GINT_TO_POINTER (i));
      column = gtk_column_view_column_new (columns[i].title, factory);
      gtk_column_view_column_set_sorter (column, sorter);
      gtk_column_view_column_set_expand (column, i == COLUMN_NAME);
      gtk_column_view_column_set_resizable (column, TRUE);
      gtk_column_view_append_column (GTK_COLUMN_VIEW (view), column);
      g_object_unref (sorter);
      g_object_unref (column);
    }
  explain_columns (view);
  sorted = gtk_sort_list_model_new (g_object_ref (rows), g_object_ref (gtk_column_view_get_sorter (GTK_COLUMN_VIEW (view))));
  *selection = GTK_SELECTION_MODEL (gtk_single_selection_new (G_LIST_MODEL (sorted)));
  gtk_single_selection_set_autoselect (GTK_SINGLE_SELECTION (*selection), FALSE);
  gtk_single_selection_set_can_unselect (GTK_SINGLE_SELECTION (*selection), TRUE);
  gtk_column_view_set_model (GTK_COLUMN_VIEW (view), *selection);
  gtk_widget_add_css_class (view, "data-table");
  gtk_accessible_update_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_LABEL, "Variants", -1);
  g_object_unref (*selection); /* the view keeps it */
  return view;
}
