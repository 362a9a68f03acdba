/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the table on a worker thread, filters it, and ties its selection to that of all views. */
#include "views/kernels/kernels-panel.h"
#include "core/base/output.h"
#include "views/format.h"
#include "views/page-switch.h"
#include "views/shown-plan.h"
#include <math.h>
#include <string.h>

struct _GantryKernelsPanel
{
  GtkBox parent_instance;
  GantryDocument *document;
  GantrySelection *selection;
  GListStore *items; /* GantryKernelItem */
  GtkFilterListModel *filtered;
  GtkCustomFilter *filter;
  char **words; /* (nullable): folded */
  GtkSelectionModel *chosen;
  GtkWidget *view, *export;
  GtkScrolledWindow *scroller;
  guint idle, scroll_to;
  GtkStack *stack;
  GtkLabel *summary, *empty;
  GtkSearchEntry *entry;
  GantryKernelTable *table;       /* (nullable) */
  GantryRunResult *run;           /* (nullable): that the table is of, or is being made of */
  GantryCompilation *compilation; /* (nullable): likewise */
  guint generation;
  gboolean busy, tying;
};

enum
{
  EXPORT,
  SHOW,
  N_SIGNALS
};
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (GantryKernelsPanel, gantry_kernels_panel, GTK_TYPE_BOX)

/* The table */

typedef struct
{
  GantryRunResult *run;
  GantryCompilation *compilation;
  GantryRates rates;
  guint generation;
} Request;

static void
request_free (gpointer data)
{
  Request *request = data;

  gantry_run_result_unref (request->run);
  gantry_compilation_unref (request->compilation);
  g_free (request);
}

static void
make_table (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Request *request = data;

  g_task_return_pointer (
    task, gantry_kernel_table_new (request->run->recording, gantry_compilation_module (request->compilation), request->run->plan, &request->rates),
    (GDestroyNotify) gantry_kernel_table_free);
}

static void
show_words (GantryKernelsPanel *self, const char *words)
{
  gtk_label_set_text (self->empty, words);
  gtk_stack_set_visible_child_name (self->stack, "words");
  gtk_label_set_text (self->summary, "");
  gtk_widget_set_sensitive (self->export, FALSE);
}

/* Totals of what is seen, and of all where that is less. */
static void
show_summary (GantryKernelsPanel *self)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->filtered));
  double measured = 0, planned = 0, measured_of_planned = 0;
  guint64 events = 0;
  const gboolean then = gantry_shown_run_planned_then (self->document);
  const char *elsewhere = self->run != NULL ? gantry_run_result_planned_elsewhere (self->run) : NULL;
  g_autoptr (GHashTable) shown = g_hash_table_new (NULL, NULL);
  g_autofree char *of_measured = NULL, *of_planned = NULL, *of_run = NULL, *text = NULL, *ratio = NULL, *tooltip = NULL;

  if (self->table == NULL)
    return;
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GantryKernelItem) item = g_list_model_get_item (G_LIST_MODEL (self->filtered), i);

      g_hash_table_add (shown, GUINT_TO_POINTER (item->row.node));
    }
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GantryKernelItem) item = g_list_model_get_item (G_LIST_MODEL (self->filtered), i);

      if (item->row.control != 0 && g_hash_table_contains (shown, GUINT_TO_POINTER (item->row.control)))
        continue; /* the row that it is within has its time */
      measured += item->row.measured_us;
      events += item->row.n_events;
      if (item->row.planned_us < 0)
        continue;
      planned += item->row.planned_us;
      measured_of_planned += item->row.measured_us;
    }
  of_measured = gantry_format_ns ((gint64) round (measured * 1000));
  of_planned = gantry_format_ns ((gint64) round (planned * 1000));
  of_run = gantry_format_ns ((gint64) (self->run->milliseconds * 1e6)); /* as the status bar has it */
  if (planned > 0 && elsewhere != NULL)
    ratio = g_strdup_printf (", planned %s%s for %s, which is not what ran", then ? "then " : "", of_planned, elsewhere);
  else
    ratio = planned > 0 ? g_strdup_printf (", planned %s%s, ratio %.2f", then ? "then " : "", of_planned, measured_of_planned / planned) : g_strdup ("");
  text = g_strdup_printf ("%u%s row%s, %" G_GUINT64_FORMAT " executions in %u run%s; busy %s of %s%s", n, n < self->table->rows->len ? " matching" : "",
                          n == 1 ? "" : "s", events, self->table->n_runs, self->table->n_runs == 1 ? "" : "s", of_measured, of_run, ratio);
  gtk_label_set_text (self->summary, text);
  tooltip = g_strdup_printf ("%s\nBusy: what the rows take together, a run; %s is the time of the whole run, the median of %u", text, of_run,
                             self->run->n_runs);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->summary), tooltip);
}

