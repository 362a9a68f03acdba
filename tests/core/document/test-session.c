/* SPDX-License-Identifier: Apache-2.0 */
/* The session file as the document writes and reads it: all that was set comes back, files of the first version open, what
 * is cut off is an error and never fewer rows. */
#include "core/document/outside.h"
#include "core/document/recovery-private.h"
#include "tests/core/document/document-test.h"
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

typedef struct
{
  char *folder, *path;
} Place;

static void
set_up (Place *place, gconstpointer data)
{
  place->folder = g_dir_make_tmp ("gantry-test-XXXXXX", NULL);
  place->path = g_build_filename (place->folder, "x.gantry", NULL);
}

static void
tear_down (Place *place, gconstpointer data)
{
  g_unlink (place->path);
  g_assert_cmpint (g_rmdir (place->folder), ==, 0); /* no journal is left */
  g_free (place->folder);
  g_free (place->path);
}

static GantryDocument *
reopen (const Place *place)
{
  GantryDocument *document = gantry_document_new ();
  g_autoptr (GError) error = NULL;

  gantry_document_open (document, place->path, NULL, NULL, &error);
  g_assert_no_error (error);
  return document;
}

/* Values of inputs come back with the session, and what it is opened with is right over them. */
static void
test_inputs (Place *place, gconstpointer data)
{
  g_autofree char *path = doc_file ("data/models/rate.onnx");
  g_autoptr (GantryDocument) document = gantry_document_new (), again = NULL, other = gantry_document_new ();
  g_autoptr (GantryBindings) bindings = gantry_bindings_new ();
  GantryOpenOptions options = GANTRY_OPEN_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;

  gantry_bindings_set_input (bindings, "rate", "16000");
  gantry_bindings_set_input (bindings, "gain", "dense<f32[1]: 3.0>");
  options.bindings = bindings;
  gantry_document_open (document, path, &options, NULL, &error);
  g_assert_no_error (error);
  gantry_document_save (document, place->path, &error);
  g_assert_no_error (error);
  again = reopen (place);
  g_assert_true (gantry_bindings_equal (gantry_document_get_bindings (again), bindings));
  g_assert_null (gantry_document_get_compilation (again)->refusal);
  gantry_bindings_set_input (bindings, "gain", NULL);
  gantry_bindings_set_input (bindings, "rate", "8000");
  gantry_document_open (other, place->path, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (gantry_bindings_get_input (gantry_document_get_bindings (other), "rate"), ==, "8000");
  g_assert_cmpstr (gantry_bindings_get_input (gantry_document_get_bindings (other), "gain"), ==, "dense<f32[1]: 3.0>");
  g_assert_nonnull (gantry_document_get_compilation (other)->refusal);
}

/* A run with a plan of several queues, as if a child had made it. */
static void
add_run (GantryDocument *document)
{
  g_autoptr (GantryRunResult) result = gantry_run_result_new ();

  result->name = g_strdup ("made up");
  result->device = g_strdup ("none");
  result->when = g_strdup ("2026-01-01T00:00:00Z");
  result->n_runs = 1;
  result->plan = gantry_plan_ref (gantry_document_get_plan (document));
  result->recording = gantry_recording_from_plan (gantry_compilation_module (gantry_document_get_compilation (document)), result->plan);
  gantry_document_add_run (document, result);
}

/* A document with something of everything. */
static GantryDocument *
make (const Place *place)
{
  GantryDocument *document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GArray) residuals = doc_residuals (document);
  g_autoptr (GantryVariant) variant = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (gantry_document_set_policy (document, "role:state offload\npolicy nothing_saveable", NULL));
  gantry_document_set_placement (document, doc_last (document), (const guint32 *) (gpointer) residuals->data, 5, GANTRY_PLACEMENT_OFFLOAD, NULL);
  variant = gantry_document_make_variant (document, "one; 'quoted' \"twice\"");
  gantry_document_add_variant (document, variant);
  gantry_document_set_limit (document, 1 << 20);
  gantry_document_set_pass_enabled (document, "fold", FALSE);
  gantry_document_set_notes (document, "tried:\n  this\n  and that");
  doc_wait (document);
  add_run (document);
  gantry_document_save (document, place->path, &error);
  g_assert_no_error (error);
  return document;
}

