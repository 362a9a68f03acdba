/* SPDX-License-Identifier: Apache-2.0 */
/* Back through the snapshots along the origins of nodes. */
#include "views/source/source-chain.h"
#include "views/source/source-index.h"

#define MOST_STEPS 16u
#define MOST_CALLS 8u
#define MOST_NODES 64u /* of a snapshot that are followed; a fusion of more is no chain that anyone reads */

static void
clear_step (gpointer data)
{
  g_free (((GantrySourceStep *) data)->text);
}

static gboolean
has_place (const GArray *steps, const GantryLocation *place)
{
  for (guint i = 0; i < steps->len; i++)
    {
      const GantryLocation *other = g_array_index (steps, GantrySourceStep, i).place;

      if (other->file == place->file && other->line == place->line && other->column == place->column)
        return TRUE;
    }
  return FALSE;
}

/* What a node and a part of what it runs are called. */
typedef struct
{
  GArray *steps;
  const char *relation;
} Adding;

static void
add_step (const GantryModule *module, const GantryNode *node, gpointer data)
{
  Adding *adding = data;
  const GantryLocation *place = gantry_source_place (module, node);
  g_autofree char *label = NULL;
  GantrySourceStep step;

  if (place == NULL || adding->steps->len >= MOST_STEPS || has_place (adding->steps, place))
    return;
  label = gantry_node_label (module, node);
  step = (GantrySourceStep){ place, g_strdup_printf ("%s%s %s", adding->relation, gantry_node_op_name (module, node), label) };
  g_array_append_val (adding->steps, step);
}

/* What led to the place of the node. */
static void
add_calls (GArray *steps, const GantryModule *module, const GantryNode *node)
{
  const GantryLocation *location = gantry_context_get_location (module->context, node->location);

  for (; location != NULL && location->parent != 0 && steps->len <= MOST_CALLS; location = gantry_context_get_location (module->context, location->parent))
    {
      const GantryLocation *parent = gantry_context_get_location (module->context, location->parent);
      GantrySourceStep step = { parent, NULL };

      if (parent->file == 0 || parent->line == 0 || has_place (steps, parent))
        continue;
      step.text = gantry_context_step_text (module->context, location);
      g_array_append_val (steps, step);
    }
}

static const char *
relation_of (const GantryNode *node, const GantryNode *origin)
{
  return node->phase == GANTRY_PHASE_BACKWARD && origin->phase != GANTRY_PHASE_BACKWARD ? "gradient of " : "made of ";
}

/* The nodes of the snapshot @before that those of @ids in @module were made of. (transfer full) (element-type guint32) */
static GArray *
step_back (GArray *steps, const GantryModule *module, const GantryModule *before, const GArray *ids)
{
  GArray *origins = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < ids->len; i++)
    {
      guint32 id = g_array_index (ids, guint32, i);
      const GantryNode *node = gantry_module_node (module, id);

      for (guint k = 0; node != NULL && k < MAX (node->n_origins, 1) && origins->len < MOST_NODES; k++)
        {
          guint32 from = node->n_origins > 0 ? module->origins[node->origins + k] : id;
          const GantryNode *origin = gantry_module_node (before, from);
          Adding adding = { steps, origin != NULL ? relation_of (node, origin) : "" };

          if (origin == NULL)
            continue;
          add_step (before, origin, &adding);
          g_array_append_val (origins, from);
        }
    }
  return origins;
}

GArray *
gantry_source_chain_new (const GantryCompilation *compilation, guint snapshot, guint32 node)
{
  GArray *steps = g_array_new (FALSE, FALSE, sizeof (GantrySourceStep));
  const GantryModule *module = compilation->snapshots[snapshot].module;
  const GantryNode *first = gantry_module_node (module, node);
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  Adding own = { steps, "" }, part = { steps, "part: " };
  guint64 budget = MOST_NODES;

  g_array_set_clear_func (steps, clear_step);
  g_array_append_val (ids, node);
  if (first != NULL)
    {
      add_step (module, first, &own);
      add_calls (steps, module, first);
      gantry_source_each_part (module, first, &budget, add_step, &part);
    }
  for (guint i = snapshot; i-- > compilation->imported && ids->len > 0;)
    {
      GArray *before = step_back (steps, compilation->snapshots[i + 1].module, compilation->snapshots[i].module, ids);

      g_array_unref (ids);
      ids = before;
    }
  g_array_unref (ids);
  return steps;
}
