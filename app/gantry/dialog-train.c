/* SPDX-License-Identifier: Apache-2.0 */
/* Train...: which training step is made of the program. What it asks for is GantryTrainingOptions; what of it makes no
 * sense for the chosen optimizer is not shown. */
#include "app/gantry/dialog.h"
#include "app/gantry/window-private.h"
#include <string.h>

typedef struct
{
  GantryWindow *window;
  GtkWindow *dialog;
  GtkWidget *on, *loss, *output, *optimizer, *parameters;
  GtkWidget *rate, *momentum, *beta1, *beta2, *epsilon, *decay, *clip, *l2, *microbatches;
} Train;

static const char *const losses[] = { "The result itself", "Mean squared error", "Softmax cross-entropy" };
static const char *const optimizers[] = { "None: gradients only", "SGD", "Momentum", "Adam", "AdamW" };

static GtkWidget *
combo_new (const char *title, const char *name, const char *const *choices, guint chosen)
{
  GtkWidget *row = adw_combo_row_new ();
  g_autoptr (GtkStringList) list = gtk_string_list_new (choices);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_combo_row_set_model (ADW_COMBO_ROW (row), G_LIST_MODEL (list));
  adw_combo_row_set_selected (ADW_COMBO_ROW (row), chosen);
  gtk_widget_set_name (row, name);
  return row;
}

/* The results of the program as it was imported. (transfer full) */
static char **
result_names (GantryWindow *window)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (window->document);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  if (compilation != NULL)
    {
      const GantryModule *module = gantry_compilation_imported (compilation);
      const GantryFunction *entry = gantry_module_entry (module);

      for (guint i = 0; i < entry->n_results; i++)
        {
          const GantryNode *node = gantry_module_node (module, gantry_function_result_id (module, entry, i));
          const char *name = node != NULL ? gantry_context_string (module->context, node->name) : "";
          g_autofree char *type = node != NULL ? gantry_context_type_text (module->context, node->type) : NULL;

          g_ptr_array_add (names, g_strdup_printf ("%u: %s%s%s", i, name, *name != '\0' ? "  " : "", type != NULL ? type : ""));
        }
    }
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&names), FALSE);
}

static void
show_rows (Train *t)
{
  gboolean on = gtk_switch_get_active (GTK_SWITCH (t->on));
  guint optimizer = adw_combo_row_get_selected (ADW_COMBO_ROW (t->optimizer));
  gboolean adam = optimizer == GANTRY_OPTIMIZER_ADAM || optimizer == GANTRY_OPTIMIZER_ADAMW;
  GtkWidget *const all[] = { t->loss,  t->output,  t->optimizer, t->parameters, t->rate, t->momentum,    t->beta1,
                             t->beta2, t->epsilon, t->decay,     t->clip,       t->l2,   t->microbatches };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    gtk_widget_set_sensitive (all[i], on);
  gtk_widget_set_visible (t->rate, optimizer != GANTRY_OPTIMIZER_NONE);
  gtk_widget_set_visible (t->clip, optimizer != GANTRY_OPTIMIZER_NONE);
  gtk_widget_set_visible (t->momentum, optimizer == GANTRY_OPTIMIZER_MOMENTUM);
  gtk_widget_set_visible (t->beta1, adam);
  gtk_widget_set_visible (t->beta2, adam);
  gtk_widget_set_visible (t->epsilon, adam);
  gtk_widget_set_visible (t->decay, optimizer == GANTRY_OPTIMIZER_ADAMW);
}

static gboolean
read_microbatches (Train *t, GantryTrainingOptions *training)
{
  double n = 1;
  gboolean ok = _gantry_dialog_read_number (t->microbatches, 1, &n) && n <= GANTRY_TRAINING_MOST_MICROBATCHES && n == (double) (guint) n;

  training->microbatches = ok ? (guint) n : 1;
  if (ok)
    gtk_widget_remove_css_class (t->microbatches, "error");
  else
    gtk_widget_add_css_class (t->microbatches, "error");
  return ok;
}

/* FALSE, and what is wrong is marked. @training: initialized */
static gboolean
read_options (Train *t, GantryTrainingOptions *training)
{
  g_autofree char *names = g_strdelimit (g_strdup (gtk_editable_get_text (GTK_EDITABLE (t->parameters))), ",;\t", ' ');
  g_auto (GStrv) words = g_strsplit (names, " ", -1);
  g_autoptr (GPtrArray) globs = g_ptr_array_new ();
  gboolean ok = TRUE;

  training->loss = (GantryLoss) adw_combo_row_get_selected (ADW_COMBO_ROW (t->loss));
  training->optimizer = (GantryOptimizer) adw_combo_row_get_selected (ADW_COMBO_ROW (t->optimizer));
  training->output = adw_combo_row_get_selected (ADW_COMBO_ROW (t->output));
  if (training->output == GTK_INVALID_LIST_POSITION)
    training->output = 0;
  ok &= _gantry_dialog_read_number (t->rate, 0, &training->learning_rate);
  ok &= _gantry_dialog_read_number (t->momentum, 0, &training->momentum);
  ok &= _gantry_dialog_read_number (t->beta1, 0, &training->beta1);
  ok &= _gantry_dialog_read_number (t->beta2, 0, &training->beta2);
  ok &= _gantry_dialog_read_number (t->epsilon, 0, &training->epsilon);
  ok &= _gantry_dialog_read_number (t->decay, 0, &training->weight_decay);
  ok &= _gantry_dialog_read_number (t->clip, 0, &training->clip_norm);
  ok &= _gantry_dialog_read_number (t->l2, 0, &training->l2);
  ok &= read_microbatches (t, training);
  for (guint i = 0; words[i] != NULL; i++)
    if (*words[i] != '\0')
      g_ptr_array_add (globs, words[i]);
  g_strfreev (training->with_respect_to);
  training->with_respect_to = NULL;
  if (globs->len > 0 && !(globs->len == 1 && strcmp (globs->pdata[0], "*") == 0))
    {
      g_ptr_array_add (globs, NULL);
      training->with_respect_to = g_strdupv ((char **) globs->pdata);
    }
  return ok;
}

