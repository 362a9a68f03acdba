/* SPDX-License-Identifier: Apache-2.0 */
/* The solver: placements for a goal. "Fit into N bytes, fastest" or "at most T, smallest", over keep, recompute and offload
 * together, in the meaning that planner.h gives to placements. Exact by integer program (CBC) where the program is
 * small, or a chain of equal blocks; else a fast search whose answer carries a bound and so a gap. */
#pragma once
#include "core/planner/solver/solution.h"

G_BEGIN_DECLS

/**
 * gantry_solve:
 * @base: (nullable): placements decided by clicks stay as they are
 * @progress: (nullable): cancelling ends the search; the best so far is returned where there is one
 *
 * Monotone by construction: an answer for a smaller budget is never better than one for a larger, because every answer
 * found before in the same planner is a candidate for every goal that it satisfies.
 *
 * Returns: (transfer full) (nullable): %GANTRY_ERROR_NO_MEMORY when nothing was found that fits: it names the least that was found;
 *  %GANTRY_ERROR_INVALID where not exactly one of memory and time is limited; %GANTRY_ERROR_FAILED where not all can be kept and CBC cannot be loaded
 */
GantrySolution *
gantry_solve (GantryPlanner *planner, const GantrySolveGoal *goal, const GantryPlacements *base, const GantryProgress *progress, GError **error);

/** @placements were found before, by another planner, and planned within @limit bytes, 0: no limit: they begin every search, as answers
 *  of this planner do. What is not of its program is left out. */
void gantry_solve_know (GantryPlanner *planner, GantryPlacements *placements, guint64 limit);

/** Points of the memory-time front, from keep-all down to the least memory, at most @n_points, none dominated by another. @allowed:
 *  as GantrySolveGoal; @seconds: as GantrySolveGoal.seconds, of all points together.
 *  Returns: (transfer full) (element-type GantrySolution) */
GPtrArray *gantry_solve_front (GantryPlanner *planner, guint n_points, const GantryPlacements *base, guint allowed, double seconds,
                               const GantryProgress *progress, GError **error);

G_END_DECLS
