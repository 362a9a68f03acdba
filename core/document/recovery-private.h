/* SPDX-License-Identifier: Apache-2.0 */
/* What a recovery file holds beside a session: the edits, and what its program wants to find again. */
#pragma once
#include "core/document/document-private.h"
#include "core/document/recovery.h"

G_BEGIN_DECLS

/** (transfer full): all of it in bytes, as the next reads them. */
GVariant *_gantry_state_to_variant (const GantryState *state);
/** Any bytes. Returns: (transfer full) (nullable): with @error where they hold no state */
GantryState *_gantry_state_from_bytes (GBytes *bytes, GError **error);

/** Any thread: opens what the recovery file at @path holds, its model and its runs. @view: (out) (transfer full) (nullable) */
GantryLoaded *_gantry_recovery_load (const char *path, const GantryOpenOptions *options, const GantryProgress *progress, char **view, GError **error);

/** @document has opened what @recovery holds, which is of it from now on. */
void _gantry_recovery_take (GantryRecovery *recovery, GantryDocument *document);

G_END_DECLS
