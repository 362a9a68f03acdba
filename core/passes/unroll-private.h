/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pass unroll share. */
#pragma once
#include "core/base/error.h"
#include "core/passes/expand-private.h"

G_BEGIN_DECLS

/** Sets an error that names @node and where it was written. Returns: FALSE */
gboolean _gantry_unroll_refuse (GantryExpander *e, const GantryNode *node, GError **error, GantryError code, const char *why);
/** @a where the bool[] @predicate is true, else @b; of groups member by member. */
GantryExpandValue _gantry_unroll_select (GantryExpander *e, guint32 predicate, GantryExpandValue a, GantryExpandValue b);
/** The scan @node written out, trip by trip. */
gboolean _gantry_unroll_scan (GantryExpander *e, const GantryNode *node, const GantryExpandValue *operands, const GantryExpandFrame *frame,
                              GantryExpandValue *value, GError **error);
/** Returns: 1 or 0 for a constant, -1 for what depends on data */
gint _gantry_unroll_truth (GantryExpander *e, guint32 predicate);
gboolean _gantry_unroll_while (GantryExpander *e, const GantryNode *node, const GantryExpandValue *operands, const GantryExpandFrame *frame,
                               GantryExpandValue *value, GError **error);
/** Whether trips of the loop @node return what they got for operand @k. */
gboolean _gantry_unroll_stays (GantryExpander *e, const GantryNode *node, guint k);

/* unroll-keep.c */
/** Whether the run decides which arm is computed, or whether a trip is; else all are, @times times. */
gboolean _gantry_unroll_keeps_branch (GantryExpander *e, const GantryNode *node, gint64 times);
/** Whether the scan is longer than what is written out. */
gboolean _gantry_unroll_keeps_scan (GantryExpander *e, const GantryNode *node);
/** Whether a loop whose end is not known can be run as one. */
gboolean _gantry_unroll_keeps_loop (GantryExpander *e, const GantryNode *node);
/** Writes control as control, with bodies of its own. */
gboolean _gantry_unroll_keep (GantryExpander *e, const GantryNode *node, const GantryExpandValue *operands, const GantryExpandFrame *frame,
                              GantryExpandValue *value, GError **error);

G_END_DECLS
