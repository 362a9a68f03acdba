/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, compiling and saving on worker threads. A new request cancels the one under way; an answer
 * that comes after that is dropped, because its cancellable is cancelled. */
#include "core/document/document-private.h"

typedef struct
{
  char *path;
  char **dim_names;
  GantryDimBinding *dims;
  GantryOpenOptions options;
  GantryModel *model;
  GantryCompilation *compilation;
  GantryCompileSettings settings;
  GPtrArray *runs;
  char *session_path;
  guint64 n_changes; /* of the document when it was saved */
  GantryActivity *activity;
} Request;

static void
request_free (gpointer data)
{
  Request *request = data;

  g_free (request->path);
  g_strfreev (request->dim_names);
  g_free (request->dims);
  gantry_model_unref (request->model);
  gantry_compilation_unref (request->compilation);
  gantry_compile_settings_clear (&request->settings);
  g_clear_pointer (&request->runs, g_ptr_array_unref);
  g_free (request->session_path);
  if (request->activity != NULL)
    _gantry_activity_free (request->activity);
  g_free (request);
}

GantryLoaded *
_gantry_load (const char *path, const GantryOpenOptions *options, const GantryProgress *progress, GError **error)
{
  const GantryOpenOptions defaults = GANTRY_OPEN_OPTIONS_INIT;
  g_autoptr (GantryLoaded) loaded = NULL;
  g_autoptr (GantryModel) model = NULL;

  if (options == NULL)
    options = &defaults;
  if (_gantry_session_is_session (path))
    return _gantry_session_load (path, options, progress, error);
  gantry_progress_report (progress, -1, "Opening");
  model = gantry_model_open (path, options->dims, options->n_dims, options->random_weights, progress, error);
  if (model == NULL)
    return NULL;
  loaded = g_new0 (GantryLoaded, 1);
  loaded->path = g_strdup (path);
  loaded->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_run_result_unref);
  if (options->settings != NULL)
    gantry_compile_settings_copy (&loaded->settings, options->settings);
  else
    gantry_compile_settings_init (&loaded->settings);
  loaded->compilation = gantry_compile (model, &loaded->settings, progress, error);
  return loaded->compilation != NULL ? g_steal_pointer (&loaded) : NULL;
}

static GTask *
start (GantryDocument *document, Request *request, GAsyncReadyCallback callback, gpointer user_data, gpointer tag)
{
  GCancellable *cancellable = _gantry_document_renew (document);
  GTask *task = g_task_new (document, cancellable, callback, user_data);

  g_task_set_source_tag (task, tag);
  request->activity = _gantry_activity_new (document, cancellable);
  g_task_set_task_data (task, request, request_free);
  _gantry_document_set_busy (document, TRUE);
  return task;
}

/* Open */

static void
open_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Request *request = data;
  GError *error = NULL;
  GantryLoaded *loaded = _gantry_load (request->path, &request->options,
                                       _gantry_activity_progress (request->activity), &error);

  if (loaded != NULL)
    g_task_return_pointer (task, loaded, (GDestroyNotify) _gantry_loaded_free);
  else
    g_task_return_error (task, error);
}

/* Takes the result when the task ends on the owning thread, so that a caller who does not call finish gets it as well. */
typedef struct
{
  GAsyncReadyCallback callback;
  gpointer user_data;
} Relay;

static gboolean
end (GantryDocument *document, GTask *task, GError **error)
{
  GantryLoaded *loaded = g_task_propagate_pointer (task, error);

  gboolean newest = _gantry_document_is_newest (document, g_task_get_cancellable (task));

  if (newest)
    _gantry_document_set_busy (document, FALSE);
  if (loaded != NULL)
    _gantry_document_install (document, loaded);
  /* A file that could not be opened has displaced the compilation that an edit had asked for. */
  else if (newest && _gantry_document_is_stale (document) &&
           g_task_get_source_tag (task) == gantry_document_open_async)
    gantry_document_recompile_async (document, NULL, NULL);
  return loaded != NULL;
}

static void
relay (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autofree Relay *to = user_data;
  GantryDocument *document = GANTRY_DOCUMENT (source);
  g_autoptr (GTask) outer = g_task_new (source, NULL, to->callback, to->user_data);
  GError *error = NULL;

  g_task_set_source_tag (outer, g_task_get_source_tag (G_TASK (result)));
  if (end (document, G_TASK (result), &error))
    g_task_return_boolean (outer, TRUE);
  else
    g_task_return_error (outer, error);
}

static Relay *
relay_new (GAsyncReadyCallback callback, gpointer user_data)
{
  Relay *to = g_new0 (Relay, 1);

  *to = (Relay){ callback, user_data };
  return to;
}

/* The caller's options may be gone before the thread reads them. */
static void
copy_options (Request *request, const GantryOpenOptions *options)
{
  guint n = options != NULL ? options->n_dims : 0;

  request->options.random_weights = options != NULL ? options->random_weights : -1;
  request->dims = g_new0 (GantryDimBinding, n + 1);
  request->dim_names = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    {
      request->dim_names[i] = g_strdup (options->dims[i].name);
      request->dims[i] = (GantryDimBinding){ request->dim_names[i], options->dims[i].size };
    }
  request->options.dims = request->dims;
  request->options.n_dims = n;
  if (options != NULL && options->settings != NULL)
    {
      gantry_compile_settings_copy (&request->settings, options->settings);
      request->options.settings = &request->settings;
    }
}

