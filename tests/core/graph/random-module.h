/* SPDX-License-Identifier: Apache-2.0 */
/* Random sound modules for property tests: every core operation can come up, with imported ones, names,
 * scopes, locations, origins, symbolic dimensions, memory kinds and functions between them. */
#pragma once
#include "core/graph/graph.h"

/** @used: (nullable): set for each core operation that came up; GANTRY_N_OPS entries. */
GantryModule *random_module (GantryContext *context, GRand *rand, gboolean *used);
/** Random bytes as a literal, of any compiled element type; bools are 0 or 1. */
GantryLiteral *random_literal (GantryContext *context, GRand *rand, GantryElementType element, guint rank, const gint64 *dims);
