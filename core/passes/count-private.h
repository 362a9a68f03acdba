/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pass count share: what is known of a loop whose trips depend on constants alone. */
#pragma once
#include "core/passes/effects-private.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_COUNT_CARRIED,
  GANTRY_COUNT_COUNTER, /* a whole number that depends on constants and other counters alone */
  GANTRY_COUNT_STAYS,   /* each trip returns what it got */
  GANTRY_COUNT_FILLED,  /* each trip writes one place along an axis, and reads at most that one */
} GantryCountKind;

/** Where a trip reads or writes one place of an array along @axis: at @lowest in the first trip, or, @reverse, in the last. */
typedef struct
{
  guint axis;
  gint64 lowest;
  gboolean reverse;
} GantryCountWalk;

typedef struct
{
  const GantryModule *module;
  const GantryUses *uses;
  const GantryNode *node; /* the while */
  const GantryFunction *cond, *body;
  guint n;                /* values */
  gint64 length;          /* trips */
  gboolean reverse;       /* which way all walks go that are taken */
  guint8 *kinds;          /* GantryCountKind by value */
  GantryCountWalk *fills; /* by value: of a filled one */
  gint64 *last;           /* by value: what a counter ends with */
  guint32 *column;        /* by value: of a counter, in @table */
  guint n_columns;
  gint64 *table;             /* by trip and column: what counters begin a trip with */
  gint64 *in_cond, *in_body; /* by index in the function: numbers of the trip that is followed */
} GantryCount;

/** Returns: (transfer full) (nullable): %NULL where the trips of @node cannot be counted, or are too many */
GantryCount *_gantry_count_new (const GantryModule *module, const GantryUses *uses, const GantryNode *node);
void _gantry_count_free (GantryCount *count);
/**
 * _gantry_count_walks:
 * @array: value that the dynamic_slice or dynamic_update_slice @node of the body has to work on
 *
 * Returns: TRUE where it reads or writes one place in each trip, one after the other, in the direction of the loop
 */
gboolean _gantry_count_walks (const GantryCount *count, const GantryNode *node, guint array, GantryCountWalk *walk);

G_END_DECLS
