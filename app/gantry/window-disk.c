/* SPDX-License-Identifier: Apache-2.0 */
/* Files that others write while they are open: a model that has changed is told in a bar that offers to load it again, and the runs
 * that others add to the session file are shown. */
#include "app/gantry/window-private.h"
#include "views/notice.h"

/* Writers write many times: it is looked at when they have been quiet for so long. */
#define QUIET_MILLISECONDS 400
#define MOST_WATCHED 64u

static void
merged (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GantryWindow) self = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  guint n;

  if (self->document == NULL)
    return;
  n = gantry_document_merge_runs_finish (self->document, result, &error);
  if (n == 0) /* a file that cannot be read now is read after the next change */
    return;
  text = g_strdup_printf (n == 1 ? "%u run was added to the session file" : "%u runs were added to the session file", n);
  _gantry_window_toast (self, text);
}

static gboolean look (gpointer data);

/* What runs or compiles is not cut off: the file is looked at again later. */
static void
reload_when_idle (GantryWindow *self)
{
  if (!gantry_document_is_busy (self->document) && self->opening == NULL)
    _gantry_window_reload (self);
  else if (self->look_source == 0)
    self->look_source = g_timeout_add (QUIET_MILLISECONDS, look, self);
}

/* @changed: (nullable): the file of the model that has */
static void
take_look (GantryWindow *self, const char *changed)
{
  const char *session = gantry_document_get_session_path (self->document);
  GantryFileIdentity now;

  if (g_strcmp0 (changed, self->changed) != 0)
    {
      g_free (self->changed);
      self->changed = g_strdup (changed);
      _gantry_window_update_notice (self);
      _gantry_window_update_actions (self);
    }
  if (changed != NULL && self->reload_when_saved)
    reload_when_idle (self);
  if (session != NULL && gantry_file_identify (session, &now) && !gantry_file_identity_equal (&now, &self->session_seen))
    {
      self->session_seen = now;
      gantry_document_merge_runs_async (self->document, merged, g_object_ref (self));
    }
}

static void
looked (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GantryWindow) self = data;
  const char *changed = g_task_propagate_pointer (G_TASK (result), NULL); /* the model's own */

  self->looking = FALSE;
  /* Of a model that was opened meanwhile another look is under way. */
  if (self->document != NULL && gantry_document_get_model (self->document) == g_task_get_task_data (G_TASK (result)))
    take_look (self, changed);
}

static void
look_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_task_return_pointer (task, (gpointer) gantry_model_find_changed (data), NULL);
}

/* A file that was only touched is read to find that out: on a thread, one at a time. */
static gboolean
look (gpointer data)
{
  GantryWindow *self = data;
  GantryModel *model = gantry_document_get_model (self->document);
  g_autoptr (GTask) task = NULL;

  if (self->looking)
    return G_SOURCE_CONTINUE;
  self->look_source = 0;
  if (model == NULL)
    {
      take_look (self, NULL);
      return G_SOURCE_REMOVE;
    }
  self->looking = TRUE;
  task = g_task_new (NULL, NULL, looked, g_object_ref (self));
  g_task_set_task_data (task, gantry_model_ref (model), (GDestroyNotify) gantry_model_unref);
  g_task_run_in_thread (task, look_thread);
  return G_SOURCE_REMOVE;
}

static void
file_changed (GFileMonitor *monitor, GFile *file, GFile *other, GFileMonitorEvent event, gpointer data)
{
  GantryWindow *self = data;

  g_clear_handle_id (&self->look_source, g_source_remove);
  self->look_source = g_timeout_add (QUIET_MILLISECONDS, look, self);
}

static void
watch (GantryWindow *self, const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  GFileMonitor *monitor = g_file_monitor_file (file, G_FILE_MONITOR_WATCH_MOVES, NULL, NULL);

  if (monitor == NULL)
    return;
  g_signal_connect_object (monitor, "changed", G_CALLBACK (file_changed), self, 0);
  g_ptr_array_add (self->monitors, monitor);
}

