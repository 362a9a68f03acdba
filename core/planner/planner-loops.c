/* SPDX-License-Identifier: Apache-2.0 */
/* How scans are run. Loops make again what others saved: the body of a scan has, beside each slice that it walks along, what that slice can be made by
 * (pass rematerialize). Placed RECOMPUTE the stack is not there at all: the scan that made it drops each slice when its trip is over, the
 * scans that read it are planned with the slice made again. What only serves that (stacks of carries) is there where somebody reads it. */
#include "core/graph/region.h"
#include "core/planner/planner-private.h"
#include "core/plan/region-layout.h"
#include <string.h>

static const GantryFunction *
body_of (const GantryPlanner *planner, guint32 w, GantryScan *scan)
{
  const GantryModule *module = planner->program->module;

  gantry_scan_of (module, work_node (planner->program, WORK (planner->program, w)), scan);
  return gantry_module_function (module, scan->body);
}

static gboolean
is_scan (const GantryPlanner *planner, guint32 w)
{
  return work_node (planner->program, WORK (planner->program, w))->op == GANTRY_OP_SCAN;
}

static gboolean
can_choose (const GantryPlanner *planner, guint32 w)
{
  const GantryModule *module = planner->program->module;
  GantryScan scan;
  const GantryFunction *body = body_of (planner, w, &scan);

  for (guint32 i = 0; i < body->n_nodes; i++)
    if (module->nodes[body->first_node + i].op == GANTRY_OP_REMATERIALIZE)
      return TRUE;
  return FALSE;
}

/* Whether the body of @scan, which walks along its use @use, does without those slices. @without: by operand, of the scan */
static gboolean
does_without (const Program *program, const Work *scan, guint32 use, const guint8 *without)
{
  for (guint32 k = program->first_of_root[scan->first_use + use]; k != NONE; k = program->next_of_root[scan->first_use + k])
    for (guint32 s = program->first_shown[scan->first_use + k]; s != NONE; s = SHOWN (program, s)->next)
      if (!without[SHOWN (program, s)->operand])
        return FALSE;
  return TRUE;
}

void
_gantry_planner_find_loops (GantryPlanner *planner)
{
  const Program *program = planner->program;
  g_autoptr (GHashTable) without = g_hash_table_new_full (NULL, NULL, NULL, g_free); /* by work: by operand */
  gboolean any = FALSE;

  for (guint32 w = 0; w < program->works->len; w++)
    if (is_scan (planner, w))
      {
        g_array_append_val (planner->scans, w);
        any = any || can_choose (planner, w);
        g_hash_table_insert (without, GUINT_TO_POINTER (w), gantry_scan_find_does_without (program->module, work_node (program, WORK (program, w))));
      }
  if (!any && planner->overlays->len == 0)
    g_array_set_size (planner->scans, 0);
  for (guint32 v = 0; any && v < program->values->len; v++)
    {
      gboolean again = planner->stack_of_slices[v] && VALUE (program, v)->kind == VALUE_COMPUTED && VALUE (program, v)->donated == NONE
                       && program->first_user[v] < program->first_user[v + 1];

      for (guint32 u = program->first_user[v]; again && u < program->first_user[v + 1]; u++)
        again = does_without (program, WORK (program, program->users[u]), program->user_use[u],
                              g_hash_table_lookup (without, GUINT_TO_POINTER (program->users[u])));
      planner->again_in_loops[v] = again;
    }
}

gboolean
_gantry_planner_loops_make (const GantryPlanner *planner, guint32 v)
{
  return planner->again_in_loops[v] && planner->kind[v] == GANTRY_PLACEMENT_RECOMPUTE;
}

/* Whether user @u of a unit, an index in users, reads it. */
static gboolean
reads (const GantryPlanner *planner, guint32 u)
{
  const Loop *loop = planner->loop[planner->program->users[u]];

  return loop == NULL || !loop->unread[planner->program->user_use[u]];
}

