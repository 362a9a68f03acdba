/* SPDX-License-Identifier: Apache-2.0 */
/* What passes that write the bodies of loops anew ask of them. */
#include "core/passes/bodies-private.h"

gboolean
_gantry_body_is_named_once (const GantryModule *module, guint32 function)
{
  guint n = 0;

  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const GantryAttrs *attrs = gantry_context_attrs (module->context, module->nodes[i].attrs);

      for (guint k = 0; k < attrs->n; k++)
        n += attrs->items[k].kind == GANTRY_ATTR_FUNCTION && attrs->items[k].id == function;
    }
  return n == 1;
}
