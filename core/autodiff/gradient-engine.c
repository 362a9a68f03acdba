/* SPDX-License-Identifier: Apache-2.0 */
/* Reverse mode over one function: its nodes are written in order, then walked from the last to
 * the first, and each that has a cotangent hands it on to its operands by the rule of its
 * operation. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"
#include <string.h>

GantryDiff *
_gantry_diff_new (GantryDiffJob *job, GantryBuilder *builder, const GantryFunction *function, GantryActivity *activity)
{
  GantryDiff *d = g_new0 (GantryDiff, 1);

  d->job = job;
  d->builder = builder;
  d->context = job->module->context;
  d->module = job->module;
  d->function = function;
  d->activity = activity;
  d->map = g_new0 (guint32, function->n_nodes + 1);
  d->cotangents = g_new0 (guint32, activity->first[function->n_nodes] + 1);
  d->plans = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) _gantry_scan_plan_free);
  return d;
}

void
_gantry_diff_free (GantryDiff *d)
{
  if (d == NULL)
    return;
  _gantry_activity_free (d->activity);
  g_hash_table_unref (d->plans);
  g_free (d->map);
  g_free (d->cotangents);
  g_clear_pointer (&d->pieces, g_hash_table_unref);
  g_free (d);
}

const guint32 *
_gantry_job_origins (const GantryDiffJob *job, const GantryNode *node, guint *n)
{
  /* Only what was made in preparation has origins in the snapshot before; all else is there
   * itself. */
  gboolean made = job->module != job->source && node->n_origins > 0;

  *n = made ? node->n_origins : 1;
  return made ? job->module->origins + node->origins : &node->id;
}

void
_gantry_job_need (GantryDiffJob *job, guint32 attrs)
{
  const GantryAttrs *list = gantry_context_attrs (job->module->context, attrs);

  for (guint i = 0; i < list->n; i++)
    if (list->items[i].kind == GANTRY_ATTR_FUNCTION && gantry_module_function (job->module, list->items[i].id) != NULL
        && g_hash_table_add (job->needed, GUINT_TO_POINTER (list->items[i].id)))
      g_array_append_val (job->to_copy, list->items[i].id);
}

void
_gantry_diff_stand_at (GantryDiff *d, const GantryNode *node)
{
  guint n;
  const guint32 *origins = _gantry_job_origins (d->job, node, &n);

  gantry_builder_set_place (d->builder, node->scope, node->location);
  gantry_builder_set_phase (d->builder, GANTRY_PHASE_BACKWARD);
  gantry_builder_set_origins (d->builder, origins, n);
}

void
_gantry_diff_refuse (GantryDiff *d, const GantryNode *node, const char *why)
{
  GantryDiffJob *job = d->job;
  g_autofree char *where = NULL;

  if (!g_hash_table_add (job->refused, GUINT_TO_POINTER (node->id)))
    return;
  if (g_hash_table_size (job->refused) > GANTRY_MOST_REFUSALS)
    return;
  where = gantry_context_location_text (d->context, node->location);
  g_string_append_printf (job->refusals, "%s%s: %s (%%%u, %s)", job->refusals->len > 0 ? "\n" : "", gantry_node_op_name (d->module, node), why, node->id,
                          where);
}

/* Forward */

static guint32
position_of (const GantryDiff *d, const GantryNode *node)
{
  return gantry_module_position (d->module, node) - d->function->first_node;
}

guint32
_gantry_diff_copy_node (GantryDiff *d, const GantryNode *node)
{
  GantryNode copy = *node;
  g_autofree guint32 *operands = g_new (guint32, node->n_operands + 1);
  guint n;
  const guint32 *origins = _gantry_job_origins (d->job, node, &n);

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = d->map[position_of (d, gantry_node_operand (d->module, node, i))];
  copy.n_origins = (guint16) n;
  if (!d->keep_ids)
    copy.id = 0;
  else if (origins == &node->id)
    copy.n_origins = 0; /* it is the same node */
  if (d->again)
    copy.phase = GANTRY_PHASE_BACKWARD;
  _gantry_job_need (d->job, node->attrs);
  return d->map[position_of (d, node)] = gantry_builder_add_node (d->builder, &copy, operands, origins);
}

