/* SPDX-License-Identifier: Apache-2.0 */
/* What one scan stacks and others walk along, as the residuals of a loop and the loop that goes back over them, and what is given for scans
 * alone to walk along, as stacked parameters and states with the results that are donated to them: offloaded, it has its one place in the
 * host, and the loops bring it there and back slice by slice. No loop needs more of it on the device than some slices, which its workspace
 * has: the one of this trip, the one that comes for the next and, of what is written over, the one that leaves. Where anything else reads
 * the stack it is on the device as a whole, and is copied as a whole. */
#include "core/graph/operation.h"
#include "core/plan/region-layout.h"
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

/* Whether what @operand shows of @v is all of it. */
static gboolean
shows_whole (const Program *program, guint32 operand, guint32 v)
{
  const Value *value = VALUE (program, operand);

  for (guint32 k = 0; value->kind == VALUE_PIECES && k < value->n_parts; k++)
    {
      const Value *part = VALUE (program, value_part (program, value, k));

      if (part->root == v && part->bytes != VALUE (program, v)->bytes)
        return FALSE;
    }
  return value->kind == VALUE_PIECES || value->bytes == VALUE (program, v)->bytes;
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

      if (operand != NONE && _gantry_program_shows (program, operand, v)
          && (i < scan.n_carries || i >= scan.n_carries + scan.n_xs || !shows_whole (program, operand, v)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_walked_along (const GantryPlanner *planner, guint32 v)
{
  const Program *program = planner->program;

  for (guint32 u = program->first_user[v]; u < program->first_user[v + 1]; u++)
    if (!walks_along (planner, program->users[u], v))
      return FALSE;
  return TRUE;
}

/* The result that a scan makes over argument @v, slice by slice. Returns: NONE where there is none */
static guint32
made_over (const GantryPlanner *planner, guint32 v)
{
  const Program *program = planner->program;

  for (guint o = 0; o < planner->overlays->len; o++)
    {
      const Overlay *overlay = &g_array_index (planner->overlays, Overlay, o);
      guint32 result = WORK (program, overlay->work)->first_value + overlay->result;
      const Value *made = VALUE (program, result);

      if (made->donated == v)
        return result;
      for (guint32 k = 0; made->kind == VALUE_PIECES && k < made->n_parts; k++)
        if (VALUE (program, value_part (program, made, k))->donated == v)
          return value_part (program, made, k);
    }
  return NONE;
}

static gboolean
is_argument (const GantryPlanner *planner, guint32 v)
{
  const Program *program = planner->program;
  const Value *value = VALUE (program, v);

  if (value->kind != VALUE_INPUT || value->root != v || value->result || value->memory != GANTRY_MEMORY_DEVICE || !program->resident
      || program->slices_staged || program->first_user[v] == program->first_user[v + 1]
      || (value->donated != NONE && made_over (planner, v) == NONE))
    return FALSE;
  for (guint32 u = program->first_unit[v]; u < program->first_unit[v + 1]; u++)
    if (program->units[u] != v && program->first_user[program->units[u]] < program->first_user[program->units[u] + 1])
      return FALSE;
  return is_walked_along (planner, v);
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
  return is_walked_along (planner, v);
}

void
_gantry_planner_find_stacks (GantryPlanner *planner)
{
  planner->has_stacks = FALSE;
  for (guint32 v = 0; v < planner->program->values->len; v++)
    {
      gboolean argument = planner->candidate_of[v] >= 0 && is_argument (planner, v);
      guint32 over = argument ? made_over (planner, v) : NONE;

      if (argument || (planner->candidate_of[v] >= 0 && is_stack (planner, v)))
        planner->has_stacks = planner->stack_of_slices[v] = TRUE;
      if (over != NONE)
        planner->stack_of_slices[over] = TRUE;
    }
}

gboolean
_gantry_planner_streams (const GantryPlanner *planner, guint32 v)
{
  const Value *value = VALUE (planner->program, v);
  guint32 placed = value->kind != VALUE_INPUT && value->donated != NONE ? value->donated : v;

  return planner->stack_of_slices[v] && planner->kind[placed] == GANTRY_PLACEMENT_OFFLOAD && !planner->unmade[v];
}

guint8
_gantry_planner_stream_memory (const GantryPlanner *planner, guint32 v)
{
  guint32 donated = VALUE (planner->program, v)->donated;

  return !_gantry_planner_streams (planner, v) ? GANTRY_MEMORY_DEVICE : planner->memory[donated != NONE ? donated : v];
}

/* Whether root @v, or each of its slices that have each a place, is streamed. */
static gboolean
streams_all (const GantryPlanner *planner, guint32 v)
{
  const Program *program = planner->program;
  const Value *value = VALUE (program, v);

  for (guint32 k = 0; value->kind == VALUE_PIECES && k < value->n_parts; k++)
    if (!_gantry_planner_streams (planner, VALUE (program, value_part (program, value, k))->root))
      return FALSE;
  return value->kind == VALUE_PIECES || _gantry_planner_streams (planner, v);
}

/* Whether root @v, or one of its slices that have each a place, is streamed. */
static gboolean
streams_any (const GantryPlanner *planner, guint32 v)
{
  const Program *program = planner->program;
  const Value *value = VALUE (program, v);

  for (guint32 k = 0; value->kind == VALUE_PIECES && k < value->n_parts; k++)
    if (_gantry_planner_streams (planner, VALUE (program, value_part (program, value, k))->root))
      return TRUE;
  return _gantry_planner_streams (planner, v);
}

guint8 *
_gantry_planner_find_fetched (const GantryPlanner *planner, guint32 w)
{
  const Program *program = planner->program;
  const GantryNode *node = work_node (program, WORK (program, w));
  guint8 *fetched = g_new0 (guint8, node->n_operands + (gsize) 1);
  GantryScan scan;

  if (!planner->has_stacks || program->slices_staged || !scan_of (planner, w, &scan) || scan.length >= GANTRY_LEAST_STREAMED)
    return fetched;
  for (guint i = scan.n_carries; i < scan.n_carries + scan.n_xs; i++)
    fetched[i] = streams_all (planner, VALUE (program, _gantry_program_operand (program, node, i))->root);
  return fetched;
}

/* @both: it is walked along and made over */
static guint64
slice_room (const GantryPlanner *planner, guint32 v, gint64 n, gboolean both)
{
  const Program *program = planner->program;
  const Value *value = VALUE (program, v);
  guint64 bytes = value->kind == VALUE_PIECES ? VALUE (program, value_part (program, value, 0))->bytes : value->bytes / (guint64) n;

  return streams_any (planner, v) ? gantry_stream_stages (n, both) * gantry_place_bytes (bytes) : 0;
}

/* Whether scan @w, as it is run, reads root @v, which it has as operand. */
static gboolean
reads (const GantryPlanner *planner, guint32 w, guint32 v)
{
  const Program *program = planner->program;
  const Work *work = WORK (program, w);
  const Loop *loop = planner->scans->len > 0 ? planner->loop[w] : NULL;

  for (guint32 k = 0; loop != NULL && k < work->n_uses; k++)
    if (_gantry_program_shows (program, v, VALUE (program, USE (program, work, k))->root) && !loop->unread[k])
      return TRUE;
  return loop == NULL;
}

/* Whether result @k of scan @w is made over something that it walks along, as it is run. */
static gboolean
is_any_made_over (const GantryPlanner *planner, guint32 w, guint32 k)
{
  const Loop *loop = planner->loop[w];

  for (guint i = 0; loop != NULL && loop->over != NULL && i < work_node (planner->program, WORK (planner->program, w))->n_operands; i++)
    if (loop->over[i] == (gint32) k)
      return TRUE;
  return FALSE;
}

/* Whether @v, which a scan makes, or each of its slices, is donated to an argument. */
static gboolean
is_donated (const Program *program, guint32 v)
{
  const Value *value = VALUE (program, v);

  return value->donated != NONE || (value->kind == VALUE_PIECES && VALUE (program, value_part (program, value, 0))->donated != NONE);
}

/* Whether a streamed result of scan @w is made over operand @i. */
static gboolean
is_made_over (const GantryPlanner *planner, guint32 w, guint i)
{
  const Loop *loop = planner->loop[w];

  return loop != NULL && loop->over != NULL && loop->over[i] >= 0
         && streams_any (planner, WORK (planner->program, w)->first_value + (guint32) loop->over[i]);
}

/* Whether the body of scan @w, as it is run, fetches slices of operand @i itself. */
static gboolean
is_fetched (const GantryPlanner *planner, guint32 w, guint i)
{
  const Loop *loop = planner->scans->len > 0 ? planner->loop[w] : NULL;

  return loop != NULL && loop->host[i];
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
    if (!is_fetched (planner, w, i) && reads (planner, w, VALUE (program, _gantry_program_operand (program, node, i))->root))
      bytes += slice_room (planner, VALUE (program, _gantry_program_operand (program, node, i))->root, scan.length,
                           is_made_over (planner, w, i));
  for (guint32 k = 0; k < work->n_results; k++)
    if (!is_any_made_over (planner, w, k) || !is_donated (program, work->first_value + k))
      bytes += slice_room (planner, work->first_value + k, scan.length, FALSE);
  return bytes;
}

/* How long what one of @n trips needs of @v is on its way. @slice: that is all of it in one trip and nothing in others */
static double
slice_us (const GantryPlanner *planner, guint32 v, gint64 n, gboolean slice, guint64 *bytes)
{
  guint64 all = VALUE (planner->program, v)->bytes;

  if (!_gantry_planner_streams (planner, v))
    return 0;
  *bytes += all;
  return slice ? gantry_target_predict_copy_us (&planner->target, all) / (double) n
               : gantry_target_predict_copy_us (&planner->target, all / (guint64) n);
}

/* Whether all that scan @w has of @v its body fetches. */
static gboolean
is_all_fetched (const GantryPlanner *planner, guint32 w, guint32 v)
{
  const Program *program = planner->program;
  const GantryNode *node = work_node (program, WORK (program, w));

  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 operand = _gantry_program_operand (program, node, i);

      if (operand != NONE && _gantry_program_shows (program, operand, v) && !is_fetched (planner, w, i))
        return FALSE;
    }
  return TRUE;
}

/* Whether scan @node has @v as a slice alone. */
static gboolean
is_slice (const Program *program, const GantryNode *node, guint32 v)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 operand = _gantry_program_operand (program, node, i);

      if (operand != NONE && VALUE (program, operand)->root == v)
        return FALSE;
    }
  return TRUE;
}

