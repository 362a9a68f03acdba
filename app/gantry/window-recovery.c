/* SPDX-License-Identifier: Apache-2.0 */
/* What is unsaved is kept while the window is open: every two seconds, where something has changed, on a worker thread. A window that
 * opens it again shows what was shown: the pass, what was selected, folded and in sight, and the run. */
#include "app/gantry/window-private.h"

#define KEEP_SECONDS 2
#define MOST_SELECTED 4096u
#define FRAMES_TO_WAIT 2

/* What is shown, as text */

static int
compare_ids (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

/* The primary one first. */
static GVariant *
selected_ids (GantrySelection *selection)
{
  GHashTable *set = gantry_selection_in (selection, gantry_selection_snapshot (selection));
  guint32 primary = gantry_selection_primary (selection);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, set);
  while (g_hash_table_iter_next (&iter, &key, NULL) && ids->len < MOST_SELECTED)
    {
      guint32 id = GPOINTER_TO_UINT (key);

      if (id != primary)
        g_array_append_val (ids, id);
    }
  g_array_sort (ids, compare_ids);
  if (g_hash_table_contains (set, GUINT_TO_POINTER (primary)))
    g_array_prepend_val (ids, primary);
  return g_variant_new_fixed_array (G_VARIANT_TYPE_UINT32, ids->data, ids->len, sizeof (guint32));
}

static int
compare_paths (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(const char *const *) a, *(const char *const *) b);
}

/* Scopes by their paths: numbers are of this opening of the model. */
static GVariant *
folded_paths (GHashTable *folded, GantryContext *context)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, folded);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_ptr_array_add (paths, (gpointer) gantry_context_scope_path (context, GPOINTER_TO_UINT (key)));
  g_ptr_array_sort (paths, compare_paths);
  return g_variant_new_strv ((const char *const *) paths->pdata, (gssize) paths->len);
}

/* From the left edge to the middle, which stays where it is when the width changes. */
static float
half_width (GantryGraphCanvas *canvas, float scale)
{
  return (float) gtk_widget_get_width (GTK_WIDGET (canvas)) / 2 / scale;
}

char *
_gantry_window_shown_text (GantryWindow *self)
{
  GantryGraphCanvas *canvas = gantry_pass_view_get_canvas (self->pass_view);
  const GantryRunResult *run = gantry_document_get_run (self->document);
  GHashTable *folded = gantry_graph_canvas_get_folded (canvas);
  GantryModule *module = gantry_graph_canvas_get_module (canvas);
  g_autoptr (GVariant) all = NULL;
  GantryGraphView view;
  GVariantDict dict;

  gantry_graph_canvas_get_view (canvas, &view);
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "pass", "u", gantry_pass_list_get_selected (self->pass_list));
  g_variant_dict_insert (&dict, "single", "b", gantry_pass_view_get_single (self->pass_view));
  g_variant_dict_insert (&dict, "view", "(ddd)", (double) (view.x + half_width (canvas, view.scale)), (double) view.y, (double) view.scale);
  g_variant_dict_insert (&dict, "snapshot", "u", gantry_selection_snapshot (self->selection));
  g_variant_dict_insert_value (&dict, "selected", selected_ids (self->selection));
  if (folded != NULL && module != NULL)
    g_variant_dict_insert_value (&dict, "folded", folded_paths (folded, module->context));
  if (run != NULL)
    g_variant_dict_insert (&dict, "run", "s", run->uid);
  g_variant_dict_insert (&dict, "page", "s", gtk_stack_get_visible_child_name (self->bottom_stack));
  all = g_variant_ref_sink (g_variant_dict_end (&dict));
  return g_variant_print (all, TRUE);
}

/* ... and shown again */

static void
show_folded (GantryWindow *self, const char *const *paths)
{
  GantryModel *model = gantry_document_get_model (self->document);
  g_autoptr (GHashTable) folded = g_hash_table_new (NULL, NULL);

  for (guint i = 0; paths[i] != NULL; i++)
    g_hash_table_add (folded, GUINT_TO_POINTER (gantry_context_scope (model->module->context, paths[i])));
  gantry_graph_canvas_set_folded (gantry_pass_view_get_before (self->pass_view), folded);
  gantry_graph_canvas_set_folded (gantry_pass_view_get_after (self->pass_view), folded);
}

static void
show_selected (GantryWindow *self, guint snapshot, GVariant *ids)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  g_autoptr (GArray) there = g_array_new (FALSE, FALSE, sizeof (guint32));
  gsize n;
  const guint32 *list = g_variant_get_fixed_array (ids, &n, sizeof *list);

  for (gsize i = 0; snapshot < compilation->n_snapshots && i < n; i++)
    if (gantry_module_node (compilation->snapshots[snapshot].module, list[i]) != NULL)
      g_array_append_val (there, list[i]);
  if (there->len > 0)
    gantry_selection_set (self->selection, snapshot, (const guint32 *) (gpointer) there->data, there->len);
}

