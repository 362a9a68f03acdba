/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the solver share: the candidates with the steps at which each could be gone, the pool of
 * placements that were predicted, and the three methods that fill it. */
#pragma once
#include "core/planner/planner-private.h"
#include "core/planner/solver/solution.h"

/** A span of base steps, both ends included, in which a value need not be in device memory. */
typedef struct
{
  guint32 from, to;
} SolveGap;

/** A candidate whose placement is not decided by a click. */
typedef struct
{
  guint32 node;
  guint32 root;              /* value */
  guint32 maker;             /* work, or NONE for what the caller gives */
  guint64 bytes;             /* whole place */
  guint8 allowed;            /* bits */
  guint8 in_loops;           /* loops make it again, its maker does not run once more */
  guint8 resident;           /* argument: its place is otherwise held for the whole run */
  guint32 first_gap, n_gaps; /* in gaps, by time; none: only in another order than the base order could it be gone */
  guint32 first_backward;    /* base step of the first use after the gap, or NONE */
  guint32 last_use;
  double again_us;             /* its maker alone, or what it costs loops if it is the only one */
  double copy_us;              /* one way */
  guint32 n_in, n_out;         /* copies in a step when it is offloaded */
  guint32 first_span, n_spans; /* in gaps, by time: where no work reads it behind its last forward use: in fewer bits it could be gone then */
} SolveItem;

/** A value that is alive for another one's second instance: the first of the two is then needed earlier, or longer. */
typedef struct
{
  guint32 needed, by; /* items */
  gboolean again;     /* @needed is made again itself: its second instance lives earlier; else the first lives longer */
  SolveGap gap;       /* base steps at which it is then alive though its own uses do not ask for it */
} SolvePair;

/** Which answer was predicted, and what it gave. */
typedef struct
{
  guint8 *kinds;    /* by item */
  GBytes *schedule; /* (nullable): GantryScheduleEntry; NULL: the base order */
  guint64 limit;    /* below which copies were squeezed, 0: they were not */
  guint64 peak;
  guint64 host;   /* bytes of host memory */
  guint64 copied; /* bytes, both ways */
  double us;
  double cost;        /* what is minimized: @us, and what @host costs */
  const char *method; /* static: what asked for it */
  guint8 alone;       /* one of the best that a method found by itself */
  guint8 planned;     /* its plan was made, and fits as predicted */
} SolveAnswer;

typedef struct
{
  GantryPlanner *planner;
  const GantryPlacements *base;
  const GantryProgress *progress;
  GArray *items;   /* SolveItem */
  GArray *gaps;    /* SolveGap */
  GArray *pairs;   /* SolvePair */
  guint32 n_steps; /* of the base order */
  guint64 *live;   /* by base step: everything kept, all parts of memory */
  double base_us;  /* of the work alone: without waiting for copies */
  guint64 base_peak;
  GPtrArray *pool;  /* SolveAnswer: kept by the planner between goals */
  GHashTable *seen; /* kinds and limit as bytes -> SolveAnswer, over the pool */
  GantryPrediction *prediction;
  guint64 limit;                 /* fetches are squeezed below this */
  guint64 host_limit;            /* of the target; G_MAXUINT64: none */
  double host_price;             /* of the goal: microseconds a byte; set before anything is predicted */
  guint allowed;                 /* bits 1 << GantryPlacementKind */
  gboolean compresses;           /* some value is, or may be, stored in fewer bits: what looks at schedules knows nothing of that, and proves nothing */
  const char *method;            /* static: what asks now */
  guint64 most_predictions;      /* the search is over then; 0: no such end */
  int most_nodes;                /* of an integer program's tree; 0: no such end */
  gint64 deadline;               /* g_get_monotonic_time(): 0: none; nothing but how much of a search is left is planned by it */
  gboolean cut;                  /* the deadline ended something */
  struct _SolveLeast *cut_least; /* (nullable): the least that was found until then; a search that goes on may find less, so no store has it */
  guint64 n_predictions;
} SolveProblem;

#define SCHEDULE_MOST_EXACT 64u /* works, and values: all schedules of a larger program are not looked at */

#define ITEM(problem, i) (&g_array_index ((problem)->items, SolveItem, (i)))
#define SOLVE_GAP(problem, i) (&g_array_index ((problem)->gaps, SolveGap, (i)))

SolveProblem *_gantry_solve_problem_new (GantryPlanner *planner, const GantryPlacements *base, guint allowed, const GantryProgress *progress);
void _gantry_solve_problem_free (SolveProblem *problem);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SolveProblem, _gantry_solve_problem_free)

