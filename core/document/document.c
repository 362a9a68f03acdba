/* SPDX-License-Identifier: Apache-2.0 */
/* The document object: its properties, results and jobs. Edits stand in document-edit.c, long work in document-work.c,
 * placements in document-placing.c, runs in document-runs.c, variants in document-variants.c, the session file in session*.c,
 * the child process in child.c. */
#include "core/document/document-private.h"
#include "core/document/document-private.h"
#include <string.h>

G_DEFINE_FINAL_TYPE (GantryDocument, gantry_document, G_TYPE_OBJECT)

static GParamSpec *properties[N_PROPS];
static guint error_signal;

void
_gantry_loaded_free (GantryLoaded *loaded)
{
  if (loaded == NULL)
    return;
  g_free (loaded->path);
  g_free (loaded->session_path);
  gantry_forecast_unref (loaded->forecast);
  gantry_compilation_unref (loaded->compilation);
  gantry_compile_settings_clear (&loaded->settings);
  g_free (loaded->hash);
  g_free (loaded->old_hash);
  g_clear_pointer (&loaded->runs, g_ptr_array_unref);
  g_free (loaded->session_state);
  g_free (loaded->session_model);
  g_free (loaded->other_model);
  g_clear_pointer (&loaded->variants, g_ptr_array_unref);
  g_clear_pointer (&loaded->names, g_hash_table_unref);
  _gantry_front_unref (loaded->front);
  g_free (loaded->notes);
  g_clear_error (&loaded->notice);
  g_clear_pointer (&loaded->history, _gantry_history_free);
  g_free (loaded);
}

static char *
title_of (GantryDocument *self)
{
  return self->loaded != NULL ? g_path_get_basename (self->loaded->path) : g_strdup ("Gantry");
}

