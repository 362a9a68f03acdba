/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of a line and a node, sorted by counting. */
#include "views/source/source-index.h"
#include "core/graph/operation.h"
#include <stdlib.h>

const GantryLocation *
gantry_source_place (const GantryModule *module, const GantryNode *node)
{
  const GantryLocation *location = gantry_context_get_location (module->context, node->location);

  return location != NULL && location->file != 0 && location->line != 0 && location->text == 0 ? location : NULL;
}

/* The functions that @node names go to the end of @found, each once. */
static void
add_functions (const GantryModule *module, const GantryNode *node, GPtrArray *found, GHashTable *seen)
{
  const GantryAttrs *attrs = gantry_context_attrs (module->context, node->attrs);

  for (guint32 i = 0; i < attrs->n; i++)
    {
      const GantryFunction *function = attrs->items[i].kind == GANTRY_ATTR_FUNCTION ? gantry_module_function (module, attrs->items[i].id) : NULL;

      if (function != NULL && g_hash_table_add (seen, (gpointer) function))
        g_ptr_array_add (found, (gpointer) function);
    }
}

static gboolean
runs_functions (const GantryModule *module, const GantryNode *node)
{
  const GantryAttrs *attrs = gantry_context_attrs (module->context, node->attrs);

  for (guint32 i = 0; i < attrs->n; i++)
    if (attrs->items[i].kind == GANTRY_ATTR_FUNCTION)
      return TRUE;
  return FALSE;
}

void
gantry_source_each_part (const GantryModule *module, const GantryNode *node, guint64 *budget, GantrySourcePartFunc func, gpointer data)
{
  g_autoptr (GPtrArray) functions = NULL;
  g_autoptr (GHashTable) seen = NULL;

  if (!runs_functions (module, node))
    return;
  functions = g_ptr_array_new ();
  seen = g_hash_table_new (NULL, NULL);
  add_functions (module, node, functions, seen);
  for (guint f = 0; f < functions->len; f++)
    {
      const GantryFunction *function = g_ptr_array_index (functions, f);

      for (guint32 i = function->n_params; i < function->n_nodes && (*budget) > 0; i++, --*budget)
        {
          const GantryNode *part = &module->nodes[function->first_node + i];

          func (module, part, data);
          add_functions (module, part, functions, seen);
        }
    }
}

guint64
gantry_source_part_budget (const GantryModule *module)
{
  return 4 * (guint64) module->n_nodes + 1000000;
}

/* Building */

typedef struct
{
  guint32 slot, node;
} Pair;

typedef struct
{
  GHashTable *slots; /* file << 32 | line -> index in lines + 1 */
  GArray *lines;     /* GantrySourceLine, in the order in which they are found */
  GArray *last;      /* guint32: by line: the node that was added last */
  GArray *pairs;     /* Pair */
  GArray *files;
  GHashTable *known;       /* of @files */
  GHashTable *by_location; /* location id -> index in lines + 1 */
  guint32 node;            /* of the entry function, that is walked */
} Build;

static guint32
slot_of (Build *build, const GantryLocation *place)
{
  gint64 key = (gint64) ((guint64) place->file << 32 | place->line);
  guint slot = GPOINTER_TO_UINT (g_hash_table_lookup (build->slots, &key));
  GantrySourceLine line = { place->file, place->line, 0, 0 };
  guint32 none = 0;

  if (slot != 0)
    return slot - 1;
  g_array_append_val (build->lines, line);
  g_array_append_val (build->last, none);
  g_hash_table_insert (build->slots, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (build->lines->len));
  if (g_hash_table_add (build->known, GUINT_TO_POINTER (place->file)))
    g_array_append_val (build->files, place->file);
  return build->lines->len - 1;
}

static void
add_node (const GantryModule *module, const GantryNode *node, gpointer data)
{
  Build *build = data;
  guint slot = GPOINTER_TO_UINT (g_hash_table_lookup (build->by_location, GUINT_TO_POINTER (node->location)));
  const GantryLocation *place = slot == 0 ? gantry_source_place (module, node) : NULL;
  Pair pair = { slot - 1, build->node };

  if (slot == 0 && place == NULL)
    return;
  if (slot == 0)
    {
      pair.slot = slot_of (build, place);
      g_hash_table_insert (build->by_location, GUINT_TO_POINTER (node->location), GUINT_TO_POINTER (pair.slot + 1));
    }
  if (g_array_index (build->last, guint32, pair.slot) == build->node)
    return; /* several parts of one node stand there */
  g_array_index (build->last, guint32, pair.slot) = build->node;
  g_array_index (build->lines, GantrySourceLine, pair.slot).n++;
  g_array_append_val (build->pairs, pair);
}

static int
compare_lines (gconstpointer a, gconstpointer b)
{
  const GantrySourceLine *x = a, *y = b;

  if (x->file != y->file)
    return x->file < y->file ? -1 : 1;
  return x->line < y->line ? -1 : x->line > y->line;
}

