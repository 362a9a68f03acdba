/* SPDX-License-Identifier: Apache-2.0 */
/* The table of placements, and what is a residual: seen through views, tuples and names, in one linear pass. */
#include "core/graph/graph.h"
#include "core/plan/placement.h"
#include <string.h>

typedef struct
{
  GantryContext *context;
  GantryModule *module;
  guint8 *subjects;
  guint32 *owners;
} Facts;

static void
facts_clear (Facts *facts)
{
  g_free (facts->subjects);
  g_free (facts->owners);
  gantry_module_unref (facts->module);
  gantry_context_unref (facts->context);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Facts, facts_clear)

static Facts
facts_of (const char *text)
{
  Facts facts = { gantry_context_new () };
  g_autoptr (GError) error = NULL;

  facts.module = gantry_module_from_text (facts.context, text, -1, "test", &error);
  g_assert_no_error (error);
  gantry_verify (facts.module, NULL, &error);
  g_assert_no_error (error);
  facts.subjects = gantry_placement_subjects (facts.module);
  facts.owners = gantry_placement_owners (facts.module);
  return facts;
}

static const char *
subject_of (const Facts *facts, guint32 id)
{
  const GantryNode *node = gantry_module_node (facts->module, id);

  g_assert_nonnull (node);
  return gantry_placement_subject_name (facts->subjects[gantry_module_position (facts->module, node)]);
}

static guint32
owner_of (const Facts *facts, guint32 id)
{
  const GantryNode *node = gantry_module_node (facts->module, id);

  g_assert_nonnull (node);
  return facts->module->nodes[facts->owners[gantry_module_position (facts->module, node)]].id;
}

static void
test_table (void)
{
  g_autoptr (GantryPlacements) table = gantry_placements_new ();
  g_autoptr (GantryPlacements) copy = NULL;
  static const guint32 order[] = { 7, 3, 9, 1, 3, 8 };

  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    {
      GantryPlacement entry = { order[i], GANTRY_PLACEMENT_RECOMPUTE, GANTRY_DECIDED_BY_CLICK };

      entry.kind = order[i] == 3 && i > 2 ? GANTRY_PLACEMENT_OFFLOAD : GANTRY_PLACEMENT_RECOMPUTE;
      gantry_placements_set (table, &entry);
    }
  g_assert_cmpuint (table->entries->len, ==, 5);
  for (guint i = 1; i < table->entries->len; i++)
    g_assert_cmpuint (g_array_index (table->entries, GantryPlacement, i - 1).node, <, g_array_index (table->entries, GantryPlacement, i).node);
  g_assert_cmpint (gantry_placements_kind (table, 3), ==, GANTRY_PLACEMENT_OFFLOAD);
  g_assert_cmpint (gantry_placements_kind (table, 9), ==, GANTRY_PLACEMENT_RECOMPUTE);
  g_assert_cmpint (gantry_placements_kind (table, 2), ==, GANTRY_PLACEMENT_KEEP);
  g_assert_null (gantry_placements_find (table, 10));
  copy = gantry_placements_copy (table);
  g_assert_true (gantry_placements_equal (table, copy));
  gantry_placements_set (copy, &(GantryPlacement){ 2, GANTRY_PLACEMENT_KEEP });
  g_assert_false (gantry_placements_equal (table, copy));
  g_assert_null (gantry_placements_find (table, 2));
}

/* Roles, results, donation, and a value that lives and dies in one phase. */
static void
test_roles (void)
{
  g_auto (Facts) facts = facts_of ("module \"m\" { func @main #1 (%1: f32[4], %2: f32[4] {role = \"parameter\", alias = 1}, %3: f32[4] {role = \"state\", "
                                   "alias = 2}) -> (%6, %9, %10, %8) {"
                                   "%4 = multiply(%1, %2): f32[4] %5 = tanh(%4): f32[4] %6 = negate(%5): f32[4]"
                                   "%7 = multiply(%5, %1): f32[4] phase(backward) %8 = add(%7, %3): f32[4] phase(backward)"
                                   "%9 = subtract(%2, %8): f32[4] phase(update) %10 = add(%3, %8): f32[4] phase(update) } }");

  g_assert_cmpstr (subject_of (&facts, 1), ==, "input");
  g_assert_cmpstr (subject_of (&facts, 2), ==, "parameter");
  g_assert_cmpstr (subject_of (&facts, 3), ==, "state");
  g_assert_cmpstr (subject_of (&facts, 4), ==, "none");
  g_assert_cmpstr (subject_of (&facts, 5), ==, "residual");
  g_assert_cmpstr (subject_of (&facts, 6), ==, "output");
  g_assert_cmpstr (subject_of (&facts, 7), ==, "none");
  g_assert_cmpstr (subject_of (&facts, 8), ==, "output");
  g_assert_cmpstr (subject_of (&facts, 9), ==, "none");
  g_assert_true (gantry_module_is_training (facts.module));
}

