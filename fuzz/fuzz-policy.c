/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of policies: whatever the bytes, they end in statements or in an error, and statements that parsed can be
 * applied to a training step: the table is sorted, says nothing of nodes that are not there, and what is reported adds
 * up. */

#include "core/graph/graph.h"
#include "core/planner/policy/policy.h"
#include "core/plan/placement.h"
#include "core/plan/plan.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static const char module_text[] =
  "module \"m\" { func @main #1 (%1 \"x\": f32[4,4], %2 \"w\": f32[4,4] {role = \"parameter\"}) -> (%16, %14) {"
  "%3 \"a\" = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[4,4] scope(\"n/iteration.0\")"
  "%4 = checkpoint_name(%3) {name = \"x\"}: f32[4,4] scope(\"n/iteration.0\") %5 = tanh(%4): f32[4,4] scope(\"n/iteration.0\")"
  "%6 = checkpoint_name(%5) {name = \"y\"}: f32[4,4] scope(\"n/iteration.1\")"
  "%7 = fusion(%6, %2) {body = @f #2, kind = \"epilogue\"}: f32[4,4] scope(\"n/iteration.1\")"
  "%8 = reshape(%7) {shape = [16]}: f32[16] scope(\"n/iteration.1\") %9 = sine(%8): f32[16] scope(\"n/iteration.1\")"
  "%10 = reshape(%9) {shape = [4, 4]}: f32[4,4]"
  "%11 = negate(%8): f32[16] phase(backward) scope(\"n/iteration.1\") %12 = reshape(%11) {shape = [4, 4]}: f32[4,4] phase(backward)"
  "%13 = multiply(%12, %5): f32[4,4] phase(backward) scope(\"n/iteration.0\") %14 = multiply(%13, %3): f32[4,4] phase(backward)"
  "%15 = multiply(%10, %14): f32[4,4] phase(backward) %16 = multiply(%15, %10): f32[4,4] phase(update) }"
  "func @f #2 (%17: f32[4,4], %18: f32[4,4]) -> (%21) { %19 = dot_general(%17, %18) {lhs_contracting_dimensions = [1], "
  "rhs_contracting_dimensions = [0]}: f32[4,4] %20 = checkpoint_name(%19) {name = \"z\"}: f32[4,4] %21 = tanh(%20): f32[4,4] } }";

static void
check_table (const GantryModule *module, const GantryPlacements *table, const GPtrArray *reports)
{
  guint decided = 0;

  for (guint e = 0; e < table->entries->len; e++)
    {
      const GantryPlacement *entry = &g_array_index (table->entries, GantryPlacement, e);

      g_assert (e == 0 || g_array_index (table->entries, GantryPlacement, e - 1).node < entry->node);
      g_assert (gantry_module_node (module, entry->node) != NULL);
      g_assert (entry->kind < GANTRY_N_PLACEMENTS && entry->memory < GANTRY_N_MEMORY_KINDS);
      g_assert ((entry->kind == GANTRY_PLACEMENT_OFFLOAD) == (entry->memory != GANTRY_MEMORY_DEVICE));
      g_assert (entry->kind != GANTRY_PLACEMENT_RECOMPUTE || entry->subject == GANTRY_SUBJECT_RESIDUAL);
    }
  for (guint i = 0; i < reports->len; i++)
    {
      const GantryPolicyReport *report = reports->pdata[i];

      decided += report->n_decided;
      g_assert (report->line > 0 && report->text != NULL && *report->text != '\0');
      g_assert (report->n_decided > 0 || report->problem != NULL);
    }
  g_assert (decided == table->entries->len);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPolicy) policy = gantry_policy_parse ((const char *) data, (gssize) size, &error);

  g_assert ((policy == NULL) == (error != NULL));
  if (policy == NULL)
    return 0;

  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = gantry_module_from_text (context, module_text, -1, "m.gir", NULL);
  g_autoptr (GPtrArray) reports = NULL;
  g_autoptr (GantryPlacements) table = gantry_policy_apply (policy, module, NULL, &reports);
  g_autoptr (GPtrArray) again_reports = NULL;
  g_autoptr (GantryPlacements) again = gantry_policy_apply (policy, module, table, &again_reports);

  check_table (module, table, reports);
  g_assert (gantry_placements_equal (table, again));
  return 0;
}
