/* SPDX-License-Identifier: Apache-2.0 */
/* The bar above the graph when a program opens but cannot be compiled: which sizes are missing, which inputs could be
 * given a value, which operations are not supported (a click selects them), and the refusal in full. */
#include "app/gantry/window-private.h"
#include "core/base/asks.h"
#include "views/format.h"
#include "views/notice.h"
#include "views/scroll-fit.h"
#include "views/wrapped-label.h"
#include <string.h>

#define MOST_LISTED 12u
#define MOST_SET_ELEMENTS 16
#define LEAST_HEIGHT 96 /* of the bar */

/* Sizes and values: each widget of the bar that holds one carries the name of what it is for. */

/* What the bar says of it, into @bindings. Returns: whether it says anything */
static gboolean
read_field (GtkWidget *field, GantryBindings *bindings, GString *what, GError **error)
{
  const char *dim = g_object_get_data (G_OBJECT (field), "dim"), *input = g_object_get_data (G_OBJECT (field), "input");
  const char *text = input != NULL ? gtk_editable_get_text (GTK_EDITABLE (field)) : "";
  g_autofree char *value = NULL;

  if (input != NULL && *text != '\0')
    {
      value = gantry_input_value_read (text, bindings->read, error);
      if (value == NULL)
        return FALSE;
      gantry_bindings_set_input (bindings, input, value);
      g_string_append_printf (what, "%s%s = %s", what->len > 0 ? ", " : "", input, text);
    }
  if (dim != NULL)
    {
      gantry_bindings_set_dim (bindings, dim, gtk_spin_button_get_value_as_int (GTK_SPIN_BUTTON (field)));
      g_string_append_printf (what, "%s%s = %d", what->len > 0 ? ", " : "", dim, gtk_spin_button_get_value_as_int (GTK_SPIN_BUTTON (field)));
    }
  return TRUE;
}

/* All at once, so that a model with three dimensions is read again once, and one undo takes it back. */
static void
bind_fields (GtkWidget *widget, gpointer data)
{
  GantryWindow *self = data;
  GtkWidget *flow = gtk_widget_get_ancestor (widget, GTK_TYPE_FLOW_BOX);
  g_autoptr (GantryBindings) bindings = gantry_bindings_copy (gantry_document_get_bindings (self->document));
  g_autoptr (GString) what = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  GtkFlowBoxChild *child;

  for (int i = 0; (child = gtk_flow_box_get_child_at_index (GTK_FLOW_BOX (flow), i)) != NULL && error == NULL; i++)
    {
      GtkWidget *field = g_object_get_data (G_OBJECT (gtk_flow_box_child_get_child (child)), "field");

      if (field != NULL)
        read_field (field, bindings, what, &error);
    }
  if (error != NULL)
    _gantry_window_tell (self, "The value cannot be read", error);
  else if (gantry_document_get_model (self->document) != NULL)
    gantry_document_bind (self->document, bindings, what->str);
}

/* @name and beside it the field for it. */
static GtkWidget *
make_field (const char *name, GtkWidget *field, const char *label)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *title = gtk_label_new (name);

  gtk_label_set_ellipsize (GTK_LABEL (title), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_width_chars (GTK_LABEL (title), (int) MIN (g_utf8_strlen (name, -1), 24));
  gtk_widget_set_tooltip_text (title, name);
  gtk_widget_add_css_class (title, "heading");
  gtk_accessible_update_property (GTK_ACCESSIBLE (field), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  g_object_set_data (G_OBJECT (box), "field", field);
  gtk_widget_set_halign (box, GTK_ALIGN_START);
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), field);
  return box;
}

static GtkWidget *
make_dim (const char *dim)
{
  GtkWidget *spin = gtk_spin_button_new_with_range (1, 1e9, 1);
  g_autofree char *label = g_strdup_printf ("Size of %s", dim);

  gtk_editable_set_width_chars (GTK_EDITABLE (spin), 5);
  g_object_set_data_full (G_OBJECT (spin), "dim", g_strdup (dim), g_free);
  return make_field (dim, spin, label);
}

