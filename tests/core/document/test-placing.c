/* SPDX-License-Identifier: Apache-2.0 */
/* Placements by click: told at once, planned on a thread, undone, followed from earlier snapshots, kept through other
 * compilations; sets of values; variants; the solver. */
#include "core/document/size.h"
#include "core/graph/operation.h"
#include "core/plan/compression.h"
#include "tests/core/document/document-test.h"
#include <glib/gstdio.h>
#include <string.h>

static GantryPlacementKind
kind_of (GantryDocument *document, guint32 node)
{
  return gantry_placements_kind (gantry_document_get_placements (document), node);
}

static guint
n_choices (GantryDocument *document)
{
  const GantryChoices *choices = gantry_document_get_settings (document)->choices;

  return choices != NULL ? choices->entries->len : 0;
}

static guint
n_steps_of (const GantryPlan *plan, GantryStepKind kind)
{
  guint n = 0;

  for (guint32 i = 0; i < plan->n_steps; i++)
    n += plan->steps[i].kind == kind;
  return n;
}

static void
count (GObject *object, GParamSpec *property, guint *n)
{
  (*n)++;
}

/* The answer is there when the call returns; the plan comes later and says the same. */
static void
test_click (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GArray) residuals = doc_residuals (document);
  g_autoptr (GantryForecast) before = gantry_forecast_ref (gantry_document_get_prediction (document));
  guint placed = 0, predicted = 0, planned = 0;
  const GantryForecast *after;

  g_assert_cmpuint (residuals->len, >, 10);
  g_signal_connect (document, "notify::placements", G_CALLBACK (count), &placed);
  g_signal_connect (document, "notify::prediction", G_CALLBACK (count), &predicted);
  g_signal_connect (document, "notify::plan", G_CALLBACK (count), &planned);
  g_assert_cmpuint (
    gantry_document_set_placement (document, doc_last (document), (const guint32 *) (gpointer) residuals->data, residuals->len, GANTRY_PLACEMENT_OFFLOAD, NULL),
    ==, residuals->len);
  g_assert_cmpuint (placed, ==, 1);
  g_assert_cmpuint (predicted, ==, 1);
  g_assert_cmpuint (planned, ==, 0);
  after = gantry_document_get_prediction (document);
  g_assert_true (after->has_delta);
  g_assert_cmpint (after->peak_delta, ==, (gint64) after->prediction->peak_bytes - (gint64) before->prediction->peak_bytes);
  g_assert_cmpint (after->peak_delta, <, 0);
  g_assert_cmpint (after->copied_delta, >, 0);
  g_assert_cmpfloat (after->step_delta_us, >=, 0);
  g_assert_cmpuint (after->prediction->live->len, ==, after->prediction->n_steps);
  doc_wait (document);
  g_assert_cmpuint (planned, ==, 1);
  doc_check_consistent (document);
  g_assert_cmpuint (n_steps_of (gantry_document_get_plan (document), GANTRY_STEP_COPY), >, residuals->len);
  g_assert_cmpuint (gantry_plan_least_bytes (gantry_document_get_plan (document)), ==, after->prediction->peak_bytes);
  g_assert_cmpfloat_with_epsilon (gantry_document_get_plan (document)->total_us, after->prediction->step_us, 1e-6);
  for (guint i = 0; i < residuals->len; i++)
    {
      const GantryPlacement *entry = gantry_placements_find (gantry_document_get_placements (document), g_array_index (residuals, guint32, i));

      g_assert_nonnull (entry);
      g_assert_cmpuint (entry->decider, ==, GANTRY_DECIDED_BY_CLICK);
      g_assert_cmpuint (entry->kind, ==, GANTRY_PLACEMENT_OFFLOAD);
    }
  gantry_document_undo (document);
  after = gantry_document_get_prediction (document);
  g_assert_cmpuint (after->prediction->peak_bytes, ==, before->prediction->peak_bytes);
  g_assert_cmpfloat (after->prediction->step_us, ==, before->prediction->step_us);
  g_assert_cmpint (after->peak_delta, >, 0);
  doc_wait (document);
  doc_check_consistent (document);
  g_assert_cmpuint (n_steps_of (gantry_document_get_plan (document), GANTRY_STEP_COPY), ==, 0);
  gantry_document_set_placement (document, doc_last (document), (const guint32 *) (gpointer) residuals->data, 3, GANTRY_PLACEMENT_RECOMPUTE, NULL);
  doc_wait (document);
  doc_check_consistent (document);
  g_assert_cmpuint (n_steps_of (gantry_document_get_plan (document), GANTRY_STEP_RECOMPUTE), >, 0);
}

