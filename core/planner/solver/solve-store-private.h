/* SPDX-License-Identifier: Apache-2.0 */
/* What a planner knows of its program: answers (placements with what they take), bounds, and the least memory. It is one store, which every
 * door reads and feeds: a limit of memory, a limit of time, the front, and refusals. So no door contradicts another one:
 *
 *  - a question is the program with what clicks decided, and the kinds of placement that may be used. Fewer clicks and more kinds are
 *    more freedom: an answer of a question is one of each with more freedom, a bound of a question is one of each with less;
 *  - an answer holds for every limit that is at least its size, a bound of time for every limit that is at most its own. With a price of
 *    host memory time is cost: a bound of it holds for every price that is at least its own, 0 among them;
 *  - a bound that a known answer of what it names beats bounds nothing.
 *
 * What is asked for later is therefore never worse than what is known, for any order of the questions, limits and freedoms. */
#pragma once
#include "core/planner/solver/solve-problem-private.h"

typedef struct _SolveStore SolveStore;

/** (transfer none): the store of @planner, which lives as long; made with the first question. */
SolveStore *_gantry_store_of (GantryPlanner *planner);

/** What becomes an answer: placements whose plan was made. */
typedef struct
{
  const guint8 *kinds;  /* of an answer in the pool */
  GBytes *schedule;     /* (nullable) */
  guint64 limit, bytes; /* its plan is made within this, 0: none; and takes this */
  GantryPlanFigures figures;
  const char *method;
} Planned;

/** @placements, as they were planned within @limit, 0: none, begin the pool of every later goal of any question: what a click of it says
 *  otherwise holds all the same. */
void _gantry_store_tell (SolveStore *store, GantryPlacements *placements, guint64 limit);
/** What was told, and what searches with no more freedom have found, into the pool of @problem. */
void _gantry_store_take (SolveProblem *problem);
/** Of the pool of @problem what no other answer beats in both memory and time is kept; at most some tens, beside what was planned. */
void _gantry_store_note_pool (SolveProblem *problem);
/** An answer that is given, @placements being those of @planned. Kept as long as the store, and told. */
void _gantry_store_note_answer (SolveProblem *problem, GantryPlacements *placements, const Planned *planned);
/** The fastest answer that was ever given, with no more freedom, of at most @limit bytes; with @limit 0 the smallest that takes at most @us.
 *  It is in the pool then. Returns: FALSE: none */
gboolean _gantry_store_given (SolveProblem *problem, guint64 limit, double us, Planned *planned);

/** Within @limit bytes nothing of what @of names costs less than @cost where host memory has @price, and so where it has a higher one;
 *  INFINITY: nothing fits. A bound of all schedules is one of the placements in the planner's order, too. */
void _gantry_store_note_bound (SolveProblem *problem, guint64 limit, double cost, double price, GantryProof of);
/** The largest bound of cost for @limit bytes, at least the work alone; INFINITY: nothing fits. A bound of the placements in the planner's order
 *  may be above an answer that has an order of its own. */
double _gantry_store_bound (const SolveProblem *problem, guint64 limit, GantryProof of);
/** No placement of fewer bytes takes at most @us; 0: no such bound is known. */
guint64 _gantry_store_size_bound (const SolveProblem *problem, double us);

/** The least memory that was found for the question of @problem. (transfer none) (nullable): it was not searched for yet */
SolveLeast *_gantry_store_least (const SolveProblem *problem);
/** @least: (transfer full) */
void _gantry_store_set_least (SolveProblem *problem, SolveLeast *least);