static GtkWidget *
make_value (GantryWindow *self, const char *input, const char *type)
{
  GtkWidget *entry = gtk_entry_new ();
  g_autofree char *label = g_strdup_printf ("Value of %s", input), *name = g_strconcat ("value-", input, NULL);

  gtk_editable_set_width_chars (GTK_EDITABLE (entry), 8);
  gtk_entry_set_placeholder_text (GTK_ENTRY (entry), type);
  gtk_widget_set_name (entry, name);
  gtk_widget_set_tooltip_text (entry, "A number, true, [1, 2], or @FILE (.pb, .npy)");
  g_object_set_data_full (G_OBJECT (entry), "input", g_strdup (input), g_free);
  g_signal_connect (entry, "activate", G_CALLBACK (bind_fields), self);
  return make_field (input, entry, label);
}

/* As wide as the bar: where it is as wide as it wants to be, GTK gives it the height of fewer lines than it makes. */
static GtkWidget *
flow_new (guint most_in_line)
{
  GtkWidget *flow = gtk_flow_box_new ();

  gtk_flow_box_set_selection_mode (GTK_FLOW_BOX (flow), GTK_SELECTION_NONE);
  gtk_flow_box_set_max_children_per_line (GTK_FLOW_BOX (flow), most_in_line);
  gtk_flow_box_set_column_spacing (GTK_FLOW_BOX (flow), 12);
  return flow;
}

static GtkWidget *
make_fields (GantryWindow *self, const char *title, const char *name)
{
  GtkWidget *flow = flow_new (12), *label = gtk_label_new (title);

  gtk_widget_set_name (flow, name);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_flow_box_append (GTK_FLOW_BOX (flow), label);
  return flow;
}

static void
add_button (GantryWindow *self, GtkWidget *flow, const char *name)
{
  GtkWidget *button = gtk_button_new_with_label ("Set");

  gtk_widget_add_css_class (button, "suggested-action");
  gtk_widget_set_name (button, name);
  gtk_widget_set_halign (button, GTK_ALIGN_START);
  g_signal_connect (button, "clicked", G_CALLBACK (bind_fields), self);
  gtk_flow_box_append (GTK_FLOW_BOX (flow), button);
}

static GtkWidget *
make_dims (GantryWindow *self, const GantryModel *model)
{
  GtkWidget *flow = make_fields (self, "Sizes that the model leaves open:", "open-dims");

  for (guint i = 0; model->unbound[i] != NULL; i++)
    gtk_flow_box_append (GTK_FLOW_BOX (flow), make_dim (model->unbound[i]));
  add_button (self, flow, "bind-dims");
  return flow;
}

/* Whether @refusal says that a value of the input @name would help. */
static gboolean
asks_for (const GError *refusal, const char *name)
{
  g_autofree char *quoted = g_strdup_printf ("'%s'", name);

  return strstr (refusal->message, quoted) != NULL;
}

/* Inputs of a few numbers, settings rather than data, that what was refused depends on. Returns: (nullable) */
static GtkWidget *
make_values (GantryWindow *self, const GantryModule *module, const GError *refusal)
{
  const GantryFunction *entry = gantry_module_entry (module);
  GtkWidget *flow = NULL;

  if (strstr (refusal->message, GANTRY_ASKS_VALUE) == NULL)
    return NULL;
  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      gint64 n = gantry_type_elements (gantry_node_type (module, node));
      g_autofree char *name = gantry_node_label (module, node), *type = NULL;

      if (n < 0 || n > MOST_SET_ELEMENTS || !asks_for (refusal, name))
        continue;
      type = gantry_context_type_text (module->context, node->type);
      if (flow == NULL)
        flow = make_fields (self, "Inputs that it depends on:", "open-values");
      gtk_flow_box_append (GTK_FLOW_BOX (flow), make_value (self, name, type));
    }
  if (flow != NULL)
    add_button (self, flow, "set-values");
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
  g_autofree char *suffix = g_strconcat (".", operation, NULL);
  const GantryModule *module;

  if (compilation == NULL)
    return;
  module = gantry_compilation_imported (compilation);
  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const char *name = gantry_node_op_name (module, &module->nodes[i]);

      if (strcmp (name, operation) == 0 || g_str_has_suffix (name, suffix)) /* "onnx.com.example.Frobnicate" */
        g_array_append_val (ids, module->nodes[i].id);
    }
  if (ids->len == 0)
    return;
  gantry_pass_list_select (self->pass_list, compilation->imported);
  gantry_selection_set (self->selection, compilation->imported, (const guint32 *) (gpointer) ids->data, ids->len);
  gantry_graph_canvas_show_node (gantry_pass_view_get_after (self->pass_view), g_array_index (ids, guint32, 0), FALSE);
}

