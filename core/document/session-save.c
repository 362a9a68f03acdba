/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a session: one transaction, so that whatever happens the file holds the old state or the new. */
#include "core/document/session-private.h"
#include <gio/gio.h>

static gboolean
put_meta (sqlite3 *db, const char *key, const char *value, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "INSERT INTO meta VALUES (?, ?)", error);

  if (statement == NULL)
    return FALSE;
  _gantry_bind_text (statement, 1, key);
  _gantry_bind_text (statement, 2, value);
  return _gantry_session_step (db, statement, error);
}

static gboolean
save_model (sqlite3 *db, const GantryCompilation *compilation, const GantryCompileSettings *settings,
            const char *session_path, GError **error)
{
  GantryModel *model = compilation->model;
  g_autofree char *path = g_canonicalize_filename (model->path, NULL);
  g_autofree char *session = g_canonicalize_filename (session_path, NULL);
  g_autofree char *folder = g_path_get_dirname (session);
  g_autoptr (GFile) base = g_file_new_for_path (folder);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autofree char *relative = g_file_get_relative_path (base, file);
  g_autofree char *hash = gantry_model_hash (model, NULL);
  g_autofree char *seed = g_strdup_printf ("%" G_GINT64_FORMAT, model->random_weights);
  g_autofree char *target = gantry_target_to_text (&settings->target);
  g_autofree char *fingerprint = _gantry_session_fingerprint (compilation);

  if (!put_meta (db, "model_path", path, error) || !put_meta (db, "model_relative_path", relative, error) ||
      !put_meta (db, "model_sha256", hash, error) || !put_meta (db, "model_format", model->format, error) ||
      !put_meta (db, "random_weights", seed, error) || !put_meta (db, "target", target, error) ||
      !put_meta (db, "finite_math", settings->finite_math ? "1" : "0", error) ||
      !put_meta (db, "program_order", settings->program_order ? "1" : "0", error) ||
      !put_meta (db, "program", fingerprint, error))
    return FALSE;
  for (guint i = 0; i < model->n_dims; i++)
    {
      g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "INSERT INTO dims VALUES (?, ?)", error);

      if (statement == NULL)
        return FALSE;
      _gantry_bind_text (statement, 1, model->dim_names[i]);
      sqlite3_bind_int64 (statement, 2, model->dim_sizes[i]);
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
save_passes (sqlite3 *db, const GantryCompilation *compilation, const GantryCompileSettings *settings, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
    _gantry_session_prepare (db, "INSERT INTO passes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", error);
  guint n;
  const GantryPassInfo *passes = gantry_compiler_passes (&n);

  if (statement == NULL)
    return FALSE;
  for (guint i = 0; i <= n; i++)
    {
      /* After a refusal the rest has no snapshot, but may be switched off all the same. */
      const GantrySnapshot *snapshot = i < compilation->n_snapshots ? &compilation->snapshots[i] : NULL;

      sqlite3_clear_bindings (statement);
      sqlite3_bind_int64 (statement, 1, i);
      _gantry_bind_text (statement, 2, i == 0 ? "import" : passes[i - 1].name);
      _gantry_bind_text (statement, 3, i == 0 ? "Import" : passes[i - 1].title);
      sqlite3_bind_int64 (statement, 4, i == 0 || gantry_compile_settings_enabled (settings, passes[i - 1].name));
      if (snapshot != NULL)
        {
          sqlite3_bind_int64 (statement, 5, snapshot->nodes_before);
          sqlite3_bind_int64 (statement, 6, snapshot->nodes_after);
          sqlite3_bind_int64 (statement, 7, snapshot->n_made);
          sqlite3_bind_int64 (statement, 8, snapshot->n_removed);
          sqlite3_bind_double (statement, 9, snapshot->milliseconds);
        }
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
    }
  return TRUE;
}

/* For people with an SQLite tool, and to give the ids in the other tables a meaning. */
static gboolean
save_nodes (sqlite3 *db, const GantryModule *module, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
    _gantry_session_prepare (db, "INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?)", error);

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

static gboolean
save_plan (sqlite3 *db, gint64 run, const GantryPlan *plan, GError **error)
{
  g_autoptr (sqlite3_stmt) steps =
    _gantry_session_prepare (db, "INSERT INTO plan_steps VALUES (?, ?, ?, ?, ?, ?, ?, ?)", error);
  g_autoptr (sqlite3_stmt) buffers =
    _gantry_session_prepare (db, "INSERT INTO plan_buffers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", error);

  if (steps == NULL || buffers == NULL)
    return FALSE;
  for (guint32 i = 0; i < plan->n_steps; i++)
    {
      const GantryPlanStep *step = &plan->steps[i];
      const gint64 values[] = { run, i, step->node, step->queue, step->init };

      for (guint j = 0; j < G_N_ELEMENTS (values); j++)
        sqlite3_bind_int64 (steps, (int) j + 1, values[j]);
      sqlite3_bind_double (steps, 6, step->start_us);
      sqlite3_bind_double (steps, 7, step->duration_us);
      sqlite3_bind_int64 (steps, 8, (gint64) plan->live_bytes[i]);
      if (!_gantry_session_step (db, steps, error))
        return FALSE;
    }
  for (guint32 i = 0; i < plan->n_buffers; i++)
    {
      const GantryPlanBuffer *b = &plan->buffers[i];
      const gint64 values[] = { run, i, b->node, b->member, b->category, b->region, b->memory, b->in_place,
                                b->shares == GANTRY_NO_BUFFER ? -1 : (gint64) b->shares, (gint64) b->offset,
                                (gint64) b->size, b->begin, b->end };

      for (guint j = 0; j < G_N_ELEMENTS (values); j++)
        sqlite3_bind_int64 (buffers, (int) j + 1, values[j]);
      if (!_gantry_session_step (db, buffers, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
save_chunks (sqlite3 *db, gint64 run, const GantryRecording *recording, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
    _gantry_session_prepare (db, "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?)", error);

  if (statement == NULL)
    return FALSE;
  for (guint32 i = 0; i < gantry_recording_n_chunks (recording); i++)
    {
      GantryChunkInfo info;
      g_autoptr (GBytes) data = gantry_recording_chunk (recording, i, &info);
      const gint64 values[] = { run, info.number, info.content, info.lane, info.n, info.begin, info.end };

      for (guint j = 0; j < G_N_ELEMENTS (values); j++)
        sqlite3_bind_int64 (statement, (int) j + 1, values[j]);
      sqlite3_bind_blob64 (statement, 8, g_bytes_get_data (data, NULL), g_bytes_get_size (data), SQLITE_TRANSIENT);
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
save_code (sqlite3 *db, gint64 run, const GantryRunResult *result, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
    _gantry_session_prepare (db, "INSERT INTO code VALUES (?, ?, ?, ?, ?, ?, ?)", error);

  if (statement == NULL)
    return FALSE;
  for (guint i = 0; i < result->codes->len; i++)
    {
      const GantryCode *code = g_ptr_array_index (result->codes, i);

      sqlite3_bind_int64 (statement, 1, run);
      sqlite3_bind_int64 (statement, 2, code->node);
      _gantry_bind_text (statement, 3, code->kernel);
      _gantry_bind_text (statement, 4, code->kind);
      _gantry_bind_text (statement, 5, code->texpr);
      _gantry_bind_text (statement, 6, code->llvm_ir);
      _gantry_bind_text (statement, 7, code->assembly);
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
has_run (sqlite3 *db, const char *uid, gboolean *has, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "SELECT 1 FROM runs WHERE uid = ?", error);

  if (statement == NULL)
    return FALSE;
  _gantry_bind_text (statement, 1, uid);
  *has = sqlite3_step (statement) == SQLITE_ROW;
  return TRUE;
}

static gboolean
save_run (sqlite3 *db, const GantryRunResult *result, const char *fingerprint, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (
    db, "INSERT INTO runs VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", error);
  g_autoptr (GBytes) head = gantry_recording_head (result->recording);
  const double reals[] = { result->milliseconds, result->milliseconds_min, result->milliseconds_max,
                           result->compile_ms };
  const guint64 sizes[] = { result->planned_bytes, result->peak_bytes, result->constant_bytes,
                            result->plan->lower_bound, result->plan->literal_bytes, result->plan->peak_step };
  gint64 run;

  if (statement == NULL)
    return FALSE;
  _gantry_bind_text (statement, 1, result->uid);
  _gantry_bind_text (statement, 2, result->name);
  _gantry_bind_text (statement, 3, result->device);
  _gantry_bind_text (statement, 4, result->when);
  sqlite3_bind_int64 (statement, 5, result->n_threads);
  sqlite3_bind_int64 (statement, 6, result->n_runs);
  for (guint i = 0; i < G_N_ELEMENTS (reals); i++)
    sqlite3_bind_double (statement, (int) i + 7, reals[i]);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    sqlite3_bind_int64 (statement, (int) i + 11, (gint64) sizes[i]);
  sqlite3_bind_double (statement, 17, result->plan->total_us);
  sqlite3_bind_int64 (statement, 18, result->plan->n_init_steps);
  _gantry_bind_text (statement, 19, fingerprint);
  sqlite3_bind_blob64 (statement, 20, g_bytes_get_data (head, NULL), g_bytes_get_size (head), SQLITE_TRANSIENT);
  if (!_gantry_session_step (db, statement, error))
    return FALSE;
  run = sqlite3_last_insert_rowid (db);
  return save_plan (db, run, result->plan, error) && save_chunks (db, run, result->recording, error) &&
         save_code (db, run, result, error);
}

/* Runs that the document no longer has go; those that the file lacks come. */
static gboolean
save_runs (sqlite3 *db, GPtrArray *runs, const char *fingerprint, GError **error)
{
  g_autoptr (GString) keep = g_string_new ("DELETE FROM runs WHERE uid NOT IN (''");

  for (guint i = 0; i < runs->len; i++)
    {
      char *quoted = sqlite3_mprintf (", %Q", ((GantryRunResult *) g_ptr_array_index (runs, i))->uid);

      g_string_append (keep, quoted);
      sqlite3_free (quoted);
    }
  g_string_append (keep, ")");
  if (!_gantry_session_exec (db, keep->str, error))
    return FALSE;
  for (guint i = 0; i < runs->len; i++)
    {
      const GantryRunResult *result = g_ptr_array_index (runs, i);
      gboolean has = FALSE;

      if (!has_run (db, result->uid, &has, error) || (!has && !save_run (db, result, fingerprint, error)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
save_all (sqlite3 *db, const char *path, GantryCompilation *compilation, const GantryCompileSettings *settings,
          GPtrArray *runs, GError **error)
{
  g_autofree char *fingerprint = _gantry_session_fingerprint (compilation);

  return _gantry_session_exec (db, "DELETE FROM meta; DELETE FROM dims; DELETE FROM passes; DELETE FROM nodes;", error) &&
         save_model (db, compilation, settings, path, error) && save_passes (db, compilation, settings, error) &&
         save_nodes (db, gantry_compilation_module (compilation), error) && save_runs (db, runs, fingerprint, error);
}

gboolean
_gantry_session_save (const char *path, GantryCompilation *compilation, const GantryCompileSettings *settings,
                      GPtrArray *runs, GError **error)
{
  g_autoptr (sqlite3) db = _gantry_session_open (path, TRUE, error);

  if (db == NULL || !_gantry_session_exec (db, "BEGIN IMMEDIATE", error))
    return FALSE;
  if (save_all (db, path, compilation, settings, runs, error) && _gantry_session_exec (db, "COMMIT", error))
    return TRUE;
  sqlite3_exec (db, "ROLLBACK", NULL, NULL, NULL);
  return FALSE;
}
