/* SPDX-License-Identifier: Apache-2.0 */
/* What stands between a goal and its answer: the searches for a limit, and answers whose plans are made. */
#pragma once
#include "core/memory/solve-schedule-private.h"

/** One goal while it is solved. */
typedef struct
{
  SolveProblem *problem;
  const GantrySolveGoal *goal;
  const SolveAnswer *told;
  double bound;           /* of all placements */
  double least_us;        /* of all schedules: the work alone, or what the exact search found; INFINITY: none fits */
  const char *method;
  guint most_for_program; /* values: of a program with more no integer program is made */
  guint most_for_moves;   /* or none with moves */
} Solve;

/** What becomes an answer: placements whose plan was made. */
typedef struct
{
  const guint8 *kinds;
  GBytes *schedule;     /* (nullable) */
  guint64 limit, bytes; /* its plan is made within this, 0: none; and takes this */
  GantryPlanFigures figures;
} Planned;

#define SOLVE_MOST_FOR_PROGRAM 4000u /* above, the program itself takes too long */
#define SOLVE_MOST_FOR_MOVES 400u

/** Answers of earlier goals, as placements, into the pool. */
void _gantry_solve_take_earlier (SolveProblem *problem);
/** They begin the pool of the next goals. */
void _gantry_solve_remember (SolveProblem *problem, GantryPlacements *placements, guint64 limit);
/** Answers with a peak of at most @limit into the pool; the bound of their time. */
void _gantry_solve_fit (Solve *solve, guint64 limit);

/**
 * _gantry_solve_plan:
 * @limit: 0: none
 *
 * The plan of @answer, as it was predicted, else squeezed further; a packing may stand higher than what is alive, and only what was
 * planned fits. Returns: FALSE where it does not fit: what it needs in @planned
 */
gboolean
_gantry_solve_plan (const Solve *solve, const SolveAnswer *answer, guint64 limit, Planned *planned);
Planned _gantry_solve_planned_least (const SolveLeast *least);
GantrySolution *_gantry_solution_new (Solve *solve, const Planned *planned, gint64 begin);
/** The error of a goal below @least. */
void _gantry_solve_refuse (const Solve *solve, const SolveLeast *least, GError **error);
