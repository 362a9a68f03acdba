/* SPDX-License-Identifier: Apache-2.0 */
/* The type of a plan: in which order the nodes of the entry function run, where every value lies in
 * the arenas and when, and what is predicted. core/planner makes it; it is kept in the session file. */
#pragma once
#include "core/plan/memory-parts.h"
#include "core/plan/placement.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_QUEUE_COMPUTE,
  GANTRY_QUEUE_TO_HOST,
  GANTRY_QUEUE_TO_DEVICE,
  GANTRY_N_QUEUES
} GantryQueue;

/** The order is part of the session file format: append only. */
typedef enum
{
  GANTRY_BUFFER_INPUT,
  GANTRY_BUFFER_OUTPUT,
  GANTRY_BUFFER_CONSTANT, /* literal or value computed once at load: in the constant region */
  GANTRY_BUFFER_TEMPORARY,
  GANTRY_BUFFER_WORKSPACE, /* scratch of one step */
} GantryBufferCategory;

/** What a buffer is to a training step: for the report. The order is part of the session file format: append only. */
typedef enum
{
  GANTRY_ROLE_OTHER, /* a value that lives and dies in one phase */
  GANTRY_ROLE_INPUT,
  GANTRY_ROLE_PARAMETER,
  GANTRY_ROLE_STATE,    /* of the optimizer, old and new */
  GANTRY_ROLE_RESIDUAL, /* saved for the backward phase; recomputed and fetched instances too */
  GANTRY_ROLE_GRADIENT, /* made in the backward phase */
  GANTRY_ROLE_WORKSPACE,
  GANTRY_ROLE_OUTPUT,
  GANTRY_N_ROLES
} GantryBufferRole;

typedef enum
{
  GANTRY_REGION_ARENA,    /* planned arena of the buffer's memory kind */
  GANTRY_REGION_CONSTANT, /* filled once when the executable is loaded */
  GANTRY_REGION_LITERAL,  /* the bytes of a dense literal, mapped from the model: never copied */
} GantryRegion;

#define GANTRY_NO_BUFFER G_MAXUINT32
/** What @bytes take as a place. */
static inline guint64
gantry_place_bytes (guint64 bytes)
{
  return (bytes + GANTRY_PLACE_ALIGNMENT - 1) / GANTRY_PLACE_ALIGNMENT * GANTRY_PLACE_ALIGNMENT;
}

typedef struct
{
  guint32 node;    /* value that lives here; of a workspace the node that needs it */
  guint32 member;  /* of a tuple-typed node: which member, else 0 */
  guint8 category; /* GantryBufferCategory */
  guint8 region;   /* GantryRegion */
  guint8 memory;   /* GantryMemoryKind */
  guint8 in_place; /* written over the buffer @shares */
  guint8 role;     /* GantryBufferRole */
  guint8 instance; /* 0: the value as first made; 1: computed again, or fetched or converted back; of a host copy 0 */
  guint8 stored;   /* GantryPlacementKind: BF16 or INT8: what lies here is the value in fewer bits; KEEP: the value itself */
  guint8 pieces;   /* a stack without a place: the scans that walk along it have its slices each in a buffer of their own. Not kept in a
                     * session */
  guint32 shares;  /* buffer whose place this one takes over (in place or as a view), or GANTRY_NO_BUFFER */
  guint64 offset;  /* bytes in its region; of a literal 0; a view may begin inside the place it shares */
  guint64 size;    /* bytes of the value; places are aligned to 64 */
  guint32 begin;   /* first step at which it is alive (arena region) */
  guint32 end;     /* last step, inclusive */
  guint32 literal; /* literal id of a LITERAL or splat CONSTANT buffer, else 0 */
} GantryPlanBuffer;

typedef enum
{
  GANTRY_STEP_RUN,       /* the kernel of the node */
  GANTRY_STEP_RECOMPUTE, /* the kernel of the node, once more */
  GANTRY_STEP_COPY,      /* refs[0] to refs[1], between memory kinds (or within one: an explicit `copy` node) */
  GANTRY_STEP_CONVERT,   /* refs[0] to refs[1], to fewer bits or back from them */
  GANTRY_N_STEP_KINDS,
} GantryStepKind;

