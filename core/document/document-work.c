/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, compiling and saving on worker threads. A new load cancels the one under way; an answer that comes after that
 * is dropped, because its cancellable is no longer the newest. */
#include "core/document/outside-private.h"
#include "core/base/file.h"
#include "core/base/thread.h"
#include "core/document/outside.h"
#include "core/document/recovery-private.h"
#include <string.h>

#define MOST_RECENT 4u

typedef struct
{
  char *path;
  GantryBindings *bindings;
  GantryOpenOptions options;
  char **trusted;     /* (nullable) */
  GantryModel *model; /* (nullable): of a recompile; @reopen: of which the path is taken */
  gboolean reopen;    /* with other bindings */
  gboolean reload;    /* what the file holds now */
  gboolean embed;
  GantryCompilation *compilation; /* of a save */
  GantryCompilation *known;       /* (nullable): of the same program, made before */
  GantryCompileSettings settings;
  GPtrArray *runs, *variants;
  GantryFront *front; /* (nullable) */
  GHashTable *names;  /* (nullable) */
  char *notes;
  char *session_path, *session_state, *session_model;
  GantryRecovery *recovery; /* (nullable): that is opened */
  char *view;               /* (nullable): what it brings */
  GantrySaved saved;
  GantryMark mark; /* of the document when it was saved */
  GantryActivity *activity;
} Request;

static void
request_free (gpointer data)
{
  Request *request = data;

  g_free (request->path);
  g_strfreev (request->trusted);
  gantry_bindings_unref (request->bindings);
  gantry_model_unref (request->model);
  gantry_compilation_unref (request->compilation);
  gantry_compilation_unref (request->known);
  gantry_compile_settings_clear (&request->settings);
  g_clear_pointer (&request->runs, g_ptr_array_unref);
  g_clear_pointer (&request->variants, g_ptr_array_unref);
  g_clear_pointer (&request->names, g_hash_table_unref);
  _gantry_front_unref (request->front);
  g_free (request->notes);
  g_free (request->session_path);
  g_free (request->session_state);
  g_free (request->session_model);
  g_free (request->view);
  gantry_recovery_unref (request->recovery);
  _gantry_saved_clear (&request->saved);
  if (request->activity != NULL)
    _gantry_document_activity_free (request->activity);
  g_free (request);
}

gboolean
_gantry_may_run (const char *path, const char *saved, const GantryOpenOptions *options, GantryBindings *bindings, GError **error)
{
  g_autofree char *mark = NULL, *sum = NULL;

  if (!gantry_model_is_program (path))
    return TRUE;
  mark = gantry_model_program_mark (path, error);
  if (mark == NULL)
    return FALSE;
  sum = g_strndup (mark, strcspn (mark, " "));
  /* What a file of a stranger names without saying what it is was allowed for itself, not for that file. */
  if (saved != NULL && *saved == '\0' && !options->run_program)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNTRUSTED,
                   "the session does not say which program it was saved with. It names %s, a Python program that may do whatever you "
                   "may",
                   path);
      return FALSE;
    }
  if (saved != NULL && *saved != '\0' && strcmp (saved, sum) != 0 && !options->changed_model)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_CHANGED, GANTRY_MODEL_CHANGED, "", "", path);
      return FALSE;
    }
  gantry_bindings_set_program (bindings, sum);
  if (options->run_program || (options->trusted != NULL && g_strv_contains (options->trusted, mark)))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNTRUSTED,
               "%s is a Python program: to see its graphs Gantry runs it, and it may do whatever you may. Nobody has allowed it as it "
               "is now",
               path);
  return FALSE;
}

/* What is named like a session and does not begin like one. */
static GantryLoaded *
refuse_session (const char *path, GError **error)
{
  g_autoptr (GMappedFile) file = gantry_file_map (path, error);

  if (file != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: no session: %s; take it from where it was saved or copied", path,
                 g_mapped_file_get_length (file) == 0 ? "the file is empty" : "it does not begin as a session does, and is damaged");
  return NULL;
}

