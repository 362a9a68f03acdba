/* SPDX-License-Identifier: Apache-2.0 */
/* The bar above the graph when a program opens but cannot be compiled: which sizes are missing, which operations
 * are not supported (a click selects them), and the refusal in full. */
#include "app/gantry/window-private.h"
#include "views/format.h"
#include <string.h>

#define MOST_LISTED 12u

static GtkWidget *
text_new (const char *text)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  return label;
}

/* Sizes */

static void
bound (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GantryWindow) self = data;
  g_autoptr (GError) error = NULL;

  if (!gantry_document_open_finish (self->document, result, &error) &&
      !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    _gantry_window_tell (self, "The sizes do not fit", error);
  _gantry_window_update (self);
}

/* All sizes at once, so that a model with three dimensions is read again once. */
static void
bind_dims (GtkWidget *button, gpointer data)
{
  GantryWindow *self = data;
  const GantryModel *model = gantry_document_get_model (self->document);
  GtkWidget *flow = gtk_widget_get_ancestor (button, GTK_TYPE_FLOW_BOX);
  g_autofree GantryDimBinding *dims = NULL;
  GantryOpenOptions options = GANTRY_OPEN_OPTIONS_INIT;
  guint n = 0;

  if (model == NULL)
    return;
  dims = g_new0 (GantryDimBinding, model->n_dims + g_strv_length (model->unbound) + 1);
  for (guint i = 0; i < model->n_dims; i++)
    dims[n++] = (GantryDimBinding){ model->dim_names[i], model->dim_sizes[i] };
  for (int i = 0;; i++)
    {
      GtkFlowBoxChild *child = gtk_flow_box_get_child_at_index (GTK_FLOW_BOX (flow), i);
      GtkWidget *spin = child != NULL ? g_object_get_data (G_OBJECT (gtk_flow_box_child_get_child (child)), "spin") : NULL;

      if (child == NULL)
        break;
      if (spin != NULL && n < model->n_dims + g_strv_length (model->unbound))
        dims[n++] = (GantryDimBinding){ g_object_get_data (G_OBJECT (spin), "dim"),
                                        gtk_spin_button_get_value_as_int (GTK_SPIN_BUTTON (spin)) };
    }
  options.dims = dims;
  options.n_dims = n;
  options.settings = gantry_document_get_settings (self->document);
  options.random_weights = model->random_weights;
  gantry_document_open_async (self->document, model->path, &options, bound, g_object_ref (self));
}

static GtkWidget *
make_dim (const char *dim)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  GtkWidget *name = gtk_label_new (dim), *spin = gtk_spin_button_new_with_range (1, 1e9, 1);
  g_autofree char *label = g_strdup_printf ("Size of %s", dim);

  gtk_label_set_ellipsize (GTK_LABEL (name), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_width_chars (GTK_LABEL (name), (int) MIN (g_utf8_strlen (dim, -1), 24));
  gtk_widget_set_tooltip_text (name, dim);
  gtk_widget_add_css_class (name, "heading");
  gtk_editable_set_width_chars (GTK_EDITABLE (spin), 5);
  gtk_accessible_update_property (GTK_ACCESSIBLE (spin), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  g_object_set_data_full (G_OBJECT (spin), "dim", g_strdup (dim), g_free);
  g_object_set_data (G_OBJECT (box), "spin", spin);
  gtk_box_append (GTK_BOX (box), name);
  gtk_box_append (GTK_BOX (box), spin);
  return box;
}

static GtkWidget *
make_dims (GantryWindow *self, const GantryModel *model)
{
  GtkWidget *flow = gtk_flow_box_new (), *button = gtk_button_new_with_label ("Set");

  gtk_flow_box_set_selection_mode (GTK_FLOW_BOX (flow), GTK_SELECTION_NONE);
  gtk_flow_box_set_max_children_per_line (GTK_FLOW_BOX (flow), 12);
  gtk_flow_box_set_column_spacing (GTK_FLOW_BOX (flow), 12);
  gtk_widget_set_halign (flow, GTK_ALIGN_START);
  gtk_flow_box_append (GTK_FLOW_BOX (flow), gtk_label_new ("Sizes that the model leaves open:"));
  for (guint i = 0; model->unbound[i] != NULL; i++)
    gtk_flow_box_append (GTK_FLOW_BOX (flow), make_dim (model->unbound[i]));
  gtk_widget_add_css_class (button, "suggested-action");
  gtk_widget_set_name (button, "bind-dims");
  g_signal_connect (button, "clicked", G_CALLBACK (bind_dims), self);
  gtk_flow_box_append (GTK_FLOW_BOX (flow), button);
  return flow;
}

/* Operations */

static void
select_operation (GtkWidget *button, gpointer data)
{
  GantryWindow *self = data;
  const char *operation = g_object_get_data (G_OBJECT (button), "operation");
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  const GantryModule *module;

  if (compilation == NULL)
    return;
  module = compilation->snapshots[0].module;
  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const char *name = gantry_node_op_name (module, &module->nodes[i]);

      if (strcmp (name, operation) == 0 || (strrchr (name, '.') != NULL && strcmp (strrchr (name, '.') + 1, operation) == 0))
        g_array_append_val (ids, module->nodes[i].id);
    }
  if (ids->len == 0)
    return;
  gantry_pass_list_select (self->pass_list, 0);
  gantry_selection_set (self->selection, 0, (const guint32 *) (gpointer) ids->data, ids->len);
  gantry_graph_canvas_show_node (gantry_pass_view_get_after (self->pass_view), g_array_index (ids, guint32, 0), FALSE);
}