static void
check_plans (const GantryPlan *a, const GantryPlan *b)
{
  g_assert_cmpuint (a->n_steps, ==, b->n_steps);
  g_assert_cmpuint (a->n_init_steps, ==, b->n_init_steps);
  g_assert_cmpuint (a->n_buffers, ==, b->n_buffers);
  g_assert_cmpmem (a->refs, a->n_refs * sizeof *a->refs, b->refs, b->n_refs * sizeof *b->refs);
  g_assert_cmpmem (a->waits, a->n_waits * sizeof *a->waits, b->waits, b->n_waits * sizeof *b->waits);
  g_assert_cmpmem (a->live_bytes, a->n_steps * sizeof *a->live_bytes, b->live_bytes, b->n_steps * sizeof *b->live_bytes);
  for (guint m = 0; m < GANTRY_N_MEMORY_KINDS; m++)
    {
      GantryMemoryParts x, y;

      gantry_plan_memory_parts (a, (GantryMemoryKind) m, &x);
      gantry_plan_memory_parts (b, (GantryMemoryKind) m, &y);
      g_assert_cmpmem (x.bytes, sizeof x.bytes, y.bytes, sizeof y.bytes);
    }
  for (guint32 s = 0; s < a->n_steps; s++)
    {
      GantryMemoryParts x, y;

      gantry_plan_memory_parts_at (a, s, &x);
      gantry_plan_memory_parts_at (b, s, &y);
      g_assert_cmpmem (x.bytes, sizeof x.bytes, y.bytes, sizeof y.bytes);
    }
  g_assert_cmpuint (a->sizes_known, ==, b->sizes_known);
  g_assert_cmpstr (a->kernels, ==, b->kernels);
  g_assert_cmpstr (a->target, ==, b->target);
  g_assert_cmpmem (a->arena_bytes, sizeof a->arena_bytes, b->arena_bytes, sizeof b->arena_bytes);
  g_assert_cmpmem (a->alias_bytes, sizeof a->alias_bytes, b->alias_bytes, sizeof b->alias_bytes);
  g_assert_cmpuint (a->copied_bytes, ==, b->copied_bytes);
  g_assert_cmpuint (a->resident, ==, b->resident);
  g_assert_cmpfloat (a->recompute_us, ==, b->recompute_us);
  g_assert_cmpuint (a->n_problems, ==, b->n_problems);
  for (guint32 i = 0; i < a->n_steps; i++)
    {
      const GantryPlanStep *x = &a->steps[i], *y = &b->steps[i];

      g_assert_cmpuint (x->node, ==, y->node);
      g_assert_cmpuint (x->queue, ==, y->queue);
      g_assert_cmpuint (x->kind, ==, y->kind);
      g_assert_cmpuint (x->instance, ==, y->instance);
      g_assert_cmpuint (x->n_operands, ==, y->n_operands);
      g_assert_cmpuint (x->n_refs, ==, y->n_refs);
      g_assert_cmpuint (x->n_waits, ==, y->n_waits);
      g_assert_cmpfloat (x->wait_us, ==, y->wait_us);
    }
  for (guint32 i = 0; i < a->n_buffers; i++)
    {
      const GantryPlanBuffer *x = &a->buffers[i], *y = &b->buffers[i];

      g_assert_cmpuint (x->node, ==, y->node);
      g_assert_cmpuint (x->role, ==, y->role);
      g_assert_cmpuint (x->instance, ==, y->instance);
      g_assert_cmpuint (x->memory, ==, y->memory);
      g_assert_cmpuint (x->shares, ==, y->shares);
      g_assert_cmpuint (x->offset, ==, y->offset);
    }
}

static void
test_round_trip (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = make (place);
  g_autoptr (GantryDocument) again = reopen (place);
  const GantryCompileSettings *a = gantry_document_get_settings (document), *b = gantry_document_get_settings (again);
  const GantryVariant *x = g_ptr_array_index (gantry_document_get_variants (document), 0), *y;
  gboolean modified;

  g_assert_true (gantry_compile_settings_same_program (a, b));
  g_assert_true (gantry_compile_settings_same_plan (a, b));
  g_assert_true (gantry_placements_equal (gantry_document_get_placements (document), gantry_document_get_placements (again)));
  g_assert_cmpstr (gantry_document_get_notes (again), ==, gantry_document_get_notes (document));
  g_assert_cmpuint (gantry_document_get_variants (again)->len, ==, 1);
  y = g_ptr_array_index (gantry_document_get_variants (again), 0);
  g_assert_cmpstr (y->name, ==, x->name);
  g_assert_cmpstr (y->policy, ==, x->policy);
  g_assert_true (gantry_choices_equal (x->choices, y->choices));
  g_assert_true (x->predicted && x->figures.fits);
  g_assert_cmpuint (x->figures.peak_bytes, >, 0);
  g_assert_cmpmem (&y->figures, sizeof y->figures, &x->figures, sizeof x->figures);
  g_assert_cmpuint (gantry_document_get_runs (again)->len, ==, 1);
  g_assert_cmpstr (gantry_document_get_run (again)->name, ==, "made up"); /* and not marked as another program's */
  check_plans (gantry_document_get_run (document)->plan, gantry_document_get_run (again)->plan);
  check_plans (gantry_document_get_plan (document), gantry_document_get_plan (again));
  g_object_get (again, "modified", &modified, NULL);
  g_assert_false (modified);
  doc_check_consistent (again);
}

/* The order of the plan as it is, and the work that makes the last residual twice: later an update may have written over what it reads.
 * The first one leaves and comes back at once. */
