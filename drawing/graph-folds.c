/* SPDX-License-Identifier: Apache-2.0 */
/* Which scopes are folded when nothing has been said: as few as keep the picture small enough to be read. */
#include "drawing/graph-picture-private.h"
#include "drawing/graph-scopes.h"
#include <string.h>

#define MOST_BOXES 1500u
/* A mirror is read as a whole: layers as boxes, so that what crosses between the columns can be counted. */
#define MOST_MIRRORED_BOXES 220u
#define FEW_BOXES 80u   /* a mirror that small is shown as it is */
#define MANY_BLOCKS 20u /* so many layers are a picture of their own; of fewer their parts are shown */

typedef struct
{
  const GantryModule *module;
  const GantryFunction *function;
  guint8 *visible;
  GantryScopeTree *tree;
  gboolean mirrored;
} Folding;

static const GantryScopeEntry *
entry_of (const Folding *f, guint i)
{
  return &g_array_index (f->tree->entries, GantryScopeEntry, i);
}

/* The updates of layer 3 are as deep as layer 3, though their path begins with "update". */
static guint
level_of (const Folding *f, guint i)
{
  const GantryScopeEntry *entry = entry_of (f, i);
  const char *path = gantry_context_scope_path (f->module->context, entry->scope);

  return f->mirrored && entry->depth > 0 && g_str_has_prefix (path, "update/") ? entry->depth - 1 : entry->depth;
}

/* How many boxes the picture has: one for each node that is seen, and one for each phase of a folded scope. */
static guint
count_boxes (const Folding *f, GHashTable *folded)
{
  g_autofree guint8 *seen = g_new0 (guint8, (gsize) f->tree->entries->len * GANTRY_N_PHASES + 1);
  guint n = 0;

  for (guint32 i = 0; i < f->function->n_nodes; i++)
    {
      const GantryNode *node = &f->module->nodes[f->function->first_node + i];
      guint32 top = G_MAXUINT32;

      if (!f->visible[i])
        continue;
      for (guint32 at = gantry_scope_tree_find (f->tree, node->scope); at != G_MAXUINT32; at = entry_of (f, at)->parent)
        if (g_hash_table_contains (folded, GUINT_TO_POINTER (entry_of (f, at)->scope)))
          top = at;
      if (top == G_MAXUINT32)
        n++;
      else if (!seen[top * GANTRY_N_PHASES + node->phase])
        {
          seen[top * GANTRY_N_PHASES + node->phase] = 1;
          n++;
        }
    }
  return n;
}

static void
folding_init (Folding *f, const GantryModule *module, guint32 function_id)
{
  f->module = module;
  f->function = function_id != 0 ? gantry_module_function (module, function_id) : NULL;
  if (f->function == NULL)
    f->function = gantry_module_entry (module);
  f->visible = _gantry_graph_find_visible (module, f->function, FALSE);
  f->tree = gantry_scope_tree_new (module, f->function, f->visible);
  f->mirrored = FALSE;
  for (guint32 i = 0; i < f->function->n_nodes && !f->mirrored; i++)
    f->mirrored = module->nodes[f->function->first_node + i].phase != GANTRY_PHASE_FORWARD;
}

static void
folding_clear (Folding *f)
{
  g_free (f->visible);
  gantry_scope_tree_free (f->tree);
}

/* "layer.3", "iteration.12", "block7": one of several alike. */
static gboolean
is_numbered (const Folding *f, guint i)
{
  const char *path = gantry_context_scope_path (f->module->context, entry_of (f, i)->scope);

  return *path != '\0' && g_ascii_isdigit (path[strlen (path) - 1]);
}

/* What holds no blocks of which there are several; and the blocks, where they are many: then layers are boxes. */
static void
fold_blocks (const Folding *f, GHashTable *folded)
{
  g_autofree guint8 *holds = g_new0 (guint8, f->tree->entries->len + 1), *inside = g_new0 (guint8, f->tree->entries->len + 1);
  guint n_blocks = 0;

  for (guint i = 0; i < f->tree->entries->len; i++) /* parents come first */
    {
      guint32 parent = entry_of (f, i)->parent;

      inside[i] = is_numbered (f, i) || (parent != G_MAXUINT32 && inside[parent]);
      n_blocks += is_numbered (f, i) && (parent == G_MAXUINT32 || !inside[parent]) && level_of (f, i) == entry_of (f, i)->depth;
      for (guint32 at = is_numbered (f, i) ? parent : G_MAXUINT32; at != G_MAXUINT32; at = entry_of (f, at)->parent)
        holds[at] = 1;
    }
  for (guint i = 0; n_blocks >= 2 && i < f->tree->entries->len; i++)
    if (entry_of (f, i)->n_nodes >= 2 && (n_blocks >= MANY_BLOCKS ? !holds[i] || is_numbered (f, i) : !holds[i] && !inside[i]))
      g_hash_table_add (folded, GUINT_TO_POINTER (entry_of (f, i)->scope));
}

GHashTable *
gantry_graph_default_folds (const GantryModule *module, guint32 function_id)
{
  GHashTable *folded = g_hash_table_new (NULL, NULL);
  guint most, deepest = 0;
  Folding f;

  folding_init (&f, module, function_id);
  most = f.mirrored ? MOST_MIRRORED_BOXES : MOST_BOXES;
  for (guint i = 0; i < f.tree->entries->len; i++)
    deepest = MAX (deepest, level_of (&f, i));
  if (f.mirrored && count_boxes (&f, folded) > FEW_BOXES)
    fold_blocks (&f, folded);
  /* From the innermost level outwards. */
  for (guint level = deepest + 1; level-- > 0 && count_boxes (&f, folded) > most;)
    for (guint i = 0; i < f.tree->entries->len; i++)
      if (level_of (&f, i) == level && entry_of (&f, i)->n_nodes >= 2)
        g_hash_table_add (folded, GUINT_TO_POINTER (entry_of (&f, i)->scope));
  folding_clear (&f);
  return folded;
}

GHashTable *
gantry_graph_all_folds (const GantryModule *module, guint32 function_id)
{
  GHashTable *folded = g_hash_table_new (NULL, NULL);
  Folding f;

  folding_init (&f, module, function_id);
  for (guint i = 0; i < f.tree->entries->len; i++)
    if (entry_of (&f, i)->n_nodes >= 2)
      g_hash_table_add (folded, GUINT_TO_POINTER (entry_of (&f, i)->scope));
  folding_clear (&f);
  return folded;
}

guint32
gantry_graph_scope_to_fold (const GantryModule *module, guint32 function_id, guint32 scope, GHashTable *folded)
{
  guint32 found = 0;
  Folding f;

  folding_init (&f, module, function_id);
  for (guint32 at = gantry_scope_tree_find (f.tree, scope); at != G_MAXUINT32 && found == 0; at = entry_of (&f, at)->parent)
    if (entry_of (&f, at)->n_nodes >= 2 && (folded == NULL || !g_hash_table_contains (folded, GUINT_TO_POINTER (entry_of (&f, at)->scope))))
      found = entry_of (&f, at)->scope;
  folding_clear (&f);
  return found;
}