/* Residuals in fewer bits: predicted at once, planned as predicted, undone, kept by a session; what cannot be is refused with the reason. */
static void
test_fewer_bits (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE), again = gantry_document_new ();
  g_autoptr (GArray) residuals = doc_residuals (document);
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("gantry-fewer-XXXXXX", NULL), *path = g_build_filename (folder, "fewer.gantry", NULL), *told = NULL, *loaded = NULL,
                  *why = NULL, *none = NULL;
  GantryCompressionSums sums;
  guint placed, parameter = gantry_compilation_module (gantry_document_get_compilation (document))->nodes[1].id;

  placed = gantry_document_set_placement (document, doc_last (document), (const guint32 *) (gpointer) residuals->data, residuals->len, GANTRY_PLACEMENT_INT8,
                                          NULL);
  g_assert_cmpuint (placed, >, 0);
  g_assert_cmpint (gantry_document_get_prediction (document)->peak_delta, !=, 0);
  doc_wait (document);
  doc_check_consistent (document);
  told = gantry_plan_approximate_text (gantry_document_get_plan (document));
  g_assert_true (g_str_has_prefix (told, "approximate: "));
  gantry_plan_sum_compression (gantry_document_get_plan (document), &sums);
  g_assert_cmpuint (sums.values, >, 0);
  g_assert_cmpuint (sums.values, <=, placed);
  g_assert_true (gantry_document_save (document, path, &error));
  g_assert_true (gantry_document_open (again, path, NULL, NULL, &error));
  doc_wait (again);
  loaded = gantry_plan_approximate_text (gantry_document_get_plan (again));
  g_assert_cmpstr (loaded, ==, told);
  gantry_document_undo (document);
  doc_wait (document);
  g_assert_null (none = gantry_plan_approximate_text (gantry_document_get_plan (document)));
  g_assert_cmpuint (gantry_document_set_placement (document, doc_last (document), &parameter, 1, GANTRY_PLACEMENT_BF16, &why), ==, 0);
  g_assert_nonnull (strstr (why, "only residuals"));
  g_unlink (path);
  g_rmdir (folder);
}

/* Edits of the same values right after each other are one; of others, or after an undo, they are not. */
static void
test_merge (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GArray) residuals = doc_residuals (document);
  guint32 a = g_array_index (residuals, guint32, 0), b = g_array_index (residuals, guint32, 1);
  guint last = doc_last (document);

  gantry_document_set_placement (document, last, &a, 1, GANTRY_PLACEMENT_RECOMPUTE, NULL);
  gantry_document_set_placement (document, last, &a, 1, GANTRY_PLACEMENT_OFFLOAD, NULL);
  gantry_document_set_placement (document, last, &a, 1, GANTRY_PLACEMENT_KEEP, NULL);
  gantry_document_set_placement (document, last, &b, 1, GANTRY_PLACEMENT_RECOMPUTE, NULL);
  g_assert_cmpuint (n_choices (document), ==, 2);
  gantry_document_undo (document);
  g_assert_cmpint (kind_of (document, b), ==, GANTRY_PLACEMENT_KEEP);
  g_assert_cmpuint (n_choices (document), ==, 1);
  gantry_document_undo (document);
  g_assert_cmpuint (n_choices (document), ==, 0);
  g_assert_null (gantry_document_get_undo_name (document));
  gantry_document_redo (document);
  g_assert_cmpuint (n_choices (document), ==, 1);
  gantry_document_set_placement (document, last, &a, 1, GANTRY_PLACEMENT_RECOMPUTE, NULL);
  gantry_document_undo (document);
  g_assert_cmpuint (n_choices (document), ==, 1);
  g_assert_cmpint (kind_of (document, a), ==, GANTRY_PLACEMENT_KEEP);
  /* Setting what is set is no edit, and taking a click back is one. */
  gantry_document_set_placement (document, last, &a, 1, GANTRY_PLACEMENT_KEEP, NULL);
  g_assert_nonnull (gantry_document_get_redo_name (document));
  g_assert_cmpuint (gantry_document_set_placement (document, last, &a, 1, GANTRY_PLACEMENT_UNSET, NULL), ==, 1);
  g_assert_cmpuint (n_choices (document), ==, 0);
  doc_wait (document);
  doc_check_consistent (document);
}

