/* SPDX-License-Identifier: Apache-2.0 */
/* What a compilation is once it is made: its life, and following nodes through its passes. */
#include "core/compiler/compilation.h"
#include "core/compiler/planner-pool.h"
#include <string.h>

GantryCompilation *
gantry_compilation_ref (GantryCompilation *compilation)
{
  g_atomic_ref_count_inc (&compilation->ref_count);
  return compilation;
}

static void
free_snapshots (GantryCompilation *compilation)
{
  for (guint i = 0; i < compilation->n_snapshots; i++)
    {
      g_free (compilation->snapshots[i].pass);
      g_free (compilation->snapshots[i].title);
      g_free (compilation->snapshots[i].description);
      gantry_module_unref (compilation->snapshots[i].module);
    }
  g_free (compilation->snapshots);
}

void
gantry_compilation_unref (GantryCompilation *compilation)
{
  if (compilation == NULL || !g_atomic_ref_count_dec (&compilation->ref_count))
    return;
  _gantry_planner_pool_free (compilation->planners); /* before the module and the target that they point into */
  free_snapshots (compilation);
  g_clear_error (&compilation->refusal);
  g_clear_error (&compilation->plan_error);
  g_free (compilation->unreached);
  gantry_plan_unref (compilation->plan);
  gantry_plan_unref (compilation->refused_plan);
  g_free (compilation->keys);
  g_clear_pointer (&compilation->measured_us, g_hash_table_unref);
  gantry_placements_unref (compilation->placements);
  g_clear_pointer (&compilation->reports, g_ptr_array_unref);
  gantry_compile_settings_clear (&compilation->settings);
  gantry_model_unref (compilation->model);
  g_free (compilation);
}

/* Following nodes through the passes */

static void
step_forward (const GantryModule *next, GHashTable *ids, GHashTable *out)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, ids);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      guint32 id = gantry_module_successor (next, GPOINTER_TO_UINT (key));

      if (id != 0)
        g_hash_table_add (out, GUINT_TO_POINTER (id));
    }
  for (guint32 i = 0; i < next->n_nodes; i++)
    for (guint j = 0; j < next->nodes[i].n_origins; j++)
      if (g_hash_table_contains (ids, GUINT_TO_POINTER (next->origins[next->nodes[i].origins + j])))
        g_hash_table_add (out, GUINT_TO_POINTER (next->nodes[i].id));
}

/* Adds to @out what the nodes @ids of @module were made of in @previous, the snapshot before: themselves where they were there,
 * their origins, and what they stand for. */
static void
add_origins_of (const GantryModule *previous, const GantryModule *module, GHashTable *ids, GHashTable *out)
{
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, ids);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      const GantryNode *node = gantry_module_node (module, GPOINTER_TO_UINT (key));

      if (gantry_module_node (previous, GPOINTER_TO_UINT (key)) != NULL)
        g_hash_table_add (out, key);
      for (guint j = 0; node != NULL && j < node->n_origins; j++)
        g_hash_table_add (out, GUINT_TO_POINTER (module->origins[node->origins + j]));
    }
  for (guint32 i = 0; i < module->n_replaced; i++)
    if (g_hash_table_contains (ids, GUINT_TO_POINTER (module->replaced[2 * i + 1])))
      g_hash_table_add (out, GUINT_TO_POINTER (module->replaced[2 * i]));
}

static int
compare_ids (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return x < y ? -1 : x > y;
}

GArray *
gantry_compilation_follow_all (const GantryCompilation *compilation, guint from, const guint32 *nodes, guint n, guint to)
{
  g_autoptr (GHashTable) ids = g_hash_table_new (NULL, NULL);
  GArray *result = g_array_new (FALSE, FALSE, sizeof (guint32));
  GHashTableIter iter;
  gpointer key;

  g_return_val_if_fail (from < compilation->n_snapshots && to < compilation->n_snapshots, result);
  for (guint i = 0; i < n; i++)
    g_hash_table_add (ids, GUINT_TO_POINTER (nodes[i]));
  while (from != to)
    {
      guint next = from < to ? from + 1 : from - 1;
      GantryModule *here = compilation->snapshots[from].module, *there = compilation->snapshots[next].module;

      if (here != there) /* a pass that changed nothing hands the same module on */
        {
          GHashTable *out = g_hash_table_new (NULL, NULL);

          if (from < to)
            step_forward (there, ids, out);
          else
            add_origins_of (there, here, ids, out);
          g_hash_table_unref (ids);
          ids = out;
        }
      from = next;
    }
  g_hash_table_iter_init (&iter, ids);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      guint32 found = GPOINTER_TO_UINT (key);

      if (gantry_module_node (compilation->snapshots[to].module, found) != NULL)
        g_array_append_val (result, found);
    }
  g_array_sort (result, compare_ids);
  return result;
}

GArray *
gantry_compilation_follow (const GantryCompilation *compilation, guint from, guint32 id, guint to)
{
  return gantry_compilation_follow_all (compilation, from, &id, 1, to);
}

GHashTable *
gantry_compilation_changes (const GantryCompilation *compilation, guint index, gboolean removed)
{
  GHashTable *set = g_hash_table_new (NULL, NULL);
  const GantryModule *before, *after;

  if (index == 0 || index >= compilation->n_snapshots)
    return set;
  before = compilation->snapshots[removed ? index : index - 1].module;
  after = compilation->snapshots[removed ? index - 1 : index].module;
  for (guint32 i = 0; i < after->n_nodes; i++)
    if (gantry_module_node (before, after->nodes[i].id) == NULL)
      g_hash_table_add (set, GUINT_TO_POINTER (after->nodes[i].id));
  return set;
}
