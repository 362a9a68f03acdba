/* SPDX-License-Identifier: Apache-2.0 */
/* The selection follows nodes through the passes, in both directions, and into a new compilation. No display. */
#include "core/graph/operation.h"
#include "tests/views/views-test.h"
#include "views/selection.h"
#include "views/timeline/time-axis.h"

/* multiply and add become one fusion; the last `tanh` is read twice. */
static const char program[] = "module \"m\" {\n"
                              "  func @main #1 (\n"
                              "    %1 \"x\": f32[8] loc(\"m.gir\" \"x\"), %2 \"y\": f32[8] loc(\"m.gir\" \"y\")) -> (%5) {\n"
                              "    %3 \"a\" = multiply(%1, %2): f32[8] loc(\"m.gir\" \"a\")\n"
                              "    %4 \"b\" = add(%3, %1): f32[8] loc(\"m.gir\" \"b\")\n"
                              "    %5 \"c\" = tanh(%4): f32[8] loc(\"m.gir\" \"c\")\n"
                              "  }\n"
                              "}\n";

static void
count (GantrySelection *selection, gpointer data)
{
  ++*(guint *) data;
}

static void
test_follow (void)
{
  g_autoptr (GantryDocument) document = views_open_text (program);
  g_autoptr (GantrySelection) selection = gantry_selection_new ();
  GantryCompilation *compilation = gantry_document_get_compilation (document);
  guint last = compilation->n_snapshots - 1, changes = 0;
  const GantryModule *first_module = compilation->snapshots[0].module, *last_module = compilation->snapshots[last].module;
  guint32 ids[2] = { first_module->nodes[2].id, first_module->nodes[3].id };
  guint32 fusion = 0;
  GHashTable *there, *back;
  GHashTableIter iter;
  gpointer key;

  g_assert_null (compilation->refusal);
  g_signal_connect (selection, "changed", G_CALLBACK (count), &changes);
  gantry_selection_set_compilation (selection, compilation);
  changes = 0;
  gantry_selection_set (selection, 0, ids, 2);
  g_assert_cmpuint (changes, ==, 1);
  gantry_selection_set (selection, 0, ids, 2);
  g_assert_cmpuint (changes, ==, 1);
  g_assert_cmpuint (gantry_selection_primary (selection), ==, ids[0]);
  there = gantry_selection_in (selection, last);
  /* Both went into one fusion, and live on in its body. */
  g_hash_table_iter_init (&iter, there);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      const GantryNode *node = gantry_module_node (last_module, GPOINTER_TO_UINT (key));

      g_assert_nonnull (node);
      if (node->op == GANTRY_OP_FUSION)
        {
          g_assert_cmpuint (fusion, ==, 0);
          fusion = node->id;
        }
    }
  g_assert_cmpuint (fusion, !=, 0);
  /* And the fusion was made of these and the tanh. */
  gantry_selection_set (selection, last, &fusion, 1);
  back = gantry_selection_in (selection, 0);
  g_assert_cmpuint (g_hash_table_size (back), >=, 2);
  g_assert_true (g_hash_table_contains (back, GUINT_TO_POINTER (first_module->nodes[2].id)));
  g_assert_true (g_hash_table_contains (back, GUINT_TO_POINTER (first_module->nodes[3].id)));
}

static void
test_toggle (void)
{
  g_autoptr (GantryDocument) document = views_open_text (program);
  g_autoptr (GantrySelection) selection = gantry_selection_new ();
  GantryCompilation *compilation = gantry_document_get_compilation (document);
  const GantryModule *module = compilation->snapshots[0].module;
  guint32 a = module->nodes[2].id, b = module->nodes[3].id;

  gantry_selection_set_compilation (selection, compilation);
  gantry_selection_toggle (selection, 0, &a, 1);
  gantry_selection_toggle (selection, 0, &b, 1);
  g_assert_cmpuint (gantry_selection_count (selection), ==, 2);
  g_assert_cmpuint (gantry_selection_primary (selection), ==, b);
  gantry_selection_toggle (selection, 0, &b, 1);
  g_assert_cmpuint (gantry_selection_count (selection), ==, 1);
  g_assert_cmpuint (gantry_selection_primary (selection), ==, a);
  gantry_selection_clear (selection);
  g_assert_cmpuint (gantry_selection_count (selection), ==, 0);
  g_assert_cmpuint (gantry_selection_primary (selection), ==, 0);
}

