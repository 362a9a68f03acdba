/* SPDX-License-Identifier: Apache-2.0 */
/* Reading one run of a session: its figures, its plan, its recording and its code. What the file says is checked so that
 * whoever reads the plan can follow its numbers; columns that an earlier version lacks read as 0. */
#include "core/document/session-private.h"
#include "core/plan/compression.h"
#include <string.h>

#define MOST_REFS (1u << 28)
/* A recording of more is not read before it is looked at. */
#define MOST_CHUNKS_AT_ONCE 16u

/* Stops counting where there are more rows than the table may have. */
static gboolean
count_rows (sqlite3 *db, const char *table, gint64 run, guint32 *n, GError **error)
{
  guint64 most = _gantry_session_most_rows (table);
  g_autofree char *sql = g_strdup_printf ("SELECT count(*) FROM (SELECT 1 FROM %s WHERE run = ? LIMIT %" G_GUINT64_FORMAT ")", table, most + 1);
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, sql, error);

  if (statement == NULL)
    return FALSE;
  sqlite3_bind_int64 (statement, 1, run);
  if (!_gantry_session_row (db, statement, error))
    return FALSE;
  *n = (guint32) sqlite3_column_int64 (statement, 0);
  return *n <= most || _gantry_session_fail_rows (db, table, *n, error);
}

/* (transfer full) (nullable): NULL with @error */
static GBytes *
column_bytes (sqlite3_stmt *row, int column_number, const char *what, GError **error)
{
  gconstpointer data = sqlite3_column_blob (row, column_number);

  return gantry_try_bytes (data, (gsize) sqlite3_column_bytes (row, column_number), what, error);
}

/* "3,4,-" onto @pool. Numbers from @end on are none: a reader follows them. */
static guint32
read_numbers (GArray *pool, const char *text, guint32 end)
{
  guint32 n = 0;

  while (text != NULL && *text != '\0' && pool->len < MOST_REFS)
    {
      char *rest = (char *) text;
      guint64 value = *text == '-' ? GANTRY_NO_BUFFER : g_ascii_strtoull (text, &rest, 10);
      guint32 number = value < end ? (guint32) value : GANTRY_NO_BUFFER;

      rest += *text == '-';
      if (rest == text)
        break;
      g_array_append_val (pool, number);
      n++;
      text = *rest == ',' ? rest + 1 : rest;
    }
  return n;
}

static void
read_step (sqlite3_stmt *row, GantryPlan *plan, guint32 i, GArray *refs, GArray *waits)
{
  GantryPlanStep *step = &plan->steps[i];

  step->node = (guint32) sqlite3_column_int64 (row, 0);
  step->queue = (guint8) CLAMP (sqlite3_column_int (row, 1), 0, GANTRY_N_QUEUES - 1);
  step->init = sqlite3_column_int (row, 2) != 0;
  step->start_us = sqlite3_column_double (row, 3);
  step->duration_us = sqlite3_column_double (row, 4);
  plan->live_bytes[i] = (guint64) sqlite3_column_int64 (row, 5);
  step->kind = (guint8) CLAMP (sqlite3_column_int (row, 6), 0, GANTRY_N_STEP_KINDS - 1);
  step->instance = sqlite3_column_int (row, 7) != 0;
  step->wait_us = sqlite3_column_double (row, 8);
  step->first_ref = refs->len;
  step->n_refs = read_numbers (refs, (const char *) sqlite3_column_text (row, 10), plan->n_buffers);
  step->n_operands = (guint32) CLAMP (sqlite3_column_int64 (row, 9), 0, step->n_refs);
  step->first_wait = waits->len;
  step->n_waits = read_numbers (waits, (const char *) sqlite3_column_text (row, 11), i);
  /* A wait is for a step before: what is none is left out, and a plan with one is only looked at. */
  for (guint32 k = step->first_wait; k < waits->len;)
    if (g_array_index (waits, guint32, k) == GANTRY_NO_BUFFER)
      {
        g_array_remove_index (waits, k);
        step->n_waits--;
      }
    else
      k++;
}

static void
take_pools (GantryPlan *plan, const GArray *refs, const GArray *waits)
{
  gantry_plan_set_pools (plan, refs->len, waits->len);
  if (refs->len > 0)
    memcpy (plan->refs, refs->data, refs->len * sizeof (guint32));
  if (waits->len > 0)
    memcpy (plan->waits, waits->data, waits->len * sizeof (guint32));
}

