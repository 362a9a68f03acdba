/* SPDX-License-Identifier: Apache-2.0 */
/* What a node does beyond giving a value, the functions that it calls included. For passes that merge or
 * remove nodes. */
#pragma once
#include "core/graph/module.h"

G_BEGIN_DECLS

typedef struct _GantryEffects GantryEffects;

GantryEffects *_gantry_effects_new (const GantryModule *module);
void _gantry_effects_free (GantryEffects *effects);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryEffects, _gantry_effects_free)
/** %GANTRY_OP_EFFECT and %GANTRY_OP_RANDOM of @node and of all that the functions do which it names; a foreign node may
 *  do either. */
guint16 _gantry_effects_of (const GantryEffects *effects, const GantryNode *node);
/** Index of the function that @id names, G_MAXUINT32 when there is none. */
guint32 _gantry_effects_function (const GantryEffects *effects, guint32 id);

G_END_DECLS
