/* SPDX-License-Identifier: Apache-2.0 */
/* The limit of memory stays what the user gave: a part stays a part, through other programs, sizes of kernels, variants, undo and the
 * session file; and what a search needed to find its answer becomes no limit. */
#include "tests/core/document/document-test.h"
#include "core/planner/machine.h"
#include <glib/gstdio.h>

static const GantryTarget *
target_of (GantryDocument *document)
{
  return &gantry_document_get_settings (document)->target;
}

/* Of keeping everything, as far as it is known. */
static guint64
kept_bytes (GantryDocument *document)
{
  g_autoptr (GantryPrediction) prediction = gantry_prediction_new ();

  gantry_planner_predict_within (gantry_document_get_planner (document), NULL, 0, prediction);
  return prediction->peak_bytes;
}

static void
check_part (GantryDocument *document, double part)
{
  g_assert_cmpfloat (target_of (document)->memory_part, ==, part);
  g_assert_cmpuint (target_of (document)->memory_limit, ==, (guint64) (part * (double) kept_bytes (document)));
  doc_check_consistent (document);
}

static void
know_sizes (GantryDocument *document, guint64 code_bytes)
{
  g_autofree char *program = gantry_module_content (gantry_compilation_module (gantry_document_get_compilation (document)));
  g_autoptr (GantryKernelSizes) sizes = gantry_kernel_sizes_new (program, "a processor");

  sizes->conditions = gantry_kernel_conditions_text (&(GantryKernelConditions){ 0 });
  sizes->code_bytes = code_bytes;
  gantry_document_set_kernel_sizes (document, sizes);
  doc_wait (document);
}

/* What was measured of this machine comes into what is planned for it, is no edit, and does not stand in the session file. */
static void
test_machine (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GError) error = NULL;
  GantryTarget measured;
  double before = gantry_document_get_prediction (document)->prediction->step_us;
  gboolean modified, before_modified;

  gantry_document_take_machine (document); /* nothing is kept for this process */
  doc_wait (document);
  g_assert_cmpfloat (gantry_document_get_prediction (document)->prediction->step_us, ==, before);
  gantry_target_init_cpu (&measured, 0);
  g_strlcpy (measured.measured, "2026-11-28T01:02:03Z", sizeof measured.measured);
  measured.run_us = 1e6;
  gantry_curve_add (&measured.curves[GANTRY_WORK_BYTES], 1000, 1);
  g_assert_true (gantry_machine_keep (&measured, 0, &error));
  g_assert_no_error (error);
  g_unsetenv (GANTRY_MACHINE_ENVIRONMENT);
  gantry_machine_enable ();
  g_object_get (document, "modified", &before_modified, NULL);
  gantry_document_take_machine (document);
  doc_wait (document);
  g_object_get (document, "modified", &modified, NULL);
  g_assert_cmpint (modified, ==, before_modified);
  g_assert_cmpfloat (gantry_document_get_prediction (document)->prediction->step_us, >, 1e6);
  gantry_document_set_limit_part (document, 0.75);
  doc_wait (document);
  check_part (document, 0.75);
  gantry_document_undo (document);
  doc_wait (document);
  g_assert_cmpfloat (gantry_document_get_prediction (document)->prediction->step_us, >, 1e6);
  g_setenv (GANTRY_MACHINE_ENVIRONMENT, "off", TRUE);
  gantry_machine_enable ();
}

static void
test_part (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  guint64 unknown, known;

  gantry_document_set_limit_part (document, 0.75);
  doc_wait (document);
  check_part (document, 0.75);
  unknown = target_of (document)->memory_limit;
  know_sizes (document, 1 << 20);
  check_part (document, 0.75);
  known = target_of (document)->memory_limit;
  g_assert_cmpuint (known, >=, unknown + (3 << 18));
  gantry_document_set_pass_enabled (document, "fuse", FALSE); /* another program, of whose kernels nothing is known */
  doc_wait (document);
  check_part (document, 0.75);
  g_assert_cmpuint (target_of (document)->memory_limit, !=, known);
  gantry_document_undo (document);
  doc_wait (document);
  check_part (document, 0.75);
  gantry_document_undo (document); /* the limit */
  doc_wait (document);
  g_assert_cmpuint (target_of (document)->memory_limit, ==, 0);
  gantry_document_redo (document);
  doc_wait (document);
  check_part (document, 0.75);
  gantry_document_set_limit (document, target_of (document)->memory_limit); /* the same bytes, given as bytes */
  doc_wait (document);
  g_assert_cmpfloat (target_of (document)->memory_part, ==, 0);
}

/* Given before a program can be planned, it holds once one can. */
static void
test_part_before_sizes (void)
{
  g_autofree char *path = doc_file ("data/models/open-batch.onnx");
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GError) error = NULL;
  const GantryCompilation *compilation;

  g_assert_true (gantry_document_open (document, path, NULL, NULL, &error));
  compilation = gantry_document_get_compilation (document);
  g_assert_nonnull (compilation->refusal);
  gantry_document_set_limit_part (document, 0.5);
  doc_wait (document);
  g_assert_cmpuint (target_of (document)->memory_limit, ==, 0);
  for (gint64 batch = 1; batch <= 8; batch *= 8)
    {
      gantry_document_bind_dim (document, compilation->model->unbound[0], batch);
      doc_wait (document);
      check_part (document, 0.5);
      compilation = gantry_document_get_compilation (document);
      g_assert_null (compilation->refusal);
      if (batch == 1)
        {
          gantry_document_undo (document);
          doc_wait (document);
          compilation = gantry_document_get_compilation (document);
        }
    }
}

