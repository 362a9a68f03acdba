/* SPDX-License-Identifier: Apache-2.0 */
/* What one scan stacks and others walk along, as the residuals of a loop and the loop that goes back over them: offloaded, it has its one
 * place in the host, and the loops bring it there and back slice by slice. Neither loop needs more of it on the device than a slice,
 * which its workspace has. Where anything else reads the stack it is on the device as a whole, and is copied as a whole. */
#include "core/graph/operation.h"
#include "core/planner/planner-private.h"

static gboolean
scan_of (const GantryPlanner *planner, guint32 w, GantryScan *scan)
{
  const GantryNode *node = work_node (planner->program, WORK (planner->program, w));

  if (node->op != GANTRY_OP_SCAN)
    return FALSE;
  gantry_scan_of (planner->program->module, node, scan);
  return scan->length > 0;
}

/* Whether all that scan @w reads of @v is walked along. */
static gboolean
walks_along (const GantryPlanner *planner, guint32 w, guint32 v)
{
  Program *program = planner->program;
  const GantryNode *node = work_node (program, WORK (program, w));
  GantryScan scan;

  if (!scan_of (planner, w, &scan))
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 operand = _gantry_program_operand (program, node, i);

      if (operand != NONE && VALUE (program, operand)->root == v
          && (i < scan.n_carries || i >= scan.n_carries + scan.n_xs || VALUE (program, operand)->bytes != VALUE (program, v)->bytes))
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_stack (const GantryPlanner *planner, guint32 v)
{
  const Program *program = planner->program;
  const Value *value = VALUE (program, v);
  GantryScan scan;

  if (value->kind != VALUE_COMPUTED || value->root != v || value->result || value->group != NONE || value->donated != NONE
      || value->memory != GANTRY_MEMORY_DEVICE || !scan_of (planner, value->maker, &scan)
      || v - WORK (program, value->maker)->first_value < scan.n_carries)
    return FALSE;
  for (guint32 u = program->first_user[v]; u < program->first_user[v + 1]; u++)
    if (!walks_along (planner, program->users[u], v))
      return FALSE;
  return TRUE;
}

void
_gantry_planner_find_stacks (GantryPlanner *planner)
{
  planner->has_stacks = FALSE;
  for (guint32 v = 0; v < planner->program->values->len; v++)
    {
      planner->stack_of_slices[v] = planner->candidate_of[v] >= 0 && is_stack (planner, v);
      planner->has_stacks |= planner->stack_of_slices[v];
    }
}

gboolean
_gantry_planner_streams (const GantryPlanner *planner, guint32 v)
{
  return planner->stack_of_slices[v] && planner->kind[v] == GANTRY_PLACEMENT_OFFLOAD;
}

static guint64
slice_room (const GantryPlanner *planner, guint32 v, gint64 n)
{
  return _gantry_planner_streams (planner, v) ? gantry_place_bytes (VALUE (planner->program, v)->bytes / (guint64) n) : 0;
}

guint64
_gantry_planner_workspace (const GantryPlanner *planner, guint32 w)
{
  const Program *program = planner->program;
  const Work *work = WORK (program, w);
  const GantryNode *node = work_node (program, work);
  guint64 bytes = planner->scans->len > 0 && planner->loop[w] != NULL ? planner->loop[w]->workspace : work->workspace;
  GantryScan scan;

  if (!planner->has_stacks || program->slices_staged || !scan_of (planner, w, &scan))
    return bytes;
  for (guint i = scan.n_carries; i < scan.n_carries + scan.n_xs; i++)
    bytes += slice_room (planner, VALUE (program, _gantry_program_operand (program, node, i))->root, scan.length);
  for (guint32 k = 0; k < work->n_values; k++)
    bytes += slice_room (planner, work->first_value + k, scan.length);
  return bytes;
}

static void
add_stream (const GantryPlanner *planner, guint32 v, gint64 n, guint64 *bytes, double *us)
{
  if (!_gantry_planner_streams (planner, v))
    return;
  *bytes += VALUE (planner->program, v)->bytes;
  *us += (double) n * gantry_target_predict_copy_us (&planner->target, VALUE (planner->program, v)->bytes / (guint64) n);
}

double
_gantry_planner_stream_us (const GantryPlanner *planner, guint32 w, guint64 *bytes)
{
  const Program *program = planner->program;
  const Work *work = WORK (program, w);
  GantryScan scan;
  double us = 0;

  *bytes = 0;
  if (!planner->has_stacks || !scan_of (planner, w, &scan))
    return 0;
  for (guint32 k = 0; k < work->n_uses; k++)
    add_stream (planner, VALUE (program, USE (program, work, k))->root, scan.length, bytes, &us);
  for (guint32 k = 0; k < work->n_values; k++)
    add_stream (planner, work->first_value + k, scan.length, bytes, &us);
  return us;
}
