/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a session: the model is opened again and compiled as it was, then come the runs. Everything
 * read from the file is checked before it is used. */
#include "core/document/outside-private.h"
#include "core/document/session-private.h"
#include <math.h>
#include <string.h>

/* Node ids that may lie between those of the import and those of the passes: compilations made before the save. */
#define MOST_IDS_AHEAD (1u << 22)

/* All facts of the file: an error of the file is told here, so that a fact that is missing is missing. (transfer full) */
static GHashTable *
load_meta (sqlite3 *db, GError **error)
{
  g_auto (GantrySessionRows) rows = { .db = db };
  g_autoptr (GHashTable) meta = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GError *own = NULL;

  if (!_gantry_session_has (db, "meta", "key"))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: holds no session; it was not written whole, or is damaged",
                   sqlite3_db_filename (db, "main"));
      return NULL;
    }
  if (!_gantry_rows_begin (&rows, db, "meta", "SELECT key, value FROM meta", error))
    return NULL;
  while (_gantry_rows_next (&rows, &own))
    g_hash_table_replace (meta, _gantry_column_text (rows.statement, 0), _gantry_column_text (rows.statement, 1));
  if (own == NULL)
    return g_steal_pointer (&meta);
  g_propagate_error (error, own);
  return NULL;
}

/* (nullable): NULL where it is missing or empty */
static const char *
fact (GHashTable *meta, const char *key)
{
  const char *value = g_hash_table_lookup (meta, key);

  return value != NULL && *value != '\0' ? value : NULL;
}

/* Where the model is now: the path as saved, else the same place relative to the session file. */
static char *
find_model (GHashTable *meta, const char *session_path, GError **error)
{
  g_autofree char *path = g_strdup (fact (meta, "model_path"));
  const char *relative = fact (meta, "model_relative_path");
  g_autofree char *folder = g_path_get_dirname (session_path);
  g_autofree char *base = path != NULL ? g_path_get_basename (path) : NULL;
  g_autofree char *beside = base != NULL ? g_build_filename (folder, base, NULL) : NULL;
  g_autofree char *moved = relative != NULL ? g_build_filename (folder, relative, NULL) : NULL;

  if (path == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: names no model; the session was not written whole", session_path);
      return NULL;
    }
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&path);
  if (moved != NULL && g_file_test (moved, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&moved);
  if (g_file_test (beside, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&beside);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: its model %s is not there; put it back or beside the session file", session_path, path);
  return NULL;
}

/* @loaded: notes where it is another model that the user has accepted. */
static gboolean
check_hash (GHashTable *meta, GantryModel *model, const GantryOpenOptions *options, GantryLoaded *loaded, GError **error)
{
  const char *saved = fact (meta, "model_sha256");
  g_autofree char *files = gantry_model_identity (model);
  GError *own = NULL;

  /* The very files that were saved with need not be read once more. */
  if (saved == NULL || (*files != '\0' && g_strcmp0 (fact (meta, "model_files"), files) == 0) || gantry_model_has_hash (model, saved, &own))
    return TRUE;
  if (own != NULL)
    {
      g_propagate_error (error, own);
      return FALSE;
    }
  if (options->changed_model)
    {
      loaded->other_model = gantry_model_hash (model, error);
      return loaded->other_model != NULL;
    }
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_CHANGED, GANTRY_MODEL_CHANGED, loaded->session_path, ": ", model->path);
  return FALSE;
}

static gboolean
load_dims (sqlite3 *db, GantryBindings *bindings, GError **error)
{
  g_auto (GantrySessionRows) rows = { .db = db };
  GError *own = NULL;

  if (!_gantry_rows_begin (&rows, db, "dims", "SELECT name, size FROM dims", error))
    return FALSE;
  while (_gantry_rows_next (&rows, &own))
    {
      g_autofree char *name = _gantry_column_text (rows.statement, 0);

      if (sqlite3_column_int64 (rows.statement, 1) >= 0)
        gantry_bindings_set_dim (bindings, name, sqlite3_column_int64 (rows.statement, 1));
    }
  if (own == NULL)
    return TRUE;
  g_propagate_error (error, own);
  return FALSE;
}

