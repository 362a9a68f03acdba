/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of the ONNX rules: writes the entry of an imported module in core operations, as
 * the pass legalize does, without that room. */
#pragma once
#include "core/graph/graph.h"

G_BEGIN_DECLS

/** @bound: (nullable): for each parameter of the entry a literal to put in its place, or NULL to keep it. */
GantryModule *onnx_lowering_run (GantryModule *source, GantryLiteral *const *bound, GError **error);

G_END_DECLS