/* What the run was planned for need not be what is planned now. */
static void
show_plan_of (GantryKernelsPanel *self)
{
  gantry_kernel_columns_planned_then (GTK_COLUMN_VIEW (self->view), gantry_shown_run_planned_then (self->document));
}

static void
fill (GantryKernelsPanel *self, const GantryModule *module)
{
  g_autoptr (GPtrArray) items = g_ptr_array_new_with_free_func (g_object_unref);
  gboolean scopes = FALSE, phases = FALSE, plans = FALSE, launches = FALSE;
  double largest = 0;

  for (guint i = 0; i < self->table->rows->len; i++)
    {
      const GantryKernelRow *row = &g_array_index (self->table->rows, GantryKernelRow, i);
      GantryKernelItem *item = gantry_kernel_item_new (row, self->run->recording, module);

      item->share = self->table->measured_us > 0 ? row->measured_us / self->table->measured_us : 0;
      if (row->planned_us >= 0)
        largest = MAX (largest, fabs (row->measured_us - row->planned_us));
      scopes = scopes || *item->scope != '\0';
      plans = plans || row->planned_us >= 0;
      phases = phases || *item->phase != '\0';
      launches = launches || (item->has_detail && item->detail.registers > 0);
      g_ptr_array_add (items, item);
    }
  gantry_kernel_columns_fit (GTK_COLUMN_VIEW (self->view), scopes, phases, plans, launches);
  for (guint i = 0; i < items->len && largest > 0; i++)
    {
      GantryKernelItem *item = g_ptr_array_index (items, i);

      if (item->row.planned_us >= 0)
        item->difference = (item->row.measured_us - item->row.planned_us) / largest;
    }
  self->tying = TRUE;
  g_list_store_splice (self->items, 0, g_list_model_get_n_items (G_LIST_MODEL (self->items)), items->pdata, items->len);
  self->tying = FALSE;
}

static void follow_selection (GantryKernelsPanel *self);

static void
table_made (GObject *source, GAsyncResult *result, gpointer data)
{
  GantryKernelsPanel *self = GANTRY_KERNELS_PANEL (source);
  const Request *request = g_task_get_task_data (G_TASK (result));
  GantryKernelTable *table = g_task_propagate_pointer (G_TASK (result), NULL);

  if (request->generation != self->generation)
    {
      gantry_kernel_table_free (table);
      return;
    }
  self->busy = FALSE;
  g_clear_pointer (&self->table, gantry_kernel_table_free);
  self->table = table;
  fill (self, gantry_compilation_module (request->compilation));
  show_plan_of (self);
  gtk_stack_set_visible_child_name (self->stack, "table");
  gtk_widget_set_sensitive (self->export, TRUE);
  if (table->rows->len == 0)
    show_words (self, "This run has neither kernels nor copies.");
  show_summary (self);
  follow_selection (self);
}

static void
forget (GantryKernelsPanel *self)
{
  self->generation++;
  self->busy = FALSE;
  g_clear_pointer (&self->table, gantry_kernel_table_free);
  g_clear_pointer (&self->run, gantry_run_result_unref);
  g_clear_pointer (&self->compilation, gantry_compilation_unref);
}

/* Why there is no table. */
static const char *
missing_words (GantryDocument *document, const GantryRunResult *run)
{
  if (gantry_document_get_compilation (document) == NULL)
    return "Open a model, a session or a recording.";
  if (run != gantry_document_get_run (document))
    return "The run chosen is of another program (other passes, sizes, or a step of training): none of its kernels is one of these.\n"
           "Run this program (F5), or choose a run of it on the page Time.";
  if (run != NULL)
    return "This run has no recording: how long its kernels took is not known.";
  if (gantry_document_get_runs (document)->len > 0)
    return "This program was not measured yet; the runs so far were of another one (other passes, sizes, or a step of training).\n"
           "Times of its kernels and copies stand here once it has run (F5).";
  return "Times of kernels and copies stand here once the program has run (F5).";
}