static gboolean
load_inputs (sqlite3 *db, GantryBindings *bindings, GError **error)
{
  g_auto (GantrySessionRows) rows = { .db = db };
  GError *own = NULL;

  if (!_gantry_session_has (db, "inputs", "value"))
    return TRUE;
  if (!_gantry_rows_begin (&rows, db, "inputs", "SELECT name, value FROM inputs", error))
    return FALSE;
  while (_gantry_rows_next (&rows, &own))
    {
      g_autofree char *name = _gantry_column_text (rows.statement, 0), *value = _gantry_column_text (rows.statement, 1);

      gantry_bindings_set_input (bindings, name, value);
    }
  if (own == NULL)
    return TRUE;
  g_propagate_error (error, own);
  return FALSE;
}

/* Those of the file, and over them those that it is opened with. (transfer full) */
static GantryBindings *
load_bindings (sqlite3 *db, GHashTable *meta, const GantryOpenOptions *options, GError **error)
{
  g_autoptr (GantryBindings) bindings = gantry_bindings_new ();

  if (fact (meta, "entry") != NULL)
    gantry_bindings_set_entry (bindings, fact (meta, "entry"));
  if (!load_dims (db, bindings, error) || !load_inputs (db, bindings, error))
    return NULL;
  gantry_bindings_merge (bindings, options->bindings);
  return g_steal_pointer (&bindings);
}

/* One that is none would be taken for another one's, or several of them for one. */
static gboolean
read_key (GantrySessionRows *rows, const char *table, const char *text, guint64 *key, GError **error)
{
  if (_gantry_session_key (text, key))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "%s: the table %s has the key '%.40s', which is not one of 16 hexadecimal digits: a hand wrote it; delete that row",
               sqlite3_db_filename (rows->db, "main"), table, text);
  return FALSE;
}

static gboolean
load_schedule (sqlite3 *db, const char *variant, GantryChoices *choices, GError **error)
{
  g_autoptr (GArray) keys = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_auto (GantrySessionRows) rows = { .db = db };
  GError *own = NULL;

  if (!_gantry_session_has (db, "schedules", "key"))
    return TRUE;
  if (!_gantry_rows_begin (&rows, db, "schedules", "SELECT key FROM schedules WHERE variant = ? ORDER BY position", error))
    return FALSE;
  _gantry_bind_text (rows.statement, 1, variant);
  while (own == NULL && _gantry_rows_next (&rows, &own))
    {
      g_autofree char *text = _gantry_column_text (rows.statement, 0);
      guint64 key;

      if (read_key (&rows, "schedules", text, &key, &own))
        g_array_append_val (keys, key);
    }
  gantry_choices_set_schedule (choices, (const guint64 *) (gpointer) keys->data, keys->len);
  if (own != NULL)
    g_propagate_error (error, own);
  return own == NULL;
}

/* A kind that is not known, of a later version, is refused: taken for another one it would be lost with the next save. */
static gboolean
read_kind (GantrySessionRows *rows, const char *name, GantryChoice *choice, GError **error)
{
  const gint64 kind = sqlite3_column_int64 (rows->statement, 2);
  g_autofree char *text = NULL;

  choice->kind = (guint8) kind;
  if (sqlite3_column_type (rows->statement, 2) == SQLITE_INTEGER && kind >= 0 && kind < GANTRY_N_PLACEMENTS)
    return TRUE;
  text = _gantry_column_text (rows->statement, 2);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
               "%s: the table placements has '%s' of kind %.40s, which is none of 0 to %d: a newer Gantry wrote it, which opens it, or a hand did",
               sqlite3_db_filename (rows->db, "main"), *name != '\0' ? name : "a value", text, GANTRY_N_PLACEMENTS - 1);
  return FALSE;
}

