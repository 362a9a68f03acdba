/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of core/graph share about the context and nobody else needs. */
#pragma once
#include "core/graph/context.h"

G_BEGIN_DECLS

/** Sorts @items by key text and interns them; list values are copied. */
guint32 _gantry_context_intern_attrs (GantryContext *context, GantryAttr *items, guint n);

/** GantryLocation by id. */
GantryInterner *_gantry_context_locations (GantryContext *context);

G_END_DECLS
