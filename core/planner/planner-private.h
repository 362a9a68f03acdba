/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the planner share. A question is answered in this order: walk (which work runs when, and
 * once more; who reads which instance: ranges), copies (when they begin), lifetimes (what is written over what, the
 * curve), copies again (the three queues against each other). All arrays are kept for the next question. */
#pragma once
#include "core/planner/planner.h"
#include "core/planner/program-private.h"
#include "core/planner/rounding/rounding.h"
#include "core/plan/compression.h"

/* One instance of a value in one memory, from its first to its last step. */
typedef struct
{
  guint32 unit;     /* value */
  guint32 begin;    /* index in line: it is written during this one, or from here on by a copy */
  guint32 end;      /* last index in line at which its place is needed */
  guint32 last_use; /* last index at which a work reads or writes it */
  guint32 over;     /* range whose place it takes over, or NONE */
  guint32 inside;   /* range of the group whose place it is made in, or NONE */
  guint64 bytes;
  guint8 instance;
  guint8 memory;   /* GantryMemoryKind */
  guint8 stored;   /* GantryPlacementKind: as GantryPlanBuffer has it */
  guint8 fixed;    /* has a place of its own for the whole run */
  guint8 kept;     /* a result: nothing is written over it */
  guint8 released; /* a schedule, or a copy that begins later, says when its place is free: nothing is written over it before */
} LiveRange;

/* What a place in the line is. */
typedef enum
{
  RUN_WORK,
  RUN_LAST_COPY, /* of a result over its argument, at the end */
  RUN_CONVERT,   /* of one range into another: to fewer bits or back */
} RunKind;

/* One run of a work. */
typedef struct
{
  guint32 work;        /* NONE: it is no work's */
  guint32 first_use;   /* in use_range: as many as the work has uses; else one, of what is read */
  guint32 first_range; /* of what it makes */
  guint8 instance;
  guint8 kind; /* RunKind */
} Run;

typedef struct
{
  guint32 from, to; /* ranges */
  guint32 unit;     /* value that is copied */
  guint64 from_offset, to_offset, bytes;
  guint8 queue;
  guint32 at;           /* stands in the array before this index of line */
  guint32 ready;        /* to the device: index of line that needs it; to the host: `at` */
  guint32 after;        /* copy to the host that must be done before, or NONE */
  guint32 earliest;     /* its source is not there before this index of line */
  guint32 next_release; /* list by the index at which its source's place may be taken though it is not done */
  guint8 scheduled;     /* a schedule says when it begins: it is neither hidden nor delayed */
  double us;
  double begin, end; /* hidden behind a compute queue that never waits, then as simulated */
} Copy;

/* Which loops of many trips have what they walk along brought by their bodies, as loops of few trips do, in place of a trip before: that
 * takes room for one slice, and waits. Backward loops need the most. */
typedef enum
{
  FETCHING_NONE,
  FETCHING_BACKWARD,
  FETCHING_ALL,
  N_FETCHING,
} LoopFetching;

/* An entry of a schedule that is followed: GantryScheduleEntry by work or value. */
typedef struct
{
  guint32 action;
  guint32 of; /* work that runs, else value that is copied */
} Scheduled;

/* A stack that a scan may make over one that it walks along. */
typedef struct
{
  guint32 work;
  guint32 operand; /* of its node */
  guint32 result;  /* of its values */
  guint64 bytes;
  guint8 rank; /* the higher the better */
} Overlay;

/* Lists by value. */
typedef struct
{
  GArray *values; /* guint32 */
  guint32 *first; /* by value: index in values */
  guint32 *n;
} Touches;

/* Lifetimes of constants among the init steps (of those that are used after load until n_init), by value (roots), and where
 * they lie in their region. */
typedef struct
{
  guint32 n_init;
  guint32 *works; /* works of the init steps */
  guint32 *begin, *end;
  guint32 *over;             /* constant that it is written over, or NONE */
  guint64 *offset;           /* by value: of those that are written over nothing */
  guint64 *workspace_offset; /* by init step */
  guint64 bytes;             /* height of the region */
  guint64 literal_bytes;     /* whole places of the literals that are read where they lie */
} Constants;

