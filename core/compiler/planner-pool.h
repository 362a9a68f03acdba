/* SPDX-License-Identifier: Apache-2.0 */
/* Planners of one compilation that nobody is using: making one takes time. Any thread. */
#pragma once
#include "core/planner/planner.h"

G_BEGIN_DECLS

typedef struct _GantryPlannerPool GantryPlannerPool;

/** Returns: (transfer full): without planners */
GantryPlannerPool *_gantry_planner_pool_new (void);
void _gantry_planner_pool_free (GantryPlannerPool *pool); /* (nullable) */
/** Returns: (transfer full) (nullable): NULL where none is idle */
GantryPlanner *_gantry_planner_pool_take (GantryPlannerPool *pool);
/** @planner: (transfer full) */
void _gantry_planner_pool_give (GantryPlannerPool *pool, GantryPlanner *planner);

G_END_DECLS
