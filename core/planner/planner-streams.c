/* SPDX-License-Identifier: Apache-2.0 */
/* What one scan stacks and others walk along, as the residuals of a loop and the loop that goes back over them, and what is given for scans
 * alone to walk along, as stacked parameters and states with the results that are donated to them: offloaded, it has its one place in the
 * host, and the loops bring it there and back slice by slice. No loop needs more of it on the device than some slices, which its workspace
 * has: the one of this trip, the one that comes for the next and, of what is written over, the one that leaves. Where anything else reads
 * the stack it is on the device as a whole, and is copied as a whole. */
#include "core/graph/operation.h"
#include "core/plan/region-layout.h"
#include "core/planner/planner-private.h"
#include <string.h>

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

/* Whether all that scan @w reads of @v, its use @use, is walked along. */
static gboolean
walks_along (const GantryPlanner *planner, guint32 w, guint32 use, guint32 v)
{
  const Program *program = planner->program;
  const Work *work = WORK (program, w);
  GantryScan scan;

  if (!scan_of (planner, w, &scan))
    return FALSE;
  for (guint32 k = program->first_of_root[work->first_use + use]; k != NONE; k = program->next_of_root[work->first_use + k])
    for (guint32 s = program->first_shown[work->first_use + k]; s != NONE; s = SHOWN (program, s)->next)
      {
        guint32 i = SHOWN (program, s)->operand;

        if (i < scan.n_carries || i >= scan.n_carries + scan.n_xs || !shows_whole (program, _gantry_program_operand (program, work_node (program, work), i), v))
          return FALSE;
      }
  return TRUE;
}

static gboolean
is_walked_along (const GantryPlanner *planner, guint32 v)
{
  const Program *program = planner->program;

  for (guint32 u = program->first_user[v]; u < program->first_user[v + 1]; u++)
    if (!walks_along (planner, program->users[u], program->user_use[u], v))
      return FALSE;
  return TRUE;
}

/* By value: of arguments the result that a scan makes over it, slice by slice, or NONE. (transfer full) */
static guint32 *
find_made_over (const GantryPlanner *planner)
{
  const Program *program = planner->program;
  gsize n = program->values->len;
  guint32 *made_over = g_new (guint32, n + 1);

  memset (made_over, 0xff, n * sizeof *made_over);
  for (guint o = planner->overlays->len; o-- > 0;)
    {
      const Overlay *overlay = &g_array_index (planner->overlays, Overlay, o);
      guint32 result = WORK (program, overlay->work)->first_value + overlay->result;
      const Value *made = VALUE (program, result);

      if (made->donated != NONE)
        made_over[made->donated] = result;
      for (guint32 k = 0; made->kind == VALUE_PIECES && k < made->n_parts; k++)
        if (VALUE (program, value_part (program, made, k))->donated != NONE)
          made_over[VALUE (program, value_part (program, made, k))->donated] = value_part (program, made, k);
    }
  return made_over;
}

/* @made_over: as find_made_over() gives it */
static gboolean
is_argument (const GantryPlanner *planner, guint32 v, const guint32 *made_over)
{
  const Program *program = planner->program;
  const Value *value = VALUE (program, v);

  if (value->kind != VALUE_INPUT || value->root != v || value->result || value->memory != GANTRY_MEMORY_DEVICE || !program->resident || program->slices_staged
      || program->first_user[v] == program->first_user[v + 1] || (value->donated != NONE && made_over[v] == NONE))
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
      || value->memory != GANTRY_MEMORY_DEVICE || !scan_of (planner, value->maker, &scan) || v - WORK (program, value->maker)->first_value < scan.n_carries)
    return FALSE;
  return is_walked_along (planner, v);
}

