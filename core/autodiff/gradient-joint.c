/* SPDX-License-Identifier: Apache-2.0 */
/* A body with its derivative, written aside as one function: the bodies of loops and branches are
 * taken from it, and which forward values the backward part reads is seen there. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"

#define MOST_DEPTH 64u

/* One seed for each result slot that matters. */
static void
add_seeds (GantryDiff *d, GantryJoint *joint, const guint8 *useful)
{
  guint slot = 0;

  for (guint i = 0; i < d->function->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (d->module, gantry_function_result_id (d->module, d->function, i));
      guint n = _gantry_slot_count (d->module, node);

      _gantry_diff_stand_at (d, node);
      for (guint k = 0; k < n; k++, slot++)
        if (useful[slot])
          {
            joint->seeds[slot] = gantry_builder_parameter (d->builder, _gantry_slot_type (d->module, node, k), NULL);
            joint->n_seeds++;
          }
    }
}

static void
end_function (GantryDiff *d, GantryJoint *joint)
{
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint slot = 0;

  for (guint i = 0; i < d->function->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (d->module, gantry_function_result_id (d->module, d->function, i));
      guint n = _gantry_slot_count (d->module, node);

      joint->results[slot] = _gantry_diff_result (d, node);
      g_array_append_val (results, joint->results[slot]);
      slot += n;
    }
  for (guint i = 0; i < d->function->n_params; i++)
    {
      joint->cotangents[i] = d->cotangents[d->activity->first[i]];
      if (joint->cotangents[i] != 0)
        g_array_append_val (results, joint->cotangents[i]);
    }
  gantry_builder_end (d->builder, (const guint32 *) (gpointer) results->data, results->len);
}

GantryJoint *
_gantry_joint_new (GantryDiffJob *job, const GantryFunction *function, const guint8 *varied, const guint8 *useful, gboolean again, GError **error)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (job->module->context, "joint");
  g_autoptr (GantryDiff) d = _gantry_diff_new (job, builder, function, _gantry_activity_new (job, function, varied, useful));
  g_autoptr (GantryJoint) joint = g_new0 (GantryJoint, 1);
  guint n = _gantry_result_slots (job->module, function);
  gboolean done;

  if (job->depth >= MOST_DEPTH)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "bodies lie within bodies at a depth over %u", MOST_DEPTH);
      return NULL;
    }
  d->again = again;
  joint->n_params = function->n_params;
  joint->seeds = g_new0 (guint32, n + 1);
  joint->results = g_new0 (guint32, n + 1);
  joint->cotangents = g_new0 (guint32, function->n_params + 1);
  gantry_builder_begin (builder, "joint", 0);
  _gantry_diff_parameters (d);
  add_seeds (d, joint, useful);
  job->depth++;
  done = _gantry_diff_forward (d, error);
  joint->last_forward = gantry_context_last_node_id (d->context);
  if (done)
    {
      for (guint i = 0; i < n; i++)
        if (joint->seeds[i] != 0)
          _gantry_diff_seed (d, i, joint->seeds[i]);
      done = _gantry_diff_backward (d, error);
    }
  job->depth--;
  if (!done)
    return NULL;
  end_function (d, joint);
  joint->module = gantry_builder_finish (builder, error);
  return joint->module != NULL ? g_steal_pointer (&joint) : NULL;
}

void
_gantry_joint_free (GantryJoint *joint)
{
  if (joint == NULL)
    return;
  if (joint->module != NULL)
    gantry_module_unref (joint->module);
  g_free (joint->seeds);
  g_free (joint->results);
  g_free (joint->cotangents);
  g_free (joint);
}

void
_gantry_joint_copy_functions (const GantryJoint *joint, GantryBuilder *builder)
{
  const GantryModule *module = joint->module;

  for (guint f = 1; f < module->n_functions; f++)
    {
      const GantryFunction *function = &module->functions[f];

      gantry_builder_begin (builder, gantry_context_string (module->context, function->name), function->id);
      for (guint32 i = 0; i < function->n_nodes; i++)
        {
          const GantryNode *node = &module->nodes[function->first_node + i];

          gantry_builder_add_node (builder, node, module->operands + node->operands, module->origins + node->origins);
        }
      gantry_builder_end (builder, module->operands + function->results, function->n_results);
    }
}

guint32
_gantry_joint_copy_node (const GantryJoint *joint, GantryBuilder *builder, const GantryNode *node, guint32 *map, guint32 id)
{
  const GantryModule *module = joint->module;
  GantryNode copy = *node;
  g_autofree guint32 *operands = g_new (guint32, node->n_operands + 1);

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = map[gantry_module_position (module, gantry_node_operand (module, node, i))];
  copy.id = id;
  return map[gantry_module_position (module, node)] = gantry_builder_add_node (builder, &copy, operands, module->origins + node->origins);
}