static void
give_schedule (GantryDocument *document, GantryVariant *variant)
{
  GantryModule *module = gantry_compilation_module (gantry_document_get_compilation (document));
  const GantryPlan *plan = gantry_document_get_plan (document);
  g_autoptr (GArray) schedule = g_array_new (FALSE, FALSE, sizeof (GantryScheduleEntry)), residuals = doc_residuals (document);
  g_autofree guint64 *keys = gantry_module_keys (module);
  const guint32 copied = g_array_index (residuals, guint32, 0), again = g_array_index (residuals, guint32, residuals->len - 1);
  g_autoptr (GantryPlacements) placements = gantry_placements_new ();

  gantry_placements_set (
    placements,
    &(GantryPlacement){ .node = copied, .kind = GANTRY_PLACEMENT_OFFLOAD, .decider = GANTRY_DECIDED_BY_SOLVER, .memory = GANTRY_MEMORY_PINNED_HOST });
  for (guint32 s = plan->n_init_steps; s < plan->n_steps; s++)
    {
      const guint32 node = plan->steps[s].node;

      if (plan->steps[s].instance != 0 || plan->steps[s].kind != GANTRY_STEP_RUN)
        continue;
      for (guint n = node == again ? 2 : 1; n > 0; n--)
        g_array_append_val (schedule, ((GantryScheduleEntry){ node, GANTRY_SCHEDULE_RUN }));
      for (guint32 action = GANTRY_SCHEDULE_SPILL; node == copied && action < GANTRY_N_SCHEDULE_ACTIONS; action++)
        g_array_append_val (schedule, ((GantryScheduleEntry){ node, action }));
    }
  gantry_placements_set_schedule (placements, (const GantryScheduleEntry *) (gpointer) schedule->data, schedule->len);
  gantry_choices_unref (variant->choices);
  variant->choices = gantry_choices_of (placements, module, keys);
  g_clear_pointer (&variant->policy, g_free);
}

/* A schedule comes back with the session, with its variants, and with what is kept of unsaved work. */
static void
test_schedule (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE), again = NULL;
  g_autoptr (GantryVariant) variant = gantry_document_make_variant (document, "scheduled");
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) packed = NULL;
  g_autoptr (GBytes) bytes = NULL;
  const GantryVariant *kept;
  g_autoptr (GantryState) state = NULL;

  give_schedule (document, variant);
  gantry_document_add_variant (document, variant);
  gantry_document_load_variant (document, variant);
  doc_wait (document);
  g_assert_nonnull (gantry_document_get_placements (document)->schedule);
  g_assert_cmpuint (gantry_document_get_plan (document)->n_problems, ==, 0);
  g_assert_cmpfloat (gantry_document_get_plan (document)->recompute_us, >, 0);
  g_assert_cmpuint (gantry_document_get_plan (document)->copied_bytes, >, 0);
  gantry_document_save (document, place->path, &error);
  g_assert_no_error (error);
  again = reopen (place);
  g_assert_true (gantry_placements_equal (gantry_document_get_placements (document), gantry_document_get_placements (again)));
  kept = g_ptr_array_index (gantry_document_get_variants (again), 0);
  g_assert_true (gantry_choices_equal (variant->choices, kept->choices));
  packed = _gantry_state_to_variant (document->state);
  bytes = g_variant_get_data_as_bytes (packed);
  state = _gantry_state_from_bytes (bytes, &error);
  g_assert_no_error (error);
  g_assert_true (gantry_choices_equal (state->settings.choices, document->state->settings.choices));
}

