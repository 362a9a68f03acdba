/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule that comes with placements: which works run in which order, and which of them run again. It is followed where
 * everything that a work reads was made before it, and nothing runs twice that must not. */
#include "core/memory/planner-private.h"
#include <string.h>

gboolean
_gantry_planner_can_repeat (const GantryPlanner *planner, guint32 w)
{
  const Program *program = planner->program;
  const Work *work = WORK (program, w);

  if (work->init || work->effect || work->to_host || work_node (program, work)->op == GANTRY_OP_COPY)
    return FALSE;
  for (guint32 k = 0; k < work->n_values; k++)
    {
      const Value *value = VALUE (program, work->first_value + k);

      if (value->kind != VALUE_COMPUTED || value->result || value->group != NONE || value->memory != GANTRY_MEMORY_DEVICE)
        return FALSE;
    }
  return TRUE;
}

/* Works whose results @w reads, and works that must have read what it writes over. */
static const char *
why_too_early (const GantryPlanner *planner, guint32 w)
{
  const Program *program = planner->program;
  const Work *work = WORK (program, w);

  for (guint32 k = 0; k < work->n_uses; k++)
    {
      const Value *value = VALUE (program, USE (program, work, k));

      if (value->maker != NONE && !WORK (program, value->maker)->init && !planner->made[value->maker])
        return "its schedule runs a work before what that reads is made: the order of the planner is taken";
    }
  for (guint32 k = program->first_after[w]; k < program->first_after[w + 1]; k++)
    if (!planner->made[program->after[k]])
      return "its schedule writes over an argument that is still read: the order of the planner is taken";
  return NULL;
}

/* Has anything been written over that @w reads? Those who did are the works that had to run after it. */
static gboolean
is_too_late (const GantryPlanner *planner, guint32 w)
{
  const Program *program = planner->program;

  for (guint32 k = program->first_before[w]; k < program->first_before[w + 1]; k++)
    if (planner->made[program->before[k]])
      return TRUE;
  return FALSE;
}

/* Appends the runs of @id. Returns: (nullable): why it cannot be followed */
static const char *
add_run (GantryPlanner *planner, guint32 id)
{
  const Program *program = planner->program;
  const GantryNode *node = gantry_module_node (program->module, id);
  guint32 position = node != NULL ? gantry_module_position (program->module, node) : 0, w;
  const char *why;

  if (node == NULL || position < program->function->first_node
      || position >= program->function->first_node + program->function->n_nodes)
    return "its schedule is of another program: the order of the planner is taken";
  w = planner->work_at[position - program->function->first_node];
  if (w == NONE || WORK (program, w)->init)
    return "its schedule names a node that does no work: the order of the planner is taken";
  why = why_too_early (planner, w);
  if (why == NULL && planner->made[w] && (!_gantry_planner_can_repeat (planner, w) || is_too_late (planner, w)))
    why = "its schedule repeats a work that cannot run again: the order of the planner is taken";
  if (why != NULL)
    return why;
  planner->made[w] = TRUE;
  planner->n_scheduled[w]++;
  g_array_append_val (planner->schedule, w);
  return NULL;
}

static void
find_last (GantryPlanner *planner)
{
  const Program *program = planner->program;

  for (guint32 i = 0; i < planner->schedule->len; i++)
    {
      const Work *work = WORK (program, g_array_index (planner->schedule, guint32, i));

      for (guint32 k = 0; k < work->n_values; k++)
        planner->scheduled_last[work->first_value + k] = i;
      for (guint32 k = 0; k < work->n_uses; k++)
        planner->scheduled_last[USE (program, work, k)] = i;
    }
}

void
_gantry_planner_find_works (GantryPlanner *planner)
{
  const Program *program = planner->program;

  planner->work_at = g_new (guint32, program->function->n_nodes + 1);
  memset (planner->work_at, 0xff, (program->function->n_nodes + 1) * sizeof (guint32));
  for (guint32 w = 0; w < program->works->len; w++)
    planner->work_at[WORK (program, w)->position - program->function->first_node] = w;
}

void
_gantry_planner_read_schedule (GantryPlanner *planner, const GantryPlacements *placements)
{
  guint32 n_works = planner->program->works->len;
  const GArray *ids = placements != NULL ? placements->schedule : NULL;
  GantryPlacementProblem problem = { 0 };

  if (planner->schedule->len > 0)
    memset (planner->n_scheduled, 0, n_works * sizeof (guint32));
  g_array_set_size (planner->schedule, 0);
  if (ids == NULL || ids->len == 0)
    return;
  memset (planner->n_scheduled, 0, n_works * sizeof (guint32));
  memset (planner->made, 0, n_works);
  for (guint i = 0; i < ids->len && problem.reason == NULL; i++)
    {
      problem.node = g_array_index (ids, guint32, i);
      problem.reason = (char *) add_run (planner, problem.node);
    }
  for (guint32 w = 0; w < n_works && problem.reason == NULL; w++)
    if (!WORK (planner->program, w)->init && planner->n_scheduled[w] == 0)
      {
        problem.node = work_node (planner->program, WORK (planner->program, w))->id;
        problem.reason = (char *) "the schedule leaves it out: the order of the planner is taken";
      }
  if (problem.reason != NULL)
    {
      g_array_append_val (planner->problems, problem);
      g_array_set_size (planner->schedule, 0);
      memset (planner->n_scheduled, 0, n_works * sizeof (guint32));
      return;
    }
  find_last (planner);
}
