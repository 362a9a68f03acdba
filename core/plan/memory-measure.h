/* SPDX-License-Identifier: Apache-2.0 */
/* What a run took, measured from outside of its plan: pages that were touched, what the system says of the process, counters of a
 * driver. No figure in it is worked out from a plan; plans are only asked which part the pages belong to that were found. */
#pragma once
#include "core/plan/memory-parts.h"

G_BEGIN_DECLS

/** What memory of the process is, beside the parts of the plan. The order is part of the session file format: append only. */
typedef enum
{
  GANTRY_OWNER_PROGRAMS, /* the program and its libraries, as they are mapped */
  GANTRY_OWNER_FILES,    /* other files that are mapped and no part of the plan */
  GANTRY_OWNER_LIBRARY,  /* what kernels of a library kept of their own while they ran */
  GANTRY_OWNER_HEAP,     /* all else: graph, plan, compiler, recording, stacks */
  GANTRY_OWNER_PASSING,  /* what was there at the peak of the process and is not any more */
  GANTRY_N_MEMORY_OWNERS
} GantryMemoryOwner;

/** "program and libraries", ...: for people and for files. Returns: (transfer none) */
const char *gantry_memory_owner_name (GantryMemoryOwner owner);

/** Memory of a run that nobody planned, and the step in which there was most of it. */
typedef struct
{
  guint64 bytes;
  guint32 step; /* of the plan; G_MAXUINT32 where there is none */
  guint32 node;
} GantryUnplannedMemory;

typedef struct _GantryMemoryMeasure GantryMemoryMeasure;
/**
 * GantryMemoryMeasure: immutable once made.
 *
 * @touched: of the device's memory by part, when there was most: bytes of the pages that hold something. A page that two parts share
 *  counts for one of them
 * @peak_bytes: their sum
 * @rounding_bytes: of that, at most so much lies in pages that the program's memory only shares: behind the end of a value, or in front of it
 * @peak_step: of the plan, in which that was; %G_MAXUINT32: no step ran
 * @curve: (array length=n_steps): by step of the plan, the device's memory while it ran; 0 for steps that run at load. %NULL where
 *  the device tells only sums
 * @host_bytes: of host memory that belongs to the program (offloaded values), when there was most
 * @outside: pages touched in the arenas, or in front of them or behind, where the plan has no value at that time
 * @beside: what a step allocated beside what was planned, at most
 * @process_peak: most memory of the process since the program was loaded; 0: the system does not say
 * @process: the same now: the sum of @held and @owners, but for what is gone again
 * @held: what was found of it where the parts of the plan lie, of the device's memory and the host's: pages, not what is planned
 * @owners: by GantryMemoryOwner
 * @driver: the figures are those of a driver: pages are not looked at. An arena is one allocation, and so are the constants: in @touched
 *  the one counts as temporaries, with the arguments and workspaces that are in it, the other as constants, with packed weights. What
 *  the driver took besides counts as context and code, which other programs may have a part in: what of it is more than the planned
 *  code is in @rounding_bytes, as what allocations took in whole pages is. Nothing is known of steps, of the host and of the process
 */
struct _GantryMemoryMeasure
{
  gatomicrefcount ref_count;
  GantryMemoryParts touched;
  guint64 peak_bytes, rounding_bytes;
  guint32 peak_step;
  guint32 n_steps;
  guint64 *curve;
  guint64 host_bytes;
  GantryUnplannedMemory outside, beside;
  guint64 process_peak, process, held;
  guint64 owners[GANTRY_N_MEMORY_OWNERS];
  gboolean driver;
};

/** Returns: (transfer full): all figures 0, a curve of @n_steps steps, and no step that had more than was planned */
GantryMemoryMeasure *gantry_memory_measure_new (guint32 n_steps);
GantryMemoryMeasure *gantry_memory_measure_ref (GantryMemoryMeasure *measure);
void gantry_memory_measure_unref (GantryMemoryMeasure *measure);
/** Whether more than @limit bytes were touched, 0: no limit, whatever of it whole pages make. */
gboolean gantry_memory_measure_exceeds (const GantryMemoryMeasure *measure, guint64 limit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryMemoryMeasure, gantry_memory_measure_unref)

G_END_DECLS
