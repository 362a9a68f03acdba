/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that a scan makes over stacks that it reads. A trip reads slice i of the one and makes slice i of the other: where the scan is
 * the last that reads the stack, each slice is free behind the trip that reads it, as straight-line code frees residuals one by one while
 * it makes gradients. The body is planned for it: the result has the place of the parameter, whose readers run before it is made; where
 * they cannot, the result is copied over it at the end of a trip. */
#include "core/expr/storage.h"
#include "core/graph/region.h"
#include "core/planner/planner-private.h"
#include <string.h>

/* How well a result goes over a slice, worst first. */
enum
{
  NOT_OVER,
  COPIED_OVER, /* what makes it reads the slice beside: it is made elsewhere and copied */
  MADE_BEHIND, /* what makes it does not read the slice */
  MADE_IN_PLACE,
  DONATED, /* it is to be over that argument and no other stack */
};

/* How often operands of scan @w show @root, one of its units. */
static guint
count_shown (const Program *program, guint32 w, guint32 root)
{
  const Work *work = WORK (program, w);
  guint32 k = _gantry_program_use_of (program, w, root);
  guint n = 0;

  for (k = k != NONE ? program->first_of_root[work->first_use + k] : NONE; k != NONE; k = program->next_of_root[work->first_use + k])
    for (guint32 s = program->first_shown[work->first_use + k]; s != NONE; s = SHOWN (program, s)->next)
      n++;
  return n;
}

/* Whether operand @i of scan @w is all of a stack that nothing needs but those who read it, or that result @made is donated, and that no
 * other operand shows. */
static gboolean
is_free_behind (const Program *program, guint32 w, guint i, const Value *made)
{
  guint32 v = _gantry_program_operand (program, work_node (program, WORK (program, w)), i);
  const Value *value = v != NONE ? VALUE (program, v) : NULL, *root = value != NULL ? VALUE (program, value->root) : NULL;

  if (root == NULL || root->memory != GANTRY_MEMORY_DEVICE || value->bytes != root->bytes || root->bytes == 0
      || (made->donated != NONE ? made->donated != value->root : root->kind != VALUE_COMPUTED || root->result || root->group != NONE || root->donated != NONE))
    return FALSE;
  return count_shown (program, w, value->root) == 1;
}

/* The same of slices that have each a place: each is to be over the argument that it is donated to. */
static gboolean
are_free_behind (const Program *program, guint32 w, guint32 v, const Value *made)
{
  const Value *pieces = VALUE (program, v);

  if (pieces->kind != VALUE_PIECES || pieces->n_parts != made->n_parts)
    return FALSE;
  for (guint32 t = 0; t < made->n_parts; t++)
    {
      const Value *result = VALUE (program, value_part (program, made, t)), *piece = VALUE (program, value_part (program, pieces, t));

      if (result->donated == NONE || result->donated != piece->root || piece->bytes != VALUE (program, piece->root)->bytes
          || count_shown (program, w, piece->root) != 1)
        return FALSE;
    }
  return TRUE;
}

static guint8
rank_of (const GantryModule *module, const GantryNode *scan, guint i, guint result)
{
  const GantryNode *source = gantry_scan_stack_source (module, scan, result);
  const GantryFunction *body = source != NULL ? gantry_module_function_of (module, source) : NULL;

  if (body == NULL || source->op == GANTRY_OP_PARAMETER)
    return NOT_OVER;
  for (guint k = 0; k < source->n_operands; k++)
    if (gantry_node_operand (module, source, k) == &module->nodes[body->first_node + i])
      return gantry_node_may_alias (module, source, k) ? MADE_IN_PLACE : COPIED_OVER;
  return MADE_BEHIND;
}