/* The single values that are placed: @variant "" for those of the document itself. @names: (inout): what they are called */
static GantryChoices *
load_choices (sqlite3 *db, const char *variant, GHashTable **names, GError **error)
{
  gboolean named = _gantry_session_has (db, "placements", "name"); /* by later versions */
  g_autoptr (GantryChoices) choices = gantry_choices_new ();
  g_autoptr (GArray) list = g_array_new (FALSE, TRUE, sizeof (GantryChoice));
  g_auto (GantrySessionRows) rows = { .db = db };
  GError *own = NULL;

  if (!_gantry_session_has (db, "placements", "key"))
    return g_steal_pointer (&choices);
  if (!_gantry_rows_begin (&rows, db, "placements",
                           named ? "SELECT key, node, kind, memory, decided_by, name FROM placements WHERE variant = ? ORDER BY key"
                                 : "SELECT key, node, kind, memory, decided_by, NULL FROM placements WHERE variant = ? ORDER BY key",
                           error))
    return NULL;
  _gantry_bind_text (rows.statement, 1, variant);
  while (_gantry_rows_next (&rows, &own))
    {
      g_autofree char *key = _gantry_column_text (rows.statement, 0), *name = _gantry_column_text (rows.statement, 5);
      GantryChoice choice = { 0 };

      if (!read_key (&rows, "placements", key, &choice.key, error))
        return NULL;
      choice.node = (guint32) sqlite3_column_int64 (rows.statement, 1);
      if (!read_kind (&rows, name, &choice, error))
        return NULL;
      choice.memory = (guint8) CLAMP (sqlite3_column_int (rows.statement, 3), 0, GANTRY_N_MEMORY_KINDS - 1);
      choice.decider = (guint8) CLAMP (sqlite3_column_int (rows.statement, 4), 0, GANTRY_DECIDED_BY_SOLVER);
      g_array_append_val (list, choice);
      if (*name != '\0')
        _gantry_names_add (names, choice.key, name);
    }
  if (own != NULL)
    {
      g_propagate_error (error, own);
      return NULL;
    }
  gantry_choices_set_many (choices, (const GantryChoice *) (gpointer) list->data, list->len);
  return load_schedule (db, variant, choices, error) ? g_steal_pointer (&choices) : NULL;
}

static gboolean
load_disabled (sqlite3 *db, GantryCompileSettings *settings, GError **error)
{
  g_auto (GantrySessionRows) rows = { .db = db };
  GError *own = NULL;

  if (!_gantry_rows_begin (&rows, db, "passes", "SELECT name, enabled FROM passes", error))
    return FALSE;
  while (_gantry_rows_next (&rows, &own))
    {
      g_autofree char *name = _gantry_column_text (rows.statement, 0);

      if (sqlite3_column_int (rows.statement, 1) == 0)
        gantry_compile_settings_set_enabled (settings, name, FALSE);
    }
  if (own == NULL)
    return TRUE;
  g_propagate_error (error, own);
  return FALSE;
}

/* FALSE with @error; no times where none are planned with. */
static gboolean
load_measured (sqlite3 *db, GHashTable *meta, GantryCompileSettings *settings, GError **error)
{
  const char *run = fact (meta, "measured_run"), *name = fact (meta, "measured_name"), *link = fact (meta, "measured_link");
  g_autoptr (GantryMeasuredTimes) times = NULL;
  g_auto (GantrySessionRows) rows = { .db = db };
  GError *own = NULL;

  if (run == NULL || !_gantry_session_has (db, "measured", "key"))
    return TRUE;
  if (!_gantry_rows_begin (&rows, db, "measured", "SELECT key, us FROM measured", error))
    return FALSE;
  times = gantry_measured_times_new (run, name != NULL ? name : "a run");
  times->conditions = g_strdup (fact (meta, "measured_conditions"));
  times->link_bandwidth = link != NULL ? g_ascii_strtod (link, NULL) : 0;
  if (!isfinite (times->link_bandwidth) || times->link_bandwidth < 0)
    times->link_bandwidth = 0;
  while (own == NULL && _gantry_rows_next (&rows, &own))
    {
      g_autofree char *text = _gantry_column_text (rows.statement, 0);
      guint64 key;

      if (read_key (&rows, "measured", text, &key, &own))
        gantry_measured_times_add (times, key, sqlite3_column_double (rows.statement, 1));
    }
  gantry_measured_times_sort (times);
  if (own != NULL)
    {
      g_propagate_error (error, own);
      return FALSE;
    }
  if (times->entries->len > 0)
    settings->measured = g_steal_pointer (&times);
  return TRUE;
}