GantryLoaded *
_gantry_load (const char *path, const GantryOpenOptions *options, const GantryProgress *progress, GError **error)
{
  const GantryOpenOptions defaults = GANTRY_OPEN_OPTIONS_INIT;
  g_autoptr (GantryLoaded) loaded = NULL;
  g_autoptr (GantryModel) model = NULL;
  g_autoptr (GantryBindings) bindings = NULL;

  if (options == NULL)
    options = &defaults;
  if (gantry_outside_is_trace (path))
    return _gantry_outside_load (path, options, progress, error);
  if (_gantry_session_is_session (path))
    return _gantry_session_load (path, options, progress, error);
  if (g_str_has_suffix (path, ".gantry"))
    return refuse_session (path, error);
  bindings = gantry_bindings_copy (options->bindings);
  if (!_gantry_may_run (path, NULL, options, bindings, error))
    return NULL;
  gantry_progress_report (progress, -1, "Opening");
  model = gantry_model_open (path, bindings, options->random_weights, progress, error);
  if (model == NULL)
    return NULL;
  loaded = g_new0 (GantryLoaded, 1);
  loaded->path = g_strdup (path);
  loaded->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_run_result_unref);
  if (options->settings != NULL)
    gantry_compile_settings_copy (&loaded->settings, options->settings);
  else
    gantry_compile_settings_init (&loaded->settings);
  gantry_compile_settings_take_machine (&loaded->settings, 0);
  if (loaded->settings.policy == NULL)
    loaded->settings.policy = g_strdup (model->policy);
  if (options->adjust != NULL)
    options->adjust (&loaded->settings, options->adjust_data);
  loaded->compilation = gantry_compile (model, &loaded->settings, progress, error);
  if (loaded->compilation == NULL || !_gantry_limit_settle (&loaded->compilation, &loaded->settings, progress, error))
    return NULL;
  loaded->forecast = _gantry_document_forecast (loaded->compilation, progress);
  return g_steal_pointer (&loaded);
}

static GTask *
start (GantryDocument *document, Request *request, GAsyncReadyCallback callback, gpointer user_data, gpointer tag)
{
  GCancellable *cancellable = _gantry_document_begin_job (document, GANTRY_JOB_LOAD);
  GTask *task = g_task_new (document, cancellable, callback, user_data);

  g_task_set_source_tag (task, tag);
  request->activity = _gantry_document_activity_new (document, cancellable);
  g_task_set_task_data (task, request, request_free);
  return task;
}

/* Open */

static void
open_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Request *request = data;
  GError *error = NULL;
  const GantryProgress *progress = _gantry_document_activity_progress (request->activity);
  GantryLoaded *loaded = request->recovery != NULL ? _gantry_recovery_load (request->path, &request->options, progress, &request->view, &error)
                                                   : _gantry_load (request->path, &request->options, progress, &error);

  g_autoptr (GantryModel) model = loaded != NULL ? gantry_model_ref (loaded->compilation->model) : NULL;

  if (loaded != NULL)
    g_task_return_pointer (task, loaded, (GDestroyNotify) _gantry_loaded_free);
  else
    {
      g_task_return_error (task, error);
      return;
    }
  /* What was opened is hashed while it is still that, and nobody waits for it. */
  g_free (gantry_model_hash (model, NULL));
}

/* Takes the result when the task ends on the owning thread, so that a caller who does not call finish gets it as well. */
typedef struct
{
  GAsyncReadyCallback callback;
  gpointer user_data;
  gboolean tell; /* nobody waits: the signal tells what goes wrong */
} Relay;

static gboolean
end (GantryDocument *document, GTask *task, GError **error)
{
  const Request *request = g_task_get_task_data (task);
  GantryLoaded *loaded = g_task_propagate_pointer (task, error);
  gboolean newest = _gantry_document_end_job (document, GANTRY_JOB_LOAD, g_task_get_cancellable (task));

  if (loaded != NULL && newest)
    {
      _gantry_document_install (document, loaded, request->model != NULL);
      return TRUE;
    }
  if (loaded != NULL) /* a blocking call was quicker */
    {
      _gantry_loaded_free (loaded);
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "newer work has taken its place");
      return FALSE;
    }
  if (newest && request->reopen && !g_cancellable_is_cancelled (g_task_get_cancellable (task)))
    _gantry_document_give_up_bindings (document);
  /* A file that could not be opened has displaced the compilation that an edit had asked for. */
  if (newest && document->stale && g_task_get_source_tag (task) == gantry_document_open_async)
    _gantry_document_refresh (document);
  return FALSE;
}

