/* SPDX-License-Identifier: Apache-2.0 */
/* What is selected, shared by all views: node ids and the snapshot that they belong to. A view asks for the
 * selection in the snapshot that it shows; nodes are followed through the passes, in both directions. */
#pragma once
#include "core/document/document.h"
#include <glib-object.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_SELECTION (gantry_selection_get_type ())
G_DECLARE_FINAL_TYPE (GantrySelection, gantry_selection, GANTRY, SELECTION, GObject)

/**
 * GantrySelection:
 *
 * Signal "changed": other nodes are selected. Main thread.
 */
GantrySelection *gantry_selection_new (void);

/** What the ids belong to, NULL: nothing is open. Nodes of the same model are followed into the new compilation. */
void gantry_selection_set_compilation (GantrySelection *selection, GantryCompilation *compilation);

/** Selects exactly @ids of snapshot @snapshot; the first one is the primary. */
void gantry_selection_set (GantrySelection *selection, guint snapshot, const guint32 *ids, guint n);
/** Adds @ids, or takes them away when all of them are selected. */
void gantry_selection_toggle (GantrySelection *selection, guint snapshot, const guint32 *ids, guint n);
void gantry_selection_clear (GantrySelection *selection);

/** How many nodes are selected, in the snapshot that the selection was made in. */
guint gantry_selection_count (GantrySelection *selection);
/** The snapshot that the selection was made in. */
guint gantry_selection_snapshot (GantrySelection *selection);
/** Node chosen last, in the snapshot that the selection was made in; 0: none. */
guint32 gantry_selection_primary (GantrySelection *selection);
/** Returns: (transfer none): the set of the selected nodes in @snapshot (GUINT_TO_POINTER), valid until the next change */
GHashTable *gantry_selection_in (GantrySelection *selection, guint snapshot);

G_END_DECLS