static gboolean
load_steps (sqlite3 *db, gint64 run, GantryPlan *plan, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("SELECT node, queue, init, start_us, duration_us, live_bytes, %s, %s, %s, %s, %s, %s FROM plan_steps WHERE run = ?"
                                          " ORDER BY step",
                                          _gantry_session_column (db, "plan_steps", "kind"), _gantry_session_column (db, "plan_steps", "instance"),
                                          _gantry_session_column (db, "plan_steps", "wait_us"), _gantry_session_column (db, "plan_steps", "operands"),
                                          _gantry_session_column (db, "plan_steps", "buffers"), _gantry_session_column (db, "plan_steps", "waits"));
  g_auto (GantrySessionRows) rows = { .db = db };
  g_autoptr (GArray) refs = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) waits = g_array_new (FALSE, FALSE, sizeof (guint32));
  GError *own = NULL;

  if (!_gantry_rows_begin (&rows, db, "plan_steps", sql, error))
    return FALSE;
  sqlite3_bind_int64 (rows.statement, 1, run);
  for (guint32 i = 0; i < plan->n_steps && _gantry_rows_next (&rows, &own); i++)
    read_step (rows.statement, plan, i, refs, waits);
  take_pools (plan, refs, waits);
  if (own == NULL)
    return TRUE;
  g_propagate_error (error, own);
  return FALSE;
}

static void
read_buffer (sqlite3_stmt *row, const GantryPlan *plan, guint32 i)
{
  GantryPlanBuffer *b = &plan->buffers[i];
  gint64 shares = sqlite3_column_int64 (row, 6);
  guint32 last = plan->n_steps > 0 ? plan->n_steps - 1 : 0;

  b->node = (guint32) sqlite3_column_int64 (row, 0);
  b->member = (guint32) sqlite3_column_int64 (row, 1);
  b->category = (guint8) CLAMP (sqlite3_column_int (row, 2), 0, GANTRY_BUFFER_WORKSPACE);
  b->region = (guint8) CLAMP (sqlite3_column_int (row, 3), 0, GANTRY_REGION_LITERAL);
  b->memory = (guint8) CLAMP (sqlite3_column_int (row, 4), 0, GANTRY_N_MEMORY_KINDS - 1);
  b->in_place = sqlite3_column_int (row, 5) != 0;
  /* A chain of shares has to end: see end_chains(). */
  b->shares = shares >= 0 && shares < plan->n_buffers ? (guint32) shares : GANTRY_NO_BUFFER;
  b->offset = (guint64) sqlite3_column_int64 (row, 7);
  b->size = (guint64) sqlite3_column_int64 (row, 8);
  b->begin = (guint32) CLAMP (sqlite3_column_int64 (row, 9), 0, last);
  b->end = (guint32) CLAMP (sqlite3_column_int64 (row, 10), b->begin, last);
  b->role = (guint8) CLAMP (sqlite3_column_int (row, 11), 0, GANTRY_N_ROLES - 1);
  b->instance = (guint8) CLAMP (sqlite3_column_int (row, 12), 0, 1);
  b->stored = (guint8) gantry_placement_kind_of_number (sqlite3_column_int64 (row, 13));
  b->stored = gantry_placement_is_approximate (b->stored) ? b->stored : GANTRY_PLACEMENT_KEEP;
}

/* Cuts every chain of shares that runs in a circle, which only a damaged file has. */
static gboolean
end_chains (GantryPlan *plan, GError **error)
{
  g_autofree guint8 *done = gantry_try_new0 (guint8, plan->n_buffers, "the marks of a plan's buffers", error);

  for (guint32 i = 0; done != NULL && i < plan->n_buffers; i++)
    {
      guint32 at = i;

      for (; at != GANTRY_NO_BUFFER && done[at] == 0; at = plan->buffers[at].shares)
        {
          guint32 next = plan->buffers[at].shares;

          done[at] = 1; /* on this walk */
          if (next != GANTRY_NO_BUFFER && done[next] == 1)
            plan->buffers[at].shares = GANTRY_NO_BUFFER;
        }
      for (at = i; at != GANTRY_NO_BUFFER && done[at] == 1; at = plan->buffers[at].shares)
        done[at] = 2;
    }
  return done != NULL;
}

