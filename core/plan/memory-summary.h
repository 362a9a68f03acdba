/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a run as people read it: what was planned, what was touched, what the process took, what the difference is made of, and what
 * of it is not as it should be. The one source of words and sums for the window and the command line. */
#pragma once
#include "core/graph/module.h"
#include "core/plan/memory-measure.h"
#include "core/plan/plan.h"

G_BEGIN_DECLS

/** What a process may take beside its plan: program, libraries, graph and compiler in bytes, and 1 / part of what is planned. */
#define GANTRY_PROCESS_ALLOWANCE ((guint64) 100 << 20)
#define GANTRY_PROCESS_ALLOWANCE_PART 50u

/** A part of the memory, in bytes. */
typedef struct
{
  const char *name; /* static */
  guint64 planned, touched;
} GantryMemoryRow;

/** What the process has beside its plan, in bytes; less than 0: planned, and not there. */
typedef struct
{
  const char *name; /* static */
  gint64 bytes;
} GantryMemoryDifference;

/**
 * GantryMemorySummary:
 * @planned, @touched: of the device's memory when there is most of it, which is what a limit and a peak mean
 * @planned_all, @touched_all: with what the host has for it (offloaded values), when there is most of that
 * @step: of the plan, in which most of the device's memory was touched: @parts are those of that moment, as planned and as touched;
 *  G_MAXUINT32: not known, then what is planned of them is that of the plan's own peak
 * @planned_parts: of the device's memory, as @parts has it
 * @planned_then: sum of what is planned in @parts, the host's too: less than @planned_all where the plan's own peak is in another step
 * @process: most memory of the process; 0: not known, then there are no @differences
 * @allowed: the most that @process may be: @planned_all and the allowance
 * @above_limit: more was touched than the limit, also without what whole pages make of it
 * @parts: (element-type GantryMemoryRow): of the device's memory, then "host memory", that at its own peak; none that is 0 in both. Where
 *  a driver counted they are its allocations, and nothing is said of the host
 * @differences: (element-type GantryMemoryDifference): they add up to @process less @planned_all
 * @warnings: (element-type utf8): what is not as it should be, a sentence each: a process that is larger than allowed, bytes touched
 *  where the plan has nothing, more touched than the limit
 * @notes: (element-type utf8): what may be as it should be, and is good to know
 */
typedef struct
{
  guint64 planned, touched, planned_all, touched_all, planned_then, process, allowed;
  GantryMemoryParts planned_parts;
  guint32 step;
  gboolean above_limit;
  GArray *parts, *differences;
  GPtrArray *warnings, *notes;
} GantryMemorySummary;

/**
 * gantry_memory_summary_new:
 * @plan: that was run
 * @module: (nullable): of the plan, for the names in warnings and notes
 * @limit: bytes of device memory that what was measured is held against, whatever the plan says; 0: none
 */
GantryMemorySummary *gantry_memory_summary_new (const GantryPlan *plan, const GantryMemoryMeasure *measure, const GantryModule *module, guint64 limit);
void gantry_memory_summary_free (GantryMemorySummary *summary);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryMemorySummary, gantry_memory_summary_free)

/** Returns: the most that a process may take with @planned bytes of plan */
guint64 gantry_memory_allowed_bytes (guint64 planned);

G_END_DECLS