void
_gantry_planner_find_stacks (GantryPlanner *planner)
{
  g_autofree guint32 *made_over = find_made_over (planner);

  planner->has_stacks = FALSE;
  for (guint32 v = 0; v < planner->program->values->len; v++)
    {
      gboolean argument = planner->candidate_of[v] >= 0 && is_argument (planner, v, made_over);
      guint32 over = argument ? made_over[v] : NONE;

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

/* From when on the body of scan @w fetches what it walks along; N_FETCHING: never. @scan: (out) */
static LoopFetching
least_fetching (const GantryPlanner *planner, guint32 w, GantryScan *scan)
{
  const Program *program = planner->program;

  if (!planner->has_stacks || program->slices_staged || !scan_of (planner, w, scan))
    return N_FETCHING;
  if (scan->length < GANTRY_LEAST_STREAMED)
    return FETCHING_NONE;
  return WORK (program, w)->phase == GANTRY_PHASE_FORWARD ? FETCHING_ALL : FETCHING_BACKWARD;
}

/* Whether the slices of operand @i of scan @w are all in the host. */
static gboolean
is_streamed (const GantryPlanner *planner, guint32 w, guint i)
{
  const Program *program = planner->program;

  return streams_all (planner, VALUE (program, _gantry_program_operand (program, work_node (program, WORK (program, w)), i))->root);
}

guint8 *
_gantry_planner_find_fetched (const GantryPlanner *planner, guint32 w)
{
  guint8 *fetched = g_new0 (guint8, work_node (planner->program, WORK (planner->program, w))->n_operands + (gsize) 1);
  GantryScan scan;

  if (least_fetching (planner, w, &scan) > planner->fetching)
    return fetched;
  for (guint i = scan.n_carries; i < scan.n_carries + scan.n_xs; i++)
    fetched[i] = is_streamed (planner, w, i);
  return fetched;
}

gboolean
_gantry_planner_fetches_from (const GantryPlanner *planner, LoopFetching fetching)
{
  for (guint s = 0; s < planner->scans->len; s++)
    {
      guint32 w = g_array_index (planner->scans, guint32, s);
      GantryScan scan;

      if (least_fetching (planner, w, &scan) != fetching)
        continue;
      for (guint i = scan.n_carries; i < scan.n_carries + scan.n_xs; i++)
        if (is_streamed (planner, w, i))
          return TRUE;
    }
  return FALSE;
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

/* How scan @w is run. (nullable) */
static const Loop *
loop_of (const GantryPlanner *planner, guint32 w)
{
  return planner->scans->len > 0 ? planner->loop[w] : NULL;
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

  return loop != NULL && loop->over != NULL && loop->over[i] >= 0 && streams_any (planner, WORK (planner->program, w)->first_value + (guint32) loop->over[i]);
}

guint64
_gantry_planner_workspace (const GantryPlanner *planner, guint32 w)
{
  const Program *program = planner->program;
  const Work *work = WORK (program, w);
  const GantryNode *node = work_node (program, work);
  const Loop *loop = loop_of (planner, w);
  guint64 bytes = loop != NULL ? loop->workspace : work->workspace;
  GantryScan scan;

  if (!planner->has_stacks || program->slices_staged || !scan_of (planner, w, &scan))
    return bytes;
  for (guint i = scan.n_carries; i < scan.n_carries + scan.n_xs; i++)
    if (loop == NULL || (!loop->host[i] && !loop->operand_unread[i]))
      bytes += slice_room (planner, VALUE (program, _gantry_program_operand (program, node, i))->root, scan.length, is_made_over (planner, w, i));
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
  return slice ? gantry_target_predict_copy_us (&planner->target, all) / (double) n : gantry_target_predict_copy_us (&planner->target, all / (guint64) n);
}

/* Whether scan @work has the root of its use @use as slices alone. */
static gboolean
is_slice (const Program *program, const Work *work, guint32 use)
{
  guint32 root = VALUE (program, USE (program, work, use))->root;

  for (guint32 k = program->first_of_root[work->first_use + use]; k != NONE; k = program->next_of_root[work->first_use + k])
    for (guint32 s = program->first_shown[work->first_use + k]; s != NONE; s = SHOWN (program, s)->next)
      if (VALUE (program, _gantry_program_operand (program, work_node (program, work), SHOWN (program, s)->operand))->root == root)
        return FALSE;
  return TRUE;
}

double
_gantry_planner_stream_us (const GantryPlanner *planner, guint32 w, guint64 *bytes)
{
  const Program *program = planner->program;
  const Work *work = WORK (program, w);
  GantryScan scan;
  const Loop *loop = loop_of (planner, w);
  double in = 0, out = 0, trip, n;

  *bytes = 0;
  if (!planner->has_stacks || !scan_of (planner, w, &scan))
    return 0;
  for (guint32 k = 0; k < work->n_uses; k++)
    {
      guint32 root = VALUE (program, USE (program, work, k))->root;
      double us = 0;

      if ((loop == NULL || !loop->root_unread[k]) && _gantry_planner_streams (planner, root))
        us = slice_us (planner, root, scan.length, is_slice (program, work, k), bytes);
      in += loop != NULL && loop->root_fetched[k] ? 0 : us; /* what the body copies takes its time */
    }
  for (guint32 k = 0; k < work->n_values; k++)
    {
      guint32 v = work->first_value + k, donated = VALUE (program, v)->donated;
      double us = slice_us (planner, v, scan.length, k >= work->n_results, bytes);
      guint32 use = us > 0 && donated != NONE ? _gantry_program_use_of (program, w, donated) : NONE;

      out += loop != NULL && use != NONE && loop->root_fetched[use] ? 0 : us;
    }
  n = (double) scan.length;
  if (program->slices_staged || gantry_stream_stages (scan.length, FALSE) == 1)
    return n * (in + out);
  /* The first slices arrive before the first trip, the last ones leave behind the last; else both hide behind trips. */
  trip = (planner->cost_us[w] + _gantry_planner_loop_us (planner, w)) / n;
  return in + out + (n - 1) * MAX (0, MAX (in, out) - trip);
}
