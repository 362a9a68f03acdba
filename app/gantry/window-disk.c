/* SPDX-License-Identifier: Apache-2.0 */
/* Files that others write while they are open: a model that has changed is told in a bar that offers to load it again, and the runs
 * that others add to the session file are shown. */
#include "app/gantry/window-private.h"

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

static gboolean
look (gpointer data)
{
  GantryWindow *self = data;
  const GantryModel *model = gantry_document_get_model (self->document);
  const char *session = gantry_document_get_session_path (self->document);
  const char *changed = model != NULL ? gantry_model_find_changed (model) : NULL;
  GantryFileIdentity now;

  self->look_source = 0;
  if (g_strcmp0 (changed, self->changed) != 0)
    {
      g_free (self->changed);
      self->changed = g_strdup (changed);
      _gantry_window_update_notice (self);
      _gantry_window_update_actions (self);
    }
  if (session != NULL && gantry_file_identify (session, &now) && !gantry_file_identity_equal (&now, &self->session_seen))
    {
      self->session_seen = now;
      gantry_document_merge_runs_async (self->document, merged, g_object_ref (self));
    }
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
  char *shown;
  guint snapshot;
  GArray *selected; /* guint64: gantry_module_keys() */
} Reload;

/* What is selected, by what the nodes are: their numbers are of one opening of the model. The primary one first. (transfer full) */
static GArray *
selected_keys (GantryWindow *self, guint snapshot)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  GArray *selected = g_array_new (FALSE, FALSE, sizeof (guint64));
  GHashTable *ids = gantry_selection_in (self->selection, snapshot);
  g_autofree guint64 *keys = NULL;
  const GantryModule *module;

  if (snapshot >= compilation->n_snapshots || g_hash_table_size (ids) == 0)
    return selected;
  module = compilation->snapshots[snapshot].module;
  keys = gantry_module_keys (module);
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (module->nodes[i].id == gantry_selection_primary (self->selection))
      g_array_prepend_val (selected, keys[i]);
    else if (g_hash_table_contains (ids, GUINT_TO_POINTER (module->nodes[i].id)))
      g_array_append_val (selected, keys[i]);
  return selected;
}

/* Nodes that are gone are selected no more. */
static void
select_keys (GantryWindow *self, guint snapshot, const GArray *selected)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  g_autoptr (GHashTable) wanted = g_hash_table_new (g_int64_hash, g_int64_equal);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint64 *keys = NULL;
  const GantryModule *module;

  if (snapshot >= compilation->n_snapshots)
    snapshot = 0;
  module = compilation->snapshots[snapshot].module;
  keys = selected->len > 0 ? gantry_module_keys (module) : NULL;
  for (guint i = 0; i < selected->len; i++)
    g_hash_table_add (wanted, &g_array_index (selected, guint64, i));
  for (guint32 i = 0; keys != NULL && i < module->n_nodes; i++)
    if (keys[i] == g_array_index (selected, guint64, 0))
      g_array_prepend_val (ids, module->nodes[i].id);
    else if (g_hash_table_contains (wanted, &keys[i]))
      g_array_append_val (ids, module->nodes[i].id);
  gantry_selection_set (self->selection, snapshot, (const guint32 *) (gpointer) ids->data, ids->len);
}

static void
reloaded (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree Reload *reload = data;
  g_autoptr (GantryWindow) self = reload->window;
  g_autofree char *shown = reload->shown;
  g_autoptr (GArray) selected = reload->selected;
  g_autoptr (GError) error = NULL;

  if (self->document == NULL)
    return;
  if (!gantry_document_recompile_finish (self->document, result, &error))
    {
      _gantry_window_tell (self, "The model cannot be loaded again", error);
      return;
    }
  _gantry_window_show_again (self, shown);
  select_keys (self, reload->snapshot, selected);
  _gantry_window_watch_files (self);
}

static void
reload (GtkButton *button, gpointer data)
{
  GantryWindow *self = data;
  guint snapshot = gantry_selection_snapshot (self->selection);
  Reload *reload = g_new0 (Reload, 1);

  *reload = (Reload){ g_object_ref (self), _gantry_window_shown_text (self), snapshot, selected_keys (self, snapshot) };
  gantry_document_reload_async (self->document, reloaded, reload);
}

GtkWidget *
_gantry_window_make_changed_notice (GantryWindow *self)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *label, *button = gtk_button_new_with_label ("Reload");
  g_autofree char *name = g_path_get_basename (self->changed);
  g_autofree char *text = g_strdup_printf ("%s has changed on disk. What is shown is the model as it was opened, and it cannot be "
                                           "run or compiled any more. Placements and selection stay when it is loaded again.",
                                           name);

  label = gtk_label_new (text);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_tooltip_text (label, self->changed);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "suggested-action");
  gtk_widget_set_name (button, "reload");
  g_signal_connect_object (button, "clicked", G_CALLBACK (reload), self, 0);
  gtk_box_append (GTK_BOX (line), label);
  gtk_box_append (GTK_BOX (line), button);
  gtk_widget_add_css_class (line, "notice");
  gtk_widget_set_name (line, "changed-on-disk");
  return line;
}
