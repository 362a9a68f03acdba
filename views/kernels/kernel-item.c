/* SPDX-License-Identifier: Apache-2.0 */
/* What the columns of the table of kernels say, and how they sort. */
#include "views/kernels/kernel-item.h"
#include "core/graph/operation.h"
#include "views/format.h"
#include "views/kernels/difference-bar.h"
#include <math.h>

G_DEFINE_FINAL_TYPE (GantryKernelItem, gantry_kernel_item, G_TYPE_OBJECT)

static void
gantry_kernel_item_finalize (GObject *object)
{
  GantryKernelItem *self = GANTRY_KERNEL_ITEM (object);

  g_free (self->name);
  g_free (self->operation);
  g_free (self->scope);
  g_free (self->phase);
  g_free (self->words);
  G_OBJECT_CLASS (gantry_kernel_item_parent_class)->finalize (object);
}

static void
gantry_kernel_item_class_init (GantryKernelItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gantry_kernel_item_finalize;
}

static void
gantry_kernel_item_init (GantryKernelItem *self)
{
}

GantryKernelItem *
gantry_kernel_item_new (const GantryKernelRow *row, const GantryRecording *recording, const GantryModule *module)
{
  GantryKernelItem *self = g_object_new (GANTRY_TYPE_KERNEL_ITEM, NULL);
  const GantryNode *node = module != NULL && row->node != 0 ? gantry_module_node (module, row->node) : NULL;
  const GantryLaunchDetail *detail = gantry_recording_detail (recording, row->detail);
  g_autofree char *name = gantry_kernel_row_name (row, recording, module), *words = NULL;
  const char *scope = node != NULL ? gantry_context_scope_path (module->context, node->scope) : "";

  self->row = *row;
  self->has_detail = detail != NULL;
  if (detail != NULL)
    self->detail = *detail;
  /* A number alone tells nobody anything. */
  if (*name == '%' && node != NULL)
    {
      g_autofree char *number = g_steal_pointer (&name);

      name = g_strdup_printf ("%s %s", gantry_node_op_name (module, node), number);
    }
  self->name = row->kind == GANTRY_EVENT_COPY && row->lane < GANTRY_N_QUEUES && node != NULL
                 ? g_strdup_printf ("copy of %s%s", name,
                                    row->lane == GANTRY_QUEUE_TO_HOST     ? " to host"
                                    : row->lane == GANTRY_QUEUE_TO_DEVICE ? " to device"
                                                                          : "")
                 : g_strdup (*name != '\0' ? name : gantry_event_kind_name (row->kind));
  if (row->control != 0)
    {
      g_autofree char *own = g_steal_pointer (&self->name);

      self->name = g_strdup_printf ("%s, within %%%u", own, row->control);
    }
  self->operation = g_strdup (node != NULL ? gantry_node_op_name (module, node) : gantry_event_kind_name (row->kind));
  self->scope = g_strdup (scope != NULL ? scope : "");
  self->phase = g_strdup (node != NULL && gantry_module_is_training (module) ? gantry_phase_name (node->phase) : "");
  words = g_strdup_printf ("%s %s %s %s %s", self->name, self->operation, self->scope, self->phase, gantry_event_kind_name (row->kind));
  self->words = g_utf8_casefold (words, -1);
  return self;
}

/* Columns */

typedef enum
{
  COLUMN_NAME,
  COLUMN_SCOPE,
  COLUMN_PHASE,
  COLUMN_PLANNED,
  COLUMN_MEASURED,
  COLUMN_DIFFERENCE,
  COLUMN_BAR,
  COLUMN_RATIO,
  COLUMN_SHARE,
  COLUMN_COUNT,
  COLUMN_BYTES,
  COLUMN_ACHIEVED,
  COLUMN_REACHABLE,
  COLUMN_FLOPS,
  COLUMN_REGISTERS,
  COLUMN_LOCAL,
  COLUMN_SHARED,
  N_COLUMNS
} Column;

static const struct
{
  const char *title, *tooltip;
} columns[N_COLUMNS] = {
  { "Kernel or copy", "The node that it does the work of" },
  { "Scope", "Where in the model it comes from" },
  { "Phase", "Of the training step" },
  { "Planned", "Predicted time in a run, all executions together, by the plan that ran" },
  { "Measured", "Median over the runs, all executions of a run together" },
  { "Difference", "Measured less planned" },
  { "", "The difference beside the largest one: right is slower than planned, left is faster" },
  { "Ratio", "Measured by planned" },
  { "Share", "Part of the time of all rows that are not within others" },
  { "Times", "Launches in a run; a kernel may take several to be executed once" },
  { "Bytes", "Read and written in a run, or copied" },
  { "Achieved", "Bytes a second, as measured" },
  { "Roofline", "Bytes a second at most where all of them come from memory, at the rates of the target, or fewer where computing takes longer; "
                "none where it was faster, as what lies in a cache is" },
  { "FLOP/s", "Operations a second, as measured" },
  { "Registers", "Of a thread" },
  { "Local", "Bytes of local memory of a thread: spilled registers and stack" },
  { "Shared", "Bytes of shared memory of a block" },
};