double
_gantry_planner_stream_us (const GantryPlanner *planner, guint32 w, guint64 *bytes)
{
  const Program *program = planner->program;
  const Work *work = WORK (program, w);
  GantryScan scan;
  double in = 0, out = 0, trip, n;

  *bytes = 0;
  if (!planner->has_stacks || !scan_of (planner, w, &scan))
    return 0;
  for (guint32 k = 0; k < work->n_uses; k++)
    {
      guint32 root = VALUE (program, USE (program, work, k))->root;
      double us = reads (planner, w, root) ? slice_us (planner, root, scan.length, is_slice (program, work_node (program, work), root), bytes) : 0;

      in += is_all_fetched (planner, w, root) ? 0 : us; /* what the body copies takes its time */
    }
  for (guint32 k = 0; k < work->n_values; k++)
    {
      guint32 v = work->first_value + k, donated = VALUE (program, v)->donated;
      double us = slice_us (planner, v, scan.length, k >= work->n_results, bytes);

      out += donated != NONE && is_all_fetched (planner, w, donated) ? 0 : us;
    }
  n = (double) scan.length;
  if (program->slices_staged || gantry_stream_stages (scan.length, FALSE) == 1)
    return n * (in + out);
  /* The first slices arrive before the first trip, the last ones leave behind the last; else both hide behind trips. */
  trip = (planner->cost_us[w] + _gantry_planner_loop_us (planner, w)) / n;
  return in + out + (n - 1) * MAX (0, MAX (in, out) - trip);
}
