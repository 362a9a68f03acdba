/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of the session in the menu of the model's name: which one time, memory and figures show. */
#include "app/gantry/window-private.h"
#include "views/format.h"
#include <string.h>

#define MOST_LISTED 100u
#define PLACE_MARK '#'
#define MOST_SIGNS 100u /* of a line of a menu */

char *
_gantry_window_menu_text (const char *text)
{
  g_autofree char *brief = gantry_format_short (text, MOST_SIGNS);
  g_autoptr (GString) doubled = g_string_new (brief);

  g_string_replace (doubled, "_", "__", 0); /* a single one marks a key */
  return g_strdup (doubled->str);
}

/* "host: mnist · 1 May 2026 10:15 · 1.2 ms · peak 3 MiB", without what is not known */
static char *
label_of (GantryWindow *self, GantryRunResult *run)
{
  g_autofree char *name = gantry_format_short (run->name != NULL && *run->name != '\0' ? run->name : "Run", GANTRY_MENU_NAME);
  g_autoptr (GString) text = g_string_new (name);
  g_autofree char *date = gantry_format_when (run->when);
  g_autofree char *time = run->milliseconds > 0 ? gantry_format_ns ((gint64) (run->milliseconds * 1e6)) : NULL;
  g_autofree char *peak = run->peak_bytes > 0 ? gantry_format_bytes (run->peak_bytes) : NULL;

  if (run->device != NULL && *run->device != '\0' && strstr (text->str, run->device) == NULL)
    g_string_append_printf (text, " \302\267 %s", run->device);
  if (date != NULL && *date != '\0')
    g_string_append_printf (text, " \302\267 %s", date);
  if (time != NULL)
    g_string_append_printf (text, " \302\267 %s", time);
  if (peak != NULL)
    g_string_append_printf (text, " \302\267 peak %s", peak);
  if (gantry_document_is_run_of_another (self->document, run))
    g_string_append (text, " \302\267 of another program");
  if (run->other_model != NULL)
    g_string_append (text, " \302\267 the model as it was");
  return _gantry_window_menu_text (text->str);
}

/* Uids come from a file, which may be a stranger's: one that is empty, or also that of a run before, is told by its place. (transfer full) */
static char *
key_of (GPtrArray *runs, guint place)
{
  const char *uid = ((GantryRunResult *) g_ptr_array_index (runs, place))->uid;
  gboolean own = uid != NULL && *uid != '\0' && *uid != PLACE_MARK;

  for (guint i = 0; i < place && own; i++)
    own = g_strcmp0 (((GantryRunResult *) g_ptr_array_index (runs, i))->uid, uid) != 0;
  return own ? g_strdup (uid) : g_strdup_printf ("%c%u", PLACE_MARK, place);
}

static void
append_more (GMenu *section, guint n)
{
  g_autofree char *label = g_strdup_printf (n == 1 ? "%u older run is not listed" : "%u older runs are not listed", n);

  g_menu_append (section, label, NULL);
}

/* Deleting: there is no undo, so it is asked first */

static void
deleted (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GantryWindow) self = data;
  g_autoptr (GError) error = NULL;
  gboolean done = gantry_document_delete_run_finish (GANTRY_DOCUMENT (source), result, &error);

  if (self->document == NULL)
    return;
  if (!done)
    _gantry_window_tell (self, "The run is not deleted", error);
  else if (self->recovery != NULL)
    gantry_recovery_remove_later (self->recovery); /* it may hold the run; what is unsaved is kept anew */
}

static void
delete_response (AdwMessageDialog *dialog, const char *response, gpointer run)
{
  GantryWindow *self = GANTRY_WINDOW (gtk_window_get_transient_for (GTK_WINDOW (dialog)));

  if (g_strcmp0 (response, "delete") == 0 && self->document != NULL)
    gantry_document_delete_run_async (self->document, run, deleted, g_object_ref (self));
}

