/* SPDX-License-Identifier: Apache-2.0 */
/* The list beside the memory curve. */
#include "views/memory/alive-list.h"
#include "core/graph/node-text.h"
#include "core/plan/plan-alive.h"
#include "views/format.h"

/* More rows say nothing to anyone; the rest is summed in one. */
#define MOST_ROWS 100u

struct _GantryAliveList
{
  GtkBox parent_instance;
  GantrySelection *selection;
  GtkLabel *heading, *sum, *words;
  GtkListBox *list;
  GtkStack *stack;
  guint snapshot;
  guint count;
  guint64 bytes;
};

G_DEFINE_FINAL_TYPE (GantryAliveList, gantry_alive_list, GTK_TYPE_BOX)

static void
empty (GantryAliveList *self)
{
  GtkWidget *row;

  while ((row = gtk_widget_get_first_child (GTK_WIDGET (self->list))) != NULL)
    gtk_list_box_remove (self->list, row);
  self->count = 0;
  self->bytes = 0;
}

void
gantry_alive_list_clear (GantryAliveList *self, const char *words)
{
  empty (self);
  gtk_label_set_text (self->heading, "Alive");
  gtk_label_set_text (self->sum, "");
  gtk_label_set_text (self->words, words);
  gtk_stack_set_visible_child_name (self->stack, "words");
}

static GtkWidget *
line_new (const char *text, gboolean dim, gboolean end)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), end ? 1 : 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), end ? PANGO_ELLIPSIZE_NONE : PANGO_ELLIPSIZE_MIDDLE);
  if (!end) /* the end of a long name tells it from others, and so may what is in its middle: two lines before anything is left out */
    {
      gtk_label_set_wrap (GTK_LABEL (label), TRUE);
      gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
      gtk_label_set_lines (GTK_LABEL (label), 2);
      gtk_label_set_max_width_chars (GTK_LABEL (label), 24);
    }
  gtk_widget_set_hexpand (label, !end);
  gtk_widget_add_css_class (label, end ? "numeric" : "body");
  if (dim)
    {
      gtk_widget_add_css_class (label, "dim-label");
      gtk_widget_add_css_class (label, "caption");
    }
  return label;
}

static char *
until_text (const GantryModule *module, const GantryPlan *plan, const GantryPlanAlive *alive)
{
  g_autofree char *use = gantry_node_until_text (module, alive->until_node, plan->buffers[alive->buffer].category == GANTRY_BUFFER_INPUT);

  if (alive->until_node == 0)
    return g_strdup_printf ("until %s", use);
  return g_strdup_printf ("until %s, step %u%s", use, alive->until_step, alive->next != GANTRY_NO_BUFFER ? ", then written over in place" : "");
}

static const char *
category_text (const GantryPlanBuffer *buffer)
{
  switch ((GantryBufferCategory) buffer->category)
    {
    case GANTRY_BUFFER_INPUT: return buffer->instance == 0 ? "input " : "fetched "; /* by part that is temporary */
    case GANTRY_BUFFER_OUTPUT: return "output ";
    case GANTRY_BUFFER_WORKSPACE: return "workspace of ";
    default: return "";
    }
}

static GtkWidget *
make_row (const GantryModule *module, const GantryPlan *plan, const GantryPlanAlive *alive)
{
  const GantryPlanBuffer *buffer = &plan->buffers[alive->buffer];
  const GantryNode *node = gantry_module_node (module, buffer->node);
  g_autofree char *label = node != NULL ? gantry_node_label (module, node) : g_strdup ("?");
  g_autofree char *type = node != NULL ? gantry_context_type_text (module->context, node->type) : g_strdup ("");
  g_autofree char *bytes = gantry_format_bytes (alive->bytes), *until = until_text (module, plan, alive);
  g_autofree char *name = g_strdup_printf ("%s%s", category_text (buffer), label);
  g_autofree char *tooltip = g_strdup_printf ("%s%s %s\n%s", category_text (buffer), label, type, until);
  GtkWidget *row = gtk_list_box_row_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);

  gtk_box_append (GTK_BOX (line), line_new (name, FALSE, FALSE));
  gtk_box_append (GTK_BOX (line), line_new (bytes, FALSE, TRUE));
  gtk_box_append (GTK_BOX (box), line);
  gtk_box_append (GTK_BOX (box), line_new (until, TRUE, FALSE));
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  gtk_widget_set_tooltip_text (row, tooltip);
  g_object_set_data (G_OBJECT (row), "node", GUINT_TO_POINTER (buffer->node));
  return row;
}

/* A row that is no value: nothing happens at a click, and it takes no more room than its text. */
static void
append_fact (GantryAliveList *self, GtkWidget *line)
{
  GtkWidget *row = gtk_list_box_row_new ();

  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), line);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  gtk_widget_add_css_class (row, "fact-row");
  gtk_list_box_append (self->list, row);
}

static void
add_part (GantryAliveList *self, const char *name, guint64 bytes)
{
  g_autofree char *size = gantry_format_bytes (bytes);
  GtkWidget *line;

  if (bytes == 0)
    return;
  line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  gtk_box_append (GTK_BOX (line), line_new (name, TRUE, FALSE));
  gtk_box_append (GTK_BOX (line), line_new (size, TRUE, TRUE));
  append_fact (self, line);
}

/* All parts, with the values in them, by the names that a measurement has for them too: constants and code are there all the time, and
 * what the arena leaves free between places counts as temporaries. */