static void
test_refused (void)
{
  g_autoptr (GantryDocument) document = doc_open ("mlp.gir", TRUE);
  const GantryModule *module = gantry_compilation_module (gantry_document_get_compilation (document));
  guint32 parameter = module->nodes[1].id;
  g_autofree char *why = NULL, *nothing = NULL;
  g_autoptr (GError) error = NULL;
  guint32 backward = 0;

  g_assert_cmpuint (gantry_document_set_placement (document, doc_last (document), &parameter, 1, GANTRY_PLACEMENT_RECOMPUTE, &why), ==, 0);
  g_assert_nonnull (strstr (why, "1 of 1 value cannot take \"recompute\""));
  g_assert_null (gantry_document_get_undo_name (document));
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (module->nodes[i].phase == GANTRY_PHASE_BACKWARD && gantry_planner_candidate_of (gantry_document_get_planner (document), module->nodes[i].id) < 0)
      backward = module->nodes[i].id;
  g_assert_cmpuint (backward, !=, 0);
  g_assert_cmpuint (gantry_document_set_placement (document, doc_last (document), &backward, 1, GANTRY_PLACEMENT_OFFLOAD, &nothing), ==, 0);
  g_assert_nonnull (nothing);
  g_assert_false (gantry_document_set_policy (document, "op:dot keep;\nop:dot fly", &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_null (gantry_document_get_settings (document)->policy);
  g_assert_null (gantry_document_get_undo_name (document));
}

/* A click on what the file has is a click on what became of it. */
static void
test_earlier_snapshot (void)
{
  g_autoptr (GantryDocument) document = doc_open ("mlp.gir", TRUE);
  const GantryModule *import = gantry_document_get_compilation (document)->snapshots[0].module;
  guint n_set = 0;

  for (guint32 i = 0; i < import->n_nodes; i++)
    {
      guint32 id = import->nodes[i].id;
      g_autoptr (GArray) values = gantry_document_placeable (document, 0, &id, 1);

      if (import->nodes[i].op == GANTRY_OP_PARAMETER)
        g_assert_cmpuint (values->len, >, 0);
      if (values->len == 0)
        continue;
      g_assert_cmpuint (gantry_document_set_placement (document, 0, &id, 1, GANTRY_PLACEMENT_OFFLOAD, NULL), ==, values->len);
      for (guint k = 0; k < values->len; k++)
        g_assert_cmpint (kind_of (document, g_array_index (values, guint32, k)), ==, GANTRY_PLACEMENT_OFFLOAD);
      n_set++;
    }
  g_assert_cmpuint (n_set, >, 4);
  doc_wait (document);
  doc_check_consistent (document);
  g_assert_cmpuint (gantry_document_get_plan (document)->copied_bytes, >, 0);
}

/* The scope of a layer holds what lies in it, and every value of it has its twin in the other layer. */
static void
test_sets (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  const GantryModule *module = gantry_compilation_module (gantry_document_get_compilation (document));
  g_autoptr (GArray) all = gantry_document_placeable_in_scope (document, "");
  g_autoptr (GArray) first = gantry_document_placeable_in_scope (document, "encoder/layer.0");
  g_autoptr (GArray) second = gantry_document_placeable_in_scope (document, "encoder/layer.1");
  g_autoptr (GArray) part = gantry_document_placeable_in_scope (document, "encoder/layer");
  g_autoptr (GArray) alike = gantry_document_placeable_alike (document, doc_last (document), (const guint32 *) (gpointer) first->data, first->len);
  guint twins = 0;

  g_assert_cmpuint (first->len, >, 10);
  g_assert_cmpuint (all->len, >, first->len + second->len);
  g_assert_cmpuint (part->len, ==, 0); /* no scope of that name, only names that begin so */
  for (guint i = 0; i < alike->len; i++)
    {
      const GantryNode *node = gantry_module_node (module, g_array_index (alike, guint32, i));
      const char *scope = gantry_context_scope_path (module->context, node->scope);

      g_assert_true (g_str_has_prefix (scope, "encoder/layer.0") || g_str_has_prefix (scope, "encoder/layer.1"));
      twins += g_str_has_prefix (scope, "encoder/layer.1");
    }
  g_assert_cmpuint (alike->len - twins, ==, first->len);
  g_assert_cmpuint (twins * 2, >, first->len); /* but for what is special about the first or the last layer */
}

/* A click names a value, not an id: other passes, and those as before again, find it. */
static void
test_kept_through_compilations (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GArray) residuals = doc_residuals (document);
  g_autoptr (GantryPlacements) before = NULL;
  guint n = residuals->len;

  gantry_document_set_placement (document, doc_last (document), (const guint32 *) (gpointer) residuals->data, n, GANTRY_PLACEMENT_RECOMPUTE, NULL);
  doc_wait (document);
  before = gantry_placements_ref (gantry_document_get_placements (document));
  gantry_document_set_pass_enabled (document, "cse", FALSE);
  doc_wait (document);
  doc_check_consistent (document);
  g_assert_cmpuint (gantry_document_get_placements (document)->entries->len, >, 0);
  gantry_document_set_pass_enabled (document, "cse", TRUE);
  doc_wait (document);
  doc_check_consistent (document);
  g_assert_cmpuint (gantry_document_get_placements (document)->entries->len, ==, before->entries->len);
  g_assert_cmpuint (n_choices (document), ==, n);
}

/* Figures of a variant are of a program: after a pass is switched they are of before, until they are predicted anew; then they are what
 * they are once it is loaded. Undo finds the first ones again. */
static void
test_figures (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GantryVariant) keep = gantry_document_make_variant (document, "keep all");
  const GantryVariant *now;
  GantryPlanFigures figures;
  guint changes = 0;

  g_assert_true (gantry_document_is_current (document, keep) && gantry_variant_fits (keep));
  gantry_document_add_variant (document, keep);
  g_assert_true (gantry_document_set_policy (document, "policy nothing_saveable", NULL));
  gantry_document_set_limit (document, 1 << 12); /* that of the variant is its own */
  doc_wait (document);
  g_assert_true (gantry_document_is_current (document, keep));
  gantry_document_set_limit (document, 0);
  gantry_document_set_pass_enabled (document, "fuse", FALSE);
  doc_wait (document);
  g_assert_false (gantry_document_is_current (document, gantry_document_get_figures (document, keep)));
  g_signal_connect (document, "notify::variants", G_CALLBACK (count), &changes);
  gantry_document_predict_variants (document);
  doc_wait_until (changes > 0);
  now = gantry_document_get_figures (document, keep);
  g_assert_true (now != keep && gantry_document_is_current (document, now));
  g_assert_cmpstr (now->name, ==, keep->name);
  g_assert_cmpuint (now->figures.peak_bytes, !=, keep->figures.peak_bytes);
  gantry_document_load_variant (document, keep);
  doc_wait (document);
  g_assert_true (gantry_document_get_plan_figures (document, &figures));
  g_assert_cmpmem (&now->figures, sizeof figures, &figures, sizeof figures);
  g_assert_cmpuint (gantry_document_get_variants (document)->len, ==, 1);
  g_assert_true (g_ptr_array_index (gantry_document_get_variants (document), 0) == keep); /* no edit */
}

