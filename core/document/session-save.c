/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a session: one transaction, so that whatever happens the file holds the old state or the new; and one that adds, so
 * that of several writers each finds its own in the file. */
#include "core/document/session-private.h"
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

/* A few of these have room in what is read of the table meta. */
#define MOST_FACT_BYTES (8u << 20)

static gboolean
put_meta (sqlite3 *db, const char *key, const char *value, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "INSERT INTO meta VALUES (?, ?)", error);

  if (statement == NULL)
    return FALSE;
  _gantry_bind_text (statement, 1, key);
  if (value != NULL && strlen (value) > MOST_FACT_BYTES)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: '%s' has %" G_GSIZE_FORMAT " bytes, and a session holds at most %u: shorten it",
                   sqlite3_db_filename (db, "main"), key, strlen (value), MOST_FACT_BYTES);
      return FALSE;
    }
  _gantry_bind_text (statement, 2, value);
  return _gantry_session_step (db, statement, error);
}

static gboolean
save_bindings (sqlite3 *db, const GantryBindings *bindings, GError **error)
{
  for (guint i = 0; i < bindings->n_dims + bindings->n_inputs; i++)
    {
      gboolean dim = i < bindings->n_dims;
      const GantryInputValue *input = dim ? NULL : &bindings->inputs[i - bindings->n_dims];
      g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, dim ? "INSERT INTO dims VALUES (?, ?)" : "INSERT INTO inputs VALUES (?, ?)", error);

      if (statement == NULL)
        return FALSE;
      _gantry_bind_text (statement, 1, dim ? bindings->dims[i].name : input->name);
      if (dim)
        sqlite3_bind_int64 (statement, 2, bindings->dims[i].size);
      else
        _gantry_bind_text (statement, 2, input->value);
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
save_model (sqlite3 *db, const GantrySessionParts *parts, const char *hash, const char *session_path, GError **error)
{
  const GantryModel *model = parts->compilation->model;
  gboolean in_cache = model->carried_as != NULL && !parts->here;
  g_autofree char *path = g_canonicalize_filename (in_cache ? model->carried_as : model->path, NULL);
  g_autofree char *session = g_canonicalize_filename (session_path, NULL);
  g_autofree char *folder = g_path_get_dirname (session);
  g_autoptr (GFile) base = g_file_new_for_path (folder);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autofree char *relative = g_file_get_relative_path (base, file);
  g_autofree char *seed = g_strdup_printf ("%" G_GINT64_FORMAT, model->random_weights);
  g_autofree char *identity = gantry_model_identity (model);

  return put_meta (db, "model_path", path, error) && put_meta (db, "model_relative_path", relative, error) && put_meta (db, "model_sha256", hash, error)
         && put_meta (db, "model_files", identity, error) && put_meta (db, "model_format", model->format, error) && put_meta (db, "random_weights", seed, error)
         && (model->bindings->program == NULL || put_meta (db, "program_sha256", model->bindings->program, error))
         && (model->bindings->entry == NULL || put_meta (db, "entry", model->bindings->entry, error));
}

static gboolean
save_settings (sqlite3 *db, const GantrySessionParts *parts, const char *fingerprint, GError **error)
{
  const GantryCompileSettings *settings = parts->settings;
  g_autofree char *target = gantry_target_given_text (&settings->target);
  g_autofree char *training = gantry_training_options_to_text (&settings->training);
  g_autofree char *first = g_strdup_printf ("%u", parts->compilation->first_id);
  g_autofree char *unrolled = g_strdup_printf ("%u", settings->most_unrolled);
  g_autofree char *fetch = g_strdup_printf ("%" G_GUINT64_FORMAT, settings->choices != NULL ? settings->choices->fetch_limit : 0);
  g_autofree char *sizes = settings->sizes != NULL ? gantry_kernel_sizes_to_text (settings->sizes) : NULL;

  return put_meta (db, "target", target, error) && put_meta (db, "fetch_limit_bytes", fetch, error)
         && put_meta (db, "finite_math", settings->finite_math ? "1" : "0", error) && put_meta (db, "fuse_rows", settings->fuse_rows ? "1" : "0", error)
         && put_meta (db, "fuse_products", settings->fuse_products ? "1" : "0", error) && put_meta (db, "most_unrolled", unrolled, error)
         && put_meta (db, "order", gantry_order_name (settings->order), error) && put_meta (db, "allocator", gantry_allocator_name (settings->allocator), error)
         && put_meta (db, "train", settings->train ? "1" : "0", error) && put_meta (db, "training", training, error)
         && put_meta (db, "policy", settings->policy != NULL ? settings->policy : "", error) &&
         /* What is too long to keep is found out anew. */
         put_meta (db, "kernel_sizes", sizes != NULL && strlen (sizes) <= MOST_FACT_BYTES ? sizes : "", error)
         && put_meta (db, "notes", parts->notes != NULL ? parts->notes : "", error) && put_meta (db, "program", fingerprint, error)
         && put_meta (db, "first_id", first, error);
}

static gboolean
save_schedule (sqlite3 *db, const char *variant, const GArray *schedule, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "INSERT OR REPLACE INTO schedules VALUES (?, ?, ?)", error);

  for (guint i = 0; statement != NULL && i < schedule->len; i++)
    {
      g_autofree char *key = g_strdup_printf ("%016" G_GINT64_MODIFIER "x", g_array_index (schedule, guint64, i));

      _gantry_bind_text (statement, 1, variant);
      sqlite3_bind_int64 (statement, 2, i);
      _gantry_bind_text (statement, 3, key);
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
    }
  return statement != NULL;
}

