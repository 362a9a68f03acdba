/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/graph: what a builder has written so far. */
#pragma once
#include "core/graph/builder.h"

G_BEGIN_DECLS

/** A function that is being written. */
typedef struct
{
  GantryFunction head;
  GArray *nodes;    /* GantryNode */
  GArray *captures; /* GantryNode: parameters that came later; they stand behind those of head.n_params */
  gboolean dropped;
} GantryDraft;

#define GANTRY_IN_CAPTURES 0x80000000u /* of a position */

/** Where a node stands. */
typedef struct
{
  guint32 draft; /* index + 1; 0: not here */
  guint32 position;
} GantryPlace;

struct _GantryBuilder
{
  GantryContext *context;
  guint32 name;
  GPtrArray *drafts;  /* GantryDraft, in order of begin */
  GArray *open;       /* guint: indices of drafts being written, innermost last */
  GArray *operands;   /* guint32 */
  GArray *origins;    /* guint32 */
  GArray *places;     /* GantryPlace by node id */
  GHashTable *ended;  /* function id -> index of its draft + 1 */
  GHashTable *splats; /* node id -> GantryLiteral made for gantry_builder_constant_of() */
  GArray *place_origins;
  guint32 scope, location, next_name;
  GantryPhase phase;
  GantryFoldFunc fold; /* (nullable) */
  gint64 fold_elements;
  GError *error;
};

/** Empties it, so that another module can be written. */
void _gantry_builder_reset (GantryBuilder *builder);

G_END_DECLS
