/* SPDX-License-Identifier: Apache-2.0 */
/* The document object: its properties, results and edits. Long work stands in document-work.c, the
 * session file in session*.c, the child process in child.c. */
#include "core/document/document-private.h"
#include <string.h>

typedef enum
{
  EDIT_PASS,
  EDIT_FINITE_MATH,
} EditKind;

/* A command: what was set, from what, to what. */
typedef struct
{
  EditKind kind;
  char *name;
  gint64 old_value, new_value;
} Edit;

struct _GantryDocument
{
  GObject parent_instance;
  GantryLoaded *loaded; /* (nullable) before the first open */
  GantryRunResult *run;
  GPtrArray *no_runs;
  GPtrArray *edits; /* Edit: done ones up to n_done, then undone ones */
  guint n_done;
  GCancellable *cancellable;
  gboolean busy, modified;
  gboolean stale;    /* edited since the compilation was made */
  guint64 n_changes; /* of what a session file holds */
  double fraction;
  char *activity;
  char *child_id;
};

G_DEFINE_FINAL_TYPE (GantryDocument, gantry_document, G_TYPE_OBJECT)

enum
{
  PROP_0,
  PROP_PATH,
  PROP_TITLE,
  PROP_MODIFIED,
  PROP_COMPILATION,
  PROP_RUN,
  PROP_BUSY,
  PROP_PROGRESS,
  PROP_ACTIVITY,
  PROP_CAN_UNDO,
  PROP_CAN_REDO,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

static void
edit_free (gpointer data)
{
  Edit *edit = data;

  g_free (edit->name);
  g_free (edit);
}

void
_gantry_loaded_free (GantryLoaded *loaded)
{
  if (loaded == NULL)
    return;
  g_free (loaded->path);
  g_free (loaded->session_path);
  gantry_compilation_unref (loaded->compilation);
  gantry_compile_settings_clear (&loaded->settings);
  g_clear_pointer (&loaded->runs, g_ptr_array_unref);
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
    case PROP_BUSY: g_value_set_boolean (value, self->busy); break;
    case PROP_PROGRESS: g_value_set_double (value, self->fraction); break;
    case PROP_ACTIVITY: g_value_set_string (value, self->activity); break;
    case PROP_CAN_UNDO: g_value_set_boolean (value, self->n_done > 0); break;
    case PROP_CAN_REDO: g_value_set_boolean (value, self->n_done < self->edits->len); break;
    default: G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
gantry_document_finalize (GObject *object)
{
  GantryDocument *self = GANTRY_DOCUMENT (object);

  g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  _gantry_loaded_free (self->loaded);
  gantry_run_result_unref (self->run);
  g_ptr_array_unref (self->edits);
  g_ptr_array_unref (self->no_runs);
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
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
gantry_document_init (GantryDocument *self)
{
  self->edits = g_ptr_array_new_with_free_func (edit_free);
  self->no_runs = g_ptr_array_new ();
  self->cancellable = g_cancellable_new ();
  self->fraction = -1;
  self->activity = g_strdup ("");
}

GantryDocument *
gantry_document_new (void)
{
  return g_object_new (GANTRY_TYPE_DOCUMENT, NULL);
}

static void
notify (GantryDocument *self, guint property)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

/* Reading */

const char *
gantry_document_get_path (GantryDocument *self)
{
  return self->loaded != NULL ? self->loaded->path : NULL;
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
  return self->loaded != NULL ? &self->loaded->settings : NULL;
}

GantryRunResult *
gantry_document_get_run (GantryDocument *self)
{
  return self->run;
}

GPtrArray *
gantry_document_get_runs (GantryDocument *self)
{
  return self->loaded != NULL ? self->loaded->runs : self->no_runs;
}

gboolean
gantry_document_is_busy (GantryDocument *self)
{
  return self->busy;
}

const char *
gantry_document_child_id (GantryDocument *self)
{
  return self->child_id;
}

/* What the other files of this room set */

static void
set_modified (GantryDocument *self, gboolean modified)
{
  if (self->modified == modified)
    return;
  self->modified = modified;
  notify (self, PROP_MODIFIED);
}

void
_gantry_document_set_activity (GantryDocument *self, const char *activity, double fraction)
{
  if (g_strcmp0 (self->activity, activity) != 0)
    {
      g_free (self->activity);
      self->activity = g_strdup (activity != NULL ? activity : "");
      notify (self, PROP_ACTIVITY);
    }
  if (self->fraction != fraction)
    {
      self->fraction = CLAMP (fraction, -1, 1);
      notify (self, PROP_PROGRESS);
    }
}

void
_gantry_document_set_busy (GantryDocument *self, gboolean busy)
{
  if (!busy)
    _gantry_document_set_activity (self, "", -1);
  if (self->busy == busy)
    return;
  self->busy = busy;
  notify (self, PROP_BUSY);
}

static void
changed (GantryDocument *self)
{
  self->n_changes++;
  set_modified (self, TRUE);
}

gboolean
_gantry_document_is_newest (GantryDocument *self, GCancellable *cancellable)
{
  return self->cancellable == cancellable;
}

gboolean
_gantry_document_is_stale (GantryDocument *self)
{
  return self->stale;
}

guint64
_gantry_document_n_changes (GantryDocument *self)
{
  return self->n_changes;
}

GCancellable *
_gantry_document_renew (GantryDocument *self)
{
  _gantry_document_set_child_id (self, NULL);
  g_cancellable_cancel (self->cancellable);
  g_object_unref (self->cancellable);
  self->cancellable = g_cancellable_new ();
  return self->cancellable;
}

void
_gantry_document_set_child_id (GantryDocument *self, const char *id)
{
  g_free (self->child_id);
  self->child_id = g_strdup (id);
}

const char *
_gantry_document_session_path (GantryDocument *self)
{
  return self->loaded != NULL ? self->loaded->session_path : NULL;
}

void
_gantry_document_saved (GantryDocument *self, const char *path, const GantryModel *model, guint64 n_changes)
{
  if (gantry_document_get_model (self) != model)
    return;
  if (g_strcmp0 (self->loaded->session_path, path) != 0)
    {
      g_free (self->loaded->session_path);
      self->loaded->session_path = g_strdup (path);
    }
  if (self->n_changes == n_changes)
    set_modified (self, FALSE);
}

void
gantry_document_cancel (GantryDocument *self)
{
  g_cancellable_cancel (self->cancellable);
}

void
_gantry_document_install (GantryDocument *self, GantryLoaded *loaded)
{
  GantryLoaded *old = self->loaded;
  gboolean same_model = old != NULL && loaded->compilation->model == old->compilation->model;

  self->loaded = loaded;
  self->stale = FALSE;
  if (!same_model)
    {
      g_ptr_array_set_size (self->edits, 0);
      self->n_done = 0;
      self->n_changes++;
      gantry_run_result_unref (self->run);
      self->run = loaded->runs->len > 0
                    ? gantry_run_result_ref (g_ptr_array_index (loaded->runs, loaded->runs->len - 1)) : NULL;
      set_modified (self, loaded->session_path == NULL);
    }
  g_object_freeze_notify (G_OBJECT (self));
  notify (self, PROP_COMPILATION);
  if (!same_model)
    {
      notify (self, PROP_PATH);
      notify (self, PROP_TITLE);
      notify (self, PROP_RUN);
      notify (self, PROP_CAN_UNDO);
      notify (self, PROP_CAN_REDO);
    }
  g_object_thaw_notify (G_OBJECT (self));
  _gantry_loaded_free (old); /* after the notify, so that a listener can compare with what it held */
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
  notify (self, PROP_RUN);
}

void
gantry_document_add_run (GantryDocument *self, GantryRunResult *result)
{
  g_return_if_fail (self->loaded != NULL);
  g_ptr_array_add (self->loaded->runs, gantry_run_result_ref (result));
  changed (self);
  gantry_document_set_run (self, result);
}

/* Work that blocks */

gboolean
gantry_document_open (GantryDocument *self, const char *path, const GantryOpenOptions *options,
                      const GantryProgress *progress, GError **error)
{
  GantryLoaded *loaded = _gantry_load (path, options, progress, error);

  if (loaded == NULL)
    return FALSE;
  _gantry_document_install (self, loaded);
  return TRUE;
}

gboolean
gantry_document_recompile (GantryDocument *self, const GantryProgress *progress, GError **error)
{
  GantryCompilation *compilation;

  g_return_val_if_fail (self->loaded != NULL, FALSE);
  compilation = gantry_compile (self->loaded->compilation->model, &self->loaded->settings, progress, error);
  if (compilation == NULL)
    return FALSE;
  gantry_compilation_unref (self->loaded->compilation);
  self->loaded->compilation = compilation;
  self->stale = FALSE;
  notify (self, PROP_COMPILATION);
  return TRUE;
}

gboolean
gantry_document_save (GantryDocument *self, const char *path, GError **error)
{
  g_autofree char *target = NULL;

  g_return_val_if_fail (self->loaded != NULL, FALSE);
  target = g_strdup (path != NULL ? path : self->loaded->session_path);
  if (target == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "say where to save the session: it has no file yet");
      return FALSE;
    }
  if (!_gantry_session_save (target, self->loaded->compilation, &self->loaded->settings, self->loaded->runs, error))
    return FALSE;
  _gantry_document_saved (self, target, self->loaded->compilation->model, self->n_changes);
  return TRUE;
}

/* Edits */

static void
apply (GantryDocument *self, const Edit *edit, gint64 value)
{
  switch (edit->kind)
    {
    case EDIT_PASS: gantry_compile_settings_set_enabled (&self->loaded->settings, edit->name, value != 0); break;
    case EDIT_FINITE_MATH: self->loaded->settings.finite_math = value != 0; break;
    }
  self->stale = TRUE;
  changed (self);
  notify (self, PROP_CAN_UNDO);
  notify (self, PROP_CAN_REDO);
  gantry_document_recompile_async (self, NULL, NULL);
}

static void
do_edit (GantryDocument *self, EditKind kind, const char *name, gint64 old_value, gint64 new_value)
{
  Edit *edit;

  if (old_value == new_value)
    return;
  g_ptr_array_set_size (self->edits, (gint) self->n_done); /* what was undone cannot come back now */
  edit = g_new0 (Edit, 1);
  *edit = (Edit){ kind, g_strdup (name), old_value, new_value };
  g_ptr_array_add (self->edits, edit);
  self->n_done++;
  apply (self, edit, new_value);
}

void
gantry_document_set_pass_enabled (GantryDocument *self, const char *pass, gboolean enabled)
{
  g_return_if_fail (self->loaded != NULL);
  do_edit (self, EDIT_PASS, pass, gantry_compile_settings_enabled (&self->loaded->settings, pass), enabled != FALSE);
}

void
gantry_document_set_finite_math (GantryDocument *self, gboolean finite_math)
{
  g_return_if_fail (self->loaded != NULL);
  do_edit (self, EDIT_FINITE_MATH, NULL, self->loaded->settings.finite_math, finite_math != FALSE);
}

void
gantry_document_undo (GantryDocument *self)
{
  const Edit *edit;

  if (self->n_done == 0)
    return;
  edit = g_ptr_array_index (self->edits, --self->n_done);
  apply (self, edit, edit->old_value);
}

void
gantry_document_redo (GantryDocument *self)
{
  const Edit *edit;

  if (self->n_done == self->edits->len)
    return;
  edit = g_ptr_array_index (self->edits, self->n_done++);
  apply (self, edit, edit->new_value);
}