/* What there is all the same, and what would help. */
static GtkWidget *
make_without (const GantryModel *model)
{
  GtkWidget *label = gantry_wrapped_label_new (NULL);
  g_autofree char *text = g_strconcat ("The graph as it was imported can be looked at, searched and exported as a picture; passes, plan and "
                                       "run need all of it. ",
                                       g_str_has_prefix (model->format, "ONNX")
                                         ? "An export to standard operations helps, or one that brings the operation along as a function "
                                           "of the model."
                                         : "An export to standard operations helps.",
                                       NULL);

  gtk_label_set_text (GTK_LABEL (label), text);
  gtk_widget_set_name (label, "without-operations");
  return label;
}

static GtkWidget *
make_operations (GantryWindow *self, const GantryModel *model)
{
  GtkWidget *flow = flow_new (8), *title = gtk_label_new ("Select what is not supported:");

  gtk_widget_set_name (flow, "operations");
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_flow_box_append (GTK_FLOW_BOX (flow), title);
  for (guint i = 0; i < model->n_unsupported && i < MOST_LISTED; i++)
    {
      const GantryModelRefusal *refusal = &model->unsupported[i];
      g_autofree char *text = refusal->count > 1 ? g_strdup_printf ("%s \303\227 %u", refusal->operation, refusal->count) : g_strdup (refusal->operation);
      g_autofree char *why = g_strdup_printf ("%s\n%s\nClick to select and show", refusal->why, refusal->where);
      GtkWidget *button = gtk_button_new_with_label (text);

      g_object_set_data_full (G_OBJECT (button), "operation", g_strdup (refusal->operation), g_free);
      gtk_widget_set_tooltip_text (button, why);
      gtk_widget_set_halign (button, GTK_ALIGN_START);
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
  GtkWidget *line, *button = gtk_button_new_with_label ("Details");
  g_autofree char *text = g_strdup_printf ("This program cannot be compiled: %s", compilation->refusal->message);

  line = gantry_notice_new (text);
  g_signal_connect (button, "clicked", G_CALLBACK (show_refusal), self);
  gantry_notice_add (GANTRY_NOTICE (line), button);
  return line;
}

/* The plan does not fit under the limit: by how much, and what can be done. */

static GtkWidget *
make_plan_error (GantryWindow *self, const GError *error)
{
  g_autofree char *text = g_strdup_printf ("This does not fit and cannot be run: %s", error->message);
  GtkWidget *line = gantry_notice_new (text);
  static const struct
  {
    const char *label, *action;
  } buttons[] = {
    { "Details", "win.problems" },
    { "Fit…", "win.solve" },
    { "Remove the limit", "win.no-limit" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (buttons); i++)
    {
      GtkWidget *button = gtk_button_new_with_label (buttons[i].label);

      gtk_actionable_set_action_name (GTK_ACTIONABLE (button), buttons[i].action);
      if (i == 1)
        gtk_widget_add_css_class (button, "suggested-action");
      gantry_notice_add (GANTRY_NOTICE (line), button);
    }
  gtk_widget_add_css_class (line, "notice");
  return line;
}

/* Placements of values that are gone. */

static void
forget_missing (GtkWidget *button, gpointer data)
{
  gantry_document_forget_missing (((GantryWindow *) data)->document);
}

static void
show_missing (GtkWidget *button, gpointer data)
{
  GantryWindow *self = data;
  GPtrArray *missing = gantry_document_get_missing (self->document);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < missing->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "\n" : "", (const char *) g_ptr_array_index (missing, i));
  error = g_error_new_literal (GANTRY_ERROR, GANTRY_ERROR_INVALID, text->str);
  _gantry_window_tell (self, "Placements that have no value", error);
}

/* (transfer floating) (nullable) */
static GtkWidget *
make_missing_notice (GantryWindow *self)
{
  g_autofree char *text = gantry_document_missing_text (self->document);
  GtkWidget *line, *details, *forget;

  if (text == NULL)
    return NULL;
  line = gantry_notice_new (text);
  details = gtk_button_new_with_label ("Details");
  forget = gtk_button_new_with_label ("Forget them");
  g_signal_connect (details, "clicked", G_CALLBACK (show_missing), self);
  g_signal_connect (forget, "clicked", G_CALLBACK (forget_missing), self);
  gantry_notice_add (GANTRY_NOTICE (line), details);
  gantry_notice_add (GANTRY_NOTICE (line), forget);
  gtk_widget_set_name (line, "missing-placements");
  gtk_widget_add_css_class (line, "notice");
  return line;
}

/* (transfer floating) (nullable): of the program as it was opened. */
static GtkWidget *
make_program_notice (GantryWindow *self)
{
  const GError *plan_error = gantry_document_get_plan_error (self->document);
  const GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  GtkWidget *box, *values;

  if (compilation == NULL || compilation->refusal == NULL)
    return compilation != NULL && plan_error != NULL ? make_plan_error (self, plan_error) : NULL;
  box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);
  gtk_widget_add_css_class (box, "notice");
  gtk_box_append (GTK_BOX (box), make_refusal (self, compilation));
  if (compilation->model->unbound != NULL && compilation->model->unbound[0] != NULL)
    gtk_box_append (GTK_BOX (box), make_dims (self, compilation->model));
  values = make_values (self, compilation->model->module, compilation->refusal);
  if (values != NULL)
    gtk_box_append (GTK_BOX (box), values);
  if (compilation->model->n_unsupported > 0)
    {
      gtk_box_append (GTK_BOX (box), make_operations (self, compilation->model));
      if (values == NULL) /* else they may be all that it takes */
        gtk_box_append (GTK_BOX (box), make_without (compilation->model));
    }
  return box;
}