/* The run of an inference stays one where a training step of the model is saved after it. */
/* A run that somebody has deleted is not written again by who had it open, and what it runs meanwhile is. */
static void
test_deleted_elsewhere (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = make (place), again = gantry_document_new ();
  g_autoptr (GError) error = NULL;
  const char *uids[] = { NULL, NULL };
  g_autoptr (GPtrArray) list = NULL;
  guint n;

  add_run (document);
  n = gantry_document_get_runs (document)->len;
  gantry_document_save (document, place->path, &error);
  g_assert_no_error (error);
  uids[0] = ((GantryRunResult *) g_ptr_array_index (gantry_document_get_runs (document), 0))->uid;
  g_assert_true (gantry_runs_delete (place->path, uids, &error));
  add_run (document);
  gantry_document_save (document, place->path, &error);
  g_assert_no_error (error);
  list = gantry_runs_list (place->path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (list->len, ==, n); /* one came, one went */
  for (guint i = 0; i < list->len; i++)
    g_assert_cmpstr (((GantryRunEntry *) g_ptr_array_index (list, i))->uid, !=, uids[0]);
}

static void
test_other_program (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", FALSE), again = NULL;
  GantryTrainingOptions training;
  g_autoptr (GError) error = NULL;

  add_run (document);
  gantry_training_options_init (&training);
  gantry_document_set_training (document, &training);
  doc_wait (document);
  g_assert_null (gantry_document_get_run (document));
  gantry_document_save (document, place->path, &error);
  g_assert_no_error (error);
  again = reopen (place);
  g_assert_cmpuint (gantry_document_get_runs (again)->len, ==, 1);
  g_assert_null (gantry_document_get_run (again));
  g_assert_true (gantry_run_result_is_of_another (g_ptr_array_index (gantry_document_get_runs (again), 0), gantry_document_get_compilation (again)));
}

/* A session whose limit does not fit opens with its own run, and once the limit is lifted it runs, without another compilation. */
static void
test_lifted_limit (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = doc_open ("mlp.gir", FALSE), again = NULL;
  GantryCompilation *compilation;
  g_autoptr (GError) error = NULL, unfit = NULL;

  add_run (document);
  gantry_document_set_limit (document, gantry_document_get_prediction (document)->prediction->peak_bytes / 2);
  doc_wait (document);
  g_assert_false (gantry_document_can_run (document, NULL));
  gantry_document_save (document, place->path, &error);
  g_assert_no_error (error);
  again = reopen (place);
  compilation = gantry_document_get_compilation (again);
  g_assert_null (gantry_document_get_plan (again));
  g_assert_false (gantry_document_can_run (again, &unfit));
  g_assert_error (unfit, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  g_assert_nonnull (gantry_document_get_run (again));
  gantry_document_set_limit (again, 0);
  doc_wait (again);
  g_assert_true (gantry_document_get_compilation (again) == compilation);
  g_assert_nonnull (gantry_document_get_plan (again));
  gantry_document_can_run (again, &error);
  g_assert_no_error (error);
  g_assert_true (gantry_run_result_is_of (gantry_document_get_run (again), compilation));
  doc_check_consistent (again);
  gantry_document_undo (again);
  doc_wait (again);
  g_assert_false (gantry_document_can_run (again, NULL));
  gantry_document_redo (again);
  doc_wait (again);
  g_assert_true (gantry_document_can_run (again, NULL));
}

static void
run_sql (const Place *place, const char *sql)
{
  sqlite3 *db = NULL;
  char *why = NULL;

  g_assert_cmpint (sqlite3_open (place->path, &db), ==, SQLITE_OK);
  if (sqlite3_exec (db, sql, NULL, NULL, &why) != SQLITE_OK)
    g_error ("%s: %s", sql, why);
  sqlite3_close (db);
}

/* The only row of the first column of @sql. */
static gint64
number_of (const Place *place, const char *sql)
{
  sqlite3 *db = NULL;
  sqlite3_stmt *statement = NULL;
  gint64 number;

  g_assert_cmpint (sqlite3_open (place->path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_prepare_v2 (db, sql, -1, &statement, NULL), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_step (statement), ==, SQLITE_ROW);
  number = sqlite3_column_int64 (statement, 0);
  sqlite3_finalize (statement);
  sqlite3_close (db);
  return number;
}

/* planned_bytes is what a limit is compared with; what up to version 4 was the arena alone becomes that, once. */
static void
test_planned_bytes (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = make (place), old = NULL, again = NULL;
  const GantryPlan *plan = gantry_document_get_run (document)->plan;
  guint64 all = gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE), arena = plan->arena_bytes[GANTRY_MEMORY_DEVICE];
  g_autofree char *sql = g_strdup_printf ("UPDATE runs SET planned_bytes = %" G_GUINT64_FORMAT "; DROP TABLE plan_memory; "
                                          "ALTER TABLE runs DROP COLUMN model_sha256; PRAGMA user_version = 4",
                                          arena);

  g_assert_cmpuint (all, >, arena);
  g_assert_cmpint (number_of (place, "SELECT planned_bytes FROM runs"), ==, all);
  run_sql (place, sql);
  old = reopen (place);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;

      gantry_document_set_notes (old, i == 0 ? "once" : "twice");
      gantry_document_save (old, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpint (number_of (place, "SELECT planned_bytes FROM runs"), ==, all);
    }
  g_assert_cmpint (number_of (place, "PRAGMA user_version"), ==, 6);
  again = reopen (place);
  g_assert_cmpuint (gantry_document_get_run (again)->plan->arena_bytes[GANTRY_MEMORY_DEVICE], ==, arena);
}

/* Figures were called otherwise up to version 5: such a file opens, and saving it gives them their names. */
static void
test_version_5 (Place *place, gconstpointer data)
{
  static const char to_version_5[] =
    "ALTER TABLE runs RENAME COLUMN touched_bytes TO peak_bytes; ALTER TABLE runs RENAME COLUMN arena_lower_bound_bytes TO lower_bound_bytes;"
    "ALTER TABLE variants RENAME COLUMN planned_bytes TO peak_bytes; ALTER TABLE variants RENAME COLUMN host_planned_bytes TO host_bytes;"
    "ALTER TABLE front RENAME COLUMN planned_bytes TO peak_bytes; ALTER TABLE front RENAME COLUMN host_planned_bytes TO host_bytes;"
    "UPDATE runs SET peak_bytes = 4711, lower_bound_bytes = 4712; UPDATE variants SET peak_bytes = 4713, host_bytes = 4714;"
    "DELETE FROM run_memory; INSERT INTO run_memory SELECT id, 'peak', 4711, 0, NULL FROM runs;"
    "INSERT INTO run_memory SELECT id, 'host', 4715, NULL, NULL FROM runs; INSERT INTO run_memory SELECT id, 'planned parts now', 4716, NULL, NULL FROM runs;"
    "PRAGMA user_version = 5;";
  g_autoptr (GantryDocument) document = make (place);

  run_sql (place, to_version_5);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GantryDocument) old = reopen (place);
      const GantryRunResult *run = gantry_document_get_run (old);
      const GantryVariant *variant = g_ptr_array_index (gantry_document_get_variants (old), 0);
      g_autoptr (GError) error = NULL;

      g_assert_cmpuint (variant->figures.peak_bytes, ==, 4713);
      g_assert_cmpuint (variant->figures.host_bytes, ==, 4714);
      g_assert_cmpuint (run->memory->peak_bytes, ==, 4711);
      g_assert_cmpuint (run->memory->host_bytes, ==, 4715);
      g_assert_cmpuint (run->memory->held, ==, 4716);
      gantry_document_set_notes (old, i == 0 ? "once" : "twice");
      gantry_document_save (old, NULL, &error);
      g_assert_no_error (error);
    }
  g_assert_cmpint (number_of (place, "SELECT touched_bytes FROM runs"), ==, 4711);
  g_assert_cmpint (number_of (place, "SELECT arena_lower_bound_bytes FROM runs"), ==, 4712);
  g_assert_cmpint (number_of (place, "SELECT planned_bytes FROM variants"), ==, 4713);
  g_assert_cmpint (number_of (place, "PRAGMA user_version"), ==, 6);
}