/* One that does not fit its limit is known as such, also where it is predicted anew. */
static void
test_figures_unfit (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GantryVariant) small = NULL;
  guint changes = 0;

  gantry_document_set_limit (document, 1 << 12);
  doc_wait (document);
  small = gantry_document_make_variant (document, "small");
  g_assert_true (small->predicted && !gantry_variant_fits (small));
  gantry_document_add_variant (document, small);
  gantry_document_set_limit (document, 0);
  gantry_document_set_pass_enabled (document, "fuse", FALSE);
  doc_wait (document);
  g_signal_connect (document, "notify::variants", G_CALLBACK (count), &changes);
  gantry_document_predict_variants (document);
  doc_wait_until (changes > 0);
  g_assert_true (gantry_document_is_current (document, gantry_document_get_figures (document, small)));
  g_assert_false (gantry_variant_fits (gantry_document_get_figures (document, small)));
}

/* What kernels need comes a while after a program: no difference of placements is made of it, and once it is known of two programs the
 * one is compared with the other, whatever was shown between. */
static void
test_difference_of_sizes (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  guint64 peak = 0;

  g_assert_false (gantry_document_get_prediction (document)->has_delta);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *program = NULL;
      g_autoptr (GantryKernelSizes) sizes = NULL;
      const GantryForecast *now;

      program = gantry_module_content (gantry_compilation_module (gantry_document_get_compilation (document)));
      sizes = gantry_kernel_sizes_new (program, "a processor");
      sizes->conditions = gantry_kernel_conditions_text (&(GantryKernelConditions){ 0 });
      sizes->code_bytes = 1 << 20;
      gantry_document_set_kernel_sizes (document, sizes);
      doc_wait (document);
      now = gantry_document_get_prediction (document);
      g_assert_true (now->prediction->sizes_known);
      g_assert_cmpint (now->has_delta != FALSE, ==, i > 0);
      if (i > 0)
        g_assert_cmpint (now->peak_delta, ==, (gint64) now->prediction->peak_bytes - (gint64) peak);
      peak = now->prediction->peak_bytes;
      gantry_document_set_pass_enabled (document, "fuse", i > 0);
      doc_wait (document);
      g_assert_false (gantry_document_get_prediction (document)->prediction->sizes_known);
      g_assert_false (gantry_document_get_prediction (document)->has_delta);
    }
}

static const GantryVariant *
variant (GantryDocument *document, guint index)
{
  return g_ptr_array_index (gantry_document_get_variants (document), index);
}

static void
test_variants (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GantryVariant) keep = gantry_document_make_variant (document, "keep all");
  g_autoptr (GantryVariant) little = NULL;
  guint changes = 0;

  g_assert_true (keep->predicted);
  g_assert_cmpuint (keep->figures.peak_bytes, ==, gantry_document_get_prediction (document)->prediction->peak_bytes);
  g_signal_connect (document, "notify::variants", G_CALLBACK (count), &changes);
  gantry_document_add_variant (document, keep);
  g_assert_true (gantry_document_set_policy (document, "role:state offload", NULL));
  gantry_document_set_limit (document, 1 << 20);
  doc_wait (document);
  little = gantry_document_make_variant (document, "little");
  g_assert_cmpuint (little->figures.peak_bytes, <, keep->figures.peak_bytes);
  gantry_document_add_variant (document, little);
  g_assert_cmpuint (gantry_document_get_variants (document)->len, ==, 2);
  g_assert_cmpuint (changes, ==, 2);
  gantry_document_load_variant (document, keep);
  g_assert_null (gantry_document_get_settings (document)->policy);
  g_assert_cmpuint (gantry_document_get_settings (document)->target.memory_limit, ==, 0);
  doc_wait (document);
  doc_check_consistent (document);
  g_assert_cmpuint (gantry_document_get_prediction (document)->prediction->peak_bytes, ==, keep->figures.peak_bytes);
  gantry_document_undo (document);
  g_assert_cmpstr (gantry_document_get_settings (document)->policy, ==, "role:state offload");
  gantry_document_rename_variant (document, "little", "least");
  gantry_document_rename_variant (document, "least", "keep all"); /* taken: nothing happens */
  g_assert_cmpstr (variant (document, 1)->name, ==, "least");
  gantry_document_delete_variant (document, "keep all");
  g_assert_cmpuint (gantry_document_get_variants (document)->len, ==, 1);
  gantry_document_undo (document);
  gantry_document_undo (document);
  g_assert_cmpstr (variant (document, 0)->name, ==, "keep all");
  g_assert_cmpstr (variant (document, 1)->name, ==, "little");
  doc_wait (document);
  doc_check_consistent (document);
}

