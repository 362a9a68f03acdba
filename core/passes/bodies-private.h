/* SPDX-License-Identifier: Apache-2.0 */
/* What passes that write the bodies of loops anew ask of them. */
#pragma once
#include "core/graph/module.h"

/** Whether one attribute of the module alone names @function: a body that one loop runs and nobody else. Linear in the nodes. */
gboolean _gantry_body_is_named_once (const GantryModule *module, guint32 function);