static gboolean
load_settings (sqlite3 *db, GHashTable *meta, GantryCompileSettings *settings, GHashTable **names, GError **error)
{
  const char *target = fact (meta, "target"), *training = fact (meta, "training");

  gantry_compile_settings_init (settings);
  settings->finite_math = g_strcmp0 (fact (meta, "finite_math"), "1") == 0;
  settings->fuse_rows = g_strcmp0 (fact (meta, "fuse_rows"), "1") == 0;
  settings->fuse_products = g_strcmp0 (fact (meta, "fuse_products"), "1") == 0;
  settings->most_unrolled = fact (meta, "most_unrolled") != NULL ? (guint32) g_ascii_strtoull (fact (meta, "most_unrolled"), NULL, 10) : 0;
  /* Of sessions before there was a choice; what is not known is the usual one. */
  if (g_strcmp0 (fact (meta, "program_order"), "1") == 0)
    settings->order = GANTRY_ORDER_PROGRAM;
  gantry_order_parse (fact (meta, "order"), &settings->order);
  gantry_allocator_parse (fact (meta, "allocator"), &settings->allocator);
  settings->train = g_strcmp0 (fact (meta, "train"), "1") == 0;
  settings->policy = g_strdup (fact (meta, "policy"));
  /* A damaged table is none: it is found out anew. */
  settings->sizes = fact (meta, "kernel_sizes") != NULL ? gantry_kernel_sizes_parse (fact (meta, "kernel_sizes"), NULL) : NULL;
  gantry_compile_settings_take_machine (settings, 0);
  if ((target != NULL && !gantry_target_parse (&settings->target, target, -1, error))
      || (training != NULL && !gantry_training_options_parse (&settings->training, training, -1, error)))
    return FALSE;
  settings->choices = load_choices (db, "", names, error);
  if (settings->choices != NULL && fact (meta, "fetch_limit_bytes") != NULL)
    settings->choices->fetch_limit = g_ascii_strtoull (fact (meta, "fetch_limit_bytes"), NULL, 10);
  return settings->choices != NULL && load_measured (db, meta, settings, error) && load_disabled (db, settings, error);
}

static GantryVariant *
load_variant (sqlite3 *db, sqlite3_stmt *row, GHashTable **names, GError **error)
{
  g_autofree char *name = _gantry_column_text (row, 0);
  g_autoptr (GantryVariant) variant = _gantry_variant_new (name);

  if (sqlite3_column_type (row, 1) != SQLITE_NULL)
    variant->policy = _gantry_column_text (row, 1);
  variant->limit = (guint64) sqlite3_column_int64 (row, 2);
  variant->by = (GantryDecider) CLAMP (sqlite3_column_int (row, 3), 0, GANTRY_DECIDED_BY_SOLVER);
  variant->predicted = _gantry_column_figures (row, 4, 12, &variant->figures);
  variant->gap = sqlite3_column_type (row, 11) != SQLITE_NULL ? sqlite3_column_double (row, 11) : -1;
  variant->limit_part = MAX (sqlite3_column_double (row, 15), 0);
  variant->choices = load_choices (db, name, names, error);
  if (variant->choices == NULL)
    return NULL;
  variant->choices->fetch_limit = (guint64) sqlite3_column_int64 (row, 16);
  return g_steal_pointer (&variant);
}

