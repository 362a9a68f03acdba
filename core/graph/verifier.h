/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a snapshot: operands exist and come earlier in the same function, types agree with the
 * operation table, attributes are complete, every node has a location, ids are unique, functions
 * that attributes name exist and are not recursive, placements and origins are well formed. */
#pragma once
#include "core/graph/module.h"

G_BEGIN_DECLS

/** @previous: (nullable): the snapshot before, against which origins are checked. */
gboolean gantry_verify (const GantryModule *module, const GantryModule *previous, GError **error);

G_END_DECLS
