/* SPDX-License-Identifier: Apache-2.0 */
/* Orders and allocators...: what each order of execution takes with each allocator, in one table; a row that is chosen is what the program
 * is planned with, as an edit. */
#include "app/gantry/dialog.h"
#include "app/gantry/window-private.h"
#include "views/format.h"

typedef struct
{
  gatomicrefcount ref_count; /* the dialog's and the comparison's */
  GantryDocument *document;
  GCancellable *cancellable;
  GtkWindow *dialog; /* (nullable): NULL when it was closed */
  GtkWidget *grid, *message;
} Orders;

static void
orders_unref (gpointer data)
{
  Orders *o = data;

  if (!g_atomic_ref_count_dec (&o->ref_count))
    return;
  g_object_unref (o->document);
  g_object_unref (o->cancellable);
  g_free (o);
}

static void
dialog_closed (Orders *o)
{
  o->dialog = NULL;
  g_cancellable_cancel (o->cancellable);
  orders_unref (o);
}

static void
row_chosen (GtkCheckButton *button, Orders *o)
{
  guint which = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "row"));

  if (gtk_check_button_get_active (button))
    gantry_document_set_allocation (o->document, (GantryOrderPolicy) (which / GANTRY_N_ALLOCATORS), (GantryAllocator) (which % GANTRY_N_ALLOCATORS));
}

static void
add_cell (Orders *o, int column, int row, const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), column < 2 ? 0 : 1);
  gtk_widget_add_css_class (label, class);
  gtk_grid_attach (GTK_GRID (o->grid), label, column, row, 1, 1);
}

static void
add_row (Orders *o, int at, const GantryAllocation *row, GtkCheckButton **group)
{
  static const char *const orders[GANTRY_N_ORDERS] = {
    [GANTRY_ORDER_BEST] = "Aware of memory",
    [GANTRY_ORDER_PROGRAM] = "As written",
    [GANTRY_ORDER_BREADTH] = "Breadth first",
    [GANTRY_ORDER_DEPTH] = "Reverse depth first",
  };
  static const char *const allocators[GANTRY_N_ALLOCATORS] = {
    [GANTRY_ALLOCATOR_EXACT] = "exact",
    [GANTRY_ALLOCATOR_BEST_FIT] = "best fit, largest first",
    [GANTRY_ALLOCATOR_BFC] = "pool (BFC)",
  };
  g_autofree char *peak = gantry_format_bytes (row->peak_bytes), *least = gantry_format_bytes (row->least_bytes);
  g_autofree char *over = g_strdup_printf ("%.2f %%", 100 * ((double) row->peak_bytes / (double) MAX (row->least_bytes, 1) - 1));
  g_autofree char *step = gantry_format_ns ((gint64) (row->step_us * 1000));
  g_autofree char *name = g_strdup_printf ("%s-%s", gantry_order_name (row->order), gantry_allocator_name (row->allocator));
  GtkWidget *button = gtk_check_button_new_with_label (orders[row->order]);

  gtk_widget_set_name (button, name);
  gtk_check_button_set_group (GTK_CHECK_BUTTON (button), *group);
  *group = GTK_CHECK_BUTTON (button);
  gtk_check_button_set_active (GTK_CHECK_BUTTON (button), row->is_chosen);
  g_object_set_data (G_OBJECT (button), "row", GUINT_TO_POINTER (row->order * GANTRY_N_ALLOCATORS + row->allocator));
  g_signal_connect (button, "toggled", G_CALLBACK (row_chosen), o);
  gtk_grid_attach (GTK_GRID (o->grid), button, 0, at, 1, 1);
  add_cell (o, 1, at, allocators[row->allocator], "cell");
  add_cell (o, 2, at, peak, "numeric");
  add_cell (o, 3, at, least, "numeric");
  add_cell (o, 4, at, over, "numeric");
  add_cell (o, 5, at, step, "numeric");
}

static void
compared (GObject *source, GAsyncResult *result, gpointer data)
{
  static const char *const headings[] = { "Order", "Allocator", "Peak", "Alive", "Over that", "Step" };
  Orders *o = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) rows = gantry_document_compare_allocations_finish (o->document, result, &error);
  GtkCheckButton *group = NULL;

  if (o->dialog != NULL && rows == NULL)
    gtk_label_set_text (GTK_LABEL (o->message), error->message);
  for (guint i = 0; o->dialog != NULL && rows != NULL && i < G_N_ELEMENTS (headings); i++)
    add_cell (o, (int) i, 0, headings[i], "heading");
  for (guint i = 0; o->dialog != NULL && rows != NULL && i < rows->len; i++)
    add_row (o, (int) i + 1, &g_array_index (rows, GantryAllocation, i), &group);
  if (o->dialog != NULL && rows != NULL)
    gtk_label_set_text (GTK_LABEL (o->message), "Predicted with the placements as they are, without a limit. \"Alive\" is the most that is alive at a step of "
                                                "the order: no packing takes less.");
  orders_unref (o);
}

void
_gantry_dialog_orders (GantryWindow *window)
{
  Orders *o = g_new0 (Orders, 1);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12), *scrolled = gtk_scrolled_window_new ();

  g_atomic_ref_count_init (&o->ref_count);
  o->document = g_object_ref (window->document);
  o->cancellable = g_cancellable_new ();
  o->grid = gtk_grid_new ();
  gtk_grid_set_column_spacing (GTK_GRID (o->grid), 18);
  gtk_grid_set_row_spacing (GTK_GRID (o->grid), 6);
  gtk_widget_set_name (o->grid, "rows");
  o->message = gtk_label_new ("Planning each…");
  gtk_widget_set_name (o->message, "message");
  gtk_label_set_wrap (GTK_LABEL (o->message), TRUE);
  gtk_label_set_xalign (GTK_LABEL (o->message), 0);
  gtk_widget_add_css_class (o->message, "dim-label");
  gtk_widget_set_margin_top (box, 12);
  gtk_widget_set_margin_bottom (box, 18);
  gtk_widget_set_margin_start (box, 18);
  gtk_widget_set_margin_end (box, 18);
  gtk_box_append (GTK_BOX (box), o->grid);
  gtk_box_append (GTK_BOX (box), o->message);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled), box);
  o->dialog = _gantry_dialog_new (window, "orders", "Orders and allocators", scrolled, NULL);
  gtk_window_set_default_size (o->dialog, 720, 580);
  g_signal_connect_swapped (o->dialog, "destroy", G_CALLBACK (dialog_closed), o);
  g_atomic_ref_count_inc (&o->ref_count);
  gantry_document_compare_allocations_async (o->document, o->cancellable, compared, o);
  gtk_window_present (o->dialog);
}