void
_gantry_diff_parameters (GantryDiff *d)
{
  for (guint i = 0; i < d->function->n_params; i++)
    _gantry_diff_copy_node (d, &d->module->nodes[d->function->first_node + i]);
}

static gboolean
is_active (const GantryDiff *d, const GantryNode *node)
{
  guint32 p = position_of (d, node);

  for (guint32 slot = d->activity->first[p]; slot < d->activity->first[p + 1]; slot++)
    if (d->activity->useful[slot])
      return TRUE;
  return FALSE;
}

/* Returns: (nullable): why @node has no derivative */
static const char *
why_none (const GantryDiff *d, const GantryNode *node)
{
  if (node->op == GANTRY_OP_WHILE && gantry_attrs_int (d->context, node->attrs, "exact_trips", -1) >= 0)
    return "the run decides how many trips it makes, and only then is it known whether they are as many as its scan outputs have rows; the "
           "value of what decides it, given for an input, settles both";
  return _gantry_gradient_of (node->op)->why;
}

/* All that stand in the way are named, not only the last of them, beyond which no cotangent
 * comes. */
static void
refuse_early (GantryDiff *d, const GantryNode *node)
{
  const char *why = why_none (d, node);

  if (why != NULL && is_active (d, node))
    _gantry_diff_refuse (d, node, why);
}

gboolean
_gantry_diff_forward (GantryDiff *d, GError **error)
{
  for (guint32 i = d->function->n_params; i < d->function->n_nodes; i++)
    {
      const GantryNode *node = &d->module->nodes[d->function->first_node + i];

      if ((i & 1023) == 0 && gantry_progress_cancelled (d->job->progress, error))
        return FALSE;
      refuse_early (d, node);
      if (node->op == GANTRY_OP_SCAN && is_active (d, node))
        d->map[i] = _gantry_scan_forward (d, node, error);
      else
        _gantry_diff_copy_node (d, node);
      if (d->map[i] == 0)
        {
          gantry_builder_check (d->builder, error != NULL && *error != NULL ? NULL : error);
          return FALSE;
        }
    }
  return TRUE;
}

/* Backward */

void
_gantry_diff_accumulate (GantryDiff *d, guint32 slot, guint32 cotangent)
{
  guint32 *sum = &d->cotangents[slot];

  *sum = *sum == 0 ? cotangent : gantry_builder_binary (d->builder, GANTRY_OP_ADD, *sum, cotangent);
}

void
_gantry_diff_seed (GantryDiff *d, guint result_slot, guint32 cotangent)
{
  for (guint i = 0; i < d->function->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (d->module, gantry_function_result_id (d->module, d->function, i));
      guint n = _gantry_slot_count (d->module, node);

      if (result_slot < n)
        {
          guint32 slot = d->activity->first[position_of (d, node)] + result_slot;

          if (d->activity->useful[slot])
            {
              _gantry_diff_stand_at (d, node);
              _gantry_diff_accumulate (d, slot, cotangent);
            }
          return;
        }
      result_slot -= n;
    }
}

static gboolean
has_known_shape (const GantryDiff *d, const GantryNode *node)
{
  guint n = _gantry_slot_count (d->module, node);

  for (guint k = 0; k < n; k++)
    if (!gantry_type_is_static (gantry_context_type (d->context, _gantry_slot_type (d->module, node, k))))
      return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    if (_gantry_diff_wants (d, node, i) && !gantry_type_is_static (_gantry_diff_operand_type (d, node, i)))
      return FALSE;
  return TRUE;
}

static void
apply_rule (GantryDiff *d, const GantryNode *node, guint32 g)
{
  const GantryGradient *gradient = _gantry_gradient_of (node->op);

  if (gradient->why != NULL)
    return; /* refused */
  if (!has_known_shape (d, node))
    _gantry_diff_refuse (d, node, "its shape is not known; bind the symbols first");
  else if (gradient->rule != NULL)
    {
      _gantry_diff_stand_at (d, node);
      if (!_gantry_gradient_softmax (d, node, g))
        gradient->rule (d, node, g);
    }
}