static double
known (double value, gboolean is_known)
{
  return is_known ? value : -INFINITY;
}

/* What is not known sorts as the smallest. */
static double
value_of (const GantryKernelItem *item, Column column)
{
  const GantryKernelRow *row = &item->row;
  gboolean planned = row->planned_us >= 0, launched = item->has_detail && item->detail.registers > 0;

  switch (column)
    {
    case COLUMN_PLANNED: return known (row->planned_us, planned);
    case COLUMN_MEASURED: return row->measured_us;
    case COLUMN_DIFFERENCE:
    case COLUMN_BAR: return known (row->measured_us - row->planned_us, planned);
    case COLUMN_RATIO: return known (row->measured_us / row->planned_us, row->planned_us > 0);
    case COLUMN_SHARE: return item->share;
    case COLUMN_COUNT: return row->count;
    case COLUMN_BYTES: return known ((double) row->bytes, row->bytes > 0);
    case COLUMN_ACHIEVED: return known (gantry_kernel_row_achieved (row), gantry_kernel_row_achieved (row) > 0);
    case COLUMN_REACHABLE: return known (row->reachable, row->reachable > 0);
    case COLUMN_FLOPS: return known ((double) row->flops / row->measured_us * 1e6, row->flops > 0 && row->measured_us > 0);
    case COLUMN_REGISTERS: return known (item->detail.registers, launched);
    case COLUMN_LOCAL: return known (item->detail.local_bytes, launched);
    case COLUMN_SHARED: return known ((double) item->detail.static_shared + item->detail.dynamic_shared, launched);
    default: return 0;
    }
}

static char *
rate_text (double per_second, const char *unit)
{
  static const char *const prefixes[] = { "", "k", "M", "G", "T", "P" };
  guint i = 0;

  while (per_second >= 1000 && i + 1 < G_N_ELEMENTS (prefixes))
    {
      per_second /= 1000;
      i++;
    }
  return g_strdup_printf ("%.3g %s%s", per_second, prefixes[i], unit);
}

static char *
text_of (const GantryKernelItem *item, Column column)
{
  double value = value_of (item, column);

  if (column == COLUMN_NAME)
    return g_strdup (item->name);
  if (column == COLUMN_SCOPE)
    return g_strdup (item->scope);
  if (column == COLUMN_PHASE)
    return g_strdup (item->phase);
  if (column == COLUMN_BAR)
    return g_strdup ("");
  if (!isfinite (value))
    return g_strdup ("–");
  switch (column)
    {
    case COLUMN_PLANNED:
    case COLUMN_MEASURED: return gantry_format_ns ((gint64) round (value * 1000));
    case COLUMN_DIFFERENCE:
      {
        g_autofree char *time = gantry_format_ns ((gint64) round (fabs (value) * 1000));

        return g_strdup_printf ("%s%s", value < 0 ? "−" : "+", time);
      }
    case COLUMN_RATIO: return g_strdup_printf (value < 10 ? "%.2f" : "%.0f", value);
    case COLUMN_SHARE: return g_strdup_printf ("%.1f %%", 100 * value);
    case COLUMN_COUNT: return g_strdup_printf (value == floor (value) ? "%.0f" : "%.1f", value);
    case COLUMN_BYTES: return gantry_format_bytes ((guint64) value);
    case COLUMN_ACHIEVED:
    case COLUMN_REACHABLE: return rate_text (value, "B/s");
    case COLUMN_FLOPS: return rate_text (value, "");
    case COLUMN_REGISTERS: return g_strdup_printf ("%.0f", value);
    default: return gantry_format_bytes ((guint64) value);
    }
}

static void
setup (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  Column column = (Column) GPOINTER_TO_INT (data);
  gboolean words = column <= COLUMN_PHASE;
  GtkWidget *label;

  if (column == COLUMN_BAR)
    {
      gtk_list_item_set_child (item, gantry_difference_bar_new ());
      return;
    }
  label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (label), words ? 0 : 1);
  if (words)
    gtk_label_set_ellipsize (GTK_LABEL (label), column == COLUMN_SCOPE ? PANGO_ELLIPSIZE_START : PANGO_ELLIPSIZE_MIDDLE);
  else
    gtk_widget_add_css_class (label, "numeric");
  if (column == COLUMN_NAME)
    gtk_label_set_width_chars (GTK_LABEL (label), 22);
  else if (column == COLUMN_SCOPE)
    gtk_label_set_width_chars (GTK_LABEL (label), 18);
  gtk_list_item_set_child (item, label);
}

