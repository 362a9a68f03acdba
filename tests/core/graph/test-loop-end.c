/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that end soon or never are told from those that count or converge. */
#include "core/graph/graph.h"
#include "core/graph/operation.h"
#include "core/graph/region.h"
#include "core/graph/text.h"

#define LESS "compare(%11, %12) {comparison_direction = \"LT\"}: bool[]"
/* A loop over (x, y, z) while x < y; @trip gives the next three of %21, %22, %23. */
#define LOOP(results, trip) \
  "module \"test\" { func @main #1 (%1: f32[], %2: f32[], %3: f32[]) -> (%5) { " \
  "%4 = while(%1, %2, %3) {cond = #2, body = #3}: (f32[], f32[], f32[]) %5 = result(%4) {index = 0}: f32[] } " \
  "func @more #2 (%11: f32[], %12: f32[], %13: f32[]) -> (%14) { %14 = " LESS " } " \
  "func @trip #3 (%21: f32[], %22: f32[], %23: f32[]) -> (" results ") { " trip " } }"

static const struct
{
  const char *name, *text;
  gboolean endless;
} cases[] = {
  { "handed-on", LOOP ("%21, %22, %24", "%24 = add(%23, %23): f32[]"), TRUE },
  { "made-of-what-is-handed-on", LOOP ("%24, %22, %23", "%24 = negate(%22): f32[]"), TRUE },
  { "in-two-trips", LOOP ("%22, %24, %23", "%24 = negate(%23): f32[]"), TRUE },
  { "counts", LOOP ("%24, %22, %23", "%24 = add(%21, %23): f32[]"), FALSE },
  { "follows-what-counts", LOOP ("%23, %22, %24", "%24 = add(%23, %22): f32[]"), FALSE },
  { "exchanges", LOOP ("%22, %21, %23", ""), FALSE },
};

static void
test_case (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, cases[i].text, -1, "test", &error);
  const GantryFunction *entry;

  g_assert_no_error (error);
  entry = gantry_module_entry (module);
  for (guint k = 0; k < entry->n_nodes; k++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + k];

      g_assert_cmpint (gantry_loop_may_be_endless (module, node), ==, node->op == GANTRY_OP_WHILE && cases[i].endless);
      if (node->op == GANTRY_OP_WHILE)
        g_assert_cmpint (gantry_control_has_effect (module, node), ==, cases[i].endless);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/loop-end/%s", cases[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_case);
    }
  return g_test_run ();
}
