/* SPDX-License-Identifier: Apache-2.0 */
/* What stands between a goal and its answer: the searches for a limit, and answers whose plans are made. */
#pragma once
#include "core/planner/solver/solve-schedule-private.h"
#include "core/planner/solver/solve-store-private.h"

/** One goal while it is solved. */
typedef struct
{
  SolveProblem *problem;
  const GantrySolveGoal *goal;
  const SolveAnswer *reported;
  guint64 effort;         /* predictions of one search */
  guint most_for_program; /* values: of a program with more no integer program is made */
  guint most_for_moves;   /* or none with moves */
} Solve;

/**
 * _gantry_solve_init:
 *
 * A goal of @problem with the effort that it asks for. Effort is counted in predictions, nodes and states, never in time: the
 * same question has the same answer on every machine.
 */
void _gantry_solve_init (Solve *solve, SolveProblem *problem, const GantrySolveGoal *goal);
/**
 * _gantry_solve_fit:
 *
 * Answers with a peak of at most @limit into the pool, by the method that the goal names; bounds of their time into the store. The automatic one
 * has each method search by itself first, and itself with fewer kinds of placement, each with a pool of its own and the effort that
 * it has alone; then it searches on from the best of all. So it is never worse than any of them.
 */
void _gantry_solve_fit (Solve *solve, guint64 limit);
/** The same by what needs least effort: a search of schedules and one of placements. */
void _gantry_solve_fit_quickly (Solve *solve, guint64 limit);
/** The fastest answer within @limit whose plan is, too: of the pool, or given before. Returns: FALSE where there is none */
gboolean _gantry_solve_take_planned (const Solve *solve, guint64 limit, Planned *planned);

/* What the methods are made of. */

/** Answers by one method, which is not the automatic one, into the pool. Returns: TRUE where nothing can be better */
gboolean _gantry_solve_fit_alone (Solve *solve, guint64 limit);
/** Schedules into the pool. Returns: TRUE where nothing can be better: it was the best of all, and nothing could be offloaded */
gboolean _gantry_solve_fit_schedules (Solve *solve, guint64 limit);
/** The search from the best of the pool on. */
void _gantry_solve_improve (Solve *solve, guint64 limit);
/** The search over schedules and moves together, where nothing is known to be the best. */
void _gantry_solve_improve_schedules (Solve *solve, guint64 limit);
/** The fastest of all schedules with copies into the pool, where the program is small enough to find it. Makes the answer the best that is
 *  known of all. */
void _gantry_solve_fit_copies (Solve *solve, guint64 limit);
/** Tells of the best of the pool. */
void _gantry_solve_report (Solve *solve, guint64 limit);
/** Does the best answer cost no more than the work alone, or with a price of host memory than what is known to be the least, and has a plan? */
gboolean _gantry_solve_is_best (const Solve *solve, guint64 limit);

/**
 * _gantry_solve_plan:
 * @limit: 0: none
 *
 * The plan of @answer, as it was predicted, else squeezed further; a packing may stand higher than what is alive, and only what was
 * planned fits. Returns: FALSE where it does not fit: what it needs in @planned
 */
gboolean _gantry_solve_plan (const Solve *solve, const SolveAnswer *answer, guint64 limit, Planned *planned);
Planned _gantry_solve_planned_least (const SolveLeast *least);
/** @planned becomes the answer of @solve; the store knows it then, and bounds it. */
GantrySolution *_gantry_solution_new (Solve *solve, const Planned *planned, gint64 begin);
/** Less than that no schedule takes, whatever is offloaded: the largest work's values, with what must stay. */
guint64 _gantry_solve_floor (SolveProblem *problem);
/** Lowers the least that is known to what a goal was given. */
void _gantry_solve_lower_least (SolveProblem *problem, const Planned *planned);
/** The error of a goal below @least. */
void _gantry_solve_refuse (const Solve *solve, const SolveLeast *least, GError **error);