static gboolean
load_buffers (sqlite3 *db, gint64 run, GantryPlan *plan, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("SELECT node, member, category, region, memory, in_place, shares, offset, size, first_step, last_step, %s, %s, %s"
                                          " FROM plan_buffers WHERE run = ? ORDER BY buffer",
                                          _gantry_session_column (db, "plan_buffers", "role"), _gantry_session_column (db, "plan_buffers", "instance"),
                                          _gantry_session_column (db, "plan_buffers", "stored"));
  g_auto (GantrySessionRows) rows = { .db = db };
  GError *own = NULL;

  if (!_gantry_rows_begin (&rows, db, "plan_buffers", sql, error))
    return FALSE;
  sqlite3_bind_int64 (rows.statement, 1, run);
  for (guint32 i = 0; i < plan->n_buffers && _gantry_rows_next (&rows, &own); i++)
    read_buffer (rows.statement, plan, i);
  if (own == NULL)
    return end_chains (plan, error);
  g_propagate_error (error, own);
  return FALSE;
}

static gboolean
load_memory (sqlite3 *db, gint64 run, GantryPlan *plan, GError **error)
{
  g_auto (GantrySessionRows) rows = { .db = db };
  GError *own = NULL;

  if (!_gantry_session_has (db, "plan_memory", "memory"))
    return TRUE;
  if (!_gantry_rows_begin (&rows, db, "plan_memory", "SELECT memory, arena_bytes, argument_bytes, output_bytes, alias_bytes FROM plan_memory WHERE run = ?",
                           error))
    return FALSE;
  sqlite3_bind_int64 (rows.statement, 1, run);
  while (_gantry_rows_next (&rows, &own))
    {
      gint64 memory = sqlite3_column_int64 (rows.statement, 0);

      if (memory < 0 || memory >= GANTRY_N_MEMORY_KINDS)
        continue;
      plan->arena_bytes[memory] = (guint64) sqlite3_column_int64 (rows.statement, 1);
      plan->argument_bytes[memory] = (guint64) sqlite3_column_int64 (rows.statement, 2);
      plan->output_bytes[memory] = (guint64) sqlite3_column_int64 (rows.statement, 3);
      plan->alias_bytes[memory] = (guint64) sqlite3_column_int64 (rows.statement, 4);
    }
  if (own == NULL)
    return TRUE;
  g_propagate_error (error, own);
  return FALSE;
}

static gboolean
load_problems (sqlite3 *db, gint64 run, GantryPlan *plan, GError **error)
{
  g_auto (GantrySessionRows) rows = { .db = db };
  guint32 n = 0;
  GError *own = NULL;

  if (!_gantry_session_has (db, "plan_problems", "node"))
    return TRUE;
  if (!_gantry_rows_begin (&rows, db, "plan_problems", "SELECT node, kind, given, reason FROM plan_problems WHERE run = ? ORDER BY rowid", error)
      || !count_rows (db, "plan_problems", run, &n, error))
    return FALSE;
  sqlite3_bind_int64 (rows.statement, 1, run);
  plan->problems = gantry_try_new0 (GantryPlacementProblem, n, "the placements that a plan refused", error);
  if (plan->problems == NULL)
    return FALSE;
  while (plan->n_problems < n && _gantry_rows_next (&rows, &own))
    {
      GantryPlacementProblem *problem = &plan->problems[plan->n_problems++];

      problem->node = (guint32) sqlite3_column_int64 (rows.statement, 0);
      problem->kind = (guint8) gantry_placement_kind_of_number (sqlite3_column_int64 (rows.statement, 1));
      problem->given = (guint8) gantry_placement_kind_of_number (sqlite3_column_int64 (rows.statement, 2));
      problem->reason = _gantry_column_text (rows.statement, 3);
    }
  if (own == NULL)
    return TRUE;
  g_propagate_error (error, own);
  return FALSE;
}

static GPtrArray *
load_chunks (sqlite3 *db, gint64 run, GError **error)
{
  g_auto (GantrySessionRows) rows = { .db = db };
  g_autoptr (GPtrArray) chunks = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  GError *own = NULL;

  if (!_gantry_rows_begin (&rows, db, "chunks", "SELECT data FROM chunks WHERE run = ? ORDER BY number", error))
    return NULL;
  sqlite3_bind_int64 (rows.statement, 1, run);
  while (_gantry_rows_next (&rows, &own))
    {
      GBytes *chunk = column_bytes (rows.statement, 0, "a chunk of a recording", &own);

      if (chunk == NULL)
        break;
      g_ptr_array_add (chunks, chunk);
    }
  if (own == NULL)
    return g_steal_pointer (&chunks);
  g_propagate_error (error, own);
  return NULL;
}

