/* SPDX-License-Identifier: Apache-2.0 */
/* The one list of passes, as the driver walks it. */
#pragma once
#include "core/base/base.h"
#include "core/compiler/pipeline.h"
#include "core/compiler/settings.h"
#include "core/passes/pass-list.h"
#include "core/passes/pass.h"

G_BEGIN_DECLS

#define GANTRY_COUNT_PASS(...) +1u
#define GANTRY_N_PIPELINE_PASSES (0u GANTRY_PASS_LIST (GANTRY_COUNT_PASS, GANTRY_COUNT_PASS))

/** Static. */
const GantryPassInfo *_gantry_pipeline_info (guint index);
/** Whether pass @index has anything to do with @module under @settings; other passes have no snapshot. */
gboolean _gantry_pipeline_applies (guint index, const GantryModule *module, const GantryCompileSettings *settings);
/** Whether the pass called @name takes memory to save time, and may be left out. */
gboolean _gantry_pipeline_takes_memory (const char *name);
/** Whether what the pass refuses is a wish of the user (and not a fault of the program). */
gboolean _gantry_pipeline_is_wish (guint index);
/** What pass @index needs of a module, so that it may run. */
GantryProperties _gantry_pipeline_needs (guint index);
/** What holds after it, of what held before; see gantry_properties_after(). */
GantryProperties _gantry_pipeline_after (guint index, GantryProperties held, gboolean changed);
GantryModule *_gantry_pipeline_run (guint index, GantryModule *module, const GantryCompileSettings *settings, const GantryProgress *progress, GError **error);

G_END_DECLS
