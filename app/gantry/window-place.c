/* SPDX-License-Identifier: Apache-2.0 */
/* Placements from the keyboard and the menu: which values a command reaches, what the document says to it, and the
 * pictures that follow. */
#include "app/gantry/window-private.h"
#include "views/format.h"

static GArray *
values_of_scopes (GantryWindow *self, const GantryModule *module, const guint32 *nodes, guint n)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GArray *values = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < n; i++)
    {
      const GantryNode *node = gantry_module_node (module, nodes[i]);
      g_autoptr (GArray) inside = NULL;

      if (node == NULL || node->scope == 0 || !g_hash_table_add (seen, GUINT_TO_POINTER (node->scope)))
        continue;
      inside = gantry_document_placeable_in_scope (self->document, gantry_context_scope_path (module->context, node->scope));
      g_array_append_vals (values, inside->data, inside->len);
    }
  return values;
}

/* The values that a command stands for, as ids of the last snapshot. */
static GArray *
values_reached (GantryWindow *self, GantryReach reach)
{
  GantryGraphCanvas *canvas = gantry_pass_view_get_canvas (self->pass_view);
  GantryModule *module = gantry_graph_canvas_get_module (canvas);
  guint snapshot = gantry_graph_canvas_get_snapshot (canvas), n = 0;
  const GArray *matches = gantry_pass_view_get_matches (self->pass_view);
  GHashTable *selected = gantry_selection_in (self->selection, snapshot);
  g_autofree guint32 *nodes = g_new (guint32, g_hash_table_size (selected) + 1);
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, selected);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    nodes[n++] = GPOINTER_TO_UINT (key);
  switch (reach)
    {
    case GANTRY_REACH_SCOPE: return values_of_scopes (self, module, nodes, n);
    case GANTRY_REACH_ALIKE: return gantry_document_placeable_alike (self->document, snapshot, nodes, n);
    case GANTRY_REACH_MATCHES:
      return gantry_document_placeable (self->document, snapshot, matches != NULL ? (const guint32 *) (gpointer) matches->data : NULL,
                                        matches != NULL ? matches->len : 0);
    case GANTRY_REACH_SELECTION: break;
    }
  return gantry_document_placeable (self->document, snapshot, nodes, n);
}

void
_gantry_window_place (GantryWindow *self, int kind, GantryReach reach)
{
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);
  g_autoptr (GArray) values = NULL;
  g_autofree char *why = NULL, *text = NULL;
  guint n;

  if (compilation == NULL || gantry_document_get_placements (self->document) == NULL)
    {
      _gantry_window_toast (self, "There is nothing to place: this program has no plan");
      return;
    }
  values = values_reached (self, reach);
  if (values->len == 0)
    {
      _gantry_window_toast (self,
                            reach == GANTRY_REACH_MATCHES ? "The search has found no value that can be placed" : "No value that can be placed is selected");
      return;
    }
  n = gantry_document_set_placement (self->document, compilation->n_snapshots - 1, (const guint32 *) (gpointer) values->data, values->len, kind, &why);
  text = gantry_format_placed (kind, n, why);
  if (text != NULL)
    _gantry_window_toast (self, text);
}

void
_gantry_window_place_action (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  static const char *const reaches[] = { "selection", "scope", "alike", "matches" };
  g_auto (GStrv) words = g_strsplit (g_variant_get_string (parameter, NULL), " ", 2);
  int kind = GANTRY_PLACEMENT_UNSET;
  guint reach = 0;

  for (guint k = 0; k < GANTRY_N_PLACEMENTS; k++)
    if (g_strcmp0 (words[0], gantry_placement_kind_name (k)) == 0)
      kind = (int) k;
  for (guint r = 0; r < G_N_ELEMENTS (reaches); r++)
    if (g_strcmp0 (words[0] != NULL ? words[1] : NULL, reaches[r]) == 0)
      reach = r;
  _gantry_window_place (window, kind, (GantryReach) reach);
}

void
_gantry_window_update_placements (GantryWindow *self)
{
  GantryForecast *forecast = gantry_document_get_prediction (self->document);

  gantry_pass_view_set_placements (self->pass_view, gantry_document_get_placements (self->document), forecast != NULL ? forecast->prediction->steps : NULL);
}