static void
find_overlays_of (GantryPlanner *planner, guint32 w)
{
  Program *program = planner->program;
  const Work *work = WORK (program, w);
  const GantryNode *node = work_node (program, work);
  GantryScan scan;

  gantry_scan_of (program->module, node, &scan);
  for (guint i = scan.n_carries; i < scan.n_carries + scan.n_xs; i++)
    for (guint32 k = scan.n_carries; k < work->n_results; k++)
      {
        guint32 v = _gantry_program_operand (program, node, i);
        const Value *made = VALUE (program, work->first_value + k);
        Overlay overlay = { .work = w, .operand = i, .result = k, .bytes = made->bytes };

        if (v == NONE || made->group != NONE || made->memory != GANTRY_MEMORY_DEVICE || made->bytes != VALUE (program, v)->bytes
            || !(made->kind == VALUE_PIECES ? are_free_behind (program, w, v, made) : is_free_behind (program, w, i, made)))
          continue;
        overlay.rank = made->donated != NONE || made->kind == VALUE_PIECES ? DONATED : rank_of (program->module, node, i, k);
        if (overlay.rank != NOT_OVER)
          g_array_append_val (planner->overlays, overlay);
      }
}

/* By scan, then the best first, of equals the largest. */
static int
compare_overlays (gconstpointer a, gconstpointer b)
{
  const Overlay *x = a, *y = b;

  if (x->work != y->work)
    return x->work < y->work ? -1 : 1;
  if (x->rank != y->rank)
    return x->rank > y->rank ? -1 : 1;
  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  if (x->operand != y->operand)
    return x->operand < y->operand ? -1 : 1;
  return (x->result > y->result) - (x->result < y->result);
}

void
_gantry_planner_find_overlays (GantryPlanner *planner)
{
  const Program *program = planner->program;

  for (guint32 w = 0; w < program->works->len && !(planner->options.flags & GANTRY_PLAN_NO_IN_PLACE); w++)
    if (work_node (program, WORK (program, w))->op == GANTRY_OP_SCAN && !WORK (program, w)->init)
      find_overlays_of (planner, w);
  g_array_sort (planner->overlays, compare_overlays);
}

/* Whether @overlay->work is the last that reads argument @v. */
static gboolean
argument_ends_here (const GantryPlanner *planner, const Overlay *overlay, guint32 v)
{
  const Program *program = planner->program;

  /* A schedule says itself when a place is free; the walk finds out who is the last to read an argument. */
  if (planner->schedule->len > 0)
    return !planner->copies[v];
  for (guint32 u = program->first_unit[v]; u < program->first_unit[v + 1]; u++)
    if (planner->base_last[program->units[u]] > planner->base_last[v])
      return FALSE;
  return planner->order[planner->base_last[v]] == overlay->work;
}

/* Whether scan @overlay->work is the last that reads the stack, under the placements that were read. */
static gboolean
ends_here (const GantryPlanner *planner, const Overlay *overlay)
{
  const Program *program = planner->program;
  const Work *work = WORK (program, overlay->work);
  guint32 v = VALUE (program, _gantry_program_operand (program, work_node (program, work), overlay->operand))->root;
  const Value *stack = VALUE (program, v);

  for (guint32 t = 0; stack->kind == VALUE_PIECES && t < stack->n_parts; t++)
    if (!argument_ends_here (planner, overlay, VALUE (program, value_part (program, stack, t))->root))
      return FALSE;
  if (overlay->rank == DONATED)
    return stack->kind == VALUE_PIECES || argument_ends_here (planner, overlay, v);
  if (planner->schedule->len > 0)
    return FALSE;
  /* What was fetched or made again for this scan is as good as what was kept. */
  return !_gantry_planner_streams (planner, v) && !_gantry_planner_loops_make (planner, v) && !_gantry_planner_compresses (planner, v)
         && planner->kind[work->first_value + overlay->result] == GANTRY_PLACEMENT_KEEP && planner->order[planner->base_last[v]] == overlay->work;
}

void
_gantry_planner_note_overlays (GantryPlanner *planner, guint32 w, const Loop *loop)
{
  const Program *program = planner->program;

  for (guint o = 0; o < planner->overlays->len; o++)
    {
      const Overlay *overlay = &g_array_index (planner->overlays, Overlay, o);
      guint32 v = WORK (program, overlay->work)->first_value + overlay->result;
      gboolean over;

      if (overlay->work != w || overlay->rank != DONATED)
        continue;
      over = loop != NULL && loop->over != NULL && loop->over[overlay->operand] == (gint32) overlay->result;
      planner->in_place_donation[v] = over;
      for (guint32 t = 0; VALUE (program, v)->kind == VALUE_PIECES && t < VALUE (program, v)->n_parts; t++)
        planner->in_place_donation[value_part (program, VALUE (program, v), t)] = over;
    }
}

