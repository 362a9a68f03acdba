/* SPDX-License-Identifier: Apache-2.0 */
/* Planning with measured times: an edit that can be undone, that a session keeps without its run, and that says what it
 * changed; code with what belongs to a GPU in a session. */
#include "core/document/plan-changes.h"
#include "core/document/recovery-private.h"
#include "core/graph/operation.h"
#include "tests/core/document/document-test.h"
#include <glib/gstdio.h>
#include <string.h>

/* A run in which every step takes @factor times what is planned, and the compute step @slow of it ten times that. */
static GantryRunResult *
make_run (GantryDocument *document, double factor, guint slow)
{
  GantryRunResult *run = gantry_run_result_new ();
  GantryPlan *plan = gantry_document_get_plan (document);
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  gint64 at[GANTRY_N_QUEUES] = { 0 }, end = 0;
  guint n = 0;

  for (guint32 i = plan->n_init_steps; i < plan->n_steps; i++)
    {
      const GantryPlanStep *step = &plan->steps[i];
      gboolean copies = step->queue != GANTRY_QUEUE_COMPUTE;
      double us = step->duration_us * factor * (!copies && n++ == slow ? 10 : 1);
      GantryEvent event = { .begin = at[step->queue],
                            .lane = step->queue,
                            .node = step->node,
                            .instruction = i,
                            .kind = copies ? GANTRY_EVENT_COPY : GANTRY_EVENT_KERNEL,
                            .bytes = copies ? 1000000 : 0 };

      event.end = event.begin + MAX ((gint64) (us * 1000), 1);
      at[step->queue] = event.end;
      end = MAX (end, event.end);
      gantry_recording_builder_add (builder, &event);
    }
  gantry_recording_builder_add_run (builder, &(GantryRecordedRun){ 0, end, plan->lower_bound });
  run->recording = gantry_recording_builder_end (builder);
  run->name = g_strdup ("made");
  run->device = g_strdup ("made");
  run->when = g_strdup ("2026-11-21T12:00:00Z");
  run->n_runs = 1;
  run->milliseconds = run->milliseconds_min = run->milliseconds_max = (double) end / 1e6;
  run->plan = gantry_plan_ref (plan);
  return run;
}

static void
count (GObject *object, GParamSpec *property, guint *n)
{
  (*n)++;
}

static guint32
slowest_node (GantryDocument *document, guint slow)
{
  const GantryPlan *plan = gantry_document_get_plan (document);
  guint n = 0;

  for (guint32 i = plan->n_init_steps; i < plan->n_steps; i++)
    if (plan->steps[i].queue == GANTRY_QUEUE_COMPUTE && n++ == slow)
      return plan->steps[i].node;
  g_assert_not_reached ();
}

static double
duration_of (const GantryPlan *plan, guint32 node)
{
  for (guint32 i = plan->n_init_steps; i < plan->n_steps; i++)
    if (plan->steps[i].node == node && plan->steps[i].queue == GANTRY_QUEUE_COMPUTE)
      return plan->steps[i].duration_us;
  g_assert_not_reached ();
}

