/* SPDX-License-Identifier: Apache-2.0 */
/* What is written into the inspector, by what is selected. */
#pragma once
#include "views/inspector/rows.h"

G_BEGIN_DECLS

/** What a page is written from. */
typedef struct
{
  GantryDocument *document;
  GantryCompilation *compilation;
  GantryRunResult *run; /* (nullable) */
  GHashTable *measured; /* (nullable): node id -> GantryNodeTotals of the run */
  guint snapshot;       /* of what is selected */
} GantryInspected;

void _gantry_inspect_model (GantryRows *rows, const GantryInspected *what);
void _gantry_inspect_node (GantryRows *rows, const GantryInspected *what, guint32 id);
void _gantry_inspect_many (GantryRows *rows, const GantryInspected *what, GHashTable *ids);
/** The node of the last snapshot that @id of snapshot @snapshot became, 0: none. */
guint32 _gantry_inspect_last (const GantryCompilation *compilation, guint snapshot, guint32 id);

/* inspect-place.c */
/** Choices for the values that @nodes of the snapshot stand for; nothing where none can be placed. */
void _gantry_inspect_placement (GantryRows *rows, const GantryInspected *what, const guint32 *nodes, guint n);

/* inspect-plan.c */
/** Where the value of node @id of the last snapshot lies and when, what it costs, how long it took. */
void _gantry_inspect_plan (GantryRows *rows, const GantryInspected *what, guint32 id);

G_END_DECLS
