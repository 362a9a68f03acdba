/* SPDX-License-Identifier: Apache-2.0 */
/* What the solver is asked for, and its answer. */
#pragma once
#include "core/planner/planner.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_SOLVE_AUTO,  /* exact where that is quick, else the search */
  GANTRY_SOLVE_EXACT, /* integer program: may take long; cancel gives the best so far */
  GANTRY_SOLVE_SEARCH,
  GANTRY_SOLVE_AUTOTM, /* which tensor lives where at each step, moves included (Hildebrand et al., ASPLOS 2020) */
} GantrySolveMethod;

/**
 * GantrySolveGoal:
 * @memory_bytes: "fit into": the predicted peak is at most this; 0: no limit
 * @step_us: "at most": the predicted step is; 0: no limit. One of the two is set; what is not limited is minimized
 * @allowed: bits 1 << GantryPlacementKind that may be used; 0: all that are exact (%GANTRY_EXACT_PLACEMENTS)
 * @host_price: with @memory_bytes: microseconds of a step that a GiB of host memory is worth: minimized is the step and what the host
 *  memory of the plan costs at that; 0: it is free, up to GantryTarget.host_limit
 * @effort: how many times the usual number of predictions and nodes may be spent; 0: once. The same effort gives the same answer
 *  on every machine
 * @seconds: a safety: stop then with the best so far, which the answer says; 0: no limit of time
 */
typedef struct
{
  guint64 memory_bytes;
  double step_us;
  GantrySolveMethod method;
  guint allowed;
  double host_price;
  guint effort;
  double seconds;
  /** (nullable): called on this thread whenever something better is found. */
  void (*better) (const GantryPlacements *placements, const GantryPrediction *prediction, double bound, gpointer user_data);
  gpointer user_data;
} GantrySolveGoal;

/** Of what an answer is the best. */
typedef enum
{
  GANTRY_PROOF_NONE,       /* of nothing that is known */
  GANTRY_PROOF_PLACEMENTS, /* of all placements of the values by the allowed kinds, each made again at most once, in the planner's order;
                            * an answer with a schedule may be better than those */
  GANTRY_PROOF_SCHEDULES,  /* of all schedules: any order, any value made again as often as it pays */
} GantryProof;

/** "the best of all schedules". Returns: (nullable): static */
const char *gantry_proof_text (GantryProof proof);
/** How good an answer is known to be: "proven to be the best of all schedules", "within 0.45 % of the best placements in this order", or that
 *  no bound is known. @gap: as of GantrySolution. Returns: (transfer full) */
char *gantry_proof_quality_text (GantryProof proof, double gap);

typedef struct
{
  GantryPlacements *placements;
  GantryPlanFigures figures; /* of the plan that was made of it, within its limit: what is shown once it is loaded */
  guint64 limit_bytes;       /* what it takes to get this: a plan with this limit, 0: with none */
  double bound;              /* of what is minimized, with the price of host memory: nothing of what @proof names is better than this; 0: no bound is known */
  double gap;                /* (value - bound) / value; negative: no bound is known */
  GantryProof proof;         /* what the answer is proven to be the best of */
  const char *method;        /* static: what found it: "every schedule", "every combination", "integer program", "AutoTM", "search",
                       * "schedule search" */
  gboolean cut;              /* the limit of time ended the search: with more of it, or on a faster machine, something better may be found */
  double milliseconds;
  guint64 n_predictions;
} GantrySolution;
void gantry_solution_free (GantrySolution *solution);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantrySolution, gantry_solution_free)

G_END_DECLS
