/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: orders in which works run, some more than once. A model of the program that knows only what that takes: which values
 * a work reads and makes, their bytes, and its time. The exact search and the evicting one look at it; what they find becomes
 * an answer of the pool like any other, with the planner's own prediction. */
#pragma once
#include "core/planner/solver/solve-problem-private.h"

/** A value that takes a place of the arena while it is alive. */
typedef struct
{
  guint64 bytes;
  guint32 maker;  /* work of the model that makes it first */
  gint32 item;    /* or -1 */
  guint8 lasting; /* once made it stays: it cannot be made again, or must not */
} ScheduleValue;

typedef struct
{
  guint32 work; /* of the program */
  double us;
  guint64 workspace;
  guint32 first_read, n_reads;  /* in reads: values of the model */
  guint32 first_make, n_makes;  /* in makes: likewise */
  guint32 first_over, n_over;   /* in overs: of what it reads that which its result may be written over */
  guint32 first_after, n_after; /* in afters: works of the model that must have run before, though it reads nothing of theirs */
  guint8 repeats;               /* may run again */
} ScheduleWork;

typedef struct
{
  SolveProblem *problem;
  GArray *works;                          /* ScheduleWork, in the base order */
  GArray *values;                         /* ScheduleValue */
  GArray *reads, *makes, *overs, *afters; /* guint32 */
  guint32 *value_of;                      /* by value of the program: of the model, or NONE */
  gint32 *item_of;                        /* by value of the program: its item, or -1 */
  guint32 *position;                      /* by work of the program: its place in the base order */
  guint64 fixed;                          /* bytes that are there all the time */
  gboolean complete;                      /* nothing is left out that takes memory, so that what cannot be here cannot be */
} ScheduleModel;

#define SCHEDULE_WORK(model, i) (&g_array_index ((model)->works, ScheduleWork, (i)))
#define SCHEDULE_VALUE(model, i) (&g_array_index ((model)->values, ScheduleValue, (i)))
#define SCHEDULE_READ(model, work, k) (g_array_index ((model)->reads, guint32, (work)->first_read + (k)))
#define SCHEDULE_MAKE(model, work, k) (g_array_index ((model)->makes, guint32, (work)->first_make + (k)))

/** A model of at most %SCHEDULE_MOST_EXACT works and values as sets: a bit for each. */
typedef struct
{
  const ScheduleModel *model;
  guint n_works, n_values;
  guint64 read[SCHEDULE_MOST_EXACT], make[SCHEDULE_MOST_EXACT], over[SCHEDULE_MOST_EXACT]; /* by work: values */
  guint64 after[SCHEDULE_MOST_EXACT], before[SCHEDULE_MOST_EXACT];                         /* by work: works */
  guint64 ancestors[SCHEDULE_MOST_EXACT];                                                  /* by value: values that it may take to make it */
  guint64 lasting;                                                                         /* values */
  guint64 repeats;                                                                         /* works */
} ScheduleBits;

/** Returns: FALSE where the model is too large, or empty */
gboolean _gantry_schedule_bits_init (ScheduleBits *bits, const ScheduleModel *model);
guint64 _gantry_schedule_bytes (const ScheduleBits *bits, guint64 values);
/** Of the values @there those that works which have not run may need. @done: works */
guint64 _gantry_schedule_without_dead (const ScheduleBits *bits, guint64 done, guint64 there);
/** What must run again at least: what the rest reads and is gone, and what making that reads and is gone. Infinite where it cannot. */
double _gantry_schedule_least_again (const ScheduleBits *bits, guint64 done, guint64 there);

/** A state that is to be expanded. */
typedef struct
{
  double price;
  guint32 state;
  guint32 n_done; /* works */
} ScheduleOpen;

/** @heap: (element-type ScheduleOpen): by price */
void _gantry_schedule_push (GArray *heap, ScheduleOpen entry);
/** Returns: the state of the least price, which is taken out */
guint32 _gantry_schedule_pop (GArray *heap);