void
_gantry_window_watch_files (GantryWindow *self)
{
  const GantryModel *model = gantry_document_get_model (self->document);
  const char *session = gantry_document_get_session_path (self->document);

  if (self->monitors == NULL)
    self->monitors = g_ptr_array_new_with_free_func (g_object_unref);
  g_ptr_array_set_size (self->monitors, 0);
  self->session_seen = (GantryFileIdentity){ 0 };
  for (guint i = 0; model != NULL && model->files != NULL && i < MIN (model->files->len, MOST_WATCHED); i++)
    watch (self, g_array_index (model->files, GantryModelFile, i).path);
  if (session != NULL)
    watch (self, session);
  file_changed (NULL, NULL, NULL, G_FILE_MONITOR_EVENT_CHANGED, self); /* it may have changed before it was watched */
}

void
_gantry_window_stop_watching (GantryWindow *self)
{
  g_clear_handle_id (&self->look_source, g_source_remove);
  g_clear_pointer (&self->monitors, g_ptr_array_unref);
  g_clear_pointer (&self->changed, g_free);
}

/* Loading again */

typedef struct
{
  GantryWindow *window;
  GantrySelection *selection;
  gulong handler;
  char *shown;
  GantryCompilation *before, *after; /* @after: (nullable) until it is there */
  guint snapshot;                    /* of @before */
  GArray *selected;                  /* guint32: ids there, the primary one first */
  gboolean chosen;                   /* another selection since @after is there */
} Reload;

static void
reload_free (gpointer data)
{
  Reload *reload = data;

  g_signal_handler_disconnect (reload->selection, reload->handler);
  g_object_unref (reload->selection);
  g_object_unref (reload->window);
  g_clear_pointer (&reload->after, gantry_compilation_unref);
  gantry_compilation_unref (reload->before);
  g_array_unref (reload->selected);
  g_free (reload->shown);
  g_free (reload);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Reload, reload_free)

static void
take_selected (Reload *reload)
{
  guint32 primary = gantry_selection_primary (reload->selection);
  GHashTableIter iter;
  gpointer id;

  reload->snapshot = gantry_selection_snapshot (reload->selection);
  g_array_set_size (reload->selected, 0);
  g_hash_table_iter_init (&iter, gantry_selection_in (reload->selection, reload->snapshot));
  while (g_hash_table_iter_next (&iter, &id, NULL))
    {
      guint32 one = GPOINTER_TO_UINT (id);

      if (one == primary)
        g_array_prepend_val (reload->selected, one);
      else
        g_array_append_val (reload->selected, one);
    }
}

/* What the user selects while the model is loaded is selected afterwards. */
static void
selection_changed (GantrySelection *selection, gpointer data)
{
  Reload *reload = data;

  if (reload->after != NULL)
    reload->chosen = TRUE;
  else if (reload->window->document != NULL && gantry_document_get_compilation (reload->window->document) == reload->before)
    take_selected (reload);
}

/* By what the nodes are: their numbers are of one opening of the model. (transfer full) (element-type guint32): those of @after */
static GArray *
find_again (const Reload *reload, guint after)
{
  const GantryModule *old = reload->before->snapshots[reload->snapshot].module, *new = reload->after->snapshots[after].module;
  g_autofree guint64 *old_keys = gantry_module_keys (old), *keys = gantry_module_keys (new);
  g_autoptr (GHashTable) wanted = g_hash_table_new (g_int64_hash, g_int64_equal), ids = g_hash_table_new (NULL, NULL);
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint64 primary = 0;

  for (guint i = 0; i < reload->selected->len; i++)
    g_hash_table_add (ids, GUINT_TO_POINTER (g_array_index (reload->selected, guint32, i)));
  for (guint32 i = 0; i < old->n_nodes; i++)
    if (g_hash_table_contains (ids, GUINT_TO_POINTER (old->nodes[i].id)))
      {
        g_hash_table_add (wanted, &old_keys[i]);
        if (old->nodes[i].id == g_array_index (reload->selected, guint32, 0))
          primary = old_keys[i];
      }
  for (guint32 i = 0; i < new->n_nodes; i++)
    if (keys[i] == primary)
      g_array_prepend_val (found, new->nodes[i].id);
    else if (g_hash_table_contains (wanted, &keys[i]))
      g_array_append_val (found, new->nodes[i].id);
  return found;
}