struct _GantryPlanner
{
  Program *program;
  Constants *constants;
  GantryPlanOptions options;
  GantryTarget target;
  guint32 n_order;
  guint32 *order;                      /* works that are not init */
  double *cost_us;                     /* by work */
  guint32 *work_at;                    /* by position in the function: the work that the node is, or NONE */
  guint32 *base_last;                  /* by unit: index in order of its last use, or of its making */
  GArray *candidates;                  /* GantryCandidate */
  gint32 *candidate_of;                /* by value (roots) */
  guint32 *shown_by;                   /* by value (roots): what a scan gives: node that stands for it; else 0 */
  guint8 *stack_of_slices;             /* by value: it is made and read slice by slice alone */
  gboolean has_stacks;                 /* there is such a value */
  guint8 *again_in_loops;              /* by value: of those, the loops that read it can make its slices again */
  GArray *scans;                       /* guint32: works, ascending; none where there is no choice how any of them is run */
  GArray *overlays;                    /* Overlay: by work, then the best first */
  guint32 *first_overwritable;         /* by work: index in overwritable */
  GArray *donated;                     /* guint32: inputs with a result written over them */
  GArray *unmet_donations;             /* guint32: inputs that are donated to a result without a place of its own */
  Touches units;                       /* of a result that is donated to, or a part of one: units of the input that lie there and are read */
  Touches writers;                     /* of such a unit: the result, or its parts, that lie there */
  guint32 *n_forward_uses;             /* by value (roots): works of the forward phase that read it */
  GantryRounding *rounding;            /* (nullable): of a body, where nothing is placed */
  guint8 *asked;                       /* by value (roots): what gantry_rounding_asked() says of it */
  guint8 *in_place_donation;           /* by result or part of one: its work may write over what it reads of that input */
  GArray *overwritable;                /* guint32: uses (their place among the uses of the work) that its result may be written over */
  guint64 held[GANTRY_N_MEMORY_KINDS]; /* of the current question: arguments + results - aliased */
  guint64 argument_bytes[GANTRY_N_MEMORY_KINDS], output_bytes[GANTRY_N_MEMORY_KINDS], alias_bytes[GANTRY_N_MEMORY_KINDS];
  GantryMemoryParts beside; /* the arena of the device, from load to the end: the same for every question */
  guint64 beside_bytes;     /* their sum */

  /* Of the current question. */
  gboolean narrow;         /* what is fetched stays for one use: memory is short */
  guint8 fetching;         /* LoopFetching: memory is short */
  guint8 *kind;            /* by value (roots): GantryPlacementKind */
  guint8 *memory;          /* by value (roots): where it is offloaded to */
  guint8 *decider;         /* by value (roots) */
  GArray *problems;        /* GantryPlacementProblem, reasons static */
  const Loop **loop;       /* by work: how a scan runs, NULL: as it is */
  guint8 *unmade;          /* by value: a stack that nothing reads: there is none */
  gboolean no_overlays;    /* no stack is made over another one */
  gboolean overlay_failed; /* one that was to be written over is still needed, since the question was begun: ask without */
  gint64 loop_bytes;       /* of constants that loops need so, and not else */
  guint32 *device_range;   /* by unit: its live range on the device, of what is made again the first */
  guint32 *in_host;        /* by root: its range in the host, where it has one */
  guint32 *again;          /* by unit: range of the second instance, or of the last fetched one */
  guint32 *evicted;        /* by root: its last copy to the host */
  gboolean compresses;     /* some value is stored in fewer bits; of those, by value (roots): */
  guint32 *compressed;     /* what is stored, or NONE */
  guint8 *rounded;         /* by unit: what `again` has was made from such a value */
  guint32 *restored;       /* what was converted back last, or NONE */
  guint32 *forward_left;   /* works of the forward phase that are still to read it */
  GArray *schedule;        /* Scheduled: works in the order in which they run, some again, and copies; none: the base order */
  guint8 *copies;          /* by value (roots): the schedule says when it is copied */
  guint8 *residence;       /* by value (roots): of those, while the schedule is read: IN_DEVICE, ... */
  guint32 *fetched;        /* by value (roots): of those, its last copy to the device, or NONE */
  guint32 *n_scheduled;    /* by work: how often it stands there */
  guint32 *scheduled_last; /* by unit: index in schedule of its last use, or of its last making */
  guint8 *made;            /* by work: it has run once */
  guint8 *rematerialized;  /* by work */
  guint8 *late_donation;   /* by input: it is still fetched after the result that it is donated to was copied over it */
  guint8 *copy_at_end;     /* by root: to be kept and copied over its argument at the end, therefore */
  GArray *line;            /* Run */
  GArray *start_us;        /* double: by index of line, and the end: compute queue that never waits */
  GArray *use_range;       /* guint32 */
  GArray *ranges;          /* LiveRange */
  GArray *evictions;       /* Copy: to the host, in order */
  GArray *fetches;         /* Copy: to the device, in order */
  GArray *last_copies;     /* guint32: results (roots) that are copied over their argument at the end */
  GArray *stack;           /* guint32 pairs */
  GArray *live;            /* guint64: by index of line, what is alive on the device beside fixed places */
  GArray *live_arguments;  /* guint64: of that the parameters and results */
  GArray *live_host;
  GArray *release;           /* guint32: by index of line, first of the list of copies */
  GantryPrediction *own;     /* for plans */
  GantryPlan *refused;       /* (nullable): what did not fit last */
  gpointer store;            /* (nullable): what the solver keeps of the program from one goal to the next; the planner only frees it, */
  GDestroyNotify store_free; /* by this */
};

