/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of other programs: see outside.c. */
#pragma once
#include "core/document/document-private.h"

G_BEGIN_DECLS

/** GantryModel.format of the stand-in. */
#define GANTRY_OUTSIDE_FORMAT "recording"

/** A model without work, in place of the one that @path knows nothing of. */
GantryModel *_gantry_outside_model (const char *path, GError **error);
/** Imports the trace at @path. @plan: what the run is said to have run: an empty one */
GantryRunResult *_gantry_outside_run (const char *path, GantryPlan *plan, const GantryProgress *progress, GError **error);
GantryLoaded *_gantry_outside_load (const char *path, const GantryOpenOptions *options, const GantryProgress *progress, GError **error);

G_END_DECLS