/* One function has the figures of the plan and of what is predicted; what does not fit says so, however it is asked. */
static void
test_plan_figures (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  const GantryPlan *plan;
  GantryPlanFigures of_document, of_plan, of_prediction;
  guint64 peak;

  doc_wait (document);
  plan = gantry_document_get_plan (document);
  gantry_plan_figures (plan, &of_plan);
  g_assert_true (gantry_document_get_plan_figures (document, &of_document));
  g_assert_cmpmem (&of_document, sizeof of_document, &of_plan, sizeof of_plan);
  gantry_prediction_figures (gantry_document_get_prediction (document)->prediction, &of_prediction);
  g_assert_cmpuint (of_prediction.parts.bytes[GANTRY_PART_ARGUMENTS], ==, of_plan.parts.bytes[GANTRY_PART_ARGUMENTS]);
  g_assert_cmpuint (of_prediction.peak_bytes, <=, of_plan.peak_bytes);
  g_assert_cmpfloat (of_prediction.step_us, ==, of_plan.step_us);
  g_assert_true (of_plan.fits && of_prediction.fits && !of_plan.sizes_known);
  peak = of_plan.peak_bytes;
  gantry_document_set_limit (document, 64);
  doc_wait (document);
  g_assert_nonnull (gantry_document_get_plan_error (document));
  g_assert_true (gantry_document_get_plan_figures (document, &of_document));
  g_assert_false (of_document.fits);
  g_assert_cmpuint (of_document.peak_bytes, >, 64);
  gantry_prediction_figures (gantry_document_get_prediction (document)->prediction, &of_prediction);
  g_assert_false (of_prediction.fits);
  gantry_document_set_limit (document, peak);
  doc_wait (document);
  g_assert_true (gantry_document_get_plan_figures (document, &of_document));
  g_assert_true (of_document.fits);
}

/* Sizes of kernels that were made otherwise than those of the runs that are planned for are not counted. */
static void
test_conditions (void)
{
  const GantryKernelConditions conditions[] = {
    { 0 }, { .no_library = TRUE }, { .n_threads = g_get_num_processors () + 1 }, { .instructions = "sse4" }, { .quick_compile = TRUE }, { .device = "grid" }
  };
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autofree char *content = gantry_module_content (gantry_compilation_module (gantry_document_get_compilation (document)));

  for (guint i = 0; i <= G_N_ELEMENTS (conditions); i++)
    {
      g_autoptr (GantryKernelSizes) sizes = gantry_kernel_sizes_new (content, "a processor");
      GantryPlanFigures figures;

      sizes->code_bytes = 123456;
      sizes->conditions = i < G_N_ELEMENTS (conditions) ? gantry_kernel_conditions_text (&conditions[i]) : NULL;
      gantry_document_set_kernel_sizes (document, sizes);
      gantry_document_wait (document);
      g_assert_true (gantry_document_get_plan_figures (document, &figures));
      g_assert_cmpint (figures.sizes_known, ==, i == 0);
      g_assert_cmpuint (figures.parts.bytes[GANTRY_PART_CODE], ==, i == 0 ? 123456 : 0);
      g_assert_cmpstr (gantry_document_get_plan (document)->kernels, ==, i == 0 ? sizes->conditions : NULL);
    }
}

/* A table that is not all is counted, but not said to be known. */
static void
test_table_at_least (void)
{
  const GantryKernelConditions usual = { 0 };
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autofree char *content = gantry_module_content (gantry_compilation_module (gantry_document_get_compilation (document)));
  g_autoptr (GantryKernelSizes) sizes = gantry_kernel_sizes_new (content, "a processor");
  GantryPlanFigures figures;

  sizes->code_bytes = 123456;
  sizes->at_least = TRUE;
  sizes->conditions = gantry_kernel_conditions_text (&usual);
  gantry_document_set_kernel_sizes (document, sizes);
  gantry_document_wait (document);
  g_assert_true (gantry_document_get_plan_figures (document, &figures));
  g_assert_cmpuint (figures.parts.bytes[GANTRY_PART_CODE], ==, 123456);
  g_assert_false (figures.sizes_known);
  g_assert_false (gantry_document_get_plan (document)->sizes_known);
  g_assert_false (gantry_document_get_prediction (document)->prediction->sizes_known);
}

typedef struct
{
  gboolean called;
  GantryVariant *variant;
  GPtrArray *front;
  GError *error;
} Found;

static void
solved (GObject *source, GAsyncResult *result, gpointer data)
{
  Found *found = data;

  found->called = TRUE;
  found->variant = gantry_document_solve_finish (GANTRY_DOCUMENT (source), result, &found->error);
}

static void
front_found (GObject *source, GAsyncResult *result, gpointer data)
{
  Found *found = data;

  found->called = TRUE;
  found->front = gantry_document_front_finish (GANTRY_DOCUMENT (source), result, &found->error);
}