static void
relay (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autofree Relay *to = user_data;
  GantryDocument *document = GANTRY_DOCUMENT (source);
  g_autoptr (GTask) outer = g_task_new (source, NULL, to->callback, to->user_data);
  const Request *request = g_task_get_task_data (G_TASK (result));
  GError *error = NULL;

  g_task_set_source_tag (outer, g_task_get_source_tag (G_TASK (result)));
  if (end (document, G_TASK (result), &error))
    {
      char **view = g_new0 (char *, 2);

      if (request->recovery != NULL)
        _gantry_recovery_take (request->recovery, document);
      view[0] = g_strdup (request->view);
      g_task_set_task_data (outer, view, (GDestroyNotify) g_strfreev);
      g_task_return_boolean (outer, TRUE);
      return;
    }
  if (to->tell)
    _gantry_document_tell_error (
      document, request->reopen ? "The model could not be opened with these sizes and values" : "The program could not be compiled again", error);
  g_task_return_error (outer, error);
}

static Relay *
relay_new (GAsyncReadyCallback callback, gpointer user_data, gboolean tell)
{
  Relay *to = g_new0 (Relay, 1);

  *to = (Relay){ callback, user_data, tell };
  return to;
}

/* The caller's options may be gone before the thread reads them. */
static void
copy_options (Request *request, const GantryOpenOptions *options)
{
  request->options.random_weights = options != NULL ? options->random_weights : -1;
  request->bindings = gantry_bindings_copy (options != NULL ? options->bindings : NULL);
  request->options.bindings = request->bindings;
  request->trusted = g_strdupv (options != NULL ? (char **) options->trusted : NULL);
  request->options.changed_model = options != NULL && options->changed_model;
  request->options.run_program = options != NULL && options->run_program;
  request->options.trusted = (const char *const *) request->trusted;
  if (options != NULL && options->settings != NULL)
    {
      gantry_compile_settings_copy (&request->settings, options->settings);
      request->options.settings = &request->settings;
    }
}

void
gantry_document_open_async (GantryDocument *document, const char *path, const GantryOpenOptions *options, GAsyncReadyCallback callback, gpointer user_data)
{
  Request *request = g_new0 (Request, 1);
  g_autoptr (GTask) task = NULL;

  gantry_document_cancel (document); /* a run or a search is of what was open */
  request->path = g_strdup (path);
  copy_options (request, options);
  task = start (document, request, relay, relay_new (callback, user_data, FALSE), gantry_document_open_async);
  gantry_task_run_in_thread (task, open_thread);
}

gboolean
gantry_document_open_finish (GantryDocument *document, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

void
gantry_document_recover_async (GantryDocument *document, GantryRecovery *recovery, const GantryOpenOptions *options, GAsyncReadyCallback callback,
                               gpointer user_data)
{
  Request *request = g_new0 (Request, 1);
  g_autoptr (GTask) task = NULL;

  gantry_document_cancel (document);
  request->recovery = gantry_recovery_ref (recovery);
  request->path = g_strdup (gantry_recovery_get_path (recovery));
  copy_options (request, options);
  task = start (document, request, relay, relay_new (callback, user_data, FALSE), gantry_document_open_async);
  gantry_task_run_in_thread (task, open_thread);
}

gboolean
gantry_document_recover_finish (GantryDocument *document, GAsyncResult *result, char **view, GError **error)
{
  char **brought = g_task_get_task_data (G_TASK (result));

  if (!g_task_propagate_boolean (G_TASK (result), error))
    return FALSE;
  *view = g_strdup (*brought);
  return TRUE;
}

/* Recompile */

static gboolean
is_of_program (const GantryCompilation *compilation, const GantryCompileSettings *settings, const GantryBindings *bindings)
{
  return gantry_compile_settings_same_program (&compilation->settings, settings) && gantry_bindings_equal (compilation->model->bindings, bindings);
}

void
_gantry_document_remember (GantryDocument *document, GantryCompilation *compilation)
{
  GPtrArray *recent = document->recent;

  for (guint i = recent->len; i > 0; i--)
    if (compilation == NULL || is_of_program (g_ptr_array_index (recent, i - 1), &compilation->settings, compilation->model->bindings))
      g_ptr_array_remove_index (recent, i - 1);
  if (compilation != NULL)
    g_ptr_array_add (recent, gantry_compilation_ref (compilation));
  if (recent->len > MOST_RECENT)
    g_ptr_array_remove_index (recent, 0);
}

/* What undo goes back to is not compiled again: it would be the same, but for the ids of its nodes, which runs and recordings name. */
static GantryCompilation *
find_known (GantryDocument *document)
{
  for (guint i = document->recent->len; i > 0; i--)
    {
      GantryCompilation *compilation = g_ptr_array_index (document->recent, i - 1);

      if (compilation->refusal == NULL && is_of_program (compilation, &document->state->settings, document->state->bindings))
        return gantry_compilation_ref (compilation);
    }
  return NULL;
}

/* Files are looked at on a worker: they may lie on a disk that does not answer. */
static void
drop_if_changed (Request *request)
{
  if (request->known != NULL && gantry_model_find_changed (request->known->model) != NULL)
    g_clear_pointer (&request->known, gantry_compilation_unref);
}

static GantryModel *
model_again (Request *request, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryBindings) bindings = NULL;
  GantryModel *model;

  if (request->known != NULL)
    return gantry_model_ref (request->known->model);
  if (!request->reopen && !request->reload)
    return gantry_model_ref (request->model);
  bindings = gantry_bindings_copy (request->bindings);
  /* A program runs again as what was allowed: anything else is to be opened anew, or allowed now. */
  if (request->model->bindings->program != NULL)
    gantry_bindings_set_program (bindings, request->model->bindings->program);
  if (request->options.run_program && !_gantry_may_run (request->model->path, NULL, &request->options, bindings, error))
    return NULL;
  gantry_progress_report (progress, -1, "Opening");
  model = gantry_model_open (request->model->path, bindings, request->model->random_weights, progress, error);
  if (model != NULL)
    model->carried_as = g_strdup (request->model->carried_as);
  return model;
}

