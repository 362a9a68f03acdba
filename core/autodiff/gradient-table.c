/* SPDX-License-Identifier: Apache-2.0 */
/* Which core operations have a derivative. */
#include "core/autodiff/autodiff.h"
#include "core/ir/operation.h"

gboolean
gantry_op_is_differentiable (guint op)
{
  return gantry_op_info (op) != NULL && op != GANTRY_OP_CUSTOM_CALL && op != GANTRY_OP_BITCAST_CONVERT;
}
