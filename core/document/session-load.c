/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a session: the model is opened again and compiled as it was, then come the runs. Everything
 * read from the file is checked before it is used. */
#include "core/document/session-private.h"
#include <string.h>

#define MOST_STEPS (1u << 26)

static char *
get_meta (sqlite3 *db, const char *key)
{
  g_autoptr (sqlite3_stmt) statement = NULL;

  if (sqlite3_prepare_v2 (db, "SELECT value FROM meta WHERE key = ?", -1, &statement, NULL) != SQLITE_OK)
    return NULL;
  _gantry_bind_text (statement, 1, key);
  return sqlite3_step (statement) == SQLITE_ROW ? _gantry_column_text (statement, 0) : NULL;
}

/* Where the model is now: the path as saved, else the same place relative to the session file. */
static char *
find_model (sqlite3 *db, const char *session_path, GError **error)
{
  g_autofree char *path = get_meta (db, "model_path");
  g_autofree char *relative = get_meta (db, "model_relative_path");
  g_autofree char *folder = g_path_get_dirname (session_path);
  g_autofree char *base = path != NULL ? g_path_get_basename (path) : NULL;
  g_autofree char *beside = base != NULL ? g_build_filename (folder, base, NULL) : NULL;
  g_autofree char *moved = relative != NULL && *relative != '\0' ? g_build_filename (folder, relative, NULL) : NULL;

  if (path == NULL || *path == '\0')
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: names no model; the session was not written whole",
                   session_path);
      return NULL;
    }
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&path);
  if (moved != NULL && g_file_test (moved, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&moved);
  if (g_file_test (beside, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&beside);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "%s: its model %s is not there; put it back or beside the session file", session_path, path);
  return NULL;
}

static gboolean
check_hash (sqlite3 *db, GantryModel *model, const char *session_path, GError **error)
{
  g_autofree char *saved = get_meta (db, "model_sha256");
  g_autofree char *now = NULL;

  if (saved == NULL || *saved == '\0')
    return TRUE;
  now = gantry_model_hash (model, error);
  if (now == NULL)
    return FALSE;
  if (strcmp (saved, now) == 0)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "%s: the model %s has changed since this session was saved; open the model itself to start anew",
               session_path, model->path);
  return FALSE;
}

static GArray *
load_dims (sqlite3 *db, const GantryOpenOptions *options, GPtrArray *names, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "SELECT name, size FROM dims", error);
  GArray *dims;

  if (statement == NULL)
    return NULL;
  dims = g_array_new (FALSE, FALSE, sizeof (GantryDimBinding));
  g_array_append_vals (dims, options->dims, options->n_dims);
  while (sqlite3_step (statement) == SQLITE_ROW)
    {
      char *name = _gantry_column_text (statement, 0);
      GantryDimBinding dim = { name, sqlite3_column_int64 (statement, 1) };
      gboolean given = FALSE;

      g_ptr_array_add (names, name);
      for (guint i = 0; i < options->n_dims; i++)
        given = given || strcmp (options->dims[i].name, name) == 0;
      if (!given && dim.size >= 0)
        g_array_append_val (dims, dim);
    }
  return dims;
}

static gboolean
load_settings (sqlite3 *db, GantryCompileSettings *settings, GError **error)
{
  g_autofree char *finite = get_meta (db, "finite_math");
  g_autofree char *order = get_meta (db, "program_order");
  g_autofree char *target = get_meta (db, "target");
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "SELECT name, enabled FROM passes", error);

  gantry_compile_settings_init (settings);
  if (statement == NULL)
    return FALSE;
  settings->finite_math = g_strcmp0 (finite, "1") == 0;
  settings->program_order = g_strcmp0 (order, "1") == 0;
  if (target != NULL && *target != '\0' && !gantry_target_parse (&settings->target, target, -1, error))
    return FALSE;
  while (sqlite3_step (statement) == SQLITE_ROW)
    {
      g_autofree char *name = _gantry_column_text (statement, 0);

      if (sqlite3_column_int (statement, 1) == 0)
        gantry_compile_settings_set_enabled (settings, name, FALSE);
    }
  return TRUE;
}

