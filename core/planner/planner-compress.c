/* SPDX-License-Identifier: Apache-2.0 */
/* Residuals that are stored in fewer bits: where the line converts them. The forward phase reads the exact value; before the last work of
 * it that does, which may then write over it, it is converted. Who reads it later, or runs once more, reads it converted back, whatever
 * the order: so what a run computes follows from the placements alone. What was converted back stays from one use to the next where there
 * would hardly be time to convert it again. */
#include "core/planner/planner-private.h"
#include <string.h>

gboolean
_gantry_planner_compresses (const GantryPlanner *planner, guint32 v)
{
  const Value *value = VALUE (planner->program, v);

  return gantry_placement_is_approximate (planner->kind[v]) && value->root == v && value->kind == VALUE_COMPUTED && !value->result
         && value->memory == GANTRY_MEMORY_DEVICE && !planner->unmade[v];
}

static const GantryType *
type_of (const GantryPlanner *planner, guint32 v)
{
  const Value *value = VALUE (planner->program, v);
  const GantryModule *module = planner->program->module;
  const GantryType *type = gantry_node_type (module, gantry_module_node (module, value->node));

  return type->kind == GANTRY_TYPE_TUPLE ? gantry_context_type (module->context, (guint32) type->dims[value->member]) : type;
}

const char *
_gantry_planner_why_not_compressed (const GantryPlanner *planner, guint32 v, GantryPlacementSubject subject, GantryPlacementKind kind)
{
  return gantry_rounding_why_not_stored (kind, subject, VALUE (planner->program, v)->result, type_of (planner, v), planner->asked[v]);
}

gint64
_gantry_planner_elements (const GantryPlanner *planner, guint32 v)
{
  return gantry_type_elements (type_of (planner, v));
}

double
_gantry_planner_convert_us (const GantryPlanner *planner, guint32 v, GantryPlacementKind kind)
{
  gint64 n = gantry_type_elements (type_of (planner, v));

  return gantry_target_predict_us (&planner->target, gantry_compression_flops (kind, n),
                                   (gint64) (VALUE (planner->program, v)->bytes + gantry_compressed_bytes (kind, n)));
}

gboolean
_gantry_planner_reads_rounded (const GantryPlanner *planner, guint32 unit, guint32 l)
{
  return l != NONE && (l == planner->restored[unit] || (planner->rounded[unit] && l == planner->again[unit]));
}

void
_gantry_planner_find_forward_uses (GantryPlanner *planner)
{
  const Program *program = planner->program;

  for (guint32 w = 0; w < program->works->len; w++)
    {
      const Work *work = WORK (program, w);

      for (guint32 k = 0; work->phase == GANTRY_PHASE_FORWARD && !work->init && k < work->n_uses; k++)
        planner->n_forward_uses[VALUE (program, USE (program, work, k))->root]++;
    }
}

void
_gantry_planner_begin_compression (GantryPlanner *planner)
{
  guint32 n = planner->program->values->len;

  if (!planner->compresses)
    return;
  memset (planner->compressed, 0xff, n * sizeof (guint32));
  memset (planner->restored, 0xff, n * sizeof (guint32));
  memset (planner->rounded, 0, n);
  memcpy (planner->forward_left, planner->n_forward_uses, n * sizeof (guint32));
}

/* Converts range @from of @v into @to. */
static void
convert (GantryPlanner *planner, guint32 v, guint32 from, guint32 to)
{
  guint32 at = planner->line->len;
  Run run = { NONE, planner->use_range->len, to, RANGE (planner, to)->instance, RUN_CONVERT };
  double next = START_US (planner, at) + _gantry_planner_convert_us (planner, v, planner->kind[v]);

  _gantry_planner_extend (planner, from, at);
  g_array_append_val (planner->use_range, from);
  g_array_append_val (planner->line, run);
  g_array_append_val (planner->start_us, next);
}

static void
compress (GantryPlanner *planner, guint32 v)
{
  guint32 l = _gantry_planner_add_range (planner, v, 0, GANTRY_MEMORY_DEVICE, planner->line->len);

  RANGE (planner, l)->bytes = gantry_compressed_bytes (planner->kind[v], gantry_type_elements (type_of (planner, v)));
  RANGE (planner, l)->stored = planner->kind[v];
  planner->compressed[v] = l;
  convert (planner, v, planner->device_range[v], l);
}

/* @v is there, converted back, for what stands next in the line. */
static void
restore (GantryPlanner *planner, guint32 v)
{
  guint32 l = planner->restored[v];

  if (planner->compressed[v] == NONE)
    compress (planner, v);
  if (l != NONE
      && START_US (planner, planner->line->len) - START_US (planner, RANGE (planner, l)->last_use + 1)
           < 2 * _gantry_planner_convert_us (planner, v, planner->kind[v]))
    return;
  planner->restored[v] = _gantry_planner_add_range (planner, v, 1, GANTRY_MEMORY_DEVICE, planner->line->len);
  convert (planner, v, planner->compressed[v], planner->restored[v]);
}

void
_gantry_planner_convert_before (GantryPlanner *planner, const Work *work, gboolean late)
{
  const Loop *loop = planner->loop[work - WORK (planner->program, 0)];

  for (guint32 k = 0; planner->compresses && k < work->n_uses; k++)
    {
      guint32 v = USE (planner->program, work, k);

      if (!_gantry_planner_compresses (planner, v) || planner->device_range[v] == NONE)
        continue;
      if (late && loop != NULL && loop->unread[k])
        continue;
      if (late)
        restore (planner, v);
      else if (--planner->forward_left[v] == 0 && planner->compressed[v] == NONE)
        compress (planner, v);
    }
  /* Another one may stand between one that needs no conversion and its use. */
  for (guint32 k = 0; late && planner->compresses && k < work->n_uses; k++)
    {
      guint32 v = USE (planner->program, work, k);

      if (_gantry_planner_compresses (planner, v) && planner->restored[v] != NONE && (loop == NULL || !loop->unread[k]))
        _gantry_planner_extend (planner, planner->restored[v], planner->line->len);
    }
}

void
_gantry_planner_convert_after (GantryPlanner *planner, const Work *work)
{
  for (guint32 v = work->first_value; planner->compresses && v < work->first_value + work->n_values; v++)
    if (_gantry_planner_compresses (planner, v) && planner->n_forward_uses[v] == 0 && planner->device_range[v] != NONE)
      compress (planner, v);
}
