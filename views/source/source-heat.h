/* SPDX-License-Identifier: Apache-2.0 */
/* What the lines of a source cost: time and memory as planned, time as measured. */
#pragma once
#include "core/plan/plan.h"
#include "views/source/source-index.h"

G_BEGIN_DECLS

/** What a line shows, each in a column of its own. */
typedef enum
{
  GANTRY_SOURCE_PLANNED_US, /* of the kernels, recomputations too; copies on queues of their own are not counted */
  GANTRY_SOURCE_MEASURED_US,
  GANTRY_SOURCE_PEAK_BYTES, /* what its values hold at the planned peak of device memory */
  GANTRY_N_SOURCE_FIGURES
} GantrySourceFigure;

typedef struct
{
  double figure[GANTRY_N_SOURCE_FIGURES];
} GantrySourceCost;

/**
 * GantrySourceHeat: immutable, reference counted.
 *
 * The time of a kernel of several lines (a fusion, a region) is divided over them by the operations and bytes of its parts; a value is of
 * the line of the node that gives it. So the lines and what has no line add up to the whole.
 *
 * @lines: as @index->lines
 * @most: the largest of each figure
 * @total: of all nodes; @elsewhere: of those that stand in no line
 * @known: whether there is a figure at all
 */
typedef struct
{
  gatomicrefcount ref_count;
  GantrySourceIndex *index;
  GantrySourceCost *lines;
  GantrySourceCost most, total, elsewhere;
  gboolean known[GANTRY_N_SOURCE_FIGURES];
} GantrySourceHeat;

/**
 * gantry_source_heat_new:
 * @module: that was planned: the last snapshot
 * @plan: (nullable)
 * @measured_us: (nullable) (element-type guint double*): by node id: how long the compute queue was taken by it
 *
 * Any thread. O(nodes log lines + steps)
 *
 * Returns: (transfer full)
 */
GantrySourceHeat *gantry_source_heat_new (GantryModule *module, const GantryPlan *plan, GHashTable *measured_us);
GantrySourceHeat *gantry_source_heat_ref (GantrySourceHeat *heat);
void gantry_source_heat_unref (GantrySourceHeat *heat);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantrySourceHeat, gantry_source_heat_unref)

/** Of a line of @file, a string id of the module's context: (transfer none) (nullable): NULL where nothing was written there */
const GantrySourceCost *gantry_source_heat_find (const GantrySourceHeat *heat, guint32 file, guint32 line);
/** "planned 1.20 ms, measured 1.31 ms, 12.0 MiB at the planned peak"; "" where nothing of it is known. (transfer full) */
char *gantry_source_cost_text (const GantrySourceHeat *heat, const GantrySourceCost *cost);
/** One figure alone: "1.20 ms", "" for none. (transfer full) */
char *gantry_source_figure_text (GantrySourceFigure figure, double value);

G_END_DECLS
