/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a document: which are in its session file, which is shown, what others add to the file, and deleting. */
#include "core/document/document-private.h"
#include "core/base/thread.h"
#include "core/document/session-private.h"

/* What the document holds */

void
_gantry_document_keep_run (GantryDocument *self, const GantryRunResult *run)
{
  g_hash_table_add (self->kept_runs, g_strdup (run->uid));
  g_hash_table_remove (self->unsaved_runs, run->uid);
}

const GError *
gantry_document_get_left_out (GantryDocument *self)
{
  return self->loaded != NULL ? self->loaded->notice : NULL;
}

static gpointer
ref_run (gconstpointer run, gpointer data)
{
  return gantry_run_result_ref ((GantryRunResult *) run);
}

GPtrArray *
_gantry_document_copy_runs (GantryDocument *self)
{
  return g_ptr_array_copy (self->loaded->runs, ref_run, NULL);
}

void
_gantry_document_take_runs (GantryDocument *self, GPtrArray *runs)
{
  guint before = self->loaded->runs->len;

  for (guint i = 0; runs != NULL && i < runs->len; i++)
    {
      GantryRunResult *run = g_ptr_array_index (runs, i);

      if (g_hash_table_contains (self->deleted_runs, run->uid)) /* the file was read before it was deleted */
        continue;
      _gantry_document_keep_run (self, run);
      g_ptr_array_add (self->loaded->runs, gantry_run_result_ref (run));
    }
  if (self->loaded->runs->len > before)
    _gantry_document_notify (self, PROP_RUN);
}

/* The last run of the program, (nullable). A run of another program is none of this one: its lanes would lie under a plan that it has
 * nothing to do with. */
static GantryRunResult *
run_of (GPtrArray *runs, const GantryCompilation *compilation)
{
  for (guint i = runs->len; i > 0; i--)
    if (gantry_run_result_is_of (g_ptr_array_index (runs, i - 1), compilation))
      return g_ptr_array_index (runs, i - 1);
  return NULL;
}

/* What was recovered, and is not in the session file, was not saved. */
void
_gantry_document_begin_runs (GantryDocument *self, const GantryLoaded *loaded)
{
  g_hash_table_remove_all (self->kept_runs);
  g_hash_table_remove_all (self->unsaved_runs);
  g_hash_table_remove_all (self->deleted_runs);
  for (guint i = 0; i < loaded->runs->len; i++)
    {
      const GantryRunResult *run = g_ptr_array_index (loaded->runs, i);

      if (loaded->session_path != NULL && i < loaded->n_kept_runs)
        _gantry_document_keep_run (self, run);
      else if (loaded->history != NULL)
        g_hash_table_add (self->unsaved_runs, g_strdup (run->uid));
    }
  gantry_run_result_unref (self->run);
  self->run = run_of (loaded->runs, loaded->compilation);
  if (self->run != NULL)
    gantry_run_result_ref (self->run);
}

/* The file holds another model now: what ran before was of the one before. A file that holds again what it held has its runs again. */
void
_gantry_document_part_runs (GantryLoaded *loaded, const GantryLoaded *old)
{
  GPtrArray *runs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_run_result_unref);
  const char *before = loaded->old_hash != NULL ? loaded->old_hash : old->other_model != NULL ? old->other_model : old->session_model;

  if (before == NULL)
    before = "unknown"; /* its files were gone before they were hashed */
  for (guint i = 0; i < loaded->runs->len; i++)
    {
      GantryRunResult *run = g_ptr_array_index (loaded->runs, i);
      const char *own = run->other_model != NULL ? run->other_model : before;

      g_ptr_array_add (runs, _gantry_run_result_of_model (run, g_strcmp0 (own, loaded->hash) != 0 ? own : NULL));
    }
  g_ptr_array_unref (loaded->runs);
  loaded->runs = runs;
}

void
_gantry_document_choose_run (GantryDocument *self)
{
  /* Those of a model that was loaded again are other objects. */
  if (self->run != NULL && !g_ptr_array_find (self->loaded->runs, self->run, NULL))
    gantry_document_set_run (self, NULL);
  if (self->run == NULL || !gantry_run_result_is_of (self->run, self->loaded->compilation))
    gantry_document_set_run (self, run_of (self->loaded->runs, self->loaded->compilation));
}

