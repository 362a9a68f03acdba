/* SPDX-License-Identifier: Apache-2.0 */
/* The places that lead to a node: its own, the calls, loops and gradients that led there, and those of what passes made it of, back to
 * the import: a gradient leads to what it is the gradient of, a fusion to each of its parts. */
#pragma once
#include "core/document/document.h"

G_BEGIN_DECLS

/**
 * GantrySourceStep:
 *
 * @place: in a text; of the compilation's context
 * @text: what was written there, and what the node is of it: "gradient of exponential %8"; "called from here, in Net.construct"
 */
typedef struct
{
  const GantryLocation *place;
  char *text; /* (transfer full) */
} GantrySourceStep;

/**
 * gantry_source_chain_new:
 * @snapshot: that @node, an id, is of
 *
 * Each place once, the node's own first and at most eight that led there, then those of its parts and of what it was made of, the latest
 * pass first; at most sixteen.
 *
 * Returns: (transfer full) (element-type GantrySourceStep): empty where nothing says where it was written
 */
GArray *gantry_source_chain_new (const GantryCompilation *compilation, guint snapshot, guint32 node);

G_END_DECLS
