/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/xla: literals from text. */
#pragma once
#include "core/frontends/xla/scan-private.h"
#include "core/ir/context.h"

G_BEGIN_DECLS

/**
 * gantry_xla_literal:
 * @content: numbers in nested brackets or braces, one number that stands for all, or hexadecimal bytes in quotes
 * @type: id of a static tensor type
 *
 * Returns: a literal id; 0 and no failure where Gantry holds no values of that element type; 0 and a failure where the
 * content does not fit the type
 */
guint32 gantry_xla_literal (GantryXlaScan *s, GantryContext *context, GantryXlaSpan content, guint32 type);

/** Whether a rule knows the operation "stablehlo.add". */
gboolean gantry_xla_knows_operation (const char *name);

G_END_DECLS