/* A bar that goes takes the focus with it, and whatever comes next in the window would have it. */
static void
take_focus (GantryWindow *self)
{
  GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (self));

  if (focus != NULL && gtk_widget_is_ancestor (focus, GTK_WIDGET (self->notice_bin)))
    gtk_widget_grab_focus (GTK_WIDGET (gantry_pass_view_get_canvas (self->pass_view)));
}

void
_gantry_window_update_notice (GantryWindow *self)
{
  GtkWidget *lines[] = { self->changed != NULL ? _gantry_window_make_changed_notice (self) : NULL, make_missing_notice (self), make_program_notice (self) };
  GtkWidget *box = NULL;

  g_free (self->missing);
  self->missing = gantry_document_missing_text (self->document);
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    if (lines[i] != NULL)
      {
        box = box != NULL ? box : gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
        gtk_box_append (GTK_BOX (box), lines[i]);
      }
  take_focus (self);
  /* Graph and time keep their room in a low window. */
  adw_bin_set_child (self->notice_bin, box != NULL ? gantry_scroll_fit_new (box, LEAST_HEIGHT, G_MAXINT16) : NULL);
}

/* What is typed into the bar stays unless it has something else to say. */
void
_gantry_window_update_missing (GantryWindow *self)
{
  g_autofree char *missing = gantry_document_missing_text (self->document);

  if (g_strcmp0 (missing, self->missing) != 0)
    _gantry_window_update_notice (self);
}
