/* SPDX-License-Identifier: Apache-2.0 */
/* Which values must not be stored in fewer bits, since of what later phases make of them not only digits would be lost: a comparison
 * would come out otherwise, a divisor become zero, a root or logarithm be taken of what it is not defined for.
 *
 * A walk against the order of the program, from what later phases read back to the residuals, carries along what is asked of a value
 * (backward data flow analysis; bits may only be added). bf16 keeps the sign of a value, whether it is zero, and its size but for 2^-8 of
 * it: so what is done with signs and divisors outlasts it as long as they are the value itself, or products, quotients, roots and moves
 * of it. A sum or difference may cancel: of that nothing outlasts rounding. 8 bits make zeros of elements that are small beside their
 * neighbours: then signs and divisors are lost at once. Contractions and sums of mixed signs end the walk: what is asked of a gradient's
 * norm, for example, is asked of no residual. */
#pragma once
#include "core/graph/module.h"
#include "core/plan/placement.h"

G_BEGIN_DECLS

typedef struct _GantryRounding GantryRounding;

/** Linear in the nodes of @module, which it keeps. (transfer full) */
GantryRounding *gantry_rounding_new (GantryModule *module);
void gantry_rounding_free (GantryRounding *rounding);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryRounding, gantry_rounding_free)

/** Whether node @node of the forward phase, which is no view, runs once more where a later phase reads what it makes. */
typedef gboolean (*GantryMadeAgainFunc) (const GantryNode *node, gpointer data);

/**
 * gantry_rounding_find:
 * @again: (nullable) (scope call): NULL: nothing does
 *
 * Finds out what is asked of all values. Linear in the nodes; bodies of loops are walked over a few times.
 */
void gantry_rounding_find (GantryRounding *rounding, GantryMadeAgainFunc again, gpointer data);
/** What is asked of member @member of the node at @position of the module: bits that rounding would spoil. 0: nothing is */
guint8 gantry_rounding_asked (const GantryRounding *rounding, guint32 position, guint member);
/** Why a value of which @asked is asked cannot be stored as @kind says, and what to do. @again: of what is made again from it.
 *  Returns: (nullable) (transfer none): it can */
const char *gantry_rounding_why_not (guint8 asked, GantryPlacementKind kind, gboolean again);

/**
 * gantry_rounding_why_not_stored:
 * @subject: what the value is; NONE: a value that the forward phase alone reads
 * @returned: it or a view of it is a result of the program
 * @type: of the value, which may be a member of a tuple
 * @asked: as gantry_rounding_asked() says
 *
 * Why a value cannot be stored as @kind says: the one reason for rules, clicks and solver.
 *
 * Returns: (nullable) (transfer none): it can
 */
const char *gantry_rounding_why_not_stored (GantryPlacementKind kind, GantryPlacementSubject subject, gboolean returned, const GantryType *type, guint8 asked);

G_END_DECLS
