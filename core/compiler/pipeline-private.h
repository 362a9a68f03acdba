/* SPDX-License-Identifier: Apache-2.0 */
/* The one list of passes, as the driver walks it. */
#pragma once
#include "core/compiler/compiler.h"
#include "core/passes/pass.h"

G_BEGIN_DECLS

#define GANTRY_N_PIPELINE_PASSES 15u

/** Static. */
const GantryPassInfo *_gantry_pipeline_info (guint index);
/** Whether pass @index has anything to do with @module under @settings; other passes have no snapshot. */
gboolean _gantry_pipeline_applies (guint index, const GantryModule *module, const GantryCompileSettings *settings);
/** Whether what the pass refuses is a wish of the user (and not a fault of the program). */
gboolean _gantry_pipeline_is_wish (guint index);
/** What pass @index needs of a module, so that it may run. */
GantryProperties _gantry_pipeline_needs (guint index);
/** What holds after it, of what held before; see gantry_properties_after(). */
GantryProperties _gantry_pipeline_after (guint index, GantryProperties held, gboolean changed);
GantryModule *_gantry_pipeline_run (guint index, GantryModule *module, const GantryCompileSettings *settings,
                                    const GantryProgress *progress, GError **error);

/* What the files of this room share of a compilation. */
typedef struct _GantryPlannerPool GantryPlannerPool;
GantryPlannerPool *_gantry_planner_pool_new (void);
void _gantry_planner_pool_free (GantryPlannerPool *pool);
/** Places, makes the first planner and plans; what does not work is kept in @compilation. FALSE: cancelled, or a mistake in
 *  the policy. */
gboolean _gantry_compilation_make_plan (GantryCompilation *compilation, const GantryProgress *progress, GError **error);

G_END_DECLS
