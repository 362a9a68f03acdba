/* SPDX-License-Identifier: Apache-2.0 */
/* What passes that write the bodies of loops anew ask of them. */
#pragma once
#include "core/graph/module.h"

/** Whether one attribute of the module alone names @function: a body that one loop runs and nobody else. Linear in the nodes. */
gboolean _gantry_body_is_named_once (const GantryModule *module, guint32 function);
/** Position of the only user of the node at @position; G_MAXUINT32: there is none, or there are others, or it is a result. */
guint32 _gantry_only_user (const GantryUses *uses, guint32 position);
/** Id of the type of @n values of @type, a tensor, along a new first dimension. */
guint32 _gantry_stack_type (const GantryModule *module, const GantryType *type, gint64 n);