void
_gantry_window_delete_run (GSimpleAction *action, GVariant *value, gpointer data)
{
  GantryWindow *self = data;
  GantryRunResult *run = gantry_document_get_run (self->document);
  g_autofree char *label = run != NULL ? label_of (self, run) : NULL;
  g_auto (GStrv) parts = label != NULL ? g_strsplit (label, "__", -1) : NULL;
  g_autofree char *plain = parts != NULL ? g_strjoinv ("_", parts) : NULL; /* no key is marked in a dialog's text */
  GtkWidget *dialog;

  if (run == NULL)
    return;
  dialog = adw_message_dialog_new (GTK_WINDOW (self), "Delete this run?", NULL);
  gtk_widget_set_name (dialog, "delete-run");
  adw_message_dialog_format_body (ADW_MESSAGE_DIALOG (dialog),
                                  "%s\n\nWhat was measured goes, from the session file too. This cannot "
                                  "be undone.",
                                  plain);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", "_Cancel", "delete", "_Delete", NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "delete", ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  g_signal_connect_data (dialog, "response", G_CALLBACK (delete_response), gantry_run_result_ref (run),
                         (GClosureNotify) (void (*) (void)) gantry_run_result_unref, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

static void
append_delete (GMenu *menu)
{
  g_autoptr (GMenu) section = g_menu_new ();

  g_menu_append (section, "Delete the Shown Run\342\200\246", "win.delete-run");
  g_menu_append_section (menu, NULL, G_MENU_MODEL (section));
}

void
_gantry_window_append_runs (GantryWindow *self, GMenu *menu)
{
  GPtrArray *runs = gantry_document_get_runs (self->document);
  g_autoptr (GMenu) section = g_menu_new ();
  guint first = runs->len > MOST_LISTED ? runs->len - MOST_LISTED : 0;

  for (guint i = runs->len; i > first && runs->len > 1; i--)
    {
      GantryRunResult *run = g_ptr_array_index (runs, i - 1);
      g_autofree char *label = label_of (self, run), *key = key_of (runs, i - 1);
      g_autoptr (GMenuItem) item = g_menu_item_new (NULL, NULL);

      g_menu_item_set_label (item, label);
      g_menu_item_set_action_and_target (item, "win.show-run", "s", key);
      g_menu_append_item (section, item);
    }
  if (first > 0)
    append_more (section, first);
  if (g_menu_model_get_n_items (G_MENU_MODEL (section)) > 0)
    g_menu_append_section (menu, "Runs of this session", G_MENU_MODEL (section));
  if (runs->len > 0)
    append_delete (menu);
}

void
_gantry_window_choose_run (GSimpleAction *action, GVariant *value, gpointer data)
{
  GantryWindow *self = data;
  GPtrArray *runs = gantry_document_get_runs (self->document);
  const char *key = g_variant_get_string (value, NULL);
  guint64 place = runs->len;

  if (*key == PLACE_MARK && !g_ascii_string_to_unsigned (key + 1, 10, 0, G_MAXUINT, &place, NULL))
    return;
  for (guint i = 0; i < runs->len && *key != PLACE_MARK && place == runs->len; i++)
    if (g_strcmp0 (((GantryRunResult *) g_ptr_array_index (runs, i))->uid, key) == 0)
      place = i;
  if (place < runs->len)
    gantry_document_set_run (self->document, g_ptr_array_index (runs, place));
}

/* The menu is made anew where runs came or went; the one that is shown is the state of the action alone. */
void
_gantry_window_update_runs (GantryWindow *self)
{
  GPtrArray *runs = gantry_document_get_runs (self->document);
  const GantryRunResult *run = gantry_document_get_run (self->document);
  const GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  guint place;
  g_autofree char *key = run != NULL && g_ptr_array_find (runs, run, &place) ? key_of (runs, place) : g_strdup ("");
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), "show-run");

  if (runs != self->runs_listed || runs->len != self->n_runs_listed || compilation != self->runs_beside)
    {
      self->runs_beside = compilation; /* only compared: runs of others are marked */
      self->runs_listed = runs;        /* only compared */
      self->n_runs_listed = runs->len;
      _gantry_window_fill_recent (self);
    }
  g_simple_action_set_state (G_SIMPLE_ACTION (action), g_variant_new_string (key));
}
