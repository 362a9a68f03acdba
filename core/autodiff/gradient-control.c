/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives of tuples and of branches. The backward branch computes the forward branch again
 * from the captures: the two branches need not agree then on what is kept for it. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"

#define B d->builder

void
_gantry_gradient_tuple (GantryDiff *d, const GantryNode *node, guint32 g)
{
  for (guint i = 0; i < node->n_operands; i++)
    _gantry_diff_give (d, node, i, _gantry_diff_cotangent (d, node, i));
}

/* Members are slots of the tuple: the cotangent goes straight there. */
void
_gantry_gradient_result (GantryDiff *d, const GantryNode *node, guint32 g)
{
  const GantryNode *tuple = gantry_node_operand (d->module, node, 0);
  guint32 slot = d->activity->first[gantry_module_position (d->module, tuple) - d->function->first_node]
                 + (guint) gantry_attrs_int (d->context, node->attrs, "index", 0);

  if (!d->activity->useful[slot])
    return;
  if (d->cotangents[slot] != 0)
    g = gantry_builder_binary (B, GANTRY_OP_ADD, d->cotangents[slot], g);
  d->cotangents[slot] = g;
}

/* Marks what must be copied so that the nodes marked in @live have their operands. */
static void
spread_life (const GantryModule *module, guint8 *live)
{
  const GantryFunction *function = gantry_module_entry (module);

  for (guint32 i = function->n_nodes; i-- > 0;)
    for (guint k = 0; live[i] && k < module->nodes[i].n_operands; k++)
      live[gantry_module_position (module, gantry_node_operand (module, &module->nodes[i], k))] = TRUE;
}

/* Writes one backward branch: (captures, seeds) -> cotangents of the captures in @wanted, zero
 * where there is none. */
static guint32
write_branch (GantryDiff *d, const GantryNode *node, const char *key, const GantryJoint *joint, const guint8 *wanted)
{
  const GantryModule *module = joint->module;
  const GantryFunction *function = gantry_module_entry (module);
  g_autofree guint32 *map = g_new0 (guint32, module->n_nodes + 1);
  g_autofree guint8 *live = g_new0 (guint8, module->n_nodes + 1);
  g_autofree char *name = g_strdup_printf ("%s.backward", key);
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 id;

  for (guint i = 0; i < joint->n_params; i++)
    if (wanted[i] && joint->cotangents[i] != 0)
      live[gantry_module_position (module, gantry_module_node (module, joint->cotangents[i]))] = TRUE;
  spread_life (module, live);
  _gantry_joint_copy_functions (joint, B);
  id = gantry_builder_begin (B, name, 0);
  for (guint32 i = 0; i < function->n_nodes; i++)
    if (i < function->n_params || live[i])
      _gantry_joint_copy_node (joint, B, &module->nodes[i], map, module->nodes[i].id);
  _gantry_diff_stand_at (d, node);
  for (guint i = 0; i < joint->n_params; i++)
    if (wanted[i])
      {
        guint32 result = joint->cotangents[i] != 0 ? map[gantry_module_position (module, gantry_module_node (module, joint->cotangents[i]))]
                                                   : _gantry_diff_splat (d, gantry_node_type (module, &module->nodes[i]), 0);

        g_array_append_val (results, result);
      }
  gantry_builder_end (B, (const guint32 *) (gpointer) results->data, results->len);
  return id;
}

/* The branch's joint with a seed for each member that has a cotangent. */
static guint32
branch_back (GantryDiff *d, const GantryNode *node, const char *key, const guint8 *varied, const guint8 *seeded, const guint8 *wanted)
{
  const GantryFunction *function = _gantry_body_of (d->module, node, key);
  g_autoptr (GantryJoint) joint = NULL;

  if (function != NULL)
    joint = _gantry_joint_new (d->job, function, varied, seeded, TRUE, d->job->error == NULL ? &d->job->error : NULL);
  if (joint == NULL)
    {
      gantry_builder_fail (B, GANTRY_ERROR_FAILED, "branch %s has no derivative", key);
      return 0;
    }
  return write_branch (d, node, key, joint, wanted);
}

void
_gantry_gradient_if (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint n = node->n_operands - 1, n_slots = _gantry_slot_count (d->module, node), n_wanted = 0, next = 0;
  g_autofree guint8 *varied = g_new0 (guint8, n + 1);
  g_autofree guint8 *wanted = g_new0 (guint8, n + 1);
  g_autofree guint8 *seeded = g_new0 (guint8, n_slots + 1);
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  GantryAttrList *attrs;
  guint32 id, then, or_else, branches;

  for (guint i = 0; i <= n; i++)
    {
      id = _gantry_diff_operand (d, node, i);
      g_array_append_val (operands, id);
      if (i > 0 && _gantry_slot_count (d->module, gantry_node_operand (d->module, node, i)) != 1)
        {
          _gantry_diff_refuse (d, node, "a tuple is captured; pass its members");
          return;
        }
    }
  for (guint i = 0; i < n; i++)
    {
      varied[i] = wanted[i] = _gantry_diff_wants (d, node, i + 1);
      n_wanted += wanted[i];
    }
  for (guint i = 0; i < n_slots; i++)
    {
      id = _gantry_diff_cotangent (d, node, i);
      seeded[i] = id != 0;
      if (id != 0)
        g_array_append_val (operands, id);
    }
  if (n_wanted == 0)
    return;
  then = branch_back (d, node, "then", varied, seeded, wanted);
  or_else = branch_back (d, node, "else", varied, seeded, wanted);
  _gantry_diff_stand_at (d, node);
  attrs = gantry_attr_list_new (d->context);
  gantry_attr_list_set_function (attrs, "then", then);
  gantry_attr_list_set_function (attrs, "else", or_else);
  branches = gantry_builder_add (B, GANTRY_OP_IF, (const guint32 *) (gpointer) operands->data, operands->len, gantry_attr_list_end (attrs));
  for (guint i = 0; i < n; i++)
    if (wanted[i])
      {
        _gantry_diff_give (d, node, i + 1, n_wanted == 1 ? branches : gantry_builder_result (B, branches, next));
        next++;
      }
}