gint32 *
_gantry_planner_choose_overlays (const GantryPlanner *planner, guint32 w, const guint8 *slices)
{
  const Program *program = planner->program;
  const Work *work = WORK (program, w);
  const GantryNode *node = work_node (program, work);
  guint n_operands = node->n_operands;
  g_autofree guint8 *needed = NULL, *taken = g_new0 (guint8, work->n_results + (gsize) 1);
  gint32 *over = NULL;
  GantryScan scan;

  if (planner->no_overlays || planner->overlays->len == 0)
    return NULL;
  gantry_scan_of (program->module, node, &scan);
  needed = gantry_function_find_needed (program->module, gantry_module_function (program->module, scan.body), slices);
  for (guint o = 0; o < planner->overlays->len; o++)
    {
      const Overlay *overlay = &g_array_index (planner->overlays, Overlay, o);

      if (overlay->work != w || taken[overlay->result] || slices[overlay->operand] != 0 || slices[n_operands + overlay->result] != 0
          || !needed[overlay->operand] || (over != NULL && over[overlay->operand] >= 0) || !ends_here (planner, overlay))
        continue;
      if (over == NULL)
        {
          over = g_new (gint32, n_operands + (gsize) 1);
          memset (over, 0xff, n_operands * sizeof *over);
        }
      over[overlay->operand] = (gint32) overlay->result;
      taken[overlay->result] = TRUE;
    }
  return over;
}

/* The range in whose place @to is to be made takes that of a result that is fixed; others take over the place of what was read. */
static gboolean
lay_over (GantryPlanner *planner, guint32 l, guint32 made, guint32 at)
{
  LiveRange *from = RANGE (planner, l), *to = RANGE (planner, made);
  const Program *program = planner->program;

  if (from->inside == made)
    return TRUE;
  /* An argument: planner-plan.c lays what is donated over it. */
  if (from->fixed && to->fixed && VALUE (program, to->unit)->donated == from->unit)
    return TRUE;
  if (from->fixed || from->kept || from->released || from->inside != NONE || from->end != at || from->bytes != to->bytes || from->memory != GANTRY_MEMORY_DEVICE
      || to->memory != GANTRY_MEMORY_DEVICE || to->inside != NONE)
    return FALSE;
  if (!to->fixed)
    {
      to->over = l;
      return TRUE;
    }
  if (from->over != NONE && work_node (program, WORK (program, VALUE (program, from->unit)->maker))->op == GANTRY_OP_SCAN)
    return FALSE;
  from->over = NONE;
  from->inside = made;
  return TRUE;
}

/* The range in which @run reads root @v. */
static guint32
range_of (const GantryPlanner *planner, const Run *run, guint32 v)
{
  return g_array_index (planner->use_range, guint32, run->first_use + _gantry_program_use_of (planner->program, run->work, v));
}

gboolean
_gantry_planner_write_stacks_over (GantryPlanner *planner, guint32 at)
{
  const Program *program = planner->program;
  const Run *run = RUN (planner, at);
  const Loop *loop = run->work != NONE ? planner->loop[run->work] : NULL;
  const Work *work = loop != NULL ? WORK (program, run->work) : NULL;
  gboolean done = TRUE;

  for (guint i = 0; loop != NULL && loop->over != NULL && i < work_node (program, work)->n_operands; i++)
    {
      guint32 k = loop->over[i] >= 0 ? (guint32) loop->over[i] : 0;
      const Value *read, *made = VALUE (program, work->first_value + k);

      if (loop->over[i] < 0)
        continue;
      read = VALUE (program, _gantry_program_operand (program, work_node (program, work), i));
      if (made->kind != VALUE_PIECES)
        done = lay_over (planner, range_of (planner, run, read->root), run->first_range + k, at) && done;
      for (guint32 t = 0; made->kind == VALUE_PIECES && t < made->n_parts; t++)
        done = lay_over (planner, range_of (planner, run, VALUE (program, value_part (program, read, t))->root),
                         run->first_range + (value_part (program, made, t) - work->first_value), at)
               && done;
    }
  return done;
}