/* The backward pass reads a view of a view of it, or makes the view itself: the maker of the bytes is the residual. */
static void
test_views (void)
{
  g_auto (Facts) facts = facts_of ("module \"m\" { func @main #1 (%1: f32[4,2]) -> (%9, %12) {"
                                   "%2 = tanh(%1): f32[4,2] %3 = checkpoint_name(%2) {name = \"h\"}: f32[4,2] %4 = reshape(%3) {shape = [8]}: f32[8]"
                                   "%5 = optimization_barrier(%4): f32[8] %6 = sine(%5): f32[8] %7 = sine(%6): f32[8] %8 = exponential(%7): f32[8]"
                                   "%9 = reshape(%8) {shape = [2, 4]}: f32[2,4]"
                                   "%10 = negate(%5): f32[8] phase(backward) %11 = reshape(%6) {shape = [2, 4]}: f32[2,4] phase(backward)"
                                   "%12 = negate(%11): f32[2,4] phase(backward) } }");

  g_assert_cmpstr (subject_of (&facts, 2), ==, "residual");
  for (guint32 view = 3; view <= 5; view++)
    {
      g_assert_cmpuint (owner_of (&facts, view), ==, 2);
      g_assert_cmpstr (subject_of (&facts, view), ==, "none");
    }
  g_assert_cmpstr (subject_of (&facts, 6), ==, "residual");
  g_assert_cmpuint (owner_of (&facts, 11), ==, 6);
  g_assert_cmpstr (subject_of (&facts, 7), ==, "none");
  /* A view is returned: its owner is the output. */
  g_assert_cmpstr (subject_of (&facts, 8), ==, "output");
  g_assert_cmpuint (owner_of (&facts, 9), ==, 8);
  g_assert_cmpuint (owner_of (&facts, 1), ==, 1);
}

/* A view of a parameter that is read later is the parameter, no residual. */
static void
test_view_of_parameter (void)
{
  g_auto (Facts) facts = facts_of ("module \"m\" { func @main #1 (%1: f32[4,2] {role = \"parameter\"}) -> (%3) {"
                                   "%2 = reshape(%1) {shape = [8]}: f32[8] %3 = negate(%2): f32[8] phase(backward) } }");

  g_assert_cmpuint (owner_of (&facts, 2), ==, 1);
  g_assert_cmpstr (subject_of (&facts, 1), ==, "parameter");
  g_assert_cmpstr (subject_of (&facts, 2), ==, "none");
}

/* Slices whose elements stand together are views where a value may begin; a fetch is no value of its own. */
static void
test_slices (void)
{
  g_auto (Facts) facts = facts_of ("module \"m\" { func @main #1 (%1: f32[3,4,8] {role = \"parameter\"}, %2: f32[16]@pinned_host {role = \"state\"}) -> (%9) {"
                                   "%3 = slice(%1) {start_indices = [1, 0, 0], limit_indices = [2, 4, 8]}: f32[1,4,8]"
                                   "%4 = slice(%1) {start_indices = [1, 2, 0], limit_indices = [2, 4, 8]}: f32[1,2,8]"
                                   "%5 = slice(%1) {start_indices = [1, 1, 0], limit_indices = [2, 2, 8]}: f32[1,1,8]"
                                   "%6 = slice(%1) {start_indices = [0, 2, 0], limit_indices = [3, 4, 8]}: f32[3,2,8]"
                                   "%7 = slice(%1) {start_indices = [0, 0, 0], limit_indices = [3, 4, 8], strides = [2, 1, 1]}: f32[2,4,8]"
                                   "%8 = copy(%2) {memory = \"device\"}: f32[16] %9 = negate(%8): f32[16] phase(backward) } }");

  g_assert_cmpuint (owner_of (&facts, 3), ==, 1);
  g_assert_cmpuint (owner_of (&facts, 4), ==, 1);
  g_assert_cmpuint (owner_of (&facts, 5), ==, 5); /* at byte 160 */
  g_assert_cmpuint (owner_of (&facts, 6), ==, 6);
  g_assert_cmpuint (owner_of (&facts, 7), ==, 7);
  g_assert_cmpuint (owner_of (&facts, 8), ==, 2);
}