void
gantry_document_set_run (GantryDocument *self, GantryRunResult *result)
{
  if (self->run == result)
    return;
  if (result != NULL)
    gantry_run_result_ref (result);
  gantry_run_result_unref (self->run);
  self->run = result;
  _gantry_document_notify (self, PROP_RUN);
}

gboolean
gantry_document_is_run_of_another (GantryDocument *self, GantryRunResult *run)
{
  GantryCompilation *compilation = gantry_document_get_compilation (self);
  gpointer known;
  gboolean is_of_another;

  if (run == NULL || compilation == NULL)
    return FALSE;
  if (g_hash_table_lookup_extended (self->runs_of_another, run, NULL, &known))
    return GPOINTER_TO_INT (known);
  is_of_another = gantry_run_result_is_of_another (run, compilation);
  g_hash_table_insert (self->runs_of_another, gantry_run_result_ref (run), GINT_TO_POINTER (is_of_another));
  return is_of_another;
}

void
gantry_document_add_run (GantryDocument *self, GantryRunResult *result)
{
  g_return_if_fail (self->loaded != NULL);
  if (result->program == NULL)
    result->program = _gantry_session_fingerprint (self->loaded->compilation);
  g_ptr_array_add (self->loaded->runs, gantry_run_result_ref (result));
  g_hash_table_add (self->unsaved_runs, g_strdup (result->uid));
  _gantry_document_changed (self);
  gantry_document_set_run (self, result);
}

/* What others add to the session file */

typedef struct
{
  char *path, *model; /* (nullable): as of _gantry_session_load_runs() */
  GPtrArray *known;   /* GantryRunResult */
  GError *notice;     /* (nullable): of runs that are left out */
} Merging;

static void
merging_free (gpointer data)
{
  Merging *merging = data;

  g_free (merging->path);
  g_free (merging->model);
  g_ptr_array_unref (merging->known);
  g_clear_error (&merging->notice);
  g_free (merging);
}

static void
merge_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Merging *merging = data;
  GError *error = NULL;
  GPtrArray *runs = _gantry_session_load_runs (merging->path, merging->known, merging->model, cancellable, &merging->notice, &error);

  if (runs != NULL)
    g_task_return_pointer (task, runs, (GDestroyNotify) g_ptr_array_unref);
  else
    g_task_return_error (task, error);
}

void
gantry_document_merge_runs_async (GantryDocument *document, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (document, NULL, callback, user_data);
  Merging *merging;

  if (gantry_document_get_session_path (document) == NULL)
    {
      g_task_return_new_error (task, GANTRY_ERROR, GANTRY_ERROR_INVALID, "there is no session file");
      return;
    }
  merging = g_new0 (Merging, 1);
  merging->path = g_strdup (document->loaded->session_path);
  merging->model = g_strdup (document->loaded->other_model);
  merging->known = _gantry_document_copy_runs (document);
  g_task_set_task_data (task, merging, merging_free);
  gantry_task_run_in_thread (task, merge_thread);
}

/* Each time that the file changes all of it is looked at: what was told at opening or at the merge before is not told again. */
static void
tell_left_out (GantryDocument *document, const GError *notice)
{
  GError **told = &document->loaded->notice;

  if (notice == NULL || (*told != NULL && strcmp ((*told)->message, notice->message) == 0))
    return;
  g_clear_error (told);
  *told = g_error_copy (notice);
  _gantry_document_tell_error (document, "Not all of the file is shown", *told);
}

guint
gantry_document_merge_runs_finish (GantryDocument *document, GAsyncResult *result, GError **error)
{
  const Merging *merging = g_task_get_task_data (G_TASK (result));
  g_autoptr (GPtrArray) runs = g_task_propagate_pointer (G_TASK (result), error), others = NULL;

  if (runs == NULL || g_strcmp0 (merging->path, gantry_document_get_session_path (document)) != 0
      || g_strcmp0 (merging->model, document->loaded->other_model) != 0) /* the model was loaded again meanwhile */
    return 0;
  /* A save may have brought them meanwhile. */
  others = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_run_result_unref);
  for (guint i = 0; i < runs->len; i++)
    if (!g_hash_table_contains (document->kept_runs, ((GantryRunResult *) g_ptr_array_index (runs, i))->uid))
      g_ptr_array_add (others, gantry_run_result_ref (g_ptr_array_index (runs, i)));
  _gantry_document_take_runs (document, others);
  if (others->len > 0)
    gantry_document_set_run (document, g_ptr_array_index (others, others->len - 1));
  tell_left_out (document, merging->notice);
  return others->len;
}