static GPtrArray *
load_variants (sqlite3 *db, GHashTable **names, GError **error)
{
  g_autoptr (GPtrArray) variants = _gantry_variants_new ();
  g_auto (GantrySessionRows) rows = { .db = db };
  g_autofree char *query = NULL, *figures = NULL;
  GError *own = NULL;

  if (!_gantry_session_has (db, "variants", "name"))
    return g_steal_pointer (&variants);
  figures = _gantry_session_figures (db, "variants");
  query = g_strconcat ("SELECT name, policy, limit_bytes, decided_by, ", _gantry_session_column (db, "variants", "planned_bytes"), ", temp_bytes, ",
                       _gantry_session_column (db, "variants", "host_planned_bytes"),
                       ", copied_bytes, step_us,"
                       " recompute_us, stall_us, gap, ",
                       figures, ", ", _gantry_session_column (db, "variants", "limit_part"), ", ", _gantry_session_column (db, "variants", "fetch_limit_bytes"),
                       " FROM variants ORDER BY position", NULL);
  _gantry_rows_begin (&rows, db, "variants", query, &own);
  while (own == NULL && _gantry_rows_next (&rows, &own))
    {
      GantryVariant *variant = load_variant (db, rows.statement, names, &own);

      if (variant != NULL)
        g_ptr_array_add (variants, variant);
    }
  if (own != NULL)
    g_propagate_error (error, own);
  return own == NULL ? g_steal_pointer (&variants) : NULL;
}

static gboolean
is_known (GPtrArray *known, const char *uid)
{
  for (guint i = 0; known != NULL && i < known->len; i++)
    if (g_strcmp0 (((GantryRunResult *) g_ptr_array_index (known, i))->uid, uid) == 0)
      return TRUE;
  return FALSE;
}

/* The newest one speaks for all. */
static void
leave_out (GError **notice, GError *why)
{
  if (notice != NULL && *notice == NULL)
    *notice = g_error_new (why->domain, why->code,
                           "%s; it is not read, and stays in the file as it is until gantry-cli runs --delete takes it "
                           "out",
                           why->message);
  g_error_free (why);
}

/* Whether @error is of one run alone: it is larger than any that is read, or what stands in its rows is none of what a run has. Where
 * pages of the file are damaged nothing else in it is to be relied on. */
static gboolean
is_of_run (sqlite3 *db, const GError *error)
{
  const int code = sqlite3_errcode (db) & 0xff;

  return g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE)
         || (code != SQLITE_CORRUPT && code != SQLITE_NOTADB
             && (g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_INVALID) || g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED)
                 || g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED)));
}

static void
reverse (GPtrArray *array)
{
  for (guint i = 0; i < array->len / 2; i++)
    {
      gpointer first = array->pdata[i];

      array->pdata[i] = array->pdata[array->len - 1 - i];
      array->pdata[array->len - 1 - i] = first;
    }
}

GPtrArray *
_gantry_session_read_runs (sqlite3 *db, GPtrArray *known, const char *model, GError **notice, GError **error)
{
  g_autofree char *sql = _gantry_session_run_query (db), *hash = _gantry_session_read_meta (db, "model_sha256", NULL);
  g_auto (GantrySessionRows) rows = { .db = db };
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_run_result_unref);
  GError *own = NULL;
  guint n_left_out = 0;

  _gantry_rows_begin (&rows, db, "runs", sql, &own);
  while (own == NULL && _gantry_rows_next (&rows, &own))
    {
      g_autofree char *uid = _gantry_column_text (rows.statement, GANTRY_SESSION_RUN_UID);
      GantryRunResult *result = is_known (known, uid) ? NULL : _gantry_session_load_run (db, rows.statement, hash, model != NULL ? model : hash, &own);

      if (result != NULL)
        g_ptr_array_add (runs, result);
      else if (is_of_run (db, own))
        {
          n_left_out++;
          leave_out (notice, g_steal_pointer (&own));
        }
    }
  if (g_error_matches (own, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE)) /* those before are older */
    {
      n_left_out++;
      leave_out (notice, g_steal_pointer (&own));
    }
  if (notice != NULL && *notice != NULL && n_left_out > 1)
    g_prefix_error (notice, "%u runs are left out, and so is the newest of them: ", n_left_out);
  reverse (runs);
  if (own == NULL)
    return g_steal_pointer (&runs);
  if (notice != NULL)
    g_clear_error (notice);
  g_propagate_error (error, own);
  return NULL;
}