/* Chunks of a large recording are read when they are needed, over a connection of their own. */

typedef struct
{
  sqlite3 *db;
  sqlite3_stmt *statement;
} ChunkReader;

static void
chunk_reader_free (gpointer data)
{
  ChunkReader *reader = data;

  sqlite3_finalize (reader->statement);
  sqlite3_close (reader->db);
  g_free (reader);
}

static GBytes *
read_chunk (guint32 number, gpointer data, GError **error)
{
  ChunkReader *reader = data;
  GBytes *bytes = NULL;
  GError *own = NULL;

  sqlite3_bind_int64 (reader->statement, 2, number);
  if (_gantry_session_row (reader->db, reader->statement, &own))
    bytes = column_bytes (reader->statement, 0, "a chunk of a recording", &own);
  else if (own == NULL)
    g_set_error (&own, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED, "%s: chunk %u of a recording is missing", sqlite3_db_filename (reader->db, "main"), number);
  sqlite3_reset (reader->statement);
  if (own != NULL)
    g_propagate_error (error, own);
  return bytes;
}

static GantryRecording *
open_recording (const char *path, const char *uid, GBytes *head, GError **error)
{
  ChunkReader *reader = g_new0 (ChunkReader, 1);

  reader->db = _gantry_session_open (path, FALSE, NULL, error);
  if (reader->db != NULL)
    reader->statement = _gantry_session_prepare (reader->db, "SELECT data FROM chunks WHERE run = (SELECT id FROM runs WHERE uid = ?) AND number = ?", error);
  if (reader->statement == NULL)
    {
      chunk_reader_free (reader);
      return NULL;
    }
  _gantry_bind_text (reader->statement, 1, uid); /* the number of a run that is deleted is another's later */
  return gantry_recording_open (head, read_chunk, reader, chunk_reader_free, error);
}

static GantryRecording *
load_recording (sqlite3 *db, gint64 run, const char *uid, GBytes *head, GError **error)
{
  g_autoptr (GPtrArray) chunks = NULL;
  guint32 n;

  if (!count_rows (db, "chunks", run, &n, error))
    return NULL;
  if (n > MOST_CHUNKS_AT_ONCE)
    return open_recording (sqlite3_db_filename (db, "main"), uid, head, error);
  chunks = load_chunks (db, run, error);
  return chunks != NULL ? gantry_recording_load (head, (GBytes *const *) chunks->pdata, chunks->len, error) : NULL;
}

static gboolean
read_machine_code (sqlite3_stmt *row, GantryCode *code, GBytes **cubin, GError **error)
{
  guint32 *const figures[] = { &code->registers, &code->spill_store_bytes, &code->spill_load_bytes, &code->stack_bytes, &code->shared_bytes };

  if (sqlite3_column_bytes (row, 8) > 0 && (*cubin = column_bytes (row, 8, "machine code", error)) == NULL)
    return FALSE;
  code->cubin = *cubin;
  code->is_measured = sqlite3_column_type (row, 9) != SQLITE_NULL;
  for (guint i = 0; i < G_N_ELEMENTS (figures); i++)
    *figures[i] = (guint32) CLAMP (sqlite3_column_int64 (row, 9 + (int) i), 0, G_MAXUINT32);
  return TRUE;
}

/* (nullable): the code before whose texts stand in the file for all of its kind. A file may name a place where there is none. */
static const GantryCode *
same_code (sqlite3_stmt *row, GPtrArray *codes)
{
  gint64 place = sqlite3_column_type (row, 14) == SQLITE_INTEGER ? sqlite3_column_int64 (row, 14) : -1;

  return place >= 0 && place < codes->len ? g_ptr_array_index (codes, place) : NULL;
}