/* An edit meanwhile does not stop the search; a click binds it; what it finds can be loaded. */
static void
test_solve (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  guint64 all = gantry_document_get_prediction (document)->prediction->peak_bytes;
  GantrySolveGoal goal = { .memory_bytes = all / 10 * 7, .seconds = 5 };
  g_autoptr (GArray) residuals = doc_residuals (document);
  guint32 clicked = g_array_index (residuals, guint32, residuals->len / 2);
  Found found = { 0 };

  gantry_document_set_placement (document, doc_last (document), &clicked, 1, GANTRY_PLACEMENT_RECOMPUTE, NULL);
  gantry_document_solve_async (document, &goal, solved, &found);
  g_assert_true (gantry_document_is_busy (document));
  gantry_document_set_pass_enabled (document, "cse", FALSE);
  gantry_document_undo (document);
  doc_wait_until (found.called);
  g_assert_no_error (found.error);
  doc_wait (document);
  g_assert_cmpuint (found.variant->figures.peak_bytes, <=, goal.memory_bytes);
  g_assert_cmpint (found.variant->by, ==, GANTRY_DECIDED_BY_SOLVER);
  gantry_document_load_variant (document, found.variant);
  doc_wait (document);
  doc_check_consistent (document);
  g_assert_cmpuint (gantry_document_get_prediction (document)->prediction->peak_bytes, ==, found.variant->figures.peak_bytes);
  {
    g_autoptr (GArray) now = doc_residuals (document);

    g_assert_cmpint (kind_of (document, g_array_index (now, guint32, residuals->len / 2)), ==, GANTRY_PLACEMENT_RECOMPUTE);
  }
  gantry_variant_unref (found.variant);
}

/* What a point says of itself is what the plan shows that it becomes. */
static void
check_point (GantryDocument *document, const GantryVariant *point)
{
  const GantryPlan *plan = gantry_document_get_plan (document);

  g_assert_nonnull (plan);
  g_assert_cmpuint (point->figures.peak_bytes, ==, gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE));
  g_assert_cmpuint (point->figures.temp_bytes, ==, gantry_plan_temp_bytes (plan, GANTRY_MEMORY_DEVICE));
  g_assert_cmpuint (point->figures.host_bytes, ==, gantry_plan_host_bytes (plan));
  g_assert_cmpuint (point->figures.copied_bytes, ==, plan->copied_bytes);
  g_assert_cmpfloat (point->figures.step_us, ==, plan->total_us);
  g_assert_cmpint (point->figures.sizes_known, ==, plan->sizes_known != FALSE);
  g_assert_cmpint (g_str_has_prefix (point->name, "at least "), ==, !point->figures.sizes_known);
}

static void
test_front (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GError) error = NULL;
  Found found = { 0 };

  gantry_document_front_async (document, 5, 0, 5, front_found, &found);
  doc_wait_until (found.called);
  g_assert_no_error (found.error);
  g_assert_cmpuint (found.front->len, >, 0);
  for (guint i = 1; i < found.front->len; i++)
    {
      const GantryVariant *a = g_ptr_array_index (found.front, i - 1), *b = g_ptr_array_index (found.front, i);

      g_assert_cmpuint (b->figures.peak_bytes, <, a->figures.peak_bytes);
      g_assert_cmpfloat (b->figures.step_us, >=, a->figures.step_us);
    }
  for (guint i = 0; i < found.front->len; i++)
    {
      const GantryVariant *point = g_ptr_array_index (found.front, i);

      gantry_document_load_variant (document, (GantryVariant *) point);
      doc_wait (document);
      check_point (document, point);
    }
  doc_check_consistent (document);
  g_ptr_array_unref (found.front);
}

/* Steps that are the same do not make a plan that of a forecast: conversions to 8 bits take other times than to 16. */
static void
test_forecast_of_same_steps (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GArray) residuals = doc_residuals (document);
  const GantryPlacementKind kinds[] = { GANTRY_PLACEMENT_BF16, GANTRY_PLACEMENT_INT8 };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      gantry_document_set_placement (document, doc_last (document), (const guint32 *) (gpointer) residuals->data, residuals->len, kinds[i], NULL);
      g_assert_nonnull (gantry_document_get_prediction (document));
      g_assert_false (gantry_plan_is_of_forecast (gantry_document_get_plan (document), gantry_document_get_prediction (document)));
      doc_wait (document);
      g_assert_true (gantry_plan_is_of_forecast (gantry_document_get_plan (document), gantry_document_get_prediction (document)));
    }
}

/* What cannot be reached is one error, and the document is as it was. */
/* What was searched for is in the session: it is asked about before it is lost, and there again when the file is opened. It is of one
 * program: of another there is none, and after an undo it is back. */