/**
 * GantryPlanStep:
 *
 * Steps of one queue run in the order of the array. A step on another queue begins once the steps that it waits for are
 * done and not before the step that stands before it in the array has been reached by the compute queue.
 */
typedef struct
{
  guint32 node;    /* node id of the entry function: whose work this is, or whose value is copied or converted */
  guint8 queue;    /* GantryQueue */
  guint8 init;     /* runs once at load: all it reads is constant */
  guint8 kind;     /* GantryStepKind */
  guint8 instance; /* 0, or 1 for a recomputation */
  /* In plan->refs: buffers of the operands, then the slices of those that are @pieces, in their order: @n_operands that are read; then
   * the same of the results; then the workspace. */
  guint32 first_ref, n_operands, n_refs;
  guint32 first_wait, n_waits; /* in plan->waits: steps of other queues that must be done, each before it in the array */
  double start_us;             /* predicted, from the start of the step's phase */
  double duration_us;
  double wait_us; /* predicted: how long its queue stands still for others before it starts */
} GantryPlanStep;

/** A placement that could not be honoured: told, never silently ignored. */
typedef struct
{
  guint32 node;
  guint8 kind;  /* GantryPlacementKind that was asked for */
  guint8 given; /* what it got instead */
  char *reason; /* for people: "a random value without a saved counter cannot be computed again" */
} GantryPlacementProblem;

typedef struct _GantryPlan GantryPlan;

/** The plan of a function that control of the planned one names: within the workspace of that control. */
typedef struct
{
  guint32 node;     /* id of the control: others may run the same function in another way */
  guint32 function; /* id */
  GantryPlan *plan; /* resident: parameters and results lie where the control has them */
} GantryPlanRegion;

/** Immutable once made; buffers and steps in plain arrays. Init steps come first and are not on the time axis. */
struct _GantryPlan
{
  gatomicrefcount ref_count;
  guint32 n_steps;
  guint32 n_init_steps; /* steps[0 .. n_init_steps) */
  GantryPlanStep *steps;
  guint32 n_buffers;
  GantryPlanBuffer *buffers;
  guint32 n_refs, n_waits;
  guint32 *refs;                                 /* buffer indices */
  guint32 *waits;                                /* step indices */
  guint64 arena_bytes[GANTRY_N_MEMORY_KINDS];    /* height of the packing; with @resident its first bytes are these: */
  guint64 argument_bytes[GANTRY_N_MEMORY_KINDS]; /* places of the entry parameters */
  guint64 output_bytes[GANTRY_N_MEMORY_KINDS];   /* places of the results, aliased ones included */
  guint64 alias_bytes[GANTRY_N_MEMORY_KINDS];    /* of those the ones that lie over an argument */
  guint8 refused;                                /* it does not keep to the limits that it was made for: to be looked at, never to be run */
  guint8 resident;                               /* arguments and results have places of their own for the whole run (a training step) */
  guint64 constant_bytes;                        /* of the constant region */
  guint64 literal_bytes;                         /* whole places of the literals that are read, each once, wherever a device reads them; with all constants
                           * of the regions */
  guint64 packed_bytes;                          /* constants once more, as libraries want them */
  guint64 code_bytes;                            /* of generated code */
  guint8 slices_staged;                          /* all slices of scans have room in workspaces: for a device that uses none where it lies in the whole */
  guint8 sizes_known;                            /* workspaces, packed_bytes and code_bytes are those of kernels; FALSE: not known yet, counted as 0 */
  guint64 lower_bound;                           /* largest sum of live bytes (device arena): no packing can be lower */
  guint32 peak_step;                             /* where that is */
  guint64 *live_bytes;                           /* per step, device arena: bytes alive while it runs; of those: */
  guint64 *live_arguments;                       /* parameters and results */
  guint64 *live_workspaces;
  char *kernels;        /* (nullable): the conditions that those are made under (GantryKernelSizes); NULL: not known */
  char *target;         /* (nullable): name of the machine that times are predicted for; NULL: not known */
  double total_us;      /* predicted */
  guint64 copied_bytes; /* between device and host in one run, both ways */
  double recompute_us;  /* of total_us: work done again */
  double stall_us;      /* of total_us: the compute queue waits for copies */
  guint32 n_problems;   /* placements that could not be honoured */
  GantryPlacementProblem *problems;
  guint32 n_regions;
  GantryPlanRegion *regions; /* (nullable): not kept in a session */
};
GantryPlan *gantry_plan_new (guint32 n_steps, guint32 n_buffers); /* zeroed */
/** The same with numbers that a file says. Returns: (nullable): %NULL with %GANTRY_ERROR_NO_MEMORY */
GantryPlan *gantry_plan_try_new (guint32 n_steps, guint32 n_buffers, GError **error);
/** Gives the plan its reference and wait pools: zeroed. */
void gantry_plan_set_pools (GantryPlan *plan, guint32 n_refs, guint32 n_waits);
/** What the plan needs beside arguments and results: height - arguments - results + aliased. */
guint64 gantry_plan_temp_bytes (const GantryPlan *plan, GantryMemoryKind memory);

