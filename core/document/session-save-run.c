/* SPDX-License-Identifier: Apache-2.0 */
/* Writing one run into a session: its figures, its plan, its recording and its code. */
#include "core/document/session-private.h"
#include <string.h>

/* Bytes of one listing that are kept: some hundred thousand lines. */
#define MOST_LISTING ((gssize) 16 << 20)
/* That are left for the row that says how much code is left out. */
#define MOST_LAST 1024

/* "3,4,-": indices, '-' for none. (transfer full) */
static char *
numbers (const guint32 *pool, guint32 first, guint32 n)
{
  GString *text = g_string_new (NULL);

  for (guint32 i = 0; i < n; i++)
    if (pool[first + i] == GANTRY_NO_BUFFER)
      g_string_append (text, i > 0 ? ",-" : "-");
    else
      g_string_append_printf (text, "%s%u", i > 0 ? "," : "", pool[first + i]);
  return g_string_free (text, FALSE);
}

static gboolean
save_steps (sqlite3 *db, gint64 run, const GantryPlan *plan, GError **error)
{
  g_autoptr (sqlite3_stmt) steps = _gantry_session_prepare (db, "INSERT INTO plan_steps VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", error);

  if (steps == NULL)
    return FALSE;
  for (guint32 i = 0; i < plan->n_steps; i++)
    {
      const GantryPlanStep *step = &plan->steps[i];
      const gint64 values[] = { run, i, step->node, step->queue, step->init };
      g_autofree char *refs = numbers (plan->refs, step->first_ref, step->n_refs);
      g_autofree char *waits = numbers (plan->waits, step->first_wait, step->n_waits);

      for (guint j = 0; j < G_N_ELEMENTS (values); j++)
        sqlite3_bind_int64 (steps, (int) j + 1, values[j]);
      sqlite3_bind_double (steps, 6, step->start_us);
      sqlite3_bind_double (steps, 7, step->duration_us);
      sqlite3_bind_int64 (steps, 8, (gint64) plan->live_bytes[i]);
      sqlite3_bind_int64 (steps, 9, step->kind);
      sqlite3_bind_int64 (steps, 10, step->instance);
      sqlite3_bind_double (steps, 11, step->wait_us);
      sqlite3_bind_int64 (steps, 12, step->n_operands);
      _gantry_bind_text (steps, 13, refs);
      _gantry_bind_text (steps, 14, waits);
      if (!_gantry_session_step (db, steps, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
save_buffers (sqlite3 *db, gint64 run, const GantryPlan *plan, GError **error)
{
  g_autoptr (sqlite3_stmt) buffers = _gantry_session_prepare (db, "INSERT INTO plan_buffers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", error);

  if (buffers == NULL)
    return FALSE;
  for (guint32 i = 0; i < plan->n_buffers; i++)
    {
      const GantryPlanBuffer *b = &plan->buffers[i];
      const gint64 values[] = { run,
                                i,
                                b->node,
                                b->member,
                                b->category,
                                b->region,
                                b->memory,
                                b->in_place,
                                b->shares == GANTRY_NO_BUFFER ? -1 : (gint64) b->shares,
                                (gint64) b->offset,
                                (gint64) b->size,
                                b->begin,
                                b->end,
                                b->role,
                                b->instance,
                                b->stored };

      for (guint j = 0; j < G_N_ELEMENTS (values); j++)
        sqlite3_bind_int64 (buffers, (int) j + 1, values[j]);
      if (!_gantry_session_step (db, buffers, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
save_memory (sqlite3 *db, gint64 run, const GantryPlan *plan, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "INSERT INTO plan_memory VALUES (?, ?, ?, ?, ?, ?)", error);

  if (statement == NULL)
    return FALSE;
  for (guint i = 0; i < GANTRY_N_MEMORY_KINDS; i++)
    {
      const gint64 values[] = {
        run, i, (gint64) plan->arena_bytes[i], (gint64) plan->argument_bytes[i], (gint64) plan->output_bytes[i], (gint64) plan->alias_bytes[i]
      };

      for (guint j = 0; j < G_N_ELEMENTS (values); j++)
        sqlite3_bind_int64 (statement, (int) j + 1, values[j]);
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
save_problems (sqlite3 *db, gint64 run, const GantryPlan *plan, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "INSERT INTO plan_problems VALUES (?, ?, ?, ?, ?)", error);

  if (statement == NULL)
    return FALSE;
  for (guint i = 0; i < plan->n_problems; i++)
    {
      const GantryPlacementProblem *problem = &plan->problems[i];
      const gint64 values[] = { run, problem->node, problem->kind, problem->given };

      for (guint j = 0; j < G_N_ELEMENTS (values); j++)
        sqlite3_bind_int64 (statement, (int) j + 1, values[j]);
      _gantry_bind_text (statement, 5, problem->reason);
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
save_chunks (sqlite3 *db, gint64 run, const GantryRecording *recording, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?)", error);

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
  /* All of it has been read now. Events that stand in for those of a chunk that could not be read are for pictures. */
  if (gantry_recording_load_all (recording, NULL, error))
    return TRUE;
  gantry_error_prefix (error, "a run that is open cannot be read any more: ");
  return FALSE;
}

/* What the assembler said of registers and bytes, or nothing. */
static void
bind_figures (sqlite3_stmt *statement, int column, const GantryCode *code)
{
  const guint32 figures[] = { code->registers, code->spill_store_bytes, code->spill_load_bytes, code->stack_bytes, code->shared_bytes };

  for (guint i = 0; i < G_N_ELEMENTS (figures); i++)
    if (code->is_measured)
      sqlite3_bind_int64 (statement, column + (int) i, figures[i]);
    else
      sqlite3_bind_null (statement, column + (int) i);
}

/* Returns: the bytes that were bound */
static guint64
bind_listing (sqlite3_stmt *statement, int column, const char *text)
{
  gsize length = text != NULL ? strlen (text) : 0;
  g_autofree char *cut = NULL;

  if (length > MOST_LISTING)
    {
      const char *end = g_strrstr_len (text, MOST_LISTING, "\n");

      cut = g_strdup_printf ("%.*s\n; %" G_GSIZE_FORMAT " bytes in all, of which a session keeps these\n", (int) (end != NULL ? end - text : MOST_LISTING),
                             text, length);
    }
  _gantry_bind_text (statement, column, cut != NULL ? cut : text);
  return cut != NULL ? strlen (cut) : length;
}

/* What is generated once for many kernels. Returns: the bytes that were bound */
static guint64
bind_generated (sqlite3_stmt *statement, const GantryCode *code)
{
  guint64 bytes = bind_listing (statement, 6, code->llvm_ir);

  bytes += bind_listing (statement, 7, code->assembly);
  bytes += bind_listing (statement, 8, code->schedule);
  if (code->cubin == NULL)
    return bytes;
  _gantry_bind_blob (statement, 10, g_bytes_get_data (code->cubin, NULL), g_bytes_get_size (code->cubin));
  return bytes + g_bytes_get_size (code->cubin);
}

#define NONE_BEFORE G_MAXUINT

/* @same: the place among the codes of the run of one before that has what was generated, or NONE_BEFORE. Returns: the bytes that were bound */
static guint64
bind_code (sqlite3_stmt *statement, gint64 run, const GantryCode *code, guint same)
{
  guint64 bytes = 0;

  sqlite3_clear_bindings (statement);
  sqlite3_bind_int64 (statement, 1, run);
  sqlite3_bind_int64 (statement, 2, code->node);
  bytes += bind_listing (statement, 3, code->kernel);
  bytes += bind_listing (statement, 4, code->kind);
  bytes += bind_listing (statement, 5, code->texpr);
  bytes += bind_listing (statement, 9, code->arch);
  bind_figures (statement, 11, code);
  if (same == NONE_BEFORE)
    return bytes + bind_generated (statement, code);
  sqlite3_bind_int64 (statement, 16, same);
  return bytes;
}

/* By the addresses of its texts: what was generated once is there once. */
static guint
hash_generated (gconstpointer data)
{
  const GantryCode *code = data;

  return g_direct_hash (code->llvm_ir) * 31 + g_direct_hash (code->assembly) * 7 + g_direct_hash (code->schedule);
}

static gboolean
equal_generated (gconstpointer a, gconstpointer b)
{
  const GantryCode *x = a, *y = b;

  return x->llvm_ir == y->llvm_ir && x->assembly == y->assembly && x->schedule == y->schedule && x->cubin == y->cubin;
}

/* No more than is read again: what is beyond that is a row that says how much it is. */
static gboolean
save_code (sqlite3 *db, gint64 run, const GantryRunResult *result, GError **error)
{
  const guint64 most = _gantry_session_most_bytes ("code") - MOST_LAST, rows = _gantry_session_most_rows ("code") - 1;
  g_autoptr (GHashTable) saved = g_hash_table_new (hash_generated, equal_generated); /* the first GantryCode of its kind -> place */
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "INSERT INTO code VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", error);
  guint64 bytes = 0;

  if (statement == NULL)
    return FALSE;
  for (guint i = 0; i < result->codes->len; i++)
    {
      GantryCode *code = g_ptr_array_index (result->codes, i);
      gpointer place;
      gboolean before = g_hash_table_lookup_extended (saved, code, NULL, &place);

      if (!before)
        g_hash_table_insert (saved, code, GUINT_TO_POINTER (i));
      bytes += bind_code (statement, run, code, before ? GPOINTER_TO_UINT (place) : NONE_BEFORE);
      if (bytes > most || i >= rows)
        {
          g_autofree char *left = g_strdup_printf ("%u more kernels: their code is more than a session keeps", result->codes->len - i);
          const GantryCode rest = { .kernel = left };

          bind_code (statement, run, &rest, NONE_BEFORE);
          return _gantry_session_step (db, statement, error);
        }
      if (!_gantry_session_step (db, statement, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
_gantry_session_save_run (sqlite3 *db, const GantryRunResult *result, const char *fingerprint, const char *hash, GError **error)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db,
                                                                "INSERT INTO runs VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                                                                " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                                                error);
  g_autoptr (GBytes) head = gantry_recording_head (result->recording);
  const double reals[] = { result->milliseconds, result->milliseconds_min, result->milliseconds_max, result->compile_ms };
  const GantryPlan *plan = result->plan;
  const guint64 sizes[] = { gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE),
                            result->peak_bytes,
                            plan->constant_bytes + plan->packed_bytes,
                            plan->lower_bound,
                            plan->literal_bytes,
                            plan->peak_step };
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
  _gantry_bind_text (statement, 19, result->program != NULL ? result->program : fingerprint);
  if (sqlite3_bind_blob64 (statement, 20, g_bytes_get_data (head, NULL), g_bytes_get_size (head), SQLITE_TRANSIENT) != SQLITE_OK)
    return _gantry_session_fail (db, error);
  sqlite3_bind_int64 (statement, 21, (gint64) result->plan->copied_bytes);
  sqlite3_bind_double (statement, 22, result->plan->recompute_us);
  sqlite3_bind_double (statement, 23, result->plan->stall_us);
  sqlite3_bind_int64 (statement, 24, result->plan->resident);
  sqlite3_bind_int64 (statement, 25, (gint64) result->plan->packed_bytes);
  sqlite3_bind_int64 (statement, 26, (gint64) result->plan->code_bytes);
  sqlite3_bind_int64 (statement, 27, result->plan->sizes_known);
  _gantry_bind_text (statement, 28, result->other_model != NULL ? result->other_model : hash);
  sqlite3_bind_int64 (statement, 29, (gint64) result->limit);
  _gantry_bind_text (statement, 30, plan->kernels);
  _gantry_bind_text (statement, 31, plan->target);
  _gantry_bind_text (statement, 32, result->arch);
  if (!_gantry_session_step (db, statement, error))
    return FALSE;
  run = sqlite3_last_insert_rowid (db);
  return save_steps (db, run, result->plan, error) && save_buffers (db, run, result->plan, error) && save_memory (db, run, result->plan, error)
         && save_problems (db, run, result->plan, error) && (result->memory == NULL || _gantry_session_save_measure (db, run, result->memory, error))
         && save_chunks (db, run, result->recording, error) && save_code (db, run, result, error);
}
