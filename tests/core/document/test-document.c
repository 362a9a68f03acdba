/* SPDX-License-Identifier: Apache-2.0 */
/* The document's life: opening on a thread, edits and their undo, edits that overtake each other, errors that nobody waits
 * for, and a run that goes on while something is edited. */
#include "tests/core/document/document-test.h"
#include "tests/random-seed.h"
#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
  gboolean called;
  gboolean done;
  GError *error;
} Answer;

static void
answer_clear (Answer *answer)
{
  g_clear_error (&answer->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Answer, answer_clear)

static void
opened (GObject *source, GAsyncResult *result, gpointer data)
{
  Answer *answer = data;

  answer->called = TRUE;
  answer->done = gantry_document_open_finish (GANTRY_DOCUMENT (source), result, &answer->error);
}

static void
test_open (void)
{
  g_autofree char *path = doc_file ("data/models/sample.onnx");
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_auto (Answer) answer = { 0 };

  gantry_document_open_async (document, path, NULL, opened, &answer);
  g_assert_true (gantry_document_is_busy (document));
  g_assert_null (gantry_document_get_compilation (document));
  doc_wait_until (answer.called);
  g_assert_no_error (answer.error);
  g_assert_true (answer.done);
  g_assert_false (gantry_document_is_busy (document));
  g_assert_nonnull (gantry_document_get_plan (document));
  g_assert_nonnull (gantry_document_get_prediction (document));
  g_assert_false (gantry_document_get_prediction (document)->has_delta);
  doc_check_consistent (document);
}

/* A second open overtakes the first; a third is cancelled: what is open stays. */
static void
test_open_races (void)
{
  g_autofree char *first = doc_file ("data/models/sample.onnx"), *second = doc_file ("data/models/linear.onnx");
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_auto (Answer) a = { 0 }, b = { 0 }, c = { 0 };

  gantry_document_open_async (document, first, NULL, opened, &a);
  gantry_document_open_async (document, second, NULL, opened, &b);
  doc_wait_until (a.called && b.called);
  g_assert_error (a.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_no_error (b.error);
  g_assert_cmpstr (gantry_document_get_path (document), ==, second);
  gantry_document_open_async (document, first, NULL, opened, &c);
  gantry_document_cancel (document);
  doc_wait_until (c.called);
  g_assert_error (c.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpstr (gantry_document_get_path (document), ==, second);
  g_assert_false (gantry_document_is_busy (document));
}

/* A file that cannot be opened does not swallow the compilation that an edit had asked for. */
static void
test_open_fails_after_edit (void)
{
  g_autoptr (GantryDocument) document = doc_open ("mlp.gir", FALSE);
  g_auto (Answer) answer = { 0 };

  gantry_document_set_pass_enabled (document, "fuse", FALSE);
  gantry_document_open_async (document, "/no/such/file.onnx", NULL, opened, &answer);
  doc_wait_until (answer.called);
  g_assert_nonnull (answer.error);
  doc_wait (document);
  doc_check_consistent (document);
}

/* Dropped while work is under way: nothing is leaked and nothing is called (the sanitizers look). */
static void
test_dropped (void)
{
  g_autofree char *path = doc_file ("data/models/sample.onnx");
  GantryDocument *document = gantry_document_new ();
  g_auto (Answer) answer = { 0 };

  g_object_add_weak_pointer (G_OBJECT (document), (gpointer *) &document);
  gantry_document_open_async (document, path, NULL, opened, &answer);
  g_object_unref (document);
  doc_wait_until (answer.called && document == NULL);
}

static void
test_undo (void)
{
  g_autoptr (GantryDocument) document = doc_open ("mlp.gir", TRUE);
  guint fused = gantry_module_entry (gantry_compilation_module (gantry_document_get_compilation (document)))->n_nodes;
  GantryTrainingOptions sgd;

  gantry_training_options_init (&sgd);
  g_assert_null (gantry_document_get_undo_name (document));
  gantry_document_set_pass_enabled (document, "fuse", FALSE);
  doc_wait (document);
  doc_check_consistent (document);
  g_assert_cmpuint (gantry_module_entry (gantry_compilation_module (gantry_document_get_compilation (document)))->n_nodes, >, fused);
  gantry_document_set_training (document, &sgd);
  gantry_document_set_limit (document, 1 << 20);
  gantry_document_set_limit (document, 2 << 20); /* one with the edit before */
  g_assert_true (gantry_document_set_policy (document, "policy nothing_saveable", NULL));
  doc_wait (document);
  doc_check_consistent (document);
  g_assert_cmpstr (gantry_document_get_undo_name (document), ==, "policy");
  gantry_document_undo (document);
  g_assert_null (gantry_document_get_settings (document)->policy);
  gantry_document_undo (document);
  g_assert_cmpuint (gantry_document_get_settings (document)->target.memory_limit, ==, 0);
  gantry_document_undo (document);
  g_assert_cmpint (gantry_document_get_settings (document)->training.optimizer, ==, GANTRY_OPTIMIZER_ADAM);
  gantry_document_undo (document);
  doc_wait (document);
  doc_check_consistent (document);
  g_assert_null (gantry_document_get_undo_name (document));
  g_assert_cmpuint (gantry_module_entry (gantry_compilation_module (gantry_document_get_compilation (document)))->n_nodes, ==, fused);
  for (guint i = 0; i < 4; i++)
    gantry_document_redo (document);
  doc_wait (document);
  doc_check_consistent (document);
  g_assert_null (gantry_document_get_redo_name (document));
  g_assert_cmpstr (gantry_document_get_settings (document)->policy, ==, "policy nothing_saveable");
  g_assert_cmpuint (gantry_document_get_settings (document)->target.memory_limit, ==, 2 << 20);
  /* A new edit ends what could be done again. */
  gantry_document_undo (document);
  gantry_document_set_limit (document, 0);
  g_assert_null (gantry_document_get_redo_name (document));
  doc_wait (document);
  doc_check_consistent (document);
}

/* One random edit of @document. */
static void
edit (GantryDocument *document, GRand *random)
{
  static const char *const passes[] = { "fuse", "cse", "simplify", "fold" };
  static const guint64 limits[] = { 0, 24 << 10, 1 << 30 };
  static const char *const policies[] = { "policy nothing_saveable", "op:dot keep; * recompute", "role:state offload", "" };
  g_autoptr (GArray) residuals = NULL;

  switch (g_rand_int_range (random, 0, 8))
    {
    case 0: gantry_document_set_pass_enabled (document, passes[g_rand_int_range (random, 0, 4)], g_rand_boolean (random)); break;
    case 1: gantry_document_set_policy (document, policies[g_rand_int_range (random, 0, 4)], NULL); break;
    case 2: gantry_document_set_limit (document, limits[g_rand_int_range (random, 0, 3)]); break;
    case 3: gantry_document_undo (document); break;
    case 4: gantry_document_redo (document); break;
    case 5: gantry_document_set_finite_math (document, g_rand_boolean (random)); break;
    default:
      if (gantry_document_get_planner (document) == NULL)
        break;
      residuals = doc_residuals (document);
      if (residuals->len > 0)
        gantry_document_set_placement (document, doc_last (document),
                                       &g_array_index (residuals, guint32, (guint) g_rand_int_range (random, 0, (gint32) residuals->len)), 1,
                                       g_rand_int_range (random, GANTRY_PLACEMENT_UNSET, GANTRY_N_PLACEMENTS), NULL);
    }
}

/* Edits overtake each other in every way; in the end all that is shown belongs to the last. */
static void
test_edit_races (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GRand) random = test_rand (7);
  g_auto (DocErrors) errors = { 0 };

  doc_listen (document, &errors);
  for (guint round = 0; round < 20; round++)
    {
      for (guint i = 0; i < 15; i++)
        {
          edit (document, random);
          for (gint k = g_rand_int_range (random, 0, 4); k > 0; k--)
            g_main_context_iteration (NULL, FALSE);
          if (g_rand_int_range (random, 0, 10) == 0)
            g_usleep (2000);
        }
      doc_wait (document);
      doc_check_consistent (document);
    }
  g_assert_cmpuint (errors.n, ==, 0);
}

/* A dimension that the model cannot have: the error is told, and the edit is as if it had not been. */
static void
test_bind_dim (void)
{
  g_autofree char *path = doc_file ("data/models/open-batch.onnx");
  g_autoptr (GantryBindings) batch = gantry_bindings_new ();
  GantryOpenOptions options = GANTRY_OPEN_OPTIONS_INIT;
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_auto (DocErrors) errors = { 0 };
  g_autoptr (GError) error = NULL;

  gantry_bindings_set_dim (batch, "batch", 3);
  options.bindings = batch;
  doc_listen (document, &errors);
  gantry_document_open (document, path, &options, NULL, &error);
  g_assert_no_error (error);
  gantry_document_bind_dim (document, "batch", 7);
  doc_wait (document);
  g_assert_cmpint (gantry_document_get_model (document)->bindings->dims[0].size, ==, 7);
  g_assert_cmpstr (gantry_document_get_model (document)->outputs[0].type, ==, "f32[7,4]");
  g_assert_cmpstr (gantry_document_get_undo_name (document), ==, "batch = 7");
  gantry_document_undo (document);
  doc_wait (document);
  g_assert_cmpstr (gantry_document_get_model (document)->outputs[0].type, ==, "f32[3,4]");
  gantry_document_redo (document);
  /* Overtaken by an edit that only compiles: the dimension is bound all the same. */
  gantry_document_set_pass_enabled (document, "cse", FALSE);
  doc_wait (document);
  g_assert_cmpstr (gantry_document_get_model (document)->outputs[0].type, ==, "f32[7,4]");
  doc_check_consistent (document);
  g_assert_cmpuint (errors.n, ==, 0);
  gantry_document_bind_dim (document, "batch", -4);
  doc_wait (document);
  g_assert_cmpuint (errors.n, ==, 1);
  g_assert_nonnull (errors.error);
  g_assert_cmpstr (gantry_document_get_model (document)->outputs[0].type, ==, "f32[7,4]");
  g_assert_cmpstr (gantry_document_get_undo_name (document), ==, "without cse");
  doc_check_consistent (document);
}

/* A value of an input is an edit like any other. */
static void
test_set_input (void)
{
  g_autofree char *path = doc_file ("data/models/rate.onnx");
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GantryBindings) bindings = gantry_bindings_new ();
  g_auto (DocErrors) errors = { 0 };
  g_autoptr (GError) error = NULL;

  doc_listen (document, &errors);
  gantry_document_open (document, path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (gantry_document_get_compilation (document)->refusal);
  gantry_bindings_set_input (bindings, "rate", "16000");
  gantry_document_bind (document, bindings, "rate = 16000");
  doc_wait (document);
  g_assert_null (gantry_document_get_compilation (document)->refusal);
  g_assert_cmpuint (gantry_document_get_model (document)->n_inputs, ==, 1);
  g_assert_cmpstr (gantry_document_get_undo_name (document), ==, "rate = 16000");
  gantry_document_undo (document);
  doc_wait (document);
  g_assert_nonnull (gantry_document_get_compilation (document)->refusal);
  gantry_document_redo (document);
  doc_wait (document);
  g_assert_null (gantry_document_get_compilation (document)->refusal);
  g_assert_cmpuint (errors.n, ==, 0);
  gantry_bindings_set_input (bindings, "rate", "fast");
  gantry_document_bind (document, bindings, "rate = fast");
  doc_wait (document);
  g_assert_cmpuint (errors.n, ==, 1);
  g_assert_cmpstr (gantry_bindings_get_input (gantry_document_get_bindings (document), "rate"), ==, "16000");
  doc_check_consistent (document);
}

/* The model is gone when a dimension is bound anew. */
static void
test_error_signal (void)
{
  g_autofree char *source = doc_file ("data/models/open-batch.onnx");
  g_autofree char *folder = g_dir_make_tmp ("gantry-test-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "m.onnx", NULL);
  g_autofree char *bytes = NULL;
  gsize length;
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_auto (DocErrors) errors = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_get_contents (source, &bytes, &length, NULL));
  g_assert_true (g_file_set_contents (path, bytes, (gssize) length, NULL));
  doc_listen (document, &errors);
  gantry_document_open (document, path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_unlink (path);
  gantry_document_bind_dim (document, "batch", 2);
  doc_wait (document);
  g_assert_cmpuint (errors.n, ==, 1);
  g_assert_nonnull (strstr (errors.error->message, "m.onnx"));
  g_assert_null (gantry_document_get_undo_name (document));
  /* Cancelling is no error. */
  gantry_document_set_pass_enabled (document, "fuse", FALSE);
  gantry_document_cancel (document);
  doc_wait (document);
  g_assert_cmpuint (errors.n, ==, 1);
  g_rmdir (folder);
}

static char *
cli_program (void)
{
  const char *given = g_getenv ("GANTRY_CLI"), *root = g_getenv ("GANTRY_BUILD_ROOT");

  return given != NULL ? g_strdup (given) : g_build_filename (root != NULL ? root : ".", "app", "gantry-cli", NULL);
}

static void
ran (GObject *source, GAsyncResult *result, gpointer data)
{
  Answer *answer = data;

  answer->called = TRUE;
  answer->done = gantry_document_run_finish (GANTRY_DOCUMENT (source), result, &answer->error);
}

/* The ids that the run in the child names are those of the program that is shown, also after the passes ran again here. */
static void
test_run (void)
{
  g_autoptr (GantryDocument) document = doc_open ("mlp.gir", TRUE);
  g_autofree char *cli = cli_program ();
  g_auto (Answer) answer = { 0 };
  const GantryModule *module;
  const GantryRunResult *run;

  gantry_document_set_pass_enabled (document, "cse", FALSE);
  doc_wait (document);
  gantry_document_undo (document); /* not compiled yet when the run is asked for */
  g_assert_true (gantry_document_set_policy (document, "policy nothing_saveable", NULL));
  gantry_document_run_async (document, cli, 2, ran, &answer);
  doc_wait_until (answer.called);
  g_assert_no_error (answer.error);
  doc_wait (document);
  run = gantry_document_get_run (document);
  g_assert_nonnull (run);
  module = gantry_compilation_module (gantry_document_get_compilation (document));
  g_assert_cmpuint (run->plan->n_steps, ==, gantry_document_get_plan (document)->n_steps);
  for (guint32 i = 0; i < run->plan->n_steps; i++)
    {
      const GantryPlanStep *step = &run->plan->steps[i];

      g_assert_nonnull (gantry_module_node (module, step->node));
      g_assert_cmpuint (step->node, ==, gantry_document_get_plan (document)->steps[i].node);
      g_assert_cmpuint (step->kind, ==, gantry_document_get_plan (document)->steps[i].kind);
    }
}

static void
found (GObject *source, GAsyncResult *result, gpointer data)
{
  Answer *answer = data;

  answer->called = TRUE;
  answer->done = gantry_document_find_sizes_finish (GANTRY_DOCUMENT (source), result, &answer->error);
}

/* What kernels need is known before the first run, without an edit, and the plan after it is the one before it; of another
 * program it says nothing. */
static void
test_find_sizes (void)
{
  g_autoptr (GantryDocument) document = doc_open ("convnet.gir", FALSE);
  g_autofree char *cli = cli_program ();
  g_auto (Answer) answer = { 0 }, answer_of_run = { 0 };
  GantryMemoryParts before, known, ran_with, after;

  gantry_plan_memory_parts (gantry_document_get_plan (document), GANTRY_MEMORY_DEVICE, &before);
  g_assert_false (gantry_document_get_plan (document)->sizes_known);
  g_assert_false (gantry_document_get_prediction (document)->prediction->sizes_known);
  gantry_document_find_sizes_async (document, cli, found, &answer);
  g_assert_false (gantry_document_is_busy (document));
  doc_wait_until (answer.called);
  g_assert_no_error (answer.error);
  doc_wait (document);
  g_assert_true (gantry_document_get_plan (document)->sizes_known);
  g_assert_null (gantry_document_get_undo_name (document));
  gantry_plan_memory_parts (gantry_document_get_plan (document), GANTRY_MEMORY_DEVICE, &known);
  g_assert_cmpuint (known.bytes[GANTRY_PART_CODE], >, 0);
  g_assert_cmpuint (known.bytes[GANTRY_PART_ARGUMENTS] + known.bytes[GANTRY_PART_CONSTANTS], >, 0);
  g_assert_cmpuint (gantry_memory_parts_total (&known), ==, gantry_document_get_prediction (document)->prediction->peak_bytes);
  gantry_document_run_async (document, cli, 1, ran, &answer_of_run);
  doc_wait_until (answer_of_run.called);
  g_assert_no_error (answer_of_run.error);
  doc_wait (document);
  gantry_plan_memory_parts (gantry_document_get_run (document)->plan, GANTRY_MEMORY_DEVICE, &ran_with);
  gantry_plan_memory_parts (gantry_document_get_plan (document), GANTRY_MEMORY_DEVICE, &after);
  g_assert_cmpmem (known.bytes, sizeof known.bytes, ran_with.bytes, sizeof ran_with.bytes);
  g_assert_cmpmem (known.bytes, sizeof known.bytes, after.bytes, sizeof after.bytes);
  gantry_document_set_pass_enabled (document, "fuse", FALSE);
  doc_wait (document);
  g_assert_false (gantry_document_get_plan (document)->sizes_known);
}

/* An edit while the child runs leaves the run alone; it is then told apart. */
static void
test_edit_while_running (void)
{
  g_autoptr (GantryDocument) document = doc_open ("mlp.gir", TRUE);
  g_autofree char *cli = cli_program ();
  g_auto (Answer) answer = { 0 };

  gantry_document_run_async (document, cli, 20, ran, &answer);
  doc_wait_until (gantry_document_child_id (document) != NULL);
  gantry_document_set_pass_enabled (document, "fuse", FALSE);
  gantry_document_set_limit (document, 1 << 20);
  doc_wait_until (answer.called);
  g_assert_no_error (answer.error);
  g_assert_true (answer.done);
  g_assert_cmpuint (gantry_document_get_runs (document)->len, ==, 1);
  doc_wait (document);
  doc_check_consistent (document);
  /* Asking for the run to stop does stop it. */
  answer.called = FALSE;
  gantry_document_run_async (document, cli, 1000000, ran, &answer);
  doc_wait_until (gantry_document_child_id (document) != NULL);
  gantry_document_cancel (document);
  doc_wait_until (answer.called);
  g_assert_error (answer.error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* What was run is recognised again after an edit of the program and its undo. */
static void
test_run_after_undo (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GantryRunResult) result = gantry_run_result_new ();
  guint32 before = gantry_compilation_module (gantry_document_get_compilation (document))->nodes[0].id;

  result->name = g_strdup ("a run");
  result->device = g_strdup ("none");
  result->when = g_strdup ("2026-01-01T00:00:00Z");
  result->n_runs = 1;
  result->plan = gantry_plan_ref (gantry_document_get_plan (document));
  gantry_document_add_run (document, result);
  gantry_document_set_pass_enabled (document, "fuse", FALSE);
  gantry_document_wait (document);
  g_assert_null (gantry_document_get_run (document));
  gantry_document_set_limit (document, (guint64) 5 << 30);
  gantry_document_undo (document);
  gantry_document_undo (document);
  gantry_document_wait (document);
  g_assert_true (gantry_document_get_run (document) == result);
  g_assert_cmpuint (gantry_compilation_module (gantry_document_get_compilation (document))->nodes[0].id, ==, before);
  gantry_document_redo (document);
  gantry_document_wait (document);
  g_assert_null (gantry_document_get_run (document));
  gantry_document_undo (document);
  gantry_document_wait (document);
  g_assert_true (gantry_document_get_run (document) == result);
}

/* Going to and fro between two programs does not displace a third. */
static void
test_run_after_many_undos (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GantryRunResult) result = gantry_run_result_new ();

  result->name = g_strdup ("a run");
  result->n_runs = 1;
  result->plan = gantry_plan_ref (gantry_document_get_plan (document));
  gantry_document_add_run (document, result);
  gantry_document_set_pass_enabled (document, "fuse", FALSE);
  gantry_document_wait (document);
  gantry_document_set_pass_enabled (document, "cse", FALSE);
  gantry_document_wait (document);
  for (guint i = 0; i < 10; i++)
    {
      gantry_document_undo (document);
      gantry_document_wait (document);
      gantry_document_redo (document);
      gantry_document_wait (document);
    }
  gantry_document_undo (document);
  gantry_document_undo (document);
  gantry_document_wait (document);
  g_assert_true (gantry_document_get_run (document) == result);
}

/* A plan of its own with the steps of the document's. */
static GantryRunResult *
run_like (GantryDocument *document)
{
  GantryRunResult *run = gantry_run_result_new ();
  const GantryPlan *plan = gantry_document_get_plan (document);

  run->plan = gantry_plan_new (plan->n_steps, plan->n_buffers);
  memcpy (run->plan->steps, plan->steps, plan->n_steps * sizeof *plan->steps);
  memcpy (run->plan->buffers, plan->buffers, plan->n_buffers * sizeof *plan->buffers);
  run->plan->n_init_steps = plan->n_init_steps;
  return run;
}

/* The plan of a run is shown only where it did what is planned now, as it is planned now. */
static void
test_plan_of_run (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  GantryPlan *own = gantry_document_get_plan (document);
  g_autoptr (GantryRunResult) same = run_like (document);

  g_assert_true (gantry_document_get_plan_of_run (document, NULL) == own);
  g_assert_true (gantry_document_get_plan_of_run (document, same) == same->plan);
  /* What other kernels needed is not what those need that are planned for. */
  same->plan->sizes_known = TRUE;
  g_assert_true (gantry_document_get_plan_of_run (document, same) == own);
  same->plan->kernels = gantry_kernel_conditions_text (&(GantryKernelConditions){ .no_library = TRUE });
  g_assert_true (gantry_document_get_plan_of_run (document, same) == own);
  g_free (same->plan->kernels);
  same->plan->kernels = gantry_kernel_conditions_text (&(GantryKernelConditions){ 0 });
  g_assert_true (gantry_document_get_plan_of_run (document, same) == same->plan);
  for (guint what = 0; what < 5; what++)
    {
      g_autoptr (GantryRunResult) other = run_like (document);
      GantryPlanStep *last = &other->plan->steps[own->n_steps - 1];

      if (what == 0)
        last->duration_us = 2 * last->duration_us + 1;
      else if (what == 1)
        last->instance = !last->instance;
      else if (what == 2)
        other->plan->n_init_steps++;
      else if (what == 3)
        other->plan->buffers[0].node = G_MAXUINT32; /* of another program */
      else
        other->other_model = g_strdup ("another");
      g_assert_true (gantry_document_get_plan_of_run (document, other) == own);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/document/open", test_open);
  g_test_add_func ("/document/open-races", test_open_races);
  g_test_add_func ("/document/open-fails-after-edit", test_open_fails_after_edit);
  g_test_add_func ("/document/dropped", test_dropped);
  g_test_add_func ("/document/undo", test_undo);
  g_test_add_func ("/document/run-after-many-undos", test_run_after_many_undos);
  g_test_add_func ("/document/edit-races", test_edit_races);
  g_test_add_func ("/document/bind-dim", test_bind_dim);
  g_test_add_func ("/document/set-input", test_set_input);
  g_test_add_func ("/document/error-signal", test_error_signal);
  g_test_add_func ("/document/run", test_run);
  g_test_add_func ("/document/run-after-undo", test_run_after_undo);
  g_test_add_func ("/document/plan-of-run", test_plan_of_run);
  g_test_add_func ("/document/find-sizes", test_find_sizes);
  g_test_add_func ("/document/edit-while-running", test_edit_while_running);
  return g_test_run ();
}