static void
test_kept_front (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-placing-XXXXXX", NULL), *path = g_build_filename (folder, "a.gantry", NULL);
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE), other = gantry_document_new ();
  g_autoptr (GPtrArray) found = NULL;
  g_autoptr (GError) error = NULL;
  GPtrArray *front;

  g_assert_true (gantry_document_save (document, path, &error));
  g_assert_null (gantry_document_get_front (document));
  found = gantry_document_front (document, 4, 0, 5, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (gantry_document_get_front (document) == found);
  g_assert_true (gantry_document_is_unsaved (document));
  g_assert_true (gantry_document_save (document, NULL, &error));
  g_assert_false (gantry_document_is_unsaved (document));
  g_assert_true (gantry_document_open (other, path, NULL, NULL, &error));
  front = gantry_document_get_front (other);
  g_assert_nonnull (front);
  g_assert_cmpuint (front->len, ==, found->len);
  for (guint i = 0; i < front->len; i++)
    {
      const GantryVariant *a = g_ptr_array_index (found, i), *b = g_ptr_array_index (front, i);

      g_assert_cmpstr (a->name, ==, b->name);
      g_assert_cmpuint (a->figures.peak_bytes, ==, b->figures.peak_bytes);
      g_assert_cmpuint (a->figures.copied_bytes, ==, b->figures.copied_bytes);
      g_assert_cmpuint (a->limit, ==, b->limit);
      g_assert_cmpint (a->figures.sizes_known, ==, b->figures.sizes_known);
      g_assert_cmpfloat (a->figures.step_us, ==, b->figures.step_us);
      g_assert_cmpfloat (a->gap, ==, b->gap);
      g_assert_true (gantry_choices_equal (a->choices, b->choices));
    }
  gantry_document_set_training (other, NULL);
  doc_wait (other);
  g_assert_null (gantry_document_get_front (other));
  gantry_document_undo (other);
  doc_wait (other);
  g_assert_true (gantry_document_get_front (other) == front);
  g_unlink (path);
  g_rmdir (folder);
}

/* A placement whose value a pass has taken away is told by name, kept in the session with it, and holds again when the value is back. */
static void
test_missing (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-placing-XXXXXX", NULL), *path = g_build_filename (folder, "a.gantry", NULL);
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE), other = gantry_document_new ();
  g_autofree char *name = NULL, *text = NULL;
  g_autoptr (GError) error = NULL;
  const GantryModule *module = gantry_compilation_module (gantry_document_get_compilation (document));
  guint32 fused = 0;

  for (guint32 i = 0; i < module->n_nodes && fused == 0; i++)
    if (g_str_equal (gantry_node_op_name (module, &module->nodes[i]), "fusion")
        && gantry_document_set_placement (document, doc_last (document), &module->nodes[i].id, 1, GANTRY_PLACEMENT_OFFLOAD, NULL) > 0)
      fused = module->nodes[i].id;
  g_assert_cmpuint (fused, !=, 0);
  name = g_strdup_printf ("offload of fusion %%%u", fused);
  doc_wait (document);
  g_assert_cmpuint (gantry_document_get_missing (document)->len, ==, 0);
  g_assert_null (gantry_document_missing_text (document));
  gantry_document_set_pass_enabled (document, "fuse", FALSE);
  doc_wait (document);
  g_assert_cmpuint (gantry_document_get_missing (document)->len, ==, 1);
  g_assert_true (g_str_has_prefix (g_ptr_array_index (gantry_document_get_missing (document), 0), name));
  text = gantry_document_missing_text (document);
  g_assert_nonnull (strstr (text, name));
  g_assert_true (gantry_document_save (document, path, &error));
  g_assert_true (gantry_document_open (other, path, NULL, NULL, &error));
  g_assert_cmpuint (gantry_document_get_missing (other)->len, ==, 1);
  g_assert_cmpstr (g_ptr_array_index (gantry_document_get_missing (other), 0), ==, g_ptr_array_index (gantry_document_get_missing (document), 0));
  gantry_document_set_pass_enabled (other, "fuse", TRUE);
  doc_wait (other);
  g_assert_cmpuint (gantry_document_get_missing (other)->len, ==, 0);
  g_assert_cmpuint (n_choices (other), ==, 1);
  gantry_document_forget_missing (document);
  g_assert_cmpuint (n_choices (document), ==, 0);
  g_assert_cmpuint (gantry_document_get_missing (document)->len, ==, 0);
  gantry_document_undo (document);
  g_assert_cmpuint (gantry_document_get_missing (document)->len, ==, 1);
  doc_wait (document);
  g_unlink (path);
  g_rmdir (folder);
}