static void
document_changed (GantryKernelsPanel *self)
{
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  GantryRunResult *run = gantry_shown_run (self->document);
  const GantryCompileSettings *settings = gantry_document_get_settings (self->document);
  g_autoptr (GTask) task = NULL;
  Request *request;

  if (run == self->run && compilation == self->compilation && run != NULL)
    return;
  forget (self);
  self->tying = TRUE;
  g_list_store_remove_all (self->items);
  self->tying = FALSE;
  if (compilation == NULL || run == NULL || run->recording == NULL)
    {
      show_words (self, missing_words (self->document, run));
      return;
    }
  self->run = gantry_run_result_ref (run);
  self->compilation = gantry_compilation_ref (compilation);
  request = g_new0 (Request, 1);
  *request = (Request){ gantry_run_result_ref (run), gantry_compilation_ref (compilation), { 0 }, self->generation };
  if (settings != NULL)
    request->rates = (GantryRates){ settings->target.peak_flops, settings->target.memory_bandwidth, settings->target.link_bandwidth, { 0 } };
  if (settings != NULL)
    memcpy (request->rates.units, settings->target.rates, sizeof request->rates.units);
  self->busy = TRUE;
  task = g_task_new (self, NULL, table_made, NULL);
  g_task_set_task_data (task, request, request_free);
  g_task_run_in_thread (task, make_table);
}

/* What the run was planned for stays as it is; whether it is what is planned now may have changed. */
static void
plan_changed (GantryKernelsPanel *self)
{
  if (self->table == NULL)
    return;
  show_plan_of (self);
  show_summary (self);
}

/* The filter */

static gboolean
matches (gpointer object, gpointer data)
{
  const GantryKernelsPanel *self = data;
  const GantryKernelItem *item = object;

  for (guint i = 0; self->words != NULL && self->words[i] != NULL; i++)
    if (*self->words[i] != '\0' && strstr (item->words, self->words[i]) == NULL)
      return FALSE;
  return TRUE;
}

static void
search_changed (GantryKernelsPanel *self)
{
  g_autofree char *folded = g_utf8_casefold (gtk_editable_get_text (GTK_EDITABLE (self->entry)), -1);

  g_strfreev (self->words);
  self->words = g_strsplit (folded, " ", -1);
  self->tying = TRUE;
  gtk_filter_changed (GTK_FILTER (self->filter), GTK_FILTER_CHANGE_DIFFERENT);
  self->tying = FALSE;
  show_summary (self);
  follow_selection (self);
}

/* Selection */

static void
row_chosen (GantryKernelsPanel *self)
{
  const GantryKernelItem *item = gtk_single_selection_get_selected_item (GTK_SINGLE_SELECTION (self->chosen));

  if (self->tying || item == NULL || item->row.node == 0 || self->compilation == NULL)
    return;
  self->tying = TRUE;
  gantry_selection_set (self->selection, self->compilation->n_snapshots - 1, &item->row.node, 1);
  self->tying = FALSE;
}

/* GTK 4.8 cannot scroll a table to a row, and what its list does on request goes wrong before it has a size: rows are
 * equally high, so the place follows from the number. */
static gboolean
scroll (gpointer data)
{
  GantryKernelsPanel *self = data;
  GtkAdjustment *adjustment = gtk_scrolled_window_get_vadjustment (self->scroller);
  double n = gantry_kernels_panel_n_rows (self), upper = gtk_adjustment_get_upper (adjustment);
  double row = upper / MAX (n, 1), at = row * self->scroll_to, page = gtk_adjustment_get_page_size (adjustment);

  self->idle = 0;
  if (page > 0 && (at < gtk_adjustment_get_value (adjustment) || at + row > gtk_adjustment_get_value (adjustment) + page))
    gtk_adjustment_set_value (adjustment, CLAMP (at - page / 2, 0, MAX (upper - page, 0)));
  return G_SOURCE_REMOVE;
}

static void
queue_scroll (GantryKernelsPanel *self)
{
  if (self->idle == 0 && gtk_widget_get_mapped (GTK_WIDGET (self)))
    self->idle = g_idle_add_full (G_PRIORITY_LOW, scroll, self, NULL);
}