/* What the first version had: made from a file of today by taking away what came later. */
static const char to_version_1[] = "UPDATE runs SET planned_bytes = (SELECT arena_bytes FROM plan_memory WHERE run = runs.id AND memory = 0);"
                                   "DROP TABLE plan_memory; DROP TABLE plan_problems; DROP TABLE placements; DROP TABLE variants;"
                                   "ALTER TABLE runs DROP COLUMN copied_bytes; ALTER TABLE runs DROP COLUMN recompute_us;"
                                   "ALTER TABLE runs DROP COLUMN stall_us; ALTER TABLE runs DROP COLUMN resident;"
                                   "ALTER TABLE plan_steps DROP COLUMN kind; ALTER TABLE plan_steps DROP COLUMN instance;"
                                   "ALTER TABLE plan_steps DROP COLUMN wait_us; ALTER TABLE plan_steps DROP COLUMN operands;"
                                   "ALTER TABLE plan_steps DROP COLUMN buffers; ALTER TABLE plan_steps DROP COLUMN waits;"
                                   "ALTER TABLE plan_buffers DROP COLUMN role; ALTER TABLE plan_buffers DROP COLUMN instance;"
                                   "DELETE FROM meta WHERE key IN ('train', 'training', 'policy', 'notes', 'first_id');"
                                   "PRAGMA user_version = 1;";

static void
test_version_1 (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = make (place);
  g_autoptr (GantryDocument) old = NULL, again = NULL;
  const GantryPlan *plan;
  g_autoptr (GError) error = NULL;

  run_sql (place, to_version_1);
  old = reopen (place);
  g_assert_false (gantry_document_get_settings (old)->train);
  g_assert_null (gantry_document_get_settings (old)->policy);
  g_assert_false (gantry_compile_settings_enabled (gantry_document_get_settings (old), "fold"));
  g_assert_cmpuint (gantry_document_get_variants (old)->len, ==, 0);
  g_assert_cmpuint (gantry_document_get_runs (old)->len, ==, 1);
  plan = ((const GantryRunResult *) g_ptr_array_index (gantry_document_get_runs (old), 0))->plan;
  g_assert_cmpuint (plan->n_steps, ==, gantry_document_get_run (document)->plan->n_steps);
  g_assert_cmpuint (plan->arena_bytes[GANTRY_MEMORY_DEVICE], ==, gantry_document_get_run (document)->plan->arena_bytes[GANTRY_MEMORY_DEVICE]);
  /* Saving makes it a file of today. */
  gantry_document_set_notes (old, "still here");
  gantry_document_save (old, NULL, &error);
  g_assert_no_error (error);
  again = reopen (place);
  g_assert_cmpstr (gantry_document_get_notes (again), ==, "still here");
  g_assert_cmpuint (gantry_document_get_runs (again)->len, ==, 1);
}

