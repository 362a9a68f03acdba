/* SPDX-License-Identifier: Apache-2.0 */
/* What a scan has to keep for its backward scan. The body is differentiated aside; what its
 * backward part reads of its forward part is an x (sliced again from the same x), a capture
 * (passed again), cheap (computed again), a y that the scan gives anyway, or else a residual: one
 * more y. Which, gradient-scan-cut.c chooses. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"

void
_gantry_scan_plan_free (GantryScanPlan *plan)
{
  if (plan == NULL)
    return;
  _gantry_joint_free (plan->joint);
  g_free (plan->active);
  g_free (plan->read);
  g_free (plan->again);
  g_free (plan->live);
  if (plan->residuals != NULL)
    g_array_unref (plan->residuals);
  g_free (plan);
}

/* Members of a tuple that a forward node gives are of the forward part, whoever took them out. */
gboolean
_gantry_scan_is_forward (const GantryScanPlan *plan, const GantryNode *node)
{
  const GantryModule *module = plan->joint->module;

  if (node->id <= plan->joint->last_forward)
    return node->op != GANTRY_OP_PARAMETER || gantry_module_position (module, node) < plan->n_params;
  return node->op == GANTRY_OP_RESULT && gantry_module_position (module, node) >= gantry_module_entry (module)->n_params
         && _gantry_scan_is_forward (plan, gantry_node_operand (module, node, 0));
}

/* Which carries go round, which parameters have a cotangent, and the body with its derivative. */
static gboolean
differentiate_body (GantryScanPlan *plan, GantryDiff *d, const GantryNode *node, GError **error)
{
  const GantryFunction *body = gantry_module_function (d->module, plan->scan.body);
  guint32 slot = d->activity->first[gantry_module_position (d->module, node) - d->function->first_node];
  guint n_slots = _gantry_slot_count (d->module, node);
  g_autofree guint8 *varied = g_new0 (guint8, plan->n_params + 1);
  g_autofree guint8 *useful = g_memdup2 (d->activity->useful + slot, n_slots + 1);
  g_autoptr (GantryActivity) activity = NULL;

  for (guint i = 0; i < plan->n_params; i++)
    varied[i] = d->activity->varied[d->activity->first[gantry_module_position (d->module, gantry_node_operand (d->module, node, i)) - d->function->first_node]];
  _gantry_scan_settle (d->job, body, plan->scan.n_carries, varied, useful);
  for (guint i = 0; i < plan->scan.n_carries; i++)
    useful[i] = useful[i] && varied[i];
  activity = _gantry_activity_new (d->job, body, varied, useful);
  for (guint i = 0; i < plan->n_params; i++)
    plan->active[i] = i < plan->scan.n_carries ? useful[i] : activity->useful[activity->first[i]];
  plan->joint = _gantry_joint_new (d->job, body, varied, useful, FALSE, error);
  return plan->joint != NULL;
}

static guint32
position_of (const GantryScanPlan *plan, guint32 id)
{
  return gantry_module_position (plan->joint->module, gantry_module_node (plan->joint->module, id));
}

static void
mark_live (GantryScanPlan *plan)
{
  const GantryModule *module = plan->joint->module;
  guint32 n = gantry_module_entry (module)->n_nodes;

  for (guint i = 0; i < plan->n_params; i++)
    if (plan->joint->cotangents[i] != 0)
      plan->live[position_of (plan, plan->joint->cotangents[i])] = TRUE;
  for (guint32 i = n; i-- > 0;)
    for (guint k = 0; plan->live[i] && !_gantry_scan_is_forward (plan, &module->nodes[i]) && k < module->nodes[i].n_operands; k++)
      plan->live[gantry_module_position (module, gantry_node_operand (module, &module->nodes[i], k))] = TRUE;
}

static void
add_residual (GantryScanPlan *plan, guint32 id)
{
  GantryResidual residual = { .node = id, .member = plan->scan.n_carries + plan->scan.n_ys + plan->n_saved };

  for (guint i = 0; i < plan->scan.n_ys; i++)
    if (plan->joint->results[plan->scan.n_carries + i] == id)
      {
        residual.member = plan->scan.n_carries + i;
        residual.axis = plan->scan.y_axes[i];
        g_array_append_val (plan->residuals, residual);
        return;
      }
  plan->n_saved++;
  g_array_append_val (plan->residuals, residual);
}

/* What is not saved is computed again of what is. Users come after what they use, so one walk back sees all of them first. */
static void
find_residuals (GantryScanPlan *plan)
{
  const GantryModule *module = plan->joint->module;
  guint32 n = gantry_module_entry (module)->n_nodes;
  g_autofree guint8 *saved = _gantry_scan_choose_saved (plan);

  for (guint32 i = n; i-- > 0;)
    {
      const GantryNode *node = &module->nodes[i];

      if (!plan->live[i] || !_gantry_scan_is_forward (plan, node))
        continue;
      if (node->op == GANTRY_OP_PARAMETER && i >= plan->scan.n_carries)
        plan->read[i] = TRUE;
      else if (!saved[i])
        {
          plan->again[i] = TRUE;
          for (guint k = 0; k < node->n_operands; k++)
            plan->live[gantry_module_position (module, gantry_node_operand (module, node, k))] = TRUE;
        }
      else
        add_residual (plan, node->id);
    }
}

GantryScanPlan *
_gantry_scan_plan_new (GantryDiff *d, const GantryNode *node, GError **error)
{
  GantryScanPlan *plan = g_new0 (GantryScanPlan, 1);
  guint32 n;

  gantry_scan_of (d->module, node, &plan->scan);
  plan->n_params = node->n_operands;
  plan->active = g_new0 (guint8, plan->n_params + 1);
  plan->read = g_new0 (guint8, plan->n_params + 1);
  plan->residuals = g_array_new (FALSE, FALSE, sizeof (GantryResidual));
  if (!differentiate_body (plan, d, node, error))
    {
      _gantry_scan_plan_free (plan);
      return NULL;
    }
  n = gantry_module_entry (plan->joint->module)->n_nodes;
  plan->again = g_new0 (guint8, n + 1);
  plan->live = g_new0 (guint8, n + 1);
  mark_live (plan);
  find_residuals (plan);
  return plan;
}