/* A model that was loaded again may be another: its document has let go of the run then. */
static void
show_run (GantryWindow *self, const char *uid)
{
  GPtrArray *runs = gantry_document_get_runs (self->document);
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);

  for (guint i = 0; i < runs->len; i++)
    if (g_strcmp0 (((GantryRunResult *) g_ptr_array_index (runs, i))->uid, uid) == 0 && gantry_run_result_is_of (g_ptr_array_index (runs, i), compilation))
      gantry_document_set_run (self->document, g_ptr_array_index (runs, i));
}

/* The first picture chooses what is in sight, and panes get their sizes in the frame after: only then is there another choice. */
static gboolean
show_view (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  GantryWindow *self = data;
  GantryGraphCanvas *canvas = GANTRY_GRAPH_CANVAS (widget);

  if (gantry_graph_canvas_is_busy (canvas))
    self->frames_to_wait = FRAMES_TO_WAIT;
  if (self->frames_to_wait-- > 0)
    return G_SOURCE_CONTINUE;
  self->view_to_show.x -= half_width (canvas, self->view_to_show.scale);
  gantry_graph_canvas_set_view (canvas, &self->view_to_show);
  return G_SOURCE_REMOVE;
}

void
_gantry_window_show_again (GantryWindow *self, const char *text)
{
  g_autoptr (GVariant) all = text != NULL ? g_variant_parse (G_VARIANT_TYPE_VARDICT, text, NULL, NULL, NULL) : NULL;
  g_autoptr (GVariant) ids = NULL, view = NULL;
  g_autofree const char **folded = NULL;
  const char *string;
  gboolean single;
  guint32 index;
  double x, y, scale;

  if (all == NULL)
    return;
  if (g_variant_lookup (all, "pass", "u", &index) && index < gantry_document_get_compilation (self->document)->n_snapshots)
    gantry_pass_list_select (self->pass_list, index);
  if (g_variant_lookup (all, "single", "b", &single))
    g_action_group_change_action_state (G_ACTION_GROUP (self), "single-pane", g_variant_new_boolean (single));
  if (g_variant_lookup (all, "folded", "^a&s", &folded))
    show_folded (self, folded);
  ids = g_variant_lookup_value (all, "selected", G_VARIANT_TYPE ("au"));
  if (ids != NULL && g_variant_lookup (all, "snapshot", "u", &index))
    show_selected (self, index, ids);
  if (g_variant_lookup (all, "run", "&s", &string))
    show_run (self, string);
  if (g_variant_lookup (all, "page", "&s", &string) && gtk_widget_get_visible (GTK_WIDGET (self->time_bin)))
    _gantry_window_show_bottom (self, string);
  if (g_variant_lookup (all, "view", "(ddd)", &x, &y, &scale) && scale > 1e-4 && scale < 1e4)
    {
      self->view_to_show = (GantryGraphView){ (float) x, (float) y, (float) scale };
      self->frames_to_wait = FRAMES_TO_WAIT;
      /* Without a reference: the canvas is the window's own, and of one that closes before its next frame nothing would let go. */
      gtk_widget_add_tick_callback (GTK_WIDGET (gantry_pass_view_get_canvas (self->pass_view)), show_view, self, NULL);
    }
}

/* Keeping */

static void
tell_failure (GantryWindow *self, const GError *error)
{
  g_autofree char *text = NULL;

  if (error == NULL || self->keep_failed)
    {
      self->keep_failed = error != NULL;
      return;
    }
  self->keep_failed = TRUE; /* told once, and tried again */
  text = g_strdup_printf ("Unsaved work is not kept: %s", error->message);
  _gantry_window_toast (self, text);
}

static void
kept (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GantryWindow) self = data;
  g_autoptr (GError) error = NULL;

  gantry_recovery_save_finish (result, &error);
  self->keeping = FALSE;
  if (self->document != NULL)
    tell_failure (self, error);
}

static gboolean
can_keep (GantryWindow *self)
{
  g_autoptr (GError) error = NULL;

  if (self->recovery == NULL)
    self->recovery = gantry_recovery_new (&error);
  tell_failure (self, error);
  return self->recovery != NULL;
}

static gboolean
keep (gpointer data)
{
  GantryWindow *self = data;
  g_autofree char *text = NULL;

  if (self->keeping || self->recovering || self->document == NULL)
    return G_SOURCE_CONTINUE;
  if (!gantry_document_is_unsaved (self->document))
    {
      if (self->recovery != NULL)
        gantry_recovery_remove (self->recovery);
      g_clear_pointer (&self->recovery, gantry_recovery_unref);
      return G_SOURCE_CONTINUE;
    }
  if (!can_keep (self))
    return G_SOURCE_CONTINUE;
  text = _gantry_window_shown_text (self);
  if (!gantry_recovery_is_behind (self->recovery, self->document, text))
    return G_SOURCE_CONTINUE;
  self->keeping = TRUE;
  gantry_recovery_save_async (self->recovery, self->document, text, kept, g_object_ref (self));
  return G_SOURCE_CONTINUE;
}