/* Runs */

static guint32
count_rows (sqlite3 *db, const char *sql, gint64 run)
{
  g_autoptr (sqlite3_stmt) statement = NULL;
  gint64 n = 0;

  if (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL) != SQLITE_OK)
    return 0;
  sqlite3_bind_int64 (statement, 1, run);
  if (sqlite3_step (statement) == SQLITE_ROW)
    n = sqlite3_column_int64 (statement, 0);
  return (guint32) CLAMP (n, 0, MOST_STEPS);
}

static gboolean
load_steps (sqlite3 *db, gint64 run, GantryPlan *plan, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (
    db, "SELECT node, queue, init, start_us, duration_us, live_bytes FROM plan_steps WHERE run = ? ORDER BY step", error);

  if (statement == NULL)
    return FALSE;
  sqlite3_bind_int64 (statement, 1, run);
  for (guint32 i = 0; i < plan->n_steps && sqlite3_step (statement) == SQLITE_ROW; i++)
    {
      plan->steps[i].node = (guint32) sqlite3_column_int64 (statement, 0);
      plan->steps[i].queue = (guint8) CLAMP (sqlite3_column_int (statement, 1), 0, GANTRY_N_QUEUES - 1);
      plan->steps[i].init = sqlite3_column_int (statement, 2) != 0;
      plan->steps[i].start_us = sqlite3_column_double (statement, 3);
      plan->steps[i].duration_us = sqlite3_column_double (statement, 4);
      plan->live_bytes[i] = (guint64) sqlite3_column_int64 (statement, 5);
    }
  return TRUE;
}

static gboolean
load_buffers (sqlite3 *db, gint64 run, GantryPlan *plan, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (
    db, "SELECT node, member, category, region, memory, in_place, shares, offset, size, first_step, last_step "
        "FROM plan_buffers WHERE run = ? ORDER BY buffer", error);

  if (statement == NULL)
    return FALSE;
  sqlite3_bind_int64 (statement, 1, run);
  for (guint32 i = 0; i < plan->n_buffers && sqlite3_step (statement) == SQLITE_ROW; i++)
    {
      GantryPlanBuffer *b = &plan->buffers[i];
      gint64 shares = sqlite3_column_int64 (statement, 6);
      guint32 last = plan->n_steps > 0 ? plan->n_steps - 1 : 0;

      b->node = (guint32) sqlite3_column_int64 (statement, 0);
      b->member = (guint32) sqlite3_column_int64 (statement, 1);
      b->category = (guint8) CLAMP (sqlite3_column_int (statement, 2), 0, GANTRY_BUFFER_WORKSPACE);
      b->region = (guint8) CLAMP (sqlite3_column_int (statement, 3), 0, GANTRY_REGION_LITERAL);
      b->memory = (guint8) CLAMP (sqlite3_column_int (statement, 4), 0, GANTRY_N_MEMORY_KINDS - 1);
      b->in_place = sqlite3_column_int (statement, 5) != 0;
      /* A chain of shares has to end: it only ever points back. */
      b->shares = shares >= 0 && shares < i ? (guint32) shares : GANTRY_NO_BUFFER;
      b->offset = (guint64) sqlite3_column_int64 (statement, 7);
      b->size = (guint64) sqlite3_column_int64 (statement, 8);
      b->begin = (guint32) CLAMP (sqlite3_column_int64 (statement, 9), 0, last);
      b->end = (guint32) CLAMP (sqlite3_column_int64 (statement, 10), b->begin, last);
    }
  return TRUE;
}

static GantryRecording *
load_recording (sqlite3 *db, gint64 run, GBytes *head, GError **error)
{
  g_autoptr (sqlite3_stmt) statement =
    _gantry_session_prepare (db, "SELECT data FROM chunks WHERE run = ? ORDER BY number", error);
  g_autoptr (GPtrArray) chunks = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);

  if (statement == NULL)
    return NULL;
  sqlite3_bind_int64 (statement, 1, run);
  while (sqlite3_step (statement) == SQLITE_ROW)
    g_ptr_array_add (chunks, g_bytes_new (sqlite3_column_blob (statement, 0),
                                          (gsize) sqlite3_column_bytes (statement, 0)));
  return gantry_recording_load (head, (GBytes *const *) chunks->pdata, chunks->len, error);
}

