/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs in f64 that have a derivative almost everywhere: flat operations, calls,
 * branches, scans and bounded loops, within one another. */
#pragma once
#include "core/graph/module.h"

/** The same @seed gives the same program. Returns: (transfer full) */
GantryModule *random_gradient_module (GantryContext *context, guint32 seed);