/* Another run is shown, and it is saved no more. */
static void
forget_run (GantryDocument *self, const char *uid)
{
  GPtrArray *runs = self->loaded->runs;
  guint i = 0;

  g_hash_table_remove (self->kept_runs, uid);
  g_hash_table_add (self->deleted_runs, g_strdup (uid));
  /* By its name: a model that was loaded again meanwhile has its runs as other objects. */
  while (i < runs->len && g_strcmp0 (((GantryRunResult *) g_ptr_array_index (runs, i))->uid, uid) != 0)
    i++;
  if (i == runs->len)
    return;
  g_hash_table_remove (self->runs_of_another, g_ptr_array_index (runs, i));
  g_ptr_array_remove_index (runs, i);
  if (g_hash_table_remove (self->unsaved_runs, uid))
    _gantry_document_changed (self);
  _gantry_document_choose_run (self);
  _gantry_document_notify (self, PROP_RUN); /* the list of them is another one */
}

/* Deleting */

typedef struct
{
  char *path; /* (nullable): it is in no file */
  char *uid;
  guint64 n_files;           /* of the document: another file may be open when it ends */
  GCancellable *cancellable; /* (nullable): of the job, once it has begun */
} Deleting;

static void
deleting_free (gpointer data)
{
  Deleting *deleting = data;

  g_free (deleting->path);
  g_free (deleting->uid);
  g_clear_object (&deleting->cancellable);
  g_free (deleting);
}

static void
delete_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Deleting *deleting = data;
  GError *error = NULL;

  if (deleting->path == NULL || _gantry_session_delete_run (deleting->path, deleting->uid, deleting->cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
deletion_ended (GObject *task, GParamSpec *property, gpointer data)
{
  const Deleting *deleting = g_task_get_task_data (G_TASK (task));

  _gantry_document_end_job (g_task_get_source_object (G_TASK (task)), GANTRY_JOB_DELETE, deleting->cancellable);
}

/* A save that was under way may have put it into the file, or made the file. */
static void
begin_deletion (GTask *task)
{
  GantryDocument *document = g_task_get_source_object (task);
  Deleting *deleting = g_task_get_task_data (task);

  if (deleting->n_files == document->n_files)
    {
      g_free (deleting->path);
      deleting->path = g_hash_table_contains (document->kept_runs, deleting->uid) ? g_strdup (document->loaded->session_path) : NULL;
    }
  deleting->cancellable = g_object_ref (_gantry_document_begin_job (document, GANTRY_JOB_DELETE));
  g_signal_connect (task, "notify::completed", G_CALLBACK (deletion_ended), NULL);
  _gantry_document_set_activity (document, "Deleting a run", -1);
}

void
gantry_document_delete_run_async (GantryDocument *document, GantryRunResult *run, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (document, NULL, callback, user_data);
  Deleting *deleting = g_new0 (Deleting, 1);

  g_return_if_fail (document->loaded != NULL);
  deleting->uid = g_strdup (run->uid);
  deleting->n_files = document->n_files;
  deleting->path = g_hash_table_contains (document->kept_runs, run->uid) ? g_strdup (document->loaded->session_path) : NULL;
  g_task_set_task_data (task, deleting, deleting_free);
  _gantry_document_write (document, task, begin_deletion, delete_thread);
}

gboolean
gantry_document_delete_run_finish (GantryDocument *document, GAsyncResult *result, GError **error)
{
  const Deleting *deleting = g_task_get_task_data (G_TASK (result));

  if (!g_task_propagate_boolean (G_TASK (result), error))
    return FALSE;
  if (deleting->n_files == document->n_files)
    forget_run (document, deleting->uid);
  return TRUE;
}