static void
test_newer (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = make (place), again = gantry_document_new ();
  g_autoptr (GError) error = NULL;

  run_sql (place, "PRAGMA user_version = 99");
  g_assert_false (gantry_document_open (again, place->path, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
}

/* Cut off anywhere, the file is an error or has everything: a page that is missing is not the end of the rows. */
static void
test_cut_off (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = make (place);
  g_autofree char *bytes = NULL;
  gsize length;
  guint failed = 0;

  g_assert_true (g_file_get_contents (place->path, &bytes, &length, NULL));
  for (gsize size = 0; size < length; size += 4096)
    {
      g_autoptr (GantryDocument) cut = gantry_document_new ();
      g_autoptr (GError) error = NULL;

      g_assert_true (g_file_set_contents (place->path, bytes, (gssize) size, NULL));
      if (!gantry_document_open (cut, place->path, NULL, NULL, &error))
        {
          g_assert_nonnull (error);
          failed++;
          continue;
        }
      g_assert_cmpuint (gantry_document_get_runs (cut)->len, ==, 1);
      g_assert_cmpuint (gantry_document_get_variants (cut)->len, ==, 1);
      g_assert_true (gantry_compile_settings_same_plan (gantry_document_get_settings (document), gantry_document_get_settings (cut)));
      check_plans (gantry_document_get_run (document)->plan, gantry_document_get_run (cut)->plan);
    }
  g_assert_cmpuint (failed * 2, >, length / 4096);
}

static GantryDocument *
reopen_listening (const Place *place, DocErrors *told)
{
  GantryDocument *document = gantry_document_new ();
  g_autoptr (GError) error = NULL;

  doc_listen (document, told);
  gantry_document_open (document, place->path, NULL, NULL, &error);
  g_assert_no_error (error);
  return document;
}

/* A run with more than is read of one is left out and named; the session opens with the other, and is saved as before. */
static void
test_large_run (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = make (place), again = NULL, third = NULL;
  g_auto (DocErrors) told = { 0, NULL, NULL };
  g_autoptr (GError) error = NULL;

  add_run (document);
  gantry_document_save (document, NULL, &error);
  g_assert_no_error (error);
  run_sql (place, "WITH RECURSIVE n (x) AS (SELECT 100 UNION ALL SELECT x + 1 FROM n WHERE x < 1100)"
                  " INSERT INTO plan_memory SELECT 1, x, 0, 0, 0, 0 FROM n");
  again = reopen_listening (place, &told);
  g_assert_cmpuint (told.n, ==, 1);
  g_assert_error (told.error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
  g_assert_nonnull (strstr (told.error->message, "run 1: "));
  g_assert_nonnull (strstr (told.error->message, "plan_memory"));
  g_assert_cmpuint (gantry_document_get_runs (again)->len, ==, 1);
  gantry_document_set_notes (again, "another");
  gantry_document_save (again, NULL, &error);
  g_assert_no_error (error);
  run_sql (place, "DELETE FROM plan_memory WHERE memory >= 100"); /* it was not taken away */
  third = reopen (place);
  g_assert_cmpuint (gantry_document_get_runs (third)->len, ==, 2);
}

/* Likewise a run whose rows cannot be read: a save leaves them as they are, and they go when they are deleted. */
static void
test_damaged_run (Place *place, gconstpointer data)
{
  static const char *const damages[] = { "UPDATE runs SET head = 'x' WHERE id = 1", "DELETE FROM chunks WHERE run = 1" };
  g_autoptr (GantryDocument) document = make (place);
  g_autofree char *good = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  add_run (document);
  gantry_document_save (document, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (place->path, &good, &size, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (damages); i++)
    {
      g_autoptr (GantryDocument) again = NULL, third = NULL;
      g_auto (DocErrors) told = { 0, NULL, NULL };
      g_autoptr (GPtrArray) listed = NULL;
      const char *uids[2] = { NULL, NULL };

      g_assert_true (g_file_set_contents (place->path, good, (gssize) size, NULL));
      run_sql (place, damages[i]);
      again = reopen_listening (place, &told);
      g_assert_cmpuint (told.n, ==, 1);
      g_assert_nonnull (strstr (told.error->message, "run 1: "));
      g_assert_cmpuint (gantry_document_get_runs (again)->len, ==, 1);
      add_run (again);
      gantry_document_save (again, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpint (number_of (place, "SELECT count(*) FROM runs"), ==, 3);
      g_assert_cmpint (number_of (place, "SELECT count(*) FROM plan_steps WHERE run = 1"), >, 0);
      if (i == 0)
        g_assert_cmpint (number_of (place, "SELECT count(*) FROM runs WHERE id = 1 AND head = 'x'"), ==, 1);
      listed = gantry_runs_list (place->path, &error);
      g_assert_no_error (error);
      uids[0] = ((const GantryRunEntry *) g_ptr_array_index (listed, 0))->uid;
      g_assert_true (gantry_runs_delete (place->path, uids, &error));
      third = reopen (place);
      g_assert_cmpuint (gantry_document_get_runs (third)->len, ==, 2);
    }
}

/* Whoever changed the tables: that is told, and what to do, and not only what SQLite says. */
static void
test_damaged_tables (Place *place, gconstpointer data)
{
  static const char *const damages[] = { "ALTER TABLE variants RENAME COLUMN position TO gone", "ALTER TABLE front RENAME COLUMN position TO gone" };

  for (guint i = 0; i < G_N_ELEMENTS (damages); i++)
    {
      g_autoptr (GantryDocument) document = make (place), again = gantry_document_new ();
      g_autoptr (GError) error = NULL;

      run_sql (place, damages[i]);
      g_assert_false (gantry_document_open (again, place->path, NULL, NULL, &error));
      g_assert_nonnull (strstr (error->message, "the session is damaged"));
      g_assert_true (g_unlink (place->path) == 0);
    }
}

/* A plan whose steps take and wait for much is text of many MiB, and comes back whole. */
static void
test_large_plan (Place *place, gconstpointer data)
{
  const guint32 n_each = 12u << 20, n = 3 * n_each;
  g_autoptr (GantryDocument) document = make (place), again = NULL;
  g_autoptr (GantryRunResult) result = gantry_run_result_new ();
  g_autoptr (GantryPlan) plan = NULL;
  g_autoptr (GError) error = NULL;

  plan = gantry_plan_try_new (3, 1, &error);
  g_assert_no_error (error);
  gantry_plan_set_pools (plan, n, 0);
  memset (plan->refs, 0, n * sizeof *plan->refs);
  for (guint32 i = 0; i < 3; i++)
    {
      plan->steps[i].first_ref = i * n_each;
      plan->steps[i].n_refs = plan->steps[i].n_operands = n_each;
    }
  plan->buffers[0].shares = GANTRY_NO_BUFFER;
  result->name = g_strdup ("large");
  result->plan = g_steal_pointer (&plan);
  result->recording = gantry_recording_ref (gantry_document_get_run (document)->recording);
  gantry_document_add_run (document, result);
  gantry_document_save (document, NULL, &error);
  g_assert_no_error (error);
  again = reopen (place);
  g_assert_cmpuint (gantry_document_get_runs (again)->len, ==, 2);
  g_assert_cmpuint (((GantryRunResult *) g_ptr_array_index (gantry_document_get_runs (again), 1))->plan->n_refs, ==, n);
}

/* As many runs as are read, and one more: it is saved, and the oldest is left out. */
static void
test_many_runs (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = make (place), again = NULL;
  g_auto (DocErrors) told = { 0, NULL, NULL };
  g_autoptr (GError) error = NULL;
  const GantryRunResult *last;

  /* They have no plan and a recording without events. */
  run_sql (place, "WITH RECURSIVE n (x) AS (SELECT 2 UNION ALL SELECT x + 1 FROM n WHERE x < 10000)"
                  " INSERT INTO runs (id, uid, name, program, head) SELECT x, 'run ' || x, 'small', program,"
                  " (SELECT head FROM runs WHERE id = 1) FROM n, runs WHERE id = 1;"
                  "INSERT INTO chunks SELECT r.id, c.number, c.content, c.lane, c.n, c.begin_ns, c.end_ns, c.data FROM chunks c, runs r"
                  " WHERE c.run = 1 AND r.id > 1;");
  add_run (document);
  last = g_ptr_array_index (gantry_document_get_runs (document), 1);
  gantry_document_save (document, NULL, &error);
  g_assert_no_error (error);
  again = reopen_listening (place, &told);
  g_assert_cmpuint (told.n, ==, 1);
  g_assert_cmpuint (gantry_document_get_runs (again)->len, ==, 10000);
  g_assert_cmpstr (((GantryRunResult *) g_ptr_array_index (gantry_document_get_runs (again), 0))->uid, ==, "run 2");
  g_assert_cmpstr (((GantryRunResult *) g_ptr_array_index (gantry_document_get_runs (again), 9999))->uid, ==, last->uid);
}

/* What could not be read again is not saved, and the file stays as it was. */
static void
test_large_notes (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = make (place), again = NULL;
  g_autofree char *notes = g_strnfill (40u << 20, 'n');
  g_autoptr (GError) error = NULL;

  gantry_document_set_notes (document, notes);
  g_assert_false (gantry_document_save (document, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
  g_assert_nonnull (strstr (error->message, "notes"));
  again = reopen (place);
  g_assert_cmpstr (gantry_document_get_notes (again), ==, "tried:\n  this\n  and that");
}

/* More variants than are read are not saved either. */
static void
test_many_variants (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = make (place), again = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 1000; i++)
    {
      g_autofree char *name = g_strdup_printf ("v%u", i);
      g_autoptr (GantryVariant) variant = gantry_document_make_variant (document, name);

      gantry_document_add_variant (document, variant);
    }
  g_assert_false (gantry_document_save (document, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
  again = reopen (place);
  g_assert_cmpuint (gantry_document_get_variants (again)->len, ==, 1);
}

/* A placement of a kind that is not known is no other placement, which the next save would write in its place. */
static void
test_unknown_placement (Place *place, gconstpointer data)
{
  static const struct
  {
    const char *sql, *said;
  } cases[] = {
    { "UPDATE placements SET kind = 5", "of kind 5, " },
    { "UPDATE placements SET kind = -1", "of kind -1, " },
    { "UPDATE placements SET kind = 259", "of kind 259, " }, /* 3 as a byte: bf16 */
    { "UPDATE placements SET kind = 4294967299", "of kind 4294967299, " },
    { "UPDATE placements SET kind = 'int8'", "of kind int8, " },
    { "UPDATE placements SET kind = 3.5", "of kind 3.5, " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryDocument) document = make (place), again = gantry_document_new ();
      g_autoptr (GError) error = NULL;

      run_sql (place, cases[i].sql);
      g_assert_false (gantry_document_open (again, place->path, NULL, NULL, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, cases[i].said));
      g_unlink (place->path);
    }
}

/* What is no key is none that is as large as there are, nor as much of it as is one; several would be one. */
static void
test_no_key (Place *place, gconstpointer data)
{
  static const struct
  {
    const char *sql, *said;
  } cases[] = {
    { "UPDATE placements SET key = '0' || key", "placements has the key '0" },
    { "UPDATE placements SET key = '123456789abcdef'", "'123456789abcdef', which" },
    { "UPDATE placements SET key = 12345678901234567890.0", "'1.23456789012346e+19', which" },
    { "UPDATE placements SET key = '-123456789abcdef'", "'-123456789abcdef', which" },
    { "INSERT INTO schedules VALUES ('', 1, '0123456789abcdefg')", "schedules has the key" },
    { "INSERT OR REPLACE INTO meta VALUES ('measured_run', 'r'); INSERT INTO measured VALUES ('0x23456789abcdef', 1)", "measured has the key" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryDocument) document = make (place), again = gantry_document_new ();
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", cases[i].sql);

      run_sql (place, "DELETE FROM placements WHERE key NOT IN (SELECT key FROM placements LIMIT 1)");
      run_sql (place, cases[i].sql);
      g_assert_false (gantry_document_open (again, place->path, NULL, NULL, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, cases[i].said));
      g_unlink (place->path);
    }
}

/* Of a point of a front that is kept likewise: what it does not know, it keeps. */
static void
test_unknown_placement_of_front (Place *place, gconstpointer data)
{
  static const char *const kinds[] = { "5", "259", "18446744073709551615" };
  g_autoptr (GantryDocument) document = make (place);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) found = gantry_document_front (document, 2, 0, 2, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (gantry_document_save (document, NULL, &error));
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *sql = g_strdup_printf ("UPDATE front SET placements = '00000000000000ff 7 %s 0 5' || char (10)", kinds[i]);
      g_autoptr (GantryDocument) again = gantry_document_new ();
      const GantryVariant *point;

      run_sql (place, sql);
      g_assert_true (gantry_document_open (again, place->path, NULL, NULL, &error));
      doc_wait (again);
      g_assert_nonnull (gantry_document_get_front (again));
      point = g_ptr_array_index (gantry_document_get_front (again), 0);
      g_assert_cmpuint (point->choices->entries->len, ==, 1);
      g_assert_cmpuint (g_array_index (point->choices->entries, GantryChoice, 0).kind, ==, GANTRY_PLACEMENT_KEEP);
    }
}

/* Numbers that nobody wrote: every one is an error or harmless. */
static void
test_hostile (Place *place, gconstpointer data)
{
  static const char *const attacks[] = {
    "UPDATE plan_buffers SET shares = buffer",
    "UPDATE plan_buffers SET shares = (buffer + 1) % 7, category = 99, region = -1, memory = 77, role = 200",
    "UPDATE plan_steps SET buffers = '4294967295,99999999999999999999,-1,x', waits = '5,6,7,4000000000', operands = 999",
    "UPDATE plan_steps SET kind = 50, queue = -3, instance = 9, node = 4294967295",
    "UPDATE runs SET peak_step = 1e18, init_steps = -5",
    "UPDATE placements SET kind = 200, memory = -1, decided_by = 99, node = -1",
    "UPDATE variants SET decided_by = -7, policy = 'no policy at all', limit_bytes = -1",
    "UPDATE meta SET value = '4294967295' WHERE key = 'first_id'",
    "UPDATE meta SET value = 'garbage' WHERE key = 'training'",
    "UPDATE meta SET value = '[training]\nlearning_rate=-1\n' WHERE key = 'training'",
    "UPDATE meta SET value = 'op: bad' WHERE key = 'policy'",
    "INSERT INTO plan_memory VALUES (1, 99, 1, 1, 1, 1), (1, -1, 1, 1, 1, 1)",
    "DROP TABLE plan_steps",
  };

  for (guint i = 0; i < G_N_ELEMENTS (attacks); i++)
    {
      g_autoptr (GantryDocument) document = make (place), again = gantry_document_new ();
      g_autoptr (GError) error = NULL;

      run_sql (place, attacks[i]);
      if (gantry_document_open (again, place->path, NULL, NULL, &error))
        {
          const GantryRunResult *run = g_ptr_array_index (gantry_document_get_runs (again), 0);
          const GantryPlan *plan = run->plan;

          for (guint32 k = 0; k < plan->n_waits; k++)
            g_assert_cmpuint (plan->waits[k], <, plan->n_steps);
          for (guint32 k = 0; k < plan->n_refs; k++)
            g_assert_true (plan->refs[k] < plan->n_buffers || plan->refs[k] == GANTRY_NO_BUFFER);
          if (gantry_document_get_variants (again)->len > 0)
            gantry_document_load_variant (again, g_ptr_array_index (gantry_document_get_variants (again), 0));
          doc_wait (again);
        }
      else
        g_assert_nonnull (error);
      g_unlink (place->path);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) g_test_add ("/session/" name, Place, NULL, set_up, function, tear_down)
  ADD ("round-trip", test_round_trip);
  ADD ("inputs", test_inputs);
  ADD ("deleted-elsewhere", test_deleted_elsewhere);
  ADD ("other-program", test_other_program);
  ADD ("lifted-limit", test_lifted_limit);
  ADD ("version-1", test_version_1);
  ADD ("version-5", test_version_5);
  ADD ("planned-bytes", test_planned_bytes);
  ADD ("newer", test_newer);
  ADD ("cut-off", test_cut_off);
  ADD ("unknown-placement", test_unknown_placement);
  ADD ("no-key", test_no_key);
  ADD ("unknown-placement-of-front", test_unknown_placement_of_front);
  ADD ("hostile", test_hostile);
  ADD ("large-run", test_large_run);
  ADD ("damaged-run", test_damaged_run);
  ADD ("damaged-tables", test_damaged_tables);
  ADD ("large-plan", test_large_plan);
  ADD ("many-runs", test_many_runs);
  ADD ("large-notes", test_large_notes);
  ADD ("many-variants", test_many_variants);
  ADD ("schedule", test_schedule);
#undef ADD
  return g_test_run ();
}