static void
bind (GtkSignalListItemFactory *factory, GtkListItem *list_item, gpointer data)
{
  const GantryKernelItem *item = gtk_list_item_get_item (list_item);
  GtkWidget *child = gtk_list_item_get_child (list_item);
  Column column = (Column) GPOINTER_TO_INT (data);
  g_autofree char *text = text_of (item, column), *place = NULL;

  if (column == COLUMN_BAR)
    {
      gantry_difference_bar_set (GANTRY_DIFFERENCE_BAR (child), item->difference);
      return;
    }
  gtk_label_set_text (GTK_LABEL (child), text);
  if (column <= COLUMN_SCOPE)
    place = g_strdup_printf ("%s\n%s%s%s", item->name, item->operation, *item->scope != '\0' ? " in " : "", item->scope);
  gtk_widget_set_tooltip_text (child, place);
}

static int
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const GantryKernelItem *x = a, *y = b;
  Column column = (Column) GPOINTER_TO_INT (data);
  double p, q;

  if (column == COLUMN_NAME)
    return g_utf8_collate (x->name, y->name);
  if (column == COLUMN_SCOPE)
    return g_strcmp0 (x->scope, y->scope);
  if (column == COLUMN_PHASE)
    return g_strcmp0 (x->phase, y->phase);
  p = value_of (x, column);
  q = value_of (y, column);
  return p < q ? GTK_ORDERING_SMALLER : p > q ? GTK_ORDERING_LARGER : GTK_ORDERING_EQUAL;
}

/* The titles stand in the first child of the table, in the order of the columns. GTK has no other way to them. */
static void
explain_columns (GtkWidget *view)
{
  GtkWidget *title = gtk_widget_get_first_child (gtk_widget_get_first_child (view));

  for (int i = 0; i < N_COLUMNS && title != NULL; i++, title = gtk_widget_get_next_sibling (title))
    gtk_widget_set_tooltip_text (title, columns[i].tooltip);
}

static void
add_column (GtkColumnView *view, int i)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_autoptr (GtkSorter) sorter = GTK_SORTER (gtk_custom_sorter_new (compare, GINT_TO_POINTER (i), NULL));
  g_autoptr (GtkColumnViewColumn) column = NULL;

  g_signal_connect (factory, "setup", G_CALLBACK (setup), GINT_TO_POINTER (i));
  g_signal_connect (factory, "bind", G_CALLBACK (bind), GINT_TO_POINTER (i));
  column = gtk_column_view_column_new (columns[i].title, factory);
  gtk_column_view_column_set_sorter (column, sorter);
  gtk_column_view_column_set_expand (column, i <= COLUMN_SCOPE);
  gtk_column_view_column_set_resizable (column, TRUE);
  gtk_column_view_append_column (view, column);
  if (i == COLUMN_MEASURED)
    gtk_column_view_sort_by_column (view, column, GTK_SORT_DESCENDING);
}

/* Columns that no row says anything in are left out. */
void
gantry_kernel_columns_fit (GtkColumnView *view, gboolean scopes, gboolean phases, gboolean plans, gboolean launches)
{
  GListModel *all = gtk_column_view_get_columns (view);

  for (guint i = 0; i < g_list_model_get_n_items (all); i++)
    {
      g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (all, i);

      if (i == COLUMN_SCOPE)
        gtk_column_view_column_set_visible (column, scopes);
      else if (i == COLUMN_PHASE)
        gtk_column_view_column_set_visible (column, phases);
      else if (i == COLUMN_PLANNED || (i >= COLUMN_DIFFERENCE && i <= COLUMN_RATIO) || i == COLUMN_REACHABLE || i == COLUMN_FLOPS)
        gtk_column_view_column_set_visible (column, plans);
      else if (i >= COLUMN_REGISTERS)
        gtk_column_view_column_set_visible (column, launches);
    }
}

void
gantry_kernel_columns_planned_then (GtkColumnView *view, gboolean then)
{
  g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (gtk_column_view_get_columns (view), COLUMN_PLANNED);

  gtk_column_view_column_set_title (column, then ? "Planned then" : columns[COLUMN_PLANNED].title);
}

GtkWidget *
gantry_kernel_columns_new (GListModel *items, GtkSelectionModel **selection)
{
  GtkWidget *view = gtk_column_view_new (NULL);
  GtkSortListModel *sorted;

  for (int i = 0; i < N_COLUMNS; i++)
    add_column (GTK_COLUMN_VIEW (view), i);
  explain_columns (view);
  sorted = gtk_sort_list_model_new (g_object_ref (items), g_object_ref (gtk_column_view_get_sorter (GTK_COLUMN_VIEW (view))));
  *selection = GTK_SELECTION_MODEL (gtk_single_selection_new (G_LIST_MODEL (sorted)));
  gtk_single_selection_set_autoselect (GTK_SINGLE_SELECTION (*selection), FALSE);
  gtk_single_selection_set_can_unselect (GTK_SINGLE_SELECTION (*selection), TRUE);
  gtk_column_view_set_model (GTK_COLUMN_VIEW (view), *selection);
  gtk_widget_add_css_class (view, "data-table");
  gtk_accessible_update_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_LABEL, "Kernels and copies", -1);
  g_object_unref (*selection); /* the view keeps it */
  return view;
}
