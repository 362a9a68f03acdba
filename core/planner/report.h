/* SPDX-License-Identifier: Apache-2.0 */
/* memory_analysis: where the bytes of a plan go, who is alive at the peak and until which use, and what it would save and cost
 * to recompute or offload each of them. Sizes as jax.stages.Compiled.memory_analysis() names them. */
#pragma once
#include "core/planner/planner.h"

G_BEGIN_DECLS

/** One line of the ranking: all places of one value, its second instance included. */
typedef struct
{
  guint32 node;       /* what owns the bytes */
  guint8 subject;     /* GantryPlacementSubject */
  guint8 kind;        /* GantryPlacementKind that the plan gives it */
  guint8 role;        /* GantryBufferRole */
  guint8 is_argument; /* given by the caller */
  guint64 bytes;      /* alive at the peak */
  guint32 until_node; /* node of its last use, 0: until the end */
  /* Of the plan as a whole when only this value's placement is changed (bytes saved may be 0: the peak then moves). */
  gint64 saves_recompute; /* bytes of peak; G_MININT64: not allowed, its placement already, or not worked out */
  double costs_recompute; /* microseconds */
  gint64 saves_offload;
  double costs_offload;
} GantryMemoryHolder;

typedef struct
{
  guint32 scope; /* scope id; 0 is the root, which includes everything */
  guint64 bytes; /* alive at the peak */
} GantryMemoryScope;

typedef struct
{
  GantryMemoryParts device, host;      /* all bytes at the peak, by part; host: of all memory kinds of the host */
  gboolean sizes_known;                /* as GantryPlan */
  guint64 limit;                       /* of device memory, that the peak is shown beside; 0, until it is set: none */
  guint64 peak_bytes, host_peak_bytes; /* their sums */
  guint64 lower_bound_bytes;           /* no packing of this order takes less of the device */
  /* The same bytes as JAX names them: whole arguments and results, whether they lie there at the peak or not. */
  guint64 temp_bytes, argument_bytes, output_bytes, alias_bytes, generated_code_bytes;
  guint64 host_temp_bytes, host_argument_bytes, host_output_bytes, host_alias_bytes, host_generated_code_bytes;
  guint64 live_bytes;              /* in the arena of the device, alive at the peak */
  guint64 at_peak[GANTRY_N_ROLES]; /* of those by role */
  guint64 largest[GANTRY_N_ROLES]; /* largest over the run, by role */
  GArray *holders;                 /* (element-type GantryMemoryHolder): largest first */
  GArray *scopes;                  /* (element-type GantryMemoryScope): largest first; parents include children */
} GantryMemoryAnalysis;

/**
 * gantry_memory_analysis_new:
 * @module: that the plan was made for
 * @planner: (nullable): of the same module; without it the savings are left out
 * @placements: (nullable): those that the plan was made with
 * @most_holders: savings are worked out for the largest so many (two predictions each)
 *
 * Linear in the plan, but for sorting, and in the predictions.
 *
 * Returns: (transfer full)
 */
GantryMemoryAnalysis *
gantry_memory_analysis_new (GantryModule *module, const GantryPlan *plan, GantryPlanner *planner, const GantryPlacements *placements, guint most_holders);
/** Tables for people, with the @most_holders largest values; 0: without that table. Returns: (transfer full) */
char *gantry_memory_analysis_to_text (const GantryMemoryAnalysis *analysis, const GantryModule *module, guint most_holders);
/** "residual", "gradient", "workspace", ... */
const char *gantry_buffer_role_name (GantryBufferRole role);
void gantry_memory_analysis_free (GantryMemoryAnalysis *analysis);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryMemoryAnalysis, gantry_memory_analysis_free)

G_END_DECLS
