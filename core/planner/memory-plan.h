/* SPDX-License-Identifier: Apache-2.0 */
/* core/planner: decides in which order the nodes of a program run, where every value lies and for how
 * long, and predicts what that costs: order, liveness, packing, cost model, report. It reads a
 * frozen module and makes a GantryPlan (core/plan/plan.h).
 *
 * How a plan stands for a program (what a reader of the plan may rely on):
 * - Every value of the entry function that is used has one buffer, or one for each member of its tuple; so have
 *   views, `tuple` and `result` nodes, whose buffers have `shares` set and the offset of what they share. A chain of
 *   `shares` ends at the buffer that owns the place. Token values have none; nodes that nothing needs are left out.
 * - A step is a node that does work. View, tuple, result, parameter and constant nodes have no step.
 * - Constants: a dense literal whose bytes are aligned to its element is a LITERAL buffer. A splat, or a dense one
 *   that lies unaligned, is a CONSTANT buffer with `literal` set: it must be filled (GANTRY_INSTRUCTION_FILL) before the
 *   first init step. What is computed from constants alone is a CONSTANT buffer too, written by init steps; `begin`
 *   and `end` of a CONSTANT buffer are only meaningful among the init steps.
 * - Inputs are alive from the first step that is no init step to their last use, results to the last step. The
 *   executor copies inputs in and results out, so a result may be (a view of) an input or a constant: its buffer
 *   then shares that place, which is kept until the end.
 * - A buffer with `in_place` is written over the buffer it shares, whose last use is that step.
 * - Each step names the buffers that it reads and writes (refs: operands, results, workspace) and the steps of other
 *   queues that it waits for; who runs a plan needs nothing else. An operand that is a view without an offset is named by
 *   what it is a view of.
 * - A training step is resident: arguments, then results, have places of their own at the bottom of the arena; a result
 *   that is donated to is written over its argument, or copied over it at the end. Contiguous slices are views with an
 *   offset, operands of a concatenation of the backward or update phase are made inside its place: such nodes have no
 *   step. Instances under placements (planner.h) are buffers behind those of the values: gantry_plan_buffer_of() gives the
 *   first, of a result the one where it is in the end.
 * - A branch, loop, scan or call is one step. Its regions have plans of their own (plan->regions, resident), which lie within its
 *   workspace (core/plan/region-layout.h): arms share it. Its time is that of the longest arm, or of its trips: as many as
 *   a scan has, or the attribute `trip_count` says, else one.
 * - Places begin at multiples of 64 bytes and take a multiple of 64: arena_bytes, live_bytes and lower_bound count
 *   whole places.
 * - A limit is for all parts of memory (core/plan/memory-parts.h): what stands beside the arena counts like what lies in it. */
#pragma once
#include "core/base/progress.h"
#include "core/planner/pack/pack.h"
#include "core/planner/target.h"
#include "core/plan/kernel-sizes.h"
#include "core/plan/plan.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_ORDER_BEST,    /* aware of memory: program order or one of several schedules for memory, whichever has the lowest peak */
  GANTRY_ORDER_PROGRAM, /* as written */
  GANTRY_ORDER_BREADTH, /* breadth first: what is ready first runs first */
  GANTRY_ORDER_DEPTH,   /* reverse depth first: from the results down, operands in their order */
  GANTRY_N_ORDERS,
} GantryOrderPolicy;

/** "memory", "program", "breadth", "depth". Returns: static */
const char *gantry_order_name (GantryOrderPolicy order);
/** Returns: FALSE where no order is called @name */
gboolean gantry_order_parse (const char *name, GantryOrderPolicy *order);

typedef enum
{
  GANTRY_PLAN_NO_IN_PLACE = 1 << 0, /* never write a result over an operand */
  GANTRY_PLAN_RESIDENT = 1 << 1,    /* arguments and results have places of their own; so it is for every training step */
} GantryPlanFlags;

/** GantryPlanOptions: all zero is a good default. */
typedef struct
{
  const GantryTarget *target; /* (nullable): this machine's CPU */
  GantryOrderPolicy order;
  GantryAllocator allocator;
  GantryPlanFlags flags;
  const GantryKernelSizes *sizes; /* (nullable): what kernels need beside operands and results; NULL: not known yet */
  /** (nullable) (element-type guint double*): measured times in microseconds by node id (GUINT_TO_POINTER). */
  GHashTable *measured_us;
  const guint8 *absent; /* (nullable): by parameter: it is not given, and what `rematerialize` makes again stands for it */
  const guint8 *host;   /* (nullable): by parameter: it is given in pinned memory of the host, whatever its type says, and fetched when it is read */
  const gint32 *over;   /* (nullable): by parameter: the result that is written over it, beside what its attribute `alias` says; -1: none */
  guint nesting;        /* functions around the entry function, where that is the body of control */
} GantryPlanOptions;

/**
 * gantry_memory_plan:
 * @module: its entry function is planned
 * @options: (nullable)
 * @progress: (nullable)
 *
 * The same module and options give the same plan.
 *
 * Returns: (transfer full) (nullable): the plan; %GANTRY_ERROR_UNSUPPORTED names the first node that is no core
 *  operation or whose type is not static, %GANTRY_ERROR_TOO_LARGE when sizes overflow
 */
GantryPlan *gantry_memory_plan (GantryModule *module, const GantryPlanOptions *options, const GantryProgress *progress, GError **error);

G_END_DECLS