/* The row of the node that was selected elsewhere. */
static void
follow_selection (GantryKernelsPanel *self)
{
  GHashTable *here;
  guint found = GTK_INVALID_LIST_POSITION;

  if (self->tying || self->table == NULL || self->compilation == NULL || gantry_document_get_compilation (self->document) != self->compilation)
    return;
  here = gantry_selection_in (self->selection, self->compilation->n_snapshots - 1);
  for (guint i = 0; i < gantry_kernels_panel_n_rows (self) && found == GTK_INVALID_LIST_POSITION; i++)
    if (g_hash_table_contains (here, GUINT_TO_POINTER (gantry_kernels_panel_get_row (self, i)->row.node)))
      found = i;
  self->tying = TRUE;
  gtk_single_selection_set_selected (GTK_SINGLE_SELECTION (self->chosen), found);
  self->scroll_to = found;
  if (found != GTK_INVALID_LIST_POSITION)
    queue_scroll (self);
  self->tying = FALSE;
}

static void
row_activated (GtkColumnView *view, guint position, gpointer data)
{
  GantryKernelsPanel *self = data;
  const GantryKernelItem *item = gantry_kernels_panel_get_row (self, position);

  if (item != NULL && item->row.node != 0)
    g_signal_emit (self, signals[SHOW], 0, item->row.node);
}

/* Outside */

gboolean
gantry_kernels_panel_is_ready (GantryKernelsPanel *self)
{
  return !self->busy && gantry_shown_run (self->document) == self->run;
}

guint
gantry_kernels_panel_n_rows (GantryKernelsPanel *self)
{
  return g_list_model_get_n_items (G_LIST_MODEL (self->chosen));
}

GantryKernelItem *
gantry_kernels_panel_get_row (GantryKernelsPanel *self, guint row)
{
  g_autoptr (GantryKernelItem) item = g_list_model_get_item (G_LIST_MODEL (self->chosen), row);

  return item; /* the store keeps it */
}

void
gantry_kernels_panel_select_row (GantryKernelsPanel *self, guint row)
{
  gtk_single_selection_set_selected (GTK_SINGLE_SELECTION (self->chosen), row);
}

void
gantry_kernels_panel_set_filter (GantryKernelsPanel *self, const char *words)
{
  gtk_editable_set_text (GTK_EDITABLE (self->entry), words);
  search_changed (self); /* the entry waits a while */
}

const char *
gantry_kernels_panel_get_summary (GantryKernelsPanel *self)
{
  return gtk_label_get_text (self->summary);
}

gboolean
gantry_kernels_panel_write_csv (GantryKernelsPanel *self, GFile *file, GantryReadFiles *read, GError **error)
{
  g_autofree char *path = g_file_get_path (file);
  g_autoptr (GantryOutput) output = NULL;

  if (self->table == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "nothing was measured yet: there is no table");
      return FALSE;
    }
  if (path == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "that is no file of this machine: choose one that has a path");
      return FALSE;
    }
  output = gantry_output_new (path, read, error);
  return output != NULL
         && gantry_output_finish (output,
                                  gantry_kernel_table_write_csv (self->table, self->run->recording, gantry_compilation_module (self->compilation),
                                                                 gantry_output_stream (output), NULL, error),
                                  error);
}

/* The object */

static void
gantry_kernels_panel_dispose (GObject *object)
{
  GantryKernelsPanel *self = GANTRY_KERNELS_PANEL (object);

  forget (self);
  g_clear_handle_id (&self->idle, g_source_remove);
  self->tying = TRUE;
  g_clear_pointer (&self->words, g_strfreev);
  g_clear_object (&self->items);
  g_clear_object (&self->document);
  g_clear_object (&self->selection);
  G_OBJECT_CLASS (gantry_kernels_panel_parent_class)->dispose (object);
}

