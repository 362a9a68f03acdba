/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the document share. */
#include "tests/core/document/document-test.h"

char *
doc_file (const char *path)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");

  return g_build_filename (root != NULL ? root : ".", path, NULL);
}

GantryDocument *
doc_open (const char *name, gboolean train)
{
  g_autofree char *relative = g_build_filename ("data", "programs", name, NULL);
  g_autofree char *path = doc_file (relative);
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_auto (GantryCompileSettings) settings;
  GantryOpenOptions options = GANTRY_OPEN_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;

  gantry_compile_settings_init (&settings);
  settings.train = train;
  settings.training.optimizer = GANTRY_OPTIMIZER_ADAM;
  options.settings = &settings;
  gantry_document_open (document, path, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_no_error (gantry_document_get_compilation (document)->refusal);
  return g_steal_pointer (&document);
}

void
doc_wait (GantryDocument *document)
{
  gantry_document_wait (document);
  doc_wait_until (!gantry_document_is_busy (document));
}

guint
doc_last (GantryDocument *document)
{
  return gantry_document_get_compilation (document)->n_snapshots - 1;
}

GArray *
doc_residuals (GantryDocument *document)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint n;
  const GantryCandidate *list = gantry_planner_candidates (gantry_document_get_planner (document), &n);

  for (guint i = 0; i < n; i++)
    if (list[i].subject == GANTRY_SUBJECT_RESIDUAL && (list[i].allowed & 1u << GANTRY_PLACEMENT_RECOMPUTE) != 0)
      g_array_append_val (found, list[i].node);
  return found;
}

static void
on_error (GantryDocument *document, const char *what, const GError *error, DocErrors *errors)
{
  doc_errors_clear (errors);
  errors->n++;
  errors->what = g_strdup (what);
  errors->error = g_error_copy (error);
}

void
doc_listen (GantryDocument *document, DocErrors *errors)
{
  g_signal_connect (document, "error", G_CALLBACK (on_error), errors);
}

void
doc_errors_clear (DocErrors *errors)
{
  g_clear_pointer (&errors->what, g_free);
  g_clear_error (&errors->error);
}

static void
check_plan (const GantryPlan *plan, const GantryPlan *expected)
{
  g_assert_true ((plan == NULL) == (expected == NULL));
  if (plan == NULL)
    return;
  g_assert_cmpuint (plan->n_steps, ==, expected->n_steps);
  g_assert_cmpuint (plan->arena_bytes[GANTRY_MEMORY_DEVICE], ==, expected->arena_bytes[GANTRY_MEMORY_DEVICE]);
  g_assert_cmpuint (plan->copied_bytes, ==, expected->copied_bytes);
  g_assert_cmpfloat (plan->total_us, ==, expected->total_us);
}

void
doc_check_consistent (GantryDocument *document)
{
  const GantryCompileSettings *settings = gantry_document_get_settings (document);
  GantryCompilation *compilation = gantry_document_get_compilation (document);
  g_autoptr (GantryCompilation) fresh = NULL;
  g_autoptr (GantryPlacements) placed = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (gantry_compile_settings_same_program (settings, &compilation->settings));
  fresh = gantry_compilation_replan (compilation, settings, NULL, &error);
  g_assert_no_error (error);
  placed = gantry_choices_place_over (settings->choices, settings->policy, gantry_compilation_module (compilation), compilation->keys, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (gantry_placements_equal (placed, gantry_document_get_placements (document)));
  g_assert_true (gantry_placements_equal (placed, gantry_document_get_prediction (document)->placements));
  check_plan (gantry_document_get_plan (document), fresh->plan);
  g_assert_true ((fresh->plan_error == NULL) == (gantry_document_get_plan_error (document) == NULL));
}