/* What a search finds later takes its place on the front that is drawn, and the front begins the searches. */
static void
test_front_with_answers (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) found = gantry_document_front (document, 2, 0, 0, NULL, &error);
  const GantryVariant *most = g_ptr_array_index (found, 0), *least = g_ptr_array_index (found, found->len - 1);
  const GantrySolveGoal goal = { .memory_bytes = (most->figures.peak_bytes + least->figures.peak_bytes) / 2 };
  g_autoptr (GantryVariant) answer = NULL, again = NULL;
  GPtrArray *front;
  gboolean on_front = FALSE;

  g_assert_no_error (error);
  answer = gantry_document_solve (document, &goal, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (answer->figures.peak_bytes, >, least->figures.peak_bytes);
  g_assert_cmpfloat (answer->figures.step_us, <, least->figures.step_us);
  front = gantry_document_get_front (document);
  for (guint i = 0; i < front->len; i++)
    {
      const GantryVariant *point = g_ptr_array_index (front, i), *before = i > 0 ? g_ptr_array_index (front, i - 1) : NULL;

      on_front = on_front || point == answer;
      g_assert_true (before == NULL || before->figures.peak_bytes > point->figures.peak_bytes);
      g_assert_true (before == NULL || before->figures.step_us < point->figures.step_us);
    }
  g_assert_true (on_front);
  again = gantry_document_solve (document, &(GantrySolveGoal){ .memory_bytes = least->figures.peak_bytes }, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (again->figures.step_us, <=, least->figures.step_us * (1 + 1e-9));
}

/* A search is asked to better what a policy places: it knows that. */
static void
test_solve_knows_policy (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryVariant) answer = NULL;
  const GantryPrediction *placed;
  GantrySolveGoal goal = { .method = GANTRY_SOLVE_SEARCH };

  gantry_document_set_policy (document, "policy nothing_saveable", &error);
  g_assert_no_error (error);
  doc_wait (document);
  placed = gantry_document_get_prediction (document)->prediction;
  goal.memory_bytes = placed->peak_bytes;
  goal.allowed = 1u << GANTRY_PLACEMENT_KEEP | 1u << GANTRY_PLACEMENT_RECOMPUTE;
  answer = gantry_document_solve (document, &goal, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (answer->figures.step_us, <=, placed->step_us * (1 + 1e-9));
}

static void
test_solve_impossible (void)
{
  g_autoptr (GantryDocument) document = doc_open ("mlp.gir", TRUE);
  GantrySolveGoal goal = { .memory_bytes = 1, .seconds = 5 };
  g_autoptr (GError) error = NULL;

  g_assert_null (gantry_document_solve (document, &goal, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  g_assert_null (gantry_document_get_undo_name (document));
}

/* A part of the peak is an exact number, shown rounded down; the text that was not touched still means that number, and what is
 * searched for fits into it. */
static void
test_part_is_exact (void)
{
  g_autoptr (GantryDocument) document = doc_open ("transformer-tiny.gir", TRUE);
  guint64 peak = gantry_document_get_prediction (document)->prediction->peak_bytes;

  for (guint percent = 61; percent <= 97; percent += 12)
    {
      g_autofree char *part = g_strdup_printf ("%u%%", percent), *text = NULL, *spaced = NULL;
      g_autoptr (GantryVariant) variant = NULL;
      g_autoptr (GError) error = NULL;
      guint64 exact, again, rounded;
      GantrySize size;

      g_assert_true (gantry_size_read (document, part, 0, &exact, &error));
      g_assert_cmpuint (exact, ==, (guint64) (percent / 100.0 * (double) peak));
      text = gantry_size_text (exact);
      spaced = g_strdup_printf (" %s ", text);
      g_assert_true (gantry_size_read (document, spaced, exact, &again, &error));
      g_assert_cmpuint (again, ==, exact);
      g_assert_true (gantry_size_parse (text, &size, &error));
      rounded = size.bytes;
      g_assert_cmpuint (rounded, <=, exact); /* what fits into what is shown fits */
      variant = gantry_document_solve (document, &(GantrySolveGoal){ .memory_bytes = again, .seconds = 2 }, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (variant->figures.peak_bytes, <=, exact);
    }
  {
    guint64 none = 1;

    g_assert_true (gantry_size_read (document, "  ", 4096, &none, NULL));
    g_assert_cmpuint (none, ==, 0);
    g_assert_false (gantry_size_read (document, "much", 4096, &none, NULL));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/placing/click", test_click);
  g_test_add_func ("/placing/fewer-bits", test_fewer_bits);
  g_test_add_func ("/placing/merge", test_merge);
  g_test_add_func ("/placing/refused", test_refused);
  g_test_add_func ("/placing/earlier-snapshot", test_earlier_snapshot);
  g_test_add_func ("/placing/sets", test_sets);
  g_test_add_func ("/placing/kept-through-compilations", test_kept_through_compilations);
  g_test_add_func ("/placing/variants", test_variants);
  g_test_add_func ("/placing/figures", test_figures);
  g_test_add_func ("/placing/figures-unfit", test_figures_unfit);
  g_test_add_func ("/placing/difference-of-sizes", test_difference_of_sizes);
  g_test_add_func ("/placing/plan-figures", test_plan_figures);
  g_test_add_func ("/placing/conditions", test_conditions);
  g_test_add_func ("/placing/table-at-least", test_table_at_least);
  g_test_add_func ("/placing/solve", test_solve);
  g_test_add_func ("/placing/front", test_front);
  g_test_add_func ("/placing/front/kept", test_kept_front);
  g_test_add_func ("/placing/front/with-answers", test_front_with_answers);
  g_test_add_func ("/placing/solve/knows-policy", test_solve_knows_policy);
  g_test_add_func ("/placing/forecast-of-same-steps", test_forecast_of_same_steps);
  g_test_add_func ("/placing/missing", test_missing);
  g_test_add_func ("/placing/part-is-exact", test_part_is_exact);
  g_test_add_func ("/placing/solve-impossible", test_solve_impossible);
  return g_test_run ();
}