static void
build_finish (Build *build, GantrySourceIndex *index)
{
  g_autofree guint32 *next = g_new0 (guint32, build->lines->len + 1);
  guint32 at = 0;

  index->nodes = g_new (guint32, build->pairs->len + 1);
  for (guint i = 0; i < build->lines->len; i++)
    {
      GantrySourceLine *line = &g_array_index (build->lines, GantrySourceLine, i);

      line->first = next[i] = at;
      at += line->n;
    }
  for (guint i = 0; i < build->pairs->len; i++)
    {
      const Pair *pair = &g_array_index (build->pairs, Pair, i);

      index->nodes[next[pair->slot]++] = pair->node;
    }
  g_array_sort (build->lines, compare_lines);
  index->lines = build->lines;
  index->files = build->files;
  g_array_unref (build->last);
  g_array_unref (build->pairs);
  g_hash_table_unref (build->slots);
  g_hash_table_unref (build->known);
  g_hash_table_unref (build->by_location);
}

GantrySourceIndex *
gantry_source_index_new (GantryModule *module)
{
  GantrySourceIndex *index = g_new0 (GantrySourceIndex, 1);
  const GantryFunction *entry = gantry_module_entry (module);
  guint64 budget = gantry_source_part_budget (module);
  Build build = { .slots = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL),
                  .lines = g_array_new (FALSE, FALSE, sizeof (GantrySourceLine)),
                  .last = g_array_new (FALSE, FALSE, sizeof (guint32)),
                  .pairs = g_array_new (FALSE, FALSE, sizeof (Pair)),
                  .files = g_array_new (FALSE, FALSE, sizeof (guint32)),
                  .known = g_hash_table_new (NULL, NULL),
                  .by_location = g_hash_table_new (NULL, NULL) };

  g_atomic_ref_count_init (&index->ref_count);
  index->module = gantry_module_ref (module);
  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];

      build.node = node->id;
      add_node (module, node, &build);
      gantry_source_each_part (module, node, &budget, add_node, &build);
    }
  build_finish (&build, index);
  return index;
}

GantrySourceIndex *
gantry_source_index_ref (GantrySourceIndex *index)
{
  g_atomic_ref_count_inc (&index->ref_count);
  return index;
}

void
gantry_source_index_unref (GantrySourceIndex *index)
{
  if (!g_atomic_ref_count_dec (&index->ref_count))
    return;
  gantry_module_unref (index->module);
  g_array_unref (index->lines);
  g_array_unref (index->files);
  g_free (index->nodes);
  g_free (index);
}

const GantrySourceLine *
gantry_source_index_find (const GantrySourceIndex *index, guint32 file, guint32 line)
{
  GantrySourceLine key = { file, line, 0, 0 };

  return index->lines->len == 0 ? NULL : bsearch (&key, index->lines->data, index->lines->len, sizeof (GantrySourceLine), compare_lines);
}

/* Lines that led to others */

typedef struct
{
  GHashTable *known; /* location id -> 1 + whether its chain has the line */
  guint32 file, line, node;
  GArray *nodes;
} Led;

/* Each location of a chain is looked at once. */
static gboolean
leads_from (Led *led, GantryContext *context, guint32 id)
{
  gboolean is = FALSE;
  guint32 last = id;
  gpointer known = NULL;

  for (; last != 0 && !is; last = gantry_context_get_location (context, last)->parent)
    {
      const GantryLocation *location = gantry_context_get_location (context, last);

      known = g_hash_table_lookup (led->known, GUINT_TO_POINTER (last));
      if (known != NULL)
        break;
      is = location->file == led->file && location->line == led->line;
    }
  is |= GPOINTER_TO_UINT (known) == 2;
  for (; id != last; id = gantry_context_get_location (context, id)->parent)
    g_hash_table_insert (led->known, GUINT_TO_POINTER (id), GUINT_TO_POINTER (1u + is));
  return is;
}

static void
add_led (const GantryModule *module, const GantryNode *node, gpointer data)
{
  Led *led = data;
  const GantryLocation *location = gantry_context_get_location (module->context, node->location);

  if (location == NULL || !leads_from (led, module->context, location->parent)
      || (led->nodes->len > 0 && g_array_index (led->nodes, guint32, led->nodes->len - 1) == led->node))
    return;
  g_array_append_val (led->nodes, led->node);
}

GArray *
gantry_source_index_led (const GantrySourceIndex *index, guint32 file, guint32 line)
{
  const GantryModule *module = index->module;
  const GantryFunction *entry = gantry_module_entry (module);
  guint64 budget = gantry_source_part_budget (module);
  Led led = { g_hash_table_new (NULL, NULL), file, line, 0, g_array_new (FALSE, FALSE, sizeof (guint32)) };

  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];

      led.node = node->id;
      add_led (module, node, &led);
      gantry_source_each_part (module, node, &budget, add_led, &led);
    }
  g_hash_table_unref (led.known);
  return led.nodes;
}
