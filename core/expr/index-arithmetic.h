/* SPDX-License-Identifier: Apache-2.0 */
/* What schedules compute places with: arithmetic on i64 nodes, and expressions for other values of their variables. */
#pragma once
#include "core/expr/kernel-expression.h"

G_BEGIN_DECLS

/* Arithmetic on i64 nodes. */
/** Returns: the node that is @value */
guint32 gantry_index_const (GantryKx *kx, gint64 value);
/** p * x + q * y */
guint32 gantry_index_sum (GantryKx *kx, guint32 x, gint64 p, guint32 y, gint64 q);
/** x * @by */
guint32 gantry_index_scale (GantryKx *kx, guint32 x, gint64 by);
/** x + @constant */
guint32 gantry_index_shift (GantryKx *kx, guint32 x, gint64 constant);
/** x / @by, towards zero; @by above 0 */
guint32 gantry_index_divide (GantryKx *kx, guint32 x, gint64 by);
/** x % @by, with the sign of x; @by above 0 */
guint32 gantry_index_remainder (GantryKx *kx, guint32 x, gint64 by);
/** The smaller of x and @with */
guint32 gantry_index_minimum (GantryKx *kx, guint32 x, gint64 with);
/** The bits of x and y exchanged, as swizzled places in shared memory want it */
guint32 gantry_index_xor (GantryKx *kx, guint32 x, guint32 y);
/** A bool: x < y. */
guint32 gantry_index_less (GantryKx *kx, guint32 x, guint32 y);
/** A bool: x < @count. */
guint32 gantry_index_below (GantryKx *kx, guint32 x, gint64 count);

/* Substitutions: for each variable a node to put in its place, or G_MAXUINT32 (see gantry_kx_rebuild()). */
void gantry_substitution_clear (guint32 *substitution);
/** Says @flat, a number below the product of their extents, in @vars: the last one counts fastest. */
void gantry_substitution_decode (guint32 *substitution, GantryKx *kx, guint32 flat, const guint *vars, guint n);
/** One node made anew. */
guint32 gantry_substitute (GantryKx *kx, const guint32 *substitution, guint32 node);

/**
 * gantry_vars_in_memory_order:
 * @set: variables
 * @address: node: of a result
 * @vars: (out): at least %GANTRY_KX_MAX_VARS: those of @set, the one with which @address grows most first
 *
 * Returns: how many they are
 */
guint gantry_vars_in_memory_order (const GantryKx *kx, guint64 set, guint32 address, guint *vars);
/** What is stored at @address, INDEX or LINEAR, for neighbouring values of the variable @v lies side by side. */
gboolean gantry_address_steps_by_one (const GantryKx *kx, guint32 address, guint v);
/** The product of the extents. */
gint64 gantry_vars_count (const GantryKx *kx, guint64 set);

G_END_DECLS
