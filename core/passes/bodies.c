/* SPDX-License-Identifier: Apache-2.0 */
/* What passes that write the bodies of loops anew ask of them. */
#include "core/passes/bodies-private.h"
#include <string.h>

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

guint32
_gantry_only_user (const GantryUses *uses, guint32 position)
{
  guint32 first = uses->first[position];

  return uses->first[position + 1] == first + 1 ? uses->users[first] : G_MAXUINT32;
}

guint32
_gantry_stack_type (const GantryModule *module, const GantryType *type, gint64 n)
{
  GantryDim dims[GANTRY_MAX_RANK] = { n };

  memcpy (dims + 1, type->dims, type->rank * sizeof *dims);
  return gantry_context_tensor (module->context, type->element, type->rank + 1, dims);
}