void
gantry_document_open_async (GantryDocument *document, const char *path, const GantryOpenOptions *options,
                            GAsyncReadyCallback callback, gpointer user_data)
{
  Request *request = g_new0 (Request, 1);
  g_autoptr (GTask) task = NULL;

  request->path = g_strdup (path);
  copy_options (request, options);
  task = start (document, request, relay, relay_new (callback, user_data), gantry_document_open_async);
  g_task_run_in_thread (task, open_thread);
}

gboolean
gantry_document_open_finish (GantryDocument *document, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

/* Recompile */

static void
recompile_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Request *request = data;
  GError *error = NULL;
  GantryLoaded *loaded;
  GantryCompilation *compilation = gantry_compile (request->model, &request->settings,
                                                   _gantry_activity_progress (request->activity), &error);

  if (compilation == NULL)
    {
      g_task_return_error (task, error);
      return;
    }
  loaded = g_new0 (GantryLoaded, 1);
  loaded->path = g_strdup (request->path);
  loaded->session_path = g_strdup (request->session_path);
  loaded->compilation = compilation;
  gantry_compile_settings_copy (&loaded->settings, &request->settings);
  loaded->runs = g_ptr_array_ref (request->runs);
  g_task_return_pointer (task, loaded, (GDestroyNotify) _gantry_loaded_free);
}

static Request *
request_of_document (GantryDocument *document)
{
  Request *request = g_new0 (Request, 1);

  request->path = g_strdup (gantry_document_get_path (document));
  request->session_path = g_strdup (_gantry_document_session_path (document));
  request->model = gantry_model_ref (gantry_document_get_model (document));
  request->compilation = gantry_compilation_ref (gantry_document_get_compilation (document));
  gantry_compile_settings_copy (&request->settings, gantry_document_get_settings (document));
  request->runs = g_ptr_array_ref (gantry_document_get_runs (document));
  request->n_changes = _gantry_document_n_changes (document);
  return request;
}

void
gantry_document_recompile_async (GantryDocument *document, GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (gantry_document_get_model (document) != NULL);
  task = start (document, request_of_document (document), relay, relay_new (callback, user_data),
                gantry_document_recompile_async);
  g_task_run_in_thread (task, recompile_thread);
}

gboolean
gantry_document_recompile_finish (GantryDocument *document, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

/* Save */

static gpointer
ref_run (gconstpointer run, gpointer data)
{
  return gantry_run_result_ref ((GantryRunResult *) run);
}

static void
save_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Request *request = data;
  GError *error = NULL;

  if (_gantry_session_save (request->path, request->compilation, &request->settings, request->runs, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

void
gantry_document_save_async (GantryDocument *document, const char *path, GAsyncReadyCallback callback,
                            gpointer user_data)
{
  Request *request;
  g_autoptr (GTask) task = g_task_new (document, NULL, callback, user_data);

  g_return_if_fail (gantry_document_get_model (document) != NULL);
  request = request_of_document (document);
  /* A run may end while the thread writes: it reads a list of its own. */
  g_ptr_array_unref (request->runs);
  request->runs = g_ptr_array_copy (gantry_document_get_runs (document), ref_run, NULL);
  g_free (request->path);
  request->path = g_strdup (path != NULL ? path : request->session_path);
  g_task_set_task_data (task, request, request_free);
  if (request->path == NULL)
    g_task_return_new_error (task, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the session has no file yet: say where to save it");
  else
    g_task_run_in_thread (task, save_thread);
}

gboolean
gantry_document_save_finish (GantryDocument *document, GAsyncResult *result, GError **error)
{
  const Request *request = g_task_get_task_data (G_TASK (result));

  if (!g_task_propagate_boolean (G_TASK (result), error))
    return FALSE;
  _gantry_document_saved (document, request->path, request->model, request->n_changes);
  return TRUE;
}

/* A dimension is bound when the file is read, so binding one reads it again. */
void
gantry_document_bind_dim (GantryDocument *document, const char *name, gint64 size)
{
  const GantryModel *model = gantry_document_get_model (document);
  GantryOpenOptions options = GANTRY_OPEN_OPTIONS_INIT;
  g_autofree GantryDimBinding *dims = NULL;
  guint n = 0;

  g_return_if_fail (model != NULL);
  dims = g_new0 (GantryDimBinding, model->n_dims + 1);
  for (guint i = 0; i < model->n_dims; i++)
    if (g_strcmp0 (model->dim_names[i], name) != 0)
      dims[n++] = (GantryDimBinding){ model->dim_names[i], model->dim_sizes[i] };
  dims[n++] = (GantryDimBinding){ name, size };
  options = (GantryOpenOptions){ dims, n, gantry_document_get_settings (document), model->random_weights };
  gantry_document_open_async (document, model->path, &options, NULL, NULL);
}
