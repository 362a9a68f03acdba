/* SPDX-License-Identifier: Apache-2.0 */
/* Which scopes are folded. The sets that pictures hold never change: each edit makes a new one. */
#include "views/graph/graph-canvas-private.h"
#include <string.h>

void
gantry_graph_canvas_set_folded (GantryGraphCanvas *self, GHashTable *folded)
{
  if (self->folded == folded)
    return;
  if (folded != NULL)
    g_hash_table_ref (folded);
  g_clear_pointer (&self->folded, g_hash_table_unref);
  self->folded = folded;
  if (self->compilation != NULL && self->anchor.node == 0 && self->anchor.scope == 0)
    _gantry_graph_canvas_keep_middle (self, self->compilation, self->index);
  _gantry_graph_canvas_request (self);
}

static void
take_folded (GantryGraphCanvas *self, GHashTable *folded)
{
  gantry_graph_canvas_set_folded (self, folded);
  g_hash_table_unref (folded);
  g_signal_emit_by_name (self, "folds-changed");
}

GHashTable *
gantry_graph_canvas_get_folded (GantryGraphCanvas *self)
{
  return self->folded;
}

/* The sets that pictures hold never change: a new one is made. */
static GHashTable *
copy_folds (GantryGraphCanvas *self)
{
  GHashTable *copy = g_hash_table_new (NULL, NULL);
  GHashTable *now = self->folded;
  GHashTableIter iter;
  gpointer key;

  if (now == NULL && self->picture != NULL)
    now = gantry_graph_picture_folded (self->picture);
  if (now == NULL)
    return copy;
  g_hash_table_iter_init (&iter, now);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_hash_table_add (copy, key);
  return copy;
}

void
gantry_graph_canvas_toggle_fold (GantryGraphCanvas *self, guint32 scope)
{
  GHashTable *folded;

  if (self->picture == NULL || scope == 0)
    return;
  folded = copy_folds (self);
  _gantry_graph_canvas_keep_anchor (self, 0, scope);
  if (!g_hash_table_remove (folded, GUINT_TO_POINTER (scope)))
    g_hash_table_add (folded, GUINT_TO_POINTER (scope));
  take_folded (self, folded);
}

gboolean
gantry_graph_canvas_toggle_fold_selected (GantryGraphCanvas *self)
{
  guint32 box = _gantry_graph_canvas_primary_box (self);
  const GantryNode *node;
  const char *path;
  const GantryLayout *layout;
  guint32 best = 0;
  gsize longest = 0;

  if (box == GANTRY_NO_BOX)
    return FALSE;
  if (gantry_graph_picture_box_scope (self->picture, box) != 0)
    {
      gantry_graph_canvas_toggle_fold (self, gantry_graph_picture_box_scope (self->picture, box));
      return TRUE;
    }
  node = gantry_module_node (gantry_graph_picture_module (self->picture), gantry_graph_picture_box_node (self->picture, box));
  if (node == NULL)
    return FALSE;
  if (gantry_graph_picture_is_mirrored (self->picture)) /* no frames around scopes there */
    {
      best = gantry_graph_scope_to_fold (gantry_graph_picture_module (self->picture), 0, node->scope,
                                         self->folded != NULL ? self->folded : gantry_graph_picture_folded (self->picture));
      gantry_graph_canvas_toggle_fold (self, best);
      return best != 0;
    }
  /* The innermost group whose path the node's begins with. */
  path = gantry_context_scope_path (gantry_graph_picture_module (self->picture)->context, node->scope);
  layout = gantry_graph_picture_layout (self->picture);
  for (guint32 i = 0; i < layout->n_groups; i++)
    {
      guint32 scope = gantry_graph_picture_group_scope (self->picture, i);
      const char *group = gantry_context_scope_path (gantry_graph_picture_module (self->picture)->context, scope);
      gsize length = strlen (group);

      if (length > longest && g_str_has_prefix (path, group) && (path[length] == '\0' || path[length] == '/'))
        {
          longest = length;
          best = scope;
        }
    }
  gantry_graph_canvas_toggle_fold (self, best);
  return best != 0;
}

/* The outermost scopes that hold more than one node. */
void
gantry_graph_canvas_fold_all (GantryGraphCanvas *self)
{
  const GantryLayout *layout;
  GHashTable *folded;

  if (self->picture == NULL)
    return;
  layout = gantry_graph_picture_layout (self->picture);
  folded = copy_folds (self);
  _gantry_graph_canvas_keep_middle (self, self->compilation, self->index);
  for (guint32 i = 0; i < layout->n_groups; i++)
    g_hash_table_add (folded, GUINT_TO_POINTER (gantry_graph_picture_group_scope (self->picture, i)));
  if (gantry_graph_picture_is_mirrored (self->picture))
    {
      g_hash_table_unref (folded);
      folded = gantry_graph_all_folds (gantry_graph_picture_module (self->picture), 0);
    }
  take_folded (self, folded);
}

void
gantry_graph_canvas_unfold_all (GantryGraphCanvas *self)
{
  if (self->picture == NULL)
    return;
  _gantry_graph_canvas_keep_middle (self, self->compilation, self->index);
  take_folded (self, g_hash_table_new (NULL, NULL));
}
