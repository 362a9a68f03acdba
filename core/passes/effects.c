/* SPDX-License-Identifier: Apache-2.0 */
/* Effects of nodes through the functions that they call. */
#include "core/passes/effects-private.h"
#include "core/graph/operation.h"
#include "core/graph/region.h"

#define EFFECTS (GANTRY_OP_EFFECT | GANTRY_OP_RANDOM)

struct _GantryEffects
{
  const GantryModule *module;
  GHashTable *functions; /* id -> index + 1 */
  guint16 *flags;        /* by function index */
};

guint32
_gantry_effects_function (const GantryEffects *effects, guint32 id)
{
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (effects->functions, GUINT_TO_POINTER (id)));

  return index != 0 ? index - 1 : G_MAXUINT32;
}

guint16
_gantry_effects_of (const GantryEffects *effects, const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  const GantryAttrs *attrs = gantry_context_attrs (effects->module->context, node->attrs);
  guint16 flags = info != NULL ? info->flags & EFFECTS : EFFECTS;

  if (gantry_loop_may_be_endless (effects->module, node))
    flags |= GANTRY_OP_EFFECT;
  for (guint i = 0; i < attrs->n; i++)
    if (attrs->items[i].kind == GANTRY_ATTR_FUNCTION)
      {
        guint32 function = _gantry_effects_function (effects, attrs->items[i].id);

        flags |= function != G_MAXUINT32 ? effects->flags[function] : EFFECTS;
      }
  return flags;
}

/* One turn over all functions. Returns: whether one has more effects than was known. */
static gboolean
spread (GantryEffects *effects)
{
  const GantryModule *module = effects->module;
  gboolean changed = FALSE;

  for (guint f = 0; f < module->n_functions; f++)
    {
      const GantryFunction *function = &module->functions[f];
      guint16 flags = effects->flags[f];

      for (guint32 i = 0; i < function->n_nodes && flags != EFFECTS; i++)
        flags |= _gantry_effects_of (effects, &module->nodes[function->first_node + i]);
      changed = changed || flags != effects->flags[f];
      effects->flags[f] = flags;
    }
  return changed;
}

GantryEffects *
_gantry_effects_new (const GantryModule *module)
{
  GantryEffects *effects = g_new0 (GantryEffects, 1);

  effects->module = module;
  effects->functions = g_hash_table_new (NULL, NULL);
  effects->flags = g_new0 (guint16, module->n_functions + 1);
  for (guint f = 0; f < module->n_functions; f++)
    g_hash_table_insert (effects->functions, GUINT_TO_POINTER (module->functions[f].id), GUINT_TO_POINTER (f + 1));
  /* Bodies may stand anywhere: as many turns as calls nest. */
  while (spread (effects))
    ;
  return effects;
}

void
_gantry_effects_free (GantryEffects *effects)
{
  if (effects == NULL)
    return;
  g_hash_table_unref (effects->functions);
  g_free (effects->flags);
  g_free (effects);
}
