/* SPDX-License-Identifier: Apache-2.0 */
/* What opening a file may do beyond reading the model and its folder: the user is asked for each thing, one after another, and what was
 * answered holds for this opening. */
#include "app/gantry/state.h"
#include "app/gantry/window-private.h"
#include "core/document/graph-choice.h"

typedef struct
{
  char *path;
  GantryRecovery *recovery; /* (nullable): that is opened instead of @path */
  guint allowed;            /* with what the question is about */
} Question;

static void
question_free (gpointer data)
{
  Question *question = data;

  g_free (question->path);
  gantry_recovery_unref (question->recovery);
  g_free (question);
}

/* Answered with no: the files stay, those of unsaved work for another start. */
static void
answered (AdwMessageDialog *dialog, const char *response, gpointer data)
{
  const Question *question = g_object_get_data (G_OBJECT (dialog), "question");

  if (g_strcmp0 (response, "allow") != 0)
    return;
  if (question->recovery != NULL)
    _gantry_window_recover_now (data, question->recovery, question->allowed);
  else
    _gantry_window_open_now (data, question->path, question->allowed);
}

/* One thing that may be asked for. */
typedef struct
{
  int code;
  guint what;
  const char *name, *heading, *answer;
  const char *also; /* after the error's message */
} Asked;

static const Asked asked[] = {
  { GANTRY_ERROR_OUTSIDE, GANTRY_ALLOW_OUTSIDE, "outside", "Read files outside the model's folder?", "_Allow", "" },
  { GANTRY_ERROR_UNTRUSTED, GANTRY_ALLOW_PROGRAM, "program", "Run the program?", "_Run", "" },
  { GANTRY_ERROR_CHANGED, GANTRY_ALLOW_CHANGED, "changed", "Open with the model as it is now?", "_Open",
    ". Settings, placements and notes stay; runs stay listed as of the model as it was." },
};

/* (nullable): it is no question */
static const Asked *
asked_for (const GError *error)
{
  for (guint i = 0; i < G_N_ELEMENTS (asked); i++)
    if (g_error_matches (error, GANTRY_ERROR, asked[i].code))
      return &asked[i];
  return NULL;
}

gboolean
_gantry_window_ask_to_allow (GantryWindow *self, const char *path, GantryRecovery *recovery, const GError *error)
{
  const Asked *ask = asked_for (error);
  Question *question;
  GtkWidget *dialog;

  if (ask == NULL || (self->allowed & ask->what) != 0)
    return FALSE;
  question = g_new0 (Question, 1);
  *question = (Question){ g_strdup (path), recovery != NULL ? gantry_recovery_ref (recovery) : NULL, self->allowed | ask->what };
  dialog = adw_message_dialog_new (GTK_WINDOW (self), ask->heading, NULL);
  adw_message_dialog_format_body (ADW_MESSAGE_DIALOG (dialog), "%s%s%s", recovery != NULL ? "To restore what was not saved: " : "", error->message, ask->also);
  gtk_widget_set_name (dialog, ask->name);
  g_object_set_data_full (G_OBJECT (dialog), "question", question, question_free);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", recovery != NULL ? "_Not Now" : "_Cancel", "allow", ask->answer, NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "allow", ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  g_signal_connect_object (dialog, "response", G_CALLBACK (answered), self, 0);
  gtk_window_present (GTK_WINDOW (dialog));
  return TRUE;
}

/* Which graph */

static void
chosen (AdwMessageDialog *dialog, const char *response, gpointer data)
{
  GantryWindow *self = data;
  GtkListBox *list = g_object_get_data (G_OBJECT (dialog), "list");
  GtkListBoxRow *row = gtk_list_box_get_selected_row (list);
  const Question *question = g_object_get_data (G_OBJECT (dialog), "question");

  if (g_strcmp0 (response, "open") != 0 || row == NULL)
    return;
  g_free (self->entry);
  self->entry = g_strdup (adw_preferences_row_get_title (ADW_PREFERENCES_ROW (row)));
  _gantry_window_open_now (self, question->path, question->allowed);
}

static GtkWidget *
list_of (char **graphs)
{
  GtkWidget *list = gtk_list_box_new ();

  for (guint i = 0; graphs[i] != NULL; i += 2)
    {
      GtkWidget *row = adw_action_row_new ();

      adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), graphs[i]);
      adw_action_row_set_subtitle (ADW_ACTION_ROW (row), graphs[i + 1]);
      adw_action_row_set_subtitle_lines (ADW_ACTION_ROW (row), 1);
      gtk_list_box_append (GTK_LIST_BOX (list), row);
    }
  gtk_widget_set_name (list, "graphs");
  gtk_widget_add_css_class (list, "boxed-list");
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_BROWSE);
  gtk_list_box_select_row (GTK_LIST_BOX (list), gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), 0));
  gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL, "Graphs of the program", -1);
  return list;
}

gboolean
_gantry_window_ask_which (GantryWindow *self, const char *path, const GError *error)
{
  g_auto (GStrv) graphs = gantry_graph_choices (error);
  g_autofree char *name = g_path_get_basename (path);
  GtkWidget *dialog, *list, *scroller;
  Question *question;

  if (graphs == NULL)
    return FALSE;
  question = g_new0 (Question, 1);
  *question = (Question){ g_strdup (path), NULL, self->allowed };
  dialog = adw_message_dialog_new (GTK_WINDOW (self), "Which graph?", NULL);
  if (gantry_model_is_program (path))
    adw_message_dialog_format_body (ADW_MESSAGE_DIALOG (dialog), "%s makes %u graphs. The program runs again for the one that is opened.", name,
                                    g_strv_length (graphs) / 2);
  else
    adw_message_dialog_format_body (ADW_MESSAGE_DIALOG (dialog), "%s has %u compilations.", name, g_strv_length (graphs) / 2);
  list = list_of (graphs);
  scroller = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), list);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scroller), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scroller), 360);
  adw_message_dialog_set_extra_child (ADW_MESSAGE_DIALOG (dialog), scroller);
  gtk_widget_set_name (dialog, "which-graph");
  g_object_set_data (G_OBJECT (dialog), "list", list);
  g_object_set_data_full (G_OBJECT (dialog), "question", question, question_free);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", "_Cancel", "open", "_Open", NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "open", ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "open");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  g_signal_connect_object (dialog, "response", G_CALLBACK (chosen), self, 0);
  gtk_window_present (GTK_WINDOW (dialog));
  return TRUE;
}

void
_gantry_window_begin_opening (GantryWindow *self, const char *path, guint allowed, GantryOpenOptions *options)
{
  GantryBindings *bindings = gantry_bindings_new ();

  if (self->entry != NULL)
    gantry_bindings_set_entry (bindings, self->entry);
  bindings->outside = (allowed & GANTRY_ALLOW_OUTSIDE) != 0;
  *options = (GantryOpenOptions) GANTRY_OPEN_OPTIONS_INIT;
  options->changed_model = (allowed & GANTRY_ALLOW_CHANGED) != 0;
  options->run_program = (allowed & GANTRY_ALLOW_PROGRAM) != 0;
  options->trusted = (const char *const *) gantry_state_get_trusted ();
  options->bindings = bindings;
  self->allowed = allowed;
  g_free (self->opening);
  self->opening = g_canonicalize_filename (path, NULL);
}

void
_gantry_open_options_clear (GantryOpenOptions *options)
{
  gantry_bindings_unref ((GantryBindings *) options->bindings);
  g_strfreev ((char **) options->trusted);
}