#define RANGE(planner, i) (&g_array_index ((planner)->ranges, LiveRange, (i)))
#define RUN(planner, i) (&g_array_index ((planner)->line, Run, (i)))
#define EVICTION(planner, i) (&g_array_index ((planner)->evictions, Copy, (i)))
#define FETCH(planner, i) (&g_array_index ((planner)->fetches, Copy, (i)))
#define START_US(planner, i) (g_array_index ((planner)->start_us, double, (i)))

/** Reads placements into kind, memory and problems. */
void _gantry_planner_read_placements (GantryPlanner *planner, const GantryPlacements *placements);
/** Fills schedule, n_scheduled and scheduled_last; one that cannot be followed becomes a problem, and none. After the
 *  placements were read. */
void _gantry_planner_read_schedule (GantryPlanner *planner, const GantryPlacements *placements);
/** A range that begins at index @at of the line. */
guint32 _gantry_planner_add_range (GantryPlanner *planner, guint32 unit, guint8 instance, guint8 memory, guint32 at);
/** @l is read or written at index @at. */
void _gantry_planner_extend (GantryPlanner *planner, guint32 l, guint32 at);
/** Is root @v stored in fewer bits, under the placements that were read? */
gboolean _gantry_planner_compresses (const GantryPlanner *planner, guint32 v);
/** Why root @v, a @subject, cannot be stored as @kind says. Returns: (nullable): it can */
const char *_gantry_planner_why_not_compressed (const GantryPlanner *planner, guint32 v, GantryPlacementSubject subject, GantryPlacementKind kind);
gint64 _gantry_planner_elements (const GantryPlanner *planner, guint32 v);
/** How long a conversion of root @v takes. */
double _gantry_planner_convert_us (const GantryPlanner *planner, guint32 v, GantryPlacementKind kind);
/** Of the line that begins: nothing is stored yet. */
void _gantry_planner_begin_compression (GantryPlanner *planner);
/** The conversions that must stand before a run of @work. @late: it reads what was converted back */
void _gantry_planner_convert_before (GantryPlanner *planner, const Work *work, gboolean late);
/** The conversions that stand behind the first run of @work: of what it makes and the forward phase does not read. */
void _gantry_planner_convert_after (GantryPlanner *planner, const Work *work);
/** Whether range @l of @unit has what was rounded, or was made from it. */
gboolean _gantry_planner_reads_rounded (const GantryPlanner *planner, guint32 unit, guint32 l);
/** Fills n_forward_uses. */
void _gantry_planner_find_forward_uses (GantryPlanner *planner);
/** Fills asked: of what later phases read as it is. */
void _gantry_planner_find_asked (GantryPlanner *planner);
/** What must not be rounded since of what is made again from it something is asked is kept; after placements and schedule were read. */
void _gantry_planner_keep_asked (GantryPlanner *planner);
/** Fills cost_us. */
void _gantry_planner_find_costs (GantryPlanner *planner);
/** Fills work_at. */
void _gantry_planner_find_works (GantryPlanner *planner);
/** May @work run a second time at all, whatever is placed? */
gboolean _gantry_planner_can_repeat (const GantryPlanner *planner, guint32 work);
/** Fills candidates. */
void _gantry_planner_find_candidates (GantryPlanner *planner);
/** Fills stack_of_slices; after the candidates. */
void _gantry_planner_find_stacks (GantryPlanner *planner);
/** What loops make again may be placed so, and what that costs. */
void _gantry_planner_allow_loops (GantryPlanner *planner);
/** Fills scans and again_in_loops; after the stacks. */
void _gantry_planner_find_loops (GantryPlanner *planner);
/** Fills overlays. */
void _gantry_planner_find_overlays (GantryPlanner *planner);
/** What scan @w makes over what it reads. @slices: as in Loop. Returns: (transfer full) (nullable): as in Loop */
gint32 *_gantry_planner_choose_overlays (const GantryPlanner *planner, guint32 w, const guint8 *slices);
/** Notes which results of scan @w are made in place of the arguments that they are donated, as @loop (nullable) runs it. */
void _gantry_planner_note_overlays (GantryPlanner *planner, guint32 w, const Loop *loop);
/** Lays the stacks that index @at of the line makes over those that it reads. Returns: FALSE where one of them is still needed */
gboolean _gantry_planner_write_stacks_over (GantryPlanner *planner, guint32 at);
/** Fills loop, unmade and loop_bytes from the placements that were read. */
void _gantry_planner_choose_loops (GantryPlanner *planner);
/** Nodes of bodies that _gantry_planner_choose_loops() would have to plan. What is chosen then counts for no question. */
guint32 _gantry_planner_count_unplanned (GantryPlanner *planner);
/** Whether slices of root @v are made again by the loops that read it, under the placements that were read. */
gboolean _gantry_planner_loops_make (const GantryPlanner *planner, guint32 v);
/** Whether later phases have @v as operand, but only for loops that do not read it as they are run: for making again what is there. */
gboolean _gantry_planner_loops_leave (const GantryPlanner *planner, guint32 v);
/** By how much longer @work runs than if all that it reads were there. */
double _gantry_planner_loop_us (const GantryPlanner *planner, guint32 work);
/** What it costs loops to make the slices of root @v again, if it is the only one. */
double _gantry_planner_again_us (GantryPlanner *planner, guint32 v);
/** Whether root @v has its only place in the host, and scans copy it slice by slice, under the placements that were read. */
gboolean _gantry_planner_streams (const GantryPlanner *planner, guint32 v);
/** By operand of scan @w: its slices are in the host, under the placements that were read, and its body fetches each when it is read: of
 *  loops with few trips. (transfer full) */
