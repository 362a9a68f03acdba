/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for a module after which passes: the contract that the driver keeps them to. */
#pragma once
#include "core/passes/pass.h"

G_BEGIN_DECLS

/**
 * gantry_properties_after:
 * @held: what holds for the module that @pass was given
 * @changed: it gave another one
 *
 * Returns: what holds for the module that it gave
 */
GantryProperties gantry_properties_after (GantryProperties held, const GantryPass *pass, gboolean changed);

/**
 * gantry_properties_hold:
 * @properties: those to look at
 * @error: (nullable): names the first node or pass that contradicts
 *
 * %GANTRY_PROPERTY_CORE is read off the module, in linear time. Each other one holds where the pass that gives it finds nothing left to do,
 * so that it costs as much as that pass: for tests.
 */
gboolean gantry_properties_hold (GantryModule *module, GantryProperties properties, GError **error);

/** "core operations only, no dead nodes"; "nothing" where there is none. (transfer full) */
char *gantry_properties_to_text (GantryProperties properties);

G_END_DECLS
