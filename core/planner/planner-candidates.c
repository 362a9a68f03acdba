/* SPDX-License-Identifier: Apache-2.0 */
/* What can be placed, and what a table of placements says of it. */
#include "core/graph/region.h"
#include "core/planner/planner-private.h"
#include <string.h>

static gboolean
is_residual (const Program *program, guint32 v)
{
  const Value *value = VALUE (program, v);

  if (value->kind != VALUE_COMPUTED || value->phase != GANTRY_PHASE_FORWARD)
    return FALSE;
  for (guint32 u = program->first_user[v]; u < program->first_user[v + 1]; u++)
    if (WORK (program, program->users[u])->phase != GANTRY_PHASE_FORWARD)
      return TRUE;
  return FALSE;
}

static GantryCandidate
residual (const GantryPlanner *planner, const Value *value)
{
  const Work *work = WORK (planner->program, value->maker);
  GantryCandidate candidate = { .subject = GANTRY_SUBJECT_RESIDUAL, .allowed = 1 << GANTRY_PLACEMENT_KEEP };

  candidate.make_us = planner->cost_us[value->maker];
  if (value->memory != GANTRY_MEMORY_DEVICE)
    candidate.why_not = "the program puts it into host memory";
  else if (value->result && planner->program->resident)
    candidate.why_not = "it is a result and has its place anyway";
  else
    {
      candidate.allowed |= 1 << GANTRY_PLACEMENT_OFFLOAD;
      if (work->effect)
        candidate.why_not = "what makes it has an effect and cannot run twice";
      else if (gantry_node_is_control (work_node (planner->program, work)))
        candidate.why_not = "what a loop computes is computed again by the loop that goes back over it, which cannot make this";
      else
        candidate.allowed |= 1 << GANTRY_PLACEMENT_RECOMPUTE;
    }
  return candidate;
}

/* Which of the kinds with fewer bits @candidate, of root @v, may have. */
static void
allow_compression (const GantryPlanner *planner, guint32 v, GantryCandidate *candidate)
{
  const GantryPlacementSubject subject = (GantryPlacementSubject) candidate->subject;

  candidate->why_not_bf16 = _gantry_planner_why_not_compressed (planner, v, subject, GANTRY_PLACEMENT_BF16);
  candidate->why_not_int8 = _gantry_planner_why_not_compressed (planner, v, subject, GANTRY_PLACEMENT_INT8);
  if (candidate->why_not_bf16 == NULL)
    candidate->allowed |= 1 << GANTRY_PLACEMENT_BF16;
  if (candidate->why_not_int8 == NULL)
    candidate->allowed |= 1 << GANTRY_PLACEMENT_INT8;
}

static GantryCandidate
argument (const GantryPlanner *planner, const Value *value)
{
  const GantryModule *module = planner->program->module;
  GantryCandidate candidate = { .subject = gantry_parameter_role (module, gantry_module_node (module, value->node)) };

  candidate.allowed = 1 << GANTRY_PLACEMENT_KEEP | 1 << GANTRY_PLACEMENT_OFFLOAD;
  candidate.why_not = "it is given, not computed";
  if (value->memory != GANTRY_MEMORY_DEVICE)
    {
      candidate.allowed = 1 << GANTRY_PLACEMENT_OFFLOAD;
      candidate.why_not = "its type says that it lives in host memory";
    }
  else if (value->result)
    {
      candidate.allowed = 1 << GANTRY_PLACEMENT_KEEP;
      candidate.why_not = "it is returned as it is";
    }
  return candidate;
}

static void
add_candidate (GantryPlanner *planner, guint32 v)
{
  const Value *value = VALUE (planner->program, v);
  GantryCandidate candidate = { 0 };

  if (value->root != v || value_is_constant (value))
    return;
  if (value->kind == VALUE_INPUT)
    candidate = argument (planner, value);
  else if (is_residual (planner->program, v))
    candidate = residual (planner, value);
  else if (value->result && value->donated == NONE && value->group == NONE && value->memory == GANTRY_MEMORY_DEVICE)
    {
      candidate.subject = GANTRY_SUBJECT_OUTPUT;
      candidate.allowed = 1 << GANTRY_PLACEMENT_KEEP | 1 << GANTRY_PLACEMENT_OFFLOAD;
      candidate.why_not = "it is a result of the program";
      candidate.make_us = value->maker != NONE ? planner->cost_us[value->maker] : 0;
    }
  else
    return;
  allow_compression (planner, v, &candidate);
  candidate.node = planner->shown_by[v] != 0 ? planner->shown_by[v] : value->node;
  candidate.bytes = value->bytes;
  planner->candidate_of[v] = (gint32) planner->candidates->len;
  g_array_append_val (planner->candidates, candidate);
}