static void
add_parts (GantryAliveList *self, const GantryPlan *plan, guint32 step)
{
  GantryMemoryParts parts;

  gantry_plan_memory_parts_at (plan, step, &parts);
  append_fact (self, line_new ("Together, by part", FALSE, FALSE));
  for (guint i = 0; i < GANTRY_N_MEMORY_PARTS; i++)
    add_part (self, gantry_memory_part_name ((GantryMemoryPart) i), parts.bytes[i]);
  self->bytes = gantry_memory_parts_total (&parts);
}

void
gantry_alive_list_set (GantryAliveList *self, GantryCompilation *compilation, const GantryPlan *plan, guint32 step, guint64 limit, guint64 touched)
{
  const GantryModule *module = gantry_compilation_module (compilation);
  g_autoptr (GArray) alive = NULL;
  g_autofree char *bytes = NULL, *beside = NULL, *heading = NULL;

  g_return_if_fail (plan != NULL && step < plan->n_steps);
  empty (self);
  self->snapshot = compilation->n_snapshots - 1;
  alive = gantry_plan_alive_at (plan, step);
  self->count = alive->len;
  for (guint i = 0; i < alive->len; i++)
    {
      const GantryPlanAlive *entry = &g_array_index (alive, GantryPlanAlive, i);

      if (i < MOST_ROWS)
        gtk_list_box_append (self->list, make_row (module, plan, entry));
    }
  if (alive->len > MOST_ROWS)
    {
      g_autofree char *more = g_strdup_printf ("and %u smaller ones", alive->len - MOST_ROWS);

      append_fact (self, line_new (more, TRUE, FALSE));
    }
  add_parts (self, plan, step);
  if (step == plan->peak_step && touched > 0)
    gantry_memory_peak_texts (self->bytes, plan->sizes_known, touched, limit, &bytes, &beside);
  else
    bytes = gantry_memory_peak_text (self->bytes, limit, plan->sizes_known);
  heading = g_strdup_printf (step == plan->peak_step ? "Alive at peak" : "Alive at step %u", step);
  gtk_label_set_text (self->heading, heading);
  gtk_label_set_text (self->sum, bytes);
  gtk_label_set_text (self->words, "Nothing is alive in the arena at this moment.");
  gtk_stack_set_visible_child_name (self->stack, alive->len > 0 ? "list" : "words");
}

guint
gantry_alive_list_count (GantryAliveList *self)
{
  return self->count;
}

guint64
gantry_alive_list_bytes (GantryAliveList *self)
{
  return self->bytes;
}

static void
activated (GtkListBox *list, GtkListBoxRow *row, gpointer data)
{
  GantryAliveList *self = data;
  guint32 node = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (row), "node"));

  if (node != 0)
    gantry_selection_set (self->selection, self->snapshot, &node, 1);
}

static void
gantry_alive_list_dispose (GObject *object)
{
  g_clear_object (&GANTRY_ALIVE_LIST (object)->selection);
  G_OBJECT_CLASS (gantry_alive_list_parent_class)->dispose (object);
}

static void
gantry_alive_list_class_init (GantryAliveListClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = gantry_alive_list_dispose;
}

static void
gantry_alive_list_init (GantryAliveList *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new (), *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);

  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  self->heading = GTK_LABEL (gtk_label_new ("Alive"));
  gtk_label_set_xalign (self->heading, 0);
  gtk_label_set_ellipsize (self->heading, PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (GTK_WIDGET (self->heading), "heading");
  gtk_widget_set_hexpand (GTK_WIDGET (self->heading), TRUE);
  self->sum = GTK_LABEL (gtk_label_new (""));
  gtk_widget_add_css_class (GTK_WIDGET (self->sum), "numeric");
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->heading));
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->sum));
  gtk_widget_set_margin_start (line, 14);
  gtk_widget_set_margin_end (line, 14);
  gtk_widget_set_margin_top (line, 6);
  gtk_widget_set_margin_bottom (line, 2);
  self->words = GTK_LABEL (gtk_label_new (""));
  gtk_label_set_wrap (self->words, TRUE);
  gtk_label_set_justify (self->words, GTK_JUSTIFY_CENTER);
  gtk_label_set_max_width_chars (self->words, 28);
  gtk_widget_add_css_class (GTK_WIDGET (self->words), "dim-label");
  gtk_widget_set_margin_start (GTK_WIDGET (self->words), 12);
  gtk_widget_set_margin_end (GTK_WIDGET (self->words), 12);
  self->list = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_selection_mode (self->list, GTK_SELECTION_NONE);
  gtk_widget_add_css_class (GTK_WIDGET (self->list), "navigation-sidebar");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, "Values alive", -1);
  g_signal_connect (self->list, "row-activated", G_CALLBACK (activated), self);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), GTK_WIDGET (self->list));
  self->stack = GTK_STACK (gtk_stack_new ());
  gtk_stack_add_named (self->stack, scroller, "list");
  gtk_stack_add_named (self->stack, GTK_WIDGET (self->words), "words");
  gtk_widget_set_vexpand (GTK_WIDGET (self->stack), TRUE);
  gtk_box_append (GTK_BOX (self), line);
  gtk_box_append (GTK_BOX (self), GTK_WIDGET (self->stack));
  gtk_widget_set_size_request (GTK_WIDGET (self), 290, -1);
}

GtkWidget *
gantry_alive_list_new (GantrySelection *selection)
{
  GantryAliveList *self = g_object_new (GANTRY_TYPE_ALIVE_LIST, NULL);

  self->selection = g_object_ref (selection);
  return GTK_WIDGET (self);
}