static gboolean
save_choices (sqlite3 *db, const char *variant, const GantryChoices *choices, GHashTable *names, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db,
                                                                "INSERT OR REPLACE INTO placements (variant, key, node, kind, memory, decided_by, name)"
                                                                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                                                                error);

  if (statement == NULL)
    return FALSE;
  for (guint i = 0; choices != NULL && i < choices->entries->len; i++)
    {
      const GantryChoice *choice = &g_array_index (choices->entries, GantryChoice, i);
      g_autofree char *key = g_strdup_printf ("%016" G_GINT64_MODIFIER "x", choice->key);
      const gint64 values[] = { choice->node, choice->kind, choice->memory, choice->decider };

      _gantry_bind_text (statement, 1, variant);
      _gantry_bind_text (statement, 2, key);
      for (guint j = 0; j < G_N_ELEMENTS (values); j++)
        sqlite3_bind_int64 (statement, (int) j + 3, values[j]);
      _gantry_bind_text (statement, 7, _gantry_names_find (names, choice->key));
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
    }
  return choices == NULL || choices->schedule == NULL || save_schedule (db, variant, choices->schedule, error);
}

/* The times that are planned with: no run need be there for them. */
static gboolean
save_measured (sqlite3 *db, const GantryMeasuredTimes *measured, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "INSERT OR REPLACE INTO measured VALUES (?, ?)", error);
  char link[G_ASCII_DTOSTR_BUF_SIZE];

  if (statement == NULL)
    return FALSE;
  if (measured == NULL)
    return TRUE;
  g_ascii_dtostr (link, sizeof link, measured->link_bandwidth);
  for (guint i = 0; i < measured->entries->len; i++)
    {
      const GantryMeasuredTime *time = &g_array_index (measured->entries, GantryMeasuredTime, i);
      g_autofree char *key = g_strdup_printf ("%016" G_GINT64_MODIFIER "x", time->key);

      _gantry_bind_text (statement, 1, key);
      sqlite3_bind_double (statement, 2, time->us);
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
    }
  return put_meta (db, "measured_run", measured->run, error) && put_meta (db, "measured_name", measured->name, error)
         && put_meta (db, "measured_conditions", measured->conditions, error) && put_meta (db, "measured_link", link, error);
}

static gboolean
save_variant (sqlite3 *db, guint position, const GantryVariant *variant, GHashTable *names, GError **error)
{
  g_autoptr (sqlite3_stmt)
    statement = _gantry_session_prepare (db, "INSERT INTO variants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", error);

  if (statement == NULL)
    return FALSE;
  sqlite3_bind_int64 (statement, 1, position);
  _gantry_bind_text (statement, 2, variant->name);
  _gantry_bind_text (statement, 3, variant->policy);
  sqlite3_bind_int64 (statement, 4, (gint64) variant->limit);
  sqlite3_bind_int64 (statement, 5, variant->by);
  if (variant->predicted)
    _gantry_bind_figures (statement, 6, 14, &variant->figures);
  if (variant->gap >= 0)
    sqlite3_bind_double (statement, 13, variant->gap);
  if (variant->limit_part > 0)
    sqlite3_bind_double (statement, 17, variant->limit_part);
  if (variant->choices != NULL && variant->choices->fetch_limit != 0)
    sqlite3_bind_int64 (statement, 18, (gint64) variant->choices->fetch_limit);
  return _gantry_session_step (db, statement, error) && save_choices (db, variant->name, variant->choices, names, error);
}