static gboolean
load_code (sqlite3 *db, gint64 run, GantryRunResult *result, GError **error)
{
  /* All of these columns came together. */
  gboolean gpu = _gantry_session_has (db, "code", "shared_bytes");
  g_autofree char *sql = g_strdup_printf ("SELECT node, kernel, kind, texpr, llvm_ir, assembly, %s, %s FROM code WHERE run = ? ORDER BY rowid",
                                          gpu ? "schedule, arch, cubin, registers, spill_store_bytes, spill_load_bytes, stack_bytes, shared_bytes"
                                              : "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
                                          _gantry_session_column (db, "code", "same_as"));
  g_auto (GantrySessionRows) rows = { .db = db };
  GError *own = NULL;
  guint32 n;

  if (!count_rows (db, "code", run, &n, error) || !_gantry_session_check_bytes (db, "code", run, error) || !_gantry_rows_begin (&rows, db, "code", sql, error))
    return FALSE;
  sqlite3_bind_int64 (rows.statement, 1, run);
  while (_gantry_rows_next (&rows, &own))
    {
      GantryCode code = { .node = (guint32) sqlite3_column_int64 (rows.statement, 0),
                          .kernel = (char *) sqlite3_column_text (rows.statement, 1),
                          .kind = (char *) sqlite3_column_text (rows.statement, 2),
                          .texpr = (char *) sqlite3_column_text (rows.statement, 3),
                          .llvm_ir = (char *) sqlite3_column_text (rows.statement, 4),
                          .assembly = (char *) sqlite3_column_text (rows.statement, 5),
                          .schedule = (char *) sqlite3_column_text (rows.statement, 6),
                          .arch = (char *) sqlite3_column_text (rows.statement, 7) };
      g_autoptr (GBytes) cubin = NULL;

      if (!read_machine_code (rows.statement, &code, &cubin, &own))
        break;
      gantry_run_result_add_code (result, &code, same_code (rows.statement, result->codes));
    }
  if (own == NULL)
    return TRUE;
  g_propagate_error (error, own);
  return FALSE;
}

/* What an older file does not say. (transfer full) (nullable) */
static char *
text_or_null (sqlite3_stmt *row, int column)
{
  return sqlite3_column_type (row, column) != SQLITE_NULL ? _gantry_column_text (row, column) : NULL;
}

static GantryPlan *
load_plan (sqlite3 *db, gint64 run, sqlite3_stmt *row, GError **error)
{
  guint32 n_steps, n_buffers;
  g_autoptr (GantryPlan) plan = NULL;

  if (!count_rows (db, "plan_steps", run, &n_steps, error) || !count_rows (db, "plan_buffers", run, &n_buffers, error))
    return NULL;
  plan = gantry_plan_try_new (n_steps, n_buffers, error);
  if (plan == NULL)
    return NULL;
  plan->arena_bytes[GANTRY_MEMORY_DEVICE] = (guint64) sqlite3_column_int64 (row, 11); /* of version 1, which says it nowhere else */
  plan->lower_bound = (guint64) sqlite3_column_int64 (row, 14);
  plan->literal_bytes = (guint64) sqlite3_column_int64 (row, 15);
  plan->packed_bytes = (guint64) sqlite3_column_int64 (row, 25);
  plan->code_bytes = (guint64) sqlite3_column_int64 (row, 26);
  plan->sizes_known = sqlite3_column_int (row, 27) != 0;
  plan->constant_bytes = (guint64) MAX (sqlite3_column_int64 (row, 13) - sqlite3_column_int64 (row, 25), 0);
  plan->peak_step = (guint32) CLAMP (sqlite3_column_int64 (row, 16), 0, n_steps > 0 ? n_steps - 1 : 0);
  plan->total_us = sqlite3_column_double (row, 17);
  plan->n_init_steps = (guint32) CLAMP (sqlite3_column_int64 (row, 18), 0, n_steps);
  plan->copied_bytes = (guint64) sqlite3_column_int64 (row, 21);
  plan->recompute_us = sqlite3_column_double (row, 22);
  plan->stall_us = sqlite3_column_double (row, 23);
  plan->resident = sqlite3_column_int (row, 24) != 0;
  plan->kernels = text_or_null (row, 30);
  plan->target = text_or_null (row, 31);
  if (!load_steps (db, run, plan, error) || !load_buffers (db, run, plan, error) || !load_memory (db, run, plan, error)
      || !load_problems (db, run, plan, error))
    return NULL;
  if (n_buffers > 0)
    gantry_plan_sum_live (plan);
  return g_steal_pointer (&plan);
}