static GtkWidget *
make_operations (GantryWindow *self, const GantryModel *model)
{
  GtkWidget *flow = gtk_flow_box_new ();

  gtk_flow_box_set_selection_mode (GTK_FLOW_BOX (flow), GTK_SELECTION_NONE);
  gtk_flow_box_set_max_children_per_line (GTK_FLOW_BOX (flow), 8);
  gtk_widget_set_halign (flow, GTK_ALIGN_START);
  for (guint i = 0; i < model->n_unsupported && i < MOST_LISTED; i++)
    {
      const GantryModelRefusal *refusal = &model->unsupported[i];
      g_autofree char *text = refusal->count > 1 ? g_strdup_printf ("%s \303\227 %u", refusal->operation, refusal->count)
                                                 : g_strdup (refusal->operation);
      g_autofree char *why = g_strdup_printf ("%s\n%s\nClick to select", refusal->why, refusal->where);
      GtkWidget *button = gtk_button_new_with_label (text);

      g_object_set_data_full (G_OBJECT (button), "operation", g_strdup (refusal->operation), g_free);
      gtk_widget_set_tooltip_text (button, why);
      g_signal_connect (button, "clicked", G_CALLBACK (select_operation), self);
      gtk_flow_box_append (GTK_FLOW_BOX (flow), button);
    }
  return flow;
}

static void
show_refusal (GtkWidget *button, gpointer data)
{
  GantryWindow *self = data;
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);

  if (compilation != NULL && compilation->refusal != NULL)
    _gantry_window_tell (self, "Why the program cannot be compiled", compilation->refusal);
}

static GtkWidget *
make_refusal (GantryWindow *self, const GantryCompilation *compilation)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *label, *button = gtk_button_new_with_label ("Details");
  g_autofree char *first = g_strndup (compilation->refusal->message, strcspn (compilation->refusal->message, "\n"));
  g_autofree char *text = g_strdup_printf ("This program cannot be compiled: %s", first);

  label = text_new (text);
  gtk_label_set_lines (GTK_LABEL (label), 2);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  g_signal_connect (button, "clicked", G_CALLBACK (show_refusal), self);
  gtk_box_append (GTK_BOX (line), label);
  gtk_box_append (GTK_BOX (line), button);
  return line;
}

/* The plan does not fit under the limit: by how much, and what can be done. */

static GtkWidget *
make_plan_error (GantryWindow *self, const GError *error)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *label;
  g_autofree char *text = g_strdup_printf ("This does not fit and cannot be run: %s", error->message);
  GtkWidget *fit = gtk_button_new_with_label ("Fit…"), *no_limit = gtk_button_new_with_label ("Remove the limit");

  label = text_new (text);
  gtk_label_set_lines (GTK_LABEL (label), 4);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_set_tooltip_text (label, error->message);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_set_valign (fit, GTK_ALIGN_CENTER);
  gtk_widget_set_valign (no_limit, GTK_ALIGN_CENTER);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (fit), "win.solve");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (no_limit), "win.no-limit");
  gtk_widget_add_css_class (fit, "suggested-action");
  gtk_box_append (GTK_BOX (line), label);
  gtk_box_append (GTK_BOX (line), fit);
  gtk_box_append (GTK_BOX (line), no_limit);
  gtk_widget_add_css_class (line, "notice");
  return line;
}

void
_gantry_window_update_notice (GantryWindow *self)
{
  const GError *plan_error = gantry_document_get_plan_error (self->document);
  const GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  gboolean sizes, operations;
  GtkWidget *box;

  if (compilation == NULL || compilation->refusal == NULL)
    {
      adw_bin_set_child (self->notice_bin,
                         compilation != NULL && plan_error != NULL ? make_plan_error (self, plan_error) : NULL);
      return;
    }
  sizes = compilation->model->unbound != NULL && compilation->model->unbound[0] != NULL;
  operations = compilation->model->n_unsupported > 0;
  box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);
  gtk_widget_add_css_class (box, "notice");
  gtk_box_append (GTK_BOX (box), make_refusal (self, compilation));
  if (sizes)
    gtk_box_append (GTK_BOX (box), make_dims (self, compilation->model));
  if (operations)
    gtk_box_append (GTK_BOX (box), make_operations (self, compilation->model));
  adw_bin_set_child (self->notice_bin, box);
}