static gboolean
load_code (sqlite3 *db, gint64 run, GantryRunResult *result, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (
    db, "SELECT node, kernel, kind, texpr, llvm_ir, assembly FROM code WHERE run = ? ORDER BY rowid", error);

  if (statement == NULL)
    return FALSE;
  sqlite3_bind_int64 (statement, 1, run);
  while (sqlite3_step (statement) == SQLITE_ROW)
    {
      GantryCode code = { .node = (guint32) sqlite3_column_int64 (statement, 0),
                          .kernel = (char *) sqlite3_column_text (statement, 1),
                          .kind = (char *) sqlite3_column_text (statement, 2),
                          .texpr = (char *) sqlite3_column_text (statement, 3),
                          .llvm_ir = (char *) sqlite3_column_text (statement, 4),
                          .assembly = (char *) sqlite3_column_text (statement, 5) };

      gantry_run_result_add_code (result, &code);
    }
  return TRUE;
}

static GantryPlan *
load_plan (sqlite3 *db, gint64 run, sqlite3_stmt *row, GError **error)
{
  guint32 n_steps = count_rows (db, "SELECT count(*) FROM plan_steps WHERE run = ?", run);
  g_autoptr (GantryPlan) plan =
    gantry_plan_new (n_steps, count_rows (db, "SELECT count(*) FROM plan_buffers WHERE run = ?", run));

  plan->arena_bytes[GANTRY_MEMORY_DEVICE] = (guint64) sqlite3_column_int64 (row, 11);
  plan->lower_bound = (guint64) sqlite3_column_int64 (row, 14);
  plan->literal_bytes = (guint64) sqlite3_column_int64 (row, 15);
  plan->constant_bytes = (guint64) sqlite3_column_int64 (row, 13);
  plan->peak_step = (guint32) CLAMP (sqlite3_column_int64 (row, 16), 0, n_steps > 0 ? n_steps - 1 : 0);
  plan->total_us = sqlite3_column_double (row, 17);
  plan->n_init_steps = (guint32) CLAMP (sqlite3_column_int64 (row, 18), 0, n_steps);
  if (!load_steps (db, run, plan, error) || !load_buffers (db, run, plan, error))
    return NULL;
  return g_steal_pointer (&plan);
}

static GantryRunResult *
load_run (sqlite3 *db, sqlite3_stmt *row, GError **error)
{
  gint64 run = sqlite3_column_int64 (row, 0);
  g_autoptr (GantryRunResult) result = gantry_run_result_new ();
  g_autoptr (GBytes) head = g_bytes_new (sqlite3_column_blob (row, 20), (gsize) sqlite3_column_bytes (row, 20));

  g_free (result->uid);
  result->uid = _gantry_column_text (row, 1);
  result->name = _gantry_column_text (row, 2);
  result->device = _gantry_column_text (row, 3);
  result->when = _gantry_column_text (row, 4);
  result->n_threads = (guint) sqlite3_column_int64 (row, 5);
  result->n_runs = (guint) sqlite3_column_int64 (row, 6);
  result->milliseconds = sqlite3_column_double (row, 7);
  result->milliseconds_min = sqlite3_column_double (row, 8);
  result->milliseconds_max = sqlite3_column_double (row, 9);
  result->compile_ms = sqlite3_column_double (row, 10);
  result->planned_bytes = (guint64) sqlite3_column_int64 (row, 11);
  result->peak_bytes = (guint64) sqlite3_column_int64 (row, 12);
  result->constant_bytes = (guint64) sqlite3_column_int64 (row, 13);
  result->plan = load_plan (db, run, row, error);
  if (result->plan != NULL)
    result->recording = load_recording (db, run, head, error);
  if (result->recording == NULL || !load_code (db, run, result, error))
    {
      gantry_error_prefix (error, "run %" G_GINT64_FORMAT ": ", run);
      return NULL;
    }
  return g_steal_pointer (&result);
}