static void
apply (Train *t)
{
  GantryTrainingOptions training;
  gboolean ok;

  gantry_training_options_init (&training);
  ok = read_options (t, &training);
  if (ok)
    {
      GantryWindow *window = t->window;
      GtkWindow *dialog = t->dialog;

      gantry_document_set_training (window->document, gtk_switch_get_active (GTK_SWITCH (t->on)) ? &training : NULL);
      gtk_window_close (dialog);
      _gantry_window_show_step_when_made (window);
    }
  gantry_training_options_clear (&training);
}

static void
add (GtkWidget *group, GtkWidget *row)
{
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), row);
}

static GtkWidget *
make_program (Train *t, const GantryCompileSettings *settings)
{
  GtkWidget *group = adw_preferences_group_new (), *row = adw_action_row_new ();
  const GantryTrainingOptions *training = &settings->training;
  g_auto (GStrv) results = result_names (t->window);
  g_autofree char *globs = training->with_respect_to != NULL ? g_strjoinv (" ", training->with_respect_to) : g_strdup ("");

  t->on = gtk_switch_new ();
  gtk_switch_set_active (GTK_SWITCH (t->on), TRUE); /* who opens this wants one */
  gtk_widget_set_valign (t->on, GTK_ALIGN_CENTER);
  gtk_widget_set_name (t->on, "on");
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), "Training step");
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), "Forward, backward and update of the parameters in one program");
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), t->on);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), t->on);
  t->loss = combo_new ("Loss", "loss", (const char *const[]){ losses[0], losses[1], losses[2], NULL }, training->loss);
  t->output = combo_new ("Of result", "output", (const char *const *) results, training->output);
  t->parameters = adw_entry_row_new ();
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (t->parameters), "Parameters to train: names with *, empty for all");
  gtk_editable_set_text (GTK_EDITABLE (t->parameters), globs);
  gtk_widget_set_name (t->parameters, "parameters");
  t->l2 = _gantry_dialog_number ("L2: added to the loss for each squared weight", "l2", training->l2);
  t->microbatches = _gantry_dialog_number ("Microbatches: batches of this size whose gradients are accumulated", "microbatches", training->microbatches);
  add (group, row);
  add (group, t->loss);
  add (group, t->output);
  add (group, t->parameters);
  add (group, t->l2);
  add (group, t->microbatches);
  return group;
}

static GtkWidget *
make_optimizer (Train *t, const GantryCompileSettings *settings)
{
  const GantryTrainingOptions *o = &settings->training;
  GtkWidget *group = adw_preferences_group_new ();

  t->optimizer = combo_new ("Optimizer", "optimizer", (const char *const[]){ optimizers[0], optimizers[1], optimizers[2], optimizers[3], optimizers[4], NULL },
                            settings->train ? o->optimizer : GANTRY_OPTIMIZER_ADAM);
  t->rate = _gantry_dialog_number ("Learning rate", "rate", o->learning_rate);
  t->momentum = _gantry_dialog_number ("Momentum", "momentum", o->momentum);
  t->beta1 = _gantry_dialog_number ("Beta 1", "beta1", o->beta1);
  t->beta2 = _gantry_dialog_number ("Beta 2", "beta2", o->beta2);
  t->epsilon = _gantry_dialog_number ("Epsilon", "epsilon", o->epsilon);
  t->decay = _gantry_dialog_number ("Weight decay", "decay", o->weight_decay);
  t->clip = _gantry_dialog_number ("Clip gradients to this global norm; 0: no clipping", "clip", o->clip_norm);
  add (group, t->optimizer);
  add (group, t->rate);
  add (group, t->momentum);
  add (group, t->beta1);
  add (group, t->beta2);
  add (group, t->epsilon);
  add (group, t->decay);
  add (group, t->clip);
  return group;
}

void
_gantry_dialog_train (GantryWindow *window)
{
  Train *t = g_new0 (Train, 1);
  const GantryCompileSettings *settings = gantry_document_get_settings (window->document);
  GtkWidget *page = adw_preferences_page_new (), *button = gtk_button_new_with_mnemonic ("_Apply");

  t->window = window;
  gtk_widget_add_css_class (button, "suggested-action");
  gtk_widget_set_name (button, "apply");
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (make_program (t, settings)));
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (make_optimizer (t, settings)));
  t->dialog = _gantry_dialog_new (window, "train", "Training step", page, button);
  gtk_window_set_default_size (t->dialog, 520, 660);
  gtk_window_set_default_widget (t->dialog, button);
  g_object_set_data_full (G_OBJECT (t->dialog), "train", t, g_free);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (apply), t);
  g_signal_connect_swapped (t->on, "notify::active", G_CALLBACK (show_rows), t);
  g_signal_connect_swapped (t->optimizer, "notify::selected", G_CALLBACK (show_rows), t);
  show_rows (t);
  gtk_window_present (t->dialog);
}