/* What is the same program again has the same ids, by which its runs name nodes. */
static void
take_ids (const GantryModel *model, const GantryCompilation *before)
{
  if (before != NULL && before->first_id > gantry_context_last_node_id (model->module->context))
    gantry_context_reserve_node_ids (model->module->context, before->first_id);
}

static GantryLoaded *
compile_again (Request *request, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryModel) model = NULL;
  GantryLoaded *loaded;
  GantryCompilation *compilation;

  if (!request->reload && !gantry_model_check_files (request->model, error))
    return NULL;
  model = model_again (request, progress, error);
  if (model != NULL && model != request->model && request->known == NULL)
    take_ids (model, request->compilation);
  if (request->known != NULL)
    compilation = gantry_compilation_replan (request->known, &request->settings, progress, error);
  else
    compilation = model != NULL ? gantry_compile (model, &request->settings, progress, error) : NULL;
  if (compilation == NULL)
    return NULL;
  if (!_gantry_limit_settle (&compilation, &request->settings, progress, error))
    {
      gantry_compilation_unref (compilation);
      return NULL;
    }
  if (!gantry_model_check_files (model, error)) /* while it was read */
    {
      gantry_compilation_unref (compilation);
      return NULL;
    }
  loaded = g_new0 (GantryLoaded, 1);
  loaded->path = g_strdup (request->path);
  loaded->session_path = g_strdup (request->session_path);
  loaded->session_state = g_strdup (request->session_state);
  loaded->compilation = compilation;
  gantry_compile_settings_copy (&loaded->settings, &request->settings);
  loaded->reloaded = request->reload;
  if (request->reload && (request->runs->len > 0 || request->session_path != NULL))
    {
      loaded->old_hash = gantry_model_hash (request->model, NULL); /* NULL: its files are gone */
      loaded->hash = gantry_model_hash (model, error);
      if (loaded->hash == NULL)
        {
          _gantry_loaded_free (loaded);
          return NULL;
        }
    }
  loaded->forecast = _gantry_document_forecast (compilation, progress);
  return loaded;
}

static void
recompile_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Request *request = data;
  g_autoptr (GantryModel) model = NULL;
  gboolean reload = request->reload;
  GError *error = NULL;
  GantryLoaded *loaded;

  drop_if_changed (request);
  loaded = compile_again (request, _gantry_document_activity_progress (request->activity), &error);

  if (loaded == NULL)
    {
      g_task_return_error (task, error);
      return;
    }
  model = gantry_model_ref (loaded->compilation->model);
  g_task_return_pointer (task, loaded, (GDestroyNotify) _gantry_loaded_free);
  if (reload) /* as what was opened */
    g_free (gantry_model_hash (model, NULL));
}

static void
take_files (Request *request, GantryDocument *document)
{
  g_free (request->session_path);
  g_free (request->session_state);
  g_free (request->session_model);
  request->session_path = g_strdup (document->loaded->session_path);
  request->session_state = g_strdup (document->loaded->session_state);
  request->session_model = g_strdup (document->loaded->session_model);
}

