/* SPDX-License-Identifier: Apache-2.0 */
/* The panel: which variants there are, where the front was found, and what its buttons do. */
#include "views/compare/compare-panel.h"
#include "core/base/format.h"
#include "views/compare/compare-row.h"
#include "views/compare/front-view.h"
#include "views/format.h"
#include "views/page-switch.h"

#define FRONT_POINTS 12
#define FRONT_SECONDS 12.0

struct _GantryComparePanel
{
  GtkBox parent_instance;
  GantryDocument *document;
  GListStore *rows; /* GantryCompareRow: now, variants, front */
  GArray *points;   /* guint: the row of each point of the scatter */
  GtkSelectionModel *selection;
  GtkColumnView *table;
  GantryScatterView *scatter;
  GtkStack *stack;
  GtkLabel *summary, *progress, *words;
  GtkEditable *name;
  GtkWidget *save, *find, *approximate, *load, *remove, *spinner, *stop;
  gboolean searching, tying;
};

static guint error_signal;

G_DEFINE_FINAL_TYPE (GantryComparePanel, gantry_compare_panel, GTK_TYPE_BOX)

static GantryCompareRow *selected_row (GantryComparePanel *self);
static void selection_changed (GantryComparePanel *self);

/* Rows */

static GantryCompareRow *
row_at (GantryComparePanel *self, guint position)
{
  g_autoptr (GantryCompareRow) row = g_list_model_get_item (G_LIST_MODEL (self->rows), position);

  return row; /* the store keeps it */
}

static void
add_row (GantryComparePanel *self, GantryVariant *variant, GantryPointKind kind)
{
  GantryVariant *figures = gantry_document_get_figures (self->document, variant);
  gboolean current = !figures->predicted || gantry_document_is_current (self->document, figures);
  g_autoptr (GantryCompareRow) row = gantry_compare_row_new (figures, kind, current);

  g_list_store_append (self->rows, row);
}

static void
show_points (GantryComparePanel *self)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->rows)), n_points = 0;
  g_autofree GantryScatterPoint *points = g_new0 (GantryScatterPoint, n + 1);
  const GantryCompileSettings *settings = gantry_document_get_settings (self->document);

  /* What has no figures, or figures of before, and what has no time is a row and no point. */
  g_array_set_size (self->points, 0);
  for (guint i = 0; i < n; i++)
    {
      const GantryCompareRow *row = row_at (self, i);

      if (!row->variant->predicted || !row->current || !gantry_variant_fits (row->variant))
        continue;
      points[n_points++] = (GantryScatterPoint){ row->variant->figures.peak_bytes, row->variant->figures.step_us, row->kind,
                                                 row->kind == GANTRY_POINT_NOW ? "now" : row->variant->name };
      g_array_append_val (self->points, i);
    }
  gantry_scatter_view_set (self->scatter, points, n_points, settings != NULL ? settings->target.memory_limit : 0);
}

/* The row of @kind and @name is selected again after the rows were made anew. */
static void
select_again (GantryComparePanel *self, GantryPointKind kind, const char *name)
{
  GListModel *sorted = G_LIST_MODEL (self->selection);

  gtk_single_selection_set_selected (GTK_SINGLE_SELECTION (self->selection), GTK_INVALID_LIST_POSITION);
  for (guint i = 0; name != NULL && i < g_list_model_get_n_items (sorted); i++)
    {
      g_autoptr (GantryCompareRow) row = g_list_model_get_item (sorted, i);

      if (row->kind == kind && g_strcmp0 (row->variant->name, name) == 0)
        gtk_selection_model_select_item (self->selection, i, TRUE);
    }
  selection_changed (self);
}

/* Whoever has found the front may have made variants of it: each is one row. */
static gboolean
is_variant (GPtrArray *variants, const GantryVariant *point)
{
  for (guint i = 0; variants != NULL && i < variants->len; i++)
    {
      const GantryVariant *variant = g_ptr_array_index (variants, i);

      if (g_strcmp0 (variant->name, point->name) == 0 && variant->limit == point->limit && variant->policy == NULL
          && gantry_choices_equal (variant->choices, point->choices))
        return TRUE;
    }
  return FALSE;
}

/* Where there is nothing to compare. */
static const char *
words_of (GantryComparePanel *self)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (self->document);

  return compilation != NULL && compilation->refusal != NULL
           ? "There is nothing to compare, because this program cannot be compiled. The bar above the graph says why."
           : "Ways to place a program are compared here, once one is planned: open a training step, or make one of a model (Ctrl+T).";
}

