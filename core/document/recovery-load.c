/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a recovery file: a session, and beside it the edits, where it was opened from and what its program wants to find. */
#include "core/document/recovery-private.h"
#include "core/document/session-private.h"

/* The value of one row. (transfer full) (nullable): NULL with @own_error unset where it is missing */
static GBytes *
read_row (sqlite3 *db, const char *key, GError **own_error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "SELECT value FROM recovery WHERE key = ?", own_error);

  if (statement == NULL)
    return NULL;
  _gantry_bind_text (statement, 1, key);
  if (!_gantry_session_row (db, statement, own_error))
    return NULL;
  return g_bytes_new (sqlite3_column_blob (statement, 0), (gsize) sqlite3_column_bytes (statement, 0));
}

/* (transfer full) (nullable): NULL where it is missing or empty */
static char *
read_text (sqlite3 *db, const char *key)
{
  g_autoptr (GBytes) bytes = read_row (db, key, NULL);
  g_autoptr (GVariant) value = bytes != NULL ? g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE_STRING, bytes, FALSE)) : NULL;

  return value != NULL && *g_variant_get_string (value, NULL) != '\0' ? g_variant_dup_string (value, NULL) : NULL;
}

/* (transfer none) (nullable): a state that several edits name is one object. */
static GantryState *
read_state (sqlite3 *db, GHashTable *states, guint64 serial, GError **error)
{
  GantryState *state = g_hash_table_lookup (states, &serial);
  g_autofree char *key = g_strdup_printf ("state %" G_GUINT64_FORMAT, serial);
  g_autoptr (GBytes) bytes = NULL;

  if (state != NULL)
    return state;
  bytes = read_row (db, key, error);
  if (bytes == NULL && (error == NULL || *error == NULL))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the file of unsaved work lacks an edit");
  state = bytes != NULL ? _gantry_state_from_bytes (bytes, error) : NULL;
  if (state != NULL)
    g_hash_table_insert (states, g_memdup2 (&serial, sizeof serial), state);
  return state;
}

static GantryHistory *
read_history (sqlite3 *db, GError **error)
{
  GError *own = NULL;
  g_autoptr (GBytes) bytes = read_row (db, "edits", &own);
  g_autoptr (GVariant) value = bytes != NULL ? g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE ("(uta(sttt))"), bytes, FALSE)) : NULL;
  g_autoptr (GHashTable) states = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, (GDestroyNotify) _gantry_state_unref);
  g_autoptr (GantryHistory) history = g_new0 (GantryHistory, 1);
  g_autoptr (GVariantIter) edits = NULL;
  const char *name;
  guint64 serial, merge, before, after;
  GantryState *now;

  history->edits = g_ptr_array_new_with_free_func (_gantry_edit_free);
  if (value == NULL && own == NULL)
    g_set_error (&own, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the file of unsaved work has no edits: it was not written whole");
  if (own != NULL)
    {
      g_propagate_error (error, own);
      return NULL;
    }
  g_variant_get (value, "(uta(sttt))", &history->n_done, &serial, &edits);
  now = read_state (db, states, serial, &own);
  history->state = now != NULL ? _gantry_state_ref (now) : NULL;
  while (own == NULL && g_variant_iter_next (edits, "(&sttt)", &name, &merge, &before, &after))
    {
      GantryState *old_state = read_state (db, states, before, &own);
      GantryState *new_state = own == NULL ? read_state (db, states, after, &own) : NULL;
      GantryEdit *edit;

      if (own != NULL)
        break;
      edit = g_new0 (GantryEdit, 1);
      *edit = (GantryEdit){ g_strdup (name), merge, _gantry_state_ref (old_state), _gantry_state_ref (new_state) };
      g_ptr_array_add (history->edits, edit);
    }
  if (own == NULL)
    return g_steal_pointer (&history);
  g_propagate_error (error, own);
  return NULL;
}