/* Up to version 3 the memory of a recording was told from the places of the plan, and so was the peak: nothing was measured. */
static gboolean
is_of_plan (const GantryRecording *recording)
{
  GantryMemoryEvent event;

  if (gantry_recording_n_memory_events (recording) == 0)
    return FALSE;
  gantry_recording_get_memory (recording, 0, &event);
  return event.buffer != GANTRY_NO_BUFFER;
}

/* Runs are counted as they are listed, those too that are not read; rows that were deleted are not. */
static gint64
number_of (sqlite3 *db, gint64 run)
{
  g_autoptr (sqlite3_stmt) statement = _gantry_session_prepare (db, "SELECT count(*) FROM runs WHERE id <= ?", NULL);

  if (statement == NULL)
    return run;
  sqlite3_bind_int64 (statement, 1, run);
  return _gantry_session_row (db, statement, NULL) ? sqlite3_column_int64 (statement, 0) : run;
}

GantryRunResult *
_gantry_session_load_run (sqlite3 *db, sqlite3_stmt *row, const char *saved, const char *now, GError **error)
{
  gint64 run = sqlite3_column_int64 (row, 0);
  g_autoptr (GantryRunResult) result = gantry_run_result_new ();
  const char *model = (const char *) sqlite3_column_text (row, 28);
  g_autoptr (GBytes) head = column_bytes (row, 20, "the head of a recording", error);

  g_free (result->uid);
  result->uid = _gantry_column_text (row, 1);
  result->name = _gantry_column_text (row, 2);
  result->device = _gantry_column_text (row, 3);
  result->when = _gantry_column_text (row, 4);
  result->program = _gantry_column_text (row, 19);
  if (model == NULL || *model == '\0')
    model = saved;
  if (now != NULL && model != NULL && strcmp (model, now) != 0)
    result->other_model = g_strdup (model);
  result->n_threads = (guint) sqlite3_column_int64 (row, 5);
  result->n_runs = (guint) sqlite3_column_int64 (row, 6);
  result->milliseconds = sqlite3_column_double (row, 7);
  result->milliseconds_min = sqlite3_column_double (row, 8);
  result->milliseconds_max = sqlite3_column_double (row, 9);
  result->compile_ms = sqlite3_column_double (row, 10);
  result->peak_bytes = (guint64) sqlite3_column_int64 (row, 12);
  result->arch = text_or_null (row, 32);
  result->limit = (guint64) MAX (sqlite3_column_int64 (row, 29), 0);
  result->plan = head != NULL ? load_plan (db, run, row, error) : NULL;
  result->memory = _gantry_session_load_measure (db, run);
  if (result->plan != NULL)
    result->recording = load_recording (db, run, result->uid, head, error);
  if (result->recording != NULL && is_of_plan (result->recording))
    result->peak_bytes = 0;
  if (result->recording == NULL || !load_code (db, run, result, error))
    {
      gantry_error_prefix (error, "run %" G_GINT64_FORMAT ": ", number_of (db, run));
      return NULL;
    }
  return g_steal_pointer (&result);
}

char *
_gantry_session_run_query (sqlite3 *db)
{
  return g_strdup_printf (
    "SELECT id, uid, name, device, recorded_at, threads, runs, milliseconds, milliseconds_min, milliseconds_max,"
    " compile_milliseconds, planned_bytes, %s, constant_bytes, %s, literal_bytes, peak_step,"
    " predicted_us, init_steps, program, head, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s FROM runs ORDER BY id DESC",
    _gantry_session_column (db, "runs", "touched_bytes"), _gantry_session_column (db, "runs", "arena_lower_bound_bytes"),
    _gantry_session_column (db, "runs", "copied_bytes"), _gantry_session_column (db, "runs", "recompute_us"), _gantry_session_column (db, "runs", "stall_us"),
    _gantry_session_column (db, "runs", "resident"), _gantry_session_column (db, "runs", "packed_bytes"), _gantry_session_column (db, "runs", "code_bytes"),
    _gantry_session_column (db, "runs", "sizes_known"), _gantry_session_column (db, "runs", "model_sha256"), _gantry_session_column (db, "runs", "limit_bytes"),
    _gantry_session_column (db, "runs", "kernels"), _gantry_session_column (db, "runs", "target"), _gantry_session_column (db, "runs", "arch"));
}