#define MOST_DIGITS 3u
#define TELLABLE 1e-4 /* of a time: less is no difference that anybody chooses by */

static int
compare_times (gconstpointer a, gconstpointer b)
{
  const double *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

/* Whether two times of @times, which are sorted, read alike and are not. */
static gboolean
reads_alike (const GArray *times, guint digits)
{
  for (guint i = 1; i < times->len; i++)
    {
      double before = g_array_index (times, double, i - 1), time = g_array_index (times, double, i);
      g_autofree char *first = gantry_format_ns_finely ((gint64) (before * 1000), digits);
      g_autofree char *second = gantry_format_ns_finely ((gint64) (time * 1000), digits);

      if (time - before > TELLABLE * time && strcmp (first, second) == 0)
        return TRUE;
    }
  return FALSE;
}

/* As many digits as tell the rows apart. */
static void
tell_times_apart (GantryComparePanel *self)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->rows)), digits = 0;
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint i = 0; i < n; i++)
    if (row_at (self, i)->variant->predicted && gantry_variant_fits (row_at (self, i)->variant))
      g_array_append_val (times, row_at (self, i)->variant->figures.step_us);
  g_array_sort (times, compare_times);
  while (digits < MOST_DIGITS && reads_alike (times, digits))
    digits++;
  for (guint i = 0; i < n; i++)
    row_at (self, i)->digits = digits;
  if (digits > 0)
    g_list_model_items_changed (G_LIST_MODEL (self->rows), 0, n, n);
}

/* (transfer full) */
static char *
summary_of (GantryComparePanel *self, guint n_variants, guint n_front)
{
  gboolean current = TRUE;

  if (n_front == 0 && n_variants == 0)
    return g_strdup ("Save variants to compare them, or let the solver find the front");
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->rows)); i++)
    current = current && row_at (self, i)->current;
  return g_strdup_printf ("%u variant%s, %u point%s of the front%s", n_variants, n_variants == 1 ? "" : "s", n_front, n_front == 1 ? "" : "s",
                          current ? "" : "; figures of before are pale");
}

/* Beside it what is searched for unasked, while nobody else searches. */
static void
show_progress (GantryComparePanel *self)
{
  g_autofree char *progress = gantry_front_progress_text (self->document);

  gtk_label_set_text (self->progress, progress != NULL ? progress : "");
  gtk_widget_set_visible (GTK_WIDGET (self->progress), progress != NULL);
  gtk_widget_set_visible (self->stop, progress != NULL);
}

static void
refill (GantryComparePanel *self)
{
  const GantryCompareRow *selected = selected_row (self);
  GantryPointKind kind = selected != NULL ? selected->kind : GANTRY_POINT_NOW;
  g_autofree char *name = selected != NULL ? g_strdup (selected->variant->name) : NULL;
  GPtrArray *variants = gantry_document_get_variants (self->document);
  GantryForecast *now = gantry_document_get_prediction (self->document);
  g_autofree char *summary = NULL;
  GPtrArray *front = gantry_document_get_front (self->document);
  guint n_front = 0;

  g_list_store_remove_all (self->rows);
  if (now != NULL)
    {
      g_autoptr (GantryVariant) current = gantry_document_make_variant (self->document, "now");

      add_row (self, current, GANTRY_POINT_NOW);
    }
  for (guint i = 0; variants != NULL && i < variants->len; i++)
    add_row (self, g_ptr_array_index (variants, i), GANTRY_POINT_VARIANT);
  for (guint i = 0; front != NULL && i < front->len; i++)
    if (!is_variant (variants, g_ptr_array_index (front, i)))
      {
        add_row (self, g_ptr_array_index (front, i), GANTRY_POINT_FRONT);
        n_front++;
      }
  tell_times_apart (self);
  show_points (self);
  select_again (self, kind, name);
  gtk_stack_set_visible_child_name (self->stack, now != NULL ? "table" : "words");
  gtk_label_set_text (self->words, words_of (self));
  summary = now != NULL ? summary_of (self, variants != NULL ? variants->len : 0, n_front) : g_strdup ("");
  gtk_label_set_text (self->summary, summary);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->summary), summary);
  gtk_widget_set_sensitive (self->save, now != NULL);
  gtk_widget_set_sensitive (self->find, now != NULL);
  if (gtk_widget_get_mapped (GTK_WIDGET (self))) /* of a large program that is work for seconds */
    gantry_document_predict_variants (self->document);
}

/* What is selected: in the table by sorted position, elsewhere by row. */

