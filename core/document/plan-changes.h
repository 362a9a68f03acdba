/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two forecasts of one program: after it was planned again with other times, above all. */
#pragma once
#include "core/document/forecast.h"

G_BEGIN_DECLS

/** What one execution of a node is predicted to take, before and after; of copies the copy. */
typedef struct
{
  guint32 node;
  guint8 queue; /* GantryQueue */
  double before_us, after_us;
} GantryTimeChange;

typedef struct
{
  guint32 node;
  guint8 before, after; /* GantryPlacementKind */
} GantryPlacementChange;

/**
 * GantryPlanChanges: immutable, reference counted.
 *
 * @before, @after: of the plans where they were made, else what was predicted
 * @times: (element-type GantryTimeChange): nodes whose predicted time is another one, the largest difference first
 * @placements: (element-type GantryPlacementChange): values that are placed otherwise, by node
 * @n_steps: steps of the new plan; @n_moved: of those that both have, how many stand elsewhere in the order (the fewest that,
 *  taken out, leave the rest in one order); @n_new, @n_gone: that only one of the two has
 */
typedef struct
{
  gatomicrefcount ref_count;
  GantryPlanFigures before, after;
  guint n_steps, n_moved, n_new, n_gone;
  GArray *times, *placements;
} GantryPlanChanges;

/** @figures_before, @figures_after: of the same two. Linear, times a logarithm. Returns: (transfer full) */
GantryPlanChanges *gantry_plan_changes_new (const GantryForecast *before, const GantryPlanFigures *figures_before, const GantryForecast *after,
                                            const GantryPlanFigures *figures_after);
void gantry_plan_changes_unref (GantryPlanChanges *changes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryPlanChanges, gantry_plan_changes_unref)
/** One sentence on order and placements: "12 of 340 steps stand elsewhere; 3 values are placed otherwise". (transfer full) */
char *gantry_plan_changes_summary (const GantryPlanChanges *changes);

G_END_DECLS