/**
 * gantry_plan_memory_parts:
 * @parts: (out caller-allocates): all bytes of @memory that the plan takes, at its peak
 *
 * The one meaning of memory: limits, peaks, percentages and refusals are the sum of these parts
 * (gantry_memory_parts_total()). What a packing leaves free between places counts as temporaries.
 */
void gantry_plan_memory_parts (const GantryPlan *plan, GantryMemoryKind memory, GantryMemoryParts *parts);
/** The same of device memory while @step runs: the curve. Its largest sum is that of gantry_plan_memory_parts(). O(1) */
void gantry_plan_memory_parts_at (const GantryPlan *plan, guint32 step, GantryMemoryParts *parts);
/** The sum of gantry_plan_memory_parts(). */
guint64 gantry_plan_memory_bytes (const GantryPlan *plan, GantryMemoryKind memory);
/** The sum of gantry_plan_memory_parts_at(). O(1) */
guint64 gantry_plan_memory_bytes_at (const GantryPlan *plan, guint32 step);
/** As gantry_plan_memory_bytes(), of all kinds of host memory together. */
guint64 gantry_plan_host_bytes (const GantryPlan *plan);
/** No packing of this order takes less device memory: the sum of all parts without what lies free between places. */
guint64 gantry_plan_least_bytes (const GantryPlan *plan);
/** Fills live_bytes, live_arguments, live_workspaces, lower_bound and peak_step from the buffers: who writes or reads a plan. */
void gantry_plan_sum_live (GantryPlan *plan);

/** The plan of @function as control @node runs it. Returns: (nullable) */
GantryPlan *gantry_plan_region (const GantryPlan *plan, guint32 node, guint32 function);
/**
 * gantry_plan_find_ends:
 * @module: whose entry function is planned
 * @inputs: (out caller-allocates): the buffer that each parameter is given in
 * @outputs: (out caller-allocates): the buffer that each result is read from, which may be a copy in other memory
 *
 * Returns: FALSE with %GANTRY_ERROR_INVALID where the plan has no buffer for one of them
 */
gboolean gantry_plan_find_ends (const GantryPlan *plan, const GantryModule *module, guint32 *inputs, guint32 *outputs, GError **error);

GantryPlan *gantry_plan_ref (GantryPlan *plan);
void gantry_plan_unref (GantryPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryPlan, gantry_plan_unref)
/** The buffer of a value, GANTRY_NO_BUFFER when it has none. Linear on the first call, then O(1). */
guint32 gantry_plan_buffer_of (const GantryPlan *plan, guint32 node, guint32 member);

G_END_DECLS