/* Only the member that is read later: through tuples that are put together and taken apart again. */
static void
test_tuples (void)
{
  g_auto (Facts) facts = facts_of ("module \"m\" { func @main #1 (%1: f32[4], %2: u64[2]) -> (%12, %13) {"
                                   "%3 = tanh(%1): f32[4] %4 = sine(%1): f32[4] %5 = tuple(%3, %4): (f32[4], f32[4])"
                                   "%6 = optimization_barrier(%5): (f32[4], f32[4]) %7 = result(%6) {index = 1}: f32[4]"
                                   "%8 = rng_bit_generator(%2) {shape = [4]}: (u64[2], u32[4]) %9 = result(%8) {index = 1}: u32[4]"
                                   "%10 = tuple(%3, %3): (f32[4], f32[4]) %11 = result(%8) {index = 0}: u64[2]"
                                   "%12 = negate(%7): f32[4] phase(backward) %13 = not(%9): u32[4] phase(backward) } }");

  g_assert_cmpuint (owner_of (&facts, 7), ==, 4);
  g_assert_cmpstr (subject_of (&facts, 4), ==, "residual");
  g_assert_cmpstr (subject_of (&facts, 3), ==, "none");
  g_assert_cmpuint (owner_of (&facts, 5), ==, 5);
  g_assert_cmpuint (owner_of (&facts, 6), ==, 6);
  g_assert_cmpstr (subject_of (&facts, 5), ==, "none");
  g_assert_cmpuint (owner_of (&facts, 10), ==, 3);
  /* What one node makes has one placement. */
  g_assert_cmpuint (owner_of (&facts, 9), ==, 8);
  g_assert_cmpuint (owner_of (&facts, 11), ==, 8);
  g_assert_cmpstr (subject_of (&facts, 8), ==, "residual");
}

/* Made at load, so nothing is to be decided. */
static void
test_constants (void)
{
  g_auto (Facts) facts = facts_of ("module \"m\" { func @main #1 (%1: f32[4]) -> (%7) {"
                                   "%2 = constant() {value = splat<f32[4]: 1.0>}: f32[4] %3 = exponential(%2): f32[4]"
                                   "%4 = iota() {to = type f32[4], iota_dimension = 0}: f32[4] %5 = add(%3, %1): f32[4]"
                                   "%6 = multiply(%3, %4): f32[4] phase(backward) %7 = multiply(%6, %5): f32[4] phase(backward) } }");

  for (guint32 id = 2; id <= 4; id++)
    g_assert_cmpstr (subject_of (&facts, id), ==, "none");
  g_assert_cmpstr (subject_of (&facts, 5), ==, "residual");
}

/* Nodes of other functions are nothing, and a program that does not train has no residuals. */
static void
test_forward_only (void)
{
  g_auto (Facts) facts = facts_of ("module \"m\" { func @main #1 (%1: f32[4]) -> (%3) { %2 = call(%1) {body = #2}: f32[4] "
                                   "%3 = tanh(%2): f32[4] } func @f #2 (%4: f32[4]) -> (%5) { %5 = sine(%4): f32[4] } }");

  g_assert_false (gantry_module_is_training (facts.module));
  g_assert_cmpstr (subject_of (&facts, 2), ==, "none");
  g_assert_cmpstr (subject_of (&facts, 3), ==, "output");
  g_assert_cmpstr (subject_of (&facts, 4), ==, "none");
  g_assert_cmpstr (subject_of (&facts, 5), ==, "none");
}

/* A kind of another version, or one of which the lowest byte alone is known, is no other kind. */
static void
test_numbers (void)
{
  static const gint64 unknown[] = {
    -1, GANTRY_N_PLACEMENTS, 200, 256 + GANTRY_PLACEMENT_BF16, G_MAXINT64, G_MININT64, (G_GINT64_CONSTANT (1) << 32) + GANTRY_PLACEMENT_INT8
  };

  for (gint64 kind = 0; kind < GANTRY_N_PLACEMENTS; kind++)
    g_assert_cmpint (gantry_placement_kind_of_number (kind), ==, kind);
  for (guint i = 0; i < G_N_ELEMENTS (unknown); i++)
    g_assert_cmpint (gantry_placement_kind_of_number (unknown[i]), ==, GANTRY_PLACEMENT_KEEP);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ir/placement/table", test_table);
  g_test_add_func ("/ir/placement/roles", test_roles);
  g_test_add_func ("/ir/placement/views", test_views);
  g_test_add_func ("/ir/placement/view-of-parameter", test_view_of_parameter);
  g_test_add_func ("/ir/placement/slices", test_slices);
  g_test_add_func ("/ir/placement/tuples", test_tuples);
  g_test_add_func ("/ir/placement/constants", test_constants);
  g_test_add_func ("/ir/placement/forward-only", test_forward_only);
  g_test_add_func ("/ir/placement/numbers", test_numbers);
  return g_test_run ();
}