guint8 *_gantry_planner_find_fetched (const GantryPlanner *planner, guint32 w);
/** Whether there is a loop whose body fetches slices from @fetching on and not before. */
gboolean _gantry_planner_fetches_from (const GantryPlanner *planner, LoopFetching fetching);
/** The memory that a scan makes root @v in: the device's where it does not stream it. */
guint8 _gantry_planner_stream_memory (const GantryPlanner *planner, guint32 v);
/** Bytes of workspace that @work takes, with room for the slices of what it brings to the host and back. */
guint64 _gantry_planner_workspace (const GantryPlanner *planner, guint32 work);
/** What @work copies so: @bytes (out), and how long it takes. */
double _gantry_planner_stream_us (const GantryPlanner *planner, guint32 work, guint64 *bytes);
/** Fills overwritable. */
void _gantry_planner_find_overwritable (GantryPlanner *planner);
/** What is known of donations before any question. */
void _gantry_planner_find_donations (GantryPlanner *planner);
/** Where a root lives under the placements that were read: FALSE: on the device. */
gboolean _gantry_planner_in_host (const GantryPlanner *planner, guint32 root);
/** The memory of a root. */
guint8 _gantry_planner_memory_of (const GantryPlanner *planner, guint32 root);
/** Fills line, ranges and copies from the placements that were read. */
void _gantry_planner_walk (GantryPlanner *planner);
/** Lets copies begin as early as hides them. */
void _gantry_planner_hide_copies (GantryPlanner *planner);
/** Delays fetches and, with @evictions, shortens those where more than @limit bytes of temporaries were alive. */
void _gantry_planner_squeeze (GantryPlanner *planner, guint64 limit, gboolean evictions);
/** What the peak of temporaries would be if each fetch were delayed until its use; after _gantry_planner_find_lifetimes(). Linear. */
guint64 _gantry_planner_least_peak (const GantryPlanner *planner);
/** What is written over what, and the curve; overlay_failed. Returns: the peak of temporaries on the device, its index in line in @at */
guint64 _gantry_planner_find_lifetimes (GantryPlanner *planner, guint32 *at);
/** The three queues against each other; with steps and totals into @prediction. */
void _gantry_planner_simulate (GantryPlanner *planner, GantryPrediction *prediction);
/** All of the above. */
void _gantry_planner_evaluate (GantryPlanner *planner, const GantryPlacements *placements, guint64 limit, GantryPrediction *prediction);
/** Needs overwritable. */
Constants *_gantry_constants_new (const GantryPlanner *planner, const GantryProgress *progress);
void _gantry_constants_free (Constants *constants);
/** The range that stands for root @v: where it is in the end, of a result; else where it was made. NONE: of a result that is
 *  copied over its argument at the end. */
guint32 _gantry_planner_main_range (const GantryPlanner *planner, guint32 v);

/** The limit that a plan of @placements (nullable) is made for where @limit (0: none) holds: what they were found within, where that is
 * less. */
guint64 _gantry_planner_effective_limit (const GantryPlacements *placements, guint64 limit);
/** The plan within @limit bytes of device memory, 0: none. (transfer full) (nullable): NULL where it does not fit, then @need
 *  (out) is what the plan that came nearest takes, or where it was cancelled. */
GantryPlan *_gantry_planner_plan_within (GantryPlanner *planner, const GantryPlacements *placements, guint64 limit, GantryMemoryParts *need,
                                         const GantryProgress *progress);
/** Writes the question that was just asked down as a plan. */
GantryPlan *_gantry_planner_write (GantryPlanner *planner, const GantryProgress *progress);
/** Waits of a plan whose buffers lie where they will: nothing is read before it is written, or overwritten before it is read. */
void _gantry_plan_find_waits (GantryPlan *plan, const GArray *refs, GArray *waits);