/* As gantry_placement_owners() has it: the first `result` that shows what a scan gives. */
static void
find_shown (GantryPlanner *planner)
{
  const Program *program = planner->program;

  for (guint32 v = 0; v < program->values->len; v++)
    {
      const Value *value = VALUE (program, v);
      guint32 maker = VALUE (program, value->root)->maker;

      if (value->base != NONE && maker != NONE && planner->shown_by[value->root] == 0 && work_node (program, WORK (program, maker))->op == GANTRY_OP_SCAN
          && gantry_module_node (program->module, value->node)->op == GANTRY_OP_RESULT)
        planner->shown_by[value->root] = value->node;
    }
}

void
_gantry_planner_find_candidates (GantryPlanner *planner)
{
  guint32 n = planner->program->values->len;

  find_shown (planner);
  for (guint32 v = 0; v < n; v++)
    planner->candidate_of[v] = -1;
  for (guint32 v = 0; v < n; v++)
    add_candidate (planner, v);
}

void
_gantry_planner_allow_loops (GantryPlanner *planner)
{
  for (guint32 v = 0; v < planner->program->values->len; v++)
    if (planner->again_in_loops[v])
      {
        GantryCandidate *candidate = &g_array_index (planner->candidates, GantryCandidate, (guint) planner->candidate_of[v]);

        candidate->make_us = _gantry_planner_again_us (planner, v);
        candidate->allowed |= 1 << GANTRY_PLACEMENT_RECOMPUTE;
        candidate->why_not = NULL;
      }
}

/* Values of node @id: [*first, *end). */
static gboolean
values_of (const GantryPlanner *planner, guint32 id, guint32 *first, guint32 *end)
{
  const Program *program = planner->program;
  const GantryNode *node = gantry_module_node (program->module, id);
  guint32 position = node != NULL ? gantry_module_position (program->module, node) : 0;

  if (node == NULL || position < program->function->first_node || position >= program->function->first_node + program->function->n_nodes)
    return FALSE;
  position -= program->function->first_node;
  *first = program->first_value[position];
  *end = program->first_value[position + 1];
  return *first < *end;
}

const GantryCandidate *
gantry_planner_candidates (const GantryPlanner *planner, guint *n)
{
  *n = planner->candidates->len;
  return (const GantryCandidate *) (const void *) planner->candidates->data;
}

gint
gantry_planner_candidate_of (const GantryPlanner *planner, guint32 id)
{
  guint32 first, end;

  for (values_of (planner, id, &first, &end) ? 0 : (first = end = 0); first < end; first++)
    if (planner->candidate_of[VALUE (planner->program, first)->root] >= 0)
      return planner->candidate_of[VALUE (planner->program, first)->root];
  return -1;
}

static void
add_problem (GantryPlanner *planner, guint32 node, GantryPlacementKind kind, GantryPlacementKind given, const char *reason)
{
  GantryPlacementProblem problem = { node, (guint8) kind, (guint8) given, (char *) reason };

  g_array_append_val (planner->problems, problem);
}

/* Who is heard first where several nodes share one value. */
static guint
rank_of (guint8 decider)
{
  return decider == GANTRY_DECIDED_BY_CLICK ? 2 : decider != GANTRY_DECIDED_BY_DEFAULT;
}

/* Of two placements of one value, given for it and for a view of it: a click, then what is there anyway. */
static gboolean
outranks (const GantryPlanner *planner, guint32 root, const GantryPlacement *placement)
{
  static const guint8 order[GANTRY_N_PLACEMENTS] = {
    [GANTRY_PLACEMENT_KEEP] = 4, [GANTRY_PLACEMENT_BF16] = 3, [GANTRY_PLACEMENT_INT8] = 2, [GANTRY_PLACEMENT_OFFLOAD] = 1, [GANTRY_PLACEMENT_RECOMPUTE] = 0
  };
  guint now = rank_of (planner->decider[root]), asked = rank_of (placement->decider);

  if (planner->decider[root] == G_MAXUINT8)
    return TRUE;
  return asked != now ? asked > now : order[placement->kind] > order[planner->kind[root]];
}

