/* SPDX-License-Identifier: Apache-2.0 */
/* Values that must not be rounded, of the planner's values: by what later phases make of them, and, once it is known what is made again,
 * by what is made of that. */
#include "core/planner/planner-private.h"

/* Fills what is asked of each root, by whatever view. */
static void
take_asked (GantryPlanner *planner)
{
  const Program *program = planner->program;

  for (guint32 v = 0; v < program->values->len; v++)
    planner->asked[v] = 0;
  for (guint32 v = 0; v < program->values->len; v++)
    {
      const Value *value = VALUE (program, v);
      guint32 position = gantry_module_position (program->module, gantry_module_node (program->module, value->node));

      planner->asked[value->root] |= gantry_rounding_asked (planner->rounding, position, value->member);
    }
}

void
_gantry_planner_find_asked (GantryPlanner *planner)
{
  /* Nothing is placed within a body. */
  if (planner->options.nesting > 0)
    return;
  planner->rounding = gantry_rounding_new (planner->program->module);
  gantry_rounding_find (planner->rounding, NULL, NULL);
  take_asked (planner);
}

/* Is root @v made once more, if somebody reads it later? */
static gboolean
is_made_again (const GantryPlanner *planner, guint32 v)
{
  const Value *value = VALUE (planner->program, v);

  if (value->kind != VALUE_COMPUTED || value->phase != GANTRY_PHASE_FORWARD)
    return FALSE;
  if (planner->n_scheduled[value->maker] > 1)
    return TRUE;
  return planner->candidate_of[v] >= 0 ? planner->kind[v] == GANTRY_PLACEMENT_RECOMPUTE : !value->result && planner->decider[v] == G_MAXUINT8;
}

static gboolean
is_node_made_again (const GantryNode *node, gpointer data)
{
  const GantryPlanner *planner = data;
  const Program *program = planner->program;
  guint32 position = gantry_module_position (program->module, node) - program->function->first_node;

  for (guint32 v = program->first_value[position]; v < program->first_value[position + 1]; v++)
    if (is_made_again (planner, VALUE (program, v)->root))
      return TRUE;
  return FALSE;
}

void
_gantry_planner_keep_asked (GantryPlanner *planner)
{
  const Program *program = planner->program;

  if (!planner->compresses || planner->rounding == NULL)
    return;
  gantry_rounding_find (planner->rounding, is_node_made_again, planner);
  take_asked (planner);
  for (guint32 v = 0; v < program->values->len; v++)
    {
      const char *why = VALUE (program, v)->root == v ? gantry_rounding_why_not (planner->asked[v], (GantryPlacementKind) planner->kind[v], TRUE) : NULL;
      GantryPlacementProblem problem = { VALUE (program, v)->node, planner->kind[v], GANTRY_PLACEMENT_KEEP, (char *) why };

      if (why == NULL)
        continue;
      planner->kind[v] = GANTRY_PLACEMENT_KEEP;
      g_array_append_val (planner->problems, problem);
    }
}
