/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the tree from the paths of the nodes. */
#include "drawing/graph-scopes.h"
#include <string.h>

#define DEEPEST 100u /* a path with more parts hangs below its hundredth */

void
gantry_scope_tree_free (GantryScopeTree *tree)
{
  if (tree == NULL)
    return;
  g_array_unref (tree->entries);
  g_hash_table_unref (tree->index);
  g_free (tree);
}

guint32
gantry_scope_tree_find (const GantryScopeTree *tree, guint32 scope)
{
  guint32 found = scope != 0 ? GPOINTER_TO_UINT (g_hash_table_lookup (tree->index, GUINT_TO_POINTER (scope))) : 0;

  return found != 0 ? found - 1 : G_MAXUINT32;
}

/* The entry of a path; its ancestors are made first, from the top down. */
static guint32
add_path (GantryScopeTree *tree, GantryContext *context, guint32 scope)
{
  const char *path = gantry_context_scope_path (context, scope);
  guint32 parent = G_MAXUINT32;
  guint depth = 0;

  for (const char *end = path; end != NULL && *path != '\0' && depth < DEEPEST; depth++)
    {
      guint32 prefix, found;

      end = strchr (depth == 0 ? path : end + 1, '/');
      prefix = end != NULL && depth + 1 < DEEPEST ? gantry_context_intern_len (context, path, (gsize) (end - path)) : scope;
      if (prefix == 0)
        continue;
      found = gantry_scope_tree_find (tree, prefix);
      if (found == G_MAXUINT32)
        {
          GantryScopeEntry entry = { .scope = prefix, .parent = parent, .depth = depth };

          found = tree->entries->len;
          g_array_append_val (tree->entries, entry);
          g_hash_table_insert (tree->index, GUINT_TO_POINTER (prefix), GUINT_TO_POINTER (found + 1));
          if (parent != G_MAXUINT32)
            g_array_index (tree->entries, GantryScopeEntry, parent).n_children++;
        }
      parent = found;
    }
  return parent;
}

GantryScopeTree *
gantry_scope_tree_new (const GantryModule *module, const GantryFunction *function, const guint8 *visible)
{
  GantryScopeTree *tree = g_new0 (GantryScopeTree, 1);

  tree->entries = g_array_new (FALSE, TRUE, sizeof (GantryScopeEntry));
  tree->index = g_hash_table_new (NULL, NULL);
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      guint32 scope = module->nodes[function->first_node + i].scope;
      guint32 entry;

      if (scope == 0 || (visible != NULL && !visible[i]))
        continue;
      entry = gantry_scope_tree_find (tree, scope);
      if (entry == G_MAXUINT32)
        entry = add_path (tree, module->context, scope);
      if (entry == G_MAXUINT32)
        continue;
      g_array_index (tree->entries, GantryScopeEntry, entry).n_children++;
      for (; entry != G_MAXUINT32; entry = g_array_index (tree->entries, GantryScopeEntry, entry).parent)
        g_array_index (tree->entries, GantryScopeEntry, entry).n_nodes++;
    }
  return tree;
}