/* SQLite's failures name the file already. */
static void
name_file (GError **error, const char *path)
{
  if (error != NULL && *error != NULL && strstr ((*error)->message, path) == NULL)
    g_prefix_error (error, "%s: ", path);
}

GPtrArray *
_gantry_session_load_runs (const char *path, GPtrArray *known, const char *model, GCancellable *cancellable, GError **notice, GError **error)
{
  g_autoptr (sqlite3) db = _gantry_session_open (path, FALSE, cancellable, error);
  GPtrArray *runs = db != NULL ? _gantry_session_read_runs (db, known, model, notice, error) : NULL;

  if (runs == NULL)
    name_file (error, path);
  return runs;
}

GantryKernelSizes *
_gantry_session_load_sizes (const char *path)
{
  g_autoptr (sqlite3) db = _gantry_session_open (path, FALSE, NULL, NULL);
  g_autoptr (GHashTable) meta = db != NULL ? load_meta (db, NULL) : NULL;
  const char *text = meta != NULL ? fact (meta, "kernel_sizes") : NULL;

  return text != NULL ? gantry_kernel_sizes_parse (text, NULL) : NULL;
}

/* The ids in the runs mean nodes of the program as it was compiled then. Another version of the passes may number
 * them otherwise; the runs are then told apart by name. */
static void
mark_foreign_runs (GHashTable *meta, const GantryCompilation *compilation, GPtrArray *runs)
{
  const char *saved = fact (meta, "program");
  g_autofree char *now = _gantry_session_fingerprint (compilation);

  for (guint i = 0; g_strcmp0 (saved, now) != 0 && i < runs->len; i++)
    {
      GantryRunResult *result = g_ptr_array_index (runs, i);
      char *name;

      if (result->other_model != NULL) /* which says more */
        continue;
      name = g_strdup_printf ("%s (of a program compiled otherwise)", result->name);

      g_free (result->name);
      result->name = name;
    }
}

/* The passes give the ids that they gave when the session was saved: those of its runs then mean the same nodes. A number
 * that no session of this program would have reached is no reason to fill the memory. */
static void
take_ids (GHashTable *meta, const GantryModel *model)
{
  GantryContext *context = model->module->context;
  const char *text = fact (meta, "first_id");
  guint64 first = text != NULL ? g_ascii_strtoull (text, NULL, 10) : 0;

  if (first > gantry_context_last_node_id (context) && first - gantry_context_last_node_id (context) < MOST_IDS_AHEAD)
    gantry_context_reserve_node_ids (context, (guint32) first);
}

static GantryModel *
open_checked (GHashTable *meta, const char *path, GantryLoaded *loaded, GantryBindings *bindings, gint64 random, const GantryOpenOptions *options,
              const GantryProgress *progress, GError **error)
{
  /* Of a program that imports modules the model's hash is of them too, which are known when it has run. */
  const char *saved = fact (meta, "program_sha256") != NULL ? fact (meta, "program_sha256") : fact (meta, "model_sha256");
  g_autoptr (GantryModel) model = NULL;

  /* A program is compared before it runs; what is only read, when it has been. */
  if (!_gantry_may_run (path, saved != NULL ? saved : "", options, bindings, error))
    {
      gantry_error_prefix (error, "%s: ", loaded->session_path);
      return NULL;
    }
  model = gantry_model_open (path, bindings, random, progress, error);
  return model != NULL && check_hash (meta, model, options, loaded, error) ? g_steal_pointer (&model) : NULL;
}