ScheduleModel *_gantry_schedule_model_new (SolveProblem *problem);
void _gantry_schedule_model_free (ScheduleModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ScheduleModel, _gantry_schedule_model_free)

/** Predicts a schedule of the model's works. @kinds: (nullable): by item; those of what runs twice become RECOMPUTE. */
const SolveAnswer *_gantry_schedule_evaluate (const ScheduleModel *model, const guint8 *kinds, const guint32 *works, guint n);

/** What was written down from the end: the elements of @array from @first on the other way round, in place. O(n) */
void _gantry_schedule_reverse (GArray *array, guint first);

/** What an exact search over all schedules found. */
typedef enum
{
  SCHEDULE_FOUND,    /* the fastest of all schedules */
  SCHEDULE_NONE,     /* no schedule fits */
  SCHEDULE_GIVEN_UP, /* too many states, or too large a program */
} ScheduleOutcome;

/**
 * _gantry_schedule_exact:
 * @schedule: (out): appended to: works of the model
 *
 * The fastest schedule with at most @limit bytes: A* over which works have run and which values are there (Hart, Nilsson and
 * Raphael, IEEE Trans. SSC 4(2), 1968), where only what a work needs room for is given up.
 */
ScheduleOutcome _gantry_schedule_exact (const ScheduleModel *model, guint64 limit, guint most_states, GArray *schedule);

/**
 * _gantry_schedule_exact_copies:
 * @below: only what takes less time is looked for
 * @entries: (out): GantryScheduleEntry: appended to, with copies
 *
 * The same where values may be spilled and prefetched besides: label setting over which works have run, which values are on the device,
 * on their way and in the host, and until when each of the three queues is busy; one label dominates another where it is in the same
 * state no later. Returns: %SCHEDULE_NONE where nothing takes less than @below
 */
ScheduleOutcome _gantry_schedule_exact_copies (const ScheduleModel *model, guint64 limit, double below, guint most_labels, GArray *entries);
/** Can all that the problem may offload be copied by a schedule? */
gboolean _gantry_schedule_copies_all (const ScheduleModel *model);

/** How the evicting search chooses. */
typedef struct
{
  double size_weight; /* how much bytes count against the time of making it again */
  double far_weight;  /* how much the distance to the next use counts */
} ScheduleTaste;

/**
 * _gantry_schedule_evict:
 * @kinds: (nullable): by item: what is offloaded there comes back without being made
 *
 * The base order within @limit, where what is needed last and is made again cheaply gives way, and is made again when it is
 * needed: Belady's rule with costs; see Kirisame et al., Dynamic Tensor Rematerialization, ICLR 2021, which does so without
 * knowing what comes. Returns: FALSE where it does not find room, or too much would be made again
 */
gboolean _gantry_schedule_evict (const ScheduleModel *model, guint64 limit, const guint8 *kinds, const ScheduleTaste *taste, GArray *schedule);

/** Predicts a schedule with copies. @entries: GantryScheduleEntry. What it spills is offloaded, what else it runs twice recomputed. */
const SolveAnswer *_gantry_schedule_evaluate_copies (const ScheduleModel *model, const GArray *entries);
/** Bytes at the peak of a schedule, as the model knows them. @kinds: (nullable) */
guint64 _gantry_schedule_peak (const ScheduleModel *model, const GArray *schedule);
/** Leaves out runs that the limit does not ask for, dearest first. */
void _gantry_schedule_trim (const ScheduleModel *model, guint64 limit, GArray *schedule);
/** Leaves out runs that nothing reads. @kinds: (nullable): by item: what is offloaded is not made again */
void _gantry_schedule_leave_out_unread (const ScheduleModel *model, GArray *schedule, const guint8 *kinds);
/** Improves the best answers of the pool, @n_tries changes each. */
void _gantry_schedule_search (const ScheduleModel *model, guint64 limit, guint n_tries);
/** All methods that know schedules into the pool. Returns: what the exact search said; @us: (out): of its answer */
ScheduleOutcome _gantry_solve_schedules (SolveProblem *problem, guint64 limit, double *us);