static Request *
request_of_document (GantryDocument *document)
{
  Request *request = g_new0 (Request, 1);

  request->path = g_strdup (document->loaded->path);
  take_files (request, document);
  request->model = gantry_model_ref (gantry_document_get_model (document));
  request->reopen = !gantry_bindings_equal (document->state->bindings, request->model->bindings);
  request->compilation = gantry_compilation_ref (document->loaded->compilation);
  gantry_compile_settings_copy (&request->settings, &document->state->settings);
  request->bindings = gantry_bindings_ref (document->state->bindings);
  request->runs = _gantry_document_copy_runs (document); /* those of the document change while a thread reads */
  request->variants = g_ptr_array_ref (document->state->variants);
  request->front = _gantry_front_ref (_gantry_document_front_to_save (document));
  request->names = document->names != NULL ? g_hash_table_ref (document->names) : NULL;
  request->notes = g_strdup (document->notes);
  request->embed = document->embed;
  request->mark = _gantry_document_mark (document);
  return request;
}

typedef enum
{
  RELOAD_NOTHING,
  RELOAD_FILE,
  RELOAD_PROGRAM
} Reload;

static void
recompile (GantryDocument *document, gboolean tell, Reload reload, GAsyncReadyCallback callback, gpointer user_data)
{
  Request *request = request_of_document (document);
  g_autoptr (GTask) task = start (document, request, relay, relay_new (callback, user_data, tell), gantry_document_recompile_async);

  request->reload = reload != RELOAD_NOTHING;
  request->options.run_program = reload == RELOAD_PROGRAM;
  request->known = request->reload ? NULL : find_known (document);
  gantry_task_run_in_thread (task, recompile_thread);
}

void
gantry_document_recompile_async (GantryDocument *document, GAsyncReadyCallback callback, gpointer user_data)
{
  g_return_if_fail (gantry_document_get_model (document) != NULL);
  recompile (document, callback == NULL, RELOAD_NOTHING, callback, user_data);
}

void
gantry_document_reload_async (GantryDocument *document, gboolean run_program, GAsyncReadyCallback callback, gpointer user_data)
{
  g_return_if_fail (gantry_document_get_model (document) != NULL);
  recompile (document, FALSE, run_program ? RELOAD_PROGRAM : RELOAD_FILE, callback, user_data);
}

void
_gantry_document_refresh (GantryDocument *document)
{
  recompile (document, TRUE, RELOAD_NOTHING, NULL, NULL);
}

gboolean
gantry_document_recompile_finish (GantryDocument *document, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

/* Save */

static void
save_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Request *request = data;
  gboolean again = g_strcmp0 (request->path, request->session_path) == 0;
  GantrySessionParts parts = { .compilation = request->compilation,
                               .settings = &request->settings,
                               .runs = request->runs,
                               .variants = request->variants,
                               .front = request->front,
                               .names = request->names,
                               .notes = request->notes,
                               .bindings = request->bindings,
                               .base = again ? request->session_state : NULL,
                               .base_model = again ? request->session_model : NULL,
                               .embed = request->embed };
  GError *error = NULL;

  if (_gantry_session_save (request->path, &parts, &request->saved, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/* What was written before it has changed what the session file holds, and may have deleted runs. */
static void
begin_save (GTask *task)
{
  GantryDocument *document = g_task_get_source_object (task);
  Request *request = g_task_get_task_data (task);

  if (request->mark.n_files != document->n_files)
    return;
  take_files (request, document);
  for (guint i = request->runs->len; i > 0; i--)
    if (g_hash_table_contains (document->deleted_runs, ((GantryRunResult *) g_ptr_array_index (request->runs, i - 1))->uid))
      g_ptr_array_remove_index (request->runs, i - 1);
}

void
gantry_document_save_async (GantryDocument *document, const char *path, GAsyncReadyCallback callback, gpointer user_data)
{
  Request *request;
  g_autoptr (GTask) task = g_task_new (document, NULL, callback, user_data);

  g_return_if_fail (gantry_document_get_model (document) != NULL);
  request = request_of_document (document);
  g_free (request->path);
  request->path = g_strdup (path != NULL ? path : request->session_path);
  g_task_set_task_data (task, request, request_free);
  if (request->path == NULL)
    g_task_return_new_error (task, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the session has no file yet: say where to save it");
  else
    _gantry_document_write (document, task, begin_save, save_thread);
}

gboolean
gantry_document_save_finish (GantryDocument *document, GAsyncResult *result, GError **error)
{
  const Request *request = g_task_get_task_data (G_TASK (result));

  if (!g_task_propagate_boolean (G_TASK (result), error))
    return FALSE;
  _gantry_document_saved (document, request->path, &request->mark, &request->saved);
  return TRUE;
}