static gboolean
is_read (const GantryPlanner *planner, guint32 v)
{
  const Program *program = planner->program;
  const Value *value = VALUE (program, v);

  if (value->result || value->group != NONE || value->donated != NONE || value->kind == VALUE_PIECES)
    return TRUE;
  for (guint32 u = program->first_user[v]; u < program->first_user[v + 1]; u++)
    if (reads (planner, u))
      return TRUE;
  return FALSE;
}

/* Leaves out what the plan of the body of @loop could not hold. @left: (out): whether anything is left. Returns: whether there was such
 * a thing */
static gboolean
leave_out_unmet (const Loop *loop, guint n, gint32 *over, gboolean *left)
{
  gboolean any = FALSE;

  *left = FALSE;
  for (guint i = 0; i < n; i++)
    {
      any = any || loop->unmet[i];
      over[i] = loop->unmet[i] ? -1 : over[i];
      *left = *left || over[i] >= 0;
    }
  return any;
}

/* How scan @w is run so. @known: (inout) (nullable): nothing is planned: whether it was before */
static const Loop *
find_loop (GantryPlanner *planner, guint32 w, const guint8 *slices, const gint32 *over, gboolean *known)
{
  g_autofree guint8 *host = _gantry_planner_find_fetched (planner, w);
  const Loop *loop;

  if (known == NULL)
    return _gantry_program_loop (planner->program, w, slices, host, over, &planner->options);
  *known = *known && _gantry_program_loop_is_known (planner->program, w, slices, host, over, &loop);
  return *known ? loop : NULL;
}

/* Scan @w with stacks over others, as far as that can be. @known: as find_loop(). Returns: (transfer none) (nullable) */
static const Loop *
choose_with_overlays (GantryPlanner *planner, guint32 w, const guint8 *slices, gboolean *known)
{
  guint n = work_node (planner->program, WORK (planner->program, w))->n_operands;
  g_autofree gint32 *over = _gantry_planner_choose_overlays (planner, w, slices);
  const Loop *loop = find_loop (planner, w, slices, over, known);
  gboolean left;

  while (loop != NULL && over != NULL && leave_out_unmet (loop, n, over, &left))
    loop = find_loop (planner, w, slices, left ? over : NULL, known);
  return loop != NULL || over == NULL ? loop : find_loop (planner, w, slices, NULL, known);
}

gboolean
_gantry_planner_loops_leave (const GantryPlanner *planner, guint32 v)
{
  const Program *program = planner->program;
  gboolean any = FALSE;

  for (guint32 u = program->first_user[v]; u < program->first_user[v + 1]; u++)
    if (WORK (program, program->users[u])->phase != GANTRY_PHASE_FORWARD)
      {
        any = TRUE;
        if (reads (planner, u))
          return FALSE;
      }
  return any;
}

/* @known: as find_loop() */
static void
choose (GantryPlanner *planner, guint32 w, gboolean *known)
{
  Program *program = planner->program;
  const Work *work = WORK (program, w);
  const GantryNode *node = work_node (program, work);
  g_autofree guint8 *slices = g_new0 (guint8, node->n_operands + work->n_results + (gsize) 1);
  GantryScan scan;

  gantry_scan_of (program->module, node, &scan);
  if (scan.length == 0) /* all of its stacks are empty, and none is left out */
    return;
  for (guint i = scan.n_carries; i < scan.n_carries + scan.n_xs; i++)
    if (_gantry_planner_loops_make (planner, VALUE (program, _gantry_program_operand (program, node, i))->root))
      slices[i] = GANTRY_SLICE_ABSENT;
  for (guint32 k = scan.n_carries; k < work->n_results; k++)
    if (!is_read (planner, work->first_value + k))
      slices[node->n_operands + k] = GANTRY_SLICE_ABSENT;
  planner->loop[w] = choose_with_overlays (planner, w, slices, known);
  _gantry_planner_note_overlays (planner, w, planner->loop[w]);
  for (guint32 k = scan.n_carries; planner->loop[w] != NULL && k < work->n_results; k++)
    planner->unmade[work->first_value + k] = slices[node->n_operands + k] != 0;
}