static guint
snapshot_after (const Reload *reload)
{
  return reload->snapshot < reload->after->n_snapshots ? reload->snapshot : 0;
}

static void
find_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Reload *reload = data;

  g_task_return_pointer (task, find_again (reload, snapshot_after (reload)), (GDestroyNotify) g_array_unref);
}

/* Nodes that are gone are selected no more. */
static void
found_again (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Reload) reload = data; /* here, and not with the task, whose last reference may be its worker's */
  g_autoptr (GArray) ids = g_task_propagate_pointer (G_TASK (result), NULL);
  GantryWindow *self = reload->window;

  if (self->document != NULL && gantry_document_get_compilation (self->document) == reload->after && !reload->chosen)
    gantry_selection_set (self->selection, snapshot_after (reload), (const guint32 *) (gpointer) ids->data, ids->len);
}

static void
reloaded (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Reload) reload = data;
  GantryWindow *self = reload->window;
  g_autoptr (GTask) task = NULL;
  g_autoptr (GError) error = NULL;

  if (self->document == NULL)
    return;
  if (!gantry_document_recompile_finish (self->document, result, &error))
    {
      if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) || !gantry_source_page_show_error (self->source_page, error->message))
        _gantry_window_tell (self, "The model cannot be loaded again", error);
      return;
    }
  _gantry_window_remember_program (self);
  _gantry_window_show_again (self, reload->shown);
  gantry_selection_clear (self->selection); /* those were the numbers of before */
  _gantry_window_watch_files (self);
  reload->after = gantry_compilation_ref (gantry_document_get_compilation (self->document));
  if (reload->selected->len == 0 || reload->snapshot >= reload->before->n_snapshots)
    return;
  task = g_task_new (NULL, NULL, found_again, reload);
  g_task_set_task_data (task, g_steal_pointer (&reload), NULL);
  g_task_run_in_thread (task, find_thread);
}

/* That a program runs as it is now the user has said with this: the bar says that it will. */
void
_gantry_window_reload (GantryWindow *self)
{
  const GantryModel *model = gantry_document_get_model (self->document);
  Reload *reload = g_new0 (Reload, 1);

  reload->window = g_object_ref (self);
  reload->selection = g_object_ref (self->selection);
  reload->handler = g_signal_connect (reload->selection, "changed", G_CALLBACK (selection_changed), reload);
  reload->shown = _gantry_window_shown_text (self);
  reload->before = gantry_compilation_ref (gantry_document_get_compilation (self->document));
  reload->selected = g_array_new (FALSE, FALSE, sizeof (guint32));
  take_selected (reload);
  gantry_document_reload_async (self->document, gantry_model_is_program (model->path), reloaded, reload);
}

void
_gantry_window_reload_when_saved (GantryWindow *self, gboolean reload)
{
  self->reload_when_saved = reload;
  if (reload && self->changed != NULL)
    reload_when_idle (self);
}

GtkWidget *
_gantry_window_make_changed_notice (GantryWindow *self)
{
  GtkWidget *line, *button = gtk_button_new_with_label ("Reload");
  GtkWidget *always = gtk_check_button_new_with_label ("When saved");
  gboolean program = gantry_model_is_program (gantry_document_get_model (self->document)->path);
  g_autofree char *name = g_path_get_basename (self->changed);
  g_autofree char *text = g_strdup_printf ("%s has changed on disk. What is shown is the model as it was opened, and it cannot be "
                                           "run or compiled any more. Placements and selection stay when it is loaded again.%s",
                                           name, program ? " That runs the program." : "");

  line = gantry_notice_new (text);
  gtk_widget_set_tooltip_text (line, self->changed);
  gtk_widget_add_css_class (button, "suggested-action");
  gtk_widget_set_name (button, "reload");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.reload");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (always), "win.reload-when-saved");
  gtk_widget_set_tooltip_text (always, program ? "Run the program again each time it is saved" : "Load it again each time it is saved");
  gantry_notice_add (GANTRY_NOTICE (line), always);
  gantry_notice_add (GANTRY_NOTICE (line), button);
  gtk_widget_add_css_class (line, "notice");
  gtk_widget_set_name (line, "changed-on-disk");
  return line;
}