static GantryCompareRow *
selected_row (GantryComparePanel *self)
{
  return gtk_single_selection_get_selected_item (GTK_SINGLE_SELECTION (self->selection));
}

static guint
point_of_row (GantryComparePanel *self, guint row)
{
  for (guint i = 0; i < self->points->len; i++)
    if (g_array_index (self->points, guint, i) == row)
      return i;
  return G_MAXUINT;
}

static void
selection_changed (GantryComparePanel *self)
{
  const GantryCompareRow *row = selected_row (self);
  guint position = G_MAXUINT;

  gtk_widget_set_sensitive (self->load, row != NULL && row->kind != GANTRY_POINT_NOW);
  gtk_widget_set_sensitive (self->remove, row != NULL && row->kind == GANTRY_POINT_VARIANT);
  if (self->tying)
    return;
  if (row != NULL && !g_list_store_find (self->rows, (gpointer) row, &position))
    position = G_MAXUINT;
  gantry_scatter_view_select (self->scatter, point_of_row (self, position));
}

static void
point_selected (GantryScatterView *view, guint index, gpointer data)
{
  GantryComparePanel *self = data;
  GListModel *sorted = G_LIST_MODEL (self->selection);

  self->tying = TRUE;
  for (guint i = 0; i < g_list_model_get_n_items (sorted); i++)
    {
      g_autoptr (GantryCompareRow) row = g_list_model_get_item (sorted, i);

      if (index < self->points->len && row == row_at (self, g_array_index (self->points, guint, index)))
        gtk_selection_model_select_item (self->selection, i, TRUE);
    }
  self->tying = FALSE;
}

static void
load (GantryComparePanel *self, const GantryCompareRow *row)
{
  if (row != NULL && row->kind != GANTRY_POINT_NOW)
    gantry_document_load_variant (self->document, row->variant);
}

static void
point_activated (GantryScatterView *view, guint index, gpointer data)
{
  GantryComparePanel *self = data;

  if (index < self->points->len)
    load (self, row_at (self, g_array_index (self->points, guint, index)));
}

static void
row_activated (GtkColumnView *view, guint position, gpointer data)
{
  GantryComparePanel *self = data;
  g_autoptr (GantryCompareRow) row = g_list_model_get_item (G_LIST_MODEL (self->selection), position);

  load (self, row);
}

/* Buttons */

static void
load_clicked (GantryComparePanel *self)
{
  load (self, selected_row (self));
}

static void
remove_clicked (GantryComparePanel *self)
{
  const GantryCompareRow *row = selected_row (self);

  if (row != NULL && row->kind == GANTRY_POINT_VARIANT)
    gantry_document_delete_variant (self->document, row->variant->name);
}

static void
stop_clicked (GantryComparePanel *self)
{
  gantry_document_stop_front (self->document);
}

static char *
free_name (GantryComparePanel *self)
{
  GPtrArray *variants = gantry_document_get_variants (self->document);

  for (guint n = 1;; n++)
    {
      char *name = n <= 26 ? g_strdup_printf ("%c", 'A' + (int) n - 1) : g_strdup_printf ("variant %u", n);
      gboolean taken = FALSE;

      for (guint i = 0; variants != NULL && i < variants->len; i++)
        taken = taken || g_strcmp0 (((GantryVariant *) g_ptr_array_index (variants, i))->name, name) == 0;
      if (!taken)
        return name;
      g_free (name);
    }
}

void
gantry_compare_panel_save_variant (GantryComparePanel *self, const char *name)
{
  g_autofree char *own = name != NULL && *name != '\0' ? g_strdup (name) : free_name (self);
  g_autoptr (GantryVariant) variant = NULL;

  if (gantry_document_get_prediction (self->document) == NULL)
    return;
  variant = gantry_document_make_variant (self->document, own);
  gantry_document_add_variant (self->document, variant);
}

static void
save_clicked (GantryComparePanel *self)
{
  gantry_compare_panel_save_variant (self, gtk_editable_get_text (self->name));
  gtk_editable_set_text (self->name, "");
}

static void
set_searching (GantryComparePanel *self, gboolean searching)
{
  self->searching = searching;
  gtk_button_set_label (GTK_BUTTON (self->find), searching ? "Stop" : "Find front");
  gtk_widget_set_visible (self->spinner, searching);
  gtk_spinner_set_spinning (GTK_SPINNER (self->spinner), searching);
}

static void
front_found (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GantryComparePanel) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) front = gantry_document_front_finish (GANTRY_DOCUMENT (source), result, &error);

  set_searching (self, FALSE); /* the document has told of what was found */
  if (front == NULL && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_signal_emit (self, error_signal, 0, "The front could not be found", error);
}