gboolean
_gantry_diff_backward (GantryDiff *d, GError **error)
{
  const guint32 *first = d->activity->first;

  for (guint32 i = d->function->n_nodes; i-- > d->function->n_params;)
    {
      const GantryNode *node = &d->module->nodes[d->function->first_node + i];
      gboolean any = FALSE;

      if ((i & 1023) == 0 && gantry_progress_cancelled (d->job->progress, error))
        return FALSE;
      for (guint32 slot = first[i]; slot < first[i + 1]; slot++)
        {
          _gantry_diff_join_pieces (d, node, slot);
          any |= d->cotangents[slot] != 0;
        }
      if (!any)
        continue;
      apply_rule (d, node, first[i + 1] - first[i] == 1 ? d->cotangents[first[i]] : 0);
      if (!gantry_builder_check (d->builder, error))
        {
          g_autofree char *where = gantry_context_location_text (d->context, node->location);

          gantry_error_prefix (error, "derivative of %s (%%%u, %s): ", gantry_node_op_name (d->module, node), node->id, where);
          return FALSE;
        }
    }
  for (guint32 i = 0; i < d->function->n_params; i++)
    for (guint32 slot = first[i]; slot < first[i + 1]; slot++)
      _gantry_diff_join_pieces (d, &d->module->nodes[d->function->first_node + i], slot);
  return gantry_builder_check (d->builder, error);
}

/* What rules are written with */

guint32
_gantry_diff_operand (const GantryDiff *d, const GantryNode *node, guint i)
{
  return d->map[position_of (d, gantry_node_operand (d->module, node, i))];
}

guint32
_gantry_diff_result (const GantryDiff *d, const GantryNode *node)
{
  return d->map[position_of (d, node)];
}

guint32
_gantry_diff_operand_slot (const GantryDiff *d, const GantryNode *node, guint i)
{
  return d->activity->first[position_of (d, gantry_node_operand (d->module, node, i))];
}

gboolean
_gantry_diff_wants (const GantryDiff *d, const GantryNode *node, guint i)
{
  return i < node->n_operands && d->activity->useful[_gantry_diff_operand_slot (d, node, i)] && gantry_type_is_tensor (_gantry_diff_operand_type (d, node, i));
}

guint32
_gantry_diff_cotangent (const GantryDiff *d, const GantryNode *node, guint slot)
{
  return d->cotangents[d->activity->first[position_of (d, node)] + slot];
}

/* Sums stand where their value stands: what is used often is summed at its own place, not at that
 * of a user. */
void
_gantry_diff_give (GantryDiff *d, const GantryNode *node, guint i, guint32 cotangent)
{
  const GantryNode *operand = gantry_node_operand (d->module, node, i);
  guint32 slot = _gantry_diff_operand_slot (d, node, i);

  if (cotangent == 0 || !_gantry_diff_wants (d, node, i))
    return;
  if (!gantry_type_same_shape (gantry_node_type (d->module, operand), gantry_builder_get_type (d->builder, cotangent)))
    {
      gantry_builder_fail (d->builder, GANTRY_ERROR_FAILED, "the cotangent of operand %u is not of its type", i);
      return;
    }
  if (d->cotangents[slot] != 0 && operand->op != GANTRY_OP_PARAMETER)
    _gantry_diff_stand_at (d, operand);
  _gantry_diff_accumulate (d, slot, cotangent);
  _gantry_diff_stand_at (d, node);
}

guint32
_gantry_diff_splat (GantryDiff *d, const GantryType *type, double value)
{
  return gantry_builder_splat (d->builder, type->element, value, type->rank, type->dims);
}

guint32
_gantry_diff_splat_like (GantryDiff *d, guint32 like, double value)
{
  return _gantry_diff_splat (d, gantry_builder_get_type (d->builder, like), value);
}

guint32
_gantry_diff_scale (GantryDiff *d, guint32 x, double by)
{
  return _gantry_diff_multiply (d, x, _gantry_diff_splat_like (d, x, by));
}

guint32
_gantry_diff_shift (GantryDiff *d, guint32 x, double by)
{
  return gantry_builder_binary (d->builder, GANTRY_OP_ADD, x, _gantry_diff_splat_like (d, x, by));
}

guint32
_gantry_diff_where (GantryDiff *d, guint32 predicate, guint32 x)
{
  return gantry_builder_select (d->builder, predicate, x, _gantry_diff_splat_like (d, x, 0));
}

guint32
_gantry_diff_reshape (GantryDiff *d, guint32 x, const GantryType *type)
{
  return gantry_builder_reshape (d->builder, x, type->rank, type->dims);
}
