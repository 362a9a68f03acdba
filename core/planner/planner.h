/* SPDX-License-Identifier: Apache-2.0 */
/* Answers "what if" for placements in a frame. What does not depend on them (values, works, base order,
 * costs, in-place candidates) is worked out once; a question then costs a few linear walks.
 *
 * How placements become a plan (the meaning that the solver and every view rely on):
 * - The base order is that of the program with everything kept.
 * - RECOMPUTE of a residual: its place is free after its last forward use. Before its first backward use its work
 *   runs once more, and before that, once each, the forward works that it needs and whose values are not there (kept ones
 *   are kept until then; offloaded ones are fetched). A work is done again at most once in a run, where no schedule says
 *   otherwise; the second instance lives until the last backward use. So the cost is linear, never exponential.
 * - OFFLOAD of a residual: one copy to the other memory kind right after it is made, its device place is free
 *   after that copy and its last forward use; one copy back before its first backward use.
 * - BF16 or INT8 of a residual: before its last forward use it is converted to fewer bits, and its place is free after that use; before
 *   its first backward use it is converted back, into a place of its own that lives to its last use within a window, and again for a
 *   later one. Works that run once more read it converted back too.
 * - OFFLOAD of a parameter, state or input: it lives in the other memory kind for the whole run and is fetched before a
 *   use; the fetched instance lives from there to the last use within a window, and is fetched again for a later one. What
 *   is written over it (donated) goes back by a copy. Slices of it are fetched one by one.
 * - OFFLOAD of an output: it is copied out as soon as it is made.
 * - A schedule (GantryPlacements.schedule) takes the place of the base order: works run as it says, and what stands there again
 *   is made again there, unless an entry keeps or offloads it; who reads it afterwards reads that instance. What is recomputed by
 *   an entry and stands there once is made again as above.
 * - Copies run on the queues to-host and to-device. A fetch begins as early as hides it (copies before it on its queue
 *   included) but not earlier, and later than that where a memory limit would be broken, or, without a limit, where it would
 *   raise the peak and waiting costs less than 1 % of the step and a tenth of the part of the peak that it saves.
 * - Contiguous slices of a value, and operands of a concatenation along the first dimension that is not 1, have no
 *   copies of their own: they are (parts of) one place.
 * - With a training step (resident), arguments and results have their own places for the whole run, a donated argument one
 *   with its result; the rest is temporary. */
#pragma once
#include "core/planner/memory-plan.h"
#include "core/plan/plan-figures.h"

G_BEGIN_DECLS

typedef struct _GantryPlanner GantryPlanner;

/** As gantry_memory_plan(); @options is copied, what it points to must stay. One planner is used by one thread at a time. */
GantryPlanner *gantry_planner_new (GantryModule *module, const GantryPlanOptions *options, const GantryProgress *progress, GError **error);
void gantry_planner_free (GantryPlanner *planner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryPlanner, gantry_planner_free)

/** A value that a placement can be given for. */
typedef struct
{
  guint32 node;   /* the value that owns the bytes: views of it share its placement */
  guint8 subject; /* GantryPlacementSubject */
  guint8 allowed; /* bits 1 << GantryPlacementKind */
  guint64 bytes;
  double make_us;                          /* predicted time of the work that makes it, 0 for parameters */
  const char *why_not;                     /* (nullable): why something is not allowed */
  const char *why_not_bf16, *why_not_int8; /* (nullable): why it cannot be stored in fewer bits */
} GantryCandidate;

/** Why @kind is not allowed. Returns: (nullable): it is */
static inline const char *
gantry_candidate_why_not (const GantryCandidate *candidate, GantryPlacementKind kind)
{
  return candidate->allowed >> kind & 1  ? NULL
         : kind == GANTRY_PLACEMENT_BF16 ? candidate->why_not_bf16
         : kind == GANTRY_PLACEMENT_INT8 ? candidate->why_not_int8
                                         : candidate->why_not;
}

/** Returns: (array length=n) (transfer none): in the order in which they are made */
const GantryCandidate *gantry_planner_candidates (const GantryPlanner *planner, guint *n);
/** The candidate that decides for node @id (itself, or what it is a view of). Returns: its index, or -1 */
gint gantry_planner_candidate_of (const GantryPlanner *planner, guint32 id);

