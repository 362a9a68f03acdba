/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of scopes of a function: which exist, which are inside which, how many nodes each holds. */
#pragma once
#include "core/graph/module.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 scope;  /* scope id */
  guint32 parent; /* index, G_MAXUINT32 at the top */
  guint32 depth;
  guint32 n_nodes;    /* inside, at any depth */
  guint32 n_children; /* scopes and nodes directly inside */
} GantryScopeEntry;

typedef struct
{
  GArray *entries;   /* GantryScopeEntry; a parent comes before its children */
  GHashTable *index; /* scope id -> index + 1 */
} GantryScopeTree;

/** @visible: (nullable): by position in the function, nodes that count */
GantryScopeTree *gantry_scope_tree_new (const GantryModule *module, const GantryFunction *function, const guint8 *visible);
void gantry_scope_tree_free (GantryScopeTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryScopeTree, gantry_scope_tree_free)
/** Index of a scope, G_MAXUINT32 for the root. */
guint32 gantry_scope_tree_find (const GantryScopeTree *tree, guint32 scope);

G_END_DECLS