void
gantry_compare_panel_find_front (GantryComparePanel *self, guint n_points, double seconds)
{
  if (self->searching)
    return;
  set_searching (self, TRUE);
  gantry_document_front_async (self->document, n_points,
                               gtk_check_button_get_active (GTK_CHECK_BUTTON (self->approximate)) ? GANTRY_EXACT_PLACEMENTS | GANTRY_APPROXIMATE_PLACEMENTS
                                                                                                  : GANTRY_EXACT_PLACEMENTS,
                               seconds, front_found, g_object_ref (self));
}

static void
find_clicked (GantryComparePanel *self)
{
  if (self->searching)
    gantry_document_cancel_solve (self->document);
  else
    gantry_compare_panel_find_front (self, FRONT_POINTS, FRONT_SECONDS);
}

/* Outside */

guint
gantry_compare_panel_n_rows (GantryComparePanel *self)
{
  return g_list_model_get_n_items (G_LIST_MODEL (self->rows));
}

GantryVariant *
gantry_compare_panel_get_row (GantryComparePanel *self, guint row)
{
  const GantryCompareRow *item = row < gantry_compare_panel_n_rows (self) ? row_at (self, row) : NULL;

  return item != NULL && item->kind != GANTRY_POINT_NOW ? item->variant : NULL;
}

void
gantry_compare_panel_load_row (GantryComparePanel *self, guint row)
{
  if (row < gantry_compare_panel_n_rows (self))
    load (self, row_at (self, row));
}

guint
gantry_compare_panel_get_selected (GantryComparePanel *self)
{
  const GantryCompareRow *row = selected_row (self);
  guint position;

  return row != NULL && g_list_store_find (self->rows, (gpointer) row, &position) ? position : G_MAXUINT;
}

gboolean
gantry_compare_panel_is_searching (GantryComparePanel *self)
{
  return self->searching;
}

GantryScatterView *
gantry_compare_panel_get_scatter (GantryComparePanel *self)
{
  return self->scatter;
}

/* The object */

static void
gantry_compare_panel_dispose (GObject *object)
{
  GantryComparePanel *self = GANTRY_COMPARE_PANEL (object);

  g_clear_pointer (&self->points, g_array_unref);
  g_clear_object (&self->rows);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (gantry_compare_panel_parent_class)->dispose (object);
}

static void
gantry_compare_panel_class_init (GantryComparePanelClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = gantry_compare_panel_dispose;
  error_signal = g_signal_new ("error", GANTRY_TYPE_COMPARE_PANEL, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2, G_TYPE_STRING, G_TYPE_ERROR);
}

static void
gantry_compare_panel_init (GantryComparePanel *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  self->rows = g_list_store_new (GANTRY_TYPE_COMPARE_ROW);
  self->points = g_array_new (FALSE, FALSE, sizeof (guint));
}

static GtkWidget *
button_new (GantryComparePanel *self, const char *label, const char *tooltip, void (*clicked) (GantryComparePanel *))
{
  GtkWidget *button = gtk_button_new_with_label (label);

  gtk_widget_set_tooltip_text (button, tooltip);
  gtk_widget_add_css_class (button, "flat");
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (clicked), self);
  return button;
}