/* The step takes what was measured; the largest difference is that of the slow node; undo brings back what was. */
static void
test_replan (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  double before = gantry_document_get_plan (document)->total_us;
  guint32 node = slowest_node (document, 7);
  double alone = duration_of (gantry_document_get_plan (document), node);
  g_autoptr (GantryRunResult) run = make_run (document, 2, 7);
  g_autoptr (GError) error = NULL;
  const GantryPlanChanges *changes;
  guint told = 0;

  gantry_document_add_run (document, run);
  g_signal_connect (document, "notify::changes", G_CALLBACK (count), &told);
  g_assert_null (gantry_document_get_changes (document));
  g_assert_true (gantry_document_set_measured (document, run, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (gantry_document_get_undo_name (document), ==, "times of run 1");
  doc_wait (document);
  g_assert_cmpuint (told, ==, 1);
  doc_check_consistent (document);
  g_assert_cmpfloat_with_epsilon (duration_of (gantry_document_get_plan (document), node), 20 * alone, 0.01);
  changes = gantry_document_get_changes (document);
  g_assert_cmpfloat_with_epsilon (changes->before.step_us, before, 1e-6);
  g_assert_cmpfloat_with_epsilon (changes->after.step_us, gantry_document_get_plan (document)->total_us, 1e-6);
  g_assert_cmpfloat (changes->after.step_us, >, 1.9 * before);
  g_assert_cmpuint (changes->times->len, >, 10);
  for (guint i = 1; i < changes->times->len; i++)
    {
      const GantryTimeChange *x = &g_array_index (changes->times, GantryTimeChange, i - 1), *y = x + 1;

      g_assert_cmpfloat (ABS (x->after_us - x->before_us), >=, ABS (y->after_us - y->before_us));
    }
  g_assert_cmpuint (changes->n_new, ==, 0);
  g_assert_cmpuint (changes->n_gone, ==, 0);
  g_assert_cmpuint (changes->placements->len, ==, 0);
  gantry_document_undo (document);
  doc_wait (document);
  g_assert_cmpuint (told, ==, 2);
  g_assert_null (gantry_document_get_settings (document)->measured);
  g_assert_cmpfloat (gantry_document_get_plan (document)->total_us, ==, before);
  gantry_document_redo (document);
  doc_wait (document);
  g_assert_nonnull (gantry_document_get_settings (document)->measured);
  /* The same times again are no edit; those of the model are one. */
  g_assert_true (gantry_document_set_measured (document, run, &error));
  g_assert_cmpstr (gantry_document_get_undo_name (document), ==, "times of run 1");
  g_assert_true (gantry_document_set_measured (document, NULL, &error));
  g_assert_cmpstr (gantry_document_get_undo_name (document), ==, "predicted times");
  doc_wait (document);
  g_assert_cmpfloat (gantry_document_get_plan (document)->total_us, ==, before);
}

/* A slower link, as measured, lengthens the copies and nothing else. */
static void
test_link (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GantryRunResult) run = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) residuals = doc_residuals (document);
  const GantryPlanChanges *changes;
  guint n_copies = 0;

  gantry_document_set_placement (document, doc_last (document), (const guint32 *) (gpointer) residuals->data, residuals->len, GANTRY_PLACEMENT_OFFLOAD, NULL);
  doc_wait (document);
  run = make_run (document, 1, G_MAXUINT);
  gantry_document_add_run (document, run);
  g_assert_true (gantry_document_set_measured (document, run, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (gantry_document_get_settings (document)->measured->link_bandwidth, >, 0);
  doc_wait (document);
  doc_check_consistent (document);
  changes = gantry_document_get_changes (document);
  for (guint i = 0; i < changes->times->len; i++)
    n_copies += g_array_index (changes->times, GantryTimeChange, i).queue != GANTRY_QUEUE_COMPUTE;
  g_assert_cmpuint (n_copies, >, 0);
}

/* Times outlive their run and another compilation: they are kept by what the nodes are. */
static void
test_session (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-measured-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "a.gantry", NULL);
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE), again = gantry_document_new ();
  g_autoptr (GantryRunResult) run = make_run (document, 3, 4);
  g_autoptr (GError) error = NULL;
  double total;

  g_assert_true (gantry_document_set_measured (document, run, &error)); /* not kept */
  g_assert_no_error (error);
  doc_wait (document);
  total = gantry_document_get_plan (document)->total_us;
  g_assert_true (gantry_document_save (document, path, &error));
  g_assert_true (gantry_document_open (again, path, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (gantry_measured_times_equal (gantry_document_get_settings (again)->measured, gantry_document_get_settings (document)->measured));
  g_assert_cmpfloat (gantry_document_get_plan (again)->total_us, ==, total);
  /* A program compiled anew, with other node ids, is planned with the same times. */
  gantry_document_set_pass_enabled (again, "cse", FALSE);
  doc_wait (again);
  gantry_document_undo (again);
  doc_wait (again);
  g_assert_cmpfloat_with_epsilon (gantry_document_get_plan (again)->total_us, total, 1e-6 * total);
  /* And back: nothing of it stays in the file. */
  g_assert_true (gantry_document_set_measured (again, NULL, &error));
  doc_wait (again);
  g_assert_true (gantry_document_save (again, path, &error));
  g_assert_true (gantry_document_open (document, path, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_null (gantry_document_get_settings (document)->measured);
  g_unlink (path);
  g_rmdir (folder);
}

/* A run of another program, or none at all, is refused with the reason, and nothing changes. */
static void
test_foreign (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE), other = doc_open ("transformer-tiny.gir", FALSE);
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  g_autoptr (GError) error = NULL;

  gantry_recording_builder_add (builder, &(GantryEvent){ .begin = 0, .end = 10, .node = 0x7fffffff });
  run->recording = gantry_recording_builder_end (builder);
  run->plan = gantry_plan_ref (gantry_document_get_plan (other));
  g_assert_false (gantry_document_set_measured (document, run, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "measured no node"));
  g_assert_null (gantry_document_get_undo_name (document));
}

/* Times of this processor are none of a GPU. */
static void
test_elsewhere (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GantryRunResult) run = make_run (document, 2, 7);
  g_autoptr (GError) error = NULL;
  GantryTarget target;

  gantry_document_add_run (document, run);
  gantry_target_init_gpu (&target, gantry_gpu_model ("h100"));
  gantry_document_set_target (document, &target);
  doc_wait (document);
  g_assert_false (gantry_document_set_measured (document, run, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "H100"));
  g_assert_null (gantry_document_get_settings (document)->measured);
}

static GantryForecast
forecast_of (GantryPrediction *prediction, GantryPlacements *placements)
{
  return (GantryForecast){ .prediction = prediction, .placements = placements };
}

static void
add_steps (GantryPrediction *prediction, const guint32 *nodes, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      GantryPlanStep step = { .node = nodes[i], .duration_us = nodes[i] };

      g_array_append_val (prediction->steps, step);
    }
}

/* Order: the fewest steps that were moved; what only one has; values placed otherwise. */
static void
test_changes (void)
{
  static const guint32 first[] = { 1, 2, 3, 4, 5, 6, 6 }, second[] = { 1, 5, 2, 3, 7, 4, 6 };
  GantryPrediction *a = gantry_prediction_new (), *b = gantry_prediction_new ();
  g_autoptr (GantryPlacements) p = gantry_placements_new (), q = gantry_placements_new ();
  const GantryPlacement recomputed = { .node = 4, .kind = GANTRY_PLACEMENT_RECOMPUTE }, offloaded = { .node = 2, .kind = GANTRY_PLACEMENT_OFFLOAD };
  GantryForecast before = forecast_of (a, p), after = forecast_of (b, q);
  const GantryPlanFigures figures = { .fits = TRUE };
  g_autoptr (GantryPlanChanges) changes = NULL;
  g_autofree char *text = NULL;

  add_steps (a, first, G_N_ELEMENTS (first));
  add_steps (b, second, G_N_ELEMENTS (second));
  gantry_placements_set (p, &recomputed);
  gantry_placements_set (q, &recomputed);
  gantry_placements_set (q, &offloaded);
  changes = gantry_plan_changes_new (&before, &figures, &after, &figures);
  g_assert_cmpuint (changes->n_steps, ==, 7);
  g_assert_cmpuint (changes->n_moved, ==, 1); /* 5 */
  g_assert_cmpuint (changes->n_new, ==, 1);   /* 7 */
  g_assert_cmpuint (changes->n_gone, ==, 1);  /* the second 6 */
  g_assert_cmpuint (changes->times->len, ==, 0);
  g_assert_cmpuint (changes->placements->len, ==, 1);
  g_assert_cmpuint (g_array_index (changes->placements, GantryPlacementChange, 0).node, ==, 2);
  g_assert_cmpuint (g_array_index (changes->placements, GantryPlacementChange, 0).before, ==, GANTRY_PLACEMENT_KEEP);
  text = gantry_plan_changes_summary (changes);
  g_assert_cmpstr (text, ==, "1 of 7 steps stand elsewhere, 1 are new, 1 are gone; 1 value is placed otherwise");
  gantry_prediction_free (a);
  gantry_prediction_free (b);
}

/* What a kernel for a GPU leaves in a session comes back. */
static void
test_code (void)
{
  static const char words[] = "\177ELF no machine code";
  g_autofree char *folder = g_dir_make_tmp ("gantry-code-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "a.gantry", NULL);
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", FALSE), again = gantry_document_new ();
  g_autoptr (GantryRunResult) run = make_run (document, 1, 0);
  g_autoptr (GBytes) cubin = g_bytes_new_static (words, sizeof words);
  const GantryCode code = { .node = 7,
                            .kernel = (char *) "k",
                            .kind = (char *) "generated",
                            .assembly = (char *) ".version 8.0",
                            .schedule = (char *) "grid (4)",
                            .arch = (char *) "sm_90a",
                            .cubin = cubin,
                            .is_measured = TRUE,
                            .registers = 40,
                            .spill_store_bytes = 8,
                            .spill_load_bytes = 12,
                            .stack_bytes = 16,
                            .shared_bytes = 4096 };
  const GantryCode plain = { .node = 8, .kernel = (char *) "p", .kind = (char *) "library" };
  const GantryCode *read;
  g_autoptr (GError) error = NULL;

  gantry_run_result_add_code (run, &code, NULL);
  gantry_run_result_add_code (run, &plain, NULL);
  gantry_document_add_run (document, run);
  g_assert_true (gantry_document_save (document, path, &error));
  g_assert_true (gantry_document_open (again, path, NULL, NULL, &error));
  g_assert_no_error (error);
  read = gantry_run_result_code (g_ptr_array_index (gantry_document_get_runs (again), 0), 7);
  g_assert_cmpstr (read->schedule, ==, code.schedule);
  g_assert_cmpstr (read->arch, ==, code.arch);
  g_assert_true (g_bytes_equal (read->cubin, cubin));
  g_assert_true (read->is_measured);
  g_assert_cmpuint (read->registers, ==, 40);
  g_assert_cmpuint (read->spill_store_bytes, ==, 8);
  g_assert_cmpuint (read->spill_load_bytes, ==, 12);
  g_assert_cmpuint (read->stack_bytes, ==, 16);
  g_assert_cmpuint (read->shared_bytes, ==, 4096);
  read = gantry_run_result_code (g_ptr_array_index (gantry_document_get_runs (again), 0), 8);
  g_assert_null (read->cubin);
  g_assert_false (read->is_measured);
  g_unlink (path);
  g_rmdir (folder);
}

/* What was generated once for many kernels is in memory once and in the file once. */
static void
test_same_code (void)
{
  const guint n = 50;
  const gsize length = 256 << 10;
  g_autofree char *folder = g_dir_make_tmp ("gantry-code-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "a.gantry", NULL), *text = g_strnfill (length, 'x');
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", FALSE), again = gantry_document_new ();
  g_autoptr (GantryRunResult) run = make_run (document, 1, 0);
  const GantryCode *first = NULL;
  g_autoptr (GError) error = NULL;
  GStatBuf info;

  for (guint i = 0; i < n; i++)
    {
      GantryCode code = { .node = 100 + i, .kernel = (char *) "k", .kind = (char *) "generated", .llvm_ir = text, .assembly = text };
      const GantryCode *added = gantry_run_result_add_code (run, &code, first);

      first = first != NULL ? first : added;
      g_assert_true (added->llvm_ir == first->llvm_ir && added->assembly == first->assembly);
      if (i == 0) /* another kernel of the same node */
        gantry_run_result_add_code (run, &(GantryCode){ .node = 100, .kernel = (char *) "pack", .kind = (char *) "generated", .llvm_ir = (char *) "other" },
                                    NULL);
    }
  gantry_document_add_run (document, run);
  g_assert_true (gantry_document_save (document, path, &error));
  g_assert_cmpint (g_stat (path, &info), ==, 0);
  g_assert_cmpint (info.st_size, <, (gint64) (4 * length));
  g_assert_true (gantry_document_open (again, path, NULL, NULL, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < n; i++)
    {
      const GantryCode *read = gantry_run_result_code (g_ptr_array_index (gantry_document_get_runs (again), 0), 100 + i);

      g_assert_true (read->llvm_ir == gantry_run_result_code (g_ptr_array_index (gantry_document_get_runs (again), 0), 100)->llvm_ir);
      g_assert_cmpstr (read->llvm_ir, ==, text);
      g_assert_cmpstr (read->assembly, ==, text);
    }
  g_unlink (path);
  g_rmdir (folder);
}

/* Times say what the kernels were made with that were measured, and what is planned is for such: in the settings, in a session, in a
 * file of unsaved work. */
static void
test_conditions (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-measured-XXXXXX", NULL), *path = g_build_filename (folder, "a.gantry", NULL);
  g_autofree char *own = gantry_kernel_conditions_text (&(GantryKernelConditions){ .no_library = TRUE }), *unusual = NULL, *again_unusual = NULL;
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", FALSE), again = gantry_document_new ();
  g_autoptr (GantryRunResult) run = make_run (document, 2, 0), usual = make_run (document, 1, 0);
  g_autoptr (GantryKernelSizes) sizes = gantry_kernel_sizes_new (NULL, NULL);
  g_autofree char *difference = NULL, *elsewhere = NULL;
  g_autoptr (GantryState) state = NULL;
  g_autoptr (GVariant) packed = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  const GantryPlan *plan;

  sizes->conditions = g_strdup (own);
  gantry_plan_unref (run->plan);
  run->plan = gantry_compilation_plan (gantry_document_get_compilation (document), gantry_document_get_settings (document), sizes, NULL, NULL, &error);
  g_assert_no_error (error);
  run->device = (g_free (run->device), g_strdup (gantry_document_get_settings (document)->target.name));
  gantry_document_add_run (document, run);
  elsewhere = gantry_document_predicted_elsewhere (document, run);
  g_assert_true (g_str_has_suffix (elsewhere, " with library"));
  g_assert_true (gantry_document_set_measured (document, run, &error));
  g_assert_no_error (error);
  doc_wait (document);
  unusual = gantry_compile_settings_unusual (gantry_document_get_settings (document));
  g_assert_cmpstr (unusual, ==, "no library");
  g_assert_null (gantry_document_predicted_elsewhere (document, run));
  plan = gantry_document_get_plan (document);
  difference = gantry_document_run_difference (document, usual, plan->steps, plan->n_steps);
  g_assert_nonnull (strstr (difference, "elsewhere than on ")); /* it does not say what it was made with */
  packed = _gantry_state_to_variant (document->state);
  bytes = g_variant_get_data_as_bytes (packed);
  state = _gantry_state_from_bytes (bytes, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (state->settings.measured->conditions, ==, own);
  g_assert_true (gantry_document_save (document, path, &error));
  g_assert_true (gantry_document_open (again, path, NULL, NULL, &error));
  g_assert_no_error (error);
  again_unusual = gantry_compile_settings_unusual (gantry_document_get_settings (again));
  g_assert_cmpstr (again_unusual, ==, "no library");
  g_unlink (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/measured/replan", test_replan);
  g_test_add_func ("/measured/link", test_link);
  g_test_add_func ("/measured/session", test_session);
  g_test_add_func ("/measured/foreign", test_foreign);
  g_test_add_func ("/measured/elsewhere", test_elsewhere);
  g_test_add_func ("/measured/conditions", test_conditions);
  g_test_add_func ("/measured/changes", test_changes);
  g_test_add_func ("/measured/code", test_code);
  g_test_add_func ("/measured/same-code", test_same_code);
  return g_test_run ();
}