static gboolean
save_variants (sqlite3 *db, const GantrySessionParts *parts, GError **error)
{
  for (guint i = 0; i < parts->variants->len; i++)
    if (!save_variant (db, i, g_ptr_array_index (parts->variants, i), parts->names, error))
      return FALSE;
  return TRUE;
}

static gboolean
save_pass (sqlite3 *db, sqlite3_stmt *statement, guint position, const char *name, const char *title, const GantrySnapshot *snapshot, gboolean enabled,
           GError **error)
{
  sqlite3_clear_bindings (statement);
  sqlite3_bind_int64 (statement, 1, position);
  _gantry_bind_text (statement, 2, name);
  _gantry_bind_text (statement, 3, title);
  sqlite3_bind_int64 (statement, 4, enabled);
  if (snapshot != NULL)
    {
      sqlite3_bind_int64 (statement, 5, snapshot->nodes_before);
      sqlite3_bind_int64 (statement, 6, snapshot->nodes_after);
      sqlite3_bind_int64 (statement, 7, snapshot->n_made);
      sqlite3_bind_int64 (statement, 8, snapshot->n_removed);
      sqlite3_bind_double (statement, 9, snapshot->milliseconds);
    }
  return _gantry_session_step (db, statement, error);
}

static const GantrySnapshot *
snapshot_of (const GantryCompilation *compilation, const char *pass)
{
  for (guint i = compilation->imported + 1; i < compilation->n_snapshots; i++)
    if (strcmp (compilation->snapshots[i].pass, pass) == 0)
      return &compilation->snapshots[i];
  return NULL;
}

/* All there are: one that a refusal kept from running, or that does not apply, may be switched off all the same. */
static gboolean
save_passes (sqlite3 *db, const GantryCompilation *compilation, const GantryCompileSettings *settings, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "INSERT INTO passes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", error);
  guint n;
  const GantryPassInfo *passes = gantry_compiler_passes (&n);

  if (statement == NULL || !save_pass (db, statement, 0, "import", "Import", &compilation->snapshots[compilation->imported], TRUE, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!save_pass (db, statement, i + 1, passes[i].name, passes[i].title, snapshot_of (compilation, passes[i].name),
                    gantry_compile_settings_enabled (settings, passes[i].name), error))
      return FALSE;
  return TRUE;
}

/* For people with an SQLite tool, and to give the ids in the other tables a meaning. */
static gboolean
save_nodes (sqlite3 *db, const GantryModule *module, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?)", error);

  if (statement == NULL)
    return FALSE;
  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[i];
      const GantryFunction *function = gantry_module_function_of (module, node);
      g_autofree char *type = gantry_context_type_text (module->context, node->type);
      g_autofree char *location = gantry_context_location_text (module->context, node->location);

      sqlite3_bind_int64 (statement, 1, node->id);
      _gantry_bind_text (statement, 2, gantry_context_string (module->context, function->name));
      _gantry_bind_text (statement, 3, gantry_node_op_name (module, node));
      _gantry_bind_text (statement, 4, gantry_context_string (module->context, node->name));
      _gantry_bind_text (statement, 5, type);
      _gantry_bind_text (statement, 6, gantry_context_scope_path (module->context, node->scope));
      _gantry_bind_text (statement, 7, location);
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
    }
  return TRUE;
}

/* Whether the file has a run, or had it until somebody deleted it. */
static gboolean
has_run (sqlite3 *db, const char *uid, gboolean *has, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "SELECT 1 FROM runs WHERE uid = ?1 UNION ALL SELECT 1 FROM deleted WHERE uid = ?1", error);
  GError *own = NULL;

  if (statement == NULL)
    return FALSE;
  _gantry_bind_text (statement, 1, uid);
  *has = _gantry_session_row (db, statement, &own);
  if (own == NULL)
    return TRUE;
  g_propagate_error (error, own);
  return FALSE;
}

/* Runs are added, never taken away: another window or command may have written them. What one of them has deleted is not written again. */
static gboolean
save_runs (sqlite3 *db, GPtrArray *runs, const char *fingerprint, const char *hash, GError **error)
{
  for (guint i = 0; i < runs->len; i++)
    {
      const GantryRunResult *result = g_ptr_array_index (runs, i);
      gboolean has = FALSE;

      if (!has_run (db, result->uid, &has, error) || (!has && !_gantry_session_save_run (db, result, fingerprint, hash, error)))
        return FALSE;
    }
  return TRUE;
}

char *
_gantry_session_read_meta (sqlite3 *db, const char *key, GError **own_error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "SELECT value FROM meta WHERE key = ?", own_error);
  g_autofree char *value = NULL;

  if (statement == NULL)
    return NULL;
  _gantry_bind_text (statement, 1, key);
  if (_gantry_session_row (db, statement, own_error))
    value = _gantry_column_text (statement, 0);
  return value != NULL && *value != '\0' ? g_steal_pointer (&value) : NULL;
}

