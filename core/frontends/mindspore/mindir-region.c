/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the module: the entry, and the bodies of branches and loops, whose captures are found while they are written. */
#include "core/frontends/mindspore/mindir-private.h"

MindRegion *
gantry_mind_region_begin (MindImport *import, const char *name)
{
  MindRegion *region = g_new0 (MindRegion, 1);

  region->serial = ++import->serials;
  region->captured = g_hash_table_new (NULL, NULL);
  region->outer = g_array_new (FALSE, FALSE, sizeof (guint32));
  region->inner = g_array_new (FALSE, FALSE, sizeof (guint32));
  region->function = gantry_builder_begin (import->b, name, 0);
  g_ptr_array_add (import->regions, region);
  return region;
}

void
gantry_mind_region_end (MindImport *import, const guint32 *results, guint n)
{
  gantry_builder_end (import->b, results, n);
  g_ptr_array_remove_index (import->regions, import->regions->len - 1);
}

void
gantry_mind_region_free (gpointer data)
{
  MindRegion *region = data;

  if (region == NULL)
    return;
  g_hash_table_unref (region->captured);
  g_array_unref (region->outer);
  g_array_unref (region->inner);
  g_free (region);
}

gint
gantry_mind_region_level (MindImport *import, guint32 serial)
{
  for (guint i = import->regions->len; i-- > 0;)
    if (((const MindRegion *) g_ptr_array_index (import->regions, i))->serial == serial)
      return (gint) i;
  return -1;
}

guint32
gantry_mind_capture (MindRegion *region, GantryBuilder *b, guint32 outer)
{
  guint32 inner = GPOINTER_TO_UINT (g_hash_table_lookup (region->captured, GUINT_TO_POINTER (outer)));

  if (inner != 0 || outer == 0)
    return inner;
  inner = gantry_builder_capture (b, region->function, gantry_builder_type (b, outer));
  g_hash_table_insert (region->captured, GUINT_TO_POINTER (outer), GUINT_TO_POINTER (inner));
  g_array_append_val (region->outer, outer);
  g_array_append_val (region->inner, inner);
  return inner;
}

void
gantry_mind_regions_align (MindImport *import, MindRegion **regions, guint n, GArray *operands)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autofree guint32 *order = NULL;

  for (guint r = 0; r < n; r++)
    for (guint i = 0; i < regions[r]->outer->len; i++)
      {
        guint32 id = g_array_index (regions[r]->outer, guint32, i);

        if (g_hash_table_add (seen, GUINT_TO_POINTER (id)))
          g_array_append_val (all, id);
      }
  order = g_new0 (guint32, all->len + 1);
  for (guint r = 0; r < n; r++)
    {
      for (guint i = 0; i < all->len; i++)
        order[i] = gantry_mind_capture (regions[r], import->b, g_array_index (all, guint32, i));
      gantry_builder_order_captures (import->b, regions[r]->function, order, all->len);
    }
  g_array_append_vals (operands, all->data, all->len);
}