/* What is selected stays selected when a pass is left out, and goes when another model comes. */
static void
test_recompile (void)
{
  g_autoptr (GantryDocument) document = views_open_text (program), other = views_open_text (program);
  g_autoptr (GantrySelection) selection = gantry_selection_new ();
  g_autoptr (GError) error = NULL;
  GantryCompilation *compilation = gantry_document_get_compilation (document);
  guint last = compilation->n_snapshots - 1;
  guint32 id = compilation->snapshots[0].module->nodes[3].id, fused;
  GHashTableIter iter;
  gpointer key;

  gantry_selection_set_compilation (selection, compilation);
  gantry_selection_set (selection, 0, &id, 1);
  g_hash_table_iter_init (&iter, gantry_selection_in (selection, last));
  g_assert_true (g_hash_table_iter_next (&iter, &key, NULL));
  fused = GPOINTER_TO_UINT (key);
  gantry_selection_set (selection, last, &fused, 1);
  gantry_document_recompile (document, NULL, &error);
  g_assert_no_error (error);
  gantry_selection_set_compilation (selection, gantry_document_get_compilation (document));
  g_assert_cmpuint (gantry_selection_snapshot (selection), ==, 0);
  g_assert_true (g_hash_table_contains (gantry_selection_in (selection, 0), GUINT_TO_POINTER (id)));
  gantry_selection_set_compilation (selection, gantry_document_get_compilation (other));
  g_assert_cmpuint (gantry_selection_count (selection), ==, 0);
}

/* The axis */

static void
test_axis_zoom (void)
{
  g_autoptr (GantryTimeAxis) axis = gantry_time_axis_new ();
  gint64 t0, t1;

  gantry_time_axis_set_length (axis, 1000000);
  gantry_time_axis_get (axis, &t0, &t1);
  g_assert_cmpint (t0, ==, 0);
  g_assert_cmpint (t1, ==, 1000000);
  /* The time under the pointer stays where it is. */
  gantry_time_axis_zoom (axis, 4, 250000);
  gantry_time_axis_get (axis, &t0, &t1);
  g_assert_cmpint (t1 - t0, ==, 250000);
  g_assert_cmpint (ABS ((250000 - t0) * 4 - (t1 - t0)), <=, 4);
  gantry_time_axis_pan (axis, -100);
  gantry_time_axis_get (axis, &t0, &t1);
  g_assert_cmpint (t0, ==, 0);
  g_assert_cmpint (t1, ==, 250000);
  for (guint i = 0; i < 200; i++)
    gantry_time_axis_zoom (axis, 2, 100);
  gantry_time_axis_get (axis, &t0, &t1);
  g_assert_cmpint (t1 - t0, >, 0);
  for (guint i = 0; i < 200; i++)
    gantry_time_axis_zoom (axis, 0.5, 100);
  gantry_time_axis_get (axis, &t0, &t1);
  g_assert_cmpint (t0, ==, 0);
  g_assert_cmpint (t1, ==, 1000000);
}

static void
test_axis_length (void)
{
  g_autoptr (GantryTimeAxis) axis = gantry_time_axis_new ();
  gint64 t0, t1;

  gantry_time_axis_set_length (axis, 1000000);
  gantry_time_axis_set (axis, 100000, 200000);
  gantry_time_axis_set_length (axis, 1100000); /* nearly the same: the view stays */
  gantry_time_axis_get (axis, &t0, &t1);
  g_assert_cmpint (t0, ==, 100000);
  g_assert_cmpint (t1, ==, 200000);
  gantry_time_axis_set_length (axis, 100); /* another thing altogether: all of it */
  gantry_time_axis_get (axis, &t0, &t1);
  g_assert_cmpint (t0, ==, 0);
  g_assert_cmpint (t1, ==, 100);
  gantry_time_axis_set_moment (axis, 5000);
  g_assert_cmpint (gantry_time_axis_get_moment (axis), ==, 100);
}

static void
count_change (GantryTimeAxis *axis, gpointer data)
{
  (*(guint *) data)++;
}

/* A length is told once, whether or not the view follows it. */
static void
test_axis_told (void)
{
  g_autoptr (GantryTimeAxis) axis = gantry_time_axis_new ();
  guint n = 0;

  g_signal_connect (axis, "changed", G_CALLBACK (count_change), &n);
  gantry_time_axis_set_length (axis, 1000000);
  g_assert_cmpuint (n, ==, 1);
  gantry_time_axis_zoom (axis, 4, 250000);
  g_assert_cmpuint (n, ==, 2);
  gantry_time_axis_set_length (axis, 1100000);
  g_assert_cmpuint (n, ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/views/selection/follow", test_follow);
  g_test_add_func ("/views/selection/toggle", test_toggle);
  g_test_add_func ("/views/selection/recompile", test_recompile);
  g_test_add_func ("/views/time-axis/zoom", test_axis_zoom);
  g_test_add_func ("/views/time-axis/length", test_axis_length);
  g_test_add_func ("/views/time-axis/told", test_axis_told);
  return g_test_run ();
}