/* The file becomes the session of another model: runs that do not say of which they are are of the one before, and it carries the
 * files of the new one where it carried those and can. @embed: (inout) */
static gboolean
leave_model (sqlite3 *db, const GantryModel *model, const char *before, gboolean *embed, GError **error)
{
  g_autoptr (sqlite3_stmt) carries = _gantry_session_prepare (db, "SELECT 1 FROM embedded LIMIT 1", error);
  g_autoptr (sqlite3_stmt)
    runs = carries == NULL ? NULL : _gantry_session_prepare (db, "UPDATE runs SET model_sha256 = ? WHERE ifnull (model_sha256, '') = ''", error);
  GError *own = NULL;

  if (runs == NULL)
    return FALSE;
  *embed |= _gantry_session_row (db, carries, &own) && _gantry_session_can_embed (model, NULL);
  if (own != NULL)
    {
      g_propagate_error (error, own);
      return FALSE;
    }
  sqlite3_reset (carries);
  _gantry_bind_text (runs, 1, before);
  return _gantry_session_step (db, runs, error) && _gantry_session_exec (db, "DELETE FROM embedded", error);
}

/* Whether the file is of the model, or may become that of it: @becomes: (out). @embed: (inout) */
static gboolean
same_model (sqlite3 *db, const GantrySessionParts *parts, const char *hash, const char *path, gboolean *becomes, gboolean *embed, GError **error)
{
  GantryModel *model = parts->compilation->model;
  GError *own = NULL;
  g_autofree char *theirs = _gantry_session_read_meta (db, "model_sha256", &own),
                  *name = own == NULL ? _gantry_session_read_meta (db, "model_path", &own) : NULL;

  if (own != NULL)
    {
      g_propagate_error (error, own);
      return FALSE;
    }
  if (name == NULL || g_strcmp0 (theirs, hash) == 0 || (theirs != NULL && gantry_model_has_hash (model, theirs, NULL)))
    return TRUE;
  *becomes = theirs != NULL && g_strcmp0 (theirs, parts->base_model) == 0;
  if (*becomes)
    return leave_model (db, model, theirs, embed, error);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: is the session of another model, %s%s; save under another name, or remove the file first", path,
               name, g_strcmp0 (name, model->path) == 0 ? " as it was before it changed" : "");
  return FALSE;
}

/* Whether what the user has set is to be written: not where only somebody else has changed it. @becomes: what it is of changes here */
static gboolean
choose_state (sqlite3 *db, const GantrySessionParts *parts, const char *mine, const char *path, gboolean becomes, gboolean *write, char **state, GError **error)
{
  GError *own = NULL;
  g_autofree char *theirs = _gantry_session_read_meta (db, GANTRY_SESSION_STATE, &own);

  if (own != NULL)
    {
      g_propagate_error (error, own);
      return FALSE;
    }
  *write = TRUE;
  if (theirs != NULL && parts->base != NULL && strcmp (theirs, parts->base) != 0 && strcmp (theirs, mine) != 0)
    {
      if (becomes || strcmp (parts->base, mine) != 0)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_CONFLICT,
                       "%s: settings, placements or notes in it were changed by another program since they were read, and here "
                       "too; save under another name, or open the file again",
                       path);
          return FALSE;
        }
      *write = FALSE;
    }
  *state = g_strdup (*write ? mine : theirs);
  return TRUE;
}

static gboolean
save_state (sqlite3 *db, const char *path, const GantrySessionParts *parts, const char *hash, const char *fingerprint, const char *state, GError **error)
{
  GantryCompilation *compilation = parts->compilation;

  return _gantry_session_exec (db,
                               "DELETE FROM meta; DELETE FROM dims; DELETE FROM inputs; DELETE FROM passes; DELETE FROM nodes;"
                               "DELETE FROM placements; DELETE FROM schedules; DELETE FROM variants; DELETE FROM measured;",
                               error)
         && save_model (db, parts, hash, path, error) && save_settings (db, parts, fingerprint, error) && put_meta (db, GANTRY_SESSION_STATE, state, error)
         && save_bindings (db, parts->bindings, error) && save_choices (db, "", parts->settings->choices, parts->names, error)
         && save_measured (db, parts->settings->measured, error) && save_variants (db, parts, error) && save_passes (db, compilation, parts->settings, error)
         && _gantry_session_check_settings (db, error) && save_nodes (db, gantry_compilation_module (compilation), error);
}

