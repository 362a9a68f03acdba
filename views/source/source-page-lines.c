/* SPDX-License-Identifier: Apache-2.0 */
/* Selection and lines, both ways, and what is known of a line. */
#include "views/format.h"
#include "views/source/source-page-private.h"

/* A selection of more is looked at, not counted. */
#define MOST_MARKED 2000u
#define MOST_LOOKED_AT 20000u
#define MOST_TOLD 8u

/* From the selection to lines */

typedef struct
{
  GHashTable *lines; /* of @file */
  guint32 file;
  guint64 budget;
} Marks;

static void
add_mark (const GantryModule *module, const GantryNode *node, gpointer data)
{
  Marks *marks = data;
  const GantryLocation *place = gantry_source_place (module, node);

  if (place != NULL && place->file == marks->file && g_hash_table_size (marks->lines) < MOST_MARKED)
    g_hash_table_add (marks->lines, GUINT_TO_POINTER (place->line));
}

/* All lines of this file that what is selected was written in; that of the primary node comes into sight. */
void
_gantry_source_page_mark (GantrySourcePage *self)
{
  guint snapshot = MIN (gantry_selection_snapshot (self->selection), self->facts->compilation->n_snapshots - 1);
  const GantryModule *module = self->facts->compilation->snapshots[snapshot].module;
  const GantryNode *primary = gantry_module_node (module, gantry_selection_primary (self->selection));
  const GantryLocation *place = self->jump.line != 0 ? &self->jump : primary != NULL ? gantry_source_place (module, primary) : NULL;
  Marks marks = { g_hash_table_new (NULL, NULL), self->file, MOST_LOOKED_AT };
  g_autoptr (GArray) lines = g_array_new (FALSE, FALSE, sizeof (guint32));
  gboolean here = place != NULL && place->file == self->file && !self->choosing;
  guint n = 0;
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, gantry_selection_in (self->selection, snapshot));
  while (g_hash_table_iter_next (&iter, &key, NULL) && n++ < MOST_LOOKED_AT)
    {
      const GantryNode *node = gantry_module_node (module, GPOINTER_TO_UINT (key));

      if (node == NULL)
        continue;
      add_mark (module, node, &marks);
      gantry_source_each_part (module, node, &marks.budget, add_mark, &marks);
    }
  g_hash_table_iter_init (&iter, marks.lines);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      guint32 line = GPOINTER_TO_UINT (key);

      g_array_append_val (lines, line);
    }
  gantry_source_view_mark (self->view, (const guint32 *) (gpointer) lines->data, lines->len, here ? place->line : 0, here ? place->column : 0);
  g_hash_table_unref (marks.lines);
}

/* From a line to nodes */

void
_gantry_source_page_select_line (GantrySourcePage *self, guint32 line)
{
  const GantrySourceIndex *index = self->facts->shown;
  const GantrySourceLine *found = gantry_source_index_find (index, self->file, line);
  g_autoptr (GArray) led = found == NULL ? gantry_source_index_led (index, self->file, line) : NULL;

  if (found == NULL && led->len == 0)
    return;
  self->choosing = TRUE;
  if (found != NULL)
    gantry_selection_set (self->selection, self->facts->snapshot, index->nodes + found->first, found->n);
  else
    gantry_selection_set (self->selection, self->facts->snapshot, (const guint32 *) (gpointer) led->data, led->len);
  self->choosing = FALSE;
  g_signal_emit_by_name (self, "selected");
}

gboolean
_gantry_source_page_is_of_now (GantrySourcePage *self)
{
  GantryCompilation *compilation = gantry_document_get_compilation (self->document);

  return self->facts != NULL && self->facts->compilation == compilation && self->facts->snapshot == MIN (self->snapshot, compilation->n_snapshots - 1);
}

void
_gantry_source_page_line_chosen (GantrySourceView *view, guint line, gpointer data)
{
  GantrySourcePage *self = data;

  if (_gantry_source_page_is_of_now (self))
    _gantry_source_page_select_line (self, line);
  else
    self->chosen = line;
}

/* What is known of a line: its values as they were imported, and what they cost. */

static void
tell_values (GString *text, const GantrySourceIndex *index, const GantrySourceLine *line)
{
  const GantryModule *module = index->module;
  g_autoptr (GHashTable) told = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint32 i = 0; i < line->n && g_hash_table_size (told) < MOST_TOLD; i++)
    {
      const GantryNode *node = gantry_module_node (module, index->nodes[line->first + i]);
      g_autofree char *type = node != NULL ? gantry_context_type_text (module->context, node->type) : NULL;
      const char *name = node != NULL ? gantry_context_string (module->context, node->name) : "";
      char *value;

      if (node == NULL)
        continue;
      value = g_strdup_printf ("\n%s%s%s: %s", name, *name != '\0' ? " = " : "", gantry_node_op_name (module, node), type);
      if (g_hash_table_add (told, value))
        g_string_append (text, value);
    }
  if (g_hash_table_size (told) == MOST_TOLD)
    g_string_append (text, "\n…");
}

char *
_gantry_source_page_describe_line (GantrySourceView *view, guint line, gpointer data)
{
  GantrySourcePage *self = data;
  const GantrySourceLine *found = self->facts != NULL ? gantry_source_index_find (self->facts->imported, self->file, line) : NULL;
  const GantrySourceCost *cost = self->facts != NULL ? gantry_source_heat_find (self->facts->heat, self->file, line) : NULL;
  g_autofree char *costs = cost != NULL ? gantry_source_cost_text (self->facts->heat, cost) : g_strdup ("");
  g_autofree char *nodes = NULL;
  GString *text;

  if (found == NULL && cost == NULL)
    return NULL;
  text = g_string_new (NULL);
  nodes = gantry_format_plural (found != NULL ? found->n : 0, "node", "nodes");
  g_string_append_printf (text, "Line %u: %s as imported", line, nodes);
  if (*costs != '\0')
    g_string_append_printf (text, "\n%s", costs);
  if (found != NULL)
    tell_values (text, self->facts->imported, found);
  return g_string_free (text, FALSE);
}
