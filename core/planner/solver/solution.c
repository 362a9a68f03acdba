/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the solver as values. */
#include "core/planner/solver/solution.h"

const char *
gantry_proof_text (GantryProof proof)
{
  static const char *const texts[] = { [GANTRY_PROOF_NONE] = NULL,
                                       [GANTRY_PROOF_PLACEMENTS] = "at least as good as all placements in this order, each value made again at most once",
                                       [GANTRY_PROOF_SCHEDULES] = "the best of all schedules" };

  return texts[proof];
}

char *
gantry_proof_quality_text (GantryProof proof, double gap)
{
  if (proof != GANTRY_PROOF_NONE)
    return g_strconcat ("proven to be ", gantry_proof_text (proof), NULL);
  return gap < 0 ? g_strdup ("the best that was found: nothing proves how far from the best that is")
                 : g_strdup_printf ("within %.2f %% of the best placements in this order", 100 * gap);
}

void
gantry_solution_free (GantrySolution *solution)
{
  if (solution == NULL)
    return;
  g_clear_pointer (&solution->placements, gantry_placements_unref);
  g_free (solution);
}
