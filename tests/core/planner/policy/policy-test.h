/* SPDX-License-Identifier: Apache-2.0 */
/* Short ways to ask of a policy which values of a small training graph it keeps, recomputes and offloads. */
#pragma once
#include "core/graph/graph.h"
#include "core/planner/policy/policy.h"
#include "core/plan/placement.h"
#include "core/plan/plan.h"
#include <string.h>

/* h = sin (x w1), named "h"; loss = sum (sin (h w2)). Residuals: %4 (a product), %5 (h), %7 (a product). */
static const char two_layers[] = "module \"m\" { func @main #1 (%1 \"x\": f32[4,8], %2 \"w1\": f32[8,8] {role = \"parameter\"}, %3 \"w2\": f32[8,8] {role = "
                                 "\"parameter\"}) -> (%9, %15, %11) {"
                                 "%4 \"a1\" = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[4,8] "
                                 "scope(\"net/one\")"
                                 "%5 = sine(%4): f32[4,8] scope(\"net/one\") %6 = checkpoint_name(%5) {name = \"h\"}: f32[4,8] scope(\"net/one\")"
                                 "%7 \"a2\" = dot_general(%6, %3) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[4,8] "
                                 "scope(\"net/two\")"
                                 "%8 = sine(%7): f32[4,8] scope(\"net/two\") %9 = reduce(%8) {kind = \"add\", dimensions = [0, 1]}: f32[]"
                                 "%10 = cosine(%7): f32[4,8] phase(backward) scope(\"net/two\")"
                                 "%11 = dot_general(%6, %10) {lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]}: f32[8,8] "
                                 "phase(backward) scope(\"net/two\")"
                                 "%12 = dot_general(%10, %3) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]}: f32[4,8] "
                                 "phase(backward) scope(\"net/two\")"
                                 "%13 = cosine(%4): f32[4,8] phase(backward) scope(\"net/one\") %14 = multiply(%12, %13): f32[4,8] phase(backward) "
                                 "scope(\"net/one\")"
                                 "%15 = dot_general(%1, %14) {lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]}: f32[8,8] "
                                 "phase(backward) scope(\"net/one\") } }";

typedef struct
{
  GantryContext *context;
  GantryModule *module;
  GantryPlacements *base; /* (nullable) */
  GantryPlacements *table;
  GPtrArray *reports;
} PolicyTest;

static inline void
policy_test_clear (PolicyTest *test)
{
  g_clear_pointer (&test->table, gantry_placements_unref);
  g_clear_pointer (&test->base, gantry_placements_unref);
  g_clear_pointer (&test->reports, g_ptr_array_unref);
  gantry_module_unref (test->module);
  gantry_context_unref (test->context);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (PolicyTest, policy_test_clear)

static inline PolicyTest
policy_test (const char *module)
{
  PolicyTest test = { gantry_context_new () };
  g_autoptr (GError) error = NULL;

  test.module = gantry_module_from_text (test.context, module, -1, "test", &error);
  g_assert_no_error (error);
  gantry_verify (test.module, NULL, &error);
  g_assert_no_error (error);
  return test;
}

/* "3=keep 5=offload": the entries of the table; a letter behind says that the value is no residual: n(one), p(arameter),
 * s(tate), i(nput), o(utput). */
static inline char *
table_text (const GantryPlacements *table)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint e = 0; e < table->entries->len; e++)
    {
      const GantryPlacement *entry = &g_array_index (table->entries, GantryPlacement, e);

      g_string_append_printf (text, "%s%u=%s", e > 0 ? " " : "", entry->node, gantry_placement_kind_name ((GantryPlacementKind) entry->kind));
      if (entry->subject != GANTRY_SUBJECT_RESIDUAL)
        g_string_append_printf (text, "(%c)", gantry_placement_subject_name (entry->subject)[0]);
      if (entry->kind == GANTRY_PLACEMENT_OFFLOAD && entry->memory != GANTRY_MEMORY_PINNED_HOST)
        g_string_append_printf (text, "@%s", gantry_memory_kind_name (entry->memory));
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static inline void
apply_policy (PolicyTest *test, const char *policy)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPolicy) parsed = gantry_policy_parse (policy, -1, &error);

  g_assert_no_error (error);
  g_clear_pointer (&test->table, gantry_placements_unref);
  g_clear_pointer (&test->reports, g_ptr_array_unref);
  test->table = gantry_policy_apply (parsed, test->module, test->base, &test->reports);
}

static inline const GantryPolicyReport *
report_of (const PolicyTest *test, guint i)
{
  g_assert_cmpuint (i, <, test->reports->len);
  return test->reports->pdata[i];
}

/* @problem: (nullable): a part of the first statement's; NULL: there is none in any statement */
static inline void
expect_policy (PolicyTest *test, const char *policy, const char *table, const char *problem)
{
  g_autofree char *text = NULL;

  apply_policy (test, policy);
  text = table_text (test->table);
  g_assert_cmpstr (text, ==, table);
  for (guint i = 0; problem == NULL && i < test->reports->len; i++)
    g_assert_cmpstr (report_of (test, i)->problem, ==, NULL);
  if (problem == NULL)
    return;
  g_assert_nonnull (report_of (test, 0)->problem);
  if (strstr (report_of (test, 0)->problem, problem) == NULL)
    g_error ("expected '%s' in: %s", problem, report_of (test, 0)->problem);
}
