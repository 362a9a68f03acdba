/* SPDX-License-Identifier: Apache-2.0 */
/* Writing into session files: one after the other, in the order in which it was asked for; and what a save has changed. */
#include "core/document/document-private.h"
#include "core/base/thread.h"

typedef struct
{
  GTask *task;
  void (*begin) (GTask *task);
  GTaskThreadFunc thread;
} Write;

static void begin_next_write (GantryDocument *document);

/* Its callback has run: the document knows what was written. */
static void
write_ended (GObject *task, GParamSpec *property, gpointer data)
{
  GantryDocument *document = g_task_get_source_object (G_TASK (task));

  document->is_writing = FALSE;
  begin_next_write (document);
}

static void
begin_next_write (GantryDocument *document)
{
  g_autofree Write *write = document->is_writing ? NULL : g_queue_pop_head (&document->writes);
  g_autoptr (GTask) task = write != NULL ? write->task : NULL;

  if (write == NULL)
    return;
  document->is_writing = TRUE;
  g_signal_connect (task, "notify::completed", G_CALLBACK (write_ended), NULL);
  write->begin (task);
  gantry_task_run_in_thread (task, write->thread);
}

void
_gantry_document_write (GantryDocument *document, GTask *task, void (*begin) (GTask *task), GTaskThreadFunc thread)
{
  Write *write = g_new0 (Write, 1);

  *write = (Write){ g_object_ref (task), begin, thread };
  g_queue_push_tail (&document->writes, write);
  begin_next_write (document);
}

/* What is shown may be another model than the one that was saved: it was loaded again while the file was written. */
static void
take_saved_model (GantryDocument *self, const GantryMark *mark, const char *model)
{
  GantryModel *now = gantry_document_get_model (self);

  g_free (self->loaded->session_model);
  self->loaded->session_model = g_strdup (model);
  g_clear_pointer (&self->loaded->other_model, g_free);
  if (self->n_reloads == mark->n_reloads || model == NULL || gantry_model_has_hash (now, model, NULL))
    return;
  self->loaded->other_model = gantry_model_hash (now, NULL);
  self->n_others++;
  _gantry_document_changed (self);
}

void
_gantry_document_saved (GantryDocument *self, const char *path, const GantryMark *mark, const GantrySaved *saved)
{
  gboolean is_new;

  if (self->n_files != mark->n_files) /* another file is open */
    return;
  is_new = g_strcmp0 (self->loaded->session_path, path) != 0;
  if (is_new)
    g_hash_table_remove_all (self->kept_runs);
  for (guint i = 0; i < saved->written->len; i++)
    _gantry_document_keep_run (self, g_ptr_array_index (saved->written, i));
  _gantry_document_take_runs (self, saved->others);
  g_free (self->loaded->session_state);
  self->loaded->session_state = g_strdup (saved->state);
  self->kept = *mark;
  take_saved_model (self, mark, saved->model);
  if (is_new || g_strcmp0 (self->loaded->path, path) != 0)
    {
      g_free (self->loaded->session_path);
      self->loaded->session_path = g_strdup (path);
      g_free (self->loaded->path);
      self->loaded->path = g_strdup (path);
      _gantry_document_notify (self, PROP_PATH);
      _gantry_document_notify (self, PROP_TITLE);
    }
  if (self->n_changes == mark->n_changes)
    _gantry_document_set_modified (self, FALSE);
}