static gboolean
save_all (sqlite3 *db, const char *path, const GantrySessionParts *parts, GantrySaved *saved, GError **error)
{
  g_autofree char *fingerprint = _gantry_session_fingerprint (parts->compilation);
  GantryModel *model = parts->compilation->model;
  gboolean from_files = model->files != NULL && model->files->len > 0;
  g_autofree char *hash = from_files ? gantry_model_hash (model, error) : NULL, *mine = _gantry_session_state (parts);
  gboolean write = FALSE, becomes = FALSE, embed = parts->embed || (model->carried_as != NULL && !parts->here);

  if (from_files && hash == NULL)
    return FALSE;
  return _gantry_session_prepare_tables (db, error)
         && (parts->replace ? _gantry_session_exec (db, "DELETE FROM runs; DELETE FROM embedded; DELETE FROM deleted; DELETE FROM front;", error)
                            : same_model (db, parts, hash, path, &becomes, &embed, error))
         && choose_state (db, parts, mine, path, becomes, &write, &saved->state, error)
         && (!write || save_state (db, path, parts, hash, fingerprint, mine, error))
         && (parts->front == NULL || _gantry_session_save_front (db, parts->front, error)) && save_runs (db, parts->runs, fingerprint, hash, error)
         && (!embed || _gantry_session_embed (db, model, error)) && (parts->also == NULL || parts->also (db, parts->also_data, error));
}

void
_gantry_saved_clear (GantrySaved *saved)
{
  g_clear_pointer (&saved->state, g_free);
  g_clear_pointer (&saved->model, g_free);
  g_clear_pointer (&saved->others, g_ptr_array_unref);
  g_clear_pointer (&saved->written, g_ptr_array_unref);
}

/* A file that a save has made and could not fill is no session: it goes, unless another writer has begun to fill it. It is locked by the
 * layer below: a transaction on an empty file writes, and there may be no space for it. Who waits for the lock is told by SQLite
 * that the file has moved. */
static void
remove_empty (const char *given)
{
  char *real = realpath (given, NULL); /* a link that it was made through stays */
  g_autofree char *path = g_strdup (real != NULL ? real : given), *journal = g_strconcat (path, "-journal", NULL);
  g_autoptr (sqlite3) db = NULL;
  sqlite3_file *file = NULL;
  sqlite3_int64 size = -1;

  free (real);
  if (sqlite3_open_v2 (path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK || sqlite3_file_control (db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK
      || file->pMethods == NULL)
    return;
  if (file->pMethods->xLock (file, SQLITE_LOCK_SHARED) == SQLITE_OK && file->pMethods->xLock (file, SQLITE_LOCK_RESERVED) == SQLITE_OK
      && file->pMethods->xLock (file, SQLITE_LOCK_EXCLUSIVE) == SQLITE_OK && file->pMethods->xFileSize (file, &size) == SQLITE_OK && size == 0)
    {
      g_unlink (path);
      g_unlink (journal);
    }
  file->pMethods->xUnlock (file, SQLITE_LOCK_NONE);
}

static gboolean
save_file (const char *path, const GantrySessionParts *parts, GantrySaved *saved, GError **error)
{
  g_autoptr (sqlite3) db = _gantry_session_open (path, TRUE, NULL, error);
  g_auto (GantrySaved) own = { NULL, NULL, NULL, NULL };

  if (db == NULL || !_gantry_session_exec (db, "BEGIN IMMEDIATE", error))
    return FALSE;
  if (!save_all (db, path, parts, &own, error) || !_gantry_session_exec (db, "COMMIT", error))
    {
      sqlite3_exec (db, "ROLLBACK", NULL, NULL, NULL);
      return FALSE;
    }
  if (saved == NULL)
    return TRUE;
  /* What is saved is saved: that the others' runs cannot be read is told when the file is opened. */
  own.others = _gantry_session_read_runs (db, parts->runs, NULL, NULL, NULL);
  own.model = _gantry_session_read_meta (db, "model_sha256", NULL);
  own.written = g_ptr_array_ref (parts->runs);
  *saved = own;
  own = (GantrySaved){ NULL, NULL, NULL, NULL };
  return TRUE;
}

gboolean
_gantry_session_save (const char *path, const GantrySessionParts *parts, GantrySaved *saved, GError **error)
{
  gboolean is_new = !g_file_test (path, G_FILE_TEST_EXISTS);
  gboolean done = gantry_read_files_allow (parts->compilation->model->read, path, error) && save_file (path, parts, saved, error);

  if (!done && is_new)
    remove_empty (path);
  return done;
}