/* A file keeps it, and so do its variants; what it comes to is not what the user has set. */
static void
test_part_in_session (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-limit-XXXXXX", NULL), *path = g_build_filename (folder, "x.gantry", NULL);
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE), again = gantry_document_new ();
  g_autoptr (GantryVariant) variant = NULL;
  g_autoptr (GError) error = NULL;

  gantry_document_set_limit_part (document, 0.6);
  doc_wait (document);
  variant = gantry_document_make_variant (document, "a part");
  gantry_document_add_variant (document, variant);
  gantry_document_set_limit (document, 12345678);
  doc_wait (document);
  g_assert_true (gantry_document_save (document, path, &error));
  g_assert_true (gantry_document_open (again, path, NULL, NULL, &error));
  g_assert_cmpfloat (target_of (again)->memory_part, ==, 0);
  g_assert_cmpuint (target_of (again)->memory_limit, ==, 12345678);
  gantry_document_load_variant (again, g_ptr_array_index (gantry_document_get_variants (again), 0));
  doc_wait (again);
  check_part (again, 0.6);
  g_assert_true (gantry_document_save (again, NULL, &error));
  g_assert_true (gantry_document_open (document, path, NULL, NULL, &error));
  g_assert_no_error (error);
  check_part (document, 0.6);
  g_unlink (path);
  g_rmdir (folder);
}

static void
note_change (GObject *document G_GNUC_UNUSED, GParamSpec *what G_GNUC_UNUSED, gpointer changed)
{
  *(gboolean *) changed = TRUE;
}

/* The limit of a variant that is a part of the peak is that part of the program's peak as it is now: after a pass is switched too. */
static void
test_part_of_variant (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GantryVariant) variant = NULL;
  const GantryVariant *now;
  gboolean changed = FALSE;
  guint64 before;

  gantry_document_set_limit_part (document, 0.75);
  doc_wait (document);
  variant = gantry_document_make_variant (document, "a part");
  before = variant->limit;
  g_assert_cmpuint (before, ==, target_of (document)->memory_limit);
  gantry_document_add_variant (document, variant);
  gantry_document_set_limit (document, 0);
  gantry_document_set_pass_enabled (document, "fuse", FALSE);
  doc_wait (document);
  g_signal_connect (document, "notify::variants", G_CALLBACK (note_change), &changed);
  gantry_document_predict_variants (document);
  doc_wait_until (changed);
  now = gantry_document_get_figures (document, variant);
  g_assert_true (now != variant && gantry_document_is_current (document, now));
  g_assert_cmpfloat (now->limit_part, ==, 0.75);
  g_assert_cmpuint (now->limit, ==, (guint64) (0.75 * (double) kept_bytes (document)));
  g_assert_cmpuint (now->limit, !=, before);
  gantry_document_load_variant (document, variant);
  doc_wait (document);
  check_part (document, 0.75);
  g_assert_cmpuint (target_of (document)->memory_limit, ==, now->limit);
}

/* What a search finds is loaded as it was found, copies and peak, and sets no limit; kept in a file it is the same. */
static void
test_no_limit_of_search (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-limit-XXXXXX", NULL), *path = g_build_filename (folder, "x.gantry", NULL);
  g_autoptr (GantryDocument) document = doc_open ("layers-tiny.gir", TRUE), again = gantry_document_new ();
  g_autoptr (GError) error = NULL;
  const guint64 peak = kept_bytes (document);
  guint n_fetch = 0;

  for (guint percent = 50; percent <= 70; percent += 20)
    {
      GantrySolveGoal goal = { .memory_bytes = peak * percent / 100, .allowed = 1u << GANTRY_PLACEMENT_KEEP | 1u << GANTRY_PLACEMENT_OFFLOAD };
      g_autoptr (GantryVariant) found = gantry_document_solve (document, &goal, NULL, &error);
      GantryPlanFigures figures;

      g_assert_no_error (error);
      n_fetch += found->choices->fetch_limit != 0;
      g_assert_cmpuint (found->limit, ==, 0);
      gantry_document_load_variant (document, found);
      doc_wait (document);
      g_assert_cmpuint (target_of (document)->memory_limit, ==, 0);
      g_assert_true (gantry_document_get_plan_figures (document, &figures));
      g_assert_cmpuint (figures.peak_bytes, ==, found->figures.peak_bytes);
      g_assert_cmpfloat (figures.step_us, ==, found->figures.step_us);
      g_assert_true (gantry_document_save (document, path, &error));
      g_assert_true (gantry_document_open (again, path, NULL, NULL, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (target_of (again)->memory_limit, ==, 0);
      g_assert_true (gantry_document_get_plan_figures (again, &figures));
      g_assert_cmpuint (figures.peak_bytes, ==, found->figures.peak_bytes);
    }
  g_assert_cmpuint (n_fetch, >, 0);
  g_unlink (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/limit/machine", test_machine);
  g_test_add_func ("/limit/part", test_part);
  g_test_add_func ("/limit/part-before-sizes", test_part_before_sizes);
  g_test_add_func ("/limit/part-in-session", test_part_in_session);
  g_test_add_func ("/limit/part-of-variant", test_part_of_variant);
  g_test_add_func ("/limit/no-limit-of-search", test_no_limit_of_search);
  return g_test_run ();
}