/** In an arena while a step runs: all that is alive; of that parameters and results, and scratch. */
typedef struct
{
  guint64 bytes, arguments, workspaces;
} GantryLiveBytes;

/**
 * GantryPrediction: what a plan would be, without offsets: the curve of device memory and the three queues.
 *
 * Arrays belong to the prediction and are reused by the next one made into it.
 */
typedef struct
{
  guint64 peak_bytes; /* of all parts of device memory: the one meaning of memory (gantry_prediction_parts()) */
  guint64 temp_bytes; /* of that temporaries and workspaces (JAX's meaning of temporaries) */
  guint64 argument_bytes, output_bytes, alias_bytes;
  guint64 host_bytes;       /* largest sum in host memory */
  GantryMemoryParts beside; /* the arena of the device, the same at each step */
  gboolean sizes_known;     /* as GantryPlan */
  gboolean fits;            /* within the limits of the target, as far as can be said before it is packed */
  guint32 peak_step;
  double step_us; /* predicted time of a run */
  double recompute_us, stall_us;
  guint64 copied_bytes;
  guint32 n_steps;
  GArray *steps;      /* (element-type GantryPlanStep): refs and waits left at 0 */
  GArray *live;       /* (element-type GantryLiveBytes): by step, in the arena of the device */
  guint32 n_problems; /* see the plan for the reasons */
} GantryPrediction;

/** Returns: (transfer full): an empty one, for gantry_planner_predict() to fill as often as wanted */
GantryPrediction *gantry_prediction_new (void);
void gantry_prediction_free (GantryPrediction *prediction);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryPrediction, gantry_prediction_free)

/** All bytes of device memory while @step runs, as gantry_plan_memory_parts_at(). O(1) */
void gantry_prediction_parts_at (const GantryPrediction *prediction, guint32 step, GantryMemoryParts *parts);
/** At the peak: their sum is peak_bytes. O(1) */
void gantry_prediction_parts (const GantryPrediction *prediction, GantryMemoryParts *parts);
/** @figures: (out caller-allocates): as gantry_plan_figures(); a packing may stand higher than what is predicted. O(1) */
void gantry_prediction_figures (const GantryPrediction *prediction, GantryPlanFigures *figures);
/** Its steps and its curve as a plan without buffers: what can be drawn before anything is packed. Linear. (transfer full) */
GantryPlan *gantry_prediction_to_plan (const GantryPrediction *prediction);

/** Predicts @placements (nullable: all kept). O(nodes + uses), and the bodies of loops that these placements run in another way than
 *  the last few hundred that were asked for are planned: gantry_planner_count_unplanned() says how large those are. Allocates only for
 *  them, and when the program grew. */
void gantry_planner_predict (GantryPlanner *planner, const GantryPlacements *placements, GantryPrediction *prediction);
/** How many nodes the bodies of loops have that gantry_planner_predict() of @placements (nullable) would plan first. An upper bound; 0 where
 *  it has been asked for just now. Bodies that fetch slices because a limit is not met are not among them. O(nodes + uses) */
guint32 gantry_planner_count_unplanned (GantryPlanner *planner, const GantryPlacements *placements);
/** As gantry_planner_predict(), within @limit bytes of device memory (0: none) instead of the target's. */
void gantry_planner_predict_within (GantryPlanner *planner, const GantryPlacements *placements, guint64 limit, GantryPrediction *prediction);

/**
 * gantry_planner_plan:
 *
 * The whole plan: as predicted, with offsets. With a limit (GantryTarget.memory_limit) fetches are delayed and evictions
 * brought forward until it holds.
 *
 * Returns: (transfer full) (nullable): %GANTRY_ERROR_NO_MEMORY when it does not fit: by how much, what is alive at the peak
 *  and which placements would help most; or when what is offloaded does not fit into GantryTarget.host_limit
 */
GantryPlan *gantry_planner_plan (GantryPlanner *planner, const GantryPlacements *placements, const GantryProgress *progress, GError **error);
/**
 * gantry_planner_take_refused:
 *
 * What the last gantry_planner_plan() of @planner would have been, had it fitted: to be looked at (who is alive when, and
 * until whose use), never to be run.
 *
 * Returns: (transfer full) (nullable): NULL where that was not refused for its size, or it was taken before
 */
GantryPlan *gantry_planner_take_refused (GantryPlanner *planner);

G_END_DECLS