/** Whether another place than the device's could be had for @item: TRUE: as @kind says it could be gone some time. */
gboolean _gantry_solve_could_be_gone (const SolveItem *item, guint kind);
/** Whole place of what is stored of @item as @kind says, and how long converting it takes, once to and once fro. */
guint64 _gantry_solve_stored_bytes (const SolveProblem *problem, const SolveItem *item, guint kind);
double _gantry_solve_stored_us (const SolveProblem *problem, const SolveItem *item, guint kind);

/** What is minimized of an answer that takes @us and @host bytes of the host: the time, and the price of those. */
double _gantry_solve_cost (const SolveProblem *problem, double us, guint64 host);
/** Of two that both fit: less cost, then fewer bytes copied (a copy that hides in the plan may not hide in the run), then fewer in the
 *  host, then a lower peak. Costs that differ by less than a part in a billion are equal. */
gboolean _gantry_solve_is_faster (const SolveAnswer *a, const SolveAnswer *b);

/** Predicts an answer, or remembers it. @kinds: by item; copied. Returns: (transfer none): in the pool */
const SolveAnswer *_gantry_solve_evaluate (SolveProblem *problem, const guint8 *kinds);
/** The same of a schedule. @schedule: (nullable) (transfer none): GantryScheduleEntry */
const SolveAnswer *_gantry_solve_evaluate_schedule (SolveProblem *problem, const guint8 *kinds, GBytes *schedule);
GantryPlacements *_gantry_solve_placements (const SolveProblem *problem, const guint8 *kinds, GBytes *schedule);
/** TRUE when it is time to end: cancelled, enough was predicted, or past the deadline, which is noted then. */
gboolean _gantry_solve_is_over (SolveProblem *problem);
/** Until the deadline, where there is one. */
double _gantry_solve_seconds_left (const SolveProblem *problem);
/** The search that begins may predict @n answers. */
void _gantry_solve_spend (SolveProblem *problem, guint64 n);
/** The fastest answer of the pool with a peak of at most @limit; NULL when there is none. */
const SolveAnswer *_gantry_solve_fastest (const SolveProblem *problem, guint64 limit);
/** The answer of the pool with the lowest peak among those with at most @us. */
const SolveAnswer *_gantry_solve_smallest (const SolveProblem *problem, double us);

/** What the integer program says. */
typedef struct
{
  guint8 *kinds;   /* (nullable): by item: its best answer */
  double bound;    /* no placement with a peak of at most @limit is faster; INFINITY when none exists */
  gboolean proven; /* the answer is the program's optimum */
} SolveRelaxed;
void _gantry_solve_relaxed_clear (SolveRelaxed *relaxed);

/** Loads CBC, which the integer programs below need; FALSE with @error where it is not there. */
gboolean _gantry_solve_load (GError **error);
/**
 * Minimizes predicted time (or with @limit 0 the peak) over a relaxation of the planner's meaning: whatever it leaves out
 * only ever adds memory or time, so its value is a bound. @gap: relative gap at which the integer program stops.
 */
gboolean _gantry_solve_program (SolveProblem *problem, guint64 limit, double gap, SolveRelaxed *relaxed);
/** Where each tensor lives at each step, moves included, as an integer program. */
gboolean _gantry_solve_autotm (SolveProblem *problem, guint64 limit, SolveRelaxed *relaxed);

#define SOLVE_MOST_ENUMERATED 6000u
/** Every combination into the pool, where there are at most @most. Returns: FALSE when there are more */
gboolean _gantry_solve_enumerate (SolveProblem *problem, guint64 most);
/** Well-known answers into the pool: all kept, all recomputed, all offloaded, every k-th kept. */
void _gantry_solve_try_known (SolveProblem *problem);
/** The least memory that any placements take, found by an effort that is counted; timed where a deadline cuts it. */
typedef struct _SolveLeast
{
  guint8 *kinds;             /* (nullable): by item; NULL where nothing fits into the host */
  GBytes *schedule;          /* (nullable) */
  guint64 limit;             /* its plan is made within this */
  guint64 bytes;             /* what that plan takes; G_MAXUINT64 before there is one */
  GantryPlanFigures figures; /* of that plan */
} SolveLeast;
void _gantry_solve_least_free (SolveLeast *least);
/**
 * _gantry_solve_least:
 *
 * Unless @deadline cuts it searched the same way for the same program, clicks and placements that may be used, whatever is asked for; no answer of the store,
 * nor in the pool of @asked, is lower. What refusals name. Kept by the store; what @deadline cut is kept by @asked.
 *
 * What its searches come by is known to later goals (solve-store-private.h), which is the more of its use to a goal that is not tight.
 *
 * @deadline: as of SolveProblem
 *
 * Returns: (transfer none) (nullable): NULL when cancelled
 */
const SolveLeast *_gantry_solve_least (SolveProblem *asked, gint64 deadline);

/** Improves @start (and the pool) by changing the values of equal blocks together, then one or two at a time. */
void _gantry_solve_search (SolveProblem *problem, const guint8 *start, guint64 limit);