static void
gantry_kernels_panel_class_init (GantryKernelsPanelClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = gantry_kernels_panel_dispose;
  signals[EXPORT] = g_signal_new ("export", GANTRY_TYPE_KERNELS_PANEL, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[SHOW] = g_signal_new ("activated", GANTRY_TYPE_KERNELS_PANEL, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void
gantry_kernels_panel_init (GantryKernelsPanel *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  self->items = g_list_store_new (GANTRY_TYPE_KERNEL_ITEM);
}

static void
export_clicked (GantryKernelsPanel *self)
{
  g_signal_emit (self, signals[EXPORT], 0);
}

static GtkWidget *
make_title (GantryKernelsPanel *self)
{
  GtkWidget *bar = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);

  gtk_widget_add_css_class (bar, "pane-title");
  self->summary = GTK_LABEL (gtk_label_new (""));
  gtk_label_set_ellipsize (self->summary, PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (self->summary, 0);
  gtk_widget_set_hexpand (GTK_WIDGET (self->summary), TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->summary), "dim-label");
  gtk_widget_add_css_class (GTK_WIDGET (self->summary), "numeric");
  self->entry = GTK_SEARCH_ENTRY (gtk_search_entry_new ());
  gtk_editable_set_width_chars (GTK_EDITABLE (self->entry), 18);
  g_object_set (self->entry, "placeholder-text", "Name, scope, phase", NULL);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->entry), "Rows whose name, operation, scope or phase hold all of these words");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->entry), GTK_ACCESSIBLE_PROPERTY_LABEL, "Filter of kernels", -1);
  g_signal_connect_swapped (self->entry, "search-changed", G_CALLBACK (search_changed), self);
  self->export = gtk_button_new_with_label ("CSV…");
  gtk_widget_add_css_class (self->export, "flat");
  gtk_widget_set_tooltip_text (self->export, "Write all rows to a file");
  g_signal_connect_swapped (self->export, "clicked", G_CALLBACK (export_clicked), self);
  gtk_box_append (GTK_BOX (bar), gantry_page_switch_new ());
  gtk_box_append (GTK_BOX (bar), GTK_WIDGET (self->summary));
  gtk_box_append (GTK_BOX (bar), GTK_WIDGET (self->entry));
  gtk_box_append (GTK_BOX (bar), self->export);
  gtk_box_append (GTK_BOX (bar), gantry_maximize_button_new ());
  return bar;
}

static GtkWidget *
make_table_view (GantryKernelsPanel *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();

  self->filter = gtk_custom_filter_new (matches, self, NULL);
  self->filtered = gtk_filter_list_model_new (g_object_ref (G_LIST_MODEL (self->items)), GTK_FILTER (self->filter));
  self->view = gantry_kernel_columns_new (G_LIST_MODEL (self->filtered), &self->chosen);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), self->view);
  self->scroller = GTK_SCROLLED_WINDOW (scroller);
  self->scroll_to = GTK_INVALID_LIST_POSITION;
  gtk_widget_set_vexpand (scroller, TRUE);
  g_signal_connect_object (self->chosen, "selection-changed", G_CALLBACK (row_chosen), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->view, "activate", G_CALLBACK (row_activated), self, 0);
  g_object_unref (self->filtered); /* the view keeps it */
  return scroller;
}

GtkWidget *
gantry_kernels_panel_new (GantryDocument *document, GantrySelection *selection)
{
  GantryKernelsPanel *self = g_object_new (GANTRY_TYPE_KERNELS_PANEL, NULL);

  self->document = g_object_ref (document);
  self->selection = g_object_ref (selection);
  self->stack = GTK_STACK (gtk_stack_new ());
  self->empty = GTK_LABEL (gtk_label_new (""));
  gtk_label_set_wrap (self->empty, TRUE);
  gtk_label_set_max_width_chars (self->empty, 60);
  gtk_widget_add_css_class (GTK_WIDGET (self->empty), "dim-label");
  gtk_box_append (GTK_BOX (self), make_title (self));
  gtk_box_append (GTK_BOX (self), gtk_separator_new (GTK_ORIENTATION_HORIZONTAL));
  gtk_stack_add_named (self->stack, make_table_view (self), "table");
  gtk_stack_add_named (self->stack, GTK_WIDGET (self->empty), "words");
  gtk_box_append (GTK_BOX (self), GTK_WIDGET (self->stack));
  g_signal_connect_object (document, "notify::run", G_CALLBACK (document_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::compilation", G_CALLBACK (document_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::prediction", G_CALLBACK (plan_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notify::plan", G_CALLBACK (plan_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (selection, "changed", G_CALLBACK (follow_selection), self, G_CONNECT_SWAPPED);
  g_signal_connect (self, "map", G_CALLBACK (follow_selection), NULL);
  document_changed (self);
  return GTK_WIDGET (self);
}