/* The folder for unsaved work took nothing: somewhere else, and told where a process that ends still can. */
static gboolean
keep_elsewhere (GantryWindow *self, const char *text, const GError *why)
{
  g_autofree char *name = g_path_get_basename (gantry_document_get_path (self->document));
  g_autofree char *what = gantry_recovery_describe (self->document);
  g_autoptr (GError) error = NULL;
  g_autofree char *path = gantry_recovery_save_elsewhere (self->document, text, &error);

  if (path != NULL)
    g_printerr ("gantry: unsaved work of %s (%s) is kept in %s; open it there. It is not where it is looked for at the next start: %s\n", name, what, path,
                why->message);
  else
    g_printerr ("gantry: unsaved work of %s is LOST (%s): %s; %s\n", name, what, why->message, error->message);
  return path != NULL;
}

gboolean
gantry_window_keep (GantryWindow *self)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  if (self->document == NULL || self->recovering || !gantry_document_is_unsaved (self->document))
    return TRUE;
  text = _gantry_window_shown_text (self);
  if (self->recovery == NULL)
    self->recovery = gantry_recovery_new (&error);
  if (self->recovery != NULL
      && ((!self->keeping && !gantry_recovery_is_behind (self->recovery, self->document, text))
          || gantry_recovery_save (self->recovery, self->document, text, &error)))
    return TRUE;
  return keep_elsewhere (self, text, error);
}

void
_gantry_window_start_keeping (GantryWindow *self)
{
  self->keep_source = g_timeout_add_seconds (KEEP_SECONDS, keep, self);
}

void
_gantry_window_stop_keeping (GantryWindow *self, gboolean forget)
{
  g_clear_handle_id (&self->keep_source, g_source_remove);
  if (forget && self->recovery != NULL)
    gantry_recovery_remove (self->recovery);
  g_clear_pointer (&self->recovery, gantry_recovery_unref);
}

/* Restoring */

static void
discard_response (AdwMessageDialog *dialog, const char *response, gpointer data)
{
  GantryRecovery *recovery = data;

  if (g_strcmp0 (response, "discard") == 0)
    gantry_recovery_remove (recovery);
}

/* What it was of is gone or has changed: it stays, until the user says otherwise. */
static void
ask_what_to_do (GantryWindow *self, GantryRecovery *recovery, const GError *error)
{
  GtkWidget *dialog = adw_message_dialog_new (GTK_WINDOW (self), "Unsaved work cannot be restored", error->message);

  gtk_widget_set_name (dialog, "not-restored");
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "discard", "_Discard It", "keep", "_Keep It", NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "discard", ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "keep");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "keep");
  g_signal_connect_data (dialog, "response", G_CALLBACK (discard_response), gantry_recovery_ref (recovery),
                         (GClosureNotify) (void (*) (void)) gantry_recovery_unref, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

static void
recovered (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GantryWindow) self = data;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  self->recovering = FALSE;
  if (self->document == NULL)
    return;
  g_clear_pointer (&self->opening, g_free);
  if (!gantry_document_recover_finish (self->document, result, &text, &error))
    {
      if (!_gantry_window_ask_to_allow (self, gantry_recovery_get_path (self->recovery), self->recovery, error)
          && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        ask_what_to_do (self, self->recovery, error);
      g_clear_pointer (&self->recovery, gantry_recovery_unref); /* its file stays */
      _gantry_window_update (self);
      return;
    }
  g_clear_pointer (&self->error, g_free);
  _gantry_window_arrange_source (self);
  _gantry_window_show_again (self, text);
  _gantry_window_update (self);
  _gantry_window_toast (self, "Restored: this was not saved when Gantry ended");
  gtk_widget_grab_focus (GTK_WIDGET (gantry_pass_view_get_canvas (self->pass_view)));
}

void
_gantry_window_recover_now (GantryWindow *self, GantryRecovery *recovery, guint allowed)
{
  GantryOpenOptions options;

  _gantry_window_begin_opening (self, gantry_recovery_get_path (recovery), allowed, &options);
  g_clear_pointer (&self->recovery, gantry_recovery_unref);
  self->recovery = gantry_recovery_ref (recovery);
  self->recovering = TRUE;
  gantry_document_recover_async (self->document, recovery, &options, recovered, g_object_ref (self));
  _gantry_open_options_clear (&options);
  _gantry_window_update (self);
}

void
gantry_window_tell_restored (GantryWindow *self, guint n)
{
  g_return_if_fail (GANTRY_IS_WINDOW (self));
  self->n_restored = n;
}

/* A toast that is about to be seen is not torn from the page that goes: libadwaita 1.2 ends its animation twice then. */
void
_gantry_window_say_restored (GantryWindow *self)
{
  const guint n = self->n_restored;
  g_autofree char *text = g_strdup_printf (
    n == 1 ? "Unsaved work was restored, in %u window of its own" : "Unsaved work was restored, in %u windows of its own", n);

  if (n > 0)
    _gantry_window_toast (self, text);
  self->n_restored = 0;
}

void
gantry_window_recover (GantryWindow *self, GantryRecovery *recovery)
{
  g_return_if_fail (GANTRY_IS_WINDOW (self) && self->recovery == NULL);
  _gantry_window_recover_now (self, recovery, 0);
}
