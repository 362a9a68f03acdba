/* SPDX-License-Identifier: Apache-2.0 */
/* What the source page knows of a compilation, made on a worker thread: its lines in two snapshots and what they cost. */
#pragma once
#include "core/document/document.h"
#include "views/source/source-heat.h"

G_BEGIN_DECLS

/**
 * GantrySourceFacts: immutable once made.
 *
 * @snapshot: that @shown is of
 * @plan, @run: (nullable): that @heat is made from
 * @imported: lines of the import
 * @measured_us: (nullable): of @run
 */
typedef struct
{
  GantryCompilation *compilation;
  guint snapshot;
  GantryPlan *plan;
  GantryRunResult *run;
  GantrySourceIndex *imported, *shown;
  GantrySourceHeat *heat;
  GHashTable *measured_us;
} GantrySourceFacts;

void gantry_source_facts_free (GantrySourceFacts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantrySourceFacts, gantry_source_facts_free)

/** @plan, @run: (nullable). @before: (nullable): what is the same as there is taken from it. */
void gantry_source_facts_make_async (GantryCompilation *compilation, guint snapshot, GantryPlan *plan, GantryRunResult *run, const GantrySourceFacts *before,
                                     GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: (transfer full) (nullable): NULL with %G_IO_ERROR_CANCELLED */
GantrySourceFacts *gantry_source_facts_make_finish (GAsyncResult *result, GError **error);

G_END_DECLS