/* A value that only the forward phase reads may be saved all the same: for what is run again from it. */
static gboolean
save_for_later (GantryPlanner *planner, const GantryPlacement *placement, guint32 root)
{
  const Value *value = VALUE (planner->program, root);

  if (value->kind != VALUE_COMPUTED || value->phase != GANTRY_PHASE_FORWARD || value->memory != GANTRY_MEMORY_DEVICE || value->result
      || placement->kind == GANTRY_PLACEMENT_RECOMPUTE || placement->decider == GANTRY_DECIDED_BY_DEFAULT
      || _gantry_planner_why_not_compressed (planner, root, GANTRY_SUBJECT_NONE, (GantryPlacementKind) placement->kind) != NULL)
    return FALSE;
  planner->compresses |= gantry_placement_is_approximate (placement->kind);
  planner->kind[root] = placement->kind;
  planner->decider[root] = placement->decider;
  if (placement->memory != GANTRY_MEMORY_DEVICE)
    planner->memory[root] = placement->memory;
  return TRUE;
}

/* @why: (out): where it returns FALSE: why nothing was decided, if it is no matter of use. A member of a tuple that cannot be stored in
 * fewer bits is no problem where another one can. */
static gboolean
read_placement (GantryPlanner *planner, const GantryPlacement *placement, guint32 v, const char **why)
{
  guint32 root = VALUE (planner->program, v)->root;
  gint32 index = planner->candidate_of[root];
  const GantryCandidate *candidate;

  if (index < 0)
    return save_for_later (planner, placement, root);
  candidate = &g_array_index (planner->candidates, GantryCandidate, (guint) index);
  if (!(candidate->allowed & 1 << placement->kind))
    {
      if (gantry_placement_is_approximate (placement->kind))
        *why = gantry_candidate_why_not (candidate, placement->kind);
      if (gantry_placement_is_approximate (placement->kind))
        return FALSE;
      if (placement->kind != GANTRY_PLACEMENT_KEEP || placement->decider != GANTRY_DECIDED_BY_DEFAULT)
        add_problem (planner, placement->node, placement->kind, planner->kind[root], candidate->why_not);
      return TRUE;
    }
  if (!outranks (planner, root, placement))
    return TRUE;
  planner->compresses |= gantry_placement_is_approximate (placement->kind);
  planner->kind[root] = placement->kind;
  planner->decider[root] = placement->decider;
  if (placement->memory != GANTRY_MEMORY_DEVICE && VALUE (planner->program, root)->memory == GANTRY_MEMORY_DEVICE)
    planner->memory[root] = placement->memory;
  return TRUE;
}

void
_gantry_planner_read_placements (GantryPlanner *planner, const GantryPlacements *placements)
{
  const Program *program = planner->program;
  guint32 n = program->values->len;

  memset (planner->kind, GANTRY_PLACEMENT_KEEP, n);
  memset (planner->decider, G_MAXUINT8, n);
  memset (planner->memory, GANTRY_MEMORY_PINNED_HOST, n);
  planner->compresses = FALSE;
  g_array_set_size (planner->problems, 0);
  for (guint i = 0; i < planner->unmet_donations->len; i++)
    add_problem (planner, VALUE (program, g_array_index (planner->unmet_donations, guint32, i))->node, GANTRY_PLACEMENT_KEEP, GANTRY_PLACEMENT_KEEP,
                 "the result that it is donated to cannot take its place: it is no value of its own, or in another memory, or the argument is itself a result");
  for (guint32 v = 0; v < n; v++)
    if (VALUE (program, v)->memory != GANTRY_MEMORY_DEVICE)
      {
        planner->kind[v] = GANTRY_PLACEMENT_OFFLOAD;
        planner->memory[v] = VALUE (program, v)->memory;
      }
  for (guint i = 0; placements != NULL && i < placements->entries->len; i++)
    {
      const GantryPlacement *placement = &g_array_index (placements->entries, GantryPlacement, i);
      const char *why = "nothing that is made later reads it from memory: it needs no placement";
      guint32 first, end;
      gboolean taken = FALSE;

      if (placement->kind >= GANTRY_N_PLACEMENTS || placement->memory >= GANTRY_N_MEMORY_KINDS)
        continue;
      for (values_of (planner, placement->node, &first, &end) ? 0 : (first = end = 0); first < end; first++)
        taken = read_placement (planner, placement, first, &why) || taken;
      if (!taken && placement->kind != GANTRY_PLACEMENT_KEEP)
        add_problem (planner, placement->node, placement->kind, GANTRY_PLACEMENT_KEEP, why);
    }
}