/* The model of the session, that which it carries along, or the stand-in of a run of another program. */
static GantryModel *
open_model (sqlite3 *db, GHashTable *meta, GantryLoaded *loaded, GantryBindings *bindings, gint64 random, const GantryOpenOptions *options,
            const GantryProgress *progress, GError **error)
{
  const char *session_path = loaded->session_path;
  g_autofree char *path = NULL, *carried = NULL;
  GantryModel *model;
  GError *own = NULL, *embed_error = NULL;

  if (g_strcmp0 (fact (meta, "model_format"), GANTRY_OUTSIDE_FORMAT) == 0)
    return _gantry_outside_model (fact (meta, "model_path") != NULL ? fact (meta, "model_path") : session_path, error);
  gantry_progress_report (progress, -1, "Opening");
  path = find_model (meta, session_path, &own);
  model = path != NULL ? open_checked (meta, path, loaded, bindings, random, options, progress, &own) : NULL;
  if (model != NULL)
    return model;
  if (!g_error_matches (own, G_IO_ERROR, G_IO_ERROR_CANCELLED) && !g_error_matches (own, GANTRY_ERROR, GANTRY_ERROR_UNTRUSTED))
    carried = _gantry_session_extract (db, fact (meta, "model_sha256"), &embed_error);
  if (carried == NULL && embed_error == NULL)
    {
      g_propagate_error (error, own);
      return NULL;
    }
  g_clear_error (&own);
  if (carried == NULL)
    {
      g_propagate_prefixed_error (error, embed_error, "%s: ", session_path);
      return NULL;
    }
  model = open_checked (meta, carried, loaded, bindings, random, options, progress, error);
  if (model != NULL)
    model->carried_as = g_strdup (fact (meta, "model_path"));
  return model;
}

static gboolean
load_program (sqlite3 *db, GHashTable *meta, GantryLoaded *loaded, const GantryOpenOptions *options, const GantryProgress *progress, GError **error)
{
  const char *seed = fact (meta, "random_weights");
  g_autoptr (GantryBindings) bindings = load_bindings (db, meta, options, error);
  g_autoptr (GantryModel) model = NULL;
  gint64 random = options->random_weights >= 0 || seed == NULL ? options->random_weights : g_ascii_strtoll (seed, NULL, 10);

  if (bindings == NULL || !load_settings (db, meta, &loaded->settings, &loaded->names, error))
    return FALSE;
  if (options->settings != NULL)
    {
      gantry_compile_settings_clear (&loaded->settings);
      gantry_compile_settings_copy (&loaded->settings, options->settings);
    }
  if (options->adjust != NULL)
    options->adjust (&loaded->settings, options->adjust_data);
  model = open_model (db, meta, loaded, bindings, random, options, progress, error);
  if (model == NULL)
    return FALSE;
  take_ids (meta, model);
  loaded->compilation = gantry_compile (model, &loaded->settings, progress, error);
  return loaded->compilation != NULL && _gantry_limit_settle (&loaded->compilation, &loaded->settings, progress, error);
}

static gboolean
load_rest (sqlite3 *db, GHashTable *meta, GantryLoaded *loaded, GError **error)
{
  loaded->notes = g_strdup (fact (meta, "notes"));
  loaded->session_state = g_strdup (fact (meta, GANTRY_SESSION_STATE));
  loaded->session_model = g_strdup (fact (meta, "model_sha256"));
  loaded->variants = load_variants (db, &loaded->names, error);
  if (loaded->variants != NULL && _gantry_session_load_front (db, &loaded->front, error))
    loaded->runs = _gantry_session_read_runs (db, NULL, loaded->other_model, &loaded->notice, error);
  return loaded->runs != NULL;
}

GantryLoaded *
_gantry_session_load (const char *path, const GantryOpenOptions *options, const GantryProgress *progress, GError **error)
{
  g_autoptr (sqlite3) db = _gantry_session_open (path, FALSE, progress != NULL ? progress->cancellable : NULL, error);
  g_autoptr (GantryLoaded) loaded = g_new0 (GantryLoaded, 1);
  g_autoptr (GHashTable) meta = db != NULL ? load_meta (db, error) : NULL;

  if (meta == NULL)
    return NULL;
  loaded->path = g_strdup (path);
  loaded->session_path = g_strdup (path);
  if (!load_program (db, meta, loaded, options, progress, error))
    return NULL;
  if (!load_rest (db, meta, loaded, error))
    {
      name_file (error, path);
      return NULL;
    }
  loaded->n_kept_runs = loaded->runs->len;
  mark_foreign_runs (meta, loaded->compilation, loaded->runs);
  loaded->forecast = _gantry_document_forecast (loaded->compilation, progress);
  return g_steal_pointer (&loaded);
}
