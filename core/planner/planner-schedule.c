/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule that comes with placements: which works run in which order, which of them run again, and when values are copied between
 * the memories. It is followed where everything that a work reads is there, and nothing runs twice that must not. */
#include "core/planner/planner-private.h"
#include <string.h>

/* Where a value is that a schedule copies. */
enum
{
  IN_DEVICE = 1 << 0,
  LEAVING = 1 << 1, /* its place is not free before that copy has ended */
  IN_HOST = 1 << 2,
};

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
      if (planner->copies[value->root] && (planner->residence[value->root] & IN_DEVICE) == 0)
        return "its schedule runs a work while what that reads is in the host: the order of the planner is taken";
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

/* Position of node @id in the function, or NONE. */
static guint32
position_of (const GantryPlanner *planner, guint32 id)
{
  const Program *program = planner->program;
  const GantryNode *node = gantry_module_node (program->module, id);
  guint32 position = node != NULL ? gantry_module_position (program->module, node) : 0;

  return node != NULL && position >= program->function->first_node && position < program->function->first_node + program->function->n_nodes
           ? position - program->function->first_node
           : NONE;
}

/* What @work makes is in the device from here on. Returns: FALSE where it is already, under way to the host */
static gboolean
make_values (GantryPlanner *planner, guint32 w)
{
  const Work *work = WORK (planner->program, w);

  for (guint32 k = 0; k < work->n_values; k++)
    if (planner->copies[work->first_value + k])
      {
        if ((planner->residence[work->first_value + k] & LEAVING) != 0)
          return FALSE;
        planner->residence[work->first_value + k] |= IN_DEVICE;
      }
  return TRUE;
}

/* Appends a run of the work at @position. Returns: (nullable): why it cannot be followed */
static const char *
add_run (GantryPlanner *planner, guint32 position)
{
  guint32 w = planner->work_at[position];
  const char *why;

  if (w == NONE || WORK (planner->program, w)->init)
    return "its schedule names a node that does no work: the order of the planner is taken";
  why = why_too_early (planner, w);
  if (why == NULL && planner->made[w] && (!_gantry_planner_can_repeat (planner, w) || is_too_late (planner, w)))
    why = "its schedule repeats a work that cannot run again: the order of the planner is taken";
  if (why != NULL)
    return why;
  if (!make_values (planner, w))
    return "its schedule makes a value again that is still being copied: the order of the planner is taken";
  planner->made[w] = TRUE;
  planner->n_scheduled[w]++;
  g_array_append_val (planner->schedule, ((Scheduled){ GANTRY_SCHEDULE_RUN, w }));
  return NULL;
}

/* The value that the schedule may copy at @position, or NONE: one of those that an entry offloads. */
static guint32
copied_value (const GantryPlanner *planner, guint32 position)
{
  const Program *program = planner->program;
  guint32 v = program->first_value[position];
  const Value *value;

  if (v == program->first_value[position + 1])
    return NONE;
  v = VALUE (program, v)->root;
  value = VALUE (program, v);
  return planner->candidate_of[v] >= 0 && planner->kind[v] == GANTRY_PLACEMENT_OFFLOAD && value->kind == VALUE_COMPUTED && value->unit == v
             && value->group == NONE && !value->result && value->memory == GANTRY_MEMORY_DEVICE && !planner->stack_of_slices[v]
           ? v
           : NONE;
}

/* Appends a copy, or the end of one. What an entry does not offload is not copied, whatever the schedule says. */
static const char *
add_copy (GantryPlanner *planner, guint32 position, guint32 action)
{
  /* By action: what must be so, what must not be so, what becomes so, what is so no more. */
  static const guint8 rules[GANTRY_N_SCHEDULE_ACTIONS][4] = {
    [GANTRY_SCHEDULE_SPILL] = { IN_DEVICE, LEAVING | IN_HOST, LEAVING | IN_HOST, 0 },
    [GANTRY_SCHEDULE_RELEASE] = { LEAVING, 0, 0, LEAVING | IN_DEVICE },
    [GANTRY_SCHEDULE_PREFETCH] = { IN_HOST, LEAVING, IN_DEVICE, 0 },
  };
  guint32 v = copied_value (planner, position);
  const guint8 *rule = rules[action];

  if (v == NONE)
    return NULL;
  if ((planner->residence[v] & rule[0]) != rule[0] || (planner->residence[v] & rule[1]) != 0)
    return "its schedule copies a value from where it is not: the order of the planner is taken";
  planner->residence[v] = (guint8) ((planner->residence[v] | rule[2]) & ~rule[3]);
  g_array_append_val (planner->schedule, ((Scheduled){ action, v }));
  return NULL;
}

static const char *
add_entry (GantryPlanner *planner, const GantryScheduleEntry *entry)
{
  guint32 position = position_of (planner, entry->node);

  if (position == NONE || entry->action >= GANTRY_N_SCHEDULE_ACTIONS)
    return "its schedule is of another program: the order of the planner is taken";
  return entry->action == GANTRY_SCHEDULE_RUN ? add_run (planner, position) : add_copy (planner, position, entry->action);
}

/* Which values it copies: known before it is read, for it says the same of all of them. */
static void
find_copies (GantryPlanner *planner, const GArray *entries)
{
  for (guint i = 0; i < entries->len; i++)
    {
      const GantryScheduleEntry *entry = &g_array_index (entries, GantryScheduleEntry, i);
      guint32 position = entry->action == GANTRY_SCHEDULE_SPILL ? position_of (planner, entry->node) : NONE;
      guint32 v = position != NONE ? copied_value (planner, position) : NONE;

      if (v != NONE)
        planner->copies[v] = TRUE;
    }
}

static void
find_last (GantryPlanner *planner)
{
  const Program *program = planner->program;

  for (guint32 i = 0; i < planner->schedule->len; i++)
    {
      const Scheduled *entry = &g_array_index (planner->schedule, Scheduled, i);
      const Work *work = entry->action == GANTRY_SCHEDULE_RUN ? WORK (program, entry->of) : NULL;

      if (work == NULL)
        continue;

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

static void
forget (GantryPlanner *planner)
{
  g_array_set_size (planner->schedule, 0);
  memset (planner->n_scheduled, 0, planner->program->works->len * sizeof (guint32));
  memset (planner->copies, 0, planner->program->values->len);
  memset (planner->residence, 0, planner->program->values->len);
}

void
_gantry_planner_read_schedule (GantryPlanner *planner, const GantryPlacements *placements)
{
  guint32 n_works = planner->program->works->len;
  const GArray *entries = placements != NULL ? placements->schedule : NULL;
  GantryPlacementProblem problem = { 0 };

  if (planner->schedule->len > 0)
    forget (planner);
  if (entries == NULL || entries->len == 0)
    return;
  forget (planner);
  memset (planner->made, 0, n_works);
  find_copies (planner, entries);
  for (guint i = 0; i < entries->len && problem.reason == NULL; i++)
    {
      problem.node = g_array_index (entries, GantryScheduleEntry, i).node;
      problem.reason = (char *) add_entry (planner, &g_array_index (entries, GantryScheduleEntry, i));
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
      forget (planner);
      return;
    }
  find_last (planner);
}
