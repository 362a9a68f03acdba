/* SPDX-License-Identifier: Apache-2.0 */
/* What opening a file may do beyond reading the model and its folder: the user is asked for each thing, one after another, and what was
 * answered holds for this opening. */
#include "app/gantry/state.h"
#include "app/gantry/window-private.h"

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

/* 0: it is no question */
static guint
asked_for (const GError *error)
{
  if (g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_OUTSIDE))
    return GANTRY_ALLOW_OUTSIDE;
  return g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_UNTRUSTED) ? GANTRY_ALLOW_PROGRAM : 0;
}

gboolean
_gantry_window_ask_to_allow (GantryWindow *self, const char *path, GantryRecovery *recovery, const GError *error)
{
  guint what = asked_for (error);
  gboolean outside = what == GANTRY_ALLOW_OUTSIDE;
  Question *question;
  GtkWidget *dialog;

  if (what == 0 || (self->allowed & what) != 0)
    return FALSE;
  question = g_new0 (Question, 1);
  *question = (Question){ g_strdup (path), recovery != NULL ? gantry_recovery_ref (recovery) : NULL, self->allowed | what };
  dialog = adw_message_dialog_new (GTK_WINDOW (self), outside ? "Read files outside the model's folder?" : "Run the program?", NULL);
  adw_message_dialog_format_body (ADW_MESSAGE_DIALOG (dialog), "%s%s", recovery != NULL ? "To restore what was not saved: " : "",
                                  error->message);
  gtk_widget_set_name (dialog, outside ? "outside" : "program");
  g_object_set_data_full (G_OBJECT (dialog), "question", question, question_free);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", recovery != NULL ? "_Not Now" : "_Cancel", "allow",
                                    outside ? "_Allow" : "_Run", NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "allow", ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  g_signal_connect_object (dialog, "response", G_CALLBACK (answered), self, 0);
  gtk_window_present (GTK_WINDOW (dialog));
  return TRUE;
}

void
_gantry_window_begin_opening (GantryWindow *self, const char *path, guint allowed, GantryOpenOptions *options)
{
  GantryBindings *bindings = gantry_bindings_new ();

  bindings->outside = (allowed & GANTRY_ALLOW_OUTSIDE) != 0;
  *options = (GantryOpenOptions) GANTRY_OPEN_OPTIONS_INIT;
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