static GtkWidget *
make_title (GantryComparePanel *self)
{
  GtkWidget *bar = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *pages = gantry_page_switch_new ();
  GtkWidget *entry = gtk_entry_new ();

  gtk_widget_add_css_class (bar, "pane-title");
  self->summary = GTK_LABEL (gtk_label_new (""));
  gtk_label_set_ellipsize (self->summary, PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (self->summary, 0);
  gtk_widget_set_hexpand (GTK_WIDGET (self->summary), TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->summary), "dim-label");
  self->name = GTK_EDITABLE (entry);
  gtk_entry_set_placeholder_text (GTK_ENTRY (entry), "Name");
  gtk_editable_set_width_chars (self->name, 12);
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_LABEL, "Name of the variant", -1);
  g_signal_connect_swapped (entry, "activate", G_CALLBACK (save_clicked), self);
  self->spinner = gtk_spinner_new ();
  gtk_widget_set_visible (self->spinner, FALSE);
  self->save = button_new (self, "Save variant", "Keep the placements as they are under this name", save_clicked);
  self->load = button_new (self, "Load", "Place everything as the selected row does", load_clicked);
  self->remove = button_new (self, "Delete", "Delete the selected variant", remove_clicked);
  self->find = button_new (self, "Find front", "Let the solver find the best step time for each amount of memory", find_clicked);
  self->progress = GTK_LABEL (gtk_label_new (""));
  gtk_label_set_ellipsize (self->progress, PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (GTK_WIDGET (self->progress), "dim-label");
  self->stop = button_new (self, "Stop", "Do not search for the front, until something is edited", stop_clicked);
  self->approximate = gtk_check_button_new_with_label ("Approximate");
  gtk_widget_set_name (self->approximate, "approximate");
  gtk_widget_set_tooltip_text (self->approximate, "Let it store residuals in bf16 or 8 bits, too: results are then approximate");
  gtk_widget_set_sensitive (self->load, FALSE);
  gtk_widget_set_sensitive (self->remove, FALSE);
  gtk_box_append (GTK_BOX (bar), pages);
  gtk_box_append (GTK_BOX (bar), GTK_WIDGET (self->summary));
  gtk_box_append (GTK_BOX (bar), GTK_WIDGET (self->progress));
  gtk_box_append (GTK_BOX (bar), self->stop);
  gtk_box_append (GTK_BOX (bar), entry);
  gtk_box_append (GTK_BOX (bar), self->save);
  gtk_box_append (GTK_BOX (bar), self->load);
  gtk_box_append (GTK_BOX (bar), self->remove);
  gtk_box_append (GTK_BOX (bar), self->spinner);
  gtk_box_append (GTK_BOX (bar), self->approximate);
  gtk_box_append (GTK_BOX (bar), self->find);
  gtk_box_append (GTK_BOX (bar), gantry_maximize_button_new ());
  return bar;
}

static GtkWidget *
make_body (GantryComparePanel *self)
{
  GtkWidget *paned = gtk_paned_new (GTK_ORIENTATION_HORIZONTAL), *scroller = gtk_scrolled_window_new ();

  self->table = GTK_COLUMN_VIEW (gantry_compare_table_new (G_LIST_MODEL (self->rows), &self->selection));
  self->scatter = GANTRY_SCATTER_VIEW (gantry_scatter_view_new ());
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), GTK_WIDGET (self->table));
  gtk_widget_set_size_request (scroller, 420, -1);
  gtk_paned_set_start_child (GTK_PANED (paned), scroller);
  gtk_paned_set_end_child (GTK_PANED (paned), GTK_WIDGET (self->scatter));
  gtk_paned_set_shrink_start_child (GTK_PANED (paned), FALSE);
  gtk_paned_set_shrink_end_child (GTK_PANED (paned), FALSE);
  gtk_widget_set_vexpand (paned, TRUE);
  g_signal_connect_object (self->selection, "selection-changed", G_CALLBACK (selection_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->table, "activate", G_CALLBACK (row_activated), self, 0);
  g_signal_connect_object (self->scatter, "selected", G_CALLBACK (point_selected), self, 0);
  g_signal_connect_object (self->scatter, "activated", G_CALLBACK (point_activated), self, 0);
  return paned;
}

GtkWidget *
gantry_compare_panel_new (GantryDocument *document)
{
  GantryComparePanel *self = g_object_new (GANTRY_TYPE_COMPARE_PANEL, NULL);
  GtkWidget *words = gtk_label_new ("");

  self->document = g_object_ref (document);
  self->words = GTK_LABEL (words);
  self->stack = GTK_STACK (gtk_stack_new ());
  gtk_label_set_wrap (GTK_LABEL (words), TRUE);
  gtk_label_set_max_width_chars (GTK_LABEL (words), 60);
  gtk_widget_add_css_class (words, "dim-label");
  gtk_box_append (GTK_BOX (self), make_title (self));
  gtk_box_append (GTK_BOX (self), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
  gtk_stack_add_named (self->stack, make_body (self), "table");
  gtk_stack_add_named (self->stack, words, "words");
  gtk_box_append (GTK_BOX (self), GTK_WIDGET (self->stack));
  g_signal_connect_object (document, "notify::variants", G_CALLBACK (refill), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::prediction", G_CALLBACK (refill), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::settings", G_CALLBACK (show_points), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::front-progress", G_CALLBACK (show_progress), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::front", G_CALLBACK (refill), self, G_CONNECT_SWAPPED);
  /* Points that were found for another program mean nothing. */
  g_signal_connect_object (document, "notify::compilation", G_CALLBACK (refill), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::plan-error", G_CALLBACK (refill), self, G_CONNECT_SWAPPED);
  g_signal_connect (self, "map", G_CALLBACK (refill), NULL);
  refill (self);
  show_progress (self);
  return GTK_WIDGET (self);
}
