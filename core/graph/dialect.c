/* SPDX-License-Identifier: Apache-2.0 */
/* What all front ends say alike. */
#include "core/graph/dialect.h"

void
gantry_dialect_refuse_unknown (GError **error, const char *operation)
{
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
               "%s: " GANTRY_DIALECT_NO_LOWERING ": what it computes is not known here; replace it by supported operations "
               "(docs/operations.md lists them), or leave out the part that needs it",
               operation);
}