static gint64
constants_of (const GantryPlan *plan)
{
  return (gint64) (plan->constant_bytes + plan->literal_bytes);
}

void
_gantry_planner_choose_loops (GantryPlanner *planner)
{
  const Program *program = planner->program;

  planner->loop_bytes = 0;
  if (planner->scans->len == 0)
    return;
  _gantry_program_begin_loops (planner->program);
  memset (planner->loop, 0, program->works->len * sizeof *planner->loop);
  memset (planner->unmade, 0, program->values->len);
  /* Who reads a stack comes behind who makes it. */
  for (guint s = planner->scans->len; s-- > 0;)
    {
      guint32 w = g_array_index (planner->scans, guint32, s);

      choose (planner, w, NULL);
      for (guint i = 0; planner->loop[w] != NULL && i < program->regions->len; i++)
        {
          const GantryPlanRegion *region = &g_array_index (program->regions, GantryPlanRegion, i);

          if (region->function == planner->loop[w]->function)
            planner->loop_bytes += constants_of (planner->loop[w]->plan) - constants_of (region->plan);
        }
    }
}

guint32
_gantry_planner_count_unplanned (GantryPlanner *planner)
{
  guint32 n = 0;
  gboolean known = TRUE; /* how those behind are run, on which it depends what is read */

  if (planner->scans->len == 0)
    return 0;
  memset (planner->loop, 0, planner->program->works->len * sizeof *planner->loop);
  memset (planner->unmade, 0, planner->program->values->len);
  for (guint s = planner->scans->len; s-- > 0;)
    {
      guint32 w = g_array_index (planner->scans, guint32, s);
      GantryScan scan;

      if (known)
        choose (planner, w, &known);
      if (known)
        continue;
      body_of (planner, w, &scan);
      n += _gantry_program_count_body (planner->program, scan.body);
    }
  return n;
}

double
_gantry_planner_loop_us (const GantryPlanner *planner, guint32 w)
{
  return planner->scans->len > 0 && planner->loop[w] != NULL ? planner->loop[w]->us - WORK (planner->program, w)->control_us : 0;
}

/* How much longer the body of scan @w takes where it makes again the slices that it has @absent, by its kernels alone. */
static double
body_us (const GantryPlanner *planner, guint32 w, const guint8 *absent)
{
  const GantryModule *module = planner->program->module;
  GantryScan scan;
  const GantryFunction *body = body_of (planner, w, &scan);
  g_autofree guint8 *base = gantry_function_find_needed (module, body, NULL), *needed = gantry_function_find_needed (module, body, absent);
  double us = 0;

  for (guint32 i = body->n_params; i < body->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[body->first_node + i];
      const double *measured;

      if (!needed[i] || base[i] || node->op == GANTRY_OP_REMATERIALIZE)
        continue;
      measured = planner->options.measured_us != NULL ? g_hash_table_lookup (planner->options.measured_us, GUINT_TO_POINTER (node->id)) : NULL;
      us += measured != NULL ? *measured : gantry_target_predict_node_us (&planner->target, module, node);
    }
  return (double) scan.length * us;
}

double
_gantry_planner_again_us (GantryPlanner *planner, guint32 v)
{
  Program *program = planner->program;
  double us = 0;

  for (guint32 u = program->first_user[v]; u < program->first_user[v + 1]; u++)
    {
      const GantryNode *node = work_node (program, WORK (program, program->users[u]));
      g_autofree guint8 *absent = g_new0 (guint8, node->n_operands + (gsize) 1);

      for (guint i = 0; i < node->n_operands; i++)
        {
          guint32 operand = _gantry_program_operand (program, node, i);

          absent[i] = operand != NONE && VALUE (program, operand)->root == v;
        }
      us += body_us (planner, program->users[u], absent);
    }
  return us;
}
