/* SPDX-License-Identifier: Apache-2.0 */
/* The values that a run reads and writes: each in memory of its own, once, where the program uses it in place. What a result is
 * donated to holds that result after a run, and is written anew before the next one. */
#pragma once
#include "core/graph/module.h"
#include "core/runtime/runtime.h"

G_BEGIN_DECLS

typedef struct _GantryValues GantryValues;

/**
 * gantry_values_new:
 * @module: (transfer none): kept
 * @given: (nullable): as gantry_inputs_find() takes it
 * @read: gets the files
 *
 * Where each parameter's value comes from; files are opened and checked. Nothing is made up yet.
 *
 * Returns: (transfer full) (nullable)
 */
GantryValues *gantry_values_new (GantryModule *module, char **given, GantryReadFiles *read, GError **error);
void gantry_values_free (GantryValues *values);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryValues, gantry_values_free)

/** Writes the inputs: all the first time, after that those whose memory a result is donated to. */
void gantry_values_write (GantryValues *values);

/** One for each parameter; valid until @values are freed. */
const GantryRunInput *gantry_values_inputs (const GantryValues *values);
/** One for each result; @donated: also of those that lie where an input did. */
const GantryRunOutput *gantry_values_outputs (const GantryValues *values, gboolean donated);

/** Bytes of given values that are copied into memory of their own: a result is donated to it, or they do not lie as a run wants them. */
guint64 gantry_values_copied_bytes (const GantryValues *values);

/** Bytes of memory of their own that a run of @executor takes beside its plan, since it cannot use them where they lie. */
guint64 gantry_values_bytes_beside (const GantryValues *values, const GantryExecutor *executor);

/** Returns: (transfer none): result @i, which reads as what the last run wrote, as long as @values live */
const GantryLiteral *gantry_values_result (const GantryValues *values, guint i);

G_END_DECLS