static void
gantry_document_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GantryDocument *self = GANTRY_DOCUMENT (object);

  switch (id)
    {
    case PROP_PATH: g_value_set_string (value, gantry_document_get_path (self)); break;
    case PROP_TITLE: g_value_take_string (value, title_of (self)); break;
    case PROP_MODIFIED: g_value_set_boolean (value, self->modified); break;
    case PROP_COMPILATION: g_value_set_pointer (value, gantry_document_get_compilation (self)); break;
    case PROP_RUN: g_value_set_pointer (value, self->run); break;
    case PROP_BUSY: g_value_set_boolean (value, gantry_document_is_busy (self)); break;
    case PROP_PROGRESS: g_value_set_double (value, self->fraction); break;
    case PROP_ACTIVITY: g_value_set_string (value, self->activity); break;
    case PROP_CAN_UNDO: g_value_set_boolean (value, self->n_done > 0); break;
    case PROP_CAN_REDO: g_value_set_boolean (value, self->n_done < self->edits->len); break;
    case PROP_SETTINGS: g_value_set_pointer (value, (gpointer) gantry_document_get_settings (self)); break;
    case PROP_PLACEMENTS: g_value_set_pointer (value, self->placements); break;
    case PROP_PREDICTION: g_value_set_pointer (value, self->forecast); break;
    case PROP_PLAN: g_value_set_pointer (value, self->plan); break;
    case PROP_PLAN_ERROR: g_value_set_pointer (value, self->plan_error); break;
    case PROP_CHANGES: g_value_set_pointer (value, self->changes); break;
    case PROP_FRONT: g_value_set_pointer (value, gantry_document_get_front (self)); break;
    case PROP_FRONT_PROGRESS: g_value_set_double (value, self->background.fraction); break;
    case PROP_VARIANTS: g_value_set_pointer (value, gantry_document_get_variants (self)); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
gantry_document_finalize (GObject *object)
{
  GantryDocument *self = GANTRY_DOCUMENT (object);

  for (guint i = 0; i < GANTRY_N_JOBS; i++)
    {
      if (self->jobs[i] != NULL)
        g_cancellable_cancel (self->jobs[i]);
      g_clear_object (&self->jobs[i]);
    }
  _gantry_document_clear_placing (self);
  gantry_forecast_unref (self->forecast);
  gantry_forecast_unref (self->known_forecast);
  gantry_compilation_unref (self->basis_of);
  g_hash_table_unref (self->figures);
  _gantry_loaded_free (self->loaded);
  _gantry_state_unref (self->state);
  gantry_run_result_unref (self->run);
  _gantry_front_unref (self->front);
  _gantry_document_clear_background (self);
  g_free (self->content);
  g_clear_pointer (&self->names, g_hash_table_unref);
  g_ptr_array_unref (self->missing);
  g_ptr_array_unref (self->recent);
  g_ptr_array_unref (self->edits);
  g_ptr_array_unref (self->none);
  g_hash_table_unref (self->kept_runs);
  g_hash_table_unref (self->unsaved_runs);
  g_hash_table_unref (self->deleted_runs);
  g_hash_table_unref (self->runs_of_another);
  g_free (self->notes);
  g_free (self->activity);
  g_free (self->child_id);
  G_OBJECT_CLASS (gantry_document_parent_class)->finalize (object);
}

static void
gantry_document_class_init (GantryDocumentClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;

  object_class->get_property = gantry_document_get_property;
  object_class->finalize = gantry_document_finalize;
  properties[PROP_PATH] = g_param_spec_string ("path", NULL, NULL, NULL, flags);
  properties[PROP_TITLE] = g_param_spec_string ("title", NULL, NULL, NULL, flags);
  properties[PROP_MODIFIED] = g_param_spec_boolean ("modified", NULL, NULL, FALSE, flags);
  properties[PROP_COMPILATION] = g_param_spec_pointer ("compilation", NULL, NULL, flags);
  properties[PROP_RUN] = g_param_spec_pointer ("run", NULL, NULL, flags);
  properties[PROP_BUSY] = g_param_spec_boolean ("busy", NULL, NULL, FALSE, flags);
  properties[PROP_PROGRESS] = g_param_spec_double ("progress", NULL, NULL, -1, 1, -1, flags);
  properties[PROP_ACTIVITY] = g_param_spec_string ("activity", NULL, NULL, "", flags);
  properties[PROP_CAN_UNDO] = g_param_spec_boolean ("can-undo", NULL, NULL, FALSE, flags);
  properties[PROP_CAN_REDO] = g_param_spec_boolean ("can-redo", NULL, NULL, FALSE, flags);
  properties[PROP_SETTINGS] = g_param_spec_pointer ("settings", NULL, NULL, flags);
  properties[PROP_PLACEMENTS] = g_param_spec_pointer ("placements", NULL, NULL, flags);
  properties[PROP_PREDICTION] = g_param_spec_pointer ("prediction", NULL, NULL, flags);
  properties[PROP_PLAN] = g_param_spec_pointer ("plan", NULL, NULL, flags);
  properties[PROP_PLAN_ERROR] = g_param_spec_pointer ("plan-error", NULL, NULL, flags);
  properties[PROP_CHANGES] = g_param_spec_pointer ("changes", NULL, NULL, flags);
  properties[PROP_VARIANTS] = g_param_spec_pointer ("variants", NULL, NULL, flags);
  properties[PROP_FRONT] = g_param_spec_pointer ("front", NULL, NULL, flags);
  properties[PROP_FRONT_PROGRESS] = g_param_spec_double ("front-progress", NULL, NULL, -1, 1, -1, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  error_signal = g_signal_new ("error", GANTRY_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2,
                               G_TYPE_STRING | G_SIGNAL_TYPE_STATIC_SCOPE, G_TYPE_ERROR | G_SIGNAL_TYPE_STATIC_SCOPE);
}

static void
gantry_document_init (GantryDocument *self)
{
  self->recent = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_compilation_unref);
  self->edits = g_ptr_array_new_with_free_func (_gantry_edit_free);
  self->none = g_ptr_array_new ();
  self->missing = g_ptr_array_new_with_free_func (g_free);
  self->kept_runs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->unsaved_runs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->deleted_runs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->figures = g_hash_table_new_full (NULL, NULL, (GDestroyNotify) gantry_variant_unref, (GDestroyNotify) gantry_variant_unref);
  g_queue_init (&self->writes);
  self->runs_of_another = g_hash_table_new_full (NULL, NULL, (GDestroyNotify) gantry_run_result_unref, NULL);
  self->fraction = self->background.fraction = -1;
  self->activity = g_strdup ("");
  self->notes = g_strdup ("");
}

GantryDocument *
gantry_document_new (void)
{
  return g_object_new (GANTRY_TYPE_DOCUMENT, NULL);
}

void
_gantry_document_notify (GantryDocument *self, guint property)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

void
_gantry_document_tell_error (GantryDocument *self, const char *what, const GError *error)
{
  if (error != NULL && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_signal_emit (self, error_signal, 0, what, error);
}

/* Reading */

const char *
gantry_document_get_path (GantryDocument *self)
{
  return self->loaded != NULL ? self->loaded->path : NULL;
}

void
gantry_document_set_embed (GantryDocument *self, gboolean embed)
{
  self->embed = embed != FALSE;
}

GantryReadFiles *
gantry_document_get_read_files (GantryDocument *self)
{
  GantryReadFiles *read = gantry_read_files_new ();

  if (self->loaded == NULL)
    return read;
  gantry_read_files_add (read, self->loaded->path);
  if (self->loaded->session_path != NULL)
    gantry_read_files_add (read, self->loaded->session_path);
  gantry_read_files_add_all (read, self->loaded->compilation->model->read);
  return read;
}

const char *
gantry_document_get_session_path (GantryDocument *self)
{
  return self->loaded != NULL ? self->loaded->session_path : NULL;
}

GantryCompilation *
gantry_document_get_compilation (GantryDocument *self)
{
  return self->loaded != NULL ? self->loaded->compilation : NULL;
}

GantryModel *
gantry_document_get_model (GantryDocument *self)
{
  return self->loaded != NULL ? self->loaded->compilation->model : NULL;
}

const GantryCompileSettings *
gantry_document_get_settings (GantryDocument *self)
{
  return self->state != NULL ? &self->state->settings : NULL;
}

GantryRunResult *
gantry_document_get_run (GantryDocument *self)
{
  return self->run;
}

GPtrArray *
gantry_document_get_runs (GantryDocument *self)
{
  return self->loaded != NULL ? self->loaded->runs : self->none;
}

GPtrArray *
gantry_document_get_variants (GantryDocument *self)
{
  return self->state != NULL ? self->state->variants : self->none;
}

const char *
gantry_document_get_notes (GantryDocument *self)
{
  return self->notes;
}

gboolean
gantry_document_is_busy (GantryDocument *self)
{
  return self->running[GANTRY_JOB_LOAD] || self->running[GANTRY_JOB_RUN] || self->running[GANTRY_JOB_SOLVE] || self->running[GANTRY_JOB_DELETE];
}

const char *
gantry_document_child_id (GantryDocument *self)
{
  return self->child_id;
}

/* What the other files of this room set */

void
_gantry_document_set_modified (GantryDocument *self, gboolean modified)
{
  if (self->modified == modified)
    return;
  self->modified = modified;
  _gantry_document_notify (self, PROP_MODIFIED);
}

void
_gantry_document_changed (GantryDocument *self)
{
  self->n_changes++;
  _gantry_document_set_modified (self, TRUE);
}

GantryMark
_gantry_document_mark (GantryDocument *self)
{
  return (GantryMark){ self->n_changes, self->state != NULL ? self->state->serial : 0, self->n_others, self->n_files, self->n_reloads };
}

void
_gantry_document_number_state (GantryDocument *self, GantryState *state)
{
  state->serial = ++self->n_states;
}

gboolean
gantry_document_is_unsaved (GantryDocument *self)
{
  return self->state != NULL
         && (self->state->serial != self->kept.serial || self->n_others != self->kept.n_others || g_hash_table_size (self->unsaved_runs) > 0);
}

void
_gantry_document_set_activity (GantryDocument *self, const char *activity, double fraction)
{
  if (g_strcmp0 (self->activity, activity) != 0)
    {
      g_free (self->activity);
      self->activity = g_strdup (activity != NULL ? activity : "");
      _gantry_document_notify (self, PROP_ACTIVITY);
    }
  if (self->fraction != fraction)
    {
      self->fraction = CLAMP (fraction, -1, 1);
      _gantry_document_notify (self, PROP_PROGRESS);
    }
}

static void
set_running (GantryDocument *self, GantryJob job, gboolean running)
{
  gboolean before = gantry_document_is_busy (self), now;

  self->running[job] = running;
  now = gantry_document_is_busy (self);
  if (!now)
    _gantry_document_set_activity (self, "", -1);
  if (now != before)
    _gantry_document_notify (self, PROP_BUSY);
}

GCancellable *
_gantry_document_begin_job (GantryDocument *self, GantryJob job)
{
  if (job == GANTRY_JOB_RUN)
    _gantry_document_set_child_id (self, NULL);
  _gantry_document_cancel_job (self, job);
  g_clear_object (&self->jobs[job]);
  self->jobs[job] = g_cancellable_new ();
  set_running (self, job, TRUE);
  return self->jobs[job];
}

gboolean
_gantry_document_end_job (GantryDocument *self, GantryJob job, GCancellable *cancellable)
{
  if (self->jobs[job] != cancellable)
    return FALSE;
  if (job == GANTRY_JOB_RUN)
    _gantry_document_set_child_id (self, NULL);
  set_running (self, job, FALSE);
  return TRUE;
}

void
_gantry_document_cancel_job (GantryDocument *self, GantryJob job)
{
  if (self->jobs[job] != NULL)
    g_cancellable_cancel (self->jobs[job]);
}

void
gantry_document_cancel (GantryDocument *self)
{
  for (guint i = 0; i < GANTRY_N_JOBS; i++)
    if (i != GANTRY_JOB_PLAN) /* nobody asked for it, and the plan has to follow the placements */
      _gantry_document_cancel_job (self, i);
}

void
gantry_document_wait (GantryDocument *self)
{
  g_autoptr (GMainContext) context = g_main_context_ref_thread_default ();

  while (self->running[GANTRY_JOB_LOAD] || self->running[GANTRY_JOB_PLAN])
    g_main_context_iteration (context, TRUE);
}

void
_gantry_document_set_child_id (GantryDocument *self, const char *id)
{
  g_free (self->child_id);
  self->child_id = g_strdup (id);
}

/* Files and runs are those of now: a save or a run may have ended since the compilation was asked for. */
static void
keep_files (GantryLoaded *loaded, const GantryLoaded *old)
{
  g_free (loaded->path);
  g_free (loaded->session_path);
  g_free (loaded->session_state);
  g_free (loaded->session_model);
  loaded->path = g_strdup (old->path);
  loaded->session_path = g_strdup (old->session_path);
  loaded->session_state = g_strdup (old->session_state);
  loaded->session_model = g_strdup (old->session_model);
  g_clear_pointer (&loaded->runs, g_ptr_array_unref);
  loaded->runs = g_ptr_array_ref (old->runs);
}

/* What a file brings when it is not the one that was open. */
static void
take_file (GantryDocument *self, GantryLoaded *loaded)
{
  GantryState *state = _gantry_state_copy (NULL);

  self->n_files++;
  self->n_models++;
  gantry_compile_settings_clear (&state->settings);
  gantry_compile_settings_copy (&state->settings, &loaded->settings);
  _gantry_state_set_bindings (state, gantry_bindings_ref (loaded->compilation->model->bindings));
  if (loaded->variants != NULL)
    {
      g_ptr_array_unref (state->variants);
      state->variants = g_ptr_array_ref (loaded->variants);
    }
  _gantry_document_number_state (self, state);
  _gantry_state_unref (self->state);
  self->state = state;
  g_clear_pointer (&self->front, _gantry_front_unref);
  _gantry_document_clear_background (self);
  if (loaded->front != NULL && loaded->front->unasked)
    self->background.front = g_steal_pointer (&loaded->front);
  else
    self->front = g_steal_pointer (&loaded->front);
  g_clear_pointer (&self->names, g_hash_table_unref);
  self->names = g_steal_pointer (&loaded->names);
  _gantry_document_forget_edits (self);
  _gantry_document_begin_runs (self, loaded);
  g_free (self->notes);
  self->notes = g_strdup (loaded->notes != NULL ? loaded->notes : "");
  self->n_changes++;
  g_clear_pointer (&self->forecast, gantry_forecast_unref); /* nothing to compare with */
  g_clear_pointer (&self->known_forecast, gantry_forecast_unref);
  self->kept = _gantry_document_mark (self);
  if (loaded->other_model != NULL)
    self->n_others++;
  if (loaded->history != NULL)
    _gantry_document_take_history (self, loaded->history);
  _gantry_document_set_modified (self, loaded->session_path == NULL || loaded->history != NULL || loaded->other_model != NULL);
}

/* The session file is of the model that it was saved with: one of another has to be saved, or what was done would open with neither. */
static void
take_model (GantryDocument *self, GantryLoaded *loaded, const GantryLoaded *old)
{
  if (loaded->reloaded && loaded->hash == NULL && loaded->runs->len > 0) /* they came while it was loaded */
    {
      loaded->old_hash = gantry_model_hash (old->compilation->model, NULL);
      loaded->hash = gantry_model_hash (loaded->compilation->model, NULL);
    }
  if (loaded->hash == NULL) /* it is the same one, or nobody asks which */
    {
      loaded->other_model = g_strdup (old->other_model);
      return;
    }
  _gantry_document_part_runs (loaded, old);
  _gantry_document_notify (self, PROP_RUN);
  if (loaded->session_path == NULL)
    return;
  if (loaded->session_model == NULL || !gantry_model_has_hash (loaded->compilation->model, loaded->session_model, NULL))
    loaded->other_model = g_strdup (loaded->hash);
  if (g_strcmp0 (loaded->hash, loaded->old_hash) != 0)
    {
      self->n_others++;
      _gantry_document_changed (self);
    }
}

/* A program that is loaded again may say something else of memory: that counts, where what it said before still did. */
static void
follow_policy (GantryDocument *self, const GantryModel *before)
{
  const char *said = before->policy, *says = self->loaded->compilation->model->policy;

  if (g_strcmp0 (said, says) != 0 && g_strcmp0 (self->state->settings.policy, said) == 0)
    gantry_document_set_policy (self, says, NULL);
}

void
_gantry_document_install (GantryDocument *self, GantryLoaded *loaded, gboolean keep)
{
  static const guint of_file[] = { PROP_PATH, PROP_TITLE, PROP_RUN, PROP_CAN_UNDO, PROP_CAN_REDO, PROP_SETTINGS, PROP_VARIANTS };
  GantryLoaded *old = self->loaded;

  g_object_freeze_notify (G_OBJECT (self));
  _gantry_document_clear_placing (self); /* points into the old compilation */
  g_hash_table_remove_all (self->runs_of_another);
  self->loaded = loaded;
  self->stale = FALSE;
  if (keep && old->compilation->model != loaded->compilation->model)
    self->n_models++;
  if (loaded->reloaded)
    self->n_reloads++;
  _gantry_document_remember (self, keep ? old->compilation : NULL);
  if (keep)
    {
      keep_files (loaded, old);
      take_model (self, loaded, old);
      _gantry_document_choose_run (self);
    }
  else
    take_file (self, loaded);
  _gantry_document_take_plan (self, loaded);
  g_clear_pointer (&self->content, g_free);
  _gantry_document_notify (self, PROP_COMPILATION);
  for (guint i = 0; !keep && i < G_N_ELEMENTS (of_file); i++)
    _gantry_document_notify (self, of_file[i]);
  g_object_thaw_notify (G_OBJECT (self));
  if (keep)
    follow_policy (self, old->compilation->model);
  _gantry_loaded_free (old);
  _gantry_document_tell_error (self, "Not all of the file is shown", loaded->notice);
}

void
gantry_document_set_notes (GantryDocument *self, const char *notes)
{
  if (g_strcmp0 (self->notes, notes != NULL ? notes : "") == 0)
    return;
  g_free (self->notes);
  self->notes = g_strdup (notes != NULL ? notes : "");
  self->n_others++;
  _gantry_document_changed (self);
}

/* Work that blocks */

gboolean
gantry_document_open (GantryDocument *self, const char *path, const GantryOpenOptions *options, const GantryProgress *progress, GError **error)
{
  GantryLoaded *loaded = _gantry_load (path, options, progress, error);

  if (loaded == NULL)
    return FALSE;
  _gantry_document_install (self, loaded, FALSE);
  return TRUE;
}

gboolean
gantry_document_recompile (GantryDocument *self, const GantryProgress *progress, GError **error)
{
  GantryCompilation *compilation;
  GantryLoaded *loaded;

  g_return_val_if_fail (self->loaded != NULL, FALSE);
  compilation = gantry_compile (self->loaded->compilation->model, &self->state->settings, progress, error);
  if (compilation == NULL)
    return FALSE;
  if (!_gantry_limit_settle (&compilation, &self->state->settings, progress, error))
    {
      gantry_compilation_unref (compilation);
      return FALSE;
    }
  loaded = g_new0 (GantryLoaded, 1);
  loaded->path = g_strdup (self->loaded->path);
  loaded->session_path = g_strdup (self->loaded->session_path);
  loaded->session_state = g_strdup (self->loaded->session_state);
  loaded->compilation = compilation;
  gantry_compile_settings_copy (&loaded->settings, &self->state->settings);
  loaded->forecast = _gantry_document_forecast (compilation, progress);
  _gantry_document_cancel_job (self, GANTRY_JOB_LOAD); /* this is newer */
  _gantry_document_install (self, loaded, TRUE);
  return TRUE;
}

gboolean
gantry_document_save (GantryDocument *self, const char *path, GError **error)
{
  g_autofree char *target = NULL;
  GantrySessionParts parts;
  g_auto (GantrySaved) saved = { NULL, NULL, NULL, NULL };
  gboolean again;
  GantryMark mark;

  g_return_val_if_fail (self->loaded != NULL, FALSE);
  target = g_strdup (path != NULL ? path : self->loaded->session_path);
  if (target == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "say where to save the session: it has no file yet");
      return FALSE;
    }
  again = g_strcmp0 (target, self->loaded->session_path) == 0;
  parts = (GantrySessionParts){ .compilation = self->loaded->compilation,
                                .settings = &self->state->settings,
                                .runs = self->loaded->runs,
                                .variants = self->state->variants,
                                .front = _gantry_document_front_to_save (self),
                                .names = self->names,
                                .notes = self->notes,
                                .bindings = self->state->bindings,
                                .base = again ? self->loaded->session_state : NULL,
                                .base_model = again ? self->loaded->session_model : NULL,
                                .embed = self->embed };
  if (!_gantry_session_save (target, &parts, &saved, error))
    return FALSE;
  mark = _gantry_document_mark (self);
  _gantry_document_saved (self, target, &mark, &saved);
  return TRUE;
}