static GPtrArray *
load_runs (sqlite3 *db, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (
    db, "SELECT id, uid, name, device, recorded_at, threads, runs, milliseconds, milliseconds_min, milliseconds_max,"
        " compile_milliseconds, planned_bytes, peak_bytes, constant_bytes, lower_bound_bytes, literal_bytes, peak_step,"
        " predicted_us, init_steps, program, head FROM runs ORDER BY id", error);
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_run_result_unref);
  int code = SQLITE_DONE;

  if (statement == NULL)
    return NULL;
  while ((code = sqlite3_step (statement)) == SQLITE_ROW)
    {
      GantryRunResult *result = load_run (db, statement, error);

      if (result == NULL)
        return NULL;
      g_ptr_array_add (runs, result);
    }
  if (code != SQLITE_DONE)
    {
      _gantry_session_fail (db, error);
      return NULL;
    }
  return g_steal_pointer (&runs);
}

GPtrArray *
_gantry_session_load_runs (const char *path, GError **error)
{
  g_autoptr (sqlite3) db = _gantry_session_open (path, FALSE, error);
  GPtrArray *runs = db != NULL ? load_runs (db, error) : NULL;

  if (runs == NULL)
    gantry_error_prefix (error, "%s: ", path);
  return runs;
}

/* The ids in the runs mean nodes of the program as it was compiled then. Another version of the passes may number
 * them otherwise; the runs are then told apart by name. */
static void
mark_foreign_runs (sqlite3 *db, const GantryCompilation *compilation, GPtrArray *runs)
{
  g_autofree char *saved = get_meta (db, "program");
  g_autofree char *now = _gantry_session_fingerprint (compilation);

  for (guint i = 0; g_strcmp0 (saved, now) != 0 && i < runs->len; i++)
    {
      GantryRunResult *result = g_ptr_array_index (runs, i);
      char *name = g_strdup_printf ("%s (of a program compiled otherwise)", result->name);

      g_free (result->name);
      result->name = name;
    }
}

static gboolean
load_program (sqlite3 *db, GantryLoaded *loaded, const GantryOpenOptions *options, const GantryProgress *progress,
              GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *model_path = find_model (db, loaded->session_path, error);
  g_autofree char *seed = get_meta (db, "random_weights");
  g_autoptr (GArray) dims = model_path != NULL ? load_dims (db, options, names, error) : NULL;
  g_autoptr (GantryModel) model = NULL;
  gint64 random = options->random_weights >= 0 || seed == NULL ? options->random_weights
                                                               : g_ascii_strtoll (seed, NULL, 10);

  if (dims == NULL || !load_settings (db, &loaded->settings, error))
    return FALSE;
  if (options->settings != NULL)
    {
      gantry_compile_settings_clear (&loaded->settings);
      gantry_compile_settings_copy (&loaded->settings, options->settings);
    }
  gantry_progress_report (progress, -1, "Opening");
  model = gantry_model_open (model_path, (const GantryDimBinding *) (gpointer) dims->data, dims->len, random, progress,
                             error);
  if (model == NULL || !check_hash (db, model, loaded->session_path, error))
    return FALSE;
  loaded->compilation = gantry_compile (model, &loaded->settings, progress, error);
  return loaded->compilation != NULL;
}

GantryLoaded *
_gantry_session_load (const char *path, const GantryOpenOptions *options, const GantryProgress *progress,
                      GError **error)
{
  g_autoptr (sqlite3) db = _gantry_session_open (path, FALSE, error);
  g_autoptr (GantryLoaded) loaded = g_new0 (GantryLoaded, 1);

  if (db == NULL)
    return NULL;
  loaded->path = g_strdup (path);
  loaded->session_path = g_strdup (path);
  if (!load_program (db, loaded, options, progress, error))
    return NULL;
  loaded->runs = load_runs (db, error);
  if (loaded->runs == NULL)
    {
      gantry_error_prefix (error, "%s: ", path);
      return NULL;
    }
  mark_foreign_runs (db, loaded->compilation, loaded->runs);
  return g_steal_pointer (&loaded);
}