/* What it was opened with is of the model, whatever was set since: which of its graphs, and what the user has allowed. */
static void
open_with (GantryState *state, const GantryBindings *opened)
{
  GantryBindings *bindings = gantry_bindings_copy (state->bindings);

  gantry_bindings_set_entry (bindings, opened->entry);
  gantry_bindings_set_program (bindings, opened->program);
  bindings->outside = opened->outside;
  _gantry_state_set_bindings (state, bindings);
}

static void
open_history_with (GantryHistory *history, const GantryBindings *opened)
{
  open_with (history->state, opened);
  for (guint i = 0; i < history->edits->len; i++)
    {
      GantryEdit *edit = g_ptr_array_index (history->edits, i);

      open_with (edit->old_state, opened);
      open_with (edit->new_state, opened);
    }
}

/* The session may be of another model than the unsaved work: of the one as it was before it was loaded again. */
static void
take_models (GantryLoaded *loaded, sqlite3 *db)
{
  GantryModel *model = loaded->compilation->model;
  g_autofree char *of_session = read_text (db, "session model");

  if (of_session == NULL || g_strcmp0 (of_session, loaded->session_model) == 0)
    return;
  g_free (loaded->session_model);
  loaded->session_model = g_steal_pointer (&of_session);
  g_clear_pointer (&loaded->other_model, g_free);
  if (!gantry_model_has_hash (model, loaded->session_model, NULL))
    loaded->other_model = gantry_model_hash (model, NULL);
}

/* Where it was opened from, and the runs that the session has. */
static void
take_origin (GantryLoaded *loaded, sqlite3 *db, GCancellable *cancellable)
{
  g_autofree char *path = read_text (db, "path"), *session = read_text (db, "session");
  g_autoptr (GPtrArray) runs = NULL;

  g_free (loaded->path);
  loaded->path = path != NULL ? g_steal_pointer (&path) : g_strdup (loaded->compilation->model->path);
  g_clear_pointer (&loaded->session_path, g_free);
  g_clear_pointer (&loaded->session_state, g_free);
  loaded->n_kept_runs = 0;
  if (session == NULL || !g_file_test (session, G_FILE_TEST_EXISTS))
    {
      g_clear_pointer (&loaded->session_model, g_free);
      g_clear_pointer (&loaded->other_model, g_free);
      return;
    }
  take_models (loaded, db);
  loaded->session_path = g_steal_pointer (&session);
  loaded->session_state = read_text (db, "session state");
  /* Where they cannot be read what is unsaved is still worth having. */
  runs = _gantry_session_load_runs (loaded->session_path, loaded->runs, loaded->other_model, cancellable, &loaded->notice, NULL);
  if (runs == NULL)
    return;
  loaded->n_kept_runs = runs->len;
  g_ptr_array_extend_and_steal (runs, g_steal_pointer (&loaded->runs));
  loaded->runs = g_steal_pointer (&runs);
}

GantryLoaded *
_gantry_recovery_load (const char *path, const GantryOpenOptions *options, const GantryProgress *progress, char **view, GError **error)
{
  g_autoptr (GantryLoaded) loaded = _gantry_session_load (path, options, progress, error);
  g_autoptr (GantryKernelSizes) sizes = NULL;
  g_autoptr (sqlite3) db = NULL;
  GCancellable *cancellable = progress != NULL ? progress->cancellable : NULL;

  if (loaded == NULL)
    return NULL;
  db = _gantry_session_open (path, FALSE, cancellable, error);
  if (db == NULL)
    return NULL;
  loaded->history = read_history (db, error);
  if (loaded->history == NULL)
    {
      gantry_error_prefix (error, "%s: ", path);
      return NULL;
    }
  sizes = _gantry_session_load_sizes (path);
  if (sizes != NULL)
    _gantry_states_take_sizes (loaded->history->state, loaded->history->edits, sizes);
  open_history_with (loaded->history, loaded->compilation->model->bindings);
  take_origin (loaded, db, cancellable);
  *view = read_text (db, "view");
  return g_steal_pointer (&loaded);
}
